/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of reports that all models have: solver, training, hyperparameters. */
#include "report/report.h"

#include <math.h>
#include <string.h>

enum {
    SHOWN_PARAMETERS = 40
};

/* ---- solvers --------------------------------------------------------------------------------- */

static void tell_inducing(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report)
{
    const size_t m = report->inducing;
    fprintf(out, ", %zu %s input%s, %s", m, settings->train_inducing ? "trained" : "inducing", plural(m),
            hf_enum_name(HF_ENUM_INDUCING_METHOD, settings->inducing_method));
    if (settings->minibatch > 0) fprintf(out, ", %zu rows a step", settings->minibatch);
}

static void tell_projected(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report)
{
    static const char *const kinds[] = {[HF_ACTIONS_KRYLOV] = "Krylov",
                                        [HF_ACTIONS_INDUCING] = "inducing",
                                        [HF_ACTIONS_BLOCKS] = "block",
                                        [HF_ACTIONS_GIVEN] = "given"};
    const size_t m = report->inducing;
    fprintf(out, ", %zu %s action%s, %zu pass%s%s", report->actions, kinds[settings->action_kind],
            plural(report->actions), report->passes, report->passes == 1 ? "" : "es",
            settings->single_precision ? ", single precision" : "");
    if (isfinite(report->residual)) fprintf(out, ", residual %.2g", report->residual);
    if (m > 0) fprintf(out, "; hyperparameters from %zu inducing input%s", m, plural(m));
}

const solver_words *solver_words_of(hf_solver solver)
{
    static const char other[] = "use --solver inducing";
    static const solver_words rows[] = {
        [HF_SOLVER_AUTO] = {.smaller = other},
        [HF_SOLVER_EXACT] = {.smaller = other, .factors = true},
        [HF_SOLVER_INDUCING] = {.tell = tell_inducing,
                                .smaller = "use fewer inducing inputs, or --minibatch"},
        [HF_SOLVER_PROJECTED] = {.tell = tell_projected, .smaller = other}};
    return &rows[solver];
}

void report_solver(FILE *out, const hf_fit_settings *settings, const hf_fit_report *report)
{
    const solver_words *words = solver_words_of(report->solver);
    fprintf(out, "solver       %s", hf_enum_name(HF_ENUM_SOLVER, report->solver));
    if (words->tell != NULL) words->tell(out, settings, report);
    fputc('\n', out);
}

/* ---- training -------------------------------------------------------------------------------- */

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

/* ---- hyperparameters ------------------------------------------------------------------------- */

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
           hf_likelihood_has_rate(hf_model_settings_of(model)->sites);
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
    const hf_transform transform = hf_model_settings_of(model)->transform;
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
