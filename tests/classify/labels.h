/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file labels.h
 * @brief A small problem of two classes for the tests of this room.
 */
#ifndef HF_TEST_CLASSIFY_LABELS_H
#define HF_TEST_CLASSIFY_LABELS_H

#include "classify/classify.h"
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
    assert_int_equal(hf_context_set_threads(l->ctx, 1), HF_OK); /* waking more takes longer than the work */
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

#endif
