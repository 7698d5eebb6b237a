/* SPDX-License-Identifier: Apache-2.0 */
/* The smallest confidence bound: the mirror image of the largest one of -f, and no place of a grid is lower. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"

/* The posterior of -f: readings and prior mean with the other sign. */
static hf_posterior *mirrored(const problem *p)
{
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    double *y = naive_zeros(p->n), *values = naive_zeros(p->d + 1);
    for (size_t i = 0; i < p->n; i++) y[i] = -p->y[i];
    for (size_t j = 0; j <= p->d; j++) values[j] = -hf_mean_values(p->mean)[j];
    assert_int_equal(hf_mean_create(p->ctx, HF_MEAN_LINEAR, p->d, &mean), HF_OK);
    assert_int_equal(hf_mean_set(p->ctx, mean, values, true), HF_OK);
    assert_int_equal(hf_sites_gaussian(p->ctx, p->n, y, p->noise, p->extra, &sites), HF_OK);
    hf_posterior *out = NULL;
    assert_int_equal(hf_solve_exact(p->ctx, p->kernel, mean, sites, p->x, p->d, &out), HF_OK);
    hf_mean_free(mean);
    hf_sites_free(sites);
    free(y), free(values);
    return out;
}

static hf_argmax minimise(const pair *w, const hf_ucb *bound, const hf_domain *domain, double *x)
{
    hf_ucb below = *bound;
    below.minimise = true;
    hf_argmax found;
    const hf_status status = hf_maximise_ucb(w->ctx, &below, domain, NULL, 0, NULL, x, &found);
    if (status != HF_OK) fail_msg("%s", hf_context_message(w->ctx));
    assert_true(hf_domain_contains(domain, x, NULL));
    return found;
}

static void it_is_the_largest_of_the_mirror_image(void **state)
{
    (void)state;
    const double candidates[] = {-1.5, 0.25, 1.75, -0.5, 1.0, 0.75, -1.0, -0.125};
    for (size_t d = 1; d <= 2; d++) {
        pair w = pair_open("matern52(lengthscale=0.5)", 20, d, false);
        hf_posterior *negative = mirrored(&w.p);
        const hf_domain domains[] = {
            cube(d),
            {.dimension = d, .candidates = sizeof candidates / sizeof *candidates / d, .points = candidates}};
        for (size_t k = 0; k < 8; k++) {
            const hf_domain *domain = &domains[k % 2];
            const double beta = 0.8 * (double)(k / 2);
            const hf_posterior *spread = k > 4 ? w.spread : NULL;
            const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .spread = spread, .beta = beta},
                         mirror = {.size = sizeof mirror, .mean = negative, .spread = spread, .beta = beta};
            double low_at[2], high_at[2];
            hf_argmax largest;
            const hf_argmax least = minimise(&w, &bound, domain, low_at);
            assert_int_equal(hf_maximise_ucb(w.ctx, &mirror, domain, NULL, 0, NULL, high_at, &largest),
                             HF_OK);
            for (size_t j = 0; j < d; j++) assert_near(low_at[j], high_at[j], 0.0);
            assert_near(least.value, -largest.value, 0.0);
            assert_near(least.mean, -largest.mean, 0.0);
            assert_near(least.sd, largest.sd, 0.0);
            assert_near(least.gradient, largest.gradient, 0.0);
            assert_int_equal(least.index, largest.index);
            assert_int_equal(least.evaluations, largest.evaluations);
            assert_near(least.value, least.mean - beta * least.sd, 1e-14 * (1.0 + fabs(least.mean)));
        }
        hf_posterior_free(negative);
        pair_close(&w);
    }
}

static void no_place_of_a_dense_grid_is_lower(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.3)", 25, 1, false);
    const hf_domain box = cube(1);
    for (size_t c = 0; c < 4; c++) {
        const double beta = (double)c;
        const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = beta},
                     below = {.size = sizeof below, .mean = w.mean, .beta = -beta};
        double x;
        const hf_argmax found = minimise(&w, &bound, &box, &x);
        assert_near(found.value, value_at(&w, &below, 1, &x), 0.0);
        assert_true(found.gradient < 1e-3);
        for (size_t i = 0; i <= 20000; i++) {
            const double z = -2.0 + 4.0 * (double)i / 20000.0;
            assert_true(value_at(&w, &below, 1, &z) >= found.value - 1e-12);
        }
    }
    pair_close(&w);
}

static void errors_are_those_of_maximising(void **state)
{
    (void)state;
    pair w = pair_open("se(lengthscale=0.3)", 6, 1, false);
    const hf_domain box = cube(1);
    const hf_ucb bound = {.size = sizeof bound, .mean = w.mean, .beta = 1.0, .minimise = true},
                 infinite = {.size = sizeof infinite, .mean = w.mean, .beta = INFINITY, .minimise = true};
    double x = 7.0;
    assert_int_equal(hf_maximise_ucb(w.ctx, NULL, &box, NULL, 0, NULL, &x, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_maximise_ucb(w.ctx, &bound, NULL, NULL, 0, NULL, &x, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_maximise_ucb(w.ctx, &bound, &box, NULL, 0, NULL, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_maximise_ucb(w.ctx, &infinite, &box, NULL, 0, NULL, &x, NULL), HF_ERR_NOT_FINITE);
    assert_near(x, 7.0, 0.0);
    pair_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_largest_of_the_mirror_image),
        cmocka_unit_test(no_place_of_a_dense_grid_is_lower),
        cmocka_unit_test(errors_are_those_of_maximising),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
