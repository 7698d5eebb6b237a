/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of block actions that are not trained: those of their rule for the sites, mean and kernel
 * that a fit ends with. */
#include "posterior/posterior.h"
#include <holdfast/train.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 120,
    ACTIONS = 20
};

typedef struct problem {
    double x[N], y[N];
    bool wrong[N];
} problem;

static void make(problem *p)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 8);
    memset(p, 0, sizeof *p);
    for (size_t i = 0; i < N; i++) {
        p->x[i] = 10.0 * (double)i / N;
        p->wrong[i] = i % 11 == 4;
        p->y[i] = sin(p->x[i]) + 0.1 * hfi_stream_normal(&stream) + (p->wrong[i] ? 4.0 : 0.0);
    }
}

static hf_fit_settings robust_blocks(hf_action_start start)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.sites = HF_LIKELIHOOD_ROBUST;
    settings.solver = HF_SOLVER_PROJECTED;
    settings.action_kind = HF_ACTIONS_BLOCKS;
    settings.actions = ACTIONS;
    settings.action_start = start;
    settings.standardise = false;
    settings.kernel = "matern52";
    return settings;
}

/* The posterior of a fit, and that of hf_solve_projected() from the same kernel, mean, sites and
 * words, at the middles between readings. */
static void compare(const problem *p, const hf_fit_settings *settings, double *error, double *difference)
{
    hf_context *ctx = hf_context_create();
    const hf_data data = {.n = N, .d = 1, .x = p->x, .ldx = 1, .y = p->y};
    hf_posterior *fitted = NULL, *solved = NULL;
    assert_true(hf_fit_data(ctx, &data, settings, &fitted, NULL, NULL) >= 0);
    const hfi_solution *s = &fitted->solution;
    double target[N], mean[N], other[N], x[N];
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, N, p->y, 1.0, NULL, &sites), HF_OK);
    hf_mean_evaluate(hf_posterior_mean_function(fitted), N, p->x, 1, target);
    for (size_t i = 0; i < N; i++) {
        target[i] += s->residual[i];
        x[i] = p->x[i] + 5.0 / N;
    }
    hfi_sites_give(sites, target, s->variance);
    const hf_projection projection = {.size = sizeof projection,
                                      .actions = HF_ACTIONS_BLOCKS,
                                      .count = ACTIONS,
                                      .blocks = settings->blocks,
                                      .start = settings->action_start};
    assert_true(hf_solve_projected(ctx, hf_posterior_kernel(fitted), hf_posterior_mean_function(fitted),
                                   sites, p->x, 1, &projection, &solved, NULL) >= 0);
    assert_int_equal(hf_predict(ctx, fitted, N, x, 1, mean, NULL, NULL), HF_OK);
    assert_int_equal(hf_predict(ctx, solved, N, x, 1, other, NULL, NULL), HF_OK);
    *error = *difference = 0.0;
    for (size_t i = 0; i < N; i++) {
        *error += (mean[i] - sin(x[i])) * (mean[i] - sin(x[i])) / N;
        *difference = fmax(*difference, fabs(mean[i] - other[i]));
    }
    *error = sqrt(*error);
    hf_sites_free(sites);
    hf_posterior_free(fitted);
    hf_posterior_free(solved);
    hf_context_free(ctx);
}

static void fixed_entries_are_those_of_the_final_weights(void **state)
{
    (void)state;
    problem p;
    make(&p);
    for (int start = HF_ACTION_START_RANDOM; start <= HF_ACTION_START_PRECISION; start++)
        for (int trained = 0; trained < 2; trained++) {
            hf_fit_settings settings = robust_blocks((hf_action_start)start);
            settings.train = trained == 1;
            settings.train_actions = false;
            double error, difference;
            compare(&p, &settings, &error, &difference);
            if (!(difference < 1e-9))
                fail_msg("%s, trained %d: differs by %g", hf_enum_name(HF_ENUM_ACTION_START, (unsigned)start),
                         trained, difference);
            if (start == HF_ACTION_START_PRECISION) assert_true(error < 0.07);
        }
}

/* Six times as far from the truth where the weights are not in the entries. */
static void without_weights_precision_would_be_an_average(void **state)
{
    (void)state;
    problem p;
    make(&p);
    hf_fit_settings settings = robust_blocks(HF_ACTION_START_PRECISION);
    settings.train_actions = false;
    double weighed, plain, difference;
    compare(&p, &settings, &weighed, &difference);
    settings.action_start = HF_ACTION_START_EIGEN;
    compare(&p, &settings, &plain, &difference);
    assert_true(weighed < 0.5 * plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_entries_are_those_of_the_final_weights),
        cmocka_unit_test(without_weights_precision_would_be_an_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
