/* SPDX-License-Identifier: Apache-2.0 */
/* Methods compared on functions that a survey allows, before one is chosen. */
#include "core/settings.h"
#include "track/advice.h"

#include <math.h>
#include <string.h>

enum {
    LEAST = 16, /* readings of a survey */
    FIRST = 10  /* places read before the first step */
};
/* Noise and time scale before learning, as shares of the readings' variance and span. */
#define NOISE_START 0.05
#define SPAN_START  0.3

typedef struct rule_comparison {
    hf_context *ctx;
    const hf_advice_settings *settings;
    const hf_track *learnt;
    hfi_world world;
    hf_track_advice *out;
    double *theta;                                      /* parameters, log noise, rate: an event */
    double *loss;                                       /* rows x draws */
    double runs[HF_ADVICE_ROWS], asked[HF_ADVICE_ROWS]; /* sums over draws */
} rule_comparison;

/* ---- learning ---------------------------------------------------------------------------------------------------- */

static void moments(const hf_track *survey, double *variance, double *first, double *last)
{
    const hfi_recent *r = &survey->recent;
    const double n = (double)r->count;
    double mean = 0.0;
    *first = INFINITY;
    *last = -INFINITY;
    *variance = 0.0;
    for (size_t i = 0; i < r->count; i++) {
        mean += r->y[i] / n;
        *first = fmin(*first, r->time[i]);
        *last = fmax(*last, r->time[i]);
    }
    bool differ = false; /* where none does rounding would make a variance */
    for (size_t i = 0; i < r->count; i++) {
        *variance += (r->y[i] - mean) * (r->y[i] - mean) / n;
        differ = differ || r->y[i] != r->y[0];
    }
    if (!differ) *variance = 0.0;
}

