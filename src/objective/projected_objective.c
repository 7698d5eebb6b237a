/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds with block actions: sum_j l_j(mu_j, v_j) - KL(q || prior), names as in solver/projected_system.h:
 *
 *     mu_j = m_j + b_j'u      v_j = k_jj - b_j'G^-1 b_j
 *     KL = { u'A'r - u'Lambda u + log det G - log det Lambda - i + tr(G^-1 Lambda) } / 2
 *
 * which is the divergence of q(f) = N(m + B u, K - B G^-1 B') from the prior N(m, K), whatever Lambda is; jitter, being
 * more of Lambda, leaves it a divergence and the bound a bound. White noise of the kernel is part of D: the evidence's
 * sites and the weighted readings have it in their variance, the published bound in its f.
 */
#include "objective/projected_impl.h"
#include "objective/query.h"

#include "linalg/linalg.h"
#include <math.h>

static double *vector(const hfi_evaluator *e, int which)
{
    return hfi_projected_vector(e->projected, which);
}

/* The sites as the objective sees them: the arrays it reads, with the kernel's white noise where it belongs. */
static hf_sites with_white(const hfi_evaluator *e, hf_objective objective)
{
    const hfi_block_system *s = &e->projected->system;
    hf_sites seen = *e->sites;
    double *own = vector(e, HFI_PV_SITE), *v = vector(e, HFI_PV_VARIANCE);
    const double *from = objective == HF_OBJECTIVE_EVIDENCE ? e->sites->variance : e->sites->extra;
    for (size_t l = 0; l < s->n; l++) {
        const size_t row = s->row[l];
        own[row] = from[row] + (objective == HF_OBJECTIVE_RCAGP ? 0.0 : s->white[l]);
        if (objective == HF_OBJECTIVE_RCAGP) v[row] += s->white[l];
    }
    if (objective == HF_OBJECTIVE_EVIDENCE)
        seen.variance = own;
    else
        seen.extra = own;
    return seen;
}

/* mu and v of every row. */
static void marginals(hfi_evaluator *e)
{
    hfi_block_system *s = &e->projected->system;
    double *weighted = vector(e, HFI_PV_WEIGHT), *square = vector(e, HFI_PV_OWN),
           *offset = vector(e, HFI_PV_R_BAR);
    hfi_block_system_rows(s, weighted, square);
    hf_mean_evaluate(e->mean, s->n, s->x, s->d, offset);
    for (size_t l = 0; l < s->n; l++) {
        vector(e, HFI_PV_MEAN)[s->row[l]] = offset[l] + weighted[l];
        vector(e, HFI_PV_VARIANCE)[s->row[l]] = fmax(s->prior[l] - square[l], 0.0);
    }
}

/* P Lambda P, lower triangle, and the adjoints of the divergence; names in projected_impl.h. B holds G^-1 b_l. */
static hf_status small_adjoints(hfi_evaluator *e, hfi_projected_bar *bar)
{
    const hfi_block_system *s = &e->projected->system;
    const size_t n = s->count;
    const double *p = bar->inverse, *u = s->core.u;
    double *product = bar->g + n * n;
    hf_status status = hfi_tall_square(s->ctx, n, n, p, n, s->core.lambda, product, n);
    if (status >= 0)
        status = hfi_tall_square(s->ctx, s->n, n, s->b, s->n, vector(e, HFI_PV_PRIOR_BAR), bar->g, n);
    if (status >= 0)
        status = hfi_tall_inner(s->ctx, s->n, n, s->b, s->n, 1, vector(e, HFI_PV_WEIGHT), s->n, bar->u, n);
    if (status < 0) return status;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) bar->g[i + j * n] += 0.5 * (product[i + j * n] - p[i + j * n]);
    for (size_t a = 0; a < n; a++) {
        bar->rhs[a] = -0.5 * u[a];
        bar->lambda[a] = 0.5 * (u[a] * u[a] + 1.0 / s->core.lambda[a] - p[a + a * n]);
    }
    /* G^-1 of the divergence's derivative in u, which is Lambda u - A'r / 2. */
    for (size_t a = 0; a < n; a++) bar->u[a] -= 0.5 * u[a];
    for (size_t a = 0; a < n; a++)
        for (size_t i = 0; i < n; i++) bar->u[i] += p[i + a * n] * s->core.lambda[a] * u[a];
    return HF_OK;
}

/* Adjoints by row to those by place. */
static void to_places(hfi_evaluator *e, hf_objective objective, const hfi_expected *term)
{
    const hfi_block_system *s = &e->projected->system;
    for (size_t l = 0; l < s->n; l++) {
        const size_t row = s->row[l];
        vector(e, HFI_PV_WEIGHT)[l] = term->mu[row];
        vector(e, HFI_PV_OWN)[l] = -2.0 * term->v[row];
        vector(e, HFI_PV_CROSS)[l] = 0.0;
        vector(e, HFI_PV_PRIOR_BAR)[l] = term->v[row];
        vector(e, HFI_PV_NOISE_BAR)[l] = 0.0;
        vector(e, HFI_PV_WHITE_BAR)[l] = objective == HF_OBJECTIVE_EVIDENCE   ? term->d[row]
                                         : objective == HF_OBJECTIVE_WEIGHTED ? term->s[row]
                                                                              : term->v[row];
        vector(e, HFI_PV_R_BAR)[l] = 0.0;
        vector(e, HFI_PV_ENTRY_BAR)[l] = 0.0;
    }
}

hf_status hfi_projected_bound(hfi_evaluator *e, hf_objective objective, double *value, double *gradient)
{
    const hf_status solved = hfi_projected_factor(e);
    if (solved < 0) return solved;
    hfi_projected_evaluator *p = e->projected;
    hfi_block_system *s = &p->system;
    hfi_projected_bar bar = hfi_projected_bar_of(p);
    hfi_projected_core_inverse(&s->core, bar.inverse);
    marginals(e);
    const hf_sites seen = with_white(e, objective);
    hfi_expected term = {.mu = vector(e, HFI_PV_MU_BAR),
                         .v = vector(e, HFI_PV_V_BAR),
                         .z = vector(e, HFI_PV_Z_BAR),
                         .d = vector(e, HFI_PV_D_BAR),
                         .s = vector(e, HFI_PV_S_BAR)};
    const double expected = hfi_expected_terms(objective, &seen, vector(e, HFI_PV_MEAN),
                                               vector(e, HFI_PV_VARIANCE), gradient ? &term : NULL);
    double result = expected - hfi_projected_core_divergence(&s->core, bar.inverse);
    hf_status status = e->query ? hfi_projected_query_forward(e) : HF_OK;
    if (status < 0) return status;
    if (e->query) result += e->query->value;
    if (gradient) {
        to_places(e, objective, &term);
        hfi_block_system_inverse_rows(s);
        status = small_adjoints(e, &bar);
        if (status >= 0 && e->query) hfi_projected_query_bars(e, &bar);
        if (status >= 0) status = hfi_projected_collect(e, &bar, gradient);
        if (status >= 0 && e->query) status = hfi_projected_query_backward(e, gradient);
        if (status < 0) return status;
    }
    *value = result;
    return solved;
}
