/* SPDX-License-Identifier: Apache-2.0 */
/* One column: the h of n sorted values of least variance stand side by side, so that every window can be
 * tried (Rousseeuw and Leroy, "Robust Regression and Outlier Detection", chapter 4). */
#include "sites/mcd.h"

#include <math.h>

void hfi_mcd_window(size_t n, const double *u, size_t h, bool *chosen)
{
    const double anchor = u[n - h]; /* in every window, because 2 h > n */
    double least_range = INFINITY, best = INFINITY;
    long double sum = 0.0L, squares = 0.0L;
    size_t begin = 0, from = n; /* `from`: the first window of the run whose sums are held; n: none */
    for (size_t s = 0; s + h <= n; s++) least_range = fmin(least_range, u[s + h - 1] - u[s]);
    /* Squared deviations add up to at least half the squared range and at most h/4 times it: wider windows
     * than this cannot win, and are not let into the sums, which a far value would spoil. */
    const double widest = least_range * sqrt(0.5 * (double)h) * (1.0 + 1e-9);
    for (size_t s = 0; s + h <= n; s++) {
        if (u[s + h - 1] - u[s] > widest) {
            from = n;
            continue;
        }
        if (from == n) {
            from = s;
            sum = squares = 0.0L;
            for (size_t i = s; i < s + h; i++) {
                const long double d = (long double)u[i] - anchor;
                sum += d;
                squares += d * d;
            }
        } else {
            const long double in = (long double)u[s + h - 1] - anchor, out = (long double)u[s - 1] - anchor;
            sum += in - out;
            squares += (in - out) * (in + out);
        }
        const double scatter = (double)(squares - sum * sum / (long double)h);
        if (scatter < best) {
            best = scatter;
            begin = s;
        }
    }
    for (size_t i = 0; i < n; i++) chosen[i] = i >= begin && i < begin + h;
}
