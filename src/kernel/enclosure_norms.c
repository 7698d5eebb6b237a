/* SPDX-License-Identifier: Apache-2.0 */
/* How fast a kernel's features move. With phi(x) = k(x, .) in the kernel's space and v a direction, |d^p phi
 * / dv^p|^2 is the p-th derivative in both arguments of k at x. A stationary kernel along v is sum_m (-1)^m
 * a_m s^(2m) in s, all a_m >= 0, and that square is (2p)! a_p: sums of kernels add the a_m, products multiply
 * the series, and each a_m grows with every |v_j|. Features of sums are beside each other, those of products
 * multiply by Leibniz' rule, which serves where a factor is linear. */
#include "kernel/coregion.h"
#include "kernel/enclosure.h"
#include "kernel/enclosure_leaf.h"

#define ORDERS 4u

/* Upper bounds. */
typedef struct series {
    bool stationary;
    long double a[ORDERS]; /* if stationary */
    long double norm[ORDERS];
} series;

static long double add_up(long double a, long double b)
{
    return a == 0.0L ? b : b == 0.0L ? a : hfi_up(a + b);
}

static long double root_up(long double a)
{
    return a > 0.0L ? hfi_up(sqrtl(a)) : 0.0L;
}

static const long double FACTORIAL[] = {1.0L, 2.0L, 24.0L, 720.0L}; /* of 2p */

static series stationary(const long double *a)
{
    series s = {.stationary = true};
    for (size_t p = 0; p < ORDERS; p++) {
        s.a[p] = a[p];
        s.norm[p] = root_up(hfi_times_up(FACTORIAL[p], a[p]));
    }
    return s;
}

static series number(long double value)
{
    const long double a[ORDERS] = {value};
    return stationary(a);
}

static series multiply_norm_series(const series *f, const series *g)
{
    static const long double CHOOSE[ORDERS][ORDERS] = {
        {1.0L}, {1.0L, 1.0L}, {1.0L, 2.0L, 1.0L}, {1.0L, 3.0L, 3.0L, 1.0L}};
    series s = {.stationary = f->stationary && g->stationary};
    long double a[ORDERS] = {0.0L};
    for (size_t p = 0; p < ORDERS; p++)
        for (size_t i = 0; i <= p; i++) {
            const long double both = hfi_times_up(f->norm[i], g->norm[p - i]);
            s.norm[p] = add_up(s.norm[p], hfi_times_up(CHOOSE[p][i], both));
            if (s.stationary) a[p] = add_up(a[p], hfi_times_up(f->a[i], g->a[p - i]));
        }
    return s.stationary ? stationary(a) : s;
}

static series add_norm_series(const series *f, const series *g)
{
    series s = {.stationary = f->stationary && g->stationary};
    long double a[ORDERS] = {0.0L};
    for (size_t p = 0; p < ORDERS; p++) {
        if (s.stationary) a[p] = add_up(f->a[p], g->a[p]);
        s.norm[p] =
            root_up(add_up(hfi_times_up(f->norm[p], f->norm[p]), hfi_times_up(g->norm[p], g->norm[p])));
    }
    return s.stationary ? stationary(a) : s;
}

/* ---- leaves ---------------------------------------------------------------------------------- */

typedef struct moving {
    const hfi_enclosed at;
    const long double *half;
} moving;

static hfi_interval half_of(const moving *m, const hfi_leaf *leaf, size_t a)
{
    return hfi_interval_point(m->half[hfi_enclosed_column(&m->at, leaf, a)]);
}

static long double power_up(long double base, size_t p)
{
    long double power = 1.0L;
    for (size_t i = 0; i < p; i++) power = hfi_times_up(power, base);
    return power;
}

/* In q = sum (v_a / l_a)^2. A norm that needs derivatives that the kernel lacks is infinite, unless the kernel does not
 * move at all. */
static series bound_radial_series(const moving *m, const hfi_leaf *leaf)
{
    const hfi_interval one = hfi_interval_point(1.0L), two = hfi_interval_point(2.0L);
    hfi_interval q = hfi_interval_point(0.0L);
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval l = hfi_enclosed_entry(&m->at, leaf, HFI_FIELD_LENGTHSCALE, a);
        q = hfi_interval_add(q, hfi_interval_square(hfi_interval_divide(half_of(m, leaf, a), l)));
    }
    /* a_p of q^p: numerators and denominators. */
    hfi_interval up[ORDERS] = {one, one, one, one};
    long double down[ORDERS] = {1.0L, 2.0L, 8.0L, 48.0L};
    if (leaf->form == HFI_FORM_RQ) { /* 1/2, (alpha + 1) / 8 alpha, (alpha + 1) (alpha + 2) / 48 alpha^2 */
        const hfi_interval alpha = hfi_enclosed_parameter(&m->at, hfi_leaf_at(leaf, HFI_FIELD_ALPHA));
        up[2] = hfi_interval_divide(hfi_interval_add(alpha, one), alpha);
        up[3] = hfi_interval_multiply(up[2], hfi_interval_divide(hfi_interval_add(alpha, two), alpha));
    } else if (leaf->form == HFI_FORM_MATERN52) {
        up[1] = hfi_interval_point(5.0L), down[1] = 6.0L;
        up[2] = hfi_interval_point(25.0L), down[2] = 24.0L;
        up[3].upper = INFINITY;
    } else if (leaf->form == HFI_FORM_MATERN32) {
        up[1] = hfi_interval_point(3.0L);
        up[2].upper = up[3].upper = INFINITY;
    } else if (leaf->form == HFI_FORM_MATERN12) {
        up[1].upper = up[2].upper = up[3].upper = INFINITY;
    }
    long double a[ORDERS] = {1.0L};
    for (size_t p = 1; p < ORDERS; p++) {
        const long double ratio = hfi_up(up[p].upper / down[p]);
        a[p] = hfi_times_up(ratio, power_up(q.upper, p));
    }
    return stationary(a);
}

