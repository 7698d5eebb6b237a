/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast bound */
#include "envelope/bounded.h"
#include "shell/settings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const tool_option options[] = {
    {"target", 't', "COLUMN", "column whose values are bounded (required with a table)", false},
    {"features", 'f', "A,B,...",
     "input columns (default: every numeric column that is neither\ntarget nor noise bound)", true},
    {"kernel", 'k', "EXPR",
     "kernel with its values written: 'se(lengthscale=5)', 'matern52(a,\nlengthscale=2)'; required unless "
     "--cv, whose default is\nmatern52(ard)",
     false},
    {"norm", 0, "G",
     "the function's norm in the kernel's space is at most this; required\nwith a table (holdfast norm says "
     "what the readings ask for)",
     false},
    {"offset", 0, "C",
     "norms are those of the function less C, a number or median (of the\nreadings); for data far from 0 "
     "(default 0)",
     false},
    {"noise-bound", 'b', "D", "a reading is off by at most this", false},
    {"noise-bound-column", 0, "COLUMN", "a bound for each reading", false},
    {"noise-below", 0, "COLUMN", "how far the truth can be below each reading; inf: no limit", false},
    {"noise-above", 0, "COLUMN", "and how far above", false},
    {"at", 0, "QUERY.csv", "bound at the rows of a table with the inputs' columns", TOOL_READS},
    {"grid", 0, "RANGES", "bound on a grid: 'a=-10:10:21,b=0:1:5,c=3', from, to, how many", false},
    {"method", 'm', "METHOD",
     "optimal (default); looser, in closed form: closed-form around\nkernel ridge regression, minimum-norm "
     "around the smoothest\nconsistent function, ellipsoid around a Gaussian process; gp holds\nwith 99 % "
     "probability only, for comparison",
     false},
    {"ridge", 0, "L", "closed-form: ridge, times the number of readings (default 0.01)", false},
    {"jitter", 0, "J",
     "added to the diagonal of the kernel matrix; makes bounds looser,\nnever wrong (default 0)", false},
    {"rigorous", 0, NULL, "account for every rounding", false},
    {"pivots", 0, "K", "stop a bound after so many steps: looser, never wrong", false},
    {"seconds", 0, "S",
     "stop a bound after so many seconds: the same, and the result then\ndepends on the clock", false},
    {"cv", 0, NULL,
     "find what shapes the kernel and has no written value by leaving\nreadings out; amplitudes stay", false},
    {"save", 0, "ENV.hf", "keep the envelope, to ask it again without the table", TOOL_WRITES},
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): the inputs, lower,\nupper, and of optimal bounds gap",
     TOOL_WRITES},
};

static const char *const methods[] = {"closed-form", "minimum-norm", "ellipsoid", "gp", "optimal"};

enum {
    OPTIMAL = 4, /* in this list, whose others are in the order of hf_closed_method */
    METHODS = 5
};

/* Settings that the arguments give beside the readings. */
typedef struct bound_request {
    size_t method;
    double norm;
    hf_closed_settings closed;
    hf_envelope_settings settings;
    hf_envelope_limits limits;
    const char *output, *save;
    bool from_file; /* the operand is an envelope */
} bound_request;

/* ---- usage -------------------------------------------------------------------------------------------------- */

static hf_status check_files(bounded *run, const bound_request *asked)
{
    static const char *const of_tables[] = {"target",      "features",           "kernel",      "norm",
                                            "noise-bound", "noise-bound-column", "noise-below", "noise-above",
                                            "jitter",      "rigorous",           "cv",          "save",
                                            "offset"};
    const tool_arguments *a = run->arguments;
    const bool at = has_argument(a, "at"), grid = has_argument(a, "grid");
    for (size_t k = 0; k < sizeof of_tables / sizeof of_tables[0] && asked->from_file; k++)
        if (has_argument(a, of_tables[k]))
            return MISUSE(run, "--%s is for tables; %s has it already", of_tables[k], a->operand[0]);
    if (at && grid) return MISUSE(run, "--at and --grid exclude each other");
    if (!at && !grid && asked->save == NULL)
        return MISUSE(run, "--at or --grid is missing: where are the bounds wanted?");
    if (!at && !grid && argument(a, "output") != NULL)
        return MISUSE(run, "-o without --at or --grid has nothing to write");
    return at || grid ? session_check_output(&run->session, asked->output) : HF_OK;
}

