/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track show */
#include "track/tracked.h"

#include <math.h>
#include <string.h>

static const tool_option options[] = {
    {"readings", 'r', "OUT.csv",
     "write the readings in memory: number, time, place, target, noise,\nweight, whose, whether they count",
     TOOL_WRITES},
    {"history", 0, "OUT.csv", "write everything that happened, a row each", TOOL_WRITES},
};

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_domain(const tracked *run)
{
    char from[32], to[32];
    const hf_domain *domain = tracked_domain(run);
    if (run->candidates > 0) {
        printf("  domain     %zu candidates in", run->candidates);
        for (size_t j = 0; j < run->d; j++)
            say(stdout, "%s %s", j > 0 ? "," : "", hf_track_name(run->track, j));
        putchar('\n');
        return;
    }
    fputs("  domain    ", stdout);
    for (size_t j = 0; j < run->d; j++)
        say(stdout, "%s %s from %s to %s", j > 0 ? "," : "", hf_track_name(run->track, j),
            hf_format_double(domain->lower[j], from), hf_format_double(domain->upper[j], to));
    putchar('\n');
}

static void print_kernel(const tracked *run)
{
    const hf_kernel *kernel = hf_track_kernel(run->track);
    say(stdout, "  kernel     %s", hf_kernel_expression(kernel));
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) >= 0)
            say(stdout, "%s %s %.4g", i == 0 ? ":" : ",", p.name, p.value);
    }
    putchar('\n');
}

static void print_settings(const tracked *run)
{
    char number[32];
    const hf_track_settings *s = hf_track_settings_of(run->track);
    const bool expert = s->method == HF_TRACK_SPARQ || s->method == HF_TRACK_SPARQ_REUSE;
    printf("  noise      %.4g (variance)", s->noise);
    if (expert && s->expert_noise > 0.0 && s->expert_noise != s->noise)
        printf(", of an answer %.4g", s->expert_noise);
    if (s->robust > 0.0) printf("; robust from about %.3g standard deviations on", s->robust);
    putchar('\n');
    if (expert || s->method == HF_TRACK_UI_GP_UCB) {
        printf("  ageing     %s", hf_enum_name(HF_ENUM_AGE_KIND, s->age.kind));
        if (s->age.kind == HF_AGE_TABLE)
            printf(" of %zu ages", s->age.entries);
        else if (s->age.kind != HF_AGE_NONE)
            printf(", drift %.4g", s->age.rate);
        printf("; discard %s\n", hf_enum_name(HF_ENUM_DISCARD_RULE, s->discard));
    }
    if (s->method == HF_TRACK_SW_GP_UCB || s->method == HF_TRACK_R_GP_UCB)
        printf("  window     %s\n", hf_format_double(s->window, number));
    if (s->method == HF_TRACK_TV_GP_UCB || s->method == HF_TRACK_W_GP_UCB)
        printf("  forgetting %s\n", hf_format_double(s->forgetting, number));
    printf("  beta       %s", hf_enum_name(HF_ENUM_BETA_RULE, s->beta_rule));
    if (s->beta_rule == HF_BETA_GIVEN) printf(", %.4g", s->beta);
    if (s->beta_rule == HF_BETA_THEORY) printf(", norm %.4g, delta %.4g", s->norm_bound, s->delta);
    putchar('\n');
}

static hf_status print_open(tracked *run)
{
    char place[1024], time[32];
    hf_status status = HF_OK;
    const size_t open = hf_track_pending_count(run->track);
    if (open > 0) puts("\nRequests without an answer");
    for (size_t i = 0; i < open && status >= 0; i++) {
        hf_track_request r;
        status = hf_track_request_at(run->track, i, &r);
        if (status >= 0)
            say(stdout, "  %llu  time %s  %s  sd %.4g\n", (unsigned long long)r.id,
                hf_format_double(r.time, time), tracked_place(run, r.x, place, sizeof place), r.sd);
    }
    return status;
}