/* exp(-b (1 - cos theta)) in theta, b = 1 / l^2: b/2, b/24 + b^2/8, b/720 + b^2/48 + b^3/48. */
static series bound_periodic_series(const moving *m, const hfi_leaf *leaf)
{
    series product = number(1.0L);
    for (size_t k = 0; k < leaf->columns; k++) {
        const hfi_interval turns =
            hfi_interval_divide(half_of(m, leaf, k), hfi_enclosed_entry(&m->at, leaf, HFI_FIELD_PERIOD, k));
        const hfi_interval theta = hfi_interval_multiply(hfi_interval_times(2.0L, hfi_interval_pi()), turns);
        const hfi_interval l = hfi_enclosed_entry(&m->at, leaf, HFI_FIELD_LENGTHSCALE, k);
        const long double q = hfi_interval_square(theta).upper;
        const long double b = hfi_interval_divide(hfi_interval_point(1.0L), hfi_interval_square(l)).upper;
        const long double b2 = hfi_times_up(b, b), b3 = hfi_times_up(b2, b);
        const long double second = add_up(hfi_up(b / 24.0L), 0.125L * b2);
        const long double third = add_up(hfi_up(b / 720.0L), add_up(hfi_up(b2 / 48.0L), hfi_up(b3 / 48.0L)));
        const long double a[ORDERS] = {1.0L, hfi_times_up(0.5L * b, q), hfi_times_up(second, power_up(q, 2)),
                                       hfi_times_up(third, power_up(q, 3))};
        const series factor = stationary(a);
        product = multiply_norm_series(&product, &factor);
    }
    return product;
}

static series bound_linear_series(const moving *m, const hfi_leaf *leaf)
{
    series s = {.stationary = false};
    long double square = 0.0L, slope = 0.0L;
    for (size_t a = 0; a < leaf->columns; a++) {
        const long double v = hfi_enclosed_entry(&m->at, leaf, HFI_FIELD_VARIANCE, a).upper;
        const long double x2 = hfi_interval_square(hfi_enclosed_coordinate(&m->at, leaf, a)).upper;
        const long double h2 = hfi_interval_square(half_of(m, leaf, a)).upper;
        square = add_up(square, hfi_times_up(v, x2));
        slope = add_up(slope, hfi_times_up(v, h2));
    }
    s.norm[0] = root_up(square);
    s.norm[1] = root_up(slope);
    return s;
}

/* exp(-g) cos(c): g^p / p! and c^2p / (2p)!, column by column. */
static series component(const moving *m, const hfi_leaf *leaf, size_t q)
{
    const size_t mean = hfi_leaf_at(leaf, HFI_FIELD_MEAN) + q * leaf->columns;
    const size_t variance = hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + q * leaf->columns;
    const hfi_interval two_pi = hfi_interval_times(2.0L, hfi_interval_pi());
    series product = number(m->at.kernel->value[hfi_leaf_at(leaf, HFI_FIELD_WEIGHT) + q]);
    for (size_t k = 0; k < leaf->columns; k++) {
        const hfi_interval t = hfi_interval_multiply(two_pi, half_of(m, leaf, k));
        const long double t2 = hfi_interval_square(t).upper;
        const long double g = hfi_times_up(0.5L * (long double)m->at.kernel->value[variance + k], t2);
        const long double c2 =
            hfi_interval_square(hfi_interval_multiply(t, hfi_enclosed_parameter(&m->at, mean + k))).upper;
        const long double bell[ORDERS] = {1.0L, g, 0.5L * power_up(g, 2), hfi_up(power_up(g, 3) / 6.0L)};
        const long double wave[ORDERS] = {1.0L, 0.5L * c2, hfi_up(power_up(c2, 2) / 24.0L),
                                          hfi_up(power_up(c2, 3) / 720.0L)};
        const series s = stationary(bell), w = stationary(wave), both = multiply_norm_series(&s, &w);
        product = multiply_norm_series(&product, &both);
    }
    return product;
}

