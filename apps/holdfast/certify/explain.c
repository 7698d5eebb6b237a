/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast explain */
#include "certify/certified.h"
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
     "file to write (default: standard output): row, input, lower,\n"
     "upper; with --flip the inputs of the example, class_before,\n"
     "class_after, value, flipped (value there); certified (nothing this\n"
     "near does it), distance, spared (nor do so few inputs), moved (how\n"
     "many do), nodes, seconds",
     TOOL_WRITES},
    {"plot", 0, "FILE.svg",
     "picture (or .png, .pdf) of the scores, averaged over the rows: a\nbar for each input. Needs gnuplot",
     TOOL_WRITES},
    {"shape", 0, "ROWSxCOLUMNS", "of --plot: the inputs are the pixels of an image, row by row; a\nheat map",
     false},
};

/* ---- pictures: a bar for each input, the strongest first, or a heat map of an image -------------------------- */

typedef struct explain_picture {
    const certified *run;
    const double *lower, *upper; /* of each input, averaged over the rows */
    size_t of;                   /* class or output */
    size_t rows, columns;        /* of an image whose pixels the inputs are; 0: bars */
} explain_picture;

enum {
    BARS = 30 /* inputs that are drawn; more are not legible */
};

static double middle(const explain_picture *data, size_t j)
{
    return 0.5 * (data->lower[j] + data->upper[j]);
}

static void print_title(FILE *out, const explain_picture *data)
{
    const hf_model *model = data->run->model;
    fputs("set label 1 \"", out);
    if (data->run->classifier != NULL) {
        fputs("What raising an input does to p(", out);
        plot_quoted(out, hf_model_class(model, data->of));
        fputs(")", out);
    } else {
        fputs("What raising an input does to ", out);
        plot_quoted(out,
                    hf_model_outputs(model) > 1 ? hf_model_output(model, data->of) : hf_model_target(model));
    }
    if (data->run->m > 1) fprintf(out, ", average of %zu rows", data->run->m);
    fprintf(out, "\"%s", certified_heading);
}

/* The inputs that move, the strongest first; how many are drawn. */
static size_t choose_bars(const explain_picture *data, ranked *list)
{
    size_t count = 0;
    for (size_t j = 0; j < data->run->d; j++)
        if (data->run->unit[j] != 0.0) list[count++] = (ranked){fabs(middle(data, j)), j};
    qsort(list, count, sizeof *list, largest_first);
    return count < BARS ? count : BARS;
}

static void print_bars(FILE *out, const explain_picture *data, const ranked *list, size_t count)
{
    fputs("$bars << EOD\n", out);
    for (size_t k = 0; k < count; k++) {
        const size_t j = list[k].index;
        fprintf(out, "%zu", count - k);
        PLOT_ROW(out, middle(data, j), data->lower[j], data->upper[j]);
    }
    fputs("EOD\nset ytics scale 0 (", out);
    for (size_t k = 0; k < count; k++)
        plot_tic(out, k == 0, hf_model_feature(data->run->model, list[k].index), count - k);
    fprintf(out, ")\nset yrange [0.3:%.9g]\nset xlabel 'score, with what it is surely between'\n",
            (double)count + 0.7);
    fputs("set xzeroaxis\nset arrow from 0, graph 0 to 0, graph 1 nohead linecolor rgb '#8a8f98'\n", out);
    fputs("plot $bars using (0.5*$2):1:(abs(0.5*$2)):(0.32):($2 < 0 ? 0xc8372d : 0x2f6690) with boxxyerror "
          "fillstyle solid 0.85 noborder linecolor rgb variable, $bars using 2:1:3:4 with xerrorbars "
          "pointtype 0 linewidth 2 linecolor rgb '#30343b'\n",
          out);
}

static void print_map(FILE *out, const explain_picture *data)
{
    double most = 0.0;
    fputs("$map << EOD\n", out);
    for (size_t i = 0; i < data->rows; i++) {
        for (size_t k = 0; k < data->columns; k++) {
            const double value = middle(data, i * data->columns + k);
            most = fmax(most, fabs(value));
            plot_number(out, value);
        }
        fputc('\n', out);
    }
    if (!(most > 0.0)) most = 1.0;
    fprintf(out,
            "EOD\nset palette defined (-1 '#c8372d', 0 '#ffffff', 1 '#2f6690')\nset cbrange [%.9g:%.9g]\n",
            -most, most);
    fprintf(out,
            "set size ratio %.9g\nset xrange [-0.5:%.9g]\nset yrange [%.9g:-0.5]\nunset grid\nset border 0\n",
            (double)data->rows / (double)data->columns, (double)data->columns - 0.5,
            (double)data->rows - 0.5);
    fputs("unset tics\nset cbtics scale 0.5\nset cblabel 'score'\nplot $map matrix with image\n", out);
}

