/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file posterior.h
 * @brief Internal face of the posterior room.
 */
#ifndef HFI_POSTERIOR_H
#define HFI_POSTERIOR_H

#include "solver/solver.h"
#include <holdfast/posterior.h>

/** x_scaled = (x - shift) / scale per input; y the same, with several outputs for each its own.
 * Identity when made by hfi_scaling_identity(). */
typedef struct hfi_scaling {
    hfi_memory memory;
    size_t d;
    double *x_shift;
    double *x_scale; /* > 0 */
    double y_shift;  /* of output 0 */
    double y_scale;  /* > 0; of output 0 */
    /* 1 unless hfi_scaling_set_outputs(): then the last input is the number of the output, and not
     * scaled */
    size_t outputs;
    double *shifts; /* with several: of each; else NULL */
    double *scales; /* > 0 */
} hfi_scaling;

hf_status hfi_scaling_identity(hf_context *ctx, size_t d, hfi_scaling *out);
hf_status hfi_scaling_copy(hf_context *ctx, const hfi_scaling *scaling, hfi_scaling *out);
void hfi_scaling_free(hfi_scaling *scaling);
/** Standardises m rows: out (m x d, stride d) from x (stride ldx). */
void hfi_scaling_inputs(const hfi_scaling *scaling, size_t m, const double *x, size_t ldx,
                        double *out);
/** Several outputs, each with a shift and a scale (> 0) of its own; copied. The last input's shift
 * and scale become 0 and 1. */
hf_status hfi_scaling_set_outputs(hf_context *ctx, hfi_scaling *scaling, size_t outputs,
                                  const double *shifts, const double *scales);
/** The output that a row of inputs (user's or solver's units) is of; 0 when there is one. */
size_t hfi_scaling_output(const hfi_scaling *scaling, const double *row);
/** Inputs beside the number of the output: all of them when there is one. */
size_t hfi_scaling_own_inputs(const hfi_scaling *scaling);
/** False where the last input of a row is not the number of an output; true when there is one. */
bool hfi_scaling_has_output(const hfi_scaling *scaling, const double *row);
/** Shift and scale of an output. */
double hfi_scaling_shift(const hfi_scaling *scaling, size_t output);
double hfi_scaling_scale(const hfi_scaling *scaling, size_t output);
/** From the solver's units to the user's: a mean, a variance of an output; and from the user's to
 * the solver's: a site. */
double hfi_scaling_mean(const hfi_scaling *scaling, size_t output, double scaled);
double hfi_scaling_variance(const hfi_scaling *scaling, size_t output, double scaled);
double hfi_scaling_target(const hfi_scaling *scaling, size_t output, double target);
double hfi_scaling_site_variance(const hfi_scaling *scaling, size_t output, double variance);

/** user value = internal value x factor, for a parameter of that unit. A parameter of an input that
 * belongs to no one column (SIZE_MAX) has a factor only if all inputs have the same scale;
 * otherwise NaN: it is meant in standardised units. */
double hfi_scaling_factor(const hfi_scaling *scaling, hf_unit unit, size_t column);

struct hf_posterior {
    hfi_memory memory;
    hf_kernel *kernel;
    hf_mean *mean;
    hfi_solution solution;
    hfi_scaling scaling;
    double noise;           /* observed noise variance, scaled units; of output 0 */
    double *noises;         /* with several outputs: of each; else NULL */
    double calibration;     /* kappa */
    hf_solve_report report; /* of the solution; hfi_posterior_report() brings it up to date */
};

/** A posterior that takes over (moves) its parts on success; on error they stay the caller's.
 * `kernel` and `mean` are copied. */
hf_status hfi_posterior_create(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                               hfi_solution *solution, const hfi_scaling *scaling, double noise,
                               double calibration, hf_posterior **out);

/** Brings the report of a posterior whose solution is new or was changed up to date. O(n). */
void hfi_posterior_report(hf_posterior *posterior);

