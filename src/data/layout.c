/* SPDX-License-Identifier: Apache-2.0 */
/* The first lines of a table: comments, names of columns with some missing, or no names at all. */
#include "data/manner.h"

#include "data/dates.h"
#include "data/table_impl.h"

#include <math.h>
#include <string.h>

/* A field of a record that is not decoded yet, quotes and all. */
typedef struct raw {
    size_t begin, end;
} raw;

/* The fields of the record at `at`, up to `most` of them; *next is where the next line begins. How many there are. */
static size_t split(const char *text, size_t bytes, size_t at, char separator, size_t most, raw *fields,
                    size_t *next)
{
    size_t count = 0, begin = at;
    bool quoted = false;
    for (;; at++) {
        const bool over = at >= bytes || (!quoted && (text[at] == '\n' || text[at] == '\r'));
        if (!over && text[at] == '"' && (quoted || at == begin)) quoted = !quoted;
        if (!over && (quoted || text[at] != separator)) continue;
        if (count < most) fields[count] = (raw){begin, at};
        count++;
        if (over) break;
        begin = at + 1;
    }
    while (at < bytes && text[at] == '\r') at++;
    *next = at < bytes ? at + 1 : bytes;
    return count;
}

/* The text of a field without quotes and blanks around it; false if it is longer than what is looked at here. */
static bool field_text(const char *text, raw field, char out[HFI_DRESS_BYTES])
{
    while (field.begin < field.end && (text[field.begin] == ' ' || text[field.begin] == '"')) field.begin++;
    while (field.end > field.begin && (text[field.end - 1] == ' ' || text[field.end - 1] == '"')) field.end--;
    const size_t length = field.end - field.begin;
    if (length >= HFI_DRESS_BYTES) return false;
    memcpy(out, text + field.begin, length);
    out[length] = '\0';
    return true;
}

static bool is_blank_field(const char *text, raw field)
{
    char own[HFI_DRESS_BYTES];
    return field_text(text, field, own) && *own == '\0';
}

/* ---- names or not ------------------------------------------------------------------------------------------ */

/* Numbers of a record of a table without names: all of them, or dates and nothing. *steps counts how often
 * they rise less how often they fall. */
static bool is_record(const char *text, const raw *fields, size_t count, char separator, long *steps)
{
    char own[HFI_DRESS_BYTES];
    double before = NAN;
    size_t numbers = 0;
    *steps = 0;
    for (size_t k = 0; k < count; k++) {
        hfi_dressed dressed;
        hfi_date date;
        double value = NAN;
        if (!field_text(text, fields[k], own)) return false;
        const hfi_field_kind kind = hfi_field_parse(own, &value);
        if (kind == HFI_FIELD_MISSING) continue;
        if (kind == HFI_FIELD_TEXT && hfi_dress_take(own, &dressed) && (separator != ',' || dressed.as_point))
            value = hfi_dress_number(&dressed, dressed.as_comma ? ',' : '.');
        else if (kind == HFI_FIELD_TEXT && !hfi_date_take(own, &date))
            return false;
        numbers += isnan(value) ? 0 : 1;
        *steps += value > before ? 1 : value < before ? -1 : 0;
        before = value;
    }
    return numbers > 0;
}

/* A header of numbers, five or more, only rises or only falls: 400, 402, 404, ... */
static bool has_no_names(const hfi_manner *manner, const char *text, const raw *fields, size_t count,
                         char separator)
{
    long steps;
    if (manner->dialect.header != HF_HEADER_AUTO) return manner->dialect.header == HF_HEADER_NO;
    if (!is_record(text, fields, count, separator, &steps)) return false;
    return count < 5 || (steps != (long)count - 1 && -steps != (long)count - 1);
}

/* ---- the separator ----------------------------------------------------------------------------------------- */

size_t hfi_layout_fields(const char *text, size_t bytes, size_t at, char separator, size_t *next)
{
    return split(text, bytes, at, separator, 0, NULL, next);
}

/* The one that the line has most of; of a line of numbers the one that splits it into numbers, since 1,5;2,5
 * has more commas. */
static hf_status find_separator(hf_context *ctx, const char *text, size_t bytes, size_t at, char *separator)
{
    static const char others[] = {';', '\t'};
    *separator = hfi_csv_separator(text + at, bytes - at);
    for (size_t k = 0; k < 2; k++) {
        size_t next;
        const size_t count = hfi_layout_fields(text, bytes, at, others[k], &next);
        long steps;
        if (count < 2) continue;
        raw *fields = hfi_alloc(ctx, count, sizeof *fields);
        if (fields == NULL) return HF_ERR_MEMORY;
        split(text, bytes, at, others[k], count, fields, &next);
        if (is_record(text, fields, count, others[k], &steps)) *separator = others[k];
        hfi_free(ctx, fields);
    }
    return HF_OK;
}

/* ---- a new header ------------------------------------------------------------------------------------------ */

