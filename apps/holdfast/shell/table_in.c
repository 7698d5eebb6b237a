/* SPDX-License-Identifier: Apache-2.0 */
/* Tables that a verb reads: options on how, and what was understood. */
#include "shell/tool.h"

#include <stdlib.h>

const char *const dialect_options[] = {"decimal", "dates", "header", "limits", "missing"};
const size_t dialect_option_count = sizeof dialect_options / sizeof dialect_options[0];

/* An option with a name of an enum; TOOL_OK if it was not given. */
static int take_choice(const tool_session *session, const char *option, hf_enum of, unsigned *value)
{
    const char *text = argument(session->arguments, option);
    if (text == NULL || hf_enum_parse(session->ctx, of, text, value) >= 0) return TOOL_OK;
    return usage_error(session->arguments->verb, "--%s: %s", option, hf_context_message(session->ctx));
}

/* Options take the place of what a model remembers. `codes` is to be freed. */
static int take_dialect(const tool_session *session, hf_dialect *dialect, tool_names *codes)
{
    unsigned decimal = dialect->decimal, dates = dialect->dates, header = dialect->header,
             limits = dialect->limits;
    *codes = (tool_names){0};
    const struct {
        const char *option;
        hf_enum of;
        unsigned *value;
    } choices[] = {{"decimal", HF_ENUM_DECIMAL, &decimal},
                   {"dates", HF_ENUM_DATE_ORDER, &dates},
                   {"header", HF_ENUM_HEADER, &header},
                   {"limits", HF_ENUM_LIMITS, &limits}};
    for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++) {
        const int status = take_choice(session, choices[k].option, choices[k].of, choices[k].value);
        if (status != TOOL_OK) return status;
    }
    if (has_argument(session->arguments, "decimal")) dialect->remembered = false;
    dialect->decimal = (hf_decimal)decimal;
    dialect->dates = (hf_date_order)dates;
    dialect->header = (hf_header)header;
    dialect->limits = (hf_limits)limits;
    if (!has_argument(session->arguments, "missing")) return TOOL_OK;
    if (!argument_names(session->arguments, "missing", codes)) return TOOL_USAGE;
    dialect->missing = codes->list;
    dialect->missing_count = codes->count;
    return TOOL_OK;
}

hf_status read_table(tool_session *session, const char *path, const hf_model *model, hf_table **out)
{
    tool_names codes;
    hf_dialect dialect = model != NULL ? *hf_model_dialect(model) : hf_dialect_default();
    if (take_dialect(session, &dialect, &codes) != TOOL_OK) return session_told(session);
    const hf_status status = hf_table_read(session->ctx, path, &dialect, out);
    for (size_t i = 0; status >= 0 && i < hf_table_notes(*out); i++)
        note(session, "%s: %s", hf_table_source(*out), hf_table_note(*out, i));
    names_free(&codes);
    return status;
}

/* ---- how columns are read ---------------------------------------------------------------------------------- */

enum {
    WIDEST = 56 /* characters of a cell: no description of a column is longer */
};

/* Characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width < WIDEST ? width : WIDEST;
}

static void print_cell(FILE *out, const char *text, size_t width, bool last)
{
    char cell[4 * WIDEST + 1];
    size_t bytes = 0, shown = 0;
    for (; text[bytes] != '\0' && bytes + 1 < sizeof cell; bytes++) {
        const bool begins = ((unsigned char)text[bytes] & 0xC0) != 0x80;
        if (begins && shown == WIDEST) break;
        shown += begins;
        cell[bytes] = (char)(text[bytes] == '\n' || text[bytes] == '\t' ? ' ' : text[bytes]);
    }
    cell[bytes] = '\0';
    say(out, "%s%*s", cell, last ? 0 : (int)(width - shown + 2), "");
}

bool print_columns(FILE *out, const hf_table *table)
{
    const size_t columns = hf_table_columns(table), rows = hf_table_rows(table);
    size_t *width = calloc(columns + 1, sizeof *width);
    char number[32];
    if (width == NULL) return false;
    for (size_t j = 0; j < columns; j++) {
        width[j] = width_of(hf_table_name(table, j));
        for (size_t i = 0; i < rows; i++) {
            const size_t own = width_of(hf_table_field(table, i, j, number));
            width[j] = own > width[j] ? own : width[j];
        }
    }
    for (size_t i = 0; i <= rows; i++) {
        for (size_t j = 0; j < columns; j++)
            print_cell(out, i == 0 ? hf_table_name(table, j) : hf_table_field(table, i - 1, j, number),
                       width[j], j + 1 == columns);
        fputc('\n', out);
    }
    fputc('\n', out);
    free(width);
    return true;
}

json_t *json_described(const hf_table *table)
{
    json_t *list = json_array();
    char number[32];
    const double *missing = table_column(NULL, table, "missing");
    for (size_t i = 0; i < hf_table_rows(table) && list != NULL && missing != NULL; i++) {
        json_t *entry = json_object();
        const char *const keys[] = {"column", "read_as", "used_as", NULL, "example"};
        for (size_t j = 0; j < 5; j++) {
            const char *text = hf_table_field(table, i, j, number);
            if (keys[j] != NULL)
                json_object_set_new(entry, keys[j], *text != '\0' ? json_text(text) : json_null());
        }
        json_object_set_new(entry, "missing", json_count((uint64_t)missing[i]));
        json_array_append_new(list, entry);
    }
    return list;
}
