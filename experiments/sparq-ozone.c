/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq-ozone.c
 * @brief Ozone: every day one of 28 stations is chosen, and the regret is what the worst station of the day has more.
 *
 * A run begins at each of the stations. Where a reading is missing nothing is told or answered, and the day
 * has no regret. Kernel (squared exponential in km), noise and rate are those that hf_track_fit() finds on
 * the first days of all stations; every method gets them. The expert re-reads stations that were visited
 * before, so that a station that was never chosen is never asked about.
 */
#include "common/env_run.h"
#include "common/picture.h"
#include "common/sets.h"
#include "common/sparq_ozone.h"
#include "common/sparq_summary.h"

#include <math.h>
#include <string.h>

enum {
    CHECKS = 11,
    HALF = CHECKS,
    ALL,
    ANSWERS,
    PLACES,
    COLUMNS,
    FIT_DAYS = 14
};

static const size_t checks[CHECKS] = {2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 62};
static const char *const columns[COLUMNS] = {"d2",  "d3",  "d5",  "d7",   "d10", "d15",     "d20",   "d30",
                                             "d40", "d50", "d62", "half", "all", "answers", "places"};

/* A case of the figure. Members that are 0 stand for the library's default. */
typedef struct ozone_case {
    const char *name;
    hf_track_method method;
    double number;
    size_t queries;
    hf_place_rule places;
    double robust;
    bool after, practical;
    bool by_mean;        /* beta = 0 */
    bool printed;        /* zero mean, the theorem's beta, DPP, log discard, order after, plain sites */
    sparq_survey survey; /* a control: forgotten with its day */
} ozone_case;

#define SURVEY(name, ...)                                                                                    \
    {                                                                                                        \
        name, .method = HF_TRACK_SW_GP_UCB, .number = 1.0, .survey = { __VA_ARGS__ }                         \
    }

