/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast extremum */
#include "certify/certified.h"

#include <math.h>
#include <stdlib.h>

static const tool_option options[] = {
    {"minimum", 0, NULL, "the least value", false},
    {"maximum", 0, NULL, "the largest", false},
    {"box", 0, "BOX",
     "where: INPUT=LOW:HIGH,..., inputs left out going as far as the\nrows of the fit (default: all of "
     "them); COLUMN=TEXT of a column of\ntexts, of which one that is left out makes a box for each; or "
     "from\nthe rows of one table to those of another, L.csv,U.csv",
     TOOL_REPEATS | TOOL_READS},
    {"beta", 0, "B", "of mean + B sd, B of either sign (default 0: of the mean)", false},
    {"of", 0, "NAME", "which of several outputs, or of more than two classes (default:\nthe first)", false},
    {"tolerance", 0, "E",
     "how far the value may be from the true extremum (default: a\nthousandth of the target's scale)", false},
    CERTIFIED_LIMITS,
    {"rigorous", 0, NULL, "proof against rounding", false},
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): the inputs there,\nvalue, bound (no value in the box is "
     "beyond it), status, nodes,\nseconds",
     TOOL_WRITES},
};

static hf_status parse_extremum_options(certified *run, hf_certify_settings *out)
{
    const tool_arguments *a = run->arguments;
    *out = hf_certify_settings_default();
    out->beta = 0.0;
    out->upper_only = has_argument(a, "maximum");
    out->lower_only = has_argument(a, "minimum");
    out->rigorous = has_argument(a, "rigorous");
    if (!argument_double(a, "beta", &out->beta)) return session_told(&run->session);
    if (out->upper_only == out->lower_only)
        return MISUSE(run, out->upper_only ? "--minimum and --maximum exclude each other"
                                           : "--minimum or --maximum is missing");
    if (!isfinite(out->beta)) return MISUSE(run, "--beta must be a finite number");
    const hf_status status = certified_settings(run, out);
    out->output = certified_latent(run, out->output);
    return status;
}

/* A thousandth of the range of the readings; of classes and several outputs 0.01. */
static void choose_tolerance(certified *run, hf_certify_settings *settings)
{
    const hf_table *rows;
    if (has_argument(run->arguments, "tolerance") || run->classifier != NULL ||
        hf_model_outputs(run->model) > 1 || certified_training(run, &rows) < 0)
        return;
    const double *y = table_column(run->session.ctx, rows, hf_model_target(run->model));
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; y != NULL && i < hf_table_rows(rows); i++) {
        low = fmin(low, y[i]);
        high = fmax(high, y[i]);
    }
    if (high > low) settings->tolerance = 1e-3 * (high - low);
}

static hf_status report_extrema(certified *run, bool upper, const hf_range *out, const double *at)
{
    static const char *const names[] = {"value", "bound", "status", "nodes", "seconds", NULL};
    static const char *const first[] = {"value", "bound", NULL}, *const last[] = {"nodes", "seconds", NULL};
    const char *text[HF_CERTIFY_NOT_FINITE + 1];
    const size_t m = run->m;
    double *block = calloc(4 * m + 1, sizeof *block);
    size_t *stop = calloc(m + 1, sizeof *stop);
    hf_status status = block != NULL && stop != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t k = 0; k <= HF_CERTIFY_NOT_FINITE; k++)
        text[k] = hf_enum_name(HF_ENUM_CERTIFY_STOP, (unsigned)k);
    for (size_t k = 0; k < m && status >= 0; k++) {
        block[k] = upper ? out[k].upper_attained : out[k].lower_attained;
        block[m + k] = upper ? out[k].upper : out[k].lower;
        block[2 * m + k] = (double)out[k].nodes;
        block[3 * m + k] = out[k].seconds;
        stop[k] = (size_t)out[k].stop;
    }
    if (status >= 0) status = certified_begin(run, m, at, names);
    if (status >= 0) status = certified_numbers(run, first, block);
    if (status >= 0) status = certified_text(run, "status", HF_CERTIFY_NOT_FINITE + 1, text, stop);
    if (status >= 0) status = certified_numbers(run, last, block + 2 * m);
    TOOL_FREE(block, stop);
    return status;
}

static hf_status search_extrema(certified *run, const hf_certify_settings *settings)
{
    hf_range *out = calloc(run->m + 1, sizeof *out);
    double *at = calloc(run->m * run->d + 1, sizeof *at);
    hf_status status = out != NULL && at != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0)
        status = hf_certify_boxes(run->session.ctx, run->posterior,
                                  settings->beta == 0.0 ? HF_CERTIFY_MEAN : HF_CERTIFY_MEAN_PLUS, settings,
                                  run->m, run->lower, run->upper, out, at, at);
    if (status >= 0) {
        size_t by_time = 0, by_memory = 0;
        for (size_t k = 0; k < run->m; k++) {
            by_time += out[k].stop == HF_CERTIFY_TIME;
            by_memory += out[k].stop == HF_CERTIFY_MEMORY;
        }
        if (by_time + by_memory == 0) warn_status(&run->session, status);
        certified_tell_limits(run, settings, by_time, by_memory, run->m);
    }
    if (status >= 0) status = report_extrema(run, settings->upper_only, out, at);
    TOOL_FREE(out, at);
    return status;
}

static hf_status run_extremum(certified *run)
{
    hf_certify_settings settings;
    const char *output = output_of(run->arguments);
    hf_status status = parse_extremum_options(run, &settings);
    if (status >= 0) status = certified_boxes(run, true);
    if (status >= 0) choose_tolerance(run, &settings);
    if (status >= 0) status = search_extrema(run, &settings);
    if (status >= 0) status = certified_write(run, output);
    if (status >= 0 && run->session.json)
        session_print(&run->session, JSON_OF({"output", json_text(output)}, {"boxes", json_count(run->m)},
                                             {"tolerance", json_real(settings.tolerance)}));
    return status;
}

const tool_verb verb_extremum = {
    .name = "extremum",
    .operands = "MODEL.hf --minimum|--maximum [OPTION]...",
    .summary = "Find where a prediction is least or largest, with a proof",
    .text =
        "The global optimum of the latent mean, or of mean + B sd, over a box, to a tolerance. Comes with a\n"
        "bound that nothing in the box is beyond. Of a classifier: of its latent function.",
    .example = "  holdfast fit data/hills.csv -t minutes -f miles -o hills.hf\n"
               "  holdfast extremum hills.hf --maximum --box miles=2:6 -o longest.csv",
    TOOL_OPTIONS(options),
    TOOL_TABLES(hf_certify_settings_table),
    CERTIFIED(run_extremum),
};
