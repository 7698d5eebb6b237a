/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast expert */
#include "fit/expert.h"
#include "shell/settings.h"

#include <math.h>
#include <stdlib.h>

static const tool_option options[] = {
    {"target", 't', "COLUMN", "column of the readings (required)", false},
    {"features", 'f', "A,B,...",
     "input columns (default: every numeric column that is neither\ntarget nor said or added here)", true},
    {"label-column", 0, "COLUMN",
     "what the expert says: believed, doubted, or nothing\n(default TARGET_label)", false},
    {"correction-column", 0, "COLUMN",
     "what doubted readings should have been, where that is known\n(default TARGET_correction)", false},
    {"variance-column", 0, "COLUMN", "variance of each correction (default TARGET_correction_var)", false},
    {"correction-var", 0, "V",
     "variance of corrections that have none of their own, 0: exact\n(default: a hundredth of that of "
     "undoubted readings)",
     false},
    {"label-weight", 0, "W",
     "what a label counts for beside how far off a reading is; inf:\neverything (default 10)", false},
    {"alpha", 0, "A",
     "prior count of being wrong (default: distance from the\naverage in standard deviations)", false},
    {"beta", 0, "B", "prior count of being right (default 0)", false},
    {"neighbours", 0, "J", "undoubted readings that say what one should be (default 3)", false},
    {"lengthscale", 0, "L",
     "how far a right value reaches, in standard deviations of each\ninput; inf: everywhere (default: "
     "Scott's rule)",
     false},
    {"kernel", 'k', "EXPR", "how far it reaches instead: a kernel with its values written", false},
    {"base", 0, "B", "prior mean far from labelled readings (default: the median of\nthe undoubted)", false},
    {"rule", 0, "NAME", "average: weighted average of right values (default);\npublished: as printed", false},
    {"at", 0, "NEW.csv", "write this table with its prior mean instead", TOOL_READS},
    {"ask", 0, "K", "say which readings to ask about: those that move the mean most", false},
    {"model", 0, "MODEL", "what readings should be, for --ask: without themselves, by a\nmodel of the table",
     TOOL_READS},
    {"output", 'o', "OUT.csv", "file to write (default: standard output, unless --ask)", TOOL_WRITES},
};

static hf_status parse_expert_options(expert_run *run)
{
    const tool_arguments *a = run->base.arguments;
    run->settings = hf_expert_settings_default();
    run->output = argument(a, "output");
    if (run->output == NULL && !has_argument(a, "ask")) run->output = "-";
    if (has_argument(a, "kernel") && has_argument(a, "lengthscale"))
        return MISUSE(&run->base, "--kernel and --lengthscale exclude each other");
    if (has_argument(a, "model") && !has_argument(a, "ask"))
        return MISUSE(&run->base, "--model is for --ask: it says what readings should be");
    if (is_standard(run->output) && has_argument(a, "ask"))
        return MISUSE(&run->base,
                      "the questions and the table cannot both go to standard output; add -o OUT.csv");
    const hf_status status = session_check_output(&run->base.session, run->output);
    if (status < 0) return status;
    if (!argument_size(a, "ask", &run->asked)) return session_told(&run->base.session);
    if (has_argument(a, "ask") && run->asked == 0)
        return MISUSE(&run->base, "--ask: it takes 1 question or more");
    return session_settings(&run->base.session, hf_expert_settings_table(), &run->settings);
}

static hf_status parse_kernel(expert_run *run)
{
    bounded *base = &run->base;
    const char *expression = argument(base->arguments, "kernel");
    if (expression == NULL) return HF_OK;
    const hf_status status =
        hf_kernel_parse(base->session.ctx, expression, base->feature, base->d, &base->kernel);
    if (status < 0) return status;
    const char *name = bounded_free_parameter(base->kernel);
    if (name != NULL)
        return REFUSE(base, "--kernel: %s has no written value; write one, as in se(lengthscale=5)", name);
    run->settings.kernel = base->kernel;
    return HF_OK;
}

