/* SPDX-License-Identifier: Apache-2.0 */
/* Lengthscales by the errors of predictions of readings that were left out. */
#include "envelope/envelope.h"
#include "linalg/linalg.h"
#include <holdfast/envelope_kernel.h>

#include <holdfast/closed_envelope.h>
#include <math.h>
#include <string.h>

enum {
    MOST_READINGS = 1024,
    FEW_READINGS = 128, /* up to here evaluations cost nothing, and the grid is */
    MANY_SIZES = 25,
    MANY_RIDGES = 20,
    SIZES = 13,  /* along the common size of all parameters */
    RIDGES = 8,  /* with each of them */
    STARTS = 3,  /* valleys of the grid */
    TRIAL = 2,   /* sweeps from each of them */
    SECTION = 8, /* evaluations of a golden section */
    SWEEPS = 30
};

/* How many times as far as all coordinates went together it is looked beyond them. */
#define AHEAD 2.0

static const double least_ridge = 1e-10, most_ridge = 10.0;
/* The search ends within this share of every range; a sweep that gains less than that share of the
 * mean goes on in smaller steps. */
static const double least_share = 5e-4, worth_a_sweep = 1e-3;

/* A coordinate of the search, on the logarithmic scale. The last one is the ridge. */
typedef struct coordinate {
    size_t parameter;
    double lower, upper, value;
    bool start;   /* begins where it is, whatever the common size: */
    double given; /* there */
} coordinate;

typedef struct grid_search {
    hf_context *ctx;
    hf_kernel *kernel; /* a copy, which is tried out */
    size_t n, d, count;
    size_t sizes, ridges;            /* of the grid */
    double *x, *y;                   /* n x d, n */
    double *a, *work, *z, *diagonal; /* n x n twice, n, n */
    coordinate *at;                  /* count, the ridge among them */
    double best;                     /* least mean of squares so far */
    size_t evaluations;
} grid_search;

static void search_free(grid_search *s)
{
    HFI_FREE(s->ctx, s->x, s->y, s->a, s->work, s->z, s->diagonal, s->at);
    hf_kernel_free(s->kernel);
}

/* ---- readings ----------------------------------------------------------------------------------------------- */

/* One reading for each distinct input, its value the mean of those there. Where inputs are many, only every so many-th
 * is taken. */
static void take_readings(grid_search *s, const hf_bounded_readings *readings, const hfi_distinct *distinct)
{
    const size_t n = distinct->n, step = (n + MOST_READINGS - 1) / MOST_READINGS;
    double *sum = s->work, *count = s->work + n;
    memset(sum, 0, 2 * n * sizeof *sum);
    for (size_t i = 0; i < readings->n; i++) {
        sum[distinct->of_row[i]] += readings->y[i];
        count[distinct->of_row[i]] += 1.0;
    }
    size_t k = 0;
    for (size_t i = 0; i < n; i += step, k++) {
        memcpy(s->x + k * s->d, readings->x + distinct->first[i] * readings->ldx, s->d * sizeof *s->x);
        s->y[k] = sum[i] / count[i] - readings->offset;
    }
}

static hf_status prepare_grid_search(grid_search *s, const hf_bounded_readings *readings)
{
    hfi_distinct distinct = {0};
    hf_status status = hfi_distinct_find(s->ctx, s->d, readings, &distinct);
    if (status < 0) return status;
    const size_t step = (distinct.n + MOST_READINGS - 1) / MOST_READINGS;
    s->n = (distinct.n + step - 1) / step;
    const size_t n = s->n, work = n * n > 2 * distinct.n ? n * n : 2 * distinct.n;
    if (n < 3)
        status = hfi_fail(s->ctx, HF_ERR_NO_DATA,
                          "cross-validation needs readings at three inputs at least; there are %zu", n);
    if (status >= 0)
        status = HFI_ALLOC(s->ctx, HFI_ROOMS(s->x, n, s->d), HFI_ROOM(s->y, n), HFI_ROOMS(s->a, n, n),
                           HFI_ROOM(s->work, work), HFI_ROOM(s->z, n), HFI_ROOM(s->diagonal, n));
    if (status >= 0) take_readings(s, readings, &distinct);
    hfi_distinct_free(s->ctx, &distinct);
    return status;
}

