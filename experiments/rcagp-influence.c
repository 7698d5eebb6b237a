/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-influence.c
 * @brief The harm that one wrong reading may do: Proposition 4.1 and section F.1 of "Robust and Computation-Aware
 * Gaussian Processes" (2025), and what i actions cost and leave uncomputed (Propositions F.2 and F.3).
 *
 * 100 readings of sin(7 x) + x on [0, 1] with noise of sd 0.1; hyperparameters held at lengthscale 0.2,
 * outputscale 1, noise 0.01; Matern-5/2, prior mean 0. Reading 37 is moved to y, all else stays: actions,
 * inducing inputs, threshold and the weights of the others. Influence is KL(posterior || posterior with the
 * reading moved), in nats.
 */
#include "common/clock.h"
#include "common/draws.h"
#include "common/options.h"
#include "common/picture.h"
#include "common/quantile.h"

#include <holdfast/holdfast.h>
#include <math.h>
#include <stdlib.h>

enum {
    READINGS = 100,
    SIZE = 20, /* actions, inducing inputs */
    MOVED = 37,
    PER_DECADE = 4,
    DECADES = 7, /* from 1 to 1e6, both included */
    STEPS = (DECADES - 1) * PER_DECADE + 1,
    MODELS = 4,
    MANY = 1500, /* readings of the second table */
    COUNTS = 7,
    REPEATS = 7 /* the least time counts */
};

static const double noise = 0.01, eps = 0.2;
static const char *const names[MODELS] = {"CaGP", "SVGP", "RCaGP", "RCSVGP"};

typedef struct toy {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    size_t n;
    double *x, *y, *zero;
    double threshold;
} toy;

static void toy_free(toy *t)
{
    hf_kernel_free(t->kernel);
    hf_mean_free(t->mean);
    hf_context_free(t->ctx);
    free(t->x);
}

static bool toy_make(size_t n, toy *t)
{
    draws d = {0x9e3779b97f4a7c15u};
    const double zero = 0.0;
    *t = (toy){.ctx = hf_context_create(), .n = n, .x = calloc(n, 4 * sizeof *t->x)};
    if (!t->ctx || !t->x) return false;
    t->y = t->x + n;
    t->zero = t->y + n;
    double *far = t->zero + n;
    for (size_t i = 0; i < n; ++i) {
        t->x[i] = draw_uniform(&d);
        t->y[i] = sin(7.0 * t->x[i]) + t->x[i] + 0.1 * draw_normal(&d);
        far[i] = fabs(t->y[i]);
    }
    t->threshold = quantile_of(far, n, 1.0 - eps);
    return hf_context_set_threads(t->ctx, 1) >= 0 &&
           hf_kernel_parse(t->ctx, "matern52(lengthscale=0.2, outputscale=1)", NULL, 1, &t->kernel) >= 0 &&
           hf_mean_create(t->ctx, HF_MEAN_CONSTANT, 1, &t->mean) >= 0 &&
           hf_mean_set(t->ctx, t->mean, &zero, true) >= 0;
}

static hf_status make_sites(const toy *t, bool robust, const double *y, hf_sites **out)
{
    return robust ? hf_sites_robust(t->ctx, t->n, y, noise, NULL, t->zero, t->threshold, out)
                  : hf_sites_gaussian(t->ctx, t->n, y, noise, NULL, out);
}

/* The first SIZE readings are the inducing inputs. */
static hf_status solve(const toy *t, bool projected, const hf_sites *sites, hf_posterior **out)
{
    const hf_projection blocks = {.size = sizeof blocks, .actions = HF_ACTIONS_BLOCKS, .count = SIZE};
    return projected ? hf_solve_projected(t->ctx, t->kernel, t->mean, sites, t->x, 1, &blocks, out, NULL)
                     : hf_solve_inducing(t->ctx, t->kernel, t->mean, sites, t->x, 1, HF_INDUCING_VFE, SIZE,
                                         t->x, 1, out);
}

/* ---- influence ------------------------------------------------------------------------------------------- */

static double place(size_t step)
{
    return pow(10.0, (double)step / PER_DECADE);
}

/* Influence of the reading that is moved to `to`. */
static hf_status influence(const toy *t, size_t model, const hf_posterior *posterior, const hf_sites *before,
                           double to, double *kl)
{
    const double was = t->y[MOVED];
    hf_sites *after = NULL;
    t->y[MOVED] = to;
    hf_status status = make_sites(t, model >= 2, t->y, &after);
    t->y[MOVED] = was;
    if (status < 0) return status;
    const double target = hf_sites_targets(after)[MOVED], variance = hf_sites_variances(after)[MOVED];
    status = model % 2 == 0 ? hf_influence(t->ctx, posterior, MOVED, target, variance, kl)
                            : hf_influence_inducing(t->ctx, posterior, HF_INDUCING_VFE, t->x + MOVED,
                                                    hf_sites_targets(before)[MOVED],
                                                    hf_sites_variances(before)[MOVED], target, variance, kl);
    hf_sites_free(after);
    return status;
}

static hf_status measure(const toy *t, size_t model, double *kl)
{
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    hf_status status = make_sites(t, model >= 2, t->y, &sites);
    if (status >= 0) status = solve(t, model % 2 == 0, sites, &posterior);
    for (size_t k = 0; k < STEPS && status >= 0; ++k)
        status = influence(t, model, posterior, sites, place(k), kl + k);
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    return status;
}

