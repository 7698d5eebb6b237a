/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

/* Philox 4x64 written once more, from the definition (Salmon et al. 2011), without the header the library
 * uses. */
static uint64_t high_product(uint64_t a, uint64_t b)
{
    const uint64_t mask = UINT32_MAX;
    uint64_t low = (a & mask) * (b & mask), cross = (a >> 32) * (b & mask) + (low >> 32);
    uint64_t other = (a & mask) * (b >> 32) + (cross & mask);
    return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
}

static void reference_philox(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
    const uint64_t m0 = UINT64_C(0xD2E7470EE14C6C93), m1 = UINT64_C(0xCA5A826395121157);
    uint64_t k0 = key[0], k1 = key[1];
    memcpy(out, counter, 4 * sizeof *out);
    for (int round = 0; round < 10; round++) {
        uint64_t next[4] = {high_product(m1, out[2]) ^ out[1] ^ k0, m1 * out[2],
                            high_product(m0, out[0]) ^ out[3] ^ k1, m0 * out[0]};
        memcpy(out, next, sizeof next);
        k0 += UINT64_C(0x9E3779B97F4A7C15);
        k1 += UINT64_C(0xBB67AE8584CAA73B);
    }
}

/* The published known answers of philox4x64-10: counter, key, result. */
static const uint64_t KNOWN[3][10] = {
    {0, 0, 0, 0, 0, 0, UINT64_C(0x16554d9eca36314c), UINT64_C(0xdb20fe9d672d0fdc),
     UINT64_C(0xd7e772cee186176b), UINT64_C(0x7e68b68aec7ba23b)},
    {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_C(0x87b092c3013fe90b),
     UINT64_C(0x438c3c67be8d0224), UINT64_C(0x9cc7d7c69cd777b6), UINT64_C(0xa09caebf594f0ba0)},
    {UINT64_C(0x243f6a8885a308d3), UINT64_C(0x13198a2e03707344), UINT64_C(0xa4093822299f31d0),
     UINT64_C(0x082efa98ec4e6c89), UINT64_C(0x452821e638d01377), UINT64_C(0xbe5466cf34e90c6c),
     UINT64_C(0xa528f45403e61d95), UINT64_C(0x38c72dbd566e9788), UINT64_C(0xa5a1610e72fd18b5),
     UINT64_C(0x57bd43b5e52b7fe6)},
};

static void known_answers(void **state)
{
    (void)state;
    for (int test = 0; test < 3; test++) {
        hfi_stream stream;
        hfi_stream_init(&stream, 0, HFI_PURPOSE_TEST, 0);
        memcpy(stream.counter, KNOWN[test], sizeof stream.counter);
        memcpy(stream.key, KNOWN[test] + 4, sizeof stream.key);
        uint64_t reference[4];
        reference_philox(KNOWN[test], KNOWN[test] + 4, reference);
        for (int i = 0; i < 4; i++) {
            assert_true(hfi_stream_bits(&stream) == KNOWN[test][6 + i]);
            assert_true(reference[i] == KNOWN[test][6 + i]);
        }
    }
}

static void a_number_depends_on_seed_purpose_index_and_place_only(void **state)
{
    (void)state;
    const uint64_t seed = 42, index = 7;
    const uint64_t key[2] = {seed, HFI_PURPOSE_SAMPLE};
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_SAMPLE, index);
    for (uint64_t block = 0; block < 100; block++) {
        const uint64_t counter[4] = {block, index, 0, 0};
        uint64_t expected[4];
        reference_philox(counter, key, expected);
        for (int i = 0; i < 4; i++) assert_true(hfi_stream_bits(&stream) == expected[i]);
    }
}

static void streams_differ(void **state)
{
    (void)state;
    hfi_stream streams[4];
    hfi_stream_init(&streams[0], 1, HFI_PURPOSE_TEST, 0);
    hfi_stream_init(&streams[1], 2, HFI_PURPOSE_TEST, 0);
    hfi_stream_init(&streams[2], 1, HFI_PURPOSE_SPLIT, 0);
    hfi_stream_init(&streams[3], 1, HFI_PURPOSE_TEST, 1);
    for (int draw = 0; draw < 50; draw++) {
        uint64_t bits[4];
        for (int i = 0; i < 4; i++) bits[i] = hfi_stream_bits(&streams[i]);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < i; j++) assert_true(bits[i] != bits[j]);
    }
}

