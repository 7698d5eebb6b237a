/* SPDX-License-Identifier: Apache-2.0 */
/* The envelope file: what is saved answers with the same digits, what is not an envelope is refused. */
#include "files/envelope_file.h"
#include "model/file_testing.h"

enum {
    READINGS = 14,
    INPUTS = 2
};

/* Readings of every sort: limits that y -+ noise cannot make again, one side, exact, twice at one input. */
typedef struct measured {
    double x[READINGS * INPUTS], y[READINGS], below[READINGS], above[READINGS];
} measured;

static hf_bounded_readings measure(measured *m)
{
    for (size_t i = 0; i < READINGS; i++) {
        const size_t at = i == 9 ? 8 : i;
        m->x[i * INPUTS] = 0.37 * (double)at;
        m->x[i * INPUTS + 1] = fmod(1.3 * (double)at, 2.0);
        m->y[i] = sin(m->x[i * INPUTS]) + 0.1 * m->x[i * INPUTS + 1];
        m->below[i] = i == 3 ? INFINITY : i == 5 ? 0.0 : 0.1 + 0.01 * (double)i;
        m->above[i] = i == 4 ? INFINITY : i == 5 ? 0.0 : 1.0 / 3.0;
    }
    return (hf_bounded_readings){
        .n = READINGS, .x = m->x, .ldx = INPUTS, .y = m->y, .below = m->below, .above = m->above};
}

static const char *const names[INPUTS] = {"speed", "load, t"};
static const hf_envelope_labels labels = {
    .target = "force", .features = names, .feature_count = INPUTS, .source = "bench.csv"};

static hf_envelope *make(hf_context *ctx, bool rigorous, size_t reserve)
{
    measured m;
    const hf_bounded_readings readings = measure(&m);
    const hf_envelope_settings settings = {
        .size = sizeof(hf_envelope_settings), .jitter = 1e-9, .reserve = reserve, .rigorous = rigorous};
    hf_kernel *kernel = NULL;
    hf_envelope *envelope = NULL;
    if (hf_kernel_parse(ctx, "se(speed, lengthscale=1.5) + 0.5*matern52('load, t', lengthscale=0.7)", names,
                        INPUTS, &kernel) != HF_OK ||
        hf_kernel_set(ctx, kernel, "se.outputscale", 1.7) != HF_OK ||
        hf_envelope_create(ctx, kernel, &readings, 12.5, &settings, &envelope) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    hf_kernel_free(kernel);
    return envelope;
}

static void assert_same_bounds(hf_context *ctx, const hf_envelope *a, const hf_envelope *b)
{
    double x[40 * INPUTS];
    hf_bound left[40], right[40];
    for (size_t i = 0; i < 40; i++) {
        x[i * INPUTS] = 0.15 * (double)i;
        x[i * INPUTS + 1] = 2.0 - 0.05 * (double)i;
    }
    assert_true(hf_envelope_bounds_batch(ctx, a, 40, x, INPUTS, NULL, left) >= 0);
    assert_true(hf_envelope_bounds_batch(ctx, b, 40, x, INPUTS, NULL, right) >= 0);
    for (size_t i = 0; i < 40; i++) {
        assert_true(left[i].lower == right[i].lower && left[i].upper == right[i].upper);
        assert_true(left[i].lower < left[i].upper);
    }
}

/* The limits are kept less the offset, so that nothing is rounded twice; without one a file is of version 1. */
static void an_offset_is_kept(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "e.hf", path);
    for (int k = 0; k < 2; k++) {
        measured m;
        hf_bounded_readings readings = measure(&m);
        hf_kernel *kernel = NULL;
        hf_envelope *envelope = NULL, *loaded = NULL;
        readings.offset = k ? 1.0 / 3.0 : 0.0;
        assert_int_equal(hf_kernel_parse(ctx, "se(lengthscale=1.5)", NULL, INPUTS, &kernel), HF_OK);
        assert_int_equal(hf_envelope_create(ctx, kernel, &readings, 12.5, NULL, &envelope), HF_OK);
        assert_int_equal(hf_envelope_save(ctx, envelope, NULL, path), HF_OK);
        if (hf_envelope_load(ctx, path, &loaded, NULL) != HF_OK) fail_msg("%s", hf_context_message(ctx));
        assert_true(hf_envelope_offset(loaded) == readings.offset);
        assert_true(hf_envelope_minimum_norm(loaded) == hf_envelope_minimum_norm(envelope));
        assert_same_bounds(ctx, envelope, loaded);
        unsigned char *bytes;
        size_t size;
        assert_int_equal(hfi_envelope_to_image(ctx, loaded, NULL, &bytes, &size), HF_OK);
        assert_true(size > 64);
        assert_int_equal(bytes[63], k ? 2 : 1); /* user_version, of which this is the last byte */
        sqlite3_free(bytes);
        hf_envelope_free(loaded);
        hf_envelope_free(envelope);
        hf_kernel_free(kernel);
    }
    folder_remove(&scratch);
    hf_context_free(ctx);
}

