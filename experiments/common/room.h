/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file room.h
 * @brief Memory for an experiment, which has nothing better to do without it than to end.
 */
#ifndef EXPERIMENTS_ROOM_H
#define EXPERIMENTS_ROOM_H

#include <stddef.h>

/** `count` zeroed entries of `size` bytes, at least one; ends the program when memory is out. */
void *room(size_t count, size_t size);
/** The same memory with room for `count` entries; what is new is not zeroed. */
void *room_more(void *memory, size_t count, size_t size);

#endif
