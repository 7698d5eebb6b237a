/* SPDX-License-Identifier: Apache-2.0 */
/* Rigorous ranges: predictions are inside on every kernel, the ends are as near as asked, and every way to
 * stop leaves a range that holds. tests/oracle/test_certify_arb.py checks them with balls of hundreds of
 * digits. */
#include "kernel/kernel_testing.h"

#include "certify/quantities.h"
#include "certify/rigorous_testing.h"
#include "rigorous/rigorous_impl.h"
#include <holdfast/certify_uses.h>

#define READINGS 20u
#define SAMPLES  60u

typedef struct trial {
    hf_context *ctx;
    hf_posterior *posterior;
    hf_posterior_workspace *workspace;
    hfi_rigorous *rigorous;
    double lower[INPUTS], upper[INPUTS];
} trial;

/* A scaling of its own, as a fit would choose one. */
static void solve_noisy(hf_context *ctx, const char *expression, uint64_t index, bool scaled, double noise,
                        trial *t)
{
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    t->ctx = ctx;
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hfi_stream stream;
    double *x = make_points(READINGS, INPUTS, index), y[READINGS];
    const double coefficients[1 + INPUTS] = {0.3, -1.0, 0.5, 0.2};
    shake(kernel, index);
    hfi_stream_init(&stream, 31, HFI_PURPOSE_TEST, index);
    for (size_t i = 0; i < READINGS; i++) y[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
    assert_int_equal(hf_mean_create(ctx, index % 2 ? HF_MEAN_LINEAR : HF_MEAN_CONSTANT, INPUTS, &mean),
                     HF_OK);
    assert_int_equal(hf_mean_set(ctx, mean, coefficients, true), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, READINGS, y, noise, NULL, &sites), HF_OK);
    assert_true(hf_solve_exact(ctx, kernel, mean, sites, x, INPUTS, &t->posterior) >= 0);
    for (size_t j = 0; j < INPUTS && scaled; j++) {
        t->posterior->scaling.x_shift[j] = 0.1 * (double)j;
        t->posterior->scaling.x_scale[j] = 0.7 + 0.3 * (double)j;
    }
    if (scaled) t->posterior->scaling.y_scale = 3.0, t->posterior->scaling.y_shift = -0.7;
    t->workspace = hf_posterior_workspace_create(ctx, t->posterior);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
}

static void solve(hf_context *ctx, const char *expression, uint64_t index, bool scaled, trial *t)
{
    solve_noisy(ctx, expression, index, scaled, 0.04, t);
}

static void make_trial(hf_context *ctx, const char *expression, uint64_t index, trial *t)
{
    solve(ctx, expression, index, !sees_codes(expression), t);
    if (hfi_rigorous_create(ctx, NULL, t->posterior, true, &t->rigorous) != HF_OK)
        fail_msg("%s: %s", expression, hf_context_message(ctx));
}

static void drop_trial(trial *t)
{
    hfi_rigorous_free(t->rigorous);
    hf_posterior_workspace_free(t->workspace);
    hf_posterior_free(t->posterior);
}

/* A box about a point; the columns that name outputs do not move. */
static void place(const char *expression, trial *t, double half, hfi_stream *stream)
{
    for (size_t j = 0; j < INPUTS; j++) {
        const double c = 2.4 * hfi_stream_uniform(stream) - 1.2;
        const bool still = sees_codes(expression);
        t->lower[j] = still ? rint(c) : c - half;
        t->upper[j] = still ? rint(c) : c + half;
    }
    if (strstr(expression, "coregion(x2, outputs=2)*se")) t->lower[0] -= half, t->upper[2] += half;
    if (strstr(expression, "matern52(ard)*category(x3)")) t->lower[0] -= half, t->upper[1] += half;
}

static double value_of(trial *t, hf_certify_what what, double beta, const double *x)
{
    double mean, variance;
    assert_int_equal(hf_predict_latent(t->posterior, t->workspace, x, &mean, &variance, NULL, NULL), HF_OK);
    return what == HF_CERTIFY_MEAN ? mean
           : what == HF_CERTIFY_SD ? sqrt(variance)
                                   : mean + beta * sqrt(variance);
}

