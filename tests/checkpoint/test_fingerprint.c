/* SPDX-License-Identifier: Apache-2.0 */
/* What a checkpoint belongs to: everything that a fit's result depends on, and nothing else. */
#include "checkpoint/journal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 3,
    D = 2,
    LD = 4 /* between rows there is something that is not looked at */
};

typedef struct problem {
    hf_context *ctx;
    double x[N * LD], y[N], noise[N];
    const char *names[D];
    hf_data data;
    hf_fit_settings settings;
    hf_assignment set[1];
    unsigned char first[HFI_SHA256_BYTES];
} problem;

static void make(problem *p)
{
    *p = (problem){.ctx = hf_context_create(),
                   .y = {1.0, NAN, 3.0},
                   .noise = {0.1, 0.1, 0.2},
                   .names = {"a", "b"},
                   .settings = hf_fit_settings_default(),
                   .set = {{"noise", 0.5}}};
    for (size_t i = 0; i < (size_t)N * LD; i++) p->x[i] = (double)i;
    p->data =
        (hf_data){.n = N, .d = D, .x = p->x, .ldx = LD, .y = p->y, .noise = p->noise, .names = p->names};
    hfi_fit_fingerprint(p->ctx, &p->data, &p->settings, p->first);
}

static bool same(const problem *p)
{
    unsigned char now[HFI_SHA256_BYTES];
    hfi_fit_fingerprint(p->ctx, &p->data, &p->settings, now);
    return memcmp(now, p->first, sizeof now) == 0;
}

#define ASSERT_MATTERS(field, value)                                                                         \
    do {                                                                                                     \
        const problem before = p;                                                                            \
        (field) = (value);                                                                                   \
        assert_false(same(&p));                                                                              \
        p = before;                                                                                          \
        assert_true(same(&p));                                                                               \
    } while (0)

static void every_setting_matters(void **state)
{
    (void)state;
    problem p;
    make(&p);
    hf_fit_settings *s = &p.settings;
    assert_true(same(&p));
    ASSERT_MATTERS(s->kernel, "se");
    ASSERT_MATTERS(s->mean, HF_MEAN_LINEAR);
    ASSERT_MATTERS(s->sites, HF_SITES_ROBUST);
    ASSERT_MATTERS(s->suspects, HF_SUSPECTS_FORCE);
    ASSERT_MATTERS(s->groups, !s->groups);
    ASSERT_MATTERS(s->calibrate, !s->calibrate);
    ASSERT_MATTERS(s->centre, HF_CENTRE_PRIOR);
    ASSERT_MATTERS(s->threshold_rule, HF_THRESHOLD_QUANTILE);
    ASSERT_MATTERS(s->eps, 0.2);
    ASSERT_MATTERS(s->threshold, 2.0);
    ASSERT_MATTERS(s->rounds, 3);
    ASSERT_MATTERS(s->consistent_noise, !s->consistent_noise);
    ASSERT_MATTERS(s->train, !s->train);
    ASSERT_MATTERS(s->objective, HF_OBJECTIVE_LOO);
    ASSERT_MATTERS(s->priors, !s->priors);
    ASSERT_MATTERS(s->train_mean, !s->train_mean);
    ASSERT_MATTERS(s->restarts, 3);
    ASSERT_MATTERS(s->iterations, 3);
    ASSERT_MATTERS(s->standardise, !s->standardise);
    ASSERT_MATTERS(s->lengthscale_prior, HF_PRIOR_DIMENSION);
    ASSERT_MATTERS(s->unit_inputs, true);
    ASSERT_MATTERS(s->solver, HF_SOLVER_PROJECTED);
    ASSERT_MATTERS(s->inducing, 7);
    ASSERT_MATTERS(s->inducing_method, HF_INDUCING_FITC);
    ASSERT_MATTERS(s->inducing_choice, HF_INDUCING_KMEANS);
    ASSERT_MATTERS(s->train_inducing, !s->train_inducing);
    ASSERT_MATTERS(s->actions, 7);
    ASSERT_MATTERS(s->action_kind, HF_ACTIONS_BLOCKS);
    ASSERT_MATTERS(s->action_rows, 7);
    ASSERT_MATTERS(s->blocks, HF_BLOCKS_CLUSTERED);
    ASSERT_MATTERS(s->action_start, HF_ACTION_START_EIGEN);
    ASSERT_MATTERS(s->train_actions, !s->train_actions);
    ASSERT_MATTERS(s->tolerance, 0.5);
    ASSERT_MATTERS(s->single_precision, !s->single_precision);
    ASSERT_MATTERS(s->optimiser, HF_OPTIMISER_ADAM);
    ASSERT_MATTERS(s->learning_rate, 0.5);
    ASSERT_MATTERS(s->minibatch, 64);
    ASSERT_MATTERS(s->noise_start, 0.25);
    ASSERT_MATTERS(s->common_start, 0.25);
    ASSERT_MATTERS(s->beta, 1.0);
    ASSERT_MATTERS(s->scaled_beta, true);
    ASSERT_MATTERS(s->student_method, HF_STUDENT_EP);
    ASSERT_MATTERS(s->inference, HF_INFERENCE_LAPLACE);
    ASSERT_MATTERS(s->student_nu, 3.0);
    ASSERT_MATTERS(s->max_noise, 0.5);
    ASSERT_MATTERS(s->coregion_rank, 2);
    ASSERT_MATTERS(s->shared_noise, true);
    ASSERT_MATTERS(s->independent, true);
    ASSERT_MATTERS(s->weighting, HF_OUTPUTS_JOINT);
    static const double betas[] = {0.5};
    s->output_beta_count = 1;
    ASSERT_MATTERS(s->output_beta, betas);
    s->set = p.set;
    ASSERT_MATTERS(s->set_count, 1);
    s->start = p.set;
    ASSERT_MATTERS(s->start_count, 1);
    ASSERT_MATTERS(s->warm, true);
    hf_context_free(p.ctx);
}

