/* SPDX-License-Identifier: Apache-2.0 */
/* One box: Taylor polynomials with interval coefficients and their remainders. */
#include "rigorous/rigorous_impl.h"

#include "kernel/kernel.h"
#include <string.h>

/* ---- room ------------------------------------------------------------------------------------ */

hfi_rigorous_work hfi_rigorous_work_create(const hfi_rigorous *of, const hfi_quantity *quantity, double beta)
{
    const hf_posterior *posterior = of->posterior;
    const hfi_solution *s = &posterior->solution;
    const size_t d = s->d, jet = hfi_kernel_jet_size(posterior->kernel, 2);
    const size_t scratch = hfi_kernel_jet_scratch(posterior->kernel, 2),
                 n = of->gram != NULL ? (d + 1) * s->n : 0;
    const size_t room = hfi_solution_room(s, 1);
    const size_t intervals = 2 * d + 4 * jet + scratch + 2 * n;
    const size_t bytes = intervals * sizeof(hfi_interval) + (2 * d + 1) * sizeof(long double) +
                         (3 * d + n + room) * sizeof(double);
    hfi_rigorous_work w = {.of = of, .quantity = quantity, .beta = beta};
    w.block = hfi_memory_alloc(&of->memory, bytes, 1);
    if (w.block == NULL) return w;
    w.box = w.block;
    w.middle = w.box + d;
    w.jet = w.middle + d;
    w.wide = w.jet + jet;
    w.one = w.wide + jet;
    w.spread = w.one + jet;
    w.scratch = w.spread + jet;
    w.column = w.scratch + scratch;
    w.residual = w.column + n;
    w.half = (long double *)(void *)(w.residual + n);
    w.rest = w.half + d;
    w.centre = (double *)(void *)(w.rest + d + 1);
    w.share = w.centre + d;
    w.step = w.share + d;
    w.solved = w.step + d;
    w.room = w.solved + n;
    return w;
}

void hfi_rigorous_work_free(hfi_rigorous_work *work)
{
    hfi_memory_free(&work->of->memory, work->block);
    memset(work, 0, sizeof *work);
}

/* ---- the mean -------------------------------------------------------------------------------- */

/* m over x, added to a jet of that order (0: the value alone). */
static void add_prior_mean(const hf_mean *mean, const hfi_interval *x, size_t d, int order, hfi_interval *jet)
{
    const double *b = hf_mean_values(mean);
    const hf_mean_kind kind = hf_mean_get_kind(mean);
    if (kind == HF_MEAN_ZERO) return;
    const size_t first = kind == HF_MEAN_OUTPUTS
                             ? (size_t)hfi_output_of((double)x[d - 1].lower, hf_mean_coefficients(mean))
                             : 0;
    jet[0] = hfi_interval_add(jet[0], hfi_interval_point(b[first]));
    for (size_t j = 0; j < d && kind == HF_MEAN_LINEAR; j++) {
        const hfi_interval slope = hfi_interval_point(b[j + 1]);
        jet[0] = hfi_interval_add(jet[0], hfi_interval_multiply(slope, x[j]));
        if (order > 0) jet[1 + j] = hfi_interval_add(jet[1 + j], slope);
    }
}

/* The mean and its derivatives over x, scaled units. */
static bool mean_jet(hfi_rigorous_work *work, const hfi_interval *x, int order, hfi_interval *jet)
{
    const hf_posterior *posterior = work->of->posterior;
    const hfi_solution *s = &posterior->solution;
    const size_t size = hfi_kernel_jet_size(posterior->kernel, order);
    for (size_t k = 0; k < size; k++) jet[k] = hfi_interval_point(0.0L);
    for (size_t i = 0; i < s->n; i++) {
        const hfi_interval t = hfi_interval_point(s->t[i]);
        if (!hfi_watch_glance(work->watch) || !hfi_kernel_enclose_box(posterior->kernel, x, s->z + i * s->d,
                                                                      false, order, work->one, work->scratch))
            return false;
        for (size_t k = 0; k < size; k++)
            jet[k] = hfi_interval_add(jet[k], hfi_interval_multiply(t, work->one[k]));
    }
    add_prior_mean(posterior->mean, x, s->d, order, jet);
    return true;
}

