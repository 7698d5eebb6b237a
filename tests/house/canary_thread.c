/* SPDX-License-Identifier: Apache-2.0 */
/* With an argument two threads write one variable unprotected: ThreadSanitizer must stop it. Without, the
 * writes are parted by an OpenMP barrier and by task dependences, which ThreadSanitizer understands only
 * through Archer. */
#include <stdlib.h>

static long with_race(void)
{
    long sum = 0;
#pragma omp parallel for num_threads(4) schedule(static, 1) shared(sum)
    for (int i = 0; i < 10000; i++) sum += i;
    return sum;
}

static long without_race(void)
{
    enum {
        THREADS = 4
    };
    long parts[THREADS] = {0}, turned[THREADS] = {0}, sum = 0;
#pragma omp parallel num_threads(THREADS)
    {
#pragma omp for schedule(static, 1)
        for (int i = 0; i < THREADS; i++) parts[i] = i; /* a barrier follows */
#pragma omp for schedule(static, 1)
        for (int i = 0; i < THREADS; i++) turned[i] = parts[(i + 1) % THREADS]; /* another thread's */
#pragma omp single
        for (int i = 0; i < THREADS; i++) {
#pragma omp task depend(inout : sum) shared(sum, turned) firstprivate(i)
            sum += turned[i];
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    (void)argv;
    long sum = argc > 1 ? with_race() : without_race();
    return sum > 0 || argc > 1 ? 0 : 1;
}
