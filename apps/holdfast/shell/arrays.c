/* SPDX-License-Identifier: Apache-2.0 */
#include "shell/tool.h"

#include <stdlib.h>

void free_list(size_t count, void *const *block)
{
    for (size_t k = 0; k < count; k++) free(block[k]);
}

int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int largest_first(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->value != right->value) return left->value < right->value ? 1 : -1;
    return left->index < right->index ? -1 : left->index > right->index;
}
