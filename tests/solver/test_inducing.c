/* SPDX-License-Identifier: Apache-2.0 */
/* The inducing solver against the book, against the exact solver, and against itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "linalg/linalg.h"
#include "solver/inducing_reference.h"

static const char *const EXPRESSIONS[] = {"matern52(ard)", "se + 0.3*linear(ard)",
                                          "rq(x1)*periodic(x2) + white", "matern32*(se(x1) + white)"};

static hfi_inducing factor(const problem *p, hf_inducing_method method, size_t m, const double *z)
{
    hfi_inducing u;
    assert_int_equal(hfi_inducing_init(p->ctx, method, m, p->d, z, p->d, &u), HF_OK);
    assert_int_equal(hfi_inducing_factor(&u, p->kernel, p->mean, p->sites, p->n, p->x, p->d), HF_OK);
    return u;
}

static double evidence(const problem *p, hf_inducing_method method, size_t m, const double *z)
{
    hfi_inducing u = factor(p, method, m, z);
    const double value = hfi_inducing_log_evidence(&u);
    hfi_inducing_free(&u);
    return value;
}

/* Mean less the prior mean, and variance without white, as a posterior computes them. */
static void predict(const hfi_solution *s, const hf_kernel *kernel, const double *x, double *mean,
                    double *variance)
{
    double *k = naive_zeros(s->n), *room = naive_zeros(hfi_solution_room(s, 1)),
           *scratch = naive_zeros(hfi_kernel_scratch(kernel)), prior;
    size_t ld;
    hfi_kernel_cross_block(kernel, 1, x, s->d, s->n, s->z, s->d, k, s->n, scratch);
    hfi_kernel_diagonal(kernel, 1, x, s->d, false, &prior);
    *mean = hfi_dot(s->n, k, s->t);
    const double *w = hfi_solution_whiten(s, 1, k, s->n, room, &ld);
    *variance = prior - hfi_dot(hfi_solution_rank(s), w, w);
    free(k);
    free(room);
    free(scratch);
}

/* ---- against the book ------------------------------------------------------------------------------------------ */

static void check_predictions(const problem *p, hfi_inducing *u, const reference *r)
{
    const size_t points = 7;
    double *x = problem_inputs(points, p->d, 77), *mean = naive_zeros(points),
           *variance = naive_zeros(points);
    hfi_solution s;
    assert_int_equal(hfi_inducing_solution(u, &s), HF_OK);
    assert_int_equal(s.solver, HF_SOLVER_INDUCING);
    assert_int_equal(s.form, HFI_FORM_DENSE);
    assert_true(s.backward < 1e-12 && s.condition >= 1.0 && s.jitter > 0.0);
    /* Other rows than those of the factorisation. */
    hf_sites *none;
    assert_int_equal(hf_sites_gaussian(p->ctx, points, mean, 1.0, NULL, &none), HF_OK);
    assert_int_equal(
        hfi_inducing_marginals(u, p->kernel, p->mean, none, points, x, p->d, false, mean, variance), HF_OK);
    for (size_t i = 0; i < points; i++) {
        double want_mean, want_variance, got_mean, got_variance, prior;
        reference_predict(r, x + i * p->d, &want_mean, &want_variance);
        hf_mean_evaluate(p->mean, 1, x + i * p->d, p->d, &prior);
        predict(&s, p->kernel, x + i * p->d, &got_mean, &got_variance);
        assert_near(mean[i], want_mean, 1e-8);
        assert_near(variance[i], want_variance, 1e-8);
        assert_near(prior + got_mean, want_mean, 1e-8);
        assert_near(got_variance + reference_white(p->kernel, x + i * p->d), want_variance, 1e-8);
    }
    hf_sites_free(none);
    hfi_solution_free(&s);
    free(x);
    free(mean);
    free(variance);
}

