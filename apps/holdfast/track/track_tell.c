/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track tell */
#include "track/tracked.h"

#include <math.h>
#include <stdlib.h>

static const tool_option options[] = {
    {"time", 0, "T", "when it was measured", false},
    {"x", 0, "A,B,...", "where: the inputs in their order", true},
    {"candidate", 0, "NAME", "or one of the candidates", false},
    {"y", 0, "Y", "what was measured", false},
    {"noise", 0, "V", "its variance (default: the track's)", false},
    {"request", 0, "ID", "it answers this request of holdfast track refresh", false},
    {"csv", 0, "READINGS.csv",
     "many: columns time, the inputs or candidate, and the target, by\nits name; noise too if it is there",
     TOOL_READS},
    {"best", 0, "B", "the truth, if it is known: the best value at that time", false},
    {"value", 0, "V", "and the function's value at the place that was taken", false},
};

/* Readings that are told. */
typedef struct told_readings {
    double time, y, noise, best, value;
    uint64_t request;
    const double *at; /* place */
    double *x;        /* room for --x */
    uint64_t reading; /* number it got */
    size_t rows;
} told_readings;

/* ---- usage ------------------------------------------------------------------------------------------------------ */

static hf_status check_table(tracked *run)
{
    static const char *const single[] = {"time", "x", "candidate", "y", "noise", "request", "best", "value"};
    for (size_t k = 0; k < sizeof single / sizeof single[0]; k++)
        if (has_argument(run->arguments, single[k]))
            return MISUSE(run, "--%s is for one reading; with --csv it stands in the table", single[k]);
    return HF_OK;
}

static hf_status check_tell_options(tracked *run)
{
    const tool_arguments *a = run->arguments;
    const bool x = has_argument(a, "x"), candidate = has_argument(a, "candidate"), y = has_argument(a, "y"),
               request = has_argument(a, "request"), best = has_argument(a, "best"),
               value = has_argument(a, "value");
    if (has_argument(a, "csv")) return check_table(run);
    if (x && candidate) return MISUSE(run, "--x and --candidate exclude each other");
    if (request && (x || candidate)) return MISUSE(run, "--request knows the place; leave out --x");
    if (best != value) return MISUSE(run, "--best and --value go together");
    if (!y && !best) return MISUSE(run, "--y is missing: what was measured?");
    if (y && !request && !x && !candidate)
        return MISUSE(run, "--x, --candidate or --request is missing: where was it measured?");
    if (!y && (request || x || candidate || has_argument(a, "noise")))
        return MISUSE(run, "--y is missing: what was measured?");
    if ((!request || best) && !has_argument(a, "time"))
        return MISUSE(run, "--time is missing: when was it measured?");
    return HF_OK;
}

static hf_status take_numbers(tracked *run, told_readings *t)
{
    t->time = NAN;
    hf_status status = session_number(&run->session, "time", false, &t->time);
    if (status >= 0) status = session_number(&run->session, "y", false, &t->y);
    if (status >= 0) status = session_number(&run->session, "noise", false, &t->noise);
    if (status >= 0) status = session_number(&run->session, "best", false, &t->best);
    if (status >= 0) status = session_number(&run->session, "value", false, &t->value);
    if (status < 0) return status;
    if (has_argument(run->arguments, "noise") && !(t->noise > 0.0))
        return MISUSE(run, "--noise: %g is not a positive number", t->noise);
    if (argument_seed(run->arguments, "request", &t->request)) return HF_OK;
    return session_told(&run->session);
}

/* ---- telling ---------------------------------------------------------------------------------------------------- */

static hf_status take_place(tracked *run, told_readings *t)
{
    size_t count = 0;
    const char *name = argument(run->arguments, "candidate");
    if (name != NULL) {
        const hf_status status = tracked_find_or_refuse(run, name, &count);
        if (status < 0) return status;
        t->at = tracked_domain(run)->points + count * run->d;
        return HF_OK;
    }
    if (!argument_doubles(run->arguments, "x", &count, &t->x)) return session_told(&run->session);
    t->at = t->x;
    return count == run->d ? HF_OK
                           : REFUSE(run, "--x has %zu number%s, the track %zu input%s", count, plural(count),
                                    run->d, plural(run->d));
}

