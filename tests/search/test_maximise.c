/* SPDX-License-Identifier: Apache-2.0 */
/* One maximisation by three optimisers: quadratics in boxes, curved valleys, places without a value, errors;
 * entries that are held; priors, progress; and answers that a journal gives in place of the objective. */
#include "checkpoint/journal.h"
#include "data/support.h"
#include "search/maximise.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/assert_near.h"

enum {
    N = 5
};

/* Counts what a search asks, and says where there is nothing. */
typedef struct landscape {
    size_t evaluations, looks;
    double wall; /* no value where the first entry is beyond */
    bool blind;  /* its curvature is the unit matrix, whatever it is */
    hf_status error;
    size_t error_at; /* evaluation that fails, from 1; 0: none */
    double at[N];    /* the point evaluated last */
} landscape;

static hf_status count_one(landscape *l, size_t n, const double *point)
{
    l->evaluations++;
    memcpy(l->at, point, n * sizeof *point);
    if (l->evaluations == l->error_at) return l->error;
    return point[0] > l->wall ? HF_ERR_NOT_POSITIVE_DEFINITE : HF_WARN_JITTER;
}

/* -x'Ax/2 + b'x, A = 1 1' + diag(1 .. N), b alternating */
static double entry(size_t i, size_t j)
{
    return 1.0 + (i == j ? (double)(i + 1) : 0.0);
}

static hf_status bowl(void *arg, const double *x, double *value, double *gradient)
{
    const hf_status s = count_one(arg, N, x);
    *value = 0.0;
    for (size_t i = 0; i < N; i++) {
        const double b = i % 2 == 0 ? 2.0 : -1.5;
        gradient[i] = b;
        for (size_t j = 0; j < N; j++) gradient[i] -= entry(i, j) * x[j];
        *value += 0.5 * x[i] * (gradient[i] + b);
    }
    return s;
}

static hf_status bowl_curvature(void *arg, const double *x, double *matrix)
{
    (void)x;
    landscape *l = arg;
    l->looks++;
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i < N; i++) matrix[i + j * N] = l->blind ? (i == j ? 1.0 : 0.0) : entry(i, j);
    return HF_OK;
}

/* Rosenbrock's valley, upside down. */
static hf_status valley(void *arg, const double *x, double *value, double *gradient)
{
    const double a = 1.0 - x[0], b = x[1] - x[0] * x[0];
    *value = -(a * a + 100.0 * b * b);
    gradient[0] = 2.0 * a + 400.0 * x[0] * b;
    gradient[1] = -200.0 * b;
    return count_one(arg, 2, x);
}

static hf_status valley_curvature(void *arg, const double *at, double *matrix)
{
    landscape *l = arg;
    l->looks++;
    const double x = at[0], y = at[1];
    assert_memory_equal(at, l->at, 2 * sizeof *at);
    matrix[0] = l->blind ? 1.0 : 2.0 - 400.0 * (y - 3.0 * x * x);
    matrix[1] = matrix[2] = l->blind ? 0.0 : -400.0 * x;
    matrix[3] = l->blind ? 1.0 : 200.0;
    return HF_OK;
}

static const double low[N] = {-INFINITY, -0.2, -INFINITY, -0.1, -3.0},
                    high[N] = {0.4, 5.0, INFINITY, 0.1, 3.0};
static const double far_low[N] = {-9.0, -9.0, -9.0, -9.0, -9.0}, far_high[N] = {9.0, 9.0, 9.0, 9.0, 9.0};

static const hfi_objective_kind bowls = {.evaluate = bowl, .curvature = bowl_curvature},
                                valleys = {.evaluate = valley, .curvature = valley_curvature};

typedef struct task {
    hfi_objective objective;
    hfi_space space;
    hfi_search_settings settings;
    hfi_optimum found;
} task;

static task in_bowl(landscape *l)
{
    return (task){.objective = {.kind = &bowls, .self = l, .count = N},
                  .space = hfi_space_box(N, low, high),
                  .settings = {.by = hfi_by_trust_region, .most = 100}};
}

static task in_valley(landscape *l)
{
    return (task){.objective = {.kind = &valleys, .self = l, .count = 2},
                  .space = hfi_space_box(2, far_low, far_high),
                  .settings = {.by = hfi_by_trust_region, .most = 200}};
}

static hf_status solve(hf_context *ctx, task *t, double *x)
{
    return hfi_maximise(ctx, &t->objective, &t->space, &t->settings, x, &t->found);
}

