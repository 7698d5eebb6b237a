/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file atomic_file.h
 * @brief Output that is complete or not there.
 *
 * A file is written in the folder of its final place without a name (O_TMPFILE), made durable, and
 * put in place; until then an older file of that name is untouched, and whatever goes wrong, a kill
 * too, leaves nothing. Where the system has no files without names, it has an unpredictable one,
 * and only a kill leaves it behind. Standard output, devices and pipes cannot be replaced and are
 * written in place. A link is followed: the file it points to is replaced, not the link.
 *
 *     hfi_file file;
 *     hf_status status = hfi_file_begin(ctx, path, &file);
 *     if (status == HF_OK) status = hfi_file_write(ctx, &file, text, bytes);
 *     ...
 *     if (status == HF_OK) status = hfi_file_commit(ctx, &file);
 *     hfi_file_abort(&file);                                    always; does nothing after a commit
 *
 * Ctrl-C: a signal handler cannot safely do more than set a flag. The progress callback looks at
 * the flag and answers false; writing asks it at every block, returns HF_ERR_CANCELLED, and the
 * caller's hfi_file_abort removes the temporary file.
 */
#ifndef HFI_DATA_ATOMIC_FILE_H
#define HFI_DATA_ATOMIC_FILE_H

#include "core/core.h"

typedef struct hfi_file {
    hfi_memory memory;
    char *label;     /* as given by the caller, for messages */
    char *path;      /* the final place, links followed; NULL when written in place */
    char *temporary; /* what is being written; NULL when it has no name, or is written in place */
    int descriptor;  /* -1: standard output, or closed */
    bool standard_output;
    char *buffer;
    size_t used;
    /* told to the progress callback as the share that is written; negative: unknown. The writer may
     * set it. */
    double done;
} hfi_file;

/** Opens for writing. "-" and /dev/stdout are standard output. On error (HF_ERR_ARGUMENT,
 * HF_ERR_IO, HF_ERR_MEMORY, HF_ERR_CANCELLED) nothing is left on disk, and *file may be given to
 * hfi_file_abort. */
hf_status hfi_file_begin(hf_context *ctx, const char *path, hfi_file *file);

/** Appends bytes, through a buffer. HF_ERR_IO or HF_ERR_CANCELLED. */
hf_status hfi_file_write(hf_context *ctx, hfi_file *file, const void *bytes, size_t count);

/** Writes what is buffered, makes it durable, puts it in place and closes. On error all is as
 * hfi_file_abort leaves it. */
hf_status hfi_file_commit(hf_context *ctx, hfi_file *file);

/** The same for a file that must be new: HF_ERR_IO if there is one of that name by now, which stays
 * as it is. */
hf_status hfi_file_commit_new(hf_context *ctx, hfi_file *file);

/** Closes and removes the temporary file. Does nothing on a file that is committed or aborted, or
 * all zero.
 */
void hfi_file_abort(hfi_file *file);

#endif
