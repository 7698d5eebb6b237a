/* SPDX-License-Identifier: Apache-2.0 */
/* rcagp-bo-dpp-ts: Figure S1 of the RCaGP paper (2025), draws of the posterior. */
#include "common/bo_paper.h"

int main(int argc, char **argv)
{
    static const bo_title title = {"rcagp-bo-dpp-ts", "Figure S1", "hartmann6,lander,rover,lasso-dna",
                                   "dpp-ts",          "25",        NULL};
    return bo_paper_main(argc, argv, &title);
}
