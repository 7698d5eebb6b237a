/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates on a page: those of one command are told in a sentence and listed. */
#include "page/page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_ROWS = 500, /* of a table */
    MOST_COLUMNS = 64,
    FIELD = 32
};

/* Text of a field, "" where there is no such column. */
static const char *field(const hf_table *table, size_t row, const char *name, char room[FIELD])
{
    const size_t column = hfi_column_named(table, name);
    const char *text = column != SIZE_MAX ? hf_table_field(table, row, column, room) : NULL;
    return text != NULL ? text : "";
}

hf_status hfi_page_check_certificates(hf_context *ctx, const hf_model *model, const hf_table *certificates)
{
    const char *own = hf_model_content_checksum(model);
    char room[FIELD];
    if (certificates == NULL) return HF_OK;
    if (hfi_column_named(certificates, "model_sha256") == SIZE_MAX)
        return hfi_fail(ctx, HF_ERR_NO_COLUMN, "%s has no model_sha256: it is not what certify writes",
                        hf_table_source(certificates));
    for (size_t i = 0; i < hf_table_rows(certificates); i++) {
        const char *theirs = field(certificates, i, "model_sha256", room);
        if (own != NULL && strcmp(theirs, own) == 0) continue;
        return hfi_fail(ctx, HF_ERR_ARGUMENT,
                        "%s: certificate %zu is about the model with the SHA-256 %.64s, and this one has %s",
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
    for (size_t i = from; i < to; i++) {
        const char *text = field(table, i, name, room);
        const double value = strtod(text, &end);
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
    for (size_t i = from; i < to; i++)
        count += strncmp(field(table, i, "answer.status", room), status, strlen(status)) == 0;
    return count;
}

/* "mean of medv", "verdict of mean of medv", "classes". */
static void put_question(hfi_page *page, const hf_table *t, size_t row)
{
    char room[FIELD];
    hfi_page_words(page, field(t, row, "what", room));
    const char *value = field(t, row, "value", room);
    if (*value != '\0') hfi_page_put(page, " of ");
    hfi_page_words(page, value);
    const char *of = field(t, row, "of", room);
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
    const bool estimate = strcmp(field(t, from, "estimate", room), "true") == 0;
    const bool rigorous = strcmp(field(t, from, "settings.rigorous", room), "true") == 0;
    hfi_page_put(page, "%s</p>\n",
                 estimate ? "They rest on an estimate, six standard errors of a quadrature, and on no bound."
                 : rigorous ? "Every rounding is accounted for."
                            : "They hold up to an allowance for rounding, which is part of them.");
}

/* ---- its table ---------------------------------------------------------------------------------------------- */

/* Columns that are shown: the row, sides of inputs that move in some box, and the answer but for its costs. */
typedef struct shown {
    size_t count, column[MOST_COLUMNS];
    const char *head[MOST_COLUMNS];
    char title[MOST_COLUMNS][96];
} shown;

static void show(shown *s, size_t column, const char *title)
{
    if (s->count == MOST_COLUMNS) return;
    (void)snprintf(s->title[s->count], sizeof s->title[0], "%.95s", title);
    s->head[s->count] = s->title[s->count];
    s->column[s->count++] = column;
}

/* Whether an input is a point in all rows. */
static bool stands_still(const hf_table *t, const char *input, size_t from, size_t to)
{
    char name[160], other[160], room[FIELD], second[FIELD];
    (void)snprintf(name, sizeof name, "from.%s", input);
    (void)snprintf(other, sizeof other, "to.%s", input);
    for (size_t i = from; i < to; i++)
        if (strcmp(field(t, i, name, room), field(t, i, other, second)) != 0) return false;
    return true;
}

/* Whether no row of the group has anything there. */
static bool is_empty(const hf_table *t, size_t column, size_t from, size_t to)
{
    char room[FIELD];
    for (size_t i = from; i < to; i++) {
        const char *text = hf_table_field(t, i, column, room);
        if (text != NULL && *text != '\0') return false;
    }
    return true;
}

/* The sides of an input, where it moves. */
static void show_sides(const hf_table *t, const char *input, size_t from, size_t to, shown *out)
{
    static const char *const sides[] = {"from", "to"};
    char name[160], title[160];
    if (stands_still(t, input, from, to)) return;
    for (size_t k = 0; k < 2; k++) {
        (void)snprintf(name, sizeof name, "%s.%s", sides[k], input);
        (void)snprintf(title, sizeof title, "%.80s %s", input, sides[k]);
        const size_t column = hfi_column_named(t, name);
        if (column != SIZE_MAX) show(out, column, title);
    }
}

static void choose_columns(const hf_table *t, size_t from, size_t to, shown *out)
{
    *out = (shown){0};
    for (size_t c = 0; c < hf_table_columns(t); c++) {
        const char *name = hf_table_name(t, c);
        if (is_empty(t, c, from, to)) continue;
        if (strcmp(name, "row") == 0) show(out, c, "row");
        if (strncmp(name, "from.", 5) == 0) show_sides(t, name + 5, from, to, out);
        if (strcmp(name, "answer.nodes") == 0 || strcmp(name, "answer.seconds") == 0) continue;
        if (strncmp(name, "answer.", 7) == 0) show(out, c, name + 7);
    }
}

/* A number with six digits, anything else as it is. */
static void put_cell(hfi_page *page, const char *text)
{
    char *end;
    const double value = strtod(text, &end);
    if (end != text && *end == '\0' && isfinite(value))
        hfi_page_cell(page, value, 6);
    else
        hfi_page_text(page, text);
}

static void put_rows(hfi_page *page, const hf_table *t, size_t from, size_t to)
{
    shown columns;
    char room[FIELD];
    choose_columns(t, from, to, &columns);
    hfi_page_table(page, "Certificates", " data-sort",
                   "lower and upper: nothing is outside; attained, worst: found there", columns.count,
                   columns.head);
    for (size_t i = from; i < to && i < from + MOST_ROWS; i++) {
        hfi_page_put(page, "<tr>");
        for (size_t k = 0; k < columns.count; k++) {
            const char *text = hf_table_field(t, i, columns.column[k], room);
            put_cell(page, text != NULL ? text : "");
        }
        hfi_page_put(page, "</tr>\n");
    }
    hfi_page_table_end(page);
    if (to - from > MOST_ROWS)
        hfi_page_put(page, "<p>The first %d of %zu are shown.</p>\n", (int)MOST_ROWS, to - from);
}

void hfi_page_certificates(hfi_page *page)
{
    const hf_table *t = page->with.certificates;
    const size_t rows = hf_table_rows(t);
    char room[FIELD], other[FIELD];
    hfi_page_put(page,
                 "<p>What the model predicts while its inputs move within boxes. It is proved about the "
                 "model, and says nothing about the world.</p>\n");
    for (size_t from = 0, to; from < rows; from = to) {
        const char *command = field(t, from, "command", room);
        for (to = from + 1; to < rows && strcmp(command, field(t, to, "command", other)) == 0;) to++;
        hfi_page_put(page, "<h3>");
        put_question(page, t, from);
        hfi_page_put(page, "</h3>\n");
        put_summary(page, t, from, to);
        put_rows(page, t, from, to);
        if (*command != '\0') hfi_page_command(page, command, "");
    }
}
