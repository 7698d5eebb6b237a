/* SPDX-License-Identifier: Apache-2.0 */
/* Smallest moves: an example is one and lies where it is said to; grids, random points and every choice of
 * inputs find none that is surely not there. */
#include "kernel/kernel_testing.h"

#include "core/assert_near.h"
#include "posterior/posterior.h"
#include <holdfast/certify_flip.h>

enum {
    WIDE = 4, /* inputs of the largest model */
    ROWS = 36,
    SAMPLES = 400
};

/* One or the other, of d inputs. */
typedef struct model {
    hf_context *ctx;
    hf_posterior *posterior;
    hf_classifier *classifier;
    size_t d;
} model;

static double wave(const double *x, size_t d)
{
    return sin(2.0 * x[0]) + x[1] + (d > 2 ? 0.6 * x[2] * x[1] - 0.5 * x[3] : 0.0);
}

static model make(hf_context *ctx, size_t d, size_t classes)
{
    model out = {.ctx = ctx, .d = d};
    double *x = make_points(ROWS, d, 3), y[ROWS];
    size_t label[ROWS];
    hf_kernel *kernel = parse(ctx, classes > 0 ? "4*se(lengthscale=1.1)" : "3*se(lengthscale=1.5)", d);
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    hf_status status;
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, d, &mean), HF_OK);
    for (size_t i = 0; i < ROWS; i++) {
        y[i] = wave(x + i * d, d);
        label[i] = y[i] > 0.3 ? 1 : classes > 2 && y[i] < -0.8 ? 2 : 0;
    }
    if (classes > 2) {
        hf_class_settings fit = hf_class_settings_default();
        const hf_class_data data = {.n = ROWS, .d = d, .x = x, .ldx = d, .label = label, .classes = classes};
        fit.link = HF_LINK_SOFTMAX;
        fit.train = false;
        status = hf_classifier_fit(ctx, &data, &fit, &out.classifier, NULL);
    } else if (classes > 0) {
        status = hf_classify_exact(ctx, HF_LINK_PROBIT, HF_INFERENCE_LAPLACE, kernel, mean, ROWS, x, d, label,
                                   2, &out.classifier, NULL);
    } else {
        assert_int_equal(hf_sites_gaussian(ctx, ROWS, y, 0.01, NULL, &sites), HF_OK);
        status = hf_solve_exact(ctx, kernel, mean, sites, x, d, &out.posterior);
    }
    if (status < 0) fail_msg("%s", hf_context_message(ctx));
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
    return out;
}

static void drop(model *m)
{
    hf_posterior_free(m->posterior);
    hf_classifier_free(m->classifier);
}

static size_t class_of(const model *m, const double *x)
{
    double p[3];
    size_t out;
    assert_true(hf_classify_predict(m->ctx, m->classifier, 1, x, m->d, p, &out, NULL, NULL, NULL) >= 0);
    return out;
}

static double value_of(const model *m, const hf_claim *claim, double beta, const double *x)
{
    double mean, var;
    assert_true(hf_predict(m->ctx, m->posterior, 1, x, m->d, &mean, &var, NULL) >= 0);
    return claim->what == HF_CERTIFY_MEAN ? mean
           : claim->what == HF_CERTIFY_SD ? sqrt(var)
                                          : mean + beta * sqrt(var);
}

static hf_flip ask(const model *m, const hf_claim *claim, hf_flip_kind kind,
                   const hf_certify_settings *settings, const double *x, const double *unit, double most,
                   double *example)
{
    hf_claim own = *claim;
    hf_flip out;
    own.posterior = m->posterior;
    own.classifier = m->classifier;
    if (hf_certify_flip(m->ctx, &own, kind, settings, x, unit, most, 0.02, &out, example) < 0)
        fail_msg("%s", hf_context_message(m->ctx));
    return out;
}

static double distance(const double *x, const double *to, const double *unit, size_t d)
{
    double most = 0.0;
    for (size_t j = 0; j < d; j++) most = fmax(most, fabs(to[j] - x[j]) / (unit ? unit[j] : 1.0));
    return most;
}

