/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/parser.h"

#include "linalg/linalg.h"

#include <float.h>
#include <string.h>

static const char FACTOR[] = "a kernel, a number or '('";

static hf_status add_node(hfi_parser *parser, hfi_node_kind kind, size_t *node)
{
    const size_t count = parser->node_count;
    hf_status s =
        hfi_parser_grow(parser, (void **)&parser->nodes, count, &parser->node_room, sizeof(hfi_node));
    if (s >= 0)
        s = hfi_parser_grow(parser, (void **)&parser->factors, count, &parser->factor_room,
                            sizeof(hfi_multiplier));
    if (s < 0) return s;
    parser->nodes[count] = (hfi_node){kind, HFI_NONE, HFI_NONE, HFI_NONE, HFI_NONE, HFI_NONE};
    parser->factors[count] = (hfi_multiplier){1.0, false, 0};
    parser->node_count++;
    *node = count;
    return HF_OK;
}

static hf_status add_leaf(hfi_parser *parser, hfi_form form, size_t *leaf)
{
    const size_t count = parser->leaf_count;
    if (count >= HFI_MAX_LEAVES)
        return hfi_lexer_fail(&parser->lexer, parser->lexer.token.at,
                              "more than %u kernels in one expression", HFI_MAX_LEAVES);
    const hf_status s =
        hfi_parser_grow(parser, (void **)&parser->leaves, count, &parser->leaf_room, sizeof(hfi_leaf));
    if (s < 0) return s;
    parser->leaves[count] = (hfi_leaf){.form = form, .column_at = parser->column_count};
    parser->leaf_count++;
    *leaf = count;
    return HF_OK;
}

static void append_child(hfi_parser *parser, size_t parent, size_t first)
{
    size_t *link = &parser->nodes[parent].child;
    while (*link != HFI_NONE) link = &parser->nodes[*link].next;
    *link = first;
}

static hf_status add_leaf_node(hfi_parser *parser, size_t term, hfi_form form, size_t *leaf)
{
    size_t node = 0;
    hf_status s = add_leaf(parser, form, leaf);
    if (s >= 0) s = add_node(parser, HFI_NODE_LEAF, &node);
    if (s < 0) return s;
    parser->nodes[node].leaf = *leaf;
    append_child(parser, term, node);
    return HF_OK;
}

/* A product of positive numbers must stay one. */
static hf_status multiply_term_factor(hfi_parser *parser, size_t term, double number, size_t at)
{
    hfi_multiplier *factor = &parser->factors[term];
    const double product = factor->number * number;
    if (!(product >= DBL_MIN && product <= DBL_MAX))
        return hfi_lexer_fail(&parser->lexer, at,
                              "a factor is a variance: expected a positive finite number");
    *factor = (hfi_multiplier){product, true, factor->written ? factor->at : at};
    return HF_OK;
}

static hf_status unknown_kernel(hfi_parser *parser)
{
    const hfi_lexer *lexer = &parser->lexer;
    const hfi_token *token = &lexer->token;
    const char *name = lexer->text + token->at;
    const int shown = token->length < 40 ? (int)token->length : 40;
    const char *nearest = hfi_nearest_form(name, token->length);
    if (nearest)
        return hfi_lexer_fail(lexer, token->at, "there is no kernel '%.*s'; did you mean '%s'?", shown, name,
                              nearest);
    return hfi_lexer_fail(lexer, token->at,
                          "there is no kernel '%.*s'; expected se, matern12, matern32, matern52, rq, "
                          "periodic, linear, constant, white, sm, coregion or category",
                          shown, name);
}

/* Terms of numbers alone become constants that start there. A lone number in parentheses does not: it is a
 * factor. */
static hf_status close_terms(hfi_parser *parser, size_t sum)
{
    hf_status s = HF_OK;
    for (size_t t = parser->nodes[sum].child; s >= 0 && t != HFI_NONE; t = parser->nodes[t].next) {
        size_t leaf = 0;
        if (parser->nodes[t].child != HFI_NONE) continue;
        s = add_leaf_node(parser, t, HFI_FORM_CONSTANT, &leaf);
        if (s >= 0) parser->parameters++;
    }
    return s;
}

static hf_status parse_sum(hfi_parser *parser, size_t *sum);

/* "(" sum ")": a sum of one term is that term, whose factors and number join the product around it. */
static hf_status parse_group(hfi_parser *parser, size_t term)
{
    hfi_lexer *lexer = &parser->lexer;
    const size_t open = lexer->token.at;
    size_t sum = 0;
    if (parser->depth >= HFI_MAX_DEPTH)
        return hfi_lexer_fail(lexer, open, "parentheses nested more than %u deep", HFI_MAX_DEPTH);
    hf_status s = hfi_lexer_next(lexer);
    parser->depth++;
    if (s >= 0) s = parse_sum(parser, &sum);
    parser->depth--;
    if (s < 0) return s;
    if (!hfi_lexer_is(lexer, ')')) return hfi_lexer_expected(lexer, "'+', '*' or ')'");
    s = hfi_lexer_next(lexer);
    const size_t only = parser->nodes[sum].child;
    if (s < 0) return s;
    if (parser->nodes[only].next != HFI_NONE) {
        append_child(parser, term, sum);
        return close_terms(parser, sum);
    }
    append_child(parser, term, parser->nodes[only].child);
    const hfi_multiplier inner = parser->factors[only];
    return inner.written ? multiply_term_factor(parser, term, inner.number, inner.at) : HF_OK;
}

