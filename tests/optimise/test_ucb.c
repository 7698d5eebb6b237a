/* SPDX-License-Identifier: Apache-2.0 */
/* A confidence bound at a point: value, gradient, errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"

/* ---- value and gradient -------------------------------------------------------------------------------- */

/* Against the two predictions, and their difference quotients. */
static void check_bound(const pair *w, const hf_ucb *bound, size_t d, const double *x, double unit)
{
    const size_t all = d + bound->contexts;
    double point[8], value, gradient[8], mean, var;
    memcpy(point, x, d * sizeof *x);
    for (size_t k = 0; k < bound->contexts; k++) point[d + k] = bound->context[k];
    assert_int_equal(hf_posterior_dimension(bound->mean), all);
    assert_int_equal(hf_ucb_evaluate(bound, w->mean_room, w->spread_room, d, x, &value, gradient), HF_OK);
    hf_posterior_workspace *room = bound->spread == w->spread ? w->spread_room : w->mean_room;
    assert_int_equal(hf_predict_latent(bound->mean, w->mean_room, point, &mean, NULL, NULL, NULL), HF_OK);
    assert_int_equal(hf_predict_latent(bound->spread != NULL ? bound->spread : bound->mean, room, point, NULL,
                                       &var, NULL, NULL),
                     HF_OK);
    assert_near(value, mean + bound->beta * sqrt(var), 1e-12 * (1.0 + fabs(value)));
    assert_near(value, value_at(w, bound, d, x), 0.0); /* with or without the gradient */
    for (size_t j = 0; j < d; j++) {
        double ahead[8], behind[8];
        const double step = 1e-5 * (unit > 0.0 ? unit : j % 2 == 0 ? 40.0 : 0.125);
        memcpy(ahead, x, d * sizeof *x);
        memcpy(behind, x, d * sizeof *x);
        ahead[j] += step;
        behind[j] -= step;
        const double quotient =
            (value_at(w, bound, d, ahead) - value_at(w, bound, d, behind)) / (ahead[j] - behind[j]);
        assert_near(gradient[j], quotient, 1e-6 * (1.0 + fabs(quotient)));
    }
}

static void value_and_gradient_are_those_of_the_sum(void **state)
{
    (void)state;
    const char *const kernels[] = {"se(lengthscale=0.7)", "matern52(ard)", "matern32 + 0.3*linear",
                                   "rq(lengthscale=0.8)*periodic(period=3)"};
    const double betas[] = {2.0, 0.0, -1.3};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        pair w = pair_open(kernels[k], 25, 3, false);
        double *x = problem_inputs(6, 3, 91), context[2] = {0.4, -1.1};
        for (size_t i = 0; i < 6; i++)
            for (size_t two = 0; two < 2; two++)
                for (size_t contexts = 0; contexts < 3; contexts++) {
                    const hf_ucb bound = {.size = sizeof bound,
                                          .mean = w.mean,
                                          .spread = two     ? w.spread
                                                    : i % 2 ? w.mean
                                                            : NULL,
                                          .beta = betas[i % 3],
                                          .contexts = contexts,
                                          .context = contexts ? context : NULL};
                    check_bound(&w, &bound, 3 - contexts, x + 3 * i, 1.0);
                }
        free(x);
        pair_close(&w);
    }
}

static void units_are_the_users(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.9)", 20, 2, true);
    hfi_scaling scaling = support_scaling(w.ctx, 2);
    const double inside[] = {0.3, -0.8};
    double x[2];
    support_to_user(&scaling, inside, x);
    const hf_ucb one = {.size = sizeof one, .mean = w.mean, .beta = 1.5},
                 two = {.size = sizeof two, .mean = w.mean, .spread = w.spread, .beta = 1.5};
    check_bound(&w, &one, 2, x, 0.0);
    check_bound(&w, &two, 2, x, 0.0);
    hfi_scaling_free(&scaling);
    pair_close(&w);
}

