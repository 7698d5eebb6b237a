/* SPDX-License-Identifier: Apache-2.0 */
/* Variational inference by minibatches: gradients, sums over batches, closed forms. */
#include "svgp/impl.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 53,
    D = 2,
    M = 7,
    MOST = 64
};

typedef struct fixture {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hfi_svgp q;
    double x[N * D], y[N], extra[N], centre[N], z[M * D];
    hfi_row_arrays arrays;
    hfi_row_source rows;
} fixture;

static hfi_svgp_noise noise_of(hf_likelihood kind)
{
    return (hfi_svgp_noise){
        .kind = hfi_svgp_kind_of(kind), .noise = 0.07, .threshold = 0.6, .student = hfi_student_make(3.5)};
}

static void make_data(fixture *f)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) f->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        f->y[i] = sin(f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.2 * hfi_stream_normal(&stream);
        f->extra[i] = i % 4 == 0 ? 0.05 : 0.0;
        f->centre[i] = sin(f->x[i * D]);
    }
    f->y[3] += 4.0;
    f->y[9] = NAN;
    memcpy(f->z, f->x, sizeof f->z);
    for (size_t i = 0; i < M * D; i++) f->z[i] += 0.1;
}

/* `moved`: q is somewhere, not the prior. */
static void make(fixture *f, const char *expression, hf_mean_kind mean, hf_likelihood kind, bool moved)
{
    memset(f, 0, sizeof *f);
    f->ctx = hf_context_create();
    assert_non_null(f->ctx);
    make_data(f);
    assert_int_equal(hf_kernel_parse(f->ctx, expression, NULL, D, &f->kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->ctx, mean, D, &f->mean), HF_OK);
    double b[D + 1] = {0.3, -0.2, 0.1};
    if (hf_mean_coefficients(f->mean) > 0) assert_int_equal(hf_mean_set(f->ctx, f->mean, b, false), HF_OK);
    const hfi_svgp_noise noise = noise_of(kind);
    /* Fewer rows at a time than there are, so that sums go over several pieces. */
    assert_int_equal(hfi_svgp_init(f->ctx, f->kernel, f->mean, &noise, M, D, f->z, 20, &f->q), HF_OK);
    assert_int_equal(hfi_svgp_prior(&f->q), HF_OK);
    f->arrays = (hfi_row_arrays){.n = N, .d = D, .x = f->x, .ldx = D, .y = f->y, .extra = f->extra};
    f->rows = hfi_row_source_in_memory(&f->arrays);
    if (!moved) return;
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 2);
    hfi_svgp_sums sums;
    assert_int_equal(hfi_svgp_sums_init(&f->q, true, false, false, &sums), HF_OK);
    for (size_t j = 0; j < M; j++) {
        sums.linear[j] = 3.0 * hfi_stream_normal(&stream);
        for (size_t i = j; i < M; i++) sums.square[i + j * M] = 0.3 * hfi_stream_normal(&stream);
        sums.square[j + j * M] = 3.0 + 5.0 * hfi_stream_uniform(&stream);
    }
    assert_int_equal(hfi_svgp_natural(&f->q, &sums, 1.0, 0.7), HF_OK);
    hfi_svgp_sums_free(&f->q, &sums);
}

static void drop(fixture *f)
{
    hfi_svgp_free(&f->q);
    hf_mean_free(f->mean);
    hf_kernel_free(f->kernel);
    hf_context_free(f->ctx);
}

/* ---- gradients --------------------------------------------------------------------------------------------- */

/* The data term at the state moved by h in parameter p; everything is put back. */
static double shifted(fixture *f, size_t p, double h)
{
    hfi_svgp *q = &f->q;
    const size_t kernel_count = hf_kernel_parameters(f->kernel), mean_count = hf_mean_coefficients(f->mean);
    double theta[MOST], b[D + 1] = {0};
    const hfi_svgp_noise noise = q->noise;
    hfi_kernel_theta(f->kernel, theta);
    memcpy(b, hf_mean_values(f->mean), mean_count * sizeof *b);
    const size_t last = kernel_count + mean_count + 1 + M * D;
    if (p < kernel_count) {
        theta[p] += h;
        hfi_kernel_set_theta(f->kernel, theta);
        theta[p] -= h;
    } else if (p < kernel_count + mean_count) {
        b[p - kernel_count] += h;
        assert_int_equal(hf_mean_set(f->ctx, f->mean, b, false), HF_OK);
        b[p - kernel_count] -= h;
    } else if (p == kernel_count + mean_count) {
        q->noise.noise *= exp(h);
    } else if (p < last) {
        q->z[p - kernel_count - mean_count - 1] += h;
    } else {
        q->noise.student = hfi_student_make(1.0 + (noise.student.nu - 1.0) * exp(h));
    }
    assert_int_equal(hfi_svgp_prior(q), HF_OK);
    hfi_svgp_sums sums;
    assert_int_equal(hfi_svgp_sums_init(q, false, false, false, &sums), HF_OK);
    assert_int_equal(hfi_svgp_add(q, N, f->x, f->y, f->extra, f->centre, &sums), HF_OK);
    if (p < kernel_count) hfi_kernel_set_theta(f->kernel, theta);
    if (mean_count > 0) assert_int_equal(hf_mean_set(f->ctx, f->mean, b, false), HF_OK);
    q->noise = noise;
    memcpy(q->z, f->z, sizeof f->z);
    return sums.value;
}

