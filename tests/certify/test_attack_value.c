/* SPDX-License-Identifier: Apache-2.0 */
/* Attacks on values: inside their boxes and regions, never beyond what is certified, and near to it in small
 * problems. */
#include "bound/box_testing.h"

#include "core/assert_near.h"
#include <holdfast/certify_uses.h>

typedef struct target {
    cert c;
    hf_certify_settings value;
    hf_attack_settings how;
    double x[INPUTS];
} target;

static target begin(hf_context *ctx, const char *kernel, double half, uint64_t index)
{
    target t = {.c = cert_make(ctx, kernel, 30, index, CERT_EXACT, index % 2 == 1),
                .value = hf_certify_settings_default(),
                .how = hf_attack_settings_default()};
    hfi_stream stream;
    hfi_stream_init(&stream, 91, HFI_PURPOSE_TEST, index);
    t.c.posterior->calibration = 1.2;
    cert_place(&t.c, kernel, half, &stream);
    for (size_t j = 0; j < INPUTS; j++)
        t.x[j] = t.c.lower[j] + (0.3 + 0.4 * hfi_stream_uniform(&stream)) * (t.c.upper[j] - t.c.lower[j]);
    t.value.tolerance = 0.05;
    t.value.node_limit = 4000;
    return t;
}

static double value_of(const target *t, const double *x)
{
    double mean, var, observed;
    assert_int_equal(hf_predict(t->c.ctx, t->c.posterior, 1, x, INPUTS, &mean, &var, &observed), HF_OK);
    const double sd = sqrt(t->value.observed ? observed : var);
    return t->how.what == HF_CERTIFY_MEAN ? mean
           : t->how.what == HF_CERTIFY_SD ? sd
                                          : mean + t->value.beta * sd;
}

static double attack(target *t, double *at)
{
    double value;
    t->how.value = &t->value;
    if (hf_attack_value(t->c.ctx, t->c.posterior, &t->how, 1, t->x, t->c.lower, t->c.upper, at, &value) < 0)
        fail_msg("%s", hf_context_message(t->c.ctx));
    assert_near(value, value_of(t, at), 1e-8 * (1.0 + fabs(value)));
    for (size_t j = 0; j < INPUTS; j++) assert_true(at[j] >= t->c.lower[j] && at[j] <= t->c.upper[j]);
    return value;
}

static void between_the_point_and_what_is_certified(void **state)
{
    static const char *const kernels[] = {"se(ard)", "matern52(ard)", "se*periodic"};
    size_t near = 0, all = 0;
    for (size_t e = 0; e < 9; e++) {
        target t = begin(*state, kernels[e % 3], e < 5 ? 0.15 : 0.5, e);
        t.how.what = (hf_certify_what)(e / 3);
        t.value.observed = e % 2 == 0;
        t.value.beta = e == 7 ? -1.5 : 1.5;
        hf_range r;
        assert_true(hf_certify(t.c.ctx, t.c.posterior, t.how.what, &t.value, t.c.lower, t.c.upper, &r, NULL,
                               NULL) >= 0);
        const double here = value_of(&t, t.x), slack = 1e-9 * (1.0 + fabs(here));
        double at[INPUTS], got[3];
        for (int goal = 0; goal <= HF_ATTACK_SMALLEST; goal++) {
            t.how.goal = (hf_attack_goal)goal;
            got[goal] = attack(&t, at);
            assert_true(got[goal] >= r.lower - slack && got[goal] <= r.upper + slack);
        }
        const double spread = r.upper_attained - r.lower_attained + t.value.tolerance;
        assert_true(got[HF_ATTACK_LARGEST] >= here - slack && got[HF_ATTACK_SMALLEST] <= here + slack);
        near += got[HF_ATTACK_LARGEST] >= r.upper_attained - 0.05 * spread;
        near += got[HF_ATTACK_SMALLEST] <= r.lower_attained + 0.05 * spread;
        all += 2;
        const double up = got[HF_ATTACK_LARGEST] - here, down = here - got[HF_ATTACK_SMALLEST];
        assert_near(fabs(got[HF_ATTACK_FARTHEST] - here), fmax(up, down), slack);
        cert_drop(&t.c);
    }
    assert_true(near + 3 >= all);
}

