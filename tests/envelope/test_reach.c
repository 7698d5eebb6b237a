/* SPDX-License-Identifier: Apache-2.0 */
/* No system that meets readings and norm bounds ever leaves its tube: random ones, and the worst that an
 * envelope itself proposes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/assert_near.h"
#include "envelope/support.h"
#include <holdfast/reach.h>

enum {
    STATES = 2,
    INPUTS = 1,
    D = STATES + INPUTS,
    READINGS = 40,
    STEPS = 4,
    POOL = 6,
    SYSTEMS = 12,
    RUNS = 40
};

/* A system: worlds for the outputs, which differ in weights alone, their envelopes, and a tube. */
typedef struct plant {
    support_problem output[STATES];
    const hf_envelope *envelope[STATES];
    hf_reach *reach;
    bool increments;
    double low0[STATES], high0[STATES], u[STEPS * INPUTS], disturbance[STATES];
    double low[STEPS * STATES], high[STEPS * STATES];
} plant;

static plant *plant_make(const char *kernel, double half, const hf_reach_settings *settings, uint64_t seed)
{
    plant *p = calloc(1, sizeof *p);
    assert_non_null(p);
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 5);
    p->increments = settings->increments;
    for (size_t i = 0; i < STATES; i++) {
        p->output[i] = support_open(kernel, READINGS, D, 0.02, 1.2, seed + 100 * i);
        p->envelope[i] = p->output[i].envelope;
        const double middle = 2.0 * hfi_stream_uniform(&stream) - 1.0;
        p->low0[i] = middle - half;
        p->high0[i] = middle + half;
        p->disturbance[i] = i == 0 ? 0.01 : 0.0;
    }
    for (size_t k = 0; k < STEPS * INPUTS; k++) p->u[k] = 2.0 * hfi_stream_uniform(&stream) - 1.0;
    assert_int_equal(hf_reach_create(p->output[0].ctx, STATES, INPUTS, p->envelope, settings, &p->reach),
                     HF_OK);
    const hf_status status =
        hf_reach_tube(p->reach, STEPS, p->low0, p->high0, p->u, p->disturbance, NULL, p->low, p->high);
    assert_true(status == HF_OK || status == HF_WARN_NOT_CONVERGED);
    return p;
}

static void plant_free(plant *p)
{
    hf_reach_free(p->reach);
    for (size_t i = 0; i < STATES; i++) support_close(&p->output[i]);
    free(p);
}

/* truth + share times a sum of kernel functions, as long as readings and norm allow. */
typedef struct other {
    double centre[POOL * D], weight[POOL], share;
} other;

static other draw(const support_problem *p, hfi_stream *stream)
{
    const support_world *w = p->world;
    other g;
    double own = 0.0, cross = 0.0;
    for (size_t j = 0; j < POOL * D; j++) g.centre[j] = 5.0 * hfi_stream_uniform(stream) - 2.5;
    for (size_t j = 0; j < POOL; j++) g.weight[j] = hfi_stream_normal(stream);
    for (size_t a = 0; a < POOL; a++) {
        cross += g.weight[a] * support_truth(w, g.centre + a * D);
        for (size_t b = 0; b < POOL; b++)
            own += g.weight[a] * g.weight[b] *
                   hfi_kernel_value(p->kernel, g.centre + a * D, g.centre + b * D, false);
    }
    const double truth = support_truth_norm(w), room = w->norm * w->norm - truth * truth;
    g.share = (sqrt(cross * cross + own * room) - cross) / own;
    for (size_t i = 0; i < READINGS; i++) {
        double at = 0.0;
        for (size_t j = 0; j < POOL; j++)
            at += g.weight[j] * hfi_kernel_value(p->kernel, g.centre + j * D, w->x + i * D, false);
        const double error = support_truth(w, w->x + i * D) - w->y[i];
        g.share =
            fmin(g.share, (w->readings.noise_bound - (at > 0.0 ? error : -error)) / fmax(fabs(at), 1e-300));
    }
    g.share *= 1.0 - 1e-9;
    return g;
}

static double value(const support_problem *p, const other *g, const double *z)
{
    double f = support_truth(p->world, z);
    for (size_t j = 0; j < POOL; j++)
        f += g->share * g->weight[j] * hfi_kernel_value(p->kernel, g->centre + j * D, z, false);
    return f;
}

static void assert_inside(const plant *p, size_t k, const double *x)
{
    for (size_t i = 0; i < STATES; i++)
        if (!(p->low[k * STATES + i] - 1e-10 <= x[i] && x[i] <= p->high[k * STATES + i] + 1e-10))
            fail_msg("step %zu, state %zu: %.17g is not in [%.17g, %.17g]", k, i, x[i],
                     p->low[k * STATES + i], p->high[k * STATES + i]);
}

static void start(const plant *p, hfi_stream *stream, double *x)
{
    for (size_t i = 0; i < STATES; i++) {
        const double at = hfi_stream_uniform(stream), end = at < 0.25   ? 0.0
                                                            : at > 0.75 ? 1.0
                                                                        : 2.0 * at - 0.5;
        x[i] = p->low0[i] + end * (p->high0[i] - p->low0[i]);
    }
}

static void run(const plant *p, const other *g, hfi_stream *stream)
{
    double x[STATES], next[STATES], z[D];
    start(p, stream, x);
    for (size_t k = 0; k < STEPS; k++) {
        memcpy(z, x, sizeof x);
        memcpy(z + STATES, p->u + k * INPUTS, INPUTS * sizeof *z);
        for (size_t i = 0; i < STATES; i++) {
            const double w = hfi_stream_uniform(stream) < 0.5 ? -p->disturbance[i] : p->disturbance[i];
            next[i] = (p->increments ? x[i] : 0.0) + value(&p->output[i], &g[i], z) + w;
        }
        memcpy(x, next, sizeof x);
        assert_inside(p, k, x);
    }
}

