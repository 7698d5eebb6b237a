/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast explain */
#include "certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"at", 0, "X.csv", "rows to explain, with the model's inputs (required)", false},
    {"step", 0, "G", "how far each input is raised and lowered (required)", false},
    {"sds", 0, NULL, "the step is in standard deviations of each input over the rows\nof the fit", false},
    {"features", 'f', "A,B,...", "only these inputs (default: all)", true},
    {"of", 0, "NAME",
     "which output, or which class's probability (default: the first;\nof two classes the second)", false},
    {"mean", 0, NULL, "average over the rows", false},
    {"tolerance", 0, "E", "of each range (default 0.01); a score is enclosed to four of them", false},
    {"time-limit", 0, "S", "seconds for a range (default 0: none): wider, just as true", false},
    {"output", 'o', "OUT.csv", "file to write (default: standard output): row, input, lower,\nupper", false},
};

typedef struct request {
    double step;
    hf_certify_settings settings;
} request;

static hf_status parse(certified *run, request *out)
{
    const tool_arguments *a = run->arguments;
    *out = (request){.step = -1.0, .settings = hf_certify_settings_default()};
    if (!argument_double(a, "step", &out->step) ||
        !argument_double(a, "tolerance", &out->settings.tolerance) ||
        !argument_double(a, "time-limit", &out->settings.time_limit)) {
        run->refused = TOOL_USAGE;
        return HF_ERR_ARGUMENT;
    }
    if (!has_argument(a, "at")) return certified_misuse(run, "--at is missing: which rows?");
    if (!has_argument(a, "step"))
        return certified_misuse(run, "--step is missing: how far do the inputs move?");
    if (!(out->step > 0.0) || !isfinite(out->step))
        return certified_misuse(run, "--step: %g is not a number above 0", out->step);
    if (!(out->settings.tolerance > 0.0))
        return certified_misuse(run, "--tolerance: %g is not above 0", out->settings.tolerance);
    if (!(out->settings.time_limit >= 0.0))
        return certified_misuse(run, "--time-limit: %g is not a number from 0 on", out->settings.time_limit);
    return certified_of(run, &out->settings.output);
}

static void average(size_t m, size_t d, double *scores)
{
    for (size_t j = 0; j < d; j++) {
        double sum = 0.0;
        for (size_t k = 0; k < m; k++) sum += scores[k * d + j];
        scores[j] = sum / (double)m;
    }
}

static void print_scores(certified *run, size_t m, const double *lower, const double *upper)
{
    fputs("row,input,lower,upper", run->csv);
    for (size_t k = 0; k < m; k++)
        for (size_t j = 0; j < run->d; j++) {
            if (run->unit[j] == 0.0) continue;
            fprintf(run->csv, "\n%zu,\"", k + 1);
            for (const char *c = hf_model_feature(run->model, j); *c != '\0'; c++)
                fputs(*c == '"' ? "\"\"" : (char[2]){*c, '\0'}, run->csv);
            fputc('"', run->csv);
            certified_number(run, lower[k * run->d + j]);
            certified_number(run, upper[k * run->d + j]);
        }
}

static hf_status explain(certified *run, const request *asked)
{
    const size_t numbers = run->m * run->d;
    double *step = calloc(run->d, sizeof *step), *lower = calloc(2 * numbers + 1, sizeof *lower);
    run->csv = open_memstream(&run->text, &run->length);
    hf_status status = step != NULL && lower != NULL && run->csv != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d && status >= 0; j++) step[j] = asked->step * run->unit[j];
    if (status >= 0)
        status = warn_status(
            &run->session, run->classifier != NULL && hf_model_classes(run->model) == 2
                               ? hf_explain_class(run->session.ctx, run->classifier, &asked->settings, run->m,
                                                  run->x, step, lower, lower + numbers)
                               : hf_explain(run->session.ctx, run->posterior, HF_CERTIFY_MEAN,
                                            &asked->settings, run->m, run->x, step, lower, lower + numbers));
    if (status >= 0) {
        const bool mean = has_argument(run->arguments, "mean") && run->m > 0;
        if (mean) {
            average(run->m, run->d, lower);
            average(run->m, run->d, lower + numbers);
        }
        print_scores(run, mean ? 1 : run->m, lower, lower + numbers);
    }
    free(step);
    free(lower);
    return status;
}

static int run_explain(const tool_arguments *arguments)
{
    certified run;
    request asked;
    const int code = certified_open(arguments, &run);
    if (code != TOOL_OK) return code;
    const char *output = argument(arguments, "output");
    hf_status status = certified_load(&run);
    if (status >= 0) status = parse(&run, &asked);
    if (status >= 0) status = certified_points(&run);
    if (status >= 0) status = certified_units(&run);
    if (status >= 0) status = explain(&run, &asked);
    if (status >= 0) status = certified_write(&run, output);
    if (status >= 0 && run.session.json)
        json_print(json_pack("{s:s, s:I}", "output", output, "rows", (json_int_t)run.m));
    return certified_close(&run, status);
}

const tool_verb verb_explain = {
    .name = "explain",
    .operands = "MODEL.hf --at X.csv --step G [OPTION]...",
    .summary = "Score what each input does to a prediction, with guarantees",
    .text = "The score of an input: the largest and the least value of the prediction while the input is "
            "raised by up "
            "to\n"
            "G, less those while it is lowered; the others held. Above 0, raising it raises the prediction. "
            "The true "
            "score\n"
            "is surely between lower and upper. The prediction is the mean, of two classes the probability "
            "of --of.",
    .example = "  holdfast fit data/hills.csv -t minutes -f miles -o hills.hf\n"
               "  holdfast explain hills.hf --at data/hills.csv --step 1 --tolerance 1 --mean -o scores.csv",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_explain,
};
