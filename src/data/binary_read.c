/* SPDX-License-Identifier: Apache-2.0 */
/* An open cache: believed only after its digest agrees. */
#include "data/binary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static hf_status cannot_read(hf_context *ctx, const char *path, int error)
{
    char words[128];
    return hfi_fail(ctx, HF_ERR_IO, "%s: cannot be read: %s", path, hfi_error_text(error, words));
}

static hf_status damaged(hf_context *ctx, const char *path, const char *what)
{
    return hfi_fail(ctx, HF_ERR_IO, "%s: %s; remove this cache, it will be made anew", path, what);
}

static hf_status read_at(hf_context *ctx, const hfi_binary *b, void *data, size_t bytes, uint64_t place)
{
    char *to = data;
    while (bytes > 0) {
        const ssize_t got = pread(b->descriptor, to, bytes, (off_t)place);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return cannot_read(ctx, b->path, errno);
        if (got == 0) return damaged(ctx, b->path, "was cut short while it was in use");
        to += got;
        bytes -= (size_t)got;
        place += (uint64_t)got;
    }
    return HF_OK;
}

/* ---- the description ------------------------------------------------------------------------- */

/* Takes numbers and texts from the description; once something does not fit, nothing does. */
typedef struct taker {
    const hfi_memory *memory;
    const char *at, *end;
    bool good, starved; /* starved: out of memory, which is no damage */
} taker;

static void take_binary_bytes(taker *from, void *data, size_t bytes)
{
    from->good = from->good && (size_t)(from->end - from->at) >= bytes;
    if (!from->good) {
        memset(data, 0, bytes);
        return;
    }
    memcpy(data, from->at, bytes);
    from->at += bytes;
}

static uint64_t take_number(taker *from)
{
    uint64_t value;
    take_binary_bytes(from, &value, sizeof value);
    return value;
}

static char *take_text(taker *from)
{
    const uint64_t length = take_number(from);
    from->good = from->good && length <= (uint64_t)(from->end - from->at);
    if (!from->good) return NULL;
    char *text = hfi_memory_alloc(from->memory, (size_t)length + 1, 1);
    if (text == NULL) {
        from->starved = true;
        from->good = false;
        return NULL;
    }
    take_binary_bytes(from, text, (size_t)length);
    return text;
}

static void take_column(taker *from, hfi_binary_column *c)
{
    c->name = take_text(from);
    c->numbers = take_number(from);
    c->missing = take_number(from);
    c->texts = take_number(from);
    c->text_line = take_number(from);
    c->infinite_line = take_number(from);
    c->negative_line = take_number(from);
    const uint64_t length = take_number(from);
    from->good = from->good && length < sizeof c->text;
    if (from->good) take_binary_bytes(from, c->text, (size_t)length);
}

/* `place` is where the description begins, which is where the rows must end. */
static hf_status understand(hf_context *ctx, hfi_binary *b, const char *text, size_t bytes, uint64_t place)
{
    taker from = {.memory = &b->memory, .at = text, .end = text + bytes, .good = true};
    b->rows = (size_t)take_number(&from);
    b->columns = (size_t)take_number(&from);
    b->stamp.bytes = take_number(&from);
    b->stamp.seconds = (int64_t)take_number(&from);
    b->stamp.nanoseconds = (int64_t)take_number(&from);
    take_binary_bytes(&from, b->digest, sizeof b->digest);
    size_t cells, size;
    const bool fits = hfi_size_mul(b->rows, b->columns, &cells) &&
                      hfi_size_mul(cells, sizeof(double), &size) && size + HFI_BINARY_HEAD == place;
    /* A column takes 64 bytes of the description: no file makes this allocate more than it is long. */
    if (!from.good || !fits || b->columns > bytes / 64)
        return damaged(ctx, b->path, "its description contradicts itself");
    b->column = hfi_alloc(ctx, b->columns, sizeof *b->column);
    if (b->column == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < b->columns && from.good; j++) take_column(&from, &b->column[j]);
    b->source = take_text(&from);
    if (from.starved) return hfi_out_of_memory(ctx);
    return from.good ? HF_OK : damaged(ctx, b->path, "its description cannot be understood");
}

/* ---- open ------------------------------------------------------------------------------------ */

static hf_status check_head(hf_context *ctx, const hfi_binary *b, uint64_t bytes)
{
    char head[HFI_BINARY_HEAD];
    uint64_t number;
    if (bytes < HFI_BINARY_HEAD) return hfi_fail(ctx, HF_ERR_IO, "%s: is no cache of a table", b->path);
    const hf_status status = read_at(ctx, b, head, sizeof head, 0);
    if (status < 0) return status;
    if (memcmp(head, HFI_BINARY_MAGIC, sizeof HFI_BINARY_MAGIC) != 0)
        return hfi_fail(ctx, HF_ERR_IO, "%s: is no cache of a table", b->path);
    memcpy(&number, head + 24, sizeof number);
    if (number != HFI_BINARY_ORDER) return damaged(ctx, b->path, "was made on another kind of machine");
    memcpy(&number, head + 16, sizeof number);
    if (number != HFI_BINARY_VERSION) return damaged(ctx, b->path, "was made by another version");
    return HF_OK;
}

