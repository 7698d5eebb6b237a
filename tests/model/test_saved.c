/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a fit made can be saved, is read again, and predicts the same to the digit: kernels,
 * presets, solvers, held and started values over twelve decades, units of any size, several
 * outputs, labels. */
#include "model/file_testing.h"

#include "kernel/expression.h"

#include <float.h>

enum {
    TRIALS = 240,
    ROWS = 16,
    TEXT = 160,
    BYTES = 200 * (ROWS + 1)
};

static double decades(hfi_stream *s, double each)
{
    return pow(10.0, each * (2.0 * hfi_stream_uniform(s) - 1.0));
}

/* An expression with a number of any size, held (=) or started from (~). */
static void any_kernel(hfi_stream *s, char text[TEXT])
{
    static const struct {
        const char *before, *after;
    } forms[] = {{"se(lengthscale", ")"},
                 {"se(ard, lengthscale[1]=0.7, lengthscale[0]", ")"},
                 {"matern52(ard) + white(variance", ")"},
                 {"matern12(lengthscale", ")"},
                 {"matern32(a, outputscale", ") + se(b)"},
                 {"rq(alpha", ")"},
                 {"rq(b, lengthscale", ") * matern12(a)"},
                 {"se + periodic(a, period", ")"},
                 {"periodic(a, lengthscale", ")"},
                 {"matern52 + linear(variance", ")"},
                 {"se + constant(variance", ")"},
                 {"sm(a, components=1, weight[0]", ")"},
                 {"sm(a, components=2, mean[0,0]", ")"},
                 {"sm(components=1, variance[0,0]", ")"}};
    const size_t form = hfi_stream_below(s, sizeof forms / sizeof *forms);
    (void)snprintf(text, TEXT, "%s%c%.4g%s", forms[form].before, hfi_stream_below(s, 3) ? '=' : '~',
                   decades(s, 6.0), forms[form].after);
}

/* Columns a, b, y, z (with a gap), two and three classes. */
static void any_csv(hfi_stream *s, char text[BYTES])
{
    static const char *const classes[] = {"low", "mid", "top"};
    const double a_unit = decades(s, 6.0), b_unit = decades(s, 6.0), y_unit = decades(s, 6.0),
                 shift = hfi_stream_below(s, 3) ? 0.0 : 100.0;
    size_t used = (size_t)snprintf(text, BYTES, "a,b,y,z,two,three\n");
    for (size_t i = 0; i < ROWS; i++) {
        const double a = 4.0 * hfi_stream_uniform(s), b = hfi_stream_normal(s),
                     y = sin(2.0 * a) + 0.5 * b + 0.1 * hfi_stream_normal(s) + (i == 5 ? 9.0 : 0.0);
        char z[32];
        (void)snprintf(z, sizeof z, "%.17g", i == 3 ? NAN : cos(a) - y);
        used += (size_t)snprintf(text + used, BYTES - used, "%.17g,%.17g,%.17g,%s,%s,%s\n",
                                 a_unit * (a + shift), b_unit * b, y_unit * (y + shift), i == 3 ? "" : z,
                                 classes[a > 2.0], classes[(size_t)(a / 1.334)]);
    }
}

static void assert_predicts_the_same(hf_context *ctx, const char *text, const hf_model *a, const hf_model *b)
{
    hf_table *first = table_of(ctx, text), *second = table_of(ctx, text);
    assert_true(hf_predict_into_table(ctx, a, first) >= 0 && hf_predict_into_table(ctx, b, second) >= 0);
    assert_int_equal(hf_table_columns(first), hf_table_columns(second));
    for (size_t j = 0; j < hf_table_columns(first); j++) {
        const double *left = NULL, *right = NULL;
        if (hf_table_numbers(NULL, first, j, &left) < 0) continue;
        assert_int_equal(hf_table_numbers(NULL, second, j, &right), HF_OK);
        assert_memory_equal(left, right, ROWS * sizeof *left);
    }
    hf_table_free(first);
    hf_table_free(second);
}

/* Presets with the target that they are for; the rest of the settings is drawn. */
static const struct {
    const char *preset, *first, *second;
} kinds[] = {{"default", "y", NULL}, {"gp", "y", NULL},         {"rcgp", "y", NULL},
             {"cagp", "y", NULL},    {"rcagp", "y", NULL},      {"sgpr", "y", NULL},
             {"rcsvgp", "y", NULL},  {"svgp", "y", NULL},       {"student-t", "y", NULL},
             {"rrp", "y", NULL},     {"default", "y", "z"},     {"mogp", "y", "z"},
             {"morcgp", "y", "z"},   {"t-mogp", "y", "z"},      {"independent", "y", "z"},
             {"cagp", "y", "z"},     {"rcagp-text", "y", NULL}, {"probit", "two", NULL},
             {"logit", "two", NULL}, {"softmax", "three", NULL}};

