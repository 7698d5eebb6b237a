/* SPDX-License-Identifier: Apache-2.0 */
/* Enclosures of the leaves that are not functions of a scaled distance. */
#include "kernel/enclosure_leaf.h"
#include "kernel/coregion.h"
#include "kernel/kernel.h"

#define ZERO hfi_interval_point(0.0L)

static hfi_interval two_pi(void)
{
    return hfi_interval_times(2.0L, hfi_interval_pi());
}

/* sin(2 pi a) = cos(2 pi (a - 1/4)) */
static hfi_interval sin_turns(hfi_interval a)
{
    return hfi_interval_cos_turns(hfi_interval_subtract(a, hfi_interval_point(0.25L)));
}

/* ---- periodic ------------------------------------------------------------------------------------------
 * Column by column, with w = 2 pi / p and t = x - z: the logarithm has the slope -w sin(w t) / l^2 and the
 * curvature -w^2 cos(w t) / l^2. */

static void periodic_derivatives(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet)
{
    const size_t d = at->kernel->d;
    hfi_interval *slope = at->scratch;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t i = hfi_enclosed_column(at, leaf, a);
        const hfi_interval period = hfi_enclosed_entry(at, leaf, HFI_FIELD_PERIOD, a);
        const hfi_interval l2 = hfi_interval_square(hfi_enclosed_entry(at, leaf, HFI_FIELD_LENGTHSCALE, a));
        const hfi_interval turns = hfi_interval_divide(hfi_enclosed_difference(at, leaf, a), period);
        const hfi_interval w = hfi_interval_divide(two_pi(), period);
        slope[a] = hfi_interval_negate(hfi_interval_divide(hfi_interval_multiply(w, sin_turns(turns)), l2));
        jet[1 + i] = hfi_interval_multiply(jet[0], slope[a]);
        if (at->order < 2) continue;
        const hfi_interval wave =
            hfi_interval_multiply(hfi_interval_square(w), hfi_interval_cos_turns(turns));
        const hfi_interval both =
            hfi_interval_subtract(hfi_interval_square(slope[a]), hfi_interval_divide(wave, l2));
        jet[hfi_jet_second(d, i, i)] = hfi_interval_multiply(jet[0], both);
        for (size_t b = 0; b < a; b++)
            jet[hfi_jet_second(d, i, hfi_enclosed_column(at, leaf, b))] =
                hfi_interval_multiply(jet[1 + i], slope[b]);
    }
}

static void enclose_periodic_leaf(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet)
{
    hfi_interval sum = ZERO;
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval lengthscale = hfi_enclosed_entry(at, leaf, HFI_FIELD_LENGTHSCALE, a);
        const hfi_interval turns = hfi_interval_divide(hfi_enclosed_difference(at, leaf, a),
                                                       hfi_enclosed_entry(at, leaf, HFI_FIELD_PERIOD, a));
        const hfi_interval scaled =
            hfi_interval_divide(hfi_interval_sin_squared(turns), hfi_interval_square(lengthscale));
        sum = hfi_interval_add(sum, scaled);
    }
    jet[0] = hfi_interval_decay(hfi_interval_times(2.0L, sum));
    if (at->order > 0 && at->z != NULL) periodic_derivatives(at, leaf, jet);
}

/* ---- linear ---------------------------------------------------------------------------------- */

static void enclose_linear_leaf(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet)
{
    const size_t d = at->kernel->d;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t i = hfi_enclosed_column(at, leaf, a);
        const hfi_interval x = hfi_enclosed_coordinate(at, leaf, a);
        const hfi_interval v = hfi_enclosed_entry(at, leaf, HFI_FIELD_VARIANCE, a);
        const hfi_interval z = at->z != NULL ? hfi_interval_point(at->z[i]) : x;
        const hfi_interval product = at->z != NULL ? hfi_interval_multiply(x, z) : hfi_interval_square(x);
        jet[0] = hfi_interval_add(jet[0], hfi_interval_multiply(v, product));
        if (at->order == 0) continue;
        const long double times = at->z != NULL ? 1.0L : 2.0L;
        jet[1 + i] = hfi_interval_times(times, hfi_interval_multiply(v, z));
        if (at->order == 2 && at->z == NULL) jet[hfi_jet_second(d, i, i)] = hfi_interval_times(2.0L, v);
    }
}