/* With c what u moves by: cos c of wave; features whose derivatives are at most c^p, or exp(u) c^p. */
static series bound_plane_series(const moving *m, const hfi_leaf *leaf)
{
    const bool tilt = leaf->form == HFI_FORM_TILT;
    const hfi_field field = tilt ? HFI_FIELD_RATE : HFI_FIELD_FREQUENCY;
    hfi_interval u = hfi_interval_point(0.0L), c = u;
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval f = hfi_enclosed_entry(&m->at, leaf, field, a);
        u = hfi_interval_add(u, hfi_interval_multiply(f, hfi_enclosed_coordinate(&m->at, leaf, a)));
        c = hfi_interval_add(c, hfi_interval_multiply(hfi_interval_size(f), half_of(m, leaf, a)));
    }
    const hfi_interval two_pi = hfi_interval_times(2.0L, hfi_interval_pi());
    const long double reach = tilt ? c.upper : hfi_interval_multiply(two_pi, c).upper;
    const long double most = tilt ? hfi_interval_exp(u).upper : 1.0L;
    if (leaf->form == HFI_FORM_WAVE) {
        const long double c2 = hfi_times_up(reach, reach);
        const long double wave[ORDERS] = {1.0L, 0.5L * c2, hfi_up(power_up(c2, 2) / 24.0L),
                                          hfi_up(power_up(c2, 3) / 720.0L)};
        return stationary(wave);
    }
    series s = {.stationary = false};
    for (size_t p = 0; p < ORDERS; p++) s.norm[p] = hfi_times_up(most, power_up(reach, p));
    return s;
}

static series leaf_series(const moving *m, const hfi_leaf *leaf)
{
    hfi_interval value;
    series sum = number(0.0L);
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        return bound_periodic_series(m, leaf);
    case HFI_FORM_LINEAR:
        return bound_linear_series(m, leaf);
    case HFI_FORM_SM:
        for (size_t q = 0; q < leaf->components; q++) {
            const series s = component(m, leaf, q);
            sum = add_norm_series(&sum, &s);
        }
        return sum;
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT:
        return bound_plane_series(m, leaf);
    case HFI_FORM_CONSTANT:
    case HFI_FORM_WHITE:
    case HFI_FORM_CATEGORY: /* does not move within one category, */
    case HFI_FORM_COREGION: /* nor within one output */
        hfi_enclose_leaf(&m->at, leaf, &value);
        return number(value.upper > 0.0L ? value.upper : 0.0L);
    default:
        return bound_radial_series(m, leaf);
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

static series sum_series(const moving *m, size_t sum);

/* Stationary factors are multiplied with each other first: their series lose nothing. */
static series term_series(const moving *m, size_t term)
{
    const hf_kernel *kernel = m->at.kernel;
    const size_t scale = kernel->nodes[term].scale;
    series plain = number(scale == HFI_NONE ? 1.0L : (long double)kernel->value[scale]), rest = number(1.0L);
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next) {
        const series factor = kernel->nodes[c].kind == HFI_NODE_SUM
                                  ? sum_series(m, c)
                                  : leaf_series(m, &kernel->leaves[kernel->nodes[c].leaf]);
        series *into = factor.stationary ? &plain : &rest;
        *into = multiply_norm_series(into, &factor);
    }
    return multiply_norm_series(&plain, &rest);
}

static series sum_series(const moving *m, size_t sum)
{
    const hf_kernel *kernel = m->at.kernel;
    series total = number(0.0L);
    for (size_t t = kernel->nodes[sum].child; t != HFI_NONE; t = kernel->nodes[t].next) {
        const series term = term_series(m, t);
        total = add_norm_series(&total, &term);
    }
    return total;
}

static bool leaf_steps(const hf_kernel *kernel, const hfi_leaf *leaf, const hfi_interval *x)
{
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval at = x[kernel->columns[leaf->column_at + a]];
        const double low = (double)at.lower, high = (double)at.upper;
        if (leaf->form == HFI_FORM_COREGION
                ? hfi_output_of(low, leaf->outputs) != hfi_output_of(high, leaf->outputs)
                : hfi_code_of(low) != hfi_code_of(high))
            return true;
    }
    return false;
}

/* A box over several outputs or categories. */
static bool steps(const hf_kernel *kernel, const hfi_interval *x)
{
    for (size_t l = 0; l < kernel->leaf_count; l++)
        if (hfi_form_sees_codes(kernel->leaves[l].form) && leaf_steps(kernel, &kernel->leaves[l], x))
            return true;
    return false;
}

bool hfi_kernel_feature_norms(const hf_kernel *kernel, const hfi_interval *x, const long double *half,
                              long double norm[4])
{
    if (!hfi_interval_usable() || steps(kernel, x)) return false;
    const moving m = {.at = {.kernel = kernel, .box = x}, .half = half};
    const series s = sum_series(&m, kernel->root);
    for (size_t p = 0; p < ORDERS; p++) norm[p] = s.norm[p];
    return true;
}
