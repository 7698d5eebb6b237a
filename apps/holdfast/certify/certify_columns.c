/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that several answers of holdfast certify have, and the counts that go with them. */
#include "certify/certify_request.h"

#include <math.h>
#include <stdlib.h>

/* "radius" is a column where there are several. */
static hf_status add_radius(certified *run, const certify_request *asked)
{
    static const char *const names[] = {"radius", NULL};
    if (asked->radii < 2) return HF_OK;
    double *column = calloc(run->m + 1, sizeof *column);
    if (column == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < run->m; k++) column[k] = asked->radius[k % asked->radii];
    const hf_status status = certified_numbers(run, names, column);
    free(column);
    return status;
}

hf_status certify_begin(certified *run, const certify_request *asked, const char *const *names)
{
    hf_status status = certified_begin(run, run->m, run->x, asked->radii > 1 ? names : names + 1);
    if (status >= 0) status = add_radius(run, asked);
    if (status >= 0 && asked->sides) status = certified_places(run, "_from", run->lower);
    if (status >= 0 && asked->sides) status = certified_places(run, "_to", run->upper);
    return status;
}

bool certify_make_ends(certify_request *asked, size_t count)
{
    asked->low = calloc(2 * count + 1, sizeof *asked->low);
    asked->high = asked->low != NULL ? asked->low + count : NULL;
    return asked->low != NULL;
}

const char *const certify_costs[] = {"nodes", "seconds", NULL};

const char *certify_status_text(const certify_request *asked, const char *name, char *room)
{
    if (!asked->estimate) return name;
    (void)snprintf(room, CERTIFY_STATUS, "%s (estimate)", name);
    return room;
}

hf_status certify_stops(certified *run, certify_request *asked, const size_t *stop)
{
    enum {
        STOPS = HF_CERTIFY_NOT_FINITE + 1
    };
    const char *text[STOPS];
    char room[STOPS][CERTIFY_STATUS];
    size_t by_time = 0, by_memory = 0;
    for (size_t k = 0; k < STOPS; k++)
        text[k] = certify_status_text(asked, hf_enum_name(HF_ENUM_CERTIFY_STOP, (unsigned)k), room[k]);
    for (size_t k = 0; k < run->m; k++) {
        asked->unfinished += stop[k] > HF_CERTIFY_DECIDED;
        by_time += stop[k] == HF_CERTIFY_TIME;
        by_memory += stop[k] == HF_CERTIFY_MEMORY;
    }
    certified_tell_limits(run, &asked->settings, by_time, by_memory, run->m);
    return certified_text(run, "status", STOPS, text, stop);
}

/* Shares of rows at each radius for the picture: surely certified, and not broken. */
static hf_status find_shares(const certified *run, certify_request *asked, const size_t *verdict)
{
    asked->shares = run->radii;
    asked->share_at = calloc(run->radii + 1, sizeof *asked->share_at);
    if (asked->share_at == NULL || !certify_make_ends(asked, run->radii)) return HF_ERR_MEMORY;
    for (size_t k = 0; k < run->m; k++) {
        const size_t r = k % run->radii;
        asked->share_at[r] = asked->radii > 0 ? asked->radius[r] : (double)NAN;
        asked->low[r] += verdict[k] == HF_VERDICT_CERTIFIED ? 1.0 / (double)run->points : 0.0;
        asked->high[r] += verdict[k] != HF_VERDICT_COUNTEREXAMPLE ? 1.0 / (double)run->points : 0.0;
    }
    return HF_OK;
}

hf_status certify_verdicts(certified *run, certify_request *asked, const size_t *verdict)
{
    const char *text[HF_VERDICT_OPEN + 1];
    char room[HF_VERDICT_OPEN + 1][CERTIFY_STATUS];
    for (size_t k = 0; k <= HF_VERDICT_OPEN; k++)
        text[k] = certify_status_text(asked, hf_enum_name(HF_ENUM_VERDICT, (unsigned)k), room[k]);
    for (size_t k = 0; k < run->m; k++) {
        asked->unfinished += verdict[k] == HF_VERDICT_OPEN;
        asked->certified += verdict[k] == HF_VERDICT_CERTIFIED;
        asked->broken += verdict[k] == HF_VERDICT_COUNTEREXAMPLE;
    }
    const hf_status status = certified_text(run, "status", HF_VERDICT_OPEN + 1, text, verdict);
    return status >= 0 ? find_shares(run, asked, verdict) : status;
}

hf_status certify_worst(certified *run, certify_request *asked, const size_t *verdict, double *at)
{
    hf_status status = asked->where ? certified_places(run, "_at_worst", at) : HF_OK;
    for (size_t k = 0; k < run->m; k++)
        if (verdict[k] != HF_VERDICT_COUNTEREXAMPLE) at[k * run->d] = (double)NAN;
    return status;
}
