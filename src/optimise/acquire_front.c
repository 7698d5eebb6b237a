/* SPDX-License-Identifier: Apache-2.0 */
/* Expected hypervolume improvement over posteriors: values at many points, gradients at one, and the place
 * where it is largest. */
#include "core/settings.h"
#include "optimise/acquire.h"

#include <float.h>
#include <holdfast/acquire_front.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 3,     /* objectives */
    CHUNK = 4096, /* points that are predicted at a time */
    LOT = 64,     /* points of a task */
    BOX_WORK = 60 /* multiplications that a side of a box costs as much as */
};

/* Objectives at a place, and the logarithm of the expected improvement with its derivatives: in mean and sd
 * given what is pending, and (room of `pending` each, or NULL) in w. */
typedef struct front_moments {
    double mean[MOST], sd[MOST];
    const double *w[MOST];
    double by_mean[MOST], by_sd[MOST];
    double *q[MOST];
} front_moments;

typedef struct prepared_front {
    const hf_acquire_front *a;
    size_t draws;   /* of the objectives at the pending points; 1 without such points */
    hf_ehvi **ehvi; /* draws: over what is known and what is drawn */
    double *e;      /* draws x MOST x pending, standard normal; the objectives' one after the other */
    size_t d, posteriors;
    hf_posterior_workspace **rooms; /* of the objectives, then of the constraints */
    hfi_given given[MOST];          /* what pending points say about each objective */
    double *w, *q;                  /* MOST x pending each */
    double *slopes;                 /* MOST x 2 d: gradients of mean and variance of each objective */
    double *one;                    /* 2 d: of a constraint; or a gradient of what pending points say */
    double *total;                  /* d */
} prepared_front;

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
        return hfi_refuse(ctx, "the posterior of %s %zu (counted from 0) is NULL", what, number);
    char name[64];
    hfi_print(name, sizeof name, "%s %zu (counted from 0)", what, number);
    const hf_status one = hfi_posterior_need_one(ctx, posterior, name);
    if (one < 0) return one;
    if (hf_posterior_dimension(posterior) != d)
        return hfi_fail(ctx, HF_ERR_DIMENSION,
                        "the posterior of %s %zu (counted from 0) has %zu inputs; %zu are wanted", what,
                        number, hf_posterior_dimension(posterior), d);
    return HF_OK;
}

/* `d` inputs. The front itself is checked by hf_ehvi_create(). */
static hf_status check_front_call(hf_context *ctx, const hf_acquire_front *a, size_t d)
{
    if (a->constraints > 0 && (a->constraint == NULL || a->limit == NULL))
        return hfi_refuse(ctx, "there are %zu constraints, but their posteriors or limits are NULL",
                          a->constraints);
    hf_status status = HF_OK;
    for (size_t k = 0; k < a->objectives + a->constraints && status >= 0; k++)
        status = check_posterior(ctx, a, k, d);
    for (size_t k = 0; k < a->constraints && status >= 0; k++)
        if (!isfinite(a->limit[k]))
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE, "limit %zu (counted from 0), %g, is not finite", k,
                              a->limit[k]);
    if (status >= 0 && a->points > 0 && a->values == NULL)
        return hfi_refuse(ctx, "there are %zu points, but values is NULL", a->points);
    if (status >= 0) status = hfi_posterior_check_rows(ctx, a->objective[0], a->pending, a->pending_x, d);
    if (status >= 0 && a->pending > HFI_MOST_POINTS)
        status = hfi_refuse(ctx, "there are %zu pending points; %d are as many as there can be", a->pending,
                            HFI_MOST_POINTS);
    return status;
}

/* The caller's objectives over the defaults, into *a. */
static hf_status take_objectives(hf_context *ctx, const hf_acquire_front *given, hf_acquire_front *a)
{
    if (given == NULL) return hfi_refuse(ctx, "the objectives are NULL");
    const hf_status status = hfi_settings_take(ctx, hf_acquire_front_table(), given, a);
    if (status < 0) return status;
    if (a->objectives == 0 || a->objectives > MOST)
        return hfi_refuse(ctx, "there are %zu objectives; one to %d are wanted", a->objectives, MOST);
    if (a->objective == NULL || a->objective[0] == NULL)
        return hfi_refuse(ctx, "the posterior of objective 0 is NULL");
    return HF_OK;
}

