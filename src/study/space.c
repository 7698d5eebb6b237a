/* SPDX-License-Identifier: Apache-2.0 */
/* Variables: settings in the user's units, inputs of the surrogate, and text. */
#include "study/study.h"

#include "data/number.h"
#include <holdfast/table.h>
#include <math.h>
#include <string.h>

/* ---- checks ----------------------------------------------------------------------------------------- */

static bool numeric(const hf_variable *v)
{
    return v->kind == HF_VARIABLE_REAL || v->kind == HF_VARIABLE_INTEGER;
}

static hf_status check_levels(hf_context *ctx, const hf_variable *v)
{
    if (v->log) return hfi_refuse(ctx, "variable %s: labels have no logarithm", v->name);
    if (v->levels < 2 || v->level == NULL)
        return hfi_refuse(ctx, "variable %s has %zu labels; it needs two or more", v->name, v->levels);
    for (size_t i = 0; i < v->levels; i++) {
        if (v->level[i] == NULL || v->level[i][0] == '\0')
            return hfi_refuse(ctx, "variable %s: label %zu is empty", v->name, i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(v->level[i], v->level[k]) == 0)
                return hfi_refuse(ctx, "variable %s has the label \"%s\" twice", v->name, v->level[i]);
    }
    return HF_OK;
}

static hf_status check_bounds(hf_context *ctx, const hf_variable *v)
{
    if (!isfinite(v->lower) || !isfinite(v->upper) || !isfinite(v->upper - v->lower))
        return hfi_refuse(ctx, "variable %s: its bounds %g and %g must be finite", v->name, v->lower,
                          v->upper);
    if (v->lower > v->upper)
        return hfi_refuse(ctx, "variable %s: its bounds %g and %g are reversed", v->name, v->lower, v->upper);
    if (v->lower == v->upper)
        return hfi_refuse(ctx, "variable %s can only be %g; leave it out, there is nothing to choose",
                          v->name, v->lower);
    if (v->log && !(v->lower > 0.0))
        return hfi_refuse(ctx, "variable %s: its lower bound %g must be positive on a logarithmic scale",
                          v->name, v->lower);
    if (v->kind == HF_VARIABLE_INTEGER && (rint(v->lower) != v->lower || rint(v->upper) != v->upper ||
                                           fabs(v->lower) > 9e15 || fabs(v->upper) > 9e15))
        return hfi_refuse(ctx, "variable %s: its bounds %.17g and %.17g must be whole numbers", v->name,
                          v->lower, v->upper);
    return HF_OK;
}

hf_status hfi_variables_check(hf_context *ctx, size_t count, const hf_variable *variable)
{
    if (count == 0 || variable == NULL) return hfi_refuse(ctx, "a study needs at least one variable");
    for (size_t i = 0; i < count; i++) {
        const hf_variable *v = &variable[i];
        if (v->name == NULL || v->name[0] == '\0') return hfi_refuse(ctx, "variable %zu has no name", i + 1);
        if ((unsigned)v->kind >= hf_enum_count(HF_ENUM_VARIABLE_KIND))
            return hfi_refuse(ctx, "variable %s is of an unknown kind, %d", v->name, (int)v->kind);
        const hf_status s = numeric(v) ? check_bounds(ctx, v) : check_levels(ctx, v);
        if (s < 0) return s;
        for (size_t k = 0; k < i; k++)
            if (strcmp(v->name, variable[k].name) == 0)
                return hfi_refuse(ctx, "two variables are named %s", v->name);
    }
    return HF_OK;
}

hf_status hfi_variable_admits(hf_context *ctx, const hf_variable *v, double value)
{
    const double lower = numeric(v) ? v->lower : 0.0;
    const double upper = numeric(v) ? v->upper : (double)(v->levels - 1);
    if (!(value >= lower && value <= upper))
        return hfi_refuse(ctx, "%s = %.10g is outside the study's space: %g to %g", v->name, value, lower,
                          upper);
    if (v->kind != HF_VARIABLE_REAL && rint(value) != value)
        return hfi_refuse(ctx, "%s = %.10g must be a whole number", v->name, value);
    return HF_OK;
}

/* ---- inputs of the surrogate ------------------------------------------------------------------------- */