static void what_is_saved_answers_the_same(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    folder scratch = folder_make();
    char path[256];
    folder_file(&scratch, "e.hf", path);
    for (int k = 0; k < 2; k++) {
        hf_envelope *envelope = make(ctx, k == 1, 3), *loaded = NULL;
        hf_envelope_labels *told = NULL;
        if (hf_envelope_save(ctx, envelope, &labels, path) != HF_OK ||
            hf_envelope_load(ctx, path, &loaded, &told) != HF_OK)
            fail_msg("%s", hf_context_message(ctx));
        assert_string_equal(told->target, "force");
        assert_string_equal(told->source, "bench.csv");
        assert_int_equal(told->feature_count, INPUTS);
        assert_string_equal(told->features[0], names[0]);
        assert_string_equal(told->features[1], names[1]);
        assert_int_equal(hf_envelope_readings(loaded), READINGS - 1);
        assert_true(hf_envelope_norm(loaded) == 12.5);
        assert_true(hf_envelope_minimum_norm(loaded) == hf_envelope_minimum_norm(envelope));
        const hf_envelope_settings *settings = hf_envelope_settings_of(loaded);
        assert_true(settings->jitter == 1e-9 && settings->rigorous == (k == 1) && settings->reserve == 3);
        for (size_t i = 0; i < READINGS - 1; i++) {
            const double *x, *z;
            double low[2], high[2];
            assert_int_equal(hf_envelope_reading(envelope, i, &x, &low[0], &high[0]), HF_OK);
            assert_int_equal(hf_envelope_reading(loaded, i, &z, &low[1], &high[1]), HF_OK);
            assert_memory_equal(x, z, INPUTS * sizeof *x);
            assert_true(low[0] == low[1] && high[0] == high[1]);
        }
        assert_same_bounds(ctx, envelope, loaded);
        /* The same bytes again, and over the old file. */
        unsigned char *first, *second;
        size_t size[2];
        assert_int_equal(hfi_envelope_to_image(ctx, envelope, &labels, &first, &size[0]), HF_OK);
        assert_int_equal(hfi_envelope_to_image(ctx, loaded, told, &second, &size[1]), HF_OK);
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(first, second, size[0]);
        assert_int_equal(hf_envelope_save(ctx, loaded, told, path), HF_OK);
        assert_int_equal(folder_count(&scratch), 1);
        sqlite3_free(first);
        sqlite3_free(second);
        hf_envelope_labels_free(told);
        hf_envelope_free(loaded);
        hf_envelope_free(envelope);
    }
    folder_remove(&scratch);
    hf_context_free(ctx);
}

