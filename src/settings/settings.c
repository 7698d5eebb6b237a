/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults and presets of a fit. */
#include "settings/settings.h"
#include "core/settings.h"
#include "posterior/posterior.h"
#include <string.h>

const hfi_likelihood *hfi_likelihood_row(hf_likelihood kind)
{
    return hfi_sites_kind_of(kind)->likelihood;
}

const hfi_likelihood *hfi_likelihood_of_rates(hf_likelihood kind)
{
    const hfi_likelihood *row = hfi_likelihood_row(kind);
    return row && row->rate ? row : NULL;
}

bool hfi_likelihood_is_noise(hf_likelihood kind)
{
    const hfi_likelihood *row = hfi_likelihood_row(kind);
    return row && row->observed;
}

hf_inference hfi_inference_of(const hf_fit_settings *s)
{
    const hfi_sites_kind *kind = hfi_sites_kind_of(s->sites);
    if (s->inference != HF_INFERENCE_AUTO) return s->inference;
    return kind->likelihood ? kind->likelihood->usual : kind->usual;
}

bool hfi_likelihood_is_class(hf_likelihood kind)
{
    const hfi_sites_kind *row = hfi_sites_kind_of(kind);
    return row->every_class || (row->likelihood && row->likelihood->labels);
}

bool hfi_kernel_is_auto(const char *kernel)
{
    return kernel != NULL && strcmp(kernel, "auto") == 0;
}

/* ---- presets: each takes the plain Gaussian process and changes what makes it another method ----------- */

static void plain(hf_fit_settings *s)
{
    s->suspects = HF_OUTLIERS_OFF;
    s->calibrate = false;
}

static void published_rcgp(hf_fit_settings *s)
{
    plain(s);
    s->centre = HF_CENTRE_PRIOR;
    s->threshold_rule = HF_THRESHOLD_QUANTILE;
    s->objective = HF_OBJECTIVE_LOO;
    s->priors = false;
    s->train_mean = false;
    s->consistent_noise = false;
}

static void projected_blocks(hf_fit_settings *s)
{
    plain(s);
    s->solver = HF_SOLVER_PROJECTED;
    s->action_kind = HF_ACTIONS_BLOCKS;
}

/* The defaults have the centre, threshold and noise that go with re-weighting. */
static void robust_projected(hf_fit_settings *s)
{
    plain(s);
    s->solver = HF_SOLVER_PROJECTED;
    s->action_kind = HF_ACTIONS_KRYLOV;
}

/* As published: isotropic kernel, log 2 to start from, weights about the constant, 50 steps of Adam on the
 * bound of RCaGP. Lengthscales and amplitude are of a standardised table. */
static void published_rcagp(hf_fit_settings *s)
{
    plain(s);
    s->solver = HF_SOLVER_PROJECTED;
    s->action_kind = HF_ACTIONS_BLOCKS;
    s->objective = HF_OBJECTIVE_RCAGP;
    s->centre = HF_CENTRE_PRIOR;
    s->threshold_rule = HF_THRESHOLD_QUANTILE;
    s->eps = 0.2;
    s->rounds = 1;
    s->beta = 1.0;
    s->scaled_beta = true;
    s->optimiser = HF_OPTIMISER_ADAM;
    s->iterations = 50;
    s->learning_rate = 0.01;
    s->common_start = 0.6931471805599453;
    s->priors = false;
    s->consistent_noise = false;
}

static void text_of_rcagp(hf_fit_settings *s)
{
    published_rcagp(s);
    s->kernel = "matern52(iso)";
    s->actions = 25;
}

static void program_of_rcagp(hf_fit_settings *s)
{
    published_rcagp(s);
    s->kernel = "matern32(iso)";
    s->actions = 5;
}

static void inducing(hf_fit_settings *s)
{
    plain(s);
    s->solver = HF_SOLVER_INDUCING;
}

