/* SPDX-License-Identifier: Apache-2.0 */
/* A set I of readings that are replaced, with C the covariance given all others, V = C + D = ((A^-1)_II)^-1:
 *
 *     mean_new(x) - mean(x) = sum_I c_i (pull_i - t_i),    c = V w_I,    mean_-I(x_i) = z_i - (V t_I)_i
 *
 * The pull of reading i beside those of a set L of the others is (z - mean_-I(x_i) - sum_L C_il pull_l) / (v
 * + d), where pull_l are those of L without i, v >= C_ii - C_iL (C_LL + base)^-1 C_Li and z - centre and d
 * are functions of r = reading - centre: |r| / (v + d) <= threshold / (2 (base (base + v))^(1/2)), and the
 * shift is at most noise / threshold. So a bound for each L follows from those of its parts, the smallest
 * first. */
#include "certify/readings.h"

#include <math.h>
#include <string.h>

enum {
    SUBSETS = 1 << HFI_SET_MOST
};

typedef struct set {
    size_t count;
    const hfi_replaced *of;
    double v[HFI_SET_MOST][HFI_SET_MOST];  /* C */
    double offset[HFI_SET_MOST];           /* centre - mean_-I(x_i) */
    double most[2][SUBSETS][HFI_SET_MOST]; /* of pull, and of -pull */
} set;

/* out := the inverse of a positive definite matrix; false where rounding has left none. */
static int invert(size_t n, const double *a, double out[HFI_SET_MOST][HFI_SET_MOST])
{
    double m[HFI_SET_MOST][2 * HFI_SET_MOST];
    memset(m, 0, sizeof m);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) m[i][j] = a[i * n + j];
        m[i][n + i] = 1.0;
    }
    for (size_t k = 0; k < n; k++) {
        if (!(m[k][k] > 0.0)) return 0;
        for (size_t i = 0; i < n; i++) {
            const double share = i == k ? 0.0 : m[i][k] / m[k][k];
            for (size_t j = k; j < 2 * n && i != k; j++) m[i][j] -= share * m[k][j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out[i][j] = m[i][n + j] / m[i][i];
    return 1;
}

/* The least variance of reading i given those of L, wherever they lie. */
static double least_variance(const set *s, size_t i, unsigned others)
{
    double m[HFI_SET_MOST][HFI_SET_MOST + 1], left = s->v[i][i];
    size_t index[HFI_SET_MOST], n = 0;
    for (size_t l = 0; l < s->count; l++)
        if (others >> l & 1u) index[n++] = l;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) m[a][b] = s->v[index[a]][index[b]];
        m[a][a] += s->of[index[a]].base + s->of[index[a]].jitter;
        m[a][n] = s->v[index[a]][i];
    }
    for (size_t k = 0; k < n; k++) {
        if (!(m[k][k] > 0.0)) return 0.0;
        left -= m[k][n] * m[k][n] / m[k][k];
        for (size_t a = k + 1; a < n; a++) {
            const double share = m[a][k] / m[k][k];
            for (size_t b = k + 1; b <= n; b++) m[a][b] -= share * m[k][b];
        }
    }
    return fmax(0.0, left * (1.0 - 1e-9));
}

static void bound_pull(set *s, size_t i, unsigned others)
{
    const hfi_replaced *r = &s->of[i];
    const double v = least_variance(s, i, others) + r->jitter;
    double low = s->offset[i], high = s->offset[i];
    for (size_t l = 0; l < s->count; l++) {
        if (!(others >> l & 1u)) continue;
        const double c = s->v[i][l], up = s->most[0][others][l], down = s->most[1][others][l];
        high += c > 0.0 ? c * down : -c * up;
        low -= c > 0.0 ? c * up : -c * down;
    }
    const double own = 0.5 * r->threshold / sqrt(r->base * (r->base + v)), shift = r->noise / r->threshold;
    s->most[0][others | 1u << i][i] = own + fmax(0.0, shift + high) / (r->base + v);
    s->most[1][others | 1u << i][i] = own + fmax(0.0, shift - low) / (r->base + v);
}

double hfi_damage_of_set(size_t count, const hfi_replaced *readings, const double *inverse, const double *w)
{
    set s = {.count = count, .of = readings};
    double c[HFI_SET_MOST], up = 0.0, down = 0.0;
    const unsigned all = (1u << count) - 1u;
    if (!invert(count, inverse, s.v)) return (double)INFINITY;
    for (size_t i = 0; i < count; i++) {
        c[i] = 0.0;
        s.offset[i] = readings[i].offset;
        for (size_t j = 0; j < count; j++) {
            c[i] += s.v[i][j] * w[j];
            s.offset[i] += s.v[i][j] * readings[j].t;
        }
    }
    for (size_t i = 0; i < count; i++) s.v[i][i] = fmax(0.0, s.v[i][i] - readings[i].d);
    for (unsigned part = 1; part <= all; part++)
        for (size_t i = 0; i < count; i++)
            if (part >> i & 1u) bound_pull(&s, i, part & ~(1u << i));
    for (size_t i = 0; i < count; i++) {
        const double more = s.most[0][all][i] - readings[i].t, less = s.most[1][all][i] + readings[i].t;
        up += c[i] > 0.0 ? c[i] * more : -c[i] * less;
        down += c[i] > 0.0 ? c[i] * less : -c[i] * more;
    }
    return fmax(up, down) * (1.0 + 1e-9);
}
