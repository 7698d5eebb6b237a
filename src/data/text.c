/* SPDX-License-Identifier: Apache-2.0 */
#include "data/text.h"

#include "core/core.h"

#include <errno.h>
#include <string.h>

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
    if (strerror_r(error, words, sizeof words) != 0) hfi_print(words, sizeof words, "system error %d", error);
    if (error == ENOSPC || error == EDQUOT)
        hint = "; free some space or write elsewhere";
    else if (error == ENOENT)
        hint = "; check the name and its folder";
    else if (error == EACCES || error == EPERM || error == EROFS)
        hint = "; choose a place you may use";
    hfi_print(buffer, 128, "%s%s", words, hint);
    return buffer;
}
