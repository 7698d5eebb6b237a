/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that the product obeys whatever the data, asked of whole fits through the public interface. */
#include "api/readings.h"

enum {
    N = 60,
    D = 2,
    M = 25
};

/* Where predictions are compared: not at readings. */
static readings places(void)
{
    return readings_make(M, D, 0, 999);
}

static double spread_of(const readings *r)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < r->n; i++) mean += r->y[i] / (double)r->n;
    for (size_t i = 0; i < r->n; i++) squares += (r->y[i] - mean) * (r->y[i] - mean);
    return sqrt(squares / (double)r->n);
}

static void fit_and_predict(const readings *r, const hf_fit_settings *settings, const readings *at,
                            double *mean, double *var)
{
    hf_context *ctx = hf_context_create();
    hf_posterior *p = readings_fit(ctx, r, settings, NULL);
    readings_predict(ctx, p, at, mean, var);
    hf_posterior_free(p);
    hf_context_free(ctx);
}

/* ---- robustness ------------------------------------------------------------------------------ */

/* One reading goes to 1e12, on either side: no prediction moves by more than a fraction of the spread of the
 * readings, and it does not matter how far off it is. */
static void one_wild_reading_has_bounded_influence(void **state)
{
    (void)state;
    const hf_fit_settings settings = hf_fit_settings_default();
    readings at = places();
    for (uint64_t seed = 1; seed <= 4; seed++) {
        readings r = readings_make(N, D, 0, seed);
        const double spread = spread_of(&r);
        const size_t victim = (7 * seed) % N;
        double clean[M], moved[M], further[M], var[M], clean_var[M];
        fit_and_predict(&r, &settings, &at, clean, clean_var);
        const double sizes[] = {1e6, 1e12, -1e12, 1e100};
        for (size_t k = 0; k < 4; k++) {
            r.y[victim] = sizes[k];
            fit_and_predict(&r, &settings, &at, moved, var);
            for (size_t i = 0; i < M; i++) {
                assert_true(fabs(moved[i] - clean[i]) < 0.5 * spread);
                assert_true(var[i] > 0.0 && sqrt(var[i]) < 2.0 * sqrt(clean_var[i]) + 0.1 * spread);
            }
            if (k == 0) memcpy(further, moved, sizeof further);
            for (size_t i = 0; i < M; i++) assert_true(fabs(moved[i] - further[i]) < 1e-2 * spread);
        }
        readings_free(&r);
    }
    readings_free(&at);
}

/* The published robust GP and the smooth one: as the reading goes off, predictions come to rest. */
static void robust_sites_forget_a_wild_reading(void **state)
{
    (void)state;
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    settings.sites = HF_LIKELIHOOD_ROBUST;
    readings at = places(), r = readings_make(N, D, 0, 6);
    const double spread = spread_of(&r);
    double clean[M], near[M], far[M], var[M];
    fit_and_predict(&r, &settings, &at, clean, var);
    r.y[11] = 1e6;
    fit_and_predict(&r, &settings, &at, near, var);
    r.y[11] = 1e12;
    fit_and_predict(&r, &settings, &at, far, var);
    for (size_t i = 0; i < M; i++) {
        assert_true(fabs(far[i] - clean[i]) < 0.5 * spread);
        assert_close(far[i], near[i], 1e-3 * spread);
    }
    readings_free(&at);
    readings_free(&r);
}

/* An infinite threshold is the plain GP, and a large one is near it. */
static void threshold_to_infinity_is_the_plain_process(void **state)
{
    (void)state;
    readings at = places(), r = readings_make(N, D, 4, 3);
    hf_fit_settings plain = workshop_untrained(), robust = plain;
    robust.sites = HF_LIKELIHOOD_ROBUST;
    robust.threshold_rule = HF_THRESHOLD_GIVEN;
    double a[M], b[M], va[M], vb[M];
    fit_and_predict(&r, &plain, &at, a, va);
    const hf_centre centres[] = {HF_CENTRE_PRIOR, HF_CENTRE_LEAVE_ONE_OUT, HF_CENTRE_NEIGHBOURS};
    for (size_t k = 0; k < 3; k++) {
        robust.centre = centres[k];
        robust.threshold = INFINITY;
        fit_and_predict(&r, &robust, &at, b, vb);
        for (size_t i = 0; i < M; i++) {
            assert_close(b[i], a[i], 1e-12);
            assert_close(vb[i], va[i], 1e-12);
        }
        robust.threshold = 1e8;
        fit_and_predict(&r, &robust, &at, b, vb);
        for (size_t i = 0; i < M; i++) {
            assert_close(b[i], a[i], 1e-10);
            assert_close(vb[i], va[i], 1e-10);
        }
    }
    readings_free(&at);
    readings_free(&r);
}

