/* SPDX-License-Identifier: Apache-2.0 */
/* Models of relevance pursuit: their score, their memory, and how one is put in place. */
#include "outliers/outliers.h"
#include "outliers/pursuit_impl.h"
#include "sites/student.h"

#include <math.h>
#include <string.h>

/* Expected share of readings in the support (Ament et al. 2024). */
static const double expected_share = 0.2;

double hfi_pursuit_log_prior(size_t n, size_t k)
{
    const double size = (double)n, members = (double)k;
    const double supports =
        hfi_log_gamma(size + 1.0) - hfi_log_gamma(members + 1.0) - hfi_log_gamma(size - members + 1.0);
    /* Each member's variance was fitted to one reading, and to the best of n for it: what that gains for
     * nothing is taken back as in the risk inflation criterion of Foster and George (1994). Without it the
     * log of the number of supports, which is flat around half of the readings, lets supports grow until the
     * noise is gone; with half of it, as in Schwarz's criterion, they eat into the tails of clean readings
     * and the noise is too small. */
    return -members / (expected_share * size) - supports - members * log(size);
}

double hfi_pursuit_score(const hfi_pursuit *p, const hfi_pursuit_model *model)
{
    return model->found.value + model->found.log_prior +
           hfi_pursuit_log_prior(hf_sites_present(p->trainer->evaluator.sites), model->size);
}

void hfi_pursuit_model_free(hf_context *ctx, hfi_pursuit_model *model)
{
    HFI_FREE(ctx, model->member, model->rho, model->state);
}

hf_status hfi_pursuit_model_init(hfi_trainer *t, hfi_pursuit_model *model)
{
    const hfi_evaluator *e = &t->evaluator;
    *model = (hfi_pursuit_model){.found.value = -INFINITY};
    return HFI_ALLOC(e->ctx, HFI_ROOM(model->member, e->rows), HFI_ROOM(model->rho, e->rows),
                     HFI_ROOM(model->state, t->count));
}

void hfi_pursuit_free(hfi_pursuit *p)
{
    if (!p->trainer) return;
    hf_context *ctx = p->trainer->evaluator.ctx;
    hfi_pursuit_model_free(ctx, &p->now);
    hfi_pursuit_model_free(ctx, &p->best);
    HFI_FREE(ctx, p->known, p->outlook);
    memset(p, 0, sizeof *p);
}

hf_status hfi_pursuit_init(hfi_trainer *t, hfi_pursuit *out)
{
    hfi_evaluator *e = &t->evaluator;
    *out = (hfi_pursuit){.trainer = t};
    hf_status s = HFI_ALLOC(e->ctx, HFI_ROOM(out->known, e->rows), HFI_ROOM(out->outlook, e->rows));
    if (s >= 0) s = hfi_pursuit_model_init(t, &out->now);
    if (s >= 0) s = hfi_pursuit_model_init(t, &out->best);
    if (s >= 0)
        memcpy(out->known, e->sites->extra, e->rows * sizeof *out->known);
    else
        hfi_pursuit_free(out);
    return s;
}

hf_status hfi_pursuit_set(hfi_pursuit *p, const hfi_pursuit_model *model)
{
    hfi_evaluator *e = &p->trainer->evaluator;
    const hf_status s = hfi_trainer_set(p->trainer, model->state);
    for (size_t i = 0; s >= 0 && i < e->rows; i++)
        hfi_sites_set_own_variance(e->sites, i, p->known[i], model->rho[i]);
    return s;
}
