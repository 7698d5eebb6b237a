/* SPDX-License-Identifier: Apache-2.0 */
/* Smooth robust weights: centre, threshold, weights, fit; again until the weights stand still. */
#include "objective/thin.h"
#include "outliers/outliers.h"
#include <math.h>
#include <string.h>

/* A search for the first hyperparameters of several outputs looks at some of the readings if the
 * hyperparameters are few: of many lengthscales, those of inputs that matter little would run away. */
enum {
    READINGS = 400,
    FEW = 8
};

/* Largest change of a weight at which the fixed point is reached. */
static const double weight_tolerance = 1e-3;
/* The same where hyperparameters are only roughly right in between. */
static const double rough_tolerance = 1e-2;

/* g for the present state and sites. */
static hf_status find_centre(hfi_trainer *t, hf_centre rule, hfi_holdout *residuals, double *centre)
{
    hfi_evaluator *e = &t->evaluator;
    if (rule == HF_CENTRE_PRIOR) {
        hf_mean_evaluate(e->mean, e->rows, e->x, e->ldx, centre);
        return HF_OK;
    }
    if (rule == HF_CENTRE_NEIGHBOURS)
        return hf_robust_centre_neighbours(e->ctx, e->rows, e->d, t->comparable, e->d,
                                           hf_sites_readings(e->sites), centre);
    const hf_status s = hfi_holdout_compute(e, residuals);
    if (s >= 0) memcpy(centre, residuals->mean, e->rows * sizeof *centre);
    return s;
}

/* New weights in the sites; *change is the largest difference to the old ones. */
static hf_status recentre(hfi_trainer *t, const hf_fit_settings *settings, double given, const double *centre,
                          double *old, double *change)
{
    hfi_evaluator *e = &t->evaluator;
    double threshold = given;
    hf_status s = HF_OK;
    memcpy(old, hf_sites_weights(e->sites), e->rows * sizeof *old);
    if (settings->threshold_rule != HF_THRESHOLD_GIVEN)
        s = hf_robust_threshold(e->ctx, settings->threshold_rule, e->rows, hf_sites_readings(e->sites),
                                centre, settings->eps, &threshold);
    if (s >= 0) s = hf_sites_recentre(e->ctx, e->sites, centre, threshold);
    *change = 0.0;
    const double *now = hf_sites_weights(e->sites);
    for (size_t i = 0; i < e->rows; i++) *change = fmax(*change, fabs(now[i] - old[i]));
    return s;
}

/* New weights by the settings' rule, from the present state; `centre` and `old` are work. */
static hf_status reweigh(hfi_trainer *t, const hf_fit_settings *settings, double given,
                         hfi_holdout *residuals, double *centre, double *old, double *change)
{
    if (settings->centre == HF_CENTRE_CONDITIONAL) return hfi_conditional_reweigh(t, t->conditional, change);
    const hf_status s = find_centre(t, settings->centre, residuals, centre);
    return s < 0 ? s : recentre(t, settings, given, centre, old, change);
}

/* Puts a constant that is not trained, or has not been trained yet, at `value` in state and model. */
static hf_status set_constant(hfi_trainer *t, double *state, double value)
{
    const hfi_evaluator *e = &t->evaluator;
    if (hf_mean_get_kind(e->mean) != HF_MEAN_CONSTANT || hf_mean_held(e->mean)) return HF_OK;
    state[hf_kernel_parameters(e->kernel)] = value;
    return hfi_trainer_set(t, state);
}

/* The average of the readings by their weights: with all weights 1 the plain GP's constant, and out of reach
 * of wild readings. */
static double weighted_average(const hfi_evaluator *e)
{
    const double *y = hf_sites_readings(e->sites), *weight = hf_sites_weights(e->sites);
    double sum = 0.0, total = 0.0;
    for (size_t i = 0; i < e->rows; i++) {
        sum += weight[i] * y[i];
        total += weight[i];
    }
    return sum / total;
}

