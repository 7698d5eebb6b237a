/* SPDX-License-Identifier: Apache-2.0 */
/* The number of threads changes no digit of a fit with a budget solver, whatever its sites and actions are. */
#include "api/readings.h"

enum {
    N = 1100, /* several chunks and tiles, and above the readings from which on a fit uses threads */
    D = 3,
    M = 70,
    RANK = 24
};

/* All that can be compared of a fit. */
typedef struct outcome {
    hf_fit_report report;
    size_t rank;
    double mean[M], var[M], covariance[M * M], loo_mean[N], loo_var[N], weight[N];
} outcome;

static void run(int threads, uint64_t seed, const readings *r, const hf_fit_settings *settings, outcome *out)
{
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
    hf_context_set_seed(ctx, seed);
    memset(out, 0, sizeof *out);
    hf_reading *opinion = calloc(r->n, sizeof *opinion);
    hf_posterior *p = NULL;
    const hf_data data = {.n = r->n, .d = D, .x = r->x, .ldx = D, .y = r->y};
    if (hf_fit_data(ctx, &data, settings, &p, &out->report, opinion) < 0)
        fail_msg("%s", hf_context_message(ctx));
    assert_int_equal(hf_context_threads(ctx), threads); /* a fit leaves the context as it was */
    out->report.seconds = 0.0;                          /* the one member that may differ */
    out->rank = hf_posterior_rank(p);
    for (size_t i = 0; i < r->n; i++) {
        out->loo_mean[i] = opinion[i].loo_mean;
        out->loo_var[i] = opinion[i].loo_var;
        out->weight[i] = opinion[i].weight;
    }
    const readings at = {.n = M, .d = D, .x = r->x + 5};
    readings_predict(ctx, p, &at, out->mean, out->var);
    assert_true(hf_predict_covariance(ctx, p, M, at.x, D, out->covariance, M) >= 0);
    free(opinion);
    hf_posterior_free(p);
    hf_context_free(ctx);
}

static void assert_same_bits(const void *a, const void *b, size_t bytes, const char *what, const char *name)
{
    if (memcmp(a, b, bytes) != 0) fail_msg("%s: %s differ", name, what);
}

static void assert_same(const outcome *a, const outcome *b, const char *name)
{
    assert_same_bits(&a->report, &b->report, sizeof a->report, "reports", name);
    assert_int_equal(a->rank, b->rank);
    assert_same_bits(a->mean, b->mean, sizeof a->mean, "means", name);
    assert_same_bits(a->var, b->var, sizeof a->var, "variances", name);
    assert_same_bits(a->covariance, b->covariance, sizeof a->covariance, "covariances", name);
    assert_same_bits(a->loo_mean, b->loo_mean, sizeof a->loo_mean, "leave-one-out means", name);
    assert_same_bits(a->loo_var, b->loo_var, sizeof a->loo_var, "leave-one-out variances", name);
    assert_same_bits(a->weight, b->weight, sizeof a->weight, "weights", name);
}

static hf_fit_settings small(const char *preset)
{
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(NULL, preset, &settings, sizeof settings), HF_OK);
    if (settings.solver != HF_SOLVER_PROJECTED) settings.solver = HF_SOLVER_INDUCING;
    settings.inducing = RANK;
    settings.actions = settings.solver == HF_SOLVER_PROJECTED ? RANK : 0;
    settings.iterations = 2;
    settings.rounds = 1;
    return settings;
}

static void threads_change_nothing(const char *name, hf_fit_settings settings)
{
    readings r = readings_make(N, D, 40, 5);
    outcome *one = malloc(sizeof *one), *many = malloc(sizeof *many);
    assert_true(one != NULL && many != NULL);
    run(1, 3, &r, &settings, one);
    run(3, 3, &r, &settings, many);
    assert_same(one, many, name);
    free(one);
    free(many);
    readings_free(&r);
}

static void inducing_fits_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const char *const presets[] = {"sgpr", "rcsvgp", "svgp"};
    for (size_t k = 0; k < sizeof presets / sizeof *presets; k++)
        threads_change_nothing(presets[k], small(presets[k]));
    hf_fit_settings settings = small("rcsvgp");
    settings.inducing_method = HF_INDUCING_FITC;
    settings.inducing_choice = HF_INDUCING_KMEANS;
    settings.train_inducing = true;
    threads_change_nothing("rcsvgp, FITC, trained places", settings);
}

static void projected_fits_do_not_depend_on_threads(void **state)
{
    (void)state;
    threads_change_nothing("cagp", small("cagp"));
    threads_change_nothing("rcagp", small("rcagp"));
    hf_fit_settings settings = small("rcagp");
    settings.action_kind = HF_ACTIONS_INDUCING;
    settings.single_precision = true;
    threads_change_nothing("rcagp, inducing actions, single precision", settings);
    settings = small("rcagp");
    settings.action_kind = HF_ACTIONS_BLOCKS;
    settings.blocks = HF_BLOCKS_CLUSTERED;
    settings.action_start = HF_ACTION_START_PRECISION;
    threads_change_nothing("rcagp, clustered blocks", settings);
}

static void other_sites_do_not_depend_on_threads(void **state)
{
    (void)state;
    threads_change_nothing("student-t", small("student-t"));
    threads_change_nothing("rrp", small("rrp"));
}

/* Another seed places other inducing inputs and draws other actions. */
static void seeds_decide(void **state)
{
    (void)state;
    readings r = readings_make(N, D, 40, 5);
    outcome *runs = calloc(3, sizeof *runs);
    hf_fit_settings kmeans = small("sgpr"), blocks = small("cagp");
    kmeans.inducing_choice = HF_INDUCING_KMEANS;
    assert_non_null(runs);
    for (int kind = 0; kind < 2; kind++) {
        for (size_t k = 0; k < 3; k++) run(2, k < 2 ? 1 : 2, &r, kind == 0 ? &kmeans : &blocks, &runs[k]);
        assert_same(&runs[0], &runs[1], "seed");
        assert_true(memcmp(runs[0].mean, runs[2].mean, sizeof runs[0].mean) != 0);
    }
    free(runs);
    readings_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inducing_fits_do_not_depend_on_threads),
        cmocka_unit_test(projected_fits_do_not_depend_on_threads),
        cmocka_unit_test(other_sites_do_not_depend_on_threads),
        cmocka_unit_test(seeds_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