static size_t moved(const double *x, const double *to, size_t d)
{
    size_t count = 0;
    for (size_t j = 0; j < d; j++) count += to[j] != x[j];
    return count;
}

/* ---- nearest ----------------------------------------------------------------------------------------------------- */

/* The nearest point of another class on a dense grid: a slow reference. */
static double nearest_on_grid(const model *m, const double *x, const double *unit, double most, size_t steps)
{
    const size_t here = class_of(m, x);
    double best = INFINITY;
    for (size_t i = 0; i <= 2 * steps; i++)
        for (size_t j = 0; j <= 2 * steps; j++) {
            const double u = most * ((double)i / (double)steps - 1.0),
                         v = most * ((double)j / (double)steps - 1.0);
            const double to[2] = {x[0] + u * unit[0], x[1] + v * unit[1]};
            const double away = fmax(fabs(u), fabs(v));
            if (away < best && class_of(m, to) != here) best = away;
        }
    return best;
}

static void nearest_of_classes(void **state)
{
    const hf_claim claim = hf_claim_default();
    size_t found = 0;
    for (size_t classes = 2; classes <= 3; classes++) {
        model m = make(*state, 2, classes);
        hf_certify_settings settings = hf_certify_settings_default();
        settings.node_limit = 4000;
        const double unit[2] = {0.7, 1.2}, points[][2] = {{0.2, 0.4}, {-0.4, -0.9}, {1.0, 0.9}};
        for (size_t k = 0; k < (classes == 2 ? 3 : 1); k++) {
            double example[2];
            const double *x = points[k], most = 1.5, best = nearest_on_grid(&m, x, unit, most, 60);
            const hf_flip f = ask(&m, &claim, HF_FLIP_NEAREST, &settings, x, unit, most, example);
            assert_int_equal(f.winner, class_of(&m, x));
            assert_true(f.certified < best && f.certified <= most);
            if (!isfinite(f.distance)) continue;
            found++;
            assert_int_equal(f.other, class_of(&m, example));
            assert_true(f.other != f.winner && f.flipped <= f.value);
            assert_near(f.distance, distance(x, example, unit, 2), 1e-9);
            assert_true(f.certified <= f.distance && f.distance <= most);
            assert_true(f.distance <= 1.021 * best);
            assert_int_equal(f.moved, moved(x, example, 2));
        }
        drop(&m);
    }
    assert_true(found >= 3);
}

/* Random points nearer than what is certified keep the claim; the example does not. */
static void nearest_of_readings(void **state)
{
    model m = make(*state, WIDE, 0);
    hf_certify_settings settings = hf_certify_settings_default();
    hfi_stream stream;
    hfi_stream_init(&stream, 71, HFI_PURPOSE_TEST, 0);
    settings.node_limit = 3000;
    settings.beta = 1.5;
    const double x[WIDE] = {0.1, -0.2, 0.3, 0.2}, unit[WIDE] = {1.0, 0.5, 0.0, 2.0};
    for (int k = 0; k < 3; k++) {
        hf_claim claim = hf_claim_default();
        double example[WIDE], to[WIDE];
        claim.what = (hf_certify_what)k;
        const double here = value_of(&m, &claim, 1.5, x);
        if (k == 0) claim.delta = 0.4;
        if (k == 1) claim.never_above = here + 0.1;
        if (k == 2) claim.never_below = here - 0.4;
        const hf_flip f = ask(&m, &claim, HF_FLIP_NEAREST, &settings, x, unit, 1.0, example);
        assert_true(f.winner == SIZE_MAX && f.other == SIZE_MAX);
        assert_near(f.value, here, 1e-7);
        assert_true(f.certified > 0.0 && f.certified < f.distance && f.distance <= 1.0);
        const double there = value_of(&m, &claim, 1.5, example);
        assert_near(f.flipped, there, 1e-7);
        assert_true(there > claim.never_above || there < claim.never_below ||
                    fabs(there - here) > claim.delta);
        assert_true(example[2] == x[2] && f.moved == moved(x, example, WIDE));
        for (size_t s = 0; s < SAMPLES; s++) {
            for (size_t j = 0; j < WIDE; j++)
                to[j] = x[j] + f.certified * unit[j] * (2.0 * hfi_stream_uniform(&stream) - 1.0);
            const double v = value_of(&m, &claim, 1.5, to);
            assert_true(v <= claim.never_above + 1e-7 && v >= claim.never_below - 1e-7);
            assert_true(fabs(v - here) <= claim.delta + 1e-7);
        }
    }
    drop(&m);
}

