/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-fig6.c
 * @brief Figure 6: scores of pixels, and how many pixels have to change until an image is taken for another
 * class. They are changed in the order of certified scores or of a linear fit's.
 *
 * The scores are those of the probability of the image's class, for steps gamma; the linear fit draws with a
 * standard deviation of its own for each pixel (all move at once), width 0.75 root(pixels). A pixel is moved
 * by gamma against its score, and not out of [0, 1]; first comes the pixel whose |score x move| is largest.
 * The adversarial gap is the probability of the image's class less the largest of the others.
 */
#include "common/cert_data.h"
#include "common/clock.h"
#include "common/env_run.h"
#include "common/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OWN = 4, /* options */
    IMAGES_MOST = 12,
    TESTS = 500,
    PIXELS = CERT_SIDE * CERT_SIDE /* at most */
};

static const double tolerance = 1e-3; /* of the ranges: the scores of single pixels are small */

/* Row k: what belongs to pixel k, and the gaps after k changes. */
typedef enum field {
    PIXEL,
    LOWER,
    UPPER,
    LINEAR,
    CHANGED,
    GAP,
    LINEAR_GAP,
    TRUE_CLASS,
    OTHER_CLASS,
    SECONDS,
    LINEAR_SECONDS,
    ACCURACY,
    FIELDS
} field;

static const char *const columns[FIELDS] = {"pixel",   "lower",   "upper",          "linear",
                                            "changed", "gap",     "linear_gap",     "class",
                                            "other",   "seconds", "linear_seconds", "accuracy"};

typedef struct run {
    hf_context *ctx;
    cert_options common;
    long images, evaluations, percent, spread;
    env_rows rows;
} run;

/* An image while it is worked on. */
typedef struct image {
    size_t pixels;
    const double *x;
    size_t class, other;
    double lower[PIXELS], upper[PIXELS], linear[PIXELS], changed[PIXELS];
    double gap[PIXELS], linear_gap[PIXELS];
    double seconds, linear_seconds;
} image;

static const double *row_of(const run *r, const char *set, long number, size_t pixel)
{
    char name[64];
    snprintf(name, sizeof name, "%s %ld %zu", set, number, pixel);
    return env_rows_find(&r->rows, name);
}

static size_t pixels_of(const char *set)
{
    const size_t side = cert_find(set)->side;
    return side * side;
}

/* ---- work ------------------------------------------------------------------------------------------------------ */

static bool score(run *r, const hf_classifier *classifier, image *of)
{
    double step[PIXELS];
    hf_certify_settings settings = hf_certify_settings_default();
    hf_linear_settings fit = hf_linear_settings_default();
    settings.output = fit.output = of->class;
    settings.tolerance = tolerance;
    settings.time_limit = (double)r->common.limit;
    for (size_t j = 0; j < of->pixels; ++j) step[j] = (double)r->percent / 100.0;
    double begin = wall_clock();
    if (hf_explain_class(r->ctx, classifier, &settings, 1, of->x, step, of->lower, of->upper) < 0)
        return false;
    of->seconds = wall_clock() - begin;
    begin = wall_clock();
    for (size_t j = 0; j < of->pixels; ++j) step[j] = (double)r->spread / 100.0;
    if (hf_explain_linear_class(r->ctx, classifier, &fit, 1, of->x, step, of->linear) < 0) return false;
    of->linear_seconds = wall_clock() - begin;
    return true;
}

/* The images after 0, 1, ... changes, one a row: each takes the pixel whose |score x move| is largest of
 * those that are left. */
static void change(const image *of, const double *scores, double gamma, double *rows)
{
    const size_t pixels = of->pixels;
    bool done[PIXELS] = {false};
    memcpy(rows, of->x, pixels * sizeof *rows);
    for (size_t k = 1; k < pixels; ++k) {
        double *row = rows + k * pixels, most = -1.0, to_best = 0.0;
        size_t best = 0;
        memcpy(row, row - pixels, pixels * sizeof *row);
        for (size_t j = 0; j < pixels; ++j) {
            const double to = fmin(1.0, fmax(0.0, of->x[j] - copysign(gamma, scores[j])));
            const double effect = fabs(scores[j] * (to - of->x[j]));
            if (done[j] || !(effect > most)) continue;
            most = effect;
            best = j;
            to_best = to;
        }
        done[best] = true;
        row[best] = to_best;
    }
}

