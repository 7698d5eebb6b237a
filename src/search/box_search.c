/* SPDX-License-Identifier: Apache-2.0 */
/* NLopt's L-BFGS, kept from ever seeing a number that is not finite. */
#include "search/box_search.h"
#include <math.h>
#include <nlopt.h>
#include <string.h>

/* As of all other searches: largest gradient entry at which one is called converged, relative change at which it ends. */
static const double gradient_tolerance = 1e-3, value_tolerance = 1e-7;

typedef struct state {
    hfi_box_search *search;
    nlopt_opt opt;
    double *best, *gradient;
    hf_status error;
    bool any, converged;
} state;

static double give_up(state *s, hf_status error)
{
    s->error = error;
    nlopt_force_stop(s->opt);
    return -HUGE_VAL;
}

static double projected_norm(const hfi_box_search *search, const double *point, const double *gradient)
{
    double norm = 0.0;
    for (size_t k = 0; k < search->count; k++) {
        if (point[k] <= search->lower[k] && gradient[k] < 0.0) continue;
        if (point[k] >= search->upper[k] && gradient[k] > 0.0) continue;
        norm = fmax(norm, fabs(gradient[k]));
    }
    return norm;
}

static double flat_enough(const hfi_box_search *search)
{
    return search->flat > 0.0 ? search->flat : gradient_tolerance;
}

static double callback(unsigned count, const double *point, double *gradient, void *arg)
{
    state *s = arg;
    hfi_box_search *search = s->search;
    if (s->error < 0) return -HUGE_VAL; /* NLopt may finish its line search after having been told to stop */
    double value = 0.0;
    const hf_status status = search->evaluate(search->arg, point, &value, s->gradient);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE || status == HF_ERR_NOT_FINITE ||
        (status >= 0 && !isfinite(value))) {
        /* Worse than anything seen, and flat, so that the line search steps back. */
        if (gradient) memset(gradient, 0, count * sizeof *gradient);
        return s->any ? search->value - 1e6 * (1.0 + fabs(search->value)) : -1e300;
    }
    if (status < 0) return give_up(s, status);
    if (gradient) memcpy(gradient, s->gradient, count * sizeof *gradient);
    const double norm = projected_norm(search, point, s->gradient);
    if (!s->any || value > search->value) {
        s->any = true;
        search->value = value;
        search->gradient_norm = norm;
        search->status = status;
        memcpy(s->best, point, count * sizeof *s->best);
        if (search->improved) search->improved(search->arg);
    }
    if (norm < flat_enough(search)) {
        s->converged = true;
        nlopt_force_stop(s->opt);
    }
    return value;
}

static hf_status climb(state *s, double *point, nlopt_result *result)
{
    const hfi_box_search *search = s->search;
    s->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)search->count);
    if (!s->opt) return hfi_out_of_memory(search->ctx);
    nlopt_set_max_objective(s->opt, callback, s);
    nlopt_set_lower_bounds(s->opt, search->lower);
    nlopt_set_upper_bounds(s->opt, search->upper);
    nlopt_set_ftol_rel(s->opt, value_tolerance);
    nlopt_set_ftol_abs(s->opt, search->enough);
    nlopt_set_maxeval(s->opt, (int)search->most);
    double ignored = 0.0;
    *result = nlopt_optimize(s->opt, point, &ignored);
    nlopt_destroy(s->opt);
    return *result == NLOPT_OUT_OF_MEMORY ? hfi_out_of_memory(search->ctx) : HF_OK;
}

hf_status hfi_box_maximise(hfi_box_search *search, double *point)
{
    state s = {.search = search, .error = HF_OK};
    s.best = hfi_alloc(search->ctx, search->count, 2 * sizeof *s.best);
    if (!s.best) return HF_ERR_MEMORY;
    s.gradient = s.best + search->count;
    for (size_t k = 0; k < search->count; k++)
        point[k] = fmin(fmax(point[k], search->lower[k]), search->upper[k]);
    nlopt_result result = NLOPT_FAILURE;
    hf_status status = climb(&s, point, &result);
    if (status >= 0 && s.error < 0) status = s.error;
    if (status >= 0 && !s.any) status = HF_ERR_NOT_POSITIVE_DEFINITE;
    if (status >= 0) {
        memcpy(point, s.best, search->count * sizeof *point);
        const bool still =
            result == NLOPT_FTOL_REACHED || result == NLOPT_XTOL_REACHED || result == NLOPT_SUCCESS;
        search->stop = search->gradient_norm < flat_enough(search) ? HF_STOP_CONVERGED
                       : s.converged || still                      ? HF_STOP_LEVEL
                       : result == NLOPT_MAXEVAL_REACHED           ? HF_STOP_ITERATIONS
                                                                   : HF_STOP_ROUNDOFF;
    }
    hfi_free(search->ctx, s.best);
    return status;
}
