/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file export_c.h
 * @brief Models and envelopes as one file of C that needs no library: for controllers.
 *
 * The file is C99, includes <math.h> (and <stdint.h> if single), and has one public function. It
 * allocates nothing, does not recurse, and all its loops have constant bounds: n evaluations of the
 * kernel and n^2/2 multiplications for each prediction of an exact model of n readings. All tables
 * are constant and static. It can be asked by any number of threads.
 *
 *     mean(x) = m(x) + sum_i t_i k(x, z_i)        sd(x) = sqrt(k(x, x) - |R' k|^2)
 *
 * with the scaling of inputs and target folded in. The exact solver's R' k solves L v = k, with L
 * kept as a triangle: rounding of L is then a small change of K + D, whose effect on the variance
 * is w'E w with the weights w of the prediction. An explicit inverse would not have that property.
 *
 * **Precision.** Covariances and sums are double in every file, as the terms of the mean cancel.
 * In double the mean is off by rounding of the covariances, some 1e-16 sum |t_i| k, and so is the
 * library's. `single` has inputs, answers and most of L in float; the first columns of L have 32
 * bits and are multiplied in double. They are as many as keep the latent standard deviation within
 * 2.5e-7 scales of the target at probes. `compact` has the others in 16 bits, and 5e-6. L is
 * factored anew with the columns so rounded, so that later columns make up for it. The report says
 * what was measured at the probes.
 *
 * **Self-test.** Compiled with HOLDFAST_SELF_TEST the file has a main() that compares predictions
 * with those of the library and prints them; its exit status is 1 if one is off.
 *
 * **Refused**, by name and before anything is computed or written: names that are taken, models of
 * counts and amounts, and classifiers of more than two classes; models with a column of prior means
 * or with an expert's mean; the transform sqrt, and kernels without a row in the table of
 * src/export/export_c_kernel.c.
 */
#ifndef HOLDFAST_EXPORT_C_H
#define HOLDFAST_EXPORT_C_H

#include <holdfast/closed_envelope.h>
#include <holdfast/envelope_file.h>
#include <holdfast/model.h>
#include <holdfast/settings.h>

HF_BEGIN_DECLS

/** How a file is made. */
typedef struct hf_export_settings {
    /** sizeof(hf_export_settings) */
    size_t size;
    /** The function's name, and the beginning of all public names: a C identifier of at most 40
     * letters. C, its headers and the file must have no other use for it. Default: "predict". */
    const char *name;
    /** inputs, answers and the factor in float. Default: false. */
    bool single;
    /** single, and most of the factor in 16 bits. Default: false. */
    bool compact;
    /** no standard deviations, and no factor. Default: false. */
    bool mean_only;
} hf_export_settings;

/** The defaults that the fields name. */
HF_SETTINGS(hf_export_settings)

/** The size of a file, and how near it is. */
typedef struct hf_export_report {
    /** of constant tables */
    size_t data_bytes;
    /** of arrays that a prediction has on its stack */
    size_t stack_bytes;
    /** points where errors were measured; 0 in double */
    size_t probes;
    /** largest error of the mean there, in scales of the target */
    double mean_error;
    /** of the latent standard deviation; 0 with mean_only */
    double sd_error;
} hf_export_report;

/**
 * Writes a model. The function is, with T = double or float and `output` for several outputs alone,
 *
 *     int NAME(const T x[inputs], unsigned output, NAME_result *result);     0, or 1: not finite
 *
 * x in the order of hf_model_feature(), as hf_model_inputs() has it. The result has mean, sd_latent
 * and sd_observed (hf_predict()). With a log transform these are of the reading, with its median. A
 * classifier has the latent mean and sd, and the probability of the second class.
 * @param settings NULL for the defaults
 * @param path     written beside it and renamed; "-" for standard output
 * @param report   filled; may be NULL
 * The known noise of single rows (a noise column) is not part of sd_observed.
 * Errors, which leave no file: HF_ERR_ARGUMENT (NULL, name, what is refused above),
 * HF_ERR_NOT_FINITE (NaN, or a number too large for a float), HF_ERR_IO, HF_ERR_MEMORY,
 * HF_ERR_CANCELLED. O(n^2), if single ten times O(n^3); 25 bytes of text a number. Thread-safe for
 * different contexts.
 */
HF_API hf_status hf_export_c(hf_context *ctx, const hf_model *model,
                             const hf_export_settings *settings, const char *path,
                             hf_export_report *report);

/**
 * Writes a bound in closed form (closed_envelope.h, default settings) for the readings of an
 * envelope:
 *
 *     int NAME(const double x[inputs], NAME_result *result);     lower, upper, centre
 *
 * with rounding accounted for as the library does. Double precision alone: a bound that has to hold
 * is not computed in float, and needs its factor (HF_ERR_ARGUMENT for single, compact, mean_only).
 * A comment says what is assumed.
 * @param labels names for comments, as hf_envelope_load() gives them; may be NULL
 * Other parameters and errors as hf_export_c() and hf_closed_envelope_create(), whose cost it has.
 * The file has n^2 numbers, and each query takes 2 n^2 multiplications.
 */
HF_API hf_status hf_export_envelope_c(hf_context *ctx, const hf_envelope *envelope,
                                      const hf_envelope_labels *labels, hf_closed_method method,
                                      const hf_export_settings *settings, const char *path,
                                      hf_export_report *report);

HF_END_DECLS

#endif
