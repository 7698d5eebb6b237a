/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of settings: every member of every one has a default, and is set and told by its name. A program that was
 * compiled with a shorter struct, or with none that there is, gets what the header promises. */
#include "data/support.h"

#include <holdfast/holdfast.h>

#include <math.h>

typedef const hf_settings_table *table_getter(void);

static const struct kind {
    const char *name;
    table_getter *table;
    size_t bytes;
} kinds[] = {
#define KIND(name)                                                                                           \
    {                                                                                                        \
#name, name##_table, sizeof(name)                                                                    \
    }
    KIND(hf_acquire),
    KIND(hf_acquire_front),
    KIND(hf_advice_settings),
    KIND(hf_attack_settings),
    KIND(hf_certify_settings),
    KIND(hf_claim),
    KIND(hf_class_rule),
    KIND(hf_class_settings),
    KIND(hf_closed_settings),
    KIND(hf_columns),
    KIND(hf_compare_settings),
    KIND(hf_dialect),
    KIND(hf_envelope_limits),
    KIND(hf_envelope_settings),
    KIND(hf_eulbo_settings),
    KIND(hf_expert_settings),
    KIND(hf_export_settings),
    KIND(hf_fit_settings),
    KIND(hf_linear_settings),
    KIND(hf_output_norm),
    KIND(hf_outputs_rule),
    KIND(hf_projection),
    KIND(hf_reach_settings),
    KIND(hf_region),
    KIND(hf_robust_covariance_settings),
    KIND(hf_search_settings),
    KIND(hf_study_settings),
    KIND(hf_track_settings),
    KIND(hf_trust_settings),
    KIND(hf_ucb)};

enum {
    KINDS = sizeof kinds / sizeof kinds[0],
    ROOM = 2048
};

/* ---- every struct ----------------------------------------------------------------------------------------------- */

/* A default is in its range, and comes back as it was told. */
static void defaults_are_told_and_taken_back(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < KINDS; k++) {
        const hf_settings_table *table = kinds[k].table();
        union {
            size_t size;
            unsigned char byte[ROOM];
        } a, b;
        memset(&a, 0xAA, sizeof a);
        assert_int_equal(hf_settings_init(table, &a, kinds[k].bytes), HF_OK);
        assert_int_equal(a.size, kinds[k].bytes);
        assert_int_equal(a.byte[kinds[k].bytes], 0xAA);
        b = a;
        for (size_t i = 0; i < hf_setting_count(table); i++) {
            const hf_setting *setting = hf_setting_at(table, i);
            char text[64];
            if (setting->type >= HF_SETTING_LIST) continue;
            assert_int_equal(hf_settings_get(ctx, table, &a, setting->name, sizeof text, text), HF_OK);
            if (setting->type == HF_SETTING_TEXT) continue;
            if (hf_settings_set(ctx, table, &b, setting->name, text) < 0)
                fail_msg("%s.%s = %s: %s", kinds[k].name, setting->name, text, hf_context_message(ctx));
        }
        assert_memory_equal(&a, &b, sizeof a);
        if (table != hf_study_settings_table()) /* which has no variables yet */
            assert_int_equal(hf_settings_check(ctx, table, &a, 1, NULL, NULL), HF_OK);
    }
    hf_context_free(ctx);
}

static void sizes_that_are_none_are_refused(void **state)
{
    (void)state;
    static const size_t absurd[] = {0, 1, 4, sizeof(size_t), 1000000, SIZE_MAX};
    hf_context *ctx = hf_context_create();
    for (size_t k = 0; k < KINDS; k++)
        for (size_t i = 0; i < sizeof absurd / sizeof absurd[0]; i++) {
            size_t settings[ROOM / sizeof(size_t)] = {absurd[i]};
            const hf_settings_table *table = kinds[k].table();
            const char *name = hf_setting_at(table, 0)->name;
            assert_int_equal(hf_settings_init(table, settings, absurd[i]), HF_ERR_ARGUMENT);
            assert_int_equal(hf_settings_check(ctx, table, settings, 1, NULL, NULL), HF_ERR_ARGUMENT);
            assert_contains(hf_context_message(ctx), "size");
            assert_contains(hf_context_message(ctx), kinds[k].name);
            assert_int_equal(hf_settings_set(ctx, table, settings, name, "default"), HF_ERR_ARGUMENT);
            assert_contains(hf_context_message(ctx), "size");
        }
    hf_context_free(ctx);
}

/* ---- an earlier program ------------------------------------------------------------------------------------------ */

/* hf_fit_settings as a version without all that follows `groups` would have had it. */
typedef struct earlier_fit_settings {
    size_t size;
    const char *kernel;
    hf_mean_kind mean;
    hf_likelihood sites;
    hf_outliers suspects;
    bool groups;
} earlier_fit_settings;

