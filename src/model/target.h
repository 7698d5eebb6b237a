/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file target.h
 * @brief Kinds of target: what a table has to say about what is predicted, and all that follows.
 *
 * A kind is a row of functions. Fits, predictions, scores, tables of rows, hyperparameters and
 * files go through it. Nobody else asks how many outputs there are or whether the target is labels.
 * A function that is NULL says that models of the kind have no such thing: hfi_target_lacks() is
 * the one message about that.
 *
 * Two rows: `outputs`, readings of T >= 1 quantities (one is no special case), and `classes`,
 * labels. A third is a file with its functions and an entry in hfi_target_of().
 */
#ifndef HFI_MODEL_TARGET_H
#define HFI_MODEL_TARGET_H

#include "model/file.h"
#include "store/writer.h"

/** A column that predictions add. */
typedef struct hfi_column_name {
    const char *part[4]; /* the name is these, one after the other */
    hf_predicted_column is;
} hfi_column_name;

struct hfi_target {
    /* "a classifier", and functions that it has: hfi_target_lacks() says them */
    const char *name, *uses;

    /* ---- fit ---- */

    /** HF_ERR_ARGUMENT for columns and settings that mean nothing for the target or are out of
     * range; `function` asks. */
    hf_status (*check)(hf_context *ctx, const char *function, const hf_table *table,
                       const hf_columns *columns, const hf_fit_settings *settings);
    /** The numbers of the targets, once all other columns are known: from->y, and from->output of a
     * long table. */
    hf_status (*find)(hf_context *ctx, hf_model *model, const hf_table *table,
                      const hfi_roles *roles, hfi_sources *from);
    /** Remarks on the gathered readings, and errors; NULL: nothing to say. */
    hf_status (*remark)(hf_context *ctx, hf_model *model);
    hf_status (*learn)(hf_context *ctx, hf_model *model, const hf_fit_settings *settings);
    /** Estimates what that takes; available_bytes and inputs are there. */
    void (*cost)(const hf_model *model, const hf_fit_settings *settings, hf_cost *out);

    /* ---- use ---- */

    /** Functions that the posterior is of. */
    size_t (*functions)(const hf_model *model);
    hf_status (*predict)(hf_context *ctx, const hf_model *model, hf_table *table);
    /** Columns that this adds; `single`: rows name the output that they are about. */
    size_t (*columns)(const hf_model *model, bool single);
    hfi_column_name (*column)(const hf_model *model, bool single, size_t i);
    hf_status (*covariances)(hf_context *ctx, const hf_model *model, hf_table *table);
    /** `each`: of every output in its units, else all together. */
    hf_status (*score)(hf_context *ctx, const hf_model *model, const hf_table *table, bool each,
                       hf_metrics *out);
    hf_status (*score_classes)(hf_context *ctx, const hf_model *model, const hf_table *table,
                               size_t bins, hf_calibration_bin *bin, hf_class_metrics *out);
    hf_status (*labels)(hf_context *ctx, const hf_model *model, const hf_table *table,
                        size_t *label);
    /** Each of model->n readings without itself: mean and standard deviation, noise included; of a
     * transformed target in the units of what is modelled. */
    hf_status (*left_out)(hf_context *ctx, const hf_model *model, double *mean, double *sd);
    hf_status (*rows)(hf_context *ctx, const hf_model *model, bool only_suspected, hf_table **out);
    /** Whether `rows` knows suspected ones. */
    bool suspects;
    /** The target's columns of hf_model_training(). `column`: scratch of a number for each row of
     * the table. */
    hf_status (*training)(hf_context *ctx, const hf_model *model, hf_table *table, double *column);
    hf_status (*influence)(hf_context *ctx, const hf_model *model, size_t row, size_t output,
                           double y, double *marginal, double *joint);
    hf_status (*damage)(hf_context *ctx, const hf_model *model, size_t count, size_t m,
                        const double *x, double *damage, size_t *worst);
    /** Lists the hyperparameters beside kernel and mean (parameters.c); NULL: there are none, and
     * what is held of coregions is not told. */
    hf_status (*parameters)(hf_context *ctx, hf_model *model);

    /* ---- files (docs/model-format.md) ---- */

    /** The version of the format that such models and no others have; 0: any other. */
    unsigned format;
    /** Functions are latent: what stands behind the anchors of the posterior are no readings. */
    bool latent;
    void (*write)(hfi_writer *w, const hf_model *model);
    /** Reads what there is beside the outputs and the posterior, into a model whose settings, rows
     * and inputs are known; NULL: nothing. */
    hf_status (*read)(const hfi_reader *r);
    /** Scaling and noises of several functions. */
    hf_status (*read_scaling)(const hfi_reader *r, double noise, hfi_scaling *scaling,
                              double *noises);
    /** Once posterior and rows are there. */
    hf_status (*read_last)(const hfi_reader *r);
};

