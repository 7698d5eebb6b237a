/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file compare.h
 * @brief Which model predicts best? Cross-validation of several models on the same folds.
 *
 * The readings of a table are dealt into folds. Each model is fitted to all folds but one, predicts
 * that one, and so on for every fold: every reading is predicted once by a model that has not seen
 * it, hyperparameters included. All models see the same folds, so they are compared reading by
 * reading.
 *
 * **Wrong readings.** They are among the readings that are predicted, and nobody knows which they
 * are. No model predicts them, and their size decides whatever counts squares: RMSE, and NLPD. A
 * model with wide intervals then wins, though it predicts all good readings worse. CRPS and MAE
 * grow with the distance only: what one wrong reading adds is nearly the same for every model, and
 * drops out of their difference. So CRPS is the usual criterion here. The median error does not see
 * wrong readings at all, nor intervals.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_COMPARE_H
#define HOLDFAST_COMPARE_H

#include <holdfast/model.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** Models compared, with what each predicted. Immutable: threads may share it. */
typedef struct hf_comparison hf_comparison;

/** A model that takes part. */
typedef struct hf_contender {
    /** for people; not NULL */
    const char *name;
    hf_fit_settings settings;
} hf_contender;

/** How readings are dealt. */
typedef struct hf_compare_settings {
    /** sizeof(hf_compare_settings) */
    size_t size;
    /** Parts that a table is cut into; from 2 to the number of readings. Default: 10. */
    size_t folds;
    /** How often, each time dealt anew; >= 1. Default: 1. */
    size_t repeats;
} hf_compare_settings;
HF_SETTINGS(hf_compare_settings)

/** By what models are put in order: the mean over readings of a loss, less is better. */
typedef enum hf_criterion {
    /** continuous ranked probability score, units of the target */
    HF_CRITERION_CRPS = 0,
    /** -log of the density of the reading */
    HF_CRITERION_NLPD,
    /** |reading - median|; without a transform this is the mean */
    HF_CRITERION_MAE,
    /** (reading - mean)^2, told as the root of its mean */
    HF_CRITERION_RMSE
} hf_criterion;

/** Scores of one model. */
typedef struct hf_compared {
    /** of all predictions, those of all repeats */
    hf_metrics metrics;
    /** median of what MAE is the mean of */
    double median_error;
    /** of its fits and predictions, one after the other */
    double seconds;
    /** fits that ended with a warning, of folds x repeats */
    size_t warnings;
    /** the last of these, cut if too long; "" if there was none */
    char warning[160];
} hf_compared;

/**
 * Cross-validates models on the same folds.
 *
 * Rows with a reading and all inputs (and noise, if there is such a column) take part, n of them in
 * the order of the table. hf_split(ctx, seed + r, 0, n, order, &m) deals repeat r = 0, 1, ...; the
 * seed is the context's. Reading order[k] is in fold k mod folds. A fit sees the rows of the
 * other folds in the order of the table, with the inputs that hf_fit() of the whole table has.
 *
 * @param columns         one output
 * @param contender_count models, >= 1
 * @param contenders      so many of them; names are copied
 * @param settings        NULL: the default
 *
 * Errors: those of hf_fit() (the message names the model and the fold); HF_ERR_ARGUMENT for several
 * outputs, sites of labels, a checkpoint, fewer than 2 folds, more folds than readings; for a
 * target that has the same value in every row, which all models predict; HF_ERR_CANCELLED. *out is
 * untouched on error. Reports progress as the stage "compare". Cost: contenders x folds x repeats
 * fits of n (1 - 1/folds) readings; of few readings several at once, on the context's threads,
 * whose number changes no digit. Threads may share table and settings, each with a context of its
 * own.
 * Source: Stone, "Cross-validatory choice and assessment of statistical predictions" (1974).
 */
HF_API hf_status hf_compare(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                            size_t contender_count, const hf_contender *contenders,
                            const hf_compare_settings *settings, hf_comparison **out);
HF_API void hf_comparison_free(hf_comparison *comparison);

/** Models; readings n; and the settings it was made with. 0 and NULL for NULL. */
HF_API size_t hf_comparison_models(const hf_comparison *comparison);
HF_API size_t hf_comparison_readings(const hf_comparison *comparison);
HF_API const hf_compare_settings *hf_comparison_settings_of(const hf_comparison *comparison);
/** Name and scores of a model; NULL if there is no such model. Owned by the comparison. */
HF_API const char *hf_comparison_name(const hf_comparison *comparison, size_t model);
HF_API const hf_compared *hf_comparison_scores(const hf_comparison *comparison, size_t model);

/** Rows of the table that took part, from 0, and their readings: n entries, in the order of all
 * that follows. Owned by the comparison. */
HF_API const size_t *hf_comparison_rows(const hf_comparison *comparison);
HF_API const double *hf_comparison_targets(const hf_comparison *comparison);
/** The fold of each reading in a repeat, from 0: n entries; NULL if there is no such repeat. */
HF_API const size_t *hf_comparison_folds(const hf_comparison *comparison, size_t repeat);
/** Predictions of a model for each reading in repeat r, by a fit without its fold: means, and
 * standard deviations with noise. n entries, units of the target; NULL if there is no such model or
 * repeat. */
HF_API const double *hf_comparison_means(const hf_comparison *comparison, size_t model, size_t r);
HF_API const double *hf_comparison_sds(const hf_comparison *comparison, size_t model, size_t r);

/** The model of the least mean loss; of equals the first. One whose loss is infinite comes last.
 * O(models). */
HF_API size_t hf_comparison_best(const hf_comparison *comparison, hf_criterion criterion);

/**
 * By how much model a is worse than model b, paired over readings.
 * @param difference     mean of d_i = loss of a - loss of b, where losses of reading i are averaged
 *                       over repeats; NaN where both are infinite
 * @param standard_error of that mean: sd of d_i / sqrt(n); NaN for one reading or infinite losses.
 *                       May be NULL
 *
 * For RMSE both are divided by rmse(a) + rmse(b), which turns the difference of mean squares into
 * that of their roots. Less than two standard errors is a difference that other readings of the
 * same kind could turn round. The standard error treats d_i as independent, while fits share most
 * of their readings: it is somewhat too small, and no estimate is free of that.
 * HF_ERR_ARGUMENT for NULL and for a model that is not there. O(n repeats).
 * Source: Bengio and Grandvalet, "No unbiased estimator of the variance of K-fold cross-validation"
 * (2004).
 */
HF_API hf_status hf_comparison_difference(hf_context *ctx, const hf_comparison *comparison,
                                          hf_criterion criterion, size_t model_a, size_t model_b,
                                          double *difference, double *standard_error);

HF_END_DECLS

#endif
