/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plot.h
 * @brief The picture of a model: its data (plot_data.c) and the gnuplot script that draws them
 * (plot_script.c).
 */
#ifndef HF_TOOL_PLOT_H
#define HF_TOOL_PLOT_H

#include "shell/tool.h"

enum {
    PLOT_POINTS = 241,     /* along a slice, before it is refined */
    PLOT_MOST_POINTS = 800 /* and after */
};

enum {
    /* suspected readings that get their row numbers: the farthest from what the others say */
    PLOT_MARKED = 10
};

/** Leave-one-out score of the kept readings, as hf_model_leave_one_out() has it. */
typedef struct plot_score {
    bool known;
    double rmse, coverage; /* of 95 % intervals */
} plot_score;

/** Maps over two inputs, in the units of the target. */
typedef struct plot_map {
    bool drawn;
    double low[2], high[2];
    /* the first owns both; with a transformed target the median, and sd of the function */
    double *mean, *sd;
} plot_map;

/** Everything that is drawn. Arrays of n entries per reading, `points` per slice. */
typedef struct plot_data {
    const hf_model *model;
    hf_table *rows;     /* of hf_model_rows(): owns the arrays of the readings of one output */
    hf_table *training; /* of hf_model_training(): and their inputs */
    double *own;        /* of several outputs one owns its arrays itself */
    size_t n, d;
    double number; /* of the output, the last of them */
    /* numbers that a prediction takes: d, and with several outputs the number of the output */
    size_t width;
    const char *name; /* of what is read */
    const double **x; /* d columns of n inputs */
    /* With a transformed target loo_mean is the median, residual that of what is modelled; else
     * NULL. */
    const double *row, *y, *loo_mean, *loo_sd, *weight, *suspected, *residual;
    plot_map map;     /* of two inputs and one output, unless an input was named */
    plot_score score; /* one output only: several have one of them all */
    hf_transform transform;
    bool rates; /* counts or amounts: the slice is of log rates, `transform` is log */
    /* Prior means that rows bring along: with one input `offsets` pairs of input and mean, by which
     * the
     * slice follows them; with several their median. */
    size_t offsets;
    double *offset_at, offset;

    size_t column; /* the input of the slice */
    /* The slice, of what is modelled. */
    size_t points;
    double at[PLOT_MOST_POINTS], mean[PLOT_MOST_POINTS], sd_latent[PLOT_MOST_POINTS],
        sd_observed[PLOT_MOST_POINTS];
    /* inputs that move along with that of the slice, and the first of them */
    size_t followers, follower;
    double *reading_at; /* n: the input */
    double
        /* n: the reading; with several inputs moved along to the slice (partial residual) */
        *reading_value;
    size_t gaps;
    /* gaps pairs: from where to where only other outputs have readings; one input only */
    double *gap;
} plot_data;

enum {
    PLOT_OUTPUTS = 16 /* panels at most */
};

/** Several outputs, a panel each: all through the same place. */
typedef struct plot_outputs {
    const hf_model *model;
    hf_table *rows;
    size_t count, column;
    plot_score score;
    plot_data *output; /* count */
} plot_outputs;

/** Computes everything; `x` names the input of the slice, NULL: the one along which the prediction
 * varies most. */
hf_status plot_data_make(hf_context *ctx, const hf_model *model, const char *x, plot_data *out);
void plot_data_free(plot_data *data);
/** The same for the outputs of a model of several, PLOT_OUTPUTS at most. */
hf_status plot_outputs_make(hf_context *ctx, const hf_model *model, const char *x,
                            plot_outputs *out);
void plot_outputs_free(plot_outputs *data);
hf_status plot_outputs_table(hf_context *ctx, const plot_outputs *data, hf_table **out);

/* ---- values (plot_values.c) ------------------------------------------------------------------ */

/** Quantiles of values: 0, 5 %, 50 %, 95 %, 1. */
typedef struct plot_spread {
    double least, low, median, high, most;
} plot_spread;

