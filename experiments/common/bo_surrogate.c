/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_surrogate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/draws.h"
#include "common/rcagp_protocol.h"
#include "common/room.h"

static const char *const models[] = {"SVGP", "RCSVGP", "CaGP", "RCaGP", "default"};

/* The readings that the model sees: the first nine tenths of the window and the last tenth. */
typedef struct view {
    hf_data data;
    double *x, *y;
    size_t *row;     /* their numbers among all */
    hf_expert *said; /* prior mean, or NULL */
    double *mean;    /* of it, at the readings */
    hf_fit_settings settings;
    hf_assignment start[BO_HYPERPARAMETERS];
    double *inducing;
    double *lower, *upper;
    hf_domain domain;
} view;

typedef struct question {
    const char *name;
    bool (*ask)(bo_search *s, view *v, const hf_domain *where, size_t step, double *u);
    bool dpp;   /* inducing inputs are chosen by quality and diversity */
    bool turbo; /* in a trust region */
    bool plain; /* of any model */
} question;

static bool complain(const bo_search *s, const char *what)
{
    fprintf(stderr, "%s, %s: %s\n", s->model, what, hf_context_message(s->ctx));
    return false;
}

/* ---- models --------------------------------------------------------------------------------------------- */

bool bo_model_known(const char *name)
{
    char model[16];
    bo_expert_use use;
    if (!bo_expert_split(name, sizeof model, model, &use)) return false;
    for (size_t i = 0; i < sizeof models / sizeof *models; ++i)
        if (strcmp(model, models[i]) == 0) return true;
    return false;
}

static bool is_default(const bo_search *s)
{
    return strcmp(s->model, "default") == 0;
}

static bool model_settings(const bo_search *s, hf_fit_settings *out)
{
    if (rcagp_settings(s->ctx, s->model, RCAGP_PROGRAM, "matern32", 0.2, out) < 0)
        return complain(s, "settings");
    if (is_default(s)) {
        out->unit_inputs = true;
        return true;
    }
    out->mean = HF_MEAN_ZERO;
    out->optimiser = HF_OPTIMISER_LBFGS;
    out->iterations = 60;
    if (out->solver == HF_SOLVER_INDUCING)
        out->inducing = s->manner->size;
    else
        out->actions = s->manner->size;
    if (s->manner->high) {
        out->threshold_rule = HF_THRESHOLD_GIVEN;
        out->threshold = 20.0;
    }
    return true;
}

/* ---- views ---------------------------------------------------------------------------------------------- */

static size_t view_row(const bo_search *s, size_t rows, size_t i)
{
    const size_t last = rows / 10;
    return i < rows - last ? i : s->n - rows + i;
}

static void view_free(view *v)
{
    hf_expert_free(v->said);
    free(v->row);
    free(v->mean);
    free(v->x);
    free(v->y);
    free(v->inducing);
    free(v->lower);
    free(v->upper);
}

static void view_readings(const bo_search *s, view *v)
{
    const size_t rows = s->n < s->window ? s->n : s->window, d = s->d;
    v->x = room(rows * d, sizeof *v->x);
    v->y = room(rows, sizeof *v->y);
    v->row = room(rows, sizeof *v->row);
    for (size_t i = 0; i < rows; ++i) {
        const size_t from = v->row[i] = view_row(s, rows, i);
        memcpy(v->x + i * d, s->u + from * d, d * sizeof *v->x);
        v->y[i] = s->y[from];
    }
    v->data = (hf_data){.n = rows, .d = d, .x = v->x, .ldx = d, .y = v->y};
    v->lower = room(d, sizeof *v->lower);
    v->upper = room(d, sizeof *v->upper);
    for (size_t j = 0; j < d; ++j) v->upper[j] = 1.0;
    v->domain = (hf_domain){.dimension = d, .lower = v->lower, .upper = v->upper};
}

/* Asks the expert about the readings: the view gets a prior mean, or other readings. */
static bool view_expert(const bo_search *s, view *v)
{
    if (!s->expert) return true;
    const bo_expert_view seen = {v->data.n, s->d, v->row, v->x, v->y};
    if (!bo_expert_hear(s->ctx, s->expert, s->n, &seen) ||
        !bo_expert_mean(s->ctx, s->expert, &seen, &v->said))
        return false;
    if (v->said) {
        v->data.mean = v->mean = room(v->data.n, sizeof *v->mean);
        if (hf_expert_mean(s->ctx, v->said, v->data.n, v->x, s->d, v->mean, NULL) < 0)
            return complain(s, "expert");
    }
    for (size_t i = 0; s->expert->use == BO_EXPERT_REPLACE && i < v->data.n; ++i)
        if (!isnan(s->expert->correction[v->row[i]])) v->y[i] = s->expert->correction[v->row[i]];
    return true;
}

