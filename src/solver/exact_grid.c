/* SPDX-License-Identifier: Apache-2.0 */
/* K + D by parts: a part's rows and columns are some of the readings, so that it is a block of
 * cross-covariances like any other. */
#include "solver/exact_grid.h"

#include <math.h>
#include <string.h>

double hfi_exact_grid_part_bytes(const hf_context *ctx, size_t n)
{
    const double side = (double)n + (double)HFI_GRID_BLOCK * (double)hfi_group_size(ctx);
    return (double)sizeof(double) * side * side / (double)hfi_group_size(ctx);
}

void hfi_exact_grid_free(hfi_exact_grid *g)
{
    if (g == NULL || g->ctx == NULL) return;
    double *const owned[] = {g->row_inputs, g->column_inputs, g->diagonal, g->a, g->scratch};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++) hfi_free(g->ctx, owned[k]);
    hfi_grid_close(&g->grid);
    memset(g, 0, sizeof *g);
}

hf_status hfi_exact_grid_init(hf_context *ctx, size_t capacity, size_t d, hfi_exact_grid *out)
{
    hfi_exact_grid g = {.ctx = ctx, .capacity = capacity, .d = d};
    memset(out, 0, sizeof *out);
    hf_status status = hfi_grid_open(ctx, capacity, &g.grid);
    if (status < 0) return status; /* of the order alone: the same in all processes */
    const size_t rows = g.grid.rows, columns = g.grid.columns;
    const bool fits = hfi_size_mul(rows, columns, &g.part);
    g.row_inputs = hfi_alloc(ctx, rows, d * sizeof *g.row_inputs);
    g.column_inputs = hfi_alloc(ctx, columns, d * sizeof *g.column_inputs);
    g.diagonal = hfi_alloc(ctx, capacity, sizeof *g.diagonal);
    if (fits && g.row_inputs && g.column_inputs && g.diagonal) g.a = hfi_alloc(ctx, g.part, sizeof *g.a);
    status = hfi_grid_agree(&g.grid, g.a ? HF_OK : hfi_out_of_memory(ctx));
    if (status < 0)
        hfi_exact_grid_free(&g);
    else
        *out = g;
    return status;
}

hf_status hfi_exact_grid_select(hfi_exact_grid *g, size_t n, const double *inputs)
{
    const size_t d = g->d;
    const hf_status status = hfi_grid_resize(&g->grid, n);
    if (status < 0) return status;
    for (size_t r = 0; r < g->grid.rows; r++)
        memcpy(g->row_inputs + r * d, inputs + hfi_grid_row(&g->grid, r) * d, d * sizeof *inputs);
    for (size_t c = 0; c < g->grid.columns; c++)
        memcpy(g->column_inputs + c * d, inputs + hfi_grid_column(&g->grid, c) * d, d * sizeof *inputs);
    return HF_OK;
}

/* ---- making and factoring ------------------------------------------------------------------------------- */

typedef struct fill_job {
    hfi_exact_grid *g;
    const hf_kernel *kernel;
    const double *inputs, *variance;
} fill_job;

/* One block of columns, from its diagonal on. */
static void fill_grid_columns(size_t task, int thread, void *arg)
{
    const fill_job *job = arg;
    hfi_exact_grid *g = job->g;
    const size_t rows = g->grid.rows, first = task * HFI_GRID_BLOCK, left = g->grid.columns - first;
    const size_t count = left < HFI_GRID_BLOCK ? left : HFI_GRID_BLOCK;
    const size_t top = hfi_grid_rows_above(&g->grid, hfi_grid_column(&g->grid, first));
    if (top < rows)
        hfi_kernel_cross_block(job->kernel, count, g->column_inputs + first * g->d, g->d, rows - top,
                               g->row_inputs + top * g->d, g->d, g->a + top + first * rows, rows,
                               g->scratch + (size_t)thread * g->scratch_each);
}

/* False when what counts of the part is not finite. */
static bool is_finite(const hfi_exact_grid *g)
{
    const size_t rows = g->grid.rows;
    for (size_t c = 0; c < g->grid.columns; c++) {
        double sum = 0.0; /* of zeros, unless there is something else */
        for (size_t r = hfi_grid_rows_above(&g->grid, hfi_grid_column(&g->grid, c)); r < rows; r++)
            sum += 0.0 * g->a[r + c * rows];
        if (!(sum == 0.0)) return false;
    }
    return true;
}

