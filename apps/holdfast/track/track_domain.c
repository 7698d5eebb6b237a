/* SPDX-License-Identifier: Apache-2.0 */
/* Where a new track may measure: a box that is written out, or the rows of a table. */
#include "track/tracked.h"

#include <stdlib.h>
#include <string.h>

void plan_free(track_plan *plan)
{
    TOOL_FREE(plan->lower, plan->upper, plan->points);
    names_free(&plan->sides);
    TOOL_FREE(plan->names, plan->label);
    hf_table_free(plan->table);
    hf_table_free(plan->ages);
    free(plan->kernel);
    json_decref(plan->advice);
}

/* Columns of tables of readings have names of their own. */
static hf_status check_names(tracked *run, const track_plan *plan)
{
    static const char *const taken[] = {"time", "noise", "request", "candidate", "sd"};
    const size_t d = plan->settings.domain.dimension;
    hf_status status = session_name(&run->session, "the target", plan->target);
    for (size_t j = 0; j < d && status >= 0; j++)
        status = session_name(&run->session, "an input", plan->names[j]);
    if (status < 0) return status;
    for (size_t j = 0; j < d; j++) {
        for (size_t k = 0; k < sizeof taken / sizeof taken[0]; k++)
            if (strcmp(plan->names[j], taken[k]) == 0 || strcmp(plan->target, taken[k]) == 0)
                return REFUSE(run, "\"%s\" means something else in tables of readings: call the %s otherwise",
                              taken[k], strcmp(plan->target, taken[k]) == 0 ? "target" : "input");
        if (strcmp(plan->names[j], plan->target) == 0)
            return REFUSE(run, "\"%s\" cannot be the target and an input", plan->target);
        for (size_t k = 0; k < j; k++)
            if (strcmp(plan->names[j], plan->names[k]) == 0)
                return REFUSE(run, "two inputs are called \"%s\"", plan->names[j]);
    }
    return HF_OK;
}

/* ---- a box ----------------------------------------------------------------------------------------------------- */

static hf_status plan_box(tracked *run, track_plan *plan)
{
    char from[32], to[32];
    if (!argument_names(run->arguments, "box", &plan->sides)) return session_told(&run->session);
    const size_t d = plan->sides.count;
    plan->names = calloc(d, sizeof *plan->names);
    plan->lower = calloc(d, sizeof *plan->lower);
    plan->upper = calloc(d, sizeof *plan->upper);
    if (plan->names == NULL || plan->lower == NULL || plan->upper == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < d; j++) {
        char *side = plan->sides.text + (plan->sides.list[j] - plan->sides.text);
        if (!take_side(side, &plan->names[j], &plan->lower[j], &plan->upper[j]))
            return MISUSE(run, "--box: part %zu of '%s' is neither NAME=LOW:HIGH nor NAME=VALUE", j + 1,
                          argument(run->arguments, "box"));
        if (plan->lower[j] > plan->upper[j])
            return MISUSE(run, "--box: %s begins at %s and ends below, at %s", plan->names[j],
                          hf_format_double(plan->lower[j], from), hf_format_double(plan->upper[j], to));
    }
    plan->settings.domain = (hf_domain){.dimension = d, .lower = plan->lower, .upper = plan->upper};
    return HF_OK;
}

/* ---- candidates ------------------------------------------------------------------------------------------------ */

/* The label column: named, or the first of text. SIZE_MAX: none. */
static hf_status find_labels(tracked *run, const track_plan *plan, size_t *column)
{
    const char *name = argument(run->arguments, "label");
    *column = SIZE_MAX;
    if (name != NULL) return hf_table_find(run->session.ctx, plan->table, name, column);
    for (size_t j = 0; j < hf_table_columns(plan->table) && *column == SIZE_MAX; j++)
        if (!hf_table_is_numeric(plan->table, j)) *column = j;
    return HF_OK;
}

typedef struct labelled {
    const char *label;
    size_t row;
} labelled;

static int by_label(const void *a, const void *b)
{
    const labelled *left = a, *right = b;
    const int order = strcmp(left->label, right->label);
    return order != 0 ? order : (left->row > right->row) - (left->row < right->row);
}

/* No two candidates are called the same. */
static hf_status check_labels(tracked *run, const track_plan *plan, size_t m)
{
    labelled *sorted = calloc(m, sizeof *sorted);
    hf_status status = sorted != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < m && status >= 0; i++) sorted[i] = (labelled){plan->label[i], i};
    if (status >= 0) qsort(sorted, m, sizeof *sorted, by_label);
    for (size_t i = 1; i < m && status >= 0; i++)
        if (strcmp(sorted[i - 1].label, sorted[i].label) == 0)
            status = REFUSE(run, "%s, lines %zu and %zu: two candidates are called \"%s\"",
                            hf_table_source(plan->table), hf_table_line(plan->table, sorted[i - 1].row),
                            hf_table_line(plan->table, sorted[i].row), sorted[i].label);
    free(sorted);
    return status;
}

