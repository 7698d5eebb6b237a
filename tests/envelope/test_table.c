/* SPDX-License-Identifier: Apache-2.0 */
/* The active set's table, carried along from change to change, beside the same made anew by plain loops; and searches
 * that begin anywhere. */
#include "core/core.h"

#include <setjmp.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/loops.h"
#include "envelope/support.h"

enum {
    MOST = 90
};

/* ---- triangles ----------------------------------------------------------------------------------------- */

static void triangles_are_solved(void **state)
{
    (void)state;
    enum {
        LDL = MOST + 3
    };
    static double l[LDL * MOST];
    hfi_stream stream;
    hfi_stream_init(&stream, 3, HFI_PURPOSE_TEST, 0);
    for (size_t k = 0; k < LDL * MOST; k++) l[k] = 0.2 * hfi_stream_normal(&stream);
    for (size_t j = 0; j < MOST; j++) l[j * (LDL + 1)] = 1.5 + hfi_stream_uniform(&stream);
    for (size_t n = 0; n <= MOST; n++) {
        double x[MOST], forward[MOST], second[MOST], backward[MOST];
        for (size_t i = 0; i < n; i++) x[i] = hfi_stream_normal(&stream);
        /* The products first, so that what is solved is known. */
        for (size_t i = 0; i < n; i++) {
            forward[i] = backward[i] = 0.0;
            for (size_t j = 0; j <= i; j++) forward[i] += l[i + j * LDL] * x[j];
            for (size_t j = i; j < n; j++) backward[i] += l[j + i * LDL] * x[j];
            second[i] = -3.0 * forward[i];
        }
        const size_t from = n / 3;
        double part[MOST];
        for (size_t i = 0; i < n; i++) part[i] = i < from ? x[i] : forward[i];
        hfi_active_forward(n, 0, l, LDL, forward, second);
        hfi_active_forward(n, from, l, LDL, part, NULL);
        hfi_active_backward(n, l, LDL, backward);
        for (size_t i = 0; i < n; i++) {
            assert_near(forward[i], x[i], 1e-9 * (1.0 + fabs(x[i])));
            assert_near(second[i], -3.0 * x[i], 3e-9 * (1.0 + fabs(x[i])));
            assert_near(part[i], x[i], 1e-9 * (1.0 + fabs(x[i])));
            assert_near(backward[i], x[i], 1e-9 * (1.0 + fabs(x[i])));
        }
    }
}

/* ---- the table ----------------------------------------------------------------------------------------- */

/* k(x_p, x_q) of the problem without the query, W and the factor from nothing. */
typedef struct anew {
    double l[MOST][MOST], w[MOST][MOST]; /* w[j][i] */
    double u[MOST], v[MOST];
} anew;

static void make_anew(const hfi_active_problem *p, const hfi_chain *c, anew *a)
{
    for (size_t r = 0; r < c->count; r++) {
        for (size_t s = 0; s <= r; s++) {
            double sum = p->k[c->index[r] + c->index[s] * p->ldk] + (r == s ? p->jitter : 0.0);
            for (size_t k = 0; k < s; k++) sum -= a->l[r][k] * a->l[s][k];
            a->l[r][s] = r == s ? sqrt(sum) : sum / a->l[s][s];
        }
        for (size_t i = 0; i < p->n; i++) {
            double sum = p->k[c->index[r] + i * p->ldk];
            for (size_t k = 0; k < r; k++) sum -= a->l[r][k] * a->w[k][i];
            a->w[r][i] = sum / a->l[r][r];
        }
        double cross = p->cross[c->index[r]], limit = c->limit[r];
        for (size_t k = 0; k < r; k++) {
            cross -= a->l[r][k] * a->u[k];
            limit -= a->l[r][k] * a->v[k];
        }
        a->u[r] = cross / a->l[r][r];
        a->v[r] = limit / a->l[r][r];
    }
}