static hf_status learn_expert(expert_run *run)
{
    bounded *base = &run->base;
    hf_status status = expert_name_columns(run);
    base->others = run->name;
    base->other_count = EXPERT_COLUMNS;
    if (status >= 0) status = bounded_read(base, base->arguments->operand[0], false);
    if (status >= 0) status = expert_read_said(run);
    if (status >= 0) status = parse_kernel(run);
    if (status < 0) return status;
    const hf_expert_data data = {.n = base->n,
                                 .d = base->d,
                                 .x = base->x,
                                 .ldx = base->d,
                                 .y = base->y,
                                 .label = run->label,
                                 .correction = run->correction,
                                 .correction_var = run->var};
    status = hf_expert_create(base->session.ctx, &data, &run->settings, &run->expert);
    if (status >= 0 && hf_expert_labelled(run->expert) == 0 && !has_argument(base->arguments, "ask"))
        warn(&base->session,
             "%s: nothing is said of any reading (column \"%s\"): the prior mean is %g everywhere",
             hf_table_source(base->table), run->name[0], hf_expert_base(run->expert));
    return status;
}

/* ---- what is said of the readings ------------------------------------------------------------------------------ */

/* Readings with a label, and with a correction. */
typedef struct counted {
    size_t believed, doubted, corrected;
} counted;

static counted count(const expert_run *run)
{
    counted c = {0};
    for (size_t i = 0; i < run->base.n; i++) {
        c.believed += run->label[i] == HF_EXPERT_BELIEVED;
        c.doubted += run->label[i] == HF_EXPERT_DOUBTED;
        c.corrected += isnan(run->correction[i]) ? 0 : 1;
    }
    return c;
}

static hf_expert_reading reading_of(const expert_run *run, size_t i)
{
    hf_expert_reading r = {0};
    hf_expert_reading_of(run->base.session.ctx, run->expert, i, &r);
    return r;
}

static json_int_t line_of(const expert_run *run, size_t i)
{
    return (json_int_t)hf_table_line(run->base.table, run->base.row[i]);
}

/* Like JSON in other verbs, rows count from 1. */
static json_t *json_labelled(const expert_run *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < run->base.n; i++) {
        if (run->label[i] == HF_EXPERT_UNKNOWN) continue;
        const hf_expert_reading r = reading_of(run, i);
        json_array_append_new(
            list, JSON_OF({"row", json_count(run->base.row[i] + 1)}, {"line", json_integer(line_of(run, i))},
                          {"y", json_number(run->base.y[i])},
                          {"label", json_string(hf_enum_name(HF_ENUM_EXPERT_LABEL, run->label[i]))},
                          {"correction", json_number(run->correction[i])}, {"wrong", json_number(r.wrong)},
                          {"expected", json_number(r.expected)}, {"sd", json_number(sqrt(r.expected_var))}));
    }
    return list;
}

static json_t *json_questions(const expert_run *run)
{
    json_t *list = json_array();
    for (size_t k = 0; k < run->asked; k++) {
        const size_t i = run->question[k];
        json_array_append_new(
            list, JSON_OF({"row", json_count(run->base.row[i] + 1)}, {"line", json_integer(line_of(run, i))},
                          {"y", json_number(run->base.y[i])}, {"move", json_number(run->move[k])}));
    }
    return list;
}

static void print_expert_json(expert_run *run, const counted *c)
{
    const bool asked = run->question != NULL;
    session_print(&run->base.session,
                  JSON_OF({"target", json_text(run->base.target)}, {"readings", json_count(run->base.n)},
                          {"believed", json_count(c->believed)}, {"doubted", json_count(c->doubted)},
                          {"corrected", json_count(c->corrected)},
                          {"base", json_number(hf_expert_base(run->expert))},
                          {"rule", json_string(hf_enum_name(HF_ENUM_EXPERT_RULE, run->settings.rule))},
                          {"labelled", json_labelled(run)},
                          {asked ? "questions" : NULL, asked ? json_questions(run) : NULL},
                          {run->output != NULL ? "output" : NULL, json_text(run->output)}));
}

