/* SPDX-License-Identifier: Apache-2.0 */
/* EULBO: what it reports is what its surrogate says, it never ends below where it began, and it goes where it
 * should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "optimise/eulbo.h"
#include <holdfast/acquire.h>
#include <holdfast/dpp.h>
#include <holdfast/eulbo.h>
#include <holdfast/path.h>
#include <holdfast/trust_region.h>
#include <stdlib.h>
#include <string.h>

enum {
    N = 60,
    D = 2,
    SURROGATES = 5
};

static const double lower[D] = {-1.0, 0.0}, upper[D] = {1.0, 4.0}, top[D] = {0.35, 2.8};
static const hf_domain box = {.dimension = D, .lower = lower, .upper = upper};

/* One hill, 100 at its top, and a wrong reading far from it. */
typedef struct readings {
    double x[N * D], y[N];
    hf_data data;
} readings;

static double hill(const double *x)
{
    const double a = x[0] - top[0], b = (x[1] - top[1]) / 2.0;
    return 100.0 - 60.0 * (a * a + b * b);
}

static void make_readings(readings *r, bool wrong)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++)
            r->x[i * D + j] = lower[j] + (upper[j] - lower[j]) * hfi_stream_uniform(&stream);
        r->y[i] = hill(r->x + i * D) + hfi_stream_normal(&stream);
    }
    r->x[0] = -0.9;
    r->x[1] = 0.4;
    r->y[0] = hill(r->x) + (wrong ? 150.0 : 0.0);
    r->data = (hf_data){.n = N, .d = D, .x = r->x, .ldx = D, .y = r->y};
}

/* Gaussian and robust, of inducing inputs and of block actions; then Krylov actions. */
static hf_fit_settings surrogate(hf_context *ctx, size_t which)
{
    static const char *const presets[SURROGATES] = {"sgpr", "rcsvgp", "cagp", "rcagp", "rcagp"};
    hf_fit_settings s;
    assert_int_equal(hf_fit_settings_preset(ctx, presets[which], &s, sizeof s), HF_OK);
    s.inducing = which == 2 || which == 3 ? 0 : 10;
    s.actions = 6;
    s.train_inducing = which < 2;
    if (which == 3) s.action_kind = HF_ACTIONS_BLOCKS;
    s.calibrate = false;
    return s;
}

static hf_eulbo_settings quick(void)
{
    hf_eulbo_settings s = hf_eulbo_settings_default();
    s.epochs = 4;
    s.steps = 3;
    static hf_search_settings search;
    search = hf_search_settings_default();
    search.samples = 128;
    search.starts = 2;
    s.search = &search;
    return s;
}

static void check_call(hf_context *ctx, hf_status status)
{
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
}

/* U of the posterior at one point, the unit being the scale that the fit gave the targets. */
static double utility_at(hf_context *ctx, const hf_posterior *posterior, const double *x,
                         const hf_eulbo_settings *how, double best, double unit)
{
    hfi_utility u;
    double mean, variance, ignored[2];
    assert_int_equal(hf_predict(ctx, posterior, 1, x, D, &mean, &variance, NULL), HF_OK);
    assert_int_equal(hfi_utility_init(ctx, 1, 1, &u), HF_OK);
    u.best = best;
    u.unit = how->temperature * unit;
    u.expected_log = how->utility == HF_UTILITY_EXPECTED_LOG;
    const double value = hfi_utility_single(&u, mean, variance, ignored, ignored + 1);
    hfi_utility_free(&u);
    return value;
}

/* The median's and the spread's: of the targets. */
static double unit_of(const readings *r)
{
    double sorted[N], scratch[N];
    memcpy(sorted, r->y, sizeof sorted);
    return hfi_mad(sorted, N, scratch);
}

static void the_report_is_the_surrogates(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, true);
    for (size_t k = 0; k < SURROGATES; k++) {
        const hf_fit_settings fit = surrogate(ctx, k);
        hf_eulbo_settings settings = quick();
        if (k % 2 == 1) settings.utility = HF_UTILITY_EXPECTED_LOG, settings.temperature = 1.0;
        double x[D];
        hf_posterior *posterior = NULL;
        hf_eulbo_report report;
        check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &box, 0, NULL, x, &posterior, &report));
        assert_true(hf_domain_contains(&box, x, NULL));
        assert_true(report.elbo + report.utility >= report.elbo_start + report.utility_start);
        assert_true(report.evaluations > 8 && report.retries == 0 && report.epochs > 0);
        if (k < 4)
            assert_near(utility_at(ctx, posterior, x, &settings, report.best, unit_of(&r)), report.utility,
                        1e-6);
        assert_near(report.fit.objective + report.fit.log_prior, report.elbo,
                    1e-8 * fabs(report.elbo) + 1e-8);
        hf_posterior_free(posterior);
    }
    hf_context_free(ctx);
}

