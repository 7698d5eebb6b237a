/* SPDX-License-Identifier: Apache-2.0 */
/* One wrong reading, or two or three, among sound ones: set aside as surely among 150 as among 20, alone as
 * among several outputs; sound readings stay. And residuals in which readings have no say. */
#include "fit/fit.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    MOST = 160
};

typedef struct problem {
    size_t n, outputs;
    double x[MOST * 2], y[MOST];
} problem;

/* n places in [-2, 2] with a reading of every output at each; noise sd 0.3. */
static void make(problem *p, size_t n, size_t outputs, uint64_t seed)
{
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, n);
    *p = (problem){.n = n * outputs, .outputs = outputs};
    for (size_t i = 0; i < n; i++) {
        const double x = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        for (size_t k = 0; k < outputs; k++) {
            const size_t at = i * outputs + k;
            p->x[at * (outputs > 1 ? 2 : 1)] = x;
            if (outputs > 1) p->x[at * 2 + 1] = (double)k;
            p->y[at] = sin(2.0 * x) * (1.0 + 0.3 * (double)k) + 0.3 * hfi_stream_normal(&stream);
        }
    }
}

typedef struct outcome {
    size_t aside, suspected;
    bool first; /* reading 0 is set aside */
    hf_fit_report report;
} outcome;

static outcome fit(const problem *p, hf_outliers suspects)
{
    outcome out = {0};
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    hf_posterior *posterior = NULL;
    hf_reading readings[MOST];
    const size_t d = p->outputs > 1 ? 2 : 1;
    const hf_data data = {.n = p->n, .d = d, .x = p->x, .ldx = d, .y = p->y, .outputs = p->outputs};
    settings.suspects = suspects;
    assert_true(hf_fit_data(ctx, &data, &settings, &posterior, &out.report, readings) >= 0);
    for (size_t i = 0; i < p->n; i++) {
        out.aside += readings[i].weight == 0.0;
        out.suspected += readings[i].suspected;
    }
    out.first = readings[0].weight == 0.0;
    hf_posterior_free(posterior);
    hf_context_free(ctx);
    return out;
}

/* A wrong reading is set aside, no sound one with it, and the report says on what ground. */
static void check_one(size_t n, double by, uint64_t seed)
{
    problem p;
    make(&p, n, 1, seed);
    p.y[0] += by;
    const outcome o = fit(&p, HF_OUTLIERS_AUTO);
    assert_true(o.first && o.aside == 1 && o.report.suspects_adopted);
    assert_true(o.report.chance < 0.05 && o.report.set_aside.sd < o.report.kept.sd);
    const outcome kept = fit(&p, HF_OUTLIERS_OFF);
    assert_true(kept.aside == 0 && isnan(kept.report.chance) && isnan(kept.report.kept.error));
}

static void test_one_wrong_reading(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_one(20, 8.0, seed);
        check_one(50, -8.0, seed);
        check_one(150, 6.0, seed);
    }
}

static void test_wrong_readings_do_not_hide_each_other(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        problem p;
        make(&p, 60, 1, seed);
        p.y[0] += 8.0;
        p.y[1] += 8.0;
        p.y[2] -= 9.0;
        const outcome o = fit(&p, HF_OUTLIERS_AUTO);
        assert_true(o.first && o.aside == 3);
    }
}

/* Sound tables hardly lose a reading: few of 60 do. */
static void test_sound_readings_stay(void **state)
{
    (void)state;
    size_t lost = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        problem p;
        make(&p, seed % 2 == 0 ? 20 : 60, 1, 100 + seed);
        lost += fit(&p, HF_OUTLIERS_AUTO).aside > 0;
    }
    assert_true(lost <= 3);
}

/* The outputs beside it do not thin out the evidence against a reading. */
static void test_each_output_is_judged_by_itself(void **state)
{
    (void)state;
    size_t found = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        problem p;
        make(&p, 30, 5, seed);
        p.y[0] += 8.0;
        const outcome o = fit(&p, HF_OUTLIERS_AUTO);
        found += o.first;
        assert_true(o.aside <= 1);
    }
    assert_int_equal(found, 3);
}

/* Evidence near its limit is called undecided, and the verdict of either side can be had. */
static void test_undecided(void **state)
{
    (void)state;
    size_t undecided = 0, kept = 0, aside = 0;
    for (int step = 0; step < 24; step++) {
        problem p;
        make(&p, 50, 1, 7);
        p.y[0] += 0.6 + 0.2 * step;
        const outcome o = fit(&p, HF_OUTLIERS_AUTO);
        if (o.report.suspects == 0) continue;
        undecided += o.report.suspects_undecided;
        kept += !o.report.suspects_adopted && !o.report.suspects_undecided;
        aside += o.report.suspects_adopted && !o.report.suspects_undecided;
        assert_true(o.report.kept.sd > 0.0 && o.report.set_aside.sd > 0.0);
    }
    assert_true(undecided >= 1 && aside >= 3);
    assert_true(undecided < aside + kept);
}

