/* SPDX-License-Identifier: Apache-2.0 */
/* Whether standing still would have been better, by the posterior of f in place and time. */
#include "track/evidence.h"
#include "track/track.h"

#include "linalg/linalg.h"

#include <float.h>
#include <holdfast/track_advice.h>
#include <math.h>
#include <string.h>

enum {
    LEAST = 20, /* own readings */
    MOST = 256, /* readings, own and the expert's */
    COLUMNS = 7
};
/* The time scales that are tried: from the mean gap between readings to so many spans, each so much longer
 * than the last. */
#define SPANS  100.0
#define LONGER 1.6

typedef struct standing {
    hf_context *ctx;
    const hf_track *track;
    hfi_evidence evidence; /* after search_best_period(): of the best T */
    size_t n, from;        /* readings; those from `from` on were there when the comparison begins */
    size_t *row;           /* n: where readings are in the ring, the newest first */
    double *kernel;        /* n x n: k(x_i, x_j), all of it */
    double *diagonal, *centred, *weight, *at, *along, *toward, *solved; /* n */
    double scale; /* of all variances: the one that maximises the evidence */
} standing;

static void free_standing(standing *s)
{
    HFI_FREE(s->ctx, s->row, s->kernel);
    hfi_evidence_free(&s->evidence);
}

/* The newest own readings, and how many readings that takes in all. */
static size_t newest(const hf_track *track, size_t *row)
{
    const hfi_recent *recent = &track->recent;
    const size_t n = recent->count < MOST ? recent->count : MOST;
    for (size_t k = 0; k < n; k++) row[k] = hfi_recent_row(recent, k);
    return n;
}

static hf_status prepare_standing(hf_context *ctx, const hf_track *track, standing *s)
{
    const hfi_recent *recent = &track->recent;
    *s = (standing){.ctx = ctx, .track = track};
    s->row = hfi_alloc(ctx, MOST, sizeof *s->row);
    if (s->row == NULL) return HF_ERR_MEMORY;
    const size_t n = s->n = newest(track, s->row), d = track->d;
    const size_t scratch = hfi_kernel_scratch(track->kernel);
    s->kernel = hfi_alloc(ctx, n * n + COLUMNS * n + scratch, sizeof *s->kernel);
    hf_status status =
        s->kernel != NULL ? hfi_evidence_create(ctx, track->kernel, n, &s->evidence) : HF_ERR_MEMORY;
    if (status < 0) return status;
    double **const columns[COLUMNS] = {&s->diagonal, &s->centred, &s->weight, &s->at,
                                       &s->along,    &s->toward,  &s->solved};
    for (size_t k = 0; k < COLUMNS; k++) *columns[k] = s->kernel + n * n + k * n;
    hfi_evidence *e = &s->evidence;
    for (size_t i = 0; i < n; i++) {
        const size_t r = s->row[i];
        memcpy(e->x + i * d, recent->x + r * d, d * sizeof *e->x);
        e->time[i] = recent->time[r];
        e->y[i] = recent->y[r];
        e->share[i] = recent->noise[r] / (recent->weight[r] * track->own.s.noise);
    }
    hfi_kernel_cross_block(track->kernel, n, e->x, d, n, e->x, d, s->kernel, n, s->solved + n);
    hfi_kernel_diagonal(track->kernel, n, e->x, d, false, s->diagonal);
    return HF_OK;
}

/* ---- the time scale ---------------------------------------------------------------------------------------------- */

/* The evidence with the scale of all variances at its best: -n/2 log(r'A^-1 r / n) - 1/2 log |A|. */
static hf_status weigh_period_evidence(standing *s, double *point, double period, double *value,
                                       double *scale)
{
    hfi_evidence *e = &s->evidence;
    const double n = (double)s->n;
    point[hf_kernel_parameters(e->kernel) + 1] = log(period);
    hf_status status = hfi_evidence_evaluate(e, point, value, NULL);
    if (status < 0) return status;
    const double fit = hfi_dot(s->n, e->alpha, s->centred);
    *scale = fmax(fit / n, DBL_MIN);
    *value += 0.5 * fit - 0.5 * n * log(*scale);
    return HF_OK;
}

static void span(const standing *s, double *shortest, double *longest)
{
    double first = INFINITY, last = -INFINITY, mean = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        first = fmin(first, s->evidence.time[i]);
        last = fmax(last, s->evidence.time[i]);
        mean += s->evidence.y[i] / (double)s->n;
    }
    for (size_t i = 0; i < s->n; i++) s->centred[i] = s->evidence.y[i] - mean;
    *shortest = last > first ? (last - first) / (double)(s->n - 1) : 1.0;
    *longest = last > first ? SPANS * (last - first) : 1.0;
}

