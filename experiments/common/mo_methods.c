/* SPDX-License-Identifier: Apache-2.0 */
#include "common/mo_methods.h"
#include "common/clock.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *preset;
    bool ours;
} methods[] = {{"MOGP", "mogp", false},
               {"wRCGP", "rcgp", false},
               {"MO-RCGP", "morcgp", false},
               {"t-MOGP", "t-mogp", false},
               {"mogp", "mogp", true},
               {"morcgp", "morcgp", true},
               {"joint", "morcgp", true},
               {"morcgp-told", "morcgp", true},
               {"recentred", "mogp", true},
               {"t-mogp", "t-mogp", true},
               {"independent", "independent", true},
               {"default", "default", true},
               {"forced", "default", true},
               {"MO-RCGP-own", "morcgp", false}};

static size_t place_of(const char *method)
{
    size_t i = 0;
    while (i < sizeof methods / sizeof *methods && strcmp(method, methods[i].name) != 0) ++i;
    return i;
}

bool mo_method_known(const char *method)
{
    return place_of(method) < sizeof methods / sizeof *methods;
}

option_row mo_method_option(words *models, const char *usual)
{
    return option_list("models", "LIST",
                       "of MOGP,wRCGP,MO-RCGP,t-MOGP,MO-RCGP-own (published settings) and\n"
                       "mogp,morcgp,morcgp-told,joint,recentred,t-mogp,independent,default,forced (ours)",
                       models, usual, mo_method_known);
}

bool mo_method_is_ours(const char *method)
{
    return methods[place_of(method)].ours;
}

/* ---- settings ---------------------------------------------------------------------------------------------- */

static void assign(mo_method *m, double value, const char *name, size_t s, size_t t, int indices)
{
    const size_t i = m->settings.set_count++;
    if (indices == 0) snprintf(m->names[i], sizeof m->names[i], "%s", name);
    if (indices == 1) snprintf(m->names[i], sizeof m->names[i], "%s[%zu]", name, s);
    if (indices == 2) snprintf(m->names[i], sizeof m->names[i], "%s[%zu,%zu]", name, s, t);
    m->set[i] = (hf_assignment){m->names[i], value};
    m->settings.set = m->set;
}

static void assign_means(mo_method *m, const char *method, const mo_terms *terms, const problem *p)
{
    const bool average = terms->average || strcmp(method, "MO-RCGP-own") == 0;
    for (size_t t = 0; t < mo_outputs(p); ++t)
        assign(m, average ? mo_average(p, t) : terms->mean, "mean", t, 0, 1);
}

static void assign_model(mo_method *m, const mo_model *model)
{
    assign(m, model->lengthscale, "lengthscale", 0, 0, 0);
    for (size_t s = 0; s < model->outputs; ++s) {
        assign(m, model->noise_sd * model->noise_sd, "noise", s, 0, 1);
        for (size_t t = 0; t <= s; ++t)
            assign(m, model->b[s * model->outputs + t], "coregionalisation", s, t, 2);
    }
    m->settings.coregion_rank = model->outputs;
    m->settings.train = false;
}

/* Says the protocol's share of outliers of each output. */
static void tell_shares(mo_method *m, const mo_terms *terms, const problem *p)
{
    for (size_t t = 0; t < mo_outputs(p); ++t) m->eps[t] = terms->eps[t];
    m->settings.output_eps = m->eps;
}

/* Sets all that the published models have in common. */
static void publish(mo_method *m, const mo_terms *terms, const problem *p)
{
    hf_fit_settings *s = &m->settings;
    s->kernel = terms->kernel;
    s->priors = s->train_mean = false;
    s->standardise = terms->standardise;
    s->shared_noise = terms->shared_noise;
    s->noise_start = terms->noise_start > 0.0 ? terms->noise_start : 0.1;
    s->iterations = 200;
    if (s->sites == HF_LIKELIHOOD_STUDENT_T) {
        s->shared_noise = true;
        s->student_nu = terms->nu;
    }
    if (s->sites != HF_LIKELIHOOD_ROBUST) return;
    s->objective = HF_OBJECTIVE_WLOO;
    s->threshold_rule = HF_THRESHOLD_QUANTILE;
    s->rounds = 1;
    s->consistent_noise = false;
    s->eps = terms->eps[0];
    if (s->centre == HF_CENTRE_CONDITIONAL) tell_shares(m, terms, p);
}

