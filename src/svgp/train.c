/* SPDX-License-Identifier: Apache-2.0 */
/* Batch after batch: a natural gradient for q, a step of Adam for everything else. */
#include "svgp/impl.h"
#include <math.h>
#include <string.h>

/* Multiples of the settings' learning rate. One gives way to the next when the bound stands still: far from
 * the optimum long steps save time, near it short ones settle. */
static const double rates[] = {5.0, 1.0, 0.2};

/* Nats a reading: a bound that rises by less from round to round stands still. */
static const double progress_per_round = 1e-4;

/* Step of natural gradients on minibatches: q averages over the last 2/rho batches. */
static const double usual_rho = 0.03;

static const double log_nu_mean = 1.0986122886681098, log_nu_sd = 1.0; /* log 3 */
static const double least_nu = 2.0, most_nu = 50.0;

enum {
    STAGES = sizeof rates / sizeof rates[0],
    SHORTEST_ROUND =
        32, /* steps between two looks at the bound: a pass over the rows, but not less than this */
    LONGEST_ROUND = 256, /* nor more than this */
    FIRST_BATCHES = 16,  /* for a step of q alone */
    FIRST_STEPS = 4,     /* of those, where one is not enough */
    SAMPLE = 8192,
    FEWEST_ROUNDS = 8, /* at one learning rate */
    FEWEST_NEAR = 3,   /* the same where training started near an optimum */
    BACKTRACKS = 8
};

static double nu_prior(const hfi_svgp_run *run, const double *state)
{
    const double u = (state[run->space->count] - log_nu_mean) / log_nu_sd;
    return run->train_nu ? -0.5 * u * u - HFI_HALF_LOG_2PI - log(log_nu_sd) : 0.0;
}

/* ---- Adam -------------------------------------------------------------------------------------------------- */

/* One parameter: its gradient, its prior's, its box. */
static void move_one(hfi_svgp_climb *c, size_t i, double prior_mean, double prior_sd, double lower,
                     double upper)
{
    double g = c->sums.gradient[i] * (double)c->batches.count;
    if (isfinite(prior_sd)) g -= (c->state[i] - prior_mean) / (prior_sd * prior_sd);
    double up, down;
    hfi_adam_entry(g, c->moves, &c->first[i], &c->second[i], &up, &down);
    c->trial[i] = fmin(fmax(c->state[i] + c->rate * (up / down), lower), upper);
}

/* A step that leads where Kuu cannot be factored is halved. */
static hf_status move(hfi_svgp_climb *c)
{
    const hfi_trainer *space = c->run->space;
    c->moves++;
    memcpy(c->trial, c->state, c->length * sizeof *c->state);
    for (size_t k = 0; k < space->free_count; k++) {
        const size_t i = space->free_index[k];
        move_one(c, i, space->prior_mean[i], space->prior_sd[i], space->lower[i], space->upper[i]);
    }
    if (c->run->train_nu)
        move_one(c, space->count, log_nu_mean, log_nu_sd, log(least_nu - 1.0), log(most_nu - 1.0));
    hf_status s = hfi_svgp_set_state(c->run, c->trial);
    for (int k = 0; (s == HF_ERR_NOT_POSITIVE_DEFINITE || s == HF_ERR_NOT_FINITE) && k < BACKTRACKS; k++) {
        for (size_t i = 0; i < c->length; i++) c->trial[i] = 0.5 * (c->trial[i] + c->state[i]);
        s = hfi_svgp_set_state(c->run, c->trial);
    }
    if (s >= 0) memcpy(c->state, c->trial, c->length * sizeof *c->state);
    return s;
}

/* ---- steps and rounds -------------------------------------------------------------------------------------- */

static hf_status add_batch(hfi_svgp_climb *c)
{
    size_t count = 0;
    const hf_status s = hfi_batches_next(&c->batches, &count);
    if (s < 0) return s;
    return hfi_svgp_add(c->run->q, count, c->batches.x, c->batches.y, c->batches.extra, NULL, &c->sums);
}

static hf_status step_svgp_batch(hfi_svgp_climb *c)
{
    hfi_svgp *q = c->run->q;
    hfi_svgp_sums_clear(q, &c->sums);
    hf_status s = add_batch(c);
    if (s >= 0) s = hfi_svgp_close(q, &c->sums);
    if (s < 0) return s;
    /* Without a positive definite precision in sight q stays for this batch. */
    s = hfi_svgp_natural(q, &c->sums, (double)c->batches.count, c->rho);
    if (s < 0 && s != HF_ERR_NOT_POSITIVE_DEFINITE) return s;
    s = move(c);
    c->averaged++;
    for (size_t i = 0; i < c->length; i++)
        c->average[i] += (c->state[i] - c->average[i]) / (double)c->averaged;
    c->run->report->steps++;
    return s;
}

