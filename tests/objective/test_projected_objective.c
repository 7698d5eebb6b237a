/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives with block actions: values by definition, gradients by finite differences, limits. */
#include "objective/evaluator.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "solver/projected_naive.h"

enum {
    N = 23,
    D = 3,
    ACTIONS = 4, /* ragged: 6, 6, 6, 5 */
    MOST = 64
};

static const char *const KERNELS[] = {
    "matern52(ard)",
    "1.3*se(ard) + 0.4*linear + 0.2*white",
    "rq + 0.5*matern32(x1)",
};
enum {
    KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS
};

typedef enum setting {
    GAUSSIAN,
    ROBUST,
    PUBLISHED, /* robust, beta = 1 */
    SETTINGS
} setting;

typedef struct fixture {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    double x[N * D], y[N], extra[N];
    hfi_evaluator evaluator;
} fixture;

static void make(fixture *f, const char *expression, setting how, bool train_actions, int threads)
{
    memset(f, 0, sizeof *f);
    f->ctx = problem_context(threads);
    hfi_stream stream;
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 1);
    double centre[N], b[D + 1] = {0.3, -0.2, 0.1, 0.05};
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) f->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        f->y[i] = sin(f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.1 * hfi_stream_normal(&stream);
        f->extra[i] = i % 4 == 0 ? 0.05 : 0.0;
        centre[i] = 0.2 * f->x[i * D];
    }
    f->y[3] += 4.0;
    assert_int_equal(hf_kernel_parse(f->ctx, expression, NULL, D, &f->kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->ctx, HF_MEAN_LINEAR, D, &f->mean), HF_OK);
    assert_int_equal(hf_mean_set(f->ctx, f->mean, b, false), HF_OK);
    if (how == GAUSSIAN)
        assert_int_equal(hf_sites_gaussian(f->ctx, N, f->y, 0.07, f->extra, &f->sites), HF_OK);
    else
        assert_int_equal(hf_sites_robust(f->ctx, N, f->y, 0.07, f->extra, centre, 0.8, &f->sites), HF_OK);
    if (how == PUBLISHED) assert_int_equal(hf_sites_set_beta(f->ctx, f->sites, 1.0), HF_OK);
    hfi_block_actions actions;
    assert_int_equal(hfi_block_actions_init(f->ctx, HF_BLOCKS_CLUSTERED, N, D, f->x, D, ACTIONS, &actions),
                     HF_OK);
    assert_int_equal(
        hfi_block_actions_start(f->ctx, &actions, HF_ACTION_START_RANDOM, f->kernel, f->x, D, NULL, NULL),
        HF_OK);
    assert_int_equal(hfi_evaluator_init_projected(f->ctx, &f->evaluator, N, D, f->x, D, &actions,
                                                  train_actions, HFI_DOUBLE),
                     HF_OK);
    assert_null(actions.order); /* taken over */
    f->evaluator.kernel = f->kernel;
    f->evaluator.mean = f->mean;
    f->evaluator.sites = f->sites;
}

static void drop(fixture *f)
{
    hfi_evaluator_free(&f->evaluator);
    hf_sites_free(f->sites);
    hf_mean_free(f->mean);
    hf_kernel_free(f->kernel);
    hf_context_free(f->ctx);
}

static size_t count(const fixture *f)
{
    return hf_kernel_parameters(f->kernel) + hf_mean_coefficients(f->mean) + 1 +
           hfi_evaluator_extras(&f->evaluator);
}

static naive_projection naive_of(const fixture *f)
{
    const hfi_block_actions *actions = hfi_projected_actions(f->evaluator.projected);
    double *a = naive_block_matrix(actions);
    naive_projection naive = naive_projection_make(f->kernel, f->mean, f->sites, f->x, actions->count, a);
    free(a);
    return naive;
}

static double value_of(fixture *f, hf_objective objective)
{
    double value;
    assert_int_equal(hfi_evaluator_select(&f->evaluator), HF_OK);
    assert_int_equal(hfi_evaluator_run(&f->evaluator, objective, &value, NULL), HF_OK);
    return value;
}

/* ---- values ----------------------------------------------------------------------------------------------- */

/* Marginals of q at the readings, smooth part. */
static void naive_marginal(const naive_projection *p, size_t i, double *mean, double *variance)
{
    *mean = 0.0;
    *variance = p->k[i * p->n + i];
    for (size_t b = 0; b < p->count; b++) {
        *mean += p->ka[i * p->count + b] * p->u[b];
        for (size_t c = 0; c < p->count; c++)
            *variance -= p->ka[i * p->count + b] * p->inverse[b * p->count + c] * p->ka[i * p->count + c];
    }
}

