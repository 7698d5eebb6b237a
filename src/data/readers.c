/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields of a table to numbers, in whatever dress they come. Every column is decided by all of its
 * fields, first by itself; a column of fields that may be two numbers then by the other columns.
 */
#include "data/table_impl.h"

#include "data/manner.h"
#include "data/text.h"

#include <math.h>
#include <string.h>

/* ---- columns without a name -------------------------------------------------------------------------------- */

static bool is_empty(const hf_table *table, size_t field)
{
    for (size_t i = 0; i < table->rows; i++)
        if (*hfi_table_text(table, i, field) != '\0') return false;
    return true;
}

static hf_status leave_empty_out(hf_context *ctx, const hf_table *table, hfi_manner *manner)
{
    size_t empty = 0;
    for (size_t j = 0; j < table->stride; j++) {
        if (table->text[table->fields[j]] != '\0' || !is_empty(table, j)) continue;
        manner->worn[j].kind = HFI_COLUMN_EMPTY;
        empty++;
    }
    /* A table of nothing but such columns is an error of its header. */
    for (size_t j = 0; j < table->stride && empty == table->stride; j++)
        manner->worn[j].kind = HFI_COLUMN_TEXT;
    if (empty == 0 || empty == table->stride) return HF_OK;
    return hfi_manner_note(ctx, manner, "%zu empty column%s without a name left out", empty,
                           empty == 1 ? "" : "s");
}

hf_status hfi_manner_read(hf_context *ctx, hf_table *table)
{
    hfi_manner *manner = table->manner;
    if (manner->settled) return HF_OK;
    hf_status status = hfi_manner_columns(ctx, manner, table->stride);
    if (status >= 0) status = leave_empty_out(ctx, table, manner);
    if (status >= 0 && manner->row_names) manner->worn[0].kind = HFI_COLUMN_NAMES;
    return status < 0 ? status : hfi_manner_units(ctx, table);
}

/* ---- one column -------------------------------------------------------------------------------------------- */

/* Plain numbers, codes for missing values among them. */
static bool read_plain(hf_table *table, hfi_column *column, hfi_worn *worn, double *numbers)
{
    hfi_manner *manner = table->manner;
    size_t code;
    for (size_t i = 0; i < table->rows; i++) {
        const char *text = hfi_table_text(table, i, column->field);
        const hfi_field_kind kind = hfi_field_parse(text, &numbers[i]);
        if (manner->dialect.missing_count > 0 && kind != HFI_FIELD_MISSING &&
            hfi_manner_is_code(manner, text, &code)) {
            numbers[i] = NAN;
        } else if (kind == HFI_FIELD_TEXT) {
            column->first_text = i;
            return false;
        }
    }
    worn->kind = HFI_COLUMN_NUMBER;
    return true;
}

static bool read_truth(hf_table *table, hfi_column *column, hfi_worn *worn, double *numbers)
{
    size_t code;
    for (size_t i = 0; i < table->rows; i++) {
        const char *text = hfi_table_text(table, i, column->field);
        if (hfi_field_parse(text, &numbers[i]) == HFI_FIELD_MISSING) continue;
        if (hfi_truth_read(text, &numbers[i])) continue;
        if (!hfi_manner_is_code(table->manner, text, &code)) return false;
        numbers[i] = NAN;
    }
    worn->kind = HFI_COLUMN_DRESSED;
    worn->wears = HFI_WEARS_TRUTH;
    return true;
}

/* The number that a limit of detection stands for. */
static double of_limit(char limit, double value, hf_limits limits)
{
    return limit == '<' && limits == HF_LIMITS_HALF ? 0.5 * value : NAN;
}

/* The numbers of a column whose decimal mark is known; false if something other than one character separates
 * thousands. */
