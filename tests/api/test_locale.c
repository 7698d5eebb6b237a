/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose locale has a decimal comma gets the bytes that every other program gets: pages, C files, texts of
 * settings, messages; and its numbers are read with a point. */
#include "api/workshop.h"
#include "data/comma.h"

#include <holdfast/export_c.h>
#include <holdfast/page.h>

/* Everything that the library writes about one model, as one text. */
typedef struct written {
    char *page, *source, settings[4096], message[256];
} written;

static char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1000001);
    assert_non_null(text);
    const size_t bytes = fread(text, 1, 1000000, file);
    assert_true(bytes > 1000 && bytes < 1000000);
    fclose(file);
    return text;
}

static void write_settings(hf_context *ctx, written *w)
{
    const hf_settings_table *table = hf_fit_settings_table();
    hf_fit_settings settings = hf_fit_settings_default();
    size_t used = 0;
    assert_int_equal(hf_settings_set(ctx, table, &settings, "beta", "0.25"), HF_OK);
    assert_true(settings.beta == 0.25);
    for (size_t i = 0; i < hf_setting_count(table); i++) {
        char text[64];
        const hf_setting *setting = hf_setting_at(table, i);
        if (setting->type >= HF_SETTING_LIST) continue;
        assert_int_equal(hf_settings_get(ctx, table, &settings, setting->name, sizeof text, text), HF_OK);
        used +=
            (size_t)snprintf(w->settings + used, sizeof w->settings - used, "%s=%s;", setting->name, text);
        assert_int_equal(hf_settings_set(ctx, table, &settings, setting->name, text), HF_OK);
    }
    assert_true(used < sizeof w->settings);
    assert_int_equal(hf_settings_set(ctx, table, &settings, "beta", "-0.25"), HF_ERR_ARGUMENT);
    snprintf(w->message, sizeof w->message, "%s", hf_context_message(ctx));
}

static written write_all(workshop *w)
{
    written all = {.page = NULL};
    char path[256];
    folder_file(&w->scratch, "page.html", path);
    assert_int_equal(hf_model_report_html(w->ctx, w->model, NULL, path), HF_OK);
    all.page = file_text(path);
    folder_file(&w->scratch, "model.c", path);
    assert_int_equal(hf_export_c(w->ctx, w->model, NULL, path, NULL), HF_OK);
    all.source = file_text(path);
    write_settings(w->ctx, &all);
    return all;
}

static void bytes_are_the_same_with_a_decimal_comma(void **state)
{
    (void)state;
    workshop w;
    hf_context *ctx = hf_context_create();
    workshop_open(&w, ctx);
    const written point = write_all(&w);
    comma locale = comma_begin();
    const written other = write_all(&w);
    hf_kernel *kernel = NULL;
    assert_int_equal(hf_kernel_parse(ctx, "0.25*se(lengthscale=2.5e-1)", NULL, 1, &kernel), HF_OK);
    hf_parameter parameter;
    assert_int_equal(hf_kernel_parameter(kernel, 1, &parameter), HF_OK);
    assert_true(parameter.value == 0.25);
    hf_kernel_free(kernel);
    /* the locale is the program's, and stays */
    if (locale.there) assert_string_equal(localeconv()->decimal_point, ",");
    assert_string_equal(point.page, other.page);
    assert_string_equal(point.source, other.source);
    assert_string_equal(point.settings, other.settings);
    assert_string_equal(point.message, other.message);
    assert_non_null(strstr(point.message, "-0.25"));
    free(point.page);
    free(point.source);
    free(other.page);
    free(other.source);
    workshop_close(&w);
    hf_context_free(ctx);
    comma_end(&locale);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_the_same_with_a_decimal_comma)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
