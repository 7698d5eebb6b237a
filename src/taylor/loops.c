/* SPDX-License-Identifier: Apache-2.0 */
/* Distances and radial functions over all anchors. */
#include "taylor/loops.h"

#include "kernel/vector.h"

HFI_CLONES
void hfi_radial_distance(size_t count, size_t d, const double *x, const double *z, size_t ldz, double *q)
{
    for (size_t i = 0; i < count; i++) q[i] = 0.0;
    size_t j = 0;
    for (; j + 2 <= d; j += 2) {
        const double *restrict z0 = z + j * ldz, *restrict z1 = z0 + ldz;
        const double x0 = x[j], x1 = x[j + 1];
        double *restrict out = q;
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double u = x0 - z0[i], v = x1 - z1[i];
            out[i] += u * u + v * v;
        }
    }
    for (; j < d; j++) {
        const double *restrict z0 = z + j * ldz;
        const double x0 = x[j];
        double *restrict out = q;
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double u = x0 - z0[i];
            out[i] += u * u;
        }
    }
}

/* log(1 + y), y >= 0, to full relative accuracy. */
HFI_INLINE double log_one_plus(double y)
{
    const double u = 1.0 + y;
    return log(u) + (y - (u - 1.0)) / u;
}

HFI_CLONES
void hfi_radial_values(hfi_form form, double alpha, size_t count, const double *restrict q,
                       const double *restrict a, double *restrict value)
{
    switch (form) {
    case HFI_FORM_MATERN12:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) value[i] = a[i] * decay(sqrt(q[i]));
        break;
    case HFI_FORM_MATERN32:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(3.0 * q[i]), s = CUT(root, HFI_EXP_CUT);
            value[i] = a[i] * (1.0 + s) * decay(root);
        }
        break;
    case HFI_FORM_MATERN52:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(5.0 * q[i]), s = CUT(root, HFI_EXP_CUT);
            value[i] = a[i] * (1.0 + s * (1.0 + s * (1.0 / 3.0))) * decay(root);
        }
        break;
    case HFI_FORM_RQ:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double y = q[i] / (2.0 * alpha);
            value[i] = a[i] * decay(alpha * log_one_plus(CUT(y, HFI_HUGE)));
        }
        break;
    default: /* se */
        HFI_SIMD
        for (size_t i = 0; i < count; i++) value[i] = a[i] * decay(0.5 * q[i]);
        break;
    }
}

HFI_CLONES
void hfi_radial_weights(hfi_form form, double alpha, size_t count, const double *restrict q,
                        const double *restrict a, double *restrict value, double *restrict slope,
                        double *restrict curve)
{
    switch (form) {
    case HFI_FORM_MATERN12:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            value[i] = a[i] * decay(sqrt(q[i]));
            slope[i] = 0.0;
            curve[i] = 0.0;
        }
        break;
    case HFI_FORM_MATERN32:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(3.0 * q[i]), s = CUT(root, HFI_EXP_CUT), e = a[i] * decay(root);
            value[i] = (1.0 + s) * e;
            slope[i] = -3.0 * e;
            curve[i] = 0.0;
        }
        break;
    case HFI_FORM_MATERN52:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double root = sqrt(5.0 * q[i]), s = CUT(root, HFI_EXP_CUT), e = a[i] * decay(root);
            value[i] = (1.0 + s * (1.0 + s * (1.0 / 3.0))) * e;
            slope[i] = (-5.0 / 3.0) * (1.0 + s) * e;
            curve[i] = (25.0 / 3.0) * e;
        }
        break;
    case HFI_FORM_RQ:
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double raw = q[i] / (2.0 * alpha), y = CUT(raw, HFI_HUGE);
            const double k = a[i] * decay(alpha * log_one_plus(y)), by = k / (1.0 + y);
            value[i] = k;
            slope[i] = -by;
            curve[i] = (alpha + 1.0) / alpha * by / (1.0 + y);
        }
        break;
    default: /* se */
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double k = a[i] * decay(0.5 * q[i]);
            value[i] = k;
            slope[i] = -k;
            curve[i] = k;
        }
        break;
    }
}

