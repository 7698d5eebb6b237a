/* SPDX-License-Identifier: Apache-2.0 */
/* Objectives of the inducing solver: values by the book, gradients by difference quotients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "objective/evaluator.h"
#include "objective/inducing_impl.h"
#include "solver/inducing_reference.h"
#include <math.h>

enum {
    OBJECTIVES = 5,
    METHODS = 3,
    MOST = 256
};

static const char *const EXPRESSIONS[] = {"matern52(ard)", "se + 0.3*linear(ard)",
                                          "rq(x1)*periodic(x2) + white"};

/* An evaluator that borrows the problem's parts. */
static hfi_evaluator make(const problem *p, hf_inducing_method method, size_t m, const double *z,
                          bool train_inputs)
{
    hfi_inducing u;
    hfi_evaluator e;
    assert_int_equal(hfi_inducing_init(p->ctx, method, m, p->d, z, p->d, &u), HF_OK);
    u.train_inputs = train_inputs;
    assert_int_equal(hfi_evaluator_init_inducing(p->ctx, &e, p->n, p->d, p->x, p->d, &u), HF_OK);
    assert_null(u.z); /* moved */
    e.kernel = p->kernel;
    e.mean = p->mean;
    e.sites = p->sites;
    assert_int_equal(hfi_evaluator_select(&e), HF_OK);
    return e;
}

static size_t count(const hfi_evaluator *e)
{
    return hf_kernel_parameters(e->kernel) + hf_mean_coefficients(e->mean) + 1 + hfi_evaluator_extras(e);
}

/* ---- gradients ----------------------------------------------------------------------------------------- */

/* Moves entry p of the state by h. */
static void move(hfi_evaluator *e, size_t p, double h)
{
    const size_t kernel_count = hf_kernel_parameters(e->kernel), mean_count = hf_mean_coefficients(e->mean);
    double state[MOST];
    if (p < kernel_count) {
        hfi_kernel_theta(e->kernel, state);
        state[p] += h;
        hfi_kernel_set_theta(e->kernel, state);
    } else if (p < kernel_count + mean_count) {
        memcpy(state, hf_mean_values(e->mean), mean_count * sizeof *state);
        state[p - kernel_count] += h;
        assert_int_equal(hf_mean_set(e->ctx, e->mean, state, true), HF_OK);
    } else if (p == kernel_count + mean_count) {
        assert_int_equal(hf_sites_set_noise(e->ctx, e->sites, hf_sites_noise(e->sites) * exp(h)), HF_OK);
    } else {
        hfi_evaluator_get_extras(e, state);
        state[p - kernel_count - mean_count - 1] += h;
        hfi_evaluator_set_extras(e, state);
    }
}

static double shifted(hfi_evaluator *e, hf_objective objective, size_t p, double h)
{
    double value;
    move(e, p, h);
    assert_true(hfi_evaluator_run(e, objective, &value, NULL) >= 0);
    move(e, p, -h);
    return value;
}

static void check_gradient(const char *what, hfi_evaluator *e, hf_objective objective, double tolerance)
{
    double value, gradient[MOST], scale = 1.0;
    const double h = 1e-4;
    assert_true(count(e) <= MOST);
    assert_true(hfi_evaluator_run(e, objective, &value, gradient) >= 0);
    for (size_t p = 0; p < count(e); p++) scale = fmax(scale, fabs(gradient[p]));
    for (size_t p = 0; p < count(e); p++) {
        const double difference = (8.0 * (shifted(e, objective, p, h) - shifted(e, objective, p, -h)) -
                                   (shifted(e, objective, p, 2 * h) - shifted(e, objective, p, -2 * h))) /
                                  (12.0 * h);
        if (!(fabs(difference - gradient[p]) <= tolerance * scale))
            fail_msg("%s, %s, %s: entry %zu: gradient %.12g, difference quotient %.12g", what,
                     hf_enum_name(HF_ENUM_INDUCING_METHOD, e->inducing->method),
                     hf_enum_name(HF_ENUM_OBJECTIVE, objective), p, gradient[p], difference);
    }
}

