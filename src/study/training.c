/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training a surrogate, and conditioning one whose training is kept.
 *
 * A training tries a fit of all readings, whose suspect finder gives the verdicts. Where readings were set
 * aside before, it also tries a fit without these, which lets those back that agree with the rest now. The
 * better explanation of all readings is taken: the evidence of the kept ones, with each reading that is set
 * aside a draw from anywhere in the readings' range,
 *
 *     merit = log N(kept) + k log(1 - w) + (n - k) log(w / range),
 *
 * w the share of wrong readings that repetitions have shown. So a verdict does not flicker with the finder's
 * starts.
 */
#include "study/study.h"

#include "posterior/posterior.h"
#include <math.h>
#include <string.h>

enum {
    COLD = 250,     /* readings up to which a training starts afresh: warm ones see fewer wrong readings */
    LARGE = 2000,   /* above so many the exact solver takes longer than a proposal should */
    INDUCING = 256, /* inducing inputs then, and steps of a training */
    STEPS = 15
};

/* ---- settings of fits ---------------------------------------------------------------------------------- */

/* Settings of a fit of n readings of one outcome over u; `kernel` points into the study. */
static hf_status fit_settings(hf_context *ctx, const hf_study *study, size_t outcome, size_t n,
                              hf_fit_settings *out)
{
    const hf_status s = hf_fit_settings_preset(ctx, study->s.preset, out, sizeof *out);
    if (s < 0) return s;
    out->kernel = study->expression;
    out->unit_inputs = true;
    out->lengthscale_prior = HF_PRIOR_DIMENSION;
    out->priors = true;
    out->calibrate = false;
    out->groups = false;
    if (!study->s.robust || outcome == study->outcomes) out->suspects = HF_OUTLIERS_OFF;
    if (n <= LARGE || out->solver == HF_SOLVER_PROJECTED) return HF_OK;
    out->solver = HF_SOLVER_INDUCING;
    if (out->inducing == 0) out->inducing = INDUCING;
    out->iterations = out->iterations < STEPS ? out->iterations : STEPS;
    return HF_OK;
}

/* Assignments of what a training ended in: parameters of the kernel, noise and mean. Names are the
 * kernel's. */
static hf_status assignments(hf_context *ctx, const hf_study *study, const hfi_fitted *fitted,
                             hf_kernel **kernel, hf_assignment **out)
{
    *out = NULL;
    hf_status s = hf_kernel_parse(ctx, study->expression, NULL, study->d, kernel);
    if (s < 0) return s;
    const size_t count = hf_kernel_parameters(*kernel);
    if (count + 2 != fitted->parameters)
        return hfi_fail(ctx, HF_ERR_MODEL_FILE, "a training of %zu values, where the kernel has %zu",
                        fitted->parameters, count + 2);
    hf_assignment *a = *out = hfi_alloc(ctx, count + 2, sizeof *a);
    if (a == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        hf_parameter p;
        (void)hf_kernel_parameter(*kernel, i, &p);
        a[i] = (hf_assignment){.name = p.name, .value = fitted->value[i]};
    }
    a[count] = (hf_assignment){.name = "noise", .value = fitted->value[count]};
    a[count + 1] = (hf_assignment){.name = "mean", .value = fitted->value[count + 1]};
    return HF_OK;
}

/* The other way round: what a posterior was trained to, user's units. */
static void read_trained_parameters(const hf_posterior *posterior, double *value)
{
    const hf_kernel *kernel = hf_posterior_kernel(posterior);
    const size_t count = hf_kernel_parameters(kernel);
    for (size_t i = 0; i < count; i++) {
        hf_parameter p;
        (void)hf_kernel_parameter(kernel, i, &p);
        value[i] = p.value * hfi_scaling_factor(&posterior->scaling, p.unit, p.column);
    }
    const hf_mean *mean = hf_posterior_mean_function(posterior);
    const double constant = hf_mean_coefficients(mean) > 0 ? hf_mean_values(mean)[0] : 0.0;
    value[count] = hf_posterior_noise(posterior);
    value[count + 1] = hfi_scaling_mean(&posterior->scaling, 0, constant);
}

/* ---- the two fits -------------------------------------------------------------------------------------- */

static bool any_noise(const hfi_surrogate *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->noise[i] > 0.0) return true;
    return false;
}

