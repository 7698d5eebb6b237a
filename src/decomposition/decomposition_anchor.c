/* SPDX-License-Identifier: Apache-2.0 */
/* One anchor: ranges and lines from the leaves up, estimates from the root down. */
#include "decomposition/plan.h"
#include "kernel/kernel.h"

#include <float.h>
#include <math.h>

void hfi_cosine_range(double angle, double half, double *lower, double *upper)
{
    const double folded = fabs(remainder(angle, 2.0 * HFI_PI));
    *upper = folded <= half ? 1.0 : cos(folded - half);
    *lower = folded + half >= HFI_PI ? -1.0 : cos(folded + half);
}

/* ---- psi ------------------------------------------------------------------------------------- */

static double psi_value(const hfi_plan_node *node, double phi)
{
    const double r = sqrt(phi);
    switch (node->psi) {
    case HFI_FORM_MATERN12:
        return exp(-r);
    case HFI_FORM_MATERN32:
        return (1.0 + sqrt(3.0) * r) * exp(-sqrt(3.0) * r);
    case HFI_FORM_MATERN52:
        return (1.0 + sqrt(5.0) * r + 5.0 * phi / 3.0) * exp(-sqrt(5.0) * r);
    case HFI_FORM_RQ:
        return exp(-node->value * log1p(phi / (2.0 * node->value)));
    case HFI_FORM_PERIODIC:
        return exp(-2.0 * phi);
    default:
        return exp(-0.5 * phi);
    }
}