static void check_gradient(const char *expression, hf_mean_kind mean, hf_likelihood kind)
{
    fixture f;
    make(&f, expression, mean, kind, true);
    hfi_svgp_sums sums;
    assert_int_equal(hfi_svgp_sums_init(&f.q, false, true, true, &sums), HF_OK);
    assert_int_equal(hfi_svgp_add(&f.q, N, f.x, f.y, f.extra, f.centre, &sums), HF_OK);
    assert_int_equal(hfi_svgp_close(&f.q, &sums), HF_OK);
    const size_t count = hfi_svgp_gradient_length(&f.q, true);
    double scale = 1.0;
    for (size_t p = 0; p < count; p++) scale = fmax(scale, fabs(sums.gradient[p]));
    for (size_t p = 0; p < count; p++) {
        const double h = 1e-4;
        const double difference = (8.0 * (shifted(&f, p, h) - shifted(&f, p, -h)) -
                                   (shifted(&f, p, 2 * h) - shifted(&f, p, -2 * h))) /
                                  (12.0 * h);
        if (!(fabs(difference - sums.gradient[p]) <= 1e-7 * scale))
            fail_msg("%s, noise %d: parameter %zu: gradient %.12g, difference quotient %.12g", expression,
                     (int)kind, p, sums.gradient[p], difference);
    }
    hfi_svgp_sums_free(&f.q, &sums);
    drop(&f);
}

static void gradients_match_difference_quotients(void **state)
{
    (void)state;
    static const hf_likelihood kinds[] = {HF_LIKELIHOOD_GAUSSIAN, HF_LIKELIHOOD_ROBUST,
                                          HF_LIKELIHOOD_STUDENT_T};
    for (size_t k = 0; k < 3; k++) {
        check_gradient("matern52(ard)", HF_MEAN_CONSTANT, kinds[k]);
        check_gradient("se(iso) + 0.3*linear(ard) + white(variance~0.05)", HF_MEAN_LINEAR, kinds[k]);
    }
}

/* g and h of the natural gradient are the derivatives of one reading's term. */
static void terms_have_the_derivatives_they_say(void **state)
{
    (void)state;
    static const hf_likelihood kinds[] = {HF_LIKELIHOOD_GAUSSIAN, HF_LIKELIHOOD_ROBUST,
                                          HF_LIKELIHOOD_STUDENT_T};
    const double mean = 0.4, variance = 0.3, white = 0.02, h = 1e-4;
    for (size_t k = 0; k < 3; k++)
        for (double y = -6.0; y < 7.0; y += 1.3) {
            const hfi_svgp_noise n = noise_of(kinds[k]);
            const hfi_svgp_term t = hfi_svgp_expected(&n, y, 0.01, white, mean, variance, 0.1);
            double up = hfi_svgp_expected(&n, y, 0.01, white, mean + h, variance, 0.1).value;
            double down = hfi_svgp_expected(&n, y, 0.01, white, mean - h, variance, 0.1).value;
            assert_near(t.mean, (up - down) / (2.0 * h), 1e-5 * (1.0 + fabs(t.mean)));
            up = hfi_svgp_expected(&n, y, 0.01, white, mean, variance + h, 0.1).value;
            down = hfi_svgp_expected(&n, y, 0.01, white, mean, variance - h, 0.1).value;
            assert_near(t.variance, (up - down) / (2.0 * h), 1e-5 * (1.0 + fabs(t.variance)));
            up = hfi_svgp_expected(&n, y, 0.01, white + h, mean, variance, 0.1).value;
            down = hfi_svgp_expected(&n, y, 0.01, white - h, mean, variance, 0.1).value;
            assert_near(t.white, (up - down) / (2.0 * h), 1e-5 * (1.0 + fabs(t.white)));
        }
}

