/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bounded.h"
#include "common/bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum {
    CENTRES = 20
};

bounded bounded_make(hf_context *ctx, const char *kernel, size_t n, double share)
{
    bounded b = {.n = n, .x = bench_doubles(n * BOUNDED_D), .y = bench_doubles(n)};
    double *error = bench_doubles(n), *cross = bench_doubles(n * CENTRES);
    double centre[CENTRES * BOUNDED_D], weight[CENTRES], gram[CENTRES * CENTRES], square = 0.0, largest = 0.0;
    bench_must(ctx, hf_kernel_parse(ctx, kernel, NULL, BOUNDED_D, &b.kernel), "kernel");
    bench_inputs(n, BOUNDED_D, 1, b.x);
    bench_inputs(CENTRES, BOUNDED_D, 2, centre);
    bench_inputs(CENTRES, 1, 3, weight);
    bench_inputs(n, 1, 4, error);
    for (size_t j = 0; j < CENTRES; j++) weight[j] -= 0.5;
    bench_must(ctx, hf_kernel_gram(ctx, b.kernel, CENTRES, centre, BOUNDED_D, gram, CENTRES), "gram");
    bench_must(ctx,
               hf_kernel_cross(ctx, b.kernel, n, b.x, BOUNDED_D, CENTRES, centre, BOUNDED_D, cross, CENTRES),
               "cross");
    for (size_t i = 0; i < CENTRES; i++)
        for (size_t j = 0; j < CENTRES; j++) square += weight[i] * weight[j] * gram[i * CENTRES + j];
    for (size_t i = 0; i < n; i++) {
        b.y[i] = 0.0;
        for (size_t j = 0; j < CENTRES; j++) b.y[i] += weight[j] * cross[i * CENTRES + j];
        largest = fmax(largest, fabs(b.y[i]));
    }
    b.noise = share * largest;
    b.norm = 1.5 * sqrt(square);
    for (size_t i = 0; i < n; i++) b.y[i] += b.noise * (2.0 * error[i] - 1.0);
    free(error);
    free(cross);
    return b;
}

void bounded_free(bounded *b)
{
    hf_kernel_free(b->kernel);
    free(b->x);
    free(b->y);
}

void bounded_path(size_t q, size_t count, double x[BOUNDED_D])
{
    const double at = ((double)q + 0.5) / (double)count;
    x[0] = at;
    x[1] = 0.2 + 0.6 * at;
}

double bounded_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}