/* Readings as data; y is that of a surrogate, or a copy with gaps. */
static hf_data data_of(const hf_study *study, const hfi_surrogate *s, const double *y)
{
    return (hf_data){.n = s->n,
                     .d = study->d,
                     .x = s->x,
                     .ldx = study->d,
                     .y = y,
                     .noise = any_noise(s) ? s->noise : NULL};
}

static double *with_gaps(hf_context *ctx, const hfi_surrogate *s, const bool *gap)
{
    double *y = hfi_alloc(ctx, s->n, sizeof *y);
    for (size_t i = 0; y != NULL && i < s->n; i++) y[i] = gap[i] ? NAN : s->y[i];
    return y;
}

/* A fit of the readings y, gaps where they have no say, with what an expert said of them for a prior mean. Units
 * of `warp`. */
static hf_status fit_readings(hf_context *ctx, const hf_study *study, size_t outcome, const hfi_surrogate *s,
                              const double *y, const hfi_warp *warp, const hf_fit_settings *settings,
                              hf_posterior **out, hf_fit_report *report, hf_reading *reading)
{
    hf_data data = data_of(study, s, y);
    hf_expert *expert = NULL;
    double *mean = NULL;
    hf_posterior *posterior = NULL;
    hf_status status = hfi_prior_mean(ctx, study, outcome, s, y, warp, &expert);
    if (status >= 0 && expert != NULL) {
        data.mean = mean = hfi_alloc(ctx, s->n, sizeof *mean);
        status = mean != NULL
                     ? hfi_worse(status, hf_expert_mean(ctx, expert, s->n, s->x, study->d, mean, NULL))
                     : HF_ERR_MEMORY;
    }
    if (status >= 0)
        status = hfi_worse(status, hf_fit_data(ctx, &data, settings, &posterior, report, reading));
    if (status >= 0 && expert != NULL) status = hfi_worse(status, hf_posterior_lift(ctx, posterior, expert));
    hf_expert_free(expert);
    hfi_free(ctx, mean);
    if (status >= 0)
        *out = posterior;
    else
        hf_posterior_free(posterior);
    return status;
}

/* The posterior of readings as they are, those of `aside` left out, with given hyperparameters. */
static hf_status condition(hf_context *ctx, const hf_study *study, size_t outcome, const hfi_surrogate *s,
                           const bool *aside, const hfi_fitted *fitted, hf_posterior **out)
{
    hf_fit_settings settings;
    hf_kernel *kernel = NULL;
    hf_assignment *set = NULL;
    double *y = with_gaps(ctx, s, aside);
    if (y == NULL) return HF_ERR_MEMORY;
    hf_status status = fit_settings(ctx, study, outcome, s->n, &settings);
    if (status >= 0) status = assignments(ctx, study, fitted, &kernel, &set);
    settings.set = set;
    settings.set_count = fitted->parameters;
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    if (status >= 0)
        status = fit_readings(ctx, study, outcome, s, y, &s->next.warp, &settings, out, NULL, NULL);
    HFI_FREE(ctx, y, set);
    hf_kernel_free(kernel);
    return status;
}

static void warp(hfi_surrogate *s)
{
    const hfi_warp *w = &s->next.warp;
    for (size_t i = 0; i < s->n; i++) {
        const double slope = hfi_warp_slope(w, s->y[i]);
        s->noise[i] *= slope * slope;
        s->y[i] = hfi_warp_to(w, s->y[i]);
    }
}

static bool listed(const double *list, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == (double)id) return true;
    return false;
}

hf_status hfi_surrogate_hold(hf_context *ctx, const hf_study *study, size_t of, hfi_surrogate *s)
{
    const hfi_fitted *before = &study->fitted[of];
    s->next = (hfi_fitted){.warp = before->warp};
    warp(s);
    for (size_t i = 0; i < s->n; i++) {
        s->aside[i] = listed(before->trial, before->aside, s->trial[i]) || s->label[i] == HF_EXPERT_DOUBTED;
        s->reading[i].suspected =
            s->aside[i] || listed(before->trial + before->aside, before->doubted, s->trial[i]);
    }
    return condition(ctx, study, of, s, s->aside, before, &s->posterior);
}

/* ---- attempts ------------------------------------------------------------------------------------------ */

