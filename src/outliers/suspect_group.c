/* SPDX-License-Identifier: Apache-2.0 */
/* Tight clusters of rows predict each other, so no leave-one-out residual can show that they are wrong
 * together. Here a whole group is left out, and two descriptions of the data are compared: all by one GP, or
 * the group as a GP with an offset of its own. */
#include "linalg/linalg.h"
#include "outliers/suspects.h"
#include <math.h>
#include <string.h>

enum {
    MOST_GROUPS = 3
};

/* The readings of one group and what is needed to judge them. */
typedef struct cluster {
    size_t size;
    double *x;      /* size x d */
    double *y;      /* size */
    size_t *row;    /* size: where they are */
    double *matrix; /* size x size */
    double *work;   /* max(size, rows) */
    double *column; /* rows */
    double range;   /* max y - min y of all readings */
} cluster;

/* -log N(y_B; m, K_BB + s2 I + R^2 11'): the group by the same GP plus one free offset. Infinity if it cannot
 * be factored. */
static double offset_code(hfi_finder *finder, const cluster *b)
{
    const hfi_evaluator *e = &finder->trainer->evaluator;
    if (hfi_kernel_gram_lower(finder->ctx, e->kernel, b->size, b->x, e->d, b->matrix, b->size) < 0)
        return INFINITY;
    hf_mean_evaluate(e->mean, b->size, b->x, e->d, b->work);
    for (size_t j = 0; j < b->size; j++) {
        for (size_t i = j; i < b->size; i++) b->matrix[i + j * b->size] += b->range * b->range;
        b->matrix[j + j * b->size] += hfi_sites_noise(e->sites, b->row[j]);
        b->work[j] = b->y[j] - b->work[j];
    }
    if (hfi_chol(finder->ctx, b->size, b->matrix, b->size) != HF_OK) return INFINITY;
    hfi_chol_forward(b->size, b->matrix, b->size, b->work);
    return 0.5 * hfi_dot(b->size, b->work, b->work) + 0.5 * hfi_chol_logdet(b->size, b->matrix, b->size) +
           (double)b->size * HFI_HALF_LOG_2PI;
}

/* The group as readings about its own mean with its own spread: else the one-GP description gets credit for
 * the copies' small scatter. */
static double own_code(const cluster *b)
{
    const double n = (double)b->size;
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < b->size; i++) mean += b->y[i] / n;
    for (size_t i = 0; i < b->size; i++) squares += (b->y[i] - mean) * (b->y[i] - mean);
    const double sd = fmax(sqrt(squares / n), 1e-4 * b->range);
    const double ratio = b->range / sd;
    return 0.5 * n * (2.0 * HFI_HALF_LOG_2PI + 2.0 * log(sd) + 1.0) + 0.5 * log1p(n * ratio * ratio) +
           0.5 * log(n);
}

/* (mean of y_B - its prediction from the others) / sd of that prediction; the model's present readings are
 * the others. Also their evidence. */