static hf_status median_constant(hfi_trainer *t, double *state)
{
    hfi_evaluator *e = &t->evaluator;
    double *sorted = hfi_alloc(e->ctx, e->rows, sizeof *sorted);
    if (!sorted) return HF_ERR_MEMORY;
    memcpy(sorted, hf_sites_readings(e->sites), e->rows * sizeof *sorted);
    const double median = hfi_median(sorted, e->rows);
    hfi_free(e->ctx, sorted);
    return set_constant(t, state, median);
}

/* New weights change an untrained constant and untrained entries of block actions. */
static hf_status follow_weights(hfi_trainer *t, const hf_fit_settings *settings, double *state)
{
    hf_status s = t->train_mean ? HF_OK : set_constant(t, state, weighted_average(&t->evaluator));
    if (s >= 0 && hfi_evaluator_extras(&t->evaluator) == 0)
        s = hfi_trainer_start_actions(t, settings->action_start, state);
    return s;
}

/* Where the iteration starts: the rule's own centre, or, for leave-one-out, the readings' neighbours, which
 * need no fit. */
static hf_status first_weights(hfi_trainer *t, const hf_fit_settings *settings, double given, double *state,
                               double *centre, double *old)
{
    double change = 0.0;
    if (settings->centre == HF_CENTRE_CONDITIONAL)
        return settings->train ? hfi_conditional_start(t, t->conditional, state)
                               : hfi_conditional_reweigh(t, t->conditional, &change);
    const hf_centre rule = settings->centre == HF_CENTRE_LEAVE_ONE_OUT && settings->train
                               ? HF_CENTRE_NEIGHBOURS
                               : settings->centre;
    hfi_holdout residuals;
    hf_status s = hfi_holdout_init(t->evaluator.ctx, &residuals, t->evaluator.rows);
    if (s < 0) return s;
    s = find_centre(t, rule, &residuals, centre);
    if (s >= 0) s = recentre(t, settings, given, centre, old, &change);
    hfi_holdout_free(t->evaluator.ctx, &residuals);
    return s;
}

/* One rung of approach(): the search on about `wanted` readings. */
static hf_status climb_rung(hfi_trainer *t, const hf_fit_settings *settings, size_t wanted, double *state)
{
    hfi_evaluator *e = &t->evaluator;
    hfi_thinned thinned;
    hf_status s = hfi_thin_out(e, wanted, &thinned);
    if (s < 0) return s;
    const double enough = t->enough;
    /* Without priors scale and lengthscale run away together, and how far depends on the readings: so far,
     * then, and no further. */
    t->enough = settings->priors ? 0.1 : 1.0;
    s = hfi_trainer_maximise(t, state, settings->iterations);
    t->enough = enough;
    s = hfi_unless_none(s); /* the state is what it was */
    const hf_status back = hfi_thin_back(e, &thinned);
    return s < 0 ? s : back;
}

/* Climbs by the first weights on some of the readings, then twice as many: the search on all has little left to do. */
static hf_status approach(hfi_trainer *t, const hf_fit_settings *settings, double *state)
{
    hfi_evaluator *e = &t->evaluator;
    const bool able = settings->centre == HF_CENTRE_CONDITIONAL && e->kind->matrix;
    if (!able || t->free_count == 0 || t->free_count > FEW) return HF_OK;
    hf_status s = hfi_evaluator_select(e);
    for (size_t wanted = READINGS; s >= 0 && wanted < e->n; wanted *= 2)
        s = climb_rung(t, settings, wanted, state);
    return s;
}

/* Weights by the distance from a constant that is their own average: the fixed point of both, which
 * needs no fit, with the weights of the constant that stays. */
static hf_status iterate_constant(hfi_trainer *t, const hf_fit_settings *settings, double given,
                                  hfi_holdout *residuals, double *centre, double *state)
{
    double change = 0.0;
    if (settings->centre != HF_CENTRE_PRIOR || t->train_mean) return HF_OK;
    hf_status s = HF_OK;
    for (size_t round = 0; s >= 0; round++) {
        s = reweigh(t, settings, given, residuals, centre, centre + t->evaluator.rows, &change);
        if (s < 0 || change <= 1e-14 || round == 100) break;
        s = follow_weights(t, settings, state);
    }
    return s;
}