static void print_influence(double kl[MODELS][STEPS])
{
    printf("One of %d readings moved to y, %d actions or inducing inputs; influence in nats. holdfast %s.\n\n"
           "| y |",
           READINGS, SIZE, hf_version());
    for (size_t m = 0; m < MODELS; ++m) printf(" %s |", names[m]);
    puts("\n|---|---|---|---|---|");
    for (size_t k = 0; k < STEPS; k += PER_DECADE) {
        printf("| %.0e |", place(k));
        for (size_t m = 0; m < MODELS; ++m) printf(" %.3g |", kl[m][k]);
        putchar('\n');
    }
    fputs("| slope of the last decade |", stdout);
    for (size_t m = 0; m < MODELS; ++m) {
        const double rise = log10(kl[m][STEPS - 1] / kl[m][STEPS - 1 - PER_DECADE]);
        printf(" %.2f |", fabs(rise) < 0.005 ? 0.0 : rise);
    }
    putchar('\n');
}

static void draw(double kl[MODELS][STEPS], const char *stem)
{
    static const char *const lines[MODELS] = {"lc rgb '#e0a030'", "lc rgb '#c0392b' dt (6,4)",
                                              "lc rgb '#4dac6e'", "lc rgb '#1f4e79' dt (6,4)"};
    picture p;
    picture_begin(&p);
    fputs("$data << EOD\n", p.script);
    for (size_t k = 0; k < STEPS; ++k) {
        fprintf(p.script, "%g", place(k));
        for (size_t m = 0; m < MODELS; ++m) fprintf(p.script, " %g", kl[m][k]);
        fputc('\n', p.script);
    }
    fputs("EOD\nset title 'What one reading may do, however far it goes'\nset logscale xy\n"
          "set format '10^{%T}'\nset key top left Left reverse\nset xlabel 'the reading is moved to y'\n"
          "set ylabel 'influence, nats'\nplot ",
          p.script);
    for (size_t m = 0; m < MODELS; ++m)
        fprintf(p.script, "%s$data using 1:%zu with lines lw 2.5 %s title '%s'", m ? ", \\\n " : "", m + 2,
                lines[m], names[m]);
    fputc('\n', p.script);
    picture_draw(&p, stem, 640, 420);
}

/* ---- cost ------------------------------------------------------------------------------------------------ */

static hf_status measure_count(const toy *t, const hf_sites *sites, size_t count)
{
    const hf_projection blocks = {.size = sizeof blocks,
                                  .actions = HF_ACTIONS_BLOCKS,
                                  .count = count,
                                  .blocks = HF_BLOCKS_CLUSTERED,
                                  .start = HF_ACTION_START_PRECISION};
    hf_posterior *posterior = NULL;
    hf_projection_error e;
    double seconds = INFINITY;
    hf_status status = HF_OK;
    for (int repeat = 0; repeat < REPEATS && status >= 0; ++repeat) {
        hf_posterior_free(posterior);
        posterior = NULL;
        const double began = cpu_clock();
        status = hf_solve_projected(t->ctx, t->kernel, t->mean, sites, t->x, 1, &blocks, &posterior, NULL);
        seconds = fmin(seconds, cpu_clock() - began);
    }
    if (status >= 0) status = hf_projected_error(t->ctx, posterior, false, &e);
    if (status >= 0)
        printf("| %zu | %.4f | %.4f | %.4f | %.4f |\n", count, seconds, e.rho, e.mean_error / e.mean_norm,
               e.remaining / e.mean_norm);
    hf_posterior_free(posterior);
    return status;
}

static hf_status measure_counts(const toy *t)
{
    static const size_t counts[COUNTS] = {8, 16, 32, 64, 128, 256, 512};
    hf_sites *sites = NULL;
    hf_status status = make_sites(t, true, t->y, &sites);
    printf(
        "\n%d readings of the same function, RCaGP with i clustered blocks of precisions; |.| is the norm of "
        "the "
        "kernel's space.\n\n"
        "| i | CPU s | rho | \\|mean - exact mean\\| / \\|exact mean\\| | bound on it, rho \\|v\\| / "
        "\\|exact mean\\| |\n|---|---|---|---|---|\n",
        MANY);
    for (size_t k = 0; k < COUNTS && status >= 0; ++k) status = measure_count(t, sites, counts[k]);
    hf_sites_free(sites);
    return status;
}

int main(int argc, char **argv)
{
    const char *stem = NULL;
    const option_row rows[] = {
        option_text("picture", "STEM", "draw STEM.svg and STEM.png with gnuplot", &stem)};
    options_read(argc, argv,
                 "usage: rcagp-influence [option]...\n"
                 "What one wrong reading may do to CaGP, SVGP, RCaGP and RCSVGP, and what i actions cost.\n",
                 "rcagp-influence --picture docs/pictures/rcagp-influence", sizeof rows / sizeof *rows, rows);
    static double kl[MODELS][STEPS];
    toy few, many = {0};
    hf_status status = toy_make(READINGS, &few) && toy_make(MANY, &many) ? HF_OK : HF_ERR_MEMORY;
    for (size_t m = 0; m < MODELS && status >= 0; ++m) status = measure(&few, m, kl[m]);
    if (status >= 0) {
        print_influence(kl);
        if (stem) draw(kl, stem);
        status = measure_counts(&many);
    }
    if (status < 0)
        fprintf(stderr, "rcagp-influence: %s\n", few.ctx ? hf_context_message(few.ctx) : "out of memory");
    toy_free(&few);
    toy_free(&many);
    return status < 0 ? 1 : 0;
}
