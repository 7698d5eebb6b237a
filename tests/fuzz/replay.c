/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for libFuzzer where there is none: feeds every file of the folders or files named on the command
 * line to the fuzzer's entry point. It feeds prefixes of each too, because a cut-off file is the most common broken
 * file. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    PREFIXES = 16
};

/* A block of exactly `size` bytes, so that AddressSanitizer sees the first byte read behind it. */
static void feed(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) abort();
    if (size > 0) memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static int replay_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = malloc(size + 1);
    int ok = file != NULL && data != NULL && fread(data, 1, size, file) == size;
    if (file != NULL) fclose(file);
    for (size_t i = 0; ok && i < PREFIXES; i++) feed(data, size / PREFIXES * i);
    if (ok) feed(data, size);
    if (!ok) fprintf(stderr, "cannot read %s\n", path);
    free(data);
    return ok ? 1 : -1;
}

/* Number of files replayed, or -1. */
static int replay(const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0) {
        fprintf(stderr, "cannot find %s\n", path);
        return -1;
    }
    if (!S_ISDIR(status.st_mode)) return replay_file(path, (size_t)status.st_size);

    DIR *folder = opendir(path);
    int count = folder != NULL ? 0 : -1;
    for (struct dirent *entry; count >= 0 && (entry = readdir(folder)) != NULL;) {
        char inner[4096];
        if (entry->d_name[0] == '.') continue;
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        int replayed = length > 0 && (size_t)length < sizeof inner ? replay(inner) : -1;
        count = replayed < 0 ? -1 : count + replayed;
    }
    if (folder != NULL) closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        int count = replay(argv[i]);
        if (count < 0) return 1;
        total += count;
    }
    printf("%d inputs replayed\n", total);
    return total > 0 ? 0 : 1; /* a fuzzer without a corpus tests nothing */
}
