/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file model.h
 * @brief The five-minute interface: fit a table, predict into a table, score, save, load.
 *
 * A model is a posterior with the names of its columns and a record of what it learnt from. It may
 * be predicted from by several threads at once through hf_model_posterior().
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_MODEL_H
#define HOLDFAST_MODEL_H

#include <holdfast/classify.h>
#include <holdfast/metrics.h>
#include <holdfast/table.h>
#include <holdfast/train.h>

HF_BEGIN_DECLS

typedef struct hf_model hf_model;

/** Which columns of a table are what. Set `size`, zero the rest; NULL/0 fields mean the default.
 * Strings need only live during the call. */
typedef struct hf_columns {
    /** sizeof(hf_columns) */
    size_t size;
    /** the column to predict; or, of several outputs, `targets`. Default: none. */
    const char *target;
    /** inputs. Default: none, every numeric column but target, noise, mean and predictions. */
    const char *const *features;
    /** Default: 0. */
    size_t feature_count;
    /** columns that the default leaves out. Default: none. */
    const char *const *drop;
    /** Default: 0. */
    size_t drop_count;
    /** known noise variance of each reading, target^2; of one target. Default: none. */
    const char *noise;
    /** Column with the prior mean of each row, units of the target: hf_fit() says what it goes
     * with. The model is of target - mean, and adds the mean of rows asked about. Default: none. */
    const char *mean;
    /** Column with the positive exposure of each row, of counts and amounts (likelihood.h): hours
     * watched, people counted. Default: none, all are 1. */
    const char *exposure;
    /** wide table: a column for each of several outputs, in the order they will have; one is as
     * `target`. An empty field is a reading that was not taken. Default: none. */
    const char *const *targets;
    /** Default: 0. */
    size_t target_count;
    /** long table: rows are single readings of `target`, and this column, of text or numbers,
     * says of which output. Default: none. */
    const char *output_column;
    /** True: columns of dates and of few texts are inputs too, by default as where `features` names
     * them. Dates and times become days, or with times of the day seconds, since the first one.
     * Text becomes an input for each of its values, <column>=<value>, 1 where the row has it and 0
     * elsewhere: by default of 2 to 50 values with five rows for each on average, named of 2 to 50
     * values. Not for hf_fit_stream(). Default: false, text is no input. */
    bool text_inputs;
} hf_columns;
HF_SETTINGS(hf_columns)

