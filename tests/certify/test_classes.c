/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilities of several classes over boxes: brute force on grids, points that would be outside, limits,
 * permutations of the classes, and what follows from ranges. */
#include "certify/several.h"

#include "certify/quantities.h"
#include "softmax/classes.h"
#include <holdfast/certify_uses.h>

enum {
    MOST_CLASSES = 5,
    GRID = 16,
    SAMPLES = 100
};

static const char *const kernels[] = {
    "@*6*(se(ard, lengthscale=0.9))", "@*5*(matern52(ard, lengthscale=1.3))", "@*4*(matern32(lengthscale=1))",
    "@*3*(matern12(lengthscale=1.5))", "@*(rq(lengthscale=1, alpha=1.2) + 0.3*linear(ard) + 0.05*white)"};

enum {
    KERNELS = sizeof kernels / sizeof *kernels
};

typedef struct trial {
    several s;
    double x[ROWS * INPUTS];
    size_t label[ROWS];
    hfi_stream stream;
} trial;

/* Clouds around a circle; the class of cloud c is order[c]. */
static void begin(trial *t, const char *kernel, size_t classes, const size_t *order)
{
    several_begin(&t->s, kernel, classes);
    hfi_stream_init(&t->stream, 8, HFI_PURPOSE_TEST, classes);
    for (size_t i = 0; i < ROWS; i++) {
        const size_t c = i % classes;
        const double angle = 2.0 * HFI_PI * (double)c / (double)classes;
        t->x[i * INPUTS] = 0.6 * hfi_stream_normal(&t->stream) + cos(angle);
        t->x[i * INPUTS + 1] = 0.6 * hfi_stream_normal(&t->stream) + sin(angle);
        t->label[i] = order ? order[c] : c;
    }
    several_fit(&t->s, t->x, t->label);
}

static size_t predict(trial *t, size_t m, const double *x, double *p)
{
    size_t winner[GRID * GRID + SAMPLES];
    assert_true(m <= sizeof winner / sizeof *winner);
    assert_int_equal(
        hf_classify_predict(t->s.ctx, t->s.classifier, m, x, INPUTS, p, winner, NULL, NULL, NULL), HF_OK);
    return winner[0];
}

static void draw_box(trial *t, double half, double *x, double *lower, double *upper)
{
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = 3.0 * hfi_stream_uniform(&t->stream) - 1.5;
        lower[j] = x[j] - half * hfi_stream_uniform(&t->stream);
        upper[j] = x[j] + half * hfi_stream_uniform(&t->stream);
    }
}

static void draw_inside(trial *t, size_t m, const double *lower, const double *upper, double *x)
{
    for (size_t k = 0; k < m; k++)
        for (size_t j = 0; j < INPUTS; j++) {
            const double u = hfi_stream_uniform(&t->stream);
            x[k * INPUTS + j] = u < 0.1   ? lower[j]
                                : u > 0.9 ? upper[j]
                                          : lower[j] + u * (upper[j] - lower[j]);
        }
}

static hf_range certify(trial *t, const hf_certify_settings *settings, const double *lower,
                        const double *upper, double *argmin, double *argmax)
{
    hf_range r;
    const hf_status status =
        hf_certify_class(t->s.ctx, t->s.classifier, settings, 1, lower, upper, &r, argmin, argmax);
    if (status < 0) fail_msg("%s", hf_context_message(t->s.ctx));
    return r;
}

/* No point is outside: those of a grid, random ones, attacked ones; what is attained is a prediction inside
 * of the box. */
