/* SPDX-License-Identifier: Apache-2.0 */
/* The optimum of q for final hyperparameters: one pass where it has a closed form, else passes until it
 * stands still. */
#include "svgp/impl.h"
#include <math.h>
#include <string.h>

enum {
    MOST_PASSES = 40
};

/* q stands still when no combination of values of f moved by more than this many of its standard deviations;
 * for robust sites, which move with it, that is asked of a pass over all rows and is less strict. */
static const double still = 1e-3, nearly_still = 0.05, still_nats = 1e-4;

/* sqrt(x'P x) for the move x = mu - before, which is spoilt. */
static double moved(hfi_svgp *q, double *before)
{
    for (size_t j = 0; j < q->m; j++) before[j] -= q->mu[j];
    hfi_symv(q->m, q->precision, q->m, before, q->spare);
    return sqrt(fmax(hfi_dot(q->m, before, q->spare), 0.0));
}

static hf_status pass(hfi_svgp_run *run, hfi_svgp_sums *sums)
{
    hfi_svgp_sums_clear(run->q, sums);
    const hf_status s = hfi_svgp_pass(run, sums);
    if (s < 0) return s;
    run->report->readings = sums->readings;
    run->report->down_weighted = (double)sums->far / fmax((double)sums->readings, 1.0);
    if (sums->readings > 0) return HF_OK;
    return hfi_fail(run->q->ctx, HF_ERR_NO_DATA, "none of the %zu rows has a target", run->rows->n);
}

/* Gaussian: once. Robust: the sites follow q, and q them. */
static hf_status conjugate(hfi_svgp_run *run, hfi_svgp_sums *sums, double *before)
{
    hfi_svgp *q = run->q;
    const size_t rounds = q->noise.kind->weighed && run->settings->rounds > 0 ? run->settings->rounds : 1;
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < rounds; k++) {
        s = hfi_svgp_rethreshold(run);
        if (s >= 0) s = pass(run, sums);
        memcpy(before, q->mu, q->m * sizeof *before);
        if (s >= 0) s = hfi_svgp_collapse(q, sums, &run->report->found.value);
        if (s >= 0 && moved(q, before) <= nearly_still) break;
    }
    return s;
}

/* Natural gradients on all rows; a step that lowers the bound is taken back and halved. `kept` holds the q
 * before the last step. */
static hf_status iterate(hfi_svgp_run *run, hfi_svgp_sums *now, hfi_svgp_sums *last, double *kept)
{
    hfi_svgp *q = run->q;
    const size_t m = q->m;
    double *before = kept, *shift = kept + m, *precision = kept + 2 * m, rho = 1.0, bound = -INFINITY;
    for (size_t k = 0; k < MOST_PASSES; k++) {
        hf_status s = pass(run, now);
        if (s < 0) return s;
        const double next = now->value - hfi_svgp_kl(q);
        const bool worse = next < bound - 1e-10 * fabs(bound);
        if (worse) {
            memcpy(q->shift, shift, m * sizeof *shift);
            memcpy(q->precision, precision, m * m * sizeof *precision);
            rho *= 0.25;
        } else {
            const double gain = next - bound;
            run->report->found.value = bound = next;
            if (k > 0 && moved(q, before) <= still && gain <= still_nats) return HF_OK;
            const hfi_svgp_sums keep = *last;
            *last = *now;
            *now = keep;
            memcpy(before, q->mu, m * sizeof *before);
            memcpy(shift, q->shift, m * sizeof *shift);
            memcpy(precision, q->precision, m * m * sizeof *precision);
            rho = fmin(1.0, 2.0 * rho);
        }
        s = hfi_svgp_natural(q, last, 1.0, rho);
        if (s < 0) return s;
    }
    return hfi_fail(q->ctx, HF_WARN_NOT_CONVERGED, "q(u) still moves after %d passes over the readings",
                    MOST_PASSES);
}

/* Where no training has moved q from the prior, robust sites take it near the readings: see first_steps() in
 * svgp_train.c. */
static hf_status approach(hfi_svgp_run *run, hfi_svgp_sums *sums, double *before)
{
    hfi_svgp *q = run->q;
    if (run->trained) return HF_OK;
    const hfi_svgp_kind *kind = q->noise.kind;
    q->noise.kind = kind->approach;
    const hf_status s = conjugate(run, sums, before);
    q->noise.kind = kind;
    return s;
}

static hf_status student(hfi_svgp_run *run, hfi_svgp_sums *sums)
{
    hfi_svgp *q = run->q;
    const size_t m = q->m;
    hfi_svgp_sums last = {0};
    double *kept = hfi_alloc(q->ctx, m, (m + 2) * sizeof *kept);
    if (!kept) return HF_ERR_MEMORY;
    hf_status s = hfi_svgp_sums_init(q, true, false, false, &last);
    if (s >= 0) s = approach(run, sums, kept);
    if (s >= 0) s = iterate(run, sums, &last, kept);
    hfi_svgp_sums_free(q, &last);
    hfi_free(q->ctx, kept);
    return s;
}

hf_status hfi_svgp_finish(hfi_svgp_run *run)
{
    hfi_svgp *q = run->q;
    hfi_svgp_sums sums = {0};
    hf_status s = hfi_svgp_sums_init(q, true, false, false, &sums);
    if (s < 0) return s;
    if (q->noise.kind->approach) {
        s = student(run, &sums);
    } else {
        double *before = hfi_alloc(q->ctx, q->m, sizeof *before);
        s = before ? conjugate(run, &sums, before) : HF_ERR_MEMORY;
        hfi_free(q->ctx, before);
    }
    hfi_svgp_sums_free(q, &sums);
    return s;
}
