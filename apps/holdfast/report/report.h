/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file report.h
 * @brief Reports on models: texts, tables and JSON.
 */
#ifndef TOOL_REPORT_H
#define TOOL_REPORT_H

#include "shell/tool.h"

/* ---- several outputs (report_outputs.c) ------------------------------------------------------ */

/** Readings and suspected ones of an output. */
typedef struct tool_output {
    size_t readings, suspected;
} tool_output;

/** Whether there is a table of the outputs: of one the heading says it all. */
bool has_outputs_table(const hf_model *model);
/** Names of the outputs; a new reference. */
json_t *json_outputs(const hf_model *model);
/** Adds to the JSON of a model what there is to say about several outputs. */
void json_add_outputs(json_t *object, const hf_model *model, const hf_table *suspects);
/** "y1, y2 and y3"; cut when there are many. `buffer` is returned. */
const char *outputs_in_words(const hf_model *model, char *buffer, size_t bytes);
/** The outputs as a table, and the covariances between them as correlations. */
void report_outputs(FILE *out, const hf_model *model, const hf_table *suspects);
/** True for parameters that report_outputs() shows. */
bool is_outputs_parameter(const hf_model *model, const hf_parameter *parameter);

/* ---- reports (report_text.c, report_json.c) -------------------------------------------------- */

/** hf_model_suspects(); *out stays NULL for a model that was fitted without holding its rows, and
 * for a classifier. */
hf_status suspects_of(hf_context *ctx, const hf_model *model, hf_table **out);
/** How good a model is, and what it looks at (quality.c). */
typedef struct tool_quality {
    hf_leave_one_out_scores scores; /* model.n is 0 where they are not known */
    double *relevance;              /* of each input; NULL where it is not known */
} tool_quality;
/** hf_model_leave_one_out() and hf_model_relevance(), where the model has rows to tell it from.
 * Free
 * with quality_free() in any case. */
hf_status quality_of(hf_context *ctx, const hf_model *model, tool_quality *out);
void quality_free(tool_quality *quality);
/** The scores as a small table; the inputs in a sentence. Nothing for what is not known. */
void report_scores(FILE *out, const hf_model *model, const tool_quality *quality);
void report_relevance(FILE *out, const hf_model *model, const tool_quality *quality);
/** Adds both to the JSON of a model. */
void json_add_quality(json_t *object, const hf_model *model, const tool_quality *quality);
/** Scores with a key each; a new reference. */
json_t *json_metrics(const hf_metrics *metrics);

/** The report on a model, for people. `suspects` from suspects_of(). */
void report_model(FILE *out, const hf_model *model, const hf_table *suspects,
                  const tool_quality *quality);
/** Parts of it (report_parts.c): solver, training, hyperparameters. */
/** A solver in words: a row for each. */
typedef struct solver_words {
    /** Tells what it did, after its name; NULL: that says it all. */
    void (*tell)(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report);
    const char *smaller; /* what to do about a fit that memory is too small for */
    bool factors;        /* condition and backward error of its factor are told */
} solver_words;
const solver_words *solver_words_of(hf_solver solver);
void report_solver(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report);
void report_training(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report);
void report_parameters(FILE *out, const hf_model *model);
/** For a model with robust readings and one output: the noise variance that training ended with,
 * which weights and posterior follow from, to 1e-12; and that of a new reading, corrected for what
 * down-weighting took away (hf_robust_consistent_noise()). The first is NaN where the correction
 * ends. */
bool trained_noise(const hf_model *model, double *trained, double *observed);
/** The same for machines; a new reference, NULL when out of memory. */
json_t *json_model(const hf_model *model, const hf_table *suspects, const tool_quality *quality);
/* ---- classifiers (class_report.c) ------------------------------------------------------------ */

/** report_model() of a classifier. */
void report_classes(FILE *out, const hf_model *model, const tool_quality *quality);
/** Adds to the JSON of a model what there is to say about classes. */
void json_add_classes(json_t *object, const hf_model *model);
/** Scores and prints. */
hf_status score_classes(tool_session *session, const hf_model *model, const hf_table *table);

#endif
