/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots in a journal: two places that are written in turn. */
#include "checkpoint/journal_impl.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

/* Seconds between two snapshots: `usual` times what writing one takes, within these bounds; but never less
 * than `least` times that. */
static const double shortest = 0.05, longest = 1.0, usual = 50.0, fewest = 5.0;

static off_t place_bytes(size_t count)
{
    return (off_t)(sizeof(hfi_journal_record) + count * sizeof(double) + HFI_SHA256_BYTES);
}

static off_t place_of(const hfi_journal *j, uint64_t number, size_t count)
{
    return j->offset + (off_t)(number % 2) * place_bytes(count);
}

static void snapshot_digest(const hfi_journal *j, const hfi_journal_record *record, const double *numbers,
                            unsigned char digest[HFI_SHA256_BYTES])
{
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    hfi_sha256_add(&hash, &j->fingerprint, sizeof j->fingerprint);
    hfi_sha256_add(&hash, record, sizeof *record);
    hfi_sha256_add(&hash, numbers, (size_t)record->told * sizeof *numbers);
    hfi_sha256_end(&hash, digest);
}

/* ---- reading ----------------------------------------------------------------------------------------------- */

/* Content of one of the two places. */
typedef struct snapshot_place {
    uint64_t number; /* of the snapshot; 0: none that is whole */
    bool filled;     /* the file has as many bytes there */
} snapshot_place;

static hf_status look_at_place(const hfi_journal *j, uint64_t which, size_t count, double *numbers,
                               snapshot_place *out)
{
    const off_t at = place_of(j, which, count);
    hfi_journal_record r;
    unsigned char digest[HFI_SHA256_BYTES], right[HFI_SHA256_BYTES];
    const size_t bytes = count * sizeof *numbers;
    *out = (snapshot_place){0};
    ssize_t got = hfi_journal_read_at(j->descriptor, &r, sizeof r, at);
    if (got != (ssize_t)sizeof r) return got < 0 ? hfi_journal_io_failed(j, "read") : HF_OK;
    got = hfi_journal_read_at(j->descriptor, numbers, bytes, at + (off_t)sizeof r);
    if (got != (ssize_t)bytes) return got < 0 ? hfi_journal_io_failed(j, "read") : HF_OK;
    got = hfi_journal_read_at(j->descriptor, digest, sizeof digest, at + (off_t)(sizeof r + bytes));
    if (got != (ssize_t)sizeof digest) return got < 0 ? hfi_journal_io_failed(j, "read") : HF_OK;
    out->filled = true;
    if (r.index != HFI_JOURNAL_SNAPSHOT + j->next || r.told != count || r.asked % 2 != which) return HF_OK;
    snapshot_digest(j, &r, numbers, right);
    if (memcmp(digest, right, sizeof right) == 0) out->number = r.asked;
    return HF_OK;
}

static hf_status replay_snapshot(hfi_journal *j, size_t count, double *numbers, bool *found)
{
    snapshot_place at[2];
    if (!j->replaying) return HF_OK;
    hf_status s = look_at_place(j, 0, count, numbers, &at[0]);
    if (s >= 0) s = look_at_place(j, 1, count, numbers, &at[1]);
    if (s < 0) return s;
    const uint64_t newer = at[1].number > at[0].number ? 1 : 0;
    j->snapshot = at[newer].number;
    if (j->snapshot == 0) {
        hfi_journal_end_replay(j, at[0].filled || at[1].filled);
        return HF_OK;
    }
    if (newer == 0) s = look_at_place(j, 0, count, numbers, &at[0]);
    *found = s >= 0;
    return s;
}

hf_status hfi_journal_restore(hfi_journal *j, size_t count, double *numbers, bool *found)
{
    hfi_journal_entry entry = {.told = count, .answer = numbers};
    hf_status s = HF_OK;
    *found = false;
    if (hfi_group_rank(j->ctx) == 0) s = replay_snapshot(j, count, numbers, found);
    s = hfi_journal_share(j, s, &entry, found);
    j->snapped = hfi_now();
    j->pause = shortest;
    return s;
}

/* ---- writing ----------------------------------------------------------------------------------------------- */

bool hfi_journal_is_due(const hfi_journal *j)
{
    return j->descriptor >= 0 && j->regular && hfi_now() - j->snapped >= j->pause;
}

/* False with errno. */
static bool write_place(const hfi_journal *j, size_t count, const double *numbers)
{
    const hfi_journal_record r = {
        .index = HFI_JOURNAL_SNAPSHOT + j->next, .asked = j->snapshot + 1, .told = count};
    const off_t at = place_of(j, r.asked, count);
    const size_t bytes = count * sizeof *numbers;
    unsigned char digest[HFI_SHA256_BYTES];
    snapshot_digest(j, &r, numbers, digest);
    /* The first one: whatever lies behind the last good entry goes. */
    if (j->snapshot == 0 && ftruncate(j->descriptor, j->offset) != 0) return false;
    return hfi_journal_write_at(j->descriptor, &r, sizeof r, at) &&
           hfi_journal_write_at(j->descriptor, numbers, bytes, at + (off_t)sizeof r) &&
           hfi_journal_write_at(j->descriptor, digest, sizeof digest, at + (off_t)(sizeof r + bytes));
}

void hfi_journal_snapshot(hfi_journal *j, size_t count, const double *numbers)
{
    if (j->descriptor < 0 || !j->regular) return;
    const double begin = hfi_now();
    if (!write_place(j, count, numbers)) {
        hfi_journal_stop(j, errno);
        return;
    }
    j->snapshot++;
    hfi_journal_flush(j);
    j->snapped = hfi_now();
    const double took = j->snapped - begin;
    j->pause = fmax(fmin(fmax(usual * took, shortest), longest), fewest * took);
}

void hfi_journal_pass_snapshots(hfi_journal *j, size_t count)
{
    j->offset += 2 * place_bytes(count);
}
