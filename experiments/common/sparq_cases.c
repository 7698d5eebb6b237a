/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_cases.h"

#include <math.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
/* Baselines, tuned (group "tuning" is the grid they come from). */
#define WINDOW_R  30.0
#define WINDOW_SW 10.0
#define EPS       0.03
#define ETA       0.9
#define RATE_UI   0.1
/* So certain no place is, but for a few steps. */
#define FULL_LISTS 0.05

const sparq_group sparq_groups[] = {
    {"practical", "Practical constants: beta = 2, baselines tuned"},
    {"growing", "beta = sqrt(0.8 log 4t), baselines tuned"},
    {"theory", "The theorem's beta"},
    {"recommended", "Windows and forgetting as their authors recommend, beta = 2"},
    {"outliers", "One reading in ten, and one answer in ten, off by 1 to 3"},
    {"few", "Few answers"},
    {"places", "Where the expert is asked, how often, and when"},
    {"printed", "As printed: zero mean, the theorem's beta, plain sites"},
    {"controls", "The same side information without lists"},
    {"tuning", "Grids that the baselines were tuned on"},
};
const size_t sparq_group_count = COUNT(sparq_groups);

#define SPARQ HF_TRACK_SPARQ
#define REUSE HF_TRACK_SPARQ_REUSE
#define EVERY(group, ...)                                                                                    \
    {group, "sparq", SPARQ, __VA_ARGS__}, {group, "sparq-reuse", REUSE, __VA_ARGS__},                        \
        {group, "tv-gp-ucb", HF_TRACK_TV_GP_UCB, .number = EPS, __VA_ARGS__},                                \
        {group, "ui-gp-ucb", HF_TRACK_UI_GP_UCB, .number = RATE_UI, .law = HF_AGE_WIENER, __VA_ARGS__},      \
        {group, "gp-ucb", HF_TRACK_GP_UCB, __VA_ARGS__},                                                     \
        {group, "w-gp-ucb", HF_TRACK_W_GP_UCB, .number = ETA, __VA_ARGS__},                                  \
        {group, "sw-gp-ucb", HF_TRACK_SW_GP_UCB, .number = WINDOW_SW, __VA_ARGS__},                          \
    {                                                                                                        \
        group, "r-gp-ucb", HF_TRACK_R_GP_UCB, .number = WINDOW_R, __VA_ARGS__                                \
    }
#define TUNE(name, method, number)                                                                           \
    {                                                                                                        \
        "tuning", name, method, number, .law = HF_AGE_QUADRATIC                                              \
    }
/* As the paper has it. */
#define PRINTED(name, method, ...)                                                                           \
    {                                                                                                        \
        "printed", name, method, .beta = -1.0, .rule = HF_BETA_THEORY, .robust = -1.0, .printed = true,      \
                                 __VA_ARGS__                                                                 \
    }
/* A survey is forgotten with its step. The next place has the largest mean of what it says, or, where only
 * places are read that x_t was at, the largest bound. */
#define SURVEY(name, ...)                                                                                    \
    {                                                                                                        \
        "controls", name, HF_TRACK_SW_GP_UCB, .number = 1.0, .survey = { __VA_ARGS__ }                       \
    }

