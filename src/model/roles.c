/* SPDX-License-Identifier: Apache-2.0 */
/* Which columns of a table are targets, inputs, noise and output. */
#include "model/inputs.h"

#include "data/manner.h"
#include "data/number.h"
#include "data/text.h"

#include <stdio.h>
#include <string.h>

/* Claims on columns, so that none is claimed twice. */
typedef enum claim {
    FREE = 0,
    TARGET,
    NOISE,
    MEAN,
    OUTPUT,
    FEATURE,
    DROPPED
} claim;

static const char *claim_text(claim what)
{
    static const char *const texts[] = {
        "free",     "the target",      "the noise column", "the mean column", "the output column",
        "an input", "a dropped column"};
    return texts[what];
}

static hf_status claim_named_column(hf_context *ctx, const hf_table *table, const char *name, claim what,
                                    claim *claims, size_t *column)
{
    char shown[HFI_SHOWN_BYTES];
    hf_status status = hf_table_find(ctx, table, name, column);
    if (status < 0) return status;
    if (claims[*column] == what)
        return hfi_refuse(ctx, "%s: column \"%s\" is named twice as %s", hf_table_source(table),
                          hfi_text_shown(name, shown), claim_text(what));
    if (claims[*column] != FREE)
        return hfi_refuse(ctx, "%s: column \"%s\" cannot be %s and %s at once; choose one",
                          hf_table_source(table), hfi_text_shown(name, shown), claim_text(claims[*column]),
                          claim_text(what));
    claims[*column] = what;
    return HF_OK;
}

static hf_status take_all(hf_context *ctx, const hf_table *table, const char *const *names, size_t count,
                          claim what, claim *claims, size_t *columns)
{
    hf_status status = HF_OK;
    size_t ignored;
    for (size_t i = 0; i < count && status >= 0; i++) {
        if (names == NULL || names[i] == NULL)
            return hfi_refuse(ctx, "column name %zu of %s is NULL", i, claim_text(what));
        status =
            claim_named_column(ctx, table, names[i], what, claims, columns != NULL ? &columns[i] : &ignored);
    }
    return status;
}

/* A column that is text because of a few fields is a damaged column of numbers. Leaving it out silently would
 * cost the user an input: half numbers or more, and it is an error. */
static bool is_damaged_numbers(const hf_table *table, size_t column)
{
    size_t numbers, texts;
    hfi_table_count_numbers(table, column, &numbers, &texts);
    return hfi_table_kind(table, column) == HFI_COLUMN_UNSURE || (texts > 0 && numbers >= texts);
}

/* "a", "b" and 3 more: for the remark on columns left out. */
static void add_to_list(char *list, size_t bytes, size_t count, const char *name)
{
    char shown[HFI_SHOWN_BYTES];
    size_t used = strlen(list);
    if (used + HFI_SHOWN_BYTES + 8 < bytes)
        hfi_print(list + used, bytes - used, "%s\"%s\"", count > 0 ? ", " : "", hfi_text_shown(name, shown));
    else if (used > 3 && strcmp(list + used - 3, "...") != 0)
        hfi_print(list + used, bytes - used, ", ...");
}

/* A column that nobody named: as an input if it can be one; *taken is false for a column of text. */
static hf_status take_default(hf_context *ctx, hf_model *model, const hf_table *table, size_t j,
                              hfi_roles *roles, bool *taken)
{
    *taken = true;
    if (hf_table_is_numeric(table, j)) return hfi_roles_add(ctx, model, roles, j, NULL);
    if (is_damaged_numbers(table, j)) {
        const double *numbers;
        const hf_status wrong = hf_table_numbers(ctx, table, j, &numbers);
        return hfi_fail(ctx, wrong < 0 ? wrong : HF_ERR_PARSE, "%s (or drop the column from the inputs)",
                        hf_context_message(ctx));
    }
    *taken = false;
    return roles->text ? hfi_roles_take_text(ctx, model, table, j, roles->dates, false, roles, taken) : HF_OK;
}

