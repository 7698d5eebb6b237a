/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/planes.h"
#include "kernel/vector.h"

#include "core/core.h"
#include <math.h>

#define MOST_EXPONENT 100.0 /* its square's exponential is a number */

hfi_plane hfi_plane_of(const hf_kernel *kernel, const hfi_leaf *leaf)
{
    const bool tilt = leaf->form == HFI_FORM_TILT;
    const size_t at = hfi_leaf_at(leaf, tilt ? HFI_FIELD_RATE : HFI_FIELD_FREQUENCY);
    return (hfi_plane){leaf->form,
                       leaf->columns,
                       kernel->columns + leaf->column_at,
                       kernel->value + at,
                       at,
                       tilt ? 1.0 : 2.0 * HFI_PI};
}

static double clamp_argument(double u, double most)
{
    return u > most ? most : u < -most ? -most : u;
}

static double most_of(const hfi_plane *plane)
{
    return plane->form == HFI_FORM_TILT ? MOST_EXPONENT : HFI_PHASE_CUT;
}

static hfi_plane_point point_of(hfi_form form, double u)
{
    if (form == HFI_FORM_TILT) {
        const double e = exp(u);
        return (hfi_plane_point){.re = e, .re_slope = e};
    }
    const double c = cos(u), s = sin(u);
    hfi_plane_point point = {.re = c, .re_slope = -s};
    if (form == HFI_FORM_WAVE) {
        point.im = s;
        point.im_slope = c;
    }
    return point;
}

static double phase_at(const hfi_plane *plane, const double *x)
{
    double u = 0.0;
    for (size_t a = 0; a < plane->columns; a++) u += plane->slope[a] * x[plane->column[a]];
    return clamp_argument(plane->turn * u, most_of(plane));
}

hfi_plane_point hfi_plane_at(const hfi_plane *plane, const double *x)
{
    return point_of(plane->form, phase_at(plane, x));
}

