/* SPDX-License-Identifier: Apache-2.0 */
/* The bound of the kernel decomposition over a box: estimates of all anchors, added up, and the sums
 * minimised coordinate by coordinate. */
#include "decomposition/decomposition.h"
#include "decomposition/plan.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef struct decomposition_state {
    const hf_posterior *posterior;
    hfi_plan plan;
} decomposition_state;

hf_status hfi_decomposition_create(hf_context *ctx, const hfi_subject *subject, void **out)
{
    const hfi_memory memory = hfi_context_memory(ctx);
    *out = NULL;
    decomposition_state *s = hfi_alloc(ctx, 1, sizeof *s);
    if (s == NULL) return HF_ERR_MEMORY;
    const hf_status status = hfi_plan_create(ctx, subject->posterior->kernel, &s->plan);
    if (status < 0) {
        hfi_memory_free(&memory, s);
        return status;
    }
    s->posterior = subject->posterior;
    *out = s;
    return HF_OK;
}

void hfi_decomposition_free(void *of)
{
    decomposition_state *s = of;
    if (s == NULL) return;
    const hfi_memory memory = s->plan.memory;
    hfi_plan_free(&s->plan);
    hfi_memory_free(&memory, s);
}

#define VALUE_DOUBLES (sizeof(hfi_plan_value) / sizeof(double))

static size_t sums_size(const hfi_plan *plan)
{
    return 2 * plan->d + 2 * plan->waves + plan->nodes;
}

size_t hfi_decomposition_scratch(const void *of)
{
    const hfi_plan *plan = &((const decomposition_state *)of)->plan;
    return VALUE_DOUBLES * plan->nodes + 2 * plan->parts + 2 * sums_size(plan) + 2 * plan->d;
}

static hfi_plan_sums make_sums(const hfi_plan *plan, double *room)
{
    memset(room, 0, sums_size(plan) * sizeof *room);
    hfi_plan_sums sums = {.curvature = room, .slope = room + plan->d};
    sums.even = sums.slope + plan->d;
    sums.odd = sums.even + plan->waves;
    sums.slack = sums.odd + plan->waves;
    return sums;
}

/* ---- minima ---------------------------------------------------------------------------------- */

/* Minimum of curvature delta^2 + slope delta over [-half, half]. */
static double parabola_minimum(double curvature, double slope, double half, double *at)
{
    if (curvature > 0.0 && fabs(slope) < 2.0 * curvature * half) {
        *at = -0.5 * slope / curvature;
        return 0.5 * slope * *at;
    }
    *at = slope > 0.0 ? -half : half;
    return curvature * half * half - fabs(slope) * half;
}

/* Minimum of even cos(w delta) + odd sin(w delta) = R cos(w delta - phase), likewise. */
static double wave_minimum(double even, double odd, double w, double half, double *at)
{
    const double size = hypot(even, odd), phase = atan2(odd, even);
    const double folded = remainder(-phase, 2.0 * HFI_PI);
    double lower, upper;
    hfi_cosine_range(-phase, w * half, &lower, &upper);
    *at = fabs(folded) + w * half >= HFI_PI && w > 0.0 ? (copysign(HFI_PI, folded) - folded) / w
                                                       : copysign(half, folded);
    return size * lower;
}

/* Shares out what the box's sides do to the lines: a node's slack goes by the half-widths in units of the node. */
static void share_slack(const hfi_plan *plan, const double *half, const hfi_plan_sums *sums, double *gap)
{
    for (size_t k = 0; k < plan->nodes; k++) {
        const hfi_plan_node *node = &plan->node[k];
        double total = 0.0;
        for (size_t p = node->first; p < node->first + node->count; p++)
            total += sqrt(fabs(plan->part[p].weight)) * half[plan->part[p].column];
        if (!(sums->slack[k] > 0.0) || !(total > 0.0)) continue;
        for (size_t p = node->first; p < node->first + node->count; p++) {
            const size_t c = plan->part[p].column;
            gap[c] += sums->slack[k] * (sqrt(fabs(plan->part[p].weight)) * half[c] / total);
        }
    }
}

/* The least value of the sums, before rounding; what each coordinate adds to the distance from the value at
 * the centre; where it is. */
