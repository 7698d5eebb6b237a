/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a fit, in words and small tables. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>

enum {
    SHOWN_SUSPECTS = 15
};

/* ---- heading --------------------------------------------------------------------------------- */

static void print_sites(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report)
{
    fprintf(out, "sites        %s", hf_enum_name(HF_ENUM_LIKELIHOOD, settings->sites));
    switch (settings->sites) {
    case HF_LIKELIHOOD_GAUSSIAN:
        fprintf(out, ", suspects %s", hf_enum_name(HF_ENUM_OUTLIERS, settings->suspects));
        break;
    case HF_LIKELIHOOD_ROBUST:
        fprintf(out, ", centre %s", hf_enum_name(HF_ENUM_CENTRE, settings->centre));
        if (settings->centre == HF_CENTRE_CONDITIONAL)
            fprintf(out, ", weights by %s", hf_enum_name(HF_ENUM_OUTPUTS_WEIGHTING, settings->weighting));
        else
            fprintf(out, ", threshold %.4g", report->threshold);
        if (settings->beta > 0) fprintf(out, ", beta %.4g", settings->beta);
        for (size_t t = 0; t < settings->output_beta_count; t++)
            fprintf(out, "%s%.4g", t == 0 ? ", beta " : ", ", settings->output_beta[t]);
        break;
    default: /* labels have report_classes() */
        if (isfinite(report->nu) || hf_likelihood_has_rate(settings->sites))
            fprintf(out, ", %s", hf_enum_name(HF_ENUM_INFERENCE, settings->inference));
        if (isfinite(report->nu))
            fprintf(out, ", %.3g degrees of freedom%s", report->nu,
                    settings->student_nu > 0 ? "" : " (trained)");
        break;
    }
    fputc('\n', out);
}

static void print_heading(FILE *out, const hf_model *model)
{
    const hf_fit_report *report = hf_model_report_of(model);
    const hf_fit_settings *settings = hf_model_settings_of(model);
    char names[256];
    say(out, "%s from %zu input%s: %zu reading%s of %s", outputs_in_words(model, names, sizeof names),
        hf_model_features(model), plural(hf_model_features(model)), report->readings,
        plural(report->readings), hf_model_source(model));
    if (report->missing > 0)
        fprintf(out, has_outputs_table(model) ? ", %zu not taken" : ", %zu more without a target",
                report->missing);
    if (hf_model_skipped(model) > 0) fprintf(out, ", %zu more with a missing input", hf_model_skipped(model));
    say(out, "\n\nkernel       %s\nmean         %s\n", settings->kernel,
        hf_enum_name(HF_ENUM_MEAN_KIND, settings->mean));
    if (hf_model_mean_column(model) != NULL)
        say(out, "             of the target less column %s\n", hf_model_mean_column(model));
    if (hf_model_exposure_column(model) != NULL)
        say(out, "exposure     column %s; latent values are of the logarithm of the rate\n",
            hf_model_exposure_column(model));
    if (settings->transform != HF_TRANSFORM_NONE)
        fprintf(out, "transform    %s of the target\n", hf_enum_name(HF_ENUM_TRANSFORM, settings->transform));
    print_sites(out, settings, report);
    report_solver(out, settings, report);
    if (hf_model_noise_column(model) != NULL)
        say(out, "noise        known part from column %s\n", hf_model_noise_column(model));
    report_training(out, settings, report);
    fprintf(out, "objective    %.6g\n", report->objective);
    if (solver_words_of(report->solver)->factors)
        fprintf(out, "numerics     condition %.2g, jitter %.3g, backward error %.2g\n", report->condition,
                report->jitter, report->backward);
    else
        fprintf(out, "numerics     jitter %.3g\n", report->jitter);
    if (report->calibration > 1.0)
        fprintf(out, "calibration  observed variances times %.3g, from leave-one-out residuals\n",
                report->calibration);
}

/* ---- suspects -------------------------------------------------------------------------------- */

/* The columns of hf_model_suspects() in the order of this list. */
enum {
    ROW,
    READING,
    EXPECTED,
    SD,
    WEIGHT,
    GROUP,
    OUTPUT,   /* of several outputs only */
    RESIDUAL, /* of a transformed target only, whose median is expected */
    SUSPECT_COLUMNS
};

static bool suspect_columns(const hf_table *suspects, bool outputs, bool plain,
                            const double *columns[SUSPECT_COLUMNS])
{
    const char *const names[SUSPECT_COLUMNS] = {
        "row", "y", plain ? "loo_mean" : "loo_median", "loo_sd", "weight", "group", "output", "loo_residual"};
    for (size_t k = 0; k < SUSPECT_COLUMNS; k++) {
        if ((k == OUTPUT && !outputs) || (k == RESIDUAL && plain)) continue;
        columns[k] = table_column(NULL, suspects, names[k]);
        if (columns[k] == NULL) return false;
    }
    return true;
}

