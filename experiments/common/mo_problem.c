/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_problem.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

problem mo_problem_create(size_t samples, size_t tests, size_t inputs, size_t outputs)
{
    problem p = problem_create(samples * outputs, tests * outputs, inputs + 1);
    for (size_t i = 0; i < p.n; ++i) p.x[i * p.d + inputs] = (double)(i % outputs);
    for (size_t i = 0; i < p.m; ++i) p.tx[i * p.d + inputs] = (double)(i % outputs);
    return p;
}

size_t mo_outputs(const problem *p)
{
    return (size_t)p->x[p->n * p->d - 1] + 1;
}

void mo_set_input(problem *p, bool test, size_t i, size_t j, double value)
{
    const size_t outputs = mo_outputs(p);
    double *x = test ? p->tx : p->x;
    for (size_t t = 0; t < outputs; ++t) x[(i * outputs + t) * p->d + j] = value;
}

double mo_average(const problem *p, size_t t)
{
    const size_t outputs = mo_outputs(p);
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = t; i < p->n; i += outputs) {
        if (isnan(p->y[i])) continue;
        sum += p->y[i];
        count += 1;
    }
    return count ? sum / (double)count : 0.0;
}

void mo_test_grid(problem *p, double least, double most)
{
    const size_t count = p->m / mo_outputs(p);
    for (size_t i = 0; i < count; ++i)
        mo_set_input(p, true, i, 0, least + (most - least) * (double)i / (double)(count - 1));
}

/* The lower factor in place of the lower triangle; what is left of a diagonal is at least `least`. */
static void factor(size_t n, double *a, double least)
{
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j <= i; ++j) {
            double sum = a[i * n + j];
            for (size_t c = 0; c < j; ++c) sum -= a[i * n + c] * a[j * n + c];
            a[i * n + j] = i == j ? sqrt(fmax(sum, least)) : sum / a[j * n + j];
        }
}

void mo_draw(draws *stream, const mo_model *model, size_t n, const double *x, double *f)
{
    const size_t outputs = model->outputs;
    double *k = room(n * n, sizeof(double)), *b = room(outputs * outputs, sizeof(double)),
           *z = room(n * outputs, sizeof(double)), *u = room(outputs, sizeof(double));
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j) {
            const double r = (x[i] - x[j]) / model->lengthscale;
            k[i * n + j] = exp(-0.5 * r * r) + (i == j ? 1e-9 : 0.0);
        }
    memcpy(b, model->b, outputs * outputs * sizeof *b);
    factor(n, k, 1e-12);
    factor(outputs, b, 0.0);
    for (size_t i = 0; i < n * outputs; ++i) z[i] = draw_normal(stream);
    for (size_t i = 0; i < n; ++i) {
        for (size_t t = 0; t < outputs; ++t) {
            u[t] = 0.0;
            for (size_t j = 0; j <= i; ++j) u[t] += k[i * n + j] * z[j * outputs + t];
        }
        for (size_t t = 0; t < outputs; ++t) {
            f[i * outputs + t] = 0.0;
            for (size_t s = 0; s <= t; ++s) f[i * outputs + t] += b[t * outputs + s] * u[s];
        }
    }
    free(k);
    free(b);
    free(z);
    free(u);
}

problem mo_draw_problem(draws *stream, const mo_model *model, size_t n, double least, double most,
                        double **latent)
{
    problem p = mo_problem_create(n, n, 1, model->outputs);
    double *x = room(n, sizeof(double));
    *latent = room(n * model->outputs, sizeof(double));
    for (size_t i = 0; i < n; ++i) {
        x[i] = least + (most - least) * draw_uniform(stream);
        mo_set_input(&p, false, i, 0, x[i]);
        mo_set_input(&p, true, i, 0, x[i]);
    }
    mo_draw(stream, model, n, x, *latent);
    for (size_t i = 0; i < p.n; ++i) p.y[i] = p.ty[i] = (*latent)[i] + model->noise_sd * draw_normal(stream);
    free(x);
    return p;
}

void mo_choose(draws *stream, size_t n, size_t count, bool *chosen)
{
    size_t left = count;
    for (size_t i = 0; i < n; ++i) {
        chosen[i] = draw_uniform(stream) * (double)(n - i) < (double)left;
        left -= chosen[i];
    }
}

double mo_mahalanobis(size_t s, const double *v, size_t outputs, const double *b)
{
    double *l = room(s * s, sizeof(double)), *u = room(s, sizeof(double)), sum = 0.0;
    for (size_t i = 0; i < s; ++i) memcpy(l + i * s, b + i * outputs, s * sizeof *l);
    factor(s, l, 1e-300);
    for (size_t i = 0; i < s; ++i) {
        u[i] = v[i];
        for (size_t j = 0; j < i; ++j) u[i] -= l[i * s + j] * u[j];
        u[i] /= l[i * s + i];
        sum += u[i] * u[i];
    }
    free(l);
    free(u);
    return sum;
}
