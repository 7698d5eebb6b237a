/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that attacks take: along signs of slopes in a box, along what is steepest in a ball. */
#include "certify/climb.h"

#include "certify/region.h"
#include <math.h>
#include <string.h>

static const double share = 0.1; /* of a box's side, of the first projected step */

/* ---- directions -------------------------------------------------------------------------------------------------- */

static void along_signs(const hfi_climb *c, double length)
{
    for (size_t j = 0; j < c->d; j++) {
        const double slope = c->slope[j], side = c->upper[j] - c->lower[j];
        c->x[j] -= (slope > 0.0 ? 1.0 : slope < 0.0 ? -1.0 : 0.0) * length * side;
    }
}

static void along_slope(const hfi_climb *c, double length)
{
    double square = 0.0;
    for (size_t j = 0; j < c->d; j++) square += pow(c->slope[j] * c->half[j], 2.0);
    for (size_t j = 0; j < c->d && square > 0.0; j++)
        c->x[j] -= 2.0 * length * c->half[j] * c->half[j] * c->slope[j] / sqrt(square);
}

static void along_steepest(const hfi_climb *c, double length)
{
    size_t best = 0;
    for (size_t j = 1; j < c->d; j++)
        if (fabs(c->slope[j]) * c->half[j] > fabs(c->slope[best]) * c->half[best]) best = j;
    c->x[best] -= copysign(2.0 * length * c->half[best], c->slope[best]);
}

/* By what is steepest among moves of one length of that shape. */
static void (*const along[])(const hfi_climb *c, double length) = {
    [HF_SHAPE_BOX] = along_signs, [HF_SHAPE_L2] = along_slope, [HF_SHAPE_L1] = along_steepest};

static hf_shape shape_of(const hfi_climb *c)
{
    return c->region ? c->region->shape : HF_SHAPE_BOX;
}

static void clamp(const hfi_climb *c, double *x)
{
    for (size_t j = 0; j < c->d; j++) x[j] = fmin(fmax(x[j], c->lower[j]), c->upper[j]);
}

/* Into the ball, towards its centre. */
static void shrink(const hfi_climb *c, double *x)
{
    const double room = 1e-12;
    double sum = 0.0;
    const hf_shape shape = shape_of(c);
    if (shape == HF_SHAPE_BOX) return;
    for (size_t j = 0; j < c->d; j++) {
        const double half = c->half[j], u = half > 0.0 ? fabs(x[j] - c->centre[j]) / half : 0.0;
        sum += shape == HF_SHAPE_L2 ? u * u : u;
    }
    const double size = shape == HF_SHAPE_L2 ? sqrt(sum) : sum, most = 1.0 - room;
    for (size_t j = 0; j < c->d && size > most; j++)
        x[j] = c->centre[j] + (x[j] - c->centre[j]) * (most / size);
}

void hfi_climb_place(const hfi_climb *c, const double *x, double *at)
{
    memcpy(at, x, c->d * sizeof *at);
    shrink(c, at);
    for (size_t j = 0; c->region && c->region->step && j < c->d; j++) {
        const double step = c->region->step[j], away = at[j] - c->centre[j];
        if (step > 0.0) at[j] = c->centre[j] + copysign(floor(fabs(away) / step + 1e-9), away) * step;
    }
    clamp(c, at);
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

static hf_status look(const hfi_climb *c, bool anyhow, double *out, double *best)
{
    double score;
    hfi_climb_place(c, c->x, c->at);
    const hf_status status = c->look(c->of, c->at, &score, c->slope);
    if (status < 0 || !(anyhow || score < *best)) return status;
    *best = score;
    memcpy(out, c->at, c->d * sizeof *out);
    return status;
}

hf_status hfi_climb_from(const hfi_climb *c, const double *from, double *out, double *best)
{
    const bool one = c->kind == HF_ATTACK_FGSM;
    const size_t steps = one ? 1 : c->steps;
    memcpy(c->x, from, c->d * sizeof *c->x);
    hf_status status = look(c, false, out, best);
    for (size_t k = 0; k < steps && status >= 0; k++) {
        if (!hfi_watch_ok(c->watch)) return HF_ERR_CANCELLED;
        along[shape_of(c)](c, one ? 1.0 : share * (1.0 - (double)k / (double)steps));
        clamp(c, c->x);
        shrink(c, c->x);
        status = look(c, one, out, best);
    }
    return status;
}
