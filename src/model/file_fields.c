/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of the report, each with its key in a model file. Keys and names of choices are part of the
 * format: never rename one. A field that is added later gets the format version that has it first. */
#include "model/file.h"

#include <float.h>
#include <math.h>
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

/* ---- readings --------------------------------------------------------------------------------- */

static bool has_low_rank(const hf_model *model)
{
    return model->posterior->solution.form != HFI_FORM_EXACT;
}

/* Only where suspects were set aside is there something to compare with. */
static bool knows_plain(const hf_model *model)
{
    for (size_t i = 0; i < model->n; i++)
        if (model->reading[i].plain_sd > 0.0) return true;
    return false;
}

#define MOST_COUNT 9007199254740992.0
#define READING(field, type, least, most, ...)                                                               \
    {                                                                                                        \
        "row_" #field, type, offsetof(hf_reading, field), least, most, __VA_ARGS__                           \
    }

/* Leave-one-out predictions are kept by models that cannot compute them; those of the plain fit where it was another
 * one. */
const hfi_reading_row hfi_reading_rows[HFI_READING_ROWS] = {
    READING(weight, HFI_REAL, 0.0, 1.0, NULL, NULL, NULL),
    READING(suspected, HFI_FLAG, 0.0, 1.0, NULL, NULL, NULL),
    READING(group, HFI_SIZE, 0.0, MOST_COUNT, NULL, NULL, NULL),
    READING(loo_mean, HFI_REAL, -INFINITY, INFINITY, NULL, "row_loo_mean", has_low_rank),
    READING(loo_var, HFI_REAL, 0.0, INFINITY, "a variance is negative", "row_loo_mean", has_low_rank),
    READING(plain_mean, HFI_REAL, -INFINITY, INFINITY, NULL, "row_plain_mean", knows_plain),
    READING(plain_sd, HFI_REAL, DBL_TRUE_MIN, INFINITY, "a standard deviation is not positive",
            "row_plain_mean", knows_plain),
};

double hfi_reading_number(const hfi_reading_row *row, const hf_reading *reading)
{
    const char *at = (const char *)reading + row->offset;
    if (row->type == HFI_REAL) return *(const double *)(const void *)at;
    if (row->type == HFI_FLAG) return *(const bool *)(const void *)at ? 1.0 : 0.0;
    return (double)*(const size_t *)(const void *)at;
}

hf_status hfi_read_accuracy(const hfi_reader *r, hfi_solution *solution)
{
    hf_status status = hfi_meta_double(r, "jitter", 0.0, &solution->jitter);
    if (status >= 0) status = hfi_meta_any_double(r, "condition", &solution->condition);
    return status < 0 ? status : hfi_meta_any_double(r, "backward", &solution->backward);
}