static void it_agrees_with_the_book(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    const size_t n = 40, m = 7;
    for (size_t e = 0; e < sizeof EXPRESSIONS / sizeof *EXPRESSIONS; e++)
        for (int kind = 0; kind < REFERENCE_SITES; kind++)
            for (int method = 0; method < 3; method++) {
                problem p = reference_problem(ctx, EXPRESSIONS[e], n, 2, (reference_sites)kind);
                double *z = reference_inputs(m, 2);
                /* Nothing is known about the inputs of missing readings. */
                for (size_t i = 0; i < n; i++)
                    if (!hf_sites_is_present(p.sites, i)) p.x[i * 2] = NAN;
                hfi_inducing u = factor(&p, (hf_inducing_method)method, m, z);
                reference r =
                    reference_make(p.kernel, p.mean, p.sites, p.x, 2, (hf_inducing_method)method, m, z);
                const double want = reference_evidence(&r, (hf_inducing_method)method);
                assert_int_equal(u.present, r.n);
                assert_near(hfi_inducing_log_evidence(&u), want, 1e-9 * (1.0 + fabs(want)));
                assert_near(u.log_det, r.log_det, 1e-9 * (1.0 + fabs(r.log_det)));
                assert_near(u.unresolved, r.trace, 1e-8 * (1.0 + r.trace));
                check_predictions(&p, &u, &r);
                reference_free(&r);
                hfi_inducing_free(&u);
                free(z);
                problem_free(&p);
            }
    hf_context_free(ctx);
}

/* Sums over rows by plain loops, for tables of several chunks. */
static void several_chunks(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(3);
    const size_t n = 2300, m = 5, d = 2;
    problem p = reference_problem(ctx, "matern52(ard) + white", n, d, REFERENCE_ROBUST);
    double *z = reference_inputs(m, d), *sigma = naive_zeros(m * m), *b = naive_zeros(m);
    hfi_inducing u = factor(&p, HF_INDUCING_FITC, m, z);
    reference r = {.kernel = p.kernel, .m = m, .d = d, .z = z};
    reference_prior(&r);
    memcpy(sigma, r.kuu, m * m * sizeof *sigma);
    double log_precision = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (!hf_sites_is_present(p.sites, i)) continue;
        double k[5], prior, *x = p.x + i * d;
        for (size_t j = 0; j < m; j++) k[j] = hfi_kernel_value(p.kernel, x, z + j * d, false);
        hf_mean_evaluate(p.mean, 1, x, d, &prior);
        const double q = reference_form(m, r.kuu_inverse, k, k);
        const double precision = 1.0 / (hf_sites_variances(p.sites)[i] + reference_white(p.kernel, x) +
                                        hfi_kernel_value(p.kernel, x, x, false) - q);
        log_precision += log(precision);
        for (size_t j = 0; j < m; j++) {
            b[j] += precision * k[j] * (hf_sites_targets(p.sites)[i] - prior);
            for (size_t l = 0; l < m; l++) sigma[j * m + l] += precision * k[j] * k[l];
        }
    }
    double of_sigma, of_kuu, *inverse = naive_inverse(m, sigma, &of_sigma);
    free(naive_inverse(m, r.kuu, &of_kuu));
    for (size_t j = 0; j < m; j++) {
        double t = 0.0;
        for (size_t l = 0; l < m; l++) t += inverse[j * m + l] * b[l];
        assert_near(u.t[j], t, 1e-9 * (1.0 + fabs(t)));
    }
    const double want = of_sigma - of_kuu - log_precision;
    assert_near(u.log_det, want, 1e-10 * fabs(want));
    free(inverse);
    free(r.kuu);
    free(r.kuu_inverse);
    free(sigma);
    free(b);
    free(z);
    hfi_inducing_free(&u);
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- against the exact solver ------------------------------------------------------------------------------------ */

