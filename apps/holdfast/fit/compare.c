/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast compare */
#include "fit/compare.h"
#include "shell/group.h"
#include "shell/settings.h"

static const tool_option options[] = {
    {"target", 't', "Y", "column to predict (required)", false},
    {"features", 'f', "A,B,...", "input columns (default: all numeric ones but target, noise and mean)",
     true},
    {"drop", 0, "A,B,...", "columns to leave out of the default inputs", true},
    {"noise-column", 0, "COLUMN", "column with the known noise variance of each reading", false},
    {"exposure", 0, "COLUMN",
     "counts and amounts: column with the exposure of each row (default: 1);\nall models are of such sites "
     "then",
     false},
    {"mean-column", 0, "COLUMN",
     "column with the prior mean of each row: what is fitted is the target\nless it, and predictions add it, "
     "so that these rows need it too",
     false},
    {"preset", 0, "A,B,...",
     "presets of holdfast fit to compare; without --preset, --kernel,\n--mean and --model: default, gp, "
     "student-t",
     true},
    {"kernel", 'k', "EXPR", "with this kernel; several are compared, each with each preset", true},
    {"mean", 'm', "A,B,...", "with these prior means, each with each preset and kernel", true},
    {"model", 0, "MODEL",
     "NAME: OPTIONS, a model by its options of holdfast fit, such as\n"
     "'rough: --preset gp -k matern12(ard)'; the name may be left out",
     true},
    {"folds", 0, "K", "parts that the table is cut into (default 10)", false},
    {"repeats", 0, "R", "how often, each time dealt anew (default 1)", false},
    {"by", 0, "SCORE", "which score decides: crps (default), nlpd, mae, rmse", false},
    DIALECT_OPTIONS,
    {"numbers-only", 0, NULL, "columns of dates and of text are no inputs", false},
    {"output", 'o', "OUT.csv", "write what each model predicts for each reading without its fold",
     TOOL_WRITES},
};

typedef struct compare_job {
    tool_session *session;
    const tool_arguments *arguments;
    tool_names features, drop;
    rivals rivals;
    hf_compare_settings settings;
    hf_criterion by;
    hf_table *table, *predictions;
    hf_comparison *comparison;
} compare_job;

static void job_free(compare_job *job)
{
    hf_table_free(job->predictions);
    hf_comparison_free(job->comparison);
    hf_table_free(job->table);
    rivals_free(&job->rivals);
    names_free(&job->drop);
    names_free(&job->features);
}

static bool goes_to_output(const compare_job *job)
{
    return is_standard(argument(job->arguments, "output"));
}

static int prepare_compare_job(compare_job *job)
{
    const tool_arguments *arguments = job->arguments;
    const char *by = argument(arguments, "by");
    if (argument(arguments, "target") == NULL)
        return usage_error(arguments->verb, "--target is missing: name the column to predict");
    if (has_argument(arguments, "features") && has_argument(arguments, "drop"))
        return usage_error(arguments->verb, "--features and --drop both choose the inputs; give one");
    if (goes_to_output(job) && job->session->json)
        return usage_error(arguments->verb, "--json and -o - cannot both go to standard output");
    job->settings = hf_compare_settings_default();
    if (session_settings(job->session, hf_compare_settings_table(), &job->settings) < 0 ||
        !argument_names(arguments, "features", &job->features) ||
        !argument_names(arguments, "drop", &job->drop))
        return TOOL_USAGE;
    if (by != NULL && hf_enum_parse(job->session->ctx, HF_ENUM_CRITERION, by, &job->by) < 0)
        return wrong_choice(arguments, job->session->ctx, "by");
    return rivals_from(arguments, job->session->ctx, &job->rivals);
}

static hf_status compare_models(compare_job *job)
{
    hf_context *ctx = job->session->ctx;
    const char *output = argument(job->arguments, "output");
    const hf_columns columns = {.size = sizeof columns,
                                .target = argument(job->arguments, "target"),
                                .features = job->features.list,
                                .feature_count = job->features.count,
                                .drop = job->drop.list,
                                .drop_count = job->drop.count,
                                .noise = argument(job->arguments, "noise-column"),
                                .exposure = argument(job->arguments, "exposure"),
                                .mean = argument(job->arguments, "mean-column"),
                                .text_inputs = !has_argument(job->arguments, "numbers-only")};
    hf_status status = read_table(job->session, job->arguments->operand[0], NULL, &job->table);
    if (status >= 0)
        status = hf_compare(ctx, job->table, &columns, job->rivals.count, job->rivals.contender,
                            &job->settings, &job->comparison);
    progress_clear(job->session->progress);
    if (status >= 0 && output != NULL)
        status = comparison_table(ctx, job->table, job->comparison, &job->predictions);
    if (status >= 0 && output != NULL && group_is_first())
        status = hf_table_write_csv(ctx, job->predictions, output);
    return status;
}

static hf_status run_compare(tool_session *session)
{
    compare_job job = {.session = session, .arguments = session->arguments};
    session->refused = prepare_compare_job(&job);
    hf_status status = session->refused == TOOL_OK ? compare_models(&job) : HF_ERR_ARGUMENT;
    if (status >= 0 && !goes_to_output(&job))
        status = report_comparison(session, job.comparison, argument(job.arguments, "target"), job.by);
    job_free(&job);
    return status;
}

const tool_verb verb_compare = {
    .name = "compare",
    .operands = "TRAIN.csv --target Y [OPTION]...",
    .summary = "Say which of several models predicts best",
    .text =
        "Deals the readings into folds, fits every model to all folds but one and predicts that one, for\n"
        "each fold: every reading is predicted by fits that have not seen it, the same for all models.\n"
        "rmse, mae, median: errors of the mean. nlpd: mean negative log density. crps: mean continuous\n"
        "ranked probability score. 95 %: share of readings inside the central 95 % interval. Differences\n"
        "are paired over readings, with standard errors.\n"
        "Wrong readings in the table are scored too, and no model predicts them. In rmse and nlpd their\n"
        "size decides; crps and mae grow with the distance only, and what a wrong reading adds is nearly\n"
        "the same for all models: so crps decides, unless --by says otherwise.",
    .example =
        "  holdfast compare data/hills.csv -t minutes\n"
        "  holdfast compare data/hills.csv -t minutes -k 'se(ard)' -k 'matern32(ard)' -m constant,linear\n"
        "  holdfast compare data/hills.csv -t minutes --preset gp --model 'tails: --nu 3' -o predicted.csv",
    TOOL_OPTIONS(options),
    TOOL_WORK(1, 1, run_compare),
};