/* ---- polynomials over the box ---------------------------------------------------------------- */

/* A lower bound of slope delta + curvature delta^2 / 2, |delta| <= half, slope of at most that size. */
static long double parabola_lower(long double slope, long double curvature, long double half)
{
    if (half == 0.0L) return 0.0L;
    /* Where curvature half > slope, the least value is -slope^2 / (2 curvature). Where that is so by less than a
     * rounding, it is below the value at the end by the square of one. The roundings of what is returned are more. */
    if (hfi_times_down(curvature, half) > slope)
        return slope > 0.0L ? -hfi_up(hfi_times_up(slope, slope) / (2.0L * curvature)) : 0.0L;
    const long double ends = hfi_times_down(0.5L * curvature, half);
    return hfi_times_down(hfi_down(ends - slope), half);
}

/* Sum of row j of the second derivatives beside the diagonal, shared out over the box's own sides:
 * |2 H_ij u_i u_j| <= |H_ij| (h_j/h_i u_i^2 + h_i/h_j u_j^2). */
static long double beside(const hfi_rigorous_work *work, const hfi_interval *jet, size_t d, size_t j)
{
    long double sum = 0.0L;
    for (size_t i = 0; i < d; i++) {
        if (i == j || work->half[i] == 0.0L) continue;
        const size_t k = 1 + d + (i > j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i);
        sum = hfi_up(sum + hfi_times_up(hfi_interval_size(jet[k]).upper, work->half[i]));
    }
    return hfi_up(sum / work->half[j]);
}

/* The range over the box of the polynomial about the centre whose derivatives there are a jet's, of
 * degree 1 or 2. Only what moves is looked at: along an input that is held a kernel may have no
 * derivatives. */
static hfi_interval polynomial(const hfi_rigorous_work *work, const hfi_interval *jet, size_t d, int degree)
{
    long double lower = 0.0L, upper = 0.0L;
    for (size_t j = 0; j < d; j++) {
        const long double half = work->half[j], slope = hfi_interval_size(jet[1 + j]).upper;
        hfi_interval curvature = {0.0L, 0.0L};
        if (half == 0.0L) continue;
        if (degree == 2)
            curvature = hfi_interval_widen(jet[1 + d + j * (j + 1) / 2 + j], beside(work, jet, d, j));
        if (!isfinite(slope)) return (hfi_interval){-INFINITY, INFINITY};
        lower = hfi_down(lower + parabola_lower(slope, curvature.lower, half));
        upper = hfi_up(upper - parabola_lower(slope, -curvature.upper, half));
    }
    return hfi_interval_add(jet[0], (hfi_interval){lower, upper});
}

/* ---- distances of features ------------------------------------------------------------------- */

static bool value_over(hfi_rigorous_work *work, const double *z, bool same, hfi_interval *value)
{
    return hfi_kernel_enclose_box(work->of->posterior->kernel, work->box, z, same, 0, value, work->scratch);
}

/* At least |phi(x) - phi(c)|^2 for x in work->box. */
static bool distance2(hfi_rigorous_work *work, long double *out)
{
    hfi_interval own, cross, centre;
    if (!value_over(work, NULL, false, &own) || !value_over(work, work->centre, false, &cross) ||
        !hfi_kernel_enclose(work->of->posterior->kernel, work->centre, work->centre, false, &centre.lower,
                            &centre.upper))
        return false;
    const hfi_interval sum = hfi_interval_add(own, centre);
    const hfi_interval square = hfi_interval_subtract(sum, hfi_interval_add(cross, cross));
    *out = square.upper > 0.0L ? square.upper : 0.0L;
    return true;
}

