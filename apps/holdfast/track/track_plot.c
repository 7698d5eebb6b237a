/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast track plot */
#include "track/track_plot.h"

#include <math.h>
#include <stdlib.h>

static const tool_option options[] = {
    {"output", 'o', "OUT.svg", "picture to draw; .png and .pdf too (default: the track's name\nwith .svg)",
     TOOL_WRITES},
    {"time", 0, "T", "what is known at that time (default: the latest)", false},
};

static hf_status draw(tracked *run)
{
    plot_format format = PLOT_SVG;
    double time = NAN;
    track_picture data = {0};
    char *output = plot_output(run->arguments);
    hf_status status = session_number(&run->session, "time", false, &time);
    if (status >= 0) status = plot_check(&run->session, output, &format);
    if (status >= 0) status = tracked_open(run, false);
    if (status >= 0) status = track_picture_make(run, time, &data);
    if (status >= 0 && plot_drew(&run->session, track_picture_script, &data, format, output))
        session_print(&run->session, JSON_OF({"picture", json_text(output)}, {"time", json_number(data.time)},
                                             {"known", json_boolean(data.known)}));
    track_picture_free(&data);
    free(output);
    return status;
}

const tool_verb verb_track_plot = {
    .name = "track plot",
    .operands = "FILE [-o OUT.svg] [OPTION]...",
    .summary = "Draw what a track knows, and what happened",
    .text = "Above, what is known now: of a box of one input the mean with its band, readings that count "
            "(paler the\nmore their age adds to their variance), open requests and the place asked for last; "
            "of a box of more\ninputs the same along each of the first four, through that place; of "
            "candidates the 30 with the best\nbounds, the highest upper ones or, to minimise, the lowest "
            "lower ones. Below, over time: readings,\nanswers and what was expected, where was measured, and "
            "regret where the truth is known. Needs gnuplot.",
    .example = "  holdfast track create drawn.hf --box 'x=-50:50' --drift 0.1\n"
               "  holdfast track tell drawn.hf --time 0 --x 3.2 --y 1.7\n"
               "  holdfast track plot drawn.hf -o drawn.svg",
    TOOL_OPTIONS(options),
    .derives = plot_derive,
    TRACKED(draw),
};
