/* SPDX-License-Identifier: Apache-2.0 */
/* The gnuplot script of a track: what is known now above, what happened below. */
#include "track/track_plot.h"

#include <math.h>
#include <stdlib.h>

enum {
    MOST_EVENTS = 8000 /* that are drawn over time */
};

/* ---- along an input --------------------------------------------------------------------------------------------- */

static void print_track_slice(FILE *out, const track_picture *data, size_t s, double range[2])
{
    fprintf(out, "$slice%zu << EOD\n", s);
    for (size_t i = s * data->m; i < (s + 1) * data->m && data->known; i++) {
        const double low = data->mean[i] - 2.0 * data->sd[i], high = data->mean[i] + 2.0 * data->sd[i];
        PLOT_ROW(out, data->x[i], data->mean[i], low, high);
        plot_include(range, low);
        plot_include(range, high);
    }
    fputs("EOD\n", out);
}

/* The input of a slice and its side of the box. */
static void print_span(FILE *out, const track_picture *data, size_t s)
{
    const size_t j = data->input[s];
    const double lower = tracked_domain(data->run)->lower[j], upper = tracked_domain(data->run)->upper[j],
                 room = lower < upper ? 0.0 : fmax(1.0, fabs(lower));
    fprintf(out, "set xrange [%.9g:%.9g]\n", lower - room, upper + room);
    plot_label(out, "x", hf_track_name(data->run->track, j));
}

/* Readings that count: place, value, how much of the variance is age (0 fresh, 1 old), whose. */
static void print_readings(FILE *out, const track_picture *data, double range[2])
{
    const char *const names[] = {"own", "answers"};
    for (int answers = 0; answers < 2; answers++) {
        fprintf(out, "$%s << EOD\n", names[answers]);
        for (size_t i = 0; i < data->summary.held; i++) {
            hf_track_reading r;
            if (hf_track_reading_at(data->run->track, i, &r) < 0 || !r.counts) continue;
            if (r.answer != (answers == 1)) continue;
            const double aged = 1.0 - r.noise / fmax(r.variance, r.noise);
            PLOT_ROW(out, r.x[0], r.y, aged);
            plot_include(range, r.y);
        }
        fputs("NaN NaN NaN\nEOD\n", out);
    }
}

static void print_open(FILE *out, const track_picture *data, double bottom)
{
    fputs("$open << EOD\n", out);
    for (size_t i = 0; i < hf_track_pending_count(data->run->track); i++) {
        hf_track_request r;
        if (hf_track_request_at(data->run->track, i, &r) < 0) continue;
        PLOT_ROW(out, r.x[0], bottom);
    }
    fputs("NaN NaN\nEOD\n", out);
}

static void print_next(FILE *out, const track_picture *data, size_t input, double range[2])
{
    fputs("$next << EOD\n", out);
    const double at = data->is_asked
                          ? data->history.numbers[data->last * data->history.columns + TRACK_FIXED + input]
                          : 0.0;
    if (data->is_asked) {
        const double bound = track_history_after(&data->history, data->last, TRACK_BOUND);
        PLOT_ROW(out, at, bound);
        if (data->run->d == 1) plot_include(range, bound);
    }
    fputs("NaN NaN\nEOD\n", out);
    if (data->is_asked)
        fprintf(out, "set arrow 1 from %.9g, graph 0 to %.9g, graph 1 nohead dashtype 2 linecolor rgb red\n",
                at, at);
}

static const char fresh_and_old[] = "set palette defined (0 '#1d3f5e', 0.5 '#7fa6c4', 1 '#b7cedf')\n"
                                    "set cbrange [0:1]\nunset colorbox\n";

