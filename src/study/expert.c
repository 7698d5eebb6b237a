/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An expert's word on readings. Believed ones are never set aside, doubted ones always. A correction either takes
 * the reading's place with a variance of its own: on the experiments of docs/results-expert.md that is worth more
 * than a prior mean made of corrections. Or, as the RCaGP paper has it, corrections make the prior mean.
 */
#include "study/study.h"

#include <math.h>

static bool replaces(const hf_study *study, const double *label)
{
    return study->s.expert == HF_EXPERT_USE_REPLACE && label[0] == (double)HF_EXPERT_DOUBTED &&
           !isnan(label[1]);
}

void hfi_trial_corrected(const hf_study *study, const hfi_trial *trial, size_t outcome, double *value,
                         double *noise)
{
    const double *label = trial->label + 3 * outcome;
    const bool corrected = replaces(study, label);
    *value = corrected ? label[1] : trial->value[outcome];
    *noise = corrected ? label[2] : trial->noise[outcome];
}

unsigned char hfi_trial_label(const hf_study *study, const hfi_trial *trial, size_t outcome)
{
    const double *label = trial->label + 3 * outcome;
    return replaces(study, label) ? HF_EXPERT_BELIEVED : (unsigned char)label[0];
}

/* ---- a prior mean -------------------------------------------------------------------------------------- */

/* Widths of the mean's kernel by Scott's rule; an expert's word on one category says nothing about others. */
static hf_status mean_kernel(hf_context *ctx, const hf_study *study, const hfi_surrogate *s, size_t labelled,
                             hf_kernel **out)
{
    enum {
        FACTOR = 64 /* characters of a variable's */
    };
    const size_t d = study->d, room = d * FACTOR + 1;
    size_t at = 0, numbers = 0;
    char *text = hfi_alloc(ctx, room, 1);
    if (text == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < d; j++) numbers += !study->domain.category[j];
    const double factor = pow((double)labelled, -1.0 / ((double)numbers + 4.0));
    for (size_t j = 0; j < d; j++) {
        double sum = 0.0, squares = 0.0;
        for (size_t i = 0; i < s->n; i++) sum += s->x[i * d + j] / (double)s->n;
        for (size_t i = 0; i < s->n; i++) squares += (s->x[i * d + j] - sum) * (s->x[i * d + j] - sum);
        const double sd = sqrt(squares / (double)(s->n - 1));
        at += (size_t)hfi_print(text + at, room - at, "%s%s(x%zu, lengthscale=%.17g)", j > 0 ? " * " : "",
                                study->domain.category[j] ? "category" : "se", j + 1,
                                study->domain.category[j] ? 0.05
                                : sd > 0.0                ? factor * sd
                                                          : factor);
    }
    const hf_status status = hf_kernel_parse(ctx, text, NULL, d, out);
    hfi_free(ctx, text);
    return status;
}

/* All that the rows of an expert's data are made of, n each. */
typedef struct words {
    hf_expert_label *label;
    double *y, *correction, *variance;
} words;

/* How many labels there are. A reading that is set aside counts if it has one: it is not in y, but was told. */
static size_t said_of(const hf_study *study, size_t outcome, const hfi_surrogate *s, const double *y,
                      const hfi_warp *warp, const words *w)
{
    double *correction = w->correction, *variance = w->variance, noise;
    hf_expert_label *label = w->label;
    size_t labelled = 0;
    for (size_t i = 0; i < s->n; i++) {
        const hfi_trial *trial = hfi_study_find(study, s->trial[i]);
        const double *word = trial->label + 3 * outcome;
        label[i] = (hf_expert_label)s->label[i];
        w->y[i] = y[i];
        correction[i] = variance[i] = NAN;
        if (label[i] == HF_EXPERT_UNKNOWN) continue;
        labelled++;
        if (isnan(y[i])) {
            hfi_trial_corrected(study, trial, outcome, &w->y[i], &noise);
            w->y[i] = hfi_warp_to(warp, hfi_study_sign(study, outcome) * w->y[i]);
        }
        if (label[i] != HF_EXPERT_DOUBTED || isnan(word[1])) continue;
        const double right = hfi_study_sign(study, outcome) * word[1], slope = hfi_warp_slope(warp, right);
        correction[i] = hfi_warp_to(warp, right);
        variance[i] = word[2] > 0.0 ? word[2] * slope * slope : (double)NAN;
    }
    return labelled;
}

hf_status hfi_expert_of(hf_context *ctx, const hf_study *study, size_t outcome, const hfi_surrogate *s,
                        const double *y, const hfi_warp *warp, bool needed, hf_expert **out)
{
    hf_expert_label *label = hfi_alloc(ctx, s->n, sizeof *label);
    double *numbers = hfi_alloc(ctx, s->n, 3 * sizeof *numbers);
    hf_kernel *kernel = NULL;
    *out = NULL;
    if (label == NULL || numbers == NULL) {
        HFI_FREE(ctx, label, numbers);
        return HF_ERR_MEMORY;
    }
    hf_status status = HF_OK;
    const words w = {label, numbers, numbers + s->n, numbers + 2 * s->n};
    const size_t labelled = said_of(study, outcome, s, y, warp, &w);
    if (labelled > 0 || needed) {
        status = mean_kernel(ctx, study, s, labelled > 0 ? labelled : 1, &kernel);
        hf_expert_settings settings = hf_expert_settings_default();
        settings.kernel = kernel;
        const hf_expert_data data = {.n = s->n,
                                     .d = study->d,
                                     .x = s->x,
                                     .ldx = study->d,
                                     .y = w.y,
                                     .label = label,
                                     .correction = w.correction,
                                     .correction_var = w.variance};
        if (status >= 0) status = hfi_worse(status, hf_expert_create(ctx, &data, &settings, out));
    }
    hf_kernel_free(kernel);
    HFI_FREE(ctx, label, numbers);
    return status;
}

hf_status hfi_prior_mean(hf_context *ctx, const hf_study *study, size_t outcome, const hfi_surrogate *s,
                         const double *y, const hfi_warp *warp, hf_expert **out)
{
    *out = NULL;
    if (study->s.expert != HF_EXPERT_USE_MEAN || outcome >= study->outcomes) return HF_OK;
    return hfi_expert_of(ctx, study, outcome, s, y, warp, false, out);
}
