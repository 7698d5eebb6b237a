/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_file.h
 * @brief A study in a file that many programs ask and tell at once.
 *
 * The file is a SQLite database with marks of its own (docs/model-format.md): the settings, and a
 * journal of everything that was asked, told and learnt. Every call that changes the study first reads
 * what others have added and has its entry on the disk before it returns: killed at any instant, or
 * with the power gone, a program has lost nothing of what a call returned from.
 *
 * No program keeps the file to itself: a call locks it for as long as it writes. hf_study_ask()
 * computes without the lock and begins anew where something has come in meanwhile.
 */
#ifndef HOLDFAST_STUDY_FILE_H
#define HOLDFAST_STUDY_FILE_H

#include <holdfast/study.h>

HF_BEGIN_DECLS

/**
 * A new study (hf_study_create()) with a new file, to which all its changes go until hf_study_free().
 * HF_ERR_IO: the file exists, or cannot be made; and the errors of hf_study_create().
 */
HF_API hf_status hf_study_file_create(hf_context *ctx, const char *path, const hf_study_settings *settings,
                                      hf_study **out);
/**
 * Opens it again, to the last digit the same.
 * @param write false: to look only; calls that would change the study are then HF_ERR_ARGUMENT
 * HF_ERR_MODEL_FILE: no study, damaged (with the entry that is), or of a newer format. HF_ERR_IO: it
 * cannot be read. O(entries): 10 000 trials take some 30 ms.
 */
HF_API hf_status hf_study_file_open(hf_context *ctx, const char *path, bool write, hf_study **out);

/** How long a call waits for another program's lock, in seconds: 30 by default; then it is HF_ERR_IO with
 * a message that says so. Negative or NaN: HF_ERR_ARGUMENT. */
HF_API hf_status hf_study_file_patience(hf_context *ctx, hf_study *study, double seconds);

/**
 * Calls up to hf_study_file_end() are one change of the file, which has all of it or none; it stays locked
 * meanwhile. HF_ERR_ARGUMENT: not a study with a file open for changes, or begun already; HF_ERR_IO.
 */
HF_API hf_status hf_study_file_begin(hf_context *ctx, hf_study *study);
/** @param keep false: the file stays as it was at hf_study_file_begin(), and the study, which is ahead of
 * it, takes no changes any more. So it is after any error of the file in between, or here. */
HF_API hf_status hf_study_file_end(hf_context *ctx, hf_study *study, bool keep);

/** Kinds of entries in the journal, as history. */
typedef enum hf_study_entry_kind {
    HF_STUDY_ENTRY_ASKED = 0,
    HF_STUDY_ENTRY_ADDED,
    HF_STUDY_ENTRY_TOLD,
    HF_STUDY_ENTRY_FAILED,
    HF_STUDY_ENTRY_EXPIRED
} hf_study_entry_kind;

/** An entry of the journal. */
typedef struct hf_study_entry {
    hf_study_entry_kind kind;
    uint64_t number; /**< of the entry; ascending, not every number is there */
    uint64_t trial;
    double time;         /**< seconds since 1970 */
    const double *value; /**< added, told, failed: outcomes. Else NULL. Valid during the call */
    const char *note;    /**< never NULL */
} hf_study_entry;
/** Calls `visit` for every entry in order until it returns false, after verifying it. HF_ERR_ARGUMENT for a
 * study without a file; HF_ERR_MODEL_FILE, HF_ERR_IO, HF_ERR_MEMORY. O(entries). */
HF_API hf_status hf_study_file_history(hf_context *ctx, const hf_study *study,
                                       bool (*visit)(const hf_study_entry *entry, void *user), void *user);

/**
 * Takes the newest `entries` entries, as hf_study_file_history() counts, back, as if they had never been: a
 * wrong value that was told. What was learnt from them goes with them. An undo cannot be undone. What
 * stays is verified first; a file whose newest entries are damaged is opened again by taking these back.
 * @param removed how many went; or NULL
 * HF_ERR_ARGUMENT, HF_ERR_MODEL_FILE, HF_ERR_IO, HF_ERR_MEMORY, HF_ERR_CANCELLED. O(entries of the file).
 * Programs that have the study open see it in their next call, which is HF_ERR_IO: they open it again.
 */
HF_API hf_status hf_study_file_undo(hf_context *ctx, const char *path, uint64_t entries, uint64_t *removed);

HF_END_DECLS

#endif
