/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast report */
#include "fit/report_lines.h"

#include <stdlib.h>

static const tool_option options[] = {
    {"certificates", 0, "FILE.jsonl",
     "show these certificates of certify --format jsonl, which must\nbe about this very model", TOOL_READS},
    {"study", 0, "STUDY.hf", "show this study: its best settings and how it went", TOOL_READS},
    {"output", 'o', "FILE.html", "file to write (default: standard output)", TOOL_WRITES},
};

/* Parts of the page besides the model, let go in one place. */
typedef struct extras {
    hf_table *test, *certificates;
    hf_study *study;
    char *command, *study_command;
} extras;

static hf_status read_extras(tool_session *session, const hf_model *model, extras *out)
{
    const tool_arguments *a = session->arguments;
    const char *certificates = argument(a, "certificates"), *study = argument(a, "study");
    hf_status status = HF_OK;
    out->command = command_text(a);
    if (out->command == NULL) return HF_ERR_MEMORY;
    if (a->operands > 1) {
        const hf_dialect dialect = hf_model_dialect(model);
        status = hf_table_read(session->ctx, a->operand[1], &dialect, &out->test);
    }
    if (status >= 0 && certificates != NULL)
        status = report_read_lines(session, certificates, &out->certificates);
    if (status < 0 || study == NULL) return status;
    out->study_command = command_of((const char *const[]){"holdfast", "study", "show", study, NULL});
    return out->study_command != NULL ? hf_study_file_open(session->ctx, study, false, &out->study)
                                      : HF_ERR_MEMORY;
}

static void free_extras(extras *e)
{
    hf_table_free(e->test);
    hf_table_free(e->certificates);
    hf_study_free(e->study);
    free(e->command);
    free(e->study_command);
}

static hf_status write_report(tool_session *session, const hf_model *model, const char *output)
{
    extras e = {0};
    hf_status status = read_extras(session, model, &e);
    const hf_page_parts parts = {.test = e.test,
                                 .certificates = e.certificates,
                                 .study = e.study,
                                 .study_command = e.study_command,
                                 .command = e.command};
    if (status >= 0) status = hf_model_report_html(session->ctx, model, &parts, output);
    free_extras(&e);
    return status;
}

static hf_status work(tool_session *session)
{
    const char *output = output_of(session->arguments);
    hf_model *model = NULL;
    if (session->json && is_standard(output))
        return session_misuse(session,
                              "--json and the page cannot both go to standard output; add -o FILE.html");
    hf_status status = hf_model_load(session->ctx, session->arguments->operand[0], &model);
    if (status >= 0) status = write_report(session, model, output);
    hf_model_free(model);
    progress_clear(session->progress);
    if (status < 0) return status;
    if (session->json)
        session_print(session, JSON_OF({"output", json_text(output)}));
    else if (!is_standard(output))
        say(stdout, "Wrote %s\n", output);
    return status;
}

const tool_verb verb_report = {
    .name = "report",
    .operands = "MODEL.hf [TEST.csv] [-o FILE.html] [OPTION]...",
    .summary = "Write a page of HTML about a model, for people",
    .text =
        "One file that needs no network: the fit in words, the data, how far to trust the model (each\n"
        "reading predicted from the others, and the rows of TEST.csv if given), doubted readings in a table\n"
        "that can be sorted, shares of the inputs, what is predicted along each of them, residuals,\n"
        "certificates, an optimisation study, hyperparameters, and how to make it again: command, version,\n"
        "seed and checksums. It has a light and a dark side and can be printed.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast report boston.hf -o boston.html",
    TOOL_OPTIONS(options),
    TOOL_WORK(1, 2, work),
};