/* Inside: no slope. At a bound: none that leads inside. */
static void test_quadratic_in_a_box(void **state)
{
    for (int blind = 0; blind < 2; blind++) {
        landscape l = {.wall = INFINITY, .blind = blind == 1};
        task search = in_bowl(&l);
        double x[N] = {-2.0, 7.0, 1.0, 0.0, -3.0}, gradient[N], value = 0.0;
        assert_int_equal(solve(*state, &search, x), HF_OK);
        assert_int_equal(search.found.stop, HF_STOP_CONVERGED);
        assert_int_equal(search.found.status, HF_WARN_JITTER);
        assert_true(l.evaluations <= (blind ? 40 : 12));
        size_t bounds = 0;
        (void)bowl(&l, x, &value, gradient);
        assert_true(value == search.found.value);
        for (size_t k = 0; k < N; k++) {
            assert_true(x[k] >= low[k] && x[k] <= high[k]);
            if (x[k] == low[k]) assert_true(gradient[k] < 1e-3);
            if (x[k] == high[k]) assert_true(gradient[k] > -1e-3);
            if (x[k] == low[k] || x[k] == high[k])
                bounds++;
            else
                assert_true(fabs(gradient[k]) < 1e-2);
        }
        assert_true(bounds >= 2);
    }
}

static void test_valley(void **state)
{
    for (int blind = 0; blind < 2; blind++) {
        landscape l = {.wall = INFINITY, .blind = blind == 1};
        task search = in_valley(&l);
        double x[2] = {-1.2, 1.0};
        assert_int_equal(solve(*state, &search, x), HF_OK);
        assert_true(l.evaluations <= 200);
        if (fabs(x[0] - 1.0) > 1e-2 || fabs(x[1] - 1.0) > 2e-2)
            fail_msg("ended at %g, %g after %zu evaluations", x[0], x[1], l.evaluations);
        assert_true(l.looks >= 1);
    }
}

static void test_steps_back_from_where_there_is_no_value(void **state)
{
    landscape l = {.wall = 0.1};
    task search = in_bowl(&l);
    double x[N] = {-2.0, 0.0, 1.0, 0.0, 0.0};
    assert_int_equal(solve(*state, &search, x), HF_OK);
    assert_true(x[0] <= 0.1);
    assert_true(isfinite(search.found.value));
    l = (landscape){.wall = -5.0};
    double outside[N] = {0.0};
    assert_int_equal(solve(*state, &search, outside), HF_ERR_NOT_POSITIVE_DEFINITE);
    for (size_t k = 0; k < N; k++) assert_true(outside[k] == 0.0);
}

static void test_errors_and_limits(void **state)
{
    for (size_t at = 1; at <= 3; at++) {
        landscape l = {.wall = INFINITY, .error = HF_ERR_CANCELLED, .error_at = at};
        task search = in_valley(&l);
        double x[2] = {-1.2, 1.0};
        assert_int_equal(solve(*state, &search, x), HF_ERR_CANCELLED);
        assert_int_equal(l.evaluations, at);
        assert_true(x[0] == -1.2 && x[1] == 1.0);
    }
    landscape l = {.wall = INFINITY};
    task search = in_valley(&l);
    search.settings.most = 4;
    double x[2] = {-1.2, 1.0};
    assert_int_equal(solve(*state, &search, x), HF_OK);
    assert_int_equal(l.evaluations, 4);
    assert_int_equal(search.found.stop, HF_STOP_ITERATIONS);
}

/* With less to be gained than what is asked for, nothing is tried. */
static void test_enough_is_enough(void **state)
{
    landscape l = {.wall = INFINITY};
    task search = in_bowl(&l);
    double x[N] = {0.0}, again[N];
    search.settings.enough = 1e-6;
    assert_int_equal(solve(*state, &search, x), HF_OK);
    const double best = search.found.value;
    memcpy(again, x, sizeof again);
    again[2] += 0.01;
    search.settings.enough = 0.1;
    l = (landscape){.wall = INFINITY};
    assert_int_equal(solve(*state, &search, again), HF_OK);
    assert_int_equal(l.evaluations, 1);
    assert_int_equal(search.found.stop, HF_STOP_LEVEL);
    assert_true(search.found.value > best - 0.1);
}

/* ---- L-BFGS and Adam ---------------------------------------------------------------------------------------- */

typedef struct hill {
    int calls, improvements;
    hf_status failure; /* of places with point[0] > 2 */
    double best;       /* told by the search */
} hill;

