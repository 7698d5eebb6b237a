/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a fit, in words and small tables. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_SUSPECTS = 15,
    SHOWN_PARAMETERS = 40
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

void report_solver(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report)
{
    const size_t m = report->inducing;
    static const char *const kinds[] = {[HF_ACTIONS_KRYLOV] = "Krylov",
                                        [HF_ACTIONS_INDUCING] = "inducing",
                                        [HF_ACTIONS_BLOCKS] = "block",
                                        [HF_ACTIONS_GIVEN] = "given"};
    const char *kind = kinds[settings->action_kind];
    fprintf(out, "solver       %s", hf_enum_name(HF_ENUM_SOLVER, report->solver));
    if (report->solver == HF_SOLVER_INDUCING) {
        fprintf(out, ", %zu %s input%s, %s", m, settings->train_inducing ? "trained" : "inducing", plural(m),
                hf_enum_name(HF_ENUM_INDUCING_METHOD, settings->inducing_method));
        if (settings->minibatch > 0) fprintf(out, ", %zu rows a step", settings->minibatch);
    }
    if (report->solver == HF_SOLVER_PROJECTED) {
        fprintf(out, ", %zu %s action%s, %zu pass%s%s", report->actions, kind, plural(report->actions),
                report->passes, report->passes == 1 ? "" : "es",
                settings->single_precision ? ", single precision" : "");
        if (isfinite(report->residual)) fprintf(out, ", residual %.2g", report->residual);
        if (m > 0) fprintf(out, "; hyperparameters from %zu inducing input%s", m, plural(m));
    }
    fputc('\n', out);
}

void report_training(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report)
{
    if (!settings->train) {
        fprintf(out, "training     none\n");
        return;
    }
    fprintf(out, "training     %s%s, %s after %zu %s", hf_enum_name(HF_ENUM_OBJECTIVE, settings->objective),
            settings->optimiser == HF_OPTIMISER_ADAM ? " by adam" : "",
            hf_enum_name(HF_ENUM_STOP, report->stop), report->evaluations,
            settings->minibatch > 0 ? "steps" : "evaluations");
    if (isfinite(report->gradient_norm)) fprintf(out, ", gradient %.2g", report->gradient_norm);
    fprintf(out, ", %.2f s\n", report->seconds);
}

static void print_heading(FILE *out, const hf_model *model)
{
    const hf_fit_report *report = hf_model_report(model);
    const hf_fit_settings *settings = hf_model_settings(model);
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
    if (report->solver == HF_SOLVER_EXACT)
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
    const hf_fit_report *report = hf_model_report(model);
    const bool outputs = table_column(NULL, suspects, "output") != NULL;
    const bool plain = hf_model_settings(model)->transform == HF_TRANSFORM_NONE;
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
    const hf_fit_report *report = hf_model_report(model);
    const char *unit = has_outputs_table(model) ? ", units of each output's scale" : "";
    if (!isfinite(report->kept.error) || hf_model_settings(model)->transform != HF_TRANSFORM_NONE) return;
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
    const hf_fit_report *report = hf_model_report(model);
    const hf_fit_settings *settings = hf_model_settings(model);
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

/* ---- hyperparameters
 * --------------------------------------------------------------------------------------- */

static const char *unit_text(hf_unit unit, bool latent)
{
    static const char *const words[][2] = {
        [HF_UNIT_NONE] = {"", ""},
        [HF_UNIT_INPUT] = {"units of the input", "units of the input"},
        [HF_UNIT_FREQUENCY] = {"1 / input", "1 / input"},
        [HF_UNIT_FREQUENCY2] = {"1 / input^2", "1 / input^2"},
        [HF_UNIT_OUTPUT2] = {"target^2", "latent^2"},
        [HF_UNIT_OUTPUT2_INPUT2] = {"target^2 / input^2", "latent^2 / input^2"},
        [HF_UNIT_OUTPUT] = {"units of the target", "latent"},
    };
    return words[unit][latent];
}

/* Latent values have units of their own: those of a link, or logarithms of a rate. */
static bool is_latent(const hf_model *model)
{
    return hf_model_can(model, HF_ABILITY_CLASS_SCORES) ||
           hf_likelihood_has_rate(hf_model_settings(model)->sites);
}

static void print_parameter(FILE *out, const hf_model *model, const hf_parameter *p)
{
    const bool standardised = strcmp(p->name, "noise") == 0 && p->unit == HF_UNIT_NONE;
    /* Slopes of the mean have no name for their units; other numbers have none. */
    const bool slope = p->unit == HF_UNIT_NONE && strncmp(p->name, "mean", 4) == 0;
    const char *link = slope ? "per " : p->unit == HF_UNIT_NONE ? "a pure number: " : ": ";
    say(out, "  %-22s %12.6g  %s", p->name, p->value,
        standardised ? "standardised units" : unit_text(p->unit, is_latent(model)));
    if (p->column < hf_model_features(model)) say(out, "%s%s", link, hf_model_feature(model, p->column));
    if (strcmp(p->name, "noise") == 0) fprintf(out, ", sd %.4g", sqrt(p->value));
    fprintf(out, "%s\n", p->fixed ? "  (held)" : "");
}

/* Hyperparameters that the table of outputs has not; the last one, which may be their common noise, is always shown. */
static void print_other_parameters(FILE *out, const hf_model *model)
{
    const size_t count = hf_model_parameters(model);
    size_t shown = 0, others = 0;
    for (size_t i = 0; i < count; i++) {
        hf_parameter p;
        if (hf_model_parameter(model, i, &p) < 0 || is_outputs_parameter(model, &p)) continue;
        if (shown == SHOWN_PARAMETERS && i + 1 < count) {
            others++;
            continue;
        }
        if (others > 0) fprintf(out, "  and %zu more; --json has all\n", others);
        others = 0;
        print_parameter(out, model, &p);
        shown++;
    }
    if (others > 0) fprintf(out, "  and %zu more; --json has all\n", others);
}

void report_parameters(FILE *out, const hf_model *model)
{
    size_t count = hf_model_parameters(model);
    const hf_transform transform = hf_model_settings(model)->transform;
    fprintf(out, "\nHyperparameters, in the units of the data");
    if (transform != HF_TRANSFORM_NONE)
        fprintf(out, "; the target's are those of its %s", hf_enum_name(HF_ENUM_TRANSFORM, transform));
    fputc('\n', out);
    if (has_outputs_table(model)) {
        print_other_parameters(out, model);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        hf_parameter p;
        if (hf_model_parameter(model, i, &p) < 0) continue;
        /* Mean and noise come last and are always shown. */
        if (i == SHOWN_PARAMETERS && count > SHOWN_PARAMETERS + 2) {
            fprintf(out, "  and %zu more; --json has all\n", count - 2 - i);
            i = count - 3;
            continue;
        }
        print_parameter(out, model, &p);
    }
    double trained, observed;
    if (trained_noise(model, &trained, &observed) && trained != observed)
        fprintf(out,
                "  noise as trained        %.6g (weights and posterior follow from it; \"noise\" is a new "
                "reading's)\n",
                trained);
}

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