static void the_data_and_the_seed_matter(void **state)
{
    (void)state;
    problem p;
    make(&p);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) ASSERT_MATTERS(p.x[i * LD + j], 0.125);
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(p.y[i], 0.125);
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(p.noise[i], 0.125);
    static const double given[N * D] = {0.25};
    ASSERT_MATTERS(p.settings.inducing_inputs, given);
    ASSERT_MATTERS(p.data.n, N - 1);
    ASSERT_MATTERS(p.data.d, D - 1);
    ASSERT_MATTERS(p.data.noise, NULL);
    const bool aside[N] = {true};
    ASSERT_MATTERS(p.data.aside, aside);
    ASSERT_MATTERS(p.names[1], "c");
    p.settings.action_rows = N;
    p.settings.actions = 1;
    hfi_fit_fingerprint(p.ctx, &p.data, &p.settings, p.first);
    assert_true(same(&p));
    ASSERT_MATTERS(p.settings.action_matrix, given);
    hf_context_set_seed(p.ctx, 9);
    assert_false(same(&p));
    hf_context_free(p.ctx);
}

static void nothing_else_matters(void **state)
{
    (void)state;
    problem p;
    make(&p);
    p.settings.checkpoint = "elsewhere";
    p.settings.resume = true;
    p.x[D] = -1.0; /* between the rows */
    p.y[1] = -NAN; /* missing is missing */
    hf_context_set_threads(p.ctx, 3);
    assert_true(same(&p));
    hf_context_free(p.ctx);
}

/* A field that is new in hf_fit_settings belongs into the fingerprint and into the list above; then this number
 * changes. */
static void no_field_is_forgotten(void **state)
{
    (void)state;
    if (sizeof(void *) != 8 || sizeof(int) != 4) skip();
    assert_int_equal(sizeof(hf_fit_settings), 384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_matters),
        cmocka_unit_test(the_data_and_the_seed_matter),
        cmocka_unit_test(nothing_else_matters),
        cmocka_unit_test(no_field_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
