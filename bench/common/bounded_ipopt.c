/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bounded_ipopt.h"
#include "common/bench.h"
#include "common/bounded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef HF_WITH_IPOPT
#include <IpStdCInterface.h>

void dsymv_(const char *uplo, const int *n, const double *alpha, const double *a, const int *lda,
            const double *x, const int *incx, const double *beta, double *y, const int *incy, size_t length);

typedef struct search {
    const bounded_program *program;
    double sign, *product; /* M c of the present point */
    int iterations;
} search;

static Bool eval_f(Index n, Number *c, Bool fresh, Number *f, UserDataPtr user)
{
    const search *s = user;
    (void)fresh;
    *f = -s->sign * c[n - 1];
    return TRUE;
}

static Bool eval_gradient(Index n, Number *c, Bool fresh, Number *gradient, UserDataPtr user)
{
    const search *s = user;
    (void)c;
    (void)fresh;
    memset(gradient, 0, (size_t)n * sizeof *gradient);
    gradient[n - 1] = -s->sign;
    return TRUE;
}

static void multiply(search *s, Index n, const Number *c)
{
    const double one = 1.0, none = 0.0;
    const int step = 1;
    dsymv_("L", &n, &one, s->program->inverse, &n, c, &step, &none, s->product, &step, 1);
}

static Bool eval_g(Index n, Number *c, Bool fresh, Index m, Number *g, UserDataPtr user)
{
    search *s = user;
    (void)fresh;
    (void)m;
    multiply(s, n, c);
    *g = 0.0;
    for (Index i = 0; i < n; ++i) *g += c[i] * s->product[i];
    return TRUE;
}

static Bool eval_slopes(Index n, Number *c, Bool fresh, Index m, Index entries, Index *row, Index *column,
                        Number *slopes, UserDataPtr user)
{
    search *s = user;
    (void)fresh;
    (void)m;
    (void)entries;
    if (slopes) multiply(s, n, c);
    for (Index i = 0; i < n; ++i)
        if (slopes) {
            slopes[i] = 2.0 * s->product[i];
        } else {
            row[i] = 0;
            column[i] = i;
        }
    return TRUE;
}

static Bool eval_hessian(Index n, Number *c, Bool fresh, Number factor, Index m, Number *lambda,
                         Bool fresh_lambda, Index entries, Index *row, Index *column, Number *values,
                         UserDataPtr user)
{
    const search *s = user;
    Index k = 0;
    (void)c, (void)fresh, (void)factor, (void)m, (void)fresh_lambda, (void)entries;
    for (Index j = 0; j < n; ++j)
        for (Index i = j; i < n; ++i, ++k)
            if (values) {
                values[k] = 2.0 * *lambda * s->program->inverse[(size_t)j * (size_t)n + (size_t)i];
            } else {
                row[k] = i;
                column[k] = j;
            }
    return TRUE;
}

static Bool count(Index mode, Index iteration, Number f, Number primal, Number dual, Number mu, Number step,
                  Number regularization, Number alpha_dual, Number alpha_primal, Index trials,
                  UserDataPtr user)
{
    search *s = user;
    (void)mode, (void)f, (void)primal, (void)dual, (void)mu, (void)step, (void)regularization;
    (void)alpha_dual, (void)alpha_primal, (void)trials;
    s->iterations = iteration;
    return TRUE;
}

static IpoptProblem describe(const bounded_program *p)
{
    const Index n = (Index)p->n + 1;
    double below = -2e19, above = 1.0, *low = bench_doubles((size_t)n), *high = bench_doubles((size_t)n);
    memcpy(low, p->low, p->n * sizeof *low);
    memcpy(high, p->high, p->n * sizeof *high);
    low[p->n] = -2e19;
    high[p->n] = 2e19;
    IpoptProblem problem = CreateIpoptProblem(n, low, high, 1, &below, &above, n, n * (n + 1) / 2, 0, eval_f,
                                              eval_g, eval_gradient, eval_slopes, eval_hessian);
    free(low);
    free(high);
    if (!problem) return NULL;
    AddIpoptStrOption(problem, "sb", "yes");
    AddIpoptIntOption(problem, "print_level", 0);
    AddIpoptIntOption(problem, "max_iter", 300);
    AddIpoptNumOption(problem, "tol", 1e-8);
    AddIpoptStrOption(problem, "mu_strategy", "adaptive"); /* a third fewer iterations here than by default */
    AddIpoptNumOption(problem, "bound_relax_factor", 0.0); /* else it solves a problem with wider limits */
    SetIntermediateCallback(problem, count);
    return problem;
}

bool bounded_has_ipopt(void)
{
    return true;
}

bounded_answer bounded_ipopt(const bounded_program *program, hf_side side)
{
    const size_t order = program->n + 1;
    search s = {program, side == HF_UPPER ? 1.0 : -1.0, bench_doubles(order), 0};
    double *c = bench_doubles(order);
    bounded_answer answer = {NAN, NAN, 0};
    IpoptProblem problem = describe(program);
    memcpy(c, program->start, order * sizeof *c);
    if (problem) {
        const double begin = bounded_seconds();
        const enum ApplicationReturnStatus end = IpoptSolve(problem, c, NULL, NULL, NULL, NULL, NULL, &s);
        answer.seconds = bounded_seconds() - begin;
        answer.iterations = s.iterations;
        if (end == Solve_Succeeded || end == Solved_To_Acceptable_Level) answer.value = c[program->n];
        FreeIpoptProblem(problem);
    }
    free(c);
    free(s.product);
    return answer;
}
#else
bool bounded_has_ipopt(void)
{
    return false;
}

bounded_answer bounded_ipopt(const bounded_program *program, hf_side side)
{
    (void)program;
    (void)side;
    return (bounded_answer){NAN, NAN, 0};
}
#endif