/* Where nothing is uncertain the root has no slope; the mean's is what is left. */
static void without_uncertainty_the_slope_is_the_means(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const double x[] = {-1.0, 0.0, 1.0}, y[] = {0.0, 2.0, 1.0};
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    hf_posterior *posterior;
    assert_int_equal(hf_kernel_parse(ctx, "se(lengthscale=0.01)", NULL, 1, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 1, &mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, 3, y, 1e-300, NULL, &sites), HF_OK);
    assert_int_equal(hf_solve_exact(ctx, kernel, mean, sites, x, 1, &posterior), HF_OK);
    hf_posterior_workspace *room = hf_posterior_workspace_create(ctx, posterior);
    const hf_ucb bound = {.size = sizeof bound, .mean = posterior, .beta = 3.0};
    double value, gradient, var;
    assert_int_equal(hf_predict_latent(posterior, room, x + 1, NULL, &var, NULL, NULL), HF_OK);
    assert_true(var == 0.0);
    assert_int_equal(hf_ucb_evaluate(&bound, room, NULL, 1, x + 1, &value, &gradient), HF_OK);
    assert_true(value == 2.0 && gradient == 0.0);
    hf_posterior_workspace_free(room);
    hf_posterior_free(posterior);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

static void a_value_needs_what_belongs_to_it(void **state)
{
    (void)state;
    pair w = pair_open("se", 8, 2, false), other = pair_open("se", 8, 3, false);
    const hf_ucb one = {.size = sizeof one, .mean = w.mean, .beta = 1.0},
                 two = {.size = sizeof two, .mean = w.mean, .spread = w.spread, .beta = 1.0};
    const hf_ucb none = {.size = sizeof none, .beta = 1.0},
                 unknown = {.size = sizeof unknown, .mean = w.mean, .beta = NAN};
    const double x[3] = {0.1, 0.2, 0.3}, far[] = {INFINITY, 0.0};
    double value = 7.0, gradient[3] = {8.0, 8.0, 8.0};
#define GIVES(status, bound, room, spread_room, d, x)                                                        \
    assert_int_equal(hf_ucb_evaluate(bound, room, spread_room, d, x, &value, gradient), status)
    GIVES(HF_ERR_ARGUMENT, NULL, w.mean_room, NULL, 2, x);
    GIVES(HF_ERR_ARGUMENT, &none, w.mean_room, NULL, 2, x);
    GIVES(HF_ERR_NOT_FINITE, &unknown, w.mean_room, NULL, 2, x);
    GIVES(HF_ERR_ARGUMENT, &one, NULL, NULL, 2, x);
    GIVES(HF_ERR_ARGUMENT, &one, other.mean_room, NULL, 2, x);
    GIVES(HF_ERR_ARGUMENT, &two, w.mean_room, NULL, 2, x);
    GIVES(HF_ERR_ARGUMENT, &two, w.mean_room, other.mean_room, 2, x);
    GIVES(HF_ERR_ARGUMENT, &one, w.mean_room, NULL, 2, NULL);
    GIVES(HF_ERR_DIMENSION, &one, w.mean_room, NULL, 3, x);
    GIVES(HF_ERR_DIMENSION, &one, w.mean_room, NULL, 1, x);
    GIVES(HF_ERR_NOT_FINITE, &one, w.mean_room, NULL, 2, far);
#undef GIVES
    assert_int_equal(hf_ucb_evaluate(&one, w.mean_room, NULL, 2, x, NULL, gradient), HF_ERR_ARGUMENT);
    assert_true(value == 7.0 && gradient[0] == 8.0 && gradient[1] == 8.0);
    pair_close(&other);
    pair_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_and_gradient_are_those_of_the_sum),
        cmocka_unit_test(units_are_the_users),
        cmocka_unit_test(without_uncertainty_the_slope_is_the_means),
        cmocka_unit_test(a_value_needs_what_belongs_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
