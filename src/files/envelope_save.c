/* SPDX-License-Identifier: Apache-2.0 */
/* An envelope as a database image, and that image as a file. */
#include "envelope/envelope.h"
#include "files/envelope_file.h"
#include "store/writer.h"

#include <holdfast/version.h>
#include <math.h>
#include <string.h>

enum {
    COMPARED = 64 /* readings at which the kernel of the file is compared with the envelope's */
};

/* ---- names ------------------------------------------------------------------------------------------------ */

/* The labels with every default filled in: names of features in one block. */
typedef struct names {
    const char *target, *source;
    size_t d;
    const char **feature; /* hfi_alloc'ed */
    char *made;           /* x1, x2, ...; hfi_alloc'ed or NULL */
} names;

enum {
    MADE = 24 /* bytes of a name like x12 */
};

static void names_free(hf_context *ctx, names *n)
{
    HFI_FREE(ctx, n->feature, n->made);
}

static hf_status names_of(hf_context *ctx, size_t d, const hf_envelope_labels *labels, names *out)
{
    const hf_envelope_labels none = {0}, *from = labels != NULL ? labels : &none;
    const bool given = from->features != NULL;
    if (given ? from->feature_count != d : from->feature_count != 0)
        return hfi_refuse(ctx, "hf_envelope_save: %zu names for %zu inputs", from->feature_count, d);
    *out = (names){.target = from->target != NULL ? from->target : "y",
                   .source = from->source != NULL ? from->source : "",
                   .d = d,
                   .feature = hfi_alloc(ctx, d, sizeof *out->feature)};
    if (!given) out->made = hfi_alloc(ctx, d, MADE);
    if (out->feature == NULL || (!given && out->made == NULL)) {
        names_free(ctx, out);
        return HF_ERR_MEMORY;
    }
    for (size_t j = 0; j < d; j++) {
        if (!given) (void)hfi_print(out->made + j * MADE, MADE, "x%zu", j + 1);
        out->feature[j] = given ? from->features[j] : out->made + j * MADE;
        if (out->feature[j] != NULL) continue;
        names_free(ctx, out);
        return hfi_refuse(ctx, "hf_envelope_save: the name of input %zu is NULL", j + 1);
    }
    return HF_OK;
}

/* The expression means the same kernel with these names, at pairs of readings that are there. */
static hf_status check_names(hf_context *ctx, const hf_envelope *envelope, const names *n)
{
    const hf_kernel *kernel = hf_envelope_kernel(envelope);
    hf_kernel *parsed = NULL;
    hf_status status = hf_kernel_parse(ctx, hf_kernel_expression(kernel), n->feature, n->d, &parsed);
    if (status == HF_ERR_MEMORY) return status;
    bool same = status >= 0 && hf_kernel_parameters(parsed) == hf_kernel_parameters(kernel);
    for (size_t i = 0; same && i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        same = hf_kernel_parameter(kernel, i, &p) >= 0 &&
               hfi_kernel_set_parameter(parsed, i, p.value, p.lower, p.upper, p.fixed) >= 0;
    }
    const size_t readings = hf_envelope_readings(envelope), count = readings < COMPARED ? readings : COMPARED;
    for (size_t i = 0; same && i < count; i++) {
        const double *x, *z;
        same = hf_envelope_reading(envelope, i, &x, NULL, NULL) >= 0 &&
               hf_envelope_reading(envelope, readings - 1 - i, &z, NULL, NULL) >= 0 &&
               hfi_kernel_value(kernel, x, z, false) == hfi_kernel_value(parsed, x, z, false);
    }
    hf_kernel_free(parsed);
    return same ? HF_OK
                : hfi_refuse(ctx,
                             "hf_envelope_save: with these names of inputs \"%s\" is not the kernel of the "
                             "envelope; give the names it was parsed with",
                             hf_kernel_expression(kernel));
}

/* ---- the database ------------------------------------------------------------------------------------------ */

