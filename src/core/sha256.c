/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 after FIPS 180-4. */
#include "core/sha256.h"

#include <string.h>

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned count)
{
    return (x >> count) | (x << (32U - count));
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64], v[8];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | (uint32_t)block[4 * i + 3];
    for (size_t i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(v, state, sizeof v);
    for (size_t i = 0; i < 64; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choose = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choose + round_constants[i] + w[i];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        for (size_t k = 7; k > 0; k--) v[k] = v[k - 1];
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (size_t i = 0; i < 8; i++) state[i] += v[i];
}

void hfi_sha256_init(hfi_sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->bytes = 0;
}

void hfi_sha256_add(hfi_sha256 *hash, const void *data, size_t bytes)
{
    const unsigned char *in = data;
    size_t filled = (size_t)(hash->bytes % 64);
    hash->bytes += bytes;
    while (bytes > 0) {
        if (filled == 0 && bytes >= 64) {
            compress(hash->state, in);
            in += 64;
            bytes -= 64;
            continue;
        }
        size_t take = 64 - filled < bytes ? 64 - filled : bytes;
        memcpy(hash->block + filled, in, take);
        filled += take;
        in += take;
        bytes -= take;
        if (filled == 64) {
            compress(hash->state, hash->block);
            filled = 0;
        }
    }
}

void hfi_sha256_add_u64(hfi_sha256 *hash, uint64_t value)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++) bytes[i] = (unsigned char)(value >> (8U * i));
    hfi_sha256_add(hash, bytes, sizeof bytes);
}

void hfi_sha256_add_double(hfi_sha256 *hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    hfi_sha256_add_u64(hash, bits);
}

void hfi_sha256_add_text(hfi_sha256 *hash, const char *text)
{
    size_t length = strlen(text);
    hfi_sha256_add_u64(hash, length);
    hfi_sha256_add(hash, text, length);
}

void hfi_sha256_end(hfi_sha256 *hash, unsigned char digest[HFI_SHA256_BYTES])
{
    static const unsigned char padding[64] = {0x80};
    unsigned char length[8];
    uint64_t bits = hash->bytes * 8U;
    for (unsigned i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56U - 8U * i));
    size_t filled = (size_t)(hash->bytes % 64);
    hfi_sha256_add(hash, padding, filled < 56 ? 56 - filled : 120 - filled);
    hfi_sha256_add(hash, length, sizeof length);
    for (size_t i = 0; i < HFI_SHA256_BYTES; i++)
        digest[i] = (unsigned char)(hash->state[i / 4] >> (24U - 8U * (unsigned)(i % 4)));
}

void hfi_sha256_hex(hfi_sha256 *hash, char hex[HFI_SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[HFI_SHA256_BYTES];
    hfi_sha256_end(hash, digest);
    for (size_t i = 0; i < HFI_SHA256_BYTES; i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15U];
    }
    hex[HFI_SHA256_HEX - 1] = '\0';
}
