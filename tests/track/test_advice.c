/* SPDX-License-Identifier: Apache-2.0 */
/* Standing still as a rival: its gain from first principles, and who is told to stand; methods compared
 * before one is chosen. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "track/tracks.h"

enum {
    TOLD = 40,
    HALF = TOLD / 2
};

static double peak(double x, double t)
{
    return 3.0 * exp(-0.5 * (x - 1.5 * sin(0.1 * t)) * (x - 1.5 * sin(0.1 * t)));
}

static double error_of(size_t i)
{
    return 0.1 * cos(37.0 * (double)i);
}

/* Told at 1, 2, ...: all over the domain, or where the peak is on average. */
static hf_track *wanderer(hf_context *ctx, bool wander, bool minimise, size_t count)
{
    hf_track_settings s = tracks_settings(HF_TRACK_UI_GP_UCB);
    s.minimise = minimise;
    hf_track *track = tracks_make(ctx, &s);
    uint64_t state = 5;
    for (size_t i = 1; i <= count; i++) {
        const double anywhere = -4.0 + 8.0 * tracks_uniform(&state), t = (double)i;
        const double x = wander || i <= count / 2 ? anywhere : 1.5 * sin(0.1 * t);
        tracks_tell(ctx, track, t, x, (minimise ? -1.0 : 1.0) * (peak(x, t) + error_of(i)), 0.0);
    }
    return track;
}

/* ---- from first principles ----------------------------------------------------------------------------- */

static double prior(double x, double t, double z, double u, double period)
{
    return TRACKS_SCALE * exp(-0.5 * (x - z) * (x - z) / (TRACKS_LENGTH * TRACKS_LENGTH)) *
           exp(-0.5 * (t - u) * (t - u) / (period * period));
}

/* Solves A b = b by elimination, in more digits. */
static void solve(size_t n, long double *a, long double *b)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++) {
            const long double f = a[i * n + k] / a[k * n + k];
            for (size_t j = k; j < n; j++) a[i * n + j] -= f * a[k * n + j];
            b[i] -= f * b[k];
        }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++) b[k] -= a[k * n + j] * b[j];
        b[k] /= a[k * n + k];
    }
}

typedef struct reading {
    double x, t, y;
} reading;

static void solved(const reading *r, double period, const long double *right, long double *out)
{
    static long double a[TOLD * TOLD];
    for (size_t i = 0; i < TOLD; i++)
        for (size_t j = 0; j < TOLD; j++)
            a[i * TOLD + j] = prior(r[i].x, r[i].t, r[j].x, r[j].t, period) + (i == j ? TRACKS_NOISE : 0.0);
    memcpy(out, right, TOLD * sizeof *out);
    solve(TOLD, a, out);
}

/* Mean and sd of the mean over the newest half of f(x, t_i) - f(x_i, t_i). */
static void gain_of(const reading *r, double x, double period, double *mean, double *sd)
{
    long double cross[TOLD], y[TOLD], ones[TOLD], by_ones[TOLD], by_y[TOLD], by_cross[TOLD];
    double variance = 0.0;
    for (size_t i = 0; i < TOLD; i++) {
        cross[i] = 0.0L;
        for (size_t j = HALF; j < TOLD; j++)
            cross[i] +=
                (prior(x, r[j].t, r[i].x, r[i].t, period) - prior(r[j].x, r[j].t, r[i].x, r[i].t, period)) /
                HALF;
        y[i] = r[i].y;
        ones[i] = 1.0L;
    }
    for (size_t i = HALF; i < TOLD; i++)
        for (size_t j = HALF; j < TOLD; j++)
            variance +=
                (prior(x, r[i].t, x, r[j].t, period) - prior(x, r[i].t, r[j].x, r[j].t, period) -
                 prior(r[i].x, r[i].t, x, r[j].t, period) + prior(r[i].x, r[i].t, r[j].x, r[j].t, period)) /
                (HALF * HALF);
    solved(r, period, ones, by_ones);
    solved(r, period, y, by_y);
    solved(r, period, cross, by_cross);
    long double above = 0.0L, below = 0.0L, fit = 0.0L, reduced = 0.0L, missed = 0.0L, sum = 0.0L;
    for (size_t i = 0; i < TOLD; i++) {
        above += by_y[i];
        below += by_ones[i];
        reduced += cross[i] * by_cross[i];
        missed += cross[i] * by_ones[i];
    }
    for (size_t i = 0; i < TOLD; i++) {
        const long double alpha = by_y[i] - above / below * by_ones[i];
        fit += alpha * y[i];
        sum += cross[i] * alpha;
    }
    *mean = (double)sum;
    *sd = (double)sqrtl(fit / TOLD * (variance - reduced + missed * missed / below));
}