/* Names that make another kernel of the expression would be a wrong bound later. */
static void labels_must_fit_the_kernel(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = make(ctx, false, 0);
    static const char *const swapped[] = {"load, t", "speed"}, *const other[] = {"a", "b"};
    hf_envelope_labels wrong = labels;
    unsigned char *bytes = NULL;
    size_t size;
    wrong.features = swapped;
    assert_int_equal(hfi_envelope_to_image(ctx, envelope, &wrong, &bytes, &size), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "not the kernel of the envelope");
    wrong.features = other;
    assert_int_equal(hfi_envelope_to_image(ctx, envelope, &wrong, &bytes, &size), HF_ERR_ARGUMENT);
    assert_int_equal(hfi_envelope_to_image(ctx, envelope, NULL, &bytes, &size), HF_ERR_ARGUMENT);
    wrong = labels;
    wrong.feature_count = 1;
    assert_int_equal(hfi_envelope_to_image(ctx, envelope, &wrong, &bytes, &size), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "1 names for 2 inputs");
    assert_null(bytes);
    hf_envelope_free(envelope);
    hf_context_free(ctx);
}

static void defaults_without_labels(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_kernel *kernel = NULL;
    hf_envelope *envelope = NULL, *loaded = NULL;
    hf_envelope_labels *told = NULL;
    measured m;
    const hf_bounded_readings readings = measure(&m);
    unsigned char *bytes;
    size_t size;
    assert_int_equal(hf_kernel_parse(ctx, "matern52(lengthscale=2) + linear(x2)", NULL, INPUTS, &kernel),
                     HF_OK);
    if (hf_envelope_create(ctx, kernel, &readings, 40.0, NULL, &envelope) != HF_OK ||
        hfi_envelope_to_image(ctx, envelope, NULL, &bytes, &size) != HF_OK ||
        hfi_envelope_from_bytes(ctx, bytes, size, "e.hf", &loaded, &told) != HF_OK)
        fail_msg("%s", hf_context_message(ctx));
    assert_string_equal(told->target, "y");
    assert_string_equal(told->features[1], "x2");
    assert_string_equal(told->source, "");
    assert_same_bounds(ctx, envelope, loaded);
    sqlite3_free(bytes);
    hf_envelope_labels_free(told);
    hf_envelope_free(loaded);
    hf_envelope_free(envelope);
    hf_kernel_free(kernel);
    hf_context_free(ctx);
}

/* ---- files that are refused ------------------------------------------------------------------------------------ */

static void assert_rejected(hf_context *ctx, const unsigned char *bytes, size_t size, const char *message)
{
    hf_envelope *loaded = NULL;
    hf_envelope_labels *told = NULL;
    const hf_status status = hfi_envelope_from_bytes(ctx, bytes, size, "e.hf", &loaded, &told);
    if (status != HF_ERR_MODEL_FILE) fail_msg("%s instead of %s", hf_status_name(status), message);
    assert_null(loaded);
    assert_null(told);
    assert_contains(hf_context_message(ctx), "e.hf: ");
    assert_contains(hf_context_message(ctx), message);
}

static void foreign_files_are_refused(void **state)
{
    (void)state;
    image model = image_make();
    hf_context *ctx = model.ctx;
    hf_envelope *envelope = make(ctx, false, 0);
    unsigned char *bytes;
    size_t size;
    assert_int_equal(hfi_envelope_to_image(ctx, envelope, &labels, &bytes, &size), HF_OK);
    /* One is not the other, and is told so. */
    assert_rejected(ctx, model.bytes, model.size, "a model, not an envelope");
    hf_model *loaded = NULL;
    assert_int_equal(hfi_model_from_bytes(ctx, bytes, size, "e.hf", &loaded), HF_ERR_MODEL_FILE);
    assert_contains(hf_context_message(ctx), "e.hf: an envelope, not a model; hf_envelope_load()");
    assert_null(loaded);
    /* Not even with the other's mark on it. */
    model.copy[70] = 0x65;
    model.copy[71] = 0x6e;
    model.copy[63] = HFI_ENVELOPE_VERSION;
    assert_rejected(ctx, model.copy, model.size, "damaged");
    assert_rejected(ctx, bytes, 0, "empty file, not a Holdfast envelope");
    assert_rejected(ctx, (const unsigned char *)"a,b\n1,2\n", 8, "text; is it the data? Make an envelope");
    for (size_t cut = 16; cut < size; cut += cut < 600 ? 7 : 509)
        assert_rejected(ctx, bytes, cut, "truncated");
    bytes[63] = HFI_ENVELOPE_VERSION + 1;
    assert_rejected(ctx, bytes, size, "newer Holdfast (format 3");
    bytes[63] = 0;
    assert_rejected(ctx, bytes, size, "no format version");
    sqlite3_free(bytes);
    hf_envelope_free(envelope);
    image_free(&model);
}

