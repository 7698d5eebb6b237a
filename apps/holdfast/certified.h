/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified.h
 * @brief What the verbs about certified ranges share: a model, boxes about the rows of a table or between two, and a table of answers.
 */
#ifndef HF_TOOL_CERTIFIED_H
#define HF_TOOL_CERTIFIED_H

#include "tool.h"

/** A run of such a verb. What goes wrong in the tool is told at once and remembered in `refused`, what goes wrong in the library is in the status. */
typedef struct certified {
    const tool_arguments *arguments;
    tool_session session;
    int refused;
    hf_model *model;
    const hf_posterior *posterior;
    const hf_classifier *classifier; /* NULL: a model of readings */
    size_t d;
    size_t m;                  /* boxes */
    double *x, *lower, *upper; /* m x d each */
    double *unit;              /* d: what radius 1 is of each input; 0 where it does not move */
    char *text;                /* CSV of the answers on its way into a table */
    size_t length;
    FILE *csv;
} certified;

/** Complains, for a status that certified_close() takes; the same for wrong usage, exit status 2. */
hf_status certified_refuse(certified *run, const char *format, ...) HF_PRINTF(2, 3);
hf_status certified_misuse(certified *run, const char *format, ...) HF_PRINTF(2, 3);
/** Opens a session: an exit status other than TOOL_OK has nothing to close. Then the operand is loaded; the output file must be one that can be written. */
int certified_open(const tool_arguments *arguments, certified *out);
hf_status certified_load(certified *run);
int certified_close(certified *run, hf_status status);

/** Points from --at. Rows without an input are refused, by name. */
hf_status certified_points(certified *run);
/** Units from --features and --sds. */
hf_status certified_units(certified *run);
/** Boxes about the points: x +- radius unit. */
hf_status certified_balls(certified *run, double radius);
/** Boxes from --box, with their middles as points; without it (`whole` allows that) the range of the training rows. */
hf_status certified_boxes(certified *run, bool whole);

/** The number of an output or a class by --of; the default for a classifier of two is class 1. */
hf_status certified_of(certified *run, size_t *out);
/** Name of a class, as a CSV field. */
void certified_class(certified *run, size_t class);

/** Begins the table of answers with the inputs' names, ends it into a file (or "-"). Names must not be those of inputs; NULL ends the list. */
hf_status certified_begin(certified *run, const char *const *names);
void certified_row(certified *run, const double *point);
void certified_number(certified *run, double value);
hf_status certified_write(certified *run, const char *path);

#endif
