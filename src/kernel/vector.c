/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the widths of a loop runs here. */
#include "kernel/vector.h"

#include <holdfast/version.h>

const char *hf_vector_description(void)
{
#if HFI_VECTOR == 512
    return "AVX-512, fixed when built";
#elif HFI_VECTOR == 256
    return "AVX2, fixed when built";
#elif defined(HFI_CHOSEN_AT_RUN_TIME)
    /* The loader's questions for each loop, in the same order. */
    if (__builtin_cpu_supports("x86-64-v4")) return "AVX-512, chosen at run time";
    if (__builtin_cpu_supports("x86-64-v3")) return "AVX2, chosen at run time";
    return "generic, chosen at run time";
#else
    return "generic, fixed when built";
#endif
}