static const ozone_case cases[] = {
    {"sparq, the same day", .method = HF_TRACK_SPARQ},
    {"sparq, the same day, Gaussian sites", .method = HF_TRACK_SPARQ, .robust = -1.0},
    {"sparq, the same day, beta growing", .method = HF_TRACK_SPARQ, .practical = true},
    {"sparq, the day before", .method = HF_TRACK_SPARQ, .after = true},
    {"sparq-reuse, the same day", .method = HF_TRACK_SPARQ_REUSE},
    {"sparq, 3 the same day", .method = HF_TRACK_SPARQ, .queries = 3},
    {"sparq-reuse, 3 the same day", .method = HF_TRACK_SPARQ_REUSE, .queries = 3},
    {"sparq, as printed", .method = HF_TRACK_SPARQ, .after = true, .robust = -1.0, .printed = true},
    {"sparq, as printed but the same day", .method = HF_TRACK_SPARQ, .robust = -1.0, .printed = true},
    {"sparq anywhere, the same day", .method = HF_TRACK_SPARQ, .places = HF_PLACES_ANYWHERE},
    {"sparq anywhere by the mean, the same day", .method = HF_TRACK_SPARQ, .by_mean = true,
     .places = HF_PLACES_ANYWHERE},
    {"sparq-reuse anywhere, 3 the same day", .method = HF_TRACK_SPARQ_REUSE, .queries = 3,
     .places = HF_PLACES_ANYWHERE},
    {"sparq-reuse anywhere by the mean, 3 the same day", .method = HF_TRACK_SPARQ_REUSE, .queries = 3,
     .by_mean = true, .places = HF_PLACES_ANYWHERE},
    SURVEY("15 random stations, the best mean", SPARQ_SURVEY_RANDOM, .count = 15),
    SURVEY("15 random stations, the best answer", SPARQ_SURVEY_RANDOM, .count = 15, .best = true),
    SURVEY("15 even stations, the best mean", SPARQ_SURVEY_EVEN, .count = 15),
    SURVEY("15 even stations, the best answer", SPARQ_SURVEY_EVEN, .count = 15, .best = true),
    SURVEY("15 of the largest means, the best answer", SPARQ_SURVEY_LARGEST, .count = 15, .best = true),
    SURVEY("15 random visited stations", SPARQ_SURVEY_RANDOM, .count = 15, .visited = true),
    SURVEY("15 even visited stations", SPARQ_SURVEY_EVEN, .count = 15, .visited = true),
    SURVEY("3 random stations, the best mean", SPARQ_SURVEY_RANDOM, .count = 3),
    SURVEY("3 random stations, the best answer", SPARQ_SURVEY_RANDOM, .count = 3, .best = true),
    SURVEY("3 of the largest means, the best answer", SPARQ_SURVEY_LARGEST, .count = 3, .best = true),
    SURVEY("3 random visited stations", SPARQ_SURVEY_RANDOM, .count = 3, .visited = true),
    {"gp-ucb", .method = HF_TRACK_GP_UCB},
    {"tv-gp-ucb, 0.01", .method = HF_TRACK_TV_GP_UCB, .number = 0.01},
    {"tv-gp-ucb, 0.03", .method = HF_TRACK_TV_GP_UCB, .number = 0.03},
    {"tv-gp-ucb, 0.1", .method = HF_TRACK_TV_GP_UCB, .number = 0.1},
    {"tv-gp-ucb, 0.3", .method = HF_TRACK_TV_GP_UCB, .number = 0.3},
    {"w-gp-ucb, 0.7", .method = HF_TRACK_W_GP_UCB, .number = 0.7},
    {"w-gp-ucb, 0.9", .method = HF_TRACK_W_GP_UCB, .number = 0.9},
    {"w-gp-ucb, 0.97", .method = HF_TRACK_W_GP_UCB, .number = 0.97},
    {"sw-gp-ucb, 3", .method = HF_TRACK_SW_GP_UCB, .number = 3.0},
    {"sw-gp-ucb, 7", .method = HF_TRACK_SW_GP_UCB, .number = 7.0},
    {"sw-gp-ucb, 14", .method = HF_TRACK_SW_GP_UCB, .number = 14.0},
    {"r-gp-ucb, 7", .method = HF_TRACK_R_GP_UCB, .number = 7.0},
    {"r-gp-ucb, 14", .method = HF_TRACK_R_GP_UCB, .number = 14.0},
    {"ui-gp-ucb, fitted rate", .method = HF_TRACK_UI_GP_UCB, .number = 1.0},
    {"ui-gp-ucb, a third of it", .method = HF_TRACK_UI_GP_UCB, .number = 1.0 / 3.0},
    {"ui-gp-ucb, a tenth of it", .method = HF_TRACK_UI_GP_UCB, .number = 0.1},
};

enum {
    CASES = sizeof cases / sizeof *cases
};

typedef struct run {
    hf_context *ctx;
    const char *data;
    long starts;
    bool quick, there;
    ozone_data ozone;
    ozone_fit fit;
    env_rows rows;
} run;

static hf_track_settings settings_of(const run *r, const ozone_case *c)
{
    hf_track_settings s = hf_track_settings_default(c->method);
    s.domain = ozone_world(&r->ozone).domain;
    s.kernel = r->fit.kernel;
    s.noise = r->fit.noise;
    s.age.rate = c->method == HF_TRACK_UI_GP_UCB ? c->number * r->fit.rate : r->fit.rate;
    s.window = c->number;
    if (c->number <= 1.0) s.forgetting = c->number; /* a window is longer */
    s.queries = c->queries;
    s.places = c->places;
    s.query_power = 1.0; /* log^2 t would ask the same stations many times a day */
    s.expert_after = c->after;
    if (c->robust < 0.0) s.robust = 0.0;
    if (c->by_mean || (c->survey.kind && !c->survey.visited)) s.beta = 0.0;
    if (c->printed) {
        s.mean_given = true;
        s.beta_rule = HF_BETA_THEORY;
        s.norm_bound = r->fit.norm;
        s.places = HF_PLACES_DPP;
        s.discard = HF_DISCARD_LOG;
        s.age.rate = sqrt(r->fit.noise); /* eq. 10: noise (age^2 + 1) */
    }
    if (c->practical) s.beta_rule = HF_BETA_PRACTICAL;
    return s;
}