/* Rows for the model to be built on, by the posterior of the last step; at the first, the first ones. */
static bool view_inducing(const bo_search *s, view *v)
{
    size_t rows[BO_SURROGATE_MOST], count = 0;
    const size_t most = v->data.n < s->manner->size ? v->data.n : s->manner->size;
    for (; count < most; ++count) rows[count] = count;
    if (s->posterior && hf_dpp_quality(s->ctx, s->posterior, v->data.n, v->x, s->d, most, rows, &count) < 0)
        return complain(s, "inducing inputs");
    v->inducing = room(count * s->d, sizeof *v->inducing);
    for (size_t i = 0; i < count; ++i)
        memcpy(v->inducing + i * s->d, v->x + rows[i] * s->d, s->d * sizeof *v->inducing);
    v->settings.inducing = count;
    v->settings.inducing_inputs = v->inducing;
    v->settings.train_inducing = false;
    if (v->settings.solver == HF_SOLVER_PROJECTED) {
        v->settings.action_kind = HF_ACTIONS_INDUCING;
        v->settings.actions = count;
    }
    return true;
}

static bool view_make(const bo_search *s, bool dpp, view *v)
{
    *v = (view){.x = NULL};
    if (!model_settings(s, &v->settings)) return false;
    view_readings(s, v);
    if (!view_expert(s, v)) return false;
    if (dpp && !view_inducing(s, v)) return false;
    const size_t count = hf_fit_assignments(s->posterior, BO_HYPERPARAMETERS, v->start);
    if (count > 0 && count <= BO_HYPERPARAMETERS && !is_default(s)) {
        v->settings.start = v->start;
        v->settings.start_count = count;
        v->settings.warm = true;
    }
    return true;
}

/* ---- fits ----------------------------------------------------------------------------------------------- */

/* A posterior of differences from the expert's mean becomes one of readings. */
static bool replace(bo_search *s, const view *v, hf_posterior *by)
{
    hf_posterior_free(s->posterior);
    s->posterior = by;
    return !v->said || hf_posterior_lift(s->ctx, by, v->said) >= 0 || complain(s, "prior mean");
}

static bool fit(bo_search *s, const view *v)
{
    hf_posterior *fitted = NULL;
    if (hf_fit_data(s->ctx, &v->data, &v->settings, &fitted, NULL, NULL) < 0) return complain(s, "fit");
    return replace(s, v, fitted);
}

bool bo_search_fit(bo_search *search)
{
    view v;
    const bool ok = view_make(search, false, &v) && fit(search, &v);
    view_free(&v);
    return ok;
}

/* The row of count x d with the largest posterior mean, and that mean. */
static bool largest_mean(const bo_search *s, size_t count, const double *x, size_t *row, double *mean)
{
    double *means = room(count, sizeof *means);
    const bool ok = hf_predict(s->ctx, s->posterior, count, x, s->d, means, NULL, NULL) >= 0;
    *row = 0;
    for (size_t i = 1; ok && i < count; ++i)
        if (means[i] > means[*row]) *row = i;
    *mean = means[*row];
    free(means);
    return ok || complain(s, "prediction");
}

bool bo_search_incumbent(bo_search *search, size_t *row)
{
    double mean;
    return bo_search_fit(search) && largest_mean(search, search->n, search->u, row, &mean);
}

/* Finds the value that is to be improved upon. */
static bool to_beat(const bo_search *s, const view *v, double *best)
{
    size_t row;
    if (s->manner->mean) return largest_mean(s, v->data.n, v->x, &row, best);
    *best = -INFINITY;
    for (size_t i = 0; i < v->data.n; ++i) {
        const double right =
            s->expert && s->expert->use == BO_EXPERT_AVERAGE ? s->expert->correction[v->row[i]] : (double)NAN;
        *best = fmax(*best, isnan(right) ? v->y[i] : right);
    }
    return true;
}

/* ---- questions ------------------------------------------------------------------------------------------ */

static bool climb(bo_search *s, view *v, const hf_domain *where, hf_eulbo_settings *how, double *u)
{
    hf_posterior *climbed = NULL;
    how->epochs = s->manner->epochs;
    if (!s->manner->mean && !to_beat(s, v, &how->best)) return false;
    hf_data data = v->data;
    const double shift = v->said ? v->mean[0] : 0.0; /* a constant: see bo_question_fits() */
    for (size_t i = 0; i < data.n; ++i) v->y[i] -= shift;
    data.mean = NULL;
    how->best -= shift;
    if (hf_eulbo(s->ctx, &data, &v->settings, how, where, 0, NULL, u, &climbed, NULL) < 0)
        return complain(s, "EULBO");
    return replace(s, v, climbed);
}

static bool ask_eulbo(bo_search *s, view *v, const hf_domain *where, size_t step, double *u)
{
    hf_eulbo_settings how = hf_eulbo_settings_default();
    (void)step;
    how.utility = HF_UTILITY_EXPECTED_LOG;
    how.temperature = 1.0;
    return climb(s, v, where, &how, u);
}

static bool ask_eulbo_log(bo_search *s, view *v, const hf_domain *where, size_t step, double *u)
{
    hf_eulbo_settings how = hf_eulbo_settings_default();
    (void)step;
    return climb(s, v, where, &how, u);
}

