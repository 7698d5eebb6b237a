/* SPDX-License-Identifier: Apache-2.0 */
/* The suspect finder as a whole: attempt, groups, final fit. */
#include "linalg/linalg.h"
#include "outliers/suspects.h"
#include <math.h>
#include <string.h>

/* ---- whole groups ------------------------------------------------------------------------------------ */

/* Tight clusters of rows predict each other, so no leave-one-out residual can show that they are wrong
 * together. Here a whole group is left out, and two descriptions of the data are compared: all by one GP, or
 * the group as a GP with an offset of its own. */

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
    double *scratch, *sum;
    const hf_status s = HFI_ALLOC(finder->ctx, HFI_ROOM(scratch, hfi_kernel_scratch(e->kernel)),
                                  HFI_ROOM(sum, solution.n + room));
    if (s >= 0) {
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
    HFI_FREE(finder->ctx, scratch, sum);
    hfi_solution_free(&solution);
    return s;
}

static void gather_group_readings(const hfi_finder *finder, const size_t *group, size_t which, cluster *b)
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
    gather_group_readings(finder, found, which, b);
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
    return HFI_ALLOC(finder->ctx, HFI_ROOMS(b->x, largest, e->d), HFI_ROOM(b->y, largest),
                     HFI_ROOM(b->row, largest), HFI_ROOMS(b->matrix, largest, largest),
                     HFI_ROOM(b->work, finder->n), HFI_ROOM(b->column, finder->n));
}

static void cluster_free(hf_context *ctx, cluster *b)
{
    HFI_FREE(ctx, b->x, b->y, b->row, b->matrix, b->work, b->column);
}

/* Tests whole groups; `current` is replaced where a group is accepted. `group` (rows) receives their
 * numbers, *count how many. */
static hf_status find_groups(hfi_finder *finder, hfi_flagging *current, size_t *group, size_t *count)
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

/* ---- replicates -------------------------------------------------------------------------------------- */

/* Replicates: rows that differ in their inputs and have the very same reading, because it was taken once for
 * all of them. (Example: four cross sections of a core, whose permeability is measured as a whole). Leaving one out
 * leaves its twins, so that its residual says how well the inputs tell specimens apart, not whether a reading
 * is wrong. */

/* Only readings within so many interquartile ranges of the quartiles are looked at: far ones may be wrong,
 * and wrong in the same way. */
static const double FENCE = 1.5;

/* Readings that were rounded have twins too, but then not many more steps lie between their quartiles than
 * there are readings. */
static const double STEPS_A_READING = 2.0;

/* Specimens are several: a number that stands in more than this share of the rows is a sensor at rest or one
 * of few grades. */
static const double MOST_OF_ONE = 0.2;

/* Rows of a specimen at least, on average: pairs are what sparse rounding leaves too. */
static const double ROWS_A_NUMBER = 2.5;

/* How many numbers the sorted readings are, and how often the commonest stands. */
static size_t count_numbers(const double *sorted, size_t n, size_t *most)
{
    size_t numbers = 0, begin = 0;
    *most = 0;
    for (size_t i = 0; i < n; i++) {
        if (sorted[i] != sorted[begin]) begin = i;
        numbers += begin == i ? 1 : 0;
        *most = i + 1 - begin > *most ? i + 1 - begin : *most;
    }
    return numbers;
}

/* Whether a number stands twice among the sorted readings. */
static bool stands_twice(const double *sorted, size_t n, double y)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (sorted[middle] < y)
            low = middle + 1;
        else
            high = middle;
    }
    return low + 1 < n && sorted[low + 1] == y;
}

/* Sets finder->replicate. HF_ERR_MEMORY. */
static hf_status find_replicates(hfi_finder *finder)
{
    const size_t n = finder->n;
    const double *y = hf_sites_readings(finder->trainer->evaluator.sites);
    double *sorted = finder->sorted, step = 0.0;
    size_t inside = 0, most = 0;
    if (finder->outputs > 1) return HF_OK;
    memcpy(sorted, y, n * sizeof *sorted);
    const double low = hfi_quantile(sorted, n, 0.25), high = hfi_quantile(sorted, n, 0.75),
                 width = high - low;
    for (size_t i = 0; i < n; i++) {
        finder->replicate[i] = y[i] >= low - FENCE * width && y[i] <= high + FENCE * width;
        if (finder->replicate[i]) sorted[inside++] = y[i];
    }
    const hf_status s = hfi_reading_step(finder->ctx, inside, sorted, &step);
    if (s < 0) return s;
    (void)hfi_median(sorted, inside); /* sorts */
    for (size_t i = 0; i < n; i++)
        finder->replicate[i] = finder->replicate[i] && stands_twice(sorted, inside, y[i]);
    const bool rounded = width <= STEPS_A_READING * (double)n * step;
    const size_t numbers = count_numbers(sorted, inside, &most);
    const bool single = (double)inside < ROWS_A_NUMBER * (double)numbers || 2 * inside < n;
    if (single || rounded || (double)most > MOST_OF_ONE * (double)n)
        memset(finder->replicate, 0, n * sizeof *finder->replicate);
    return HF_OK;
}

