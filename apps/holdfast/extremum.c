/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast extremum */
#include "certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"minimum", 0, NULL, "the least value", false},
    {"maximum", 0, NULL, "the largest", false},
    {"box", 0, "L.csv,U.csv",
     "where: from the rows of one table to those of another (default:\nthe range of the rows that the model "
     "was fitted to)",
     false},
    {"beta", 0, "B", "of mean + B sd, B of either sign (default 0: of the mean)", false},
    {"of", 0, "NAME", "which of several outputs (default: the first)", false},
    {"tolerance", 0, "E",
     "how far the value may be from the true extremum (default: a\nthousandth of the target's scale)", false},
    {"time-limit", 0, "S", "seconds for a box (default 0: none)", false},
    {"rigorous", 0, NULL, "proof against rounding", false},
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): the inputs there,\nvalue, bound (no value in the box is "
     "beyond it), status, "
     "nodes,\nseconds",
     false},
};

static hf_status parse(certified *run, hf_certify_settings *out)
{
    const tool_arguments *a = run->arguments;
    *out = hf_certify_settings_default();
    out->beta = 0.0;
    out->tolerance = 0.0;
    out->upper_only = has_argument(a, "maximum");
    out->lower_only = has_argument(a, "minimum");
    out->rigorous = has_argument(a, "rigorous");
    if (!argument_double(a, "beta", &out->beta) || !argument_double(a, "tolerance", &out->tolerance) ||
        !argument_double(a, "time-limit", &out->time_limit)) {
        run->refused = TOOL_USAGE;
        return HF_ERR_ARGUMENT;
    }
    if (out->upper_only == out->lower_only)
        return certified_misuse(run, out->upper_only ? "--minimum and --maximum exclude each other"
                                                     : "--minimum or --maximum is missing");
    if (has_argument(a, "tolerance") && !(out->tolerance > 0.0))
        return certified_misuse(run, "--tolerance: %g is not above 0", out->tolerance);
    if (!(out->time_limit >= 0.0) || !isfinite(out->beta))
        return certified_misuse(run, "--%s: not a number that it can be",
                                isfinite(out->beta) ? "time-limit" : "beta");
    return certified_of(run, &out->output);
}

/* A thousandth of the mean's range over the middles of what there is to search: crude, and of the right unit. */
static hf_status choose_tolerance(certified *run, hf_certify_settings *settings)
{
    hf_table *rows = NULL;
    if (settings->tolerance > 0.0) return HF_OK;
    settings->tolerance = 0.01;
    if (run->classifier != NULL || hf_model_outputs(run->model) > 1) return HF_OK;
    if (hf_model_training(run->session.ctx, run->model, &rows) < 0) return HF_OK;
    const double *y = table_column(run->session.ctx, rows, hf_model_target(run->model));
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; y != NULL && i < hf_table_rows(rows); i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    if (high > low) settings->tolerance = 1e-3 * (high - low);
    hf_table_free(rows);
    return HF_OK;
}

static hf_status search(certified *run, const hf_certify_settings *settings)
{
    static const char *const names[] = {"value", "bound", "status", "nodes", "seconds", NULL};
    hf_status status = certified_begin(run, names);
    if (status < 0) return status;
    hf_range *out = calloc(run->m + 1, sizeof *out);
    double *at = calloc(run->m * run->d + 1, sizeof *at);
    if (out == NULL || at == NULL) status = HF_ERR_MEMORY;
    if (status >= 0)
        status = warn_status(&run->session,
                             hf_certify_boxes(run->session.ctx, run->posterior,
                                              settings->beta == 0.0 ? HF_CERTIFY_MEAN : HF_CERTIFY_MEAN_PLUS,
                                              settings, run->m, run->lower, run->upper, out, at, at));
    for (size_t k = 0; k < run->m && status >= 0; k++) {
        certified_row(run, at + k * run->d);
        certified_number(run, settings->upper_only ? out[k].upper_attained : out[k].lower_attained);
        certified_number(run, settings->upper_only ? out[k].upper : out[k].lower);
        fprintf(run->csv, ",%s", hf_certify_stop_name(out[k].stop));
        certified_number(run, (double)out[k].nodes);
        certified_number(run, out[k].seconds);
    }
    free(out);
    free(at);
    return status;
}

static int run_extremum(const tool_arguments *arguments)
{
    certified run;
    hf_certify_settings settings;
    const int code = certified_open(arguments, &run);
    if (code != TOOL_OK) return code;
    const char *output = argument(arguments, "output");
    hf_status status = certified_load(&run);
    if (status >= 0) status = parse(&run, &settings);
    if (status >= 0) status = certified_boxes(&run, true);
    if (status >= 0) status = choose_tolerance(&run, &settings);
    if (status >= 0) status = search(&run, &settings);
    if (status >= 0) status = certified_write(&run, output);
    if (status >= 0 && run.session.json)
        json_print(json_pack("{s:s, s:I, s:f}", "output", output, "boxes", (json_int_t)run.m, "tolerance",
                             settings.tolerance));
    return certified_close(&run, status);
}

const tool_verb verb_extremum = {
    .name = "extremum",
    .operands = "MODEL.hf --minimum|--maximum [OPTION]...",
    .summary = "Find where a prediction is least or largest, with a proof",
    .text = "The global optimum of the latent mean, or of mean + B sd, over a box, to a tolerance, with a "
            "bound that\n"
            "nothing in the box is beyond. Of a classifier: of its latent function.",
    .example = "  holdfast fit data/hills.csv -t minutes -f miles -o hills.hf\n"
               "  holdfast extremum hills.hf --maximum -o longest.csv",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_extremum,
};
