/* SPDX-License-Identifier: Apache-2.0 */
/* The support of an active set and its factor, reading by reading. */
#include "envelope/envelope.h"
#include "envelope/loops.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* A pivot below this share of its diagonal is rounding: nearly equal inputs, kernels of finite rank. Held
 * there, the factor is that of a matrix which differs from K by about rounding. The line search does what an exchange
 * of the two readings would. */
#define LEAST_PIVOT 1e-14
/* An interval of no more than this share of its limits is one value but for the roundings of
 * several readings at one input. */
#define NARROW 1.5e-14
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
    HFI_MEMORY_FREE(memory, chain->index, chain->sign, chain->nu, chain->l, chain->w, chain->left_out,
                    chain->given_index);
    *chain = (hfi_chain){0};
}

bool hfi_chain_init(const hfi_memory *memory, size_t capacity, hfi_chain *chain)
{
    enum {
        VECTORS = 15
    };
    const size_t stride = column_stride(capacity);
    *chain = (hfi_chain){.capacity = capacity, .ldl = stride, .ldw = stride};
    size_t entries;
    if (!hfi_size_mul(chain->ldl, capacity, &entries)) return false;
    if (!HFI_MEMORY_ALLOC(memory, HFI_ROOM(chain->index, capacity), HFI_ROOM(chain->given_index, capacity),
                          HFI_ROOM(chain->sign, capacity), HFI_ROOM(chain->left_out, capacity),
                          HFI_ROOMS(chain->nu, capacity, VECTORS), HFI_ROOM(chain->l, entries),
                          HFI_ROOM(chain->w, entries))) {
        hfi_chain_free(memory, chain);
        return false;
    }
    /* `turn` is the last, and two of them. */
    double **const vectors[VECTORS - 2] = {&chain->limit, &chain->u,    &chain->v,     &chain->target,
                                           &chain->work,  &chain->g,    &chain->worth, &chain->given_nu,
                                           &chain->alone, &chain->left, &chain->rest,  &chain->held,
                                           &chain->turn};
    for (size_t k = 0; k < VECTORS - 2; k++) *vectors[k] = chain->nu + (k + 1) * capacity;
    chain->bytes = 2.0 * (double)entries * sizeof *chain->l +
                   (double)capacity * (VECTORS * sizeof *chain->nu + 2.0 * sizeof *chain->index + 2.0);
    return true;
}

bool hfi_is_exact(const hfi_active_problem *problem, size_t i)
{
    const double lower = problem->lower[i], upper = problem->upper[i];
    return isfinite(upper - lower) && upper - lower <= NARROW * (fabs(lower) + fabs(upper));
}

