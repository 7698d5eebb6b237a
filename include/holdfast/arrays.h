/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arrays.h
 * @brief Models of rows in memory: fit, predict and score without a table and without names.
 *
 * For programs and bindings whose rows are arrays. Every kind of model is fitted and asked by the
 * same three calls: numbers, several outputs, counts, amounts, labels. The models are those of
 * model.h in every respect: hf_model_save() writes them, and the tool reads them.
 *
 *     double x[] = {0, 1, 2, 3, 4}, y[] = {0.1, 0.9, 1.1, 0.2, 9}, mean[5], sd[5];
 *     hf_arrays rows = {.size = sizeof rows, .rows = 5, .inputs = 1};
 *     rows.x = (hf_view){x, 1, 1};
 *     rows.y = (hf_view){y, 1, 1};
 *     hf_fit_settings settings = hf_fit_settings_default();
 *     hf_model_fit_arrays(ctx, &rows, &settings, &model, NULL);
 *     hf_predictions wanted = {.size = sizeof wanted, .mean = mean, .sd_observed = sd};
 *     hf_model_predict_arrays(ctx, model, &rows, &wanted);
 *
 * **Sizes.** The structs here begin with their size in bytes, and later versions add members at
 * their end. A program that sets `size` and zeroes the rest goes on to work with later libraries.
 *
 * **Thread-safety.** These functions only read models and the caller's arrays, but for those that
 * they fill. Any number of threads may ask one model, each with a context of its own.
 */
#ifndef HOLDFAST_ARRAYS_H
#define HOLDFAST_ARRAYS_H

#include <holdfast/model.h>

HF_BEGIN_DECLS

/** Numbers in rows and columns, where the caller has them. Entry (i, j) is at[i * row + j *
 * column]; strides are counted in doubles and may be negative. This struct does not grow. */
typedef struct hf_view {
    /** entry (0, 0); NULL: there is no such array */
    const double *at;
    /** from one row to the next */
    ptrdiff_t row;
    /** from one column to the next; not looked at where there is one */
    ptrdiff_t column;
} hf_view;

/** Rows of inputs, and what is known of each. Zero-initialise, then set `size`. Arrays that are
 * not there have no entry (0, 0). */
typedef struct hf_arrays {
    /** sizeof(hf_arrays) */
    size_t size;
    /** n */
    size_t rows;
    /** d */
    size_t inputs;
    /** T: columns of y. 0 stands for 1 */
    size_t outputs;
    /** n x d inputs; NaN: missing */
    hf_view x;
    /** n x T readings, units of the targets; NaN: missing */
    hf_view y;
    /** n x 1 known noise variances, target units squared; of one output */
    hf_view noise;
    /** n x 1 prior means of one output, units of the target */
    hf_view mean;
    /** n x 1 positive exposures, of counts and amounts */
    hf_view exposure;
    /** n classes below `classes`, or HF_LABEL_MISSING, for the sites of labels, in place of y */
    const size_t *label;
    size_t classes;
    /** d names for messages, kernels and files; they differ. NULL: x0, x1, ... */
    const char *const *input_names;
    /** T names likewise. NULL: y, or y0, y1, ..., with as many _ after them as it takes to differ
     * from all inputs */
    const char *const *output_names;
    /** `classes` names likewise, texts that no table takes for missing. NULL: 0, 1, ... */
    const char *const *class_names;
    /** what messages and the model call these rows. NULL: "arrays" */
    const char *source;
} hf_arrays;

/**
 * Fits a model, as hf_fit() fits it to a table of the same numbers: same settings, same model to
 * the digit, same remarks and warnings.
 *
 * Names that the model gets beside those given: noise, prior_mean, exposure and label, with as
 * many _ after them as it takes to differ from all others. Classes are sorted as hf_fit() sorts
 * them, by their names: hf_model_class() tells the order, which that of the default names is.
 *
 * @param rows     y or label is required. A row with a missing input, noise, mean or exposure is
 *                 left out; one with a missing reading is carried: HF_WARN_ROWS_SKIPPED
 * @param settings labels want the sites probit, logit or softmax; everything else wants y
 * @param model    to be freed with hf_model_free(); untouched on error
 * @param report   may be NULL; untouched on error
 *
 * Errors: those of hf_fit(), whose messages count rows from 1; HF_ERR_ARGUMENT for NULL and for a
 * size that no version has; the same for arrays that exclude each other (y and label, mean and
 * exposure), and for labels with sites of readings and the reverse; HF_ERR_NO_DATA for a class that
 * no complete row has.
 * Cost: that of hf_fit(), and a copy of all arrays.
 */
HF_API hf_status hf_model_fit_arrays(hf_context *ctx, const hf_arrays *rows,
                                     const hf_fit_settings *settings, hf_model **model,
                                     hf_fit_report *report);

/**
 * The numbers that hf_model_predict_arrays() fills: the caller's arrays, row-major without gaps.
 * NULL: not wanted. With m rows, T outputs, C classes, L latent functions (hf_model_latents()).
 *
 * | array | readings | counts, amounts | labels |
 * |---|---|---|---|
 * | mean, sd_latent, sd_observed | m x T | m x 1 | |
 * | quantile | m x T x levels | m x 1 x levels | |
 * | probability, winner | | | m x C, m |
 * | latent_mean, latent_sd | m x T | m x 1 | m x L |
 * | covariance | T x m x m | 1 x m x m | L x m x m |
 * | output_covariance | m x T x T | | |
 *
 * Arrays that a model has no numbers for must be NULL: HF_ERR_ARGUMENT.
 */
