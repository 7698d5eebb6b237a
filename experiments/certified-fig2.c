/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-fig2.c
 * @brief Figure 2: the least and the largest class probability that a point can be moved to, as the box about
 * it grows; also what an attack by one signed gradient step finds.
 *
 * Its first row shows the points. For rows it has the probability of class 1 over two inputs, the
 * others being those of the point, test points and the largest box; of pictures the pixels that
 * move.
 */
#include "common/cert_data.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 14, /* gammas */
    TESTS = 1000,
    GRID = 31, /* of a map, along either input */
    DOTS = 100 /* test points in it */
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
    ACROSS, /* of the first row: two inputs, or the column and the row of a pixel */
    ALONG,
    SHOWN, /* probability of class 1, class or brightness there */
    MOVES, /* whether the pixel does */
    FIELDS
} field;

static const char *const columns[FIELDS] = {
    "gamma",   "at_point", "lower",    "lower_attained", "upper_attained", "upper", "attack", "nodes",
    "seconds", "stop",     "accuracy", "across",         "along",          "shown", "moves"};

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

/* ---- the first row --------------------------------------------------------------------------------------------- */

static void keep_view(run *r, const char *set, const char *what, size_t number, const double *shown)
{
    char name[64];
    double values[FIELDS];
    for (int k = 0; k < FIELDS; ++k) values[k] = k < ACROSS ? NAN : shown[k - ACROSS];
    snprintf(name, sizeof name, "%s %s %zu", set, what, number);
    if (!env_rows_find(&r->rows, name)) env_rows_add(&r->rows, name, values);
}

static const double *view(const run *r, const char *set, const char *what, size_t number)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s %zu", set, what, number);
    return env_rows_find(&r->rows, name);
}

static void keep_picture(run *r, const cert_set *set, const double *x, const double *moves)
{
    const size_t side = set->kind->side;
    for (size_t k = 0; k < set->d; ++k) {
        const size_t column = k % side, row = k / side;
        keep_view(r, set->kind->name, "pixel", k, (double[]){(double)column, (double)row, x[k], moves[k]});
    }
}

/* Where the test points are, a tenth wider. */
static void extent(const cert_set *set, size_t input, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (size_t i = 0; i < set->m; ++i) {
        *low = fmin(*low, set->at[i * set->d + input]);
        *high = fmax(*high, set->at[i * set->d + input]);
    }
    const double more = 0.1 * (*high - *low);
    *low -= more;
    *high += more;
}

static bool keep_map(run *r, const cert_set *set, const hf_classifier *classifier, const double *x)
{
    const size_t d = set->d, *inputs = set->kind->shown, classes = set->kind->classes;
    const char *name = set->kind->name;
    double low[2], high[2], probability[CERT_CLASSES];
    double *at = malloc(d * sizeof *at);
    bool ok = at != NULL;
    for (size_t j = 0; j < 2; ++j) extent(set, inputs[j], &low[j], &high[j]);
    if (ok) memcpy(at, x, d * sizeof *at);
    for (size_t k = 0; ok && k < (size_t)GRID * GRID; ++k) {
        const size_t step[2] = {k % GRID, k / GRID};
        for (size_t j = 0; j < 2; ++j)
            at[inputs[j]] = low[j] + (high[j] - low[j]) * (double)step[j] / (GRID - 1);
        ok = hf_classify_predict(r->ctx, classifier, 1, at, d, probability, NULL, NULL, NULL, NULL) >= 0;
        if (ok)
            keep_view(r, name, "map", k,
                      (double[]){at[inputs[0]], at[inputs[1]], probability[classes - 1], NAN});
    }
    for (size_t i = 0; i < DOTS && i < set->m; ++i)
        keep_view(
            r, name, "dot", i,
            (double[]){set->at[i * d + inputs[0]], set->at[i * d + inputs[1]], (double)set->truth[i], NAN});
    keep_view(r, name, "point", 0, (double[]){x[inputs[0]], x[inputs[1]], NAN, NAN});
    free(at);
    return ok;
}

