/* SPDX-License-Identifier: Apache-2.0 */
/* Data of pictures of a study. */
#include "study/study_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void study_picture_free(study_picture *data)
{
    for (size_t s = 0; data->slice != NULL && s < data->slices; s++) free(data->slice[s].moved);
    TOOL_FREE(data->slice, data->trial, data->at, data->share, data->order, data->front, data->mean);
}

bool study_is_aside(const hf_trial *trial, size_t outcome)
{
    return trial->aside && trial->outcome == outcome;
}

bool study_breaks(const study_picture *data, const hf_trial *trial)
{
    bool breaks = false;
    for (size_t o = 0; o < data->run->outcomes; o++) {
        const hf_outcome *out = &data->run->settings->outcome[o];
        breaks = breaks || (out->goal == HF_GOAL_AT_MOST && trial->value[o] > out->limit) ||
                 (out->goal == HF_GOAL_AT_LEAST && trial->value[o] < out->limit);
    }
    return breaks;
}

double study_share_of(const hf_variable *v, double value)
{
    if (v->level != NULL) return value / (double)(v->levels - 1);
    return v->log ? log(value / v->lower) / log(v->upper / v->lower)
                  : (value - v->lower) / (v->upper - v->lower);
}

/* ---- progress --------------------------------------------------------------------------------------------------- */

hf_status study_progress_make(study_picture *data)
{
    studied *run = data->run;
    hf_study_certificate proof;
    if (!has_argument(run->arguments, "certify")) return HF_OK;
    const hf_status status =
        warn_status(&run->session, hf_study_certify(run->session.ctx, run->study, studied_tolerance(run),
                                                    NULL, data->at, &data->best, &proof));
    data->certified = status >= 0;
    data->bound = proof.bound;
    return status;
}

/* ---- what matters ----------------------------------------------------------------------------------------------- */

hf_status study_relevance_make(study_picture *data)
{
    const size_t d = data->run->d;
    data->share = calloc(3 * d, sizeof *data->share);
    data->order = calloc(d, sizeof *data->order);
    if (data->share == NULL || data->order == NULL) return HF_ERR_MEMORY;
    data->low = data->share + d;
    data->high = data->low + d;
    const hf_status status = hf_study_relevance(data->run->session.ctx, data->run->study, data->of,
                                                data->share, data->low, data->high);
    for (size_t j = 0; j < d && status >= 0; j++) {
        size_t k = j;
        for (; k > 0 && data->share[data->order[k - 1]] < data->share[j]; k--)
            data->order[k] = data->order[k - 1];
        data->order[k] = j;
    }
    return status;
}

/* ---- slices ----------------------------------------------------------------------------------------------------- */

/* Places along a variable: each of few, else evenly, whole numbers where they must be. */
static void take_points(const hf_variable *v, study_slice *slice)
{
    const double size = v->level != NULL ? (double)v->levels : v->upper - v->lower + 1.0;
    const bool each = v->kind != HF_VARIABLE_REAL && size <= (double)STUDY_POINTS;
    slice->m = each ? (size_t)size : STUDY_POINTS;
    for (size_t k = 0; k < slice->m; k++) {
        const double share = (double)k / (double)(slice->m > 1 ? slice->m - 1 : 1);
        double x =
            v->log ? v->lower * pow(v->upper / v->lower, share) : v->lower + share * (v->upper - v->lower);
        if (each) x = v->level != NULL ? (double)k : v->lower + (double)k;
        if (v->kind == HF_VARIABLE_INTEGER) x = rint(x);
        slice->x[k] = v->level != NULL ? x : fmin(fmax(x, v->lower), v->upper);
    }
}

/* The means of m places that are the best one but for variable j. */
static hf_status along(const study_picture *data, size_t j, size_t m, const double *x, double *mean,
                       double *sd)
{
    const studied *run = data->run;
    double *places = calloc(m * run->d + 1, sizeof *places);
    if (places == NULL) return HF_ERR_MEMORY;
    for (size_t k = 0; k < m; k++) {
        memcpy(places + k * run->d, data->at, run->d * sizeof *places);
        places[k * run->d + j] = x[k];
    }
    const hf_status status = hf_study_predict(run->session.ctx, run->study, data->of, m, places, mean, sd);
    free(places);
    return status;
}