/* ---- batches ----------------------------------------------------------------------------------------------- */

/* Over an epoch the batches' sums are the sums over all rows: values, natural gradients and gradients. */
static void batches_add_up_to_all_rows(void **state)
{
    (void)state;
    static const hf_likelihood kinds[] = {HF_LIKELIHOOD_GAUSSIAN, HF_LIKELIHOOD_ROBUST,
                                          HF_LIKELIHOOD_STUDENT_T};
    for (size_t k = 0; k < 3; k++) {
        fixture f;
        make(&f, "matern52(ard)", HF_MEAN_CONSTANT, kinds[k], true);
        hfi_svgp_sums all, parts;
        assert_int_equal(hfi_svgp_sums_init(&f.q, true, true, true, &all), HF_OK);
        assert_int_equal(hfi_svgp_sums_init(&f.q, true, true, true, &parts), HF_OK);
        assert_int_equal(hfi_svgp_add_all(&f.q, &f.rows, &all), HF_OK);
        assert_int_equal(hfi_svgp_close(&f.q, &all), HF_OK);
        hfi_batches batches;
        assert_int_equal(hfi_batches_init(f.ctx, &f.rows, 10, &batches), HF_OK);
        assert_int_equal(batches.count, 6);
        for (size_t b = 0; b < batches.count; b++) {
            size_t count;
            assert_int_equal(hfi_batches_next(&batches, &count), HF_OK);
            assert_true(count == 8 || count == 9);
            assert_int_equal(hfi_svgp_add(&f.q, count, batches.x, batches.y, batches.extra, NULL, &parts),
                             HF_OK);
        }
        assert_int_equal(hfi_svgp_close(&f.q, &parts), HF_OK);
        assert_int_equal(parts.readings, all.readings);
        assert_int_equal(parts.readings, N - 1);
        assert_near(parts.value, all.value, 1e-11 * fabs(all.value));
        const size_t length = hfi_svgp_gradient_length(&f.q, true);
        for (size_t p = 0; p < length; p++)
            assert_near(parts.gradient[p], all.gradient[p], 1e-10 * (1.0 + fabs(all.gradient[p])));
        for (size_t j = 0; j < M; j++) {
            assert_near(parts.linear[j], all.linear[j], 1e-10 * (1.0 + fabs(all.linear[j])));
            for (size_t i = j; i < M; i++)
                assert_near(parts.square[i + j * M], all.square[i + j * M], 1e-10 * 100.0);
        }
        hfi_batches_free(&batches);
        hfi_svgp_sums_free(&f.q, &all);
        hfi_svgp_sums_free(&f.q, &parts);
        drop(&f);
    }
}

static hf_status read_numbers(void *arg, size_t begin, size_t count, double *x, double *y, double *extra)
{
    size_t *reads = arg;
    (*reads)++;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < 999; j++) x[i * 999 + j] = 0.0;
        y[i] = (double)(begin + i);
        extra[i] = 0.0;
    }
    return HF_OK;
}

/* More rows than the buffer holds: every row once an epoch, another order each epoch, few reads. */
static void every_row_comes_once_an_epoch(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    size_t reads = 0;
    const hfi_row_source rows = {.n = 20011, .d = 999, .read = read_numbers, .arg = &reads};
    hfi_batches batches;
    assert_int_equal(hfi_batches_init(ctx, &rows, 700, &batches), HF_OK);
    assert_false(batches.resident);
    assert_true(batches.per_group > 1);
    int *seen = calloc(rows.n, sizeof *seen);
    double first[2] = {0.0, 0.0};
    for (size_t epoch = 0; epoch < 2; epoch++) {
        reads = 0;
        for (size_t b = 0; b < batches.count; b++) {
            size_t count;
            assert_int_equal(hfi_batches_next(&batches, &count), HF_OK);
            if (b == 0) first[epoch] = batches.y[0];
            for (size_t i = 0; i < count; i++) seen[(size_t)batches.y[i]]++;
        }
        for (size_t i = 0; i < rows.n; i++) assert_int_equal(seen[i], epoch + 1);
        assert_true(reads < 100);
    }
    assert_true(first[0] != first[1]);
    free(seen);
    hfi_batches_free(&batches);
    hf_context_free(ctx);
}