/* ---- sm ------------------------------------------------------------------------------------------------- A
 * component is weight exp(-E) prod c_a, E = sum 2 pi^2 t_a^2 s_a, c_a = cos(2 pi m_a t_a). Let A = 4 pi^2 s
 * t and B = 2 pi m. Column a of it has the slope -A c - B sin and the curvature (A^2 - 4 pi^2 s - B^2) c + 2 A B sin,
 * both times exp(-E) and the other columns' cosines. */

static void wave_derivatives(hfi_interval t, hfi_interval s, hfi_interval m, const hfi_interval *c,
                             hfi_interval *slope, hfi_interval *curvature)
{
    const hfi_interval b = hfi_interval_multiply(two_pi(), m), sine = sin_turns(hfi_interval_multiply(t, m));
    const hfi_interval stiff = hfi_interval_multiply(hfi_interval_square(two_pi()), s);
    const hfi_interval a = hfi_interval_multiply(stiff, t);
    *slope =
        hfi_interval_negate(hfi_interval_add(hfi_interval_multiply(a, *c), hfi_interval_multiply(b, sine)));
    const hfi_interval squares =
        hfi_interval_subtract(hfi_interval_square(a), hfi_interval_add(stiff, hfi_interval_square(b)));
    *curvature =
        hfi_interval_add(hfi_interval_multiply(squares, *c),
                         hfi_interval_multiply(hfi_interval_times(2.0L, hfi_interval_multiply(a, b)), sine));
}

/* The cosines of all columns but two. */
static hfi_interval others(const hfi_interval *cosine, size_t columns, size_t a, size_t b)
{
    hfi_interval product = hfi_interval_point(1.0L);
    for (size_t c = 0; c < columns; c++)
        if (c != a && c != b) product = hfi_interval_multiply(product, cosine[c]);
    return product;
}

static void component_derivatives(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval size,
                                  hfi_interval *jet)
{
    const size_t d = at->kernel->d;
    const hfi_interval *cosine = at->scratch, *slope = cosine + d, *curvature = slope + d;
    for (size_t a = 0; a < leaf->columns; a++) {
        const size_t i = hfi_enclosed_column(at, leaf, a);
        const hfi_interval rest = hfi_interval_multiply(size, others(cosine, leaf->columns, a, a));
        jet[1 + i] = hfi_interval_add(jet[1 + i], hfi_interval_multiply(rest, slope[a]));
        for (size_t b = 0; b <= a && at->order == 2; b++) {
            const size_t k = hfi_jet_second(d, i, hfi_enclosed_column(at, leaf, b));
            const hfi_interval both = a == b
                                          ? curvature[a]
                                          : hfi_interval_multiply(hfi_interval_multiply(slope[a], slope[b]),
                                                                  others(cosine, leaf->columns, a, b));
            jet[k] = hfi_interval_add(jet[k], hfi_interval_multiply(a == b ? rest : size, both));
        }
    }
}

static void component(const hfi_enclosed *at, const hfi_leaf *leaf, size_t q, hfi_interval *jet)
{
    const size_t mean = hfi_leaf_at(leaf, HFI_FIELD_MEAN) + q * leaf->columns, d = at->kernel->d;
    const size_t variance = hfi_leaf_at(leaf, HFI_FIELD_VARIANCE) + q * leaf->columns;
    const hfi_interval pi2 = hfi_interval_times(2.0L, hfi_interval_square(hfi_interval_pi()));
    const bool slopes = at->order > 0 && at->z != NULL;
    hfi_interval exponent = ZERO, wave = hfi_interval_point(1.0L);
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval t = hfi_enclosed_difference(at, leaf, a);
        const hfi_interval m = hfi_enclosed_parameter(at, mean + a);
        const hfi_interval s = hfi_enclosed_parameter(at, variance + a);
        const hfi_interval cosine = hfi_interval_cos_turns(hfi_interval_multiply(t, m));
        exponent = hfi_interval_add(
            exponent, hfi_interval_multiply(pi2, hfi_interval_multiply(s, hfi_interval_square(t))));
        wave = hfi_interval_multiply(wave, cosine);
        if (!slopes) continue;
        at->scratch[a] = cosine;
        wave_derivatives(t, s, m, &cosine, &at->scratch[d + a], &at->scratch[2 * d + a]);
    }
    const hfi_interval weight = hfi_enclosed_parameter(at, hfi_leaf_at(leaf, HFI_FIELD_WEIGHT) + q);
    const hfi_interval size = hfi_interval_multiply(weight, hfi_interval_decay(exponent));
    jet[0] = hfi_interval_add(jet[0], hfi_interval_multiply(size, wave));
    if (slopes) component_derivatives(at, leaf, size, jet);
}

