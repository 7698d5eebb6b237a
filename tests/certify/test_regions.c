/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: no point of a ball, a lattice, of few inputs that move or of sets is outside of its range; ends
 * are attained inside; ranges are as tight as asked. */
#include "bound/box_testing.h"

#include "core/assert_near.h"
#include <holdfast/certify_claims.h>

enum {
    SAMPLES = 400
};

/* One region about the middle of a box. */
typedef struct area {
    cert c;
    hf_region region;
    double x[INPUTS], half[INPUTS], least[INPUTS], most[INPUTS], step[INPUTS];
    bool sets[2 * INPUTS];
    hfi_stream stream;
} area;

static void begin(area *a, hf_context *ctx, const char *expression, double half, uint64_t index)
{
    a->c = cert_make(ctx, expression, 30, index, CERT_EXACT, false);
    hfi_stream_init(&a->stream, 61, HFI_PURPOSE_TEST, index);
    cert_place(&a->c, expression, half, &a->stream);
    a->region = hf_region_default();
    for (size_t j = 0; j < INPUTS; j++) {
        a->x[j] = 0.5 * (a->c.lower[j] + a->c.upper[j]);
        a->half[j] = a->c.upper[j] - a->x[j];
        a->least[j] = a->x[j] - (j == 0 ? 0.3 : 2.0) * a->half[j];
        a->most[j] = a->x[j] + (j == 1 ? 0.2 : 2.0) * a->half[j];
        a->step[j] = j == 2 ? 0.4 * a->half[j] : 0.0;
    }
    /* Inputs 1 and 2, or 3 alone. */
    const bool sets[2 * INPUTS] = {true, true, false, false, false, true};
    memcpy(a->sets, sets, sizeof sets);
    a->region.centre = a->x;
}

/* By how much a point is outside of the region, in half-widths. */
static double outside(const area *a, const double *x)
{
    const hf_region *r = &a->region;
    double out = 0.0, sum = 0.0, moved = 0.0;
    bool fits = r->set_count == 0;
    for (size_t j = 0; j < INPUTS; j++) {
        const double u = (x[j] - a->x[j]) / a->half[j];
        out = fmax(out, fabs(u) - 1.0);
        moved += x[j] != a->x[j];
        sum += r->shape == HF_SHAPE_L2 ? u * u : fabs(u);
        if (r->least) out = fmax(out, fmax(r->least[j] - x[j], x[j] - r->most[j]) / a->half[j]);
        if (r->step && r->step[j] > 0.0)
            out = fmax(out, fabs(remainder(x[j] - a->x[j], r->step[j])) / a->half[j]);
    }
    if (r->shape != HF_SHAPE_BOX) out = fmax(out, sqrt(sum) - 1.0);
    if (r->moves > 0 && moved > (double)r->moves) return INFINITY;
    for (size_t s = 0; s < r->set_count; s++) {
        bool all = true;
        for (size_t j = 0; j < INPUTS; j++) all = all && (r->sets[s * INPUTS + j] || x[j] == a->x[j]);
        fits = fits || all;
    }
    return fits ? out : INFINITY;
}

/* A point of the region, often at its border. */
static void draw(area *a, double *x)
{
    const hf_region *r = &a->region;
    double u[INPUTS], sum = 0.0;
    const size_t set = r->set_count > 0 ? (size_t)(2.0 * hfi_stream_uniform(&a->stream)) % r->set_count : 0;
    const size_t first = (size_t)(3.0 * hfi_stream_uniform(&a->stream)) % INPUTS;
    for (size_t j = 0; j < INPUTS; j++) {
        u[j] = fmin(fmax(2.6 * hfi_stream_uniform(&a->stream) - 1.3, -1.0), 1.0);
        if (r->set_count > 0 && !r->sets[set * INPUTS + j]) u[j] = 0.0;
        if (r->moves > 0 && (j + INPUTS - first) % INPUTS >= r->moves) u[j] = 0.0;
        sum += r->shape == HF_SHAPE_L2 ? u[j] * u[j] : fabs(u[j]);
    }
    const double size = r->shape == HF_SHAPE_L2 ? sqrt(sum) : r->shape == HF_SHAPE_L1 ? sum : 0.0;
    for (size_t j = 0; j < INPUTS; j++) {
        if (size > 1.0) u[j] /= size * (1.0 + 1e-14);
        if (r->step && r->step[j] > 0.0)
            u[j] = trunc(u[j] * a->half[j] / r->step[j]) * (r->step[j] / a->half[j]);
        x[j] = a->x[j] + u[j] * a->half[j];
        if (r->least) x[j] = fmin(fmax(x[j], r->least[j]), r->most[j]);
    }
}

