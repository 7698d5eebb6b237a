/* SPDX-License-Identifier: Apache-2.0 */
/* Priors scaled with the number of inputs, and inputs as they are: densities by their formula, derivatives by
 * differences. */
#include "fit/fit.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 60,
    D = 3,
    MOST = 16
};

static double x[N * D], y[N];

/* Readings of a function on boxes as wide as `width` times 1, 2, 3 from `shift` on, seen to the corners. */
static hf_data readings(double width, double shift)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < N; i++) {
        double u[D];
        for (size_t j = 0; j < D; j++) u[j] = hfi_stream_uniform(&stream);
        for (size_t j = 0; j < D && i < 2; j++) u[j] = (double)i;
        for (size_t j = 0; j < D; j++) x[i * D + j] = shift + width * (double)(j + 1) * u[j];
        y[i] = 7.0 + 3.0 * sin(5.0 * u[0]) + 2.0 * u[1] * u[1] + 0.05 * hfi_stream_normal(&stream);
    }
    return (hf_data){.n = N, .d = D, .x = x, .ldx = D, .y = y};
}

static hf_fit_settings wanted(hf_prior_kind prior, bool unit, hf_solver solver)
{
    hf_fit_settings settings;
    assert_int_equal(hf_fit_settings_preset(NULL, "gp", &settings, sizeof settings), HF_OK);
    settings.lengthscale_prior = prior;
    settings.unit_inputs = unit;
    settings.solver = solver;
    settings.inducing = solver == HF_SOLVER_INDUCING ? 20 : 0;
    settings.actions = solver == HF_SOLVER_PROJECTED ? 12 : 0;
    settings.action_kind = HF_ACTIONS_BLOCKS;
    settings.train_actions = false;
    return settings;
}

/* A fit up to its trainer. */
static void prepare(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings, hfi_fit *fit)
{
    *fit = (hfi_fit){.ctx = ctx, .data = data, .settings = settings, .nu = INFINITY};
    assert_int_equal(hfi_fit_check(ctx, data, settings), HF_OK);
    assert_int_equal(hfi_fit_gather(fit), HF_OK);
    assert_int_equal(hfi_fit_prepare(fit), HF_OK);
    assert_int_equal(hfi_fit_evaluator(fit), HF_OK);
    assert_int_equal(hfi_fit_trainer(fit), HF_OK);
    assert_true(fit->trainer.count <= MOST);
    assert_int_equal(hfi_evaluator_select(&fit->trainer.evaluator), HF_OK);
}

static double log_normal(double value, double location, double sd)
{
    const double u = (log(value) - location) / sd;
    return -0.5 * u * u - log(sd * value) - HFI_HALF_LOG_2PI;
}

/* The published density of lengthscales over the ranges of the inputs at a state; and those of outputscale
 * and noise. */
static double published(const hfi_fit *fit, const double *state, const double *range)
{
    double sum = 0.0;
    for (size_t i = 0; i < hf_kernel_parameters(fit->kernel); i++) {
        hf_parameter p;
        assert_int_equal(hf_kernel_parameter(fit->kernel, i, &p), HF_OK);
        const double user = exp(state[i]) * hfi_scaling_factor(&fit->scaling, p.unit, p.column);
        if (p.unit == HF_UNIT_INPUT)
            sum += log_normal(user / range[p.column], sqrt(2.0) + 0.5 * log((double)D), sqrt(3.0));
        else
            sum -= 0.125 * state[i] * state[i];
    }
    const double noise = (state[fit->trainer.noise] - log(0.03)) / 3.0;
    return sum - 0.5 * noise * noise;
}