static void inducing_inputs_at_all_readings_are_exact(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 30, d = 2;
    for (int method = 0; method < 3; method++) {
        problem p = problem_make(ctx, "matern52(ard)", n, d, 0.3);
        naive_gp gp = problem_naive(&p);
        hfi_inducing u = factor(&p, (hf_inducing_method)method, n, p.x);
        hfi_solution s;
        assert_int_equal(hfi_inducing_solution(&u, &s), HF_OK);
        assert_near(hfi_inducing_log_evidence(&u), naive_evidence(&gp), 1e-8);
        double *x = problem_inputs(9, d, 3);
        for (size_t i = 0; i < 9; i++) {
            double mean, variance, prior;
            predict(&s, p.kernel, x + i * d, &mean, &variance);
            hf_mean_evaluate(p.mean, 1, x + i * d, d, &prior);
            assert_near(prior + mean, naive_mean(&gp, x + i * d), 1e-8);
            assert_near(variance, naive_covariance(&gp, x + i * d, x + i * d, true), 1e-8);
        }
        free(x);
        hfi_solution_free(&s);
        hfi_inducing_free(&u);
        naive_free(&gp);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static void random_hyperparameters(problem *p, hfi_stream *stream)
{
    double theta[8];
    const size_t count = hf_kernel_parameters(p->kernel);
    assert_true(count <= 8);
    for (size_t k = 0; k < count; k++) theta[k] = 4.0 * hfi_stream_uniform(stream) - 2.0;
    hfi_kernel_set_theta(p->kernel, theta);
    assert_int_equal(hf_sites_set_noise(p->ctx, p->sites, exp(6.0 * hfi_stream_uniform(stream) - 5.0)),
                     HF_OK);
}

static void the_bound_never_exceeds_the_evidence(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 14, m = 4, d = 2;
    problem p = problem_make(ctx, "matern32(ard)", n, d, 0.1);
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 9);
    for (int draw = 0; draw < 1000; draw++) {
        double z[8];
        for (size_t k = 0; k < m * d; k++) z[k] = 5.0 * hfi_stream_uniform(&stream) - 2.5;
        random_hyperparameters(&p, &stream);
        hfi_solution s;
        assert_int_equal(hfi_exact_solve(ctx, p.kernel, p.mean, p.sites, d, p.x, d, &s), HF_OK);
        const double exact = hfi_solution_log_evidence(&s), bound = evidence(&p, HF_INDUCING_VFE, m, z);
        if (!(bound <= exact + 1e-10 * fabs(exact)))
            fail_msg("draw %d: the bound %.17g exceeds the evidence %.17g", draw, bound, exact);
        hfi_solution_free(&s);
    }
    problem_free(&p);
    hf_context_free(ctx);
}

static void one_more_inducing_input_never_lowers_the_bound(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 40, most = 12, d = 2;
    hfi_stream stream;
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, 9);
    for (int kind = 0; kind < REFERENCE_SITES; kind++) {
        problem p = reference_problem(ctx, "matern52(ard)", n, d, (reference_sites)kind);
        for (int draw = 0; draw < 20; draw++) {
            double *z = problem_inputs(most, d, (uint64_t)draw + 100), before = -INFINITY;
            random_hyperparameters(&p, &stream);
            for (size_t m = 1; m <= most; m++) {
                const double bound = evidence(&p, HF_INDUCING_VFE, m, z);
                /* The jitter of what is there already is worth at most 1e-10 of the trace. */
                assert_true(bound >= before - 1e-7 * (1.0 + fabs(bound)));
                before = bound;
            }
            free(z);
        }
        problem_free(&p);
    }
    hf_context_free(ctx);
}

/* ---- cavities -------------------------------------------------------------------------------------------------- */

/* Checks what all other readings say about reading i. For FITC the reading's own k - q is not part of anybody else's
 * site, so that leaving it out is simply not having it. */
static void check_cavities(problem *p, hf_inducing_method method, size_t m, const double *z)
{
    double *mean = naive_zeros(p->n), *variance = naive_zeros(p->n);
    hfi_inducing u = factor(p, method, m, z);
    assert_int_equal(
        hfi_inducing_marginals(&u, p->kernel, p->mean, p->sites, p->n, p->x, p->d, true, mean, variance),
        HF_OK);
    for (size_t i = 0; i < p->n; i++) {
        const double weight = p->sites->weight[i];
        p->sites->weight[i] = 0.0;
        reference r = reference_make(p->kernel, p->mean, p->sites, p->x, p->d, method, m, z);
        double want_mean, want_variance;
        reference_predict(&r, p->x + i * p->d, &want_mean, &want_variance);
        assert_near(mean[i], want_mean, 1e-8);
        assert_near(variance[i], want_variance, 1e-8);
        reference_free(&r);
        p->sites->weight[i] = weight;
    }
    hfi_inducing_free(&u);
    free(mean);
    free(variance);
}

static void cavities_are_fits_without_the_reading(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(2);
    const size_t n = 24, m = 5;
    double *z = reference_inputs(m, 2);
    for (int kind = 0; kind < REFERENCE_SITES; kind++)
        for (int method = 0; method < 3; method++) {
            problem p = reference_problem(ctx, kind % 2 ? "matern32*(se(x1) + white)" : "matern52(ard)", n, 2,
                                          (reference_sites)kind);
            check_cavities(&p, (hf_inducing_method)method, m, z);
            problem_free(&p);
        }
    free(z);
    hf_context_free(ctx);
}