static hf_certify_settings settings_of(const area *a)
{
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 0.1;
    settings.node_limit = 4000;
    settings.region = &a->region;
    return settings;
}

static hf_range check(area *a, hf_certify_what what, double tolerance)
{
    hf_certify_settings settings = settings_of(a);
    settings.tolerance = tolerance;
    double at[2][INPUTS], x[INPUTS];
    hf_range r;
    if (hf_certify(a->c.ctx, a->c.posterior, what, &settings, a->c.lower, a->c.upper, &r, at[0], at[1]) < 0)
        fail_msg("%s", hf_context_message(a->c.ctx));
    for (int k = 0; k < 2; k++) {
        const double value = cert_value(&a->c, what, 1.0, at[k], NULL);
        if (outside(a, at[k]) > 1e-9) fail_msg("attained %g outside of the region", outside(a, at[k]));
        assert_near(value, k == 0 ? r.lower_attained : r.upper_attained, 1e-7 * (1.0 + fabs(value)));
    }
    if (r.stop == HF_CERTIFY_TOLERANCE) {
        assert_true(r.lower_attained - r.lower <= tolerance * (1.0 + 1e-9));
        assert_true(r.upper - r.upper_attained <= tolerance * (1.0 + 1e-9));
    }
    for (size_t k = 0; k < SAMPLES; k++) {
        draw(a, x);
        assert_true(outside(a, x) <= 1e-9);
        const double value = cert_value(&a->c, what, 1.0, x, NULL), slack = 1e-9 * (1.0 + fabs(value));
        if (value < r.lower - slack || value > r.upper + slack)
            fail_msg("%.15g is outside of [%.15g, %.15g]", value, r.lower, r.upper);
    }
    return r;
}

/* Shapes, limits, steps, few inputs and sets, one by one and together. */
static void nothing_is_outside(void **state)
{
    const char *const kernels[] = {"se(ard)", "matern52(ard)"};
    size_t done = 0;
    for (size_t e = 0; e < 2; e++)
        for (int s = 0; s <= (int)HF_SHAPE_L1; s++)
            for (int more = 0; more < 16; more++) {
                area a;
                if ((more & 4) && (more & 8)) continue;
                begin(&a, *state, kernels[e], e == 0 ? 0.4 : 0.15, (uint64_t)(more + 16 * s));
                a.region.shape = (hf_shape)s;
                if (more & 1) a.region.least = a.least, a.region.most = a.most;
                if (more & 2) a.region.step = a.step;
                if (more & 4) a.region.moves = 1 + (size_t)s % 2;
                if (more & 8) a.region.sets = a.sets, a.region.set_count = 2;
                done += check(&a, HF_CERTIFY_MEAN, 0.1).stop == HF_CERTIFY_TOLERANCE;
                if (more % 5 == 0) (void)check(&a, HF_CERTIFY_SD, 0.3);
                cert_drop(&a.c);
            }
    assert_true(done > 60);
}

/* L1 within L2 within the box, and so are their ranges, up to the tolerance. */
static void shapes_are_nested(void **state)
{
    area a;
    hf_range r[3];
    begin(&a, *state, "se(ard)", 0.5, 3);
    for (int s = 0; s <= (int)HF_SHAPE_L1; s++) {
        a.region.shape = (hf_shape)s;
        r[s] = check(&a, HF_CERTIFY_MEAN, 2e-2);
        assert_int_equal(r[s].stop, HF_CERTIFY_TOLERANCE);
    }
    for (int s = 1; s < 3; s++) {
        assert_true(r[s].lower_attained >= r[s - 1].lower && r[s].upper_attained <= r[s - 1].upper);
        assert_true(r[s].upper - r[s].lower < 0.98 * (r[s - 1].upper - r[s - 1].lower));
    }
    assert_string_equal(hf_enum_name(HF_ENUM_SHAPE, HF_SHAPE_L2), "l2");
    assert_string_equal(hf_enum_name(HF_ENUM_SHAPE, (unsigned)9), "unknown");
    cert_drop(&a.c);
}