/* Specimens whose reading was taken once for four rows keep all of them, however badly the inputs tell them
 * apart; a reading that stands alone is set aside all the same, and so are gross ones among rounded
 * readings. */
static void test_replicates_stay(void **state)
{
    (void)state;
    hfi_stream stream;
    hfi_stream_init(&stream, 11, HFI_PURPOSE_TEST, 0);
    problem p = {.n = 48, .outputs = 1};
    for (size_t core = 0; core < 12; core++) {
        const double y = 3.0 + 2.0 * hfi_stream_uniform(&stream); /* none far from the others */
        for (size_t k = 0; k < 4; k++) {
            p.x[core * 4 + k] = y + (core == 3 ? 4.0 : 0.2) * hfi_stream_normal(&stream);
            p.y[core * 4 + k] = y;
        }
    }
    assert_int_equal(fit(&p, HF_OUTLIERS_FORCE).suspected, 0);
    p.y[0] = 400.0;
    assert_true(fit(&p, HF_OUTLIERS_FORCE).first);
    make(&p, 60, 1, 3);
    for (size_t i = 0; i < p.n; i++) p.y[i] = 0.2 * rint(5.0 * p.y[i]);
    p.y[0] = p.y[1] = 6.0;
    outcome o = fit(&p, HF_OUTLIERS_AUTO);
    assert_true(o.first && o.aside == 2);
    for (size_t i = 0; i < p.n; i++)
        p.y[i] = 37.0 + 0.01 * p.y[i]; /* zeros far from all others are in steps too */
    for (size_t i = 0; i < 6; i++) p.y[i] = 0.0;
    o = fit(&p, HF_OUTLIERS_AUTO);
    assert_true(o.first && o.aside == 6);
}

/* ---- residuals without a say ------------------------------------------------------------------------------ */

typedef struct prepared {
    hf_context *ctx;
    hf_fit_settings settings;
    hf_data data;
    hfi_fit fit;
    double *state;
} prepared;

static void prepare(prepared *q, const problem *p)
{
    *q = (prepared){.ctx = hf_context_create(), .settings = hf_fit_settings_default()};
    hf_context_set_threads(q->ctx, 1);
    q->data = (hf_data){.n = p->n, .d = 1, .x = p->x, .ldx = 1, .y = p->y};
    q->fit = (hfi_fit){.ctx = q->ctx, .data = &q->data, .settings = &q->settings, .nu = INFINITY};
    assert_true(hfi_fit_gather(&q->fit) >= 0 && hfi_fit_prepare(&q->fit) >= 0);
    assert_true(hfi_fit_evaluator(&q->fit) >= 0 && hfi_fit_trainer(&q->fit) >= 0);
    q->state = calloc(q->fit.trainer.count, sizeof *q->state);
    assert_non_null(q->state);
    assert_true(hfi_trainer_cold(&q->fit.trainer, q->state) >= 0);
    assert_true(hfi_trainer_maximise(&q->fit.trainer, q->state, 200) >= 0);
}

static void release(prepared *q)
{
    free(q->state);
    hfi_fit_free(&q->fit);
    hf_context_free(q->ctx);
}

/* The residual of one reading after a training to the end without it. */
static double by_hand(prepared *q, size_t row)
{
    hfi_trainer *t = &q->fit.trainer;
    hfi_holdout r;
    double *own = calloc(t->count, sizeof *own);
    assert_non_null(own);
    memcpy(own, q->state, t->count * sizeof *own);
    assert_true(hfi_holdout_init(q->ctx, &r, q->fit.n) >= 0);
    assert_true(hf_sites_set_present(q->ctx, q->fit.sites, row, false) >= 0);
    assert_true(hfi_trainer_follow_mean(t, own) >= 0 && hfi_trainer_maximise(t, own, 200) >= 0);
    assert_true(hfi_holdout_compute(&t->evaluator, &r) >= 0);
    assert_true(hf_sites_set_present(q->ctx, q->fit.sites, row, true) >= 0);
    const double out = r.t[row];
    hfi_holdout_free(q->ctx, &r);
    free(own);
    return out;
}

