/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-expert.c
 * @brief The worth of an expert's prior mean: section 5, Figures 2 and 5 (right) of "Robust and
 * Computation-Aware Gaussian Processes" (2025), for regression: some of the wrong readings are corrected, and
 * the corrections make the prior mean.
 *
 * Data as for Table 1, 10 % asymmetric outliers, and a toy with one input (common/expert_means.h). Models
 * with a constant mean and with what an expert says: the published constant (alg1), equation 22 as printed
 * (eq22), this library's average, and, to compare with, the readings replaced by their corrections. The paper
 * draws Figure 2 and has curves of optimisation in Figure 5; of regression with an expert it prints no
 * numbers. Its Table 1 stands beside the constant means.
 */
#include "common/expert_means.h"
#include "common/picture.h"
#include "common/rcagp_paper.h"
#include "common/rcagp_protocol.h"
#include "common/room.h"
#include "common/sets.h"
#include "common/study.h"
#include "common/uci.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHARES = 3
};

static const double told[SHARES] = {0.25, 0.5, 1.0}; /* share of the wrong readings that are corrected */

/* Tasks are numbered set * splits + split; every task fits all models with all means. */
typedef struct plan {
    study study;
    const char *data, *picture;
    words sets, models, means;
    long off; /* sd of corrections, hundredths of the sd of clean targets */
} plan;

