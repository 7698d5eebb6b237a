/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of a fit, before it starts. */
#include "fit/fit.h"
#include "sites/kind.h"
#include <math.h>

/* Gradients of the low-rank objectives take about twice what their values take. */
static const double with_gradient = 3.0;
/* Evaluations that settle a large table's hyperparameters once those of a share are known. */
static const double warm_evaluations = 20.0;
/* Passes over the table that a training by minibatches makes before it stands still. */
static const double usual_epochs = 30.0;

static double typical_evaluations(const hf_fit_settings *settings)
{
    return hfi_fit_way_of(settings->sites)->evaluations(settings);
}

static void exact_flops(const hfi_fit *fit, hfi_estimate *out)
{
    const hf_fit_settings *settings = fit->settings;
    const double rows = (double)fit->n, inputs = (double)fit->d;
    const bool leave_one_out = settings->objective != HF_OBJECTIVE_EVIDENCE;
    double bytes, posterior;
    hfi_exact_cost(fit->n, fit->d, &bytes, &posterior);
    out->evaluation_flops = (leave_one_out ? 2.0 : 1.0) * rows * rows * rows + 20.0 * rows * rows * inputs;
    out->flops = typical_evaluations(settings) * out->evaluation_flops + posterior;
}

static double inducing_pass(const hfi_fit *fit, size_t rows, size_t inducing)
{
    double bytes, flops;
    hfi_inducing_cost(rows, fit->d, inducing, &bytes, &flops);
    return flops;
}

static void inducing_flops(const hfi_fit *fit, hfi_estimate *out)
{
    const hf_fit_settings *settings = fit->settings;
    size_t rows, inducing;
    hfi_fit_cold_stage(fit, &rows, &inducing);
    const double cold = with_gradient * inducing_pass(fit, rows, inducing),
                 all = inducing_pass(fit, fit->n, fit->inducing);
    out->evaluation_flops = with_gradient * inducing_pass(fit, out->training_rows, fit->inducing);
    out->flops = hfi_fit_is_stochastic(fit)
                     ? fmin((double)settings->iterations, usual_epochs) * out->evaluation_flops
                     : typical_evaluations(settings) * cold;
    if (hfi_fit_has_stages(fit)) out->flops += warm_evaluations * out->evaluation_flops;
    /* Placing the inputs, the solution and the residuals are each about as much as a factorisation. */
    out->flops += 3.0 * all;
    if (hfi_sites_kind_of(settings->sites)->weighed) out->flops += (double)settings->rounds * all;
}

static void projected_flops(const hfi_fit *fit, hfi_estimate *out)
{
    const hf_projection projection = {.size = sizeof projection,
                                      .actions = fit->settings->action_kind,
                                      .count = fit->actions,
                                      .inducing = fit->inducing};
    double bytes, posterior;
    hfi_projected_cost(fit->n, fit->d, &projection, &bytes, &posterior);
    if (fit->inducing > 0) {
        inducing_flops(fit, out);
    } else {
        out->evaluation_flops = with_gradient * posterior;
        out->flops = typical_evaluations(fit->settings) * out->evaluation_flops;
    }
    out->flops += posterior;
}

static void (*const flops_of[])(const hfi_fit *, hfi_estimate *) = {[HF_SOLVER_EXACT] = exact_flops,
                                                                    [HF_SOLVER_INDUCING] = inducing_flops,
                                                                    [HF_SOLVER_PROJECTED] = projected_flops};

void hfi_fit_estimate(const hf_fit_settings *settings, size_t n, size_t d, hfi_estimate *out)
{
    hfi_fit fit = {.settings = settings, .n = n, .d = d, .outputs = 1};
    fit.solver = hfi_choose_solver(settings, n, d, &fit.inducing, &fit.actions);
    fit.inducing = fit.inducing < n ? fit.inducing : n;
    *out = (hfi_estimate){.solver = fit.solver,
                          .inducing = fit.inducing,
                          .actions = fit.actions,
                          .training_rows = hfi_fit_training_rows(&fit),
                          .bytes = hfi_fit_bytes(&fit)};
    flops_of[fit.solver](&fit, out);
}
