/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the verbs about certified ranges, and the warning that one ended a search. */
#include "certify/certified.h"
#include "shell/settings.h"

#include <math.h>

#define MIB ((size_t)1 << 20)

hf_status certified_limits(certified *run, hf_certify_settings *settings)
{
    const hf_status status = session_settings(&run->session, hf_certify_settings_table(), settings);
    run->begun = tool_now();
    if (status < 0 || !has_argument(run->arguments, "memory-limit")) return status;
    if (settings->memory_limit > SIZE_MAX / MIB)
        return MISUSE(run, "--memory-limit: %zu MiB is more than there can be", settings->memory_limit);
    settings->memory_limit *= MIB;
    return status;
}

hf_certify_settings certified_share(const certified *run, const hf_certify_settings *settings, size_t left)
{
    hf_certify_settings own = *settings;
    /* 0 would be no limit; without any time the box as a whole is bounded. */
    if (own.total_time > 0.0)
        own.total_time = fmax((run->begun + settings->total_time - tool_now()) / (double)left, 1e-9);
    return own;
}

void certified_tell_limits(const certified *run, const hf_certify_settings *settings, size_t by_time,
                           size_t by_memory, size_t all)
{
    const char *boxes = all == 1 ? "box" : "boxes", *rest = "what is told of them is wider, and just as true";
    char own[64] = "", total[64] = "";
    if (settings->time_limit > 0.0)
        (void)snprintf(own, sizeof own, "%g s a box (--time-limit)", settings->time_limit);
    if (settings->total_time > 0.0)
        (void)snprintf(total, sizeof total, "%s%g s for all (--total-time)", own[0] != '\0' ? ", " : "",
                       settings->total_time);
    if (by_time > 0)
        warn(&run->session, "%zu of %zu %s ended at a time limit, %s%s: %s", by_time, all, boxes, own, total,
             rest);
    if (by_memory > 0)
        warn(&run->session, "%zu of %zu %s ended at the memory limit, %zu MiB a box (--memory-limit): %s",
             by_memory, all, boxes, settings->memory_limit / MIB, rest);
}
