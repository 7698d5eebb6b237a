/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bounded.h
 * @brief Shared by the verbs about bounded noise: readings out of a table, a kernel with written
 * values, queries, and why readings contradict each other.
 */
#ifndef HF_TOOL_BOUNDED_H
#define HF_TOOL_BOUNDED_H

#include "shell/tool.h"

/** A run of such a verb. */
typedef struct bounded {
    const tool_arguments *arguments;
    tool_session session;

    hf_table *table;           /* of the readings; NULL for an envelope out of a file */
    const char *target;        /* what is read */
    const char *const *others; /* columns that are no inputs either, `other_count` names */
    size_t other_count;
    tool_names given; /* --features; empty: chosen by bounded_read() */
    const char **feature;
    size_t d;
    size_t n, left_out; /* rows used, and rows without a target or an input */
    double *x, *y;      /* n x d row-major, n */
    double *below, *above;
    size_t *row; /* n: where in the table */
    double noise, offset;
    hf_kernel *kernel;
} bounded;

/** Frees everything and ends the session; the exit status. */
int bounded_close(bounded *run, hf_status status);

/** Reads TRAIN.csv: target, features, noise bounds. Rows without a target or an input are left out
 * with a warning. `noisy`: how far readings can be off
 * must be said; else 0 is meant where nothing is said. */
hf_status bounded_read(bounded *run, const char *path, bool noisy);
/** The readings as the library takes them. */
hf_bounded_readings bounded_readings(const bounded *run);
/** Parses --kernel; every parameter that shapes it must be held at a written value, or --cv given,
 * which finds the others. */
hf_status bounded_kernel(bounded *run);
/** The first parameter that shapes a kernel and has no written value, or NULL. */
const char *bounded_free_parameter(const hf_kernel *kernel);
/** Tells whoever gave no --offset that the readings are far from 0, unless functions of the kernel
 * have
 * a level of their own. */
void bounded_mind_level(const bounded *run);
/** Says why readings and a norm bound (infinity: any) contradict each other, after
 * HF_ERR_INCONSISTENT. */
hf_status bounded_explain(bounded *run, double norm);

/** Values of the kernel's parameters that --cv found; a new reference, or NULL. */
json_t *bounded_json_kernel(const hf_kernel *kernel);
/** "lengthscale 4.2, ...": a line of its shape. */
void bounded_print_kernel(const hf_kernel *kernel);

/* ---- queries (bound_queries.c) --------------------------------------------------------------- */

/** Where to bound: m rows of d numbers. */
typedef struct queries {
    size_t m;
    double *x;
    /* of a grid: the product of its sides, those of one value left out; 0 for anything else */
    double extent;
} queries;

/** By --at or --grid; m = 0 if neither is given. */
hf_status queries_make(bounded *run, queries *out);
void queries_free(queries *q);

/* ---- reports (bound_report.c) ---------------------------------------------------------------- */

/** The outcome of a batch of bounds. */
typedef struct bound_report {
    const hf_envelope *envelope;
    const char *method;
    const queries *at;
    double *lower, *upper, *gap; /* gap NULL: the method knows none */
    double mean_active, most_active;
    size_t pivots, early; /* early: queries that stopped before the optimum */
    double radius;        /* closed forms; NaN for the optimal bounds */
    double seconds;       /* of the bounds alone */
} bound_report;

/** For people, or with --json for machines. */
void bound_print(bounded *run, const bound_report *report, const char *output, const char *saved);

#endif
