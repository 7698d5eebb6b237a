/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates on a page: those of one command are told in a sentence and listed. */
#include "page/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 500, /* of a table */
    FIELD = 32
};

/* Text of a field, "" where there is no such column: SIZE_MAX. */
static const char *field(const hf_table *table, size_t row, size_t column, char room[FIELD])
{
    const char *text = hf_table_field(table, row, column, room);
    return text != NULL ? text : "";
}

static const char *named(const hf_table *table, size_t row, const char *name, char room[FIELD])
{
    return field(table, row, hfi_column_named(table, name), room);
}

hf_status hfi_page_check_certificates(hf_context *ctx, const hf_model *model, const hf_table *certificates)
{
    const char *own = hf_model_content_checksum(model);
    char room[FIELD];
    if (certificates == NULL) return HF_OK;
    const size_t model_column = hfi_column_named(certificates, "model_sha256");
    if (model_column == SIZE_MAX)
        return hfi_fail(ctx, HF_ERR_NO_COLUMN, "%s has no model_sha256: it is not what certify writes",
                        hf_table_source(certificates));
    for (size_t i = 0; i < hf_table_rows(certificates); i++) {
        const char *theirs = field(certificates, i, model_column, room);
        if (own != NULL && strcmp(theirs, own) == 0) continue;
        return hfi_refuse(
            ctx, "%s: certificate %zu is about the model with the SHA-256 %.64s, and this one has %s",
            hf_table_source(certificates), i + 1, theirs, own != NULL ? own : "no file");
    }
    return HF_OK;
}

/* ---- what a group says -------------------------------------------------------------------------------------- */

/* Least or largest of the numbers of a column in rows from..to; NaN: there is none. */
static double extreme(const hf_table *table, const char *name, size_t from, size_t to, bool largest)
{
    char room[FIELD], *end;
    double low = NAN, high = NAN;
    const size_t column = hfi_column_named(table, name);
    for (size_t i = from; i < to; i++) {
        const char *text = field(table, i, column, room);
        const double value = hfi_strtod(text, &end);
        if (end == text || isnan(value)) continue;
        low = fmin(low, value);
        high = fmax(high, value);
    }
    return largest ? high : low;
}

/* How many rows have a status that begins so. */
static size_t count_status(const hf_table *table, const char *status, size_t from, size_t to)
{
    char room[FIELD];
    size_t count = 0;
    const size_t column = hfi_column_named(table, "answer.status"), letters = strlen(status);
    for (size_t i = from; i < to; i++) count += strncmp(field(table, i, column, room), status, letters) == 0;
    return count;
}

/* "mean of medv", "verdict of mean of medv", "classes". */
static void put_question(hfi_page *page, const hf_table *t, size_t row)
{
    char room[FIELD];
    hfi_page_words(page, named(t, row, "what", room));
    const char *value = named(t, row, "value", room);
    if (*value != '\0') hfi_page_put(page, " of ");
    hfi_page_words(page, value);
    const char *of = named(t, row, "of", room);
    if (*of != '\0') hfi_page_put(page, " of ");
    hfi_page_words(page, of);
}

static void put_summary(hfi_page *page, const hf_table *t, size_t from, size_t to)
{
    char room[FIELD];
    const size_t count = to - from, certified = count_status(t, "certified", from, to),
                 broken = count_status(t, "counterexample", from, to),
                 open = count_status(t, "open", from, to);
    const double low = extreme(t, "answer.lower", from, to, false),
                 high = extreme(t, "answer.upper", from, to, true),
                 least = extreme(t, "answer.certified_radius", from, to, false),
                 most = extreme(t, "answer.certified_radius", from, to, true);
    hfi_page_put(page, "<p>");
    if (certified + broken + open > 0)
        hfi_page_put(page,
                     "<strong>%zu of %zu surely hold</strong>, %zu have a counterexample, %zu are open. ",
                     certified, count, broken, open);
    if (!isnan(low) && !isnan(high) && certified + broken + open == 0)
        hfi_page_put(page,
                     "<strong>In all of %zu boxes the value surely stays within %.6g and %.6g.</strong> ",
                     count, low, high);
    if (!isnan(least))
        hfi_page_put(page, "<strong>Certified radii of %zu rows go from %.4g to %.4g.</strong> ", count,
                     least, most);
    const bool estimate = strcmp(named(t, from, "estimate", room), "true") == 0;
    const bool rigorous = strcmp(named(t, from, "settings.rigorous", room), "true") == 0;
    hfi_page_put(page, "%s</p>\n",
                 estimate ? "They rest on an estimate, six standard errors of a quadrature, and on no bound."
                 : rigorous ? "Every rounding is accounted for."
                            : "They hold up to an allowance for rounding, which is part of them.");
}

/* ---- its table ---------------------------------------------------------------------------------------------- */

/* Columns that are shown: the row, sides of inputs that move in some box, and the answer but for its costs. */
typedef struct shown {
    hfi_page *page;
    size_t count, *column;
    const char **head;
    char **title; /* heads that no text of the table is, or NULL */
} shown;

