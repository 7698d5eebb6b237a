/* SPDX-License-Identifier: Apache-2.0 */
/* How the objective depends on one reading's own variance, in closed form: what the others say about the reading is a normal distribution,
 * and rho adds to its variance. */
#include "checkpoint/journal.h"
#include "linalg/linalg.h"
#include "outliers/pursuit_impl.h"
#include "solver/inducing_cavity.h"
#include <math.h>
#include <string.h>

double hfi_pursuit_gain(const hfi_pursuit_outlook *o, double rho)
{
    const double wider = o->variance + rho, share = rho / wider;
    double gain = 0.5 * (o->error / o->variance * o->error * share - log1p(rho / o->variance));
    if (o->unresolved > 0.0) gain += 0.5 * o->unresolved / o->noise * (rho / (o->noise + rho));
    return gain;
}

double hfi_pursuit_slope(const hfi_pursuit_outlook *o, double rho)
{
    const double wider = o->variance + rho, far = o->error / wider, noise = o->noise + rho;
    const double slope = 0.5 * (far * far - 1.0 / wider);
    return o->unresolved > 0.0 ? slope + 0.5 * o->unresolved / noise / noise : slope;
}

double hfi_pursuit_best(const hfi_pursuit_outlook *o)
{
    const double plain = fmax(o->error * o->error - o->variance, 0.0);
    if (!(o->unresolved > 0.0)) return plain;
    if (!(hfi_pursuit_slope(o, 0.0) > 0.0)) return 0.0;
    /* (variance + rho)^2 slope falls in rho, and the unresolved part of it, from unresolved (variance / noise)^2 on. */
    const double ratio = o->variance / o->noise;
    double low = plain, high = fmax(o->error * o->error - o->variance, 0.0) + o->unresolved * ratio * ratio;
    for (int step = 0; step < 100 && high - low > 1e-12 * high; step++) {
        const double middle = low > 0.0 && high > 4.0 * low ? sqrt(low * high) : 0.5 * (low + high);
        if (hfi_pursuit_slope(o, middle) > 0.0)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

/* The noise of the reading's output. */
static double noise_of(const hf_sites *sites, size_t i)
{
    return hf_sites_channel_noise(sites, hf_sites_channel(sites, i));
}

static hf_status look_exactly(hfi_pursuit *p)
{
    hfi_evaluator *e = &p->trainer->evaluator;
    hfi_solution solution;
    hf_status s = hfi_exact_solve(e->ctx, e->kernel, e->mean, e->sites, e->d, e->x, e->ldx, &solution);
    if (s < 0) return s;
    double *mean = hfi_alloc(e->ctx, e->n, 2 * sizeof *mean), *variance = mean ? mean + e->n : NULL;
    const hf_status found =
        mean ? hfi_solution_cavities(e->ctx, e->kernel, &solution, mean, variance) : HF_ERR_MEMORY;
    for (size_t a = 0; found >= 0 && a < e->n; a++) {
        const size_t i = e->row[a];
        const double noise = noise_of(e->sites, i) + p->known[i];
        p->outlook[i] = (hfi_pursuit_outlook){
            .error = solution.residual[a] - mean[a], .variance = variance[a] + noise, .noise = noise};
    }
    hfi_free(e->ctx, mean);
    hfi_solution_free(&solution);
    return found < 0 ? found : s;
}

static void look_at_chunk(hfi_pursuit *p, const hfi_inducing_chunk *c)
{
    const hfi_evaluator *e = &p->trainer->evaluator;
    for (size_t j = 0; j < c->count; j++) {
        const size_t i = c->row[j];
        if (!hf_sites_is_present(e->sites, i)) continue;
        const hfi_inducing_cavity without = hfi_inducing_cavity_make(c, j);
        const double unresolved = fmax(c->prior[j] - c->resolved[j], 0.0);
        hfi_pursuit_outlook *o = &p->outlook[i];
        o->noise = noise_of(e->sites, i) + p->known[i] + c->white[j];
        o->error = c->residual[j] - without.mean;
        o->variance = without.variance + o->noise;
        if (c->inducing->method == HF_INDUCING_FITC) o->variance += unresolved;
        o->unresolved = c->inducing->method == HF_INDUCING_VFE ? unresolved : 0.0;
    }
}

/* From the last factorisation of the inducing evaluator. */
static hf_status look_through_inputs(hfi_pursuit *p)
{
    hfi_evaluator *e = &p->trainer->evaluator;
    hfi_inducing_chunk chunk;
    size_t begin, end;
    hfi_group_share(e->ctx, e->rows, &begin, &end);
    hf_status s = hfi_group_agree(e->ctx, hfi_inducing_chunk_init(&chunk, e->inducing, e->kernel, e->mean,
                                                                  e->sites, end - begin, e->x, e->ldx, true));
    memset(p->outlook, 0, e->rows * sizeof *p->outlook);
    for (size_t at = begin; s >= 0 && at < end; at += chunk.capacity) {
        const size_t left = end - at;
        hfi_inducing_chunk_load(&chunk, at, at + (left < chunk.capacity ? left : chunk.capacity), false);
        hfi_inducing_chunk_solve(&chunk);
        look_at_chunk(p, &chunk);
    }
    hfi_inducing_chunk_free(&chunk);
    const size_t numbers = sizeof(hfi_pursuit_outlook) / sizeof(double);
    return s < 0 ? s : hfi_group_sum(e->ctx, numbers * e->rows, (double *)p->outlook);
}

hf_status hfi_pursuit_look(hfi_pursuit *p)
{
    hfi_evaluator *e = &p->trainer->evaluator;
    if (!e->inducing) return look_exactly(p);
    const hf_status s = hfi_inducing_factor(e->inducing, e->kernel, e->mean, e->sites, e->rows, e->x, e->ldx);
    return s < 0 ? s : hfi_worse(look_through_inputs(p), s);
}

static hf_status compute_outlook(void *arg, hfi_journal_entry *entry)
{
    (void)entry; /* whose answer is the outlook */
    return hfi_pursuit_look(arg);
}

hf_status hfi_pursuit_survey(hfi_pursuit *p)
{
    hfi_trainer *t = p->trainer;
    const size_t numbers = sizeof(hfi_pursuit_outlook) / sizeof(double);
    hfi_journal_entry entry = {.asked = t->count,
                               .told = numbers * t->evaluator.rows,
                               .question = p->now.state,
                               .answer = (double *)p->outlook};
    return hfi_journal_answer(t->journal, &entry, compute_outlook, p);
}
