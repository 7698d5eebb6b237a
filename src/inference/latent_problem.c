/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation of an approximate evidence: what methods and solvers share. */
#include "inference/latent.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    VECTORS = 10 + HFI_LATENT_WORK
};

static hf_status gather(hfi_latent_problem *p, const double *y, const double *shift)
{
    p->row = hfi_alloc(p->ctx, p->n, sizeof *p->row);
    p->inputs = hfi_alloc(p->ctx, p->n, p->d * sizeof *p->inputs);
    p->seen = hfi_alloc(p->ctx, p->n, sizeof *p->seen);
    if (!p->row || !p->inputs || !p->seen) return HF_ERR_MEMORY;
    size_t at = 0;
    for (size_t i = 0; i < p->rows; i++) {
        if (isnan(y[i])) continue;
        memcpy(p->inputs + at * p->d, p->x + i * p->ldx, p->d * sizeof *p->inputs);
        p->seen[at] = (hfi_seen){.y = y[i], .shift = shift ? shift[i] : 0.0, .dispersion = NAN};
        p->row[at++] = i;
    }
    return HF_OK;
}

static hf_status allocate_vectors(hfi_latent_problem *p)
{
    p->vectors = hfi_alloc(p->ctx, p->n, VECTORS * sizeof *p->vectors);
    p->at = hfi_alloc(p->ctx, p->n, sizeof *p->at);
    p->tilted = hfi_alloc(p->ctx, p->n, sizeof *p->tilted);
    if (!p->vectors || !p->at || !p->tilted) return HF_ERR_MEMORY;
    double **const place[] = {&p->w,        &p->pull, &p->offset, &p->latent,    &p->force,
                              &p->variance, &p->bend, &p->kept_w, &p->kept_pull, &p->answer};
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) *place[k] = p->vectors + k * p->n;
    p->work = p->vectors + (VECTORS - HFI_LATENT_WORK) * p->n;
    return HF_OK;
}

static hf_status use_exact(hfi_latent_problem *p)
{
    size_t square;
    const hf_status s = hfi_require_memory(p->ctx, "the evidence", p->n, hfi_curved_bytes(p->n, 0));
    if (s < 0) return s;
    if (!hfi_size_mul(p->n, p->n, &square)) return hfi_out_of_memory(p->ctx);
    p->matrix = hfi_alloc(p->ctx, square, sizeof *p->matrix);
    return p->matrix ? hfi_curved_init(p->ctx, p->n, p->matrix, &p->curved) : HF_ERR_MEMORY;
}

/* The kernel and mean of an evaluator are set by trainers, which this one never meets. */
static hf_status use_inducing(hfi_latent_problem *p, hfi_inducing *inducing)
{
    hfi_evaluator *e = &p->inducing;
    *e = (hfi_evaluator){.ctx = p->ctx, .rows = p->n, .d = p->d, .x = p->inputs, .ldx = p->d};
    hf_status s = hf_kernel_copy(p->ctx, p->kernel, &e->kernel);
    if (s >= 0) s = hf_mean_copy(p->ctx, p->mean, &e->mean);
    for (size_t i = 0; i < p->n; i++) p->work[i] = p->seen[i].y; /* until there are sites to be given */
    if (s >= 0) s = hf_sites_gaussian(p->ctx, p->n, p->work, 1.0, NULL, &e->sites);
    e->inducing = inducing;
    return s;
}

hf_status hfi_latent_problem_init(hf_context *ctx, const hfi_likelihood *likelihood, hf_inference inference,
                                  const hf_kernel *kernel, const hf_mean *mean, size_t rows, const double *x,
                                  size_t ldx, const double *y, const double *shift, hfi_inducing *inducing,
                                  hfi_latent_problem *out)
{
    memset(out, 0, sizeof *out);
    hfi_latent_problem p = {.ctx = ctx,
                            .likelihood = likelihood,
                            .inference = inference,
                            .kernel = kernel,
                            .mean = mean,
                            .dispersion = 1.0,
                            .rows = rows,
                            .d = hf_kernel_dimension(kernel),
                            .x = x,
                            .ldx = ldx,
                            .tilt = inference == HF_INFERENCE_EP ? 0.0 : 1.0};
    for (size_t i = 0; i < rows; i++) p.n += isnan(y[i]) ? 0 : 1;
    hf_status s = gather(&p, y, shift);
    if (s >= 0) s = allocate_vectors(&p);
    if (s >= 0) s = inducing ? use_inducing(&p, inducing) : use_exact(&p);
    if (s < 0) {
        hfi_latent_problem_free(&p);
        return s;
    }
    *out = p;
    return HF_OK;
}

