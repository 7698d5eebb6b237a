/* SPDX-License-Identifier: Apache-2.0 */
/* A linear mean whose coefficients are not known: they are integrated out. With h(x) = (1, x) and b ~ N(b0, V I),
 *
 *     y = h(x)'b + f + noise   is the process of mean h(x)'b0 and kernel k + V h(x)'h(x'),
 *
 * which is the user's kernel + constant + linear(ard) with variances that are held (Rasmussen and Williams
 * 2006, section 2.7). After training b0 becomes the posterior mean of b: then h'(K + D)^-1 (z - H b0) = 0, b0
 * is the generalised least squares estimate, and the posterior mean is that of the limit V -> infinity
 * whatever V is. */
#include "fit/fit.h"
#include "sites/kind.h"
#include <math.h>
#include <string.h>

/* V in standardised units. The variance of a coefficient is short of its limit by a share of itself over V.
 * That is 1e-4 for one that the readings leave open to a standard deviation of 1; and K + D loses no more than V rows
 * / noise of the sixteen digits. */
static const double wide = 1e4;

enum {
    STEPS = 3 /* each leaves that share of the error */
};

bool hfi_fit_integrates_slopes(const hfi_fit *fit)
{
    return fit->settings->mean == HF_MEAN_LINEAR && hfi_sites_kind_of(fit->settings->sites)->plain &&
           hfi_fit_solver_of(fit->solver)->slopes;
}

/* The parameters of what was added are the last ones: the variance of the constant, then one for each input. */
static size_t first_added(const hfi_fit *fit)
{
    return hf_kernel_parameters(fit->kernel) - fit->d - 1;
}

hf_status hfi_fit_widen_slopes(hfi_fit *fit)
{
    static const char added[] = " + constant + linear(ard)";
    const char *own = hf_kernel_expression(fit->kernel);
    const size_t bytes = strlen(own) + sizeof added;
    char *text = hfi_alloc(fit->ctx, bytes, 1);
    if (!text) return HF_ERR_MEMORY;
    hfi_print(text, bytes, "%s%s", own, added);
    hf_kernel_free(fit->kernel);
    fit->kernel = NULL;
    const hf_status s = hf_kernel_parse(fit->ctx, text, fit->data->names, fit->d, &fit->kernel);
    hfi_free(fit->ctx, text);
    return s;
}

hf_status hfi_fit_hold_slopes(hfi_fit *fit)
{
    const size_t first = first_added(fit);
    hf_status s = HF_OK;
    for (size_t j = 0; s >= 0 && j <= fit->d; j++) {
        hf_parameter p;
        s = hf_kernel_parameter(fit->kernel, first + j, &p);
        const double value = wide * hfi_fit_reference(fit, &p);
        if (s >= 0) s = hfi_kernel_hold_parameter(fit->kernel, first + j, value);
    }
    return s;
}

hf_status hfi_fit_centre_slopes(hfi_fit *fit, double *state)
{
    hfi_trainer *t = &fit->trainer;
    hfi_evaluator *e = &t->evaluator;
    const size_t mean = hf_kernel_parameters(fit->kernel), first = first_added(fit);
    double *gradient = hfi_alloc(fit->ctx, t->count, sizeof *gradient), value = 0.0;
    if (!gradient) return HF_ERR_MEMORY;
    hf_status s = hfi_evaluator_select(e);
    for (size_t k = 0; s >= 0 && k <= STEPS; k++) {
        s = hfi_trainer_set(t, state);
        if (s >= 0) s = hfi_evaluator_run(e, HF_OBJECTIVE_EVIDENCE, &value, gradient);
        if (s < 0 || k == STEPS) break;
        /* The derivatives in b0 are H'(K + D)^-1 (z - H b0), and V times these what the posterior mean has
         * beside b0. */
        for (size_t j = 0; j <= fit->d; j++) state[mean + j] += exp(state[first + j]) * gradient[mean + j];
    }
    if (s >= 0 && t->objective == HF_OBJECTIVE_EVIDENCE) t->found.value = value;
    hfi_free(fit->ctx, gradient);
    return s < 0 ? s : HF_OK;
}