static hf_status parse_factor(hfi_parser *parser, size_t term)
{
    hfi_lexer *lexer = &parser->lexer;
    const hfi_token token = lexer->token;
    if (token.kind == HFI_TOKEN_NUMBER) {
        const hf_status s = multiply_term_factor(parser, term, token.number, token.at);
        return s < 0 ? s : hfi_lexer_next(lexer);
    }
    if (hfi_lexer_is(lexer, '(')) return parse_group(parser, term);
    if (token.kind != HFI_TOKEN_NAME) return hfi_lexer_expected(lexer, FACTOR);
    const hfi_form form = hfi_form_find(lexer->text + token.at, token.length);
    if (form == HFI_FORMS) return unknown_kernel(parser);
    size_t leaf = 0;
    hf_status s = add_leaf_node(parser, term, form, &leaf);
    if (s >= 0) s = hfi_lexer_next(lexer);
    if (s >= 0) s = hfi_parse_arguments(parser, leaf);
    return s;
}

static hf_status parse_term(hfi_parser *parser, size_t term)
{
    hf_status s = parse_factor(parser, term);
    while (s >= 0 && hfi_lexer_is(&parser->lexer, '*')) {
        s = hfi_lexer_next(&parser->lexer);
        if (s >= 0) s = parse_factor(parser, term);
    }
    return s;
}

/* Number times sum: every term of the sum takes the number, so that no factor stands beside a lone sum. */
static hf_status distribute(hfi_parser *parser, size_t sum, hfi_multiplier factor)
{
    hf_status s = HF_OK;
    for (size_t t = parser->nodes[sum].child; s >= 0 && t != HFI_NONE; t = parser->nodes[t].next)
        s = multiply_term_factor(parser, t, factor.number, factor.at);
    return s;
}

static hf_status parse_sum(hfi_parser *parser, size_t *sum)
{
    hfi_lexer *lexer = &parser->lexer;
    hf_status s = add_node(parser, HFI_NODE_SUM, sum);
    bool more = true;
    while (s >= 0 && more) {
        size_t term = 0;
        s = add_node(parser, HFI_NODE_TERM, &term);
        if (s >= 0) s = parse_term(parser, term);
        if (s < 0) return s;
        const size_t first = parser->nodes[term].child;
        const bool lone_sum = first != HFI_NONE && parser->nodes[first].kind == HFI_NODE_SUM &&
                              parser->nodes[first].next == HFI_NONE;
        append_child(parser, *sum, lone_sum ? parser->nodes[first].child : term);
        if (lone_sum && parser->factors[term].written) s = distribute(parser, first, parser->factors[term]);
        more = hfi_lexer_is(lexer, '+');
        if (more && s >= 0) s = hfi_lexer_next(lexer);
    }
    return s;
}

static hf_status parse_expression(hfi_parser *parser, size_t *root)
{
    hfi_lexer *lexer = &parser->lexer;
    hf_status s = hfi_lexer_next(lexer);
    if (s >= 0) s = parse_sum(parser, root);
    if (s < 0) return s;
    if (lexer->token.kind == HFI_TOKEN_END) return close_terms(parser, *root);
    if (hfi_lexer_is(lexer, '-'))
        return hfi_lexer_fail(lexer, lexer->token.at,
                              "kernels cannot be subtracted; expected '+', '*' or the end");
    if (hfi_lexer_is(lexer, ')'))
        return hfi_lexer_fail(lexer, lexer->token.at,
                              "this ')' closes nothing; expected '+', '*' or the end");
    return hfi_lexer_expected(lexer, "'+', '*' or the end");
}

static void free_parser(hfi_parser *parser)
{
    HFI_MEMORY_FREE(&parser->memory, parser->nodes, parser->factors, parser->leaves, parser->columns,
                    parser->assignments);
}

static hf_status check_arguments(hf_context *ctx, const char *expression, const char *const *names, size_t d)
{
    if (d == 0) return hfi_refuse(ctx, "a kernel needs at least 1 input, not 0");
    if (d > HFI_MAX_PARAMETERS)
        return hfi_refuse(ctx, "a kernel of %zu inputs; at most %u are supported", d, HFI_MAX_PARAMETERS);
    for (size_t j = 0; names && j < d; j++)
        if (!names[j]) return hfi_refuse(ctx, "the name of input %zu of %zu is NULL", j + 1, d);
    if (strnlen(expression, HFI_MAX_LENGTH + 1) > HFI_MAX_LENGTH)
        return hfi_fail(ctx, HF_ERR_PARSE, "a kernel expression of more than %u bytes is refused",
                        HFI_MAX_LENGTH);
    return HF_OK;
}

hf_status hf_kernel_parse(hf_context *ctx, const char *expression, const char *const *names, size_t d,
                          hf_kernel **out)
{
    if (!ctx || !out) return hfi_refuse(ctx, "hf_kernel_parse needs a context and a place for the result");
    const char *text = expression ? expression : "matern52(ard)";
    hf_status s = check_arguments(ctx, text, names, d);
    if (s >= 0) s = hfi_blas_reserve(ctx); /* nobody parses a kernel who does not go on to call BLAS */
    if (s < 0) return s;
    hfi_parser parser = {.lexer = {.ctx = ctx, .text = text, .length = strlen(text)},
                         .memory = hfi_context_memory(ctx),
                         .names = names,
                         .d = d};
    size_t root = 0;
    hf_kernel *kernel = NULL;
    s = parse_expression(&parser, &root);
    if (s >= 0) s = hfi_hide_codes(&parser);
    if (s >= 0) s = hfi_build(&parser, root, &kernel);
    free_parser(&parser);
    if (s >= 0) *out = kernel;
    return s;
}
