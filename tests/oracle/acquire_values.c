/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file acquire_values.c
 * @brief Acquisition functions by name, one question per line, one JSON object per answer.
 *
 *     NAME MEAN SD BEST BETA    {"value", "mean", "sd"}: the value and its slopes
 */
#include "read_text.h"

int main(void)
{
    hf_context *ctx = hf_context_create();
    char name[32];
    while (scanf("%31s", name) == 1) {
        hf_acquisition kind;
        must(ctx, hf_enum_parse(ctx, HF_ENUM_ACQUISITION, name, &kind), name);
        const double mean = read_number(), sd = read_number(), best = read_number(), beta = read_number();
        double dmean, dsd;
        const double value = hf_acquisition_value(kind, mean, sd, best, beta, &dmean, &dsd);
        print_json(json_pack("{so so so}", "value", number_json(value), "mean", number_json(dmean), "sd",
                             number_json(dsd)));
    }
    hf_context_free(ctx);
    return 0;
}
