/* SPDX-License-Identifier: Apache-2.0 */
/* Expected hypervolume improvement over posteriors: values at many points, gradients at one, and the place where it is largest. */
#include "optimise/acquire.h"

#include "posterior/given.h"
#include <float.h>
#include <holdfast/acquire_front.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 3,     /* objectives */
    CHUNK = 4096, /* points that are predicted at a time */
    LOT = 64      /* points of a task */
};

typedef struct prepared {
    const hf_acquire_front *a;
    hf_ehvi *ehvi;
    size_t d, posteriors;
    hf_workspace **rooms;  /* of the objectives, then of the constraints */
    hfi_given given[MOST]; /* what pending points say about each objective */
    double *w;             /* pending */
    double *slopes;        /* MOST x 2 d: gradients of mean and variance of each objective */
    double *one;           /* 2 d: of a constraint; or a gradient of what pending points say */
    double *total;         /* d */
} prepared;

static const hf_posterior *posterior_of(const hf_acquire_front *a, size_t k)
{
    return k < a->objectives ? a->objective[k] : a->constraint[k - a->objectives];
}

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static hf_status check_posterior(hf_context *ctx, const hf_acquire_front *a, size_t k, size_t d)
{
    const hf_posterior *posterior = posterior_of(a, k);
    const char *what = k < a->objectives ? "objective" : "constraint";
    const size_t number = k < a->objectives ? k : k - a->objectives;
    if (posterior == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the posterior of %s %zu (counted from 0) is NULL", what,
                        number);
    if (hf_posterior_outputs(posterior) > 1)
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "the posterior of %s %zu (counted from 0) has %zu outputs; one is wanted", what,
                        number, hf_posterior_outputs(posterior));
    if (hf_posterior_dimension(posterior) != d)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "the posterior of %s %zu (counted from 0) has %zu inputs; %zu are wanted", what,
                        number, hf_posterior_dimension(posterior), d);
    return HF_OK;
}

/* `d` inputs. The front itself is checked by hf_ehvi_create(). */
static hf_status check(hf_context *ctx, const hf_acquire_front *a, size_t d)
{
    if (a->constraints > 0 && (a->constraint == NULL || a->limit == NULL))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "there are %zu constraints, but their posteriors or limits are NULL", a->constraints);
    hf_status status = HF_OK;
    for (size_t k = 0; k < a->objectives + a->constraints && status >= 0; k++)
        status = check_posterior(ctx, a, k, d);
    for (size_t k = 0; k < a->constraints && status >= 0; k++)
        if (!isfinite(a->limit[k]))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "limit %zu (counted from 0), %g, is not finite", k,
                              a->limit[k]);
    if (status >= 0 && a->points > 0 && a->values == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there are %zu points, but values is NULL", a->points);
    if (status >= 0) status = hfi_posterior_check_rows(ctx, a->objective[0], a->pending, a->pending_x, d);
    return status;
}

