/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * @brief Internal face of the model room: what a model is made of, and its parts that several files
 * use.
 */
#ifndef HFI_MODEL_H
#define HFI_MODEL_H

#include "core/core.h"
#include "core/sha256.h"
#include "posterior/posterior.h"
#include <holdfast/model.h>

/** A kind of target: target.h. */
typedef struct hfi_target hfi_target;

struct hf_model {
    hfi_memory memory;
    const hfi_target *kind;
    hf_posterior *posterior;

    /* columns */
    char *target;       /* of several the first */
    char *noise_column; /* NULL if none */
    char *mean_column;  /* NULL if none */
    size_t d;
    char **feature;          /* width names */
    size_t inputs;           /* entries of input: d, or 0 */
    struct hfi_input *input; /* what each is (inputs.h); NULL: all are columns of numbers */
    hf_dialect dialect;      /* of the training table; `missing` is owned */
    size_t outputs;          /* 1 unless several */
    char **output;           /* several: their names; else NULL */
    char *output_column;     /* of a long table; NULL if none */
    /* numbers in a row of inputs: d, and with several outputs the number of the output */
    size_t width;

    /* the rows that were handed to the fit, in file order (user units) */
    char *source;  /* where they came from, for people */
    char *command; /* that makes the model again; NULL if none */
    char *library; /* version that wrote its file; NULL if it is of none */
    bool seeded;   /* `seed` is known */
    uint64_t seed;
    size_t n;            /* rows with complete inputs, with or without a target */
    size_t skipped;      /* rows left out because an input (or the noise) was missing */
    size_t *row;         /* 1-based data row of the training file */
    size_t empty;        /* rows without any reading */
    double *x;           /* n x width row-major */
    double *y;           /* NaN = missing */
    double *extra;       /* known noise variances, or NULL */
    double *prior;       /* prior mean of each, which the posterior is without, or NULL */
    hf_reading *reading; /* what the fit thinks of each */
    double *low, *high;  /* of each input among the readings that entered, in one block that
                            begins at low; NULL if no rows are kept */
    char checksum[HFI_SHA256_HEX];
    char content[HFI_SHA256_HEX]; /* of the file that it was loaded from; "" for none */

    /* kernel points to the string below; `set` is not kept (parameters say what is held) */
    hf_fit_settings settings;
    char *kernel;
    bool noise_held;
    hf_fit_report report;

    double *output_eps;  /* what settings.output_eps points to, or NULL */
    double *output_beta; /* likewise */
    bool *noises_held;   /* several outputs: of each; else NULL */

    size_t classes;      /* of a classifier, else 0: then y holds numbers of classes */
    char **class_name;   /* in their order */
    size_t *class_count; /* rows of each */
    char
        /* what the number of the class is called in the kernel; NULL if it has no such input */
        *class_input;
    hf_classifier *classifier; /* owns the posterior; NULL if this is none */

    size_t parameters; /* what hf_model_parameter() tells */
    struct hfi_model_parameter *parameter;

    size_t notes;
    char **note; /* remarks for the user, one sentence each */
};

/** An empty model in the context's memory, or NULL (message set). */
hf_model *hfi_model_new(hf_context *ctx);

/** Functions that the posterior is of: outputs, or latent functions of a classifier; and numbers in
 * a row of its inputs. */
size_t hfi_model_functions(const hf_model *model);
size_t hfi_model_function_width(const hf_model *model);

/** Space for the rows: row, x, y, reading, and extra if asked for. Sets n, d and width, by
 * `outputs`. */
hf_status hfi_model_reserve(hf_context *ctx, hf_model *model, size_t n, size_t d, bool extra);
/** And for their prior means. */
hf_status hfi_model_reserve_means(hf_context *ctx, hf_model *model);

/** Ranges of the inputs, from rows and readings. */
hf_status hfi_model_find_ranges(hf_context *ctx, hf_model *model);

/** Once the posterior and the rows are there: what is derived from them. */
hf_status hfi_model_finish(hf_context *ctx, hf_model *model);

typedef enum hfi_parameter_kind {
    HFI_PARAMETER_KERNEL,   /* index: of the kernel */
    HFI_PARAMETER_COREGION, /* index: of the coregion; s, t: entry of B */
    HFI_PARAMETER_MEAN,     /* s: the coefficient */
    HFI_PARAMETER_NOISE     /* s: the output */
} hfi_parameter_kind;

