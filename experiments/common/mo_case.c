/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_case.h"
#include "common/mo_curves.h"
#include "common/options.h"
#include "common/room.h"
#include "common/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct plan {
    const mo_case *what;
    const char *data, *stem;
    words models;
    long folds; /* 0: each reading by itself */
} plan;

/* A problem of its own: readings of `p` without those that `left_out` names, test rows at all readings. */
static problem without(const problem *p, const bool *left_out)
{
    problem q = problem_create(p->n, p->n, p->d);
    memcpy(q.x, p->x, p->n * p->d * sizeof *p->x);
    memcpy(q.tx, p->x, p->n * p->d * sizeof *p->x);
    memcpy(q.wrong, p->wrong, p->n * sizeof *p->wrong);
    for (size_t i = 0; i < p->n; ++i) q.y[i] = left_out[i] ? NAN : p->y[i];
    return q;
}

/* ---- left out ------------------------------------------------------------------------------------------------ */

/* Predictions of every reading by fits that did not get it. */
static bool leave_out(hf_context *ctx, const plan *all, const problem *p, const char *model,
                      const mo_terms *terms, double *mean, double *sd)
{
    bool *left_out = room(p->n, sizeof *left_out), ok = true;
    size_t *fold = room(p->n, sizeof *fold), present = 0;
    for (size_t i = 0; i < p->n; ++i) fold[i] = isnan(p->y[i]) ? SIZE_MAX : present++;
    const size_t folds = all->folds > 0 ? (size_t)all->folds : present;
    for (size_t k = 0; ok && k < folds; ++k) {
        /* Every folds-th reading: fold k never holds two of one sample unless the folds are few. */
        for (size_t i = 0; i < p->n; ++i) left_out[i] = fold[i] != SIZE_MAX && fold[i] % folds == k;
        problem q = without(p, left_out);
        mo_result r = mo_result_create(&q);
        ok = mo_run(ctx, model, terms, &q, &r, NULL);
        for (size_t i = 0; ok && i < p->n; ++i) {
            if (!left_out[i]) continue;
            mean[i] = r.mean[i];
            sd[i] = r.sd[i];
        }
        mo_result_free(&r);
        problem_free(&q);
    }
    free(left_out);
    free(fold);
    return ok;
}

/* Scores over the sound readings of one output. */
static hf_metrics score_output(hf_context *ctx, const plan *all, const problem *p, size_t t,
                               const double *mean, const double *sd)
{
    const size_t outputs = mo_outputs(p);
    double *y = room(3 * p->n, sizeof *y);
    size_t count = 0;
    hf_metrics metrics = {.rmse = NAN, .nlpd = NAN};
    for (size_t i = t; i < p->n; i += outputs) {
        if (isnan(p->y[i]) || p->wrong[i]) continue;
        y[count] = p->y[i] / all->what->scale;
        y[p->n + count] = mean[i] / all->what->scale;
        y[2 * p->n + count++] = sd[i] / all->what->scale;
    }
    hf_metrics_gaussian(ctx, count, y, y + p->n, y + 2 * p->n, &metrics);
    free(y);
    return metrics;
}

static bool print_left_out(hf_context *ctx, const plan *all, const problem *p, const mo_terms *terms)
{
    const size_t outputs = mo_outputs(p);
    printf("\n### Left out (%s), scored on the sound readings, in %s\n\n| model |",
           all->folds > 0 ? "in parts" : "each reading by itself", all->what->unit);
    for (size_t t = 0; t < outputs; ++t)
        printf(" RMSE, %s | NLPD, %s |", all->what->outputs[t], all->what->outputs[t]);
    printf("\n|---|");
    for (size_t t = 0; t < 2 * outputs; ++t) printf("---|");
    putchar('\n');
    double *mean = room(2 * p->n, sizeof *mean);
    bool ok = true;
    for (size_t m = 0; ok && m < all->models.count; ++m) {
        const char *model = all->models.items[m];
        ok = leave_out(ctx, all, p, model, terms, mean, mean + p->n);
        if (!ok) break;
        printf("| %s%s |", mo_method_is_ours(model) ? "**ours:** " : "", model);
        for (size_t t = 0; t < outputs; ++t) {
            const hf_metrics s = score_output(ctx, all, p, t, mean, mean + p->n);
            printf(" %.4g | %.3f |", s.rmse, s.nlpd);
        }
        putchar('\n');
        fflush(stdout);
    }
    free(mean);
    return ok;
}

/* ---- the wrong reading ----------------------------------------------------------------------------------------- */

/* Largest difference of the curves of output t on the grid. */
static double largest_move(const problem *p, size_t t, const mo_result *a, const mo_result *b)
{
    double largest = 0.0;
    for (size_t i = t; i < p->m; i += mo_outputs(p)) largest = fmax(largest, fabs(a->mean[i] - b->mean[i]));
    return largest;
}

