/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file journal.h
 * @brief Checkpoint and resume of long fits.
 *
 * A fit is determined by the values of its objective evaluations. A checkpoint is therefore a journal of these: which
 * state was asked for, and what the answer was. A fit that goes on from a journal asks the same questions in the same
 * order and takes the answers from there as long as they last, so it ends in the same model, to the digit, as a fit that
 * was never interrupted.
 *
 * The file is append-only: a header with the fingerprint of the fit, then one record an evaluation, each with its own
 * checksum. A record is written by one write() when its evaluation is done, so that killing the process loses at most
 * one evaluation, and flushed to the disk at most once a second. A record that is incomplete or damaged ends the
 * journal: it and what follows are evaluated and written again. Numbers are stored as the machine has them: a journal is
 * for the machine that wrote it and those like it.
 *
 * In a group of processes (hf_context_set_group()) the first one owns the file and hands the answers to the others;
 * every process must make the same calls.
 */
#ifndef HFI_JOURNAL_H
#define HFI_JOURNAL_H

#include "core/core.h"
#include "core/sha256.h"
#include <holdfast/train.h>

typedef struct hfi_journal hfi_journal;

/** What a journal belongs to: data, settings (all but `checkpoint` and `resume`), seed and version of the library. Threads
 * are no part of it: results do not depend on them. O(n d). */
void hfi_fit_fingerprint(const hf_context *ctx, const hf_data *data, const hf_fit_settings *settings,
                         unsigned char fingerprint[HFI_SHA256_BYTES]);

/**
 * Opens `path` for one fit, or makes it. With `resume` the evaluations in it will be taken; a file that is not there or
 * empty is begun. Devices are written to and never read.
 * Errors, which leave an existing file as it is: HF_ERR_ARGUMENT for evaluations of this fit without `resume` (hours of work
 * are not overwritten), for those of another fit and for a file that is no checkpoint; HF_ERR_IO when it cannot be opened,
 * or when another process has it open. A full disk is no error: see hfi_journal_warning().
 */
hf_status hfi_journal_open(hf_context *ctx, const char *path, bool resume,
                           const unsigned char fingerprint[HFI_SHA256_BYTES], hfi_journal **out);

/** The answer to the next evaluation, if the journal still has one: *found says so. `count` entries each in state and
 * gradient. HF_ERR_ARGUMENT when the state there is another one, bit for bit: the checkpoint belongs to another fit. */
hf_status hfi_journal_take(hfi_journal *journal, size_t count, const double *state, bool *found,
                           double *value, double *gradient, hf_status *status);

/** Keeps the answer to the evaluation for which hfi_journal_take() found none. Results of which nothing follows (out of
 * memory, cancelled) are not kept: the evaluation will be asked for again. Never fails: what goes wrong is in
 * hfi_journal_warning(), and the fit goes on without a checkpoint. */
void hfi_journal_append(hfi_journal *journal, size_t count, const double *state, double value,
                        const double *gradient, hf_status status);

/** Evaluations that were answered so far. */
size_t hfi_journal_taken(const hfi_journal *journal);

/** What a user should know at the end (disk full, a damaged record), NULL if nothing. Owned by the journal. */
const char *hfi_journal_warning(const hfi_journal *journal);

/** Flushes and closes; `discard` removes the file (never a device), for a fit that has come to its end. NULL is allowed. */
void hfi_journal_close(hfi_journal *journal, bool discard);

#endif