/* -(x - 1)^2 - 5 (y - x^2)^2 */
static hf_status height(void *self, const double *point, double *value, double *gradient)
{
    hill *h = self;
    const double x = point[0], y = point[1], off = y - x * x;
    h->calls++;
    if (x > 2.0 && h->failure < 0) return h->failure;
    *value = -(x - 1.0) * (x - 1.0) - 5.0 * off * off;
    if (!gradient) return HF_OK;
    gradient[0] = -2.0 * (x - 1.0) + 20.0 * off * x;
    gradient[1] = -10.0 * off;
    return HF_OK;
}

static void accepted(void *self, double value)
{
    hill *h = self;
    assert_true(h->improvements == 0 || value > h->best);
    h->improvements++;
    h->best = value;
}

static const hfi_objective_kind hills = {
    .evaluate = height, .judge = hfi_judge_overflow, .accepted = accepted, .nowhere = "a hill that is none"};

static void searches_climb_in_their_box(void **state)
{
    for (int k = 0; k < 4; k++) {
        /* Free; against a bound; with places that have no value; with an error. */
        hill h = {.failure = k == 2 ? HF_ERR_NOT_POSITIVE_DEFINITE : k == 3 ? HF_ERR_MEMORY : HF_OK};
        const double lower[2] = {-3.0, -3.0}, upper[2] = {k == 1 ? 0.5 : 4.0, 20.0};
        double point[2] = {k == 3 ? 3.0 : -9.0, 2.0};
        task search = {.objective = {.kind = &hills, .self = &h, .count = 2},
                       .space = hfi_space_box(2, lower, upper),
                       .settings = {.by = hfi_by_lbfgs, .most = 200}};
        const hf_status s = solve(*state, &search, point);
        assert_int_equal(s, k == 3 ? HF_ERR_MEMORY : HF_OK);
        if (k == 3) continue;
        assert_int_equal(search.found.stop, HF_STOP_CONVERGED);
        assert_near(point[0], k == 1 ? 0.5 : 1.0, 1e-3);
        assert_near(point[1], k == 1 ? 0.25 : 1.0, 2e-3);
        assert_near(search.found.value, k == 1 ? -0.25 : 0.0, 1e-5);
        assert_true(search.found.value == h.best);
        assert_true(h.improvements > 1 && h.improvements <= h.calls && search.found.gradient_norm < 0.05);
    }
    hill nowhere = {.failure = HF_ERR_NOT_FINITE};
    const double lower[2] = {2.5, 0.0}, upper[2] = {4.0, 1.0};
    double point[2] = {3.0, 0.5};
    task search = {.objective = {.kind = &hills, .self = &nowhere, .count = 2},
                   .space = hfi_space_box(2, lower, upper),
                   .settings = {.by = hfi_by_lbfgs, .most = 20}};
    assert_int_equal(solve(*state, &search, point), HF_ERR_NOT_POSITIVE_DEFINITE);
    assert_string_equal(hf_context_message(*state), "a hill that is none");
    assert_true(point[0] == 3.0 && point[1] == 0.5);
}

/* The first two steps of Adam, by its formulas; a wall halves the third; the last point is the result, though
 * it is not the best. */
static void test_adam(void **state)
{
    hill h = {0};
    const double lower[2] = {-9.0, -9.0}, upper[2] = {9.0, 9.0};
    double point[2] = {0.0, 3.0}, at[2] = {0.0, 3.0}, gradient[2], value, first[2] = {0}, second[2] = {0};
    for (int k = 1; k <= 2; k++) {
        (void)height(&h, at, &value, gradient);
        for (size_t i = 0; i < 2; i++) {
            first[i] = 0.9 * first[i] + 0.1 * gradient[i];
            second[i] = 0.999 * second[i] + 0.001 * gradient[i] * gradient[i];
            at[i] += 0.5 * first[i] / (1.0 - pow(0.9, k)) / (sqrt(second[i] / (1.0 - pow(0.999, k))) + 1e-8);
        }
    }
    h = (hill){0};
    task search = {.objective = {.kind = &hills, .self = &h, .count = 2},
                   .space = hfi_space_box(2, lower, upper),
                   .settings = {.by = hfi_by_adam, .most = 2, .rate = 0.5}};
    assert_int_equal(solve(*state, &search, point), HF_OK);
    assert_int_equal(h.calls, 3);
    for (size_t i = 0; i < 2; i++) assert_near(point[i], at[i], 1e-13);
    assert_int_equal(search.found.stop, HF_STOP_ITERATIONS);
    h = (hill){.failure = HF_ERR_NOT_POSITIVE_DEFINITE};
    double edge[2] = {1.9, 1.0};
    search.settings.most = 1;
    search.settings.rate = 0.4; /* uphill is towards smaller x: turn it round */
    search.settings.rate = -0.4;
    assert_int_equal(solve(*state, &search, edge), HF_OK);
    assert_near(edge[0], 2.0, 1e-6); /* 2.3 and 2.1 have no value, 2.0 has */
    assert_int_equal(h.calls, 4);
    (void)height(&h, edge, &value, NULL);
    assert_true(search.found.value == value && value < -5.0 * 2.61 * 2.61);
}

