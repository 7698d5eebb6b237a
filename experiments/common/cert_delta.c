/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cert_delta.h"
#include "common/quantile.h"

#include <stdlib.h>

typedef enum field {
    DELTA,
    DELTA_ATTAINED,
    SECONDS,
    STOPPED,
    ACCURACY,
    EVALUATIONS,
    FIT_SECONDS
} field;

const char *const cert_delta_columns[CERT_DELTA_FIELDS] = {
    "delta", "delta_attained", "seconds", "stopped", "accuracy", "evaluations", "fit_seconds"};

static void name_of(const char *model, long point, char *out, size_t size)
{
    snprintf(out, size, "%s %ld", model, point);
}

/* The row of one point; `room` has 3 d entries. */
static bool measure_point(hf_context *ctx, const cert_delta_task *task, const hf_classifier *classifier,
                          const double *x, double *room, double *values)
{
    const size_t d = task->set->d;
    double *moves = room, *lower = room + d, *upper = room + 2 * d;
    hf_range range;
    hf_certify_settings settings = hf_certify_settings_default();
    settings.time_limit = (double)task->limit;
    cert_salient(task->set, ctx, classifier, x, moves);
    cert_box(task->set, x, moves, task->gamma, lower, upper);
    if (hf_classify_predict(ctx, classifier, 1, x, d, NULL, &settings.output, NULL, NULL, NULL) < 0 ||
        hf_certify_class(ctx, classifier, &settings, 1, lower, upper, &range, NULL, NULL) < 0)
        return false;
    values[DELTA] = range.upper - range.lower;
    values[DELTA_ATTAINED] = range.upper_attained - range.lower_attained;
    values[SECONDS] = range.seconds;
    values[STOPPED] = range.stop > HF_CERTIFY_DECIDED;
    return true;
}

bool cert_delta_measure(hf_context *ctx, const cert_delta_task *task, env_rows *rows)
{
    const cert_set *set = task->set;
    const long points = task->points < (long)set->m ? task->points : (long)set->m;
    char name[64];
    cert_fit_report fit;
    name_of(task->name, points - 1, name, sizeof name);
    if (env_rows_find(rows, name)) return true;
    hf_classifier *classifier = cert_fit(ctx, set, task->n, &task->model, &fit);
    if (!classifier) {
        printf("%s: no model, left out.\n", task->name);
        return true;
    }
    double *room = malloc(3 * set->d * sizeof *room);
    bool ok = room != NULL;
    for (long k = 0; ok && k < points; ++k) {
        double values[CERT_DELTA_FIELDS];
        name_of(task->name, k, name, sizeof name);
        if (env_rows_find(rows, name)) continue;
        ok = measure_point(ctx, task, classifier, set->at + (size_t)k * set->d, room, values);
        values[ACCURACY] = fit.accuracy;
        values[EVALUATIONS] = (double)fit.used;
        values[FIT_SECONDS] = fit.seconds;
        if (ok) env_rows_add(rows, name, values);
    }
    if (!ok) fprintf(stderr, "%s: %s\n", task->name, hf_context_message(ctx));
    free(room);
    hf_classifier_free(classifier);
    return ok;
}

bool cert_delta_sum(const env_rows *rows, const char *model, cert_delta_summary *out)
{
    *out = (cert_delta_summary){0};
    for (long k = 0; k < CERT_POINTS_MOST; ++k) {
        char name[64];
        name_of(model, k, name, sizeof name);
        const double *v = env_rows_find(rows, name);
        if (!v) continue;
        out->delta[out->count++] = v[DELTA];
        out->mean += v[DELTA];
        out->seconds += v[SECONDS];
        out->stopped += v[STOPPED];
        out->accuracy = v[ACCURACY];
        out->evaluations = v[EVALUATIONS];
    }
    if (out->count == 0) return false;
    out->mean /= (double)out->count;
    out->seconds /= (double)out->count;
    out->quarter = quantile_of(out->delta, out->count, 0.25);
    out->median = median_of(out->delta, out->count);
    out->three_quarters = quantile_of(out->delta, out->count, 0.75);
    return true;
}

void cert_delta_block(FILE *script, const env_rows *rows, const char *name, const char *block)
{
    cert_delta_summary sum;
    fprintf(script, "$%s << EOD\n", block);
    if (!cert_delta_sum(rows, name, &sum)) fputs("NaN\n", script);
    for (size_t k = 0; k < sum.count; ++k) fprintf(script, "%g\n", sum.delta[k]);
    fputs("EOD\n", script);
}
