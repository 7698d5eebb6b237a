/* SPDX-License-Identifier: Apache-2.0 */
/* Questions that everybody may ask of counts and amounts: closed forms, and what is refused. Values beside
 * scipy's: tests/oracle. */
#include "core/core.h"
#include <holdfast/likelihood.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/assert_near.h"

static const hf_likelihood kinds[] = {HF_LIKELIHOOD_POISSON, HF_LIKELIHOOD_NEGATIVE_BINOMIAL,
                                      HF_LIKELIHOOD_GAMMA};

static void sites_with_a_rate_are_three(void **state)
{
    (void)state;
    for (int k = 0; k <= HF_LIKELIHOOD_GAMMA; k++)
        assert_int_equal(hf_likelihood_has_rate((hf_likelihood)k), k == HF_LIKELIHOOD_POISSON ||
                                                                       k == HF_LIKELIHOOD_NEGATIVE_BINOMIAL ||
                                                                       k == HF_LIKELIHOOD_GAMMA);
    assert_false(hf_likelihood_has_rate((hf_likelihood)99));
    for (int k = 0; k <= HF_LIKELIHOOD_GAMMA; k++)
        assert_int_equal(hf_likelihood_has_labels((hf_likelihood)k),
                         k == HF_LIKELIHOOD_PROBIT || k == HF_LIKELIHOOD_LOGIT || k == HF_LIKELIHOOD_SOFTMAX);
    assert_false(hf_likelihood_has_labels((hf_likelihood)99));
}

/* With a rate that is known: Poisson of mean 2; a geometric distribution; an exponential one. */
static void known_rates_have_closed_forms(void **state)
{
    (void)state;
    const double f = log(2.0);
    hf_reading_moments m;
    double p, q, score;
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_POISSON, NAN, f, 0.0, &m), HF_OK);
    assert_near(m.mean, 2.0, 1e-14);
    assert_near(m.sd_mean, 0.0, 0.0);
    assert_near(m.sd, sqrt(2.0), 1e-14);
    assert_int_equal(hf_likelihood_cumulative(HF_LIKELIHOOD_POISSON, 1.0, f, 0.0, 1.5, &p), HF_OK);
    assert_near(p, 3.0 * exp(-2.0), 1e-14);
    assert_int_equal(hf_likelihood_quantile(HF_LIKELIHOOD_POISSON, 1.0, f, 0.0, 0.5, &q), HF_OK);
    assert_near(q, 2.0, 0.0);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_POISSON, 1.0, f, 0.0, 3.0, &score), HF_OK);
    assert_near(score, log(8.0 / 6.0) - 2.0, 1e-13);
    /* dispersion 1: P(y) = (2/3)^y / 3 */
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_NEGATIVE_BINOMIAL, 1.0, f, 0.0, &m), HF_OK);
    assert_near(m.sd, sqrt(6.0), 1e-13);
    assert_int_equal(hf_likelihood_cumulative(HF_LIKELIHOOD_NEGATIVE_BINOMIAL, 1.0, f, 0.0, 4.0, &p), HF_OK);
    assert_near(p, 1.0 - pow(2.0 / 3.0, 5.0), 1e-13);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_NEGATIVE_BINOMIAL, 1.0, f, 0.0, 4.0, &score),
                     HF_OK);
    assert_near(score, 4.0 * log(2.0 / 3.0) - log(3.0), 1e-13);
    assert_int_equal(hf_likelihood_quantile(HF_LIKELIHOOD_GAMMA, 1.0, f, 0.0, 0.9, &q), HF_OK);
    assert_near(q, 2.0 * log(10.0), 1e-9);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_GAMMA, 1.0, f, 0.0, 3.0, &score), HF_OK);
    assert_near(score, -1.5 - f, 1e-13);
}

static double squared_miss(hf_likelihood kind, double dispersion, double mean, double var, double t, double y)
{
    double p = NAN;
    assert_int_equal(hf_likelihood_cumulative(kind, dispersion, mean, var, t, &p), HF_OK);
    const double off = p - (t >= y ? 1.0 : 0.0);
    return off * off;
}

/* All terms one by one; of amounts a rule of midpoints in the logarithm, of many, on either side of y. */
static double slow_crps(hf_likelihood kind, double dispersion, double mean, double var, double y)
{
    double low = NAN, high = NAN, total = 0.0;
    assert_int_equal(hf_likelihood_quantile(kind, dispersion, mean, var, 1e-10, &low), HF_OK);
    assert_int_equal(hf_likelihood_quantile(kind, dispersion, mean, var, 1.0 - 1e-10, &high), HF_OK);
    if (kind != HF_LIKELIHOOD_GAMMA) {
        for (double k = 0.0; k <= fmax(high, y); k += 1.0)
            total += squared_miss(kind, dispersion, mean, var, k, y);
        return total;
    }
    const double ends[] = {fmin(low, y), y, fmax(high, y)};
    for (size_t side = 0; side < 2; side++) {
        const double step = log(ends[side + 1] / ends[side]) / 1500.0;
        for (double k = 0.5; k < 1500.0; k += 1.0) {
            const double t = ends[side] * exp(k * step);
            total += t * step * squared_miss(kind, dispersion, mean, var, t, y);
        }
    }
    return total;
}

