/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file influence.h
 * @brief How far one reading moves a posterior: the parts that belong to one kind of solver.
 */
#ifndef HFI_INFLUENCE_H
#define HFI_INFLUENCE_H

#include "posterior/posterior.h"

/** x - log(1 + x) >= 0 for x >= -1, without cancellation. */
double hfi_influence_excess(double x);
/** KL(p || q) for p = the cavity N(c, v) times the site (r, d), and q = the same with (s, e); e
 * infinite: without a site. */
double hfi_influence_divergence(double c, double v, double r, double d, double s, double e);
/** HF_ERR_ARGUMENT unless the variance is positive (infinite counts), HF_ERR_NOT_FINITE unless the
 * target is finite or not
 * looked at. The message says "the <which> site's ...". */
hf_status hfi_check_site(hf_context *ctx, const char *which, double target, double variance);
/** A site of row z (solver's units) becomes one in the solver's units: its target less the prior
 * mean, and its variance. */
void hfi_site_to_solver(const hf_posterior *p, const double *z, double *target, double *variance);
/** hf_influence() of a projected solution with readings as anchors: site j gets this residual and
 * variance (solver's units),
 * infinity takes its row out of the actions. O(n rank^2 + rank^3 + n^2 d), n rank doubles. */
hf_status hfi_influence_projected(hf_context *ctx, const hf_posterior *p, size_t j, double residual,
                                  double variance, double *kl);

#endif
