/* SPDX-License-Identifier: Apache-2.0 */
/* The fit of labels of two classes, from rows to classifier. */
#include "classify/fit.h"
#include "classify/classify.h"
#include "classify/softmax_fit.h"
#include <math.h>

/* The posterior that the sites make, and the classifier that owns it. */
static hf_status conclude(hfi_class_fit *fit, size_t rounds, const double *state, hf_classifier **out,
                          hf_class_report *report)
{
    hfi_fit *base = &fit->base;
    hfi_solution solution = {0};
    hf_posterior *posterior = NULL;
    const hf_status solved = hfi_fit_solve(base, &solution);
    if (solved < 0) return solved;
    hf_status s = hfi_posterior_create(base->ctx, base->kernel, base->mean, &solution, &base->scaling, 1.0,
                                       1.0, &posterior);
    if (s < 0) {
        hfi_solution_free(&solution);
        return s;
    }
    hf_class_report local;
    const hf_status warning = hfi_class_fit_report(fit, state, posterior, solved, &local);
    local.rounds = rounds;
    s = hf_classifier_create(base->ctx, posterior, fit->choices->link, fit->given->classes, out);
    if (s < 0) {
        hf_posterior_free(posterior);
        return s;
    }
    if (report) *report = local;
    return warning;
}

static hf_status run(hfi_class_fit *fit, hf_classifier **out, hf_class_report *report)
{
    hfi_fit *base = &fit->base;
    const hfi_latent_data data = {.likelihood = hfi_class_likelihood(fit->choices->link),
                                  .inference =
                                      hfi_class_inference(fit->choices->link, fit->choices->inference),
                                  .y = base->y,
                                  .iterations = fit->choices->iterations,
                                  .restarts = fit->choices->restarts};
    size_t rounds = 0;
    double *state = hfi_alloc(base->ctx, base->trainer.count, sizeof *state);
    hf_status s = state ? hfi_trainer_cold(&base->trainer, state) : HF_ERR_MEMORY;
    if (s >= 0) s = hfi_latent_fit(&base->trainer, &data, state, &rounds);
    const hf_status trained = s;
    if (s >= 0) s = conclude(fit, rounds, state, out, report);
    hfi_free(base->ctx, state);
    return s == HF_OK ? trained : s;
}

/* Below this many labels the parallel sections of an evaluation are shorter than waking and gathering the threads. */
enum {
    LEAST_FOR_THREADS = 512
};

hf_status hf_classifier_fit(hf_context *ctx, const hf_class_data *data, const hf_class_settings *settings,
                            hf_classifier **out, hf_class_report *report)
{
    if (!ctx || !out)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_classifier_fit: %s is NULL", ctx ? "out" : "ctx");
    if (data && settings && settings->link == HF_LINK_SOFTMAX)
        return hfi_softmax_fit(ctx, data, settings, out, report);
    const double begin = hfi_now();
    hf_context *own = hfi_context_borrow(ctx);
    if (!own) return HF_ERR_MEMORY;
    hfi_class_fit fit;
    hf_status s = hfi_class_fit_init(own, data, settings, &fit);
    if (s >= 0) {
        if (fit.base.n < LEAST_FOR_THREADS) hf_context_set_threads(own, 1);
        s = run(&fit, out, report);
        if (s >= 0 && report) report->seconds = hfi_now() - begin;
        hfi_class_fit_free(&fit);
    }
    hfi_context_give_back(ctx, own);
    return s;
}