static void the_gain_is_the_formula(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (int minimise = 0; minimise < 2; minimise++) {
        hf_track *track = wanderer(ctx, true, minimise != 0, TOLD);
        reading r[TOLD];
        double x = NAN, mean, sd;
        hf_track_standing out;
        for (size_t i = 0; i < TOLD; i++)
            r[i] = (reading){track->recent.x[i], track->recent.time[i], track->recent.y[i]};
        assert_int_equal(hf_track_standing_of(ctx, track, &x, &out), HF_OK);
        assert_int_equal(out.compared, HALF);
        assert_int_equal(out.answers, 0);
        gain_of(r, x, out.period, &mean, &sd);
        assert_near(out.gain, (minimise != 0 ? -1.0 : 1.0) * mean, 1e-8);
        assert_near(out.sd, sd, 1e-8);
        assert_near(out.gain_of_runs, out.gain, 1e-12);
        assert_true(out.hindsight - 2.0 * out.sd_of_hindsight >= out.gain - 2.0 * out.sd - 1e-12);
        hf_track_free(track);
    }
    hf_context_free(ctx);
}

/* ---- who is told --------------------------------------------------------------------------------------- */

static void who_wanders_is_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double x, mirrored;
    hf_track_standing out, other;
    hf_track *track = wanderer(ctx, true, false, TOLD), *mirror = wanderer(ctx, true, true, TOLD);
    assert_int_equal(hf_track_standing_of(ctx, track, &x, &out), HF_OK);
    assert_true(out.better && out.gain > 0.3 && x > -2.0 && x < 2.5);
    assert_int_equal(hf_track_standing_of(ctx, mirror, &mirrored, &other), HF_OK);
    assert_near(mirrored, x, 0.0);
    assert_near(other.gain, out.gain, 1e-12);
    hf_track_free(track);
    hf_track_free(mirror);
    track = wanderer(ctx, false, false, TOLD); /* follows the peak in the half that is compared */
    assert_int_equal(hf_track_standing_of(ctx, track, &x, &out), HF_OK);
    assert_true(!out.better && !out.better_than_runs && out.gain < 0.0);
    hf_track_free(track);
    track = wanderer(ctx, true, false, 19);
    out.compared = 77;
    assert_int_equal(hf_track_standing_of(ctx, track, &x, &out), HF_ERR_NO_DATA);
    assert_int_equal(out.compared, 77);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* The peak is followed, with answers from all over the domain: their price is what they lose. */
