/* SPDX-License-Identifier: Apache-2.0 */
#include "common/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool lines_load(const char *path, bool (*take)(const char *line, void *user), void *user)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t size = 0;
    off_t whole = 0;
    bool ok = true;
    if (!file) return true;
    for (size_t number = 1; ok; ++number) {
        const ssize_t length = getline(&line, &size, file);
        if (length <= 0) break;
        if (line[length - 1] != '\n') {
            /* Its result is made again. */
            ok = truncate(path, whole) == 0;
            break;
        }
        whole += length;
        ok = take(line, user);
        if (!ok) fprintf(stderr, "%s: line %zu\n", path, number);
    }
    free(line);
    fclose(file);
    return ok;
}