static void own(mo_method *m, const char *method, const mo_terms *terms, const problem *p)
{
    hf_fit_settings *s = &m->settings;
    if (strcmp(method, "morcgp-told") == 0) tell_shares(m, terms, p);
    s->kernel = terms->own_kernel;
    if (strcmp(method, "joint") == 0) s->weighting = HF_OUTPUTS_JOINT;
    if (strcmp(method, "forced") == 0) s->suspects = HF_OUTLIERS_FORCE;
    if (strcmp(method, "recentred") == 0) s->sites = HF_LIKELIHOOD_ROBUST;
}

bool mo_method_make(hf_context *ctx, const char *method, const mo_terms *terms, const problem *p,
                    mo_method *out)
{
    const size_t place = place_of(method);
    memset(out, 0, sizeof *out);
    if (hf_fit_settings_preset(ctx, methods[place].preset, &out->settings, sizeof out->settings) < 0) {
        fprintf(stderr, "%s: %s\n", method, hf_context_message(ctx));
        return false;
    }
    const bool known = terms->known && out->settings.suspects == HF_OUTLIERS_OFF;
    out->settings.max_noise = terms->max_noise;
    if (methods[place].ours)
        own(out, method, terms, p);
    else
        publish(out, terms, p);
    if (out->settings.output_eps) out->settings.output_eps_count = mo_outputs(p);
    if (!methods[place].ours || known) assign_means(out, method, terms, p);
    for (size_t t = 0; !methods[place].ours && terms->held_noise > 0.0 && t < mo_outputs(p); ++t)
        assign(out, terms->held_noise, "noise", t, 0, 1);
    if (strcmp(method, "MO-RCGP") == 0 && terms->edge > 0.0)
        assign(out, terms->edge, "coregion.factor", 0, 0, 2);
    if (known) {
        assign_model(out, terms->known);
        out->settings.kernel = terms->kernel;
        out->settings.standardise = false;
    }
    return true;
}

/* ---- fits ---------------------------------------------------------------------------------------------------- */

mo_result mo_result_create(const problem *p)
{
    mo_result r = {.mean = room(3 * p->m, sizeof *r.mean), .readings = room(p->n, sizeof *r.readings)};
    r.latent_sd = r.mean + p->m;
    r.sd = r.mean + 2 * p->m;
    return r;
}

void mo_result_free(mo_result *r)
{
    free(r->mean);
    free(r->readings);
    *r = (mo_result){0};
}

static void describe(const problem *p, const hf_fit_report *report, const hf_reading *readings, record *out)
{
    out->train = p->n;
    out->test = p->m;
    out->wrong = out->found = out->false_flags = 0;
    out->adopted = report->suspects_adopted;
    out->kappa = report->calibration;
    out->evaluations = report->evaluations;
    out->seconds = report->seconds;
    for (size_t i = 0; i < p->n; ++i) {
        const bool set_aside = readings[i].suspected && readings[i].weight <= 0.25;
        out->wrong += p->wrong[i];
        out->found += set_aside && p->wrong[i];
        out->false_flags += set_aside && !p->wrong[i];
    }
}

bool mo_run(hf_context *ctx, const char *method, const mo_terms *terms, const problem *p, mo_result *result,
            record *out)
{
    mo_method *m = malloc(sizeof *m);
    size_t *sample = malloc(p->n * sizeof *sample);
    hf_posterior *posterior = NULL;
    hf_fit_report report;
    const size_t outputs = mo_outputs(p);
    bool ok = m && sample && mo_method_make(ctx, method, terms, p, m);
    if (ok) {
        for (size_t i = 0; i < p->n; ++i) sample[i] = i / outputs;
        const hf_data data = {
            .n = p->n, .d = p->d, .ldx = p->d, .x = p->x, .y = p->y, .outputs = outputs, .sample = sample};
        double begin = cpu_clock();
        hf_status status = hf_fit_data(ctx, &data, &m->settings, &posterior, &report, result->readings);
        const double fitted = cpu_clock() - begin;
        begin = wall_clock();
        if (status >= 0)
            status =
                hf_predict(ctx, posterior, p->m, p->tx, p->d, result->mean, result->latent_sd, result->sd);
        ok = status >= 0;
        if (!ok) fprintf(stderr, "%s: %s\n", method, hf_context_message(ctx));
        if (ok && out) {
            describe(p, &report, result->readings, out);
            out->cpu_seconds = fitted;
            out->predict_seconds = wall_clock() - begin;
        }
        for (size_t i = 0; ok && i < 2 * p->m; ++i) result->latent_sd[i] = sqrt(result->latent_sd[i]);
    }
    hf_posterior_free(posterior);
    free(sample);
    free(m);
    return ok;
}
