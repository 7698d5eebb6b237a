/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file comparison.h
 * @brief Models compared by cross-validation: what compare.c fills and comparison.c tells.
 */
#ifndef HFI_COMPARISON_H
#define HFI_COMPARISON_H

#include "model/model.h"
#include <holdfast/compare.h>

struct hf_comparison {
    hfi_memory memory;
    hf_compare_settings settings;
    size_t models, n;
    char **name;         /* models */
    hf_compared *scores; /* models */
    size_t *row;         /* n */
    double *y;           /* n */
    size_t *fold;        /* repeats x n */
    double *mean, *sd;   /* models x repeats x n: moments of the target */
    hf_metrics *each;    /* the same: scores of one prediction */
};

/** Number k of a program's contenders. Their settings end the struct, so that the size of these
 * says how far one contender is from the next. */
static inline const hf_contender *hfi_contender_at(const hf_contender *contenders, size_t k)
{
    const size_t bytes = offsetof(hf_contender, settings) + contenders->settings.size;
    return (const hf_contender *)(const void *)((const char *)contenders + k * bytes);
}

/** Room for the predictions of models for n readings; HF_ERR_MEMORY. */
hf_status hfi_comparison_create(hf_context *ctx, size_t contender_count,
                                const hf_contender *listed_contenders, size_t n,
                                const hf_compare_settings *settings, hf_comparison **out);
/** Metrics and median error of every model from those of its predictions. */
hf_status hfi_comparison_score(hf_context *ctx, hf_comparison *comparison);

#endif