/* One explanation of the readings. */
typedef struct explanation {
    hf_posterior *posterior;
    hf_reading *reading; /* n */
    bool *aside;         /* n */
    double merit;
} explanation;

/* Things that both attempts share. */
typedef struct outcome_training {
    const hf_study *study;
    size_t outcome;
    const hfi_surrogate *s; /* warped readings */
    const hfi_fitted *before;
    double wrong, range; /* share of wrong readings; of all readings */
} outcome_training;

static void drop_explanation(hf_context *ctx, explanation *a)
{
    hf_posterior_free(a->posterior);
    HFI_FREE(ctx, a->reading, a->aside);
    *a = (explanation){0};
}

static void judge_explanation(const outcome_training *t, explanation *a)
{
    double kept = 0.0;
    for (size_t i = 0; i < t->s->n; i++) kept += a->aside[i] ? 0.0 : 1.0;
    const double gone = (double)t->s->n - kept, scale = a->posterior->scaling.y_scale;
    a->merit = hf_posterior_report_of(a->posterior)->log_evidence - kept * log(scale) +
               kept * log(1.0 - t->wrong) + gone * log(t->wrong / t->range);
}

static hf_status fit(hf_context *ctx, const outcome_training *t, const double *y, bool finder, explanation *a,
                     bool *adopted)
{
    hf_fit_settings settings;
    hf_fit_report report = {.suspects = 0};
    hf_kernel *kernel = NULL;
    hf_assignment *start = NULL;
    hf_status s = fit_settings(ctx, t->study, t->outcome, t->s->n, &settings);
    if (!finder) settings.suspects = HF_OUTLIERS_OFF;
    /* Places that nobody tried are thought to succeed. */
    const hf_assignment success = {.name = "mean", .value = 0.0};
    if (t->outcome == t->study->outcomes) {
        settings.set = &success;
        settings.set_count = 1;
    }
    if (s >= 0 && t->before->readings > 0 && t->s->n > COLD && settings.set_count == 0) {
        s = assignments(ctx, t->study, t->before, &kernel, &start);
        settings.start = start;
        settings.start_count = t->before->parameters;
        settings.warm = true;
    }
    if (s >= 0)
        s = fit_readings(ctx, t->study, t->outcome, t->s, y, &t->s->next.warp, &settings, &a->posterior,
                         &report, a->reading);
    *adopted = report.suspects_adopted;
    hfi_free(ctx, start);
    hf_kernel_free(kernel);
    return s;
}

/* Readings left out that agree with the rest come back. */
static hf_status readmit(hf_context *ctx, const outcome_training *t, const bool *out, explanation *a)
{
    const hfi_surrogate *s = t->s;
    const size_t d = t->study->d, parameters = hf_kernel_parameters(hf_posterior_kernel(a->posterior)) + 2;
    const double noise = hf_posterior_noise(a->posterior);
    bool any = false;
    hf_status status = HF_OK;
    for (size_t i = 0; i < s->n && status >= 0; i++) {
        double mean, var;
        if (!out[i]) continue;
        status = hf_predict(ctx, a->posterior, 1, s->x + i * d, d, &mean, &var, NULL);
        if (status < 0) return status;
        var += noise + s->noise[i];
        const double off = s->y[i] - mean;
        const double sound = exp(-0.5 * off * off / var) / sqrt(2.0 * HFI_PI * var);
        a->aside[i] = s->label[i] == HF_EXPERT_DOUBTED || (1.0 - t->wrong) * sound < t->wrong / t->range;
        any = any || !a->aside[i];
    }
    if (!any) return status;
    double *value = hfi_alloc(ctx, parameters, sizeof *value);
    if (value == NULL) return HF_ERR_MEMORY;
    read_trained_parameters(a->posterior, value);
    const hfi_fitted now = {.parameters = parameters, .value = value};
    hf_posterior *again = NULL;
    status = condition(ctx, t->study, t->outcome, s, a->aside, &now, &again);
    if (status >= 0) {
        hf_posterior_free(a->posterior);
        a->posterior = again;
    }
    hfi_free(ctx, value);
    return status;
}

