/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-ablation-eps.c
 * @brief How much depends on the expected share of outliers, eps? Figures 5 (left) and S3 of "Robust and
 * Computation-Aware Gaussian Processes" (2025): the threshold c is the (1 - eps) quantile of |y - mean|.
 *
 * Data as for Table 1, 10 % asymmetric outliers; the published RCaGP and RCSVGP, and the presets "rcagp" and
 * "rcsvgp" of this library with the same rule for c in place of theirs. The paper prints curves, no numbers.
 * Figure 5 averages the sets "normalised" and does not say how. Here a set's values are divided by the mean of all
 * that its published models have: the same number for every model and eps.
 */
#include "common/picture.h"
#include "common/rcagp_protocol.h"
#include "common/sets.h"
#include "common/study.h"
#include "common/uci.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EPS = 8
};

static const unsigned percent[EPS] = {5, 10, 15, 20, 25, 30, 35, 40}; /* eps */

/* Tasks are numbered set * splits + split; every task fits all models with all eps. */
typedef struct plan {
    study study;
    const char *data, *picture;
    words sets, models, settings;
    rcagp_source source;
} plan;

static void read_options(int argc, char **argv, plan *p)
{
    const option_row rows[] = {
        option_text("data", "DIR", "folder with <set>/<set>.csv " SETS_DEFAULT, &p->data),
        OPTION_SOME("sets", &p->sets, "boston,energy,yacht,parkinsons"),
        option_choice("models", "LIST",
                      "of RCSVGP,RCaGP (published settings) and rcagp,rcsvgp (ours; default all)", &p->models,
                      "RCSVGP,RCaGP,rcagp,rcsvgp", "RCSVGP,RCaGP,rcagp,rcsvgp"),
        option_choice("settings", "WHOSE",
                      "of published models: program (default) or text, as rcagp-table1 has", &p->settings,
                      "program", "program,text"),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png with gnuplot", &p->picture)};
    study_read(&p->study, argc, argv,
               "usage: rcagp-ablation-eps [option]...\n"
               "Errors of four models as the expected share of outliers goes from 0.05 to 0.4.\n",
               "rcagp-ablation-eps --sets yacht --splits 0..4 --picture /tmp/eps", sizeof rows / sizeof *rows,
               rows);
    p->source = strcmp(p->settings.items[p->settings.count - 1], "text") == 0 ? RCAGP_TEXT : RCAGP_PROGRAM;
}

/* "RCaGP 5": the model and its eps in per cent. */
static void name_method(record *key, const char *model, size_t e)
{
    snprintf(key->method, sizeof key->method, "%.10s %u", model, percent[e] % 100);
}

/* Results of both settings may be in one file. */
static record place_of(const plan *p, const char *set, long split)
{
    record key = record_key("", "asymmetric", "", 0.1, split);
    snprintf(key.set, sizeof key.set, "%.30s%s", set, p->source == RCAGP_TEXT ? ", text" : "");
    return key;
}

static const char *set_of(const plan *p, size_t number, long *split)
{
    const size_t splits = study_splits(&p->study);
    *split = p->study.first + (long)(number % splits);
    return p->sets.items[number / splits];
}

static bool key_of(const study *s, size_t number, size_t which, record *key)
{
    const plan *p = s->user;
    long split;
    if (which >= p->models.count * EPS) return false;
    const char *set = set_of(p, number, &split);
    *key = place_of(p, set, split);
    name_method(key, p->models.items[which / EPS], which % EPS);
    return true;
}

static bool data_of(const study *s, hf_context *ctx, size_t number, problem *out)
{
    const plan *p = s->user;
    long split;
    const char *set = set_of(p, number, &split);
    hf_context_set_seed(ctx, (uint64_t)(s->offset + split));
    return rcagp_problem(ctx, p->data, set, "asymmetric", split, s->offset, out);
}

static bool fit(const study *s, hf_context *ctx, const problem *data, record *item)
{
    char model[16];
    hf_fit_settings settings;
    const plan *p = s->user;
    const char *space = strchr(item->method, ' ');
    const double share = strtod(space, NULL) / 100.0;
    snprintf(model, sizeof model, "%.*s", (int)(space - item->method), item->method);
    if (rcagp_settings(ctx, model, p->source, "matern32", share, &settings) < 0) {
        fprintf(stderr, "%s: %s\n", model, hf_context_message(ctx));
        return false;
    }
    settings.threshold_rule = HF_THRESHOLD_QUANTILE;
    settings.eps = share;
    return settings_run(ctx, &settings, data, item);
}

/* ---- report ---------------------------------------------------------------------------------------------- */

static summary sum_up(const plan *p, const char *set, const char *model, size_t e,
                      double (*field)(const record *))
{
    record key = place_of(p, set, 0);
    name_method(&key, model, e);
    return records_summary(&p->study.done, &key, field);
}

static const struct {
    const char *name;
    double (*field)(const record *);
} measures[] = {{"MAE", record_mae}, {"NLPD", record_nlpd}};

static void print_header(const plan *p, const char *title, const char *first)
{
    printf("\n### %s%s\n\n| %s | model |", title, p->source == RCAGP_TEXT ? ", settings of the text" : "",
           first);
    for (size_t e = 0; e < EPS; ++e) printf(" eps 0.%02u |", percent[e]);
    printf("\n|---|---|");
    for (size_t e = 0; e < EPS; ++e) printf("---|");
}

static void print_tables(const plan *p)
{
    for (size_t q = 0; q < 2; ++q) {
        print_header(p, measures[q].name, "set");
        for (size_t i = 0; i < p->sets.count; ++i)
            for (size_t m = 0; m < p->models.count; ++m) {
                printf("\n| %s | %s%s |", p->sets.items[i],
                       rcagp_model_is_ours(p->models.items[m]) ? "**ours:** " : "", p->models.items[m]);
                for (size_t e = 0; e < EPS; ++e) {
                    const summary s = sum_up(p, p->sets.items[i], p->models.items[m], e, measures[q].field);
                    if (s.count)
                        printf(" %.3f ± %.3f |", s.mean, s.sd);
                    else
                        printf("  |");
                }
            }
        putchar('\n');
    }
}

/* The mean of all that a set's published models have; 0: one of them was not run. */
static double unit_of(const plan *p, const char *set, double (*field)(const record *))
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t m = 0; m < p->models.count; ++m)
        for (size_t e = 0; e < EPS && !rcagp_model_is_ours(p->models.items[m]); ++e) {
            const summary s = sum_up(p, set, p->models.items[m], e, field);
            if (s.count == 0) return 0.0;
            sum += s.mean;
            ++count;
        }
    return count ? sum / (double)count : 0.0;
}

