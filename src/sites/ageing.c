/* SPDX-License-Identifier: Apache-2.0 */
/* Variances that grow with age: the table of <holdfast/ageing.h>, its inverses, and sites that are made older. */
#include "sites/sites.h"

#include <holdfast/ageing.h>
#include <math.h>

static hf_status check_table(hf_context *ctx, const hf_age_law *law)
{
    if (law->entries == 0 || law->ages == NULL || law->added == NULL)
        return hfi_refuse(ctx, "the table of the law of ageing is %s", law->entries == 0 ? "empty" : "NULL");
    for (size_t k = 0; k < law->entries; k++) {
        const double age = law->ages[k], added = law->added[k];
        const double age_before = k > 0 ? law->ages[k - 1] : 0.0,
                     added_before = k > 0 ? law->added[k - 1] : 0.0;
        if (!(age > age_before) || isinf(age))
            return hfi_refuse(ctx,
                              "age %zu (counted from 0) of the law of ageing is %g; ages are finite and "
                              "ascend from 0, which is not among them",
                              k, age);
        if (!(added >= added_before) || isinf(added))
            return hfi_refuse(ctx,
                              "the law of ageing adds %g at age %g; what is added is finite, at least 0 and "
                              "never less than at a lower age",
                              added, age);
    }
    return HF_OK;
}

hf_status hf_age_law_check(hf_context *ctx, const hf_age_law *law)
{
    if (law == NULL) return hfi_refuse(ctx, "the law of ageing is NULL");
    if ((unsigned)law->kind >= hf_enum_count(HF_ENUM_AGE_KIND))
        return hfi_refuse(ctx, "there is no law of ageing %d", (int)law->kind);
    if (law->kind == HF_AGE_TABLE) return check_table(ctx, law);
    if (law->kind != HF_AGE_NONE && (!(law->rate >= 0.0) || isinf(law->rate)))
        return hfi_refuse(ctx, "the rate of the %s law of ageing is %g; give a finite number of at least 0",
                          hf_enum_name(HF_ENUM_AGE_KIND, law->kind), law->rate);
    return HF_OK;
}

/* How many of the ascending numbers are at most `limit`. */
static size_t count_up_to(size_t count, const double *ascending, double limit)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (ascending[middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Value at x of the line through (x0, y0) and (x1, y1), x0 <= x < x1 and y0 <= y1: never beyond y1. */
static double between(double x, double x0, double y0, double x1, double y1)
{
    return fmin(y1, y0 + (y1 - y0) * ((x - x0) / (x1 - x0)));
}

static double table_added(const hf_age_law *law, double age)
{
    const size_t k = count_up_to(law->entries, law->ages, age);
    if (k == law->entries) return age > law->ages[k - 1] ? INFINITY : law->added[k - 1];
    return k == 0 ? between(age, 0.0, 0.0, law->ages[0], law->added[0])
                  : between(age, law->ages[k - 1], law->added[k - 1], law->ages[k], law->added[k]);
}

static double rated_variance(const hf_age_law *law, double variance, double age)
{
    const double moved = law->rate * age;
    switch (law->kind) {
    case HF_AGE_QUADRATIC:
        return variance + moved * moved;
    case HF_AGE_LINEAR:
        return variance + moved * (2.0 * sqrt(variance) + moved); /* exact at age 0 */
    case HF_AGE_EXPONENTIAL: {
        const double half = exp(0.5 * moved); /* its square may overflow where the product does not */
        return variance > 0.0 ? variance * half * half : variance;
    }
    case HF_AGE_WIENER:
        return variance + law->rate * moved;
    default:
        return variance;
    }
}

double hf_age_variance(const hf_age_law *law, double variance, double age)
{
    age = fabs(age);
    if (!law || isnan(age) || isnan(variance)) return NAN;
    if (law->kind == HF_AGE_NONE || isinf(variance)) return variance;
    if (law->kind == HF_AGE_TABLE) return variance + table_added(law, age);
    return law->rate > 0.0 ? rated_variance(law, variance, age) : variance;
}

/* The last age at which the table adds at most `room` >= 0. */
static double table_horizon(const hf_age_law *law, double room)
{
    const size_t k = count_up_to(law->entries, law->added, room);
    if (k == law->entries) return law->ages[k - 1];
    return k == 0 ? between(room, 0.0, 0.0, law->added[0], law->ages[0])
                  : between(room, law->added[k - 1], law->ages[k - 1], law->added[k], law->ages[k]);
}

double hf_age_horizon(const hf_age_law *law, double variance, double limit)
{
    if (!law) return NAN;
    if (!(variance <= limit)) return 0.0;
    if (law->kind == HF_AGE_NONE || isinf(limit)) return INFINITY;
    const double room = limit - variance;
    if (law->kind == HF_AGE_TABLE) return table_horizon(law, room);
    if (!(law->rate > 0.0)) return INFINITY;
    switch (law->kind) {
    case HF_AGE_QUADRATIC:
        return sqrt(room) / law->rate;
    case HF_AGE_LINEAR:
        return room > 0.0 ? room / (sqrt(limit) + sqrt(variance)) / law->rate : 0.0;
    case HF_AGE_EXPONENTIAL:
        if (!(variance > 0.0)) return INFINITY;
        if (room < variance) return log1p(room / variance) / law->rate;
        return (log(limit) - log(variance)) / law->rate;
    default:
        return room / law->rate / law->rate;
    }
}

hf_status hf_sites_age(hf_context *ctx, hf_sites *sites, const hf_age_law *law, const double *age)
{
    if (sites == NULL || (age == NULL && sites->n > 0))
        return hfi_refuse(ctx, "hf_sites_age: %s is NULL", sites == NULL ? "sites" : "age");
    const hf_status status = hf_age_law_check(ctx, law);
    if (status < 0) return status;
    for (size_t i = 0; i < sites->n; i++)
        if (sites->weight[i] > 0.0 && !isfinite(age[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the age of reading %zu (counted from 0) is %g", i,
                            age[i]);
    for (size_t i = 0; i < sites->n; i++)
        if (sites->weight[i] > 0.0) sites->variance[i] = hf_age_variance(law, sites->variance[i], age[i]);
    hfi_sites_give(sites, sites->target, sites->variance);
    return HF_OK;
}