static void write_meta(hfi_writer *w, const hf_envelope *envelope, const names *n)
{
    const hf_envelope_settings *settings = hf_envelope_settings_of(envelope);
    hfi_writer_meta(w, "format", hfi_text("holdfast envelope"));
    hfi_writer_meta(w, "library", hfi_text(hf_version()));
    hfi_writer_meta(w, "source", hfi_text(n->source));
    hfi_writer_meta(w, "target", hfi_text(n->target));
    hfi_writer_meta(w, "inputs", hfi_whole(n->d));
    hfi_writer_meta(w, "readings", hfi_whole(hf_envelope_readings(envelope)));
    hfi_writer_meta(w, "kernel", hfi_text(hf_kernel_expression(hf_envelope_kernel(envelope))));
    hfi_writer_meta(w, "norm", hfi_number(hf_envelope_norm(envelope)));
    hfi_writer_meta(w, "minimum_norm", hfi_number(hf_envelope_minimum_norm(envelope)));
    hfi_writer_meta(w, "jitter", hfi_number(settings->jitter));
    if (hf_envelope_offset(envelope) != 0.0)
        hfi_writer_meta(w, "offset", hfi_number(hf_envelope_offset(envelope)));
    hfi_writer_meta(w, "rigorous", hfi_whole(settings->rigorous ? 1 : 0));
    hfi_writer_meta(
        w, "reserve",
        hfi_whole(settings->reserve < HFI_ENVELOPE_RESERVE ? settings->reserve : HFI_ENVELOPE_RESERVE));
}

/* A limit that is not there is NaN: that the numbers of a file are finite or missing is what readers rely on. */
static void write_readings(hfi_writer *w, const hf_envelope *envelope, size_t d)
{
    const size_t n = hf_envelope_readings(envelope);
    double *numbers = hfi_alloc(w->ctx, n, (d + 2) * sizeof *numbers);
    if (numbers == NULL) {
        hfi_writer_out_of_memory(w);
        return;
    }
    double *lower = numbers + n * d, *upper = lower + n;
    for (size_t i = 0; i < n; i++) {
        /* Those of f - offset: adding the offset would round them. */
        const double low = envelope->lower[HF_UPPER][i], high = envelope->upper[HF_UPPER][i];
        memcpy(numbers + i * d, envelope->x + i * d, d * sizeof *numbers);
        lower[i] = isfinite(low) ? low : NAN;
        upper[i] = isfinite(high) ? high : NAN;
    }
    hfi_writer_array(w, "reading_inputs", n, d, numbers);
    hfi_writer_array(w, "reading_lower", n, 1, lower);
    hfi_writer_array(w, "reading_upper", n, 1, upper);
    hfi_free(w->ctx, numbers);
}

hf_status hfi_envelope_to_image(hf_context *ctx, const hf_envelope *envelope,
                                const hf_envelope_labels *labels, unsigned char **image, size_t *size)
{
    names n = {0};
    hf_status status = names_of(ctx, hf_envelope_dimension(envelope), labels, &n);
    if (status < 0) return status;
    status = check_names(ctx, envelope, &n);
    if (status >= 0) {
        hfi_writer w = {.ctx = ctx,
                        .kind = &hfi_kind_envelope,
                        .version =
                            hf_envelope_offset(envelope) != 0.0 ? HFI_ENVELOPE_VERSION : HFI_ENVELOPE_PLAIN,
                        .tables = hfi_model_tables(HFI_ENVELOPE_SCHEMA),
                        .piece = HFI_PIECE_BYTES};
        hfi_writer_begin(&w);
        write_meta(&w, envelope, &n);
        hfi_writer_features(&w, n.d, n.feature, NULL, NULL);
        hfi_writer_parameters(&w, hf_envelope_kernel(envelope), NULL, NULL);
        write_readings(&w, envelope, n.d);
        status = hfi_writer_end(&w, image, size);
    }
    names_free(ctx, &n);
    return status;
}

hf_status hf_envelope_save(hf_context *ctx, const hf_envelope *envelope, const hf_envelope_labels *labels,
                           const char *path)
{
    if (ctx == NULL || envelope == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_envelope_save: context, envelope and path must not be NULL");
    unsigned char *bytes;
    size_t size;
    hf_status status = hfi_envelope_to_image(ctx, envelope, labels, &bytes, &size);
    if (status < 0) return status;
    status = hfi_writer_store(ctx, path, false, bytes, size);
    hfi_image_free(bytes);
    return status;
}
