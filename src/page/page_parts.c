/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a page that are words and tables. */
#include "page/page.h"

#include <holdfast/enums.h>
#include <holdfast/settings.h>
#include <holdfast/version.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

const double *hfi_page_column(const hfi_page *page, const char *name)
{
    const size_t column = page->rows != NULL ? hfi_column_named(page->rows, name) : SIZE_MAX;
    const double *numbers = NULL;
    if (column == SIZE_MAX || !hf_table_is_numeric(page->rows, column)) return NULL;
    return hf_table_numbers(page->ctx, page->rows, column, &numbers) < 0 ? NULL : numbers;
}

/* ---- the fit -------------------------------------------------------------------------------------------- */

static void fit_verdict(hfi_page *page)
{
    const hf_fit_report *r = &page->model->report;
    if (!hf_model_can(page->model, HF_ABILITY_SUSPECTS)) return;
    if (r->suspects == 0)
        hfi_page_put(page, "<p>No reading was doubted.</p>\n");
    else if (r->suspects_adopted)
        hfi_page_put(page,
                     "<p><strong>%zu of %zu readings were set aside</strong>: the others say something else. "
                     "<a href=\"#aside\">They are listed below.</a></p>\n",
                     r->suspects, r->readings);
    else
        hfi_page_put(
            page,
            "<p>%zu of %zu readings are doubted, but all of them count: predictions would not clearly "
            "be better without. <a href=\"#aside\">They are listed below.</a></p>\n",
            r->suspects, r->readings);
    if (r->suspects_undecided) hfi_page_put(page, "<p>That verdict was close.</p>\n");
}

void hfi_page_fit(hfi_page *page)
{
    const hf_model *model = page->model;
    const hf_fit_report *r = &model->report;
    hfi_page_put(page, "<p>A Gaussian process with the kernel <code>");
    hfi_page_words(page, hf_kernel_expression(model->posterior->kernel));
    hfi_page_put(page, "</code> was fitted to %zu readings from ", r->readings);
    hfi_page_words(page, model->source);
    hfi_page_put(page, ", with %zu input%s, by the %s solver, in %.3g seconds. It ended because: %s.</p>\n",
                 model->d, model->d == 1 ? "" : "s", hf_enum_name(HF_ENUM_SOLVER, r->solver), r->seconds,
                 hf_enum_name(HF_ENUM_STOP, r->stop));
    fit_verdict(page);
    if (r->jitter > 0.0)
        hfi_page_put(page, "<p>The matrix needed %.2g on its diagonal to be factored (jitter).</p>\n",
                     r->jitter);
    if (r->at_bound > 0) {
        hfi_page_put(page, "<p>Hyperparameters that ended at a bound: ");
        hfi_page_words(page, r->at_bound_names);
        hfi_page_put(page, ".</p>\n");
    }
    if (model->notes > 0) hfi_page_put(page, "<h3>Remarks</h3><ul>\n");
    for (size_t i = 0; i < model->notes; i++) {
        hfi_page_put(page, "<li>");
        hfi_page_words(page, model->note[i]);
        hfi_page_put(page, "</li>\n");
    }
    if (model->notes > 0) hfi_page_put(page, "</ul>\n");
}

/* ---- the data ------------------------------------------------------------------------------------------- */

/* `output` SIZE_MAX: of all rows, else of the readings of that output. */
static void summary_row(hfi_page *page, const char *name, const double *values, size_t stride, size_t output)
{
    const hf_model *model = page->model;
    double low = NAN, high = NAN, mean = 0.0, square = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < model->n; i++) {
        const double v = values[i * stride];
        if (isnan(v) || (output != SIZE_MAX && hfi_model_output_of(model, i) != output)) continue;
        hfi_plot_reach(v, &low, &high);
        count++;
        const double step = v - mean;
        mean += step / (double)count;
        square += step * (v - mean);
    }
    hfi_page_row(page, name);
    hfi_page_put(page, "<td>%zu</td>", count);
    hfi_page_cell(page, low, 5);
    hfi_page_cell(page, count > 0 ? mean : NAN, 5);
    hfi_page_cell(page, high, 5);
    hfi_page_cell(page, count > 1 ? sqrt(square / (double)(count - 1)) : NAN, 4);
    hfi_page_put(page, "</tr>\n");
}

