/* SPDX-License-Identifier: Apache-2.0 */
/* The projected solver: which actions, what they cost, and the solution they end in. */
#include "solver/projected.h"
#include "core/settings_rows.h"

#include "linalg/linalg.h"
#include "solver/projected_dense.h"
#include "solver/projected_system.h"
#include <math.h>
#include <string.h>

/* Inducing inputs whose D^-1 K_XZ is among the dense actions. */
static size_t inducing_columns(const hf_projection *p, size_t n)
{
    return hfi_smaller(p->actions == HF_ACTIONS_INDUCING && p->inducing == 0 ? p->count : p->inducing, n);
}

static size_t krylov_columns(const hf_projection *p, size_t n)
{
    return hfi_smaller(inducing_columns(p, n) + p->count, n);
}

/* More than readings where some of the matrix's rows have none; those that are too many are dropped. */
static size_t given_columns(const hf_projection *p, size_t n)
{
    (void)n;
    return p->count;
}

typedef size_t (*column_rule)(const hf_projection *p, size_t n);

static const column_rule dense_columns[] = {[HF_ACTIONS_KRYLOV] = krylov_columns,
                                            [HF_ACTIONS_INDUCING] = inducing_columns,
                                            [HF_ACTIONS_GIVEN] = given_columns};

void hfi_projected_cost(size_t n, size_t d, const hf_projection *p, double *bytes, double *flops)
{
    const double rows = (double)n, inputs = (double)d, entry = 3.0 * inputs + 20.0;
    const bool blocks = p->actions == HF_ACTIONS_BLOCKS;
    const double rank = (double)(blocks ? p->count : dense_columns[p->actions](p, n));
    const double passes = p->actions == HF_ACTIONS_KRYLOV ? (double)(p->count + (p->inducing > 0)) : 1.0;
    const double word = (double)sizeof(double);
    if (blocks) {
        *bytes = word * (rows * (rank + 2.0 * inputs + 16.0) + 4.0 * rank * rank);
        *flops = rows * rows * (0.5 * entry + 2.0) + 2.0 * rows * rank * rank;
    } else {
        *bytes = word * (rows * (2.0 * rank + 2.0 * inputs + 12.0) + 4.0 * rank * rank);
        *flops = passes * rows * rows * 0.5 * entry + 2.0 * rows * rows * rank + 8.0 * rows * rank * rank;
    }
}

/* ---- block actions --------------------------------------------------------------------------- */

/* Anchors' weights and their blocks, from by place to the order of the anchors. */
static void fill_blocks(const hfi_block_system *s, hfi_solution *out)
{
    const hfi_block_actions *a = s->actions;
    for (size_t b = 0; b < a->count; b++)
        for (size_t l = a->first[b]; l < a->first[b + 1]; l++) {
            const size_t i = a->order[l];
            out->block[i] = b;
            out->entry[i] = a->entry[l];
            out->t[i] = a->entry[l] * s->core.u[b];
        }
    for (size_t j = 0; j < s->count; j++)
        memcpy(out->factor + j * s->count, s->core.factor + j * s->count, s->count * sizeof *out->factor);
}

/* The bound on the evidence that goes with the projection, as a log determinant (projected.h). Spoils B. */
static hf_status bound_blocks(hfi_block_system *s, hfi_solution *out)
{
    double *fit = hfi_alloc(s->ctx, s->n, 2 * sizeof *fit);
    double *inverse = hfi_alloc(s->ctx, s->count, s->count * sizeof *inverse);
    hf_status status = HF_ERR_MEMORY;
    if (fit && inverse) {
        double *square = fit + s->n, elbo = 0.0;
        hfi_projected_core_inverse(&s->core, inverse);
        hfi_block_system_rows(s, fit, square);
        for (size_t l = 0; l < s->n; l++) {
            const double error = s->r[l] - fit[l], v = fmax(s->prior[l] - square[l], 0.0);
            elbo -= HFI_HALF_LOG_2PI + 0.5 * (log(s->noise[l]) + (error * error + v) / s->noise[l]);
        }
        elbo -= hfi_projected_core_divergence(&s->core, inverse);
        out->log_det =
            -2.0 * (elbo + (double)s->n * HFI_HALF_LOG_2PI) - hfi_dot(out->n, out->residual, out->t);
        status = HF_OK;
    }
    HFI_FREE(s->ctx, fit, inverse);
    return status;
}

static hf_status solve_system(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                              const hf_sites *sites, hfi_block_system *s, hfi_precision precision,
                              hfi_solution *out, hf_projection_report *report)
{
    const hf_status status = hfi_block_system_factor(s, kernel, mean, sites, precision);
    if (status < 0) return status;
    fill_blocks(s, out);
    for (size_t i = 0; i < out->n; i++)
        if (!isfinite(out->t[i]))
            return hfi_fail(ctx, HF_ERR_NOT_FINITE, "the weight of anchor %zu overflows", i);
    out->solver = HF_SOLVER_PROJECTED;
    out->jitter = hfi_projected_core_jitter(&s->core);
    hf_status made = hfi_projected_core_measure(&s->core, &out->condition, &out->backward);
    if (made >= 0) made = bound_blocks(s, out);
    if (made < 0) return made;
    *report =
        (hf_projection_report){.actions = s->count, .passes = 1, .residual = NAN, .jitter = out->jitter};
    return status;
}

