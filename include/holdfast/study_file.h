/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_file.h
 * @brief A study in a file that many programs ask and tell at once.
 *
 * The file is a SQLite database with marks of its own (docs/model-format.md): the settings, and a
 * journal of everything that was asked, told and learnt. Every call that changes the study first
 * reads what others have added, and has its entries on the disk before it returns. Killed at any
 * instant, or with the power gone, a program has lost nothing of what a call returned from.
 *
 * No program keeps the file to itself: a call locks it for as long as it writes. hf_study_ask()
 * computes without the lock and begins anew where something has come in meanwhile. Calls that only
 * answer (hf_study_best() and the like) read what others have added too, and lock nothing.
 *
 * The space and the settings are the file's and never change: programs that share a study cannot
 * disagree about them. One creates the file, the others open it.
 *
 * Between two calls the file stands alone and may be copied. A file of its name with "-journal" at
 * the end may lie beside it while programs have it open, or after one was killed: leave it there.
 * A program must not go on with an open study after fork(), and opens the file by these calls only.
 *
 * One thread at a time uses an open study; each thread may open the file for itself.
 */
#ifndef HOLDFAST_STUDY_FILE_H
#define HOLDFAST_STUDY_FILE_H

#include <holdfast/study.h>

HF_BEGIN_DECLS

/**
 * A new study (hf_study_create()) with a new file, to which all its changes go until
 * hf_study_free().
 * HF_ERR_IO: the file exists, whatever it is, or cannot be made. HF_ERR_ARGUMENT: a pointer is
 * NULL, or `path` stands for standard output; and the errors of hf_study_create(). On an error no
 * file is left that was not there before. O(bytes of the settings).
 */
HF_API hf_status hf_study_file_create(hf_context *ctx, const char *new_path,
                                      const hf_study_settings *settings, hf_study **out);
/**
 * Opens it again, to the last digit the same.
 * @param write false: to look only; calls that would change the study are then HF_ERR_ARGUMENT
 * HF_ERR_MODEL_FILE: no study, damaged (with the entry that is), or of a newer format. HF_ERR_IO:
 * it cannot be read. HF_ERR_CANCELLED by the progress callback (stage "open"). O(entries): 10 000
 * trials take some 30 ms.
 */
HF_API hf_status hf_study_file_open(hf_context *ctx, const char *path, bool write, hf_study **out);

/** How long a call waits for another program's lock, in seconds: 30 by default. Then it is
 * HF_ERR_IO with a message that says so. While it waits, the progress callback (stage "wait")
 * can cancel. HF_ERR_ARGUMENT: negative or NaN, or the study has no file. O(1). */
HF_API hf_status hf_study_file_patience(hf_context *ctx, hf_study *study, double seconds);

/**
 * Calls up to hf_study_file_end() are one change of the file, which has all of it or none. The file
 * stays locked meanwhile: others wait. HF_ERR_ARGUMENT: not a study with a file open for changes,
 * or begun already; HF_ERR_IO, HF_ERR_CANCELLED as for any change. O(1), and what others have
 * added.
 */
HF_API hf_status hf_study_file_begin(hf_context *ctx, hf_study *study);
/**
 * Ends it: what the calls in between returned from is on the disk when this returns.
 * @param keep false: the file stays as it was at hf_study_file_begin(). A study that was changed in
 *             between is ahead of it then, and has to be opened again: calls that look at the file
 *             are HF_ERR_ARGUMENT. So it is after an error of the file in between, or here
 * HF_ERR_ARGUMENT: there was no hf_study_file_begin(). HF_ERR_IO: nothing of it was kept. O(bytes
 * of what was changed).
 */
HF_API hf_status hf_study_file_end(hf_context *ctx, hf_study *study, bool keep);

/** Kinds of entries in the journal, as history. */
typedef enum hf_study_entry_kind {
    HF_STUDY_ENTRY_ASKED = 0,
    HF_STUDY_ENTRY_ADDED,
    HF_STUDY_ENTRY_TOLD,
    HF_STUDY_ENTRY_FAILED,
    HF_STUDY_ENTRY_EXPIRED,
    /** an expert spoke of the trial */
    HF_STUDY_ENTRY_LABELLED,
    /** a past trial that failed */
    HF_STUDY_ENTRY_ADDED_FAILED
} hf_study_entry_kind;

/** An entry of the journal. */
typedef struct hf_study_entry {
    hf_study_entry_kind kind;
    /** of the entry; ascending, not every number is there */
    uint64_t number;
    uint64_t trial;
    /** seconds since 1970 */
    double time;
    /** added, told, failed: outcomes. Else NULL. Valid during the call */
    const double *value;
    /** never NULL; valid during the call */
    const char *note;
} hf_study_entry;
/** Calls `visit` for every entry in order until it returns false, after verifying it. Reads the
 * file, also what others have added. HF_ERR_ARGUMENT: no context or visit, or a study without a
 * file; HF_ERR_MODEL_FILE, HF_ERR_IO, HF_ERR_MEMORY, HF_ERR_CANCELLED. O(entries). */
HF_API hf_status hf_study_file_history(hf_context *ctx, const hf_study *study,
                                       bool (*visit)(const hf_study_entry *one_entry, void *user),
                                       void *user);

/**
 * Takes the newest `entries` entries, as hf_study_file_history() counts, back, as if they had never
 * been: a wrong value that was told. All that was learnt from them goes with them. The rest is
 * verified first; a file whose newest entries are damaged is opened again by taking these back. 0
 * entries only verifies. An undo cannot be undone.
 * @param taken_back how many went, fewer than `entries` where there were no more; or NULL
 * HF_ERR_ARGUMENT: no context or path. HF_ERR_MODEL_FILE says how many entries would have to go.
 * HF_ERR_IO: it cannot be read or written, or another program is changing it for longer than half a
 * second. HF_ERR_MEMORY, HF_ERR_CANCELLED. On an error nothing is changed. O(entries of the file).
 * Programs that have the study open see it in their next call, which is HF_ERR_IO where something
 * they knew is gone: they open it again.
 */
HF_API hf_status hf_study_file_undo(hf_context *ctx, const char *path, uint64_t entries,
                                    uint64_t *taken_back);

HF_END_DECLS

#endif