static void minibatches(hf_fit_settings *s)
{
    inducing(s);
    s->minibatch = 1024;
    s->optimiser = HF_OPTIMISER_ADAM;
}

/* Calibration gives back to the intervals what the support takes away from the tails of the noise. */
static void pursuit(hf_fit_settings *s)
{
    plain(s);
    s->calibrate = true;
}

/* Weights from what the other outputs say. The published weighted leave-one-out density lets the noise
 * of a damaged output run away; the evidence of the sites finds its way there (tests/fit/test_conditional.c). */
static void robust_outputs(hf_fit_settings *s)
{
    plain(s);
    s->centre = HF_CENTRE_CONDITIONAL;
    s->threshold_rule = HF_THRESHOLD_QUANTILE;
    s->consistent_noise = false;
}

static void student_outputs(hf_fit_settings *s)
{
    plain(s);
    s->shared_noise = true;
}

static void alone(hf_fit_settings *s)
{
    s->independent = true;
}

/* Latent values of labels, counts and amounts: rows differ from what the inducing inputs say by what is a
 * variance, not a bound. */
static void latent(hf_fit_settings *s)
{
    plain(s);
    s->inducing_method = HF_INDUCING_FITC;
}

static void untouched(hf_fit_settings *s)
{
    (void)s;
}

typedef struct preset {
    const char *name;
    void (*apply)(hf_fit_settings *settings);
    hf_likelihood sites;
} preset;

#define NOISE(id, symbol, name, help)  {name, plain, HF_LIKELIHOOD_##id},
#define LATENT(id, symbol, name, help) {name, latent, HF_LIKELIHOOD_##id},

static const preset presets[] = {{"default", untouched, HF_LIKELIHOOD_GAUSSIAN},
                                 {"gp", plain, HF_LIKELIHOOD_GAUSSIAN},
                                 {"rcgp", published_rcgp, HF_LIKELIHOOD_ROBUST},
                                 {"cagp", projected_blocks, HF_LIKELIHOOD_GAUSSIAN},
                                 {"rcagp", robust_projected, HF_LIKELIHOOD_ROBUST},
                                 {"rcagp-text", text_of_rcagp, HF_LIKELIHOOD_ROBUST},
                                 {"rcagp-program", program_of_rcagp, HF_LIKELIHOOD_ROBUST},
                                 {"sgpr", inducing, HF_LIKELIHOOD_GAUSSIAN},
                                 {"rcsvgp", inducing, HF_LIKELIHOOD_ROBUST},
                                 {"svgp", minibatches, HF_LIKELIHOOD_GAUSSIAN},
                                 HF_NOISE_LIKELIHOODS(NOISE){"rrp", pursuit, HF_LIKELIHOOD_PURSUIT},
                                 {"mogp", plain, HF_LIKELIHOOD_GAUSSIAN},
                                 {"morcgp", robust_outputs, HF_LIKELIHOOD_ROBUST},
                                 {"t-mogp", student_outputs, HF_LIKELIHOOD_STUDENT_T},
                                 {"independent", alone, HF_LIKELIHOOD_GAUSSIAN},
                                 HF_LABEL_LIKELIHOODS(LATENT){"softmax", latent, HF_LIKELIHOOD_SOFTMAX},
                                 HF_RATE_LIKELIHOODS(LATENT)};

enum {
    PRESETS = sizeof presets / sizeof presets[0]
};

hf_status hf_fit_settings_preset(hf_context *ctx, const char *name, hf_fit_settings *out, size_t size)
{
    const char *names[PRESETS];
    for (size_t i = 0; i < PRESETS; i++) names[i] = presets[i].name;
    size_t index = 0;
    const hf_status status = hfi_choice_parse(ctx, "preset", names, PRESETS, name, &index);
    if (status < 0) return status;
    hf_fit_settings own = hf_fit_settings_default();
    presets[index].apply(&own);
    own.sites = presets[index].sites;
    return hfi_settings_give(ctx, hf_fit_settings_table(), &own, out, size);
}