static void test_refit_residuals(void **state)
{
    (void)state;
    problem p;
    prepared q;
    make(&p, 18, 1, 4); /* left out one by one */
    p.y[3] += 1.5;
    prepare(&q, &p);
    hfi_trainer *t = &q.fit.trainer;
    hfi_holdout plain, honest;
    assert_true(hfi_refit_matters(t));
    assert_true(hfi_holdout_init(q.ctx, &plain, p.n) >= 0 && hfi_holdout_init(q.ctx, &honest, p.n) >= 0);
    assert_true(hfi_holdout_compute(&t->evaluator, &plain) >= 0);
    assert_true(hfi_refit_residuals(t, q.state, &honest) >= 0);
    /* Model and presence are as before. */
    hfi_holdout again;
    assert_true(hfi_holdout_init(q.ctx, &again, p.n) >= 0);
    assert_int_equal(hf_sites_present(q.fit.sites), p.n);
    assert_true(hfi_holdout_compute(&t->evaluator, &again) >= 0);
    for (size_t i = 0; i < p.n; i++) assert_near(again.t[i], plain.t[i], 1e-12);
    double sum = 0.0, wider = 0.0, apart = 0.0;
    for (size_t i = 0; i < p.n; i++) {
        const double own = by_hand(&q, i);
        apart += (honest.t[i] - own) * (honest.t[i] - own);
        sum += plain.t[i] * plain.t[i];
        wider += honest.t[i] * honest.t[i];
    }
    assert_true(wider > sum && apart < 0.05 * wider); /* climbs end a fifth of a nat early */
    hfi_holdout_free(q.ctx, &again);
    hfi_holdout_free(q.ctx, &plain);
    hfi_holdout_free(q.ctx, &honest);
    release(&q);
}

/* With more readings folds and single steps: near the residuals of a training to the end without the fold's reading. */
static void test_refit_by_single_steps(void **state)
{
    (void)state;
    problem p;
    prepared q;
    make(&p, 62, 1, 9);
    prepare(&q, &p);
    q.fit.trainer.free_count = q.fit.trainer.free_count < 4 ? q.fit.trainer.free_count : 4;
    if (!hfi_refit_matters(&q.fit.trainer))
        fail_msg("62 readings of %zu parameters", q.fit.trainer.free_count);
    hfi_holdout honest;
    assert_true(hfi_holdout_init(q.ctx, &honest, p.n) >= 0);
    assert_true(hfi_refit_residuals(&q.fit.trainer, q.state, &honest) >= 0);
    double squares = 0.0, apart = 0.0;
    for (size_t i = 0; i < p.n; i++) {
        const double own = by_hand(&q, i);
        squares += own * own;
        apart += (honest.t[i] - own) * (honest.t[i] - own);
    }
    assert_true(apart < 0.1 * squares);
    hfi_holdout_free(q.ctx, &honest);
    release(&q);
}

/* Predicts reading i by a fit of the others. */
static void predict_from_others(hf_context *ctx, const problem *p, const hf_fit_settings *settings, size_t i,
                                double *mean, double *sd)
{
    problem others = *p;
    others.y[i] = NAN;
    const hf_data data = {.n = p->n, .d = 1, .x = p->x, .ldx = 1, .y = others.y};
    hf_posterior *posterior = NULL;
    assert_true(hf_fit_data(ctx, &data, settings, &posterior, NULL, NULL) >= 0);
    assert_true(hf_predict(ctx, posterior, 1, &p->x[i], 1, mean, NULL, sd) >= 0);
    *sd = sqrt(*sd / hf_posterior_calibration(posterior));
    hf_posterior_free(posterior);
}

/* A reading's refit_mean and refit_sd are those predictions, where there are few readings. */
static void test_refits_are_told(void **state)
{
    (void)state;
    problem p;
    make(&p, 18, 1, 4);
    p.y[5] = NAN;
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    settings.suspects = HF_OUTLIERS_OFF;
    hf_posterior *posterior = NULL;
    hf_reading readings[MOST];
    const hf_data data = {.n = p.n, .d = 1, .x = p.x, .ldx = 1, .y = p.y};
    assert_true(hf_fit_data(ctx, &data, &settings, &posterior, NULL, readings) >= 0);
    hf_posterior_free(posterior);
    double apart = 0.0;
    for (size_t i = 0; i < p.n; i++) {
        double mean, sd;
        assert_true(isnan(readings[i].refit_mean) == (i == 5) && isnan(readings[i].refit_sd) == (i == 5));
        if (i == 5) continue;
        predict_from_others(ctx, &p, &settings, i, &mean, &sd);
        apart += pow((readings[i].refit_mean - mean) / sd, 2.0) + pow(log(readings[i].refit_sd / sd), 2.0);
    }
    assert_true(apart < 0.05 * (double)p.n); /* climbs end a fifth of a nat early */
    settings.calibrate = false;
    assert_true(hf_fit_data(ctx, &data, &settings, &posterior, NULL, readings) >= 0);
    for (size_t i = 0; i < p.n; i++)
        assert_true(isnan(readings[i].refit_mean) && isnan(readings[i].refit_sd));
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_wrong_reading),
        cmocka_unit_test(test_wrong_readings_do_not_hide_each_other),
        cmocka_unit_test(test_sound_readings_stay),
        cmocka_unit_test(test_each_output_is_judged_by_itself),
        cmocka_unit_test(test_undecided),
        cmocka_unit_test(test_replicates_stay),
        cmocka_unit_test(test_refit_residuals),
        cmocka_unit_test(test_refit_by_single_steps),
        cmocka_unit_test(test_refits_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