static double minimise(const hfi_plan *plan, const double *centre, const double *half, hfi_plan_sums *sums,
                       double *gap, double *at)
{
    double total = sums->constant;
    for (size_t j = 0; j < plan->d; j++) {
        double delta;
        const double least = parabola_minimum(sums->curvature[j], sums->slope[j], half[j], &delta);
        total += least;
        sums->size += (fabs(sums->curvature[j]) * half[j] + fabs(sums->slope[j])) * half[j];
        gap[j] = -least;
        at[j] = centre[j] + delta;
    }
    for (size_t w = 0; w < plan->waves; w++) {
        double delta;
        const size_t j = plan->wave[w].column;
        const double least = wave_minimum(sums->even[w], sums->odd[w], 2.0 * HFI_PI * plan->wave[w].frequency,
                                          half[j], &delta);
        total += least;
        gap[j] += fmax(0.0, sums->even[w] - least);
        if (sums->curvature[j] == 0.0 && sums->slope[j] == 0.0) at[j] = centre[j] + delta;
    }
    share_slack(plan, half, sums, gap);
    for (size_t j = 0; j < plan->d; j++) {
        at[j] = fmin(fmax(at[j], centre[j] - half[j]), centre[j] + half[j]);
        if (!(half[j] > 0.0)) gap[j] = 0.0;
    }
    return total;
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* Every number that was added up carries a few roundings of its own, and one for each that was added after
 * it. A slip in the distance phi does no more to psi, as phi psi'(phi) and its multiples by phi stay below 3
 * for every psi. */
static double allowance(const hfi_plan *plan, size_t anchors, const hfi_plan_sums *sums)
{
    const double roundings =
        (double)anchors * (double)(plan->parts + 4 * plan->nodes) + 16.0 * (double)plan->d + 128.0;
    return roundings * DBL_EPSILON * sums->size;
}

static void add_mean(const hf_posterior *posterior, const double *centre, const double *half, double sign,
                     double *slope, hfi_plan_sums *sums)
{
    const size_t d = posterior->solution.d;
    double value;
    hf_mean_evaluate(posterior->mean, 1, centre, d, &value);
    memset(slope, 0, d * sizeof *slope);
    hfi_mean_input_gradient(posterior->mean, slope);
    sums->constant += sign * value;
    sums->size += fabs(value);
    for (size_t j = 0; j < d; j++) {
        sums->slope[j] += sign * slope[j];
        sums->size += fabs(slope[j]) * (fabs(centre[j]) + half[j]);
    }
}

void hfi_decomposition_mean(const void *of, const double *centre, const double *half, double *scratch,
                            hfi_enclosure *out)
{
    const decomposition_state *s = of;
    const hfi_plan *plan = &s->plan;
    const hfi_solution *solution = &s->posterior->solution;
    double *turn = scratch + VALUE_DOUBLES * plan->nodes, *room = turn + 2 * plan->parts;
    hfi_plan_sums below = make_sums(plan, room), above = make_sums(plan, room + sums_size(plan));
    double *slope = room + 2 * sums_size(plan);
    hfi_plan_anchor at = {.plan = plan, .centre = centre, .half = half, .turn = turn};
    at.value = (hfi_plan_value *)(void *)scratch;
    for (size_t i = 0; i < solution->n; i++) {
        at.z = solution->z + i * solution->d;
        hfi_plan_range(&at);
        hfi_plan_estimate(&at, solution->t[i], &below);
        hfi_plan_estimate(&at, -solution->t[i], &above);
    }
    add_mean(s->posterior, centre, half, 1.0, slope, &below);
    add_mean(s->posterior, centre, half, -1.0, slope, &above);
    const double least = minimise(plan, centre, half, &below, out->gap_lower, out->at_lower);
    const double most = minimise(plan, centre, half, &above, out->gap_upper, out->at_upper);
    out->lower = least - allowance(plan, solution->n, &below);
    out->upper = -(most - allowance(plan, solution->n, &above));
    if (!isfinite(out->lower)) out->lower = -INFINITY;
    if (!isfinite(out->upper)) out->upper = INFINITY;
}
