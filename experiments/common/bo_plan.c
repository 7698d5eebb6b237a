/* SPDX-License-Identifier: Apache-2.0 */
/* Names and panels of what is run. */
#include "common/bo_paper.h"

#include <stdio.h>

void bo_plan_name(const bo_plan *p, const bo_panel *panel, const char *model, long seed, char name[BO_NAME])
{
    const char *sees = p->all ? " all" : "";
    snprintf(name, BO_NAME, "%.12s %.11s %.15s %.3s%% %ld %ld+%ld%s%s%s", panel->problem, panel->question,
             model, panel->wrong, seed, p->initial, p->evaluations, sees, p->high ? " t20" : "",
             p->mean ? " mean" : "");
}

size_t bo_plan_panels(const bo_plan *p, size_t most, bo_panel *panels)
{
    size_t count = 0;
    for (size_t i = 0; i < p->problems.count; ++i)
        for (size_t j = 0; j < p->questions.count; ++j)
            for (size_t k = 0; k < p->wrong.count && count < most; ++k)
                panels[count++] = (bo_panel){p->problems.items[i], p->questions.items[j], p->wrong.items[k]};
    return count;
}