static hf_range check_box(trial *t, const hf_certify_settings *settings, const double *lower,
                          const double *upper)
{
    enum {
        POINTS = GRID * GRID + SAMPLES
    };
    static double x[POINTS * INPUTS], p[POINTS * MOST_CLASSES];
    double at[2][INPUTS], own[2 * MOST_CLASSES];
    const size_t classes = t->s.classes, c = settings->output;
    const size_t points = classes < 4 ? POINTS : 24, skip = POINTS - points; /* the random ones come last */
    const double slack = classes > 4 ? 1e-4 : 1e-9;                          /* of predictions */
    const hf_range r = certify(t, settings, lower, upper, at[0], at[1]);
    assert_true(r.lower >= 0.0 && r.upper <= 1.0 && r.lower <= r.upper);
    predict(t, 2, at[0], own);
    assert_near(own[c], r.lower_attained, 1e-10);
    assert_near(own[classes + c], r.upper_attained, 1e-10);
    for (size_t j = 0; j < INPUTS; j++)
        for (size_t k = 0; k < 2; k++) assert_true(at[k][j] >= lower[j] && at[k][j] <= upper[j]);
    for (size_t i = 0; i < GRID; i++)
        for (size_t j = 0; j < GRID; j++) {
            x[(i * GRID + j) * INPUTS] = lower[0] + (double)i / (GRID - 1.0) * (upper[0] - lower[0]);
            x[(i * GRID + j) * INPUTS + 1] = lower[1] + (double)j / (GRID - 1.0) * (upper[1] - lower[1]);
        }
    draw_inside(t, SAMPLES, lower, upper, x + (size_t)GRID * GRID * INPUTS);
    predict(t, points, x + skip * INPUTS, p);
    double least = 1.0, most = 0.0;
    for (size_t k = 0; k < points; k++) {
        least = fmin(least, p[k * classes + c]);
        most = fmax(most, p[k * classes + c]);
    }
    if (!(least >= r.lower - slack && most <= r.upper + slack))
        fail_msg("[%.12g, %.12g] is not inside of [%.12g, %.12g]", least, most, r.lower, r.upper);
    if (r.stop == HF_CERTIFY_TOLERANCE) {
        assert_true(r.lower_attained - r.lower <= settings->tolerance + 1e-12);
        assert_true(r.upper - r.upper_attained <= settings->tolerance + 1e-12);
        assert_true(r.lower_attained <= least + settings->tolerance);
        assert_true(r.upper_attained >= most - settings->tolerance);
    }
    return r;
}

/* All kinds of kernels; limits too, of which one box is the strictest. */
static void test_sound(void **state)
{
    (void)state;
    size_t done = 0;
    for (size_t classes = 2; classes <= MOST_CLASSES; classes++)
        for (size_t k = 0; k < KERNELS; k++) {
            trial t;
            begin(&t, kernels[k], classes, NULL);
            hf_certify_settings settings = hf_certify_settings_default();
            for (size_t b = 0; b < (classes < 4 ? 4u : k == 0 ? 2u : 0u); b++) {
                double x[INPUTS], lower[INPUTS], upper[INPUTS];
                draw_box(&t, b % 3 == 0 ? 0.02 : b % 3 == 1 ? 0.2 : 0.8, x, lower, upper);
                settings.output = b % classes;
                settings.tolerance = b % 3 == 0 && classes < 4 ? 1e-3 : 0.02;
                settings.node_limit = b % 4 == 0 ? 1 : classes < 4 ? 80 : 8;
                const hf_range r = check_box(&t, &settings, lower, upper);
                done += r.stop == HF_CERTIFY_TOLERANCE;
            }
            several_end(&t.s);
        }
    assert_true(done > 8);
}

/* In a ball: within the range of the box, no point is outside, and fewer parts than a ball without bounds of
 * its own takes. */
static void test_balls(void **state)
{
    (void)state;
    for (int shape = (int)HF_SHAPE_L2; shape <= (int)HF_SHAPE_L1; shape++) {
        trial t;
        begin(&t, kernels[0], 3, NULL);
        double x[INPUTS], lower[INPUTS], upper[INPUTS], y[INPUTS], p[MOST_CLASSES];
        hf_certify_settings settings = hf_certify_settings_default();
        hf_region region = hf_region_default();
        draw_box(&t, 0.4, x, lower, upper);
        for (size_t j = 0; j < INPUTS; j++) x[j] = 0.5 * (lower[j] + upper[j]);
        const hf_range box = certify(&t, &settings, lower, upper, y, y);
        region.shape = (hf_shape)shape;
        region.centre = x;
        settings.region = &region;
        const hf_range ball = certify(&t, &settings, lower, upper, y, y);
        assert_int_equal(ball.stop, HF_CERTIFY_TOLERANCE);
        assert_true(ball.lower >= box.lower - 0.01 && ball.upper <= box.upper + 0.01 && ball.nodes < 2000);
        for (size_t k = 0; k < SAMPLES; k++) {
            double size = 0.0;
            draw_inside(&t, 1, lower, upper, y);
            for (size_t j = 0; j < INPUTS; j++) {
                const double u = fabs(y[j] - x[j]) / (upper[j] - x[j]);
                size += shape == (int)HF_SHAPE_L2 ? u * u : u;
            }
            size = shape == (int)HF_SHAPE_L2 ? sqrt(size) : size;
            for (size_t j = 0; j < INPUTS && (size > 1.0 || k % 2 == 0); j++)
                y[j] = x[j] + (y[j] - x[j]) / size * (1.0 - 1e-14);
            predict(&t, 1, y, p);
            assert_true(p[0] >= ball.lower - 1e-9 && p[0] <= ball.upper + 1e-9);
        }
        several_end(&t.s);
    }
}

