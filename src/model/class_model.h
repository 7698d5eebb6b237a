/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class_model.h
 * @brief Classifiers among the models: labels, fit, predictions, what a file says about them.
 *
 * A label is the text of a field without the blanks around it; labels that are the same number are one class, however they are written. A model holds the
 * number of the class where others hold the reading, NaN where there is none.
 */
#ifndef HFI_CLASS_MODEL_H
#define HFI_CLASS_MODEL_H

#include "model/model.h"

enum {
    HFI_MOST_CLASSES = 100 /* more different labels than this are taken for readings of a quantity */
};

/* ---- labels (class_labels.c) -------------------------------------------------------------------------------
 */

/** The different labels of a column, in the rows that are used, become the model's classes: numbers first, by size, then text by its bytes. Errors:
 * HF_ERR_NO_DATA for less than two, HF_ERR_ARGUMENT for too many. `used`: of each row; `number`: of each row its class, NaN where missing or not used. */
hf_status hfi_class_find(hf_context *ctx, hf_model *model, const hf_table *table, size_t column,
                         const bool *used, double *number);
/** The class of each row of a column, SIZE_MAX where it is missing. HF_ERR_ARGUMENT, with the place, for one that the model has not. */
hf_status hfi_class_numbers(hf_context *ctx, const hf_model *model, const hf_table *table, size_t column,
                            size_t *number);
/** A target of text where numbers were wanted: the present message, with a hint at the sites that take labels if there are few different ones. Returns
 * the status. */
hf_status hfi_class_hint(hf_context *ctx, const hf_table *table, size_t column, hf_status status);

/* ---- fit (class_fit.c) -------------------------------------------------------------------------------------
 */

/** HF_ERR_ARGUMENT for the first of columns and settings that means nothing for labels. */
hf_status hfi_class_check(hf_context *ctx, const hf_columns *columns, const hf_fit_settings *settings);
/** The classifier of gathered rows into the model. */
hf_status hfi_class_learn(hf_context *ctx, hf_model *model, const hf_fit_settings *settings);
/** Makes the posterior, which the model has, that of a classifier. `link` goes with the model's sites. */
hf_status hfi_class_adopt(hf_context *ctx, hf_model *model);
hf_link hfi_class_link(hf_site_kind sites);
/** What the settings' fit will take. */
void hfi_class_cost(const hf_fit_settings *settings, const hf_model *model, hf_cost *out);

/* ---- use (class_predict.c, class_rows.c, class_parameters.c) -------------------------------------------------
 */

hf_status hfi_class_predict_into_table(hf_context *ctx, const hf_model *model, hf_table *table);
hf_status hfi_class_rows(hf_context *ctx, const hf_model *model, hf_table **out);
hf_status hfi_class_training(hf_context *ctx, const hf_model *model, hf_table **out);
/** HF_ERR_ARGUMENT for a classifier: what is for readings, and what is there instead. */
hf_status hfi_class_refuse(hf_context *ctx, const hf_model *model, const char *what, const char *instead);
size_t hfi_class_parameters(const hf_model *model);
hf_status hfi_class_parameter(const hf_model *model, size_t i, hf_parameter *out);
/** Latent functions: 1, or one for each class. */
size_t hfi_class_latents(const hf_model *model);

/** Probabilities and latent values for the rows of a table; NaN where an input is missing. */
typedef struct hfi_class_predictions {
    double *probability; /* rows x classes; hfi_alloc'ed, with the next two after it */
    double *mean, *var;  /* rows x latents */
    size_t *winner;      /* hfi_alloc'ed; SIZE_MAX where there is none */
    size_t missing;
} hfi_class_predictions;
hf_status hfi_class_predict(hf_context *ctx, const hf_model *model, const hf_table *table,
                            hfi_class_predictions *out);
void hfi_class_predictions_free(hf_context *ctx, hfi_class_predictions *predictions);

#endif
