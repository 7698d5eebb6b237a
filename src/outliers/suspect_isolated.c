/* SPDX-License-Identifier: Apache-2.0 */
/* A few isolated suspects, judged like extreme values. One wrong reading among many gains a mixture of
 * residuals only 5 to 10 nats, however wrong it is, and the others' predictions little: a legitimate extreme
 * does not lie as far beyond the tails that the others have once it no longer bends the fit.
 *
 * Candidates are left out one more at a time, the furthest first, and each time the rest is fitted again. A
 * set passes when every one of it is further out than one table in 1 / limit would have a reading by chance;
 * the largest set that passes counts, so that wrong readings cannot hide each other (Rosner 1983). */
#include "outliers/suspects.h"
#include "sites/tail.h"
#include <math.h>
#include <string.h>

/* So often may a table without wrong readings lose one. */
static const double limit = 0.05;

/* Few suspects may be so many of a small table that the others' tails are not known well; they are set aside
 * too if the others are predicted so much better without them. Twice 9 nats is beyond chi^2 with four degrees
 * of freedom, those of the mixture, once in 800 times. */
static const double clear_benefit = 0.6, clear_gain = 9.0;

/* A chance within this factor of the limit decides nothing. */
static const double close = 3.0;

enum {
    FEW = 3,  /* suspects that are isolated in any table, */
    MOST = 5, /* and in a large one, where they are at most one in */
    ONE_IN = 50,
    FEWEST_READINGS = 6 /* of an output, to know its tails */
};

/* So many suspects of n readings are few. */
static size_t few_suspects(size_t n)
{
    const size_t share = n / ONE_IN;
    return share < FEW ? FEW : share > MOST ? MOST : share;
}

/* Rows suspected and not locked, the furthest first; `row` has room for all. */
static size_t list_suspects(const hfi_flagging *f, const bool *lock, size_t n, size_t *row)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!f->flag[i] || lock[i]) continue;
        size_t at = count++;
        for (; at > 0 && fabs(f->t[row[at - 1]]) < fabs(f->t[i]); at--) row[at] = row[at - 1];
        row[at] = i;
    }
    return count;
}

/* Residuals, and how many hyperparameters the readings had a vote on: each takes a degree of freedom. */
typedef struct residual_set {
    const double *t;
    size_t trained;
} residual_set;

/* The tails of an output's kept readings; *rows are all of its readings. */
static hf_status find_tail(hfi_finder *finder, const hfi_flagging *f, const residual_set *r, size_t output,
                           hfi_tail *tail, size_t *rows)
{
    size_t kept = 0;
    *rows = 0;
    for (size_t i = 0; i < finder->n; i++) {
        if (hfi_finder_output(finder, i) != output) continue;
        *rows += 1;
        if (!f->flag[i]) finder->sorted[kept++] = r->t[i];
    }
    const double m = (double)kept, votes = (double)r->trained / (double)finder->outputs;
    const double wider = sqrt(m / fmax(m - votes, 0.5 * m));
    for (size_t i = 0; i < kept; i++) finder->sorted[i] *= wider;
    return hfi_tail_fit(finder->ctx, kept < FEWEST_READINGS ? 0 : kept, finder->sorted, tail);
}

/* The chances of `count` suspects into finder->probability. */
static hf_status find_chances(hfi_finder *finder, const hfi_flagging *f, const residual_set *r,
                              const size_t *row, size_t count)
{
    hfi_tail *tail = hfi_alloc(finder->ctx, 1, sizeof *tail);
    if (!tail) return HF_ERR_MEMORY;
    hf_status s = HF_OK;
    size_t output = finder->outputs, rows = 0; /* of no output yet */
    for (size_t k = 0; s >= 0 && k < count; k++) {
        const size_t own = hfi_finder_output(finder, row[k]);
        if (own != output) s = find_tail(finder, f, r, output = own, tail, &rows);
        if (s >= 0) finder->probability[k] = hfi_tail_chance(tail, f->t[row[k]], rows);
    }
    hfi_free(finder->ctx, tail);
    return s;
}

static double find_largest_probability(const double *value, size_t count)
{
    double most = 0.0;
    for (size_t k = 0; k < count; k++) most = fmax(most, value[k]);
    return most;
}

