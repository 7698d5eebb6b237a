/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * @brief Settings of a fit: what a choice is called, and what follows from it alone.
 */
#ifndef HFI_SETTINGS_H
#define HFI_SETTINGS_H

#include "sites/kind.h"
#include <holdfast/train.h>

/** Fewer readings of one output of several than this say little about how widely it varies, and can
 * be explained by chance (fit_sparse.c). */
enum {
    HFI_SPARSE_READINGS = 8
};
static inline bool hfi_output_is_sparse(size_t readings)
{
    return readings < HFI_SPARSE_READINGS;
}

/** Sites of labels, which are not fitted here but in the classify room. */
bool hfi_likelihood_is_class(hf_likelihood kind);

/** The row of the table of likelihoods; NULL for other kinds of sites. */
const hfi_likelihood *hfi_likelihood_row(hf_likelihood kind);
/** The same of readings that are counts or amounts; NULL for all other kinds of sites. */
const hfi_likelihood *hfi_likelihood_of_rates(hf_likelihood kind);

/** Whether readings scatter about the latent value itself by a likelihood of the table. */
bool hfi_likelihood_is_noise(hf_likelihood kind);

/** The inference of a fit: for HF_INFERENCE_AUTO what goes with its sites; of sites without one
 * EP. */
hf_inference hfi_inference_of(const hf_fit_settings *settings);

/** Functions that are given settings of a fit and do not take all of them. */
typedef enum hfi_fit_use {
    HFI_USE_ARRAYS, /* hf_fit_data(): arrays as they are to be modelled */
    HFI_USE_STREAM, /* hf_fit_stream(): a file that is read in parts */
    HFI_USE_PARTS,  /* and its rows, without a finder of suspects */
    HFI_USE_EULBO   /* hf_eulbo() */
} hfi_fit_use;

/** HF_ERR_ARGUMENT where a setting does not go with the use: the message names setting, value, use
 * and what would do. */
hf_status hfi_fit_settings_use(hf_context *ctx, const hf_fit_settings *settings, hfi_fit_use use);

/** Whether a fit of a table is to choose the kernel of its settings: it is "auto". */
bool hfi_kernel_is_auto(const char *kernel);

#endif
