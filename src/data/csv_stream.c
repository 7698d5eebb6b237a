/* SPDX-License-Identifier: Apache-2.0 */
/* A CSV file part by part, each cut where a record ends outside of quotes. */
#include "data/csv_stream.h"

#include "data/manner.h"
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
    uint64_t got;           /* bytes of the file that were read */
    uint64_t taken;         /* bytes of the text that are behind */
    hfi_unpacker *unpacker; /* of a packed file, with what was read of it and not unpacked yet */
    char *packed;
    size_t packed_at, packed_bytes, packed_room;
    bool packed_ended;
    char *text; /* begins where a record does */
    size_t used, capacity;
    bool ended;
    /* the cutter, at text[seen] */
    size_t seen, cut;      /* cut: end of the last complete record */
    size_t hold;           /* no cut before text[hold] */
    size_t line, cut_line; /* lines of the source before text[seen], before text[cut] */
    char separator;
    bool quoted, fresh, closed; /* inside quotes; at the front of a field; right behind a closing quote */
    char *header;               /* its record, once it is known */
    size_t header_bytes, header_lines, fields;
} stream;

/* The end of a record or a comment is behind. */
static void mark_cut(stream *s)
{
    if (s->seen < s->hold) return;
    s->cut = s->seen;
    s->cut_line = s->line;
}

/* Goes on to where no comment begins; false when there is no telling yet. The parser is to see as much of a
 * comment as told it from a record. That is more than a line where a quote is open. */
static bool pass_comments(stream *s)
{
    while (s->seen < s->used && s->text[s->seen] == '#') {
        size_t next;
        hfi_layout_fields(s->text, s->used, s->seen, s->separator, &next);
        if (next == s->used && !s->ended) return false;
        if (!hfi_layout_is_comment(s->text, s->used, s->seen, s->separator, s->fields)) return true;
        const char *end = memchr(s->text + s->seen, '\n', s->used - s->seen);
        if (next > s->hold) s->hold = next;
        s->seen = end != NULL ? (size_t)(end - s->text) + 1 : s->used;
        s->line += end != NULL;
        mark_cut(s);
    }
    return true;
}

/* Goes on to the end of a record; false when there is none up to text[used]. Follows quotes as the parser
 * does: they count at the front of a field, and two of them inside are one. */
static bool next_cut(stream *s)
{
    const bool begins = !s->quoted && (s->seen == 0 || s->text[s->seen - 1] == '\n');
    if (begins && s->fields > 0 && !pass_comments(s)) return false;
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
        mark_cut(s);
        return true;
    }
    return false;
}

static hf_status grow_stream_buffer(stream *s)
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

/* Bytes of the file; *ended where there are no more. */
static hf_status read_file(stream *s, char *to, size_t room, size_t *count, bool *ended)
{
    const ssize_t got = read(s->descriptor, to, room < LARGEST_READ ? room : LARGEST_READ);
    const int error = errno;
    const double done = (double)s->got / fmax((double)s->stamp.bytes, 1.0);
    if (!hfi_progress(s->ctx, "read", fmin(done, 1.0), NAN)) return hfi_cancelled(s->ctx);
    if (got < 0 && error != EINTR) return cannot_read(s->ctx, s->path, error);
    *count = got > 0 ? (size_t)got : 0;
    *ended = got == 0;
    s->got += *count;
    return HF_OK;
}

/* The beginning of a packed file is put aside, and room made for its text. */
static hf_status begin_unpacking(stream *s)
{
    const hf_status status =
        hfi_unpacker_make(s->ctx, s->path, s->text, s->used, (size_t)s->stamp.bytes, &s->unpacker);
    if (status != HF_OK) return status;
    s->packed = s->text;
    s->packed_bytes = s->used;
    s->packed_room = s->capacity;
    s->used = 0;
    s->text = hfi_alloc(s->ctx, s->capacity, 1);
    return s->text != NULL ? HF_OK : HF_ERR_MEMORY;
}

static hf_status unpack_more(stream *s)
{
    hf_status status = HF_OK;
    if (s->packed_at == s->packed_bytes && !s->packed_ended) {
        s->packed_at = 0;
        status = read_file(s, s->packed, s->packed_room, &s->packed_bytes, &s->packed_ended);
        if (status != HF_OK) return status;
    }
    hfi_unpack_piece piece = {.in = s->packed + s->packed_at,
                              .bytes = s->packed_bytes - s->packed_at,
                              .last = s->packed_ended,
                              .out = s->text + s->used,
                              .room = s->capacity - s->used};
    status = hfi_unpacker_go(s->unpacker, &piece, &s->ended);
    s->packed_at += piece.taken;
    s->used += piece.made;
    return status;
}

static hf_status read_more(stream *s)
{
    size_t count = 0;
    if (s->unpacker != NULL) return unpack_more(s);
    const hf_status status = read_file(s, s->text + s->used, s->capacity - s->used, &count, &s->ended);
    if (status != HF_OK) return status;
    s->used += count;
    return s->got == s->used && hfi_is_packed(s->text, s->used) ? begin_unpacking(s) : HF_OK;
}

static hf_status fill_stream_buffer(stream *s, size_t wanted)
{
    hf_status status = HF_OK;
    while (status == HF_OK && !s->ended && s->used < wanted) {
        status = grow_stream_buffer(s);
        if (status == HF_OK) status = read_more(s);
    }
    return status;
}

/* Finds the header's record, reading as much as that takes, and keeps a copy for the front of every part.
 * Blank lines, comments and a byte order mark before it do not belong to it; its separator decides where
 * quotes count. */
static hf_status take_header(stream *s)
{
    size_t begin = 0, wanted = s->capacity;
    bool found = false;
    for (; !found; wanted *= 2) {
        const hf_status status = fill_stream_buffer(s, wanted);
        if (status != HF_OK) return status;
        begin = s->used >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
        bool comment = false;
        for (; begin < s->used; begin++) {
            const char c = s->text[begin];
            if (c != '\n' && c != '\r' && c != '#' && !comment) break;
            comment = c == '#' || (comment && c != '\n');
        }
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
    size_t next;
    s->fields = hfi_layout_fields(s->text, s->used, begin, s->separator, &next);
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
                               s->taken == 0 ? 0 : first_line - s->header_lines, true, &table);
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
        status = fill_stream_buffer(s, wanted);
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
    s->hold = 0;
    return HF_OK;
}

static hf_status check_unchanged(const stream *s)
{
    struct stat about;
    hfi_stamp now = {0};
    if (fstat(s->descriptor, &about) != 0) return cannot_read(s->ctx, s->path, errno);
    const hf_status status = stamp_of(s->ctx, s->path, &about, &now);
    if (status != HF_OK) return status;
    if (hfi_stamp_equal(&now, &s->stamp) && s->got == s->stamp.bytes) return HF_OK;
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
    hfi_unpacker_free(s.unpacker);
    HFI_FREE(ctx, s.text, s.packed, s.header);
    return status;
}
