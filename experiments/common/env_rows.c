/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_rows.h"
#include "common/room.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void keep(env_rows *rows, const char *name, const double *values)
{
    rows->items = room_more(rows->items, rows->count + 1, sizeof *rows->items);
    env_row *row = &rows->items[rows->count++];
    *row = (env_row){{0}, {0}};
    snprintf(row->name, sizeof row->name, "%s", name);
    for (size_t i = 0; i < rows->width; ++i) row->values[i] = values[i];
}

static bool read_line(env_rows *rows, const char *line)
{
    double values[ENV_COLUMNS];
    json_error_t error;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    const char *name = json_string_value(json_object_get(object, "case"));
    for (size_t i = 0; i < rows->width; ++i) {
        const json_t *value = json_object_get(object, rows->columns[i]);
        values[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    if (name) keep(rows, name, values);
    json_decref(object);
    return name != NULL;
}

bool env_rows_load(env_rows *rows)
{
    FILE *file = rows->path ? fopen(rows->path, "r") : NULL;
    char *line = NULL;
    size_t size = 0;
    bool ok = true;
    if (!file) return true;
    for (size_t number = 1; ok && getline(&line, &size, file) > 0; ++number) {
        ok = read_line(rows, line);
        if (!ok) fprintf(stderr, "%s: line %zu is not a row\n", rows->path, number);
    }
    free(line);
    fclose(file);
    return ok;
}

const double *env_rows_find(const env_rows *rows, const char *name)
{
    for (size_t i = 0; i < rows->count; ++i)
        if (strcmp(rows->items[i].name, name) == 0) return rows->items[i].values;
    return NULL;
}

void env_rows_add(env_rows *rows, const char *name, const double *values)
{
    keep(rows, name, values);
    if (!rows->path) return;
    json_t *object = json_pack("{ss}", "case", name);
    for (size_t i = 0; object && i < rows->width; ++i)
        json_object_set_new(object, rows->columns[i],
                            isfinite(values[i]) ? json_real(values[i]) : json_null());
    FILE *file = fopen(rows->path, "a");
    bool ok = file && object && json_dumpf(object, file, JSON_COMPACT | JSON_PRESERVE_ORDER) == 0 &&
              fputc('\n', file) != EOF;
    if (file && fclose(file) != 0) ok = false;
    json_decref(object);
    if (!ok) {
        fprintf(stderr, "%s: cannot be written\n", rows->path);
        exit(1);
    }
}

void env_rows_free(env_rows *rows)
{
    free(rows->items);
    rows->items = NULL;
    rows->count = 0;
}

void env_rows_send(FILE *out, const env_rows *rows, const char *name, size_t count, const double *values)
{
    fputs(name, out);
    for (size_t k = 0; k < rows->width; ++k) fprintf(out, "\t%.17g", k < count ? values[k] : NAN);
    fputc('\n', out);
}

bool env_rows_take(env_rows *rows, const char *line)
{
    char name[64];
    double values[ENV_COLUMNS];
    const char *tab = strchr(line, '\t');
    if (!tab || (size_t)(tab - line) >= sizeof name) return false;
    snprintf(name, sizeof name, "%.*s", (int)(tab - line), line);
    for (size_t k = 0; k < rows->width; ++k) {
        char *end;
        values[k] = strtod(tab, &end);
        tab = end;
    }
    env_rows_add(rows, name, values);
    return true;
}
