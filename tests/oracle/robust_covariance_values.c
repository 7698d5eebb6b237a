/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file robust_covariance_values.c
 * @brief Robust covariances and the chi-squared distribution, one question after another on standard input,
 * one JSON object per answer.
 *
 *     mcd N P FRACTION SEED STARTS REWEIGHT   then N rows of P values (nan for a missing one)
 *     chi K X SHARE                    distribution function at X, quantile and consistency factor of SHARE
 */
#include "read_text.h"
#include "sites/mcd.h"

#include <string.h>

static json_t *flags(size_t n, const bool *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) json_array_append_new(array, json_boolean(values[i]));
    return array;
}

static json_t *mcd(hf_context *ctx)
{
    const size_t n = (size_t)read_number(), p = (size_t)read_number();
    hf_robust_covariance_settings settings = hf_robust_covariance_settings_default();
    settings.support_fraction = read_number();
    hf_context_set_seed(ctx, (uint64_t)read_number());
    settings.starts = (size_t)read_number();
    settings.reweight = read_number() != 0.0;
    double *x = read_numbers(n * p), *block = malloc((2 * p + 2 * p * p + n) * sizeof *block);
    bool *marks = malloc(2 * n * sizeof *marks);
    if (!block || !marks) fail("out of memory");
    const hf_robust_covariance_arrays out = {.location = block,
                                             .raw_location = block + p,
                                             .covariance = block + 2 * p,
                                             .raw_covariance = block + 2 * p + p * p,
                                             .distance = block + 2 * p + 2 * p * p,
                                             .support = marks,
                                             .kept = marks + n};
    hf_robust_covariance_report report;
    must(ctx, hf_robust_covariance(ctx, n, p, x, p, &settings, &out, &report), "mcd");
    json_t *answer = json_pack(
        "{so so so so so so so sI sI sf sf sf}", "location", array_json(p, out.location), "covariance",
        array_json(p * p, out.covariance), "raw_location", array_json(p, out.raw_location), "raw_covariance",
        array_json(p * p, out.raw_covariance), "distance", array_json(n, out.distance), "support",
        flags(n, out.support), "kept", flags(n, out.kept), "h", (json_int_t)report.support, "complete",
        (json_int_t)report.complete, "log_determinant", report.log_determinant, "raw_factor",
        report.raw_factor, "final_factor", report.final_factor);
    free(x);
    free(block);
    free(marks);
    return answer;
}

static json_t *chi(void)
{
    const size_t k = (size_t)read_number();
    const double x = read_number(), share = read_number();
    return json_pack("{sf sf sf}", "cdf", hfi_chi_squared_cdf(k, x), "quantile",
                     hfi_chi_squared_quantile(k, share), "consistency",
                     hfi_chi_squared_consistency(k, share));
}

int main(void)
{
    char word[16];
    hf_context *ctx = hf_context_create();
    if (!ctx) fail("out of memory");
    while (scanf("%15s", word) == 1) {
        json_t *answer = NULL;
        if (strcmp(word, "mcd") == 0)
            answer = mcd(ctx);
        else if (strcmp(word, "chi") == 0)
            answer = chi();
        else
            fail("the question was not understood");
        print_json(answer);
    }
    hf_context_free(ctx);
    return 0;
}
