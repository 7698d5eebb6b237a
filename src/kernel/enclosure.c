/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel for one pair of points in interval arithmetic: value.c with every rounding accounted for. Only difference(), coordinate()
 * and output() look at the points. */
#include "kernel/enclosure.h"
#include "kernel/coregion.h"
#include "kernel/kernel.h"

typedef struct pair {
    const hf_kernel *kernel;
    const double *x, *z;
    bool same; /* white is seen */
} pair;

static hfi_interval parameter(const pair *at, size_t p)
{
    return hfi_interval_point(at->kernel->value[p]);
}

static hfi_interval entry(const pair *at, const hfi_leaf *leaf, hfi_field field, size_t a)
{
    return parameter(at, hfi_leaf_at(leaf, field) + (leaf->ard ? a : 0));
}

static size_t column(const pair *at, const hfi_leaf *leaf, size_t a)
{
    return at->kernel->columns[leaf->column_at + a];
}

static hfi_interval coordinate(const pair *at, const double *point, const hfi_leaf *leaf, size_t a)
{
    return hfi_interval_point(point[column(at, leaf, a)]);
}

static hfi_interval difference(const pair *at, const hfi_leaf *leaf, size_t a)
{
    return hfi_interval_subtract(coordinate(at, at->x, leaf, a), coordinate(at, at->z, leaf, a));
}

static size_t output(const pair *at, const double *point, const hfi_leaf *leaf)
{
    return (size_t)hfi_output_of(point[column(at, leaf, 0)], leaf->outputs);
}

/* exp(-a) */
static hfi_interval decay(hfi_interval a)
{
    return hfi_interval_exp(hfi_interval_negate(a));
}

static hfi_interval times(long double factor, hfi_interval a)
{
    return hfi_interval_multiply(hfi_interval_point(factor), a);
}

/* ---- leaves ---------------------------------------------------------------------------------------------
 */

/* 1 + s, for matern52 + s^2/3, at one s. */
static hfi_interval polynomial(hfi_form form, long double s)
{
    const hfi_interval at = hfi_interval_point(s);
    const hfi_interval line = hfi_interval_add(hfi_interval_point(1.0L), at);
    if (form != HFI_FORM_MATERN52) return line;
    return hfi_interval_add(line, hfi_interval_divide(hfi_interval_square(at), hfi_interval_point(3.0L)));
}

/* The polynomial grows with s, but its product with exp(-s) falls: the far end decides the lower bound, the near one the upper. */
static hfi_interval matern(hfi_form form, hfi_interval s)
{
    const hfi_interval e = decay(s);
    const long double lower = hfi_times_down(polynomial(form, s.upper).lower, e.lower);
    return (hfi_interval){lower > 0.0L ? lower : 0.0L,
                          hfi_times_up(polynomial(form, s.lower).upper, e.upper)};
}

static hfi_interval radial_at(hfi_form form, hfi_interval alpha, hfi_interval r2)
{
    switch (form) {
    case HFI_FORM_MATERN12:
        return decay(hfi_interval_sqrt(r2));
    case HFI_FORM_MATERN32:
        return matern(form, hfi_interval_sqrt(times(3.0L, r2)));
    case HFI_FORM_MATERN52:
        return matern(form, hfi_interval_sqrt(times(5.0L, r2)));
    case HFI_FORM_RQ: {
        const hfi_interval ratio = hfi_interval_divide(r2, times(2.0L, alpha));
        return decay(hfi_interval_multiply(alpha, hfi_interval_log1p(ratio)));
    }
    default:
        return decay(times(0.5L, r2));
    }
}

static hfi_interval radial(const pair *at, const hfi_leaf *leaf)
{
    hfi_interval r2 = hfi_interval_point(0.0L), alpha = r2;
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval t = difference(at, leaf, a);
        const hfi_interval u = hfi_interval_divide(t, entry(at, leaf, HFI_FIELD_LENGTHSCALE, a));
        r2 = hfi_interval_add(r2, hfi_interval_square(u));
    }
    if (leaf->form == HFI_FORM_RQ) alpha = parameter(at, hfi_leaf_at(leaf, HFI_FIELD_ALPHA));
    if (hfi_interval_is(r2, 0.0L)) return hfi_interval_point(1.0L);
    const hfi_interval value = radial_at(leaf->form, alpha, r2);
    return (hfi_interval){value.lower, value.upper < 1.0L ? value.upper : 1.0L};
}

static hfi_interval periodic(const pair *at, const hfi_leaf *leaf)
{
    hfi_interval sum = hfi_interval_point(0.0L);
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval lengthscale = entry(at, leaf, HFI_FIELD_LENGTHSCALE, a);
        const hfi_interval turns =
            hfi_interval_divide(difference(at, leaf, a), entry(at, leaf, HFI_FIELD_PERIOD, a));
        const hfi_interval scaled =
            hfi_interval_divide(hfi_interval_sin_squared(turns), hfi_interval_square(lengthscale));
        sum = hfi_interval_add(sum, scaled);
    }
    return decay(times(2.0L, sum));
}

