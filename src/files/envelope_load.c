/* SPDX-License-Identifier: Apache-2.0 */
/* From the bytes of a file to an envelope, believing nothing. */
#include "envelope/envelope.h"
#include "files/envelope_file.h"
#include "store/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- labels ------------------------------------------------------------------------------------------------- */

/* The labels as hf_envelope_load() hands them out: they are the first member, so their pointer frees everything. */
typedef struct kept_labels {
    hf_envelope_labels labels;
    hfi_memory memory;
    char *target, *source;
    char **feature; /* d */
    size_t d;
} kept_labels;

static void kept_free(kept_labels *kept)
{
    if (kept == NULL) return;
    const hfi_memory memory = kept->memory;
    hfi_texts_free(&memory, kept->feature, kept->d);
    HFI_MEMORY_FREE(&memory, kept->target, kept->source, kept);
}

void hf_envelope_labels_free(hf_envelope_labels *labels)
{
    kept_free((kept_labels *)labels);
}

/* The scaling of the table feature, which is the identity here. */
static hf_status read_features(const hfi_reader *r, kept_labels *kept)
{
    double *scaling = hfi_alloc(r->ctx, kept->d, 2 * sizeof *scaling);
    if (scaling == NULL) return HF_ERR_MEMORY;
    hf_status status = hfi_read_features(r, kept->d, kept->feature, scaling, scaling + kept->d);
    for (size_t j = 0; status >= 0 && j < kept->d; j++)
        if (scaling[j] != 0.0 || scaling[kept->d + j] != 1.0)
            status = hfi_reader_damaged(r, "an input is not as it should be");
    hfi_free(r->ctx, scaling);
    return status;
}

static hf_status read_labels(const hfi_reader *r, size_t d, kept_labels **out)
{
    kept_labels *kept = hfi_alloc(r->ctx, 1, sizeof *kept);
    if (kept == NULL) return HF_ERR_MEMORY;
    kept->memory = r->memory;
    kept->d = d;
    kept->feature = hfi_alloc(r->ctx, d, sizeof *kept->feature);
    hf_status status = kept->feature != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = hfi_meta_text(r, "target", false, &kept->target);
    if (status >= 0) status = hfi_meta_text(r, "source", false, &kept->source);
    if (status >= 0) status = read_features(r, kept);
    if (status < 0) {
        kept_free(kept);
        return status;
    }
    kept->labels = (hf_envelope_labels){.target = kept->target,
                                        .features = (const char *const *)kept->feature,
                                        .feature_count = d,
                                        .source = kept->source};
    *out = kept;
    return HF_OK;
}

/* ---- readings ----------------------------------------------------------------------------------------------- */

/* Arguments of hf_envelope_create(). A reading with two limits becomes two of one limit each: y - 0 and y + 0 are the
 * limits to the bit, as y - below and y + above in one reading could not be. */
typedef struct readings {
    size_t n;               /* in the file */
    double *x, *low, *high; /* n x d, n, n */
    hf_bounded_readings made;
    double *block; /* of made: x, y, below, above */
} readings;

static void readings_free(hf_context *ctx, readings *from)
{
    HFI_FREE(ctx, from->x, from->block);
}

static hf_status read_arrays(const hfi_reader *r, size_t d, readings *out)
{
    out->x = hfi_alloc(r->ctx, out->n, (d + 2) * sizeof *out->x);
    if (out->x == NULL) return HF_ERR_MEMORY;
    out->low = out->x + out->n * d;
    out->high = out->low + out->n;
    hf_status status = hfi_array_read(r, "reading_inputs", out->n, d, false, out->x);
    if (status >= 0) status = hfi_array_read(r, "reading_lower", out->n, 1, true, out->low);
    if (status >= 0) status = hfi_array_read(r, "reading_upper", out->n, 1, true, out->high);
    for (size_t i = 0; status >= 0 && i < out->n; i++)
        if ((isnan(out->low[i]) && isnan(out->high[i])) || out->low[i] > out->high[i])
            status = hfi_reader_damaged(r, "the limits of a reading make no sense");
    return status;
}

static void add_side(readings *to, size_t d, size_t i, double limit, bool is_lower)
{
    if (isnan(limit)) return;
    double *x = to->block, *y = x + 2 * to->n * d, *below = y + 2 * to->n, *above = below + 2 * to->n;
    const size_t k = to->made.n++;
    memcpy(x + k * d, to->x + i * d, d * sizeof *x);
    y[k] = limit;
    below[k] = is_lower ? 0.0 : INFINITY;
    above[k] = is_lower ? INFINITY : 0.0;
}

