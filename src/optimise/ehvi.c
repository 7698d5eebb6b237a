/* SPDX-License-Identifier: Apache-2.0 */
/* Expected hypervolume improvement: boxes above a front, found by a sweep along the last objective, and the
 * sum over them. */
#include "core/normal.h"
#include "optimise/optimise.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    MOST = 3 /* objectives */
};

typedef struct objective_box {
    double lower[MOST], upper[MOST];
} objective_box;

struct hf_ehvi {
    hfi_memory memory;
    size_t m, count;
    objective_box *boxes;
};

/* ---- boxes ------------------------------------------------------------------------------------------------------- */

/* A strip of what no point has dominated so far, in the plane of the first two objectives. Strips stand side by side,
 * each without an upper end; their lower ends fall from left to right. A strip has been as it is since the sweep, which
 * goes down, was at its level. */
typedef struct strip {
    double left, right, lower, level;
} strip;

typedef struct sweep {
    hf_ehvi *out;
    strip *strips;
    size_t count;
} sweep;

static void emit(sweep *s, const strip *from, double right, double level)
{
    hf_ehvi *out = s->out;
    if (out->m == MOST && !(level < from->level)) return;
    out->boxes[out->count++] =
        (objective_box){.lower = {from->left, from->lower, level}, .upper = {right, INFINITY, from->level}};
}

/* Strips first .. end - 1 reach into what (x, y) dominates: in their place comes one above y, and what is
 * left of the last. */
static void insert(sweep *s, double x, double y, double level)
{
    size_t first = 0, end;
    while (first < s->count && s->strips[first].lower >= y) first++;
    for (end = first; end < s->count && s->strips[end].left < x; end++) {
    }
    if (end == first) return;
    const strip merged = {s->strips[first].left, x, y, level};
    for (size_t k = first; k < end; k++)
        if (s->out->m == MOST) emit(s, &s->strips[k], fmin(s->strips[k].right, x), level);
    const bool left_over = s->strips[end - 1].right > x;
    if (left_over) s->strips[--end].left = x;
    memmove(s->strips + first + 1, s->strips + end, (s->count - end) * sizeof *s->strips);
    s->strips[first] = merged;
    s->count = s->count - end + first + 1;
}

static void cut_front_strips(sweep *s, size_t n, const hfi_front_point *points, const double *reference)
{
    const size_t m = s->out->m;
    const double last = m == MOST ? reference[2] : 0.0;
    s->strips[0] = (strip){reference[0], INFINITY, m > 1 ? reference[1] : 0.0, INFINITY};
    s->count = 1;
    for (size_t i = 0; i < n; i++) {
        const double *at = points[i].row;
        if (m == 1)
            s->strips[0].left = fmax(s->strips[0].left, at[0]);
        else
            insert(s, at[0], at[1], m == MOST ? at[2] : 0.0);
    }
    for (size_t k = 0; k < s->count; k++) emit(s, &s->strips[k], s->strips[k].right, last);
}

void hf_ehvi_free(hf_ehvi *ehvi)
{
    if (ehvi == NULL) return;
    hfi_memory memory = ehvi->memory;
    HFI_MEMORY_FREE(&memory, ehvi->boxes, ehvi);
}

size_t hf_ehvi_objectives(const hf_ehvi *ehvi)
{
    return ehvi != NULL ? ehvi->m : 0;
}

hf_status hf_ehvi_create(hf_context *ctx, size_t n, size_t m, const double *values, const double *reference,
                         hf_ehvi **out)
{
    if (out == NULL) return hfi_refuse(ctx, "hf_ehvi_create: out is NULL");
    if (m > MOST)
        return hfi_refuse(ctx, "the expected improvement of %zu objectives is asked for; at most %d", m,
                          MOST);
    hfi_front_point *points;
    size_t count;
    hf_status status = hfi_front_above_reference(ctx, n, m, values, reference, &points, &count);
    if (status < 0) return status;
    sweep s = {.out = NULL};
    status = HFI_ALLOC(ctx, HFI_ROOM(s.out, 1), HFI_ROOM(s.strips, count + 1));
    if (status >= 0) status = HFI_ALLOC(ctx, HFI_ROOMS(s.out->boxes, count + 1, 2));
    if (status >= 0) {
        s.out->memory = hfi_context_memory(ctx);
        s.out->m = m;
        cut_front_strips(&s, count, points, reference);
        *out = s.out;
    } else {
        hfi_free(ctx, s.out);
    }
    HFI_FREE(ctx, s.strips, points);
    return status;
}

