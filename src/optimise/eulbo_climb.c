/* SPDX-License-Identifier: Apache-2.0 */
/* The climb: steps of Adam in the surrogate's parameters and in the points. */
#include "optimise/eulbo.h"

#include <math.h>
#include <string.h>

/* An epoch that gains no more has gained nothing: nats. */
static const double least_gain = 1e-6;

/* Coordinates that Adam moves together, and its moments. */
typedef struct movers {
    size_t count, steps;
    double rate;
    double *gradient, *first, *second; /* count each */
} movers;

static hf_status movers_init(hf_context *ctx, movers *m)
{
    return HFI_ALLOC(ctx, HFI_ROOM(m->gradient, m->count), HFI_ROOM(m->first, m->count),
                     HFI_ROOM(m->second, m->count));
}

static void movers_free(hf_context *ctx, movers *m)
{
    HFI_FREE(ctx, m->gradient, m->first, m->second);
}

typedef struct eulbo_climb {
    hfi_eulbo *e;
    hfi_trainer *trainer;
    hfi_query query;
    size_t points;  /* entries of all points */
    size_t *smooth; /* inputs of a point that move, smooth_count of them */
    size_t smooth_count;
    double *state, *gradient, *best_state; /* trainer's count each */
    double *x, *best_x;                    /* user's units */
    movers model, place;
    double best_total; /* of best_state and best_x; -infinity before any */
    double best_utility, best_prior;
} eulbo_climb;

/* ---- one evaluation ------------------------------------------------------------------------------------ */

static void keep_best(eulbo_climb *c, double total, double log_prior)
{
    if (!(total > c->best_total)) return;
    c->best_total = total;
    c->best_utility = c->query.value;
    c->best_prior = log_prior;
    memcpy(c->best_state, c->state, c->trainer->count * sizeof *c->state);
    memcpy(c->best_x, c->x, c->points * sizeof *c->x);
}

/* EULBO at the present state and points, and its derivatives. */
static hf_status evaluate_eulbo_state(eulbo_climb *c)
{
    const hfi_fit *fit = c->e->fit;
    double value = 0.0, log_prior = 0.0;
    hfi_scaling_inputs(&fit->scaling, c->query.count, c->x, fit->d, c->query.x);
    c->e->report.evaluations++;
    hf_status status = hfi_trainer_evaluate(c->trainer, c->state, &value, &log_prior, c->gradient);
    if (status >= 0 && !isfinite(value + log_prior))
        status = hfi_fail(c->e->ctx, HF_ERR_NOT_FINITE, "the expected lower bound utility is %g",
                          value + log_prior);
    if (status < 0) return status;
    keep_best(c, value + log_prior, log_prior);
    const double done = (double)c->e->report.epochs / (double)(c->e->settings.epochs + 1);
    return hfi_progress(c->e->ctx, "eulbo", done, value + log_prior) ? HF_OK : hfi_cancelled(c->e->ctx);
}

static void gather_eulbo_gradients(eulbo_climb *c)
{
    const hfi_trainer *t = c->trainer;
    const hfi_fit *fit = c->e->fit;
    const hf_domain *domain = c->e->domain;
    for (size_t k = 0; k < c->model.count; k++) c->model.gradient[k] = c->gradient[t->free_index[k]];
    for (size_t k = 0; k < c->place.count; k++) {
        const size_t j = c->smooth[k % c->smooth_count], a = k / c->smooth_count;
        c->place.gradient[k] =
            c->query.x_bar[a * fit->d + j] * (domain->upper[j] - domain->lower[j]) / fit->scaling.x_scale[j];
    }
}

/* ---- steps --------------------------------------------------------------------------------------------- */

/* The moments after a gradient of at most `clip`; then step[k] = rate times their quotient. */
static void adam(movers *m, double clip, double *step)
{
    double square = 0.0;
    for (size_t k = 0; k < m->count; k++) square += m->gradient[k] * m->gradient[k];
    const double shrink = sqrt(square) > clip ? clip / sqrt(square) : 1.0;
    m->steps++;
    for (size_t k = 0; k < m->count; k++) {
        double up, down;
        hfi_adam_entry(shrink * m->gradient[k], m->steps, &m->first[k], &m->second[k], &up, &down);
        step[k] = m->rate * up / down;
    }
}

static void step_model(eulbo_climb *c)
{
    const hfi_trainer *t = c->trainer;
    if (c->model.rate == 0.0) return;
    adam(&c->model, c->e->settings.clip, c->model.gradient);
    for (size_t k = 0; k < c->model.count; k++) {
        const size_t i = t->free_index[k];
        c->state[i] = fmin(fmax(c->state[i] + c->model.gradient[k], t->lower[i]), t->upper[i]);
    }
}

static void step_points(eulbo_climb *c)
{
    const hf_domain *domain = c->e->domain;
    adam(&c->place, c->e->settings.clip, c->place.gradient);
    for (size_t k = 0; k < c->place.count; k++) {
        const size_t j = c->smooth[k % c->smooth_count];
        double *x = c->x + k / c->smooth_count * domain->dimension + j;
        const double moved = *x + c->place.gradient[k] * (domain->upper[j] - domain->lower[j]);
        *x = fmin(fmax(moved, domain->lower[j]), domain->upper[j]);
    }
}

/* The derivatives at the present point are known on entry and on return. */
static hf_status step_eulbo(eulbo_climb *c)
{
    gather_eulbo_gradients(c);
    step_model(c);
    if (!c->e->settings.joint && c->model.rate > 0.0) {
        const hf_status status = evaluate_eulbo_state(c);
        if (status < 0) return status;
        gather_eulbo_gradients(c);
    }
    step_points(c);
    return evaluate_eulbo_state(c);
}

