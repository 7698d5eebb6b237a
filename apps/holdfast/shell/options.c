/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments by a verb's table of options. */
#include "shell/tool.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- finding options ------------------------------------------------------------------------- */

static const tool_option *find_option(const tool_verb *verb, const char *name, size_t length)
{
    for (size_t i = 0; i < option_total(verb) + common_option_count; i++) {
        const tool_option *candidate = option_at(verb, i);
        if (strlen(candidate->name) == length && memcmp(candidate->name, name, length) == 0) return candidate;
    }
    return NULL;
}

static const tool_option *find_letter(const tool_verb *verb, char letter)
{
    for (size_t i = 0; i < option_total(verb) + common_option_count; i++)
        if (option_at(verb, i)->letter == letter) return option_at(verb, i);
    return NULL;
}

/* Letters that two names share at their beginning plus those at their end: enough to guess what was meant. */
static size_t likeness(const char *a, const char *b, size_t length)
{
    size_t front = 0, back = 0, other = strlen(b);
    while (front < length && front < other && a[front] == b[front]) front++;
    while (back + front < length && back + front < other && a[length - 1 - back] == b[other - 1 - back])
        back++;
    return front + back;
}

static int unknown_option(const tool_verb *verb, const char *name, size_t length)
{
    const tool_option *best = NULL;
    size_t best_likeness = 0;
    for (size_t i = 0; i < option_total(verb) + common_option_count; i++) {
        size_t like = likeness(name, option_at(verb, i)->name, length);
        if (like > best_likeness) {
            best_likeness = like;
            best = option_at(verb, i);
        }
    }
    if (best != NULL && 2 * best_likeness > length)
        return usage_error(verb, "unknown option --%.*s; did you mean --%s?", (int)length, name, best->name);
    return usage_error(verb, "unknown option --%.*s", (int)length, name);
}

/* ---- parsing --------------------------------------------------------------------------------- */

static int add_option(tool_arguments *to, const tool_option *which, const char *value)
{
    if ((which->traits & TOOL_REPEATS) == 0)
        for (size_t i = 0; i < to->count; i++)
            if (to->list[i].option == which) return usage_error(to->verb, "--%s is given twice", which->name);
    to->list[to->count++] = (tool_given){which, value};
    return TOOL_OK;
}

/* One argument that begins with a dash; *next moves on when the value is the following one. */
static int parse_option(tool_arguments *to, int argc, char **argv, int *next)
{
    const char *text = argv[*next];
    const tool_option *which;
    const char *value = NULL;
    if (text[1] == '-') {
        const char *name = text + 2;
        size_t length = strcspn(name, "=");
        which = find_option(to->verb, name, length);
        if (which == NULL) return unknown_option(to->verb, name, length);
        if (name[length] == '=') value = name + length + 1;
    } else {
        which = find_letter(to->verb, text[1]);
        if (which == NULL) return usage_error(to->verb, "unknown option -%c", text[1]);
        if (text[2] != '\0') value = text + 2;
    }
    if (which->argument == NULL && value != NULL)
        return usage_error(to->verb, "--%s takes no value", which->name);
    if (which->argument != NULL && value == NULL) {
        if (*next + 1 >= argc)
            return usage_error(to->verb, "--%s needs a value: %s", which->name, which->argument);
        value = argv[++*next];
    }
    return add_option(to, which, value);
}

static int check_operands(const tool_arguments *arguments)
{
    const tool_verb *verb = arguments->verb;
    if (arguments->operands < verb->least)
        return usage_error(verb, "%s is missing: holdfast %s %s",
                           arguments->operands == 0 ? "a file" : "an argument", verb->name, verb->operands);
    if (arguments->operands > verb->most)
        return usage_error(verb, "unexpected argument '%s'", arguments->operand[verb->most]);
    return TOOL_OK;
}

/* -3.2 is a number: no option has a digit for a letter. */
static bool is_negative(const char *text)
{
    char *end;
    if (!isdigit((unsigned char)text[1]) && text[1] != '.') return false;
    strtod(text, &end);
    return *end == '\0';
}

int arguments_parse(const tool_verb *verb, int argc, char **argv, tool_arguments *out)
{
    *out = (tool_arguments){.verb = verb};
    size_t room = argc > 0 ? (size_t)argc : 1;
    out->operand = calloc(room, sizeof *out->operand);
    out->list = calloc(room, sizeof *out->list);
    if (out->operand == NULL || out->list == NULL) {
        arguments_free(out);
        return complain("out of memory");
    }
    int status = TOOL_OK;
    bool options = true;
    for (int i = 0; i < argc && status == TOOL_OK; i++) {
        if (options && strcmp(argv[i], "--") == 0)
            options = false;
        else if (options && argv[i][0] == '-' && argv[i][1] != '\0' && !is_negative(argv[i]))
            status = parse_option(out, argc, argv, &i);
        else
            out->operand[out->operands++] = argv[i];
        if (verb->most == SIZE_MAX && out->operands > 0) options = false;
    }
    if (status == TOOL_OK && !has_argument(out, "help")) status = check_operands(out);
    if (status != TOOL_OK) arguments_free(out);
    return status;
}

void arguments_free(tool_arguments *arguments)
{
    TOOL_FREE(arguments->operand, arguments->list);
    arguments->operand = NULL;
    arguments->list = NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static const tool_given *find_given(const tool_arguments *arguments, const char *name)
{
    for (size_t i = 0; i < arguments->count; i++)
        if (strcmp(arguments->list[i].option->name, name) == 0) return &arguments->list[i];
    return NULL;
}

const char *argument(const tool_arguments *arguments, const char *name)
{
    const tool_given *found = find_given(arguments, name);
    return found != NULL ? found->value : NULL;
}

bool has_argument(const tool_arguments *arguments, const char *name)
{
    return find_given(arguments, name) != NULL;
}

bool argument_double(const tool_arguments *arguments, const char *name, double *value)
{
    const char *text = argument(arguments, name);
    if (text == NULL) return true;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end != '\0' || isnan(number)) {
        usage_error(arguments->verb, "--%s: '%s' is not a number", name, text);
        return false;
    }
    *value = number;
    return true;
}