/**
 * Fits a model to a table. Rows with a missing target are carried but not used
 * (HF_WARN_ROWS_SKIPPED); rows with a missing input are left out, with the count in the message.
 * `columns->noise` holds the known noise variance of each reading in squared target units. Errors:
 * as hf_fit_data(), HF_ERR_NO_COLUMN, HF_ERR_PARSE for text in a numeric column (file, line,
 * column), HF_ERR_ARGUMENT when the target is also a feature. A constant feature is used (it does
 * no harm) and mentioned in the message.
 *
 * **A prior mean for each row** (`columns->mean`; hf_data.mean). The model is one of target - mean.
 * In the units of target - mean, with the mean taken off: hf_model_posterior(), the mean among the
 * hyperparameters, hf_model_relevance(). Everything else is about the target: hf_model_rows(),
 * hf_model_suspects(), hf_model_training() (with the mean column), scores and predictions. These
 * need the column in the table that they are asked about, and add it: HF_ERR_NO_COLUMN without. A
 * row whose mean is missing is left out, as if an input were missing. HF_ERR_ARGUMENT: several
 * outputs, labels, a transform; hf_fit_stream().
 *
 * **Several outputs** are fitted together (hf_data.outputs). A wide table has a row for each place
 * and a column for each output; rows without any reading are carried. A long table has a row for
 * each reading; its outputs are the different values of `output_column`, sorted, numbers by size
 * and text by its bytes. So the order of the rows does not matter; a row without one is left out as
 * if an input were missing. Both are the same model of the same readings. In kernel expressions the
 * number of the output is the input `output`, with as many _ after it as it takes to differ from
 * all features. For long tables it is the name of `output_column`. Errors beside those above:
 * HF_ERR_NO_DATA for an output without a reading, HF_ERR_ARGUMENT for a long table of one output or
 * more than 1000; for a noise column with several targets, and for minibatches. A remark tells of
 * outputs with the same readings, and of more outputs than rows.
 *
 * **Labels.** With the sites of labels (hf_fit_settings_preset(): "probit", "logit" for two
 * classes, "softmax" for two or more) the target is a column of labels, text or numbers, and the
 * model a classifier: hf_model_classes() and what follows. Labels are compared without the blanks
 * around them; those that are the same number (1, 1.0, 01) are one class. Its name is the label as
 * it is written, or the shortest decimal if it is written in several ways. Classes are sorted:
 * numbers by size, then text by its bytes. A field that the table module takes for missing (empty,
 * NA, none, ?, -, ...) is no label. hf_fit_report.objective is the approximate log evidence of the
 * labels. Errors beside those of hf_classifier_fit(): HF_ERR_NO_DATA for one class only,
 * HF_ERR_ARGUMENT for more than 100 of them, for three with two-class sites; for settings and
 * columns that mean nothing for labels (noise, several outputs, suspects, calibration, other
 * objectives, minibatches, checkpoints).
 *
 * **A transformed target** (hf_fit_settings.transform, transform.h). With sqrt or log the model is
 * one of z = g(y). In the units of y: what is read, hf_model_rows(), hf_model_suspects(),
 * hf_model_training(), hf_score() and hf_predict_into_table(). In those of z, and of z squared:
 * hf_model_posterior(), the hyperparameters, and in the settings `set`, `noise_start`, `max_noise`,
 * `threshold` and `beta`. HF_TRANSFORM_AUTO fits with each of none, sqrt and log that takes all
 * readings, and keeps the best one. hf_model_settings_of() then names it, and a remark tells it:
 * - A reading counts by its leave-one-out log density in y, with the Jacobian; where refits are
 *   told (hf_reading.refit_mean), by that of the refit that has not seen it. Differences are
 *   clipped at 5 nats, so wrong readings have little say. Readings that both fits set aside do not
 *   count, nor those at 0, where sqrt has a probability and no density.
 * - A transform is taken where its mean difference to the best milder one is above 2 standard
 *   errors, paired over at least 10 readings. Where the two predict equally well, chance does that
 *   once in 40 times, for sqrt and for log. This holds as far as the readings' differences are
 *   independent.
 * Without a transform a remark says where one may help: all readings are positive, and the upper
 * half of their middle nine tenths is twice as wide as the lower. The sizes of standardised
 * leave-one-out residuals also go up with the predictions, by Spearman's correlation with p <
 * 0.001.
 * HF_ERR_ARGUMENT: a reading outside of the domain of g, with the places of the first three; a
 * noise column, several outputs, labels; auto with a checkpoint. Cost of auto: that of three fits.
 *
 * **The kernel "auto"** (hf_fit_settings.kernel). There are up to four fits, all other settings as
 * they are: with matern52(ard); with matern52 where there are several inputs; with matern52(ard) +
 * linear(ard) unless the mean is linear; with matern32(ard). The choice is made as that of a
 * transform, and told in the same way: in this order, one is taken where it is clearly better than
 * the best before it, and sets no reading aside that this one keeps. With the transform auto too,
 * that is chosen first, with matern52(ard). docs/methods/robust-default.md says what it gains.
 * HF_ERR_ARGUMENT: several outputs, labels, a checkpoint, held parameters of the kernel. Cost: that
 * of four fits, and of those for the transform.
 * @param report may be NULL
 */
HF_API hf_status hf_fit(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                        const hf_fit_settings *settings, hf_model **model, hf_fit_report *report);

/**
 * Fits a model to a CSV file that need not fit in memory, by minibatches with the inducing solver.
 *
 * The file is read once and turned into a cache of its numbers, 8 bytes a field. The cache is then
 * read in parts, in a shuffled order. A cache that is there already is used again, or made anew
 * when the file has changed since. Beyond half a byte a row nothing that is kept in memory grows
 * with the rows.
 *
 * @param csv_path   a regular file, plain or packed by gzip or zstd; not a pipe. Lines that begin
 *                   with # are left out by the rule of hf_table_read()
 * @param cache_path where the cache goes, NULL for csv_path with ".hfcache" at its end; only a
 *                   cache of that name is ever replaced. It may be removed afterwards
 * @param settings   as for hf_fit(). Solver: auto or inducing; minibatch 0 stands for 1024 rows.
 *                   There is no suspect finder: "auto" becomes robust sites (a remark says so),
 *                   "force" is HF_ERR_ARGUMENT. With calibrate up to 2048 readings, a twentieth at
 *                   most, are kept out of the fit to calibrate the intervals on
 * @param report     may be NULL. Suspects are readings that lost three quarters of their weight;
 *         rounds are passes over the rows
 *
 * The model has no rows: hf_model_rows(), hf_model_suspects() and hf_model_training() return
 * HF_ERR_NO_DATA; everything else, saving included, works as usual. One output: several are
 * HF_ERR_ARGUMENT, and so is a transform. Errors: as hf_fit(), HF_ERR_IO also for a disk that is
 * full, and for a file that changes while it is read; also for a cache's place that holds anything
 * else. Cost: O(n m^2) a pass, m inducing inputs.
 */
