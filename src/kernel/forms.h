/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file forms.h
 * @brief The kernels of the language: names, parameters, boxes.
 */
#ifndef HFI_KERNEL_FORMS_H
#define HFI_KERNEL_FORMS_H

#include "core/core.h"

#include <holdfast/kernel.h>

typedef enum hfi_form {
    HFI_FORM_SE,
    HFI_FORM_MATERN12,
    HFI_FORM_MATERN32,
    HFI_FORM_MATERN52,
    HFI_FORM_RQ,
    HFI_FORM_PERIODIC,
    HFI_FORM_LINEAR,
    HFI_FORM_CONSTANT,
    HFI_FORM_WHITE,
    HFI_FORM_SM,
    HFI_FORM_COREGION,
    HFI_FORM_CATEGORY,
    HFI_FORM_WAVE,
    HFI_FORM_SWELL,
    HFI_FORM_TILT,
    HFI_FORMS
} hfi_form;

typedef enum hfi_field {
    HFI_FIELD_OUTPUTSCALE,
    HFI_FIELD_LENGTHSCALE,
    HFI_FIELD_ALPHA,
    HFI_FIELD_PERIOD,
    HFI_FIELD_VARIANCE,
    HFI_FIELD_WEIGHT,
    HFI_FIELD_MEAN,
    HFI_FIELD_FACTOR,
    HFI_FIELD_OWN,
    HFI_FIELD_FREQUENCY,
    HFI_FIELD_RATE,
    HFI_FIELDS
} hfi_field;

#define HFI_MAX_LEAF_FIELDS 3u

/** Real parameters stay within this size, so that their products are finite. */
#define HFI_REAL_MOST 1e100

/** Start and box of a parameter, in standardised units. */
typedef struct hfi_range {
    double start, lower, upper;
} hfi_range;

const char *hfi_form_name(hfi_form form);
/** The form of a name or alias of `length` bytes; HFI_FORMS when there is none. */
hfi_form hfi_form_find(const char *name, size_t length);
/** Carries an amplitude of its own, so that its term has no outputscale. */
bool hfi_form_has_amplitude(hfi_form form);
/** Looks at the inputs at all. */
bool hfi_form_sees_columns(hfi_form form);
/** Looks at numbers of outputs or codes, at which other kernels do not look unless told to, and
 * which nobody standardises. */
bool hfi_form_sees_codes(hfi_form form);
/** Is a function of the scaled distance r alone. */
bool hfi_form_is_radial(hfi_form form);
/** Is an inner product of functions of a plane (planes.h): has one real number for each column. */
bool hfi_form_is_plane(hfi_form form);
/** k(x, x) depends on x. */
bool hfi_form_varies(hfi_form form);
/** The arrays of parameters, in order; the number of them is returned. */
size_t hfi_form_fields(hfi_form form, hfi_field fields[HFI_MAX_LEAF_FIELDS]);
bool hfi_form_has_field(hfi_form form, hfi_field field);
/** The array that is the amplitude of a form with hfi_form_has_amplitude(). */
hfi_field hfi_form_amplitude(hfi_form form);

const char *hfi_field_name(hfi_field field);
/** Whether the field may have any sign and is trained as it is; all others are positive and
 * trained by their logarithms. */
bool hfi_field_is_real(hfi_field field);
/** HFI_FIELDS when there is none. */
hfi_field hfi_field_find(const char *name, size_t length);
hf_unit hfi_field_unit(hfi_form form, hfi_field field);
hfi_range hfi_field_range(hfi_form form, hfi_field field);

/** The kernel whose name is nearest to the `length` bytes; NULL: none is near enough to be
 * meant. */
const char *hfi_nearest_form(const char *name, size_t length);

#endif
