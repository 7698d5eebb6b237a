/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast certify */
#include "certify/certify_request.h"
#include "shell/class_rule.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"at", 0, "X.csv", "a box about each row of a table with the model's inputs", TOOL_READS},
    {"radius", 0, "R,...",
     "half-width of these boxes, in the units of each input; 0: the\npoint itself; several: a box for each. "
     "Or one for each input that\nmoves, INPUT=R,...",
     true},
    {"sds", 0, NULL, "the radius is in standard deviations of each input over the\nrows of the fit", false},
    {"box", 0, "BOX",
     "instead: boxes from the rows of one table to those of another,\nL.csv,U.csv; or one box by name, "
     "INPUT=LOW:HIGH,..., inputs\nleft out going as far as the rows of the fit; COLUMN=TEXT of a column\nof "
     "texts, of which one that is left out makes a box for each",
     TOOL_REPEATS | TOOL_READS},
    {"features", 'f', "A,B,...",
     "only these inputs move (default: all but those of texts, each\nof which is 0 or 1 also where it moves)",
     true},
    {"ball", 0, "SHAPE",
     "box (default), l2 or l1: not the whole box, but the points with\nsum (moves/radius)^2 or sum "
     "|moves|/radius of at most 1",
     false},
    {"within", 0, "LIMITS",
     "INPUT=LOW:HIGH,...: what is physical, within which inputs stay\nbesides; inf: no limit", true},
    {"step", 0, "INPUT=S,...", "these inputs move by whole multiples of S only: 1 for counts", true},
    {"at-most", 0, "K", "at most K inputs move at once (an L0 ball)", false},
    {"group", 0, "A,B,...",
     "these inputs move while others stay; given several times: those of\none group at a time", true},
    {"patch", 0, "PATCH",
     "the inputs are the pixels of a picture, row by row, of which those\nof one patch move: 2x2@28x28, any "
     "2 by 2 of 28 by 28",
     false},
    {"what", 0, "WHAT",
     "one of: mean, sd (both latent), mean-plus (mean + B sd), probability; loss (that\n"
     "is expected of deciding for --of, see --loss); classes (the probabilities of all\n"
     "classes, and which of them remain possible); decision (whether the class of a\n"
     "row is that of its whole box); accuracy (of rows with labels: how many are\n"
     "right, and how many surely stay so); readings (what bad readings can do to the\n"
     "mean, hyperparameters, noise, centres and thresholds held); interval\n"
     "(that of predict in which 95 % of new readings are: its least lower\n"
     "and largest upper end) or outputs (how far the means of all of them\n"
     "together are from those of the point). Default: probability of classifiers, else\n"
     "mean",
     false},
    {"of", 0, "NAME", "which output, or which class (default: the first; of two classes\nthe second)", false},
    TOOL_SETTINGS(0, "quantity"),
    TOOL_SETTINGS(1, NULL),
    CLASS_RULE,
    TOOL_SETTINGS(2, NULL),
    {"count", 0, "K", "of readings: how many are bad (default 1)", false},
    TOOL_SETTINGS(0, "search"),
    CERTIFIED_LIMITS,
    {"max-radius", 0, NULL,
     "the largest certified radius up to --radius of each row, and the\nnearest counterexample found: of the "
     "class, or of the verdict that\nis asked for",
     false},
    {"counterexamples", 0, "FILE.csv",
     "of verdicts, decision and --max-radius: points beyond a limit,\nor of another class", TOOL_WRITES},
    {"fail-on", 0, "WHAT", "exit status 3 if a counterexample is found; open: or if a verdict\nis left open",
     TOOL_TELLS},
    {"where", 0, NULL,
     "columns more, for each input that moves: where lower_attained and\nupper_attained are (INPUT_at_lower, "
     "INPUT_at_upper), of verdicts\nwhere the worst value is (INPUT_at_worst)",
     TOOL_TELLS},
    {"sides", 0, NULL, "columns more, likewise: the sides of the boxes (INPUT_from,\nINPUT_to)", TOOL_TELLS},
    TOOL_SETTINGS(0, "proof"),
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): the inputs, lower,\nupper, lower_attained, upper_attained, "
     "status, nodes, seconds;\nof counts and amounts rate_lower and rate_upper, the exponentials;\nof "
     "classes possible (how many remain), p_CLASS_lower,\np_CLASS_upper and class_CLASS (possible, ruled out "
     "or open) of each,\nstatus, nodes, seconds; of decision class, status, nodes, seconds;\nof --max-radius "
     "class or value, certified_radius, broken_radius,\nnodes, seconds; of verdicts value, lower, upper, "
     "worst (the value\nnearest to its limit, or farthest beyond it), margin (how far\ninside), status, "
     "nodes, seconds; of accuracy counts for each\nradius; of readings damage, worst_row; of outputs upper, "
     "attained, status,\nparts, nodes, seconds. With several radii there is\na column radius. A status ends "
     "in (estimate) where it rests on one:\nof five classes and more",
     TOOL_WRITES},
    {"format", 0, "FORMAT",
     "of that file: csv (default), or jsonl: a line of JSON for each row\n"
     "with the SHA-256 of the model, the settings and options, and the\n"
     "box. It can be checked by itself",
     TOOL_TELLS},
    {"plot", 0, "FILE.svg",
     "picture (or .png, .pdf): the ranges against the radius, and how\nwide they are; of decision, accuracy "
     "and --max-radius the share\nof rows that are certified. Needs gnuplot",
     TOOL_WRITES},
};

