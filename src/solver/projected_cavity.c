/* SPDX-License-Identifier: Apache-2.0 */
/* Leave-one-out of a projection: the actions stay, the row of A that belongs to the reading becomes zero. */
#include "solver/projected_system.h"

#include "linalg/linalg.h"
#include <math.h>

/* Sums over the places of a block of factor^power * value, without each of its places: sums from both ends.
 * A huge term (the site variance of a reading far out) then does not take the digits of the others with it. */
static void sums_without(size_t count, const double *factor, int power, const double *value, double *without)
{
    double sum = 0.0;
    for (size_t l = 0; l < count; l++) {
        without[l] = sum;
        sum += (power == 2 ? factor[l] * factor[l] : factor[l]) * value[l];
    }
    sum = 0.0;
    for (size_t l = count; l-- > 0;) {
        without[l] += sum;
        sum += (power == 2 ? factor[l] * factor[l] : factor[l]) * value[l];
    }
}

/* sum over the other blocks o of G_ao (u_o - f P_oa). */
static double other_blocks(const hfi_block_system *s, size_t a, const double *u, double f,
                           const double *column)
{
    double sum = 0.0;
    for (size_t o = 0; o < s->count; o++)
        if (o != a)
            sum += 0.5 * (s->core.t[a + o * s->count] + s->core.t[o + a * s->count]) *
                   ((u ? u[o] : 0.0) - f * column[o]);
    return sum;
}

void hfi_block_rest_prepare(const hfi_block_system *s, double *inverse, hfi_block_rest *rest)
{
    const hfi_block_actions *a = s->actions;
    hfi_projected_core_inverse(&s->core, inverse);
    for (size_t k = 0; k < s->count; k++) {
        const double *column = inverse + k * s->count;
        const size_t first = a->first[k], count = a->first[k + 1] - first;
        const double jitter = s->core.jitter * s->core.scale[k] * s->core.scale[k];
        rest->precision[k] = column[k];
        rest->latent[k] = s->core.t[k + k * s->count] + other_blocks(s, k, NULL, -1.0 / column[k], column);
        rest->weight[k] = s->core.u[k] / column[k];
        rest->shift[k] = -other_blocks(s, k, s->core.u, rest->weight[k], column);
        sums_without(count, a->entry + first, 2, s->noise + first, rest->noise + first);
        sums_without(count, a->entry + first, 1, s->r + first, rest->target + first);
        for (size_t l = first; l < first + count; l++)
            if (rest->noise[l] > 0.0) rest->noise[l] += jitter;
    }
}

hfi_block_cavity hfi_block_cavity_at(const hfi_block_system *s, const hfi_block_rest *rest, size_t block,
                                     size_t place, double square, double cross, double weighted)
{
    const double entry = s->actions->entry[place];
    hfi_block_cavity c;
    c.own = cross / rest->precision[block];
    c.rest_variance = s->prior[place] - square + cross * c.own;
    c.rest_mean = weighted - cross * rest->weight[block];
    c.kappa = c.own - entry * c.rest_variance;
    c.omega = rest->target[place] + rest->shift[block] + entry * c.rest_mean;
    c.sigma = 0.0;
    if (rest->noise[place] > 0.0) {
        /* The first three are the latent variance of what is left in the block, never negative. */
        const double latent = rest->latent[block] - 2.0 * entry * c.own + entry * entry * c.rest_variance;
        c.sigma = fmax(latent, 0.0) + rest->noise[place];
    }
    c.mean = c.rest_mean;
    c.variance = c.rest_variance;
    if (c.sigma > 0.0) {
        c.mean += c.kappa * c.omega / c.sigma;
        c.variance -= c.kappa * c.kappa / c.sigma;
    }
    c.variance = fmax(c.variance, 0.0) + s->white[place];
    return c;
}
