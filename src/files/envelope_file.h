/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope_file.h
 * @brief Envelopes as database images (envelope_save.c, envelope_load.c).
 */
#ifndef HFI_MODEL_ENVELOPE_FILE_H
#define HFI_MODEL_ENVELOPE_FILE_H

#include "core/core.h"
#include <holdfast/envelope_file.h>

/** The envelope as a database image, which hfi_image_free() frees. */
hf_status hfi_envelope_to_image(hf_context *ctx, const hf_envelope *envelope,
                                const hf_envelope_labels *labels, unsigned char **image,
                                size_t *size);
/** The other way round; `name` stands for the file in messages. Takes any bytes whatever. `labels`
 * may be NULL. */
hf_status hfi_envelope_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size,
                                  const char *name, hf_envelope **out, hf_envelope_labels **labels);

#endif
