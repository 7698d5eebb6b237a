/* SPDX-License-Identifier: Apache-2.0 */
/* Every allocation of every function of tables fails once: no crash, no leak, outputs as promised. */
#include "data/support.h"

#include <holdfast/contaminate.h>
#include <holdfast/metrics.h>

static const char sample[] = "x,name,\"y\nz\"\n1,ann,2.5\n3,\"b,c\",\n5,dora,7\n";

/* Objects at hand for a function under test; made before allocations begin to fail. */
typedef struct fixture {
    hf_context *ctx;
    hf_table *table;
    char path[256];
    hf_table *out;
} fixture;

typedef hf_status (*operation)(fixture *f);

static hf_status parse(fixture *f)
{
    return hf_table_parse_csv(f->ctx, sample, sizeof sample - 1, "t.csv", &f->out);
}

static hf_status read_file(fixture *f)
{
    return hf_table_read_csv(f->ctx, f->path, &f->out);
}

static hf_status create(fixture *f)
{
    return hf_table_create(f->ctx, 3, &f->out);
}

static hf_status choose(fixture *f)
{
    static const size_t rows[] = {2, 0, 2};
    return hf_table_select(f->ctx, f->table, rows, 3, &f->out);
}

/* Ten new columns: arrays and the index of names must grow on the way. A column is added wholly or not at
 * all. */
static hf_status add_columns(fixture *f)
{
    static const double numbers[] = {1, 2, 3};
    hf_status status = HF_OK;
    char name[16], buffer[32];
    size_t before = hf_table_columns(f->table), found = 0;
    for (int k = 0; k < 10 && status == HF_OK; k++) {
        snprintf(name, sizeof name, "new%d", k);
        status = hf_table_set_numbers(f->ctx, f->table, name, numbers);
        before += status == HF_OK;
        if (status != HF_OK) assert_contains(hf_context_message(f->ctx), "out of memory");
        assert_int_equal(hf_table_columns(f->table), before);
        assert_int_equal(hf_table_find(f->ctx, f->table, name, &found),
                         status == HF_OK ? HF_OK : HF_ERR_NO_COLUMN);
        assert_string_equal(hf_table_field(f->table, 1, 1, buffer), "b,c");
    }
    return status;
}

static hf_status replace_column(fixture *f)
{
    static const double numbers[] = {8, 9, 10};
    char buffer[32];
    hf_status status = hf_table_set_numbers(f->ctx, f->table, "x", numbers);
    assert_string_equal(hf_table_field(f->table, 0, 0, buffer), status == HF_OK ? "8" : "1");
    return status;
}

static hf_status write_file(fixture *f)
{
    hf_status status = hf_table_write_csv(f->ctx, f->table, f->path);
    char *text = file_get(f->path);
    assert_memory_equal(text, sample, status == HF_OK ? 2 : sizeof sample);
    file_put(f->path, sample, sizeof sample - 1);
    free(text);
    return status;
}

static hf_status contaminate(fixture *f)
{
    double x[6] = {1, 2, 3, 4, 5, 6}, y[3] = {1, 2, 4};
    bool mask[3] = {true, true, true};
    hf_status status = hf_contaminate(f->ctx, HF_CONTAMINATION_FOCUSED, 0.4, 1, 3, 2, x, 2, y, mask);
    assert_true((status == HF_OK) == (y[0] != 1 || y[1] != 2 || y[2] != 4));
    return status;
}

static hf_status split_and_score(fixture *f)
{
    size_t order[3], train = 0;
    double y[] = {1, 2}, sd[] = {1, 1};
    hf_metrics m;
    hf_status status = hf_split(f->ctx, 1, 0.3, 3, order, &train);
    return status == HF_OK ? hf_metrics_gaussian(f->ctx, 2, y, y, sd, &m) : status;
}

/* Fails allocation 1, 2, 3, ... until the operation gets by with fewer. Returns how many it needed. */
static size_t sweep(operation run, const folder *scratch)
{
    meter m;
    hf_context *ctx = meter_context(&m);
    hf_status status = HF_ERR_MEMORY;
    size_t k = 0;
    while (status == HF_ERR_MEMORY) {
        fixture f = {.ctx = ctx, .table = table_of(ctx, sample)};
        folder_file(scratch, "f.csv", f.path);
        size_t live = atomic_load(&m.live);
        m.fail_at = atomic_load(&m.made) + ++k;
        status = run(&f);
        m.fail_at = 0;
        if (status == HF_ERR_MEMORY) {
            assert_null(f.out);
            /* add_columns looks at the message, and at what was added before, itself */
            if (run != add_columns) assert_contains(hf_context_message(ctx), "out of memory");
            if (run != add_columns) assert_int_equal(atomic_load(&m.live), live);
        }
        hf_table_free(f.out);
        hf_table_free(f.table);
        assert_int_equal(folder_count(scratch), 1);
        assert_true(k < 1000);
    }
    assert_int_equal(status, HF_OK);
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
        {parse, 9},          {read_file, 9},  {create, 2},      {choose, 9},          {add_columns, 20},
        {replace_column, 1}, {write_file, 4}, {contaminate, 4}, {split_and_score, 0},
    };
    folder scratch = folder_make();
    char path[256];
    file_put(folder_file(&scratch, "f.csv", path), sample, sizeof sample - 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(sweep(cases[i].run, &scratch) >= cases[i].at_least);
    folder_remove(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_failure_leaks_or_crashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
