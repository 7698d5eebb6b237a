/* SPDX-License-Identifier: Apache-2.0 */
/* Model files of posteriors that are not exact, in one piece and in many, and files of the first format. */
#include "model/file_testing.h"

static void assert_same_solution(const hfi_solution *a, const hfi_solution *b)
{
    size_t n = a->n, rank = a->rank;
    assert_true(a->form == b->form && a->solver == b->solver && n == b->n && rank == b->rank && a->d == b->d);
    assert_true(a->jitter == b->jitter && a->backward == b->backward &&
                isnan(a->condition) == isnan(b->condition));
    assert_memory_equal(a->z, b->z, n * a->d * sizeof *a->z);
    assert_memory_equal(a->t, b->t, n * sizeof *a->t);
    assert_true((a->residual == NULL) == (b->residual == NULL));
    if (a->residual != NULL) {
        assert_memory_equal(a->residual, b->residual, n * sizeof *a->t);
        assert_memory_equal(a->variance, b->variance, n * sizeof *a->t);
    }
    if (a->form == HFI_FORM_DENSE) assert_memory_equal(a->r, b->r, n * rank * sizeof *a->r);
    if (a->form != HFI_FORM_BLOCKS) return;
    assert_memory_equal(a->block, b->block, n * sizeof *a->block);
    assert_memory_equal(a->entry, b->entry, n * sizeof *a->entry);
    for (size_t j = 0; j < rank; j++)
        assert_memory_equal(a->factor + j + j * rank, b->factor + j + j * rank, (rank - j) * sizeof *a->t);
}

/* Both forms, in one piece and in pieces of one row, of a few rows, and of all but one. */
static void low_rank_models_come_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 40, 4);
    const struct {
        hf_solver solver;
        hfi_factor_form form;
        size_t piece;
    } kinds[] = {{HF_SOLVER_PROJECTED, HFI_FORM_DENSE, HFI_PIECE_BYTES},
                 {HF_SOLVER_PROJECTED, HFI_FORM_BLOCKS, HFI_PIECE_BYTES},
                 {HF_SOLVER_INDUCING, HFI_FORM_DENSE, HFI_PIECE_BYTES},
                 {HF_SOLVER_PROJECTED, HFI_FORM_DENSE, 1},
                 {HF_SOLVER_PROJECTED, HFI_FORM_BLOCKS, 100},
                 {HF_SOLVER_INDUCING, HFI_FORM_DENSE, 39 * 8}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        hf_fit_settings settings = untrained();
        settings.solver = HF_SOLVER_EXACT;
        hf_model *model = model_of(ctx, table, &settings), *loaded = NULL;
        low_rank_replace(ctx, model, kinds[k].solver, kinds[k].form, 7);
        model->settings.learning_rate = 0.125;
        model->settings.sites = HF_LIKELIHOOD_PURSUIT;
        unsigned char *bytes = NULL, *again = NULL;
        size_t size = 0, size_again = 0;
        assert_int_equal(hfi_model_to_image(ctx, model, kinds[k].piece, &bytes, &size), HF_OK);
        if (hfi_model_from_bytes(ctx, bytes, size, "m", &loaded) != HF_OK)
            fail_msg("%s", hf_context_message(ctx));
        assert_same_model(ctx, model, loaded);
        assert_same_solution(&model->posterior->solution, &loaded->posterior->solution);
        assert_same_predictions(ctx, model, loaded);
        assert_int_equal(hfi_model_to_image(ctx, loaded, kinds[k].piece, &again, &size_again), HF_OK);
        assert_int_equal(size, size_again);
        assert_memory_equal(bytes, again, size);
        sqlite3_free(bytes);
        sqlite3_free(again);
        hf_model_free(loaded);
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

/* The fit tells of each reading what the rows say, in user units, with the noise and without an influence. */
static void low_rank_rows_are_as_told(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 20, 0), *rows = NULL;
    double y[20];
    memcpy(y, column_of(ctx, table, "y"), sizeof y);
    y[4] = NAN;
    assert_int_equal(hf_table_set_numbers(ctx, table, "y", y), HF_OK);
    hf_fit_settings settings = untrained();
    settings.solver = HF_SOLVER_EXACT;
    hf_model *model = model_of(ctx, table, &settings);
    low_rank_replace(ctx, model, HF_SOLVER_PROJECTED, HFI_FORM_BLOCKS, 5);
    model->reading[9].suspected = true;
    model->reading[11].loo_mean = model->reading[11].loo_var = NAN; /* an anchor of which nothing is known */
    assert_int_equal(hf_model_rows(ctx, model, &rows), HF_OK);
    assert_int_equal(hf_table_columns(rows), 7);
    const double *mean = column_of(ctx, rows, "loo_mean"), *sd = column_of(ctx, rows, "loo_sd");
    for (size_t i = 0; i < 20; i++) {
        double expected = y[i] + 0.5, deviation = sqrt(0.01 * (double)(i + 1) + 0.04), var;
        if (i == 11) {
            assert_true(isnan(mean[i]) && isnan(sd[i]));
            continue;
        }
        if (i == 4) { /* missing: predicted */
            assert_int_equal(hf_predict(ctx, model->posterior, 1, model->x + i * 2, 2, &expected, NULL, &var),
                             HF_OK);
            deviation = sqrt(var);
        }
        assert_close(mean[i], expected, 1e-12);
        assert_close(sd[i], deviation, 1e-12);
    }
    hf_table_free(rows);
    assert_int_equal(hf_model_suspects(ctx, model, &rows), HF_OK);
    assert_int_equal(hf_table_rows(rows), 1);
    assert_close(column_of(ctx, rows, "loo_mean")[0], y[9] + 0.5, 1e-12);
    hf_table_free(rows);
    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
}

