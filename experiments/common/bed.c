/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bed.h"
#include "common/bed_damage.h"
#include "common/hash.h"
#include "common/room.h"
#include "common/sets.h"

#include <stdlib.h>
#include <string.h>

static const char INDEX[] = "bed/tables.csv";

/* Tables that a choice about the default has looked at, whatever their names' hashes are. */
static const char *const looked_at[] = {"beaver", "nottem", "rock", "www_usage"};

bool bed_is_held(const char *name)
{
    for (size_t i = 0; i < sizeof looked_at / sizeof *looked_at; ++i)
        if (strcmp(name, looked_at[i]) == 0) return false;
    return fnv1a(name) % 2 == 0;
}

/* Rows counted from 1, with blanks between. */
static void read_known(const char *text, bed_table *t)
{
    char *end;
    for (size_t row; (row = strtoul(text, &end, 10)) > 0 && end != text; text = end)
        if (row <= t->n && t->known_count < BED_KNOWN) t->known[t->known_count++] = row - 1;
}

static hf_status read_numbers(hf_context *ctx, const char *path, bed_table *t)
{
    hf_table *table = NULL;
    hf_status status = hf_table_read_csv(ctx, path, &table);
    if (status < 0) return status;
    t->n = hf_table_rows(table);
    t->d = hf_table_columns(table) - 1;
    t->x = room(t->n * t->d, sizeof *t->x);
    t->y = room(t->n, sizeof *t->y);
    for (size_t c = 0; c <= t->d && status >= 0; ++c) {
        const double *numbers;
        status = hf_table_numbers(ctx, table, c, &numbers);
        for (size_t i = 0; i < t->n && status >= 0; ++i)
            *(c < t->d ? &t->x[i * t->d + c] : &t->y[i]) = numbers[i];
    }
    hf_table_free(table);
    return status;
}

static hf_status read_table(hf_context *ctx, const char *folder, const hf_table *index, size_t row,
                            bed_table *t)
{
    char path[SETS_PATH + sizeof t->name + 8], buffer[32];
    size_t name = 0, known = 0;
    hf_status status = hf_table_find(ctx, index, "name", &name);
    if (status >= 0) status = hf_table_find(ctx, index, "known", &known);
    if (status < 0) return status;
    snprintf(t->name, sizeof t->name, "%s", hf_table_field(index, row, name, buffer));
    snprintf(path, sizeof path, "%s/%s.csv", folder, t->name);
    t->held = bed_is_held(t->name);
    status = read_numbers(ctx, path, t);
    if (status >= 0) read_known(hf_table_field(index, row, known, buffer), t);
    return status;
}

bool bed_open(hf_context *ctx, const char *folder, bed *out, bool *missing)
{
    char path[SETS_PATH];
    hf_table *index = NULL;
    *out = (bed){0};
    *missing = !sets_need(folder, INDEX, path);
    if (*missing) return false;
    hf_status status = hf_table_read_csv(ctx, path, &index);
    *strrchr(path, '/') = '\0';
    if (status >= 0) {
        out->count = hf_table_rows(index);
        out->tables = room(out->count, sizeof *out->tables);
    }
    for (size_t i = 0; i < out->count && status >= 0; ++i)
        status = read_table(ctx, path, index, i, &out->tables[i]);
    if (status < 0) fprintf(stderr, "%s\n", hf_context_message(ctx));
    hf_table_free(index);
    return status >= 0;
}

void bed_free(bed *b)
{
    for (size_t i = 0; i < b->count; ++i) {
        free(b->tables[i].x);
        free(b->tables[i].y);
    }
    free(b->tables);
    *b = (bed){0};
}

size_t bed_sound_rows(const bed_table *t)
{
    return t->n - t->known_count;
}

const bed_table *bed_find(const bed *b, const char *name)
{
    for (size_t i = 0; i < b->count; ++i)
        if (strcmp(b->tables[i].name, name) == 0) return &b->tables[i];
    return NULL;
}

static uint64_t seed_of(const bed_case *c, const char *purpose)
{
    char text[128];
    snprintf(text, sizeof text, "%s/%s/%.4f/%ld/%ld", c->table->name, purpose, c->share, c->split, c->offset);
    return fnv1a(text);
}

bool bed_row_known(const bed_table *t, size_t row)
{
    for (size_t k = 0; k < t->known_count; ++k)
        if (t->known[k] == row) return true;
    return false;
}

/* A permutation of the rows that are not known to be odd. */
static hf_status shuffle_rows(hf_context *ctx, uint64_t seed, const bed_table *t, size_t *order)
{
    size_t all, sound = 0, *rows = room(t->n, sizeof *rows);
    for (size_t i = 0; i < t->n; ++i)
        if (!bed_row_known(t, i)) rows[sound++] = i;
    const hf_status status = hf_split(ctx, seed, 0.0, sound, order, &all);
    for (size_t i = 0; i < sound && status >= 0; ++i) order[i] = rows[order[i]];
    free(rows);
    return status;
}

static void copy_rows(const bed_table *t, const size_t *rows, size_t count, double *x, double *y)
{
    for (size_t i = 0; i < count; ++i) {
        memcpy(x + i * t->d, t->x + rows[i] * t->d, t->d * sizeof *x);
        y[i] = t->y[rows[i]];
    }
}

bool bed_problem(hf_context *ctx, const bed_case *what, problem *out, bool *applies)
{
    const bed_table *t = what->table;
    bed_case clean = *what;
    clean.share = 0.0; /* all kinds and shares have the same splits */
    const size_t sound = bed_sound_rows(t), used = sound < what->most ? sound : what->most;
    const size_t test = used / 5 > 3 ? used / 5 : 3, train = used - test;
    size_t all, *order = room(t->n, sizeof *order);
    hf_status status = shuffle_rows(ctx, seed_of(&clean, "split"), t, order);
    *out = problem_create(train, test, t->d);
    *applies = true;
    if (status >= 0) {
        copy_rows(t, order, train, out->x, out->y);
        copy_rows(t, order + train, test, out->tx, out->ty);
        out->unit = sample_sd(train, out->y);
        status = hf_split(ctx, seed_of(what, what->kind), 0.0, train, order, &all);
    }
    const bed_kind *kind = bed_kind_find(what->kind);
    if (status >= 0 && strcmp(what->kind, "none") != 0)
        *applies = bed_damage(kind, what->share, seed_of(what, what->kind), order, out) > 0;
    if (status < 0) {
        fprintf(stderr, "%s: %s\n", t->name, hf_context_message(ctx));
        problem_free(out);
    }
    free(order);
    return status >= 0;
}

problem bed_whole(const bed_table *t)
{
    problem p = problem_create(t->n, t->n, t->d);
    memcpy(p.x, t->x, t->n * t->d * sizeof *p.x);
    memcpy(p.tx, t->x, t->n * t->d * sizeof *p.tx);
    memcpy(p.y, t->y, t->n * sizeof *p.y);
    memcpy(p.ty, t->y, t->n * sizeof *p.ty);
    for (size_t k = 0; k < t->known_count; ++k) p.wrong[t->known[k]] = true;
    p.unit = sample_sd(t->n, t->y);
    return p;
}
