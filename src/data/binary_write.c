/* SPDX-License-Identifier: Apache-2.0 */
/* From a CSV file to a cache of its numbers. */
#include "data/atomic_file.h"
#include "data/binary.h"
#include "data/number.h"
#include "data/table_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct binary_writer {
    hfi_file file;
    hfi_sha256 rows_hash;
    uint64_t rows;
    size_t columns;
    hfi_binary_column *column;
    double *numbers; /* a chunk of rows */
    size_t chunk;    /* rows in it */
} binary_writer;

/* ---- rows ------------------------------------------------------------------------------------ */

/* The header is the same in every part; the first one makes the columns. */
static hf_status learn_columns(hf_context *ctx, binary_writer *w, const hf_table *part)
{
    if (w->column != NULL) return HF_OK;
    w->columns = hf_table_columns(part);
    const size_t row_bytes = w->columns * sizeof(double);
    w->chunk = row_bytes < HFI_BINARY_CHUNK ? HFI_BINARY_CHUNK / row_bytes : 1;
    w->column = hfi_alloc(ctx, w->columns, sizeof *w->column);
    w->numbers = hfi_alloc(ctx, w->chunk, row_bytes);
    if (w->column == NULL || w->numbers == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < w->columns; j++) {
        w->column[j].name = hfi_memory_strdup(&w->file.memory, hf_table_name(part, j));
        if (w->column[j].name == NULL) return hfi_out_of_memory(ctx);
    }
    return HF_OK;
}

/* One field: its number (NaN if it is none), and what the column should remember of it. */
static double take_field(hfi_binary_column *column, const hf_table *part, size_t row, size_t j)
{
    double value = NAN;
    const char *text = hfi_table_text(part, row, j);
    const double *numbers = part->column[j].numbers;
    hfi_field_kind kind = HFI_FIELD_NUMBER;
    if (numbers == NULL) {
        kind = hfi_field_parse(text, &value);
    } else {
        value = numbers[row];
        if (isnan(value)) kind = HFI_FIELD_MISSING;
    }
    if (kind == HFI_FIELD_TEXT) {
        if (column->texts++ == 0) {
            column->text_line = hfi_table_field_line(part, row, j);
            hfi_text_shown(text, column->text);
        }
        return NAN;
    }
    column->numbers += kind == HFI_FIELD_NUMBER;
    column->missing += kind == HFI_FIELD_MISSING;
    if (isinf(value) && column->infinite_line == 0) column->infinite_line = hf_table_line(part, row);
    if (value < 0.0 && column->negative_line == 0) column->negative_line = hf_table_line(part, row);
    return value;
}

static hf_status take_part(hf_context *ctx, void *arg, const hf_table *part)
{
    binary_writer *w = arg;
    hf_status status = learn_columns(ctx, w, part);
    const size_t rows = hf_table_rows(part);
    for (size_t begin = 0; status >= 0 && begin < rows; begin += w->chunk) {
        const size_t count = rows - begin < w->chunk ? rows - begin : w->chunk;
        /* Column by column, which is how the part lies in memory. */
        for (size_t j = 0; j < w->columns; j++)
            for (size_t i = 0; i < count; i++)
                w->numbers[i * w->columns + j] = take_field(&w->column[j], part, begin + i, j);
        const size_t bytes = count * w->columns * sizeof(double);
        hfi_sha256_add(&w->rows_hash, w->numbers, bytes);
        status = hfi_file_write(ctx, &w->file, w->numbers, bytes);
    }
    w->rows += rows;
    return status;
}

/* ---- description ----------------------------------------------------------------------------- */

/* The description is hashed on its way into the file. */
typedef struct describer {
    hf_context *ctx;
    binary_writer *w;
    hfi_sha256 hash;
    uint64_t bytes;
    hf_status status;
} describer;

static void put_description_bytes(describer *to, const void *data, size_t bytes)
{
    if (to->status < 0) return;
    hfi_sha256_add(&to->hash, data, bytes);
    to->bytes += bytes;
    to->status = hfi_file_write(to->ctx, &to->w->file, data, bytes);
}

static void put_number(describer *to, uint64_t value)
{
    put_description_bytes(to, &value, sizeof value);
}

static void put_text(describer *to, const char *text)
{
    const size_t length = strlen(text);
    put_number(to, length);
    put_description_bytes(to, text, length);
}