static hf_status search_best_period(standing *s, double *period)
{
    hfi_evidence *e = &s->evidence;
    const size_t p = hf_kernel_parameters(e->kernel);
    double *point = hfi_alloc(s->ctx, p + 2, sizeof *point), best = -INFINITY, shortest, longest, value;
    hf_status status = point != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) {
        hfi_kernel_theta(s->track->kernel, point);
        point[p] = log(s->track->own.s.noise);
        span(s, &shortest, &longest);
        *period = longest;
        for (double t = shortest; t <= longest && status >= 0; t *= LONGER) {
            const hf_status tried = weigh_period_evidence(s, point, t, &value, &s->scale);
            if (tried == HF_ERR_MEMORY) status = tried;
            if (tried < 0 || !(value > best)) continue;
            best = value;
            *period = t;
        }
    }
    if (status >= 0) status = weigh_period_evidence(s, point, *period, &value, &s->scale);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE)
        status = hfi_fail(s->ctx, status, "the newest readings have no posterior in place and time");
    hfi_free(s->ctx, point);
    return status;
}

/* ---- what is compared ---------------------------------------------------------------------------------- */

static double sign_of(const standing *s)
{
    return s->track->own.s.minimise ? -1.0 : 1.0;
}

/* Weights of the readings that count in the comparison: the newer half of the own ones, alone or with the
 * answers since. */
static size_t weigh_compared_readings(standing *s, bool tries, size_t *answers)
{
    const double *answer = s->track->recent.answer;
    size_t own = 0, taken = 0, runs = 0;
    for (size_t i = 0; i < s->n; i++) own += answer[s->row[i]] == 0.0;
    for (size_t i = 0; i < s->n; i++) {
        const bool mine = answer[s->row[i]] == 0.0, counts = taken < (own + 1) / 2 && (mine || tries);
        s->weight[i] = counts ? 1.0 : 0.0;
        taken += counts && mine;
        runs += counts;
        if (counts) s->from = i + 1;
    }
    for (size_t i = 0; i < s->n; i++) s->weight[i] /= (double)runs;
    *answers = runs - taken;
    return taken;
}

/* at_i = sum_j a_j e(t_j, t_i), along_i = sum_j a_j e(t_j, t_i) k(x_j, x_i). */
static void gather_period_sums(standing *s, double period)
{
    const size_t n = s->n;
    for (size_t i = 0; i < n; i++) {
        s->at[i] = s->along[i] = 0.0;
        for (size_t j = 0; j < n; j++) {
            const double e = s->weight[j] * hfi_in_time(s->evidence.time[i], s->evidence.time[j], period);
            s->at[i] += e;
            s->along[i] += e * s->kernel[j + i * n];
        }
    }
}

/* ---- where to stand ------------------------------------------------------------------------------------ */

/* A and r of the readings that were there when the comparison begins: factor, A^-1 (y - m) into toward, and m. */
static hf_status look_back(standing *s, double *mean)
{
    hfi_evidence *e = &s->evidence;
    const size_t n = s->n, first = s->from, m = n - first;
    const double noise = s->track->own.s.noise;
    double *factor = e->weights, above = 0.0, below = 0.0;
    for (size_t j = first; j < n; j++)
        for (size_t i = j; i < n; i++)
            factor[i - first + (j - first) * m] = e->prior[i + j * n] + (i == j ? noise * e->share[j] : 0.0);
    const hf_status status = hfi_chol(s->ctx, m, factor, m);
    if (status < 0) return status;
    for (size_t i = 0; i < m; i++) {
        s->toward[i] = e->y[first + i];
        s->solved[i] = 1.0;
    }
    hfi_chol_solve(m, factor, m, s->toward);
    hfi_chol_solve(m, factor, m, s->solved);
    for (size_t i = 0; i < m; i++) {
        above += s->toward[i];
        below += s->solved[i];
    }
    *mean = above / below;
    for (size_t i = 0; i < m; i++) s->toward[i] -= *mean * s->solved[i];
    return HF_OK;
}

/* The place of the best posterior mean at the time when the comparison begins, by what was known then. The
 * first of equals. */
