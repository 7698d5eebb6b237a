/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file journal_impl.h
 * @brief The file behind a journal; only checkpoint/journal*.c include this.
 *
 *     header | entry | entry | ... | snapshot | snapshot | entry | ...
 *
 * Every piece begins with a record and ends with a digest of the fingerprint and all of itself.
 * There are two places for snapshots, one after the other, behind the entries before the first of
 * them; a new one overwrites the older. Which is the newer their numbers say.
 */
#ifndef HFI_JOURNAL_IMPL_H
#define HFI_JOURNAL_IMPL_H

#include "checkpoint/journal.h"
#include <sys/types.h>

/* Head of an entry and of a snapshot. */
typedef struct hfi_journal_record {
    /* of the entry, from 0; of a snapshot HFI_JOURNAL_SNAPSHOT + that of the next entry */
    uint64_t index;
    uint64_t asked,
        told; /* numbers of the question and of the answer; number of a snapshot, and its numbers */
    int64_t status;
    double value;
} hfi_journal_record;

#define HFI_JOURNAL_SNAPSHOT (UINT64_C(1) << 63)

struct hfi_journal {
    hf_context *ctx;
    char *path;
    int descriptor; /* -1: nothing is kept (any more), or this is not the first process */
    bool regular;   /* a file; else a device, which is never read */
    bool replaying;
    hfi_fingerprint fingerprint;
    uint64_t next; /* entry asked for next */
    size_t taken;
    bool recalled; /* the last question's answer was here */
    off_t offset;  /* where it begins, or where the two places for snapshots do */
    double flushed;
    uint64_t snapshot;     /* number of the last one; 0: none */
    double snapped, pause; /* when it was written; seconds to the next */
    unsigned char *buffer; /* one entry */
    size_t room;
    char warning[512]; /* empty: none */
};

/** Bytes read, fewer than asked for at the end of the file; -1 with errno. */
ssize_t hfi_journal_read_at(int descriptor, void *bytes, size_t count, off_t offset);
/** All bytes, at the present offset of the file or at one of their own; false with errno. */
bool hfi_journal_write_at(int descriptor, const void *bytes, size_t count, off_t offset);
/** The status and message of what errno says. */
hf_status hfi_journal_io_failed(const hfi_journal *j, const char *what);
/** Nothing is kept from here on; the fit goes on. */
void hfi_journal_stop(hfi_journal *j, int error);
/** To the disk, at once. */
void hfi_journal_flush(hfi_journal *j);
/** The journal ends here: what follows, if anything, will be overwritten. */
void hfi_journal_end_replay(hfi_journal *j, bool damaged);
/** Shares what the first process found with all. `looked` is its status; the others bring room for
 * the answer. */
hf_status hfi_journal_share(hfi_journal *j, hf_status looked, hfi_journal_entry *entry,
                            bool *found);

#endif
