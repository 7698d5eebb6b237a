/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope_file.h
 * @brief Envelopes in files, and the kind of a file.
 *
 * An envelope file is a SQLite database like a model file, with marks of its own
 * (docs/model-format.md): the distinct readings with their limits, the kernel, the norm bound and
 * the settings, to the bit. The loaded envelope therefore answers with the same digits as the one
 * that was saved.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_ENVELOPE_FILE_H
#define HOLDFAST_ENVELOPE_FILE_H

#include <holdfast/envelope.h>

HF_BEGIN_DECLS

/** Names that people gave to the numbers of an envelope. */
typedef struct hf_envelope_labels {
    /** what is bounded; NULL: "y" */
    const char *target;
    /** names of the inputs; NULL: x1, x2, ... */
    const char *const *features;
    /** hf_envelope_dimension(), or 0 with features NULL */
    size_t feature_count;
    /** where the readings came from; NULL: "" */
    const char *source;
} hf_envelope_labels;

/**
 * Saves to a SQLite file, written beside `path` and renamed: never a half file. The same envelope
 * and labels give the same bytes.
 * @param labels copied; NULL for the defaults that its fields name. If the kernel's expression
 *               names columns, `features` must be the names it was parsed with: HF_ERR_ARGUMENT if
 *               it cannot be parsed with them, or is then another kernel.
 * Not kept: what a workspace knows, and more of a reserve than 4096 readings. Errors:
 * HF_ERR_ARGUMENT, HF_ERR_IO, HF_ERR_MEMORY, HF_ERR_CANCELLED. O(bytes of the file).
 */
HF_API hf_status hf_envelope_save(hf_context *ctx, const hf_envelope *envelope,
                                  const hf_envelope_labels *labels, const char *path);
/**
 * Loads and verifies. HF_ERR_MODEL_FILE for a file that is no envelope (a fitted model is none, and
 * the message says so), damaged, or of a newer format.
 * @param labels NULL, or where to put the labels, to be freed by hf_envelope_labels_free()
 * Cost: that of hf_envelope_create().
 */
HF_API hf_status hf_envelope_load(hf_context *ctx, const char *path, hf_envelope **out,
                                  hf_envelope_labels **labels);
/** Frees labels that hf_envelope_load() made; NULL is allowed. */
HF_API void hf_envelope_labels_free(hf_envelope_labels *labels);

/** Kind of a file. */
typedef enum hf_file_content {
    /** neither of these, or no file that can be read */
    HF_FILE_OTHER = 0,
    /** hf_model_load() */
    HF_FILE_MODEL,
    /** hf_envelope_load() */
    HF_FILE_ENVELOPE,
    /** hf_track_file_open() */
    HF_FILE_TRACK,
    /** hf_study_file_open() */
    HF_FILE_STUDY
} hf_file_content;

/** Looks at the first bytes of a regular file; of pipes and devices it takes none and says
 * HF_FILE_OTHER. Whether the rest is sound, loading says. Thread-safe, allocates nothing. */
HF_API hf_file_content hf_file_type(const char *path);

HF_END_DECLS

#endif