/* The function that attains a bound somewhere in the first box: the worst there is at that place. */
static void attack_first_step(const plant *p, hfi_stream *stream)
{
    double z[D], x[D];
    for (size_t i = 0; i < STATES; i++) {
        const support_problem *o = &p->output[i];
        size_t count, index[READINGS];
        double nu[READINGS];
        start(p, stream, z);
        memcpy(z + STATES, p->u, INPUTS * sizeof *z);
        const hf_bound b = support_bound(o, z);
        hf_envelope_active(o->workspace, HF_UPPER, &count, index, nu);
        double square = hfi_kernel_value(o->kernel, z, z, false);
        for (size_t a = 0; a < count; a++) {
            square -= 2.0 * nu[a] * hfi_kernel_value(o->kernel, z, o->world->x + index[a] * D, false);
            for (size_t c = 0; c < count; c++)
                square += nu[a] * nu[c] *
                          hfi_kernel_value(o->kernel, o->world->x + index[a] * D, o->world->x + index[c] * D,
                                           false);
        }
        if (!(square > 1e-6)) continue; /* next to a reading rounding has the word */
        for (int trial = 0; trial < RUNS; trial++) {
            start(p, stream, x);
            memcpy(x + STATES, p->u, INPUTS * sizeof *x);
            if (trial == 0) memcpy(x, z, sizeof x);
            double f = hfi_kernel_value(o->kernel, z, x, false);
            for (size_t a = 0; a < count; a++)
                f -= nu[a] * hfi_kernel_value(o->kernel, o->world->x + index[a] * D, x, false);
            f *= o->world->norm / sqrt(square);
            if (trial == 0) assert_near(f, b.upper, 1e-5 * o->world->norm);
            assert_true(f <= p->high[i] + 1e-6 * o->world->norm - (p->increments ? x[i] : 0.0));
            assert_true(f >= p->low[i] - 1e-6 * o->world->norm - (p->increments ? x[i] : 0.0));
        }
    }
}

static void no_system_leaves_its_tube(void **state)
{
    (void)state;
    const char *const kernels[] = {"se(lengthscale=1.5)",     "matern52(lengthscale=2)",
                                   "matern32(lengthscale=2)", "0.5*se(lengthscale=2) + linear(variance=0.1)",
                                   "matern12(lengthscale=3)", "rq(lengthscale=2)"};
    for (uint64_t s = 0; s < SYSTEMS; s++) {
        const hf_reach_settings settings = {
            .size = sizeof(hf_reach_settings), .splits = 1 + s % 3, .increments = s % 4 == 3};
        plant *p =
            plant_make(kernels[s % 6], s % 5 == 4 ? 0.0 : 0.03 * (double)(1 + s % 3), &settings, 50 + s);
        hfi_stream stream;
        hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, s);
        for (int k = 0; k < RUNS; k++) {
            const other g[STATES] = {draw(&p->output[0], &stream), draw(&p->output[1], &stream)};
            run(p, g, &stream);
        }
        attack_first_step(p, &stream);
        plant_free(p);
    }
}

/* The first box of a point is the bounds themselves. */
static void a_point_makes_the_optimal_bounds(void **state)
{
    (void)state;
    const hf_reach_settings settings = {.size = sizeof(hf_reach_settings), .splits = 3};
    plant *p = plant_make("se(lengthscale=1.5)", 0.0, &settings, 3);
    for (size_t i = 0; i < STATES; i++) {
        const double z[D] = {p->low0[0], p->low0[1], p->u[0]};
        const hf_bound b = support_bound(&p->output[i], z);
        assert_near(p->low[i], b.lower - p->disturbance[i], 1e-9);
        assert_near(p->high[i], b.upper + p->disturbance[i], 1e-9);
    }
    plant_free(p);
}

/* A box adds beyond its corners what falls with the square of the cells' sides. */
static void cells_make_boxes_smaller(void **state)
{
    (void)state;
    const hf_reach_settings coarse = {.size = sizeof(hf_reach_settings), .splits = 1},
                            fine = {.size = sizeof(hf_reach_settings), .splits = 6};
    plant *p = plant_make("se(lengthscale=1.5)", 0.4, &coarse, 9),
          *q = plant_make("se(lengthscale=1.5)", 0.4, &fine, 9);
    for (size_t i = 0; i < STATES; i++) {
        /* G sqrt(3) (h / l)^2 / 2 for each of two sides, the rest of a squared exponential. */
        const double one = sqrt(3.0) * p->output[i].world->norm * pow(0.4 / 1.5, 2.0);
        double z[D] = {0.0, 0.0, p->u[0]}, most = -INFINITY;
        for (size_t k = 0; k < 49; k++) {
            for (size_t j = 0; j < STATES; j++) z[j] = p->low0[j] + 0.8 * (double)(j ? k / 7 : k % 7) / 6.0;
            most = fmax(most, support_bound(&p->output[i], z).upper);
        }
        assert_near(q->high[i], most + p->disturbance[i] + one / 36.0, 1e-6 * one);
        assert_true(q->high[i] - q->low[i] < p->high[i] - p->low[i] - 0.5 * one);
    }
    plant_free(p);
    plant_free(q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_system_leaves_its_tube),
                                       cmocka_unit_test(a_point_makes_the_optimal_bounds),
                                       cmocka_unit_test(cells_make_boxes_smaller)};
    if (!hfi_interval_usable()) return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
