/* SPDX-License-Identifier: Apache-2.0 */
/* Labels by inducing inputs: the exact answer where every row is one, gradients, and dense formulas of the
 * approximate priors. */
#include "classify/labels.h"
#include "kernel/kernel.h"

static const hf_link links[] = {HF_LINK_PROBIT, HF_LINK_LOGIT};
static const hf_inference inferences[] = {HF_INFERENCE_LAPLACE, HF_INFERENCE_EP, HF_INFERENCE_VARIATIONAL};
static const hf_inducing_method methods[] = {HF_INDUCING_VFE, HF_INDUCING_FITC, HF_INDUCING_DTC};

static void start(labels *l, hfi_inducing *inducing, hf_inducing_method method, hf_link link,
                  hf_inference inference, size_t m, hfi_latent_problem *p)
{
    assert_int_equal(hfi_inducing_init(l->ctx, method, m, INPUTS, l->x, INPUTS, inducing), HF_OK);
    double y[ROWS];
    hfi_class_readings(ROWS, l->label, y);
    const hfi_latent_given given = {.kernel = l->kernel,
                                    .mean = l->mean,
                                    .rows = ROWS,
                                    .x = l->x,
                                    .ldx = INPUTS,
                                    .y = y,
                                    .inducing = inducing};
    assert_int_equal(hfi_latent_problem_init(l->ctx, hfi_class_likelihood(link), inference, &given, p),
                     HF_OK);
}

static double evaluate(hfi_latent_problem *p, double *gradient)
{
    double value = NAN;
    const hf_status s = hfi_latent_evaluate(p, &value, gradient);
    if (s < 0) print_error("%s\n", hf_context_message(p->ctx));
    assert_int_equal(s, HF_OK);
    assert_true(p->converged);
    return value;
}

/* With every row an inducing input Q is K but for the jitter. */
static void all_rows_are_exact(void **state)
{
    (void)state;
    for (size_t k = 0; k < 18; k++) {
        labels l;
        labels_make(&l, "3*matern32 + 0.2*white", HF_MEAN_CONSTANT);
        const hf_link link = links[k % 2];
        const hf_inference inference = inferences[k / 2 % 3];
        hfi_inducing inducing;
        hfi_latent_problem p;
        double exact = NAN, from[8], gradient[8];
        start(&l, &inducing, methods[k / 6], link, inference, ROWS, &p);
        assert_int_equal(hf_class_evidence(l.ctx, link, inference, l.kernel, l.mean, ROWS, l.x, INPUTS,
                                           l.label, 2, &exact, from),
                         HF_OK);
        assert_near(evaluate(&p, gradient), exact, 1e-6);
        for (size_t i = 0; i < hf_kernel_parameters(l.kernel) + 1; i++)
            assert_near(gradient[i], from[i], 1e-5 * (1.0 + fabs(from[i])));
        hfi_latent_problem_free(&p);
        hfi_inducing_free(&inducing);
        labels_free(&l);
    }
}

static void gradient_agrees_with_differences(void **state)
{
    (void)state;
    for (size_t kinds = 0; kinds < 19; kinds++) {
        /* the last: rows of which the inducing inputs say nothing, VFE under EP */
        const bool far = kinds == 18;
        const size_t k = far ? 2 : kinds;
        labels l;
        labels_make(&l, far ? "6*se(lengthscale=0.3)" : "6*se(ard) + 0.2*white", HF_MEAN_CONSTANT);
        const double mean = 0.3;
        assert_int_equal(hf_mean_set(l.ctx, l.mean, &mean, false), HF_OK);
        hfi_inducing inducing;
        hfi_latent_problem p;
        start(&l, &inducing, methods[k / 6], links[k % 2], inferences[k / 2 % 3], 7, &p);
        const size_t kernel_count = hf_kernel_parameters(l.kernel);
        double gradient[8], theta[8];
        evaluate(&p, gradient);
        hfi_kernel_theta(l.kernel, theta);
        theta[kernel_count] = mean;
        for (size_t i = 0; i <= kernel_count; i++) {
            static const double at[] = {-2e-3, -1e-3, 1e-3, 2e-3}, weight[] = {1.0, -8.0, 8.0, -1.0};
            double slope = 0.0;
            for (int s = 0; s < 4; s++) {
                double moved[8];
                memcpy(moved, theta, sizeof moved);
                moved[i] += at[s];
                hfi_kernel_set_theta(l.kernel, moved);
                assert_int_equal(hf_mean_set(l.ctx, l.mean, moved + kernel_count, false), HF_OK);
                slope += weight[s] * evaluate(&p, NULL) / 12e-3;
            }
            hfi_kernel_set_theta(l.kernel, theta);
            assert_int_equal(hf_mean_set(l.ctx, l.mean, theta + kernel_count, false), HF_OK);
            /* what EP's sites answer to the trace is itself a difference of fixed points */
            const bool by_difference =
                methods[k / 6] == HF_INDUCING_VFE && inferences[k / 2 % 3] == HF_INFERENCE_EP;
            assert_near(gradient[i], slope,
                        (far             ? 5e-6
                         : by_difference ? 5e-7
                                         : 2e-8) *
                            (1.0 + fabs(gradient[i])));
        }
        hfi_latent_problem_free(&p);
        hfi_inducing_free(&inducing);
        labels_free(&l);
    }
}