void hfi_chain_reset(hfi_chain *chain)
{
    chain->count = chain->given = chain->columns = 0;
    chain->priced = chain->at_vertex = chain->kept = chain->tabled = false;
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

/* W of the empty support. */
static void clear_table(const hfi_active_problem *problem, hfi_chain *chain)
{
    for (size_t i = 0; i < problem->n; i++) chain->left[i] = problem->sd[i] * problem->sd[i];
    chain->columns = problem->n;
    chain->kept = true;
    chain->tabled = false;
}

/* L^-1 K_A,i, from W if that is there. */
static void row_of(const hfi_active_problem *problem, hfi_chain *chain, size_t at, size_t i, double *row)
{
    if (chain->kept && i < chain->columns) {
        for (size_t j = 0; j < at; j++) row[j] = chain->w[j * chain->ldw + i];
        return;
    }
    const double *column = problem->k + i * problem->ldk;
    for (size_t j = 0; j < at; j++) row[j] = column[chain->index[j]];
    hfi_active_forward(at, 0, chain->l, chain->ldl, row, NULL);
}

/* Row `at` of the factor and of W from the rows before it, and its entries of u and v. */
static void append_factor_row(const hfi_active_problem *problem, hfi_chain *chain, size_t at)
{
    const size_t i = chain->index[at];
    const double *column = problem->k + i * problem->ldk, diagonal = column[i] + problem->jitter;
    double *row = chain->work;
    row_of(problem, chain, at, i, row);
    double rest = diagonal - hfi_dot(at, row, row);
    if (rest < -SUSPECT * diagonal) suspect(problem, chain, at, row);
    if (!(rest > LEAST_PIVOT * diagonal)) rest = LEAST_PIVOT * diagonal;
    const double pivot = sqrt(rest);
    for (size_t j = 0; j < at; j++) chain->l[at + j * chain->ldl] = row[j];
    chain->l[at * (chain->ldl + 1)] = pivot;
    const double cross = problem->cross ? problem->cross[i] : 0.0;
    chain->u[at] = (cross - hfi_dot(at, row, chain->u)) / pivot;
    chain->v[at] = (chain->limit[at] - hfi_dot(at, row, chain->v)) / pivot;
    if (!chain->kept) return;
    double *table = chain->w + at * chain->ldw;
    hfi_active_price(problem->n, at, NULL, row, chain->w, chain->ldw, column, table);
    hfi_active_absorb(problem->n, 1.0 / pivot, chain->u[at], chain->v[at], table, chain->rest, chain->held,
                      chain->left);
}

void hfi_chain_add(const hfi_active_problem *problem, hfi_chain *chain, size_t i, int sign)
{
    const size_t at = chain->count;
    chain->index[at] = i;
    chain->sign[at] = (signed char)sign;
    chain->nu[at] = 0.0;
    chain->limit[at] = sign < 0 ? problem->lower[i] : problem->upper[i];
    append_factor_row(problem, chain, at);
    chain->count++;
    chain->worth[i] = 0.0;
    chain->priced = chain->at_vertex = false;
}

/* The factor without row `at`, triangular again by turning pairs of columns; by what angles, into `turn`. */
static void turn_factor(hfi_chain *chain, size_t at, double *c, double *s)
{
    const size_t behind = chain->count - at - 1, ldl = chain->ldl;
    double *l = chain->l, *carry = chain->work;
    for (size_t j = 0; j < at; j++) memmove(l + at + j * ldl, l + at + 1 + j * ldl, behind * sizeof *l);
    memcpy(carry, l + at + 1 + at * ldl, behind * sizeof *l);
    for (size_t j = 0; j < behind; j++) {
        const double *next = l + (at + 1 + j) * (ldl + 1) - j;
        double *column = l + (at + j) * (ldl + 1) - j;
        const double size = sqrt(carry[j] * carry[j] + next[j] * next[j]);
        c[j] = carry[j] / size;
        s[j] = next[j] / size;
        hfi_active_turn(behind - j, c[j], s[j], next + j, column + j, carry + j);
    }
}

/* The same turns for u or v. @return what is left over */
static double turn_vector(size_t behind, const double *c, const double *s, double *x)
{
    double carry = x[0];
    for (size_t j = 0; j < behind; j++) {
        const double next = x[j + 1];
        x[j] = c[j] * carry + s[j] * next;
        carry = c[j] * next - s[j] * carry;
    }
    return carry;
}

void hfi_chain_drop(const hfi_active_problem *problem, hfi_chain *chain, size_t at)
{
    const size_t i = chain->index[at], behind = chain->count - at - 1;
    double *c = chain->turn, *s = chain->turn + chain->capacity;
    turn_factor(chain, at, c, s);
    const double u = turn_vector(behind, c, s, chain->u + at), v = turn_vector(behind, c, s, chain->v + at);
    if (chain->kept)
        hfi_active_rotate(chain->columns, behind, c, s, u, v, chain->w + at * chain->ldw, chain->ldw,
                          chain->rest, chain->held, chain->left);
    memmove(chain->index + at, chain->index + at + 1, behind * sizeof *chain->index);
    memmove(chain->sign + at, chain->sign + at + 1, behind * sizeof *chain->sign);
    memmove(chain->nu + at, chain->nu + at + 1, behind * sizeof *chain->nu);
    memmove(chain->limit + at, chain->limit + at + 1, behind * sizeof *chain->limit);
    chain->count--;
    chain->priced = chain->at_vertex = false;
    if (!chain->left_out[i]) chain->worth[i] = 1.0 / problem->sd[i];
}

/* W for readings that came in since it was made. */
static void widen_table(const hfi_active_problem *problem, hfi_chain *chain)
{
    for (size_t i = chain->columns; i < problem->n; i++) {
        const double *column = problem->k + i * problem->ldk;
        row_of(problem, chain, chain->count, i, chain->work);
        for (size_t j = 0; j < chain->count; j++) chain->w[i + j * chain->ldw] = chain->work[j];
        chain->left[i] = column[i] - hfi_dot(chain->count, chain->work, chain->work);
    }
    chain->columns = problem->n;
}

void hfi_chain_table(const hfi_active_problem *problem, hfi_chain *chain)
{
    const size_t n = problem->n, a = chain->count;
    hfi_active_price(n, a, NULL, chain->u, chain->w, chain->ldw, problem->cross, chain->rest);
    hfi_active_price(n, a, NULL, chain->v, chain->w, chain->ldw, NULL, chain->held);
    for (size_t i = 0; i < n; i++) chain->held[i] = -chain->held[i];
    chain->tabled = true;
}

/* Limits, signs and who may enter, as the problem has them now. */
static void adapt(const hfi_active_problem *problem, hfi_chain *chain)
{
    for (size_t i = 0; i < problem->n; i++)
        chain->worth[i] = chain->left_out[i] || !(problem->sd[i] > 0.0) ? 0.0 : 1.0 / problem->sd[i];
    for (size_t j = 0; j < chain->count; j++) {
        const size_t i = chain->index[j];
        chain->worth[i] = 0.0;
        const bool exact = hfi_is_exact(problem, i);
        if (exact) chain->sign[j] = 0;
        if (!exact && chain->sign[j] == 0) chain->sign[j] = chain->nu[j] < 0.0 ? -1 : 1;
        chain->limit[j] = chain->sign[j] < 0 ? problem->lower[i] : problem->upper[i];
    }
}

void hfi_chain_refresh(const hfi_active_problem *problem, hfi_chain *chain, bool factor)
{
    adapt(problem, chain);
    chain->priced = chain->tabled = false;
    if (factor) {
        chain->suspect = false;
        clear_table(problem, chain);
        for (size_t j = 0; j < chain->count; j++) append_factor_row(problem, chain, j);
        return;
    }
    if (chain->count == 0)
        clear_table(problem, chain);
    else if (chain->kept)
        widen_table(problem, chain);
    for (size_t j = 0; j < chain->count; j++) {
        chain->u[j] = problem->cross ? problem->cross[chain->index[j]] : 0.0;
        chain->v[j] = chain->limit[j];
    }
    hfi_active_forward(chain->count, 0, chain->l, chain->ldl, chain->u, chain->v);
}