/* KL(q || prior) from the covariances of f at the readings themselves: nothing of the projected algebra. */
static double naive_divergence(const naive_projection *p)
{
    const size_t n = p->n;
    double *jittered = naive_zeros(n * n), *posterior = naive_zeros(n * n), *mean = naive_zeros(n);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            jittered[i * n + j] = posterior[i * n + j] = p->k[i * n + j];
            for (size_t b = 0; b < p->count; b++)
                for (size_t c = 0; c < p->count; c++)
                    posterior[i * n + j] -=
                        p->ka[i * p->count + b] * p->inverse[b * p->count + c] * p->ka[j * p->count + c];
            mean[i] += p->k[i * n + j] * p->t[j];
        }
    double prior_det, posterior_det, sum = -(double)n;
    double *inverse = naive_inverse(n, jittered, &prior_det),
           *other = naive_inverse(n, posterior, &posterior_det);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) sum += inverse[i * n + j] * (posterior[j * n + i] + mean[i] * mean[j]);
    free(jittered);
    free(posterior);
    free(mean);
    free(inverse);
    free(other);
    return 0.5 * (sum + prior_det - posterior_det);
}

static void bounds_are_what_they_say(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        for (int how = 0; how < SETTINGS; how++) {
            fixture f;
            make(&f, KERNELS[k], (setting)how, true, 2);
            naive_projection naive = naive_of(&f);
            assert_near(value_of(&f, HF_OBJECTIVE_EVIDENCE), naive_projection_bound(&naive), 1e-8);
            const double divergence = naive_divergence(&naive);
            double site = -divergence, weighted = -divergence, published = -divergence;
            for (size_t i = 0; i < N; i++) {
                double offset, mean, variance;
                hf_mean_evaluate(f.mean, 1, f.x + i * D, D, &offset);
                naive_marginal(&naive, i, &mean, &variance);
                const double s = 0.07 + f.extra[i], rho = hf_sites_weights(f.sites)[i],
                             error = f.y[i] - offset - mean;
                const double w2 = rho * (how == PUBLISHED ? 1.0 : 0.5 * s), shift = f.sites->shift[i];
                const double total = variance + naive.white[i], noise = s + naive.white[i];
                const double off = naive.residual[i] - mean;
                site -=
                    0.5 * log(2.0 * HFI_PI * naive.noise[i]) + 0.5 * (off * off + variance) / naive.noise[i];
                weighted -=
                    rho * (0.5 * log(2.0 * HFI_PI * noise) + 0.5 * (error * error + variance) / noise);
                published += -w2 / (s * s) * (error * error + total) + 2.0 / s * (-w2 * shift * error + w2);
            }
            assert_near(value_of(&f, HF_OBJECTIVE_EVIDENCE), site, 2e-5); /* the naive divergence inverts K */
            assert_near(value_of(&f, HF_OBJECTIVE_WEIGHTED), weighted, 2e-5);
            assert_near(value_of(&f, HF_OBJECTIVE_RCAGP), published, 2e-5);
            naive_projection_free(&naive);
            drop(&f);
        }
}

static void leave_one_out_is_brute_force(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        for (int how = 0; how < SETTINGS; how++) {
            fixture f;
            make(&f, KERNELS[k], (setting)how, false, 2);
            naive_projection naive = naive_of(&f);
            double plain = 0.0, weighted = 0.0, mean[N], variance[N];
            assert_int_equal(hfi_projected_holdout(&f.evaluator, mean, variance), HF_OK);
            for (size_t i = 0; i < N; i++) {
                double offset, m, v;
                hf_mean_evaluate(f.mean, 1, f.x + i * D, D, &offset);
                naive_projection_without(&naive, i, &m, &v);
                assert_near(mean[i], m + offset, 1e-9);
                assert_near(variance[i], v, 1e-9);
                const double error = f.y[i] - m - offset, s = v + 0.07 + f.extra[i];
                const double term = -0.5 * (log(2.0 * HFI_PI * s) + error * error / s);
                plain += term;
                weighted += hf_sites_weights(f.sites)[i] * term;
            }
            assert_near(value_of(&f, HF_OBJECTIVE_LOO), plain, 1e-8);
            assert_near(value_of(&f, HF_OBJECTIVE_WLOO), weighted, 1e-8);
            naive_projection_free(&naive);
            drop(&f);
        }
}

/* ---- gradients -------------------------------------------------------------------------------------------- */

