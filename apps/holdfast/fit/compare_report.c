/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast compare: scores, the model to take, and those that are as good. */
#include "fit/compare.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_NAME = 40 /* a longer one pushes its row to the right */
};

/* Models in the order of a score, and how far each is from the best. */
typedef struct model_place {
    size_t model;
    double score, difference, error;
} model_place;

static double score_of(const hf_compared *c, hf_criterion by)
{
    const double scores[] = {[HF_CRITERION_CRPS] = c->metrics.crps,
                             [HF_CRITERION_NLPD] = c->metrics.nlpd,
                             [HF_CRITERION_MAE] = c->metrics.mae,
                             [HF_CRITERION_RMSE] = c->metrics.rmse};
    return scores[by];
}

static int by_score(const void *a, const void *b)
{
    const model_place *left = a, *right = b;
    if (left->score != right->score) return left->score < right->score ? -1 : 1;
    return left->model < right->model ? -1 : left->model > right->model;
}

static model_place *rank(hf_context *ctx, const hf_comparison *comparison, hf_criterion by)
{
    const size_t count = hf_comparison_models(comparison), best = hf_comparison_best(comparison, by);
    model_place *list = calloc(count, sizeof *list);
    for (size_t m = 0; m < count && list != NULL; m++) {
        model_place *p = &list[m];
        *p = (model_place){.model = m, .score = score_of(hf_comparison_scores(comparison, m), by)};
        if (hf_comparison_difference(ctx, comparison, by, m, best, &p->difference, &p->error) < 0) {
            free(list);
            list = NULL;
        }
    }
    if (list != NULL) qsort(list, count, sizeof *list, by_score);
    return list;
}

/* Other readings of the same kind could turn such a difference round. */
static bool is_as_good(const model_place *p)
{
    return fabs(p->difference) < 2 * p->error || p->difference == 0.0;
}

/* ---- text ------------------------------------------------------------------------------------------------- */

static int name_width(const hf_comparison *comparison)
{
    size_t width = strlen("model");
    for (size_t m = 0; m < hf_comparison_models(comparison); m++) {
        const size_t length = strlen(hf_comparison_name(comparison, m));
        if (length > width) width = length < LONGEST_NAME ? length : LONGEST_NAME;
    }
    return (int)width;
}

static void print_scores(const hf_comparison *comparison, const model_place *list)
{
    const int width = name_width(comparison);
    printf("  %-*s %10s %10s %10s %8s %10s %6s %9s\n", width, "model", "rmse", "mae", "median", "nlpd",
           "crps", "95 %", "seconds");
    for (size_t k = 0; k < hf_comparison_models(comparison); k++) {
        const hf_compared *c = hf_comparison_scores(comparison, list[k].model);
        const hf_metrics *m = &c->metrics;
        say(stdout, "  %-*s %10.4g %10.4g %10.4g %8.3f %10.4g %6.2f %9.2f\n", width,
            hf_comparison_name(comparison, list[k].model), m->rmse, m->mae, c->median_error, m->nlpd, m->crps,
            m->coverage95, c->seconds);
    }
}

static void print_differences(const hf_comparison *comparison, const model_place *list, hf_criterion by)
{
    const size_t count = hf_comparison_models(comparison);
    size_t equal = 0;
    for (size_t k = 1; k < count; k++) equal += is_as_good(&list[k]) ? 1 : 0;
    say(stdout, "\nTake %s: its %s is the least%s\n", hf_comparison_name(comparison, list[0].model),
        hf_enum_name(HF_ENUM_CRITERION, by),
        equal > 0 ? ", though others are within two standard errors of it." : ".");
    for (size_t k = 1; k < count; k++) {
        say(stdout, "  %s: %.3g more", hf_comparison_name(comparison, list[k].model), list[k].difference);
        if (isfinite(list[k].error)) printf(", standard error %.2g", list[k].error);
        printf("%s\n", is_as_good(&list[k]) ? ", not distinguishable" : "");
    }
}

