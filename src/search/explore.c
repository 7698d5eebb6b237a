/* SPDX-License-Identifier: Apache-2.0 */
/* Starts of a search beside the cold one. A cold start has a lengthscale as long as the inputs are spread.
 * A function that moves quickly looks like noise from there, and a search may end in a maximum where all is noise. */
#include "search/explore.h"
#include "objective/holdout.h"
#include "objective/thin.h"
#include <math.h>
#include <string.h>

/* A hundredth of every noise: for models with a maximum in which one output of several is all
 * noise. */
static const hfi_start quiet_start = {"quiet", 1.0, 0.01};

/* Nats that one reading counts at most where two states are compared by their predictions, and standard
 * errors by which they differ clearly. */
static const double most_of_one = 5.0, errors_apart = 2.0;

/* Where a shorter start than `cold` ends on the readings present, into `trial`, if that is clearly higher
 * than `reached`: else *chosen is NULL. */
static hf_status find_shorter(hfi_trainer *t, const double *cold, double reached, size_t iterations,
                              double *trial, const hfi_start **chosen)
{
    bool better = false;
    hf_status s = hfi_start_shorter(t, hfi_explore_value, t, cold, trial, chosen);
    if (s < 0 || !*chosen) return s;
    s = hfi_explore_climb(t, trial, iterations, reached, &better);
    if (!better) *chosen = NULL;
    return s;
}

/* The same on some of the readings first, where `state` goes to what is highest on these. */
static hf_status find_on_some(hfi_trainer *t, const double *cold, const double *state, size_t iterations,
                              double *trial, const hfi_start **chosen)
{
    hfi_thinned thinned;
    hf_status s = hfi_thin_near(&t->evaluator, t->comparable, HFI_EXPLORE_READINGS, &thinned);
    if (s < 0) return s;
    bool any = false;
    memcpy(trial, state, t->count * sizeof *trial);
    s = hfi_explore_climb(t, trial, iterations, -INFINITY, &any);
    const double reached = any ? hfi_trainer_total(t) : -INFINITY;
    if (s >= 0) s = find_shorter(t, cold, reached, iterations, trial, chosen);
    const hf_status back = hfi_thin_back(&t->evaluator, &thinned);
    return s < 0 ? s : back;
}

/* Log densities of the present readings by all others at `state`, less the constant; holdout: buffers. */
static hf_status densities(hfi_trainer *t, const double *state, hfi_holdout *holdout, double *density)
{
    hf_status s = hfi_trainer_set(t, state);
    if (s >= 0) s = hfi_evaluator_select(&t->evaluator);
    if (s >= 0) s = hfi_holdout_compute(&t->evaluator, holdout);
    for (size_t i = 0; s >= 0 && i < t->evaluator.rows; i++)
        density[i] = -log(holdout->sd[i]) - 0.5 * holdout->t[i] * holdout->t[i];
    return s;
}

double hfi_gain_counted(double difference)
{
    return fmin(fmax(difference, -most_of_one), most_of_one);
}

bool hfi_gain_is_clear(double mean, double error)
{
    return mean > errors_apart * error;
}

/* Whether log densities of the present readings are clearly higher in a than in b. */
static bool are_above(const hf_sites *sites, const double *a, const double *b)
{
    hfi_tally gains = {.count = 0.0};
    for (size_t i = 0; i < hf_sites_count(sites); i++)
        if (hf_sites_is_present(sites, i)) hfi_tally_add(&gains, hfi_gain_counted(a[i] - b[i]));
    return hfi_gain_is_clear(gains.mean, hfi_tally_error(&gains));
}

hf_status hfi_trainer_predicts_worse(hfi_trainer *t, const double *found, const double *kept, bool *worse)
{
    const size_t rows = t->evaluator.rows;
    hfi_holdout holdout = {.mean = NULL};
    double *density = hfi_alloc(t->evaluator.ctx, rows, 2 * sizeof *density);
    hf_status s = density ? hfi_holdout_init(t->evaluator.ctx, &holdout, rows) : HF_ERR_MEMORY;
    if (s >= 0) s = densities(t, found, &holdout, density);
    if (s >= 0) s = densities(t, kept, &holdout, density + rows);
    *worse = s >= 0 && are_above(t->evaluator.sites, density + rows, density);
    hfi_holdout_free(t->evaluator.ctx, &holdout);
    hfi_free(t->evaluator.ctx, density);
    return hfi_unless_none(s);
}

/* `best` is how the search for `state` ended. `trial`: as long as a state. */
static hf_status escape(hfi_trainer *t, const double *cold, double *state, size_t iterations,
                        hfi_optimum *best, double *trial, const hfi_start **chosen)
{
    const double reached = best->value + best->log_prior;
    const hfi_start *found = NULL;
    hf_status s;
    if (t->evaluator.n > HFI_EXPLORE_READINGS) {
        bool better = false;
        s = find_on_some(t, cold, state, iterations, trial, &found);
        if (s >= 0 && found) s = hfi_explore_climb(t, trial, iterations, reached, &better);
        if (!better) found = NULL;
    } else {
        s = find_shorter(t, cold, reached, iterations, trial, &found);
    }
    if (s >= 0 && found) s = hfi_trainer_maximise(t, trial, iterations);
    const hfi_optimum reached_there = t->found;
    bool worse = false;
    if (s >= 0 && found) s = hfi_trainer_predicts_worse(t, trial, state, &worse);
    if (s < 0) return s;
    if (found && !worse) {
        *best = reached_there;
        memcpy(state, trial, t->count * sizeof *state);
        *chosen = found;
    }
    return HF_OK;
}

