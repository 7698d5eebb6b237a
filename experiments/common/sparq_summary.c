/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_summary.h"

#include <math.h>
#include <string.h>

sparq_summary sparq_summarise(const env_rows *rows, const char *start, size_t column)
{
    sparq_summary s = {.least = INFINITY, .most = -INFINITY};
    double squares = 0.0;
    for (size_t i = 0; i < rows->count; ++i) {
        const double v = rows->items[i].values[column];
        if (strncmp(rows->items[i].name, start, strlen(start)) != 0 || isnan(v)) continue;
        const double off = v - s.mean;
        s.mean += off / (double)++s.count;
        squares += off * (v - s.mean);
        s.least = fmin(s.least, v);
        s.most = fmax(s.most, v);
    }
    s.sd = s.count > 1 ? sqrt(squares / (double)(s.count - 1)) : 0.0;
    return s;
}