void hfi_page_data(hfi_page *page)
{
    const hf_model *model = page->model;
    if (hf_model_skipped(model) > 0)
        hfi_page_put(page, "<p>%zu rows were left out because an input was missing.</p>\n",
                     hf_model_skipped(model));
    if (model->x == NULL || model->n == 0) {
        hfi_page_put(page, "<p>The model was fitted without holding its rows, and cannot tell.</p>\n");
        return;
    }
    static const char *const heads[] = {"column", "values", "least", "mean", "largest", "sd"};
    hfi_page_table(
        page, "Summary of the data", "",
        model->outputs > 1
            ? "Columns as the model sees them, those of inputs for each reading: dates are counted "
              "from the first one, texts are 1 and 0"
            : "Columns as the model sees them: dates are counted from the first one, texts are 1 and 0",
        6, heads);
    if (model->classifier) {
        for (size_t c = 0; c < model->classes; c++) {
            hfi_page_put(page, "<tr><th scope=\"row\">class ");
            hfi_page_words(page, model->class_name[c]);
            hfi_page_put(page, "</th><td>%zu</td><td></td><td></td><td></td><td></td></tr>\n",
                         model->class_count[c]);
        }
    } else {
        for (size_t t = 0; t < model->outputs; t++)
            summary_row(page, hf_model_output(model, t), model->y, 1, t);
    }
    for (size_t j = 0; j < model->d; j++)
        summary_row(page, model->feature[j], model->x + j, model->width, SIZE_MAX);
    hfi_page_table_end(page);
}

/* ---- trust ---------------------------------------------------------------------------------------------- */

static void score_row(hfi_page *page, const char *name, const hf_metrics *m, double r2)
{
    if (m->n == 0) return;
    hfi_page_put(page, "<tr><th scope=\"row\">%s</th><td>%zu</td>", name, m->n);
    hfi_page_cell(page, m->rmse, 4);
    hfi_page_cell(page, m->mae, 4);
    hfi_page_cell(page, r2, 3);
    hfi_page_cell(page, m->nlpd, 4);
    hfi_page_cell(page, m->coverage50, 2);
    hfi_page_cell(page, m->coverage90, 2);
    hfi_page_cell(page, m->coverage95, 2);
    hfi_page_put(page, "</tr>\n");
}

/* Coverage of n intervals that should hold with probability 0.9 is off by chance by less than this, nearly always. */
static double chance(size_t n)
{
    return 3.0 * sqrt(0.9 * 0.1 / (double)n);
}

static void say_coverage(hfi_page *page, const char *of, const hf_metrics *m)
{
    if (m->n == 0) return;
    const double off = m->coverage90 - 0.9;
    const char *verdict = fabs(off) <= chance(m->n) ? "about as many as should be"
                          : off < 0.0               ? "fewer than should be: the model is too sure of itself"
                                      : "more than should be: the intervals are wider than needed";
    hfi_page_put(page, "<p>%s, %.0f %% of %zu readings lie inside of their 90 %% interval: %s.</p>\n", of,
                 100.0 * m->coverage90, m->n, verdict);
}

static void trust_scores(hfi_page *page)
{
    hf_metrics test = {0};
    if (page->with.test != NULL) {
        const hf_status status = hf_score(page->ctx, page->model, page->with.test, &test);
        if (status < 0) page->status = status;
    }
    if (page->scored) say_coverage(page, "Predicted from the other readings", &page->scores.model);
    say_coverage(page, "In the test table", &test);
    if (!page->scored && test.n == 0) {
        hfi_page_put(page,
                     "<p>The model keeps no rows that it could be tested with; give a test table.</p>\n");
        return;
    }
    static const char *const heads[] = {"predicted", "readings", "RMSE", "MAE", "R2",
                                        "NLPD",      "50 %",     "90 %", "95 %"};
    hfi_page_table(page, "Scores", "", "Errors, and the share of readings inside of central intervals", 9,
                   heads);
    if (page->scored) {
        score_row(page, "each from the others", &page->scores.model, page->scores.model_r2);
        score_row(page, "the same by a plain Gaussian process", &page->scores.plain, page->scores.plain_r2);
        score_row(page, "the same by the mean of the others", &page->scores.mean, 0.0);
    }
    score_row(page, "test table", &test, NAN);
    hfi_page_table_end(page);
    hfi_page_put(
        page,
        "<p>RMSE and MAE are in units of the %s; R2 is the share of the "
        "squared error of the mean that is saved; NLPD is the mean negative log density. "
        "Hyperparameters were learnt from all readings, so that new rows are predicted a little worse "
        "than each from the others.</p>\n",
        page->model->outputs > 1 ? "outputs' scales" : "target");
}

