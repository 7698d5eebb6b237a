/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the sub-verbs of holdfast track share. */
#include "track/tracked.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- a run ----------------------------------------------------------------------------------------------------- */

int tracked_run(const tool_arguments *arguments)
{
    tracked run = {.arguments = arguments};
    const int code = session_open(arguments, &run.session);
    if (code != TOOL_OK) return code;
    run.session.keeper = "track";
    const hf_status status = arguments->verb->track(&run);
    hf_track_free(run.track);
    return session_close(&run.session, status);
}

hf_status tracked_open(tracked *run, bool write)
{
    const hf_status status =
        hf_track_file_open(run->session.ctx, run->arguments->operand[0], write, &run->track);
    progress_clear(run->session.progress);
    if (status < 0) return status;
    run->d = tracked_domain(run)->dimension;
    run->candidates = tracked_domain(run)->candidates;
    return status;
}

bool tracked_minimises(const tracked *run)
{
    return hf_track_settings_of(run->track)->minimise;
}

/* ---- places ---------------------------------------------------------------------------------------------------- */

const char *tracked_target(const tracked *run)
{
    return run->target != NULL ? run->target : hf_track_target(run->track);
}

static const char *label_of(const tracked *run, size_t index)
{
    return run->label != NULL ? run->label[index] : hf_track_candidate(run->track, index);
}

const hf_domain *tracked_domain(const tracked *run)
{
    return &hf_track_settings_of(run->track)->domain;
}

const char *tracked_candidate(const tracked *run, size_t index, char buffer[32])
{
    const char *label = label_of(run, index);
    if (label != NULL) return label;
    snprintf(buffer, 32, "%zu", index + 1);
    return buffer;
}

bool tracked_find(const tracked *run, const char *name, size_t *index)
{
    if (run->candidates > 0 && label_of(run, 0) == NULL) {
        char *end;
        if (!isdigit((unsigned char)*name)) return false;
        const unsigned long long number = strtoull(name, &end, 10);
        *index = (size_t)number - 1;
        return *end == '\0' && number >= 1 && number <= run->candidates;
    }
    for (int numbers = 0; numbers < 2; numbers++)
        for (size_t i = 0; i < run->candidates; i++) {
            if (!is_label(label_of(run, i), name, numbers)) continue;
            *index = i;
            return true;
        }
    return false;
}

hf_status tracked_find_or_refuse(tracked *run, const char *name, size_t *index)
{
    char first[32], last[32];
    if (tracked_find(run, name, index)) return HF_OK;
    if (run->candidates == 0)
        return REFUSE(run, "there are no candidates: the track is of a box; give the place with --x");
    return REFUSE(run, "there is no candidate '%s' among the %zu, %s to %s", name, run->candidates,
                  tracked_candidate(run, 0, first), tracked_candidate(run, run->candidates - 1, last));
}

const char *tracked_place(const tracked *run, const double *x, char *buffer, size_t bytes)
{
    char number[32];
    size_t index = 0;
    tool_line line = {.text = buffer, .bytes = bytes};
    const bool candidate = run->candidates > 0 && hf_domain_contains(tracked_domain(run), x, &index);
    if (candidate) put(&line, "%s (", tracked_candidate(run, index, number));
    for (size_t j = 0; j < run->d; j++)
        put(&line, "%s%s = %s", j > 0 ? ", " : "", hf_track_name(run->track, j),
            hf_format_double(x[j], number));
    if (candidate) put(&line, ")");
    return buffer;
}

void tracked_json_add_place(const tracked *run, json_t *object, const double *x)
{
    char number[32];
    size_t index = 0;
    json_t *place = json_object();
    for (size_t j = 0; j < run->d; j++)
        json_add_named(place, hf_track_name(run->track, j), json_number(x[j]));
    json_object_set_new(object, "place", place);
    if (run->candidates > 0 && hf_domain_contains(tracked_domain(run), x, &index))
        json_object_set_new(object, "candidate", json_text(tracked_candidate(run, index, number)));
}

json_t *tracked_json_request(const tracked *run, const hf_track_request *r)
{
    json_t *object =
        JSON_OF({"request", json_count(r->id)}, {"time", json_number(r->time)}, {"sd", json_number(r->sd)});
    tracked_json_add_place(run, object, r->x);
    return object;
}
