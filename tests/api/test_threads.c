/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads predict from one const model, each with a workspace; contexts in several threads fit at once and never
 * meet. Every thread must get the bits that one thread alone gets. Meant for ThreadSanitizer, too. */
#include "api/readings.h"

#include <pthread.h>

enum {
    THREADS = 6,
    N = 60,
    D = 2,
    M = 40,
    ROUNDS = 20
};

/* cmocka's assertions jump, which only its own thread may do: workers count what is wrong. */
typedef struct worker {
    pthread_t thread;
    const hf_posterior *posterior;
    const hf_model *model;
    const hf_table *table;
    const readings *data;
    uint64_t expected;
    size_t wrong;
} worker;

static uint64_t print_of(const double *values, size_t count)
{
    uint64_t print = 14695981039346656037U;
    fingerprint_bytes(&print, values, count * sizeof *values);
    return print;
}

static void start_and_join(worker *workers, void *(*body)(void *))
{
    for (size_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&workers[t].thread, NULL, body, &workers[t]), 0);
    for (size_t t = 0; t < THREADS; t++) assert_int_equal(pthread_join(workers[t].thread, NULL), 0);
    for (size_t t = 0; t < THREADS; t++) assert_int_equal(workers[t].wrong, 0);
}

/* ---- one model, many readers ----------------------------------------------------------------- */

/* Point by point, with all there is to ask. */
static uint64_t point_by_point(const hf_posterior *p, hf_posterior_workspace *workspace, const readings *data,
                               size_t *wrong)
{
    double out[M * (2 + 2 * D)];
    for (size_t i = 0; i < M; i++) {
        double *o = out + i * (2 + 2 * D);
        *wrong += hf_predict_observed(p, workspace, data->x + i * D, o, o + 1, o + 2, o + 2 + D) != HF_OK;
    }
    return print_of(out, M * (2 + 2 * D));
}

static void *read_points(void *argument)
{
    worker *w = argument;
    hf_context *ctx = hf_context_create();
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, w->posterior);
    for (int round = 0; round < ROUNDS; round++)
        w->wrong += point_by_point(w->posterior, workspace, w->data, &w->wrong) != w->expected;
    hf_posterior_workspace_free(workspace);
    hf_context_free(ctx);
    return NULL;
}

static void many_threads_predict_from_one_posterior(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r = readings_make(N, D, 3, 2);
    hf_fit_settings settings = hf_fit_settings_default();
    settings.iterations = 10;
    hf_posterior *p = readings_fit(ctx, &r, &settings, NULL);
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, p);
    size_t wrong = 0;
    uint64_t expected = point_by_point(p, workspace, &r, &wrong);
    assert_int_equal(wrong, 0);
    worker workers[THREADS];
    for (size_t t = 0; t < THREADS; t++)
        workers[t] = (worker){.posterior = p, .data = &r, .expected = expected};
    start_and_join(workers, read_points);
    hf_posterior_workspace_free(workspace);
    hf_posterior_free(p);
    readings_free(&r);
    hf_context_free(ctx);
}

/* Everything that takes a const model or table and a context of one's own. */
static uint64_t all_reading_calls(hf_context *ctx, const worker *w, size_t *wrong)
{
    double mean[M], var[M], kl[N], covariance[9];
    hf_metrics metrics = {0};
    hf_table *rows = NULL;
    uint64_t print = 0;
    const hf_posterior *p = hf_model_posterior(w->model);
    *wrong += hf_predict(ctx, p, M, w->data->x, D, mean, NULL, var) != HF_OK;
    *wrong += hf_predict_covariance(ctx, p, 3, w->data->x, D, covariance, 3) < 0;
    *wrong += hf_influence_of_removal(ctx, p, kl) < 0;
    *wrong += hf_score(ctx, w->model, w->table, &metrics) < 0;
    *wrong += hf_model_rows(ctx, w->model, &rows) < 0;
    fingerprint_bytes(&print, mean, sizeof mean);
    fingerprint_bytes(&print, var, sizeof var);
    fingerprint_bytes(&print, covariance, sizeof covariance);
    fingerprint_bytes(&print, kl, hf_posterior_anchors(p) * sizeof *kl);
    fingerprint_bytes(&print, &metrics, sizeof metrics);
    if (rows != NULL) fingerprint_table(&print, rows);
    hf_table_free(rows);
    return print;
}

static void *ask_model(void *argument)
{
    worker *w = argument;
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, 2);
    for (int round = 0; round < 3; round++) w->wrong += all_reading_calls(ctx, w, &w->wrong) != w->expected;
    hf_context_free(ctx);
    return NULL;
}

