/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory there is to be had: the machine's, or the container's or the process's when that is less. */
#include "core/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    LINE_BYTES = 4096,
    ALWAYS_THERE = 1 << 26
};

static size_t to_size(uint64_t bytes)
{
    return bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
}

/* A number after blanks; a control group without limit says "max" instead. */
static bool parse_number(const char *text, uint64_t *number)
{
    char *end = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (end == text || errno != 0) return false;
    *number = value;
    return true;
}

/* The number after `key` in a file of "key number" lines; an empty key means the file is the number. */
static bool read_number(const char *path, const char *key, uint64_t *number)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) return false;
    char line[LINE_BYTES];
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0) found = parse_number(line + strlen(key), number);
    fclose(file);
    return found;
}

static size_t machine_memory(void)
{
    uint64_t kibibytes;
    if (!read_number("/proc/meminfo", "MemAvailable:", &kibibytes)) return SIZE_MAX;
    return kibibytes > SIZE_MAX / 1024 ? SIZE_MAX : to_size(kibibytes * 1024);
}

/* Room below the limit of one control group. The inactive file cache is given back on demand and therefore
 * counts as free. SIZE_MAX when it has no limit. */
static size_t group_room(const char *folder, const char *limit_file, const char *usage_file)
{
    char path[LINE_BYTES + 64];
    uint64_t limit, usage, cache;
    hfi_print(path, sizeof path, "%s/%s", folder, limit_file);
    if (!read_number(path, "", &limit)) return SIZE_MAX;
    hfi_print(path, sizeof path, "%s/%s", folder, usage_file);
    if (!read_number(path, "", &usage)) usage = 0;
    hfi_print(path, sizeof path, "%s/memory.stat", folder);
    if (!read_number(path, "inactive_file ", &cache)) cache = 0;
    usage = cache < usage ? usage - cache : 0;
    return usage < limit ? to_size(limit - usage) : 0;
}

/* Version 2: the limits of the process's own group and of every group above it apply. */
static size_t unified_group_memory(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    if (file == NULL) return SIZE_MAX;
    char line[LINE_BYTES], folder[LINE_BYTES + 32];
    const char *group = NULL;
    while (group == NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "0::/", 4) == 0) group = line + 3;
    fclose(file);
    if (group == NULL) return SIZE_MAX;
    line[strcspn(line, "\n")] = '\0';
    hfi_print(folder, sizeof folder, "/sys/fs/cgroup%s", group);
    size_t root = strlen("/sys/fs/cgroup"), room = SIZE_MAX;
    for (;;) {
        size_t here = group_room(folder, "memory.max", "memory.current");
        if (here < room) room = here;
        char *slash = strrchr(folder, '/');
        if (slash == NULL || slash < folder + root) return room;
        *slash = '\0';
    }
}

/* Bytes left by a limit on the address space (ulimit -v). */
static size_t address_room(void)
{
    struct rlimit limit;
    uint64_t pages;
    const long page = sysconf(_SC_PAGESIZE);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || page <= 0) return SIZE_MAX;
    if (!read_number("/proc/self/statm", "", &pages)) pages = 0;
    const uint64_t used = pages * (uint64_t)page;
    return used < limit.rlim_cur ? to_size(limit.rlim_cur - used) : 0;
}

/* Address space of a new thread: its stack, whose size is the limit on stacks unless OpenMP was told another. */
enum {
    STACK_BYTES = 8 << 20
};

int hfi_threads_with_room(int threads)
{
    struct rlimit stack;
    const size_t room = address_room();
    if (room == SIZE_MAX || threads <= 1) return threads;
    const bool known = getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY;
    const size_t each = known ? to_size(stack.rlim_cur) : STACK_BYTES;
    const size_t more = room / 2 / (each > 0 ? each : STACK_BYTES); /* the other half is for what they do */
    return more < (size_t)threads - 1 ? (int)more + 1 : threads;
}

size_t hfi_available_memory(void)
{
    size_t least = machine_memory(), room = address_room();
    if (room < least) least = room;
    size_t unified = unified_group_memory();
    size_t legacy = group_room("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes");
    if (unified < least) least = unified;
    return legacy < least ? legacy : least;
}

bool hfi_memory_has(double bytes, size_t *available)
{
    *available = SIZE_MAX;
    if (bytes <= (double)ALWAYS_THERE) return true;
    *available = hfi_available_memory();
    return *available == SIZE_MAX || bytes <= (double)*available;
}
