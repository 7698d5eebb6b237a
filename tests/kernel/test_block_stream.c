/* SPDX-License-Identifier: Apache-2.0 */
/* Products with the streamed matrix of covariances against plain double loops over hfi_kernel_value(). */
#include "kernel_testing.h"

#include "mean/failing_allocator.h"

/* One problem: rows sorted by ragged blocks, and everything that goes in. */
typedef struct problem {
    size_t n, d, blocks;
    double *x, *s, *b_bar;
    size_t *first;
} problem;

/* Blocks of sizes as different as n and their number allow. */
static problem make_problem(size_t n, size_t d, size_t blocks, uint64_t seed)
{
    problem p = {.n = n, .d = d, .blocks = blocks};
    hfi_stream stream;
    p.x = make_points(n, d, seed);
    p.s = make_points(n, 1, seed + 1);
    p.b_bar = make_points(n, blocks, seed + 2);
    p.first = malloc((blocks + 1) * sizeof *p.first);
    assert_non_null(p.first);
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, seed);
    for (size_t a = 0; a <= blocks; a++) p.first[a] = a;
    for (size_t spare = n - blocks; spare > 0; spare--) /* blocks of one row each get the others by lot */
        for (size_t a = hfi_stream_below(&stream, blocks) + 1; a <= blocks; a++) p.first[a]++;
    if (n > 2) memcpy(p.x + 2 * d, p.x, d * sizeof *p.x); /* a duplicate */
    return p;
}

static void drop_problem(problem *p)
{
    free(p->x);
    free(p->s);
    free(p->b_bar);
    free(p->first);
}

static size_t owner(const problem *p, size_t row)
{
    size_t a = 0;
    while (p->first[a + 1] <= row) a++;
    return a;
}

/* ---- against double loops ------------------------------------------------------------------------------- */

/* Sums of absolute values beside the sums: what their rounding errors are to be measured with. */
static void plain_product(const hf_kernel *kernel, const problem *p, double *b, double *size)
{
    for (size_t l = 0; l < p->n; l++) {
        for (size_t j = 0; j < p->n; j++) {
            const double k = hfi_kernel_value(kernel, p->x + l * p->d, p->x + j * p->d, false) * p->s[j];
            b[l + owner(p, j) * p->n] += k;
            size[l + owner(p, j) * p->n] += fabs(k);
        }
    }
}

static void plain_entries(const hf_kernel *kernel, const problem *p, double *s_bar, double *size)
{
    for (size_t j = 0; j < p->n; j++) {
        for (size_t l = 0; l < p->n; l++) {
            const double k = hfi_kernel_value(kernel, p->x + l * p->d, p->x + j * p->d, false) *
                             p->b_bar[l + owner(p, j) * p->n];
            s_bar[j] += k;
            size[j] += fabs(k);
        }
    }
}

/* The objective whose adjoint is tested: sum of Bbar_la B_la. */
static double objective(const hf_kernel *kernel, const problem *p)
{
    double *b = make_zeros(p->n * p->blocks), *size = make_zeros(p->n * p->blocks), sum = 0.0;
    plain_product(kernel, p, b, size);
    for (size_t i = 0; i < p->n * p->blocks; i++) sum += p->b_bar[i] * b[i];
    free(b);
    free(size);
    return sum;
}

static void assert_all_close(const char *what, size_t count, const double *got, const double *wanted,
                             const double *size, double tolerance)
{
    for (size_t i = 0; i < count; i++) assert_close(what, i, got[i], wanted[i], tolerance * (size[i] + 1e-3));
}

/* Whole problem, one kernel: B, its adjoint in s; the adjoint in theta against the exact one in double. */
static void check_products(hf_context *ctx, const hf_kernel *kernel, const char *what, const problem *p,
                           hfi_precision precision, double tolerance)
{
    const size_t n = p->n, entries = n * p->blocks;
    double *b = make_points(n, p->blocks, 9), *wanted = make_zeros(entries), *size = make_zeros(entries);
    plain_product(kernel, p, wanted, size);
    assert_int_equal(
        hfi_kernel_block_product(ctx, kernel, n, p->x, p->d, p->blocks, p->first, p->s, precision, b, n),
        HF_OK);
    assert_all_close(what, entries, b, wanted, size, tolerance);
    memset(wanted, 0, entries * sizeof *wanted);
    memset(size, 0, entries * sizeof *size);
    plain_entries(kernel, p, wanted, size);
    double *s_bar = make_zeros(n);
    for (size_t j = 0; j < n; j++) s_bar[j] = 0.25; /* it is added to */
    assert_int_equal(hfi_kernel_block_adjoint(ctx, kernel, n, p->x, p->d, p->blocks, p->first, p->s,
                                              precision, p->b_bar, n, s_bar, NULL),
                     HF_OK);
    for (size_t j = 0; j < n; j++) s_bar[j] -= 0.25;
    assert_all_close(what, n, s_bar, wanted, size, tolerance);
    free(b);
    free(wanted);
    free(size);
    free(s_bar);
}

