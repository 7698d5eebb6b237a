/* SPDX-License-Identifier: Apache-2.0 */
/* gnuplot scripts of studies: progress, which variables matter, the front. */
#include "study/study_plot.h"

#include <math.h>
#include <string.h>

void study_plot_begin(FILE *out, const study_picture *data, plot_format format, unsigned height,
                      const char *output, const char *text)
{
    char goal[64];
    plot_begin(out, format, height, output);
    fputs("grey = '#8a8f98'\nset label 1 \"", out);
    if (*text == ':') {
        plot_quoted(out, data->run->settings->outcome[data->of].name);
        fputs(", ", out);
        plot_quoted(out, studied_goal(data->run, data->of, goal));
    }
    plot_quoted(out, text);
    fprintf(out, "\" at screen 0.065, 1 offset 0, -1.2 left textcolor rgb '#30343b' font ',14'\n");
    fputs("set multiplot\n", out);
}

/* ---- progress --------------------------------------------------------------------------------------------------- */

/* Kinds of points, each a block of its own. */
typedef enum trial_kind {
    SOUND,
    BREAKING,
    ASIDE,
    KINDS
} trial_kind;

static trial_kind kind_of(const study_picture *data, const hf_trial *t)
{
    if (study_is_aside(t, data->of)) return ASIDE;
    return study_breaks(data, t) ? BREAKING : SOUND;
}

static double to_edge(const double range[2], double value)
{
    return fmin(fmax(value, range[0]), range[1]);
}

/* The range of trials that are not set aside, with some room for others. */
static void find_trials_range(const study_picture *data, double range[2])
{
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (size_t i = 0; i < data->n; i++)
        if (kind_of(data, &data->trial[i]) != ASIDE) plot_include(range, data->trial[i].value[data->of]);
    for (size_t i = 0; i < data->n && !(range[0] <= range[1]); i++)
        plot_include(range, data->trial[i].value[data->of]);
    if (data->certified) plot_include(range, data->bound);
    /* A trial that is set aside and lies beyond has an edge of its own. */
    const double low = range[0], high = range[1], room = 0.1 * (high - low);
    for (size_t i = 0; i < data->n; i++) {
        const double value = data->trial[i].value[data->of];
        if (kind_of(data, &data->trial[i]) != ASIDE) continue;
        if (value < low) range[0] = fmax(fmin(range[0], value), low - room);
        if (value > high) range[1] = fmin(fmax(range[1], value), high + room);
    }
}

static void print_points(FILE *out, const study_picture *data, const double range[2], trial_kind which)
{
    static const char *const names[] = {"sound", "breaking", "aside"};
    fprintf(out, "$%s << EOD\n", names[which]);
    for (size_t i = 0; i < data->n; i++) {
        const hf_trial *t = &data->trial[i];
        const double value = t->value[data->of];
        if (isnan(value) || kind_of(data, t) != which) continue;
        fprintf(out, "%llu", (unsigned long long)t->id);
        PLOT_ROW(out, to_edge(range, value));
    }
    fputs("NaN NaN\nEOD\n", out);
}

/* The best so far: of all that was told (`believing`), or of what has a say. A step for each trial. */
static void print_best(FILE *out, const study_picture *data, const double range[2], bool believing)
{
    const double sign = data->run->settings->outcome[data->of].goal == HF_GOAL_MINIMISE ? -1.0 : 1.0;
    double best = -INFINITY;
    fprintf(out, "$%s << EOD\n", believing ? "believed" : "best");
    for (size_t i = 0; i < data->n; i++) {
        const hf_trial *t = &data->trial[i];
        const trial_kind what = kind_of(data, t);
        const double value = sign * t->value[data->of];
        if (!isnan(value) && what != BREAKING && (believing || what == SOUND)) best = fmax(best, value);
        fprintf(out, "%llu", (unsigned long long)t->id);
        PLOT_ROW(out, isfinite(best) ? to_edge(range, sign * best) : (double)NAN);
    }
    fputs("NaN NaN\nEOD\n", out);
}