/* A point is its prediction, to the quadrature's error. */
static void test_point(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[1], 3, NULL);
    double x[INPUTS], lower[INPUTS], upper[INPUTS], p[3];
    draw_box(&t, 0.5, x, lower, upper);
    predict(&t, 1, x, p);
    hf_certify_settings settings = hf_certify_settings_default();
    for (settings.output = 0; settings.output < 3; settings.output++) {
        const hf_range r = certify(&t, &settings, x, x, lower, upper);
        assert_true(r.lower <= p[settings.output] && p[settings.output] <= r.upper && !r.estimate);
        assert_true(r.upper - r.lower < 1e-8 && lower[0] == x[0] && upper[1] == x[1]);
    }
    several_end(&t.s);
}

/* The names of the classes change nothing but rounding; the number of threads not a digit. */
static void test_permutation(void **state)
{
    (void)state;
    const size_t order[] = {2, 0, 1};
    trial t, other;
    begin(&t, kernels[0], 3, NULL);
    begin(&other, kernels[0], 3, order);
    hf_certify_settings settings = hf_certify_settings_default();
    for (size_t c = 0; c < 3; c++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], at[2][INPUTS];
        draw_box(&t, 0.5, x, lower, upper);
        settings.output = c;
        const hf_range one = certify(&t, &settings, lower, upper, at[0], at[1]);
        assert_int_equal(hf_context_set_threads(t.s.ctx, 3), HF_OK);
        const hf_range same = certify(&t, &settings, lower, upper, at[0], at[1]);
        assert_int_equal(hf_context_set_threads(t.s.ctx, 1), HF_OK);
        assert_true(one.lower == same.lower && one.upper == same.upper && one.nodes == same.nodes);
        settings.output = order[c];
        const hf_range two = certify(&other, &settings, lower, upper, at[0], at[1]);
        assert_near(one.lower, two.lower, 2.0 * settings.tolerance);
        assert_near(one.upper, two.upper, 2.0 * settings.tolerance);
        assert_near(one.lower_attained, two.lower_attained, settings.tolerance);
        assert_near(one.upper_attained, two.upper_attained, settings.tolerance);
    }
    several_end(&t.s);
    several_end(&other.s);
}

/* Two classes with half the variance each are one latent function of the logistic link. */
static void test_two_classes(void **state)
{
    (void)state;
    trial t;
    labels binary;
    hf_classifier *one = NULL;
    const double zero[] = {0.0, 0.0};
    begin(&t, "@*3*(se(ard, lengthscale=0.9))", 2, NULL);
    labels_make(&binary, "6*se(ard, lengthscale=0.9)", HF_MEAN_CONSTANT);
    assert_int_equal(hf_mean_set(t.s.ctx, t.s.mean, zero, false), HF_OK);
    assert_int_equal(hf_mean_set(binary.ctx, binary.mean, zero, false), HF_OK);
    assert_true(hf_classify_exact(binary.ctx, HF_LINK_LOGIT, HF_INFERENCE_LAPLACE, binary.kernel, binary.mean,
                                  ROWS, t.x, INPUTS, t.label, 2, &one, NULL) >= 0);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 1e-3;
    for (size_t b = 0; b < 6; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], at[2][INPUTS];
        hf_range r;
        draw_box(&t, 0.4, x, lower, upper);
        settings.output = b % 2;
        const hf_range many = certify(&t, &settings, lower, upper, at[0], at[1]);
        assert_int_equal(hf_certify_class(binary.ctx, one, &settings, 1, lower, upper, &r, NULL, NULL),
                         HF_OK);
        assert_near(many.lower, r.lower, 1e-3);
        assert_near(many.upper, r.upper, 1e-3);
    }
    hf_classifier_free(one);
    labels_free(&binary);
    several_end(&t.s);
}

