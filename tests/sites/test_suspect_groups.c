/* SPDX-License-Identifier: Apache-2.0 */
#include "sites/sites.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "mean/failing_allocator.h"

enum {
    N = 200,
    D = 2,
    LDX = 3,
    EVERY_GROUP = 3
};

static int setup(void **state)
{
    *state = hf_context_create();
    return *state == NULL;
}

static int teardown(void **state)
{
    hf_context_free(*state);
    return 0;
}

/* A jittered grid, so that no two rows are close by chance; then clusters of sizes[c] rows each, c-th at
 * every (c + 2)-th row from row c on. */
static void make_rows(double *x, size_t n)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 21, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < n; i++) {
        x[i * LDX] = (double)(i % 20) + 0.2 * hfi_stream_uniform(&stream);
        x[i * LDX + 1] = (double)(i / 20) + 0.2 * hfi_stream_uniform(&stream);
        x[i * LDX + 2] = NAN;
    }
}

/* Moves rows first, first + 1, ... to a place of their own, closer together than anything else. */
static void plant(double *x, size_t first, size_t size, double place)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 22, HFI_PURPOSE_TEST, first);
    for (size_t i = first; i < first + size; i++)
        for (size_t k = 0; k < D; k++) x[i * LDX + k] = place + 0.05 * hfi_stream_uniform(&stream);
}

static void find(hf_context *ctx, size_t n, const double *x, size_t most, size_t *group, size_t *count)
{
    assert_int_equal(hfi_suspect_groups(ctx, n, D, x, LDX, most, group, count), HF_OK);
}

/* Labels by the definition: distances, median of the nearest, closure of "closer than 0.35 of it". */
static size_t slow_component(const double *x, size_t n, size_t seed, bool *member)
{
    double nearest[N], distance[N][N];
    for (size_t i = 0; i < n; i++) {
        nearest[i] = INFINITY;
        for (size_t j = 0; j < n; j++) {
            distance[i][j] = hypot(x[i * LDX] - x[j * LDX], x[i * LDX + 1] - x[j * LDX + 1]);
            if (j != i) nearest[i] = fmin(nearest[i], distance[i][j]);
        }
    }
    double h = 0.35 * hfi_median(nearest, n);
    for (size_t i = 0; i < n; i++) member[i] = i == seed;
    size_t size = 1;
    for (bool grown = true; grown;) {
        grown = false;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                if (member[i] && !member[j] && distance[i][j] < h) {
                    member[j] = grown = true;
                    size++;
                }
    }
    return size;
}

static void a_planted_cluster_is_found(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX];
    size_t group[N], count = 99;
    make_rows(x, N);
    plant(x, 30, 12, 7.5);
    find(ctx, N, x, 3, group, &count);
    assert_int_equal(count, 1);
    for (size_t i = 0; i < N; i++) assert_int_equal(group[i], i >= 30 && i < 42 ? 1 : 0);
}

static void random_rows_hardly_have_groups(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX];
    size_t group[N], count = 99, groups = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        hfi_stream stream;
        hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 3);
        for (size_t i = 0; i < (size_t)N * LDX; i++) x[i] = hfi_stream_uniform(&stream);
        assert_int_equal(hfi_suspect_groups(ctx, N, LDX, x, LDX, 3, group, &count), HF_OK);
        assert_int_equal(count, 0); /* in three dimensions none */
        find(ctx, N, x, 3, group, &count);
        groups += count; /* in two, four rows meet by chance now and then, but no more than that */
        size_t members = 0;
        for (size_t i = 0; i < N; i++) members += group[i] > 0;
        assert_true(members <= 5 * count);
    }
    assert_true(groups <= 3);
}

static void groups_are_components_of_the_graph(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX];
    size_t group[N], count = 0;
    bool member[N];
    hfi_stream stream;
    hfi_stream_init(&stream, 23, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N; i++) { /* chains: neighbours in a chain touch, their ends are far apart */
        x[i * LDX] =
            i < 90 ? 0.01 * (double)(i % 30) + 5.0 * (double)(i / 30) : 40.0 * hfi_stream_uniform(&stream);
        x[i * LDX + 1] = i < 90 ? 50.0 : 40.0 * hfi_stream_uniform(&stream);
        x[i * LDX + 2] = NAN;
    }
    find(ctx, N, x, 10, group, &count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < N; i++) {
        size_t size = slow_component(x, N, i, member);
        assert_true((group[i] > 0) == (size >= 4 && size <= 2 * N / 5));
        for (size_t j = 0; group[i] > 0 && j < N; j++) assert_true((group[j] == group[i]) == member[j]);
    }
}