/* ---- one point --------------------------------------------------------------------------------------------------- */

/* Mean and sd of posterior k, and the gradients of mean and variance into `slopes` unless that is NULL; of an
 * objective the sd given the pending points, and w. The variance's gradient is without these. */
static hf_status predict_front_posterior(prepared_front *p, size_t k, const double *x, double *slopes,
                                         double *mean, double *sd)
{
    double var;
    const hf_status status = hf_predict_latent(posterior_of(p->a, k), p->rooms[k], x, mean, &var, slopes,
                                               slopes != NULL ? slopes + p->d : NULL);
    if (status < 0) return status;
    if (k < p->a->objectives && p->a->pending > 0) {
        double *w = p->w + k * p->a->pending;
        hfi_given_at(&p->given[k], x, w);
        for (size_t i = 0; i < p->a->pending; i++) var -= w[i] * w[i];
    }
    *sd = sqrt(fmax(var, 0.0));
    return status;
}

/* An improvement in the unit of the sums, exp(*largest), which grows to hold it. */
static double unit_of(double log_value, double *largest, double *sum, size_t m, size_t pending,
                      front_moments *o)
{
    if (log_value > *largest) {
        const double less = exp(*largest - log_value);
        *sum *= less;
        for (size_t k = 0; k < m; k++) {
            o->by_mean[k] *= less;
            o->by_sd[k] *= less;
            for (size_t i = 0; o->q[k] != NULL && i < pending; i++) o->q[k][i] *= less;
        }
        *largest = log_value;
    }
    return exp(log_value - *largest);
}

/* log 1/S sum_s EHVI_s(mean + w'e_s, sd): of front s, the one with the values drawn at the pending points. */
static hf_status mean_of_draws(const prepared_front *p, bool slopes, front_moments *o, double *value)
{
    const size_t m = p->a->objectives, pending = p->a->pending;
    double largest = -INFINITY, sum = 0.0;
    for (size_t k = 0; k < m; k++) {
        o->by_mean[k] = o->by_sd[k] = 0.0;
        for (size_t i = 0; o->q[k] != NULL && i < pending; i++) o->q[k][i] = 0.0;
    }
    for (size_t s = 0; s < p->draws; s++) {
        const double *e = p->e + s * m * pending;
        double mean[MOST], by_mean[MOST], by_sd[MOST], one;
        for (size_t k = 0; k < m; k++) {
            mean[k] = o->mean[k];
            for (size_t i = 0; i < pending; i++) mean[k] += o->w[k][i] * e[k * pending + i];
        }
        const hf_status status =
            hf_ehvi_log(p->ehvi[s], mean, o->sd, &one, slopes ? by_mean : NULL, slopes ? by_sd : NULL);
        if (status < 0) return status;
        if (one == -INFINITY) continue;
        const double weight = unit_of(one, &largest, &sum, m, pending, o);
        sum += weight;
        for (size_t k = 0; k < m && slopes; k++) {
            o->by_mean[k] += weight * by_mean[k];
            o->by_sd[k] += weight * by_sd[k];
            for (size_t i = 0; o->q[k] != NULL && i < pending; i++)
                o->q[k][i] += weight * by_mean[k] * e[k * pending + i];
        }
    }
    *value = sum > 0.0 ? hfi_not_below(largest + log(sum / (double)p->draws)) : -DBL_MAX;
    for (size_t k = 0; k < m && sum > 0.0; k++) {
        o->by_mean[k] /= sum;
        o->by_sd[k] /= sum;
        for (size_t i = 0; o->q[k] != NULL && i < pending; i++) o->q[k][i] /= sum;
    }
    return HF_OK;
}