hf_status hfi_projected_solve_blocks(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                     const hf_sites *sites, size_t d, const double *x, size_t ldx,
                                     const hfi_block_actions *actions, hfi_precision precision,
                                     hfi_solution *out, hf_projection_report *report)
{
    const hf_projection as = {.size = sizeof as, .actions = HF_ACTIONS_BLOCKS, .count = actions->count};
    hfi_block_system system = {0};
    hfi_solution solution = {0};
    double bytes, flops;
    memset(out, 0, sizeof *out);
    hfi_projected_cost(actions->n, d, &as, &bytes, &flops);
    hf_status status = hfi_require_memory(ctx, "a projection", actions->n, bytes);
    if (status >= 0)
        status =
            hfi_solution_alloc_low_rank(ctx, HFI_FORM_BLOCKS, actions->n, d, actions->count, true, &solution);
    if (status >= 0) status = hfi_block_system_init(ctx, actions, sites, d, x, ldx, &system);
    if (status >= 0) status = hfi_solution_gather(ctx, mean, sites, x, ldx, &solution);
    if (status >= 0) status = solve_system(ctx, kernel, mean, sites, &system, precision, &solution, report);
    hfi_block_system_free(&system);
    if (status < 0)
        hfi_solution_free(&solution);
    else
        *out = solution;
    return status;
}

/* Blocks over the present readings, and entries by the rule. */
static hf_status make_blocks(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                             const hf_sites *sites, size_t d, const double *x, size_t ldx,
                             const hf_projection *p, hfi_block_actions *out)
{
    hfi_solution readings;
    memset(out, 0, sizeof *out);
    hf_status status =
        hfi_solution_alloc_low_rank(ctx, HFI_FORM_BLOCKS, hf_sites_present(sites), d, 1, true, &readings);
    if (status < 0) return status;
    status = hfi_solution_gather(ctx, mean, sites, x, ldx, &readings);
    if (status >= 0)
        status = hfi_block_actions_init(ctx, p->blocks, readings.n, d, readings.z, d, p->count, out);
    if (status >= 0)
        status = hfi_block_actions_start(ctx, out, p->start, kernel, readings.z, d, readings.residual,
                                         readings.variance);
    hfi_solution_free(&readings);
    if (status < 0) hfi_block_actions_free(ctx, out);
    return status;
}

/* ---- dense actions --------------------------------------------------------------------------- */

typedef struct columns_job {
    const hfi_dense_system *system;
    size_t m;
    const double *z;
    double *q;
    double *scratch; /* per thread */
    size_t scratch_each;
} columns_job;

enum {
    COLUMNS = 8 /* of K_XZ in one task */
};

/* Some columns of D^-1/2 K_XZ. */
static void make_columns(size_t task, int thread, void *arg)
{
    const columns_job *job = arg;
    const hfi_dense_system *s = job->system;
    const size_t first = task * COLUMNS, count = hfi_smaller(COLUMNS, job->m - first), d = s->solution.d;
    double *q = job->q + first * s->n;
    hfi_kernel_cross_block(s->kernel, count, job->z + first * d, d, s->n, s->solution.z, d, q, s->n,
                           job->scratch + (size_t)thread * job->scratch_each);
    for (size_t j = 0; j < count; j++)
        for (size_t i = 0; i < s->n; i++) q[i + j * s->n] /= s->root[i];
}

/* The actions D^-1 K_XZ for m inducing inputs. */
static hf_status grow_inducing(hfi_dense_system *s, const hf_sites *sites, const hf_projection *p)
{
    (void)sites;
    const size_t d = s->solution.d, threads = (size_t)hf_context_threads(s->ctx);
    const size_t m = inducing_columns(p, s->n);
    double *z = hfi_alloc(s->ctx, m, d * sizeof *z);
    columns_job job = {.system = s, .q = hfi_dense_system_next(s), .z = z};
    job.scratch_each = hfi_kernel_scratch(s->kernel);
    job.scratch = hfi_alloc(s->ctx, threads, job.scratch_each * sizeof *job.scratch);
    hf_status status = z && job.scratch ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0 && p->inputs) {
        memcpy(z, p->inputs, m * d * sizeof *z);
        job.m = m;
    } else if (status >= 0) {
        status = hf_choose_inducing(s->ctx, s->kernel, p->choice, s->n, s->solution.z, d, m, z, &job.m);
    }
    if (status >= 0) {
        hfi_parallel_for(s->ctx, (job.m + COLUMNS - 1) / COLUMNS, make_columns, &job);
        status = hfi_worse(hfi_dense_system_grow(s, job.m, HFI_DENSE_DEPENDENT), status);
    }
    HFI_FREE(s->ctx, z, job.scratch);
    return status;
}

