/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition functions over points: values at many, gradients at one, and the place where they are largest. */
#include "optimise/acquire.h"
#include "core/settings.h"

#include "posterior/posterior.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CHUNK = 4096,   /* points that are predicted at a time */
    LOT = 64,       /* of a task of one thread */
    DRAW_WORK = 100 /* multiplications that a draw's logarithms cost as much as */
};

static const hf_posterior *posterior_of(const hf_acquire *a, size_t k)
{
    return k == 0 ? a->posterior : a->constraint[k - 1];
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static hf_status check_posterior(hf_context *ctx, const hf_acquire *a, size_t k, size_t d)
{
    const hf_posterior *posterior = posterior_of(a, k);
    if (posterior == NULL && k == 0) return hfi_refuse(ctx, "the posterior of f is NULL");
    if (posterior == NULL)
        return hfi_refuse(ctx, "the posterior of constraint %zu (counted from 0) is NULL", k - 1);
    const hf_status one = hfi_posterior_need_one(ctx, posterior, "an acquisition function");
    if (one < 0) return one;
    if (hf_posterior_dimension(posterior) != d && k == 0)
        return hfi_fail(ctx, HF_ERR_DIMENSION, "the posterior of f has %zu inputs, but the domain has %zu",
                        hf_posterior_dimension(posterior), d);
    if (hf_posterior_dimension(posterior) != d)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "the posterior of constraint %zu (counted from 0) has %zu inputs, but f has %zu",
                        k - 1, hf_posterior_dimension(posterior), d);
    return HF_OK;
}

static hf_status check_best(hf_context *ctx, const hf_acquire *a, const hfi_acquisition_row *row)
{
    if (!row->improves && !isfinite(a->beta))
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "beta, %g, is not finite", a->beta);
    if (!row->improves && a->constraints > 0)
        return hfi_refuse(
            ctx, "%s can be negative and is not multiplied by the probability of %zu constraints; use log-ei",
            row->name, a->constraints);
    if (!row->improves && a->against > 0)
        return hfi_refuse(ctx, "%s improves upon nothing, but there are %zu points to improve upon",
                          row->name, a->against);
    if (!row->improves || isfinite(a->best)) return HF_OK;
    if (a->best != -INFINITY)
        return hfi_fail(ctx, HF_ERR_NOT_FINITE, "best is %g; it must be finite or -infinity", a->best);
    if (a->constraints + a->pending + a->against == 0)
        return hfi_refuse(ctx,
                          "best is -infinity and there are no constraints: nothing is to be improved upon");
    return HF_OK;
}

/* Pending points, and those that are to be improved upon. */
static hf_status check_points(hf_context *ctx, const hf_acquire *a, size_t d)
{
    const size_t counts[] = {a->pending, a->against};
    const double *const points[] = {a->pending_x, a->against_x};
    const char *const names[] = {"pending points", "points to improve upon"};
    for (size_t k = 0; k < 2; k++) {
        if (counts[k] == 0) continue;
        if (points[k] == NULL)
            return hfi_refuse(ctx, "there are %zu %s, but they are NULL", counts[k], names[k]);
        if (counts[k] > HFI_MOST_POINTS)
            return hfi_refuse(ctx, "there are %zu %s; %d are as many as there can be", counts[k], names[k],
                              HFI_MOST_POINTS);
        for (size_t i = 0; i < counts[k] * d; i++)
            if (!isfinite(points[k][i]))
                return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                                "input %zu of row %zu (both counted from 0) of the %s is not finite", i % d,
                                i / d, names[k]);
    }
    return HF_OK;
}

hf_status hfi_acquire_check(hf_context *ctx, const hf_acquire *a, size_t d)
{
    const hfi_acquisition_row *row = hfi_acquisition_of(a->kind);
    if (row == NULL) return hfi_refuse(ctx, "there is no acquisition function number %d", (int)a->kind);
    if (a->constraints > 0 && (a->constraint == NULL || a->limit == NULL))
        return hfi_refuse(ctx, "there are %zu constraints, but their posteriors or limits are NULL",
                          a->constraints);
    hf_status status = HF_OK;
    for (size_t k = 0; k <= a->constraints && status >= 0; k++) status = check_posterior(ctx, a, k, d);
    for (size_t k = 0; k < a->constraints && status >= 0; k++)
        if (!isfinite(a->limit[k]))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "limit %zu (counted from 0), %g, is not finite", k,
                              a->limit[k]);
    if (status >= 0) status = check_points(ctx, a, d);
    return status >= 0 ? check_best(ctx, a, row) : status;
}

hf_status hfi_acquire_take(hf_context *ctx, const hf_acquire *given, hf_acquire *own)
{
    if (given == NULL) return hfi_refuse(ctx, "the acquisition function is NULL");
    return hfi_settings_take(ctx, hf_acquire_table(), given, own);
}

