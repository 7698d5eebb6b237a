/* SPDX-License-Identifier: Apache-2.0 */
/* Prediction at one point: no allocation, no lock, no message, so that it can sit in a control loop. */
#include "posterior/workspace.h"

#include "linalg/linalg.h"
#include "mean/mean.h"
#include <math.h>
#include <string.h>

/* Numbers that the kernel or what is added to the mean needs. */
static size_t scratch_of(const hf_posterior *posterior)
{
    const size_t kernel = hfi_kernel_scratch(posterior->kernel), mean = hfi_mean_scratch(posterior->mean);
    return kernel > mean ? kernel : mean;
}

hf_posterior_workspace *hf_posterior_workspace_create(hf_context *ctx, const hf_posterior *posterior)
{
    if (posterior == NULL) {
        hfi_refuse(ctx, "hf_posterior_workspace_create: the posterior is NULL");
        return NULL;
    }
    const hfi_solution *s = &posterior->solution;
    hf_posterior_workspace *w = hfi_alloc(ctx, 1, sizeof *w);
    if (w == NULL) return NULL;
    w->memory = hfi_context_memory(ctx);
    w->d = s->d;
    /* Room for what the posterior can hold, so that most readings added later need no new workspace. */
    w->anchors = s->capacity;
    w->scratch_size = scratch_of(posterior);
    w->room_size = hfi_solution_room(s, 1);
    if (HFI_ALLOC(ctx, HFI_ROOM(w->room, w->room_size), HFI_ROOMS(w->x, w->d, 4),
                  HFI_ROOMS(w->gradient, w->d, 2), HFI_ROOM(w->covariance, w->anchors),
                  HFI_ROOM(w->scratch, w->scratch_size)) >= 0)
        return w;
    hf_posterior_workspace_free(w);
    return NULL;
}

void hf_posterior_workspace_free(hf_posterior_workspace *workspace)
{
    if (workspace == NULL) return;
    hfi_memory memory = workspace->memory; /* by value: the workspace itself is about to go */
    HFI_MEMORY_FREE(&memory, workspace->x, workspace->gradient, workspace->covariance, workspace->room,
                    workspace->scratch, workspace);
}

double *hfi_workspace_spare(hf_posterior_workspace *workspace, size_t d)
{
    return workspace != NULL && workspace->d == d ? workspace->x + d : NULL;
}

/* Request and answer, in scaled units. */
typedef struct point_prediction {
    double mean;
    double variance;
    bool wants_variance;
    bool wants_mean_gradient;
    bool wants_variance_gradient;
} point_prediction;

/* Into *a and workspace->gradient. */
static void evaluate_point_prediction(const hf_posterior *posterior, hf_posterior_workspace *w,
                                      point_prediction *a)
{
    const hfi_solution *s = &posterior->solution;
    const hf_kernel *kernel = posterior->kernel;
    double *k = w->covariance, *whitened = NULL, *mean_gradient = w->gradient,
           *variance_gradient = w->gradient + s->d;
    memset(w->gradient, 0, 2 * s->d * sizeof *w->gradient);
    hfi_kernel_cross_block(kernel, 1, w->x, s->d, s->n, s->z, s->d, k, s->n, w->scratch);
    hf_mean_evaluate(posterior->mean, 1, w->x, s->d, &a->mean);
    a->mean += hfi_dot(s->n, k, s->t);
    if (a->wants_mean_gradient) {
        hfi_mean_input_gradient(posterior->mean, mean_gradient);
        hfi_mean_lift_gradient(posterior->mean, w->x, w->scratch, mean_gradient);
        hfi_kernel_input_gradient(kernel, w->x, s->n, s->z, s->d, s->t, mean_gradient, w->scratch);
    }
    if (a->wants_variance || a->wants_variance_gradient) {
        double prior;
        hfi_kernel_diagonal(kernel, 1, w->x, s->d, true, &prior);
        size_t ld;
        whitened = hfi_solution_whiten(s, 1, k, s->n, w->room, &ld);
        a->variance = hfi_variance_clamp(prior - hfi_dot(hfi_solution_rank(s), whitened, whitened));
    }
    if (a->wants_variance_gradient) {
        /* d (k(x,x) - k' S k) = d k(x,x) - 2 (S k)' d k; `whitened` is R' k. */
        hfi_solution_spread(s, whitened, k);
        for (size_t i = 0; i < s->n; i++) k[i] *= -2.0;
        hfi_kernel_diagonal_input_gradient(kernel, w->x, variance_gradient);
        hfi_kernel_input_gradient(kernel, w->x, s->n, s->z, s->d, k, variance_gradient, w->scratch);
    }
}