/* ---- the finder --------------------------------------------------------------------------------------- */

/* With fewer readings a mixture of residuals says nothing. */
enum {
    LEAST_READINGS = 10
};

/* How far from the median, in units of 1.4826 MAD, a reading still counts for the range: one at 1e12 would
 * make every flag cost 28 nats. */
static const double FURTHEST = 100.0;

/* Range of the readings that is what a flagged one is described with; 0 if all are equal. */
static hf_status find_readings_range(hfi_finder *finder, const double *y)
{
    double *sorted = hfi_alloc(finder->ctx, finder->n, 2 * sizeof *sorted);
    if (!sorted) return HF_ERR_MEMORY;
    memcpy(sorted, y, finder->n * sizeof *sorted);
    const double median = hfi_median(sorted, finder->n);
    const double mad = hfi_mad(y, finder->n, sorted + finder->n);
    const double reach = mad > 0.0 ? FURTHEST * mad : INFINITY;
    finder->range = fmin(sorted[finder->n - 1], median + reach) - fmax(sorted[0], median - reach);
    finder->wild = sorted[finder->n - 1] - median > reach || median - sorted[0] > reach;
    hfi_free(finder->ctx, sorted);
    return HF_OK;
}

static hf_status finder_init(hfi_finder *finder, hfi_trainer *trainer, const hf_fit_settings *settings)
{
    memset(finder, 0, sizeof *finder);
    finder->ctx = trainer->evaluator.ctx;
    finder->trainer = trainer;
    finder->settings = settings;
    finder->n = trainer->evaluator.rows;
    finder->outputs = hfi_larger(trainer->outputs, 1);
    hf_status s = find_readings_range(finder, hf_sites_readings(trainer->evaluator.sites));
    if (s >= 0) s = hfi_holdout_init(finder->ctx, &finder->residuals, finder->n);
    if (s >= 0) s = hfi_flagging_init(finder->ctx, &finder->assessed, finder->n, trainer->count);
    if (s >= 0) s = hfi_evaluator_keep(&trainer->evaluator);
    if (s < 0) return s;
    s = HFI_ALLOC(finder->ctx, HFI_ROOM(finder->probability, finder->n), HFI_ROOM(finder->sorted, finder->n),
                  HFI_ROOMS(finder->flag, finder->n, 2));
    if (s < 0) return s;
    finder->replicate = finder->flag + finder->n;
    return find_replicates(finder);
}

static void finder_free(hfi_finder *finder)
{
    hfi_holdout_free(finder->ctx, &finder->residuals);
    hfi_flagging_free(finder->ctx, &finder->assessed);
    HFI_FREE(finder->ctx, finder->probability, finder->sorted, finder->flag);
}

/* From the cold start, and from others: without the flagged readings it may be another one that ends highest. */
static hf_status cold_fit(hfi_finder *finder, const bool *flag, double *state, size_t iterations)
{
    hfi_trainer *t = finder->trainer;
    t->moved = NULL;
    hf_status s = hfi_finder_present(finder, flag);
    if (s >= 0) s = hfi_trainer_cold(t, state);
    return s < 0 ? s : hfi_trainer_explore(t, false, state, iterations, &t->moved);
}

/* The kept readings once more, from cold and from where the search ended; the better of the two to the end. */
static hf_status final_fit(hfi_finder *finder, hfi_flagging *current, double *other)
{
    hfi_trainer *t = finder->trainer;
    const size_t iterations = finder->settings->iterations;
    t->enough = hfi_finder_roughly(finder);
    hf_status s = t->warm ? HF_OK : cold_fit(finder, current->flag, other, iterations);
    const double cold = t->warm ? -INFINITY : t->found.value + t->found.log_prior;
    t->enough = hfi_finder_enough;
    if (s >= 0) s = hfi_finder_fit(finder, current->flag, current->state, false, iterations);
    const double warm = t->found.value + t->found.log_prior;
    t->enough = 0.0;
    if (s < 0) return s;
    if (warm < cold) memcpy(current->state, other, t->count * sizeof *other);
    return hfi_finder_fit(finder, current->flag, current->state, false, iterations);
}

