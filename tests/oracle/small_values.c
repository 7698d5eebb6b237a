/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file small_values.c
 * @brief The small functions with closed forms, one question per line of standard input, one JSON object per
 * answer.
 *
 *     metrics N            then N rows: reading, mean, sd
 *     classes N C BINS     then N rows: label, C probabilities
 *     noise VALUE C        consistent noise variance
 *     threshold RULE EPS N then N rows: reading, centre                      RULE: quantile or mad
 *     neighbours N D       then N rows: inputs, reading
 *     damage KIND SHARE SEED N D   then N rows: inputs, reading
 */
#include "read_text.h"

#include <string.h>

static void split_columns(size_t n, size_t columns, const double *rows, double *const *out)
{
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < columns; ++j) out[j][i] = rows[i * columns + j];
}

static json_t *metrics(hf_context *ctx)
{
    size_t n = (size_t)read_number();
    double *rows = read_numbers(3 * n), *column = malloc((3 * n + 1) * sizeof *column);
    hf_metrics m;
    if (!column) fail("out of memory");
    split_columns(n, 3, rows, (double *[]){column, column + n, column + 2 * n});
    must(ctx, hf_metrics_gaussian(ctx, n, column, column + n, column + 2 * n, &m), "metrics");
    free(rows);
    free(column);
    return json_pack("{sI sf sf sf sf sf sf sf}", "n", (json_int_t)m.n, "mae", m.mae, "rmse", m.rmse, "nlpd",
                     m.nlpd, "coverage50", m.coverage50, "coverage90", m.coverage90, "coverage95",
                     m.coverage95, "crps", m.crps);
}

static json_t *classes(hf_context *ctx)
{
    size_t n = (size_t)read_number(), count = (size_t)read_number(), bins = (size_t)read_number();
    size_t *label = malloc((n + 1) * sizeof *label);
    double *p = malloc((n * count + 1) * sizeof *p);
    hf_class_metrics m;
    if (!label || !p) fail("out of memory");
    for (size_t i = 0; i < n; ++i) {
        label[i] = (size_t)read_number();
        for (size_t c = 0; c < count; ++c) p[i * count + c] = read_number();
    }
    must(ctx, hf_metrics_class(ctx, n, count, label, p, bins, NULL, &m), "classes");
    free(label);
    free(p);
    return json_pack("{sI sf sf sf sf}", "n", (json_int_t)m.n, "accuracy", m.accuracy, "nlpd", m.nlpd,
                     "brier", m.brier, "calibration_error", m.calibration_error);
}

static json_t *threshold(hf_context *ctx)
{
    char rule[16];
    if (scanf("%15s", rule) != 1) fail("a rule was expected");
    double eps = read_number(), value;
    size_t n = (size_t)read_number();
    double *rows = read_numbers(2 * n), *column = malloc((2 * n + 1) * sizeof *column);
    if (!column) fail("out of memory");
    split_columns(n, 2, rows, (double *[]){column, column + n});
    must(ctx,
         hf_robust_threshold(ctx, strcmp(rule, "mad") == 0 ? HF_THRESHOLD_MAD : HF_THRESHOLD_QUANTILE, n,
                             column, column + n, eps, &value),
         "threshold");
    free(rows);
    free(column);
    return json_pack("{sf}", "value", value);
}

/* Rows of d inputs and a reading, taken apart. */
static void read_table(size_t n, size_t d, double **x, double **y)
{
    *x = malloc((n * d + 1) * sizeof **x);
    *y = malloc((n + 1) * sizeof **y);
    if (!*x || !*y) fail("out of memory");
    for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < d; ++j) (*x)[i * d + j] = read_number();
        (*y)[i] = read_number();
    }
}

static json_t *neighbours(hf_context *ctx)
{
    size_t n = (size_t)read_number(), d = (size_t)read_number();
    double *x, *y;
    read_table(n, d, &x, &y);
    double *centre = malloc((n + 1) * sizeof *centre);
    if (!centre) fail("out of memory");
    must(ctx, hf_robust_centre_neighbours(ctx, n, d, x, d, y, centre), "neighbours");
    json_t *out = json_pack("{so}", "centre", array_json(n, centre));
    free(x);
    free(y);
    free(centre);
    return out;
}

static json_t *damage(hf_context *ctx)
{
    char name[32];
    hf_contamination kind;
    if (scanf("%31s", name) != 1) fail("a kind was expected");
    must(ctx, hf_enum_parse(ctx, HF_ENUM_CONTAMINATION, name, &kind), "kind");
    double share = read_number();
    uint64_t seed = (uint64_t)read_number();
    size_t n = (size_t)read_number(), d = (size_t)read_number();
    double *x, *y;
    read_table(n, d, &x, &y);
    bool *mask = calloc(n + 1, sizeof *mask);
    if (!mask) fail("out of memory");
    must(ctx, hf_contaminate(ctx, kind, share, seed, n, d, x, d, y, mask), "contaminate");
    json_t *hit = json_array();
    for (size_t i = 0; i < n; ++i) json_array_append_new(hit, json_boolean(mask[i]));
    json_t *out = json_pack("{so so so}", "x", array_json(n * d, x), "y", array_json(n, y), "mask", hit);
    free(x);
    free(y);
    free(mask);
    return out;
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    char word[32];
    if (!ctx) fail("out of memory");
    while (scanf("%31s", word) == 1) {
        json_t *answer = NULL;
        if (strcmp(word, "metrics") == 0)
            answer = metrics(ctx);
        else if (strcmp(word, "classes") == 0)
            answer = classes(ctx);
        else if (strcmp(word, "threshold") == 0)
            answer = threshold(ctx);
        else if (strcmp(word, "neighbours") == 0)
            answer = neighbours(ctx);
        else if (strcmp(word, "damage") == 0)
            answer = damage(ctx);
        else if (strcmp(word, "noise") == 0) {
            double noise = read_number(), c = read_number();
            answer = json_pack("{sf}", "value", hf_robust_consistent_noise(noise, c));
        }
        if (!answer) fail("unknown question, or an answer that is not finite");
        print_json(answer);
    }
    hf_context_free(ctx);
    return 0;
}
