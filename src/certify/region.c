/* SPDX-License-Identifier: Apache-2.0 */
/* Problems that are cut to a region: boxes that do not meet it are dropped, the others shrink to what does. */
#include "certify/certify.h"

#include <math.h>

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

/* Points u with sum weigh(|u_j|) <= 1, u in units of the half-widths; of boxes nothing is asked beside |u_j| <= 1. */
typedef struct region_shape {
    double (*weigh)(double u); /* NULL: a box */
    double (*unweigh)(double w);
    /* Adds coordinate j of a part, at + half v, |v| <= 1, in units of the half-widths: *k + p v + r v^2 / 2
     * is nowhere more than its weight. */
    void (*add)(double at, double half, double *p, double *r, double *k);
} region_shape;

static double square(double u)
{
    return u * u;
}

static double same(double u)
{
    return u;
}

static void add_square(double at, double half, double *p, double *r, double *k)
{
    *k += at * at;
    *p = 2.0 * at * half;
    *r = 2.0 * half * half;
}

/* Where a coordinate has both signs nothing is said of its weight. */
static void add_size(double at, double half, double *p, double *r, double *k)
{
    const double sign = at >= half ? 1.0 : at <= -half ? -1.0 : 0.0;
    *k += sign * at;
    *p = sign * half;
    *r = 0.0;
}

static const region_shape shapes[] = {[HF_SHAPE_BOX] = {NULL, NULL, NULL},
                                      [HF_SHAPE_L2] = {square, sqrt, add_square},
                                      [HF_SHAPE_L1] = {same, same, add_size}};

enum {
    SHAPES = sizeof shapes / sizeof *shapes
};

/* Relative room for the rounding of boxes against regions; attained points stay as much inside. */
static const double room = 1e-12;

double hfi_region_size(const hf_region *region, size_t inputs, const double *from, const double *to,
                       const double *unit)
{
    const region_shape *kind = &shapes[region ? region->shape : HF_SHAPE_BOX];
    double most = 0.0, sum = 0.0;
    for (size_t j = 0; j < inputs; j++) {
        const double away = fabs(to[j] - from[j]);
        if (!(away > 0.0)) continue;
        const double u = away / (unit ? unit[j] : 1.0);
        most = fmax(most, u);
        if (kind->weigh) sum += kind->weigh(u);
    }
    const double size = kind->weigh ? kind->unweigh(sum) : most;
    return size * (1.0 + (2.0 + (double)inputs) * DBL_EPSILON);
}

bool hfi_region_cuts(const hf_region *region)
{
    return region && (region->shape != HF_SHAPE_BOX || region->step);
}

void hfi_region_about(hf_certify_settings *settings, const double *x, hf_region *into)
{
    if (!settings->region) return;
    *into = *settings->region;
    into->centre = x;
    settings->region = into;
}