/* Laplace's evidence under an approximate prior, by Newton's method on dense matrices: (I + K W) g = K (W g + l'). */
typedef struct dense {
    double k[ROWS * ROWS]; /* prior covariance of the rows */
    double open[ROWS];     /* k_ii - q_ii */
} dense;

static void solve(size_t n, double *a, double *b, double *log_det)
{
    *log_det = 0.0;
    for (size_t k = 0; k < n; k++) {
        size_t pivot = k;
        for (size_t i = k; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[pivot * n + k])) pivot = i;
        for (size_t j = 0; j < n; j++) {
            const double kept = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = kept;
        }
        const double kept = b[k];
        b[k] = b[pivot];
        b[pivot] = kept;
        *log_det += log(fabs(a[k * n + k]));
        for (size_t i = k + 1; i < n; i++) {
            const double factor = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++) a[i * n + j] -= factor * a[k * n + j];
            b[i] -= factor * b[k];
        }
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t j = i + 1; j < n; j++) b[i] -= a[i * n + j] * b[j];
        b[i] /= a[i * n + i];
    }
}

static void make_prior(const labels *l, hf_inducing_method method, size_t m, dense *d)
{
    static double kuu[ROWS * ROWS], kux[ROWS * ROWS], full[ROWS * ROWS];
    double ignored;
    assert_int_equal(hf_kernel_gram(l->ctx, l->kernel, ROWS, l->x, INPUTS, full, ROWS), HF_OK);
    assert_int_equal(hf_kernel_cross(l->ctx, l->kernel, ROWS, l->x, INPUTS, m, l->x, INPUTS, kux, m), HF_OK);
    for (size_t i = 0; i < ROWS; i++) {
        double column[ROWS];
        memcpy(column, kux + i * m, m * sizeof *column);
        assert_int_equal(hf_kernel_cross(l->ctx, l->kernel, m, l->x, INPUTS, m, l->x, INPUTS, kuu, m), HF_OK);
        solve(m, kuu, column, &ignored);
        for (size_t j = 0; j < ROWS; j++) {
            d->k[i * ROWS + j] = 0.0;
            for (size_t q = 0; q < m; q++) d->k[i * ROWS + j] += column[q] * kux[j * m + q];
        }
        d->open[i] = full[i * (ROWS + 1)] - d->k[i * (ROWS + 1)];
        if (method == HF_INDUCING_FITC) d->k[i * (ROWS + 1)] = full[i * (ROWS + 1)];
    }
}

static double dense_laplace(const labels *l, hf_link link, hf_inducing_method method, const dense *d)
{
    static double a[ROWS * ROWS];
    double g[ROWS] = {0}, b[ROWS], log_det = 0.0, value = 0.0;
    for (int step = 0; step < 60; step++) {
        hfi_likelihood_slopes at[ROWS];
        for (size_t j = 0; j < ROWS; j++) at[j] = label_density(link, l->label[j] ? 1.0 : -1.0, g[j]);
        value = 0.0;
        for (size_t i = 0; i < ROWS; i++) {
            b[i] = 0.0;
            for (size_t j = 0; j < ROWS; j++) {
                b[i] += d->k[i * ROWS + j] * (at[j].w * g[j] + at[j].f);
                a[i * ROWS + j] = d->k[i * ROWS + j] * at[j].w + (i == j);
            }
            value += at[i].value - 0.5 * at[i].f * g[i];
            if (method == HF_INDUCING_VFE) value -= 0.5 * at[i].w * d->open[i];
        }
        solve(ROWS, a, b, &log_det);
        memcpy(g, b, sizeof g);
        value -= 0.5 * log_det;
    }
    return value;
}

static void laplace_agrees_with_dense_formulas(void **state)
{
    (void)state;
    static dense d;
    for (size_t k = 0; k < 6; k++) {
        labels l;
        labels_make(&l, "3*se", HF_MEAN_ZERO);
        hfi_inducing inducing;
        hfi_latent_problem p;
        start(&l, &inducing, methods[k / 2], links[k % 2], HF_INFERENCE_LAPLACE, 6, &p);
        make_prior(&l, methods[k / 2], 6, &d);
        assert_near(evaluate(&p, NULL), dense_laplace(&l, links[k % 2], methods[k / 2], &d), 1e-6);
        hfi_latent_problem_free(&p);
        hfi_inducing_free(&inducing);
        labels_free(&l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_are_exact),
        cmocka_unit_test(gradient_agrees_with_differences),
        cmocka_unit_test(laplace_agrees_with_dense_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