static bool run_case(run *r, const ozone_case *c, long start)
{
    const hf_track_settings settings = settings_of(r, c);
    sparq_world world = ozone_world(&r->ozone);
    sparq_trace trace;
    double values[COLUMNS];
    char name[64];
    world.first = (size_t)start;
    world.survey = c->survey;
    snprintf(name, sizeof name, "%s #%ld", c->name, start);
    if (env_rows_find(&r->rows, name)) return true;
    if (!sparq_run(r->ctx, &world, &settings, (uint64_t)start, &trace)) return false;
    for (size_t k = 0; k < CHECKS; ++k) values[k] = sparq_average(&trace, 0, checks[k]);
    values[HALF] = sparq_average(&trace, OZONE_DAYS / 2, OZONE_DAYS);
    values[ALL] = sparq_average(&trace, 0, OZONE_DAYS);
    values[ANSWERS] = sparq_answers(&trace);
    values[PLACES] = (double)trace.summary.places;
    env_rows_add(&r->rows, name, values);
    sparq_trace_free(&trace);
    return true;
}

/* Data and fit; true with r->there = false where there are none. */
static bool prepare(run *r)
{
    r->there = ozone_there(r->data);
    return !r->there ||
           (ozone_read(r->ctx, r->data, &r->ozone) && ozone_fit_make(r->ctx, &r->ozone, FIT_DAYS, &r->fit));
}

static bool work(void *state)
{
    run *r = state;
    if (r->quick) r->starts = 2;
    bool ok = prepare(r);
    if (!r->there) ozone_explain(r->data);
    if (!r->there) return ok;
    for (size_t i = 0; ok && i < CASES; ++i)
        for (long start = 1; ok && start <= r->starts; ++start) ok = run_case(r, &cases[i], start);
    return ok;
}

/* ---- tables -------------------------------------------------------------------------------------------- */

static sparq_summary summary_of(const run *r, const ozone_case *c, size_t column)
{
    char start[64];
    snprintf(start, sizeof start, "%s #", c->name);
    return sparq_summarise(&r->rows, start, column);
}

static void print_table(const run *r)
{
    puts("\n| method | ppb a day | sd over starts | least to most | second half | answers a day | starts "
         "|\n|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < CASES; ++i) {
        const sparq_summary all = summary_of(r, &cases[i], ALL), half = summary_of(r, &cases[i], HALF),
                            answers = summary_of(r, &cases[i], ANSWERS);
        if (!all.count) continue;
        printf("| %s | %.2f | %.2f | %.1f to %.1f | %.2f | %.1f | %zu |\n", cases[i].name, all.mean, all.sd,
               all.least, all.most, half.mean, answers.mean, all.count);
    }
}

static void print_aims(const run *r, double fixed)
{
    const double sparq = summary_of(r, &cases[0], ALL).mean;
    double least = INFINITY;
    const char *which = "";
    for (size_t i = 0; i < CASES; ++i) {
        const double mean = summary_of(r, &cases[i], ALL).mean;
        const bool expert = cases[i].method == HF_TRACK_SPARQ || cases[i].method == HF_TRACK_SPARQ_REUSE;
        if (expert || cases[i].survey.kind || !(mean > 0.0) || mean >= least) continue;
        least = mean;
        which = cases[i].name;
    }
    puts("\n### Aims\n\n| | aim | here | |\n|---|---|---|---|");
    printf("| SparQ of the same day, ppb a day | below %.2f, the best fixed station | %.2f | %s |\n", fixed,
           sparq, sparq < fixed ? "met" : "**missed**");
    printf("| the same | below %.2f, the best baseline (%s, chosen in hindsight) | %.2f | %s |\n", least,
           which, sparq, sparq < least ? "met" : "**missed**");
}