static void the_climb_gains(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, false);
    for (size_t k = 0; k < 4; k += 2) { /* inducing inputs; block actions */
        hf_fit_settings fit = surrogate(ctx, k);
        hf_eulbo_settings settings = quick();
        settings.joint = k == 0;
        settings.weight = 2000.0; /* so that the utility is what decides */
        settings.rate_points = 0.01;
        double x[D];
        hf_eulbo_report report;
        check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &box, 0, NULL, x, NULL, &report));
        const double gain =
            report.elbo - report.elbo_start + 2000.0 * (report.utility - report.utility_start);
        assert_true(gain > 1e-3);
        assert_true(report.utility > report.utility_start + 1e-6);
    }
    hf_context_free(ctx);
}

/* With a model that stays, the posterior is the fit's, to the digit. */
static void a_model_that_stays_is_the_fits(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, false);
    for (size_t k = 0; k < SURROGATES; k++) {
        const hf_fit_settings fit = surrogate(ctx, k);
        hf_eulbo_settings settings = quick();
        settings.rate_model = 0.0;
        double x[D], mean[2], variance[2];
        hf_posterior *posterior = NULL, *plain = NULL;
        check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &box, 0, NULL, x, &posterior, NULL));
        check_call(ctx, hf_fit_data(ctx, &r.data, &fit, &plain, NULL, NULL));
        assert_int_equal(hf_predict(ctx, posterior, 1, x, D, mean, variance, NULL), HF_OK);
        assert_int_equal(hf_predict(ctx, plain, 1, x, D, mean + 1, variance + 1, NULL), HF_OK);
        assert_true(mean[0] == mean[1] && variance[0] == variance[1]);
        hf_posterior_free(posterior);
        hf_posterior_free(plain);
    }
    hf_context_free(ctx);
}

/* Near the top, wherever the wrong reading is; and the same whatever the threads. */
static void robust_surrogates_find_the_hill(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, true);
    for (size_t k = 1; k < 4; k += 2) {
        const hf_fit_settings fit = surrogate(ctx, k);
        const hf_eulbo_settings settings = quick();
        double x[2][D];
        hf_eulbo_report report;
        check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &box, 0, NULL, x[0], NULL, &report));
        assert_true(report.best < 130.0); /* not the wrong reading */
        assert_true(hill(x[0]) > 85.0);
        assert_int_equal(hf_context_set_threads(ctx, 2), HF_OK);
        check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &box, 0, NULL, x[1], NULL, NULL));
        assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
    }
    hf_context_free(ctx);
}

static void batches_spread_in_a_trust_region(void **state)
{
    (void)state;
    enum {
        BATCH = 4
    };
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, false);
    hf_trust_region region;
    double from[D], to[D], x[BATCH * D];
    const double centre[D] = {0.2, 2.0}, scales[D] = {0.5, 1.0};
    assert_int_equal(hf_trust_region_create(ctx, NULL, D, BATCH, &region), HF_OK);
    region.side = 0.3;
    assert_int_equal(hf_trust_region_box(ctx, &region, &box, centre, scales, from, to), HF_OK);
    const hf_domain inside = {.dimension = D, .lower = from, .upper = to};
    for (size_t k = 0; k < 3; k += 2) {
        const hf_fit_settings fit = surrogate(ctx, k);
        hf_eulbo_settings settings = quick();
        settings.batch = BATCH;
        settings.draws = 64;
        settings.best = 95.0;
        hf_eulbo_report report;
        check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &inside, 0, NULL, x, NULL, &report));
        assert_true(report.best == 95.0);
        for (size_t a = 0; a < BATCH; a++) {
            assert_true(hf_domain_contains(&inside, x + a * D, NULL));
            for (size_t b = 0; b < a; b++)
                assert_true(fabs(x[a * D] - x[b * D]) + fabs(x[a * D + 1] - x[b * D + 1]) > 1e-3);
        }
    }
    hf_context_free(ctx);
}