static hf_range ask(trial *t, hf_certify_what what, const hf_certify_settings *settings, double *argmin,
                    double *argmax)
{
    hf_range range;
    double least[INPUTS], most[INPUTS];
    assert_int_equal(prove(t->ctx, t->posterior, t->rigorous, hfi_quantity_of(what), settings, t->lower,
                           t->upper, &range, argmin ? argmin : least, argmax ? argmax : most),
                     HF_OK);
    assert_true(range.lower <= range.lower_attained && range.upper_attained <= range.upper);
    assert_true(range.nodes >= 2);
    return range;
}

/* Predictions in double are off by their own rounding: of the mean some 1e-12 here, of an sd near 0 the root
 * of that. */
static double slack_of(hf_certify_what what)
{
    return what == HF_CERTIFY_MEAN ? 1e-10 : 1e-6;
}

static void check_range(const char *expression, trial *t, hf_certify_what what,
                        const hf_certify_settings *settings, hfi_stream *stream)
{
    double argmin[INPUTS], argmax[INPUTS], low, high;
    const double slack = slack_of(what), beta = settings->beta;
    memcpy(argmin, t->lower, sizeof argmin); /* with the number of an output */
    memcpy(argmax, t->lower, sizeof argmax);
    const hf_range range = ask(t, what, settings, argmin, argmax);
    for (size_t i = 0; i < SAMPLES; i++) {
        double x[INPUTS];
        for (size_t j = 0; j < INPUTS; j++)
            x[j] = t->lower[j] + (t->upper[j] - t->lower[j]) * hfi_stream_uniform(stream);
        const double value = value_of(t, what, beta, x);
        if (!(value >= range.lower - slack && value <= range.upper + slack))
            fail_msg("%s: %.17g is not in [%.17g, %.17g]", expression, value, range.lower, range.upper);
        if (i % 4 != 0) continue;
        assert_int_equal(
            prove_at(t->ctx, t->posterior, t->rigorous, hfi_quantity_of(what), settings, x, &low, &high),
            HF_OK);
        /* Both hold the value; of which is narrower nothing is promised where sums cancel. */
        const double width = high - low;
        assert_true(low >= range.lower - width && high <= range.upper + width && low <= high);
        assert_close(expression, i, value, 0.5 * (low + high), slack);
        if (what == HF_CERTIFY_MEAN) assert_true(high - low < (strstr(expression, "tilt") ? 1e-10 : 1e-12));
    }
    assert_close(expression, 0, value_of(t, what, beta, argmin), range.lower_attained, slack);
    assert_close(expression, 1, value_of(t, what, beta, argmax), range.upper_attained, slack);
    for (size_t j = 0; j < INPUTS; j++)
        assert_true(argmin[j] >= t->lower[j] && argmin[j] <= t->upper[j] && argmax[j] >= t->lower[j] &&
                    argmax[j] <= t->upper[j]);
    if (range.stop == HF_CERTIFY_TOLERANCE)
        assert_true(range.lower_attained - range.lower <= 1.01 * settings->tolerance &&
                    range.upper - range.upper_attained <= 1.01 * settings->tolerance);
}

static void predictions_stay_inside(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        trial t;
        hfi_stream stream;
        hf_certify_settings settings = hf_certify_settings_default();
        settings.node_limit = 40;
        settings.beta = -1.5;
        make_trial(*state, EXPRESSIONS[e], e, &t);
        hfi_stream_init(&stream, 32, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < 4; b++) {
            place(EXPRESSIONS[e], &t, b == 0 ? 0.0 : b == 1 ? 0.03 : 0.4, &stream);
            if (b == 3 && !sees_codes(EXPRESSIONS[e])) t.lower[0] += 5.0, t.upper[0] += 7.0;
            check_range(EXPRESSIONS[e], &t, HF_CERTIFY_MEAN, &settings, &stream);
            check_range(EXPRESSIONS[e], &t, HF_CERTIFY_SD, &settings, &stream);
            check_range(EXPRESSIONS[e], &t, HF_CERTIFY_MEAN_PLUS, &settings, &stream);
        }
        drop_trial(&t);
    }
}