HF_API hf_status hf_fit_stream(hf_context *ctx, const char *csv_path, const char *cache_path,
                               const hf_columns *columns, const hf_fit_settings *settings,
                               hf_model **model, hf_fit_report *report);
HF_API void hf_model_free(hf_model *model);

/** Needs of a fit, before it starts. */
typedef struct hf_cost {
    /** rows with a target and complete inputs */
    size_t readings;
    size_t inputs;
    /** memory at the peak */
    double bytes;
    /** memory this machine can give now; infinity when unknown */
    double available_bytes;
    /** one objective with gradient */
    double evaluation_flops;
    /** a typical fit with these settings; the real number depends on the data */
    double flops;
    /** the solver that will compute: never auto */
    hf_solver solver;
    /** inducing inputs, 0 if none; fewer where rows repeat */
    size_t inducing;
    /** at most so many actions, 0 if none */
    size_t actions;
    /** readings that the hyperparameters are learnt from: all, or a random share */
    size_t training_rows;
    /** what the exact solver would need; bytes if it is the one */
    double exact_bytes;
    /** and its typical fit */
    double exact_flops;
} hf_cost;

/** Reads the table as hf_fit() would (and fails as it would), but only counts. Errors: those of
 * hf_fit() that are seen before any fit. O(fields), and sorting of rows for a budget: no objective
 * is evaluated. */
HF_API hf_status hf_fit_cost(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                             const hf_fit_settings *settings, hf_cost *out);

/** Reads the table as hf_fit() would (and fails as it would), and tells how, in a table with a row
 * for each column. Its columns are: "column", the name; "read as", hf_table_read_as() ("date (days
 * since 2024-01-01)", "category (3 values)"); "used as" ("target", "input", "3 inputs", "not used",
 * ...); "missing", how many fields are; "example", the first field that is not missing. Errors:
 * those of hf_fit() that need no fit; HF_ERR_ARGUMENT for NULL; HF_ERR_MEMORY. On error *out is
 * NULL. O(fields). */
HF_API hf_status hf_fit_columns(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                                const hf_fit_settings *settings, hf_table **out);

/** The posterior, of g(y) where the target is transformed; owned by the model. */
HF_API const hf_posterior *hf_model_posterior(const hf_model *model);
/** The column that is predicted; of several in a wide table the first. */
HF_API const char *hf_model_target(const hf_model *model);
/** Number of outputs, 1 unless there are several; name of one of them: of its column, or its value
 * in the output column. NULL if there is no such output. Owned by the model. */
HF_API size_t hf_model_outputs(const hf_model *model);
HF_API const char *hf_model_output(const hf_model *model, size_t output);
/** The output column of the long table that it was fitted to, or NULL. Owned by the model. */
HF_API const char *hf_model_output_column(const hf_model *model);
/** Inputs, without the number of the output. */
HF_API size_t hf_model_features(const hf_model *model);
HF_API const char *hf_model_feature(const hf_model *model, size_t j);
/** The column of texts that input j is made of, which is 1 where it has the text *value (which may
 * be NULL), else 0; inputs of one column follow each other. NULL, *value untouched: the input is no
 * text, or there is none. Owned by the model. */
HF_API const char *hf_model_category(const hf_model *model, size_t j, const char **value);
/** The inputs of the rows of a table as the model sees them: a table of numbers, with a column for
 * each of hf_model_features(). Dates are counted from the first one of the training table, and
 * texts become 1 and 0; a row has NaN where an input is missing or a text is none that the model
 * has seen. A table that has a column <column>=<value> itself needs no column of texts. Errors:
 * HF_ERR_NO_COLUMN, HF_ERR_NOT_FINITE, HF_ERR_PARSE (a date that is written otherwise),
 * HF_ERR_ARGUMENT for NULL, HF_ERR_MEMORY; on error *out is NULL. O(rows features). Thread-safe
 * for one model. */
HF_API hf_status hf_model_inputs(hf_context *ctx, const hf_model *model, const hf_table *table,
                                 hf_table **out);
