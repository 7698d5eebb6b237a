/* SPDX-License-Identifier: Apache-2.0 */
/* A model on one page: what is asked of it, and the parts with pictures. */
#include "page/page.h"

#include <holdfast/arrays.h>
#include <math.h>
#include <string.h>

enum {
    POINTS = 41, /* along an input */
    MOST_SLICES = 12,
    MOST_INPUTS = 500, /* of more, shares would take long */
    MOST_DOTS = 2000,
    LINES = 4 /* that look different */
};

static const char *const line_kind[LINES] = {"line", "guide", "guide dots", "guide both"};
static const char *const line_name[LINES] = {"full line", "dashed", "dotted", "dashes and dots"};

/* ---- predictions along an input ------------------------------------------------------------------------- */

/* The numbers of one slice: x (rows x width), what is drawn on the axis, and curves. */
typedef struct page_slice {
    size_t curves, width;
    double beside;          /* the exposure or the prior mean of all rows */
    double *x, *at, *curve; /* curves x POINTS: mean, low, high; or probabilities of classes */
    double *raw;            /* as predictions come, row by row */
} page_slice;

static double median_of(double *values, size_t n)
{
    /* Insertion is slow for many rows, and a middle of a thousand tells as much. */
    for (size_t i = 1; i < n; i++) {
        const double v = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1] > v; k--) values[k] = values[k - 1];
        values[k] = v;
    }
    return n > 0 ? values[n / 2] : NAN;
}

/* Medians of the inputs, and that of the exposures or prior means. */
static hf_status middle(hf_context *ctx, const hf_model *model, double *out, double *beside)
{
    const size_t step = model->n / 1000 + 1;
    double *work = hfi_alloc(ctx, model->n / step + 1, sizeof *work);
    if (work == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < model->d; j++) {
        size_t count = 0;
        for (size_t i = 0; i < model->n; i += step) work[count++] = model->x[i * model->width + j];
        out[j] = median_of(work, count);
    }
    if (model->prior != NULL) {
        size_t count = 0;
        for (size_t i = 0; i < model->n; i += step) work[count++] = model->prior[i];
        *beside = median_of(work, count);
    }
    hfi_free(ctx, work);
    return HF_OK;
}

static hf_status predict_slice(hfi_page *page, page_slice *s)
{
    static const double level[2] = {0.025, 0.975};
    const hf_model *model = page->model;
    const bool labels = hf_model_can(model, HF_ABILITY_CLASS_SCORES);
    const size_t columns = labels ? s->curves : model->outputs;
    hf_arrays rows = {.size = sizeof rows, .rows = POINTS, .inputs = model->d};
    rows.x = (hf_view){.at = s->x, .row = (ptrdiff_t)model->d, .column = 1};
    if (hf_model_exposure_column(model) != NULL) rows.exposure = (hf_view){.at = &s->beside};
    if (hf_model_mean_column(model) != NULL) rows.mean = (hf_view){.at = &s->beside};
    hf_predictions wanted = {.size = sizeof wanted};
    if (labels) {
        wanted.probability = s->raw;
    } else {
        wanted.mean = s->raw;
        wanted.quantile = s->raw + POINTS * columns;
        wanted.levels = 2;
        wanted.level = level;
    }
    const hf_status status = hf_model_predict_arrays(page->ctx, model, &rows, &wanted);
    for (size_t k = 0; k < POINTS && status >= 0; k++)
        for (size_t c = 0; c < s->curves; c++)
            s->curve[c * POINTS + k] = labels   ? s->raw[k * columns + c]
                                       : c == 0 ? s->raw[k * columns]
                                                : s->raw[POINTS * columns + k * columns * 2 + (c - 1)];
    return status;
}

/* Which line is which class, and for which exposure or prior mean it is. */
static void slice_notes(hfi_page *page, const page_slice *s)
{
    const hf_model *model = page->model;
    if (hf_model_can(model, HF_ABILITY_CLASS_SCORES)) {
        for (size_t c = 0; c < s->curves && c < LINES; c++) {
            hfi_page_put(page, "%s %s ", c == 0 ? ";" : ",", line_name[c]);
            hfi_page_words(page, model->class_name[c]);
        }
        if (s->curves > LINES) hfi_page_put(page, ", and so on");
    } else if (hf_model_exposure_column(model) != NULL || hf_model_mean_column(model) != NULL) {
        hfi_page_put(page, ", where ");
        hfi_page_words(page, model->mean_column);
        hfi_page_put(page, " is %.4g", s->beside);
    }
}