/* Whatever bit flips: refused, or the bounds are the same. */
static void flipped_bits_do_not_pass(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = make(ctx, false, 0);
    unsigned char *bytes;
    size_t size, rejected = 0, accepted = 0;
    assert_int_equal(hfi_envelope_to_image(ctx, envelope, &labels, &bytes, &size), HF_OK);
    for (size_t bit = 0; bit < 8 * size; bit += 157) {
        hf_envelope *loaded = NULL;
        bytes[bit / 8] ^= (unsigned char)(1U << (bit % 8));
        const hf_status status = hfi_envelope_from_bytes(ctx, bytes, size, "e.hf", &loaded, NULL);
        if (status >= 0) {
            assert_same_bounds(ctx, envelope, loaded);
            accepted++;
        } else {
            assert_int_equal(status, HF_ERR_MODEL_FILE);
            assert_null(loaded);
            rejected++;
        }
        hf_envelope_free(loaded);
        bytes[bit / 8] ^= (unsigned char)(1U << (bit % 8));
    }
    assert_true(rejected > 100);
    /* Unused bytes of pages carry nothing. */
    assert_true(accepted > 0);
    sqlite3_free(bytes);
    hf_envelope_free(envelope);
    hf_context_free(ctx);
}

/* Changes the image with SQLite's own means and makes the checksum right again. */
static void assert_nonsense(hf_context *ctx, const unsigned char *bytes, size_t size, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_int64 length = 0;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    unsigned char *room = sqlite3_malloc64(2 * size + 65536);
    assert_non_null(room);
    memcpy(room, bytes, size);
    assert_int_equal(sqlite3_deserialize(db, "main", room, (sqlite3_int64)size,
                                         (sqlite3_int64)(2 * size + 65536), SQLITE_DESERIALIZE_FREEONCLOSE),
                     SQLITE_OK);
    char *error = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    const hfi_file_tables tables = hfi_model_tables(HFI_ENVELOPE_SCHEMA);
    assert_int_equal(hfi_tables_seal(db, &tables), SQLITE_OK);
    unsigned char *changed = sqlite3_serialize(db, "main", &length, 0);
    assert_non_null(changed);
    hf_envelope *loaded = NULL;
    hf_envelope_labels *told = NULL;
    const hf_status status = hfi_envelope_from_bytes(ctx, changed, (size_t)length, "e.hf", &loaded, &told);
    if (status != HF_ERR_MODEL_FILE && status != HF_ERR_TOO_LARGE)
        fail_msg("%s: %s", sql, hf_status_name(status));
    assert_null(loaded);
    assert_null(told);
    sqlite3_free(changed);
    sqlite3_close(db);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_envelope *envelope = make(ctx, false, 0);
    unsigned char *bytes;
    size_t size;
    assert_int_equal(hfi_envelope_to_image(ctx, envelope, &labels, &bytes, &size), HF_OK);
    static const char *const changes[] = {
        "UPDATE meta SET value = 0.0 WHERE key = 'norm'",
        "UPDATE meta SET value = -1.0 WHERE key = 'norm'",
        "UPDATE meta SET value = 1e-3 WHERE key = 'norm'",
        "UPDATE meta SET value = NULL WHERE key = 'norm'",
        "UPDATE meta SET value = 'x' WHERE key = 'norm'",
        "DELETE FROM meta WHERE key = 'jitter'",
        "UPDATE meta SET value = -1.0 WHERE key = 'jitter'",
        "UPDATE meta SET value = 2 WHERE key = 'rigorous'",
        "UPDATE meta SET value = -1 WHERE key = 'reserve'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'reserve'",
        "UPDATE meta SET value = 4097 WHERE key = 'reserve'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'readings'",
        "UPDATE meta SET value = 0 WHERE key = 'readings'",
        "UPDATE meta SET value = 12 WHERE key = 'readings'",
        "UPDATE meta SET value = 0 WHERE key = 'inputs'",
        "UPDATE meta SET value = 3 WHERE key = 'inputs'",
        "UPDATE meta SET value = 9223372036854775807 WHERE key = 'inputs'",
        "UPDATE meta SET value = NULL WHERE key = 'target'",
        "UPDATE meta SET value = 'se(' WHERE key = 'kernel'",
        "UPDATE meta SET value = 'se + white' WHERE key = 'kernel'",
        "UPDATE feature SET scale = 2.0",
        "UPDATE feature SET shift = 1.0",
        "UPDATE feature SET name = 'velocity' WHERE position = 0",
        "DELETE FROM feature WHERE position = 1",
        "DELETE FROM parameter WHERE position = 0",
        "UPDATE parameter SET value = -1.0 WHERE position = 0",
        "DELETE FROM array WHERE name = 'reading_lower'",
        "UPDATE array SET data = zeroblob(length(data)) WHERE name = 'reading_inputs'",
        "UPDATE array SET columns = 1, rows = rows * 2 WHERE name = 'reading_inputs'",
        /* lower above upper, and neither of them */
        "UPDATE array SET data = (SELECT data FROM array WHERE name = 'reading_upper') WHERE name = "
        "'reading_lower'; "
        "UPDATE array SET data = zeroblob(length(data)) WHERE name = 'reading_upper'",
        "CREATE TABLE stranger (a)",
    };
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++)
        assert_nonsense(ctx, bytes, size, changes[k]);
    sqlite3_free(bytes);
    hf_envelope_free(envelope);
    hf_context_free(ctx);
}

