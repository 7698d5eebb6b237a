/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of what a track remembers. */
#include "track/tracked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- history ---------------------------------------------------------------------------------------------------- */

static const char *const track_event_names[] = {
    [HF_ENTRY_TOLD] = "told",         [HF_ENTRY_ASKED] = "asked", [HF_ENTRY_REQUESTED] = "requested",
    [HF_ENTRY_ANSWERED] = "answered", [HF_ENTRY_TRUTH] = "truth", [HF_ENTRY_FITTED] = "fitted"};

void track_history_free(track_history *history)
{
    TOOL_FREE(history->numbers, history->kind);
}

double track_history_after(const track_history *history, size_t row, size_t after)
{
    return history->numbers[row * history->columns + TRACK_FIXED + history->d + after];
}

/* A row of NaN; NULL when out of memory. */
static double *add_row(track_history *h, size_t kind)
{
    if (h->count == h->room) {
        const size_t room = h->room > 0 ? 2 * h->room : 256;
        double *numbers = realloc(h->numbers, room * h->columns * sizeof *numbers);
        if (numbers != NULL) h->numbers = numbers;
        size_t *kinds = realloc(h->kind, room * sizeof *kinds);
        if (kinds != NULL) h->kind = kinds;
        h->failed = numbers == NULL || kinds == NULL;
        if (h->failed) return NULL;
        h->room = room;
    }
    double *row = h->numbers + h->count * h->columns;
    for (size_t k = 0; k < h->columns; k++) row[k] = NAN;
    h->kind[h->count++] = kind;
    return row;
}

static bool take_entry(const hf_track_entry *entry, void *user)
{
    track_history *h = user;
    double *row = add_row(h, (size_t)entry->kind);
    if (row == NULL) return false;
    double *after = row + TRACK_FIXED + h->d;
    row[TRACK_NUMBER] = (double)entry->number;
    if (entry->id > 0) row[TRACK_ID] = (double)entry->id;
    if (entry->request > 0) row[TRACK_REQUEST] = (double)entry->request;
    row[TRACK_TIME] = entry->time;
    if (entry->x != NULL) memcpy(row + TRACK_FIXED, entry->x, h->d * sizeof *row);
    after[TRACK_Y] = entry->y;
    after[TRACK_NOISE] = entry->noise_var;
    after[TRACK_WEIGHT] = entry->weight;
    after[TRACK_BOUND] = entry->bound;
    after[TRACK_MEAN] = entry->mean;
    after[TRACK_SD] = entry->sd;
    after[TRACK_VALUE] = entry->value;
    after[TRACK_BEST] = entry->best;
    return true;
}

hf_status track_history_read(tracked *run, track_history *out)
{
    *out = (track_history){.d = run->d, .columns = TRACK_FIXED + run->d + TRACK_AFTER};
    const hf_status status = hf_track_file_history(run->session.ctx, run->track, take_entry, out);
    return out->failed ? HF_ERR_MEMORY : status;
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

/* Column k of rows of numbers. A name that is there already is an input's. */
static hf_status add_track_column(tracked *run, hf_table *table, const char *name, const double *rows,
                                  size_t columns, size_t k)
{
    if (table_has(table, name))
        return REFUSE(run, "an input is called \"%s\" like a column of the result", name);
    return table_set(run->session.ctx, table, name, rows + k, columns);
}

/* The name of a column of the track's own: where an input or the target has its name, they keep it. */
static const char *own_name(const tracked *run, const char *name, char buffer[32])
{
    bool taken = strcmp(hf_track_target(run->track), name) == 0;
    for (size_t j = 0; j < run->d; j++) taken = taken || strcmp(hf_track_name(run->track, j), name) == 0;
    snprintf(buffer, 32, "%s%s", taken ? "track_" : "", name);
    return buffer;
}

static hf_status add_own(tracked *run, hf_table *table, const char *name, const double *rows, size_t columns,
                         size_t k)
{
    char buffer[32];
    return add_track_column(run, table, own_name(run, name, buffer), rows, columns, k);
}

hf_status track_candidate_column(const tracked *run, hf_table *table, const size_t *choice)
{
    const size_t count = run->candidates;
    const char **name = calloc(count, sizeof *name);
    char(*made)[32] = calloc(count, sizeof *made);
    hf_status status = name != NULL && made != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < count && status >= 0; i++) name[i] = tracked_candidate(run, i, made[i]);
    if (status >= 0) status = hf_table_set_text(run->session.ctx, table, "candidate", count, name, choice);
    TOOL_FREE(name, made);
    return status;
}

