/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the report, each with its key in a model file. Keys and names of choices are part of the
 * format: never rename one. A field that is added later gets the format version that has it first. */
#include "model/file.h"

#include <stddef.h>

static const char *const solvers[] = {"auto", "exact", "inducing", "projected"};
static const char *const stops[] = {"not trained", "converged", "iterations", "roundoff", "level"};

const char *const hfi_form_names[HFI_FACTOR_FORMS] = {"exact", "dense", "blocks"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define REPORT(field, type, since)                                                                           \
    {                                                                                                        \
        "report." #field, type, offsetof(hf_fit_report, field), NULL, 0, since                               \
    }
#define REPORT_CHOICE(field, list, since)                                                                    \
    {                                                                                                        \
        "report." #field, HFI_CHOICE, offsetof(hf_fit_report, field), list, COUNT(list), since               \
    }

const hfi_file_field hfi_report_fields[] = {
    REPORT(readings, HFI_SIZE, 1),    REPORT(missing, HFI_SIZE, 1),
    REPORT_CHOICE(stop, stops, 1),    REPORT(evaluations, HFI_SIZE, 1),
    REPORT(rounds, HFI_SIZE, 1),      REPORT(objective, HFI_REAL, 1),
    REPORT(log_prior, HFI_REAL, 1),   REPORT(gradient_norm, HFI_REAL, 1),
    REPORT(at_bound, HFI_SIZE, 1),    REPORT(jitter, HFI_REAL, 1),
    REPORT(condition, HFI_REAL, 1),   REPORT(backward, HFI_REAL, 1),
    REPORT(bytes, HFI_REAL, 1),       REPORT(seconds, HFI_REAL, 1),
    REPORT(threshold, HFI_REAL, 1),   REPORT(suspects_adopted, HFI_FLAG, 1),
    REPORT(suspects, HFI_SIZE, 1),    REPORT(groups, HFI_SIZE, 1),
    REPORT(benefit, HFI_REAL, 1),     REPORT(gain, HFI_REAL, 1),
    REPORT(calibration, HFI_REAL, 1), REPORT_CHOICE(solver, solvers, 2),
    REPORT(inducing, HFI_SIZE, 2),    REPORT(actions, HFI_SIZE, 2),
    REPORT(passes, HFI_SIZE, 2),      REPORT(residual, HFI_REAL, 2),
    REPORT(nu, HFI_REAL, 2),
};
const size_t hfi_report_field_count = COUNT(hfi_report_fields);

/* Up to version 3 the inference of Student-t noise was a setting of its own, and earlier readers look for it.
 * Models of other sites have some value there; a corrected one the default of then. */
static const char *const student_methods[] = {"laplace", "ep", "variational", "variational"};
const hfi_file_field hfi_student_method = {.key = "settings.student_method",
                                           .type = HFI_CHOICE,
                                           .offset = offsetof(hf_fit_settings, inference),
                                           .names = student_methods,
                                           .choices = COUNT(student_methods),
                                           .since = 2};