/* ---- one point ----------------------------------------------------------------------------------------- */

double hfi_not_below(double value)
{
    return fmax(value, -DBL_MAX);
}

void hfi_add_slopes(size_t d, double by_mean, double by_sd, double sd, const double *slopes, double *total)
{
    const double by_var = sd > 0.0 ? by_sd / (2.0 * sd) : 0.0;
    for (size_t j = 0; j < d; j++) {
        const double spread = by_var * slopes[d + j];
        total[j] += by_mean * slopes[j] + (isfinite(spread) ? spread : 0.0);
    }
}

static hf_status predict_acquired_output(const hfi_acquiring *p, size_t k, const double *x, bool slopes,
                                         double *mean, double *var)
{
    return hf_predict_latent(posterior_of(p->a, k), p->rooms[k], x, mean, var, slopes ? p->slopes : NULL,
                             slopes ? p->slopes + p->d : NULL);
}

/* total += factor d F / d x through w, of the mean and of the sd. */
static void add_drawn_slopes(hfi_acquiring *p, const double *x, hfi_acquired v, double sd, double factor)
{
    hfi_draws *draws = &p->draws;
    if (draws->given.p == 0) return;
    for (size_t k = 0; sd > 0.0 && k < draws->given.p; k++) draws->q[k] -= v.sd / sd * draws->w[k];
    hfi_given_gradient(&draws->given, x, draws->q, p->slopes);
    for (size_t j = 0; j < p->d; j++)
        if (isfinite(factor * p->slopes[j])) p->total[j] += factor * p->slopes[j];
}

/* The logarithm of the probability of all constraints; its gradient into p->total. */
static hf_status constraints_at(hfi_acquiring *p, const double *x, bool slopes, double *log_p)
{
    *log_p = 0.0;
    memset(p->total, 0, p->d * sizeof *p->total);
    for (size_t k = 0; k < p->a->constraints; k++) {
        double mean, var;
        const hf_status status = predict_acquired_output(p, k + 1, x, slopes, &mean, &var);
        if (status < 0) return status;
        const hfi_acquired one = hfi_acquisition_feasible(p->a->limit[k], mean, sqrt(var));
        *log_p = hfi_not_below(*log_p + one.value);
        if (slopes) hfi_add_slopes(p->d, one.mean, one.sd, sqrt(var), p->slopes, p->total);
    }
    return HF_OK;
}

/* The value is v P, or log v + log P: v of f, P of the constraints. */
hf_status hfi_acquiring_at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    hfi_acquiring *p = of;
    const bool logarithm = p->row->logarithm, slopes = gradient != NULL;
    double log_p, mean, var = 0.0, sd = 0.0;
    hfi_acquired v = {.value = logarithm ? 0.0 : 1.0};
    hf_status status = constraints_at(p, x, slopes, &log_p);
    if (status >= 0 && !p->feasibility) {
        status = predict_acquired_output(p, 0, x, slopes, &mean, &var);
        if (status < 0) return status;
        hfi_given_at(&p->draws.given, x, p->draws.w);
        sd = hfi_draws_sd(&p->draws, var, p->draws.w);
        v = hfi_draws_mean(&p->draws, mean, sd, p->draws.w, slopes ? p->draws.q : NULL);
    }
    if (status < 0) return status;
    const double probability = exp(log_p), of_v = logarithm ? 1.0 : probability,
                 here = logarithm ? hfi_not_below(v.value + log_p) : v.value * probability;
    if (!isfinite(here)) return HF_ERR_NOT_FINITE;
    for (size_t j = 0; j < d && !logarithm; j++) p->total[j] *= here;
    if (slopes && !p->feasibility) {
        hfi_add_slopes(d, of_v * v.mean, of_v * v.sd, sd, p->slopes, p->total);
        add_drawn_slopes(p, x, v, sd, of_v);
    }
    for (size_t j = 0; slopes && j < d; j++)
        if (!isfinite(p->total[j])) return HF_ERR_NOT_FINITE;
    if (slopes) memcpy(gradient, p->total, d * sizeof *gradient);
    *value = here;
    return HF_OK;
}

/* ---- many points --------------------------------------------------------------------------------------- */

/* Some points: predictions of one posterior, and the values so far. */
typedef struct acquire_chunk {
    const hfi_acquiring *p;
    size_t count;
    const double *x;
    double *mean, *var, *w; /* count, count, count x p */
    double *values;         /* log P, then the values */
} acquire_chunk;

