/* SPDX-License-Identifier: Apache-2.0 */
/* Moments of softmax under a normal distribution, which is a matter of the C - 1 differences to the last
 * class: f = mean + A z.
 *
 * Up to four classes: the product of trapezoidal rules. Along one z the imaginary parts of f at z + i y are y
 * A_c; where they lie within an angle of y w < pi, w = max A_c - min A_c, each |softmax_c| <= 1 / cos(y w /
 * 2). The rule of step h errs by at most 2 M / (exp(2 pi y / h) - 1) with M = exp(y^2 / 2) / cos^5(y w / 2), for
 * products of up to five of them. (Trefethen and Weideman, The exponentially convergent trapezoidal rule, 2014, theorem
 * 5.1). */
#include "softmax/classes_moments.h"

#include "classify/softmax.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
    FEW = 4,   /* classes of which the rules are products */
    SCAN = 24, /* places y that are tried */
    PARTS = 8, /* of the sequence, each with a shift of its own */
    EACH = 512 /* points of a part */
};

/* Most points of a rule on either side of 0, by the number of rules. */
static const int most_points[FEW] = {0, 400, 160, 40};

size_t hfi_third_count(size_t classes)
{
    return classes * (classes + 1) * (classes + 2) / 6;
}

size_t hfi_fifth_count(size_t classes)
{
    return classes * (classes + 1) * (classes + 2) * (classes + 3) * (classes + 4) / 120;
}

/* ---- making ------------------------------------------------------------------------------------------------------ */

/* Multiples of the roots of primes, shifted at random, made normal in pairs by the method of Box and Muller. */
static void fill_sequence(hfi_rules *rules)
{
    const size_t normals = rules->classes - 1;
    hfi_stream stream;
    hfi_stream_init(&stream, 0, HFI_PURPOSE_SAMPLE, rules->classes);
    size_t candidate = 1;
    for (size_t j = 0; j < normals; j += 2) {
        double stride[2], shift[PARTS][2];
        for (int half = 0; half < 2; half++) {
            bool prime = false;
            while (!prime) {
                candidate++;
                prime = true;
                for (size_t q = 2; q * q <= candidate; q++) prime = prime && candidate % q != 0;
            }
            stride[half] = sqrt((double)candidate) - floor(sqrt((double)candidate));
        }
        for (size_t part = 0; part < PARTS; part++)
            for (int half = 0; half < 2; half++) shift[part][half] = hfi_stream_uniform(&stream);
        for (size_t k = 0; k < rules->points; k++) {
            const double *by = shift[k / EACH], at = (double)(k % EACH);
            double u = at * stride[0] + by[0];
            u = fabs(2.0 * (u - floor(u)) - 1.0);
            const double radius = sqrt(-2.0 * log(fmax(u, DBL_MIN))),
                         angle = 2.0 * HFI_PI * (at * stride[1] + by[1]);
            rules->z[j * rules->points + k] = radius * cos(angle);
            if (j + 1 < normals) rules->z[(j + 1) * rules->points + k] = radius * sin(angle);
        }
    }
}

hf_status hfi_rules_create(hf_context *ctx, size_t classes, double wanted, hfi_rules *out)
{
    *out = (hfi_rules){.memory = hfi_context_memory(ctx), .classes = classes, .wanted = wanted};
    if (classes <= FEW) return HF_OK;
    out->points = (size_t)PARTS * EACH;
    out->z = hfi_alloc(ctx, classes - 1, out->points * sizeof *out->z);
    if (!out->z) return HF_ERR_MEMORY;
    fill_sequence(out);
    return HF_OK;
}

void hfi_rules_free(hfi_rules *rules)
{
    hfi_memory_free(&rules->memory, rules->z);
    rules->z = NULL;
}

static size_t longest_line(const hfi_rules *rules)
{
    return rules->classes <= FEW ? 2 * (size_t)most_points[rules->classes - 1] + 1 : (size_t)EACH;
}

size_t hfi_rules_scratch(const hfi_rules *rules)
{
    const size_t classes = rules->classes, line = longest_line(rules);
    return classes * classes + (classes + 7) * line + PARTS * classes;
}

/* ---- products of rules ------------------------------------------------------------------------------------------- */

