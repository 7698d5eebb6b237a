/* SPDX-License-Identifier: Apache-2.0 */
#include "common/room.h"

#include <stdio.h>
#include <stdlib.h>

void *room(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory) {
        fputs("out of memory\n", stderr);
        exit(1);
    }
    return memory;
}
