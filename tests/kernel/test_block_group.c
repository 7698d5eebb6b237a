/* SPDX-License-Identifier: Apache-2.0 */
/* Products with the streamed matrix of covariances by several processes: the same as by one. */
#include "kernel_testing.h"

#include "core/thread_group.h"

#include <math.h>

enum {
    MOST = 4,
    D = 3,
    BLOCKS = 7,
    COLUMNS = 3
};

typedef struct outcome {
    hf_status status[4];
    double *b, *s_bar, *theta, *p, *single;
} outcome;

typedef struct job {
    const char *expression;
    size_t n, ld;
    double *x, *s, *bar, *v;
    size_t first[BLOCKS + 1];
    outcome by[MOST];
} job;

/* Everything that is shared, with columns that lie apart, results that are added to, and one result alone. */
static void products(hf_context *ctx, size_t rank, void *arg)
{
    job *j = arg;
    outcome *o = &j->by[rank];
    hf_kernel *kernel = NULL;
    o->status[0] = hf_kernel_parse(ctx, j->expression, NULL, D, &kernel);
    if (o->status[0] < 0) return;
    shake(kernel, 11);
    o->status[0] =
        hfi_kernel_block_product(ctx, kernel, j->n, j->x, D, BLOCKS, j->first, j->s, HFI_DOUBLE, o->b, j->ld);
    o->status[1] = hfi_kernel_block_adjoint(ctx, kernel, j->n, j->x, D, BLOCKS, j->first, j->s, HFI_DOUBLE,
                                            j->bar, j->ld, o->s_bar, o->theta);
    o->status[2] =
        hfi_kernel_dense_product(ctx, kernel, j->n, j->x, D, COLUMNS, j->v, j->ld, HFI_DOUBLE, o->p, j->ld);
    o->status[3] =
        hfi_kernel_dense_product(ctx, kernel, j->n, j->x, D, 1, j->v, j->ld, HFI_SINGLE, o->single, j->ld);
    hf_kernel_free(kernel);
}

static void make_job(job *j, const char *expression, size_t n)
{
    *j = (job){.expression = expression, .n = n, .ld = n + 2};
    j->x = make_points(n, D, n);
    j->s = make_points(n, 1, n + 1);
    j->bar = make_points(j->ld, BLOCKS, n + 2);
    j->v = make_points(j->ld, COLUMNS, n + 3);
    for (size_t a = 0; a <= BLOCKS; a++) j->first[a] = a * n / BLOCKS;
    for (size_t r = 0; r < MOST; r++) {
        outcome *o = &j->by[r];
        o->b = make_zeros(j->ld * BLOCKS);
        o->s_bar = make_zeros(n);
        o->theta = make_zeros(32);
        o->p = make_zeros(j->ld * COLUMNS);
        o->single = make_zeros(n);
        for (size_t l = 0; l < n; l++) o->s_bar[l] = 0.5;
        o->theta[0] = -0.5;
    }
}

static void drop_job(job *j)
{
    free(j->x);
    free(j->s);
    free(j->bar);
    free(j->v);
    for (size_t r = 0; r < MOST; r++) {
        outcome *o = &j->by[r];
        free(o->b);
        free(o->s_bar);
        free(o->theta);
        free(o->p);
        free(o->single);
    }
}

/* Between two results of one kind, relative to the largest. */
static void assert_near(const char *what, size_t count, const double *got, const double *wanted,
                        double tolerance)
{
    double largest = 0.0;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(wanted[k]));
    assert_true(largest > 0.0);
    for (size_t k = 0; k < count; k++) assert_close(what, k, got[k], wanted[k], tolerance * largest);
}

static void assert_same(const job *j, size_t size, const outcome *one)
{
    for (size_t r = 0; r < size; r++) {
        const outcome *o = &j->by[r];
        for (size_t k = 0; k < 4; k++) assert_int_equal(o->status[k], HF_OK);
        assert_near("b", j->ld * BLOCKS, o->b, one->b, 1e-13);
        assert_near("s_bar", j->n, o->s_bar, one->s_bar, 1e-12);
        assert_near("theta", 32, o->theta, one->theta, 1e-12);
        assert_near("p", j->ld * COLUMNS, o->p, one->p, 1e-13);
        assert_near("single", j->n, o->single, one->single, 1e-6);
        /* and the same digits in all */
        assert_memory_equal(o->b, j->by[0].b, j->ld * BLOCKS * sizeof *o->b);
        assert_memory_equal(o->s_bar, j->by[0].s_bar, j->n * sizeof *o->s_bar);
        assert_memory_equal(o->theta, j->by[0].theta, 32 * sizeof *o->theta);
        assert_memory_equal(o->p, j->by[0].p, j->ld * COLUMNS * sizeof *o->p);
    }
}

/* One radial leaf has its own path, anything else goes by tiles; 40 rows are fewer chunks than processes. */
static void several_are_one(void **state)
{
    (void)state;
    static const char *const kernels[] = {"2*matern52(ard)", "1.5*se + 0.3*linear"};
    static const size_t rows[] = {40, 700};
    for (size_t e = 0; e < 2; e++)
        for (size_t s = 0; s < 2; s++) {
            job one;
            make_job(&one, kernels[e], rows[s]);
            thread_group_run(1, products, &one);
            for (size_t size = 2; size <= MOST; size++) {
                job several;
                make_job(&several, kernels[e], rows[s]);
                thread_group_run(size, products, &several);
                assert_same(&several, size, &one.by[0]);
                drop_job(&several);
            }
            drop_job(&one);
        }
}

static bool refuse(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    (void)user;
    return false;
}

static void cancelled_by_the_last(hf_context *ctx, size_t rank, void *arg)
{
    job *j = arg;
    if (rank == 2) hf_context_set_progress(ctx, refuse, NULL);
    products(ctx, rank, j);
}

/* Nobody waits for what will not come, and results that are added to are as they were. */
static void one_who_stops_stops_all(void **state)
{
    (void)state;
    job j;
    make_job(&j, "matern32", 700);
    thread_group_run(3, cancelled_by_the_last, &j);
    for (size_t r = 0; r < 3; r++) {
        for (size_t k = 0; k < 4; k++) assert_int_equal(j.by[r].status[k], HF_ERR_CANCELLED);
        for (size_t l = 0; l < j.n; l++) assert_true(j.by[r].s_bar[l] == 0.5);
        assert_true(j.by[r].theta[0] == -0.5);
    }
    drop_job(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_are_one),
        cmocka_unit_test(one_who_stops_stops_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