static hf_status print_track_text(tracked *run, const hf_track_summary *s, const standing_still *still)
{
    char clock[32];
    const hf_track_settings *settings = hf_track_settings_of(run->track);
    say(stdout, "%s: %s, to %s \"%s\"\n", run->arguments->operand[0],
        hf_enum_name(HF_ENUM_TRACK_METHOD, settings->method), settings->minimise ? "minimise" : "maximise",
        hf_track_target(run->track));
    print_domain(run);
    print_kernel(run);
    print_settings(run);
    if (isfinite(s->clock))
        printf("\nAt time %s: readings told %llu, places asked for %llu\n", hf_format_double(s->clock, clock),
               (unsigned long long)s->told, (unsigned long long)s->asked);
    else
        puts("\nNothing has been told");
    if (s->requested > 0)
        printf("The expert was asked %llu times and answered %llu\n", (unsigned long long)s->requested,
               (unsigned long long)s->answered);
    printf("In memory: readings %zu, places %zu, bytes %zu\n", s->held, s->places, s->bytes);
    if (s->truths > 0) {
        printf("Regret: %.6g in %llu step%s, %.6g a step", s->regret, (unsigned long long)s->truths,
               plural(s->truths), s->average_regret);
        if (isfinite(s->regret_per_answer)) printf(", %.6g an answer", s->regret_per_answer);
        putchar('\n');
    }
    standing_print(run, still);
    return print_open(run);
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *json_settings(const tracked *run)
{
    const hf_track_settings *s = hf_track_settings_of(run->track);
    json_t *object = json_object();
    for (size_t i = 0; i < hf_setting_count(hf_track_settings_table()); i++) {
        const hf_setting *setting = hf_setting_at(hf_track_settings_table(), i);
        if (setting->type >= HF_SETTING_LIST || strcmp(setting->name, "mean_given") == 0) continue;
        char key[32];
        snprintf(key, sizeof key, "%s", setting->option != NULL ? setting->option : setting->name);
        for (char *c = key; *c != '\0'; c++) *c = *c == '-' ? '_' : *c;
        json_object_set_new(object, key, json_setting(hf_track_settings_table(), s, setting));
    }
    if (!s->mean_given) json_object_set_new(object, "mean", json_null());
    json_object_set_new(object, "parameters", json_parameters(hf_track_kernel(run->track)));
    return object;
}

static json_t *json_domain(const tracked *run)
{
    const hf_domain *domain = tracked_domain(run);
    json_t *inputs = json_array();
    for (size_t j = 0; j < run->d; j++) {
        const bool box = run->candidates == 0;
        json_array_append_new(inputs,
                              JSON_OF({"name", json_text(hf_track_name(run->track, j))},
                                      {box ? "lower" : NULL, box ? json_number(domain->lower[j]) : NULL},
                                      {box ? "upper" : NULL, box ? json_number(domain->upper[j]) : NULL}));
    }
    return inputs;
}

static json_t *json_requests(const tracked *run)
{
    json_t *list = json_array();
    for (size_t i = 0; i < hf_track_pending_count(run->track); i++) {
        hf_track_request r;
        if (hf_track_request_at(run->track, i, &r) >= 0)
            json_array_append_new(list, tracked_json_request(run, &r));
    }
    return list;
}

static json_t *json_readings(const tracked *run, size_t held)
{
    json_t *list = json_array();
    for (size_t i = 0; i < held; i++) {
        hf_track_reading r;
        if (hf_track_reading_at(run->track, i, &r) < 0) continue;
        json_t *object = JSON_OF({"reading", json_count(r.id)}, {"time", json_number(r.time)},
                                 {"y", json_number(r.y)}, {"noise", json_number(r.noise)},
                                 {"weight", json_number(r.weight)}, {"answer", json_boolean(r.answer)},
                                 {"counts", json_boolean(r.counts)}, {"variance", json_number(r.variance)});
        tracked_json_add_place(run, object, r.x);
        json_array_append_new(list, object);
    }
    return list;
}

static void print_track_json(tracked *run, const hf_track_summary *s, const standing_still *still)
{
    session_print(&run->session,
                  JSON_OF({"file", json_text(run->arguments->operand[0])},
                          {"target", json_text(hf_track_target(run->track))}, {"inputs", json_domain(run)},
                          {"candidates", json_count(run->candidates)}, {"settings", json_settings(run)},
                          {"clock", json_number(s->clock)}, {"step", json_count(s->step)},
                          {"told", json_count(s->told)}, {"asked", json_count(s->asked)},
                          {"requested", json_count(s->requested)}, {"answered", json_count(s->answered)},
                          {"held", json_count(s->held)}, {"places", json_count(s->places)},
                          {"truths", json_count(s->truths)}, {"regret", json_number(s->regret)},
                          {"average_regret", json_number(s->average_regret)},
                          {"regret_per_answer", json_number(s->regret_per_answer)},
                          {"bytes", json_count(s->bytes)}, {"standing", standing_json(run, still)},
                          {"requests", json_requests(run)}, {"readings", json_readings(run, s->held)}));
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

static hf_status check_show_outputs(tracked *run, const char *readings, const char *history)
{
    const bool first = is_standard(readings), second = is_standard(history);
    if ((first ? 1 : 0) + (second ? 1 : 0) + (run->session.json ? 1 : 0) > 1)
        return MISUSE(run, "only one of --json, --readings and --history can go to standard output");
    return HF_OK;
}

static hf_status show(tracked *run)
{
    const char *readings = argument(run->arguments, "readings"),
               *history = argument(run->arguments, "history");
    hf_track_summary summary;
    hf_status status = check_show_outputs(run, readings, history);
    if (status >= 0) status = tracked_open(run, false);
    if (status < 0) return status;
    hf_track_summary_of(run->track, &summary);
    if (readings != NULL) status = track_readings_table(run, readings);
    if (status >= 0 && history != NULL) status = track_history_table(run, history);
    progress_clear(run->session.progress);
    const bool silent = is_standard(readings) || is_standard(history);
    standing_still still = {0};
    if (status >= 0 && !silent) status = standing_look(run, &still);
    if (status >= 0 && run->session.json) print_track_json(run, &summary, &still);
    if (status >= 0 && !run->session.json && !silent) status = print_track_text(run, &summary, &still);
    standing_free(&still);
    return status;
}

const tool_verb verb_track_show = {
    .name = "track show",
    .operands = "FILE [OPTION]...",
    .summary = "Say what a track knows",
    .text = "Settings, counts, regret as far as it is known, and requests that wait for an answer. Looking "
            "changes\nnothing, and goes while another program changes the track. Where an input or the "
            "target is called like a\ncolumn of these tables, say id, the column is called track_id.",
    .example = "  holdfast track create shown.hf --box 'x=-50:50' --drift 0.1\n"
               "  holdfast track tell shown.hf --time 0 --x 3.2 --y 1.7\n"
               "  holdfast track show shown.hf --history -",
    TOOL_OPTIONS(options),
    TRACKED(show),
};
