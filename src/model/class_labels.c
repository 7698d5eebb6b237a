/* SPDX-License-Identifier: Apache-2.0 */
/* From fields to classes. */
#include "model/class_model.h"

#include "data/number.h"
#include "data/text.h"
#include "sites/kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A label as it stands in a table. Computed numbers have no text. */
typedef struct label {
    const char *text; /* without the blanks around it, `length` bytes; NULL: write the number */
    size_t length;
    double number; /* NaN for text */
    size_t row;
} label;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* False where the field is missing. */
static bool read_label(const char *field, const char *buffer, size_t row, label *out)
{
    *out = (label){.number = NAN, .row = row};
    if (hfi_field_parse(field, &out->number) == HFI_FIELD_MISSING) return false;
    out->number += 0.0; /* no -0 */
    if (field == buffer) return true;
    while (is_blank(*field)) field++;
    out->text = field;
    out->length = strlen(field);
    while (out->length > 0 && is_blank(field[out->length - 1])) out->length--;
    return true;
}

/* Numbers by size, then text by its bytes. */
static int by_label(const void *a, const void *b)
{
    const label *left = a, *right = b;
    const bool is_number = !isnan(left->number), other = !isnan(right->number);
    if (is_number != other) return is_number ? -1 : 1;
    if (is_number || left->text == NULL || right->text == NULL)
        return (left->number > right->number) - (left->number < right->number);
    const size_t common = left->length < right->length ? left->length : right->length;
    const int order = memcmp(left->text, right->text, common);
    return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

static bool same_spelling(const label *a, const label *b)
{
    return a->text != NULL && b->text != NULL && a->length == b->length &&
           memcmp(a->text, b->text, a->length) == 0;
}

/* The labels of used rows that are there; how many. */
static size_t list_labels(const hf_table *table, size_t column, const bool *used, label *list)
{
    size_t count = 0;
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        char buffer[32];
        if (used == NULL || used[i])
            count += read_label(hf_table_field(table, i, column, buffer), buffer, i, &list[count]);
    }
    return count;
}

/* Leaves one of each class at the front, without text where it is written in several ways; class_of[k] is
 * that of entry k. */
static size_t keep_different(label *list, size_t count, size_t *class_of)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        const label now = list[k];
        if (kept == 0 || by_label(&list[kept - 1], &now) != 0)
            list[kept++] = now;
        else if (!same_spelling(&list[kept - 1], &now))
            list[kept - 1].text = NULL;
        class_of[k] = kept - 1;
    }
    return kept;
}

/* ---- the classes of a model --------------------------------------------------------------------------------- */

static char *name_of(const hf_model *model, const label *from)
{
    char buffer[32];
    if (from->text == NULL) return hfi_memory_strdup(&model->memory, hf_format_double(from->number, buffer));
    char *name = hfi_memory_alloc(&model->memory, from->length + 1, 1);
    if (name != NULL) memcpy(name, from->text, from->length);
    return name;
}

static hf_status check_count(hf_context *ctx, const hf_model *model, size_t classes, size_t rows)
{
    char target[HFI_SHOWN_BYTES];
    hfi_text_shown(model->target, target);
    if (classes == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: column \"%s\", the target, has no label in any usable row",
                        model->source, target);
    if (classes > HFI_MOST_CLASSES)
        return hfi_refuse(ctx,
                          "%s: column \"%s\" has %zu different labels in %zu rows, and at most %d can be "
                          "classes; is it a quantity? Then leave out the sites of labels",
                          model->source, target, classes, rows, HFI_MOST_CLASSES);
    return HF_OK;
}

static hf_status check_two(hf_context *ctx, const hf_model *model, size_t rows)
{
    char target[HFI_SHOWN_BYTES], only[HFI_SHOWN_BYTES], names[300];
    hfi_text_shown(model->target, target);
    if (model->classes == 1)
        return hfi_fail(ctx, HF_ERR_NO_DATA,
                        "%s: all %zu labels in column \"%s\" are \"%s\"; telling classes apart takes two",
                        model->source, rows, target, hfi_text_shown(model->class_name[0], only));
    if (model->classes == 2 || hfi_sites_kind_of(model->settings.sites)->every_class) return HF_OK;
    hfi_list_names(model->classes, model->class_name, sizeof names, names);
    return hfi_refuse(ctx,
                      "%s: column \"%s\" has %zu classes (%s), and %s sites are for two; use softmax sites",
                      model->source, target, model->classes, names,
                      hf_enum_name(HF_ENUM_LIKELIHOOD, model->settings.sites));
}

static hf_status name_classes(hf_context *ctx, hf_model *model, const label *list, size_t classes)
{
    if (HFI_ALLOC(ctx, HFI_ROOM(model->class_name, classes), HFI_ROOM(model->class_count, classes)) < 0)
        return HF_ERR_MEMORY;
    model->classes = classes;
    for (size_t c = 0; c < classes; c++) {
        model->class_name[c] = name_of(model, &list[c]);
        if (model->class_name[c] == NULL) return hfi_out_of_memory(ctx);
    }
    return HF_OK;
}