/* ---- what is searched, and where ------------------------------------------------------------------------------ */

/* Range of a column, or of several the least and the largest of those that vary. */
static void ranges(const grid_search *s, size_t column, double *least, double *largest)
{
    *least = INFINITY;
    *largest = 0.0;
    for (size_t j = 0; j < s->d; j++) {
        if (column != SIZE_MAX && j != column) continue;
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < s->n; i++) {
            low = fmin(low, s->x[i * s->d + j]);
            high = fmax(high, s->x[i * s->d + j]);
        }
        if (!(high > low)) continue;
        *least = fmin(*least, high - low);
        *largest = fmax(*largest, high - low);
    }
    if (*largest == 0.0) *least = *largest = 1.0;
}

/* False for what is not searched: an amplitude. */
static bool find_box(const grid_search *s, const hf_parameter *p, double *lower, double *upper)
{
    double least, largest;
    ranges(s, p->column, &least, &largest);
    const double spacing = 1.0 / pow((double)s->n, 1.0 / (double)s->d);
    *lower = 0.25 * least * spacing;
    *upper = 10.0 * largest;
    if (p->unit == HF_UNIT_INPUT) return true;
    if (p->unit == HF_UNIT_NONE) {
        *lower = 0.05;
        *upper = 50.0;
        return true;
    }
    if (p->unit != HF_UNIT_FREQUENCY && p->unit != HF_UNIT_FREQUENCY2) return false;
    const double power = p->unit == HF_UNIT_FREQUENCY ? 1.0 : 2.0;
    *lower = pow(0.1 / largest, power);
    *upper = pow(0.5 / (least * spacing), power);
    return true;
}

static hf_status list_coordinates(grid_search *s)
{
    const size_t parameters = hf_kernel_parameters(s->kernel);
    s->at = hfi_alloc(s->ctx, parameters + 1, sizeof *s->at);
    if (s->at == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < parameters; i++) {
        hf_parameter p;
        double lower, upper;
        if (hf_kernel_parameter(s->kernel, i, &p) < 0 || p.fixed || !find_box(s, &p, &lower, &upper))
            continue;
        const bool start = hfi_kernel_parameter_given(s->kernel, i);
        if (start) {
            lower = fmin(lower, p.value);
            upper = fmax(upper, p.value);
        }
        s->at[s->count++] = (coordinate){i, log(lower), log(upper), log(p.value), start, log(p.value)};
    }
    if (s->count > 0)
        s->at[s->count++] = (coordinate){SIZE_MAX, log(least_ridge), log(most_ridge), 0.0, false, 0.0};
    return HF_OK;
}

/* ---- the mean ------------------------------------------------------------------------------------------------- */

static hf_status set_kernel(grid_search *s, const coordinate *at)
{
    for (size_t k = 0; k + 1 < s->count; k++) {
        const double value = exp(at[k].value);
        if (hfi_kernel_set_parameter(s->kernel, at[k].parameter, value, value, value, false) < 0)
            return hfi_fail(s->ctx, HF_ERR_INTERNAL, "cross-validation tried a parameter that cannot be");
    }
    return HF_OK;
}

/* The mean at these coordinates; infinite where the matrix is singular to rounding. */
static hf_status evaluate_grid_error(grid_search *s, const coordinate *at, double *out)
{
    const size_t n = s->n;
    if (!hfi_progress(s->ctx, "search", -1.0, sqrt(s->best))) return hfi_cancelled(s->ctx);
    hf_status status = set_kernel(s, at);
    if (status >= 0) status = hf_kernel_gram(s->ctx, s->kernel, n, s->x, s->d, s->a, n);
    if (status < 0) return status;
    const double added = exp(at[s->count - 1].value) * hfi_kernel_typical_variance(s->kernel);
    for (size_t i = 0; i < n; i++) s->a[i + i * n] += added;
    s->evaluations++;
    *out = INFINITY;
    if (hfi_chol(s->ctx, n, s->a, n) != HF_OK) return HF_OK;
    memcpy(s->z, s->y, n * sizeof *s->z);
    hfi_chol_solve(n, s->a, n, s->z);
    hfi_chol_inverse_diagonal(s->ctx, n, s->a, n, s->work, s->diagonal);
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += (s->z[i] / s->diagonal[i]) * (s->z[i] / s->diagonal[i]);
    if (isfinite(sum)) *out = sum / (double)n;
    return HF_OK;
}

