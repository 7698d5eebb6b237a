/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of r^2 = sum u_a^2, u_a = (x_a - z_a) / l_a, with their derivatives in x:
 *
 *     dk/dx_a = -first y_a / l_a        d2k/dx_a dx_b = second v_a v_b / (l_a l_b) - diagonal [a = b] / l_a^2
 *
 * where y and v are u or, for the rough ones, the direction u / r, in which what would be a division by a
 * small r is bounded. */
#include "kernel/enclosure_leaf.h"

typedef struct radial_enclosure {
    hfi_interval value, first, second, diagonal;
    bool first_by_direction, second_by_direction;
} radial_enclosure;

/* 1 + s, for matern52 + s^2/3, at one s. */
static hfi_interval polynomial(hfi_form form, long double s)
{
    const hfi_interval at = hfi_interval_point(s);
    const hfi_interval line = hfi_interval_add(hfi_interval_point(1.0L), at);
    if (form != HFI_FORM_MATERN52) return line;
    return hfi_interval_add(line, hfi_interval_divide(hfi_interval_square(at), hfi_interval_point(3.0L)));
}

/* The polynomial grows with s, but its product with e = exp(-s) falls: the far end decides the lower bound,
 * the near one the upper. */
static hfi_interval matern(hfi_form form, hfi_interval s, hfi_interval e)
{
    const long double lower = hfi_times_down(polynomial(form, s.upper).lower, e.lower);
    return (hfi_interval){lower > 0.0L ? lower : 0.0L,
                          hfi_times_up(polynomial(form, s.lower).upper, e.upper)};
}

/* 1 / a for a >= 0, of which 0 may be part. */
static hfi_interval inverse(hfi_interval a)
{
    return (hfi_interval){a.upper > 0.0L ? hfi_down(1.0L / a.upper) : 0.0L,
                          a.lower > 0.0L ? hfi_up(1.0L / a.lower) : INFINITY};
}

static radial_enclosure exponential(hfi_interval r, int order)
{
    radial_enclosure f = {
        .value = hfi_interval_decay(r), .first_by_direction = true, .second_by_direction = true};
    f.first = f.value;
    if (order < 2) return f;
    const hfi_interval steep = inverse(r);
    f.diagonal = hfi_interval_multiply(f.value, steep);
    f.second = hfi_interval_multiply(f.value, hfi_interval_add(hfi_interval_point(1.0L), steep));
    return f;
}

static radial_enclosure matern32(hfi_interval s)
{
    const hfi_interval e = hfi_interval_decay(s);
    radial_enclosure f = {.value = matern(HFI_FORM_MATERN32, s, e), .second_by_direction = true};
    f.first = f.diagonal = hfi_interval_times(3.0L, e);
    f.second = hfi_interval_multiply(s, f.first);
    return f;
}

static radial_enclosure matern52(hfi_interval s)
{
    const hfi_interval e = hfi_interval_decay(s), three = hfi_interval_point(3.0L);
    radial_enclosure f = {.value = matern(HFI_FORM_MATERN52, s, e)};
    f.first = f.diagonal =
        hfi_interval_divide(hfi_interval_times(5.0L, matern(HFI_FORM_MATERN32, s, e)), three);
    f.second = hfi_interval_divide(hfi_interval_times(25.0L, e), three);
    return f;
}

static radial_enclosure rational(hfi_interval alpha, hfi_interval r2, int order)
{
    const hfi_interval ratio = hfi_interval_divide(r2, hfi_interval_times(2.0L, alpha));
    const hfi_interval log = hfi_interval_log1p(ratio);
    radial_enclosure f = {.value = hfi_interval_decay(hfi_interval_multiply(alpha, log))};
    if (order == 0) return f;
    const hfi_interval next = hfi_interval_add(alpha, hfi_interval_point(1.0L));
    f.first = f.diagonal = hfi_interval_decay(hfi_interval_multiply(next, log));
    if (order == 1) return f;
    const hfi_interval last = hfi_interval_add(alpha, hfi_interval_point(2.0L));
    f.second = hfi_interval_multiply(hfi_interval_divide(next, alpha),
                                     hfi_interval_decay(hfi_interval_multiply(last, log)));
    return f;
}

