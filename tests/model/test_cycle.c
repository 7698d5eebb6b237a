/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a series repeats: how often noise is taken for a cycle, which cycles are found, and what is offered. */
#include "model/model_testing.h"

#include "model/cycle.h"

enum {
    LONGEST = 700
};

static hfi_stream stream_of(uint64_t seed, uint64_t index)
{
    hfi_stream stream;
    hfi_stream_init(&stream, seed, HFI_PURPOSE_TEST, index);
    return stream;
}

static hfi_cycle cycle_of(hf_context *ctx, size_t n, const double *values)
{
    hfi_cycle cycle;
    assert_int_equal(hfi_find_cycle(ctx, n, values, &cycle), HF_OK);
    return cycle;
}

/* Noise with a memory: 0 is white, 1 a random walk. */
static void noise(uint64_t seed, double memory, size_t n, double *values)
{
    hfi_stream stream = stream_of(seed, 1 + n);
    double state = 0.0;
    for (size_t i = 0; i < 100; i++) state = memory * state + hfi_stream_normal(&stream);
    for (size_t i = 0; i < n; i++) values[i] = state = memory * state + hfi_stream_normal(&stream);
}

static size_t count_cycles(hf_context *ctx, double memory, size_t seeds)
{
    static const size_t sizes[] = {24, 60, 150, 400};
    double values[LONGEST];
    size_t count = 0;
    for (size_t k = 0; k < 4; k++)
        for (uint64_t seed = 0; seed < seeds; seed++) {
            noise(seed, memory, sizes[k], values);
            count += cycle_of(ctx, sizes[k], values).period > 0.0 ? 1 : 0;
        }
    return count;
}

/* White noise is taken for a cycle once in a thousand series at most, noise with memory once in a hundred. */
static void noise_does_not_repeat(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    const size_t white = count_cycles(ctx, 0.0, 500);
    if (white > 2) fail_msg("%zu of 2000 series of white noise", white);
    static const double memories[] = {0.3, 0.6, 0.9, 0.97, 1.0};
    for (size_t m = 0; m < 5; m++) {
        const size_t red = count_cycles(ctx, memories[m], 100);
        if (red > 4) fail_msg("%zu of 400 series of noise with memory %g", red, memories[m]);
    }
    hf_context_free(ctx);
}

static double trend(int kind, double t)
{
    switch (kind) {
    case 0:
        return 3.0 * t;
    case 1:
        return t * t;
    case 2:
        return exp(4.0 * t);
    case 3:
        return 1.0 / (1.0 + exp(20.0 * (0.4 - t)));
    case 4:
        return log(0.05 + t);
    case 5:
        return t > 0.5 ? 1.0 : 0.0;
    case 6:
        return fabs(t - 0.3);
    case 7:
        return sin(4.0 * t);
    default:
        return 7.0;
    }
}

static void trends_do_not_repeat(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    double values[LONGEST];
    static const double sds[] = {0.0, 0.02, 0.3};
    for (int kind = 0; kind <= 8; kind++)
        for (size_t k = 0; k < 3; k++)
            for (size_t n = 30; n <= 480; n *= 2) {
                hfi_stream stream = stream_of(9, n);
                for (size_t i = 0; i < n; i++)
                    values[i] = trend(kind, (double)i / (double)n) + sds[k] * hfi_stream_normal(&stream);
                const hfi_cycle cycle = cycle_of(ctx, n, values);
                if (cycle.period > 0.0)
                    fail_msg("trend %d, sd %g, n %zu: period %g", kind, sds[k], n, cycle.period);
            }
    hf_context_free(ctx);
}

typedef struct wave {
    size_t n;
    double period, sd, slope;
    bool pointed; /* a pulse rather than a sine */
    size_t bad;   /* one of so many values is wrong by 50; 0 none */
} wave;

