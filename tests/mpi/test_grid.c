/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices that several processes hold together against the same ones in each of them. */
#include "mpi/processes.h"

#include "linalg/grid.h"
#include "linalg/matrices.h"

/* Less than a block, whole blocks, blocks and a rest, more blocks than a row of the grid has processes. */
static const size_t ORDERS[] = {1, 64, 65, 192, 333};
enum {
    ORDER_COUNT = 5
};

typedef struct fixture {
    hf_context *ctx;
    hfi_grid grid;
    size_t n;
    double *whole; /* symmetric, both triangles */
    double *part;  /* this process's; what is above the diagonal is not a number */
} fixture;

static void make(fixture *f, size_t n)
{
    f->ctx = processes_join();
    f->n = n;
    assert_int_equal(hfi_grid_open(f->ctx, n, &f->grid), HF_OK);
    f->whole = test_covariance(n, 0.1, n);
    f->part = test_vector(f->grid.rows * f->grid.columns);
    for (size_t c = 0; c < f->grid.columns; c++)
        for (size_t r = 0; r < f->grid.rows; r++) {
            const size_t i = hfi_grid_row(&f->grid, r), j = hfi_grid_column(&f->grid, c);
            f->part[r + c * f->grid.rows] = i < j ? NAN : f->whole[i + j * n];
        }
}

static void drop(fixture *f)
{
    free(f->whole);
    free(f->part);
    hfi_grid_close(&f->grid);
    hf_context_free(f->ctx);
}

/* Lower triangles, relative to the largest entry. */
static void assert_part_is(const fixture *f, const double *part, const double *whole)
{
    double largest = 0.0;
    for (size_t j = 0; j < f->n; j++)
        for (size_t i = j; i < f->n; i++) largest = fmax(largest, fabs(whole[i + j * f->n]));
    for (size_t c = 0; c < f->grid.columns; c++)
        for (size_t r = 0; r < f->grid.rows; r++) {
            const size_t i = hfi_grid_row(&f->grid, r), j = hfi_grid_column(&f->grid, c);
            if (i >= j) assert_near(part[r + c * f->grid.rows], whole[i + j * f->n], 1e-12 * largest);
        }
}

static void every_entry_has_one_place(void **state)
{
    (void)state;
    for (size_t o = 0; o < ORDER_COUNT; o++) {
        fixture f;
        make(&f, ORDERS[o]);
        double *seen = test_vector(f.n * f.n), *diagonal = test_vector(f.n);
        for (size_t k = 0; k < f.n * f.n; k++) seen[k] = 0.0;
        size_t before = 0;
        for (size_t c = 0; c < f.grid.columns; c++)
            for (size_t r = 0; r < f.grid.rows; r++)
                seen[hfi_grid_row(&f.grid, r) + hfi_grid_column(&f.grid, c) * f.n] += 1.0;
        const hf_status summed = hfi_grid_sum(&f.grid, f.n * f.n, seen);
        const hf_status got = hfi_grid_diagonal(&f.grid, f.part, diagonal);
        assert_int_equal(summed, HF_OK);
        assert_int_equal(got, HF_OK);
        for (size_t k = 0; k < f.n * f.n; k++) assert_true(seen[k] == 1.0);
        for (size_t i = 0; i < f.n; i++) {
            assert_true(diagonal[i] == f.whole[i + i * f.n]);
            assert_int_equal(hfi_grid_rows_above(&f.grid, i), before);
            if (before < f.grid.rows && hfi_grid_row(&f.grid, before) == i) before++;
        }
        free(seen);
        free(diagonal);
        drop(&f);
    }
}

