/* SPDX-License-Identifier: Apache-2.0 */
/* Whole fits, one for each way to share work: what several processes end in is compared with what
 * one does.
 *
 * Sums in another order differ by rounding. Without training that is all; optimisers and rounds of
 * weighing make more of it. */
#ifndef GROUP_FITS_H
#define GROUP_FITS_H

#include "core/core.h"
#include <holdfast/train.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum {
    FIT_ROWS = 150,
    FIT_INPUTS = 2,
    FIT_QUERIES = 15,
    FIT_CASES = 8
};

static const char *const FIT_NAMES[FIT_CASES] = {"exact",
                                                 "exact, leave-one-out",
                                                 "exact, suspects",
                                                 "inducing",
                                                 "inducing, robust",
                                                 "projected, blocks",
                                                 "projected, Krylov",
                                                 "projected, single precision"};

typedef struct fit_outcome {
    hf_status status;
    double objective;
    double mean[FIT_QUERIES], variance[FIT_QUERIES];
    char message[256];
} fit_outcome;

static inline hf_status fit_settings(hf_context *ctx, size_t which, bool train, hf_fit_settings *s)
{
    static const char *const presets[FIT_CASES] = {"gp",     "gp",   "default", "sgpr",
                                                   "rcsvgp", "cagp", "rcagp",   "cagp"};
    const hf_status status = hf_fit_settings_preset(ctx, presets[which], s, sizeof *s);
    if (which < 3) s->solver = HF_SOLVER_EXACT;
    s->iterations = 3;
    s->rounds = 1;
    s->inducing = s->solver == HF_SOLVER_EXACT ? 0 : 20;
    if (s->solver == HF_SOLVER_PROJECTED) s->actions = 12;
    if (which == 1) s->objective = HF_OBJECTIVE_LOO;
    if (which == 7) s->single_precision = true;
    s->train = train;
    if (!train) s->suspects = HF_OUTLIERS_OFF;
    return status;
}

/* Every process makes the same table and the same calls. */
static inline void fit_run(hf_context *ctx, size_t which, bool train, fit_outcome *out)
{
    double x[FIT_ROWS * FIT_INPUTS], y[FIT_ROWS], query[FIT_QUERIES * FIT_INPUTS];
    hf_fit_settings settings;
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    hfi_stream stream;
    hfi_stream_init(&stream, 23, HFI_PURPOSE_TEST, which);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < FIT_ROWS; i++) {
        for (size_t j = 0; j < FIT_INPUTS; j++)
            x[i * FIT_INPUTS + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        y[i] = sin(2.0 * x[i * FIT_INPUTS]) + 0.5 * x[i * FIT_INPUTS + 1] +
               0.1 * hfi_stream_normal(&stream);
        if (i % 37 == 5) y[i] += 5.0;
    }
    for (size_t k = 0; k < FIT_QUERIES * FIT_INPUTS; k++)
        query[k] = 5.0 * hfi_stream_uniform(&stream) - 2.5;
    const hf_data data = {.n = FIT_ROWS, .d = FIT_INPUTS, .x = x, .ldx = FIT_INPUTS, .y = y};
    out->status = fit_settings(ctx, which, train, &settings);
    if (out->status >= 0)
        out->status = hf_fit_data(ctx, &data, &settings, &posterior, &report, NULL);
    if (out->status >= 0) out->objective = report.objective;
    hf_status predicted = out->status;
    if (out->status >= 0)
        predicted = hf_predict(ctx, posterior, FIT_QUERIES, query, FIT_INPUTS, out->mean, NULL,
                               out->variance);
    if (predicted < 0) out->status = predicted;
    strncpy(out->message, hf_context_message(ctx), sizeof out->message - 1);
    hf_posterior_free(posterior);
}

static inline void assert_same_fit(size_t which, bool train, const fit_outcome *got,
                                   const fit_outcome *wanted)
{
    const double tolerance = !train ? 1e-10 : which == 2 || which == 7 ? 1e-4 : 1e-6;
    if (wanted->status < 0) fail_msg("%s alone: %s", FIT_NAMES[which], wanted->message);
    if (got->status != wanted->status)
        fail_msg("%s: status %d, not %d: %s", FIT_NAMES[which], got->status, wanted->status,
                 got->message);
    if (!(fabs(got->objective - wanted->objective) <= tolerance * (1.0 + fabs(wanted->objective))))
        fail_msg("%s: objective %.15g, not %.15g", FIT_NAMES[which], got->objective,
                 wanted->objective);
    for (size_t q = 0; q < FIT_QUERIES; q++) {
        if (!(fabs(got->mean[q] - wanted->mean[q]) <= tolerance))
            fail_msg("%s: mean %zu is %.15g, not %.15g", FIT_NAMES[which], q, got->mean[q],
                     wanted->mean[q]);
        if (!(fabs(got->variance[q] - wanted->variance[q]) <= tolerance))
            fail_msg("%s: variance %zu is %.15g, not %.15g", FIT_NAMES[which], q, got->variance[q],
                     wanted->variance[q]);
    }
}

#endif
