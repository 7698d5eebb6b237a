/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_file.h
 * @brief A track in a file that survives whatever happens to the program.
 *
 * The file is a SQLite database with marks of its own (docs/model-format.md): the settings, and a
 * journal of everything that was told, asked, requested and answered, in order. Every call that
 * changes the track has its entry on the disk before it returns, in one transaction: killed at any
 * instant, or with the power gone, a program has lost nothing of what a call returned from. A
 * change under way is there whole or not at all. A track opened again is the same to the last
 * digit: it suggests what the old one would have.
 *
 * Between two calls the file stands alone and may be copied. While a program has it open for
 * changes, and after one was killed, a file NAME-journal lies beside it.
 * Leave it there: if a change was under way, the next program that opens the track undoes it with
 * that.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_TRACK_FILE_H
#define HOLDFAST_TRACK_FILE_H

#include <holdfast/track.h>

HF_BEGIN_DECLS

/**
 * A new track (hf_track_create()) with a new file, to which all its changes go from now on, until
 * hf_track_free().
 * @param target what is maximised or minimised, a name; NULL: "y"
 * @param labels names of the candidates, as many as settings->domain.candidates and no two alike;
 *         or NULL
 * HF_ERR_IO: the file exists, or cannot be made. HF_ERR_ARGUMENT: two candidates of one name, names
 * for a box; and what hf_track_create() refuses. The file is locked while the track lives: a second
 * program that opens it to change it gets HF_ERR_IO, with a message that says so, after waiting
 * half a second. O(bytes of the settings).
 */
HF_API hf_status hf_track_file_create(hf_context *ctx, const char *path,
                                      const hf_track_settings *settings, const char *target,
                                      const char *const *labels, hf_track **out);
/**
 * Opens it again. Where the file has a snapshot of the track that agrees with its journal, only
 * what came after that is read and checked; else, and by hf_track_file_undo(), everything is.
 *
 * HF_ERR_MODEL_FILE for a file that is no track, damaged (with the entry of the journal that is),
 * or of a newer format; nothing is changed then. HF_ERR_IO: it cannot be read, or another program
 * has it open for changes. Damage to a snapshot is no error.
 *
 * Time: O(readings held + entries since the snapshot); some milliseconds while a thousand are held.
 * Without a snapshot O(entries), and O(readings held) for each entry that lets others go: half a
 * second for 1e5 entries. A snapshot is kept after every 1000 entries, or as many as half of the
 * readings held if that is more. The program that has the track open for changes keeps it. Memory:
 * the track's.
 * @param write false: to look only, also while another program changes it (what it has changed by
 *              then is seen). Nothing is locked for longer than reading takes, and calls that would
 *              change the track are HF_ERR_ARGUMENT
 */
HF_API hf_status hf_track_file_open(hf_context *ctx, const char *path, bool write, hf_track **out);
/** Name of the quantity that is maximised or minimised; owned by the track. "y" for a track without
 * a file. */
HF_API const char *hf_track_target(const hf_track *track);
/** Name of a candidate; owned by the track. NULL where it has none. */
HF_API const char *hf_track_candidate(const hf_track *track, size_t index);

/**
 * Calls up to hf_track_file_end() are one change of the file, which has all of it or none: many
 * readings in one transaction cost little more than one. All that they return from is on the disk
 * when hf_track_file_end() has returned, not before. HF_ERR_ARGUMENT: not a track with a file open
 * for changes, or begun already; HF_ERR_IO.
 */
HF_API hf_status hf_track_file_begin(hf_context *ctx, hf_track *track);
/** @param keep false: the file stays as it was at hf_track_file_begin(), and the track, which is
 *         ahead of it, takes no changes any more. So it is after any error of
 * the file in between, or here: nothing of it is kept then. HF_ERR_ARGUMENT, HF_ERR_IO. O(bytes of
 * what was changed). */
HF_API hf_status hf_track_file_end(hf_context *ctx, hf_track *track, bool keep);

/** Kind of an event. */
typedef enum hf_track_entry_kind {
    HF_ENTRY_TOLD = 0,
    HF_ENTRY_ASKED,
    HF_ENTRY_REQUESTED,
    HF_ENTRY_ANSWERED,
    HF_ENTRY_TRUTH,
    HF_ENTRY_FITTED
} hf_track_entry_kind;

/** An entry of the journal, as history (for plots and lists). */
typedef struct hf_track_entry {
    hf_track_entry_kind kind;
    /** of the entry; ascending, not every number is there */
    uint64_t number;
    /** told, answered: of the reading; requested: of the request; else 0 */
    uint64_t id;
    /** answered: which; else 0 */
    uint64_t request;
    double time;
    /** place; NULL for truth and fitted. Valid during the call */
    const double *x;
    /** told, answered: the reading; else NaN */
    double y;
    /** told, answered: its noise, a variance; else NaN */
    double noise_var;
    /** told, answered: its robust weight; else NaN */
    double weight;
    /** asked: the confidence bound at the place; else NaN */
    double bound;
    /** asked: the latent mean there; else NaN */
    double mean;
    /** asked, requested: the latent standard deviation there; else NaN */
    double sd;
    /** truth: the true value at the place that was asked; else NaN */
    double value;
    /** truth: the best true value at that time; else NaN */
    double best;
} hf_track_entry;
/** Calls `visit` for every entry of a track's file, in order, until it returns false. Reads the
 * file, not the memory: entries from long ago are there. HF_ERR_ARGUMENT for a track without a
 * file; HF_ERR_MODEL_FILE, HF_ERR_IO, HF_ERR_MEMORY. O(entries). */
HF_API hf_status hf_track_file_history(hf_context *ctx, const hf_track *track,
                                       bool (*visit)(const hf_track_entry *entry, void *user),
                                       void *user);

/**
 * Takes the newest changes of a track's file back, as if they had never been: a wrong time or value
 * that was told, a question about a wrong time. The newest `entries` entries of the journal, as
 * hf_track_file_history() counts what it visits, go in one transaction; the file is then, to the
 * byte of its content, what it was before they were written. A track opened from it suggests what
 * it would have. A list of requests goes whole or not at all: with any of its requests all of them
 * go, and with the last of what came after it a list that had no request. An undo cannot be undone.
 *
 * The rest is verified first, as by hf_track_file_open(): where that is damaged nothing is
 * changed. Entries that go are not: so a track whose last entries are damaged, or missing, is
 * opened again by taking these back. HF_ERR_MODEL_FILE says how many of the newest entries would
 * have to go; 0 entries changes nothing and only verifies.
 * @param path no track with that file may be open for changes, here or in another program; those
 *         that are open to look at only stay as they are
 * @param removed how many went, counted so: more than `entries` when a list went whole, fewer when
 *         there were no more; or NULL
 * HF_ERR_ARGUMENT, HF_ERR_MODEL_FILE, HF_ERR_MEMORY, HF_ERR_CANCELLED; HF_ERR_IO: it cannot be read
 * or written, or is open for changes. O(entries of the file) time, as opening it; the memory of the
 * track. Durable on return. Thread-safe.
 */
HF_API hf_status hf_track_file_undo(hf_context *ctx, const char *path, uint64_t entries,
                                    uint64_t *removed);

HF_END_DECLS

#endif