/* ---- the sum ----------------------------------------------------------------------------------------------------- */

/* A sum of exponentials and of their slopes, all divided by exp(top), the largest so far. */
typedef struct total {
    double top, sum, by_mean[MOST], by_sd[MOST];
} total;

static void add_box_improvement(total *t, const hf_ehvi *ehvi, const objective_box *b, const double *mean,
                                const double *sd, bool slopes)
{
    hfi_slab side[MOST];
    double term = 0.0;
    for (size_t j = 0; j < ehvi->m; j++) {
        side[j] = hfi_front_strip(b->lower[j], b->upper[j], mean[j], sd[j], slopes);
        term += side[j].log_value;
    }
    if (term == -INFINITY) return;
    if (term > t->top) {
        const double shrink = exp(t->top - term);
        t->sum *= shrink;
        for (size_t j = 0; j < ehvi->m; j++) t->by_mean[j] *= shrink, t->by_sd[j] *= shrink;
        t->top = term;
    }
    const double weight = exp(term - t->top);
    t->sum += weight;
    for (size_t j = 0; j < ehvi->m; j++) {
        t->by_mean[j] += weight * side[j].by_mean;
        t->by_sd[j] += weight * side[j].by_sd;
    }
}

static bool valid(const hf_ehvi *ehvi, const double *mean, const double *sd, const double *value)
{
    if (ehvi == NULL || mean == NULL || sd == NULL || value == NULL) return false;
    for (size_t j = 0; j < ehvi->m; j++)
        if (sd[j] < 0.0) return false;
    return true;
}

/* log EHVI into *log_value, and derivatives of the log. */
static hf_status evaluate_log_ehvi(const hf_ehvi *ehvi, const double *mean, const double *sd, bool slopes,
                                   total *t, double *log_value)
{
    *t = (total){.top = -INFINITY};
    for (size_t j = 0; j < ehvi->m; j++)
        if (!isfinite(mean[j]) || !isfinite(sd[j])) return HF_ERR_NOT_FINITE;
    for (size_t k = 0; k < ehvi->count; k++) add_box_improvement(t, ehvi, &ehvi->boxes[k], mean, sd, slopes);
    *log_value = t->sum > 0.0 ? t->top + log(t->sum) : -INFINITY;
    bool finite = *log_value < INFINITY; /* false for NaN */
    for (size_t j = 0; j < ehvi->m && t->sum > 0.0; j++) {
        t->by_mean[j] /= t->sum;
        t->by_sd[j] /= t->sum;
        finite = finite && isfinite(t->by_mean[j]) && isfinite(t->by_sd[j]);
    }
    return finite ? HF_OK : HF_ERR_NOT_FINITE;
}

/* EHVI, or its logarithm, with derivatives. */
static hf_status improvement(const hf_ehvi *ehvi, bool logarithm, const double *mean, const double *sd,
                             double *value, double *by_mean, double *by_sd)
{
    total t;
    double log_value;
    if (!valid(ehvi, mean, sd, value)) return HF_ERR_ARGUMENT;
    const hf_status status =
        evaluate_log_ehvi(ehvi, mean, sd, by_mean != NULL || by_sd != NULL, &t, &log_value);
    if (status < 0) return status;
    if (!logarithm && log_value > log(DBL_MAX)) return HF_ERR_NOT_FINITE;
    *value = logarithm ? log_value : exp(log_value);
    const double factor = logarithm ? 1.0 : *value;
    for (size_t j = 0; j < ehvi->m; j++) {
        if (by_mean != NULL) by_mean[j] = factor * t.by_mean[j];
        if (by_sd != NULL) by_sd[j] = factor * t.by_sd[j];
    }
    return HF_OK;
}

hf_status hf_ehvi_log(const hf_ehvi *ehvi, const double *mean, const double *sd, double *log_improvement,
                      double *by_mean, double *by_sd)
{
    return improvement(ehvi, true, mean, sd, log_improvement, by_mean, by_sd);
}

hf_status hf_ehvi_value(const hf_ehvi *ehvi, const double *mean, const double *sd,
                        double *expected_improvement, double *by_mean, double *by_sd)
{
    return improvement(ehvi, false, mean, sd, expected_improvement, by_mean, by_sd);
}

/* ---- strips ------------------------------------------------------------------------------------------ */