static hf_status check_numbers(bounded *run, const bound_request *asked)
{
    if (!asked->from_file && argument(run->arguments, "norm") == NULL)
        return MISUSE(run, "--norm is missing: how large can the function's norm be? holdfast norm says what "
                           "the readings ask for");
    if (!asked->from_file && !(asked->norm > 0.0 && isfinite(asked->norm)))
        return MISUSE(run, "--norm: %g is not a positive number", asked->norm);
    if (!(asked->limits.seconds >= 0.0))
        return MISUSE(run, "--seconds: %g is not a number from 0 on", asked->limits.seconds);
    return HF_OK;
}

static hf_status parse_bound_options(bounded *run, bound_request *out)
{
    const tool_arguments *a = run->arguments;
    const char *method = argument(a, "method");
    if (strcmp(a->operand[0], "-") != 0 && access(a->operand[0], R_OK) != 0)
        return REFUSE(run, "%s: cannot be read: %s", a->operand[0], strerror(errno));
    *out = (bound_request){.method = OPTIMAL,
                           .closed = hf_closed_settings_default(),
                           .settings = hf_envelope_settings_default(),
                           .limits = hf_envelope_limits_default(),
                           .output = output_of(a),
                           .save = argument(a, "save"),
                           .from_file = hf_file_type(a->operand[0]) != HF_FILE_OTHER};
    hf_status status = session_settings(&run->session, hf_envelope_settings_table(), &out->settings);
    if (status >= 0) status = session_settings(&run->session, hf_closed_settings_table(), &out->closed);
    if (status < 0) return status;
    if (!argument_double(a, "norm", &out->norm) || !argument_size(a, "pivots", &out->limits.pivots) ||
        !argument_double(a, "seconds", &out->limits.seconds))
        return session_told(&run->session);
    for (out->method = method != NULL ? 0 : OPTIMAL; out->method < METHODS; out->method++)
        if (method == NULL || strcmp(methods[out->method], method) == 0) break;
    if (out->method == METHODS)
        return MISUSE(
            run,
            "--method: there is no method '%s'; give optimal, closed-form, minimum-norm, ellipsoid or gp",
            method);
    status = check_numbers(run, out);
    return status >= 0 ? check_files(run, out) : status;
}

/* ---- the envelope ------------------------------------------------------------------------------------------- */

static hf_status load_bound_envelope(bounded *run, hf_envelope **out, hf_envelope_labels **labels)
{
    hf_status status = hf_envelope_load(run->session.ctx, run->arguments->operand[0], out, labels);
    if (status < 0) return status;
    run->target = (*labels)->target;
    run->d = (*labels)->feature_count;
    run->feature = calloc(run->d, sizeof *run->feature);
    if (run->feature == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < run->d; j++) run->feature[j] = (*labels)->features[j];
    return HF_OK;
}

static hf_status create_bound_envelope(bounded *run, const bound_request *asked, hf_envelope **out)
{
    hf_status status = bounded_read(run, run->arguments->operand[0], true);
    if (status >= 0) status = bounded_kernel(run);
    if (status < 0) return status;
    bounded_mind_level(run);
    const hf_bounded_readings readings = bounded_readings(run);
    status = warn_status(&run->session, hf_envelope_create(run->session.ctx, run->kernel, &readings,
                                                           asked->norm, &asked->settings, out));
    return status == HF_ERR_INCONSISTENT ? bounded_explain(run, asked->norm) : status;
}

