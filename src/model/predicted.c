/* SPDX-License-Identifier: Apache-2.0 */
/* Columns that predictions add to a table: their names, and that they are no inputs of the same target. */
#include "model/target.h"

#include <string.h>

static bool has_column(const hf_table *table, const char *stem, size_t length, const char *ending)
{
    for (size_t j = 0; j < hf_table_columns(table); j++) {
        const char *name = hf_table_name(table, j);
        if (strncmp(name, stem, length) == 0 && strcmp(name + length, ending) == 0) return true;
    }
    return false;
}

/* <stem>_mean and the like, where the stem is the target or begins with it (<target>_<output>); mean and sd
 * come together.
 */
static bool is_moment(const hf_table *table, const char *target, const char *name)
{
    static const char *const endings[] = {"_mean",      "_sd_latent",        "_sd_observed", "_lo95",
                                          "_median",    "_sd_computational", "_hi95",        "_rate",
                                          "_rate_lo95", "_rate_hi95"};
    const size_t begin = strlen(target), length = strlen(name);
    if (strncmp(name, target, begin) != 0 || name[begin] != '_') return false;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
        const size_t end = strlen(endings[k]);
        if (length < begin + end || strcmp(name + length - end, endings[k]) != 0) continue;
        if (has_column(table, name, length - end, "_mean") &&
            has_column(table, name, length - end, "_sd_latent"))
            return true;
    }
    return false;
}

/* Columns of a classifier, which leaves <target>_class: p_<class>, and moments of latent functions,
 * <target>_sd or <target>_<class>_sd. */
static bool is_of_classes(const hf_table *table, const char *target, const char *name)
{
    const size_t begin = strlen(target), length = strlen(name);
    if (!has_column(table, target, begin, "_class")) return false;
    if (strncmp(name, "p_", 2) == 0) return true;
    if (strncmp(name, target, begin) != 0 || name[begin] != '_') return false;
    if (strcmp(name + begin, "_class") == 0) return true;
    const size_t end = length >= begin + 5 && strcmp(name + length - 5, "_mean") == 0 ? 5
                       : length >= begin + 3 && strcmp(name + length - 3, "_sd") == 0 ? 3
                                                                                      : 0;
    return end > 0 && length >= begin + end && has_column(table, name, length - end, "_mean") &&
           has_column(table, name, length - end, "_sd");
}

/* <a>_<b>_cov of two outputs. */
static bool is_covariance(const hf_table *table, const hfi_roles *roles, const char *target, const char *name)
{
    const size_t begin = strlen(target);
    if (strncmp(name, target, begin) != 0 || name[begin] != '_') return false;
    for (size_t t = 0; t < roles->targets; t++) {
        const char *other = hf_table_name(table, roles->wide[t]);
        const size_t length = strlen(other);
        if (strncmp(name + begin + 1, other, length) == 0 && strcmp(name + begin + 1 + length, "_cov") == 0)
            return true;
    }
    return false;
}

/* <target>_outside beside predictions of whatever kind. */
static bool is_outside(const hf_table *table, const char *target, const char *name)
{
    static const char *const endings[] = {"_sd_latent", "_class"};
    const size_t begin = strlen(target);
    if (strncmp(name, target, begin) != 0 || strcmp(name + begin, "_outside") != 0) return false;
    for (size_t j = 0; j < hf_table_columns(table); j++)
        for (size_t k = 0; k < sizeof endings / sizeof *endings; k++) {
            const char *other = hf_table_name(table, j);
            const size_t length = strlen(other), end = strlen(endings[k]);
            if (strncmp(other, target, begin) == 0 && length >= begin + end &&
                strcmp(other + length - end, endings[k]) == 0)
                return true;
        }
    return false;
}

/* Whether holdfast expert added the column: <target>_prior and <target>_prior_sd, what it read,
 * and what came of it. */
static bool is_of_expert(const hf_table *table, const char *target, const char *name)
{
    static const char *const endings[] = {"_prior", "_prior_sd",   "_wrong",         "_right",
                                          "_label", "_correction", "_correction_var"};
    const size_t begin = strlen(target);
    if (strncmp(name, target, begin) != 0 || name[begin] != '_') return false;
    for (size_t k = 0; k < sizeof endings / sizeof *endings; k++)
        if (strcmp(name + begin, endings[k]) == 0)
            return has_column(table, target, begin, "_prior") &&
                   has_column(table, target, begin, "_prior_sd");
    return false;
}

bool hfi_is_predicted(const hf_table *table, const hfi_roles *roles, const char *name)
{
    for (size_t t = 0; t < roles->targets; t++) {
        const char *target = hf_table_name(table, roles->targets > 1 ? roles->wide[t] : roles->target);
        if (is_moment(table, target, name) || is_of_classes(table, target, name) ||
            is_outside(table, target, name) || is_of_expert(table, target, name) ||
            (roles->targets > 1 && is_covariance(table, roles, target, name)))
            return true;
    }
    return false;
}

/* ---- which columns predictions add ------------------------------------------------------------------------------ */

static bool is_single(const hf_model *model, const hf_table *table)
{
    return table != NULL && hfi_column_named(table, model->output_column) != SIZE_MAX;
}

size_t hf_predicted_columns(const hf_model *model, const hf_table *table)
{
    return model != NULL ? model->kind->columns(model, is_single(model, table)) : 0;
}

hf_status hf_predicted_column_at(const hf_model *model, const hf_table *table, size_t i, char *name,
                                 size_t bytes, size_t *needed, hf_predicted_column *out)
{
    if (i >= hf_predicted_columns(model, table) || (name == NULL && bytes > 0)) return HF_ERR_ARGUMENT;
    const hfi_column_name c = model->kind->column(model, is_single(model, table), i);
    const int length = hfi_print(name, bytes, "%s%s%s%s", c.part[0], c.part[1], c.part[2], c.part[3]);
    if (needed != NULL) *needed = length > 0 ? (size_t)length : 0;
    if (out != NULL) *out = c.is;
    return HF_OK;
}