static bool keep_first_row(run *r, const cert_set *set, const hf_classifier *classifier, const double *x,
                           const double *moves)
{
    if (set->kind->side == 0) return keep_map(r, set, classifier, x);
    keep_picture(r, set, x, moves);
    return true;
}

static void draw_pixels(FILE *out, const run *r, const char *set)
{
    const size_t side = cert_find(set)->side;
    const double *v;
    fputs("$pixels << EOD\n", out);
    for (size_t k = 0; (v = view(r, set, "pixel", k)) != NULL; ++k)
        fprintf(out, "%g %g %g %g\n", v[ACROSS], v[ALONG], v[SHOWN], v[MOVES]);
    fprintf(out,
            "EOD\nset title '%s'\nset size ratio 1\nset xrange [-0.5:%g]\nset yrange [%g:-0.5]\nunset tics\n"
            "unset grid\nset xlabel 'pixels that move'\nunset ylabel\nset palette gray\nset cbrange [0:1]\n"
            "plot $pixels using 1:2:3 with image notitle, $pixels using ($4 > 0 ? $1 : NaN):2 with points pt "
            "4 ps "
            "%g lw 2 lc rgb '#e07020' notitle\nset size noratio\nset tics nomirror\nset grid\n",
            set, (double)side - 0.5, (double)side - 0.5, 14.0 / (double)side);
}

static void draw_map(FILE *out, const run *r, const char *set)
{
    const cert_kind *kind = cert_find(set);
    const double *v;
    fputs("$map << EOD\n", out);
    for (size_t k = 0; (v = view(r, set, "map", k)) != NULL; ++k)
        fprintf(out, "%g %g %g\n%s", v[ACROSS], v[ALONG], v[SHOWN], (k + 1) % GRID == 0 ? "\n" : "");
    fputs("EOD\n$dots << EOD\n", out);
    for (size_t k = 0; (v = view(r, set, "dot", k)) != NULL; ++k)
        fprintf(out, "%g %g %g\n", v[ACROSS], v[ALONG], v[SHOWN]);
    v = view(r, set, "point", 0);
    fputs("EOD\nset contour base\nset cntrparam levels discrete 0.1,0.3,0.5,0.7,0.9\nunset surface\n"
          "set table $contours\nsplot $map using 1:2:3 notitle\nunset table\nset surface\nunset contour\n",
          out);
    if (v)
        fprintf(out, "set object 1 rectangle from %g,%g to %g,%g fs empty border rgb '#c02020' lw 2 front\n",
                v[ACROSS] - kind->most, v[ALONG] - kind->most, v[ACROSS] + kind->most, v[ALONG] + kind->most);
    fprintf(
        out,
        "set title '%s'\nset autoscale xfix\nset autoscale yfix\nset xrange [*:*]\nset yrange [*:*]\n"
        "set xtics autofreq\nset xlabel 'input %zu'\nset ylabel 'input %zu'\n"
        "set palette defined (0 '#9cc9e8', 0.5 '#ffffff', 1 '#a8dcb8')\nset cbrange [0:1]\n"
        "plot $map using 1:2:3 with image notitle, $contours using 1:2 with lines lc rgb '#606060' notitle, "
        "$dots using ($3 == 0 ? $1 : NaN):2 with points pt 7 ps 0.35 lc rgb '#1f5fa8' notitle, "
        "$dots using ($3 > 0 ? $1 : NaN):2 with points pt 7 ps 0.35 lc rgb '#2a9d5c' notitle, "
        "'+' using (%g):(%g) every ::0::0 with points pt 7 ps 0.9 lc rgb '#c02020' notitle\nunset object 1\n",
        set, kind->shown[0] + 1, kind->shown[1] + 1, v ? v[ACROSS] : NAN, v ? v[ALONG] : NAN);
}