/* Room for all columns of the table, each as a lower side with its upper side. */
static shown no_columns(hfi_page *page, const hf_table *t)
{
    const size_t most = 2 * hf_table_columns(t) + 1;
    shown s = {.page = page,
               .column = hfi_alloc(page->ctx, most, sizeof *s.column),
               .head = hfi_alloc(page->ctx, most, sizeof *s.head),
               .title = hfi_alloc(page->ctx, most, sizeof *s.title)};
    if (!s.column || !s.head || !s.title) page->status = HF_ERR_MEMORY;
    return s;
}

static void show(shown *s, size_t column, const char *head, char *title)
{
    s->head[s->count] = head;
    s->title[s->count] = title;
    s->column[s->count++] = column;
}

/* A side of an input: "rooms from". */
static void show_side(shown *s, size_t column, const char *input, const char *side)
{
    const size_t bytes = strlen(input) + strlen(side) + 2;
    if (column == SIZE_MAX) return;
    char *title = hfi_alloc(s->page->ctx, bytes, 1);
    if (title == NULL) {
        s->page->status = HF_ERR_MEMORY;
        return;
    }
    (void)hfi_print(title, bytes, "%s %s", input, side);
    show(s, column, title, title);
}

static void hide(shown *s)
{
    for (size_t k = 0; k < s->count; k++) hfi_free(s->page->ctx, s->title[k]);
    HFI_FREE(s->page->ctx, s->title, s->head, s->column);
}

/* The column of an input's upper side, SIZE_MAX where there is none. */
static size_t upper_side(const hf_table *t, const char *input)
{
    for (size_t c = 0; c < hf_table_columns(t); c++) {
        const char *name = hf_table_name(t, c);
        if (strncmp(name, "to.", 3) == 0 && strcmp(name + 3, input) == 0) return c;
    }
    return SIZE_MAX;
}

/* Whether two columns have the same in all rows. */
static bool is_same(const hf_table *t, size_t column, size_t other, size_t from, size_t to)
{
    char room[FIELD], second[FIELD];
    for (size_t i = from; i < to; i++)
        if (strcmp(field(t, i, column, room), field(t, i, other, second)) != 0) return false;
    return true;
}

/* Whether no row of the group has anything there. */
static bool is_empty(const hf_table *t, size_t column, size_t from, size_t to)
{
    char room[FIELD];
    for (size_t i = from; i < to; i++) {
        if (*field(t, i, column, room) != '\0') return false;
    }
    return true;
}

/* The sides of an input, where it moves. */
static void show_sides(const hf_table *t, size_t lower, size_t from, size_t to, shown *out)
{
    const char *input = hf_table_name(t, lower) + strlen("from.");
    const size_t upper = upper_side(t, input);
    if (is_same(t, lower, upper, from, to)) return;
    show_side(out, lower, input, "from");
    show_side(out, upper, input, "to");
}

static void choose_columns(const hf_table *t, size_t from, size_t to, shown *out)
{
    for (size_t c = 0; c < hf_table_columns(t); c++) {
        const char *name = hf_table_name(t, c);
        if (is_empty(t, c, from, to)) continue;
        if (strcmp(name, "row") == 0) show(out, c, "row", NULL);
        if (strncmp(name, "from.", 5) == 0) show_sides(t, c, from, to, out);
        if (strcmp(name, "answer.nodes") == 0 || strcmp(name, "answer.seconds") == 0) continue;
        if (strncmp(name, "answer.", 7) == 0) show(out, c, name + 7, NULL);
    }
}

/* A number with six digits, anything else as it is. */
static void put_cell(hfi_page *page, const char *text)
{
    char *end;
    const double value = hfi_strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(value))
        hfi_page_cell(page, value, 6);
    else
        hfi_page_text(page, text);
}

static void put_rows(hfi_page *page, const hf_table *t, size_t from, size_t to)
{
    shown columns = no_columns(page, t);
    char room[FIELD];
    if (page->status >= 0) choose_columns(t, from, to, &columns);
    hfi_page_table(page, "Certificates", " data-sort",
                   "lower and upper: nothing is outside; attained, worst: found there", columns.count,
                   columns.head);
    for (size_t i = from; i < to && i < from + MOST_ROWS; i++) {
        hfi_page_put(page, "<tr>");
        for (size_t k = 0; k < columns.count; k++) put_cell(page, field(t, i, columns.column[k], room));
        hfi_page_put(page, "</tr>\n");
    }
    hfi_page_table_end(page);
    hide(&columns);
    if (to - from > MOST_ROWS)
        hfi_page_put(page, "<p>The first %d of %zu are shown.</p>\n", (int)MOST_ROWS, to - from);
}

void hfi_page_certificates(hfi_page *page)
{
    const hf_table *t = page->with.certificates;
    const size_t rows = hf_table_rows(t), column = hfi_column_named(t, "command");
    char room[FIELD], other[FIELD];
    hfi_page_put(page,
                 "<p>What the model predicts while its inputs move within boxes. It is proved about the "
                 "model, and says nothing about the world.</p>\n");
    for (size_t from = 0, to; from < rows; from = to) {
        const char *command = field(t, from, column, room);
        for (to = from + 1; to < rows && strcmp(command, field(t, to, column, other)) == 0;) to++;
        hfi_page_put(page, "<h3>");
        put_question(page, t, from);
        hfi_page_put(page, "</h3>\n");
        put_summary(page, t, from, to);
        put_rows(page, t, from, to);
        if (*command != '\0') hfi_page_command(page, command, "");
    }
}