/* The gap of each row; *first is the first row where it is below 0, the number of pixels without one, and
 * *other the class that wins there. */
static bool gaps_of(run *r, const hf_classifier *classifier, const image *of, const double *rows, double *gap,
                    size_t *first, size_t *other)
{
    const size_t classes = hf_classifier_classes(classifier), pixels = of->pixels, class = of->class;
    double probability[PIXELS * CERT_CLASSES];
    if (hf_classify_predict(r->ctx, classifier, pixels, rows, pixels, probability, NULL, NULL, NULL, NULL) <
        0)
        return false;
    *first = pixels;
    *other = class;
    for (size_t k = 0; k < pixels; ++k) {
        const double *p = probability + k * classes;
        size_t rival = class == 0 ? 1 : 0;
        for (size_t c = 0; c < classes; ++c)
            if (c != class && p[c] > p[rival]) rival = c;
        gap[k] = p[class] - p[rival];
        if (gap[k] < 0.0 && *first == pixels) {
            *first = k;
            *other = rival;
        }
    }
    return true;
}

static bool attack(run *r, const hf_classifier *classifier, image *of)
{
    const size_t pixels = of->pixels;
    double *rows = malloc(pixels * pixels * sizeof *rows), middle[PIXELS];
    const double gamma = (double)r->percent / 100.0;
    size_t first = pixels, unused, rival;
    bool ok = rows != NULL;
    if (ok) {
        change(of, of->linear, gamma, rows);
        ok = gaps_of(r, classifier, of, rows, of->linear_gap, &unused, &rival);
    }
    if (ok) {
        for (size_t j = 0; j < pixels; ++j) middle[j] = 0.5 * (of->lower[j] + of->upper[j]);
        change(of, middle, gamma, rows);
        ok = gaps_of(r, classifier, of, rows, of->gap, &first, &of->other);
    }
    if (ok) memcpy(of->changed, rows + (first < pixels ? first : pixels - 1) * pixels, pixels * sizeof *rows);
    free(rows);
    return ok;
}

static bool work_image(run *r, const char *set, long number, const hf_classifier *classifier, image *of,
                       double accuracy)
{
    if (!score(r, classifier, of) || !attack(r, classifier, of)) return false;
    for (size_t k = 0; k < of->pixels; ++k) {
        char name[64];
        const double values[FIELDS] = {of->x[k],          of->lower[k], of->upper[k],       of->linear[k],
                                       of->changed[k],    of->gap[k],   of->linear_gap[k],  (double)of->class,
                                       (double)of->other, of->seconds,  of->linear_seconds, accuracy};
        snprintf(name, sizeof name, "%s %ld %zu", set, number, k);
        env_rows_add(&r->rows, name, values);
    }
    return true;
}

/* Image `number`: the classes take turns, and of each its first test images that are classified rightly are
 * taken. SIZE_MAX: there are not so many. */
static size_t choose(const cert_set *set, const size_t *winner, long number)
{
    const size_t classes = set->kind->classes, class = (size_t)number % classes;
    size_t left = (size_t)number / classes;
    for (size_t i = 0; i < set->m; ++i)
        if (set->truth[i] == class && winner[i] == class && left-- == 0) return i;
    return SIZE_MAX;
}

static bool study(run *r, const cert_set *set)
{
    cert_fit_report fit;
    const cert_model model = {.inference = HF_INFERENCE_LAPLACE, .evaluations = r->evaluations};
    const char *name = set->kind->name;
    hf_classifier *classifier = cert_fit(r->ctx, set, set->n, &model, &fit);
    size_t *winner = malloc((set->m + 1) * sizeof *winner);
    image *of = malloc(sizeof *of);
    bool ok =
        classifier && winner && of &&
        hf_classify_predict(r->ctx, classifier, set->m, set->at, set->d, NULL, winner, NULL, NULL, NULL) >= 0;
    for (long k = 0; ok && k < r->images; ++k) {
        const size_t at = choose(set, winner, k);
        if (at == SIZE_MAX || row_of(r, name, k, set->d - 1)) continue;
        of->pixels = set->d;
        of->x = set->at + at * set->d;
        of->class = set->truth[at];
        ok = work_image(r, name, k, classifier, of, fit.accuracy);
    }
    if (!ok) fprintf(stderr, "%s: %s\n", name, hf_context_message(r->ctx));
    free(of);
    free(winner);
    hf_classifier_free(classifier);
    return ok;
}