const sparq_case sparq_cases[] = {
    EVERY("practical", .outliers = 0.0),
    EVERY("growing", .beta = -1.0),
    EVERY("theory", .beta = -1.0, .rule = HF_BETA_THEORY),
    {"recommended", "tv-gp-ucb", HF_TRACK_TV_GP_UCB, .source = SPARQ_RECOMMENDED},
    {"recommended", "w-gp-ucb", HF_TRACK_W_GP_UCB, .source = SPARQ_RECOMMENDED},
    {"recommended", "sw-gp-ucb", HF_TRACK_SW_GP_UCB, .source = SPARQ_RECOMMENDED},
    {"recommended", "r-gp-ucb", HF_TRACK_R_GP_UCB, .source = SPARQ_RECOMMENDED},
    {"recommended", "w-gp-ucb, change 1", HF_TRACK_W_GP_UCB, .source = SPARQ_RECOMMENDED_ONE},
    {"recommended", "sw-gp-ucb, change 1", HF_TRACK_SW_GP_UCB, .source = SPARQ_RECOMMENDED_ONE},
    {"recommended", "r-gp-ucb, change 1", HF_TRACK_R_GP_UCB, .source = SPARQ_RECOMMENDED_ONE},
    {"outliers", "sparq", SPARQ, .outliers = 0.1},
    {"outliers", "sparq, Gaussian sites", SPARQ, .outliers = 0.1, .robust = -1.0},
    {"outliers", "none wrong: sparq, Gaussian sites", SPARQ, .robust = -1.0},
    {"outliers", "sparq-reuse", REUSE, .outliers = 0.1},
    {"outliers", "sparq-reuse, Gaussian sites", REUSE, .outliers = 0.1, .robust = -1.0},
    {"outliers", "tv-gp-ucb", HF_TRACK_TV_GP_UCB, EPS, .outliers = 0.1},
    {"outliers", "tv-gp-ucb, robust sites", HF_TRACK_TV_GP_UCB, EPS, .outliers = 0.1, .robust = 2.0},
    {"outliers", "gp-ucb", HF_TRACK_GP_UCB, .outliers = 0.1},
    {"few", "sparq, 1 a step", SPARQ, .queries = 1},
    {"few", "sparq-reuse, 1 a step", REUSE, .queries = 1},
    {"few", "sparq, every 10 steps", SPARQ, .every = 10.0},
    {"few", "sparq-reuse, every 10 steps", REUSE, .every = 10.0},
    {"few", "sparq, 5 a step", SPARQ, .queries = 5},
    {"few", "sparq-reuse, 5 a step", REUSE, .queries = 5},
    {"few", "sparq-reuse, 1 a step, upper bounds", REUSE, .queries = 1, .places = HF_PLACES_UPPER},
    {"few", "sparq-reuse, 1 a step, upper bounds, beta 1", REUSE, .queries = 1, .places = HF_PLACES_UPPER,
     .beta = 1.0},
    {"few", "sparq-reuse, 1 a step, one in ten wrong", REUSE, .queries = 1, .outliers = 0.1},
    {"places", "variance, as by default until 0.5 x noise", SPARQ, .enough = 0.5},
    {"places", "the same, sparq-reuse", REUSE, .enough = 0.5},
    {"places", "the same, sparq, one in ten wrong", SPARQ, .enough = 0.5, .outliers = 0.1},
    {"places", "variance, 3 log t", SPARQ, .factor = 3.0},
    {"places", "variance, 2 log t", SPARQ, .factor = 2.0},
    {"places", "DPP, 6 log t", SPARQ, .places = HF_PLACES_DPP},
    {"places", "DPP, 6 log t, one in ten wrong", SPARQ, .places = HF_PLACES_DPP, .outliers = 0.1},
    {"places", "DPP, 2 log t", SPARQ, .factor = 2.0, .places = HF_PLACES_DPP},
    {"places", "upper bounds, 6 log t", SPARQ, .places = HF_PLACES_UPPER},
    {"places", "the paper's order, 6 log t", SPARQ, .after = true},
    {"places", "the paper's order and DPP, 6 log t", SPARQ, .places = HF_PLACES_DPP, .after = true},
    PRINTED("sparq, as printed", SPARQ, .places = HF_PLACES_DPP, .after = true),
    PRINTED("sparq, as printed, tolerance 1/t", SPARQ, .places = HF_PLACES_DPP_FALLING, .after = true),
    PRINTED("sparq, as printed but asked before", SPARQ, .places = HF_PLACES_DPP),
    PRINTED("sparq, as printed but the mean estimated", SPARQ, .places = HF_PLACES_DPP, .after = true,
            .free_mean = true),
    PRINTED("gp-ucb", HF_TRACK_GP_UCB, .number = 0.0),
    PRINTED("tv-gp-ucb, eps 0.9", HF_TRACK_TV_GP_UCB, .number = 0.9),
    PRINTED("w-gp-ucb", HF_TRACK_W_GP_UCB, .source = SPARQ_RECOMMENDED_ONE),
    PRINTED("sw-gp-ucb", HF_TRACK_SW_GP_UCB, .source = SPARQ_RECOMMENDED_ONE),
    PRINTED("r-gp-ucb", HF_TRACK_R_GP_UCB, .source = SPARQ_RECOMMENDED_ONE),
    {"controls", "sparq, 6 log t", SPARQ, .enough = 0.0},
    {"controls", "sparq anywhere, 6 log t", SPARQ, .places = HF_PLACES_ANYWHERE},
    {"controls", "sparq-reuse anywhere, 6 log t", REUSE, .places = HF_PLACES_ANYWHERE},
    {"controls", "sparq by the mean, 6 log t", SPARQ, .by_mean = true},
    {"controls", "sparq anywhere by the mean, 6 log t", SPARQ, .by_mean = true, .places = HF_PLACES_ANYWHERE},
    {"controls", "sparq-reuse anywhere by the mean, 6 log t", REUSE, .by_mean = true,
     .places = HF_PLACES_ANYWHERE},
    SURVEY("an even grid, 6 log t", SPARQ_SURVEY_EVEN, .factor = 6.0),
    SURVEY("an even grid shifted at random, 6 log t", SPARQ_SURVEY_SHIFTED, .factor = 6.0),
    SURVEY("random places, 6 log t", SPARQ_SURVEY_RANDOM, .factor = 6.0),
    SURVEY("the same, the place of the best reading", SPARQ_SURVEY_RANDOM, .factor = 6.0, .best = true),
    SURVEY("even among visited places, 6 log t", SPARQ_SURVEY_EVEN, .factor = 6.0, .visited = true),
    SURVEY("random among visited places, 6 log t", SPARQ_SURVEY_RANDOM, .factor = 6.0, .visited = true),
    {"controls", "sparq, lists as by default", SPARQ, .enough = 0.5},
    {"controls", "sparq anywhere by the mean, lists as by default", SPARQ, .enough = 0.5, .by_mean = true,
     .places = HF_PLACES_ANYWHERE},
    SURVEY("an even grid of 20", SPARQ_SURVEY_EVEN, .count = 20),
    SURVEY("20 random places", SPARQ_SURVEY_RANDOM, .count = 20),
    {"controls", "sparq, 3 log t", SPARQ, .factor = 3.0},
    {"controls", "sparq anywhere by the mean, 3 log t", SPARQ, .factor = 3.0, .by_mean = true,
     .places = HF_PLACES_ANYWHERE},
    SURVEY("an even grid of 16", SPARQ_SURVEY_EVEN, .count = 16),
    SURVEY("16 random places", SPARQ_SURVEY_RANDOM, .count = 16),
    {"controls", "sparq-reuse, 5 a step", REUSE, .queries = 5},
    {"controls", "sparq-reuse anywhere, 5 a step", REUSE, .queries = 5, .places = HF_PLACES_ANYWHERE},
    {"controls", "sparq-reuse anywhere by the mean, 5 a step", REUSE, .queries = 5, .by_mean = true,
     .places = HF_PLACES_ANYWHERE},
    SURVEY("an even grid of 5", SPARQ_SURVEY_EVEN, .count = 5),
    SURVEY("5 random places", SPARQ_SURVEY_RANDOM, .count = 5),
    TUNE("r-gp-ucb, 10", HF_TRACK_R_GP_UCB, 10.0),
    TUNE("r-gp-ucb, 20", HF_TRACK_R_GP_UCB, 20.0),
    TUNE("r-gp-ucb, 30", HF_TRACK_R_GP_UCB, 30.0),
    TUNE("r-gp-ucb, 50", HF_TRACK_R_GP_UCB, 50.0),
    TUNE("sw-gp-ucb, 6", HF_TRACK_SW_GP_UCB, 6.0),
    TUNE("sw-gp-ucb, 8", HF_TRACK_SW_GP_UCB, 8.0),
    TUNE("sw-gp-ucb, 10", HF_TRACK_SW_GP_UCB, 10.0),
    TUNE("sw-gp-ucb, 14", HF_TRACK_SW_GP_UCB, 14.0),
    TUNE("sw-gp-ucb, 20", HF_TRACK_SW_GP_UCB, 20.0),
    TUNE("w-gp-ucb, 0.7", HF_TRACK_W_GP_UCB, 0.7),
    TUNE("w-gp-ucb, 0.8", HF_TRACK_W_GP_UCB, 0.8),
    TUNE("w-gp-ucb, 0.9", HF_TRACK_W_GP_UCB, 0.9),
    TUNE("w-gp-ucb, 0.95", HF_TRACK_W_GP_UCB, 0.95),
    TUNE("tv-gp-ucb, 0.01", HF_TRACK_TV_GP_UCB, 0.01),
    TUNE("tv-gp-ucb, 0.02", HF_TRACK_TV_GP_UCB, 0.02),
    TUNE("tv-gp-ucb, 0.03", HF_TRACK_TV_GP_UCB, 0.03),
    TUNE("tv-gp-ucb, 0.05", HF_TRACK_TV_GP_UCB, 0.05),
    TUNE("ui-gp-ucb, 0.01", HF_TRACK_UI_GP_UCB, 0.01),
    TUNE("ui-gp-ucb, 0.02", HF_TRACK_UI_GP_UCB, 0.02),
    TUNE("ui-gp-ucb, 0.04", HF_TRACK_UI_GP_UCB, 0.04),
    {"tuning", "ui-gp-ucb, Wiener 0.05", HF_TRACK_UI_GP_UCB, 0.05, .law = HF_AGE_WIENER},
    {"tuning", "ui-gp-ucb, Wiener 0.1", HF_TRACK_UI_GP_UCB, 0.1, .law = HF_AGE_WIENER},
    {"tuning", "ui-gp-ucb, Wiener 0.2", HF_TRACK_UI_GP_UCB, 0.2, .law = HF_AGE_WIENER},
};
const size_t sparq_case_count = COUNT(sparq_cases);

