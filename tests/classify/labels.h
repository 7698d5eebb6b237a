/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file labels.h
 * @brief A small problem of two classes for the tests of this room.
 */
#ifndef HF_TEST_CLASSIFY_LABELS_H
#define HF_TEST_CLASSIFY_LABELS_H

#include "classify/classify.h"
#include "kernel/kernel.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    ROWS = 40,
    INPUTS = 2
};

typedef struct labels {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    double x[ROWS * INPUTS];
    size_t label[ROWS];
} labels;

/* Two clouds that overlap. */
static inline void labels_make(labels *l, const char *expression, hf_mean_kind mean)
{
    hfi_stream stream;
    l->ctx = hf_context_create();
    assert_non_null(l->ctx);
    /* waking more takes longer than the work */
    assert_int_equal(hf_context_set_threads(l->ctx, 1), HF_OK);
    hfi_stream_init(&stream, 7, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < ROWS; i++) {
        l->label[i] = i % 3 == 0;
        l->x[i * INPUTS] = hfi_stream_normal(&stream) + (l->label[i] ? 1.2 : -0.4);
        l->x[i * INPUTS + 1] = hfi_stream_normal(&stream);
    }
    assert_int_equal(hf_kernel_parse(l->ctx, expression, NULL, INPUTS, &l->kernel), HF_OK);
    assert_int_equal(hf_mean_create(l->ctx, mean, INPUTS, &l->mean), HF_OK);
}

static inline void labels_free(labels *l)
{
    hf_kernel_free(l->kernel);
    hf_mean_free(l->mean);
    hf_context_free(l->ctx);
}

/* A label as a likelihood sees it, and the link's density and moments of it. */
static inline hfi_likelihood_slopes label_density(hf_link link, double sign, double f)
{
    const hfi_seen seen = {.y = sign};
    return hfi_likelihood_density(hfi_class_likelihood(link), &seen, f);
}

static inline hfi_likelihood_tilted label_tilt(hf_link link, double sign, double mean, double var)
{
    const hfi_seen seen = {.y = sign};
    return hfi_likelihood_tilt(hfi_class_likelihood(link), &seen, 1.0, mean, var);
}

/* The approximate evidence of all rows, which has to converge. */
static inline double labels_evidence(labels *l, hf_link link, hf_inference inference,
                                     double *gradient)
{
    double value = NAN;
    assert_int_equal(hf_class_evidence(l->ctx, link, inference, l->kernel, l->mean, ROWS, l->x,
                                       INPUTS, l->label, 2, &value, gradient),
                     HF_OK);
    return value;
}

/* Its gradient against differences, in every parameter of the kernel and of a linear mean, at a
 * place away from the start. */
static inline void labels_compare_gradient(const char *expression, hf_link link,
                                           hf_inference inference, double tolerance)
{
    enum {
        MOST = 16
    };
    static const double start[] = {0.3, -0.2, 0.1}, at[] = {-2e-3, -1e-3, 1e-3, 2e-3},
                        weight[] = {1.0, -8.0, 8.0, -1.0};
    labels l;
    labels_make(&l, expression, HF_MEAN_LINEAR);
    assert_int_equal(hf_mean_set(l.ctx, l.mean, start, false), HF_OK);
    const size_t kernel_count = hf_kernel_parameters(l.kernel), count = kernel_count + INPUTS + 1;
    double gradient[MOST], theta[MOST];
    assert_true(count <= MOST);
    labels_evidence(&l, link, inference, gradient);
    hfi_kernel_theta(l.kernel, theta);
    memcpy(theta + kernel_count, start, sizeof start);
    for (size_t i = 0; i < count; i++) {
        double slope = 0.0, moved[MOST];
        for (int s = 0; s < 4; s++) {
            memcpy(moved, theta, sizeof moved);
            moved[i] += at[s];
            hfi_kernel_set_theta(l.kernel, moved);
            assert_int_equal(hf_mean_set(l.ctx, l.mean, moved + kernel_count, false), HF_OK);
            slope += weight[s] * labels_evidence(&l, link, inference, NULL) / 12e-3;
        }
        assert_near(gradient[i], slope, tolerance * (1.0 + fabs(gradient[i])));
    }
    labels_free(&l);
}

#endif
