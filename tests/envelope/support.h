/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file support.h
 * @brief Worlds for the tests of the envelope room: a function of known norm, and readings of it.
 * Include after <cmocka.h>.
 */
#ifndef HF_TEST_ENVELOPE_SUPPORT_H
#define HF_TEST_ENVELOPE_SUPPORT_H

#include "envelope/envelope.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* f = sum_j weight_j k(., centre_j), its norm, and readings with errors up to the noise bound. */
typedef struct support_world {
    const hf_kernel *kernel;
    size_t d, centres;
    double *centre, *weight, *x, *y;
    double norm; /* bound given out: the function's norm times some slack */
    hf_bounded_readings readings;
    uint64_t seed;
} support_world;

static inline hf_context *support_context(int threads)
{
    hf_context *ctx = hf_context_create();
    assert_non_null(ctx);
    assert_int_equal(hf_context_set_threads(ctx, threads), HF_OK);
    return ctx;
}

static inline hf_kernel *support_kernel(hf_context *ctx, const char *expression, size_t d)
{
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, expression, NULL, d, &kernel), HF_OK);
    return kernel;
}

static inline double support_truth(const support_world *world, const double *x)
{
    double f = 0.0;
    for (size_t j = 0; j < world->centres; j++)
        f += world->weight[j] *
             hfi_kernel_value(world->kernel, world->centre + j * world->d, x, false);
    return f;
}

static inline double support_truth_norm(const support_world *world)
{
    double square = 0.0;
    for (size_t i = 0; i < world->centres; i++)
        for (size_t j = 0; j < world->centres; j++)
            square += world->weight[i] * world->weight[j] *
                      hfi_kernel_value(world->kernel, world->centre + i * world->d,
                                       world->centre + j * world->d, false);
    return sqrt(square);
}

static inline support_world *support_make(const hf_kernel *kernel, size_t n, size_t d, double noise,
                                          double slack, uint64_t seed)
{
    enum {
        CENTRES = 12
    };
    support_world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    *world = (support_world){.kernel = kernel, .d = d, .centres = CENTRES, .seed = seed};
    world->centre = calloc(CENTRES * d, sizeof *world->centre);
    world->weight = calloc(CENTRES, sizeof *world->weight);
    world->x = calloc(n * d, sizeof *world->x);
    world->y = calloc(n, sizeof *world->y);
    assert_true(world->centre && world->weight && world->x && world->y);
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < CENTRES * d; i++)
        world->centre[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
    for (size_t i = 0; i < CENTRES; i++) world->weight[i] = hfi_stream_normal(&stream);
    for (size_t i = 0; i < n * d; i++) world->x[i] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
    for (size_t i = 0; i < n; i++)
        world->y[i] = support_truth(world, world->x + i * d) +
                      noise * (2.0 * hfi_stream_uniform(&stream) - 1.0);
    world->norm = slack * support_truth_norm(world);
    world->readings =
        (hf_bounded_readings){.n = n, .x = world->x, .ldx = d, .y = world->y, .noise_bound = noise};
    return world;
}

static inline void support_free(support_world *world)
{
    free(world->centre);
    free(world->weight);
    free(world->x);
    free(world->y);
    free(world);
}

/* Query q of a sequence: anywhere, somewhat beyond the readings too. */
static inline void support_query(const support_world *world, size_t q, double *x)
{
    hfi_stream stream;
    hfi_stream_init(&stream, world->seed, HFI_PURPOSE_TEST, q + 1);
    for (size_t j = 0; j < world->d; j++) x[j] = 5.0 * hfi_stream_uniform(&stream) - 2.5;
}

static inline hf_envelope *support_envelope(hf_context *ctx, const hf_kernel *kernel,
                                            const hf_bounded_readings *readings, double norm)
{
    hf_envelope *envelope = NULL;
    const hf_status status = hf_envelope_create(ctx, kernel, readings, norm, NULL, &envelope);
    if (status != HF_OK) fail_msg("%s", hf_context_message(ctx));
    return envelope;
}

/* A world with all that is needed to ask about it. */
typedef struct support_problem {
    hf_context *ctx;
    hf_kernel *kernel;
    support_world *world;
    hf_envelope *envelope;
    hf_envelope_workspace *workspace;
} support_problem;

/* Without the envelope, for tests that have a hand in the readings first. */
static inline support_problem support_begin(const char *kernel, size_t n, size_t d, double noise,
                                            double slack, uint64_t seed)
{
    support_problem p = {.ctx = support_context(1)};
    p.kernel = support_kernel(p.ctx, kernel, d);
    p.world = support_make(p.kernel, n, d, noise, slack, seed);
    return p;
}

static inline void support_build(support_problem *p)
{
    p->envelope = support_envelope(p->ctx, p->kernel, &p->world->readings, p->world->norm);
    p->workspace = hf_envelope_workspace_create(p->ctx, p->envelope);
    assert_non_null(p->workspace);
}

static inline support_problem support_open(const char *kernel, size_t n, size_t d, double noise,
                                           double slack, uint64_t seed)
{
    support_problem p = support_begin(kernel, n, d, noise, slack, seed);
    support_build(&p);
    return p;
}

static inline hf_bound support_bound(const support_problem *p, const double *x)
{
    hf_bound bound;
    assert_int_equal(hf_envelope_bounds(p->envelope, p->workspace, x, NULL, &bound, NULL, NULL),
                     HF_OK);
    return bound;
}

static inline void support_close(support_problem *p)
{
    hf_envelope_workspace_free(p->workspace);
    hf_envelope_free(p->envelope);
    support_free(p->world);
    hf_kernel_free(p->kernel);
    hf_context_free(p->ctx);
}

#endif
