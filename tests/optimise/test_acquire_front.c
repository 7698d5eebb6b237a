/* SPDX-License-Identifier: Apache-2.0 */
/* Where several objectives promise most, and where one function drawn from a posterior is largest. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "optimise/bounds.h"
#include <float.h>
#include <holdfast/acquire_front.h>

enum {
    D = 2,
    M = 30
};

static const double known[] = {0.5, 0.1, 0.9, -0.4, 0.2, 0.4, 0.3, -1.0}, worthless[] = {-1.0, -1.5};

/* Two objectives, and perhaps the second as a constraint as well. */
typedef struct objectives {
    const hf_posterior *posterior[2];
    double limit;
    hf_acquire_front front;
} objectives;

static void objectives_of(const pair *w, bool constrained, objectives *o)
{
    *o = (objectives){.posterior = {w->mean, w->spread}, .limit = 0.3};
    o->front = (hf_acquire_front){.size = sizeof(hf_acquire_front),
                                  .objectives = 2,
                                  .objective = o->posterior,
                                  .points = 4,
                                  .values = known,
                                  .reference = worthless};
    if (!constrained) return;
    o->front.constraints = 1;
    o->front.constraint = o->posterior + 1;
    o->front.limit = &o->limit;
}

static void evaluate(const pair *w, const hf_acquire_front *front, size_t m, const double *x, double *values,
                     double *gradients)
{
    const hf_status status = hf_ehvi_evaluate(w->ctx, front, m, x, values, gradients);
    if (status < 0) fail_msg("%s", hf_context_message(w->ctx));
}

/* ---- several objectives -------------------------------------------------------------------------------- */

static void values_are_those_of_the_moments(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        pair w = pair_open("se(lengthscale=0.7)", 20, D, kind % 2 == 1);
        objectives o;
        hf_ehvi *ehvi = NULL;
        objectives_of(&w, kind >= 2, &o);
        double *x = problem_inputs(M, D, 5), mean[2][M], var[2][M], values[M], one, gradient[D];
        assert_int_equal(hf_ehvi_create(w.ctx, 4, 2, known, worthless, &ehvi), HF_OK);
        for (size_t k = 0; k < 2; k++)
            assert_int_equal(hf_predict(w.ctx, o.posterior[k], M, x, D, mean[k], var[k], NULL), HF_OK);
        evaluate(&w, &o.front, M, x, values, NULL);
        for (size_t i = 0; i < M; i++) {
            const double own_mean[] = {mean[0][i], mean[1][i]}, sd[] = {sqrt(var[0][i]), sqrt(var[1][i])};
            double expected;
            assert_int_equal(hf_ehvi_log(ehvi, own_mean, sd, &expected, NULL, NULL), HF_OK);
            if (kind >= 2) expected += log(0.5 * erfc((own_mean[1] - o.limit) / sd[1] / sqrt(2.0)));
            if (expected == -INFINITY) expected = -DBL_MAX;
            assert_near(values[i], expected, 1e-9 * fmax(1.0, fabs(expected)));
            evaluate(&w, &o.front, 1, x + i * D, &one, gradient);
            assert_near(one, expected, 1e-9 * fmax(1.0, fabs(expected)));
        }
        hf_ehvi_free(ehvi);
        free(x);
        pair_close(&w);
    }
}

/* With pending points, and in units where nothing is 1. */
static void gradients_are_differences(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        pair w = pair_open("se(lengthscale=0.7)", 20, D, kind % 2 == 1);
        const hfi_scaling *scaling = &w.mean->scaling;
        double *z = problem_inputs(M + 2, D, 7), *x = naive_zeros((M + 2) * D);
        const double front[] = {scaling->y_shift, scaling->y_shift + 1.0},
                     reference[] = {scaling->y_shift - 2.0 * scaling->y_scale,
                                    scaling->y_shift - 2.0 * scaling->y_scale};
        objectives o;
        objectives_of(&w, kind >= 2, &o);
        o.limit = scaling->y_shift;
        o.front.points = 1;
        o.front.values = front;
        o.front.reference = reference;
        for (size_t i = 0; i < M + 2; i++) support_to_user(scaling, z + i * D, x + i * D);
        o.front.pending = 2;
        o.front.pending_x = x + M * D;
        for (size_t i = 0; i < M; i++) {
            double value, gradient[D], ends[2];
            evaluate(&w, &o.front, 1, x + i * D, &value, gradient);
            for (size_t j = 0; j < D; j++) {
                const double at = x[i * D + j], step = 2e-5 * scaling->x_scale[j];
                for (int end = 0; end < 2; end++) {
                    x[i * D + j] = at + (end ? step : -step);
                    evaluate(&w, &o.front, 1, x + i * D, &ends[end], NULL);
                }
                x[i * D + j] = at;
                const double difference = (ends[1] - ends[0]) / (2.0 * step);
                assert_near(gradient[j] * scaling->x_scale[j], difference * scaling->x_scale[j],
                            1e-5 * (1.0 + fabs(difference * scaling->x_scale[j]) + fabs(value)));
            }
        }
        free(z);
        free(x);
        pair_close(&w);
    }
}

