/* SPDX-License-Identifier: Apache-2.0 */
/* The journal of answers: journal.h says what it is for, journal_impl.h what its file looks like. */
#include "checkpoint/journal_impl.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* The beginning of the file. `order` tells machines of another byte order apart. */
typedef struct header {
    char magic[8];
    uint64_t order;
    hfi_fingerprint fingerprint;
} header;

static const char magic[8] = {'H', 'F', 'J', 'O', 'U', 'R', '4', '\n'};
#define BYTE_ORDER_MARK UINT64_C(0x0102030405060708)

/* Seconds between two flushes to the disk. */
static const double interval = 1.0;

/* ---- bytes ------------------------------------------------------------------------------------------------ */

static bool write_all(int descriptor, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    while (count > 0) {
        const ssize_t put = write(descriptor, at, count);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        count -= (size_t)put;
    }
    return true;
}

bool hfi_journal_write_at(int descriptor, const void *bytes, size_t count, off_t offset)
{
    size_t put = 0;
    while (put < count) {
        const ssize_t part =
            pwrite(descriptor, (const unsigned char *)bytes + put, count - put, offset + (off_t)put);
        if (part < 0 && errno == EINTR) continue;
        if (part <= 0) return false;
        put += (size_t)part;
    }
    return true;
}

ssize_t hfi_journal_read_at(int descriptor, void *bytes, size_t count, off_t offset)
{
    size_t got = 0;
    while (got < count) {
        const ssize_t part =
            pread(descriptor, (unsigned char *)bytes + got, count - got, offset + (off_t)got);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return -1;
        if (part == 0) break;
        got += (size_t)part;
    }
    return (ssize_t)got;
}

/* strerror() has a buffer that threads share. */
static const char *error_text(int error, char words[128])
{
    if (strerror_r(error, words, 128) != 0) hfi_print(words, 128, "error %d", error);
    return words;
}

hf_status hfi_journal_io_failed(const hfi_journal *j, const char *what)
{
    char words[128];
    const int error = errno;
    return hfi_fail(j->ctx, HF_ERR_IO, "%s: the checkpoint cannot be %s: %s", j->path, what,
                    error_text(error, words));
}

void hfi_journal_stop(hfi_journal *j, int error)
{
    char words[128], snapshots[64] = "";
    if (j->snapshot > 0)
        hfi_print(snapshots, sizeof snapshots, " and %llu snapshots", (unsigned long long)j->snapshot);
    hfi_print(j->warning, sizeof j->warning,
              "the checkpoint ended after %llu evaluations%s: %s; the fit went on without it (%s)",
              (unsigned long long)j->next, snapshots, error_text(error, words), j->path);
    close(j->descriptor);
    j->descriptor = -1;
}

static bool grow_journal_buffer(hfi_journal *j, size_t bytes)
{
    if (bytes <= j->room) return true;
    unsigned char *larger = hfi_alloc(j->ctx, bytes, 1);
    if (!larger) return false;
    hfi_free(j->ctx, j->buffer);
    j->buffer = larger;
    j->room = bytes;
    return true;
}

static size_t entry_bytes(uint64_t asked, uint64_t told)
{
    return sizeof(hfi_journal_record) + ((size_t)asked + (size_t)told) * sizeof(double) + HFI_SHA256_BYTES;
}

/* Digest of the entry in the buffer. */
static void entry_digest(const hfi_journal *j, size_t bytes, unsigned char digest[HFI_SHA256_BYTES])
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add(&hash, &j->fingerprint, sizeof j->fingerprint);
    hfi_sha256_add(&hash, j->buffer, bytes - HFI_SHA256_BYTES);
    hfi_sha256_end(&hash, digest);
}

/* ---- opening ---------------------------------------------------------------------------------------------- */

static header own_header(const hfi_journal *j)
{
    header h = {.order = BYTE_ORDER_MARK, .fingerprint = j->fingerprint};
    memcpy(h.magic, magic, sizeof magic);
    return h;
}