static void draw_slice(hfi_page *page, const page_slice *s, size_t j)
{
    const bool labels = hf_model_can(page->model, HF_ABILITY_CLASS_SCORES);
    const char *name = page->model->feature[j];
    char title[400];
    hfi_print(title, sizeof title, "%s of %.150s along %.150s",
              labels ? "Probabilities" : "Mean and 95 % interval", page->model->target, name);
    hfi_plot plot = {.title = title,
                     .x_name = name,
                     .x_low = s->at[0],
                     .x_high = s->at[POINTS - 1],
                     .y_low = NAN,
                     .y_high = NAN};
    for (size_t i = 0; i < s->curves * POINTS; i++) hfi_plot_reach(s->curve[i], &plot.y_low, &plot.y_high);
    if (labels) {
        plot.y_low = 0.0;
        plot.y_high = 1.0;
    }
    hfi_plot_begin(page, &plot);
    if (!labels) hfi_plot_band(page, &plot, POINTS, s->at, s->curve + POINTS, s->curve + 2 * (size_t)POINTS);
    for (size_t c = 0; c < (labels ? s->curves : 1); c++)
        hfi_plot_line(page, &plot, line_kind[c % LINES], POINTS, s->at, s->curve + c * POINTS);
    hfi_plot_end(page);
    hfi_page_put(page, "<figcaption>");
    hfi_page_words(page, title);
    slice_notes(page, s);
    hfi_page_put(page, "</figcaption></figure>\n");
}

/* The inputs of the largest shares, the first ones where none are known. */
static size_t next_input(const hfi_page *page, const bool *drawn)
{
    size_t best = SIZE_MAX;
    for (size_t j = 0; j < page->model->d; j++) {
        if (drawn[j]) continue;
        if (best == SIZE_MAX || (page->relevance != NULL && page->relevance[j] > page->relevance[best]))
            best = j;
    }
    return best;
}

static void draw_slices(hfi_page *page, page_slice *s, const double *centre, bool *drawn)
{
    const hf_model *model = page->model;
    for (size_t k = 0; k < MOST_SLICES && k < model->d && page->status >= 0; k++) {
        const size_t j = next_input(page, drawn);
        drawn[j] = true;
        for (size_t i = 0; i < POINTS; i++) {
            const double share = (double)i / (POINTS - 1);
            memcpy(s->x + i * model->d, centre, model->d * sizeof *centre);
            s->at[i] = s->x[i * model->d + j] = (1.0 - share) * model->low[j] + share * model->high[j];
        }
        const hf_status status = predict_slice(page, s);
        if (status < 0)
            page->status = status;
        else
            draw_slice(page, s, j);
    }
}

static void write_slices(hfi_page *page)
{
    const hf_model *model = page->model;
    if (model->low == NULL || model->n == 0) {
        hfi_page_put(page,
                     "<p>The model was fitted without holding its rows: there is no range to draw.</p>\n");
        return;
    }
    const bool labels = hf_model_can(model, HF_ABILITY_CLASS_SCORES);
    page_slice s = {.curves = labels ? model->classes : 3,
                    .beside = hf_model_mean_column(model) != NULL ? 0.0 : 1.0};
    const size_t room =
        POINTS * (model->d + 1 + s.curves + (labels ? model->classes : 3 * model->outputs)) + model->d;
    bool *drawn = hfi_alloc(page->ctx, model->d, sizeof *drawn);
    s.x = hfi_alloc(page->ctx, room, sizeof *s.x);
    if (drawn == NULL || s.x == NULL) {
        page->status = HF_ERR_MEMORY;
    } else {
        s.at = s.x + POINTS * model->d;
        s.curve = s.at + POINTS;
        s.raw = s.curve + s.curves * POINTS;
        double *centre = s.x + room - model->d;
        const hf_status status = middle(page->ctx, model, centre, &s.beside);
        if (status < 0) page->status = status;
        hfi_page_put(
            page,
            "<p>One input moves, the others stay at their medians; at most %d inputs, by their share.%s</p>\n"
            "<div class=\"grid\">\n",
            (int)MOST_SLICES, model->outputs > 1 ? " Of the outputs the first is drawn." : "");
        draw_slices(page, &s, centre, drawn);
        hfi_page_put(page, "</div>\n");
    }
    HFI_FREE(page->ctx, drawn, s.x);
}

/* ---- residuals ------------------------------------------------------------------------------------------ */

