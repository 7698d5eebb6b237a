/* SPDX-License-Identifier: Apache-2.0 */
#include "core/core.h"

#include <time.h>

double hfi_now(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return 0.0;
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
