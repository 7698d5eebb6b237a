/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast report */
#include "shell/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"certificates", 0, "FILE.jsonl",
     "show these certificates of certify --format jsonl, which must\nbe about this very model", TOOL_READS},
    {"study", 0, "STUDY.hf", "show this study: its best settings and how it went", TOOL_READS},
    {"output", 'o', "FILE.html", "file to write (default: standard output)", TOOL_WRITES},
};

/* ---- lines of JSON as a table: a column for each member, names of nested ones joined by points --------------- */

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

/* A row for each line and a column for each member that any of them has; hf_table_free() the table. */
static hf_status read_certificates(tool_session *session, const char *path, hf_table **out)
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

/* ---- the page -------------------------------------------------------------------------------------------------- */

/* Parts of the page besides the model, let go in one place. */
typedef struct extras {
    hf_table *test, *certificates;
    hf_study *study;
    char *command, *study_command;
} extras;

static hf_status read_extras(tool_session *session, const hf_model *model, extras *out)
{
    const tool_arguments *a = session->arguments;
    const char *certificates = argument(a, "certificates"), *study = argument(a, "study");
    hf_status status = HF_OK;
    out->command = command_text(a);
    if (out->command == NULL) return HF_ERR_MEMORY;
    if (a->operands > 1)
        status = hf_table_read(session->ctx, a->operand[1], hf_model_dialect(model), &out->test);
    if (status >= 0 && certificates != NULL)
        status = read_certificates(session, certificates, &out->certificates);
    if (status < 0 || study == NULL) return status;
    out->study_command = command_of((const char *const[]){"holdfast", "study", "show", study, NULL});
    return out->study_command != NULL ? hf_study_file_open(session->ctx, study, false, &out->study)
                                      : HF_ERR_MEMORY;
}

static void free_extras(extras *e)
{
    hf_table_free(e->test);
    hf_table_free(e->certificates);
    hf_study_free(e->study);
    TOOL_FREE(e->command, e->study_command);
}

static hf_status write_report(tool_session *session, const hf_model *model, const char *output)
{
    extras e = {0};
    hf_status status = read_extras(session, model, &e);
    const hf_page_parts parts = {.test = e.test,
                                 .certificates = e.certificates,
                                 .study = e.study,
                                 .study_command = e.study_command,
                                 .command = e.command};
    if (status >= 0) status = hf_model_report_html(session->ctx, model, &parts, output);
    free_extras(&e);
    return status;
}

static hf_status run_report(tool_session *session)
{
    const char *output = output_of(session->arguments);
    hf_model *model = NULL;
    if (session->json && is_standard(output))
        return session_misuse(session,
                              "--json and the page cannot both go to standard output; add -o FILE.html");
    hf_status status = hf_model_load(session->ctx, session->arguments->operand[0], &model);
    if (status >= 0) status = write_report(session, model, output);
    hf_model_free(model);
    progress_clear(session->progress);
    if (status < 0) return status;
    if (session->json)
        session_print(session, JSON_OF({"output", json_text(output)}));
    else if (!is_standard(output))
        say(stdout, "Wrote %s\n", output);
    return status;
}

const tool_verb verb_report = {
    .name = "report",
    .operands = "MODEL.hf [TEST.csv] [-o FILE.html] [OPTION]...",
    .summary = "Write a page of HTML about a model, for people",
    .text =
        "One file that needs no network: the fit in words; the data; how far to trust the model (each\n"
        "reading predicted from the others, and the rows of TEST.csv if given); doubted readings in a table\n"
        "that can be sorted; shares of the inputs, and what is predicted along each of them; residuals,\n"
        "certificates, an optimisation study, hyperparameters; and how to make it again: command, version,\n"
        "seed and checksums. It has a light and a dark side and can be printed.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast report boston.hf -o boston.html",
    TOOL_OPTIONS(options),
    TOOL_WORK(1, 2, run_report),
};