bool hfi_region_has_parts(const hf_region *region)
{
    return region->moves > 0 || region->sets;
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

hf_status hfi_region_check(hf_context *ctx, const hf_region *region, size_t inputs, bool rigorous)
{
    if (rigorous && hfi_region_cuts(region))
        return hfi_refuse(ctx, "rigorous ranges are over boxes, and not over balls or lattices");
    if (!region->least != !region->most) return hfi_refuse(ctx, "a region has both physical limits or none");
    if (region->moves > 0 && region->sets)
        return hfi_refuse(ctx, "a region has sets or a number of inputs that move, not both");
    if (!region->sets != (region->set_count == 0))
        return hfi_refuse(ctx, "a region has %zu sets of inputs, and %s", region->set_count,
                          region->sets ? "says which" : "does not say which");
    for (size_t j = 0; j < inputs; j++) {
        const double step = region->step ? region->step[j] : 0.0;
        if (!(step >= 0.0) || !isfinite(step))
            return hfi_refuse(ctx, "the step of input %zu is %g; it must be 0 or above", j + 1, step);
        if (region->least && !(region->least[j] <= region->most[j]))
            return hfi_refuse(ctx, "input %zu is to be within %g and %g, which nothing is", j + 1,
                              region->least[j], region->most[j]);
    }
    return HF_OK;
}

hf_status hfi_region_place(hf_context *ctx, const hf_region *region, size_t k, size_t inputs, hfi_sides *box)
{
    for (size_t j = 0; j < inputs; j++) {
        const double low = box->lower[j], high = box->upper[j];
        const double centre = region->centre ? region->centre[k * inputs + j] : 0.5 * low + 0.5 * high;
        if (!(centre >= low) || !(centre <= high))
            return hfi_refuse(ctx, "input %zu: the centre %g is not within [%g, %g]", j + 1, centre, low,
                              high);
        box->centre[j] = centre;
        box->half[j] = fmax(high - centre, centre - low);
        if (!region->least) continue;
        if (!(centre >= region->least[j]) || !(centre <= region->most[j]))
            return hfi_refuse(ctx, "input %zu is %g, and is to be within %g and %g", j + 1, centre,
                              region->least[j], region->most[j]);
        box->lower[j] = fmax(low, region->least[j]);
        box->upper[j] = fmin(high, region->most[j]);
    }
    return HF_OK;
}

/* ---- cutting boxes ----------------------------------------------------------------------------------------------- */

/* Everything in the problem's units; m sides. */
typedef struct cut {
    hfi_branch_problem whole;
    hfi_certify_problem *problem;
    const region_shape *kind;
    double *centre, *half, *step; /* m each; a step of 0: the input moves freely */
    double *stride, *middle;      /* m each, in the user's units: step and centre */
    double slack;                 /* of sums of weights */
    double *point;                /* m */
    double *scratch;              /* for each thread: two of HFI_TOGETHER boxes */
} cut;

/* Sides of an input that moves by steps: those points only, with room for their rounding. False: there is none. */
static bool tighten_steps(const cut *c, size_t f, double *low, double *high)
{
    const double step = c->step[f], centre = c->centre[f];
    const double first = ceil((*low - centre) / step - 1e-6), last = floor((*high - centre) / step + 1e-6);
    if (first > last) return false;
    const double off = room * (fabs(centre) + step * fmax(fabs(first), fabs(last)));
    *low = fmax(*low, centre + first * step - off);
    *high = fmin(*high, centre + last * step + off);
    return *low <= *high;
}

/* Least |u| of an interval. */
static double nearest(double low, double high)
{
    return low > 0.0 ? low : high < 0.0 ? -high : 0.0;
}

/* The part of a box that the shape meets; *inside: that is all of it. False: none. */
static bool tighten_shape(const cut *c, double *low, double *high, bool *inside)
{
    const size_t m = c->whole.sides;
    double least = 0.0, most = 0.0;
    for (size_t f = 0; f < m; f++) {
        const double a = (low[f] - c->centre[f]) / c->half[f], b = (high[f] - c->centre[f]) / c->half[f];
        least += c->kind->weigh(nearest(a, b));
        most += c->kind->weigh(fmax(fabs(a), fabs(b)));
    }
    const double limit = 1.0 + c->slack;
    if (!(least <= limit)) return false;
    *inside = *inside && most < 1.0 - c->slack;
    for (size_t f = 0; f < m; f++) {
        const double a = (low[f] - c->centre[f]) / c->half[f], b = (high[f] - c->centre[f]) / c->half[f];
        const double left = limit - (least - c->kind->weigh(nearest(a, b)));
        const double reach = c->kind->unweigh(fmax(left, 0.0)) * (1.0 + room) * c->half[f];
        const double off = room * (fabs(c->centre[f]) + c->half[f]);
        low[f] = fmin(fmax(low[f], c->centre[f] - reach - off), high[f]);
        high[f] = fmax(fmin(high[f], c->centre[f] + reach + off), low[f]);
    }
    return true;
}

static bool tighten(const cut *c, double *low, double *high, bool *inside)
{
    *inside = true;
    for (size_t f = 0; f < c->whole.sides; f++)
        if (c->step[f] > 0.0 && !tighten_steps(c, f, &low[f], &high[f])) return false;
    return !c->kind->weigh || tighten_shape(c, low, high, inside);
}

/* A value that falls towards the side of a box has no least one inside where what is beyond that side is
 * asked about too. */
static void clear_faces(const cut *c, bool inside, signed char *face)
{
    for (size_t f = 0; f < c->whole.sides; f++)
        if (!inside || c->step[f] > 0.0) face[f] = 0;
}

static void region_problem_bounds(void *of, int thread, double sign, double enough, size_t count,
                                  const double *low, const double *high, hfi_box_bound *out)
{
    const cut *c = of;
    const size_t m = c->whole.sides;
    double *lower = c->scratch + (size_t)thread * 2 * HFI_TOGETHER * m, *upper = lower + HFI_TOGETHER * m;
    hfi_box_bound met[HFI_TOGETHER];
    size_t which[HFI_TOGETHER], kept = 0;
    bool inside[HFI_TOGETHER];
    for (size_t k = 0; k < count; k++) {
        memcpy(lower + kept * m, low + k * m, m * sizeof *low);
        memcpy(upper + kept * m, high + k * m, m * sizeof *high);
        if (tighten(c, lower + kept * m, upper + kept * m, &inside[kept])) {
            which[kept] = k;
            met[kept++] = out[k];
            continue;
        }
        memset(out[k].face, 0, m);
        out[k].bound = out[k].centre = out[k].predicted = (double)INFINITY;
        out[k].split = 0;
        out[k].slack = out[k].rounding = 0.0;
    }
    if (kept > 0) c->whole.functions->bounds(c->whole.of, thread, sign, enough, kept, lower, upper, met);
    for (size_t k = 0; k < kept; k++) {
        out[which[k]] = met[k];
        clear_faces(c, inside[k], met[k].face);
    }
}

/* ---- points ------------------------------------------------------------------------------------------------------ */

/* Towards the centre, until the point is in the region: it is inside the box before and after. */
static void project(const void *of, double *point)
{
    const cut *c = of;
    const size_t m = c->whole.sides;
    double sum = 0.0;
    for (size_t f = 0; f < m; f++) {
        const double away = point[f] - c->centre[f];
        if (c->step[f] > 0.0)
            point[f] = c->centre[f] + copysign(floor(fabs(away) / c->step[f] + 1e-10), away) * c->step[f];
        if (c->kind->weigh) sum += c->kind->weigh(fabs(point[f] - c->centre[f]) / c->half[f]);
    }
    if (!c->kind->weigh) return;
    const double size = c->kind->unweigh(sum), most = 1.0 - room;
    if (!(size > most)) return;
    for (size_t f = 0; f < m; f++) {
        const double away = (point[f] - c->centre[f]) * (most / size);
        /* Steps that the scale has cut are cut to whole ones. */
        const double steps = c->step[f] > 0.0 ? floor(fabs(away) / c->step[f] + 1e-10) : 0.0;
        point[f] = c->centre[f] + (c->step[f] > 0.0 ? copysign(steps, away) * c->step[f] : away);
    }
}

/* As hfi_ball has it: of what is not wholly inside. */
static bool ball(const void *of, const double *centre, const double *half, double *p, double *r, double *k)
{
    const cut *c = of;
    double most = 0.0;
    *k = -(1.0 + c->slack);
    for (size_t f = 0; f < c->whole.sides; f++) {
        const double at = (centre[f] - c->centre[f]) / c->half[f], side = half[f] / c->half[f];
        most += c->kind->weigh(fabs(at) + side);
        c->kind->add(at, side, &p[f], &r[f], k);
    }
    return most > 1.0 - c->slack;
}

static double region_problem_look(void *of, double sign, bool descend, const double *point, double *user)
{
    cut *c = of;
    const hfi_certify_problem *q = c->problem;
    const size_t m = c->whole.sides;
    memcpy(c->point, point, m * sizeof *point);
    project(c, c->point);
    const double value = c->whole.functions->look(c->whole.of, sign, descend, c->point, user);
    for (size_t f = 0; f < m; f++) {
        const size_t j = q->subject.free[f];
        if (c->step[f] > 0.0)
            user[j] = c->middle[f] + rint((user[j] - c->middle[f]) / c->stride[f]) * c->stride[f];
    }
    return value;
}

static const hfi_branch_functions functions = {region_problem_bounds, region_problem_look};

static void fill_region_cut(cut *c, const hfi_region_centre *place)
{
    const hfi_certify_problem *q = c->problem;
    const hf_region *region = q->settings.region;
    const hfi_scaling *scaling = &q->subject.posterior->scaling;
    for (size_t f = 0; f < c->whole.sides; f++) {
        const size_t j = q->subject.free[f];
        const double shift = scaling->x_shift[j], scale = scaling->x_scale[j];
        c->middle[f] = place->centre[j];
        c->stride[f] = region->step ? region->step[j] : 0.0;
        c->centre[f] = (place->centre[j] - shift) / scale;
        c->half[f] = place->half[j] / scale;
        c->step[f] = c->stride[f] / scale;
        /* Twice, for squares. */
        c->slack += 2.0 * room + 32.0 * DBL_EPSILON *
                                     (fabs(place->centre[j]) + fabs(shift) + place->half[j]) / place->half[j];
    }
}

hf_status hfi_region_cut(hfi_certify_problem *q, size_t threads, const hfi_region_centre *place,
                         hfi_branch_problem *whole)
{
    const hfi_memory *memory = &q->memory;
    const size_t m = whole->sides;
    cut *c;
    double *numbers, *scratch;
    if (!HFI_MEMORY_ALLOC(memory, HFI_ROOM(c, 1), HFI_ROOM(numbers, 6 * m),
                          HFI_ROOMS(scratch, threads * 2 * HFI_TOGETHER, m))) {
        HFI_MEMORY_FREE(memory, numbers, scratch, c);
        return HF_ERR_MEMORY;
    }
    *c = (cut){.whole = *whole,
               .problem = q,
               .kind = &shapes[q->settings.region->shape],
               .centre = numbers,
               .half = numbers + m,
               .step = numbers + 2 * m,
               .stride = numbers + 3 * m,
               .middle = numbers + 4 * m,
               .point = numbers + 5 * m,
               .scratch = scratch};
    fill_region_cut(c, place);
    whole->functions = &functions;
    whole->of = c;
    q->project = project;
    q->ball = c->kind->add ? ball : NULL;
    q->region = c;
    return HF_OK;
}

void hfi_region_uncut(hfi_branch_problem *whole)
{
    cut *c = whole->of;
    const hfi_memory memory = whole->memory;
    *whole = c->whole;
    c->problem->project = NULL;
    c->problem->ball = NULL;
    HFI_MEMORY_FREE(&memory, c->centre, c->scratch, c);
}
