/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fit.h
 * @brief Steps of a fit; files of this room include this, and classify/fit*.c, whose fits begin and
 * end alike.
 */
#ifndef HFI_FIT_H
#define HFI_FIT_H

#include "outliers/outliers.h"
#include "svgp/svgp.h"
#include <holdfast/train.h>

/** A weight below this marks a reading as suspected: its residual is more than 1.7 thresholds. */
static const double hfi_suspect_weight = 0.25;

/** How a training that was not the trainer's own ended: on a share of the rows, or by
 * minibatches. */
typedef struct hfi_share_report {
    hfi_optimum found;
    size_t evaluations;
} hfi_share_report;

struct hfi_fit;

/** How a fit goes, for each kind of sites (ways.c). */
typedef struct hfi_fit_way {
    /** From the cold start, of all rows at once; `state` receives the result. */
    hf_status (*train)(struct hfi_fit *fit, double *state);
    /** Sites of the fit's rows from what is predicted of them, training on them or at the present
     * hyperparameters; `state` receives the result. */
    hf_status (*refine)(struct hfi_fit *fit, const hfi_holdout *start, bool train, double *state);
    /** Evaluations of a typical fit. */
    double (*evaluations)(const hf_fit_settings *settings);
} hfi_fit_way;
const hfi_fit_way *hfi_fit_way_of(hf_likelihood sites);

/** A step between training and what follows it: may move `state`, fit->trainer.count entries. */
typedef hf_status (*hfi_fit_step)(void *arg, struct hfi_fit *fit, double *state);

/** Everything a fit works with, in scaled units, for the readings that are present. */
typedef struct hfi_fit {
    hf_context *ctx;
    const hf_data *data;
    const hf_fit_settings *settings;
    const hfi_fit_way *way; /* of its sites, from hfi_fit_gather() on */
    size_t n, d;
    size_t outputs; /* 1, or T: then the last input is the number of the output */
    size_t *row;    /* rows of the data that are here */
    double *x;      /* n x d */
    bool *code;     /* d: inputs that are codes of categories; NULL: none */
    /* n x d, standardised, with the place of an output for its number; NULL when x is */
    double *comparable;
    double *y;     /* n */
    double *extra; /* n */
    bool latent;   /* an inference finds the sites: of counts and amounts, and of labels */
    /* Counts and amounts (fit/likelihood.c), n each: readings as they are, logarithms of exposures;
     * else NULL. */
    double *seen, *shift;
    hfi_scaling scaling; /* applied */
    /* what standardisation would be: starts, boxes and priors follow it when it is not applied */
    hfi_scaling measured;
    hf_solver solver;         /* never auto */
    size_t inducing, actions; /* 0 where there are none */
    hf_kernel *kernel;
    hf_mean *mean;
    hf_sites *sites;
    double noise; /* start, scaled units */
    bool noise_held;
    bool mean_started; /* the constant has a start */
    size_t aside;      /* rows that are set aside without asking */
    double *noises;    /* with several outputs: start of each, scaled units; else NULL */
    bool *noises_held; /* likewise */
    bool *means_given; /* likewise: constants that were set by name */
    /* readings with the same number were taken together; NULL: those with equal inputs */
    size_t *sample;
    size_t *readings; /* with several outputs: how many each has; else NULL */
    /* likewise: place of each output in an order that does not depend on their numbers */
    size_t *place_of;
    /* likewise: row k was row order[k] of the table's; NULL: it is in the table's order */
    size_t *order;
    hfi_conditional conditional; /* zeroed unless weights come from the other outputs */
    bool by_rows; /* where its choice (hfi_conditional.by_rows) starts: that of the share before */
    /* T x T for each coregion, what was given of it, scaled units, else NaN; NULL: nothing */
    double *coregionalisation;
    double threshold; /* given soft threshold, scaled units; infinity if none */
    hfi_trainer trainer;
    hfi_verdict verdict;
    double nu;                   /* of Student-t noise; infinity without */
    struct hfi_journal *journal; /* NULL without a checkpoint */
    hf_projection_report projection;
    bool warm; /* after stages: the table itself is trained too */
    /* that parts the suspects of the first stage from its other readings, or what no stage would
     * call legitimate */
    hfi_cut cut;
    hfi_share_report shared;
    hfi_fit_step step; /* NULL: none */
    void *step_arg;
} hfi_fit;

/** hf_fit_data() with a step after training, or NULL. */
hf_status hfi_fit_with(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                       hfi_fit_step step, void *of, hf_posterior **posterior, hf_fit_report *report,
                       hf_reading *readings);