/* The symmetric weights whose gram adjoint the block adjoint is. */
static void plain_parameters(hf_context *ctx, const hf_kernel *kernel, const problem *p, double *theta)
{
    const size_t n = p->n;
    double *w = make_zeros(n * n);
    for (size_t j = 0; j < n; j++)
        for (size_t l = j; l < n; l++)
            w[l + j * n] =
                0.5 * (p->b_bar[l + owner(p, j) * n] * p->s[j] + p->b_bar[j + owner(p, l) * n] * p->s[l]);
    assert_int_equal(hfi_kernel_gram_adjoint(ctx, kernel, n, p->x, p->d, w, n, theta), HF_OK);
    free(w);
}

static double *block_parameters(hf_context *ctx, const hf_kernel *kernel, const problem *p,
                                hfi_precision precision)
{
    double *theta = make_zeros(hf_kernel_parameters(kernel)), *s_bar = make_zeros(p->n);
    /* With the other result and without it: the same. */
    double *alone = make_zeros(hf_kernel_parameters(kernel));
    assert_int_equal(hfi_kernel_block_adjoint(ctx, kernel, p->n, p->x, p->d, p->blocks, p->first, p->s,
                                              precision, p->b_bar, p->n, s_bar, theta),
                     HF_OK);
    assert_int_equal(hfi_kernel_block_adjoint(ctx, kernel, p->n, p->x, p->d, p->blocks, p->first, p->s,
                                              precision, p->b_bar, p->n, NULL, alone),
                     HF_OK);
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++)
        assert_close("with and without the other result", i, alone[i], theta[i],
                     1e-13 * (1.0 + fabs(theta[i])));
    free(s_bar);
    free(alone);
    return theta;
}

static void every_kernel(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        problem p = make_problem(150, INPUTS, 11, e);
        shake(kernel, e);
        check_products(*state, kernel, EXPRESSIONS[e], &p, HFI_DOUBLE, 1e-13);
        drop_problem(&p);
        hf_kernel_free(kernel);
    }
}

/* Without white, of which the product knows nothing, it is the adjoint of the Gram matrix. */
static void every_kernel_parameters(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        if (strstr(EXPRESSIONS[e], "white")) continue;
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        const size_t count = hf_kernel_parameters(kernel);
        problem p = make_problem(180, INPUTS, 7, e);
        shake(kernel, e);
        double *theta = block_parameters(*state, kernel, &p, HFI_DOUBLE), *wanted = make_zeros(count);
        plain_parameters(*state, kernel, &p, wanted);
        for (size_t i = 0; i < count; i++)
            assert_close(EXPRESSIONS[e], i, theta[i], wanted[i], 1e-11 * (1.0 + fabs(wanted[i])));
        free(theta);
        free(wanted);
        drop_problem(&p);
        hf_kernel_free(kernel);
    }
}

/* ---- shapes --------------------------------------------------------------------------------------------- */

/* Radial kernels have a path of their own, in two precisions; the last expression takes the general one. */
static const char *const SHAPED[] = {"matern52(ard)", "matern32", "matern12(ard)",
                                     "se(ard)",       "se",       "0.7*rq + linear"};

typedef struct shape {
    size_t n, d, blocks;
} shape;

static const shape SHAPES[] = {
    {1, 1, 1},    {2, 1, 1},   {2, 3, 2},     {3, 2, 3},     {65, 1, 1},    {67, 30, 67}, {130, 5, 2},
    {257, 8, 16}, {300, 8, 1}, {321, 30, 13}, {400, 2, 399}, {513, 11, 20}, {700, 8, 3},
};

static void check_shape(hf_context *ctx, const char *expression, const shape *of, hfi_precision precision,
                        double tolerance)
{
    char what[96];
    hf_kernel *kernel = parse(ctx, expression, of->d);
    problem p = make_problem(of->n, of->d, of->blocks, of->n);
    (void)snprintf(what, sizeof what, "%s, %zu x %zu, %zu blocks", expression, of->n, of->d, of->blocks);
    shake(kernel, of->n);
    check_products(ctx, kernel, what, &p, precision, tolerance);
    double *theta = block_parameters(ctx, kernel, &p, precision),
           *wanted = make_zeros(hf_kernel_parameters(kernel));
    plain_parameters(ctx, kernel, &p, wanted);
    /* The sum of n^2 terms of either sign: measured with their number's root times their size. */
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++)
        assert_close(what, i, theta[i], wanted[i], tolerance * (fabs(wanted[i]) + (double)of->n));
    free(theta);
    free(wanted);
    drop_problem(&p);
    hf_kernel_free(kernel);
}

