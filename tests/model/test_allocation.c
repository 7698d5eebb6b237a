/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of every function of models fails once: no crash, no leak, outputs untouched. */
#include "model/model_testing.h"

#include "model/file.h"

/* Objects at hand for a function under test; made before allocations begin to fail. */
typedef struct fixture {
    hf_context *ctx;
    hf_table *table;
    hf_model *model;
    unsigned char *bytes;
    size_t size;
    hf_model *out_model;
    hf_table *out_table;
    unsigned char *out_bytes;
} fixture;

typedef hf_status (*operation)(fixture *f);

static hf_status fit(fixture *f)
{
    hf_fit_settings settings = untrained();
    const char *const drop[] = {"who"};
    const hf_columns columns = {.size = sizeof columns, .target = "y", .drop = drop, .drop_count = 0};
    hf_fit_report report = {.readings = 77};
    hf_status status = hf_fit(f->ctx, f->table, &columns, &settings, &f->out_model, &report);
    assert_true((status >= 0) == (report.readings != 77));
    return status;
}

static hf_status fit_transformed(fixture *f)
{
    hf_fit_settings settings = untrained();
    settings.transform = HF_TRANSFORM_AUTO;
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    return hf_fit(f->ctx, f->table, &columns, &settings, &f->out_model, NULL);
}

static hf_status fit_kernels(fixture *f)
{
    hf_fit_settings settings = untrained();
    settings.set_count = 0;
    settings.kernel = "auto";
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    return hf_fit(f->ctx, f->table, &columns, &settings, &f->out_model, NULL);
}

static hf_status cost(fixture *f)
{
    hf_fit_settings settings = untrained();
    const hf_columns columns = {.size = sizeof columns, .target = "y"};
    hf_cost told;
    return hf_fit_cost(f->ctx, f->table, &columns, &settings, &told);
}

static hf_status predict(fixture *f)
{
    size_t columns = hf_table_columns(f->table);
    hf_status status = hf_predict_into_table(f->ctx, f->model, f->table);
    assert_int_equal(hf_table_columns(f->table), status >= 0 ? columns + 5 : columns);
    return status;
}

static hf_status score(fixture *f)
{
    hf_metrics metrics;
    return hf_score(f->ctx, f->model, f->table, &metrics);
}

static hf_status rows(fixture *f)
{
    return hf_model_rows(f->ctx, f->model, &f->out_table);
}

static hf_status suspects(fixture *f)
{
    return hf_model_suspects(f->ctx, f->model, &f->out_table);
}

static hf_status training(fixture *f)
{
    return hf_model_training(f->ctx, f->model, &f->out_table);
}

static hf_status to_image(fixture *f)
{
    size_t size = 0;
    return hfi_model_to_image(f->ctx, f->model, HFI_PIECE_BYTES, &f->out_bytes, &size);
}

static hf_status from_bytes(fixture *f)
{
    return hfi_model_from_bytes(f->ctx, f->bytes, f->size, "m.hf", &f->out_model);
}

static fixture prepare(hf_context *ctx)
{
    fixture f = {.ctx = ctx,
                 .table = table_of(ctx, "who,a,b,y\nann,1,2,3\nbob,2,1,4\neve,3,,5\ndan,4,0,\ntom,5,2,3\n")};
    hf_fit_settings settings = untrained();
    f.model = model_of(ctx, f.table, &settings);
    assert_int_equal(hfi_model_to_image(ctx, f.model, HFI_PIECE_BYTES, &f.bytes, &f.size), HF_OK);
    return f;
}

static void release(fixture *f)
{
    hf_model_free(f->out_model);
    hf_table_free(f->out_table);
    sqlite3_free(f->out_bytes);
    sqlite3_free(f->bytes);
    hf_model_free(f->model);
    hf_table_free(f->table);
}

/* Fails allocation 1, 2, 3, ... until the operation gets by with fewer. Returns how many it needed. */
static size_t sweep(operation run)
{
    meter m;
    hf_context *ctx = meter_context(&m);
    hf_status status = HF_ERR_MEMORY;
    size_t k = 0;
    while (status == HF_ERR_MEMORY) {
        fixture f = prepare(ctx);
        size_t live = atomic_load(&m.live);
        m.fail_at = atomic_load(&m.made) + ++k;
        status = run(&f);
        m.fail_at = 0;
        if (status == HF_ERR_MEMORY) {
            assert_true(f.out_model == NULL && f.out_table == NULL && f.out_bytes == NULL);
            assert_contains(hf_context_message(ctx), "out of memory");
            if (atomic_load(&m.live) != live)
                fail_msg("%zu blocks leaked when allocation %zu failed", atomic_load(&m.live) - live, k);
        }
        release(&f);
        assert_true(k < 2000);
    }
    if (status < 0) fail_msg("allocation %zu: %s: %s", k, hf_status_name(status), hf_context_message(ctx));
    hf_context_free(ctx);
    assert_int_equal(atomic_load(&m.live), 0);
    return k - 1;
}

static void no_failure_leaks_or_crashes(void **state)
{
    (void)state;
    static const struct {
        operation run;
        size_t at_least; /* so that the sweep is known to have swept something */
    } cases[] = {
        {fit, 30},  {fit_transformed, 60}, {fit_kernels, 60}, {cost, 10},     {predict, 10},   {score, 5},
        {rows, 20}, {suspects, 10},        {training, 8},     {to_image, 10}, {from_bytes, 30}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {

        size_t swept = sweep(cases[i].run);
        if (swept < cases[i].at_least) fail_msg("case %zu made only %zu allocations", i, swept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_failure_leaks_or_crashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
