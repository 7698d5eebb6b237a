/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast export */
#include "shell/settings.h"
#include "shell/tool.h"

#include <string.h>

static const tool_option options[] = {
    {"output", 'o', "FILE.c", "file to write (default: standard output)", TOOL_WRITES},
    {"name", 0, "NAME", "name of the function (default: predict)", 0},
    {"single", 0, NULL, "inputs, answers and the factor behind the standard deviation in float", 0},
    {"compact", 0, NULL, "single, and most of that factor in 16 bits", 0},
    {"mean-only", 0, NULL, "no standard deviation, and therefore no factor", 0},
    {"method", 'm', "METHOD",
     "of an envelope: ellipsoid (default), closed-form, minimum-norm or\ngp (99 % probability only); see "
     "holdfast bound",
     0},
};

/* In the order of hf_closed_method. */
static const char *const methods[] = {"closed-form", "minimum-norm", "ellipsoid", "gp"};

/* The arguments, and what came of them. */
typedef struct export_request {
    const char *file, *output;
    hf_closed_method method;
    hf_export_settings settings;
    hf_export_report report;
    bool envelope;
} export_request;

static hf_status parse_export_options(tool_session *session, const tool_arguments *a, export_request *out)
{
    const char *method = argument(a, "method");
    *out = (export_request){.file = a->operand[0],
                            .output = output_of(a),
                            .method = HF_CLOSED_ELLIPSOID,
                            .settings = hf_export_settings_default(),
                            .envelope = hf_file_type(a->operand[0]) == HF_FILE_ENVELOPE};
    const hf_status status = session_settings(session, hf_export_settings_table(), &out->settings);
    if (status < 0) return status;
    if (session->json && is_standard(out->output))
        return session_misuse(session,
                              "--json and the file cannot both go to standard output; add -o FILE.c");
    if (method == NULL) return HF_OK;
    if (!out->envelope) return session_misuse(session, "--method is for envelopes");
    for (size_t k = 0; k < sizeof methods / sizeof methods[0]; k++)
        if (strcmp(methods[k], method) == 0) {
            out->method = (hf_closed_method)k;
            return HF_OK;
        }
    return session_misuse(
        session, "--method: there is no method '%s'; give ellipsoid, closed-form, minimum-norm or gp",
        method);
}

static hf_status export_model(tool_session *session, export_request *asked)
{
    hf_model *model = NULL;
    hf_status status = hf_model_load(session->ctx, asked->file, &model);
    if (status >= 0)
        status = hf_export_c(session->ctx, model, &asked->settings, asked->output, &asked->report);
    hf_model_free(model);
    return status;
}

static hf_status export_envelope(tool_session *session, export_request *asked)
{
    hf_envelope *envelope = NULL;
    hf_envelope_labels *labels = NULL;
    hf_status status = hf_envelope_load(session->ctx, asked->file, &envelope, &labels);
    if (status >= 0)
        status = warn_status(session, hf_export_envelope_c(session->ctx, envelope, labels, asked->method,
                                                           &asked->settings, asked->output, &asked->report));
    hf_envelope_labels_free(labels);
    hf_envelope_free(envelope);
    return status;
}

static void print_export_json(tool_session *session, const export_request *asked)
{
    const hf_export_report *r = &asked->report;
    const bool probed = r->probes > 0;
    session_print(session,
                  JSON_OF({"output", json_text(asked->output)}, {"name", json_string(asked->settings.name)},
                          {"data_bytes", json_count(r->data_bytes)},
                          {"stack_bytes", json_count(r->stack_bytes)},
                          {probed ? "mean_error" : NULL, json_number(r->mean_error)},
                          {probed ? "sd_error" : NULL, json_number(r->sd_error)},
                          {probed ? "probes" : NULL, json_count(r->probes)}));
}

static void print_export_text(const export_request *asked)
{
    const hf_export_report *r = &asked->report;
    char words[TOOL_WORDS];
    if (is_standard(asked->output)) return;
    say(stdout, "Wrote %s: ", asked->output);
    printf("%s of constants", bytes_in_words((double)r->data_bytes, words));
    printf(", %s of stack\n", bytes_in_words((double)r->stack_bytes, words));
    if (r->probes > 0)
        printf("Off by at most, in scales of the target at %zu probes: mean %.1e, latent sd %.1e\n",
               r->probes, r->mean_error, r->sd_error);
}

/* A float has not the digits of a target that varies little about a large number. */
static void mind_errors(const tool_session *session, const export_request *asked)
{
    const double most = 1e-5;
    if (asked->report.probes > 0 && (asked->report.mean_error > most || asked->report.sd_error > most))
        warn(session,
             "single precision costs this model up to %.1e of the target's scale in the mean and %.1e in the "
             "latent sd; double precision does not",
             asked->report.mean_error, asked->report.sd_error);
}

static hf_status run_export(tool_session *session)
{
    export_request asked;
    hf_status status = parse_export_options(session, session->arguments, &asked);
    if (status >= 0)
        status = asked.envelope ? export_envelope(session, &asked) : export_model(session, &asked);
    progress_clear(session->progress);
    if (status < 0) return status;
    mind_errors(session, &asked);
    if (session->json)
        print_export_json(session, &asked);
    else
        print_export_text(&asked);
    return status;
}

const tool_verb verb_export = {
    .name = "export",
    .operands = "MODEL.hf|ENV.hf [OPTION]...",
    .summary = "Write a model or an envelope as one file of C for controllers",
    .text = "The file is C99, needs <math.h> alone, allocates nothing, does not recurse, and has loops with "
            "constant\nbounds. Its function predicts mean and standard deviations for one row of inputs, in "
            "the units of the\ndata; that of an envelope bounds the function, as holdfast bound does in "
            "closed form, on assumptions that\na comment names. Compiled with -DHOLDFAST_SELF_TEST it has a "
            "main() that compares itself with the\nlibrary's answers. Models of counts, of more than two "
            "classes and others without a short formula are\nrefused.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf\n"
               "  holdfast export boston.hf --single -o predict.c\n"
               "  cc -std=c99 -DHOLDFAST_SELF_TEST predict.c -lm -o predict && ./predict",
    TOOL_OPTIONS(options),
    TOOL_WORK(1, 1, run_export),
};