/** The dialect of the training table: hf_table_read() with it reads another table alike, codes for
 * missing values among them. NULL for NULL. Owned by the model. */
HF_API const hf_dialect *hf_model_dialect(const hf_model *model);
/** The report of the fit (also after loading). Owned by the model. */
HF_API const hf_fit_report *hf_model_report_of(const hf_model *model);
/** The settings it was fitted with; `kernel` is filled in, `set` is NULL (hf_model_parameter() says
 * what was held), `transform` is the one in use, never auto. Owned by the model. */
HF_API const hf_fit_settings *hf_model_settings_of(const hf_model *model);
/** The noise column it was fitted with, or NULL. Owned by the model. */
HF_API const char *hf_model_noise_column(const hf_model *model);
/** The column with the exposures that it was fitted with, or NULL. Owned by the model. */
HF_API const char *hf_model_exposure_column(const hf_model *model);
/** The column with the prior means that it was fitted with, or NULL. Owned by the model. */
HF_API const char *hf_model_mean_column(const hf_model *model);
/** Where the training table came from, for people. Owned by the model. */
HF_API const char *hf_model_source(const hf_model *model);
/**
 * Remembers the command that makes the model again, for people; a file of the model keeps it.
 * @param command text for a shell, copied; NULL: none
 * Errors: HF_ERR_ARGUMENT for a NULL model; HF_ERR_MEMORY, what was remembered stays. No other
 * thread may use the model meanwhile. O(length).
 */
HF_API hf_status hf_model_set_command(hf_context *ctx, hf_model *model, const char *command);
/** That command, which `holdfast fit` leaves; NULL where there is none. Owned by the model. */
HF_API const char *hf_model_command(const hf_model *model);
/** True: *seed is the one of the context that the model was fitted with. False, *seed untouched: it
 * is not known, as of old files, or an argument is NULL. */
HF_API bool hf_model_seed(const hf_model *model, uint64_t *seed);
/** Version of the library that wrote the model's file; of a model of no file hf_version(). NULL for
 * NULL. Owned by the model. */
HF_API const char *hf_model_library(const hf_model *model);
/** Number of classes of a classifier, 0 for other models; the label of one of them, NULL if there
 * is no such class; and how many rows it was learnt from, 0 if there is none. Owned by the model.
 */
HF_API size_t hf_model_classes(const hf_model *model);
HF_API const char *hf_model_class(const hf_model *model, size_t i);
HF_API size_t hf_model_class_rows(const hf_model *model, size_t i);
/** The classifier; its classes are numbered as the model's. NULL for other models. Owned by the
 * model. */
HF_API const hf_classifier *hf_model_classifier(const hf_model *model);
/** Lets the model's classifier, and with it predictions into tables, decide by another rule: what
 * hf_classifier_set_rule() says. HF_ERR_ARGUMENT also for other models. Files do not keep it.
 * O(classes^2). */
HF_API hf_status hf_model_set_class_rule(hf_context *ctx, hf_model *model,
                                         const hf_class_rule *rule);
/** Rows of the training table that were left out because an input was missing. */
HF_API size_t hf_model_skipped(const hf_model *model);
/** Remarks of the fit, a sentence each: text columns left out, rows left out, constant columns;
 * inputs with values that look like codes for "missing" (-999); rows with an input far from all
 * others; inputs that count the rows, a series that repeats (with a kernel that goes on); warnings
 * of the solver. docs/methods/remarks.md says when each is made and what to do. They change
 * nothing: rows that a remark names are used as ever. hf_fit() leaves them in the context's message
 * too, joined. hf_fit_stream() does not look at inputs and series. Cost of that look: O(d n log n),
 * and O(n^2) for a series of n <= 5000. Owned by the model. */
HF_API size_t hf_model_notes(const hf_model *model);
HF_API const char *hf_model_note(const hf_model *model, size_t i);
/** SHA-256 of the training data as used (hex, 64 characters). Owned by the model. */
HF_API const char *hf_model_data_checksum(const hf_model *model);
/** SHA-256 of all that the file of a model holds (hex, 64 characters), checked when it was loaded;
 * two files of the same checksum hold the same model. Written down beside a certificate it says
 * which model that is about; `holdfast inspect` prints it. NULL: the model came from no file. Owned
 * by the model. */
HF_API const char *hf_model_content_checksum(const hf_model *model);

