/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/parser.h"

#include <stdlib.h>
#include <string.h>

#define SHOWN       96u /* bytes of the expression that a message shows */
#define LONG_NUMBER 64u

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes above ASCII belong to UTF-8 letters: a column may be named in any language without quotes. */
static bool begins_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool continues_name(char c)
{
    return begins_name(c) || is_digit(c) || c == '.';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_utf8_tail(char c)
{
    return ((unsigned char)c & 0xC0u) == 0x80u;
}

/* The part of the expression around byte `at` that fits on a line, and how many characters stand left of the
 * caret. */
static size_t excerpt(const hfi_lexer *lexer, size_t at, char line[SHOWN + 8])
{
    const char *text = lexer->text;
    size_t from = 0, to = lexer->length, used = 0, caret = 0;
    if (lexer->length > SHOWN) {
        from = at > SHOWN / 2 ? at - SHOWN / 2 : 0;
        to = lexer->length - from > SHOWN ? from + SHOWN : lexer->length;
        while (from < at && is_utf8_tail(text[from])) from++;
        while (to > at && to < lexer->length && is_utf8_tail(text[to])) to--;
    }
    if (from > 0) {
        memcpy(line, "...", 3);
        used = caret = 3;
    }
    for (size_t i = from; i < to; i++) {
        if (i < at && !is_utf8_tail(text[i])) caret++;
        line[used++] = (unsigned char)text[i] < 0x20 || text[i] == 0x7F ? ' ' : text[i];
    }
    if (to < lexer->length) {
        memcpy(line + used, "...", 3);
        used += 3;
    }
    line[used] = '\0';
    return caret;
}

hf_status hfi_lexer_fail(const hfi_lexer *lexer, size_t at, const char *format, ...)
{
    char reason[400], line[SHOWN + 8];
    va_list args;
    va_start(args, format);
    (void)hfi_print_list(reason, sizeof reason, format, args);
    va_end(args);
    const size_t caret = excerpt(lexer, at, line);
    size_t character = 1;
    for (size_t i = 0; i < at; i++) character += !is_utf8_tail(lexer->text[i]);
    return hfi_fail(lexer->ctx, HF_ERR_PARSE, "kernel expression, character %zu: %s\n  %s\n  %*s^", character,
                    reason, line, (int)caret, "");
}

hf_status hfi_lexer_expected(const hfi_lexer *lexer, const char *what)
{
    const hfi_token *token = &lexer->token;
    const size_t at = token->kind == HFI_TOKEN_STRING ? token->at - 1 : token->at;
    if (token->kind == HFI_TOKEN_END)
        return hfi_lexer_fail(lexer, at, "expected %s, but the expression ends", what);
    const int shown = token->length < 40 ? (int)token->length : 40;
    return hfi_lexer_fail(lexer, at, "expected %s, not '%.*s'", what, shown, lexer->text + token->at);
}

bool hfi_lexer_is(const hfi_lexer *lexer, char sign)
{
    return lexer->token.kind == HFI_TOKEN_SIGN && lexer->token.sign == sign;
}

static hf_status read_number(hfi_lexer *lexer)
{
    const char *text = lexer->text;
    const size_t at = lexer->next;
    size_t i = at;
    while (is_digit(text[i])) i++;
    if (text[i] == '.') i++;
    while (is_digit(text[i])) i++;
    if (text[i] == 'e' || text[i] == 'E') {
        size_t k = i + 1;
        if (text[k] == '+' || text[k] == '-') k++;
        if (is_digit(text[k])) {
            while (is_digit(text[k])) k++;
            i = k;
        }
    }
    char digits[LONG_NUMBER + 1];
    if (i - at > LONG_NUMBER)
        return hfi_lexer_fail(lexer, at, "a number of %zu characters; at most %u are read", i - at,
                              LONG_NUMBER);
    memcpy(digits, text + at, i - at);
    digits[i - at] = '\0';
    lexer->token = (hfi_token){HFI_TOKEN_NUMBER, at, i - at, '\0', hfi_strtod(digits, NULL)};
    lexer->next = i;
    return HF_OK;
}

static hf_status read_string(hfi_lexer *lexer)
{
    const char *text = lexer->text;
    const size_t at = lexer->next;
    const char quote = text[at];
    size_t i = at + 1;
    /* A quote inside the name is written twice. */
    while (i < lexer->length && (text[i] != quote || text[i + 1] == quote)) i += text[i] == quote ? 2 : 1;
    if (i >= lexer->length)
        return hfi_lexer_fail(lexer, at, "this quote is never closed: expected %c", quote);
    lexer->token = (hfi_token){HFI_TOKEN_STRING, at + 1, i - at - 1, quote, 0.0};
    lexer->next = i + 1;
    return HF_OK;
}

hf_status hfi_lexer_next(hfi_lexer *lexer)
{
    const char *text = lexer->text;
    while (is_space(text[lexer->next])) lexer->next++;
    const size_t at = lexer->next;
    const char c = text[at];
    if (at >= lexer->length) {
        lexer->token = (hfi_token){HFI_TOKEN_END, at, 0, '\0', 0.0};
        return HF_OK;
    }
    if (is_digit(c) || (c == '.' && is_digit(text[at + 1]))) return read_number(lexer);
    if (c == '\'' || c == '"') return read_string(lexer);
    if (begins_name(c)) {
        size_t i = at;
        while (continues_name(text[i])) i++;
        lexer->token = (hfi_token){HFI_TOKEN_NAME, at, i - at, '\0', 0.0};
        lexer->next = i;
        return HF_OK;
    }
    if (!strchr("+*(),=~[]-", c))
        return hfi_lexer_fail(lexer, at,
                              "this character has no meaning here; quote a column name that contains it");
    lexer->token = (hfi_token){HFI_TOKEN_SIGN, at, 1, c, 0.0};
    lexer->next = at + 1;
    return HF_OK;
}
