/* SPDX-License-Identifier: Apache-2.0 */
/* Sites to their fixed point: accelerated steps as long as they do well, damped ones else. */
#include "inference/latent.h"
#include <math.h>
#include <string.h>

enum {
    MOST_ROUNDS = 200,
    CURVED_ROUNDS = 80,        /* where a log density is not concave: there may be no fixed point */
    MOST_FACTORISATIONS = 100, /* of one evaluation there, shortened steps included */
    MOST_HALVINGS = 20,
    NEAR_HALVINGS = 2, /* where rounding may be what keeps the value from rising */
    PATIENCE = 5       /* rounds without progress before steps are shortened */
};

static const double least_step = 0.05;
/* The distance below which steps have to shorten it. Farther off sites chase each other where many readings
 * say the same, and a detour may be the way: an accelerated point may be this much further from its wanted
 * sites than the point before. */
static const double near = 0.3, leeway = 2.0;
/* Where rounding keeps sites from those wanted, they have settled for all purposes at the first of these; a
 * bound that no longer rises, at the second: with precisions of 1e7 over the prior's, as of little noise and
 * a large output scale, a wanted site is known to some 1e-4. */
static const double lost = 1e-6, flat_enough = 1e-3, rounding = 1e-12;

static void pack(hfi_site_loop *loop)
{
    const hfi_latent_problem *p = loop->p;
    for (size_t i = 0; i < p->n; i++) {
        const double s = loop->unit[i], root = sqrt(s);
        loop->at[i] = p->w[i] * s;
        loop->at[p->n + i] = p->linear[i] * root;
        loop->residual[i] = loop->wanted[i] * s - loop->at[i];
        loop->residual[p->n + i] = loop->wanted[p->n + i] * root - loop->at[p->n + i];
    }
}

static hf_status measure_at(hfi_site_loop *loop, const double *sites)
{
    hfi_latent_problem *p = loop->p;
    const bool concave = p->likelihood->touch == NULL;
    for (size_t i = 0; i < p->n; i++) {
        p->w[i] = (concave ? fmax(sites[i], 0.0) : sites[i]) / loop->unit[i];
        p->linear[i] = sites[p->n + i] / sqrt(loop->unit[i]);
    }
    return loop->measure(loop);
}

static hf_status start_site_loop(hfi_site_loop *loop)
{
    hfi_latent_problem *p = loop->p;
    hf_status s = HF_OK;
    double ignored = 0.0;
    loop->usable = false;
    loop->before = p->started ? 0.0 : INFINITY;
    if (p->started) {
        memcpy(p->w, p->kept_w, p->n * sizeof *p->w);
        memcpy(p->linear, p->kept_linear, p->n * sizeof *p->linear);
        s = loop->measure(loop);
    }
    if (s < 0 || loop->usable) return s;
    const bool started = p->started;
    p->started = false;
    loop->before = INFINITY;
    s = p->likelihood->touch ? hfi_latent_cold(p) : hfi_latent_laplace.find_sites(p, &ignored);
    p->started = started;
    if (s < 0) return s;
    if (p->likelihood->touch) hfi_latent_touch(p, 1.0);
    p->rounds = 0;
    return loop->measure(loop);
}

static double slack(double value, double change)
{
    return change < flat_enough ? rounding * (1.0 + fabs(value)) : 0.0;
}

/* The accelerated point, if it is good enough. */
static hf_status leap(hfi_site_loop *loop, double value, double change, bool *taken)
{
    hfi_anderson_next(&loop->history, loop->at, loop->residual, loop->step, loop->next);
    const hf_status s = measure_at(loop, loop->next);
    *taken = s >= 0 && loop->usable &&
             (loop->ascends ? loop->value >= value - slack(value, change)
                            : loop->change <= (change < near ? 1.0 : leeway) * change);
    return s;
}

