/* SPDX-License-Identifier: Apache-2.0 */
/* The influence of a reading that becomes another one, against posteriors made anew with it. */
#include "model/model_testing.h"
#include "solver/naive.h"

#include <holdfast/outputs.h>

enum {
    T = 3,
    ROWS = 12,
    N = ROWS * T,
    WRONG = 5 /* the row of a wrong reading of the first output */
};

static const double B[T * T] = {1.0, 0.8, 0.5, 0.8, 1.5, 0.6, 0.5, 0.6, 0.9};
static const double NOISE[T] = {0.02, 0.05, 0.03}, MEAN[T] = {0.1, -0.2, 0.4}, EPS[T] = {0.2, 0.2, 0.2};
static const hf_assignment VALUES[] = {{"coregionalisation[0,0]", 1.0},
                                       {"coregionalisation[1,0]", 0.8},
                                       {"coregionalisation[1,1]", 1.5},
                                       {"coregionalisation[2,0]", 0.5},
                                       {"coregionalisation[2,1]", 0.6},
                                       {"coregionalisation[2,2]", 0.9},
                                       {"noise[0]", 0.02},
                                       {"noise[1]", 0.05},
                                       {"noise[2]", 0.03},
                                       {"mean[0]", 0.1},
                                       {"mean[1]", -0.2},
                                       {"mean[2]", 0.4},
                                       {"lengthscale[0]", 0.7}};

/* Smooth outputs with something random, one gap, one wrong reading. */
static void readings(double *x, double *y)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 0.45 * (double)i + 0.2 * hfi_stream_uniform(&stream);
        for (size_t t = 0; t < T; t++)
            y[i * T + t] = sin(x[i] + 0.2 * (double)t) + 0.15 * hfi_stream_normal(&stream);
    }
    y[WRONG * T] += 4.0;
    y[8 * T + 1] = NAN;
}

static hf_table *wide(hf_context *ctx, const double *x, const double *y)
{
    char text[4096];
    size_t used = (size_t)snprintf(text, sizeof text, "x,y0,y1,y2\n");
    for (size_t i = 0; i < ROWS; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%.17g", x[i]);
        for (size_t t = 0; t < T; t++)
            used += isnan(y[i * T + t])
                        ? (size_t)snprintf(text + used, sizeof text - used, ",")
                        : (size_t)snprintf(text + used, sizeof text - used, ",%.17g", y[i * T + t]);
        used += (size_t)snprintf(text + used, sizeof text - used, "\n");
    }
    return table_of(ctx, text);
}

static hf_model *fit(hf_context *ctx, const double *x, const double *y, bool standardise, double beta)
{
    static const char *const names[] = {"y0", "y1", "y2"};
    const hf_columns columns = {.size = sizeof columns, .targets = names, .target_count = T};
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(ctx, "morcgp", &settings, sizeof settings), HF_OK);
    settings.kernel = "matern32";
    settings.train = settings.standardise = false;
    settings.standardise = standardise;
    settings.output_eps = EPS;
    settings.output_eps_count = T;
    settings.beta = beta;
    settings.set = VALUES;
    settings.set_count = sizeof VALUES / sizeof *VALUES;
    hf_table *table = wide(ctx, x, y);
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    hf_table_free(table);
    return model;
}