static hf_status tell_reading(tracked *run, told_readings *t)
{
    hf_context *ctx = run->session.ctx;
    if (has_argument(run->arguments, "request"))
        return hf_track_answer(ctx, run->track, t->request, t->time, t->y, t->noise);
    const hf_status status = take_place(run, t);
    return status >= 0 ? hf_track_tell(ctx, run->track, t->time, t->at, t->y, t->noise, &t->reading) : status;
}

/* A reading and the truth about it: both or none. */
static hf_status tell_one(tracked *run, told_readings *t)
{
    const bool y = has_argument(run->arguments, "y"), best = has_argument(run->arguments, "best");
    hf_context *ctx = run->session.ctx;
    hf_status status = y && best ? hf_track_file_begin(ctx, run->track) : HF_OK;
    if (status >= 0 && y) status = warn_status(&run->session, tell_reading(run, t));
    if (status >= 0 && best) status = hf_track_record_optimum(ctx, run->track, t->time, t->best, t->value);
    /* Closing undoes what is not kept. */
    return status >= 0 && y && best ? hf_track_file_end(ctx, run->track, true) : status;
}

static void print(tracked *run, const told_readings *t)
{
    hf_track_summary summary;
    hf_track_summary_of(run->track, &summary);
    const bool table = has_argument(run->arguments, "csv"), request = has_argument(run->arguments, "request");
    if (run->session.json) {
        session_print(&run->session,
                      JSON_OF({"told", json_count(summary.told)}, {"answered", json_count(summary.answered)},
                              {"clock", json_number(summary.clock)}, {"regret", json_number(summary.regret)},
                              {table ? "rows" : NULL, json_count(t->rows)},
                              {t->reading > 0 ? "reading" : NULL, json_count(t->reading)},
                              {request ? "request" : NULL, json_count(t->request)}));
        return;
    }
    if (table)
        printf("Took %zu reading%s\n", t->rows, plural(t->rows));
    else if (request)
        printf("Took the answer to request %llu\n", (unsigned long long)t->request);
    else if (t->reading > 0)
        printf("Took reading %llu\n", (unsigned long long)t->reading);
    if (has_argument(run->arguments, "best"))
        printf("Regret %.6g after %llu steps, %.6g a step\n", summary.regret,
               (unsigned long long)summary.truths, summary.average_regret);
}

static hf_status tell_track(tracked *run, told_readings *t)
{
    const char *csv = argument(run->arguments, "csv");
    hf_status status = check_tell_options(run);
    if (status >= 0) status = take_numbers(run, t);
    if (status >= 0) status = tracked_open(run, true);
    if (status < 0) return status;
    status = csv != NULL ? tell_table(run, csv, &t->rows) : tell_one(run, t);
    run->session.kept = status >= 0;
    return status;
}

static hf_status run_tell(tracked *run)
{
    told_readings t = {0};
    const hf_status status = tell_track(run, &t);
    progress_clear(run->session.progress);
    if (status >= 0) print(run, &t);
    free(t.x);
    return status;
}

const tool_verb verb_track_tell = {
    .name = "track tell",
    .operands = "FILE --time T --x A --y Y|--request ID --y Y|--csv READINGS.csv [OPTION]...",
    .summary = "Tell a track what was measured",
    .text = "Readings may be of any time and any place, out of order too; one so old that it would not count "
            "even now\nis refused. A table is taken in the order of its times, as a whole or not at all. "
            "What the command said it\ntook is on the disk. With --best and --value, alone or with a "
            "reading, the track keeps the books of regret.",
    .example = "  holdfast track create told.hf --box 'x=-50:50' --drift 0.1\n"
               "  holdfast track tell told.hf --time 0 --x 3.2 --y 1.7\n"
               "  holdfast track tell told.hf --time 1 --x -8 --y 1.1 --best 2.3 --value 1.15",
    TOOL_OPTIONS(options),
    .changes = true,
    TRACKED(run_tell),
};