/* ---- the search ------------------------------------------------------------------------------------------------ */

/* A place on the logarithmic scale, a number for each coordinate, and how far around it is looked next. */
typedef struct start {
    double *place, value, share;
} start;

static hf_status try_place(grid_search *s, const double *place, const double *direction, double step,
                           double *out)
{
    for (size_t k = 0; k < s->count; k++) {
        coordinate *c = &s->at[k];
        c->value = fmin(c->upper, fmax(c->lower, place[k] + (direction != NULL ? step * direction[k] : 0.0)));
    }
    const hf_status status = evaluate_grid_error(s, s->at, out);
    if (status >= 0) s->best = fmin(s->best, *out);
    return status;
}

/* All coordinates on their way from the lower end to the upper one together, but for those with a
 * start of their own; and the ridge. */
static void place_on_grid(const grid_search *s, size_t g, double *place)
{
    const size_t step = g / s->ridges, level = g % s->ridges;
    const double size = (double)step / (double)(s->sizes - 1),
                 ridge = ((double)level + 0.5) / (double)s->ridges;
    for (size_t k = 0; k < s->count; k++) {
        const coordinate *c = &s->at[k];
        const double share = k + 1 == s->count ? ridge : size;
        place[k] = c->start ? c->given : c->lower + share * (c->upper - c->lower);
    }
}

/* Whether no neighbour is better; of equal ones the first. */
static bool is_valley(const grid_search *s, const double *value, size_t g)
{
    const size_t step = g / s->ridges, level = g % s->ridges;
    return isfinite(value[g]) && !(level > 0 && value[g - 1] <= value[g]) &&
           !(level + 1 < s->ridges && value[g + 1] < value[g]) &&
           !(step > 0 && value[g - s->ridges] <= value[g]) &&
           !(step + 1 < s->sizes && value[g + s->ridges] < value[g]);
}

/* The lowest valleys of the grid; their number. */
static hf_status on_grid(grid_search *s, start *starts, size_t *found)
{
    double value[MANY_SIZES * MANY_RIDGES] = {0};
    const size_t places = s->sizes * s->ridges;
    hf_status status = HF_OK;
    s->best = INFINITY;
    for (size_t g = 0; g < places && status >= 0; g++) {
        place_on_grid(s, g, starts[0].place);
        status = try_place(s, starts[0].place, NULL, 0.0, &value[g]);
    }
    double beyond = -INFINITY; /* what has been taken is not above this */
    for (*found = 0; *found < STARTS && status >= 0; (*found)++) {
        size_t lowest = places;
        for (size_t g = 0; g < places; g++)
            if (is_valley(s, value, g) && value[g] > beyond && (lowest == places || value[g] < value[lowest]))
                lowest = g;
        if (lowest == places) break;
        starts[*found].value = beyond = value[lowest];
        starts[*found].share = 1.0 / (double)(s->sizes - 1);
        place_on_grid(s, lowest, starts[*found].place);
    }
    return status;
}