static bool print_failures(FILE *out, const study_picture *data)
{
    bool any = false;
    fputs("$failed << EOD\n", out);
    for (size_t i = 0; i < data->n; i++) {
        if (data->trial[i].state != HF_TRIAL_FAILED) continue;
        fprintf(out, "%llu 0.02\n", (unsigned long long)data->trial[i].id);
        any = true;
    }
    fputs("EOD\nset y2range [0:1]\n", out);
    return any;
}

static size_t count_of(const study_picture *data, trial_kind which)
{
    size_t count = 0;
    for (size_t i = 0; i < data->n; i++)
        if (!isnan(data->trial[i].value[data->of]) && kind_of(data, &data->trial[i]) == which) count++;
    return count;
}

bool study_progress_script(FILE *script, const void *any, plot_format format, const char *output)
{
    const study_picture *data = any;
    double range[2];
    char text[128], bound[32];
    snprintf(text, sizeof text, ": %zu trials, %zu told and set aside", data->n, count_of(data, ASIDE));
    study_plot_begin(script, data, format, 560, output, text);
    find_trials_range(data, range);
    for (trial_kind k = SOUND; k < KINDS; k++) print_points(script, data, range, k);
    print_best(script, data, range, true);
    print_best(script, data, range, false);
    const bool failed = print_failures(script, data);
    plot_panel(script, 0.075, 0.965, 0.12, 0.83);
    fprintf(script, "set xrange [0.5:%.9g]\n", fmax((double)data->n, 1.0) + 0.5);
    plot_range(script, "y", range);
    plot_label(script, "y", data->run->settings->outcome[data->of].name);
    fputs("set xlabel 'trial'\n", script);
    fputs(plot_key_above, script);
    fputs("set key samplen 2.5 maxrows 2\n", script);
    if (data->certified)
        fprintf(script,
                "set arrow 1 from graph 0, first %.9g to graph 1, first %.9g nohead dashtype 3 linewidth 1.5 "
                "linecolor rgb '#2f8f5b'\n",
                data->bound, data->bound);
    fputs("plot $sound using 1:2 with points pointtype 7 pointsize 0.5 linecolor rgb '#7fa6c4' title 'told'",
          script);
    if (count_of(data, BREAKING) > 0)
        fputs(", $breaking using 1:2 with points pointtype 6 pointsize 0.5 linecolor rgb grey title 'breaks "
              "a constraint'",
              script);
    if (count_of(data, ASIDE) > 0)
        fputs(", $believed using 1:2 with steps dashtype 2 linewidth 1 linecolor rgb red title 'best, all "
              "believed', $aside using 1:2 with points pointtype 2 pointsize 0.8 linewidth 2 linecolor rgb "
              "red title 'set aside'",
              script);
    fputs(", $best using 1:2 with steps linewidth 2 linecolor rgb blue title 'best so far'", script);
    if (data->certified)
        fprintf(script,
                ", NaN with lines dashtype 3 linewidth 1.5 linecolor rgb '#2f8f5b' title 'no mean beyond %s'",
                (snprintf(bound, sizeof bound, "%.4g", data->bound), bound));
    if (failed)
        fputs(", $failed using 1:2 axes x1y2 with points pointtype 9 pointsize 0.7 linecolor rgb grey title "
              "'failed'",
              script);
    fputc('\n', script);
    return plot_end(script, "unset multiplot\nset output\n");
}

/* ---- what matters ----------------------------------------------------------------------------------------------- */

bool study_relevance_script(FILE *script, const void *any, plot_format format, const char *output)
{
    const study_picture *data = any;
    const size_t d = data->run->d, bars = d < STUDY_BARS ? d : STUDY_BARS;
    const unsigned height = 190 + 34 * (unsigned)bars;
    char text[128] = ": what matters, as shares of its variation, with 90 % intervals";
    const size_t used = strlen(text);
    if (bars < d) snprintf(text + used, sizeof text - used, "; %zu of %zu variables", bars, d);
    study_plot_begin(script, data, format, height, output, text);
    fputs("$bars << EOD\n", script);
    for (size_t k = 0; k < bars; k++) {
        const size_t j = data->order[k];
        fprintf(script, "%zu", bars - k);
        PLOT_ROW(script, data->share[j], data->low[j], data->high[j]);
    }
    fputs("EOD\nset ytics scale 0 (", script);
    for (size_t k = 0; k < bars; k++)
        plot_tic(script, k == 0, data->run->settings->variable[data->order[k]].name, bars - k);
    fprintf(script,
            ")\nset yrange [0.4:%.9g]\nset xrange [0:1]\nset xlabel 'share'\nunset grid\nset grid xtics "
            "linecolor '#e4e6ea'\n",
            (double)bars + 0.6);
    plot_panel(script, 0.17, 0.965, 75.0 / height, 1.0 - 60.0 / height);
    fputs("plot $bars using ($2/2):1:($2/2):(0.3) with boxxyerror fillstyle solid 0.35 noborder linecolor "
          "rgb blue, $bars using 2:1:3:4 with xerrorbars pointtype 7 pointsize 0.6 linewidth 2 linecolor rgb "
          "blue\n",
          script);
    return plot_end(script, "unset multiplot\nset output\n");
}

