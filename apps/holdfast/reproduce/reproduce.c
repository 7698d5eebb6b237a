/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast reproduce: finds an experiment's program and becomes it. */
#include "shell/tool.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_BYTES = 4096
};

static const char prefix[] = "hf-reproduce-";

/* Where to look, seen from the folder of the tool itself: beside it, in the build, and where it is installed. */
static const char *const places[] = {"", "experiments/", HF_TO_EXPERIMENTS};

enum {
    PLACES = sizeof places / sizeof places[0]
};

/* Folder of this program, with a slash at the end. */
static bool own_folder(char folder[PATH_BYTES])
{
    ssize_t length = readlink("/proc/self/exe", folder, PATH_BYTES - 1);
    if (length <= 0) return false;
    folder[length] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash == NULL) return false;
    slash[1] = '\0';
    return true;
}

static bool is_name(const char *name)
{
    for (const char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_') return false;
    return *name != '\0';
}

static int is_experiment(const struct dirent *entry)
{
    return strncmp(entry->d_name, prefix, sizeof prefix - 1) == 0;
}

static int list_experiments(const char *folder)
{
    size_t found = 0;
    for (size_t i = 0; i < PLACES; i++) {
        char path[2 * PATH_BYTES];
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        struct dirent **entries = NULL;
        const int count = scandir(path, &entries, is_experiment, alphasort);
        for (int k = 0; k < count; k++) {
            puts(entries[k]->d_name + sizeof prefix - 1);
            free(entries[k]);
            found++;
        }
        free(entries);
    }
    if (found == 0)
        return complain(
            "no experiments are built; make the target experiments, which needs -DHF_EXPERIMENTS=ON");
    return fflush(stdout) == 0 ? TOOL_OK : TOOL_FAILED;
}

/* "--name" or a plain word, appended to an argument vector. */
static bool append_argument(char **argv, size_t *count, const char *dashes, const char *word)
{
    size_t bytes = strlen(dashes) + strlen(word) + 1;
    argv[*count] = malloc(bytes);
    if (argv[*count] == NULL) return false;
    snprintf(argv[(*count)++], bytes, "%s%s", dashes, word);
    return true;
}

/* The options before the name become arguments of the experiment too. */
static bool make_argv(char **argv, size_t *count, const char *path, const tool_arguments *arguments)
{
    bool made = append_argument(argv, count, "", path);
    for (size_t i = 1; made && i < arguments->operands; i++)
        made = append_argument(argv, count, "", arguments->operand[i]);
    for (size_t i = 0; made && i < arguments->count; i++) {
        made = append_argument(argv, count, "--", arguments->list[i].option->name);
        if (made && arguments->list[i].value != NULL)
            made = append_argument(argv, count, "", arguments->list[i].value);
    }
    return made;
}

static int become(const char *path, const tool_arguments *arguments)
{
    size_t count = 0;
    char **argv = calloc(2 * arguments->count + arguments->operands + 2, sizeof *argv);
    if (argv == NULL) return complain("out of memory");
    bool made = make_argv(argv, &count, path, arguments);
    if (made) execv(path, argv);
    int error = made ? errno : ENOMEM;
    for (size_t i = 0; i < count; i++) free(argv[i]);
    free(argv);
    return complain("%s: cannot be run: %s", path, strerror(error));
}

static int run_experiment(const tool_arguments *arguments)
{
    char folder[PATH_BYTES];
    if (!own_folder(folder)) return complain("cannot find out where this program lies: %s", strerror(errno));
    if (arguments->operands == 0) return list_experiments(folder);
    const char *name = arguments->operand[0];
    if (!is_name(name)) return usage_error(arguments->verb, "'%s' is not the name of an experiment", name);
    for (size_t i = 0; i < PLACES; i++) {
        char path[2 * PATH_BYTES];
        snprintf(path, sizeof path, "%s%s%s%s", folder, places[i], prefix, name);
        if (access(path, X_OK) == 0) return become(path, arguments);
    }
    return complain("no experiment '%s' is here; holdfast reproduce lists those that are", name);
}

const tool_verb verb_reproduce = {
    .name = "reproduce",
    .operands = "[NAME [ARGUMENT]...]",
    .summary = "Run an experiment: a paper's numbers beside ours",
    .text =
        "Without a name, lists the experiments that are there. Everything after the name is handed over to\n"
        "the experiment. Where data of others are missing, it says what they are, who has them and where to\n"
        "put them; with nothing else to run, its exit status is 77.",
    .example = "  holdfast reproduce",
    .most = SIZE_MAX,
    .run = run_experiment,
};