static void trust_classes(hfi_page *page)
{
    enum {
        BINS = 10
    };
    hf_calibration_bin bin[BINS];
    hf_class_metrics m;
    if (page->with.test == NULL) {
        hfi_page_put(page,
                     "<p>Labels are not predicted one from the others; give a test table to see how far the "
                     "classifier can be trusted.</p>\n");
        return;
    }
    const hf_status status = hf_score_classes(page->ctx, page->model, page->with.test, BINS, bin, &m);
    if (status < 0) {
        page->status = status;
        return;
    }
    hfi_page_put(
        page,
        "<p>In the test table, %.1f %% of %zu labels are right; the mean negative log probability is "
        "%.3g. Probabilities are off by %.3g on average (calibration error).</p>\n",
        100.0 * m.accuracy, m.n, m.nlpd, m.calibration_error);
    static const char *const heads[] = {"said", "right", "rows"};
    hfi_page_table(page, "Calibration", "", "Rows by their largest probability", 3, heads);
    for (size_t k = 0; k < BINS; k++)
        if (bin[k].n > 0)
            hfi_page_put(page, "<tr><th scope=\"row\">%.2f</th><td>%.2f</td><td>%zu</td></tr>\n",
                         bin[k].confidence, bin[k].accuracy, bin[k].n);
    hfi_page_table_end(page);
}

void hfi_page_trust(hfi_page *page)
{
    if (hf_model_can(page->model, HF_ABILITY_CLASS_SCORES))
        trust_classes(page);
    else
        trust_scores(page);
}

/* ---- doubted readings ----------------------------------------------------------------------------------- */

static void aside_rows(hfi_page *page, const double *suspected)
{
    const double *row = hfi_page_column(page, "row"), *y = hfi_page_column(page, "y"),
                 *mean = hfi_page_column(page, "loo_mean"), *sd = hfi_page_column(page, "loo_sd"),
                 *weight = hfi_page_column(page, "weight"), *output = hfi_page_column(page, "output");
    if (row == NULL || y == NULL || mean == NULL || sd == NULL || weight == NULL) return;
    static const char *const heads[] = {"row",    "reading", "the others say", "sd", "off by so many sd",
                                        "weight", "output"};
    hfi_page_table(
        page, "Doubted readings", " data-sort",
        "Rows are counted from 1, without the header; weight 0 is set aside, 1 counts as the others",
        output != NULL ? 7 : 6, heads);
    for (size_t i = 0; i < hf_table_rows(page->rows); i++) {
        if (!(suspected[i] > 0.0)) continue;
        hfi_page_put(page, "<tr><th scope=\"row\">%.0f</th>", row[i]);
        hfi_page_cell(page, y[i], 6);
        hfi_page_cell(page, mean[i], 6);
        hfi_page_cell(page, sd[i], 3);
        hfi_page_cell(page, (y[i] - mean[i]) / sd[i], 3);
        hfi_page_cell(page, weight[i], 3);
        if (output != NULL && output[i] < (double)page->model->outputs)
            hfi_page_text(page, hf_model_output(page->model, (size_t)output[i]));
        hfi_page_put(page, "</tr>\n");
    }
    hfi_page_table_end(page);
}

void hfi_page_aside(hfi_page *page)
{
    const double *suspected = hfi_page_column(page, "suspected");
    size_t count = 0;
    for (size_t i = 0; suspected != NULL && i < hf_table_rows(page->rows); i++) count += suspected[i] > 0.0;
    if (suspected == NULL)
        hfi_page_put(page, "<p>This kind of model doubts no single reading.</p>\n");
    else if (count == 0)
        hfi_page_put(page, "<p>There are none.</p>\n");
    else
        aside_rows(page, suspected);
}

