/* SPDX-License-Identifier: Apache-2.0 */
/* Questions to a posterior: gradients, differences, draws, worst cases, leave-one-out, influence, another reading. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    RACES = 35,
    INPUTS = 2,
    ASKED = 2,
    DRAWS = 4000
};

typedef struct records {
    double x[RACES * INPUTS], minutes[RACES];
} records;

/* A race over 7 miles and 1000 feet, and one over 7 miles and 3000 feet. */
static const double asked[ASKED * INPUTS] = {7.0, 1000.0, 7.0, 3000.0};

static hf_status read_records(hf_context *ctx, records *r)
{
    static const char *const names[] = {"miles", "feet", "minutes"};
    hf_table *table = NULL;
    hf_status s = hf_table_read_csv(ctx, "data/hills.csv", &table);
    for (size_t c = 0; c <= INPUTS && s >= 0; c++) {
        const double *numbers = NULL;
        size_t column;
        s = hf_table_find(ctx, table, names[c], &column);
        if (s >= 0) s = hf_table_numbers(ctx, table, column, &numbers);
        for (size_t i = 0; i < RACES && s >= 0; i++)
            *(c < INPUTS ? &r->x[i * INPUTS + c] : &r->minutes[i]) = numbers[i];
    }
    hf_table_free(table);
    return s;
}

/* One place: value, bands, slopes; nothing is allocated but the workspace. */
static hf_status predict(hf_context *ctx, const hf_posterior *model)
{
    hf_posterior_workspace *workspace = hf_posterior_workspace_create(ctx, model);
    double mean, latent, observed, slope[INPUTS];
    if (!workspace) return HF_ERR_MEMORY;
    hf_status s = hf_predict_latent(model, workspace, asked, &mean, &latent, slope, NULL);
    if (s >= 0) s = hf_predict_observed(model, workspace, asked, &mean, &observed, NULL, NULL);
    if (s >= 0)
        printf("prediction: %.1f minutes, latent sd %.2f, observed sd %.2f\n"
               "gradient: %.2f minutes a mile, %.4f minutes a foot\n",
               mean, sqrt(latent), sqrt(observed), slope[0], slope[1]);
    hf_posterior_workspace_free(workspace);
    return s;
}

/* Two places: the sd of the difference needs their covariance, and a probability may be counted in draws. */
static hf_status compare(hf_context *ctx, const hf_posterior *model)
{
    double mean[ASKED], c[ASKED * ASKED], *draws = malloc(sizeof(double) * DRAWS * ASKED);
    int longer = 0;
    if (!draws) return HF_ERR_MEMORY;
    hf_status s = hf_predict(ctx, model, ASKED, asked, INPUTS, mean, NULL, NULL);
    if (s >= 0) s = hf_predict_covariance(ctx, model, ASKED, asked, INPUTS, c, ASKED);
    if (s >= 0) s = hf_sample(ctx, model, ASKED, asked, INPUTS, DRAWS, 1, draws);
    for (int k = 0; k < DRAWS && s >= 0; k++) longer += draws[k * ASKED + 1] - draws[k * ASKED] > 12.0;
    if (s >= 0)
        printf("difference: %.1f minutes, sd %.2f; more than 12 in %.2f of %d draws\n", mean[1] - mean[0],
               sqrt(c[0] + c[3] - 2.0 * c[1]), (double)longer / DRAWS, DRAWS);
    free(draws);
    return s;
}

static hf_status bound(hf_context *ctx, const hf_posterior *model)
{
    hf_projection_error error;
    double total[1];
    hf_status s = hf_projected_error(ctx, model, false, &error);
    if (s >= 0) s = hf_predict_worst_case(ctx, model, 1, asked, INPUTS, total, NULL);
    if (s >= 0)
        printf("worst case: %.1f minutes for a norm of %.2f, the least that agrees with the readings\n",
               error.norm * total[0], error.norm);
    return s;
}

/* The readings as anchors: what the others say of each, and what would change without it. */
static hf_status judge(hf_context *ctx, const hf_posterior *model, const records *r,
                       const hf_reading *readings)
{
    double mean[RACES], var[RACES], nats[RACES], kl;
    size_t row[RACES], anchors = 0, odd = 0, strong = 0;
    for (size_t i = 0; i < RACES; i++)
        if (readings[i].weight > 0.0)
            row[anchors++] = i;
        else
            printf("set aside: line %zu, %.2f minutes\n", i + 2, r->minutes[i]);
    if (anchors != hf_posterior_anchors(model)) return HF_ERR_DIMENSION;
    const double noise = hf_posterior_noise(model);
    hf_status s = hf_leave_one_out(ctx, model, mean, var);
    if (s >= 0) s = hf_influence_of_removal(ctx, model, nats);
    for (size_t a = 0; a < anchors && s >= 0; a++) {
        const double out = fabs(r->minutes[row[a]] - mean[a]) / sqrt(var[a] + noise);
        const double most = fabs(r->minutes[row[odd]] - mean[odd]) / sqrt(var[odd] + noise);
        if (out > most) odd = a;
        if (nats[a] > nats[strong]) strong = a;
    }
    if (s >= 0) s = hf_influence(ctx, model, strong, r->minutes[row[strong]] + 10.0, noise, &kl);
    if (s >= 0)
        printf("furthest from the others: line %zu, %.1f minutes, expected %.1f\n"
               "largest influence: line %zu, %.1f nats; 10 minutes more there: %.2f nats\n",
               row[odd] + 2, r->minutes[row[odd]], mean[odd], row[strong] + 2, nats[strong], kl);
    return s;
}

/* The corrected record of Knock Hill, in O(n^2) and without training. */
static hf_status add(hf_context *ctx, hf_posterior *model)
{
    const double knock_hill[INPUTS] = {3.0, 350.0};
    double before[2], after[2], backward;
    hf_status s = hf_predict(ctx, model, 1, knock_hill, INPUTS, &before[0], &before[1], NULL);
    if (s >= 0) s = hf_posterior_add(ctx, model, knock_hill, 18.65, hf_posterior_noise(model));
    if (s >= 0) s = hf_predict(ctx, model, 1, knock_hill, INPUTS, &after[0], &after[1], NULL);
    if (s >= 0) s = hf_posterior_backward_error(ctx, model, &backward);
    if (s >= 0)
        printf("one more reading: %.2f +- %.2f minutes before, %.2f +- %.2f after\n", before[0],
               sqrt(before[1]), after[0], sqrt(after[1]));
    return s;
}

int main(void)
{
    static records r;
    static hf_reading readings[RACES];
    hf_context *ctx = hf_context_create();
    hf_posterior *model = NULL;
    const hf_fit_settings settings = hf_fit_settings_default();
    const hf_data data = {.n = RACES, .d = INPUTS, .x = r.x, .ldx = INPUTS, .y = r.minutes};

    hf_status s = read_records(ctx, &r);
    if (s >= 0) s = hf_fit_data(ctx, &data, &settings, &model, NULL, readings);
    if (s >= 0) s = predict(ctx, model);
    if (s >= 0) s = compare(ctx, model);
    if (s >= 0) s = bound(ctx, model);
    if (s >= 0) s = judge(ctx, model, &r, readings);
    if (s >= 0) s = add(ctx, model);
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_posterior_free(model);
    hf_context_free(ctx);
    return s < 0;
}
