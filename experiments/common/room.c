/* SPDX-License-Identifier: Apache-2.0 */
#include "common/room.h"

#include <stdio.h>
#include <stdlib.h>

static void *there(void *memory)
{
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

void *room(size_t count, size_t size)
{
    return there(calloc(count ? count : 1, size));
}

void *room_more(void *memory, size_t count, size_t size)
{
    return there(realloc(memory, count * size));
}