static hf_status default_features(hf_context *ctx, hf_model *model, const hf_table *table, claim *claims,
                                  hfi_roles *roles)
{
    char left_out[400] = "", predicted[400] = "";
    size_t texts = 0, predictions = 0;
    hf_status status = HF_OK;
    for (size_t j = 0; j < hf_table_columns(table) && status >= 0; j++) {
        bool taken = true;
        if (claims[j] != FREE || hfi_table_kind(table, j) == HFI_COLUMN_NAMES) continue;
        if (hfi_is_predicted(table, roles, hf_table_name(table, j)))
            add_to_list(predicted, sizeof predicted, predictions++, hf_table_name(table, j));
        else
            status = take_default(ctx, model, table, j, roles, &taken);
        if (!taken) add_to_list(left_out, sizeof left_out, texts++, hf_table_name(table, j));
    }
    if (status < 0) return status;
    if (roles->count == 0)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: no numeric column is left to be an input%s%s",
                        hf_table_source(table), texts > 0 ? "; these are text: " : "", left_out);
    if (predictions > 0)
        status = hfi_model_note(ctx, model,
                                "%s: %zu column%s of predictions of the target left out of the inputs: %s",
                                hf_table_source(table), predictions, predictions == 1 ? "" : "s", predicted);
    if (status < 0 || texts == 0) return status;
    return hfi_model_note(ctx, model, "%s: %zu text column%s left out of the inputs: %s",
                          hf_table_source(table), texts, texts == 1 ? "" : "s", left_out);
}

/* The target, or the targets of a wide table; the output column of a long one. */
static hf_status take_targets(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                              claim *claims, hfi_roles *roles)
{
    const size_t count = columns->target_count;
    hf_status status;
    if (count > 1) {
        roles->targets = count;
        roles->wide = hfi_alloc(ctx, count, sizeof *roles->wide);
        if (roles->wide == NULL) return HF_ERR_MEMORY;
        status = take_all(ctx, table, columns->targets, count, TARGET, claims, roles->wide);
        roles->target = roles->wide[0];
    } else {
        status = claim_named_column(ctx, table, count == 1 ? columns->targets[0] : columns->target, TARGET,
                                    claims, &roles->target);
    }
    if (status >= 0 && columns->output_column != NULL)
        status = claim_named_column(ctx, table, columns->output_column, OUTPUT, claims, &roles->output);
    if (status >= 0 && columns->noise != NULL)
        status = claim_named_column(ctx, table, columns->noise, NOISE, claims, &roles->noise);
    const char *prior = columns->mean != NULL ? columns->mean : columns->exposure;
    if (status >= 0 && prior != NULL)
        status = claim_named_column(ctx, table, prior, MEAN, claims, &roles->mean);
    roles->exposure = prior != NULL && columns->mean == NULL;
    return status;
}

/* The inputs that the user named. */
static hf_status take_named(hf_context *ctx, hf_model *model, const hf_table *table,
                            const hf_columns *columns, claim *claims, hfi_roles *roles)
{
    const size_t count = columns->feature_count;
    size_t *named = hfi_alloc(ctx, count, sizeof *named);
    if (named == NULL) return HF_ERR_MEMORY;
    hf_status status = take_all(ctx, table, columns->features, count, FEATURE, claims, named);
    for (size_t k = 0; k < count && status >= 0; k++) {
        bool taken;
        if (roles->text && !hf_table_is_numeric(table, named[k]) && !is_damaged_numbers(table, named[k]))
            status = hfi_roles_take_text(ctx, model, table, named[k], roles->dates, true, roles, &taken);
        else
            status = hfi_roles_add(ctx, model, roles, named[k], NULL);
    }
    hfi_free(ctx, named);
    return status;
}