static bool fits(const hf_posterior *posterior, const hf_posterior_workspace *w)
{
    return w->d == posterior->solution.d && posterior->solution.n <= w->anchors &&
           hfi_solution_room(&posterior->solution, 1) <= w->room_size &&
           scratch_of(posterior) <= w->scratch_size;
}

/* d/dx_user = d/dx_scaled / x_scale; `factor` is what one scaled unit of the result is worth. */
static void write_gradient(const hfi_scaling *scaling, const double *scaled, double factor, double *out)
{
    for (size_t j = 0; j < scaling->d; j++) out[j] = scaled[j] * factor / scaling->x_scale[j];
}

static hf_status predict_point(const hf_posterior *posterior, hf_posterior_workspace *workspace,
                               const double *x, bool observed, double *mean, double *var,
                               double *gradient_mean, double *gradient_var)
{
    if (posterior == NULL || workspace == NULL || x == NULL || !fits(posterior, workspace))
        return HF_ERR_ARGUMENT;
    const hfi_scaling *scaling = &posterior->scaling;
    for (size_t j = 0; j < scaling->d; j++)
        if (!isfinite(x[j])) return HF_ERR_NOT_FINITE;
    if (!hfi_posterior_has_output(posterior, x)) return HF_ERR_ARGUMENT;
    const size_t output = hfi_scaling_output(scaling, x);
    point_prediction p = {.wants_variance = var != NULL,
                          .wants_mean_gradient = gradient_mean != NULL,
                          .wants_variance_gradient = gradient_var != NULL};
    hfi_scaling_inputs(scaling, 1, x, scaling->d, workspace->x);
    evaluate_point_prediction(posterior, workspace, &p);
    double variance = observed ? hfi_posterior_observed(posterior, output, p.variance) : p.variance;
    if (!isfinite(p.mean) || !isfinite(variance)) return HF_ERR_NOT_FINITE;
    for (size_t j = 0; j < 2 * scaling->d; j++)
        if (!isfinite(workspace->gradient[j])) return HF_ERR_NOT_FINITE;
    if (mean != NULL) *mean = hfi_scaling_mean(scaling, output, p.mean);
    if (var != NULL) *var = hfi_scaling_variance(scaling, output, variance);
    if (gradient_mean != NULL)
        write_gradient(scaling, workspace->gradient, hfi_scaling_scale(scaling, output), gradient_mean);
    if (gradient_var != NULL) {
        double factor = hfi_scaling_variance(scaling, output, observed ? posterior->calibration : 1.0);
        write_gradient(scaling, workspace->gradient + scaling->d, factor, gradient_var);
    }
    return HF_OK;
}

hf_status hf_predict_latent(const hf_posterior *posterior, hf_posterior_workspace *workspace, const double *x,
                            double *mean, double *var, double *gradient_mean, double *gradient_var)
{
    return predict_point(posterior, workspace, x, false, mean, var, gradient_mean, gradient_var);
}

hf_status hf_predict_observed(const hf_posterior *posterior, hf_posterior_workspace *workspace,
                              const double *x, double *mean, double *var, double *gradient_mean,
                              double *gradient_var)
{
    return predict_point(posterior, workspace, x, true, mean, var, gradient_mean, gradient_var);
}