/* The sides are equal, so that all but the size and the first members are defaults. */
static void an_earlier_program_works(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const hf_settings_table *table = hf_fit_settings_table();
    struct {
        earlier_fit_settings settings;
        unsigned char behind[sizeof(hf_fit_settings)];
    } old;
    memset(&old, 0xAA, sizeof old);
    assert_int_equal(hf_settings_init(table, &old.settings, sizeof old.settings), HF_OK);
    for (size_t i = 0; i < sizeof old.behind; i++) assert_int_equal(old.behind[i], 0xAA);
    assert_true(old.settings.groups && old.settings.suspects == HF_OUTLIERS_AUTO);
    assert_int_equal(hf_settings_set(ctx, table, &old.settings, "suspects", "off"), HF_OK);
    assert_int_equal(hf_settings_set(ctx, table, &old.settings, "iterations", "5"), HF_ERR_ARGUMENT);
    old.settings.kernel = "se";
    hf_fit_settings present = hf_fit_settings_default();
    present.suspects = HF_OUTLIERS_OFF;
    present.kernel = "se";
    const double x[] = {0.0, 1.0, 2.0, 3.0, 4.0, 5.0}, y[] = {0.1, 0.8, 0.9, 0.2, -0.7, -1.0};
    const hf_data data = {.n = 6, .d = 1, .x = x, .ldx = 1, .y = y};
    double mean[2] = {NAN, NAN};
    for (int k = 0; k < 2; k++) {
        hf_posterior *posterior = NULL;
        const hf_fit_settings *settings =
            k == 0 ? &present : (const hf_fit_settings *)(const void *)&old.settings;
        assert_true(hf_fit_data(ctx, &data, settings, &posterior, NULL, NULL) >= 0);
        assert_int_equal(hf_predict(ctx, posterior, 1, &(double){2.5}, 1, &mean[k], NULL, NULL), HF_OK);
        hf_posterior_free(posterior);
    }
    assert_true(mean[0] == mean[1]);
    assert_int_equal(
        hf_fit_settings_preset(ctx, "rcgp", (hf_fit_settings *)(void *)&old.settings, sizeof old.settings),
        HF_OK);
    assert_int_equal(old.settings.sites, HF_LIKELIHOOD_ROBUST);
    for (size_t i = 0; i < sizeof old.behind; i++) assert_int_equal(old.behind[i], 0xAA);
    hf_context_free(ctx);
}

/* Certified ranges by a program that knows beta, output and tolerance alone. */
static void an_earlier_certificate_works(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_posterior *posterior = NULL;
    const double x[] = {0.0, 1.0, 2.0, 3.0}, y[] = {0.1, 0.8, 0.9, 0.2}, low = 0.5, high = 1.5;
    const hf_data data = {.n = 4, .d = 1, .x = x, .ldx = 1, .y = y};
    hf_fit_settings fit = hf_fit_settings_default();
    fit.train = fit.calibrate = fit.consistent_noise = false;
    fit.suspects = HF_OUTLIERS_OFF;
    assert_true(hf_fit_data(ctx, &data, &fit, &posterior, NULL, NULL) >= 0);
    const struct {
        size_t size;
        double beta;
        size_t output;
        double tolerance;
    } old = {sizeof old, 2.0, 0, 0.5};
    hf_certify_settings present = hf_certify_settings_default();
    present.beta = 2.0;
    present.tolerance = 0.5;
    hf_range range[2];
    for (int k = 0; k < 2; k++)
        assert_true(hf_certify(ctx, posterior, HF_CERTIFY_MEAN_PLUS,
                               k == 0 ? &present : (const hf_certify_settings *)(const void *)&old, &low,
                               &high, &range[k], NULL, NULL) >= 0);
    assert_true(range[0].lower == range[1].lower && range[0].upper == range[1].upper);
    hf_posterior_free(posterior);
    hf_context_free(ctx);
}

/* ---- a later program --------------------------------------------------------------------------------------------- */

/* It works as long as what this library does not know is zero. */
static void a_later_program_is_told_what_is_not_known(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    struct {
        hf_compare_settings settings;
        double later;
    } s = {.later = 1.0};
    const hf_settings_table *table = hf_compare_settings_table();
    assert_int_equal(hf_settings_init(table, &s, sizeof s), HF_OK);
    assert_true(s.later == 0.0 && s.settings.size == sizeof s);
    assert_int_equal(hf_settings_check(ctx, table, &s, 1, NULL, NULL), HF_OK);
    s.later = 2.0;
    assert_int_equal(hf_settings_check(ctx, table, &s, 1, NULL, NULL), HF_ERR_ARGUMENT);
    assert_contains(hf_context_message(ctx), "others are set");
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_told_and_taken_back),
        cmocka_unit_test(sizes_that_are_none_are_refused),
        cmocka_unit_test(an_earlier_program_works),
        cmocka_unit_test(an_earlier_certificate_works),
        cmocka_unit_test(a_later_program_is_told_what_is_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