static hf_status assign(hf_context *ctx, hf_model *model, const hf_table *table, const hf_columns *columns,
                        claim *claims, hfi_roles *roles)
{
    hf_status status = take_targets(ctx, table, columns, claims, roles);
    if (status < 0) return status;
    if (columns->feature_count == 0) {
        status = take_all(ctx, table, columns->drop, columns->drop_count, DROPPED, claims, NULL);
        return status < 0 ? status : default_features(ctx, model, table, claims, roles);
    }
    status = take_named(ctx, model, table, columns, claims, roles);
    /* Naming a column both as input and as dropped is a contradiction, which claim_named_column() reports. */
    return status < 0 ? status
                      : take_all(ctx, table, columns->drop, columns->drop_count, DROPPED, claims, NULL);
}

char *hfi_model_free_name(hf_context *ctx, const hf_model *model, const char *base)
{
    size_t length = strlen(base);
    /* One of d + 1 different names is free. */
    char *name = hfi_alloc(ctx, length + model->d + 1, 1);
    if (name == NULL) return NULL;
    memcpy(name, base, length);
    for (size_t j = 0; j < model->d;) {
        const bool taken = strcmp(model->feature[j], name) == 0;
        if (taken) name[length++] = '_';
        j = taken ? 0 : j + 1;
    }
    return name;
}

/* Names the number of the output, as kernel expressions know it. */
static hf_status name_number(hf_context *ctx, hf_model *model)
{
    char *name = model->output_column == NULL ? hfi_model_free_name(ctx, model, "output")
                                              : hfi_memory_strdup(&model->memory, model->output_column);
    model->feature[model->d] = name;
    return name != NULL ? HF_OK : hfi_out_of_memory(ctx);
}

static hf_status name_outputs(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles)
{
    if (roles->output != SIZE_MAX) {
        model->output_column = hfi_memory_strdup(&model->memory, hf_table_name(table, roles->output));
        if (model->output_column == NULL) return hfi_out_of_memory(ctx);
        return hfi_model_find_outputs(ctx, model, table, roles->output);
    }
    if (roles->targets == 1) return HF_OK;
    const char **names = hfi_alloc(ctx, roles->targets, sizeof *names);
    if (names == NULL) return HF_ERR_MEMORY;
    for (size_t t = 0; t < roles->targets; t++) names[t] = hf_table_name(table, roles->wide[t]);
    const hf_status status = hfi_model_name_outputs(ctx, model, roles->targets, names);
    hfi_free(ctx, names);
    return status;
}

static hf_status name_optional(hf_context *ctx, hf_model *model, const hf_table *table, size_t column,
                               char **name)
{
    if (column == SIZE_MAX) return HF_OK;
    *name = hfi_memory_strdup(&model->memory, hf_table_name(table, column));
    return *name != NULL ? HF_OK : hfi_out_of_memory(ctx);
}

/* Its column, or "column=value" of a category. */
static char *name_of_input(const hfi_memory *memory, const struct hfi_input *in, const char *column)
{
    if (in->kind != HFI_INPUT_CATEGORY) return hfi_memory_strdup(memory, column);
    const size_t bytes = strlen(column) + strlen(in->value) + 2;
    char *name = hfi_memory_alloc(memory, bytes, 1);
    if (name != NULL) hfi_print(name, bytes, "%s=%s", column, in->value);
    return name;
}

/* A column that is called as a category of another would be mistaken for it. */
static hf_status check_names(hf_context *ctx, const hf_model *model)
{
    char shown[HFI_SHOWN_BYTES];
    for (size_t j = 0; j < model->d; j++)
        for (size_t k = 0; k < model->d && model->input[j].kind == HFI_INPUT_CATEGORY; k++)
            if (k != j && strcmp(model->feature[j], model->feature[k]) == 0)
                return hfi_refuse(ctx, "%s: two inputs would be called \"%s\"; rename a column",
                                  model->source, hfi_text_shown(model->feature[j], shown));
    return HF_OK;
}

