/* SPDX-License-Identifier: Apache-2.0 */
/* NLopt's L-BFGS, kept from ever seeing a number that is not finite. */
#include "search/maximise.h"
#include <limits.h>
#include <math.h>
#include <nlopt.h>
#include <string.h>

typedef struct lbfgs_state {
    hfi_search_run *run;
    nlopt_opt opt;
    double *gradient;
    double flat;
    hf_status error;
    bool converged;
} lbfgs_state;

static double callback(unsigned count, const double *point, double *gradient, void *arg)
{
    lbfgs_state *s = arg;
    const hfi_search_run *r = s->run;
    double value = 0.0;
    if (s->error < 0) return -HUGE_VAL; /* NLopt may finish its line search after having been told to stop */
    const hf_status status = hfi_search_look(s->run, point, &value, s->gradient);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE) {
        /* Worse than anything seen, and flat, so that the line search steps back. */
        if (gradient) memset(gradient, 0, count * sizeof *gradient);
        return r->any ? r->best_total - 1e6 * (1.0 + fabs(r->best_total)) : -1e300;
    }
    if (status < 0) {
        s->error = status;
        nlopt_force_stop(s->opt);
        return -HUGE_VAL;
    }
    if (gradient) memcpy(gradient, s->gradient, count * sizeof *gradient);
    if (r->here.gradient_norm < s->flat) {
        s->converged = true;
        nlopt_force_stop(s->opt);
    }
    return value;
}

static hf_stop why(const lbfgs_state *s, nlopt_result result)
{
    if (s->run->best.gradient_norm < s->flat) return HF_STOP_CONVERGED;
    if (s->converged || result == NLOPT_FTOL_REACHED || result == NLOPT_XTOL_REACHED ||
        result == NLOPT_SUCCESS)
        return HF_STOP_LEVEL;
    return result == NLOPT_MAXEVAL_REACHED ? HF_STOP_ITERATIONS : HF_STOP_ROUNDOFF;
}

static hf_status climb_by_lbfgs(lbfgs_state *s)
{
    hfi_search_run *r = s->run;
    s->opt = nlopt_create(NLOPT_LD_LBFGS, (unsigned)r->count);
    if (!s->opt) return hfi_out_of_memory(r->ctx);
    nlopt_set_max_objective(s->opt, callback, s);
    nlopt_set_lower_bounds(s->opt, r->lower);
    nlopt_set_upper_bounds(s->opt, r->upper);
    nlopt_set_ftol_rel(s->opt, hfi_search_still);
    nlopt_set_ftol_abs(s->opt, r->settings->enough);
    nlopt_set_maxeval(s->opt, r->settings->most < INT_MAX ? (int)r->settings->most : INT_MAX);
    double ignored = 0.0;
    const nlopt_result result = nlopt_optimize(s->opt, r->point, &ignored);
    nlopt_destroy(s->opt);
    if (result == NLOPT_OUT_OF_MEMORY) return hfi_out_of_memory(r->ctx);
    r->best.stop = why(s, result);
    return s->error < 0 || r->any ? s->error : HF_ERR_NOT_POSITIVE_DEFINITE;
}

hf_status hfi_by_lbfgs(hfi_search_run *r)
{
    lbfgs_state s = {.run = r, .flat = r->settings->flat > 0.0 ? r->settings->flat : hfi_search_flat};
    s.gradient = hfi_alloc(r->ctx, r->count, sizeof *s.gradient);
    if (!s.gradient) return HF_ERR_MEMORY;
    hfi_search_enter(r);
    const hf_status status = climb_by_lbfgs(&s);
    hfi_free(r->ctx, s.gradient);
    return status;
}