static void gradients_match_difference_quotients(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 31, m = 5, d = 2;
    double *z = reference_inputs(m, d);
    for (size_t x = 0; x < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; x++)
        for (int kind = 0; kind < REFERENCE_SITES; kind++)
            for (int method = 0; method < METHODS; method++) {
                /* All kinds of sites with one kernel, each of the others with some. */
                if (x > 0 && kind != (int)x + method - 1) continue;
                problem p = reference_problem(ctx, EXPRESSIONS[x], n, d, (reference_sites)kind);
                hfi_evaluator e = make(&p, (hf_inducing_method)method, m, z, true);
                for (int o = 0; o < OBJECTIVES; o++)
                    check_gradient(EXPRESSIONS[x], &e, (hf_objective)o, 1e-8);
                hfi_evaluator_free(&e);
                problem_free(&p);
            }
    free(z);
    hf_context_free(ctx);
}

static void gradients_over_several_chunks(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 2500, m = 2, d = 2; /* of which a ninth is missing */
    double *z = reference_inputs(m, d);
    problem p = reference_problem(ctx, "matern32(ard) + white", n, d, REFERENCE_ROBUST);
    hfi_evaluator e = make(&p, HF_INDUCING_FITC, m, z, true);
    check_gradient("several chunks", &e, HF_OBJECTIVE_EVIDENCE, 1e-8);
    check_gradient("several chunks", &e, HF_OBJECTIVE_WEIGHTED, 1e-8);
    hfi_evaluator_free(&e);
    problem_free(&p);
    free(z);
    hf_context_free(ctx);
}

/* One reading or inducing input; more inducing inputs than readings. */
static void gradients_of_few(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t readings[] = {1, 1, 6, 4}, inputs[] = {1, 5, 1, 11}, d = 2;
    for (int c = 0; c < 4; c++)
        for (int method = 0; method < METHODS; method++) {
            double *z = reference_inputs(inputs[c], d);
            problem p = problem_make(ctx, "matern52(ard)", readings[c], d, 0.1);
            hfi_evaluator e = make(&p, (hf_inducing_method)method, inputs[c], z, true);
            for (int o = 0; o < OBJECTIVES; o++) check_gradient("few", &e, (hf_objective)o, 1e-7);
            hfi_evaluator_free(&e);
            problem_free(&p);
            free(z);
        }
    hf_context_free(ctx);
}

/* A smooth kernel at crowded and at equal places: Kuu's factor has pivots of the jitter's size. */
static void gradients_with_a_singular_prior(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 40, m = 24;
    problem p = problem_make(ctx, "se + white", n, 1, 0.1);
    double *z = naive_zeros(m);
    for (size_t i = 0; i < m; i++) z[i] = -2.0 + 4.0 * (double)(i / 2) / 11.0; /* each twice */
    for (int method = 0; method < METHODS; method++) {
        hfi_evaluator e = make(&p, (hf_inducing_method)method, m, z, false);
        for (int o = 0; o < OBJECTIVES; o++) check_gradient("singular", &e, (hf_objective)o, 1e-6);
        hfi_evaluator_free(&e);
    }
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

/* log det Kuu / 2 has Kuubar = Kuu^-1 / 2, which is sum_j vbar_j v_j' = -I. Half of the eigenvalues are the
 * jitter alone. */
static void the_jitter_follows_the_kernel(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t m = 10;
    static const char *const expressions[] = {"se + white", "linear"};
    for (size_t x = 0; x < 2; x++) {
        problem p = problem_make(ctx, expressions[x], 12, 1, 0.1);
        double z[10], square[100], theta[8] = {0.0}, inputs[10] = {0.0};
        for (size_t i = 0; i < m; i++) z[i] = -2.0 + (double)(i / 2);
        hfi_evaluator e = make(&p, HF_INDUCING_VFE, m, z, false);
        double value;
        assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_EVIDENCE, &value, NULL), HF_OK);
        memset(square, 0, sizeof square);
        for (size_t i = 0; i < m; i++) square[i + i * m] = -1.0;
        assert_int_equal(hfi_inducing_prior_adjoint(&e, square, theta, inputs), HF_OK);
        for (size_t k = 0; k < hf_kernel_parameters(p.kernel); k++) {
            const double h = 0.02; /* pivots of the jitter's size have some ten digits */
            double above = 0.0, below = 0.0;
            move(&e, k, h);
            assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_EVIDENCE, &value, NULL), HF_OK);
            for (size_t i = 0; i < m; i++) above += log(e.inducing->lu[i * (m + 1)]);
            move(&e, k, -2.0 * h);
            assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_EVIDENCE, &value, NULL), HF_OK);
            for (size_t i = 0; i < m; i++) below += log(e.inducing->lu[i * (m + 1)]);
            move(&e, k, h);
            assert_near(theta[k], (above - below) / (2.0 * h), 2e-3);
        }
        hfi_evaluator_free(&e);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* A site of variance 1e200: the noise still moves its log. */
