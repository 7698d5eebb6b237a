/* SPDX-License-Identifier: Apache-2.0 */
/* gzip and zstd, each with a row in the table of packers. Either library may be missing from a build. */
#include "data/manner.h"

#include "data/table_impl.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#ifdef HF_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef HF_WITH_ZSTD
#include <zstd.h>
#endif

/* Text packs to a tenth, seldom to a hundredth. Beyond this it is no table, but an attack on memory. */
#define HARMLESS_BYTES ((size_t)64 << 20)
#define LARGEST_RATIO  500

typedef struct packer packer;

struct hfi_unpacker {
    hf_context *ctx;
    const char *source;
    const packer *by;
    size_t total;       /* bytes of the file */
    size_t taken, made; /* by all pieces so far */
    bool ended;         /* one packed file is over; another may stand behind it */
    void *state;        /* of the library */
};

#if defined(HF_WITH_ZLIB) || defined(HF_WITH_ZSTD)
static hf_status broken(const hfi_unpacker *u, bool cut, const char *how)
{
    if (cut)
        return hfi_fail(u->ctx, HF_ERR_IO, "%s: it is cut off: %s expects more than its %zu bytes", u->source,
                        how, u->total);
    return hfi_fail(u->ctx, HF_ERR_IO, "%s: it is damaged: %s finds an error near byte %zu of %zu", u->source,
                    how, u->taken, u->total);
}
#endif

/* ---- gzip -------------------------------------------------------------------------------------------------- */

#ifdef HF_WITH_ZLIB
static void *zlib_alloc(void *ctx, unsigned count, unsigned size)
{
    return hfi_alloc_unset(ctx, count, size);
}

static void zlib_free(void *ctx, void *block)
{
    hfi_free(ctx, block);
}

static bool gzip_begin(hfi_unpacker *u)
{
    z_stream *z = u->state = hfi_alloc(u->ctx, 1, sizeof *z);
    if (z == NULL) return false;
    *z = (z_stream){.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = u->ctx};
    return inflateInit2(z, 15 + 16) == Z_OK;
}

static hf_status gzip_go(hfi_unpacker *u, hfi_unpack_piece *piece)
{
    z_stream *z = u->state;
    if (u->ended && piece->bytes == 0) return HF_OK;
    if (u->ended && inflateReset(z) != Z_OK) return broken(u, false, "gzip");
    z->next_in = (unsigned char *)(uintptr_t)piece->in;
    z->avail_in = piece->bytes < UINT_MAX ? (unsigned)piece->bytes : UINT_MAX;
    z->next_out = (unsigned char *)piece->out;
    z->avail_out = piece->room < UINT_MAX ? (unsigned)piece->room : UINT_MAX;
    const unsigned in = z->avail_in, out = z->avail_out;
    const int code = inflate(z, Z_NO_FLUSH);
    piece->taken = in - z->avail_in;
    piece->made = out - z->avail_out;
    u->taken += piece->taken;
    u->ended = code == Z_STREAM_END;
    if (code == Z_MEM_ERROR) return hfi_out_of_memory(u->ctx);
    if (!u->ended && code != Z_OK && code != Z_BUF_ERROR) return broken(u, false, "gzip");
    const bool empty = piece->last && piece->taken == piece->bytes && z->avail_out > 0;
    return empty && !u->ended ? broken(u, true, "gzip") : HF_OK;
}

static void gzip_end(hfi_unpacker *u)
{
    if (u->state != NULL) inflateEnd(u->state);
    hfi_free(u->ctx, u->state);
}
#define GZIP gzip_begin, gzip_go, gzip_end
#else
#define GZIP NULL, NULL, NULL
#endif

/* ---- zstd -------------------------------------------------------------------------------------------------- */

#ifdef HF_WITH_ZSTD
static bool zstd_begin(hfi_unpacker *u)
{
    u->state = ZSTD_createDCtx();
    return u->state != NULL;
}

static hf_status zstd_go(hfi_unpacker *u, hfi_unpack_piece *piece)
{
    if (u->ended && piece->bytes == 0) return HF_OK;
    ZSTD_inBuffer in = {piece->in, piece->bytes, 0};
    ZSTD_outBuffer out = {piece->out, piece->room, 0};
    const size_t left = ZSTD_decompressStream(u->state, &out, &in);
    piece->taken = in.pos;
    piece->made = out.pos;
    u->taken += in.pos;
    if (ZSTD_isError(left)) return broken(u, false, "zstd");
    u->ended = left == 0;
    const bool empty = piece->last && in.pos == in.size && out.pos < out.size;
    return empty && !u->ended ? broken(u, true, "zstd") : HF_OK;
}

static void zstd_end(hfi_unpacker *u)
{
    ZSTD_freeDCtx(u->state);
}
#define ZSTD zstd_begin, zstd_go, zstd_end
#else
#define ZSTD NULL, NULL, NULL
#endif

/* ---- the table --------------------------------------------------------------------------------------------- */