/* The grid row of the wrong reading's output that is nearest to it. */
static size_t nearest(const problem *p, size_t wrong)
{
    size_t best = wrong % mo_outputs(p);
    for (size_t i = best; i < p->m; i += mo_outputs(p))
        if (fabs(p->tx[i * p->d] - p->x[wrong * p->d]) < fabs(p->tx[best * p->d] - p->x[wrong * p->d]))
            best = i;
    return best;
}

static bool print_influence(hf_context *ctx, const plan *all, const problem *p, const mo_terms *terms)
{
    const size_t outputs = mo_outputs(p);
    const double scale = all->what->scale;
    size_t wrong = 0;
    while (wrong + 1 < p->n && !p->wrong[wrong]) ++wrong;
    problem sound = *p;
    sound.y = room(p->n, sizeof *sound.y);
    memcpy(sound.y, p->y, p->n * sizeof *p->y);
    sound.y[wrong] = NAN;
    const size_t place = nearest(p, wrong);
    printf(
        "\n### What the wrong reading does (%.6g at %.6g of %s, in %s)\n\n| model | weight | curve there | "
        "without it | sd of the function there |",
        p->y[wrong] / scale, p->x[wrong * p->d], all->what->outputs[wrong % outputs], all->what->unit);
    for (size_t t = 0; t < outputs; ++t) printf(" largest move of %s |", all->what->outputs[t]);
    puts(" s |");
    for (size_t t = 0; t < outputs + 6; ++t) printf("|---");
    puts("|");
    bool ok = true;
    for (size_t m = 0; ok && m < all->models.count; ++m) {
        const char *model = all->models.items[m];
        mo_result with = mo_result_create(p), alone = mo_result_create(p);
        record costs = {0};
        ok = mo_run(ctx, model, terms, p, &with, &costs) && mo_run(ctx, model, terms, &sound, &alone, NULL);
        if (ok) {
            printf("| %s%s | %.3f | %.6g | %.6g | %.3g |", mo_method_is_ours(model) ? "**ours:** " : "",
                   model, with.readings[wrong].weight, with.mean[place] / scale, alone.mean[place] / scale,
                   with.latent_sd[place] / scale);
            for (size_t t = 0; t < outputs; ++t) printf(" %.3g |", largest_move(p, t, &with, &alone) / scale);
            printf(" %.2f |\n", costs.cpu_seconds);
            fflush(stdout);
        }
        mo_result_free(&with);
        mo_result_free(&alone);
    }
    free(sound.y);
    return ok;
}

/* ---- program ----------------------------------------------------------------------------------------------------- */

static void read_options(int argc, char **argv, plan *p)
{
    char heading[400];
    const option_row rows[] = {
        option_text("data", "DIR", "folder of the data " SETS_DEFAULT, &p->data),
        mo_method_option(&p->models, p->what->models),
        option_number("folds", "K", "parts that are left out in turn; 0: each reading by itself", &p->folds,
                      0, 1000),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png with gnuplot", &p->stem)};
    snprintf(
        heading, sizeof heading,
        "usage: %s [option]...\n%s\nof the multi-output robust conjugate process (MO-RCGP), and what other "
        "models make of it.\n",
        p->what->program, p->what->title);
    options_read(argc, argv, heading, NULL, sizeof rows / sizeof *rows, rows);
}

static bool draw(hf_context *ctx, const plan *all, const problem *p, const mo_terms *terms)
{
    words drawn;
    const mo_curves curves = {.data = p,
                              .outputs = all->what->outputs,
                              .axis = all->what->axis,
                              .settings = all->what->settings,
                              .latent_bands = false};
    words_parse(&drawn, "models", all->what->drawn, mo_method_known, NULL);
    return mo_curves_draw(ctx, &curves, terms, &drawn, all->stem);
}

int mo_case_main(int argc, char **argv, const mo_case *what)
{
    char path[SETS_PATH];
    plan p = {.what = what, .data = sets_folder(), .folds = (long)what->folds};
    mo_terms terms = {.own_kernel = NULL};
    problem data;
    read_options(argc, argv, &p);
    if (!sets_need(p.data, what->file, path)) return SETS_MISSING;
    hf_context *ctx = hf_context_create();
    bool ok = ctx && what->load(ctx, path, &data);
    if (ok) {
        what->terms(&data, &terms);
        printf("%s. holdfast %s.\n", what->title, hf_version());
        ok = print_influence(ctx, &p, &data, &terms) && print_left_out(ctx, &p, &data, &terms);
        if (ok && p.stem) ok = draw(ctx, &p, &data, &terms);
        problem_free(&data);
    }
    hf_context_free(ctx);
    return ok ? 0 : 1;
}