/* Behind those of the inducing inputs, where there are some. */
static hf_status grow_krylov(hfi_dense_system *s, const hf_sites *sites, const hf_projection *p)
{
    const hf_status status = inducing_columns(p, s->n) > 0 ? grow_inducing(s, sites, p) : HF_OK;
    return status < 0 ? status : hfi_worse(hfi_krylov_grow(s, p->count, p->tolerance), status);
}

typedef hf_status (*grow_rule)(hfi_dense_system *system, const hf_sites *sites, const hf_projection *p);

static const grow_rule growers[] = {[HF_ACTIONS_KRYLOV] = grow_krylov,
                                    [HF_ACTIONS_INDUCING] = grow_inducing,
                                    [HF_ACTIONS_GIVEN] = hfi_given_actions_grow};

static hf_status solve_dense_rule(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                  const hf_sites *sites, size_t d, const double *x, size_t ldx,
                                  const hf_projection *p, hfi_solution *out, hf_projection_report *report)
{
    const size_t n = hf_sites_present(sites);
    double bytes, flops;
    hfi_projected_cost(n, d, p, &bytes, &flops);
    hf_status status = hfi_require_memory(ctx, "a projection", n, bytes);
    if (status < 0) return status;
    hfi_dense_system s;
    status = hfi_dense_system_init(ctx, kernel, mean, sites, d, x, ldx, dense_columns[p->actions](p, n),
                                   p->single_precision ? HFI_SINGLE : HFI_DOUBLE, &s);
    if (status < 0) return status;
    status = growers[p->actions](&s, sites, p);
    /* The readings equal the prior mean, or are those that given actions leave out: any action will do. */
    if (status >= 0 && s.core.count == 0) {
        for (size_t i = 0; i < s.n; i++) hfi_dense_system_next(&s)[i] = 1.0 / s.root[i];
        status = hfi_worse(hfi_dense_system_grow(&s, 1, HFI_DENSE_DEPENDENT), status);
    }
    if (status >= 0) status = hfi_worse(hfi_dense_system_finish(&s, out, report), status);
    hfi_dense_system_free(&s);
    return status;
}

/* ---- by settings ----------------------------------------------------------------------------- */

static hf_status check_projection(hf_context *ctx, const hf_projection *p, size_t n)
{
    if ((unsigned)p->actions > HF_ACTIONS_GIVEN)
        return hfi_refuse(ctx, "there are no actions %d", (int)p->actions);
    if (n == 0) return hfi_fail(ctx, HF_ERR_NO_DATA, "no reading is present: there is nothing to learn from");
    if ((p->actions == HF_ACTIONS_GIVEN) != (p->matrix != NULL))
        return hfi_refuse(ctx,
                          p->matrix ? "a matrix of actions is given, but the actions are '%s'"
                                    : "the actions are '%s', but there is no matrix of them",
                          hf_enum_name(HF_ENUM_ACTIONS, p->actions));
    if (p->actions != HF_ACTIONS_GIVEN && p->count > n)
        return hfi_refuse(ctx, "%zu actions are more than the %zu readings", p->count, n);
    if (p->count == 0 && (p->actions >= HF_ACTIONS_BLOCKS || p->inducing == 0))
        return hfi_refuse(ctx, "a projection needs at least one action");
    if (!(p->tolerance >= 0.0 && isfinite(p->tolerance)))
        return hfi_refuse(ctx, "the tolerance %g of Krylov actions is not a number >= 0", p->tolerance);
    return HF_OK;
}

#define SETTINGS hf_projection
static const hfi_setting projection_rows[] = {
    {CHOICE(actions, hf_actions, ACTIONS, HF_ACTIONS_GIVEN)},
    {COUNT(count, 0)},
    {SIZE(tolerance)},
    {COUNT(inducing, 0)},
    {CHOICE(choice, hf_inducing_choice, INDUCING_CHOICE, HF_INDUCING_FIRST)},
    {LIST(inputs)},
    {CHOICE(blocks, hf_blocks, BLOCKS, HF_BLOCKS_CLUSTERED)},
    {CHOICE(start, hf_action_start, ACTION_START, HF_ACTION_START_PRECISION)},
    {FLAG(single_precision)},
    {LIST(matrix)},
};
SETTINGS_TABLE(hf_projection, "a projection", projection_rows)
#undef SETTINGS

hf_status hfi_projected_solve(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                              const hf_sites *sites, size_t d, const double *x, size_t ldx,
                              const hf_projection *p, hfi_solution *out, hf_projection_report *report)
{
    memset(out, 0, sizeof *out);
    hf_status status = check_projection(ctx, p, hf_sites_present(sites));
    if (status < 0) return status;
    if (p->actions != HF_ACTIONS_BLOCKS)
        return solve_dense_rule(ctx, kernel, mean, sites, d, x, ldx, p, out, report);
    hfi_block_actions actions;
    status = make_blocks(ctx, kernel, mean, sites, d, x, ldx, p, &actions);
    if (status < 0) return status;
    status = hfi_projected_solve_blocks(ctx, kernel, mean, sites, d, x, ldx, &actions,
                                        p->single_precision ? HFI_SINGLE : HFI_DOUBLE, out, report);
    hfi_block_actions_free(ctx, &actions);
    return status;
}
