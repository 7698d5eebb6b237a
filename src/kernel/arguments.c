/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/parser.h"

#include <float.h>
#include <string.h>

enum {
    COMPONENTS,
    OUTPUTS,
    RANK,
    SHAPES
};

typedef struct arguments {
    size_t leaf, at; /* byte of the kernel's first argument */
    bool ard, iso;
    size_t shape[SHAPES]; /* 0: not given */
} arguments;

/* ---- columns --------------------------------------------------------------------------------- */

hf_status hfi_parser_grow(hfi_parser *parser, void **items, size_t count, size_t *room, size_t size)
{
    void *moved = hfi_memory_grow(&parser->memory, *items, count, count + 1, room, size);
    if (!moved) return hfi_out_of_memory(parser->lexer.ctx);
    *items = moved;
    return HF_OK;
}

/* Bytes of the name that are the whole word, SIZE_MAX when the name begins otherwise; in a quoted word the quote
 * itself is written twice. */
static size_t word_in(const hfi_lexer *lexer, const char *name)
{
    const hfi_token *token = &lexer->token;
    const char *word = lexer->text + token->at;
    size_t k = 0;
    for (size_t i = 0; i < token->length; i++, k++) {
        if (name[k] == '\0' || name[k] != word[i]) return SIZE_MAX;
        if (token->kind == HFI_TOKEN_STRING && word[i] == token->sign) i++;
    }
    return k;
}

/* Whether the word is followed in the name by `mark`: the name's end, or "=" before one text of a column. */
static bool word_is(const hfi_lexer *lexer, const char *name, char mark)
{
    const size_t length = word_in(lexer, name);
    return length != SIZE_MAX && name[length] == mark;
}

/* x1, x2, ...; SIZE_MAX when the word is none. A number too large for d is told apart by the caller. */
static size_t numbered_column(const hfi_lexer *lexer)
{
    const hfi_token *token = &lexer->token;
    const char *word = lexer->text + token->at;
    size_t number = 0;
    if (token->length < 2 || token->length > 12 || word[0] != 'x' || word[1] == '0') return SIZE_MAX;
    for (size_t i = 1; i < token->length; i++) {
        if (word[i] < '0' || word[i] > '9') return SIZE_MAX;
        number = 10 * number + (size_t)(word[i] - '0');
    }
    return number - 1;
}

static hf_status unknown_column(const hfi_parser *parser, size_t numbered)
{
    const hfi_lexer *lexer = &parser->lexer;
    const hfi_token *token = &lexer->token;
    const char *word = lexer->text + token->at;
    const int shown = token->length < 40 ? (int)token->length : 40;
    hfi_nearest search;
    if (numbered != SIZE_MAX)
        return hfi_lexer_fail(lexer, token->at, "there is no input '%.*s': there %s %zu", shown, word,
                              parser->d == 1 ? "is" : "are", parser->d);
    hfi_nearest_begin(&search, word, token->length);
    for (size_t j = 0; parser->names && j < parser->d; j++) hfi_nearest_offer(&search, parser->names[j]);
    const char *column = search.best;
    hfi_nearest_offer(&search, "ard");
    hfi_nearest_offer(&search, "iso");
    if (search.best != column && search.best)
        return hfi_lexer_fail(lexer, token->at, "there is no input '%.*s'; did you mean '%s'?", shown, word,
                              search.best);
    if (column)
        return hfi_lexer_fail(lexer, token->at, "there is no input '%.*s'; did you mean '%.60s'?", shown,
                              word, column);
    return hfi_lexer_fail(lexer, token->at,
                          "there is no input '%.*s'; expected a column (x1 to x%zu or its name), ard, iso or "
                          "a parameter followed by = or ~",
                          shown, word, parser->d);
}

static hf_status add_leaf_column(hfi_parser *parser, size_t leaf, size_t column, size_t at)
{
    const hfi_lexer *lexer = &parser->lexer;
    if (parser->leaves[leaf].form == HFI_FORM_COREGION && parser->leaves[leaf].columns > 0)
        return hfi_lexer_fail(lexer, at,
                              "coregion looks at one column alone, that with the number of the output");
    for (size_t k = parser->leaves[leaf].column_at; k < parser->column_count; k++)
        if (parser->columns[k] == column) return hfi_lexer_fail(lexer, at, "this column is listed twice");
    const hf_status s = hfi_parser_grow(parser, (void **)&parser->columns, parser->column_count,
                                        &parser->column_room, sizeof(size_t));
    if (s < 0) return s;
    parser->columns[parser->column_count++] = column;
    parser->leaves[leaf].columns++;
    return HF_OK;
}

