/* SPDX-License-Identifier: Apache-2.0 */
/* A search ends before its time: when told to, at any of its reports; limits of time and
 * memory, which both ends and all boxes share. */
#include "bound/box_testing.h"

#include "branch/search.h"
#include "core/interval.h"
#include <holdfast/certify_uses.h>

#include <pthread.h>

enum {
    CLOUDS = 3,
    LABELS = 36
};

/* ---- what is asked ----------------------------------------------------------------------------------------------- */

/* A posterior with a box that takes long, and a classifier of three classes. */
typedef struct trial {
    cert c;
    hf_certify_settings settings;
    hf_sites *sites;
    hf_classifier *classifier;
    double x[INPUTS];
} trial;

static hf_classifier *make_classifier(hf_context *ctx)
{
    double x[LABELS * INPUTS];
    size_t label[LABELS];
    hf_kernel *kernel = NULL;
    hf_mean *mean = NULL;
    hf_classifier *out = NULL;
    hfi_stream stream;
    hfi_stream_init(&stream, 9, HFI_PURPOSE_TEST, 1);
    for (size_t i = 0; i < LABELS; i++) {
        label[i] = i % CLOUDS;
        for (size_t j = 0; j < INPUTS; j++)
            x[i * INPUTS + j] = 0.6 * hfi_stream_normal(&stream) + (j == label[i] ? 1.0 : 0.0);
    }
    assert_int_equal(hf_kernel_parse(ctx, "coregion(x4, outputs=3, rank=1, factor=0, own=1)*5*matern52", NULL,
                                     INPUTS + 1, &kernel),
                     HF_OK);
    assert_int_equal(hf_mean_create_outputs(ctx, INPUTS + 1, CLOUDS, &mean), HF_OK);
    if (hf_classify_exact(ctx, HF_LINK_SOFTMAX, HF_INFERENCE_LAPLACE, kernel, mean, LABELS, x, INPUTS, label,
                          CLOUDS, &out, NULL) < 0)
        fail_msg("%s", hf_context_message(ctx));
    hf_kernel_free(kernel);
    hf_mean_free(mean);
    return out;
}

static void begin(trial *t, hf_context *ctx)
{
    hfi_stream stream;
    double y[60];
    hfi_stream_init(&stream, 43, HFI_PURPOSE_TEST, 0);
    t->c = cert_make(ctx, "matern32(ard)", 60, 5, CERT_EXACT, false);
    cert_place(&t->c, "matern32(ard)", 1.0, &stream);
    t->settings = hf_certify_settings_default();
    t->settings.tolerance = 1e-9;
    t->classifier = make_classifier(ctx);
    for (size_t i = 0; i < 60; i++) y[i] = hfi_stream_normal(&stream);
    assert_int_equal(hf_sites_gaussian(ctx, 60, y, 0.05, NULL, &t->sites), HF_OK);
    for (size_t j = 0; j < INPUTS; j++) t->x[j] = 0.5 * (t->c.lower[j] + t->c.upper[j]);
}

static void end(trial *t)
{
    hf_sites_free(t->sites);
    hf_classifier_free(t->classifier);
    cert_drop(&t->c);
}

static hf_status ask_range(trial *t, hf_certify_what what, bool rigorous)
{
    hf_certify_settings settings = t->settings;
    hf_range range = {.lower = -77.0};
    double at[2 * INPUTS] = {-77.0};
    settings.rigorous = rigorous;
    const hf_status status = hf_certify(t->c.ctx, t->c.posterior, what, &settings, t->c.lower, t->c.upper,
                                        &range, at, at + INPUTS);
    if (status < 0) assert_true(range.lower == -77.0 && at[0] == -77.0);
    return status;
}

static hf_status ask_mean(trial *t)
{
    return ask_range(t, HF_CERTIFY_MEAN, false);
}

static hf_status ask_sd(trial *t)
{
    return ask_range(t, HF_CERTIFY_SD, false);
}

static hf_status ask_proof(trial *t)
{
    return hfi_interval_usable() ? ask_range(t, HF_CERTIFY_MEAN_PLUS, true) : ask_mean(t);
}