static hf_status group_residual(hfi_finder *finder, const cluster *b, double *t, double *log_evidence)
{
    hfi_evaluator *e = &finder->trainer->evaluator;
    hfi_solution solution;
    const hf_status solved = e->kind->solve(e, &solution, log_evidence);
    if (solved < 0) return solved;
    const size_t room = hfi_solution_room(&solution, 1);
    double *scratch = hfi_alloc(finder->ctx, hfi_kernel_scratch(e->kernel), sizeof *scratch);
    double *sum = hfi_alloc(finder->ctx, solution.n + room, sizeof *sum);
    if (scratch && sum) {
        const double n = (double)b->size;
        double difference = 0.0, variance = 0.0, noise = 0.0;
        hf_mean_evaluate(e->mean, b->size, b->x, e->d, b->work);
        for (size_t i = 0; i < b->size; i++) {
            hfi_kernel_cross_block(e->kernel, 1, b->x + i * e->d, e->d, solution.n, solution.z, e->d,
                                   b->column, solution.n, scratch);
            difference += (b->y[i] - b->work[i] - hfi_dot(solution.n, b->column, solution.t)) / n;
            hfi_axpy(solution.n, 1.0 / n, b->column, sum);
            noise += hfi_sites_noise(e->sites, b->row[i]) / (n * n);
            for (size_t j = 0; j < b->size; j++)
                variance += hfi_kernel_value(e->kernel, b->x + i * e->d, b->x + j * e->d, i == j) / (n * n);
        }
        size_t ld;
        const double *known = hfi_solution_whiten(&solution, 1, sum, solution.n, sum + solution.n, &ld);
        variance = fmax(variance - hfi_dot(hfi_solution_rank(&solution), known, known), 0.0) + noise;
        *t = difference / sqrt(fmax(variance, 1e-300));
    }
    const hf_status s = scratch && sum ? HF_OK : HF_ERR_MEMORY;
    HFI_FREE(finder->ctx, scratch, sum);
    hfi_solution_free(&solution);
    return s;
}

static void gather(const hfi_finder *finder, const size_t *group, size_t which, cluster *b)
{
    const hfi_evaluator *e = &finder->trainer->evaluator;
    const double *y = hf_sites_readings(e->sites);
    b->size = 0;
    for (size_t i = 0; i < finder->n; i++) {
        if (group[i] != which) continue;
        memcpy(b->x + b->size * e->d, e->x + i * e->ldx, e->d * sizeof *b->x);
        b->row[b->size] = i;
        b->y[b->size++] = y[i];
    }
}

/* Decides one group. On acceptance `next` holds the flags with the group added and the state fitted without
 * it. */
static hf_status test_group(hfi_finder *finder, const hfi_flagging *current, const cluster *b,
                            hfi_flagging *next, bool *accepted)
{
    hfi_evaluator *e = &finder->trainer->evaluator;
    double together = 0.0;
    *accepted = false;
    hf_status s = hfi_finder_present(finder, current->flag);
    if (s >= 0) s = hfi_trainer_set(finder->trainer, current->state);
    if (s >= 0) s = hfi_evaluator_select(e);
    if (s >= 0) s = hfi_evaluator_run(e, HF_OBJECTIVE_EVIDENCE, &together, NULL);
    /* A cold start: the present state is distorted by the group. */
    if (s >= 0) s = hfi_finder_fit(finder, next->flag, next->state, true, finder->settings->iterations);
    double t = 0.0, rest = 0.0;
    if (s >= 0) s = group_residual(finder, b, &t, &rest);
    if (s < 0) return s;
    const double apart = -rest + fmin(offset_code(finder, b), own_code(b));
    *accepted = -together - apart > 3.0 && fabs(t) > 4.0;
    return HF_OK;
}

/* After a group was accepted: look again for single readings with the group locked. */
static hf_status after_acceptance(hfi_finder *finder, hfi_flagging *current, const hfi_flagging *next,
                                  const bool *lock)
{
    hfi_flagging base;
    hfi_attempt attempt;
    hf_status s = hfi_flagging_init(finder->ctx, &base, finder->n, finder->trainer->count);
    if (s < 0) return s;
    s = hfi_flagging_init(finder->ctx, &attempt.result, finder->n, finder->trainer->count);
    if (s >= 0) {
        hfi_flagging_copy(finder, current, next);
        memcpy(base.flag, lock, finder->n * sizeof *lock);
        memcpy(base.state, next->state, finder->trainer->count * sizeof *base.state);
        s = hfi_finder_assess(finder, &base);
        if (s >= 0) s = hfi_attempt_run(finder, lock, &base, false, &attempt);
        if (s >= 0 && attempt.judged.accepted) hfi_flagging_copy(finder, current, &attempt.result);
        hfi_flagging_free(finder->ctx, &attempt.result);
    }
    hfi_flagging_free(finder->ctx, &base);
    return s;
}

