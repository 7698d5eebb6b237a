/* SPDX-License-Identifier: Apache-2.0 */
/* A transformed target: what goes with it, and the readings that a fit sees. */
#include "data/text.h"
#include "model/candidates.h"
#include "model/target.h"

#include <math.h>
#include <string.h>

hf_status hfi_transform_check(hf_context *ctx, const hf_columns *columns, const hf_fit_settings *settings)
{
    const char *name = hf_enum_name(HF_ENUM_TRANSFORM, settings->transform);
    if (settings->transform == HF_TRANSFORM_NONE) return HF_OK;
    if (columns->noise != NULL)
        return hfi_refuse(
            ctx,
            "the transform %s does not go with a noise column, whose variances are of the target as it is",
            name);
    return HF_OK;
}

hf_status hfi_transform_deny(hf_context *ctx, const hf_model *model, const char *what, const char *why)
{
    const hf_transform transform = model->settings.transform;
    if (transform == HF_TRANSFORM_NONE) return HF_OK;
    return hfi_refuse(ctx, "%s is not told of a model with the transform %s: %s", what,
                      hf_enum_name(HF_ENUM_TRANSFORM, transform), why);
}

/* A transform that nobody has chosen yet asks nothing of the readings. */
static bool takes(hf_transform transform, double y)
{
    return transform == HF_TRANSFORM_AUTO || isnan(y) || hf_transform_accepts(transform, y);
}

bool hfi_transform_takes(const hf_model *model, hf_transform transform)
{
    bool all = true;
    for (size_t i = 0; i < model->n && all; i++) all = takes(transform, model->y[i]);
    return all;
}

size_t hfi_transform_fits(const hf_model *model, hf_transform transform)
{
    if (transform != HF_TRANSFORM_AUTO) return 1;
    size_t fits = 0;
    for (unsigned t = 0; t < HF_TRANSFORM_AUTO; t++) fits += hfi_transform_takes(model, (hf_transform)t);
    return fits;
}

hf_status hfi_transform_check_rows(hf_context *ctx, const hf_model *model, const hf_table *table,
                                   hf_transform transform)
{
    enum {
        PLACES = 3
    };
    size_t count = 0, present = 0, at[PLACES] = {0};
    for (size_t i = 0; i < model->n && transform != HF_TRANSFORM_NONE; i++) {
        present += isnan(model->y[i]) ? 0 : 1;
        if (takes(transform, model->y[i])) continue;
        if (count < PLACES) at[count] = i;
        count++;
    }
    if (count == 0) return HF_OK;
    char place[512], shown[HFI_SHOWN_BYTES], others[96] = "";
    for (size_t k = 1; k < count && k < PLACES; k++) {
        const size_t row = model->row[at[k]] - 1, line = hf_table_line(table, row), used = strlen(others);
        hfi_print(others + used, sizeof others - used, "%s %s %zu", k == 1 ? "; also" : " and",
                  line > 0 ? "line" : "row", line > 0 ? line : row + 1);
    }
    const bool zero = transform == HF_TRANSFORM_LOG;
    return hfi_refuse(ctx,
                      "%s, column \"%s\": the transform %s takes readings that are %s, and this one is %g "
                      "(%zu of %zu are not%s); leave the fields of wrong readings empty%s",
                      hfi_row_place(table, model->row[at[0]] - 1, place, sizeof place),
                      hfi_text_shown(model->target, shown), hf_enum_name(HF_ENUM_TRANSFORM, transform),
                      hf_transform_domain(transform), model->y[at[0]], count, present, others,
                      zero ? ", or take sqrt, which has a place for 0" : "");
}

hf_status hfi_transform_rows(hf_context *ctx, const hf_model *model, hf_transform g, double **out)
{
    *out = NULL;
    if (g == HF_TRANSFORM_NONE) return HF_OK;
    double *z = hfi_alloc(ctx, model->n, sizeof *z);
    if (z == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < model->n; i++) z[i] = hf_transform_forward(g, model->y[i]);
    *out = z;
    return HF_OK;
}
