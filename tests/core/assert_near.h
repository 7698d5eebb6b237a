/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file assert_near.h
 * @brief Compares doubles in tests: cmocka's own assertion compares floats. Include after
 * <cmocka.h>.
 */
#ifndef HF_TEST_ASSERT_NEAR_H
#define HF_TEST_ASSERT_NEAR_H

#include <math.h>

static inline void hf_test_assert_near(double actual, double expected, double tolerance,
                                       const char *file, int line)
{
    if (fabs(actual - expected) <= tolerance) return; /* false when anything is NaN */
    print_error("%.17g is not within %g of %.17g (off by %g)\n", actual, tolerance, expected,
                fabs(actual - expected));
    _fail(file, line);
}

/** |actual - expected| <= tolerance; NaN fails. */
#define assert_near(actual, expected, tolerance)                                                   \
    hf_test_assert_near((actual), (expected), (tolerance), __FILE__, __LINE__)

#endif