static hf_status check_objectives(hf_context *ctx, const hf_acquire_front *a)
{
    if (a == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the objectives are NULL");
    if (a->objectives == 0 || a->objectives > MOST)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "there are %zu objectives; one to %d are wanted", a->objectives,
                        MOST);
    if (a->objective == NULL || a->objective[0] == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the posterior of objective 0 is NULL");
    return HF_OK;
}

/* ---- one point --------------------------------------------------------------------------------------------------- */

static double not_below(double value)
{
    return fmax(value, -DBL_MAX);
}

/* to += a from. */
static void add(size_t d, double a, const double *from, double *to)
{
    for (size_t j = 0; j < d; j++) to[j] += a * from[j];
}

/* An sd of 0 has no gradient, and one that overflows none worth having. */
static void add_slopes(prepared *p, double by_mean, double by_sd, double sd, const double *slopes)
{
    const double by_var = sd > 0.0 ? by_sd / (2.0 * sd) : 0.0;
    for (size_t j = 0; j < p->d; j++) {
        const double spread = by_var * slopes[p->d + j];
        p->total[j] += by_mean * slopes[j] + (isfinite(spread) ? spread : 0.0);
    }
}

/* Mean and sd of posterior k, and the gradients of mean and variance into `slopes` unless that is NULL; of an objective given the pending points. */
static hf_status predict(prepared *p, size_t k, const double *x, double *slopes, double *mean, double *sd)
{
    double var;
    const hf_status status = hf_predict_latent(posterior_of(p->a, k), p->rooms[k], x, mean, &var, slopes,
                                               slopes != NULL ? slopes + p->d : NULL);
    if (status < 0) return status;
    const size_t pending = k < p->a->objectives ? p->a->pending : 0;
    if (pending > 0) {
        hfi_given_at(&p->given[k], x, p->w);
        for (size_t i = 0; i < pending; i++) var -= p->w[i] * p->w[i];
        if (slopes != NULL) {
            hfi_given_gradient(&p->given[k], x, p->w, p->one);
            add(p->d, -2.0, p->one, slopes + p->d);
        }
    }
    *sd = sqrt(fmax(var, 0.0));
    return status;
}

static hf_status at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    prepared *p = of;
    const size_t m = p->a->objectives;
    double mean[MOST], sd[MOST], by_mean[MOST], by_sd[MOST], sum;
    hf_status status = HF_OK;
    for (size_t k = 0; k < m && status >= 0; k++)
        status = predict(p, k, x, gradient != NULL ? p->slopes + 2 * k * d : NULL, &mean[k], &sd[k]);
    if (status >= 0) status = hf_ehvi_log(p->ehvi, mean, sd, &sum, by_mean, by_sd);
    if (status < 0) return status;
    sum = not_below(sum);
    memset(p->total, 0, d * sizeof *p->total);
    for (size_t k = 0; k < m && gradient != NULL; k++)
        add_slopes(p, by_mean[k], by_sd[k], sd[k], p->slopes + 2 * k * d);
    for (size_t k = 0; k < p->a->constraints; k++) {
        status = predict(p, m + k, x, gradient != NULL ? p->one : NULL, mean, sd);
        if (status < 0) return status;
        const hfi_acquired one = hfi_acquisition_feasible(p->a->limit[k], mean[0], sd[0]);
        sum = not_below(sum + one.value);
        if (gradient != NULL) add_slopes(p, one.mean, one.sd, sd[0], p->one);
    }
    for (size_t j = 0; gradient != NULL && j < d; j++)
        if (!isfinite(p->total[j])) return HF_ERR_NOT_FINITE;
    *value = sum;
    if (gradient != NULL) memcpy(gradient, p->total, d * sizeof *gradient);
    return HF_OK;
}

/* ---- many points ------------------------------------------------------------------------------------------------- */

/* Means and standard deviations of posterior k at count points; `w` is room for what pending points say. */
static hf_status predict_many(hf_context *ctx, const prepared *p, size_t k, size_t count, const double *x,
                              double *mean, double *sd, double *w)
{
    const size_t pending = k < p->a->objectives ? p->a->pending : 0;
    hf_status status = hf_predict(ctx, posterior_of(p->a, k), count, x, p->d, mean, sd, NULL);
    if (status >= 0 && pending > 0) status = hfi_given_many(ctx, &p->given[k], count, x, w);
    for (size_t i = 0; i < count && status >= 0; i++) {
        for (size_t l = 0; l < pending; l++) sd[i] -= w[i * pending + l] * w[i * pending + l];
        sd[i] = sqrt(fmax(sd[i], 0.0));
    }
    return status;
}

/* Some points: predictions of the objectives one after the other, and the values. */
typedef struct chunk {
    const prepared *p;
    size_t count;
    double *mean, *sd; /* MOST x count */
    double *w;         /* count x pending */
    double *values;    /* NaN where EHVI overflows */
} chunk;