static void sizes_have_limits(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX];
    size_t group[N], count = 99;
    const size_t sizes[] = {3, 4, 80, 81}, found[] = {0, 1, 1, 0}; /* of 200: 4 to 80 */
    for (size_t k = 0; k < 4; k++) {
        make_rows(x, N);
        plant(x, 0, sizes[k], -7.0);
        find(ctx, N, x, 3, group, &count);
        assert_int_equal(count, found[k]);
    }
    const size_t small[] = {10, 11}, small_found[] = {1, 1}; /* four of ten are just allowed */
    for (size_t k = 0; k < 2; k++) {
        make_rows(x, N);
        plant(x, 0, 4, -7.0);
        find(ctx, small[k], x, 3, group, &count);
        assert_int_equal(count, small_found[k]);
    }
    make_rows(x, N);
    plant(x, 0, 4, -7.0);
    find(ctx, 9, x, 3, group, &count); /* four of nine are not */
    assert_int_equal(count, 0);
}

static void the_largest_come_first(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX];
    size_t group[N], count = 0;
    const size_t first[EVERY_GROUP] = {10, 60, 120}, size[EVERY_GROUP] = {6, 14, 6};
    make_rows(x, N);
    for (size_t g = 0; g < EVERY_GROUP; g++) plant(x, first[g], size[g], -5.0 - 5.0 * (double)g);
    const size_t expected[EVERY_GROUP] = {2, 1, 3}; /* of equal ones the one with the first row */
    for (size_t most = 0; most <= 4; most++) {
        find(ctx, N, x, most, group, &count);
        assert_int_equal(count, most < EVERY_GROUP ? most : EVERY_GROUP);
        for (size_t g = 0; g < EVERY_GROUP; g++)
            for (size_t i = first[g]; i < first[g] + size[g]; i++)
                assert_int_equal(group[i], expected[g] <= most ? expected[g] : 0);
    }
}

static void duplicates_and_few_rows_are_fine(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX] = {0.0};
    size_t group[N], count = 99;
    find(ctx, N, x, 3, group, &count); /* all rows the same: no distance to compare with */
    assert_int_equal(count, 0);
    make_rows(x, N);
    for (size_t i = 50; i < 60; i++) memcpy(x + i * LDX, x + 50 * LDX, LDX * sizeof *x); /* exact copies */
    find(ctx, N, x, 3, group, &count);
    assert_int_equal(count, 1);
    for (size_t i = 0; i < N; i++) assert_int_equal(group[i], i >= 50 && i < 60 ? 1 : 0);
    for (size_t n = 0; n < 10; n++) {
        count = 99;
        find(ctx, n, x, 3, group, &count);
        assert_int_equal(count, 0);
    }
}

static void order_units_and_threads_do_not_matter(void **state)
{
    hf_context *ctx = *state;
    double x[N * LDX], mixed[N * LDX];
    size_t group[N], group_mixed[N], order[N], count = 0, count_mixed = 0;
    hfi_stream stream;
    make_rows(x, N);
    plant(x, 20, 9, -3.0);
    plant(x, 100, 13, -9.0);
    hfi_stream_init(&stream, 24, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N; i++) order[i] = i;
    hfi_stream_shuffle(&stream, order, N);
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < LDX; k++) mixed[i * LDX + k] = ldexp(x[order[i] * LDX + k], 900);
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    find(ctx, N, x, 3, group, &count);
    assert_int_equal(hf_context_set_threads(ctx, 3), HF_OK);
    find(ctx, N, mixed, 3, group_mixed, &count_mixed);
    assert_int_equal(count, 2);
    assert_int_equal(count_mixed, 2);
    for (size_t i = 0; i < N; i++) assert_int_equal(group_mixed[i], group[order[i]]);
}

static hf_status every_allocation(hf_context *ctx)
{
    double x[N * LDX];
    size_t group[N], count = 99;
    make_rows(x, N);
    return hfi_suspect_groups(ctx, N, D, x, LDX, 3, group, &count);
}

static void survives_every_failing_allocation(void **state)
{
    (void)state;
    failing_sweep(every_allocation);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_planted_cluster_is_found),
        cmocka_unit_test(random_rows_hardly_have_groups),
        cmocka_unit_test(groups_are_components_of_the_graph),
        cmocka_unit_test(sizes_have_limits),
        cmocka_unit_test(the_largest_come_first),
        cmocka_unit_test(duplicates_and_few_rows_are_fine),
        cmocka_unit_test(order_units_and_threads_do_not_matter),
        cmocka_unit_test(survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
