/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of the verbs about certified ranges, and the warning that one ended a search. */
#include "certify/certified.h"

#include <math.h>

#define MIB ((size_t)1 << 20)

/* Seconds, 0 for no limit. */
static hf_status parse_seconds(certified *run, const char *name, double *out)
{
    if (!argument_double(run->arguments, name, out)) return session_told(&run->session);
    if (*out >= 0.0) return HF_OK;
    return session_misuse(&run->session, "--%s: %g is not a number from 0 on", name, *out);
}

hf_status certified_limits(certified *run, hf_certify_settings *settings)
{
    const tool_arguments *a = run->arguments;
    size_t mib = settings->memory_limit / MIB;
    hf_status status = parse_seconds(run, "time-limit", &settings->time_limit);
    if (status >= 0) status = parse_seconds(run, "total-time", &settings->total_time);
    if (status < 0) return status;
    if (!argument_size(a, "node-limit", &settings->node_limit) || !argument_size(a, "memory-limit", &mib))
        return session_told(&run->session);
    if (mib > SIZE_MAX / MIB)
        return session_misuse(&run->session, "--memory-limit: %zu MiB is more than there can be", mib);
    settings->memory_limit = mib * MIB;
    run->begun = tool_now();
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