static void many_contexts_ask_one_model(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    readings r = readings_make(N, D, 3, 2);
    hf_table *table = NULL;
    assert_int_equal(hf_table_create(ctx, N, &table), HF_OK);
    double column[N];
    for (size_t j = 0; j < D; j++) {
        for (size_t i = 0; i < N; i++) column[i] = r.x[i * D + j];
        assert_int_equal(hf_table_set_numbers(ctx, table, j == 0 ? "a" : "b", column), HF_OK);
    }
    assert_int_equal(hf_table_set_numbers(ctx, table, "y", r.y), HF_OK);
    hf_fit_settings settings = hf_fit_settings_default();
    settings.iterations = 10;
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_model *model = NULL;
    if (hf_fit(ctx, table, &columns, &settings, &model, NULL) < 0) fail_msg("%s", hf_context_message(ctx));
    worker workers[THREADS] = {{.model = model, .table = table, .data = &r}};
    size_t wrong = 0;
    uint64_t expected = all_reading_calls(ctx, &workers[0], &wrong);
    assert_int_equal(wrong, 0);
    for (size_t t = 0; t < THREADS; t++)
        workers[t] = (worker){.model = model, .table = table, .data = &r, .expected = expected};
    start_and_join(workers, ask_model);
    hf_model_free(model);
    hf_table_free(table);
    readings_free(&r);
    hf_context_free(ctx);
}

/* ---- many contexts, many fits ---------------------------------------------------------------- */

static uint64_t fit_print(const readings *data, uint64_t seed, size_t *wrong)
{
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, 2);
    hf_context_set_seed(ctx, seed);
    hf_fit_settings settings = hf_fit_settings_default();
    settings.iterations = data->n > N ? 2 : 6;
    settings.restarts = 1;
    const hf_data given = {.n = data->n, .d = D, .x = data->x, .ldx = D, .y = data->y};
    hf_posterior *p = NULL;
    double mean[M] = {0}, var[M] = {0};
    *wrong += hf_fit_data(ctx, &given, &settings, &p, NULL, NULL) < 0;
    if (p != NULL) *wrong += hf_predict(ctx, p, M, data->x, D, mean, NULL, var) != HF_OK;
    uint64_t print = print_of(mean, M) ^ print_of(var, M);
    hf_posterior_free(p);
    hf_context_free(ctx);
    return print;
}

static void *fit_alone(void *argument)
{
    worker *w = argument;
    w->wrong += fit_print(w->data, 9, &w->wrong) != w->expected;
    return NULL;
}

static void contexts_in_threads_never_meet(void **state)
{
    (void)state;
    readings data[THREADS];
    worker workers[THREADS];
    for (size_t t = 0; t < THREADS; t++) {
        /* One large enough that the fit starts threads of its own. */
        data[t] = readings_make(t == 0 ? 520 : N + 5 * t, D, 3, 30 + t);
        workers[t] = (worker){.data = &data[t]};
        workers[t].expected = fit_print(&data[t], 9, &workers[t].wrong);
        assert_int_equal(workers[t].wrong, 0);
    }
    start_and_join(workers, fit_alone);
    for (size_t t = 0; t < THREADS; t++) readings_free(&data[t]);
}

/* ---- a context belongs to its caller ------------------------------------------------------------------------ */

typedef struct watcher {
    hf_context *ctx;
    size_t calls, most; /* from there on it cancels */
    bool changed;
} watcher;

static bool watch(const char *stage, double done, double value, void *user)
{
    watcher *w = user;
    (void)stage;
    (void)done;
    (void)value;
    w->changed = w->changed || hf_context_threads(w->ctx) != 3;
    return ++w->calls < w->most;
}

static hf_status fit_watched(hf_context *ctx, size_t kind, const readings *r)
{
    size_t label[N];
    for (size_t i = 0; i < N; i++) label[i] = i % (kind == 2 ? 3 : 2);
    if (kind == 0) {
        hf_fit_settings settings = hf_fit_settings_default();
        settings.iterations = 4;
        hf_posterior *p = NULL;
        const hf_data data = {.n = N, .d = D, .x = r->x, .ldx = D, .y = r->y};
        const hf_status status = hf_fit_data(ctx, &data, &settings, &p, NULL, NULL);
        hf_posterior_free(p);
        return status;
    }
    hf_class_settings settings = hf_class_settings_default();
    settings.iterations = 4;
    settings.link = kind == 2 ? HF_LINK_SOFTMAX : HF_LINK_PROBIT;
    hf_classifier *c = NULL;
    const hf_class_data data = {
        .n = N, .d = D, .x = r->x, .ldx = D, .label = label, .classes = kind == 2 ? 3 : 2};
    const hf_status status = hf_classifier_fit(ctx, &data, &settings, &c, NULL);
    hf_classifier_free(c);
    return status;
}

static void no_fit_changes_the_threads_of_its_context(void **state)
{
    (void)state;
    readings r = readings_make(N, D, 3, 2);
    for (size_t kind = 0; kind < 3; kind++)
        for (size_t cancelled = 0; cancelled < 2; cancelled++) {
            watcher w = {.ctx = hf_context_create(), .most = cancelled ? 3 : SIZE_MAX};
            hf_context_set_threads(w.ctx, 3);
            hf_context_set_progress(w.ctx, watch, &w);
            const hf_status status = fit_watched(w.ctx, kind, &r);
            if (cancelled)
                assert_int_equal(status, HF_ERR_CANCELLED);
            else
                assert_true(status >= 0);
            assert_true(w.calls > 0);
            assert_false(w.changed);
            assert_int_equal(hf_context_threads(w.ctx), 3);
            hf_context_free(w.ctx);
        }
    readings_free(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_threads_predict_from_one_posterior),
        cmocka_unit_test(many_contexts_ask_one_model),
        cmocka_unit_test(contexts_in_threads_never_meet),
        cmocka_unit_test(no_fit_changes_the_threads_of_its_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
