/* SPDX-License-Identifier: Apache-2.0 */
/* How good a model is, and which inputs it looks at. */
#include "report/report.h"

#include <stdlib.h>

enum {
    SHOWN_INPUTS = 6,
    MOST_INPUTS = 500 /* of more, relevance would take longer than the fit */
};

/* An input below this share hardly matters. */
static const double HARDLY = 0.01;

/* A report leaves out the things that its model cannot tell. */
static hf_status where_known(hf_status status)
{
    return status == HF_ERR_NO_DATA || status == HF_ERR_NOT_FINITE ? HF_OK : status;
}

hf_status quality_of(hf_context *ctx, const hf_model *model, tool_quality *out)
{
    *out = (tool_quality){0};
    hf_status status = HF_OK;
    if (hf_model_can(model, HF_ABILITY_SCORES)) status = hf_model_leave_one_out(ctx, model, &out->scores);
    status = where_known(status);
    if (status < 0 || hf_model_features(model) > MOST_INPUTS) return status;
    double *relevance = calloc(hf_model_features(model) + 1, sizeof *relevance);
    if (relevance == NULL) return HF_ERR_MEMORY;
    status = hf_model_relevance(ctx, model, relevance);
    if (status >= 0)
        out->relevance = relevance;
    else
        free(relevance);
    return where_known(status);
}

hf_status suspects_of(hf_context *ctx, const hf_model *model, hf_table **out)
{
    if (!hf_model_can(model, HF_ABILITY_SUSPECTS)) return HF_OK;
    const hf_status status = hf_model_suspects(ctx, model, out);
    return status == HF_ERR_NO_DATA ? HF_OK : status;
}

void quality_free(tool_quality *quality)
{
    free(quality->relevance);
    *quality = (tool_quality){0};
}

/* ---- leave-one-out ---------------------------------------------------------------------------------------- */

static void print_row(FILE *out, const char *name, const hf_metrics *m, double r2)
{
    if (m->n == 0) return;
    fprintf(out, "  %-24s %10.4g  %7.3f  %8.3f  %5.2f  %5.2f  %5.2f\n", name, m->rmse, r2, m->nlpd,
            m->coverage50, m->coverage90, m->coverage95);
}

void report_scores(FILE *out, const hf_model *model, const tool_quality *quality)
{
    const hf_leave_one_out_scores *s = &quality->scores;
    if (s->model.n == 0) return;
    fprintf(out, "\nLeave-one-out: each of %zu readings%s predicted from the others%s\n", s->model.n,
            hf_model_report_of(model)->readings > s->model.n ? " that were kept," : "",
            has_outputs_table(model) ? ", in units of the outputs' scales" : "");
    fprintf(out, "  %-24s %10s  %7s  %8s  %5s  %5s  %5s\n", "", "RMSE", "R2", "NLPD", "50 %", "90 %", "95 %");
    print_row(out, "this model", &s->model, s->model_r2);
    print_row(out, "plain Gaussian process", &s->plain, s->plain_r2);
    print_row(out, "mean of the others", &s->mean, 0.0);
}

/* ---- inputs ----------------------------------------------------------------------------------------------- */

/* "carat matters most (0.83), then depth (0.15); hardly table and 4 more" */
static void print_ranked(FILE *out, const hf_model *model, const ranked *list, size_t count)
{
    const size_t shown = count < SHOWN_INPUTS ? count : SHOWN_INPUTS;
    bool hardly = false;
    for (size_t k = 0; k < shown; k++) {
        const bool little = k > 0 && list[k].value < HARDLY;
        const char *before = k == 0 ? "" : little && !hardly ? "; hardly " : k == 1 ? ", then " : ", ";
        say(out, "%s%s%s", before, hf_model_feature(model, list[k].index), k == 0 ? " matters most" : "");
        if (!little) fprintf(out, " (%.2f)", list[k].value);
        hardly = hardly || little;
    }
    if (count > shown && !hardly && list[shown].value >= HARDLY)
        fprintf(out, "; %zu more up to %.2f", count - shown, list[shown].value);
    else if (count > shown)
        fprintf(out, "%s %zu more", hardly ? " and" : "; hardly", count - shown);
    fputc('\n', out);
}

void report_relevance(FILE *out, const hf_model *model, const tool_quality *quality)
{
    const size_t count = hf_model_features(model);
    if (quality->relevance == NULL || count < 2) return;
    ranked *list = calloc(count, sizeof *list);
    if (list == NULL) return;
    for (size_t j = 0; j < count; j++) list[j] = (ranked){quality->relevance[j], j};
    qsort(list, count, sizeof *list, largest_first);
    fprintf(out, "\nInputs, by the share of what is predicted that each takes part in\n  ");
    if (list[0].value > 0.0)
        print_ranked(out, model, list, count);
    else
        fputs("none matters: the same is predicted everywhere\n", out);
    free(list);
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

json_t *json_metrics(const hf_metrics *m)
{
    return JSON_OF({"n", json_count(m->n)}, {"mae", json_number(m->mae)}, {"rmse", json_number(m->rmse)},
                   {"nlpd", json_number(m->nlpd)}, {"coverage50", json_number(m->coverage50)},
                   {"coverage90", json_number(m->coverage90)}, {"coverage95", json_number(m->coverage95)},
                   {"crps", json_number(m->crps)});
}

static json_t *json_scores(const hf_metrics *m, double r2)
{
    if (m->n == 0) return json_null();
    json_t *object = json_metrics(m);
    if (object != NULL) json_object_set_new(object, "r2", json_number(r2));
    return object;
}

void json_add_quality(json_t *object, const hf_model *model, const tool_quality *quality)
{
    const hf_leave_one_out_scores *s = &quality->scores;
    json_t *relevance = json_null();
    if (quality->relevance != NULL) {
        relevance = json_array();
        for (size_t j = 0; j < hf_model_features(model); j++)
            json_array_append_new(relevance, json_number(quality->relevance[j]));
    }
    json_object_set_new(object, "relevance", relevance);
    if (!hf_model_can(model, HF_ABILITY_SCORES)) return;
    json_t *scores = json_null();
    if (s->model.n > 0)
        scores =
            JSON_OF({"model", json_scores(&s->model, s->model_r2)},
                    {"plain", json_scores(&s->plain, s->plain_r2)}, {"mean", json_scores(&s->mean, 0.0)});
    json_object_set_new(object, "leave_one_out", scores);
}
