/* SPDX-License-Identifier: Apache-2.0 */
/* Several outputs at once: three gauges along a river, one of which is out of order for a while and one of
 * which tells a lie.
 *
 * Readings of the others say what the broken one would have read, and which reading cannot be true. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>

enum {
    HOURS = 60,
    GAUGES = 3
};

static const char *const gauges[GAUGES] = {"bridge", "weir", "mill"};

/* The same wave, later and lower the further down; in metres, metres and feet. */
static double level(int hour, int gauge)
{
    static const double delay[GAUGES] = {0.0, 1.0, 2.0}, height[GAUGES] = {1.0, 0.8, 2.0};
    return 3.0 + height[gauge] * sin(0.2 * (hour - delay[gauge])) + 0.03 * sin(797.0 * hour + gauge);
}

/* A wide table: a row for each hour, a column for each gauge. The mill is not read from hour 20 to hour 39. */
static hf_status read_gauges(hf_context *ctx, hf_table **table)
{
    double column[HOURS];
    hf_status s = hf_table_create(ctx, HOURS, table);
    for (int i = 0; i < HOURS; i++) column[i] = i;
    if (s >= 0) s = hf_table_set_numbers(ctx, *table, "hour", column);
    for (int g = 0; g < GAUGES && s >= 0; g++) {
        for (int i = 0; i < HOURS; i++) column[i] = g == 2 && i >= 20 && i < 40 ? NAN : level(i, g);
        if (g == 0) column[33] += 2.5;
        s = hf_table_set_numbers(ctx, *table, gauges[g], column);
    }
    return s;
}

/* Reading by reading what cannot be true. */
static hf_status show_suspects(hf_context *ctx, const hf_model *model)
{
    static const char *const names[] = {"row", "output", "y", "loo_mean"};
    const double *numbers[4] = {NULL};
    hf_table *suspects = NULL;
    hf_status s = hf_model_suspects(ctx, model, &suspects);
    for (size_t k = 0, column = 0; k < 4 && s >= 0; k++) {
        s = hf_table_find(ctx, suspects, names[k], &column);
        if (s >= 0) s = hf_table_numbers(ctx, suspects, column, &numbers[k]);
    }
    for (size_t i = 0; s >= 0 && i < hf_table_rows(suspects); i++)
        printf("hour %.0f, %s: reads %.2f, %.2f was expected\n", numbers[0][i] - 1.0,
               hf_model_output(model, (size_t)numbers[1][i]), numbers[2][i], numbers[3][i]);
    hf_table_free(suspects);
    return s;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_table *table = NULL;
    hf_model *model = NULL;
    const hf_fit_settings settings = hf_fit_settings_default();
    const hf_columns columns = {.size = sizeof columns, .targets = gauges, .target_count = GAUGES};

    hf_status s = read_gauges(ctx, &table);
    if (s >= 0) s = hf_fit(ctx, table, &columns, &settings, &model, NULL);
    if (s >= 0) s = show_suspects(ctx, model);
    const double hour = 30.0;
    double mean[GAUGES], latent[GAUGES], observed[GAUGES];
    if (s >= 0)
        s = hf_predict_outputs(ctx, hf_model_posterior(model), 1, &hour, 1, mean, latent, observed, NULL);
    if (s >= 0)
        printf("hour 30, mill: %.2f +- %.2f, and it was %.2f\n", mean[2], 1.96 * sqrt(observed[2]),
               level(30, 2));
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
    return s < 0 || fabs(mean[2] - level(30, 2)) > 1.0;
}
