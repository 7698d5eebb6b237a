/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo-rcgp-table3.c
 * @brief Table 3: seconds of a fit on the buildings of Table 2, training included, and of one
 * evaluation of an objective with its gradient.
 *
 * 576 samples of two outputs, 1152 readings. The published program was also timed on one processor of
 * a machine like the one this was written on: 174 s for MO-RCGP, 52 s for MOGP, one split. The
 * evaluation stands beside what LAPACK takes for the same matrix: a factor (dpotrf) and the inverse
 * from it (dpotri). `--kept FILE` sums up the processor seconds of the fits that Table 2 kept in FILE:
 * they are the same fits, and processor seconds do not grow with what else a machine does.
 */
#include "common/clock.h"
#include "common/mo_energy.h"
#include "common/quantile.h"
#include "common/sets.h"
#include "linalg/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    REPEATS = 7
};

/* ---- evaluations ---------------------------------------------------------------------------------------------- */

/* Seconds of a factor and an inverse of the readings' covariances. */
static double time_lapack(hf_context *ctx, const hf_kernel *kernel, const problem *p)
{
    const size_t n = p->n;
    double *gram = malloc(n * n * sizeof *gram), *work = malloc(n * n * sizeof *work), seconds[REPEATS];
    bool ok = gram && work && hf_kernel_gram(ctx, kernel, n, p->x, p->d, gram, n) >= 0;
    for (size_t i = 0; ok && i < n; ++i) gram[i * n + i] += 0.1;
    for (size_t k = 0; ok && k < REPEATS; ++k) {
        memcpy(work, gram, n * n * sizeof *work);
        const double begin = wall_clock();
        ok = hfi_chol(ctx, n, work, n) >= 0;
        if (ok) hfi_chol_inverse(ctx, n, work, n);
        seconds[k] = wall_clock() - begin;
    }
    free(gram);
    free(work);
    return ok ? median_of(seconds, REPEATS) : NAN;
}

static double time_objective(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                             const hf_sites *sites, const problem *p, hf_objective objective)
{
    const size_t count = hf_kernel_parameters(kernel) + hf_mean_coefficients(mean) + hf_sites_channels(sites);
    double *gradient = malloc(count * sizeof *gradient), value, seconds[REPEATS];
    bool ok = gradient != NULL;
    for (size_t k = 0; ok && k < REPEATS; ++k) {
        const double begin = wall_clock();
        ok = hf_objective_evaluate(ctx, objective, kernel, mean, sites, p->x, p->d, &value, gradient) >= 0;
        seconds[k] = wall_clock() - begin;
    }
    free(gradient);
    return ok ? median_of(seconds, REPEATS) : NAN;
}

static void print_evaluations(hf_context *ctx, const problem *p)
{
    static const struct {
        const char *title, *expression;
    } kernels[] = {{"one lengthscale", "coregion(x9, outputs=2)*se"},
                   {"eight lengthscales", "coregion(x9, outputs=2)*se(ard)"}};
    static const hf_objective objectives[] = {HF_OBJECTIVE_EVIDENCE, HF_OBJECTIVE_WLOO};
    puts("\n### One evaluation with its gradient\n\n| kernel | objective | s | dpotrf + dpotri, s | ratio "
         "|\n|---|---|---|---|---|");
    for (size_t k = 0; k < 2; ++k) {
        hf_kernel *kernel = NULL;
        hf_mean *mean = NULL;
        hf_sites *sites = NULL;
        hf_status status = hf_kernel_parse(ctx, kernels[k].expression, NULL, p->d, &kernel);
        if (status >= 0) status = hf_mean_create(ctx, HF_MEAN_ZERO, p->d, &mean);
        if (status >= 0) status = hf_sites_gaussian(ctx, p->n, p->y, 0.1, NULL, &sites);
        const double lapack = status >= 0 ? time_lapack(ctx, kernel, p) : NAN;
        for (size_t j = 0; status >= 0 && j < 2; ++j) {
            const double seconds = time_objective(ctx, kernel, mean, sites, p, objectives[j]);
            printf("| %s | %s | %.4f | %.4f | %.2f |\n", kernels[k].title,
                   hf_enum_name(HF_ENUM_OBJECTIVE, objectives[j]), seconds, lapack, seconds / lapack);
        }
        if (status < 0) fprintf(stderr, "%s\n", hf_context_message(ctx));
        hf_sites_free(sites);
        hf_mean_free(mean);
        hf_kernel_free(kernel);
    }
}

/* ---- fits ------------------------------------------------------------------------------------------------------ */

static double printed_seconds(const char *model)
{
    if (strcmp(model, "MOGP") == 0 || strcmp(model, "mogp") == 0) return 53.9;
    if (strcmp(model, "MO-RCGP") == 0 || strcmp(model, "morcgp") == 0) return 47.9;
    if (strcmp(model, "t-MOGP") == 0 || strcmp(model, "t-mogp") == 0) return 331.0;
    return NAN;
}

static double program_seconds(const char *model)
{
    if (strcmp(model, "MOGP") == 0 || strcmp(model, "mogp") == 0) return 52.0;
    if (strcmp(model, "MO-RCGP") == 0 || strcmp(model, "morcgp") == 0) return 174.0;
    return NAN;
}

typedef struct plan {
    const char *data, *kept;
    words kinds, models;
    long threads, first, last; /* splits */
} plan;

/* Seconds of others, printed and of the published program, beside those here. */
static void print_others(const char *model, double here)
{
    const double printed = printed_seconds(model), program = program_seconds(model);
    if (isnan(printed))
        printf("  |");
    else
        printf(" %g |", printed);
    if (isnan(program))
        printf("  |  |");
    else
        printf(" %g | %.0f |", program, program / here);
}

