/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of relevance pursuit: what a variance of its own gains a reading against the objective itself,
 * searches, the prior of supports. */
#include "outliers/outliers.h"
#include "outliers/pursuit_impl.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 40,
    D = 2,
    Z = 9,
    MOST = 16,
    MISSING = 11,
    EXACT = -1, /* beside the methods of the inducing solver */
    WAYS = 4
};

static const int ways[WAYS] = {EXACT, HF_INDUCING_VFE, HF_INDUCING_FITC, HF_INDUCING_DTC};

/* A trainer that owns its evaluator alone. */
typedef struct fixture {
    hf_context *ctx;
    hfi_trainer t;
    size_t index[MOST];
    double lower[MOST], upper[MOST], mean[MOST], sd[MOST], state[MOST];
    double x[N * D], y[N], extra[N];
} fixture;

static void make_evaluator(fixture *f, int way)
{
    hfi_evaluator *e = &f->t.evaluator;
    if (way == EXACT) {
        assert_int_equal(hfi_evaluator_init(f->ctx, e, false, N, D, f->x, D), HF_OK);
        return;
    }
    hfi_inducing u;
    assert_int_equal(hfi_inducing_init(f->ctx, (hf_inducing_method)way, Z, D, f->x, D, &u), HF_OK);
    assert_int_equal(hfi_evaluator_init_inducing(f->ctx, e, N, D, f->x, D, &u), HF_OK);
}

static void make_readings(fixture *f)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 5, HFI_PURPOSE_TEST, 2);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < D; j++) f->x[i * D + j] = 4.0 * hfi_stream_uniform(&stream) - 2.0;
        f->y[i] = sin(2.0 * f->x[i * D]) + 0.3 * f->x[i * D + 1] + 0.1 * hfi_stream_normal(&stream);
        f->extra[i] = i % 7 == 0 ? 0.02 : 0.0;
    }
    f->y[3] += 3.0;
    f->y[20] -= 8.0;
    f->y[31] += 400.0;
    f->y[MISSING] = NAN;
}

static void make(fixture *f, int way)
{
    memset(f, 0, sizeof *f);
    f->ctx = hf_context_create();
    assert_non_null(f->ctx);
    make_readings(f);
    make_evaluator(f, way);
    hfi_trainer *t = &f->t;
    hfi_evaluator *e = &t->evaluator;
    assert_int_equal(hf_kernel_parse(f->ctx, "matern52(ard)", NULL, D, &e->kernel), HF_OK);
    assert_int_equal(hf_mean_create(f->ctx, HF_MEAN_CONSTANT, D, &e->mean), HF_OK);
    assert_int_equal(hf_sites_gaussian(f->ctx, N, f->y, 0.05, f->extra, &e->sites), HF_OK);
    assert_int_equal(hfi_evaluator_select(e), HF_OK);
    t->noise = hf_kernel_parameters(e->kernel) + hf_mean_coefficients(e->mean);
    t->count = t->free_count = t->noise + 1;
    t->train_mean = true;
    for (size_t i = 0; i < t->count; i++) {
        f->index[i] = i;
        f->lower[i] = -8.0;
        f->upper[i] = 8.0;
        f->sd[i] = 2.0;
    }
    t->free_index = f->index;
    t->lower = f->lower;
    t->upper = f->upper;
    t->prior_mean = f->mean;
    t->prior_sd = f->sd;
    hfi_trainer_get(t, f->state);
}

static void drop(fixture *f)
{
    hfi_evaluator *e = &f->t.evaluator;
    hf_kernel_free(e->kernel);
    hf_mean_free(e->mean);
    hf_sites_free(e->sites);
    hfi_evaluator_free(e);
    hf_context_free(f->ctx);
}

static void start(fixture *f, hfi_pursuit *p)
{
    assert_int_equal(hfi_pursuit_init(&f->t, p), HF_OK);
    memcpy(p->now.state, f->state, f->t.count * sizeof *f->state);
}