/* The largest chance of a set. Leave-one-out leaves out a reading but not its vote on the hyperparameters:
 * where that matters, tails are those of residuals without it. They are wider, so that who is no extreme of
 * the narrower ones need not ask. */
static hf_status judge_set(hfi_finder *finder, const hfi_flagging *f, const size_t *row, size_t count,
                           double *chance)
{
    const hfi_trainer *t = finder->trainer;
    hf_status s = find_chances(finder, f, &(residual_set){f->t, t->free_count}, row, count);
    if (s < 0) return s;
    *chance = find_largest_probability(finder->probability, count);
    if (*chance > limit * close || !hfi_refit_matters(t)) return s;
    finder->any = false; /* finder->residuals will not be those of an assessment */
    s = hfi_refit_residuals(finder->trainer, f->state, &finder->residuals);
    if (s >= 0) s = find_chances(finder, f, &(residual_set){finder->residuals.t, 0}, row, count);
    *chance = find_largest_probability(finder->probability, count);
    return s;
}

hf_status hfi_mid_chance(hfi_finder *finder, const bool *lock, const hfi_flagging *f, double *out)
{
    size_t *row = hfi_alloc(finder->ctx, finder->n, sizeof *row);
    if (!row) return HF_ERR_MEMORY;
    const size_t count = list_suspects(f, lock, finder->n, row);
    const residual_set r = {f->t, finder->trainer->free_count};
    const hf_status s = find_chances(finder, f, &r, row, count);
    *out = s >= 0 && count > 0 ? hfi_median(finder->probability, count) : 1.0;
    hfi_free(finder->ctx, row);
    return s;
}

/* Sets of 1, 2, ... candidates; `trial` is scratch, `best` receives the largest that passes. */
static hf_status try_sets(hfi_finder *finder, const bool *lock, const size_t *row, size_t count,
                          hfi_flagging *trial, hfi_flagging *best, hfi_judgement *judged)
{
    double least = INFINITY;
    memcpy(trial->flag, lock, finder->n * sizeof *lock);
    for (size_t k = 0; k < count; k++) {
        double chance = 1.0;
        trial->flag[row[k]] = true;
        hf_status s = hfi_finder_fit(finder, trial->flag, trial->state, false, HFI_FINDER_WARM);
        if (s >= 0) s = hfi_finder_assess(finder, trial);
        if (s >= 0) s = judge_set(finder, trial, row, k + 1, &chance);
        if (s < 0) return s;
        finder->rounds++;
        least = fmin(least, chance);
        if (chance > limit) continue;
        judged->accepted = true;
        judged->evidence.chance = chance;
        hfi_flagging_copy(finder, best, trial);
    }
    if (!judged->accepted) judged->evidence.chance = least;
    judged->evidence.undecided =
        judged->evidence.chance > limit / close && judged->evidence.chance < limit * close;
    return HF_OK;
}

static bool is_clear(const hfi_judgement *judged)
{
    const hfi_suspicion *e = &judged->evidence;
    return judged->accepted && e->benefit <= clear_benefit && e->gain >= clear_gain;
}

hf_status hfi_isolated_run(hfi_finder *finder, const bool *lock, hfi_attempt *attempt)
{
    const size_t n = finder->n, few = few_suspects(n);
    attempt->tested = true;
    if (!attempt->found || finder->settings->suspects == HF_OUTLIERS_FORCE) return HF_OK;
    size_t *row = hfi_alloc(finder->ctx, n, sizeof *row);
    if (!row) return HF_ERR_MEMORY;
    size_t count = list_suspects(&attempt->result, lock, n, row);
    hf_status s = HF_OK;
    if (count <= few || !attempt->judged.accepted) {
        hfi_flagging trial;
        hfi_judgement judged = attempt->judged;
        judged.accepted = false;
        s = hfi_flagging_init(finder->ctx, &trial, n, finder->trainer->count);
        if (s >= 0) {
            memcpy(trial.state, attempt->result.state, finder->trainer->count * sizeof *trial.state);
            s = try_sets(finder, lock, row, count < few ? count : few, &trial, &attempt->result, &judged);
            hfi_flagging_free(finder->ctx, &trial);
        }
        if (judged.accepted || !is_clear(&attempt->judged)) attempt->judged = judged;
    }
    hfi_free(finder->ctx, row);
    return s;
}