/** One of the hyperparameters. */
typedef struct hfi_model_parameter {
    hfi_parameter_kind kind;
    size_t index, s, t;
    double value; /* HFI_PARAMETER_COREGION only: user units */
    bool fixed;   /* the same */
    char *name;   /* NULL: the kernel's */
} hfi_model_parameter;

/** Kernel parameter i in the user's units. */
hf_status hfi_model_kernel_parameter(const hf_model *model, size_t i, hf_parameter *out);

/** The output that row i of the training readings is of. */
size_t hfi_model_output_of(const hf_model *model, size_t i);
/** Numbers in a row of d inputs: with several outputs the number of the output too. */
size_t hfi_model_width(const hf_model *model, size_t d);
/** Readings of a wide table lie side by side: so many in a row; else 1. */
size_t hfi_model_stride(const hf_model *model);
/** The unit in which readings of several outputs are looked at together; 1 where there is one
 * output. */
double hfi_model_unit(const hf_model *model, size_t output);
/** Whether the target is one quantity, whose readings are modelled as they are but for a
 * transform. */
bool hfi_model_is_plain(const hf_model *model);
/** How many outputs columns ask for; 2 for a long table, which has the number. */
size_t hfi_columns_outputs(const hf_columns *columns);
/** A name that no input has: `base` with as many _ after it as that takes; in the context's memory,
 * NULL: none left. */
char *hfi_model_free_name(hf_context *ctx, const hf_model *model, const char *base);

/** Adds a remark; printf-like. */
hf_status hfi_model_note(hf_context *ctx, hf_model *model, const char *format, ...) HF_PRINTF(3, 4);

/** Remembers the settings of a fit; the posterior must be there. */
hf_status hfi_model_keep_settings(hf_context *ctx, hf_model *model,
                                  const hf_fit_settings *settings);

/** All remarks in one message, so that callers who read no notes miss nothing. Returns `status`. */
hf_status hfi_model_leave_message(hf_context *ctx, const hf_model *model, hf_status status);

/** The parts of that checksum: names (with the model's, and the number of rows), then row after
 * row. `extra` NULL: no noise column. */
void hfi_model_hash_names(const hf_model *model, size_t rows, hfi_sha256 *hash);
void hfi_model_hash_row(hfi_sha256 *hash, size_t d, const double *x, double y, const double *extra);

/** SHA-256 of names and numbers of the training rows (docs/model-format.md). */
void hfi_model_checksum(const hf_model *model, char hex[HFI_SHA256_HEX]);

/** Which columns of a table play which part. Indices into the table. */
typedef struct hfi_roles {
    size_t target;  /* of several the first */
    size_t targets; /* 1, or columns of a wide table */
    size_t *wide;   /* several targets: their indices, hfi_alloc'ed; else NULL */
    size_t output;  /* SIZE_MAX if none */
    size_t noise;   /* SIZE_MAX if none */
    size_t mean;    /* the prior mean of each row, or its exposure; SIZE_MAX if none */
    bool exposure;  /* the latter */
    size_t count, room;
    size_t *feature; /* count indices, of room for more, hfi_alloc'ed */
    bool text;       /* columns of dates and of few texts may be inputs */
    hf_date_order dates;
} hfi_roles;

/** Decides the roles and gives the model its names; remarks on columns left out. `roles` is the
 * caller's to free. */
hf_status hfi_model_roles(hf_context *ctx, hf_model *model, const hf_table *table,
                          const hf_columns *columns, hfi_roles *roles);

/** Whether a column is what hf_predict_into_table() adds for a target of these roles (predicted.c).
 */
bool hfi_is_predicted(const hf_table *table, const hfi_roles *roles, const char *name);

void hfi_roles_free(hf_context *ctx, hfi_roles *roles);

/** Names of T outputs, copied, into the model, with room for the name of the input that is their
 * number; `outputs` is set. */
hf_status hfi_model_name_outputs(hf_context *ctx, hf_model *model, size_t outputs,
                                 const char *const *names);
/** The different values of a column of a table, sorted: the outputs of a long table, into the
 * model. */
hf_status hfi_model_find_outputs(hf_context *ctx, hf_model *model, const hf_table *table,
                                 size_t column);
/** The output of each row of a table by the fields of a column: `number` has as many entries as the
 * table rows; SIZE_MAX where the field is missing. HF_ERR_ARGUMENT, with the place, for an output
 * that the model has not. */
hf_status hfi_model_output_numbers(hf_context *ctx, const hf_model *model, const hf_table *table,
                                   size_t column, size_t *number);

