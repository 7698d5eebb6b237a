/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track refresh */
#include "track/tracked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"time", 0, "T", "list the places that the expert should measure at that time", false},
    {"output", 'o', "OUT.csv",
     "where to write them (default: standard output): request, time,\nthe inputs, sd, and the target, empty, "
     "to be filled in",
     TOOL_WRITES},
    {"answers", 0, "ANSWERS.csv",
     "take answers: columns request and the target, by its name; time\nand noise too if they are there",
     TOOL_READS},
    {"fit", 0, NULL, "learn kernel, noise and drift from the readings first", false},
};

/* Facts to tell. */
typedef struct refreshed {
    hf_track_request *list;
    size_t count;
    size_t answered, left;
    bool fitted;
} refreshed;

/* ---- the list --------------------------------------------------------------------------------------------------- */

static hf_status make_list(tracked *run, double time, refreshed *out)
{
    size_t due = 0;
    hf_status status =
        warn_status(&run->session, hf_track_requests(run->session.ctx, run->track, time, &due));
    if (status < 0) return status;
    const size_t open = hf_track_pending_count(run->track);
    out->list = calloc(open + 1, sizeof *out->list);
    if (out->list == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < open && status >= 0; i++) {
        status = hf_track_request_at(run->track, i, &out->list[out->count]);
        if (status >= 0 && out->list[out->count].time == time) out->count++;
    }
    return status;
}

static hf_status add_candidates(const tracked *run, const refreshed *list, hf_table *table)
{
    if (run->candidates == 0) return HF_OK;
    size_t *choice = calloc(list->count + 1, sizeof *choice);
    if (choice == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < list->count; i++) choice[i] = list->list[i].index;
    const hf_status status = track_candidate_column(run, table, choice);
    free(choice);
    return status;
}

static hf_status write_list(const tracked *run, const refreshed *list, const char *path)
{
    hf_context *ctx = run->session.ctx;
    const size_t m = list->count, d = run->d, width = d + 4;
    double *numbers = calloc(width * m + 1, sizeof *numbers);
    hf_table *table = NULL;
    hf_status status = numbers != NULL ? hf_table_create(ctx, m, &table) : HF_ERR_MEMORY;
    for (size_t i = 0; i < m && status >= 0; i++) {
        const hf_track_request *r = &list->list[i];
        const double others[] = {(double)r->id, r->time, r->sd, NAN};
        memcpy(numbers + i * width, others, sizeof others);
        memcpy(numbers + i * width + 4, r->x, d * sizeof *numbers);
    }
    if (status >= 0) status = table_set(ctx, table, "request", numbers, width);
    if (status >= 0) status = table_set(ctx, table, "time", numbers + 1, width);
    if (status >= 0) status = add_candidates(run, list, table);
    for (size_t j = 0; j < d && status >= 0; j++)
        status = table_set(ctx, table, hf_track_name(run->track, j), numbers + 4 + j, width);
    if (status >= 0) status = table_set(ctx, table, "sd", numbers + 2, width);
    if (status >= 0) status = table_set(ctx, table, hf_track_target(run->track), numbers + 3, width);
    if (status >= 0) status = hf_table_write_csv(ctx, table, path);
    hf_table_free(table);
    free(numbers);
    return status;
}

/* ---- what was done ---------------------------------------------------------------------------------------------- */

static void print_refresh_json(tracked *run, const refreshed *done)
{
    const tool_arguments *a = run->arguments;
    const hf_track_settings *s = hf_track_settings_of(run->track);
    json_t *list = json_array();
    for (size_t i = 0; i < done->count; i++)
        json_array_append_new(list, tracked_json_request(run, &done->list[i]));
    session_print(&run->session,
                  JSON_OF({has_argument(a, "answers") ? "answered" : NULL, json_count(done->answered)},
                          {done->fitted ? "kernel" : NULL, json_text(s->kernel)},
                          {done->fitted ? "noise" : NULL, json_number(s->noise)},
                          {done->fitted ? "drift" : NULL, json_number(s->age.rate)},
                          {has_argument(a, "time") ? "requests" : NULL, list}));
}

static void print_learnt(const tracked *run)
{
    char text[LEARNT_BYTES];
    const hf_track_settings *s = hf_track_settings_of(run->track);
    const hf_kernel *kernel = hf_track_kernel(run->track);
    printf("Learnt from the readings: noise variance %.4g", s->noise);
    if (s->age.kind == HF_AGE_QUADRATIC) printf(", drift %.4g", s->age.rate);
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) >= 0) say(stdout, ", %s %.4g", p.name, p.value);
    }
    say(stdout, "\nfor track create: %s\n", learnt_options(run, text));
}