static void write_residuals(hfi_page *page)
{
    const double *y = hfi_page_column(page, "y"), *mean = hfi_page_column(page, "loo_mean"),
                 *sd = hfi_page_column(page, "loo_sd"), *weight = hfi_page_column(page, "weight");
    if (y == NULL || mean == NULL || sd == NULL || weight == NULL) {
        hfi_page_put(page,
                     "<p>Predictions of single readings from the others are not known for this model.</p>\n");
        return;
    }
    const size_t n = hf_table_rows(page->rows), step = n / MOST_DOTS + 1;
    hfi_plot plot = {.title = "Residuals, in standard deviations, over what the others predict",
                     .x_name = "predicted from the others",
                     .x_low = NAN,
                     .x_high = NAN,
                     .y_low = -3.0,
                     .y_high = 3.0};
    for (size_t i = 0; i < n; i += step) {
        hfi_plot_reach(mean[i], &plot.x_low, &plot.x_high);
        hfi_plot_reach((y[i] - mean[i]) / sd[i], &plot.y_low, &plot.y_high);
    }
    if (isnan(plot.x_low)) plot.x_low = plot.x_high = 0.0;
    const double ends[2] = {plot.x_low, plot.x_high}, low[2] = {-1.959963984540054, -1.959963984540054},
                 high[2] = {1.959963984540054, 1.959963984540054}, zero[2] = {0.0, 0.0};
    hfi_plot_begin(page, &plot);
    hfi_plot_band(page, &plot, 2, ends, low, high);
    hfi_plot_line(page, &plot, "guide", 2, ends, zero);
    for (size_t i = 0; i < n; i += step)
        hfi_plot_point(page, &plot, mean[i], (y[i] - mean[i]) / sd[i], weight[i] < 0.25);
    hfi_plot_end(page);
    hfi_page_put(
        page,
        "<figcaption>Each reading less what the others predict, in standard deviations%s. The band holds 95 "
        "%% of them if the model is right; crosses were set aside.</figcaption></figure>\n",
        step > 1 ? "; not all readings are drawn" : "");
}

/* ---- the whole ------------------------------------------------------------------------------------------ */

/* A model cannot tell all: that is no error. */
static hf_status where_known(hf_status status)
{
    return status == HF_ERR_NO_DATA || status == HF_ERR_NOT_FINITE ? HF_OK : status;
}

static hf_status compute_page_results(hf_context *ctx, hfi_page *page)
{
    const hf_model *model = page->model;
    hf_status status = where_known(hf_model_rows(ctx, model, &page->rows));
    if (status >= 0 && hf_model_can(model, HF_ABILITY_SCORES)) {
        status = hf_model_leave_one_out(ctx, model, &page->scores);
        page->scored = status >= 0;
        status = where_known(status);
    }
    if (status < 0 || model->d > MOST_INPUTS) return status;
    page->relevance = hfi_alloc(ctx, model->d, sizeof *page->relevance);
    if (page->relevance == NULL) return HF_ERR_MEMORY;
    status = hf_model_relevance(ctx, model, page->relevance);
    if (status < 0) {
        hfi_free(ctx, page->relevance);
        page->relevance = NULL;
    }
    return where_known(status);
}

static bool has_certificates(const hfi_page *page)
{
    return page->with.certificates != NULL;
}

static bool has_study(const hfi_page *page)
{
    return page->with.study != NULL;
}

/* The parts in their order. */
static const hfi_page_section sections[] = {
    {"fit", "The fit", "The fit", hfi_page_fit, NULL},
    {"data", "Data", "Data", hfi_page_data, NULL},
    {"trust", "Trust", "How far to trust it", hfi_page_trust, NULL},
    {"aside", "Doubted readings", "Doubted readings", hfi_page_aside, NULL},
    {"inputs", "Inputs", "Which inputs matter", hfi_page_inputs, NULL},
    {"slices", "Predictions", "What is predicted along each input", write_slices, NULL},
    {"residuals", "Residuals", "Residuals", write_residuals, NULL},
    {"certificates", "Certificates", "What surely holds", hfi_page_certificates, has_certificates},
    {"study", "Study", "The study", hfi_page_study, has_study},
    {"parameters", "Hyperparameters", "Hyperparameters", hfi_page_parameters, NULL},
    {"again", "Make it again", "How to make it again", hfi_page_again, NULL},
    {0}};

static void write_parts(hfi_page *page)
{
    hfi_page_begin(page, sections);
    for (const hfi_page_section *part = sections; part->write != NULL && page->status >= 0; part++) {
        if (part->shown != NULL && !part->shown(page)) continue;
        hfi_page_put(page, "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s</h2>\n", part->id, part->id,
                     part->title);
        part->write(page);
        hfi_page_put(page, "</section>\n");
    }
    hfi_page_finish(page);
}

hf_status hf_model_report_html(hf_context *ctx, const hf_model *model, const hf_page_parts *parts,
                               const char *path)
{
    if (ctx == NULL || model == NULL || path == NULL)
        return hfi_refuse(ctx, "hf_model_report_html: context, model and path must not be NULL");
    hfi_page page = {.ctx = ctx, .model = model};
    if (parts != NULL) page.with = *parts;
    hf_status status = hfi_page_check_certificates(ctx, model, page.with.certificates);
    if (status >= 0) status = compute_page_results(ctx, &page);
    if (status >= 0) {
        page.status = hfi_file_begin(ctx, path, &page.file);
        if (page.status >= 0) write_parts(&page);
        if (page.status >= 0) page.status = hfi_file_commit(ctx, &page.file);
        hfi_file_abort(&page.file);
        status = page.status;
    }
    hf_table_free(page.rows);
    hfi_free(ctx, page.relevance);
    return status;
}