/* ---- fewest ------------------------------------------------------------------------------------------------------ */

/* The fewest inputs of which some point of a grid flips: every choice of them, among five places of each. */
static size_t fewest_on_grid(const model *m, const hf_claim *claim, const double *x, double reach)
{
    size_t places = 1, best = SIZE_MAX;
    const size_t here = m->classifier ? class_of(m, x) : 0;
    for (size_t j = 0; j < m->d; j++) places *= 5;
    for (size_t k = 0; k < places; k++) {
        double to[WIDE];
        size_t rest = k;
        for (size_t j = 0; j < m->d; j++, rest /= 5) to[j] = x[j] + reach * ((double)(rest % 5) - 2.0) / 2.0;
        const size_t count = moved(x, to, m->d);
        if (count >= best) continue;
        const bool flips =
            m->classifier ? class_of(m, to) != here : value_of(m, claim, 1.0, to) > claim->never_above + 1e-7;
        if (flips) best = count;
    }
    return best;
}

static void check_fewest(const model *m, const hf_claim *claim, const double *x, double reach, size_t *counts)
{
    hf_certify_settings settings = hf_certify_settings_default();
    double example[WIDE];
    settings.node_limit = 1500;
    const hf_flip f = ask(m, claim, HF_FLIP_FEWEST, &settings, x, NULL, reach, example);
    const size_t best = fewest_on_grid(m, claim, x, reach);
    assert_true(best > f.spared); /* nothing there is against what is certain */
    if (!isfinite(f.distance)) {
        assert_true(isnan(example[0]) && f.moved == 0);
        if (f.certified == reach) assert_true(best == SIZE_MAX && f.spared == m->d);
        return;
    }
    assert_int_equal(f.moved, moved(x, example, m->d));
    assert_true(f.distance <= reach && f.certified == 0.0 && f.moved > f.spared);
    assert_near(f.distance, distance(x, example, NULL, m->d), 1e-9);
    if (m->classifier)
        assert_true(class_of(m, example) == f.other && f.other != class_of(m, x));
    else
        assert_true(value_of(m, claim, 1.0, example) > claim->never_above);
    if (f.moved == f.spared + 1) {
        counts[f.moved]++;
        assert_true(best >= f.moved);
    }
}

static void fewest_against_every_choice(void **state)
{
    size_t counts[WIDE + 1] = {0};
    const double x[WIDE] = {-0.3, -0.4, 0.2, 0.3};
    model classes = make(*state, WIDE, 2), readings = make(*state, WIDE, 0);
    hf_claim claim = hf_claim_default();
    const double reach[] = {0.1, 0.45, 0.6, 1.2};
    for (size_t k = 0; k < 4; k++) check_fewest(&classes, &claim, x, reach[k], counts);
    const double here = value_of(&readings, &claim, 1.0, x), more[] = {0.3, 1.0, 1.5, 4.0};
    for (size_t k = 0; k < 4; k++) {
        claim.never_above = here + more[k];
        check_fewest(&readings, &claim, x, 0.6, counts);
    }
    assert_true(counts[1] > 0 && counts[2] > 0);
    drop(&classes);
    drop(&readings);
}

/* ---- edges ------------------------------------------------------------------------------------------------------- */