const size_t sparq_checks[SPARQ_CHECKS] = {2, 5, 10, 20, 50, 100, 150, 200, 250, 300, 350, 400, 500};
const char *const sparq_columns[SPARQ_COLUMNS] = {"t2",   "t5",   "t10",  "t20",    "t50",  "t100",
                                                  "t150", "t200", "t250", "t300",   "t350", "t400",
                                                  "t500", "half", "all",  "answers"};

const sparq_case *sparq_case_find(const char *group, const char *name)
{
    for (size_t i = 0; i < sparq_case_count; ++i)
        if (strcmp(sparq_cases[i].group, group) == 0 && strcmp(sparq_cases[i].name, name) == 0)
            return &sparq_cases[i];
    return NULL;
}

/* ---- settings ------------------------------------------------------------------------------------------ */

static bool baseline_number(hf_context *ctx, const sparq_case *c, const drift_survey *survey, size_t steps,
                            double *out)
{
    double largest, mean;
    *out = c->number;
    if (c->source == SPARQ_GIVEN) return true;
    drift_change(steps, &largest, &mean);
    /* The theorems' variation is of RKHS norms; sup |f| <= sqrt(variance) |f|_k gives the least that it can be. */
    const bool tv = c->method == HF_TRACK_TV_GP_UCB;
    const double change = c->source == SPARQ_RECOMMENDED ? mean : 1.0;
    const hf_status status = hf_track_theoretical_window(ctx, c->method, (double)steps,
                                                         tv ? change : change / sqrt(survey->variance),
                                                         tv ? survey->variance : survey->information, out);
    if (status < 0) fprintf(stderr, "%s: %s\n", c->name, hf_context_message(ctx));
    return status >= 0;
}