/** Frees what a fit holds, not the struct. */
void hfi_fit_free(hfi_fit *fit);
/** Checks data and settings. */
hf_status hfi_fit_check(hf_context *ctx, const hf_data *data, const hf_fit_settings *settings);
/** Whether a row has a reading that is set aside without asking. */
bool hfi_fit_is_aside(const hf_data *data, size_t i);
/** Gathers the readings that are present, decides on the solver and standardises. */
hf_status hfi_fit_gather(hfi_fit *fit);
/** A scaling that changes nothing, of `outputs` (1: without scalings of their own). On error what
 * was made is the owner's to free. HF_ERR_MEMORY. */
hf_status hfi_fit_identity(hf_context *ctx, size_t d, size_t outputs, hfi_scaling *out);
/** Inputs beside the number of the output: all of them when there is one. */
size_t hfi_fit_own_inputs(const hfi_fit *fit);
/** Units of the inputs, but for the number of an output, from their mean and standard deviation, as
 *  the settings want them: both scalings. */
void hfi_fit_scale_inputs(hfi_fit *fit, const double *mean, const double *sd);
/** Checks what several outputs need: each has a reading, and the last input is their number. This
 * and the following functions of outputs.c and order.c do nothing for one output, but for its
 * kernel and mean. */
hf_status hfi_fit_check_outputs(hf_context *ctx, const hf_data *data);
/** Location and scale of every output's readings (0 if `centred` is false), into a scaling made for
 * one. */
hf_status hfi_fit_measure_outputs(hfi_fit *fit, bool centred, hfi_scaling *scaling);
/** Kernel and mean; of several outputs an expression without a coregion becomes coregion(...) *
 * (expression). */
hf_status hfi_fit_make_outputs(hfi_fit *fit);
/** Room for what is given by name, and the noise that each output starts with: that of the
 * settings, or `usual` in standardised units. */
hf_status hfi_fit_start_outputs(hfi_fit *fit, double usual);
/** Gives the sites their channels, one for each output, and the noise that each starts with. */
hf_status hfi_fit_output_sites(hfi_fit *fit);
/** noise[t], mean[t], coregionalisation[s,t], user units: *done says whether the name was one of
 * them. */
hf_status hfi_fit_assign_output(hfi_fit *fit, const hf_assignment *a, bool *done);
/** After all assignments: the coregionalisation matrix, if it was given. */
hf_status hfi_fit_finish_assignments(hfi_fit *fit);
/** With several outputs: fit->place_of, and the rows in an order that does not depend on how the
 * outputs are numbered (fit/order.c). Second, once there are sites, the order of the table again,
 * for them and `honest` (zeroed: none) too. */
hf_status hfi_fit_order_outputs(hfi_fit *fit);
hf_status hfi_fit_restore_order(hfi_fit *fit, const hfi_holdout *honest);
/** The output at a place of that order; where there is none, the output of that number. */
size_t hfi_fit_output_at(const hfi_fit *fit, size_t place);
/** Scales of such outputs: what the others say, within what their own readings allow; `all` is the
 * scale of all readings together. `work`: 2 x outputs. */
void hfi_fit_scale_sparse(const hfi_fit *fit, double all, const double *location, double *scale,
                          double *work);
/** Keeps what such an output has of its own from going to nothing: at least 1 / readings of its
 * variance. */
void hfi_fit_bound_sparse(const hfi_fit *fit, hfi_trainer *trainer);
/** Mean and standard deviation without overflow; sd 1 for a constant. */
void hfi_fit_mean_and_sd(size_t n, const double *values, size_t stride, double *mean, double *sd);
/** Median or 0, and 1.4826 MAD, or what stands in for it where that is 0 (scale.c). */
hf_status hfi_fit_robust_scale(hf_context *ctx, size_t n, const double *y, double *location,
                               double *scale);
/** Whether the coefficients of a linear mean are integrated out (fit_slopes.c). Then: the kernel
 * with what that adds to it, its variances held, and, after training, the mean that it is about. */
bool hfi_fit_integrates_slopes(const hfi_fit *fit);
hf_status hfi_fit_widen_slopes(hfi_fit *fit);
hf_status hfi_fit_hold_slopes(hfi_fit *fit);
hf_status hfi_fit_centre_slopes(hfi_fit *fit, double *state);
/** Kernel, mean and sites at their starting or given values. */
hf_status hfi_fit_prepare(hfi_fit *fit);
/** Gives robust sites of the fit's readings the amplitude of their weights, in its units. */
hf_status hfi_fit_amplitude(const hfi_fit *fit, hf_sites *sites);
/** Counts and amounts (fit/likelihood.c): that data and settings go together; their readings; the
 * name of what other sites call noise, NULL if there is none; a dispersion that does not exist is
 * held; the exact solver's evaluator, whose matrices are those of the inference; and training. All
 * but the last three are harmless for others. */