static void begin_file(hfi_journal *j)
{
    const header h = own_header(j);
    j->replaying = false;
    if (j->regular && ftruncate(j->descriptor, 0) != 0) hfi_journal_stop(j, errno);
    if (j->descriptor < 0) return;
    if (!write_all(j->descriptor, &h, sizeof h)) hfi_journal_stop(j, errno);
}

/* Finds out what an existing file is: nothing to lose, ours, or somebody else's. */
static hf_status look_at_file(hfi_journal *j, bool resume, off_t size)
{
    const header own = own_header(j);
    header h;
    const ssize_t got = hfi_journal_read_at(j->descriptor, &h, sizeof h, 0);
    if (got < 0) return hfi_journal_io_failed(j, "read");
    if ((size_t)got < sizeof h && memcmp(&h, &own, (size_t)got) == 0) {
        begin_file(j); /* empty, or cut off before anything was learnt */
        return HF_OK;
    }
    if ((size_t)got < sizeof h || memcmp(h.magic, magic, sizeof magic) != 0)
        return hfi_refuse(j->ctx, "%s: this file is no checkpoint; it is left as it is", j->path);
    if (memcmp(&h, &own, sizeof h) != 0) {
        char differs[64] = "byte order";
        if (h.order == own.order) hfi_fingerprint_difference(&h.fingerprint, &own.fingerprint, differs);
        return hfi_refuse(
            j->ctx, "%s: the checkpoint belongs to another fit (other %s); remove it or give another name",
            j->path, differs);
    }
    if (!resume && size > (off_t)sizeof h)
        return hfi_refuse(j->ctx,
                          "%s: there are evaluations of this fit in the checkpoint already; resume from "
                          "them, or remove the file",
                          j->path);
    j->replaying = true;
    return HF_OK;
}

