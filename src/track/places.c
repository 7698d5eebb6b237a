/* SPDX-License-Identifier: Apache-2.0 */
/* Distinct places: a hash table from coordinates to numbers, and letting places go when there are too many. */
#include "track/track.h"

#include <holdfast/dpp.h>
#include <string.h>

enum {
    FIRST_ROOM = 16
};

/* FNV-1a over the bits, with a last stir: neighbours on a lattice differ in few bits. */
static uint64_t hash(size_t d, const double *x)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t j = 0; j < d; j++) {
        uint64_t bits;
        const double value = x[j] + 0.0; /* -0 and 0 are one place */
        memcpy(&bits, &value, sizeof bits);
        h = (h ^ bits) * 0x100000001b3u;
        h ^= h >> 29;
    }
    return h ^ (h >> 32);
}

static bool same(size_t d, const double *x, const double *z)
{
    for (size_t j = 0; j < d; j++)
        if (x[j] != z[j]) return false;
    return true;
}

/* Where x is, or the free slot where it would be. */
static size_t find_place_slot(const hfi_places *p, const double *x)
{
    size_t at = (size_t)hash(p->d, x) & (p->slots - 1);
    while (p->slot[at] != 0 && !same(p->d, p->x + (p->slot[at] - 1) * p->d, x))
        at = (at + 1) & (p->slots - 1);
    return at;
}

static void enter_all(hfi_places *p)
{
    memset(p->slot, 0, p->slots * sizeof *p->slot);
    for (size_t k = 0; k < p->count; k++) p->slot[find_place_slot(p, p->x + k * p->d)] = k + 1;
}

hf_status hfi_places_init(hf_context *ctx, size_t d, hfi_places *places)
{
    *places = (hfi_places){.d = d};
    const hfi_memory memory = hfi_context_memory(ctx);
    return hfi_places_reserve(&memory, places, FIRST_ROOM) < 0 ? hfi_out_of_memory(ctx) : HF_OK;
}

void hfi_places_free(const hfi_memory *memory, hfi_places *places)
{
    HFI_MEMORY_FREE(memory, places->x, places->slot);
    memset(places, 0, sizeof *places);
}

hf_status hfi_places_reserve(const hfi_memory *memory, hfi_places *places, size_t more)
{
    const size_t need = places->count + more;
    if (need <= places->room) return HF_OK;
    size_t room = places->room > 0 ? places->room : FIRST_ROOM;
    while (room < need) room *= 2;
    double *x = hfi_memory_alloc(memory, room, places->d * sizeof *x);
    size_t *slot = hfi_memory_alloc(memory, 4 * room, sizeof *slot);
    if (x == NULL || slot == NULL) {
        HFI_MEMORY_FREE(memory, x, slot);
        return HF_ERR_MEMORY;
    }
    if (places->count > 0) memcpy(x, places->x, places->count * places->d * sizeof *x);
    HFI_MEMORY_FREE(memory, places->x, places->slot);
    places->x = x;
    places->slot = slot;
    places->room = room;
    places->slots = 4 * room; /* a power of two, as FIRST_ROOM is */
    enter_all(places);
    return HF_OK;
}

bool hfi_places_known(const hfi_places *places, const double *x)
{
    return places->slot[find_place_slot(places, x)] != 0;
}

size_t hfi_places_at(hfi_places *places, const double *x)
{
    const size_t at = find_place_slot(places, x);
    if (places->slot[at] == 0) {
        for (size_t j = 0; j < places->d; j++) places->x[places->count * places->d + j] = x[j] + 0.0;
        places->slot[at] = ++places->count;
    }
    return places->slot[at] - 1;
}

/* Keeps the places k with keep[k]; number[k] := the new number. */
static void keep_places(hfi_places *places, const unsigned char *keep, size_t *number)
{
    size_t kept = 0;
    for (size_t k = 0; k < places->count; k++) {
        number[k] = kept;
        if (!keep[k]) continue;
        memmove(places->x + kept * places->d, places->x + k * places->d, places->d * sizeof *places->x);
        kept++;
    }
    places->count = kept;
    enter_all(places);
}

/* ---- of a track -------------------------------------------------------------------------------------------------- */

static void mark_used(const hf_track *track, unsigned char *keep)
{
    for (size_t i = 0; i < track->held; i++) keep[track->told[i].place] = 1;
    for (size_t i = 0; i < track->opened; i++) keep[track->open[i].place] = 1;
    for (size_t i = 0; i < track->before.count; i++) keep[track->before.told[i].place] = 1;
}

static void renumber(hf_track *track, const size_t *number)
{
    for (size_t i = 0; i < track->held; i++) track->told[i].place = number[track->told[i].place];
    for (size_t i = 0; i < track->opened; i++) track->open[i].place = number[track->open[i].place];
    for (size_t i = 0; i < track->before.count; i++)
        track->before.told[i].place = number[track->before.told[i].place];
}

void hfi_track_thin(hf_context *ctx, hf_track *track)
{
    hfi_places *places = &track->places;
    const size_t count = places->count, most = track->own.s.most_places;
    if (count <= track->thin_at) return;
    unsigned char *keep = hfi_memory_alloc(&track->memory, count, 1);
    size_t *rows = hfi_memory_alloc(&track->memory, count, sizeof *rows), chosen = 0;
    bool fine = keep != NULL && rows != NULL;
    /* Asking anywhere has no use for places that nothing was told at. */
    if (fine && hfi_track_has_expert(track) && track->own.s.places != HF_PLACES_ANYWHERE)
        fine = hf_dpp_greedy(ctx, track->kernel, count, places->x, places->d, NULL, most / 2, 0.0, rows,
                             &chosen, NULL) >= 0;
    if (fine) {
        for (size_t k = 0; k < chosen; k++) keep[rows[k]] = 1;
        mark_used(track, keep);
        keep_places(places, keep, rows);
        renumber(track, rows);
        /* Where most of them are in use there is little to let go: not at every new one. */
        const size_t later = places->count + places->count / 4;
        track->thin_at = later > most ? later : most;
    }
    HFI_MEMORY_FREE(&track->memory, keep, rows);
}