static void draw_more(hfi_stream *s, hf_fit_settings *out)
{
    if (hfi_stream_below(s, 3) == 0) {
        out->optimiser = HF_OPTIMISER_ADAM;
        out->learning_rate = 0.01 + 3.0 * hfi_stream_uniform(s);
    }
    if (hfi_stream_below(s, 3) == 0) out->noise_start = decades(s, 8.0);
    if (hfi_stream_below(s, 3) == 0) out->max_noise = decades(s, 8.0);
    const unsigned inference = (unsigned)hfi_stream_below(s, 3);
    if (out->sites != HF_LIKELIHOOD_SOFTMAX) out->inference = (hf_inference)inference;
    out->action_kind = (hf_actions)hfi_stream_below(s, 3);
    out->inducing_method = (hf_inducing_method)hfi_stream_below(s, 3);
    out->train_inducing = hfi_stream_below(s, 3) == 0;
    out->restarts = hfi_stream_below(s, 2);
    if (hfi_stream_below(s, 6) == 0) out->independent = true;
    if (hfi_stream_below(s, 6) == 0) out->coregion_rank = 1;
    if (hfi_stream_below(s, 6) == 0) out->shared_noise = true;
    if (hfi_stream_below(s, 6) == 0) out->solver = (hf_solver)hfi_stream_below(s, 4);
    if (hfi_stream_below(s, 6) == 0) out->objective = (hf_objective)hfi_stream_below(s, 5);
    if (hfi_stream_below(s, 3) == 0) out->mean = (hf_mean_kind)hfi_stream_below(s, 3);
}

static void draw_settings(hf_context *ctx, hfi_stream *s, const char *preset, hf_fit_settings *out)
{
    assert_int_equal(hf_fit_settings_preset(ctx, preset, out, sizeof *out), HF_OK);
    const bool labels = hfi_stream_below(s, 4) == 0 && out->sites >= HF_LIKELIHOOD_PROBIT;
    out->iterations = 1 + hfi_stream_below(s, 6);
    out->standardise = hfi_stream_below(s, 2);
    out->train = hfi_stream_below(s, 4) > 0;
    out->priors = hfi_stream_below(s, 2);
    if (out->sites < HF_LIKELIHOOD_PROBIT && hfi_stream_below(s, 4) == 0) {
        out->unit_inputs = true;
        out->lengthscale_prior = out->priors ? HF_PRIOR_DIMENSION : HF_PRIOR_WEAK;
    }
    if (out->sites < HF_LIKELIHOOD_PROBIT) {
        out->train_mean = hfi_stream_below(s, 4) > 0;
        out->calibrate = hfi_stream_below(s, 2);
    }
    if (out->minibatch > 0) out->minibatch = 8;
    if (labels && out->sites != HF_LIKELIHOOD_SOFTMAX) out->solver = HF_SOLVER_INDUCING;
    if (out->solver == HF_SOLVER_INDUCING) out->inducing = 5;
    if (out->sites == HF_LIKELIHOOD_ROBUST && hfi_stream_below(s, 3) == 0) out->beta = decades(s, 2.0);
    if (out->sites < HF_LIKELIHOOD_PROBIT) draw_more(s, out);
}