/* ---- usage -------------------------------------------------------------------------------------------------- */

static hf_status parse_what(certified *run, certify_request *out)
{
    const char *what = argument(run->arguments, "what");
    const bool radii = has_argument(run->arguments, "max-radius");
    bool claims = false;
    const hf_status parsed = certified_claim(run, &out->claim, &claims);
    if (parsed < 0) return parsed;
    const certify_task standard = run->classifier != NULL ? CERTIFY_PROBABILITY : CERTIFY_MEAN;
    out->what = radii && !claims ? CERTIFY_RADII : standard;
    if (what != NULL && radii && !claims)
        return MISUSE(run, "--max-radius is a question of its own; leave out --what");
    for (int k = 0; what != NULL; k++) {
        if (k == CERTIFY_RADII)
            return MISUSE(run,
                          "--what: there is no '%s'; give mean, sd, mean-plus, probability, loss, classes, "
                          "decision, accuracy, readings, interval or outputs",
                          what);
        out->what = (certify_task)k;
        if (strcmp(certify_tasks[k], what) == 0) break;
    }
    const bool classes =
        (out->what >= CERTIFY_PROBABILITY && out->what <= CERTIFY_ACCURACY) || out->what == CERTIFY_RADII;
    if (classes && run->classifier == NULL)
        return REFUSE(run, "%s%s is about classes; %s is a model of the readings of \"%s\"",
                      radii ? "--max-radius" : "--what ", radii ? "" : what, run->arguments->operand[0],
                      hf_model_target(run->model));
    out->value = out->what;
    if (out->what == CERTIFY_OUTPUTS && run->classifier != NULL)
        return REFUSE(run, "--what outputs is about readings; %s is a model of the classes of \"%s\"",
                      run->arguments->operand[0], hf_model_target(run->model));
    if (out->what == CERTIFY_OUTPUTS) return certify_parse_norm(run, out);
    if (claims && out->what > CERTIFY_PROBABILITY)
        return MISUSE(run, "--never-above, --never-below and --delta are not for --what %s", what);
    if (claims) out->what = radii ? CERTIFY_REACH : CERTIFY_CLAIM;
    if ((out->what == CERTIFY_READINGS || out->what == CERTIFY_INTERVAL) && run->classifier != NULL)
        return REFUSE(run, "--what %s is about readings; %s is a model of the classes of \"%s\"", what,
                      run->arguments->operand[0], hf_model_target(run->model));
    if (out->what == CERTIFY_INTERVAL && hf_likelihood_has_rate(hf_model_settings_of(run->model)->sites))
        return REFUSE(run,
                      "--what interval is about readings with noise; %s is a model of counts or amounts, "
                      "whose rate --what mean-plus --beta B bounds",
                      run->arguments->operand[0]);
    return HF_OK;
}

