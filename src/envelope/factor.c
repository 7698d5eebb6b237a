/* SPDX-License-Identifier: Apache-2.0 */
/* The support of an active set and its factor, reading by reading. */
#include "envelope/envelope.h"
#include "envelope/loops.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* A pivot below this share of its diagonal is rounding: nearly equal inputs, kernels of finite rank. Held there, the factor is that of a matrix which differs
 * from K by about rounding, and the line search does what an exchange of the two readings would. */
#define LEAST_PIVOT 1e-14
/* Below minus this share either the factor has drifted or K is not positive semi-definite. */
#define SUSPECT 1e-10
/* d'K d below minus this many times the square of sum |d_i| sd_i is not rounding. */
#define INDEFINITE 1e-12L

/* Columns a power of two apart would fall into the same few places of the cache. */
static size_t column_stride(size_t capacity)
{
    return (capacity + 7) / 8 * 8 + 8;
}

void hfi_chain_free(const hfi_memory *memory, hfi_chain *chain)
{
    hfi_memory_free(memory, chain->index);
    hfi_memory_free(memory, chain->sign);
    hfi_memory_free(memory, chain->nu);
    hfi_memory_free(memory, chain->l);
    hfi_memory_free(memory, chain->left_out);
    hfi_memory_free(memory, chain->given_index);
    *chain = (hfi_chain){0};
}

bool hfi_chain_init(const hfi_memory *memory, size_t capacity, hfi_chain *chain)
{
    enum {
        VECTORS = 10
    };
    *chain = (hfi_chain){.capacity = capacity, .ldl = column_stride(capacity)};
    size_t entries;
    if (!hfi_size_mul(chain->ldl, capacity, &entries)) return false;
    chain->index = hfi_memory_alloc(memory, capacity, sizeof *chain->index);
    chain->given_index = hfi_memory_alloc(memory, capacity, sizeof *chain->given_index);
    chain->sign = hfi_memory_alloc(memory, capacity, sizeof *chain->sign);
    chain->left_out = hfi_memory_alloc(memory, capacity, sizeof *chain->left_out);
    chain->nu = hfi_memory_alloc(memory, capacity, VECTORS * sizeof *chain->nu);
    chain->l = hfi_memory_alloc(memory, entries, sizeof *chain->l);
    if (!chain->index || !chain->given_index || !chain->sign || !chain->left_out || !chain->nu || !chain->l) {
        hfi_chain_free(memory, chain);
        return false;
    }
    double **const vectors[VECTORS - 1] = {&chain->limit,  &chain->u,        &chain->v,
                                           &chain->target, &chain->work,     &chain->g,
                                           &chain->worth,  &chain->given_nu, &chain->alone};
    for (size_t k = 0; k < VECTORS - 1; k++) *vectors[k] = chain->nu + (k + 1) * capacity;
    return true;
}

void hfi_chain_reset(hfi_chain *chain)
{
    chain->count = chain->given = 0;
    chain->priced = chain->at_vertex = false;
}

/* The direction in which a pivot is negative, tried on K itself. `row` is the row of the factor. */
static void suspect(const hfi_active_problem *problem, hfi_chain *chain, size_t at, const double *row)
{
    const hfi_active_problem alone = {.k = problem->k,
                                      .ldk = problem->ldk,
                                      .lower = problem->lower,
                                      .upper = problem->upper,
                                      .jitter = problem->jitter};
    double *direction = chain->target;
    memcpy(direction, row, at * sizeof *direction);
    hfi_active_backward(at, chain->l, chain->ldl, direction);
    for (size_t j = 0; j < at; j++) direction[j] = -direction[j];
    direction[at] = 1.0;
    const hfi_dual_value value = hfi_dual_evaluate(&alone, at + 1, chain->index, direction);
    if (value.estimate < -INDEFINITE * value.size * value.size) chain->indefinite = true;
    chain->suspect = true;
}