static bool script(FILE *out, const void *any, plot_format format, const char *output)
{
    const explain_picture *data = any;
    if (data->rows > 0) {
        plot_begin(out, format, 1000, output);
        print_title(out, data);
        print_map(out, data);
    } else {
        ranked *list = calloc(data->run->d + 1, sizeof *list);
        if (list == NULL) return false;
        const size_t count = choose_bars(data, list);
        plot_begin(out, format, (unsigned)(160 + 32 * count), output);
        print_title(out, data);
        print_bars(out, data, list, count);
        free(list);
    }
    return plot_end(out, "set output\n");
}

/* ---- flips: the smallest move of a row that changes its class or takes it past a limit ----------------------- */

/* The question about each row. */
typedef struct explain_flip {
    bool asked; /* --flip is there; else nothing else is */
    hf_flip_kind kind;
    hf_claim claim; /* without limits: that the class stays */
    bool limits;
    /* Counts: rows with an example, and rows left open by a limit. */
    size_t found, unfinished;
} explain_flip;

static hf_status parse_kind(certified *run, const char *name, hf_flip_kind *out)
{
    for (int k = 0; k <= HF_FLIP_FEWEST; k++)
        if (strcmp(name, hf_enum_name(HF_ENUM_FLIP_KIND, (unsigned)k)) == 0) {
            *out = (hf_flip_kind)k;
            return HF_OK;
        }
    return MISUSE(run, "--flip: there is no '%s'; give nearest or fewest", name);
}

/* Options that are not for --flip, and those that --flip needs. */
static hf_status check_effect(certified *run, bool flip)
{
    static const char *const no[] = {"method", "mean", "tolerance", "plot", "shape"};
    static const char *const only[] = {"never-above", "never-below", "delta", "beta", "observed"};
    const tool_arguments *a = run->arguments;
    for (size_t k = 0; flip && k < sizeof no / sizeof *no; k++)
        if (has_argument(a, no[k])) return MISUSE(run, "--%s is not for --flip", no[k]);
    for (size_t k = 0; !flip && k < sizeof only / sizeof *only; k++)
        if (has_argument(a, only[k])) return MISUSE(run, "--%s is for --flip", only[k]);
    return HF_OK;
}

/* --flip and what goes with it; `settings` are those of the verb. */
static hf_status parse_flip(certified *run, hf_certify_settings *settings, explain_flip *out)
{
    const tool_arguments *a = run->arguments;
    const char *kind = argument(a, "flip");
    *out = (explain_flip){.asked = kind != NULL};
    hf_status status = check_effect(run, out->asked);
    if (status < 0 || kind == NULL) return status;
    status = parse_kind(run, kind, &out->kind);
    if (status >= 0) status = certified_claim(run, &out->claim, &out->limits);
    if (status < 0) return status;
    if (!argument_double(a, "beta", &settings->beta)) return session_told(&run->session);
    if (!isfinite(settings->beta)) return MISUSE(run, "--beta must be a finite number");
    settings->observed = has_argument(a, "observed");
    if (settings->observed && !has_argument(a, "beta"))
        return MISUSE(run, "--observed is for --beta: the mean has no sd in it");
    status = certified_observed(run, settings->observed);
    if (status < 0) return status;
    if (has_argument(a, "beta") && run->classifier != NULL)
        return MISUSE(run, "--beta is for models of readings");
    if (run->classifier == NULL && !out->limits)
        return MISUSE(
            run,
            "--flip of a model of readings is past a limit: give --never-above, --never-below or --delta");
    if (run->classifier != NULL && !out->limits && has_argument(a, "of"))
        return MISUSE(run, "--of is for limits; without them the class of each row is to change");
    out->claim.classifier = run->classifier;
    out->claim.posterior = run->classifier != NULL ? NULL : run->posterior;
    if (has_argument(a, "beta")) out->claim.what = HF_CERTIFY_MEAN_PLUS;
    if (run->classifier == NULL) settings->output = certified_latent(run, settings->output);
    return HF_OK;
}

typedef enum flip_column {
    VALUE,
    FLIPPED,
    CERTIFIED,
    DISTANCE,
    SPARED,
    MOVED,
    NODES,
    SECONDS,
    COLUMNS
} flip_column;

/* `examples`: m x d; `block`: columns of m; `class`: before, then after, SIZE_MAX where there is none. */
static hf_status look_for_flips(certified *run, const hf_certify_settings *settings, double most,
                                explain_flip *asked, double *examples, double *block, size_t *class)
{
    const size_t m = run->m;
    hf_status worst = HF_OK;
    for (size_t k = 0; k < m; k++) {
        hf_flip f;
        const hf_certify_settings share = certified_share(run, settings, m - k);
        progress_part(run->session.progress, "explain", (double)k / (double)m, 1.0 / (double)m);
        const hf_status status =
            hf_certify_flip(run->session.ctx, &asked->claim, asked->kind, &share, run->x + k * run->d,
                            run->unit, most, 0.01, &f, examples + k * run->d);
        if (status < 0) return status;
        if (status > 0) worst = status;
        const double values[COLUMNS] = {
            f.value,          f.flipped,
            f.certified,      isfinite(f.distance) ? f.distance : (double)NAN,
            (double)f.spared, isfinite(f.distance) ? (double)f.moved : (double)NAN,
            (double)f.nodes,  f.seconds};
        for (size_t c = 0; c < COLUMNS; c++) block[c * m + k] = values[c];
        class[k] = f.winner;
        class[m + k] = f.other;
        asked->found += isfinite(f.distance) ? 1 : 0;
        asked->unfinished += status == HF_WARN_NOT_CONVERGED;
    }
    return worst;
}