static void print_labelled(const expert_run *run)
{
    enum {
        SHOWN = 20
    };
    size_t shown = 0, all = hf_expert_labelled(run->expert);
    if (all > 0) printf("\n      line       reading  label      wrong      expected            sd\n");
    for (size_t i = 0; i < run->base.n && shown < SHOWN; i++) {
        if (run->label[i] == HF_EXPERT_UNKNOWN) continue;
        const hf_expert_reading r = reading_of(run, i);
        printf("%10lld  %12.6g  %-9s  %5.2f  %12.6g  %12.4g\n", (long long)line_of(run, i), run->base.y[i],
               hf_enum_name(HF_ENUM_EXPERT_LABEL, r.label), r.wrong, r.expected, sqrt(r.expected_var));
        shown++;
    }
    if (shown < all) printf("  and %zu more\n", all - shown);
}

static void print_questions(const expert_run *run)
{
    if (run->question == NULL) return;
    if (run->asked == 0) {
        printf("\nNo answer would move the prior mean.\n");
        return;
    }
    printf("\nAsk about these, in this order; the answer is expected to move the prior mean so much\n"
           "(root mean square over the readings)\n\n      line       reading          move\n");
    for (size_t k = 0; k < run->asked; k++)
        printf("%10lld  %12.6g  %12.4g\n", (long long)line_of(run, run->question[k]),
               run->base.y[run->question[k]], run->move[k]);
}

static void print_expert_text(const expert_run *run, const counted *c)
{
    say(stdout, "%zu readings of %s: %zu believed, %zu doubted, %zu of these corrected\n", run->base.n,
        run->base.target, c->believed, c->doubted, c->corrected);
    printf("Prior mean far from these: %.6g\n", hf_expert_base(run->expert));
    print_labelled(run);
    print_questions(run);
    if (run->output != NULL) say(stdout, "\nWrote %s\n", run->output);
}

static void print(expert_run *run)
{
    const counted c = count(run);
    if (run->base.session.json)
        print_expert_json(run, &c);
    else
        print_expert_text(run, &c);
}

static void free_expert_run(expert_run *run)
{
    for (size_t k = 0; k < EXPERT_COLUMNS; k++) free(run->own[k]);
    if (run->out != run->base.table) hf_table_free(run->out);
    hf_expert_free(run->expert);
    TOOL_FREE(run->label, run->correction, run->var, run->question, run->move);
}

static int run_expert(const tool_arguments *arguments)
{
    expert_run run = {.base = {.arguments = arguments}};
    const int code = session_open(arguments, &run.base.session);
    if (code != TOOL_OK) return code;
    hf_status status = parse_expert_options(&run);
    if (status >= 0) status = learn_expert(&run);
    if (status >= 0) status = expert_find_questions(&run);
    if (status >= 0 && run.output != NULL) status = expert_add_columns(&run);
    progress_clear(run.base.session.progress);
    if (status >= 0 && run.output != NULL)
        status = hf_table_write_csv(run.base.session.ctx, run.out, run.output);
    progress_clear(run.base.session.progress);
    const bool only_table = is_standard(run.output);
    if (status >= 0 && !only_table) print(&run);
    free_expert_run(&run);
    return bounded_close(&run.base, status);
}

const tool_verb verb_expert = {
    .name = "expert",
    .operands = "TRAIN.csv --target COLUMN [OPTION]...",
    .summary = "Make a prior mean of what an expert says of readings",
    .text = "A column of the table says which readings are believed or doubted, another what doubted ones\n"
            "should have been. OUT.csv is the table with the prior mean of every row, TARGET_prior, and its\n"
            "standard deviation; for labelled readings also the probability of being wrong and the value\n"
            "that is expected. holdfast fit --mean-column TARGET_prior takes it; rows that are predicted\n"
            "get theirs by --at.",
    .example = "  holdfast expert data/hills.csv -t minutes -f miles,feet --ask 5",
    TOOL_OPTIONS(options),
    TOOL_RUN(1, 1, run_expert),
};