/* The next `most` batches of those that go through all rows and of those that were put where these are. */
static void assert_same_batches(hfi_batches *through, hfi_batches *put, size_t most)
{
    for (size_t b = 0; b < most; b++) {
        size_t count, other;
        assert_int_equal(hfi_batches_next(through, &count), HF_OK);
        assert_int_equal(hfi_batches_next(put, &other), HF_OK);
        assert_int_equal(count, other);
        assert_memory_equal(through->y, put->y, count * sizeof(double));
        assert_int_equal(through->epoch, put->epoch);
        assert_int_equal(through->batch, put->batch);
    }
}

/* From any batch of two epochs, with more rows than the buffer holds and with all in it. */
static void batches_go_on_from_anywhere(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    size_t reads = 0;
    for (size_t n = 300; n <= 20011; n += 19711) {
        const hfi_row_source rows = {.n = n, .d = 999, .read = read_numbers, .arg = &reads};
        hfi_batches through, put;
        assert_int_equal(hfi_batches_init(ctx, &rows, n / 25, &through), HF_OK);
        assert_true(through.resident == (n == 300));
        for (size_t k = 0; k < 2 * through.count; k += 3) {
            assert_int_equal(hfi_batches_init(ctx, &rows, n / 25, &put), HF_OK);
            assert_int_equal(hfi_batches_seek(&put, through.epoch, through.batch), HF_OK);
            assert_same_batches(&through, &put, 3);
            hfi_batches_free(&put);
        }
        hfi_batches_free(&through);
    }
    hf_context_free(ctx);
}

/* ---- closed forms ------------------------------------------------------------------------------------------ */

/* The dense bound log N(y; m, Q + D) - tr(D^-1 (K - Q)) / 2, and posterior mean and variance at a point, by
 * plain loops. */
typedef struct dense {
    double bound, mean, variance;
} dense;

static dense dense_reference(fixture *f, const double *target, const double *d, const double *at)
{
    static double a[M * N], cov[N * N], alpha[N], ka[M], kq[N];
    hfi_svgp *q = &f->q;
    size_t row[N], n = 0;
    for (size_t i = 0; i < N; i++)
        if (!isnan(f->y[i])) row[n++] = i;
    for (size_t c = 0; c < n; c++)
        for (size_t j = 0; j < M; j++) {
            double v = hfi_kernel_value(f->kernel, f->x + row[c] * D, f->z + j * D, false);
            for (size_t k = 0; k < j; k++) v -= q->lu[j + k * M] * a[k + c * M];
            a[j + c * M] = v / q->lu[j + j * M];
        }
    for (size_t j = 0; j < M; j++) {
        double v = hfi_kernel_value(f->kernel, at, f->z + j * D, false);
        for (size_t k = 0; k < j; k++) v -= q->lu[j + k * M] * ka[k];
        ka[j] = v / q->lu[j + j * M];
    }
    double trace = 0.0, m[N], mean_at;
    for (size_t c = 0; c < n; c++) hf_mean_evaluate(f->mean, 1, f->x + row[c] * D, D, &m[c]);
    hf_mean_evaluate(f->mean, 1, at, D, &mean_at);
    for (size_t c = 0; c < n; c++) {
        for (size_t r = 0; r < n; r++) cov[r + c * N] = hfi_dot(M, a + r * M, a + c * M);
        trace += (hfi_kernel_value(f->kernel, f->x + row[c] * D, f->x + row[c] * D, false) - cov[c + c * N]) /
                 d[row[c]];
        cov[c + c * N] += d[row[c]];
        alpha[c] = target[row[c]] - m[c];
        kq[c] = hfi_dot(M, a + c * M, ka);
    }
    assert_int_equal(hfi_chol(f->ctx, n, cov, N), HF_OK);
    double residual[N], whitened[N];
    memcpy(residual, alpha, sizeof residual);
    memcpy(whitened, kq, sizeof whitened);
    hfi_chol_solve(n, cov, N, alpha);
    hfi_chol_forward(n, cov, N, whitened);
    return (dense){.bound = -0.5 * hfi_dot(n, residual, alpha) - 0.5 * hfi_chol_logdet(n, cov, N) -
                            (double)n * HFI_HALF_LOG_2PI - 0.5 * trace,
                   .mean = mean_at + hfi_dot(n, kq, alpha),
                   .variance = hfi_kernel_value(f->kernel, at, at, false) - hfi_dot(n, whitened, whitened)};
}