static void add(hfi_pursuit *p, size_t row, double rho)
{
    p->now.size += !p->now.member[row];
    p->now.member[row] = true;
    p->now.rho[row] = rho;
}

static double objective(hfi_pursuit *p)
{
    double value = NAN;
    assert_int_equal(hfi_pursuit_set(p, &p->now), HF_OK);
    assert_int_equal(hfi_evaluator_run(&p->trainer->evaluator, HF_OBJECTIVE_EVIDENCE, &value, NULL), HF_OK);
    return value;
}

/* The objective with another variance of one reading, which is then what it was. */
static double objective_at(hfi_pursuit *p, size_t row, double rho)
{
    const double kept = p->now.rho[row];
    p->now.rho[row] = rho;
    const double value = objective(p);
    p->now.rho[row] = kept;
    return value;
}

/* Largest objective over rho = exp(u) by golden section. */
static double search(hfi_pursuit *p, size_t row, double low, double high, double *rho)
{
    const double ratio = 0.6180339887498949;
    for (int step = 0; step < 60; step++) {
        const double a = high - ratio * (high - low), b = low + ratio * (high - low);
        if (objective_at(p, row, exp(a)) > objective_at(p, row, exp(b)))
            high = b;
        else
            low = a;
    }
    *rho = exp(0.5 * (low + high));
    return objective_at(p, row, *rho);
}

static void check_reading(hfi_pursuit *p, size_t row)
{
    const hfi_outlook *o = &p->outlook[row];
    const double without = objective_at(p, row, 0.0), best = hfi_pursuit_best(o);
    const double tolerance = 1e-9 * (1.0 + fabs(without));
    for (double rho = 1e-4; rho < 1e7; rho *= 31.0) {
        assert_near(hfi_pursuit_gain(o, rho), objective_at(p, row, rho) - without, tolerance);
        const double h = 1e-4 * rho,
                     quotient = (objective_at(p, row, rho + h) - objective_at(p, row, rho - h)) / (2.0 * h);
        assert_near(rho * hfi_pursuit_slope(o, rho), rho * quotient, 1e-4 * tolerance / 1e-9);
        assert_true(hfi_pursuit_gain(o, rho) <= hfi_pursuit_gain(o, best) + tolerance);
    }
    double found = 0.0;
    const double most = search(p, row, -12.0, 16.0, &found) - without;
    if (best > 1e-3) {
        assert_near(hfi_pursuit_gain(o, best), most, tolerance);
        assert_near(log(found), log(best), 1e-3);
    } else {
        assert_true(most <= hfi_pursuit_gain(o, best) + tolerance);
    }
}

static void gains_are_those_of_the_objective(void **state)
{
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        fixture f;
        hfi_pursuit p;
        make(&f, ways[w]);
        start(&f, &p);
        add(&p, 20, 5.0);
        objective(&p);
        assert_int_equal(hfi_pursuit_look(&p), HF_OK);
        const size_t rows[] = {0, 3, 4, 7, 20, 28, 31, 39};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) check_reading(&p, rows[k]);
        assert_near(p.outlook[MISSING].variance, 0.0, 0.0);
        hfi_pursuit_free(&p);
        drop(&f);
    }
}

/* Value + prior at what a search ended in, with one hyperparameter or one eta moved. */
static double moved(hfi_pursuit *p, size_t k, size_t row, double h)
{
    const hfi_trainer *t = p->trainer;
    double *place = k < t->count ? &p->now.state[k] : &p->now.rho[row];
    const double kept = *place;
    *place += k < t->count ? h : h * (kept + 0.1);
    const double total = objective(p) + hfi_trainer_log_prior(t, p->now.state);
    *place = kept;
    return total;
}

