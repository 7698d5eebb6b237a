/* SPDX-License-Identifier: Apache-2.0 */
/* A CSV file part by part, each cut where a record ends outside of quotes. */
#include "data/csv_stream.h"

#include "data/table_impl.h"
#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    USUAL_PART = 1 << 22,
    LARGEST_READ = 1 << 20 /* so that a slow file is interrupted soon after the callback says so */
};

/* ---- stamps ---------------------------------------------------------------------------------- */

bool hfi_stamp_equal(const hfi_stamp *a, const hfi_stamp *b)
{
    return a->bytes == b->bytes && a->seconds == b->seconds && a->nanoseconds == b->nanoseconds;
}

static hf_status cannot_read(hf_context *ctx, const char *path, int error)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be read: %s", path, hfi_error_text(error, words));
}

static hf_status stamp_of(hf_context *ctx, const char *path, const struct stat *about, hfi_stamp *out)
{
    if (S_ISDIR(about->st_mode))
        return hfi_fail(ctx, HF_ERR_IO, "%s: is a folder; give the CSV file in it", path);
    if (!S_ISREG(about->st_mode))
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: is a pipe or a device, which cannot be read in parts; save it to a file first",
                        path);
    *out = (hfi_stamp){.bytes = (uint64_t)about->st_size,
                       .seconds = (int64_t)about->st_mtim.tv_sec,
                       .nanoseconds = (int64_t)about->st_mtim.tv_nsec};
    return HF_OK;
}

hf_status hfi_stamp_read(hf_context *ctx, const char *path, hfi_stamp *out)
{
    struct stat about;
    if (stat(path, &about) != 0) return cannot_read(ctx, path, errno);
    return stamp_of(ctx, path, &about, out);
}

/* ---- the stream ------------------------------------------------------------------------------ */

typedef struct stream {
    hf_context *ctx;
    const char *path;
    hfi_part_consumer consume;
    void *arg;
    int descriptor;
    hfi_stamp stamp;
    uint64_t taken; /* bytes of the file that are behind */
    char *text;     /* begins where a record does */
    size_t used, capacity;
    bool ended;
    /* the cutter, at text[seen] */
    size_t seen, cut;      /* cut: end of the last complete record */
    size_t line, cut_line; /* lines of the source before text[seen], before text[cut] */
    char separator;
    bool quoted, fresh, closed; /* inside quotes; at the front of a field; right behind a closing quote */
    char *header;               /* its record, once it is known */
    size_t header_bytes, header_lines;
} stream;

/* Goes on to the end of a record; false when there is none up to text[used]. Follows quotes as the parser
 * does: they count at the front of a field, and two of them inside are one. */
static bool next_cut(stream *s)
{
    while (s->seen < s->used) {
        const char c = s->text[s->seen++];
        s->line += c == '\n';
        if (s->quoted) {
            s->closed = c == '"';
            s->quoted = !s->closed;
            continue;
        }
        s->quoted = c == '"' && (s->fresh || s->closed);
        s->fresh = c == s->separator || c == '\n';
        s->closed = false;
        if (c != '\n') continue;
        s->cut = s->seen;
        s->cut_line = s->line;
        return true;
    }
    return false;
}

static hf_status make_room(stream *s)
{
    size_t wanted;
    if (s->used < s->capacity) return HF_OK;
    if (!hfi_size_mul(s->capacity, 2, &wanted)) return hfi_out_of_memory(s->ctx);
    hf_status status = hfi_csv_must_fit(s->ctx, s->path, wanted);
    if (status != HF_OK) return status;
    char *larger = hfi_alloc(s->ctx, wanted, 1);
    if (larger == NULL) return HF_ERR_MEMORY;
    memcpy(larger, s->text, s->used);
    hfi_free(s->ctx, s->text);
    s->text = larger;
    s->capacity = wanted;
    return HF_OK;
}

static hf_status read_more(stream *s)
{
    const size_t room = s->capacity - s->used;
    ssize_t got = read(s->descriptor, s->text + s->used, room < LARGEST_READ ? room : LARGEST_READ);
    const int error = errno;
    const double done = (double)(s->taken + s->used) / fmax((double)s->stamp.bytes, 1.0);
    if (!hfi_progress(s->ctx, "read", fmin(done, 1.0), NAN)) return hfi_cancelled(s->ctx);
    if (got < 0 && error != EINTR) return cannot_read(s->ctx, s->path, error);
    if (got > 0) s->used += (size_t)got;
    s->ended = got == 0;
    return HF_OK;
}

static hf_status fill(stream *s, size_t wanted)
{
    hf_status status = HF_OK;
    while (status == HF_OK && !s->ended && s->used < wanted) {
        status = make_room(s);
        if (status == HF_OK) status = read_more(s);
    }
    return status;
}

/* Finds the header's record, reading as much as that takes, and keeps a copy for the front of every part.
 * Blank lines and a byte order mark before it do not belong to it; its separator decides where quotes
 * count. */
