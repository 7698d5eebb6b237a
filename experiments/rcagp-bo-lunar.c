/* SPDX-License-Identifier: Apache-2.0 */
/* rcagp-bo-lunar: the panels of Figure 4 of the RCaGP paper (2025) on a lander's controller. */
#include "common/bo_paper.h"

int main(int argc, char **argv)
{
    static const bo_title title = {
        "rcagp-bo-lunar", "Figure 4, Lunar", "lander", "eulbo,eulbo-log,dpp-ei", "25,0", NULL};
    return bo_paper_main(argc, argv, &title);
}