static void value_lot(size_t lot, int thread, void *arg)
{
    (void)thread;
    const chunk *c = arg;
    const size_t end = c->count - lot * LOT < LOT ? c->count : (lot + 1) * LOT;
    for (size_t i = lot * LOT; i < end; i++) {
        double mean[MOST], sd[MOST];
        for (size_t k = 0; k < c->p->a->objectives; k++) {
            mean[k] = c->mean[k * c->count + i];
            sd[k] = c->sd[k * c->count + i];
        }
        const hf_status status = hf_ehvi_log(c->p->ehvi, mean, sd, &c->values[i], NULL, NULL);
        c->values[i] = status < 0 ? NAN : not_below(c->values[i]);
    }
}

static hf_status chunk_values(hf_context *ctx, chunk *c, const double *x)
{
    const prepared *p = c->p;
    const size_t m = p->a->objectives;
    hf_status status = HF_OK;
    for (size_t k = 0; k < m && status >= 0; k++)
        status = predict_many(ctx, p, k, c->count, x, c->mean + k * c->count, c->sd + k * c->count, c->w);
    if (status < 0) return status;
    hfi_parallel_for(ctx, (c->count + LOT - 1) / LOT, value_lot, c);
    for (size_t i = 0; i < c->count; i++)
        if (isnan(c->values[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "EHVI overflows at a point with means %g, ... and sds %g, ...", c->mean[i],
                            c->sd[i]);
    for (size_t k = 0; k < p->a->constraints && status >= 0; k++) {
        status = predict_many(ctx, p, m + k, c->count, x, c->mean, c->sd, c->w);
        for (size_t i = 0; i < c->count && status >= 0; i++)
            c->values[i] = not_below(c->values[i] +
                                     hfi_acquisition_feasible(p->a->limit[k], c->mean[i], c->sd[i]).value);
    }
    return status;
}

static hf_status many(hf_context *ctx, void *of, size_t m, size_t d, const double *x, double *values)
{
    const prepared *p = of;
    const size_t most = m < CHUNK ? m : CHUNK;
    double *room = hfi_alloc_product(ctx, most, 2 * MOST + p->a->pending, sizeof *room);
    hf_status status = room != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t begin = 0; begin < m && status >= 0; begin += most) {
        chunk c = {.p = p, .count = m - begin < most ? m - begin : most, .values = values + begin};
        c.mean = room;
        c.sd = c.mean + MOST * c.count;
        c.w = c.sd + MOST * c.count;
        status = chunk_values(ctx, &c, x + begin * d);
    }
    hfi_free(ctx, room);
    return status;
}

/* ---- preparing --------------------------------------------------------------------------------------------------- */

static void finish(hf_context *ctx, prepared *p)
{
    for (size_t k = 0; p->rooms != NULL && k < p->posteriors; k++) hf_workspace_free(p->rooms[k]);
    for (size_t k = 0; k < MOST; k++) hfi_given_end(ctx, &p->given[k]);
    hf_ehvi_free(p->ehvi);
    hfi_free(ctx, p->rooms);
    hfi_free(ctx, p->slopes);
    hfi_free(ctx, p->w);
}

/* The front of what is known and what is expected of pending points. */
static hf_status prepare_front(hf_context *ctx, prepared *p)
{
    const hf_acquire_front *a = p->a;
    const size_t m = a->objectives;
    double *values = hfi_alloc_product(ctx, a->points + a->pending, m, sizeof *values);
    if (values == NULL) return HF_ERR_MEMORY;
    if (a->points > 0) memcpy(values, a->values, a->points * m * sizeof *values);
    hf_status status = HF_OK;
    for (size_t k = 0; k < m && status >= 0 && a->pending > 0; k++) {
        status = hfi_given_begin(ctx, a->objective[k], a->pending, a->pending_x, &p->given[k]);
        for (size_t i = 0; i < a->pending && status >= 0; i++)
            values[(a->points + i) * m + k] = p->given[k].mean[i];
    }
    if (status >= 0) status = hf_ehvi_create(ctx, a->points + a->pending, m, values, a->reference, &p->ehvi);
    hfi_free(ctx, values);
    return status;
}

static hf_status prepare(hf_context *ctx, const hf_acquire_front *a, size_t d, prepared *p)
{
    *p = (prepared){.a = a, .d = d, .posteriors = a->objectives + a->constraints};
    p->rooms = hfi_alloc(ctx, p->posteriors, sizeof(hf_workspace *));
    p->slopes = hfi_alloc_product(ctx, d, 2 * MOST + 3, sizeof *p->slopes);
    p->w = hfi_alloc(ctx, a->pending, sizeof *p->w);
    if (p->rooms == NULL || p->slopes == NULL || p->w == NULL) return HF_ERR_MEMORY;
    p->one = p->slopes + 2 * MOST * d;
    p->total = p->one + 2 * d;
    for (size_t k = 0; k < p->posteriors; k++) {
        p->rooms[k] = hf_workspace_create(ctx, posterior_of(a, k));
        if (p->rooms[k] == NULL) return HF_ERR_MEMORY;
    }
    return prepare_front(ctx, p);
}

/* Multiplications for the value at a point. */
static double work_of(const prepared *p)
{
    double sum = 0.0;
    for (size_t k = 0; k < p->posteriors; k++) {
        const double n = (double)hf_posterior_anchors(posterior_of(p->a, k));
        sum += n * (n + (double)p->d);
    }
    return sum;
}

static hfi_surface surface_of(prepared *p)
{
    return (hfi_surface){.what = "EHVI",
                         .of = p,
                         .near = p->a->objective[0],
                         .work = work_of(p),
                         .bottomless = true,
                         .many = many,
                         .at = at};
}

hf_status hf_ehvi_evaluate(hf_context *ctx, const hf_acquire_front *front, size_t count, const double *x,
                           double *values, double *gradients)
{
    hf_status status = check_objectives(ctx, front);
    if (status < 0) return status;
    const size_t d = hf_posterior_dimension(front->objective[0]);
    if (values == NULL && count > 0)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_ehvi_evaluate: values is NULL");
    status = check(ctx, front, d);
    if (status >= 0) status = hfi_posterior_check_rows(ctx, front->objective[0], count, x, d);
    if (status < 0) return status;
    prepared p;
    status = prepare(ctx, front, d, &p);
    if (status >= 0) {
        const hfi_surface surface = surface_of(&p);
        status = hfi_surface_at(ctx, &surface, d, count, x, values, gradients);
    }
    finish(ctx, &p);
    return status;
}

/* ---- the largest ------------------------------------------------------------------------------------------------- */

static hf_status find(hf_context *ctx, prepared *p, const hf_domain *domain,
                      const hf_search_settings *settings, size_t guess_count, const double *guesses,
                      double *place, hf_maximiser *found)
{
    const hfi_surface surface = surface_of(p);
    const hf_search_settings usual = hfi_acquire_settings(surface.work, p->d);
    hf_status status = hfi_maximise_surface(ctx, &surface, domain, settings != NULL ? settings : &usual,
                                            guess_count, guesses, place, found);
    if (status >= 0) status = at(p, p->d, place, &found->value, NULL);
    if (status >= 0) status = predict(p, 0, place, NULL, &found->mean, &found->sd);
    return status;
}

hf_status hf_ehvi_maximise(hf_context *ctx, const hf_acquire_front *objectives, const hf_domain *domain,
                           const hf_search_settings *settings, size_t guess_count, const double *guesses,
                           double *x, hf_maximiser *maximiser)
{
    const double begin = hfi_now();
    hf_maximiser found = {.index = 0};
    hf_status status = check_objectives(ctx, objectives);
    if (status >= 0) status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    if (status >= 0) status = check(ctx, objectives, domain->dimension);
    if (status < 0) return status;
    prepared p;
    double *place = hfi_alloc(ctx, domain->dimension, sizeof *place);
    status = prepare(ctx, objectives, domain->dimension, &p);
    if (place == NULL) status = HF_ERR_MEMORY;
    if (status >= 0) status = find(ctx, &p, domain, settings, guess_count, guesses, place, &found);
    if (status >= 0) {
        memcpy(x, place, domain->dimension * sizeof *x);
        found.seconds = hfi_now() - begin;
        if (maximiser != NULL) *maximiser = found;
    }
    finish(ctx, &p);
    hfi_free(ctx, place);
    return status;
}