static const struct packer {
    const char *name, *magic;
    size_t length;
    bool (*begin)(hfi_unpacker *u); /* false when out of memory; NULL: not in this build */
    hf_status (*go)(hfi_unpacker *u, hfi_unpack_piece *piece);
    void (*end)(hfi_unpacker *u);
    const char *library, *program;
} packers[] = {
    {"gzip", "\x1f\x8b", 2, GZIP, "zlib", "gunzip"},
    {"zstd", "\x28\xb5\x2f\xfd", 4, ZSTD, "libzstd", "unzstd"},
};

static const packer *packer_of(const char *bytes, size_t size)
{
    for (size_t k = 0; k < sizeof packers / sizeof packers[0]; k++)
        if (size >= packers[k].length && memcmp(bytes, packers[k].magic, packers[k].length) == 0)
            return &packers[k];
    return NULL;
}

bool hfi_is_packed(const char *bytes, size_t size)
{
    return packer_of(bytes, size) != NULL;
}

hf_status hfi_unpacker_make(hf_context *ctx, const char *source, const char *front, size_t bytes,
                            size_t total, hfi_unpacker **out)
{
    const packer *by = packer_of(front, bytes);
    if (by->begin == NULL)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: it is packed by %s, which this build cannot read (it was made without %s); "
                        "unpack it with %s first",
                        source, by->name, by->library, by->program);
    hfi_unpacker *u = hfi_alloc(ctx, 1, sizeof *u);
    if (u == NULL) return HF_ERR_MEMORY;
    *u = (hfi_unpacker){.ctx = ctx, .source = source, .by = by, .total = total};
    if (!by->begin(u)) {
        hfi_unpacker_free(u);
        return hfi_out_of_memory(ctx);
    }
    *out = u;
    return HF_OK;
}

hf_status hfi_unpacker_go(hfi_unpacker *u, hfi_unpack_piece *piece, bool *done)
{
    piece->taken = piece->made = 0;
    if (u->made > HARMLESS_BYTES && u->made / LARGEST_RATIO > u->total)
        return hfi_fail(u->ctx, HF_ERR_TOO_LARGE,
                        "%s: it unpacks to more than %d times its %zu bytes, as no table does; unpack it "
                        "yourself if it is one",
                        u->source, LARGEST_RATIO, u->total);
    const hf_status status = u->by->go(u, piece);
    u->made += piece->made;
    *done = piece->last && u->ended && piece->taken == piece->bytes;
    return status;
}

void hfi_unpacker_free(hfi_unpacker *u)
{
    if (u == NULL) return;
    u->by->end(u);
    hfi_free(u->ctx, u);
}

/* ---- whole files ------------------------------------------------------------------------------------------- */

/* Room for more; refused where the machine has not so much. */
static hf_status grow_unpacked(hfi_unpacker *u, char **out, size_t *capacity)
{
    size_t wanted;
    if (!hfi_size_mul(*capacity > 0 ? *capacity : u->total, 4, &wanted) || wanted < 1 << 16) wanted = 1 << 16;
    hf_status status = hfi_csv_must_fit(u->ctx, u->source, wanted);
    if (status != HF_OK) return status;
    char *larger = hfi_alloc_unset(u->ctx, wanted, 1);
    if (larger == NULL) return HF_ERR_MEMORY;
    if (*out != NULL) memcpy(larger, *out, u->made);
    hfi_free(u->ctx, *out);
    *out = larger;
    *capacity = wanted;
    return hfi_progress(u->ctx, "read", (double)u->taken / (double)u->total, NAN) ? HF_OK
                                                                                  : hfi_cancelled(u->ctx);
}

static hf_status unpack_all(hfi_unpacker *u, const char *packed, char **out)
{
    size_t capacity = 0;
    bool done = false;
    hf_status status = HF_OK;
    while (status >= 0 && !done) {
        if (u->made + 1 >= capacity) status = grow_unpacked(u, out, &capacity);
        if (status < 0) break;
        hfi_unpack_piece piece = {.in = packed + u->taken,
                                  .bytes = u->total - u->taken,
                                  .last = true,
                                  .out = *out + u->made,
                                  .room = capacity - u->made - 1};
        status = hfi_unpacker_go(u, &piece, &done);
    }
    return status;
}

hf_status hfi_unpack(hf_context *ctx, const char *source, hfi_manner *manner, char **text, size_t *bytes)
{
    hfi_unpacker *u = NULL;
    char *out = NULL;
    if (!hfi_is_packed(*text, *bytes)) return HF_OK;
    hf_status status = hfi_unpacker_make(ctx, source, *text, *bytes, *bytes, &u);
    if (status >= 0) status = unpack_all(u, *text, &out);
    if (status >= 0)
        status =
            hfi_manner_note(ctx, manner, "unpacked (%s): %zu bytes to %zu", u->by->name, u->total, u->made);
    if (status >= 0) {
        hfi_free(ctx, *text);
        *text = out;
        *bytes = u->made;
    } else {
        hfi_free(ctx, out);
    }
    hfi_unpacker_free(u);
    return status;
}
