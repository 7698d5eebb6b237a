/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file study_files.h
 * @brief Studies in files, for tests: settings of every sort, and whether two studies are the same.
 */
#ifndef TESTS_MODEL_STUDY_FILES_H
#define TESTS_MODEL_STUDY_FILES_H

#include "database_content.h"
#include "study/studies.h"

#include "files/study_store.h"

/* ---- scenes ---------------------------------------------------------------------------------- */

typedef struct scene {
    hf_context *ctx;
    folder in;
    char path[256];
} scene;

static inline scene scene_make(void)
{
    scene s = {.ctx = hf_context_create(), .in = folder_make()};
    assert_non_null(s.ctx);
    (void)folder_file(&s.in, "s.hf", s.path);
    return s;
}

static inline void scene_end(scene *s)
{
    folder_remove(&s->in);
    hf_context_free(s->ctx);
}

static inline void assert_says(const hf_context *ctx, const char *words)
{
    if (strstr(hf_context_message(ctx), words) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", hf_context_message(ctx), words);
}

/* ---- studies --------------------------------------------------------------------------------- */

enum {
    STUDY_KINDS = 4
};

static const hf_outcome study_files_outcome[4] = {
    {.name = "loss", .goal = HF_GOAL_MINIMISE},
    {.name = "cost, total", .goal = HF_GOAL_MAXIMISE},
    {.name = "heat", .goal = HF_GOAL_AT_MOST, .limit = 3.25},
    {.name = "yield", .goal = HF_GOAL_AT_LEAST, .limit = -1e300}};
static const hf_outcome study_files_certain[2] = {{.name = "gain", .goal = HF_GOAL_MAXIMISE},
                                                  {.name = "limit",
                                                   .goal = HF_GOAL_AT_MOST,
                                                   .limit = 2.0,
                                                   .certain = true,
                                                   .noise_bound = 0.01,
                                                   .norm_bound = 3.0,
                                                   .centre = -0.125,
                                                   .kernel = "4*se(lengthscale=0.3)"}};

/* Settings of every sort, kind by kind. */
static inline hf_study_settings study_files_settings(int kind)
{
    hf_study_settings s = studies_settings(2, studies_plane, &studies_gain);
    if (kind == 1) {
        s.variables = 5;
        s.variable = studies_mixed;
        s.outcomes = 4;
        s.outcome = study_files_outcome;
        s.kernel = "matern52(x1, x2, x3, x5, ard)";
        s.seed = UINT64_MAX;
        s.repeats = SIZE_MAX >> 1;
        s.expires = 0.1 + 0.2;
    } else if (kind == 2) {
        s.outcomes = 2;
        s.outcome = study_files_certain;
        s.preset = "rcgp";
        s.kernel = "matern32(x1, x2, ard)";
        s.acquisition = HF_ACQUIRE_UCB;
        s.beta = 1.0 / 3.0;
        s.seed = 0;
    } else if (kind == 3) {
        s.reach = HF_REACH_REGIONS;
        s.regions = 2;
        s.start = 6;
        s.draws = 16;
        s.thompson = true;
        s.robust = false;
    }
    return s;
}

static inline hf_study *study_files_create(hf_context *ctx, int kind, const char *path)
{
    const hf_study_settings settings = study_files_settings(kind);
    hf_study *study = NULL;
    if (hf_study_file_create(ctx, path, &settings, &study) < 0)
        fail_msg("%s", hf_context_message(ctx));
    return study;
}

static inline hf_study *study_files_open(hf_context *ctx, const char *path, bool write)
{
    hf_study *study = NULL;
    if (hf_study_file_open(ctx, path, write, &study) < 0) fail_msg("%s", hf_context_message(ctx));
    return study;
}

/* ---- the same studies ------------------------------------------------------------------------ */

static inline void assert_same_numbers(const double *a, const double *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(a[i] == b[i] && signbit(a[i]) == signbit(b[i])) && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("number %zu is %.17g and %.17g", i, a[i], b[i]);
}

static inline void assert_same_text(const char *a, const char *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a != NULL) assert_string_equal(a, b);
}

