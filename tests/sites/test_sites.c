/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    N = 6
};

static const double Y[N] = {0.5, -3.0, NAN, 12.0, 0.25, -0.75};
static const double EXTRA[N] = {0.0, 0.1, 0.2, 0.0, 2.0, 0.05};
static const double CENTRE[N] = {0.25, -1.0, NAN, 1.0, 0.25, 3.0};
static const double NOISE = 0.3, THRESHOLD = 1.75;

static int setup(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int teardown(void **state)
{
    hf_context_free(*state);
    return 0;
}

static hf_sites *robust(hf_context *ctx)
{
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_robust(ctx, N, Y, NOISE, EXTRA, CENTRE, THRESHOLD, &sites), HF_OK);
    return sites;
}

/* One robust site of y with unit noise. */
static void one_site(hf_context *ctx, double y, double centre, double threshold, double out[3])
{
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_robust(ctx, 1, &y, 1.0, NULL, &centre, threshold, &sites), HF_OK);
    out[0] = hf_sites_targets(sites)[0];
    out[1] = hf_sites_variances(sites)[0];
    out[2] = hf_sites_weights(sites)[0];
    hf_sites_free(sites);
}

static void assert_absent(const hf_sites *sites, size_t i)
{
    assert_false(hf_sites_is_present(sites, i));
    assert_true(isnan(hf_sites_targets(sites)[i]));
    assert_true(isinf(hf_sites_variances(sites)[i]) && hf_sites_variances(sites)[i] > 0.0);
    assert_true(hf_sites_weights(sites)[i] == 0.0);
}

static void centre_names_go_there_and_back(void **state)
{
    hf_context *ctx = *state;
    const hf_centre all[] = {HF_CENTRE_PRIOR, HF_CENTRE_LEAVE_ONE_OUT, HF_CENTRE_NEIGHBOURS};
    hf_centre centre = HF_CENTRE_PRIOR;
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(hf_enum_parse(ctx, HF_ENUM_CENTRE, hf_enum_name(HF_ENUM_CENTRE, all[i]), &centre),
                         HF_OK);
        assert_int_equal(centre, all[i]);
    }
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_CENTRE, "mode", &centre), HF_ERR_ARGUMENT);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(strstr(hf_context_message(ctx), hf_enum_name(HF_ENUM_CENTRE, all[i])));
    assert_int_equal(hf_enum_parse(ctx, HF_ENUM_CENTRE, NULL, &centre), HF_ERR_ARGUMENT);
    assert_string_equal(hf_enum_name(HF_ENUM_CENTRE, (unsigned)9), "unknown");
}

static void gaussian_sites_are_the_readings(void **state)
{
    hf_context *ctx = *state;
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, N, Y, NOISE, EXTRA, &sites), HF_OK);
    assert_int_equal(hf_sites_count(sites), N);
    assert_int_equal(hf_sites_present(sites), N - 1);
    assert_true(hf_sites_noise(sites) == NOISE);
    for (size_t i = 0; i < N; i++) {
        if (isnan(Y[i])) {
            assert_absent(sites, i);
            continue;
        }
        assert_true(hf_sites_is_present(sites, i));
        assert_true(hf_sites_targets(sites)[i] == Y[i]);
        assert_true(hf_sites_readings(sites)[i] == Y[i]);
        assert_true(hf_sites_variances(sites)[i] == NOISE + EXTRA[i]);
        assert_true(hf_sites_weights(sites)[i] == 1.0);
    }
    hf_sites_free(sites);
}

/* The sites from the weight function itself: w^2 = beta^2 / (1 + r^2/c^2), beta^2 = s/2, z = y - s d log w^2
 * / dy (by differences), d = s^2 / (2 w^2). */
static void robust_sites_follow_from_the_weight_function(void **state)
{
    hf_sites *sites = robust(*state);
    for (size_t i = 0; i < N; i++) {
        if (isnan(Y[i])) {
            assert_absent(sites, i);
            continue;
        }
        double s = NOISE + EXTRA[i], c2 = THRESHOLD * THRESHOLD, r = Y[i] - CENTRE[i], h = 1e-5;
        double w2 = 0.5 * s / (1.0 + r * r / c2);
        double up = log(0.5 * s / (1.0 + (r + h) * (r + h) / c2)),
               down = log(0.5 * s / (1.0 + (r - h) * (r - h) / c2));
        assert_near(hf_sites_targets(sites)[i], Y[i] - s * (up - down) / (2.0 * h), 1e-8);
        assert_near(hf_sites_targets(sites)[i], Y[i] + s * 2.0 * r / (c2 + r * r), 1e-13);
        assert_near(hf_sites_variances(sites)[i], s * s / (2.0 * w2), 1e-12 * s * s / w2);
        assert_near(hf_sites_weights(sites)[i], 2.0 * w2 / s, 1e-15);
    }
    hf_sites_free(sites);
}