/* One pending point, by the trapezoidal rule over what both objectives may be there, each time told to the
 * posteriors. */
static void pending_points_are_integrated(void **state)
{
    (void)state;
    enum {
        SIDE = 25,
        FEW = 5
    };
    pair w = pair_open("matern52", 15, D, false);
    objectives o;
    objectives_of(&w, false, &o);
    const double pending[] = {0.3, -0.4}, step = 0.4;
    double *x = problem_inputs(FEW, D, 5), mean[2], sd[2], at[2][FEW], spread[2][FEW], cross[2][FEW];
    double front[5 * 2], expected[FEW] = {0.0}, values[FEW], few[FEW], points[2 * D], c[4], one;
    memcpy(front, known, sizeof known);
    for (size_t k = 0; k < 2; k++) /* given f at the pending point: mean + cross z, var - cross^2 */
        for (size_t i = 0; i < FEW; i++) {
            memcpy(points, pending, sizeof pending);
            memcpy(points + D, x + i * D, D * sizeof *x);
            double both[2];
            assert_int_equal(hf_predict(w.ctx, o.posterior[k], 2, points, D, both, NULL, NULL), HF_OK);
            assert_int_equal(hf_predict_covariance(w.ctx, o.posterior[k], 2, points, D, c, 2), HF_OK);
            mean[k] = both[0];
            sd[k] = sqrt(c[0]);
            at[k][i] = both[1];
            cross[k][i] = c[1] / sd[k];
            spread[k][i] = sqrt(c[3] - cross[k][i] * cross[k][i]);
        }
    for (int a = 0; a < SIDE * SIDE; a++) {
        const double z[] = {step * (a % SIDE - SIDE / 2), step * (a / SIDE - SIDE / 2)};
        hf_ehvi *ehvi = NULL;
        for (size_t k = 0; k < 2; k++) front[8 + k] = mean[k] + sd[k] * z[k];
        assert_int_equal(hf_ehvi_create(w.ctx, 5, 2, front, worthless, &ehvi), HF_OK);
        for (size_t i = 0; i < FEW; i++) {
            const double own[] = {at[0][i] + cross[0][i] * z[0], at[1][i] + cross[1][i] * z[1]},
                         own_sd[] = {spread[0][i], spread[1][i]};
            assert_int_equal(hf_ehvi_value(ehvi, own, own_sd, &one, NULL, NULL), HF_OK);
            expected[i] += one * exp(-0.5 * (z[0] * z[0] + z[1] * z[1])) * step * step / (2.0 * acos(-1.0));
        }
        hf_ehvi_free(ehvi);
    }
    o.front.pending = 1;
    o.front.pending_x = pending;
    evaluate(&w, &o.front, FEW, x, few, NULL);
    o.front.draws = 4096;
    evaluate(&w, &o.front, FEW, x, values, NULL);
    for (size_t i = 0; i < FEW; i++) {
        assert_near(exp(values[i]), expected[i], 0.01 * (expected[i] + 0.01));
        assert_near(exp(few[i]), expected[i], 0.1 * (expected[i] + 0.01));
    }
    free(x);
    pair_close(&w);
}

/* Nothing is to be had where it is being fetched; another stream says nearly the same elsewhere. */
static void pending_points_are_kept_away_from(void **state)
{
    (void)state;
    pair w = pair_open("matern52", 15, D, false);
    objectives o;
    objectives_of(&w, false, &o);
    const double pending[] = {0.3, -0.4, -1.1, 0.8};
    double *x = problem_inputs(M, D, 5), alone[2], there[2], values[M], other[M];
    evaluate(&w, &o.front, 2, pending, alone, NULL);
    o.front.pending = 2;
    o.front.pending_x = pending;
    evaluate(&w, &o.front, 2, pending, there, NULL);
    for (size_t i = 0; i < 2; i++) assert_true(there[i] < alone[i] - 3.0);
    o.front.draws = 256;
    evaluate(&w, &o.front, M, x, values, NULL);
    o.front.stream = 1;
    evaluate(&w, &o.front, M, x, other, NULL);
    bool differs = false;
    for (size_t i = 0; i < M; i++) {
        assert_near(exp(values[i]), exp(other[i]), 0.1 * (exp(values[i]) + 0.01));
        differs = differs || values[i] != other[i];
    }
    assert_true(differs);
    free(x);
    pair_close(&w);
}

