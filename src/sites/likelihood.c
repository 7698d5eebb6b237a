/* SPDX-License-Identifier: Apache-2.0 */
/* A new reading where the logarithm of its mean is normal. */
#include "sites/likelihood.h"
#include "core/core.h"
#include "core/normal.h"
#include <math.h>
#include <string.h>

void hfi_likelihood_moments(const hfi_likelihood *l, double dispersion, double mean, double var,
                            double *reading, double *sd_mean, double *sd_reading)
{
    double linear = 0.0, square = 0.0;
    l->variance(dispersion, &linear, &square);
    const double mu = exp(mean + 0.5 * var), spread = expm1(var), of_mean = mu * mu * spread;
    *reading = mu;
    *sd_mean = sqrt(of_mean);
    *sd_reading = sqrt(of_mean + linear * mu + square * mu * mu * (1.0 + spread));
}

/* How far the logarithm of the mean of a reading has to move to tell. */
static double width_of(const hfi_likelihood *l, double dispersion, double y)
{
    double linear = 0.0, square = 0.0;
    l->variance(dispersion, &linear, &square);
    return sqrt(square + (l->whole ? linear / (y + 1.0) : 0.0));
}

static const double nothing = 40.0;

/* Readings tell more than what is known of their mean: the average of the distribution function of a reading. */
static double by_mean(const hfi_likelihood *l, double dispersion, double mean, double sd, double y)
{
    const double step = fmin(0.5, l->step / sd), reach = sqrt(2.0 * nothing);
    double total = 0.0, sum = 0.0;
    for (int k = (int)-ceil(reach / step); k * step <= reach; k++) {
        const double t = k * step, weight = exp(-0.5 * t * t);
        total += weight;
        sum += weight * l->cumulative(dispersion, exp(mean + sd * t), y);
    }
    return sum / total;
}

/* One point of a rule over the logarithm f of the mean. @return the logarithm of its weight. */
static double add_quadrature_point(const hfi_likelihood *l, const hfi_seen *next, double top, double f,
                                   double margin, double *total, double *sum)
{
    const double log_weight = hfi_likelihood_density(l, next, f).value - top, weight = exp(log_weight);
    *total += weight;
    *sum += weight * hfi_normal_cdf(margin);
    return log_weight;
}

/* Otherwise by parts. As a function of f the distribution function falls like the density of the next
 * reading, y + 1 for counts and y for amounts: P(reading <= y) is the average of Phi((f - mean) / sd) over
 * it. Its mode is at log of that reading. */
static double by_reading(const hfi_likelihood *l, double dispersion, double mean, double sd, double y)
{
    hfi_seen next = {.y = l->whole ? floor(y) + 1.0 : y, .dispersion = dispersion};
    hfi_likelihood_place(l, &next);
    const double mode = log(next.y), top = hfi_likelihood_density(l, &next, mode).value,
                 step = fmin(fmin(l->step, 0.5 * sd), 0.5 * width_of(l, dispersion, y));
    double total = 0.0, sum = 0.0;
    add_quadrature_point(l, &next, top, mode, (mode - mean) / sd, &total, &sum);
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 1; k < 100000; k++) {
            const double f = mode + side * k * step;
            if (add_quadrature_point(l, &next, top, f, (f - mean) / sd, &total, &sum) < -nothing) break;
        }
    }
    return sum / total;
}

double hfi_likelihood_cumulative(const hfi_likelihood *l, double dispersion, double mean, double var,
                                 double y)
{
    const double sd = sqrt(var);
    if (l->whole ? y < 0.0 : !(y > 0.0)) return 0.0;
    if (!(sd > 0.0)) return l->cumulative(dispersion, exp(mean), y);
    return sd < width_of(l, dispersion, y) ? by_mean(l, dispersion, mean, sd, y)
                                           : by_reading(l, dispersion, mean, sd, y);
}

double hfi_likelihood_quantile(const hfi_likelihood *l, double dispersion, double mean, double var, double p)
{
    double linear = 0.0, square = 0.0;
    l->variance(dispersion, &linear, &square);
    if (l->whole && hfi_likelihood_cumulative(l, dispersion, mean, var, 0.0) >= p) return 0.0;
    /* A bracket in log of the reading, grown from the mean: it is P(<= low) < p <= P(<= high). */
    double step = sqrt(var + square + linear * exp(-mean)), low = mean, high = mean;
    while (hfi_likelihood_cumulative(l, dispersion, mean, var, exp(high)) < p && high < 700.0) high += step;
    while (hfi_likelihood_cumulative(l, dispersion, mean, var, exp(low)) >= p && (!l->whole || low > -1.0))
        low -= step;
    if (!l->whole) {
        while (high - low > 1e-11 * (1.0 + fabs(low))) {
            const double middle = 0.5 * (low + high);
            *(hfi_likelihood_cumulative(l, dispersion, mean, var, exp(middle)) < p ? &low : &high) = middle;
        }
        return exp(0.5 * (low + high));
    }
    double below = floor(exp(low)), enough = ceil(exp(high));
    while (enough - below > 1.0 && enough > below * (1.0 + 1e-12)) {
        const double middle = floor(0.5 * (below + enough));
        *(hfi_likelihood_cumulative(l, dispersion, mean, var, middle) < p ? &below : &enough) = middle;
    }
    return enough;
}

/* ---- the table of likelihoods ------------------------------------------------------------------------ */

#define ROW(id, symbol, name, help) &hfi_likelihood_##symbol,
static const hfi_likelihood *const rows[] = {HF_LIKELIHOOD_LIST(ROW)};
#undef ROW

enum {
    ROWS = sizeof rows / sizeof rows[0]
};

const hfi_likelihood *hfi_likelihood_named(const char *name)
{
    for (size_t k = 0; name && k < ROWS; k++)
        if (strcmp(rows[k]->name, name) == 0) return rows[k];
    return NULL;
}

/* Up to here doubles hold every whole number. */
static const double largest_count = 9007199254740992.0;

bool hfi_likelihood_allows(const hfi_likelihood *likelihood, double y)
{
    return likelihood->whole ? y >= 0.0 && y <= largest_count && floor(y) == y : y > 0.0 && isfinite(y);
}

void hfi_likelihood_place(const hfi_likelihood *likelihood, hfi_seen *seen)
{
    seen->constant = seen->constant_slope = seen->constant_shape = 0.0;
    seen->log_y = seen->y > 0.0 ? log(seen->y) : 0.0;
    if (likelihood->place) likelihood->place(seen);
}

hfi_likelihood_slopes hfi_likelihood_density(const hfi_likelihood *likelihood, const hfi_seen *seen, double f)
{
    hfi_likelihood_slopes at;
    likelihood->slopes(seen, f + seen->shift, &at);
    at.value += seen->constant;
    at.d += seen->constant_slope;
    at.n += seen->constant_shape;
    return at;
}
