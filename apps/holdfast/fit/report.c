/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast report */
#include "shell/tool.h"

#include <string.h>

static const tool_option options[] = {
    {"output", 'o', "FILE.html", "file to write (default: standard output)", TOOL_WRITES},
};

static hf_status write_report(tool_session *session, const hf_model *model, const char *output)
{
    const tool_arguments *a = session->arguments;
    hf_table *test = NULL;
    hf_status status = HF_OK;
    if (a->operands > 1) {
        const hf_dialect dialect = hf_model_dialect(model);
        status = hf_table_read(session->ctx, a->operand[1], &dialect, &test);
    }
    if (status >= 0) status = hf_model_report_html(session->ctx, model, test, a->operand[0], output);
    hf_table_free(test);
    return status;
}

static hf_status work(tool_session *session)
{
    const char *given = argument(session->arguments, "output"), *output = given != NULL ? given : "-";
    hf_model *model = NULL;
    if (session->json && strcmp(output, "-") == 0)
        return session_misuse(session,
                              "--json and the page cannot both go to standard output; add -o FILE.html");
    hf_status status = hf_model_load(session->ctx, session->arguments->operand[0], &model);
    if (status >= 0) status = write_report(session, model, output);
    hf_model_free(model);
    progress_clear(session->progress);
    if (status < 0) return status;
    if (session->json)
        session_print(session, json_pack("{s:o}", "output", json_text(output)));
    else if (strcmp(output, "-") != 0)
        say(stdout, "Wrote %s\n", output);
    return status;
}

const tool_verb verb_report = {
    .name = "report",
    .operands = "MODEL.hf [TEST.csv] [-o FILE.html]",
    .summary = "Write a page of HTML about a model, for people",
    .text = "One file that needs no network: the fit in words, the data, how far to trust the model (each "
            "reading\n"
            "predicted from the others, and the rows of TEST.csv if given), doubted readings in a table that "
            "can be\n"
            "sorted, shares of the inputs, what is predicted along each of them, residuals, hyperparameters, "
            "and\n"
            "checksums. It has a light and a dark side and can be printed.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast report boston.hf -o boston.html",
    TOOL_OPTIONS(options),
    .least = 1,
    .most = 2,
    .run = session_run,
    .work = work,
};