/* ---- the climb ----------------------------------------------------------------------------------------- */

static void forget(movers *m)
{
    m->steps = 0;
    memset(m->first, 0, m->count * sizeof *m->first);
    memset(m->second, 0, m->count * sizeof *m->second);
}

/* From the best so far with a tenth of the rates. */
static void retreat(eulbo_climb *c)
{
    memcpy(c->state, c->best_state, c->trainer->count * sizeof *c->state);
    memcpy(c->x, c->best_x, c->points * sizeof *c->x);
    forget(&c->model);
    forget(&c->place);
    c->model.rate /= 10.0;
    c->place.rate /= 10.0;
    c->e->report.retries++;
}

static bool is_numerical(hf_status status)
{
    return status == HF_ERR_NOT_POSITIVE_DEFINITE || status == HF_ERR_NOT_FINITE;
}

static hf_status run_epoch(eulbo_climb *c)
{
    hf_status status = HF_OK;
    for (size_t k = 0; status >= 0 && k < c->e->settings.steps; k++) {
        status = step_eulbo(c);
        while (is_numerical(status) && c->e->report.retries < c->e->settings.retries) {
            retreat(c);
            status = evaluate_eulbo_state(c);
        }
    }
    return status;
}

static hf_status run_epochs(eulbo_climb *c)
{
    hf_eulbo_report *report = &c->e->report;
    size_t idle = 0;
    hf_status status = evaluate_eulbo_state(c);
    if (status < 0) return status;
    report->utility_start = c->best_utility;
    report->elbo_start = c->best_total - c->best_utility;
    while (report->epochs < c->e->settings.epochs && idle < c->e->settings.patience) {
        const double before = c->best_total;
        status = run_epoch(c);
        report->epochs++;
        if (is_numerical(status)) break; /* no way on: the best so far it is */
        if (status < 0) return status;
        idle = c->best_total > before + least_gain ? 0 : idle + 1;
    }
    report->settled = idle == c->e->settings.patience;
    report->utility = c->best_utility;
    report->elbo = c->best_total - c->best_utility;
    return HF_OK;
}

static hf_status add_weighted_utility(void *arg, size_t n, const double *mean, const double *cov,
                                      double *value, double *mean_bar, double *cov_bar)
{
    const hfi_eulbo *e = arg;
    const double weight = e->settings.weight;
    const hf_status status = hfi_utility_add((void *)&e->utility, n, mean, cov, value, mean_bar, cov_bar);
    if (status < 0) return status;
    *value *= weight;
    for (size_t a = 0; a < n; a++) mean_bar[a] *= weight;
    for (size_t a = 0; a < n * n; a++) cov_bar[a] *= weight;
    return status;
}

/* Room for a climb. */
static hf_status open_climb(hfi_eulbo *e, eulbo_climb *c)
{
    const hfi_fit *fit = e->fit;
    const size_t d = fit->d, q = e->settings.batch, count = c->trainer->count;
    const hfi_evaluator *evaluator = &c->trainer->evaluator;
    const size_t height = evaluator->kind->query_rows(evaluator);
    c->smooth = hfi_alloc(e->ctx, d, sizeof *c->smooth);
    if (c->smooth == NULL) return HF_ERR_MEMORY;
    (void)hfi_domain_free_inputs(e->domain, c->smooth, &c->smooth_count);
    c->points = q * d;
    c->model = (movers){.count = c->trainer->free_count, .rate = e->settings.rate_model};
    c->place = (movers){.count = q * c->smooth_count, .rate = e->settings.rate_points};
    const hf_status status =
        HFI_ALLOC(e->ctx, HFI_ROOM(c->state, count), HFI_ROOM(c->gradient, count),
                  HFI_ROOM(c->best_state, count), HFI_ROOM(c->x, c->points), HFI_ROOM(c->best_x, c->points));
    if (status < 0 || movers_init(e->ctx, &c->model) < 0 || movers_init(e->ctx, &c->place) < 0)
        return HF_ERR_MEMORY;
    return hfi_query_init(e->ctx, q, d, height, add_weighted_utility, e, &c->query);
}

/* The utility in the solver's units; the surrogate's own are the user's. */
static void scale_utility(hfi_eulbo *e)
{
    const hfi_scaling *scaling = &e->fit->scaling;
    e->utility.best = (e->best - scaling->y_shift) / scaling->y_scale;
    e->utility.unit = e->unit / scaling->y_scale;
}

hf_status hfi_eulbo_climb(hfi_eulbo *e, double *state)
{
    eulbo_climb c = {.e = e, .trainer = &e->fit->trainer, .best_total = -INFINITY};
    hf_status status = open_climb(e, &c);
    if (status >= 0) {
        memcpy(c.state, state, c.trainer->count * sizeof *state);
        memcpy(c.x, e->points, c.points * sizeof *c.x);
        scale_utility(e);
        c.trainer->evaluator.query = &c.query;
        status = run_epochs(&c);
        c.trainer->evaluator.query = NULL;
    }
    if (status >= 0) {
        memcpy(state, c.best_state, c.trainer->count * sizeof *state);
        memcpy(e->points, c.best_x, c.points * sizeof *c.x);
        e->report.utility_start /= e->settings.weight;
        e->report.utility /= e->settings.weight;
        c.trainer->found.value = c.best_total - c.best_utility - c.best_prior;
        c.trainer->found.log_prior = c.best_prior;
    }
    hfi_query_free(&c.query);
    movers_free(e->ctx, &c.model);
    movers_free(e->ctx, &c.place);
    HFI_FREE(e->ctx, c.state, c.gradient, c.best_state, c.x, c.best_x, c.smooth);
    return status;
}