/* One input: everything in one panel. */
static void print_line(FILE *out, const track_picture *data)
{
    double range[2] = {INFINITY, -INFINITY};
    print_track_slice(out, data, 0, range);
    print_readings(out, data, range);
    print_next(out, data, 0, range);
    const double bottom = range[0] <= range[1] ? range[0] - 0.03 * (range[1] - range[0]) : 0.0;
    print_open(out, data, bottom);
    plot_range(out, "y", range);
    print_span(out, data, 0);
    plot_label(out, "y", hf_track_target(data->run->track));
    fputs(fresh_and_old, out);
    fputs(plot_key_above, out);
    fputs("plot", out);
    if (data->known)
        fputs(" $slice0 using 1:3:4 with filledcurves linecolor rgb blue fillstyle transparent solid 0.15 "
              "noborder title 'mean with 2 sd',",
              out);
    fputs(" $own using 1:2:3 with points pointtype 7 pointsize 0.6 linecolor palette title 'readings, paler "
          "with age', $answers using 1:2:3 with points pointtype 9 pointsize 0.8 linecolor palette title "
          "'answers', $open with points pointtype 2 pointsize 0.9 linecolor rgb '#8a8f98' title 'requests',",
          out);
    if (data->known) fputs(" $slice0 using 1:2 with lines linewidth 2 linecolor rgb blue notitle,", out);
    fputs(" $next with points pointtype 7 pointsize 0.9 linecolor rgb red title 'asked for last'\n"
          "unset key\nunset arrow 1\n",
          out);
}

/* Several: a panel along each, through one place, without readings, which are elsewhere. */
static void print_lines(FILE *out, const track_picture *data, double bottom, double top)
{
    const double width = 0.92 / (double)data->slices;
    double range[2] = {INFINITY, -INFINITY};
    for (size_t s = 0; s < data->slices; s++) print_track_slice(out, data, s, range);
    plot_range(out, "y", range);
    plot_label(out, "y", hf_track_target(data->run->track));
    for (size_t s = 0; s < data->slices; s++) {
        const double left = 0.065 + width * (double)s;
        plot_panel(out, left, left + width - 0.03, bottom, top);
        print_span(out, data, s);
        print_next(out, data, data->input[s], range);
        if (data->known)
            fprintf(out,
                    "plot $slice%zu using 1:3:4 with filledcurves linecolor rgb blue fillstyle transparent "
                    "solid 0.15 noborder, $slice%zu using 1:2 with lines linewidth 2 linecolor rgb blue\n",
                    s, s);
        else
            fputs("plot $next with points pointtype 7 linecolor rgb red\n", out);
        fputs("set ylabel ''\nunset arrow 1\nunset label 1\n", out);
    }
}

/* ---- candidates ------------------------------------------------------------------------------------------------- */

/* The candidate that was asked for last; SIZE_MAX: none. */
static size_t asked_candidate(const track_picture *data)
{
    size_t index = SIZE_MAX;
    const double *x = data->history.numbers + data->last * data->history.columns + TRACK_FIXED;
    if (!data->is_asked || !hf_domain_contains(tracked_domain(data->run), x, &index)) return SIZE_MAX;
    return index;
}

static void print_bars(FILE *out, const track_picture *data, const ranked *list, size_t count)
{
    char number[32];
    double range[2] = {INFINITY, -INFINITY};
    const size_t asked = asked_candidate(data);
    fputs("$bars << EOD\n", out);
    for (size_t k = 0; k < count; k++) {
        const size_t i = list[k].index;
        const double low = data->mean[i] - 2.0 * data->sd[i], high = data->mean[i] + 2.0 * data->sd[i];
        fprintf(out, "%zu", k + 1);
        plot_number(out, data->mean[i]);
        plot_number(out, low);
        plot_number(out, high);
        fprintf(out, " %d\n", i == asked ? 0xc8372d : 0x2f6690);
        plot_include(range, low);
        plot_include(range, high);
    }
    fputs("NaN NaN NaN NaN 0\nEOD\nset xtics scale 0 rotate by 40 right (", out);
    for (size_t k = 0; k < count; k++)
        plot_tic(out, k == 0, tracked_candidate(data->run, list[k].index, number), k + 1);
    fprintf(out, ")\nset xrange [0.3:%.9g]\n", (double)count + 0.7);
    plot_range(out, "y", range);
    plot_label(out, "y", hf_track_target(data->run->track));
    fputs("set xlabel ''\nplot $bars using 1:2:3:4:5 with yerrorbars pointtype 7 pointsize 0.7 linewidth 2 "
          "linecolor rgb variable\nset xtics autofreq scale 0.5 norotate autojustify\n",
          out);
}