/* Smooth means are enclosed to the tolerance in few boxes, and a point exactly. */
static void ends_are_as_near_as_asked(void **state)
{
    static const char *const SMOOTH[] = {"se(ard)", "rq", "matern52(ard)", "periodic(ard, period=3)",
                                         "se*linear + constant"};
    for (size_t e = 0; e < 5; e++) {
        trial t;
        hfi_stream stream;
        hf_certify_settings settings = hf_certify_settings_default();
        make_trial(*state, SMOOTH[e], e, &t);
        hfi_stream_init(&stream, 33, HFI_PURPOSE_TEST, e);
        place(SMOOTH[e], &t, 0.1, &stream);
        hf_range range = ask(&t, HF_CERTIFY_MEAN, &settings, NULL, NULL);
        assert_int_equal(range.stop, HF_CERTIFY_TOLERANCE);
        assert_true(range.lower_attained - range.lower <= 0.0101 &&
                    range.upper - range.upper_attained <= 0.0101);
        memcpy(t.upper, t.lower, sizeof t.upper);
        settings.tolerance = 1e-12;
        range = ask(&t, HF_CERTIFY_MEAN, &settings, NULL, NULL);
        assert_int_equal(range.stop, HF_CERTIFY_TOLERANCE);
        assert_close(SMOOTH[e], 0, range.lower, value_of(&t, HF_CERTIFY_MEAN, 0.0, t.lower), 1e-11);
        drop_trial(&t);
    }
}

/* Wide boxes far from the readings, where means are next to their prior and deviations to the
 * prior's: a few boxes to the tolerance, as without rigour. */
static void far_boxes_take_few_parts(void **state)
{
    static const char *const FAR[] = {"se(ard)", "matern52", "matern32(ard)", "matern12",
                                      "se*se(x1) + matern32"};
    for (size_t e = 0; e < sizeof FAR / sizeof *FAR; e++) {
        trial t;
        hf_certify_settings settings = hf_certify_settings_default();
        make_trial(*state, FAR[e], e, &t);
        const double wide = e == 0 ? 40.0 : 90.0;
        for (size_t j = 0; j < INPUTS; j++) {
            t.lower[j] = wide;
            t.upper[j] = wide + 4.0;
        }
        for (int what = 0; what <= (int)HF_CERTIFY_SD; what++) {
            const hf_range range = ask(&t, (hf_certify_what)what, &settings, NULL, NULL);
            if (range.stop != HF_CERTIFY_TOLERANCE || range.nodes > 10)
                fail_msg("%s: %zu boxes, [%g, %g], %s", FAR[e], range.nodes, range.lower, range.upper,
                         hf_enum_name(HF_ENUM_CERTIFY_STOP, range.stop));
        }
        drop_trial(&t);
    }
}

static void decisions_and_limits_stop_the_search(void **state)
{
    trial t;
    hfi_stream stream;
    hf_certify_settings settings = hf_certify_settings_default();
    make_trial(*state, "se(ard)", 3, &t);
    hfi_stream_init(&stream, 34, HFI_PURPOSE_TEST, 0);
    place("se(ard)", &t, 0.3, &stream);
    const hf_range full = ask(&t, HF_CERTIFY_MEAN, &settings, NULL, NULL);
    settings.node_limit = 1;
    const hf_range root = ask(&t, HF_CERTIFY_MEAN, &settings, NULL, NULL);
    assert_int_equal(root.stop, HF_CERTIFY_NODES);
    assert_int_equal(root.nodes, 2);
    assert_true(root.lower <= full.lower && root.upper >= full.upper);
    settings.node_limit = 0;
    settings.decide_at = full.lower - 0.2;
    const hf_range above = ask(&t, HF_CERTIFY_MEAN, &settings, NULL, NULL);
    assert_int_equal(above.stop, HF_CERTIFY_DECIDED);
    assert_true(above.lower > settings.decide_at && above.nodes < full.nodes);
    settings.decide_at = full.upper + 0.2;
    assert_true(ask(&t, HF_CERTIFY_MEAN, &settings, NULL, NULL).upper < settings.decide_at);
    settings.decide_at = 0.5 * (full.lower + full.upper);
    const hf_range across = ask(&t, HF_CERTIFY_MEAN, &settings, NULL, NULL);
    assert_true(across.lower_attained < settings.decide_at && across.upper_attained > settings.decide_at);
    settings = hf_certify_settings_default();
    settings.lower_only = true;
    hf_range one;
    double at[INPUTS];
    assert_int_equal(
        prove(*state, t.posterior, t.rigorous, &hfi_quantity_mean, &settings, t.lower, t.upper, &one, at, at),
        HF_OK);
    assert_true(one.lower == full.lower && one.upper == INFINITY && isnan(one.upper_attained));
    settings.lower_only = false;
    settings.upper_only = true;
    assert_int_equal(
        prove(*state, t.posterior, t.rigorous, &hfi_quantity_mean, &settings, t.lower, t.upper, &one, at, at),
        HF_OK);
    assert_true(one.upper == full.upper && one.lower == -INFINITY && isnan(one.lower_attained));
    drop_trial(&t);
}

