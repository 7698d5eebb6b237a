/* SPDX-License-Identifier: Apache-2.0 */
/* How far factor and weights are from the matrix they stand for. The matrix is made again a block of rows at
 * a time and multiplied, never stored. */
#include "solver/solver.h"

#include "linalg/linalg.h"
#include <math.h>

enum {
    ROWS = 32 /* rows of A a task makes at once */
};

/* Several arrays of n, cut from one allocation. */
typedef struct solution_check {
    const hf_kernel *kernel;
    const hfi_solution *s;
    double *diagonal; /* a_ii */
    double *unit;     /* S: 1 / sqrt(a_ii) */
    double *probe;    /* S p, p random signs */
    double *times_t;  /* A t */
    double *times_p;  /* A S p */
    double *sum;      /* sum_j |a_ij| */
    double *unit_sum; /* sum_j |h_ij| */
    double *blocks;   /* per thread: ROWS rows of A and the kernel's scratch */
    size_t block_size;
} solution_check;

enum {
    ARRAYS = 7
};

static void multiply_rows(size_t task, int thread, void *arg)
{
    solution_check *c = arg;
    const hfi_solution *s = c->s;
    size_t n = s->n, first = task * ROWS, count = n - first < ROWS ? n - first : ROWS;
    double *rows = c->blocks + (size_t)thread * c->block_size;
    hfi_kernel_cross_block(c->kernel, count, s->z + first * s->d, s->d, n, s->z, s->d, rows, n,
                           rows + ROWS * n);
    for (size_t q = 0; q < count; q++) {
        size_t i = first + q;
        double *row = rows + q * n, sum = 0.0, unit_sum = 0.0;
        row[i] = c->diagonal[i];
        for (size_t j = 0; j < n; j++) {
            sum += fabs(row[j]);
            unit_sum += fabs(row[j]) * c->unit[j];
        }
        c->sum[i] = sum;
        c->unit_sum[i] = unit_sum * c->unit[i];
        c->times_t[i] = hfi_dot(n, row, s->t);
        c->times_p[i] = hfi_dot(n, row, c->probe);
    }
}

/* y := L L' y, in place: L' y from the top down uses only what is still to come, L (L' y) from the bottom up
 * only what has been. */
static void multiply_factor(size_t n, const double *l, size_t ldl, double *y)
{
    for (size_t j = 0; j < n; j++) y[j] = hfi_dot(n - j, l + j * (ldl + 1), y + j);
    for (size_t j = n; j-- > 0;) {
        double value = y[j];
        hfi_axpy(n - j - 1, value, l + j * (ldl + 1) + 1, y + j + 1);
        y[j] = value * l[j * (ldl + 1)];
    }
}

/* NaN is left to its row's product, which is NaN then, too. */
static double find_largest_entry(size_t n, const double *values)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++)
        if (values[i] > most) most = values[i];
    return most;
}

/* An error that cannot be computed (overflow) counts as infinite. */
static double ratio(double error, double size)
{
    if (error == 0.0) return 0.0;
    double value = error / size;
    return isnan(value) ? INFINITY : value;
}

static double backward_error(solution_check *c)
{
    const hfi_solution *s = c->s;
    double norm = find_largest_entry(s->n, c->unit_sum), error = 0.0, of_t = 0.0, of_r = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        error = fmax(error, c->unit[i] * fabs(c->times_t[i] - s->residual[i]));
        of_t = fmax(of_t, fabs(s->t[i]) / c->unit[i]);
        of_r = fmax(of_r, c->unit[i] * fabs(s->residual[i]));
        if (isnan(c->times_t[i]) || isnan(c->times_p[i])) return INFINITY;
    }
    double weights = ratio(error, norm * of_t + of_r), factor = 0.0;
    multiply_factor(s->n, s->factor, s->capacity, c->probe);
    for (size_t i = 0; i < s->n; i++) {
        double difference = c->unit[i] * fabs(c->probe[i] - c->times_p[i]);
        if (isnan(difference)) return INFINITY;
        factor = fmax(factor, difference);
    }
    return fmax(weights, ratio(factor, norm));
}

static hf_status measure_solution_error(hf_context *ctx, solution_check *c, hfi_solution *s, double *memory)
{
    size_t n = s->n;
    double **array[ARRAYS] = {&c->diagonal, &c->unit, &c->probe,   &c->times_t,
                              &c->times_p,  &c->sum,  &c->unit_sum};
    for (size_t k = 0; k < ARRAYS; k++) *array[k] = memory + k * n;
    hfi_stream signs;
    hfi_stream_init(&signs, 0, HFI_PURPOSE_PROBE, 0);
    hfi_kernel_diagonal(c->kernel, n, s->z, s->d, true, c->diagonal);
    for (size_t i = 0; i < n; i++) {
        c->diagonal[i] += s->variance[i] + s->jitter;
        c->unit[i] = 1.0 / sqrt(c->diagonal[i]);
        c->probe[i] = (hfi_stream_bits(&signs) >> 63) != 0 ? c->unit[i] : -c->unit[i];
    }
    hfi_parallel_for(ctx, (n + ROWS - 1) / ROWS, multiply_rows, c);
    double norm = find_largest_entry(n, c->sum);
    s->backward = backward_error(c);
    /* The arrays have done their duty: three of them are the scratch of the condition estimate. */
    int *iwork = hfi_alloc(ctx, n, sizeof *iwork);
    if (iwork == NULL) return HF_ERR_MEMORY;
    s->condition = hfi_chol_condition(n, s->factor, s->capacity, norm, memory, iwork);
    hfi_free(ctx, iwork);
    return HF_OK;
}

hf_status hfi_solution_measure(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution)
{
    size_t n = solution->n, tasks = (n + ROWS - 1) / ROWS, threads = (size_t)hf_context_threads(ctx);
    if (threads > tasks) threads = tasks;
    solution_check c = {.kernel = kernel, .s = solution, .block_size = ROWS * n + hfi_kernel_scratch(kernel)};
    double *memory = hfi_alloc(ctx, n, ARRAYS * sizeof *memory);
    c.blocks = hfi_alloc_unset(ctx, threads, c.block_size * sizeof *c.blocks);
    hf_status status = HF_ERR_MEMORY;
    hfi_solution measured =
        *solution; /* its arrays are only read; the figures are taken over if all goes well */
    if (memory != NULL && c.blocks != NULL) status = measure_solution_error(ctx, &c, &measured, memory);
    HFI_FREE(ctx, memory, c.blocks);
    if (status < 0) return status;
    solution->backward = measured.backward;
    solution->condition = measured.condition;
    return HF_OK;
}

hf_status hfi_solution_check(hf_context *ctx, const hf_kernel *kernel, hfi_solution *solution)
{
    hf_status status = hfi_solution_measure(ctx, kernel, solution);
    if (status < 0 || solution->backward <= HFI_DRIFT_LIMIT) return status;
    return hfi_fail(
        ctx, HF_WARN_DRIFT,
        "the backward error of factor and weights is %.1e, above %.0e; hf_posterior_refresh() factors afresh",
        solution->backward, HFI_DRIFT_LIMIT);
}
