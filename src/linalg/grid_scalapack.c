/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that several processes hold together, by ScaLAPACK. */
#include "linalg/grid.h"

#ifdef HF_WITH_MPI

#include "linalg/blas.h"
#include <math.h>
#include <string.h>

/* BLACS and PBLAS are C behind Fortran names, without hidden lengths; the others have them. The communicator
 * is a Fortran handle. */
extern int sys2blacs_handle_(const int *communicator);
extern void free_blacs_system_handle_(const int *system);
extern void blacs_gridinit_(int *place, const char *order, const int *down, const int *across);
extern void blacs_gridinfo_(const int *place, int *down, int *across, int *row, int *column);
extern void blacs_gridexit_(const int *place);
extern void pdpotrf_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
                     const int *desca, int *info, size_t uplo_length);
extern void pdpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a, const int *ia,
                     const int *ja, const int *desca, double *b, const int *ib, const int *jb,
                     const int *descb, int *info, size_t uplo_length);
extern void pdpotri_(const char *uplo, const int *n, double *a, const int *ia, const int *ja,
                     const int *desca, int *info, size_t uplo_length);
extern void pdtran_(const int *m, const int *n, const double *alpha, const double *a, const int *ia,
                    const int *ja, const int *desca, const double *beta, double *c, const int *ic,
                    const int *jc, const int *descc);
extern void pdgemm_(const char *transa, const char *transb, const int *m, const int *n, const int *k,
                    const double *alpha, const double *a, const int *ia, const int *ja, const int *desca,
                    const double *b, const int *ib, const int *jb, const int *descb, const double *beta,
                    double *c, const int *ic, const int *jc, const int *descc);

enum {
    DESCRIPTOR = 9,
    PANELS = 8 /* of a product of which the lower triangle counts: an eighth of it is too much */
};

static const int FIRST = 1;

/* How a matrix of the grid's order, or a vector of one column, is dealt. */
static void describe_grid_matrix(const hfi_grid *grid, size_t columns, int out[DESCRIPTOR])
{
    const int block = (int)HFI_GRID_BLOCK;
    const int d[DESCRIPTOR] = {1,
                               grid->place,
                               hfi_blas_int(grid->n),
                               hfi_blas_int(columns),
                               block,
                               block,
                               0,
                               0,
                               grid->rows > 0 ? hfi_blas_int(grid->rows) : 1};
    memcpy(out, d, sizeof d);
}

static hf_status chol(const hfi_grid *grid, double *a)
{
    int d[DESCRIPTOR], info = 0;
    const int n = hfi_blas_int(grid->n);
    describe_grid_matrix(grid, grid->n, d);
    const int before = hfi_blas_enter();
    pdpotrf_("L", &n, a, &FIRST, &FIRST, d, &info, 1);
    hfi_blas_leave(before);
    /* Not every library notices NaN: look again, each process at its own. */
    double bad = info != 0 ? 1.0 : 0.0;
    for (size_t c = 0; c < grid->columns; c++) {
        const size_t at = hfi_grid_diagonal_at(grid, c);
        if (at != SIZE_MAX && !(a[at] > 0.0 && isfinite(a[at]))) bad = 1.0;
    }
    const hf_status summed = hfi_group_sum(grid->ctx, 1, &bad);
    if (summed < 0) return summed;
    return bad > 0.0 ? HF_ERR_NOT_POSITIVE_DEFINITE : HF_OK;
}

static void solve_grid_vector(const hfi_grid *grid, const double *l, double *rows)
{
    int d[DESCRIPTOR], e[DESCRIPTOR], info = 0;
    const int n = hfi_blas_int(grid->n), one = 1;
    describe_grid_matrix(grid, grid->n, d);
    describe_grid_matrix(grid, 1, e);
    const int before = hfi_blas_enter();
    pdpotrs_("L", &n, &one, l, &FIRST, &FIRST, d, rows, &FIRST, &FIRST, e, &info, 1);
    hfi_blas_leave(before);
}

