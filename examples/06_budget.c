/* SPDX-License-Identifier: Apache-2.0 */
/* A table that is too large to be fitted exactly again and again: 3000 readings, one in twenty of them wrong.
 *
 * The inducing solver learns the hyperparameters, with robust sites. Then the same readings are solved three
 * times at those hyperparameters: by inducing inputs, by projection on Krylov actions, and exactly, which one
 * can just afford here. The projection's variance is never below the exact one, and it can say how much of it
 * is for want of computing. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

enum {
    READINGS = 3000,
    POINTS = 400,
    PLACES = 60 /* inducing inputs; actions, too */
};

typedef struct readings {
    double x[READINGS][2], y[READINGS];
} readings;

static double truth(const double x[2])
{
    return sin(1.5 * x[0]) * cos(x[1]) + 0.3 * x[1];
}

static double uniform(void) /* the same everywhere, unlike rand() */
{
    static unsigned long long state = 11;
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(state >> 11) / 9007199254740992.0;
}

static void measure(readings *r)
{
    for (int i = 0; i < READINGS; i++) {
        for (int j = 0; j < 2; j++) r->x[i][j] = 6.0 * uniform() - 3.0;
        r->y[i] = truth(r->x[i]) + 0.2 * (uniform() + uniform() + uniform() - 1.5);
        if (i % 20 == 7) r->y[i] += 4.0;
    }
}

static double seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Robust sites by hand: centred on what the fit says at each reading. */
static hf_status make_sites(hf_context *ctx, const hf_posterior *fit, const readings *r, hf_sites **sites)
{
    static double centre[READINGS];
    double threshold;
    hf_status s = hf_predict(ctx, fit, READINGS, r->x[0], 2, centre, NULL, NULL);
    if (s >= 0) s = hf_robust_threshold(ctx, HF_THRESHOLD_MAD, READINGS, r->y, centre, 0.1, &threshold);
    if (s >= 0)
        s = hf_sites_robust(ctx, READINGS, r->y, hf_posterior_noise(fit), NULL, centre, threshold, sites);
    return s;
}

static hf_status solve(hf_context *ctx, hf_solver solver, const hf_posterior *fit, const hf_sites *sites,
                       const readings *r, hf_posterior **out)
{
    const hf_kernel *kernel = hf_posterior_kernel(fit);
    const hf_mean *mean = hf_posterior_mean_function(fit);
    if (solver == HF_SOLVER_EXACT) return hf_solve_exact(ctx, kernel, mean, sites, r->x[0], 2, out);
    if (solver == HF_SOLVER_PROJECTED) {
        const hf_projection krylov = {.size = sizeof krylov,
                                      .actions = HF_ACTIONS_KRYLOV,
                                      .count = PLACES,
                                      .inducing = PLACES,
                                      .tolerance = 0.001};
        return hf_solve_projected(ctx, kernel, mean, sites, r->x[0], 2, &krylov, out, NULL);
    }
    double z[PLACES][2];
    size_t chosen;
    hf_status s =
        hf_choose_inducing(ctx, kernel, HF_INDUCING_GREEDY, READINGS, r->x[0], 2, PLACES, z[0], &chosen);
    if (s < 0) return s;
    return hf_solve_inducing(ctx, kernel, mean, sites, r->x[0], 2, HF_INDUCING_VFE, chosen, z[0], 2, out);
}

/* Error of the mean, average standard deviation, and how often the variance is below the exact one. */
static hf_status judge(hf_context *ctx, const hf_posterior *posterior, const hf_posterior *exact, double took)
{
    static double x[POINTS][2], mean[POINTS], var[POINTS], best[POINTS], missing[POINTS];
    for (int i = 0; i < POINTS; i++) {
        x[i][0] = -2.85 + 0.3 * (i % 20);
        const int row = i / 20;
        x[i][1] = -2.85 + 0.3 * row;
    }
    hf_status s = hf_predict(ctx, posterior, POINTS, x[0], 2, mean, var, NULL);
    if (s >= 0) s = hf_predict(ctx, exact, POINTS, x[0], 2, best, missing, NULL);
    if (s < 0) return s;
    double error = 0.0, sd = 0.0, computational = 0.0;
    int below = 0;
    for (int i = 0; i < POINTS; i++) {
        error += (mean[i] - truth(x[i])) * (mean[i] - truth(x[i])) / POINTS;
        sd += sqrt(var[i]) / POINTS;
        below += var[i] < missing[i] * (1.0 - 1e-6);
    }
    printf("%-9s rank %4zu, %.2f s: error %.4f, sd %.4f, below the exact variance at %d of %d points\n",
           hf_enum_name(HF_ENUM_SOLVER, hf_posterior_solver(posterior)), hf_posterior_rank(posterior), took,
           sqrt(error), sd, below, POINTS);
    if (hf_posterior_solver(posterior) != HF_SOLVER_PROJECTED) return HF_OK;
    s = hf_predict_computational(ctx, posterior, POINTS, x[0], 2, missing);
    for (int i = 0; i < POINTS; i++) computational += missing[i] / var[i] / POINTS;
    printf("          of its variance %.1f %% is for want of computing\n", 100.0 * computational);
    return s;
}

static hf_status learn(hf_context *ctx, const readings *r, hf_posterior **fit)
{
    const hf_data data = {.n = READINGS, .d = 2, .x = r->x[0], .ldx = 2, .y = r->y};
    static hf_reading opinion[READINGS];
    hf_fit_settings settings;
    hf_fit_report report;
    hf_status s = hf_fit_settings_preset(ctx, "rcsvgp", &settings, sizeof settings);
    settings.inducing = PLACES;
    settings.standardise = false; /* so that kernel and mean serve the solvers below as they are */
    if (s >= 0) s = hf_fit_data(ctx, &data, &settings, fit, &report, opinion);
    if (s < 0) return s;
    int found = 0, wrongly = 0;
    for (int i = 0; i < READINGS; i++) {
        found += opinion[i].suspected && i % 20 == 7;
        wrongly += opinion[i].suspected && i % 20 != 7;
    }
    printf("learnt in %.1f s: noise sd %.3f; %d of %d wrong readings suspected, and %d others\n",
           report.seconds, sqrt(hf_posterior_noise(*fit)), found, READINGS / 20, wrongly);
    return s;
}

int main(void)
{
    static readings r;
    static const hf_solver solvers[] = {HF_SOLVER_EXACT, HF_SOLVER_INDUCING, HF_SOLVER_PROJECTED};
    hf_context *ctx = hf_context_create();
    hf_posterior *fit = NULL, *solved[3] = {NULL, NULL, NULL};
    hf_sites *sites = NULL;

    measure(&r);
    hf_status s = learn(ctx, &r, &fit);
    if (s >= 0) s = make_sites(ctx, fit, &r, &sites);
    for (int k = 0; k < 3 && s >= 0; k++) {
        double begin = seconds();
        s = solve(ctx, solvers[k], fit, sites, &r, &solved[k]);
        if (s >= 0) s = judge(ctx, solved[k], solved[0], seconds() - begin);
    }
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    for (int k = 0; k < 3; k++) hf_posterior_free(solved[k]);
    hf_sites_free(sites);
    hf_posterior_free(fit);
    hf_context_free(ctx);
    return s < 0;
}
