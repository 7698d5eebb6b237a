/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast certify */
#include "certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"at", 0, "X.csv", "a box about each row of a table with the model's inputs", false},
    {"radius", 0, "R", "half-width of these boxes, in the units of each input; 0: the\npoint itself", false},
    {"sds", 0, NULL, "the radius is in standard deviations of each input over the\nrows of the fit", false},
    {"box", 0, "L.csv,U.csv", "instead: boxes from the rows of one table to those of another", false},
    {"features", 'f', "A,B,...", "only these inputs move (default: all)", true},
    {"what", 0, "WHAT",
     "mean, sd (both latent), probability, or decision: whether the\nclass of a row is that of its whole "
     "box. "
     "Default: probability of\nclassifiers, else mean",
     false},
    {"of", 0, "NAME",
     "which output, or which class's probability (default: the first;\nof two classes the second)", false},
    {"tolerance", 0, "E", "how far a range may be wider than what is attained, at either\nend (default 0.01)",
     false},
    {"time-limit", 0, "S", "seconds for a box (default 0: none): wider, just as true", false},
    {"max-radius", 0, NULL,
     "the largest certified radius up to --radius of each row, and the\nnearest counterexample found", false},
    {"counterexamples", 0, "FILE.csv", "of decision and --max-radius: rows of another class", false},
    {"rigorous", 0, NULL, "proof against rounding; probabilities of two classes only", false},
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): the inputs, lower,\nupper, lower_attained, upper_attained, "
     "status, "
     "nodes, seconds;\nof decision class, status, nodes, seconds; of --max-radius class,\ncertified_radius, "
     "broken_radius, nodes, seconds",
     false},
};

typedef enum question {
    MEAN,
    SD,
    PROBABILITY,
    DECISION,
    QUESTIONS
} question;

static const char *const questions[QUESTIONS] = {"mean", "sd", "probability", "decision"};

typedef struct request {
    question what;
    double radius;
    hf_certify_settings settings;
    bool radii;
    const char *output, *counterexamples;
    /* What it came to. */
    size_t unfinished, certified, broken;
} request;

/* ---- usage -------------------------------------------------------------------------------------------------- */

static hf_status parse_what(certified *run, request *out)
{
    const char *what = argument(run->arguments, "what");
    out->what = run->classifier != NULL ? PROBABILITY : MEAN;
    if (what == NULL) return HF_OK;
    for (out->what = MEAN; out->what < QUESTIONS; out->what++)
        if (strcmp(questions[out->what], what) == 0) break;
    if (out->what == QUESTIONS)
        return certified_misuse(run, "--what: there is no '%s'; give mean, sd, probability or decision",
                                what);
    if (out->what >= PROBABILITY && run->classifier == NULL)
        return certified_refuse(run, "--what %s is about classes; %s is a model of the readings of \"%s\"",
                                what, run->arguments->operand[0], hf_model_target(run->model));
    return HF_OK;
}

static hf_status check(certified *run, const request *asked)
{
    const tool_arguments *a = run->arguments;
    const bool at = has_argument(a, "at"), box = has_argument(a, "box"), radius = has_argument(a, "radius");
    if (at == box)
        return certified_misuse(run, at ? "--at and --box exclude each other"
                                        : "--at or --box is missing: where?");
    if (at && !radius) return certified_misuse(run, "--radius is missing: how far do the inputs move?");
    if (box && (radius || has_argument(a, "features") || has_argument(a, "sds") || asked->radii))
        return certified_misuse(run, "--radius, --sds, --features and --max-radius are for --at");
    if (!(asked->radius >= 0.0) || !isfinite(asked->radius))
        return certified_misuse(run, "--radius: %g is not a number from 0 on", asked->radius);
    if (asked->radii && asked->radius == 0.0)
        return certified_misuse(run, "--max-radius: --radius, the largest to look at, must be above 0");
    if (!(asked->settings.tolerance > 0.0))
        return certified_misuse(run, "--tolerance: %g is not above 0", asked->settings.tolerance);
    if (!(asked->settings.time_limit >= 0.0))
        return certified_misuse(run, "--time-limit: %g is not a number from 0 on",
                                asked->settings.time_limit);
    if (asked->radii && run->classifier == NULL)
        return certified_refuse(run, "--max-radius is about classes; %s is a model of the readings of \"%s\"",
                                a->operand[0], hf_model_target(run->model));
    if (asked->counterexamples != NULL && asked->what != DECISION && !asked->radii)
        return certified_misuse(run, "--counterexamples is for --what decision and --max-radius");
    if (!is_unwritable(asked->counterexamples)) return HF_OK;
    run->refused = TOOL_FAILED;
    return HF_ERR_IO;
}

