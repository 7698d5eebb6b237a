/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled twice, see block_real.h. */
#include "kernel/block_strip.h"

#define WIDE 8u /* axes in one pass */

/* Every loop over fast points is two: vectors, and the lanes of one, with a constant count that the compiler turns into one instruction of the widest
 * kind or a few of a narrower one. So nothing is left over at the end, sums over lanes stay in registers, and no digit depends on how wide
 * the processor is. */
#define LANES(l)                                                                                             \
    HFI_SIMD                                                                                                 \
    for (size_t l = 0; l < REAL_LANES; l++)

HFI_INLINE double sum_lanes(const real *lane)
{
    double sum = 0.0;
    for (size_t l = 0; l < REAL_LANES; l++) sum += (double)lane[l];
    return sum;
}

/* ---- distances ----------------------------------------------------------------------------------------- */

/* Coordinates of one slow point, `count` of them from `first`. */
HFI_INLINE void take_point(const hfi_strip *s, const real *point, size_t first, const size_t count, real *x)
{
    for (size_t a = 0; a < count; a++) x[a] = point[(first + a) * s->ldx];
}

/* from + sum of squared differences over an even number of axes; two sums, because one would be a long chain. */
HFI_INLINE real add_squares(const size_t count, const real *x, const real *z, real from)
{
    real even = from, odd = REAL(0.0);
    HFI_UNROLL
    for (size_t a = 0; a < count; a += 2) {
        const real u = x[a] - z[a * HFI_CHUNK_STRIDE], v = x[a + 1] - z[(a + 1) * HFI_CHUNK_STRIDE];
        even += u * u;
        odd += v * v;
    }
    return even + odd;
}

/* The first axes of a point that has more than one pass takes. */
static HFI_CLONES void add_axes(const hfi_strip *s, const real *point, size_t count)
{
    const real *from = s->zeros;
    real *out = s->partial, x[WIDE];
    for (size_t first = 0; first < count; first += WIDE) {
        const real *z = s->z + first * HFI_CHUNK_STRIDE;
        take_point(s, point, first, WIDE, x);
        for (size_t j = 0; j < s->width; j += REAL_LANES)
            LANES(l) out[j + l] = add_squares(WIDE, x, z + j + l, from[j + l]);
        from = out;
    }
}

/* All axes but the last `count`; returns where the sums are. */
HFI_INLINE const real *first_axes(const hfi_strip *s, const real *point, const size_t count)
{
    if (s->axes == count) return s->zeros;
    add_axes(s, point, s->axes - count);
    return s->partial;
}

HFI_INLINE void begin(const hfi_strip *s, const size_t count)
{
    const real *from = first_axes(s, s->x, count), *z = s->z + (s->axes - count) * HFI_CHUNK_STRIDE;
    real *now = s->now, x[WIDE];
    take_point(s, s->x, s->axes - count, count, x);
    for (size_t j = 0; j < s->width; j += REAL_LANES) {
        LANES(l) now[j + l] = add_squares(count, x, z + j + l, from[j + l]);
        if (s->form == HFI_FORM_SE) continue;
        LANES(l) now[j + l] = real_sqrt(now[j + l]);
    }
}

HFI_CLONES void HFI_STRIP_NAME(begin)(hfi_strip *s)
{
    if (s->axes % WIDE == 0)
        begin(s, WIDE);
    else
        begin(s, WIDE / 2);
}

/* The slow point after row r; the last one's successor is itself. */
HFI_INLINE const real *after(const hfi_strip *s, size_t r)
{
    return s->x + (r + 1 < s->left ? r + 1 : r);
}

HFI_INLINE void turn(hfi_strip *s)
{
    real *now = s->now;
    s->now = s->next;
    s->next = now;
}

/* ---- kernel -------------------------------------------------------------------------------------------- */

/* k, and the slope -c dk/d(t^2) where c is the form's (hfi_block_plan). */
HFI_INLINE real covariance(const hfi_form form, real t, real *slope)
{
    const real a = CUT(t, REAL_CUT), e = real_exp_minus(a);
    switch (form) {
    case HFI_FORM_MATERN12:
        /* At 0 it is infinite, while all it is multiplied with is 0. */
        *slope = t > REAL_TINY ? e / t : REAL(0.0);
        return e;
    case HFI_FORM_MATERN32:
        *slope = e;
        return (REAL(1.0) + a) * e;
    case HFI_FORM_MATERN52:
        *slope = (REAL(1.0) + a) * e;
        return (REAL(1.0) + a * (REAL(1.0) + a * REAL(0.33333333333333333))) * e;
    default:
        *slope = e;
        return e;
    }
}

