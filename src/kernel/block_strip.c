/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled twice, see block_real.h. */
#include "kernel/block_strip.h"

#define WIDE HFI_STRIP_AXES

/* Every loop over fast points is two: vectors, and the lanes of one. Their constant count lets the compiler
 * turn them into one instruction of the widest kind or a few of a narrower one. So nothing is left over at the
 * end, sums over lanes stay in registers, and no digit depends on how wide the processor is. */
#define LANES(l)                                                                                             \
    HFI_SIMD                                                                                                 \
    for (size_t l = 0; l < REAL_LANES; l++) /* NOLINT(bugprone-macro-parentheses): l is declared here */

HFI_INLINE double sum_lanes(const real *lane)
{
    double sum = 0.0;
    for (size_t l = 0; l < REAL_LANES; l++) sum += (double)lane[l];
    return sum;
}

/* ---- distances ----------------------------------------------------------------------------------------- */

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

/* Coordinates into registers. The distance of neighbours is 1, which the compiler must not know: it would
 * load them as one vector and take it apart in memory, in every turn of the loop that follows. */
HFI_INLINE void take_point(const hfi_strip *s, const size_t count, const real *point, real *x)
{
    for (size_t a = 0; a < count; a++) x[a] = point[a * s->x_step];
}

/* All axes but the last `count` of `rows` points from `point`, each row of sums in s->partial. */
HFI_INLINE void first_axes(const hfi_strip *s, const size_t count, const real *point, size_t rows)
{
    real x[WIDE];
    for (size_t r = 0; r < rows; r++) {
        real *out = s->partial + r * s->partial_step;
        const real *from = s->zeros;
        for (size_t first = 0; first + count < s->axes; first += WIDE, from = out) {
            const real *z = s->z + first * HFI_CHUNK_STRIDE;
            take_point(s, WIDE, point + r * s->axes + first, x);
            for (size_t j = 0; j < s->width; j += REAL_LANES)
                LANES(l) out[j + l] = add_squares(WIDE, x, z + j + l, from[j + l]);
        }
    }
}

HFI_INLINE void begin(const hfi_strip *s, const size_t count)
{
    const real *from = s->partial, *z = s->z + (s->axes - count) * HFI_CHUNK_STRIDE;
    real *now = s->now, x[WIDE];
    first_axes(s, count, s->x, 1);
    take_point(s, count, s->x + s->axes - count, x);
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

/* Prepares what the rows of the strip need of the points after them. */
HFI_INLINE void look_ahead(const hfi_strip *s, const size_t count)
{
    const size_t left = s->left - 1;
    if (s->axes > count) first_axes(s, count, s->x + s->axes, s->rows < left ? s->rows : left);
}

/* The last axes of the slow point after row r; the chunk's last one's successor is itself. */
HFI_INLINE const real *after(const hfi_strip *s, const size_t count, size_t r)
{
    return s->x + (r + 1 < s->left ? r + 1 : r) * s->axes + s->axes - count;
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
    const real exponential = real_exp_minus(t), e = t > REAL_CUT ? REAL(0.0) : exponential;
    switch (form) {
    case HFI_FORM_MATERN12:
        /* At 0 it is infinite, while all it is multiplied with is 0. */
        *slope = t > REAL_TINY ? e / t : REAL(0.0);
        return e;
    case HFI_FORM_MATERN32:
        *slope = e;
        return (REAL(1.0) + t) * e;
    case HFI_FORM_MATERN52:
        *slope = (REAL(1.0) + t) * e;
        return (REAL(1.0) + t * (REAL(1.0) + t * REAL(0.33333333333333333))) * e;
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
    const real *z = s->z + (s->axes - count) * HFI_CHUNK_STRIDE;
    const real *from = s->partial + r * s->partial_step, *now = s->now, *entry = s->entry, own = s->own[r];
    real *next = s->next, *kept = s->kept + r * s->kept_step, *column = s->column;
    real x[WIDE], sum[REAL_LANES] = {REAL(0.0)};
    take_point(s, count, after(s, count, r), x);
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
    look_ahead(s, count);
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
    const real *z = s->z + (s->axes - count) * HFI_CHUNK_STRIDE;
    const real *from = s->partial + r * s->partial_step, *now = s->now, *entry = s->entry, own = s->own[r];
    const real *bar = s->bar, *spread = s->spread;
    real *next = s->next, *column = s->column, *weight = s->weight + r * s->width;
    real x[WIDE], sum[REAL_LANES] = {REAL(0.0)}, by_t2[REAL_LANES] = {REAL(0.0)};
    take_point(s, count, after(s, count, r), x);
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
            if (ard)
                weight[j + l] = w;
            else
                by_t2[l] += w * (form == HFI_FORM_SE ? t : t * t);
        }
    }
    s->row_sum[r] = sum_lanes(sum);
    if (!ard) s->by_axis[0] += sum_lanes(by_t2);
}

HFI_INLINE void adjoint(hfi_strip *s, const hfi_form form, const size_t count, const bool ard)
{
    look_ahead(s, count);
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

HFI_INLINE void differences(const hfi_strip *s, size_t axis)
{
    const real *z = s->z + axis * HFI_CHUNK_STRIDE;
    real sum[BATCH][REAL_LANES] = {{REAL(0.0)}};
    for (size_t j = 0; j < s->width; j += REAL_LANES) {
        for (size_t r = 0; r < s->rows; r++) {
            const real *weight = s->weight + r * s->width + j, *x = s->x + r * s->axes + axis;
            HFI_UNROLL
            for (size_t a = 0; a < BATCH; a++) {
                LANES(l)
                {
                    const real u = x[a] - z[a * HFI_CHUNK_STRIDE + j + l];
                    sum[a][l] += weight[l] * u * u;
                }
            }
        }
    }
    double *to = s->by_axis + axis * REAL_LANES;
    for (size_t a = 0; a < BATCH; a++)
        for (size_t l = 0; l < REAL_LANES; l++) to[a * REAL_LANES + l] += (double)sum[a][l];
}

HFI_CLONES void HFI_STRIP_NAME(squares)(hfi_strip *s)
{
    for (size_t axis = 0; axis < s->axes; axis += BATCH) differences(s, axis);
}