/* A rule is for what it has a say in. */
static hf_status check_rule(certified *run, const certify_request *asked)
{
    const tool_arguments *a = run->arguments;
    const certify_task what = asked->what;
    const bool decides = what == CERTIFY_LOSS || what == CERTIFY_CLASSES || what == CERTIFY_DECISION ||
                         what == CERTIFY_ACCURACY || what == CERTIFY_RADII;
    if ((has_argument(a, "threshold") || has_argument(a, "loss")) && !decides)
        return MISUSE(run, "--threshold and --loss are for --what loss, classes, decision and accuracy and "
                           "for --max-radius of a class");
    if (has_argument(a, "lambda") && !decides && asked->value != CERTIFY_PROBABILITY)
        return MISUSE(run, "--lambda is for what is asked of probabilities and classes");
    return HF_OK;
}

/* Options that go with some questions only. */
static hf_status check_effect(certified *run, const certify_request *asked)
{
    const tool_arguments *a = run->arguments;
    const certify_task what = asked->what;
    const bool plus = asked->value == CERTIFY_MEAN_PLUS;
    if (has_argument(a, "beta") != plus)
        return MISUSE(run,
                      plus ? "--beta is missing: mean + how many sd?" : "--beta is for --what mean-plus");
    if (!isfinite(asked->settings.beta)) return MISUSE(run, "--beta must be a finite number");
    if (asked->settings.observed && !plus && asked->value != CERTIFY_SD)
        return MISUSE(run, "--observed is for --what sd and mean-plus");
    const hf_status status = certified_observed(run, asked->settings.observed);
    if (status < 0) return status;
    if (has_argument(a, "of") && what == CERTIFY_CLASSES)
        return MISUSE(run, "--of is not for --what classes, which is about all of them");
    if (has_argument(a, "count") && what != CERTIFY_READINGS)
        return MISUSE(run, "--count is for --what readings");
    if (asked->counterexamples != NULL && (!certify_decides(what) || what == CERTIFY_ACCURACY))
        return MISUSE(run, "--counterexamples is for verdicts, --what decision and --max-radius");
    if (asked->fail != CERTIFY_FAIL_NEVER && !certify_decides(what))
        return MISUSE(run, "--fail-on is for --never-above, --never-below, --delta, --what decision, --what "
                           "accuracy and --max-radius");
    if ((has_argument(a, "norm") || has_argument(a, "weights")) && what != CERTIFY_OUTPUTS)
        return MISUSE(run, "--norm and --weights are for --what outputs");
    if (has_argument(a, "of") && what == CERTIFY_OUTPUTS)
        return MISUSE(run, "--of is not for --what outputs, which is about all of them");
    if (what == CERTIFY_OUTPUTS && isinf(asked->norm.delta) &&
        (asked->fail != CERTIFY_FAIL_NEVER || asked->counterexamples != NULL))
        return MISUSE(run, "--fail-on and --counterexamples of --what outputs need --delta");
    if (asked->where && !certify_attains(what))
        return MISUSE(run, "--where is for ranges and verdicts; --counterexamples tells points");
    if (asked->sides && !certify_attains(what) && what != CERTIFY_DECISION && what != CERTIFY_CLASSES)
        return MISUSE(run, "--sides is for ranges, verdicts, --what classes and --what decision");
    if (has_argument(a, "plot") &&
        (what == CERTIFY_READINGS || what == CERTIFY_CLASSES || what == CERTIFY_OUTPUTS))
        return MISUSE(run, "--plot is not for --what %s", certify_tasks[what]);
    return HF_OK;
}

