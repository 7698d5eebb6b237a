/* SPDX-License-Identifier: Apache-2.0 */
/* gzip and zstd, each with a row in the table of packers. Either library may be missing from a build. */
#include "data/unpack.h"

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

/* Unpacking under way. */
typedef struct unpacking {
    hf_context *ctx;
    const char *source;
    const unsigned char *in;
    size_t in_bytes, taken;
    char *out;
    size_t out_bytes, capacity;
} unpacking;

#if defined(HF_WITH_ZLIB) || defined(HF_WITH_ZSTD)
/* Room for more; refused for a bomb, and where the machine has not so much. */
static hf_status grow(unpacking *u)
{
    size_t wanted = u->in_bytes;
    if (!hfi_size_mul(u->capacity > 0 ? u->capacity : u->in_bytes, 4, &wanted) || wanted < 1 << 16)
        wanted = 1 << 16;
    if (u->out_bytes > HARMLESS_BYTES && u->out_bytes / LARGEST_RATIO > u->in_bytes)
        return hfi_fail(u->ctx, HF_ERR_TOO_LARGE,
                        "%s: it unpacks to more than %d times its %zu bytes, as no table does; unpack it "
                        "yourself if it is one",
                        u->source, LARGEST_RATIO, u->in_bytes);
    hf_status status = hfi_csv_must_fit(u->ctx, u->source, wanted);
    if (status != HF_OK) return status;
    char *larger = hfi_alloc_unset(u->ctx, wanted, 1);
    if (larger == NULL) return HF_ERR_MEMORY;
    if (u->out_bytes > 0) memcpy(larger, u->out, u->out_bytes);
    hfi_free(u->ctx, u->out);
    u->out = larger;
    u->capacity = wanted;
    return hfi_progress(u->ctx, "read", (double)u->taken / (double)u->in_bytes, NAN) ? HF_OK
                                                                                     : hfi_cancelled(u->ctx);
}

static hf_status broken(const unpacking *u, bool cut, const char *how)
{
    if (cut)
        return hfi_fail(u->ctx, HF_ERR_IO, "%s: it is cut off: %s expects more than its %zu bytes", u->source,
                        how, u->in_bytes);
    return hfi_fail(u->ctx, HF_ERR_IO, "%s: it is damaged: %s finds an error near byte %zu of %zu", u->source,
                    how, u->taken, u->in_bytes);
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

/* One piece of input and of output; several packed files may stand one behind the other. */
static hf_status inflate_piece(unpacking *u, z_stream *z, bool *done)
{
    const size_t left = u->in_bytes - u->taken, room = u->capacity - u->out_bytes - 1;
    z->next_in = (unsigned char *)(uintptr_t)(u->in + u->taken);
    z->avail_in = left < UINT_MAX ? (unsigned)left : UINT_MAX;
    z->next_out = (unsigned char *)u->out + u->out_bytes;
    z->avail_out = room < UINT_MAX ? (unsigned)room : UINT_MAX;
    const unsigned in = z->avail_in, out = z->avail_out;
    const int code = inflate(z, Z_NO_FLUSH);
    u->taken += in - z->avail_in;
    u->out_bytes += out - z->avail_out;
    *done = code == Z_STREAM_END && u->taken == u->in_bytes;
    if (code == Z_STREAM_END) return *done || inflateReset(z) == Z_OK ? HF_OK : broken(u, false, "gzip");
    if (code == Z_MEM_ERROR) return hfi_out_of_memory(u->ctx);
    if (code != Z_OK && code != Z_BUF_ERROR) return broken(u, false, "gzip");
    return u->taken == u->in_bytes && z->avail_out > 0 ? broken(u, true, "gzip") : HF_OK;
}

static hf_status gunzip(unpacking *u)
{
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = u->ctx};
    bool done = false;
    if (inflateInit2(&z, 15 + 16) != Z_OK) return hfi_out_of_memory(u->ctx);
    hf_status status = HF_OK;
    while (status >= 0 && !done) {
        if (u->out_bytes + 1 >= u->capacity) status = grow(u);
        if (status >= 0) status = inflate_piece(u, &z, &done);
    }
    inflateEnd(&z);
    return status;
}
#else
#define gunzip NULL
#endif

/* ---- zstd -------------------------------------------------------------------------------------------------- */

#ifdef HF_WITH_ZSTD
static hf_status unzstd(unpacking *u)
{
    ZSTD_DCtx *z = ZSTD_createDCtx();
    if (z == NULL) return hfi_out_of_memory(u->ctx);
    ZSTD_inBuffer in = {u->in, u->in_bytes, 0};
    size_t left = 1;
    hf_status status = HF_OK;
    while (status >= 0 && (in.pos < in.size || left > 0)) {
        if (u->out_bytes + 1 >= u->capacity) status = grow(u);
        if (status < 0) break;
        ZSTD_outBuffer out = {u->out, u->capacity - 1, u->out_bytes};
        left = ZSTD_decompressStream(z, &out, &in);
        const bool stuck = out.pos == u->out_bytes && in.pos == u->taken;
        u->out_bytes = out.pos;
        u->taken = in.pos;
        if (ZSTD_isError(left))
            status = broken(u, false, "zstd");
        else if (in.pos == in.size && left > 0 && (stuck || out.pos < out.size))
            status = broken(u, true, "zstd");
    }
    ZSTD_freeDCtx(z);
    return status;
}
#else
#define unzstd NULL
#endif

/* ---- the table --------------------------------------------------------------------------------------------- */

static const struct packer {
    const char *name, *magic;
    size_t length;
    hf_status (*unpack)(unpacking *u); /* NULL: not in this build */
    const char *library, *program;
} packers[] = {
    {"gzip", "\x1f\x8b", 2, gunzip, "zlib", "gunzip"},
    {"zstd", "\x28\xb5\x2f\xfd", 4, unzstd, "libzstd", "unzstd"},
};

static const struct packer *packer_of(const char *bytes, size_t size)
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

hf_status hfi_unpack(hf_context *ctx, const char *source, hfi_manner *manner, char **text, size_t *bytes)
{
    const struct packer *packer = packer_of(*text, *bytes);
    if (packer == NULL) return HF_OK;
    if (packer->unpack == NULL)
        return hfi_fail(ctx, HF_ERR_IO,
                        "%s: it is packed by %s, which this build cannot read (it was made without %s); "
                        "unpack it with %s first",
                        source, packer->name, packer->library, packer->program);
    unpacking u = {.ctx = ctx, .source = source, .in = (const unsigned char *)*text, .in_bytes = *bytes};
    hf_status status = packer->unpack(&u);
    if (status >= 0)
        status = hfi_manner_note(ctx, manner, "unpacked (%s): %zu bytes to %zu", packer->name, u.in_bytes,
                                 u.out_bytes);
    if (status < 0) {
        hfi_free(ctx, u.out);
        return status;
    }
    hfi_free(ctx, *text);
    *text = u.out;
    *bytes = u.out_bytes;
    return HF_OK;
}
