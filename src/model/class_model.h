/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class_model.h
 * @brief Classifiers among the models: labels, fit, predictions, what a file says about them.
 *
 * A label is the text of a field without the blanks around it; labels that are the same number are
 * one class, however they are written. A model holds the number of the class where others hold the
 * reading, NaN where there is none.
 */
#ifndef HFI_CLASS_MODEL_H
#define HFI_CLASS_MODEL_H

#include "model/target.h"

enum {
    HFI_MOST_CLASSES =
        100 /* more different labels than this are taken for readings of a quantity */
};

/* ---- labels (class_labels.c) ----------------------------------------------------------------- */

/** The class of each row of a column, SIZE_MAX where it is missing. HF_ERR_ARGUMENT, with the
 * place, for one that the model has not. */
hf_status hfi_class_numbers(hf_context *ctx, const hf_model *model, const hf_table *table,
                            size_t column, size_t *number);
/** A target of text where numbers were wanted: the present message, with a hint at the sites that
 * take labels if there are few different ones. Returns the status. */
hf_status hfi_class_hint(hf_context *ctx, const hf_table *table, size_t column, hf_status status);

/* ---- use (class_predict.c) ------------------------------------------------------------------- */

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

/* ---- files (class_file.c) -------------------------------------------------------------------- */

/** Whether a file keeps the probabilities that R follows from in place of R. R is (classes - 1)
 * times the rows of the training long and a little wider: as long as it is made again in
 * seconds. */
bool hfi_class_is_restored(const hfi_solution *solution);
/** Such a solution of n anchors in all; restored as it was made. */
hf_status hfi_class_read_solution(const hfi_reader *r, const hf_kernel *kernel, size_t n,
                                  hfi_solution *solution);

#endif