/* Adds h to parameter p of the state. */
static void move(fixture *f, size_t p, double h)
{
    const size_t kernel_count = hf_kernel_parameters(f->kernel), mean_count = hf_mean_coefficients(f->mean);
    double values[MOST];
    if (p < kernel_count) {
        hfi_kernel_theta(f->kernel, values);
        values[p] += h;
        hfi_kernel_set_theta(f->kernel, values);
    } else if (p < kernel_count + mean_count) {
        memcpy(values, hf_mean_values(f->mean), mean_count * sizeof *values);
        values[p - kernel_count] += h;
        assert_int_equal(hf_mean_set(f->ctx, f->mean, values, false), HF_OK);
    } else if (p == kernel_count + mean_count) {
        assert_int_equal(hf_sites_set_noise(f->ctx, f->sites, hf_sites_noise(f->sites) * exp(h)), HF_OK);
    } else {
        hfi_evaluator_get_extras(&f->evaluator, values);
        values[p - kernel_count - mean_count - 1] += h;
        hfi_evaluator_set_extras(&f->evaluator, values);
    }
}

/* Fourth-order central differences. */
static double slope(fixture *f, hf_objective objective, size_t p)
{
    const double h = 1e-3, at[] = {-2.0, -1.0, 1.0, 2.0}, weight[] = {1.0, -8.0, 8.0, -1.0};
    double sum = 0.0;
    for (int k = 0; k < 4; k++) {
        move(f, p, at[k] * h);
        sum += weight[k] * value_of(f, objective);
        move(f, p, -at[k] * h);
    }
    return sum / (12.0 * h);
}

static void gradients_are_finite_differences(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNEL_COUNT; k++)
        for (int how = 0; how < SETTINGS; how++)
            for (int o = HF_OBJECTIVE_EVIDENCE; o <= HF_OBJECTIVE_RCAGP; o++) {
                const hf_objective objective = (hf_objective)o;
                const bool fixed = objective == HF_OBJECTIVE_LOO || objective == HF_OBJECTIVE_WLOO;
                fixture f;
                make(&f, KERNELS[k], (setting)how, !fixed, 2);
                double gradient[MOST], value;
                assert_int_equal(hfi_evaluator_select(&f.evaluator), HF_OK);
                assert_int_equal(hfi_evaluator_run(&f.evaluator, objective, &value, gradient), HF_OK);
                assert_true(value == value_of(&f, objective));
                for (size_t p = 0; p < count(&f); p++) {
                    const double expected = slope(&f, objective, p);
                    if (fabs(gradient[p] - expected) > 2e-6 * (1.0 + fabs(expected)))
                        print_error("%s, sites %d, objective %d, parameter %zu\n", KERNELS[k], how, o, p);
                    assert_near(gradient[p], expected, 2e-6 * (1.0 + fabs(expected)));
                }
                drop(&f);
            }
}

/* ---- limits ----------------------------------------------------------------------------------------------- */

/* The bound of the sites is below the exact evidence and reaches it with as many actions as readings. */
static void bound_meets_the_evidence(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (uint64_t seed = 0; seed < 1000; seed++) {
        hfi_stream stream;
        hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 9);
        const size_t n = 3 + hfi_stream_below(&stream, 15),
                     i = seed % 10 ? 1 + hfi_stream_below(&stream, n) : n;
        problem p = problem_make(ctx, seed % 2 ? "matern52(ard)" : "se + 0.1*white", n, 2,
                                 pow(10.0, -3.0 + 3.0 * hfi_stream_uniform(&stream)));
        hfi_block_actions actions;
        assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, n, 2, p.x, 2, i, &actions), HF_OK);
        for (size_t l = 0; l < n; l++) actions.entry[l] = hfi_stream_normal(&stream);
        hfi_evaluator e;
        assert_int_equal(hfi_evaluator_init_projected(ctx, &e, n, 2, p.x, 2, &actions, true, HFI_DOUBLE),
                         HF_OK);
        e.kernel = p.kernel;
        e.mean = p.mean;
        e.sites = p.sites;
        hfi_solution exact;
        double bound;
        assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, 2, p.x, 2, &exact), HF_OK);
        assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_EVIDENCE, &bound, NULL), HF_OK);
        const double evidence = hfi_solution_log_evidence(&exact), digits = 1e-9 * (1.0 + fabs(evidence));
        assert_true(bound <= evidence + digits);
        if (i == n) assert_near(bound, evidence, digits);
        hfi_solution_free(&exact);
        hfi_evaluator_free(&e);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* With Gaussian sites the weighted bound is the ELBO of the readings, which are the sites. */
static void weighted_is_the_bound_when_weights_are_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < KERNEL_COUNT; k++) {
        fixture f;
        make(&f, KERNELS[k], GAUSSIAN, true, 1);
        assert_near(value_of(&f, HF_OBJECTIVE_WEIGHTED), value_of(&f, HF_OBJECTIVE_EVIDENCE), 1e-9);
        drop(&f);
    }
}