bool sparq_case_settings(hf_context *ctx, const sparq_case *c, const drift_survey *survey, size_t steps,
                         hf_track_settings *s)
{
    double number;
    if (!baseline_number(ctx, c, survey, steps, &number)) return false;
    *s = hf_track_settings_default(c->method);
    s->domain = drift_world(steps).domain;
    s->kernel = survey->kernel;
    s->noise = DRIFT_NOISE;
    const bool sparq = c->method == SPARQ || c->method == REUSE;
    if (sparq || c->method == HF_TRACK_UI_GP_UCB)
        s->age = (hf_age_law){.kind = !sparq && c->law ? c->law : HF_AGE_QUADRATIC,
                              .rate = !sparq && number > 0.0 ? number : DRIFT_RATE};
    s->window = number;
    if (number <= 1.0) s->forgetting = number; /* a window is longer */
    if (c->beta > 0.0) s->beta = c->beta;
    if (c->by_mean || (c->survey.kind && !c->survey.visited)) s->beta = 0.0;
    if (c->beta < 0.0) s->beta_rule = c->rule;
    s->norm_bound = survey->norm;
    s->places = c->places;
    if (c->factor > 0.0) s->query_factor = c->factor;
    s->queries = c->queries;
    s->every = c->every;
    s->tolerance = c->enough > 0.0 ? c->enough : FULL_LISTS;
    s->expert_after = c->after;
    if (c->robust != 0.0) s->robust = fmax(c->robust, 0.0);
    s->mean_given = c->printed && !c->free_mean;
    if (c->printed && sparq) s->discard = HF_DISCARD_LOG;
    return true;
}

/* ---- runs ---------------------------------------------------------------------------------------------- */

bool sparq_case_run(hf_context *ctx, const sparq_case *c, size_t steps, uint64_t seed,
                    double values[SPARQ_COLUMNS], double requests[SPARQ_CHECKS])
{
    drift_survey survey;
    hf_track_settings settings;
    sparq_trace trace;
    sparq_world world = drift_world(steps);
    world.outliers = c->outliers;
    world.survey = c->survey;
    if (!drift_survey_make(ctx, seed, &survey) || !sparq_case_settings(ctx, c, &survey, steps, &settings) ||
        !sparq_run(ctx, &world, &settings, seed, &trace))
        return false;
    for (size_t k = 0; k < SPARQ_CHECKS; ++k) {
        values[k] = sparq_average(&trace, 0, sparq_checks[k]);
        requests[k] = sparq_checks[k] <= steps ? trace.requests[sparq_checks[k] - 1] : NAN;
    }
    values[SPARQ_HALF] = sparq_average(&trace, steps / 2, steps);
    values[SPARQ_ALL] = sparq_average(&trace, 0, steps);
    values[SPARQ_ANSWERS] = sparq_answers(&trace);
    sparq_trace_free(&trace);
    return true;
}

void sparq_row_name(const char *prefix, const sparq_case *c, long seed, char *out, size_t size)
{
    snprintf(out, size, "%s%s: %s #%ld", prefix, c->group, c->name, seed);
}

sparq_summary sparq_case_summary(const env_rows *rows, const char *prefix, const sparq_case *c, size_t column)
{
    char start[64];
    snprintf(start, sizeof start, "%s%s: %s #", prefix, c->group, c->name);
    return sparq_summarise(rows, start, column);
}
