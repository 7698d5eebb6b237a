/* SPDX-License-Identifier: Apache-2.0 */
/* The report of a classifier: its hyperparameters, and how well it does. */
#include "report/report.h"

#include <math.h>

enum {
    SHOWN_CLASSES = 30 /* --json has all */
};

static void print_classes(FILE *out, const hf_model *model)
{
    const size_t classes = hf_model_classes(model);
    const double labels = (double)hf_model_report_of(model)->readings;
    fprintf(out, "\nClasses                      rows   share\n");
    for (size_t c = 0; c < classes && c < SHOWN_CLASSES; c++)
        say(out, "  %-22s  %7zu  %6.3f\n", hf_model_class(model, c), hf_model_class_rows(model, c),
            (double)hf_model_class_rows(model, c) / labels);
    if (classes > SHOWN_CLASSES) fprintf(out, "  and %zu more; --json has all\n", classes - SHOWN_CLASSES);
}

static void print_latent(FILE *out, const hf_model *model)
{
    const hf_likelihood sites = hf_model_settings_of(model)->sites;
    if (hf_model_latents(model) > 1)
        fprintf(out, "link         %s, a latent function for each class\n",
                hf_enum_name(HF_ENUM_LIKELIHOOD, sites));
    else
        say(out, "link         %s, the latent function is of \"%s\"\n",
            hf_enum_name(HF_ENUM_LIKELIHOOD, sites), hf_model_class(model, 1));
    fprintf(out, "inference    %s\n",
            hf_enum_name(HF_ENUM_INFERENCE, hf_model_settings_of(model)->inference));
}

void report_classes(FILE *out, const hf_model *model, const tool_quality *quality)
{
    const hf_fit_report *report = hf_model_report_of(model);
    const hf_fit_settings *settings = hf_model_settings_of(model);
    say(out, "%s (%zu classes) from %zu input%s: %zu label%s of %s", hf_model_target(model),
        hf_model_classes(model), hf_model_features(model), plural(hf_model_features(model)), report->readings,
        plural(report->readings), hf_model_source(model));
    if (report->missing > 0)
        fprintf(out, ", %zu more row%s without one", report->missing, plural(report->missing));
    if (hf_model_skipped(model) > 0) fprintf(out, ", %zu more with a missing input", hf_model_skipped(model));
    say(out, "\n\nkernel       %s\nmean         %s\n", settings->kernel,
        hf_enum_name(HF_ENUM_MEAN_KIND, settings->mean));
    print_latent(out, model);
    report_solver(out, settings, report);
    report_training(out, settings, report);
    fprintf(out, "evidence     %.6g (log, approximate)\nnumerics     jitter %.3g\n", report->objective,
            report->jitter);
    print_classes(out, model);
    report_relevance(out, model, quality);
    report_parameters(out, model);
}

void json_add_classes(json_t *object, const hf_model *model)
{
    json_t *list = json_array();
    for (size_t c = 0; c < hf_model_classes(model); c++)
        json_array_append_new(list, JSON_OF({"name", json_text(hf_model_class(model, c))},
                                            {"rows", json_count(hf_model_class_rows(model, c))}));
    json_object_set_new(object, "classes", list);
}

/* ---- score ------------------------------------------------------------------------------------------------------ */

enum {
    BINS = 10
};

static json_t *json_score(const hf_class_metrics *m, const hf_calibration_bin *bin)
{
    json_t *list = json_array();
    for (size_t b = 0; b < BINS; b++)
        json_array_append_new(list, JSON_OF({"n", json_count(bin[b].n)},
                                            {"confidence", json_number(bin[b].confidence)},
                                            {"accuracy", json_number(bin[b].accuracy)}));
    return JSON_OF({"n", json_count(m->n)}, {"accuracy", json_number(m->accuracy)},
                   {"nlpd", json_number(m->nlpd)}, {"brier", json_number(m->brier)},
                   {"ece", json_number(m->calibration_error)}, {"bins", list});
}

hf_status score_classes(tool_session *session, const hf_model *model, const hf_table *table)
{
    hf_class_metrics m;
    hf_calibration_bin bin[BINS];
    const hf_status status =
        warn_status(session, hf_score_classes(session->ctx, model, table, BINS, bin, &m));
    progress_clear(session->progress);
    if (status < 0) return status;
    if (session->json)
        session_print(session, json_score(&m, bin));
    else
        printf(
            "n            %zu\naccuracy     %.4f\nnlpd         %.6g\nbrier        %.6g\nece          %.4f\n",
            m.n, m.accuracy, m.nlpd, m.brier, m.calibration_error);
    return status;
}
