/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-s1.c
 * @brief Table S1: uniform outliers, Matern kernel
 *
 * common/rcagp_protocol.h says how the data are made and what the models are.
 */
#include "common/rcagp_table.h"

int main(int argc, char **argv)
{
    static const rcagp_table table = {.program = "rcagp-s1",
                                      .table = "s1",
                                      .title = "Table S1: uniform outliers, Matern kernel",
                                      .kernel = "matern32",
                                      .kinds = "uniform",
                                      .models = "SVGP,CaGP,RCSVGP,RCaGP"};
    return rcagp_table_main(argc, argv, &table);
}
