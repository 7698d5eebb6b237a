/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and corrections of readings become probabilities and expected right values. */
#include "core/settings_rows.h"
#include "mean/expert.h"

#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

#define SETTINGS hf_expert_settings
static const hfi_setting rows[] = {
    {CHOICE(rule, hf_expert_rule, EXPERT_RULE, HF_EXPERT_PUBLISHED)},
    {LIST(kernel)},
    {NUMBER(lengthscale, 0, INFINITY)},
    {SIZE(alpha), UNSET("by the rule")},
    {SIZE(beta)},
    {NUMBER(label_weight, 0, INFINITY), .face.above = true, DEFAULT(10)},
    {SIZE(correction_var), UNSET("a hundredth of the variance of readings that nobody doubts")},
    {COUNT(neighbours, 1), DEFAULT(3)},
    {FINITE(base), UNSET("the median of readings that nobody doubts")},
};
SETTINGS_TABLE(hf_expert_settings, "an expert", rows)

/* Squares of larger readings may be infinite. */
static const double most = 1e150;

/* ---- checks ------------------------------------------------------------------------------------ */

static hf_status check_expert_settings(hf_context *ctx, const hf_expert_settings *s, size_t d)
{
    if (s->kernel != NULL && hf_kernel_dimension(s->kernel) != d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the kernel is of %zu inputs, the readings have %zu",
                        hf_kernel_dimension(s->kernel), d);
    return HF_OK;
}

static hf_status check_said(hf_context *ctx, const hf_expert_data *data, size_t i)
{
    const hf_expert_label label = data->label[i];
    const double correction = data->correction != NULL ? data->correction[i] : (double)NAN;
    const double var = data->correction_var != NULL ? data->correction_var[i] : (double)NAN;
    if ((unsigned)label > HF_EXPERT_DOUBTED)
        return hfi_refuse(ctx, "the label of row %zu is none of its choices", i + 1);
    if (label != HF_EXPERT_UNKNOWN && isnan(data->y[i]))
        return hfi_refuse(ctx, "row %zu has a label and no reading that it could be of", i + 1);
    if (fabs(correction) > most)
        return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                        "the correction of row %zu is %g; what is beyond 1e150 is taken for infinite", i + 1,
                        correction);
    if (!isnan(correction) && label != HF_EXPERT_DOUBTED)
        return hfi_refuse(
            ctx, "row %zu has the correction %g and the label \"%s\"; who corrects a reading doubts it",
            i + 1, correction, hf_enum_name(HF_ENUM_EXPERT_LABEL, label));
    if (!isnan(var) && !(var >= 0.0 && isfinite(var)))
        return hfi_refuse(ctx,
                          "the variance of the correction of row %zu is %g; it must be finite and 0 or more",
                          i + 1, var);
    return HF_OK;
}

static hf_status check_data(hf_context *ctx, const hf_expert_data *data)
{
    if (data->n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "there are no readings to say anything of");
    if (data->d == 0 || data->ldx < data->d)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "row stride %zu with %zu inputs", data->ldx, data->d);
    size_t present = 0;
    hf_status s = HF_OK;
    for (size_t i = 0; i < data->n && s >= 0; i++) {
        if (fabs(data->y[i]) > most)
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "the reading of row %zu is %g; what is beyond 1e150 is taken for infinite", i + 1,
                            data->y[i]);
        present += isnan(data->y[i]) ? 0 : 1;
        for (size_t j = 0; j < data->d; j++)
            if (!isfinite(data->x[i * data->ldx + j]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE, "input %zu of row %zu is not finite", j + 1, i + 1);
        s = check_said(ctx, data, i);
    }
    if (s >= 0 && present == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "none of the %zu rows has a reading", data->n);
    return s;
}

/* ---- the object -------------------------------------------------------------------------------- */

/* Mean and variance (divided by n - 1) of the numbers that are there, without overflow. */
static void moments(size_t n, const double *values, size_t stride, double *mean, double *var)
{
    double largest = 0.0, average = 0.0, squares = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i * stride])) largest = fmax(largest, fabs(values[i * stride]));
    for (size_t i = 0; i < n && largest > 0.0; i++) {
        if (isnan(values[i * stride])) continue;
        const double value = values[i * stride] / largest, step = value - average;
        average += step / (double)++count;
        squares += step * (value - average);
    }
    *mean = average * largest;
    *var = count > 1 ? squares / (double)(count - 1) * largest * largest : 0.0;
}

