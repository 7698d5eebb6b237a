/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file parser.h
 * @brief Shared by the files of the parser of the expression language.
 */
#ifndef HFI_KERNEL_PARSER_H
#define HFI_KERNEL_PARSER_H

#include "kernel/expression.h"

/* ---- words, and messages that point at a character (lexer.c) --------------------------------- */

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

/* ---- expressions (parser.c), arguments (arguments.c), parameters (build.c) ------------------- */

/** A value written for a parameter: lengthscale[0]=2. */
typedef struct hfi_assignment {
    size_t leaf;
    hfi_field field;
    int indices; /**< how many are written: 0, 1 or 2 */
    size_t i, j;
    double value;
    bool held;
    size_t at; /**< byte of the expression */
} hfi_assignment;

/** The product of the numbers in front of a term. */
typedef struct hfi_multiplier {
    double number;
    bool written;
    size_t at;
} hfi_multiplier;

typedef struct hfi_parser {
    hfi_lexer lexer;
    hfi_memory memory;
    const char *const *names;
    size_t d;
    size_t depth;
    hfi_node *nodes;
    hfi_multiplier *factors; /**< beside nodes; meaningful for terms */
    size_t node_count, node_room, factor_room;
    hfi_leaf *leaves;
    size_t leaf_count, leaf_room;
    size_t *columns;
    size_t column_count, column_room;
    hfi_assignment *assignments;
    size_t assignment_count, assignment_room;
    size_t parameters;
    size_t pairs; /**< entries of the matrices of all coregions */
} hfi_parser;

/** Makes room for one more item; the array moves. */
hf_status hfi_parser_grow(hfi_parser *parser, void **items, size_t count, size_t *room,
                          size_t size);

/** The arguments in parentheses after a kernel's name, the current word being "(" or whatever
 * follows the name. */
hf_status hfi_parse_arguments(hfi_parser *parser, size_t leaf);
/** Takes columns with numbers of outputs or codes of categories from the kernels for which none
 * were written; after the whole expression. */
hf_status hfi_hide_codes(hfi_parser *parser);
/** The kernel, with parameters, from what was parsed. */
hf_status hfi_build(hfi_parser *parser, size_t root, hf_kernel **out);

#endif