static void report(const void *state)
{
    run r = *(const run *)state;
    double fixed = NAN, random, yesterday;
    size_t which = 0;
    if (prepare(&r) && r.there) {
        ozone_references(&r.ozone, &fixed, &which, &random, &yesterday);
        printf(
            "%d days, %d stations, %zu readings missing. Regrets in ppb a day: a station at random %.2f, the "
            "best fixed station in hindsight (%zu) %.2f, yesterday's worst station %.2f.\nFitted to the "
            "first %d days: %s, noise variance %.3g, rate %.3g a day.\n",
            OZONE_DAYS, OZONE_STATIONS, r.ozone.missing, random, which, fixed, yesterday, FIT_DAYS,
            r.fit.kernel, r.fit.noise, r.fit.rate);
    }
    print_table(&r);
    if (r.there && summary_of(&r, &cases[0], ALL).count) print_aims(&r, fixed);
}

/* ---- picture ------------------------------------------------------------------------------------------- */

static const struct {
    const char *name; /* of a case */
    const char *colour, *title;
} lines[] = {{"sparq, the same day", "#d1495b", "SparQ, the same day"},
             {"sparq, the day before", "#e0a030", "SparQ, the day before"},
             {"15 random stations, the best answer", "#0b2545", "15 random stations, the same day"},
             {"sparq-reuse, 3 the same day", "#5a8f3c", "re-used, 3 a day"},
             {"gp-ucb", "#606060", "GP-UCB"},
             {"tv-gp-ucb, 0.01", "#1f7a8c", "TV"},
             {"sw-gp-ucb, 14", "#8d6a9f", "SW"}};

enum {
    LINES = sizeof lines / sizeof *lines
};

static const ozone_case *case_named(const char *name)
{
    size_t i = 0;
    while (i + 1 < CASES && strcmp(cases[i].name, name) != 0) ++i;
    return &cases[i];
}

static bool draw_picture(const void *state, const char *stem)
{
    const run *r = state;
    picture p;
    picture_begin(&p);
    for (size_t i = 0; i < LINES; ++i) {
        fprintf(p.script, "$line%zu << EOD\n", i);
        for (size_t k = 0; k < CHECKS; ++k) {
            const sparq_summary s = summary_of(r, case_named(lines[i].name), k);
            fprintf(p.script, "%zu %.5g %.5g %.5g\n", checks[k], s.mean, s.mean - s.sd, s.mean + s.sd);
        }
        fputs("EOD\n", p.script);
    }
    fputs("set xlabel 'day'\nset ylabel 'average regret, ppb'\nset xrange [2:62]\nset yrange [0:40]\nset key "
          "top right\nplot",
          p.script);
    for (size_t i = 0; i < LINES; ++i)
        fprintf(p.script,
                "%s $line%zu using 1:3:4 with filledcurves fc rgb '%s' fs transparent solid 0.12 notitle, "
                "$line%zu "
                "using 1:2 with lines lw 2 lc rgb '%s' title '%s'",
                i ? "," : "", i, lines[i].colour, i, lines[i].colour, lines[i].title);
    run known = *r;
    double fixed, random, yesterday;
    size_t which;
    if (prepare(&known) && known.there) {
        ozone_references(&known.ozone, &fixed, &which, &random, &yesterday);
        fprintf(p.script, ", %g with lines dt 2 lc rgb '#000000' title 'best fixed station'", fixed);
    }
    fputc('\n', p.script);
    return picture_draw(&p, stem, 800, 500);
}

int main(int argc, char **argv)
{
    run r = {.data = sets_folder(), .starts = OZONE_STATIONS, .rows = {.columns = columns, .width = COLUMNS}};
    const option_row options[] = {
        option_text("data", "DIR", "where ny_ozone lies " SETS_DEFAULT, &r.data),
        option_number("starts", "N", "stations to begin at (default all 28)", &r.starts, 1, OZONE_STATIONS),
        option_flag("quick", "2 of them", &r.quick)};
    const env_program program = {work, report, draw_picture, &r, &r.rows, &r.ctx, true};
    return env_run(argc, argv, "sparq-ozone", "Ozone at 28 stations: where is it worst today?",
                   "--json ozone.jsonl --picture ozone", sizeof options / sizeof *options, options, &program);
}