/* ---- the second row -------------------------------------------------------------------------------------------- */

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
             hf_attack(r->ctx, classifier, HF_ATTACK_FGSM, 0, 1, x, lower, upper, attacked, &left) >= 0;
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
    ok = ok && keep_first_row(r, set, classifier, x, moves);
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
            char name[64], printed[8];
            cert_printed(sets->items[k], printed);
            name_of(sets->items[k], step, name, sizeof name);
            const double *v = env_rows_find(&r->rows, name);
            if (v)
                printf("| %s | %s | %.3f | %.3g | %.3f | %.3f to %.3f | %.3f to %.3f | %.3f | %.0f | "
                       "%.2f%s |\n",
                       sets->items[k], printed, v[ACCURACY], v[GAMMA], v[AT_POINT], v[LOWER], v[UPPER],
                       v[LOWER_ATTAINED], v[UPPER_ATTAINED], v[ATTACK], v[NODES], v[SECONDS],
                       v[STOP] > HF_CERTIFY_DECIDED ? " (stopped)" : "");
        }
}

static void draw_sweep(FILE *out, const run *r, const char *set, bool first)
{
    fputs("$sweep << EOD\n", out);
    for (int step = 1; step <= STEPS; ++step) {
        char name[64];
        name_of(set, step, name, sizeof name);
        const double *v = env_rows_find(&r->rows, name);
        if (v)
            fprintf(out, "%g %g %g %g %g %g\n", v[GAMMA], v[LOWER], v[LOWER_ATTAINED], v[UPPER_ATTAINED],
                    v[UPPER], v[ATTACK]);
    }
    fprintf(out,
            "EOD\nunset title\nset xrange [*:*]\nset yrange [0:1]\nset xlabel 'gamma'\nset xtics %g\n"
            "set ytics auto\nset ylabel '%s'\nplot 0.5 with lines dt 2 lc rgb '#909090' notitle, "
            "$sweep using 1:2:3 with filledcurves fs solid 0.35 lc rgb '#2a9d5c' title 'least', "
            "$sweep using 1:2 with lines lw 2 lc rgb '#2a9d5c' notitle, "
            "$sweep using 1:4:5 with filledcurves fs solid 0.35 lc rgb '#1f5fa8' title 'largest', "
            "$sweep using 1:5 with lines lw 2 lc rgb '#1f5fa8' notitle, "
            "$sweep using 1:6 with lines lw 2 lc rgb '#d6569a' title 'one signed step'\n",
            cert_find(set)->most / 2.0, first ? "probability of the point''s class" : "");
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    picture p;
    picture_begin(&p);
    fprintf(p.script, "set multiplot layout 2,%zu title \" \\n \"\nunset colorbox\nset key off\n",
            sets->count);
    for (size_t k = 0; k < sets->count; ++k)
        (cert_find(sets->items[k])->side > 0 ? draw_pixels : draw_map)(p.script, r, sets->items[k]);
    fputs("set key on\nset key at screen 0.5,0.99 center top horizontal maxrows 1\n", p.script);
    for (size_t k = 0; k < sets->count; ++k) draw_sweep(p.script, r, sets->items[k], k == 0);
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 300 * (int)sets->count, 720);
}

int main(int argc, char **argv)
{
    run r = {.evaluations = 40, .rows = {.columns = columns, .width = FIELDS}};
    option_row options[1 + CERT_OPTIONS] = {
        option_number("evaluations", "N", "of the evidence, about (default 40)", &r.evaluations, 1, 1000)};
    cert_options_rows(&r.common, "synthetic2d,spam,mnist38,digits38", false, options + 1);
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, true};
    return env_run(argc, argv, "certified-fig2",
                   "Figure 2: certified ranges of a class probability as the box grows.",
                   "--json fig2.jsonl --picture fig2", sizeof options / sizeof *options, options, &program);
}