static bool read_marked(hf_table *table, const hfi_column *column, hfi_worn *worn, double *numbers)
{
    const hf_limits limits = table->manner->dialect.limits;
    hfi_dressed field;
    char group = 0;
    size_t code;
    for (size_t i = 0; i < table->rows; i++) {
        const char *text = hfi_table_text(table, i, column->field);
        const hfi_field_kind kind = hfi_field_parse(text, &numbers[i]);
        if (kind == HFI_FIELD_MISSING) continue;
        if (hfi_manner_is_code(table->manner, text, &code)) {
            numbers[i] = NAN;
            continue;
        }
        if (!hfi_dress_take(text, &field)) {
            if (kind == HFI_FIELD_NUMBER) continue; /* infinite, or longer than any dress */
            return false;
        }
        if (!(worn->mark == ',' ? field.as_comma : field.as_point)) return false;
        const char own = worn->mark == ',' ? field.comma_group : field.point_group;
        if (own != 0 && group != 0 && own != group) return false;
        if (own != 0) group = own;
        numbers[i] = hfi_dress_number(&field, worn->mark);
        if (field.limit != 0) numbers[i] = of_limit(field.limit, numbers[i], limits);
    }
    const hfi_dress_survey *s = &worn->survey;
    worn->kind = HFI_COLUMN_DRESSED;
    worn->wears = (worn->mark == ',' && s->commas + s->unsure > 0 ? HFI_WEARS_COMMA : 0U) |
                  (group != 0 ? HFI_WEARS_GROUPS : 0U) | (s->percents > 0 ? HFI_WEARS_PERCENT : 0U) |
                  (s->moneys > 0 ? HFI_WEARS_MONEY : 0U) | (s->limits > 0 ? HFI_WEARS_LIMITS : 0U);
    return true;
}

static void survey_column(const hf_table *table, size_t field, hfi_dress_survey *survey)
{
    size_t code;
    *survey = (hfi_dress_survey){0};
    for (size_t i = 0; i < table->rows && survey->odd == 0; i++) {
        const char *text = hfi_table_text(table, i, field);
        const bool sure = survey->unsure == 0;
        if (!hfi_manner_is_code(table->manner, text, &code)) hfi_dress_look(survey, text);
        if (sure && survey->unsure > 0) survey->first_unsure = i;
    }
}

/* The decimal mark that fields and dialect agree on; 0 when it is open, '?' when they disagree. */
static char mark_of(const hfi_dress_survey *survey, const hf_dialect *dialect)
{
    if (survey->commas > 0 && survey->points > 0) return '?';
    if (survey->commas > 0) return ',';
    if (survey->points > 0) return '.';
    if (survey->unsure == 0) return '.';
    return dialect->decimal == HF_DECIMAL_AUTO ? 0 : dialect->decimal == HF_DECIMAL_COMMA ? ',' : '.';
}

static bool read_dressed(hf_table *table, hfi_column *column, hfi_worn *worn, double *numbers)
{
    survey_column(table, column->field, &worn->survey);
    if (!hfi_dress_may_be(&worn->survey) || worn->survey.fields == 0) return false;
    const char mark = mark_of(&worn->survey, &table->manner->dialect);
    if (mark == '?') return false;
    if (mark == 0) {
        worn->kind = HFI_COLUMN_UNSURE;
        column->first_text = worn->survey.first_unsure;
        return false;
    }
    worn->mark = mark;
    return read_marked(table, column, worn, numbers);
}

/* The kinds of columns that have numbers, in the order in which they are tried. */
typedef bool (*column_reader)(hf_table *table, hfi_column *column, hfi_worn *worn, double *numbers);
static const column_reader readers[] = {read_plain, read_truth, read_dressed};

/* A column of a part of a table is read as the whole one was; text may have become plain numbers. */
static bool read_as_decided(hf_table *table, hfi_column *column, hfi_worn *worn, double *numbers)
{
    if (worn->kind != HFI_COLUMN_DRESSED)
        return worn->kind != HFI_COLUMN_UNSURE && read_plain(table, column, worn, numbers);
    return (worn->wears & HFI_WEARS_TRUTH) != 0 ? read_truth(table, column, worn, numbers)
                                                : read_marked(table, column, worn, numbers);
}