static void gradients_with_readings_beyond_all_measure(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 20, m = 4;
    double *z = reference_inputs(m, 2), *centre = naive_zeros(n);
    problem p = problem_make(ctx, "matern52(ard)", n, 2, 0.1);
    p.y[3] = 1e250;
    p.y[8] = -1e120;
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_robust(ctx, n, p.y, 0.1, NULL, centre, 0.8, &p.sites), HF_OK);
    for (int method = 0; method < METHODS; method++) {
        hfi_evaluator e = make(&p, (hf_inducing_method)method, m, z, true);
        check_gradient("beyond", &e, HF_OBJECTIVE_EVIDENCE, 1e-7);
        hfi_evaluator_free(&e);
    }
    free(centre);
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

static void given_sites_do_not_follow_the_noise(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double *z = reference_inputs(4, 2), value, gradient[MOST];
    problem p = reference_problem(ctx, "matern52(ard)", 20, 2, REFERENCE_GIVEN);
    hfi_evaluator e = make(&p, HF_INDUCING_VFE, 4, z, false);
    assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_EVIDENCE, &value, gradient), HF_OK);
    assert_true(gradient[count(&e) - 1] == 0.0);
    hfi_evaluator_free(&e);
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

static void inducing_inputs_that_stay_have_no_gradient(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    double *z = reference_inputs(4, 2), value[2], gradient[2][MOST];
    problem p = reference_problem(ctx, "matern52(ard)", 20, 2, REFERENCE_ROBUST);
    for (int o = 0; o < OBJECTIVES; o++) {
        size_t entries[2];
        for (int train = 0; train < 2; train++) {
            hfi_evaluator e = make(&p, HF_INDUCING_FITC, 4, z, train != 0);
            entries[train] = count(&e);
            gradient[train][entries[train]] = 77.0;
            assert_int_equal(hfi_evaluator_run(&e, (hf_objective)o, &value[train], gradient[train]), HF_OK);
            assert_true(gradient[train][entries[train]] == 77.0);
            hfi_evaluator_free(&e);
        }
        assert_int_equal(entries[1] - entries[0], 8);
        assert_memory_equal(gradient[0], gradient[1], entries[0] * sizeof(double));
        assert_true(value[0] == value[1]);
    }
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static double run(const problem *p, hf_inducing_method method, size_t m, const double *z,
                  hf_objective objective)
{
    hfi_evaluator e = make(p, method, m, z, true);
    double with, without, gradient[MOST];
    assert_int_equal(hfi_evaluator_run(&e, objective, &with, gradient), HF_OK);
    assert_int_equal(hfi_evaluator_run(&e, objective, &without, NULL), HF_OK);
    assert_true(with == without);
    hfi_evaluator_free(&e);
    return without;
}

/* Each reading predicted by the others' sites. */
static double book_leave_one_out(problem *p, hf_inducing_method method, size_t m, const double *z,
                                 bool weighted)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const double weight = p->sites->weight[i], noise = p->sites->noise + p->sites->extra[i];
        if (!(weight > 0.0)) continue;
        double mean, variance;
        p->sites->weight[i] = 0.0;
        reference r = reference_make(p->kernel, p->mean, p->sites, p->x, p->d, method, m, z);
        reference_predict(&r, p->x + i * p->d, &mean, &variance);
        reference_free(&r);
        p->sites->weight[i] = weight;
        const double v = variance + noise, error = p->sites->y[i] - mean;
        sum -= (weighted ? weight : 1.0) * 0.5 * (log(2.0 * HFI_PI * v) + error * error / v);
    }
    return sum;
}

