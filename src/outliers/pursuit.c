/* SPDX-License-Identifier: Apache-2.0 */
/* Relevance pursuit: the fit. */
#include "outliers/outliers.h"
#include "outliers/pursuit_impl.h"
#include <math.h>
#include <string.h>

/* A reading whose own variance leaves it less than this weight is told to be suspected: rho > 3 s. */
static const double suspect_weight = 0.25;

static hf_status check_pursuit_trainer(const hfi_trainer *t)
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
    hf_status s = check_pursuit_trainer(t);
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
