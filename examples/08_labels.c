/* SPDX-License-Identifier: Apache-2.0 */
/* Labels in place of readings: which of three kinds of iris a flower is, and how sure that is. */
#include <holdfast/holdfast.h>
#include <stdio.h>

/* The probabilities of one flower: lengths and widths of sepal and petal in centimetres. */
static hf_status ask(hf_context *ctx, const hf_model *model, const double flower[4])
{
    double probability[3];
    size_t winner = 0;
    hf_status s = hf_classify_predict(ctx, hf_model_classifier(model), 1, flower, 4, probability, &winner,
                                      NULL, NULL, NULL);
    if (s < 0) return s;
    printf("petal %.1f x %.1f:", flower[2], flower[3]);
    for (size_t c = 0; c < hf_model_classes(model); c++)
        printf(" %s %.2f", hf_model_class(model, c), probability[c]);
    printf(", so %s\n", hf_model_class(model, winner));
    return s;
}

int main(void)
{
    static const double flowers[3][4] = {{5.0, 3.4, 1.5, 0.2}, {6.1, 2.8, 4.9, 1.7}, {6.5, 3.0, 5.8, 2.2}};
    hf_context *ctx = hf_context_create();
    hf_table *table = NULL;
    hf_model *model = NULL;
    hf_fit_settings settings;
    hf_class_metrics metrics = {0};
    const hf_columns columns = {.size = sizeof columns, .target = "species"};

    hf_status s = hf_fit_settings_preset(ctx, "softmax", &settings, sizeof settings);
    if (s >= 0) s = hf_table_read_csv(ctx, "data/iris.csv", &table);
    if (s >= 0) s = hf_fit(ctx, table, &columns, &settings, &model, NULL);
    for (size_t i = 0; i < 3 && s >= 0; i++) s = ask(ctx, model, flowers[i]);
    if (s >= 0) s = hf_score_classes(ctx, model, table, 10, NULL, &metrics);
    if (s >= 0)
        printf("%zu flowers it has seen: %.0f %% right, %.2f nats a flower\n", metrics.n,
               100.0 * metrics.accuracy, metrics.nlpd);
    if (s < 0) fprintf(stderr, "%s\n", hf_context_message(ctx));

    hf_model_free(model);
    hf_table_free(table);
    hf_context_free(ctx);
    return s < 0;
}
