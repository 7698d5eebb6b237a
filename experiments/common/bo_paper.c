/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_paper.h"

#include <holdfast/version.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bo_surrogate.h"
#include "common/clock.h"
#include "common/options.h"
#include "common/room.h"
#include "common/sets.h"

const char *const *bo_paper_columns(void)
{
    static const char *const names[BO_COLUMNS] = {
        "best0",  "best10", "best20",  "best30", "best40", "best50",  "best60", "best70",
        "best80", "best90", "best100", "mean0",  "mean10", "mean20",  "mean30", "mean40",
        "mean50", "mean60", "mean70",  "mean80", "mean90", "mean100", "seconds"};
    return names;
}

/* ---- one run -------------------------------------------------------------------------------------------- */

/* Places in the unit cube, what was told in sd of the first, and the clean values. */
typedef struct trials {
    const bo_problem *problem;
    size_t n, d;
    double *u, *told, *clean;
    double *right; /* clean values in the units of those told */
    double mean, sd, share;
    uint64_t seed;
} trials;

/* The clean value and what is told of the place in row n. */
static void tell(trials *t)
{
    double x[BO_MOST_PARAMETERS], values[BO_MOST_VALUES];
    bo_from_unit(t->problem->row, t->u + t->n * t->d, x);
    bo_evaluate(t->problem, x, values);
    t->clean[t->n] = values[0];
    t->right[t->n] = (values[0] - t->mean) / t->sd;
    t->told[t->n] = (bo_told(t->problem, t->seed, t->n, t->share, 0, values[0]) - t->mean) / t->sd;
    t->n += 1;
}

static void begin(trials *t, size_t initial)
{
    const bo_row *row = t->problem->row;
    bo_start(t->problem, t->seed, initial, t->u);
    for (size_t i = 0; i < initial * t->d; ++i) {
        const bo_parameter p = bo_parameter_of(row, i % t->d);
        t->u[i] = fmin(fmax((t->u[i] - p.lower) / (p.upper - p.lower), 0.0), 1.0);
    }
    while (t->n < initial) tell(t);
    double squares = 0.0, mean = 0.0;
    for (size_t i = 0; i < initial; ++i) mean += t->told[i] / (double)initial;
    for (size_t i = 0; i < initial; ++i) squares += (t->told[i] - mean) * (t->told[i] - mean);
    t->mean = mean;
    t->sd = squares > 0.0 ? sqrt(squares / (double)initial) : 1.0;
    for (size_t i = 0; i < initial; ++i) {
        t->told[i] = (t->told[i] - t->mean) / t->sd;
        t->right[i] = (t->right[i] - t->mean) / t->sd;
    }
}

/* Computes the values that are reported after tenth k. */
static bool look(bo_search *s, const trials *t, size_t k, double *values)
{
    size_t row;
    s->n = t->n;
    if (!bo_search_incumbent(s, &row)) return false;
    values[k] = t->clean[0];
    for (size_t i = 1; i < t->n; ++i) values[k] = fmax(values[k], t->clean[i]);
    values[BO_TENTHS_SHOWN + k] = t->clean[row];
    return true;
}

static bool steps(const bo_plan *p, const bo_panel *panel, bo_search *s, trials *t, double *values)
{
    const size_t asked = (size_t)p->evaluations, tenths = BO_TENTHS_SHOWN - 1;
    bool ok = look(s, t, 0, values);
    double spent = 0.0;
    for (size_t i = 0, k = 1; ok && i < asked; ++i) {
        const double start = wall_clock();
        s->n = t->n;
        hf_context_set_seed(s->ctx, t->seed * 1000003u + i);
        ok = bo_search_ask(s, panel->question, i, t->u + t->n * t->d);
        spent += wall_clock() - start;
        if (ok) tell(t);
        while (ok && k <= tenths && (i + 1) * tenths >= k * asked) ok = look(s, t, k++, values);
    }
    values[BO_COLUMNS - 1] = spent / (double)asked;
    return ok;
}

