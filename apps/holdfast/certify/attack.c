/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast attack */
#include "certify/certified.h"
#include "shell/class_rule.h"
#include "shell/settings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"at", 0, "X.csv", "rows to attack, with the model's inputs (required)", TOOL_READS},
    {"radius", 0, "R",
     "how far each input may be moved (required). Or one for each input\nthat moves, INPUT=R,...", true},
    {"sds", 0, NULL, "the radius is in standard deviations of each input over the\nrows of the fit", false},
    {"features", 'f', "A,B,...", "only these inputs move (default: all but those of texts)", true},
    {"method", 'm', "METHOD",
     "pgd (default): many small projected steps; fgsm: one step along the\nsign of the gradient", false},
    TOOL_SETTINGS(0, NULL),
    {"beta", 0, "B", "of mean-plus, of either sign", false},
    {"observed", 0, NULL, "of sd and mean-plus: the sd of a new reading, its noise in it", false},
    {"of", 0, "NAME", "of models of readings: which output (default: the first)", false},
    {"ball", 0, "SHAPE",
     "of models of readings: box (default), l2 or l1: the points with\nsum (moves/radius)^2 or sum "
     "|moves|/radius of at most 1",
     false},
    {"within", 0, "LIMITS", "likewise: INPUT=LOW:HIGH,...: what is physical", true},
    {"step", 0, "INPUT=S,...", "likewise: these inputs move by whole multiples of S only", true},
    CLASS_RULE,
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): the inputs where it\nended, class_before, class_after, and "
     "p, what is left of the\nprobability of the class before; of readings value_before and\nvalue_after",
     TOOL_WRITES},
};

typedef struct attack_request {
    double radius;
    hf_attack_settings how; /* of values */
    hf_certify_settings value;
    double most; /* farthest that a value went */
} attack_request;

/* ---- usage -------------------------------------------------------------------------------------------------- */

/* The quantity that is attacked, of a model of readings. */
static hf_status parse_value(certified *run, attack_request *out)
{
    const tool_arguments *a = run->arguments;
    hf_status status = session_settings(&run->session, hf_attack_settings_table(), &out->how);
    if (status >= 0) status = certified_settings(run, &out->value);
    if (status >= 0) status = certified_region(run, &out->value.region);
    if (status < 0) return status;
    const bool plus = out->how.what == HF_CERTIFY_MEAN_PLUS;
    if (has_argument(a, "beta") != plus)
        return MISUSE(run,
                      plus ? "--beta is missing: mean + how many sd?" : "--beta is for --what mean-plus");
    if (out->value.observed && out->how.what == HF_CERTIFY_MEAN)
        return MISUSE(run, "--observed is for --what sd and mean-plus");
    status = certified_observed(run, out->value.observed);
    if (status < 0) return status;
    if (out->how.starts == 0) return MISUSE(run, "--starts: give a number from 1 on");
    out->value.output = certified_latent(run, out->value.output);
    return HF_OK;
}

static hf_status check_effect(certified *run, const attack_request *asked)
{
    static const char *const no[] = {"goal",   "what", "beta",   "observed", "of",
                                     "starts", "ball", "within", "step"};
    const tool_arguments *a = run->arguments;
    for (size_t k = 0; run->classifier != NULL && k < sizeof no / sizeof *no; k++)
        if (has_argument(a, no[k]))
            return MISUSE(run, "--%s is for models of readings; the class of a row is attacked", no[k]);
    if (asked->how.kind == HF_ATTACK_FGSM && (has_argument(a, "steps") || has_argument(a, "starts")))
        return MISUSE(run, "--steps and --starts are for --method pgd");
    return HF_OK;
}

