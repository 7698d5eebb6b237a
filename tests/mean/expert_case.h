/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file expert_case.h
 * @brief Readings that an expert says something of, and their neighbours by trying all.
 */
#ifndef TESTS_MEAN_EXPERT_CASE_H
#define TESTS_MEAN_EXPERT_CASE_H

#include <holdfast/expert.h>

#include "core/core.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 12,
    D = 2
};

/* Readings 1, 4 and 7 are doubted, the first two corrected; 2 and 9 are believed; 11 is missing. */
typedef struct case_ {
    double x[N * D], y[N], correction[N], var[N];
    hf_expert_label label[N];
    hf_expert_data data;
} case_;

static inline void make(case_ *c)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < N; i++) {
        c->x[D * i] = 3.0 * hfi_stream_uniform(&stream);
        c->x[D * i + 1] = 10.0 * hfi_stream_normal(&stream);
        c->y[i] = 5.0 + sin(c->x[D * i]) + 0.1 * hfi_stream_normal(&stream);
        c->correction[i] = c->var[i] = NAN;
        c->label[i] = HF_EXPERT_UNKNOWN;
    }
    c->y[1] += 6.0;
    c->y[4] -= 5.0;
    c->y[7] += 4.0;
    c->y[11] = NAN;
    c->label[1] = c->label[4] = c->label[7] = HF_EXPERT_DOUBTED;
    c->label[2] = c->label[9] = HF_EXPERT_BELIEVED;
    c->correction[1] = 5.4;
    c->correction[4] = 5.9;
    c->var[4] = 0.3;
    c->data = (hf_expert_data){.n = N,
                               .d = D,
                               .x = c->x,
                               .ldx = D,
                               .y = c->y,
                               .label = c->label,
                               .correction = c->correction,
                               .correction_var = c->var};
}

static inline hf_expert *learn(hf_context *ctx, const hf_expert_data *data,
                               const hf_expert_settings *settings)
{
    hf_expert *expert = NULL;
    const hf_status s = hf_expert_create(ctx, data, settings, &expert);
    if (s != HF_OK) fail_msg("%s", hf_context_message(ctx));
    return expert;
}

static inline hf_expert_reading told(hf_context *ctx, const hf_expert *expert, size_t row)
{
    hf_expert_reading r;
    assert_int_equal(hf_expert_reading_of(ctx, expert, row, &r), HF_OK);
    return r;
}

static inline double mean_of(hf_context *ctx, const hf_expert *expert, const double *x, double *var)
{
    double mean;
    assert_int_equal(hf_expert_mean(ctx, expert, 1, x, D, &mean, var), HF_OK);
    return mean;
}

static inline double sd_of(const double *values, size_t stride)
{
    double mean = 0.0, squares = 0.0;
    for (size_t i = 0; i < N; i++) mean += values[i * stride] / N;
    for (size_t i = 0; i < N; i++) squares += pow(values[i * stride] - mean, 2.0);
    return sqrt(squares / (N - 1));
}

/* The weight function of lengthscale h standard deviations. */
static inline double closeness(const case_ *c, const double *a, const double *b, double h)
{
    double square = 0.0;
    for (size_t j = 0; j < D; j++) {
        const double r = (a[j] - b[j]) / (h * sd_of(c->x + j, D));
        square += r * r;
    }
    return exp(-0.5 * square);
}

/* Mean and sample variance of the n nearest undoubted readings. */
static inline void nearest(const case_ *c, size_t row, size_t n, double h, double *mean, double *v)
{
    bool taken[N] = {false};
    double values[N];
    *mean = *v = 0.0;
    for (size_t k = 0; k < n; k++) {
        size_t best = N;
        for (size_t i = 0; i < N; i++) {
            const bool doubted = c->label[i] == HF_EXPERT_DOUBTED;
            if (i == row || taken[i] || isnan(c->y[i]) || doubted) continue;
            if (best == N || closeness(c, c->x + D * row, c->x + D * i, h) >
                                 closeness(c, c->x + D * row, c->x + D * best, h))
                best = i;
        }
        taken[best] = true;
        values[k] = c->y[best];
        *mean += values[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++) *v += pow(values[k] - *mean, 2.0) / (double)(n - 1);
}

#endif
