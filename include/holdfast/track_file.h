/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file track_file.h
 * @brief A track in a file that survives whatever happens to the program.
 *
 * The file is a SQLite database with marks of its own (docs/model-format.md): the settings, and a journal of everything that was told, asked, requested and answered, in order. Every call that changes the track has
 * its entry on the disk before it returns, in one transaction: killed at any instant, a program has lost nothing of what a call returned from, and what was under way is there whole or not at all.
 * A track opened again is the same to the last digit: it suggests what the old one would have.
 */
#ifndef HOLDFAST_TRACK_FILE_H
#define HOLDFAST_TRACK_FILE_H

#include <holdfast/track.h>

HF_BEGIN_DECLS

/**
 * A new track (hf_track_create()) with a new file, to which all its changes go from now on, until hf_track_free().
 * @param target what is maximised, a name; NULL: "y"
 * HF_ERR_IO: the file exists, or cannot be made. The file is locked while the track lives: a second program that opens it to change it gets HF_ERR_IO with a message that says so.
 */
HF_API hf_status hf_track_file_create(hf_context *ctx, const char *path, const hf_track_settings *settings,
                                      const char *target, hf_track **out);
/**
 * Opens it again. HF_ERR_MODEL_FILE for a file that is no track, damaged, or of a newer format: the message says which, and nothing is changed. O(entries) time, 1e5 entries a second or more; the memory of the track.
 * @param write false: to look only. Nothing is locked, and calls that would change the track are HF_ERR_ARGUMENT
 */
HF_API hf_status hf_track_file_open(hf_context *ctx, const char *path, bool write, hf_track **out);
/** What is maximised; owned by the track. "y" for a track without a file. */
HF_API const char *hf_track_target(const hf_track *track);

/** What happened. */
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
    uint64_t number; /**< of the entry, 1, 2, ... */
    uint64_t id;     /**< of the reading or request */
    double time;
    const double *x; /**< place; NULL for truth and fitted. Valid during the call */
    double y;        /**< told, answered: the reading; asked: the upper bound; truth: the value at the place */
    double noise;    /**< told, answered: variance; asked: mean; truth: the best value */
    double weight;   /**< told, answered: robust weight; asked: sd */
} hf_track_entry;
/** Calls `visit` for every entry of a track's file, in order, until it returns false. Reads the file, not the memory: entries from long ago are there. HF_ERR_ARGUMENT for a track without a file. */
HF_API hf_status hf_track_file_history(hf_context *ctx, const hf_track *track,
                                       bool (*visit)(const hf_track_entry *entry, void *user), void *user);

HF_END_DECLS

#endif