/* sqrt(t' K t): the norm of the mean less its prior. */
static void norms_are_those_of_the_mean(void **state)
{
    trial t;
    make_trial(*state, "matern32(ard)", 5, &t);
    const hfi_solution *s = &t.posterior->solution;
    double square = 0.0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->n; j++)
            square += s->t[i] * s->t[j] *
                      hfi_kernel_value(t.posterior->kernel, s->z + i * s->d, s->z + j * s->d, false);
    assert_close("norm", 0, hfi_double_up(t.rigorous->norm), sqrt(square), 1e-10 * sqrt(square));
    drop_trial(&t);
}

/* Means of inducing posteriors too; their sd is refused in words. */
static void inducing_posteriors_have_means(void **state)
{
    trial t = {.rigorous = NULL};
    hfi_rigorous *none = NULL;
    hfi_stream stream;
    hf_certify_settings settings = hf_certify_settings_default();
    hf_posterior *inducing = NULL;
    solve(*state, "se(ard)", 3, false, &t);
    const hfi_solution *s = &t.posterior->solution;
    hf_sites *sites = NULL;
    assert_int_equal(hf_sites_gaussian(*state, s->n, s->residual, 0.04, NULL, &sites), HF_OK);
    assert_true(hf_solve_inducing(*state, t.posterior->kernel, t.posterior->mean, sites, s->z, s->d,
                                  HF_INDUCING_VFE, 5, s->z, s->d, &inducing) >= 0);
    hf_sites_free(sites);
    hf_posterior_free(t.posterior);
    hf_posterior_workspace_free(t.workspace);
    t.posterior = inducing;
    t.workspace = hf_posterior_workspace_create(*state, inducing);
    assert_int_equal(hfi_rigorous_create(*state, NULL, inducing, true, &none), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(*state), "exact solver"));
    assert_null(none);
    assert_int_equal(hfi_rigorous_create(*state, NULL, inducing, false, &t.rigorous), HF_OK);
    hfi_stream_init(&stream, 35, HFI_PURPOSE_TEST, 0);
    place("se(ard)", &t, 0.1, &stream);
    check_range("inducing", &t, HF_CERTIFY_MEAN, &settings, &stream);
    drop_trial(&t);
}

/* Each output with its own prior mean and scale; a box over both is refused. */
static void outputs_have_their_own_units(void **state)
{
    trial t;
    hfi_stream stream;
    hf_certify_settings settings = hf_certify_settings_default();
    hf_mean *mean = NULL;
    const double coefficients[] = {0.4, -2.0}, shifts[] = {1.0, -3.0}, scales[] = {2.0, 0.25};
    solve(*state, "coregion(x3, outputs=2)*se(x1, x2, ard)", 2, false, &t);
    assert_int_equal(hf_mean_create_outputs(*state, INPUTS, 2, &mean), HF_OK);
    assert_int_equal(hf_mean_set(*state, mean, coefficients, true), HF_OK);
    hf_mean_free(t.posterior->mean);
    t.posterior->mean = mean;
    assert_int_equal(hfi_rigorous_create(*state, NULL, t.posterior, true, &t.rigorous), HF_OK);
    for (size_t j = 0; j < INPUTS; j++) t.lower[j] = 0.0, t.upper[j] = 1.0;
    hf_range range;
    double at[INPUTS];
    assert_int_equal(prove(*state, t.posterior, t.rigorous, &hfi_quantity_mean, &settings, t.lower, t.upper,
                           &range, at, at),
                     HF_ERR_NOT_FINITE);
    assert_int_equal(hfi_scaling_set_outputs(*state, &t.posterior->scaling, 2, shifts, scales), HF_OK);
    hfi_stream_init(&stream, 36, HFI_PURPOSE_TEST, 0);
    for (size_t output = 0; output < 2; output++) {
        place("se", &t, 0.1, &stream);
        t.lower[2] = t.upper[2] = (double)output;
        settings.output = output;
        check_range("outputs", &t, HF_CERTIFY_MEAN, &settings, &stream);
        check_range("outputs", &t, HF_CERTIFY_SD, &settings, &stream);
    }
    drop_trial(&t);
}