static void cycles_are_found(void **state)
{
    (void)state;
    static const wave waves[] = {
        {60, 12, 0.3, 0, false, 0},   {60, 5, 0.3, 0, false, 0},    {120, 7.3, 0.5, 0, false, 0},
        {120, 24, 0.3, 10, false, 0}, {400, 80, 0.5, -3, false, 0}, {700, 11.4, 0.5, 40, false, 0},
        {240, 12, 0.3, 5, true, 0},   {300, 30, 0.1, 0, true, 0},   {200, 17.5, 0.3, 0, false, 20},
        {240, 60, 0.1, 2, false, 0},  {400, 4.5, 0.5, 0, false, 0}, {36, 6, 0.1, 0, false, 0},
    };
    hf_context *ctx = hf_context_create();
    double values[LONGEST];
    for (size_t w = 0; w < sizeof waves / sizeof *waves; w++)
        for (uint64_t seed = 0; seed < 10; seed++) {
            const wave *o = &waves[w];
            hfi_stream stream = stream_of(seed, 77);
            const double shift = hfi_stream_uniform(&stream);
            for (size_t i = 0; i < o->n; i++) {
                const double s = sin(2.0 * HFI_PI * ((double)i / o->period + shift));
                values[i] = (o->pointed ? exp(2.0 * s) / 3.0 : s) + o->slope * (double)i / (double)o->n +
                            o->sd * hfi_stream_normal(&stream) +
                            (o->bad > 0 && hfi_stream_below(&stream, o->bad) == 0 ? 50.0 : 0.0);
            }
            const hfi_cycle cycle = cycle_of(ctx, o->n, values);
            if (!(fabs(cycle.period / o->period - 1.0) <= 0.03) || !(cycle.correlation > 0.3))
                fail_msg("wave %zu, seed %d: period %g", w, (int)seed, cycle.period);
        }
    hf_context_free(ctx);
}

static void extremes_are_no_cycles(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    static double values[HFI_CYCLE_MOST + 1];
    hfi_cycle cycle;
    for (size_t i = 0; i <= HFI_CYCLE_MOST; i++) values[i] = sin((double)i);
    assert_true(cycle_of(ctx, HFI_CYCLE_LEAST - 1, values).period == 0.0);
    assert_true(cycle_of(ctx, HFI_CYCLE_MOST + 1, values).period == 0.0);
    assert_close(cycle_of(ctx, HFI_CYCLE_MOST, values).period, 2.0 * HFI_PI, 1e-3);
    for (size_t i = 0; i < 100; i++) values[i] = 1e300 * sin((double)i);
    assert_close(cycle_of(ctx, 100, values).period, 2.0 * HFI_PI, 0.03);
    for (size_t i = 0; i < 100; i++) values[i] = i == 50 ? 1.0 : 0.0;
    assert_int_equal(hfi_find_cycle(ctx, 100, values, &cycle), HF_OK);
    assert_true(cycle.period == 0.0);
    for (size_t i = 0; i < 100; i++) values[i] = i % 2 == 0 ? 1.0 : -1.0;
    assert_true(cycle_of(ctx, 100, values).period == 0.0);
    for (size_t i = 0; i < 100; i++) values[i] = 0.0;
    assert_true(cycle_of(ctx, 100, values).period == 0.0);
    hf_context_free(ctx);
}

/* Shuffled places with gaps and steps of months are a series; repeated and uneven ones are none. */
static void series_are_evenly_spaced(void **state)
{
    (void)state;
    static const double days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    hf_context *ctx = hf_context_create();
    double x[2 * 60], y[60];
    double day = 0.0;
    for (size_t i = 0; i < 60; i++) {
        const size_t at = i * 23 % 60;
        x[2 * at] = day;
        y[at] = (double)i;
        day += days[i % 12];
    }
    hfi_series series;
    assert_int_equal(hfi_series_of(ctx, 60, x, 2, y, &series), HF_OK);
    assert_int_equal(series.n, 60);
    assert_close(series.step, 30.4, 0.01);
    for (size_t i = 0; i < 60; i++) assert_true(series.value[i] == (double)i);
    hfi_free(ctx, series.value);

    y[23] = y[46] = NAN; /* the second and third month */
    assert_int_equal(hfi_series_of(ctx, 60, x, 2, y, &series), HF_OK);
    assert_int_equal(series.n, 60);
    for (size_t i = 0; i < 60; i++) assert_close(series.value[i], (double)i, 1e-12);
    hfi_free(ctx, series.value);

    x[8] = x[10];
    assert_int_equal(hfi_series_of(ctx, 60, x, 2, y, &series), HF_OK);
    assert_true(series.n == 0 && series.value == NULL);
    for (size_t i = 0; i < 60; i++) x[2 * i] = sqrt((double)i);
    assert_int_equal(hfi_series_of(ctx, 60, x, 2, y, &series), HF_OK);
    assert_true(series.n == 0 && series.value == NULL);

    static double place[HFI_CYCLE_MOST + 10];
    for (size_t i = 0; i < HFI_CYCLE_MOST + 10; i++) place[i] = (double)i;
    assert_int_equal(hfi_series_of(ctx, HFI_CYCLE_MOST + 10, place, 1, place, &series), HF_OK);
    assert_true(series.n == HFI_CYCLE_MOST && series.value[0] == 10.0);
    hfi_free(ctx, series.value);
    hf_context_free(ctx);
}

/* ---- the remark of a fit --------------------------------------------------------------------------------------- */

