/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of envelope files: any bytes are either refused with a message or become an envelope that can be asked. */
#include "files/envelope_file.h"
#include "fuzz/stored.h"

static void use(hf_context *ctx, const hf_envelope *envelope, const hf_envelope_labels *labels)
{
    const size_t d = hf_envelope_dimension(envelope);
    must(d > 0 && labels->feature_count == d && hf_envelope_readings(envelope) > 0, "an envelope of nothing");
    must(labels->target != NULL && labels->features[d - 1] != NULL, "a label is missing");
    must(hf_envelope_minimum_norm(envelope) <= hf_envelope_norm(envelope) * (1.0 + 1e-6),
         "an envelope that contradicts itself");
    const double *x = NULL;
    double low, high;
    must(hf_envelope_reading(envelope, 0, &x, &low, &high) == HF_OK && low <= high, "a reading is missing");
    hf_envelope_workspace *workspace = hf_envelope_workspace_create(ctx, envelope);
    must(workspace != NULL, "out of memory");
    /* An end to it whatever the numbers are: a bound is valid wherever it stops. */
    const hf_envelope_limits limits = {.size = sizeof limits, .pivots = 50};
    hf_bound bound;
    const hf_status status = hf_envelope_bounds(envelope, workspace, x, &limits, &bound, NULL, NULL);
    must(status < 0 || !(bound.lower > bound.upper), "a lower bound above the upper one");
    hf_envelope_workspace_free(workspace);
}

static void load(hf_context *ctx, const unsigned char *bytes, size_t size)
{
    hf_envelope *envelope = NULL;
    hf_envelope_labels *labels = NULL;
    const hf_status status = hfi_envelope_from_bytes(ctx, bytes, size, "e.hf", &envelope, &labels);
    must((status >= 0) == (envelope != NULL), "status and envelope disagree");
    must((envelope != NULL) == (labels != NULL), "an envelope without labels, or labels without one");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    if (envelope != NULL) use(ctx, envelope, labels);
    hf_envelope_labels_free(labels);
    hf_envelope_free(envelope);
}

static unsigned schema(const unsigned char *bytes)
{
    (void)bytes;
    return HFI_ENVELOPE_SCHEMA;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const stored files = {.kind = &hfi_kind_envelope, .schema = schema, .load = load};
    return stored_try(&files, data, size);
}