/** Number of hyperparameters: kernel's, mean's coefficients ("mean", or for a linear mean "mean[0]"
 * the intercept and "mean[j]" the slope of input j - 1), "noise". With several outputs: the
 * kernel's without what its coregions are made of; of each coregion the lower triangle of B,
 * "coregionalisation[s,t]" (with several coregions "coregion1.coregionalisation[s,t]", ...; of
 * independent outputs its diagonal alone); "mean[t]" and "noise[t]". A noise that outputs share is
 * "noise", in standardised units. A classifier has no noise; "mean[c]" is of class c, and what
 * target^2 is for readings is latent^2.
 *
 * Given back in hf_fit_settings.set, without training, they are the same model. Two exceptions:
 * - Robust weights: "noise" is that of an observation, corrected for the readings that the weights
 *   leave out; `set` takes the trained one, which is smaller (`holdfast inspect` shows both).
 * - A coregion of a lesser rank than there are outputs: with a kernel that leaves the coregion to
 *   the fit. */
HF_API size_t hf_model_parameters(const hf_model *model);
/** Hyperparameter i in the user's units. A shared lengthscale of differently scaled columns has no
 * user unit: it is given in standardised units with unit HF_UNIT_NONE. Strings owned by the model.
 * Errors: HF_ERR_ARGUMENT for NULL and a number that is none. O(1). */
HF_API hf_status hf_model_parameter(const hf_model *model, size_t i, hf_parameter *out);

/** Adds <target>_mean, _sd_latent, _sd_observed, _lo95, _hi95 (observed) to a table that has the
 * model's features. Row order is kept; rows with a missing input get missing predictions
 * (HF_WARN_ROWS_SKIPPED). If the model has a noise column and the table has it too, the observed
 * variance uses it. If the model has a mean column, the table must have it too, and it is added to
 * what the model predicts.
 *
 * Several outputs: five columns for each, whose names begin with the target's (<y1>_mean, ...). If
 * the model is of a long table and this table has the output column too, each row is about its own
 * output. It fills the five columns of the target; without that column all outputs are predicted
 * for every row, in columns <target>_<output>_mean, .... HF_ERR_ARGUMENT for an output that the
 * model has not.
 *
 * The message tells of rows where the model extrapolates, with their count and the furthest of
 * them. An input of theirs lies outside the inputs of the readings that the model learnt from, by
 * more than a tenth of their range. The status does not change. Models of streams keep no rows, and
 * nothing is said.
 *
 * A classifier: <target>_class, the label of the most probable class; p_<class>, the probability of
 * each; and mean and standard deviation of the latent function, <target>_mean and <target>_sd, with
 * softmax sites of each class, <target>_<class>_mean and <target>_<class>_sd. A column <target> is
 * not looked at.
 *
 * A transformed target: _mean is the mean of a new reading, _sd_observed its standard deviation and
 * _sd_latent that of g^-1 of the function; _lo95 and _hi95 are its quantiles, never below 0; and
 * <target>_median, its median, is a sixth column. Cost: that of hf_predict() with variances, and
 * O(rows columns). */
HF_API hf_status hf_predict_into_table(hf_context *ctx, const hf_model *model, hf_table *table);
/** A column that hf_predict_into_table() adds. */
typedef struct hf_predicted_column {
    /** "mean of a new reading"; a constant */
    const char *meaning;
    /** output or class that it is about; SIZE_MAX: all of them */
    size_t of;
    /** labels of classes in place of numbers */
    bool label;
} hf_predicted_column;

/**
 * The columns that hf_predict_into_table() adds to a table, in their order: how many, and one.
 *
 * @param table the table; NULL: one with no more than the inputs.
 * @param i     less than that number
 * @param name  receives the column's name, cut to `bytes` - 1 bytes and ended by a 0; NULL with
 *        bytes 0: not wanted
 * @param bytes room for the name
 * @param needed receives the length of the whole name, without the 0; may be NULL
 * @param out   may be NULL
 * HF_ERR_ARGUMENT for no model and for a column that there is not. Cost: O(columns of the table).
 * Thread-safe for one model.
 */
HF_API size_t hf_predicted_columns(const hf_model *model, const hf_table *table);
HF_API hf_status hf_predicted_column_at(const hf_model *model, const hf_table *table, size_t i,
                                        char *name, size_t bytes, size_t *needed,
                                        hf_predicted_column *out);

