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

HF_BEGIN_DECLS

/**
 * Writes the page: the fit in words, the data, how far to trust the model (leave-one-out and the
 * test table: errors, coverage of intervals), readings set aside, inputs by their share, what is
 * predicted along each input, residuals, hyperparameters, how to make it again. Parts that the
 * model cannot tell are left out with a sentence: a streamed model keeps no rows, a classifier has
 * no residuals.
 * @param test  rows with inputs and target that the model has not seen; NULL: none
 * @param model_file the name of the model's file, for the last part; NULL: not known
 * @param path  written beside it and renamed; "-" for standard output
 * Errors, which leave no file: HF_ERR_ARGUMENT for NULL; for `test` those of hf_score() and
 * hf_score_classes(); HF_ERR_IO, HF_ERR_MEMORY, HF_ERR_CANCELLED. Cost: that of hf_model_rows() and
 * hf_model_relevance(), and 41 predictions for each of at most 12 inputs. Threads may share a
 * model, each with a context of its own.
 */
HF_API hf_status hf_model_report_html(hf_context *ctx, const hf_model *model, const hf_table *test,
                                      const char *model_file, const char *path);

HF_END_DECLS

#endif