/* A loop with the form and the number of axes in the last pass as constants. */
#define CASE(loop, s, form, ...)                                                                             \
    case form:                                                                                               \
        loop(s, form, __VA_ARGS__);                                                                          \
        break;
#define FORMS(loop, s, ...)                                                                                  \
    switch ((s)->form) {                                                                                     \
        CASE(loop, s, HFI_FORM_MATERN12, __VA_ARGS__)                                                        \
        CASE(loop, s, HFI_FORM_MATERN32, __VA_ARGS__)                                                        \
        CASE(loop, s, HFI_FORM_MATERN52, __VA_ARGS__)                                                        \
    default:                                                                                                 \
        loop(s, HFI_FORM_SE, __VA_ARGS__);                                                                   \
        break;                                                                                               \
    }

/* ---- products ------------------------------------------------------------------------------------------ */

static double run_sum(const real *kept, const real *entry, size_t from, size_t end)
{
    double sum = 0.0;
    for (size_t j = from; j < end; j++) sum += (double)(kept[j] * entry[j]);
    return sum;
}

HFI_INLINE void product_row(const hfi_strip *s, const hfi_form form, const size_t count, size_t r)
{
    const real *point = after(s, r), *z = s->z + (s->axes - count) * HFI_CHUNK_STRIDE;
    const real *from = first_axes(s, point, count), *now = s->now, *entry = s->entry, own = s->own[r];
    real *next = s->next, *kept = s->kept + r * s->kept_step, *column = s->column;
    real x[WIDE], sum[REAL_LANES] = {REAL(0.0)};
    take_point(s, point, s->axes - count, count, x);
    for (size_t j = 0; j < s->width; j += REAL_LANES) {
        LANES(l)
        {
            real slope;
            const real t2 = add_squares(count, x, z + j + l, from[j + l]);
            const real k = covariance(form, now[j + l], &slope);
            next[j + l] = form == HFI_FORM_SE ? t2 : real_sqrt(t2);
            kept[j + l] = k;
            sum[l] += k * entry[j + l];
            column[j + l] += k * own;
        }
    }
    if (s->runs == 1) {
        s->sums[r] = sum_lanes(sum);
        return;
    }
    for (size_t t = 0; t < s->runs; t++)
        s->sums[r * s->runs + t] = run_sum(kept, entry, t > 0 ? s->ends[t - 1] : 0, s->ends[t]);
}

HFI_INLINE void product(hfi_strip *s, const hfi_form form, const size_t count)
{
    for (size_t r = 0; r < s->rows; r++) {
        product_row(s, form, count, r);
        turn(s);
    }
}

HFI_CLONES void HFI_STRIP_NAME(product)(hfi_strip *s)
{
    for (size_t j = 0; j < s->width; j++) s->column[j] = REAL(0.0);
    if (s->axes % WIDE == 0) {
        FORMS(product, s, WIDE)
    } else {
        FORMS(product, s, WIDE / 2)
    }
}

/* ---- adjoint ------------------------------------------------------------------------------------------- */

HFI_INLINE void adjoint_row(const hfi_strip *s, const hfi_form form, const size_t count, const bool ard,
                            size_t r)
{
    const real *point = after(s, r), *z = s->z + (s->axes - count) * HFI_CHUNK_STRIDE;
    const real *from = first_axes(s, point, count), *now = s->now, *entry = s->entry, own = s->own[r];
    const real *bar = s->bar, *spread = s->spread;
    real *next = s->next, *column = s->column, *weight = s->weight + r * s->width;
    real x[WIDE], sum[REAL_LANES] = {REAL(0.0)}, weights[REAL_LANES] = {REAL(0.0)};
    take_point(s, point, s->axes - count, count, x);
    for (size_t j = 0; j < s->width; j += REAL_LANES) {
        LANES(l)
        {
            real slope;
            const real t = now[j + l], t2 = add_squares(count, x, z + j + l, from[j + l]);
            const real k = covariance(form, t, &slope);
            const real w = (spread[j + l] * entry[j + l] + own * bar[j + l]) * slope;
            next[j + l] = form == HFI_FORM_SE ? t2 : real_sqrt(t2);
            sum[l] += k * bar[j + l];
            column[j + l] += k * spread[j + l];
            if (ard) weight[j + l] = w;
            weights[l] += ard ? w : w * (form == HFI_FORM_SE ? t : t * t);
        }
    }
    s->row_sum[r] = sum_lanes(sum);
    s->weight_sum[r] = sum_lanes(weights);
}

