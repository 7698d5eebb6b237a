/* SPDX-License-Identifier: Apache-2.0 */
/* Which BLAS is in use, and how to keep its threads out of the way of ours. */
#include "linalg/blas.h"

#include <holdfast/version.h>

/* Present or absent according to the library that is linked; the addresses tell. */
extern char *openblas_get_config(void) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern const char *bli_info_get_version_str(void) __attribute__((weak));
extern long bli_thread_get_num_threads(void) __attribute__((weak));
extern void bli_thread_set_num_threads(long threads) __attribute__((weak));
extern int MKL_Get_Max_Threads(void) __attribute__((weak));

const char *hf_blas_description(void)
{
    if (openblas_get_config != NULL) return openblas_get_config();
    if (bli_info_get_version_str != NULL) return "BLIS";
    if (MKL_Get_Max_Threads != NULL) return "Intel MKL";
    return "reference BLAS (slow)";
}

int hf_blas_is_slow(void)
{
    return openblas_get_config == NULL && bli_info_get_version_str == NULL && MKL_Get_Max_Threads == NULL;
}

int hfi_blas_enter(void)
{
    if (openblas_get_num_threads == NULL || openblas_set_num_threads == NULL) return 1;
    int threads = openblas_get_num_threads();
    if (threads > 1) openblas_set_num_threads(1);
    return threads;
}

void hfi_blas_leave(int entered)
{
    if (entered > 1) openblas_set_num_threads(entered);
}