/* Points, boxes and radii. */
static hf_status check_where(certified *run, const certify_request *asked)
{
    const tool_arguments *a = run->arguments;
    const bool at = has_argument(a, "at"), box = has_argument(a, "box");
    const bool point = asked->what == CERTIFY_READINGS, max = has_argument(a, "max-radius");
    if (at == box)
        return MISUSE(run, at ? "--at and --box exclude each other" : "--at or --box is missing: where?");
    if (box && (point || max || asked->what == CERTIFY_ACCURACY))
        return max ? MISUSE(run, "--box is not for --max-radius; give --at")
                   : MISUSE(run, "--box is not for --what %s; give --at", certify_tasks[asked->what]);
    if (point && certified_asks_region(run))
        return MISUSE(run, "--ball, --within, --step, --at-most, --group and --patch are for boxes");
    if (asked->settings.rigorous &&
        (has_argument(a, "step") || (has_argument(a, "ball") && strcmp(argument(a, "ball"), "box") != 0)))
        return MISUSE(run, "--rigorous is for boxes, and not for --step and --ball");
    if ((box || point) && (asked->radii > 0 || has_argument(a, "features") || has_argument(a, "sds")))
        return MISUSE(run, "--radius, --sds and --features are for boxes about the rows of --at");
    if (box && certify_decides(asked->what) && has_argument(a, "plot"))
        return MISUSE(run, "--plot of verdicts is against the radius; give --at and --radius");
    if (at && !point && asked->radii == 0)
        return MISUSE(run, "--radius is missing: how far do the inputs move?");
    if (max && asked->radii > 1)
        return MISUSE(run, "--max-radius: give one --radius, the largest to look at");
    for (size_t k = 0; k < asked->radii; k++) {
        if (!(asked->radius[k] >= 0.0) || !isfinite(asked->radius[k]))
            return MISUSE(run, "--radius: %g is not a number from 0 on", asked->radius[k]);
        if (max && asked->radius[k] == 0.0)
            return MISUSE(run, "--max-radius: --radius, the largest to look at, must be above 0");
        if (k > 0 && asked->radius[k] <= asked->radius[k - 1])
            return MISUSE(run, "--radius: %g comes after %g; give several in rising order", asked->radius[k],
                          asked->radius[k - 1]);
    }
    return HF_OK;
}

static hf_status parse_certify_options(certified *run, certify_request *out)
{
    const tool_arguments *a = run->arguments;
    out->settings = hf_certify_settings_default();
    out->output = output_of(a);
    out->counterexamples = argument(a, "counterexamples");
    out->where = has_argument(a, "where");
    out->sides = has_argument(a, "sides");
    const char *format = argument(a, "format");
    out->lines = format != NULL && strcmp(format, "jsonl") == 0;
    if (format != NULL && !out->lines && strcmp(format, "csv") != 0)
        return MISUSE(run, "--format: there is no '%s'; give csv or jsonl", format);
    const char *fail = argument(a, "fail-on");
    if (fail != NULL) {
        const bool open = strcmp(fail, "open") == 0;
        if (!open && strcmp(fail, "counterexample") != 0)
            return MISUSE(run, "--fail-on: there is no '%s'; give counterexample or open", fail);
        out->fail = open ? CERTIFY_FAIL_OPEN : CERTIFY_FAIL_COUNTEREXAMPLE;
    }
    out->count = 1;
    if (certified_named_radii(run)) {
        out->radius = calloc(1, sizeof *out->radius);
        if (out->radius == NULL) return HF_ERR_MEMORY;
        out->radius[0] = 1.0;
        out->radii = 1;
    } else if (!argument_doubles(a, "radius", &out->radii, &out->radius)) {
        return session_told(&run->session);
    }
    if (!argument_size(a, "count", &out->count)) return session_told(&run->session);
    hf_status status = certified_settings(run, &out->settings);
    if (status >= 0) status = parse_what(run, out);
    if (status >= 0) status = check_effect(run, out);
    if (status >= 0) status = check_rule(run, out);
    if (status >= 0) status = check_where(run, out);
    if (status >= 0) status = certified_region(run, &out->settings.region);
    out->of = out->settings.output;
    if (out->what == CERTIFY_INTERVAL) out->settings.observed = true;
    return status;
}

/* ---- summary ------------------------------------------------------------------------------------------------ */

/* Outputs have a verdict against a delta alone. */
static bool tells_verdicts(const certify_request *asked)
{
    return certify_decides(asked->what) && (asked->what != CERTIFY_OUTPUTS || isfinite(asked->norm.delta));
}

/* Whether --fail-on makes the exit status 3. */
static bool fails(const certify_request *asked)
{
    return (asked->fail != CERTIFY_FAIL_NEVER && asked->broken > 0) ||
           (asked->fail == CERTIFY_FAIL_OPEN && asked->unfinished > 0);
}

