/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of JSON as a table: a column for each member, names of nested ones joined by points. */
#include "fit/report_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- members ------------------------------------------------------------------------------------------------ */

/* A number or a word as text; "" for null. A new reference. */
static json_t *leaf(const json_t *value)
{
    if (json_is_string(value)) return json_string(json_string_value(value));
    char *text =
        json_is_null(value) ? strdup("") : json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    json_t *made = text != NULL ? json_string(text) : NULL;
    free(text);
    return made;
}

/* Members of `from`, and of what is in it, into `to`; false when out of memory. Lists are left out: no answer
 * is one. */
static bool flatten(const char *before, json_t *from, json_t *to)
{
    const char *key;
    json_t *value;
    json_object_foreach(from, key, value)
    {
        const char *const words[] = {before, *before != '\0' ? "." : "", key};
        size_t bytes = 1;
        for (size_t k = 0; k < 3; k++) bytes += strlen(words[k]);
        char *name = malloc(bytes);
        if (name == NULL) return false;
        (void)snprintf(name, bytes, "%s%s%s", words[0], words[1], words[2]);
        const bool done = json_is_object(value)  ? flatten(name, value, to)
                          : json_is_array(value) ? true
                                                 : json_object_set_new(to, name, leaf(value)) == 0;
        free(name);
        if (!done) return false;
    }
    return true;
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

/* A field of CSV, always in quotes. */
static void put_field(FILE *out, const char *text, bool last)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputs(last ? "\"\n" : "\",", out);
}

/* `columns` has the names as its keys, in order. */
static void put_row(FILE *out, json_t *columns, const json_t *row)
{
    const char *key;
    json_t *value;
    size_t left = json_object_size(columns);
    json_object_foreach(columns, key, value)
    {
        const char *text = row != NULL ? json_string_value(json_object_get(row, key)) : key;
        put_field(out, text != NULL ? text : "", --left == 0);
    }
}

static hf_status table_of(tool_session *session, const char *path, json_t *columns, const json_t *rows,
                          hf_table **out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *csv = open_memstream(&text, &bytes);
    if (csv == NULL) return HF_ERR_MEMORY;
    put_row(csv, columns, NULL);
    for (size_t i = 0; i < json_array_size(rows); i++) put_row(csv, columns, json_array_get(rows, i));
    hf_status status = ferror(csv) != 0 ? HF_ERR_MEMORY : HF_OK;
    if (fclose(csv) != 0) status = HF_ERR_MEMORY;
    if (status >= 0) status = hf_table_parse_csv(session->ctx, text, bytes, path, out);
    free(text);
    return status;
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

static hf_status read_lines(tool_session *session, const char *path, FILE *file, json_t *columns,
                            json_t *rows)
{
    json_error_t error;
    for (size_t number = 1;; number++) {
        int c = fgetc(file);
        while (c == '\n' || c == '\r' || c == ' ') c = fgetc(file);
        if (c == EOF) break;
        ungetc(c, file);
        json_t *line = json_loadf(file, JSON_DISABLE_EOF_CHECK, &error), *row = json_object();
        const bool good = json_is_object(line);
        const bool kept = good && row != NULL && flatten("", line, row) &&
                          json_array_append(rows, row) == 0 && json_object_update_missing(columns, row) == 0;
        json_decref(line);
        json_decref(row);
        if (!good)
            return session_refuse(session, "%s: object %zu is none of JSON: %s", path, number,
                                  *error.text != '\0' ? error.text : "not an object");
        if (!kept) return HF_ERR_MEMORY;
    }
    return json_array_size(rows) > 0 ? HF_OK : session_refuse(session, "%s: there is no certificate", path);
}

hf_status report_read_lines(tool_session *session, const char *path, hf_table **out)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) return session_refuse(session, "%s: %s", path, strerror(errno));
    json_t *columns = json_object(), *rows = json_array();
    hf_status status = columns != NULL && rows != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = read_lines(session, path, file, columns, rows);
    if (status >= 0) status = table_of(session, path, columns, rows, out);
    json_decref(columns);
    json_decref(rows);
    fclose(file);
    return status;
}