/* The posterior of readings `y` with the thresholds of readings `judged`. */
static hf_posterior *solve(hf_context *ctx, const hf_model *model, const double *x, const double *y,
                           const double *judged, double beta)
{
    const hf_outputs_model between = {.outputs = T, .mean = MEAN, .covariance = B, .noise = NOISE};
    const hf_outputs_rule rule = {
        .size = sizeof rule, .weighting = HF_OUTPUTS_READING, .threshold = HF_OUTPUTS_LOWER, .eps = EPS};
    double weight[N], shift[N], scale[T], centre[N], z[2 * N];
    size_t channel[N];
    const hf_outputs_sites out = {.weight = weight, .shift = shift, .scale = scale};
    assert_int_equal(hf_outputs_weights(ctx, &rule, ROWS, judged, T, &between, NULL, &out), HF_OK);
    assert_int_equal(hf_outputs_conditional_centre(ctx, ROWS, y, T, &between, centre), HF_OK);
    for (size_t i = 0; i < N; i++) {
        channel[i] = i % T;
        z[2 * i] = x[i / T];
        z[2 * i + 1] = (double)(i % T);
    }
    hf_sites *sites = NULL;
    hf_posterior *posterior = NULL;
    assert_int_equal(hf_sites_robust(ctx, N, y, 0.1, NULL, centre, 1.0, &sites), HF_OK);
    assert_int_equal(hf_sites_set_channels(ctx, sites, T, channel), HF_OK);
    assert_int_equal(hf_sites_set_channel_noise(ctx, sites, NOISE), HF_OK);
    assert_int_equal(hf_sites_recentre_channels(ctx, sites, centre, scale), HF_OK);
    if (beta > 0.0) assert_int_equal(hf_sites_set_beta(ctx, sites, beta), HF_OK);
    const hf_posterior *p = hf_model_posterior(model);
    assert_int_equal(
        hf_solve_exact(ctx, hf_posterior_kernel(p), hf_posterior_mean_function(p), sites, z, 2, &posterior),
        HF_OK);
    hf_sites_free(sites);
    return posterior;
}

/* KL(p || q) over f at all rows, of one output or of all (output T). */
static double divergence(hf_context *ctx, const hf_posterior *p, const hf_posterior *q, const double *x,
                         size_t output)
{
    double z[2 * N], mean[2][N], *c[2] = {naive_zeros(N * N), naive_zeros(N * N)}, det[2];
    size_t m = 0;
    for (size_t i = 0; i < N; i++) {
        if (output < T && i % T != output) continue;
        z[2 * m] = x[i / T];
        z[2 * m++ + 1] = (double)(i % T);
    }
    const hf_posterior *const both[] = {p, q};
    for (size_t k = 0; k < 2; k++) {
        hf_posterior_workspace *w = hf_posterior_workspace_create(ctx, both[k]);
        double var;
        for (size_t i = 0; i < m; i++)
            assert_int_equal(hf_predict_latent(both[k], w, z + 2 * i, &mean[k][i], &var, NULL, NULL), HF_OK);
        hf_posterior_workspace_free(w);
        assert_int_equal(hf_predict_covariance(ctx, both[k], m, z, 2, c[k], m), HF_OK);
    }
    free(naive_inverse(m, c[0], &det[0]));
    double *inverse = naive_inverse(m, c[1], &det[1]), sum = det[1] - det[0] - (double)m;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            sum += inverse[i * m + j] *
                   (c[0][j * m + i] + (mean[0][i] - mean[1][i]) * (mean[0][j] - mean[1][j]));
    free(inverse);
    free(c[0]);
    free(c[1]);
    return 0.5 * sum;
}

static void is_the_divergence_of_posteriors_made_anew(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static const double moves[] = {0.0, 1.0, -3.0, 50.0, NAN}, betas[] = {0.0, 0.4};
    double x[ROWS], y[N], moved[N];
    readings(x, y);
    for (size_t k = 0; k < 2; k++) {
        hf_model *model = fit(ctx, x, y, false, betas[k]);
        hf_posterior *before = solve(ctx, model, x, y, y, betas[k]);
        for (size_t i = 0; i < N; i += i == WRONG * T ? 4 : 5) {
            if (isnan(y[i])) continue;
            for (size_t c = 0; c < 5; c++) {
                double kl[T], joint, largest = 0.0;
                memcpy(moved, y, sizeof moved);
                moved[i] = y[i] + moves[c];
                hf_posterior *after = solve(ctx, model, x, moved, y, betas[k]);
                assert_int_equal(hf_model_influence(ctx, model, 1 + i / T, i % T, moved[i], kl, &joint),
                                 HF_OK);
                const double all = divergence(ctx, before, after, x, T);
                assert_near(joint, all, 1e-7 * (1.0 + all));
                for (size_t t = 0; t < T; t++) {
                    const double own = divergence(ctx, before, after, x, t);
                    assert_near(kl[t], own, 1e-7 * (1.0 + own));
                    largest = fmax(largest, kl[t]);
                }
                assert_true(largest <= joint * (1.0 + 1e-9) + 1e-15);
                if (c == 0) assert_near(joint, 0.0, 1e-15);
                if (c > 0) assert_true(joint > 0.0);
                hf_posterior_free(after);
            }
        }
        hf_posterior_free(before);
        hf_model_free(model);
    }
    hf_context_free(ctx);
}