/* Without dates and categories there is nothing to remember. */
static void forget_plain_inputs(hf_model *model)
{
    for (size_t j = 0; j < model->inputs; j++)
        if (model->input[j].kind != HFI_INPUT_NUMBER) return;
    hfi_inputs_free(&model->memory, model->input, model->inputs);
    model->input = NULL;
    model->inputs = 0;
}

static hf_status give_names(hf_context *ctx, hf_model *model, const hf_table *table, const hfi_roles *roles)
{
    const hfi_memory *memory = &model->memory;
    model->source = hfi_memory_strdup(memory, hf_table_source(table));
    model->target = hfi_memory_strdup(memory, hf_table_name(table, roles->target));
    if (model->source == NULL || model->target == NULL) return hfi_out_of_memory(ctx);
    hf_status status = name_optional(ctx, model, table, roles->noise, &model->noise_column);
    if (status >= 0) status = name_optional(ctx, model, table, roles->mean, &model->mean_column);
    if (status >= 0) status = name_outputs(ctx, model, table, roles);
    if (status < 0) return status;
    const size_t width = hfi_model_width(model, roles->count);
    model->feature = hfi_alloc(ctx, width, sizeof *model->feature);
    if (model->feature == NULL) return HF_ERR_MEMORY;
    model->d = roles->count;
    model->width = width;
    for (size_t j = 0; j < roles->count; j++) {
        model->feature[j] = name_of_input(memory, &model->input[j], hf_table_name(table, roles->feature[j]));
        if (model->feature[j] == NULL) return hfi_out_of_memory(ctx);
    }
    status = check_names(ctx, model);
    if (status < 0) return status;
    forget_plain_inputs(model);
    return width > model->d ? name_number(ctx, model) : HF_OK;
}

/* Refuses what contradicts itself whatever the table is. */
static hf_status check_columns_agree(hf_context *ctx, const hf_columns *columns)
{
    const size_t count = columns->target_count;
    if (count > 0 && columns->targets == NULL)
        return hfi_refuse(ctx, "columns->targets is NULL, but has %zu names", count);
    if (count > 0 && columns->target != NULL)
        return hfi_refuse(ctx, "columns->target and columns->targets exclude each other");
    if (count == 1 && columns->targets[0] == NULL) return hfi_refuse(ctx, "columns->targets[0] is NULL");
    if (count > 1 && columns->output_column != NULL)
        return hfi_refuse(
            ctx,
            "an output column goes with one target, of which each row has a reading; there are %zu targets",
            count);
    if (count > 1 && columns->noise != NULL)
        return hfi_refuse(ctx, "a noise column goes with one target; put the readings of several outputs in "
                               "rows of their own, with an output column");
    return HF_OK;
}

void hfi_roles_free(hf_context *ctx, hfi_roles *roles)
{
    HFI_FREE(ctx, roles->feature, roles->wide);
    roles->feature = roles->wide = NULL;
}

hf_status hfi_model_roles(hf_context *ctx, hf_model *model, const hf_table *table, const hf_columns *columns,
                          hfi_roles *roles)
{
    *roles = (hfi_roles){.targets = 1, .noise = SIZE_MAX, .mean = SIZE_MAX, .output = SIZE_MAX};
    hf_status status = check_columns_agree(ctx, columns);
    if (status < 0) return status;
    roles->text = columns->text_inputs;
    claim *claims = hfi_alloc(ctx, hf_table_columns(table), sizeof *claims);
    if (claims == NULL) return HF_ERR_MEMORY;
    const hf_dialect plain = {.size = sizeof plain, .decimal = HF_DECIMAL_AUTO},
                     *learnt = hf_table_dialect(table);
    const hf_dialect *dialect = learnt != NULL ? learnt : &plain;
    roles->dates = dialect->dates;
    status = assign(ctx, model, table, columns, claims, roles);
    if (status >= 0) status = hfi_model_keep_dialect(ctx, model, dialect);
    if (status >= 0) status = give_names(ctx, model, table, roles);
    hfi_free(ctx, claims);
    if (status < 0) hfi_roles_free(ctx, roles);
    return status;
}