typedef struct rule_grid {
    size_t classes, count;
    double factor[FEW * (FEW - 1)];
    double step[FEW - 1];
    int points[FEW - 1];          /* on either side of 0 */
    double *z, *density, *weight; /* of the last rule */
    double *p, *work;
    double *mean, *third, *fifth;
} rule_grid;

static double bound_on_contour(double y, double width)
{
    const double c = cos(0.5 * y * width);
    return exp(0.5 * y * y) / (c * c * c * c * c);
}

/* The longest step that errs by no more than is wanted, and what it errs by. */
static double choose_step(double wanted, double reach, int most, double width, double *error)
{
    const double limit = fmin(HFI_PI / fmax(width, 1e-300), 12.0), shortest = reach / most;
    double step = 0.0;
    for (int k = 0; k < SCAN; k++) {
        const double y = limit * (k + 0.5) / SCAN;
        step = fmax(step, 2.0 * HFI_PI * y / log1p(2.0 * bound_on_contour(y, width) / wanted));
    }
    *error = wanted;
    if (step >= shortest) return step;
    *error = (double)INFINITY;
    for (int k = 0; k < SCAN; k++) {
        const double y = limit * (k + 0.5) / SCAN;
        *error = fmin(*error, 2.0 * bound_on_contour(y, width) / expm1(2.0 * HFI_PI * y / shortest));
    }
    return shortest;
}

static double choose_rule_points(rule_grid *g, double wanted)
{
    const double reach = sqrt(2.0 * log(1.0 / wanted)); /* the tails beyond weigh at most `wanted` */
    double total = 0.0;
    for (size_t j = 0; j < g->count; j++) {
        double high = 0.0, low = 0.0, error;
        for (size_t c = 0; c < g->classes; c++) {
            high = fmax(high, g->factor[c * g->count + j]);
            low = fmin(low, g->factor[c * g->count + j]);
        }
        g->step[j] = choose_step(wanted, reach, most_points[g->count], high - low, &error);
        const int points = (int)ceil(reach / g->step[j]);
        g->points[j] = points < most_points[g->count] ? points : most_points[g->count];
        total += 1.01 * error + wanted;
    }
    return total;
}

static double density(double z, double step)
{
    return exp(-0.5 * z * z - HFI_HALF_LOG_2PI) * step;
}

static void sum_grid(const rule_grid *g, size_t level, const double *f, double weight)
{
    double next[FEW], along[FEW];
    if (level + 1 >= g->count || level + 2 >= FEW) {
        const size_t length = 2 * (size_t)g->points[level] + 1;
        for (size_t i = 0; i < length; i++) g->weight[i] = weight * g->density[i];
        for (size_t c = 0; c < g->classes; c++) along[c] = g->factor[c * g->count + level];
        hfi_softmax_line(g->classes, length, f, along, g->z, g->p, g->work);
        hfi_softmax_sums(g->classes, length, g->p, g->weight, g->mean, g->third, g->work);
        if (g->fifth) hfi_softmax_fifths(g->classes, length, g->p, g->weight, g->fifth, g->work);
        return;
    }
    for (int i = -g->points[level]; i <= g->points[level]; i++) {
        const double z = i * g->step[level];
        for (size_t c = 0; c < g->classes; c++) next[c] = f[c] + g->factor[c * g->count + level] * z;
        sum_grid(g, level + 1, next, weight * density(z, g->step[level]));
    }
}

static double by_grid(const hfi_rules *rules, const double *mean, const double *v, double *p, double *third,
                      double *fifth, double *scratch)
{
    const size_t line = longest_line(rules), last = rules->classes - 2;
    rule_grid g = {
        .classes = rules->classes, .count = rules->classes - 1, .mean = p, .third = third, .fifth = fifth};
    hfi_softmax_differences(rules->classes, v, g.count, g.factor);
    const double error = choose_rule_points(&g, rules->wanted);
    g.z = scratch;
    g.density = g.z + line;
    g.weight = g.density + line;
    g.work = g.weight + line;
    g.p = g.work + 4 * line;
    double terms = 64.0;
    for (size_t j = 0; j < g.count; j++) terms += 2.0 * g.points[j] + 1.0;
    for (int i = -g.points[last]; i <= g.points[last]; i++) {
        g.z[i + g.points[last]] = i * g.step[last];
        g.density[i + g.points[last]] = density(i * g.step[last], g.step[last]);
    }
    sum_grid(&g, 0, mean, 1.0);
    return error + terms * DBL_EPSILON;
}