/* A whole fit with the changed reading, where no threshold moves: units of its own for each output. */
static void is_the_divergence_of_a_refit(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double x[ROWS], y[N], moved[N], joint;
    readings(x, y);
    hf_model *model = fit(ctx, x, y, true, 0.0);
    memcpy(moved, y, sizeof moved);
    moved[WRONG * T] += 3.0;
    hf_model *refit = fit(ctx, x, moved, true, 0.0);
    hf_table *rows = NULL, *again = NULL;
    assert_int_equal(hf_model_rows(ctx, model, &rows), HF_OK);
    assert_int_equal(hf_model_rows(ctx, refit, &again), HF_OK);
    const double *weight = column_of(ctx, rows, "weight"), *other = column_of(ctx, again, "weight");
    for (size_t i = 0; i < N; i++)
        if (i / T != WRONG) assert_close(weight[i], other[i], 1e-12);
    assert_true(fabs(weight[WRONG * T + 1] - other[WRONG * T + 1]) > 1e-3); /* a row mate follows */
    assert_int_equal(hf_model_influence(ctx, model, 1 + WRONG, 0, moved[WRONG * T], NULL, &joint), HF_OK);
    const double all = divergence(ctx, hf_model_posterior(model), hf_model_posterior(refit), x, T);
    assert_true(all > 0.01);
    assert_near(joint, all, 1e-7 * (1.0 + all));
    hf_table_free(rows);
    hf_table_free(again);
    hf_model_free(model);
    hf_model_free(refit);
    hf_context_free(ctx);
}