/* A file of format 1 is exact, whatever it is read by. */
static void files_of_the_first_format_still_load(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_model *model = NULL;
    if (hf_model_load(ctx, "tests/fuzz/corpus/model/small", &model) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    assert_int_equal(hf_posterior_solver(hf_model_posterior(model)), HF_SOLVER_EXACT);
    assert_int_equal(hf_model_settings_of(model)->solver, HF_SOLVER_EXACT);
    assert_int_equal(hf_model_report_of(model)->solver, HF_SOLVER_EXACT);
    assert_true(isnan(hf_model_report_of(model)->residual) && isinf(hf_model_report_of(model)->nu));
    assert_true(hf_model_settings_of(model)->checkpoint == NULL && !hf_model_settings_of(model)->resume);
    assert_true(isnan(model->reading[0].loo_mean) && isnan(model->reading[0].loo_var));
    hf_table *rows = NULL;
    assert_int_equal(hf_model_rows(ctx, model, &rows), HF_OK);
    assert_int_equal(hf_table_columns(rows), 8);
    hf_table_free(rows);
    hf_model_free(model);
    hf_context_free(ctx);
}

static void low_rank_nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const both[] = {
        "UPDATE meta SET value = 'exact' WHERE key = 'form'",
        "UPDATE meta SET value = 'exact' WHERE key = 'solver'",
        "UPDATE meta SET value = 'auto' WHERE key = 'solver'",
        "UPDATE meta SET value = 'round' WHERE key = 'form'",
        "UPDATE meta SET value = 3 WHERE key = 'form'",
        "DELETE FROM meta WHERE key = 'solver'",
        "DELETE FROM meta WHERE key = 'rank'",
        "UPDATE meta SET value = 0 WHERE key = 'rank'",
        "UPDATE meta SET value = 2 WHERE key = 'rank'",
        "UPDATE meta SET value = 7 WHERE key = 'rank'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'rank'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'anchors'",
        "UPDATE meta SET value = 0 WHERE key = 'anchors'",
        "UPDATE meta SET value = -1.0 WHERE key = 'jitter'",
        "UPDATE meta SET value = NULL WHERE key = 'jitter'",
        "UPDATE meta SET value = 'big' WHERE key = 'condition'",
        "UPDATE meta SET value = 'fitc!' WHERE key = 'settings.inducing_method'",
        "DELETE FROM meta WHERE key = 'report.nu'",
        "DELETE FROM array WHERE name = 'anchor_weight'",
        "UPDATE array SET data = x'000000000000f07f' || substr(data, 9) WHERE name = 'anchor_weight'",
        "UPDATE array SET data = x'000000000000f0bf' || substr(data, 9) WHERE name = 'row_loo_var'",
        "DELETE FROM array WHERE name = 'row_loo_var'",
        "UPDATE array SET name = 'anchor_weight/0' WHERE name = 'anchor_inputs'",
        "UPDATE array SET name = 'row_inputs/1' WHERE name = 'row_inputs'",
        "UPDATE array SET name = 'row_inputs/0', rows = 0, data = x'' WHERE name = 'row_inputs'",
        "UPDATE array SET name = 'row_inputs/0', rows = -1 WHERE name = 'row_inputs'",
        "UPDATE array SET name = 'row_inputs/0', rows = 5, data = substr(data, 1, 80) WHERE name = "
        "'row_inputs'",
    };
    static const char *const dense[] = {
        "DELETE FROM array WHERE name = 'projection'",
        "UPDATE array SET rows = 6, columns = 3 WHERE name = 'projection'",
        "UPDATE array SET data = x'000000000000f87f' || substr(data, 9) WHERE name = 'projection'",
        "UPDATE meta SET value = 'blocks' WHERE key = 'form'",
    };
    static const char *const blocks[] = {
        "UPDATE array SET data = zeroblob(72) WHERE name = 'action_factor'",
        "UPDATE array SET data = x'0000000000000840' || substr(data, 9) WHERE name = 'anchor_block'",
        "UPDATE array SET data = x'000000000000e03f' || substr(data, 9) WHERE name = 'anchor_block'",
        "UPDATE array SET data = x'000000000000f0bf' || substr(data, 9) WHERE name = 'anchor_block'",
        "DELETE FROM array WHERE name = 'anchor_entry'",
        "DELETE FROM array WHERE name = 'action_factor'",
        "DELETE FROM array WHERE name = 'anchor_residual'",
        "UPDATE array SET data = x'000000000000f0bf' || substr(data, 9) WHERE name = 'anchor_variance'",
        "UPDATE meta SET value = 'dense' WHERE key = 'form'",
        "UPDATE meta SET value = 'inducing' WHERE key = 'solver'",
    };
    image made = image_of(HF_SOLVER_INDUCING, HFI_FORM_DENSE);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) change(&made, both[i], true);
    for (size_t i = 0; i < sizeof dense / sizeof *dense; i++) change(&made, dense[i], true);
    change(&made, "UPDATE meta SET value = 'projected' WHERE key = 'solver'", true); /* no residuals */
    image_free(&made);
    made = image_of(HF_SOLVER_PROJECTED, HFI_FORM_BLOCKS);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) change(&made, both[i], true);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) change(&made, blocks[i], true);
    image_free(&made);
}