static hf_status from_quiet(hfi_trainer *t, const double *cold, double *state, size_t iterations,
                            hfi_optimum *best, double *trial, const hfi_start **chosen)
{
    memcpy(trial, cold, t->count * sizeof *trial);
    hfi_trainer_move(t, &quiet_start, trial);
    const hf_status s = hfi_trainer_maximise(t, trial, iterations);
    if (hfi_has_none(s)) return HF_OK;
    if (s < 0 || !hfi_explore_is_higher(t, best->value + best->log_prior)) return s;
    *best = t->found;
    memcpy(state, trial, t->count * sizeof *state);
    *chosen = &quiet_start;
    return HF_OK;
}

/* `work`: two states. */
static hf_status explore(hfi_trainer *t, bool quiet, double *state, size_t iterations, double *work,
                         const hfi_start **chosen)
{
    double *cold = work, *trial = work + t->count;
    hf_status s = hfi_scout_periods(t, state, iterations, work);
    if (s < 0) return s;
    memcpy(cold, state, t->count * sizeof *cold);
    s = hfi_trainer_maximise(t, state, iterations);
    if (s < 0) return s;
    hfi_optimum best = t->found;
    if (quiet) s = from_quiet(t, cold, state, iterations, &best, trial, chosen);
    if (s >= 0) s = escape(t, cold, state, iterations, &best, trial, chosen);
    if (s >= 0) s = hfi_trainer_set(t, state);
    t->found = best;
    return s < 0 ? s : best.status;
}

/* Rows cannot be taken out of a projection, Adam's steps are published as they are, and a warm fit starts
 * where it is told to: one start. */
static bool explores(const hfi_trainer *t)
{
    return t->free_count > 0 && !t->warm && t->evaluator.kind->absence && t->optimiser != HF_OPTIMISER_ADAM;
}

hf_status hfi_trainer_explore(hfi_trainer *t, bool quiet, double *state, size_t iterations,
                              const hfi_start **chosen)
{
    const hfi_start *found = NULL;
    double *work = explores(t) ? hfi_alloc(t->evaluator.ctx, t->count, 2 * sizeof *work) : NULL;
    if (explores(t) && !work) return HF_ERR_MEMORY;
    const hf_status s = work ? explore(t, quiet, state, iterations, work, &found)
                             : hfi_trainer_maximise(t, state, iterations);
    hfi_free(t->evaluator.ctx, work);
    if (chosen) *chosen = found;
    return s;
}

/* Whether some lengthscale of `state` is more than twice as long as in a start that shortens it. */
static bool is_longer(const hfi_trainer *t, const double *state, const double *cold, const double *start)
{
    for (size_t k = 0; k < t->free_count; k++) {
        const size_t i = t->free_index[k];
        if (i < t->noise && start[i] < cold[i] && state[i] > start[i] + log(2.0)) return true;
    }
    return false;
}

/* `work`: two states. */
static hf_status escape_from(hfi_trainer *t, double *state, size_t iterations, double *work,
                             const hfi_start **chosen)
{
    double *cold = work, *trial = work + t->count;
    hfi_optimum best = {.status = HF_OK};
    hf_status s = hfi_trainer_cold(t, cold);
    if (s >= 0) s = hfi_evaluator_select(&t->evaluator);
    if (s >= 0) s = hfi_start_shorter(t, hfi_explore_value, t, cold, trial, chosen);
    const bool longer = s >= 0 && *chosen && is_longer(t, state, cold, trial);
    *chosen = NULL;
    if (!longer) return s;
    s = hfi_trainer_evaluate(t, state, &best.value, &best.log_prior, NULL);
    return s < 0 ? s : escape(t, cold, state, iterations, &best, trial, chosen);
}

hf_status hfi_trainer_escape(hfi_trainer *t, double *state, size_t iterations, bool *found)
{
    const hfi_start *chosen = NULL;
    *found = false;
    if (!explores(t)) return HF_OK;
    double *work = hfi_alloc(t->evaluator.ctx, t->count, 2 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    const hf_status s = escape_from(t, state, iterations, work, &chosen);
    hfi_free(t->evaluator.ctx, work);
    *found = s >= 0 && chosen;
    return s;
}

hf_status hfi_explore_periods(hfi_trainer *t, double *state, size_t iterations)
{
    if (!explores(t)) return HF_OK;
    double *work = hfi_alloc(t->evaluator.ctx, t->count, 2 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    const hf_status s = hfi_scout_periods(t, state, iterations, work);
    hfi_free(t->evaluator.ctx, work);
    return s;
}
