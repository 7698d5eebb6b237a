/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast explain */
#include "certify/explain_flip.h"
#include "certify/explain_plot.h"
#include "shell/class_rule.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"at", 0, "X.csv", "rows to explain, with the model's inputs (required)", TOOL_READS},
    {"step", 0, "G", "how far each input is raised and lowered (required)", false},
    {"sds", 0, NULL, "the step is in standard deviations of each input over the rows\nof the fit", false},
    {"features", 'f', "A,B,...", "only these inputs (default: all)", true},
    {"of", 0, "NAME",
     "which output, or which class's probability (default: the first;\nof two classes the second)", false},
    {"method", 'm', "METHOD",
     "ranges (default): surely enclosed; linear: what a linear function\nfitted around each row says, as "
     "LIME does, to compare with",
     false},
    CLASS_RULE,
    {"flip", 0, "KIND",
     "instead of scores the smallest move, of up to G, that changes the\nclass of a row, or takes it past a "
     "limit: nearest, the least\ndistance, or fewest, the fewest inputs",
     false},
    {"never-above", 0, "V", "of --flip: the mean (of classes the probability of --of) is to get\nabove V",
     false},
    {"never-below", 0, "V", "below V", false},
    {"delta", 0, "D", "farther than D from what it is in the row", false},
    {"beta", 0, "B", "of --flip: not the mean but mean + B sd, a quantile", false},
    {"observed", 0, NULL, "of --beta: the sd of a new reading, its noise in it", false},
    {"mean", 0, NULL, "average over the rows", false},
    {"tolerance", 0, "E", "of each range (default 0.01); a score is enclosed to four of them", false},
    CERTIFIED_LIMITS,
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): row, input, lower,\nupper; with --flip the inputs of the "
     "example, class_before,\nclass_after, value, flipped (value there), certified (nothing this\nnear does "
     "it), distance, spared (nor do so few inputs), moved (how\nmany do), nodes, seconds",
     TOOL_WRITES},
    {"plot", 0, "FILE.svg",
     "picture (or .png, .pdf) of the scores, averaged over the rows: a\nbar for each input. Needs gnuplot",
     TOOL_WRITES},
    {"shape", 0, "ROWSxCOLUMNS", "of --plot: the inputs are the pixels of an image, row by row; a\nheat map",
     false},
};

typedef struct request {
    double step;
    bool linear;
    size_t rows, columns; /* of --shape; 0 */
    hf_certify_settings settings;
    explain_flip flip;
} request;

/* ---- usage -------------------------------------------------------------------------------------------------- */

/* A number of pixels from 2 on; 0 when it is none. *end is where it ends. */
static size_t parse_side(const char *text, char **end)
{
    const unsigned long side = strtoul(text, end, 10);
    return isdigit((unsigned char)*text) && side >= 2 && side <= 100000 ? (size_t)side : 0;
}

static hf_status parse_shape(certified *run, request *out)
{
    const char *text = argument(run->arguments, "shape");
    char *end = NULL;
    if (text == NULL) return HF_OK;
    if (!has_argument(run->arguments, "plot")) return MISUSE(run, "--shape is for the picture of --plot");
    out->rows = parse_side(text, &end);
    if (out->rows > 0 && *end == 'x') out->columns = parse_side(end + 1, &end);
    if (out->columns == 0 || *end != '\0')
        return MISUSE(
            run, "--shape: '%s' is not ROWSxCOLUMNS, such as 28x28, of two rows and columns at least", text);
    if (out->rows * out->columns != run->d)
        return REFUSE(run, "--shape: %zux%zu are %zu pixels, and the model has %zu inputs", out->rows,
                      out->columns, out->rows * out->columns, run->d);
    return HF_OK;
}

