/* SPDX-License-Identifier: Apache-2.0 */
/* How far the means of all outputs together move: a quantity whose bounds are those of each output, joined by
 * a norm. */
#include <holdfast/certify_outputs.h>

#include "certify/certify.h"
#include "rigorous/rigorous.h"

#include <math.h>

/* The distance from the means at a point, as a row of the table. */
typedef struct distance {
    hfi_quantity row; /* first, so that the row leads here */
    hf_output_norm norm;
    size_t outputs;
    double *centre; /* outputs x 2: a range of each mean at the point */
    double *away;   /* outputs x 4: distances, and ranges at some point */
} distance;

/* The search of each mean, and scratch. */
typedef struct joined {
    hfi_certify_problem **problem; /* outputs */
    hfi_branch_problem *whole;     /* outputs */
    size_t begun;
    double *room; /* for each thread `one` */
    size_t one;
} joined;

/* ---- the norm ---------------------------------------------------------------------------------------------------- */

static double weight_of(const distance *d, size_t i)
{
    return d->norm.weight ? d->norm.weight[i] : 1.0;
}

/* The distances are >= 0; rounded up (sign 1) or down (-1), infinite if one is. */
static double norm_of(const distance *d, const double *away, double sign)
{
    const double p = d->norm.p;
    double most = 0.0, sum = 0.0;
    for (size_t i = 0; i < d->outputs; i++) most = fmax(most, away[i] * weight_of(d, i));
    if (!(most > 0.0) || isinf(most)) return most;
    for (size_t i = 0; i < d->outputs && isfinite(p); i++) {
        const double share = away[i] * weight_of(d, i) / most;
        sum += p == 1.0 ? share : p == 2.0 ? share * share : pow(share, p);
    }
    double value = most;
    if (isfinite(p)) value *= p == 1.0 ? sum : p == 2.0 ? sqrt(sum) : pow(sum, 1.0 / p);
    const double slack = 2.0 * DBL_EPSILON * ((double)d->outputs + 8.0) * value + DBL_MIN;
    return sign > 0.0 ? value + slack : fmax(0.0, value - slack);
}

/* The least and the largest distance of one mean within [low, high] from that at the point. */
static double least_away(const distance *d, size_t i, double low, double high)
{
    return fmax(0.0, fmax(low - d->centre[2 * i + 1], d->centre[2 * i] - high));
}

static double most_away(const distance *d, size_t i, double low, double high)
{
    return fmax(0.0, fmax(high - d->centre[2 * i], d->centre[2 * i + 1] - low));
}

static const distance *distance_of(const hfi_certify_problem *q)
{
    return (const distance *)(const void *)q->quantity;
}

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* One box on the way: the ends of each mean, and scratch. */
typedef struct output_ends {
    const distance *d;
    const joined *j;
    int thread;
    size_t sides, inputs;
    double *low, *high, *point; /* sides each */
    double *ends, *away;        /* 2 outputs, outputs */
} output_ends;

static output_ends lay_out_output_ends(const hfi_certify_problem *q, int thread)
{
    const joined *j = q->state;
    output_ends w = {
        .d = distance_of(q), .j = j, .thread = thread, .sides = j->whole[0].sides, .inputs = q->inputs};
    w.low = j->room + (size_t)thread * j->one;
    w.high = w.low + w.sides;
    w.point = w.high + w.sides;
    w.ends = w.point + w.sides;
    w.away = w.ends + 2 * w.d->outputs;
    return w;
}

/* One end (0: the least) of a mean over the box; `first`, or better by `gain` where that can be had. */
static void bound_end(const output_ends *w, size_t i, int k, bool first, double gain, hfi_box_bound *out)
{
    const hfi_branch_problem *whole = &w->j->whole[i];
    const double sign = k == 0 ? 1.0 : -1.0, before = sign * w->ends[2 * i + (size_t)k];
    /* Sides that are those of the posterior have the number of the output among them. */
    if (w->sides > w->inputs) w->low[w->sides - 1] = w->high[w->sides - 1] = (double)i;
    whole->functions->bounds(whole->of, w->thread, sign, first ? -(double)INFINITY : before + gain, 1, w->low,
                             w->high, out);
    if (isnan(out->bound)) out->bound = -(double)INFINITY;
    w->ends[2 * i + (size_t)k] = sign * (first ? out->bound : fmax(before, out->bound));
}

/* The largest distance that the ends leave. The end of the output that leaves it says where to look and to
 * split. */
