/* SPDX-License-Identifier: Apache-2.0 */
/* One anchor more, one less, or one with another site. Each either succeeds or leaves the solution as it was:
 * what can fail is done first, into scratch or into places that do not count yet. The weights are solved for
 * afresh each time, so that only the factor can drift. */
#include "solver/solver.h"

#include "linalg/linalg.h"
#include <float.h>
#include <math.h>
#include <string.h>

static double bytes_for(size_t capacity, size_t d)
{
    return (double)sizeof(double) * (double)capacity * ((double)capacity + (double)d + 3.0);
}

/* Twice the room, or an eighth more where that does not fit: old and new exist side by side for a moment. */
static hf_status grow_solution_storage(hf_context *ctx, hfi_solution *s)
{
    size_t capacity = 2 * s->capacity, available;
    if (!hfi_memory_has(bytes_for(capacity, s->d), &available)) capacity = s->capacity + s->capacity / 8 + 1;
    hf_status status = hfi_require_memory(ctx, "storage", capacity, bytes_for(capacity, s->d));
    if (status < 0) return status;
    hfi_solution wide = *s;
    wide.capacity = capacity;
    if (!HFI_MEMORY_ALLOC(&s->memory, HFI_ROOMS(wide.z, capacity, s->d), HFI_ROOM(wide.residual, capacity),
                          HFI_ROOM(wide.variance, capacity), HFI_ROOM(wide.t, capacity),
                          HFI_ROOMS(wide.factor, capacity, capacity))) {
        hfi_solution_free(&wide);
        return hfi_fail(ctx, HF_ERR_MEMORY, "out of memory: no room for more than %zu anchors", s->capacity);
    }
    memcpy(wide.z, s->z, s->n * s->d * sizeof *s->z);
    memcpy(wide.residual, s->residual, s->n * sizeof *s->residual);
    memcpy(wide.variance, s->variance, s->n * sizeof *s->variance);
    memcpy(wide.t, s->t, s->n * sizeof *s->t);
    for (size_t j = 0; j < s->n; j++)
        memcpy(wide.factor + j * (capacity + 1), s->factor + j * (s->capacity + 1),
               (s->n - j) * sizeof *s->factor);
    hfi_solution_free(s);
    *s = wide;
    return HF_OK;
}

/* Whether the square of a pivot, what eliminations left of the diagonal entry `whole`, is more than their rounding. */
static bool pivot_counts(double square, double whole, size_t eliminations)
{
    return square > (double)(eliminations + 1) * DBL_EPSILON * whole && isfinite(square);
}

/* t := (L L')^-1 residual for the first n anchors, with residual[i] taken as r; false if it overflows. */
static bool solve_weights(const hfi_solution *s, size_t n, size_t i, double r, double *t)
{
    memcpy(t, s->residual, n * sizeof *t);
    t[i] = r;
    hfi_chol_solve(n, s->factor, s->capacity, t);
    for (size_t k = 0; k < n; k++)
        if (!isfinite(t[k])) return false;
    return true;
}

static hf_status weights_overflow(hf_context *ctx, double r, double v)
{
    return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                    "the weights overflow with a target %g above the prior mean and site variance %g", r, v);
}

/* Settles what the factor of n anchors determines, after its other parts are in place. */
static void solve_prior_mean(hfi_solution *s, size_t n, const double *t)
{
    s->n = n;
    memcpy(s->t, t, n * sizeof *t);
    s->log_det = hfi_chol_logdet(n, s->factor, s->capacity);
}

hf_status hfi_solution_append(hf_context *ctx, hfi_solution *solution, const double *x, double r, double v,
                              const double *column, double prior)
{
    size_t n = solution->n;
    bool finite = isfinite(prior);
    for (size_t i = 0; i < n; i++) finite = finite && isfinite(column[i]);
    if (!finite)
        return hfi_fail(ctx, HF_ERR_NOT_FINITE,
                        "the covariance of the new reading with the anchors overflows");
    double *t = hfi_alloc(ctx, n + 1, sizeof *t);
    if (t == NULL) return HF_ERR_MEMORY;
    hf_status status = n == solution->capacity ? grow_solution_storage(ctx, solution) : HF_OK;
    if (status >= 0) {
        double whole = prior + v + solution->jitter, *l = solution->factor;
        status = hfi_chol_append(n, l, solution->capacity, column, whole);
        double pivot = l[n * (solution->capacity + 1)];
        if (status >= 0 && !pivot_counts(pivot * pivot, whole, n)) status = HF_ERR_NOT_POSITIVE_DEFINITE;
        if (status < 0)
            hfi_fail(ctx, status,
                     "the new reading repeats the anchors to rounding and its site variance %g is too small "
                     "to tell them apart; give it a larger one",
                     v);
        /* Row n of the factor counts only once n has grown. */
        else if (!solve_weights(solution, n + 1, n, r, t))
            status = weights_overflow(ctx, r, v);
    }
    if (status >= 0) {
        memcpy(solution->z + n * solution->d, x, solution->d * sizeof *x);
        solution->residual[n] = r;
        solution->variance[n] = v;
        solve_prior_mean(solution, n + 1, t);
    }
    hfi_free(ctx, t);
    return status;
}