static void compare(const hfi_active_problem *p, const hfi_chain *c)
{
    static anew a;
    const double tolerance = 1e-9;
    make_anew(p, c, &a);
    for (size_t r = 0; r < c->count; r++) {
        for (size_t s = 0; s <= r; s++) assert_near(c->l[r + s * c->ldl], a.l[r][s], tolerance);
        for (size_t i = 0; i < p->n; i++) assert_near(c->w[i + r * c->ldw], a.w[r][i], tolerance);
        assert_near(c->u[r], a.u[r], tolerance);
        assert_near(c->v[r], a.v[r], tolerance * (1.0 + fabs(a.v[r])));
    }
    for (size_t i = 0; i < p->n; i++) {
        double left = p->sd[i] * p->sd[i], rest = p->cross[i], held = 0.0;
        for (size_t r = 0; r < c->count; r++) {
            left -= a.w[r][i] * a.w[r][i];
            rest -= a.w[r][i] * a.u[r];
            held += a.w[r][i] * a.v[r];
        }
        assert_near(c->left[i], left, tolerance);
        assert_near(c->rest[i], rest, tolerance);
        assert_near(c->held[i], held, tolerance * (1.0 + fabs(held)));
    }
}

typedef struct setting {
    hf_context *ctx;
    hf_kernel *kernel;
    support_world *world;
    hf_envelope *envelope;
    double cross[MOST];
    hfi_active_problem problem;
} setting;

static setting open_setting(double jitter)
{
    setting s = {.ctx = support_context(1)};
    s.kernel = support_kernel(s.ctx, "matern32(lengthscale=0.8)", 2);
    s.world = support_make(s.kernel, MOST, 2, 0.05, 1.4, 11);
    const hf_envelope_settings settings = {
        .size = sizeof(hf_envelope_settings), .jitter = jitter, .reserve = 5};
    assert_int_equal(
        hf_envelope_create(s.ctx, s.kernel, &s.world->readings, s.world->norm, &settings, &s.envelope),
        HF_OK);
    s.problem = hfi_envelope_problem(s.envelope, HF_UPPER);
    const double x[2] = {0.3, -0.4};
    for (size_t i = 0; i < MOST; i++)
        s.cross[i] = hfi_kernel_value(s.kernel, s.envelope->x + 2 * i, x, false);
    s.problem.prior = 1.0;
    return s;
}

static void close_setting(setting *s)
{
    hf_envelope_free(s->envelope);
    support_free(s->world);
    hf_kernel_free(s->kernel);
    hf_context_free(s->ctx);
}

/* Readings come and go at random; the last lot of readings only after a while, as when an envelope grows. */
static void come_and_go(double jitter)
{
    setting s = open_setting(jitter);
    s.problem.cross = s.cross;
    const hfi_memory memory = hfi_context_memory(s.ctx);
    hfi_chain chain;
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 1);
    assert_true(hfi_chain_init(&memory, MOST + 5, &chain));
    s.problem.n = MOST - 10;
    hfi_chain_refresh(&s.problem, &chain, false);
    hfi_chain_table(&s.problem, &chain);
    for (size_t k = 0; k < 300; k++) {
        if (k == 150) {
            s.problem.n = MOST;
            hfi_chain_refresh(&s.problem, &chain, false);
            hfi_chain_table(&s.problem, &chain);
        }
        const size_t i = hfi_stream_below(&stream, s.problem.n);
        size_t at = 0;
        while (at < chain.count && chain.index[at] != i) at++;
        if (at < chain.count)
            hfi_chain_drop(&s.problem, &chain, at);
        else
            hfi_chain_add(&s.problem, &chain, i, k % 2 == 0 ? 1 : -1);
        if (k % 17 == 0) compare(&s.problem, &chain);
    }
    assert_true(chain.kept && chain.tabled && chain.count > 20);
    compare(&s.problem, &chain);
    hfi_chain_refresh(&s.problem, &chain, true);
    hfi_chain_table(&s.problem, &chain);
    compare(&s.problem, &chain);
    hfi_chain_free(&memory, &chain);
    close_setting(&s);
}

static void the_table_follows(void **state)
{
    (void)state;
    come_and_go(0.0);
    come_and_go(0.1);
}

/* ---- what is to enter ---------------------------------------------------------------------------------- */

