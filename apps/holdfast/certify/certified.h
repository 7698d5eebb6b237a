/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified.h
 * @brief The verbs about certified ranges share this: a model, boxes about the rows of a table or
 * between two, and a table of answers.
 */
#ifndef HF_TOOL_CERTIFIED_H
#define HF_TOOL_CERTIFIED_H

#include "plot/plot.h"

/** A run of such a verb. */
typedef struct certified {
    const tool_arguments *arguments;
    tool_session session;
    hf_model *model;
    const hf_posterior *posterior;
    const hf_classifier *classifier; /* NULL: a model of readings */
    size_t d;
    double begun;              /* tool_now() when the limits were read */
    hf_table *training;        /* of hf_model_training(), once it was asked for */
    hf_table *at;              /* of --at */
    size_t points;             /* rows of --at, or boxes of --box */
    size_t radii;              /* boxes about each point: 1, unless there are several radii */
    size_t m;                  /* boxes: points x radii, the radii running fastest */
    double *x, *lower, *upper; /* m x d each; x once for each box */
    double *unit;              /* d: what radius 1 is of each input; 0 where it does not move */
    hf_table *answers;
    struct certified_room *room; /* of --ball, --within and the like; NULL: none of them */
} certified;

/** Runs a verb whose work is its member `certify`, in a session. Before it the model is loaded, and
 * files to be written are such that can be; the exit status. */
int certified_run(const tool_arguments *arguments);
/** Members of such a verb: that work. */
#define CERTIFIED(function) TOOL_RUN(1, 1, certified_run), .certify = (function)

/** The rows that the fit used, owned by the run; read when first asked for. HF_ERR_NO_DATA for a
 * model that did not keep them. */
hf_status certified_training(certified *run, const hf_table **out);

/* ---- boxes (certified_boxes.c) --------------------------------------------------------------- */

/** Points from --at. Rows without an input are refused, by name. */
hf_status certified_points(certified *run);
/** Units from --features and --sds. */
hf_status certified_units(certified *run);
/** Boxes about the points: x +- radius unit, for each of the radii. */
hf_status certified_balls(certified *run, size_t radii, const double *radius);
/** Boxes from --box, two tables or ranges by name, with their middles as points; without it
 * (`whole` allows that) the range of the training rows. */
hf_status certified_boxes(certified *run, bool whole);

/* ---- inputs and texts (certified_categories.c) ----------------------------------------------- */

/** Number of the input of that name, d if there is none. */
size_t certified_input(const certified *run, const char *name, size_t length);
/** Whether an input stands for a text. */
bool certified_is_category(const certified *run, size_t j);
/** Adds the input of that name to a set, or all inputs of a column of texts; false: there is none.
 * */
bool certified_select(const certified *run, const char *name, bool *set);
/** Inputs that stand for texts get the unit 0, unless --features, --group or --radius name them. */
hf_status certified_hold_categories(certified *run);
/** Whether one of them moves; then it moves by steps of 1, between 0 and 1. */
bool certified_moves_category(const certified *run);
/** COLUMN=TEXT: the sides of all inputs of that column, where `lower` is not NULL; false: it is
 * something else. */
bool certified_take_category(const certified *run, const char *name, double *lower, double *upper);
/** Makes of the one box a box for each combination of the texts that it does not say (NaN). */
hf_status certified_each_category(certified *run);

/* ---- regions (certified_region.c) ------------------------------------------------------------ */

/** Whether --radius names inputs; then they are the units, of a radius of 1, and others are held.
 * */
bool certified_named_radii(const certified *run);
hf_status certified_take_radii(certified *run);
/** Whether one of --ball, --within, --step, --at-most, --group and --patch is given. */
bool certified_asks_region(const certified *run);
/** The region they tell, owned by the run; NULL: none of them is given. */
hf_status certified_region(certified *run, const hf_region **out);
/** Lets it be about the points, once these and the boxes are there. */
hf_status certified_place_region(certified *run);
void certified_free_region(certified *run);
/** For --json; null where there is none. */
json_t *certified_json_region(const certified *run);

/* ---- what is asked about --------------------------------------------------------------------- */

/** Tolerance and limits, where they are given, and the number of the output or the class by --of.
 * The default of two classes is class 1. */
hf_status certified_settings(certified *run, hf_certify_settings *settings);
/** Refuses --observed where readings have no noise beside the latent function: of classes, counts
 * and amounts. */
hf_status certified_observed(certified *run, bool observed);
/** --never-above, --never-below and --delta (certify_claims.c); *claims := true if one is given. */
hf_status certified_claim(certified *run, hf_claim *out, bool *claims);
/* The verb's rows of options that are limits, where that table is its first; read by
 * certified_settings(). */
#define CERTIFIED_LIMITS TOOL_SETTINGS(0, "limits")

/** Settings of a call that is one of `left`: with its share of what is left of --total-time. */
hf_certify_settings certified_share(const certified *run, const hf_certify_settings *settings,
                                    size_t left);
/** Warns that so many of all boxes ended at the limit of time or memory, and which it is. */
void certified_tell_limits(const certified *run, const hf_certify_settings *settings,
                           size_t by_time, size_t by_memory, size_t all);
/** The function that the posterior has of a class or an output: of two classes there may be one for
 * both. */
size_t certified_latent(const certified *run, size_t of);

/* ---- answers --------------------------------------------------------------------------------- */

/** A table of `rows` rows that begins with the inputs, unless `points` (rows x d) is NULL. `names`
 * are those of all columns to come, NULL at their end: none may be that of
 * an input. */
hf_status certified_begin(certified *run, size_t rows, const double *points,
                          const char *const *names);
/** Columns, one after the other in `block`; NULL ends the names. */
hf_status certified_numbers(certified *run, const char *const *names, const double *block);
/** A column for each input that moves in any box, called after it and the ending; `points` is
 * m x d. */
hf_status certified_places(certified *run, const char *ending, const double *points);
hf_status certified_text(certified *run, const char *name, size_t count, const char *const *text,
                         const size_t *choice);
/** Whether certificates of the classes rest on an estimate. */
bool certified_is_estimate(const certified *run);
/** Says so, where a table has no status. */
void certified_warn_estimate(const certified *run);
/** A column of the model's classes by number. */
hf_status certified_classes(certified *run, const char *name, const size_t *class);
/** Ends it into a file (or "-"). */
hf_status certified_write(certified *run, const char *path);
/** Heading of a picture, after its text, and the key of its lines. */
extern const char certified_heading[], certified_key[];
/** Draws it, if --plot was given. */
hf_status certified_draw(certified *run, plot_writer *writer, const void *data);

#endif
