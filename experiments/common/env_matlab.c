/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_matlab.h"
#include "common/room.h"

#include <stdio.h>
#include <string.h>

void matlab_seed(py_random *r, uint32_t seed)
{
    uint32_t *s = r->state;
    s[0] = seed;
    for (size_t k = 1; k < PY_WORDS; ++k) s[k] = 1812433253u * (s[k - 1] ^ (s[k - 1] >> 30)) + (uint32_t)k;
    r->next = PY_WORDS;
}

static size_t points(size_t levels, size_t d)
{
    size_t total = 1;
    for (size_t j = 0; j < d; ++j) total *= levels;
    return total;
}

double *matlab_grid(py_random *stream, size_t count, size_t d, const double *low, const double *high)
{
    size_t levels = 2;
    while (points(levels, d) < count) ++levels;
    size_t total = points(levels, d);
    double *x = room(total * d, sizeof *x);
    for (size_t i = 0; i < total; ++i) {
        size_t rest = i;
        for (size_t j = 0; j < d; ++j) {
            x[i * d + j] = low[j] + (high[j] - low[j]) * (double)(rest % levels) / (double)(levels - 1);
            rest /= levels;
        }
    }
    matlab_seed(stream, 1);
    for (; total > count; --total) {
        const size_t out = (size_t)(py_uniform(stream) * (double)total);
        memmove(x + out * d, x + (out + 1) * d, (total - 1 - out) * d * sizeof *x);
    }
    return x;
}
