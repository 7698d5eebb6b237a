/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file enumeration.h
 * @brief All sets of a few rows with their determinants, the chain on them as a matrix, and
 * Pearson's statistic. Include after <cmocka.h>.
 */
#ifndef HF_TEST_ENUMERATION_H
#define HF_TEST_ENUMERATION_H

#include "solver/naive.h"

enum {
    MOST = 9,       /* rows of the sets that are enumerated */
    MOST_SETS = 64, /* that these have of one size */
    LONGEST = 20    /* rows of a determinant */
};

/* det K of some rows by elimination; 0 where a pivot is no more than rounding. */
static inline double determinant(const hf_kernel *kernel, size_t d, const double *x, size_t m,
                                 const size_t *rows)
{
    double k[LONGEST][LONGEST], product = 1.0;
    assert_true(m <= LONGEST);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            k[i][j] = hfi_kernel_value(kernel, x + rows[i] * d, x + rows[j] * d, false);
    for (size_t p = 0; p < m; p++) {
        if (k[p][p] < 1e-12) return 0.0;
        product *= k[p][p];
        for (size_t i = p + 1; i < m; i++)
            for (size_t j = p + 1; j < m; j++) k[i][j] -= k[i][p] * k[p][j] / k[p][p];
    }
    return product;
}

typedef struct enumeration {
    size_t n, m, sets;
    size_t members[MOST_SETS]; /* as bits */
    double det[MOST_SETS];
    double probability[MOST_SETS];
} enumeration;

static inline size_t ones(size_t bits)
{
    size_t count = 0;
    for (; bits != 0; bits &= bits - 1) count++;
    return count;
}

static inline enumeration enumerate(const hf_kernel *kernel, size_t n, const double *x, size_t m)
{
    enumeration e = {.n = n, .m = m};
    double total = 0.0;
    for (size_t bits = 0; bits < (size_t)1 << n; bits++) {
        if (ones(bits) != m) continue;
        size_t rows[MOST], at = 0;
        for (size_t i = 0; i < n; i++)
            if ((bits >> i & 1) != 0) rows[at++] = i;
        assert_true(e.sets < MOST_SETS);
        e.members[e.sets] = bits;
        e.det[e.sets] = determinant(kernel, 1, x, m, rows);
        total += e.det[e.sets++];
    }
    for (size_t s = 0; s < e.sets; s++) e.probability[s] = e.det[s] / total;
    return e;
}

static inline size_t set_of(const enumeration *e, const size_t *rows)
{
    size_t bits = 0;
    for (size_t i = 0; i < e->m; i++) bits |= (size_t)1 << rows[i];
    for (size_t s = 0; s < e->sets; s++)
        if (e->members[s] == bits) return s;
    fail_msg("these are not %zu rows of %zu", e->m, e->n);
    return 0;
}

/* probability := where one step of the chain leads from there. */
static inline void step(const enumeration *e, double *probability)
{
    double next[MOST_SETS];
    const double each = 0.5 / (double)(e->m * (e->n - e->m));
    memcpy(next, probability, e->sets * sizeof *next);
    for (size_t a = 0; a < e->sets; a++)
        for (size_t b = 0; b < e->sets; b++) {
            if (ones(e->members[a] ^ e->members[b]) != 2 || e->det[a] == 0.0) continue;
            const double moved = probability[a] * each * fmin(1.0, e->det[b] / e->det[a]);
            next[a] -= moved;
            next[b] += moved;
        }
    memcpy(probability, next, e->sets * sizeof *next);
}

/* Pearson's statistic in standard deviations above its mean; sets that are hardly ever expected
 * count as one. */
static inline double surprise(const enumeration *e, const double *probability, const size_t *counts,
                              size_t runs)
{
    double statistic = 0.0, rare = 0.0, rare_count = 0.0, classes = 0.0;
    for (size_t s = 0; s < e->sets; s++) {
        const double expected = (double)runs * probability[s];
        if (expected == 0.0) assert_int_equal(counts[s], 0);
        if (expected < 10.0) {
            rare += expected;
            rare_count += (double)counts[s];
            continue;
        }
        classes += 1.0;
        statistic += pow((double)counts[s] - expected, 2.0) / expected;
    }
    if (rare > 1.0) {
        classes += 1.0;
        statistic += pow(rare_count - rare, 2.0) / rare;
    }
    const double freedom = classes - 1.0;
    assert_true(freedom >= 1.0);
    return (statistic - freedom) / sqrt(2.0 * freedom);
}

#endif
