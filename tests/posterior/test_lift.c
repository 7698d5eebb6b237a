/* SPDX-License-Identifier: Apache-2.0 */
/* A posterior lifted by an expert's mean: that of the readings, wherever and however it is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "posterior/support.h"

#include <holdfast/path.h>

enum {
    N = 20,
    D = 3,
    SAID = 14,
    POINTS = 12
};

/* NULL: the default. In units where inputs differ by 40, 0.125 and 40. */
static const char *const KERNELS[] = {
    NULL, "matern32(x1, lengthscale=30) * se(x2, lengthscale=0.2) * se(x3, lengthscale=50)",
    "se(ard, lengthscale=40) + 0.1*matern52(x1, lengthscale=20)", "se(ard, lengthscale=1.5) * linear(x2)",
    "category(x2, lengthscale=0.5) * se(x1, lengthscale=2)"};
/* The last ones are of inputs as they are. */
enum {
    SCALED = 3
};

typedef struct scene {
    hf_context *ctx;
    problem p;
    hf_posterior *plain, *lifted;
    hf_expert *expert;
    double user[POINTS * D];
} scene;

static hf_expert *make_expert(hf_context *ctx, const double *x, const hf_expert_settings *settings)
{
    double y[SAID], correction[SAID];
    hf_expert_label label[SAID];
    hf_expert *expert = NULL;
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 2);
    for (size_t i = 0; i < SAID; i++) {
        y[i] = -20.0 + 8.0 * hfi_stream_normal(&stream);
        label[i] = i % 3 == 0 ? HF_EXPERT_UNKNOWN : i % 3 == 1 ? HF_EXPERT_DOUBTED : HF_EXPERT_BELIEVED;
        correction[i] = i % 6 == 1 ? y[i] + 5.0 : (double)NAN;
    }
    const hf_expert_data data = {
        .n = SAID, .d = D, .x = x, .ldx = D, .y = y, .label = label, .correction = correction};
    if (hf_expert_create(ctx, &data, settings, &expert) < 0) fail_msg("%s", hf_context_message(ctx));
    return expert;
}

/* The first points are places that were labelled, where sums of correlations are above 1. */
static void open_scene(scene *s, size_t k, hf_expert_rule rule, double lengthscale)
{
    const char *kernel = KERNELS[k];
    *s = (scene){.ctx = problem_context(2)};
    s->p = problem_make(s->ctx, "matern52(ard) + 0.3*linear", N, D, 0.05);
    s->plain = k < SCALED ? support_scaled(&s->p, 1.5) : support_solve(&s->p);
    s->lifted = k < SCALED ? support_scaled(&s->p, 1.5) : support_solve(&s->p);
    const hfi_scaling scaling = s->plain->scaling;
    double *inputs = problem_inputs(SAID + POINTS, D, 31), x[SAID * D];
    for (size_t i = 0; i < SAID; i++) support_to_user(&scaling, inputs + i * D, x + i * D);
    for (size_t i = 0; i < POINTS; i++)
        support_to_user(&scaling, inputs + (i < 4 ? i + 1 : SAID + i) * D, s->user + i * D);
    hf_expert_settings settings = hf_expert_settings_default();
    hf_kernel *l = NULL;
    if (kernel != NULL) assert_int_equal(hf_kernel_parse(s->ctx, kernel, NULL, D, &l), HF_OK);
    settings.kernel = l;
    settings.rule = rule;
    settings.lengthscale = lengthscale;
    s->expert = make_expert(s->ctx, x, &settings);
    hf_kernel_free(l);
    if (hf_posterior_lift(s->ctx, s->lifted, s->expert) != HF_OK) fail_msg("%s", hf_context_message(s->ctx));
    free(inputs);
}

static void close_scene(scene *s)
{
    hf_expert_free(s->expert);
    hf_posterior_free(s->plain);
    hf_posterior_free(s->lifted);
    problem_free(&s->p);
    hf_context_free(s->ctx);
}

/* ---- what it predicts --------------------------------------------------------------------------------- */

static void check_points(scene *s)
{
    double m[POINTS], before[POINTS], after[POINTS], var[POINTS], same[POINTS], one, gradient[D], old[D];
    assert_int_equal(hf_expert_mean(s->ctx, s->expert, POINTS, s->user, D, m, NULL), HF_OK);
    assert_int_equal(hf_predict(s->ctx, s->plain, POINTS, s->user, D, before, var, NULL), HF_OK);
    assert_int_equal(hf_predict(s->ctx, s->lifted, POINTS, s->user, D, after, same, NULL), HF_OK);
    assert_memory_equal(var, same, sizeof var);
    hf_posterior_workspace *w = hf_posterior_workspace_create(s->ctx, s->lifted),
                           *v = hf_posterior_workspace_create(s->ctx, s->plain);
    for (size_t i = 0; i < POINTS; i++) {
        double x[D];
        assert_near(after[i], before[i] + m[i], 1e-10);
        assert_int_equal(hf_predict_latent(s->lifted, w, s->user + i * D, &one, NULL, gradient, NULL), HF_OK);
        assert_near(one, after[i], 1e-10);
        assert_int_equal(hf_predict_latent(s->plain, v, s->user + i * D, &one, NULL, old, NULL), HF_OK);
        if (i < 4) continue; /* l has its top there, and no slope or a kink */
        for (size_t j = 0; j < D; j++) {
            const double step = 1e-5 * s->plain->scaling.x_scale[j];
            double ends[2];
            memcpy(x, s->user + i * D, sizeof x);
            for (int k = 0; k < 2; k++) {
                x[j] = s->user[i * D + j] + (k == 0 ? -step : step);
                assert_int_equal(hf_expert_mean(s->ctx, s->expert, 1, x, D, &ends[k], NULL), HF_OK);
            }
            assert_near(gradient[j] - old[j], (ends[1] - ends[0]) / (2.0 * step),
                        1e-5 / s->plain->scaling.x_scale[j]);
        }
    }
    hf_posterior_workspace_free(w);
    hf_posterior_workspace_free(v);
}