HFI_CLONES
void hfi_radial_third_weights(hfi_form form, size_t count, const double *restrict q, const double *restrict a,
                              double *restrict curve, double *restrict third)
{
    if (form == HFI_FORM_SE) {
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double k = a[i] * decay(0.5 * q[i]);
            curve[i] = k;
            third[i] = -k;
        }
        return;
    }
    /* matern52: what is multiplied by third is no more than the third power of the argument */
    HFI_SIMD
    for (size_t i = 0; i < count; i++) {
        const double s = sqrt(5.0 * q[i]), k = (25.0 / 3.0) * a[i] * decay(s);
        curve[i] = k;
        third[i] = -5.0 * k / (s > 1e-90 ? s : 1e-90);
    }
}

/* Along v, |v| = 1, with p = u'v, c = (p / r)^2 and s the argument of matern's exponential, the fourth derivatives are
 *
 *     se          exp(-q / 2) (p^4 - 6 p^2 + 3),                      p^2 <= q
 *     matern52    25 exp(-s) (1 - 2 s c + s (s + 1) c^2 / 3),         c <= 1
 *
 * quadratic in p^2 and c: largest at an end, or in between where c = 3 / (s + 1). As functions of the
 * distance their sizes fall but for a wave or two, whose crests fill the troughs before them. */
HFI_CLONES
void hfi_radial_fourth(hfi_form form, size_t count, const double *restrict q, double *restrict size)
{
    if (form == HFI_FORM_SE) {
        HFI_SIMD
        for (size_t i = 0; i < count; i++) {
            const double x = q[i], end = fabs(x * (x - 6.0) + 3.0), inside = x < 3.0 ? 3.0 : 6.0;
            const double own = decay(0.5 * x) * (end > inside ? end : inside);
            const double crest = x < 1.838 ? 1.8561 : x < 3.0 ? 1.3388 : x < 8.163 ? 0.34893 : 0.0;
            size[i] = own > crest ? own : crest;
        }
        return;
    }
    HFI_SIMD
    for (size_t i = 0; i < count; i++) {
        const double root = sqrt(5.0 * q[i]), s = CUT(root, HFI_EXP_CUT);
        const double end = fabs(1.0 + s * (s - 5.0) * (1.0 / 3.0)), inside = (2.0 * s - 1.0) / (s + 1.0);
        const double most = end > inside ? end : inside;
        const double own = decay(root) * (most > 1.0 ? most : 1.0), crest = s < 5.562 ? 0.00786 : 0.0;
        size[i] = 25.0 * (own > crest ? own : crest);
    }
}

/* g := y_i'y_j, then w_j times the series, twice that below the diagonal and nothing above it. */
HFI_INLINE void pair_lanes(size_t j, size_t i, size_t axes, size_t ld, const double *restrict y,
                           const double *restrict w, size_t degrees, const double *restrict weight,
                           double *restrict out)
{
    double g[HFI_PAIR_LANES] = {0.0};
    for (size_t a = 0; a < axes; a++) {
        const double own = y[i + a * ld], *restrict column = y + a * ld + j;
        HFI_SIMD
        for (size_t l = 0; l < HFI_PAIR_LANES; l++) g[l] += own * column[l];
    }
    HFI_SIMD
    for (size_t l = 0; l < HFI_PAIR_LANES; l++) out[l] = weight[degrees - 1];
    for (size_t k = degrees - 1; k-- > 0;) {
        const double next = weight[k];
        HFI_SIMD
        for (size_t l = 0; l < HFI_PAIR_LANES; l++) out[l] = out[l] * g[l] + next;
    }
    HFI_SIMD
    for (size_t l = 0; l < HFI_PAIR_LANES; l++)
        out[l] *= g[l] * g[l] * g[l] * w[j + l] * (j + l < i ? 2.0 : j + l == i ? 1.0 : 0.0);
}

