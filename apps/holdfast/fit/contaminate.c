/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast contaminate */
#include "shell/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_option options[] = {
    {"target", 't', "COLUMN", "column to damage (required)", false},
    {"kind", 0, "KIND",
     "uniform: up or down by 3 to 9 sd; asymmetric: down by as much;\nfocused: rows moved together "
     "(required)",
     false},
    {"share", 0, "P", "share of the rows to damage (default 0.1)", false},
    {"output", 'o', "OUT.csv", "file to write (default: standard output)", TOOL_WRITES},
    DIALECT_OPTIONS,
    {"mask", 0, "MASK.csv", "write which rows were damaged: row, damaged", TOOL_WRITES},
};

/* The table's numbers as one matrix, and back. */
typedef struct table_damage {
    hf_context *ctx;
    hf_table *table;
    size_t n, d, target;
    size_t *column; /* d columns that are inputs */
    double *x, *y;
    bool *mask;
} table_damage;

static void damage_free(table_damage *work)
{
    TOOL_FREE(work->column, work->x, work->y, work->mask);
}

static hf_status find_columns(table_damage *work, const char *target)
{
    hf_status status = hf_table_find(work->ctx, work->table, target, &work->target);
    if (status == HF_ERR_NO_COLUMN && strchr(target, ',') != NULL)
        complain("--target names one column; damage several one after the other");
    if (status < 0) return status;
    size_t columns = hf_table_columns(work->table);
    work->n = hf_table_rows(work->table);
    work->column = calloc(columns + 1, sizeof *work->column);
    if (work->column == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < columns; j++)
        if (j != work->target && hf_table_is_numeric(work->table, j)) work->column[work->d++] = j;
    work->x = calloc(work->n * work->d + 1, sizeof *work->x);
    work->y = calloc(work->n + 1, sizeof *work->y);
    work->mask = calloc(work->n + 1, sizeof *work->mask);
    return work->x == NULL || work->y == NULL || work->mask == NULL ? HF_ERR_MEMORY : HF_OK;
}

static hf_status load_numbers(table_damage *work)
{
    const double *numbers;
    hf_status status = hf_table_numbers(work->ctx, work->table, work->target, &numbers);
    if (status < 0) return status;
    for (size_t i = 0; i < work->n; i++) work->y[i] = numbers[i];
    for (size_t j = 0; j < work->d; j++) {
        status = hf_table_numbers(work->ctx, work->table, work->column[j], &numbers);
        if (status < 0) return status;
        for (size_t i = 0; i < work->n; i++) work->x[i * work->d + j] = numbers[i];
    }
    return HF_OK;
}

static hf_status store_numbers(table_damage *work, bool inputs)
{
    hf_status status =
        hf_table_set_numbers(work->ctx, work->table, hf_table_name(work->table, work->target), work->y);
    for (size_t j = 0; j < work->d && inputs && status >= 0; j++)
        status = table_set(work->ctx, work->table, hf_table_name(work->table, work->column[j]), work->x + j,
                           work->d);
    return status;
}

static hf_status write_mask(const table_damage *work, const char *path)
{
    static const char *const names[] = {"row", "damaged", NULL};
    double *numbers = calloc(2 * work->n + 1, sizeof *numbers);
    if (numbers == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < work->n; i++) {
        numbers[i] = (double)i + 1;
        numbers[work->n + i] = work->mask[i] ? 1 : 0;
    }
    const hf_status status = write_columns(work->ctx, path, work->n, names, numbers);
    free(numbers);
    return status;
}

static json_t *json_summary(const table_damage *work, hf_contamination kind, const char *output)
{
    json_int_t damaged = 0;
    for (size_t i = 0; i < work->n; i++) damaged += work->mask[i] ? 1 : 0;
    return JSON_OF({"output", json_text(output)},
                   {"kind", json_string(hf_enum_name(HF_ENUM_CONTAMINATION, kind))},
                   {"rows", json_count(work->n)}, {"damaged", json_integer(damaged)},
                   {"seed", json_count(hf_context_seed(work->ctx))});
}

/* Both files or none. */
static hf_status write_both(const table_damage *work, const char *output, const char *mask)
{
    bool new_mask = mask != NULL && access(mask, F_OK) != 0;
    hf_status status = mask != NULL ? write_mask(work, mask) : HF_OK;
    if (status < 0) return status;
    status = hf_table_write_csv(work->ctx, work->table, output);
    if (status < 0 && new_mask) unlink(mask);
    return status;
}

static hf_status check_usage(tool_session *session, const char *output, double *share)
{
    const tool_arguments *arguments = session->arguments;
    if (argument(arguments, "target") == NULL)
        return session_misuse(session, "--target is missing: name the column to damage");
    if (argument(arguments, "kind") == NULL)
        return session_misuse(session, "--kind is missing: uniform, asymmetric or focused");
    if (!argument_double(arguments, "share", share)) return session_told(session);
    if (!(*share >= 0 && *share <= 1))
        return session_misuse(session, "--share: %g is not between 0 and 1", *share);
    return session_check_output(session, output);
}

static hf_status contaminate(tool_session *session)
{
    const tool_arguments *arguments = session->arguments;
    const char *output = output_of(arguments);
    double share = 0.1;
    hf_contamination kind;
    hf_status status = check_usage(session, output, &share);
    if (status < 0) return status;
    status = session_wrong_word(
        session, "kind",
        hf_enum_parse(session->ctx, HF_ENUM_CONTAMINATION, argument(arguments, "kind"), &kind));
    if (status < 0) return status;
    table_damage work = {.ctx = session->ctx};
    status = read_table(session, arguments->operand[0], NULL, &work.table);
    if (status >= 0) status = find_columns(&work, argument(arguments, "target"));
    if (status >= 0) status = load_numbers(&work);
    if (status >= 0)
        status = hf_contaminate(session->ctx, kind, share, hf_context_seed(session->ctx), work.n, work.d,
                                work.x, work.d, work.y, work.mask);
    if (status >= 0) status = store_numbers(&work, kind == HF_CONTAMINATION_FOCUSED);
    progress_clear(session->progress);
    if (status >= 0) status = write_both(&work, output, argument(arguments, "mask"));
    if (status >= 0 && session->json) session_print(session, json_summary(&work, kind, output));
    hf_table_free(work.table);
    damage_free(&work);
    return status;
}

const tool_verb verb_contaminate = {
    .name = "contaminate",
    .operands = "IN.csv --target COLUMN --kind KIND [OPTION]...",
    .summary = "Damage readings on purpose, to see what a model makes of it",
    .text = "The protocols of the robust regression literature, in units of the standard deviation of the "
            "target.\n"
            "The same seed damages the same rows on every machine.",
    .example = "  holdfast contaminate data/boston.csv --target medv --kind asymmetric --share 0.1 --seed 1 "
               "-o bad.csv",
    TOOL_OPTIONS(options),
    TOOL_WORK(1, 1, contaminate),
};