static hf_status take_label(tracked *run, track_plan *plan, size_t i, size_t column)
{
    char buffer[32], what[512];
    const char *label = hf_table_field(plan->table, i, column, buffer);
    if (label == NULL || label == buffer || *label == '\0')
        return REFUSE(run, "%s, line %zu: the candidate has no name in \"%s\"", hf_table_source(plan->table),
                      hf_table_line(plan->table, i), plan->called);
    plan->label[i] = label;
    snprintf(what, sizeof what, "%s, line %zu: the candidate", hf_table_source(plan->table),
             hf_table_line(plan->table, i));
    return session_name(&run->session, what, label);
}

static hf_status take_labels(tracked *run, track_plan *plan, size_t column, size_t m)
{
    if (column == SIZE_MAX) return HF_OK;
    plan->called = hf_table_name(plan->table, column);
    plan->label = calloc(m, sizeof *plan->label);
    if (plan->label == NULL) return HF_ERR_MEMORY;
    hf_status status = HF_OK;
    for (size_t i = 0; i < m && status >= 0; i++) status = take_label(run, plan, i, column);
    return status >= 0 ? check_labels(run, plan, m) : status;
}

/* Names of the input columns: given, or all of numbers but the label. */
static hf_status choose_inputs(tracked *run, track_plan *plan, const tool_names *given, size_t label)
{
    size_t d = 0;
    plan->names = calloc(given->count + hf_table_columns(plan->table) + 1, sizeof *plan->names);
    if (plan->names == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < given->count; k++) {
        size_t column;
        const hf_status status = hf_table_find(run->session.ctx, plan->table, given->list[k], &column);
        if (status < 0) return status;
        plan->names[d++] = hf_table_name(plan->table, column);
    }
    for (size_t j = 0; j < hf_table_columns(plan->table) && given->count == 0; j++)
        if (j != label && hf_table_is_numeric(plan->table, j))
            plan->names[d++] = hf_table_name(plan->table, j);
    plan->settings.domain.dimension = d;
    return d > 0 ? HF_OK
                 : REFUSE(run, "%s: no inputs: no column of numbers%s", hf_table_source(plan->table),
                          label != SIZE_MAX ? " beside the label" : "");
}

static hf_status plan_candidates(tracked *run, track_plan *plan)
{
    tool_names given = {0};
    size_t label = SIZE_MAX;
    hf_status status = read_table(&run->session, argument(run->arguments, "candidates"), NULL, &plan->table);
    const size_t m = status >= 0 ? hf_table_rows(plan->table) : 0;
    if (status >= 0 && m == 0) status = REFUSE(run, "%s: a header and no rows", hf_table_source(plan->table));
    if (status >= 0 && !argument_names(run->arguments, "features", &given)) {
        status = session_told(&run->session);
    }
    if (status >= 0) status = find_labels(run, plan, &label);
    if (status >= 0) status = choose_inputs(run, plan, &given, label);
    const size_t d = plan->settings.domain.dimension;
    if (status >= 0 && (plan->points = calloc(m * d + 1, sizeof *plan->points)) == NULL)
        status = HF_ERR_MEMORY;
    for (size_t j = 0; j < d && status >= 0; j++) {
        const double *numbers = NULL;
        status = session_column(&run->session, plan->table, plan->names[j], false, &numbers);
        for (size_t i = 0; i < m && status >= 0; i++) plan->points[i * d + j] = numbers[i];
    }
    if (status >= 0) status = take_labels(run, plan, label, m);
    names_free(&given);
    plan->settings.domain.candidates = m;
    plan->settings.domain.points = plan->points;
    return status;
}

hf_status plan_domain(tracked *run, track_plan *plan)
{
    const bool box = has_argument(run->arguments, "box"), points = has_argument(run->arguments, "candidates");
    if (box == points)
        return MISUSE(run, box ? "--box and --candidates exclude each other"
                               : "--box or --candidates is missing: where can be measured?");
    if (box && (has_argument(run->arguments, "label") || has_argument(run->arguments, "features")))
        return MISUSE(run, "--%s is for --candidates",
                      has_argument(run->arguments, "label") ? "label" : "features");
    hf_status status = box ? plan_box(run, plan) : plan_candidates(run, plan);
    if (status >= 0) status = check_names(run, plan);
    plan->settings.names = plan->names;
    return status;
}
