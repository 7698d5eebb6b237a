/* SPDX-License-Identifier: Apache-2.0 */
/* The liberal mixture: an outlier may be anywhere in the range of the residuals. */
#include "sites/mixture.h"
#include "sites/sites.h"

#include <math.h>

enum {
    STEPS = 40
};

static const double STARTS[] = {0.005, 0.1};

/* An outlier part narrower than this many scales would compete with the inliers for the middle. */
static const double NARROWEST = 4.0;

hf_status hfi_mixture_liberal(hf_context *ctx, size_t n, const double *t, const bool *skip,
                              double *probability, double *tau)
{
    hfi_residuals residuals = {0};
    hf_status status = hfi_residuals_create(ctx, n, t, skip, false, &residuals);
    if (status < 0) return status;
    hfi_mixture best = hfi_mixture_inliers(&residuals, HFI_NU_COUNT - 1);
    size_t m = residuals.n;
    if (m > 0) {
        double range = fmax(residuals.t[m - 1] - residuals.t[0], NARROWEST);
        hfi_window window = {
            .left = true, .right = true, .density = 1.0 / range, .left_end = m, .right_begin = m};
        best.log_likelihood = -INFINITY;
        for (size_t nu = 0; nu < HFI_NU_COUNT; nu++) {
            for (size_t start = 0; start < sizeof STARTS / sizeof STARTS[0]; start++) {
                hfi_mixture fit = hfi_mixture_fit(&residuals, nu, &window, STARTS[start], STEPS);
                if (fit.log_likelihood > best.log_likelihood) best = fit;
            }
        }
    }
    hfi_mixture_report(&residuals, &best, n, t, skip, probability, tau);
    hfi_residuals_free(ctx, &residuals);
    return HF_OK;
}