static void bound_all(const output_ends *w, bool first, double gain, hfi_box_bound *out)
{
    hfi_box_bound end = {.point = w->point, .face = out->face};
    double most = -1.0, rounding = 0.0;
    for (size_t i = 0; i < w->d->outputs; i++)
        for (int k = 0; k < 2; k++) {
            bound_end(w, i, k, first, gain, &end);
            const double low = w->ends[2 * i], high = w->ends[2 * i + 1];
            const double away =
                weight_of(w->d, i) * (k == 0 ? w->d->centre[2 * i + 1] - low : high - w->d->centre[2 * i]);
            rounding = fmax(rounding, end.rounding);
            if (!(away > most)) continue;
            most = away;
            out->split = end.split;
            out->slack = end.slack;
            memcpy(out->point, w->point, w->sides * sizeof *out->point);
        }
    for (size_t i = 0; i < w->d->outputs; i++)
        w->away[i] = most_away(w->d, i, w->ends[2 * i], w->ends[2 * i + 1]);
    out->bound = -norm_of(w->d, w->away, 1.0);
    out->rounding = rounding;
}

/* Only distances from above are asked about: sign is -1. Bounds that are not enough are made sharper by what
 * the norm lacks, shared out by outputs. */
static void outputs_problem_bounds(void *of, int thread, double sign, double enough, size_t count,
                                   const double *low, const double *high, hfi_box_bound *out)
{
    const output_ends w = lay_out_output_ends(of, thread);
    (void)sign;
    for (size_t i = 0; i < w.d->outputs; i++) w.away[i] = 1.0;
    const double unit = norm_of(w.d, w.away, 1.0);
    for (size_t k = 0; k < count; k++) {
        memcpy(w.low, low + k * w.sides, w.sides * sizeof *low);
        memcpy(w.high, high + k * w.sides, w.sides * sizeof *high);
        bound_all(&w, true, 0.0, &out[k]);
        if (out[k].bound < enough && isfinite(out[k].bound))
            bound_all(&w, false, isfinite(enough) ? (enough - out[k].bound) / unit : (double)INFINITY,
                      &out[k]);
        memset(out[k].face, 0, w.sides * sizeof *out[k].face);
        out[k].centre = (double)INFINITY;
        out[k].predicted = out[k].bound;
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* The distance at a point, surely attained but for what rounding makes of predictions. */
static double outputs_problem_look(void *of, double sign, bool descend, const double *point, double *user)
{
    const output_ends w = lay_out_output_ends(of, 0);
    (void)descend;
    for (size_t i = 0; i < w.d->outputs; i++) {
        const hfi_branch_problem *whole = &w.j->whole[i];
        memcpy(w.point, point, w.sides * sizeof *point);
        if (w.sides > w.inputs) w.point[w.sides - 1] = (double)i;
        const double high = whole->functions->look(whole->of, 1.0, false, w.point, user),
                     low = -whole->functions->look(whole->of, -1.0, false, w.point, user);
        w.away[i] = least_away(w.d, i, low, high);
    }
    return sign * norm_of(w.d, w.away, -1.0);
}

static void at_point(hfi_certify_problem *q, double *user, double *value, double *lower, double *upper)
{
    const joined *j = q->state;
    const distance *d = distance_of(q);
    double low, high, *least = d->away, *most = d->away + d->outputs;
    for (size_t i = 0; i < d->outputs; i++) {
        j->problem[i]->functions->at_point(j->problem[i], user, value, &low, &high);
        least[i] = least_away(d, i, low, high);
        most[i] = most_away(d, i, low, high);
    }
    *value = *lower = norm_of(d, least, -1.0);
    *upper = norm_of(d, most, 1.0);
}

/* ---- a problem --------------------------------------------------------------------------------------------------- */

static hf_status outputs_problem_prepare(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior,
                                         const hfi_quantity *quantity, void **shared)
{
    (void)quantity;
    return hfi_problem_rigorous.prepare(ctx, watch, posterior, &hfi_quantity_mean, shared);
}

static void forget(void *shared)
{
    hfi_problem_rigorous.forget(shared);
}

static hf_status outputs_problem_create(hf_context *ctx, hfi_certify_problem *q)
{
    const size_t outputs = distance_of(q)->outputs;
    hf_certify_settings own = q->settings;
    hf_status status = HF_OK;
    joined *j = q->state = hfi_alloc(ctx, 1, sizeof *j);
    if (!j) return HF_ERR_MEMORY;
    if (HFI_ALLOC(ctx, HFI_ROOM(j->problem, outputs), HFI_ROOM(j->whole, outputs)) < 0) return HF_ERR_MEMORY;
    for (size_t i = 0; i < outputs && status >= 0; i++) {
        own.output = i;
        status = hfi_problem_create(ctx, q->subject.posterior, &hfi_quantity_mean, &own, q->shared,
                                    q->user_lower, q->user_upper, &j->problem[i]);
    }
    return status;
}

static void end(hfi_certify_problem *q)
{
    joined *j = q->state;
    while (j->begun > 0) {
        hfi_certify_problem *mean = j->problem[--j->begun];
        mean->functions->end(mean);
    }
    hfi_memory_free(&q->memory, j->room);
    j->room = NULL;
}

static void destroy(hfi_certify_problem *q)
{
    joined *j = q->state;
    if (!j) return;
    for (size_t i = 0; j->problem && i < distance_of(q)->outputs; i++) hfi_problem_free(j->problem[i]);
    HFI_MEMORY_FREE(&q->memory, j->problem, j->whole, j);
}

static hf_status outputs_problem_begin(hfi_certify_problem *q, size_t threads, hfi_branch_problem *out)
{
    static const hfi_branch_functions functions = {outputs_problem_bounds, outputs_problem_look};
    const size_t outputs = distance_of(q)->outputs;
    joined *j = q->state;
    hf_status status = HF_OK;
    for (size_t i = 0; i < outputs && status >= 0; i++) {
        hfi_certify_problem *mean = j->problem[i];
        mean->watch = q->watch;
        mean->whole = q;
        status = mean->functions->begin(mean, threads, &j->whole[i]);
        if (status >= 0) j->begun++;
    }
    j->one = status >= 0 ? 3 * j->whole[0].sides + 3 * outputs : 0;
    if (status >= 0) j->room = hfi_memory_alloc(&q->memory, threads * j->one, sizeof *j->room);
    if (status >= 0 && !j->room) status = HF_ERR_MEMORY;
    if (status < 0) {
        end(q);
        return status;
    }
    *out = j->whole[0];
    out->functions = &functions;
    out->of = q;
    out->costly = true;
    return status;
}

static const hfi_problem_functions plain = {.create = outputs_problem_create,
                                            .destroy = destroy,
                                            .begin = outputs_problem_begin,
                                            .end = end,
                                            .at_point = at_point};
static const hfi_problem_functions in_intervals = {.prepare = outputs_problem_prepare,
                                                   .forget = forget,
                                                   .create = outputs_problem_create,
                                                   .destroy = destroy,
                                                   .begin = outputs_problem_begin,
                                                   .end = end};

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

static hf_status check_output_norm(hf_context *ctx, const distance *d, bool rigorous)
{
    const hf_output_norm *norm = &d->norm;
    for (size_t i = 0; i < d->outputs && norm->weight; i++)
        if (!(norm->weight[i] > 0.0) || !isfinite(norm->weight[i]))
            return hfi_refuse(ctx, "the weight of output %zu is %g; it must be above 0 and finite", i,
                              norm->weight[i]);
    if (rigorous && norm->p != 1.0 && norm->p != 2.0 && isfinite(norm->p))
        return hfi_refuse(ctx, "p of the norm is %g; proofs against rounding are for 1, 2 and infinity",
                          norm->p);
    return HF_OK;
}

/* Ranges of all means at a point, which rounding alone makes: `ends` has 2 outputs entries. */
static hf_status range_means_at_point(hf_context *ctx, const hf_posterior *posterior,
                                      const hf_certify_settings *settings, size_t outputs, const double *x,
                                      double *ends)
{
    hf_certify_settings own = *settings;
    hf_status status = HF_OK;
    own.region = NULL;
    for (size_t i = 0; i < outputs && status >= 0; i++) {
        hf_range r;
        own.output = i;
        status = hfi_certify_boxes(ctx, posterior, &hfi_quantity_mean, &own, 1, x, x, &r, NULL, NULL);
        ends[2 * i] = r.lower;
        ends[2 * i + 1] = r.upper;
    }
    return status < 0 ? status : HF_OK;
}

/* The distance that is surely attained at the point that a search has found. */
static hf_status find_attained(hf_context *ctx, const hf_posterior *posterior,
                               const hf_certify_settings *settings, distance *d, const double *x, double *at,
                               double *attained)
{
    const size_t inputs = hfi_posterior_inputs(posterior);
    double *ends = d->away + 2 * d->outputs;
    *attained = 0.0;
    if (!isfinite(at[0])) memcpy(at, x, inputs * sizeof *at);
    const hf_status status = range_means_at_point(ctx, posterior, settings, d->outputs, at, ends);
    for (size_t i = 0; i < d->outputs; i++) d->away[i] = least_away(d, i, ends[2 * i], ends[2 * i + 1]);
    if (status >= 0) *attained = norm_of(d, d->away, -1.0);
    return status;
}

static hf_status search_output_distance(hf_context *ctx, const hf_posterior *posterior,
                                        const hf_certify_settings *settings, distance *d, const double *x,
                                        const double *lower, const double *upper, hf_output_shift *out,
                                        double *at)
{
    const double begun = hfi_now(), delta = d->norm.delta;
    hf_certify_settings own = *settings;
    hf_range range;
    hf_status status = range_means_at_point(ctx, posterior, settings, d->outputs, x, d->centre);
    own.upper_only = true;
    if (isfinite(delta)) own.decide_at = delta;
    if (isfinite(delta) && delta > 0.0) own.tolerance = fmin(own.tolerance, 1e-3 * delta);
    if (status >= 0)
        status = hfi_certify_boxes(ctx, posterior, &d->row, &own, 1, lower, upper, &range, NULL, at);
    *out = (hf_output_shift){.rigorous = settings->rigorous, .verdict = HF_VERDICT_OPEN};
    if (status >= 0) status = find_attained(ctx, posterior, settings, d, x, at, &out->attained);
    if (status < 0) return status;
    out->upper = fmax(out->attained, range.upper);
    if (out->upper <= delta) out->verdict = HF_VERDICT_CERTIFIED;
    if (out->attained > delta) out->verdict = HF_VERDICT_COUNTEREXAMPLE;
    out->stop = isfinite(delta) && out->verdict != HF_VERDICT_OPEN ? HF_CERTIFY_DECIDED : range.stop;
    out->parts = range.nodes > 0 ? range.nodes : 1;
    out->nodes = out->parts * d->outputs;
    out->seconds = hfi_now() - begun;
    return HF_OK;
}

static hf_status search_all(hf_context *ctx, const hf_posterior *posterior,
                            const hf_certify_settings *settings, distance *d, size_t m, const double *x,
                            const double *lower, const double *upper, hf_output_shift *out, double *farthest)
{
    const double end = hfi_call_deadline(settings);
    const size_t inputs = hfi_posterior_inputs(posterior);
    hf_status worst = HF_OK;
    for (size_t k = 0; k < m; k++) {
        hf_region region;
        hf_certify_settings own = hfi_share_time(settings, end, m - k);
        hfi_region_about(&own, x + k * inputs, &region);
        const hf_status status =
            search_output_distance(ctx, posterior, &own, d, x + k * inputs, lower + k * inputs,
                                   upper + k * inputs, &out[k], farthest + k * inputs);
        if (status < 0) return status;
        if (out[k].stop > HF_CERTIFY_DECIDED || out[k].verdict == HF_VERDICT_OPEN)
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
        return HFI_REFUSE_NULL(ctx, "hf_certify_outputs", posterior, x, lower, upper, out);
    hf_certify_settings own;
    hf_region region;
    distance d = {.row = {.name = "outputs",
                          .mean = true,
                          .scaled = true,
                          .least = 0.0,
                          .most = (double)INFINITY,
                          .functions = &plain,
                          .proof = &in_intervals},
                  .outputs = posterior->scaling.outputs};
    hf_status status = hfi_certify_open(ctx, settings, &own, &region);
    if (status >= 0) status = hfi_settings_open(ctx, hf_output_norm_table(), norm, &d.norm);
    if (status >= 0) status = check_output_norm(ctx, &d, own.rigorous);
    own.output = 0;
    own.lower_only = own.upper_only = own.observed = false;
    own.decide_at = (double)NAN;
    if (status < 0 || m == 0) return status;
    if (!hfi_size_mul(m, hfi_posterior_inputs(posterior), &numbers)) return hfi_out_of_memory(ctx);
    hf_output_shift *found;
    double *at;
    status = HFI_ALLOC(ctx, HFI_ROOM(found, m), HFI_ROOM(at, numbers), HFI_ROOMS(d.centre, d.outputs, 2),
                       HFI_ROOMS(d.away, d.outputs, 4));
    if (status >= 0) status = search_all(ctx, posterior, &own, &d, m, x, lower, upper, found, at);
    if (status >= 0) {
        memcpy(out, found, m * sizeof *out);
        if (farthest) memcpy(farthest, at, numbers * sizeof *farthest);
    }
    HFI_FREE(ctx, d.centre, d.away, found, at);
    return status;
}
