/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file lexer.h
 * @brief Words of the expression language, and messages that point at a character.
 */
#ifndef HFI_KERNEL_LEXER_H
#define HFI_KERNEL_LEXER_H

#include "core/core.h"

typedef enum hfi_token_kind {
    HFI_TOKEN_END,
    HFI_TOKEN_NUMBER,
    HFI_TOKEN_NAME,
    HFI_TOKEN_STRING, /**< quoted; `at` and `length` are of the text between the quotes */
    HFI_TOKEN_SIGN    /**< a single character, in `sign` */
} hfi_token_kind;

typedef struct hfi_token {
    hfi_token_kind kind;
    size_t at, length; /**< bytes of the expression */
    char sign;
    double number;
} hfi_token;

typedef struct hfi_lexer {
    hf_context *ctx;
    const char *text;
    size_t length, next;
    hfi_token token; /**< the current word */
} hfi_lexer;

/** Reads the next word into lexer->token. The calling thread's locale must have '.' as decimal
 * point. */
hf_status hfi_lexer_next(hfi_lexer *lexer);
bool hfi_lexer_is(const hfi_lexer *lexer, char sign);
/** HF_ERR_PARSE with the expression and a caret under byte `at`. */
hf_status hfi_lexer_fail(const hfi_lexer *lexer, size_t at, const char *format, ...)
    HF_PRINTF(3, 4);
/** "expected <what>, not <the current word>". */
hf_status hfi_lexer_expected(const hfi_lexer *lexer, const char *what);

#endif
