/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_expert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/room.h"

/* One reading in so many is corrected. */
static const size_t one_in = 20;

bool bo_expert_split(const char *name, size_t size, char *model, bo_expert_use *use)
{
    static const char *const uses[] = {"", "alg1", "average", "replace"};
    const char *plus = strchr(name, '+');
    const size_t length = plus ? (size_t)(plus - name) : strlen(name);
    if (length >= size) return false;
    memcpy(model, name, length);
    model[length] = '\0';
    *use = BO_EXPERT_NONE;
    if (!plus) return true;
    for (int k = 1; k < 4; ++k)
        if (strcmp(plus + 1, uses[k]) == 0) *use = (bo_expert_use)k;
    return *use != BO_EXPERT_NONE;
}

/* Units are sds of readings, as those of the published settings. */
static hf_expert_settings settings_of(bo_expert_use use)
{
    hf_expert_settings s = hf_expert_settings_default();
    s.correction_var = use == BO_EXPERT_ALG1 ? 1.0 : 0.0;
    if (use != BO_EXPERT_ALG1) return s;
    s.rule = HF_EXPERT_PUBLISHED;
    s.label_weight = 1.0;
    s.base = 0.0;
    s.lengthscale = (double)INFINITY;
    return s;
}

/* Labels and corrections of the view's rows; how many. */
static size_t words_of(const bo_expert *expert, const bo_expert_view *view, hf_expert_label *label,
                       double *correction)
{
    size_t count = 0;
    for (size_t i = 0; i < view->n; ++i) {
        correction[i] = expert->correction[view->row[i]];
        label[i] = isnan(correction[i]) ? HF_EXPERT_UNKNOWN : HF_EXPERT_DOUBTED;
        count += label[i] != HF_EXPERT_UNKNOWN;
    }
    return count;
}

static bool make(hf_context *ctx, const bo_expert *expert, const bo_expert_view *view, bo_expert_use use,
                 bool always, hf_expert **out)
{
    hf_expert_label *label = room(view->n, sizeof *label);
    double *correction = room(view->n, sizeof *correction);
    const hf_expert_settings settings = settings_of(use);
    const hf_expert_data data = {.n = view->n,
                                 .d = view->d,
                                 .x = view->x,
                                 .ldx = view->d,
                                 .y = view->y,
                                 .label = label,
                                 .correction = correction};
    bool ok = true;
    *out = NULL;
    if (words_of(expert, view, label, correction) > 0 || always)
        ok = hf_expert_create(ctx, &data, &settings, out) >= 0;
    if (!ok) fprintf(stderr, "expert: %s\n", hf_context_message(ctx));
    free(label);
    free(correction);
    return ok;
}

bool bo_expert_mean(hf_context *ctx, const bo_expert *expert, const bo_expert_view *view, hf_expert **out)
{
    *out = NULL;
    if (expert->use != BO_EXPERT_ALG1 && expert->use != BO_EXPERT_AVERAGE) return true;
    return make(ctx, expert, view, expert->use, false, out);
}

/* Corrects the wrong reading that is asked about first; *none where there is none to correct. */
static bool correct_one(hf_context *ctx, bo_expert *expert, const bo_expert_view *view, bool *none)
{
    hf_expert *asking;
    if (!make(ctx, expert, view, BO_EXPERT_AVERAGE, true, &asking)) return false;
    size_t count = view->n, *order = room(view->n, sizeof *order);
    const bool ok = hf_expert_ask(ctx, asking, NULL, NULL, &count, order, NULL) >= 0;
    if (!ok) fprintf(stderr, "expert: %s\n", hf_context_message(ctx));
    hf_expert_free(asking);
    *none = true;
    for (size_t k = 0; ok && *none && k < count; ++k) {
        const size_t row = view->row[order[k]];
        if (view->y[order[k]] == expert->clean[row] || !isnan(expert->correction[row])) continue;
        expert->correction[row] = expert->clean[row];
        *none = false;
    }
    free(order);
    return ok;
}

bool bo_expert_hear(hf_context *ctx, bo_expert *expert, size_t trials, const bo_expert_view *view)
{
    bool none = false;
    if (expert->use == BO_EXPERT_NONE) return true;
    for (; expert->said < trials / one_in && !none; expert->said += none ? 0 : 1)
        if (!correct_one(ctx, expert, view, &none)) return false;
    return true;
}