static void predictions_are_sums(void **state)
{
    (void)state;
    scene s;
    for (size_t k = 0; k < sizeof KERNELS / sizeof *KERNELS; k++)
        for (int rule = 0; rule < 2; rule++) {
            open_scene(&s, k, (hf_expert_rule)rule, 0.0);
            check_points(&s);
            close_scene(&s);
        }
    open_scene(&s, 0, HF_EXPERT_PUBLISHED, INFINITY);
    check_points(&s);
    close_scene(&s);
}

static void whatever_is_asked(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 0, HF_EXPERT_AVERAGE, 0.0);
    double m[POINTS], a[N], b[N], at[N], mine[N * D];
    assert_int_equal(hf_expert_mean(s.ctx, s.expert, POINTS, s.user, D, m, NULL), HF_OK);
    for (uint64_t stream = 0; stream < 3; stream++) { /* copies of the mean keep it */
        hf_path *plain = NULL, *lifted = NULL;
        assert_int_equal(hf_path_create(s.ctx, s.plain, stream, 32, &plain), HF_OK);
        assert_int_equal(hf_path_create(s.ctx, s.lifted, stream, 32, &lifted), HF_OK);
        assert_int_equal(hf_path_many_rows(s.ctx, plain, POINTS, s.user, D, a), HF_OK);
        assert_int_equal(hf_path_many_rows(s.ctx, lifted, POINTS, s.user, D, b), HF_OK);
        for (size_t i = 0; i < POINTS; i++) assert_near(b[i], a[i] + m[i], 1e-9);
        hf_path_free(plain);
        hf_path_free(lifted);
    }
    for (size_t i = 0; i < N; i++) support_to_user(&s.plain->scaling, s.p.x + i * D, mine + i * D);
    assert_int_equal(hf_expert_mean(s.ctx, s.expert, N, mine, D, at, NULL), HF_OK);
    assert_int_equal(hf_leave_one_out(s.ctx, s.plain, a, NULL), HF_OK);
    assert_int_equal(hf_leave_one_out(s.ctx, s.lifted, b, NULL), HF_OK);
    for (size_t i = 0; i < N; i++) assert_near(b[i], a[i] + at[i], 1e-9);
    /* A reading that comes later is one of the function, not of the difference. */
    assert_int_equal(hf_posterior_add(s.ctx, s.plain, s.user, 3.0 - m[0], 0.5), HF_OK);
    assert_int_equal(hf_posterior_add(s.ctx, s.lifted, s.user, 3.0, 0.5), HF_OK);
    assert_int_equal(hf_predict(s.ctx, s.plain, POINTS, s.user, D, a, NULL, NULL), HF_OK);
    assert_int_equal(hf_predict(s.ctx, s.lifted, POINTS, s.user, D, b, NULL, NULL), HF_OK);
    for (size_t i = 0; i < POINTS; i++) assert_near(b[i], a[i] + m[i], 1e-9);
    close_scene(&s);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static void refusals(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 0, HF_EXPERT_AVERAGE, 0.0);
    double before, after;
    assert_int_equal(hf_predict(s.ctx, s.plain, 1, s.user, D, &before, NULL, NULL), HF_OK);
    assert_int_equal(hf_posterior_lift(s.ctx, s.lifted, s.expert), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(s.ctx), "already"));
    assert_int_equal(hf_posterior_lift(s.ctx, s.plain, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_posterior_lift(s.ctx, NULL, s.expert), HF_ERR_ARGUMENT);
    problem other = problem_make(s.ctx, "se", 5, 2, 0.1);
    hf_posterior *flat = support_solve(&other);
    assert_int_equal(hf_posterior_lift(s.ctx, flat, s.expert), HF_ERR_DIMENSION);
    /* One lengthscale, and inputs that are scaled by different numbers. */
    hf_expert_settings settings = hf_expert_settings_default();
    hf_kernel *l = NULL;
    assert_int_equal(hf_kernel_parse(s.ctx, "se", NULL, D, &l), HF_OK);
    settings.kernel = l;
    hf_expert *round = make_expert(s.ctx, s.p.x, &settings);
    assert_int_equal(hf_posterior_lift(s.ctx, s.plain, round), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(s.ctx), "lengthscale"));
    assert_int_equal(hf_predict(s.ctx, s.plain, 1, s.user, D, &after, NULL, NULL), HF_OK);
    assert_true(before == after);
    hf_kernel_free(l);
    hf_expert_free(round);
    static const char *const fixed[] = {"se(ard) * linear(x2)", "category(x2) * se(x1)"};
    for (int k = 0; k < 2; k++) {
        assert_int_equal(hf_kernel_parse(s.ctx, fixed[k], NULL, D, &l), HF_OK);
        settings.kernel = l;
        round = make_expert(s.ctx, s.p.x, &settings);
        assert_int_equal(hf_posterior_lift(s.ctx, s.plain, round), HF_ERR_ARGUMENT);
        assert_non_null(strstr(hf_context_message(s.ctx), "standardised"));
        hf_kernel_free(l);
        hf_expert_free(round);
    }
    assert_int_equal(hf_predict(s.ctx, s.plain, 1, s.user, D, &after, NULL, NULL), HF_OK);
    assert_true(before == after);
    hf_posterior_free(flat);
    problem_free(&other);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_are_sums),
        cmocka_unit_test(whatever_is_asked),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
