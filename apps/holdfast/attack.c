/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast attack */
#include "certified.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"at", 0, "X.csv", "rows to attack, with the model's inputs (required)", TOOL_READS},
    {"radius", 0, "R", "how far each input may be moved (required)", false},
    {"sds", 0, NULL, "the radius is in standard deviations of each input over the\nrows of the fit", false},
    {"features", 'f', "A,B,...", "only these inputs move (default: all)", true},
    {"method", 'm', "METHOD",
     "projected (default): many small steps; sign: one step along the\nsign of the gradient", false},
    {"steps", 0, "N", "of the projected attack (default 40)", false},
    {"output", 'o', "OUT.csv",
     "file to write (default: standard output): the inputs where it\nended, class before, class after, and "
     "p, what is left of "
     "the\nprobability of the class before",
     TOOL_WRITES},
};

static hf_status parse(certified *run, double *radius, size_t *steps, hf_attack_kind *kind)
{
    const tool_arguments *a = run->arguments;
    const char *method = argument(a, "method");
    *radius = -1.0;
    *steps = 0;
    *kind = method != NULL && strcmp(method, "sign") == 0 ? HF_ATTACK_SIGN : HF_ATTACK_PROJECTED;
    if (!argument_double(a, "radius", radius) || !argument_size(a, "steps", steps)) {
        return certified_told(run);
    }
    if (!has_argument(a, "at")) return certified_misuse(run, "--at is missing: which rows?");
    if (!has_argument(a, "radius"))
        return certified_misuse(run, "--radius is missing: how far do the inputs move?");
    if (!(*radius >= 0.0) || !isfinite(*radius))
        return certified_misuse(run, "--radius: %g is not a number from 0 on", *radius);
    if (method != NULL && *kind == HF_ATTACK_PROJECTED && strcmp(method, "projected") != 0)
        return certified_misuse(run, "--method: there is no method '%s'; give projected or sign", method);
    if (run->classifier == NULL)
        return certified_refuse(run, "attacks are on classes; %s is a model of the readings of \"%s\"",
                                a->operand[0], hf_model_target(run->model));
    return HF_OK;
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
    free(out);
    free(class);
    return status;
}

static int run_attack(const tool_arguments *arguments)
{
    certified run;
    double radius;
    size_t steps, changed = 0;
    hf_attack_kind kind;
    const int code = certified_open(arguments, &run);
    if (code != TOOL_OK) return code;
    const char *output = argument(arguments, "output");
    hf_status status = certified_load(&run);
    if (status >= 0) status = parse(&run, &radius, &steps, &kind);
    if (status >= 0) status = certified_points(&run);
    if (status >= 0) status = certified_units(&run);
    if (status >= 0) status = certified_balls(&run, 1, &radius);
    if (status >= 0) status = attack(&run, kind, steps, &changed);
    if (status >= 0) status = certified_write(&run, output);
    if (status >= 0 && run.session.json)
        json_print(json_pack("{s:o, s:I, s:I}", "output", json_text(output), "rows", (json_int_t)run.m,
                             "changed", (json_int_t)changed));
    else if (status >= 0 && output != NULL && strcmp(output, "-") != 0)
        say(stdout, "%zu of %zu rows changed their class. Written to %s\n", changed, run.m, output);
    return certified_close(&run, status);
}

const tool_verb verb_attack = {
    .name = "attack",
    .operands = "MODEL.hf --at X.csv --radius R [OPTION]...",
    .summary = "Look for small changes of inputs that change a class",
    .text = "Follows gradients, and proves nothing: what it does not find may be there (holdfast certify "
            "tells).",
    .example = "  holdfast fit data/boston.csv -t chas -f rm,nox,medv --sites probit --inference laplace -o "
               "chas.hf\n"
               "  holdfast attack chas.hf --at data/boston.csv --radius 0.2 --sds -o attacked.csv",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .least = 1,
    .most = 1,
    .run = run_attack,
};
