/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study import, holdfast study export */
#include "study/studied.h"

static const tool_option import_options[] = {
    {"drop", 0, "A,B,...", "columns to leave out", true},
    STUDIED_WAIT,
};
static const tool_option export_options[] = {
    {"output", 'o', "OUT.csv", "file to write (default: standard output)", TOOL_WRITES},
};

static void print_counts(studied *run, const study_counts *counts)
{
    const size_t added = counts->taken, left = counts->left, failed = counts->failed;
    if (run->session.json) {
        session_print(&run->session, JSON_OF({"added", json_count(added)}, {"failed", json_count(failed)},
                                             {"left", json_count(left)}));
        return;
    }
    printf("Added %zu trial%s", added, plural(added));
    if (failed > 0) printf(", %zu of them failed", failed);
    if (left > 0) printf("; %zu row%s of trials that told nothing left out", left, plural(left));
    putchar('\n');
}

static hf_status import(studied *run)
{
    study_counts counts;
    hf_status status = studied_open(run, true);
    if (status >= 0) status = study_import_table(run, run->arguments->operand[1], &counts);
    progress_clear(run->session.progress);
    run->session.kept = status >= 0;
    if (status >= 0) print_counts(run, &counts);
    return status;
}

static hf_status export(studied *run)
{
    const char *output = output_of(run->arguments);
    hf_status status = session_check_output(&run->session, output);
    if (status >= 0) status = studied_open(run, false);
    if (status >= 0) status = studied_look(run);
    if (status >= 0) status = study_trials_table(run, output);
    if (status >= 0 && run->session.json)
        session_print(&run->session, JSON_OF({"output", json_text(output)},
                                             {"trials", json_count(hf_study_trials(run->study))}));
    return status;
}

const tool_verb verb_study_import = {
    .name = "study import",
    .operands = "FILE PAST.csv [OPTION]...",
    .summary = "Take past data into a study",
    .text =
        "A column for each variable and for outcomes, by their names; empty outcomes were not measured,\n"
        "and a row without any is a trial that failed. A column state says so too: told, failed (with the\n"
        "outcomes it told before it did), or pending and expired, which are left out. NAME_noise, the\n"
        "variance of outcome NAME, and note count too. What holdfast study export writes is taken back.\n"
        "Any other column is refused unless --drop names it. All rows are taken or none.",
    .example = "  holdfast study create past.hf --real miles=1:30 --real feet=200:8000 --minimise minutes\n"
               "  holdfast study import past.hf data/hills.csv --drop race",
    TOOL_OPTIONS(import_options),
    .changes = true,
    STUDIED(2, 2, import),
};

const tool_verb verb_study_export = {
    .name = "study export",
    .operands = "FILE [-o OUT.csv]",
    .summary = "Write all trials of a study as a table",
    .text =
        "Columns: trial, state (pending, told, failed, expired), why, repeats, the variables, the outcomes,\n"
        "their variances where some were told, suspected (aside: it has no say; doubted), "
        "suspected_outcome,\n"
        "expected and expected_sd (what the others say of it), asked, told (ISO 8601) and note. Where a\n"
        "variable or an outcome is called like one of these, say note, that column is called study_note.",
    .example = "  holdfast study create kept.hf --real x=0:1 --minimise loss\n"
               "  holdfast study ask kept.hf -n 3\n"
               "  holdfast study export kept.hf -o trials.csv",
    TOOL_OPTIONS(export_options),
    STUDIED(1, 1, export),
};
