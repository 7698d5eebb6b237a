/* SPDX-License-Identifier: Apache-2.0 */
#include "common/hash.h"

uint32_t fnv1a(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; ++text) hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}
