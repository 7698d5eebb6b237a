/* SPDX-License-Identifier: Apache-2.0 */
#include "common/pair_alone.h"

#include "kernel/vector.h" /* instead of math.h */

enum {
    LANES = 8,
    WIDTH = 160, /* points in a row: about a block of 40 000 / 256 */
    ROWS = 32,
    AXES = 8
};

typedef struct bench_points {
    double x[ROWS][AXES], z[AXES][WIDTH], entry[WIDTH], column[WIDTH], now[WIDTH], next[WIDTH];
} bench_points;

HFI_INLINE double squares(const double *x, const bench_points *p, size_t j)
{
    double even = 0.0, odd = 0.0;
    HFI_UNROLL
    for (size_t a = 0; a < AXES; a += 2) {
        const double u = x[a] - p->z[a][j], v = x[a + 1] - p->z[a + 1][j];
        even += u * u;
        odd += v * v;
    }
    return even + odd;
}

HFI_INLINE double covariance(double t)
{
    return (1.0 + t * (1.0 + t * (1.0 / 3.0))) * exp_minus(CUT(t, HFI_EXP_CUT));
}

/* One row against all points. */
HFI_INLINE double row(bench_points *p, const double *now, double *next, size_t r, const int overlapped)
{
    double x[AXES], sum[LANES] = {0.0}, total = 0.0;
    HFI_UNROLL
    for (size_t a = 0; a < AXES; a++) x[a] = p->x[r][a];
    const double own = x[0];
    for (size_t j = 0; j < WIDTH; j += LANES) {
        HFI_SIMD
        for (size_t l = 0; l < LANES; l++) {
            const double t = sqrt(squares(x, p, j + l)), k = covariance(overlapped ? now[j + l] : t);
            if (overlapped) next[j + l] = t;
            sum[l] += k * p->entry[j + l];
            p->column[j + l] += k * own;
        }
    }
    for (size_t l = 0; l < LANES; l++) total += sum[l];
    return total;
}

HFI_CLONES double bench_pair_alone(size_t pairs, int overlapped)
{
    bench_points p = {.x = {{0.0}}};
    double total = 0.0;
    for (size_t j = 0; j < WIDTH; j++) {
        p.entry[j] = 1.0 / (double)(j + 1);
        for (size_t a = 0; a < AXES; a++) p.z[a][j] = (double)((j * (a + 3)) % 17) / 17.0;
    }
    for (size_t r = 0; r < ROWS; r++)
        for (size_t a = 0; a < AXES; a++) p.x[r][a] = (double)((r * (a + 5)) % 19) / 19.0;
    for (size_t done = 0, r = 0; done < pairs; done += WIDTH, r = (r + 1) % ROWS) {
        if (!overlapped)
            total += row(&p, p.now, p.next, r, 0);
        else if (r % 2 == 0)
            total += row(&p, p.now, p.next, r, 1);
        else
            total += row(&p, p.next, p.now, r, 1);
    }
    return total;
}
