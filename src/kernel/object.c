/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel as an object: memory, copies, the table of parameters, the training scale. */
#include "kernel/coregion.h"
#include "kernel/kernel.h"
#include "kernel/tile.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- memory ---------------------------------------------------------------------------------- */

void hf_kernel_free(hf_kernel *kernel)
{
    if (!kernel) return;
    const hfi_memory memory = kernel->memory;
    HFI_MEMORY_FREE(&memory, kernel->expression, kernel->nodes, kernel->leaves, kernel->columns,
                    kernel->value, kernel->lower, kernel->upper, kernel->fixed, kernel->given, kernel->place,
                    kernel->name_at, kernel->names, kernel->pairs, kernel->row_of, kernel);
}

hf_kernel *hfi_kernel_allocate(const hfi_memory *memory, const hf_kernel *sizes, const char *expression)
{
    hf_kernel *kernel = hfi_memory_alloc(memory, 1, sizeof *kernel);
    if (!kernel) return NULL;
    const size_t count = sizes->parameters;
    *kernel = (hf_kernel){.memory = *memory,
                          .d = sizes->d,
                          .node_count = sizes->node_count,
                          .leaf_count = sizes->leaf_count,
                          .column_count = sizes->column_count,
                          .parameters = count,
                          .pair_count = sizes->pair_count,
                          .root = sizes->root};
    kernel->expression = hfi_memory_strdup(memory, expression);
    if (HFI_MEMORY_ALLOC(
            memory, HFI_ROOM(kernel->nodes, sizes->node_count), HFI_ROOM(kernel->leaves, sizes->leaf_count),
            HFI_ROOM(kernel->columns, sizes->column_count), HFI_ROOM(kernel->value, count),
            HFI_ROOM(kernel->lower, count), HFI_ROOM(kernel->upper, count), HFI_ROOM(kernel->fixed, count),
            HFI_ROOM(kernel->given, count), HFI_ROOM(kernel->place, count), HFI_ROOM(kernel->name_at, count),
            HFI_ROOM(kernel->pairs, sizes->pair_count), HFI_ROOM(kernel->row_of, sizes->pair_count)) &&
        kernel->expression != NULL)
        return kernel;
    hf_kernel_free(kernel);
    return NULL;
}

hf_status hf_kernel_copy(hf_context *ctx, const hf_kernel *kernel, hf_kernel **out)
{
    if (!kernel || !out) return hfi_refuse(ctx, "hf_kernel_copy needs a kernel and a place for the copy");
    const hfi_memory memory = hfi_context_memory(ctx);
    hf_kernel *copy = hfi_kernel_allocate(&memory, kernel, kernel->expression);
    if (!copy) return hfi_out_of_memory(ctx);
    copy->names = hfi_memory_alloc(&memory, kernel->names_size, 1);
    if (!copy->names) {
        hf_kernel_free(copy);
        return hfi_out_of_memory(ctx);
    }
    const size_t count = kernel->parameters;
    memcpy(copy->nodes, kernel->nodes, kernel->node_count * sizeof *copy->nodes);
    memcpy(copy->leaves, kernel->leaves, kernel->leaf_count * sizeof *copy->leaves);
    memcpy(copy->columns, kernel->columns, kernel->column_count * sizeof *copy->columns);
    memcpy(copy->value, kernel->value, count * sizeof *copy->value);
    memcpy(copy->lower, kernel->lower, count * sizeof *copy->lower);
    memcpy(copy->upper, kernel->upper, count * sizeof *copy->upper);
    memcpy(copy->fixed, kernel->fixed, count * sizeof *copy->fixed);
    memcpy(copy->given, kernel->given, count * sizeof *copy->given);
    memcpy(copy->place, kernel->place, count * sizeof *copy->place);
    memcpy(copy->name_at, kernel->name_at, count * sizeof *copy->name_at);
    memcpy(copy->names, kernel->names, kernel->names_size);
    memcpy(copy->pairs, kernel->pairs, kernel->pair_count * sizeof *copy->pairs);
    memcpy(copy->row_of, kernel->row_of, kernel->pair_count * sizeof *copy->row_of);
    copy->names_size = kernel->names_size;
    copy->value_buffers = kernel->value_buffers;
    copy->adjoint_buffers = kernel->adjoint_buffers;
    copy->adjoint_levels = kernel->adjoint_levels;
    copy->sm_columns = kernel->sm_columns;
    *out = copy;
    return HF_OK;
}

/* ---- finishing a new kernel ------------------------------------------------------------------ */