static void predict(fixture *f, const hfi_solution *s, const double *at, double *mean, double *variance)
{
    double k[M], room[M];
    for (size_t j = 0; j < M; j++) k[j] = hfi_kernel_value(f->kernel, at, s->z + j * D, false);
    hf_mean_evaluate(f->mean, 1, at, D, mean);
    *mean += hfi_dot(M, k, s->t);
    size_t ld;
    const double *w = hfi_solution_whiten(s, 1, k, M, room, &ld);
    *variance = hfi_kernel_value(f->kernel, at, at, false) - hfi_dot(hfi_solution_rank(s), w, w);
}

/* All rows and rho = 1 are the collapsed optimum in one step, from wherever q was. */
static void one_full_natural_step_is_the_collapsed_optimum(void **state)
{
    (void)state;
    for (int moved = 0; moved < 2; moved++)
        for (int robust = 0; robust < 2; robust++) {
            fixture f;
            make(&f, "matern52(ard) + white(variance=0.03)", HF_MEAN_LINEAR,
                 robust ? HF_LIKELIHOOD_ROBUST : HF_LIKELIHOOD_GAUSSIAN, moved != 0);
            hf_sites *sites = NULL;
            assert_int_equal(hf_sites_gaussian(f.ctx, N, f.y, 0.07, f.extra, &sites), HF_OK);
            if (robust) assert_int_equal(hf_sites_recentre(f.ctx, sites, f.centre, 0.6), HF_OK);
            double d[N];
            for (size_t i = 0; i < N; i++) d[i] = hf_sites_variances(sites)[i] + 0.03;
            const double at[D] = {0.2, -0.7};
            const dense expected = dense_reference(&f, hf_sites_targets(sites), d, at);
            hfi_svgp_sums sums;
            assert_int_equal(hfi_svgp_sums_init(&f.q, true, false, false, &sums), HF_OK);
            assert_int_equal(hfi_svgp_add(&f.q, N, f.x, f.y, f.extra, f.centre, &sums), HF_OK);
            double bound = 0.0, mean, variance;
            assert_int_equal(hfi_svgp_collapse(&f.q, &sums, &bound), HF_OK);
            hfi_solution s;
            assert_int_equal(hfi_svgp_solution(&f.q, &s), HF_OK);
            predict(&f, &s, at, &mean, &variance);
            assert_near(bound, expected.bound, 1e-8 * fabs(expected.bound));
            assert_near(mean, expected.mean, 1e-8);
            assert_near(variance, expected.variance, 1e-8);
            /* The bound as it is defined, at the new q, is the same number. */
            hfi_svgp_sums_clear(&f.q, &sums);
            assert_int_equal(hfi_svgp_add(&f.q, N, f.x, f.y, f.extra, f.centre, &sums), HF_OK);
            assert_near(sums.value - hfi_svgp_kl(&f.q), bound, 1e-8 * fabs(bound));
            assert_true(s.backward < 1e-12);
            hfi_solution_free(&s);
            hfi_svgp_sums_free(&f.q, &sums);
            hf_sites_free(sites);
            drop(&f);
        }
}

/* ---- Student-t ------------------------------------------------------------------------------------------------ */

/* log t averaged over f ~ N(mean, variance), by adaptive quadrature (scipy.integrate.quad of scipy.stats.t.logpdf). */
static void student_terms_match_quadrature(void **state)
{
    (void)state;
    static const struct {
        double r, v, s, nu, expected;
    } cases[] = {{0.3, 0.2, 0.07, 3.5, -1.01524158286},
                 {-4.0, 0.05, 0.3, 2.0, -5.41387057468},
                 {0.0, 6.0, 0.1, 4.0, -4.89140082572},
                 {25.0, 0.5, 0.02, 8.0, -36.2081464159}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const hfi_svgp_noise n = {.kind = hfi_svgp_kind_of(HF_LIKELIHOOD_STUDENT_T),
                                  .noise = cases[i].s,
                                  .student = hfi_student_make(cases[i].nu)};
        assert_near(hfi_svgp_expected(&n, cases[i].r, 0.0, 0.0, 0.0, cases[i].v, 0.0).value,
                    cases[i].expected, 1e-8 * fabs(cases[i].expected));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_match_difference_quotients),
        cmocka_unit_test(terms_have_the_derivatives_they_say),
        cmocka_unit_test(batches_add_up_to_all_rows),
        cmocka_unit_test(every_row_comes_once_an_epoch),
        cmocka_unit_test(batches_go_on_from_anywhere),
        cmocka_unit_test(one_full_natural_step_is_the_collapsed_optimum),
        cmocka_unit_test(student_terms_match_quadrature),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
