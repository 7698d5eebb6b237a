/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file latent_sites.h
 * @brief Iteration of site precisions and pulls to a fixed point: what expectation propagation and
 * the variational bound have in common.
 */
#ifndef HFI_INFERENCE_LATENT_SITES_H
#define HFI_INFERENCE_LATENT_SITES_H

#include "inference/latent.h"
#include "search/anderson.h"

typedef struct hfi_site_loop {
    hfi_latent_problem *p;
    /** Posterior and moments at the sites in place (w and pull). Sets what follows; `usable` false,
     * and nothing else, where the sites have no posterior. */
    hf_status (*measure)(struct hfi_site_loop *loop);
    bool ascends; /* the value must not fall from one point to the next */
    double step;  /* share of the way to the wanted sites that a step makes */
    bool usable;
    double value;
    /* largest distance to a wanted site, in units of the marginal posterior */
    double change;
    /* that of the point before; 0 at sites kept, else infinite to begin with */
    double before;
    double *wanted;               /* 2 n: precisions, then pulls */
    double *cavity;               /* 2 n: means, then variances; the method's own */
    double *numbers;              /* block that the arrays are cut from */
    double *at, *residual, *next; /* 2 n each: sites in units of their reading */
    double *unit; /* n: marginal variances to begin with, so that all numbers are of one size */
    hfi_anderson history;
} hfi_site_loop;

/** From the sites kept to a fixed point (p->converged) or as near as it goes; the posterior, the
 * moments and the value are those at the sites left in place. Without sites kept it starts from
 * Laplace's, which are near, or where log densities are not concave from those of re-weighted least
 * squares. HF_ERR_NOT_POSITIVE_DEFINITE: there is no posterior to report. */
hf_status hfi_site_loop_run(hfi_site_loop *loop);

#endif