static radial_enclosure radial_at(hfi_form form, hfi_interval alpha, hfi_interval r2, int order)
{
    switch (form) {
    case HFI_FORM_MATERN12:
        return exponential(hfi_interval_sqrt(r2), order);
    case HFI_FORM_MATERN32:
        return matern32(hfi_interval_sqrt(hfi_interval_times(3.0L, r2)));
    case HFI_FORM_MATERN52:
        return matern52(hfi_interval_sqrt(hfi_interval_times(5.0L, r2)));
    case HFI_FORM_RQ:
        return rational(alpha, r2, order);
    default: {
        const hfi_interval e = hfi_interval_decay(hfi_interval_times(0.5L, r2));
        return (radial_enclosure){.value = e, .first = e, .second = e, .diagonal = e};
    }
    }
}

/* u / r, at most 1 in size. */
static hfi_interval direction(hfi_interval u, hfi_interval r)
{
    const long double least = u.lower < 0.0L ? -1.0L : 0.0L, most = u.upper > 0.0L ? 1.0L : 0.0L;
    if (!(r.lower > 0.0L)) return (hfi_interval){least, most};
    const hfi_interval w = hfi_interval_divide(u, r);
    return (hfi_interval){w.lower > -1.0L ? w.lower : -1.0L, w.upper < 1.0L ? w.upper : 1.0L};
}

/* `u` holds u_a and, behind, room for the directions; both become what the derivatives need: divided by l_a. */
static void derivatives(const hfi_enclosed *at, const hfi_leaf *leaf, const radial_enclosure *f,
                        hfi_interval r2, hfi_interval *u, hfi_interval *jet)
{
    const size_t d = at->kernel->d, columns = leaf->columns;
    hfi_interval *v = u + d;
    const hfi_interval r = hfi_interval_sqrt(r2);
    for (size_t a = 0; a < columns; a++) {
        const hfi_interval l = hfi_enclosed_entry(at, leaf, HFI_FIELD_LENGTHSCALE, a);
        const hfi_interval w = f->second_by_direction ? hfi_interval_divide(direction(u[a], r), l) : u[a];
        u[a] = hfi_interval_divide(u[a], l);
        v[a] = f->second_by_direction ? w : u[a];
        const hfi_interval slope = hfi_interval_multiply(f->first, f->first_by_direction ? v[a] : u[a]);
        jet[1 + hfi_enclosed_column(at, leaf, a)] = hfi_interval_negate(slope);
    }
    for (size_t a = 0; a < columns && at->order == 2; a++) {
        const size_t i = hfi_enclosed_column(at, leaf, a);
        const hfi_interval l = hfi_enclosed_entry(at, leaf, HFI_FIELD_LENGTHSCALE, a);
        for (size_t b = 0; b < a; b++)
            jet[hfi_jet_second(d, i, hfi_enclosed_column(at, leaf, b))] =
                hfi_interval_multiply(f->second, hfi_interval_multiply(v[a], v[b]));
        jet[hfi_jet_second(d, i, i)] =
            hfi_interval_subtract(hfi_interval_multiply(f->second, hfi_interval_square(v[a])),
                                  hfi_interval_divide(f->diagonal, hfi_interval_square(l)));
    }
}

void hfi_enclose_radial(const hfi_enclosed *at, const hfi_leaf *leaf, hfi_interval *jet)
{
    const size_t size = hfi_jet_size(at->kernel->d, at->order);
    for (size_t k = 0; k < size; k++) jet[k] = hfi_interval_point(0.0L);
    jet[0] = hfi_interval_point(1.0L);
    if (at->z == NULL) return;
    hfi_interval r2 = hfi_interval_point(0.0L), alpha = r2;
    for (size_t a = 0; a < leaf->columns; a++) {
        const hfi_interval t = hfi_enclosed_difference(at, leaf, a);
        const hfi_interval u = hfi_interval_divide(t, hfi_enclosed_entry(at, leaf, HFI_FIELD_LENGTHSCALE, a));
        r2 = hfi_interval_add(r2, hfi_interval_square(u));
        if (at->order > 0) at->scratch[a] = u;
    }
    const bool equal = hfi_interval_is(r2, 0.0L);
    if (at->order == 0 && equal) return;
    if (leaf->form == HFI_FORM_RQ) alpha = hfi_enclosed_parameter(at, hfi_leaf_at(leaf, HFI_FIELD_ALPHA));
    const radial_enclosure f = radial_at(leaf->form, alpha, r2, at->order);
    if (!equal) jet[0] = (hfi_interval){f.value.lower, f.value.upper < 1.0L ? f.value.upper : 1.0L};
    if (at->order > 0) derivatives(at, leaf, &f, r2, at->scratch, jet);
}