static void tries_are_counted(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_track_settings s = tracks_candidates(HF_TRACK_SPARQ_REUSE);
    s.queries = 5;
    s.tolerance = 0.0;
    hf_track *track = tracks_make(ctx, &s);
    double x;
    hf_track_standing out;
    for (size_t k = 0; k < CANDIDATES; k++)
        tracks_tell(ctx, track, 0.0, tracks_points[k], peak(tracks_points[k], 0.0), 0.0);
    for (size_t i = 1; i <= 30; i++) {
        const double t = (double)i, at = fmin(fmax(round(1.5 * sin(0.1 * t)), -4.0), 4.0);
        size_t count;
        assert_int_equal(hf_track_requests(ctx, track, t, &count), HF_OK);
        for (; count > 0; count--) {
            hf_track_request q;
            assert_int_equal(hf_track_request_at(track, hf_track_pending_count(track) - 1, &q), HF_OK);
            assert_int_equal(hf_track_answer(ctx, track, q.id, NAN, peak(q.x[0], t) + error_of(i), 0.0),
                             HF_OK);
        }
        tracks_tell(ctx, track, t, at, peak(at, t) + error_of(i + 1), 0.0);
    }
    assert_int_equal(hf_track_standing_of(ctx, track, &x, &out), HF_OK);
    assert_true(out.answers >= 3 * out.compared);
    assert_true(!out.better && out.better_than_runs);
    assert_true(x == tracks_points[out.index]);
    hf_track_free(track);
    hf_context_free(ctx);
}

/* ---- advice -------------------------------------------------------------------------------------------- */

static hf_track *survey_of(hf_context *ctx, double drift)
{
    hf_track_settings s = tracks_settings(HF_TRACK_GP_UCB);
    hf_track *track = tracks_make(ctx, &s);
    uint64_t state = 11;
    for (size_t i = 0; i < 60; i++) {
        const double x = -4.0 + 8.0 * tracks_uniform(&state), t = (double)i;
        tracks_tell(ctx, track, t, x,
                    3.0 * exp(-0.5 * (x - 3.0 * sin(drift * t)) * (x - 3.0 * sin(drift * t))) + error_of(i),
                    0.0);
    }
    return track;
}

static size_t still_of(const hf_track_advice *a)
{
    size_t row = 0;
    while (!a->row[row].still) row++;
    return row;
}

static void advice_tells_drift_from_none(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_advice_settings s = hf_advice_settings_default();
    s.draws = 3;
    s.steps = 40;
    hf_track_advice out, again;
    hf_track *moving = survey_of(ctx, 0.1), *fixed = survey_of(ctx, 0.0), *learnt = NULL;
    assert_true(hf_track_advise(ctx, moving, &s, &out, &learnt) >= 0);
    assert_true(out.moving_pays && out.best == 0 && !out.row[0].still);
    for (size_t i = 1; i < out.rows; i++) assert_true(out.row[i].loss >= out.row[i - 1].loss);
    assert_near(out.row[still_of(&out)].saved, 0.0, 0.0);
    assert_near(out.noise, hf_track_settings_of(learnt)->noise, 0.0);
    assert_near(out.row[0].saved, out.row[still_of(&out)].loss - out.row[0].loss, 1e-12);
    hf_track_free(learnt);
    assert_true(hf_track_advise(ctx, moving, &s, &again, NULL) >= 0);
    assert_true(again.rows == out.rows && again.row[0].loss == out.row[0].loss);
    /* In a world that stays where it is nobody gains by moving, and who never forgets loses little. */
    assert_true(hf_track_advise(ctx, fixed, &s, &out, NULL) >= 0);
    assert_true(!out.moving_pays && out.row[out.best].still);
    assert_true(fabs(out.still[0]) < 0.5 && out.row[out.best].loss < 0.1);
    hf_track_free(moving);
    hf_track_free(fixed);
    hf_context_free(ctx);
}

/* A ridge that sways by two thirds more than its width, read at random places, with noise of variance 0.09. */
static void tell_ridge(hf_context *ctx, hf_track *track, uint64_t seed)
{
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, 0);
    for (size_t i = 0; i < 60; i++) {
        const double t = (double)i, x = -4.0 + 8.0 * hfi_stream_uniform(&stream);
        const double off = (x - 1.23 * sin(t / 25.0)) / 0.74;
        tracks_tell(ctx, track, t, x, 78.0 + 15.0 * exp(-off * off) + 0.3 * hfi_stream_normal(&stream), 0.0);
    }
}

