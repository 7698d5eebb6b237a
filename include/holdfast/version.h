/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file version.h
 * @brief Version of the headers (macros) and of the library that runs (functions).
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_VERSION_H
#define HOLDFAST_VERSION_H

#include <holdfast/export.h>

#define HF_VERSION_MAJOR  0
#define HF_VERSION_MINOR  1
#define HF_VERSION_PATCH  0
#define HF_VERSION_STRING "0.1.0"

HF_BEGIN_DECLS

/** Version of the library that runs, e.g. "0.1.0". */
HF_API const char *hf_version(void);

/** The libraries that this one runs on, one line, e.g. "OpenBLAS 0.3.21 serial"; "reference BLAS
 * (slow)" names the slow one. Static string or one owned by the library; do not free. Thread-safe.
 */
HF_API const char *hf_blas_description(void);

/** Vectors of the library's own loops, one line: "AVX-512", "AVX2" or "generic" (what every
 * processor of the architecture has). It also says whether it was chosen at run time or fixed when
 * built (HF_VECTOR, docs/building.md). Digits may differ between them by rounding. Static string;
 * do not free. Thread-safe. O(1). */
HF_API const char *hf_vector_description(void);

/** True when the BLAS in use is known to be several times slower than it need be. */
HF_API int hf_blas_is_slow(void);

HF_END_DECLS

#endif