static hf_status allocate_expert(hf_context *ctx, hf_expert *e, const hf_expert_data *data)
{
    for (size_t i = 0; i < e->n; i++) e->count += data->label[i] != HF_EXPERT_UNKNOWN;
    return HFI_ALLOC(ctx, HFI_ROOMS(e->x, e->n, e->d), HFI_ROOM(e->y, e->n), HFI_ROOM(e->reading, e->n),
                     HFI_ROOM(e->asked, e->n), HFI_ROOM(e->self, e->n), HFI_ROOM(e->row, e->count + 1),
                     HFI_ROOMS(e->place, e->count + 1, e->d), HFI_ROOM(e->place_self, e->count + 1));
}

static void copy_rows(hf_expert *e, const hf_expert_data *data)
{
    const size_t d = e->d;
    for (size_t i = 0, k = 0; i < e->n; i++) {
        e->y[i] = data->y[i];
        memcpy(e->x + i * d, data->x + i * data->ldx, d * sizeof *e->x);
        e->asked[i] = data->correction != NULL && !isnan(data->correction[i]);
        e->reading[i] = (hf_expert_reading){data->label[i], NAN, NAN, NAN, data->y[i], 0.0};
        if (data->label[i] == HF_EXPERT_UNKNOWN) continue;
        memcpy(e->place + k * d, e->x + i * d, d * sizeof *e->x);
        e->row[k++] = i;
    }
}

/* se with a lengthscale for each input, of the same number of its standard deviations. */
static hf_status make_kernel(hf_context *ctx, hf_expert *e)
{
    hf_status s = hf_kernel_parse(ctx, "se(ard, outputscale=1)", NULL, e->d, &e->kernel);
    const double labelled = e->count > 0 ? (double)e->count : 1.0;
    const double factor = e->flat                         ? 1.0
                          : e->settings.lengthscale > 0.0 ? e->settings.lengthscale
                                                          : pow(labelled, -1.0 / ((double)e->d + 4.0));
    for (size_t j = 0; j < e->d && s >= 0; j++) {
        char name[48];
        double mean, var;
        moments(e->n, e->x + j, e->d, &mean, &var);
        const double sd = sqrt(var), length = sd > 0.0 && isfinite(sd) ? factor * sd : factor;
        hfi_print(name, sizeof name, "lengthscale[%zu]", j);
        s = hf_kernel_set(ctx, e->kernel, name, length);
    }
    return s;
}

static hf_status choose_kernel(hf_context *ctx, hf_expert *e, const hf_kernel *given)
{
    e->flat = given == NULL && isinf(e->settings.lengthscale);
    const hf_status s = given != NULL ? hf_kernel_copy(ctx, given, &e->kernel) : make_kernel(ctx, e);
    if (s < 0) return s;
    hfi_kernel_diagonal(e->kernel, e->n, e->x, e->d, false, e->self);
    for (size_t i = 0; i < e->n; i++) e->self[i] = sqrt(fmax(e->self[i], 0.0));
    for (size_t k = 0; k < e->count; k++) e->place_self[k] = e->self[e->row[k]];
    return HF_OK;
}

/* Variances of readings, and the base: their median. */
static hf_status summarise(hf_context *ctx, hf_expert *e)
{
    double mean, *sound = hfi_alloc(ctx, e->n, sizeof *sound);
    if (sound == NULL) return HF_ERR_MEMORY;
    size_t count = 0;
    for (int all = 0; all < 2 && count == 0; all++)
        for (size_t i = 0; i < e->n; i++)
            if (!isnan(e->y[i]) && (all || e->reading[i].label != HF_EXPERT_DOUBTED))
                sound[count++] = e->y[i];
    moments(e->n, e->y, 1, &mean, &e->spread);
    moments(count, sound, 1, &mean, &e->calm);
    if (isnan(e->settings.base)) e->settings.base = hfi_median(sound, count);
    if (isnan(e->settings.correction_var)) e->settings.correction_var = 0.01 * e->calm;
    hfi_free(ctx, sound);
    return HF_OK;
}