hf_status hfi_fit_check_likelihood(hf_context *ctx, const hf_data *data,
                                   const hf_fit_settings *settings);
hf_status hfi_fit_gather_likelihood(hfi_fit *fit);
const char *hfi_fit_noise_name(const hfi_fit *fit);
void hfi_fit_hold_dispersion(hfi_fit *fit);
hf_status hfi_fit_latent_evaluator(hfi_fit *fit);
hf_status hfi_fit_train_likelihood(hfi_fit *fit, double *state);
/** The trainer's evaluator for the solver chosen. */
hf_status hfi_fit_evaluator(hfi_fit *fit);
/** Trainer: free parameters, boxes, priors, cold start. */
hf_status hfi_fit_trainer(hfi_fit *fit);
/** The entries of one array of parameters, which lie one after the other. */
typedef struct hfi_fit_array {
    size_t begin, end;
} hfi_fit_array;
/** One standardised unit of this parameter in the units the fit works in: 1 when it
 *  standardises. */
double hfi_fit_reference(const hfi_fit *fit, const hf_parameter *parameter);
/** Whether an input is no code of categories, and how many are none; the number of an output
 * counts. */
bool hfi_fit_is_measured(const hfi_fit *fit, size_t column);
size_t hfi_fit_measured_inputs(const hfi_fit *fit);
double hfi_least_noise(hf_prior_kind lengthscale_prior);
/** Trains: `state` receives the result, the sites are left as they ended (fit_train.c). */
hf_status hfi_fit_train(hfi_fit *fit, double *state);
/** Whether the table is so large that it is trained in stages (fit_stages.c). */
bool hfi_fit_has_stages(const hfi_fit *fit);
/** Rows and inducing inputs of the training that starts cold: the fit's own where there are no
 * stages. */
void hfi_fit_cold_stage(const hfi_fit *fit, size_t *rows, size_t *inducing);
/** Rows that the largest training looks at: n where there are no stages. */
size_t hfi_fit_training_rows(const hfi_fit *fit);
/** Trains on shares of the rows; kernel, mean and noise are left as they ended. `all` (zeroed)
 * receives what the last share predicts for every row. fit->warm says whether the table itself is
 * to be trained once more. */
hf_status hfi_fit_train_in_stages(hfi_fit *fit, hfi_holdout *all);
/** Functions that rows of the table of ways name (train.c, refine.c). */
hf_status hfi_fit_train_plain(hfi_fit *fit, double *state);
hf_status hfi_fit_train_robust(hfi_fit *fit, double *state);
hf_status hfi_fit_train_pursuit(hfi_fit *fit, double *state);
hf_status hfi_fit_train_noise(hfi_fit *fit, double *state);
hf_status hfi_fit_refine_plain(hfi_fit *fit, const hfi_holdout *start, bool train, double *state);
hf_status hfi_fit_refine_robust(hfi_fit *fit, const hfi_holdout *start, bool train, double *state);
hf_status hfi_fit_refine_noise(hfi_fit *fit, const hfi_holdout *all, bool train, double *state);
/** Suspects are those whose sites have small weights. */
void hfi_fit_suspect(hfi_fit *fit);
/** The cut that parts `suspected` from the other rows with the fewest mistakes. */
hf_status hfi_fit_find_cut(hf_context *ctx, size_t n, const double *t, const bool *suspected,
                           hfi_cut *out);
/** Moves both sides of `at` out by one factor. No more of n residuals are then beyond than the
 * share of suspects of the first stage allows: n p + 4 sqrt(p (1 - p) n (1 + n / rows)). Nothing
 * where that share is not known. HF_ERR_MEMORY. */
hf_status hfi_fit_bound_cut(hf_context *ctx, size_t n, const double *t, const hfi_cut *first,
                            hfi_cut *at);
/** The cut for n readings where none of `rows` of them, with residuals t, was suspected: twice as
 * far out as tails with a variance reach. */
hfi_cut hfi_fit_gross_cut(size_t n, size_t rows, const double *t);
/** Takes from `shared` what the report says about training. */
void hfi_fit_adopt_shared(hfi_fit *fit);
/** Whether training goes by minibatches or by stochastic variational steps (train.c). */
bool hfi_fit_is_stochastic(const hfi_fit *fit);
/** Closes the journal, if there is one, and puts what is to be said about it into the report (or
 * NULL). The file stays: only who has put the model in a safe place knows that the checkpoint is no
 * longer needed. */
