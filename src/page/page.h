/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page.h
 * @brief Parts of the writer of a model's page. Errors are remembered: after the first one nothing
 * is written.
 */
#ifndef HFI_MODEL_PAGE_H
#define HFI_MODEL_PAGE_H

#include "data/atomic_file.h"
#include "model/model.h"
#include <holdfast/page.h>

typedef struct hfi_page {
    hf_context *ctx;
    const hf_model *model;
    hf_page_parts with;
    hfi_file file;
    hf_status status;
    hf_table *rows; /* hf_model_rows(), or NULL */
    bool scored;    /* `scores` are there */
    hf_leave_one_out_scores scores;
    double *relevance; /* or NULL */
} hfi_page;

/* ---- text (page_text.c) ---- */

/** Text that is HTML already; printf-like. */
void hfi_page_put(hfi_page *page, const char *format, ...) HF_PRINTF(2, 3);
/** Any text, escaped. Bytes that are no UTF-8 and control characters become U+FFFD. */
void hfi_page_words(hfi_page *page, const char *text);
/** A table that scrolls, from its label, for those who hear it, to its first row. `more`:
 * attributes; `heads`: of its columns. */
void hfi_page_table(hfi_page *page, const char *label, const char *more, const char *caption,
                    size_t count, const char *const *heads);
void hfi_page_table_end(hfi_page *page);
/** The heading of a row, which begins with it, and a cell of text. */
void hfi_page_row(hfi_page *page, const char *head);
void hfi_page_text(hfi_page *page, const char *text);
/** A command, as it was typed. */
void hfi_page_command(hfi_page *page, const char *command, const char *more);
/** A cell with a number of so many digits, "-" for NaN. */
void hfi_page_cell(hfi_page *page, double value, int digits);

/* ---- pictures (page_plot.c) ---- */

/** A picture of points and lines over one horizontal axis. */
typedef struct hfi_plot {
    const char *title; /* alternative text, with the names; escaped when written */
    const char *x_name, *y_name;
    double x_low, x_high, y_low, y_high;
} hfi_plot;

void hfi_plot_begin(hfi_page *page, const hfi_plot *plot);
/** A line through n points, and a band between two. */
void hfi_plot_line(hfi_page *page, const hfi_plot *plot, const char *kind, size_t n,
                   const double *x, const double *y);
void hfi_plot_band(hfi_page *page, const hfi_plot *plot, size_t n, const double *x,
                   const double *low, const double *high);
/** A reading: a dot, or set aside a cross. */
void hfi_plot_point(hfi_page *page, const hfi_plot *plot, double x, double y, bool aside);
void hfi_plot_end(hfi_page *page);
/** Makes room beyond a value; both ends NaN at first. */
void hfi_plot_reach(double value, double *low, double *high);

/* ---- parts ---- */

/** A part has its heading and an entry above; `shown` NULL: always. */
typedef struct hfi_page_section {
    const char *id, *entry, *title;
    void (*write)(hfi_page *page);
    bool (*shown)(const hfi_page *page);
} hfi_page_section;
/** From the first line of the page to the entries of its parts, `write` of the last one NULL; and
 * its last lines (page_text.c). */
void hfi_page_begin(hfi_page *page, const hfi_page_section *sections);
void hfi_page_finish(hfi_page *page);

void hfi_page_fit(hfi_page *page);
void hfi_page_data(hfi_page *page);
void hfi_page_trust(hfi_page *page);
void hfi_page_aside(hfi_page *page);
void hfi_page_inputs(hfi_page *page);
void hfi_page_certificates(hfi_page *page);
void hfi_page_study(hfi_page *page);
void hfi_page_parameters(hfi_page *page);
void hfi_page_again(hfi_page *page);

/** Certificates that are not of the model are refused (page_certificates.c). */
hf_status hfi_page_check_certificates(hf_context *ctx, const hf_model *model,
                                      const hf_table *certificates);

/** Numbers of a column of page->rows; NULL if there is none. */
const double *hfi_page_column(const hfi_page *page, const char *name);

#endif