static void files_are_told_apart(void **state)
{
    (void)state;
    image model = image_make();
    folder scratch = folder_make();
    char path[3][256];
    folder_file(&scratch, "e.hf", path[0]);
    folder_file(&scratch, "m.hf", path[1]);
    folder_file(&scratch, "short", path[2]);
    hf_envelope *envelope = make(model.ctx, false, 0);
    assert_int_equal(hf_envelope_save(model.ctx, envelope, &labels, path[0]), HF_OK);
    assert_int_equal(hf_model_save(model.ctx, model.model, path[1]), HF_OK);
    FILE *file = fopen(path[2], "w");
    assert_non_null(file);
    fputs("SQLite format 3", file);
    fclose(file);
    assert_int_equal(hf_file_type(path[0]), HF_FILE_ENVELOPE);
    assert_int_equal(hf_file_type(path[1]), HF_FILE_MODEL);
    assert_int_equal(hf_file_type(path[2]), HF_FILE_OTHER);
    assert_int_equal(hf_file_type("/dev/null"), HF_FILE_OTHER);
    assert_int_equal(hf_file_type("no/such/file"), HF_FILE_OTHER);
    assert_int_equal(hf_file_type(NULL), HF_FILE_OTHER);
    hf_envelope_free(envelope);
    folder_remove(&scratch);
    image_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_saved_answers_the_same),
        cmocka_unit_test(an_offset_is_kept),
        cmocka_unit_test(labels_must_fit_the_kernel),
        cmocka_unit_test(defaults_without_labels),
        cmocka_unit_test(foreign_files_are_refused),
        cmocka_unit_test(flipped_bits_do_not_pass),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(files_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