/* Such a survey's evidence has several maxima. Advice ends at the highest, where a search from the truth ends. */
static void learning_finds_the_highest_evidence(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_advice_settings s = hf_advice_settings_default();
    s.draws = s.steps = 2;
    for (uint64_t seed = 16; seed <= 30; seed++) {
        hf_track_settings cold = tracks_settings(HF_TRACK_UI_GP_UCB), truth = cold;
        cold.kernel = NULL;
        truth.kernel = "15*se(lengthscale~0.6)";
        truth.noise = 0.09;
        truth.age.rate = sqrt(15.0) / 18.0;
        truth.negligible = INFINITY;
        hf_track *survey = tracks_make(ctx, &cold), *known = tracks_make(ctx, &truth);
        hf_track_advice out;
        tell_ridge(ctx, survey, seed);
        tell_ridge(ctx, known, seed);
        assert_true(hf_track_advise(ctx, survey, &s, &out, NULL) >= 0);
        assert_true(hf_track_fit(ctx, known) >= 0);
        assert_near(out.noise / hf_track_settings_of(known)->noise, 1.0, 0.02);
        assert_near(out.rate / hf_track_settings_of(known)->age.rate, 1.0, 0.02);
        hf_track_free(survey);
        hf_track_free(known);
    }
    hf_context_free(ctx);
}

static void answers_that_cost(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_advice_settings s = hf_advice_settings_default();
    s.draws = 2;
    s.steps = 25;
    s.queries = 4;
    hf_track_advice out;
    hf_track *track = survey_of(ctx, 0.1);
    assert_true(hf_track_advise(ctx, track, &s, &out, NULL) >= 0);
    assert_true(out.row[0].queries == 4 && out.row[0].answers > 3.0);
    assert_true(out.row[0].loss_of_runs > 1.2 * out.row[0].loss);
    s.costly = true;
    assert_true(hf_track_advise(ctx, track, &s, &out, NULL) >= 0);
    assert_int_equal(out.row[0].queries, 0);
    assert_near(out.row[0].loss_of_runs, out.row[0].loss, 1e-12);
    hf_track_free(track);
    hf_context_free(ctx);
}

static bool refuse(const char *stage, double done, double value, void *user)
{
    (void)value;
    (void)user;
    return strcmp(stage, "advise") != 0 || done < 0.3;
}

static void what_is_no_survey(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_advice_settings s = hf_advice_settings_default();
    hf_track_settings settings = tracks_settings(HF_TRACK_GP_UCB);
    hf_track_advice out = {.rows = 77};
    hf_track *track = tracks_make(ctx, &settings), *learnt = NULL;
    for (size_t i = 0; i < 20; i++) tracks_tell(ctx, track, 3.0, 0.2 * (double)i, (double)i, 0.0);
    assert_int_equal(hf_track_advise(ctx, track, &s, &out, &learnt), HF_ERR_NO_DATA); /* one time */
    hf_track_free(track);
    track = tracks_make(ctx, &settings);
    for (size_t i = 0; i < 20; i++) tracks_tell(ctx, track, (double)i, 0.2 * (double)i, 1.0, 0.0);
    assert_int_equal(hf_track_advise(ctx, track, &s, &out, &learnt), HF_ERR_NO_DATA); /* one value */
    hf_track_free(track);
    track = survey_of(ctx, 0.1);
    hf_context_set_progress(ctx, refuse, NULL);
    assert_int_equal(hf_track_advise(ctx, track, &s, &out, &learnt), HF_ERR_CANCELLED);
    assert_true(out.rows == 77 && learnt == NULL);
    hf_track_free(track);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gain_is_the_formula),
        cmocka_unit_test(who_wanders_is_told),
        cmocka_unit_test(tries_are_counted),
        cmocka_unit_test(advice_tells_drift_from_none),
        cmocka_unit_test(learning_finds_the_highest_evidence),
        cmocka_unit_test(answers_that_cost),
        cmocka_unit_test(what_is_no_survey),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
