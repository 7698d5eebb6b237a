/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mixture.h
 * @brief Mixtures of a Student-t (inliers) and a uniform density (outliers) for standardised
 * residuals; what the liberal, the prune and the gain computations share.
 *
 * The inlier density is T_nu(0, tau), so that heavy-tailed but honest residuals need no outlier
 * part. The outlier density lives on a window at the ends of the residuals' range.
 */
#ifndef HFI_SITES_MIXTURE_H
#define HFI_SITES_MIXTURE_H

#include "core/core.h"

enum {
    HFI_NU_COUNT = 7 /* degrees of freedom tried: 1, 1.5, 2, 3, 5, 10, 30 */
};

/** The residuals in use, sorted, in units of their scale. */
typedef struct hfi_residuals {
    size_t n;        /* 0: too few to say anything; then every mixture is "no outliers" */
    double *t;       /* ascending */
    double scale;    /* 1.4826 x median |t|, > 0; the unit of everything else here */
    double largest;  /* max |t| */
    double furthest; /* what is further out is an outlier without being asked */
} hfi_residuals;

/** Gathers the residuals that are not skipped. Those beyond `furthest` are left out, or, with
 * keep_far, counted
 *  as that far out. HF_ERR_NOT_FINITE on NaN. Release with hfi_residuals_free. */
hf_status hfi_residuals_create(hf_context *ctx, size_t n, const double *t, const bool *skip,
                               bool keep_far, hfi_residuals *out);
void hfi_residuals_free(hf_context *ctx, hfi_residuals *residuals);

/** Where outliers may be: |t| >= from, on the sides that are open; there with `density`, or density
 * / |t|. */
typedef struct hfi_window {
    bool left, right;
    /* log |t| is uniform, so that a single residual far out leaves room for those nearer */
    bool log_uniform;
    double from;
    double density;
    size_t left_end;    /* sorted residuals [0, left_end) are inside on the left */
    size_t right_begin; /* and [right_begin, n) on the right */
} hfi_window;

/** A fitted mixture. pi = 0: no outlier part. */
typedef struct hfi_mixture {
    size_t nu;   /* index of the degrees of freedom */
    double peak; /* density of T_nu(0, 1) at 0 */
    double pi;
    double tau; /* in units of the residuals' scale, as is the window */
    hfi_window window;
    double log_likelihood;
} hfi_mixture;

/** Fits T_nu alone by maximum likelihood (nu by index). */
hfi_mixture hfi_mixture_inliers(const hfi_residuals *residuals, size_t nu);

/** At most `steps` EM steps for (pi, tau) from (pi, 1). */
hfi_mixture hfi_mixture_fit(const hfi_residuals *residuals, size_t nu, const hfi_window *window,
                            double pi, int steps);

/** Posterior probability that a residual t (not necessarily one of the fitted ones) is an
 * outlier. */
double hfi_mixture_probability(const hfi_residuals *residuals, const hfi_mixture *mixture,
                               double t);

/** Fills probability (1 where skipped) and tau from a fitted mixture. */
void hfi_mixture_report(const hfi_residuals *residuals, const hfi_mixture *mixture, size_t n,
                        const double *t, const bool *skip, double *probability, double *tau);

#endif
