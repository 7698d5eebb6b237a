/* SPDX-License-Identifier: Apache-2.0 */
#include "common/clock.h"

#include <sys/resource.h>
#include <time.h>

double wall_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cpu_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double peak_megabytes(void)
{
    struct rusage own, others;
    if (getrusage(RUSAGE_SELF, &own) != 0 || getrusage(RUSAGE_CHILDREN, &others) != 0) return 0.0;
    const long most = own.ru_maxrss > others.ru_maxrss ? own.ru_maxrss : others.ru_maxrss;
    return (double)most * 1024e-6; /* kilobytes of 1024 bytes */
}
