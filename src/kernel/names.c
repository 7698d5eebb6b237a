/* SPDX-License-Identifier: Apache-2.0 */
/* Which parameters a name stands for: [kernel[number].]parameter[index]. */
#include "kernel/coregion.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct pattern {
    hfi_form form; /* HFI_FORMS: not said */
    size_t number; /* 0: not said */
    hfi_field field;
    int indices;
    size_t i, j;
} pattern;

static bool read_count(const char **text, size_t *count)
{
    const char *at = *text;
    size_t value = 0;
    while (*at >= '0' && *at <= '9' && value <= HFI_MAX_PARAMETERS)
        value = 10 * value + (size_t)(*at++ - '0');
    if (at == *text || value > HFI_MAX_PARAMETERS) return false;
    *text = at;
    *count = value;
    return true;
}

/* "se", "se2" or "matern52": the name of a form may end in digits itself, so the whole word is tried first.
 */
static bool read_prefix(const char *name, size_t length, pattern *out)
{
    size_t letters = length;
    out->form = hfi_form_find(name, length);
    while (out->form == HFI_FORMS && letters > 0 && name[letters - 1] >= '0' && name[letters - 1] <= '9')
        out->form = hfi_form_find(name, --letters);
    const char *digits = name + letters;
    return out->form != HFI_FORMS &&
           (letters == length || (read_count(&digits, &out->number) && out->number > 0));
}

static bool read_pattern(const char *name, pattern *out)
{
    *out = (pattern){.form = HFI_FORMS};
    const char *dot = strchr(name, '.');
    if (dot && !read_prefix(name, (size_t)(dot - name), out)) return false;
    if (dot) name = dot + 1;
    const size_t length = strcspn(name, "[");
    out->field = hfi_field_find(name, length);
    if (out->field == HFI_FIELDS) return false;
    name += length;
    if (*name == '\0') return true;
    name++;
    out->indices = 1;
    if (!read_count(&name, &out->i)) return false;
    if (*name == ',') {
        name++;
        out->indices = 2;
        if (!read_count(&name, &out->j)) return false;
    }
    return name[0] == ']' && name[1] == '\0';
}

static bool matches_place(const hf_kernel *kernel, const pattern *wanted, const hfi_place *place)
{
    const hfi_leaf *leaf = &kernel->leaves[place->leaf];
    /* A kernel that occurs once is its own first. */
    const size_t number = leaf->number > 0 ? leaf->number : 1;
    if (wanted->field != place->field) return false;
    if (wanted->form != HFI_FORMS && wanted->form != leaf->form) return false;
    if (wanted->number > 0 && wanted->number != number) return false;
    if (wanted->indices == 0) return true;
    if (wanted->indices == 1 && place->dimensions == 0) return wanted->i == 0;
    return wanted->indices == place->dimensions && wanted->i == place->i && wanted->j == place->j;
}

bool hfi_kernel_match(const hf_kernel *kernel, const char *name, size_t *matches, size_t *count)
{
    pattern wanted;
    bool one_array = true;
    *count = 0;
    if (!read_pattern(name, &wanted)) return true;
    for (size_t p = 0; p < kernel->parameters; p++) {
        if (!matches_place(kernel, &wanted, &kernel->place[p])) continue;
        if (*count > 0 && kernel->place[matches[0]].leaf != kernel->place[p].leaf) one_array = false;
        matches[(*count)++] = p;
    }
    return one_array;
}

/* Names of up to eight parameters, separated by commas. `which` NULL means all. */
static void list_names(const hf_kernel *kernel, const size_t *which, size_t count, char *list, size_t size)
{
    size_t used = 0;
    list[0] = '\0';
    for (size_t k = 0; k < count && k < 8 && used < size; k++) {
        const size_t p = which ? which[k] : k;
        used += (size_t)hfi_print(list + used, size - used, "%s%s", k ? ", " : "",
                                  kernel->names + kernel->name_at[p]);
    }
    if (count > 8 && used < size) (void)hfi_print(list + used, size - used, ", ... (%zu in all)", count);
}

static hf_status no_such_parameter(hf_context *ctx, const hf_kernel *kernel, const char *name)
{
    char list[512];
    hfi_nearest search;
    hfi_nearest_begin(&search, name, strlen(name));
    for (size_t p = 0; p < kernel->parameters; p++)
        hfi_nearest_offer(&search, kernel->names + kernel->name_at[p]);
    for (size_t f = 0; f < HFI_FIELDS; f++)
        for (size_t l = 0; l < kernel->leaf_count; l++)
            if (hfi_leaf_entries(&kernel->leaves[l], (hfi_field)f) > 0)
                hfi_nearest_offer(&search, hfi_field_name((hfi_field)f));
    list_names(kernel, NULL, kernel->parameters, list, sizeof list);
    if (search.best)
        return hfi_refuse(ctx, "the kernel has no parameter '%.80s'; did you mean '%s'? It has %s", name,
                          search.best, list);
    return hfi_refuse(ctx, "the kernel has no parameter '%.80s'; it has %s", name, list);
}

static hf_status check_value(hf_context *ctx, const hf_kernel *kernel, size_t p, const char *name,
                             double value)
{
    const bool real = hfi_field_is_real(kernel->place[p].field);
    if (real && !(fabs(value) <= HFI_REAL_MOST))
        return hfi_refuse(ctx, "%.80s = %g: expected a number of size %g at most", name, value,
                          HFI_REAL_MOST);
    if (!real && !(value >= DBL_MIN && value <= DBL_MAX))
        return hfi_refuse(ctx, "%.80s = %g: this parameter of a kernel is positive and finite", name, value);
    return HF_OK;
}

hf_status hf_kernel_set(hf_context *ctx, hf_kernel *kernel, const char *name, double value)
{
    char list[512];
    size_t count = 0;
    if (!kernel || !name) return hfi_refuse(ctx, "hf_kernel_set needs a kernel and a name");
    size_t *matches = hfi_alloc(ctx, kernel->parameters, sizeof *matches);
    if (!matches) return HF_ERR_MEMORY;
    const bool one_array = hfi_kernel_match(kernel, name, matches, &count);
    hf_status s = HF_OK;
    if (count == 0) {
        s = no_such_parameter(ctx, kernel, name);
    } else if (!one_array) {
        list_names(kernel, matches, count, list, sizeof list);
        s = hfi_refuse(ctx, "'%.80s' could be any of %s; write the kernel's name in front", name, list);
    }
    if (s >= 0) s = check_value(ctx, kernel, matches[0], name, value);
    for (size_t k = 0; s >= 0 && k < count; k++) {
        const size_t p = matches[k];
        kernel->value[p] = value;
        kernel->lower[p] = fmin(kernel->lower[p], value);
        kernel->upper[p] = fmax(kernel->upper[p], value);
    }
    if (s >= 0 && kernel->place[matches[0]].field == HFI_FIELD_FACTOR)
        hfi_coregion_refresh(kernel, &kernel->leaves[kernel->place[matches[0]].leaf]);
    else if (s >= 0)
        for (size_t k = 0; k < count; k++) hfi_coregion_refresh_after(kernel, matches[k]);
    hfi_free(ctx, matches);
    return s;
}
