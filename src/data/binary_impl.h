/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file binary_impl.h
 * @brief Numbers of the format that binary.h describes; for src/data/binary*.c only.
 */
#ifndef HFI_DATA_BINARY_IMPL_H
#define HFI_DATA_BINARY_IMPL_H

#include "data/binary.h"

#define HFI_BINARY_MAGIC   "holdfast table\0" /* 16 bytes with the last zero */
#define HFI_BINARY_END     "end tab"          /* 8 */
#define HFI_BINARY_VERSION UINT64_C(1)
#define HFI_BINARY_ORDER   UINT64_C(0x0102030405060708)

enum {
    HFI_BINARY_HEAD = 32,
    HFI_BINARY_TAIL = 56, /* place, length, digest, end mark */
    HFI_BINARY_CHUNK = 1 << 20
};

#endif
