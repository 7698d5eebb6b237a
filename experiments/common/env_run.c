/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_run.h"
#include "common/sets.h"

#include <stdio.h>
#include <string.h>

size_t env_options_rows(env_options *options, bool picture, option_row *rows)
{
    const option_row common[ENV_OPTIONS] = {
        option_text("json", "FILE", "keep what is computed here, and do not compute again what is there",
                    &options->json),
        option_flag("report", "print what FILE has, compute nothing", &options->report),
        option_number("jobs", "N", "threads (default all)", &options->jobs, 1, 1024),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png (needs gnuplot)", &options->picture)};
    const size_t count = picture ? ENV_OPTIONS : ENV_OPTIONS - 1;
    memcpy(rows, common, count * sizeof *rows);
    return count;
}

int env_run(int argc, char **argv, const char *name, const char *title, const char *example, size_t count,
            const option_row *own, const env_program *program)
{
    env_options options = {0};
    char heading[200], line[100];
    option_row rows[ENV_OWN_OPTIONS + ENV_OPTIONS];
    if (count > 0) memcpy(rows, own, count * sizeof *rows);
    count += env_options_rows(&options, program->picture != NULL, rows + count);
    snprintf(heading, sizeof heading, "usage: %s [option]...\n%s\n", name, title);
    snprintf(line, sizeof line, "%s %s", name, example);
    options_read(argc, argv, heading, line, count, rows);
    hf_context *ctx = hf_context_create();
    *program->ctx = ctx;
    program->rows->path = options.json;
    if (options.jobs) hf_context_set_threads(ctx, (int)options.jobs);
    bool ok = env_rows_load(program->rows);
    if (ok && !options.report) ok = program->work(program->state);
    if (ok) program->report(program->state);
    if (ok && options.picture) ok = program->picture(program->state, options.picture);
    const bool lacking = program->needs_data && !options.report && program->rows->count == 0;
    env_rows_free(program->rows);
    hf_context_free(ctx);
    if (ok && lacking) return SETS_MISSING;
    return ok ? 0 : 1;
}
