/* SPDX-License-Identifier: Apache-2.0 */
/* Names that were nearly right. */
#include "core/core.h"

#include <string.h>

enum {
    LONGEST_COMPARED = 64
};

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

size_t hfi_edit_distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][LONGEST_COMPARED + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    const size_t letters = hfi_smaller(na, LONGEST_COMPARED), columns = hfi_smaller(nb, LONGEST_COMPARED);
    for (size_t j = 0; j <= columns; j++) last[j] = before[j] = j;
    for (size_t i = 1; i <= letters; i++) {
        row[0] = i;
        for (size_t j = 1; j <= columns; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            size_t best = hfi_smaller(hfi_smaller(last[j], row[j - 1]) + 1, last[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                best = hfi_smaller(best, before[j - 2] + 1);
            row[j] = best;
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[columns];
}

void hfi_nearest_begin(hfi_nearest *search, const char *name, size_t length)
{
    /* Half the letters wrong is a different word. */
    *search =
        (hfi_nearest){.name = name, .length = length, .best = NULL, .distance = length / 2 + (length == 1)};
}

void hfi_nearest_offer(hfi_nearest *search, const char *candidate)
{
    const size_t length = strlen(candidate);
    const size_t gap = length > search->length ? length - search->length : search->length - length;
    if (gap > search->distance) return;
    const size_t distance = hfi_edit_distance(search->name, search->length, candidate, length);
    if (distance < search->distance || (distance == search->distance && !search->best)) {
        search->best = candidate;
        search->distance = distance;
    }
}
