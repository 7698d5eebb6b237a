/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_choose.h"
#include "common/env_control.h"
#include "common/room.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FOLDS = 5
};

/* Sum of squared errors over the folds; NaN when a fit fails. */
static double fold_error(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                         double lengthscale, double added)
{
    double *kept = room(n * d, sizeof(double)), *read = room(n, sizeof(double)),
           *mean = room(n, sizeof(double)), sum = 0.0;
    for (size_t f = 0; f < FOLDS; ++f) {
        const size_t from = f * n / FOLDS, to = (f + 1) * n / FOLDS, count = n - (to - from);
        memcpy(kept, x, from * d * sizeof *kept);
        memcpy(kept + from * d, x + to * d, (n - to) * d * sizeof *kept);
        memcpy(read, y, from * sizeof *read);
        memcpy(read + from, y + to, (n - to) * sizeof *read);
        hf_posterior *fit = control_fit(ctx, count, d, kept, read, lengthscale, added);
        const bool good = fit && hf_predict(ctx, fit, to - from, x + from * d, d, mean, NULL, NULL) >= 0;
        if (!good) sum = NAN;
        for (size_t i = from; good && i < to; ++i) sum += (mean[i - from] - y[i]) * (mean[i - from] - y[i]);
        hf_posterior_free(fit);
    }
    free(kept);
    free(read);
    free(mean);
    return sum;
}

double env_choose_lengthscale(hf_context *ctx, size_t n, size_t d, const double *x, const double *y,
                              double added)
{
    double best = NAN, least = INFINITY;
    for (int i = 20; i <= 50; ++i) {
        const double error = fold_error(ctx, n, d, x, y, 0.1 * i, added);
        if (error < least) {
            least = error;
            best = 0.1 * i;
        }
    }
    return best;
}

double env_ask_norm(hf_context *ctx, size_t n, size_t d, const double *x, const double *y, double lengthscale,
                    double added)
{
    double *mean = room(n, sizeof(double)), sum = 0.0;
    hf_posterior *fit = control_fit(ctx, n, d, x, y, lengthscale, added);
    const bool good = fit && hf_predict(ctx, fit, n, x, d, mean, NULL, NULL) >= 0;
    if (!good) sum = NAN;
    /* The residuals of a posterior are `added` times what (K + added I)^-1 makes of y. */
    for (size_t i = 0; good && i < n; ++i) sum += y[i] * (y[i] - mean[i]) / added;
    hf_posterior_free(fit);
    free(mean);
    return sqrt(sum);
}
