/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tracks.h
 * @brief Histories for tests of tracks, and their posterior from first principles: dense algebra in
 * more digits than the library has, nothing merged. Include after <cmocka.h>.
 */
#ifndef TESTS_TRACK_TRACKS_H
#define TESTS_TRACK_TRACKS_H

#include "core/assert_near.h"
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "track/track.h"

enum {
    DENSE_MOST = 96,  /* readings */
    DENSE_INPUTS = 2, /* at most */
    CANDIDATES = 9    /* of tracks_candidates() */
};

#define TRACKS_SCALE  0.8 /* the kernel of tracks_settings(): 0.8 exp(-r^2 / (2 1.3^2)) */
#define TRACKS_LENGTH 1.3
#define TRACKS_NOISE  0.02
#define TRACKS_RATE   0.15

/* ---- numbers --------------------------------------------------------------------------------- */

static inline double tracks_uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return ((double)(*state >> 11) + 0.5) / 9007199254740992.0;
}

static inline size_t tracks_below(uint64_t *state, size_t count)
{
    return (size_t)(tracks_uniform(state) * (double)count);
}

/* Whether both are the same to the last bit, padding and all. */
static inline bool tracks_same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static const double tracks_lower[] = {-4.0}, tracks_upper[] = {4.0};
static const double tracks_points[CANDIDATES] = {-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0};

static inline hf_track_settings tracks_settings(hf_track_method method)
{
    hf_track_settings s = hf_track_settings_default(method);
    s.domain = (hf_domain){.dimension = 1, .lower = tracks_lower, .upper = tracks_upper};
    s.kernel = "0.8*se(lengthscale~1.3)";
    s.noise = TRACKS_NOISE;
    s.age.rate = TRACKS_RATE;
    s.robust = 0.0;
    s.window = 5.0;
    s.forgetting = method == HF_TRACK_W_GP_UCB ? 0.85 : 0.07;
    return s;
}

static inline hf_track_settings tracks_candidates(hf_track_method method)
{
    hf_track_settings s = tracks_settings(method);
    s.domain = (hf_domain){.dimension = 1, .candidates = CANDIDATES, .points = tracks_points};
    return s;
}

static inline hf_track *tracks_make(hf_context *ctx, const hf_track_settings *settings)
{
    hf_track *track = NULL;
    if (hf_track_create(ctx, settings, &track) != HF_OK) fail_msg("%s", hf_context_message(ctx));
    return track;
}

static inline void tracks_tell(hf_context *ctx, hf_track *track, double time, double x, double y,
                               double noise)
{
    if (hf_track_tell(ctx, track, time, &x, y, noise, NULL) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
}

/* ---- the posterior from first principles ----------------------------------------------------- */

/* Readings that count: site targets and variances at the moment `now`. */
typedef struct dense {
    size_t n;
    double x[DENSE_MOST], target[DENSE_MOST], variance[DENSE_MOST], time[DENSE_MOST];
    double now;
    double eps;  /* of tv-gp-ucb; 0: no fading */
    double mean; /* NaN: estimated */
} dense;

typedef struct dense_answer {
    double mean, variance, information, prior_mean;
} dense_answer;

static inline long double dense_kernel(double x, double z)
{
    const long double r = ((long double)x - z) / TRACKS_LENGTH;
    return TRACKS_SCALE * expl(-0.5L * r * r);
}

static inline long double dense_fading(const dense *p, double from, double to)
{
    return powl(1.0L - p->eps, 0.5L * fabsl((long double)from - to));
}

/* a (lower, n x n by rows) := its Cholesky factor; log det. */
static inline long double dense_factor(size_t n, long double a[DENSE_MOST][DENSE_MOST])
{
    long double log_det = 0.0L;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = j; i < n; i++) {
            for (size_t k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            if (i == j) {
                assert_true(a[j][j] > 0.0L);
                a[j][j] = sqrtl(a[j][j]);
                log_det += 2.0L * logl(a[j][j]);
            } else {
                a[i][j] /= a[j][j];
            }
        }
    }
    return log_det;
}

static inline void dense_forward(size_t n, long double a[DENSE_MOST][DENSE_MOST], long double *b)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
}

static inline long double dense_dot(size_t n, const long double *a, const long double *b)
{
    long double sum = 0.0L;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* mean = m + k' A^-1 (z - m), variance = k(x, x) - k' A^-1 k, A = K o fading + D, m by generalised
 * least squares. */
static inline dense_answer dense_at(const dense *p, double x)
{
    static long double a[DENSE_MOST][DENSE_MOST];
    long double ones[DENSE_MOST], z[DENSE_MOST], k[DENSE_MOST];
    dense_answer out = {.information = 0.0};
    long double information = 0.0L;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j <= i; j++)
            a[i][j] = dense_kernel(p->x[i], p->x[j]) * dense_fading(p, p->time[i], p->time[j]);
        a[i][i] += p->variance[i];
        information -= 0.5L * logl(p->variance[i]);
        ones[i] = 1.0L;
        z[i] = p->target[i];
        k[i] = dense_kernel(x, p->x[i]) * dense_fading(p, p->now, p->time[i]);
    }
    information += 0.5L * dense_factor(p->n, a);
    dense_forward(p->n, a, ones);
    dense_forward(p->n, a, z);
    dense_forward(p->n, a, k);
    const long double m = isnan(p->mean) ? dense_dot(p->n, ones, z) / dense_dot(p->n, ones, ones)
                                         : (long double)p->mean;
    out.prior_mean = (double)m;
    out.mean = (double)(m + dense_dot(p->n, k, z) - m * dense_dot(p->n, k, ones));
    out.variance = (double)(dense_kernel(x, x) - dense_dot(p->n, k, k));
    out.information = (double)information;
    return out;
}

/* Whether a posterior is that of the readings, all over the box. */
static inline void dense_check(hf_context *ctx, const dense *p, const hf_posterior *posterior,
                               bool mean)
{
    for (unsigned i = 0; i < 11; i++) {
        const double x = -4.0 + 0.8 * i;
        const dense_answer expected = dense_at(p, x);
        double got, variance;
        assert_int_equal(hf_predict(ctx, posterior, 1, &x, 1, &got, &variance, NULL), HF_OK);
        if (mean) assert_near(got, expected.mean, 1e-9);
        assert_near(variance, expected.variance, 1e-9);
    }
}

#endif
