/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-fig5.c
 * @brief Figure 5: what raising an input does to the probability of class 1, averaged over test points:
 * certified scores (hf_explain_class()) and those of a linear fit (hf_explain_linear_class()).
 *
 * Both for the same steps gamma: the linear fit draws its points with standard deviation gamma, width 0.75
 * root(inputs). Beside them stands by how much the inputs of the classes differ on average, which says what
 * sign the global relation has.
 */
#include "common/cert_data.h"
#include "common/clock.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>
#include <stdlib.h>

enum {
    OWN = 3, /* options */
    POINTS_MOST = 1000
};

typedef enum field {
    LOWER,
    UPPER,
    LINEAR,
    DIFFERENCE,
    POINTS,
    SECONDS,
    LINEAR_SECONDS,
    ACCURACY,
    FIELDS
} field;

static const char *const columns[FIELDS] = {"lower",  "upper",   "linear",         "difference",
                                            "points", "seconds", "linear_seconds", "accuracy"};

typedef struct run {
    hf_context *ctx;
    cert_options common;
    words gammas;
    long points, evaluations;
    env_rows rows;
} run;

static const double *row_of(const run *r, const char *set, const char *gamma, size_t input)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s %zu", set, gamma, input + 1);
    return env_rows_find(&r->rows, name);
}

static double difference(const cert_set *set, size_t input)
{
    double sum[2] = {0.0, 0.0}, count[2] = {0.0, 0.0};
    for (size_t i = 0; i < set->n; ++i) {
        sum[set->label[i] == 1] += set->x[i * set->d + input];
        count[set->label[i] == 1] += 1.0;
    }
    return sum[1] / count[1] - sum[0] / count[0];
}

/* Averages over the points, added as one row for each input. */
static void add_rows(run *r, const cert_set *set, const char *gamma, size_t points, const double *scores,
                     const double *seconds, double accuracy)
{
    const double share = 1.0 / (double)points;
    for (size_t j = 0; j < set->d; ++j) {
        char name[64];
        double values[FIELDS] = {[DIFFERENCE] = difference(set, j),
                                 [POINTS] = (double)points,
                                 [SECONDS] = seconds[0] * share,
                                 [LINEAR_SECONDS] = seconds[1] * share,
                                 [ACCURACY] = accuracy};
        for (size_t k = 0; k < points; ++k)
            for (size_t kind = LOWER; kind <= LINEAR; ++kind)
                values[kind] += scores[(kind * points + k) * set->d + j] * share;
        snprintf(name, sizeof name, "%s %s %zu", set->kind->name, gamma, j + 1);
        env_rows_add(&r->rows, name, values);
    }
}

static bool measure(run *r, const cert_set *set, const hf_classifier *classifier, const char *gamma,
                    double accuracy)
{
    const size_t d = set->d, points = (size_t)r->points < set->m ? (size_t)r->points : set->m;
    double *scores = malloc(3 * points * d * sizeof *scores), *step = malloc(d * sizeof *step), seconds[2];
    hf_certify_settings settings = hf_certify_settings_default();
    hf_linear_settings fit = hf_linear_settings_default();
    bool ok = scores && step;
    settings.output = fit.output = 1;
    settings.time_limit = (double)r->common.limit;
    for (size_t j = 0; ok && j < d; ++j) step[j] = strtod(gamma, NULL);
    double begin = wall_clock();
    ok = ok && hf_explain_class(r->ctx, classifier, &settings, points, set->at, step, scores,
                                scores + points * d) >= 0;
    seconds[0] = wall_clock() - begin;
    begin = wall_clock();
    ok = ok && hf_explain_linear_class(r->ctx, classifier, &fit, points, set->at, step,
                                       scores + 2 * points * d) >= 0;
    seconds[1] = wall_clock() - begin;
    if (ok)
        add_rows(r, set, gamma, points, scores, seconds, accuracy);
    else
        fprintf(stderr, "%s: %s\n", set->kind->name, hf_context_message(r->ctx));
    free(scores);
    free(step);
    return ok;
}

static bool study(void *state, const cert_set *set)
{
    run *r = state;
    cert_fit_report fit;
    const cert_model model = {.inference = HF_INFERENCE_LAPLACE, .evaluations = r->evaluations};
    hf_classifier *classifier = cert_fit(r->ctx, set, set->n, &model, &fit);
    bool ok = classifier != NULL;
    for (size_t k = 0; ok && k < r->gammas.count; ++k)
        if (!row_of(r, set->kind->name, r->gammas.items[k], set->d - 1))
            ok = measure(r, set, classifier, r->gammas.items[k], fit.accuracy);
    hf_classifier_free(classifier);
    return ok;
}

static bool work(void *state)
{
    run *r = state;
    return cert_each(r->ctx, &r->common, (size_t)r->common.train, POINTS_MOST, study, r);
}

static const char *agrees(double score, double difference_of_means)
{
    return score * difference_of_means > 0.0 ? "as" : "against";
}