/* Values told, less what the surrogate says where they were told, plus what it says on the slice. */
static hf_status move_values(const study_picture *data, study_slice *slice, const double *own)
{
    const size_t n = data->n;
    double *x = calloc(2 * n + 1, sizeof *x);
    slice->moved = calloc(n + 1, sizeof *slice->moved);
    hf_status status = x != NULL && slice->moved != NULL ? HF_OK : HF_ERR_MEMORY;
    for (size_t i = 0; i < n && status >= 0; i++) x[i] = data->trial[i].at[slice->variable];
    if (status >= 0) status = along(data, slice->variable, n, x, x + n, NULL);
    for (size_t i = 0; i < n && status >= 0; i++)
        slice->moved[i] = data->trial[i].value[data->of] - own[i] + x[n + i];
    free(x);
    return status;
}

static hf_status fill_slices(study_picture *data, const double *own)
{
    hf_status status = HF_OK;
    for (size_t s = 0; s < data->slices && status >= 0; s++) {
        study_slice *slice = &data->slice[s];
        slice->variable = data->order[s];
        take_points(&data->run->settings->variable[slice->variable], slice);
        status = along(data, slice->variable, slice->m, slice->x, slice->mean, slice->sd);
        if (status >= 0) status = move_values(data, slice, own);
    }
    return status;
}

hf_status study_slices_make(study_picture *data)
{
    studied *run = data->run;
    hf_status status = study_relevance_make(data);
    if (status >= 0)
        status =
            warn_status(&run->session, hf_study_best(run->session.ctx, run->study, data->at, &data->best));
    if (status < 0) return status;
    double *places = calloc(data->n * run->d + data->n + 1, sizeof *places);
    data->slices = run->d < STUDY_SLICES ? run->d : STUDY_SLICES;
    data->slice = calloc(data->slices, sizeof *data->slice);
    if (places == NULL || data->slice == NULL) status = HF_ERR_MEMORY;
    for (size_t i = 0; i < data->n && status >= 0; i++)
        memcpy(places + i * run->d, data->trial[i].at, run->d * sizeof *places);
    if (status >= 0)
        status = hf_study_predict(run->session.ctx, run->study, data->of, data->n, places,
                                  places + data->n * run->d, NULL);
    if (status >= 0) status = fill_slices(data, places + data->n * run->d);
    free(places);
    return status;
}

hf_status study_parallel_make(study_picture *data)
{
    const size_t d = data->run->d;
    if (d > STUDY_AXES) return study_relevance_make(data);
    data->order = calloc(d, sizeof *data->order);
    for (size_t j = 0; j < d && data->order != NULL; j++) data->order[j] = j;
    return data->order != NULL ? HF_OK : HF_ERR_MEMORY;
}

/* ---- the front -------------------------------------------------------------------------------------------------- */

hf_status study_front_make(study_picture *data)
{
    studied *run = data->run;
    const size_t outcomes = run->outcomes, n = data->n;
    data->front = calloc(n + 1, sizeof *data->front);
    data->mean = calloc(2 * n * outcomes + 1, sizeof *data->mean);
    if (data->front == NULL || data->mean == NULL) return HF_ERR_MEMORY;
    data->sd = data->mean + n * outcomes;
    hf_status status =
        warn_status(&run->session, hf_study_front(run->session.ctx, run->study, data->front, &data->count));
    for (size_t k = 0; k < data->count && status >= 0; k++)
        for (size_t o = 0; o < outcomes && status >= 0; o++)
            if (studied_is_objective(run, o))
                status =
                    hf_study_predict(run->session.ctx, run->study, o, 1, data->trial[data->front[k] - 1].at,
                                     &data->mean[k * outcomes + o], &data->sd[k * outcomes + o]);
    return status;
}