/* ---- coregion -------------------------------------------------------------------------------- */

/* B = W W' + diag(own) from the parameters: the table that the kernel keeps is rounded. */
static hfi_interval coregion_entry(const hfi_enclosed *at, const hfi_leaf *leaf, size_t s, size_t t)
{
    const size_t row_s = leaf->first + hfi_coregion_row(leaf, s);
    const size_t row_t = leaf->first + hfi_coregion_row(leaf, t);
    const size_t length = hfi_coregion_length(leaf, s < t ? s : t);
    hfi_interval sum = ZERO;
    for (size_t q = 0; q < length; q++)
        sum = hfi_interval_add(sum, hfi_interval_multiply(hfi_enclosed_parameter(at, row_s + q),
                                                          hfi_enclosed_parameter(at, row_t + q)));
    if (s == t && leaf->rank < leaf->outputs)
        sum = hfi_interval_add(sum, hfi_enclosed_parameter(at, hfi_leaf_at(leaf, HFI_FIELD_OWN) + s));
    return sum;
}

/* Interval over every output that the box has; a step function, whose slopes are those between its steps: 0. */
static hfi_interval coregion(const hfi_enclosed *at, const hfi_leaf *leaf)
{
    const hfi_interval x = hfi_enclosed_coordinate(at, leaf, 0);
    const size_t first = (size_t)hfi_output_of((double)x.lower, leaf->outputs);
    const size_t last = (size_t)hfi_output_of((double)x.upper, leaf->outputs);
    hfi_interval hull = {INFINITY, -INFINITY};
    for (size_t s = first; s <= last; s++) {
        const size_t t =
            at->z == NULL ? s : (size_t)hfi_output_of(at->z[hfi_enclosed_column(at, leaf, 0)], leaf->outputs);
        const hfi_interval b = coregion_entry(at, leaf, s, t);
        if (b.lower < hull.lower) hull.lower = b.lower;
        if (b.upper > hull.upper) hull.upper = b.upper;
    }
    return hull;
}

/* ---- category -------------------------------------------------------------------------------- */

/* A step function of each code, as that of coregion: 1 where the box has none but z's, exp(-1 / l) where it
 * has not z's. Codes grow with their numbers, so that the box has z's if its ends are on both sides of it. */
static hfi_interval category(const hfi_enclosed *at, const hfi_leaf *leaf)
{
    hfi_interval least = ZERO, most = ZERO;
    for (size_t a = 0; a < leaf->columns && at->z != NULL; a++) {
        const hfi_interval x = hfi_enclosed_coordinate(at, leaf, a);
        const double first = hfi_code_of((double)x.lower), last = hfi_code_of((double)x.upper);
        const double code = hfi_code_of(at->z[hfi_enclosed_column(at, leaf, a)]);
        const hfi_interval step = hfi_interval_divide(hfi_interval_point(1.0L),
                                                      hfi_enclosed_entry(at, leaf, HFI_FIELD_LENGTHSCALE, a));
        if (first != code || last != code) most = hfi_interval_add(most, step);
        if (code < first || last < code) least = hfi_interval_add(least, step);
    }
    const hfi_interval low = hfi_interval_decay(most), high = hfi_interval_decay(least);
    return (hfi_interval){low.lower, high.upper};
}

/* ---- wave, swell, tilt
 * -------------------------------------------------------------------------------------------- In turns u =
 * f'x: cos 2 pi (u - u'), cos 2 pi u cos 2 pi u' = (cos 2 pi (u - u') + cos 2 pi (u + u')) / 2, and exp(u +
 * u'). Each is g(s'x + s''z) with s a multiple of f, so that its derivatives are g' s_a and g'' s_a s_b.
 * Where z moves with x, s is what both have together: nothing, 2 f for the sum. */