/** All of it, with a margin. */
void plot_margins(const plot_spread *s, double *low, double *high);
/** False when out of memory. */
bool plot_spread_of(const double *values, size_t n, plot_spread *out);
/** In the units of the target, so many of these standard deviations from the slice at point k. */
double plot_band(const plot_data *data, size_t k, const double *sd, double sds);
/** The suspected readings that get their row numbers, the farthest first. Returns how many. */
size_t plot_find_marked(const plot_data *data, size_t marked[PLOT_MARKED]);

/* ---- parts of it (plot_data.c) --------------------------------------------------------------- */

/** Range of the mean along input j between its 5 % and 95 % quantiles, through `centre`, `width`
 * numbers. */
hf_status plot_variation(hf_context *ctx, const plot_data *data, const double *centre, size_t j,
                         const plot_spread *s, double *out);
/** How much what is drawn moves along input j. */
typedef hf_status plot_mover(hf_context *ctx, void *drawn, size_t j, double *out);
/** The input `x` of a model, HF_ERR_NO_COLUMN after a message where it has none such; NULL: the one
 * along which most moves, the first one of fewer than `least`. `training`: hf_model_training(). */
hf_status plot_choose_input(hf_context *ctx, const hf_model *model, const hf_table *training,
                            const char *x, size_t least, plot_mover *moves, void *drawn,
                            size_t *column);
/* ---- the slice (plot_slice.c) ---------------------------------------------------------------- */

/** Where the other inputs are along a slice: at `centre`. But some follow their least-squares line
 * on it, within the range of their values. Those have ten values or more and correlate with its
 * input by 1/2 or more. Where inputs are collinear the slice so stays where there are readings. */
typedef struct plot_route {
    const double *centre;   /* d medians; the caller's, as are the next four */
    const double *const *x; /* d columns of n inputs */
    size_t n, d, column;
    double *slope;      /* d: of the line on the input of the slice, 0 for those at their medians */
    double *at;         /* d: where the line is at anchor */
    double *low, *high; /* d each: least and largest values */
    double anchor;
} plot_route;

/** Fills slope, at, low, high and anchor. HF_ERR_MEMORY. */
hf_status plot_route_make(plot_route *route);
void plot_route_free(plot_route *route);
/** Slices over the range of the input's values, all at the same points, and the readings beside
 * them. PLOT_POINTS equal steps and the readings' places where they are few; then intervals are
 * halved where a curve leaves the chord of its neighbours by more than 0.4 % of its range. That
 * ends when none does, or PLOT_MOST_POINTS are there. */
hf_status plot_slices_make(hf_context *ctx, plot_data *slices, size_t count,
                           const plot_route *route, const plot_spread *s);

/** The slice as a table. */
hf_status plot_slice_table(hf_context *ctx, const plot_data *data, hf_table **out);

/** Formats that gnuplot can make. */
typedef enum plot_format {
    PLOT_SVG,
    PLOT_PNG,
    PLOT_PDF
} plot_format;

/* ---- from a script to a picture (plot_gnuplot.c) --------------------------------------------- */

/** Writes a whole script, data included, so that it draws `output`; NULL: to gnuplot's standard
 * output. False when writing failed. */
typedef bool plot_writer(FILE *script, const void *data, plot_format format, const char *output);
/** Length of a path without its extension. */
size_t plot_stem(const char *path);
/** The format that a path's extension stands for; false when it stands for none. */
bool plot_find_format(const char *path, plot_format *format);
bool plot_has_gnuplot(void);
/** The picture that --output names, else the first operand's name with .svg; to be freed, NULL when
 * out of memory. */
char *plot_output(const tool_arguments *arguments);
/** tool_verb.derives of verbs that draw there. */
size_t plot_derive(const tool_arguments *arguments, char *out[TOOL_DERIVED]);
/** Refuses names that gnuplot draws no picture for, and machines without it; NULL: out of
 * memory. */
