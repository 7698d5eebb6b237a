/* SPDX-License-Identifier: Apache-2.0 */
/* Readings as a series, and the remark on one that repeats. */
#include "model/cycle.h"
#include "model/inputs.h"
#include "model/look.h"

#include "data/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- series ---------------------------------------------------------------------------------------------- */

typedef struct reading {
    double x, y;
    size_t at; /* step */
} reading;

static int by_place(const void *a, const void *b)
{
    const double p = ((const reading *)a)->x, q = ((const reading *)b)->x;
    return p < q ? -1 : p > q ? 1 : 0;
}

/* Numbers the steps of sorted readings by the median difference; false if they are not even. */
static bool number_steps(size_t n, reading *sorted, double *scratch, double *step)
{
    for (size_t i = 1; i < n; i++) scratch[i - 1] = sorted[i].x - sorted[i - 1].x;
    const double usual = hfi_median(scratch, n - 1);
    if (!(usual > 0.0) || !isfinite(usual)) return false;
    double at = 0.0;
    for (size_t i = 1; i < n; i++) {
        const double steps = (sorted[i].x - sorted[i - 1].x) / usual, whole = round(steps);
        if (!(whole >= 1.0) || fabs(steps - whole) > 0.2) return false;
        at += whole;
        if (at > 1.5 * (double)(n - 1)) return false;
        sorted[i].at = (size_t)at;
    }
    *step = (sorted[n - 1].x - sorted[0].x) / at;
    for (size_t i = 1; i < n; i++)
        if (fabs((sorted[i].x - sorted[0].x) / *step - (double)sorted[i].at) > 0.25) return false;
    return true;
}

/* The last values of the series, gaps filled by straight lines. */
static hf_status fill_series(hf_context *ctx, size_t n, const reading *sorted, hfi_series *out)
{
    const size_t last = sorted[n - 1].at, skipped = last >= HFI_CYCLE_MOST ? last + 1 - HFI_CYCLE_MOST : 0;
    out->n = last + 1 - skipped;
    out->value = hfi_alloc(ctx, out->n, sizeof *out->value);
    if (out->value == NULL) return HF_ERR_MEMORY;
    for (size_t i = 1; i < n; i++) {
        const reading *a = &sorted[i - 1], *b = &sorted[i];
        for (size_t at = a->at; at <= b->at; at++) {
            const double share = (double)(at - a->at) / (double)(b->at - a->at);
            if (at >= skipped) out->value[at - skipped] = (1.0 - share) * a->y + share * b->y;
        }
    }
    return HF_OK;
}

hf_status hfi_series_of(hf_context *ctx, size_t n, const double *x, size_t ldx, const double *y,
                        hfi_series *out)
{
    *out = (hfi_series){0};
    reading *sorted = hfi_alloc(ctx, n, sizeof *sorted);
    double *scratch = hfi_alloc(ctx, n, sizeof *scratch);
    hf_status status = sorted != NULL && scratch != NULL ? HF_OK : HF_ERR_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < n && status >= 0; i++)
        if (!isnan(y[i])) sorted[count++] = (reading){.x = x[i * ldx], .y = y[i]};
    if (status >= 0 && count >= HFI_CYCLE_LEAST) {
        qsort(sorted, count, sizeof *sorted, by_place);
        if (number_steps(count, sorted, scratch, &out->step)) status = fill_series(ctx, count, sorted, out);
    }
    HFI_FREE(ctx, sorted, scratch);
    return status;
}

/* ---- remark ---------------------------------------------------------------------------------------------- */

/* A column as a kernel's expression names it, inside double quotes of a shell: by its name if that is
 * plain, else by its number. False if that number is the name of another column. */
static bool column_in_kernel(const hf_model *model, size_t input, char *text, size_t bytes)
{
    const char *name = model->feature[input];
    bool identifier = isalpha((unsigned char)*name) || *name == '_',
         plain = *name != '\0' && strlen(name) < 40;
    for (const char *c = name; *c != '\0'; c++) {
        identifier = identifier && (isalnum((unsigned char)*c) || *c == '_');
        plain = plain && isprint((unsigned char)*c) && strchr("'\"`$\\!", *c) == NULL;
    }
    if (strcmp(name, "ard") == 0 || strcmp(name, "iso") == 0) identifier = false;
    if (plain) {
        snprintf(text, bytes, identifier ? "%s" : "'%s'", name);
        return true;
    }
    snprintf(text, bytes, "x%zu", input + 1);
    for (size_t j = 0; j < model->d; j++)
        if (strcmp(model->feature[j], text) == 0) return false;
    return true;
}

/* Inputs that could be the time of a series: the only one, or one whose name says so or that rises from row to row. */
static bool could_be_time(const hf_model *model, size_t input)
{
    if (model->d == 1 || hfi_input_is_time(model, input)) return true;
    for (size_t i = 1; i < model->n; i++)
        if (!(model->x[i * model->width + input] > model->x[(i - 1) * model->width + input])) return false;
    return true;
}

static hf_status note_cycle(hf_context *ctx, hf_model *model, size_t input, double step,
                            const hfi_cycle *cycle)
{
    const char *kernel = model->kernel;
    char column[48], name[HFI_SHOWN_BYTES];
    if (!column_in_kernel(model, input, column, sizeof column)) return HF_OK;
    if (strlen(kernel) > 200 || strpbrk(kernel, "\"`$\\!") != NULL) kernel = "matern52(ard)";
    return hfi_model_note(ctx, model,
                          "the series repeats every %.4g units of \"%s\" (autocorrelation %.2f): --kernel "
                          "\"%s + periodic(%s, period~%.4g)\" may predict better beyond the readings",
                          cycle->period * step, hfi_text_shown(model->feature[input], name),
                          cycle->correlation, kernel, column, cycle->period * step);
}

hf_status hfi_look_for_cycle(hf_context *ctx, hf_model *model)
{
    /* Spectral mixtures repeat too. */
    if (!hfi_model_is_plain(model) || model->prior != NULL || model->n < HFI_CYCLE_LEAST ||
        strstr(model->kernel, "periodic") != NULL || strstr(model->kernel, "sm(") != NULL ||
        strcmp(model->kernel, "sm") == 0)
        return HF_OK;
    hf_status status = HF_OK;
    for (size_t j = 0; j < model->d && status >= 0; j++) {
        hfi_series series;
        hfi_cycle cycle = {0};
        if (!could_be_time(model, j)) continue;
        status = hfi_series_of(ctx, model->n, model->x + j, model->width, model->y, &series);
        if (status >= 0 && series.n > 0) {
            status = hfi_find_cycle(ctx, series.n, series.value, &cycle);
            if (status >= 0 && cycle.period > 0.0) status = note_cycle(ctx, model, j, series.step, &cycle);
        }
        hfi_free(ctx, series.value);
        if (cycle.period > 0.0) break;
    }
    return status;
}