/* The mean over all sets of values in that unit; NAN where one is not there. */
static double normalised_mean(const plan *p, const char *model, size_t e, double (*field)(const record *))
{
    double sum = 0.0;
    for (size_t i = 0; i < p->sets.count; ++i) {
        const double unit = unit_of(p, p->sets.items[i], field);
        const summary s = sum_up(p, p->sets.items[i], model, e, field);
        if (s.count == 0 || unit == 0.0) return NAN;
        sum += s.mean / unit;
    }
    return sum / (double)p->sets.count;
}

/* The published models alone, which are those of the figure. */
static void print_means(const plan *p)
{
    print_header(p, "Normalised means", "measure");
    for (size_t q = 0; q < 2; ++q)
        for (size_t m = 0; m < p->models.count; ++m) {
            const char *model = p->models.items[m];
            if (rcagp_model_is_ours(model)) continue;
            printf("\n| %s | %s |", measures[q].name, model);
            for (size_t e = 0; e < EPS; ++e) {
                const double mean = normalised_mean(p, model, e, measures[q].field);
                if (isnan(mean))
                    printf("  |");
                else
                    printf(" %.3f |", mean);
            }
        }
    putchar('\n');
}

static void draw(const plan *p)
{
    static const char *const styles[] = {"lc rgb '#8073ac' pt 5", "lc rgb '#1a9850' pt 7",
                                         "lc rgb '#2a6496' pt 9", "lc rgb '#e08214' pt 11"};
    picture pic;
    picture_begin(&pic);
    FILE *out = pic.script;
    for (size_t i = 0; i < p->sets.count; ++i)
        for (size_t m = 0; m < p->models.count; ++m) {
            fprintf(out, "$d%zu_%zu << EOD\n", i, m);
            for (size_t e = 0; e < EPS; ++e) {
                const char *set = p->sets.items[i], *model = p->models.items[m];
                const summary mae = sum_up(p, set, model, e, record_mae),
                              nlpd = sum_up(p, set, model, e, record_nlpd);
                if (mae.count) fprintf(out, "0.%02u %.5f %.5f\n", percent[e], mae.mean, nlpd.mean);
            }
            fputs("EOD\n", out);
        }
    fprintf(
        out,
        "set multiplot layout 2,%zu margins 0.06,0.99,0.12,0.86 spacing 0.045,0.10\nset xrange [0.03:0.42]\n"
        "set xtics 0.1\nset key maxrows 1 center at screen 0.5,0.965\n",
        p->sets.count);
    for (size_t q = 0; q < 2; ++q)
        for (size_t i = 0; i < p->sets.count; ++i) {
            if (q == 0) fprintf(out, "set title '%s' offset 0,-0.5\n", p->sets.items[i]);
            if (q == 1)
                fputs("unset title\nset xlabel 'eps: expected share of outliers' offset 0,0.4\n", out);
            if (i == 0) fprintf(out, "set ylabel '%s'\n", measures[q].name);
            if (q == 1 || i > 0) fputs("unset key\n", out);
            fprintf(out, "set yrange [%s:*]\nplot ", q == 0 ? "0" : "*");
            for (size_t m = 0; m < p->models.count; ++m)
                fprintf(out, "%s$d%zu_%zu using 1:%zu with linespoints lw 2 ps 0.8 %s title '%s%s'",
                        m ? ", " : "", i, m, 2 + q, styles[m % 4], p->models.items[m],
                        rcagp_model_is_ours(p->models.items[m]) ? " (preset)" : " (published)");
            fputs("\nunset ylabel\n", out);
        }
    fputs("unset multiplot\n", out);
    picture_draw(&pic, p->picture, 1240, 560);
}

int main(int argc, char **argv)
{
    static const study_calls calls = {key_of, data_of, fit};
    plan p = {.study = {.last = 19, .jobs = 1, .threads = 1, .calls = &calls}, .data = sets_folder()};
    study *s = &p.study;
    s->user = &p;
    read_options(argc, argv, &p);
    if (!s->report) uci_keep_present(p.data, &p.sets);
    if (p.sets.count == 0) return SETS_MISSING;
    s->count = p.sets.count * study_splits(s);
    size_t failed = study_run(s);
    printf("Expected share of outliers eps, 10 %% asymmetric outliers; mean ± sd over splits %ld..%ld. "
           "holdfast %s.\n",
           s->first, s->last, hf_version());
    print_tables(&p);
    if (p.sets.count > 1) print_means(&p);
    if (p.picture) draw(&p);
    return study_close(s, "rcagp-ablation-eps", failed);
}