void hfi_fit_close_journal(hfi_fit *fit, hf_fit_report *report);
/** The solution for the present sites, with the solver chosen. */
hf_status hfi_fit_solve(hfi_fit *fit, hfi_solution *out);
/** Bytes of the fit at its peak, without the data. */
double hfi_fit_bytes(const hfi_fit *fit);
/** The report, the readings' verdicts, and the warning a user should see, of what the solver said
 * and the report shows (fit_report.c). */
void hfi_fit_fill_report(const hfi_fit *fit, const double *state, const hf_posterior *posterior,
                         double kappa, hf_fit_report *report);
/** `left`: predictions of each reading without itself, NULL where they are asked for later;
 * `honest`: those of refits, zeroed where there are none. */
void hfi_fit_fill_readings(const hfi_fit *fit, const hfi_holdout *left, const hfi_holdout *honest,
                           hf_reading *readings);
hf_status hfi_fit_warn(const hfi_fit *fit, hf_status solved, const hf_fit_report *report);

/* ---- the solver of a fit (solver.c), and what the fit will take (cost.c) --------------------- */

/** A solver as fits use it: a row of functions and of what is true of it. Nobody else asks which
 * solver a fit has. */
typedef struct hfi_fit_solver {
    hf_status (*evaluator)(hfi_fit *fit, hfi_evaluator *e);
    /** The same for latent values, whose matrices are those of the inference; NULL: no other than
     * for readings. */
    hf_status (*latent_evaluator)(hfi_fit *fit);
    hf_status (*solve)(hfi_fit *fit, hfi_solution *out);
    double (*bytes)(const hfi_fit *fit); /* at the peak, without the data */
    const char *smaller;                 /* what to do about a fit that memory is too small for */
    bool inducing, actions;              /* it may have some */
    bool parts;  /* it can be trained on parts of the rows (hfi_svgp_fit()) */
    bool bound;  /* it is trained on a bound, to which points beside the readings may add */
    bool slopes; /* coefficients of a linear mean can be integrated out */
} hfi_fit_solver;
/** The row of a solver; that of `auto` says what one of those that it chooses from can do, and has
 * no functions. */
const hfi_fit_solver *hfi_fit_solver_of(hf_solver solver);

/** The solver that a fit of n readings with d inputs will use, and how many inducing inputs and
 * actions (0 where there are none). The number n decides all that the settings leave open: exact up
 * to 2000 readings, then projected on Krylov actions with hyperparameters from inducing inputs,
 * from 20 000 on inducing alone. */
hf_solver hfi_choose_solver(const hf_fit_settings *settings, size_t n, size_t d, size_t *inducing,
                            size_t *actions);

/** The solver of a fit of n labels: that of the settings, or exact up to 2000, then inducing. */
hf_solver hfi_choose_class_solver(const hf_fit_settings *settings, size_t n);

/** Costs of a fit of n readings with d inputs. */
typedef struct hfi_estimate {
    hf_solver solver;         /* never auto */
    size_t inducing, actions; /* 0 where there are none */
    size_t training_rows;     /* that the hyperparameters are learnt from */
    double bytes;             /* at the peak, without the data */
    double evaluation_flops;  /* one objective with gradient */
    double flops;             /* a typical fit */
} hfi_estimate;
void hfi_fit_estimate(const hf_fit_settings *settings, size_t n, size_t d, hfi_estimate *out);

/* ---- the fit of a table that is read row by row and need not fit in memory (rows.c) ---------- */

/**
 * Fits a posterior by minibatches (hfi_svgp_fit()) to rows in the user's units. y is NaN where
 * there is no target, and where an input is missing (x must be finite all the same).
 *
 * One pass finds the means and standard deviations of the inputs; location and scale of the target,
 * the rounding of the readings and the first inducing inputs come from a sample. Up to 2048
 * readings, a twentieth at most, are kept out to calibrate the intervals (settings->calibrate).
 *
 * @param names     d input names, or NULL
 * @param extra     the rows have known noise variances
 * @param settings  as for hf_fit_data(), with the inducing solver; no suspect finder. Set minibatch
 *                  or leave it 0
 * @param report    may be NULL; `missing` are the rows without a reading
 * Errors: those of hf_fit_data() and of reading rows. Memory: a sample of 32 768 rows and what
 * hfi_svgp_fit() takes.
 */
hf_status hfi_fit_rows(hf_context *ctx, const hfi_row_source *rows, const char *const *names,
                       bool extra, const hf_fit_settings *settings, hf_posterior **posterior,
                       hf_fit_report *report);

#endif
