/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rcagp-s3.c
 * @brief Table S3: asymmetric outliers and none, RBF kernel
 *
 * common/rcagp_protocol.h says how the data are made and what the models are.
 */
#include "common/rcagp_table.h"

int main(int argc, char **argv)
{
    static const rcagp_table table = {.program = "rcagp-s3",
                                      .table = "s3",
                                      .title = "Table S3: asymmetric outliers and none, RBF kernel",
                                      .kernel = "se",
                                      .kinds = "asymmetric,none",
                                      .models = "SVGP,CaGP,RCSVGP,RCaGP,Student-t",
                                      .own = "default,rcagp,rcsvgp,default-se,rcagp-se,rcsvgp-se"};
    return rcagp_table_main(argc, argv, &table);
}
