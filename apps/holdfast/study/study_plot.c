/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast study plot */
#include "study/study_plot.h"

#include <stdlib.h>
#include <string.h>

static const tool_option options[] = {
    {"what", 0, "WHAT",
     "progress (default): values told, trial by trial, and the best so\nfar; slices: the surrogate along "
     "each variable; parallel: all\ntrials, coloured by rank; relevance: which variables matter;\nfront: of "
     "several objectives (their default)",
     false},
    {"of", 0, "NAME", "which outcome (default: the first objective)", false},
    {"certify", 0, NULL, "progress: with the value that surely nothing is beyond", false},
    {"output", 'o', "OUT.svg", "picture to draw; .png and .pdf too (default: the study's name\nwith .svg)",
     TOOL_WRITES},
};

static const struct {
    const char *name;
    hf_status (*make)(study_picture *data);
    plot_writer *writer;
    bool any_outcome; /* not of objectives only */
} pictures[] = {
    {"progress", study_progress_make, study_progress_script, false},
    {"slices", study_slices_make, study_slices_script, true},
    {"parallel", study_parallel_make, study_parallel_script, true},
    {"relevance", study_relevance_make, study_relevance_script, true},
    {"front", study_front_make, study_front_script, false},
};

enum {
    PROGRESS = 0,
    FRONT = 4,
    PICTURES = sizeof pictures / sizeof pictures[0]
};

/* ---- which picture ---------------------------------------------------------------------------------------------- */

static hf_status find_picture(studied *run, size_t *index)
{
    const char *what = argument(run->arguments, "what");
    *index = PICTURES;
    for (size_t k = 0; k < PICTURES && what != NULL; k++)
        if (strcmp(pictures[k].name, what) == 0) *index = k;
    if (what != NULL && *index == PICTURES)
        return MISUSE(run, "--what: '%s' is no picture; progress, slices, parallel, relevance and front are",
                      what);
    return HF_OK;
}

/* Options that do not go together, once the study is known. */
static hf_status check_study_picture(studied *run, size_t *index, size_t outcome)
{
    const tool_arguments *a = run->arguments;
    const bool several = studied_objectives(run) > 1;
    if (*index == PICTURES) *index = several && !has_argument(a, "of") ? FRONT : PROGRESS;
    if (*index == FRONT && !several)
        return MISUSE(run, "--what front is for several objectives; this study has one");
    if (*index == FRONT && has_argument(a, "of"))
        return MISUSE(run, "--of is not for --what front, which has all objectives");
    if (!pictures[*index].any_outcome && !studied_is_objective(run, outcome))
        return MISUSE(run, "--of: \"%s\" is a constraint, and --what %s is of objectives",
                      run->settings->outcome[outcome].name, pictures[*index].name);
    if (*index != PROGRESS && has_argument(a, "certify"))
        return MISUSE(run, "--certify is for --what progress");
    return HF_OK;
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

static hf_status make_study_picture(studied *run, size_t index, study_picture *data)
{
    data->run = run;
    data->n = (size_t)hf_study_trials(run->study);
    data->trial = calloc(data->n + 1, sizeof *data->trial);
    data->at = calloc(run->d, sizeof *data->at);
    hf_status status = data->trial != NULL && data->at != NULL ? studied_look(run) : HF_ERR_MEMORY;
    for (size_t i = 0; i < data->n && status >= 0; i++)
        status = hf_study_trial(run->session.ctx, run->study, i + 1, &data->trial[i]);
    return status >= 0 ? pictures[index].make(data) : status;
}

static hf_status draw_study_picture(studied *run)
{
    plot_format format = PLOT_SVG;
    study_picture data = {0};
    size_t index;
    char *output = plot_output(run->arguments);
    hf_status status = find_picture(run, &index);
    if (status >= 0) status = plot_check(&run->session, output, &format);
    if (status >= 0) status = studied_open(run, false);
    if (status >= 0) status = studied_outcome(run, &data.of);
    if (status >= 0) status = check_study_picture(run, &index, data.of);
    if (status >= 0) status = make_study_picture(run, index, &data);
    if (status >= 0 && plot_drew(&run->session, pictures[index].writer, &data, format, output))
        session_print(&run->session,
                      JSON_OF({"picture", json_text(output)}, {"what", json_string(pictures[index].name)},
                              {"of", json_text(run->settings->outcome[data.of].name)},
                              {"trials", json_count(data.n)}));
    study_picture_free(&data);
    free(output);
    return status;
}

const tool_verb verb_study_plot = {
    .name = "study plot",
    .operands = "FILE [--what WHAT] [-o OUT.svg] [OPTION]...",
    .summary = "Draw a study",
    .text =
        "Values that are set aside are red crosses, at the edge where they lie beyond it; trials that break\n"
        "a constraint are hollow. Slices go through the best place, with 95 % bands; what was told "
        "elsewhere\n"
        "is moved there along the surrogate. Of many variables those that matter most are drawn. Needs\n"
        "gnuplot.",
    .example =
        "  holdfast study create pictured.hf --real miles=1:30 --real feet=200:8000 --minimise minutes\n"
        "  holdfast study import pictured.hf data/hills.csv --drop race\n"
        "  holdfast study plot pictured.hf -o progress.svg\n"
        "  holdfast study plot pictured.hf --what slices -o slices.svg",
    TOOL_OPTIONS(options),
    .derives = plot_derive,
    STUDIED(1, 1, draw_study_picture),
};