/* Writes (or, with size 0, measures) the name of a parameter; its length without the final zero. */
static size_t write_name(const hf_kernel *kernel, size_t p, char *name, size_t size)
{
    const hfi_place *place = &kernel->place[p];
    const hfi_leaf *leaf = &kernel->leaves[place->leaf];
    char prefix[48] = "", index[64] = "";
    if (kernel->leaf_count > 1 && leaf->number > 0)
        (void)hfi_print(prefix, sizeof prefix, "%s%zu.", hfi_form_name(leaf->form), leaf->number);
    else if (kernel->leaf_count > 1)
        (void)hfi_print(prefix, sizeof prefix, "%s.", hfi_form_name(leaf->form));
    if (place->dimensions == 1) (void)hfi_print(index, sizeof index, "[%zu]", place->i);
    if (place->dimensions == 2) (void)hfi_print(index, sizeof index, "[%zu,%zu]", place->i, place->j);
    return (size_t)hfi_print(name, size, "%s%s%s", prefix, hfi_field_name(place->field), index);
}

static void refresh(hf_kernel *kernel)
{
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (kernel->leaves[l].form == HFI_FORM_COREGION) hfi_coregion_refresh(kernel, &kernel->leaves[l]);
}

static void order_outputs(hf_kernel *kernel)
{
    for (size_t l = 0; l < kernel->leaf_count; l++)
        for (size_t s = 0; s < kernel->leaves[l].outputs; s++)
            kernel->row_of[kernel->leaves[l].pairs_at + s] = s;
}

bool hfi_kernel_finish(hf_kernel *kernel)
{
    size_t bytes = 0;
    for (size_t p = 0; p < kernel->parameters; p++) {
        const hfi_range range =
            hfi_field_range(kernel->leaves[kernel->place[p].leaf].form, kernel->place[p].field);
        kernel->lower[p] = fmin(range.lower, kernel->value[p]);
        kernel->upper[p] = fmax(range.upper, kernel->value[p]);
        kernel->name_at[p] = bytes;
        bytes += write_name(kernel, p, NULL, 0) + 1;
    }
    kernel->names = hfi_memory_alloc(&kernel->memory, bytes, 1);
    if (!kernel->names) return false;
    kernel->names_size = bytes;
    for (size_t p = 0; p < kernel->parameters; p++)
        (void)write_name(kernel, p, kernel->names + kernel->name_at[p], bytes - kernel->name_at[p]);
    order_outputs(kernel);
    refresh(kernel);
    hfi_tile_plan(kernel);
    return true;
}

/* ---- what others ask ------------------------------------------------------------------------- */

size_t hf_kernel_dimension(const hf_kernel *kernel)
{
    return kernel ? kernel->d : 0;
}

size_t hf_kernel_parameters(const hf_kernel *kernel)
{
    return kernel ? kernel->parameters : 0;
}

const char *hf_kernel_expression(const hf_kernel *kernel)
{
    return kernel ? kernel->expression : "";
}

/* The input a parameter belongs to: one per column with ard and in sm, or the kernel's only column. */
static size_t parameter_column(const hf_kernel *kernel, const hfi_place *place)
{
    const hfi_leaf *leaf = &kernel->leaves[place->leaf];
    const size_t *columns = kernel->columns + leaf->column_at;
    const hf_unit unit = hfi_field_unit(leaf->form, place->field);
    const bool of_input =
        unit != HF_UNIT_OUTPUT2 && unit != HF_UNIT_OUTPUT && place->field != HFI_FIELD_ALPHA;
    if (!of_input) return SIZE_MAX;
    if (place->dimensions == 2) return columns[place->j];
    if (place->dimensions == 1) return columns[place->i];
    return leaf->columns == 1 ? columns[0] : SIZE_MAX;
}

hf_status hf_kernel_parameter(const hf_kernel *kernel, size_t i, hf_parameter *out)
{
    if (!kernel || !out || i >= kernel->parameters) return HF_ERR_ARGUMENT;
    const hfi_place *place = &kernel->place[i];
    *out = (hf_parameter){.name = kernel->names + kernel->name_at[i],
                          .value = kernel->value[i],
                          .lower = kernel->lower[i],
                          .upper = kernel->upper[i],
                          .fixed = kernel->fixed[i],
                          .unit = hfi_field_unit(kernel->leaves[place->leaf].form, place->field),
                          .column = parameter_column(kernel, place)};
    return HF_OK;
}

bool hfi_kernel_parameter_real(const hf_kernel *kernel, size_t i)
{
    return hfi_field_is_real(kernel->place[i].field);
}

bool hfi_kernel_parameter_given(const hf_kernel *kernel, size_t i)
{
    return kernel->given[i];
}

void hfi_kernel_give_parameter(hf_kernel *kernel, size_t i)
{
    kernel->given[i] = true;
}

size_t hfi_kernel_codes(const hf_kernel *kernel, bool *code)
{
    size_t count = 0;
    memset(code, 0, kernel->d * sizeof *code);
    for (size_t l = 0; l < kernel->leaf_count; l++) {
        const hfi_leaf *leaf = &kernel->leaves[l];
        for (size_t a = 0; leaf->form == HFI_FORM_CATEGORY && a < leaf->columns; a++)
            code[kernel->columns[leaf->column_at + a]] = true;
    }
    for (size_t j = 0; j < kernel->d; j++) count += code[j];
    return count;
}

bool hfi_kernel_has_planes(const hf_kernel *kernel)
{
    return hfi_kernel_any(kernel, hfi_form_is_plane);
}