/* The published loss: -(w^2 / s^2) (y - f)^2 + (2 / s) [ (dw^2/dy)(y - f) + w^2 ] with w^2 = beta^2 rho. */
static double book_rcagp(const hf_sites *sites, size_t i, double mean, double variance)
{
    const double s = sites->noise + sites->extra[i], error = sites->y[i] - mean;
    const double beta = hf_sites_beta(sites, i), beta2 = beta > 0.0 ? beta * beta : s / 2.0;
    double w2 = beta2, slope = 0.0;
    if (isfinite(sites->threshold) && !isnan(sites->centre[i])) {
        const double c = sites->threshold, r = sites->y[i] - sites->centre[i];
        w2 = beta2 / (1.0 + r * r / (c * c));
        slope = -beta2 * 2.0 * r / (c * c) / (1.0 + r * r / (c * c)) / (1.0 + r * r / (c * c));
    }
    return -w2 / (s * s) * (error * error + variance) + 2.0 / s * (slope * error + w2);
}

static double book_expected(const problem *p, hf_inducing_method method, size_t m, const double *z,
                            hf_objective objective)
{
    reference r = reference_make(p->kernel, p->mean, p->sites, p->x, p->d, method, m, z);
    double sum = -reference_divergence(&r);
    for (size_t i = 0; i < p->n; i++) {
        if (!hf_sites_is_present(p->sites, i)) continue;
        const double s = p->sites->noise + p->sites->extra[i];
        double mean, variance;
        reference_predict(&r, p->x + i * p->d, &mean, &variance);
        const double error = p->sites->y[i] - mean;
        if (objective == HF_OBJECTIVE_WEIGHTED)
            sum -= 0.5 * p->sites->weight[i] * (log(2.0 * HFI_PI * s) + (error * error + variance) / s);
        else
            sum += book_rcagp(p->sites, i, mean, variance);
    }
    reference_free(&r);
    return sum;
}

static double book(problem *p, hf_inducing_method method, size_t m, const double *z, hf_objective objective)
{
    if (objective == HF_OBJECTIVE_LOO || objective == HF_OBJECTIVE_WLOO)
        return book_leave_one_out(p, method, m, z, objective == HF_OBJECTIVE_WLOO);
    if (objective != HF_OBJECTIVE_EVIDENCE) return book_expected(p, method, m, z, objective);
    reference r = reference_make(p->kernel, p->mean, p->sites, p->x, p->d, method, m, z);
    const double value = reference_evidence(&r, method);
    reference_free(&r);
    return value;
}

static void values_agree_with_the_book(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 22, m = 5, d = 2;
    double *z = reference_inputs(m, d);
    for (size_t x = 0; x < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; x++)
        for (int kind = 0; kind < REFERENCE_GIVEN; kind++)
            for (int method = 0; method < METHODS; method++)
                for (int o = 0; o < OBJECTIVES; o++) {
                    problem p = reference_problem(ctx, EXPRESSIONS[x], n, d, (reference_sites)kind);
                    const double got = run(&p, (hf_inducing_method)method, m, z, (hf_objective)o),
                                 want = book(&p, (hf_inducing_method)method, m, z, (hf_objective)o);
                    if (!(fabs(got - want) <= 1e-8 * (1.0 + fabs(want))))
                        fail_msg("%s, sites %d, %s, %s: %.15g, by the book %.15g", EXPRESSIONS[x], kind,
                                 hf_enum_name(HF_ENUM_INDUCING_METHOD, (unsigned)method),
                                 hf_enum_name(HF_ENUM_OBJECTIVE, (unsigned)o), got, want);
                    problem_free(&p);
                }
    free(z);
    hf_context_free(ctx);
}

/* Where every weight is 1 the weighted bound is Titsias's, since q is the best there is. */
static void the_weighted_bound_of_plain_readings_is_the_bound(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 60, m = 8, d = 2;
    double *z = reference_inputs(m, d), value[2], gradient[2][MOST];
    problem p = problem_make(ctx, "matern52(ard)", n, d, 0.1);
    hfi_evaluator e = make(&p, HF_INDUCING_VFE, m, z, true);
    assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_EVIDENCE, &value[0], gradient[0]), HF_OK);
    assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_WEIGHTED, &value[1], gradient[1]), HF_OK);
    assert_near(value[1], value[0], 1e-9 * fabs(value[0]));
    for (size_t k = 0; k < count(&e); k++)
        assert_near(gradient[1][k], gradient[0][k], 1e-8 * (1.0 + fabs(gradient[0][k])));
    hfi_evaluator_free(&e);
    problem_free(&p);
    free(z);
    hf_context_free(ctx);
}

