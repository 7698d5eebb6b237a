/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A value far below the median of an objective says little about where it is largest, and much about the
 * scale of everything else. The warp draws it nearer and leaves the upper half as it is:
 *
 *     z = y                                      y >= knee
 *     z = knee - scale log1p((knee - y) / scale)   y < knee
 *
 * It is increasing with a continuous slope, so that the best place stays the best place.
 */
#include "study/study.h"

#include <math.h>

hfi_warp hfi_warp_none(void)
{
    return (hfi_warp){.knee = 0.0, .scale = INFINITY};
}

hfi_warp hfi_warp_of(size_t n, double *y)
{
    if (n < 4) return hfi_warp_none();
    const double median = hfi_quantile(y, n, 0.5);
    const double scale = 2.0 * (hfi_quantile(y, n, 0.75) - median);
    if (!(scale > 0.0)) return hfi_warp_none();
    return (hfi_warp){.knee = median, .scale = scale};
}

double hfi_warp_to(const hfi_warp *warp, double y)
{
    if (!(y < warp->knee) || isinf(warp->scale)) return y;
    return warp->knee - warp->scale * log1p((warp->knee - y) / warp->scale);
}

double hfi_warp_from(const hfi_warp *warp, double z)
{
    if (!(z < warp->knee) || isinf(warp->scale)) return z;
    return warp->knee - warp->scale * expm1((warp->knee - z) / warp->scale);
}

double hfi_warp_slope(const hfi_warp *warp, double y)
{
    if (!(y < warp->knee) || isinf(warp->scale)) return 1.0;
    return 1.0 / (1.0 + (warp->knee - y) / warp->scale);
}

double hfi_study_outward(const hf_study *study, size_t outcome, double z)
{
    return hfi_study_sign(study, outcome) * hfi_warp_from(&study->surrogate[outcome].next.warp, z);
}