/* Names of the candidates of rows, whose place begins at column `first`; nothing where a row has no place. */
static hf_status add_candidates(const tracked *run, hf_table *table, const double *rows, size_t columns,
                                size_t first)
{
    const size_t m = hf_table_rows(table);
    size_t *choice = calloc(m + 1, sizeof *choice);
    if (choice == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < m; i++)
        if (!hf_domain_contains(tracked_domain(run), rows + i * columns + first, &choice[i]))
            choice[i] = SIZE_MAX;
    const hf_status status = track_candidate_column(run, table, choice);
    free(choice);
    return status;
}

/* The candidate, if there are such, and the inputs, from column `first` of the rows on. */
static hf_status add_places(tracked *run, hf_table *table, const double *rows, size_t columns, size_t first)
{
    hf_status status = run->candidates > 0 ? add_candidates(run, table, rows, columns, first) : HF_OK;
    for (size_t j = 0; j < run->d && status >= 0; j++)
        status = add_track_column(run, table, hf_track_name(run->track, j), rows, columns, first + j);
    return status;
}

hf_status track_history_table(tracked *run, const char *path)
{
    static const char *const before[] = {"number", "id", "request", "time"};
    static const char *const after[] = {"noise", "weight", "mean", "sd", "bound", "best", "value"};
    const char *target = hf_track_target(run->track);
    char event[32];
    track_history h;
    hf_table *table = NULL;
    hf_status status = track_history_read(run, &h);
    if (status >= 0) status = hf_table_create(run->session.ctx, h.count, &table);
    if (status >= 0)
        status = hf_table_set_text(run->session.ctx, table, own_name(run, "event", event),
                                   HF_ENTRY_FITTED + 1, track_event_names, h.kind);
    for (size_t k = 0; k < TRACK_FIXED && status >= 0; k++)
        status = add_own(run, table, before[k], h.numbers, h.columns, k);
    if (status >= 0) status = add_places(run, table, h.numbers, h.columns, TRACK_FIXED);
    if (status >= 0)
        status = add_track_column(run, table, target, h.numbers, h.columns, TRACK_FIXED + h.d + TRACK_Y);
    for (size_t k = TRACK_NOISE; k < TRACK_AFTER && status >= 0; k++)
        status = add_own(run, table, after[k - TRACK_NOISE], h.numbers, h.columns, TRACK_FIXED + h.d + k);
    if (status >= 0) status = hf_table_write_csv(run->session.ctx, table, path);
    hf_table_free(table);
    track_history_free(&h);
    return status;
}

hf_status track_readings_table(tracked *run, const char *path)
{
    static const char *const names[] = {"reading", "time",   "",       "noise",
                                        "weight",  "answer", "counts", "variance"};
    const char *target = hf_track_target(run->track);
    const size_t own = sizeof names / sizeof names[0], columns = own + run->d;
    hf_track_summary summary;
    hf_track_summary_of(run->track, &summary);
    hf_table *table = NULL;
    double *rows = calloc(summary.held * columns + 1, sizeof *rows);
    hf_status status = rows != NULL ? hf_table_create(run->session.ctx, summary.held, &table) : HF_ERR_MEMORY;
    for (size_t i = 0; i < summary.held && status >= 0; i++) {
        hf_track_reading r;
        status = hf_track_reading_at(run->track, i, &r);
        if (status < 0) break;
        const double numbers[] = {
            (double)r.id,         r.time,    r.y, r.noise, r.weight, r.answer ? 1.0 : 0.0,
            r.counts ? 1.0 : 0.0, r.variance};
        memcpy(rows + i * columns, numbers, sizeof numbers);
        memcpy(rows + i * columns + own, r.x, run->d * sizeof *rows);
    }
    for (size_t k = 0; k < own && status >= 0; k++) {
        if (k == 2) status = add_places(run, table, rows, columns, own);
        if (k == 2 && status >= 0) status = add_track_column(run, table, target, rows, columns, k);
        if (k != 2 && status >= 0) status = add_own(run, table, names[k], rows, columns, k);
    }
    if (status >= 0) status = hf_table_write_csv(run->session.ctx, table, path);
    hf_table_free(table);
    free(rows);
    return status;
}