/* Two clouds of labels on the first input. */
static hf_classifier *classify(hf_context *ctx, const char *expression, hf_link link)
{
    hf_kernel *kernel = parse(ctx, expression, INPUTS);
    hf_mean *mean = NULL;
    hf_classifier *out = NULL;
    double *x = make_points(READINGS, INPUTS, 5);
    size_t label[READINGS];
    for (size_t i = 0; i < READINGS; i++) label[i] = x[i * INPUTS] + 0.3 * x[i * INPUTS + 1] > 0.1;
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, INPUTS, &mean), HF_OK);
    assert_true(hf_classify_exact(ctx, link, HF_INFERENCE_EP, kernel, mean, READINGS, x, INPUTS, label, 2,
                                  &out, NULL) >= 0);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    return out;
}

static double probability_of(hf_context *ctx, const hf_classifier *classifier, size_t class, const double *x)
{
    double both[2];
    assert_int_equal(hf_classify_predict(ctx, classifier, 1, x, INPUTS, both, NULL, NULL, NULL, NULL), HF_OK);
    return both[class];
}

/* A rigorous range of a class beside that in double, and points; then the decision. */
static void check_class(hf_context *ctx, const hf_classifier *classifier, size_t class, double half,
                        hfi_stream *stream)
{
    double lower[INPUTS], upper[INPUTS], argmin[INPUTS], argmax[INPUTS], x[INPUTS];
    hf_certify_settings settings = hf_certify_settings_default();
    hf_range proof, plain;
    hf_decision decided[2];
    settings.output = class;
    settings.node_limit = 24;
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = 2.4 * hfi_stream_uniform(stream) - 1.2;
        lower[j] = x[j] - half;
        upper[j] = x[j] + half;
    }
    assert_true(hf_certify_class(ctx, classifier, &settings, 1, lower, upper, &plain, NULL, NULL) >= 0);
    assert_true(
        hf_certify_decision(ctx, classifier, NULL, &settings, 1, x, lower, upper, &decided[0], NULL) >= 0);
    settings.rigorous = true;
    assert_true(hf_certify_class(ctx, classifier, &settings, 1, lower, upper, &proof, argmin, argmax) >= 0);
    assert_true(
        hf_certify_decision(ctx, classifier, NULL, &settings, 1, x, lower, upper, &decided[1], NULL) >= 0);
    assert_true(proof.rigorous && !plain.rigorous && proof.rounding == 0.0);
    assert_true(proof.lower <= plain.lower_attained + 1e-9 && proof.upper >= plain.upper_attained - 1e-9);
    assert_true(proof.lower >= 0.0 && proof.upper <= 1.0);
    assert_close("class", 0, probability_of(ctx, classifier, class, argmin), proof.lower_attained, 1e-9);
    assert_close("class", 1, probability_of(ctx, classifier, class, argmax), proof.upper_attained, 1e-9);
    if (decided[0].verdict != HF_VERDICT_OPEN && decided[1].verdict != HF_VERDICT_OPEN)
        assert_int_equal(decided[0].verdict, decided[1].verdict);
    for (size_t k = 0; k < SAMPLES; k++) {
        for (size_t j = 0; j < INPUTS; j++)
            x[j] = lower[j] + (upper[j] - lower[j]) * hfi_stream_uniform(stream);
        const double p = probability_of(ctx, classifier, class, x);
        assert_true(p >= proof.lower - 1e-9 && p <= proof.upper + 1e-9);
    }
}