/* With inducing inputs at all readings, objectives that the exact solver has too are the same, gradients included. */
static void inducing_inputs_at_all_readings_are_exact(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 25, d = 2;
    for (int robust = 0; robust < 2; robust++)
        for (int method = 0; method < METHODS; method++)
            for (int o = 0; o < 3; o++) {
                problem p = problem_make(ctx, "matern32(ard)", n, d, 0.3);
                if (robust) {
                    double *centre = naive_zeros(n);
                    hf_sites_free(p.sites);
                    assert_int_equal(hf_sites_robust(ctx, n, p.y, 0.3, p.extra, centre, 1.2, &p.sites),
                                     HF_OK);
                    free(centre);
                }
                double value[2], gradient[2][MOST];
                hfi_evaluator e = make(&p, (hf_inducing_method)method, n, p.x, false);
                assert_int_equal(hfi_evaluator_run(&e, (hf_objective)o, &value[0], gradient[0]), HF_OK);
                assert_int_equal(hf_objective_evaluate(ctx, (hf_objective)o, p.kernel, p.mean, p.sites, p.x,
                                                       d, &value[1], gradient[1]),
                                 HF_OK);
                assert_near(value[0], value[1], 1e-8 * (1.0 + fabs(value[1])));
                for (size_t k = 0; k < count(&e); k++)
                    assert_near(gradient[0][k], gradient[1][k], 1e-7 * (1.0 + fabs(gradient[1][k])));
                hfi_evaluator_free(&e);
                problem_free(&p);
            }
    hf_context_free(ctx);
}

/* ---- processes and threads ----------------------------------------------------------------------------- */

typedef struct shared_run {
    const problem *p;
    size_t m;
    const double *z;
    hf_objective objective;
    hf_status status[REFERENCE_MOST_PROCESSES];
    double results[REFERENCE_MOST_PROCESSES][MOST]; /* value, gradient */
} shared_run;

static void run_in_process(hf_context *ctx, size_t rank, void *arg)
{
    shared_run *f = arg;
    const problem *p = f->p;
    hfi_inducing u;
    hfi_evaluator e = {0};
    hf_status status = hfi_inducing_init(ctx, HF_INDUCING_FITC, f->m, p->d, f->z, p->d, &u);
    if (status >= 0) {
        u.train_inputs = true;
        status = hfi_evaluator_init_inducing(ctx, &e, p->n, p->d, p->x, p->d, &u);
    }
    e.kernel = p->kernel;
    e.mean = p->mean;
    e.sites = p->sites;
    if (status >= 0) status = hfi_evaluator_run(&e, f->objective, f->results[rank], f->results[rank] + 1);
    f->status[rank] = status;
    hfi_evaluator_free(&e);
}