/* total += the gradient of the objectives' part. */
static void add_objectives(prepared_front *p, const double *x, const front_moments *o)
{
    for (size_t k = 0; k < p->a->objectives; k++) {
        hfi_add_slopes(p->d, o->by_mean[k], o->by_sd[k], o->sd[k], p->slopes + 2 * k * p->d, p->total);
        if (p->a->pending == 0) continue;
        /* sd^2 = var - w'w */
        for (size_t i = 0; o->sd[k] > 0.0 && i < p->a->pending; i++)
            o->q[k][i] -= o->by_sd[k] / o->sd[k] * o->w[k][i];
        hfi_given_gradient(&p->given[k], x, o->q[k], p->one);
        for (size_t j = 0; j < p->d; j++)
            if (isfinite(p->one[j])) p->total[j] += p->one[j];
    }
}

static hf_status front_evaluate_at(void *of, size_t d, const double *x, double *value, double *gradient)
{
    prepared_front *p = of;
    const size_t m = p->a->objectives, pending = p->a->pending;
    const bool slopes = gradient != NULL;
    front_moments o;
    double mean, sd, sum;
    hf_status status = HF_OK;
    for (size_t k = 0; k < m && status >= 0; k++) {
        o.w[k] = p->w + k * pending;
        o.q[k] = slopes ? p->q + k * pending : NULL;
        status =
            predict_front_posterior(p, k, x, slopes ? p->slopes + 2 * k * d : NULL, &o.mean[k], &o.sd[k]);
    }
    if (status >= 0) status = mean_of_draws(p, slopes, &o, &sum);
    if (status < 0) return status;
    memset(p->total, 0, d * sizeof *p->total);
    if (slopes) add_objectives(p, x, &o);
    for (size_t k = 0; k < p->a->constraints; k++) {
        status = predict_front_posterior(p, m + k, x, slopes ? p->one : NULL, &mean, &sd);
        if (status < 0) return status;
        const hfi_acquired one = hfi_acquisition_feasible(p->a->limit[k], mean, sd);
        sum = hfi_not_below(sum + one.value);
        if (slopes) hfi_add_slopes(d, one.mean, one.sd, sd, p->one, p->total);
    }
    for (size_t j = 0; slopes && j < d; j++)
        if (!isfinite(p->total[j])) return HF_ERR_NOT_FINITE;
    *value = sum;
    if (slopes) memcpy(gradient, p->total, d * sizeof *gradient);
    return HF_OK;
}

/* ---- many points ------------------------------------------------------------------------------------------------- */

/* Means and standard deviations of posterior k at count points; `w` is room for what pending points say. */
static hf_status predict_many(hf_context *ctx, const prepared_front *p, size_t k, size_t count,
                              const double *x, double *mean, double *sd, double *w)
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
typedef struct front_chunk {
    const prepared_front *p;
    size_t count;
    double *mean, *sd; /* MOST x count */
    double *w;         /* MOST x count x pending */
    double *values;    /* NaN where EHVI overflows */
} front_chunk;

static void value_lot(size_t lot, int thread, void *arg)
{
    (void)thread;
    const front_chunk *c = arg;
    const size_t end = c->count - lot * LOT < LOT ? c->count : (lot + 1) * LOT;
    for (size_t i = lot * LOT; i < end; i++) {
        front_moments o;
        for (size_t k = 0; k < c->p->a->objectives; k++) {
            o.mean[k] = c->mean[k * c->count + i];
            o.sd[k] = c->sd[k * c->count + i];
            o.w[k] = c->w + (k * c->count + i) * c->p->a->pending;
            o.q[k] = NULL;
        }
        if (mean_of_draws(c->p, false, &o, &c->values[i]) < 0) c->values[i] = NAN;
    }
}

