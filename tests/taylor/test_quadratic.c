/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of quadratic and cubic functions over the cube, and over what a ball leaves of it, against points. */
#include "kernel/kernel_testing.h"

#include "taylor/quadratic.h"

/* Quadratic functions against samples of the cube: never above, and exact where a corner is clearly least. */
static void quadratic_bounds_hold(void **state)
{
    enum {
        M = 6
    };
    (void)state;
    hfi_stream stream;
    double work[2 * M * M + 6 * M], gap[M], point[M];
    size_t corners = 0;
    assert_true(hfi_quadratic_work(M) <= sizeof work / sizeof *work);
    for (size_t trial = 0; trial < 300; trial++) {
        double g[M], h[M * M], predicted, least = INFINITY, shares = 0.0, off = 0.0;
        bool clear = true;
        hfi_stream_init(&stream, 45, HFI_PURPOSE_TEST, trial);
        const double steep = trial % 3 == 0 ? 60.0 : trial % 3 == 1 ? 1.0 : 0.0;
        for (size_t a = 0; a < M; a++) {
            g[a] = steep * hfi_stream_normal(&stream);
            for (size_t b = 0; b <= a; b++) h[a * M + b] = h[b * M + a] = hfi_stream_normal(&stream);
        }
        const double sign = trial % 2 ? 1.0 : -1.0;
        const double bound = hfi_quadratic_lower(M, sign, g, h, NULL, point, &predicted, gap, work);
        for (size_t k = 0; k < 2000; k++) {
            double value = 0.0, u[M];
            for (size_t a = 0; a < M; a++) {
                const double r = 4.0 * hfi_stream_uniform(&stream) - 2.0;
                u[a] = k == 0 ? point[a] : fmax(-1.0, fmin(1.0, r));
            }
            for (size_t a = 0; a < M; a++) {
                value += g[a] * u[a];
                for (size_t b = 0; b < M; b++) value += 0.5 * u[a] * h[a * M + b] * u[b];
            }
            value *= sign;
            least = fmin(least, value);
            if (k == 0) assert_close("predicted", trial, predicted, value, 1e-12 * (1.0 + fabs(value)));
        }
        for (size_t a = 0; a < M; a++) {
            assert_true(gap[a] >= 0.0);
            shares += gap[a];
        }
        assert_true(bound <= least && shares >= predicted - bound - 1e-9);
        for (size_t a = 0; a < M; a++) {
            double radius = 0.0;
            for (size_t b = 0; b < M; b++) radius += fabs(h[a * M + b]);
            clear = clear && fabs(g[a]) > 2.0 * radius;
            off += radius;
        }
        assert_true(least - bound <= off);
        if (clear) assert_close("corner", trial, bound, predicted, 1e-10);
        corners += clear;
    }
    assert_true(corners > 3);
}

/* The largest multiple of a point of the cube that is in the ball. */
static void pull_into(const hfi_ball *ball, size_t m, double *u)
{
    double low = 0.0, high = 1.0;
    for (int k = 0; k < 60; k++) {
        const double share = k == 0 ? 1.0 : 0.5 * (low + high);
        double value = ball->k;
        for (size_t a = 0; a < m; a++) value += share * u[a] * (ball->p[a] + 0.5 * ball->r[a] * share * u[a]);
        if (value <= 0.0)
            low = share;
        else
            high = share;
    }
    for (size_t a = 0; a < m; a++) u[a] *= low;
}

/* In a ball that cuts the cube: never above the function at any point of both; more than without the ball;
 * and where the function is convex and separable the least value itself, by the slow search for it. */
static void ball_bounds_hold(void **state)
{
    enum {
        M = 5
    };
    (void)state;
    hfi_stream stream;
    double work[2 * M * M + 6 * M], gap[M], point[M];
    size_t better = 0;
    for (size_t trial = 0; trial < 400; trial++) {
        double g[M], h[M * M] = {0.0}, p[M], r[M], predicted, least = INFINITY;
        const bool separable = trial % 4 == 0;
        const double sign = trial % 2 ? 1.0 : -1.0;
        hfi_stream_init(&stream, 47, HFI_PURPOSE_TEST, trial);
        for (size_t a = 0; a < M; a++) {
            g[a] = hfi_stream_normal(&stream);
            p[a] = 0.4 * hfi_stream_normal(&stream);
            r[a] = trial % 5 == 4 ? 0.0 : 2.0 * hfi_stream_uniform(&stream);
            for (size_t b = 0; b <= a && !separable; b++)
                h[a * M + b] = h[b * M + a] = hfi_stream_normal(&stream);
            if (separable) h[a * M + a] = sign * hfi_stream_uniform(&stream);
        }
        const hfi_ball ball = {p, r, -hfi_stream_uniform(&stream)};
        const double bound = hfi_quadratic_lower(M, sign, g, h, &ball, point, &predicted, gap, work),
                     without = hfi_quadratic_lower(M, sign, g, h, NULL, point, &predicted, gap, work);
        double u[M] = {0.0}, best[M] = {0.0};
        for (size_t k = 0; k < 6000; k++) {
            double value = 0.0;
            const double wide =
                k < 2000 ? 4.0 : 4.0 / (1.0 + 0.002 * (double)(k - 2000) * (double)(k - 2000) / 10.0);
            for (size_t a = 0; a < M; a++) {
                u[a] = (k < 2000 ? 0.0 : best[a]) + wide * (hfi_stream_uniform(&stream) - 0.5);
                u[a] = fmax(-1.0, fmin(1.0, u[a]));
            }
            pull_into(&ball, M, u);
            for (size_t a = 0; a < M; a++) {
                value += g[a] * u[a];
                for (size_t b = 0; b < M; b++) value += 0.5 * u[a] * h[a * M + b] * u[b];
            }
            value *= sign;
            if (value < least) memcpy(best, u, sizeof best);
            least = fmin(least, value);
        }
        if (!(bound <= least + 1e-12)) fail_msg("trial %zu: %.15g is above %.15g", trial, bound, least);
        if (separable) assert_true(bound >= without - 1e-9 * (1.0 + fabs(without)));
        better += bound > without + 0.05 * (least - without);
        if (separable && !(least - bound < 0.02 * (1.0 + fabs(least))))
            fail_msg("trial %zu: %.15g is far below %.15g", trial, bound, least);
    }
    assert_true(better > 200);
}