HFI_INLINE void adjoint(hfi_strip *s, const hfi_form form, const size_t count, const bool ard)
{
    for (size_t r = 0; r < s->rows; r++) {
        size_t j = 0;
        for (size_t t = 0; t < s->runs; t++) {
            const real facing = s->facing[r * s->runs + t];
            for (; j < s->ends[t]; j++) s->spread[j] = facing;
        }
        adjoint_row(s, form, count, ard, r);
        turn(s);
    }
}

HFI_CLONES void HFI_STRIP_NAME(adjoint)(hfi_strip *s)
{
    for (size_t j = 0; j < s->width; j++) s->column[j] = REAL(0.0);
    if (s->axes % WIDE == 0) {
        if (s->ard) {
            FORMS(adjoint, s, WIDE, true)
        } else {
            FORMS(adjoint, s, WIDE, false)
        }
    } else {
        if (s->ard) {
            FORMS(adjoint, s, WIDE / 2, true)
        } else {
            FORMS(adjoint, s, WIDE / 2, false)
        }
    }
}

/* ---- sums of squared differences ----------------------------------------------------------------------- */

#define BATCH 4u /* axes whose sums stay in registers */

HFI_INLINE void keep_sums(const hfi_strip *s, size_t axis, real sum[BATCH][REAL_LANES])
{
    double *to = s->by_axis + axis * REAL_LANES;
    for (size_t a = 0; a < BATCH; a++)
        for (size_t l = 0; l < REAL_LANES; l++) to[a * REAL_LANES + l] += (double)sum[a][l];
}

HFI_INLINE void differences(const hfi_strip *s, size_t axis)
{
    const real *z = s->z + axis * HFI_CHUNK_STRIDE, *x = s->x + axis * s->ldx;
    real sum[BATCH][REAL_LANES] = {{REAL(0.0)}};
    for (size_t j = 0; j < s->width; j += REAL_LANES) {
        for (size_t r = 0; r < s->rows; r++) {
            const real *weight = s->weight + r * s->width + j;
            HFI_UNROLL
            for (size_t a = 0; a < BATCH; a++) {
                const real at = x[a * s->ldx + r];
                LANES(l)
                {
                    const real u = at - z[a * HFI_CHUNK_STRIDE + j + l];
                    sum[a][l] += weight[l] * u * u;
                }
            }
        }
    }
    keep_sums(s, axis, sum);
}

/* sum w (x - z)^2 = sum x^2 (sum of w over z) + sum z (z (sum of w over x) - 2 (sum of w x over x)) */
HFI_INLINE void coordinates(const hfi_strip *s, size_t axis)
{
    const real *z = s->z + axis * HFI_CHUNK_STRIDE, *x = s->x + axis * s->ldx;
    real sum[BATCH][REAL_LANES] = {{REAL(0.0)}};
    for (size_t j = 0; j < s->width; j += REAL_LANES) {
        real all[REAL_LANES] = {REAL(0.0)}, moment[BATCH][REAL_LANES] = {{REAL(0.0)}};
        for (size_t r = 0; r < s->rows; r++) {
            const real *weight = s->weight + r * s->width + j;
            LANES(l) all[l] += weight[l];
            HFI_UNROLL
            for (size_t a = 0; a < BATCH; a++) {
                const real at = x[a * s->ldx + r];
                LANES(l) moment[a][l] += weight[l] * at;
            }
        }
        HFI_UNROLL
        for (size_t a = 0; a < BATCH; a++) {
            LANES(l)
            {
                const real at = z[a * HFI_CHUNK_STRIDE + j + l];
                sum[a][l] += at * (at * all[l] - REAL(2.0) * moment[a][l]);
            }
        }
    }
    keep_sums(s, axis, sum);
    for (size_t a = 0; a < BATCH; a++)
        for (size_t r = 0; r < s->rows; r++) {
            const double at = (double)x[a * s->ldx + r];
            s->by_axis[(axis + a) * REAL_LANES] += s->weight_sum[r] * at * at;
        }
}

HFI_CLONES void HFI_STRIP_NAME(squares)(hfi_strip *s, bool expanded)
{
    for (size_t axis = 0; axis < s->axes; axis += BATCH) {
        if (expanded)
            coordinates(s, axis);
        else
            differences(s, axis);
    }
}