hf_status hfi_reweighting_remark(hf_context *ctx, const hfi_reweighting *done)
{
    if (done->most < 2 || done->rounds < done->most || done->change < rough_tolerance) return HF_OK;
    return hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                    "re-weighting stopped after %zu rounds, the last of which moved a weight by %.2g; more "
                    "rounds may change predictions",
                    done->rounds, done->change);
}

static hf_status iterate(hfi_trainer *t, const hf_fit_settings *settings, double given, double *state,
                         hfi_reweighting *done, double *centre)
{
    hfi_evaluator *e = &t->evaluator;
    double *old = centre + e->rows, *change = &done->change;
    hfi_holdout residuals;
    hf_status s = hfi_holdout_init(e->ctx, &residuals, e->rows);
    if (s < 0) return s;
    s = median_constant(t, state);
    if (s >= 0) s = first_weights(t, settings, given, state, centre, old);
    if (s >= 0) s = set_constant(t, state, weighted_average(e));
    if (s >= 0) s = hfi_trainer_start_actions(t, settings->action_start, state);
    /* While weights move, a tenth of a nat will do: where several outputs are evaluated each one costs. In
     * one round they move once, after it. */
    const bool rough = settings->centre == HF_CENTRE_CONDITIONAL && settings->rounds > 1;
    const double enough = t->enough; /* of whoever asked for the weights */
    if (rough) t->enough = 0.1;
    if (s >= 0) s = approach(t, settings, state);
    while (s >= 0 && done->rounds < done->most) {
        /* One of several outputs is easily explained away as noise: from less of it too where more rounds follow. */
        s = done->rounds == 0 ? hfi_trainer_explore(t, rough, state, settings->iterations, NULL)
                              : hfi_trainer_maximise(t, state, 25);
        done->rounds++;
        if (s >= 0) s = reweigh(t, settings, given, &residuals, centre, old, change);
        if (s >= 0) s = follow_weights(t, settings, state);
        if (s < 0 || *change < (rough ? rough_tolerance : weight_tolerance)) break;
    }
    if (s >= 0) s = iterate_constant(t, settings, given, &residuals, centre, state);
    t->enough = enough;
    if (s >= 0 && rough) s = hfi_trainer_maximise(t, state, settings->iterations);
    hfi_holdout_free(e->ctx, &residuals);
    return s;
}

hf_status hfi_robust_reweight(hfi_trainer *t, const hf_fit_settings *settings, double threshold,
                              double *state, hfi_reweighting *done)
{
    hf_context *ctx = t->evaluator.ctx;
    double *centre = hfi_alloc(ctx, t->evaluator.rows, 2 * sizeof *centre);
    if (!centre) return HF_ERR_MEMORY;
    *done = (hfi_reweighting){.most = settings->rounds};
    hf_status s = hfi_trainer_set(t, state);
    if (s >= 0) s = iterate(t, settings, threshold, state, done, centre);
    hfi_free(ctx, centre);
    return s;
}

hf_status hfi_robust_refine(hfi_trainer *t, const hf_fit_settings *settings, double threshold,
                            const double *centre, size_t trained, double *state, hfi_reweighting *done)
{
    hfi_evaluator *e = &t->evaluator;
    hfi_holdout residuals;
    double *work = hfi_alloc(e->ctx, e->rows, 2 * sizeof *work);
    if (!work) return HF_ERR_MEMORY;
    *done = (hfi_reweighting){.most = trained > 0 ? trained : settings->rounds};
    double *change = &done->change;
    hf_status s = hfi_holdout_init(e->ctx, &residuals, e->rows);
    if (s >= 0 && settings->centre == HF_CENTRE_CONDITIONAL)
        s = hfi_conditional_reweigh(t, t->conditional, change);
    else if (s >= 0)
        s = recentre(t, settings, threshold, centre, work + e->rows, change);
    while (s >= 0 && done->rounds < done->most) {
        if (trained > 0) s = hfi_trainer_maximise(t, state, 15);
        done->rounds++;
        if (s >= 0) s = reweigh(t, settings, threshold, &residuals, work, work + e->rows, change);
        if (*change < weight_tolerance) break;
    }
    hfi_holdout_free(e->ctx, &residuals);
    hfi_free(e->ctx, work);
    return s;
}