static void test_decisions(void **state)
{
    (void)state;
    for (size_t classes = 3; classes <= 4; classes++) {
        trial t;
        size_t seen[3] = {0};
        begin(&t, kernels[classes - 3], classes, NULL);
        for (size_t b = 0; b < (classes == 3 ? 14u : 1u); b++) {
            double x[INPUTS], lower[INPUTS], upper[INPUTS], other[INPUTS], y[SAMPLES * INPUTS];
            size_t winner[SAMPLES];
            hf_decision d;
            draw_box(&t, 0.5, x, lower, upper);
            assert_int_equal(
                hf_certify_decision(t.s.ctx, t.s.classifier, NULL, NULL, 1, x, lower, upper, &d, other),
                HF_OK);
            seen[d.verdict]++;
            assert_int_equal(d.winner, predict(&t, 1, x, NULL));
            if (d.verdict == HF_VERDICT_COUNTEREXAMPLE) {
                assert_int_not_equal(predict(&t, 1, other, NULL), d.winner);
                for (size_t j = 0; j < INPUTS; j++) assert_true(other[j] >= lower[j] && other[j] <= upper[j]);
                continue;
            }
            assert_true(isnan(other[0]));
            draw_inside(&t, SAMPLES, lower, upper, y);
            assert_int_equal(hf_classify_predict(t.s.ctx, t.s.classifier, SAMPLES, y, INPUTS, NULL, winner,
                                                 NULL, NULL, NULL),
                             HF_OK);
            for (size_t k = 0; k < SAMPLES; k++) assert_int_equal(winner[k], d.winner);
        }
        assert_true(classes > 3 || (seen[HF_VERDICT_CERTIFIED] > 0 && seen[HF_VERDICT_COUNTEREXAMPLE] > 0));
        assert_int_equal(seen[HF_VERDICT_OPEN], 0);
        several_end(&t.s);
    }
}

static void test_radius(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[0], 3, NULL);
    const double unit[INPUTS] = {1.0, 0.5};
    for (size_t b = 0; b < 2; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], other[INPUTS], y[SAMPLES * INPUTS];
        size_t winner[SAMPLES];
        hf_radius r;
        draw_box(&t, 0.5, x, lower, upper);
        assert_int_equal(hf_certify_radius(t.s.ctx, t.s.classifier, NULL, x, unit, 2.0, 0.02, &r, other),
                         HF_OK);
        assert_true(r.certified < r.broken && isfinite(r.broken));
        assert_true(r.broken - r.certified <= 0.0201 * r.broken);
        assert_int_not_equal(predict(&t, 1, other, NULL), r.winner);
        for (size_t j = 0; j < INPUTS; j++) {
            assert_true(fabs(other[j] - x[j]) <= r.broken * unit[j] * (1.0 + 1e-12));
            lower[j] = x[j] - r.certified * unit[j];
            upper[j] = x[j] + r.certified * unit[j];
        }
        draw_inside(&t, SAMPLES, lower, upper, y);
        assert_int_equal(
            hf_classify_predict(t.s.ctx, t.s.classifier, SAMPLES, y, INPUTS, NULL, winner, NULL, NULL, NULL),
            HF_OK);
        for (size_t k = 0; k < SAMPLES; k++) assert_int_equal(winner[k], r.winner);
    }
    several_end(&t.s);
}

/* An attack stays in its box, gains, and never gets below what is certified; its gradient is that of the
 * probability. */