static hf_status ask_boxes(trial *t)
{
    double lower[3 * INPUTS], upper[3 * INPUTS];
    hf_range ranges[3];
    for (size_t k = 0; k < 3; k++) {
        memcpy(lower + k * INPUTS, t->c.lower, sizeof t->c.lower);
        memcpy(upper + k * INPUTS, t->c.upper, sizeof t->c.upper);
    }
    return hf_certify_boxes(t->c.ctx, t->c.posterior, HF_CERTIFY_MEAN, &t->settings, 3, lower, upper, ranges,
                            NULL, NULL);
}

static const double corner[INPUTS] = {-0.4, 0.1, -0.6}, other_corner[INPUTS] = {0.8, 0.9, 0.5},
                    within[INPUTS] = {0.3, 0.2, 0.1}, ones[INPUTS] = {1.0, 1.0, 1.0};

static hf_status ask_class(trial *t)
{
    hf_range range;
    return hf_certify_class(t->c.ctx, t->classifier, &t->settings, 1, corner, other_corner, &range, NULL,
                            NULL);
}

static hf_status ask_radius(trial *t)
{
    hf_radius radius;
    return hf_certify_radius(t->c.ctx, t->classifier, &t->settings, within, ones, 1.0, 0.1, &radius, NULL);
}

static hf_status ask_attack(trial *t)
{
    double attacked[INPUTS] = {-77.0};
    const hf_status status = hf_attack(t->c.ctx, t->classifier, HF_ATTACK_PGD, 12, 1, within, corner,
                                       other_corner, attacked, NULL);
    if (status < 0) assert_true(attacked[0] == -77.0);
    return status;
}

static hf_status ask_scores(trial *t)
{
    double lower[INPUTS] = {-77.0}, upper[INPUTS], step[INPUTS] = {30.0, 0.0, 0.0};
    const hf_status status =
        hf_explain(t->c.ctx, t->c.posterior, HF_CERTIFY_MEAN, &t->settings, 1, t->x, step, lower, upper);
    if (status < 0) assert_true(lower[0] == -77.0);
    return status;
}

static hf_status ask_linear(trial *t)
{
    double scores[4 * INPUTS], x[4 * INPUTS];
    hf_linear_settings settings = hf_linear_settings_default();
    settings.pairs = 20;
    for (size_t k = 0; k < 4; k++) memcpy(x + k * INPUTS, t->x, sizeof t->x);
    return hf_explain_linear(t->c.ctx, t->c.posterior, &settings, 4, x, ones, scores);
}

static hf_status ask_readings(trial *t)
{
    double damage[4] = {-77.0}, x[4 * INPUTS];
    for (size_t k = 0; k < 4; k++) memcpy(x + k * INPUTS, t->x, sizeof t->x);
    const hf_status status =
        hf_certify_readings(t->c.ctx, t->c.posterior, t->sites, 1, 4, x, INPUTS, damage, NULL);
    if (status < 0) assert_true(damage[0] == -77.0);
    return status;
}

/* ---- told to stop ------------------------------------------------------------------------------------------------ */

typedef struct listener {
    pthread_t caller;
    size_t calls, stop_at; /* 0: never */
} listener;

static bool listen(const char *stage, double done, double value, void *user)
{
    listener *l = user;
    (void)value;
    assert_true(pthread_equal(pthread_self(), l->caller));
    assert_true(stage[0] != '\0' && done <= 1.0);
    return ++l->calls != l->stop_at;
}

static size_t reports(trial *t, hf_status (*ask)(trial *), size_t stop_at, hf_status *status)
{
    listener l = {.caller = pthread_self(), .stop_at = stop_at};
    hf_context_set_progress(t->c.ctx, listen, &l);
    *status = ask(t);
    hf_context_set_progress(t->c.ctx, NULL, NULL);
    return l.calls;
}