/* A category stays where the start puts it; guesses are looked at. */
static void lattices_and_guesses(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, false);
    const double step[D] = {0.0, 0.5};
    const hf_domain lattice = {.dimension = D, .lower = lower, .upper = upper, .step = step};
    const hf_fit_settings fit = surrogate(ctx, 0);
    hf_eulbo_settings settings = quick();
    settings.rate_points = 0.05;
    double x[D];
    check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &lattice, 1, top, x, NULL, NULL));
    assert_true(hf_domain_contains(&lattice, x, NULL));
    settings.epochs = 0;
    hf_eulbo_report report;
    check_call(ctx, hf_eulbo(ctx, &r.data, &fit, &settings, &lattice, 1, top, x, NULL, &report));
    assert_true(report.epochs == 0 && report.evaluations == 1 && report.utility == report.utility_start);
    hf_context_free(ctx);
}

/* ---- rows by quality and diversity --------------------------------------------------------------------- */

static void rows_promise_improvement(void **state)
{
    (void)state;
    enum {
        M = 8
    };
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, false);
    hf_fit_settings fit = surrogate(ctx, 0);
    fit.standardise = false;
    hf_posterior *first = NULL, *second = NULL;
    check_call(ctx, hf_fit_data(ctx, &r.data, &fit, &first, NULL, NULL));
    size_t rows[M], expected[M], plain[M], count = 0, same = 0;
    assert_int_equal(hf_dpp_quality(ctx, first, N, r.x, D, M, rows, &count), HF_OK);
    assert_int_equal(count, M);
    /* By hand; nothing is scaled, so that the kernel is of the user's units. */
    double mean[N], variance[N], best = -INFINITY;
    assert_int_equal(hf_predict(ctx, first, N, r.x, D, mean, variance, NULL), HF_OK);
    for (size_t i = 0; i < N; i++) best = fmax(best, mean[i]);
    for (size_t i = 0; i < N; i++)
        variance[i] = hf_acquisition_value(HF_ACQUIRE_EI, mean[i], sqrt(variance[i]), best, 0.0, NULL, NULL);
    assert_int_equal(
        hf_dpp_greedy(ctx, hf_posterior_kernel(first), N, r.x, D, variance, M, 0.0, expected, &count, NULL),
        HF_OK);
    assert_int_equal(
        hf_dpp_greedy(ctx, hf_posterior_kernel(first), N, r.x, D, NULL, M, 0.0, plain, &count, NULL), HF_OK);
    double mean_of_rows = 0.0, mean_of_all = 0.0, z[M * D];
    for (size_t k = 0; k < M; k++) {
        assert_int_equal(rows[k], expected[k]);
        same += rows[k] == plain[k];
        mean_of_rows += mean[rows[k]] / M;
        memcpy(z + k * D, r.x + rows[k] * D, D * sizeof *z);
    }
    for (size_t i = 0; i < N; i++) mean_of_all += mean[i] / N;
    assert_true(same < M && mean_of_rows > mean_of_all + 5.0);
    /* A fit with them has them, and no other. */
    fit.standardise = true;
    fit.inducing = M;
    fit.inducing_inputs = z;
    fit.train_inducing = false;
    check_call(ctx, hf_fit_data(ctx, &r.data, &fit, &second, NULL, NULL));
    assert_int_equal(hf_posterior_anchors(second), M);
    hf_posterior_free(first);
    hf_posterior_free(second);
    hf_context_free(ctx);
}

/* DPP-TS, robust and projected: the surrogate is built on rows that promise improvement, functions are drawn
 * from it, and two regions share a batch. The one around the top gets it. */