double hfi_plane_between(const hfi_plane *plane, const double *x, const double *z)
{
    const double u = phase_at(plane, x), v = phase_at(plane, z);
    return plane->form == HFI_FORM_WAVE ? cos(u - v)
                                        : hfi_plane_value(point_of(plane->form, u), point_of(plane->form, v));
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* Features of several points, and what they become per unit of u: slow and fast points by the same code, so
 * that swapping them changes no bit. */
typedef struct sheet {
    double *re, *im, *re_slope, *im_slope, *u;
} sheet;

HFI_CLONES static void take_phases(size_t count, double turn, double most, double *restrict u)
{
    HFI_SIMD
    for (size_t j = 0; j < count; j++) {
        const double v = u[j] * turn, low = v < -most ? -most : v;
        u[j] = low > most ? most : low;
    }
}

/* From the phases s->u, `width` of them, without the turn. */
static void finish_sheet(const hfi_plane *plane, size_t width, const sheet *s)
{
    take_phases(width, plane->turn, most_of(plane), s->u);
    hfi_loop_fill(width, 0.0, s->im);
    hfi_loop_fill(width, 0.0, s->im_slope);
    if (plane->form == HFI_FORM_TILT) {
        for (size_t j = 0; j < width; j++) s->re[j] = exp(s->u[j]);
        hfi_loop_scale(width, 1.0, s->re, s->re_slope);
        return;
    }
    hfi_loop_cosines(width, s->u, s->re);
    hfi_loop_sines(width, s->u, s->u);
    hfi_loop_scale(width, -1.0, s->u, s->re_slope);
    if (plane->form != HFI_FORM_WAVE) return;
    hfi_loop_scale(width, 1.0, s->u, s->im);
    hfi_loop_scale(width, 1.0, s->re, s->im_slope);
}

static sheet place_sheet(double *room)
{
    return (sheet){room, room + HFI_TILE, room + 2 * HFI_TILE, room + 3 * HFI_TILE, room + 4 * HFI_TILE};
}

static void fast_phases(const hfi_tile *tile, const hfi_plane *plane, double *u)
{
    const hfi_points *p = &tile->points;
    hfi_loop_fill(p->width, 0.0, u);
    for (size_t a = 0; a < plane->columns; a++)
        hfi_loop_phases(p->width, 1, p->z + plane->column[a] * p->ldz, 0, &plane->slope[a], u);
}

static size_t slow_width(const hfi_tile *tile)
{
    return (tile->points.rows + HFI_LANES - 1) / HFI_LANES * HFI_LANES;
}

/* Rows beyond the last are at 0; `spare` as u. */
static void slow_phases(const hfi_tile *tile, const hfi_plane *plane, double *u, double *spare)
{
    const hfi_points *p = &tile->points;
    const size_t width = slow_width(tile);
    hfi_loop_fill(width, 0.0, u);
    hfi_loop_fill(width, 0.0, spare);
    for (size_t a = 0; a < plane->columns; a++) {
        for (size_t r = 0; r < p->rows; r++) spare[r] = p->x[r * p->ldx + plane->column[a]];
        hfi_loop_phases(width, 1, spare, 0, &plane->slope[a], u);
    }
}

static sheet fast_sheet(const hfi_tile *tile, const hfi_plane *plane, double *room)
{
    const sheet s = place_sheet(room);
    fast_phases(tile, plane, s.u);
    finish_sheet(plane, tile->points.width, &s);
    return s;
}

static sheet slow_sheet(const hfi_tile *tile, const hfi_plane *plane, double *room)
{
    const sheet s = place_sheet(room);
    slow_phases(tile, plane, s.u, s.re);
    finish_sheet(plane, slow_width(tile), &s);
    return s;
}

HFI_CLONES static void subtract(size_t count, double u, const double *restrict v, double *restrict out)
{
    HFI_SIMD
    for (size_t j = 0; j < count; j++) out[j] = fabs(u - v[j]);
}

/* By differences of phases, so that equal rows have exactly 1. */
static void wave_tile(const hfi_tile *tile, const hfi_plane *plane, double *out, double *spare)
{
    const size_t width = tile->points.width;
    double *fast = spare, *slow = spare + HFI_TILE, *apart = spare + 2 * HFI_TILE;
    fast_phases(tile, plane, fast);
    take_phases(width, plane->turn, HFI_PHASE_CUT, fast);
    slow_phases(tile, plane, slow, apart);
    take_phases(slow_width(tile), plane->turn, HFI_PHASE_CUT, slow);
    for (size_t r = 0; r < tile->points.rows; r++) {
        subtract(width, slow[r], fast, apart);
        hfi_loop_cosines(width, apart, out + r * width);
    }
}

/* out := a p + b q, or added to it */
HFI_CLONES static void join(size_t count, double a, const double *restrict p, double b,
                            const double *restrict q, double *restrict out)
{
    HFI_SIMD
    for (size_t j = 0; j < count; j++) out[j] = a * p[j] + b * q[j];
}

HFI_CLONES static void add_to(size_t count, double a, const double *restrict p, double *restrict out)
{
    HFI_SIMD
    for (size_t j = 0; j < count; j++) out[j] += a * p[j];
}

#define SLOW (5 * (size_t)HFI_TILE)
#define REST (10 * (size_t)HFI_TILE)
_Static_assert(12 * HFI_TILE <= HFI_LEAF_SPARES * HFI_STRIP * HFI_TILE, "sheets fit into the spare buffers");

void hfi_plane_tile(const hfi_tile *tile, const hfi_leaf *leaf, double *out, double *spare)
{
    const hfi_plane plane = hfi_plane_of(tile->kernel, leaf);
    if (leaf->form == HFI_FORM_WAVE) {
        wave_tile(tile, &plane, out, spare);
        return;
    }
    const size_t width = tile->points.width;
    const sheet s = fast_sheet(tile, &plane, spare), p = slow_sheet(tile, &plane, spare + SLOW);
    for (size_t r = 0; r < tile->points.rows; r++) join(width, p.re[r], s.re, p.im[r], s.im, out + r * width);
}

/* The adjoint of row r pulls so much at its slow point, per unit of u. */
static double row_backward(const sheet *s, const sheet *p, size_t r, size_t width, const double *adjoint)
{
    return p->re_slope[r] * hfi_loop_dot(width, adjoint, s->re) +
           p->im_slope[r] * hfi_loop_dot(width, adjoint, s->im);
}

void hfi_plane_adjoint(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint, double *spare,
                       double *grad)
{
    const hfi_plane plane = hfi_plane_of(tile->kernel, leaf);
    const hfi_points *points = &tile->points;
    const size_t width = points->width;
    const sheet s = fast_sheet(tile, &plane, spare), p = slow_sheet(tile, &plane, spare + SLOW);
    double *re = spare + REST, *im = re + HFI_TILE;
    hfi_loop_fill(width, 0.0, re);
    hfi_loop_fill(width, 0.0, im);
    for (size_t r = 0; r < points->rows; r++) {
        const double *row = adjoint + r * width, of_phase = plane.turn * row_backward(&s, &p, r, width, row);
        for (size_t a = 0; a < plane.columns; a++)
            grad[plane.at + a] += of_phase * points->x[r * points->ldx + plane.column[a]];
        add_to(width, p.re[r], row, re);
        add_to(width, p.im[r], row, im);
    }
    hfi_loop_multiply(width, s.re_slope, re);
    hfi_loop_multiply(width, s.im_slope, im);
    hfi_loop_add(width, im, re);
    for (size_t a = 0; a < plane.columns; a++)
        grad[plane.at + a] += plane.turn * hfi_loop_dot(width, re, points->z + plane.column[a] * points->ldz);
}

void hfi_plane_backward(const hfi_tile *tile, const hfi_leaf *leaf, const double *adjoint, double *spare,
                        double *grad)
{
    const hfi_plane plane = hfi_plane_of(tile->kernel, leaf);
    const sheet s = fast_sheet(tile, &plane, spare), p = slow_sheet(tile, &plane, spare + SLOW);
    const double of_phase = plane.turn * row_backward(&s, &p, 0, tile->points.width, adjoint);
    for (size_t a = 0; a < plane.columns; a++) grad[plane.column[a]] += of_phase * plane.slope[a];
}
