/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of tracks' files: any bytes are either refused with a message or become a track that can be asked. */
#include "files/track_bytes.h"
#include "files/track_store.h"
#include "fuzz/stored.h"
#include "store/seals.h"

#include <math.h>

enum {
    MOST_HELD = 200, /* readings of a track that is asked: an end to it */
    MOST_INPUTS = 8
};

/* The track is one in memory: asking changes no file. */
static void use(hf_context *ctx, hf_track *track)
{
    const hf_track_settings *s = hf_track_settings_of(track);
    hf_track_summary summary;
    hf_track_summary_of(track, &summary);
    must(s->domain.dimension > 0 && hf_track_name(track, s->domain.dimension - 1) != NULL,
         "a track of nothing");
    must(summary.pending == hf_track_pending_count(track), "requests that are not there");
    for (size_t i = 0; i < summary.held; i++) {
        hf_track_reading r;
        must(hf_track_reading_at(track, i, &r) == HF_OK && isfinite(r.y) && r.x != NULL, "no reading");
    }
    double x[MOST_INPUTS];
    hf_suggestion suggestion;
    const double time = isfinite(summary.clock) ? summary.clock : 0.0;
    if (summary.held > MOST_HELD || s->domain.dimension > MOST_INPUTS || s->samples > 1000 ||
        s->starts > 10 || s->domain.candidates > 1000)
        return;
    const hf_status status = hf_track_ask(ctx, track, time, x, &suggestion);
    must(status < 0 || !isnan(suggestion.mean), "a place without a value");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
}

static void load(hf_context *ctx, const unsigned char *bytes, size_t size)
{
    hf_track *track = NULL;
    const hf_status status = track_from_bytes(ctx, bytes, size, "t.hf", &track);
    must((status >= 0) == (track != NULL), "status and track disagree");
    must(status >= 0 || *hf_context_message(ctx) != '\0', "no message");
    if (track != NULL) use(ctx, track);
    hf_track_free(track);
}

static bool seal(hf_context *ctx, sqlite3 *db)
{
    return hfi_ledger_schema_check(ctx, db, &hfi_track_form, "t.hf") == HF_OK &&
           seal_ledger(db, &hfi_track_form) == SQLITE_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const stored files = {.kind = &hfi_kind_track, .load = load, .seal = seal};
    return stored_try(&files, data, size);
}
