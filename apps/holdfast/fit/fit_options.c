/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast fit: its options and what help says about it. */
#include "fit/fit_settings.h"

#include <string.h>

static const tool_option options[] = {
    {"target", 't', "A,B,...",
     "column to predict (required); several are correlated outputs,\nwhose empty fields are readings that "
     "were not taken",
     false},
    {"output-column", 0, "COLUMN",
     "rows are single readings of several outputs, and this column\nsays of which", false},
    {"features", 'f', "A,B,...", "input columns (default: all numeric ones but target, noise and mean)",
     true},
    {"drop", 0, "A,B,...", "columns to leave out of the default inputs", true},
    {"noise-column", 0, "COLUMN", "column with the known noise variance of each reading", false},
    {"exposure", 0, "COLUMN",
     "counts and amounts: column with the exposure of each row, such as\nhours watched (default: 1)", false},
    {"mean-column", 0, "COLUMN",
     "column with the prior mean of each row: what is fitted is the target\nless it, and predictions add it, "
     "so that these rows need it too",
     false},
    {"preset", 0, "NAME",
     "default: suspects found and set aside; gp: plain Gaussian process;\n"
     "rcgp, rcagp, rcsvgp: robust (exact, projected, inducing);\n"
     "rcagp-text, rcagp-program: as that paper prints it and as its\nprogram runs it;\n"
     "cagp, sgpr, svgp: projected, inducing, inducing by minibatches;\n"
     "student-t; rrp: relevance pursuit; for several outputs mogp: plain,\nmorcgp: robust by what the others "
     "say, t-mogp: student-t with one\nnoise, independent: the default without covariance between them;\n"
     "names of likelihoods, as --sites has them; softmax",
     false},
    TOOL_SETTINGS(0, "model"),
    TOOL_SETTINGS(0, "readings"),
    TOOL_SETTINGS(0, "outputs"),
    TOOL_SETTINGS(0, "solver"),
    TOOL_SETTINGS(0, "training"),
    {"stream", 0, NULL,
     "by minibatches from a table that need not fit in memory, through\na cache of its numbers", false},
    {"cache", 0, "FILE", "where the cache of --stream goes (default: TRAIN.csv.hfcache)", TOOL_WRITES},
    DIALECT_OPTIONS,
    {"numbers-only", 0, NULL, "columns of dates and of text are no inputs", false},
    {"dry-run", 'n', NULL, "say how the table is read and what the fit needs, and do not fit", false},
    {"output", 'o', "MODEL.hf", "save the model", TOOL_WRITES},
};

/* ---- options of the settings, from the library's table ----------------------------------------------------------- */

static const tool_option traits[] = {{.name = "kernel", .letter = 'k'},
                                     {.name = "mean", .letter = 'm'},
                                     {.name = "set", .traits = TOOL_REPEATS},
                                     {.name = "checkpoint", .traits = TOOL_WRITES},
                                     {.name = "resume", .traits = TOOL_TELLS},
                                     {.name = "actions-file", .traits = TOOL_READS},
                                     {.name = NULL}};

static size_t derive(const tool_arguments *arguments, char *out[TOOL_DERIVED])
{
    const char *table = arguments->operand[0];
    size_t count = 0;
    if (has_argument(arguments, "stream") && argument(arguments, "cache") == NULL)
        out[count++] = with_ending(table, strlen(table), ".hfcache");
    if (has_argument(arguments, "resume") && argument(arguments, "checkpoint") == NULL &&
        argument(arguments, "output") != NULL)
        out[count++] = fit_checkpoint(arguments);
    return count;
}

const tool_verb verb_fit = {
    .name = "fit",
    .operands = "TRAIN.csv --target A,B,... [OPTION]...",
    .summary = "Fit a model to a table",
    .text = "Without further options: a Gaussian process with automatic relevance determination. Wrong\n"
            "readings are found and set aside when that clearly predicts the others better; otherwise it is\n"
            "the plain Gaussian process. TRAIN.csv may be - for standard input, but not with --stream. The\n"
            "report tells how well each reading is predicted from the others (leave-one-out). Beside it are\n"
            "the mean of the others and, where readings were set aside, the plain Gaussian process, all on\n"
            "the same readings. It also tells which share of what is predicted each input takes part in.",
    .example = "  holdfast fit data/boston.csv --target medv -o boston.hf",
    TOOL_OPTIONS(options),
    TOOL_TABLES(hf_fit_settings_table),
    .traits = traits,
    .derives = derive,
    TOOL_RUN(1, 1, fit_run),
};
