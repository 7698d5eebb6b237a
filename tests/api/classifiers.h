/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file classifiers.h
 * @brief A small classifier of two classes for sweeps of certificates.
 */
#ifndef TESTS_API_CLASSIFIERS_H
#define TESTS_API_CLASSIFIERS_H

#include "api/workshop.h"
#include <holdfast/certify_uses.h>

enum {
    CLASSIFIERS_ROWS = 8
};

/* Two classes along input 0, of a context of its own; NULL is never returned. */
static inline hf_classifier *classifiers_make(void)
{
    static const double x[2 * CLASSIFIERS_ROWS] = {0.0, 0.1, 0.2, 0.9, 0.3, 0.4, 0.4, 0.7,
                                                   1.6, 0.2, 1.7, 0.8, 1.9, 0.5, 2.2, 0.1};
    static const size_t label[CLASSIFIERS_ROWS] = {0, 0, 0, 0, 1, 1, 1, 1};
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_classifier *out = NULL;
    assert_int_equal(hf_kernel_parse(ctx, "2*se(lengthscale=0.8)", NULL, 2, &kernel), HF_OK);
    assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 2, &mean), HF_OK);
    assert_true(hf_classify_exact(ctx, HF_LINK_PROBIT, HF_INFERENCE_LAPLACE, kernel, mean,
                                  CLASSIFIERS_ROWS, x, 2, label, 2, &out, NULL) >= 0);
    hf_mean_free(mean);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
    return out;
}

#endif