static hf_status parse(certified *run, request *out)
{
    const tool_arguments *a = run->arguments;
    *out = (request){.settings = hf_certify_settings_default(),
                     .radii = has_argument(a, "max-radius"),
                     .output = argument(a, "output"),
                     .counterexamples = argument(a, "counterexamples")};
    out->settings.rigorous = has_argument(a, "rigorous");
    if (!argument_double(a, "radius", &out->radius) ||
        !argument_double(a, "tolerance", &out->settings.tolerance) ||
        !argument_double(a, "time-limit", &out->settings.time_limit)) {
        run->refused = TOOL_USAGE;
        return HF_ERR_ARGUMENT;
    }
    hf_status status = parse_what(run, out);
    if (status >= 0) status = check(run, out);
    if (status >= 0) status = certified_of(run, &out->settings.output);
    return status;
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

static hf_status ask_ranges(certified *run, request *asked)
{
    static const char *const names[] = {"lower",  "upper", "lower_attained", "upper_attained",
                                        "status", "nodes", "seconds",        NULL};
    hf_context *ctx = run->session.ctx;
    hf_status status = certified_begin(run, names);
    if (status < 0) return status;
    hf_range *out = calloc(run->m + 1, sizeof *out);
    if (out == NULL) return HF_ERR_MEMORY;
    if (asked->what != PROBABILITY && run->classifier != NULL && hf_model_classes(run->model) == 2)
        asked->settings.output = 0;
    if (asked->what == PROBABILITY)
        status = hf_certify_class(ctx, run->classifier, &asked->settings, run->m, run->lower, run->upper, out,
                                  NULL, NULL);
    else
        status = hf_certify_boxes(ctx, run->posterior, asked->what == SD ? HF_CERTIFY_SD : HF_CERTIFY_MEAN,
                                  &asked->settings, run->m, run->lower, run->upper, out, NULL, NULL);
    for (size_t k = 0; k < run->m && status >= 0; k++) {
        const hf_range *r = &out[k];
        certified_row(run, run->x + k * run->d);
        certified_number(run, r->lower);
        certified_number(run, r->upper);
        certified_number(run, r->lower_attained);
        certified_number(run, r->upper_attained);
        fprintf(run->csv, ",%s", hf_certify_stop_name(r->stop));
        certified_number(run, (double)r->nodes);
        certified_number(run, r->seconds);
        asked->unfinished += r->stop > HF_CERTIFY_DECIDED;
    }
    free(out);
    return status;
}

static hf_status ask_decisions(certified *run, request *asked, double *counterexample)
{
    static const char *const names[] = {"class", "status", "nodes", "seconds", NULL};
    hf_status status = certified_begin(run, names);
    if (status < 0) return status;
    hf_decision *out = calloc(run->m + 1, sizeof *out);
    if (out == NULL) return HF_ERR_MEMORY;
    status = hf_certify_decision(run->session.ctx, run->classifier, &asked->settings, run->m, run->x,
                                 run->lower, run->upper, out, counterexample);
    for (size_t k = 0; k < run->m && status >= 0; k++) {
        certified_row(run, run->x + k * run->d);
        certified_class(run, out[k].winner);
        fprintf(run->csv, ",%s", hf_verdict_name(out[k].verdict));
        certified_number(run, (double)out[k].nodes);
        certified_number(run, out[k].seconds);
        asked->unfinished += out[k].verdict == HF_VERDICT_OPEN;
        asked->certified += out[k].verdict == HF_VERDICT_CERTIFIED;
        asked->broken += out[k].verdict == HF_VERDICT_COUNTEREXAMPLE;
    }
    free(out);
    return status;
}

static hf_status ask_radii(certified *run, request *asked, double *counterexample)
{
    static const char *const names[] = {"class", "certified_radius", "broken_radius",
                                        "nodes", "seconds",          NULL};
    hf_status worst = certified_begin(run, names);
    for (size_t k = 0; k < run->m && worst >= 0; k++) {
        hf_radius r;
        const double *x = run->x + k * run->d;
        const hf_status status =
            hf_certify_radius(run->session.ctx, run->classifier, &asked->settings, x, run->unit,
                              asked->radius, 0.01, &r, counterexample + k * run->d);
        if (status < 0) return status;
        if (status > 0) worst = status;
        certified_row(run, x);
        certified_class(run, r.winner);
        certified_number(run, r.certified);
        certified_number(run, isfinite(r.broken) ? r.broken : NAN);
        certified_number(run, (double)r.nodes);
        certified_number(run, r.seconds);
        asked->unfinished += status == HF_WARN_NOT_CONVERGED;
        asked->certified += r.certified > 0.0;
        asked->broken += isfinite(r.broken) ? 1 : 0;
    }
    return worst;
}

static hf_status write_counterexamples(certified *run, const request *asked, const double *counterexample)
{
    static const char *const names[] = {"row", NULL};
    if (asked->counterexamples == NULL) return HF_OK;
    hf_status status = certified_begin(run, names);
    for (size_t k = 0; k < run->m && status >= 0; k++) {
        if (isnan(counterexample[k * run->d])) continue;
        certified_row(run, counterexample + k * run->d);
        certified_number(run, (double)(k + 1));
    }
    return status >= 0 ? certified_write(run, asked->counterexamples) : status;
}

/* ---- summary ------------------------------------------------------------------------------------------------ */

static void print_summary(const certified *run, const request *asked)
{
    const bool decides = asked->what == DECISION || asked->radii;
    const char *rests = asked->settings.rigorous
                            ? "proof against rounding"
                            : "true up to an allowance for rounding, which is part of it";
    if (run->session.json) {
        json_t *json =
            json_pack("{s:s, s:I, s:s, s:b, s:I}", "output", asked->output, "boxes", (json_int_t)run->m,
                      "what", asked->radii ? "radius" : questions[asked->what], "rigorous",
                      asked->settings.rigorous, "unfinished", (json_int_t)asked->unfinished);
        if (json != NULL && decides) {
            json_object_set_new(json, "certified", json_integer((json_int_t)asked->certified));
            json_object_set_new(json, "counterexamples", json_integer((json_int_t)asked->broken));
        }
        json_print(json);
        return;
    }
    printf("%zu box%s", run->m, run->m == 1 ? "" : "es");
    if (decides) printf(": %zu certified, %zu with a counterexample", asked->certified, asked->broken);
    printf("%s %zu stopped by a limit or by rounding. Every range is %s.\n", decides ? "," : ":",
           asked->unfinished, rests);
    if (asked->output != NULL) printf("Written to %s\n", asked->output);
}

static hf_status certify(certified *run, request *asked)
{
    const bool at = has_argument(run->arguments, "at");
    hf_status status = at ? certified_points(run) : certified_boxes(run, false);
    if (status >= 0 && at) status = certified_units(run);
    if (status >= 0 && at) status = certified_balls(run, asked->radius);
    if (status < 0) return status;
    double *counterexample = calloc(run->m * run->d + 1, sizeof *counterexample);
    if (counterexample == NULL) return HF_ERR_MEMORY;
    if (asked->radii)
        status = ask_radii(run, asked, counterexample);
    else if (asked->what == DECISION)
        status = ask_decisions(run, asked, counterexample);
    else
        status = ask_ranges(run, asked);
    if (status >= 0) status = certified_write(run, asked->output);
    if (status >= 0) status = write_counterexamples(run, asked, counterexample);
    free(counterexample);
    return status;
}

static int run_certify(const tool_arguments *arguments)
{
    certified run;
    request asked;
    const int code = certified_open(arguments, &run);
    if (code != TOOL_OK) return code;
    hf_status status = certified_load(&run);
    if (status >= 0) status = parse(&run, &asked);
    if (status >= 0) status = certify(&run, &asked);
    if (status >= 0 && asked.output != NULL && strcmp(asked.output, "-") != 0) print_summary(&run, &asked);
    return certified_close(&run, status);
}

const tool_verb verb_certify = {
    .name = "certify",
    .operands = "MODEL.hf (--at X.csv --radius R|--box L.csv,U.csv) [OPTION]...",
    .summary = "Tell what predictions surely do while their inputs move",
    .text = "For each box of inputs, two numbers between which the prediction stays wherever in the box the "
            "inputs "
            "are,\n"
            "and how near to them it gets: branch and bound, stopped early only by a limit, and true then "
            "too. With\n"
            "--what decision, whether a class surely stays what it is. Units are those of the data.",
    .example = "  holdfast fit data/hills.csv -t minutes -f miles -o hills.hf\n"
               "  holdfast certify hills.hf --at data/hills.csv --radius 0.5 --tolerance 1 -o ranges.csv",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_certify,
};