static hf_status note_single(hf_context *ctx, hf_model *model)
{
    char shown[HFI_SHOWN_BYTES];
    size_t single = 0, first = 0;
    for (size_t c = 0; c < model->classes; c++)
        if (model->class_count[c] == 1 && single++ == 0) first = c;
    if (single == 0) return HF_OK;
    hfi_text_shown(model->class_name[first], shown);
    if (single == 1)
        return hfi_model_note(ctx, model, "class \"%s\" has one row only, which says little about it", shown);
    return hfi_model_note(ctx, model, "%zu of %zu classes have one row only, \"%s\" first%s", single,
                          model->classes, shown,
                          2 * single > model->classes ? "; is the target a quantity?" : "");
}

/* The different labels of a column, in the rows that are used, become the model's classes; `number`: of each row its
 * class, NaN where missing or not used. */
static hf_status find_classes(hf_context *ctx, hf_model *model, const hf_table *table, size_t column,
                              const bool *used, double *number)
{
    const size_t rows = hf_table_rows(table);
    label *list = hfi_alloc(ctx, rows, sizeof *list);
    size_t *row = hfi_alloc(ctx, rows, 2 * sizeof *row);
    hf_status status = list != NULL && row != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        size_t *class_of = row + rows;
        const size_t count = list_labels(table, column, used, list);
        qsort(list, count, sizeof *list, by_label);
        for (size_t k = 0; k < count; k++) row[k] = list[k].row;
        const size_t classes = keep_different(list, count, class_of);
        status = check_count(ctx, model, classes, count);
        if (status >= 0) status = name_classes(ctx, model, list, classes);
        if (status >= 0) status = check_two(ctx, model, count);
        for (size_t i = 0; status >= 0 && i < rows; i++) number[i] = NAN;
        for (size_t k = 0; status >= 0 && k < count; k++) {
            number[row[k]] = (double)class_of[k];
            model->class_count[class_of[k]]++;
        }
        if (status >= 0) status = note_single(ctx, model);
    }
    HFI_FREE(ctx, list, row);
    return status;
}

hf_status hfi_class_find(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles,
                         hfi_sources *from)
{
    const size_t rows = hf_table_rows(table);
    size_t complete = 0;
    from->y[0] = from->label = hfi_alloc(ctx, rows, sizeof *from->label);
    bool *used = hfi_alloc(ctx, rows, sizeof *used);
    hf_status status = from->label != NULL && used != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < rows && status >= 0; i++) {
        used[i] = hfi_is_complete(from, roles->count, i);
        complete += used[i] ? 1 : 0;
    }
    /* A table without usable rows is told of where rows are copied. */
    if (status >= 0 && complete > 0)
        status = find_classes(ctx, model, table, roles->target, used, from->label);
    hfi_free(ctx, used);
    return status;
}

/* ---- labels of other tables ----------------------------------------------------------------------------------- */

hf_status hfi_class_numbers(hf_context *ctx, const hf_model *model, const hf_table *table, size_t column,
                            size_t *number)
{
    const size_t classes = model->classes;
    label *list = hfi_alloc(ctx, classes, sizeof *list);
    if (list == NULL) return HF_ERR_MEMORY;
    /* In the order of by_label(), as they were found. */
    for (size_t c = 0; c < classes; c++) read_label(model->class_name[c], NULL, c, &list[c]);
    hf_status status = HF_OK;
    for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++) {
        char buffer[32];
        label wanted;
        const char *field = hf_table_field(table, i, column, buffer);
        number[i] = SIZE_MAX;
        if (!read_label(field, buffer, i, &wanted)) continue;
        const label *found = bsearch(&wanted, list, classes, sizeof *list, by_label);
        if (found != NULL)
            number[i] = found->row;
        else
            status = hfi_unknown_name(ctx, table, i, column, "class", field, classes, model->class_name);
    }
    hfi_free(ctx, list);
    return status;
}

/* ---- a hint ----------------------------------------------------------------------------------------------------- */

hf_status hfi_class_hint(hf_context *ctx, const hf_table *table, size_t column, hf_status status)
{
    const size_t rows = hf_table_rows(table);
    if (status != HF_ERR_PARSE) return status;
    label *list = hfi_alloc(ctx, rows, sizeof *list);
    size_t *class_of = hfi_alloc(ctx, rows, sizeof *class_of), classes = 0, numbers = 0, count = 0;
    if (list != NULL && class_of != NULL) {
        count = list_labels(table, column, NULL, list);
        for (size_t k = 0; k < count; k++) numbers += isnan(list[k].number) ? 0 : 1;
        qsort(list, count, sizeof *list, by_label);
        classes = keep_different(list, count, class_of);
    }
    HFI_FREE(ctx, list, class_of);
    /* A column of numbers with a few other fields is damaged rather than labels. */
    if (classes < 2 || classes > HFI_MOST_CLASSES || 2 * numbers >= count) return status;
    char before[700];
    hfi_print(before, sizeof before, "%s", hf_context_message(ctx));
    return hfi_fail(ctx, status,
                    "%s. To predict which of its %zu labels a row has, use %s sites (--sites %s)", before,
                    classes, classes == 2 ? "probit" : "softmax", classes == 2 ? "probit" : "softmax");
}