/** "a", "b", ... as far as there is room. */
void hfi_list_names(size_t count, char *const *names, size_t bytes, char *list);
/** HF_ERR_ARGUMENT, with the place, for a field that is none of the model's names of its `what`. */
hf_status hfi_unknown_name(hf_context *ctx, const hf_table *table, size_t row, size_t column,
                           const char *what, const char *field, size_t count, char *const *names);

/** Numbers of a column, all finite or missing. */
hf_status hfi_finite_numbers(hf_context *ctx, const hf_table *table, size_t column,
                             const double **numbers);
/** HF_ERR_ARGUMENT with the place of the first negative number. */
hf_status hfi_check_noise(hf_context *ctx, const hf_table *table, size_t column,
                          const double *noise);
/** True when all of the numbers that are there are the same. */
bool hfi_is_constant(const double *values, size_t count, size_t stride);

/** Columns of numbers by the part they play. */
typedef struct hfi_sources {
    const double **x;    /* one pointer per input */
    const double **y;    /* one per target */
    const double *noise; /* or NULL */
    const double *mean;  /* or NULL */
    size_t *output;      /* long table: of each row, SIZE_MAX where it is missing; or NULL */
    double *label;       /* labels: y[0] */
    double *own;         /* numbers of inputs that are no columns, or NULL */
} hfi_sources;

/** Rows of a table in which neither input, nor noise, nor mean, nor output is missing. */
bool hfi_is_complete(const hfi_sources *from, size_t d, size_t row);
/** Copies the usable rows of a table into the model; remarks on rows left out and on constant
 * columns. */
hf_status hfi_model_gather(hf_context *ctx, hf_model *model, const hf_table *table,
                           const hfi_roles *roles);

/** Arguments of hf_fit() and its relatives that no table is needed to refuse. *named are the
 * columns, *own the settings. */
hf_status hfi_fit_check_arguments(hf_context *ctx, const char *function, const hf_table *table,
                                  const hf_columns *columns, const hf_fit_settings *settings,
                                  const void *out, hf_columns *named, hf_fit_settings *own);
/** Columns and rows of a table into a fresh model, which nothing is fitted to yet (fit.c). */
hf_status hfi_model_prepare(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                            const hf_fit_settings *settings, hf_model **out);

/* ---- a transformed target (transform.c) ------------------------------------------------------ */

/** HF_ERR_ARGUMENT for what does not go with the transform of the settings. */
hf_status hfi_transform_check(hf_context *ctx, const hf_columns *columns, const hf_fit_settings *s);
/** HF_ERR_ARGUMENT, with the places, for readings outside of its domain. */
hf_status hfi_transform_check_rows(hf_context *ctx, const hf_model *model, const hf_table *table,
                                   hf_transform transform);
/** Whether all readings are in its domain. */
bool hfi_transform_takes(const hf_model *model, hf_transform transform);
/** How many fits it takes: more than one to choose it. */
size_t hfi_transform_fits(const hf_model *model, hf_transform transform);
/** The transformed readings, hfi_alloc'ed; NULL without a transform. */
hf_status hfi_transform_rows(hf_context *ctx, const hf_model *model, hf_transform g, double **out);
/** Fits with each transform that takes the readings, and leaves the best one in the model
 * (candidates.h). As hfi_model_fit_rows(). */
hf_status hfi_transform_choose(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                               hf_transform *chosen);
/** A remark where one may help, once the model is complete. */
hf_status hfi_transform_advise(hf_context *ctx, hf_model *model);
/** HF_ERR_ARGUMENT if the model has a transform, with `why` it is in the way. */
hf_status hfi_transform_deny(hf_context *ctx, const hf_model *m, const char *what, const char *why);

/* ---- the kernel "auto" (kernel_choice.c) ------------------------------------------------ */

/** HF_ERR_ARGUMENT for what does not go with it, if it is what the settings have. */
hf_status hfi_kernel_choice_check(hf_context *ctx, const hf_fit_settings *s);
/** How many fits it takes; 0 for another kernel. */
size_t hfi_kernel_choice_fits(const hf_model *model, const hf_fit_settings *settings);
/** Fits with each kernel that is considered, and leaves the best one in the model (candidates.h).
 * As hfi_model_fit_rows(). `chosen` receives a constant string. */
hf_status hfi_kernel_choose(hf_context *ctx, hf_model *model, const hf_fit_settings *settings,
                            const char **chosen);

