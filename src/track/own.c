/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of a track: checks, and a copy with memory of its own in which nothing is left to a default. */
#include "track/track.h"

#include "core/settings.h"
#include "optimise/optimise.h"

#include <math.h>
#include <string.h>

enum {
    MADE_BYTES = 64 /* of "lengthscale[j]~value, " */
};

/* ---- checks ------------------------------------------------------------------------------------------------------ */

static bool ages(hf_track_method method)
{
    return method == HF_TRACK_UI_GP_UCB || method == HF_TRACK_SPARQ || method == HF_TRACK_SPARQ_REUSE;
}

static hf_status check_method(hf_context *ctx, const hf_track_settings *s)
{
    const char *const name = hf_enum_name(HF_ENUM_TRACK_METHOD, s->method);
    if ((s->method == HF_TRACK_R_GP_UCB || s->method == HF_TRACK_SW_GP_UCB) && !hfi_is_positive(s->window))
        return hfi_refuse(ctx, "%s needs a window, in units of time; it is %g", name, s->window);
    if (s->method == HF_TRACK_TV_GP_UCB && !(s->forgetting >= 0.0 && s->forgetting < 1.0))
        return hfi_refuse(ctx, "%s needs a forgetting eps in [0, 1); it is %g", name, s->forgetting);
    if (s->method == HF_TRACK_W_GP_UCB && !(s->forgetting > 0.0 && s->forgetting <= 1.0))
        return hfi_refuse(ctx, "%s needs a forgetting eta in (0, 1]; it is %g", name, s->forgetting);
    if (!ages(s->method)) return HF_OK;
    hf_status status = hf_age_law_check(ctx, &s->age);
    if (status < 0) return status;
    if (s->age.kind != HF_AGE_NONE && s->age.kind != HF_AGE_TABLE && !(s->age.rate > 0.0))
        return hfi_refuse(
            ctx,
            "%s needs the rate of drift of its age law (the largest change of f in a unit of time); for "
            "none the law is \"none\"",
            name);
    return HF_OK;
}