bool is_label(const char *label, const char *text, bool numbers)
{
    if (!numbers) return strcmp(label, text) == 0;
    char *end, *other;
    const double a = strtod(label, &end), b = strtod(text, &other);
    return end != label && *end == '\0' && other != text && *other == '\0' && isfinite(a) && a == b;
}

bool is_meant(double said, double meant)
{
    return fabs(said - meant) <= 1e-5 * fmax(fabs(said), fabs(meant));
}

bool argument_seed(const tool_arguments *arguments, const char *name, uint64_t *value)
{
    const char *text = argument(arguments, name);
    if (text == NULL) return true;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    /* strtoull would take "-1" for a very large number. */
    if (!isdigit((unsigned char)text[0]) || *end != '\0' || errno != 0) {
        usage_error(arguments->verb, "--%s: '%s' is not a whole number from 0 on", name, text);
        return false;
    }
    *value = number;
    return true;
}

bool argument_size(const tool_arguments *arguments, const char *name, size_t *value)
{
    uint64_t number = *value;
    if (!argument_seed(arguments, name, &number)) return false;
    if (number > INT32_MAX) {
        usage_error(arguments->verb, "--%s: %s is too large", name, argument(arguments, name));
        return false;
    }
    *value = (size_t)number;
    return true;
}

/* Splits `text` in place at commas outside of double quotes; the quotes go, doubled ones inside become one.
 */
static bool split_names(char *text, tool_names *out)
{
    char *read = text;
    for (;;) {
        char *write = read;
        out->list[out->count] = write;
        bool quoted = *read == '"';
        if (quoted) read++;
        while (*read != '\0' && (quoted || *read != ',')) {
            if (quoted && *read == '"') {
                if (read[1] != '"') break;
                read++;
            }
            *write++ = *read++;
        }
        if (quoted && *read++ != '"') return false;
        char end = *read;
        *write = '\0';
        if (*out->list[out->count++] == '\0' || (end != '\0' && end != ',')) return false;
        if (end == '\0') return true;
        read++;
    }
}

bool take_names(const char *text, tool_names *out)
{
    size_t most = 1;
    for (const char *c = text; *c != '\0'; c++) most += *c == ',';
    *out = (tool_names){.text = strdup(text), .list = calloc(most, sizeof *out->list)};
    if (out->text == NULL || out->list == NULL) complain("out of memory");
    if (out->text != NULL && out->list != NULL && split_names(out->text, out)) return true;
    names_free(out);
    return false;
}

bool number_until(char **text, char stop, double *value)
{
    char *end;
    *value = strtod(*text, &end);
    const bool good = end != *text && *end == stop && isfinite(*value);
    *text = end;
    return good;
}

bool take_side(char *text, const char **name, double *low, double *high)
{
    char *equals = strrchr(text, '=');
    if (equals == NULL || equals == text) return false;
    *equals = '\0';
    *name = text;
    char *at = equals + 1;
    if (strchr(at, ':') == NULL) {
        if (!number_until(&at, '\0', low)) return false;
        *high = *low;
        return true;
    }
    if (!number_until(&at, ':', low)) return false;
    at++;
    return number_until(&at, '\0', high);
}

bool argument_names(const tool_arguments *arguments, const char *name, tool_names *out)
{
    *out = (tool_names){0};
    size_t bytes = 1, most = 1;
    for (size_t i = 0; i < arguments->count; i++) {
        if (strcmp(arguments->list[i].option->name, name) != 0) continue;
        for (const char *c = arguments->list[i].value; *c != '\0'; c++) most += *c == ',';
        bytes += strlen(arguments->list[i].value) + 1;
        most++;
    }
    out->text = calloc(bytes, 1);
    out->list = calloc(most, sizeof *out->list);
    if (out->text == NULL || out->list == NULL) {
        complain("out of memory");
        names_free(out);
        return false;
    }
    char *at = out->text;
    for (size_t i = 0; i < arguments->count; i++) {
        const char *value = arguments->list[i].value;
        if (strcmp(arguments->list[i].option->name, name) != 0) continue;
        memcpy(at, value, strlen(value) + 1);
        if (!split_names(at, out)) {
            usage_error(arguments->verb, "--%s: '%s' is not a list of names separated by commas", name,
                        value);
            names_free(out);
            return false;
        }
        at += strlen(value) + 1;
    }
    return true;
}

bool argument_doubles(const tool_arguments *arguments, const char *name, size_t *count, double **out)
{
    tool_names names;
    if (!argument_names(arguments, name, &names)) return false;
    double *values = calloc(names.count + 1, sizeof *values);
    bool right = true;
    if (values == NULL) {
        complain("out of memory");
        names_free(&names);
        return false;
    }
    for (size_t k = 0; k < names.count && right; k++) {
        char *end;
        values[k] = strtod(names.list[k], &end);
        if (end != names.list[k] && *end == '\0' && !isnan(values[k])) continue;
        usage_error(arguments->verb, "--%s: '%s' is not a number", name, names.list[k]);
        right = false;
    }
    *count = names.count;
    names_free(&names);
    if (right)
        *out = values;
    else
        free(values);
    return right;
}

void names_free(tool_names *names)
{
    TOOL_FREE(names->text, names->list);
    names->text = NULL;
    names->list = NULL;
    names->count = 0;
}