static void test_attack(void **state)
{
    (void)state;
    trial t;
    size_t near = 0;
    begin(&t, kernels[1], 3, NULL);
    for (size_t b = 0; b < 10; b++) {
        double x[INPUTS], lower[INPUTS], upper[INPUTS], y[INPUTS], at[2][INPUTS], p[3], left;
        draw_box(&t, 0.6, x, lower, upper);
        hf_certify_settings settings = hf_certify_settings_default();
        settings.output = predict(&t, 1, x, p);
        const double start = p[settings.output];
        const hf_range r = certify(&t, &settings, lower, upper, at[0], at[1]);
        for (int kind = 0; kind < 2; kind++) {
            assert_int_equal(
                hf_attack(t.s.ctx, t.s.classifier, (hf_attack_kind)kind, 0, 1, x, lower, upper, y, &left),
                HF_OK);
            predict(&t, 1, y, p);
            assert_near(left, p[settings.output], 1e-12);
            assert_true(left >= r.lower);
            for (size_t j = 0; j < INPUTS; j++) assert_true(y[j] >= lower[j] && y[j] <= upper[j]);
            if (kind == HF_ATTACK_FGSM) continue;
            assert_true(left <= start + 1e-6); /* the quicker quadrature */
            near += left <= r.lower_attained + 0.02;
        }
    }
    assert_true(near >= 8);
    several_end(&t.s);
}

static void test_gradient(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNELS; k++) {
        trial t;
        begin(&t, kernels[k], 3, NULL);
        const hf_posterior *posterior = hf_classifier_posterior(t.s.classifier);
        double x[INPUTS + 1] = {0.31, -0.42, 0.0}, slope[INPUTS];
        const hfi_subject subject = {
            .posterior = posterior, .d = INPUTS + 1, .lower = x, .upper = x, .middle = x};
        for (int margin = 0; margin < 2; margin++) {
            hfi_classes *c = NULL;
            assert_int_equal(hfi_classes_create(t.s.ctx, posterior, &subject, 1,
                                                margin == 1 ? &hfi_quantity_margin : &hfi_quantity_softmax,
                                                1e-6, &c),
                             HF_OK);
            (void)hfi_classes_value(c, x, slope);
            for (size_t j = 0; j < INPUTS; j++) {
                const double step = 1e-5;
                x[j] += step;
                const double up = hfi_classes_value(c, x, NULL);
                x[j] -= 2.0 * step;
                const double low = hfi_classes_value(c, x, NULL);
                x[j] += step;
                assert_near((up - low) / (2.0 * step), slope[j], 1e-6);
            }
            hfi_classes_free(c);
        }
        several_end(&t.s);
    }
}

/* Jets that are filled together are those that each has alone. */
static void test_together(void **state)
{
    (void)state;
    enum {
        TOGETHER = 3
    };
    trial t;
    begin(&t, kernels[0], 3, NULL);
    const hf_posterior *posterior = hf_classifier_posterior(t.s.classifier);
    double lower[INPUTS + 1] = {-0.5, -0.5, 0.0}, upper[INPUTS + 1] = {0.5, 0.5, 0.0},
                          middle[INPUTS + 1] = {0.0}, extent[INPUTS] = {0.5, 0.5};
    size_t all[INPUTS] = {0, 1};
    const hfi_subject subject = {.posterior = posterior,
                                 .d = INPUTS + 1,
                                 .free_count = INPUTS,
                                 .free = all,
                                 .lower = lower,
                                 .upper = upper,
                                 .middle = middle,
                                 .extent = extent};
    hfi_classes *c = NULL;
    assert_int_equal(hfi_classes_create(t.s.ctx, posterior, &subject, 1, &hfi_quantity_softmax, 1e-3, &c),
                     HF_OK);
    const size_t size = hfi_jets_room(c, 2), numbers = 3 * hfi_jet_count(INPUTS, 2);
    double *room = calloc((TOGETHER + 1) * size, sizeof *room),
           *scratch = calloc(hfi_jets_scratch(c, 2, TOGETHER), sizeof *scratch);
    const double half[INPUTS] = {0.2, 0.1};
    hfi_jets jets[TOGETHER], alone;
    for (size_t k = 0; k < TOGETHER; k++) {
        const double centre[INPUTS] = {0.3 * (double)k - 0.3, 0.1 * (double)k};
        jets[k] = hfi_jets_about(c, 2, centre, half, room + k * size);
    }
    hfi_jets_fill(c, TOGETHER, jets, scratch);
    for (size_t k = 0; k < TOGETHER; k++) {
        alone = hfi_jets_about(c, 2, jets[k].centre, half, room + TOGETHER * size);
        hfi_jets_fill(c, 1, &alone, scratch);
        for (size_t q = 0; q < numbers * numbers; q++) assert_near(jets[k].gram[q], alone.gram[q], 1e-11);
    }
    free(room);
    free(scratch);
    hfi_classes_free(c);
    several_end(&t.s);
}

