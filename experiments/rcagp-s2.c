/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-s2.c
 * @brief Table S2: focused outliers, Matern kernel
 *
 * common/rcagp_protocol.h says how the data are made and what the models are.
 */
#include "common/rcagp_table.h"

int main(int argc, char **argv)
{
    static const rcagp_table table = {.program = "rcagp-s2",
                                      .table = "s2",
                                      .title = "Table S2: focused outliers, Matern kernel",
                                      .kernel = "matern32",
                                      .kinds = "focused",
                                      .models = "SVGP,CaGP,RCSVGP,RCaGP"};
    return rcagp_table_main(argc, argv, &table);
}
