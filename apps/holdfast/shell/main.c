/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast: the tool. It finds the verb, which has a file of its own, and runs it. */
#include "shell/group.h"
#include "shell/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int print_version(void)
{
    printf("holdfast %s\nBLAS: %s\nloops: %s\n", hf_version(), hf_blas_description(),
           hf_vector_description());
    if (hf_blas_is_slow())
        fputs("holdfast: warning: this BLAS is several times slower than need be; install a fast one "
              "(Debian: libopenblas-pthread-dev) and build again\n",
              stderr);
    return fflush(stdout) == 0 ? TOOL_OK : complain("standard output: cannot be written");
}

static int help(int argc, char **argv)
{
    const tool_verb *verb = argc > 2 ? find_verb(argv[2]) : NULL;
    if (argc > 2 && verb == NULL) return usage_error(NULL, "unknown verb '%s'", argv[2]);
    const tool_verb *part = argc > 3 ? find_part(verb, argv[3]) : NULL;
    if (argc > 3 && part == NULL) return usage_error(NULL, "unknown verb '%s %s'", argv[2], argv[3]);
    if (verb != NULL)
        print_help(part != NULL ? part : verb, stdout);
    else
        print_overview(stdout);
    return fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}

/* Set where nobody has set it; whether it was. */
static bool set_default(const char *name, const char *value)
{
    return getenv(name) == NULL && setenv(name, value, 0) == 0;
}

/* Threads that wait by spinning make a fit several times slower on a machine that has other work.
 * Each thread of OpenBLAS takes 128 MB of address space, so we let it run on one. Both
 * libraries read what they are told when they are loaded, before main, so the tool starts itself
 * once more with that set. Whoever has set it is not overruled, and whoever watches this process by
 * a preloaded library (valgrind does) goes on watching it. */
static void tell_libraries(char **argv)
{
    if (getenv("LD_PRELOAD") != NULL) return;
    const bool spins = getenv("GOMP_SPINCOUNT") == NULL && set_default("OMP_WAIT_POLICY", "passive");
    if (set_default("OPENBLAS_NUM_THREADS", "1") || spins) execv("/proc/self/exe", argv);
    /* Not Linux, or no such file: it runs as it is. */
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_beginning(stderr);
        return TOOL_USAGE;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0)
        return help(argc, argv);
    if (strcmp(first, "--version") == 0 || strcmp(first, "version") == 0) return print_version();
    const tool_verb *verb = find_verb(first);
    if (verb == NULL)
        return usage_error(NULL, first[0] == '-' ? "unknown option %s" : "unknown verb '%s'", first);
    tell_libraries(argv);
    group_start();
    const int status = run_verb(verb, argc - 2, argv + 2);
    group_end(status);
    return status;
}
