/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_functions.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

double bo_branin_of(double x1, double x2)
{
    const double across = x2 - 5.1 / (4.0 * pi * pi) * x1 * x1 + 5.0 / pi * x1 - 6.0;
    return across * across + 10.0 * (1.0 - 1.0 / (8.0 * pi)) * cos(x1) + 10.0;
}

void bo_branin(const bo_problem *p, const double *x, double *values)
{
    (void)p;
    values[0] = -bo_branin_of(x[0], x[1]);
}

/* sum of c_i exp(-sum_j a_ij (x_j - b_ij)^2), c the same for all of Hartmann's functions, b in units of 1e-4 */
static double hartmann(size_t d, const double *a, const double *b, const double *x)
{
    static const double c[4] = {1.0, 1.2, 3.0, 3.2};
    double sum = 0.0;
    for (size_t i = 0; i < 4; ++i) {
        double far = 0.0;
        for (size_t j = 0; j < d; ++j) {
            const double difference = x[j] - 1e-4 * b[i * d + j];
            far += a[i * d + j] * difference * difference;
        }
        sum += c[i] * exp(-far);
    }
    return sum;
}

void bo_hartmann3(const bo_problem *p, const double *x, double *values)
{
    static const double a[12] = {3, 10, 30, 0.1, 10, 35, 3, 10, 30, 0.1, 10, 35};
    static const double b[12] = {3689, 1170, 2673, 4699, 4387, 7470, 1091, 8732, 5547, 381, 5743, 8828};
    (void)p;
    values[0] = hartmann(3, a, b, x);
}

void bo_hartmann6(const bo_problem *p, const double *x, double *values)
{
    static const double a[24] = {10, 3,   17,  3.5, 1.7, 8, 0.05, 10, 17,   0.1, 8,   14,
                                 3,  3.5, 1.7, 10,  17,  8, 17,   8,  0.05, 10,  0.1, 14};
    static const double b[24] = {1312, 1696, 5569, 124,  8283, 5886, 2329, 4135, 8307, 3736, 1004, 9991,
                                 2348, 1451, 3522, 2883, 3047, 6650, 4047, 8828, 8732, 5743, 1091, 381};
    (void)p;
    values[0] = hartmann(6, a, b, x);
}

double bo_ackley_of(size_t d, const double *x)
{
    double squares = 0.0, waves = 0.0;
    for (size_t j = 0; j < d; ++j) {
        squares += x[j] * x[j];
        waves += cos(2.0 * pi * x[j]);
    }
    return 20.0 * (1.0 - exp(-0.2 * sqrt(squares / (double)d))) + exp(1.0) - exp(waves / (double)d);
}

void bo_ackley(const bo_problem *p, const double *x, double *values)
{
    values[0] = -bo_ackley_of(p->row->d, x);
}

void bo_levy(const bo_problem *p, const double *x, double *values)
{
    const size_t d = p->row->d;
    double sum = 0.0;
    for (size_t j = 0; j < d; ++j) {
        const double w = 1.0 + (x[j] - 1.0) / 4.0, wave = j + 1 < d ? sin(pi * w + 1.0) : sin(2.0 * pi * w);
        sum += (w - 1.0) * (w - 1.0) * (1.0 + (j + 1 < d ? 10.0 : 1.0) * wave * wave);
        if (j == 0) sum += sin(pi * w) * sin(pi * w);
    }
    values[0] = -sum;
}

void bo_rosenbrock(const bo_problem *p, const double *x, double *values)
{
    double sum = 0.0;
    for (size_t j = 0; j + 1 < p->row->d; ++j) {
        const double valley = x[j + 1] - x[j] * x[j], along = x[j] - 1.0;
        sum += 100.0 * valley * valley + along * along;
    }
    values[0] = -sum;
}

void bo_michalewicz(const bo_problem *p, const double *x, double *values)
{
    double sum = 0.0;
    for (size_t j = 0; j < p->row->d; ++j) {
        const double wave = sin((double)(j + 1) * x[j] * x[j] / pi);
        sum += sin(x[j]) * pow(wave * wave, 10.0);
    }
    values[0] = sum;
}