/* A track that doubts nothing and forgets nothing, told the newest readings, and fitted to them. */
static hf_status learn_from_survey(hf_context *ctx, const hf_track *survey, hf_track **out)
{
    const hfi_recent *r = &survey->recent;
    const size_t n = r->count < HFI_WORLD_READINGS ? r->count : HFI_WORLD_READINGS;
    double variance, first, last;
    moments(survey, &variance, &first, &last);
    if (r->count < LEAST || !(last > first) || !(variance > 0.0))
        return hfi_fail(
            ctx, HF_ERR_NO_DATA,
            "advice needs a survey: %d readings or more that differ, at different times; %zu were told",
            LEAST, r->count);
    hf_track_settings s = hf_track_settings_default(HF_TRACK_UI_GP_UCB);
    s.domain = survey->own.s.domain;
    s.names = survey->own.s.names;
    s.kernel = survey->own.s.kernel;
    s.minimise = survey->own.s.minimise;
    s.noise = NOISE_START * variance;
    s.negligible = INFINITY;
    s.age.rate = sqrt(variance) / (SPAN_START * (last - first));
    hf_status status = hf_track_create(ctx, &s, out);
    for (size_t k = n; k-- > 0 && status >= 0;) {
        const size_t i = hfi_recent_row(r, k);
        const double noise = r->noise[i] == survey->own.s.noise ? 0.0 : r->noise[i];
        status = hf_track_tell(ctx, *out, r->time[i], r->x + i * survey->d, r->y[i], noise, NULL);
    }
    return status >= 0 ? hfi_track_fit_cold(ctx, *out) : status;
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

static hf_advice_row *add_advice_row(hf_track_advice *out, hf_track_method method)
{
    hf_advice_row *row = &out->row[out->rows++];
    *row = (hf_advice_row){.method = method, .window = NAN, .forgetting = NAN, .law = HF_AGE_NONE};
    return row;
}

static void add_aged(hf_track_advice *out, hf_track_method method, hf_age_kind law, double rate,
                     size_t queries)
{
    hf_advice_row *row = add_advice_row(out, method);
    row->law = law;
    row->rate = rate;
    row->queries = queries;
}

/* Every method with settings that T and the rate ask for. */
static void list_rows(rule_comparison *c)
{
    hf_track_advice *out = c->out;
    const double t = out->period, sd = out->rate * t, r = out->rate;
    add_advice_row(out, HF_TRACK_GP_UCB)->still = true;
    add_advice_row(out, HF_TRACK_GP_UCB);
    add_aged(out, HF_TRACK_UI_GP_UCB, HF_AGE_QUADRATIC, r, 0);
    add_aged(out, HF_TRACK_UI_GP_UCB, HF_AGE_QUADRATIC, 3.0 * r, 0);
    add_aged(out, HF_TRACK_UI_GP_UCB, HF_AGE_WIENER, sd / sqrt(2.0 * t), 0);
    add_aged(out, HF_TRACK_UI_GP_UCB, HF_AGE_WIENER, 0.3 * sd / sqrt(2.0 * t), 0);
    add_advice_row(out, HF_TRACK_TV_GP_UCB)->forgetting = 1.0 - exp(-1.0 / t);
    add_advice_row(out, HF_TRACK_TV_GP_UCB)->forgetting = 1.0 - exp(-0.2 / t);
    add_advice_row(out, HF_TRACK_W_GP_UCB)->forgetting = exp(-1.0 / t);
    add_advice_row(out, HF_TRACK_SW_GP_UCB)->window = t;
    if (c->settings->queries == 0) return;
    add_aged(out, HF_TRACK_SPARQ_REUSE, HF_AGE_QUADRATIC, r, c->settings->queries);
    add_aged(out, HF_TRACK_SPARQ_REUSE, HF_AGE_QUADRATIC, 3.0 * r, c->settings->queries);
    add_aged(out, HF_TRACK_SPARQ, HF_AGE_QUADRATIC, r, c->settings->queries);
}

static hf_status make_rule_track(rule_comparison *c, const hf_advice_row *row, hf_track **out)
{
    hf_track_settings s = hf_track_settings_default(row->method);
    s.domain = (hf_domain){.dimension = c->world.d, .candidates = c->world.places, .points = c->world.x};
    s.names = c->learnt->own.s.names;
    s.kernel = c->learnt->own.s.kernel;
    s.minimise = c->learnt->own.s.minimise;
    s.noise = c->out->noise;
    s.age = (hf_age_law){.kind = row->law, .rate = row->rate};
    s.window = row->window;
    s.forgetting = row->forgetting;
    s.queries = row->queries;
    s.tolerance = 0.0;
    hf_status status = hf_track_create(c->ctx, &s, out);
    if (status < 0) return status;
    c->theta[hf_kernel_parameters(c->learnt->kernel) + 1] = row->rate;
    const hfi_event event = {
        .kind = HFI_EVENT_FITTED, .count = hf_kernel_parameters(c->learnt->kernel) + 2, .values = c->theta};
    return hfi_track_commit(c->ctx, *out, 1, &event);
}

/* ---- a run ------------------------------------------------------------------------------------------------------- */

static double reading(const rule_comparison *c, hfi_stream *stream, size_t place, size_t step)
{
    return c->world.value[place + step * c->world.places] + sqrt(c->out->noise) * hfi_stream_normal(stream);
}

static double lost(const rule_comparison *c, size_t place, size_t step)
{
    return fabs(c->world.best[step] - c->world.value[place + step * c->world.places]);
}

static hf_status answer_all(rule_comparison *c, hf_track *track, hfi_stream *stream, size_t step, size_t row)
{
    size_t count = 0;
    hf_track_request request;
    hf_status status = hf_track_requests(c->ctx, track, c->world.time[step], &count);
    for (size_t k = 0; k < count && status >= 0; k++) { /* an answered one is gone: always the last */
        status = hf_track_request_at(track, hf_track_pending_count(track) - 1, &request);
        if (status < 0) break;
        c->runs[row] += lost(c, request.index, step);
        c->asked[row] += 1.0;
        status =
            hf_track_answer(c->ctx, track, request.id, NAN, reading(c, stream, request.index, step), 0.0);
    }
    return status;
}

static hf_status walk(rule_comparison *c, hf_track *track, hfi_stream *stream, size_t row, double *sum)
{
    const hfi_world *w = &c->world;
    hf_status status = HF_OK;
    const size_t first = w->places < FIRST ? w->places : FIRST;
    for (size_t k = 0; k < first && status >= 0; k++) {
        const size_t g = (2 * k + 1) * w->places / (2 * first);
        status =
            hf_track_tell(c->ctx, track, w->time[0], w->x + g * w->d, reading(c, stream, g, 0), 0.0, NULL);
    }
    for (size_t h = 0; h < w->steps && status >= 0; h++) {
        hf_suggestion said = {0};
        if (c->out->row[row].queries > 0) status = answer_all(c, track, stream, h, row);
        if (status >= 0) status = hf_track_ask(c->ctx, track, w->time[h], w->normals, &said);
        if (status < 0) break;
        *sum += lost(c, said.index, h);
        status = hf_track_tell(c->ctx, track, w->time[h], w->x + said.index * w->d,
                               reading(c, stream, said.index, h), 0.0, NULL);
    }
    return status;
}

static hf_status run_row(rule_comparison *c, size_t row, size_t draw)
{
    double *sum = &c->loss[row * c->settings->draws + draw];
    const size_t steps = c->world.steps;
    hf_track *track = NULL;
    hfi_stream stream;
    hf_status status = HF_OK;
    hfi_stream_init(&stream, hf_context_seed(c->ctx), HFI_PURPOSE_EXPERIMENT, draw);
    if (c->out->row[row].still) {
        for (size_t h = 0; h < steps; h++) *sum += lost(c, c->world.still, h);
    } else {
        status = make_rule_track(c, &c->out->row[row], &track);
        if (status >= 0) status = walk(c, track, &stream, row, sum);
        hf_track_free(track);
    }
    c->runs[row] += *sum;
    *sum /= (double)steps;
    return status;
}

static hf_status run_all(rule_comparison *c)
{
    const size_t draws = c->settings->draws, rows = c->out->rows;
    hf_status status = HF_OK;
    for (size_t k = 0; k < draws && status >= 0; k++) {
        status = hfi_world_draw(&c->world, hf_context_seed(c->ctx), k);
        for (size_t row = 0; row < rows && status >= 0; row++) {
            if (!hfi_progress(c->ctx, "advise", (double)(k * rows + row) / (double)(draws * rows), NAN))
                return hfi_cancelled(c->ctx);
            status = run_row(c, row, k);
        }
    }
    return status;
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

/* Mean and its standard error over the draws of a - b; b NULL: of a. */
static void average(size_t draws, const double *a, const double *b, double *mean, double *error)
{
    double squares = 0.0;
    *mean = 0.0;
    for (size_t k = 0; k < draws; k++) *mean += (a[k] - (b != NULL ? b[k] : 0.0)) / (double)draws;
    for (size_t k = 0; k < draws; k++) {
        const double off = a[k] - (b != NULL ? b[k] : 0.0) - *mean;
        squares += off * off;
    }
    *error = draws > 1 ? sqrt(squares / ((double)draws * (double)(draws - 1))) : INFINITY;
}

static double rank_of(const rule_comparison *c, const hf_advice_row *row)
{
    return c->settings->costly ? row->loss_of_runs : row->loss;
}

static void sum_up(rule_comparison *c)
{
    hf_track_advice *out = c->out;
    const size_t draws = c->settings->draws;
    const double steps = (double)(draws * c->world.steps);
    for (size_t i = 0; i < out->rows; i++) {
        hf_advice_row *row = &out->row[i];
        const double *mine = c->loss + i * draws;
        average(draws, mine, NULL, &row->loss, &row->loss_error);
        average(draws, c->loss, mine, &row->saved, &row->saved_error);
        row->answers = c->asked[i] / steps;
        row->loss_of_runs = c->runs[i] / (steps + c->asked[i]);
    }
    for (size_t i = 1; i < out->rows; i++) { /* by insertion: equals stay in order */
        const hf_advice_row row = out->row[i];
        size_t k = i;
        for (; k > 0 && rank_of(c, &out->row[k - 1]) > rank_of(c, &row); k--) out->row[k] = out->row[k - 1];
        out->row[k] = row;
    }
    size_t still = 0;
    while (!out->row[still].still) still++;
    const hf_advice_row *first = &out->row[0];
    out->moving_pays = !first->still && first->saved > 2.0 * first->saved_error;
    out->best = out->moving_pays ? 0 : still;
    memcpy(out->still, c->world.x + c->world.still * c->world.d, c->world.d * sizeof *out->still);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static hf_status check_advice_call(hf_context *ctx, const hf_track *survey, const hf_advice_settings *s,
                                   const hf_track_advice *out)
{
    if (ctx == NULL || survey == NULL || s == NULL || out == NULL)
        return hfi_refuse(ctx, "advice needs a context, a survey, settings and a place for it");
    if (survey->d > HF_ADVICE_INPUTS)
        return hfi_refuse(ctx, "advice is for %d inputs at most; the survey has %zu", HF_ADVICE_INPUTS,
                          survey->d);
    return HF_OK;
}

/* From one time that something was read at to the next, on average. */
static double mean_gap(const hfi_recent *r)
{
    double first = INFINITY, last = -INFINITY;
    size_t times = 0;
    for (size_t i = 0; i < r->count; i++) {
        size_t before = 0;
        while (r->time[before] != r->time[i]) before++;
        times += before == i;
        first = fmin(first, r->time[i]);
        last = fmax(last, r->time[i]);
    }
    return (last - first) / (double)(times - 1);
}

static hf_status compare_track_rules(rule_comparison *c, const hf_track *survey)
{
    hf_track_advice *out = c->out;
    const size_t p = hf_kernel_parameters(c->learnt->kernel);
    out->noise = c->learnt->own.s.noise;
    out->rate = c->learnt->own.s.age.rate;
    out->period = sqrt(c->learnt->typical) / out->rate;
    out->steps = c->settings->steps;
    out->step = c->settings->step > 0.0 ? c->settings->step : mean_gap(&survey->recent);
    list_rows(c);
    if (HFI_ALLOC(c->ctx, HFI_ROOM(c->theta, p + 2), HFI_ROOM(c->loss, out->rows * c->settings->draws)) < 0)
        return HF_ERR_MEMORY;
    hfi_kernel_theta(c->learnt->kernel, c->theta);
    c->theta[p] = log(out->noise);
    hf_status status = hfi_world_create(c->ctx, c->learnt, out->steps, out->step, &c->world);
    if (status >= 0) status = run_all(c);
    if (status == HF_ERR_NOT_POSITIVE_DEFINITE)
        status = hfi_fail(c->ctx, status,
                          "what the survey allows cannot be drawn from: its covariance has no factor");
    if (status >= 0) sum_up(c);
    return status;
}

hf_status hf_track_advise(hf_context *ctx, const hf_track *survey, const hf_advice_settings *settings,
                          hf_track_advice *out, hf_track **learnt)
{
    hf_advice_settings own;
    hf_status status = check_advice_call(ctx, survey, settings, out);
    if (status >= 0) status = hfi_settings_open(ctx, hf_advice_settings_table(), settings, &own);
    if (status < 0) return status;
    hf_track *made = NULL;
    status = learn_from_survey(ctx, survey, &made);
    const hf_status fitted = status;
    hf_track_advice advice = {0};
    rule_comparison c = {.ctx = ctx, .settings = &own, .learnt = made, .out = &advice, .world = {.ctx = ctx}};
    if (status >= 0) status = compare_track_rules(&c, survey);
    hfi_world_free(&c.world);
    HFI_FREE(ctx, c.theta, c.loss);
    if (status >= 0) {
        *out = advice;
        status = fitted; /* a warning of the fit is one of the advice */
    }
    if (status >= 0 && learnt != NULL)
        *learnt = made;
    else
        hf_track_free(made);
    return status;
}
