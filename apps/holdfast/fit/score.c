/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast score */
#include "report/report.h"

#include <stdlib.h>

static void print_score(const hf_metrics *m)
{
    printf("n            %zu\n"
           "mae          %.6g\n"
           "rmse         %.6g\n"
           "nlpd         %.6g\n"
           "coverage50   %.4f\n"
           "coverage90   %.4f\n"
           "coverage95   %.4f\n"
           "crps         %.6g\n",
           m->n, m->mae, m->rmse, m->nlpd, m->coverage50, m->coverage90, m->coverage95, m->crps);
}

/* ---- several outputs ------------------------------------------------------------------------- */

static void print_row(const char *name, const hf_metrics *m)
{
    say(stdout, "%-16s %8zu %11.5g %11.5g %11.5g %9.4f %9.4f %9.4f %11.5g\n", name, m->n, m->mae, m->rmse,
        m->nlpd, m->coverage50, m->coverage90, m->coverage95, m->crps);
}

/* Each in its own units, then all together. */
static void print_scores(tool_session *session, const hf_model *model, const hf_metrics *each,
                         const hf_metrics *all)
{
    const size_t outputs = hf_model_outputs(model);
    if (session->json) {
        json_t *json = json_metrics(all), *list = json_array();
        for (size_t t = 0; t < outputs; t++) {
            json_t *entry = json_metrics(&each[t]);
            json_object_set_new(entry, "name", json_text(hf_model_output(model, t)));
            json_array_append_new(list, entry);
        }
        json_object_set_new(json, "outputs", list);
        session_print(session, json);
        return;
    }
    printf("%-16s %8s %11s %11s %11s %9s %9s %9s %11s\n", "output", "n", "mae", "rmse", "nlpd", "cover50",
           "cover90", "cover95", "crps");
    for (size_t t = 0; t < outputs; t++) print_row(hf_model_output(model, t), &each[t]);
    print_row("all, in scales", all);
}

static hf_status score_outputs(tool_session *session, const hf_model *model, const hf_table *table)
{
    hf_metrics all, *each = calloc(hf_model_outputs(model), sizeof *each);
    hf_status status = each != NULL ? hf_score_outputs(session->ctx, model, table, each) : HF_ERR_MEMORY;
    if (status >= 0) status = warn_status(session, hf_score(session->ctx, model, table, &all));
    progress_clear(session->progress);
    if (status >= 0) print_scores(session, model, each, &all);
    free(each);
    return status;
}

static hf_status score_table(tool_session *session, const hf_model *model, const hf_table *table)
{
    if (hf_model_can(model, HF_ABILITY_CLASS_SCORES)) return score_classes(session, model, table);
    if (hf_model_can(model, HF_ABILITY_COVARIANCES)) return score_outputs(session, model, table);
    hf_metrics metrics;
    const hf_status status = warn_status(session, hf_score(session->ctx, model, table, &metrics));
    progress_clear(session->progress);
    if (status >= 0 && session->json) session_print(session, json_metrics(&metrics));
    if (status >= 0 && !session->json) print_score(&metrics);
    return status;
}

static hf_status run_score(tool_session *session)
{
    const tool_arguments *arguments = session->arguments;
    hf_model *model = NULL;
    hf_table *table = NULL;
    hf_status status = hf_model_load(session->ctx, arguments->operand[0], &model);
    if (status >= 0) status = read_table(session, arguments->operand[1], model, &table);
    if (status >= 0) status = score_table(session, model, table);
    progress_clear(session->progress);
    hf_table_free(table);
    hf_model_free(model);
    return status;
}

static const tool_option options[] = {DIALECT_OPTIONS};

const tool_verb verb_score = {
    .name = "score",
    .operands = "MODEL.hf TEST.csv [OPTION]...",
    .summary = "Score a model on rows whose target is known",
    .text =
        "mae, rmse: errors of the mean. nlpd: mean negative log density of the readings (natural logarithm,\n"
        "units of the target). coverage50/90/95: share of readings inside the central intervals. crps: mean\n"
        "continuous ranked probability score. Rows with a missing target or input do not count. Of a\n"
        "transformed target (fit --transform) mae is that of the median; all are in the target's own units.\n"
        "For counts and amounts mae is that of the median, and intervals are between quantiles; nlpd is of\n"
        "probabilities of the counts or densities of the amounts.\n"
        "Several outputs\n"
        "are scored each in its own units, and all together in units of the scale that the fit standardised\n"
        "each by.\n"
        "A classifier: accuracy: share of rows whose most probable class is the label. nlpd: mean negative "
        "log\n"
        "probability of the label. brier: mean squared distance of the probabilities from the label, from 0 "
        "to\n"
        "2. ece: expected calibration error, 10 bins: how far accuracy is from the probability that is "
        "stated;\n"
        "--json also has the bins.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast score boston.hf data/boston.csv",
    TOOL_OPTIONS(options),
    TOOL_WORK(2, 2, run_score),
};
