/* SPDX-License-Identifier: Apache-2.0 */
/* Which class is ahead, by means and covariances alone: the inequality itself, bounds of it over boxes attacked with
 * points, and decisions beside those that take moments. */
#include "certify/several.h"

#include "certify/quantities.h"
#include "classify/softmax.h"
#include "softmax/classes_order.h"
#include <holdfast/certify_uses.h>

enum {
    MOST_CLASSES = 4,
    POINTS = 64
};

/* mean_a - mean_b, and that with the covariance as class c tells it. */
static double ahead(size_t n, const double *mean, const double *s, size_t a, size_t b, size_t c)
{
    const double first = mean[a] - mean[b];
    if (c == n) return first;
    return first + 0.5 * (s[a * n + a] - s[b * n + b]) - s[a * n + c] + s[b * n + c];
}

static double least_ahead(size_t n, const double *mean, const double *s, size_t a, size_t b)
{
    double least = (double)INFINITY;
    for (size_t c = 0; c <= n; c++)
        if (c != a && c != b) least = fmin(least, ahead(n, mean, s, a, b, c));
    return least;
}

static void draw_normal(hfi_stream *stream, size_t n, double size, double *mean, double *s)
{
    double root[MOST_CLASSES * MOST_CLASSES];
    for (size_t k = 0; k < n * n; k++) root[k] = size * hfi_stream_normal(stream);
    for (size_t i = 0; i < n; i++) {
        mean[i] = size * hfi_stream_normal(stream);
        for (size_t j = 0; j < n; j++) {
            s[i * n + j] = 0.0;
            for (size_t k = 0; k < n; k++) s[i * n + j] += root[i * n + k] * root[j * n + k];
        }
    }
}

/* Wherever both conditions hold, the class is more probable; where they just hold, too. */
static void test_inequality(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, 1);
    size_t held = 0;
    for (size_t trial = 0; trial < 600; trial++) {
        const size_t n = 2 + trial % 3;
        double mean[MOST_CLASSES], s[MOST_CLASSES * MOST_CLASSES], p[MOST_CLASSES], error,
            *scratch = calloc(hfi_softmax_scratch(n), sizeof *scratch);
        assert_non_null(scratch);
        draw_normal(&stream, n, pow(10.0, hfi_stream_uniform(&stream) - 0.5), mean, s);
        if (trial % 2 == 1) mean[0] += 1e-7 - least_ahead(n, mean, s, 0, 1); /* the nearest one just holds */
        hfi_softmax_probability(n, mean, s, p, &error, scratch);
        if (least_ahead(n, mean, s, 0, 1) > 0.0) {
            held++;
            assert_true(p[0] > p[1] - 2.0 * error);
            if (n == 2) assert_near(least_ahead(n, mean, s, 0, 1), mean[0] - mean[1], 0.0);
        }
        free(scratch);
    }
    assert_true(held > 350);
}