/* A golden section from -width to width times the direction, as far as the box goes; moves there when it is better. */
static hf_status along(grid_search *s, const double *direction, double width, start *at)
{
    static const double golden = 0.61803398874989484820;
    double low = -width, high = width, best = 0.0;
    for (size_t k = 0; k < s->count; k++) {
        if (direction[k] == 0.0) continue;
        const double down = (s->at[k].lower - at->place[k]) / direction[k],
                     up = (s->at[k].upper - at->place[k]) / direction[k];
        low = fmax(low, fmin(down, up));
        high = fmin(high, fmax(down, up));
    }
    double inner[2] = {high - golden * (high - low), low + golden * (high - low)},
           value[2] = {INFINITY, INFINITY};
    for (int e = 0, which = 0; e < SECTION; e++) {
        const hf_status status = try_place(s, at->place, direction, inner[which], &value[which]);
        if (status < 0) return status;
        if (value[which] < at->value) {
            at->value = value[which];
            best = inner[which];
        }
        if (e == 0) {
            which = 1;
            continue;
        }
        which = value[0] <= value[1] ? 0 : 1;
        if (which == 0) {
            high = inner[1];
            inner[1] = inner[0];
            value[1] = value[0];
            inner[0] = high - golden * (high - low);
        } else {
            low = inner[0];
            inner[0] = inner[1];
            value[0] = value[1];
            inner[1] = low + golden * (high - low);
        }
    }
    for (size_t k = 0; k < s->count; k++) at->place[k] += best * direction[k];
    return HF_OK;
}

/* One coordinate after the other, then on the way that all of them went: along a valley that is
 * none of them. `work` 2 count. */
static hf_status sweep(grid_search *s, start *at, double *work)
{
    const size_t count = s->count;
    double *before = work, *direction = work + count;
    memcpy(before, at->place, count * sizeof *before);
    for (size_t k = count; k-- > 0;) {
        memset(direction, 0, count * sizeof *direction);
        direction[k] = (k + 1 == count ? RIDGES : 1.0) * (s->at[k].upper - s->at[k].lower);
        const hf_status status = along(s, direction, at->share, at);
        if (status < 0) return status;
    }
    bool moved = false;
    for (size_t k = 0; k < count; k++) {
        direction[k] = at->place[k] - before[k];
        moved = moved || direction[k] != 0.0;
    }
    return moved ? along(s, direction, AHEAD, at) : HF_OK;
}

static hf_status descend(grid_search *s, start *at, int sweeps, double *work)
{
    hf_status status = HF_OK;
    for (int k = 0; k < sweeps && at->share > least_share && status >= 0; k++) {
        const double before = at->value;
        status = sweep(s, at, work);
        if (!(at->value < (1.0 - worth_a_sweep) * before)) at->share *= 0.5;
    }
    return status;
}

/* From every valley of the grid a little, from the best of them to the end. */
static hf_status minimise(grid_search *s)
{
    start starts[STARTS], *best = starts;
    double *places = hfi_alloc(s->ctx, s->count, (STARTS + 2) * sizeof *places);
    if (places == NULL) return HF_ERR_MEMORY;
    memset(places, 0, (STARTS + 2) * s->count * sizeof *places);
    for (size_t k = 0; k < STARTS; k++)
        starts[k] = (start){.place = places + k * s->count, .value = INFINITY};
    double *work = places + STARTS * s->count;
    size_t found = 0;
    hf_status status = on_grid(s, starts, &found);
    for (size_t k = 0; k < found && status >= 0; k++) {
        status = descend(s, &starts[k], TRIAL, work);
        if (starts[k].value < best->value) best = &starts[k];
    }
    if (status >= 0) status = descend(s, best, SWEEPS, work);
    for (size_t k = 0; k < s->count; k++) s->at[k].value = best->place[k];
    hfi_free(s->ctx, places);
    return status;
}

/* The values found, in the caller's kernel; its boxes and holds stay. */
static hf_status give(const grid_search *s, hf_kernel *kernel)
{
    for (size_t k = 0; k + 1 < s->count; k++) {
        hf_parameter p;
        const double value = exp(s->at[k].value);
        if (hf_kernel_parameter(kernel, s->at[k].parameter, &p) < 0 ||
            hfi_kernel_set_parameter(kernel, s->at[k].parameter, value, fmin(p.lower, value),
                                     fmax(p.upper, value), p.fixed) < 0)
            return hfi_fail(s->ctx, HF_ERR_INTERNAL, "cross-validation found a parameter that cannot be");
    }
    return HF_OK;
}

