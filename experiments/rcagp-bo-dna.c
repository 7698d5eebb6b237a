/* SPDX-License-Identifier: Apache-2.0 */
/* rcagp-bo-dna: the panels of Figure 4 of the RCaGP paper (2025) on the penalties of a lasso. */
#include "common/bo_paper.h"

int main(int argc, char **argv)
{
    static const bo_title title = {
        "rcagp-bo-dna", "Figure 4, Lasso DNA", "lasso-dna", "eulbo,eulbo-log,dpp-ei", "25", NULL};
    return bo_paper_main(argc, argv, &title);
}
