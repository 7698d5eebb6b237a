/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_python.h"

#include <math.h>
#include <stdbool.h>

enum {
    MIDDLE = 397
};

static uint32_t twist(uint32_t high, uint32_t low)
{
    const uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (mixed >> 1) ^ ((low & 1u) ? 0x9908b0dfu : 0u);
}

static uint32_t next_word(py_random *r)
{
    if (r->next == PY_WORDS) {
        uint32_t *s = r->state;
        for (size_t i = 0; i < PY_WORDS; ++i)
            s[i] = s[(i + MIDDLE) % PY_WORDS] ^ twist(s[i], s[(i + 1) % PY_WORDS]);
        r->next = 0;
    }
    uint32_t y = r->state[r->next++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

void py_seed(py_random *r, uint32_t seed)
{
    uint32_t *s = r->state;
    size_t i = 1;
    s[0] = 19650218u;
    for (size_t k = 1; k < PY_WORDS; ++k) s[k] = 1812433253u * (s[k - 1] ^ (s[k - 1] >> 30)) + (uint32_t)k;
    /* The array has one word, the seed: the number of a word in it, which would be added, is always 0. */
    for (size_t k = 0; k < PY_WORDS; ++k) {
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1664525u)) + seed;
        if (++i == PY_WORDS) {
            s[0] = s[PY_WORDS - 1];
            i = 1;
        }
    }
    for (size_t k = 1; k < PY_WORDS; ++k) {
        s[i] = (s[i] ^ ((s[i - 1] ^ (s[i - 1] >> 30)) * 1566083941u)) - (uint32_t)i;
        if (++i == PY_WORDS) {
            s[0] = s[PY_WORDS - 1];
            i = 1;
        }
    }
    s[0] = 0x80000000u;
    r->next = PY_WORDS;
}

double py_uniform(py_random *r)
{
    const uint32_t a = next_word(r) >> 5, b = next_word(r) >> 6;
    return ((double)a * 67108864.0 + (double)b) / 9007199254740992.0;
}

double py_between(py_random *r, double a, double b)
{
    return a + (b - a) * py_uniform(r);
}

double py_normal(py_random *r, double mean, double sd)
{
    const double widest = 4.0 * exp(-0.5) / sqrt(2.0);
    double z;
    do {
        const double u = py_uniform(r), v = 1.0 - py_uniform(r);
        z = widest * (u - 0.5) / v;
        if (z * z / 4.0 <= -log(v)) break;
    } while (true);
    return mean + z * sd;
}