static json_t *json_counts(const certify_request *asked)
{
    json_t *list = json_array();
    for (size_t r = 0; r < asked->radii; r++) {
        const hf_certified_accuracy *c = &asked->counts[r];
        json_array_append_new(list, JSON_OF({"radius", json_number(asked->radius[r])},
                                            {"rows", json_count(c->rows)}, {"right", json_count(c->right)},
                                            {"certified", json_count(c->certified)},
                                            {"counterexamples", json_count(c->broken)}));
    }
    return list;
}

static void print_certify_json(certified *run, const certify_request *asked)
{
    const bool verdicts = tells_verdicts(asked),
               claim = asked->what == CERTIFY_CLAIM || asked->what == CERTIFY_REACH,
               accuracy = asked->what == CERTIFY_ACCURACY;
    json_t *json = JSON_OF(
        {"output", json_text(asked->output)}, {"boxes", json_count(asked->asked)},
        {"what", json_string(certify_tasks[asked->what])},
        {"rigorous", json_boolean(asked->settings.rigorous)}, {"estimate", json_boolean(asked->estimate)},
        {"unfinished", json_count(asked->unfinished)}, {"region", certified_json_region(run)},
        {"model_sha256", json_text(hf_model_content_checksum(run->model))},
        {verdicts ? "certified" : NULL, json_count(asked->certified)},
        {verdicts ? "counterexamples" : NULL, json_count(asked->broken)},
        {verdicts ? "failed" : NULL, json_boolean(fails(asked))},
        {claim ? "value" : NULL, json_string(certify_tasks[asked->value])});
    if (claim) certify_json_claim(json, &asked->claim);
    if (asked->what == CERTIFY_READINGS)
        JSON_ADD(json, {"held", json_string("hyperparameters, noise, centres and thresholds")});
    if (accuracy) JSON_ADD(json, {"accuracy", json_counts(asked)});
    session_print(&run->session, json);
}

/* The ranges of logarithms as one of the rate, over all boxes. */
static void print_rate(const certified *run, const certify_request *asked)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < run->m; k++) {
        low = fmin(low, asked->low[k]);
        high = fmax(high, asked->high[k]);
    }
    if (run->m == 0) return;
    printf("The %s of the rate, %s of one unit, stays between %.6g and %.6g in %s.\n",
           asked->what == CERTIFY_MEAN ? "median" : "quantile", hf_model_target(run->model), exp(low),
           exp(high), run->m == 1 ? "the box" : "all boxes");
}

static void print_words(const certified *run, const certify_request *asked)
{
    const char *rests = asked->settings.rigorous ? "proof against rounding"
                        : asked->estimate
                            ? "an estimate: it rests on six standard errors of a quadrature and on no bound"
                            : "true up to an allowance for rounding, which is part of it";
    for (size_t r = 0; asked->what == CERTIFY_ACCURACY && r < asked->radii; r++) {
        const hf_certified_accuracy *c = &asked->counts[r];
        printf("radius %g: of %zu rows %zu are right, %zu surely stay so, %zu have a counterexample, %zu are "
               "open\n",
               asked->radius[r], c->rows, c->right, c->certified, c->broken,
               c->right - c->certified - c->broken);
    }
    if (asked->what == CERTIFY_READINGS) {
        printf("%zu point%s: with hyperparameters, noise, centres and thresholds held, replacing any %zu of "
               "the readings moves the mean by no more than its damage; fitted again it may move farther\n",
               asked->asked, plural(asked->asked), asked->count);
    } else if (asked->what != CERTIFY_ACCURACY) {
        printf("%zu box%s", run->m, run->m == 1 ? "" : "es");
        if (tells_verdicts(asked))
            printf(": %zu %scertified%s, %zu with a counterexample", asked->certified,
                   certify_finds_radius(asked->what) ? "with a " : "",
                   certify_finds_radius(asked->what) ? " radius" : "", asked->broken);
        printf("%s %zu stopped by a limit or by rounding. Every range is %s.\n",
               tells_verdicts(asked) ? "," : ":", asked->unfinished, rests);
    }
    if (certify_has_rate(run, asked)) print_rate(run, asked);
    say(stdout, "Written to %s\n", asked->output);
}

static void print_summary(certified *run, const certify_request *asked)
{
    if (is_standard(asked->output)) return;
    if (run->session.json)
        print_certify_json(run, asked);
    else
        print_words(run, asked);
}