static void nothing_flips(void **state)
{
    model m = make(*state, WIDE, 0);
    hf_claim claim = hf_claim_default();
    const double x[WIDE] = {0.1, -0.2, 0.3, 0.2}, unit[WIDE] = {1.0, 1.0, 0.0, 1.0};
    claim.never_above = 50.0;
    for (int kind = 0; kind <= HF_FLIP_FEWEST; kind++) {
        double example[WIDE];
        hf_flip f = ask(&m, &claim, (hf_flip_kind)kind, NULL, x, unit, 0.3, example);
        assert_true(f.certified == 0.3 && isinf(f.distance) && isnan(f.flipped) && isnan(example[1]));
        assert_true(f.spared == 3 && f.moved == 0 && !f.rigorous && !f.estimate);
        /* Broken where the point is: no move is needed. */
        hf_claim broken = hf_claim_default();
        broken.never_above = f.value - 1.0;
        f = ask(&m, &broken, (hf_flip_kind)kind, NULL, x, unit, 0.3, example);
        assert_true(isnan(f.certified) && f.distance == 0.0 && f.moved == 0);
        assert_memory_equal(example, x, sizeof x);
        assert_near(f.flipped, f.value, 1e-9);
    }
    assert_string_equal(hf_enum_name(HF_ENUM_FLIP_KIND, HF_FLIP_FEWEST), "fewest");
    drop(&m);
}

/* By whole steps, within limits, in the second of two outputs. */
static void steps_limits_and_outputs(void **state)
{
    enum {
        COUNT = 24
    };
    hf_context *ctx = *state;
    double *x = make_points(COUNT, 3, 5), y[COUNT];
    hf_kernel *kernel = parse(ctx, "coregion(x3, outputs=2)*se(x1, x2)", 3);
    hf_mean *mean = NULL;
    hf_sites *sites = NULL;
    model m = {.ctx = ctx, .d = 3};
    for (size_t i = 0; i < COUNT; i++) {
        x[3 * i + 2] = (double)(i % 2);
        y[i] = x[3 * i] * (i % 2 ? 1.0 : -1.0) + 0.3 * x[3 * i + 1];
    }
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 3, &mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(ctx, COUNT, y, 0.02, NULL, &sites), HF_OK);
    assert_true(hf_solve_exact(ctx, kernel, mean, sites, x, 3, &m.posterior) >= 0);
    const double shift[2] = {5.0, -3.0}, scale[2] = {2.0, 10.0};
    assert_int_equal(hfi_scaling_set_outputs(ctx, &m.posterior->scaling, 2, shift, scale), HF_OK);
    const double at[2] = {0.1, 0.2}, least[2] = {-0.5, -9.0}, most[2] = {9.0, 0.4}, step[2] = {0.25, 0.0};
    for (size_t output = 0; output < 2; output++)
        for (int kind = 0; kind <= HF_FLIP_FEWEST; kind++) {
            hf_claim claim = hf_claim_default();
            hf_certify_settings settings = hf_certify_settings_default();
            hf_region region = hf_region_default();
            double example[3], row[3] = {at[0], at[1], (double)output};
            claim.delta = output ? 4.0 : 0.8;
            region.least = least, region.most = most, region.step = step;
            settings.output = output;
            settings.node_limit = 2000;
            settings.region = &region;
            const hf_flip f = ask(&m, &claim, (hf_flip_kind)kind, &settings, at, NULL, 1.0, example);
            assert_true(isfinite(f.distance) && f.distance <= 1.0);
            assert_near(remainder(example[0] - at[0], 0.25), 0.0, 1e-12);
            assert_true(example[0] >= -0.5 && example[1] <= 0.4);
            const double here = value_of(&m, &claim, 1.0, row);
            memcpy(row, example, 2 * sizeof *row);
            const double there = value_of(&m, &claim, 1.0, row);
            assert_near(f.value, here, 1e-6);
            assert_near(f.flipped, there, 1e-6);
            assert_true(fabs(there - here) > claim.delta);
        }
    hf_posterior_free(m.posterior);
    hf_sites_free(sites);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    free(x);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nearest_of_classes), TEST(nearest_of_readings),      TEST(fewest_against_every_choice),
        TEST(nothing_flips),      TEST(steps_limits_and_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