/** k(x, x) - k' S k is a variance, so that a computed one below zero is rounding and the nearest
 * possible value is zero. NaN stays NaN, to be found. */
double hfi_variance_clamp(double variance);
/** 3 d entries of a workspace that prediction leaves alone: a point and two gradients of callers
 * that put them together. NULL when the workspace is NULL or of another number of inputs. */
double *hfi_workspace_spare(hf_posterior_workspace *workspace, size_t d);
/** One observed noise variance (scaled units) per output of the scaling; copied. */
hf_status hfi_posterior_set_noises(hf_context *ctx, hf_posterior *posterior, const double *noises);
/** Noise variance of an output, scaled units. */
double hfi_posterior_noise(const hf_posterior *posterior, size_t output);
/** Variance of a new reading of an output, scaled units. */
double hfi_posterior_observed(const hf_posterior *posterior, size_t output, double latent);
/** HF_ERR_ARGUMENT unless the exact solver made the posterior: "<what> needs the exact solver, but
 * ...; <instead>". */
hf_status hfi_posterior_need_exact(hf_context *ctx, const hf_posterior *posterior, const char *what,
                                   const char *instead);
/** HF_ERR_ARGUMENT unless readings are the anchors, as of the exact and the projected solver: "an
 * inducing posterior has no
 * <what>: ...". */
hf_status hfi_need_readings(hf_context *ctx, const hf_posterior *posterior, const char *what);
/** The exact solution of the same sites: `t` and `factor` are new and the caller's, all else is the
 * posterior's. Warns and
 * fails as hf_solve_exact(); *out is untouched on error. */
hf_status hfi_solve_exactly(hf_context *ctx, const hf_posterior *posterior, hfi_solution *out);
/** Checks what every solve is given: nothing is NULL; kernel, mean and the stride of x agree. */
hf_status hfi_posterior_check_parts(hf_context *ctx, const hf_kernel *kernel, const hf_mean *mean,
                                    const hf_sites *sites, const double *x, size_t ldx);
/** HF_ERR_ARGUMENT unless the posterior is of one output: "<what>: one output is wanted, ...". */
hf_status hfi_posterior_need_one(hf_context *ctx, const hf_posterior *posterior, const char *what);
/** hfi_scaling_has_output() of its scaling. */
bool hfi_posterior_has_output(const hf_posterior *posterior, const double *row);
/** x must be m finite rows of the right width; the message names the first bad row. */
hf_status hfi_posterior_check_rows(hf_context *ctx, const hf_posterior *posterior, size_t m,
                                   const double *x, size_t ldx);
/** Posterior mean (m entries) and covariance (both triangles of the m x m lower-triangle convention
 * are written, the lower one counts) at m checked rows, both in scaled units. Can be cancelled. */
hf_status hfi_posterior_joint(hf_context *ctx, const hf_posterior *posterior, size_t m,
                              const double *x, size_t ldx, double *mean, double *covariance);
/** The same at rows in scaled units, m x d without gaps. */
hf_status hfi_posterior_joint_scaled(hf_context *ctx, const hf_posterior *posterior, size_t m,
                                     const double *x, double *mean, double *covariance);

/* ---- how far one reading moves a posterior: the parts that belong to one kind of solver ------ */

/** x - log(1 + x) >= 0 for x >= -1, without cancellation. */
double hfi_influence_excess(double x);
/** KL(p || q) for p = the cavity N(c, v) times the site (r, d), and q = the same with (s, e); e
 * infinite: without a site. */
double hfi_influence_divergence(double c, double v, double r, double d, double s, double e);
/** HF_ERR_ARGUMENT unless the variance is positive (infinite counts), HF_ERR_NOT_FINITE unless the
 * target is finite or not
 * looked at. The message says "the <which> site's ...". */
hf_status hfi_check_site(hf_context *ctx, const char *which, double target, double variance);
/** A site of row z (solver's units) becomes one in the solver's units: its target less the prior
 * mean, and its variance. */
void hfi_site_to_solver(const hf_posterior *p, const double *z, double *target, double *variance);

#endif