static bool run(const bo_plan *p, const bo_panel *panel, const char *name, long seed,
                const bo_problem *problem, double *values)
{
    char model[16];
    bo_expert expert = {.use = BO_EXPERT_NONE};
    if (!bo_expert_split(name, sizeof model, model, &expert.use)) return false;
    const size_t d = problem->row->d, most = (size_t)(p->initial + p->evaluations);
    const bo_manner manner = {p->high, p->mean, (size_t)p->epochs, 25};
    trials t = {.problem = problem, .d = d, .sd = 1.0, .share = strtod(panel->wrong, NULL) / 100.0};
    t.seed = (uint64_t)seed;
    t.u = room(most * d, sizeof *t.u);
    t.told = room(most, sizeof *t.told);
    t.clean = room(most, sizeof *t.clean);
    expert.clean = t.right = room(most, sizeof *t.right);
    expert.correction = room(most, sizeof *expert.correction);
    for (size_t i = 0; i < most; ++i) expert.correction[i] = NAN;
    begin(&t, (size_t)p->initial);
    bo_search s = {.ctx = hf_context_create(), .seed = t.seed, .manner = &manner, .model = model, .d = d};
    s.window = p->all ? most : (size_t)p->initial;
    s.u = t.u;
    s.y = t.told;
    s.expert = expert.use != BO_EXPERT_NONE ? &expert : NULL;
    s.centre = room(d, sizeof *s.centre);
    bool ok = s.ctx && hf_context_set_threads(s.ctx, 1) >= 0;
    if (ok) hf_context_set_seed(s.ctx, t.seed * 1000003u);
    ok = ok && steps(p, panel, &s, &t, values);
    hf_posterior_free(s.posterior);
    hf_context_free(s.ctx);
    free(s.centre);
    free(t.u);
    free(t.told);
    free(t.clean);
    free(t.right);
    free(expert.correction);
    return ok;
}

/* ---- all runs ------------------------------------------------------------------------------------------- */

static bool run_missing(bo_plan *p, const bo_panel *panel, const bo_problem *problem, long seed)
{
    bool good = true;
    for (size_t m = 0; m < p->models.count; ++m) {
        char name[BO_NAME];
        double values[BO_COLUMNS];
        const char *model = p->models.items[m];
        bo_plan_name(p, panel, model, seed, name);
        if (!bo_question_fits(panel->question, model) || env_rows_find(&p->rows, name)) continue;
        const bool ok = run(p, panel, model, seed, problem, values);
        if (ok) env_rows_add(&p->rows, name, values);
        fprintf(stderr, "%s: %s\n", name, ok ? "done" : "failed");
        good = good && ok;
    }
    return good;
}

/* Seed by seed, so that a program that is stopped has all of the first seeds. */
static bool run_all(bo_plan *p, size_t count, const bo_panel *panels)
{
    bool good = true;
    for (long seed = p->first; seed <= p->last; ++seed)
        for (size_t i = 0; i < count; ++i) {
            bo_problem problem;
            if (!bo_open(bo_find(panels[i].problem), p->data, &problem)) return false;
            good = run_missing(p, &panels[i], &problem, seed) && good;
            bo_close(&problem);
        }
    return good;
}

static bool problem_known(const char *name)
{
    return bo_find(name) != NULL && bo_find(name)->objectives == 1 && bo_find(name)->constraints == 0 &&
           bo_find(name)->parameters == NULL;
}

static bool share_known(const char *text)
{
    char *end;
    const long share = strtol(text, &end, 10);
    return end != text && *end == '\0' && share >= 0 && share <= 100;
}

static const char *models_of(const bo_title *title)
{
    return title->models ? title->models : "SVGP,RCSVGP,CaGP,RCaGP";
}

