/* SPDX-License-Identifier: Apache-2.0 */
/* Enclosures over boxes: what the double code computes anywhere in the box is in them, and they are no wider
 * than they must be. */
#include "kernel/kernel_testing.h"

#include "kernel/enclosure.h"

#include <float.h>

#define BOXES  24u
#define INSIDE 12u
#define SIZE   (1u + INPUTS + INPUTS * (INPUTS + 1u) / 2u)

typedef struct trial {
    const char *expression;
    hf_kernel *kernel;
    hfi_interval box[INPUTS];
    double z[INPUTS];
    hfi_interval *scratch;
    double *double_scratch;
} trial;

static trial make_trial(hf_context *ctx, const char *expression, uint64_t index)
{
    trial t = {.expression = expression, .kernel = parse(ctx, expression, INPUTS)};
    shake(t.kernel, index);
    t.scratch = malloc(hfi_kernel_jet_scratch(t.kernel, 2) * sizeof *t.scratch);
    t.double_scratch = make_zeros(hfi_kernel_scratch(t.kernel));
    assert_non_null(t.scratch);
    assert_int_equal(hfi_kernel_jet_size(t.kernel, 2), SIZE);
    return t;
}

static void drop_trial(trial *t)
{
    free(t->scratch);
    free(t->double_scratch);
    hf_kernel_free(t->kernel);
}

/* A box about a point of [-1, 1]^d; some are points, some hold z, some are wide. */
static void place(trial *t, size_t index, hfi_stream *stream)
{
    static const double WIDTHS[] = {0.0, 1e-6, 0.05, 0.4, 3.0};
    for (size_t j = 0; j < INPUTS; j++) {
        const double low = 2.0 * hfi_stream_uniform(stream) - 1.0;
        const double width = WIDTHS[index % 5] * hfi_stream_uniform(stream);
        t->box[j] = (hfi_interval){low, low + width};
        t->z[j] = index % 3 == 0 ? low + 0.5 * width : 3.0 * hfi_stream_uniform(stream) - 1.5;
    }
}

static void inside(const trial *t, hfi_stream *stream, double *x)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double low = (double)t->box[j].lower, high = (double)t->box[j].upper;
        const double at = low + (high - low) * hfi_stream_uniform(stream);
        x[j] = at < low ? low : at > high ? high : at;
    }
}

static void gradient(const trial *t, const double *x, const double *z, double *out)
{
    const double one = 1.0;
    memset(out, 0, INPUTS * sizeof *out);
    if (z != NULL)
        hfi_kernel_input_gradient(t->kernel, x, 1, z, INPUTS, &one, out, t->double_scratch);
    else
        hfi_kernel_diagonal_input_gradient(t->kernel, x, out);
}

static void assert_in(const char *what, size_t k, double got, hfi_interval wanted, double tolerance)
{
    if (!(got >= (double)wanted.lower - tolerance && got <= (double)wanted.upper + tolerance))
        fail_msg("%s [%zu]: %.17g is not in [%.17Lg, %.17Lg]", what, k, got, wanted.lower, wanted.upper);
}

/* Slopes of the double code's slopes, in the middle of the box, away from where it has none. */
static void check_seconds(const trial *t, const double *x, const double *z, const hfi_interval *jet)
{
    const double step = 1e-6;
    for (size_t j = 0; j < INPUTS; j++) {
        double ahead[INPUTS], behind[INPUTS], up[INPUTS], down[INPUTS];
        memcpy(ahead, x, sizeof ahead);
        memcpy(behind, x, sizeof behind);
        ahead[j] = fmin(x[j] + step, (double)t->box[j].upper);
        behind[j] = fmax(x[j] - step, (double)t->box[j].lower);
        if (!(ahead[j] - behind[j] > 0.5 * step)) continue;
        gradient(t, ahead, z, up);
        gradient(t, behind, z, down);
        for (size_t i = j; i < INPUTS; i++) {
            const size_t k = 1 + INPUTS + i * (i + 1) / 2 + j;
            assert_in(t->expression, k, (up[i] - down[i]) / (ahead[j] - behind[j]), jet[k], 1e-6);
        }
    }
}

static void check_box(trial *t, const double *z, hfi_stream *stream)
{
    hfi_interval jet[SIZE], value;
    const bool rough = strstr(t->expression, "matern12") != NULL;
    const bool same = z == NULL; /* white: in the prior variance, not in the double code's slopes of it */
    if (!hfi_kernel_enclose_box(t->kernel, t->box, z, false, 2, jet, t->scratch)) {
        assert_true(rough);
        assert_true(hfi_kernel_enclose_box(t->kernel, t->box, z, false, 1, jet, t->scratch));
        for (size_t k = 1 + INPUTS; k < SIZE; k++) jet[k] = (hfi_interval){-INFINITY, INFINITY};
    }
    assert_true(hfi_kernel_enclose_box(t->kernel, t->box, z, same, 0, &value, t->scratch));
    if (!same) assert_true(value.lower == jet[0].lower && value.upper == jet[0].upper);
    for (size_t i = 0; i < INSIDE; i++) {
        double x[INPUTS], slopes[INPUTS];
        inside(t, stream, x);
        assert_in(t->expression, 0, hfi_kernel_value(t->kernel, x, z != NULL ? z : x, same), value, 1e-13);
        gradient(t, x, z, slopes);
        for (size_t j = 0; j < INPUTS; j++) assert_in(t->expression, 1 + j, slopes[j], jet[1 + j], 1e-12);
        check_seconds(t, x, z, jet);
    }
}

