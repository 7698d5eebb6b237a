/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file journal.h
 * @brief Checkpoint and resume of long fits.
 *
 * A fit is determined by the answers to the questions it asks of its readings: values of its
 * objective, for most. A checkpoint is therefore a journal of these: what was asked for, and what
 * the answer was. A fit that goes on from a journal asks the same questions in the same order and
 * takes the answers from there while they last. So it ends in the same model, to the digit, as
 * a fit that was never interrupted. Where answers follow each other in milliseconds, as steps of
 * minibatches do, the journal keeps what the next step starts from instead: a snapshot in place of
 * the one before.
 *
 * The file is a header with the fingerprint of the fit, then one entry an answer, each with its own
 * checksum. One write() writes an entry when its answer is there, so that killing the process
 * loses at most one evaluation. Entries are flushed to the disk at most once a second. An entry
 * that is incomplete or damaged ends the journal: it and what follows are evaluated and written
 * again. Snapshots have two places, in turn, so that one is whole while the other is written.
 * Numbers are stored as the machine has them: a journal is for the machine that wrote it and those
 * like it.
 *
 * In a group of processes (hf_context_set_group()) the first one owns the file and hands the
 * answers to the others; every process must make the same calls.
 */
#ifndef HFI_JOURNAL_H
#define HFI_JOURNAL_H

#include "core/core.h"
#include "core/sha256.h"
#include <holdfast/train.h>

typedef struct hfi_journal hfi_journal;

/* ---- whose journal it is (fingerprint.c) ----------------------------------------------------- */

/** Fingerprint of the fit that a journal belongs to: 64 bits of each thing that its result depends
 * on: the data, the likelihood, the other settings (all but `checkpoint` and `resume`), the seed
 * and the version of the library. Threads are none of these. */
enum {
    HFI_FINGERPRINT_DATA,
    HFI_FINGERPRINT_LIKELIHOOD,
    HFI_FINGERPRINT_SETTINGS,
    HFI_FINGERPRINT_SEED,
    HFI_FINGERPRINT_VERSION,
    HFI_FINGERPRINT_PARTS
};
typedef struct hfi_fingerprint {
    uint64_t part[HFI_FINGERPRINT_PARTS];
} hfi_fingerprint;

/** That of a fit of arrays. O(n d). */
hfi_fingerprint hfi_fit_fingerprint(const hf_context *ctx, const hf_data *data,
                                    const hf_fit_settings *settings);
/** The same for rows that are read in parts: begin, which leaves out the data, then all rows in
 * order, then end. `extra`: the rows have known noise variances. The data have another digest than
 * hfi_fit_fingerprint() has of the same rows. */
hfi_fingerprint hfi_rows_fingerprint_begin(const hf_context *ctx, size_t n, size_t d,
                                           const char *const *names, bool extra,
                                           const hf_fit_settings *settings, hfi_sha256 *hash);
void hfi_rows_fingerprint_add(size_t d, size_t count, const double *x, const double *y,
                              const double *extra, hfi_sha256 *hash);
void hfi_rows_fingerprint_end(hfi_sha256 *hash, hfi_fingerprint *fingerprint);
/** Names of the parts that differ, as "data, settings". */
void hfi_fingerprint_difference(const hfi_fingerprint *a, const hfi_fingerprint *b, char text[64]);

/* ---- the file (journal.c) -------------------------------------------------------------------- */

/**
 * Opens `path` for one fit, or makes it. With `resume` the answers in it will be taken; a file that
 * is not there or empty is begun. Devices are written to and never read.
 * Errors, which leave an existing file as it is: HF_ERR_ARGUMENT for answers of this fit without
 * `resume` (hours of work are not overwritten); for those of another fit, with what differs; and
 * for a file that is no checkpoint; HF_ERR_IO when it cannot be opened, or when another process has
 * it open. A full disk is no error: see hfi_journal_warning().
 */
hf_status hfi_journal_open(hf_context *ctx, const char *path, bool resume,
                           const hfi_fingerprint *fingerprint, hfi_journal **out);

/** A key of `asked` numbers, and an answer of one value, `told` more numbers and a status. */
typedef struct hfi_journal_entry {
    size_t asked, told;
    const double *key;
    double *answer;
    double value;
    hf_status status;
    /* Set by hfi_journal_answer(): the answer came from the journal; the one before it did. */
    bool recalled, unseen;
} hfi_journal_entry;

/** Fills value and answer of an entry by its key; returns its status. */
typedef hf_status (*hfi_journal_compute)(void *arg, hfi_journal_entry *entry);

/** The answer to a key: the journal's as long as it lasts, else that of compute(), which is
 * kept. A `journal` of NULL knows nothing and keeps nothing. Where the entry says `unseen`,
 * compute() was not asked for this answer before. Returns the status of the answer, or why there is
 * none: HF_ERR_ARGUMENT, HF_ERR_IO, HF_ERR_MEMORY as of hfi_journal_recall(). */
hf_status hfi_journal_answer(hfi_journal *journal, hfi_journal_entry *entry,
                             hfi_journal_compute compute, void *arg);

/** The answer to the next key, if the journal still has one: *found says so, and only then
 * value, answer and status are written. HF_ERR_ARGUMENT when the key there is another one, bit
 * for bit, or has an answer of another length: the checkpoint belongs to another fit. */
hf_status hfi_journal_recall(hfi_journal *journal, hfi_journal_entry *entry, bool *found);

/** Keeps the answer to the key for which hfi_journal_recall() found none. Results of which
 * nothing follows (out of memory, cancelled) are not kept: the answer will be asked for again. The
 * only error that is an answer is HF_ERR_NOT_POSITIVE_DEFINITE, with which searches go on. Never
 * fails: what goes wrong is in hfi_journal_warning(), and the fit goes on without a checkpoint. */
void hfi_journal_keep(hfi_journal *journal, const hfi_journal_entry *entry);

/** A note for the user at the end (disk full, a damaged entry), NULL if nothing. Owned by the
 * journal. */
const char *hfi_journal_warning(const hfi_journal *journal);

/** Flushes and closes; `discard` removes the file (never a device), for a fit that has come to its
 * end. NULL is allowed. */
void hfi_journal_close(hfi_journal *journal, bool discard);

/* ---- snapshots (journal_snapshot.c)
 * -------------------------------------------------------------------------
 *
 * One stretch of a fit keeps snapshots, all of the same length: hfi_journal_restore() once, then
 * any number of hfi_journal_snapshot(), then hfi_journal_pass_snapshots() before the next key. */

/** The last whole snapshot of `count` numbers, if there is one. HF_ERR_IO when the file cannot be
 * read. */
hf_status hfi_journal_restore(hfi_journal *journal, size_t count, double *numbers, bool *found);
/** Whether it is time for one: a twentieth of a second after the last, or as much later as keeps
 * writing them at two hundredths of the time. It is at most a second later unless the disk needs a
 * fifth of that. Always false where nothing is kept. */
bool hfi_journal_is_due(const hfi_journal *journal);
/** Replaces the older of the two, and flushes it to the disk. Never fails, as
 * hfi_journal_keep(). */
void hfi_journal_snapshot(hfi_journal *journal, size_t count, const double *numbers);
/** Questions come next. */
void hfi_journal_pass_snapshots(hfi_journal *journal, size_t count);

#endif
