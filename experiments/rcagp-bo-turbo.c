/* SPDX-License-Identifier: Apache-2.0 */
/* rcagp-bo-turbo: Figure S2 of the RCaGP paper (2025), trust regions. */
#include "common/bo_paper.h"

int main(int argc, char **argv)
{
    static const bo_title title = {"rcagp-bo-turbo",        "Figure S2", "hartmann6,lander,rover,lasso-dna",
                                   "eulbo-turbo,dpp-turbo", "25",        NULL};
    return bo_paper_main(argc, argv, &title);
}