/* A reading that alone decides everything leaves no digit of 1 - p h: the cavity is inaccurate then, but a
 * variance between 0 and the prior's. */
static void cavities_survive_tiny_noise(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", 3, 1, 1e-18);
    const double far[3] = {-100.0, 0.0, 100.0};
    memcpy(p.x, far, sizeof far);
    double mean[3], variance[3];
    for (int method = 0; method < 3; method++) {
        hfi_inducing u = factor(&p, (hf_inducing_method)method, 3, p.x);
        assert_int_equal(
            hfi_inducing_marginals(&u, p.kernel, p.mean, p.sites, 3, p.x, 1, true, mean, variance), HF_OK);
        for (size_t i = 0; i < 3; i++) {
            assert_true(isfinite(mean[i]));
            assert_true(variance[i] >= 0.0 && variance[i] <= 1.0 + 1e-9);
        }
        hfi_inducing_free(&u);
    }
    problem_free(&p);
    hf_context_free(ctx);
}

/* ---- processes and threads ----------------------------------------------------------------------------- */

typedef struct shared_fit {
    const problem *p;
    size_t m;
    const double *z;
    hf_status status[REFERENCE_MOST_PROCESSES];
    double *results[REFERENCE_MOST_PROCESSES]; /* t, log evidence, means, variances */
} shared_fit;

static size_t results_count(const shared_fit *f)
{
    return f->m + 1 + 2 * f->p->n;
}

static void fit_in_process(hf_context *ctx, size_t rank, void *arg)
{
    shared_fit *f = arg;
    const problem *p = f->p;
    hfi_inducing u;
    double *out = f->results[rank], *mean = out + f->m + 1;
    hf_status status = hfi_inducing_init(ctx, HF_INDUCING_FITC, f->m, p->d, f->z, p->d, &u);
    if (status >= 0) status = hfi_inducing_factor(&u, p->kernel, p->mean, p->sites, p->n, p->x, p->d);
    if (status >= 0) {
        memcpy(out, u.t, f->m * sizeof *out);
        out[f->m] = hfi_inducing_log_evidence(&u);
        status = hfi_inducing_marginals(&u, p->kernel, p->mean, p->sites, p->n, p->x, p->d, true, mean,
                                        mean + p->n);
    }
    f->status[rank] = status;
    hfi_inducing_free(&u);
}

static void processes_share_the_rows(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t sizes[] = {1, 2, 3, 5}, rows[] = {2, 3000}; /* fewer rows than processes, too */
    for (size_t n = 0; n < 2; n++) {
        problem p = problem_make(ctx, "matern52(ard) + white", rows[n], 2, 0.1);
        shared_fit f = {.p = &p, .m = 6, .z = reference_inputs(6, 2)};
        double *one = naive_zeros(results_count(&f));
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (size_t r = 0; r < sizes[s]; r++) f.results[r] = naive_zeros(results_count(&f));
            party_run(sizes[s], fit_in_process, &f);
            if (s == 0) memcpy(one, f.results[0], results_count(&f) * sizeof *one);
            for (size_t r = 0; r < sizes[s]; r++) {
                assert_int_equal(f.status[r], HF_OK);
                assert_memory_equal(f.results[r], f.results[0], results_count(&f) * sizeof *one);
            }
            for (size_t k = 0; k < results_count(&f); k++)
                assert_near(f.results[0][k], one[k], 1e-12 * (1.0 + fabs(one[k])) * (k < f.m ? 100.0 : 1.0));
            for (size_t r = 0; r < sizes[s]; r++) free(f.results[r]);
        }
        free(one);
        free((void *)f.z);
        problem_free(&p);
    }
    hf_context_free(ctx);
}

static bool refuse_to_sum(size_t count, double *values, void *user)
{
    (void)count;
    (void)values;
    (void)user;
    return false;
}

static void a_broken_group_is_an_error(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    problem p = problem_make(ctx, "se", 9, 1, 0.1);
    const hf_group group = {.rank = 0, .size = 2, .sum = refuse_to_sum};
    assert_int_equal(hf_context_set_group(ctx, &group), HF_OK);
    hfi_inducing u;
    assert_int_equal(hfi_inducing_init(ctx, HF_INDUCING_VFE, 2, 1, p.x, 1, &u), HF_OK);
    assert_int_equal(hfi_inducing_factor(&u, p.kernel, p.mean, p.sites, p.n, p.x, 1), HF_ERR_INTERNAL);
    hfi_inducing_free(&u);
    problem_free(&p);
    hf_context_free(ctx);
}