/* One input at a time: the union of ranges along each, which are boxes. */
static void few_inputs_are_unions_of_boxes(void **state)
{
    area a;
    begin(&a, *state, "matern52(ard)", 0.3, 5);
    a.region.moves = 1;
    const hf_range r = check(&a, HF_CERTIFY_MEAN, 1e-3);
    double low = INFINITY, high = -INFINITY;
    for (size_t j = 0; j < INPUTS; j++) {
        double lower[INPUTS], upper[INPUTS];
        hf_certify_settings settings = hf_certify_settings_default();
        hf_range own;
        settings.tolerance = 1e-3;
        memcpy(lower, a.x, sizeof lower);
        memcpy(upper, a.x, sizeof upper);
        lower[j] = a.c.lower[j];
        upper[j] = a.c.upper[j];
        assert_int_equal(
            hf_certify(*state, a.c.posterior, HF_CERTIFY_MEAN, &settings, lower, upper, &own, NULL, NULL),
            HF_OK);
        low = fmin(low, own.lower);
        high = fmax(high, own.upper);
    }
    assert_near(r.lower, low, 1e-9 * (1.0 + fabs(low)));
    assert_near(r.upper, high, 1e-9 * (1.0 + fabs(high)));
    cert_drop(&a.c);
}

/* Radii of balls: larger than that of the box, kept inside, and the counterexample is as far as is said. */
static void radii_are_those_of_balls(void **state)
{
    double certified[3];
    for (int s = 0; s <= (int)HF_SHAPE_L1; s++) {
        area a;
        hf_claim_reach r;
        double at[INPUTS], x[INPUTS];
        begin(&a, *state, "se(ard)", 0.3, 7);
        a.region.shape = (hf_shape)s;
        hf_certify_settings settings = settings_of(&a);
        settings.tolerance = 0.01;
        hf_claim claim = hf_claim_default();
        claim.posterior = a.c.posterior;
        claim.delta = 0.5;
        assert_true(hf_certify_claim_radius(*state, &claim, &settings, a.x, a.half, 5.0, 0.05, &r, at) >= 0);
        assert_true(r.certified > 0.0 && r.certified < r.broken && isfinite(r.broken));
        for (size_t j = 0; j < INPUTS; j++) a.half[j] *= r.broken * (1.0 + 1e-9);
        assert_true(outside(&a, at) <= 1e-9);
        for (size_t j = 0; j < INPUTS; j++) a.half[j] *= r.certified / r.broken;
        for (size_t k = 0; k < SAMPLES; k++) {
            draw(&a, x);
            assert_true(fabs(cert_value(&a.c, HF_CERTIFY_MEAN, 1.0, x, NULL) - r.value) <= 0.5 + 1e-6);
        }
        certified[s] = r.certified;
        cert_drop(&a.c);
    }
    assert_true(certified[1] > certified[0] && certified[2] > certified[1]);
}

static void wrong_regions_are_refused(void **state)
{
    area a;
    hf_range r = {.nodes = 77};
    begin(&a, *state, "se(ard)", 0.3, 9);
    const double bad[INPUTS] = {1.0, -1.0, NAN};
    hf_region wrong[8];
    for (size_t k = 0; k < 8; k++) wrong[k] = a.region;
    wrong[0].shape = (hf_shape)3;
    wrong[1].least = a.least;
    wrong[2].least = a.most, wrong[2].most = a.least;
    wrong[3].step = bad;
    wrong[4].moves = 1, wrong[4].sets = a.sets, wrong[4].set_count = 2;
    wrong[5].set_count = 2;
    wrong[6].centre = a.most;                        /* outside of the box */
    wrong[7].least = a.most, wrong[7].most = a.most; /* the centre is not physical */
    for (size_t k = 0; k < 8; k++) {
        hf_certify_settings settings = settings_of(&a);
        settings.region = &wrong[k];
        assert_int_equal(hf_certify(*state, a.c.posterior, HF_CERTIFY_MEAN, &settings, a.c.lower, a.c.upper,
                                    &r, NULL, NULL),
                         HF_ERR_ARGUMENT);
    }
    hf_certify_settings settings = settings_of(&a);
    settings.rigorous = true;
    a.region.shape = HF_SHAPE_L2;
    assert_int_equal(
        hf_certify(*state, a.c.posterior, HF_CERTIFY_MEAN, &settings, a.c.lower, a.c.upper, &r, NULL, NULL),
        HF_ERR_ARGUMENT);
    settings.rigorous = false;
    double scores[2][INPUTS];
    assert_int_equal(
        hf_explain(*state, a.c.posterior, HF_CERTIFY_MEAN, &settings, 1, a.x, a.half, scores[0], scores[1]),
        HF_ERR_ARGUMENT);
    assert_int_equal(r.nodes, 77);
    cert_drop(&a.c);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_outside),       TEST(shapes_are_nested),         TEST(few_inputs_are_unions_of_boxes),
        TEST(radii_are_those_of_balls), TEST(wrong_regions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