hf_status plot_check(tool_session *session, const char *output, plot_format *format);
/** gnuplot draws for us to read, and the file appears only when the picture is complete: gnuplot
 * takes some names for commands, and is told none. TOOL_FAILED after a message. */
int plot_draw(hf_context *ctx, plot_writer *writer, const void *data, plot_format format,
              const char *output);
/** Draws in a session, which remembers a failure, and says so unless it prints JSON: then true,
 * once the picture is there. */
bool plot_drew(tool_session *session, plot_writer *writer, const void *data, plot_format format,
               const char *output);
/** The script as a file that draws `output` when gnuplot runs it. TOOL_FAILED after a message. */
int plot_write_script(hf_context *ctx, plot_writer *writer, const void *data, plot_format format,
                      const char *output, const char *path);

/* ---- what all scripts have in common (plot_common.c) ----------------------------------------- */

/** A name inside double quotes, where it stands for itself and nothing else: control characters
 * become blanks, what is no UTF-8 becomes U+FFFD, and what gnuplot would act upon is written by
 * its number. */
void plot_quoted(FILE *out, const char *text);
/** A tic with a text, behind a comma unless it is the first one of its list. */
void plot_tic(FILE *out, bool first, const char *text, size_t at);
/** A blank and the number; NaN where it is missing. */
void plot_number(FILE *out, double value);
/** Numbers likewise, and the end of the line; PLOT_ROW(out, a, b, ...) counts them. */
void plot_row(FILE *out, size_t count, const double *values);
#define PLOT_ROW(out, ...)                                                                         \
    plot_row(out, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})
/** Begins a picture: terminal, 1200 points wide, output unless it is NULL, frame, tics, colours
 * `blue` and `red`. */
void plot_begin(FILE *out, plot_format format, unsigned height, const char *output);
/** Ends it with a text. False when writing failed. */
bool plot_end(FILE *out, const char *text);
/** A key of one line above a panel. */
extern const char plot_key_above[];
/** Widens a range, {INFINITY, -INFINITY} at first, to a finite value. */
void plot_include(double range[2], double value);
/** "set yrange" with a little room; one value gets some, and where there is none gnuplot still
 * wants a range. */
void plot_range(FILE *out, const char *axis, const double range[2]);
/** Where a panel stands, in shares of the picture. */
void plot_panel(FILE *out, double left, double right, double bottom, double top);
void plot_label(FILE *out, const char *axis, const char *text);
/** The closest tics, 1, 2 or 5 times a power of ten apart, whose numbers have room beside each
 * other on so many
 * points; 0: leave it to gnuplot. */
double plot_tic_step(const double range[2], double points);
/** Length of the longest number at tics so far apart. */
size_t plot_longest_tic(const double range[2], double step);

/* ---- two inputs (plot_map.c) ----------------------------------------------------------------- */

/** Predicts over both inputs, 81 x 81 places. */
hf_status plot_map_make(hf_context *ctx, plot_data *data);
void plot_map_free(plot_map *map);
/** Two maps with the readings, whose panels begin at `left` and are `width` wide with their scales
 * of
 * colours, in shares of the picture; other panels come before. */
void plot_map_script(FILE *out, const plot_data *data, const double left[2], double width,
                     double bottom, double top);

/* ---- around the panels of a model (plot_title.c) --------------------------------------------- */

/** How far apart the tics of a vertical axis are: 1, 2 or 5 times a power of ten, ten tics at
 * most; 0 where the range has no width or too large a one: gnuplot chooses. */
double plot_vertical_step(const double range[2]);
/** Points, of 1200 across the picture, that the numbers at these tics and the label beside them
 * take. */
double plot_vertical_room(const double range[2]);
/** ", 3 suspected, kept", or "set aside"; nothing without suspects. */
void plot_print_suspects(FILE *out, const hf_fit_report *report);
hf_status plot_score_make(hf_context *ctx, const hf_model *model, plot_score *out);
/** The score as a line below the title; `scaled`: of several outputs. Nothing where it is not
 * known. */
