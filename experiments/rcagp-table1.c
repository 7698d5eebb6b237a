/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-table1.c
 * @brief Table 1: asymmetric outliers and none, Matern kernel
 *
 * common/rcagp_protocol.h says how the data are made and what the models are.
 */
#include "common/rcagp_table.h"

int main(int argc, char **argv)
{
    static const rcagp_table table = {.program = "rcagp-table1",
                                      .table = "table1",
                                      .title = "Table 1: asymmetric outliers and none, Matern kernel",
                                      .kernel = "matern32",
                                      .kinds = "asymmetric,none",
                                      .models = "SVGP,CaGP,RCSVGP,RCaGP,Student-t,RRP"};
    return rcagp_table_main(argc, argv, &table);
}