/* The rest of a round, and its bound per reading, as its batches saw it. */
static hf_status round_of_steps(hfi_svgp_climb *c, size_t steps, double done)
{
    hfi_svgp *q = c->run->q;
    while (c->step < steps) {
        const hf_status s = step_svgp_batch(c);
        if (s < 0) return s;
        c->step++;
        c->value += c->sums.value;
        c->readings += c->sums.readings;
        c->rows += c->batches.rows->n / c->batches.count;
        const bool wanted = hfi_progress(q->ctx, "train", done, c->value / fmax((double)c->readings, 1.0));
        hfi_svgp_snap(c, !wanted);
        if (!wanted) return hfi_cancelled(q->ctx);
    }
    if (c->readings == 0)
        return hfi_fail(q->ctx, HF_ERR_NO_DATA, "no row of %zu batches has a target", steps);
    /* Readings among all rows, by their share among those seen. */
    const double count = (double)c->readings;
    const double all = (double)c->batches.rows->n * fmin(count / (double)c->rows, 1.0);
    c->bound[c->bounds++] = c->value / count - hfi_svgp_kl(q) / fmax(all, 1.0);
    return HF_OK;
}

static size_t steps_of_round(const hfi_svgp_climb *c)
{
    const size_t count = c->batches.count;
    if (count > LONGEST_ROUND) return LONGEST_ROUND;
    /* Whole passes, so that rounds are comparable. */
    return count * ((SHORTEST_ROUND + count - 1) / count);
}

/* The settings' iterations are passes over the rows; rounds of several are one, rounds of less than one are
 * counted by it. */
static size_t most_rounds(const hfi_svgp_climb *c)
{
    const size_t steps = steps_of_round(c), passes = c->run->settings->iterations;
    const size_t most = c->batches.count > steps ? (passes * c->batches.count + steps - 1) / steps : passes;
    return most > 0 ? most : 1;
}

/* Batches and a wandering q make the bound of a round noisy. It stands still when a straight line through the
 * later half of the record rises little. That is less than half its own uncertainty, or next to nothing. */
static bool stands_still(const hfi_svgp_climb *c, size_t fewest)
{
    if (c->bounds < fewest) return false;
    const size_t half = (c->bounds + 1) / 2, n = half > fewest ? half : fewest;
    const double *y = c->bound + (c->bounds - n), middle = 0.5 * (double)(n - 1);
    double mean = 0.0, slope = 0.0, spread = 0.0, squares = 0.0;
    for (size_t k = 0; k < n; k++) mean += y[k] / (double)n;
    for (size_t k = 0; k < n; k++) {
        const double t = (double)k - middle;
        slope += t * (y[k] - mean);
        spread += t * t;
    }
    slope /= spread;
    for (size_t k = 0; k < n; k++) {
        const double error = y[k] - mean - slope * ((double)k - middle);
        squares += error * error;
    }
    const double uncertainty = sqrt(squares / fmax((double)n - 2.0, 1.0) / spread);
    return slope < fmax(0.5 * uncertainty, progress_per_round);
}

/* Begins a round; in an interrupted one this has been done. */
static hf_status begin_round(hfi_svgp_climb *c)
{
    if (c->step > 0) return HF_OK;
    c->value = 0.0;
    c->readings = c->rows = 0;
    if (c->stage + 1 < STAGES) c->averaged = 0;
    return hfi_svgp_rethreshold(c->run);
}

static hf_status rounds(hfi_svgp_climb *c)
{
    hfi_svgp_run *run = c->run;
    const bool near = run->warm && !c->sums.z_trained;
    const size_t steps = steps_of_round(c), done_before = c->round;
    hf_status s = HF_OK;
    for (; s >= 0 && c->round < c->most && !c->settled; c->round++) {
        c->rate = rates[c->stage] * run->settings->learning_rate;
        s = begin_round(c);
        if (s >= 0) s = round_of_steps(c, steps, (double)c->round / (double)c->most);
        if (s < 0) break;
        c->step = 0;
        if (!stands_still(c, near ? FEWEST_NEAR : FEWEST_ROUNDS)) continue;
        c->bounds = 0;
        c->settled = ++c->stage == STAGES;
        if (c->settled) run->report->found.stop = HF_STOP_CONVERGED;
    }
    if (s >= 0 && c->round > done_before) hfi_svgp_snap(c, true);
    return s;
}

/* A natural step from as many batches as an epoch has, or enough of them. */
static hf_status whole_step(hfi_svgp_climb *c, double rho)
{
    hfi_svgp *q = c->run->q;
    const size_t batches = c->batches.count < FIRST_BATCHES ? c->batches.count : FIRST_BATCHES;
    hf_status s = hfi_svgp_rethreshold(c->run);
    hfi_svgp_sums_clear(q, &c->sums);
    for (size_t b = 0; s >= 0 && b < batches; b++) s = add_batch(c);
    if (s >= 0) s = hfi_svgp_natural(q, &c->sums, (double)c->batches.count / (double)batches, rho);
    return hfi_unless_none(s);
}