/* A column of text is in the model as one input for each of its texts; its own name stands for all of them. */
static hf_status add_texts(hfi_parser *parser, size_t leaf, size_t at, size_t *added)
{
    hf_status s = HF_OK;
    *added = 0;
    for (size_t j = 0; parser->names && j < parser->d && s >= 0; j++) {
        if (!word_is(&parser->lexer, parser->names[j], '=')) continue;
        s = add_leaf_column(parser, leaf, j, at);
        ++*added;
    }
    return s;
}

static hf_status parse_column(hfi_parser *parser, size_t leaf)
{
    const hfi_lexer *lexer = &parser->lexer;
    const hfi_form form = parser->leaves[leaf].form;
    const size_t at = lexer->token.at;
    size_t column = SIZE_MAX, texts = 0;
    hf_status s;
    if (!hfi_form_sees_columns(form))
        return hfi_lexer_fail(lexer, at, "%s does not look at the inputs: expected variance=... or ')'",
                              hfi_form_name(form));
    for (size_t j = 0; parser->names && j < parser->d && column == SIZE_MAX; j++)
        if (word_is(lexer, parser->names[j], '\0')) column = j;
    const size_t numbered = numbered_column(lexer);
    if (column == SIZE_MAX && lexer->token.kind == HFI_TOKEN_NAME && numbered < parser->d) column = numbered;
    if (column != SIZE_MAX)
        s = add_leaf_column(parser, leaf, column, at);
    else
        s = add_texts(parser, leaf, at, &texts);
    if (s < 0) return s;
    if (column == SIZE_MAX && texts == 0)
        return unknown_column(parser, lexer->token.kind == HFI_TOKEN_NAME ? numbered : SIZE_MAX);
    return hfi_lexer_next(&parser->lexer);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static hf_status parse_index(hfi_parser *parser, size_t *index)
{
    hfi_lexer *lexer = &parser->lexer;
    const double number = lexer->token.number;
    if (lexer->token.kind != HFI_TOKEN_NUMBER) return hfi_lexer_expected(lexer, "an index (0, 1, ...)");
    if (!(number >= 0.0 && number <= (double)HFI_MAX_PARAMETERS && number == (double)(size_t)number))
        return hfi_lexer_expected(lexer, "an index (0, 1, ...)");
    *index = (size_t)number;
    return hfi_lexer_next(lexer);
}

static hf_status parse_indices(hfi_parser *parser, hfi_assignment *assignment)
{
    hfi_lexer *lexer = &parser->lexer;
    if (!hfi_lexer_is(lexer, '[')) return HF_OK;
    hf_status s = hfi_lexer_next(lexer);
    if (s >= 0) s = parse_index(parser, &assignment->i);
    assignment->indices = 1;
    if (s >= 0 && hfi_lexer_is(lexer, ',')) {
        s = hfi_lexer_next(lexer);
        if (s >= 0) s = parse_index(parser, &assignment->j);
        assignment->indices = 2;
    }
    if (s < 0) return s;
    if (!hfi_lexer_is(lexer, ']')) return hfi_lexer_expected(lexer, "']'");
    return hfi_lexer_next(lexer);
}

/* Whole numbers that make a kernel's shape, which are not trained. */
static const struct argument_shape {
    const char *name;
    hfi_form form;
    const char *what;
} SHAPE[SHAPES] = {{"components", HFI_FORM_SM, "components"},
                   {"outputs", HFI_FORM_COREGION, "outputs"},
                   {"rank", HFI_FORM_COREGION, "columns of the factor"}};

/* Which one the word is, or SHAPES. */
static size_t find_shape(const char *word, size_t length)
{
    size_t k = 0;
    while (k < SHAPES && (strlen(SHAPE[k].name) != length || memcmp(word, SHAPE[k].name, length) != 0)) k++;
    return k;
}

static hf_status unknown_parameter(const hfi_parser *parser, hfi_form form)
{
    const hfi_lexer *lexer = &parser->lexer;
    const hfi_token *token = &lexer->token;
    const int shown = token->length < 40 ? (int)token->length : 40;
    hfi_field fields[HFI_MAX_LEAF_FIELDS];
    const size_t count = hfi_form_fields(form, fields);
    hfi_nearest search;
    hfi_nearest_begin(&search, lexer->text + token->at, token->length);
    for (size_t f = 0; f < count; f++) hfi_nearest_offer(&search, hfi_field_name(fields[f]));
    for (size_t k = 0; k < SHAPES; k++)
        if (form == SHAPE[k].form) hfi_nearest_offer(&search, SHAPE[k].name);
    if (!hfi_form_has_amplitude(form)) hfi_nearest_offer(&search, "outputscale");
    return hfi_lexer_fail(lexer, token->at, "%s has no parameter '%.*s'; expected '%s'", hfi_form_name(form),
                          shown, lexer->text + token->at,
                          search.best ? search.best : hfi_field_name(fields[0]));
}

static hf_status parse_shape(hfi_parser *parser, arguments *seen, size_t shape, const hfi_token *name)
{
    hfi_lexer *lexer = &parser->lexer;
    hfi_leaf *leaf = &parser->leaves[seen->leaf];
    const struct argument_shape *wanted = &SHAPE[shape];
    if (leaf->form != wanted->form)
        return hfi_lexer_fail(lexer, name->at, "%s has no %s; %s has", hfi_form_name(leaf->form),
                              wanted->name, hfi_form_name(wanted->form));
    if (seen->shape[shape]) return hfi_lexer_fail(lexer, name->at, "%s is given twice", wanted->name);
    if (!hfi_lexer_is(lexer, '='))
        return hfi_lexer_fail(lexer, lexer->token.at, "expected '=' (the number of %s is not trained)",
                              wanted->what);
    const hf_status s = hfi_lexer_next(lexer);
    if (s < 0) return s;
    const double number = lexer->token.number;
    if (lexer->token.kind != HFI_TOKEN_NUMBER || !(number >= 1.0 && number <= 1000.0) ||
        number != (double)(size_t)number)
        return hfi_lexer_expected(lexer, "a whole number from 1 to 1000");
    seen->shape[shape] = (size_t)number;
    return hfi_lexer_next(lexer);
}

/* The number of a real parameter, whose sign may be written. */
static hf_status parse_real(hfi_parser *parser, double *value)
{
    hfi_lexer *lexer = &parser->lexer;
    const bool negative = hfi_lexer_is(lexer, '-');
    const hf_status s = negative ? hfi_lexer_next(lexer) : HF_OK;
    if (s < 0) return s;
    if (lexer->token.kind != HFI_TOKEN_NUMBER) return hfi_lexer_expected(lexer, "a number");
    if (!(lexer->token.number <= HFI_REAL_MOST))
        return hfi_lexer_fail(lexer, lexer->token.at, "expected a number of size %g at most", HFI_REAL_MOST);
    *value = negative ? -lexer->token.number : lexer->token.number;
    return hfi_lexer_next(lexer);
}

static hf_status parse_value(hfi_parser *parser, hfi_assignment *assignment)
{
    hfi_lexer *lexer = &parser->lexer;
    if (!hfi_lexer_is(lexer, '=') && !hfi_lexer_is(lexer, '~'))
        return hfi_lexer_expected(lexer, "'=' (held at a value) or '~' (trained from a value)");
    assignment->held = hfi_lexer_is(lexer, '=');
    const hf_status s = hfi_lexer_next(lexer);
    if (s < 0) return s;
    if (hfi_field_is_real(assignment->field)) return parse_real(parser, &assignment->value);
    const double value = lexer->token.number;
    if (hfi_lexer_is(lexer, '-') ||
        (lexer->token.kind == HFI_TOKEN_NUMBER && !(value >= DBL_MIN && value <= DBL_MAX)))
        return hfi_lexer_fail(
            lexer, lexer->token.at,
            "expected a positive finite number: every parameter is one but factor, frequency and rate");
    if (lexer->token.kind != HFI_TOKEN_NUMBER) return hfi_lexer_expected(lexer, "a number");
    assignment->value = value;
    return hfi_lexer_next(lexer);
}

static hf_status parse_parameter(hfi_parser *parser, arguments *seen)
{
    hfi_lexer *lexer = &parser->lexer;
    const hfi_token name = lexer->token;
    const hfi_form form = parser->leaves[seen->leaf].form;
    const char *word = lexer->text + name.at;
    hfi_assignment assignment = {.leaf = seen->leaf, .at = name.at};
    const size_t shape = find_shape(word, name.length);
    if (shape < SHAPES) {
        const hf_status s = hfi_lexer_next(lexer);
        return s < 0 ? s : parse_shape(parser, seen, shape, &name);
    }
    assignment.field = hfi_field_find(word, name.length);
    if (assignment.field == HFI_FIELDS ||
        (assignment.field != HFI_FIELD_OUTPUTSCALE && !hfi_form_has_field(form, assignment.field)))
        return unknown_parameter(parser, form);
    hf_status s = hfi_lexer_next(lexer);
    if (s >= 0) s = parse_indices(parser, &assignment);
    if (s >= 0) s = parse_value(parser, &assignment);
    if (s >= 0)
        s = hfi_parser_grow(parser, (void **)&parser->assignments, parser->assignment_count,
                            &parser->assignment_room, sizeof(hfi_assignment));
    if (s >= 0) parser->assignments[parser->assignment_count++] = assignment;
    return s;
}

/* ---- the list -------------------------------------------------------------------------------- */

/* Without a column of that name, a word followed by = ~ or [ can only be a parameter. */
static bool assigns(const hfi_lexer *lexer)
{
    size_t i = lexer->next;
    while (i < lexer->length && strchr(" \t\r\n", lexer->text[i])) i++;
    return lexer->token.kind == HFI_TOKEN_NAME && i < lexer->length && strchr("=~[", lexer->text[i]);
}

static hf_status parse_switch(hfi_parser *parser, arguments *seen, bool ard)
{
    hfi_lexer *lexer = &parser->lexer;
    const hfi_leaf *leaf = &parser->leaves[seen->leaf];
    const size_t at = lexer->token.at;
    if (!hfi_form_sees_columns(leaf->form))
        return hfi_lexer_fail(lexer, at, "%s does not look at the inputs: expected variance=... or ')'",
                              hfi_form_name(leaf->form));
    if (leaf->form == HFI_FORM_COREGION)
        return hfi_lexer_fail(lexer, at, "coregion looks at one column: expected no ard or iso here");
    if (leaf->form == HFI_FORM_SM)
        return hfi_lexer_fail(
            lexer, at, "sm always has a mean and a variance for each input: expected no ard or iso here");
    if (hfi_form_is_plane(leaf->form) && !ard)
        return hfi_lexer_fail(lexer, at, "%s always has a number for each input: expected no iso here",
                              hfi_form_name(leaf->form));
    if (seen->ard || seen->iso) return hfi_lexer_fail(lexer, at, "ard or iso is given already");
    *(ard ? &seen->ard : &seen->iso) = true;
    return hfi_lexer_next(lexer);
}

static hf_status parse_argument(hfi_parser *parser, arguments *seen)
{
    const hfi_lexer *lexer = &parser->lexer;
    const hfi_token *token = &lexer->token;
    if (token->kind == HFI_TOKEN_STRING) return parse_column(parser, seen->leaf);
    if (token->kind != HFI_TOKEN_NAME)
        return hfi_lexer_expected(lexer, "a column, ard, iso, a parameter or ')'");
    if (assigns(lexer)) return parse_parameter(parser, seen);
    if (word_is(lexer, "ard", '\0')) return parse_switch(parser, seen, true);
    if (word_is(lexer, "iso", '\0')) return parse_switch(parser, seen, false);
    const size_t length = token->length;
    const char *word = lexer->text + token->at;
    const hfi_field field = hfi_field_find(word, length);
    const hf_status s = parse_column(parser, seen->leaf);
    if (s == HF_ERR_PARSE && field != HFI_FIELDS) {
        const size_t at = (size_t)(word - lexer->text);
        return hfi_lexer_fail(lexer, at,
                              "%s needs a value here: expected %s=number (held) or %s~number (trained)",
                              hfi_field_name(field), hfi_field_name(field), hfi_field_name(field));
    }
    return s;
}

/* The shape of a coregion must be written. */
static hf_status close_coregion(hfi_parser *parser, const arguments *seen)
{
    const hfi_lexer *lexer = &parser->lexer;
    hfi_leaf *leaf = &parser->leaves[seen->leaf];
    if (leaf->columns == 0)
        return hfi_lexer_fail(lexer, seen->at,
                              "coregion needs the column with the number of the output (0, 1, ...): "
                              "coregion(COLUMN, outputs=...)");
    if (seen->shape[OUTPUTS] == 0)
        return hfi_lexer_fail(lexer, seen->at,
                              "coregion needs the number of outputs: outputs=2, for example");
    leaf->outputs = seen->shape[OUTPUTS];
    leaf->rank = seen->shape[RANK] ? seen->shape[RANK] : leaf->outputs;
    if (leaf->rank > leaf->outputs)
        return hfi_lexer_fail(lexer, seen->at, "rank=%zu is more than outputs=%zu", leaf->rank,
                              leaf->outputs);
    parser->pairs += leaf->outputs * leaf->outputs;
    if (parser->pairs > HFI_MAX_PAIRS)
        return hfi_lexer_fail(lexer, seen->at, "the coregions together have more than %u pairs of outputs",
                              HFI_MAX_PAIRS);
    return HF_OK;
}

static hf_status close_category(const hfi_parser *parser, const arguments *seen)
{
    if (parser->leaves[seen->leaf].columns > 0) return HF_OK;
    return hfi_lexer_fail(&parser->lexer, seen->at,
                          "category needs the columns with the codes (0, 1, ...): category(COLUMN, ...)");
}

static hf_status see_all_columns(hfi_parser *parser, hfi_leaf *leaf, size_t at)
{
    if (parser->column_count + parser->d > HFI_MAX_PARAMETERS)
        return hfi_lexer_fail(&parser->lexer, at, "the kernels together look at more than %u inputs",
                              HFI_MAX_PARAMETERS);
    for (size_t j = 0; j < parser->d; j++) {
        const hf_status s = hfi_parser_grow(parser, (void **)&parser->columns, parser->column_count,
                                            &parser->column_room, sizeof(size_t));
        if (s < 0) return s;
        parser->columns[parser->column_count++] = j;
    }
    leaf->columns = parser->d;
    leaf->unwritten = true;
    return HF_OK;
}

/* The indices written for a parameter, when the leaf's shape is known. */
static hf_status check_indices(const hfi_parser *parser, const hfi_assignment *given)
{
    const hfi_lexer *lexer = &parser->lexer;
    const hfi_leaf *leaf = &parser->leaves[given->leaf];
    const char *name = hfi_field_name(given->field);
    hfi_place last = {.i = 0};
    if (given->field == HFI_FIELD_OWN && hfi_leaf_entries(leaf, given->field) == 0)
        return hfi_lexer_fail(lexer, given->at,
                              "there is no own where rank = outputs: the factor alone makes every B");
    if (given->indices == 0) return HF_OK;
    if (given->field != HFI_FIELD_OUTPUTSCALE) {
        const size_t end = hfi_leaf_at(leaf, given->field) + hfi_leaf_entries(leaf, given->field) - 1;
        hfi_leaf_place(leaf, end - leaf->first, &last);
    }
    if (given->indices != last.dimensions && !(given->indices == 1 && last.dimensions == 0))
        return hfi_lexer_fail(lexer, given->at, "%s takes %d ind%s here, not %d", name, last.dimensions,
                              last.dimensions == 1 ? "ex" : "ices", given->indices);
    if (given->i > last.i)
        return hfi_lexer_fail(lexer, given->at, "%s[%zu]: expected an index from 0 to %zu", name, given->i,
                              last.i);
    if (given->j > last.j)
        return hfi_lexer_fail(lexer, given->at, "%s[%zu,%zu]: expected a second index from 0 to %zu", name,
                              given->i, given->j, last.j);
    if (given->field == HFI_FIELD_FACTOR && given->j > given->i)
        return hfi_lexer_fail(lexer, given->at,
                              "%s[%zu,%zu] is zero and no parameter: it is above the diagonal", name,
                              given->i, given->j);
    return HF_OK;
}

/* Columns if none are written, shapes, indices in range, and the count of parameters so far. */
static hf_status close_leaf(hfi_parser *parser, const arguments *seen, size_t first_assignment)
{
    const hfi_lexer *lexer = &parser->lexer;
    hfi_leaf *leaf = &parser->leaves[seen->leaf];
    hf_status s = HF_OK;
    leaf->ard = seen->ard || hfi_form_is_plane(leaf->form);
    leaf->at = seen->at;
    if (leaf->form == HFI_FORM_SM) leaf->components = seen->shape[COMPONENTS] ? seen->shape[COMPONENTS] : 2;
    if (leaf->form == HFI_FORM_COREGION)
        s = close_coregion(parser, seen);
    else if (leaf->form == HFI_FORM_CATEGORY)
        s = close_category(parser, seen);
    else if (hfi_form_sees_columns(leaf->form) && leaf->columns == 0)
        s = see_all_columns(parser, leaf, seen->at);
    if (s < 0) return s;
    parser->parameters += hfi_leaf_parameters(leaf);
    if (parser->parameters > HFI_MAX_PARAMETERS)
        return hfi_lexer_fail(lexer, seen->at, "more than %u parameters", HFI_MAX_PARAMETERS);
    for (size_t a = first_assignment; s >= 0 && a < parser->assignment_count; a++)
        s = check_indices(parser, &parser->assignments[a]);
    return s;
}

/* ---- numbers of outputs and codes are no inputs of the other kernels ------------------------- */

static bool is_code(const hfi_parser *parser, size_t column)
{
    for (size_t l = 0; l < parser->leaf_count; l++) {
        const hfi_leaf *leaf = &parser->leaves[l];
        for (size_t a = 0; hfi_form_sees_codes(leaf->form) && a < leaf->columns; a++)
            if (parser->columns[leaf->column_at + a] == column) return true;
    }
    return false;
}

static bool has_codes(const hfi_parser *parser)
{
    for (size_t l = 0; l < parser->leaf_count; l++)
        if (hfi_form_sees_codes(parser->leaves[l].form)) return true;
    return false;
}

hf_status hfi_hide_codes(hfi_parser *parser)
{
    if (!has_codes(parser)) return HF_OK;
    for (size_t l = 0; l < parser->leaf_count; l++) {
        hfi_leaf *leaf = &parser->leaves[l];
        if (!leaf->unwritten) continue;
        size_t *columns = parser->columns + leaf->column_at, kept = 0;
        for (size_t j = 0; j < leaf->columns; j++)
            if (!is_code(parser, columns[j])) columns[kept++] = columns[j];
        if (kept == 0)
            return hfi_lexer_fail(&parser->lexer, leaf->at,
                                  parser->pairs > 0
                                      ? "no input is left for %s beside the number of the output"
                                      : "no input is left for %s beside the codes of categories",
                                  hfi_form_name(leaf->form));
        parser->parameters -= hfi_leaf_parameters(leaf);
        leaf->columns = kept;
        parser->parameters += hfi_leaf_parameters(leaf);
    }
    hf_status s = HF_OK;
    for (size_t a = 0; s >= 0 && a < parser->assignment_count; a++)
        s = check_indices(parser, &parser->assignments[a]);
    return s;
}

hf_status hfi_parse_arguments(hfi_parser *parser, size_t leaf)
{
    hfi_lexer *lexer = &parser->lexer;
    arguments seen = {.leaf = leaf, .at = lexer->token.at};
    const size_t first_assignment = parser->assignment_count;
    hf_status s = HF_OK;
    if (hfi_lexer_is(lexer, '(')) {
        s = hfi_lexer_next(lexer);
        if (s >= 0 && !hfi_lexer_is(lexer, ')')) s = parse_argument(parser, &seen);
        while (s >= 0 && hfi_lexer_is(lexer, ',')) {
            s = hfi_lexer_next(lexer);
            if (s >= 0) s = parse_argument(parser, &seen);
        }
        if (s < 0) return s;
        if (!hfi_lexer_is(lexer, ')')) return hfi_lexer_expected(lexer, "',' or ')'");
        s = hfi_lexer_next(lexer);
    }
    return s < 0 ? s : close_leaf(parser, &seen, first_assignment);
}