static inline void assert_same_settings(const hf_study_settings *a, const hf_study_settings *b)
{
    assert_true(a->variables == b->variables && a->outcomes == b->outcomes && a->seed == b->seed);
    assert_true(a->acquisition == b->acquisition && a->thompson == b->thompson &&
                a->beta == b->beta);
    assert_true(a->reach == b->reach && a->regions == b->regions &&
                a->region_from == b->region_from);
    assert_true(a->start == b->start && a->draws == b->draws && a->robust == b->robust);
    assert_true(a->repeats == b->repeats && a->expires == b->expires);
    assert_same_text(a->preset, b->preset);
    assert_same_text(a->kernel, b->kernel);
    for (size_t j = 0; j < a->variables; j++) {
        const hf_variable *v = &a->variable[j], *w = &b->variable[j];
        assert_string_equal(v->name, w->name);
        assert_true(v->kind == w->kind && v->log == w->log && v->levels == w->levels);
        assert_true(v->lower == w->lower && v->upper == w->upper);
        for (size_t k = 0; k < v->levels; k++) assert_string_equal(v->level[k], w->level[k]);
    }
    for (size_t o = 0; o < a->outcomes; o++) {
        const hf_outcome *v = &a->outcome[o], *w = &b->outcome[o];
        assert_string_equal(v->name, w->name);
        assert_same_text(v->kernel, w->kernel);
        assert_true(v->goal == w->goal && v->limit == w->limit && v->certain == w->certain);
        assert_true(v->noise_bound == w->noise_bound && v->norm_bound == w->norm_bound &&
                    v->centre == w->centre);
    }
}

static inline void assert_same_trial(const hf_study *a, const hf_study *b, uint64_t id)
{
    const hfi_trial *s = hfi_study_find(a, id), *t = hfi_study_find(b, id);
    const double left[] = {s->asked, s->told, s->mean, s->sd, s->acquired, s->region};
    const double right[] = {t->asked, t->told, t->mean, t->sd, t->acquired, t->region};
    assert_true(s->state == t->state && s->reason == t->reason && s->repeats == t->repeats &&
                s->fact == t->fact);
    assert_same_text(s->note, t->note);
    assert_same_numbers(left, right, sizeof left / sizeof left[0]);
    assert_same_numbers(s->at, t->at, a->d);
    assert_same_numbers(s->u, t->u, a->d);
    assert_same_numbers(s->value, t->value, a->outcomes);
    assert_same_numbers(s->noise, t->noise, a->outcomes);
}

/* All that a study remembers, to the last digit. */
static inline void assert_same_study(const hf_study *a, const hf_study *b)
{
    assert_same_settings(&a->s, &b->s);
    assert_int_equal(a->trials, b->trials);
    assert_true(a->facts == b->facts && a->pending == b->pending && a->told == b->told &&
                a->failed == b->failed && a->regions == b->regions);
    for (uint64_t id = 1; id <= a->trials; id++) assert_same_trial(a, b, id);
    for (size_t o = 0; o <= a->outcomes; o++) {
        const hfi_fitted *f = &a->fitted[o], *g = &b->fitted[o];
        assert_true(f->readings == g->readings && f->parameters == g->parameters &&
                    f->aside == g->aside && f->doubted == g->doubted && f->facts == g->facts);
        const double left[] = {f->warp.knee, f->warp.scale},
                     right[] = {g->warp.knee, g->warp.scale};
        assert_same_numbers(left, right, 2);
        assert_same_numbers(f->value, g->value, f->parameters + f->aside + f->doubted);
    }
    for (size_t r = 0; r < a->regions; r++) {
        const hfi_region *g = &a->region[r], *h = &b->region[r];
        assert_true(g->centre == h->centre && g->heard == h->heard &&
                    g->state.side == h->state.side && g->state.successes == h->state.successes &&
                    g->state.failures == h->state.failures &&
                    g->state.failures_allowed == h->state.failures_allowed &&
                    g->state.restarts == h->state.restarts);
    }
}

/* The file as another program finds it is what the study is. */
static inline void assert_same_as_file(hf_context *ctx, const hf_study *study, const char *path)
{
    hf_study *again = study_files_open(ctx, path, false);
    assert_same_study(study, again);
    hf_study_free(again);
}

#endif