/* ---- invariance ------------------------------------------------------------------------------ */

/* The same readings in another order. The search ends at the same optimum only to its tolerance. */
static void order_does_not_matter(void **state)
{
    (void)state;
    const hf_fit_settings settings = hf_fit_settings_default();
    readings at = places();
    for (uint64_t seed = 1; seed <= 3; seed++) {
        readings r = readings_make(N, D, seed == 1 ? 0 : 5, 40 + seed), p = readings_make(N, D, 0, 1);
        for (size_t i = 0; i < N; i++) {
            const size_t from = (i * 37 + 11) % N;
            memcpy(p.x + i * D, r.x + from * D, D * sizeof *p.x);
            p.y[i] = r.y[from];
        }
        const double spread = spread_of(&r);
        double a[M], b[M], va[M], vb[M];
        fit_and_predict(&r, &settings, &at, a, va);
        fit_and_predict(&p, &settings, &at, b, vb);
        for (size_t i = 0; i < M; i++) {
            assert_true(fabs(a[i] - b[i]) < 1e-3 * spread);
            assert_true(fabs(log(va[i] / vb[i])) < 0.02);
        }
        readings_free(&r);
        readings_free(&p);
    }
    readings_free(&at);
}

/* y -> 8 y + 256 and x_j -> 4 x_j - 16, 2^-6 x_j + 1: powers of two, so that only the shifts round. */
static void units_do_not_matter(void **state)
{
    (void)state;
    static const double scale[D] = {4.0, 0.015625}, shift[D] = {-16.0, 1.0};
    readings at = places(), moved = places();
    for (size_t i = 0; i < M * D; i++) moved.x[i] = at.x[i] * scale[i % D] + shift[i % D];
    hf_fit_settings settings[3] = {hf_fit_settings_default(), hf_fit_settings_default(),
                                   hf_fit_settings_default()};
    settings[1].mean = HF_MEAN_LINEAR;
    settings[2].suspects = HF_OUTLIERS_OFF;
    settings[2].sites = HF_LIKELIHOOD_ROBUST;
    for (size_t k = 0; k < 3; k++) {
        readings r = readings_make(N, D, 5, 50 + k), s = readings_make(N, D, 5, 50 + k);
        for (size_t i = 0; i < N * D; i++) s.x[i] = r.x[i] * scale[i % D] + shift[i % D];
        for (size_t i = 0; i < N; i++) s.y[i] = 8.0 * r.y[i] + 256.0;
        const double spread = spread_of(&r);
        double a[M], b[M], va[M], vb[M];
        fit_and_predict(&r, &settings[k], &at, a, va);
        fit_and_predict(&s, &settings[k], &moved, b, vb);
        for (size_t i = 0; i < M; i++) {
            assert_true(fabs((b[i] - 256.0) / 8.0 - a[i]) < 1e-3 * spread);
            assert_true(fabs(log(vb[i] / 64.0 / va[i])) < 0.02);
        }
        readings_free(&r);
        readings_free(&s);
    }
    readings_free(&at);
    readings_free(&moved);
}

/* ---- the posterior --------------------------------------------------------------------------- */

