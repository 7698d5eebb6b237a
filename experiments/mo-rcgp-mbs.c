/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo-rcgp-mbs.c
 * @brief Figures 3 and 6: trades of three mortgage-backed securities over two days, one of them at a wrong price, with gaps.
 *
 * Prices in units of the quotation's smallest step, 1/64. All models: noise variance at most that of a quarter tick, 1/128. Published models: squared exponential kernel, standardised readings,
 * the averages of the readings as prior mean, eps = 5 / N.
 */
#include "common/mo_case.h"
#include "common/mo_files.h"

static const char *const columns[] = {"fncl5", "fncl5_5", "fncl6"}, *const outputs[] = {"5 % coupon",
                                                                                        "5.5 % coupon",
                                                                                        "6 % coupon"};

static bool load(hf_context *ctx, const char *path, problem *out)
{
    return mo_read_wide(ctx, path, "minutes", 60.0, 3, columns, 61, 1, 600, out);
}

static void terms(const problem *p, mo_terms *out)
{
    out->kernel = "se(lengthscale~0.5)";
    out->standardise = out->average = true;
    out->max_noise = 1.0 / (128.0 * 128.0);
    out->noise_start = 0.5 * out->max_noise;
    out->nu = 3.0;
    for (size_t t = 0; t < 3; ++t) out->eps[t] = 5.0 / ((double)p->n / 3.0);
}

int main(int argc, char **argv)
{
    static const mo_case what = {
        .program = "mo-rcgp-mbs",
        .title = "Figures 3 and 6: trades of three mortgage-backed securities",
        .file = "finra_mbs/finra_mbs_2025-09-08_09.csv",
        .load = load,
        .terms = terms,
        .models = "MOGP,MO-RCGP,mogp,morcgp,recentred,independent,default,forced",
        .drawn = "MOGP,MO-RCGP,recentred",
        .folds = 10,
        .outputs = outputs,
        .axis = "hours since the first trade",
        .unit = "steps of 1/64",
        .scale = 1.0 / 64.0,
    };
    return mo_case_main(argc, argv, &what);
}