static bool print_candidates(FILE *out, const track_picture *data)
{
    ranked *list = calloc(data->m + 1, sizeof *list);
    if (list == NULL) return false;
    const double sign = tracked_minimises(data->run) ? -1.0 : 1.0;
    /* By the upper bound; minimising, by the lower one with the other sign. */
    for (size_t i = 0; i < data->m; i++) list[i] = (ranked){sign * data->mean[i] + 2.0 * data->sd[i], i};
    qsort(list, data->m, sizeof *list, largest_first);
    print_bars(out, data, list, !data->known ? 0 : data->m < TRACK_BARS ? data->m : TRACK_BARS);
    free(list);
    return true;
}

/* ---- what happened ---------------------------------------------------------------------------------------------- */

/* More points than this are a stain: every second of each kind is drawn then, or every third, ... */
static size_t stride_of(const track_picture *data)
{
    return 1 + data->history.count / MOST_EVENTS;
}

static void print_events(FILE *out, const track_picture *data, const char *name, hf_track_entry_kind kind,
                         size_t after, double range[2])
{
    const track_history *h = &data->history;
    const size_t stride = stride_of(data);
    size_t seen = 0;
    bool any = false;
    fprintf(out, "$%s << EOD\n", name);
    for (size_t i = 0; i < h->count; i++) {
        any = any || h->kind[i] == HF_ENTRY_TOLD;
        /* The mean before anything is known is nobody's expectation. */
        if (h->kind[i] != (size_t)kind || !any || seen++ % stride != 0) continue;
        const double value = track_history_after(h, i, after);
        PLOT_ROW(out, h->numbers[i * h->columns + TRACK_TIME] - data->origin, value,
                 h->numbers[i * h->columns + TRACK_FIXED]);
        plot_include(range, value);
    }
    fputs("NaN NaN NaN\nEOD\n", out);
}

/* A box of one input. */
static bool is_line(const track_picture *data)
{
    return data->run->d == 1 && data->slices == 1;
}

/* Panels below: values over time, places too where there is one input, regret where it is known. */
static size_t panels_below(const track_picture *data)
{
    return 1 + (is_line(data) ? 1U : 0U) + (data->summary.truths > 0 ? 1U : 0U);
}

static void print_times(FILE *out, const track_picture *data)
{
    const track_history *h = &data->history;
    char origin[32];
    double range[2] = {INFINITY, -INFINITY};
    for (size_t i = 0; i < h->count; i++)
        plot_include(range, h->numbers[i * h->columns + TRACK_TIME] - data->origin);
    plot_range(out, "x", range);
    const double step = plot_tic_step(range, 1104.0 / (double)panels_below(data) - 66.0);
    if (step > 0.0) fprintf(out, "set xtics %.9g\n", step);
    fputs("set xlabel 'time", out);
    if (data->origin != 0.0)
        fprintf(out, " %s %s", data->origin > 0.0 ? "−" : "+", hf_format_double(fabs(data->origin), origin));
    if (stride_of(data) > 1) fprintf(out, " (one in %zu is drawn)", stride_of(data));
    fputs("'\n", out);
}

static void print_values(FILE *out, const track_picture *data)
{
    double range[2] = {INFINITY, -INFINITY};
    print_events(out, data, "toldat", HF_ENTRY_TOLD, TRACK_Y, range);
    print_events(out, data, "answeredat", HF_ENTRY_ANSWERED, TRACK_Y, range);
    print_events(out, data, "askedat", HF_ENTRY_ASKED, TRACK_MEAN, range);
    print_events(out, data, "bestat", HF_ENTRY_TRUTH, TRACK_BEST, range);
    plot_range(out, "y", range);
    print_times(out, data);
    plot_label(out, "y", hf_track_target(data->run->track));
    fputs(plot_key_above, out);
    fputs("plot $answeredat using 1:2 with points pointtype 9 pointsize 0.4 linecolor rgb '#b9c9d6' title "
          "'answers', $toldat using 1:2 with points pointtype 7 pointsize 0.5 linecolor rgb blue title "
          "'readings', $askedat using 1:2 with lines linewidth 1.5 linecolor rgb '#e0a030' title 'expected'",
          out);
    if (data->summary.truths > 0)
        fputs(", $bestat using 1:2 with lines linewidth 1.5 linecolor rgb red title 'best'", out);
    fputs("\nunset key\n", out);
}