static void uniforms_are_uniform(void **state)
{
    (void)state;
    enum {
        COUNT = 100000,
        CELLS = 20
    };
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    double sum = 0.0, square = 0.0, lag = 0.0, last = 0.5;
    int cells[CELLS] = {0};
    for (int i = 0; i < COUNT; i++) {
        double u = hfi_stream_uniform(&stream);
        assert_true(u > 0.0 && u < 1.0);
        sum += u;
        square += u * u;
        lag += (u - 0.5) * (last - 0.5);
        last = u;
        cells[(int)(u * CELLS)]++;
    }
    /* Five standard deviations each: 0.2887, 0.298 and 1/12 over sqrt(COUNT). */
    assert_near(sum / COUNT, 0.5, 5.0 * 0.2887 / sqrt(COUNT));
    assert_near(square / COUNT, 1.0 / 3.0, 5.0 * 0.2982 / sqrt(COUNT));
    assert_near(lag / COUNT, 0.0, 5.0 / 12.0 / sqrt(COUNT));
    double chi = 0.0, expected = (double)COUNT / CELLS;
    for (int i = 0; i < CELLS; i++) chi += (cells[i] - expected) * (cells[i] - expected) / expected;
    assert_true(chi < 19.0 + 5.0 * sqrt(2.0 * 19.0));
}

/* The words that give the ends of the interval. */
static void uniforms_stay_off_the_ends(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 0, HFI_PURPOSE_TEST, 0);
    hfi_stream_bits(&stream);
    stream.block[1] = UINT64_MAX;
    double high = hfi_stream_uniform(&stream);
    assert_true(high < 1.0 && high == 1.0 - 0x1p-53);
    stream.block[2] = 0x7FF; /* all that is kept of it is zero: the next word is taken */
    stream.block[3] = UINT64_C(1) << 63;
    assert_true(hfi_stream_uniform(&stream) == 0.5);
}

static void normals_are_normal(void **state)
{
    (void)state;
    enum {
        COUNT = 100000
    };
    hfi_stream stream;
    hfi_stream_init(&stream, 6, HFI_PURPOSE_TEST, 0);
    double moment[5] = {0.0}, lag = 0.0, last = 0.0;
    int beyond = 0;
    for (int i = 0; i < COUNT; i++) {
        double z = hfi_stream_normal(&stream), power = 1.0;
        assert_true(isfinite(z));
        for (int k = 1; k <= 4; k++) moment[k] += (power *= z) / COUNT;
        beyond += fabs(z) > 1.959963984540054;
        lag += z * last / COUNT;
        last = z;
    }
    /* Five standard deviations of the k-th sample moment. */
    assert_near(moment[1], 0.0, 5.0 * 1.0 / sqrt(COUNT));
    assert_near(moment[2], 1.0, 5.0 * sqrt(2.0 / COUNT));
    assert_near(moment[3], 0.0, 5.0 * sqrt(15.0 / COUNT));
    assert_near(moment[4], 3.0, 5.0 * sqrt(96.0 / COUNT));
    assert_near(lag, 0.0, 5.0 / sqrt(COUNT));
    assert_near((double)beyond / COUNT, 0.05, 5.0 * sqrt(0.05 * 0.95 / COUNT));
}

static void below_is_unbiased(void **state)
{
    (void)state;
    enum {
        COUNT = 60000
    };
    hfi_stream stream;
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 0);
    for (size_t bound = 1; bound <= 12; bound++) {
        int cells[12] = {0};
        for (int i = 0; i < COUNT; i++) {
            size_t value = hfi_stream_below(&stream, bound);
            assert_true(value < bound);
            cells[value]++;
        }
        double p = 1.0 / (double)bound;
        for (size_t v = 0; v < bound; v++)
            assert_near((double)cells[v] / COUNT, p, 5.0 * sqrt(p * (1.0 - p) / COUNT) + 1e-15);
    }
}

/* With a bound of 3/4 of the range, a plain remainder would favour the lowest third: 1/2 instead of 1/3. */
static void below_is_unbiased_for_huge_bounds(void **state)
{
    (void)state;
    enum {
        COUNT = 20000
    };
    const size_t bound = SIZE_MAX / 4 * 3;
    hfi_stream stream;
    hfi_stream_init(&stream, 8, HFI_PURPOSE_TEST, 0);
    int low = 0;
    for (int i = 0; i < COUNT; i++) {
        size_t value = hfi_stream_below(&stream, bound);
        assert_true(value < bound);
        low += value < bound / 3;
    }
    assert_near((double)low / COUNT, 1.0 / 3.0, 5.0 * sqrt(2.0 / 9.0 / COUNT));
}

