/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast explain --flip */
#include "certify/explain_flip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- usage -------------------------------------------------------------------------------------------------- */

static hf_status parse_kind(certified *run, const char *name, hf_flip_kind *out)
{
    for (int k = 0; k <= HF_FLIP_FEWEST; k++)
        if (strcmp(name, hf_enum_name(HF_ENUM_FLIP_KIND, (unsigned)k)) == 0) {
            *out = (hf_flip_kind)k;
            return HF_OK;
        }
    return MISUSE(run, "--flip: there is no '%s'; give nearest or fewest", name);
}

/* Options that are not for --flip, and those that --flip needs. */
static hf_status check_effect(certified *run, bool flip)
{
    static const char *const no[] = {"method", "mean", "tolerance", "plot", "shape"};
    static const char *const only[] = {"never-above", "never-below", "delta", "beta", "observed"};
    const tool_arguments *a = run->arguments;
    for (size_t k = 0; flip && k < sizeof no / sizeof *no; k++)
        if (has_argument(a, no[k])) return MISUSE(run, "--%s is not for --flip", no[k]);
    for (size_t k = 0; !flip && k < sizeof only / sizeof *only; k++)
        if (has_argument(a, only[k])) return MISUSE(run, "--%s is for --flip", only[k]);
    return HF_OK;
}

hf_status explain_parse_flip(certified *run, hf_certify_settings *settings, explain_flip *out)
{
    const tool_arguments *a = run->arguments;
    const char *kind = argument(a, "flip");
    *out = (explain_flip){.asked = kind != NULL};
    hf_status status = check_effect(run, out->asked);
    if (status < 0 || kind == NULL) return status;
    status = parse_kind(run, kind, &out->kind);
    if (status >= 0) status = certified_claim(run, &out->claim, &out->limits);
    if (status < 0) return status;
    if (!argument_double(a, "beta", &settings->beta)) return session_told(&run->session);
    if (!isfinite(settings->beta)) return MISUSE(run, "--beta must be a finite number");
    settings->observed = has_argument(a, "observed");
    if (settings->observed && !has_argument(a, "beta"))
        return MISUSE(run, "--observed is for --beta: the mean has no sd in it");
    if (has_argument(a, "beta") && run->classifier != NULL)
        return MISUSE(run, "--beta is for models of readings");
    if (run->classifier == NULL && !out->limits)
        return MISUSE(
            run,
            "--flip of a model of readings is past a limit: give --never-above, --never-below or --delta");
    if (run->classifier != NULL && !out->limits && has_argument(a, "of"))
        return MISUSE(run, "--of is for limits; without them the class of each row is to change");
    out->claim.classifier = run->classifier;
    out->claim.posterior = run->classifier != NULL ? NULL : run->posterior;
    if (has_argument(a, "beta")) out->claim.what = HF_CERTIFY_MEAN_PLUS;
    if (run->classifier == NULL) settings->output = certified_latent(run, settings->output);
    return HF_OK;
}

/* ---- answers ------------------------------------------------------------------------------------------------ */

typedef enum flip_column {
    VALUE,
    FLIPPED,
    CERTIFIED,
    DISTANCE,
    SPARED,
    MOVED,
    NODES,
    SECONDS,
    COLUMNS
} flip_column;

/* `examples`: m x d; `block`: columns of m; `class`: before, then after, SIZE_MAX where there is none. */
static hf_status find(certified *run, const hf_certify_settings *settings, double most, explain_flip *asked,
                      double *examples, double *block, size_t *class)
{
    const size_t m = run->m;
    hf_status worst = HF_OK;
    for (size_t k = 0; k < m; k++) {
        hf_flip f;
        const hf_certify_settings share = certified_share(run, settings, m - k);
        progress_part(run->session.progress, "explain", (double)k / (double)m, 1.0 / (double)m);
        const hf_status status =
            hf_certify_flip(run->session.ctx, &asked->claim, asked->kind, &share, run->x + k * run->d,
                            run->unit, most, 0.01, &f, examples + k * run->d);
        if (status < 0) return status;
        if (status > 0) worst = status;
        const double values[COLUMNS] = {
            f.value,          f.flipped,
            f.certified,      isfinite(f.distance) ? f.distance : (double)NAN,
            (double)f.spared, isfinite(f.distance) ? (double)f.moved : (double)NAN,
            (double)f.nodes,  f.seconds};
        for (size_t c = 0; c < COLUMNS; c++) block[c * m + k] = values[c];
        class[k] = f.winner;
        class[m + k] = f.other;
        asked->found += isfinite(f.distance) ? 1 : 0;
        asked->unfinished += status == HF_WARN_NOT_CONVERGED;
    }
    return worst;
}

static hf_status tell(certified *run, const explain_flip *asked, const double *examples, const double *block,
                      const size_t *class)
{
    static const char *const names[] = {"class_before", "class_after", "value",  "flipped",
                                        "certified",    "distance",    "spared", "moved",
                                        "nodes",        "seconds",     NULL};
    hf_status status = certified_begin(run, run->m, examples, asked->limits ? names + 2 : names);
    if (status >= 0 && !asked->limits) status = certified_classes(run, names[0], class);
    if (status >= 0 && !asked->limits) status = certified_classes(run, names[1], class + run->m);
    return status >= 0 ? certified_numbers(run, names + 2, block) : status;
}

hf_status explain_find_flips(certified *run, const hf_certify_settings *settings, double most,
                             explain_flip *asked)
{
    const size_t m = run->m;
    double *examples = calloc(m * run->d + 1, sizeof *examples),
           *block = calloc(COLUMNS * m + 1, sizeof *block);
    size_t *class = calloc(2 * m + 1, sizeof *class);
    hf_status status = examples != NULL && block != NULL && class != NULL ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = find(run, settings, most, asked, examples, block, class);
    if (status >= 0 && asked->unfinished > 0)
        warn(&run->session,
             "the searches of %zu of %zu rows were left open by a limit or by rounding: what is told of them "
             "holds, and smaller moves may be there",
             asked->unfinished, m);
    if (status >= 0 && certified_is_estimate(run)) certified_warn_estimate(run);
    const hf_status told = status >= 0 ? tell(run, asked, examples, block, class) : status;
    TOOL_FREE(examples, block, class);
    return told < 0 ? told : status;
}