void plot_print_score(FILE *out, const plot_score *score, bool scaled, unsigned height);

/** Entries of the legend that not every picture has. */
typedef struct plot_legend {
    bool median, shaded; /* the line is the median; some place was read for other outputs only */
    size_t suspected;
} plot_legend;

/** One line at the foot of the picture, after all panels. */
void plot_print_legend(FILE *out, const plot_legend *legend, unsigned height);

/* ---- calibration (plot_calibration.c) -------------------------------------------------------- */

/** Standardised leave-one-out residuals, n; to be freed, NULL when out of memory. */
double *plot_residuals(const plot_data *data);
/** Every reading has weight 1: their picture would tell nothing. */
bool plot_all_weigh_one(const plot_data *data);
/** Coverage of leave-one-out intervals against their nominal level, with the diagonal. False when
 * out of memory. */
bool plot_calibration(FILE *out, const plot_data *data);

/** Writes the whole script, data included, so that it draws `output` wherever it is run. False when
 * writing failed. */
bool plot_script(FILE *script, const plot_data *data, plot_format format, const char *output);
bool plot_outputs_script(FILE *script, const plot_outputs *data, plot_format format,
                         const char *output);

/* ---- classifiers (class_plot.c, class_plot_script.c) ----------------------------------------- */

/** Probabilities along one input, or over two. */
typedef struct plot_classes {
    const hf_model *model;
    hf_table *rows, *training; /* of hf_model_rows() and hf_model_training() */
    size_t n, d, classes;
    size_t *label;         /* n: the class of each row, `classes` where it has none */
    const double **inputs; /* d columns of n */
    size_t column;         /* of the slice; of a map the first of two */
    bool maps;
    bool banded;   /* a slice of one latent function, which has a band */
    double *place; /* d: where the other inputs of a slice are */
    double low[2], high[2];
    size_t m, side;      /* points; of a map side x side, the second input running fastest */
    double *x;           /* m x d */
    double *probability; /* m x classes */
    double *mean;        /* latent means, then their variances */
} plot_classes;

/** `x` names the input of a slice, NULL: a map of two inputs, else along the one along which the
 * probabilities vary most. */
hf_status plot_classes_make(hf_context *ctx, const hf_model *model, const char *x,
                            plot_classes *out);
void plot_classes_free(plot_classes *data);
bool plot_classes_script(FILE *script, const plot_classes *data, plot_format format,
                         const char *output);
/** The probabilities as a table. */
hf_status plot_classes_table(hf_context *ctx, const plot_classes *data, hf_table **out);

/* ---- envelopes (plot_envelope.c, plot_envelope_script.c) ------------------------------------- */

/** A slice along one input, or maps over two. */
typedef struct plot_envelope {
    hf_envelope *envelope;
    hf_envelope_labels *labels;
    size_t d;
    size_t column; /* of the slice; of maps the first of two */
    bool maps;
    double *place; /* d: where the other inputs of a slice are */
    double low[2], high[2];
    size_t m, side; /* queries; of a map side x side, the second input running fastest */
    double *x;      /* m x d */
    /* Bounds and the smoothest function, NaN where that is not known: m each, in one block. */
    double *lower, *upper, *centre;
} plot_envelope;

/** Loads the envelope and bounds; `x` names the input of a slice, NULL: maps of two inputs, else
 * along the first one. */
hf_status plot_envelope_make(hf_context *ctx, const char *path, const char *x, plot_envelope *out);
void plot_envelope_free(plot_envelope *data);
bool plot_envelope_script(FILE *script, const plot_envelope *data, plot_format format,
                          const char *output);
/** The bounds, and the readings, as tables. */
hf_status plot_envelope_table(hf_context *ctx, const plot_envelope *data, hf_table **out);
hf_status plot_envelope_readings(hf_context *ctx, const plot_envelope *data, hf_table **out);

#endif