/* ---- house rules ------------------------------------------------------------------------------------------ */

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    for (int o = HF_OBJECTIVE_EVIDENCE; o <= HF_OBJECTIVE_RCAGP; o++) {
        const bool fixed = o == HF_OBJECTIVE_LOO || o == HF_OBJECTIVE_WLOO;
        double gradient[2][MOST], value[2];
        for (int t = 0; t < 2; t++) {
            fixture f;
            memset(gradient[t], 0, sizeof gradient[t]);
            make(&f, KERNELS[1], ROBUST, !fixed, t == 0 ? 1 : 3);
            assert_int_equal(hfi_evaluator_run(&f.evaluator, (hf_objective)o, value + t, gradient[t]), HF_OK);
            drop(&f);
        }
        assert_memory_equal(value, value + 1, sizeof *value);
        assert_memory_equal(gradient[0], gradient[1], sizeof gradient[0]);
    }
}

static void refuses_what_it_cannot_do(void **state)
{
    (void)state;
    fixture f;
    make(&f, KERNELS[0], ROBUST, true, 1);
    double value = 5.0, gradient[MOST] = {0.0}, mean[N], variance[N], entries[N] = {0.0};
    assert_int_equal(hfi_evaluator_run(&f.evaluator, HF_OBJECTIVE_LOO, &value, NULL), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_set_present(f.ctx, f.sites, 2, false), HF_OK);
    assert_int_equal(hfi_evaluator_run(&f.evaluator, HF_OBJECTIVE_EVIDENCE, &value, gradient),
                     HF_ERR_ARGUMENT);
    assert_int_equal(hfi_projected_holdout(&f.evaluator, mean, variance), HF_ERR_ARGUMENT);
    assert_int_equal(hf_sites_set_present(f.ctx, f.sites, 2, true), HF_OK);
    /* A point that training may step on and has to step back from. */
    hfi_evaluator_set_extras(&f.evaluator, entries);
    assert_int_equal(hfi_evaluator_run(&f.evaluator, HF_OBJECTIVE_EVIDENCE, &value, gradient),
                     HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_true(value == 5.0);
    hfi_block_actions actions;
    hfi_evaluator e;
    assert_int_equal(hfi_block_actions_init(f.ctx, HF_BLOCKS_CONTIGUOUS, N, D, f.x, D, 2, &actions), HF_OK);
    assert_int_equal(hfi_evaluator_init_projected(f.ctx, &e, N - 1, D, f.x, D, &actions, true, HFI_DOUBLE),
                     HF_ERR_DIMENSION);
    assert_non_null(actions.order); /* still the caller's */
    hfi_block_actions_free(f.ctx, &actions);
    drop(&f);
}

static void out_of_memory_loses_nothing(void **state)
{
    (void)state;
    for (int o = HF_OBJECTIVE_EVIDENCE; o <= HF_OBJECTIVE_RCAGP; o++) {
        const bool fixed = o == HF_OBJECTIVE_LOO || o == HF_OBJECTIVE_WLOO;
        bool done = false;
        for (size_t fail = 1; !done; fail++) {
            counter c = {0};
            hf_context *ctx = counter_context(&c);
            problem p = problem_make(ctx, "matern52(ard)", 20, 2, 0.05);
            hfi_block_actions actions;
            assert_int_equal(hfi_block_actions_init(ctx, HF_BLOCKS_CONTIGUOUS, 20, 2, p.x, 2, 3, &actions),
                             HF_OK);
            assert_int_equal(
                hfi_block_actions_start(ctx, &actions, HF_ACTION_START_RANDOM, p.kernel, p.x, 2, NULL, NULL),
                HF_OK);
            const long before = c.live;
            c.fail = c.calls + fail;
            hfi_evaluator e;
            double value = 0.0, gradient[MOST], mean[20], variance[20];
            hf_status s = hfi_evaluator_init_projected(ctx, &e, 20, 2, p.x, 2, &actions, !fixed, HFI_DOUBLE);
            if (s >= 0) {
                e.kernel = p.kernel;
                e.mean = p.mean;
                e.sites = p.sites;
                s = hfi_evaluator_run(&e, (hf_objective)o, &value, gradient);
                if (s >= 0) s = hfi_projected_holdout(&e, mean, variance);
                hfi_evaluator_free(&e);
            } else {
                assert_int_equal(c.live, before);
                hfi_block_actions_free(ctx, &actions);
            }
            done = s >= 0;
            if (!done) assert_int_equal(s, HF_ERR_MEMORY);
            problem_free(&p);
            hf_context_free(ctx);
            assert_int_equal(c.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_what_they_say),
        cmocka_unit_test(leave_one_out_is_brute_force),
        cmocka_unit_test(gradients_are_finite_differences),
        cmocka_unit_test(bound_meets_the_evidence),
        cmocka_unit_test(weighted_is_the_bound_when_weights_are_one),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(refuses_what_it_cannot_do),
        cmocka_unit_test(out_of_memory_loses_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