static void ranked_scores_agree_with_a_slow_sum(void **state)
{
    (void)state;
    const double means[] = {-1.0, 2.0, 4.5}, vars[] = {0.0, 0.1, 0.5}, places[] = {0.0, 0.5, 1.0, 4.0};
    for (size_t i = 0; i < 108; i++) {
        const hf_likelihood kind = kinds[i % 3];
        const double mean = means[i / 3 % 3], var = vars[i / 9 % 3], at = exp(mean) * places[i / 27],
                     y = kind == HF_LIKELIHOOD_GAMMA ? at + 0.1 : floor(at);
        double crps = NAN;
        assert_int_equal(hf_likelihood_crps(kind, 0.3, mean, var, y, &crps), HF_OK);
        const double slow = slow_crps(kind, 0.3, mean, var, y);
        assert_near(crps, slow, 1e-5 * (slow + 1e-6));
    }
    /* An exponential reading of mean 2. */
    double crps = NAN;
    assert_int_equal(hf_likelihood_crps(HF_LIKELIHOOD_GAMMA, 1.0, log(2.0), 0.0, 3.0, &crps), HF_OK);
    assert_near(crps, 3.0 - 4.0 * (1.0 - exp(-1.5)) + 1.0, 1e-6);
    assert_int_equal(hf_likelihood_crps(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, 0.5, &crps), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_crps(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, 1.0, NULL), HF_ERR_ARGUMENT);
}

/* Quantiles and probabilities go together, from rates that are nearly 0 to large ones that are hardly known. */
static void quantiles_invert_probabilities(void **state)
{
    (void)state;
    const double means[] = {-8.0, 0.0, 5.0, 9.0}, vars[] = {1e-8, 0.2, 6.0},
                 levels[] = {1e-4, 0.025, 0.5, 0.975, 0.9999};
    for (size_t i = 0; i < 180; i++) {
        const hf_likelihood kind = kinds[i % 3];
        const double mean = means[i / 3 % 4], var = vars[i / 12 % 3], level = levels[i / 36];
        double q = NAN, up_to = NAN, below = NAN;
        assert_int_equal(hf_likelihood_quantile(kind, 0.4, mean, var, level, &q), HF_OK);
        assert_int_equal(hf_likelihood_cumulative(kind, 0.4, mean, var, q, &up_to), HF_OK);
        if (kind == HF_LIKELIHOOD_GAMMA) {
            assert_near(up_to, level, 1e-8);
            continue;
        }
        assert_true(q >= 0.0 && floor(q) == q && up_to >= level);
        assert_int_equal(hf_likelihood_cumulative(kind, 0.4, mean, var, q - 1.0, &below), HF_OK);
        assert_true(below < level);
    }
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    double out = 7.0;
    hf_reading_moments m = {7.0, 7.0, 7.0};
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_PROBIT, 1.0, 0.0, 1.0, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_GAUSSIAN, 1.0, 0.0, 1.0, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_POISSON, 1.0, 0.0, -1.0, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_POISSON, 1.0, NAN, 1.0, &m), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_GAMMA, 0.0, 0.0, 1.0, &m), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_moments(HF_LIKELIHOOD_GAMMA, INFINITY, 0.0, 1.0, &m), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_likelihood_cumulative(HF_LIKELIHOOD_GAMMA, 1.0, 0.0, 1.0, NAN, &out),
                     HF_ERR_NOT_FINITE);
    assert_int_equal(hf_likelihood_cumulative(HF_LIKELIHOOD_GAMMA, 1.0, 0.0, 1.0, 1.0, NULL),
                     HF_ERR_ARGUMENT);
    for (int k = 0; k < 3; k++)
        assert_int_equal(
            hf_likelihood_quantile(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, (double[]){0.0, 1.0, NAN}[k], &out),
            HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_quantile(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, 0.5, NULL),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, 1.5, &out),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_POISSON, 1.0, 0.0, 1.0, -1.0, &out),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_GAMMA, 1.0, 0.0, 1.0, 0.0, &out), HF_ERR_ARGUMENT);
    assert_int_equal(hf_likelihood_log_score(HF_LIKELIHOOD_GAMMA, 1.0, 0.0, 1.0, 1.0, NULL), HF_ERR_ARGUMENT);
    assert_true(out == 7.0 && m.mean == 7.0 && m.sd == 7.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sites_with_a_rate_are_three),
        cmocka_unit_test(known_rates_have_closed_forms),
        cmocka_unit_test(ranked_scores_agree_with_a_slow_sum),
        cmocka_unit_test(quantiles_invert_probabilities),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