/* Leave-one-out by the plain state, which was assessed just now. */
static void keep_plain(const hfi_finder *finder, hfi_verdict *verdict)
{
    if (!verdict->plain_mean) return;
    memcpy(verdict->plain_mean, finder->residuals.mean, finder->n * sizeof *verdict->plain_mean);
    memcpy(verdict->plain_sd, finder->residuals.sd, finder->n * sizeof *verdict->plain_sd);
}

/* Over the readings that nobody suspects. */
static hfi_side side_of(const hfi_finder *finder, const hfi_flagging *f, const bool *suspected)
{
    hfi_side side = {0};
    double count = 0.0;
    for (size_t i = 0; i < finder->n; i++) {
        if (suspected[i]) continue;
        side.error += fabs(f->t[i]) * f->sd[i];
        side.sd += f->sd[i];
        count += 1.0;
    }
    return (hfi_side){side.error / count, side.sd / count};
}

static void tell_sides(const hfi_finder *finder, const hfi_flagging *plain, const hfi_attempt *attempt,
                       hfi_suspicion *evidence)
{
    if (!attempt->found) return;
    evidence->with = side_of(finder, plain, attempt->result.flag);
    evidence->without = side_of(finder, &attempt->result, attempt->result.flag);
}

static hf_status search_suspects(hfi_finder *finder, hfi_flagging *current, hfi_attempt *attempt,
                                 hfi_verdict *verdict)
{
    bool *none = hfi_alloc(finder->ctx, finder->n, sizeof *none);
    if (!none) return HF_ERR_MEMORY;
    hf_status s = hfi_finder_assess(finder, current);
    if (s >= 0) keep_plain(finder, verdict);
    if (s >= 0) s = hfi_attempt_run(finder, none, current, true, attempt);
    hfi_free(finder->ctx, none);
    if (s < 0) return s;
    verdict->evidence = attempt->judged.evidence;
    tell_sides(finder, current, attempt, &verdict->evidence);
    if (attempt->judged.accepted) hfi_flagging_copy(finder, current, &attempt->result);
    if (finder->settings->groups) s = find_groups(finder, current, verdict->group, &verdict->groups);
    if (s < 0) return s;
    verdict->adopted = hfi_count_flags(finder->n, current->flag) > 0;
    const bool *suspected = verdict->adopted ? current->flag : attempt->result.flag;
    for (size_t i = 0; i < finder->n; i++) verdict->suspected[i] = suspected[i];
    return HF_OK;
}

hf_status hfi_find_suspects(hfi_trainer *trainer, const hf_fit_settings *settings, double *state,
                            hfi_verdict *verdict)
{
    hfi_finder finder;
    hfi_flagging current = {0};
    hfi_attempt attempt = {0};
    verdict->evidence = hfi_suspicion_none();
    hf_status s = finder_init(&finder, trainer, settings);
    if (s >= 0 && finder.n >= LEAST_READINGS && finder.range > 0.0) {
        s = hfi_flagging_init(finder.ctx, &current, finder.n, trainer->count);
        if (s >= 0) s = hfi_flagging_init(finder.ctx, &attempt.result, finder.n, trainer->count);
        if (s >= 0) {
            memcpy(current.state, state, trainer->count * sizeof *state);
            trainer->enough = hfi_finder_enough;
            s = search_suspects(&finder, &current, &attempt, verdict);
            trainer->enough = 0.0;
        }
        if (s >= 0 && verdict->adopted) s = final_fit(&finder, &current, attempt.result.state);
        /* Not adopted: exactly the plain state, with every reading present again. */
        if (s >= 0) s = hfi_finder_present(&finder, current.flag);
        if (s >= 0) s = hfi_trainer_set(trainer, current.state);
        if (s >= 0) memcpy(state, current.state, trainer->count * sizeof *state);
    }
    verdict->rounds = finder.rounds;
    hf_context *ctx = finder.ctx;
    hfi_flagging_free(ctx, &attempt.result);
    hfi_flagging_free(ctx, &current);
    finder_free(&finder);
    return s;
}
