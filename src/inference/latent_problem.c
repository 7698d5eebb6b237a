/* SPDX-License-Identifier: Apache-2.0 */
/* One evaluation of an approximate evidence: what methods and solvers share. */
#include "inference/latent.h"
#include "linalg/linalg.h"
#include <math.h>
#include <string.h>

enum {
    VECTORS = 12 + HFI_LATENT_WORK
};

static hf_status gather_latent_readings(hfi_latent_problem *p, const hfi_latent_given *given)
{
    const double *shift = given->shift, *extra = given->extra;
    if (HFI_ALLOC(p->ctx, HFI_ROOM(p->row, p->n), HFI_ROOMS(p->inputs, p->n, p->d), HFI_ROOM(p->seen, p->n),
                  HFI_ROOMS(p->vectors, p->n, VECTORS)) < 0)
        return HF_ERR_MEMORY;
    p->extra = p->vectors;
    size_t at = 0;
    for (size_t i = 0; i < p->rows; i++) {
        if (isnan(given->y[i])) continue;
        memcpy(p->inputs + at * p->d, p->x + i * p->ldx, p->d * sizeof *p->inputs);
        p->seen[at] = (hfi_seen){.y = given->y[i], .shift = shift ? shift[i] : 0.0, .dispersion = NAN};
        p->extra[at] = extra ? extra[i] : 0.0;
        p->row[at++] = i;
    }
    return HF_OK;
}

static hf_status allocate_vectors(hfi_latent_problem *p)
{
    if (HFI_ALLOC(p->ctx, HFI_ROOM(p->at, p->n), HFI_ROOM(p->tilted, p->n), HFI_ROOM(p->expected, p->n)) < 0)
        return HF_ERR_MEMORY;
    double **const place[] = {&p->extra,  &p->w,           &p->linear,     &p->alpha,
                              &p->latent, &p->variance,    &p->offset,     &p->half_third,
                              &p->kept_w, &p->kept_linear, &p->kept_alpha, &p->answer};
    for (size_t k = 0; k < sizeof place / sizeof *place; k++) *place[k] = p->vectors + k * p->n;
    p->work = p->vectors + (VECTORS - HFI_LATENT_WORK) * p->n;
    return HF_OK;
}

static hf_status use_exact(hfi_latent_problem *p, double *matrix)
{
    size_t square;
    const size_t negatives = p->likelihood->touch ? p->n / 5 : 0;
    const hf_status s = hfi_require_memory(p->ctx, "the evidence", p->n, hfi_curved_bytes(p->n, negatives));
    if (s < 0) return s;
    if (!hfi_size_mul(p->n, p->n, &square)) return hfi_out_of_memory(p->ctx);
    p->owns_matrix = matrix == NULL;
    p->matrix = matrix ? matrix : hfi_alloc(p->ctx, square, sizeof *p->matrix);
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

const hfi_latent_method *hfi_latent_method_of(hf_inference inference)
{
    static const hfi_latent_method *const methods[] = {[HF_INFERENCE_LAPLACE] = &hfi_latent_laplace,
                                                       [HF_INFERENCE_EP] = &hfi_latent_ep,
                                                       [HF_INFERENCE_VARIATIONAL] = &hfi_latent_variational};
    return (unsigned)inference <= HF_INFERENCE_VARIATIONAL ? methods[inference] : NULL;
}

hf_status hfi_latent_problem_init(hf_context *ctx, const hfi_likelihood *likelihood, hf_inference inference,
                                  const hfi_latent_given *given, hfi_latent_problem *out)
{
    const hfi_latent_method *method = hfi_latent_method_of(inference);
    memset(out, 0, sizeof *out);
    hfi_latent_problem p = {.ctx = ctx,
                            .likelihood = likelihood,
                            .method = method,
                            .kernel = given->kernel,
                            .mean = given->mean,
                            .dispersion = 1.0,
                            .shape = 1.0,
                            .power = 1.0,
                            .tolerance = likelihood->touch ? 1e-6 : 1e-10,
                            .floor = -INFINITY,
                            .rows = given->rows,
                            .d = hf_kernel_dimension(given->kernel),
                            .x = given->x,
                            .ldx = given->ldx,
                            .tilt = method->tilt};
    for (size_t i = 0; i < p.rows; i++) p.n += isnan(given->y[i]) ? 0 : 1;
    hf_status s = gather_latent_readings(&p, given);
    if (s >= 0) s = allocate_vectors(&p);
    if (s >= 0) s = given->inducing ? use_inducing(&p, given->inducing) : use_exact(&p, given->matrix);
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
    HFI_FREE(p->ctx, p->row, p->inputs, p->seen);
    if (p->owns_matrix) hfi_free(p->ctx, p->matrix);
    HFI_FREE(p->ctx, p->vectors, p->at, p->tilted, p->expected);
    memset(p, 0, sizeof *p);
}

void hfi_latent_keep(hfi_latent_problem *p)
{
    memcpy(p->kept_w, p->w, HFI_LATENT_KEPT * p->n * sizeof *p->w);
    p->started = true;
}

void hfi_latent_place(hfi_latent_problem *p)
{
    hf_mean_evaluate(p->mean, p->n, p->inputs, p->d, p->offset);
    for (size_t i = 0; i < p->n; i++) {
        hfi_seen *seen = &p->seen[i];
        const double dispersion = p->dispersion + p->extra[i];
        if (seen->dispersion == dispersion && seen->shape == p->shape) continue;
        seen->dispersion = dispersion;
        seen->shape = p->shape;
        hfi_likelihood_place(p->likelihood, seen);
    }
}

static hf_status differentiate(hfi_latent_problem *p, double *gradient)
{
    const size_t shared = hf_kernel_parameters(p->kernel) + hf_mean_coefficients(p->mean);
    double bar[2];
    memset(p->trace_bar, 0, sizeof p->trace_bar);
    const hf_status s = hfi_latent_gradient(p, gradient);
    if (s < 0) return s;
    p->method->slopes(p, bar);
    if (p->likelihood->parameter) gradient[shared] = bar[0] + p->trace_bar[0];
    if (p->likelihood->shape.name) gradient[shared + 1] = bar[1] + p->trace_bar[1];
    return s;
}

hf_status hfi_latent_evaluate(hfi_latent_problem *p, double *value, double *gradient)
{
    double result = 0.0;
    hf_status s = hfi_latent_prepare(p);
    if (s < 0) return s;
    hfi_latent_place(p);
    s = p->method->find_sites(p, &result);
    if (s >= 0 && gradient) s = differentiate(p, gradient);
    if (s >= 0) *value = result;
    return s;
}

/* A precision below this is that of a reading that says nothing: its linear coefficient is as small. */
static const double least_precision = 1e-290;
/* Least precision of a site whose own may be negative, in precisions of the touching normal density: small
 * enough to leave the uncertainty to the other readings, and large enough for targets of moderate size. */
static const double least_share = 0.01;

void hfi_latent_sites(const hfi_latent_problem *p, double *target, double *variance)
{
    for (size_t i = 0; i < p->rows; i++) {
        target[i] = NAN;
        variance[i] = INFINITY;
    }
    for (size_t i = 0; i < p->n; i++) {
        double w = p->w[i];
        if (p->likelihood->touch)
            w = fmax(w, least_share * p->likelihood->touch(&p->seen[i], p->offset[i] + p->latent[i], 1.0));
        if (!(w > least_precision)) continue;
        target[p->row[i]] = p->offset[i] + p->latent[i] + p->alpha[i] / w;
        variance[p->row[i]] = 1.0 / w;
    }
}