static hf_status tell_flips(certified *run, const explain_flip *asked, const double *examples,
                            const double *block, const size_t *class)
{
    static const char *const names[] = {"class_before", "class_after", "value",  "flipped",
                                        "certified",    "distance",    "spared", "moved",
                                        "nodes",        "seconds",     NULL};
    hf_status status = certified_begin(run, run->m, examples, asked->limits ? names + 2 : names);
    if (status >= 0 && !asked->limits) status = certified_classes(run, names[0], class);
    if (status >= 0 && !asked->limits) status = certified_classes(run, names[1], class + run->m);
    return status >= 0 ? certified_numbers(run, names + 2, block) : status;
}

/* The answers into the run's table, for moves of up to `most` units. */
static hf_status find_flips(certified *run, const hf_certify_settings *settings, double most,
                            explain_flip *asked)
{
    const size_t m = run->m;
    double *examples = calloc(m * run->d + 1, sizeof *examples),
           *block = calloc(COLUMNS * m + 1, sizeof *block);
    size_t *class = calloc(2 * m + 1, sizeof *class);
    hf_status status = examples != NULL && block != NULL && class != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = look_for_flips(run, settings, most, asked, examples, block, class);
    if (status >= 0 && asked->unfinished > 0)
        warn(&run->session,
             "the searches of %zu of %zu rows were left open by a limit or by rounding: what is told of them "
             "holds, and smaller moves may be there",
             asked->unfinished, m);
    if (status >= 0 && certified_is_estimate(run)) certified_warn_estimate(run);
    const hf_status told = status >= 0 ? tell_flips(run, asked, examples, block, class) : status;
    TOOL_FREE(examples, block, class);
    return told < 0 ? told : status;
}

/* ---- usage -------------------------------------------------------------------------------------------------- */

typedef struct explain_request {
    double step;
    bool linear;
    size_t rows, columns; /* of --shape; 0 */
    hf_certify_settings settings;
    explain_flip flip;
} explain_request;

/* A number of pixels from 2 on; 0 when it is none. *end is where it ends. */
static size_t parse_side(const char *text, char **end)
{
    const unsigned long side = strtoul(text, end, 10);
    return isdigit((unsigned char)*text) && side >= 2 && side <= 100000 ? (size_t)side : 0;
}

static hf_status parse_shape(certified *run, explain_request *out)
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

static hf_status parse_explain_options(certified *run, explain_request *out)
{
    const tool_arguments *a = run->arguments;
    const char *method = argument(a, "method");
    *out = (explain_request){.step = -1.0, .settings = hf_certify_settings_default()};
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
    if (status >= 0) status = parse_flip(run, &out->settings, &out->flip);
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

static hf_status find_linear(certified *run, const explain_request *asked, const double *step, double *scores)
{
    hf_context *ctx = run->session.ctx;
    hf_linear_settings settings = hf_linear_settings_default();
    settings.output = asked->settings.output;
    if (run->classifier != NULL)
        return hf_explain_linear_class(ctx, run->classifier, &settings, run->m, run->x, step, scores);
    return hf_explain_linear(ctx, run->posterior, &settings, run->m, run->x, step, scores);
}

/* Row after row, so that the bar is of rows. */
static hf_status find_ranges(certified *run, const explain_request *asked, const double *step, double *lower,
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
static hf_status find_scores(certified *run, const explain_request *asked, double *lower)
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
static hf_status tell_scores(certified *run, size_t m, const double *lower, const double *upper)
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

static hf_status explain(certified *run, const explain_request *asked)
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
        status = tell_scores(run, mean ? 1 : run->m, mean ? mean_lower : lower, mean ? mean_upper : upper);
    }
    if (status >= 0) status = certified_write(run, output_of(run->arguments));
    if (status >= 0)
        status = certified_draw(run, script,
                                &(explain_picture){.run = run,
                                                   .lower = mean_lower,
                                                   .upper = mean_upper,
                                                   .of = asked->settings.output,
                                                   .rows = asked->rows,
                                                   .columns = asked->columns});
    free(lower);
    return status;
}

static hf_status flip(certified *run, explain_request *asked)
{
    const hf_status status = find_flips(run, &asked->settings, asked->step, &asked->flip);
    return status >= 0 ? certified_write(run, output_of(run->arguments)) : status;
}

static hf_status run_explain(certified *run)
{
    explain_request asked;
    hf_status status = parse_explain_options(run, &asked);
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
    TOOL_TABLES(hf_certify_settings_table),
    CERTIFIED(run_explain),
};
