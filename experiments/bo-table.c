/* SPDX-License-Identifier: Apache-2.0 */
/* bo-table: runs of optimisers on the problems of bo-problem, summed up as tables and curves. */
#include "common/bo_table.h"
#include "common/options.h"

static const char heading[] =
    "usage: bo-table --runs FILES [--ours METHOD] [--pair A,B] [--out FILE]\n                [--wrong "
    "PERCENT --picture STEM]\n"
    "Sums up runs of optimisers, as peer_optimisers.py writes them: medians and quartiles of the simple\n"
    "regret, and ours beside the best peer's.\n";

int main(int argc, char **argv)
{
    words files = {.count = 0}, pair = {.count = 0};
    const char *ours = NULL, *stem = NULL, *out = NULL;
    long percent = 0;
    bo_runs runs = {0};
    const option_row rows[] = {
        option_choice("runs", "FILES", "CSV of runs, separated by commas", &files, NULL, NULL),
        option_text("ours", "METHOD", "compare this one with the best of the others", &ours),
        option_choice("pair", "A,B", "compare two methods seed by seed, by means and standard errors", &pair,
                      NULL, NULL),
        option_text("out", "FILE", "write all runs to one file", &out),
        option_number("wrong", "PERCENT", "the share of wrong values that the picture shows (default 0)",
                      &percent, 0, 100),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png", &stem),
    };
    options_read(argc, argv, heading, "bo-table --runs experiments/peers/optimisers.csv --picture peers",
                 sizeof rows / sizeof *rows, rows);
    if (!files.count) {
        fputs("bo-table: no --runs; see --help\n", stderr);
        return 2;
    }
    if (pair.count != 0 && pair.count != 2) {
        fprintf(stderr, "bo-table: --pair takes two methods, not %zu\n", pair.count);
        return 2;
    }
    bool good = true;
    for (size_t i = 0; i < files.count && good; ++i) good = bo_runs_load(&runs, files.items[i]);
    if (good) bo_table_print(stdout, &runs, ours);
    if (good && pair.count) bo_pair_print(stdout, &runs, pair.items[0], pair.items[1]);
    if (good && out) good = bo_runs_save(&runs, out);
    if (good && stem) good = bo_curves_draw(&runs, (double)percent / 100.0, ours, stem);
    bo_runs_free(&runs);
    return good ? 0 : 1;
}