static void the_prior_is_as_published(void **state)
{
    (void)state;
    const double unit[D] = {1.0, 1.0, 1.0}, wide[D] = {10.0, 20.0, 30.0};
    for (size_t k = 0; k < 2; k++) {
        hf_context *ctx = hf_context_create();
        const hf_data data = readings(10.0, -4.0);
        const hf_fit_settings settings = wanted(HF_PRIOR_DIMENSION, k == 1, HF_SOLVER_EXACT);
        hfi_fit fit;
        prepare(ctx, &data, &settings, &fit);
        double a[MOST], b[MOST];
        memcpy(a, fit.trainer.start, fit.trainer.count * sizeof *a);
        memcpy(b, a, sizeof b);
        for (size_t i = 0; i < fit.trainer.count; i++) b[i] += 0.3 + 0.2 * (double)i;
        const double *range = k == 1 ? unit : wide;
        const double found = hfi_trainer_log_prior(&fit.trainer, b) - hfi_trainer_log_prior(&fit.trainer, a);
        assert_true(fabs(found - published(&fit, b, range) + published(&fit, a, range)) < 1e-10);
        assert_true(fabs(fit.trainer.lower[fit.trainer.noise] - log(1e-7)) < 1e-12);
        hfi_fit_free(&fit);
        hf_context_free(ctx);
    }
}

/* The prior's share in the second derivatives is what the objective's leave of them. */
static void assert_bend(hfi_trainer *t, const double *at)
{
    double all[MOST * MOST], bend[MOST * MOST], gradient[MOST], value, prior;
    const size_t f = t->free_count;
    assert_true(hfi_trainer_evaluate(t, at, &value, &prior, gradient) >= 0);
    assert_int_equal(hfi_trainer_free_curvature(t, at, bend), HF_OK);
    assert_int_equal(hfi_trainer_curvature(t, at, all), HF_OK);
    for (size_t k = 0; k < f; k++) {
        const size_t i = t->free_index[k];
        double plus[MOST] = {0}, minus[MOST] = {0}, moved[MOST];
        memcpy(moved, at, t->count * sizeof *moved);
        moved[i] = at[i] + 1e-4;
        hfi_trainer_add_prior(t, moved, plus);
        moved[i] = at[i] - 1e-4;
        hfi_trainer_add_prior(t, moved, minus);
        const double own = -(plus[i] - minus[i]) / 2e-4;
        assert_true(fabs(bend[k + k * f] - all[i + i * t->count] - own) < 1e-7 * (1.0 + own));
    }
}

/* Compares the objective's gradient with differences. */
static void assert_derivatives(hf_solver solver)
{
    hf_context *ctx = hf_context_create();
    const hf_data data = readings(1.0, 0.0);
    const hf_fit_settings settings = wanted(HF_PRIOR_DIMENSION, true, solver);
    hfi_fit fit;
    prepare(ctx, &data, &settings, &fit);
    hfi_trainer *t = &fit.trainer;
    double at[MOST], gradient[MOST], up[2], down[2];
    memcpy(at, t->start, t->count * sizeof *at);
    assert_true(hfi_trainer_evaluate(t, at, &up[0], &up[1], gradient) >= 0);
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        const double step = 1e-5, here = at[i];
        at[i] = here + step;
        assert_true(hfi_trainer_evaluate(t, at, &up[0], &up[1], NULL) >= 0);
        at[i] = here - step;
        assert_true(hfi_trainer_evaluate(t, at, &down[0], &down[1], NULL) >= 0);
        at[i] = here;
        const double slope = (up[0] + up[1] - down[0] - down[1]) / (2.0 * step);
        assert_true(fabs(slope - gradient[i]) < 1e-5 * (1.0 + fabs(slope)));
    }
    if (t->curved) assert_bend(t, at);
    hfi_fit_free(&fit);
    hf_context_free(ctx);
}

static void derivatives_are_exact_with_every_solver(void **state)
{
    (void)state;
    assert_derivatives(HF_SOLVER_EXACT);
    assert_derivatives(HF_SOLVER_INDUCING);
    assert_derivatives(HF_SOLVER_PROJECTED);
}

