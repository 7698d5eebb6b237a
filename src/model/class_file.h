/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class_file.h
 * @brief What a model file says about classes.
 */
#ifndef HFI_CLASS_FILE_H
#define HFI_CLASS_FILE_H

#include "model/file_reader.h"
#include "model/file_writer.h"

/** The table class. */
void hfi_write_classes(hfi_writer *w, const hf_model *model);
/** Classes into the model, whose settings are known. HF_ERR_MODEL_FILE where sites and format do not agree. */
hf_status hfi_read_classes(const hfi_reader *r);
/** Units and noise of several latent functions. */
hf_status hfi_class_scaling(const hfi_reader *r, double noise, hfi_scaling *scaling, double *noises);
/** The rows that were read are of these classes, as often as it says. */
hf_status hfi_check_labels(const hfi_reader *r);

#endif
