/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast score */
#include "tool.h"

static bool print_score(const tool_session *session, const hf_metrics *m)
{
    if (session->json)
        return json_print(json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n", (json_int_t)m->n, "mae",
                                    json_number(m->mae), "rmse", json_number(m->rmse), "nlpd",
                                    json_number(m->nlpd), "coverage50", json_number(m->coverage50),
                                    "coverage90", json_number(m->coverage90), "coverage95",
                                    json_number(m->coverage95), "crps", json_number(m->crps)));
    printf("n            %zu\n"
           "mae          %.6g\n"
           "rmse         %.6g\n"
           "nlpd         %.6g\n"
           "coverage50   %.4f\n"
           "coverage90   %.4f\n"
           "coverage95   %.4f\n"
           "crps         %.6g\n",
           m->n, m->mae, m->rmse, m->nlpd, m->coverage50, m->coverage90, m->coverage95, m->crps);
    return true;
}

static int run(const tool_arguments *arguments)
{
    tool_session session;
    int code = session_open(arguments, &session);
    if (code != TOOL_OK) return code;
    hf_model *model = NULL;
    hf_table *table = NULL;
    hf_metrics metrics;
    hf_status status = hf_model_load(session.ctx, arguments->operand[0], &model);
    if (status >= 0) status = hf_table_read_csv(session.ctx, arguments->operand[1], &table);
    if (status >= 0) status = warn_status(&session, hf_score(session.ctx, model, table, &metrics));
    progress_clear(session.progress);
    bool printed = status < 0 || print_score(&session, &metrics);
    hf_table_free(table);
    hf_model_free(model);
    code = session_close(&session, status);
    return code == TOOL_OK && !printed ? TOOL_FAILED : code;
}

const tool_verb verb_score = {
    .name = "score",
    .operands = "MODEL.hf TEST.csv",
    .summary = "Score a model on rows whose target is known",
    .text =
        "mae, rmse: errors of the mean. nlpd: mean negative log density of the readings (natural logarithm,\n"
        "units of the target). coverage50/90/95: share of readings inside the central intervals. crps: mean\n"
        "continuous ranked probability score. Rows with a missing target or input do not count.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast score boston.hf data/boston.csv",
    .options = NULL,
    .option_count = 0,
    .least = 2,
    .most = 2,
    .run = run,
};