static void value_lot(size_t lot, int thread, void *arg)
{
    (void)thread;
    const acquire_chunk *c = arg;
    const hfi_acquiring *p = c->p;
    const bool logarithm = p->row->logarithm;
    const size_t end = c->count - lot * LOT < LOT ? c->count : (lot + 1) * LOT;
    for (size_t i = lot * LOT; i < end; i++) {
        double v = logarithm ? 0.0 : 1.0;
        if (!p->feasibility) {
            const double *w = c->w + i * p->draws.given.p;
            v = hfi_draws_mean(&p->draws, c->mean[i], hfi_draws_sd(&p->draws, c->var[i], w), w, NULL).value;
        }
        c->values[i] = logarithm ? hfi_not_below(v + c->values[i]) : v * exp(c->values[i]);
    }
}

static hf_status chunk_values(hf_context *ctx, acquire_chunk *c)
{
    const hfi_acquiring *p = c->p;
    const hf_acquire *a = p->a;
    hf_status status = HF_OK;
    for (size_t i = 0; i < c->count; i++) c->values[i] = 0.0;
    for (size_t k = 0; k < a->constraints && status >= 0; k++) {
        status = hf_predict(ctx, a->constraint[k], c->count, c->x, p->d, c->mean, c->var, NULL);
        for (size_t i = 0; i < c->count && status >= 0; i++)
            c->values[i] = hfi_not_below(
                c->values[i] + hfi_acquisition_feasible(a->limit[k], c->mean[i], sqrt(c->var[i])).value);
    }
    if (status >= 0 && !p->feasibility)
        status = hf_predict(ctx, a->posterior, c->count, c->x, p->d, c->mean, c->var, NULL);
    if (status >= 0) status = hfi_given_many(ctx, &p->draws.given, c->count, c->x, c->w);
    if (status < 0) return status;
    hfi_parallel_for(ctx, (c->count + LOT - 1) / LOT, value_lot, c);
    for (size_t i = 0; i < c->count; i++)
        if (!isfinite(c->values[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "%s overflows at a point with mean %g and sd %g",
                            p->row->name, c->mean[i], sqrt(c->var[i]));
    return HF_OK;
}

static hf_status acquisition_evaluate_many(hf_context *ctx, void *of, size_t m, size_t d, const double *x,
                                           double *values)
{
    const hfi_acquiring *p = of;
    const size_t most = m < CHUNK ? m : CHUNK;
    double *room = hfi_alloc_product(ctx, most, 2 + p->draws.given.p, sizeof *room);
    hf_status status = room != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t begin = 0; begin < m && status >= 0; begin += most) {
        acquire_chunk c = {.p = p,
                           .count = m - begin < most ? m - begin : most,
                           .x = x + begin * d,
                           .mean = room,
                           .var = room + most,
                           .w = room + 2 * most,
                           .values = values + begin};
        status = chunk_values(ctx, &c);
    }
    hfi_free(ctx, room);
    return status;
}

/* ---- preparing ----------------------------------------------------------------------------------------- */

void hfi_acquiring_end(hf_context *ctx, hfi_acquiring *p)
{
    hfi_draws_end(ctx, &p->draws);
    for (size_t k = 0; p->rooms != NULL && k < p->posteriors; k++) hf_posterior_workspace_free(p->rooms[k]);
    HFI_FREE(ctx, p->rooms, p->slopes);
}

hf_status hfi_acquiring_begin(hf_context *ctx, const hf_acquire *a, size_t d, hfi_acquiring *p)
{
    *p =
        (hfi_acquiring){.a = a, .row = hfi_acquisition_of(a->kind), .d = d, .posteriors = 1 + a->constraints};
    p->feasibility = p->row->improves && a->best == -INFINITY && a->pending + a->against == 0;
    if (HFI_ALLOC(ctx, HFI_ROOM(p->rooms, p->posteriors), HFI_ROOMS(p->slopes, d, 3)) < 0)
        return HF_ERR_MEMORY;
    p->total = p->slopes + 2 * d;
    for (size_t k = 0; k < p->posteriors; k++) {
        p->rooms[k] = hf_posterior_workspace_create(ctx, posterior_of(a, k));
        if (p->rooms[k] == NULL) return HF_ERR_MEMORY;
    }
    return hfi_draws_begin(ctx, a, d, &p->draws);
}

/* Multiplications for the value at a point. */
static double work_of(const hfi_acquiring *p)
{
    double sum = 0.0;
    for (size_t k = p->feasibility ? 1 : 0; k < p->posteriors; k++) {
        const double n = (double)hf_posterior_anchors(posterior_of(p->a, k));
        sum += n * (n + (double)p->d);
    }
    const double points = (double)p->draws.given.p, rows = (double)p->draws.given.rows;
    return sum + rows * (points + (double)p->d) + (double)p->draws.count * (DRAW_WORK + points);
}

static hf_status acquisition_describe(hf_context *ctx, void *of, size_t d, const double *x, hf_argmax *found)
{
    (void)ctx;
    double var = 0.0;
    hf_status status = hfi_acquiring_at(of, d, x, &found->value, NULL);
    if (status >= 0) status = predict_acquired_output(of, 0, x, false, &found->mean, &var);
    found->sd = sqrt(var);
    return status;
}

static hfi_surface surface_of(hfi_acquiring *p)
{
    return (hfi_surface){.what = p->row->name,
                         .of = p,
                         .near = p->a->posterior,
                         .work = work_of(p),
                         .bottomless = p->row->logarithm,
                         .many = acquisition_evaluate_many,
                         .at = hfi_acquiring_at,
                         .describe = acquisition_describe,
                         .measured = true};
}

static hf_status each(hf_context *ctx, const hfi_surface *f, size_t d, size_t m, const double *x,
                      double *values, double *gradients)
{
    if (gradients == NULL) return f->many(ctx, f->of, m, d, x, values);
    for (size_t i = 0; i < m; i++) {
        if (!hfi_progress(ctx, "acquire", (double)i / (double)m, NAN)) return hfi_cancelled(ctx);
        const hf_status status = f->at(f->of, d, x + i * d, values + i, gradients + i * d);
        if (status < 0)
            return hfi_fail(ctx, status, "%s has no value or no gradient at row %zu (counted from 0)",
                            f->what, i);
    }
    return HF_OK;
}

hf_status hfi_surface_at(hf_context *ctx, const hfi_surface *f, size_t d, size_t m, const double *x,
                         double *values, double *gradients)
{
    double *v = hfi_alloc_unset(ctx, m, sizeof *v);
    double *g = gradients != NULL ? hfi_alloc_product(ctx, m, d, sizeof *g) : NULL;
    hf_status status = v == NULL || (gradients != NULL && g == NULL) ? HF_ERR_MEMORY : HF_OK;
    if (status >= 0) status = each(ctx, f, d, m, x, v, g);
    if (status >= 0 && m > 0) {
        memcpy(values, v, m * sizeof *values);
        if (gradients != NULL) memcpy(gradients, g, m * d * sizeof *gradients);
    }
    HFI_FREE(ctx, g, v);
    return status;
}

hf_status hf_acquire_evaluate(hf_context *ctx, const hf_acquire *acquire, size_t count, const double *x,
                              double *values, double *gradients)
{
    hf_acquire a;
    hf_status status = hfi_acquire_take(ctx, acquire, &a);
    if (status < 0) return status;
    if (a.posterior == NULL) return hfi_refuse(ctx, "the posterior of f is NULL");
    if (values == NULL && count > 0) return hfi_refuse(ctx, "values is NULL");
    const size_t d = hf_posterior_dimension(a.posterior);
    status = hfi_acquire_check(ctx, &a, d);
    if (status >= 0) status = hfi_posterior_check_rows(ctx, a.posterior, count, x, d);
    if (status < 0 || count == 0) return status;
    hfi_acquiring p;
    status = hfi_acquiring_begin(ctx, &a, d, &p);
    if (status >= 0) {
        const hfi_surface surface = surface_of(&p);
        status = hfi_surface_at(ctx, &surface, d, count, x, values, gradients);
    }
    hfi_acquiring_end(ctx, &p);
    return status;
}

/* ---- the largest --------------------------------------------------------------------------------------- */

hf_status hfi_acquiring_maximise(hf_context *ctx, hfi_acquiring *p, const hf_domain *domain,
                                 const hf_search_settings *settings, size_t guess_count,
                                 const double *guesses, double *x, hf_argmax *found)
{
    const hfi_surface surface = surface_of(p);
    return hfi_maximise_surface(ctx, &surface, domain, settings, guess_count, guesses, x, found);
}

hf_status hf_acquire_maximise(hf_context *ctx, const hf_acquire *a, const hf_domain *domain,
                              const hf_search_settings *settings, size_t guess_count, const double *guesses,
                              double *x, hf_argmax *report)
{
    const double begin = hfi_now();
    hfi_acquiring p;
    hf_argmax found;
    hf_acquire own;
    hf_status status = hfi_acquire_take(ctx, a, &own);
    if (status >= 0) status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    if (status >= 0) status = hfi_acquire_check(ctx, &own, domain->dimension);
    if (status < 0) return status;
    status = hfi_acquiring_begin(ctx, &own, domain->dimension, &p);
    if (status >= 0)
        status = hfi_acquiring_maximise(ctx, &p, domain, settings, guess_count, guesses, x, &found);
    hfi_acquiring_end(ctx, &p);
    if (status < 0) return status;
    found.seconds = hfi_now() - begin;
    if (report != NULL) *report = found;
    return HF_OK;
}