static void shapes_double(void **state)
{
    for (size_t e = 0; e < sizeof SHAPED / sizeof SHAPED[0]; e++)
        for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++)
            check_shape(*state, SHAPED[e], &SHAPES[i], HFI_DOUBLE, 1e-12);
}

static void shapes_single(void **state)
{
    for (size_t e = 0; e < sizeof SHAPED / sizeof SHAPED[0]; e++)
        for (size_t i = 0; i < sizeof SHAPES / sizeof SHAPES[0]; i++)
            check_shape(*state, SHAPED[e], &SHAPES[i], HFI_SINGLE, 1e-5);
}

/* Clusters that are at all distances from each other: near the cut beyond which covariances are 0, far beyond
 * it, and so far that squared distances overflow a float and all but overflow a double. */
static void far_points(void **state)
{
    const double reach[] = {12.0, 25.0, 34.0, 40.0, 700.0, 1e15, 1e150};
    problem p = make_problem(64, 2, 5, 77);
    for (size_t i = 0; i < p.n; i++)
        if (i % 8 > 0) p.x[i * 2] += (i % 2 ? 1.0 : -1.0) * reach[i % 8 - 1];
    for (size_t e = 0; e < sizeof SHAPED / sizeof SHAPED[0]; e++) {
        hf_kernel *kernel = parse(*state, SHAPED[e], 2);
        check_products(*state, kernel, SHAPED[e], &p, HFI_DOUBLE, 1e-12);
        check_products(*state, kernel, SHAPED[e], &p, HFI_SINGLE, 1e-5);
        double *theta = block_parameters(*state, kernel, &p, HFI_DOUBLE);
        for (size_t k = 0; k < hf_kernel_parameters(kernel); k++) assert_true(isfinite(theta[k]));
        free(theta);
        hf_kernel_free(kernel);
    }
    drop_problem(&p);
}

/* ---- finite differences --------------------------------------------------------------------------------- */

#define STEP 1e-5

static void differences_in_entries(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        problem p = make_problem(23, INPUTS, 4, e);
        double *s_bar = make_zeros(p.n);
        shake(kernel, e);
        assert_int_equal(hfi_kernel_block_adjoint(*state, kernel, p.n, p.x, p.d, p.blocks, p.first, p.s,
                                                  HFI_DOUBLE, p.b_bar, p.n, s_bar, NULL),
                         HF_OK);
        for (size_t j = 0; j < p.n; j++) {
            const double at = p.s[j];
            p.s[j] = at + STEP;
            const double above = objective(kernel, &p);
            p.s[j] = at - STEP;
            const double difference = (above - objective(kernel, &p)) / (2.0 * STEP);
            p.s[j] = at;
            assert_close(EXPRESSIONS[e], j, s_bar[j], difference, 1e-8 * (1.0 + fabs(difference)));
        }
        free(s_bar);
        drop_problem(&p);
        hf_kernel_free(kernel);
    }
}

static void differences_in_parameters(void **state)
{
    for (size_t e = 0; e < EXPRESSION_COUNT; e++) {
        hf_kernel *kernel = parse(*state, EXPRESSIONS[e], INPUTS);
        const size_t count = hf_kernel_parameters(kernel);
        problem p = make_problem(31, INPUTS, 5, e);
        double *theta = make_zeros(count), *grad = make_zeros(count);
        shake(kernel, e);
        hfi_kernel_theta(kernel, theta);
        assert_int_equal(hfi_kernel_block_adjoint(*state, kernel, p.n, p.x, p.d, p.blocks, p.first, p.s,
                                                  HFI_DOUBLE, p.b_bar, p.n, NULL, grad),
                         HF_OK);
        for (size_t i = 0; i < count; i++) {
            const double at = theta[i];
            theta[i] = at + STEP;
            hfi_kernel_set_theta(kernel, theta);
            const double above = objective(kernel, &p);
            theta[i] = at - STEP;
            hfi_kernel_set_theta(kernel, theta);
            const double difference = (above - objective(kernel, &p)) / (2.0 * STEP);
            theta[i] = at;
            hfi_kernel_set_theta(kernel, theta);
            assert_close(EXPRESSIONS[e], i, grad[i], difference, 1e-6 * (1.0 + fabs(difference)));
        }
        free(theta);
        free(grad);
        drop_problem(&p);
        hf_kernel_free(kernel);
    }
}

