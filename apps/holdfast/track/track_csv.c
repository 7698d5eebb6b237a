/* SPDX-License-Identifier: Apache-2.0 */
/* Readings and answers out of tables: all of them in one change of the file, or none. */
#include "track/tracked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- places ----------------------------------------------------------------------------------------------------- */

/* The columns of inputs of a table that says by name or request where its rows are: d, NULL where there is
 * none; to be freed. */
static hf_status coordinates_of(tracked *run, const hf_table *table, const double ***out)
{
    *out = calloc(run->d, sizeof **out);
    hf_status status = *out != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d && status >= 0; j++)
        if (table_has(table, hf_track_name(run->track, j)))
            status = session_column(&run->session, table, hf_track_name(run->track, j), true, &(*out)[j]);
    return status;
}

/* Coordinates that are there must say the same as the name or the request. */
static hf_status check_coordinates(tracked *run, const hf_table *table, size_t i, const double *const *said,
                                   const double *x, const char *what)
{
    char place[1024], number[32];
    for (size_t j = 0; j < run->d; j++) {
        if (said[j] == NULL || isnan(said[j][i]) || is_meant(said[j][i], x[j])) continue;
        return REFUSE(run, "%s, line %zu, column \"%s\": %s contradicts %s, which is %s",
                      hf_table_source(table), hf_table_line(table, i), hf_track_name(run->track, j),
                      hf_format_double(said[j][i], number), what, tracked_place(run, x, place, sizeof place));
    }
    return HF_OK;
}

static hf_status places_by_name(tracked *run, const hf_table *table, const double *const *said, double *x)
{
    char buffer[32], what[256];
    size_t column;
    hf_status status = hf_table_find(run->session.ctx, table, "candidate", &column);
    for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++) {
        const char *name = hf_table_field(table, i, column, buffer);
        size_t index = 0;
        if (name == NULL || !tracked_find(run, name, &index))
            return REFUSE(run, "%s, line %zu, column \"candidate\": there is no candidate '%s'",
                          hf_table_source(table), hf_table_line(table, i), name != NULL ? name : "");
        memcpy(x + i * run->d, tracked_domain(run)->points + index * run->d, run->d * sizeof *x);
        snprintf(what, sizeof what, "candidate '%s'", name);
        status = check_coordinates(run, table, i, said, x + i * run->d, what);
    }
    return status;
}

static hf_status places_by_inputs(tracked *run, const hf_table *table, double *x)
{
    hf_status status = HF_OK;
    for (size_t j = 0; j < run->d && status >= 0; j++) {
        const char *name = hf_track_name(run->track, j);
        const double *numbers = NULL;
        if (run->candidates > 0 && !table_has(table, name))
            return REFUSE(run,
                          "%s: there is no column \"candidate\", which says by name where each row is, and "
                          "no column \"%s\" for its place",
                          hf_table_source(table), name);
        status = session_column(&run->session, table, name, false, &numbers);
        for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++) x[i * run->d + j] = numbers[i];
    }
    return status;
}

/* m x d; by the names of candidates if the table has them, else by the inputs. */
static hf_status places_of(tracked *run, const hf_table *table, double *x)
{
    if (run->candidates == 0 || !table_has(table, "candidate")) return places_by_inputs(run, table, x);
    const double **said = NULL;
    hf_status status = coordinates_of(run, table, &said);
    if (status >= 0) status = places_by_name(run, table, said, x);
    free(said);
    return status;
}

/* ---- readings --------------------------------------------------------------------------------------------------- */

/* Rows in the order of time, those of one time as they stand: told the newest first, the rest might be too
 * old to be taken. */
static ranked *in_time(const double *time, size_t m)
{
    ranked *order = calloc(m, sizeof *order);
    if (order == NULL) return NULL;
    for (size_t i = 0; i < m; i++) order[i] = (ranked){-time[i], i};
    qsort(order, m, sizeof *order, largest_first);
    return order;
}

static hf_status tell_in_time(tracked *run, const hf_table *table, const double *x, const double *time,
                              const ranked *order)
{
    const double *y = NULL, *noise = NULL;
    hf_status status = session_column(&run->session, table, tracked_target(run), false, &y);
    if (status >= 0) status = session_variances(&run->session, table, "noise", &noise);
    const size_t m = hf_table_rows(table);
    for (size_t k = 0; k < m && status >= 0; k++) {
        const size_t i = order[k].index;
        if (!progress_step(run->session.progress, "tell", k, m)) return HF_ERR_CANCELLED;
        status = hf_track_tell(run->session.ctx, run->track, time[i], x + i * run->d, y[i],
                               variance_at(noise, i), NULL);
        status = session_refuse_at(&run->session, warn_status(&run->session, status), "%s, line %zu",
                                   hf_table_source(table), hf_table_line(table, i));
    }
    return status;
}

static hf_status tell_rows(tracked *run, const hf_table *table, const double *x)
{
    const double *time = NULL;
    hf_status status = session_column(&run->session, table, "time", false, &time);
    ranked *order = status >= 0 ? in_time(time, hf_table_rows(table)) : NULL;
    if (status >= 0) status = order != NULL ? tell_in_time(run, table, x, time, order) : HF_ERR_MEMORY;
    free(order);
    return status;
}

