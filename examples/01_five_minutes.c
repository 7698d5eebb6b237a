/* SPDX-License-Identifier: Apache-2.0 */
/* A whole program: fit a table in which some readings are wrong, predict another one, write what came out.
 * Run it in the root of the source:  01_five_minutes [OUT.csv] */
#include <holdfast/holdfast.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const char *inputs[] = {"carat", "depth_percent", "table_percent"};
    const hf_columns columns = {
        .size = sizeof columns, .target = "depth_mm", .features = inputs, .feature_count = 3};
    hf_fit_settings settings = hf_fit_settings_default();
    hf_context *ctx = hf_context_create();
    hf_table *train = NULL, *test = NULL;
    hf_model *model = NULL;
    hf_fit_report report;
    hf_metrics score;

    hf_status s = hf_table_read_csv(ctx, "data/diamonds-train.csv", &train);
    if (s >= 0) s = hf_fit(ctx, train, &columns, &settings, &model, &report);
    if (s >= 0) s = hf_table_read_csv(ctx, "data/diamonds-test.csv", &test);
    if (s >= 0) s = hf_score(ctx, model, test, &score);
    if (s >= 0) s = hf_predict_into_table(ctx, model, test); /* adds depth_mm_mean, depth_mm_sd_latent, ... */
    if (s >= 0 && argc > 1) s = hf_table_write_csv(ctx, test, argv[1]);
    if (s >= 0)
        printf("%zu stones, %zu suspected%s; mean error on %zu others %.3f mm\n", report.readings,
               report.suspects, report.suspects_adopted ? " and set aside" : "", score.n, score.mae);
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_table_free(test);
    hf_model_free(model);
    hf_table_free(train);
    hf_context_free(ctx);
    return s < 0;
}
