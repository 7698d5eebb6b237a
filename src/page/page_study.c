/* SPDX-License-Identifier: Apache-2.0 */
/* A study on a page: what was looked for, what was found, and how it went. */
#include "page/page.h"
#include "study/study.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const goals[] = {[HF_GOAL_MAXIMISE] = "as large as possible",
                                    [HF_GOAL_MINIMISE] = "as small as possible",
                                    [HF_GOAL_AT_MOST] = "at most",
                                    [HF_GOAL_AT_LEAST] = "at least"};

static hf_trial trial(const hfi_page *page, uint64_t id)
{
    hf_trial t = {0};
    (void)hf_study_trial(page->ctx, page->with.study, id, &t);
    return t;
}

static void put_summary(hfi_page *page, const hf_study_settings *s)
{
    size_t fate[HF_TRIAL_EXPIRED + 1] = {0}, aside = 0;
    const uint64_t trials = hf_study_trials(page->with.study);
    for (uint64_t id = 1; id <= trials; id++) {
        const hf_trial t = trial(page, id);
        fate[t.state]++;
        aside += t.aside;
    }
    hfi_page_put(page, "<p>Settings of %zu variable%s were looked for, so that", s->variables,
                 s->variables == 1 ? "" : "s");
    for (size_t o = 0; o < s->outcomes; o++) {
        hfi_page_put(page, "%s <strong>", o == 0 ? "" : o + 1 < s->outcomes ? "," : " and");
        hfi_page_words(page, s->outcome[o].name);
        hfi_page_put(page, "</strong> is %s", goals[s->outcome[o].goal]);
        if (!hfi_study_is_objective(page->with.study, o)) hfi_page_put(page, " %.6g", s->outcome[o].limit);
    }
    hfi_page_put(page,
                 ". Of %" PRIu64
                 " trials %zu told something, %zu failed, %zu wait and %zu were given up; the "
                 "values of %zu are set aside.</p>\n",
                 trials, fate[HF_TRIAL_TOLD], fate[HF_TRIAL_FAILED], fate[HF_TRIAL_PENDING],
                 fate[HF_TRIAL_EXPIRED], aside);
}

/* ---- settings ----------------------------------------------------------------------------------------------- */

static void put_place(hfi_page *page, const hf_study_settings *s, const double *at)
{
    char text[400];
    for (size_t j = 0; j < s->variables; j++) {
        (void)hf_study_format(page->with.study, j, at[j], sizeof text, text);
        hfi_page_text(page, text);
    }
}

/* Settings and expected outcomes, a row for each of some trials. */
static void put_trials(hfi_page *page, const hf_study_settings *s, size_t count, const uint64_t *id)
{
    hf_context *ctx = page->ctx;
    const size_t columns = 1 + s->variables + s->outcomes;
    const char **head = hfi_alloc(ctx, columns, sizeof *head);
    if (head == NULL) {
        page->status = HF_ERR_MEMORY;
        return;
    }
    head[0] = "trial";
    for (size_t j = 0; j < s->variables; j++) head[1 + j] = s->variable[j].name;
    for (size_t o = 0; o < s->outcomes; o++) head[1 + s->variables + o] = s->outcome[o].name;
    hfi_page_table(page, "Best settings", "", "Settings, and outcomes that are expected there", columns,
                   head);
    for (size_t k = 0; k < count; k++) {
        const hf_trial t = trial(page, id[k]);
        hfi_page_put(page, "<tr><th scope=\"row\">%" PRIu64 "</th>", id[k]);
        put_place(page, s, t.at);
        for (size_t o = 0; o < s->outcomes; o++) {
            double mean = NAN;
            (void)hf_study_predict(ctx, page->with.study, o, 1, t.at, &mean, NULL);
            hfi_page_cell(page, mean, 6);
        }
        hfi_page_put(page, "</tr>\n");
    }
    hfi_page_table_end(page);
    hfi_free(ctx, (void *)head);
}