HFI_CLONES
void hfi_pair_sums(size_t count, size_t axes, size_t ld, const double *restrict y, const double *restrict w,
                   size_t degrees, const double *restrict weight, double *restrict matrix)
{
    double lanes[HFI_SHARP_INPUTS * HFI_PAIR_LANES] = {0.0}, pair[HFI_PAIR_LANES], sums[HFI_SHARP_INPUTS];
    for (size_t k = 0; k < axes * axes; k++) matrix[k] = 0.0;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < axes * HFI_PAIR_LANES; k++) lanes[k] = 0.0;
        for (size_t j = 0; j <= i; j += HFI_PAIR_LANES) {
            pair_lanes(j, i, axes, ld, y, w, degrees, weight, pair);
            for (size_t a = 0; a < axes; a++) {
                const double *restrict column = y + a * ld + j;
                double *restrict to = lanes + a * HFI_PAIR_LANES;
                HFI_SIMD
                for (size_t l = 0; l < HFI_PAIR_LANES; l++) to[l] += pair[l] * column[l];
            }
        }
        for (size_t a = 0; a < axes; a++) {
            sums[a] = 0.0;
            for (size_t l = 0; l < HFI_PAIR_LANES; l++) sums[a] += lanes[a * HFI_PAIR_LANES + l];
        }
        for (size_t a = 0; a < axes; a++)
            for (size_t b = 0; b < axes; b++) matrix[a * axes + b] += w[i] * y[i + a * ld] * sums[b];
    }
    for (size_t a = 0; a < axes; a++)
        for (size_t b = 0; b < a; b++) {
            const double mean = 0.5 * (matrix[a * axes + b] + matrix[b * axes + a]);
            matrix[a * axes + b] = matrix[b * axes + a] = mean;
        }
}

HFI_CLONES
void hfi_triple_sums(size_t n, size_t axes, size_t ld, const double *restrict y, const double *restrict w,
                     double *restrict product, double *restrict sums)
{
    size_t at = 0;
    for (size_t a = 0; a < axes; a++)
        for (size_t b = a; b < axes; b++) {
            const double *restrict ya = y + a * ld, *restrict yb = y + b * ld;
            HFI_SIMD
            for (size_t i = 0; i < n; i++) product[i] = w[i] * ya[i] * yb[i];
            size_t c = b;
            for (; c + 4 <= axes; c += 4) {
                const double *restrict y0 = y + c * ld, *restrict y1 = y0 + ld, *restrict y2 = y1 + ld,
                                       *restrict y3 = y2 + ld;
                double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
                HFI_SIMD_SUM(s0, s1, s2, s3)
                for (size_t i = 0; i < n; i++) {
                    s0 += product[i] * y0[i];
                    s1 += product[i] * y1[i];
                    s2 += product[i] * y2[i];
                    s3 += product[i] * y3[i];
                }
                sums[at++] = s0;
                sums[at++] = s1;
                sums[at++] = s2;
                sums[at++] = s3;
            }
            for (; c < axes; c++) {
                const double *restrict yc = y + c * ld;
                double sum = 0.0;
                HFI_SIMD_SUM(sum)
                for (size_t i = 0; i < n; i++) sum += product[i] * yc[i];
                sums[at++] = sum;
            }
        }
}

HFI_CLONES
void hfi_cube_slices(size_t m, const double *restrict t, const double *restrict side, double *restrict out)
{
    double product[HFI_SHARP_INPUTS * HFI_SHARP_INPUTS];
    for (size_t b = 0; b < m; b++)
        for (size_t c = 0; c < m; c++) product[b * m + c] = side[b] * side[c];
    for (size_t a = 0; a < m; a++) {
        const double *restrict slice = t + a * m * m;
        double sum = 0.0;
        HFI_SIMD_SUM(sum)
        for (size_t k = 0; k < m * m; k++) sum += slice[k] * product[k];
        out[a] = side[a] * sum;
    }
}

double hfi_sum_anchors(size_t n, const double *value)
{
    double lane[8] = {0.0};
    size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (size_t k = 0; k < 8; k++) lane[k] += value[i + k];
    for (size_t k = 0; i + k < n; k++) lane[k] += value[i + k];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
}
