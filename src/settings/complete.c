/* SPDX-License-Identifier: Apache-2.0 */
/* Which setting implies which other: decided here and nowhere else. */
#include "core/core.h"
#include "core/settings.h"
#include "sites/kind.h"

#include <holdfast/train.h>
#include <string.h>

/* Rows of the members that were chosen. */
typedef struct choices {
    size_t count;
    const hfi_setting *row[HFI_MOST_SETTINGS];
} choices;

static bool is_chosen(const choices *chosen, const char *name)
{
    for (size_t k = 0; k < chosen->count; k++)
        if (strcmp(chosen->row[k]->face.name, name) == 0) return true;
    return false;
}

static void put_unchosen_setting(const choices *chosen, const char *name, double value, hf_fit_settings *s)
{
    if (!is_chosen(chosen, name))
        hfi_setting_assign(hfi_setting_find(hf_fit_settings_table(), name), value, s);
}

/* The published formulas (prior mean, quantile, given threshold) come with the published noise. */
static void follow_threshold(const choices *chosen, hf_fit_settings *s)
{
    const bool given = is_chosen(chosen, "threshold");
    const bool centred =
        is_chosen(chosen, "centre") && (s->centre == HF_CENTRE_PRIOR || s->centre == HF_CENTRE_CONDITIONAL);
    if (given || centred || is_chosen(chosen, "eps")) {
        put_unchosen_setting(chosen, "threshold_rule", given ? HF_THRESHOLD_GIVEN : HF_THRESHOLD_QUANTILE, s);
        put_unchosen_setting(chosen, "consistent_noise", false, s);
    }
    if (is_chosen(chosen, "beta")) put_unchosen_setting(chosen, "scaled_beta", false, s);
}

static void follow_training(const choices *chosen, hf_fit_settings *s)
{
    /* There is no other way to train on a few rows at a time. */
    if (s->minibatch > 0) put_unchosen_setting(chosen, "optimiser", HF_OPTIMISER_ADAM, s);
    if (s->train) return;
    /* The closed form at exactly the values given: nothing is learnt from residuals either. */
    put_unchosen_setting(chosen, "calibrate", false, s);
    put_unchosen_setting(chosen, "consistent_noise", false, s);
}

/* The suspect finder is part of the default recipe, and of others if it is asked for. */
static void follow_suspects(const choices *chosen, hf_fit_settings *s)
{
    const bool blocks = s->solver == HF_SOLVER_PROJECTED && s->action_kind == HF_ACTIONS_BLOCKS;
    if (is_chosen(chosen, "sites") || s->minibatch > 0 || !hfi_sites_kind_of(s->sites)->plain || !s->train ||
        blocks)
        put_unchosen_setting(chosen, "suspects", HF_OUTLIERS_OFF, s);
}

hf_status hf_fit_settings_complete(hf_context *ctx, hf_fit_settings *settings, bool preset, size_t count,
                                   const char *const *names)
{
    choices chosen = {0}, readings = {0};
    if (!settings || (count > 0 && !names))
        return hfi_refuse(ctx, "hf_fit_settings_complete: settings or names is NULL");
    const hf_settings_table *table = hf_fit_settings_table();
    hf_fit_settings own;
    const hf_status status = hfi_settings_take(ctx, table, settings, &own);
    if (status < 0) return status;
    for (size_t k = 0; k < count; k++) {
        const hfi_setting *row = hfi_setting_named(ctx, table, names[k], table->bytes);
        if (!row) return HF_ERR_ARGUMENT;
        if (is_chosen(&chosen, row->face.name)) continue;
        chosen.row[chosen.count++] = row;
        if (strcmp(row->face.group, "readings") == 0) readings.row[readings.count++] = row;
    }
    if (!preset && !is_chosen(&chosen, "sites"))
        hfi_settings_adapt(table, &own, readings.count, readings.row, "sites");
    hfi_settings_adapt(table, &own, chosen.count, chosen.row, "solver");
    if (!is_chosen(&chosen, "action_kind") && own.action_kind == HF_ACTIONS_KRYLOV) /* nor by the preset */
        hfi_settings_adapt(table, &own, chosen.count, chosen.row, "action_kind");
    follow_threshold(&chosen, &own);
    follow_training(&chosen, &own);
    follow_suspects(&chosen, &own);
    return hfi_settings_give(ctx, table, &own, settings, settings->size);
}