/* Rows `from` on of a cycle of 7 days about a line, by a column of some name; another input if `other`. */
static hf_table *weeks(hf_context *ctx, const char *name, size_t from, size_t n, bool other)
{
    char text[12000];
    size_t used = (size_t)snprintf(text, sizeof text, "%s,%sy\n", name, other ? "heat," : "");
    hfi_stream stream = stream_of(3, from);
    for (size_t i = from; i < from + n; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%g,", 2000.0 + (double)i / 2.0);
        if (other)
            used += (size_t)snprintf(text + used, sizeof text - used, "%.4f,", hfi_stream_normal(&stream));
        used += (size_t)snprintf(text + used, sizeof text - used, "%.4f\n",
                                 3.0 * sin(2.0 * HFI_PI * (double)i / 14.0) + 0.02 * (double)i +
                                     0.4 * hfi_stream_normal(&stream));
    }
    return table_of(ctx, text);
}

static hf_model *fit_with(hf_context *ctx, const hf_table *table, const char *kernel)
{
    hf_fit_settings settings = hf_fit_settings_default();
    settings.kernel = kernel;
    return model_of(ctx, table, &settings);
}

/* The expression in --kernel "...". */
static const char *offered(const char *note, char kernel[200])
{
    const char *begin = strstr(note, "--kernel \"");
    assert_non_null(begin);
    begin += strlen("--kernel \"");
    const char *end = strchr(begin, '"');
    assert_true(end != NULL && end - begin < 200);
    memcpy(kernel, begin, (size_t)(end - begin));
    kernel[end - begin] = '\0';
    return kernel;
}

/* The kernel that is offered parses, fits, predicts better beyond the readings, and ends the remark. */
static void the_offered_kernel_fits(void **state)
{
    (void)state;
    static const struct {
        const char *name, *column;
    } cases[] = {{"day", "(day,"}, {"\"my time\"", "('my time',"}, {"ard", "('ard',"}, {"\"it's\"", "(x1,"}};
    hf_context *ctx = hf_context_create();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        hf_table *table = weeks(ctx, cases[c].name, 0, 84, false),
                 *later = weeks(ctx, cases[c].name, 84, 28, false);
        hf_model *plain = fit_with(ctx, table, NULL);
        const size_t last = hf_model_notes(plain) - 1;
        char kernel[200];
        assert_contains(hf_model_note(plain, last), "the series repeats every 7 units of \"");
        assert_contains(hf_model_note(plain, last), "matern52(ard) + periodic");
        assert_contains(hf_model_note(plain, last), cases[c].column);
        hf_model *better = fit_with(ctx, table, offered(hf_model_note(plain, last), kernel));
        for (size_t i = 0; i < hf_model_notes(better); i++)
            assert_null(strstr(hf_model_note(better, i), "repeats"));
        hf_metrics before = {0}, after = {0};
        assert_true(hf_score(ctx, plain, later, &before) >= 0 && hf_score(ctx, better, later, &after) >= 0);
        assert_true(after.rmse < 0.5 * before.rmse);
        hf_model_free(plain);
        hf_model_free(better);
        hf_table_free(table);
        hf_table_free(later);
    }
    hf_context_free(ctx);
}

/* With other inputs, a column that is a time by name; and kernels of one's own. */
static void other_inputs_and_kernels(void **state)
{
    (void)state;
    hf_context *ctx = hf_context_create();
    hf_fit_settings settings = hf_fit_settings_default();
    settings.train = false;
    settings.suspects = HF_OUTLIERS_OFF;
    settings.calibrate = false;
    hf_table *table = weeks(ctx, "day", 0, 84, true);
    hf_model *model = model_of(ctx, table, &settings);
    assert_true(hf_model_notes(model) > 0);
    assert_contains(hf_model_note(model, hf_model_notes(model) - 1),
                    "\"matern52(ard) + periodic(day, period~7)\"");
    hf_model_free(model);
    settings.kernel = "se(heat) + linear(day)";
    model = model_of(ctx, table, &settings);
    assert_contains(hf_context_message(ctx), "\"se(heat) + linear(day) + periodic(day, period~7)\"");
    hf_model_free(model);
    static const char *const enough[] = {"periodic(day)", "sm", "se(heat) + sm(components=2)"};
    for (size_t k = 0; k < 3; k++) {
        settings.kernel = enough[k];
        model = model_of(ctx, table, &settings);
        assert_null(strstr(hf_context_message(ctx), "repeats"));
        hf_model_free(model);
    }
    hf_table_free(table);
    hf_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_does_not_repeat),    cmocka_unit_test(trends_do_not_repeat),
        cmocka_unit_test(cycles_are_found),         cmocka_unit_test(extremes_are_no_cycles),
        cmocka_unit_test(series_are_evenly_spaced), cmocka_unit_test(the_offered_kernel_fits),
        cmocka_unit_test(other_inputs_and_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