static hf_status make_readings(const hfi_reader *r, size_t d, readings *out)
{
    out->block = hfi_alloc(r->ctx, 2 * out->n, (d + 3) * sizeof *out->block);
    if (out->block == NULL) return HF_ERR_MEMORY;
    for (size_t i = 0; i < out->n; i++) {
        add_side(out, d, i, out->low[i], true);
        add_side(out, d, i, out->high[i], false);
    }
    const double *y = out->block + 2 * out->n * d;
    out->made.x = out->block;
    out->made.ldx = d;
    out->made.y = y;
    out->made.below = y + 2 * out->n;
    out->made.above = y + 4 * out->n;
    return HF_OK;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

static hf_status read_settings(const hfi_reader *r, double *norm, double *offset,
                               hf_envelope_settings *settings)
{
    *settings = hf_envelope_settings_default();
    hf_status status = hfi_meta_double(r, "norm", 0.0, norm);
    if (status >= 0) status = hfi_meta_double(r, "jitter", 0.0, &settings->jitter);
    if (status >= 0 && r->version > 1) status = hfi_meta_any_double(r, "offset", offset);
    if (status >= 0 && (!isfinite(*offset) || (r->version > 1 && *offset == 0.0)))
        status = hfi_meta_bad(r, "offset");
    if (status >= 0) status = hfi_meta_flag(r, "rigorous", &settings->rigorous);
    if (status >= 0) status = hfi_meta_size(r, "reserve", &settings->reserve);
    if (status >= 0 && settings->reserve > HFI_ENVELOPE_RESERVE) status = hfi_meta_bad(r, "reserve");
    return status;
}

static hf_status read_sizes(const hfi_reader *r, size_t *n, size_t *d)
{
    hf_status status = hfi_meta_size(r, "inputs", d);
    if (status >= 0) status = hfi_meta_size(r, "readings", n);
    /* Before anything is allocated for more than the file has bytes for. */
    if (status >= 0 &&
        (*d == 0 || *n == 0 || !hfi_reader_has_room(r, 1, *d) || !hfi_reader_has_room(r, *n, *d)))
        status = hfi_meta_bad(r, "readings");
    return status;
}

static hf_status read_kernel(const hfi_reader *r, const kept_labels *kept, hf_kernel **out)
{
    char *expression = NULL;
    hf_status status = hfi_meta_text(r, "kernel", false, &expression);
    if (status >= 0) status = hfi_read_kernel(r, expression, kept->labels.features, kept->d, out);
    hfi_memory_free(&r->memory, expression);
    return status;
}

/* An envelope whose content passed its checksum and cannot be made is damaged, unless it is this machine that
 * cannot. */
static hf_status create_loaded_envelope(const hfi_reader *r, const hf_kernel *kernel, const readings *from,
                                        double norm, const hf_envelope_settings *settings, hf_envelope **out)
{
    hf_envelope *made = NULL;
    hf_status status = hf_envelope_create(r->ctx, kernel, &from->made, norm, settings, &made);
    if (status == HF_ERR_MEMORY || status == HF_ERR_TOO_LARGE || status == HF_ERR_CANCELLED) return status;
    if (status < 0) return hfi_reader_damaged(r, "its readings and its norm bound make no envelope");
    if (hf_envelope_readings(made) != from->n) {
        hf_envelope_free(made);
        return hfi_reader_damaged(r, "an input is there twice");
    }
    *out = made;
    return status;
}

static hf_status read_envelope(const hfi_reader *r, hf_envelope **out, hf_envelope_labels **labels)
{
    size_t d = 0;
    double norm = 0.0, offset = 0.0;
    kept_labels *kept = NULL;
    hf_kernel *kernel = NULL;
    readings from = {0};
    hf_envelope_settings settings;
    hf_status status = read_sizes(r, &from.n, &d);
    if (status >= 0) status = read_settings(r, &norm, &offset, &settings);
    if (status >= 0) status = read_labels(r, d, &kept);
    if (status >= 0) status = read_kernel(r, kept, &kernel);
    if (status >= 0) status = read_arrays(r, d, &from);
    if (status >= 0) status = make_readings(r, d, &from);
    if (status >= 0) status = create_loaded_envelope(r, kernel, &from, norm, &settings, out);
    if (status >= 0) (*out)->offset = offset; /* the limits are less it already */
    readings_free(r->ctx, &from);
    hf_kernel_free(kernel);
    if (status >= 0 && labels != NULL)
        *labels = &kept->labels;
    else
        kept_free(kept);
    return status;
}

hf_status hfi_envelope_from_bytes(hf_context *ctx, const unsigned char *bytes, size_t size, const char *name,
                                  hf_envelope **out, hf_envelope_labels **labels)
{
    hfi_reader r;
    hf_status status = hfi_reader_open(ctx, &hfi_kind_envelope, HFI_ENVELOPE_SCHEMA, bytes, size, name, &r);
    if (status < 0) return status;
    status = read_envelope(&r, out, labels);
    hfi_reader_close(&r);
    return status;
}

hf_status hf_envelope_load(hf_context *ctx, const char *path, hf_envelope **out, hf_envelope_labels **labels)
{
    if (ctx == NULL || path == NULL || out == NULL)
        return hfi_refuse(ctx, "hf_envelope_load: context, path and out must not be NULL");
    unsigned char *bytes;
    size_t size;
    hf_status status = hfi_file_read(ctx, path, &bytes, &size);
    if (status < 0) return status;
    status = hfi_envelope_from_bytes(ctx, bytes, size, path, out, labels);
    hfi_free(ctx, bytes);
    return status;
}

/* ---- which file ---------------------------------------------------------------------------------------------- */

/* The header of a SQLite database, read without moving on in what may be read again. */
static bool read_header(const char *path, unsigned char header[100])
{
    struct stat info;
    if (path == NULL || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t got;
    do {
        got = pread(fd, header, 100, 0);
    } while (got < 0 && errno == EINTR);
    close(fd);
    return got == 100 && memcmp(header, "SQLite format 3", 16) == 0;
}

hf_file_content hf_file_type(const char *path)
{
    unsigned char header[100];
    if (!read_header(path, header)) return HF_FILE_OTHER;
    const uint32_t application = (uint32_t)header[68] << 24 | (uint32_t)header[69] << 16 |
                                 (uint32_t)header[70] << 8 | (uint32_t)header[71];
    if (application == HFI_APPLICATION_ID) return HF_FILE_MODEL;
    if (application == HFI_TRACK_ID) return HF_FILE_TRACK;
    if (application == HFI_STUDY_ID) return HF_FILE_STUDY;
    return application == HFI_ENVELOPE_ID ? HF_FILE_ENVELOPE : HF_FILE_OTHER;
}
