/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast certify --format jsonl: every row with the model, the question, the settings and the box that it
 * is about. */
#include "certify/certify_request.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of the inputs, by name; a new reference. */
static json_t *by_input(const certified *run, const double *numbers)
{
    json_t *object = json_object();
    bool whole = object != NULL;
    for (size_t j = 0; j < run->d && whole; j++)
        whole = json_add_named(object, hf_model_feature(run->model, j), json_number(numbers[j]));
    if (whole) return object;
    json_decref(object);
    return NULL;
}

/* ---- what all rows share ------------------------------------------------------------------------------------- */

/* The options as they were given, each a list of what followed it. */
static json_t *options_given(const tool_arguments *arguments)
{
    json_t *object = json_object();
    for (size_t k = 0; k < arguments->count; k++) {
        const tool_given *given = &arguments->list[k];
        if (!option_counts(given->option)) continue;
        if (json_object_get(object, given->option->name) == NULL)
            json_object_set_new(object, given->option->name, json_array());
        if (given->value != NULL)
            json_array_append_new(json_object_get(object, given->option->name), json_text(given->value));
    }
    return object;
}

static json_t *settings_used(const certify_request *asked)
{
    const hf_certify_settings *s = &asked->settings;
    return JSON_OF({"tolerance", json_number(s->tolerance)}, {"time_limit", json_number(s->time_limit)},
                   {"total_time", json_number(s->total_time)}, {"node_limit", json_count(s->node_limit)},
                   {"memory_limit", json_count(s->memory_limit)}, {"rigorous", json_boolean(s->rigorous)},
                   {"observed", json_boolean(s->observed)});
}

/* The class or the output that is asked about; null: none in particular. */
static json_t *of_what(const certified *run, const certify_request *asked)
{
    const bool no_class = asked->what == CERTIFY_CLASSES || asked->what == CERTIFY_DECISION ||
                          asked->what == CERTIFY_ACCURACY || asked->what == CERTIFY_RADII ||
                          asked->what == CERTIFY_OUTPUTS;
    if (no_class) return json_null();
    if (hf_model_classes(run->model) > 0) return json_text(hf_model_class(run->model, asked->of));
    return json_text(hf_model_outputs(run->model) > 1 ? hf_model_output(run->model, asked->of)
                                                      : hf_model_target(run->model));
}

static json_t *heading(const certified *run, const certify_request *asked)
{
    char *command = command_text(run->arguments);
    const bool claim = asked->what == CERTIFY_CLAIM || asked->what == CERTIFY_REACH;
    json_t *object =
        JSON_OF({"holdfast", json_string(hf_version())}, {"model", json_text(run->arguments->operand[0])},
                {"model_sha256", json_text(hf_model_content_checksum(run->model))},
                {"data_sha256", json_text(hf_model_data_checksum(run->model))},
                {"what", json_string(certify_tasks[asked->what])},
                {"value", claim ? json_string(certify_tasks[asked->value]) : json_null()},
                {"of", of_what(run, asked)}, {"estimate", json_boolean(asked->estimate)},
                {"settings", settings_used(asked)}, {"options", options_given(run->arguments)},
                {"command", json_text(command)},
                {"unit", has_argument(run->arguments, "at") ? by_input(run, run->unit) : json_null()});
    free(command);
    return object;
}

/* ---- a row --------------------------------------------------------------------------------------------------- */

/* A number as JSON, infinite ones as "inf" and "-inf"; null where there is none. */
static json_t *answer_number(double value)
{
    return isinf(value) ? json_string(value > 0.0 ? "inf" : "-inf") : json_number(value);
}

static json_t *field(hf_context *ctx, const hf_table *table, size_t row, size_t column)
{
    char room[32];
    const double *numbers = NULL;
    if (!hf_table_is_numeric(table, column)) return json_text(hf_table_field(table, row, column, room));
    return hf_table_numbers(ctx, table, column, &numbers) >= 0 ? answer_number(numbers[row]) : NULL;
}

/* The answers alone: inputs come first in the table, and are told as the place. */
static json_t *answer_of(const certified *run, size_t row, size_t first)
{
    json_t *object = json_object();
    bool whole = object != NULL;
    for (size_t c = first; c < hf_table_columns(run->answers) && whole; c++)
        whole = json_add_named(object, hf_table_name(run->answers, c),
                               field(run->session.ctx, run->answers, row, c));
    if (whole) return object;
    json_decref(object);
    return NULL;
}

/* Row `row` of the table; NULL when out of memory. */
static json_t *line_of(const certified *run, const certify_request *asked, json_t *shared, size_t row)
{
    const bool places = asked->what != CERTIFY_ACCURACY;
    const bool boxes = places && asked->what != CERTIFY_READINGS && !certify_finds_radius(asked->what);
    const size_t at = row * run->d;
    json_t *line = json_copy(shared);
    if (line == NULL) return NULL;
    if (JSON_ADD(line, {"row", places ? json_count(row / run->radii + 1) : json_null()},
                 {"at", places ? by_input(run, run->x + at) : json_null()},
                 {"from", boxes ? by_input(run, run->lower + at) : json_null()},
                 {"to", boxes ? by_input(run, run->upper + at) : json_null()},
                 {"answer", answer_of(run, row, places ? run->d : 0)}))
        return line;
    json_decref(line);
    return NULL;
}

/* ---- the file ------------------------------------------------------------------------------------------------ */

typedef struct lines {
    char *text;
    size_t length, room;
} lines;

static int append_line_text(const char *text, size_t length, void *to)
{
    lines *out = to;
    if (length > out->room - out->length) {
        const size_t room = 2 * (out->room + length);
        char *grown = realloc(out->text, room);
        if (grown == NULL) return -1;
        out->text = grown;
        out->room = room;
    }
    if (length > 0) memcpy(out->text + out->length, text, length);
    out->length += length;
    return 0;
}

hf_status certify_write_lines(certified *run, const certify_request *asked)
{
    lines out = {0};
    json_t *shared = heading(run, asked);
    hf_status status = shared != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k < hf_table_rows(run->answers) && status >= 0; k++) {
        json_t *line = line_of(run, asked, shared, k);
        if (line == NULL ||
            json_dump_callback(line, append_line_text, &out, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0 ||
            append_line_text("\n", 1, &out) != 0)
            status = HF_ERR_MEMORY;
        json_decref(line);
    }
    progress_clear(run->session.progress);
    if (status >= 0) status = hf_file_write(run->session.ctx, asked->output, out.text, out.length);
    json_decref(shared);
    free(out.text);
    return status;
}