static hf_status parse(certified *run, request *out)
{
    const tool_arguments *a = run->arguments;
    const char *method = argument(a, "method");
    *out = (request){.step = -1.0, .settings = hf_certify_settings_default()};
    out->linear = method != NULL && strcmp(method, "linear") == 0;
    if (!argument_double(a, "step", &out->step)) return session_told(&run->session);
    if (!has_argument(a, "at")) return MISUSE(run, "--at is missing: which rows?");
    if (!has_argument(a, "step")) return MISUSE(run, "--step is missing: how far do the inputs move?");
    if (!(out->step > 0.0) || !isfinite(out->step))
        return MISUSE(run, "--step: %g is not a number above 0", out->step);
    if (method != NULL && !out->linear && strcmp(method, "ranges") != 0)
        return MISUSE(run, "--method: there is no method '%s'; give ranges or linear", method);
    if (out->linear &&
        (has_argument(a, "tolerance") || has_argument(a, "time-limit") || has_argument(a, "total-time") ||
         has_argument(a, "node-limit") || has_argument(a, "memory-limit")))
        return MISUSE(run, "--tolerance and limits are for --method ranges");
    hf_status status = parse_shape(run, out);
    if (status >= 0) status = certified_settings(run, &out->settings);
    if (status >= 0) status = explain_parse_flip(run, &out->settings, &out->flip);
    if (status >= 0 && (has_argument(a, "threshold") || has_argument(a, "loss")) &&
        (!has_argument(a, "flip") || out->flip.limits))
        return MISUSE(run, "--threshold and --loss are for the --flip of a class");
    return status;
}

/* ---- scores ------------------------------------------------------------------------------------------------- */

static void average(size_t m, size_t d, const double *scores, double *out)
{
    for (size_t j = 0; j < d; j++) {
        out[j] = 0.0;
        for (size_t k = 0; k < m; k++) out[j] += scores[k * d + j] / (double)m;
    }
}

static hf_status find_linear(certified *run, const request *asked, const double *step, double *scores)
{
    hf_context *ctx = run->session.ctx;
    hf_linear_settings settings = hf_linear_settings_default();
    settings.output = asked->settings.output;
    if (run->classifier != NULL)
        return hf_explain_linear_class(ctx, run->classifier, &settings, run->m, run->x, step, scores);
    return hf_explain_linear(ctx, run->posterior, &settings, run->m, run->x, step, scores);
}

/* Row after row, so that the bar is of rows. */
static hf_status find_ranges(certified *run, const request *asked, const double *step, double *lower,
                             double *upper)
{
    hf_context *ctx = run->session.ctx;
    const size_t d = run->d;
    hf_status worst = HF_OK;
    for (size_t k = 0; k < run->m; k++) {
        const double *x = run->x + k * d;
        const hf_certify_settings share = certified_share(run, &asked->settings, run->m - k);
        progress_part(run->session.progress, "explain", (double)k / (double)run->m, 1.0 / (double)run->m);
        const hf_status status =
            run->classifier != NULL
                ? hf_explain_class(ctx, run->classifier, &share, 1, x, step, lower + k * d, upper + k * d)
                : hf_explain(ctx, run->posterior, HF_CERTIFY_MEAN, &share, 1, x, step, lower + k * d,
                             upper + k * d);
        if (status < 0) return status;
        if (status > 0) worst = status;
    }
    if (certified_is_estimate(run)) certified_warn_estimate(run);
    if (worst > 0)
        warn(&run->session,
             "some ranges were stopped by a limit (--time-limit, %g s) or by rounding; they are wider, and "
             "hold",
             asked->settings.time_limit);
    return worst;
}

