/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_functions.h"

#include <math.h>

const bo_parameter bo_mixed_branin_space[3] = {
    {"steps", BO_INTEGER, -5.0, 10.0}, {"level", BO_REAL, 0.0, 15.0}, {"site", BO_CATEGORY, 0.0, 2.0}};

/* Branin's function with a whole first number; the site lifts, mirrors or flattens it. The mirrored one is best. */
void bo_mixed_branin(const bo_problem *p, const double *x, double *values)
{
    const int site = (int)x[2];
    const double branin = bo_branin_of(x[0], site == 1 ? 15.0 - x[1] : x[1]);
    (void)p;
    values[0] = -(site == 0 ? branin + 2.0 : site == 1 ? branin : 0.6 * branin + 4.0);
}

const bo_parameter bo_two_choices_space[4] = {{"first", BO_CATEGORY, 0.0, 2.0},
                                              {"second", BO_CATEGORY, 0.0, 4.0},
                                              {"x1", BO_REAL, -1.0, 1.0},
                                              {"x2", BO_REAL, -1.0, 1.0}};

static double rosenbrock_2(double a, double b)
{
    return (100.0 * (b - a * a) * (b - a * a) + (a - 1.0) * (a - 1.0)) / 300.0;
}

static double camel(double a, double b)
{
    return ((4.0 - 2.1 * a * a + a * a * a * a / 3.0) * a * a + a * b + (4.0 * b * b - 4.0) * b * b) / 10.0;
}

static double beale(double a, double b)
{
    const double first = 1.5 - a + a * b, second = 2.25 - a + a * b * b, third = 2.625 - a + a * b * b * b;
    return (first * first + second * second + third * third) / 50.0;
}

/* After the function Func2C of Ru, Alvi, Nguyen, Osborne and Roberts (2020): two categories choose which functions of
 * 2 (x1, x2) are added. Here the second choice 3 turns the square a little, and 4 adds a bowl. */
void bo_two_choices(const bo_problem *p, const double *x, double *values)
{
    static double (*const chosen[3])(double, double) = {rosenbrock_2, camel, beale};
    const double a = 2.0 * x[2], b = 2.0 * x[3];
    const size_t first = (size_t)x[0], second = (size_t)x[1];
    double sum = chosen[first](a, b);
    (void)p;
    if (second < 3)
        sum += chosen[second](a, b);
    else if (second == 3)
        sum += camel(0.8 * a - 0.6 * b, 0.6 * a + 0.8 * b);
    else
        sum += 0.1 * ((a - 1.0) * (a - 1.0) + b * b);
    values[0] = -sum;
}

const bo_parameter bo_mixed_ackley_space[7] = {{"x1", BO_REAL, -5.0, 10.0},    {"x2", BO_REAL, -5.0, 10.0},
                                               {"x3", BO_REAL, -5.0, 10.0},    {"k1", BO_INTEGER, -5.0, 10.0},
                                               {"k2", BO_INTEGER, -5.0, 10.0}, {"c1", BO_CATEGORY, 0.0, 4.0},
                                               {"c2", BO_CATEGORY, 0.0, 4.0}};

/* The levels of the categories stand for numbers in no order. */
void bo_mixed_ackley(const bo_problem *p, const double *x, double *values)
{
    static const double first[5] = {4.0, -2.0, 0.0, 7.0, -5.0}, second[5] = {1.0, -3.0, 6.0, 0.0, 2.0};
    const double all[7] = {x[0], x[1], x[2], x[3], x[4], first[(size_t)x[5]], second[(size_t)x[6]]};
    (void)p;
    values[0] = -bo_ackley_of(7, all);
}

const bo_parameter bo_tuning_space[5] = {{"rate", BO_LOG, 1e-5, 1.0},
                                         {"decay", BO_LOG, 1e-6, 1e-1},
                                         {"layers", BO_INTEGER, 1.0, 10.0},
                                         {"dropout", BO_REAL, 0.0, 0.6},
                                         {"optimiser", BO_CATEGORY, 0.0, 2.0}};

/* A made-up error of a trained network, 1 - exp(-loss): the best rate depends on optimiser and layers, the best decay
 * on the dropout, the best dropout on the layers; the second optimiser is best, by little. */
void bo_tuning(const bo_problem *p, const double *x, double *values)
{
    static const double floor_of[3] = {0.12, 0.10, 0.11}, rate_of[3] = {-1.0, -1.5, -3.0};
    const size_t which = (size_t)x[4];
    const double rate = log10(x[0]) - rate_of[which] - 0.1 * (x[2] - 4.0);
    const double decay = log10(x[1]) + 4.0 - 2.0 * x[3];
    const double dropout = x[3] - 0.05 * x[2], layers = x[2] - 6.0;
    (void)p;
    values[0] = expm1(-(floor_of[which] + 0.08 * rate * rate + 0.02 * decay * decay +
                        0.3 * dropout * dropout + 0.01 * layers * layers));
}
