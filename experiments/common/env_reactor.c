/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_reactor.h"

#include <math.h>

const double reactor_low[REACTOR_STATES] = {1.0, 0.5}, reactor_high[REACTOR_STATES] = {3.0, 2.0};
const double reactor_target[REACTOR_STATES] = {2.14, 1.09};

void reactor_slope(const double x[REACTOR_STATES], double u, double out[REACTOR_STATES])
{
    const double kelvin = 273.15 + 114.19108442079495, feed = 5.1;
    const double first = 1.287e12 * exp(-9758.3 / kelvin), third = 9.043e9 * exp(-8560.0 / kelvin);
    out[0] = u * (feed - x[0]) - first * x[0] - third * x[0] * x[0];
    out[1] = -u * x[1] + first * x[0] - first * x[1];
}

void reactor_step(const double x[REACTOR_STATES], double u, double next[REACTOR_STATES])
{
    enum {
        STEPS = 15
    };
    const double h = 30.0 / 3600.0 / STEPS;
    double at[REACTOR_STATES] = {x[0], x[1]};
    for (int i = 0; i < STEPS; ++i) {
        static const double ahead[3] = {0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
        double k[4][REACTOR_STATES], z[REACTOR_STATES];
        reactor_slope(at, u, k[0]);
        for (int s = 0; s < 3; ++s) {
            for (int j = 0; j < REACTOR_STATES; ++j) z[j] = at[j] + ahead[s] * h * k[s][j];
            reactor_slope(z, u, k[s + 1]);
        }
        for (int s = 0; s < 4; ++s)
            for (int j = 0; j < REACTOR_STATES; ++j) at[j] += h / 6.0 * weight[s] * k[s][j];
    }
    next[0] = at[0];
    next[1] = at[1];
}
