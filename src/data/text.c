/* SPDX-License-Identifier: Apache-2.0 */
#include "data/text.h"
#include "core/core.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    LONGEST_COMPARED = 64
};

const char *hfi_text_shown(const char *text, char buffer[HFI_SHOWN_BYTES])
{
    const size_t room = HFI_SHOWN_BYTES - sizeof "...";
    size_t length = strnlen(text, HFI_SHOWN_BYTES);
    size_t used = length <= room ? length : room;
    if (used < length)
        while (used > 0 && ((unsigned char)text[used] & 0xC0U) == 0x80U) used--;
    for (size_t i = 0; i < used; i++)
        buffer[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? '?' : text[i];
    memcpy(buffer + used, used < length ? "..." : "\0\0\0", sizeof "...");
    return buffer;
}

const char *hfi_error_text(int error, char buffer[128])
{
    char words[80] = "";
    const char *hint = "";
    if (strerror_r(error, words, sizeof words) != 0) snprintf(words, sizeof words, "system error %d", error);
    if (error == ENOSPC || error == EDQUOT)
        hint = "; free some space or write elsewhere";
    else if (error == ENOENT)
        hint = "; check the name and its folder";
    else if (error == EACCES || error == EPERM || error == EROFS)
        hint = "; choose a place you may use";
    snprintf(buffer, 128, "%s%s", words, hint);
    return buffer;
}

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

size_t hfi_edit_distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_COMPARED + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t rows_count = strnlen(a, LONGEST_COMPARED), columns = strnlen(b, LONGEST_COMPARED);
    for (size_t j = 0; j <= columns; j++) last[j] = before[j] = j;
    for (size_t i = 1; i <= rows_count; i++) {
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