/* `lower`, then `upper`: m x d each. */
static hf_status find_scores(certified *run, const request *asked, double *lower)
{
    const size_t numbers = run->m * run->d;
    double *upper = lower + numbers, *step = calloc(run->d + 1, sizeof *step);
    if (step == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d; j++) step[j] = asked->step * run->unit[j];
    const hf_status status =
        asked->linear ? find_linear(run, asked, step, lower) : find_ranges(run, asked, step, lower, upper);
    if (status >= 0 && asked->linear) memcpy(upper, lower, numbers * sizeof *upper);
    free(step);
    return status;
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

/* One line for each row and each input that moves. */
static hf_status tell(certified *run, size_t m, const double *lower, const double *upper)
{
    static const char *const first[] = {"row", NULL}, *const last[] = {"lower", "upper", NULL};
    const size_t d = run->d, most = m * d + 1;
    const char **name = calloc(d + 1, sizeof *name);
    double *block = calloc(3 * most, sizeof *block);
    size_t *choice = calloc(most, sizeof *choice), count = 0, moving = 0;
    hf_status status = name != NULL && block != NULL && choice != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t j = 0; j < d; j++) moving += run->unit[j] != 0.0;
    const size_t rows = m * moving;
    for (size_t j = 0; j < d && status >= 0; j++) name[j] = hf_model_feature(run->model, j);
    for (size_t k = 0; k < m && status >= 0; k++)
        for (size_t j = 0; j < d; j++) {
            if (run->unit[j] == 0.0) continue;
            block[count] = (double)(k + 1);
            block[rows + count] = lower[k * d + j];
            block[2 * rows + count] = upper[k * d + j];
            choice[count++] = j;
        }
    if (status >= 0) status = certified_begin(run, rows, NULL, last);
    if (status >= 0) status = certified_numbers(run, first, block);
    if (status >= 0) status = certified_text(run, "input", d, name, choice);
    if (status >= 0) status = certified_numbers(run, last, block + rows);
    TOOL_FREE(name, block, choice);
    return status;
}

static hf_status explain(certified *run, const request *asked)
{
    const size_t numbers = run->m * run->d;
    double *lower = calloc(2 * (numbers + run->d) + 1, sizeof *lower);
    if (lower == NULL) return HF_ERR_MEMORY;
    double *upper = lower + numbers, *mean_lower = upper + numbers, *mean_upper = mean_lower + run->d;
    hf_status status = find_scores(run, asked, lower);
    if (status >= 0) {
        const bool mean = has_argument(run->arguments, "mean");
        average(run->m, run->d, lower, mean_lower);
        average(run->m, run->d, upper, mean_upper);
        status = tell(run, mean ? 1 : run->m, mean ? mean_lower : lower, mean ? mean_upper : upper);
    }
    if (status >= 0) status = certified_write(run, output_of(run->arguments));
    if (status >= 0)
        status = explain_draw(run, &(explain_picture){.run = run,
                                                      .lower = mean_lower,
                                                      .upper = mean_upper,
                                                      .of = asked->settings.output,
                                                      .rows = asked->rows,
                                                      .columns = asked->columns});
    free(lower);
    return status;
}

static hf_status flip(certified *run, request *asked)
{
    const hf_status status = explain_find_flips(run, &asked->settings, asked->step, &asked->flip);
    return status >= 0 ? certified_write(run, output_of(run->arguments)) : status;
}

static hf_status work(certified *run)
{
    request asked;
    hf_status status = parse(run, &asked);
    if (status >= 0) status = certified_points(run);
    if (status >= 0) status = certified_units(run);
    if (status >= 0) status = asked.flip.asked ? flip(run, &asked) : explain(run, &asked);
    if (status < 0 || !run->session.json) return status;
    const explain_flip *f = &asked.flip;
    const bool estimate = !asked.linear && certified_is_estimate(run);
    session_print(&run->session,
                  JSON_OF({"output", json_text(output_of(run->arguments))}, {"rows", json_count(run->m)},
                          {f->asked ? "flip" : NULL, json_string(hf_enum_name(HF_ENUM_FLIP_KIND, f->kind))},
                          {f->asked ? "found" : NULL, json_count(f->found)},
                          {f->asked ? "unfinished" : NULL, json_count(f->unfinished)},
                          {"estimate", json_boolean(estimate)}));
    return status;
}

const tool_verb verb_explain = {
    .name = "explain",
    .operands = "MODEL.hf --at X.csv --step G [OPTION]...",
    .summary = "Score what each input does to a prediction, with guarantees",
    .text = "The score of an input: the largest and the least value of the prediction while the input is "
            "raised by up to\nG, less those while it is lowered; the others held. Above 0, raising it raises "
            "the prediction. The true score\nis surely between lower and upper. The prediction is the mean, "
            "of classes the probability of --of.",
    .example = "  holdfast fit data/hills.csv -t minutes -f miles -o hills.hf\n"
               "  holdfast explain hills.hf --at data/hills.csv --step 1 --tolerance 1 --mean -o scores.csv",
    TOOL_OPTIONS(options),
    CERTIFIED(work),
};