/* Its slope at phi > 0. */
static double psi_slope(const hfi_plan_node *node, double phi)
{
    const double r = sqrt(phi);
    switch (node->psi) {
    case HFI_FORM_MATERN12:
        return -0.5 / r * exp(-r);
    case HFI_FORM_MATERN32:
        return -1.5 * exp(-sqrt(3.0) * r);
    case HFI_FORM_MATERN52:
        return -5.0 / 6.0 * (1.0 + sqrt(5.0) * r) * exp(-sqrt(5.0) * r);
    case HFI_FORM_RQ:
        return -0.5 * exp(-(node->value + 1.0) * log1p(phi / (2.0 * node->value)));
    case HFI_FORM_PERIODIC:
        return -2.0 * exp(-2.0 * phi);
    default:
        return -0.5 * exp(-0.5 * phi);
    }
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/* The function of one coordinate in phi: its range, its value at the centre, and the largest angle; and what
 * the sums need of it. */
static void part_range(const hfi_plan_anchor *at, const hfi_plan_part *part, double *turn, double range[4])
{
    const size_t c = part->column;
    const double t = at->centre[c] - at->z[c], half = at->half[c];
    if (part->wave == SIZE_MAX) {
        const double near = fmax(0.0, fabs(t) - half), far = fabs(t) + half;
        turn[0] = t;
        range[0] = part->weight * near * near;
        range[1] = part->weight * far * far;
        range[2] = part->weight * t * t;
        range[3] = 0.0;
        return;
    }
    const double w = 2.0 * HFI_PI * at->plan->wave[part->wave].frequency;
    double lower, upper;
    hfi_cosine_range(w * t, w * half, &lower, &upper);
    turn[0] = cos(w * t);
    turn[1] = sin(w * t);
    range[3] = part->weight * w * (fabs(t) + half);
    range[0] = 0.5 * part->weight * (1.0 - upper);
    range[1] = 0.5 * part->weight * (1.0 - lower);
    range[2] = 0.5 * part->weight * (1.0 - turn[0]);
}

static void convex_range(const hfi_plan_anchor *at, const hfi_plan_node *node, hfi_plan_value *v)
{
    double phi[4] = {0.0, 0.0, 0.0, 0.0}, range[4];
    for (size_t k = node->first; k < node->first + node->count; k++) {
        part_range(at, &at->plan->part[k], at->turn + 2 * k, range);
        for (int i = 0; i < 4; i++) phi[i] += range[i];
    }
    const double middle = 0.5 * (phi[0] + phi[1]);
    v->upper = psi_value(node, phi[0]);
    v->lower = psi_value(node, phi[1]);
    v->centre = psi_value(node, phi[2]);
    v->phi = phi[1];
    v->most = v->upper;
    v->phase = phi[3];
    v->below[1] = v->above[1] = v->slack = 0.0;
    v->below[0] = v->above[0] = v->upper;
    if (!(phi[1] > phi[0])) return;
    const double at_middle = psi_value(node, middle);
    v->below[1] = psi_slope(node, middle);
    v->below[0] = at_middle - v->below[1] * middle;
    v->above[1] = (v->lower - v->upper) / (phi[1] - phi[0]);
    v->above[0] = v->upper - v->above[1] * phi[0];
    v->slack = 0.5 * (v->lower + v->upper) - at_middle;
}

static void wave_range(const hfi_plan_anchor *at, const hfi_plan_node *node, hfi_plan_value *v)
{
    const hfi_plan_part *part = &at->plan->part[node->first];
    const double w = 2.0 * HFI_PI * at->plan->wave[part->wave].frequency;
    const double angle = w * (at->centre[part->column] - at->z[part->column]);
    double *turn = at->turn + 2 * node->first;
    turn[0] = v->centre = cos(angle);
    turn[1] = sin(angle);
    v->most = 1.0;
    v->phase = fabs(angle) + w * at->half[part->column];
    hfi_cosine_range(angle, w * at->half[part->column], &v->lower, &v->upper);
}

/* Times a number of either sign. */
static void turn_over(hfi_plan_value *v, double factor)
{
    const hfi_plan_value old = *v;
    const bool over = factor < 0.0;
    v->centre *= factor;
    v->lower = factor * (over ? old.upper : old.lower);
    v->upper = factor * (over ? old.lower : old.upper);
    for (int i = 0; i < 2; i++) {
        v->below[i] = factor * (over ? old.above[i] : old.below[i]);
        v->above[i] = factor * (over ? old.below[i] : old.above[i]);
    }
}

static void linear_range(const hfi_plan_anchor *at, const hfi_plan_node *node, hfi_plan_value *v)
{
    double half = 0.0;
    v->centre = v->most = 0.0;
    for (size_t k = node->first; k < node->first + node->count; k++) {
        const hfi_plan_part *part = &at->plan->part[k];
        const double slope = part->weight * at->z[part->column];
        v->centre += slope * at->centre[part->column];
        v->most += fabs(slope * at->centre[part->column]);
        half += fabs(slope) * at->half[part->column];
    }
    v->lower = v->centre - half;
    v->upper = v->centre + half;
    v->most += half;
}

/* A cosine over a plane: its tangent at the centre, lowered by what it can bend downward and raised by what
 * it can upward; or its range where that is less apart. */
static void cosine_lines(double u, double half, hfi_plan_value *v)
{
    const double curvature = 0.5 * half * half, down = curvature * fmax(0.0, v->upper),
                 up = curvature * fmax(0.0, -v->lower);
    const bool tangent = down + up < v->upper - v->lower;
    v->below[0] = tangent ? v->centre - down : v->lower;
    v->above[0] = tangent ? v->centre + up : v->upper;
    v->below[1] = v->above[1] = tangent ? -sin(u) : 0.0;
}

/* Lines are in u less u at the centre. */
static void plane_range(const hfi_plan_anchor *at, const hfi_plan_node *node, hfi_plan_value *v)
{
    double u = 0.0, of_z = 0.0, half = 0.0;
    v->phase = 0.0;
    for (size_t k = node->first; k < node->first + node->count; k++) {
        const hfi_plan_part *part = &at->plan->part[k];
        const size_t c = part->column;
        u += part->weight * (at->centre[c] + node->value * at->z[c]);
        of_z += part->weight * at->z[c];
        half += fabs(part->weight) * at->half[c];
        v->phase += fabs(part->weight) * (fabs(at->centre[c]) + fabs(at->z[c]) + at->half[c]);
    }
    if (node->psi == HFI_FORM_TILT) {
        v->centre = exp(u);
        v->lower = exp(u - half);
        v->upper = exp(u + half);
        v->below[0] = v->below[1] = v->centre;
        v->above[0] = 0.5 * (v->lower + v->upper);
        v->above[1] = half > 0.0 ? 0.5 * (v->upper - v->lower) / half : v->centre;
    } else {
        v->centre = cos(u);
        hfi_cosine_range(u, half, &v->lower, &v->upper);
        cosine_lines(u, half, v);
        if (node->value == 0.0) turn_over(v, cos(of_z));
    }
    v->most = fmax(fabs(v->lower), fabs(v->upper));
    v->slack = v->above[0] - v->below[0];
}

static size_t output_of(double number, size_t outputs)
{
    return (size_t)hfi_output_of(number, outputs);
}

static void table_range(const hfi_plan_anchor *at, const hfi_plan_node *node, hfi_plan_value *v)
{
    const size_t c = at->plan->part[node->first].column, n = node->outputs;
    const double *row = node->table + n * output_of(at->z[c], n);
    const size_t last = output_of(at->centre[c] + at->half[c], n);
    v->lower = INFINITY;
    v->upper = -INFINITY;
    v->centre = row[output_of(at->centre[c], n)];
    for (size_t s = output_of(at->centre[c] - at->half[c], n); s <= last; s++) {
        v->lower = fmin(v->lower, row[s]);
        v->upper = fmax(v->upper, row[s]);
    }
    v->most = fmax(fabs(v->lower), fabs(v->upper));
}

static void codes_range(const hfi_plan_anchor *at, const hfi_plan_node *node, hfi_plan_value *v)
{
    v->lower = v->upper = v->centre = 1.0;
    for (size_t k = node->first; k < node->first + node->count; k++) {
        const size_t c = at->plan->part[k].column;
        const double rho = at->plan->part[k].weight, code = hfi_code_of(at->z[c]);
        const double first = hfi_code_of(at->centre[c] - at->half[c]),
                     last = hfi_code_of(at->centre[c] + at->half[c]);
        if (hfi_code_of(at->centre[c]) != code) v->centre *= rho;
        if (first != code || last != code) v->lower *= rho;
        if (code < first || last < code) v->upper *= rho;
    }
    v->most = v->upper;
}

/* a := a b, ranges and centres. */
static void multiply_ranges(hfi_plan_value *a, const hfi_plan_value *b)
{
    const double ll = a->lower * b->lower, lu = a->lower * b->upper;
    const double ul = a->upper * b->lower, uu = a->upper * b->upper;
    a->lower = fmin(fmin(ll, lu), fmin(ul, uu));
    a->upper = fmax(fmax(ll, lu), fmax(ul, uu));
    a->centre *= b->centre;
    a->most *= b->most;
    a->phase += b->phase;
}

/* The range of the product of a list of factors. */
static hfi_plan_value product_range(const hfi_plan_anchor *at, size_t first)
{
    hfi_plan_value product = at->value[first];
    for (size_t c = at->plan->node[first].next; c != SIZE_MAX; c = at->plan->node[c].next)
        multiply_ranges(&product, &at->value[c]);
    return product;
}

static void joined_range(const hfi_plan_anchor *at, const hfi_plan_node *node, hfi_plan_value *v)
{
    v->lower = v->upper = v->centre = v->most = v->phase = 0.0;
    if (node->kind == HFI_PLAN_PRODUCT) {
        const hfi_plan_value product = product_range(at, node->child);
        v->lower = node->value * product.lower; /* weights and scales are positive */
        v->upper = node->value * product.upper;
        v->centre = node->value * product.centre;
        v->most = node->value * product.most;
        v->phase = product.phase;
        return;
    }
    for (size_t c = node->child; c != SIZE_MAX; c = at->plan->node[c].next) {
        v->lower += at->value[c].lower;
        v->upper += at->value[c].upper;
        v->centre += at->value[c].centre;
        v->most += at->value[c].most;
        v->phase = fmax(v->phase, at->value[c].phase);
    }
}

void hfi_plan_range(const hfi_plan_anchor *at)
{
    for (size_t k = 0; k < at->plan->nodes; k++) {
        const hfi_plan_node *node = &at->plan->node[k];
        hfi_plan_value *v = &at->value[k];
        v->phase = 0.0;
        switch (node->kind) {
        case HFI_PLAN_CONVEX:
            convex_range(at, node, v);
            break;
        case HFI_PLAN_WAVE:
            wave_range(at, node, v);
            break;
        case HFI_PLAN_LINEAR:
            linear_range(at, node, v);
            break;
        case HFI_PLAN_PLANE:
            plane_range(at, node, v);
            break;
        case HFI_PLAN_CONSTANT:
            v->lower = v->upper = v->centre = node->value;
            v->most = fabs(node->value);
            break;
        case HFI_PLAN_TABLE:
            table_range(at, node, v);
            break;
        case HFI_PLAN_CODES:
            codes_range(at, node, v);
            break;
        default:
            joined_range(at, node, v);
            break;
        }
    }
}

/* ---- estimates ------------------------------------------------------------------------------- */

static void add_constant(hfi_plan_sums *sums, double value)
{
    sums->constant += value;
    sums->size += fabs(value);
}

static void add_wave(const hfi_plan_anchor *at, size_t part, double weight, double phase, hfi_plan_sums *sums)
{
    const size_t w = at->plan->part[part].wave;
    sums->even[w] += weight * at->turn[2 * part];
    sums->odd[w] -= weight * at->turn[2 * part + 1];
    sums->size += fabs(weight) * (1.0 + phase);
}

static void convex_estimate(const hfi_plan_anchor *at, size_t node, double weight, hfi_plan_sums *sums)
{
    const hfi_plan_node *n = &at->plan->node[node];
    const hfi_plan_value *v = &at->value[node];
    const double *line = weight > 0.0 ? v->below : v->above;
    add_constant(sums, weight * line[0]);
    sums->size += 8.0 * fabs(weight * line[1]) * v->phi + fabs(weight) * v->upper * (1.0 + v->phase);
    sums->slack[node] += fabs(weight) * v->slack;
    for (size_t k = n->first; k < n->first + n->count && line[1] != 0.0; k++) {
        const hfi_plan_part *part = &at->plan->part[k];
        const double b = weight * line[1] * part->weight, t = at->turn[2 * k];
        if (n->waves) { /* b (1 - cos) / 2 */
            add_constant(sums, 0.5 * b);
            add_wave(at, k, -0.5 * b, v->phase / part->weight, sums);
        } else { /* b (t + delta)^2 */
            sums->constant += b * t * t;
            sums->slope[part->column] += 2.0 * b * t;
            sums->curvature[part->column] += b;
        }
    }
}

static void linear_estimate(const hfi_plan_anchor *at, const hfi_plan_node *node, double weight,
                            hfi_plan_sums *sums)
{
    for (size_t k = node->first; k < node->first + node->count; k++) {
        const hfi_plan_part *part = &at->plan->part[k];
        const size_t c = part->column;
        const double slope = weight * part->weight * at->z[c];
        sums->slope[c] += slope;
        sums->size += fabs(slope) * at->half[c];
        add_constant(sums, slope * at->centre[c]);
    }
}

static void plane_estimate(const hfi_plan_anchor *at, size_t node, double weight, hfi_plan_sums *sums)
{
    const hfi_plan_node *n = &at->plan->node[node];
    const hfi_plan_value *v = &at->value[node];
    const double *line = weight > 0.0 ? v->below : v->above;
    add_constant(sums, weight * line[0]);
    sums->size += fabs(weight) * (v->most + fabs(line[1])) * (1.0 + v->phase);
    sums->slack[node] += fabs(weight) * v->slack;
    for (size_t k = n->first; k < n->first + n->count; k++)
        sums->slope[at->plan->part[k].column] += weight * line[1] * at->plan->part[k].weight;
}

static void list_estimate(const hfi_plan_anchor *at, size_t first, double weight, hfi_plan_sums *sums);

static void node_estimate(const hfi_plan_anchor *at, size_t node, double weight, hfi_plan_sums *sums)
{
    const hfi_plan_node *n = &at->plan->node[node];
    switch (n->kind) {
    case HFI_PLAN_CONVEX:
        convex_estimate(at, node, weight, sums);
        break;
    case HFI_PLAN_WAVE:
        add_wave(at, n->first, weight, at->value[node].phase, sums);
        break;
    case HFI_PLAN_LINEAR:
        linear_estimate(at, n, weight, sums);
        break;
    case HFI_PLAN_PLANE:
        plane_estimate(at, node, weight, sums);
        break;
    case HFI_PLAN_CONSTANT:
    case HFI_PLAN_TABLE:
    case HFI_PLAN_CODES:
        add_constant(sums, weight * (weight > 0.0 ? at->value[node].lower : at->value[node].upper));
        break;
    case HFI_PLAN_PRODUCT:
        list_estimate(at, n->child, weight * n->value, sums);
        break;
    default:
        for (size_t c = n->child; c != SIZE_MAX; c = at->plan->node[c].next)
            node_estimate(at, c, weight, sums);
        break;
    }
}

/* weight times the product of a list of factors, two at least. For f g, with the ranges of both, an estimate
 * from below is the larger of
 *
 *     gL f + fL g - fL gL        gU f + fU g - fU gU
 *
 * and one from above the smaller of gU f + fL g - fL gU and gL f + fU g - fU gL. */
static void product_estimate(const hfi_plan_anchor *at, size_t first, double weight, hfi_plan_sums *sums)
{
    const hfi_plan_value f = at->value[first], g = product_range(at, at->plan->node[first].next);
    const bool below = weight > 0.0;
    const double f1 = f.lower, g1 = below ? g.lower : g.upper, f2 = f.upper, g2 = below ? g.upper : g.lower;
    const double one = g1 * f.centre + f1 * g.centre - f1 * g1;
    const double two = g2 * f.centre + f2 * g.centre - f2 * g2;
    const bool take_one = below ? one >= two : one <= two;
    const double of_f = take_one ? g1 : g2, of_g = take_one ? f1 : f2;
    add_constant(sums, -weight * of_f * of_g);
    sums->size +=
        4.0 * fabs(weight) * fmax(fabs(f.lower), fabs(f.upper)) * fmax(fabs(g.lower), fabs(g.upper));
    if (of_f != 0.0) node_estimate(at, first, weight * of_f, sums);
    if (of_g != 0.0) list_estimate(at, at->plan->node[first].next, weight * of_g, sums);
}

static void list_estimate(const hfi_plan_anchor *at, size_t first, double weight, hfi_plan_sums *sums)
{
    if (at->plan->node[first].next == SIZE_MAX)
        node_estimate(at, first, weight, sums);
    else
        product_estimate(at, first, weight, sums);
}

void hfi_plan_estimate(const hfi_plan_anchor *at, double weight, hfi_plan_sums *sums)
{
    if (weight != 0.0) node_estimate(at, at->plan->nodes - 1, weight, sums);
}