static hf_status factor_exact_grid(void *arg, double added)
{
    const fill_job *job = arg;
    hfi_exact_grid *g = job->g;
    const size_t columns = g->grid.columns;
    hfi_parallel_for(g->ctx, (columns + HFI_GRID_BLOCK - 1) / HFI_GRID_BLOCK, fill_grid_columns, arg);
    hfi_kernel_diagonal(job->kernel, g->grid.n, job->inputs, g->d, true, g->diagonal);
    for (size_t c = 0; c < columns; c++) {
        const size_t i = hfi_grid_column(&g->grid, c), at = hfi_grid_diagonal_at(&g->grid, c);
        if (at != SIZE_MAX) g->a[at] = g->diagonal[i] + job->variance[i] + added;
    }
    const hf_status status = hfi_grid_agree(&g->grid, is_finite(g) ? HF_OK : HF_ERR_NOT_FINITE);
    return status < 0 ? status : hfi_grid_chol(&g->grid, g->a);
}

/* Scratch of the kernel at hand, for every thread. */
static hf_status make_scratch(hfi_exact_grid *g, const hf_kernel *kernel)
{
    const size_t each = hfi_kernel_scratch(kernel);
    if (g->scratch && each <= g->scratch_each) return HF_OK;
    hfi_free(g->ctx, g->scratch);
    g->scratch_each = each;
    g->scratch = hfi_alloc(g->ctx, (size_t)hf_context_threads(g->ctx), each * sizeof *g->scratch);
    return g->scratch ? HF_OK : HF_ERR_MEMORY;
}

hf_status hfi_exact_grid_factor(hfi_exact_grid *g, const hf_kernel *kernel, const double *inputs,
                                const double *variance, double scale, double *jitter)
{
    fill_job job = {.g = g, .kernel = kernel, .inputs = inputs, .variance = variance};
    const hf_status status = hfi_grid_agree(&g->grid, make_scratch(g, kernel));
    return status < 0 ? status : hfi_jitter_steps(g->ctx, g->grid.n, scale, factor_exact_grid, &job, jitter);
}

hf_status hfi_exact_grid_log_det(hfi_exact_grid *g, double *log_det)
{
    const hf_status status = hfi_grid_diagonal(&g->grid, g->a, g->diagonal);
    double sum = 0.0;
    for (size_t i = 0; i < g->grid.n && status >= 0; i++) sum += 2.0 * log(g->diagonal[i]);
    *log_det = sum;
    return status;
}

/* ---- adjoint ---------------------------------------------------------------------------------------------- */

/* Below the diagonal every entry counts for its mirror image too; on it the kernel's own derivative is used,
 * which knows white. */
static void weigh_grid_entries(const hfi_grid *grid, double *w)
{
    const size_t rows = grid->rows;
    for (size_t c = 0; c < grid->columns; c++) {
        double *column = w + c * rows;
        const size_t below = hfi_grid_rows_above(grid, hfi_grid_column(grid, c) + 1);
        memset(column, 0, below * sizeof *column);
        for (size_t r = below; r < rows; r++) column[r] *= 2.0;
    }
}

static hf_status own_adjoint(hfi_exact_grid *g, const hf_kernel *kernel, const double *w, double *theta)
{
    enum {
        COLUMNS = 256 /* together: fewer calls, and little above the diagonal */
    };
    const hfi_grid *grid = &g->grid;
    hf_status status = HF_OK;
    for (size_t first = 0; first < grid->columns && status >= 0; first += COLUMNS) {
        const size_t count = grid->columns - first < COLUMNS ? grid->columns - first : COLUMNS;
        const size_t top = hfi_grid_rows_above(grid, hfi_grid_column(grid, first));
        status = hfi_kernel_cross_adjoint(g->ctx, kernel, count, g->column_inputs + first * g->d, g->d,
                                          grid->rows - top, g->row_inputs + top * g->d, g->d,
                                          w + top + first * grid->rows, grid->rows, theta, NULL);
    }
    return status;
}

hf_status hfi_exact_grid_adjoint(hfi_exact_grid *g, const hf_kernel *kernel, const double *inputs, double *w,
                                 const double *diagonal, double *theta)
{
    const size_t count = hf_kernel_parameters(kernel);
    double *own = hfi_alloc(g->ctx, count, sizeof *own);
    hf_status status = own ? HF_OK : HF_ERR_MEMORY;
    weigh_grid_entries(&g->grid, w);
    if (status >= 0) status = own_adjoint(g, kernel, w, own);
    status = hfi_grid_agree(&g->grid, status);
    if (status >= 0) status = hfi_grid_sum(&g->grid, count, own);
    if (status >= 0) {
        for (size_t p = 0; p < count; p++) theta[p] += own[p];
        hfi_kernel_diagonal_adjoint(kernel, g->grid.n, inputs, g->d, diagonal, diagonal, theta);
    }
    hfi_free(g->ctx, own);
    return status;
}
