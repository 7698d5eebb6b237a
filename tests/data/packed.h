/* SPDX-License-Identifier: Apache-2.0 */
/* Packs texts for tests; in a build without the library the first bytes of a packed file alone. */
#ifndef PACKED_H
#define PACKED_H

#include "data/support.h"

#ifdef HF_WITH_ZLIB
#include <zlib.h>
#endif
#ifdef HF_WITH_ZSTD
#include <zstd.h>
#endif

static inline size_t pack_gzip(const char *text, size_t bytes, char *out, size_t room)
{
#ifdef HF_WITH_ZLIB
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)text;
    z.avail_in = (unsigned)bytes;
    z.next_out = (unsigned char *)out;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t used = room - z.avail_out;
    deflateEnd(&z);
    return used;
#else
    (void)text;
    (void)bytes;
    (void)room;
    memcpy(out, "\x1f\x8b\x08\0", 4);
    return 4;
#endif
}

static inline size_t pack_zstd(const char *text, size_t bytes, char *out, size_t room)
{
#ifdef HF_WITH_ZSTD
    const size_t used = ZSTD_compress(out, room, text, bytes, 19);
    assert_false(ZSTD_isError(used));
    return used;
#else
    (void)text;
    (void)bytes;
    (void)room;
    memcpy(out, "\x28\xb5\x2f\xfd\0", 5);
    return 5;
#endif
}

typedef size_t (*packer)(const char *text, size_t bytes, char *out, size_t room);

#endif
