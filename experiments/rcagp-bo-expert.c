/* SPDX-License-Identifier: Apache-2.0 */
/* rcagp-bo-expert: the right half of Figure 5 of the RCaGP paper (2025), optimisation with an expert. */
#include "common/bo_paper.h"

int main(int argc, char **argv)
{
    static const bo_title title = {
        "rcagp-bo-expert",
        "Figure 5, right",
        "hartmann6,lander",
        "dpp-ei,ei",
        "25",
        "RCSVGP,RCSVGP+alg1,RCSVGP+average,RCSVGP+replace,RCaGP,RCaGP+alg1,RCaGP+average,"
        "RCaGP+replace"};
    return bo_paper_main(argc, argv, &title);
}
