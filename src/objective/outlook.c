/* SPDX-License-Identifier: Apache-2.0 */
/* The prediction of every reading by all others. */
#include "linalg/linalg.h"
#include "objective/evaluator_impl.h"
#include "solver/inducing_chunk.h"
#include <math.h>
#include <string.h>

/* The noise of the reading's output. */
static double noise_of(const hf_sites *sites, size_t i)
{
    return hf_sites_channel_noise(sites, hf_sites_channel(sites, i));
}

hf_status hfi_exact_outlook(hfi_evaluator *e, const double *known, hfi_outlook *out)
{
    hfi_solution solution;
    hf_status s = hfi_exact_solve(e->ctx, e->kernel, e->mean, e->sites, e->d, e->x, e->ldx, &solution);
    if (s < 0) return s;
    double *mean = hfi_alloc(e->ctx, e->n, 2 * sizeof *mean), *variance = mean ? mean + e->n : NULL;
    const hf_status found =
        mean ? hfi_solution_cavities(e->ctx, e->kernel, &solution, mean, variance) : HF_ERR_MEMORY;
    for (size_t a = 0; found >= 0 && a < e->n; a++) {
        const size_t i = e->row[a];
        const double noise = noise_of(e->sites, i) + known[i];
        out[i] = (hfi_outlook){
            .error = solution.residual[a] - mean[a], .variance = variance[a] + noise, .noise = noise};
    }
    hfi_free(e->ctx, mean);
    hfi_solution_free(&solution);
    return found < 0 ? found : s;
}

static void look_at_chunk(const hfi_evaluator *e, const double *known, const hfi_inducing_chunk *c,
                          hfi_outlook *out)
{
    for (size_t j = 0; j < c->count; j++) {
        const size_t i = c->row[j];
        if (!hf_sites_is_present(e->sites, i)) continue;
        const hfi_inducing_cavity without = hfi_inducing_cavity_make(c, j);
        const double unresolved = fmax(c->prior[j] - c->resolved[j], 0.0);
        hfi_outlook *o = &out[i];
        o->noise = noise_of(e->sites, i) + known[i] + c->white[j];
        o->error = c->residual[j] - without.mean;
        o->variance = without.variance + o->noise;
        if (c->inducing->method == HF_INDUCING_FITC) o->variance += unresolved;
        o->unresolved = c->inducing->method == HF_INDUCING_VFE ? unresolved : 0.0;
    }
}

/* From the last factorisation of the inducing evaluator. */
static hf_status look_through_inputs(hfi_evaluator *e, const double *known, hfi_outlook *out)
{
    hfi_inducing_chunk chunk;
    size_t begin, end;
    hfi_group_share(e->ctx, e->rows, &begin, &end);
    hf_status s = hfi_group_agree(e->ctx, hfi_inducing_chunk_init(&chunk, e->inducing, e->kernel, e->mean,
                                                                  e->sites, end - begin, e->x, e->ldx, true));
    memset(out, 0, e->rows * sizeof *out);
    for (size_t at = begin; s >= 0 && at < end; at += chunk.capacity) {
        const size_t left = end - at;
        hfi_inducing_chunk_load(&chunk, at, at + (left < chunk.capacity ? left : chunk.capacity), false);
        hfi_inducing_chunk_solve(&chunk);
        look_at_chunk(e, known, &chunk, out);
    }
    hfi_inducing_chunk_free(&chunk);
    const size_t numbers = sizeof(hfi_outlook) / sizeof(double);
    return s < 0 ? s : hfi_group_sum(e->ctx, numbers * e->rows, (double *)out);
}

hf_status hfi_inducing_outlook(hfi_evaluator *e, const double *known, hfi_outlook *out)
{
    const hf_status s = hfi_inducing_factor(e->inducing, e->kernel, e->mean, e->sites, e->rows, e->x, e->ldx);
    return s < 0 ? s : hfi_worse(look_through_inputs(e, known, out), s);
}