/* The same with one side alone, for each side. */
static bool shares(hfi_rigorous_work *work, const double *lower, const double *upper)
{
    const size_t d = work->of->posterior->solution.d;
    bool ok = true;
    for (size_t j = 0; j < d; j++) work->box[j] = work->middle[j];
    for (size_t j = 0; j < d && ok; j++) {
        long double square = 0.0L;
        work->box[j] = (hfi_interval){lower[j], upper[j]};
        if (upper[j] > lower[j]) ok = distance2(work, &square);
        work->share[j] = (double)square;
        work->box[j] = work->middle[j];
    }
    for (size_t j = 0; j < d; j++) work->box[j] = (hfi_interval){lower[j], upper[j]};
    return ok;
}

/* ---- the values ------------------------------------------------------------------------------ */

typedef struct reach {
    long double norm[4];  /* hfi_kernel_feature_norms() */
    long double distance; /* |phi(x) - phi(c)| */
    bool moves;           /* the box is not a point */
} reach;

/* The sum of the anchors' covariances with the whole box; and the value and slopes at the centre
 * with the first and second derivatives that the box can have. All of these grow with sum |t_i k_i|
 * and not with the norm: they are what is narrow far from the anchors, and where a kernel is rough.
 */
static bool by_sums(hfi_rigorous_work *work, hfi_rigorous_bounds *out)
{
    const size_t d = work->of->posterior->solution.d;
    if (!mean_jet(work, work->box, 2, work->wide)) return false;
    out->box = hfi_interval_intersect(out->box, work->wide[0]);
    work->wide[0] = out->centre;
    out->box = hfi_interval_intersect(out->box, polynomial(work, work->wide, d, 1));
    for (size_t j = 0; j < d; j++) work->wide[1 + j] = work->jet[1 + j];
    out->box = hfi_interval_intersect(out->box, polynomial(work, work->wide, d, 2));
    return true;
}

/* Whether these promise more than `rest`, what is lost by norms: about a fifth of the size that
 * covariances have, times the cube of how far the features move. Covariances are taken at the
 * points of the box that are nearest to each anchor, in double: this decides what is computed, and
 * bounds nothing. */
static bool is_far(const hfi_rigorous_work *work, const double *lower, const double *upper, const reach *r,
                   long double rest)
{
    const hf_posterior *posterior = work->of->posterior;
    const hfi_solution *s = &posterior->solution;
    const double share = r->norm[0] > 0.0L ? (double)(r->norm[1] / r->norm[0]) : 1.0;
    double sum = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        const double *z = s->z + i * s->d;
        for (size_t j = 0; j < s->d; j++) work->step[j] = fmin(fmax(z[j], lower[j]), upper[j]);
        sum += fabs(s->t[i] * hfi_kernel_value(posterior->kernel, work->step, z, false));
    }
    return sum * fmin(1.0, 0.2 * share * share * share) < (double)rest;
}

/* Scaled units. The jet's constant term is the value at the centre. */
static bool mean_bounds(hfi_rigorous_work *work, const double *lower, const double *upper, const reach *r,
                        hfi_rigorous_bounds *out)
{
    static const long double FACTORIAL[] = {1.0L, 1.0L, 2.0L, 6.0L};
    const hf_posterior *posterior = work->of->posterior;
    const size_t d = posterior->solution.d;
    const int degree = !r->moves ? 0 : isfinite(r->norm[3]) ? 2 : isfinite(r->norm[2]) ? 1 : 0;
    const long double norm = work->of->norm;
    hfi_interval prior = {0.0L, 0.0L}, at_centre = {0.0L, 0.0L};
    work->degree = degree > 0 || !r->moves ? degree : 1;
    if (!mean_jet(work, work->middle, work->degree, work->jet)) return false;
    add_prior_mean(posterior->mean, work->box, d, 0, &prior);
    add_prior_mean(posterior->mean, work->middle, d, 0, &at_centre);
    const hfi_interval moved = hfi_interval_add(work->jet[0], hfi_interval_subtract(prior, at_centre));
    long double least = hfi_times_up(norm, r->distance);
    out->centre = work->jet[0];
    out->box = hfi_interval_intersect(hfi_interval_widen(prior, hfi_times_up(norm, r->norm[0])),
                                      hfi_interval_widen(moved, hfi_times_up(norm, r->distance)));
    for (int p = 1; p <= degree; p++) {
        const long double rest = hfi_up(hfi_times_up(norm, r->norm[p + 1]) / FACTORIAL[p + 1]);
        out->box =
            hfi_interval_intersect(out->box, hfi_interval_widen(polynomial(work, work->jet, d, p), rest));
        least = rest < least ? rest : least;
    }
    if (!r->moves || (degree > 0 && !is_far(work, lower, upper, r, least))) return true;
    return by_sums(work, out);
}