void hfi_latent_problem_free(hfi_latent_problem *p)
{
    hfi_curved_free(&p->curved);
    hf_kernel_free(p->inducing.kernel);
    hf_mean_free(p->inducing.mean);
    hf_sites_free(p->inducing.sites);
    hfi_free(p->ctx, p->row);
    hfi_free(p->ctx, p->inputs);
    hfi_free(p->ctx, p->seen);
    hfi_free(p->ctx, p->matrix);
    hfi_free(p->ctx, p->vectors);
    hfi_free(p->ctx, p->at);
    hfi_free(p->ctx, p->tilted);
    memset(p, 0, sizeof *p);
}

void hfi_latent_keep(hfi_latent_problem *p)
{
    memcpy(p->kept_w, p->w, p->n * sizeof *p->w);
    memcpy(p->kept_pull, p->pull, p->n * sizeof *p->pull);
    p->started = true;
}

/* The solver's copies of kernel and mean are brought up to date. */
static hf_status follow(hfi_latent_problem *p)
{
    hfi_evaluator *e = &p->inducing;
    const size_t count = hf_kernel_parameters(p->kernel);
    for (size_t i = 0; i < count; i++) {
        hf_parameter q;
        hf_kernel_parameter(p->kernel, i, &q);
        const hf_status s = hfi_kernel_set_parameter(e->kernel, i, q.value, q.lower, q.upper, q.fixed);
        if (s < 0) return s;
    }
    return hf_mean_set(p->ctx, e->mean, hf_mean_values(p->mean), hf_mean_held(p->mean));
}

hf_status hfi_latent_condition(hfi_latent_problem *p, double *force, double *latent, double *variance)
{
    return p->inducing.inducing ? hfi_latent_inducing_condition(p, force, latent, variance)
                                : hfi_latent_exact_condition(p, force, latent, variance);
}

/* Readings whose dispersion is another. */
static void place(hfi_latent_problem *p)
{
    if (p->seen[0].dispersion == p->dispersion) return;
    for (size_t i = 0; i < p->n; i++) {
        p->seen[i].dispersion = p->dispersion;
        hfi_likelihood_place(p->likelihood, &p->seen[i]);
    }
}

double hfi_latent_tilted_slope(const hfi_latent_problem *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) sum += p->tilted[i].d;
    return sum;
}

/* Laplace: d value / d log dispersion, from what the method and the gradient left. */
static double dispersion_slope(const hfi_latent_problem *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < p->n; i++) {
        const hfi_likelihood_slopes at =
            hfi_likelihood_density(p->likelihood, &p->seen[i], p->offset[i] + p->latent[i]);
        sum += at.d - 0.5 * p->variance[i] * at.w_d + p->answer[i] * at.f_d;
    }
    return sum;
}

static hf_status differentiate(hfi_latent_problem *p, double *gradient)
{
    const bool tilted = p->inference == HF_INFERENCE_EP;
    /* A gradient may move the sites, and with them the moments. */
    const double held = tilted ? hfi_latent_tilted_slope(p) : 0.0;
    p->trace_slope = 0.0;
    const hf_status s = p->inducing.inducing ? hfi_latent_inducing_gradient(p, gradient)
                                             : hfi_latent_exact_gradient(p, gradient);
    if (s >= 0 && p->likelihood->parameter)
        gradient[hf_kernel_parameters(p->kernel) + hf_mean_coefficients(p->mean)] =
            tilted ? held + p->trace_slope : dispersion_slope(p);
    return s;
}

hf_status hfi_latent_evaluate(hfi_latent_problem *p, double *value, double *gradient)
{
    double result = 0.0;
    hf_status s = p->inducing.inducing ? follow(p) : hfi_latent_exact_prepare(p);
    if (s < 0) return s;
    hf_mean_evaluate(p->mean, p->n, p->inputs, p->d, p->offset);
    place(p);
    s = p->inference == HF_INFERENCE_EP ? hfi_latent_ep(p, &result) : hfi_latent_laplace(p, &result);
    if (s >= 0 && gradient) s = differentiate(p, gradient);
    if (s >= 0) *value = result;
    return s;
}

/* A precision below this is that of a reading that says nothing: its pull is as small. */
static const double least_precision = 1e-290;

void hfi_latent_sites(const hfi_latent_problem *p, double *target, double *variance)
{
    for (size_t i = 0; i < p->rows; i++) {
        target[i] = NAN;
        variance[i] = INFINITY;
    }
    for (size_t i = 0; i < p->n; i++) {
        const double w = p->w[i];
        if (!(w > least_precision)) continue;
        target[p->row[i]] = p->offset[i] + p->latent[i] + p->force[i] / w;
        variance[p->row[i]] = 1.0 / w;
    }
}
