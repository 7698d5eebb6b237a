/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-fig2.c
 * @brief Figure 2: the least and the largest class probability that a point can be moved to, as the box about it grows, and what an attack by one signed gradient step finds.
 */
#include "common/cert_data.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 14, /* gammas */
    TESTS = 1000
};

typedef enum field {
    GAMMA,
    AT_POINT,
    LOWER,
    LOWER_ATTAINED,
    UPPER_ATTAINED,
    UPPER,
    ATTACK,
    NODES,
    SECONDS,
    STOP,
    ACCURACY,
    FIELDS
} field;

static const char *const columns[FIELDS] = {"gamma",          "at_point", "lower",   "lower_attained",
                                            "upper_attained", "upper",    "attack",  "nodes",
                                            "seconds",        "stop",     "accuracy"};

typedef struct run {
    hf_context *ctx;
    cert_options common;
    long evaluations;
    env_rows rows;
} run;

static void name_of(const char *set, int step, char *out, size_t size)
{
    snprintf(out, size, "%s %d", set, step);
}

static bool sweep(run *r, const cert_set *set, const hf_classifier *classifier, double accuracy)
{
    const size_t d = set->d, point = set->kind->point - 1 < set->m ? set->kind->point - 1 : 0;
    const double *x = set->at + point * d;
    double *room = malloc(4 * d * sizeof *room), probability[CERT_CLASSES];
    if (!room) return false;
    double *moves = room, *lower = room + d, *upper = room + 2 * d, *attacked = room + 3 * d;
    cert_salient(set, r->ctx, classifier, x, moves);
    hf_certify_settings settings = hf_certify_settings_default();
    bool ok = hf_classify_predict(r->ctx, classifier, 1, x, d, probability, &settings.output, NULL, NULL,
                                  NULL) >= 0;
    settings.time_limit = (double)r->common.limit;
    for (int k = 1; ok && k <= STEPS; ++k) {
        char name[64];
        hf_range range;
        double left = NAN;
        name_of(set->kind->name, k, name, sizeof name);
        if (env_rows_find(&r->rows, name)) continue;
        const double gamma = set->kind->most * k / STEPS;
        cert_box(set, x, moves, gamma, lower, upper);
        ok = hf_certify_class(r->ctx, classifier, &settings, 1, lower, upper, &range, NULL, NULL) >= 0 &&
             hf_attack(r->ctx, classifier, HF_ATTACK_SIGN, 0, 1, x, lower, upper, attacked, &left) >= 0;
        const double values[FIELDS] = {gamma,
                                       probability[settings.output],
                                       range.lower,
                                       range.lower_attained,
                                       range.upper_attained,
                                       range.upper,
                                       left,
                                       (double)range.nodes,
                                       range.seconds,
                                       (double)range.stop,
                                       accuracy};
        if (ok) env_rows_add(&r->rows, name, values);
    }
    if (!ok) fprintf(stderr, "%s: %s\n", set->kind->name, hf_context_message(r->ctx));
    free(room);
    return ok;
}

static bool work(void *state)
{
    run *r = state;
    bool ok = true;
    for (size_t k = 0; ok && k < r->common.sets.count; ++k) {
        char last[64];
        cert_set set;
        cert_fit_report fit;
        const char *name = r->common.sets.items[k];
        const cert_model model = {.inference = HF_INFERENCE_LAPLACE, .evaluations = r->evaluations};
        name_of(name, STEPS, last, sizeof last);
        if (env_rows_find(&r->rows, last)) continue;
        if (!cert_load(r->ctx, &r->common, name, (size_t)r->common.train, TESTS, &set)) continue;
        hf_classifier *classifier = cert_fit(r->ctx, &set, set.n, &model, &fit);
        ok = classifier && sweep(r, &set, classifier, fit.accuracy);
        hf_classifier_free(classifier);
        cert_free(&set);
    }
    return ok;
}

static void report(const void *state)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    puts("\n| set | accuracy: printed | here | gamma | probability | certified range | attained | one signed "
         "step | boxes | s |\n"
         "|---|---|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sets->count; ++k)
        for (int step = 1; step <= STEPS; ++step) {
            char name[64];
            name_of(sets->items[k], step, name, sizeof name);
            const double *v = env_rows_find(&r->rows, name);
            if (v)
                printf("| %s | %.2f | %.3f | %.3g | %.3f | %.3f to %.3f | %.3f to %.3f | %.3f | %.0f | "
                       "%.2f%s |\n",
                       sets->items[k], cert_find(sets->items[k])->accuracy, v[ACCURACY], v[GAMMA],
                       v[AT_POINT], v[LOWER], v[UPPER], v[LOWER_ATTAINED], v[UPPER_ATTAINED], v[ATTACK],
                       v[NODES], v[SECONDS], v[STOP] > HF_CERTIFY_DECIDED ? " (stopped)" : "");
        }
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    picture p;
    picture_begin(&p);
    fprintf(p.script,
            "set multiplot layout 1,%zu title \" \\n \"\nset yrange [0:1]\nset key at screen 0.5,0.99 center "
            "top\nset xlabel 'gamma'\n",
            sets->count);
    for (size_t k = 0; k < sets->count; ++k) {
        fputs("$sweep << EOD\n", p.script);
        for (int step = 1; step <= STEPS; ++step) {
            char name[64];
            name_of(sets->items[k], step, name, sizeof name);
            const double *v = env_rows_find(&r->rows, name);
            if (v)
                fprintf(p.script, "%g %g %g %g %g %g\n", v[GAMMA], v[LOWER], v[LOWER_ATTAINED],
                        v[UPPER_ATTAINED], v[UPPER], v[ATTACK]);
        }
        fprintf(p.script,
                "EOD\nset title '%s'\nset xtics %g\nset ylabel '%s'\nplot 0.5 with lines dt 2 lc rgb "
                "'#909090' notitle, "
                "$sweep using 1:2:3 with filledcurves fs solid 0.35 lc rgb '#2a9d5c' title 'least', "
                "$sweep using 1:2 with lines lw 2 lc rgb '#2a9d5c' notitle, "
                "$sweep using 1:4:5 with filledcurves fs solid 0.35 lc rgb '#1f5fa8' title 'largest', "
                "$sweep using 1:5 with lines lw 2 lc rgb '#1f5fa8' notitle, "
                "$sweep using 1:6 with lines lw 2 lc rgb '#d6569a' title 'one signed step'\n",
                sets->items[k], cert_find(sets->items[k])->most / 2.0,
                k == 0 ? "probability of the point''s class" : "");
    }
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1200, 420);
}

int main(int argc, char **argv)
{
    run r = {.evaluations = 40, .rows = {.columns = columns, .width = FIELDS}};
    option_row options[1 + CERT_OPTIONS] = {{.name = "evaluations",
                                             .value = "N",
                                             .help = "of the evidence, about (default 40)",
                                             .number = &r.evaluations,
                                             .least = 1,
                                             .most = 1000}};
    cert_options_rows(&r.common, "synthetic2d,spam,mnist38", false, options + 1);
    const env_program program = {.heading =
                                     "usage: certified-fig2 [option]...\n"
                                     "Figure 2: certified ranges of a class probability as the box grows.\n",
                                 .example = "certified-fig2 --json fig2.jsonl --picture fig2",
                                 .options = options,
                                 .count = sizeof options / sizeof *options,
                                 .needs_data = true,
                                 .rows = &r.rows,
                                 .ctx = &r.ctx,
                                 .state = &r,
                                 .work = work,
                                 .report = report,
                                 .picture = draw_picture};
    return env_run(argc, argv, &program);
}