static hfi_interval linear(const pair *at, const hfi_leaf *leaf)
{
    hfi_interval sum = hfi_interval_point(0.0L);
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval product =
            hfi_interval_multiply(coordinate(at, at->x, leaf, a), coordinate(at, at->z, leaf, a));
        sum = hfi_interval_add(sum, hfi_interval_multiply(entry(at, leaf, HFI_FIELD_VARIANCE, a), product));
    }
    return sum;
}

static hfi_interval component(const pair *at, const hfi_leaf *leaf, size_t q)
{
    const size_t mean = hfi_leaf_at(leaf, HFI_FIELD_MEAN) + q * leaf->columns;
    const size_t variance = hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + q * leaf->columns;
    const hfi_interval pi2 = times(2.0L, hfi_interval_square(hfi_interval_pi()));
    hfi_interval exponent = hfi_interval_point(0.0L), wave = hfi_interval_point(1.0L);
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval t = difference(at, leaf, a);
        const hfi_interval t2 = hfi_interval_multiply(parameter(at, variance + a), hfi_interval_square(t));
        const hfi_interval turns = hfi_interval_multiply(t, parameter(at, mean + a));
        exponent = hfi_interval_add(exponent, hfi_interval_multiply(pi2, t2));
        wave = hfi_interval_multiply(wave, hfi_interval_cos_turns(turns));
    }
    const hfi_interval weight = parameter(at, hfi_leaf_at(leaf, HFI_FIELD_WEIGHT) + q);
    return hfi_interval_multiply(weight, hfi_interval_multiply(decay(exponent), wave));
}

static hfi_interval spectral(const pair *at, const hfi_leaf *leaf)
{
    hfi_interval sum = hfi_interval_point(0.0L);
    for (size_t q = 0; q < leaf->components; q++) sum = hfi_interval_add(sum, component(at, leaf, q));
    return sum;
}

/* B = W W' + diag(own) from the parameters: the table that the kernel keeps is rounded. */
static hfi_interval coregion(const pair *at, const hfi_leaf *leaf)
{
    const size_t s = output(at, at->x, leaf), t = output(at, at->z, leaf);
    const size_t row_s = leaf->first + hfi_coregion_row(leaf, s);
    const size_t row_t = leaf->first + hfi_coregion_row(leaf, t);
    const size_t length = hfi_coregion_length(leaf, s < t ? s : t);
    hfi_interval sum = hfi_interval_point(0.0L);
    for (size_t q = 0; q < length; q++)
        sum =
            hfi_interval_add(sum, hfi_interval_multiply(parameter(at, row_s + q), parameter(at, row_t + q)));
    if (s == t && leaf->rank < leaf->outputs)
        sum = hfi_interval_add(sum, parameter(at, hfi_leaf_at(leaf, HFI_FIELD_OWN) + s));
    return sum;
}

static hfi_interval leaf_value(const pair *at, const hfi_leaf *leaf)
{
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        return periodic(at, leaf);
    case HFI_FORM_LINEAR:
        return linear(at, leaf);
    case HFI_FORM_CONSTANT:
        return parameter(at, leaf->first);
    case HFI_FORM_WHITE:
        return at->same ? parameter(at, leaf->first) : hfi_interval_point(0.0L);
    case HFI_FORM_SM:
        return spectral(at, leaf);
    case HFI_FORM_COREGION:
        return coregion(at, leaf);
    default:
        return radial(at, leaf);
    }
}

/* ---- the tree -------------------------------------------------------------------------------------------
 */

static hfi_interval sum_value(const pair *at, size_t sum);

static hfi_interval factor_value(const pair *at, size_t factor)
{
    const hfi_node *node = &at->kernel->nodes[factor];
    return node->kind == HFI_NODE_SUM ? sum_value(at, factor)
                                      : leaf_value(at, &at->kernel->leaves[node->leaf]);
}

static hfi_interval term_value(const pair *at, size_t term)
{
    const hf_kernel *kernel = at->kernel;
    const size_t scale = kernel->nodes[term].scale;
    hfi_interval product = scale == HFI_NONE ? hfi_interval_point(1.0L) : parameter(at, scale);
    for (size_t c = kernel->nodes[term].child; c != HFI_NONE; c = kernel->nodes[c].next)
        product = hfi_interval_multiply(product, factor_value(at, c));
    return product;
}

static hfi_interval sum_value(const pair *at, size_t sum)
{
    hfi_interval total = hfi_interval_point(0.0L);
    for (size_t t = at->kernel->nodes[sum].child; t != HFI_NONE; t = at->kernel->nodes[t].next)
        total = hfi_interval_add(total, term_value(at, t));
    return total;
}

bool hfi_kernel_enclose(const hf_kernel *kernel, const double *x, const double *z, bool same,
                        long double *lower, long double *upper)
{
    if (!hfi_interval_usable()) return false;
    for (size_t j = 0; j < kernel->d; j++)
        if (!isfinite(x[j]) || !isfinite(z[j])) return false;
    const pair at = {kernel, x, z, same};
    const hfi_interval value = sum_value(&at, kernel->root);
    if (!isfinite(value.lower) || !isfinite(value.upper)) return false;
    *lower = value.lower;
    *upper = value.upper;
    return true;
}