/* Contribution of an objective to one box of a front: the integral of its distribution over the box's side.
 *
 * Let a = (mean - lower)/sd, b = (mean - upper)/sd and h(z) = phi(z) + z Phi(z). It is sd (h(a) - h(b)) = sd
 * times the integral of Phi from b to a. The difference is taken where it loses nothing; narrow sides are
 * integrated by Gauss's rule, whose terms are all positive. */

enum {
    NODES = 8
};
/* Gauss-Legendre on [-1, 1], the positive half: nodes and weights of the average. */
static const double nodes[NODES / 2] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                        0.9602898564975363};
static const double weights[NODES / 2] = {0.18134189168918100, 0.15685332293894364, 0.11119051722668724,
                                          0.05061426814518813};
/* Sides of at most so many times the length over which Phi doubles are narrow: the rule's error is below rounding. */
static const double narrow = 0.5;

static const hfi_slab nothing = {-INFINITY, 0.0, 0.0};

/* A value of y that is known: the length of [lower, upper] below the mean. */
static hfi_slab certain(double lower, double upper, double mean)
{
    if (!(mean > lower)) return nothing;
    const double length = fmin(mean, upper) - lower;
    return (hfi_slab){log(length), mean < upper ? 1.0 / length : 0.0, 0.0};
}

static double log_density(double z)
{
    return -0.5 * z * z - HFI_HALF_LOG_2PI;
}

/* (phi(a) - phi(b)) / exp(log_h), a - b = width > 0, from the one that is larger. */
static double density_difference(double a, double b, double width, double log_h)
{
    const double exponent = 0.5 * width * (a + b); /* (a^2 - b^2)/2 */
    if (exponent > 0.0) return exp(log_density(b) - log_h) * expm1(-exponent);
    return -exp(log_density(a) - log_h) * expm1(exponent);
}

/* log of the integral of Phi from b to a, and (Phi(a) - Phi(b)) over it. */
typedef struct side {
    double log_h, slope;
} side;

static side by_rule(double a, double width, bool slopes)
{
    const double top = hfi_log_normal_cdf(a), middle = a - 0.5 * width;
    double sum = 0.0, slope = 0.0;
    for (int k = 0; k < NODES; k++) {
        const double node = k % 2 == 0 ? nodes[k / 2] : -nodes[k / 2];
        const double z = middle + 0.5 * width * node;
        sum += weights[k / 2] * exp(hfi_log_normal_cdf(z) - top);
        if (slopes) slope += weights[k / 2] * exp(log_density(z) - top);
    }
    return (side){log(width) + top + log(sum), slope / sum};
}

static side by_difference(double a, double b, double width, bool slopes)
{
    side s = {.slope = 0.0};
    if (b >= 0.0) /* h(z) = z + h(-z) */
        s.log_h = log(width - (exp(hfi_normal_excess_at(-b).log_h) - exp(hfi_normal_excess_at(-a).log_h)));
    else {
        const double la = hfi_normal_excess_at(a).log_h, lb = hfi_normal_excess_at(b).log_h;
        s.log_h = la + log1p(-exp(lb - la));
    }
    if (!slopes) return s;
    const double near = b >= 0.0 ? -b : a, far = b >= 0.0 ? -a : b;
    s.slope = exp(hfi_log_normal_cdf(near) - s.log_h) - exp(hfi_log_normal_cdf(far) - s.log_h);
    return s;
}

hfi_slab hfi_front_strip(double lower, double upper, double mean, double sd, bool slopes)
{
    const double a = (mean - lower) / sd;
    if (!(sd > 0.0) || isinf(a * a)) return certain(lower, upper, mean);
    if (isinf(upper)) {
        const hfi_normal_excess at = hfi_normal_excess_at(a);
        return (hfi_slab){log(sd) + at.log_h, at.slope / sd, at.density / sd};
    }
    const double width = (upper - lower) / sd, b = (mean - upper) / sd;
    if (!(width > 0.0)) return nothing;
    const side s = width * (1.0 + fmax(0.0, -a)) < narrow ? by_rule(a, width, slopes)
                                                          : by_difference(a, b, width, slopes);
    const double log_value = log(sd) + s.log_h;
    if (!slopes) return (hfi_slab){log_value, 0.0, 0.0};
    return (hfi_slab){log_value, s.slope / sd, density_difference(a, b, width, s.log_h) / sd};
}