static void infinite_threshold_is_exactly_gaussian(void **state)
{
    hf_context *ctx = *state;
    hf_sites *plain = NULL, *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, N, Y, NOISE, EXTRA, &plain), HF_OK);
    assert_int_equal(hf_sites_robust(ctx, N, Y, NOISE, EXTRA, CENTRE, INFINITY, &sites), HF_OK);
    for (size_t i = 0; i < N; i++) {
        if (isnan(Y[i])) continue;
        assert_true(hf_sites_targets(sites)[i] == hf_sites_targets(plain)[i]);
        assert_true(hf_sites_variances(sites)[i] == hf_sites_variances(plain)[i]);
        assert_true(hf_sites_weights(sites)[i] == 1.0);
    }
    assert_int_equal(hf_sites_recentre(ctx, sites, CENTRE, 1e8), HF_OK);
    for (size_t i = 0; i < N; i++) {
        if (isnan(Y[i])) continue;
        assert_near(hf_sites_targets(sites)[i], hf_sites_targets(plain)[i], 1e-14);
        assert_near(hf_sites_variances(sites)[i], hf_sites_variances(plain)[i], 1e-13);
    }
    hf_sites_free(sites);
    hf_sites_free(plain);
}

/* A reading's pull on a prediction is z / d (and z^2 / d in the evidence): the first vanishes, the second
 * stays bounded, and nothing is infinite, however far the reading is out. */
static void influence_vanishes_as_a_reading_goes_to_infinity(void **state)
{
    double last = INFINITY, site[3];
    for (double y = 10.0; y <= 1e300; y *= 10.0) {
        for (int sign = -1; sign <= 1; sign += 2) {
            one_site(*state, sign * y, 0.0, 2.0, site);
            assert_true(isfinite(site[0]) && isfinite(site[1]) && site[2] > 0.0);
            assert_near(site[0] / site[1] * sign * y, 4.0, 4.0 * 0.02 + (y > 1e100 ? INFINITY : 0.0));
            assert_true(site[0] * (site[0] / site[1]) <= 4.1);
        }
        assert_true(fabs(site[0] / site[1]) <= last);
        last = fabs(site[0] / site[1]);
    }
    assert_true(last <= 1e-99);
    one_site(*state, DBL_MAX, -DBL_MAX, 1.0, site); /* the residual itself overflows */
    assert_true(isfinite(site[0]) && isfinite(site[1]) && site[2] > 0.0);
}

static void extreme_thresholds_stay_finite(void **state)
{
    const double thresholds[] = {DBL_MIN, 1e-160, 1e160, 1e300, DBL_MAX};
    const double residuals[] = {0.0, 1e-300, 1e-150, 1.0, 1e150, 1e300};
    for (size_t a = 0; a < 5; a++) {
        for (size_t b = 0; b < 6; b++) {
            double site[3];
            one_site(*state, residuals[b], 0.0, thresholds[a], site);
            assert_true(isfinite(site[0]) && isfinite(site[1]) && site[1] >= 1.0);
            assert_true(site[2] > 0.0 && site[2] <= 1.0);
        }
    }
}

static void shift_and_scale_carry_over(void **state)
{
    hf_context *ctx = *state;
    const double scale = -4.0, shift = 1000.0;
    double y[N], centre[N], extra[N];
    for (size_t i = 0; i < N; i++) {
        y[i] = scale * Y[i] + shift;
        centre[i] = scale * CENTRE[i] + shift;
        extra[i] = scale * scale * EXTRA[i];
    }
    hf_sites *sites = robust(ctx), *moved = NULL;
    assert_int_equal(
        hf_sites_robust(ctx, N, y, scale * scale * NOISE, extra, centre, fabs(scale) * THRESHOLD, &moved),
        HF_OK);
    for (size_t i = 0; i < N; i++) {
        assert_near(hf_sites_weights(moved)[i], hf_sites_weights(sites)[i], 1e-14);
        if (isnan(Y[i])) continue;
        assert_near(hf_sites_targets(moved)[i], scale * hf_sites_targets(sites)[i] + shift, 1e-11);
        assert_near(hf_sites_variances(moved)[i], scale * scale * hf_sites_variances(sites)[i], 1e-10);
    }
    hf_sites_free(moved);
    hf_sites_free(sites);
}