static hf_status read_description(hf_context *ctx, hfi_binary *b, uint64_t bytes)
{
    char tail[HFI_BINARY_TAIL];
    uint64_t place, length;
    if (bytes < HFI_BINARY_HEAD + HFI_BINARY_TAIL) return damaged(ctx, b->path, "is cut short");
    hf_status status = read_at(ctx, b, tail, sizeof tail, bytes - sizeof tail);
    if (status < 0) return status;
    memcpy(&place, tail, sizeof place);
    memcpy(&length, tail + 8, sizeof length);
    if (memcmp(tail + 48, HFI_BINARY_END, sizeof HFI_BINARY_END) != 0 || place > bytes || length > bytes ||
        place + length + sizeof tail != bytes)
        return damaged(ctx, b->path, "is cut short");
    char *text = hfi_alloc(ctx, (size_t)length, 1);
    if (text == NULL) return HF_ERR_MEMORY;
    status = read_at(ctx, b, text, (size_t)length, place);
    hfi_sha256 hash;
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_init(&hash);
    hfi_sha256_add(&hash, text, (size_t)length);
    hfi_sha256_end(&hash, digest);
    if (status >= 0 && memcmp(digest, tail + 16, sizeof digest) != 0)
        status = damaged(ctx, b->path, "is damaged");
    if (status >= 0) status = understand(ctx, b, text, (size_t)length, place);
    hfi_free(ctx, text);
    return status;
}

static hf_status check_source(hf_context *ctx, const hfi_binary *b, const char *csv)
{
    hfi_stamp now = {0};
    if (csv == NULL) return HF_OK;
    const hf_status status = hfi_stamp_read(ctx, csv, &now);
    if (status < 0 || hfi_stamp_equal(&now, &b->stamp)) return status;
    return hfi_fail(ctx, HF_ERR_IO,
                    "%s: has changed since the cache %s was made of it (%llu bytes then, %llu now, or "
                    "written again); remove the cache, it will be made anew",
                    csv, b->path, (unsigned long long)b->stamp.bytes, (unsigned long long)now.bytes);
}

static hf_status open_cache(hf_context *ctx, const char *path, hfi_binary *b)
{
    struct stat about;
    b->path = hfi_memory_strdup(&b->memory, path);
    if (b->path == NULL) return hfi_out_of_memory(ctx);
    b->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (b->descriptor < 0 || fstat(b->descriptor, &about) != 0) return cannot_read(ctx, path, errno);
    if (!S_ISREG(about.st_mode)) return hfi_fail(ctx, HF_ERR_IO, "%s: is no cache of a table", path);
    const hf_status status = check_head(ctx, b, (uint64_t)about.st_size);
    return status < 0 ? status : read_description(ctx, b, (uint64_t)about.st_size);
}

hf_status hfi_binary_open(hf_context *ctx, const char *path, const char *csv, hfi_binary *out)
{
    hfi_binary b = {.memory = hfi_context_memory(ctx), .descriptor = -1};
    memset(out, 0, sizeof *out);
    out->descriptor = -1;
    hf_status status = open_cache(ctx, path, &b);
    if (status >= 0) status = check_source(ctx, &b, csv);
    if (status < 0) {
        hfi_binary_close(&b);
        return status;
    }
    *out = b;
    return HF_OK;
}

void hfi_binary_close(hfi_binary *b)
{
    if (b->memory.allocate == NULL) return;
    if (b->descriptor >= 0) close(b->descriptor);
    if (b->column != NULL)
        for (size_t j = 0; j < b->columns; j++) hfi_memory_free(&b->memory, b->column[j].name);
    HFI_MEMORY_FREE(&b->memory, b->column, b->source, b->path);
    *b = (hfi_binary){.descriptor = -1};
}

/* ---- rows ------------------------------------------------------------------------------------ */

hf_status hfi_binary_read(hf_context *ctx, const hfi_binary *b, size_t begin, size_t count, double *numbers)
{
    if (begin > b->rows || count > b->rows - begin)
        return hfi_refuse(ctx, "%s: rows %zu to %zu asked for, but there are %zu", b->path, begin,
                          begin + count, b->rows);
    const size_t row_bytes = b->columns * sizeof(double);
    return read_at(ctx, b, numbers, count * row_bytes, HFI_BINARY_HEAD + (uint64_t)begin * row_bytes);
}

hf_status hfi_binary_verify(hf_context *ctx, const hfi_binary *b)
{
    const uint64_t end = HFI_BINARY_HEAD + (uint64_t)b->rows * b->columns * sizeof(double);
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256 hash;
    hfi_sha256_init(&hash);
    char *chunk = hfi_alloc(ctx, HFI_BINARY_CHUNK, 1);
    if (chunk == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (uint64_t at = HFI_BINARY_HEAD; at < end && status >= 0; at += HFI_BINARY_CHUNK) {
        const size_t bytes = end - at < HFI_BINARY_CHUNK ? (size_t)(end - at) : HFI_BINARY_CHUNK;
        status = read_at(ctx, b, chunk, bytes, at);
        hfi_sha256_add(&hash, chunk, bytes);
        if (status >= 0 && !hfi_progress(ctx, "verify", (double)at / (double)end, NAN))
            status = hfi_cancelled(ctx);
    }
    hfi_free(ctx, chunk);
    hfi_sha256_end(&hash, digest);
    if (status >= 0 && memcmp(digest, b->digest, sizeof digest) != 0)
        status = damaged(ctx, b->path, "its rows are damaged");
    return status;
}