/* Part of the variance over work->box that comes from white and the noise of a new reading. */
static bool white_part(hfi_rigorous_work *work, hfi_interval *out)
{
    hfi_interval with, without;
    if (!value_over(work, NULL, true, &with) || !value_over(work, NULL, false, &without)) return false;
    *out = hfi_interval_subtract(with, without);
    if (out->lower < 0.0L) out->lower = 0.0L;
    if (!(out->upper >= 0.0L)) return false;
    if (work->observed)
        *out = hfi_interval_add(*out,
                                hfi_interval_point(hfi_posterior_noise(work->of->posterior, work->output)));
    return true;
}

/* A = K + D is at least D: what the data take off the variance is at most sum k_i^2 / d_i, and little far from them. */
static bool sd_by_sums(hfi_rigorous_work *work, hfi_interval *sd)
{
    const hf_posterior *posterior = work->of->posterior;
    const hfi_solution *s = &posterior->solution;
    hfi_interval prior, k;
    long double taken = 0.0L;
    if (!value_over(work, NULL, false, &prior)) return false;
    for (size_t i = 0; i < s->n && taken < prior.lower; i++) {
        if (!value_over(work, s->z + i * s->d, false, &k)) return false;
        const long double square = hfi_interval_square(k).upper;
        const long double own = work->of->variance[i];
        if (square > 0.0L) taken = own > 0.0L ? hfi_up(taken + hfi_up(square / own)) : INFINITY;
    }
    const long double left = hfi_down(prior.lower - taken);
    if (!(left > 0.0L)) return true;
    const long double root = hfi_down(sqrtl(left));
    if (root > sd->lower) sd->lower = root;
    return true;
}

/* sqrt(a^2 + white), a >= 0 */
static hfi_interval with_white(hfi_interval a, hfi_interval white)
{
    if (hfi_interval_is(white, 0.0L)) return a;
    return hfi_interval_sqrt(hfi_interval_add(hfi_interval_square(a), white));
}

/* The features of the posterior are no longer than the prior's, nor are their derivatives: of the first order
 * |phi(x) - phi(c)|, of the second half of what the second derivatives can be. */
static bool sd_bounds(hfi_rigorous_work *work, const reach *r, hfi_rigorous_bounds *out)
{
    const bool smooth = r->moves && isfinite(r->norm[2]);
    hfi_interval white;
    if (!hfi_rigorous_spread(work, smooth ? 2 : 0) || !white_part(work, &white)) return false;
    if (!work->quantity->mean) work->degree = smooth ? 2 : 0;
    const hfi_interval sd = hfi_interval_sqrt(work->spread[0]), prior = {0.0L, r->norm[0]};
    hfi_interval wide = hfi_interval_intersect(hfi_interval_widen(sd, r->distance), prior);
    if (smooth) {
        hfi_interval square = polynomial(work, work->spread, work->of->posterior->solution.d, 2);
        if (!(square.upper > 0.0L)) square.upper = 0.0L;
        wide = hfi_interval_intersect(
            wide, hfi_interval_widen(hfi_interval_sqrt(square), hfi_up(0.5L * r->norm[2])));
    }
    if (r->moves && !sd_by_sums(work, &wide)) return false;
    out->centre = with_white(sd, white);
    out->box = with_white(wide, white);
    return true;
}

