/* SPDX-License-Identifier: Apache-2.0 */
/* The bound of the kernel decomposition: sound on every kernel of the language, exact where it can be, and as
 * it says. The oracle tests/oracle/test_certify_decomposition.py builds it a second time. */
#include "kernel/kernel_testing.h"

#include "decomposition/decomposition.h"

#define READINGS 24u
#define BOXES    20u
#define SAMPLES  60u

typedef struct trial {
    hf_posterior *posterior;
    hf_posterior_workspace *workspace;
    hfi_subject subject;
    void *state;
    double *scratch;
    hfi_enclosure out;
    double room[4 * INPUTS], centre[INPUTS], half[INPUTS];
} trial;

static void make_trial(hf_context *ctx, const char *expression, hf_mean_kind kind, uint64_t index, trial *t)
{
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hfi_stream stream;
    double *x = make_points(READINGS, INPUTS, index), y[READINGS];
    const double coefficients[1 + INPUTS] = {0.3, -1.0, 0.5, 0.2};
    shake(kernel, index);
    hfi_stream_init(&stream, 21, HFI_PURPOSE_TEST, index);
    for (size_t i = 0; i < READINGS; i++) y[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
    assert_int_equal(hf_mean_create(ctx, kind, INPUTS, &mean), HF_OK);
    assert_int_equal(hf_mean_set(ctx, mean, coefficients, true), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, READINGS, y, 0.01, NULL, &sites), HF_OK);
    assert_true(hf_solve_exact(ctx, kernel, mean, sites, x, INPUTS, &t->posterior) >= 0);
    t->workspace = hf_posterior_workspace_create(ctx, t->posterior);
    t->subject = (hfi_subject){.posterior = t->posterior, .d = INPUTS};
    t->state = NULL;
    assert_int_equal(hfi_decomposition_create(ctx, &t->subject, &t->state), HF_OK);
    t->scratch = make_zeros(t->state ? hfi_decomposition_scratch(t->state) : 0);
    t->out.gap_lower = t->room;
    t->out.gap_upper = t->room + INPUTS;
    t->out.at_lower = t->room + 2 * INPUTS;
    t->out.at_upper = t->room + 3 * INPUTS;
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
}

static void drop_trial(trial *t)
{
    hfi_decomposition_free(t->state);
    hf_posterior_workspace_free(t->workspace);
    hf_posterior_free(t->posterior);
    free(t->scratch);
}

static void bound(trial *t)
{
    hfi_decomposition_mean(t->state, t->centre, t->half, t->scratch, &t->out);
}

static double mean_at(trial *t, const double *x)
{
    double mean;
    assert_int_equal(hf_predict_latent(t->posterior, t->workspace, x, &mean, NULL, NULL, NULL), HF_OK);
    return mean;
}

/* Boxes of all sizes, some with sides that do not move. */
static void place(trial *t, size_t index, hfi_stream *stream)
{
    static const double SIZES[] = {1e-7, 0.02, 0.15, 0.6, 2.0};
    for (size_t j = 0; j < INPUTS; j++) {
        t->centre[j] = 3.0 * hfi_stream_uniform(stream) - 1.5;
        t->half[j] = (index + j) % 4 == 0 ? 0.0 : SIZES[index % 5] * hfi_stream_uniform(stream);
    }
}

static void sample(const trial *t, hfi_stream *stream, double *x)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double share = 2.0 * hfi_stream_uniform(stream) - 1.0;
        /* A third of the coordinates at an end. */
        const double at = share > 0.33 ? 1.0 : share < -0.33 ? -1.0 : 3.0 * share;
        x[j] = t->centre[j] + (hfi_stream_uniform(stream) < 0.5 ? at : share) * t->half[j];
    }
}

static void check_inside(const char *expression, trial *t, const double *x)
{
    const double mean = mean_at(t, x);
    if (!(t->out.lower <= mean && mean <= t->out.upper))
        fail_msg("%s: %.17g is not in [%.17g, %.17g]", expression, mean, t->out.lower, t->out.upper);
}

static void check_points(const trial *t)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double low = t->centre[j] - t->half[j], high = t->centre[j] + t->half[j];
        assert_true(t->out.at_lower[j] >= low && t->out.at_lower[j] <= high);
        assert_true(t->out.at_upper[j] >= low && t->out.at_upper[j] <= high);
        assert_true(t->out.gap_lower[j] >= 0.0 && t->out.gap_upper[j] >= 0.0);
        if (t->half[j] == 0.0) assert_true(t->out.gap_lower[j] == 0.0 && t->out.gap_upper[j] == 0.0);
    }
}

static void means_stay_inside(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        trial t;
        hfi_stream stream;
        make_trial(*state, EXPRESSIONS[e], e % 2 ? HF_MEAN_LINEAR : HF_MEAN_CONSTANT, e, &t);
        hfi_stream_init(&stream, 22, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < BOXES; b++) {
            place(&t, b, &stream);
            bound(&t);
            check_points(&t);
            check_inside(EXPRESSIONS[e], &t, t.out.at_lower);
            check_inside(EXPRESSIONS[e], &t, t.out.at_upper);
            for (size_t i = 0; i < SAMPLES; i++) {
                double x[INPUTS];
                sample(&t, &stream, x);
                check_inside(EXPRESSIONS[e], &t, x);
            }
        }
        drop_trial(&t);
    }
}

/* A box without width is a point, and small boxes are narrow: the distance between chord and tangent is of
 * second order. */
static void small_boxes_are_narrow(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        trial t;
        hfi_stream stream;
        double width[3];
        if (sees_codes(EXPRESSIONS[e])) continue; /* steps */
        make_trial(*state, EXPRESSIONS[e], HF_MEAN_ZERO, e, &t);
        hfi_stream_init(&stream, 23, HFI_PURPOSE_TEST, e);
        for (size_t j = 0; j < INPUTS; j++) t.centre[j] = 2.0 * hfi_stream_uniform(&stream) - 1.0;
        for (int k = 0; k < 3; k++) {
            for (size_t j = 0; j < INPUTS; j++) t.half[j] = k == 0 ? 0.0 : k == 1 ? 1e-4 : 1e-3;
            bound(&t);
            check_inside(EXPRESSIONS[e], &t, t.centre);
            width[k] = t.out.upper - t.out.lower;
        }
        double size = 1.0;
        const hfi_solution *s = &t.posterior->solution;
        for (size_t i = 0; i < s->n; i++) size += fabs(s->t[i]);
        assert_true(width[0] <= 1e-10 * size);
        assert_true(width[1] <= 1e-2 * size && width[1] <= 0.2 * width[2] + 1e-10 * size);
        drop_trial(&t);
    }
}

/* Where the mean itself is a sum over the coordinates nothing is lost. */
static void linear_means_are_exact(void **state)
{
    trial t;
    hfi_stream stream;
    make_trial(*state, "linear(ard)", HF_MEAN_LINEAR, 1, &t);
    hfi_stream_init(&stream, 24, HFI_PURPOSE_TEST, 0);
    for (size_t b = 0; b < BOXES; b++) {
        place(&t, b, &stream);
        bound(&t);
        assert_close("least", b, t.out.lower, mean_at(&t, t.out.at_lower), 1e-8);
        assert_close("most", b, t.out.upper, mean_at(&t, t.out.at_upper), 1e-8);
    }
    drop_trial(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_stay_inside),
        cmocka_unit_test(small_boxes_are_narrow),
        cmocka_unit_test(linear_means_are_exact),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
