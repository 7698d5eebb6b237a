/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
/* Whether an output can be written: looked at before the work, and before anything is lost. */
#include "tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A track is what nobody can measure again: no other file takes its place. Nor that of its journal, beside it while it is changed. */
static bool is_a_track(const char *path)
{
    static const char ending[] = "-journal";
    if (hf_file_look(path) == HF_FILE_TRACK) {
        complain("%s: cannot be written: it is a track; remove it first if it is not needed", path);
        return true;
    }
    char *track = realpath(path, NULL); /* of a link, what it stands for */
    if (track == NULL) track = strdup(path);
    const size_t bytes = track != NULL ? strlen(track) : 0, end = sizeof ending - 1;
    bool journal = bytes > end && strcmp(track + bytes - end, ending) == 0;
    if (journal) {
        track[bytes - end] = '\0';
        journal = hf_file_look(track) == HF_FILE_TRACK;
    }
    if (journal) complain("%s: cannot be written: it is the journal of the track %s", path, track);
    free(track);
    return journal;
}

/* What a verb is about, its first operand, is not what it writes over; of links and other names too. */
static bool is_read(const tool_arguments *arguments, const char *path)
{
    struct stat read, written;
    if (arguments->operands == 0 || stat(arguments->operand[0], &read) != 0 || stat(path, &written) != 0 ||
        !S_ISREG(read.st_mode) || read.st_dev != written.st_dev || read.st_ino != written.st_ino)
        return false;
    complain("%s: cannot be written: it is what the command reads; name another file", path);
    return true;
}

bool is_unwritable(const tool_arguments *arguments, const char *path)
{
    if (path == NULL || strcmp(path, "-") == 0) return false;
    if (is_a_track(path) || is_read(arguments, path)) return true;
    struct stat info;
    if (stat(path, &info) == 0) {
        if (!S_ISDIR(info.st_mode) && access(path, W_OK) == 0) return false;
        complain("%s: cannot be written: %s", path,
                 S_ISDIR(info.st_mode) ? "it is a folder" : strerror(errno));
        return true;
    }
    char *folder = strdup(path);
    if (folder == NULL) return false;
    char *slash = strrchr(folder, '/');
    if (slash != NULL) slash[slash == folder ? 1 : 0] = '\0';
    bool bad = access(slash != NULL ? folder : ".", W_OK | X_OK) != 0;
    if (bad) complain("%s: cannot be written: %s", path, strerror(errno));
    free(folder);
    return bad;
}
