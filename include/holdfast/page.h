/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page.h
 * @brief A model on one page of HTML, for people who were not there when it was fitted.
 *
 * The page needs nothing beside itself: style, pictures (SVG) and the few lines that sort a table
 * are in it. It has a light and a dark side, fits a telephone, prints, and can be read without
 * colours and without a mouse.
 */
#ifndef HOLDFAST_PAGE_H
#define HOLDFAST_PAGE_H

#include <holdfast/model.h>
#include <holdfast/study.h>

HF_BEGIN_DECLS

/** Everything besides the model that a page tells of; {0} for nothing. */
typedef struct hf_page_parts {
    /** Rows with inputs and target that the model has not seen, or NULL. */
    const hf_table *test;
    /** Certificates about the model, or NULL: a row for each, with the members of a line of
     * `holdfast certify --format jsonl` as columns. Names of nested ones are joined by a point:
     * model_sha256, what, command, from.INPUT, to.INPUT, answer.lower and so on; others may be
     * missing. Rows of one command that follow each other make one table. */
    const hf_table *certificates;
    /** Optimisation to show, or NULL. Its surrogate is made where it is not there yet. */
    hf_study *study;
    /** Command for a shell that shows the study; NULL: not known. */
    const char *study_command;
    /** Command for a shell that makes the page, but for its -o; NULL: not known. */
    const char *command;
} hf_page_parts;

/**
 * Writes the page: the fit in words; the data; how far to trust the model (leave-one-out and the
 * test table: errors, coverage of intervals); readings set aside; inputs by their share;
 * predictions along each input; residuals, certificates, the study, hyperparameters; how to make it
 * again (command or settings, version, seed, checksums). Parts that the model cannot tell are left
 * out with a sentence: a streamed model keeps no rows, a classifier has no residuals.
 * @param parts what else it tells; NULL: nothing
 * @param path  written beside it and renamed; "-" for standard output
 *
 * Errors, which leave no file: HF_ERR_ARGUMENT for NULL, and for a certificate whose model_sha256
 * is not that of the model's file, with table, row and both checksums; HF_ERR_NO_COLUMN where
 * certificates have no such column; for `test` those of hf_score() and hf_score_classes(); for
 * `study` those of hf_study_look(); HF_ERR_IO, HF_ERR_MEMORY, HF_ERR_CANCELLED. Cost: that of
 * hf_model_rows() and hf_model_relevance(), and 41 predictions for each of at most 12 inputs.
 * Threads may share a model, each with a context and a study of its own.
 */
HF_API hf_status hf_model_report_html(hf_context *ctx, const hf_model *model,
                                      const hf_page_parts *parts, const char *path);

HF_END_DECLS

#endif
