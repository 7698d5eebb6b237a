/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast norm */
#include "envelope/bounded.h"

#include <math.h>
#include <stdlib.h>

static const tool_option options[] = {
    {"target", 't', "COLUMN", "column whose function is looked for (required)", false},
    {"features", 'f', "A,B,...",
     "input columns (default: every numeric column that is neither\ntarget nor noise bound)", true},
    {"kernel", 'k', "EXPR", "kernel with its values written; required unless --cv", false},
    {"offset", 0, "C",
     "norms are those of the function less C, a number or median (of the\nreadings); for data far from 0 "
     "(default 0)",
     false},
    {"noise-bound", 'b', "D", "a reading is off by at most this (default 0)", false},
    {"noise-bound-column", 0, "COLUMN", "a bound for each reading", false},
    {"noise-below", 0, "COLUMN", "how far the truth can be below each reading; inf: no limit", false},
    {"noise-above", 0, "COLUMN", "and how far above", false},
    {"points", 0, "K", "points of the curve (default 10)", false},
    {"safety", 0, "F", "factor on the estimate, 1 or more (default 1.2)", false},
    {"cv", 0, NULL, "find what shapes the kernel and has no written value", false},
    {"output", 'o', "CURVE.csv", "write the curve: readings, norm", TOOL_WRITES},
};

static const char caveat[] =
    "No data can certify an upper bound on the norm: what was not read can be rougher than what was.";

/* A curve with its safety factor. */
typedef struct norm_curve {
    hf_norm_point *point;
    size_t points;
    double safety;
    const char *output;
} norm_curve;

static hf_status parse_norm_options(bounded *run, norm_curve *out)
{
    *out = (norm_curve){.points = 10, .safety = 1.2, .output = argument(run->arguments, "output")};
    if (!argument_size(run->arguments, "points", &out->points) ||
        !argument_double(run->arguments, "safety", &out->safety))
        return session_told(&run->session);
    if (out->points == 0) return MISUSE(run, "--points: a curve has one point at least");
    if (!(out->safety >= 1.0 && isfinite(out->safety)))
        return MISUSE(run, "--safety: %g is not a number from 1 on", out->safety);
    if (is_standard(out->output) && run->session.json)
        return MISUSE(run, "--json and the table cannot both go to standard output");
    return HF_OK;
}

static hf_status write_curve(hf_context *ctx, const norm_curve *e)
{
    static const char *const names[] = {"readings", "norm", NULL};
    double *numbers = calloc(2 * e->points, sizeof *numbers);
    if (numbers == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < e->points; k++) {
        numbers[k] = (double)e->point[k].readings;
        numbers[e->points + k] = e->point[k].norm;
    }
    const hf_status status = write_columns(ctx, e->output, e->points, names, numbers);
    free(numbers);
    return status;
}

static void print_norm_json(bounded *run, const norm_curve *e)
{
    json_t *curve = json_array();
    for (size_t k = 0; k < e->points; k++)
        json_array_append_new(curve, JSON_OF({"readings", json_count(e->point[k].readings)},
                                             {"norm", json_number(e->point[k].norm)}));
    const double norm = e->point[e->points - 1].norm;
    session_print(&run->session,
                  JSON_OF({"target", json_text(run->target)}, {"kernel", bounded_json_kernel(run->kernel)},
                          {"readings", json_count(run->n)}, {"left_out", json_count(run->left_out)},
                          {"offset", json_number(run->offset)}, {"norm", json_number(norm)},
                          {"safety", json_number(e->safety)}, {"estimate", json_number(e->safety * norm)},
                          {"curve", curve}, {"caveat", json_string(caveat)}));
}

/* Share of the last point's norm that has come since half of the readings, or NaN. */
static double late_growth(const norm_curve *e)
{
    const hf_norm_point *last = &e->point[e->points - 1];
    for (size_t k = e->points - 1; k-- > 0;)
        if (2 * e->point[k].readings <= last->readings)
            return last->norm > 0.0 ? 1.0 - e->point[k].norm / last->norm : (double)NAN;
    return NAN;
}

static void print_norm_text(const bounded *run, const norm_curve *e)
{
    if (has_argument(run->arguments, "cv")) {
        bounded_print_kernel(run->kernel);
        putchar('\n');
    }
    printf("  readings        norm\n");
    for (size_t k = 0; k < e->points; k++) printf("%10zu  %10.6g\n", e->point[k].readings, e->point[k].norm);
    const double norm = e->point[e->points - 1].norm, late = late_growth(e);
    if (run->offset != 0.0)
        printf("\nThe norm of the function less %.6g is at least %.6g", run->offset, norm);
    else
        printf("\nThe function's norm is at least %.6g", norm);
    if (isfinite(late)) printf("; %.0f %% of that came with the last half of the readings", 100.0 * late);
    printf(".\nTimes the safety factor %g: %.6g\n%s\n", e->safety, e->safety * norm, caveat);
    if (e->output != NULL) say(stdout, "Wrote %s\n", e->output);
}

static hf_status find_norm_curve(bounded *run, norm_curve *e)
{
    hf_status status = bounded_read(run, run->arguments->operand[0], false);
    if (status >= 0) status = bounded_kernel(run);
    if (status < 0) return status;
    bounded_mind_level(run);
    /* Points are places in the order of the readings: there cannot be more of them. */
    if (e->points > run->n) e->points = run->n;
    e->point = calloc(e->points, sizeof *e->point);
    if (e->point == NULL) return HF_ERR_MEMORY;
    const hf_bounded_readings readings = bounded_readings(run);
    status = warn_status(&run->session,
                         hf_norm_estimate(run->session.ctx, run->kernel, &readings, e->points, e->point));
    return status == HF_ERR_INCONSISTENT ? bounded_explain(run, INFINITY) : status;
}

static int run_norm(const tool_arguments *arguments)
{
    bounded run = {.arguments = arguments};
    const int code = session_open(arguments, &run.session);
    if (code != TOOL_OK) return code;
    norm_curve e = {0};
    hf_status status = parse_norm_options(&run, &e);
    if (status >= 0) status = find_norm_curve(&run, &e);
    progress_clear(run.session.progress);
    if (status >= 0 && e.output != NULL) status = write_curve(run.session.ctx, &e);
    progress_clear(run.session.progress);
    const bool only_curve = is_standard(e.output);
    if (status >= 0 && run.session.json) print_norm_json(&run, &e);
    if (status >= 0 && !run.session.json && !only_curve) print_norm_text(&run, &e);
    free(e.point);
    return bounded_close(&run, status);
}

const tool_verb verb_norm = {
    .name = "norm",
    .operands = "TRAIN.csv --target COLUMN --kernel EXPR [OPTION]...",
    .summary = "Say how large a norm the readings of a function ask for",
    .text = "The norm of the smoothest function that meets the first readings of the table within their "
            "noise bounds,\nthe first few, more, all of them. It never falls, and the function's own norm is "
            "not smaller. Where the\ncurve has flattened, its end times a safety factor is what holdfast "
            "bound --norm is usually given.",
    .example = "  holdfast norm data/hills.csv -t minutes -f miles -k 'se(lengthscale=8)' --noise-bound 50",
    TOOL_OPTIONS(options),
    TOOL_RUN(1, 1, run_norm),
};