static void print_refresh_text(const tracked *run, const refreshed *done, const char *output)
{
    if (has_argument(run->arguments, "answers")) {
        printf("Took %zu answer%s", done->answered, plural(done->answered));
        if (done->left > 0) printf("; %zu row%s without one", done->left, plural(done->left));
        putchar('\n');
    }
    if (done->fitted) print_learnt(run);
    if (has_argument(run->arguments, "time") && output != NULL)
        say(stdout, "%zu request%s in %s\n", done->count, plural(done->count), output);
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

static hf_status check_refresh_options(tracked *run, const char *output)
{
    const tool_arguments *a = run->arguments;
    const bool time = has_argument(a, "time");
    if (!time && !has_argument(a, "answers") && !has_argument(a, "fit"))
        return MISUSE(run, "--time, --answers or --fit is missing: what is to be refreshed?");
    if (!time && output != NULL) return MISUSE(run, "-o without --time has nothing to write");
    if (is_standard(output) && run->session.json)
        return MISUSE(run, "--json and the table cannot both go to standard output");
    return HF_OK;
}

/* Answers, what is learnt and the list of requests, in memory. */
static hf_status change(tracked *run, double time, refreshed *done)
{
    const tool_arguments *a = run->arguments;
    const char *answers = argument(a, "answers");
    hf_status status = answers != NULL ? answer_table(run, answers, &done->answered, &done->left) : HF_OK;
    done->fitted = has_argument(a, "fit");
    if (status >= 0 && done->fitted)
        status = warn_status(&run->session, hf_track_fit(run->session.ctx, run->track));
    if (status >= 0 && has_argument(a, "time")) status = make_list(run, time, done);
    return status;
}

/* The same in the file: all of it or nothing. */
static hf_status change_file(tracked *run, double time, refreshed *done)
{
    hf_status status = hf_track_file_begin(run->session.ctx, run->track);
    if (status < 0) return status;
    status = change(run, time, done);
    if (status < 0) return status; /* closing undoes what there is */
    status = hf_track_file_end(run->session.ctx, run->track, true);
    run->session.kept = status >= 0 && (done->answered > 0 || done->fitted);
    return status;
}

static hf_status refresh(tracked *run, refreshed *done)
{
    const tool_arguments *a = run->arguments;
    const char *output = argument(a, "output");
    double time = NAN;
    hf_status status = check_refresh_options(run, output);
    if (status >= 0) status = session_number(&run->session, "time", false, &time);
    if (status >= 0) status = tracked_open(run, true);
    if (status >= 0) status = change_file(run, time, done);
    progress_clear(run->session.progress);
    if (status >= 0 && done->fitted) warn_of_weights(run);
    const bool to_output = is_standard(output_of(a));
    if (status >= 0 && has_argument(a, "time") && !(run->session.json && output == NULL))
        status = write_list(run, done, output_of(a));
    progress_clear(run->session.progress);
    if (status >= 0 && run->session.json) print_refresh_json(run, done);
    if (status >= 0 && !run->session.json && (!has_argument(a, "time") || !to_output))
        print_refresh_text(run, done, output);
    return status;
}

static hf_status run_refresh(tracked *run)
{
    refreshed done = {0};
    const hf_status status = refresh(run, &done);
    free(done.list);
    return status;
}

const tool_verb verb_track_refresh = {
    .name = "track refresh",
    .operands = "FILE [--time T] [--answers ANSWERS.csv] [--fit] [OPTION]...",
    .summary = "Ask an expert to measure again, and take the answers",
    .text =
        "With --time a table of places where something was measured before and the track would like to know "
        "what\nis there now. Fill in the last column for all, some or none of them, now or later, and give "
        "the table\nback with --answers; rows without an answer are left open. In one command answers come "
        "first, then --fit,\nthen the new list; the track takes all of it or, if anything fails, nothing.",
    .example = "  holdfast track create asks.hf --box 'x=-50:50' --drift 0.1\n"
               "  holdfast track tell asks.hf --time 0 --x 3.2 --y 1.7\n"
               "  holdfast track refresh asks.hf --time 1 -o requests.csv\n"
               "  holdfast track refresh asks.hf --answers requests.csv\n"
               "  holdfast track ask asks.hf --time 1",
    TOOL_OPTIONS(options),
    .changes = true,
    TRACKED(run_refresh),
};
