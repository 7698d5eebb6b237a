/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track undo */
#include "track/tracked.h"

#include <math.h>

static const tool_option options[] = {
    {"entries", 0, "N", "take back the last N entries (default: 1)", false},
    {"after", 0, "NUMBER", "take back all entries after this one, as track show --history numbers them",
     false},
};

/* The track's history before, and how much of its end went. */
typedef struct track_undoing {
    const tracked *run;
    track_history history;
    bool known; /* false: the file is damaged, and what was in it cannot be told */
    uint64_t removed;
} track_undoing;

/* ---- what there was --------------------------------------------------------------------------------------------- */

static const double *row_of(const track_undoing *u, size_t i)
{
    return u->history.numbers + i * u->history.columns;
}

static const double *place_of(const track_undoing *u, size_t i)
{
    const double *x = row_of(u, i) + TRACK_FIXED;
    return isnan(*x) ? NULL : x;
}

/* ---- taking back ------------------------------------------------------------------------------------------------ */

static hf_status undo(tracked *run, track_undoing *u)
{
    uint64_t entries = 1, after = 0;
    hf_status status = session_entries(&run->session, &entries, &after);
    if (status < 0) return status;
    const bool numbered = has_argument(run->arguments, "after");
    status = tracked_open(run, false);
    u->known = status >= 0;
    if (u->known) status = track_history_read(run, &u->history);
    /* A damaged end can be taken back all the same, by how many they are: the message says that. */
    if (status < 0 && (u->known || status != HF_ERR_MODEL_FILE)) return status;
    if (numbered) entries = 0;
    for (size_t i = 0; numbered && i < u->history.count; i++)
        entries += row_of(u, i)[TRACK_NUMBER] > (double)after ? 1 : 0;
    status = hf_track_file_undo(run->session.ctx, run->arguments->operand[0], entries, &u->removed);
    progress_clear(run->session.progress);
    return status;
}

/* ---- saying so -------------------------------------------------------------------------------------------------- */

static const char *what_it_is(hf_track_entry_kind kind)
{
    static const char *const words[] = {
        [HF_ENTRY_TOLD] = "reading",    [HF_ENTRY_ASKED] = "question", [HF_ENTRY_REQUESTED] = "request",
        [HF_ENTRY_ANSWERED] = "answer", [HF_ENTRY_TRUTH] = "truth",    [HF_ENTRY_FITTED] = "fit"};
    return words[kind];
}

/* "reading 12: time 3, x = 3, y = 4" */
static void print_entry(const void *of, size_t i)
{
    const track_undoing *u = of;
    const tracked *run = u->run;
    char place[1024], number[32];
    const double *row = row_of(u, i), *after = row + TRACK_FIXED + run->d;
    const hf_track_entry_kind kind = (hf_track_entry_kind)u->history.kind[i];
    fputs(what_it_is(kind), stdout);
    if (kind == HF_ENTRY_ANSWERED)
        printf(" to request %.0f", row[TRACK_REQUEST]);
    else if (!isnan(row[TRACK_ID]))
        printf(" %.0f", row[TRACK_ID]);
    printf(": time %s", hf_format_double(row[TRACK_TIME], number));
    if (place_of(u, i) != NULL) say(stdout, ", %s", tracked_place(run, place_of(u, i), place, sizeof place));
    if (kind == HF_ENTRY_TOLD || kind == HF_ENTRY_ANSWERED)
        say(stdout, ", %s = %s", hf_track_target(run->track), hf_format_double(after[TRACK_Y], number));
    if (kind == HF_ENTRY_TRUTH) {
        printf(", best %s", hf_format_double(after[TRACK_BEST], number));
        printf(", value %s", hf_format_double(after[TRACK_VALUE], number));
    }
    putchar('\n');
}

static json_t *json_entry(const void *of, size_t i)
{
    const track_undoing *u = of;
    const tracked *run = u->run;
    const double *row = row_of(u, i), *after = row + TRACK_FIXED + run->d;
    const hf_track_entry_kind kind = (hf_track_entry_kind)u->history.kind[i];
    const bool asked = kind == HF_ENTRY_REQUESTED, read = kind == HF_ENTRY_TOLD || kind == HF_ENTRY_ANSWERED,
               truth = kind == HF_ENTRY_TRUTH;
    json_t *object = JSON_OF({"event", json_string(hf_enum_name(HF_ENUM_TRACK_ENTRY_KIND, kind))},
                             {"number", json_integer((json_int_t)row[TRACK_NUMBER])},
                             {"time", json_number(row[TRACK_TIME])});
    if (!isnan(row[TRACK_ID]))
        JSON_ADD(object, {asked ? "request" : "reading", json_integer((json_int_t)row[TRACK_ID])});
    if (!isnan(row[TRACK_REQUEST]))
        JSON_ADD(object, {"request", json_integer((json_int_t)row[TRACK_REQUEST])});
    if (place_of(u, i) != NULL) tracked_json_add_place(run, object, place_of(u, i));
    JSON_ADD(object, {read ? "y" : NULL, json_number(after[TRACK_Y])},
             {read ? "noise" : NULL, json_number(after[TRACK_NOISE])},
             {truth ? "best" : NULL, json_number(after[TRACK_BEST])},
             {truth ? "value" : NULL, json_number(after[TRACK_VALUE])});
    return object;
}

static hf_status run_undo(tracked *run)
{
    track_undoing u = {.run = run};
    const hf_status status = undo(run, &u);
    if (status >= 0)
        session_tell_removed(&run->session, u.known, u.removed, u.history.count, print_entry, json_entry, &u);
    track_history_free(&u.history);
    return status;
}

const tool_verb verb_track_undo = {
    .name = "track undo",
    .operands = "FILE [--entries N|--after NUMBER] [OPTION]...",
    .summary = "Take back what was told last",
    .text = "A wrong time or value, or a question about a wrong time: the file is then what it was before, "
            "and the track\nsuggests what it would have. What went is said, and cannot be brought back. A "
            "list of requests goes as a\nwhole. A track that is refused because its last entries are damaged "
            "is opened again by taking these back;\nthe message says how many they are.",
    .example = "  holdfast track create undone.hf --box 'x=-50:50' --drift 0.1\n"
               "  holdfast track tell undone.hf --time 1 --x 3.2 --y 1.7\n"
               "  holdfast track tell undone.hf --time 1e12 --x 3.2 --y 1.6\n"
               "  holdfast track undo undone.hf",
    TOOL_OPTIONS(options),
    .changes = true,
    TRACKED(run_undo),
};
