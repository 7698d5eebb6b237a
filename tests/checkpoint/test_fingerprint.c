/* SPDX-License-Identifier: Apache-2.0 */
/* A checkpoint belongs to everything that a fit's result depends on, and nothing else. */
#include "checkpoint/journal.h"
#include "core/settings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    N = 3,
    D = 2,
    LD = 4 /* between rows there is something that is not looked at */
};

typedef struct problem {
    hf_context *ctx;
    double x[N * LD], y[N], noise[N], exposure[N];
    const char *names[D];
    hf_data data;
    hf_fit_settings settings;
    hf_assignment set[1];
    hfi_fingerprint first;
} problem;

static void make(problem *p)
{
    *p = (problem){.ctx = hf_context_create(),
                   .y = {1.0, NAN, 3.0},
                   .noise = {0.1, 0.1, 0.2},
                   .exposure = {1.0, 2.0, 3.0},
                   .names = {"a", "b"},
                   .settings = hf_fit_settings_default(),
                   .set = {{"noise", 0.5}}};
    for (size_t i = 0; i < (size_t)N * LD; i++) p->x[i] = (double)i;
    p->data =
        (hf_data){.n = N, .d = D, .x = p->x, .ldx = LD, .y = p->y, .noise = p->noise, .names = p->names};
    p->first = hfi_fit_fingerprint(p->ctx, &p->data, &p->settings);
}

/* Names of what another fit differs in. */
static const char *difference(const problem *p)
{
    static char text[64];
    const hfi_fingerprint now = hfi_fit_fingerprint(p->ctx, &p->data, &p->settings);
    hfi_fingerprint_difference(&now, &p->first, text);
    return text;
}

static bool same(const problem *p)
{
    const hfi_fingerprint now = hfi_fit_fingerprint(p->ctx, &p->data, &p->settings);
    assert_int_equal(strlen(difference(p)) == 0, memcmp(&now, &p->first, sizeof now) == 0);
    return strlen(difference(p)) == 0;
}

#define ASSERT_MATTERS(field, value, part)                                                                   \
    do {                                                                                                     \
        const problem before = p;                                                                            \
        (field) = (value);                                                                                   \
        assert_string_equal(difference(&p), part);                                                           \
        p = before;                                                                                          \
        assert_true(same(&p));                                                                               \
    } while (0)

static bool is_among(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

/* A transform is of a table, whose target is transformed already. */
static void every_setting_matters(void **state)
{
    (void)state;
    static const char *const idle[] = {"checkpoint", "resume", "transform"};
    problem p;
    make(&p);
    const hf_fit_settings before = p.settings;
    assert_true(same(&p));
    for (size_t i = 0; i < hf_fit_settings_table()->count; i++) {
        const hfi_setting *row = &hf_fit_settings_table()->row[i];
        if (row->face.type >= HF_SETTING_TEXT) continue; /* below */
        hfi_setting_assign(row, hfi_setting_value(row, &before) == 1.0 ? 0.0 : 1.0, &p.settings);
        if (same(&p) != is_among(row->face.name, idle, 3)) fail_msg("%s", row->face.name);
        p.settings = before;
        assert_true(same(&p));
    }
    hf_context_free(p.ctx);
}

static void texts_and_lists_matter(void **state)
{
    (void)state;
    problem p;
    make(&p);
    hf_fit_settings *s = &p.settings;
    static const double numbers[] = {0.5};
    ASSERT_MATTERS(s->kernel, "se", "settings");
    ASSERT_MATTERS(s->action_rows, 7, "settings");
    s->output_eps_count = s->output_beta_count = 1;
    p.first = hfi_fit_fingerprint(p.ctx, &p.data, &p.settings);
    ASSERT_MATTERS(s->output_eps, numbers, "settings");
    ASSERT_MATTERS(s->output_beta, numbers, "settings");
    s->set = s->start = p.set;
    ASSERT_MATTERS(s->set_count, 1, "settings");
    ASSERT_MATTERS(s->start_count, 1, "settings");
    s->set_count = 1;
    p.first = hfi_fit_fingerprint(p.ctx, &p.data, &p.settings);
    ASSERT_MATTERS(p.set[0].value, 0.25, "settings");
    ASSERT_MATTERS(p.set[0].name, "mean", "settings");
    hf_context_free(p.ctx);
}

static void the_data_and_the_seed_matter(void **state)
{
    (void)state;
    problem p;
    make(&p);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < D; j++) ASSERT_MATTERS(p.x[i * LD + j], 0.125, "data");
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(p.y[i], 0.125, "data");
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(p.noise[i], 0.125, "data");
    static const double given[N * D] = {0.25};
    ASSERT_MATTERS(p.settings.inducing_inputs, given, "settings");
    ASSERT_MATTERS(p.data.n, N - 1, "data");
    ASSERT_MATTERS(p.data.d, D - 1, "data");
    ASSERT_MATTERS(p.data.noise, NULL, "data");
    ASSERT_MATTERS(p.data.exposure, p.exposure, "data");
    p.data.exposure = p.exposure;
    p.first = hfi_fit_fingerprint(p.ctx, &p.data, &p.settings);
    for (size_t i = 0; i < N; i++) ASSERT_MATTERS(p.exposure[i], 0.125, "data");
    const bool aside[N] = {true};
    ASSERT_MATTERS(p.data.aside, aside, "data");
    ASSERT_MATTERS(p.names[1], "c", "data");
    p.settings.action_rows = N;
    p.settings.actions = 1;
    p.first = hfi_fit_fingerprint(p.ctx, &p.data, &p.settings);
    assert_true(same(&p));
    ASSERT_MATTERS(p.settings.action_matrix, given, "settings");
    hf_context_set_seed(p.ctx, 9);
    assert_string_equal(difference(&p), "seed");
    p.settings.sites = HF_LIKELIHOOD_POISSON;
    assert_string_equal(difference(&p), "likelihood, seed");
    hf_context_free(p.ctx);
}

static void nothing_else_matters(void **state)
{
    (void)state;
    problem p;
    make(&p);
    p.settings.checkpoint = "elsewhere";
    p.settings.resume = true;
    p.x[D] = -1.0; /* between the rows */
    p.y[1] = -NAN; /* missing is missing */
    hf_context_set_threads(p.ctx, 3);
    assert_true(same(&p));
    hf_context_free(p.ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_setting_matters),
        cmocka_unit_test(texts_and_lists_matter),
        cmocka_unit_test(the_data_and_the_seed_matter),
        cmocka_unit_test(nothing_else_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
