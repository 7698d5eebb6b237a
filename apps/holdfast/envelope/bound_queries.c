/* SPDX-License-Identifier: Apache-2.0 */
/* Where to bound: rows of a table, or a grid. */
#include "envelope/bounded.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_QUERIES = 10000000 /* of a grid: more is a slip of the pen */
};

void queries_free(queries *q)
{
    free(q->x);
    q->x = NULL;
    q->m = 0;
}

/* ---- a grid ------------------------------------------------------------------------------------------------- */

/* One input: count values from low to high. count 0: not given yet. */
typedef struct axis {
    double low, high;
    size_t count;
} axis;

static double axis_value(const axis *a, size_t k)
{
    if (a->count == 1) return a->low;
    if (k + 1 == a->count) return a->high;
    return a->low + (a->high - a->low) * ((double)k / (double)(a->count - 1));
}

static bool take_number(const char **text, double *value)
{
    char *end;
    *value = strtod(*text, &end);
    if (end == *text || !isfinite(*value)) return false;
    *text = end;
    return true;
}

/* "low:high:count" or "value", up to a comma or the end. */
static bool take_range(const char **text, axis *out)
{
    if (!take_number(text, &out->low)) return false;
    out->high = out->low;
    out->count = 1;
    if (**text != ':') return **text == ',' || **text == '\0';
    ++*text;
    if (!take_number(text, &out->high) || *(*text)++ != ':' || !isdigit((unsigned char)**text)) return false;
    char *end;
    errno = 0;
    const unsigned long long count = strtoull(*text, &end, 10);
    if (errno != 0 || count == 0 || count > MOST_QUERIES) return false;
    out->count = (size_t)count;
    *text = end;
    return **text == ',' || **text == '\0';
}

/* "name" or "\"name\"" up to an equals sign; into `name`, which has room for all of the text. */
static bool take_name(const char **text, char *name)
{
    const bool quoted = **text == '"';
    const char *c = *text + (quoted ? 1 : 0);
    while (*c != '\0' && (quoted || *c != '=')) {
        if (quoted && *c == '"' && *++c != '"') break;
        *name++ = *c++;
    }
    *name = '\0';
    *text = c + (*c == '=' ? 1 : 0);
    return *c == '=';
}

static hf_status parse_grid(bounded *run, const char *text, axis *axes)
{
    char *name = calloc(strlen(text) + 1, 1);
    if (name == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (const char *at = text; status >= 0;) {
        const char *start = at;
        axis range;
        if (!take_name(&at, name) || *name == '\0' || !take_range(&at, &range)) {
            status = MISUSE(
                run, "--grid: '%s' does not begin with NAME=LOW:HIGH:COUNT or NAME=VALUE (COUNT up to %d)",
                start, (int)MOST_QUERIES);
            break;
        }
        size_t j = 0;
        while (j < run->d && strcmp(run->feature[j], name) != 0) j++;
        if (j == run->d)
            status = REFUSE(run, "--grid: there is no input \"%s\"", name);
        else if (axes[j].count > 0)
            status = MISUSE(run, "--grid: \"%s\" is given twice", name);
        else
            axes[j] = range;
        if (*at == '\0') break;
        at++;
    }
    free(name);
    return status;
}

/* The last input runs fastest, so that neighbours in the table are neighbours in space. */
static hf_status fill_grid(const axis *axes, size_t d, queries *out)
{
    out->x = calloc(out->m * d + 1, sizeof *out->x);
    if (out->x == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < out->m; i++) {
        size_t rest = i;
        for (size_t j = d; j-- > 0;) {
            out->x[i * d + j] = axis_value(&axes[j], rest % axes[j].count);
            rest /= axes[j].count;
        }
    }
    return HF_OK;
}

static hf_status make_grid(bounded *run, const char *text, queries *out)
{
    axis *axes = calloc(run->d + 1, sizeof *axes);
    if (axes == NULL) return HF_ERR_MEMORY;
    hf_status status = parse_grid(run, text, axes);
    out->m = 1;
    for (size_t j = 0; j < run->d && status >= 0; j++) {
        if (axes[j].count == 0) {
            (void)MISUSE(run, "--grid: there is nothing about the input \"%s\"", run->feature[j]);
            status = HF_ERR_ARGUMENT;
        } else if (axes[j].count * out->m > MOST_QUERIES) { /* two numbers up to that fit */
            status = MISUSE(run, "--grid: more than %d places", (int)MOST_QUERIES);
        } else {
            out->m *= axes[j].count;
            if (axes[j].count > 1)
                out->extent = (out->extent > 0.0 ? out->extent : 1.0) * fabs(axes[j].high - axes[j].low);
        }
    }
    if (status >= 0) status = fill_grid(axes, run->d, out);
    free(axes);
    return status;
}

/* ---- a table ------------------------------------------------------------------------------------------------- */

static hf_status take_column(bounded *run, const hf_table *table, size_t j, double *x)
{
    const double *numbers = NULL;
    const hf_status status = session_column(&run->session, table, run->feature[j], false, &numbers);
    for (size_t i = 0; i < hf_table_rows(table) && status >= 0; i++) x[i * run->d + j] = numbers[i];
    return status;
}

static hf_status read_queries(bounded *run, const char *path, queries *out)
{
    hf_table *table = NULL;
    hf_status status = read_table(&run->session, path, NULL, &table);
    if (status < 0) return status;
    out->m = hf_table_rows(table);
    out->x = calloc(out->m * run->d + 1, sizeof *out->x);
    if (out->x == NULL) status = HF_ERR_MEMORY;
    if (status >= 0 && out->m == 0) status = REFUSE(run, "%s: no rows", hf_table_source(table));
    for (size_t j = 0; j < run->d && status >= 0; j++) status = take_column(run, table, j, out->x);
    hf_table_free(table);
    return status;
}

hf_status queries_make(bounded *run, queries *out)
{
    const char *path = argument(run->arguments, "at"), *grid = argument(run->arguments, "grid");
    *out = (queries){0};
    hf_status status = HF_OK;
    if (grid != NULL)
        status = make_grid(run, grid, out);
    else if (path != NULL)
        status = read_queries(run, path, out);
    if (status < 0) queries_free(out);
    return status;
}
