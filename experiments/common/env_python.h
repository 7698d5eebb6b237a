/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file env_python.h
 * @brief Random numbers as Python's `random` module draws them, so that data of published Python
 * programs can be made again.
 *
 * The generator is the Mersenne Twister MT19937 (Matsumoto, Nishimura, ACM TOMACS 8, 1998), seeded
 * by its array method from one number as random.seed(n) does; normals are by Kinderman and
 * Monahan's ratio of uniforms (ACM TOMS 3, 1977), as in random.normalvariate().
 */
#ifndef EXPERIMENTS_ENV_PYTHON_H
#define EXPERIMENTS_ENV_PYTHON_H

#include <stddef.h>
#include <stdint.h>

enum {
    PY_WORDS = 624
};

typedef struct py_random {
    uint32_t state[PY_WORDS];
    size_t next;
} py_random;

/** random.seed(seed), seed >= 0 and below 2^32. */
void py_seed(py_random *r, uint32_t seed);
/** random.random(): in [0, 1), 53 bits. */
double py_uniform(py_random *r);
/** random.uniform(a, b). */
double py_between(py_random *r, double a, double b);
/** random.normalvariate(mean, sd). */
double py_normal(py_random *r, double mean, double sd);

#endif