static void classes_have_rigorous_ranges(void **state)
{
    static const char *const KERNELS[] = {"3*se(ard)", "2*matern32(lengthscale=1.5)"};
    hfi_stream stream;
    hfi_stream_init(&stream, 37, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < 4; k++) {
        hf_classifier *classifier = classify(*state, KERNELS[k / 2], k % 2 ? HF_LINK_LOGIT : HF_LINK_PROBIT);
        const double lower[INPUTS] = {30.0, 30.0, 30.0}, upper[INPUTS] = {35.0, 35.0, 35.0};
        hf_certify_settings far = hf_certify_settings_default();
        hf_decision decision;
        far.rigorous = true; /* and without a limit */
        assert_true(hf_certify_decision(*state, classifier, NULL, &far, 1, lower, lower, upper, &decision,
                                        NULL) >= 0);
        assert_true(decision.nodes < 100);
        for (size_t b = 0; b < 3; b++)
            check_class(*state, classifier, (b + k / 2) % 2, b == 0 ? 0.0 : b == 1 ? 0.03 : 0.3, &stream);
        hf_classifier_free(classifier);
    }
}

/* The exact value at a point lies in the range that is not rigorous: its allowance holds, of
 * posteriors that are next to singular too, and is no more than a few digits. */
static void points_allow_for_rounding(void **state)
{
    for (size_t k = 0; k < 2 * EXPRESSION_COUNT; k++) {
        trial t;
        hfi_stream stream;
        const size_t e = k / 2;
        const double noise = k % 2 == 0 ? 0.04 : 1e-7;
        hf_certify_settings settings = hf_certify_settings_default();
        settings.beta = -1.5;
        solve_noisy(*state, EXPRESSIONS[e], e, !sees_codes(EXPRESSIONS[e]), noise, &t);
        assert_int_equal(hfi_rigorous_create(*state, NULL, t.posterior, true, &t.rigorous), HF_OK);
        hfi_stream_init(&stream, 39, HFI_PURPOSE_TEST, k);
        for (size_t b = 0; b < 8; b++) {
            double low, high;
            hf_range range;
            place(EXPRESSIONS[e], &t, 0.0, &stream);
            if (b == 7 && !sees_codes(EXPRESSIONS[e])) t.lower[0] += 40.0;
            for (int what = 0; what <= (int)HF_CERTIFY_MEAN_PLUS; what++) {
                assert_true(hf_certify(*state, t.posterior, (hf_certify_what)what, &settings, t.lower,
                                       t.lower, &range, NULL, NULL) >= 0);
                assert_int_equal(range.stop, range.rounding > settings.tolerance ? HF_CERTIFY_ROUNDING
                                                                                 : HF_CERTIFY_TOLERANCE);
                assert_int_equal(prove_at(*state, t.posterior, t.rigorous,
                                          hfi_quantity_of((hf_certify_what)what), &settings, t.lower, &low,
                                          &high),
                                 HF_OK);
                if (!(range.lower <= low && high <= range.upper))
                    fail_msg("%s: [%.17g, %.17g] is not in [%.17g, %.17g]", EXPRESSIONS[e], low, high,
                             range.lower, range.upper);
                if (b == 7 && strstr(EXPRESSIONS[e], "tilt")) continue; /* exp(40 x rate) */
                assert_true(noise < 1e-3 || range.upper - range.lower < (b == 7 ? 1e-6 : 1e-8));
            }
        }
        drop_trial(&t);
    }
}

/* At an anchor, unscaled, where matern12 has no derivatives: a point of any number of inputs, and
 * boxes that hold an input there. */
