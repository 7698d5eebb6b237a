/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints of a fit by minibatches: interrupted steps go on from a snapshot of all they depend on, passes over the
 * rows from their sums. */
#include "checkpoint/journal.h"
#include "svgp/impl.h"
#include <string.h>

/* ---- numbers, one way or the other --------------------------------------------------------------------------- */

typedef struct cursor {
    double *at;
    bool reading;
} cursor;

static void copy_cursor_values(cursor *c, double *values, size_t count)
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
    for (size_t j = 0; j < m; j++) copy_cursor_values(c, matrix + j + j * m, m - j);
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
    size_t stop = (size_t)c->run->report->found.stop, settled = c->settled ? 1 : 0;
    size_t *const counts[COUNTS] = {epoch,     batch,      &c->moves, &c->averaged,
                                    &c->whole, &c->round,  &c->step,  &c->readings,
                                    &c->rows,  &c->bounds, &c->stage, &c->run->report->steps};
    for (size_t k = 0; k < COUNTS; k++) whole(at, counts[k]);
    whole(at, &stop);
    whole(at, &settled);
    c->run->report->found.stop = (hf_stop)stop;
    c->settled = settled > 0;
    copy_cursor_values(at, &c->value, 1);
    copy_cursor_values(at, &q->noise.threshold, 1);
    copy_cursor_values(at, c->state, c->length);
    copy_cursor_values(at, c->first, c->length);
    copy_cursor_values(at, c->second, c->length);
    copy_cursor_values(at, c->average, c->length);
    copy_cursor_values(at, c->bound, c->most);
    copy_cursor_values(at, q->shift, q->m);
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

typedef struct svgp_pass {
    const hfi_svgp_run *run;
    hfi_svgp_sums *sums;
} svgp_pass;

/* Readings, those far off, linear, square. */
static void go_through_sums(const svgp_pass *p, hfi_journal_entry *entry)
{
    const hfi_svgp *q = p->run->q;
    cursor at = {.at = entry->answer, .reading = entry->recalled};
    whole(&at, &p->sums->readings);
    whole(&at, &p->sums->far);
    copy_cursor_values(&at, p->sums->linear, q->m);
    triangle(&at, p->sums->square, q->m);
}

static hf_status make_pass(void *arg, hfi_journal_entry *entry)
{
    const svgp_pass *p = arg;
    const hf_status s = hfi_svgp_add_all(p->run->q, p->run->rows, p->sums);
    entry->value = p->sums->value;
    if (s >= 0) go_through_sums(p, entry);
    return s;
}

hf_status hfi_svgp_pass(const hfi_svgp_run *run, hfi_svgp_sums *sums)
{
    const hfi_svgp *q = run->q;
    const size_t m = q->m, told = 2 + m + triangle_numbers(m);
    if (!run->space->journal) return hfi_svgp_add_all(run->q, run->rows, sums);
    double *numbers = hfi_alloc(q->ctx, m + 1 + told, sizeof *numbers);
    if (!numbers) return HF_ERR_MEMORY;
    memcpy(numbers, q->mu, m * sizeof *numbers);
    numbers[m] = q->noise.threshold;
    svgp_pass p = {.run = run, .sums = sums};
    hfi_journal_entry entry = {.asked = m + 1, .told = told, .key = numbers, .answer = numbers + m + 1};
    const hf_status s = hfi_journal_answer(run->space->journal, &entry, make_pass, &p);
    if (entry.recalled) {
        sums->value = entry.value;
        go_through_sums(&p, &entry);
    }
    hfi_free(q->ctx, numbers);
    return s;
}