static void report_signs(const run *r, const char *set, const char *gamma)
{
    size_t inputs = 0, ours = 0, linear = 0, open = 0;
    const double *v = row_of(r, set, gamma, 0);
    if (!v) return;
    const double seconds = v[SECONDS], of_linear = v[LINEAR_SECONDS], points = v[POINTS];
    for (; (v = row_of(r, set, gamma, inputs)) != NULL; ++inputs) {
        open += v[LOWER] <= 0.0 && v[UPPER] >= 0.0;
        ours += (v[LOWER] > 0.0 && v[DIFFERENCE] > 0.0) || (v[UPPER] < 0.0 && v[DIFFERENCE] < 0.0);
        linear += v[LINEAR] * v[DIFFERENCE] > 0.0;
    }
    printf("| %s | %s | %.0f | %zu | %zu (%zu open) | %zu | %.3f | %.3f |\n", set, gamma, points, inputs,
           ours, open, linear, seconds, of_linear);
}

static void report(const void *state)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    puts("\n| set | gamma | input | class 1 less the others | certified score | linear fit | certified, "
         "linear "
         "sign |\n|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sets->count; ++k)
        for (size_t g = 0; g < r->gammas.count; ++g) {
            const double *v;
            for (size_t j = 0; (v = row_of(r, sets->items[k], r->gammas.items[g], j)) != NULL; ++j)
                printf("| %s | %s | %zu | %.2f | %.4f to %.4f | %.4f | %s, %s |\n", sets->items[k],
                       r->gammas.items[g], j + 1, v[DIFFERENCE], v[LOWER], v[UPPER], v[LINEAR],
                       v[LOWER] <= 0.0 && v[UPPER] >= 0.0 ? "open" : agrees(v[LOWER], v[DIFFERENCE]),
                       agrees(v[LINEAR], v[DIFFERENCE]));
        }
    puts("\nSigns as the classes differ:\n\n| set | gamma | points | inputs | certified scores | linear fit "
         "| s a point: certified | linear |\n|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sets->count; ++k)
        for (size_t g = 0; g < r->gammas.count; ++g) report_signs(r, sets->items[k], r->gammas.items[g]);
}

static void print_panel(FILE *out, const run *r, const char *set, const char *gamma, const char *title)
{
    const double *v;
    size_t inputs = 0;
    fputs("$scores << EOD\n", out);
    for (; (v = row_of(r, set, gamma, inputs)) != NULL; ++inputs)
        fprintf(out, "%zu %g %g %g\n", inputs + 1, v[LOWER], v[UPPER], v[LINEAR]);
    if (inputs == 0) fputs("1 NaN NaN NaN\n", out);
    fprintf(out,
            "EOD\nset title '%s, gamma %s'\nset xrange [0.4:%g]\nplot 0 with lines lc rgb '#909090' notitle, "
            "$scores using ($1-0.18):(0.5*($2+$3)) with boxes fs solid 0.5 lc rgb '#1f5fa8' %s, "
            "$scores using ($1-0.18):2:(0):($3-$2) with vectors nohead lw 2 lc rgb '#103050' notitle, "
            "$scores using ($1+0.18):4 with boxes fs solid 0.5 lc rgb '#b5651d' %s\n",
            set, gamma, (double)inputs + 0.6, *title ? "title 'certified'" : "notitle",
            *title ? "title 'linear fit'" : "notitle");
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    picture p;
    picture_begin(&p);
    fprintf(p.script,
            "set multiplot layout %zu,%zu title \" \\n \"\nset key at screen 0.5,0.99 center top\n"
            "set boxwidth 0.34\nset xtics 1 font ',10'\nset xlabel 'input'\nset ylabel 'score'\n",
            sets->count, r->gammas.count);
    for (size_t k = 0; k < sets->count; ++k)
        for (size_t g = 0; g < r->gammas.count; ++g)
            print_panel(p.script, r, sets->items[k], r->gammas.items[g], k + g == 0 ? "key" : "");
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 1200, 330 * (int)sets->count);
}

int main(int argc, char **argv)
{
    run r = {.points = 50, .evaluations = 40, .rows = {.columns = columns, .width = FIELDS}};
    option_row options[OWN + CERT_OPTIONS] = {
        option_list("gammas", "A,B", "steps (default 0.1,0.5,2)", &r.gammas, "0.1,0.5,2", words_positive),
        option_number("points", "N", "test points (default 50)", &r.points, 1, POINTS_MOST),
        option_number("evaluations", "N", "of the evidence, about (default 40)", &r.evaluations, 1, 1000)};
    cert_options_rows(&r.common, "synthetic2d,spam", false, options + OWN);
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, true};
    return env_run(argc, argv, "certified-fig5", "Figure 5: certified scores of inputs beside a linear fit.",
                   "--json fig5.jsonl --picture fig5", sizeof options / sizeof *options, options, &program);
}