static hf_status write_description(hf_context *ctx, binary_writer *w, const char *csv, const hfi_stamp *stamp)
{
    unsigned char digest[HFI_SHA256_BYTES];
    describer to = {.ctx = ctx, .w = w};
    hfi_sha256_init(&to.hash);
    put_number(&to, w->rows);
    put_number(&to, w->columns);
    put_number(&to, stamp->bytes);
    put_number(&to, (uint64_t)stamp->seconds);
    put_number(&to, (uint64_t)stamp->nanoseconds);
    hfi_sha256_end(&w->rows_hash, digest);
    put_description_bytes(&to, digest, sizeof digest);
    for (size_t j = 0; j < w->columns; j++) {
        const hfi_binary_column *c = &w->column[j];
        put_text(&to, c->name);
        put_number(&to, c->numbers);
        put_number(&to, c->missing);
        put_number(&to, c->texts);
        put_number(&to, c->text_line);
        put_number(&to, c->infinite_line);
        put_number(&to, c->negative_line);
        put_text(&to, c->text);
    }
    put_text(&to, csv);
    const uint64_t place = HFI_BINARY_HEAD + w->rows * w->columns * sizeof(double), bytes = to.bytes;
    hfi_sha256_end(&to.hash, digest);
    put_number(&to, place);
    put_number(&to, bytes);
    put_description_bytes(&to, digest, sizeof digest);
    put_description_bytes(&to, HFI_BINARY_END, sizeof HFI_BINARY_END);
    return to.status;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static hf_status begin_binary_file(hf_context *ctx, binary_writer *w)
{
    const uint64_t version = HFI_BINARY_VERSION, order = HFI_BINARY_ORDER;
    hfi_sha256_init(&w->rows_hash);
    hf_status status = hfi_file_write(ctx, &w->file, HFI_BINARY_MAGIC, sizeof HFI_BINARY_MAGIC);
    if (status >= 0) status = hfi_file_write(ctx, &w->file, &version, sizeof version);
    return status < 0 ? status : hfi_file_write(ctx, &w->file, &order, sizeof order);
}

/* A mistyped name must not cost somebody a file. */
static hf_status check_place(hf_context *ctx, const char *path)
{
    char front[sizeof HFI_BINARY_MAGIC];
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 && errno == ENOENT) return HF_OK;
    const ssize_t got = descriptor >= 0 ? read(descriptor, front, sizeof front) : -1;
    if (descriptor >= 0) close(descriptor);
    if (got == 0 || (got == (ssize_t)sizeof front && memcmp(front, HFI_BINARY_MAGIC, sizeof front) == 0))
        return HF_OK;
    return hfi_fail(ctx, HF_ERR_IO,
                    "%s: is there, but is no cache of a table; name another file for the cache", path);
}

static void free_binary_writer(hf_context *ctx, binary_writer *w)
{
    if (w->column != NULL)
        for (size_t j = 0; j < w->columns; j++) hfi_free(ctx, w->column[j].name);
    HFI_FREE(ctx, w->column, w->numbers);
}

hf_status hfi_binary_create(hf_context *ctx, const char *csv, const char *path)
{
    hfi_stamp stamp;
    /* First, so that a source that is not there leaves the place alone. */
    hf_status status = hfi_stamp_read(ctx, csv, &stamp);
    if (status >= 0) status = check_place(ctx, path);
    if (status < 0) return status;
    binary_writer w = {0};
    status = hfi_file_begin(ctx, path, &w.file);
    if (status >= 0 && w.file.path == NULL)
        status = hfi_fail(ctx, HF_ERR_IO, "%s: a cache must be a file of its own", path);
    if (status >= 0) status = begin_binary_file(ctx, &w);
    if (status >= 0) status = hfi_csv_stream(ctx, csv, 0, take_part, &w, &stamp);
    if (status >= 0) status = write_description(ctx, &w, csv, &stamp);
    if (status >= 0) status = hfi_file_commit(ctx, &w.file);
    free_binary_writer(ctx, &w);
    hfi_file_abort(&w.file);
    return status;
}

hf_status hfi_binary_obtain(hf_context *ctx, const char *csv, const char *path, hfi_binary *out, bool *made)
{
    *made = false;
    hf_status status = HF_ERR_IO;
    if (access(path, F_OK) == 0) {
        status = hfi_binary_open(ctx, path, csv, out);
        if (status >= 0) status = hfi_binary_verify(ctx, out);
        if (status != HF_ERR_IO) return status;
        hfi_binary_close(out);
    }
    status = hfi_binary_create(ctx, csv, path);
    if (status < 0) return status;
    *made = true;
    return hfi_binary_open(ctx, path, csv, out);
}