/** Questions that some models answer and others refuse. */
typedef enum hf_ability {
    /** hf_score(), hf_score_outputs(), hf_model_leave_one_out() */
    HF_ABILITY_SCORES = 0,
    /** hf_score_classes(), hf_model_labels(), class rules */
    HF_ABILITY_CLASS_SCORES,
    /** hf_model_suspects() */
    HF_ABILITY_SUSPECTS,
    /** hf_predict_covariances_into_table(): several outputs */
    HF_ABILITY_COVARIANCES,
    /** hf_model_posterior() is of one output in its own units: hf_predict_computational() and
     * hf_predict_worst_case() are about the target */
    HF_ABILITY_PLAIN
} hf_ability;

/** Whether a model can be asked for something. false for NULL. Cost O(1). Thread-safe. */
HF_API bool hf_model_can(const hf_model *model, hf_ability what);

/** Adds the latent covariances between outputs at each row, <a>_<b>_cov for b before a. a and b are
 * the names that the columns of hf_predict_into_table() begin with when all outputs are predicted.
 * HF_ERR_ARGUMENT with one output. Cost: that of hf_predict_outputs() with covariances. */
HF_API hf_status hf_predict_covariances_into_table(hf_context *ctx, const hf_model *model,
                                                   hf_table *table);

/**
 * Adds how far outside of the training inputs each row lies, <target>_outside (of several outputs
 * the first target's name): the largest over all inputs of
 *
 *     max(low - x, x - high, 0) / (high - low)
 *
 * where low and high are the least and the largest value of the input among the readings in the
 * fit. Readings set aside are not in it. 0 inside; 1: as far out as the range is wide; infinite for
 * another value of an input that was constant; missing where one is (HF_WARN_ROWS_SKIPPED). A
 * replaced column of that name keeps its place. Errors: HF_ERR_NO_DATA for a model of a stream,
 * which keeps no rows; HF_ERR_NO_COLUMN, HF_ERR_NOT_FINITE and HF_ERR_PARSE for inputs, as
 * hf_predict_into_table(); HF_ERR_ARGUMENT for NULL. Cost O(rows d). Thread-safe for one model.
 */
HF_API hf_status hf_predict_outside_into_table(hf_context *ctx, const hf_model *model,
                                               hf_table *predicted_rows);

/** Predicts and scores the rows of a table that have a target, as hf_metrics_transformed(). Counts
 * and amounts: mae is that of the median, rmse that of the mean; nlpd is of log probabilities or
 * densities of the readings (infinite where one cannot be), coverage of intervals between
 * quantiles, ends included; crps that of hf_likelihood_crps(). Several outputs: all readings
 * together, each in units of the scale that the fit standardised its output by (with
 * hf_fit_settings.standardise off: its own).
 * Errors: those of hf_predict_into_table(); HF_ERR_NO_COLUMN without a target, HF_ERR_NO_DATA
 * without a row that has one, HF_ERR_ARGUMENT for a classifier. Cost: that of hf_predict() with
 * variances; of counts and amounts some ms a row beside it. */
HF_API hf_status hf_score(hf_context *ctx, const hf_model *model, const hf_table *table,
                          hf_metrics *out);
/** The same for each output in its own units: hf_model_outputs() entries. One without readings has
 * n = 0 and no numbers (NaN). Errors: those of hf_score(). Cost: that of hf_score(). */
HF_API hf_status hf_score_outputs(hf_context *ctx, const hf_model *model, const hf_table *table,
                                  hf_metrics *out);

/**
 * Predicts and scores the rows of a table that have a label (metrics.h). hf_score() and
 * hf_score_outputs() are HF_ERR_ARGUMENT for a classifier, and this one is for other models.
 * @param bins, bin  as for hf_metrics_class(); 10 bins are usual
 * HF_ERR_ARGUMENT, with the place, for a label that the model has not. Cost: that of
 * hf_classify_predict().
 */
HF_API hf_status hf_score_classes(hf_context *ctx, const hf_model *model, const hf_table *table,
                                  size_t bins, hf_calibration_bin *bin, hf_class_metrics *out);

/**
 * The class of each row of a table, by the labels in its column of the model's target.
 * @param label hf_table_rows() entries; HF_LABEL_MISSING where the label is missing.
 * HF_ERR_ARGUMENT for a model that is no classifier and, with the place, for a label that the model
 * has not; HF_ERR_NO_COLUMN. O(rows log classes).
 */
HF_API hf_status hf_model_labels(hf_context *ctx, const hf_model *model, const hf_table *table,
                                 size_t *label);