static hf_status put_best(hfi_page *page, const hf_study_settings *s)
{
    hf_best best;
    double *at = hfi_alloc(page->ctx, s->variables, sizeof *at);
    if (at == NULL) return HF_ERR_MEMORY;
    const hf_status status = hf_study_best(page->ctx, page->with.study, at, &best);
    hfi_free(page->ctx, at);
    if (status < 0) return status;
    hfi_page_put(page,
                 "<p>The best settings are those of trial %" PRIu64 ", where %.6g is expected, with a 95 %% "
                 "interval from %.6g to %.6g. They are chosen by the posterior mean, never by the largest "
                 "value alone.",
                 best.trial, best.mean, best.lower, best.upper);
    if (best.feasible < 1.0)
        hfi_page_put(page, " All constraints hold with probability %.3g.", best.feasible);
    hfi_page_put(page, "</p>\n");
    put_trials(page, s, 1, &best.trial);
    return HF_OK;
}

static hf_status put_front(hfi_page *page, const hf_study_settings *s)
{
    size_t count = 0;
    const size_t room = (size_t)hf_study_trials(page->with.study);
    uint64_t *front = hfi_alloc(page->ctx, room, sizeof *front);
    if (front == NULL) return HF_ERR_MEMORY;
    const hf_status status = hf_study_front(page->ctx, page->with.study, front, &count);
    if (status >= 0) {
        hfi_page_put(page,
                     "<p>No other trial is better in one objective without being worse in another:</p>\n");
        put_trials(page, s, count, front);
    }
    hfi_free(page->ctx, front);
    return status;
}

/* ---- how it went -------------------------------------------------------------------------------------------- */

/* Values told of an objective, trial after trial, and a staircase of the best of those that count so far. */
static void put_curve(hfi_page *page, const hf_outcome *outcome, size_t o)
{
    const size_t trials = (size_t)hf_study_trials(page->with.study);
    const bool small = outcome->goal == HF_GOAL_MINIMISE;
    hfi_plot plot = {.title = "values told, and the best of those that count so far",
                     .x_name = "trial",
                     .x_low = 1.0,
                     .x_high = (double)trials,
                     .y_low = NAN,
                     .y_high = NAN};
    double *x = hfi_alloc(page->ctx, 4 * trials + 1, sizeof *x), *best = x != NULL ? x + 2 * trials : NULL;
    size_t told = 0;
    if (x == NULL) page->status = HF_ERR_MEMORY;
    for (size_t i = 0; i < trials && x != NULL; i++) {
        const hf_trial t = trial(page, i + 1);
        if (t.state != HF_TRIAL_TOLD || isnan(t.value[o])) continue;
        hfi_plot_reach(t.value[o], &plot.y_low, &plot.y_high);
        if (t.aside) continue;
        const double before = told > 0 ? best[told - 1] : t.value[o];
        x[told] = x[told + 1] = (double)(i + 1);
        best[told] = before;
        best[told + 1] = small ? fmin(before, t.value[o]) : fmax(before, t.value[o]);
        told += 2;
    }
    if (told > 0) {
        hfi_plot_begin(page, &plot);
        hfi_plot_line(page, &plot, "line", told, x, best);
        for (size_t i = 0; i < trials; i++) {
            const hf_trial t = trial(page, i + 1);
            if (t.state == HF_TRIAL_TOLD) hfi_plot_point(page, &plot, (double)(i + 1), t.value[o], t.aside);
        }
        hfi_plot_end(page);
        hfi_page_put(page, "<figcaption>");
        hfi_page_words(page, outcome->name);
        hfi_page_put(page, ": %s; crosses were set aside.</figcaption></figure>\n", plot.title);
    }
    hfi_free(page->ctx, x);
}

void hfi_page_study(hfi_page *page)
{
    const hf_study_settings *s = hf_study_settings_of(page->with.study);
    hf_status status = hf_study_look(page->ctx, page->with.study);
    if (status < 0 && status != HF_ERR_NO_DATA) page->status = status;
    put_summary(page, s);
    status = page->with.study->objectives > 1 ? put_front(page, s) : put_best(page, s);
    if (status == HF_ERR_NO_DATA)
        hfi_page_put(page, "<p>Too little was told to name the best settings.</p>\n");
    else if (status < 0)
        page->status = status;
    for (size_t o = 0; o < s->outcomes && page->status >= 0; o++)
        if (hfi_study_is_objective(page->with.study, o)) put_curve(page, &s->outcome[o], o);
    hfi_page_put(page, "<p>The surrogates have the preset ");
    hfi_page_words(page, s->preset);
    hfi_page_put(page, "; the seed is %" PRIu64 ".</p>\n", s->seed);
    if (page->with.study_command != NULL) hfi_page_command(page, page->with.study_command, "");
}