static void processes_share_the_rows(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t sizes[] = {1, 2, 3, 5}, rows[] = {3, 700};
    for (size_t n = 0; n < 2; n++)
        for (int o = 0; o < OBJECTIVES; o++) {
            problem p = problem_make(ctx, "matern52(ard) + white", rows[n], 2, 0.1);
            double *z = reference_inputs(6, 2), one[MOST];
            shared_run f = {.p = &p, .m = 6, .z = z, .objective = (hf_objective)o};
            const size_t entries = 1 + hf_kernel_parameters(p.kernel) + hf_mean_coefficients(p.mean) + 1 + 12;
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                party_run(sizes[s], run_in_process, &f);
                if (s == 0) memcpy(one, f.results[0], sizeof one);
                double scale = 1.0;
                for (size_t k = 0; k < entries; k++) scale = fmax(scale, fabs(one[k]));
                for (size_t r = 0; r < sizes[s]; r++) {
                    assert_int_equal(f.status[r], HF_OK);
                    assert_memory_equal(f.results[r], f.results[0], entries * sizeof(double));
                }
                for (size_t k = 0; k < entries; k++) assert_near(f.results[0][k], one[k], 1e-12 * scale);
            }
            free(z);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

static void compare_threads(hf_context *ctx, size_t n, size_t m, hf_objective objective)
{
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    problem p = problem_make(ctx, "matern52(ard)", n, 3, 0.1);
    double *z = reference_inputs(m, 3), value[2], *gradient[2];
    hfi_evaluator e = make(&p, HF_INDUCING_FITC, m, z, true);
    for (int t = 0; t < 2; t++) {
        gradient[t] = naive_zeros(count(&e));
        assert_int_equal(hf_context_set_threads(ctx, 1 + 2 * t), HF_OK);
        assert_int_equal(hfi_evaluator_run(&e, objective, &value[t], gradient[t]), HF_OK);
    }
    assert_true(value[0] == value[1]);
    assert_memory_equal(gradient[0], gradient[1], count(&e) * sizeof(double));
    for (int t = 0; t < 2; t++) free(gradient[t]);
    hfi_evaluator_free(&e);
    free(z);
    problem_free(&p);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    for (int o = 0; o < OBJECTIVES; o++) compare_threads(ctx, 300, 140, (hf_objective)o); /* several tiles */
    compare_threads(ctx, 2200, 9, HF_OBJECTIVE_EVIDENCE);                                 /* several chunks */
    compare_threads(ctx, 2200, 9, HF_OBJECTIVE_WLOO);
    hf_context_free(ctx);
}

/* ---- failures ------------------------------------------------------------------------------------------ */

static void errors_leave_the_outputs_alone(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", 12, 2, 0.1);
    double *z = reference_inputs(3, 2), value = 5.0, gradient[MOST] = {6.0};
    hfi_evaluator e = make(&p, HF_INDUCING_VFE, 3, z, true);
    p.sites->target[2] = 1e200;
    for (int o = 0; o < OBJECTIVES; o++)
        assert_int_equal(hfi_evaluator_run(&e, (hf_objective)o, &value, gradient), HF_ERR_NOT_FINITE);
    for (size_t i = 0; i < p.n; i++) assert_int_equal(hf_sites_set_present(ctx, p.sites, i, false), HF_OK);
    assert_int_equal(hfi_evaluator_run(&e, HF_OBJECTIVE_LOO, &value, gradient), HF_ERR_NO_DATA);
    assert_true(value == 5.0 && gradient[0] == 6.0 && gradient[1] == 0.0);
    hfi_evaluator_free(&e);
    free(z);
    problem_free(&p);
    hf_context_free(ctx);
}

static hf_status everything(hf_context *ctx, const problem *p, const double *z, hf_objective objective)
{
    hfi_inducing u;
    hfi_evaluator e = {0};
    double value, gradient[MOST];
    hf_status status = hfi_inducing_init(ctx, HF_INDUCING_FITC, 4, p->d, z, p->d, &u);
    if (status >= 0) {
        u.train_inputs = true;
        status = hfi_evaluator_init_inducing(ctx, &e, p->n, p->d, p->x, p->d, &u);
        if (status < 0) hfi_inducing_free(&u);
    }
    e.kernel = p->kernel;
    e.mean = p->mean;
    e.sites = p->sites;
    if (status >= 0) status = hfi_evaluator_run(&e, objective, &value, gradient);
    hfi_evaluator_free(&e);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    hf_context *maker = problem_context(1);
    problem p = problem_make(maker, "se", 9, 2, 0.1);
    double *z = reference_inputs(4, 2);
    counter tally = {0};
    hf_context *ctx = counter_context(&tally);
    const long live = tally.live;
    for (int o = 0; o < OBJECTIVES; o++) {
        const size_t before = tally.calls;
        tally.fail = 0;
        assert_int_equal(everything(ctx, &p, z, (hf_objective)o), HF_OK);
        const size_t calls = tally.calls - before;
        assert_true(calls > 20);
        for (size_t k = 1; k <= calls; k++) {
            tally.fail = tally.calls + k;
            assert_int_equal(everything(ctx, &p, z, (hf_objective)o), HF_ERR_MEMORY);
            assert_int_equal(tally.live, live);
        }
    }
    hf_context_free(ctx);
    free(z);
    problem_free(&p);
    hf_context_free(maker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_difference_quotients),
        cmocka_unit_test(gradients_over_several_chunks),
        cmocka_unit_test(gradients_of_few),
        cmocka_unit_test(gradients_with_a_singular_prior),
        cmocka_unit_test(the_jitter_follows_the_kernel),
        cmocka_unit_test(gradients_with_readings_beyond_all_measure),
        cmocka_unit_test(given_sites_do_not_follow_the_noise),
        cmocka_unit_test(inducing_inputs_that_stay_have_no_gradient),
        cmocka_unit_test(values_agree_with_the_book),
        cmocka_unit_test(the_weighted_bound_of_plain_readings_is_the_bound),
        cmocka_unit_test(inducing_inputs_at_all_readings_are_exact),
        cmocka_unit_test(processes_share_the_rows),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(errors_leave_the_outputs_alone),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
