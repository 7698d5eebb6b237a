/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes and candidates: what is refused, what is inside, and how evenly they are filled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "optimise/optimise.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(size_t count)
{
    double *block = calloc(count, sizeof *block);
    assert_non_null(block);
    return block;
}

/* ---- checks -------------------------------------------------------------------------------------------- */

static void refused(hf_context *ctx, hf_domain domain, hf_status expected, const char *word)
{
    assert_int_equal(hf_domain_check(ctx, &domain), expected);
    if (strstr(hf_context_message(ctx), word) == NULL)
        fail_msg("'%s' does not say '%s'", hf_context_message(ctx), word);
}

static void bad_domains_are_refused_with_the_place(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const double lower[] = {0.0, 1.0, -2.0}, upper[] = {1.0, 1.0, 3.0}, below[] = {1.0, 0.5, 3.0};
    const double open[] = {1.0, INFINITY, 3.0}, none[] = {NAN, 1.0, 3.0};
    const double far[] = {0.0, 1.0, -1e308}, away[] = {1.0, 1.0, 1e308};
    const double points[] = {1.0, 2.0, 3.0, 4.0, 5.0, INFINITY};
    const hf_domain box = {.dimension = 3, .lower = lower, .upper = upper};
    const hf_domain list = {.dimension = 3, .candidates = 2, .points = points};
    hf_domain d;
    assert_int_equal(hf_domain_check(ctx, &box), HF_OK);
    assert_int_equal(hf_domain_check(ctx, NULL), HF_ERR_ARGUMENT);
    d = box, d.dimension = 0, refused(ctx, d, HF_ERR_ARGUMENT, "no inputs");
    d = box, d.lower = NULL, refused(ctx, d, HF_ERR_ARGUMENT, "bounds");
    d = box, d.upper = NULL, refused(ctx, d, HF_ERR_ARGUMENT, "bounds");
    d = box, d.upper = below, refused(ctx, d, HF_ERR_ARGUMENT, "input 1 ");
    d = box, d.upper = open, refused(ctx, d, HF_ERR_NOT_FINITE, "input 1 ");
    d = box, d.lower = none, refused(ctx, d, HF_ERR_NOT_FINITE, "input 0 ");
    d = box, d.lower = far, d.upper = away, refused(ctx, d, HF_ERR_ARGUMENT, "input 2 ");
    refused(ctx, list, HF_ERR_NOT_FINITE, "input 2 of candidate 1 ");
    d = list, d.candidates = 1, assert_int_equal(hf_domain_check(ctx, &d), HF_OK);
    d = list, d.points = NULL, refused(ctx, d, HF_ERR_ARGUMENT, "NULL");
    d = list, d.candidates = SIZE_MAX / 2, refused(ctx, d, HF_ERR_ARGUMENT, "more than there can be");
    hf_context_free(ctx);
}

static void a_box_has_its_faces_and_no_more(void **state)
{
    (void)state;
    const double lower[] = {-1.0, 2.0}, upper[] = {1.0, 2.0};
    const hf_domain box = {.dimension = 2, .lower = lower, .upper = upper};
    const double in[][2] = {{-1.0, 2.0}, {1.0, 2.0}, {0.3, 2.0}};
    const double out[][2] = {{nextafter(-1.0, -2.0), 2.0},
                             {nextafter(1.0, 2.0), 2.0},
                             {0.0, nextafter(2.0, 3.0)},
                             {0.0, nextafter(2.0, 1.0)},
                             {NAN, 2.0},
                             {0.0, NAN}};
    for (size_t k = 0; k < sizeof in / sizeof *in; k++) {
        size_t index = 7;
        assert_true(hf_domain_contains(&box, in[k], &index));
        assert_int_equal(index, 0);
        assert_true(hf_domain_contains(&box, in[k], NULL));
    }
    for (size_t k = 0; k < sizeof out / sizeof *out; k++)
        assert_false(hf_domain_contains(&box, out[k], NULL));
}