static void the_best_place_is_the_best_of_many(void **state)
{
    (void)state;
    enum {
        LOOKS = 3000
    };
    pair w = pair_open("se(lengthscale=0.7)", 20, D, false);
    objectives o;
    objectives_of(&w, true, &o);
    const hf_domain domain = cube(D);
    double *x = problem_inputs(LOOKS, D, 9), *values = naive_zeros(LOOKS), place[D], again[D], value;
    hf_argmax found;
    evaluate(&w, &o.front, LOOKS, x, values, NULL);
    assert_int_equal(hf_ehvi_maximise(w.ctx, &o.front, &domain, NULL, 0, NULL, place, &found), HF_OK);
    assert_true(hf_domain_contains(&domain, place, NULL));
    for (size_t i = 0; i < LOOKS; i++) assert_true(values[i] <= found.value + 1e-9);
    evaluate(&w, &o.front, 1, place, &value, NULL);
    assert_near(found.value, value, 1e-9 * fmax(1.0, fabs(value)));
    hf_context *threads = problem_context(3);
    assert_int_equal(hf_ehvi_maximise(threads, &o.front, &domain, NULL, 0, NULL, again, NULL), HF_OK);
    assert_memory_equal(place, again, sizeof place);
    hf_context_free(threads);
    free(x);
    free(values);
    pair_close(&w);
}

/* ---- Thompson's method --------------------------------------------------------------------------------- */

static void the_place_is_where_the_path_is_largest(void **state)
{
    (void)state;
    enum {
        LOOKS = 3000
    };
    pair w = pair_open("matern52", 20, D, false);
    const hf_domain domain = cube(D);
    double *x = problem_inputs(LOOKS, D, 9), *values = naive_zeros(LOOKS);
    hf_context *threads = problem_context(3);
    for (uint64_t stream = 0; stream < 4; stream++) {
        double place[D], again[D], mean, var;
        hf_argmax found;
        hf_path *path = NULL;
        assert_int_equal(hf_thompson_maximise(w.ctx, w.mean, stream, &domain, NULL, 0, NULL, place, &found),
                         HF_OK);
        assert_true(hf_domain_contains(&domain, place, NULL));
        assert_int_equal(hf_path_create(w.ctx, w.mean, stream, 0, &path), HF_OK);
        assert_int_equal(hf_path_many_rows(w.ctx, path, LOOKS, x, D, values), HF_OK);
        for (size_t i = 0; i < LOOKS; i++) assert_true(values[i] <= found.value + 1e-9);
        assert_int_equal(hf_path_many_rows(w.ctx, path, 1, place, D, values), HF_OK);
        assert_near(found.value, values[0], 1e-10);
        assert_int_equal(hf_predict(w.ctx, w.mean, 1, place, D, &mean, &var, NULL), HF_OK);
        assert_near(found.mean, mean, 1e-12);
        assert_near(found.sd, sqrt(var), 1e-9);
        assert_int_equal(hf_thompson_maximise(threads, w.mean, stream, &domain, NULL, 0, NULL, again, NULL),
                         HF_OK);
        assert_memory_equal(place, again, sizeof place);
        hf_path_free(path);
    }
    free(x);
    free(values);
    hf_context_free(threads);
    pair_close(&w);
}