static void marginal_variance_is_the_diagonal(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings at = places(), r = readings_make(N, D, 5, 4);
    const hf_fit_settings settings = hf_fit_settings_default();
    hf_posterior *p = readings_fit(ctx, &r, &settings, NULL);
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, p);
    double covariance[M * M], mean[M], latent[M], observed[M];
    assert_int_equal(hf_predict_covariance(ctx, p, M, at.x, D, covariance, M), HF_OK);
    assert_int_equal(hf_predict(ctx, p, M, at.x, D, mean, latent, observed), HF_OK);
    for (size_t i = 0; i < M; i++) {
        double one_mean, one_var;
        assert_int_equal(hf_predict_latent(p, workspace, at.x + i * D, &one_mean, &one_var, NULL, NULL),
                         HF_OK);
        assert_close(covariance[i * M + i], latent[i], 1e-10 * latent[i] + 1e-13);
        assert_close(one_var, latent[i], 1e-10 * latent[i] + 1e-13);
        assert_close(one_mean, mean[i], 1e-11);
        assert_true(latent[i] >= 0.0 && observed[i] > latent[i]);
        assert_close(observed[i], hf_posterior_calibration(p) * (latent[i] + hf_posterior_noise(p)), 1e-12);
        for (size_t j = 0; j < M; j++) {
            assert_true(covariance[i * M + j] == covariance[j * M + i]);
            assert_true(fabs(covariance[i * M + j]) <= sqrt(latent[i] * latent[j]) * (1.0 + 1e-9) + 1e-13);
        }
    }
    hf_posterior_workspace_free(workspace);
    hf_posterior_free(p);
    readings_free(&at);
    readings_free(&r);
    hf_context_free(ctx);
}

/* Settings in which all is given, so that fits to different rows are the same process. */
static hf_fit_settings given(void)
{
    hf_fit_settings settings = workshop_untrained();
    return settings;
}

/* Readings that come one by one, one that goes and comes again: as if all had been there. */
static void online_is_the_same_as_afresh(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings at = places(), all = readings_make(N, D, 3, 12), few = all;
    few.n = N / 2;
    const hf_fit_settings settings = given();
    hf_posterior *online = readings_fit(ctx, &few, &settings, NULL), *afresh = NULL;
    const double noise = hf_posterior_noise(online);
    for (size_t i = few.n; i < N; i++)
        assert_int_equal(hf_posterior_add(ctx, online, all.x + i * D, all.y[i], noise), HF_OK);
    assert_int_equal(hf_posterior_remove(ctx, online, 4), HF_OK);
    assert_int_equal(hf_posterior_add(ctx, online, all.x + 4 * D, all.y[4], noise), HF_OK);
    assert_int_equal(hf_posterior_replace(ctx, online, 9, 1e3, 1e6), HF_OK);
    assert_int_equal(hf_posterior_replace(ctx, online, 9, all.y[10], noise), HF_OK); /* 10 moved up to 9 */
    afresh = readings_fit(ctx, &all, &settings, NULL);
    assert_int_equal(hf_posterior_anchors(online), N);
    double a[M], b[M], va[M], vb[M], backward = 1.0;
    readings_predict(ctx, online, &at, a, va);
    readings_predict(ctx, afresh, &at, b, vb);
    for (size_t i = 0; i < M; i++) {
        assert_close(a[i], b[i], 1e-9);
        assert_close(va[i], vb[i], 1e-9);
    }
    assert_int_equal(hf_posterior_backward_error(ctx, online, &backward), HF_OK);
    assert_true(backward < 1e-12);
    hf_posterior_free(online);
    hf_posterior_free(afresh);
    readings_free(&at);
    readings_free(&all);
    hf_context_free(ctx);
}

/* Each reading in turn is really left out and the rest fitted afresh. */
static void leave_one_out_is_leaving_one_out(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r = readings_make(N, D, 4, 13);
    const hf_fit_settings settings = given();
    hf_posterior *p = readings_fit(ctx, &r, &settings, NULL);
    double mean[N], var[N], kl[N], y[N];
    assert_int_equal(hf_leave_one_out(ctx, p, mean, var), HF_OK);
    assert_int_equal(hf_influence_of_removal(ctx, p, kl), HF_OK);
    for (size_t i = 0; i < N; i += 7) {
        memcpy(y, r.y, sizeof y);
        y[i] = NAN; /* a reading that is not there */
        const readings rest = {.n = N, .d = D, .x = r.x, .y = y};
        hf_posterior *without = readings_fit(ctx, &rest, &settings, NULL);
        hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, without);
        double m, v, one;
        assert_int_equal(hf_posterior_anchors(without), N - 1);
        assert_int_equal(hf_predict_latent(without, workspace, r.x + i * D, &m, &v, NULL, NULL), HF_OK);
        assert_close(mean[i], m, 1e-9);
        assert_close(var[i], v, 1e-9);
        assert_int_equal(hf_influence(ctx, p, i, 0.0, INFINITY, &one), HF_OK);
        assert_close(one, kl[i], 1e-8);
        hf_posterior_workspace_free(workspace);
        hf_posterior_free(without);
    }
    hf_posterior_free(p);
    readings_free(&r);
    hf_context_free(ctx);
}

