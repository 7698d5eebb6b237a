/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_late.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    STAGES = 7,
    REFINED = 4 /* states a step */
};

static const double period = 30.0, tolerance = 1e-3,
                    least_scale = 1e-3; /* s; relative; absolute tolerance over relative */

/* A step of length h from (t, y) to (end, next), with the slopes (per second) of its stages. */
typedef struct stride {
    const double *feeds;
    size_t count;
    double t, h, end;
    double y[REACTOR_STATES], next[REACTOR_STATES], f[STAGES][REACTOR_STATES];
} stride;

static void slope_at(const stride *s, double t, const double *x, double *out)
{
    const size_t k = (size_t)(t / period);
    reactor_slope(x, s->feeds[k < s->count ? k : s->count - 1], out);
    for (size_t j = 0; j < REACTOR_STATES; ++j) out[j] /= 3600.0;
}

static void attempt(stride *s)
{
    static const double at[STAGES - 1] = {0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0};
    static const double a[STAGES - 1][STAGES - 1] = {
        {1.0 / 5.0},
        {3.0 / 40.0, 9.0 / 40.0},
        {44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0},
        {19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0},
        {9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0},
        {35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0}};
    for (size_t i = 0; i + 1 < STAGES; ++i) {
        memcpy(s->next, s->y, sizeof s->next);
        for (size_t q = 0; q <= i; ++q)
            for (size_t j = 0; j < REACTOR_STATES; ++j) s->next[j] += s->h * a[i][q] * s->f[q][j];
        slope_at(s, i + 2 < STAGES ? s->t + s->h * at[i] : s->end, s->next, s->f[i + 1]);
    }
}

/* Error of the step, relative to the state. */
static double error_of(const stride *s)
{
    static const double weight[STAGES] = {71.0 / 57600.0,      0.0,          -71.0 / 16695.0, 71.0 / 1920.0,
                                          -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0};
    double worst = 0.0;
    for (size_t j = 0; j < REACTOR_STATES; ++j) {
        double sum = 0.0;
        for (size_t q = 0; q < STAGES; ++q) sum += weight[q] * s->f[q][j];
        worst = fmax(worst, fabs(sum) / fmax(fmax(fabs(s->y[j]), fabs(s->next[j])), least_scale));
    }
    return worst * s->h;
}

/* The state after `part` of the step, 0 < part < 1, by the interpolant of fourth order. */
static void inside(const stride *s, double part, double *out)
{
    static const double c[STAGES][4] = {{1.0, -183.0 / 64.0, 37.0 / 12.0, -145.0 / 128.0},
                                        {0.0, 0.0, 0.0, 0.0},
                                        {0.0, 1500.0 / 371.0, -1000.0 / 159.0, 1000.0 / 371.0},
                                        {0.0, -125.0 / 32.0, 125.0 / 12.0, -375.0 / 64.0},
                                        {0.0, 9477.0 / 3392.0, -729.0 / 106.0, 25515.0 / 6784.0},
                                        {0.0, -11.0 / 7.0, 11.0 / 3.0, -55.0 / 28.0},
                                        {0.0, 1.5, -4.0, 2.5}};
    memcpy(out, s->y, REACTOR_STATES * sizeof *out);
    for (size_t q = 0; q < STAGES; ++q) {
        const double weight = part * (c[q][0] + part * (c[q][1] + part * (c[q][2] + part * c[q][3])));
        for (size_t j = 0; j < REACTOR_STATES; ++j) out[j] += s->h * weight * s->f[q][j];
    }
}

static double first_length(const stride *s, double longest)
{
    double rate = 0.0;
    for (size_t j = 0; j < REACTOR_STATES; ++j)
        rate = fmax(rate, fabs(s->f[0][j]) / fmax(fabs(s->y[j]), least_scale));
    return fmin(longest, 0.8 * pow(tolerance, 0.2) / rate);
}

/* Takes the step that starts with length h, or the shorter one that is accurate enough. Returns a length for
 * the next. */
static double take(stride *s, double h, double whole)
{
    for (bool first = true;; first = false) {
        const bool last = 1.1 * h >= whole - s->t && first;
        if (last) h = whole - s->t;
        s->h = h;
        s->end = last ? whole : s->t + h;
        attempt(s);
        const double error = error_of(s);
        if (error <= tolerance) return first ? h / fmax(0.2, 1.25 * pow(error / tolerance, 0.2)) : h;
        h *= first ? fmax(0.1, 0.8 * pow(tolerance / error, 0.2)) : 0.5;
    }
}

void reactor_late(const double start[REACTOR_STATES], const double *feeds, size_t count, double *states)
{
    const double whole = period * (double)count, longest = 0.1 * whole;
    stride s = {.feeds = feeds, .count = count, .y = {start[0], start[1]}};
    size_t done = 0;
    slope_at(&s, 0.0, s.y, s.f[0]);
    double h = first_length(&s, longest);
    while (done < count) {
        h = take(&s, fmin(h, longest), whole);
        for (int i = 1; i <= REFINED; ++i) {
            const double part = (double)i / REFINED;
            const double at = i < REFINED ? s.t + part * s.h : s.end;
            double state[REACTOR_STATES];
            if (i < REFINED)
                inside(&s, part, state);
            else
                memcpy(state, s.next, sizeof state);
            for (; done < count && at >= period * (double)(done + 1); ++done)
                memcpy(states + REACTOR_STATES * done, state, sizeof state);
        }
        s.t = s.end;
        memcpy(s.y, s.next, sizeof s.y);
        memcpy(s.f[0], s.f[STAGES - 1], sizeof s.f[0]);
    }
}