typedef struct hf_predictions {
    /** sizeof(hf_predictions) */
    size_t size;
    /** of a new reading, units of the target: without transform the latent mean; prior mean and
     * exposure of the row included */
    double *mean;
    /** Standard deviation of what a reading is about, units of the target: the latent function
     * itself, of a transformed target the inverse of it, of counts and amounts their mean. */
    double *sd_latent;
    /** Standard deviation of a new reading, calibrated, units of the target; with the row's known
     * noise where it is given. */
    double *sd_observed;
    /** how many quantiles of each reading */
    size_t levels;
    /** their probabilities, in (0, 1) */
    const double *level;
    /** of a new reading, units of the target */
    double *quantile;
    /** of each class; rows add up to 1 to rounding */
    double *probability;
    /** the class that the classifier decides for */
    size_t *winner;
    /** Latent function: of readings in units of what is modelled (of g(y) with a transform),
     * prior mean included; of counts and amounts the log rate, without exposure; of labels in
     * units of the link. */
    double *latent_mean;
    /** its standard deviation */
    double *latent_sd;
    /** of the latent function, between rows, for each function; units of latent_mean, squared */
    double *covariance;
    /** of the latent functions, between outputs, at each row */
    double *output_covariance;
} hf_predictions;

/** Latent functions of a model: outputs; of labels one for two-class sites and one for each class
 * with softmax. 0 for NULL. O(1). */
HF_API size_t hf_model_latents(const hf_model *model);

/**
 * Predicts rows of arrays: the numbers of hf_predict_into_table(), to the digit.
 *
 * @param rows   x with as many inputs as the model has. `noise` goes with models that were fitted
 *               with it, and may be left out; so does `exposure`. `mean` goes with models that
 *               were fitted with it, and they need it. y, label and names are not looked at
 * @param wanted which numbers, and where they go
 *
 * A row with a missing input or mean gets NaN in every array and HF_LABEL_MISSING as its winner:
 * HF_WARN_ROWS_SKIPPED. Inputs are read in place, where a row lies in one piece and rows follow
 * each other upwards; else chunks of 4096 rows are copied.
 *
 * Errors, which leave every array alone: HF_ERR_ARGUMENT (NULL, a size that no version has, an
 * array that the model has no numbers for; a level outside of (0, 1), arrays of
 * rows that the model does not go with; a negative noise, an exposure that is not
 * positive); HF_ERR_DIMENSION (inputs), HF_ERR_NOT_FINITE (an infinite number; a missing input
 * where `covariance` is wanted, with the row), HF_ERR_CANCELLED, HF_ERR_MEMORY. Cost: as
 * hf_predict(), with variances unless only mean or latent_mean of untransformed readings is wanted;
 * quantiles of counts and amounts take about 1 ms each; `covariance` O(L (m n^2 + m^2 n)). Memory:
 * the wanted numbers once more, so that a cancelled call leaves the caller's alone. Reports
 * progress as "predict".
 */
HF_API hf_status hf_model_predict_arrays(hf_context *ctx, const hf_model *model,
                                         const hf_arrays *rows, const hf_predictions *wanted);

/**
 * Predicts and scores rows of arrays, as hf_score() does with those of a table.
 * @param rows y is required, and what hf_model_predict_arrays() requires
 * @param out  one entry; of several outputs all together, in their scales
 * HF_ERR_ARGUMENT for a classifier, and for models of long tables; other errors as there. Cost:
 * that of hf_score(), and a copy of the rows.
 */
HF_API hf_status hf_model_score_arrays(hf_context *ctx, const hf_model *model,
                                       const hf_arrays *rows, hf_metrics *out);

/** The same for a classifier, as hf_score_classes() with 10 bins: `label` counts the model's
 * classes. HF_ERR_ARGUMENT for other models, and for a label that is no class of the model. Cost:
 * that of hf_score_classes(), and a copy of the rows. */
HF_API hf_status hf_model_score_class_arrays(hf_context *ctx, const hf_model *model,
                                             const hf_arrays *rows, hf_class_metrics *out);

/** The fit's opinion of its readings: the caller's arrays of hf_model_reading_count() entries.
 * NULL: not wanted. */
typedef struct hf_reading_arrays {
    /** sizeof(hf_reading_arrays) */
    size_t size;
    /** row of the fit's arrays, or data row of its table, from 0 */
    size_t *row;
    /** the output that the reading is of */
    size_t *output;
    /** the reading, units of the target; of labels the class; NaN: missing */
    double *value;
    /** in [0, 1], as hf_reading.weight: 0 set aside or missing. Labels: 1 */
    double *weight;
    /** as hf_reading.suspected. Labels: false */
    bool *suspected;
    /** as hf_reading.group. Labels: 0 */
    size_t *group;
} hf_reading_arrays;

/** Readings that a model keeps, missing ones of one output too; 0 for NULL and for a model of a
 * stream. O(1). */
HF_API size_t hf_model_reading_count(const hf_model *model);

/** Fills the arrays. HF_ERR_ARGUMENT for NULL and a size that no version has; HF_ERR_NO_DATA for a
 * model of a stream. O(readings), allocates nothing. */
HF_API hf_status hf_model_readings(hf_context *ctx, const hf_model *model,
                                   const hf_reading_arrays *out);

HF_END_DECLS

#endif
