/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file text.h
 * @brief Text from files in messages.
 */
#ifndef HFI_DATA_TEXT_H
#define HFI_DATA_TEXT_H

enum {
    HFI_SHOWN_BYTES = 56
};

/** Text as it may appear in a message: control characters (a file could hold terminal commands)
 * become '?', long text ends in "...", UTF-8 characters are not cut. Returns buffer. */
const char *hfi_text_shown(const char *text, char buffer[HFI_SHOWN_BYTES]);

/** Words for a system error number, thread-safe, with what to do about the usual ones. Returns
 * buffer. */
const char *hfi_error_text(int error, char buffer[128]);

#endif
