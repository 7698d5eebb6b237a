/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_world.h"
#include "common/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    DIMENSIONS_MOST = 8
};

typedef struct run {
    hf_context *ctx;
    const sparq_world *world;
    hf_track *track;
    draws own, expert, places;
    sparq_known known; /* of controls */
    double *survey_x;  /* places of the survey, its size x d */
    size_t *survey_index, survey_room;
    size_t best; /* of the survey; survey_room: nothing was read */
    sparq_trace *trace;
    double spent; /* seconds of the library in this step */
    double total;
} run;

typedef struct answer {
    uint64_t id;
    double y;
} answer;

static bool fine(const run *r, hf_status status)
{
    if (status < 0) fprintf(stderr, "track: %s\n", hf_context_message(r->ctx));
    return status >= 0;
}

static double measured(const sparq_world *world, draws *stream, double value)
{
    const double error = world->noise_sd * draw_normal(stream), lot = draw_uniform(stream),
                 sign = draw_uniform(stream) < 0.5 ? -1.0 : 1.0,
                 size = world->least + (world->most - world->least) * draw_uniform(stream);
    return value + error + (lot < world->outliers ? sign * size : 0.0);
}

/* Collects the expert's answers before any of them changes the list. Returns their number. */
static size_t consult(run *r, size_t step, size_t open, answer *answers)
{
    size_t count = 0;
    for (size_t i = 0; i < open; ++i) {
        hf_track_request request;
        if (hf_track_request_at(r->track, i, &request) < 0 || request.time != (double)step) continue;
        const double value = r->world->value(r->world->user, step, request.x, request.index);
        if (!isnan(value))
            answers[count++] = (answer){.id = request.id, .y = measured(r->world, &r->expert, value)};
    }
    return count;
}

static bool ask_expert(run *r, size_t step)
{
    size_t count = 0;
    double start = cpu_clock();
    if (!fine(r, hf_track_requests(r->ctx, r->track, (double)step, &count))) return false;
    r->spent += cpu_clock() - start;
    const size_t open = hf_track_pending_count(r->track);
    answer *answers = malloc((open + 1) * sizeof *answers);
    bool ok = answers != NULL;
    count = ok ? consult(r, step, open, answers) : 0;
    start = cpu_clock();
    for (size_t i = 0; ok && i < count; ++i)
        ok = fine(r, hf_track_answer(r->ctx, r->track, answers[i].id, NAN, answers[i].y, 0.0));
    r->spent += cpu_clock() - start;
    r->trace->requests[step - 1] = (double)count;
    free(answers);
    return ok;
}

/* ---- controls ---- */

static bool survey_room(run *r, size_t most)
{
    if (most <= r->survey_room) return true;
    free(r->survey_x);
    free(r->survey_index);
    r->survey_x = malloc(most * r->world->domain.dimension * sizeof *r->survey_x);
    r->survey_index = malloc(most * sizeof *r->survey_index);
    r->survey_room = most;
    return r->survey_x && r->survey_index;
}

/* A survey as large as a list, told as readings; what is missing is not. */
static bool make_survey(run *r, size_t step)
{
    const sparq_survey *survey = &r->world->survey;
    const size_t most = sparq_survey_size(survey, step), d = r->world->domain.dimension;
    if (!survey_room(r, most)) return false;
    const size_t count =
        sparq_survey_places(survey, &r->known, most, &r->places, r->survey_x, r->survey_index);
    double highest = -INFINITY, told = 0.0;
    r->best = r->survey_room;
    for (size_t i = 0; i < count; ++i) {
        const double *x = r->survey_x + i * d;
        const double value = r->world->value(r->world->user, step, x, r->survey_index[i]);
        if (isnan(value)) continue;
        const double y = measured(r->world, &r->expert, value);
        if (!fine(r, hf_track_tell(r->ctx, r->track, (double)step, x, y, 0.0, NULL))) return false;
        sparq_known_measured(&r->known, r->survey_index[i], y);
        told += 1.0;
        if (y > highest) r->best = i;
        highest = fmax(highest, y);
    }
    r->trace->requests[step - 1] = told;
    return true;
}

static bool side_information(run *r, size_t step)
{
    if (!r->world->survey.kind) return ask_expert(r, step);
    return step == 1 || make_survey(r, step);
}

/* ---- steps ---- */

static size_t draw_place(run *r, double *x)
{
    const hf_domain *domain = &r->world->domain;
    const size_t d = domain->dimension;
    if (!domain->candidates) {
        for (size_t j = 0; j < d; ++j)
            x[j] = domain->lower[j] + (domain->upper[j] - domain->lower[j]) * draw_uniform(&r->own);
        return 0;
    }
    const size_t index = r->world->first > 0 ? r->world->first - 1
                                             : (size_t)(draw_uniform(&r->own) * (double)domain->candidates);
    memcpy(x, domain->points + index * d, d * sizeof *x);
    return index;
}