static hf_status inverse(const hfi_grid *grid, double *l)
{
    int d[DESCRIPTOR], info = 0;
    const int n = hfi_blas_int(grid->n);
    describe_grid_matrix(grid, grid->n, d);
    const int before = hfi_blas_enter();
    pdpotri_("L", &n, l, &FIRST, &FIRST, d, &info, 1);
    hfi_blas_leave(before);
    return info == 0 ? HF_OK
                     : hfi_fail(grid->ctx, HF_ERR_NOT_POSITIVE_DEFINITE,
                                "row %d of a factor has a zero on the diagonal", info);
}

/* Work := G with both its triangles; g gets them too. */
static void complete(const hfi_grid *grid, const int *d, double *g, double *work)
{
    const size_t rows = grid->rows;
    const int n = hfi_blas_int(grid->n);
    const double one = 1.0;
    for (size_t c = 0; c < grid->columns; c++) {
        const size_t above = hfi_grid_rows_above(grid, hfi_grid_column(grid, c));
        memset(g + c * rows, 0, above * sizeof *g);
    }
    memcpy(work, g, rows * grid->columns * sizeof *work);
    pdtran_(&n, &n, &one, g, &FIRST, &FIRST, d, &one, work, &FIRST, &FIRST, d);
    for (size_t c = 0; c < grid->columns; c++) {
        const size_t at = hfi_grid_diagonal_at(grid, c);
        if (at != SIZE_MAX) work[at] *= 0.5;
    }
    memcpy(g, work, rows * grid->columns * sizeof *work);
}

/* G times diag(w) G, one panel of columns after the other, each from its diagonal on. */
static void weighted_square(const hfi_grid *grid, double *g, const double *w, double *c, double *work)
{
    int d[DESCRIPTOR];
    const int n = hfi_blas_int(grid->n);
    const double one = 1.0, zero = 0.0;
    const size_t blocks = (grid->n + HFI_GRID_BLOCK - 1) / HFI_GRID_BLOCK;
    const size_t width = (blocks + PANELS - 1) / PANELS * HFI_GRID_BLOCK;
    describe_grid_matrix(grid, grid->n, d);
    const int before = hfi_blas_enter();
    complete(grid, d, g, work);
    for (size_t j = 0; j < grid->columns; j++)
        for (size_t r = 0; r < grid->rows; r++) work[r + j * grid->rows] *= w[hfi_grid_row(grid, r)];
    for (size_t at = 0; at < grid->n; at += width) {
        const int rows = hfi_blas_int(grid->n - at), begin = hfi_blas_int(at + 1);
        const int columns = rows < hfi_blas_int(width) ? rows : hfi_blas_int(width);
        pdgemm_("N", "N", &rows, &columns, &n, &one, g, &begin, &FIRST, d, work, &FIRST, &begin, d, &zero, c,
                &begin, &begin, d);
    }
    hfi_blas_leave(before);
}

static void close_grid(hfi_grid *grid)
{
    blacs_gridexit_(&grid->place);
    free_blacs_system_handle_(&grid->system);
}

static const struct hfi_grid_methods SCALAPACK = {chol, solve_grid_vector, inverse, weighted_square,
                                                  close_grid};

/* As square as the number of processes allows, for the sake of what is sent. */
static int shorter_side(size_t processes)
{
    int side = 1;
    for (int s = 2; (size_t)s * (size_t)s <= processes; s++)
        if (processes % (size_t)s == 0) side = s;
    return side;
}

bool hfi_scalapack_open(hf_context *ctx, hfi_grid *grid)
{
    int communicator = 0, row = 0, column = 0;
    if (!hfi_group_communicator(ctx, &communicator)) return false;
    int down = shorter_side(hfi_group_size(ctx)), across = (int)(hfi_group_size(ctx) / (size_t)down);
    grid->system = grid->place = sys2blacs_handle_(&communicator);
    blacs_gridinit_(&grid->place, "Row", &down, &across);
    blacs_gridinfo_(&grid->place, &down, &across, &row, &column);
    grid->down = (size_t)down;
    grid->across = (size_t)across;
    grid->row = (size_t)row;
    grid->column = (size_t)column;
    grid->methods = &SCALAPACK;
    return true;
}

#else

bool hfi_scalapack_open(hf_context *ctx, hfi_grid *grid)
{
    (void)ctx;
    (void)grid;
    return false;
}

#endif
