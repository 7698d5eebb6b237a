/* SPDX-License-Identifier: Apache-2.0 */
/* Acquisition functions of a mean and a standard deviation: a row of the table each. */
#include "optimise/acquire.h"

#include "core/normal.h"
#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const hfi_acquired none = {0.0, 0.0, 0.0};

/* z = gap / sd, in (-infinity, infinity) even where sd is 0. */
static double standardised(double gap, double sd)
{
    if (gap == 0.0) return 0.0;
    return sd > 0.0 ? gap / sd : copysign(INFINITY, gap);
}

/* h(-t), t >= 0, from phi and Phi(-t) while their difference has digits. */
static double lower_excess(double t, double density, double lower)
{
    return t < HFI_NORMAL_TAIL ? density - t * lower : exp(hfi_normal_excess_at(-t).log_h);
}

/* h(z) - z = h(-z): from a gap above 0 on, that is most of it. */
static hfi_acquired expected_improvement(double mean, double sd, double best, double beta)
{
    (void)beta;
    const double gap = mean - best, z = standardised(gap, sd), t = fabs(z);
    const double density = hfi_normal_density(z), lower = hfi_normal_cdf(-t);
    if (z == -INFINITY) return none;
    const double excess = isfinite(t) ? sd * lower_excess(t, density, lower) : 0.0;
    return (hfi_acquired){
        .value = fmax(gap, 0.0) + excess, .mean = z > 0.0 ? 1.0 - lower : lower, .sd = density};
}

/* Where z is larger the logarithm is that of the gap and a little more. */
static const double large = 1.0;

static hfi_acquired log_expected_improvement(double mean, double sd, double best, double beta)
{
    (void)beta;
    const double gap = mean - best, z = standardised(gap, sd);
    if (z == -INFINITY || sd + fmax(gap, 0.0) == 0.0) return (hfi_acquired){.value = -INFINITY};
    if (z > large) {
        const double more = isfinite(z) ? exp(hfi_normal_excess_at(-z).log_h) / z : 0.0;
        const double improvement = gap * (1.0 + more);
        return (hfi_acquired){.value = log(gap) + log1p(more),
                              .mean = hfi_normal_cdf(z) / improvement,
                              .sd = hfi_normal_density(z) / improvement};
    }
    const hfi_normal_excess h = hfi_normal_excess_at(z);
    return (hfi_acquired){.value = log(sd) + h.log_h, .mean = h.slope / sd, .sd = h.density / sd};
}

static hfi_acquired confidence_bound(double mean, double sd, double best, double beta)
{
    (void)best;
    return (hfi_acquired){.value = mean + beta * sd, .mean = 1.0, .sd = beta};
}

static hfi_acquired improvement_probability(double mean, double sd, double best, double beta)
{
    (void)beta;
    const double z = standardised(mean - best, sd);
    hfi_acquired at = {.value = hfi_normal_cdf(z)};
    if (sd > 0.0 && isfinite(z)) {
        at.mean = hfi_normal_density(z) / sd;
        at.sd = -z * at.mean;
    }
    return at;
}

static hfi_acquired log_improvement_probability(double mean, double sd, double best, double beta)
{
    (void)beta;
    const double z = standardised(mean - best, sd);
    hfi_acquired at = {.value = isfinite(z) ? hfi_log_normal_cdf(z) : z > 0.0 ? 0.0 : -INFINITY};
    if (sd > 0.0 && isfinite(z)) {
        at.mean = hfi_normal_hazard(z) / sd;
        at.sd = -z * at.mean;
    }
    return at;
}

/* In the order of the enum. */
static const hfi_acquisition_row rows[] = {
    {.name = "log-ei", .formula = log_expected_improvement, .logarithm = true, .improves = true},
    {.name = "ei", .formula = expected_improvement, .improves = true},
    {.name = "ucb", .formula = confidence_bound},
    {.name = "log-pi", .formula = log_improvement_probability, .logarithm = true, .improves = true},
    {.name = "pi", .formula = improvement_probability, .improves = true},
};

const hfi_acquisition_row *hfi_acquisition_of(hf_acquisition kind)
{
    return (size_t)kind < COUNT(rows) ? rows + kind : NULL;
}

hfi_acquired hfi_acquisition_at(const hfi_acquisition_row *row, double mean, double sd, double best,
                                double beta)
{
    hfi_acquired at = row->formula(mean, sd, best, beta);
    if (row->logarithm && !(at.value >= -DBL_MAX)) at = (hfi_acquired){.value = -DBL_MAX};
    if (!isfinite(at.mean)) at.mean = 0.0;
    if (!isfinite(at.sd)) at.sd = 0.0;
    return at;
}

double hf_acquisition_value(hf_acquisition kind, double mean, double sd, double best, double multiplier,
                            double *dmean, double *dsd)
{
    const hfi_acquisition_row *row = hfi_acquisition_of(kind);
    hfi_acquired at = {NAN, NAN, NAN};
    if (row != NULL && isfinite(mean) && sd >= 0.0 && isfinite(sd) &&
        isfinite(row->improves ? mean - best : multiplier))
        at = hfi_acquisition_at(row, mean, sd, best, multiplier);
    if (dmean != NULL) *dmean = at.mean;
    if (dsd != NULL) *dsd = at.sd;
    return at.value;
}

hfi_acquired hfi_acquisition_feasible(double limit, double mean, double sd)
{
    hfi_acquired at = hfi_acquisition_at(hfi_acquisition_of(HF_ACQUIRE_LOG_PI), limit, sd, mean, 0.0);
    at.mean = -at.mean;
    return at;
}
