/* SPDX-License-Identifier: Apache-2.0 */
/* The streamed products of radial kernels once more, in single precision. */
#define HFI_BLOCK_SINGLE
#include "kernel/block_radial.c" /* NOLINT(bugprone-suspicious-include): one text, two precisions */
#include "kernel/block_strip.c"  /* NOLINT(bugprone-suspicious-include) */
