/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file front_values.c
 * @brief Expected hypervolume improvements, one JSON object per question of standard input.
 *
 *     N M   then N rows: M values; then rows of M: reference, means, standard deviations
 */
#include "read_text.h"

int main(void)
{
    hf_context *ctx = hf_context_create();
    int n, m;
    if (!ctx) fail("out of memory");
    while (scanf("%d %d", &n, &m) == 2) {
        const size_t points = (size_t)n, count = (size_t)m;
        double *values = read_numbers(points * count), *reference = read_numbers(count);
        double *mean = read_numbers(count), *sd = read_numbers(count), volume, value, log_value;
        double slopes[4][3];
        hf_ehvi *ehvi = NULL;
        must(ctx, hf_hypervolume(ctx, points, count, values, reference, &volume), "hypervolume");
        must(ctx, hf_ehvi_create(ctx, points, count, values, reference, &ehvi), "create");
        must(ctx, hf_ehvi_value(ehvi, mean, sd, &value, slopes[0], slopes[1]), "value");
        must(ctx, hf_ehvi_log(ehvi, mean, sd, &log_value, slopes[2], slopes[3]), "log");
        print_json(json_pack("{sf sf sf so so so so}", "volume", volume, "value", value, "log", log_value,
                             "by_mean", array_json(count, slopes[0]), "by_sd", array_json(count, slopes[1]),
                             "log_by_mean", array_json(count, slopes[2]), "log_by_sd",
                             array_json(count, slopes[3])));
        hf_ehvi_free(ehvi);
        free(values);
        free(reference);
        free(mean);
        free(sd);
    }
    hf_context_free(ctx);
    return 0;
}