/* Readings that repetitions confirm count, whatever the finder says: then the rest is fitted again. */
static hf_status insist(hf_context *ctx, const outcome_training *t, explanation *a)
{
    bool any = false, ignored, *confirmed = hfi_alloc(ctx, t->s->n, sizeof *confirmed);
    if (confirmed == NULL) return HF_ERR_MEMORY;
    hfi_study_confirmed(t->study, t->s, hf_posterior_noise(a->posterior), t->range, confirmed);
    for (size_t i = 0; i < t->s->n; i++) {
        confirmed[i] =
            t->s->label[i] == HF_EXPERT_BELIEVED || (confirmed[i] && t->s->label[i] != HF_EXPERT_DOUBTED);
        any = any || (a->aside[i] && confirmed[i]);
        a->aside[i] = a->aside[i] && !confirmed[i];
    }
    hfi_free(ctx, confirmed);
    if (!any) return HF_OK;
    double *y = with_gaps(ctx, t->s, a->aside);
    if (y == NULL) return HF_ERR_MEMORY;
    hf_posterior_free(a->posterior);
    a->posterior = NULL;
    const hf_status s = fit(ctx, t, y, false, a, &ignored);
    hfi_free(ctx, y);
    return s;
}

/* An explanation without the readings `out`; of all of them if it is NULL. */
static hf_status try_without(hf_context *ctx, const outcome_training *t, const bool *out, explanation *a)
{
    const size_t n = t->s->n;
    bool adopted = false;
    if (HFI_ALLOC(ctx, HFI_ROOM(a->reading, n), HFI_ROOM(a->aside, n)) < 0) return HF_ERR_MEMORY;
    for (size_t i = 0; i < n; i++)
        a->aside[i] = (out != NULL && out[i]) || t->s->label[i] == HF_EXPERT_DOUBTED;
    double *y = with_gaps(ctx, t->s, a->aside);
    if (y == NULL) return HF_ERR_MEMORY;
    hf_status s = fit(ctx, t, y, true, a, &adopted);
    for (size_t i = 0; i < n && s >= 0; i++)
        a->aside[i] = a->aside[i] || (adopted && a->reading[i].suspected);
    if (s >= 0 && out != NULL) s = hfi_worse(s, readmit(ctx, t, out, a));
    if (s >= 0) s = hfi_worse(s, insist(ctx, t, a));
    for (size_t i = 0; i < n && s >= 0; i++) a->reading[i].suspected = a->reading[i].suspected || a->aside[i];
    if (s >= 0) judge_explanation(t, a);
    hfi_free(ctx, y);
    return s;
}

/* ---- the training -------------------------------------------------------------------------------------- */

/* Parameters and verdicts of the attempt that won, into s->next. The posterior is made of these, as it is
 * where they come out of a journal: to the last digit the same. */
static hf_status remember_explanation(hf_context *ctx, const hf_study *study, size_t outcome, explanation *a,
                                      hfi_surrogate *s)
{
    const size_t parameters = hf_kernel_parameters(hf_posterior_kernel(a->posterior)) + 2;
    hfi_fitted *next = &s->next;
    next->value = hfi_memory_alloc(&study->memory, parameters + 2 * s->n, sizeof *next->value);
    if (next->value == NULL) return hfi_out_of_memory(ctx);
    next->readings = s->n;
    next->facts = study->facts;
    next->parameters = parameters;
    next->trial = next->value + parameters;
    read_trained_parameters(a->posterior, next->value);
    memcpy(s->aside, a->aside, s->n * sizeof *s->aside);
    memcpy(s->reading, a->reading, s->n * sizeof *s->reading);
    for (size_t i = 0; i < s->n; i++)
        if (s->aside[i]) next->trial[next->aside++] = (double)s->trial[i];
    for (size_t i = 0; i < s->n; i++)
        if (s->reading[i].suspected && !s->aside[i])
            next->trial[next->aside + next->doubted++] = (double)s->trial[i];
    s->trained = true;
    return condition(ctx, study, outcome, s, s->aside, next, &s->posterior);
}

static void range_of(const hfi_surrogate *s, outcome_training *t)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < s->n; i++) {
        low = fmin(low, s->y[i]);
        high = fmax(high, s->y[i]);
    }
    t->range = high > low ? high - low : 1.0;
}

/* Those that were set aside before; whether there are any. */
static bool were_aside(const hfi_surrogate *s, const hfi_fitted *before, bool *out)
{
    bool any = false;
    for (size_t i = 0; i < s->n; i++) {
        out[i] = listed(before->trial, before->aside, s->trial[i]);
        any = any || out[i];
    }
    return any;
}