/**
 * hf_certify_readings() (certify_uses.h) for a model: how far its mean at m points can move when
 * any `count` of its readings are replaced by any numbers. Hyperparameters, noise, centres and
 * thresholds are held. A fit made again chooses those anew and can move the mean farther.
 * @param x      m x features, user units
 * @param damage m entries, units of the target; infinite where sites are Gaussian, which follow a
 *         reading wherever it goes
 * @param worst  m entries or NULL: the 1-based data row of the training file whose reading can do
 *         it; written when `count` is 1
 * Readings set aside stay so. HF_ERR_ARGUMENT: a classifier, several outputs, another solver than
 * the exact one; sites that are neither Gaussian nor robust; a count that is 0 or above the number
 * of readings, a transformed target. Cost: that of hf_certify_readings().
 */
HF_API hf_status hf_model_contamination_bound(hf_context *ctx, const hf_model *model, size_t count,
                                              size_t m, const double *x, double *damage,
                                              size_t *worst);

/**
 * The posterior influence function: how far the model moves when one of its readings is another
 * number, KL( posterior || posterior with that reading ) in nats, over f of each output and of all.
 *
 * Held are hyperparameters, covariances, noise, thresholds and centres of weights, but those that
 * follow the readings of the same row (HF_CENTRE_CONDITIONAL): then the sites of row mates change
 * too, as in "MO-RCGP", section 3.2. There the influence stays bounded: a reading that goes far off
 * loses its weight. So do the row mates that lean on it, until the row is as good as not there.
 * With Gaussian sites it grows with the square, and so it does for readings that the default kept:
 * who is set aside is not decided anew. A fit made again chooses all of that anew.
 *
 * A projected model of one output keeps its actions as they are (hf_influence()). An inducing
 * model keeps no centres of weights: hf_influence_inducing() takes the sites from the caller.
 * @param row      1-based data row of the training file
 * @param output   number of the output; 0 of one
 * @param y        what its reading would be (finite, its units), or NaN: not taken
 * @param marginal hf_model_outputs() entries or NULL: over the latent values of each output at the
 *                 places of all rows of the training file; never above *joint but for rounding
 * @param joint    over all of f; may be NULL
 * Errors: HF_ERR_ARGUMENT (no such row or output, a reading that is missing or set aside;
 * an inducing model, a projected one of several outputs, a classifier, a
 * transformed target; weights of whole samples, sites that are neither Gaussian
 * nor robust); HF_ERR_NOT_FINITE, HF_ERR_NO_DATA (a model without rows); results are untouched.
 * O(n^2 T) for the joint one, with N rows T n^2 N for the marginal ones; projected as
 * hf_influence().
 */
HF_API hf_status hf_model_influence(hf_context *ctx, const hf_model *model, size_t row,
                                    size_t output, double y, double *marginal, double *joint);

/** One row per training reading: row (1-based data row of the training file), with several outputs
 * output (its number, from 0), y, loo_mean, loo_sd (observed), weight, influence (KL of removing
 * it; for one set aside 0), suspected (0/1), group. Predictions of readings set aside or missing
 * come from the kept ones.
 *
 * With the inducing and the projected solver the leave-one-out columns are what the fit kept
 * (hf_reading), at no cost, and there is no column influence: it needs the exact posterior.
 *
 * A transformed target: loo_mean and loo_sd are moments of the reading in its own units, and two
 * columns more are loo_median, after loo_mean, and loo_residual, after loo_sd: the standardised
 * residual of what is modelled, hf_transform_residual().
 *
 * A classifier has row, label, predicted (the most probable class) and p_label, the probability
 * that the model gives to the label. The model has seen the label: a small p_label means that its
 * neighbours speak for another class.
 * Errors: HF_ERR_ARGUMENT (NULL), HF_ERR_NO_DATA (a model of a stream), HF_ERR_MEMORY,
 * HF_ERR_CANCELLED. */
HF_API hf_status hf_model_rows(hf_context *ctx, const hf_model *model, hf_table **out);

/** The same columns but influence, only for the readings suspected: O(1) solves when all of them
 * were set aside or the solver is not the exact one, one leave-one-out pass otherwise. No rows when
 * nothing is suspected.
 * Errors: those of hf_model_rows(). */
HF_API hf_status hf_model_suspects(hf_context *ctx, const hf_model *model, hf_table **out);

/** How well readings are predicted without themselves. A score that is not known has n = 0 and no
 * numbers (NaN). */