/* Files written once by format 2, so that a change of the format is noticed. */
static void files_of_the_second_format_load(void **state)
{
    (void)state;
    static const char *const names[] = {"blocks", "dense", "inducing"};
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < 3; k++) {
        char path[64];
        hf_model *model = NULL;
        snprintf(path, sizeof path, "tests/fuzz/corpus/model/%s", names[k]);
        if (hf_model_load(ctx, path, &model) != HF_OK) fail_msg("%s", hf_context_message(ctx));
        const hf_posterior *posterior = hf_model_posterior(model);
        assert_int_equal(hf_posterior_solver(posterior), k < 2 ? HF_SOLVER_PROJECTED : HF_SOLVER_INDUCING);
        assert_int_equal(posterior->solution.form, k == 0 ? HFI_FORM_BLOCKS : HFI_FORM_DENSE);
        assert_int_equal(hf_posterior_rank(posterior), 3);
        assert_int_equal(hf_posterior_anchors(posterior), 6);
        hf_model_free(model);
    }
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_rank_models_come_back),
        cmocka_unit_test(low_rank_rows_are_as_told),
        cmocka_unit_test(files_of_the_first_format_still_load),
        cmocka_unit_test(files_of_the_second_format_load),
        cmocka_unit_test(low_rank_nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