/* ---- a sequence -------------------------------------------------------------------------------------------------- */

static double by_sequence(const hfi_rules *rules, const double *mean, const double *v, double *p,
                          double *third, double *scratch)
{
    const size_t classes = rules->classes, last = classes - 1;
    double *factor = scratch, *columns = factor + classes * last, *weight = columns + classes * EACH,
           *work = weight + EACH, *part = work + 2 * EACH;
    hfi_softmax_differences(classes, v, last, factor);
    memset(part, 0, PARTS * classes * sizeof *part);
    for (size_t i = 0; i < EACH; i++) weight[i] = 1.0 / (double)rules->points;
    for (size_t b = 0; b < PARTS; b++) {
        for (size_t c = 0; c < classes; c++) {
            double *f = columns + c * EACH;
            for (size_t i = 0; i < EACH; i++) f[i] = mean[c];
            for (size_t k = 0; k <= c && k < last; k++)
                hfi_add_multiple(EACH, factor[c * last + k], rules->z + k * rules->points + b * EACH, f);
        }
        hfi_softmax_columns(classes, EACH, columns, work);
        hfi_softmax_sums(classes, EACH, columns, weight, part + b * classes, third, work);
    }
    double most = 0.0;
    for (size_t c = 0; c < classes; c++) {
        double squares = 0.0;
        for (size_t b = 0; b < PARTS; b++) p[c] += part[b * classes + c];
        for (size_t b = 0; b < PARTS; b++) {
            const double off = PARTS * part[b * classes + c] - p[c];
            squares += off * off;
        }
        most = fmax(most, squares);
    }
    return 6.0 * sqrt(most / (PARTS * (PARTS - 1.0)));
}

double hfi_moments(const hfi_rules *rules, const double *mean, const double *covariance, double *p,
                   double *third, double *scratch)
{
    memset(p, 0, rules->classes * sizeof *p);
    if (third) memset(third, 0, hfi_third_count(rules->classes) * sizeof *third);
    return rules->classes <= FEW ? by_grid(rules, mean, covariance, p, third, NULL, scratch)
                                 : by_sequence(rules, mean, covariance, p, third, scratch);
}

double hfi_moments_fifth(const hfi_rules *rules, const double *mean, const double *covariance, double *p,
                         double *fifth, double *scratch)
{
    memset(p, 0, rules->classes * sizeof *p);
    memset(fifth, 0, hfi_fifth_count(rules->classes) * sizeof *fifth);
    return by_grid(rules, mean, covariance, p, NULL, fifth, scratch);
}

/* ---- derivatives ------------------------------------------------------------------------------------------------- */

void hfi_moments_slopes(size_t classes, const double *third, const double *a, double *gradient,
                        double *hessian)
{
    /* hessian := - E[p_i p_j (a_i + a_j - 2 a'p)], gradient := E[p_i (a_i - a'p)]; then what is on the
     * diagonal alone: E[p_i (a_i - a'p)]. */
    memset(gradient, 0, classes * sizeof *gradient);
    memset(hessian, 0, classes * classes * sizeof *hessian);
    const double *t = third;
    for (size_t i = 0; i < classes; i++)
        for (size_t j = i; j < classes; j++)
            for (size_t k = j; k < classes; k++, t++) {
                /* Every order of the three, each once. */
                const size_t order[6][3] = {{i, j, k}, {i, k, j}, {j, i, k}, {j, k, i}, {k, i, j}, {k, j, i}};
                for (size_t o = 0; o < 6; o++) {
                    bool seen = false;
                    for (size_t q = 0; q < o; q++)
                        seen = seen || memcmp(order[q], order[o], sizeof order[o]) == 0;
                    if (seen) continue;
                    const size_t x = order[o][0], y = order[o][1], z = order[o][2];
                    gradient[x] += (a[x] - a[y]) * *t;
                    hessian[x * classes + y] -= (a[x] + a[y] - 2.0 * a[z]) * *t;
                }
            }
    for (size_t i = 0; i < classes; i++) hessian[i * classes + i] += gradient[i];
}