/* The attempt without the readings `out` takes the place of the best so far if it explains all readings better. */
static hf_status compare_explanations(hf_context *ctx, const outcome_training *t, const bool *out,
                                      explanation *best)
{
    explanation other = {0};
    const hf_status s = try_without(ctx, t, out, &other);
    if (s >= 0 && !(other.merit <= best->merit)) {
        const explanation held = *best;
        *best = other;
        other = held;
    }
    drop_explanation(ctx, &other);
    return s;
}

static hf_status best_attempt(hf_context *ctx, const outcome_training *t, explanation *best)
{
    const size_t n = t->s->n;
    const bool more = t->study->s.robust && t->outcome < t->study->outcomes && n <= LARGE;
    bool *out = hfi_alloc(ctx, n, sizeof *out);
    if (out == NULL) return HF_ERR_MEMORY;
    hf_status s = try_without(ctx, t, NULL, best);
    if (s >= 0 && more && were_aside(t->s, t->before, out))
        s = hfi_worse(s, compare_explanations(ctx, t, out, best));
    if (s >= 0 && more && hfi_surrogate_contradicted(t->study, t->s, t->range, out) &&
        memcmp(out, best->aside, n * sizeof *out) != 0)
        s = hfi_worse(s, compare_explanations(ctx, t, out, best));
    hfi_free(ctx, out);
    return s;
}

hf_status hfi_surrogate_train(hf_context *ctx, const hf_study *study, size_t of, hfi_surrogate *s)
{
    outcome_training t = {.study = study, .outcome = of, .s = s, .before = &study->fitted[of]};
    explanation best = {0};
    s->next = (hfi_fitted){.warp = hfi_warp_none()};
    if (hfi_study_is_objective(study, of)) {
        double *scratch = hfi_alloc(ctx, s->n, sizeof *scratch);
        if (scratch == NULL) return HF_ERR_MEMORY;
        memcpy(scratch, s->y, s->n * sizeof *scratch);
        s->next.warp = hfi_warp_of(s->n, scratch);
        hfi_free(ctx, scratch);
    }
    warp(s);
    range_of(s, &t);
    t.wrong = hfi_study_wrong_share(study, of, s);
    hf_status status = best_attempt(ctx, &t, &best);
    if (status >= 0) status = hfi_worse(status, remember_explanation(ctx, study, of, &best, s));
    drop_explanation(ctx, &best);
    return status;
}

/* ---- another one --------------------------------------------------------------------------------------- */

/* Median over the trials that fill the space: others crowd where the objective is large. */
static double usual(const hf_study *study, size_t outcome, double *scratch)
{
    const size_t count = hfi_study_filling(study, outcome, scratch);
    for (size_t i = 0; i < count; i++) scratch[i] *= hfi_study_sign(study, outcome);
    return count > 0 ? hfi_quantile(scratch, count, 0.5) : NAN;
}

hf_status hfi_surrogate_without(hf_context *ctx, const hf_study *study, size_t outcome,
                                const bool *disregarded, hf_posterior **out)
{
    const hfi_surrogate *all = &study->surrogate[outcome];
    hf_fit_settings settings;
    double *y = hfi_alloc(ctx, 2 * all->n + study->trials, sizeof *y);
    if (y == NULL) return HF_ERR_MEMORY;
    double *scratch = y + all->n;
    size_t kept = 0;
    for (size_t i = 0; i < all->n; i++) {
        y[i] = disregarded[i] ? NAN : hfi_warp_from(&all->next.warp, all->y[i]);
        if (!disregarded[i]) scratch[kept++] = y[i];
    }
    const hfi_warp w = hfi_warp_of(kept, scratch);
    for (size_t i = 0; i < all->n; i++) y[i] = disregarded[i] ? NAN : hfi_warp_to(&w, y[i]);
    hf_status s = fit_settings(ctx, study, outcome, kept, &settings);
    const hf_assignment mean = {.name = "mean", .value = hfi_warp_to(&w, usual(study, outcome, scratch))};
    settings.set = &mean;
    settings.set_count = mean.value == mean.value ? 1U : 0U;
    if (s >= 0) s = fit_readings(ctx, study, outcome, all, y, &w, &settings, out, NULL, NULL);
    hfi_free(ctx, y);
    return s;
}