/* ---- spaces, priors, progress ------------------------------------------------------------------------------- */

/* Normal of sd 1 around 3, on the second entry of the hill. */
static double prior_of_second(void *self, const double *theta, double *gradient)
{
    (void)self;
    if (gradient) gradient[1] -= theta[1] - 3.0;
    return -0.5 * (theta[1] - 3.0) * (theta[1] - 3.0);
}

static void held_entries_stay_and_priors_count(void **state)
{
    const hfi_objective_kind with_prior = {.evaluate = height, .log_prior = prior_of_second};
    hill h = {0};
    const size_t second = 1;
    const double lower[2] = {-9.0, -9.0}, upper[2] = {9.0, 9.0};
    double theta[2] = {2.0, 0.0};
    task search = {
        .objective = {.kind = &with_prior, .self = &h, .count = 2},
        .space = {.count = 2, .free_count = 1, .free_index = &second, .lower = lower, .upper = upper},
        .settings = {.by = hfi_by_lbfgs, .most = 50}};
    assert_int_equal(solve(*state, &search, theta), HF_OK);
    /* 10 (4 - y) = y - 3 */
    assert_true(theta[0] == 2.0);
    assert_near(theta[1], 43.0 / 11.0, 1e-4);
    assert_near(search.found.value, -1.0 - 5.0 / 121.0, 1e-4);
    assert_near(search.found.log_prior, -50.0 / 121.0, 1e-4);
    search.space.free_count = 0;
    h.calls = 0;
    assert_int_equal(solve(*state, &search, theta), HF_OK);
    assert_true(h.calls == 1 && search.found.stop == HF_STOP_NOT_TRAINED && theta[0] == 2.0);
    assert_near(search.found.log_prior, prior_of_second(NULL, theta, NULL), 0.0);
}

typedef struct told {
    size_t calls, most;
    double best;
} told;

static bool listen(const char *stage, double done, double value, void *user)
{
    told *t = user;
    assert_string_equal(stage, "climb");
    assert_true(done > 0.1 && done < 0.2 && (t->calls == 0 || value >= t->best));
    t->best = value;
    return ++t->calls < t->most;
}

static void every_optimiser_tells_and_can_be_stopped(void **state)
{
    static const hfi_optimiser all[] = {hfi_by_lbfgs, hfi_by_trust_region, hfi_by_adam};
    for (size_t k = 0; k < 3; k++) {
        landscape l = {.wall = INFINITY};
        told heard = {.most = 3};
        size_t evaluations = 10;
        double x[2] = {-1.2, 1.0};
        task search = in_valley(&l);
        search.settings = (hfi_search_settings){.by = all[k],
                                                .most = 50,
                                                .rate = 0.01,
                                                .stage = "climb",
                                                .evaluations = &evaluations,
                                                .budget = 100};
        hf_context_set_progress(*state, listen, &heard);
        assert_int_equal(solve(*state, &search, x), HF_ERR_CANCELLED);
        hf_context_set_progress(*state, NULL, NULL);
        assert_int_equal(heard.calls, 3);
        assert_int_equal(evaluations, 10 + l.evaluations);
        assert_true(x[0] == -1.2 && x[1] == 1.0);
    }
}

/* ---- a journal in place of the objective -------------------------------------------------------------------- */

/* A hill that remembers beside its value: the number of the call, and where it was. */
typedef struct memory {
    hill hill;
    double place, note[2];
    size_t placed;
} memory;

static hf_status put(void *self, const double *theta)
{
    memory *m = self;
    m->place = theta[0];
    m->placed++;
    return HF_OK;
}