/* ---- the verb ----------------------------------------------------------------------------------------------- */

static hf_status write_counterexamples(certified *run, const certify_request *asked)
{
    static const char *const names[] = {"row", NULL};
    const size_t d = run->d;
    size_t count = 0;
    if (asked->counterexamples == NULL) return HF_OK;
    double *points = calloc(run->m * (d + 1) + 1, sizeof *points);
    if (points == NULL) return HF_ERR_MEMORY;
    double *row = points + run->m * d;
    for (size_t k = 0; k < run->m; k++) {
        if (isnan(asked->counterexample[k * d])) continue;
        memcpy(points + count * d, asked->counterexample + k * d, d * sizeof *points);
        const size_t point = k / run->radii;
        row[count++] = (double)point + 1.0;
    }
    hf_status status = certified_begin(run, count, points, names);
    if (status >= 0) status = certified_numbers(run, names, row);
    if (status >= 0) status = certified_write(run, asked->counterexamples);
    free(points);
    return status;
}

/* Points alone, or a box about each of them for every radius. */
static hf_status place_points_or_boxes(certified *run, const certify_request *asked)
{
    static const double none = 0.0;
    const bool points = certify_finds_radius(asked->what) || asked->what == CERTIFY_ACCURACY ||
                        asked->what == CERTIFY_READINGS;
    hf_status status;
    if (has_argument(run->arguments, "box")) {
        status = certified_boxes(run, false);
        return status >= 0 ? certified_place_region(run) : status;
    }

    status = certified_points(run);
    if (status >= 0) status = certified_units(run);
    if (status < 0) return status;
    status = points ? certified_balls(run, 1, &none) : certified_balls(run, asked->radii, asked->radius);
    return status >= 0 ? certified_place_region(run) : status;
}

static hf_status certify(certified *run, certify_request *asked)
{
    hf_status status = place_points_or_boxes(run, asked);
    if (status >= 0) status = certify_answer(run, asked);
    if (status >= 0 && asked->what == CERTIFY_READINGS && asked->unfinished > 0)
        warn(&run->session, "the damage has no bound: sites that are not robust follow a reading wherever it "
                            "goes; fit with --sites robust");
    if (status >= 0 && asked->estimate &&
        (asked->what == CERTIFY_ACCURACY || certify_finds_radius(asked->what)))
        certified_warn_estimate(run);
    if (status >= 0)
        status = asked->lines ? certify_write_lines(run, asked) : certified_write(run, asked->output);
    if (status >= 0) status = write_counterexamples(run, asked);
    if (status >= 0) status = certify_draw(run, asked);
    return status;
}

static hf_status run_certify(certified *run)
{
    certify_request asked = {0};
    hf_status status = parse_certify_options(run, &asked);
    asked.estimate = status >= 0 && asked.value >= CERTIFY_PROBABILITY && certified_is_estimate(run);
    if (status >= 0) status = certify(run, &asked);
    if (status >= 0) print_summary(run, &asked);
    if (status >= 0 && fails(&asked)) run->session.refused = CERTIFY_FAILED;
    certify_request_free(&asked);
    return status;
}

const tool_verb verb_certify = {
    .name = "certify",
    .operands = "MODEL.hf (--at X.csv --radius R|--box BOX) [OPTION]...",
    .summary = "Tell what predictions surely do while their inputs move",
    .text = "For each box of inputs, two numbers between which the prediction stays wherever in the box the "
            "inputs are;\n"
            "and how near to them it gets: branch and bound, stopped early only by a limit, and true then "
            "too. With\n"
            "--what decision, whether a class surely stays what it is; with --never-above, --never-below or "
            "--delta,\n"
            "whether a value surely keeps to limits. Units are those of the data.",
    .example = "  holdfast fit data/hills.csv -t minutes -f miles -o hills.hf\n"
               "  holdfast certify hills.hf --at data/hills.csv --radius 0.5 --tolerance 1 -o ranges.csv",
    TOOL_OPTIONS(options),
    TOOL_TABLES(hf_certify_settings_table, hf_claim_table, hf_output_norm_table),
    CERTIFIED(run_certify),
};
