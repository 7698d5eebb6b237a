/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sha256.h
 * @brief SHA-256 (FIPS 180-4), for checksums of data, model files and checkpoints; not meant for
 * secrets.
 */
#ifndef HFI_SHA256_H
#define HFI_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct hfi_sha256 {
    uint32_t state[8];
    uint64_t bytes; /* taken in so far */
    unsigned char block[64];
} hfi_sha256;

/** Length of a digest; of its hexadecimal form with the terminating zero. */
enum {
    HFI_SHA256_BYTES = 32,
    HFI_SHA256_HEX = 65
};

void hfi_sha256_init(hfi_sha256 *hash);
void hfi_sha256_add(hfi_sha256 *hash, const void *data, size_t bytes);
/** Little-endian forms, the same on every machine. */
void hfi_sha256_add_u64(hfi_sha256 *hash, uint64_t value);
void hfi_sha256_add_double(hfi_sha256 *hash, double value);
/** The length as a 64-bit number, then the bytes: so that "ab","c" and "a","bc" differ. */
void hfi_sha256_add_text(hfi_sha256 *hash, const char *text);
/** Ends the hash and writes the digest. */
void hfi_sha256_end(hfi_sha256 *hash, unsigned char digest[HFI_SHA256_BYTES]);
/** The same in lower-case hexadecimal. */
void hfi_sha256_hex(hfi_sha256 *hash, char hex[HFI_SHA256_HEX]);

#endif
