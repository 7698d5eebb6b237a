/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "linalg/matrices.h"

#include <holdfast/version.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));

static void it_says_what_it_is(void **state)
{
    (void)state;
    const char *description = hf_blas_description();
    assert_non_null(description);
    assert_true(strlen(description) > 3);
    if (strstr(description, "reference") != NULL) assert_true(hf_blas_is_slow());
    if (strstr(description, "MAX_THREADS") != NULL) assert_false(hf_blas_is_slow());
}

enum {
    ORDER = 24,
    TASKS = 64,
    ROUNDS = 100
};

typedef struct storm {
    const double *a; /* symmetric */
    const double *l; /* its factor */
    const double *product;
    const double *solved;
    int wrong;
} storm;

/* Many small calls at the same moment: an unguarded library without locks gets some of them wrong. */
static void call_often(size_t index, int thread, void *arg)
{
    (void)index;
    (void)thread;
    storm *s = arg;
    double c[ORDER * ORDER];
    bool wrong = false;
    for (int round = 0; round < ROUNDS; round++) {
        memset(c, 0, sizeof c);
        hfi_gemm_tn(ORDER, ORDER, ORDER, 1.0, s->a, ORDER, s->a, ORDER, 0.0, c, ORDER);
        wrong = wrong || memcmp(c, s->product, sizeof c) != 0;
        memcpy(c, s->a, sizeof c);
        hfi_chol_forward_block(ORDER, ORDER, s->l, ORDER, c, ORDER);
        wrong = wrong || memcmp(c, s->solved, sizeof c) != 0;
    }
    if (wrong) __atomic_store_n(&s->wrong, 1, __ATOMIC_RELAXED);
}

static void calls_from_many_threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    hf_context *ctx = test_context(4);
    double *a = test_covariance(ORDER, 0.1, 1), *l = test_lower(ORDER, a, ORDER);
    double *product = test_vector(ORDER * ORDER), *solved = test_vector(ORDER * ORDER);
    assert_int_equal(hfi_chol(ctx, ORDER, l, ORDER), HF_OK);
    memset(product, 0, ORDER * ORDER * sizeof *product);
    hfi_gemm_tn(ORDER, ORDER, ORDER, 1.0, a, ORDER, a, ORDER, 0.0, product, ORDER);
    memcpy(solved, a, ORDER * ORDER * sizeof *solved);
    hfi_chol_forward_block(ORDER, ORDER, l, ORDER, solved, ORDER);
    storm s = {.a = a, .l = l, .product = product, .solved = solved};
    hfi_parallel_for(ctx, TASKS, call_often, &s);
    assert_int_equal(s.wrong, 0);
    free(solved);
    free(product);
    free(l);
    free(a);
    hf_context_free(ctx);
}

static void the_host_keeps_its_number_of_blas_threads(void **state)
{
    (void)state;
    if (openblas_get_num_threads == NULL || openblas_set_num_threads == NULL) skip();
    openblas_set_num_threads(3);
    int before = openblas_get_num_threads();
    hf_context *ctx = test_context(2);
    double *a = test_covariance(500, 0.1, 2), *l = test_lower(500, a, 500);
    assert_int_equal(hfi_chol(ctx, 500, l, 500), HF_OK);
    assert_int_equal(openblas_get_num_threads(), before);
    hfi_chol_inverse(ctx, 500, l, 500);
    assert_int_equal(openblas_get_num_threads(), before);
    hfi_chol_forward(500, a, 500, l);
    assert_int_equal(openblas_get_num_threads(), before);
    openblas_set_num_threads(1);
    free(l);
    free(a);
    hf_context_free(ctx);
}

/* The host's number of BLAS threads does not change a digit of ours. */
static void the_number_of_blas_threads_changes_nothing(void **state)
{
    (void)state;
    if (openblas_set_num_threads == NULL) skip();
    const size_t n = 400;
    hf_context *ctx = test_context(2);
    double *a = test_covariance(n, 0.1, 2), *first = NULL;
    for (int threads = 1; threads <= 4; threads++) {
        openblas_set_num_threads(threads);
        double *l = test_vector((n + 1) * n), *last = l + n * n;
        memcpy(l, a, n * n * sizeof *l);
        assert_int_equal(hfi_chol(ctx, n, l, n), HF_OK);
        hfi_symv(n, a, n, a, last);
        hfi_chol_solve(n, l, n, last);
        hfi_gemv(n, n, 0.5, a, n, last, 0.0, l + n * (n - 1));
        if (first == NULL) {
            first = l;
        } else {
            assert_memory_equal(first, l, (n + 1) * n * sizeof *l);
            free(l);
        }
    }
    openblas_set_num_threads(1);
    free(first);
    free(a);
    hf_context_free(ctx);
}

/* With no address space left but for a little; the exit status says what came of it. */
static int reserve_without_room(void)
{
    const struct rlimit none = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    hf_context *ctx = hf_context_create();
    if (ctx == NULL || hf_context_set_threads(ctx, 64) < 0 || setrlimit(RLIMIT_AS, &none) != 0) return 1;
    const hf_status status = hfi_blas_reserve(ctx);
    const bool told = strstr(hf_context_message(ctx), "address space for each of 64 threads") != NULL;
    return status == HF_ERR_MEMORY && told ? 0 : 2;
}

static void what_there_is_no_room_for_is_refused(void **state)
{
    (void)state;
    if (openblas_get_num_threads == NULL || strstr(hf_blas_description(), "MAX_THREADS") == NULL)
        skip(); /* others keep no buffers, or one */
    int status = 0;
    const pid_t child = fork();
    if (child == 0) _exit(reserve_without_room());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);

    hf_context *ctx = hf_context_create();
    assert_int_equal(hfi_blas_reserve(ctx), HF_OK);
    assert_int_equal(hfi_blas_reserve(ctx), HF_OK);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_what_it_is),
        cmocka_unit_test(what_there_is_no_room_for_is_refused), /* before any thread is made */
        cmocka_unit_test(calls_from_many_threads_do_not_disturb_each_other),
        cmocka_unit_test(the_host_keeps_its_number_of_blas_threads),
        cmocka_unit_test(the_number_of_blas_threads_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