static double predict(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings, const double *at)
{
    hf_posterior *p = NULL;
    double mean = 0.0, variance = 0.0;
    if (hf_fit_data(ctx, data, settings, &p, NULL, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    for (size_t j = 0; j < data->d && settings->unit_inputs; j++)
        assert_true(p->scaling.x_shift[j] == 0.0 && p->scaling.x_scale[j] == 1.0);
    assert_true(p->scaling.y_scale != 1.0);
    assert_true(hf_predict(ctx, p, 1, at, data->d, &mean, &variance, NULL) >= 0);
    hf_posterior_free(p);
    return mean;
}

/* With the hyperparameters given, units make no difference; with weak priors the data outvote what they move. */
static void inputs_as_they_are_change_units_only(void **state)
{
    (void)state;
    const hf_assignment set[] = {{"lengthscale", 0.4}, {"outputscale", 9.0}, {"noise", 0.01}, {"mean", 8.0}};
    const double at[D] = {0.3, 0.9, 1.7};
    hf_context *ctx = hf_context_create();
    const hf_data data = readings(1.0, 0.0);
    for (int trained = 0; trained < 2; trained++) {
        hf_fit_settings settings = wanted(HF_PRIOR_WEAK, false, HF_SOLVER_EXACT);
        settings.train = trained;
        settings.set = set;
        settings.set_count = trained ? 0 : 4;
        const double plain = predict(ctx, &data, &settings, at);
        settings.unit_inputs = true;
        assert_true(fabs(predict(ctx, &data, &settings, at) - plain) < (trained ? 0.1 : 1e-8));
    }
    hf_context_free(ctx);
}

/* The prior says what there is to say of a table of nothing but noise, whatever the inputs' number. */
static void many_inputs_mean_longer_lengthscales(void **state)
{
    (void)state;
    double length[2] = {0.0, 0.0};
    for (size_t k = 0; k < 2; k++) {
        hf_context *ctx = hf_context_create();
        hf_data data = readings(1.0, 0.0);
        data.n = 3;
        data.d = k == 0 ? 1 : D;
        const hf_fit_settings settings = wanted(HF_PRIOR_DIMENSION, true, HF_SOLVER_EXACT);
        hfi_fit fit;
        prepare(ctx, &data, &settings, &fit);
        for (size_t i = 0; i < hf_kernel_parameters(fit.kernel); i++) {
            hf_parameter p;
            hf_kernel_parameter(fit.kernel, i, &p);
            if (p.unit == HF_UNIT_INPUT) length[k] = exp(fit.trainer.prior_mean[i]);
        }
        hfi_fit_free(&fit);
        hf_context_free(ctx);
    }
    assert_true(fabs(length[0] - 0.20478681) < 1e-6);
    assert_true(fabs(length[1] / length[0] - sqrt((double)D)) < 1e-12);
}

static void what_cannot_be_is_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_data data = readings(1.0, 0.0);
    hf_posterior *p = NULL;
    hf_fit_settings settings = wanted(HF_PRIOR_DIMENSION, false, HF_SOLVER_EXACT);
    settings.priors = false;
    assert_int_equal(hf_fit_data(ctx, &data, &settings, &p, NULL, NULL), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "lengthscale_prior dimension"));
    settings.lengthscale_prior = (hf_prior_kind)7;
    assert_int_equal(hf_fit_data(ctx, &data, &settings, &p, NULL, NULL), HF_ERR_ARGUMENT);
    hf_prior_kind prior;
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_PRIOR_KIND, "dimension", &prior), HF_OK);
    assert_int_equal(prior, HF_PRIOR_DIMENSION);
    assert_string_equal(hf_enum_name(HF_ENUM_PRIOR_KIND, prior), "dimension");
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_PRIOR_KIND, "strong", &prior), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "weak"));
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_prior_is_as_published),
        cmocka_unit_test(derivatives_are_exact_with_every_solver),
        cmocka_unit_test(inputs_as_they_are_change_units_only),
        cmocka_unit_test(many_inputs_mean_longer_lengthscales),
        cmocka_unit_test(what_cannot_be_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
