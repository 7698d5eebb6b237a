/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast: the tool. One verb per file; this one finds the verb. */
#include "shell/group.h"
#include "shell/tool.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const tool_verb *const verbs[] = {
    &verb_fit,    &verb_predict, &verb_score, &verb_compare,     &verb_inspect,   &verb_export, &verb_report,
    &verb_plot,   &verb_bound,   &verb_norm,  &verb_certify,     &verb_extremum,  &verb_attack, &verb_explain,
    &verb_expert, &verb_track,   &verb_study, &verb_contaminate, &verb_reproduce, &verb_doctor};
const size_t verb_count = sizeof verbs / sizeof verbs[0];

static const tool_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < verb_count; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}

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

/* Parses the arguments of a verb and runs it, or prints its help. The exit status. */
static int run_verb(const tool_verb *verb, int argc, char **argv)
{
    tool_arguments arguments;
    int status = arguments_parse(verb, argc, argv, &arguments);
    if (status != TOOL_OK) return status;
    if (has_argument(&arguments, "help")) {
        print_help(verb, stdout);
        status = fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
    } else {
        status = files_check(&arguments);
        if (status == TOOL_OK) status = verb->run(&arguments);
    }
    arguments_free(&arguments);
    return status;
}

/* The part of a verb that is called so, "track ask" by ask; NULL: there is none. */
static const tool_verb *find_part(const tool_verb *verb, const char *name)
{
    for (size_t i = 0; i < verb->part_count; i++)
        if (strcmp(strrchr(verb->parts[i]->name, ' ') + 1, name) == 0) return verb->parts[i];
    return NULL;
}

/* "create, ask or tell"; `last` stands before the last one. */
static void list_parts(const tool_verb *verb, const char *last, size_t bytes, char *out)
{
    tool_line line = {.text = out, .bytes = bytes};
    for (size_t i = 0; i < verb->part_count; i++) {
        const char *between = i == 0 ? "" : i + 1 < verb->part_count ? ", " : last;
        put(&line, "%s%s", between, strrchr(verb->parts[i]->name, ' ') + 1);
    }
}

int run_part(const tool_arguments *arguments)
{
    const tool_verb *verb = arguments->verb;
    char list[256] = "";
    const tool_verb *part = arguments->operands > 0 ? find_part(verb, arguments->operand[0]) : NULL;
    list_parts(verb, arguments->operands == 0 ? " or " : " and ", sizeof list, list);
    if (arguments->operands == 0)
        return usage_error(verb, "what is to be done with a %s? %s", verb->name, list);
    if (part == NULL)
        return usage_error(verb, "'%s' is nothing that can be done with a %s; %s are", arguments->operand[0],
                           verb->name, list);
    /* They are main's, which are not changed. */
    return run_verb(part, (int)arguments->operands - 1, (char **)(arguments->operand + 1));
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

/* Threads that wait by spinning make a fit several times slower on a machine that has other work,
 * and each thread of OpenBLAS, which we let run on one, takes 128 MB of address space. Both
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
