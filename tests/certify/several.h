/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file several.h
 * @brief Classifiers of several classes for the tests of this room: points of the plane, labels and
 * a kernel.
 */
#ifndef HF_TEST_CERTIFY_SEVERAL_H
#define HF_TEST_CERTIFY_SEVERAL_H

#include "classify/labels.h"
#include <stdio.h>

typedef struct several {
    hf_context *ctx;
    hf_kernel *kernel;
    hf_mean *mean;
    hf_classifier *classifier;
    size_t classes;
} several;

/* One thread. Each @ of the expression is the part that tells the classes apart. */
static inline void several_begin(several *s, const char *expression, size_t classes)
{
    char whole[400] = "", part[80];
    *s = (several){.ctx = hf_context_create(), .classes = classes};
    assert_non_null(s->ctx);
    assert_int_equal(hf_context_set_threads(s->ctx, 1), HF_OK);
    snprintf(part, sizeof part, "coregion(x%d, outputs=%zu, rank=1, factor=0, own=1)", INPUTS + 1,
             classes);
    for (const char *at = expression; *at; at++)
        snprintf(whole + strlen(whole), sizeof whole - strlen(whole), "%.*s",
                 *at == '@' ? (int)sizeof part : 1, *at == '@' ? part : at);
    if (hf_kernel_parse(s->ctx, whole, NULL, INPUTS + 1, &s->kernel) != HF_OK)
        fail_msg("%s: %s", whole, hf_context_message(s->ctx));
    assert_int_equal(hf_mean_create_outputs(s->ctx, INPUTS + 1, classes, &s->mean), HF_OK);
}

/* ROWS points and labels. */
static inline void several_fit(several *s, const double *x, const size_t *label)
{
    if (hf_classify_exact(s->ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, s->kernel, s->mean, ROWS,
                          x, INPUTS, label, s->classes, &s->classifier, NULL) < 0)
        fail_msg("%s", hf_context_message(s->ctx));
}

static inline void several_end(several *s)
{
    hf_classifier_free(s->classifier);
    hf_kernel_free(s->kernel);
    hf_mean_free(s->mean);
    hf_context_free(s->ctx);
}

#endif