static hf_status take_header(stream *s)
{
    size_t begin = 0, wanted = s->capacity;
    bool found = false;
    for (; !found; wanted *= 2) {
        const hf_status status = fill(s, wanted);
        if (status != HF_OK) return status;
        begin = s->used >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        while (begin < s->used && (s->text[begin] == '\n' || s->text[begin] == '\r')) begin++;
        s->separator = hfi_csv_separator(s->text + begin, s->used - begin);
        s->line = s->header_lines = 0;
        for (size_t i = 0; i < begin; i++) s->header_lines += s->text[i] == '\n';
        s->line = s->header_lines;
        s->seen = begin;
        s->fresh = true;
        s->quoted = s->closed = false;
        found = next_cut(s) || s->ended;
    }
    s->header_lines = s->line - s->header_lines;
    s->header_bytes = s->seen - begin;
    s->header = hfi_alloc(s->ctx, s->header_bytes + 1, 1);
    if (s->header == NULL) return HF_ERR_MEMORY;
    memcpy(s->header, s->text + begin, s->header_bytes);
    return HF_OK;
}

/* The parser says what kind of file has zero bytes when it sees the first part; later ones are damage. */
static hf_status check_zero(const stream *s, size_t bytes, size_t first_line)
{
    const char *zero = memchr(s->text, '\0', bytes);
    if (zero == NULL || s->taken == 0) return HF_OK;
    for (const char *p = s->text; p < zero; p++) first_line += *p == '\n';
    return hfi_fail(s->ctx, HF_ERR_PARSE, "%s: line %zu: a zero byte; the file is damaged, or no text",
                    s->path, first_line + 1);
}

/* The records up to text[bytes], which begin behind `first_line` lines of the source, as a table for the consumer. */
static hf_status hand_over(stream *s, size_t bytes, size_t first_line)
{
    const size_t front = s->taken == 0 ? 0 : s->header_bytes;
    hf_status status = check_zero(s, bytes, first_line);
    if (status != HF_OK) return status;
    char *part = hfi_alloc(s->ctx, front + bytes + 1, 1);
    if (part == NULL) return HF_ERR_MEMORY;
    memcpy(part, s->header, front);
    memcpy(part + front, s->text, bytes);
    hf_table *table = NULL;
    status = hfi_csv_take_part(s->ctx, part, front + bytes, s->path,
                               s->taken == 0 ? 0 : first_line - s->header_lines, &table);
    if (status != HF_OK) return status;
    status = s->consume(s->ctx, s->arg, table);
    hf_table_free(table);
    return status;
}

static hf_status next_part(stream *s)
{
    const size_t first_line = s->taken == 0 ? 0 : s->cut_line, part = s->capacity;
    if (s->taken > 0) s->cut = 0;
    hf_status status = HF_OK;
    for (size_t wanted = part; status == HF_OK; wanted *= 2) {
        status = fill(s, wanted);
        while (status == HF_OK && next_cut(s)) continue;
        if (s->ended || s->cut > 0) break;
    }
    if (status != HF_OK) return status;
    const size_t bytes = s->ended ? s->used : s->cut;
    /* The first part is parsed even when it is empty: that a header is missing is for the parser to say. */
    if (bytes > 0 || s->taken == 0) status = hand_over(s, bytes, first_line);
    if (status != HF_OK) return status;
    memmove(s->text, s->text + bytes, s->used - bytes);
    s->taken += bytes;
    s->used -= bytes;
    s->seen -= bytes;
    return HF_OK;
}

static hf_status check_unchanged(const stream *s)
{
    struct stat about;
    hfi_stamp now = {0};
    if (fstat(s->descriptor, &about) != 0) return cannot_read(s->ctx, s->path, errno);
    const hf_status status = stamp_of(s->ctx, s->path, &about, &now);
    if (status != HF_OK) return status;
    if (hfi_stamp_equal(&now, &s->stamp) && s->taken == s->stamp.bytes) return HF_OK;
    return hfi_fail(s->ctx, HF_ERR_IO,
                    "%s: changed while it was being read; try again when nothing writes to it", s->path);
}

static hf_status open_source(stream *s)
{
    struct stat about;
    do s->descriptor = open(s->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (s->descriptor < 0 && errno == EINTR && hfi_progress(s->ctx, "read", -1.0, NAN));
    if (s->descriptor < 0 && errno == EINTR) return hfi_cancelled(s->ctx);
    if (s->descriptor < 0) return cannot_read(s->ctx, s->path, errno);
    if (fstat(s->descriptor, &about) != 0) return cannot_read(s->ctx, s->path, errno);
    return stamp_of(s->ctx, s->path, &about, &s->stamp);
}

hf_status hfi_csv_stream(hf_context *ctx, const char *path, size_t part_bytes, hfi_part_consumer consume,
                         void *arg, hfi_stamp *stamp)
{
    stream s = {.ctx = ctx,
                .path = path,
                .consume = consume,
                .arg = arg,
                .descriptor = -1,
                .capacity = part_bytes > 0 ? part_bytes : USUAL_PART};
    hf_status status = open_source(&s);
    if (status == HF_OK) {
        s.text = hfi_alloc(ctx, s.capacity, 1);
        if (s.text == NULL) status = HF_ERR_MEMORY;
    }
    if (status == HF_OK) status = take_header(&s);
    if (status == HF_OK) status = next_part(&s);
    while (status == HF_OK && !s.ended) status = next_part(&s);
    if (status == HF_OK) status = check_unchanged(&s);
    if (status == HF_OK && stamp != NULL) *stamp = s.stamp;
    if (s.descriptor >= 0) close(s.descriptor);
    HFI_FREE(ctx, s.text, s.header);
    return status;
}