/* ---- the front -------------------------------------------------------------------------------------------------- */

static void print_pair(FILE *out, const study_picture *data, size_t a, size_t b)
{
    double across[2] = {INFINITY, -INFINITY}, up[2] = {INFINITY, -INFINITY};
    const size_t outcomes = data->run->outcomes;
    fputs("$told << EOD\n", out);
    for (size_t i = 0; i < data->n; i++) {
        const hf_trial *t = &data->trial[i];
        const bool aside = study_is_aside(t, a) || study_is_aside(t, b);
        if (isnan(t->value[a]) || isnan(t->value[b]) || aside) continue;
        plot_number(out, t->value[a]);
        plot_number(out, t->value[b]);
        fprintf(out, " %d\n", study_breaks(data, t) ? 0xd5d8dd : 0x7fa6c4);
        plot_include(across, t->value[a]);
        plot_include(up, t->value[b]);
    }
    fputs("NaN NaN 0\nEOD\n$aside << EOD\n", out);
    for (size_t i = 0; i < data->n; i++) {
        const hf_trial *t = &data->trial[i];
        if (!study_is_aside(t, a) && !study_is_aside(t, b)) continue;
        PLOT_ROW(out, to_edge(across, t->value[a]), to_edge(up, t->value[b]));
    }
    fputs("NaN NaN\nEOD\n$front << EOD\n", out);
    for (size_t k = 0; k < data->count; k++) {
        const double *mean = data->mean + k * outcomes, *sd = data->sd + k * outcomes;
        PLOT_ROW(out, mean[a], mean[b], sd[a], sd[b]);
        plot_include(across, mean[a]);
        plot_include(up, mean[b]);
    }
    fputs("NaN NaN NaN NaN\nEOD\n", out);
    plot_range(out, "x", across);
    plot_range(out, "y", up);
    plot_label(out, "x", data->run->settings->outcome[a].name);
    plot_label(out, "y", data->run->settings->outcome[b].name);
    fputs("plot $told using 1:2:3 with points pointtype 7 pointsize 0.5 linecolor rgb variable, $aside using "
          "1:2 with points pointtype 2 pointsize 0.8 linewidth 2 linecolor rgb red, $front using 1:2:3:4 "
          "with xyerrorbars pointtype 7 pointsize 0.7 linewidth 1.5 linecolor rgb blue\n",
          out);
}

bool study_front_script(FILE *script, const void *any, plot_format format, const char *output)
{
    const study_picture *data = any;
    size_t objective[3] = {0, 0, 0}, count = 0;
    char text[128];
    for (size_t o = 0; o < data->run->outcomes && count < 3; o++)
        if (studied_is_objective(data->run, o)) objective[count++] = o;
    const size_t pairs = count == 2 ? 1 : 3;
    snprintf(text, sizeof text, "%zu trials, %zu of them on the front (dark, with 1 sd); red: set aside",
             data->n, data->count);
    study_plot_begin(script, data, format, count == 2 ? 700 : 480, output, text);
    const double width = 0.92 / (double)pairs;
    for (size_t p = 0; p < pairs; p++) {
        const double left = 0.07 + width * (double)p;
        plot_panel(script, left, left + width - (pairs > 1 ? 0.06 : 0.02), 0.12, 0.87);
        print_pair(script, data, objective[p == 2 ? 1 : 0], objective[p == 0 ? 1 : 2]);
        fputs("unset label 1\n", script);
    }
    return plot_end(script, "unset multiplot\nset output\n");
}