/* Places of one input that were measured and asked for. */
static void print_places(FILE *out, const track_picture *data)
{
    double range[2] = {tracked_domain(data->run)->lower[0], tracked_domain(data->run)->upper[0]},
           unused[2] = {0, 0};
    print_events(out, data, "toldplace", HF_ENTRY_TOLD, TRACK_Y, unused);
    print_events(out, data, "askedplace", HF_ENTRY_REQUESTED, TRACK_SD, unused);
    plot_range(out, "y", range);
    print_times(out, data);
    plot_label(out, "y", hf_track_name(data->run->track, 0));
    fputs(plot_key_above, out);
    fputs("plot $askedplace using 1:3 with points pointtype 2 pointsize 0.4 linecolor rgb '#b0b5bc' title "
          "'requests', $toldplace using 1:3 with points pointtype 7 pointsize 0.5 linecolor rgb blue title "
          "'readings'\nunset key\n",
          out);
}

static void print_regret(FILE *out, const track_picture *data)
{
    const track_history *h = &data->history;
    const double sign = tracked_minimises(data->run) ? -1.0 : 1.0;
    double sum = 0.0, count = 0.0;
    fputs("$regret << EOD\n", out);
    for (size_t i = 0; i < h->count; i++) {
        if (h->kind[i] != HF_ENTRY_TRUTH) continue;
        const double missed = track_history_after(h, i, TRACK_BEST) - track_history_after(h, i, TRACK_VALUE);
        sum += fmax(sign * missed, 0.0);
        count += 1.0;
        fprintf(out, "%.9g %.9g\n", count, sum / count);
    }
    fprintf(out, "EOD\nset xrange [0:%.9g]\nset xtics autofreq\n", count + 1.0);
    fputs("set yrange [0:*]\nset xlabel 'steps whose truth is known'\nset ylabel 'regret a step, on "
          "average'\nplot $regret using 1:2 with lines linewidth 2 linecolor rgb blue\n",
          out);
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

static void print_title(FILE *out, const track_picture *data)
{
    char time[32];
    const hf_track_settings *s = hf_track_settings_of(data->run->track);
    fputs("set label 1 \"", out);
    plot_quoted(out, hf_track_target(data->run->track));
    fprintf(out, ", %s by %s", s->minimise ? "minimised" : "maximised",
            hf_enum_name(HF_ENUM_TRACK_METHOD, s->method));
    if (isfinite(data->time)) fprintf(out, ", at time %s", hf_format_double(data->time, time));
    fprintf(out, ": %llu readings, %llu answers to %llu requests", (unsigned long long)data->summary.told,
            (unsigned long long)data->summary.answered, (unsigned long long)data->summary.requested);
    if (data->slices == TRACK_SLICES && data->run->d > TRACK_SLICES)
        fprintf(out, "; %zu of %zu inputs", data->slices, data->run->d);
    if (data->run->d > 1 && data->slices > 0)
        fputs(data->is_asked ? ", through the place asked for last" : ", through the middle", out);
    if (data->slices == 0 && data->m > TRACK_BARS)
        fprintf(out, "; the %d candidates of %zu with the %s bounds", TRACK_BARS, data->m,
                s->minimise ? "lowest" : "highest");
    else if (data->slices == 0)
        fputs("; mean with 2 sd, red: asked for last", out);
    fputs("\" at screen 0.065, 0.965 left textcolor rgb '#30343b' font ',14'\n", out);
}

bool track_picture_script(FILE *script, const void *any, plot_format format, const char *output)
{
    const track_picture *data = any;
    const bool line = is_line(data);
    const size_t below = panels_below(data);
    const double width = 0.92 / (double)below;
    bool good = true;
    plot_begin(script, format, 900, output);
    print_title(script, data);
    fputs("set multiplot\n", script);
    plot_panel(script, 0.065, 0.965, data->slices == 0 ? 0.60 : 0.55, 0.90);
    if (data->slices == 0)
        good = print_candidates(script, data);
    else if (line)
        print_line(script, data);
    else
        print_lines(script, data, 0.55, 0.90);
    fputs("unset label 1\n", script);
    for (size_t k = 0; k < below; k++) {
        const double left = 0.065 + width * (double)k;
        plot_panel(script, left, left + width - 0.055, 0.075, 0.43);
        if (k == 0)
            print_values(script, data);
        else if (k == 1 && line)
            print_places(script, data);
        else
            print_regret(script, data);
    }
    return plot_end(script, "unset multiplot\nset output\n") && good;
}