/* One step is taken as it comes; more starts find no less; the same seed the same point. */
static void kinds_and_starts(void **state)
{
    target t = begin(*state, "se(ard)", 1.2, 2);
    double at[INPUTS], again[INPUTS];
    t.how.goal = HF_ATTACK_LARGEST;
    t.how.starts = 1;
    const double one = attack(&t, at);
    t.how.starts = 12;
    const double many = attack(&t, at);
    assert_true(many >= one && attack(&t, again) == many);
    assert_memory_equal(at, again, sizeof at);
    t.how.kind = HF_ATTACK_FGSM;
    const double step = attack(&t, at);
    for (size_t j = 0; j < INPUTS; j++) assert_true(at[j] == t.c.lower[j] || at[j] == t.c.upper[j]);
    assert_true(step <= many + 1e-9 * fabs(many));
    cert_drop(&t.c);
}

/* In balls, within limits, by steps: inside, and near to the certified range of the region. */
static void regions_are_kept(void **state)
{
    for (int s = 0; s <= (int)HF_SHAPE_L1; s++)
        for (int steps = 0; steps < 2; steps++) {
            target t = begin(*state, "se(ard)", 0.3, 4);
            hf_region region = hf_region_default();
            double half[INPUTS], least[INPUTS], most[INPUTS], step[INPUTS] = {0.0, 0.0, 0.0}, at[INPUTS];
            for (size_t j = 0; j < INPUTS; j++) {
                half[j] = fmax(t.c.upper[j] - t.x[j], t.x[j] - t.c.lower[j]);
                least[j] = t.x[j] - 0.5 * half[j];
                most[j] = t.x[j] + 9.0 * half[j];
            }
            if (steps) step[0] = 0.23 * half[0];
            region.shape = (hf_shape)s;
            region.least = least, region.most = most, region.step = step;
            region.centre = t.x;
            t.value.region = &region;
            t.how.goal = HF_ATTACK_LARGEST;
            hf_range r;
            assert_true(hf_certify(t.c.ctx, t.c.posterior, HF_CERTIFY_MEAN, &t.value, t.c.lower, t.c.upper,
                                   &r, NULL, NULL) >= 0);
            const double got = attack(&t, at), here = value_of(&t, t.x);
            double sum = 0.0;
            for (size_t j = 0; j < INPUTS; j++) {
                const double u = fabs(at[j] - t.x[j]) / half[j];
                sum += s == (int)HF_SHAPE_L2 ? u * u : s == (int)HF_SHAPE_L1 ? u : 0.0;
                assert_true(at[j] >= least[j]);
                if (step[j] > 0.0) assert_near(remainder(at[j] - t.x[j], step[j]) / half[j], 0.0, 1e-8);
            }
            assert_true(sum <= 1.0 + 1e-9);
            assert_true(got <= r.upper + 1e-9 * (1.0 + fabs(got)));
            /* Steps along slopes may stop before the best point of a lattice. */
            assert_true(got >= here && got >= here + (steps ? 0.5 : 0.9) * (r.upper_attained - here) - 0.05);
            cert_drop(&t.c);
        }
}

static void one_output_of_two(void **state)
{
    target t = begin(*state, "coregion(x3, outputs=2)*se(x1, x2)", 0.4, 6);
    const double shifts[2] = {1.0, -4.0}, scales[2] = {2.0, 0.5}, x[4] = {0.1, 0.2, -0.3, 0.4};
    double lower[4], upper[4], at[4], value[2], mean;
    assert_int_equal(hfi_scaling_set_outputs(t.c.ctx, &t.c.posterior->scaling, 2, shifts, scales), HF_OK);
    for (size_t j = 0; j < 4; j++) lower[j] = x[j] - 0.2, upper[j] = x[j] + 0.2;
    t.value.output = 1;
    t.how.value = &t.value;
    assert_int_equal(hf_attack_value(t.c.ctx, t.c.posterior, &t.how, 2, x, lower, upper, at, value), HF_OK);
    for (size_t k = 0; k < 2; k++) {
        const double row[INPUTS] = {at[2 * k], at[2 * k + 1], 1.0};
        assert_int_equal(hf_predict(t.c.ctx, t.c.posterior, 1, row, INPUTS, &mean, NULL, NULL), HF_OK);
        assert_near(mean, value[k], 1e-9);
        assert_true(fabs(at[2 * k] - x[2 * k]) <= 0.2 + 1e-15);
    }
    cert_drop(&t.c);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(between_the_point_and_what_is_certified),
        TEST(kinds_and_starts),
        TEST(regions_are_kept),
        TEST(one_output_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
