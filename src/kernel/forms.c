/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/forms.h"
#include "core/core.h"

#include <string.h>

/* exp(-6), exp(6), exp(-4) and exp(7): boxes of standardised data. */
#define AMPLITUDE_LOWER   0.0024787521766663585
#define AMPLITUDE_UPPER   403.42879349273511
#define LENGTHSCALE_LOWER 0.018315638888734179
#define LENGTHSCALE_UPPER 1096.6331584284585
#define FACTOR_MOST       30.0
#define FREQUENCY_MOST    100.0
#define RATE_MOST         10.0

typedef struct form_info {
    const char *name;
    const char *aliases[2];
    bool radial, columns;
    hfi_field amplitude; /* HFI_FIELDS: none */
    size_t fields;
    hfi_field field[HFI_MAX_LEAF_FIELDS];
} form_info;

static const form_info FORM[HFI_FORMS] = {
    {"se", {"rbf", "gaussian"}, true, true, HFI_FIELDS, 1, {HFI_FIELD_LENGTHSCALE}},
    {"matern12", {"exponential", NULL}, true, true, HFI_FIELDS, 1, {HFI_FIELD_LENGTHSCALE}},
    {"matern32", {NULL, NULL}, true, true, HFI_FIELDS, 1, {HFI_FIELD_LENGTHSCALE}},
    {"matern52", {NULL, NULL}, true, true, HFI_FIELDS, 1, {HFI_FIELD_LENGTHSCALE}},
    {"rq", {NULL, NULL}, true, true, HFI_FIELDS, 2, {HFI_FIELD_LENGTHSCALE, HFI_FIELD_ALPHA}},
    {"periodic", {NULL, NULL}, false, true, HFI_FIELDS, 2, {HFI_FIELD_LENGTHSCALE, HFI_FIELD_PERIOD}},
    {"linear", {NULL, NULL}, false, true, HFI_FIELD_VARIANCE, 1, {HFI_FIELD_VARIANCE}},
    {"constant", {NULL, NULL}, false, false, HFI_FIELD_VARIANCE, 1, {HFI_FIELD_VARIANCE}},
    {"white", {NULL, NULL}, false, false, HFI_FIELD_VARIANCE, 1, {HFI_FIELD_VARIANCE}},
    {"sm",
     {NULL, NULL},
     false,
     true,
     HFI_FIELD_WEIGHT,
     3,
     {HFI_FIELD_WEIGHT, HFI_FIELD_MEAN, HFI_FIELD_VARIANCE}},
    {"coregion", {NULL, NULL}, false, true, HFI_FIELD_FACTOR, 2, {HFI_FIELD_FACTOR, HFI_FIELD_OWN}},
    {"category", {NULL, NULL}, false, true, HFI_FIELDS, 1, {HFI_FIELD_LENGTHSCALE}},
    {"wave", {NULL, NULL}, false, true, HFI_FIELDS, 1, {HFI_FIELD_FREQUENCY}},
    {"swell", {NULL, NULL}, false, true, HFI_FIELDS, 1, {HFI_FIELD_FREQUENCY}},
    {"tilt", {NULL, NULL}, false, true, HFI_FIELDS, 1, {HFI_FIELD_RATE}},
};

/* Units and ranges are those of most forms: see hfi_field_unit() and hfi_field_range(). */
static const struct {
    const char *name;
    hf_unit unit;
    hfi_range range;
} FIELD[HFI_FIELDS] = {
    {"outputscale", HF_UNIT_OUTPUT2, {1.0, AMPLITUDE_LOWER, AMPLITUDE_UPPER}},
    {"lengthscale", HF_UNIT_INPUT, {1.0, LENGTHSCALE_LOWER, LENGTHSCALE_UPPER}},
    {"alpha", HF_UNIT_NONE, {1.0, 1e-2, 1e3}},
    {"period", HF_UNIT_INPUT, {1.0, 1e-2, 1e3}},
    {"variance", HF_UNIT_OUTPUT2, {1.0, AMPLITUDE_LOWER, AMPLITUDE_UPPER}},
    {"weight", HF_UNIT_OUTPUT2, {1.0, AMPLITUDE_LOWER, AMPLITUDE_UPPER}},
    {"mean", HF_UNIT_FREQUENCY, {0.1, 1e-6, 1e2}},
    {"factor", HF_UNIT_OUTPUT, {0.0, -FACTOR_MOST, FACTOR_MOST}},
    {"own", HF_UNIT_OUTPUT2, {0.5, AMPLITUDE_LOWER, AMPLITUDE_UPPER}},
    {"frequency", HF_UNIT_FREQUENCY, {0.1, -FREQUENCY_MOST, FREQUENCY_MOST}},
    {"rate", HF_UNIT_FREQUENCY, {0.1, -RATE_MOST, RATE_MOST}},
};