static void print_costs(const char *kind, const char *model, const record *mean, double sd, long splits)
{
    printf("| %s | %s%s | %.2f ± %.2f | %.2f | %zu |", kind, mo_method_is_ours(model) ? "**ours:** " : "",
           model, mean->seconds, sd, mean->cpu_seconds, mean->evaluations);
    print_others(model, mean->seconds);
    printf(" %ld |\n", splits);
    fflush(stdout);
}

/* Means over the splits; the sd is the population's. */
static bool print_fits(hf_context *ctx, const plan *all, const char *kind, const char *model)
{
    const long splits = all->last - all->first + 1;
    record mean = {0};
    double squares = 0.0, evaluations = 0.0;
    mo_terms terms = {.own_kernel = NULL};
    bool ok = true;
    mo_energy_terms(kind, &terms);
    for (long split = all->first; ok && split <= all->last; ++split) {
        mo_draw_result drawn = {0};
        ok = mo_energy_data(ctx, all->data, kind, (uint64_t)split, &drawn);
        if (!ok) break;
        mo_result result = mo_result_create(&drawn.data);
        record costs = {0};
        ok = mo_run(ctx, model, &terms, &drawn.data, &result, &costs);
        mean.seconds += costs.seconds / (double)splits;
        mean.cpu_seconds += costs.cpu_seconds / (double)splits;
        evaluations += (double)costs.evaluations / (double)splits;
        squares += costs.seconds * costs.seconds / (double)splits;
        mo_result_free(&result);
        problem_free(&drawn.data);
    }
    mean.evaluations = (size_t)(evaluations + 0.5);
    if (ok) print_costs(kind, model, &mean, sqrt(fmax(squares - mean.seconds * mean.seconds, 0.0)), splits);
    return ok;
}

/* One row of fits that were kept; nothing where there are none. */
static void print_kept(const records *done, const char *kind, const char *model)
{
    const summary s = mo_table_sum(done, "readings", kind, model, record_cpu_seconds);
    if (s.count == 0) return;
    printf("| %s | %s%s | %.1f ± %.1f |", kind, mo_method_is_ours(model) ? "**ours:** " : "", model, s.mean,
           s.sd);
    print_others(model, s.mean);
    printf(" %zu |\n", s.count);
}

static bool report_kept(const plan *p)
{
    records done = {0};
    if (!records_load(&done, p->kept)) return false;
    printf("Table 3: processor seconds of the fits of Table 2, one thread. holdfast %s on %s.\n",
           hf_version(), hf_blas_description());
    puts("\n### Fits that were kept\n\n| damage | model | processor s | printed s (their laptop) | published "
         "program s, one processor | times less | splits |\n|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < p->kinds.count; ++k)
        for (size_t m = 0; m < p->models.count; ++m) print_kept(&done, p->kinds.items[k], p->models.items[m]);
    records_free(&done);
    return true;
}

static bool run(hf_context *ctx, const plan *p)
{
    bool ok = hf_context_set_threads(ctx, (int)p->threads) >= 0;
    printf("Table 3: seconds on the buildings of Table 2. holdfast %s on %s, %d threads.\n", hf_version(),
           hf_blas_description(), hf_context_threads(ctx));
    mo_draw_result drawn = {0};
    if (ok) ok = mo_energy_data(ctx, p->data, p->kinds.items[0], (uint64_t)p->first, &drawn);
    if (ok) {
        print_evaluations(ctx, &drawn.data);
        problem_free(&drawn.data);
        puts(
            "\n### Fits\n\n| damage | model | s | CPU s | evaluations | printed s (their laptop) | published "
            "program s, a machine like this | times faster | splits "
            "|\n|---|---|---|---|---|---|---|---|---|");
    }
    for (size_t k = 0; ok && k < p->kinds.count; ++k)
        for (size_t m = 0; ok && m < p->models.count; ++m)
            ok = print_fits(ctx, p, p->kinds.items[k], p->models.items[m]);
    return ok;
}

int main(int argc, char **argv)
{
    char path[SETS_PATH];
    plan p = {.data = sets_folder()};
    const option_row rows[] = {
        option_text("data", "DIR", "folder with energy/energy.csv " SETS_DEFAULT, &p.data),
        option_choice("kinds", "LIST", "of none,uniform,asymmetric,focused (default none,uniform)", &p.kinds,
                      "none,uniform", MO_ENERGY_KINDS),
        mo_method_option(&p.models, "MOGP,MO-RCGP,mogp,morcgp,recentred,default"),
        option_range("splits", "numbers of the splits (default 0..0); means over them", &p.first, &p.last),
        option_text("kept", "FILE", "fits nothing: sums up the fits in this file of mo-rcgp-table2 --json",
                    &p.kept),
        option_number("threads", "N", "threads (default 1; 0: all processors)", &p.threads, 0, 256)};
    p.threads = 1;
    options_read(argc, argv,
                 "usage: mo-rcgp-table3 [option]...\n"
                 "Seconds of fits of several outputs, and of one evaluation.\n",
                 NULL, sizeof rows / sizeof *rows, rows);
    if (p.kept) return report_kept(&p) ? 0 : 1;
    if (!sets_need(p.data, "energy/energy.csv", path)) return SETS_MISSING;
    hf_context *ctx = hf_context_create();
    const bool ok = ctx && run(ctx, &p);
    hf_context_free(ctx);
    return ok ? 0 : 1;
}
