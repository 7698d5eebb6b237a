/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation of an approximate evidence: what the three methods share. */
#include "inference/student_impl.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    VECTORS = 11 + HFI_STUDENT_WORK,
    COLUMNS = 32 /* of the weight matrix in one task */
};

/* What each method keeps of a reading; the largest, because Laplace may take over. */
typedef union moments {
    hfi_student_slopes slopes;
    hfi_student_tilted tilted;
    hfi_student_expected expected;
} moments;

hf_status hfi_student_problem_init(hfi_evaluator *e, hf_student_method method, hfi_student_problem *out)
{
    memset(out, 0, sizeof *out);
    hf_status s = hfi_require_memory(e->ctx, "Student-t noise", e->n, hfi_curved_bytes(e->n, e->n / 5));
    if (s < 0) return s;
    hfi_student_problem p = {.evaluator = e,
                             .method = method,
                             .power = 1.0,
                             .tolerance = hfi_student_exact,
                             .floor = -INFINITY,
                             .n = e->n};
    s = hfi_curved_init(e->ctx, e->n, e->a, &p.curved);
    if (s < 0) return s;
    p.vectors = hfi_alloc(e->ctx, e->n, VECTORS * sizeof *p.vectors);
    p.moments = hfi_alloc(e->ctx, e->n, sizeof(moments));
    if (!p.vectors || !p.moments) {
        hfi_student_problem_free(&p);
        return HF_ERR_MEMORY;
    }
    double **const place[] = {&p.residual,  &p.scale,    &p.latent,         &p.force,
                              &p.pull,      &p.variance, &p.kept_precision, &p.kept_force,
                              &p.kept_pull, &p.v,        &p.scale_bar};
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) *place[k] = p.vectors + k * e->n;
    p.work = p.vectors + (VECTORS - HFI_STUDENT_WORK) * e->n;
    *out = p;
    return HF_OK;
}

void hfi_student_problem_free(hfi_student_problem *p)
{
    if (!p->evaluator) return;
    hf_context *ctx = p->evaluator->ctx;
    hfi_curved_free(&p->curved);
    hfi_free(ctx, p->vectors);
    hfi_free(ctx, p->moments);
    memset(p, 0, sizeof *p);
}

void hfi_student_keep(hfi_student_problem *p)
{
    memcpy(p->kept_precision, p->curved.w, p->n * sizeof *p->curved.w);
    memcpy(p->kept_force, p->force, p->n * sizeof *p->force);
    memcpy(p->kept_pull, p->pull, p->n * sizeof *p->pull);
    p->started = true;
}

void hfi_student_place(hfi_student_problem *p, double nu)
{
    const hfi_evaluator *e = p->evaluator;
    p->t = hfi_student_make(nu);
    hf_mean_evaluate(e->mean, p->n, e->inputs, e->d, p->residual);
    for (size_t i = 0; i < p->n; i++) {
        p->residual[i] = e->sites->y[e->row[i]] - p->residual[i];
        p->scale[i] = hfi_sites_noise(e->sites, e->row[i]);
    }
}

/* That and K. */
static hf_status prepare(hfi_student_problem *p, double nu)
{
    hfi_evaluator *e = p->evaluator;
    const hf_status s = hfi_kernel_gram_lower(e->ctx, e->kernel, p->n, e->inputs, e->d, p->curved.k, p->n);
    if (s < 0) return s;
    hfi_symmetrise(e->ctx, p->n, p->curved.k, p->n);
    hfi_student_place(p, nu);
    return s;
}

/* Lower triangle of (aa' - R + va' + av')/2 in place of R, some columns. */
static void weight_columns(size_t task, int thread, void *arg)
{
    (void)thread;
    const hfi_student_problem *p = arg;
    const double *a = p->force, *v = p->v;
    const size_t n = p->n, first = task * COLUMNS, end = first + COLUMNS < n ? first + COLUMNS : n;
    for (size_t j = first; j < end; j++) {
        double *w = p->curved.b + j * n;
        for (size_t i = j; i < n; i++) w[i] = 0.5 * (a[i] * a[j] - w[i] + v[i] * a[j] + a[i] * v[j]);
    }
}

static hf_status collect_gradient(hfi_student_problem *p, double *gradient)
{
    hfi_evaluator *e = p->evaluator;
    const size_t kernel_count = hf_kernel_parameters(e->kernel), mean_count = hf_mean_coefficients(e->mean);
    double *mean_bar = p->work;
    hfi_parallel_for(e->ctx, (p->n + COLUMNS - 1) / COLUMNS, weight_columns, p);
    memset(gradient, 0, (kernel_count + mean_count + 2) * sizeof *gradient);
    const hf_status s =
        hfi_kernel_gram_adjoint(e->ctx, e->kernel, p->n, e->inputs, e->d, p->curved.b, p->n, gradient);
    if (s < 0) return s;
    for (size_t i = 0; i < p->n; i++) mean_bar[i] = p->force[i] + p->v[i];
    hfi_mean_adjoint(e->mean, p->n, e->inputs, e->d, mean_bar, gradient + kernel_count);
    double *scale_bar = gradient + kernel_count + mean_count;
    for (size_t i = 0; i < p->n; i++) *scale_bar += p->scale_bar[i] * (e->sites->noise / p->scale[i]);
    scale_bar[1] = p->nu_bar;
    return s;
}

hf_status hfi_student_evaluate(hfi_student_problem *p, double nu, double *value, double *gradient)
{
    double result = 0.0;
    hf_status s = prepare(p, nu);
    if (s < 0) return s;
    if (p->method == HF_STUDENT_LAPLACE)
        s = hfi_student_laplace(p, gradient != NULL, &result);
    else if (p->method == HF_STUDENT_EP)
        s = hfi_student_ep(p, gradient != NULL, &result);
    else
        s = hfi_student_variational(p, gradient != NULL, &result);
    if (s >= 0 && gradient) s = collect_gradient(p, gradient);
    if (s < 0) return s;
    *value = result;
    return HF_OK;
}

/* Least precision of a final site, in precisions of re-weighted least squares: small enough to leave the uncertainty to the other
 * readings, and large enough for targets of moderate size. */
static const double least_share = 0.01;

void hfi_student_sites(const hfi_student_problem *p, double *target, double *variance)
{
    const hfi_evaluator *e = p->evaluator;
    for (size_t i = 0; i < e->rows; i++) {
        target[i] = NAN;
        variance[i] = INFINITY;
    }
    for (size_t i = 0; i < p->n; i++) {
        const double least =
            least_share * hfi_student_precision(&p->t, p->residual[i] - p->latent[i], p->scale[i]);
        const double w = fmax(p->curved.w[i], least);
        const size_t row = e->row[i];
        target[row] = e->sites->y[row] - p->residual[i] + p->latent[i] + p->force[i] / w;
        variance[row] = 1.0 / w;
    }
}