/* `group` holds the groups accepted so far; they stay locked together with this one. */
static hf_status one_group(hfi_finder *finder, hfi_flagging *current, const size_t *found, size_t which,
                           const size_t *group, cluster *b, hfi_flagging *next, bool *accepted)
{
    size_t flagged = 0;
    gather(finder, found, which, b);
    hfi_flagging_copy(finder, next, current);
    for (size_t i = 0; i < finder->n; i++) {
        if (found[i] != which) continue;
        flagged += current->flag[i] ? 1 : 0;
        next->flag[i] = true;
    }
    *accepted = false;
    if (2 * flagged > b->size || 2 * hfi_count_flags(finder->n, next->flag) > finder->n) return HF_OK;
    hf_status s = test_group(finder, current, b, next, accepted);
    if (s < 0 || !*accepted) return s;
    bool *lock = hfi_alloc(finder->ctx, finder->n, sizeof *lock);
    if (!lock) return HF_ERR_MEMORY;
    for (size_t i = 0; i < finder->n; i++) lock[i] = found[i] == which || group[i] > 0;
    s = after_acceptance(finder, current, next, lock);
    hfi_free(finder->ctx, lock);
    return s;
}

static hf_status cluster_init(hfi_finder *finder, const size_t *found, size_t groups, cluster *b)
{
    const hfi_evaluator *e = &finder->trainer->evaluator;
    size_t largest = 0;
    for (size_t g = 1; g <= groups; g++) {
        size_t size = 0;
        for (size_t i = 0; i < finder->n; i++) size += found[i] == g ? 1 : 0;
        largest = size > largest ? size : largest;
    }
    b->range = finder->range;
    b->x = hfi_alloc(finder->ctx, largest, e->d * sizeof *b->x);
    b->y = hfi_alloc(finder->ctx, largest, sizeof *b->y);
    b->row = hfi_alloc(finder->ctx, largest, sizeof *b->row);
    b->matrix = hfi_alloc(finder->ctx, largest, largest * sizeof *b->matrix);
    b->work = hfi_alloc(finder->ctx, finder->n, sizeof *b->work);
    b->column = hfi_alloc(finder->ctx, finder->n, sizeof *b->column);
    return b->x && b->y && b->row && b->matrix && b->work && b->column ? HF_OK : HF_ERR_MEMORY;
}

static void cluster_free(hf_context *ctx, cluster *b)
{
    HFI_FREE(ctx, b->x, b->y, b->row, b->matrix, b->work, b->column);
}

hf_status hfi_finder_groups(hfi_finder *finder, hfi_flagging *current, size_t *group, size_t *count)
{
    const hfi_evaluator *e = &finder->trainer->evaluator;
    size_t groups = 0;
    cluster b = {0};
    hfi_flagging next;
    size_t *found = hfi_alloc(finder->ctx, finder->n, sizeof *found);
    if (!found) return HF_ERR_MEMORY;
    hf_status s = hfi_flagging_init(finder->ctx, &next, finder->n, finder->trainer->count);
    if (s >= 0)
        s = hfi_suspect_groups(finder->ctx, finder->n, e->d, finder->trainer->comparable, e->d, MOST_GROUPS,
                               found, &groups);
    if (s >= 0 && groups > 0) s = cluster_init(finder, found, groups, &b);
    for (size_t g = 1; s >= 0 && g <= groups; g++) {
        bool accepted = false;
        s = one_group(finder, current, found, g, group, &b, &next, &accepted);
        if (s < 0 || !accepted) continue;
        *count += 1;
        for (size_t i = 0; i < finder->n; i++)
            if (found[i] == g) group[i] = *count;
    }
    cluster_free(finder->ctx, &b);
    hfi_flagging_free(finder->ctx, &next);
    hfi_free(finder->ctx, found);
    return s < 0 ? s : HF_OK;
}