/* ---- what is inferred -------------------------------------------------------------------------- */

/* E[d_i]; z: distance from the average in standard deviations. */
static double probability(const hf_expert_settings *s, double z, hf_expert_label label)
{
    const double doubted = label == HF_EXPERT_DOUBTED ? 1.0 : 0.0;
    if (isinf(s->label_weight)) return doubted;
    const double alpha = isnan(s->alpha) ? z : s->alpha;
    return (alpha + s->label_weight * doubted) / (alpha + s->beta + s->label_weight);
}

/* A prior and a correction make the posterior of a right value. */
static hfi_expert_prior corrected(hfi_expert_prior prior, double correction, double var)
{
    if (isnan(correction)) return prior;
    if (var == 0.0) return (hfi_expert_prior){correction, 0.0};
    if (prior.var == 0.0) return prior;
    const double share = prior.var / (prior.var + var);
    return (hfi_expert_prior){prior.mean + share * (correction - prior.mean), share * var};
}

static hf_status infer(hf_context *ctx, hf_expert *e, const hf_expert_data *data, double *l)
{
    double average, var;
    moments(e->n, e->y, 1, &average, &var);
    hf_status s = HF_OK;
    hfi_watch watch;
    hfi_watch_begin(&watch, ctx, "expert", 0.0);
    for (size_t k = 0; k < e->count && s >= 0; k++) {
        const size_t i = e->row[k];
        hf_expert_reading *r = &e->reading[i];
        hfi_expert_prior prior;
        watch.done = (double)k / (double)e->count;
        if (!hfi_watch_glance(&watch)) return hfi_cancelled(ctx);
        s = hfi_expert_neighbours(ctx, e, i, l, &prior);
        if (s < 0) break;
        const double own = data->correction_var != NULL ? data->correction_var[i] : (double)NAN;
        const hfi_expert_prior value = corrected(prior, e->asked[i] ? data->correction[i] : (double)NAN,
                                                 isnan(own) ? e->settings.correction_var : own);
        const double f = e->settings.rule == HF_EXPERT_PUBLISHED ? e->settings.base : e->y[i];
        const double z = var > 0.0 ? fabs(e->y[i] - average) / sqrt(var) : 0.0;
        const double p = probability(&e->settings, z, r->label), away = value.mean - f;
        r->wrong = p;
        r->corrected = value.mean;
        r->corrected_var = value.var;
        r->expected = p < 1.0 ? f + p * away : value.mean;
        r->expected_var = p * value.var + p * (1.0 - p) * away * away;
    }
    return s;
}

hf_status hf_expert_create(hf_context *ctx, const hf_expert_data *data, const hf_expert_settings *settings,
                           hf_expert **out)
{
    hf_expert_settings own;
    if (data == NULL || data->x == NULL || data->y == NULL || data->label == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_expert_create: x, y, label and out must not be NULL");
    hf_status s = check_data(ctx, data);
    if (s >= 0) s = hfi_settings_open(ctx, hf_expert_settings_table(), settings, &own);
    if (s >= 0) s = check_expert_settings(ctx, &own, data->d);
    if (s < 0) return s;
    hf_expert *e = hfi_alloc(ctx, 1, sizeof *e);
    if (e == NULL) return HF_ERR_MEMORY;
    *e = (hf_expert){.memory = hfi_context_memory(ctx), .settings = own, .n = data->n, .d = data->d};
    e->settings.kernel = NULL;
    s = allocate_expert(ctx, e, data);
    if (s >= 0) copy_rows(e, data);
    if (s >= 0) s = choose_kernel(ctx, e, own.kernel);
    if (s >= 0) s = summarise(ctx, e);
    double *l = s >= 0 ? hfi_alloc(ctx, e->n, sizeof *l) : NULL;
    if (s >= 0) s = l != NULL ? infer(ctx, e, data, l) : HF_ERR_MEMORY;
    hfi_free(ctx, l);
    if (s < 0) {
        hf_expert_free(e);
        return s;
    }
    *out = e;
    return HF_OK;
}
