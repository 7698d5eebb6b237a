/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions take which settings of a fit; what goes with what whoever is asked is in table.c. */
#include "settings/settings.h"

#include "settings/sites_bits.h"

/* Bits of a setting's values that a function does not take. */
typedef struct use_rule {
    hfi_fit_use use;
    const char *name;
    unsigned with;
    const char *why; /* where the names do not say it; else NULL */
} use_rule;

static const char *const uses[] = {
    [HFI_USE_ARRAYS] = "arrays",
    [HFI_USE_STREAM] = "a file that is read in parts",
    [HFI_USE_PARTS] = "a file that is read in parts",
    [HFI_USE_EULBO] = "EULBO",
};

static const use_rule rules[] = {
    {HFI_USE_ARRAYS, "sites", LABELS, "hf_classifier_fit() fits arrays of labels, hf_fit() a table of them"},
    {HFI_USE_ARRAYS, "transform", ALL_BUT(BIT(HF_TRANSFORM_NONE)),
     "hf_fit() transforms the target of a table; hf_transform_forward() makes arrays as they are to be "
     "modelled"},
    {HFI_USE_ARRAYS, "kernel", BIT(2), "hf_fit() chooses it for a table"},
    {HFI_USE_STREAM, "sites", LABELS, "hf_fit() takes labels from a table in memory"},
    {HFI_USE_STREAM, "sites", RATES, "they need all readings at once"},
    {HFI_USE_STREAM, "solver", BIT(HF_SOLVER_EXACT) | BIT(HF_SOLVER_PROJECTED), NULL},
    {HFI_USE_STREAM, "transform", ALL_BUT(BIT(HF_TRANSFORM_NONE)),
     "write a column of the transformed target into the file"},
    {HFI_USE_STREAM, "action_matrix", SOME, "hf_fit() takes a matrix of actions for a table in memory"},
    {HFI_USE_STREAM, "kernel", BIT(2), "hf_fit() chooses it for a table in memory; name the kernel"},
    {HFI_USE_PARTS, "suspects", ALL_BUT(BIT(HF_OUTLIERS_OFF)),
     "it needs all readings at once; use robust sites"},
    {HFI_USE_EULBO, "train", OFF, "it goes on from a training"},
    {HFI_USE_EULBO, "minibatch", SOME, NULL},
    {HFI_USE_EULBO, "sites", SEARCHED, NULL},
    {HFI_USE_EULBO, "checkpoint", SOME, NULL},
    {HFI_USE_EULBO, "objective", BIT(HF_OBJECTIVE_LOO) | BIT(HF_OBJECTIVE_WLOO), "it adds to a bound"},
    {HFI_USE_EULBO, "solver", BIT(HF_SOLVER_AUTO) | BIT(HF_SOLVER_EXACT),
     "with the exact one maximise an acquisition function"},
};

hf_status hfi_fit_settings_use(hf_context *ctx, const hf_fit_settings *settings, hfi_fit_use use)
{
    hf_status s = HF_OK;
    for (size_t k = 0; s >= 0 && k < sizeof rules / sizeof rules[0]; k++)
        if (rules[k].use == use)
            s = hfi_setting_deny(ctx, hfi_setting_find(hf_fit_settings_table(), rules[k].name), settings,
                                 rules[k].with, uses[use], rules[k].why);
    return s;
}
