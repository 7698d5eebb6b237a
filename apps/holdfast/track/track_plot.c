/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track plot */
#include "track/track_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void free_picture(track_picture *data)
{
    TOOL_FREE(data->x, data->mean, data->sd, data->through);
    track_history_free(&data->history);
}

/* The place that was asked for last, else the middle. */
static void find_through(track_picture *data)
{
    const track_history *h = &data->history;
    const hf_domain *domain = tracked_domain(data->run);
    const size_t d = data->run->d;
    data->last = h->count;
    for (size_t i = h->count; i-- > 0 && data->last == h->count;)
        if (h->kind[i] == HF_ENTRY_ASKED) data->last = i;
    data->is_asked = data->last < h->count;
    for (size_t j = 0; j < d && data->slices > 0; j++)
        data->through[j] = data->is_asked ? h->numbers[data->last * h->columns + TRACK_FIXED + j]
                                          : 0.5 * (domain->lower[j] + domain->upper[j]);
}

/* Where times are long numbers, such as seconds since 1970, or differ in late digits only, the axis counts
 * from the first one. */
static void find_origin(track_picture *data)
{
    const track_history *h = &data->history;
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < h->count; i++) {
        const double time = h->numbers[i * h->columns + TRACK_TIME];
        if (!isfinite(time)) continue;
        first = fmin(first, time);
        last = fmax(last, time);
    }
    const double size = fmax(fabs(first), fabs(last)), span = last - first;
    if (!(first <= last)) return;
    const bool is_long = size >= 1e5 && 2.0 * span<size, is_late = span> 0.0 && 1e4 * span < size;
    if (is_long || is_late) data->origin = floor(first);
}

/* Places of slice s, m x d; its own input into data->x. */
static void fill_slice(track_picture *data, size_t s, double *places)
{
    const hf_domain *domain = tracked_domain(data->run);
    const size_t d = data->run->d, j = data->input[s];
    for (size_t i = 0; i < data->m; i++) {
        const double share = (double)i / (double)(data->m - 1);
        memcpy(places + i * d, data->through, d * sizeof *places);
        places[i * d + j] = domain->lower[j] + share * (domain->upper[j] - domain->lower[j]);
        data->x[s * data->m + i] = places[i * d + j];
    }
}

static hf_status predict_track_slice(track_picture *data, const hf_posterior *mean,
                                     const hf_posterior *spread, const double *places, size_t s)
{
    hf_context *ctx = data->run->session.ctx;
    double *to = data->mean + s * data->m, *sd = data->sd + s * data->m;
    hf_status status = hf_predict(ctx, mean, data->m, places, data->run->d, to, sd, NULL);
    double *other = status >= 0 && spread != NULL ? calloc(data->m, sizeof *other) : NULL;
    if (status >= 0 && spread != NULL)
        status = other != NULL ? hf_predict(ctx, spread, data->m, places, data->run->d, other, sd, NULL)
                               : HF_ERR_MEMORY;
    for (size_t i = 0; i < data->m && status >= 0; i++) sd[i] = sqrt(fmax(sd[i], 0.0));
    free(other);
    return status;
}

static hf_status predict_all(track_picture *data)
{
    tracked *run = data->run;
    hf_posterior *mean = NULL, *spread = NULL;
    hf_status status = hf_track_posterior(run->session.ctx, run->track, data->time, &mean, &spread);
    if (status == HF_ERR_NO_DATA) return HF_OK;
    double *places = status >= 0 ? calloc(data->m * run->d, sizeof *places) : NULL;
    if (status >= 0 && places == NULL) status = HF_ERR_MEMORY;
    if (status >= 0 && data->slices == 0)
        status = predict_track_slice(data, mean, spread, tracked_domain(run)->points, 0);
    for (size_t s = 0; s < data->slices && status >= 0; s++) {
        fill_slice(data, s, places);
        status = predict_track_slice(data, mean, spread, places, s);
    }
    data->known = status >= 0;
    free(places);
    hf_posterior_free(mean);
    hf_posterior_free(spread);
    return status;
}

/* Inputs that the box does not fix, at least one. */
static void choose_slices(track_picture *data)
{
    const hf_domain *domain = tracked_domain(data->run);
    if (data->run->candidates > 0) return;
    for (size_t j = 0; j < data->run->d && data->slices < TRACK_SLICES; j++)
        if (domain->lower[j] < domain->upper[j]) data->input[data->slices++] = j;
    if (data->slices == 0) data->slices = 1;
}

/* The picture of all that is known at `time`, the latest for NaN. */
static hf_status make_picture(tracked *run, double time, track_picture *out)
{
    *out = (track_picture){.run = run};
    hf_track_summary_of(run->track, &out->summary);
    out->time = isnan(time) ? out->summary.clock : time;
    choose_slices(out);
    out->m = run->candidates > 0 ? run->candidates : PLOT_POINTS;
    const size_t slices = out->slices > 0 ? out->slices : 1;
    out->x = calloc(slices * out->m, sizeof *out->x);
    out->mean = calloc(slices * out->m, sizeof *out->mean);
    out->sd = calloc(slices * out->m, sizeof *out->sd);
    out->through = calloc(run->d, sizeof *out->through);
    if (out->x == NULL || out->mean == NULL || out->sd == NULL || out->through == NULL) return HF_ERR_MEMORY;
    hf_status status = track_history_read(run, &out->history);
    if (status < 0) return status;
    find_through(out);
    find_origin(out);
    return isfinite(out->time) ? predict_all(out) : HF_OK;
}

/* ---- the verb --------------------------------------------------------------------------------------------------- */

static const tool_option options[] = {
    {"output", 'o', "OUT.svg", "picture to draw; .png and .pdf too (default: the track's name\nwith .svg)",
     TOOL_WRITES},
    {"time", 0, "T", "what is known at that time (default: the latest)", false},
};

static hf_status draw_track_picture(tracked *run)
{
    plot_format format = PLOT_SVG;
    double time = NAN;
    track_picture data = {0};
    char *output = plot_output(run->arguments);
    hf_status status = session_number(&run->session, "time", false, &time);
    if (status >= 0) status = plot_check(&run->session, output, &format);
    if (status >= 0) status = tracked_open(run, false);
    if (status >= 0) status = make_picture(run, time, &data);
    if (status >= 0 && plot_drew(&run->session, track_picture_script, &data, format, output))
        session_print(&run->session, JSON_OF({"picture", json_text(output)}, {"time", json_number(data.time)},
                                             {"known", json_boolean(data.known)}));
    free_picture(&data);
    free(output);
    return status;
}

const tool_verb verb_track_plot = {
    .name = "track plot",
    .operands = "FILE [-o OUT.svg] [OPTION]...",
    .summary = "Draw what a track knows, and what happened",
    .text =
        "Above, what is known now: of a box of one input the mean with its band; readings that count (paler "
        "the\n"
        "more their age adds to their variance); open requests and the place asked for last; of a box of "
        "more\n"
        "inputs the same along each of the first four, through that place; of candidates the 30 with the "
        "best\n"
        "bounds, the highest upper ones or, to minimise, the lowest lower ones. Below, over time: readings,\n"
        "answers and what was expected, where was measured, and regret where the truth is known. Needs "
        "gnuplot.",
    .example = "  holdfast track create drawn.hf --box 'x=-50:50' --drift 0.1\n"
               "  holdfast track tell drawn.hf --time 0 --x 3.2 --y 1.7\n"
               "  holdfast track plot drawn.hf -o drawn.svg",
    TOOL_OPTIONS(options),
    .derives = plot_derive,
    TRACKED(draw_track_picture),
};