/* q catches up with the starting values before these are asked to move. Student-t noise starts from robust
 * sites: at the prior its expected log density is all but flat and would pull for many steps; the variance
 * there may be a thousand times the noise's. */
static hf_status first_steps(hfi_svgp_climb *c)
{
    hfi_svgp *q = c->run->q;
    const hfi_svgp_kind *kind = q->noise.kind;
    const size_t robust = hfi_svgp_is_plain(kind) ? 1 : FIRST_STEPS;
    const size_t all = kind->approach ? robust + FIRST_STEPS : robust;
    double *gradient = c->sums.gradient;
    hf_status s = HF_OK;
    c->sums.gradient = NULL;
    while (s >= 0 && c->whole < all) {
        const bool first = c->whole < robust;
        if (first && kind->approach) q->noise.kind = kind->approach;
        s = whole_step(c, first ? 1.0 : 0.7);
        q->noise.kind = kind;
        c->whole++;
        if (s >= 0) hfi_svgp_snap(c, false);
    }
    c->sums.gradient = gradient;
    return s;
}

static hf_status climb_init(hfi_svgp_run *run, hfi_svgp_climb *c)
{
    hf_context *ctx = run->q->ctx;
    const hf_fit_settings *settings = run->settings;
    *c = (hfi_svgp_climb){.run = run, .length = run->space->count + 1};
    hf_status s = hfi_batches_init(ctx, run->rows, settings->minibatch, &c->batches);
    if (s >= 0)
        s = hfi_svgp_sums_init(run->q, true, true, run->space->count > run->space->noise + 1, &c->sums);
    double *work = s >= 0 ? hfi_alloc(ctx, c->length, 5 * sizeof *work) : NULL;
    if (s < 0 || !work) return s < 0 ? s : HF_ERR_MEMORY;
    c->state = work;
    c->trial = work + c->length;
    c->first = work + 2 * c->length;
    c->second = work + 3 * c->length;
    c->average = work + 4 * c->length;
    c->most = most_rounds(c);
    c->bound = hfi_alloc(ctx, c->most, sizeof *c->bound);
    if (!c->bound) return HF_ERR_MEMORY;
    c->stage = run->warm ? 1 : 0;
    run->report->found.stop = HF_STOP_ITERATIONS;
    c->rho = c->batches.count > 1 ? fmax(usual_rho, 0.5 / (double)c->batches.count) : run->q->noise.kind->rho;
    hfi_svgp_get_state(run, c->state);
    return HF_OK;
}

hf_status hfi_svgp_train(hfi_svgp_run *run)
{
    hf_context *ctx = run->q->ctx;
    hfi_svgp_climb c;
    hf_status s = climb_init(run, &c);
    if (s >= 0) s = hfi_svgp_resume(&c);
    if (s >= 0) s = first_steps(&c);
    if (s >= 0) s = rounds(&c);
    if (s >= 0) s = hfi_svgp_set_state(run, c.averaged > 0 ? c.average : c.state);
    if (s >= 0) {
        hfi_svgp_end_snapshots(&c);
        hfi_svgp_get_state(run, c.state);
        run->report->epochs = c.batches.epoch + (c.batches.batch > 0 ? 1 : 0);
        run->report->found.log_prior = hfi_trainer_log_prior(run->space, c.state) + nu_prior(run, c.state);
    }
    if (c.batches.ctx) hfi_batches_free(&c.batches);
    hfi_svgp_sums_free(run->q, &c.sums);
    HFI_FREE(ctx, c.state, c.bound, c.numbers);
    return s;
}

/* ---- the threshold ------------------------------------------------------------------------------------------ */

hf_status hfi_svgp_take_sample(hfi_svgp_run *run)
{
    hf_context *ctx = run->q->ctx;
    const size_t wanted = run->rows->n < SAMPLE ? run->rows->n : SAMPLE;
    if (HFI_ALLOC(ctx, HFI_ROOMS(run->sample_x, wanted, run->q->d), HFI_ROOMS(run->sample_y, wanted, 2)) < 0)
        return HF_ERR_MEMORY;
    run->sample_mean = run->sample_y + wanted;
    return hfi_row_source_sample(ctx, run->rows, wanted, 0, run->sample_x, run->sample_y, run->sample_mean,
                                 &run->sample);
}

hf_status hfi_svgp_rethreshold(hfi_svgp_run *run)
{
    hfi_svgp *q = run->q;
    if (!q->noise.kind->weighed) return HF_OK;
    const hf_fit_settings *settings = run->settings;
    double threshold = run->threshold;
    if (settings->threshold_rule != HF_THRESHOLD_GIVEN) {
        hf_status s = hfi_svgp_means(q, run->sample, run->sample_x, run->sample_mean);
        if (s >= 0)
            s = hf_robust_threshold(q->ctx, settings->threshold_rule, run->sample, run->sample_y,
                                    run->sample_mean, settings->eps, &threshold);
        if (s < 0) return s;
    }
    q->noise.threshold = threshold;
    return HF_OK;
}