static hf_status recall_height(void *self, const double *theta, double *value, double *gradient)
{
    memory *m = self;
    assert_true(m->place == theta[0]);
    const hf_status s = height(&m->hill, theta, value, gradient);
    m->note[0] = m->hill.calls;
    m->note[1] = theta[0] + theta[1];
    return s;
}

static size_t notes(const void *self)
{
    (void)self;
    return 2;
}

static void tell(const void *self, double *numbers)
{
    memcpy(numbers, ((const memory *)self)->note, 2 * sizeof *numbers);
}

static void take(void *self, const double *numbers)
{
    memcpy(((memory *)self)->note, numbers, 2 * sizeof *numbers);
}

static const hfi_objective_kind memories = {
    .place = put, .evaluate = recall_height, .beside = notes, .tell = tell, .take = take};

/* A search that goes on from a journal of its first `kept` evaluations ends where the whole one does, bit for
 * bit. It asks for the others alone. */
static void searches_go_on_from_a_journal(void **state)
{
    static const hfi_fingerprint print[1] = {{{1, 2, 3, 4, 5}}};
    hf_context *ctx = *state;
    folder f = folder_make();
    char path[256];
    folder_file(&f, "checkpoint", path);
    const double lower[2] = {-9.0, -9.0}, upper[2] = {9.0, 9.0};
    double whole[2] = {0.0};
    int calls = 0;
    for (int kept = 0; kept < 12; kept += 5) {
        memory m = {.hill = {.failure = HF_ERR_NOT_POSITIVE_DEFINITE}};
        double theta[2] = {-3.0, 2.0};
        task search = {.objective = {.kind = &memories, .self = &m, .count = 2},
                       .space = hfi_space_box(2, lower, upper),
                       .settings = {.by = hfi_by_lbfgs, .most = kept > 0 ? (size_t)kept : 100}};
        remove(path);
        assert_int_equal(hfi_journal_open(ctx, path, true, print, &search.objective.journal), HF_OK);
        assert_int_equal(solve(ctx, &search, theta), HF_OK);
        hfi_journal_close(search.objective.journal, false);
        if (kept == 0) {
            memcpy(whole, theta, sizeof whole);
            calls = m.hill.calls;
            continue;
        }
        assert_int_equal(m.hill.calls, kept);
        memory second = {.hill = {.calls = kept, .failure = HF_ERR_NOT_POSITIVE_DEFINITE}};
        memcpy(theta, (double[2]){-3.0, 2.0}, sizeof theta);
        search.objective.self = &second;
        search.settings.most = 100;
        assert_int_equal(hfi_journal_open(ctx, path, true, print, &search.objective.journal), HF_OK);
        assert_int_equal(solve(ctx, &search, theta), HF_OK);
        hfi_journal_close(search.objective.journal, false);
        assert_int_equal(second.hill.calls, calls);
        assert_int_equal(second.placed, calls);
        assert_memory_equal(theta, whole, sizeof theta);
        /* One answer of the journal alone: what lies beside it is back. */
        memory third = {.hill = {.failure = HF_ERR_MEMORY}};
        double value, gradient[2], start[2] = {-3.0, 2.0};
        search.objective.self = &third;
        assert_int_equal(hfi_journal_open(ctx, path, true, print, &search.objective.journal), HF_OK);
        assert_int_equal(hfi_objective_evaluate(ctx, &search.objective, start, &value, gradient), HF_OK);
        hfi_journal_close(search.objective.journal, true);
        assert_true(third.hill.calls == 0 && third.placed == 1 && third.note[0] == 1.0);
        assert_true(third.note[1] == -1.0 && value == -16.0 - 5.0 * 49.0 && gradient[1] == 70.0);
    }
    folder_remove(&f);
}

static int make_context(void **state)
{
    *state = hf_context_create();
    return *state ? 0 : -1;
}

static int drop_context(void **state)
{
    hf_context_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quadratic_in_a_box),
        cmocka_unit_test(test_valley),
        cmocka_unit_test(test_steps_back_from_where_there_is_no_value),
        cmocka_unit_test(test_errors_and_limits),
        cmocka_unit_test(test_enough_is_enough),
        cmocka_unit_test(searches_climb_in_their_box),
        cmocka_unit_test(test_adam),
        cmocka_unit_test(held_entries_stay_and_priors_count),
        cmocka_unit_test(every_optimiser_tells_and_can_be_stopped),
        cmocka_unit_test(searches_go_on_from_a_journal),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
