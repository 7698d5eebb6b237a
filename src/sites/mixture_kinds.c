/* SPDX-License-Identifier: Apache-2.0 */
/* Mixtures of residuals. The prune mixture: outliers are far out, on both sides or on one; and what such a
 * part gains in likelihood.
 */
#include "sites/mixture.h"
#include "sites/sites.h"

#include <math.h>

enum {
    STEPS = 25,
    WINDOWS = 13, /* a = 3 scale 1.5^k */
    SIDES = 3,
    FROM_NU_2 = 2, /* index of nu = 2: heavier inlier tails would leave nothing to prune */
    FROM_NU_1 = 0
};

/* A part that is narrower than this many scales is a coincidence between the largest residual and the grid of
 * windows; its density would grow without bound. */
static const double NARROWEST = 1.0;

/* The window |t| >= a on the left (side 1), the right (side 2) or both (side 0). False when it holds no
 * residual or more than half of them. */
static bool open_window(const hfi_residuals *residuals, double a, int side, bool log_uniform, hfi_window *out)
{
    size_t n = residuals->n;
    hfi_window w = {.left = side != 2,
                    .right = side != 1,
                    .log_uniform = log_uniform,
                    .from = a,
                    .left_end = 0,
                    .right_begin = n};
    while (w.left && w.left_end < n && residuals->t[w.left_end] <= -a) w.left_end++;
    while (w.right && w.right_begin > 0 && residuals->t[w.right_begin - 1] >= a) w.right_begin--;
    size_t inside = w.left_end + (n - w.right_begin);
    if (inside == 0 || 2 * inside > n) return false;
    double width = fmax(residuals->largest - a, NARROWEST);
    if (log_uniform) width = log1p(width / a);
    w.density = 1.0 / (side == 0 ? 2.0 * width : width);
    *out = w;
    return true;
}

/* Replaces `best` by the best of the mixtures with windows from a on, if that is better. */
static void try_windows(const hfi_residuals *residuals, double a, bool log_uniform, size_t first_nu,
                        hfi_mixture *best)
{
    for (int side = 0; side < SIDES; side++) {
        hfi_window window;
        if (!open_window(residuals, a, side, log_uniform, &window)) continue;
        double share = (double)(window.left_end + (residuals->n - window.right_begin)) / (double)residuals->n;
        for (size_t nu = first_nu; nu < HFI_NU_COUNT; nu++) {
            hfi_mixture fit = hfi_mixture_fit(residuals, nu, &window, share, STEPS);
            if (fit.log_likelihood > best->log_likelihood) *best = fit;
        }
    }
}

/* The best mixture over windows, uniform ones or also those uniform in log |t|, and degrees of freedom from
 * `first_nu` on; without a window the best T_nu. */
static hfi_mixture best_mixture(const hfi_residuals *residuals, size_t first_nu, bool log_uniform_too)
{
    hfi_mixture best = {.log_likelihood = -INFINITY};
    for (int k = 0; k < WINDOWS; k++) {
        double a = 3.0 * pow(1.5, k);
        if (a > residuals->largest) break;
        try_windows(residuals, a, false, first_nu, &best);
        if (log_uniform_too) try_windows(residuals, a, true, first_nu, &best);
    }
    if (best.log_likelihood > -INFINITY) return best;
    for (size_t nu = first_nu; nu < HFI_NU_COUNT; nu++) {
        hfi_mixture fit = hfi_mixture_inliers(residuals, nu);
        if (nu == first_nu || fit.log_likelihood > best.log_likelihood) best = fit;
    }
    return best;
}

hf_status hfi_mixture_prune(hf_context *ctx, size_t n, const double *t, const bool *skip, double *probability,
                            double *tau)
{
    hfi_residuals residuals = {0};
    hf_status status = hfi_residuals_create(ctx, n, t, skip, false, &residuals);
    if (status < 0) return status;
    hfi_mixture best = best_mixture(&residuals, FROM_NU_2, false);
    hfi_mixture_report(&residuals, &best, n, t, skip, probability, tau);
    hfi_residuals_free(ctx, &residuals);
    return HF_OK;
}

hf_status hfi_mixture_gain(hf_context *ctx, size_t n, const double *t, const bool *skip, double *gain)
{
    hfi_residuals residuals = {0};
    hf_status status = hfi_residuals_create(ctx, n, t, skip, true, &residuals);
    if (status < 0) return status;
    double with = best_mixture(&residuals, FROM_NU_1, true).log_likelihood, without = -INFINITY;
    for (size_t nu = 0; nu < HFI_NU_COUNT; nu++)
        without = fmax(without, hfi_mixture_inliers(&residuals, nu).log_likelihood);
    *gain = fmax(0.0, with - without);
    hfi_residuals_free(ctx, &residuals);
    return HF_OK;
}

/* ---- the liberal mixture ----------------------------------------------------------------------------- */

enum {
    LIBERAL_STEPS = 40
};

static const double STARTS[] = {0.005, 0.1};

/* An outlier part narrower than this many scales would compete with the inliers for the middle. */
static const double LIBERAL_WIDTH = 4.0;

hf_status hfi_mixture_liberal(hf_context *ctx, size_t n, const double *t, const bool *skip,
                              double *probability, double *tau)
{
    hfi_residuals residuals = {0};
    hf_status status = hfi_residuals_create(ctx, n, t, skip, false, &residuals);
    if (status < 0) return status;
    hfi_mixture best = hfi_mixture_inliers(&residuals, HFI_NU_COUNT - 1);
    size_t m = residuals.n;
    if (m > 0) {
        double range = fmax(residuals.t[m - 1] - residuals.t[0], LIBERAL_WIDTH);
        hfi_window window = {
            .left = true, .right = true, .density = 1.0 / range, .left_end = m, .right_begin = m};
        best.log_likelihood = -INFINITY;
        for (size_t nu = 0; nu < HFI_NU_COUNT; nu++) {
            for (size_t start = 0; start < sizeof STARTS / sizeof STARTS[0]; start++) {
                hfi_mixture fit = hfi_mixture_fit(&residuals, nu, &window, STARTS[start], LIBERAL_STEPS);
                if (fit.log_likelihood > best.log_likelihood) best = fit;
            }
        }
    }
    hfi_mixture_report(&residuals, &best, n, t, skip, probability, tau);
    hfi_residuals_free(ctx, &residuals);
    return HF_OK;
}