static void candidates_are_known_exactly(void **state)
{
    (void)state;
    const double points[] = {1.0, 2.0, 0.0, 3.0, 1.0, 2.0, -0.5, 0.1};
    const hf_domain list = {.dimension = 2, .candidates = 4, .points = points};
    const double twice[] = {1.0, 2.0}, zero[] = {-0.0, 3.0}, last[] = {-0.5, 0.1};
    const double near[] = {-0.5, nextafter(0.1, 1.0)}, mixed[] = {1.0, 3.0}, none[] = {NAN, 2.0};
    size_t index = 9;
    assert_true(hf_domain_contains(&list, twice, &index));
    assert_int_equal(index, 0);
    assert_true(hf_domain_contains(&list, zero, &index));
    assert_int_equal(index, 1);
    assert_true(hf_domain_contains(&list, last, &index));
    assert_int_equal(index, 3);
    assert_true(hf_domain_contains(&list, last, NULL));
    index = 9;
    assert_false(hf_domain_contains(&list, near, &index));
    assert_false(hf_domain_contains(&list, mixed, &index));
    assert_false(hf_domain_contains(&list, none, &index));
    assert_int_equal(index, 9);
}

/* ---- filling ------------------------------------------------------------------------------------------- */

/* The root by bisection, in more digits than the library has. */
static long double ratio(size_t d)
{
    long double low = 1.0L, high = 2.0L;
    for (int k = 0; k < 70; k++) {
        const long double p = 0.5L * (low + high);
        if (powl(p, (long double)(d + 1)) > p + 1.0L)
            high = p;
        else
            low = p;
    }
    return 0.5L * (low + high);
}

static void the_sequence_is_the_formula(void **state)
{
    (void)state;
    const size_t dimensions[] = {1, 2, 3, 7, 40}, firsts[] = {0, 5, 1000, 123456789};
    for (size_t c = 0; c < sizeof dimensions / sizeof *dimensions; c++) {
        const size_t d = dimensions[c];
        double *lower = doubles(d), *upper = doubles(d), *x = doubles(50 * d);
        for (size_t j = 0; j < d; j++) lower[j] = -3.0 + (double)j, upper[j] = lower[j] + 2.5;
        const hf_domain box = {.dimension = d, .lower = lower, .upper = upper};
        for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++) {
            hf_domain_quasirandom(&box, firsts[f], 50, x);
            for (size_t i = 0; i < 50; i++)
                for (size_t j = 0; j < d; j++) {
                    const long double at =
                        0.5L + (long double)(firsts[f] + i + 1) * powl(ratio(d), -(long double)(j + 1));
                    const double share = (x[i * d + j] - lower[j]) / 2.5;
                    const double off = fabs(share - (double)(at - floorl(at)));
                    assert_true(fmin(off, 1.0 - off) < 1e-14 * (double)(100 + firsts[f] + i));
                    assert_true(x[i * d + j] > lower[j] && x[i * d + j] < upper[j]);
                }
        }
        free(lower), free(upper), free(x);
    }
}

static void a_stretch_is_the_same_however_it_is_asked_for(void **state)
{
    (void)state;
    const double lower[] = {-1.0, 4.0, 0.0}, upper[] = {1.0, 4.0, 1e-3};
    const double flat_lower[] = {-1.0, 0.0}, flat_upper[] = {1.0, 1e-3};
    const hf_domain box = {.dimension = 3, .lower = lower, .upper = upper};
    const hf_domain flat = {.dimension = 2, .lower = flat_lower, .upper = flat_upper};
    double all[30], part[9], two[20];
    hf_domain_quasirandom(&box, 3, 10, all);
    hf_domain_quasirandom(&box, 7, 3, part);
    assert_memory_equal(part, all + 12, sizeof part);
    /* An input that is fixed stays, and the others are filled as if it were not there. */
    hf_domain_quasirandom(&flat, 3, 10, two);
    for (size_t i = 0; i < 10; i++) {
        assert_true(all[3 * i + 1] == 4.0);
        assert_true(all[3 * i] == two[2 * i] && all[3 * i + 2] == two[2 * i + 1]);
    }
    const hf_domain point = {.dimension = 2, .lower = lower, .upper = lower};
    hf_domain_quasirandom(&point, 0, 2, two);
    assert_true(two[0] == -1.0 && two[1] == 4.0 && two[2] == -1.0 && two[3] == 4.0);
}