/* However far off: no more than if nothing had been read in that row; a plain process follows without end. */
static void is_bounded_for_robust_weights_only(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double x[ROWS], y[N], kl[T], joint, last = 0.0;
    readings(x, y);
    hf_model *model = fit(ctx, x, y, false, 0.0);
    const size_t anchor[] = {6, 7, 8};
    const double gone[] = {INFINITY, INFINITY, INFINITY};
    double row;
    assert_int_equal(
        hf_influence_sites(ctx, hf_model_posterior(model), T, anchor, gone, gone, 0, NULL, 0, &row), HF_OK);
    for (double far = 1.0; far < 1e14; far *= 10.0) {
        assert_int_equal(hf_model_influence(ctx, model, 3, 0, far, kl, &joint), HF_OK);
        for (size_t t = 0; t < T; t++) assert_true(kl[t] <= joint * (1.0 + 1e-9));
        assert_true(joint < 50.0);
        last = joint;
    }
    assert_near(last, row, 1e-6); /* a far reading takes its row mates with it */
    hf_model_free(model);

    hf_table *table = wavy_table(ctx, 20, 0);
    hf_fit_settings settings = untrained();
    double near, far;
    model = model_of(ctx, table, &settings);
    assert_int_equal(hf_model_influence(ctx, model, 4, 0, 1e3, &near, NULL), HF_OK);
    assert_int_equal(hf_model_influence(ctx, model, 4, 0, 1e6, kl, &far), HF_OK);
    assert_true(far / near > 9e5 && far / near < 1.1e6);
    assert_close(kl[0], far, 1e-6); /* one output: all of f */
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

enum {
    SINGLE = 20
};

/* Robust weights about the constant mean; projected with as many actions as `count`, or exact without. */
static hf_model *fit_projected(hf_context *ctx, const hf_table *table, size_t count, const double *actions,
                               bool robust)
{
    hf_fit_settings settings = untrained();
    settings.sites = robust ? HF_LIKELIHOOD_ROBUST : HF_LIKELIHOOD_GAUSSIAN;
    settings.centre = HF_CENTRE_PRIOR;
    settings.consistent_noise = false;
    settings.solver = count > 0 ? HF_SOLVER_PROJECTED : HF_SOLVER_EXACT;
    settings.actions = count;
    settings.action_kind = actions != NULL ? HF_ACTIONS_GIVEN : HF_ACTIONS_BLOCKS;
    settings.train_actions = false;
    settings.action_start = HF_ACTION_START_PRECISION;
    settings.action_matrix = actions;
    settings.action_rows = actions != NULL ? SINGLE : 0;
    return model_of(ctx, table, &settings);
}

/* With the identity for actions a projected model is the exact one, and so is what a reading does to it. */
static void of_all_actions_is_the_exact_one(void **state)
{
    (void)state;
    static const double places[] = {-1e6, -2.0, 0.3, 7.0, 1e3};
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, SINGLE, 0);
    double identity[SINGLE * SINGLE] = {0.0}, kl, all, exact;
    for (size_t i = 0; i < SINGLE; i++) identity[i * SINGLE + i] = 1.0;
    for (int robust = 0; robust < 2; robust++) {
        hf_model *model = fit_projected(ctx, table, SINGLE, identity, robust);
        hf_model *other = fit_projected(ctx, table, 0, NULL, robust);
        for (size_t k = 0; k < 5; k++)
            for (size_t row = 1; row <= SINGLE; row += 6) {
                assert_int_equal(hf_model_influence(ctx, model, row, 0, places[k], &kl, &all), HF_OK);
                assert_int_equal(hf_model_influence(ctx, other, row, 0, places[k], NULL, &exact), HF_OK);
                assert_true(exact > 0.0 && kl == all);
                assert_near(all, exact, 1e-7 * (1.0 + exact));
            }
        assert_int_equal(hf_model_influence(ctx, model, 3, 0, NAN, NULL, &all), HF_OK);
        assert_int_equal(hf_model_influence(ctx, other, 3, 0, NAN, NULL, &exact), HF_OK);
        assert_near(all, exact, 1e-7 * (1.0 + exact));
        hf_model_free(model);
        hf_model_free(other);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Proposition 4.1 of the RCaGP paper, and F.1: of four blocks. */
static void of_projections_is_bounded_for_robust_weights_only(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, SINGLE, 0);
    for (int robust = 0; robust < 2; robust++) {
        hf_model *model = fit_projected(ctx, table, 4, NULL, robust);
        double near, far;
        assert_int_equal(hf_model_influence(ctx, model, 4, 0, 1e6, &near, NULL), HF_OK);
        assert_int_equal(hf_model_influence(ctx, model, 4, 0, 1e9, NULL, &far), HF_OK);
        assert_true(near > 0.0);
        if (robust) assert_near(far, near, 0.001 * near); /* it settles as 1 / y */
        if (!robust) assert_true(far / near > 9.9e5 && far / near < 1.01e6);
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

/* An inducing model keeps no centres of its weights. */
static void an_inducing_model_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, SINGLE, 0);
    hf_fit_settings settings = untrained();
    double kl = 7.0;
    settings.solver = HF_SOLVER_INDUCING;
    hf_model *model = model_of(ctx, table, &settings);
    assert_int_equal(hf_model_influence(ctx, model, 4, 0, 1.0, &kl, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "projected solver");
    assert_true(kl == 7.0);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

static void what_cannot_be_asked(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double x[ROWS], y[N], kl[T] = {7.0}, joint = 7.0;
    readings(x, y);
    hf_model *model = fit(ctx, x, y, false, 0.0);
    assert_int_equal(hf_model_influence(ctx, model, 0, 0, 1.0, kl, &joint), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_influence(ctx, model, ROWS + 1, 0, 1.0, kl, &joint), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_influence(ctx, model, 1, T, 1.0, kl, &joint), HF_ERR_ARGUMENT);
    assert_int_equal(hf_model_influence(ctx, model, 9, 1, 1.0, kl, &joint), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "missing or set aside");
    assert_int_equal(hf_model_influence(ctx, model, 1, 0, INFINITY, kl, &joint), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_model_influence(ctx, NULL, 1, 0, 1.0, kl, &joint), HF_ERR_ARGUMENT);
    assert_string_equal(hf_context_message(ctx), "hf_model_influence: model is NULL");
    assert_true(kl[0] == 7.0 && joint == 7.0);
    hf_model_free(model);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_the_divergence_of_posteriors_made_anew),
        cmocka_unit_test(is_the_divergence_of_a_refit),
        cmocka_unit_test(is_bounded_for_robust_weights_only),
        cmocka_unit_test(of_all_actions_is_the_exact_one),
        cmocka_unit_test(of_projections_is_bounded_for_robust_weights_only),
        cmocka_unit_test(an_inducing_model_is_refused),
        cmocka_unit_test(what_cannot_be_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