static void drawn_functions_choose_between_regions(void **state)
{
    (void)state;
    enum {
        M = 12,
        EACH = 40,
        BATCH = 6
    };
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, true);
    hf_fit_settings fit = surrogate(ctx, 4);
    fit.action_kind = HF_ACTIONS_INDUCING;
    fit.inducing = fit.actions = M;
    hf_posterior *first = NULL, *second = NULL;
    size_t rows[M], count = 0, chosen[BATCH], near = 0;
    double z[M * D], x[2 * EACH * D], samples[BATCH * 2 * EACH];
    check_call(ctx, hf_fit_data(ctx, &r.data, &fit, &first, NULL, NULL));
    assert_int_equal(hf_dpp_quality(ctx, first, N, r.x, D, M, rows, &count), HF_OK);
    for (size_t k = 0; k < count; k++) memcpy(z + k * D, r.x + rows[k] * D, D * sizeof *z);
    fit.inducing = fit.actions = count;
    fit.inducing_inputs = z;
    check_call(ctx, hf_fit_data(ctx, &r.data, &fit, &second, NULL, NULL));
    const double far[D] = {-0.6, 0.8};
    for (size_t k = 0; k < 2; k++) {
        hf_trust_region region;
        double from[D], to[D];
        const double *centre = k == 0 ? top : far;
        assert_int_equal(hf_trust_region_create(ctx, NULL, D, BATCH, &region), HF_OK);
        region.side = 0.2;
        assert_int_equal(hf_trust_region_box(ctx, &region, &box, centre, NULL, from, to), HF_OK);
        const hf_domain inside = {.dimension = D, .lower = from, .upper = to};
        assert_int_equal(hf_trust_candidates(ctx, &inside, centre, k, EACH, x + k * EACH * D), HF_OK);
    }
    for (size_t k = 0; k < BATCH; k++) {
        hf_path *path = NULL;
        check_call(ctx, hf_path_create(ctx, second, k, 256, &path));
        assert_int_equal(hf_path_many_rows(ctx, path, 2 * EACH, x, D, samples + k * 2 * EACH), HF_OK);
        hf_path_free(path);
    }
    assert_int_equal(hf_trust_choose(ctx, BATCH, 2 * EACH, samples, chosen), HF_OK);
    for (size_t k = 0; k < BATCH; k++) near += chosen[k] < EACH;
    assert_int_equal(near, BATCH);
    hf_posterior_free(first);
    hf_posterior_free(second);
    hf_context_free(ctx);
}

/* At given hyperparameters: what the solvers make of the same inducing inputs. */
static void given_inducing_inputs_are_used(void **state)
{
    (void)state;
    enum {
        M = 5
    };
    hf_context *ctx = hf_context_create();
    readings r;
    make_readings(&r, false);
    const double z[M * D] = {-0.5, 1.0, 0.5, 1.0, 0.0, 2.0, -0.5, 3.0, 0.5, 3.0};
    const hf_assignment set[] = {{"outputscale", 900.0},
                                 {"lengthscale[0]", 1.0},
                                 {"lengthscale[1]", 2.0},
                                 {"noise", 2.0},
                                 {"mean", 60.0}};
    for (int projected = 0; projected < 2; projected++) {
        hf_fit_settings fit = surrogate(ctx, projected ? 4 : 0);
        fit.sites = HF_LIKELIHOOD_GAUSSIAN;
        fit.train = fit.standardise = fit.train_inducing = false;
        fit.action_kind = HF_ACTIONS_INDUCING;
        fit.inducing = fit.actions = M;
        fit.inducing_inputs = z;
        fit.set = set;
        fit.set_count = sizeof set / sizeof *set;
        hf_posterior *fitted = NULL, *solved = NULL;
        hf_sites *sites = NULL;
        double mean[2][N], variance[2][N];
        check_call(ctx, hf_fit_data(ctx, &r.data, &fit, &fitted, NULL, NULL));
        assert_int_equal(hf_sites_gaussian(ctx, N, r.y, 2.0, NULL, &sites), HF_OK);
        const hf_projection p = {
            .size = sizeof p, .actions = HF_ACTIONS_INDUCING, .count = M, .inducing = M, .inputs = z};
        check_call(ctx, projected ? hf_solve_projected(ctx, hf_posterior_kernel(fitted),
                                                       hf_posterior_mean_function(fitted), sites, r.x, D, &p,
                                                       &solved, NULL)
                                  : hf_solve_inducing(ctx, hf_posterior_kernel(fitted),
                                                      hf_posterior_mean_function(fitted), sites, r.x, D,
                                                      fit.inducing_method, M, z, D, &solved));
        assert_int_equal(hf_predict(ctx, fitted, N, r.x, D, mean[0], variance[0], NULL), HF_OK);
        assert_int_equal(hf_predict(ctx, solved, N, r.x, D, mean[1], variance[1], NULL), HF_OK);
        for (size_t i = 0; i < N; i++) {
            assert_near(mean[0][i], mean[1][i], 1e-6);
            assert_near(variance[0][i], variance[1][i], 1e-6);
        }
        hf_posterior_free(fitted);
        hf_posterior_free(solved);
        hf_sites_free(sites);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_report_is_the_surrogates),
        cmocka_unit_test(the_climb_gains),
        cmocka_unit_test(a_model_that_stays_is_the_fits),
        cmocka_unit_test(robust_surrogates_find_the_hill),
        cmocka_unit_test(batches_spread_in_a_trust_region),
        cmocka_unit_test(lattices_and_guesses),
        cmocka_unit_test(rows_promise_improvement),
        cmocka_unit_test(drawn_functions_choose_between_regions),
        cmocka_unit_test(given_inducing_inputs_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
