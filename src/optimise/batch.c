/* SPDX-License-Identifier: Apache-2.0 */
/* Several places at once: one after the other, each given those before it; then each anew, given all others. */
#include "optimise/acquire.h"

#include <math.h>
#include <string.h>

/* Least gain, as a share of the acquisition function: a place that gains less stays where it is. */
static const double least_gain = 1e-9;

typedef struct point_batch {
    hf_context *ctx;
    const hf_acquire *a;
    const hf_domain *domain;
    const hf_search_settings *settings;
    size_t d, q;
    double
        *given; /* (pending + q) x d: the caller's pending points, then those of the batch that are given */
    double *x;  /* q x d */
    double *values; /* q: of each, given those before it */
    double *place;  /* d */
} point_batch;

/* The acquisition function given places [0, count) of the batch, but for `without`. */
static hf_acquire given_places(point_batch *b, size_t count, size_t without)
{
    hf_acquire a = *b->a;
    for (size_t k = 0; k < count; k++) {
        if (k == without) continue;
        memcpy(b->given + a.pending++ * b->d, b->x + k * b->d, b->d * sizeof *b->given);
    }
    a.pending_x = b->given;
    return a;
}

/* Place k, given those before it: where it pays most. */
static hf_status choose_batch_point(point_batch *b, size_t k, size_t guess_count, const double *guesses)
{
    const hf_acquire a = given_places(b, k, SIZE_MAX);
    hfi_acquiring p;
    hf_argmax found = {.value = 0.0};
    hf_status status = hfi_acquiring_begin(b->ctx, &a, b->d, &p);
    if (status >= 0)
        status = hfi_acquiring_maximise(b->ctx, &p, b->domain, b->settings, guess_count, guesses,
                                        b->x + k * b->d, &found);
    b->values[k] = found.value;
    hfi_acquiring_end(b->ctx, &p);
    return status;
}

/* Place k anew, given all others. */
static hf_status choose_again(point_batch *b, size_t k, bool *moved)
{
    const hf_acquire a = given_places(b, b->q, k);
    double *x = b->x + k * b->d, before = 0.0;
    hfi_acquiring p;
    hf_argmax found = {.value = 0.0};
    hf_status status = hfi_acquiring_begin(b->ctx, &a, b->d, &p);
    if (status >= 0) status = hfi_acquiring_at(&p, b->d, x, &before, NULL);
    if (status >= 0)
        status = hfi_acquiring_maximise(b->ctx, &p, b->domain, b->settings, 1, x, b->place, &found);
    const double gain = found.value - before;
    if (status >= 0 && gain > least_gain * (p.row->logarithm ? 1.0 : fabs(before))) {
        memcpy(x, b->place, b->d * sizeof *x);
        *moved = true;
    }
    hfi_acquiring_end(b->ctx, &p);
    return status;
}

/* Values what each place adds to those before it. */
static hf_status value_places(point_batch *b, double *values)
{
    hf_status status = HF_OK;
    for (size_t k = 0; k < b->q && status >= 0; k++) {
        const hf_acquire a = given_places(b, k, SIZE_MAX);
        hfi_acquiring p;
        status = hfi_acquiring_begin(b->ctx, &a, b->d, &p);
        if (status >= 0) status = hfi_acquiring_at(&p, b->d, b->x + k * b->d, values + k, NULL);
        hfi_acquiring_end(b->ctx, &p);
    }
    return status;
}

/* Improvements add up: E[max over the batch] is the sum of what each adds. The values are logarithms; the
 * sum is relative to the largest of `by`. */
static double total(const point_batch *b, const double *values, const double *by)
{
    double largest = by[0], sum = 0.0;
    const bool logarithm = hfi_acquisition_of(b->a->kind)->logarithm;
    for (size_t k = 1; k < b->q; k++) largest = fmax(largest, by[k]);
    for (size_t k = 0; k < b->q; k++) sum += logarithm ? exp(values[k] - largest) : values[k];
    return sum;
}