static hf_status chunk_values(hf_context *ctx, front_chunk *c, const double *x)
{
    const prepared_front *p = c->p;
    const size_t m = p->a->objectives;
    hf_status status = HF_OK;
    for (size_t k = 0; k < m && status >= 0; k++)
        status = predict_many(ctx, p, k, c->count, x, c->mean + k * c->count, c->sd + k * c->count,
                              c->w + k * c->count * p->a->pending);
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
            c->values[i] = hfi_not_below(
                c->values[i] + hfi_acquisition_feasible(p->a->limit[k], c->mean[i], c->sd[i]).value);
    }
    return status;
}

static hf_status front_evaluate_many(hf_context *ctx, void *of, size_t m, size_t d, const double *x,
                                     double *values)
{
    const prepared_front *p = of;
    const size_t most = m < CHUNK ? m : CHUNK;
    double *room = hfi_alloc_product(ctx, most, MOST * (2 + p->a->pending), sizeof *room);
    hf_status status = room != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t begin = 0; begin < m && status >= 0; begin += most) {
        front_chunk c = {.p = p, .count = m - begin < most ? m - begin : most, .values = values + begin};
        c.mean = room;
        c.sd = c.mean + MOST * c.count;
        c.w = c.sd + MOST * c.count;
        status = chunk_values(ctx, &c, x + begin * d);
    }
    hfi_free(ctx, room);
    return status;
}

/* ---- preparing --------------------------------------------------------------------------------------------------- */

static void free_prepared_front(hf_context *ctx, prepared_front *p)
{
    for (size_t k = 0; p->rooms != NULL && k < p->posteriors; k++) hf_posterior_workspace_free(p->rooms[k]);
    for (size_t k = 0; k < MOST; k++) hfi_given_end(ctx, &p->given[k]);
    for (size_t s = 0; p->ehvi != NULL && s < p->draws; s++) hf_ehvi_free(p->ehvi[s]);
    HFI_FREE(ctx, p->ehvi, p->e, p->rooms, p->slopes, p->w);
}

/* A front for each draw of what may come of the pending points; `values` has room for all points. */
static hf_status draw_fronts(hf_context *ctx, prepared_front *p, double *values)
{
    const hf_acquire_front *a = p->a;
    const size_t m = a->objectives, pending = a->pending;
    hf_status status = HF_OK;
    for (size_t s = 0; s < p->draws && status >= 0; s++) {
        for (size_t k = 0; k < m; k++) {
            const double *e = p->e + (s * m + k) * pending, *factor = p->given[k].factor;
            for (size_t i = 0; i < pending; i++) {
                double f = p->given[k].mean[i];
                for (size_t j = 0; j <= i; j++) f += factor[i + j * pending] * e[j];
                values[(a->points + i) * m + k] = f;
            }
        }
        status = hf_ehvi_create(ctx, a->points + pending, m, values, a->reference, &p->ehvi[s]);
    }
    return status;
}

static hf_status prepare_fronts(hf_context *ctx, prepared_front *p)
{
    const hf_acquire_front *a = p->a;
    const size_t m = a->objectives, pending = a->pending;
    p->draws = pending == 0 ? 1 : a->draws > 0 ? a->draws : HFI_DRAWS;
    double *values;
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(p->ehvi, p->draws), HFI_ROOMS(p->e, p->draws, m * pending),
                                 HFI_ROOMS(values, a->points + pending, m));
    if (status >= 0 && a->points > 0) memcpy(values, a->values, a->points * m * sizeof *values);
    for (size_t k = 0; k < m && status >= 0 && pending > 0; k++)
        status = hfi_given_begin(ctx, a->objective[k], pending, a->pending_x, &p->given[k]);
    if (status >= 0 && pending > 0) status = hfi_draw_normals(ctx, a->stream, m * pending, p->draws, p->e);
    if (status >= 0) status = draw_fronts(ctx, p, values);
    hfi_free(ctx, values);
    return status;
}