static void candidates_are_taken_evenly(void **state)
{
    (void)state;
    enum {
        N = 20
    };
    double points[N], x[5 * N];
    for (size_t i = 0; i < N; i++) points[i] = 100.0 + (double)i;
    const hf_domain list = {.dimension = 1, .candidates = N, .points = points};
    size_t taken[N] = {0};
    hf_domain_quasirandom(&list, 2, sizeof x / sizeof *x, x);
    for (size_t k = 0; k < sizeof x / sizeof *x; k++) {
        size_t index;
        assert_true(hf_domain_contains(&list, x + k, &index));
        taken[index]++;
    }
    for (size_t i = 0; i < N; i++) assert_true(taken[i] >= 4 && taken[i] <= 6);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Star discrepancy of points in [0, 1], from the order statistics (Niederreiter 1992, theorem 2.6). Sorts. */
static double star_discrepancy(size_t n, double *x)
{
    double most = 0.0;
    qsort(x, n, sizeof *x, ascending);
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(x[i] - ((double)i + 0.5) / (double)n));
    return most + 0.5 / (double)n;
}

static void random_points(size_t count, double *x)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 12);
    for (size_t k = 0; k < count; k++) x[k] = hfi_stream_uniform(&stream);
}

/* For multiples of the golden ratio N D* is at most 3 + (1 / log phi + 1 / log 2) log N (Kuipers and
 * Niederreiter 1974, theorem 3.4 of chapter 2), wherever the stretch begins; and what is known of random
 * points is much worse. */
static void one_dimension_is_filled_as_the_theorem_says(void **state)
{
    (void)state;
    const double lower = 0.0, upper = 1.0, golden = 0.5 * (1.0 + sqrt(5.0));
    const hf_domain box = {.dimension = 1, .lower = &lower, .upper = &upper};
    double x[4096];
    for (size_t n = 2; n <= 4096; n = n * 3 / 2 + 1)
        for (size_t first = 0; first < 5000; first += 1234) {
            hf_domain_quasirandom(&box, first, n, x);
            const double bound = 3.0 + (1.0 / log(golden) + 1.0 / log(2.0)) * log((double)n);
            assert_true((double)n * star_discrepancy(n, x) <= bound);
        }
    hf_domain_quasirandom(&box, 0, 4096, x);
    const double ours = star_discrepancy(4096, x);
    random_points(4096, x);
    assert_true(ours < 0.1 * star_discrepancy(4096, x));
}

/* The largest distance of a place in the unit square from the nearest point, over a grid of places. */
static double dispersion(size_t n, const double *x)
{
    enum {
        SIDE = 64
    };
    double most = 0.0;
    for (int a = 0; a < SIDE; a++)
        for (int b = 0; b < SIDE; b++) {
            const double u = (a + 0.5) / SIDE, v = (b + 0.5) / SIDE;
            double nearest = INFINITY;
            for (size_t i = 0; i < n; i++) nearest = fmin(nearest, hypot(x[2 * i] - u, x[2 * i + 1] - v));
            most = fmax(most, nearest);
        }
    return most;
}

static void two_dimensions_have_no_large_holes(void **state)
{
    (void)state;
    const double lower[] = {0.0, 0.0}, upper[] = {1.0, 1.0};
    const hf_domain box = {.dimension = 2, .lower = lower, .upper = upper};
    double x[512];
    for (size_t n = 64; n <= 256; n *= 2) {
        random_points(2 * n, x);
        const double random = dispersion(n, x);
        hf_domain_quasirandom(&box, 11, n, x);
        const double ours = dispersion(n, x);
        assert_true(ours < 0.8 * random);
        assert_true(ours < 2.0 * sqrt(0.5 / (double)n)); /* twice that of a square grid of so many */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_domains_are_refused_with_the_place),
        cmocka_unit_test(a_box_has_its_faces_and_no_more),
        cmocka_unit_test(candidates_are_known_exactly),
        cmocka_unit_test(the_sequence_is_the_formula),
        cmocka_unit_test(a_stretch_is_the_same_however_it_is_asked_for),
        cmocka_unit_test(candidates_are_taken_evenly),
        cmocka_unit_test(one_dimension_is_filled_as_the_theorem_says),
        cmocka_unit_test(two_dimensions_have_no_large_holes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
