/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with decimal commas, thousands separators, percent and currency signs, limits of detection. */
#include "data/dress.h"

#include "core/core.h"

#include <string.h>

const hfi_garment_words hfi_garments[HFI_GARMENTS] = {
    {"decimal comma", "the comma is the decimal mark"},
    {"thousands", "thousands separators are left out"},
    {"percent", "percent signs are left out: 12 % is 12"},
    {"currency", "currency signs are left out"},
    {"limits", "limits of detection"},
    {"TRUE/FALSE", "TRUE is 1 and FALSE is 0"},
};

static const char *const currencies[] = {"$",   "\xe2\x82\xac", "\xc2\xa3", "\xc2\xa5", "\xe2\x82\xb9",
                                         "USD", "EUR",          "GBP",      "JPY",      "CHF"};

/* Blanks that separate thousands, in UTF-8: usual, no-break, thin, narrow no-break. */
static const char *const blanks[] = {" ", "\xc2\xa0", "\xe2\x80\x89", "\xe2\x80\xaf"};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of the blank that the text begins with; 0 for none. */
static size_t blank_at(const char *text)
{
    for (size_t k = 0; k < sizeof blanks / sizeof blanks[0]; k++) {
        const size_t length = strlen(blanks[k]);
        if (strncmp(text, blanks[k], length) == 0) return length;
    }
    return *text == '\t' ? 1 : 0;
}

static const char *skip_blanks(const char *text)
{
    for (size_t bytes = blank_at(text); bytes > 0; bytes = blank_at(text)) text += bytes;
    return text;
}

static const char *take_currency(const char *text, const char **currency)
{
    for (size_t k = 0; k < sizeof currencies / sizeof currencies[0]; k++) {
        const size_t length = strlen(currencies[k]);
        if (strncmp(text, currencies[k], length) != 0) continue;
        *currency = currencies[k];
        return skip_blanks(text + length);
    }
    return text;
}

static const char *take_limit(const char *text, char *limit)
{
    static const struct {
        const char *sign;
        char limit;
    } signs[] = {{"<=", '<'}, {">=", '>'},           {"<", '<'},
                 {">", '>'},  {"\xe2\x89\xa4", '<'}, {"\xe2\x89\xa5", '>'}};
    for (size_t k = 0; k < sizeof signs / sizeof signs[0]; k++) {
        const size_t length = strlen(signs[k].sign);
        if (strncmp(text, signs[k].sign, length) != 0) continue;
        *limit = signs[k].limit;
        return skip_blanks(text + length);
    }
    return text;
}

/* A character of the number at `text` goes to *c; how many bytes it has, 0 for none. A blank belongs to it
 * between digits only. */
static size_t body_character(const char *text, bool after_digit, char *c)
{
    *c = *text;
    if (is_digit(*c) || *c == '.' || *c == ',') return 1;
    if (*c == '\'' && after_digit && is_digit(text[1])) return 1;
    const size_t bytes = *c != '\t' ? blank_at(text) : 0;
    *c = ' ';
    return bytes > 0 && after_digit && is_digit(text[bytes]) ? bytes : 0;
}

/* Sign, digits with their marks, exponent; NULL where there is no number. */
static const char *take_body(const char *text, char sign, hfi_dressed *out)
{
    size_t used = 0, digits = 0;
    char c;
    if (sign != 0) out->body[used++] = sign;
    for (size_t bytes = body_character(text, false, &c); bytes > 0;
         bytes = body_character(text, used > 0 && is_digit(out->body[used - 1]), &c)) {
        if (used + 24 >= sizeof out->body) return NULL;
        out->body[used++] = c;
        digits += is_digit(c);
        text += bytes;
    }
    if (digits == 0) return NULL;
    const char *end = text + ((*text == 'e' || *text == 'E') && (text[1] == '-' || text[1] == '+') ? 2 : 1);
    if ((*text == 'e' || *text == 'E') && is_digit(*end))
        for (out->body[used++] = 'e', text++; *text == '-' || *text == '+' || is_digit(*text); text++) {
            if (used + 1 >= sizeof out->body || (!is_digit(*text) && out->body[used - 1] != 'e')) return NULL;
            out->body[used++] = *text;
        }
    out->body[used] = '\0';
    return text;
}

/* Whether the marks of a body make sense when `mark` is the decimal one; *group is what separates thousands then. */
static bool allows(const char *body, char mark, char *group)
{
    const char *p = body + (*body == '-' || *body == '+' ? 1 : 0);
    const bool zero = *p == '0';
    size_t run = 0, groups = 0;
    *group = 0;
    for (; *p != '\0' && *p != 'e' && *p != mark; p++) {
        if (is_digit(*p)) {
            run++;
            continue;
        }
        if (*group != 0 && *group != *p) return false;
        if (groups == 0 ? run < 1 || run > 3 || zero : run != 3) return false;
        *group = *p;
        groups++;
        run = 0;
    }
    if (groups > 0 && run != 3) return false;
    if (*p == mark)
        for (p++; is_digit(*p); p++) continue;
    return *p == '\0' || *p == 'e';
}

