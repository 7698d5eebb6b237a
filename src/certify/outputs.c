/* SPDX-License-Identifier: Apache-2.0 */
/* How far the means of all outputs together move: ranges of each output over parts of the box, joined by a norm. */
#include <holdfast/certify_outputs.h>

#include "certify/region.h"
#include "certify/value.h"

#include <math.h>

enum {
    MOST_PARTS = 4096
};

hf_output_norm hf_output_norm_default(void)
{
    return (hf_output_norm){.p = 2.0, .weight = NULL, .delta = (double)INFINITY};
}

/* A part of the box, its distance at most `bound`; numbers at place k of the arrays that all parts share. */
typedef struct part {
    double bound;
    size_t k;
    bool finite;
} part;

typedef struct job {
    const hf_posterior *posterior;
    hf_output_norm norm;
    hf_certify_settings settings;
    size_t outputs, d;
    double least_tolerance; /* of one output's range */
    double *centre;         /* outputs x 2: a range of each mean at x* */
    double *away;           /* outputs */
    double *points;         /* (2 outputs + 1) x d */
    hf_range *range;        /* 2 outputs + 1 */
    double *distance;       /* 2 outputs + 1 times outputs */
    part *open;             /* MOST_PARTS + 1, unordered */
    double *sides;          /* (MOST_PARTS + 1) x 2 d */
    const double *extent;   /* the whole box: lower, upper */
    size_t count, used;
    double deadline;
    hf_output_shift out;
    double *farthest; /* d */
} job;

/* ---- the norm ---------------------------------------------------------------------------------------------------- */

/* The distances are >= 0; rounded up (sign 1) or down (-1), infinite if one is. */
static double norm_of(const job *j, const double *away, double sign)
{
    const double p = j->norm.p;
    double most = 0.0, sum = 0.0;
    for (size_t i = 0; i < j->outputs; i++)
        most = fmax(most, away[i] * (j->norm.weight ? j->norm.weight[i] : 1.0));
    if (!(most > 0.0) || isinf(most)) return most;
    for (size_t i = 0; i < j->outputs && isfinite(p); i++) {
        const double share = away[i] * (j->norm.weight ? j->norm.weight[i] : 1.0) / most;
        sum += p == 1.0 ? share : p == 2.0 ? share * share : pow(share, p);
    }
    double value = most;
    if (isfinite(p)) value *= p == 1.0 ? sum : p == 2.0 ? sqrt(sum) : pow(sum, 1.0 / p);
    const double slack = 2.0 * DBL_EPSILON * ((double)j->outputs + 8.0) * value + DBL_MIN;
    return sign > 0.0 ? value + slack : fmax(0.0, value - slack);
}

static hf_status check(hf_context *ctx, const job *j)
{
    const hf_output_norm *norm = &j->norm;
    if (!(norm->p >= 1.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "p of the norm is %g; it must be from 1 on", norm->p);
    if (!(norm->delta >= 0.0))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "delta is %g; it must be 0 or above", norm->delta);
    for (size_t i = 0; i < j->outputs && norm->weight; i++)
        if (!(norm->weight[i] > 0.0) || !isfinite(norm->weight[i]))
            return hfi_fail(ctx, HF_ERR_ARGUMENT,
                            "the weight of output %zu is %g; it must be above 0 and finite", i,
                            norm->weight[i]);
    if (j->settings.rigorous && norm->p != 1.0 && norm->p != 2.0 && isfinite(norm->p))
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "p of the norm is %g; proofs against rounding are for 1, 2 and infinity", norm->p);
    return HF_OK;
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* `range` := the ranges of one output at so many points, which rounding alone makes. */
static hf_status look(hf_context *ctx, const job *j, size_t output, size_t count, const double *points)
{
    hf_certify_settings own = j->settings;
    own.output = output;
    own.region = NULL;
    return hf_certify_boxes(ctx, j->posterior, HF_CERTIFY_MEAN, &own, count, points, points, j->range, NULL,
                            NULL);
}