typedef struct head {
    hf_context *ctx;
    hfi_manner *manner;
    const char *text;
    size_t bytes;
    size_t at, next;     /* the first record, and the one below */
    size_t count, below; /* their fields */
    raw *fields;
    char *made; /* the new header, or NULL */
    size_t made_bytes;
} head;

/* Room for the fields as they are, `more` bytes, and a newline. */
static hf_status grow_head_buffer(head *h, size_t more)
{
    h->made = hfi_alloc(h->ctx, h->next - h->at + more + 2, 1);
    return h->made != NULL ? HF_OK : HF_ERR_MEMORY;
}

static void append_head_text(head *h, const char *text, size_t bytes)
{
    memcpy(h->made + h->made_bytes, text, bytes);
    h->made_bytes += bytes;
}

static hf_status number_columns(head *h, char separator)
{
    char name[32];
    hf_status status = grow_head_buffer(h, 32 * h->count);
    for (size_t k = 0; status >= 0 && k < h->count; k++) {
        const int bytes =
            hfi_print(name, sizeof name, "%sV%zu", k > 0 ? (const char[]){separator, '\0'} : "", k + 1);
        append_head_text(h, name, (size_t)bytes);
    }
    if (status < 0) return status;
    append_head_text(h, "\n", 1);
    h->manner->unnamed = true;
    return hfi_manner_note(h->ctx, h->manner, "no line with names: the columns are called V1 to V%zu",
                           h->count);
}

/* A name for the first column that no other has. */
static void add_row_name(head *h)
{
    char own[HFI_DRESS_BYTES], name[HFI_DRESS_BYTES] = "row_name";
    size_t length = strlen(name);
    for (size_t k = 0; k < h->count && length + 1 < sizeof name; k++) {
        if (!field_text(h->text, h->fields[k], own) || strcmp(own, name) != 0) continue;
        name[length++] = '_';
        name[length] = '\0';
        k = SIZE_MAX; /* begins anew */
    }
    append_head_text(h, name, length);
}

/* The header with a name for the first column, which has none in it (`nameless`) or no place. */
static hf_status name_rows(head *h, char separator, bool nameless)
{
    const hf_status status = grow_head_buffer(h, HFI_DRESS_BYTES);
    if (status < 0) return status;
    add_row_name(h);
    const size_t from = nameless ? h->fields[0].end : h->at;
    if (!nameless) append_head_text(h, &separator, 1);
    append_head_text(h, h->text + from, h->fields[h->count - 1].end - from);
    append_head_text(h, "\n", 1);
    h->manner->row_names = true;
    return hfi_manner_note(h->ctx, h->manner,
                           "the first column has no name: its fields are names of rows, and no input");
}

static hf_status lengthen(head *h, char separator)
{
    const hf_status status = grow_head_buffer(h, 1);
    if (status < 0) return status;
    append_head_text(h, h->text + h->at, h->fields[h->count - 1].end - h->at);
    append_head_text(h, &separator, 1);
    append_head_text(h, "\n", 1);
    return HF_OK;
}

/* Whether the first field of a record is the name of a row for sure: in quotes, as R has them, or no number. */
static bool begins_with_name(const head *h, raw field)
{
    char own[HFI_DRESS_BYTES];
    double value;
    if (field.begin < field.end && h->text[field.begin] == '"') return true;
    return field_text(h->text, field, own) && hfi_field_parse(own, &value) == HFI_FIELD_TEXT;
}

/* The header where it cannot stay as it is. */
static hf_status change_header(head *h, char separator, bool names)
{
    if (!names) return number_columns(h, separator);
    size_t after;
    raw *below = hfi_alloc(h->ctx, h->count + 1, sizeof *below);
    if (below == NULL) return HF_ERR_MEMORY;
    h->below = split(h->text, h->bytes, h->next, separator, h->count + 1, below, &after);
    hf_status status = HF_OK;
    if (h->next < h->bytes && h->below == h->count + 1)
        status = is_blank_field(h->text, below[h->count]) ? lengthen(h, separator)
                 : begins_with_name(h, below[0])          ? name_rows(h, separator, false)
                                                          : HF_OK;
    else if (h->count > 1 && is_blank_field(h->text, h->fields[0]))
        status = name_rows(h, separator, true);
    hfi_free(h->ctx, below);
    return status;
}

/* ---- comments ---------------------------------------------------------------------------------------------- */

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* The first line that is neither blank nor a comment. *last is the last comment, SIZE_MAX for none. */
static void skip_comments(const char *text, size_t bytes, hfi_layout *out, size_t *last, size_t *comments)
{
    size_t at = out->begin;
    while (at < bytes) {
        if (!is_line_end(text[at]) && text[at] != '#') break;
        if (text[at] == '#') {
            *last = at;
            ++*comments;
            while (at < bytes && text[at] != '\n') at++;
        }
        if (at >= bytes) break;
        out->line += text[at] == '\n';
        at++;
    }
    out->begin = at;
}