static bool work(void *state)
{
    run *r = state;
    bool ok = true;
    for (size_t k = 0; ok && k < r->common.sets.count; ++k) {
        cert_set set;
        const char *name = r->common.sets.items[k];
        if (row_of(r, name, r->images - 1, pixels_of(name) - 1)) continue;
        if (!cert_load(r->ctx, &r->common, name, (size_t)r->common.train, TESTS, &set)) continue;
        ok = study(r, &set);
        cert_free(&set);
    }
    return ok;
}

/* ---- report ---------------------------------------------------------------------------------------------------- */

/* Changes until the gap is below 0; the number of pixels where it never is. */
static size_t changes(const run *r, const char *set, long number, field gap)
{
    size_t k = 0;
    while (k < pixels_of(set) && row_of(r, set, number, k)[gap] >= 0.0) ++k;
    return k;
}

static void print_changes(size_t count, size_t pixels)
{
    if (count < pixels)
        printf(" %zu |", count);
    else
        printf(" none |");
}

static void report_image(const run *r, const char *set, long number)
{
    size_t known = 0, below = 0;
    double lowest[2] = {1.0, 1.0};
    const size_t pixels = pixels_of(set);
    const double *v = row_of(r, set, number, 0);
    const size_t ours = changes(r, set, number, GAP), linear = changes(r, set, number, LINEAR_GAP);
    const size_t end = ours < linear ? ours : linear;
    printf("| %s | %ld | %s | %s | %.3f |", set, number + 1, cert_find(set)->labels[(size_t)v[TRUE_CLASS]],
           ours < pixels ? cert_find(set)->labels[(size_t)v[OTHER_CLASS]] : "none", v[GAP]);
    for (size_t k = 0; k < pixels; ++k) {
        const double *w = row_of(r, set, number, k);
        lowest[0] = fmin(lowest[0], w[GAP]);
        lowest[1] = fmin(lowest[1], w[LINEAR_GAP]);
        known += w[LOWER] > 0.0 || w[UPPER] < 0.0;
        below += k > 0 && k <= end && w[GAP] <= w[LINEAR_GAP];
    }
    print_changes(ours, pixels);
    print_changes(linear, pixels);
    printf(" %.3f | %.3f | %zu of %zu | %zu | %.1f | %.1f |\n", lowest[0], lowest[1], below,
           end < pixels ? end : pixels - 1, known, v[SECONDS], v[LINEAR_SECONDS]);
}