static hf_status save(bounded *run, const hf_envelope *envelope, const char *path)
{
    const hf_envelope_labels labels = {.target = run->target,
                                       .features = run->feature,
                                       .feature_count = run->d,
                                       .source = hf_table_source(run->table)};
    return hf_envelope_save(run->session.ctx, envelope, &labels, path);
}

/* ---- the bounds --------------------------------------------------------------------------------------------- */

/* Out of the bounds into columns, and what there is to tell about all of them. */
static void take_bounds(const hf_bound *bounds, const hf_envelope_limits *limits, bound_report *out)
{
    const size_t m = out->at->m;
    for (size_t i = 0; i < m; i++) {
        const hf_bound *b = &bounds[i];
        out->lower[i] = b->lower;
        out->upper[i] = b->upper;
        out->gap[i] = fmax(b->gap_lower, b->gap_upper);
        out->mean_active += 0.5 * (double)(b->active_lower + b->active_upper) / (double)m;
        out->most_active = fmax(out->most_active, fmax((double)b->active_lower, (double)b->active_upper));
        out->pivots += b->pivots;
        /* A bound that converged has a gap of rounding's size. */
        const double scale = fmax(fabs(b->lower), fabs(b->upper));
        out->early += (limits->pivots > 0 || limits->seconds > 0.0) && !(out->gap[i] <= 1e-6 * scale) ? 1 : 0;
    }
}

static hf_status bound_optimal(bounded *run, const bound_request *asked, bound_report *out)
{
    hf_bound *bounds = calloc(out->at->m, sizeof *bounds);
    if (bounds == NULL) return HF_ERR_MEMORY;
    hf_status status =
        warn_status(&run->session, hf_envelope_bounds_batch(run->session.ctx, out->envelope, out->at->m,
                                                            out->at->x, run->d, &asked->limits, bounds));
    if (status >= 0) take_bounds(bounds, &asked->limits, out);
    free(bounds);
    return status;
}

static hf_status bound_closed(bounded *run, const bound_request *asked, bound_report *out)
{
    hf_closed_envelope *closed = NULL;
    hf_context *ctx = run->session.ctx;
    hf_status status = warn_status(&run->session, hf_closed_envelope_create(ctx, out->envelope,
                                                                            (hf_closed_method)asked->method,
                                                                            &asked->closed, &closed));
    if (status >= 0)
        status = warn_status(&run->session, hf_closed_envelope_bounds(ctx, closed, out->at->m, out->at->x,
                                                                      run->d, out->lower, out->upper, NULL));
    if (status >= 0) out->radius = hf_closed_envelope_radius(closed);
    hf_closed_envelope_free(closed);
    return status;
}

static hf_status write_table(const bounded *run, const bound_report *report, const char *path)
{
    hf_context *ctx = run->session.ctx;
    hf_table *table = NULL;
    hf_status status = hf_table_create(ctx, report->at->m, &table);
    for (size_t j = 0; j < run->d && status >= 0; j++)
        status = table_set(ctx, table, run->feature[j], report->at->x + j, run->d);
    if (status >= 0) status = hf_table_set_numbers(ctx, table, "lower", report->lower);
    if (status >= 0) status = hf_table_set_numbers(ctx, table, "upper", report->upper);
    if (status >= 0 && report->gap != NULL) status = hf_table_set_numbers(ctx, table, "gap", report->gap);
    if (status >= 0) status = hf_table_write_csv(ctx, table, path);
    hf_table_free(table);
    return status;
}

/* The columns that are added must not be mistaken for inputs. */
static hf_status check_result_columns(bounded *run)
{
    for (size_t j = 0; j < run->d; j++) {
        const char *name = run->feature[j];
        if (strcmp(name, "lower") == 0 || strcmp(name, "upper") == 0 || strcmp(name, "gap") == 0)
            return REFUSE(run, "an input is called \"%s\" like a column of the result; rename it", name);
    }
    return HF_OK;
}

