/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file outputs.h
 * @brief Several outputs, inside: patterns of missing readings and what follows from each; for the
 * sites room only.
 */
#ifndef HFI_SITES_OUTPUTS_H
#define HFI_SITES_OUTPUTS_H

#include "core/core.h"
#include <holdfast/outputs.h>

/** Rows with the same outputs missing, and the same covariance, together. */
typedef struct hfi_patterns {
    size_t n, groups;
    /* n: the rows of group k are row[begin[k]] .. row[begin[k + 1] - 1], ascending */
    size_t *row;
    size_t *begin; /* groups + 1 */
} hfi_patterns;

hf_status hfi_patterns_create(hf_context *ctx, size_t n, const double *y, size_t ldy,
                              const hf_outputs_model *model, hfi_patterns *out);
void hfi_patterns_free(hf_context *ctx, hfi_patterns *patterns);

/** A readings' table and a model that go together: shapes, finite numbers, no negative variance.
 * HF_ERR_ARGUMENT, HF_ERR_DIMENSION or HF_ERR_NOT_FINITE with `who` in the message. */
hf_status hfi_outputs_check(hf_context *ctx, const char *who, size_t n, const double *y, size_t ldy,
                            const hf_outputs_model *model);

/** The model of one row alone: its own covariance is the one for all. */
hf_outputs_model hfi_outputs_at(const hf_outputs_model *model, size_t row);
/** Entry (s, t) of C without ridge; of a model with one covariance. */
double hfi_outputs_covariance(const hf_outputs_model *model, size_t s, size_t t);
/** y - m, within 1e100 standard deviations. */
double hfi_outputs_deviation(const hf_outputs_model *model, size_t t, double y);

/** a (k x k) := factor of C + ridge I over the `count` outputs of `list`, with jitter if it must
 * be. HF_WARN_JITTER and errors as hfi_chol_jitter(). */
hf_status hfi_outputs_factor(hf_context *ctx, const hf_outputs_model *model, size_t count,
                             const size_t *list, double *a);

/** coefficient (T x T, row t for output t): those of the regression of every output on the others
 * among the observed ones (listed, ascending); zero elsewhere. `work` holds 2 T T + 2 T doubles and
 * `index` T. */
hf_status hfi_outputs_regress(hf_context *ctx, const hf_outputs_model *model, size_t count,
                              const size_t *observed, double *coefficient, double *work,
                              size_t *index);

/** Conditional means and variances (of readings, given the other readings of their row), n x T
 * each; either may be NULL. On error they are spoilt. */
hf_status hfi_outputs_condition(hf_context *ctx, size_t n, const double *y, size_t ldy,
                                const hf_outputs_model *model, double *mean, double *variance);

/** Threshold of one column of `n` readings and centres without gaps. */
hf_status hfi_outputs_threshold(hf_context *ctx, hf_outputs_threshold rule, size_t n,
                                const double *y, const double *centre, double eps,
                                double *threshold);
hf_status hfi_outputs_check_threshold(hf_context *ctx, hf_outputs_threshold rule, size_t outputs,
                                      const double *eps);

#endif
