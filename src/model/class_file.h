/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class_file.h
 * @brief What a model file says about classes.
 */
#ifndef HFI_CLASS_FILE_H
#define HFI_CLASS_FILE_H

#include "model/file.h"
#include "store/writer.h"

/** The table class. */
void hfi_write_classes(hfi_writer *w, const hf_model *model);
/** Classes into the model, whose settings are known. HF_ERR_MODEL_FILE where sites and format do not agree. */
hf_status hfi_read_classes(const hfi_reader *r);
/** Whether a file keeps the probabilities that R follows from in place of R, which is (classes - 1) times the rows of the training long and a little wider: as long as it is
 * made again in seconds. */
bool hfi_class_is_restored(const hfi_solution *solution);
/** Such a solution of n anchors in all; restored as it was made. */
hf_status hfi_class_read_solution(const hfi_reader *r, const hf_kernel *kernel, size_t n,
                                  hfi_solution *solution);
/** Units and noise of several latent functions. */
hf_status hfi_class_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling, double *noises);
/** The rows that were read are of these classes, as often as it says. */
hf_status hfi_check_labels(const hfi_reader *r);

#endif