static hf_status parse_attack_options(certified *run, attack_request *out)
{
    const tool_arguments *a = run->arguments;
    const char *method = argument(a, "method");
    *out = (attack_request){
        .radius = -1.0, .how = hf_attack_settings_default(), .value = hf_certify_settings_default()};
    unsigned kind = out->how.kind;
    if (method != NULL && hf_enum_parse(run->session.ctx, HF_ENUM_ATTACK_KIND, method, &kind) < 0)
        return MISUSE(run, "--method: %s", hf_context_message(run->session.ctx));
    out->how.kind = (hf_attack_kind)kind;
    if (certified_named_radii(run))
        out->radius = 1.0;
    else if (!argument_double(a, "radius", &out->radius))
        return session_told(&run->session);
    if (!argument_size(a, "steps", &out->how.steps)) return session_told(&run->session);
    if (!has_argument(a, "at")) return MISUSE(run, "--at is missing: which rows?");
    if (!has_argument(a, "radius")) return MISUSE(run, "--radius is missing: how far do the inputs move?");
    if (!(out->radius >= 0.0) || !isfinite(out->radius))
        return MISUSE(run, "--radius: %g is not a number from 0 on", out->radius);
    const hf_status status = check_effect(run, out);
    return status < 0 || run->classifier != NULL ? status : parse_value(run, out);
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

/* Values of a model of readings: where they began, and where they went. */
static hf_status move_values(certified *run, attack_request *asked)
{
    static const char *const names[] = {"value_before", "value_after", NULL};
    hf_context *ctx = run->session.ctx;
    const size_t m = run->m, d = run->d;
    double *out = calloc(m * d + 2 * m + 1, sizeof *out), *before = out != NULL ? out + m * d : NULL;
    hf_attack_settings still = asked->how;
    hf_status status = out != NULL ? certified_place_region(run) : HF_ERR_MEMORY;
    asked->how.value = &asked->value;
    still.kind = HF_ATTACK_FGSM;
    /* In boxes of no width an attack tells the values of the rows. */
    hf_certify_settings whole = asked->value;
    whole.region = NULL;
    still.value = &whole;
    if (status >= 0)
        status = hf_attack_value(ctx, run->posterior, &still, m, run->x, run->x, run->x, out, before);
    if (status >= 0)
        status = hf_attack_value(ctx, run->posterior, &asked->how, m, run->x, run->lower, run->upper, out,
                                 before + m);
    for (size_t k = 0; k < m && status >= 0; k++)
        asked->most = fmax(asked->most, fabs(before[m + k] - before[k]));
    if (status >= 0) status = certified_begin(run, m, out, names);
    if (status >= 0) status = certified_numbers(run, names, before);
    free(out);
    return status;
}

static hf_status attack(certified *run, hf_attack_kind kind, size_t steps, size_t *changed)
{
    static const char *const names[] = {"class_before", "class_after", "p", NULL};
    hf_context *ctx = run->session.ctx;
    const size_t m = run->m, d = run->d;
    double *out = calloc(m * d + m + 1, sizeof *out), *left = out != NULL ? out + m * d : NULL;
    size_t *class = calloc(2 * m + 1, sizeof *class);
    hf_status status = out != NULL && class != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0)
        status = hf_attack(ctx, run->classifier, kind, steps, m, run->x, run->lower, run->upper, out, left);
    if (status >= 0) status = certified_begin(run, m, out, names);
    if (status >= 0)
        status = hf_classify_predict(ctx, run->classifier, m, run->x, d, NULL, class, NULL, NULL, NULL);
    if (status >= 0)
        status = hf_classify_predict(ctx, run->classifier, m, out, d, NULL, class + m, NULL, NULL, NULL);
    for (size_t k = 0; k < m && status >= 0; k++) *changed += class[k] != class[m + k];
    if (status >= 0) status = certified_classes(run, "class_before", class);
    if (status >= 0) status = certified_classes(run, "class_after", class + m);
    if (status >= 0) status = certified_numbers(run, names + 2, left);
    TOOL_FREE(out, class);
    return status;
}

static void report_attack(certified *run, const attack_request *asked, size_t changed)
{
    const char *output = output_of(run->arguments),
               *what = hf_enum_name(HF_ENUM_CERTIFY_WHAT, asked->how.what);
    const bool values = run->classifier == NULL, file = !is_standard(output);
    if (run->session.json)
        session_print(
            &run->session,
            JSON_OF({"output", json_text(output)}, {"rows", json_count(run->m)},
                    {values ? "what" : NULL, json_string(what)},
                    {values ? "goal" : NULL, json_string(hf_enum_name(HF_ENUM_ATTACK_GOAL, asked->how.goal))},
                    {values ? "farthest" : NULL, json_number(asked->most)},
                    {values ? NULL : "changed", json_count(changed)}));
    else if (file && values)
        say(stdout, "%s of %zu rows moved by up to %g. Written to %s\n", what, run->m, asked->most, output);
    else if (file)
        say(stdout, "%zu of %zu rows changed their class. Written to %s\n", changed, run->m, output);
}

static hf_status run_attack(certified *run)
{
    attack_request asked;
    size_t changed = 0;
    hf_status status = parse_attack_options(run, &asked);
    if (status >= 0) status = certified_points(run);
    if (status >= 0) status = certified_units(run);
    if (status >= 0) status = certified_balls(run, 1, &asked.radius);
    if (status >= 0)
        status = run->classifier != NULL ? attack(run, asked.how.kind, asked.how.steps, &changed)
                                         : move_values(run, &asked);
    if (status >= 0) status = certified_write(run, output_of(run->arguments));
    if (status >= 0) report_attack(run, &asked, changed);
    return status;
}

const tool_verb verb_attack = {
    .name = "attack",
    .operands = "MODEL.hf --at X.csv --radius R [OPTION]...",
    .summary = "Look for small changes of inputs that change a class or move a value far",
    .text =
        "Follows gradients, and proves nothing: what it does not find may be there (holdfast certify tells).",
    .example = "  holdfast fit data/boston.csv -t chas -f rm,nox,medv --sites probit -o chas.hf\n"
               "  holdfast attack chas.hf --at data/boston.csv --radius 0.2 --sds -o attacked.csv",
    TOOL_OPTIONS(options),
    TOOL_TABLES(hf_attack_settings_table),
    CERTIFIED(run_attack),
};