/* Row `at` of the factor from the rows before it, and its entries of u and v. */
static void append(const hfi_active_problem *problem, hfi_chain *chain, size_t at)
{
    const size_t i = chain->index[at];
    const double *column = problem->k + i * problem->ldk, diagonal = column[i] + problem->jitter;
    double *row = chain->work, *unused = chain->target;
    for (size_t j = 0; j < at; j++) row[j] = column[chain->index[j]];
    memset(unused, 0, at * sizeof *unused);
    hfi_active_forward(at, 0, chain->l, chain->ldl, row, unused);
    double rest = diagonal - hfi_dot(at, row, row);
    if (rest < -SUSPECT * diagonal) suspect(problem, chain, at, row);
    if (!(rest > LEAST_PIVOT * diagonal)) rest = LEAST_PIVOT * diagonal;
    const double pivot = sqrt(rest);
    for (size_t j = 0; j < at; j++) chain->l[at + j * chain->ldl] = row[j];
    chain->l[at * (chain->ldl + 1)] = pivot;
    const double cross = problem->cross ? problem->cross[i] : 0.0;
    chain->u[at] = (cross - hfi_dot(at, row, chain->u)) / pivot;
    chain->v[at] = (chain->limit[at] - hfi_dot(at, row, chain->v)) / pivot;
}

void hfi_chain_add(const hfi_active_problem *problem, hfi_chain *chain, size_t i, int sign)
{
    const size_t at = chain->count;
    chain->index[at] = i;
    chain->sign[at] = (signed char)sign;
    chain->nu[at] = 0.0;
    chain->limit[at] = sign < 0 ? problem->lower[i] : problem->upper[i];
    append(problem, chain, at);
    chain->count++;
    chain->worth[i] = 0.0;
    chain->priced = chain->at_vertex = false;
}

/* u and v from place `from` on. */
static void solve_from(const hfi_active_problem *problem, hfi_chain *chain, size_t from)
{
    for (size_t j = from; j < chain->count; j++) {
        chain->u[j] = problem->cross ? problem->cross[chain->index[j]] : 0.0;
        chain->v[j] = chain->limit[j];
    }
    hfi_active_forward(chain->count, from, chain->l, chain->ldl, chain->u, chain->v);
}

void hfi_chain_drop(const hfi_active_problem *problem, hfi_chain *chain, size_t at)
{
    const size_t i = chain->index[at], behind = chain->count - at - 1;
    hfi_chol_delete(chain->count, chain->l, chain->ldl, at, chain->work);
    memmove(chain->index + at, chain->index + at + 1, behind * sizeof *chain->index);
    memmove(chain->sign + at, chain->sign + at + 1, behind * sizeof *chain->sign);
    memmove(chain->nu + at, chain->nu + at + 1, behind * sizeof *chain->nu);
    memmove(chain->limit + at, chain->limit + at + 1, behind * sizeof *chain->limit);
    chain->count--;
    chain->priced = chain->at_vertex = false;
    solve_from(problem, chain, at);
    if (!chain->left_out[i]) chain->worth[i] = 1.0 / problem->sd[i];
}

void hfi_chain_refresh(const hfi_active_problem *problem, hfi_chain *chain, bool factor)
{
    for (size_t i = 0; i < problem->n; i++)
        chain->worth[i] = chain->left_out[i] || !(problem->sd[i] > 0.0) ? 0.0 : 1.0 / problem->sd[i];
    for (size_t j = 0; j < chain->count; j++) {
        const size_t i = chain->index[j];
        chain->worth[i] = 0.0;
        const bool exact = problem->lower[i] == problem->upper[i];
        if (exact) chain->sign[j] = 0;
        if (!exact && chain->sign[j] == 0) chain->sign[j] = chain->nu[j] < 0.0 ? -1 : 1;
        chain->limit[j] = chain->sign[j] < 0 ? problem->lower[i] : problem->upper[i];
    }
    if (factor) chain->suspect = false;
    if (factor)
        for (size_t j = 0; j < chain->count; j++) append(problem, chain, j);
    else
        solve_from(problem, chain, 0);
    chain->priced = false;
}