static void factor_solve_and_inverse(void **state)
{
    (void)state;
    for (size_t o = 0; o < ORDER_COUNT; o++) {
        fixture f;
        make(&f, ORDERS[o]);
        const size_t n = f.n;
        double *b = test_normals(n, 5), *x = test_vector(n), *gathered = test_vector(n * (n + 1));
        memcpy(x, b, n * sizeof *x);
        const hf_status factored = hfi_grid_chol(&f.grid, f.part);
        assert_int_equal(hfi_chol(f.ctx, n, f.whole, n), HF_OK);
        const hf_status solved = hfi_grid_solve(&f.grid, f.part, x);
        const hf_status whole = hfi_grid_gather(&f.grid, f.part, gathered, n + 1);
        assert_int_equal(factored, HF_OK);
        assert_int_equal(solved, HF_OK);
        assert_int_equal(whole, HF_OK);
        assert_part_is(&f, f.part, f.whole);
        hfi_chol_solve(n, f.whole, n, b);
        for (size_t i = 0; i < n; i++) assert_near(x[i], b[i], 1e-11 * (1.0 + fabs(b[i])));
        for (size_t j = 0; j < n; j++)
            for (size_t i = j; i < n; i++) assert_near(gathered[i + j * (n + 1)], f.whole[i + j * n], 1e-12);
        const hf_status inverted = hfi_grid_inverse(&f.grid, f.part);
        assert_int_equal(inverted, HF_OK);
        hfi_chol_inverse(f.ctx, n, f.whole, n);
        assert_part_is(&f, f.part, f.whole);
        free(b);
        free(x);
        free(gathered);
        drop(&f);
    }
}

static void products(void **state)
{
    (void)state;
    for (size_t o = 0; o < ORDER_COUNT; o++) {
        fixture f;
        make(&f, ORDERS[o]);
        const size_t n = f.n, part = f.grid.rows * f.grid.columns;
        double *w = test_normals(n, 3), *x = test_normals(n, 4), *y = test_vector(n),
               *wanted = test_vector(n);
        double *c = test_vector(part), *work = test_vector(part), *square = test_vector(n * n),
               *room = test_vector(n * n);
        const hf_status multiplied = hfi_grid_symv(&f.grid, f.part, x, y);
        const hf_status squared = hfi_grid_weighted_square(&f.grid, f.part, w, c, work);
        assert_int_equal(multiplied, HF_OK);
        assert_int_equal(squared, HF_OK);
        hfi_symv(n, f.whole, n, x, wanted);
        for (size_t i = 0; i < n; i++) assert_near(y[i], wanted[i], 1e-12 * (double)n);
        hfi_weighted_square(f.ctx, n, f.whole, n, w, square, n, room);
        assert_part_is(&f, c, square);
        free(w);
        free(x);
        free(y);
        free(wanted);
        free(c);
        free(work);
        free(square);
        free(room);
        drop(&f);
    }
}

/* The last pivot is negative, or not a number: only one process sees it, all are told. */
static void what_has_no_factor(void **state)
{
    (void)state;
    const double wrong[] = {-1.0, NAN};
    for (size_t k = 0; k < 2; k++) {
        fixture f;
        make(&f, 333);
        const size_t last = f.grid.columns - 1, at = hfi_grid_diagonal_at(&f.grid, last);
        if (f.grid.columns > 0 && at != SIZE_MAX && hfi_grid_column(&f.grid, last) == f.n - 1)
            f.part[at] = wrong[k];
        const hf_status status = hfi_grid_chol(&f.grid, f.part);
        assert_int_equal(status, HF_ERR_NOT_POSITIVE_DEFINITE);
        drop(&f);
    }
}

/* Another order in the same room. */
static void fewer_rows(void **state)
{
    (void)state;
    fixture f;
    make(&f, 333);
    double total = (double)f.grid.rows * (double)f.grid.columns;
    const hf_status before = hfi_grid_sum(&f.grid, 1, &total);
    assert_int_equal(hfi_grid_resize(&f.grid, 100), HF_OK);
    double rest = (double)f.grid.rows * (double)f.grid.columns;
    const hf_status after = hfi_grid_sum(&f.grid, 1, &rest);
    assert_true(before == HF_OK && after == HF_OK && total == 333.0 * 333.0 && rest == 100.0 * 100.0);
    drop(&f);
}

static int run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_entry_has_one_place),
        cmocka_unit_test(factor_solve_and_inverse),
        cmocka_unit_test(products),
        cmocka_unit_test(what_has_no_factor),
        cmocka_unit_test(fewer_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

int main(void)
{
    return processes_run(run);
}