/* The argument times x + by times z; s_a = factor f_a. */
static hfi_interval plane_argument(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_field field,
                                   long double by)
{
    hfi_interval sum = ZERO;
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval f = hfi_enclosed_entry(at, leaf, field, a),
                           x = hfi_enclosed_coordinate(at, leaf, a);
        const hfi_interval both =
            at->z == NULL
                ? hfi_interval_times(1.0L + by, x)
                : hfi_interval_add(
                      x, hfi_interval_times(by, hfi_interval_point(at->z[hfi_enclosed_column(at, leaf, a)])));
        sum = hfi_interval_add(sum, hfi_interval_multiply(f, both));
    }
    return sum;
}

/* jet += the function with these value, slope and curvature in its argument. */
static void add_plane(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_field field, long double factor,
                      hfi_interval value, hfi_interval slope, hfi_interval curvature, hfi_interval *jet)
{
    const size_t d = at->kernel->d;
    jet[0] = hfi_interval_add(jet[0], value);
    for (size_t a = 0; a < leaf->columns && at->order > 0; a++) {
        const size_t i = hfi_enclosed_column(at, leaf, a);
        const hfi_interval f = hfi_interval_times(factor, hfi_enclosed_entry(at, leaf, field, a));
        jet[1 + i] = hfi_interval_add(jet[1 + i], hfi_interval_multiply(slope, f));
        for (size_t b = 0; b <= a && at->order == 2; b++) {
            const size_t k = hfi_jet_second(d, i, hfi_enclosed_column(at, leaf, b));
            const hfi_interval g = hfi_interval_times(factor, hfi_enclosed_entry(at, leaf, field, b));
            const hfi_interval square = a == b ? hfi_interval_square(f) : hfi_interval_multiply(f, g);
            jet[k] = hfi_interval_add(jet[k], hfi_interval_multiply(curvature, square));
        }
    }
}

/* share cos 2 pi u */
static void add_cosine(const hfi_enclosed *at, const hfi_leaf *leaf, long double by, long double share,
                       hfi_interval *jet)
{
    const hfi_interval turns = plane_argument(at, leaf, HFI_FIELD_FREQUENCY, by);
    const hfi_interval c = hfi_interval_times(share, hfi_interval_cos_turns(turns));
    const hfi_interval s = hfi_interval_times(share, sin_turns(turns));
    add_plane(at, leaf, HFI_FIELD_FREQUENCY, at->z == NULL ? 1.0L + by : 1.0L, c,
              hfi_interval_negate(hfi_interval_multiply(two_pi(), s)),
              hfi_interval_negate(hfi_interval_multiply(hfi_interval_square(two_pi()), c)), jet);
}

static void enclose_plane_leaf(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet)
{
    if (leaf->form == HFI_FORM_TILT) {
        const hfi_interval e = hfi_interval_exp(plane_argument(at, leaf, HFI_FIELD_RATE, 1.0L));
        add_plane(at, leaf, HFI_FIELD_RATE, at->z == NULL ? 2.0L : 1.0L, e, e, e, jet);
        return;
    }
    add_cosine(at, leaf, -1.0L, leaf->form == HFI_FORM_WAVE ? 1.0L : 0.5L, jet);
    if (leaf->form == HFI_FORM_SWELL) add_cosine(at, leaf, 1.0L, 0.5L, jet);
}

void hfi_enclose_leaf(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet)
{
    const size_t size = hfi_jet_size(at->kernel->d, at->order);
    for (size_t k = 0; k < size; k++) jet[k] = ZERO;
    switch (leaf->form) {
    case HFI_FORM_PERIODIC:
        enclose_periodic_leaf(at, leaf, jet);
        break;
    case HFI_FORM_LINEAR:
        enclose_linear_leaf(at, leaf, jet);
        break;
    case HFI_FORM_CONSTANT:
        jet[0] = hfi_enclosed_parameter(at, leaf->first);
        break;
    case HFI_FORM_WHITE:
        if (at->same) jet[0] = hfi_enclosed_parameter(at, leaf->first);
        break;
    case HFI_FORM_SM:
        for (size_t q = 0; q < leaf->components; q++) component(at, leaf, q, jet);
        break;
    case HFI_FORM_COREGION:
        jet[0] = coregion(at, leaf);
        break;
    case HFI_FORM_CATEGORY:
        jet[0] = category(at, leaf);
        break;
    case HFI_FORM_WAVE:
    case HFI_FORM_SWELL:
    case HFI_FORM_TILT:
        enclose_plane_leaf(at, leaf, jet);
        break;
    default:
        hfi_enclose_radial(at, leaf, jet);
        break;
    }
}