static bool choose(run *r, size_t step, double *x, size_t *index)
{
    *index = step == 1 ? draw_place(r, x) : 0;
    if (step == 1) return true;
    if (r->world->survey.best && r->best < r->survey_room) {
        const size_t d = r->world->domain.dimension;
        memcpy(x, r->survey_x + r->best * d, d * sizeof *x);
        *index = r->survey_index[r->best];
        return true;
    }
    hf_suggestion suggestion;
    const double start = cpu_clock();
    const bool ok = fine(r, hf_track_ask(r->ctx, r->track, (double)step, x, &suggestion));
    r->spent += cpu_clock() - start;
    *index = suggestion.index;
    return ok;
}

static bool measure(run *r, size_t step, const double *x, size_t index)
{
    const double value = r->world->value(r->world->user, step, x, index);
    if (isnan(value)) {
        r->trace->regret[step - 1] = NAN;
        return true;
    }
    const double best = r->world->best(r->world->user, step), y = measured(r->world, &r->own, value);
    const double start = cpu_clock();
    bool ok = fine(r, hf_track_tell(r->ctx, r->track, (double)step, x, y, 0.0, NULL)) &&
              fine(r, hf_track_record_optimum(r->ctx, r->track, (double)step, best, value));
    r->spent += cpu_clock() - start;
    r->trace->regret[step - 1] = fmax(best - value, 0.0);
    sparq_known_measured(&r->known, index, y);
    if (r->world->survey.visited && !sparq_known_visit(&r->known, x, index)) ok = false;
    return ok;
}

static bool step_on(run *r, size_t step)
{
    double x[DIMENSIONS_MOST];
    size_t index;
    const bool after = hf_track_settings_of(r->track)->expert_after;
    r->spent = 0.0;
    bool ok = after || side_information(r, step);
    ok = ok && choose(r, step, x, &index) && measure(r, step, x, index);
    ok = ok && (!after || side_information(r, step));
    hf_track_summary_of(r->track, &r->trace->summary);
    r->trace->seconds[step - 1] = r->spent;
    r->trace->bytes[step - 1] = (double)r->trace->summary.bytes;
    r->trace->steps = step;
    r->total += r->spent;
    return ok;
}

bool sparq_run(hf_context *ctx, const sparq_world *world, const hf_track_settings *settings, uint64_t seed,
               sparq_trace *out)
{
    run r = {.ctx = ctx,
             .world = world,
             .own = {.state = 2 * seed + 1},
             .expert = {.state = ~(2 * seed)},
             .places = {.state = 0x91ace5u + 2 * seed},
             .trace = out};
    *out = (sparq_trace){.regret = calloc(world->steps + 1, sizeof *out->regret),
                         .requests = calloc(world->steps + 1, sizeof *out->requests),
                         .seconds = calloc(world->steps + 1, sizeof *out->seconds),
                         .bytes = calloc(world->steps + 1, sizeof *out->bytes)};
    bool ok = out->regret && out->requests && out->seconds && out->bytes &&
              world->domain.dimension <= DIMENSIONS_MOST;
    if (!ok) fputs("track: out of memory, or too many dimensions\n", stderr);
    ok = ok && sparq_known_begin(&r.known, &world->domain) &&
         fine(&r, hf_track_create(ctx, settings, &r.track));
    for (size_t step = 1; ok && step <= world->steps; ++step) {
        ok = step_on(&r, step);
        if (world->budget > 0.0 && r.total > world->budget) break;
    }
    hf_track_free(r.track);
    sparq_known_end(&r.known);
    free(r.survey_x);
    free(r.survey_index);
    if (!ok) sparq_trace_free(out);
    return ok;
}

double sparq_average(const sparq_trace *trace, size_t from, size_t to)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = from; i < to && i < trace->steps; ++i) {
        if (isnan(trace->regret[i])) continue;
        sum += trace->regret[i];
        count += 1;
    }
    return count && to <= trace->steps ? sum / (double)count : NAN;
}

double sparq_answers(const sparq_trace *trace)
{
    double sum = 0.0;
    for (size_t i = 0; i < trace->steps; ++i) sum += trace->requests[i];
    return trace->steps ? sum / (double)trace->steps : NAN;
}

void sparq_trace_free(sparq_trace *trace)
{
    free(trace->regret);
    free(trace->requests);
    free(trace->seconds);
    free(trace->bytes);
    *trace = (sparq_trace){0};
}