static void searches_end_where_nothing_can_be_gained(void **state)
{
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        fixture f;
        hfi_pursuit p;
        make(&f, ways[w]);
        start(&f, &p);
        const size_t rows[] = {3, 20, 31};
        for (size_t k = 0; k < 3; k++) add(&p, rows[k], 1.0);
        const double before = objective(&p) + hfi_trainer_log_prior(&f.t, p.now.state);
        assert_int_equal(hfi_pursuit_maximise(&p, 200), HF_OK);
        const double after = p.now.found.value + p.now.found.log_prior;
        assert_true(after > before);
        assert_near(objective(&p), p.now.found.value, 1e-9 * fabs(p.now.found.value));
        for (size_t k = 0; k < f.t.count + 3; k++)
            for (int sign = -1; sign < 2; sign += 2) {
                const size_t row = rows[k < f.t.count ? 0 : k - f.t.count];
                assert_true(moved(&p, k, row, sign * 0.02) < after + 1e-4);
            }
        /* The variance of a reading far out is its distance from what the others say, squared. */
        assert_true(p.now.rho[31] > 1e4 && p.now.rho[20] > 10.0);
        hfi_pursuit_free(&p);
        drop(&f);
    }
}

static void every_step_of_a_path_gains(void **state)
{
    (void)state;
    fixture f;
    hfi_pursuit p;
    make(&f, EXACT);
    start(&f, &p);
    assert_int_equal(hfi_pursuit_maximise(&p, 60), HF_OK);
    double before = p.now.found.value + p.now.found.log_prior;
    for (int step = 0; step < 3; step++) {
        assert_int_equal(hfi_pursuit_look(&p), HF_OK);
        size_t row = 0;
        double gain = 0.0;
        for (size_t i = 0; i < N; i++) {
            if (p.now.member[i] || i == MISSING) continue;
            const double here = hfi_pursuit_gain(&p.outlook[i], hfi_pursuit_best(&p.outlook[i]));
            if (here > gain) row = i;
            gain = fmax(gain, here);
        }
        add(&p, row, hfi_pursuit_best(&p.outlook[row]));
        /* First by exactly the gain that was foreseen, then by what the search makes of it. */
        assert_near(objective(&p) + p.now.found.log_prior, before + gain, 1e-8 * fabs(before));
        assert_int_equal(hfi_pursuit_maximise(&p, 60), HF_OK);
        assert_true(p.now.found.value + p.now.found.log_prior >= before + gain - 1e-8 * fabs(before));
        before = p.now.found.value + p.now.found.log_prior;
    }
    assert_true(p.now.member[3] && p.now.member[20] && p.now.member[31]);
    hfi_pursuit_free(&p);
    drop(&f);
}

static void the_prior_counts_supports_and_what_their_variances_cost(void **state)
{
    (void)state;
    assert_near(hfi_pursuit_log_prior(100, 0), 0.0, 1e-12);
    for (size_t k = 0; k < 99; k++) {
        const double step = hfi_pursuit_log_prior(100, k) - hfi_pursuit_log_prior(100, k + 1);
        const double supports = log((100.0 - (double)k) / ((double)k + 1.0));
        assert_near(step, 0.05 + supports + log(100.0), 1e-10);
    }
    assert_near(hfi_pursuit_log_prior(10, 2), -1.0 - log(45.0) - 2.0 * log(10.0), 1e-12);
}

static void fits_find_the_wild_readings(void **state)
{
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        fixture f;
        make(&f, ways[w]);
        hf_fit_settings settings = hf_fit_settings_default();
        bool suspected[N] = {false};
        size_t rounds = 0;
        assert_true(hfi_pursuit_fit(&f.t, &settings, f.state, &rounds, suspected) >= 0);
        assert_true(rounds > 1);
        for (size_t i = 0; i < N; i++) assert_int_equal(suspected[i], i == 3 || i == 20 || i == 31);
        const hf_sites *sites = f.t.evaluator.sites;
        for (size_t i = 0; i < N; i++) {
            if (i == MISSING) continue;
            const double s = hf_sites_noise(sites) + f.extra[i];
            assert_near(hf_sites_variances(sites)[i] * hf_sites_weights(sites)[i], s, 1e-12 * s);
            if (!suspected[i]) assert_true(hf_sites_weights(sites)[i] >= 0.25);
        }
        assert_near(log(hf_sites_noise(sites)), f.state[f.t.noise], 1e-12);
        drop(&f);
    }
}

