/* SPDX-License-Identifier: Apache-2.0 */
/* rcagp-bo-rover: the panels of Figure 4 of the RCaGP paper (2025) on the way of a rover. */
#include "common/bo_paper.h"

int main(int argc, char **argv)
{
    static const bo_title title = {
        "rcagp-bo-rover", "Figure 4, Rover", "rover", "eulbo,eulbo-log,dpp-ei", "25", NULL};
    return bo_paper_main(argc, argv, &title);
}
