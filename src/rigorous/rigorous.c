/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities of a rigorous range, computed once: the norm of the mean, and for the sd the anchors' covariances. */
#include "rigorous/rigorous_impl.h"

#include <string.h>

double hfi_double_down(long double v)
{
    const double near = (double)v;
    return (long double)near > v ? nextafter(near, -INFINITY) : near;
}

double hfi_double_up(long double v)
{
    const double near = (double)v;
    return (long double)near < v ? nextafter(near, INFINITY) : near;
}

/* ---- covariances of anchors ------------------------------------------------------------------ */

typedef struct rows {
    hfi_rigorous *rigorous;
    hfi_interval *product; /* n: t_i (t_i k_ii + 2 sum over earlier anchors) */
    long double *radius;   /* n */
    bool *bad;             /* n */
} rows;

static void one_row(size_t i, int thread, void *arg)
{
    const rows *r = arg;
    const hf_posterior *posterior = r->rigorous->posterior;
    const hfi_solution *s = &posterior->solution;
    double *gram = r->rigorous->gram;
    hfi_interval sum = hfi_interval_point(0.0L);
    (void)thread;
    for (size_t j = 0; j <= i && !r->bad[i]; j++) {
        hfi_interval k;
        if (!hfi_kernel_enclose(posterior->kernel, s->z + i * s->d, s->z + j * s->d, false, &k.lower,
                                &k.upper)) {
            r->bad[i] = true;
            break;
        }
        const hfi_interval weight = hfi_interval_point(j < i ? 2.0L * (long double)s->t[j] : s->t[j]);
        sum = hfi_interval_add(sum, hfi_interval_multiply(weight, k));
        if (gram == NULL) continue;
        /* White is noise to the mean's function, but stands on the diagonal of K. */
        if (j == i && !hfi_kernel_enclose(posterior->kernel, s->z + i * s->d, s->z + i * s->d, true, &k.lower,
                                          &k.upper))
            r->bad[i] = true;
        const double near = (double)(0.5L * (k.lower + k.upper));
        const long double above = hfi_up(k.upper - near), below = hfi_up(near - k.lower);
        gram[i + j * s->n] = gram[j + i * s->n] = near;
        r->radius[i] = fmaxl(r->radius[i], fmaxl(above, below));
    }
    r->product[i] = hfi_interval_multiply(hfi_interval_point(s->t[i]), sum);
}

/* Every row by one thread, the rows' sums in their order. */
static hf_status all_rows(hf_context *ctx, hfi_watch *watch, hfi_rigorous *rigorous)
{
    const size_t n = rigorous->posterior->solution.n;
    rows r = {.rigorous = rigorous};
    hfi_interval square = hfi_interval_point(0.0L);
    hf_status status = HFI_ALLOC(ctx, HFI_ROOM(r.product, n), HFI_ROOM(r.radius, n), HFI_ROOM(r.bad, n));
    if (status == HF_OK && !hfi_watched_for(ctx, watch, n, one_row, &r)) status = hfi_cancelled(ctx);
    for (size_t i = 0; i < n && status == HF_OK; i++) {
        if (r.bad[i])
            status = hfi_fail(ctx, HF_ERR_NOT_FINITE,
                              "the covariance of anchor %zu with an earlier one has no finite bounds", i);
        square = hfi_interval_add(square, r.product[i]);
        rigorous->radius = fmaxl(rigorous->radius, r.radius[i]);
    }
    rigorous->norm = square.upper > 0.0L ? hfi_up(sqrtl(square.upper)) : 0.0L;
    HFI_FREE(ctx, r.product, r.radius, r.bad);
    return status;
}

static hf_status prepare_spread(hf_context *ctx, hfi_rigorous *rigorous)
{
    const hfi_solution *s = &rigorous->posterior->solution;
    size_t entries;
    if (s->form != HFI_FORM_EXACT)
        return hfi_refuse(ctx, "rigorous ranges of the standard deviation need the exact solver; ask for the "
                               "mean, or without rigour");
    if (!hfi_size_mul(s->n, s->n, &entries)) return HF_ERR_MEMORY;
    if (HFI_ALLOC(ctx, HFI_ROOM(rigorous->gram, entries), HFI_ROOM(rigorous->variance, s->n)) < 0)
        return HF_ERR_MEMORY;
    for (size_t i = 0; i < s->n; i++)
        rigorous->variance[i] =
            hfi_interval_add(hfi_interval_point(s->variance[i]), hfi_interval_point(s->jitter)).lower;
    return HF_OK;
}

hf_status hfi_rigorous_create(hf_context *ctx, hfi_watch *watch, const hf_posterior *posterior, bool spread,
                              hfi_rigorous **out)
{
    if (!hfi_interval_usable())
        return hfi_refuse(ctx, "rigorous ranges need long double in its full precision, which this machine "
                               "(or the program that runs this one) does not give");
    hfi_rigorous *r = hfi_alloc(ctx, 1, sizeof *r);
    if (r == NULL) return HF_ERR_MEMORY;
    r->memory = hfi_context_memory(ctx);
    r->posterior = posterior;
    hf_status status = spread ? prepare_spread(ctx, r) : HF_OK;
    if (status == HF_OK) status = all_rows(ctx, watch, r);
    if (status < 0) {
        hfi_rigorous_free(r);
        return status;
    }
    *out = r;
    return HF_OK;
}

void hfi_rigorous_free(hfi_rigorous *rigorous)
{
    if (rigorous == NULL) return;
    const hfi_memory memory = rigorous->memory;
    HFI_MEMORY_FREE(&memory, rigorous->gram, rigorous->variance, rigorous);
}