static hf_status open_file(hfi_journal *j, bool resume)
{
    struct stat about;
    do j->descriptor = open(j->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    while (j->descriptor < 0 && errno == EINTR);
    if (j->descriptor < 0 || fstat(j->descriptor, &about) != 0) return hfi_journal_io_failed(j, "opened");
    j->regular = S_ISREG(about.st_mode);
    j->offset = (off_t)sizeof(header);
    if (!j->regular) {
        begin_file(j);
        return HF_OK;
    }
    /* File systems without locks do without. */
    if (flock(j->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return hfi_fail(j->ctx, HF_ERR_IO, "%s: another fit is writing this checkpoint", j->path);
    return look_at_file(j, resume, about.st_size);
}

static hf_status others_fail(hf_context *ctx, double status)
{
    return hfi_fail(ctx, (hf_status)status, "the first process could not use the checkpoint");
}

/* In a group every process must come to the same end. */
static hf_status agree_on_status(hf_context *ctx, hf_status status)
{
    if (hfi_group_size(ctx) == 1) return status;
    double shared = (double)status;
    const hf_status summed = hfi_group_sum(ctx, 1, &shared);
    if (summed < 0 || status < 0 || shared == 0.0) return hfi_worse(status, summed);
    return others_fail(ctx, shared);
}

hf_status hfi_journal_open(hf_context *ctx, const char *path, bool resume, const hfi_fingerprint *fingerprint,
                           hfi_journal **out)
{
    if (!path || !*path) return hfi_refuse(ctx, "the name of the checkpoint is empty");
    const hfi_memory memory = hfi_context_memory(ctx);
    hfi_journal *j = hfi_alloc(ctx, 1, sizeof *j);
    if (!j) return HF_ERR_MEMORY;
    *j = (hfi_journal){.ctx = ctx, .descriptor = -1, .fingerprint = *fingerprint, .flushed = hfi_now()};
    j->path = hfi_memory_strdup(&memory, path);
    hf_status status = j->path ? HF_OK : hfi_out_of_memory(ctx);
    if (status == HF_OK && hfi_group_rank(ctx) == 0) status = open_file(j, resume);
    status = agree_on_status(ctx, status);
    if (status < 0) {
        hfi_journal_close(j, false);
        return status;
    }
    *out = j;
    return HF_OK;
}

/* ---- taking ----------------------------------------------------------------------------------------------- */

void hfi_journal_end_replay(hfi_journal *j, bool damaged)
{
    j->replaying = false;
    if (damaged)
        hfi_print(j->warning, sizeof j->warning,
                  "the checkpoint was damaged after %zu evaluations; what followed was evaluated again (%s)",
                  j->taken, j->path);
}

/* The next entry into the buffer: HF_OK, and `replaying` is false when there is none. */
static hf_status read_entry(hfi_journal *j)
{
    hfi_journal_record r;
    struct stat about;
    if (fstat(j->descriptor, &about) != 0) return hfi_journal_io_failed(j, "read");
    const off_t rest = about.st_size - j->offset;
    if (rest < (off_t)sizeof r) {
        hfi_journal_end_replay(j, false);
        return HF_OK;
    }
    if (hfi_journal_read_at(j->descriptor, &r, sizeof r, j->offset) != (ssize_t)sizeof r)
        return hfi_journal_io_failed(j, "read");
    const uint64_t most = (uint64_t)rest / sizeof(double);
    if (r.asked > most || r.told > most || (off_t)entry_bytes(r.asked, r.told) > rest) {
        hfi_journal_end_replay(j, r.index != j->next);
        return HF_OK;
    }
    const size_t bytes = entry_bytes(r.asked, r.told);
    if (!grow_journal_buffer(j, bytes)) return HF_ERR_MEMORY;
    if (hfi_journal_read_at(j->descriptor, j->buffer, bytes, j->offset) != (ssize_t)bytes)
        return hfi_journal_io_failed(j, "read");
    unsigned char digest[HFI_SHA256_BYTES];
    entry_digest(j, bytes, digest);
    if (memcmp(digest, j->buffer + bytes - sizeof digest, sizeof digest) != 0 || r.index != j->next)
        hfi_journal_end_replay(j, true);
    return HF_OK;
}

static hf_status replay_journal_entry(hfi_journal *j, hfi_journal_entry *entry, bool *found)
{
    if (!j->replaying) return HF_OK;
    const hf_status read = read_entry(j);
    if (read < 0 || !j->replaying) return read;
    hfi_journal_record r;
    memcpy(&r, j->buffer, sizeof r);
    const unsigned char *numbers = j->buffer + sizeof r;
    const size_t asked = entry->asked * sizeof(double);
    if (r.asked != entry->asked || r.told != entry->told || memcmp(numbers, entry->key, asked) != 0)
        return hfi_refuse(
            j->ctx, "%s: the checkpoint belongs to another fit: evaluation %llu was asked for elsewhere",
            j->path, (unsigned long long)j->next + 1);
    entry->value = r.value;
    entry->status = (hf_status)r.status;
    memcpy(entry->answer, numbers + asked, entry->told * sizeof(double));
    *found = true;
    j->offset += (off_t)entry_bytes(r.asked, r.told);
    j->next++;
    return HF_OK;
}

/* The others add zeros. */
hf_status hfi_journal_share(hfi_journal *j, hf_status looked, hfi_journal_entry *entry, bool *found)
{
    if (hfi_group_size(j->ctx) == 1) return looked;
    const bool first = hfi_group_rank(j->ctx) == 0;
    const size_t told = entry->told;
    double *message = hfi_alloc(j->ctx, told + 4, sizeof *message);
    /* Before the message, because who has no memory for it must not leave the others waiting. */
    double failed = message ? 0.0 : 1.0;
    hf_status s = hfi_group_sum(j->ctx, 1, &failed);
    if (s >= 0 && (failed > 0.0 || !message)) s = hfi_out_of_memory(j->ctx);
    if (s >= 0 && first) {
        message[0] = (double)looked;
        message[1] = *found ? 1.0 : 0.0;
        message[2] = *found ? (double)entry->status : 0.0;
        message[3] = *found ? entry->value : 0.0;
        if (*found) memcpy(message + 4, entry->answer, told * sizeof *message);
    }
    if (s >= 0) s = hfi_group_sum(j->ctx, told + 4, message);
    if (s >= 0 && message[0] < 0.0) s = first ? looked : others_fail(j->ctx, message[0]);
    *found = s >= 0 && message[1] > 0.0;
    if (*found) {
        entry->status = (hf_status)message[2];
        entry->value = message[3];
        memcpy(entry->answer, message + 4, told * sizeof *message);
    }
    hfi_free(j->ctx, message);
    return s;
}

hf_status hfi_journal_recall(hfi_journal *j, hfi_journal_entry *entry, bool *found)
{
    *found = false;
    hf_status s = HF_OK;
    if (hfi_group_rank(j->ctx) == 0) s = replay_journal_entry(j, entry, found);
    s = hfi_journal_share(j, s, entry, found);
    if (*found) j->taken++;
    return s;
}

/* ---- keeping ---------------------------------------------------------------------------------------------- */

void hfi_journal_flush(hfi_journal *j)
{
    if (j->descriptor < 0 || !j->regular) return;
    j->flushed = hfi_now();
    if (fdatasync(j->descriptor) != 0 && errno != EINTR && errno != EINVAL && errno != EROFS)
        hfi_journal_stop(j, errno);
}

static void write_entry(hfi_journal *j, size_t bytes)
{
    /* Whatever lies behind the last good entry goes. */
    if (j->regular &&
        (ftruncate(j->descriptor, j->offset) != 0 || lseek(j->descriptor, j->offset, SEEK_SET) < 0)) {
        hfi_journal_stop(j, errno);
        return;
    }
    if (!write_all(j->descriptor, j->buffer, bytes)) {
        hfi_journal_stop(j, errno);
        return;
    }
    j->offset += (off_t)bytes;
    if (hfi_now() - j->flushed >= interval) hfi_journal_flush(j);
}

void hfi_journal_keep(hfi_journal *j, const hfi_journal_entry *entry)
{
    if (j->descriptor < 0 || j->replaying) return;
    if (entry->status < 0 && entry->status != HF_ERR_NOT_POSITIVE_DEFINITE) return;
    const size_t bytes = entry_bytes(entry->asked, entry->told);
    if (!grow_journal_buffer(j, bytes)) {
        hfi_journal_stop(j, ENOMEM);
        return;
    }
    /* Where nothing could be factored there is no value, and whatever stands in its place is not kept. */
    const bool valid = entry->status >= 0;
    const hfi_journal_record r = {.index = j->next,
                                  .asked = entry->asked,
                                  .told = entry->told,
                                  .status = entry->status,
                                  .value = valid ? entry->value : 0.0};
    unsigned char *numbers = j->buffer + sizeof r;
    const size_t asked = entry->asked * sizeof(double), told = entry->told * sizeof(double);
    memcpy(j->buffer, &r, sizeof r);
    memcpy(numbers, entry->key, asked);
    if (valid)
        memcpy(numbers + asked, entry->answer, told);
    else
        memset(numbers + asked, 0, told);
    entry_digest(j, bytes, j->buffer + bytes - HFI_SHA256_BYTES);
    write_entry(j, bytes);
    j->next++;
}

hf_status hfi_journal_answer(hfi_journal *j, hfi_journal_entry *entry, hfi_journal_compute compute, void *arg)
{
    entry->unseen = j && j->recalled;
    entry->recalled = false;
    const hf_status s = j ? hfi_journal_recall(j, entry, &entry->recalled) : HF_OK;
    if (j) j->recalled = entry->recalled;
    if (s < 0 || entry->recalled) return s < 0 ? s : entry->status;
    entry->status = compute(arg, entry);
    if (j) hfi_journal_keep(j, entry);
    return entry->status;
}

const char *hfi_journal_warning(const hfi_journal *j)
{
    return j->warning[0] ? j->warning : NULL;
}

void hfi_journal_close(hfi_journal *j, bool discard)
{
    if (!j) return;
    if (discard && j->regular)
        unlink(j->path);
    else
        hfi_journal_flush(j);
    if (j->descriptor >= 0) close(j->descriptor);
    HFI_FREE(j->ctx, j->path, j->buffer, j);
}