double hfi_variable_step(const hf_variable *v)
{
    switch (v->kind) {
    case HF_VARIABLE_INTEGER:
        return v->log ? 0.0 : 1.0 / (v->upper - v->lower);
    case HF_VARIABLE_ORDERED:
        return 1.0 / (double)(v->levels - 1);
    case HF_VARIABLE_CATEGORY:
        return 1.0;
    case HF_VARIABLE_REAL:
        break;
    }
    return 0.0;
}

double hfi_variable_encode(const hf_variable *v, double value)
{
    if (v->kind == HF_VARIABLE_CATEGORY) return value;
    if (v->kind == HF_VARIABLE_ORDERED) return value / (double)(v->levels - 1);
    const double share = v->log ? log(value / v->lower) / log(v->upper / v->lower)
                                : (value - v->lower) / (v->upper - v->lower);
    return fmin(fmax(share, 0.0), 1.0);
}

double hfi_variable_decode(const hf_variable *v, double u)
{
    if (v->kind == HF_VARIABLE_CATEGORY) return fmin(fmax(rint(u), 0.0), (double)(v->levels - 1));
    if (v->kind == HF_VARIABLE_ORDERED)
        return fmin(fmax(rint(u * (double)(v->levels - 1)), 0.0), (double)(v->levels - 1));
    double value = v->log ? v->lower * pow(v->upper / v->lower, u) : v->lower + u * (v->upper - v->lower);
    if (v->kind == HF_VARIABLE_INTEGER) value = rint(value);
    return fmin(fmax(value, v->lower), v->upper);
}

/* ---- text --------------------------------------------------------------------------------------------- */

static hf_status no_label(hf_context *ctx, const hf_variable *v, const char *text)
{
    char list[256];
    size_t at = 0;
    for (size_t i = 0; i < v->levels && at < sizeof list; i++) {
        const int wrote = hfi_print(list + at, sizeof list - at, "%s%s",
                                    i == 0              ? ""
                                    : i + 1 < v->levels ? ", "
                                                        : " or ",
                                    v->level[i]);
        at += wrote > 0 ? (size_t)wrote : 0;
    }
    return hfi_refuse(ctx, "variable %s: there is no label \"%s\"; give %s", v->name, text, list);
}

hf_status hf_study_parse(hf_context *ctx, const hf_study *study, size_t j, const char *text, double *value)
{
    if (study == NULL || text == NULL || value == NULL || j >= study->s.variables)
        return hfi_refuse(ctx, "hf_study_parse: a study, a variable and a text are needed");
    const hf_variable *v = &study->s.variable[j];
    if (!numeric(v)) {
        for (size_t i = 0; i < v->levels; i++) {
            if (strcmp(v->level[i], text) != 0) continue;
            *value = (double)i;
            return HF_OK;
        }
        return no_label(ctx, v, text);
    }
    double number;
    if (hfi_field_parse(text, &number) != HFI_FIELD_NUMBER)
        return hfi_refuse(ctx, "variable %s: \"%s\" is not a number", v->name, text);
    const hf_status s = hfi_variable_admits(ctx, v, number);
    if (s >= 0) *value = number;
    return s;
}

size_t hf_study_format(const hf_study *study, size_t j, double value, size_t n, char *text)
{
    if (study == NULL || j >= study->s.variables) return 0;
    const hf_variable *v = &study->s.variable[j];
    if (!numeric(v)) {
        const size_t level = value >= 0.0 && value < (double)v->levels ? (size_t)value : v->levels;
        return (size_t)hfi_print(text, n, "%s", level < v->levels ? v->level[level] : "");
    }
    char digits[32];
    return (size_t)hfi_print(text, n, "%s", hf_format_double(value, digits));
}

/* ---- places ----------------------------------------------------------------------------------------- */

enum {
    STARTS_APART = 1021 /* distance of the first points of two seeds in the sequence */
};

void hfi_study_fill(const hf_study *study, uint64_t number, double *u)
{
    const uint64_t seed = study->s.seed % 65521;
    hf_domain_quasirandom(&study->domain, (size_t)(seed * STARTS_APART + number), 1, u);
}

double hfi_study_distance(const hf_study *study, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t j = 0; j < study->d; j++) {
        const double step = study->domain.category[j] ? (double)(a[j] != b[j]) : a[j] - b[j];
        sum += step * step;
    }
    return sqrt(sum / (double)study->d);
}
