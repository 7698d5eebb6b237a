/* SPDX-License-Identifier: Apache-2.0 */
/* The suspect finder as a whole: attempt, groups, final fit. */
#include "outliers/suspects.h"
#include <math.h>
#include <string.h>

/* With fewer readings a mixture of residuals says nothing. */
enum {
    LEAST_READINGS = 10
};

/* How far from the median, in units of 1.4826 MAD, a reading still counts for the range: one at 1e12 would
 * make every flag cost 28 nats. */
static const double FURTHEST = 100.0;

/* Range of the readings that is what a flagged one is described with; 0 if all are equal. */
static hf_status find_range(hfi_finder *finder, const double *y)
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
    finder->outputs = trainer->outputs > 1 ? trainer->outputs : 1;
    hf_status s = find_range(finder, hf_sites_readings(trainer->evaluator.sites));
    if (s >= 0) s = hfi_holdout_init(finder->ctx, &finder->residuals, finder->n);
    if (s >= 0) s = hfi_flagging_init(finder->ctx, &finder->assessed, finder->n, trainer->count);
    if (s >= 0) s = hfi_evaluator_keep(&trainer->evaluator);
    if (s < 0) return s;
    finder->probability = hfi_alloc(finder->ctx, finder->n, sizeof *finder->probability);
    finder->sorted = hfi_alloc(finder->ctx, finder->n, sizeof *finder->sorted);
    finder->flag = hfi_alloc(finder->ctx, finder->n, 2 * sizeof *finder->flag);
    if (!finder->probability || !finder->sorted || !finder->flag) return HF_ERR_MEMORY;
    finder->replicate = finder->flag + finder->n;
    return hfi_finder_replicates(finder);
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

static hf_status search(hfi_finder *finder, hfi_flagging *current, hfi_attempt *attempt, hfi_verdict *verdict)
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
    if (finder->settings->groups) s = hfi_finder_groups(finder, current, verdict->group, &verdict->groups);
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
            s = search(&finder, &current, &attempt, verdict);
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