static void setting_the_noise_equals_making_anew(void **state)
{
    hf_context *ctx = *state;
    hf_sites *changed = robust(ctx), *fresh = NULL;
    assert_int_equal(hf_sites_set_noise(ctx, changed, 2.5), HF_OK);
    assert_int_equal(hf_sites_robust(ctx, N, Y, 2.5, EXTRA, CENTRE, THRESHOLD, &fresh), HF_OK);
    hf_sites *start = robust(ctx);
    for (size_t i = 0; i < N; i++) {
        if (isnan(Y[i])) {
            assert_absent(changed, i);
            continue;
        }
        assert_true(hf_sites_targets(changed)[i] == hf_sites_targets(fresh)[i]);
        assert_true(hf_sites_variances(changed)[i] == hf_sites_variances(fresh)[i]);
        /* z and d are linear in the noise, with the slopes that training uses. */
        assert_near(hf_sites_targets(changed)[i] - hf_sites_targets(start)[i],
                    (2.5 - NOISE) * start->shift[i], 1e-13);
        assert_near(hf_sites_variances(changed)[i] - hf_sites_variances(start)[i],
                    (2.5 - NOISE) / start->weight[i], 1e-12);
    }
    hf_sites_free(start);
    hf_sites_free(fresh);
    hf_sites_free(changed);
}

static void readings_go_out_and_come_back(void **state)
{
    hf_context *ctx = *state;
    hf_sites *sites = robust(ctx);
    assert_int_equal(hf_sites_set_present(ctx, sites, 3, false), HF_OK);
    assert_absent(sites, 3);
    assert_int_equal(hf_sites_present(sites), N - 2);
    /* A change meanwhile leaves it absent, and does not ask for its centre. */
    double centre[N];
    memcpy(centre, CENTRE, sizeof centre);
    centre[3] = NAN;
    assert_int_equal(hf_sites_recentre(ctx, sites, centre, 5.0), HF_OK);
    assert_int_equal(hf_sites_set_noise(ctx, sites, 0.7), HF_OK);
    assert_absent(sites, 3);
    assert_int_equal(hf_sites_set_present(ctx, sites, 3, true), HF_OK);
    assert_true(hf_sites_weights(sites)[3] == 1.0);
    assert_true(hf_sites_targets(sites)[3] == Y[3]);
    assert_true(hf_sites_variances(sites)[3] == 0.7 + EXTRA[3]);
    /* A present reading keeps its weight when it is said to be present. */
    double weight = hf_sites_weights(sites)[1];
    assert_true(weight < 1.0);
    assert_int_equal(hf_sites_set_present(ctx, sites, 1, true), HF_OK);
    assert_true(hf_sites_weights(sites)[1] == weight);
    assert_int_equal(hf_sites_set_present(ctx, sites, 2, true), HF_ERR_ARGUMENT); /* missing */
    assert_int_equal(hf_sites_set_present(ctx, sites, 2, false), HF_OK);
    assert_int_equal(hf_sites_set_present(ctx, sites, N, false), HF_ERR_ARGUMENT);
    hf_sites_free(sites);
}

static void a_copy_is_equal_and_independent(void **state)
{
    hf_context *ctx = *state;
    hf_sites *sites = robust(ctx), *copy = NULL, *again = robust(ctx);
    assert_int_equal(hf_sites_copy(ctx, sites, &copy), HF_OK);
    assert_int_equal(hf_sites_set_noise(ctx, sites, 9.0), HF_OK);
    assert_true(copy->threshold == THRESHOLD);
    assert_true(hf_sites_noise(copy) == NOISE);
    for (size_t i = 0; i < N; i++) {
        if (isnan(Y[i])) continue;
        assert_true(hf_sites_targets(copy)[i] == hf_sites_targets(again)[i]);
        assert_true(hf_sites_variances(copy)[i] == hf_sites_variances(again)[i]);
    }
    hf_sites_free(again);
    hf_sites_free(copy);
    hf_sites_free(sites);
}

static void none_and_all_missing_are_fine(void **state)
{
    hf_context *ctx = *state;
    const double missing[2] = {NAN, NAN};
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, 0, NULL, 1.0, NULL, &sites), HF_OK);
    assert_int_equal(hf_sites_count(sites), 0);
    hf_sites_free(sites);
    /* The known variance of a missing reading is not looked at. */
    assert_int_equal(hf_sites_robust(ctx, 2, missing, 0.0, missing, missing, 1.0, &sites), HF_OK);
    assert_int_equal(hf_sites_present(sites), 0);
    hf_sites_free(sites);
    hf_sites_free(NULL);
    assert_int_equal(hf_sites_count(NULL), 0);
    assert_false(hf_sites_is_present(NULL, 0));
}

