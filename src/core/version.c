/* SPDX-License-Identifier: Apache-2.0 */
#include <holdfast/version.h>

const char *hf_version(void)
{
    return HF_VERSION_STRING;
}
