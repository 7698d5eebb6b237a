/* SPDX-License-Identifier: Apache-2.0 */
/* The report of holdfast expert about the readings. */
#include "fit/expert.h"

#include <math.h>

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

static void print_json(expert_run *run, const counted *c)
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

static void print_text(const expert_run *run, const counted *c)
{
    say(stdout, "%zu readings of %s: %zu believed, %zu doubted, %zu of these corrected\n", run->base.n,
        run->base.target, c->believed, c->doubted, c->corrected);
    printf("Prior mean far from these: %.6g\n", hf_expert_base(run->expert));
    print_labelled(run);
    print_questions(run);
    if (run->output != NULL) say(stdout, "\nWrote %s\n", run->output);
}

void expert_print(expert_run *run)
{
    const counted c = count(run);
    if (run->base.session.json)
        print_json(run, &c);
    else
        print_text(run, &c);
}