static hf_status best_known(standing *s, double period, size_t *found)
{
    const hfi_evidence *e = &s->evidence;
    const size_t n = s->n, first = s->from;
    const double begin = e->time[first - 1];
    double mean, best = -INFINITY;
    const hf_status status = look_back(s, &mean);
    for (size_t p = first; p < n && status >= 0; p++) {
        double there = mean;
        for (size_t i = first; i < n; i++)
            there += s->kernel[p + i * n] * hfi_in_time(e->time[i], begin, period) * s->toward[i - first];
        if (!(sign_of(s) * there > best)) continue;
        best = sign_of(s) * there;
        *found = p;
    }
    return status;
}

/* ---- what that gains ----------------------------------------------------------------------------------- */

/* sum_j a_j (f(place of p, t_j) - f(x_j, t_j)): mean and sd. */
static void contrast(standing *s, size_t p, double *mean, double *sd)
{
    const size_t n = s->n;
    const hfi_evidence *e = &s->evidence;
    for (size_t i = 0; i < n; i++) {
        s->toward[i] = s->at[i] * s->kernel[p + i * n] - s->along[i];
        s->solved[i] = s->toward[i];
    }
    hfi_chol_solve(n, e->factor, n, s->solved);
    double variance = s->diagonal[p] * hfi_dot(n, s->weight, s->at) + hfi_dot(n, s->weight, s->along),
           ones = 0.0;
    for (size_t i = 0; i < n; i++) {
        variance -= 2.0 * s->weight[i] * s->at[i] * s->kernel[p + i * n];
        ones += e->ones[i];
    }
    const double missed = hfi_dot(n, s->toward, e->ones);
    variance += missed * missed / ones - hfi_dot(n, s->toward, s->solved);
    *mean = hfi_dot(n, s->toward, e->alpha);
    *sd = sqrt(s->scale * fmax(variance, 0.0));
}

/* The reading whose place surely gains most: by two standard deviations. The first of equals. */
static size_t surest(standing *s)
{
    size_t found = 0;
    double best = -INFINITY, mean, sd;
    for (size_t p = 0; p < s->n; p++) {
        contrast(s, p, &mean, &sd);
        if (!(sign_of(s) * mean - 2.0 * sd > best)) continue;
        best = sign_of(s) * mean - 2.0 * sd;
        found = p;
    }
    return found;
}

static hf_status judge_standing(standing *s, double period, double *x, hf_track_standing *out)
{
    const size_t d = s->track->d;
    size_t p = 0;
    *out = (hf_track_standing){.period = period};
    out->compared = weigh_compared_readings(s, false, &out->answers);
    const hf_status status = best_known(s, period, &p);
    if (status < 0) return status;
    gather_period_sums(s, period);
    contrast(s, p, &out->gain, &out->sd);
    contrast(s, surest(s), &out->hindsight, &out->sd_of_hindsight);
    (void)weigh_compared_readings(s, true, &out->answers);
    gather_period_sums(s, period);
    contrast(s, p, &out->gain_of_runs, &out->sd_of_runs);
    out->gain *= sign_of(s);
    out->hindsight *= sign_of(s);
    out->gain_of_runs *= sign_of(s);
    out->better = out->gain > 2.0 * out->sd;
    out->better_than_runs = out->gain_of_runs > 2.0 * out->sd_of_runs;
    memcpy(x, s->evidence.x + p * d, d * sizeof *x);
    if (s->track->own.s.domain.candidates > 0)
        (void)hf_domain_contains(&s->track->own.s.domain, x, &out->index);
    return HF_OK;
}

hf_status hf_track_standing_of(hf_context *ctx, const hf_track *track, double *x, hf_track_standing *out)
{
    if (ctx == NULL || track == NULL || x == NULL || out == NULL)
        return hfi_refuse(ctx,
                          "standing still needs a context, a track, and places for where and for the result");
    size_t own = 0;
    const size_t count = track->recent.count < MOST ? track->recent.count : MOST;
    for (size_t k = 0; k < count; k++) own += track->recent.answer[hfi_recent_row(&track->recent, k)] == 0.0;
    if (own < LEAST)
        return hfi_fail(
            ctx, HF_ERR_NO_DATA,
            "whether standing still is better takes %d own readings among the newest %d; there are %zu",
            LEAST, MOST, own);
    standing s;
    double period = 0.0;
    hf_status status = prepare_standing(ctx, track, &s);
    if (status >= 0) status = search_best_period(&s, &period);
    if (status >= 0) status = judge_standing(&s, period, x, out);
    free_standing(&s);
    return status;
}