hf_status hfi_solution_delete(hf_context *ctx, hfi_solution *solution, size_t i)
{
    size_t n = solution->n, d = solution->d, behind = n - i - 1;
    double *work = hfi_alloc(ctx, n, sizeof *work);
    if (work == NULL) return HF_ERR_MEMORY;
    hfi_chol_delete(n, solution->factor, solution->capacity, i, work);
    memmove(solution->z + i * d, solution->z + (i + 1) * d, behind * d * sizeof *solution->z);
    memmove(solution->residual + i, solution->residual + i + 1, behind * sizeof *solution->residual);
    memmove(solution->variance + i, solution->variance + i + 1, behind * sizeof *solution->variance);
    memcpy(work, solution->residual, (n - 1) * sizeof *work);
    hfi_chol_solve(n - 1, solution->factor, solution->capacity, work);
    solve_prior_mean(solution, n - 1, work);
    hfi_free(ctx, work);
    return HF_OK;
}

/* Copies rows and columns from i on into the strict upper triangle and `diagonal`, and back. */
static void back_up(const hf_context *ctx, const hfi_solution *s, size_t i, double *diagonal)
{
    for (size_t k = i; k < s->n; k++) diagonal[k] = s->factor[k * (s->capacity + 1)];
    hfi_symmetrise(ctx, s->n - i, s->factor + i * (s->capacity + 1), s->capacity);
}

static void restore(const hfi_solution *s, size_t i, const double *diagonal)
{
    double *l = s->factor;
    size_t ld = s->capacity;
    for (size_t k = i; k < s->n; k++) {
        l[k * (ld + 1)] = diagonal[k];
        for (size_t j = i; j < k; j++) l[k + j * ld] = l[j + k * ld];
    }
}

/*
 * The rows above i of L, and row i left of the diagonal, do not know a_ii. Let c be the column of the matrix
 * that is left below a_ii after the first i eliminations. Column i of L is (p, c / p) with p^2 = a_ii - sum_k<i l_ik^2,
 * and the factor M of what is below satisfies M M' = rest - c c' / p^2. So another a_ii, hence another p, changes M M'
 * by c c' (1 / p_old^2 - 1 / p_new^2).
 *
 * The new p^2 is built from the new a_ii rather than from the difference of the site variances: when a
 * variance comes down from 1e24, the old a_ii no longer knows what k(z_i, z_i) was.
 */
static hf_status change_pivot(hfi_solution *s, size_t i, double a_ii, double *c)
{
    size_t ld = s->capacity, below = s->n - i - 1;
    double *row = s->factor + i, *column = s->factor + i * (ld + 1), *rest = column + ld + 1, square = a_ii;
    for (size_t k = 0; k < i; k++) square -= row[k * ld] * row[k * ld];
    if (!pivot_counts(square, a_ii, i)) return HF_ERR_NOT_POSITIVE_DEFINITE;
    double before = column[0], after = sqrt(square);
    /* sqrt|1/p_old^2 - 1/p_new^2| c = sqrt|1 - p_old^2/p_new^2| c/p_old; with q = p_old/p_new. */
    double q = before / after, weight = sqrt(fabs((1.0 - q) * (1.0 + q)));
    for (size_t k = 0; k < below; k++) {
        c[k] = weight * column[1 + k];
        column[1 + k] *= q;
    }
    column[0] = after;
    if (q > 1.0) return hfi_chol_downdate(below, rest, ld, c);
    hfi_chol_update(below, rest, ld, c);
    return HF_OK;
}

hf_status hfi_solution_replace(hf_context *ctx, hfi_solution *solution, size_t i, double r, double v,
                               double prior)
{
    size_t n = solution->n;
    double *diagonal = hfi_alloc(ctx, n, sizeof *diagonal), *work = hfi_alloc(ctx, n, sizeof *work);
    hf_status status = HF_ERR_MEMORY;
    if (diagonal != NULL && work != NULL) {
        back_up(ctx, solution, i, diagonal);
        status = change_pivot(solution, i, prior + v + solution->jitter, work);
        if (status < 0)
            hfi_fail(ctx, status,
                     "with site variance %g for anchor %zu the factor is not positive definite; give a "
                     "larger one, or refresh first",
                     v, i);
        else if (!solve_weights(solution, n, i, r, work))
            status = weights_overflow(ctx, r, v);
        if (status < 0) {
            restore(solution, i, diagonal);
        } else {
            solution->residual[i] = r;
            solution->variance[i] = v;
            solve_prior_mean(solution, n, work);
        }
    }
    HFI_FREE(ctx, diagonal, work);
    return status;
}