/* Neither condition can be left out: far below a third class the second one decides, far above it the first. */
static void test_both_are_needed(void **state)
{
    (void)state;
    const double s[] = {0.5, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.1};
    double p[3], error, *scratch = calloc(hfi_softmax_scratch(3), sizeof *scratch);
    assert_non_null(scratch);
    const double below[] = {-8.0, -8.5, 0.0}, above[] = {20.0, 20.1, 0.0};
    assert_true(ahead(3, below, s, 0, 1, 3) > 0.0 && ahead(3, below, s, 0, 1, 2) < 0.0);
    hfi_softmax_probability(3, below, s, p, &error, scratch);
    assert_true(p[0] < 0.9 * p[1] && p[1] > 1e3 * error);
    const double turned[] = {3.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.1};
    assert_true(ahead(3, above, turned, 0, 1, 3) < 0.0 && ahead(3, above, turned, 0, 1, 2) > 0.0);
    hfi_softmax_probability(3, above, turned, p, &error, scratch);
    assert_true(p[0] < p[1] - 2.0 * error);
    free(scratch);
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

typedef struct trial {
    several s;
    hfi_stream stream;
} trial;

static const char *const served[] = {"@*6*se(ard, lengthscale=0.9)", "@*5*matern52(ard, lengthscale=1.3)",
                                     "@*2*se(lengthscale=0.8) + @*3*matern52(ard, lengthscale=2) + @*0.7",
                                     "@*8*se(x1, lengthscale=0.7)*se(x2) + @*0.05*white"},
                         *const others[] = {"@*4*matern32(lengthscale=1)",
                                            "@*rq(lengthscale=1, alpha=1.2) + @",
                                            "@*2*se + @*0.3*linear(ard)", "@*se + @*0.1*white*linear(x1)"};

enum {
    SERVED = sizeof served / sizeof *served,
    OTHERS = sizeof others / sizeof *others
};

/* Clouds around a circle; the kernels of classes differ in size where `uneven`. */
static void begin(trial *t, const char *kernel, size_t classes, bool uneven)
{
    double x[ROWS * INPUTS];
    size_t label[ROWS];
    several_begin(&t->s, kernel, classes);
    hfi_stream_init(&t->stream, 8, HFI_PURPOSE_TEST, classes);
    for (size_t i = 0; i < ROWS; i++) {
        const double angle = 2.0 * HFI_PI * (double)(i % classes) / (double)classes;
        x[i * INPUTS] = 0.5 * hfi_stream_normal(&t->stream) + 1.3 * cos(angle);
        x[i * INPUTS + 1] = 0.5 * hfi_stream_normal(&t->stream) + 1.3 * sin(angle);
        label[i] = i % classes;
    }
    for (size_t i = 0; uneven && i < classes; i++) {
        char name[40];
        snprintf(name, sizeof name, "coregion.own[%zu]", i);
        if (hf_kernel_set(t->s.ctx, t->s.kernel, name, 0.5 + (double)i) != HF_OK)
            fail_msg("%s", hf_context_message(t->s.ctx));
    }
    several_fit(&t->s, x, label);
}

static hfi_order *make_order(trial *t, const hfi_quantity *quantity)
{
    hfi_order *order = NULL;
    assert_int_equal(
        hfi_order_create(t->s.ctx, NULL, hf_classifier_posterior(t->s.classifier), quantity, &order), HF_OK);
    return order;
}

static hfi_certify_problem *make_problem(trial *t, size_t winner, hfi_order *order, const double *lower,
                                         const double *upper)
{
    hf_certify_settings settings = hf_certify_settings_default();
    hfi_certify_problem *q = NULL;
    settings.output = winner;
    if (hfi_problem_create(t->s.ctx, hf_classifier_posterior(t->s.classifier), &hfi_quantity_margin,
                           &settings, order, lower, upper, &q) < 0)
        fail_msg("%s", hf_context_message(t->s.ctx));
    return q;
}

/* The number that is bounded, at a point. */
static double value_at(trial *t, size_t winner, double sign, const double *x)
{
    double mean[MOST_CLASSES], var[MOST_CLASSES], seen[MOST_CLASSES], s[MOST_CLASSES * MOST_CLASSES],
        value = sign * (double)INFINITY;
    assert_int_equal(hf_predict_outputs(t->s.ctx, hf_classifier_posterior(t->s.classifier), 1, x, INPUTS,
                                        mean, var, seen, s),
                     HF_OK);
    for (size_t other = 0; other < t->s.classes; other++) {
        if (other == winner) continue;
        const double own = sign > 0.0 ? least_ahead(t->s.classes, mean, s, winner, other)
                                      : least_ahead(t->s.classes, mean, s, other, winner);
        value = sign > 0.0 ? fmin(value, own) : fmax(value, own);
    }
    return value;
}

/* Parts of a box, bounded together, and points of each. Returns how many bounds are within half of what is there. */
static size_t check_parts(trial *t, size_t winner, double sign, double half, hfi_order *order)
{
    double lower[INPUTS], upper[INPUTS], centre[HFI_TOGETHER * (INPUTS + 1)], halves[HFI_TOGETHER * INPUTS];
    for (size_t j = 0; j < INPUTS; j++) {
        lower[j] = 3.0 * hfi_stream_uniform(&t->stream) - 1.5;
        upper[j] = lower[j] + 2.0 * half;
    }
    hfi_certify_problem *q = make_problem(t, winner, order, lower, upper);
    const hfi_classes *c = q->state;
    assert_true(c->order == order);
    for (size_t k = 0; k < HFI_TOGETHER; k++) {
        for (size_t j = 0; j < INPUTS; j++) {
            halves[k * INPUTS + j] = 0.5 * half * hfi_stream_uniform(&t->stream);
            centre[k * (INPUTS + 1) + j] =
                lower[j] + halves[k * INPUTS + j] +
                hfi_stream_uniform(&t->stream) * 2.0 * (half - halves[k * INPUTS + j]);
        }
        centre[k * (INPUTS + 1) + INPUTS] = 0.0;
    }
    hfi_ordered found[HFI_TOGETHER], alone;
    double *scratch = calloc(hfi_order_scratch(order, c), sizeof *scratch);
    assert_non_null(scratch);
    hfi_order_bounds(order, q, sign, HFI_TOGETHER, centre, halves, found, scratch);
    size_t narrow = 0;
    for (size_t k = 0; k < HFI_TOGETHER; k++) {
        double least = (double)INFINITY;
        hfi_order_bounds(order, q, sign, 1, centre + k * (INPUTS + 1), halves + k * INPUTS, &alone, scratch);
        assert_near(alone.least, found[k].least, 1e-9 * (1.0 + fabs(alone.least)));
        assert_int_equal(alone.split, found[k].split);
        for (size_t point = 0; point < POINTS; point++) {
            double x[INPUTS];
            for (size_t j = 0; j < INPUTS; j++) {
                const double side = 2.4 * hfi_stream_uniform(&t->stream) - 1.2;
                x[j] = centre[k * (INPUTS + 1) + j] +
                       halves[k * INPUTS + j] * (point == 0 ? 0.0 : fmax(-1.0, fmin(1.0, side)));
            }
            least = fmin(least, value_at(t, winner, sign, x));
        }
        assert_true(found[k].least < least);
        narrow += found[k].least > least - 0.5 * fabs(least) - 0.05;
    }
    free(scratch);
    hfi_problem_free(q);
    return narrow;
}

/* Solver's units are the user's: the classifier is made of its parts. */
static void test_bounds(void **state)
{
    (void)state;
    for (size_t k = 0; k < SERVED; k++)
        for (size_t classes = 2; classes <= MOST_CLASSES; classes++) {
            trial t;
            begin(&t, served[k], classes, k == 1);
            hfi_order *order = make_order(&t, &hfi_quantity_margin);
            assert_non_null(order);
            size_t narrow = 0;
            for (size_t box = 0; box < 6; box++) {
                const size_t winner = box % classes;
                for (int sign = -1; sign <= 1; sign += 2) {
                    (void)check_parts(&t, winner, sign, 0.7, order);
                    narrow += check_parts(&t, winner, sign, 0.08, order);
                }
            }
            if (narrow < 80) fail_msg("%s, %zu classes: %zu of 96", served[k], classes, narrow);
            hfi_order_free(order);
            several_end(&t.s);
        }
}

/* Where numbers overflow nothing is said. */
static void test_far(void **state)
{
    (void)state;
    for (size_t k = 0; k < SERVED; k++) {
        trial t;
        begin(&t, served[k], 3, false);
        hfi_order *order = make_order(&t, &hfi_quantity_margin);
        const double lower[] = {-0.1, -0.1}, upper[] = {0.2, 0.3};
        hfi_certify_problem *q = make_problem(&t, 0, order, lower, upper);
        double *scratch = calloc(hfi_order_scratch(order, q->state), sizeof *scratch);
        assert_non_null(scratch);
        for (int sign = -1; sign <= 1; sign += 2)
            for (int power = 100; power <= 300; power += 50) {
                const double far = pow(10.0, power), centre[] = {far, -far, 0.0},
                             half[] = {0.3 * far, 0.1 * far};
                hfi_ordered found;
                hfi_order_bounds(order, q, sign, 1, centre, half, &found, scratch);
                assert_true(!(found.least > 0.0));
            }
        free(scratch);
        hfi_problem_free(q);
        hfi_order_free(order);
        several_end(&t.s);
    }
}

static void test_not_served(void **state)
{
    (void)state;
    const double lower[] = {-0.1, -0.1}, upper[] = {0.2, 0.3};
    for (size_t k = 0; k < OTHERS; k++) {
        trial t;
        begin(&t, others[k], 3, false);
        hfi_quantity priced = hfi_quantity_margin;
        const double loss[9] = {0.0, 1.0 + 1e-12, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0};
        priced.loss = loss;
        assert_null(make_order(&t, &priced));
        assert_null(make_order(&t, &hfi_quantity_softmax));
        hfi_order *order = make_order(&t, &hfi_quantity_margin);
        hfi_certify_problem *q = make_problem(&t, 0, order, lower, upper);
        assert_null(((hfi_classes *)q->state)->order);
        hfi_problem_free(q);
        hfi_order_free(order);
        several_end(&t.s);
    }
}

/* ---- decisions --------------------------------------------------------------------------------------------------- */

/* With a loss that does not count wrong decisions alike to the last digit, moments decide. In balls, too. */
static void test_decisions(void **state)
{
    (void)state;
    size_t certified = 0, broken = 0, by_order = 0, by_moments = 0;
    for (size_t k = 0; k < SERVED; k++) {
        trial t;
        begin(&t, served[k], 3, k == 1);
        const double loss[9] = {0.0, 1.0 + 1e-12, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0};
        hf_region region = hf_region_default();
        region.shape = HF_SHAPE_L2;
        for (size_t i = 0; i < 24; i++) {
            hf_certify_settings settings = hf_certify_settings_default();
            double x[INPUTS], lower[INPUTS], upper[INPUTS], at[INPUTS];
            hf_decision own, other;
            if (i % 3 == 2) settings.region = &region;
            for (size_t j = 0; j < INPUTS; j++) {
                x[j] = 4.0 * hfi_stream_uniform(&t.stream) - 2.0;
                lower[j] = x[j] - 0.3;
                upper[j] = x[j] + 0.3;
            }
            assert_int_equal(
                hf_certify_decision(t.s.ctx, t.s.classifier, NULL, &settings, 1, x, lower, upper, &own, at),
                HF_OK);
            assert_int_equal(hf_certify_decision(t.s.ctx, t.s.classifier, loss, &settings, 1, x, lower, upper,
                                                 &other, NULL),
                             HF_OK);
            assert_int_equal(own.verdict, other.verdict);
            certified += own.verdict == HF_VERDICT_CERTIFIED;
            broken += own.verdict == HF_VERDICT_COUNTEREXAMPLE;
            by_order += own.nodes;
            by_moments += other.nodes;
        }
        several_end(&t.s);
    }
    assert_true(certified > 20 && broken > 20);

    assert_true(3 * by_order < 2 * by_moments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inequality), cmocka_unit_test(test_both_are_needed),
        cmocka_unit_test(test_bounds),     cmocka_unit_test(test_far),
        cmocka_unit_test(test_not_served), cmocka_unit_test(test_decisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
