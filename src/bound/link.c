/* SPDX-License-Identifier: Apache-2.0 */
#include "bound/link.h"

#include <holdfast/classify.h>
#include <math.h>

static const double density_at_0 = 0.39894228040143267794; /* 1 / sqrt(2 pi) */
/* Largest |link''|: phi(1) of the normal distribution function, 1 / (6 sqrt 3) of the logistic one; both rounded up. */
static const double probit_curvature = 0.2419708, logit_curvature = 0.0962251;
static const double step =
    1e-3; /* of the logit's differences: they err by step^2 / 6 times third derivatives of at most 0.2 */

/* Latent values are in units of the link here. */
static double compute_link_probability(hf_link link, double q, double s)
{
    double probability = (double)NAN;
    (void)hf_class_probability(link, q, s * s, &probability, NULL);
    return probability;
}

double hfi_link_value(hfi_link link, double q, double s)
{
    return compute_link_probability(link.link, link.lambda * q, link.lambda * s);
}

void hfi_link_slopes(hfi_link link, double q, double s, double *of_q, double *of_s)
{
    const double u = link.lambda * q, v = link.lambda * s;
    if (link.link == HF_LINK_PROBIT) {
        const double length = sqrt(1.0 + v * v), r = u / length, density = density_at_0 * exp(-0.5 * r * r);
        *of_q = density / length;
        *of_s = -density * r * v / (length * length);
    } else {
        /* P is even in s, so that a step across 0 is one too. */
        *of_q = (compute_link_probability(link.link, u + step, v) -
                 compute_link_probability(link.link, u - step, v)) /
                (2.0 * step);
        *of_s = (compute_link_probability(link.link, u, v + step) -
                 compute_link_probability(link.link, u, fabs(v - step))) /
                (2.0 * step);
    }
    *of_q *= link.lambda;
    *of_s *= link.lambda;
}

double hfi_link_least(hfi_link link, double q_low, double s_low, double s_high)
{
    if (!(link.lambda * q_low >= -1e300)) return 0.0;
    const double s = q_low > 0.0 ? s_high : s_low;
    if (!(link.lambda * s <= 1e150)) return 0.0;
    return fmax(0.0, hfi_link_value(link, q_low, s) - HFI_LINK_ERROR);
}

double hfi_link_curvature(hfi_link link, double dq, double ds)
{
    const double curvature = link.link == HF_LINK_PROBIT ? probit_curvature : logit_curvature;
    const double mean_of_z = 0.7978846; /* E|z|, rounded up; E z^2 = 1 */
    dq *= link.lambda;
    ds *= link.lambda;
    return curvature * (0.5 * dq * dq + mean_of_z * dq * ds + 0.5 * ds * ds) +
           HFI_LINK_SLOPE_ERROR * (dq + ds) + HFI_LINK_ERROR;
}