/* Until nothing moves, and only if the whole has become better. */
static hf_status improve(point_batch *b, size_t sweeps)
{
    const size_t entries = b->q * b->d;
    double *before = hfi_alloc(b->ctx, entries + b->q, sizeof *before);
    hf_status status = before != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status < 0) return status;
    double *values = before + entries;
    bool moved = true, ever = false;
    memcpy(before, b->x, entries * sizeof *before);
    for (size_t s = 0; s < sweeps && moved && status >= 0; s++) {
        moved = false;
        for (size_t k = 0; k < b->q && status >= 0; k++) status = choose_again(b, k, &moved);
        ever = ever || moved;
    }
    if (status >= 0 && ever) status = value_places(b, values);
    if (status >= 0 && ever) {
        if (total(b, values, b->values) > total(b, b->values, b->values))
            memcpy(b->values, values, b->q * sizeof *values);
        else
            memcpy(b->x, before, entries * sizeof *before);
    }
    hfi_free(b->ctx, before);
    return status;
}

static hf_status check_batch_call(hf_context *ctx, const hf_acquire *a, const hf_domain *domain,
                                  const hf_search_settings *settings, size_t q, size_t sweeps,
                                  size_t guess_count, const double *guesses, const double *x)
{
    size_t entries;
    if (q == 0) return hfi_refuse(ctx, "a batch has at least one place; q is 0");
    hf_status status = hfi_maximise_check_call(ctx, domain, settings, guess_count, guesses, x);
    if (status >= 0) status = hfi_acquire_check(ctx, a, domain->dimension);
    if (status < 0) return status;
    if (q > HFI_MOST_POINTS || a->pending > HFI_MOST_POINTS - q ||
        !hfi_size_mul(a->pending + q, domain->dimension, &entries))
        return hfi_refuse(ctx, "%zu places and %zu pending points are more than %d", q, a->pending,
                          HFI_MOST_POINTS);
    if (sweeps > 0 && a->kind != HF_ACQUIRE_EI && a->kind != HF_ACQUIRE_LOG_EI)
        return hfi_refuse(ctx,
                          "%s of a batch is not the sum of what each place adds; with %zu sweeps use log-ei",
                          hf_enum_name(HF_ENUM_ACQUISITION, a->kind), sweeps);
    return HF_OK;
}

hf_status hf_acquire_batch(hf_context *ctx, const hf_acquire *a, const hf_domain *domain,
                           const hf_search_settings *settings, size_t q, size_t sweeps, size_t guess_count,
                           const double *guesses, double *x, double *values_or_null)
{
    hf_acquire own;
    hf_status status = hfi_acquire_take(ctx, a, &own);
    if (status >= 0)
        status = check_batch_call(ctx, &own, domain, settings, q, sweeps, guess_count, guesses, x);
    if (status < 0) return status;
    point_batch b = {
        .ctx = ctx, .a = &own, .domain = domain, .settings = settings, .d = domain->dimension, .q = q};
    const size_t entries = own.pending * b.d;
    status = HFI_ALLOC(ctx, HFI_ROOMS(b.given, own.pending + q, b.d), HFI_ROOMS(b.x, q, b.d),
                       HFI_ROOM(b.values, q), HFI_ROOM(b.place, b.d));
    if (status >= 0 && entries > 0) memcpy(b.given, own.pending_x, entries * sizeof *b.given);
    for (size_t k = 0; k < q && status >= 0; k++) status = choose_batch_point(&b, k, guess_count, guesses);
    if (status >= 0 && sweeps > 0 && q > 1) status = improve(&b, sweeps);
    if (status >= 0) {
        memcpy(x, b.x, q * b.d * sizeof *x);
        if (values_or_null != NULL) memcpy(values_or_null, b.values, q * sizeof *values_or_null);
    }
    HFI_FREE(ctx, b.given, b.x, b.values, b.place);
    return status;
}