static hf_status prepare_front(hf_context *ctx, const hf_acquire_front *a, size_t d, prepared_front *p)
{
    *p = (prepared_front){.a = a, .d = d, .posteriors = a->objectives + a->constraints};
    if (HFI_ALLOC(ctx, HFI_ROOM(p->rooms, p->posteriors), HFI_ROOMS(p->slopes, d, 2 * MOST + 3),
                  HFI_ROOMS(p->w, a->pending, 2 * MOST)) < 0)
        return HF_ERR_MEMORY;
    p->q = p->w + MOST * a->pending;
    p->one = p->slopes + 2 * MOST * d;
    p->total = p->one + 2 * d;
    for (size_t k = 0; k < p->posteriors; k++) {
        p->rooms[k] = hf_posterior_workspace_create(ctx, posterior_of(a, k));
        if (p->rooms[k] == NULL) return HF_ERR_MEMORY;
    }
    return prepare_fronts(ctx, p);
}

/* Multiplications for the value at a point. */
static double work_of(const prepared_front *p)
{
    double sum = 0.0;
    for (size_t k = 0; k < p->posteriors; k++) {
        const double n = (double)hf_posterior_anchors(posterior_of(p->a, k));
        sum += n * (n + (double)p->d);
    }
    const double points = (double)(p->a->points + p->a->pending), m = (double)p->a->objectives;
    return sum + BOX_WORK * (double)p->draws * (p->a->objectives > 2 ? 2.0 : 1.0) * points * m;
}

static hf_status front_describe(hf_context *ctx, void *of, size_t d, const double *x, hf_argmax *found)
{
    (void)ctx;
    const hf_status status = front_evaluate_at(of, d, x, &found->value, NULL);
    return status >= 0 ? predict_front_posterior(of, 0, x, NULL, &found->mean, &found->sd) : status;
}

static hfi_surface surface_of(prepared_front *p)
{
    return (hfi_surface){.what = "EHVI",
                         .of = p,
                         .near = p->a->objective[0],
                         .work = work_of(p),
                         .bottomless = true,
                         .many = front_evaluate_many,
                         .at = front_evaluate_at,
                         .describe = front_describe,
                         .measured = true};
}

hf_status hf_ehvi_evaluate(hf_context *ctx, const hf_acquire_front *front, size_t count, const double *x,
                           double *values, double *gradients)
{
    hf_acquire_front own;
    hf_status status = take_objectives(ctx, front, &own);
    if (status < 0) return status;
    const size_t d = hf_posterior_dimension(own.objective[0]);
    if (values == NULL && count > 0) return hfi_refuse(ctx, "hf_ehvi_evaluate: values is NULL");
    status = check_front_call(ctx, &own, d);
    if (status >= 0) status = hfi_posterior_check_rows(ctx, own.objective[0], count, x, d);
    if (status < 0) return status;
    prepared_front p;
    status = prepare_front(ctx, &own, d, &p);
    if (status >= 0) {
        const hfi_surface surface = surface_of(&p);
        status = hfi_surface_at(ctx, &surface, d, count, x, values, gradients);
    }
    free_prepared_front(ctx, &p);
    return status;
}

/* ---- the largest ------------------------------------------------------------------------------------------------- */

hf_status hf_ehvi_maximise(hf_context *ctx, const hf_acquire_front *objectives, const hf_domain *domain,
                           const hf_search_settings *settings, size_t guess_count, const double *guesses,
                           double *x, hf_argmax *maximiser)
{
    const double begin = hfi_now();
    hf_argmax found = {.index = 0};
    hf_acquire_front own;
    hf_status status = take_objectives(ctx, objectives, &own);
    if (status >= 0) status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    if (status >= 0) status = check_front_call(ctx, &own, domain->dimension);
    if (status < 0) return status;
    prepared_front p;
    status = prepare_front(ctx, &own, domain->dimension, &p);
    if (status >= 0) {
        const hfi_surface surface = surface_of(&p);
        status = hfi_maximise_surface(ctx, &surface, domain, settings, guess_count, guesses, x, &found);
    }
    free_prepared_front(ctx, &p);
    found.seconds = hfi_now() - begin;
    if (status >= 0 && maximiser != NULL) *maximiser = found;
    return status;
}