static void read_options(int argc, char **argv, plan *p)
{
    const option_row rows[] = {
        option_text("data", "DIR", "folder with <set>/<set>.csv " SETS_DEFAULT, &p->data),
        OPTION_SOME("sets", &p->sets, "toy,boston,energy,yacht,parkinsons"),
        option_choice("models", "LIST",
                      "of RCSVGP,RCaGP (published settings) and rcsvgp,rcagp,rcgp,default,gp (presets;\n"
                      "default RCSVGP,RCaGP,rcgp,default)",
                      &p->models, "RCSVGP,RCaGP,rcgp,default", "RCSVGP,RCaGP,rcsvgp,rcagp,rcgp,default,gp"),
        OPTION_SOME("means", &p->means, "const,alg1,eq22,average,replace"),
        option_number("off", "N", "corrections are off by N hundredths of the targets' sd (default 0)",
                      &p->off, 0, 1000),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png with gnuplot", &p->picture)};
    study_read(&p->study, argc, argv,
               "usage: rcagp-expert [option]...\n"
               "Robust fits whose prior mean is made of an expert's corrections.\n",
               "rcagp-expert --sets toy --splits 0..4 --picture /tmp/expert", sizeof rows / sizeof *rows,
               rows);
}

/* ---- tasks ------------------------------------------------------------------------------------------------ */

static record place_of(const char *set, const char *model, const char *mean, double share, long split)
{
    record key = record_key(set, "asymmetric", "", strcmp(mean, "const") == 0 ? 0.0 : share, split);
    snprintf(key.method, sizeof key.method, "%.7s %.7s", model, mean);
    return key;
}

static const char *set_of(const plan *p, size_t number, long *split)
{
    const size_t splits = study_splits(&p->study);
    *split = p->study.first + (long)(number % splits);
    return p->sets.items[number / splits];
}

/* A constant mean asks no expert: one fit, under the share 0. */
static size_t shares_of(const char *mean)
{
    return strcmp(mean, "const") == 0 ? 1 : SHARES;
}

static bool key_of(const study *s, size_t number, size_t which, record *key)
{
    const plan *p = s->user;
    long split;
    const char *set = set_of(p, number, &split);
    for (size_t m = 0; m < p->models.count; ++m)
        for (size_t k = 0; k < p->means.count; ++k) {
            const size_t shares = shares_of(p->means.items[k]);
            if (which < shares) {
                *key = place_of(set, p->models.items[m], p->means.items[k], told[which], split);
                return true;
            }
            which -= shares;
        }
    return false;
}

/* The readings of a task without damage, n of them in `clean`. */
static bool make(const study *s, hf_context *ctx, const char *set, long split, problem *out, double **clean)
{
    const plan *p = s->user;
    hf_context_set_seed(ctx, (uint64_t)(s->offset + split));
    if (strcmp(set, "toy") == 0) {
        *clean = room(TOY_ROWS, sizeof **clean);
        *out = expert_toy(split, s->offset, *clean);
        return true;
    }
    problem sound;
    if (!rcagp_problem(ctx, p->data, set, "none", split, s->offset, &sound)) return false;
    *clean = room(sound.n, sizeof **clean);
    memcpy(*clean, sound.y, sound.n * sizeof **clean);
    problem_free(&sound);
    if (rcagp_problem(ctx, p->data, set, "asymmetric", split, s->offset, out)) return true;
    free(*clean);
    return false;
}

static bool data_of(const study *s, hf_context *ctx, size_t number, problem *out)
{
    long split;
    double *clean = NULL;
    const char *set = set_of(s->user, number, &split);
    const bool ok = make(s, ctx, set, split, out, &clean);
    if (ok) free(clean);
    return ok;
}

/* In the published models the expert's mean is the prior mean; in ours a constant is learnt beside it. */
static bool settings_for(hf_context *ctx, const char *model, expert_use use, hf_fit_settings *out)
{
    if (rcagp_settings(ctx, model, RCAGP_PROGRAM, "matern32", 0.2, out) < 0) {
        fprintf(stderr, "%s: %s\n", model, hf_context_message(ctx));
        return false;
    }
    const bool asked = use != EXPERT_CONSTANT && use != EXPERT_REPLACED;
    if (asked && !rcagp_model_is_ours(model)) out->mean = HF_MEAN_ZERO;
    return true;
}

static bool fit(const study *s, hf_context *ctx, const problem *data, record *item)
{
    const plan *p = s->user;
    char model[16];
    hf_fit_settings settings;
    const char *space = strchr(item->method, ' ');
    snprintf(model, sizeof model, "%.*s", (int)(space - item->method), item->method);
    if (!settings_for(ctx, model, expert_use_of(space + 1), &settings)) return false;
    /* Another copy of the data, whose readings may be replaced. */
    problem own;
    double *clean;
    if (!make(s, ctx, item->set, item->split, &own, &clean)) return false;
    const expert_skill skill = {.told = item->share,
                                .sd = (double)p->off / 100.0,
                                .seed = (uint64_t)(s->offset + 9000 + item->split)};
    double *train = room(data->n, sizeof *train), *test = room(data->m, sizeof *test);
    const bool ok = expert_means(ctx, &own, clean, expert_use_of(space + 1), &skill, train, test) &&
                    settings_run_about(ctx, &settings, train, test, &own, item);
    free(train);
    free(test);
    free(clean);
    problem_free(&own);
    return ok;
}

/* ---- report ----------------------------------------------------------------------------------------------- */

static summary sum_up(const plan *p, const char *set, const char *model, const char *mean, double share,
                      double (*field)(const record *))
{
    const record key = place_of(set, model, mean, share, 0);
    return records_summary(&p->study.done, &key, field);
}

static const struct {
    const char *name;
    double (*field)(const record *);
} measures[] = {{"MAE", record_mae}, {"NLPD", record_nlpd}};

static void print_cell(summary s)
{
    if (s.count)
        printf(" %.3f ± %.3f |", s.mean, s.sd);
    else
        printf("  |");
}

static void print_row(const plan *p, size_t q, const char *set, const char *model)
{
    const paper_cell *paper = rcagp_paper_find("table1", "asymmetric", set, model);
    printf("\n| %s | %s%s |", set, rcagp_model_is_ours(model) ? "**ours:** " : "", model);
    if (paper)
        printf(" %.3f ± %.3f |", q == 0 ? paper->mae.mean : paper->nll.mean,
               q == 0 ? paper->mae.sd : paper->nll.sd);
    else
        printf("  |");
    for (size_t k = 0; k < p->means.count; ++k)
        for (size_t t = 0; t < shares_of(p->means.items[k]); ++t)
            print_cell(sum_up(p, set, model, p->means.items[k], told[t], measures[q].field));
}

static void print_tables(const plan *p)
{
    for (size_t q = 0; q < 2; ++q) {
        size_t columns = 0;
        printf("\n### %s\n\n| set | model | printed, const |", measures[q].name);
        for (size_t k = 0; k < p->means.count; ++k)
            for (size_t t = 0; t < shares_of(p->means.items[k]); ++t, ++columns)
                if (strcmp(p->means.items[k], "const") == 0)
                    printf(" const |");
                else
                    printf(" %s %.0f %% |", p->means.items[k], 100.0 * told[t]);
        printf("\n|---|---|---|");
        for (size_t k = 0; k < columns; ++k) printf("---|");
        for (size_t i = 0; i < p->sets.count; ++i)
            for (size_t m = 0; m < p->models.count; ++m)
                print_row(p, q, p->sets.items[i], p->models.items[m]);
        putchar('\n');
    }
}

/* ---- picture ---------------------------------------------------------------------------------------------- */

static const char *const styles[] = {"lc rgb '#8073ac' pt 5", "lc rgb '#1a9850' pt 7",
                                     "lc rgb '#2a6496' pt 9", "lc rgb '#e08214' pt 11"};

/* Figure 2 (right): the toy's first split, its readings, and the model's curve under one mean. */
static bool write_curve(const plan *p, hf_context *ctx, FILE *out, const char *block, const char *model,
                        expert_use use)
{
    const study *s = &p->study;
    double *clean, prior[TOY_ROWS], at[TOY_GRID], mean[TOY_GRID];
    problem toy;
    hf_fit_settings settings;
    hf_posterior *posterior = NULL;
    if (!make(s, ctx, "toy", s->first, &toy, &clean)) return false;
    const expert_skill skill = {1.0, (double)p->off / 100.0, (uint64_t)(s->offset + 9000 + s->first)};
    bool ok =
        expert_means(ctx, &toy, clean, use, &skill, prior, at) && settings_for(ctx, model, use, &settings);
    const hf_data data = {.n = toy.n, .d = 1, .ldx = 1, .x = toy.x, .y = toy.y, .mean = prior};
    ok = ok && hf_fit_data(ctx, &data, &settings, &posterior, NULL, NULL) >= 0 &&
         hf_predict(ctx, posterior, toy.m, toy.tx, 1, mean, NULL, NULL) >= 0;
    if (ok) {
        fprintf(out, "$%s << EOD\n", block);
        for (size_t i = 0; i < toy.m; ++i)
            fprintf(out, "%.5f %.5f %.5f %.5f\n", toy.tx[i], mean[i] + at[i], at[i], toy.ty[i]);
        fputs("EOD\n", out);
        if (use == EXPERT_CONSTANT) {
            fputs("$readings << EOD\n", out);
            for (size_t i = 0; i < toy.n; ++i)
                fprintf(out, "%.5f %.5f %d\n", toy.x[i], toy.y[i], toy.wrong[i]);
            fputs("EOD\n", out);
        }
    }
    hf_posterior_free(posterior);
    problem_free(&toy);
    free(clean);
    return ok;
}

/* Mean over the sets of MAE over that of the constant mean. */
static void write_ratios(const plan *p, FILE *out, size_t m, const char *mean)
{
    fprintf(out, "$r%zu_%s << EOD\n0 1\n", m, mean);
    for (size_t t = 0; t < SHARES; ++t) {
        double sum = 0.0;
        size_t count = 0;
        for (size_t i = 0; i < p->sets.count; ++i) {
            const char *set = p->sets.items[i], *model = p->models.items[m];
            const summary a = sum_up(p, set, model, mean, told[t], record_mae),
                          b = sum_up(p, set, model, "const", 0.0, record_mae);
            if (a.count == 0 || b.count == 0) continue;
            sum += a.mean / b.mean;
            count += 1;
        }
        if (count > 0) fprintf(out, "%.0f %.5f\n", 100.0 * told[t], sum / (double)count);
    }
    fputs("EOD\n", out);
}

static void draw_toy(FILE *out)
{
    fputs("set title 'Toy: RCaGP, published settings' offset 0,-0.5\nset xlabel 'x' offset 0,0.5\n"
          "set ylabel 'y / sd' offset 1,0\nset key top left\n"
          "plot $readings using 1:($3 == 0 ? $2 : NaN) with points pt 7 ps 0.4 lc rgb '#909090' title "
          "'readings', "
          "$readings using 1:($3 == 1 ? $2 : NaN) with points pt 2 ps 0.7 lc rgb '#d73027' title 'wrong', "
          "$const using 1:2 with lines lw 2 lc rgb '#8073ac' title 'constant mean', "
          "$average using 1:2 with lines lw 2 lc rgb '#1a9850' title 'mean of the expert', "
          "$average using 1:3 with lines lw 1 dt 2 lc rgb '#1a9850' title 'that mean itself'\n",
          out);
}

static void draw_ratios(const plan *p, FILE *out, const char *mean)
{
    fprintf(out,
            "set title 'MAE / that of the constant mean: %s' offset 0,-0.5\n"
            "set xlabel '%% of wrong readings corrected' offset 0,0.5\nunset ylabel\nset xrange [-5:105]\n"
            "set yrange [0:1.7]\nset key bottom left\nplot ",
            mean);
    for (size_t m = 0; m < p->models.count; ++m)
        fprintf(out, "%s$r%zu_%s using 1:2 with linespoints lw 2 ps 0.8 %s title '%s'", m ? ", " : "", m,
                mean, styles[m % 4], p->models.items[m]);
    fputs("\n", out);
}

static bool draw(const plan *p)
{
    static const char *const shown[] = {"average", "replace"};
    picture pic;
    picture_begin(&pic);
    hf_context *ctx = hf_context_create();
    bool ok = ctx != NULL && write_curve(p, ctx, pic.script, "const", "RCaGP", EXPERT_CONSTANT) &&
              write_curve(p, ctx, pic.script, "average", "RCaGP", EXPERT_AVERAGE);
    hf_context_free(ctx);
    for (size_t k = 0; k < 2; ++k)
        for (size_t m = 0; m < p->models.count; ++m) write_ratios(p, pic.script, m, shown[k]);
    fputs("set multiplot layout 1,3 margins 0.04,0.99,0.15,0.9 spacing 0.045,0.1\n", pic.script);
    draw_toy(pic.script);
    for (size_t k = 0; k < 2; ++k) draw_ratios(p, pic.script, shown[k]);
    fputs("unset multiplot\n", pic.script);
    return picture_draw(&pic, p->picture, 1380, 430) && ok;
}

static void keep_present(plan *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->sets.count; ++i)
        if (strcmp(p->sets.items[i], "toy") == 0 || uci_present(p->data, p->sets.items[i]))
            p->sets.items[kept++] = p->sets.items[i];
    p->sets.count = kept;
}

int main(int argc, char **argv)
{
    static const study_calls calls = {key_of, data_of, fit};
    plan p = {.study = {.last = 19, .jobs = 1, .threads = 1, .calls = &calls}, .data = sets_folder()};
    study *s = &p.study;
    s->user = &p;
    read_options(argc, argv, &p);
    if (!s->report) keep_present(&p);
    if (p.sets.count == 0) return SETS_MISSING;
    s->count = p.sets.count * study_splits(s);
    size_t failed = study_run(s);
    printf("Asymmetric outliers, of which an expert corrects a share, exactly but for an sd of %.2f; mean ± "
           "sd over "
           "splits %ld..%ld. holdfast %s.\n",
           (double)p.off / 100.0, s->first, s->last, hf_version());
    print_tables(&p);
    if (p.picture && !draw(&p)) failed += 1;
    return study_close(s, "rcagp-expert", failed);
}