static void threads_change_no_digit(void **state)
{
    (void)state;
    for (int w = 0; w < 2; w++) {
        double result[2][MOST], weight[2][N];
        for (int k = 0; k < 2; k++) {
            fixture f;
            make(&f, ways[w]);
            hf_context_set_threads(f.ctx, 1 + 2 * k);
            hf_fit_settings settings = hf_fit_settings_default();
            settings.iterations = 10;
            bool suspected[N];
            size_t rounds = 0;
            assert_true(hfi_pursuit_fit(&f.t, &settings, f.state, &rounds, suspected) >= 0);
            memcpy(result[k], f.state, sizeof f.state);
            memcpy(weight[k], hf_sites_weights(f.t.evaluator.sites), sizeof weight[k]);
            drop(&f);
        }
        assert_memory_equal(result[0], result[1], sizeof result[0]);
        assert_memory_equal(weight[0], weight[1], sizeof weight[0]);
    }
}

static bool stop_soon(const char *stage, double done, double value, void *user)
{
    (void)stage;
    (void)done;
    (void)value;
    int *calls = user;
    return ++*calls < 30;
}

static void a_fit_that_ends_early_leaves_the_sites(void **state)
{
    (void)state;
    fixture f;
    make(&f, EXACT);
    hf_fit_settings settings = hf_fit_settings_default();
    bool suspected[N] = {false};
    size_t rounds = 77;
    int calls = 0;
    hf_context_set_progress(f.ctx, stop_soon, &calls);
    assert_int_equal(hfi_pursuit_fit(&f.t, &settings, f.state, &rounds, suspected), HF_ERR_CANCELLED);
    assert_int_equal(rounds, 77);
    for (size_t i = 0; i < N; i++) {
        assert_near(f.t.evaluator.sites->extra[i], f.extra[i], 0.0);
        assert_false(suspected[i]);
        if (i != MISSING) assert_near(hf_sites_weights(f.t.evaluator.sites)[i], 1.0, 0.0);
    }
    drop(&f);
}

static void what_it_is_not_for(void **state)
{
    (void)state;
    fixture f;
    make(&f, EXACT);
    hf_fit_settings settings = hf_fit_settings_default();
    bool suspected[N];
    size_t rounds;
    f.t.objective = HF_OBJECTIVE_LOO;
    assert_int_equal(hfi_pursuit_fit(&f.t, &settings, f.state, &rounds, suspected), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(f.ctx), "evidence"));
    f.t.objective = HF_OBJECTIVE_EVIDENCE;
    double centre[N] = {0};
    hf_sites_free(f.t.evaluator.sites);
    assert_int_equal(hf_sites_robust(f.ctx, N, f.y, 0.05, NULL, centre, 1.0, &f.t.evaluator.sites), HF_OK);
    assert_int_equal(hfi_pursuit_fit(&f.t, &settings, f.state, &rounds, suspected), HF_ERR_ARGUMENT);
    assert_non_null(strstr(hf_context_message(f.ctx), "plain readings"));
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gains_are_those_of_the_objective),
        cmocka_unit_test(searches_end_where_nothing_can_be_gained),
        cmocka_unit_test(every_step_of_a_path_gains),
        cmocka_unit_test(the_prior_counts_supports_and_what_their_variances_cost),
        cmocka_unit_test(fits_find_the_wild_readings),
        cmocka_unit_test(threads_change_no_digit),
        cmocka_unit_test(a_fit_that_ends_early_leaves_the_sites),
        cmocka_unit_test(what_it_is_not_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
