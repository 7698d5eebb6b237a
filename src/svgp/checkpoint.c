/* SPDX-License-Identifier: Apache-2.0 */
/* What an interrupted fit by minibatches goes on from: steps from a snapshot of all they depend on, passes over the rows from their sums. */
#include "checkpoint/journal.h"
#include "svgp/climb.h"
#include <string.h>

/* ---- numbers, one way or the other --------------------------------------------------------------------------- */

typedef struct cursor {
    double *at;
    bool reading;
} cursor;

static void many(cursor *c, double *values, size_t count)
{
    if (c->reading)
        memcpy(values, c->at, count * sizeof *values);
    else
        memcpy(c->at, values, count * sizeof *values);
    c->at += count;
}

/* Exact up to 2^53. */
static void whole(cursor *c, size_t *value)
{
    if (c->reading)
        *value = (size_t)*c->at;
    else
        *c->at = (double)*value;
    c->at++;
}

/* The lower triangle, column by column. */
static void triangle(cursor *c, double *matrix, size_t m)
{
    for (size_t j = 0; j < m; j++) many(c, matrix + j + j * m, m - j);
}

static size_t triangle_numbers(size_t m)
{
    return m * (m + 1) / 2;
}

/* ---- snapshots ------------------------------------------------------------------------------------------------ */

enum {
    COUNTS = 12, /* in a snapshot */
    OTHERS = 4   /* numbers beside the arrays */
};

static size_t snapshot_numbers(const hfi_svgp_climb *c)
{
    const size_t m = c->run->q->m;
    return COUNTS + OTHERS + 4 * c->length + c->most + m + triangle_numbers(m);
}

/* Where the batches stand is for the caller to see to. */
static void go_through(hfi_svgp_climb *c, cursor *at, size_t *epoch, size_t *batch)
{
    hfi_svgp *q = c->run->q;
    size_t stop = (size_t)c->run->report->stop, settled = c->settled ? 1 : 0;
    size_t *const counts[COUNTS] = {epoch,     batch,      &c->moves, &c->averaged,
                                    &c->whole, &c->round,  &c->step,  &c->readings,
                                    &c->rows,  &c->bounds, &c->stage, &c->run->report->steps};
    for (size_t k = 0; k < COUNTS; k++) whole(at, counts[k]);
    whole(at, &stop);
    whole(at, &settled);
    c->run->report->stop = (hf_stop)stop;
    c->settled = settled > 0;
    many(at, &c->value, 1);
    many(at, &q->noise.threshold, 1);
    many(at, c->state, c->length);
    many(at, c->first, c->length);
    many(at, c->second, c->length);
    many(at, c->average, c->length);
    many(at, c->bound, c->most);
    many(at, q->shift, q->m);
    triangle(at, q->precision, q->m);
}

static hf_status take_back(hfi_svgp_climb *c)
{
    hfi_svgp *q = c->run->q;
    size_t epoch = 0, batch = 0;
    cursor at = {.at = c->numbers, .reading = true};
    go_through(c, &at, &epoch, &batch);
    /* Before the first move the model is not a state yet: the logarithm of a parameter has lost its last digit. */
    hf_status s = c->moves > 0 ? hfi_svgp_set_state(c->run, c->state) : HF_OK;
    if (s >= 0) s = hfi_svgp_renew(q);
    return s < 0 ? s : hfi_batches_seek(&c->batches, epoch, batch);
}

hf_status hfi_svgp_resume(hfi_svgp_climb *c)
{
    hfi_journal *journal = c->run->space->journal;
    bool found = false;
    if (!journal) return HF_OK;
    c->numbers = hfi_alloc(c->run->q->ctx, snapshot_numbers(c), sizeof *c->numbers);
    if (!c->numbers) return HF_ERR_MEMORY;
    const hf_status s = hfi_journal_restore(journal, snapshot_numbers(c), c->numbers, &found);
    return s < 0 || !found ? s : take_back(c);
}

static void snap(hfi_svgp_climb *c)
{
    size_t epoch = c->batches.epoch, batch = c->batches.batch;
    cursor at = {.at = c->numbers};
    go_through(c, &at, &epoch, &batch);
    hfi_journal_snapshot(c->run->space->journal, snapshot_numbers(c), c->numbers);
}

void hfi_svgp_snap(hfi_svgp_climb *c, bool now)
{
    if (c->numbers && (now || hfi_journal_is_due(c->run->space->journal))) snap(c);
}

void hfi_svgp_end_snapshots(hfi_svgp_climb *c)
{
    if (c->numbers) hfi_journal_pass_snapshots(c->run->space->journal, snapshot_numbers(c));
}

/* ---- passes ---------------------------------------------------------------------------------------------------- */

/* The question is where q is; the answer: readings, those far off, pull, square. */
static hfi_journal_entry entry_of(const hfi_svgp *q, double *numbers)
{
    const size_t m = q->m;
    memcpy(numbers, q->mu, m * sizeof *numbers);
    numbers[m] = q->noise.threshold;
    return (hfi_journal_entry){
        .asked = m + 1, .told = 2 + m + triangle_numbers(m), .question = numbers, .answer = numbers + m + 1};
}

static double *room_for_entry(const hfi_svgp *q)
{
    return hfi_alloc(q->ctx, 2 * q->m + 3 + triangle_numbers(q->m), sizeof(double));
}

static void go_through_sums(const hfi_svgp *q, cursor *at, hfi_svgp_sums *sums)
{
    whole(at, &sums->readings);
    whole(at, &sums->far);
    many(at, sums->pull, q->m);
    triangle(at, sums->square, q->m);
}

hf_status hfi_svgp_recall_pass(const hfi_svgp_run *run, hfi_svgp_sums *sums, bool *found)
{
    const hfi_svgp *q = run->q;
    *found = false;
    if (!run->space->journal) return HF_OK;
    double *numbers = room_for_entry(q);
    if (!numbers) return HF_ERR_MEMORY;
    hfi_journal_entry entry = entry_of(q, numbers);
    const hf_status s = hfi_journal_recall(run->space->journal, &entry, found);
    if (*found) {
        cursor at = {.at = entry.answer, .reading = true};
        sums->value = entry.value;
        go_through_sums(q, &at, sums);
    }
    hfi_free(q->ctx, numbers);
    return s;
}

hf_status hfi_svgp_keep_pass(const hfi_svgp_run *run, const hfi_svgp_sums *sums)
{
    const hfi_svgp *q = run->q;
    if (!run->space->journal) return HF_OK;
    double *numbers = room_for_entry(q);
    if (!numbers) return HF_ERR_MEMORY;
    hfi_journal_entry entry = entry_of(q, numbers);
    hfi_svgp_sums shown = *sums;
    cursor at = {.at = entry.answer};
    entry.value = sums->value;
    go_through_sums(q, &at, &shown);
    hfi_journal_keep(run->space->journal, &entry);
    hfi_free(q->ctx, numbers);
    return HF_OK;
}
