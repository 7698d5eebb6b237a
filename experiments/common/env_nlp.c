/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_nlp.h"

#include <nlopt.h>

static double objective(unsigned n, const double *u, double *gradient, void *user)
{
    const env_nlp *p = user;
    (void)n;
    return p->evaluate(u, gradient, NULL, NULL, p->user);
}

static void constraints(unsigned m, double *g, unsigned n, const double *u, double *slopes, void *user)
{
    const env_nlp *p = user;
    (void)m;
    (void)n;
    p->evaluate(u, NULL, g, slopes, p->user);
}

static bool solve_nlopt(const env_nlp *p, double *u)
{
    double tolerance[NLP_CONSTRAINTS], value;
    nlopt_opt solver = nlopt_create(NLOPT_LD_SLSQP, (unsigned)p->n);
    if (!solver) return false;
    for (size_t i = 0; i < p->m; ++i) tolerance[i] = 1e-6;
    nlopt_set_lower_bounds1(solver, p->low);
    nlopt_set_upper_bounds1(solver, p->high);
    nlopt_set_min_objective(solver, objective, (void *)p);
    if (p->m) nlopt_add_inequality_mconstraint(solver, (unsigned)p->m, constraints, (void *)p, tolerance);
    nlopt_set_ftol_rel(solver, 1e-7);
    nlopt_set_maxeval(solver, 100);
    const nlopt_result end = nlopt_optimize(solver, u, &value);
    nlopt_destroy(solver);
    return end > 0 && end != NLOPT_MAXEVAL_REACHED;
}

#ifdef HF_WITH_IPOPT
#include <IpStdCInterface.h>

static Bool eval_f(Index n, Number *u, Bool fresh, Number *f, UserDataPtr user)
{
    const env_nlp *p = user;
    (void)n;
    (void)fresh;
    *f = p->evaluate(u, NULL, NULL, NULL, p->user);
    return TRUE;
}

static Bool eval_gradient(Index n, Number *u, Bool fresh, Number *gradient, UserDataPtr user)
{
    const env_nlp *p = user;
    (void)n;
    (void)fresh;
    p->evaluate(u, gradient, NULL, NULL, p->user);
    return TRUE;
}

static Bool eval_g(Index n, Number *u, Bool fresh, Index m, Number *g, UserDataPtr user)
{
    const env_nlp *p = user;
    (void)n;
    (void)m;
    (void)fresh;
    p->evaluate(u, NULL, g, NULL, p->user);
    return TRUE;
}

static Bool eval_slopes(Index n, Number *u, Bool fresh, Index m, Index entries, Index *row, Index *column,
                        Number *slopes, UserDataPtr user)
{
    const env_nlp *p = user;
    double g[NLP_CONSTRAINTS];
    (void)m;
    (void)fresh;
    if (slopes)
        p->evaluate(u, NULL, g, slopes, p->user);
    else
        for (Index k = 0; k < entries; ++k) {
            row[k] = k / n;
            column[k] = k % n;
        }
    return TRUE;
}

/* Never called: the Hessian is approximated. */
static Bool eval_hessian(Index n, Number *u, Bool fresh, Number factor, Index m, Number *lambda,
                         Bool fresh_lambda, Index entries, Index *row, Index *column, Number *values,
                         UserDataPtr user)
{
    (void)n, (void)u, (void)fresh, (void)factor, (void)m, (void)lambda, (void)fresh_lambda;
    (void)entries, (void)row, (void)column, (void)values, (void)user;
    return FALSE;
}

bool env_nlp_ipopt(void)
{
    return true;
}

static bool solve_ipopt(const env_nlp *p, double *u)
{
    double low[NLP_VARIABLES], high[NLP_VARIABLES], below[NLP_CONSTRAINTS], above[NLP_CONSTRAINTS] = {0};
    for (size_t i = 0; i < p->n; ++i) {
        low[i] = p->low;
        high[i] = p->high;
    }
    for (size_t i = 0; i < p->m; ++i) below[i] = -2e19;
    IpoptProblem problem =
        CreateIpoptProblem((Index)p->n, low, high, (Index)p->m, below, above, (Index)(p->n * p->m), 0, 0,
                           eval_f, eval_g, eval_gradient, eval_slopes, eval_hessian);
    if (!problem) return false;
    AddIpoptStrOption(problem, "hessian_approximation", "limited-memory");
    AddIpoptStrOption(problem, "sb", "yes");
    AddIpoptIntOption(problem, "print_level", 0);
    AddIpoptIntOption(problem, "max_iter", 200);
    AddIpoptNumOption(problem, "tol", 1e-3);
    const enum ApplicationReturnStatus end = IpoptSolve(problem, u, NULL, NULL, NULL, NULL, NULL, (void *)p);
    FreeIpoptProblem(problem);
    return end == Solve_Succeeded || end == Solved_To_Acceptable_Level;
}
#else
bool env_nlp_ipopt(void)
{
    return false;
}

static bool solve_ipopt(const env_nlp *p, double *u)
{
    return solve_nlopt(p, u);
}
#endif

bool env_nlp_solve(const env_nlp *problem, bool ipopt, double *u)
{
    return ipopt ? solve_ipopt(problem, u) : solve_nlopt(problem, u);
}