static double cubic_at(const hfi_cubic *c, const double *u)
{
    const size_t m = c->m;
    double value = 0.0;
    for (size_t a = 0; a < m; a++) {
        value += c->g[a] * u[a];
        for (size_t b = 0; b < m; b++) {
            value += 0.5 * u[a] * u[b] * c->h[a * m + b];
            for (size_t k = 0; k < m; k++) value += u[a] * u[b] * u[k] * c->t[(a * m + b) * m + k] / 6.0;
        }
    }
    return c->sign * value;
}

/* The same function in a ball. */
static void check_cubic_in_ball(const hfi_cubic *whole, double without, hfi_stream *stream, double *work)
{
    enum {
        M = 4,
        PARTS = 512
    };
    double p[M], r[M], point[M], gap[M], predicted, u[M];
    hfi_cubic cubic = *whole;
    const hfi_cubic_effort effort = {.parts = PARTS, .enough = INFINITY, .want = 1e-3};
    for (size_t a = 0; a < M; a++) {
        p[a] = 0.4 * hfi_stream_normal(stream);
        r[a] = 2.0 * hfi_stream_uniform(stream);
    }
    const hfi_ball ball = {p, r, -hfi_stream_uniform(stream)};
    cubic.ball = &ball;
    const double bound = hfi_cubic_lower(&cubic, &effort, point, &predicted, gap, work);
    assert_true(bound >= without - 0.3);
    for (size_t k = 0; k < 1000; k++) {
        for (size_t a = 0; a < M; a++) u[a] = fmax(-1.0, fmin(1.0, 4.0 * hfi_stream_uniform(stream) - 2.0));
        pull_into(&ball, M, u);
        assert_true(bound <= cubic_at(&cubic, u) + 1e-12);
    }
}

/* Cubic functions likewise; more parts leave less of the distance to what is met. */
static void cubic_bounds_hold(void **state)
{
    enum {
        M = 4,
        PARTS = 512
    };
    (void)state;
    hfi_stream stream;
    double *work = make_zeros(hfi_cubic_work(M, PARTS)), gap[M], point[M], left[2] = {0.0, 0.0};
    for (size_t trial = 0; trial < 100; trial++) {
        double g[M], h[M * M], t[M * M * M], predicted;
        hfi_stream_init(&stream, 46, HFI_PURPOSE_TEST, trial);
        for (size_t a = 0; a < M; a++) {
            g[a] = hfi_stream_normal(&stream);
            for (size_t b = 0; b <= a; b++) {
                h[a * M + b] = h[b * M + a] = hfi_stream_normal(&stream);
                for (size_t c = 0; c <= b; c++)
                    t[(a * M + b) * M + c] = t[(a * M + c) * M + b] = t[(b * M + a) * M + c] =
                        t[(b * M + c) * M + a] = t[(c * M + a) * M + b] = t[(c * M + b) * M + a] =
                            hfi_stream_normal(&stream);
            }
        }
        const hfi_cubic cubic = {.m = M, .sign = trial % 2 ? 1.0 : -1.0, .g = g, .h = h, .t = t};
        double bound[2], least = INFINITY;
        for (size_t e = 0; e < 2; e++) {
            const hfi_cubic_effort effort = {.parts = e ? PARTS : 8, .enough = INFINITY, .want = 1e-3};
            bound[e] = hfi_cubic_lower(&cubic, &effort, point, &predicted, gap, work);
            const double there = cubic_at(&cubic, point);
            assert_close("predicted", trial, predicted, there, 1e-12 * (1.0 + fabs(there)));
            left[e] += predicted - bound[e];
        }
        for (size_t k = 0; k < 1000; k++) {
            double u[M];
            for (size_t a = 0; a < M; a++)
                u[a] = fmax(-1.0, fmin(1.0, 4.0 * hfi_stream_uniform(&stream) - 2.0));
            least = fmin(least, cubic_at(&cubic, u));
        }
        assert_true(bound[0] <= least && bound[1] <= least && least >= predicted - 0.3);
        check_cubic_in_ball(&cubic, bound[1], &stream, work);
    }
    assert_true(left[1] < 0.1 * left[0]);
    free(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quadratic_bounds_hold),
        cmocka_unit_test(ball_bounds_hold),
        cmocka_unit_test(cubic_bounds_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
