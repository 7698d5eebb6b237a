/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track advise: methods compared on functions that the readings of a track allow. */
#include "track/tracked.h"

#include <math.h>

static const tool_option options[] = {
    {"queries", 0, "N",
     "compare methods with an expert who gives N answers a step as well\n(default 0: none)", false},
    {"costly", 0, NULL, "an expert's answer is a run of the same plant: count what it loses", false},
    {"step", 0, "T", "time between readings to come (default: the mean gap between times told)", false},
    {"steps", 0, "N", "readings of each method on each function (default 60)", false},
    {"draws", 0, "N", "functions (default 8)", false},
};

hf_status advised_ask(tracked *run, advised *out)
{
    *out = (advised){.settings = hf_advice_settings_default(), .learnt = *run};
    out->learnt.track = NULL;
    hf_advice_settings *s = &out->settings;
    hf_status status = session_settings(&run->session, hf_advice_settings_table(), s);
    if (status >= 0)
        status = warn_status(&run->session, hf_track_advise(run->session.ctx, run->track, s, &out->advice,
                                                            &out->learnt.track));
    progress_clear(run->session.progress);
    return status;
}

void advised_free(advised *a)
{
    hf_track_free(a->learnt.track);
    a->learnt.track = NULL;
}

const hf_advice_row *advised_row(const advised *a)
{
    const hf_advice_row *row = a->advice.row;
    return row->still ? row + 1 : row;
}

/* ---- text ---------------------------------------------------------------------------------------------- */

/* "ui-gp-ucb, wiener, drift 0.3". */
static const char *row_name(const hf_advice_row *row, char *text, size_t bytes)
{
    tool_line line = {.text = text, .bytes = bytes};
    put(&line, "%s", row->still ? "standing still" : hf_enum_name(HF_ENUM_TRACK_METHOD, row->method));
    if (row->law == HF_AGE_WIENER) put(&line, ", wiener");
    if (row->rate > 0.0) put(&line, ", drift %.3g", row->rate);
    if (isfinite(row->window)) put(&line, ", window %.3g", row->window);
    if (isfinite(row->forgetting)) put(&line, ", forgetting %.3g", row->forgetting);
    return text;
}

static void print_rows(const advised *a)
{
    char name[128];
    const hf_track_advice *advice = &a->advice;
    const bool asked = a->settings.queries > 0;
    printf("On %zu functions that the readings allow, %zu steps of %.4g each (noise variance %.3g, T %.3g, "
           "drift's standard deviation %.3g):\n\n%-38s %18s %12s",
           a->settings.draws, advice->steps, advice->step, advice->noise, advice->period, advice->rate, "",
           "lost a step", "saved");
    if (asked) printf(" %14s %14s", "answers a step", "lost a run");
    putchar('\n');
    for (size_t i = 0; i < advice->rows; i++) {
        const hf_advice_row *row = &advice->row[i];
        printf("%-38s %8.3g +- %-6.2g", row_name(row, name, sizeof name), row->loss, row->loss_error);
        if (row->still)
            printf(" %12s", "");
        else
            printf(" %5.2g +- %.2g", row->saved, row->saved_error);
        if (asked) printf(" %14.3g %14.3g", row->answers, row->loss_of_runs);
        putchar('\n');
    }
}

void advised_print(const tracked *run, const advised *a)
{
    char place[1024], text[LEARNT_BYTES], name[128];
    const hf_track_advice *advice = &a->advice;
    const hf_advice_row *row = advised_row(a);
    print_rows(a);
    (void)tracked_place(run, advice->still, place, sizeof place);
    if (advice->moving_pays)
        say(stdout, "\nMoving pays: %s loses %.3g a step less than standing still at %s\n",
            row_name(row, name, sizeof name), row->saved, place);
    else
        say(stdout,
            "\nStand still at %s: no method is surely better (by two standard errors).\nIf you track all the "
            "same, %s loses least\n",
            place, row_name(row, name, sizeof name));
    if (a->settings.queries > 0 && !a->settings.costly)
        puts("The expert's answers are taken to cost nothing; --costly counts them as runs of the plant");
    say(stdout, "for track create: %s\n", advised_options(&a->learnt, row, text));
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static json_t *json_row(const hf_advice_row *row)
{
    return JSON_OF(
        {"method", row->still ? json_null() : json_string(hf_enum_name(HF_ENUM_TRACK_METHOD, row->method))},
        {"age_law",
         row->law == HF_AGE_NONE ? json_null() : json_string(hf_enum_name(HF_ENUM_AGE_KIND, row->law))},
        {"drift", row->rate > 0.0 ? json_number(row->rate) : json_null()},
        {"window", json_number(row->window)}, {"forgetting", json_number(row->forgetting)},
        {"queries", json_count(row->queries)}, {"loss", json_number(row->loss)},
        {"loss_error", json_number(row->loss_error)}, {"answers", json_number(row->answers)},
        {"loss_of_runs", json_number(row->loss_of_runs)}, {"saved", json_number(row->saved)},
        {"saved_error", json_number(row->saved_error)});
}

json_t *advised_json(const tracked *run, const advised *a)
{
    char text[LEARNT_BYTES];
    const hf_track_advice *advice = &a->advice;
    json_t *object = json_object(), *rows = json_array(), *stand = json_object();
    for (size_t i = 0; i < advice->rows; i++) json_array_append_new(rows, json_row(&advice->row[i]));
    tracked_json_add_place(run, stand, advice->still);
    JSON_ADD(object, {"moving_pays", json_boolean(advice->moving_pays)}, {"stand_at", stand},
             {"options", json_text(advised_options(&a->learnt, advised_row(a), text))},
             {"noise", json_number(advice->noise)}, {"period", json_number(advice->period)},
             {"drift_sd", json_number(advice->rate)}, {"draws", json_count(a->settings.draws)},
             {"steps", json_count(advice->steps)}, {"step", json_number(advice->step)},
             {"costly", json_boolean(a->settings.costly)}, {"rows", rows});
    return object;
}

/* ---- the verb ------------------------------------------------------------------------------------------ */

static hf_status run_advise(tracked *run)
{
    advised a = {0};
    hf_status status = tracked_open(run, false);
    if (status >= 0) status = advised_ask(run, &a);
    if (status >= 0 && run->session.json) session_print(&run->session, advised_json(run, &a));
    if (status >= 0 && !run->session.json) advised_print(run, &a);
    advised_free(&a);
    return status;
}

const tool_verb verb_track_advise = {
    .name = "track advise",
    .operands = "FILE [OPTION]...",
    .summary = "Compare methods on what a track was told, and standing still with them",
    .text = "Kernel, noise and how fast the function changes are learnt from the newest 256 readings. Each "
            "method then\n"
            "follows the same functions drawn from what the readings allow. So does somebody who never moves "
            "from the\n"
            "place with the best mean. Readings at many places and times make good advice; sixteen are the "
            "least. Looking\n"
            "changes nothing: track create --learn makes a new track by the same advice.",
    .example =
        "  holdfast track create oven.hf --box 'heat=0:100' -t yield -m gp-ucb -k 'se(lengthscale~15)'\n"
        "  holdfast track tell oven.hf --csv data/oven.csv\n"
        "  holdfast track advise oven.hf",
    TOOL_OPTIONS(options),
    TRACKED(run_advise),
};