hf_status hf_envelope_kernel_search(hf_context *ctx, hf_kernel *kernel, const hf_bounded_readings *readings,
                                    hf_kernel_search *report)
{
    if (ctx == NULL || kernel == NULL)
        return hfi_refuse(ctx, "hf_envelope_kernel_search: context and kernel must not be NULL");
    grid_search s = {.ctx = ctx, .d = hf_kernel_dimension(kernel)};
    hf_status status = hfi_readings_check(ctx, kernel, readings);
    if (status >= 0) status = hf_kernel_copy(ctx, kernel, &s.kernel);
    if (status >= 0) status = prepare_grid_search(&s, readings);
    if (status >= 0) status = list_coordinates(&s);
    s.sizes = s.n <= FEW_READINGS ? MANY_SIZES : SIZES;
    s.ridges = s.n <= FEW_READINGS ? MANY_RIDGES : RIDGES;
    hf_kernel_search found = {.readings = s.n, .error = NAN, .ridge = NAN};
    if (status >= 0 && s.count > 0) {
        status = minimise(&s);
        if (status >= 0 && !isfinite(s.best))
            status = hfi_fail(ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                              "cross-validation: no kernel matrix could be factored");
        if (status >= 0) status = give(&s, kernel);
        found.parameters = s.count - 1;
        found.evaluations = s.evaluations;
        found.error = sqrt(s.best);
        found.ridge = exp(s.at[s.count - 1].value);
    }
    if (status >= 0 && report != NULL) *report = found;
    search_free(&s);
    return status;
}

/* ---- the call ---------------------------------------------------------------------------------------- */

/* Number `k` of `points` counts, about evenly spaced in log n: above the one before, leaving one each for the rest. */
static size_t count_at(size_t n, size_t points, size_t k, size_t before)
{
    const double share = (double)(k + 1) / (double)points;
    const size_t even = (size_t)(exp(log((double)n) * share) + 0.5), most = n - (points - 1 - k);
    const size_t count = even > before ? even : before + 1;
    return k + 1 == points || count > most ? most : count;
}

static hf_status estimate(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings,
                          size_t points, hf_norm_point *curve)
{
    hf_bounded_readings first = *readings;
    double norm = 0.0;
    for (size_t k = 0; k < points; k++) {
        if (!hfi_progress(ctx, "norm", (double)k / (double)points, NAN)) return hfi_cancelled(ctx);
        hf_consistency report;
        first.n = count_at(readings->n, points, k, k > 0 ? curve[k - 1].readings : 0);
        const hf_status status = hf_envelope_consistency(ctx, kernel, &first, INFINITY, &report, NULL);
        if (status < 0) return status;
        if (!isfinite(report.minimum_norm))
            return hfi_fail(ctx, HF_ERR_INCONSISTENT,
                            "no function of any norm meets the first %zu readings: some at one input, or at "
                            "inputs that are nearly one, contradict each other",
                            first.n);
        /* More readings cannot take back what few certify; rounding might. */
        norm = fmax(norm, report.minimum_norm);
        curve[k] = (hf_norm_point){first.n, norm};
    }
    return HF_OK;
}

hf_status hf_norm_estimate(hf_context *ctx, const hf_kernel *kernel, const hf_bounded_readings *readings,
                           size_t points, hf_norm_point *curve)
{
    if (!ctx || !kernel || !readings || !curve)
        return hfi_refuse(ctx,
                          "a norm estimate needs a context, a kernel, readings and a place for the result");
    hf_status status = hfi_readings_check(ctx, kernel, readings);
    if (status < 0) return status;
    if (points == 0 || points > readings->n)
        return hfi_refuse(ctx, "%zu points were asked for; 1 to %zu, the number of readings", points,
                          readings->n);
    hf_norm_point *found = hfi_alloc(ctx, points, sizeof *found);
    if (!found) return HF_ERR_MEMORY;
    status = estimate(ctx, kernel, readings, points, found);
    for (size_t k = 0; k < points && status >= 0; k++) curve[k] = found[k];
    hfi_free(ctx, found);
    return status;
}
