/* SPDX-License-Identifier: Apache-2.0 */
/* Relevance pursuit: the fit, and the models it goes through. */
#include "outliers/outliers.h"
#include "outliers/pursuit_impl.h"
#include "sites/student.h"
#include <math.h>
#include <string.h>

/* Expected share of readings in the support (Ament et al. 2024). */
static const double expected_share = 0.2;
/* A reading whose own variance leaves it less than this weight is told to be suspected: rho > 3 s. */
static const double suspect_weight = 0.25;

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

/* ---- models ------------------------------------------------------------------------------------------------ */

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

/* ---- the fit ----------------------------------------------------------------------------------------------- */

static hf_status check(const hfi_trainer *t)
{
    const hfi_evaluator *e = &t->evaluator;
    if (!e->kind->outlook)
        return hfi_refuse(e->ctx, "relevance pursuit works with the exact and the inducing solver; fit it "
                                  "with one of these and project its sites");
    if (t->objective != HF_OBJECTIVE_EVIDENCE)
        return hfi_refuse(e->ctx, "relevance pursuit compares models by the evidence, not by '%s'",
                          hf_enum_name(HF_ENUM_OBJECTIVE, t->objective));
    if (e->sites->given || isfinite(e->sites->threshold))
        return hfi_refuse(e->ctx, "relevance pursuit is for plain readings");
    return HF_OK;
}

/* Paths from the given start and from seeded random ones around it, each start with and without training
 * first, and from a shorter one. */
static hf_status paths(hfi_pursuit *p, const hf_fit_settings *settings, const double *start)
{
    const hfi_trainer *t = p->trainer;
    const size_t restarts = t->free_count > 0 ? settings->restarts : 0;
    hf_status s = HF_OK;
    for (size_t r = 0; s >= 0 && r <= restarts; r++)
        for (int blind = 0; s >= 0 && blind < 2; blind++) {
            memcpy(p->now.state, start, t->count * sizeof *start);
            if (r > 0) hfi_trainer_scatter(t, r, p->now.state);
            s = hfi_pursuit_path(p, settings, blind != 0);
        }
    return s < 0 ? s : hfi_worse(hfi_pursuit_shorter(p, settings, start), s);
}

/* The best model into trainer, evaluator and the caller's variables. */
static hf_status adopt(hfi_pursuit *p, double *state, bool *suspected)
{
    hfi_trainer *t = p->trainer;
    hfi_evaluator *e = &t->evaluator;
    const hf_status s = hfi_pursuit_set(p, &p->best);
    if (s < 0) return s;
    hfi_sites_fold_own_variances(e->sites, p->known, p->best.rho);
    memcpy(state, p->best.state, t->count * sizeof *state);
    t->found = p->best.found;
    for (size_t i = 0; i < e->rows; i++)
        suspected[i] = p->best.member[i] && hf_sites_weights(e->sites)[i] < suspect_weight;
    return s;
}

hf_status hfi_pursuit_fit(hfi_trainer *t, const hf_fit_settings *settings, double *state, size_t *rounds,
                          bool *suspected)
{
    hf_status s = check(t);
    if (s >= 0) s = hfi_evaluator_select(&t->evaluator);
    if (s < 0) return s;
    hfi_pursuit p;
    s = hfi_pursuit_init(t, &p);
    if (s < 0) return s;
    s = paths(&p, settings, state);
    if (s >= 0) s = hfi_worse(adopt(&p, state, suspected), s);
    if (s >= 0) *rounds = p.rounds;
    /* A failure leaves the sites as they came. */
    for (size_t i = 0; s < 0 && i < t->evaluator.rows; i++)
        hfi_sites_set_own_variance(t->evaluator.sites, i, p.known[i], 0.0);
    hfi_pursuit_free(&p);
    return s;
}
