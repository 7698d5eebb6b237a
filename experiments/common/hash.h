/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file hash.h
 * @brief Numbers made of names, the same on every machine.
 */
#ifndef EXPERIMENTS_HASH_H
#define EXPERIMENTS_HASH_H

#include <stdint.h>

/** FNV-1a of 32 bits (Fowler, Noll and Vo). */
uint32_t fnv1a(const char *text);

#endif