/* The longest of the damped steps step, step/2, ... that leads somewhere; back to where it started if none does. */
static hf_status walk(hfi_site_loop *loop, double value, double change, bool *taken)
{
    const size_t count = 2 * loop->p->n;
    const int halvings = loop->ascends && change < flat_enough ? NEAR_HALVINGS : MOST_HALVINGS;
    hfi_anderson_reset(&loop->history);
    if (!loop->ascends) loop->step = fmax(0.5 * loop->step, least_step);
    double step = loop->step;
    for (int halving = 0; halving < halvings; halving++, step *= 0.5) {
        for (size_t i = 0; i < count; i++) loop->next[i] = loop->at[i] + step * loop->residual[i];
        const hf_status s = measure_at(loop, loop->next);
        *taken = s >= 0 && loop->usable && (!loop->ascends || loop->value >= value - slack(value, change));
        if (s < 0 || *taken) return s;
    }
    return measure_at(loop, loop->at);
}

/* Whether the rounds left would not lift the value to the problem's floor at the pace of the last
 * one, which gained `gain`. */
static bool hopeless(const hfi_site_loop *loop, double gain)
{
    const size_t rounds = loop->p->rounds;
    const double missing = loop->p->floor - loop->value;
    return loop->ascends && rounds + 1 >= PATIENCE && missing > gain * (CURVED_ROUNDS - (double)rounds);
}

static hf_status iterate(hfi_site_loop *loop)
{
    hfi_latent_problem *p = loop->p;
    const bool concave = p->likelihood->touch == NULL;
    const size_t rounds = concave ? MOST_ROUNDS : CURVED_ROUNDS,
                 most = concave ? SIZE_MAX : p->factorisations + MOST_FACTORISATIONS;
    double best = INFINITY, last = -INFINITY;
    size_t waited = 0;
    p->converged = false;
    p->rounds = 0;
    hf_status s = start_site_loop(loop);
    for (; s >= 0 && loop->usable && p->rounds < rounds && p->factorisations < most; p->rounds++) {
        const bool flat = loop->ascends && loop->value < last + rounding * (1.0 + fabs(last));
        const bool nearing = loop->change < 0.9 * best;
        p->converged = loop->change < p->tolerance || (flat && loop->change < flat_enough && !nearing) ||
                       (loop->change < lost && waited > PATIENCE);
        if (p->converged || hopeless(loop, loop->value - last)) return s;
        if (p->rounds == 0)
            for (size_t i = 0; i < p->n; i++)
                loop->unit[i] = concave ? p->variance[i] : p->seen[i].dispersion;
        last = loop->value;
        waited = nearing ? 0 : waited + 1;
        best = fmin(best, loop->change);
        if (!loop->ascends && !concave && waited > PATIENCE) {
            loop->step = fmax(0.6 * loop->step, least_step);
            hfi_anderson_reset(&loop->history);
            waited = 0;
            best = loop->change;
        }
        const double change = loop->before = loop->change;
        bool taken = false;
        pack(loop);
        s = leap(loop, last, change, &taken);
        if (s >= 0 && !taken)
            s = walk(loop, last, change, &taken);
        else if (!loop->ascends && concave)
            loop->step = fmin(2.0 * loop->step, 1.0);
        if (s >= 0 && !taken) {
            p->converged = change < flat_enough; /* by then it is rounding that is in the way */
            break;
        }
    }
    return s;
}

hf_status hfi_site_loop_run(hfi_site_loop *loop)
{
    hfi_latent_problem *p = loop->p;
    const size_t count = 2 * p->n;
    loop->numbers = hfi_alloc(p->ctx, count, 6 * sizeof *loop->numbers);
    if (!loop->numbers) return HF_ERR_MEMORY;
    double **const place[] = {&loop->wanted,   &loop->cavity, &loop->at,
                              &loop->residual, &loop->next,   &loop->unit};
    for (size_t k = 0; k < 6; k++) *place[k] = loop->numbers + k * count;
    hf_status s = hfi_anderson_init(p->ctx, count, &loop->history);
    if (s >= 0) s = iterate(loop);
    /* No posterior at the sites left: nothing to report of this place. */
    if (s >= 0 && !loop->usable) s = HF_ERR_NOT_POSITIVE_DEFINITE;
    hfi_anderson_free(&loop->history);
    hfi_free(p->ctx, loop->numbers);
    return s;
}