/* ---- files ----------------------------------------------------------------------------------- */

static hf_table *as_table(hf_context *ctx, const readings *r)
{
    hf_table *table = NULL;
    double column[N];
    assert_int_equal(hf_table_create(ctx, r->n, &table), HF_OK);
    for (size_t j = 0; j < D; j++) {
        for (size_t i = 0; i < r->n; i++) column[i] = r->x[i * D + j];
        assert_int_equal(hf_table_set_numbers(ctx, table, j == 0 ? "a" : "b", column), HF_OK);
    }
    assert_int_equal(hf_table_set_numbers(ctx, table, "y", r->y), HF_OK);
    return table;
}

static uint64_t model_print(hf_context *ctx, const hf_model *model, const readings *at)
{
    uint64_t print = 0;
    hf_table *to = as_table(ctx, at), *rows = NULL;
    assert_int_equal(hf_predict_into_table(ctx, model, to), HF_OK);
    assert_true(hf_model_rows(ctx, model, &rows) >= 0);
    fingerprint_table(&print, to);
    fingerprint_table(&print, rows);
    for (size_t i = 0; i < hf_model_parameters(model); i++) {
        hf_parameter p;
        assert_int_equal(hf_model_parameter(model, i, &p), HF_OK);
        fingerprint_text(&print, p.name);
        fingerprint_bytes(&print, &p.value, sizeof p.value);
    }
    hf_table_free(to);
    hf_table_free(rows);
    return print;
}

/* A model that went through a file tells the same, to the last bit, and so does one that went twice. */
static void a_file_changes_nothing(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder in = folder_make();
    char path[256], again[256];
    folder_file(&in, "m.hf", path);
    folder_file(&in, "n.hf", again);
    readings at = places();
    static const char *const presets[] = {"default", "gp", "rcgp"};
    for (size_t k = 0; k < 3; k++) {
        readings r = readings_make(N, D, 5, 60 + k);
        hf_table *table = as_table(ctx, &r);
        hf_fit_settings settings;
        const hf_columns columns = {.size = sizeof columns, .target = "y"};
        hf_model *model = NULL, *once = NULL, *twice = NULL;
        assert_int_equal(hf_fit_settings_preset(ctx, presets[k], &settings, sizeof settings), HF_OK);
        if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0)
            fail_msg("%s", hf_context_message(ctx));
        assert_int_equal(hf_model_save(ctx, model, path), HF_OK);
        assert_true(hf_model_load(ctx, path, &once) >= 0);
        assert_int_equal(hf_model_save(ctx, once, again), HF_OK);
        assert_true(hf_model_load(ctx, again, &twice) >= 0);
        const uint64_t print = model_print(ctx, model, &at);
        assert_true(model_print(ctx, once, &at) == print);
        assert_true(model_print(ctx, twice, &at) == print);
        assert_string_equal(hf_model_data_checksum(once), hf_model_data_checksum(model));
        hf_model_free(model);
        hf_model_free(once);
        hf_model_free(twice);
        hf_table_free(table);
        readings_free(&r);
    }
    readings_free(&at);
    folder_remove(&in);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_wild_reading_has_bounded_influence),
        cmocka_unit_test(robust_sites_forget_a_wild_reading),
        cmocka_unit_test(threshold_to_infinity_is_the_plain_process),
        cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(marginal_variance_is_the_diagonal),
        cmocka_unit_test(online_is_the_same_as_afresh),
        cmocka_unit_test(leave_one_out_is_leaving_one_out),
        cmocka_unit_test(a_file_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