static void errors_say_what_is_wrong(void **state)
{
    hf_context *ctx = *state;
    const double y[2] = {1.0, INFINITY}, good[2] = {1.0, 2.0}, negative[2] = {0.1, -0.1},
                 some[2] = {0.1, 0.0};
    const double nan_centre[2] = {0.0, NAN};
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(ctx, 2, y, 1.0, NULL, &sites), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "reading 1"));
    assert_int_equal(hf_sites_gaussian(ctx, 2, good, -1.0, NULL, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_gaussian(ctx, 2, good, NAN, NULL, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_gaussian(ctx, 2, good, INFINITY, NULL, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_gaussian(ctx, 2, good, 0.0, NULL, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_gaussian(ctx, 2, good, 0.0, some, &sites), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(ctx), "reading 1"));
    assert_int_equal(hf_sites_gaussian(ctx, 2, good, 1.0, negative, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_gaussian(ctx, 2, NULL, 1.0, NULL, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_gaussian(ctx, 2, good, 1.0, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_gaussian(ctx, SIZE_MAX / 8, good, 1.0, NULL, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_robust(ctx, 2, good, 1.0, NULL, nan_centre, 1.0, &sites), HF_ERR_NOT_FINITE);
    assert_non_null(strstr(hf_context_message(ctx), "reading 1"));
    assert_int_equal(hf_sites_robust(ctx, 2, good, 1.0, NULL, good, 0.0, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_robust(ctx, 2, good, 1.0, NULL, good, NAN, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_robust(ctx, 2, good, 1.0, NULL, NULL, 1.0, &sites), HF_ERR_ARGUMENT);
    assert_null(sites);
    assert_int_equal(hf_sites_copy(ctx, NULL, &sites), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_set_noise(ctx, NULL, 1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_set_present(ctx, NULL, 0, true), HF_ERR_ARGUMENT);
}

static void a_refused_change_changes_nothing(void **state)
{
    hf_context *ctx = *state;
    hf_sites *sites = robust(ctx), *before = robust(ctx);
    double centre[N] = {0.0};
    centre[N - 1] = NAN;
    assert_int_equal(hf_sites_set_noise(ctx, sites, -1.0), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_set_noise(ctx, sites, 0.0), HF_ERR_ARGUMENT); /* reading 0 has no other noise */
    assert_int_equal(hf_sites_recentre(ctx, sites, centre, 1.0), HF_ERR_NOT_FINITE);
    assert_int_equal(hf_sites_recentre(ctx, sites, CENTRE, -1.0), HF_ERR_ARGUMENT);
    assert_true(sites->threshold == THRESHOLD && sites->noise == NOISE);
    for (size_t i = 0; i < N; i++) {
        if (isnan(Y[i])) continue;
        assert_true(hf_sites_targets(sites)[i] == hf_sites_targets(before)[i]);
        assert_true(hf_sites_variances(sites)[i] == hf_sites_variances(before)[i]);
    }
    hf_sites_free(before);
    hf_sites_free(sites);
}

static hf_status every_allocation(hf_context *ctx)
{
    hf_sites *sites = NULL, *copy = NULL;
    hf_status status = hf_sites_robust(ctx, N, Y, NOISE, EXTRA, CENTRE, THRESHOLD, &sites);
    if (status >= 0) status = hf_sites_copy(ctx, sites, &copy);
    hf_sites_free(copy);
    hf_sites_free(sites);
    return status;
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(every_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(centre_names_go_there_and_back),
        cmocka_unit_test(gaussian_sites_are_the_readings),
        cmocka_unit_test(robust_sites_follow_from_the_weight_function),
        cmocka_unit_test(infinite_threshold_is_exactly_gaussian),
        cmocka_unit_test(influence_vanishes_as_a_reading_goes_to_infinity),
        cmocka_unit_test(extreme_thresholds_stay_finite),
        cmocka_unit_test(shift_and_scale_carry_over),
        cmocka_unit_test(setting_the_noise_equals_making_anew),
        cmocka_unit_test(readings_go_out_and_come_back),
        cmocka_unit_test(a_copy_is_equal_and_independent),
        cmocka_unit_test(none_and_all_missing_are_fine),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(a_refused_change_changes_nothing),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
