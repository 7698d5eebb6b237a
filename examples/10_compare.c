/* SPDX-License-Identifier: Apache-2.0 */
/* Which model of the times of hill races predicts best, which inputs it looks at, and how good it is. */
#include <holdfast/holdfast.h>
#include <stdio.h>

enum {
    MODELS = 3
};

/* The models by what the criterion says of them, beside the best. */
static hf_status tell(hf_context *ctx, const hf_comparison *comparison, size_t best)
{
    hf_status s = HF_OK;
    for (size_t m = 0; m < hf_comparison_models(comparison) && s >= 0; m++) {
        const hf_compared *scores = hf_comparison_scores(comparison, m);
        double more, error;
        s = hf_comparison_difference(ctx, comparison, HF_CRITERION_CRPS, m, best, &more, &error);
        if (s < 0) return s;
        printf("%-10s crps %.2f minutes, mae %.2f%s", hf_comparison_name(comparison, m), scores->metrics.crps,
               scores->metrics.mae, m == best ? ": take it\n" : "");
        if (m != best) printf(", %.2f more than the best, standard error %.2f\n", more, error);
    }
    return s;
}

/* The best model, fitted to all readings. */
static hf_status look(hf_context *ctx, const hf_table *table, const hf_columns *columns,
                      const hf_fit_settings *settings)
{
    hf_model *model = NULL;
    hf_leave_one_out_scores scores;
    double relevance[2];
    hf_status s = hf_fit(ctx, table, columns, settings, &model, NULL);
    if (s >= 0) s = hf_model_leave_one_out(ctx, model, &scores);
    if (s >= 0) s = hf_model_relevance(ctx, model, relevance);
    if (s >= 0) {
        printf("leave-one-out: R2 %.2f, nlpd %.2f; the mean of the others has %.2f\n", scores.model_r2,
               scores.model.nlpd, scores.mean.nlpd);
        for (size_t j = 0; j < hf_model_features(model); j++)
            printf("%s takes part in %.0f %% of what is predicted\n", hf_model_feature(model, j),
                   100.0 * relevance[j]);
    }
    hf_model_free(model);
    return s;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_table *table = NULL;
    hf_comparison *comparison = NULL;
    const hf_columns columns = {.size = sizeof columns,
                                .target = "minutes"}; /* the names of the races are text, and no input */
    hf_contender contenders[MODELS] = {{.name = "default"}, {.name = "gp"}, {.name = "linear"}};

    hf_status s = hf_table_read_csv(ctx, "data/hills.csv", &table);
    for (size_t m = 0; m < 2 && s >= 0; m++)
        s = hf_fit_settings_preset(ctx, contenders[m].name, &contenders[m].settings,
                                   sizeof contenders[m].settings);
    contenders[2].settings = hf_fit_settings_default();
    contenders[2].settings.mean = HF_MEAN_LINEAR;
    if (s >= 0) s = hf_compare(ctx, table, &columns, MODELS, contenders, NULL, &comparison);
    if (s >= 0) {
        const size_t best = hf_comparison_best(comparison, HF_CRITERION_CRPS);
        s = tell(ctx, comparison, best);
        if (s >= 0) s = look(ctx, table, &columns, &contenders[best].settings);
    }
    if (s < 0) fprintf(stderr, "%s\n", hf_context_message(ctx));

    hf_comparison_free(comparison);
    hf_table_free(table);
    hf_context_free(ctx);
    return s < 0;
}