bool hfi_dress_take(const char *text, hfi_dressed *out)
{
    char sign = 0;
    out->currency = NULL;
    out->percent = false;
    out->limit = 0;
    if (strnlen(text, HFI_DRESS_BYTES) == HFI_DRESS_BYTES) return false;
    text = take_limit(skip_blanks(text), &out->limit);
    if (*text == '-' || *text == '+') sign = *text++;
    text = take_currency(text, &out->currency);
    if (sign == 0 && out->currency != NULL && (*text == '-' || *text == '+')) sign = *text++;
    text = take_body(text, sign, out);
    if (text == NULL) return false;
    text = skip_blanks(text);
    if (*text == '%') {
        out->percent = true;
        text++;
    } else if (out->currency == NULL) {
        text = take_currency(text, &out->currency);
    }
    if (*skip_blanks(text) != '\0') return false;
    out->as_point = allows(out->body, '.', &out->point_group);
    out->as_comma = allows(out->body, ',', &out->comma_group);
    return out->as_point || out->as_comma;
}

double hfi_dress_number(const hfi_dressed *field, char mark)
{
    char plain[HFI_DRESS_BYTES];
    double value = 0;
    size_t used = 0;
    for (const char *p = field->body; *p != '\0'; p++) {
        if (*p == mark)
            plain[used++] = '.';
        else if (is_digit(*p) || *p == 'e' || *p == '-' || *p == '+')
            plain[used++] = *p;
    }
    plain[used] = '\0';
    hfi_field_parse(plain, &value);
    return value;
}

void hfi_dress_look(hfi_dress_survey *survey, const char *text)
{
    hfi_dressed field;
    double value;
    const hfi_field_kind kind = hfi_field_parse(text, &value);
    if (kind == HFI_FIELD_MISSING) return;
    if (!hfi_dress_take(text, &field)) {
        /* Infinity is a number of its own, and so is one longer than any dress. */
        survey->fields += kind == HFI_FIELD_NUMBER;
        survey->odd += kind != HFI_FIELD_NUMBER;
        return;
    }
    survey->fields++;
    survey->percents += field.percent;
    survey->limits += field.limit != 0;
    survey->moneys += field.currency != NULL;
    survey->points += !field.as_comma;
    survey->commas += !field.as_point;
    if (field.as_point && field.as_comma && strpbrk(field.body, ".,") != NULL) {
        survey->unsure++;
        survey->unsure_commas += strchr(field.body, ',') != NULL;
    }
    if (field.currency == NULL) return;
    if (survey->currency == NULL) survey->currency = field.currency;
    survey->mixed = survey->mixed || survey->currency != field.currency;
}

bool hfi_dress_may_be(const hfi_dress_survey *survey)
{
    const size_t all = survey->fields;
    return survey->odd == 0 && survey->limits < all && !survey->mixed &&
           (survey->percents == 0 || survey->percents == all) &&
           (survey->moneys == 0 || survey->moneys == all);
}

bool hfi_truth_read(const char *text, double *value)
{
    static const char *const words[] = {"false", "true"};
    text = skip_blanks(text);
    for (size_t k = 0; k < 2; k++) {
        const char *at = text, *word = words[k];
        while (*word != '\0' && (*at | 0x20) == *word) {
            at++;
            word++;
        }
        if (*word != '\0' || *skip_blanks(at) != '\0') continue;
        *value = (double)k;
        return true;
    }
    return false;
}

void hfi_dress_words(unsigned wears, char words[HFI_DRESS_WORDS])
{
    size_t used =
        (size_t)hfi_print(words, HFI_DRESS_WORDS, "%s", (wears & HFI_WEARS_TRUTH) != 0 ? "" : "number");
    bool first = true;
    if ((wears & HFI_WEARS_TRUTH) != 0) {
        hfi_print(words, HFI_DRESS_WORDS, "%s", hfi_garments[5].brief);
        return;
    }
    for (size_t k = 0; k < HFI_GARMENTS && used < HFI_DRESS_WORDS; k++) {
        if ((wears & (1U << k)) == 0) continue;
        used += (size_t)hfi_print(words + used, HFI_DRESS_WORDS - used, "%s%s", first ? " (" : ", ",
                                  hfi_garments[k].brief);
        first = false;
    }
    if (!first && used < HFI_DRESS_WORDS) hfi_print(words + used, HFI_DRESS_WORDS - used, ")");
}