hf_status tell_table(tracked *run, const char *path, size_t *told)
{
    hf_table *table = NULL;
    double *x = NULL;
    hf_status status = read_table(&run->session, path, NULL, &table);
    *told = status >= 0 ? hf_table_rows(table) : 0;
    if (status >= 0 && *told == 0) status = REFUSE(run, "%s: a header and no rows", hf_table_source(table));
    if (status >= 0 && (x = calloc(*told * run->d + 1, sizeof *x)) == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = places_of(run, table, x);
    const bool file = run->target == NULL;
    if (status >= 0 && file) status = hf_track_file_begin(run->session.ctx, run->track);
    if (status >= 0) {
        status = tell_rows(run, table, x);
        progress_part(run->session.progress, NULL, 0.0, 1.0);
        const hf_status ended = file ? hf_track_file_end(run->session.ctx, run->track, status >= 0) : HF_OK;
        if (status >= 0) status = ended;
    }
    free(x);
    hf_table_free(table);
    return status;
}

/* ---- answers ---------------------------------------------------------------------------------------------------- */

/* A request's number in a table of doubles. */
static bool as_request(double number, uint64_t *request)
{
    *request = number >= 1.0 && number <= 9007199254740992.0 ? (uint64_t)number : 0;
    return (double)*request == number;
}

/* Columns of a table of answers. */
typedef struct answers {
    const double *request, *y, *time, *noise;
    size_t candidate;  /* column of names; SIZE_MAX: there is none, or no candidates */
    const double **at; /* d: inputs, NULL where there is no such column */
} answers;

/* A row as the list has it says where its request is: another place there is another request's row. */
static hf_status check_request(tracked *run, const hf_table *table, size_t i, const answers *a,
                               uint64_t request)
{
    char buffer[32], number[32], what[64];
    hf_track_request r = {0};
    size_t k = 0;
    const size_t open = hf_track_pending_count(run->track);
    while (k < open && hf_track_request_at(run->track, k, &r) >= 0 && r.id != request) k++;
    if (k == open) return HF_OK; /* which answering refuses */
    snprintf(what, sizeof what, "request %llu", (unsigned long long)request);
    if (a->candidate != SIZE_MAX) {
        const char *said = hf_table_field(table, i, a->candidate, buffer),
                   *name = tracked_candidate(run, r.index, number);
        if (said != NULL && *said != '\0' && strcmp(said, name) != 0)
            return REFUSE(run, "%s, line %zu, column \"candidate\": '%s' contradicts %s, which is %s",
                          hf_table_source(table), hf_table_line(table, i), said, what, name);
    }
    return check_coordinates(run, table, i, a->at, r.x, what);
}

static hf_status answer_columns(tracked *run, const hf_table *table, answers *a)
{
    hf_status status = session_column(&run->session, table, "request", false, &a->request);
    if (status >= 0) status = session_column(&run->session, table, hf_track_target(run->track), true, &a->y);
    if (status >= 0 && table_has(table, "time"))
        status = session_column(&run->session, table, "time", true, &a->time);
    if (status >= 0) status = session_variances(&run->session, table, "noise", &a->noise);
    a->candidate = SIZE_MAX;
    if (status >= 0 && run->candidates > 0 && table_has(table, "candidate"))
        status = hf_table_find(run->session.ctx, table, "candidate", &a->candidate);
    return status >= 0 ? coordinates_of(run, table, &a->at) : status;
}

static hf_status answer_row(tracked *run, const hf_table *table, size_t i, const answers *a)
{
    uint64_t request;
    if (!as_request(a->request[i], &request))
        return REFUSE(run, "%s, line %zu, column \"request\": %g is no number of a request",
                      hf_table_source(table), hf_table_line(table, i), a->request[i]);
    hf_status status = check_request(run, table, i, a, request);
    if (status < 0) return status;
    status = hf_track_answer(run->session.ctx, run->track, request,
                             a->time != NULL ? a->time[i] : (double)NAN, a->y[i], variance_at(a->noise, i));
    return session_refuse_at(&run->session, warn_status(&run->session, status), "%s, line %zu",
                             hf_table_source(table), hf_table_line(table, i));
}

static hf_status answer_rows(tracked *run, const hf_table *table, size_t *answered)
{
    answers a = {0};
    hf_status status = answer_columns(run, table, &a);
    const size_t m = hf_table_rows(table);
    for (size_t i = 0; i < m && status >= 0; i++) {
        if (isnan(a.y[i])) continue;
        status = progress_step(run->session.progress, "answer", i, m) ? answer_row(run, table, i, &a)
                                                                      : HF_ERR_CANCELLED;
        (*answered)++;
    }
    free(a.at);
    return status;
}

hf_status answer_table(tracked *run, const char *path, size_t *answered, size_t *left)
{
    hf_table *table = NULL;
    *answered = *left = 0;
    hf_status status = read_table(&run->session, path, NULL, &table);
    if (status >= 0) status = answer_rows(run, table, answered);
    progress_part(run->session.progress, NULL, 0.0, 1.0);
    if (status >= 0) *left = hf_table_rows(table) - *answered;
    hf_table_free(table);
    return status;
}