/* Names behind a #, as numpy.savetxt() writes them: as many as the record below has numbers, and no number
 * among them. */
static hf_status names_in_comment(head *h, char separator, size_t comment, bool *found)
{
    size_t next;
    long steps;
    *found = false;
    size_t begin = comment;
    while (begin < h->bytes && (h->text[begin] == '#' || h->text[begin] == ' ')) begin++;
    if (hfi_layout_fields(h->text, h->bytes, begin, separator, &next) != h->count || h->count < 2)
        return HF_OK;
    raw *fields = hfi_alloc(h->ctx, h->count, sizeof *fields);
    if (fields == NULL) return HF_ERR_MEMORY;
    split(h->text, h->bytes, begin, separator, h->count, fields, &next);
    bool names = !is_record(h->text, fields, h->count, separator, &steps);
    for (size_t k = 0; k < h->count; k++) names = names && !is_blank_field(h->text, fields[k]);
    hf_status status = HF_OK;
    if (names) {
        h->made = hfi_alloc(h->ctx, next - begin + 2, 1);
        if (h->made == NULL) status = HF_ERR_MEMORY;
        if (status >= 0) append_head_text(h, h->text + begin, fields[h->count - 1].end - begin);
        if (status >= 0) append_head_text(h, "\n", 1);
        if (status >= 0)
            status = hfi_manner_note(h->ctx, h->manner, "the names of the columns stand behind a #");
        *found = true;
    }
    hfi_free(h->ctx, fields);
    return status;
}

bool hfi_layout_is_comment(const char *text, size_t bytes, size_t at, char separator, size_t fields)
{
    size_t next;
    return text[at] == '#' && (fields == 1 || hfi_layout_fields(text, bytes, at, separator, &next) != fields);
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

/* The made header in front of what is below the old one (`kept`: of all from there on). */
static hf_status put_in_front(head *h, size_t kept, char **text, size_t *bytes, hfi_layout *out)
{
    const size_t rest = h->bytes - kept;
    char *whole = hfi_alloc_unset(h->ctx, h->made_bytes + rest + 1, 1);
    if (whole == NULL) return HF_ERR_MEMORY;
    memcpy(whole, h->made, h->made_bytes);
    memcpy(whole + h->made_bytes, h->text + kept, rest);
    hfi_free(h->ctx, *text);
    *text = whole;
    *bytes = h->made_bytes + rest;
    out->begin = 0;
    return HF_OK;
}

static size_t count_lines(const char *text, size_t from, size_t to)
{
    size_t lines = 0;
    for (; from < to; from++) lines += text[from] == '\n';
    return lines;
}

static hf_status look_at_head(head *h, size_t last_comment, char **text, size_t *bytes, hfi_layout *out)
{
    h->count = split(h->text, h->bytes, h->at, out->separator, 0, NULL, &h->next);
    h->fields = hfi_alloc(h->ctx, h->count, sizeof *h->fields);
    if (h->fields == NULL) return HF_ERR_MEMORY;
    split(h->text, h->bytes, h->at, out->separator, h->count, h->fields, &h->next);
    bool names = !has_no_names(h->manner, h->text, h->fields, h->count, out->separator), commented = false;
    hf_status status = HF_OK;
    if (!names && last_comment != SIZE_MAX && h->manner->dialect.header == HF_HEADER_AUTO)
        status = names_in_comment(h, out->separator, last_comment, &commented);
    if (status >= 0 && !commented) status = change_header(h, out->separator, names);
    if (status < 0 || h->made == NULL) return status;
    const size_t kept = names ? h->next : h->at;
    out->below = out->line + count_lines(h->text, h->at, kept);
    return put_in_front(h, kept, text, bytes, out);
}

hf_status hfi_layout_find(hf_context *ctx, const char *source, hfi_manner *manner, char **text, size_t *bytes,
                          hfi_layout *out)
{
    size_t last = SIZE_MAX, comments = 0;
    *out = (hfi_layout){.begin = *bytes >= 3 && memcmp(*text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, .line = 1};
    skip_comments(*text, *bytes, out, &last, &comments);
    if (out->begin >= *bytes && comments == 0) return HF_OK; /* the parser says that there is nothing */
    if (out->begin >= *bytes)
        return hfi_fail(ctx, HF_ERR_NO_DATA, "%s: nothing in it but comments (#)", source);
    hf_status status = find_separator(ctx, *text, *bytes, out->begin, &out->separator);
    if (status < 0) return status;
    manner->separator = out->separator;
    head h = {.ctx = ctx, .manner = manner, .text = *text, .bytes = *bytes, .at = out->begin};
    if (comments > 0)
        status = hfi_manner_note(ctx, manner, "%zu line%s of comments (#) left out", comments,
                                 comments == 1 ? "" : "s");
    if (status >= 0) status = look_at_head(&h, last, text, bytes, out);
    HFI_FREE(ctx, h.fields, h.made);
    return status;
}
