/* SPDX-License-Identifier: Apache-2.0 */
/* The streamed products of radial kernels once more, in single precision. */
#define HFI_BLOCK_SINGLE
#include "kernel/block_radial.c"
#include "kernel/block_strip.c"