static bool equals(const char *text, const char *name, size_t length)
{
    return text && strlen(text) == length && memcmp(text, name, length) == 0;
}

const char *hfi_form_name(hfi_form form)
{
    return FORM[form].name;
}

hfi_form hfi_form_find(const char *name, size_t length)
{
    for (size_t f = 0; f < HFI_FORMS; f++) {
        const form_info *info = &FORM[f];
        if (equals(info->name, name, length) || equals(info->aliases[0], name, length) ||
            equals(info->aliases[1], name, length))
            return (hfi_form)f;
    }
    return HFI_FORMS;
}

bool hfi_form_has_amplitude(hfi_form form)
{
    return FORM[form].amplitude != HFI_FIELDS;
}

bool hfi_form_sees_columns(hfi_form form)
{
    return FORM[form].columns;
}

bool hfi_form_sees_codes(hfi_form form)
{
    return form == HFI_FORM_COREGION || form == HFI_FORM_CATEGORY;
}

bool hfi_form_is_radial(hfi_form form)
{
    return FORM[form].radial;
}

bool hfi_form_is_plane(hfi_form form)
{
    return form == HFI_FORM_WAVE || form == HFI_FORM_SWELL || form == HFI_FORM_TILT;
}

bool hfi_form_varies(hfi_form form)
{
    return form == HFI_FORM_LINEAR || form == HFI_FORM_SWELL || form == HFI_FORM_TILT;
}

size_t hfi_form_fields(hfi_form form, hfi_field fields[HFI_MAX_LEAF_FIELDS])
{
    memcpy(fields, FORM[form].field, sizeof FORM[form].field);
    return FORM[form].fields;
}

bool hfi_form_has_field(hfi_form form, hfi_field field)
{
    for (size_t f = 0; f < FORM[form].fields; f++)
        if (FORM[form].field[f] == field) return true;
    return false;
}

hfi_field hfi_form_amplitude(hfi_form form)
{
    return FORM[form].amplitude;
}

const char *hfi_field_name(hfi_field field)
{
    return FIELD[field].name;
}

bool hfi_field_is_real(hfi_field field)
{
    return field == HFI_FIELD_FACTOR || field == HFI_FIELD_FREQUENCY || field == HFI_FIELD_RATE;
}

hfi_field hfi_field_find(const char *name, size_t length)
{
    for (size_t f = 0; f < HFI_FIELDS; f++)
        if (equals(FIELD[f].name, name, length)) return (hfi_field)f;
    return HFI_FIELDS;
}

hf_unit hfi_field_unit(hfi_form form, hfi_field field)
{
    /* The lengthscale of periodic divides a sine, that of category counts: not an input. */
    if (field == HFI_FIELD_LENGTHSCALE && (form == HFI_FORM_PERIODIC || form == HFI_FORM_CATEGORY))
        return HF_UNIT_NONE;
    if (field == HFI_FIELD_VARIANCE && form == HFI_FORM_LINEAR) return HF_UNIT_OUTPUT2_INPUT2;
    return field == HFI_FIELD_VARIANCE && form == HFI_FORM_SM ? HF_UNIT_FREQUENCY2 : FIELD[field].unit;
}

hfi_range hfi_field_range(hfi_form form, hfi_field field)
{
    if (field == HFI_FIELD_VARIANCE && form == HFI_FORM_SM) return (hfi_range){0.01, 1e-8, 1e3};
    return FIELD[field].range;
}

/* ---- the nearest name ------------------------------------------------------------------------ */

const char *hfi_nearest_form(const char *name, size_t length)
{
    hfi_nearest search;
    hfi_nearest_begin(&search, name, length);
    for (size_t f = 0; f < HFI_FORMS; f++) {
        hfi_nearest_offer(&search, FORM[f].name);
        for (size_t a = 0; a < 2; a++)
            if (FORM[f].aliases[a]) hfi_nearest_offer(&search, FORM[f].aliases[a]);
    }
    return search.best;
}
