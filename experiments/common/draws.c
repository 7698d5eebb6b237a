/* SPDX-License-Identifier: Apache-2.0 */
#include "common/draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double draw_uniform(draws *d)
{
    uint64_t z = (d->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return ((double)(z >> 11) + 0.5) * 0x1p-53;
}

double draw_normal(draws *d)
{
    double radius = sqrt(-2.0 * log(draw_uniform(d)));
    return radius * cos(6.283185307179586 * draw_uniform(d));
}

static double draw_t(draws *d, int freedom)
{
    double squares = 0.0, z = draw_normal(d);
    for (int i = 0; i < freedom; ++i) {
        double e = draw_normal(d);
        squares += e * e;
    }
    return z / sqrt(squares / freedom);
}

double draw_noise(draws *d, const char *name, double first_input)
{
    if (strcmp(name, "t3") == 0) return draw_t(d, 3) / sqrt(3.0);
    if (strcmp(name, "t2") == 0) return draw_t(d, 2) * (0.6744897501960817 / 0.8164965809277260);
    if (strcmp(name, "skew") == 0) return -log(draw_uniform(d)) - 1.0;
    if (strcmp(name, "hetero") == 0) /* sd a (1 + 6 x), x uniform: mean square a^2 (1 + 6 + 12) */
        return draw_normal(d) * (1.0 + 6.0 * first_input) / sqrt(19.0);
    return draw_normal(d);
}

/* f = L z with K = L L', in place of K. Rows of the factor are made one by one: n is a few hundred. */
static bool draw_function(draws *d, size_t n, double *k, double *f)
{
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j <= i; ++j) {
            double sum = k[i * n + j];
            for (size_t c = 0; c < j; ++c) sum -= k[i * n + c] * k[j * n + c];
            if (i == j && sum <= 0.0) return false;
            k[i * n + j] = i == j ? sqrt(sum) : sum / k[j * n + j];
        }
    }
    double *z = malloc(n * sizeof *z);
    if (!z) return false;
    for (size_t i = 0; i < n; ++i) z[i] = draw_normal(d);
    for (size_t i = 0; i < n; ++i) {
        f[i] = 0.0;
        for (size_t j = 0; j <= i; ++j) f[i] += k[i * n + j] * z[j];
    }
    free(z);
    return true;
}

static void damage_readings(draws *d, const synthetic *what, problem *p)
{
    size_t left = (size_t)(what->share * (double)p->n + 0.5);
    /* Each row is taken with probability (still to take) / (still to pass): exactly so many, all equally
     * likely. */
    for (size_t i = 0; i < p->n; ++i) {
        if (draw_uniform(d) * (double)(p->n - i) >= (double)left) continue;
        p->y[i] -= p->unit * (what->least + (what->most - what->least) * draw_uniform(d));
        p->wrong[i] = true;
        left -= 1;
    }
}

static hf_status gram(hf_context *ctx, const synthetic *what, size_t count, const double *x, double *k)
{
    hf_kernel *kernel = NULL;
    hf_status status = hf_kernel_parse(ctx, "se(iso)", NULL, what->d, &kernel);
    if (status >= 0) status = hf_kernel_set(ctx, kernel, "lengthscale", what->lengthscale);
    if (status >= 0) status = hf_kernel_gram(ctx, kernel, count, x, what->d, k, count);
    for (size_t i = 0; i < count && status >= 0; ++i) k[i * count + i] += 1e-9;
    hf_kernel_free(kernel);
    return status;
}

bool synthetic_problem(hf_context *ctx, const synthetic *what, uint64_t seed, problem *out)
{
    size_t count = what->n + what->m, d = what->d;
    draws stream = {seed * 0x2545f4914f6cdd1du + 1};
    double *x = malloc(count * d * sizeof *x), *k = malloc(count * count * sizeof *k),
           *y = malloc(count * sizeof *y);
    bool ok = x && k && y;
    *out = problem_create(what->n, what->m, d);
    for (size_t i = 0; i < count * d && ok; ++i) x[i] = draw_uniform(&stream);
    if (ok && gram(ctx, what, count, x, k) < 0) ok = false;
    ok = ok && draw_function(&stream, count, k, y);
    if (ok) {
        for (size_t i = 0; i < count; ++i)
            y[i] += what->noise_sd * draw_noise(&stream, what->noise, x[i * d]);
        memcpy(out->x, x, what->n * d * sizeof *x);
        memcpy(out->y, y, what->n * sizeof *y);
        memcpy(out->tx, x + what->n * d, what->m * d * sizeof *x);
        memcpy(out->ty, y + what->n, what->m * sizeof *y);
        out->unit = sample_sd(what->n, y);
        damage_readings(&stream, what, out);
    } else {
        fprintf(stderr, "drawing a function: %s\n", hf_context_message(ctx));
        problem_free(out);
    }
    free(x);
    free(k);
    free(y);
    return ok;
}