static hf_status ask_bounds(bounded *run, const bound_request *asked, bound_report *out)
{
    const size_t m = out->at->m;
    const bool optimal = asked->method == OPTIMAL;
    double *numbers = calloc(3 * m, sizeof *numbers);
    if (numbers == NULL) return HF_ERR_MEMORY;
    out->lower = numbers;
    out->upper = numbers + m;
    out->gap = optimal ? numbers + 2 * m : NULL;
    const double begin = tool_now();
    const hf_status status = optimal ? bound_optimal(run, asked, out) : bound_closed(run, asked, out);
    out->seconds = tool_now() - begin;
    progress_clear(run->session.progress);
    return status;
}

/* Both files or none. */
static hf_status write_files(bounded *run, const bound_request *asked, const bound_report *report)
{
    const bool fresh = asked->save != NULL && access(asked->save, F_OK) != 0;
    hf_status status = HF_OK;
    if (asked->save != NULL) status = save(run, report->envelope, asked->save);
    if (status < 0 || report->at->m == 0) return status;
    status = write_table(run, report, asked->output);
    if (status < 0 && fresh) unlink(asked->save);
    return status;
}

static hf_status compute_and_report_bounds(bounded *run, const bound_request *asked, hf_envelope **envelope,
                                           hf_envelope_labels **labels)
{
    queries at = {0};
    bound_report report = {.method = methods[asked->method], .at = &at, .radius = NAN};
    hf_status status = asked->from_file ? load_bound_envelope(run, envelope, labels)
                                        : create_bound_envelope(run, asked, envelope);
    report.envelope = *envelope;
    if (status >= 0) status = check_result_columns(run);
    if (status >= 0) status = queries_make(run, &at);
    if (status >= 0 && at.m > 0) status = ask_bounds(run, asked, &report);
    if (status >= 0) status = write_files(run, asked, &report);
    progress_clear(run->session.progress);
    const bool silent = at.m > 0 && is_standard(asked->output);
    if (status >= 0 && !silent) bound_print(run, &report, at.m > 0 ? asked->output : NULL, asked->save);
    free(report.lower);
    queries_free(&at);
    return status;
}

static int run_bound(const tool_arguments *arguments)
{
    bounded run = {.arguments = arguments};
    const int code = session_open(arguments, &run.session);
    if (code != TOOL_OK) return code;
    bound_request asked = {.method = OPTIMAL, .output = "-"};
    hf_envelope *envelope = NULL;
    hf_envelope_labels *labels = NULL;
    hf_status status = parse_bound_options(&run, &asked);
    if (status >= 0) status = compute_and_report_bounds(&run, &asked, &envelope, &labels);
    hf_envelope_free(envelope);
    hf_envelope_labels_free(labels);
    return bounded_close(&run, status);
}

const tool_verb verb_bound = {
    .name = "bound",
    .operands = "TRAIN.csv|ENV.hf (--at QUERY.csv|--grid RANGES) [OPTION]...",
    .summary = "Bound an unknown function surely, where noise and norm are bounded",
    .text =
        "Nothing is random here: each reading is off by at most a bound that you give. The function lies in "
        "the\n"
        "kernel's space with a norm of at most G. Between lower and upper, and nowhere else, are then the\n"
        "values of all functions that meet all readings; gap says by how much the two could be tighter at "
        "most.\n"
        "Readings that contradict each other are named, with the smallest norm and noise bound that would "
        "do.\n"
        "Units are those of the data throughout. With --save the envelope is kept in a file, which this "
        "verb,\n"
        "inspect and plot take in the place of the table.",
    .example = "  holdfast bound data/hills.csv -t minutes -f miles -k 'se(lengthscale=8)' --norm 200 -b 50 "
               "--save hills.hf\n"
               "  holdfast bound hills.hf --grid miles=0:30:61 -o bounds.csv\n"
               "  holdfast plot hills.hf -o hills.svg",
    TOOL_OPTIONS(options),
    TOOL_RUN(1, 1, run_bound),
};