static void kinks_at_anchors_are_no_errors(void **state)
{
    static const char *const ROUGH[] = {"matern12", "matern12(ard)", "matern12(x1) + se(x2, x3)",
                                        "matern12(x1)*se(x2, x3)"};
    for (size_t e = 0; e < sizeof ROUGH / sizeof *ROUGH; e++) {
        trial t;
        hfi_stream stream;
        hf_certify_settings settings = hf_certify_settings_default();
        settings.node_limit = 40;
        settings.beta = 0.5;
        solve(*state, ROUGH[e], e, false, &t);
        assert_int_equal(hfi_rigorous_create(*state, NULL, t.posterior, true, &t.rigorous), HF_OK);
        hfi_stream_init(&stream, 38, HFI_PURPOSE_TEST, e);
        for (size_t b = 0; b < 3; b++) {
            memcpy(t.lower, t.posterior->solution.z + b * INPUTS, sizeof t.lower);
            memcpy(t.upper, t.lower, sizeof t.upper);
            for (size_t j = 1; j < INPUTS && b > 0; j++) t.upper[j] += 0.1 * (double)b;
            check_range(ROUGH[e], &t, HF_CERTIFY_MEAN, &settings, &stream);
            check_range(ROUGH[e], &t, HF_CERTIFY_SD, &settings, &stream);
            check_range(ROUGH[e], &t, HF_CERTIFY_MEAN_PLUS, &settings, &stream);
        }
        drop_trial(&t);
    }
}

/* A box where a power of 36 overflows is told as unknown; the answer of another one is what it is alone. */
static void an_overflow_is_the_answer_of_its_box_alone(void **state)
{
    static const char power[] = "linear*linear*linear*linear*linear*linear", far_out[] = "%s*%s*%s*%s*%s*%s";
    char expression[sizeof power * 6 + 16];
    trial t;
    hf_range alone, both[2];
    hf_certify_settings settings = hf_certify_settings_default();
    (void)snprintf(expression, sizeof expression, far_out, power, power, power, power, power, power);
    solve(*state, expression, 1, false, &t);
    for (int rigorous = 0; rigorous < 2; rigorous++) {
        const double at[2 * INPUTS] = {0.1, 0.2, -0.1, 1e149, 1e149, 1e149};
        double low[2 * INPUTS], high[2 * INPUTS];
        settings.rigorous = rigorous == 1;
        assert_int_equal(
            hf_certify(*state, t.posterior, HF_CERTIFY_MEAN, &settings, at, at, &alone, NULL, NULL), HF_OK);
        assert_int_equal(
            hf_certify_boxes(*state, t.posterior, HF_CERTIFY_MEAN, &settings, 2, at, at, both, low, high),
            HF_WARN_NOT_CONVERGED);
        assert_non_null(strstr(hf_context_message(*state), "says nothing"));
        assert_true(both[0].lower == alone.lower && both[0].upper == alone.upper);
        assert_int_equal(both[0].stop, HF_CERTIFY_TOLERANCE);
        assert_int_equal(both[1].stop, HF_CERTIFY_NOT_FINITE);
        assert_true(both[1].lower == -INFINITY && both[1].upper == INFINITY &&
                    isnan(both[1].lower_attained) && isnan(both[1].upper_attained) && isnan(low[INPUTS]) &&
                    isnan(high[INPUTS]));
        assert_true(low[0] == at[0] && both[1].rigorous == settings.rigorous);
        const double step[INPUTS] = {1.0, 1.0, 1.0};
        assert_int_equal(hf_explain(*state, t.posterior, HF_CERTIFY_MEAN, &settings, 2, at, step, low, high),
                         HF_WARN_NOT_CONVERGED);
        assert_true(low[INPUTS] == -INFINITY && high[INPUTS] == INFINITY && isfinite(low[0]));
    }
    hf_posterior_workspace_free(t.workspace);
    hf_posterior_free(t.posterior);
}

int main(void)
{
    if (!hfi_interval_usable()) return 77; /* under valgrind */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predictions_stay_inside),
        cmocka_unit_test(ends_are_as_near_as_asked),
        cmocka_unit_test(far_boxes_take_few_parts),
        cmocka_unit_test(decisions_and_limits_stop_the_search),
        cmocka_unit_test(norms_are_those_of_the_mean),
        cmocka_unit_test(inducing_posteriors_have_means),
        cmocka_unit_test(outputs_have_their_own_units),
        cmocka_unit_test(classes_have_rigorous_ranges),
        cmocka_unit_test(points_allow_for_rounding),
        cmocka_unit_test(kinks_at_anchors_are_no_errors),
        cmocka_unit_test(an_overflow_is_the_answer_of_its_box_alone),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