static void shuffles_are_fair_permutations(void **state)
{
    (void)state;
    enum {
        ITEMS = 4,
        COUNT = 24000
    };
    int places[ITEMS][ITEMS] = {{0}};
    for (uint64_t s = 0; s < COUNT; s++) {
        hfi_stream stream;
        hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, s);
        size_t items[ITEMS] = {0, 1, 2, 3}, seen = 0;
        hfi_stream_shuffle(&stream, items, ITEMS);
        for (size_t i = 0; i < ITEMS; i++) {
            seen |= (size_t)1 << items[i];
            places[i][items[i]]++;
        }
        assert_true(seen == 0xF);
    }
    for (int i = 0; i < ITEMS; i++)
        for (int j = 0; j < ITEMS; j++)
            assert_near((double)places[i][j] / COUNT, 0.25, 5.0 * sqrt(0.1875 / COUNT));
    hfi_stream stream;
    hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, 0);
    size_t one = 5;
    hfi_stream_shuffle(&stream, NULL, 0);
    hfi_stream_shuffle(&stream, &one, 1);
    assert_true(one == 5);
}

/* Mean, variance and third central moment of what a draw gives, in their own sampling errors. */
static void moments(double (*draw_one)(hfi_stream *, double), double parameter, double mean, double variance,
                    double skew, double fourth)
{
    enum {
        DRAWS = 40000
    };
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 0);
    double first = 0.0, second = 0.0, third = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        const double u = draw_one(&stream, parameter) - mean;
        first += u / DRAWS;
        second += u * u / DRAWS;
        third += u * u * u / DRAWS;
    }
    assert_near(first, 0.0, 4.5 * sqrt(variance / DRAWS));
    assert_near(second, variance, 4.5 * sqrt((fourth - variance * variance) / DRAWS));
    assert_near(third, skew, 0.15 * (skew + variance * sqrt(variance)));
}

static void gammas_and_poissons_have_their_moments(void **state)
{
    (void)state;
    const double shapes[] = {0.5, 1.0, 2.5, 40.0}, means[] = {0.0, 0.3, 4.0, 9.99, 10.0, 37.5, 2000.0};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const double a = shapes[i];
        moments(hfi_stream_gamma, a, a, a, 2.0 * a, 3.0 * a * a + 6.0 * a);
    }
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        const double a = means[i];
        moments(hfi_stream_poisson, a, a, a, a, 3.0 * a * a + a);
    }
}

/* The whole distribution where one algorithm takes over from the other. */
static void poisson_probabilities(void **state)
{
    (void)state;
    enum {
        DRAWS = 40000,
        CELLS = 30
    };
    hfi_stream stream;
    hfi_stream_init(&stream, 12, HFI_PURPOSE_TEST, 0);
    double seen[CELLS] = {0.0}, probability = exp(-12.0);
    for (int i = 0; i < DRAWS; i++) {
        const double k = hfi_stream_poisson(&stream, 12.0);
        assert_true(k >= 0.0 && k == floor(k));
        if (k < CELLS) seen[(size_t)k] += 1.0 / DRAWS;
    }
    for (int k = 0; k < CELLS; k++) {
        assert_near(seen[k], probability, 4.5 * sqrt(probability / DRAWS) + 1e-4);
        probability *= 12.0 / (k + 1);
    }
}

typedef struct draws {
    double value[64];
} draws;

static void draw(size_t index, int thread, void *arg)
{
    (void)thread;
    hfi_stream stream;
    hfi_stream_init(&stream, 10, HFI_PURPOSE_RESTART, index);
    double sum = 0.0;
    for (int i = 0; i < 100; i++) sum += hfi_stream_normal(&stream);
    ((draws *)arg)->value[index] = sum;
}

static void threads_do_not_change_a_draw(void **state)
{
    (void)state;
    draws one, four;
    hf_context *ctx = hf_context_create();
    assert_int_equal(hf_context_set_threads(ctx, 1), HF_OK);
    hfi_parallel_for(ctx, 64, draw, &one);
    assert_int_equal(hf_context_set_threads(ctx, 4), HF_OK);
    hfi_parallel_for(ctx, 64, draw, &four);
    assert_memory_equal(&one, &four, sizeof one);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(a_number_depends_on_seed_purpose_index_and_place_only),
        cmocka_unit_test(streams_differ),
        cmocka_unit_test(uniforms_are_uniform),
        cmocka_unit_test(uniforms_stay_off_the_ends),
        cmocka_unit_test(normals_are_normal),
        cmocka_unit_test(below_is_unbiased),
        cmocka_unit_test(below_is_unbiased_for_huge_bounds),
        cmocka_unit_test(shuffles_are_fair_permutations),
        cmocka_unit_test(gammas_and_poissons_have_their_moments),
        cmocka_unit_test(poisson_probabilities),
        cmocka_unit_test(threads_do_not_change_a_draw),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