/* ---- dense columns -------------------------------------------------------------------------------------- */

static void check_dense(hf_context *ctx, const char *expression, size_t n, size_t d, size_t columns,
                        hfi_precision precision, double tolerance)
{
    hf_kernel *kernel = parse(ctx, expression, d);
    double *x = make_points(n, d, n), *v = make_points(n, columns, n + 1), *p = make_points(n, columns, 5);
    shake(kernel, n);
    assert_int_equal(hfi_kernel_dense_product(ctx, kernel, n, x, d, columns, v, n, precision, p, n), HF_OK);
    double *wanted = make_zeros(n * columns), *size = make_zeros(n * columns);
    for (size_t l = 0; l < n; l++) {
        for (size_t j = 0; j < n; j++) {
            const double k = hfi_kernel_value(kernel, x + l * d, x + j * d, false);
            for (size_t q = 0; q < columns; q++) {
                wanted[l + q * n] += k * v[j + q * n];
                size[l + q * n] += fabs(k * v[j + q * n]);
            }
        }
    }
    assert_all_close(expression, n * columns, p, wanted, size, tolerance);
    free(wanted);
    free(size);
    free(x);
    free(v);
    free(p);
    hf_kernel_free(kernel);
}

static void dense_columns(void **state)
{
    static const size_t rows[] = {1, 7, 65, 300}, columns[] = {1, 2, 9, 33};
    for (size_t e = 0; e < sizeof SHAPED / sizeof SHAPED[0]; e++)
        for (size_t r = 0; r < 4; r++)
            for (size_t c = 0; c < 4; c++) {
                check_dense(*state, SHAPED[e], rows[r], 1 + 7 * (c % 2), columns[c], HFI_DOUBLE, 1e-13);
                check_dense(*state, SHAPED[e], rows[r], 1 + 7 * (c % 2), columns[c], HFI_SINGLE, 1e-5);
            }
    check_dense(*state, "white", 5, 2, 3, HFI_DOUBLE, 0.0);
}

/* ---- threads, cancelling, memory ------------------------------------------------------------------------ */

typedef struct results {
    double *b, *s_bar, *theta, *p;
} results;

static results run_all(hf_context *ctx, const hf_kernel *kernel, const problem *p, hfi_precision precision)
{
    results r = {make_zeros(p->n * p->blocks), make_zeros(p->n), make_zeros(hf_kernel_parameters(kernel)),
                 make_zeros(p->n * 3)};
    assert_int_equal(hfi_kernel_block_product(ctx, kernel, p->n, p->x, p->d, p->blocks, p->first, p->s,
                                              precision, r.b, p->n),
                     HF_OK);
    assert_int_equal(hfi_kernel_block_adjoint(ctx, kernel, p->n, p->x, p->d, p->blocks, p->first, p->s,
                                              precision, p->b_bar, p->n, r.s_bar, r.theta),
                     HF_OK);
    assert_int_equal(
        hfi_kernel_dense_product(ctx, kernel, p->n, p->x, p->d, 3, p->b_bar, p->n, precision, r.p, p->n),
        HF_OK);
    return r;
}

static void drop_results(results *r)
{
    free(r->b);
    free(r->s_bar);
    free(r->theta);
    free(r->p);
}

static void check_threads(const char *expression, hfi_precision precision, size_t blocks)
{
    static const int counts[] = {1, 2, 5};
    results one = {NULL, NULL, NULL, NULL};
    problem p = make_problem(1100, 4, blocks, blocks);
    for (size_t t = 0; t < 3; t++) {
        hf_context *ctx = hf_context_create();
        assert_int_equal(hf_context_set_threads(ctx, counts[t]), HF_OK);
        hf_kernel *kernel = parse(ctx, expression, p.d);
        results r = run_all(ctx, kernel, &p, precision);
        if (t == 0) {
            one = r;
        } else {
            assert_memory_equal(r.b, one.b, p.n * p.blocks * sizeof *r.b);
            assert_memory_equal(r.s_bar, one.s_bar, p.n * sizeof *r.b);
            assert_memory_equal(r.theta, one.theta, hf_kernel_parameters(kernel) * sizeof *r.b);
            assert_memory_equal(r.p, one.p, 3 * p.n * sizeof *r.b);
            drop_results(&r);
        }
        hf_kernel_free(kernel);
        hf_context_free(ctx);
    }
    drop_results(&one);
    drop_problem(&p);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const size_t blocks[] = {3, 40, 1100};
    for (size_t i = 0; i < 3; i++) {
        check_threads("matern52(ard)", HFI_DOUBLE, blocks[i]);
        check_threads("matern52(ard)", HFI_SINGLE, blocks[i]);
        check_threads("se*periodic + linear", HFI_DOUBLE, blocks[i]);
    }
}