/* ---- inputs --------------------------------------------------------------------------------------------- */

void hfi_page_inputs(hfi_page *page)
{
    const hf_model *model = page->model;
    if (page->relevance == NULL) {
        hfi_page_put(page, "<p>The model cannot tell: it keeps too few rows, or has too many inputs.</p>\n");
        return;
    }
    hfi_page_put(
        page,
        "<p>The share of the variance of what is predicted that each input takes part in, alone or with "
        "others. It is about the model, not the world; of correlated twins each may look less "
        "important than both are.</p>\n");
    static const char *const heads[] = {"input", "share", "as a bar"};
    hfi_page_table(page, "Shares of inputs", " data-sort", "", 3, heads);
    for (size_t j = 0; j < model->d; j++) {
        const double share = page->relevance[j], drawn = share > 1.0 ? 1.0 : share < 0.0 ? 0.0 : share;
        hfi_page_row(page, model->feature[j]);
        hfi_page_put(
            page,
            "<td>%.3f</td><td><svg viewBox=\"0 0 120 12\" style=\"width:120px\" aria-hidden=\"true\">"
            "<rect class=\"bar\" width=\"%.1f\" height=\"12\"/></svg></td></tr>\n",
            share, 120.0 * drawn);
    }
    hfi_page_table_end(page);
}

/* ---- hyperparameters, and how to make it again ---------------------------------------------------------- */

void hfi_page_parameters(hfi_page *page)
{
    static const char *const heads[] = {"name", "value", "held"};
    hfi_page_table(page, "Hyperparameters", "", "In the units of the data", 3, heads);
    for (size_t i = 0; i < hf_model_parameters(page->model) && page->status >= 0; i++) {
        hf_parameter parameter;
        page->status = hf_model_parameter(page->model, i, &parameter);
        if (page->status < 0) break;
        hfi_page_row(page, parameter.name);
        hfi_page_cell(page, parameter.value, 6);
        hfi_page_put(page, "<td>%s</td></tr>\n", parameter.fixed ? "yes" : "no");
    }
    hfi_page_table_end(page);
}

/* Settings as NAME=VALUE, where they are not the default. */
static void changed_settings(hfi_page *page)
{
    const hf_fit_settings *now = &page->model->settings, usual = hf_fit_settings_default();
    char value[512], before[512];
    for (size_t i = 0; i < hf_setting_count(hf_fit_settings_table()); i++) {
        const hf_setting *setting = hf_setting_at(hf_fit_settings_table(), i);
        if (!setting->in_model ||
            hf_settings_get(page->ctx, hf_fit_settings_table(), now, setting->name, sizeof value, value) <
                0 ||
            hf_settings_get(page->ctx, hf_fit_settings_table(), &usual, setting->name, sizeof before,
                            before) < 0 ||
            strcmp(value, before) == 0)
            continue;
        hfi_page_put(page, " <code>%s=", setting->name);
        hfi_page_words(page, value);
        hfi_page_put(page, "</code>");
    }
}

void hfi_page_again(hfi_page *page)
{
    const hf_model *model = page->model;
    uint64_t seed = 0;
    hfi_page_put(page,
                 "<p>The same data, settings and seed give the same model. It was written by Holdfast ");
    hfi_page_words(page, hf_model_library(model));
    if (hf_model_seed(model, &seed)) hfi_page_put(page, ", with the seed %" PRIu64, seed);
    if (hf_model_command(model) != NULL) {
        hfi_page_put(page, ":</p>\n");
        hfi_page_command(page, hf_model_command(model), " -o MODEL.hf");
    } else {
        hfi_page_put(page, ", by a program, with settings other than the default:");
        changed_settings(page);
        hfi_page_put(page, "</p>\n");
    }
    if (page->with.command != NULL) {
        hfi_page_put(page, "<p>This page, by Holdfast %s:</p>\n", hf_version());
        hfi_page_command(page, page->with.command, " -o report.html");
    }
    hfi_page_put(page, "<p>SHA-256 of the training data: <code>%s</code></p>\n", model->checksum);
    if (hf_model_content_checksum(model) != NULL)
        hfi_page_put(page, "<p>SHA-256 of the model: <code>%s</code></p>\n",
                     hf_model_content_checksum(model));
}