/** Fits the gathered rows: posterior, report and what is thought of the readings go into the model.
 * Neither the transform nor the kernel of the settings is auto. */
hf_status hfi_model_fit_rows(hf_context *ctx, hf_model *model, const hf_fit_settings *settings);

/** Numbers of the model's features in another table (inputs.c): d pointers to its columns, or into
 * *own, which holds those that had to be made, and is hfi_alloc'ed or NULL. */
hf_status hfi_model_inputs(hf_context *ctx, const hf_model *model, const hf_table *table,
                           const double **columns, double **own);

/** HF_ERR_NOT_FINITE with the place of the first infinite number of a column, else HF_OK. */
hf_status hfi_check_finite(hf_context *ctx, const hf_table *table, const char *name,
                           const double *numbers);

/** Predictions for every row of a table; NaN where an input is missing. */
typedef struct hfi_predictions {
    size_t columns; /* of each row: all outputs, or the one that it is about */
    /* which that is, SIZE_MAX where it is missing; NULL: rows are about all outputs */
    size_t *output;
    double *mean; /* rows x columns; hfi_alloc'ed, with the next two after it */
    double *var_latent, *var_observed;
    double *covariance; /* rows x T x T, or NULL */
    size_t missing;     /* rows without a prediction */
} hfi_predictions;

/** `whole`: all outputs for each row, whatever columns the table has. */
hf_status hfi_model_predict(hf_context *ctx, const hf_model *model, const hf_table *table,
                            bool whole, bool covariance, hfi_predictions *out);
void hfi_predictions_free(hf_context *ctx, hfi_predictions *predictions);

/** The prior mean of reading i: 0 without a mean column. */
double hfi_model_prior(const hf_model *model, size_t i);
/** The prior means of a table's rows, finite or missing; NULL if the model has no mean column.
 * HF_ERR_NO_COLUMN. */
hf_status hfi_model_find_mean(hf_context *ctx, const hf_model *model, const hf_table *table,
                              const double **mean);

/** HF_ERR_NO_DATA for a model that was read in parts and has no rows (rows.c). */
hf_status hfi_model_check_rows(hf_context *ctx, const hf_model *model);
/** Whether a reading is there and was not set aside: its weight is 1/4 or more. */
bool hfi_model_is_kept(const hf_model *model, size_t i);

/** The column of a table with a name; SIZE_MAX: there is none, or no name. */
size_t hfi_column_named(const hf_table *table, const char *name);

/** The message on rows without a prediction; HF_OK if there is none. */
hf_status hfi_predict_message(hf_context *ctx, const hf_model *model, const hf_table *table,
                              size_t missing);
/** And on rows without a score. */
hf_status hfi_score_message(hf_context *ctx, const hf_table *table, size_t unused);

/** "train.csv, line 7" for messages, also for tables that came from no file. `buffer` is
 * returned. */
const char *hfi_row_place(const hf_table *table, size_t row, char *buffer, size_t bytes);

/* ---- counts and amounts (likelihood.c) ---- */

bool hfi_model_has_likelihood(const hf_model *model);
/** "noise", of counts and amounts "dispersion"; NULL where there is none. */
const char *hfi_model_noise_name(const hf_model *model);
/** That columns and settings go together, for all kinds of sites. */
hf_status hfi_likelihood_check_columns(hf_context *ctx, const hf_columns *columns,
                                       const hf_fit_settings *settings);
/** HF_ERR_ARGUMENT with the place of the first reading that the likelihood does not take. */
hf_status hfi_likelihood_check_rows(hf_context *ctx, const hf_model *model, const hf_table *table);
/** HF_ERR_ARGUMENT with the place of the first exposure that is not positive. */
hf_status hfi_likelihood_check_exposure(hf_context *ctx, const hf_table *table, size_t column,
                                        const double *exposure);
/** Mean and sd of a reading from mean and variance of its latent value, exposure included. */
void hfi_likelihood_reading(const hf_model *model, double mean, double var, double *out_mean,
                            double *out_sd);
/** Mean, sd of the mean, sd, 2.5 and 97.5 % quantile and median of a reading; NaN where the latent
 * value is. */
void hfi_likelihood_summary(const hf_model *model, double mean, double var, double out[6]);
/** Scores of n readings from mean and sd of what is modelled: hf_metrics_transformed(); of counts
 * and amounts the latent value with its exposure. */
hf_status hfi_model_metrics(hf_context *ctx, const hf_model *model, size_t n, const double *y,
                            const double *mean, const double *sd, hf_metrics *out);

#endif