static void compare_threads(hf_context *ctx, size_t n, size_t m)
{
    const size_t d = 3, total = 2 * n + m + 1;
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    problem p = problem_make(ctx, "matern52(ard)", n, d, 0.1);
    double *z = reference_inputs(m, d), *results[2];
    for (int t = 0; t < 2; t++) {
        assert_int_equal(hf_context_set_threads(ctx, 1 + 2 * t), HF_OK);
        double *out = results[t] = naive_zeros(total);
        hfi_inducing u = factor(&p, HF_INDUCING_FITC, m, z);
        assert_int_equal(hfi_inducing_marginals(&u, p.kernel, p.mean, p.sites, n, p.x, d, true, out, out + n),
                         HF_OK);
        memcpy(out + 2 * n, u.t, m * sizeof *out);
        out[2 * n + m] = hfi_inducing_log_evidence(&u);
        hfi_inducing_free(&u);
    }
    assert_memory_equal(results[0], results[1], total * sizeof(double));
    free(results[0]);
    free(results[1]);
    free(z);
    problem_free(&p);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    compare_threads(ctx, 2200, 9);  /* several chunks */
    compare_threads(ctx, 400, 140); /* several tiles */
    hf_context_free(ctx);
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

static void one_reading_one_input_and_more_inputs_than_readings(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t readings[] = {1, 1, 5, 5}, inputs[] = {1, 6, 1, 20};
    for (int c = 0; c < 4; c++)
        for (int method = 0; method < 3; method++) {
            problem p = problem_make(ctx, "matern52(ard)", readings[c], 2, 0.1);
            double *z = reference_inputs(inputs[c], 2);
            hfi_inducing u = factor(&p, (hf_inducing_method)method, inputs[c], z);
            reference r =
                reference_make(p.kernel, p.mean, p.sites, p.x, 2, (hf_inducing_method)method, inputs[c], z);
            assert_near(hfi_inducing_log_evidence(&u), reference_evidence(&r, (hf_inducing_method)method),
                        1e-8);
            check_predictions(&p, &u, &r);
            reference_free(&r);
            hfi_inducing_free(&u);
            free(z);
            problem_free(&p);
        }
    hf_context_free(ctx);
}

/* Doubling every inducing input adds nothing: the jitter tells the copies apart, and the rest is as before. */
static void duplicate_inducing_inputs(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 30, m = 6, d = 2;
    problem p = problem_make(ctx, "matern52(ard)", n, d, 0.3);
    double *once = reference_inputs(m, d), *twice = naive_zeros(3 * m * d);
    for (int copy = 0; copy < 3; copy++) memcpy(twice + (size_t)copy * m * d, once, m * d * sizeof *once);
    for (int method = 0; method < 3; method++) {
        hfi_inducing u;
        hfi_solution s;
        assert_int_equal(hfi_inducing_init(ctx, (hf_inducing_method)method, 3 * m, d, twice, d, &u), HF_OK);
        const hf_status status = hfi_inducing_factor(&u, p.kernel, p.mean, p.sites, n, p.x, d);
        assert_true(status == HF_OK || status == HF_WARN_JITTER);
        assert_near(hfi_inducing_log_evidence(&u), evidence(&p, (hf_inducing_method)method, m, once), 1e-6);
        assert_int_equal(hfi_inducing_solution(&u, &s), HF_OK);
        assert_true(s.condition > 1e6 && s.backward < 1e-10);
        hfi_solution_free(&s);
        hfi_inducing_free(&u);
    }
    free(once);
    free(twice);
    problem_free(&p);
    hf_context_free(ctx);
}

/* Weights of 1e-200 and site variances of 1e200 are no readings, nearly. */
static void readings_beyond_all_measure(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 20, m = 5;
    problem p = problem_make(ctx, "matern52(ard)", n, 2, 0.1);
    double *z = reference_inputs(m, 2), *centre = naive_zeros(n);
    p.y[3] = 1e250;
    hf_sites_free(p.sites);
    assert_int_equal(hf_sites_robust(ctx, n, p.y, 0.1, NULL, centre, 0.8, &p.sites), HF_OK);
    for (int method = 0; method < 3; method++) {
        hfi_inducing with = factor(&p, (hf_inducing_method)method, m, z);
        const double weight = p.sites->weight[3];
        p.sites->weight[3] = 0.0;
        hfi_inducing without = factor(&p, (hf_inducing_method)method, m, z);
        p.sites->weight[3] = weight;
        assert_true(isfinite(hfi_inducing_log_evidence(&with)));
        for (size_t i = 0; i < m; i++)
            assert_near(with.t[i], without.t[i], 1e-9 * (1.0 + fabs(without.t[i])));
        hfi_inducing_free(&with);
        hfi_inducing_free(&without);
    }
    free(z);
    free(centre);
    problem_free(&p);
    hf_context_free(ctx);
}

static void what_cannot_be_solved_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = problem_context(1);
    const size_t n = 12;
    problem p = problem_make(ctx, "se", n, 1, 0.1);
    hfi_inducing u;
    assert_int_equal(hfi_inducing_init(ctx, HF_INDUCING_VFE, 3, 1, p.x, 1, &u), HF_OK);
    for (size_t i = 0; i < n; i++) assert_int_equal(hf_sites_set_present(ctx, p.sites, i, false), HF_OK);
    assert_int_equal(hfi_inducing_factor(&u, p.kernel, p.mean, p.sites, n, p.x, 1), HF_ERR_NO_DATA);
    for (size_t i = 0; i < n; i++) assert_int_equal(hf_sites_set_present(ctx, p.sites, i, true), HF_OK);
    p.sites->target[2] = 1e200; /* its square overflows */
    assert_int_equal(hfi_inducing_factor(&u, p.kernel, p.mean, p.sites, n, p.x, 1), HF_ERR_NOT_FINITE);
    hfi_inducing_free(&u);
    assert_int_equal(hfi_inducing_init(ctx, HF_INDUCING_VFE, (size_t)1 << 31, 1, p.x, 1, &u),
                     HF_ERR_TOO_LARGE);
    assert_null(u.z);
    problem_free(&p);
    hf_context_free(ctx);
}