static void the_double_code_is_inside(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        trial t = make_trial(*state, EXPRESSIONS[e], e);
        hfi_stream stream;
        hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < BOXES; b++) {
            place(&t, b, &stream);
            check_box(&t, t.z, &stream);
            check_box(&t, NULL, &stream);
        }
        drop_trial(&t);
    }
}

/* At a point: what the enclosure of two points says, and slopes as narrow. */
static void a_point_is_a_box(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        trial t = make_trial(*state, EXPRESSIONS[e], e);
        hfi_stream stream;
        hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < BOXES; b++) {
            hfi_interval jet[SIZE], value;
            double x[INPUTS], slopes[INPUTS];
            place(&t, 5 * b, &stream); /* a point */
            t.z[0] += 0.125;
            inside(&t, &stream, x);
            assert_true(hfi_kernel_enclose(t.kernel, x, t.z, false, &value.lower, &value.upper));
            assert_true(hfi_kernel_enclose_box(t.kernel, t.box, t.z, false, 1, jet, t.scratch));
            assert_true(value.lower == jet[0].lower && value.upper == jet[0].upper);
            gradient(&t, x, t.z, slopes);
            for (size_t j = 0; j < INPUTS; j++) {
                const double width = (double)(jet[1 + j].upper - jet[1 + j].lower);
                if (LDBL_MANT_DIG >= 64) assert_true(width <= 1e-15 * (1.0 + fabs(slopes[j])));
                assert_in(t.expression, 1 + j, slopes[j], jet[1 + j], 1e-12 * (1.0 + fabs(slopes[j])));
            }
        }
        drop_trial(&t);
    }
}

/* The interval of one radial or periodic kernel is its range, with ends attained at the nearest and farthest point. */
static void ranges_of_single_kernels_are_sharp(void **state)
{
    static const char *const SINGLE[] = {"se(ard)",  "matern12", "matern32(ard)",
                                         "matern52", "rq",       "periodic"};
    for (size_t e = 0; e < 6; e++) {
        trial t = make_trial(*state, SINGLE[e], e);
        hfi_stream stream;
        hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < BOXES; b++) {
            hfi_interval value;
            double near[INPUTS], far[INPUTS];
            place(&t, b, &stream);
            for (size_t j = 0; j < INPUTS; j++) {
                /* Less than half a period away, so that the farthest is the farthest. */
                const double low = (double)t.box[j].lower, width = (double)(t.box[j].upper - t.box[j].lower);
                t.box[j].upper = low + 0.1 * fmin(width, 1.0);
                t.z[j] = low + 0.1 * (2.0 * hfi_stream_uniform(&stream) - 1.0);
                const double high = (double)t.box[j].upper;
                near[j] = fmin(fmax(t.z[j], low), high);
                far[j] = t.z[j] - low > high - t.z[j] ? low : high;
            }
            assert_true(hfi_kernel_enclose_box(t.kernel, t.box, t.z, false, 0, &value, t.scratch));
            assert_close(SINGLE[e], 0, (double)value.upper, hfi_kernel_value(t.kernel, near, t.z, false),
                         1e-13);
            assert_close(SINGLE[e], 1, (double)value.lower, hfi_kernel_value(t.kernel, far, t.z, false),
                         1e-13);
        }
        drop_trial(&t);
    }
}

/* A whole period and more: both ends of the wave, whatever the phase. */
static void whole_periods_hold_everything(void **state)
{
    hf_kernel *kernel = parse(*state, "periodic(period=0.5, lengthscale=1)", 1);
    hfi_interval scratch[64], value;
    const double z = 0.1;
    assert_true(hfi_kernel_jet_scratch(kernel, 0) <= 64);
    const hfi_interval wide = {0.3L, 0.81L}, part = {0.2L, 0.65L};
    assert_true(hfi_kernel_enclose_box(kernel, &wide, &z, false, 0, &value, scratch));
    assert_true(value.upper == 1.0L);
    assert_close("trough", 0, (double)value.lower, exp(-2.0), 1e-15);
    /* From 0.2 of a period to 1.1: the crest at 1 and the trough are in it, and no more. */
    assert_true(hfi_kernel_enclose_box(kernel, &part, &z, false, 0, &value, scratch));
    assert_true(value.upper == 1.0L);
    assert_close("trough", 1, (double)value.lower, exp(-2.0), 1e-15);
    hf_kernel_free(kernel);
}

