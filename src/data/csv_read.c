/* SPDX-License-Identifier: Apache-2.0 */
/* A file, a pipe or standard input into memory, then into a table. */
#include "data/table_impl.h"

#include "data/manner.h"
#include "data/text.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FIRST_CAPACITY = 1 << 16,
    LARGEST_READ = 1 << 20 /* so that a slow file is interrupted soon after the callback says so */
};

typedef struct csv_input {
    hf_context *ctx;
    const char *source;
    int descriptor;  /* -1: not open */
    size_t expected; /* size of a regular file, else 0 */
    char *text;
    size_t bytes;
    size_t capacity;
    bool unpack; /* a packed file is read to its end */
} csv_input;

static hf_status read_failed(const csv_input *in, int error)
{
    char words[128];
    return hfi_fail(in->ctx, HF_ERR_IO, "%s: cannot be read: %s", in->source, hfi_error_text(error, words));
}

/* Room for more text and the byte behind it. Refused beforehand when the machine has not that much: an endless
 * pipe shall end with a message, not with the death of the process. */
static hf_status grow_csv_text(csv_input *in)
{
    size_t wanted = in->expected + 2;
    if (in->capacity > 0 && !hfi_size_mul(in->capacity, 2, &wanted)) return hfi_out_of_memory(in->ctx);
    if (wanted < FIRST_CAPACITY) wanted = FIRST_CAPACITY;
    hf_status status = hfi_csv_must_fit(in->ctx, in->source, wanted);
    if (status != HF_OK) return status;
    char *larger = hfi_alloc(in->ctx, wanted, 1);
    if (larger == NULL) return HF_ERR_MEMORY;
    if (in->bytes > 0) memcpy(larger, in->text, in->bytes);
    hfi_free(in->ctx, in->text);
    in->text = larger;
    in->capacity = wanted;
    return HF_OK;
}

static hf_status read_all(csv_input *in)
{
    for (;;) {
        hf_status status = in->bytes + 1 >= in->capacity ? grow_csv_text(in) : HF_OK;
        if (status != HF_OK) return status;
        size_t room = in->capacity - in->bytes - 1;
        ssize_t got = read(in->descriptor, in->text + in->bytes, room < LARGEST_READ ? room : LARGEST_READ);
        int error = errno;
        if (!hfi_progress(in->ctx, "read", -1.0, NAN)) return hfi_cancelled(in->ctx);
        if (got == 0) return HF_OK;
        if (got < 0 && error != EINTR) return read_failed(in, error);
        if (got < 0) continue;
        /* Bytes with a zero among them are no text; the parser will say so, and /dev/zero has no end. */
        bool zero = memchr(in->text + in->bytes, '\0', (size_t)got) != NULL;
        in->bytes += (size_t)got;
        if (zero && !(in->unpack && hfi_is_packed(in->text, in->bytes))) return HF_OK;
    }
}

static hf_status open_input(csv_input *in, const char *path)
{
    struct stat about;
    if (strcmp(path, "-") == 0) {
        in->descriptor = STDIN_FILENO;
        in->source = "standard input";
    } else {
        do in->descriptor = open(path, O_RDONLY | O_CLOEXEC);
        while (in->descriptor < 0 && errno == EINTR && hfi_progress(in->ctx, "read", -1.0, NAN));
        if (in->descriptor < 0 && errno == EINTR) return hfi_cancelled(in->ctx);
        if (in->descriptor < 0) return read_failed(in, errno);
    }
    if (fstat(in->descriptor, &about) != 0) return read_failed(in, errno);
    if (S_ISDIR(about.st_mode))
        return hfi_fail(in->ctx, HF_ERR_IO, "%s: is a folder; give the CSV file in it", in->source);
    if (S_ISREG(about.st_mode) && about.st_size > 0 && (uintmax_t)about.st_size < SIZE_MAX / 4)
        in->expected = (size_t)about.st_size;
    return HF_OK;
}

/* All bytes of a file; on success they are the caller's. */
static hf_status read_input(csv_input *in, const char *path)
{
    hf_status status = open_input(in, path);
    if (status == HF_OK) status = read_all(in);
    if (in->descriptor >= 0 && strcmp(path, "-") != 0) close(in->descriptor);
    if (status != HF_OK) hfi_free(in->ctx, in->text);
    return status;
}

hf_status hf_table_read_csv(hf_context *ctx, const char *path, hf_table **out)
{
    if (out != NULL) *out = NULL;
    if (path == NULL || out == NULL) return hfi_refuse(ctx, "hf_table_read_csv: path or out is NULL");
    csv_input in = {.ctx = ctx, .source = path, .descriptor = -1};
    const hf_status status = read_input(&in, path);
    return status != HF_OK ? status : hfi_csv_take(ctx, in.text, in.bytes, in.source, out);
}

hf_status hfi_table_read_file(hf_context *ctx, const char *path, const hf_dialect *dialect, hf_table **out)
{
    hfi_manner *manner = NULL;
    csv_input in = {.ctx = ctx, .source = path, .descriptor = -1, .unpack = true};
    hf_status status = hfi_manner_make(ctx, dialect, &manner);
    if (status < 0) return status;
    status = read_input(&in, path);
    if (status == HF_OK) {
        status = hfi_unpack(ctx, in.source, manner, &in.text, &in.bytes);
        if (status < 0) hfi_free(ctx, in.text);
    }
    if (status < 0) {
        hfi_manner_free(manner);
        return status;
    }
    return hfi_csv_take_as(ctx, in.text, in.bytes, in.source, manner, out);
}