static hf_status find_centre(hf_context *ctx, job *j, const double *x)
{
    hf_status worst = HF_OK;
    for (size_t i = 0; i < j->outputs && worst >= 0; i++) {
        worst = look(ctx, j, i, 1, x);
        j->centre[2 * i] = j->range[0].lower;
        j->centre[2 * i + 1] = j->range[0].upper;
    }
    return worst < 0 ? worst : HF_OK;
}

/* Surely attained distances at `count` points of the array. */
static hf_status look_at_points(hf_context *ctx, job *j, size_t count)
{
    for (size_t i = 0; i < j->outputs; i++) {
        const hf_status status = look(ctx, j, i, count, j->points);
        if (status < 0) return status;
        for (size_t c = 0; c < count; c++)
            j->distance[c * j->outputs + i] = fmax(
                0.0, fmax(j->range[c].lower - j->centre[2 * i + 1], j->centre[2 * i] - j->range[c].upper));
    }
    for (size_t c = 0; c < count; c++) {
        const double there = norm_of(j, j->distance + c * j->outputs, -1.0);
        if (!(there > j->out.attained)) continue;
        j->out.attained = there;
        memcpy(j->farthest, j->points + c * j->d, j->d * sizeof *j->farthest);
    }
    return HF_OK;
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static double *lower_of(const job *j, size_t k)
{
    return j->sides + 2 * j->d * k;
}

/* Settings of the next of `left` searches, with what is left of time and nodes. */
static hf_certify_settings share(const job *j, size_t output, size_t left)
{
    hf_certify_settings own = j->settings;
    own.output = output;
    own.tolerance = j->least_tolerance;
    if (own.time_limit > 0.0) own.time_limit = fmax((j->deadline - hfi_now()) / (double)left, DBL_MIN);
    if (own.node_limit > 0) {
        const size_t spent = j->out.nodes / 2, rest = spent < own.node_limit ? own.node_limit - spent : 1;
        const size_t share_of_rest = left > 1 ? rest / left : rest;
        own.node_limit = share_of_rest > 0 ? share_of_rest : 1;
    }
    return own;
}

/* Ranges of all outputs over part k, and a look at where they are attained. */
static hf_status bound_part(hf_context *ctx, job *j, size_t k, double most)
{
    double *low = lower_of(j, k), *high = low + j->d, *last = j->points + 2 * j->outputs * j->d;
    part *p = &j->open[j->count];
    *p = (part){.k = k, .finite = true};
    j->out.parts++;
    for (size_t i = 0; i < j->outputs; i++) {
        double *at = j->points + 2 * i * j->d;
        const hf_certify_settings own = share(j, i, j->outputs - i);
        hf_range r;
        const hf_status status =
            hf_certify(ctx, j->posterior, HF_CERTIFY_MEAN, &own, low, high, &r, at, at + j->d);
        if (status < 0) return status;
        j->out.nodes += r.nodes;
        if (r.stop != HF_CERTIFY_TOLERANCE && r.stop > j->out.stop) j->out.stop = r.stop;
        j->away[i] = fmax(0.0, fmax(r.upper - j->centre[2 * i], j->centre[2 * i + 1] - r.lower));
        if (!isfinite(j->away[i])) p->finite = false;
        for (size_t a = 0; a < 2 * j->d; a++)
            if (!isfinite(at[a])) at[a] = low[a % j->d];
    }
    for (size_t a = 0; a < j->d; a++) last[a] = 0.5 * low[a] + 0.5 * high[a];
    p->bound = p->finite ? fmin(most, norm_of(j, j->away, 1.0)) : most;
    j->count++;
    return look_at_points(ctx, j, 2 * j->outputs + (j->settings.region ? 0 : 1));
}

/* The input along which the part is widest in sides of the box; d: none can be halved. */
static size_t widest(const job *j, const double *low)
{
    const double *high = low + j->d;
    size_t best = j->d;
    double most = 0.0;
    for (size_t a = 0; a < j->d; a++) {
        const double all = j->extent[j->d + a] - j->extent[a], middle = 0.5 * low[a] + 0.5 * high[a];
        const double width = all > 0.0 ? (high[a] - low[a]) / all : 0.0;
        if (!(width > most) || !(middle > low[a]) || !(middle < high[a])) continue;
        most = width;
        best = a;
    }
    return best;
}

/* Takes part `at` out of the open ones and bounds both of its halves. */
static hf_status halve(hf_context *ctx, job *j, size_t at, size_t input)
{
    const part whole = j->open[at];
    double *low = lower_of(j, whole.k), *next = lower_of(j, j->used);
    const double middle = 0.5 * low[input] + 0.5 * low[j->d + input];
    memcpy(next, low, 2 * j->d * sizeof *next);
    low[j->d + input] = middle;
    next[input] = middle;
    j->open[at] = j->open[--j->count];
    hf_status status = bound_part(ctx, j, whole.k, whole.bound);
    if (status >= 0) status = bound_part(ctx, j, j->used++, whole.bound);
    return status;
}

static size_t largest(const job *j)
{
    size_t best = 0;
    for (size_t k = 1; k < j->count; k++)
        if (j->open[k].bound > j->open[best].bound) best = k;
    return best;
}

/* Whether the search is over: verdict and reason. */
static bool is_over(job *j, double tolerance, size_t *at, size_t *input)
{
    hf_output_shift *out = &j->out;
    *at = largest(j);
    out->upper = fmax(out->attained, j->open[*at].bound);
    const bool limited = isfinite(j->norm.delta), kept = out->upper <= j->norm.delta,
               broken = out->attained > j->norm.delta;
    out->verdict = broken ? HF_VERDICT_COUNTEREXAMPLE : kept ? HF_VERDICT_CERTIFIED : HF_VERDICT_OPEN;
    *input = widest(j, lower_of(j, j->open[*at].k));
    if (limited && (kept || broken)) {
        out->stop = HF_CERTIFY_DECIDED;
    } else if (out->upper - out->attained <= tolerance) {
        out->stop = HF_CERTIFY_TOLERANCE;
    } else if (!isfinite(out->upper)) {
        out->stop = HF_CERTIFY_NOT_FINITE;
    } else if (j->settings.time_limit > 0.0 && hfi_now() >= j->deadline) {
        out->stop = HF_CERTIFY_TIME;
    } else if (j->used >= MOST_PARTS || j->settings.region ||
               (j->settings.node_limit > 0 && out->nodes / 2 >= j->settings.node_limit)) {
        out->stop = HF_CERTIFY_NODES;
    } else if (*input == j->d) {
        out->stop = HF_CERTIFY_ROUNDING;
    } else {
        return false;
    }
    return true;
}

static hf_status search(hf_context *ctx, job *j, const double *x, const double *lower, const double *upper)
{
    const double begun = hfi_now(), limit = j->settings.time_limit, delta = j->norm.delta;
    double unit = 0.0, tolerance = j->settings.tolerance;
    size_t at, input;
    if (isfinite(delta) && delta > 0.0) tolerance = fmin(tolerance, 1e-3 * delta);
    for (size_t i = 0; i < j->outputs; i++) j->away[i] = 1.0;
    unit = norm_of(j, j->away, 1.0);
    j->least_tolerance = fmax(0.5 * tolerance / unit, DBL_MIN);
    j->deadline = limit > 0.0 ? begun + limit : 0.0;
    j->out = (hf_output_shift){.attained = 0.0, .rigorous = j->settings.rigorous};
    memcpy(j->farthest, x, j->d * sizeof *x);
    memcpy(lower_of(j, 0), lower, j->d * sizeof *lower);
    memcpy(lower_of(j, 0) + j->d, upper, j->d * sizeof *upper);
    j->extent = lower_of(j, MOST_PARTS);
    memcpy(lower_of(j, MOST_PARTS), lower_of(j, 0), 2 * j->d * sizeof *lower);
    j->count = 0;
    j->used = 1;
    hf_status status = find_centre(ctx, j, x);
    if (status >= 0) status = bound_part(ctx, j, 0, (double)INFINITY);
    while (status >= 0 && !is_over(j, tolerance, &at, &input)) {
        if (!hfi_progress(ctx, "certify", (double)j->used / (double)MOST_PARTS, j->out.upper))
            return hfi_cancelled(ctx);
        status = halve(ctx, j, at, input);
    }
    j->out.seconds = hfi_now() - begun;
    return status < 0 ? status : HF_OK;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static bool make_room(hf_context *ctx, job *j)
{
    const size_t looks = 2 * j->outputs + 1;
    size_t numbers;
    if (!hfi_size_mul(j->outputs + looks, j->d + j->outputs + 2, &numbers)) return false;
    j->centre = hfi_alloc(ctx, numbers + 3 * j->outputs, sizeof *j->centre);
    j->range = hfi_alloc(ctx, looks, sizeof *j->range);
    j->open = hfi_alloc(ctx, MOST_PARTS + 1, sizeof *j->open);
    j->sides = hfi_alloc(ctx, 2 * (MOST_PARTS + 1), j->d * sizeof *j->sides);
    if (!j->centre || !j->range || !j->open || !j->sides) return false;
    j->away = j->centre + 2 * j->outputs;
    j->points = j->away + j->outputs;
    j->distance = j->points + looks * j->d;
    return true;
}

static hf_status search_all(hf_context *ctx, job *j, size_t m, const double *x, const double *lower,
                            const double *upper, hf_output_shift *out, double *farthest)
{
    const hf_certify_settings settings = j->settings;
    const double end = hfi_call_deadline(&settings);
    const size_t d = j->d;
    hf_status worst = HF_OK;
    for (size_t k = 0; k < m; k++) {
        hf_region region;
        j->settings = hfi_share_time(&settings, end, m - k);
        j->farthest = farthest + k * d;
        hfi_region_about(&j->settings, x + k * d, &region);
        const hf_status status = search(ctx, j, x + k * d, lower + k * d, upper + k * d);
        if (status < 0) return status;
        out[k] = j->out;
        if (out[k].stop > HF_CERTIFY_DECIDED || (out[k].verdict == HF_VERDICT_OPEN))
            worst = hfi_fail(ctx, HF_WARN_NOT_CONVERGED,
                             "box %zu: the distance of all outputs is between %g and %g after %zu parts (%s)",
                             k + 1, out[k].attained, out[k].upper, out[k].parts,
                             hf_enum_name(HF_ENUM_CERTIFY_STOP, out[k].stop));
    }
    return worst;
}

hf_status hf_certify_outputs(hf_context *ctx, const hf_posterior *posterior, const hf_output_norm *norm,
                             const hf_certify_settings *settings, size_t m, const double *x,
                             const double *lower, const double *upper, hf_output_shift *out, double *farthest)
{
    size_t numbers;
    if (!ctx || !posterior || !x || !lower || !upper || !out)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "hf_certify_outputs: an argument that must not be NULL is");
    job j = {.posterior = posterior,
             .norm = norm ? *norm : hf_output_norm_default(),
             .settings = settings ? *settings : hf_certify_settings_default(),
             .outputs = posterior->scaling.outputs,
             .d = hfi_posterior_inputs(posterior)};
    j.settings.lower_only = j.settings.upper_only = false;
    j.settings.decide_at = (double)NAN;
    hf_status status = check(ctx, &j);
    if (status < 0 || m == 0) return status;
    if (!hfi_size_mul(m, j.d, &numbers)) return hfi_out_of_memory(ctx);
    hf_output_shift *own = hfi_alloc(ctx, m, sizeof *own);
    double *at = hfi_alloc(ctx, numbers, sizeof *at);
    status = own && at && make_room(ctx, &j) ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = search_all(ctx, &j, m, x, lower, upper, own, at);
    if (status >= 0) {
        memcpy(out, own, m * sizeof *out);
        if (farthest) memcpy(farthest, at, numbers * sizeof *farthest);
    }
    hfi_free(ctx, j.centre);
    hfi_free(ctx, j.range);
    hfi_free(ctx, j.open);
    hfi_free(ctx, j.sides);
    hfi_free(ctx, own);
    hfi_free(ctx, at);
    return status;
}
