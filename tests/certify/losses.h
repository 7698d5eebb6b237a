/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file losses.h
 * @brief Losses of classes, classifiers that they are for, and boxes, for tests of certificates.
 */
#ifndef LOSSES_H
#define LOSSES_H

#include "classify/labels.h"

#include <holdfast/certify_uses.h>
#include <stdio.h>

enum {
    C = 3,
    SAMPLES = 300,
    LOSSES = 4
};

/* Every wrong decision costs 1; a class that must not be missed; costs of decisions; a right
 * decision that costs, too. */
static const double losses[LOSSES][C * C] = {{0, 1, 1, 1, 0, 1, 1, 1, 0},
                                             {0, 1, 20, 1, 0, 20, 1, 1, 0},
                                             {0, 5, 2, 1, 0, 0.5, 3, 4, 0.1},
                                             {2, 300, 70, 10, 30, 90, 40, 31, 60}};

typedef struct trial {
    hf_context *ctx;
    hf_classifier *classifier;
    double x[ROWS * INPUTS];
    size_t label[ROWS];
    hfi_stream stream;
} trial;

static inline void begin(trial *t, hf_link link, size_t classes)
{
    t->ctx = hf_context_create();
    assert_int_equal(hf_context_set_threads(t->ctx, 1), HF_OK);
    t->classifier = NULL;
    hfi_stream_init(&t->stream, 31, HFI_PURPOSE_TEST, classes);
    for (size_t i = 0; i < ROWS; i++) {
        const size_t c = i % classes;
        t->label[i] = c;
        for (size_t j = 0; j < INPUTS; j++)
            t->x[i * INPUTS + j] =
                0.6 * hfi_stream_normal(&t->stream) + (j == 0 ? cos : sin)(2.1 * (double)c);
    }
    hf_class_settings fit = hf_class_settings_default();
    const hf_class_data data = {
        .n = ROWS, .d = INPUTS, .x = t->x, .ldx = INPUTS, .label = t->label, .classes = classes};
    fit.link = link;
    fit.train = false;
    assert_true(hf_classifier_fit(t->ctx, &data, &fit, &t->classifier, NULL) >= 0);
}

static inline void end(trial *t)
{
    hf_classifier_free(t->classifier);
    hf_context_free(t->ctx);
}

static inline void set_loss(trial *t, const double *loss)
{
    hf_class_rule rule = hf_class_rule_default();
    rule.loss = loss;
    if (hf_classifier_set_rule(t->ctx, t->classifier, &rule) != HF_OK)
        fail_msg("%s", hf_context_message(t->ctx));
}

static inline void draw_box(trial *t, double half, double *x, double *lower, double *upper)
{
    for (size_t j = 0; j < INPUTS; j++) {
        x[j] = 3.0 * hfi_stream_uniform(&t->stream) - 1.5;
        lower[j] = x[j] - half * hfi_stream_uniform(&t->stream);
        upper[j] = x[j] + half * hfi_stream_uniform(&t->stream);
    }
}

static inline void draw_inside(trial *t, const double *lower, const double *upper, double *x)
{
    for (size_t k = 0; k < SAMPLES; k++)
        for (size_t j = 0; j < INPUTS; j++) {
            const double u = 1.2 * hfi_stream_uniform(&t->stream) - 0.1;
            x[k * INPUTS + j] = lower[j] + fmin(fmax(u, 0.0), 1.0) * (upper[j] - lower[j]);
        }
}

static inline void predict(trial *t, size_t m, const double *x, double *p, size_t *winner)
{
    assert_int_equal(
        hf_classify_predict(t->ctx, t->classifier, m, x, INPUTS, p, winner, NULL, NULL, NULL),
        HF_OK);
}

/* By a loop of its own. */
static inline double expected(size_t classes, const double *loss, const double *p, size_t a)
{
    double sum = 0.0;
    for (size_t b = 0; b < classes; b++) sum += p[b] * loss[a * classes + b];
    return sum;
}

#endif
