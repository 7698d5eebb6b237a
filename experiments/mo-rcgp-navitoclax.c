/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mo-rcgp-navitoclax.c
 * @brief Figure 1: dose and response of two cell lines to Navitoclax, one reading of 42 wrong.
 *
 * Published models: squared exponential kernel, prior mean 0.5, eps 0.2 for both, noise starts at 0.005. Each
 * reading is left out by itself, truly: the published program's "LOO" cell fits two of its three models to
 * all readings.
 */
#include "common/mo_case.h"
#include "common/mo_files.h"

static const char *const columns[] = {"P12_ICHIKAWA", "ARH_77"}, *const outputs[] = {"P12-ICHIKAWA",
                                                                                     "ARH-77"};

static bool load(hf_context *ctx, const char *path, problem *out)
{
    return mo_read_wide(ctx, path, "log10_dose", 1.0, 2, columns, 15, 0, 300, out);
}

static void terms(const problem *p, mo_terms *out)
{
    (void)p;
    out->kernel = out->own_kernel = "se";
    out->mean = 0.5;
    out->noise_start = 0.005;
    out->nu = 3.0;
    out->eps[0] = out->eps[1] = 0.2;
}

int main(int argc, char **argv)
{
    static const mo_case what = {
        .program = "mo-rcgp-navitoclax",
        .title = "Figure 1: dose and response of two cell lines to Navitoclax",
        .file = "gdsc_navitoclax/navitoclax_p12_arh77.csv",
        .load = load,
        .terms = terms,
        .models = "MOGP,wRCGP,MO-RCGP,t-MOGP,mogp,morcgp,recentred,t-mogp,independent,default,forced",
        .drawn = "MOGP,MO-RCGP,recentred",
        .outputs = outputs,
        .axis = "log10 of the dose in micromol",
        .unit = "viability",
        .scale = 1.0,
    };
    return mo_case_main(argc, argv, &what);
}
