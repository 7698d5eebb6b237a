/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file outputs_values.c
 * @brief Centres, thresholds, weights and shifts of several outputs; one question on standard input, one JSON
 * object as the answer.
 *
 *     WEIGHTING RULE RIDGE N T   then T means, T x T covariances, T noise variances, T eps, N rows of T
 *     readings     RULE: linear, lower or mad
 */
#include "read_text.h"

#include <string.h>

static hf_outputs_threshold read_rule(void)
{
    static const char *const names[] = {"linear", "lower", "mad"};
    char word[16];
    if (scanf("%15s", word) != 1) fail("a rule was expected");
    for (size_t k = 0; k < 3; k++)
        if (strcmp(word, names[k]) == 0) return (hf_outputs_threshold)k;
    fail("there is no such rule");
    return HF_OUTPUTS_LINEAR;
}

int main(void)
{
    char word[16];
    hf_context *ctx = hf_context_create();
    if (!ctx) fail("out of memory");
    while (scanf("%15s", word) == 1) {
        hf_outputs_rule rule = hf_outputs_rule_default();
        must(ctx, hf_enum_parse(ctx, HF_ENUM_OUTPUTS_WEIGHTING, word, &rule.weighting), "weighting");
        rule.threshold = read_rule();
        const double ridge = read_number();
        const size_t n = (size_t)read_number(), outputs = (size_t)read_number(), size = n * outputs;
        double *mean = read_numbers(outputs), *covariance = read_numbers(outputs * outputs),
               *noise = read_numbers(outputs), *eps = read_numbers(outputs), *y = read_numbers(size);
        double *results = malloc((3 * size + outputs) * sizeof *results);
        if (!results) fail("out of memory");
        rule.eps = eps;
        const hf_outputs_model model = {
            .outputs = outputs, .mean = mean, .covariance = covariance, .noise = noise, .ridge = ridge};
        const hf_outputs_sites sites = {
            .weight = results, .shift = results + size, .scale = results + 3 * size};
        double *centre = results + 2 * size;
        must(ctx, hf_outputs_conditional_centre(ctx, n, y, outputs, &model, centre), "centre");
        must(ctx, hf_outputs_weights(ctx, &rule, n, y, outputs, &model, NULL, &sites), "weights");
        print_json(json_pack("{so so so so}", "centre", array_json(size, centre), "weight",
                             array_json(size, sites.weight), "shift", array_json(size, sites.shift), "scale",
                             array_json(outputs, sites.scale)));
        free(mean);
        free(covariance);
        free(noise);
        free(eps);
        free(y);
        free(results);
    }
    hf_context_free(ctx);
    return 0;
}
