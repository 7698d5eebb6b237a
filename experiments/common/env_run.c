/* SPDX-License-Identifier: Apache-2.0 */
#include "common/env_run.h"
#include "common/sets.h"

#include <string.h>

size_t env_options_rows(env_options *options, bool picture, option_row *rows)
{
    const option_row common[ENV_OPTIONS] = {
        {.name = "json",
         .value = "FILE",
         .help = "keep what is computed here, and do not compute again what is there",
         .text = &options->json},
        {.name = "report", .help = "print what FILE has, compute nothing", .flag = &options->report},
        {.name = "jobs",
         .value = "N",
         .help = "threads (default all)",
         .number = &options->jobs,
         .least = 1,
         .most = 1024},
        {.name = "picture",
         .value = "STEM",
         .help = "draw STEM.svg and STEM.png (needs gnuplot)",
         .text = &options->picture}};
    const size_t count = picture ? ENV_OPTIONS : ENV_OPTIONS - 1;
    memcpy(rows, common, count * sizeof *rows);
    return count;
}

int env_run(int argc, char **argv, const env_program *program)
{
    env_options options = {0};
    option_row rows[ENV_OWN_OPTIONS + ENV_OPTIONS];
    if (program->count > 0) memcpy(rows, program->options, program->count * sizeof *rows);
    const size_t count =
        program->count + env_options_rows(&options, program->picture != NULL, rows + program->count);
    options_read(argc, argv, program->heading, program->example, count, rows);
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
