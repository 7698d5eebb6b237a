/* SPDX-License-Identifier: Apache-2.0 */
/* Confidence bounds for the tests of the optimise room. */
#ifndef HF_TESTS_OPTIMISE_BOUNDS_H
#define HF_TESTS_OPTIMISE_BOUNDS_H

#include "optimise/optimise.h"
#include "posterior/support.h"

/* Two posteriors over the same inputs. */
typedef struct pair {
    hf_context *ctx;
    problem p, q;
    hf_posterior *mean, *spread;
    hf_posterior_workspace *mean_room, *spread_room;
} pair;

static inline pair pair_open(const char *kernel, size_t n, size_t d, bool scaled)
{
    pair w = {.ctx = problem_context(1)};
    w.p = problem_make(w.ctx, kernel, n, d, 0.05);
    w.q = problem_make(w.ctx, "2*matern52(lengthscale=0.6)", n / 2 + 1, d, 0.2);
    w.mean = scaled ? support_scaled(&w.p, 1.7) : support_solve(&w.p);
    w.spread = scaled ? support_scaled(&w.q, 1.1) : support_solve(&w.q);
    w.mean_room = hf_posterior_workspace_create(w.ctx, w.mean);
    w.spread_room = hf_posterior_workspace_create(w.ctx, w.spread);
    return w;
}

static inline void pair_close(pair *w)
{
    hf_posterior_workspace_free(w->mean_room);
    hf_posterior_workspace_free(w->spread_room);
    hf_posterior_free(w->mean);
    hf_posterior_free(w->spread);
    problem_free(&w->p);
    problem_free(&w->q);
    hf_context_free(w->ctx);
}

static const double low[] = {-2.0, -2.0, -2.0, -2.0}, high[] = {2.0, 2.0, 2.0, 2.0};

static inline hf_domain cube(size_t d)
{
    return (hf_domain){.dimension = d, .lower = low, .upper = high};
}

static inline double value_at(const pair *w, const hf_ucb *bound, size_t d, const double *x)
{
    double value = NAN;
    assert_int_equal(hf_ucb_evaluate(bound, w->mean_room, w->spread_room, d, x, &value, NULL),
                     HF_OK);
    return value;
}

static inline hf_argmax maximise(const pair *w, const hf_ucb *bound, const hf_domain *domain,
                                 const hf_search_settings *settings, double *x)
{
    hf_argmax found;
    const hf_status status = hf_maximise_ucb(w->ctx, bound, domain, settings, 0, NULL, x, &found);
    if (status != HF_OK) fail_msg("%s", hf_context_message(w->ctx));
    assert_true(hf_domain_contains(domain, x, NULL));
    assert_near(found.value, value_at(w, bound, domain->dimension, x), 0.0);
    assert_near(found.value, found.mean + bound->beta * found.sd, 1e-14 * (1.0 + fabs(found.mean)));
    assert_true(found.seconds >= 0.0);
    return found;
}

#endif
