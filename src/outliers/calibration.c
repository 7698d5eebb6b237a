/* SPDX-License-Identifier: Apache-2.0 */
/* How much wider than the model says the intervals ought to be, from leave-one-out residuals. */
#include "outliers/outliers.h"
#include <math.h>

/* Among the suspects there may be a few legitimate extremes. Leaving all of them out would make the intervals
 * look better than they are; counting them at face value would let one wrong reading widen everything. So
 * only the mildest count, at most this share of all readings. They lie within this reach of the furthest kept one, and
 * count as no further out than this multiple of it. */
static const double BORDERLINE_SHARE = 0.02, BORDERLINE_REACH = 3.0, BORDERLINE_MOST = 1.5;
/* And at most so many: how many of n readings lie beyond the furthest of the others does not grow with n. */
enum {
    BORDERLINE_COUNT = 20
};

/* |t| of the kept readings into `size`, their number, and the largest. */
static size_t gather_kept(size_t n, const double *t, const bool *kept, double *size, double *largest)
{
    size_t count = 0;
    *largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        if (!kept[i]) continue;
        size[count++] = fabs(t[i]);
        *largest = fmax(*largest, fabs(t[i]));
    }
    return count;
}

/* Appends the borderline suspects to the `count` entries of `size`; `scratch` has n entries. Members of a
 * group are not borderline. */
static size_t append_borderline(size_t n, const double *t, const bool *kept, const size_t *group,
                                double largest, double *size, size_t count, double *scratch)
{
    size_t mild = 0;
    for (size_t i = 0; i < n; i++)
        if (!kept[i] && group[i] == 0 && fabs(t[i]) < BORDERLINE_REACH * largest)
            scratch[mild++] = fabs(t[i]);
    if (mild > 0) hfi_quantile(scratch, mild, 0.0); /* sorts them: the mildest first */
    const size_t most = (size_t)fmin(ceil(BORDERLINE_SHARE * (double)n), BORDERLINE_COUNT);
    for (size_t k = 0; k < mild && k < most; k++) size[count++] = fmin(scratch[k], BORDERLINE_MOST * largest);
    return count;
}

hf_status hfi_calibration(hf_context *ctx, size_t n, const double *t, const bool *kept, const size_t *group,
                          size_t trained, double *kappa)
{
    double *size = hfi_alloc(ctx, n, 2 * sizeof *size);
    if (!size) return HF_ERR_MEMORY;
    double largest = 0.0, squares = 0.0;
    size_t count = gather_kept(n, t, kept, size, &largest);
    count = append_borderline(n, t, kept, group, largest, size, count, size + n);
    for (size_t k = 0; k < count; k++) squares += size[k] * size[k];
    *kappa = 1.0;
    if (count >= 5) {
        /* One more reading is beyond the k-th largest of m with probability k / (m + 1). */
        const double m1 = (double)count - 1.0, place = fmin(1.0, (0.95 * (m1 + 2.0) - 1.0) / m1);
        const double tail = hfi_quantile(size, count, place) / 1.959963984540054;
        /* Leave-one-out leaves out the reading but not its vote on the hyperparameters: each of those takes a
         * degree of freedom. */
        const double m = (double)count, free = fmax(m - (double)trained, 0.5 * m);
        *kappa = fmax(1.0, fmax(squares / m, tail * tail) * m / free);
    }
    hfi_free(ctx, size);
    return HF_OK;
}