static hf_status read_column(hf_context *ctx, hf_table *table, hfi_column *column)
{
    hfi_manner *manner = table->manner;
    hfi_worn *worn = &manner->worn[column->field];
    double *numbers = hfi_alloc_unset(ctx, table->rows, sizeof *numbers);
    if (numbers == NULL) return HF_ERR_MEMORY;
    const hfi_column_kind before = worn->kind;
    bool read = manner->settled && read_as_decided(table, column, worn, numbers);
    for (size_t k = 0; k < sizeof readers / sizeof readers[0] && !read && !manner->settled; k++)
        read = readers[k](table, column, worn, numbers);
    if (before == HFI_COLUMN_NAMES) worn->kind = HFI_COLUMN_NAMES;
    hfi_dress_words(worn->wears, worn->words);
    if (read)
        column->numbers = numbers;
    else
        hfi_free(ctx, numbers);
    return HF_OK;
}

/* ---- columns by the others --------------------------------------------------------------------------------- */

static bool has_numbers_of_its_own(const hfi_worn *worn)
{
    return worn->kind == HFI_COLUMN_NUMBER || worn->kind == HFI_COLUMN_DRESSED;
}

/* Which marks the columns prove that are not in question. */
static void proven_marks(hf_table *table, bool *comma, bool *point)
{
    *comma = *point = false;
    for (size_t j = 0; j < table->columns; j++) {
        hfi_worn *worn = &table->manner->worn[table->column[j].field];
        if (!has_numbers_of_its_own(worn)) continue;
        if (worn->kind == HFI_COLUMN_NUMBER) survey_column(table, table->column[j].field, &worn->survey);
        *comma = *comma || worn->survey.commas > 0;
        *point = *point || worn->survey.points > 0;
    }
}

static bool any_question(const hf_table *table)
{
    for (size_t j = 0; j < table->columns; j++) {
        const hfi_worn *worn = &table->manner->worn[table->column[j].field];
        if (worn->kind == HFI_COLUMN_UNSURE || (worn->wears & HFI_WEARS_COMMA) != 0) return true;
    }
    return table->manner->dialect.decimal == HF_DECIMAL_COMMA && !table->manner->dialect.remembered;
}

static hf_status read_decided_column(hf_context *ctx, hf_table *table, hfi_column *column, hfi_worn *worn,
                                     char mark)
{
    double *numbers = hfi_alloc_unset(ctx, table->rows, sizeof *numbers);
    if (numbers == NULL) return HF_ERR_MEMORY;
    worn->mark = mark;
    if (!read_marked(table, column, worn, numbers)) {
        worn->kind = HFI_COLUMN_TEXT;
        hfi_free(ctx, numbers);
        return HF_OK;
    }
    hfi_dress_words(worn->wears, worn->words);
    hfi_free(ctx, column->numbers);
    column->numbers = numbers;
    return HF_OK;
}

/* In a file of decimal commas 1.234 may be a thousand, unless a field of its column says that it is none. */
static hf_status doubt_points(hf_context *ctx, hf_table *table, hfi_column *column, hfi_worn *worn)
{
    if (worn->kind != HFI_COLUMN_NUMBER || worn->survey.unsure == 0 || worn->survey.points > 0) return HF_OK;
    if (table->manner->dialect.decimal == HF_DECIMAL_COMMA && !table->manner->dialect.remembered)
        return read_decided_column(ctx, table, column, worn, ',');
    if (table->manner->dialect.decimal == HF_DECIMAL_POINT) return HF_OK;
    worn->kind = HFI_COLUMN_UNSURE;
    hfi_free(ctx, column->numbers);
    column->numbers = NULL;
    column->first_text = 0;
    while (strpbrk(hfi_table_text(table, column->first_text, column->field), ".") == NULL)
        column->first_text++;
    return HF_OK;
}

/* A column of 1.234 may have come from elsewhere: decimal commas of the others say nothing of it, plain or not. */
static bool has_unsure_points(const hfi_worn *worn)
{
    return worn->survey.unsure > worn->survey.unsure_commas;
}