/* The score by a fine grid is in its enclosure; counts add up. */
static void test_explain_and_accuracy(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[0], 3, NULL);
    const double step[INPUTS] = {0.5, 0.25}, x[INPUTS] = {0.1, 0.2}, radius[INPUTS] = {0.25, 0.25},
                 none[INPUTS] = {0.0, 0.0};
    double low[INPUTS], high[INPUTS];
    hf_certify_settings settings = hf_certify_settings_default();
    settings.output = 1;
    settings.tolerance = 5e-3;
    assert_int_equal(hf_explain_class(t.s.ctx, t.s.classifier, &settings, 1, x, step, low, high), HF_OK);
    for (size_t k = 0; k < INPUTS; k++) {
        double least[2] = {1.0, 1.0}, most[2] = {0.0, 0.0}, y[INPUTS], p[3];
        memcpy(y, x, sizeof y);
        for (int i = -100; i <= 100; i++) {
            y[k] = x[k] + i / 100.0 * step[k];
            predict(&t, 1, y, p);
            for (int side = 0; side < 2; side++) {
                if (side == 0 ? i < 0 : i > 0) continue;
                least[side] = fmin(least[side], p[1]);
                most[side] = fmax(most[side], p[1]);
            }
        }
        const double score = (most[0] - most[1]) + (least[0] - least[1]);
        assert_true(score >= low[k] - 1e-4 && score <= high[k] + 1e-4);
        assert_true(high[k] - low[k] <= 4.1 * settings.tolerance);
    }
    hf_certified_accuracy with, without;
    t.label[5] = HF_LABEL_MISSING;
    assert_int_equal(hf_certify_accuracy(t.s.ctx, t.s.classifier, NULL, ROWS, t.x, t.label, radius, &with),
                     HF_OK);
    assert_int_equal(hf_certify_accuracy(t.s.ctx, t.s.classifier, NULL, ROWS, t.x, t.label, none, &without),
                     HF_OK);
    assert_int_equal(with.rows, ROWS - 1);
    assert_int_equal(with.right, without.right);
    assert_int_equal(without.certified, without.right);
    assert_int_equal(with.certified + with.broken, with.right);
    assert_true(with.certified < with.right && with.certified > 0);
    several_end(&t.s);
}

static void test_arguments(void **state)
{
    (void)state;
    trial t;
    begin(&t, kernels[0], 3, NULL);
    const double x[INPUTS] = {0.0, 0.0};
    hf_certify_settings settings = hf_certify_settings_default();
    hf_range r = {.lower = 7.0};
    hf_decision d;
    settings.output = 3;
    assert_int_equal(hf_certify_class(t.s.ctx, t.s.classifier, &settings, 1, x, x, &r, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(t.s.ctx), "there is no class 3"));
    settings.output = 0;
    settings.rigorous = true;
    assert_int_equal(hf_certify_class(t.s.ctx, t.s.classifier, &settings, 1, x, x, &r, NULL, NULL),
                     HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(t.s.ctx), "softmax"));
    assert_int_equal(hf_certify_decision(t.s.ctx, t.s.classifier, NULL, &settings, 1, x, x, x, &d, NULL),
                     HF_ERR_ARGUMENT);
    assert_true(r.lower == 7.0);
    several_end(&t.s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sound),
                                       cmocka_unit_test(test_balls),
                                       cmocka_unit_test(test_point),
                                       cmocka_unit_test(test_permutation),
                                       cmocka_unit_test(test_two_classes),
                                       cmocka_unit_test(test_decisions),
                                       cmocka_unit_test(test_radius),
                                       cmocka_unit_test(test_attack),
                                       cmocka_unit_test(test_gradient),
                                       cmocka_unit_test(test_together),
                                       cmocka_unit_test(test_explain_and_accuracy),
                                       cmocka_unit_test(test_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