bool hfi_kernel_has_codes(const hf_kernel *kernel)
{
    return hfi_kernel_has(kernel, HFI_FORM_CATEGORY);
}

bool hfi_kernel_is_of_codes(const hf_kernel *kernel, size_t i)
{
    const hfi_place *place = &kernel->place[i];
    return kernel->leaves[place->leaf].form == HFI_FORM_CATEGORY && place->field == HFI_FIELD_LENGTHSCALE;
}

static bool are_twins(const hf_kernel *kernel, const hfi_leaf *a, const hfi_leaf *b)
{
    if (a == b) return true;
    return a->form == b->form && a->ard == b->ard && a->columns == b->columns &&
           memcmp(kernel->columns + a->column_at, kernel->columns + b->column_at,
                  a->columns * sizeof *kernel->columns) == 0;
}

void hfi_kernel_twins(const hf_kernel *kernel, size_t i, size_t *before, size_t *all)
{
    const hfi_leaf *own = &kernel->leaves[kernel->place[i].leaf];
    *before = *all = 0;
    for (size_t l = 0; l < kernel->leaf_count; l++) {
        const hfi_leaf *other = &kernel->leaves[l];
        if (!are_twins(kernel, own, other)) continue;
        *all += 1;
        *before += other->first < own->first ? 1 : 0;
    }
}

bool hfi_kernel_is_period(const hf_kernel *kernel, size_t i, size_t *column, size_t *lengthscale)
{
    const hfi_place *place = &kernel->place[i];
    const hfi_leaf *leaf = &kernel->leaves[place->leaf];
    if (place->field != HFI_FIELD_PERIOD || leaf->columns == 0) return false;
    const size_t entry = leaf->ard ? place->i : 0;
    *column = kernel->columns[leaf->column_at + entry];
    *lengthscale = hfi_leaf_at(leaf, HFI_FIELD_LENGTHSCALE) + entry;
    return true;
}

hf_status hfi_kernel_set_parameter(hf_kernel *kernel, size_t i, double value, double lower, double upper,
                                   bool fixed)
{
    if (i >= kernel->parameters) return HF_ERR_ARGUMENT;
    const bool real = hfi_kernel_parameter_real(kernel, i);
    const double least = real ? -HFI_REAL_MOST : DBL_MIN, most = real ? HFI_REAL_MOST : DBL_MAX;
    const bool inside = lower >= least && lower <= value && value <= upper && upper <= most;
    if (!inside) return HF_ERR_ARGUMENT;
    kernel->value[i] = value;
    kernel->lower[i] = lower;
    kernel->upper[i] = upper;
    kernel->fixed[i] = fixed;
    hfi_coregion_refresh_after(kernel, i);
    return HF_OK;
}

hf_status hfi_kernel_hold_parameter(hf_kernel *kernel, size_t i, double value)
{
    return hfi_kernel_set_parameter(kernel, i, value, fmin(kernel->lower[i], value),
                                    fmax(kernel->upper[i], value), true);
}

/* ---- the training scale ---------------------------------------------------------------------- */

void hfi_kernel_theta(const hf_kernel *kernel, double *theta)
{
    for (size_t p = 0; p < kernel->parameters; p++)
        theta[p] = hfi_kernel_parameter_real(kernel, p) ? kernel->value[p] : log(kernel->value[p]);
}

bool hfi_kernel_on_bound(double value, double bound)
{
    return fabs(value - bound) <= 4.0 * DBL_EPSILON * (1.0 + fabs(log(bound))) * bound;
}

/* A value on its bound stays on it: exp(log(bound)) may lie beyond. */
static double into_box(const hf_kernel *kernel, size_t p, double value)
{
    const double lower = kernel->lower[p], upper = kernel->upper[p];
    if (value < lower && hfi_kernel_on_bound(value, lower)) return lower;
    return value > upper && hfi_kernel_on_bound(value, upper) ? upper : value;
}

void hfi_kernel_set_theta(hf_kernel *kernel, const double *theta)
{
    for (size_t p = 0; p < kernel->parameters; p++) {
        /* An optimiser may step far outside; the reciprocal of a lengthscale must stay finite. */
        const bool real = hfi_kernel_parameter_real(kernel, p);
        const double least = real ? -HFI_REAL_MOST : DBL_MIN, most = real ? HFI_REAL_MOST : DBL_MAX;
        double value = real ? theta[p] : exp(theta[p]);
        if (value < least) value = least;
        if (value > most) value = most;
        kernel->value[p] = real ? value : into_box(kernel, p, value);
    }
    refresh(kernel);
}

void hfi_kernel_theta_bounds(const hf_kernel *kernel, double *lower, double *upper)
{
    for (size_t p = 0; p < kernel->parameters; p++) {
        const bool real = hfi_kernel_parameter_real(kernel, p);
        lower[p] = real ? kernel->lower[p] : log(kernel->lower[p]);
        upper[p] = real ? kernel->upper[p] : log(kernel->upper[p]);
    }
}