typedef struct hf_leave_one_out_scores {
    /** of this model */
    hf_metrics model;
    /** of the plain Gaussian process with the same kernel, where suspects were set aside; not
     * known elsewhere, nor of large tables, trained in stages */
    hf_metrics plain;
    /** of mean and standard deviation of the other readings, inputs unknown; not known for fewer
     * than three readings of an output, or all the same */
    hf_metrics mean;
    /** 1 - (rmse / mean.rmse)^2: the share of the squared error of the mean that the model
     * saves; below 0 it is worse; NaN if one is not known */
    double model_r2;
    /** the same of the plain Gaussian process */
    double plain_r2;
} hf_leave_one_out_scores;

/** Scores leave-one-out predictions: each reading is predicted from all others.
 *
 * All three are scored on the same readings: those of weight 1/4 or more, which nothing set aside.
 * Hyperparameters were learnt from all of these, so scores are a little better than on new
 * rows. The mean of the others is predicted with the variance v (1 + 1 / (m - 1)) of a new reading,
 * where v is the variance of the m - 1 others.
 *
 * Several outputs: all readings together, each in units of the scale that the fit standardised its
 * output by, as hf_score(). One output: units of the target, also of a transformed one, whose
 * scores are those of hf_metrics_transformed() but for `mean`, which knows of no transform.
 *
 * Errors: HF_ERR_ARGUMENT for NULL and for a classifier; HF_ERR_NO_DATA for a streamed model and
 * where no reading was kept; HF_ERR_MEMORY, HF_ERR_CANCELLED. `scores` are untouched on error.
 * Cost: of hf_leave_one_out() with the exact solver, O(n) with others. Threads may share a model,
 * each with a context of its own.
 * Source: Rasmussen and Williams, "Gaussian Processes for Machine Learning" (2006), section 5.4.2.
 */
HF_API hf_status hf_model_leave_one_out(hf_context *ctx, const hf_model *model,
                                        hf_leave_one_out_scores *scores);

/**
 * How much each input matters to what the model predicts.
 *
 * For input j: the mean of (f(x) - f(x with its j-th entry from another row))^2 over pairs of
 * training rows, divided by twice the variance of f over those rows, where f is the latent mean.
 * That is Jansen's estimate of the total Sobol index: the share of the variance of f that input j
 * takes part in, alone or with others. 0: the input does nothing. Shares of independent inputs add
 * up to 1 where their effects add up, and to more where they act together.
 *
 * Limits. Inputs count as if they varied independently: of correlated twins each may look less
 * important than the two are together. Pairs that no row comes near ask about places where the
 * model knows little; shares above 1 are a sign of that. It is about the model, not the world.
 *
 * Some 512 pairs of rows, from 64 inputs on 32768 / inputs and at least 32, chosen at random by a
 * stream of their own: the same model gives the same numbers whatever the context's seed. Readings
 * set aside do not count. Several outputs, and classes of softmax sites: rows are asked about their
 * own output, or about classes in turn, in scaled units, and variances are those within an output.
 * A transformed target: of its transform.
 * @param relevance hf_model_features() entries; all 0 where f is constant
 * Errors: HF_ERR_ARGUMENT for NULL; HF_ERR_NO_DATA for a streamed model and fewer than two kept
 * readings; HF_ERR_MEMORY, HF_ERR_CANCELLED. `relevance` is untouched on error. Cost: a mean
 * prediction for each pair and input. Threads may share a model, each with a context of its own.
 * Source: Jansen, "Analysis of variance designs for model output" (1999); Saltelli et al.,
 * "Variance based sensitivity analysis of model output" (2010).
 */
HF_API hf_status hf_model_relevance(hf_context *ctx, const hf_model *model, double *relevance);

/** The rows the fit used, as they were: row (1-based data row of the training file), the features,
 * of a long table the number of the output, the target or targets; of a classifier the target is
 * text.
 * Errors: those of hf_model_rows(). O(rows columns). */
HF_API hf_status hf_model_training(hf_context *ctx, const hf_model *model, hf_table **out);

/** Saves to a SQLite file (docs/model-format.md), written beside `path` and renamed: never a half
 * file.
 * Errors: HF_ERR_ARGUMENT (NULL), HF_ERR_IO (also a full disk), HF_ERR_MEMORY; a file that was
 * there stays. O(bytes of the file). */
HF_API hf_status hf_model_save(hf_context *ctx, const hf_model *model, const char *path);
/** Loads and verifies. HF_ERR_MODEL_FILE for a file that is no model, damaged, or of a newer
 * format. O(bytes of the file), and n^3/3 flops for the factor of the exact solver. */
HF_API hf_status hf_model_load(hf_context *ctx, const char *path, hf_model **out);

HF_END_DECLS

#endif