/* Makes a fit, its file and its predictions. False: there is no such fit. */
static bool try_one(hf_context *ctx, size_t trial)
{
    hfi_stream s;
    hfi_stream_init(&s, 15, HFI_PURPOSE_TEST, trial);
    static const char *const features[] = {"a", "b"};
    const size_t kind = trial % (sizeof kinds / sizeof *kinds);
    const char *const targets[] = {kinds[kind].first, kinds[kind].second};
    const hf_columns columns = {.size = sizeof columns,
                                .features = features,
                                .feature_count = 2,
                                .targets = targets,
                                .target_count = targets[1] ? 2 : 1};
    char kernel[TEXT], text[BYTES];
    hf_fit_settings settings;
    any_csv(&s, text);
    draw_settings(ctx, &s, kinds[kind].preset, &settings);
    any_kernel(&s, kernel);
    if (hfi_stream_below(&s, 6)) settings.kernel = kernel;
    const hf_assignment noise = {"noise", decades(&s, 12.0)};
    const bool held = hfi_stream_below(&s, 3) == 0 && settings.sites < HF_LIKELIHOOD_PROBIT && !targets[1];
    settings.set = held ? &noise : NULL;
    settings.set_count = held ? 1 : 0;
    hf_table *table = table_of(ctx, text);
    hf_model *model = NULL, *loaded = NULL;
    const bool fitted = hf_fit(ctx, table, &columns, &settings, &model, NULL) >= 0;
    hf_table_free(table);
    if (!fitted) return false;
    unsigned char *bytes = NULL, *again = NULL;
    size_t size = 0, more = 0;
    assert_int_equal(hfi_model_to_image(ctx, model, HFI_PIECE_BYTES, &bytes, &size), HF_OK);
    if (hfi_model_from_bytes(ctx, bytes, size, "m", &loaded) != HF_OK)
        fail_msg("%s, %s: %s", kinds[kind].preset, kernel, hf_context_message(ctx));
    assert_int_equal(hfi_model_to_image(ctx, loaded, HFI_PIECE_BYTES, &again, &more), HF_OK);
    assert_true(more == size && memcmp(bytes, again, size) == 0);
    assert_predicts_the_same(ctx, text, model, loaded);
    sqlite3_free(bytes);
    sqlite3_free(again);
    hf_model_free(loaded);
    hf_model_free(model);
    return true;
}

static void what_a_fit_made_is_read_again(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_context_set_threads(ctx, 1);
    size_t models = 0;
    for (size_t trial = 0; trial < TRIALS; trial++) models += try_one(ctx, trial);
    assert_true(models > TRIALS * 4 / 5);
    hf_context_free(ctx);
}

/* Lengthscales that are held beyond the box of training lie on its edge, which is what exp(log()) may miss. */
static void held_lengthscales_are_read_again(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_table *table = wavy_table(ctx, 6, 0);
    for (size_t k = 0; k < 60; k++) {
        char kernel[TEXT];
        (void)snprintf(kernel, sizeof kernel, "se(lengthscale=%.3g)",
                       k < 30 ? 0.001 * (double)(k + 1) : 317.0 * (double)k);
        hf_fit_settings settings = hf_fit_settings_default();
        settings.kernel = kernel;
        settings.standardise = false;
        settings.suspects = HF_OUTLIERS_OFF;
        settings.iterations = 2;
        hf_model *model = model_of(ctx, table, &settings), *loaded = NULL;
        unsigned char *bytes = NULL;
        size_t size = 0;
        assert_int_equal(hfi_model_to_image(ctx, model, HFI_PIECE_BYTES, &bytes, &size), HF_OK);
        if (hfi_model_from_bytes(ctx, bytes, size, "m", &loaded) != HF_OK)
            fail_msg("%s: %s", kernel, hf_context_message(ctx));
        assert_same_predictions(ctx, model, loaded);
        sqlite3_free(bytes);
        hf_model_free(loaded);
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

/* Files that were written with a value a rounding beyond its box are read; further out they are damaged. */
static void a_value_a_rounding_beyond_its_box_is_read(void **state)
{
    (void)state;
    static const struct {
        double lower;
        hf_status status;
    } tries[] = {{1.0 + 2.0 * DBL_EPSILON, HF_OK}, {1.0 + 1e-9, HF_ERR_MODEL_FILE}};
    for (size_t k = 0; k < 2; k++) {
        image made = image_make();
        hf_parameter p;
        hf_kernel *kernel = made.model->posterior->kernel;
        assert_int_equal(hf_kernel_parameter(kernel, 0, &p), HF_OK);
        kernel->lower[0] = p.value * tries[k].lower;
        unsigned char *bytes = NULL;
        size_t size = 0;
        hf_model *loaded = NULL;
        assert_int_equal(hfi_model_to_image(made.ctx, made.model, HFI_PIECE_BYTES, &bytes, &size), HF_OK);
        assert_int_equal(hfi_model_from_bytes(made.ctx, bytes, size, "m", &loaded), tries[k].status);
        if (loaded != NULL) assert_same_predictions(made.ctx, made.model, loaded);
        hf_model_free(loaded);
        sqlite3_free(bytes);
        image_free(&made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_fit_made_is_read_again),
        cmocka_unit_test(held_lengthscales_are_read_again),
        cmocka_unit_test(a_value_a_rounding_beyond_its_box_is_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
