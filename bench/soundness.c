/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file soundness.c
 * @brief A long attack on certificates: random models, boxes and settings, and for each box random points,
 * corners, sides and points that gradients choose.
 *
 *     soundness [--points N] [--probabilities N] [--several N] [--seed S] [--models M]
 *
 * Stops when so many values of posteriors (mean and sd), of probabilities of two classes and of several were
 * looked at, or so many models. Prints counts for each kind of certificate and the worst margin; the exit
 * status is 1 at a violation, whose seed is told: `--seed S --models 1` repeats it.
 */
#include "../tests/certify/attack_uses.h"
#include "common/bench.h"

enum {
    READINGS = 40,
    BOXES = 6,     /* of a model */
    AT_ONCE = 600, /* points of a box */
    TRIES = 24     /* replacements of readings */
};

typedef struct plan {
    size_t points, probabilities, several, models;
    uint64_t seed;
} plan;

static void attack_readings_model(hf_context *ctx, uint64_t seed, attack_tally *tally)
{
    attack_model m;
    if (!attack_posterior(ctx, seed, READINGS, &m)) return;
    tally->models++;
    for (size_t b = 0; b < BOXES; b++) attack_box_of(tally, &m, AT_ONCE);
    const attack_box box = attack_draw_box(&m);
    attack_score(tally, &m, &box);
    if (m.sites) attack_damage(tally, &m, TRIES);
    attack_end(&m);
}

/* False: ranges of so many classes are not to be had. */
static bool attack_labels_model(hf_context *ctx, uint64_t seed, size_t classes, attack_tally *tally)
{
    attack_model m;
    bool ok = true;
    if (!attack_classifier(ctx, seed, classes > 2 ? READINGS / 2 : READINGS, classes, &m)) return true;
    tally->models++;
    for (size_t b = 0; b < BOXES && ok; b++) {
        const attack_box box = attack_draw_box(&m);
        ok = attack_class_box(tally, &m, &box, classes > 2 ? AT_ONCE / 4 : AT_ONCE);
        if (ok) attack_decision(tally, &m, &box, AT_ONCE / 4);
        if (ok && b == 0) attack_radius(tally, &m, &box, AT_ONCE / 4);
    }
    attack_end(&m);
    return ok;
}

static void report(const attack_tally *tally, double seconds)
{
    printf("| certificate | asked | values | least margin | outside, of rounding | violations "
           "|\n|---|---|---|---|---|---|\n");
    for (size_t k = 0; k < ATTACK_KINDS; k++) {
        const attack_count *c = &tally->of[k];
        printf("| %s | %zu | %zu | %.2g | %.2g | %zu |\n", attack_names[k], c->asked, c->points, c->margin,
               c->share, c->violations);
    }
    printf("\n%zu models, %.0f s; searches stopped by", tally->models, seconds);
    for (int stop = 0; stop < 5; stop++)
        printf("%s %s %zu", stop ? "," : "", hf_enum_name(HF_ENUM_CERTIFY_STOP, (unsigned)stop),
               tally->stops[stop]);
    printf("\n");
}

static size_t values_of(const attack_tally *tally)
{
    return tally->of[ATTACK_MEAN].points + tally->of[ATTACK_SD].points;
}

/* Kinds of models take turns until each has had what was asked for. */
static size_t attack(hf_context *ctx, const plan *p, attack_tally *tally)
{
    bool several = p->several > 0;
    size_t bad = 0;
    for (uint64_t k = 0; p->models == 0 || k < p->models; k++) {
        const bool readings = values_of(tally) < p->points,
                   two = tally->of[ATTACK_TWO].points < p->probabilities;
        several = several && tally->of[ATTACK_MANY].points < p->several;
        if (!readings && !two && !several) break;
        if (readings) attack_readings_model(ctx, p->seed + k, tally);
        if (two) (void)attack_labels_model(ctx, p->seed + k, 2, tally);
        if (several && !attack_labels_model(ctx, p->seed + k, 3, tally)) several = false;
    }
    for (size_t k = 0; k < ATTACK_KINDS; k++) bad += tally->of[k].violations;
    return bad;
}

static plan read_plan(int argc, char **argv)
{
    plan p = {.points = 200000, .probabilities = 50000, .several = 5000, .seed = 1};
    for (int i = 1; i < argc; i += 2) {
        char *end = NULL;
        const double value = i + 1 < argc ? strtod(argv[i + 1], &end) : -1.0;
        const bool number = end && *end == '\0' && value >= 0.0 && value < 1e15;
        if (number && strcmp(argv[i], "--points") == 0)
            p.points = (size_t)value;
        else if (number && strcmp(argv[i], "--probabilities") == 0)
            p.probabilities = (size_t)value;
        else if (number && strcmp(argv[i], "--several") == 0)
            p.several = (size_t)value;
        else if (number && strcmp(argv[i], "--seed") == 0)
            p.seed = (uint64_t)value;
        else if (number && strcmp(argv[i], "--models") == 0)
            p.models = (size_t)value;
        else {
            fprintf(stderr,
                    "usage: %s [--points N] [--probabilities N] [--several N] [--seed S] [--models M]\n",
                    argv[0]);
            exit(2);
        }
    }
    return p;
}

int main(int argc, char **argv)
{
    const plan p = read_plan(argc, argv);
    hf_context *ctx = hf_context_create();
    attack_tally tally;
    if (!ctx || hf_context_set_threads(ctx, 1) < 0) return 2;
    attack_clear(&tally);
    const double start = bench_now();
    const size_t bad = attack(ctx, &p, &tally);
    report(&tally, bench_now() - start);
    hf_context_free(ctx);
    return bad > 0;
}