static void print_suspect_rows(FILE *out, const hf_model *model, const hf_table *suspects)
{
    const hf_fit_report *report = hf_model_report_of(model);
    const bool outputs = table_column(NULL, suspects, "output") != NULL;
    const bool plain = hf_model_settings_of(model)->transform == HF_TRANSFORM_NONE;
    const double *columns[SUSPECT_COLUMNS];
    const double *line = table_column(NULL, suspects, "line"); /* of the file, where that is at hand */
    size_t count = hf_table_rows(suspects);
    ranked *order = calloc(count, sizeof *order);
    if (order == NULL || !suspect_columns(suspects, outputs, plain, columns)) {
        free(order);
        return;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = (ranked){plain ? fabs(columns[READING][i] - columns[EXPECTED][i]) / columns[SD][i]
                                  : fabs(columns[RESIDUAL][i]),
                            i};
    qsort(order, count, sizeof *order, largest_first);
    fprintf(out, "%s  %8s  %12s  %12s  %10s  %8s%s%s\n", line != NULL ? "      line" : "", "row", "reading",
            "expected", "sd", "weight", report->groups > 0 ? "   group" : "", outputs ? "  output" : "");
    for (size_t k = 0; k < count && k < SHOWN_SUSPECTS; k++) {
        size_t i = order[k].index;
        if (line != NULL) fprintf(out, "  %8.0f", line[i]);
        fprintf(out, "  %8.0f  %12.6g  %12.6g  %10.4g  %8.3g", columns[ROW][i], columns[READING][i],
                columns[EXPECTED][i], columns[SD][i], columns[WEIGHT][i]);
        if (columns[GROUP][i] > 0)
            fprintf(out, "  %6.0f", columns[GROUP][i]);
        else if (outputs && report->groups > 0)
            fprintf(out, "  %6s", "");
        if (outputs) say(out, "  %s", hf_model_output(model, (size_t)columns[OUTPUT][i]));
        fputc('\n', out);
    }
    if (count > SHOWN_SUSPECTS)
        fprintf(out, "  and %zu more; holdfast inspect --rows lists all readings\n", count - SHOWN_SUSPECTS);
    free(order);
}

/* Why they are set aside, or not. */
static void print_verdict(FILE *out, const hf_fit_report *report)
{
    const bool adopted = report->suspects_adopted;
    fprintf(out, ", %s%s: ", report->suspects_undecided ? "undecided, " : "", adopted ? "set aside" : "kept");
    if (isfinite(report->chance) && report->groups == 0) {
        if (report->chance >= 1.0)
            fprintf(out, "every table like it has such a reading by chance\n");
        else if (report->chance >= 1e-6)
            fprintf(out, "one table in %.0f has such a reading by chance\n", 1.0 / report->chance);
        else
            fprintf(out, "less than one table in a million has such a reading by chance\n");
    } else if (adopted && isnan(report->benefit)) {
        fprintf(out, "%s\n",
                report->groups > 0 ? "together they contradict the others"
                                   : "no tail of the others could reach so far");
    } else if (adopted) {
        fprintf(out, "the others are predicted better without them (CRPS ratio %.2f, gain %.0f nats)\n",
                report->benefit, report->gain);
    } else {
        fprintf(out, "setting them aside would not clearly pay\n");
    }
}

/* Both sides of the verdict: the others' predictions with the suspects and without. */
static void print_sides(FILE *out, const hf_model *model)
{
    const hf_fit_report *report = hf_model_report_of(model);
    const char *unit = has_outputs_table(model) ? ", units of each output's scale" : "";
    if (!isfinite(report->kept.error) || hf_model_settings_of(model)->transform != HF_TRANSFORM_NONE) return;
    fprintf(out,
            "The others are predicted with mean error %.3g (sd %.3g) with them, %.3g (sd %.3g) without%s\n",
            report->kept.error, report->kept.sd, report->set_aside.error, report->set_aside.sd, unit);
    if (report->suspects_adopted && report->suspects_undecided)
        fprintf(out, "Near the limit: --suspects off keeps them\n");
    if (!report->suspects_adopted)
        fprintf(out, "%s--suspects force sets them aside\n",
                report->suspects_undecided ? "Near the limit: " : "");
}

static void print_suspects(FILE *out, const hf_model *model, const hf_table *suspects)
{
    const hf_fit_report *report = hf_model_report_of(model);
    const hf_fit_settings *settings = hf_model_settings_of(model);
    const size_t count = suspects != NULL ? hf_table_rows(suspects) : report->suspects;
    if (count == 0) {
        const bool judged =
            settings->sites != HF_LIKELIHOOD_GAUSSIAN && !hf_likelihood_has_rate(settings->sites);
        if (judged || settings->suspects != HF_OUTLIERS_OFF) fprintf(out, "\nSuspected readings: none\n");
        return;
    }
    fprintf(out, "\nSuspected readings: %zu of %zu", count, report->readings);
    if (report->groups > 0) fprintf(out, " (%zu group%s)", report->groups, plural(report->groups));
    if (settings->sites != HF_LIKELIHOOD_GAUSSIAN) {
        fprintf(out, ", weight below 1/4\n");
    } else {
        print_verdict(out, report);
        print_sides(out, model);
    }
    if (suspects != NULL) print_suspect_rows(out, model, suspects);
}

/* ---- the report ------------------------------------------------------------------------------ */

void report_model(FILE *out, const hf_model *model, const hf_table *suspects, const tool_quality *quality)
{
    if (hf_model_can(model, HF_ABILITY_CLASS_SCORES)) {
        report_classes(out, model, quality);
        return;
    }
    print_heading(out, model);
    print_suspects(out, model, suspects);
    report_scores(out, model, quality);
    report_relevance(out, model, quality);
    if (has_outputs_table(model)) report_outputs(out, model, suspects);
    report_parameters(out, model);
}