/** The kind of target that goes with sites. */
const hfi_target *hfi_target_of(hf_likelihood sites);
/** HF_ERR_ARGUMENT: models of this kind have no `what`, a function's name. */
hf_status hfi_target_lacks(hf_context *ctx, const hf_model *model, const char *what);

/* ---- the row `outputs`: outputs_fit.c, outputs.c, predict.c, score.c, rows.c, file_read_outputs.c
 *  */

hf_status hfi_outputs_check_fit(hf_context *ctx, const char *function, const hf_table *table,
                                const hf_columns *columns, const hf_fit_settings *settings);
hf_status hfi_outputs_find(hf_context *ctx, hf_model *model, const hf_table *table,
                           const hfi_roles *roles, hfi_sources *from);
hf_status hfi_outputs_remark(hf_context *ctx, hf_model *model);
hf_status hfi_outputs_learn(hf_context *ctx, hf_model *model, const hf_fit_settings *settings);
void hfi_outputs_cost(const hf_model *model, const hf_fit_settings *settings, hf_cost *out);
hf_status hfi_outputs_predict(hf_context *ctx, const hf_model *model, hf_table *table);
size_t hfi_outputs_columns(const hf_model *model, bool single);
hfi_column_name hfi_outputs_column(const hf_model *model, bool single, size_t i);
hf_status hfi_outputs_covariances(hf_context *ctx, const hf_model *model, hf_table *table);
hf_status hfi_outputs_score(hf_context *ctx, const hf_model *model, const hf_table *table,
                            bool each, hf_metrics *out);
hf_status hfi_outputs_left_out(hf_context *ctx, const hf_model *model, double *mean, double *sd);
hf_status hfi_outputs_rows(hf_context *ctx, const hf_model *model, bool only_suspected,
                           hf_table **out);
hf_status hfi_outputs_training(hf_context *ctx, const hf_model *model, hf_table *table,
                               double *column);
hf_status hfi_outputs_influence(hf_context *ctx, const hf_model *model, size_t row, size_t output,
                                double y, double *marginal, double *joint);
hf_status hfi_outputs_damage(hf_context *ctx, const hf_model *model, size_t count, size_t m,
                             const double *x, double *damage, size_t *worst);
hf_status hfi_outputs_parameters(hf_context *ctx, hf_model *model);
void hfi_outputs_write(hfi_writer *w, const hf_model *model);
hf_status hfi_outputs_read_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling,
                                   double *noises);

/* ---- the row `classes`: class_*.c, class_model.h --------------------------------------------- */

hf_status hfi_class_check(hf_context *ctx, const char *function, const hf_table *table,
                          const hf_columns *columns, const hf_fit_settings *settings);
hf_status hfi_class_find(hf_context *ctx, hf_model *model, const hf_table *table,
                         const hfi_roles *roles, hfi_sources *from);
hf_status hfi_class_learn(hf_context *ctx, hf_model *model, const hf_fit_settings *settings);
void hfi_class_cost(const hf_model *model, const hf_fit_settings *settings, hf_cost *out);
/** Latent functions: 1, or one for each class. */
size_t hfi_class_latents(const hf_model *model);
hf_status hfi_class_predict_into_table(hf_context *ctx, const hf_model *model, hf_table *table);
size_t hfi_class_columns(const hf_model *model, bool single);
hfi_column_name hfi_class_column(const hf_model *model, bool single, size_t i);
hf_status hfi_class_score(hf_context *ctx, const hf_model *model, const hf_table *table,
                          size_t bins, hf_calibration_bin *bin, hf_class_metrics *out);
hf_status hfi_class_labels(hf_context *ctx, const hf_model *model, const hf_table *table,
                           size_t *label);
hf_status hfi_class_rows(hf_context *ctx, const hf_model *model, bool only_suspected,
                         hf_table **out);
hf_status hfi_class_training(hf_context *ctx, const hf_model *model, hf_table *table,
                             double *column);
void hfi_class_write(hfi_writer *w, const hf_model *model);
hf_status hfi_class_read(const hfi_reader *r);
hf_status hfi_class_read_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling,
                                 double *noises);
hf_status hfi_class_read_last(const hfi_reader *r);

#endif
