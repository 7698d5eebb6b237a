/* SPDX-License-Identifier: Apache-2.0 */
/* A flag set, the state fitted to the rest, and its cost; which output a row is of. */
#include "core/normal.h"
#include "outliers/suspects.h"
#include <math.h>
#include <string.h>

hf_status hfi_flagging_init(hf_context *ctx, hfi_flagging *f, size_t rows, size_t count)
{
    memset(f, 0, sizeof *f);
    const hf_status s =
        HFI_ALLOC(ctx, HFI_ROOM(f->flag, rows), HFI_ROOM(f->state, count), HFI_ROOMS(f->t, rows, 3));
    if (s < 0) {
        hfi_flagging_free(ctx, f);
        return s;
    }
    f->crps = f->t + rows;
    f->sd = f->crps + rows;
    return HF_OK;
}

void hfi_flagging_free(hf_context *ctx, hfi_flagging *f)
{
    HFI_FREE(ctx, f->flag, f->state, f->t);
    memset(f, 0, sizeof *f);
}

void hfi_flagging_copy(const hfi_finder *finder, hfi_flagging *to, const hfi_flagging *from)
{
    if (to == from) return;
    memcpy(to->flag, from->flag, finder->n * sizeof *to->flag);
    memcpy(to->state, from->state, finder->trainer->count * sizeof *to->state);
    memcpy(to->t, from->t, 3 * finder->n * sizeof *to->t);
    to->cost = from->cost;
}

size_t hfi_count_flags(size_t n, const bool *flag)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += flag[i] ? 1 : 0;
    return count;
}

size_t hfi_finder_output(const hfi_finder *finder, size_t row)
{
    const hfi_evaluator *e = &finder->trainer->evaluator;
    return (size_t)hfi_output_of(e->x[row * e->ldx + e->d - 1], finder->outputs);
}

hf_status hfi_finder_present(hfi_finder *finder, const bool *flag)
{
    hf_sites *sites = finder->trainer->evaluator.sites;
    hf_status s = HF_OK;
    for (size_t i = 0; s >= 0 && i < finder->n; i++)
        if (hf_sites_is_present(sites, i) == flag[i])
            s = hf_sites_set_present(finder->ctx, sites, i, !flag[i]);
    return s;
}

hf_status hfi_finder_fit(hfi_finder *finder, const bool *flag, double *state, bool cold, size_t iterations)
{
    hf_status s = hfi_finder_present(finder, flag);
    if (s >= 0 && cold) s = hfi_trainer_cold(finder->trainer, state);
    if (s >= 0 && !cold) s = hfi_trainer_follow_mean(finder->trainer, state);
    return s < 0 || (finder->held && !cold) ? s : hfi_trainer_maximise(finder->trainer, state, iterations);
}

/* J(S, p): the kept readings by the GP, the flagged ones as uniform on the range with 4 nats extra each, and
 * which ones they are. */
static double cost(const hfi_finder *finder, const hfi_flagging *f)
{
    const size_t flags = hfi_count_flags(finder->n, f->flag);
    const double n = (double)finder->n, k = (double)flags;
    double which = log(n + 1.0); /* and the logarithm of n over k */
    for (size_t i = 0; i < flags; i++) which += log((n - (double)i) / ((double)i + 1.0));
    return -finder->residuals.log_evidence - hfi_trainer_log_prior(finder->trainer, f->state) +
           k * (log(finder->range) + 4.0) + which;
}

static bool was_assessed(const hfi_finder *finder, const hfi_flagging *f)
{
    return finder->any && memcmp(finder->assessed.flag, f->flag, finder->n * sizeof *f->flag) == 0 &&
           memcmp(finder->assessed.state, f->state, finder->trainer->count * sizeof *f->state) == 0;
}

hf_status hfi_finder_assess(hfi_finder *finder, hfi_flagging *f)
{
    hfi_evaluator *e = &finder->trainer->evaluator;
    hf_status s = hfi_finder_present(finder, f->flag);
    if (s >= 0) s = hfi_trainer_set(finder->trainer, f->state);
    if (s >= 0 && was_assessed(finder, f)) {
        hfi_flagging_copy(finder, f, &finder->assessed);
        return HF_OK;
    }
    if (s >= 0) s = hfi_holdout_compute(e, &finder->residuals);
    if (s < 0) return s;
    const double *y = hf_sites_readings(e->sites);
    memcpy(f->t, finder->residuals.t, finder->n * sizeof *f->t);
    memcpy(f->sd, finder->residuals.sd, finder->n * sizeof *f->sd);
    for (size_t i = 0; i < finder->n; i++)
        f->crps[i] = hfi_normal_crps(y[i] - finder->residuals.mean[i], finder->residuals.sd[i]);
    f->cost = cost(finder, f);
    hfi_flagging_copy(finder, &finder->assessed, f);
    finder->any = true;
    return HF_OK;
}
