/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes, lattices and categories in them, and lists of candidates. */
#include "optimise/optimise.h"

#include <math.h>

enum {
    MOST_CODES = 1024 /* of a category: a search tries all of them in turn */
};
static const double most_steps = 2147483648.0;
/* In steps: how far a value may be off its lattice by rounding. */
static const double rounding = 1e-9;

static hf_status check_candidates(hf_context *ctx, const hf_domain *domain)
{
    const size_t d = domain->dimension;
    size_t entries;
    if (domain->points == NULL)
        return hfi_refuse(ctx, "the domain has %zu candidates, but their inputs are NULL",
                          domain->candidates);
    if (!hfi_size_mul(domain->candidates, d, &entries))
        return hfi_refuse(ctx, "%zu candidates of %zu inputs are more than there can be", domain->candidates,
                          d);
    for (size_t k = 0; k < entries; k++)
        if (!isfinite(domain->points[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "input %zu of candidate %zu (both counted from 0) is not finite", k % d, k / d);
    return HF_OK;
}

/* The distance of an input's values; 0 for a continuous one. */
static double step_of(const hf_domain *domain, size_t j)
{
    if (hfi_domain_unordered(domain, j)) return 1.0;
    return domain->step != NULL ? domain->step[j] : 0.0;
}

static hf_status check_steps(hf_context *ctx, const hf_domain *domain, size_t j)
{
    const double given = domain->step != NULL ? domain->step[j] : 0.0;
    const double steps = (domain->upper[j] - domain->lower[j]) / step_of(domain, j);
    if (!isfinite(given) || given < 0.0)
        return hfi_refuse(ctx, "the step of input %zu (counted from 0) is %g; it must be 0 or positive", j,
                          given);
    if (hfi_domain_unordered(domain, j) && given != 0.0 && given != 1.0)
        return hfi_refuse(
            ctx, "the step of input %zu (counted from 0) is %g; that of a category must be 0 or 1", j, given);
    if (hfi_domain_unordered(domain, j) && steps > MOST_CODES - 1)
        return hfi_refuse(ctx, "input %zu (counted from 0) has %.0f categories; there can be %d at most", j,
                          floor(steps) + 1.0, MOST_CODES);
    if (step_of(domain, j) > 0.0 && steps > most_steps)
        return hfi_refuse(ctx, "input %zu (counted from 0) has %g steps; beyond 2^31 make it continuous", j,
                          steps);
    return HF_OK;
}

static hf_status check_box(hf_context *ctx, const hf_domain *domain)
{
    if (domain->lower == NULL || domain->upper == NULL)
        return hfi_refuse(ctx, "the domain has neither candidates nor both bounds of a box");
    for (size_t j = 0; j < domain->dimension; j++) {
        const double lower = domain->lower[j], upper = domain->upper[j];
        if (!isfinite(lower) || !isfinite(upper))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "a bound of input %zu (counted from 0) is not finite", j);
        if (lower > upper)
            return hfi_refuse(ctx,
                              "the lower bound of input %zu (counted from 0), %g, is above the upper one, %g",
                              j, lower, upper);
        if (!isfinite(upper - lower))
            return hfi_refuse(ctx, "the box is wider than there are numbers in input %zu (counted from 0)",
                              j);
        const hf_status status = check_steps(ctx, domain, j);
        if (status < 0) return status;
    }
    return HF_OK;
}

hf_status hf_domain_check(hf_context *ctx, const hf_domain *domain)
{
    if (domain == NULL) return hfi_refuse(ctx, "the domain is NULL");
    if (domain->dimension == 0) return hfi_refuse(ctx, "the domain has no inputs");
    return domain->candidates > 0 ? check_candidates(ctx, domain) : check_box(ctx, domain);
}

/* Without the arrays that say where it is. */
static bool is_nowhere(const hf_domain *domain)
{
    if (domain == NULL || domain->dimension == 0) return true;
    return domain->candidates > 0 ? domain->points == NULL : domain->lower == NULL || domain->upper == NULL;
}

static bool box_contains(const hf_domain *domain, const double *x)
{
    for (size_t j = 0; j < domain->dimension; j++) {
        const double value = hfi_domain_nearest(domain, j, x[j]);
        const double off = hfi_domain_unordered(domain, j) ? 0.0 : rounding * step_of(domain, j);
        if (!(fabs(x[j] - value) <= off)) return false;
    }
    return true;
}

bool hf_domain_contains(const hf_domain *domain, const double *x, size_t *index)
{
    if (x == NULL || is_nowhere(domain)) return false;
    const size_t d = domain->dimension, n = domain->candidates;
    size_t at = 0;
    for (; at < n; at++) {
        const double *point = domain->points + at * d;
        size_t j = 0;
        while (j < d && x[j] == point[j]) j++;
        if (j == d) break;
    }
    if (n > 0 ? at == n : !box_contains(domain, x)) return false;
    if (index != NULL) *index = at;
    return true;
}

size_t hfi_domain_levels(const hf_domain *domain, size_t j)
{
    const double step = step_of(domain, j);
    if (!(step > 0.0)) return 0;
    return (size_t)floor((domain->upper[j] - domain->lower[j]) / step + rounding) + 1;
}

double hfi_domain_level(const hf_domain *domain, size_t j, size_t level)
{
    return fmin(domain->lower[j] + (double)level * step_of(domain, j), domain->upper[j]);
}

size_t hfi_domain_level_of(const hf_domain *domain, size_t j, double x)
{
    const double number = nearbyint((x - domain->lower[j]) / step_of(domain, j));
    const double last = (double)(hfi_domain_levels(domain, j) - 1);
    return (size_t)fmin(fmax(number, 0.0), last);
}

double hfi_domain_nearest(const hf_domain *domain, size_t j, double x)
{
    if (hfi_domain_levels(domain, j) > 0)
        return hfi_domain_level(domain, j, hfi_domain_level_of(domain, j, x));
    return fmin(fmax(x, domain->lower[j]), domain->upper[j]);
}

bool hfi_domain_unordered(const hf_domain *domain, size_t j)
{
    return domain->category != NULL && domain->category[j];
}

bool hfi_domain_fixed(const hf_domain *domain, size_t j)
{
    return domain->lower[j] == domain->upper[j] || hfi_domain_levels(domain, j) == 1;
}

double hfi_domain_at(const hf_domain *domain, size_t j, double share)
{
    const double lower = domain->lower[j], upper = domain->upper[j];
    if (share <= 0.0) return lower;
    if (share >= 1.0) return upper;
    return fmin(lower + share * (upper - lower), upper);
}

size_t hfi_domain_free_inputs(const hf_domain *domain, size_t *free, size_t *smooth)
{
    size_t count = 0, first = 0;
    for (int discrete = 0; discrete < 2; discrete++) {
        for (size_t j = 0; j < domain->dimension; j++) {
            if (hfi_domain_fixed(domain, j) || (hfi_domain_levels(domain, j) > 0) != (discrete == 1))
                continue;
            if (free != NULL) free[count] = j;
            count++;
        }
        if (discrete == 0) first = count;
    }
    if (smooth != NULL) *smooth = first;
    return count;
}

/* The positive root of p^(d+1) = p + 1. Newton's iteration comes down to it from 2, where p^(d+1) - p - 1,
 * which is convex, is positive; it ends when rounding keeps it from getting further down. */
static double generalised_golden_ratio(size_t d)
{
    double p = 2.0;
    for (;;) {
        const double power = pow(p, (double)d);
        const double next = p - (power * p - p - 1.0) / ((double)(d + 1) * power - 1.0);
        if (!(next < p)) return p;
        p = next;
    }
}

/* frac(1/2 + k a) */
static double compute_sequence_fraction(double k, double a)
{
    const double sum = 0.5 + k * a;
    return sum - floor(sum);
}

/* At a share of what an input has. */
static double spread(const hf_domain *domain, size_t j, double share)
{
    const size_t levels = hfi_domain_levels(domain, j);
    if (levels == 0) return hfi_domain_at(domain, j, share);
    const size_t level = (size_t)(share * (double)levels);
    return hfi_domain_level(domain, j, level < levels ? level : levels - 1);
}

void hf_domain_quasirandom(const hf_domain *domain, size_t first, size_t count, double *x)
{
    if (x == NULL || is_nowhere(domain)) return;
    const size_t d = domain->dimension, n = domain->candidates;
    const size_t free = n > 0 ? 1 : hfi_domain_free_inputs(domain, NULL, NULL);
    const double step = 1.0 / generalised_golden_ratio(free > 0 ? free : 1);
    for (size_t i = 0; i < count; i++) {
        const double k = (double)(first + i) + 1.0;
        double *row = x + i * d, a = step;
        if (n > 0) {
            const size_t at = (size_t)(compute_sequence_fraction(k, a) * (double)n);
            for (size_t j = 0; j < d; j++) row[j] = domain->points[(at < n ? at : n - 1) * d + j];
            continue;
        }
        for (size_t j = 0; j < d; j++) {
            const bool fixed = hfi_domain_fixed(domain, j);
            row[j] = fixed ? domain->lower[j] : spread(domain, j, compute_sequence_fraction(k, a));
            if (!fixed) a *= step;
        }
    }
}
