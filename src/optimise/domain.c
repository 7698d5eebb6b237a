/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and lists of candidates. */
#include "optimise/optimise.h"

#include <math.h>

static hf_status check_candidates(hf_context *ctx, const hf_domain *domain)
{
    const size_t d = domain->dimension;
    size_t entries;
    if (domain->points == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the domain has %zu candidates, but their inputs are NULL",
                        domain->candidates);
    if (!hfi_size_mul(domain->candidates, d, &entries))
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "%zu candidates of %zu inputs are more than there can be",
                        domain->candidates, d);
    for (size_t k = 0; k < entries; k++)
        if (!isfinite(domain->points[k]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                            "input %zu of candidate %zu (both counted from 0) is not finite", k % d, k / d);
    return HF_OK;
}

static hf_status check_box(hf_context *ctx, const hf_domain *domain)
{
    if (domain->lower == NULL || domain->upper == NULL)
        return hfi_fail(ctx, HF_ERR_ARGUMENT, "the domain has neither candidates nor both bounds of a box");
    for (size_t j = 0; j < domain->dimension; j++) {
        const double lower = domain->lower[j], upper = domain->upper[j];
        if (!isfinite(lower) || !isfinite(upper))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "a bound of input %zu (counted from 0) is not finite", j);
        if (lower > upper)
            return hfi_fail(ctx, HF_ERR_ARGUMENT,
                            "the lower bound of input %zu (counted from 0), %g, is above the upper one, %g",
                            j, lower, upper);
        if (!isfinite(upper - lower))
            return hfi_fail(ctx, HF_ERR_ARGUMENT,
                            "the box is wider than there are numbers in input %zu (counted from 0)", j);
    }
    return HF_OK;
}

hf_status hf_domain_check(hf_context *ctx, const hf_domain *domain)
{
    if (domain == NULL) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the domain is NULL");
    if (domain->dimension == 0) return hfi_fail(ctx, HF_ERR_ARGUMENT, "the domain has no inputs");
    return domain->candidates > 0 ? check_candidates(ctx, domain) : check_box(ctx, domain);
}

/* Without the arrays that say where it is. */
static bool is_nowhere(const hf_domain *domain)
{
    if (domain == NULL || domain->dimension == 0) return true;
    return domain->candidates > 0 ? domain->points == NULL : domain->lower == NULL || domain->upper == NULL;
}

bool hf_domain_contains(const hf_domain *domain, const double *x, size_t *index)
{
    if (x == NULL || is_nowhere(domain)) return false;
    const size_t d = domain->dimension;
    const bool box = domain->candidates == 0;
    for (size_t i = 0; i < (box ? 1 : domain->candidates); i++) {
        const double *lower = box ? domain->lower : domain->points + i * d;
        const double *upper = box ? domain->upper : lower;
        size_t j = 0;
        while (j < d && x[j] >= lower[j] && x[j] <= upper[j]) j++;
        if (j == d) {
            if (index != NULL) *index = i;
            return true;
        }
    }
    return false;
}

double hfi_domain_at(const hf_domain *domain, size_t j, double share)
{
    const double lower = domain->lower[j], upper = domain->upper[j];
    if (share <= 0.0) return lower;
    if (share >= 1.0) return upper;
    return fmin(lower + share * (upper - lower), upper);
}

size_t hfi_domain_free_inputs(const hf_domain *domain, size_t *free)
{
    size_t count = 0;
    for (size_t j = 0; j < domain->dimension; j++) {
        if (domain->lower[j] == domain->upper[j]) continue;
        if (free != NULL) free[count] = j;
        count++;
    }
    return count;
}

/* The positive root of p^(d+1) = p + 1. Newton's iteration comes down to it from 2, where p^(d+1) - p - 1, which is convex, is positive;
 * it ends when rounding keeps it from getting further down. */
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
static double share_of(double k, double a)
{
    const double sum = 0.5 + k * a;
    return sum - floor(sum);
}

void hf_domain_fill(const hf_domain *domain, size_t first, size_t count, double *x)
{
    if (x == NULL || is_nowhere(domain)) return;
    const size_t d = domain->dimension, n = domain->candidates;
    const size_t free = n > 0 ? 1 : hfi_domain_free_inputs(domain, NULL);
    const double step = 1.0 / generalised_golden_ratio(free > 0 ? free : 1);
    for (size_t i = 0; i < count; i++) {
        const double k = (double)(first + i) + 1.0;
        double *row = x + i * d, a = step;
        if (n > 0) {
            const size_t at = (size_t)(share_of(k, a) * (double)n);
            for (size_t j = 0; j < d; j++) row[j] = domain->points[(at < n ? at : n - 1) * d + j];
            continue;
        }
        for (size_t j = 0; j < d; j++) {
            const bool fixed = domain->lower[j] == domain->upper[j];
            row[j] = fixed ? domain->lower[j] : hfi_domain_at(domain, j, share_of(k, a));
            if (!fixed) a *= step;
        }
    }
}
