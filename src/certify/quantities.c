/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what can be certified. */
#include "certify/quantities.h"
#include "bound/link.h"
#include "moments/moments.h"
#include "rigorous/rigorous.h"
#include "softmax/classes.h"

#include <float.h>
#include <math.h>

static const double unit = 4.0 * DBL_EPSILON;

/* ---- mean, sd, mean + beta sd ------------------------------------------------------------------------------------ */

/* The factor of the sd. */
static double factor_of(const hfi_quantity *q, double beta)
{
    return !q->sd ? 0.0 : q->mean ? beta : 1.0;
}

static double linear_value(const hfi_quantity *q, double beta, double mean, double sd)
{
    return !q->sd ? mean : q->mean ? mean + beta * sd : sd;
}

static void linear_slopes(const hfi_quantity *q, double beta, double mean, double sd, double *of_mean,
                          double *of_sd)
{
    (void)mean;
    (void)sd;
    *of_mean = q->mean ? 1.0 : 0.0;
    *of_sd = factor_of(q, beta);
}

static void linear_enclose(const hfi_quantity *q, double beta, const hfi_moments_box *in, double *lower,
                           double *upper)
{
    const double factor = factor_of(q, beta);
    *lower = q->mean ? in->mean_low : 0.0;
    *upper = q->mean ? in->mean_high : 0.0;
    if (factor == 0.0) return;
    const double size = fmax(fabs(*lower), fabs(*upper)) + fabs(factor) * in->sd_high,
                 slack = q->mean ? unit * size : 0.0;
    *lower += factor * (factor > 0.0 ? in->sd_low : in->sd_high) - slack;
    *upper += factor * (factor > 0.0 ? in->sd_high : in->sd_low) + slack;
}

static double linear_rounding(const hfi_quantity *q, double beta, double of_mean, double of_sd)
{
    return of_mean + fabs(factor_of(q, beta)) * of_sd;
}

static hfi_interval linear_exact(const hfi_quantity *q, double beta, hfi_interval mean, hfi_interval sd)
{
    if (!q->sd) return mean;
    if (!q->mean) return sd;
    return hfi_interval_add(mean, hfi_interval_multiply(hfi_interval_point(beta), sd));
}

/* ---- probabilities of two classes -------------------------------------------------------------------------------- */

static double link_value(const hfi_quantity *q, double lambda, double mean, double sd)
{
    return hfi_link_value((hfi_link){q->link, lambda}, mean, sd);
}

static void link_slopes(const hfi_quantity *q, double lambda, double mean, double sd, double *of_mean,
                        double *of_sd)
{
    hfi_link_slopes((hfi_link){q->link, lambda}, mean, sd, of_mean, of_sd);
}

static void link_enclose(const hfi_quantity *q, double lambda, const hfi_moments_box *in, double *lower,
                         double *upper)
{
    const hfi_link link = {q->link, lambda};
    *lower = hfi_link_least(link, in->mean_low, in->sd_low, in->sd_high);
    *upper = 1.0 - hfi_link_least(link, -in->mean_high, in->sd_low, in->sd_high);
}

/* A probability moves by less than half of what mean and sd in units of the link do. */
static double link_rounding(const hfi_quantity *q, double lambda, double of_mean, double of_sd)
{
    (void)q;
    return 0.5 * lambda * (of_mean + of_sd) + HFI_LINK_ERROR;
}

static hfi_interval link_exact(const hfi_quantity *q, double lambda, hfi_interval mean, hfi_interval sd)
{
    const hfi_interval scale = hfi_interval_point(lambda);
    return hfi_rigorous_probability(q->link, hfi_interval_multiply(scale, mean),
                                    hfi_interval_multiply(scale, sd));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

#define LINEAR                                                                                               \
    .functions = &hfi_problem_of_moments, .proof = &hfi_problem_rigorous, .scaled = true,                    \
    .value = linear_value, .slopes = linear_slopes, .enclose = linear_enclose, .rounding = linear_rounding,  \
    .exact = linear_exact, .most = (double)INFINITY
#define LINK                                                                                                 \
    .functions = &hfi_problem_of_moments, .proof = &hfi_problem_rigorous, .mean = true, .sd = true,          \
    .value = link_value, .slopes = link_slopes, .enclose = link_enclose, .rounding = link_rounding,          \
    .exact = link_exact, .least = 0.0, .most = 1.0
#define CLASSES .functions = &hfi_problem_of_classes, .mean = true, .sd = true, .of_class = true

const hfi_quantity
    hfi_quantity_mean = {LINEAR,
                         .name = "mean",
                         .mean = true,
                         .shifted = true,
                         .least = -(double)INFINITY,
                         .bound = hfi_bound_mean},
    hfi_quantity_sd = {LINEAR, .name = "sd", .sd = true, .least = 0.0, .bound = hfi_bound_sd},
    hfi_quantity_mean_plus = {LINEAR,          .name = "mean-plus",        .mean = true,           .sd = true,
                              .shifted = true, .least = -(double)INFINITY, .bound = hfi_bound_both},
    hfi_quantity_probit = {LINK, .name = "probit", .link = HF_LINK_PROBIT, .bound = hfi_bound_probit},
    hfi_quantity_logit = {LINK, .name = "logit", .link = HF_LINK_LOGIT, .bound = hfi_bound_logit},
    hfi_quantity_softmax = {CLASSES, .name = "softmax", .least = 0.0, .most = 1.0},
    hfi_quantity_margin = {CLASSES, .name = "margin", .of_margin = true, .least = -(double)INFINITY,
                           .most = (double)INFINITY},
    hfi_quantity_loss = {CLASSES, .name = "loss", .of_loss = true, .least = 0.0, .most = (double)INFINITY};

const hfi_quantity *hfi_quantity_of(hf_certify_what what)
{
    static const hfi_quantity *const rows[] = {[HF_CERTIFY_MEAN] = &hfi_quantity_mean,
                                               [HF_CERTIFY_SD] = &hfi_quantity_sd,
                                               [HF_CERTIFY_MEAN_PLUS] = &hfi_quantity_mean_plus};
    return (unsigned)what <= (unsigned)HF_CERTIFY_MEAN_PLUS ? rows[what] : NULL;
}