static void bad_boxes_are_refused(void **state)
{
    hf_kernel *kernel = parse(*state, "se", 1);
    hfi_interval scratch[64], value;
    const hfi_interval crossed = {1.0L, 0.0L}, nan = {NAN, 1.0L}, open = {0.0L, INFINITY};
    const hfi_interval fine = {0.0L, 1.0L};
    const double z = 0.0, bad = NAN;
    assert_true(hfi_kernel_enclose_box(kernel, &fine, &z, false, 0, &value, scratch));
    assert_false(hfi_kernel_enclose_box(kernel, &crossed, &z, false, 0, &value, scratch));
    assert_false(hfi_kernel_enclose_box(kernel, &nan, &z, false, 0, &value, scratch));
    assert_false(hfi_kernel_enclose_box(kernel, &open, &z, false, 0, &value, scratch));
    assert_false(hfi_kernel_enclose_box(kernel, &fine, &bad, false, 0, &value, scratch));
    hf_kernel_free(kernel);
}

/* |sum_a weight_a k(x + a step v, .)|^2, a = -2 .. 2: what a difference quotient of the features is in size. */
static double difference2(const hf_kernel *kernel, const double *x, const double *v, double step,
                          const double *weight)
{
    double sum = 0.0, at[5][INPUTS];
    for (int a = 0; a < 5; a++)
        for (size_t j = 0; j < INPUTS; j++) at[a][j] = x[j] + (a - 2) * step * v[j];
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            sum += weight[a] * weight[b] * hfi_kernel_value(kernel, at[a], at[b], false);
    return sum;
}

/* A difference quotient is an average of derivatives: no larger than they are anywhere between, and of a
 * stationary kernel nearly as large. */
static void features_move_as_fast_as_said(void **state)
{
    static const double WEIGHTS[4][5] = {{0.0, 0.0, 1.0, 0.0, 0.0},
                                         {0.0, -0.5, 0.0, 0.5, 0.0},
                                         {0.0, 1.0, -2.0, 1.0, 0.0},
                                         {-0.5, 1.0, 0.0, -1.0, 0.5}};
    size_t sharp = 0;
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        trial t = make_trial(*state, EXPRESSIONS[e], e);
        hfi_stream stream;
        /* The direction that moves a plane most is another one; amplitudes have bounds for the whole box. */
        const bool linear = strstr(EXPRESSIONS[e], "linear") || strstr(EXPRESSIONS[e], "wave") ||
                            strstr(EXPRESSIONS[e], "swell") || strstr(EXPRESSIONS[e], "tilt");
        hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < BOXES; b++) {
            double x[INPUTS], v[INPUTS];
            const double step = 0.02;
            long double half[INPUTS], norm[4];
            for (size_t j = 0; j < INPUTS; j++) {
                x[j] = 3.0 * hfi_stream_uniform(&stream) - 1.5;
                v[j] = (b + j) % 4 == 0 ? 0.0 : 2.0 * hfi_stream_uniform(&stream) - 1.0;
                half[j] = fabsl((long double)v[j]);
                const long double reach = 2.0L * (long double)step * half[j];
                t.box[j] = (hfi_interval){x[j] - reach, x[j] + reach};
            }
            if (!hfi_kernel_feature_norms(t.kernel, t.box, half, norm)) continue; /* two outputs */
            double size = hfi_kernel_value(t.kernel, x, x, false);
            for (size_t p = 0; p < 4; p++) {
                const double found =
                    difference2(t.kernel, x, v, step, WEIGHTS[p]) / pow(step, 2.0 * (double)p);
                const double most = (double)(norm[p] * norm[p]),
                             noise = 1e-14 * size / pow(step, 2.0 * (double)p);
                if (!(found <= most + noise))
                    fail_msg("%s: order %zu: %g > %g", EXPRESSIONS[e], p, found, most);
                if (linear || !isfinite(most)) continue;
                if (!(found >= 0.75 * most - noise - 1e-3 * size))
                    fail_msg("%s: order %zu: %g is far below %g", EXPRESSIONS[e], p, found, most);
                sharp++;
            }
        }
        drop_trial(&t);
    }
    assert_true(sharp > 1000);
}

int main(void)
{
    if (!hfi_interval_usable()) return 77; /* under valgrind */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_double_code_is_inside),          cmocka_unit_test(a_point_is_a_box),
        cmocka_unit_test(ranges_of_single_kernels_are_sharp), cmocka_unit_test(whole_periods_hold_everything),
        cmocka_unit_test(features_move_as_fast_as_said),      cmocka_unit_test(bad_boxes_are_refused),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