static bool ask_ei(bo_search *s, view *v, const hf_domain *where, size_t step, double *u)
{
    hf_acquire acquire = {.size = sizeof acquire, .kind = HF_ACQUIRE_LOG_EI};
    (void)step;
    if (!fit(s, v) || !to_beat(s, v, &acquire.best)) return false;
    acquire.posterior = s->posterior;
    return hf_acquire_maximise(s->ctx, &acquire, where, NULL, 0, NULL, u, NULL) >= 0 ||
           complain(s, "expected improvement");
}

static bool ask_draw(bo_search *s, view *v, const hf_domain *where, size_t step, double *u)
{
    if (!fit(s, v)) return false;
    return hf_thompson_maximise(s->ctx, s->posterior, step, where, NULL, 0, NULL, u, NULL) >= 0 ||
           complain(s, "a draw of the posterior");
}

static bool ask_chance(bo_search *s, view *v, const hf_domain *where, size_t step, double *u)
{
    draws d = {s->seed * 0x9e3779b97f4a7c15u + step * 0x2545f4914f6cdd1du + 5};
    (void)v;
    for (size_t j = 0; j < where->dimension; ++j)
        u[j] = where->lower[j] + (where->upper[j] - where->lower[j]) * draw_uniform(&d);
    return true;
}

static const question questions[] = {
    {"eulbo", ask_eulbo, false, false, false},
    {"eulbo-log", ask_eulbo_log, false, false, false},
    {"eulbo-turbo", ask_eulbo, false, true, false},
    {"dpp-ei", ask_ei, true, false, false},
    {"dpp-ts", ask_draw, true, false, false},
    {"dpp-turbo", ask_ei, true, true, false},
    {"ei", ask_ei, false, false, true},
    {"chance", ask_chance, false, false, true},
};

static const question *find(const char *name)
{
    for (size_t i = 0; i < sizeof questions / sizeof *questions; ++i)
        if (strcmp(name, questions[i].name) == 0) return &questions[i];
    return NULL;
}

bool bo_question_known(const char *name)
{
    return find(name) != NULL;
}

bool bo_question_fits(const char *asked, const char *name)
{
    char model[16];
    bo_expert_use use;
    if (!bo_expert_split(name, sizeof model, model, &use)) return false;
    if (strncmp(asked, "eulbo", 5) == 0 && use == BO_EXPERT_AVERAGE) return false;
    return find(asked)->plain || strcmp(model, "default") != 0;
}

/* ---- trust regions -------------------------------------------------------------------------------------- */

/* Tells the region what the last place was worth, by the new model; a region that has ended starts again. */
static bool hear(bo_search *s)
{
    double means[2], *x = room(2 * s->d, sizeof *x);
    memcpy(x, s->centre, s->d * sizeof *x);
    memcpy(x + s->d, s->u + (s->n - 1) * s->d, s->d * sizeof *x);
    bool ok = hf_predict(s->ctx, s->posterior, 2, x, s->d, means, NULL, NULL) >= 0;
    const hf_trust_outcome outcome = {.before = means[0], .after = means[1], .scale = 1.0};
    hf_trust_event event = HF_TRUST_KEPT;
    free(x);
    ok = ok && hf_trust_region_update(s->ctx, NULL, &outcome, &s->region, &event) >= 0;
    if (ok && event == HF_TRUST_ENDED) ok = hf_trust_region_restart(s->ctx, NULL, &s->region) >= 0;
    return ok || complain(s, "trust region");
}

/* The region around the reading with the largest posterior mean: a cube, since there is one lengthscale. */
static bool place(bo_search *s, const view *v, double *lower, double *upper)
{
    size_t row;
    double mean;
    if (!s->placed && hf_trust_region_create(s->ctx, NULL, s->d, 1, &s->region) < 0)
        return complain(s, "trust region");
    if (!fit(s, v) || (s->placed && !hear(s)) || !largest_mean(s, v->data.n, v->x, &row, &mean)) return false;
    memcpy(s->centre, v->x + row * s->d, s->d * sizeof *s->centre);
    s->placed = true;
    return hf_trust_region_box(s->ctx, &s->region, &v->domain, s->centre, NULL, lower, upper) >= 0 ||
           complain(s, "trust region");
}

bool bo_search_ask(bo_search *search, const char *name, size_t step, double *u)
{
    const question *q = find(name);
    view v;
    double *lower = room(search->d, sizeof *lower), *upper = room(search->d, sizeof *upper);
    bool ok = view_make(search, q->dpp, &v);
    hf_domain where = v.domain;
    if (ok && q->turbo) {
        ok = place(search, &v, lower, upper);
        where.lower = lower;
        where.upper = upper;
        /* The model of the region is where the next fit starts from; names live as long as it does. */
        v.settings.start_count = hf_fit_assignments(search->posterior, BO_HYPERPARAMETERS, v.start);
        v.settings.start = v.start;
        v.settings.warm = true;
    }
    ok = ok && q->ask(search, &v, &where, step, u);
    view_free(&v);
    free(lower);
    free(upper);
    return ok;
}