/* In a file without decimal commas <2 beside 1.234 leaves the point the decimal mark, as in a plain column. */
static bool points_stay(const hfi_worn *worn, bool comma)
{
    return !comma && worn->survey.unsure_commas == 0;
}

static hf_status decide_by_other_columns(hf_context *ctx, hf_table *table)
{
    bool comma, point;
    hf_status status = HF_OK;
    if (!any_question(table)) return HF_OK;
    proven_marks(table, &comma, &point);
    const bool asked =
        table->manner->dialect.decimal == HF_DECIMAL_COMMA && !table->manner->dialect.remembered;
    for (size_t j = 0; j < table->columns && status >= 0; j++) {
        hfi_column *column = &table->column[j];
        hfi_worn *worn = &table->manner->worn[column->field];
        if (worn->kind == HFI_COLUMN_UNSURE && comma != point && table->manner->separator != ',' &&
            !(comma && has_unsure_points(worn)))
            status = read_decided_column(ctx, table, column, worn, comma ? ',' : '.');
        else if (worn->kind == HFI_COLUMN_UNSURE && points_stay(worn, comma))
            status = read_decided_column(ctx, table, column, worn, '.');
        else if ((comma && !point) || asked)
            status = doubt_points(ctx, table, column, worn);
    }
    if (comma && !point && table->manner->dialect.decimal == HF_DECIMAL_AUTO)
        table->manner->learnt.decimal = HF_DECIMAL_COMMA;
    return status;
}

hf_status hfi_manner_numbers(hf_context *ctx, hf_table *table)
{
    hfi_manner *manner = table->manner;
    hf_status status = HF_OK;
    for (size_t j = 0; j < table->columns && status >= 0; j++) {
        if (!hfi_progress(ctx, "read", (double)j / (double)table->columns, NAN)) return hfi_cancelled(ctx);
        status = read_column(ctx, table, &table->column[j]);
    }
    if (status >= 0 && !manner->settled) status = decide_by_other_columns(ctx, table);
    return status < 0 || manner->settled ? status : hfi_manner_remarks(ctx, table, manner);
}

/* ---- answers ----------------------------------------------------------------------------------------------- */

void hfi_table_count_numbers(const hf_table *table, size_t column, size_t *numbers, size_t *texts)
{
    char buffer[32];
    hfi_dressed dressed;
    *numbers = *texts = 0;
    for (size_t i = 0; i < table->rows; i++) {
        double value;
        const char *text = hf_table_field(table, i, column, buffer);
        const hfi_field_kind kind = hfi_field_parse(text, &value);
        const bool number = kind == HFI_FIELD_NUMBER || (table->manner != NULL && kind == HFI_FIELD_TEXT &&
                                                         hfi_dress_take(text, &dressed));
        *numbers += number;
        *texts += !number && kind == HFI_FIELD_TEXT;
    }
}

const char *hf_table_read_as(const hf_table *table, size_t column)
{
    if (table == NULL || column >= table->columns) return NULL;
    const hfi_column *of = &table->column[column];
    if (table->manner == NULL || of->field == SIZE_MAX) return of->numbers != NULL ? "number" : "text";
    const hfi_worn *worn = &table->manner->worn[of->field];
    if (worn->kind == HFI_COLUMN_NAMES) return "name of the row";
    if (worn->kind == HFI_COLUMN_UNSURE) return "unsure";
    return of->numbers != NULL ? worn->words : "text";
}

size_t hf_table_notes(const hf_table *table)
{
    return table != NULL && table->manner != NULL ? table->manner->notes : 0;
}

const char *hf_table_note(const hf_table *table, size_t i)
{
    return i < hf_table_notes(table) ? table->manner->note[i] : NULL;
}

const hf_dialect *hf_table_dialect(const hf_table *table)
{
    return table != NULL && table->manner != NULL ? &table->manner->learnt : NULL;
}