static hfi_interval in_user_units(const hfi_rigorous_work *work, hfi_interval mean, hfi_interval sd)
{
    const hfi_scaling *scaling = &work->of->posterior->scaling;
    const hfi_interval scale = hfi_interval_point(hfi_scaling_scale(scaling, work->output));
    const hfi_interval shift = hfi_interval_point(hfi_scaling_shift(scaling, work->output));
    const hfi_interval of_mean = hfi_interval_add(hfi_interval_multiply(scale, mean), shift);
    hfi_interval of_sd = hfi_interval_multiply(scale, sd);
    if (work->observed)
        of_sd = hfi_interval_multiply(hfi_interval_sqrt(hfi_interval_point(work->of->posterior->calibration)),
                                      of_sd);
    return work->quantity->exact(work->quantity, work->beta, of_mean, of_sd);
}

/* A box over several outputs has neither one scale nor one prior mean. */
static bool one_output(const hf_posterior *posterior, const double *lower, const double *upper)
{
    const size_t last = posterior->solution.d - 1;
    const size_t outputs = hf_mean_get_kind(posterior->mean) == HF_MEAN_OUTPUTS
                               ? hf_mean_coefficients(posterior->mean)
                               : posterior->scaling.outputs;
    return hfi_output_of(lower[last], outputs) == hfi_output_of(upper[last], outputs);
}

static bool is_finite(hfi_interval a)
{
    return isfinite(a.lower) && isfinite(a.upper);
}

bool hfi_rigorous_bound(hfi_rigorous_work *work, const double *lower, const double *upper,
                        hfi_rigorous_bounds *out)
{
    const hf_posterior *posterior = work->of->posterior;
    hfi_rigorous_bounds mean = {{0.0L, 0.0L}, {0.0L, 0.0L}}, sd = mean;
    reach r = {.moves = false};
    if (!one_output(posterior, lower, upper)) return false;
    for (size_t j = 0; j < posterior->solution.d; j++) {
        const double middle = 0.5 * lower[j] + 0.5 * upper[j];
        const double c = middle < lower[j] ? lower[j] : middle > upper[j] ? upper[j] : middle;
        const long double left = (long double)c - lower[j], right = (long double)upper[j] - c;
        work->centre[j] = c;
        work->middle[j] = hfi_interval_point(c);
        work->half[j] = lower[j] == upper[j] ? 0.0L : hfi_up(left > right ? left : right);
        r.moves = r.moves || lower[j] < upper[j];
    }
    work->output = hfi_scaling_output(&posterior->scaling, work->centre);
    long double square;
    if (!shares(work, lower, upper) || !distance2(work, &square) ||
        !hfi_kernel_feature_norms(posterior->kernel, work->box, work->half, r.norm))
        return false;
    r.distance = square > 0.0L ? hfi_up(sqrtl(square)) : 0.0L;
    if (r.norm[1] < r.distance) r.distance = r.norm[1];
    if (work->quantity->mean && !mean_bounds(work, lower, upper, &r, &mean)) return false;
    if (work->quantity->sd && !sd_bounds(work, &r, &sd)) return false;
    out->box = in_user_units(work, mean.box, sd.box);
    out->centre = in_user_units(work, mean.centre, sd.centre);
    return is_finite(out->box) && is_finite(out->centre);
}

bool hfi_rigorous_at(hfi_rigorous_work *work, hfi_interval *out)
{
    const hf_posterior *posterior = work->of->posterior;
    hfi_interval mean = {0.0L, 0.0L}, sd = mean, white = mean;
    for (size_t j = 0; j < posterior->solution.d; j++) {
        work->centre[j] = (double)work->middle[j].lower;
        work->box[j] = work->middle[j];
    }
    work->output = hfi_scaling_output(&posterior->scaling, work->centre);
    if (work->quantity->mean) {
        if (!mean_jet(work, work->middle, 0, work->jet)) return false;
        mean = work->jet[0];
    }
    if (work->quantity->sd) {
        if (!hfi_rigorous_spread(work, 0) || !white_part(work, &white)) return false;
        sd = with_white(hfi_interval_sqrt(work->spread[0]), white);
    }
    *out = in_user_units(work, mean, sd);
    return is_finite(*out);
}