static void any_report_can_cancel(void **state)
{
    static hf_status (*const asks[])(trial *) = {ask_mean,   ask_sd,      ask_proof,  ask_boxes,
                                                 ask_class,  ask_radius,  ask_attack, ask_scores,
                                                 ask_linear, ask_readings};
    static const size_t stops[] = {1, 2, 4};
    trial t;
    begin(&t, *state);
    t.settings.node_limit = 100;
    for (int threads = 1; threads <= 3; threads += 2) {
        assert_int_equal(hf_context_set_threads(t.c.ctx, threads), HF_OK);
        for (size_t a = 0; a < sizeof asks / sizeof *asks; a++) {
            hf_status status;
            if (reports(&t, asks[a], 0, &status) < 4) fail_msg("question %zu reports seldom", a);
            if (status < 0) fail_msg("question %zu: %s", a, hf_context_message(t.c.ctx));
            for (size_t k = 0; k < sizeof stops / sizeof *stops; k++) {
                assert_int_equal(reports(&t, asks[a], stops[k], &status), stops[k]);
                assert_int_equal(status, HF_ERR_CANCELLED);
                assert_non_null(strstr(hf_context_message(t.c.ctx), "cancelled"));
            }
        }
    }
    end(&t);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* Bytes that are out, and the most there were. */
typedef struct meter {
    _Atomic size_t now, most;
} meter;

static void *allocate(size_t bytes, void *user)
{
    meter *m = user;
    size_t *block = malloc(bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    const size_t now = atomic_fetch_add(&m->now, bytes) + bytes;
    if (now > m->most) m->most = now;
    return (char *)block + 16;
}

static void release(void *memory, void *user)
{
    meter *m = user;
    size_t *block = (size_t *)(void *)((char *)memory - 16);
    atomic_fetch_sub(&m->now, *block);
    free(block);
}

static hf_range limited(cert *c, hf_certify_settings settings)
{
    hf_range range;
    assert_true(hf_certify(c->ctx, c->posterior, HF_CERTIFY_MEAN, &settings, c->lower, c->upper, &range, NULL,
                           NULL) >= 0);
    return range;
}

static void memory_has_a_limit(void **state)
{
    (void)state;
    const size_t bytes = 1u << 16;
    meter m = {0, 0};
    const hf_allocator metered = {allocate, release, &m};
    hf_context *ctx = hf_context_create_with(&metered);
    trial t;
    begin(&t, ctx);
    for (int rigorous = 0; rigorous <= (hfi_interval_usable() ? 1 : 0); rigorous++) {
        t.settings.rigorous = rigorous == 1;
        t.settings.node_limit = 1;
        m.most = m.now;
        const hf_range root = limited(&t.c, t.settings);
        const size_t alone = m.most;
        t.settings.node_limit = 0;
        t.settings.memory_limit = 1;
        const hf_range least = limited(&t.c, t.settings);
        assert_int_equal(least.stop, HF_CERTIFY_MEMORY);
        assert_non_null(strstr(hf_context_message(ctx), "memory limit"));
        assert_true(least.lower > root.lower && least.upper < root.upper && least.nodes > 400);
        t.settings.memory_limit = bytes;
        m.most = m.now;
        const hf_range more = limited(&t.c, t.settings);
        assert_int_equal(more.stop, HF_CERTIFY_MEMORY);
        assert_true(more.lower >= least.lower && more.upper <= least.upper && more.nodes > least.nodes);
        assert_true(more.lower <= more.lower_attained && more.upper >= more.upper_attained);
        assert_true(m.most - alone <= bytes);
        assert_int_equal(hf_context_set_threads(ctx, 3), HF_OK);
        const hf_range again = limited(&t.c, t.settings);
        assert_true(again.lower == more.lower && again.upper == more.upper);
        assert_int_equal(again.nodes, more.nodes);
    }
    end(&t);
    hf_context_free(ctx);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

/* Both ends get on, where one alone would take far longer than there ever is. */
static void both_ends_have_time(void **state)
{
    trial t;
    begin(&t, *state);
    for (int rigorous = 0; rigorous <= (hfi_interval_usable() ? 1 : 0); rigorous++) {
        bool both = false;
        t.settings.rigorous = rigorous == 1;
        t.settings.time_limit = 0.0;
        t.settings.node_limit = 1;
        const hf_range root = limited(&t.c, t.settings);
        t.settings.node_limit = 0;
        for (double seconds = 0.05; seconds < 10.0 && !both; seconds *= 2.0) {
            t.settings.time_limit = seconds;
            const hf_range range = limited(&t.c, t.settings);
            assert_int_equal(range.stop, HF_CERTIFY_TIME);
            both = range.lower > root.lower && range.upper < root.upper;
        }
        assert_true(both);
    }
    end(&t);
}

/* Where it cannot be known in time that nothing is below a value, half of the time is the upper end's. */
static void decisions_leave_half_of_it(void **state)
{
    trial t;
    bool both = false;
    begin(&t, *state);
    t.settings.node_limit = 1;
    const hf_range root = limited(&t.c, t.settings);
    t.settings.node_limit = 20000;
    const hf_range far = limited(&t.c, t.settings);
    t.settings.node_limit = 0;
    t.settings.decide_at = 0.5 * (far.lower + far.lower_attained);
    for (double seconds = 0.05; seconds < 10.0 && !both; seconds *= 2.0) {
        t.settings.time_limit = seconds;
        const hf_range range = limited(&t.c, t.settings);
        both = range.stop == HF_CERTIFY_DECIDED || (range.lower > root.lower && range.upper < root.upper);
    }
    assert_true(both);
    end(&t);
}

/* Where there is no time at all each box has the bounds of the whole box. */
static void all_boxes_share_the_time(void **state)
{
    trial t;
    hf_range alone, ranges[4];
    double lower[4 * INPUTS], upper[4 * INPUTS];
    begin(&t, *state);
    for (size_t k = 0; k < 4; k++) {
        memcpy(lower + k * INPUTS, t.c.lower, sizeof t.c.lower);
        memcpy(upper + k * INPUTS, t.c.upper, sizeof t.c.upper);
        lower[k * INPUTS] -= (double)k;
    }
    for (int rigorous = 0; rigorous <= (hfi_interval_usable() ? 1 : 0); rigorous++) {
        t.settings.rigorous = rigorous == 1;
        t.settings.total_time = 1e-9;
        assert_int_equal(hf_certify_boxes(t.c.ctx, t.c.posterior, HF_CERTIFY_MEAN, &t.settings, 4, lower,
                                          upper, ranges, NULL, NULL),
                         HF_WARN_NOT_CONVERGED);
        t.settings.total_time = 0.0;
        t.settings.node_limit = 1;
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(hf_certify(t.c.ctx, t.c.posterior, HF_CERTIFY_MEAN, &t.settings,
                                        lower + k * INPUTS, upper + k * INPUTS, &alone, NULL, NULL),
                             HF_WARN_NOT_CONVERGED);
            assert_int_equal(ranges[k].stop, HF_CERTIFY_TIME);
            assert_true(ranges[k].lower == alone.lower && ranges[k].upper == alone.upper);
        }
        t.settings.node_limit = 0;
    }
    t.settings = hf_certify_settings_default();
    t.settings.total_time = 1e-9;
    hf_decision decision;
    hf_radius radius;
    assert_true(hf_certify_decision(t.c.ctx, t.classifier, NULL, &t.settings, 1, within, corner, other_corner,
                                    &decision, NULL) >= 0);
    assert_true(decision.nodes <= 2);
    assert_true(
        hf_certify_radius(t.c.ctx, t.classifier, &t.settings, within, ones, 1.0, 0.1, &radius, NULL) >= 0);
    assert_true(radius.certified < radius.broken);
    t.settings.total_time = -1.0;
    assert_int_equal(
        hf_certify(t.c.ctx, t.c.posterior, HF_CERTIFY_MEAN, &t.settings, lower, upper, &alone, NULL, NULL),
        HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(t.c.ctx), "-1"));
    end(&t);
}

static void assert_in(double seconds, double deadline)
{
    const double away = deadline - hfi_now();
    assert_true(away <= seconds && away > seconds - 30.0);
}

static void shares_are_even_and_pass_on(void **state)
{
    (void)state;
    hf_certify_settings settings = hf_certify_settings_default();
    const double end = hfi_now() + 1000.0;
    assert_true(settings.time_limit == 60.0);
    assert_in(60.0, hfi_box_deadline(&settings, INFINITY, 5, 1));
    assert_in(60.0, hfi_box_deadline(&settings, end, 5, 1));
    settings.time_limit = 0.0;
    assert_true(hfi_box_deadline(&settings, INFINITY, 5, 1) == INFINITY);
    assert_in(200.0, hfi_box_deadline(&settings, end, 5, 1));
    assert_in(600.0, hfi_box_deadline(&settings, end, 5, 3));
    assert_in(1000.0, hfi_box_deadline(&settings, end, 2, 3));
    assert_in(1000.0, hfi_box_deadline(&settings, end, 1, 1));
    assert_in(0.0, hfi_box_deadline(&settings, hfi_now() - 5.0, 2, 1));
    assert_true(hfi_call_deadline(&settings) == INFINITY);
    assert_true(hfi_share_time(&settings, INFINITY, 3).total_time == 0.0);
    const double none = hfi_share_time(&settings, hfi_now() - 5.0, 3).total_time;
    assert_true(none > 0.0 && none < 1e-9);
    settings.total_time = 900.0;
    assert_in(900.0, hfi_call_deadline(&settings));
    assert_in(300.0, hfi_now() + hfi_share_time(&settings, hfi_call_deadline(&settings), 3).total_time);
}

/* A reading that is far away and says what the prior mean does has a weight of exactly 0: bounds of the
 * others hold as before. */
static void weights_of_zero_leave_bounds_true(void **state)
{
    enum {
        N = 15
    };
    const char *const kernels[] = {"matern12", "matern32", "matern52", "se"};
    hf_context *ctx = *state;
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        hf_kernel *kernel = parse(ctx, kernels[e], 1);
        hf_mean *prior = NULL;
        hf_sites *sites = NULL;
        hf_posterior *posterior = NULL;
        double x[N], y[N], at, low = 0.0, high = 6.0, mean;
        for (size_t i = 0; i < N; i++) {
            x[i] = i + 1 < N ? 0.4 * (double)i : 1e5;
            y[i] = i + 1 < N ? sin(3.0 * x[i]) : 0.0;
        }
        assert_int_equal(hf_mean_create(ctx, HF_MEAN_ZERO, 1, &prior), HF_OK);
        assert_int_equal(hf_sites_gaussian(ctx, N, y, 0.05, NULL, &sites), HF_OK);
        assert_int_equal(hf_solve_exact(ctx, kernel, prior, sites, x, 1, &posterior), HF_OK);
        assert_true(posterior->solution.t[N - 1] == 0.0);
        hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, posterior);
        hf_certify_settings settings = hf_certify_settings_default();
        for (size_t nodes = 2; nodes <= 200; nodes *= 10) {
            hf_range range;
            settings.node_limit = nodes;
            assert_true(
                hf_certify(ctx, posterior, HF_CERTIFY_MEAN, &settings, &low, &high, &range, NULL, NULL) >= 0);
            for (size_t k = 0; k <= 300; k++) {
                at = 0.02 * (double)k;
                assert_int_equal(hf_predict_latent(posterior, workspace, &at, &mean, NULL, NULL, NULL),
                                 HF_OK);
                assert_true(range.lower <= mean && mean <= range.upper);
            }
        }
        hf_posterior_workspace_free(workspace);
        hf_posterior_free(posterior);
        hf_sites_free(sites);
        hf_mean_free(prior);
        hf_kernel_free(kernel);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_context, drop_context)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(weights_of_zero_leave_bounds_true),
        TEST(any_report_can_cancel),
        TEST(memory_has_a_limit),
        TEST(both_ends_have_time),
        TEST(decisions_leave_half_of_it),
        TEST(all_boxes_share_the_time),
        TEST(shares_are_even_and_pass_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