static void read_options(int argc, char **argv, bo_plan *p)
{
    char heading[900];
    const option_row rows[] = {
        option_text("data", "DIR", "where the data of lasso-dna are " SETS_DEFAULT, &p->data),
        option_list("problems", "LIST", "of hartmann6,lander,rover,lasso-dna and other boxes of bo-problem",
                    &p->problems, p->title->problems, problem_known),
        option_list("models", "LIST",
                    "of SVGP,RCSVGP,CaGP,RCaGP,default, each alone or with an expert: +alg1, +average,\n"
                    "+replace",
                    &p->models, models_of(p->title), bo_model_known),
        option_list("ask", "LIST",
                    "of eulbo (published utility), eulbo-log (this library's), eulbo-turbo, dpp-ei,\n"
                    "dpp-ts, dpp-turbo, ei, chance (whatever the model says); the model default\n"
                    "knows only the last two",
                    &p->questions, p->title->questions, bo_question_known),
        option_list("wrong", "LIST", "shares of wrong readings in percent", &p->wrong, p->title->wrong,
                    share_known),
        option_number("initial", "N", "uniform places at the start (default 250)", &p->initial, 30, 5000),
        option_number("evaluations", "N", "after them (default 250)", &p->evaluations, 1, 20000),
        option_range("seeds", "seeds of the runs (default 0..19)", &p->first, &p->last),
        option_number("epochs", "N", "of EULBO, at most (default 30)", &p->epochs, 0, 1000),
        option_flag("all", "the model sees all readings", &p->all),
        option_flag("threshold-20",
                    "robust threshold 20 sd, as the authors' program has it, not the 0.8 quantile", &p->high),
        option_flag("improve-on-mean",
                    "the largest posterior mean at a reading is to be improved upon, not the largest reading",
                    &p->mean),
        option_text("json", "FILE",
                    "append each run as a line of JSON; runs already there are not made again", &p->json),
        option_flag("report", "only sum up what is in the file of --json", &p->report),
        option_text("picture", "STEM", "draw STEM.svg and STEM.png", &p->stem)};
    snprintf(heading, sizeof heading,
             "usage: %s [option]...\n%s: optimisation with wrong readings.\nWithout options: --problems %s "
             "--ask %s --wrong %s --models %s\n",
             p->title->program, p->title->figure, p->title->problems, p->title->questions, p->title->wrong,
             models_of(p->title));
    options_read(argc, argv, heading, NULL, sizeof rows / sizeof *rows, rows);
}

/* Keeps the problems whose data are there. */
static void keep_present(bo_plan *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->problems.count; ++i) {
        const bo_row *row = bo_find(p->problems.items[i]);
        char path[SETS_PATH];
        if (row->file == NULL || sets_need(p->data ? p->data : sets_folder(), row->file, path))
            p->problems.items[kept++] = p->problems.items[i];
    }
    p->problems.count = kept;
}

int bo_paper_main(int argc, char **argv, const bo_title *title)
{
    bo_plan p = {.title = title, .last = 19, .initial = 250, .evaluations = 250, .epochs = 30};
    bo_panel panels[WORDS_MOST * 4];
    read_options(argc, argv, &p);
    if (p.report && !p.json) {
        fputs("--report needs the file of --json\n", stderr);
        return 2;
    }
    p.rows = (env_rows){.columns = bo_paper_columns(), .width = BO_COLUMNS, .path = p.json};
    if (!env_rows_load(&p.rows)) return 1;
    if (!p.report) keep_present(&p);
    if (p.problems.count == 0) return SETS_MISSING;
    const size_t count = bo_plan_panels(&p, sizeof panels / sizeof *panels, panels);
    bool good = p.report || run_all(&p, count, panels);
    printf("%s, with seeds %ld..%ld, %ld uniform places and %ld evaluations after them. holdfast %s.\n",
           title->figure, p.first, p.last, p.initial, p.evaluations, hf_version());
    bo_paper_print(&p);
    if (p.stem && !bo_paper_draw(&p)) good = false;
    env_rows_free(&p.rows);
    if (!good) fprintf(stderr, "%s: some runs failed; the tables hold what there is\n", title->program);
    return good ? 0 : 1;
}