/* How often a candidate is chosen is how likely it is to be the best: by joint draws of all candidates. */
static void candidates_are_chosen_as_often_as_they_are_best(void **state)
{
    (void)state;
    enum {
        CANDIDATES = 4,
        STREAMS = 500,
        DRAWS = 20000
    };
    pair w = pair_open("matern52(lengthscale=0.5)", 10, D, false);
    const double points[] = {0.9, 0.4, -1.2, 0.3, 1.3, -1.1, 0.1, 0.2};
    const hf_domain domain = {.dimension = D, .candidates = CANDIDATES, .points = points};
    double *samples = naive_zeros(DRAWS * CANDIDATES), best[CANDIDATES] = {0.0}, chosen[CANDIDATES] = {0.0};
    assert_true(hf_sample(w.ctx, w.spread, CANDIDATES, points, D, DRAWS, 1, samples) >= 0);
    for (size_t i = 0; i < DRAWS; i++) {
        size_t most = 0;
        for (size_t k = 1; k < CANDIDATES; k++)
            if (samples[i * CANDIDATES + k] > samples[i * CANDIDATES + most]) most = k;
        best[most] += 1.0 / DRAWS;
    }
    for (uint64_t stream = 0; stream < STREAMS; stream++) {
        double place[D];
        hf_argmax found;
        assert_int_equal(hf_thompson_maximise(w.ctx, w.spread, stream, &domain, NULL, 0, NULL, place, &found),
                         HF_OK);
        chosen[found.index] += 1.0 / STREAMS;
    }
    for (size_t k = 0; k < CANDIDATES; k++)
        assert_near(chosen[k], best[k], 4.5 * sqrt(best[k] * (1.0 - best[k]) / STREAMS) + 0.01);
    free(samples);
    pair_close(&w);
}

/* ---- what is refused ----------------------------------------------------------------------------------- */

static void refused(const pair *w, const hf_acquire_front *front, hf_status expected, const char *word)
{
    const double x[D] = {0.0};
    double value = 77.0;
    assert_int_equal(hf_ehvi_evaluate(w->ctx, front, 1, x, &value, NULL), expected);
    if (strstr(hf_context_message(w->ctx), word) == NULL)
        fail_msg("'%s' does not say '%s'", hf_context_message(w->ctx), word);
    assert_true(value == 77.0);
}

static void bad_objectives_are_refused(void **state)
{
    (void)state;
    pair w = pair_open("se", 8, D, false), line = pair_open("se", 8, 1, false);
    const hf_posterior *wrong[] = {w.mean, line.mean}, *none[] = {w.mean, NULL};
    const double nan[] = {NAN, 0.0};
    objectives o;
    objectives_of(&w, true, &o);
    hf_acquire_front f;
    refused(&w, NULL, HF_ERR_ARGUMENT, "NULL");
    f = o.front, f.objectives = 4, refused(&w, &f, HF_ERR_ARGUMENT, "4 objectives");
    f = o.front, f.objectives = 0, refused(&w, &f, HF_ERR_ARGUMENT, "0 objectives");
    f = o.front, f.objective = NULL, refused(&w, &f, HF_ERR_ARGUMENT, "objective 0");
    f = o.front, f.objective = wrong, refused(&w, &f, HF_ERR_DIMENSION, "objective 1");
    f = o.front, f.objective = none, refused(&w, &f, HF_ERR_ARGUMENT, "objective 1");
    f = o.front, f.values = NULL, refused(&w, &f, HF_ERR_ARGUMENT, "values is NULL");
    f = o.front, f.reference = NULL, refused(&w, &f, HF_ERR_ARGUMENT, "reference");
    f = o.front, f.reference = nan, refused(&w, &f, HF_ERR_NOT_FINITE, "reference");
    f = o.front, f.constraint = NULL, refused(&w, &f, HF_ERR_ARGUMENT, "constraints");
    f = o.front, f.limit = nan, refused(&w, &f, HF_ERR_NOT_FINITE, "limit 0");
    f = o.front, f.constraint = wrong + 1, refused(&w, &f, HF_ERR_DIMENSION, "constraint 0");
    f = o.front, f.pending = 1, f.pending_x = nan, refused(&w, &f, HF_ERR_NOT_FINITE, "row 0");
    const hf_domain domain = cube(D), wide = cube(3);
    double x[3] = {77.0};
    assert_int_equal(hf_ehvi_maximise(w.ctx, &o.front, &wide, NULL, 0, NULL, x, NULL), HF_ERR_DIMENSION);
    assert_int_equal(hf_ehvi_maximise(w.ctx, &o.front, NULL, NULL, 0, NULL, x, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_thompson_maximise(w.ctx, NULL, 0, &domain, NULL, 0, NULL, x, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_thompson_maximise(w.ctx, line.mean, 0, &domain, NULL, 0, NULL, x, NULL),
                     HF_ERR_DIMENSION);
    assert_true(x[0] == 77.0);
    pair_close(&w);
    pair_close(&line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_those_of_the_moments),
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(pending_points_are_integrated),
        cmocka_unit_test(pending_points_are_kept_away_from),
        cmocka_unit_test(the_best_place_is_the_best_of_many),
        cmocka_unit_test(the_place_is_where_the_path_is_largest),
        cmocka_unit_test(candidates_are_chosen_as_often_as_they_are_best),
        cmocka_unit_test(bad_objectives_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