static void warn_of_fits(const tool_session *session, const hf_comparison *comparison)
{
    const hf_compare_settings *settings = hf_comparison_settings_of(comparison);
    for (size_t m = 0; m < hf_comparison_models(comparison); m++) {
        const hf_compared *c = hf_comparison_scores(comparison, m);
        if (c->warnings > 0)
            warn(session, "%s: %zu of %zu fits ended with a warning, such as: %s",
                 hf_comparison_name(comparison, m), c->warnings, settings->folds * settings->repeats,
                 c->warning);
    }
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static json_t *json_contender(const hf_comparison *comparison, const model_place *p)
{
    const hf_compared *c = hf_comparison_scores(comparison, p->model);
    json_t *object = json_metrics(&c->metrics);
    JSON_ADD(object, {"name", json_text(hf_comparison_name(comparison, p->model))},
             {"median_error", json_number(c->median_error)}, {"seconds", json_number(c->seconds)},
             {"warnings", json_count(c->warnings)},
             {"warning", c->warnings > 0 ? json_text(c->warning) : json_null()},
             {"difference", json_number(p->difference)}, {"standard_error", json_number(p->error)},
             {"distinguishable", json_boolean(!is_as_good(p))});
    return object;
}

static void print_comparison_json(tool_session *session, const hf_comparison *comparison,
                                  const model_place *list, const char *target, hf_criterion by)
{
    const hf_compare_settings *settings = hf_comparison_settings_of(comparison);
    json_t *models = json_array();
    for (size_t k = 0; k < hf_comparison_models(comparison); k++)
        json_array_append_new(models, json_contender(comparison, &list[k]));
    session_print(
        session,
        JSON_OF({"target", json_text(target)}, {"readings", json_count(hf_comparison_readings(comparison))},
                {"folds", json_count(settings->folds)}, {"repeats", json_count(settings->repeats)},
                {"by", json_string(hf_enum_name(HF_ENUM_CRITERION, by))},
                {"take", json_text(hf_comparison_name(comparison, list[0].model))}, {"models", models}));
}

hf_status report_comparison(tool_session *session, const hf_comparison *comparison, const char *target,
                            hf_criterion by)
{
    const hf_compare_settings *settings = hf_comparison_settings_of(comparison);
    model_place *list = rank(session->ctx, comparison, by);
    if (list == NULL) return HF_ERR_MEMORY;
    warn_of_fits(session, comparison);
    if (session->json) {
        print_comparison_json(session, comparison, list, target, by);
    } else {
        say(stdout, "%zu-fold cross-validation of %zu readings of %s", settings->folds,
            hf_comparison_readings(comparison), target);
        if (settings->repeats > 1) printf(", %zu times", settings->repeats);
        printf("; the same folds for every model\n\n");
        print_scores(comparison, list);
        if (hf_comparison_models(comparison) > 1) print_differences(comparison, list, by);
    }
    free(list);
    return HF_OK;
}

/* ---- predictions ------------------------------------------------------------------------------------------ */

/* Numbers for each reading of each repeat. */
typedef enum cell {
    ROW,
    LINE,
    REPEAT,
    FOLD,
    READING,
    MEAN, /* of a model, as is the next */
    SD
} cell;

static double read_comparison_cell(const hf_table *from, const hf_comparison *c, size_t model, cell which,
                                   size_t repeat, size_t i)
{
    switch (which) {
    case ROW:
        return (double)(hf_comparison_rows(c)[i] + 1);
    case LINE:
        return (double)hf_table_line(from, hf_comparison_rows(c)[i]);
    case REPEAT:
        return (double)(repeat + 1);
    case FOLD:
        return (double)(hf_comparison_folds(c, repeat)[i] + 1);
    case READING:
        return hf_comparison_targets(c)[i];
    case MEAN:
        return hf_comparison_means(c, model, repeat)[i];
    default:
        return hf_comparison_sds(c, model, repeat)[i];
    }
}

static hf_status add_comparison_column(hf_context *ctx, const hf_table *from, const hf_comparison *c,
                                       size_t model, const char *name, const char *ending, cell which,
                                       hf_table *to)
{
    const size_t n = hf_comparison_readings(c), rows = hf_table_rows(to);
    double *column = calloc(rows + 1, sizeof *column);
    if (column == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < rows; k++) column[k] = read_comparison_cell(from, c, model, which, k / n, k % n);
    const hf_status status = table_set_named(ctx, to, name, ending, column);
    free(column);
    return status;
}

hf_status comparison_table(hf_context *ctx, const hf_table *from, const hf_comparison *c, hf_table **out)
{
    static const char *const first[] = {
        [ROW] = "row", [LINE] = "line", [REPEAT] = "repeat", [FOLD] = "fold", [READING] = "reading"};
    hf_table *table = NULL;
    hf_status status =
        hf_table_create(ctx, hf_comparison_readings(c) * hf_comparison_settings_of(c)->repeats, &table);
    for (cell k = ROW; k <= READING && status >= 0; k++)
        status = add_comparison_column(ctx, from, c, 0, first[k], "", k, table);
    for (size_t m = 0; m < hf_comparison_models(c) && status >= 0; m++) {
        status = add_comparison_column(ctx, from, c, m, hf_comparison_name(c, m), "_mean", MEAN, table);
        if (status >= 0)
            status = add_comparison_column(ctx, from, c, m, hf_comparison_name(c, m), "_sd", SD, table);
    }
    if (status >= 0)
        *out = table;
    else
        hf_table_free(table);
    return status;
}
