/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file file.h
 * @brief The file of a model, documented in docs/model-format.md.
 *
 * Writing makes the database in memory and writes its bytes in one go beside the final place;
 * reading takes the whole file into memory first. SQLite therefore never opens a file here: no
 * journals, no locks, nothing half-written, and a file that is being attacked is read exactly once.
 */
#ifndef HFI_MODEL_FILE_H
#define HFI_MODEL_FILE_H

#include "core/settings.h"
#include "model/model.h"
#include "store/reader.h"

/** Whether a model has what only the latest version has. */
bool hfi_model_is_latest(const hf_model *model);

/* ---- scalars (file_fields.c) ----------------------------------------------------------------- */

/** A setting of earlier versions, which earlier readers look for; it is read before the table's. */
extern const hfi_file_field hfi_student_method;
extern const hfi_file_field hfi_report_fields[];
extern const size_t hfi_report_field_count;

/** "exact", "dense", "blocks": how R is held, hfi_factor_form. */
extern const char *const hfi_form_names[HFI_FACTOR_FORMS];

/** A member of hf_reading as an array of a number for each row. */
typedef struct hfi_reading_row {
    const char *name; /* of the array */
    hfi_field_type type;
    size_t offset;
    double least, most; /* what it may be */
    const char *wrong;  /* what is said where it is not; NULL: the usual */
    /* the array that a file has it with; NULL: all have it, and without missing numbers */
    const char *with;
    bool (*is_kept)(const hf_model *model); /* whether a file is to have it */
} hfi_reading_row;

enum {
    HFI_READING_ROWS = 7
};

extern const hfi_reading_row hfi_reading_rows[HFI_READING_ROWS];
double hfi_reading_number(const hfi_reading_row *row, const hf_reading *reading);

/* ---- outputs and posterior (file_read_*.c) --------------------------------------------------- */

/** Jitter, condition and backward error that a file keeps beside a factor. */
hf_status hfi_read_accuracy(const hfi_reader *r, hfi_solution *solution);
/** Reads what a model has about several outputs beside the posterior: their number and names. */
hf_status hfi_read_outputs(const hfi_reader *r);
/** Names and scaling of the inputs, kernel, mean and solution, into the model. */
hf_status hfi_read_posterior(const hfi_reader *r);

/* ---- whole models (file_save.c, file_load.c) ------------------------------------------------- */

/** Version of the format that the model is written in. */
unsigned hfi_model_format(const hf_model *model);
/** The model as a database image, which hfi_image_free() frees. Arrays of more than
 * `piece` bytes are split. */
hf_status hfi_model_to_image(hf_context *ctx, const hf_model *model, size_t piece,
                             unsigned char **image, size_t *size);
/** The other way round; `name` stands for the file in messages. Takes any bytes whatever. */
hf_status hfi_model_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size,
                               const char *name, hf_model **out);

#endif