typedef struct countdown {
    size_t calls, refuse_at;
} countdown;

static bool count_down(const char *stage, double done, double value, void *user)
{
    countdown *state = user;
    (void)value;
    assert_string_equal(stage, "covariances");
    assert_true(done >= 0.0 && done <= 1.0);
    return ++state->calls != state->refuse_at;
}

/* Whatever was computed until then, the results that are added to are as they were. Memory is the sanitizers'
 * business. */
static void cancelled(void **state)
{
    (void)state;
    problem p = make_problem(12000, 1, 300, 1);
    double *s_bar = make_zeros(p.n), theta[2] = {0.5, 0.25};
    double *b = make_zeros(p.n * p.blocks);
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = parse(ctx, "se", 1);
    for (size_t refuse = 1; refuse <= 2; refuse++) {
        countdown down = {0, refuse};
        hf_context_set_progress(ctx, count_down, &down);
        assert_int_equal(
            hfi_kernel_block_product(ctx, kernel, p.n, p.x, 1, p.blocks, p.first, p.s, HFI_SINGLE, b, p.n),
            HF_ERR_CANCELLED);
        assert_int_equal(down.calls, refuse);
        down.calls = 0;
        assert_int_equal(hfi_kernel_block_adjoint(ctx, kernel, p.n, p.x, 1, p.blocks, p.first, p.s,
                                                  HFI_SINGLE, p.b_bar, p.n, s_bar, theta),
                         HF_ERR_CANCELLED);
        for (size_t j = 0; j < p.n; j++) assert_true(s_bar[j] == 0.0);
        assert_true(theta[0] == 0.5 && theta[1] == 0.25);
        down.calls = 0;
        assert_int_equal(hfi_kernel_dense_product(ctx, kernel, p.n, p.x, 1, 1, p.s, p.n, HFI_SINGLE, b, p.n),
                         HF_ERR_CANCELLED);
    }
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    free(b);
    free(s_bar);
    drop_problem(&p);
}

static hf_status some_calls(hf_context *ctx, const char *expression)
{
    hf_kernel *kernel = NULL;
    hf_status status = hf_kernel_parse(ctx, expression, NULL, 2, &kernel);
    if (status < 0) return status;
    problem p = make_problem(90, 2, 4, 8);
    double *b = make_zeros(p.n * p.blocks), *s_bar = make_zeros(p.n), theta[8] = {0.0};
    status = hfi_kernel_block_product(ctx, kernel, p.n, p.x, 2, p.blocks, p.first, p.s, HFI_DOUBLE, b, p.n);
    if (status >= 0)
        status = hfi_kernel_block_adjoint(ctx, kernel, p.n, p.x, 2, p.blocks, p.first, p.s, HFI_SINGLE,
                                          p.b_bar, p.n, s_bar, theta);
    if (status < 0)
        for (size_t j = 0; j < p.n; j++) assert_true(s_bar[j] == 0.0);
    if (status >= 0)
        status = hfi_kernel_dense_product(ctx, kernel, p.n, p.x, 2, 2, p.b_bar, p.n, HFI_DOUBLE, b, p.n);
    free(b);
    free(s_bar);
    drop_problem(&p);
    hf_kernel_free(kernel);
    return status;
}

static hf_status radial_calls(hf_context *ctx)
{
    return some_calls(ctx, "matern52(ard)");
}

static hf_status general_calls(hf_context *ctx)
{
    return some_calls(ctx, "se + linear");
}

static void out_of_memory(void **state)
{
    (void)state;
    failing_sweep(radial_calls);
    failing_sweep(general_calls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_kernel, make_context, drop_context),
        cmocka_unit_test_setup_teardown(every_kernel_parameters, make_context, drop_context),
        cmocka_unit_test_setup_teardown(shapes_double, make_context, drop_context),
        cmocka_unit_test_setup_teardown(shapes_single, make_context, drop_context),
        cmocka_unit_test_setup_teardown(far_points, make_context, drop_context),
        cmocka_unit_test_setup_teardown(differences_in_entries, make_context, drop_context),
        cmocka_unit_test_setup_teardown(differences_in_parameters, make_context, drop_context),
        cmocka_unit_test_setup_teardown(dense_columns, make_context, drop_context),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