static hf_status check_track_settings(hf_context *ctx, const hf_track_settings *s)
{
    hf_status status = hf_domain_check(ctx, &s->domain);
    if (status >= 0 && (s->domain.step != NULL || s->domain.category != NULL))
        return hfi_refuse(
            ctx, "a track's inputs are continuous, or rows of a list: its domain has no steps and no "
                 "categories");
    if (status >= 0) status = check_method(ctx, s);
    if (status >= 0 && s->discard == HF_DISCARD_VARIANCE && !hfi_is_positive(s->discard_variance))
        return hfi_refuse(ctx, "discard_variance is %g; give a positive number", s->discard_variance);
    return status;
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static hf_status copy_numbers(hf_context *ctx, size_t count, const double *from, double **to)
{
    if (from == NULL || count == 0) return HF_OK;
    *to = hfi_alloc(ctx, count, sizeof **to);
    if (*to == NULL) return HF_ERR_MEMORY;
    memcpy(*to, from, count * sizeof **to);
    return HF_OK;
}

static hf_status copy_names(hf_context *ctx, const hfi_memory *memory, size_t d, const char *const *from,
                            hfi_track_own *own)
{
    own->names = hfi_alloc(ctx, d, sizeof *own->names);
    if (own->names == NULL) return HF_ERR_MEMORY;
    for (size_t j = 0; j < d; j++) {
        char made[MADE_BYTES];
        (void)hfi_print(made, sizeof made, "x%zu", j + 1);
        if (from != NULL && (from[j] == NULL || from[j][0] == '\0'))
            return hfi_refuse(ctx, "the name of input %zu is missing", j + 1);
        own->names[j] = hfi_memory_strdup(memory, from != NULL ? from[j] : made);
        if (own->names[j] == NULL) return hfi_out_of_memory(ctx);
    }
    return HF_OK;
}

/* How far the domain stretches in an input; 1 where it does not. */
static double stretch(const hf_domain *domain, size_t j)
{
    double low = INFINITY, high = -INFINITY;
    if (domain->candidates == 0) {
        low = domain->lower[j];
        high = domain->upper[j];
    }
    for (size_t i = 0; i < domain->candidates; i++) {
        low = fmin(low, domain->points[i * domain->dimension + j]);
        high = fmax(high, domain->points[i * domain->dimension + j]);
    }
    return high > low ? high - low : 1.0;
}

/* se with a lengthscale of a tenth of every side. */
static char *make_kernel(const hfi_memory *memory, const hf_domain *domain)
{
    const size_t d = domain->dimension, bytes = MADE_BYTES * (d + 1);
    char *text = hfi_memory_alloc(memory, bytes, 1);
    if (text == NULL) return NULL;
    size_t used = (size_t)hfi_print(text, bytes, "se(ard");
    for (size_t j = 0; j < d; j++)
        used += (size_t)hfi_print(text + used, bytes - used, ", lengthscale[%zu]~%.15g", j,
                                  0.1 * stretch(domain, j));
    (void)hfi_print(text + used, bytes - used, ")");
    return text;
}

static hf_status copy_domain(hf_context *ctx, const hf_domain *from, hfi_track_own *own)
{
    hf_domain *to = &own->s.domain;
    const size_t d = from->dimension;
    hf_status status = HF_OK;
    if (from->candidates > 0) {
        status = copy_numbers(ctx, from->candidates * d, from->points, &own->points);
    } else {
        status = copy_numbers(ctx, d, from->lower, &own->lower);
        if (status >= 0) status = copy_numbers(ctx, d, from->upper, &own->upper);
    }
    to->lower = own->lower;
    to->upper = own->upper;
    to->points = own->points;
    return status;
}

static hf_status copy_law(hf_context *ctx, const hf_age_law *from, hfi_track_own *own)
{
    hf_age_law *to = &own->s.age;
    *to = (hf_age_law){.kind = from->kind, .rate = from->rate};
    if (from->kind != HF_AGE_TABLE) return HF_OK;
    hf_status status = copy_numbers(ctx, from->entries, from->ages, &own->ages);
    if (status >= 0) status = copy_numbers(ctx, from->entries, from->added, &own->added);
    to->entries = from->entries;
    to->ages = own->ages;
    to->added = own->added;
    return status;
}

hf_status hfi_track_own_settings(hf_context *ctx, const hf_track_settings *settings, hfi_track_own *own)
{
    memset(own, 0, sizeof *own);
    hf_track_settings given;
    hf_status status = hfi_settings_open(ctx, hf_track_settings_table(), settings, &given);
    if (status >= 0) status = check_track_settings(ctx, &given);
    if (status < 0) return status;
    settings = &given;
    const hfi_memory memory = hfi_context_memory(ctx);
    own->s = given;
    hf_track_settings *s = &own->s;
    status = copy_domain(ctx, &settings->domain, own);
    if (status >= 0) status = copy_law(ctx, &settings->age, own);
    if (status >= 0) status = copy_names(ctx, &memory, s->domain.dimension, settings->names, own);
    if (status >= 0) {
        own->kernel = settings->kernel != NULL ? hfi_memory_strdup(&memory, settings->kernel)
                                               : make_kernel(&memory, &s->domain);
        if (own->kernel == NULL) status = hfi_out_of_memory(ctx);
    }
    if (status < 0) {
        hfi_track_own_free(&memory, own);
        return status;
    }
    s->names = (const char *const *)own->names;
    s->kernel = own->kernel;
    if (!(s->expert_noise > 0.0)) s->expert_noise = s->noise;
    if (!(s->query_power > 0.0)) s->query_power = (double)s->domain.dimension;
    if (s->domain.candidates > 0) s->resolution = 0.0;
    return HF_OK;
}

void hfi_track_own_free(const hfi_memory *memory, hfi_track_own *own)
{
    for (size_t j = 0; own->names != NULL && j < own->s.domain.dimension; j++)
        hfi_memory_free(memory, own->names[j]);
    HFI_MEMORY_FREE(memory, own->names, own->lower, own->upper, own->points, own->ages, own->added,
                    own->kernel);
    memset(own, 0, sizeof *own);
}

bool hfi_track_has_expert(const hf_track *track)
{
    return track->own.s.method == HF_TRACK_SPARQ || track->own.s.method == HF_TRACK_SPARQ_REUSE;
}
