/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_functions.h"

#include <math.h>

const bo_parameter bo_branin_space[2] = {{"x1", BO_REAL, -5.0, 10.0}, {"x2", BO_REAL, 0.0, 15.0}};

/* Gelbart, Snoek and Adams (2014): Branin's function in a disc, which two of its three minima lie outside of. */
void bo_branin_disc(const bo_problem *p, const double *x, double *values)
{
    (void)p;
    values[0] = -bo_branin_of(x[0], x[1]);
    values[1] = (x[0] - 2.5) * (x[0] - 2.5) + (x[1] - 7.5) * (x[1] - 7.5) - 50.0;
}

/* The first simulation of Gardner, Kusner, Xu, Weinberger and Cunningham (2014). */
void bo_gardner(const bo_problem *p, const double *x, double *values)
{
    (void)p;
    values[0] = -(cos(2.0 * x[0]) * cos(x[1]) + sin(x[0]));
    values[1] = cos(x[0]) * cos(x[1]) - sin(x[0]) * sin(x[1]) - 0.5;
}

static double currin(double u, double v)
{
    const double fade = v > 0.0 ? 1.0 - exp(-0.5 / v) : 1.0;
    return fade * (((2300.0 * u + 1900.0) * u + 2092.0) * u + 60.0) /
           (((100.0 * u + 500.0) * u + 4.0) * u + 20.0);
}

/* Branin's and Currin's functions of two numbers in [0, 1], both to be minimised before the sign is changed. */
void bo_branin_currin(const bo_problem *p, const double *x, double *values)
{
    (void)p;
    values[0] = -bo_branin_of(15.0 * x[0] - 5.0, 15.0 * x[1]);
    values[1] = -currin(x[0], x[1]);
}

/* Zitzler, Deb and Thiele (2000); front f2 = 1 - sqrt(f1). */
void bo_zdt1(const bo_problem *p, const double *x, double *values)
{
    const size_t d = p->row->d;
    double rest = 0.0;
    for (size_t j = 1; j < d; ++j) rest += x[j];
    const double g = 1.0 + 9.0 * rest / (double)(d - 1);
    values[0] = -x[0];
    values[1] = -g * (1.0 - sqrt(x[0] / g));
}

/* Deb, Thiele, Laumanns and Zitzler (2002), two objectives; the front is a quarter of the unit circle. */
void bo_dtlz2(const bo_problem *p, const double *x, double *values)
{
    const double half_pi = 1.57079632679489661923;
    double g = 1.0;
    for (size_t j = 1; j < p->row->d; ++j) g += (x[j] - 0.5) * (x[j] - 0.5);
    values[0] = -g * cos(half_pi * x[0]);
    values[1] = -g * sin(half_pi * x[0]);
}