static void the_best_is_found(void **state)
{
    (void)state;
    enum {
        N = 700
    };
    static double g[N], lower[N], upper[N], worth[N], left[N];
    hfi_stream stream;
    hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, 0);
    for (size_t round = 0; round < 60; round++) {
        const size_t n = 1 + hfi_stream_below(&stream, N);
        const double t = 0.5 + hfi_stream_uniform(&stream), tolerance = round % 3 == 0 ? 4.0 : 0.1;
        size_t most = n, steepest = n;
        double largest = 0.0, gain = 0.0;
        for (size_t i = 0; i < n; i++) {
            g[i] = hfi_stream_normal(&stream);
            lower[i] = -hfi_stream_uniform(&stream);
            upper[i] = i % 11 == 0 ? INFINITY : hfi_stream_uniform(&stream);
            worth[i] = i % 7 == 0 ? 0.0 : 0.2 + hfi_stream_uniform(&stream);
            left[i] = worth[i] > 0.0 ? hfi_stream_uniform(&stream) / (worth[i] * worth[i]) : 1.0;
            const double e = worth[i] * fmax(g[i] - t * upper[i], t * lower[i] - g[i]);
            if (!(e > tolerance)) continue;
            const double own = e * e / (left[i] * worth[i] * worth[i] + 1e-6);
            if (e > largest) most = i;
            if (own > gain) steepest = i;
            largest = fmax(largest, e);
            gain = fmax(gain, own);
        }
        assert_int_equal(hfi_active_best(n, g, t, lower, upper, worth, NULL, tolerance), most);
        assert_int_equal(hfi_active_best(n, g, t, lower, upper, worth, left, tolerance), steepest);
    }
}

/* ---- searches ------------------------------------------------------------------------------------------ */

/* Tiny noise, and queries far apart: warm searches take many pivots, give the table up and make it again.
 * Stopped after any number of pivots the bound holds, and is no tighter than the best. */
static void searches_end_where_cold_ones_do(void **state)
{
    (void)state;
    hf_context *ctx = support_context(1);
    hf_kernel *kernel = support_kernel(ctx, "matern52(lengthscale=0.9)", 2);
    support_world *world = support_make(kernel, 150, 2, 1e-4, 1.5, 21);
    hf_envelope *envelope = support_envelope(ctx, kernel, &world->readings, world->norm);
    hf_envelope_workspace *warm = hf_envelope_workspace_create(ctx, envelope);
    hf_envelope_workspace *cold = hf_envelope_workspace_create(ctx, envelope);
    size_t given_up = 0, kept = 0;
    for (size_t q = 0; q < 40; q++) {
        double x[2] = {0.0};
        hf_bound a, b, stopped;
        support_query(world, q / 4, x);
        x[0] += 1e-4 * (double)(q % 4);
        const double truth = support_truth(world, x);
        assert_int_equal(hf_envelope_bounds(envelope, warm, x, NULL, &a, NULL, NULL), HF_OK);
        (*(warm->chain[HF_UPPER].kept ? &kept : &given_up))++;
        hf_envelope_workspace_reset(cold);
        assert_int_equal(hf_envelope_bounds(envelope, cold, x, NULL, &b, NULL, NULL), HF_OK);
        assert_near(a.upper, b.upper, 1e-9 * world->norm);
        assert_near(a.lower, b.lower, 1e-9 * world->norm);
        const hf_envelope_limits limits = {.size = sizeof limits, .pivots = 1 + 3 * q};
        hf_envelope_workspace_reset(cold);
        assert_true(hf_envelope_bounds(envelope, cold, x, &limits, &stopped, NULL, NULL) >= 0);
        assert_true(stopped.pivots <= 2 * limits.pivots);
        assert_true(stopped.upper >= b.upper - 1e-9 * world->norm && stopped.upper >= truth);
        assert_true(stopped.lower <= b.lower + 1e-9 * world->norm && stopped.lower <= truth);
    }
    assert_true(given_up > 5 && kept > 5);
    hf_envelope_workspace_free(warm);
    hf_envelope_workspace_free(cold);
    hf_envelope_free(envelope);
    support_free(world);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangles_are_solved),
        cmocka_unit_test(the_table_follows),
        cmocka_unit_test(the_best_is_found),
        cmocka_unit_test(searches_end_where_cold_ones_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