static hf_status everything(hf_context *ctx, const problem *p, const double *z)
{
    double mean[9], variance[9];
    hfi_inducing u;
    hfi_solution s = {0};
    hf_status status = hfi_inducing_init(ctx, HF_INDUCING_FITC, 4, p->d, z, p->d, &u);
    if (status >= 0) status = hfi_inducing_factor(&u, p->kernel, p->mean, p->sites, p->n, p->x, p->d);
    if (status >= 0)
        status =
            hfi_inducing_marginals(&u, p->kernel, p->mean, p->sites, p->n, p->x, p->d, true, mean, variance);
    if (status >= 0) status = hfi_inducing_solution(&u, &s);
    hfi_solution_free(&s);
    hfi_inducing_free(&u);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    hf_context *maker = problem_context(1);
    problem p = problem_make(maker, "se", 9, 2, 0.1);
    double *z = reference_inputs(4, 2);
    counter count = {0};
    hf_context *ctx = counter_context(&count);
    const long live = count.live;
    const size_t before = count.calls;
    assert_int_equal(everything(ctx, &p, z), HF_OK);
    const size_t calls = count.calls - before;
    assert_true(calls > 15);
    for (size_t k = 1; k <= calls; k++) {
        count.fail = count.calls + k;
        assert_int_equal(everything(ctx, &p, z), HF_ERR_MEMORY);
        assert_int_equal(count.live, live);
    }
    hf_context_free(ctx);
    free(z);
    problem_free(&p);
    hf_context_free(maker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_agrees_with_the_book),
        cmocka_unit_test(several_chunks),
        cmocka_unit_test(inducing_inputs_at_all_readings_are_exact),
        cmocka_unit_test(the_bound_never_exceeds_the_evidence),
        cmocka_unit_test(one_more_inducing_input_never_lowers_the_bound),
        cmocka_unit_test(cavities_are_fits_without_the_reading),
        cmocka_unit_test(cavities_survive_tiny_noise),
        cmocka_unit_test(processes_share_the_rows),
        cmocka_unit_test(a_broken_group_is_an_error),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(one_reading_one_input_and_more_inputs_than_readings),
        cmocka_unit_test(duplicate_inducing_inputs),
        cmocka_unit_test(readings_beyond_all_measure),
        cmocka_unit_test(what_cannot_be_solved_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