static void report(const void *state)
{
    const run *r = state;
    const words *sets = &r->common.sets;
    puts("\n| set | image | class | becomes | gap at first | changes needed: certified | linear fit | lowest "
         "gap: certified | linear fit | gap no larger with certified, while both are above 0 | pixels whose "
         "sign is sure | s: certified | linear |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sets->count; ++k)
        for (long i = 0; i < IMAGES_MOST; ++i)
            if (row_of(r, sets->items[k], i, pixels_of(sets->items[k]) - 1))
                report_image(r, sets->items[k], i);
}

/* ---- picture --------------------------------------------------------------------------------------------------- */

static double shown(const double *v, field what)
{
    return what == LOWER ? 0.5 * (v[LOWER] + v[UPPER]) : v[what];
}

static void print_image(FILE *out, const run *r, const char *set, long number, field what)
{
    const size_t side = cert_find(set)->side;
    double most = 0.0;
    fputs("$image << EOD\n", out);
    for (size_t k = 0; k < side * side; ++k) {
        const double value = shown(row_of(r, set, number, k), what);
        most = fmax(most, fabs(value));
        fprintf(out, "%.4g%s", value, (k + 1) % side == 0 ? "\n" : " ");
    }
    fprintf(out,
            "EOD\nunset border\nunset tics\nunset grid\nset size ratio 1\nset yrange [%g:-0.5]\nset xrange "
            "[-0.5:%g]\n",
            (double)side - 0.5, (double)side - 0.5);
    if (what == LOWER)
        fprintf(out, "set palette defined (-1 '#1f4fa8', 0 '#ffffff', 1 '#c03030')\nset cbrange [%g:%g]\n",
                -most, most);
    else
        fputs("set palette gray\nset cbrange [0:1]\n", out);
    fputs("plot $image matrix with image pixels notitle\n", out);
}

static void print_gaps(FILE *out, const run *r, const char *set, long number, bool key)
{
    fputs("$gaps << EOD\n", out);
    for (size_t k = 0; k < pixels_of(set); ++k) {
        const double *v = row_of(r, set, number, k);
        fprintf(out, "%zu %g %g\n", k, v[GAP], v[LINEAR_GAP]);
    }
    fprintf(out,
            "EOD\nset border 3\nset tics nomirror\nset grid\nset size noratio\nset xrange [0:*]\nset yrange "
            "[-1:1]\nset xtics 50 nomirror\nset ytics 0.5 nomirror\nset xlabel 'pixels changed'\n"
            "plot 0 with lines dt 2 lc rgb '#909090' notitle, $gaps using 1:2 with lines lw 2 lc rgb "
            "'#1f5fa8' %s, $gaps using 1:3 with lines lw 2 lc rgb '#c03030' %s\nunset xlabel\n",
            key ? "title 'certified'" : "notitle", key ? "title 'linear fit'" : "notitle");
}

/* The images that were worked on, of one set after the other. */
static size_t drawn(const run *r, const char **sets, long *numbers)
{
    size_t count = 0;
    for (size_t k = 0; k < r->common.sets.count; ++k)
        for (long i = 0; i < IMAGES_MOST && count < IMAGES_MOST; ++i)
            if (row_of(r, r->common.sets.items[k], i, pixels_of(r->common.sets.items[k]) - 1)) {
                sets[count] = r->common.sets.items[k];
                numbers[count++] = i;
            }
    return count;
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    const char *sets[IMAGES_MOST];
    long numbers[IMAGES_MOST];
    const size_t images = drawn(r, sets, numbers);
    picture p;
    if (images == 0) return true;
    picture_begin(&p);
    fprintf(p.script, "set multiplot layout 4,%zu\nunset colorbox\nset key top right\n", images);
    for (int row = 0; row < 4; ++row)
        for (size_t i = 0; i < images; ++i) {
            if (row == 2)
                print_gaps(p.script, r, sets[i], numbers[i], i == 0);
            else
                print_image(p.script, r, sets[i], numbers[i], row == 0 ? PIXEL : row == 1 ? LOWER : CHANGED);
        }
    fputs("unset multiplot\n", p.script);
    return picture_draw(&p, stem, 230 * (int)images, 880);
}

int main(int argc, char **argv)
{
    run r = {.images = 6,
             .evaluations = 10,
             .percent = 50,
             .spread = 10,
             .rows = {.columns = columns, .width = FIELDS}};
    option_row options[OWN + CERT_OPTIONS] = {
        option_number("images", "N", "the classes take turns (default 6)", &r.images, 1, IMAGES_MOST),
        option_number("gamma", "PERCENT", "step of a pixel, in percent (default 50)", &r.percent, 1, 100),
        option_number("spread", "PERCENT",
                      "standard deviation of a pixel about the linear fit, in percent (default 10)",
                      &r.spread, 1, 100),
        option_number("evaluations", "N", "of the evidence, about (default 10)", &r.evaluations, 1, 1000)};
    cert_options_rows(&r.common, "mnist358,digits358", true, options + OWN);
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, true};
    return env_run(argc, argv, "certified-fig6", "Figure 6: scores of pixels, and attacks that go by them.",
                   "--json fig6.jsonl --picture fig6", sizeof options / sizeof *options, options, &program);
}
