/* SPDX-License-Identifier: Apache-2.0 */
/* The report of several outputs: each by itself, and how they hang together. */
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHOWN_CORRELATIONS = 12 /* outputs; --json has all */
};

const char *outputs_in_words(const hf_model *model, char *buffer, size_t bytes)
{
    const size_t outputs = hf_model_outputs(model);
    tool_line line = {.text = buffer, .bytes = bytes};
    if (hf_model_output_column(model) != NULL) put(&line, "%s of ", hf_model_target(model));
    for (size_t t = 0; t < outputs; t++) {
        const char *name = hf_model_output(model, t), *before = t == 0            ? ""
                                                                : t + 1 < outputs ? ", "
                                                                                  : " and ";
        if (t > 0 && line.used + strlen(name) + 40 > bytes) {
            put(&line, "%s%zu more", before, outputs - t);
            break;
        }
        put(&line, "%s%s", before, name);
    }
    return buffer;
}

bool has_outputs_table(const hf_model *model)
{
    return hf_model_outputs(model) > 1;
}

/* ---- numbers of readings --------------------------------------------------------------------- */

static void count_suspected(const hf_table *suspects, tool_output *list)
{
    const double *output = table_column(NULL, suspects, "output");
    for (size_t i = 0; output != NULL && i < hf_table_rows(suspects); i++)
        list[(size_t)output[i]].suspected++;
}

static void count_readings(const hf_model *model, const hf_table *training, tool_output *list)
{
    const char *column = hf_model_output_column(model);
    const size_t rows = hf_table_rows(training);
    const double *output = column != NULL ? table_column(NULL, training, column) : NULL;
    for (size_t t = 0; t < (column != NULL ? 1 : hf_model_outputs(model)); t++) {
        const double *y =
            table_column(NULL, training, column != NULL ? hf_model_target(model) : hf_model_output(model, t));
        for (size_t i = 0; y != NULL && i < rows; i++)
            if (!isnan(y[i])) list[output != NULL ? (size_t)output[i] : t].readings++;
    }
}

/* hf_model_outputs() of them, to be freed; NULL when out of memory. `suspects` may be NULL. */
static tool_output *count_outputs(const hf_model *model, const hf_table *suspects)
{
    const size_t outputs = hf_model_outputs(model);
    hf_context *ctx = hf_context_create();
    tool_output *list = ctx != NULL ? calloc(outputs, sizeof *list) : NULL;
    hf_table *training = NULL;
    if (list != NULL && hf_model_training(ctx, model, &training) >= 0) count_readings(model, training, list);
    if (list != NULL && suspects != NULL) count_suspected(suspects, list);
    hf_table_free(training);
    hf_context_free(ctx);
    return list;
}

/* ---- parameters by what they are about ------------------------------------------------------- */

bool is_outputs_parameter(const hf_model *model, const hf_parameter *parameter)
{
    return has_outputs_table(model) &&
           (strstr(parameter->name, "coregionalisation[") != NULL ||
            strncmp(parameter->name, "mean[", 5) == 0 || strncmp(parameter->name, "noise[", 6) == 0);
}

/* "mean[3]" and the like; NaN if there is none. */
static double parameter_of(const hf_model *model, const char *word, size_t output)
{
    char name[64];
    snprintf(name, sizeof name, "%s[%zu]", word, output);
    for (size_t i = 0; i < hf_model_parameters(model); i++) {
        hf_parameter p;
        if (hf_model_parameter(model, i, &p) >= 0 && strcmp(p.name, name) == 0) return p.value;
    }
    return NAN;
}

/* A matrix of covariances between the outputs, in the user's units: a coregion, or of independent outputs all
 * of them. */
typedef struct output_covariances {
    char *term; /* what stands before the names of its entries: "", "coregion1.", ... */
    double *b;  /* T x T */
} output_covariances;

/* From "coregion2.coregionalisation[3,1]" the term, and the entries; false for other parameters. */
static bool parse_entry(const char *name, size_t *length, size_t *s, size_t *t)
{
    static const char word[] = "coregionalisation[";
    const char *at = strstr(name, word);
    if (at == NULL) return false;
    *length = (size_t)(at - name);
    char *end;
    *s = strtoull(at + sizeof word - 1, &end, 10);
    *t = strtoull(end + 1, &end, 10);
    return true;
}

static output_covariances *add_term(output_covariances *list, size_t *count, const char *name, size_t length,
                                    size_t outputs)
{
    if (*count > 0 && strncmp(list[*count - 1].term, name, length) == 0 &&
        strlen(list[*count - 1].term) == length)
        return &list[*count - 1];
    output_covariances *made = &list[*count];
    made->term = calloc(length + 1, 1);
    made->b = calloc(outputs * outputs, sizeof *made->b);
    if (made->term == NULL || made->b == NULL) {
        TOOL_FREE(made->term, made->b);
        return NULL;
    }
    memcpy(made->term, name, length);
    ++*count;
    return made;
}

static void free_terms(output_covariances *list, size_t count)
{
    for (size_t k = 0; k < count; k++) TOOL_FREE(list[k].term, list[k].b);
    free(list);
}

/* All of them; *count is 0 when out of memory. */
static output_covariances *find_terms(const hf_model *model, size_t *count)
{
    const size_t outputs = hf_model_outputs(model);
    const size_t most = hf_kernel_coregions(hf_posterior_kernel(hf_model_posterior(model)));
    output_covariances *list = calloc(most + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list != NULL && i < hf_model_parameters(model); i++) {
        hf_parameter p;
        size_t length, s, t;
        if (hf_model_parameter(model, i, &p) < 0 || !parse_entry(p.name, &length, &s, &t)) continue;
        output_covariances *term = add_term(list, count, p.name, length, outputs);
        if (term == NULL) break;
        term->b[s * outputs + t] = term->b[t * outputs + s] = p.value;
    }
    return list;
}

static double correlation(const double *b, size_t outputs, size_t s, size_t t)
{
    const double scale = sqrt(b[s * outputs + s]) * sqrt(b[t * outputs + t]);
    return scale > 0.0 ? b[s * outputs + t] / scale : 0.0;
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Characters of UTF-8, so that columns stay straight. */
static int width_of(const char *text)
{
    int width = 0;
    for (; *text != '\0'; text++) width += ((unsigned char)*text & 0xC0U) != 0x80U;
    return width;
}

static void print_name(FILE *out, const char *name)
{
    const int blanks = 16 - width_of(name);
    say(out, "  %s%*s", name, blanks > 0 ? blanks : 0, "");
}

static void print_table(FILE *out, const hf_model *model, const tool_output *counts)
{
    const hf_posterior *posterior = hf_model_posterior(model);
    const bool mean = hf_mean_coefficients(hf_posterior_mean_function(posterior)) > 0;
    fprintf(out, "\nOutputs, in the units of the data\n  %-16s %9s %10s %12s %12s\n", "", "readings",
            "suspected", mean ? "mean" : "", "noise sd");
    for (size_t t = 0; t < hf_model_outputs(model); t++) {
        print_name(out, hf_model_output(model, t));
        fprintf(out, " %9zu %10zu", counts[t].readings, counts[t].suspected);
        if (mean)
            fprintf(out, " %12.6g", parameter_of(model, "mean", t));
        else
            fprintf(out, " %12s", "");
        fprintf(out, " %12.6g\n", sqrt(hf_posterior_output_noise(posterior, t)));
    }
}

static void print_term(FILE *out, const hf_model *model, const output_covariances *term)
{
    const size_t outputs = hf_model_outputs(model);
    const size_t shown = outputs < SHOWN_CORRELATIONS ? outputs : SHOWN_CORRELATIONS;
    say(out, "\nBetween outputs%s%.*s: sd and correlations\n", *term->term != '\0' ? ", " : "",
        *term->term != '\0' ? (int)strlen(term->term) - 1 : 0, term->term);
    for (size_t s = 0; s < shown; s++) {
        print_name(out, hf_model_output(model, s));
        fprintf(out, " %12.6g ", sqrt(term->b[s * outputs + s]));
        for (size_t t = 0; t <= s; t++) fprintf(out, " %6.3f", correlation(term->b, outputs, s, t));
        fputc('\n', out);
    }
    if (shown < outputs) fprintf(out, "  and %zu more; --json has all\n", outputs - shown);
}

void report_outputs(FILE *out, const hf_model *model, const hf_table *suspects)
{
    size_t count;
    tool_output *counts = count_outputs(model, suspects);
    output_covariances *terms = find_terms(model, &count);
    if (counts != NULL) print_table(out, model, counts);
    for (size_t k = 0; k < count; k++) print_term(out, model, &terms[k]);
    if (terms != NULL) free_terms(terms, count);
    free(counts);
}

/* ---- for machines ---------------------------------------------------------------------------- */

json_t *json_outputs(const hf_model *model)
{
    json_t *list = json_array();
    for (size_t t = 0; t < hf_model_outputs(model); t++)
        json_array_append_new(list, json_text(hf_model_output(model, t)));
    return list;
}

static json_t *json_matrix(const double *b, size_t outputs, bool correlations)
{
    json_t *rows = json_array();
    for (size_t s = 0; s < outputs; s++) {
        json_t *row = json_array();
        for (size_t t = 0; t < outputs; t++)
            json_array_append_new(
                row, json_number(correlations ? correlation(b, outputs, s, t) : b[s * outputs + t]));
        json_array_append_new(rows, row);
    }
    return rows;
}

void json_add_outputs(json_t *object, const hf_model *model, const hf_table *suspects)
{
    const size_t outputs = hf_model_outputs(model);
    const char *column = hf_model_output_column(model);
    size_t count;
    tool_output *counts = count_outputs(model, suspects);
    output_covariances *terms = find_terms(model, &count);
    json_t *list = json_array(), *matrices = json_array();
    for (size_t t = 0; t < outputs; t++)
        json_array_append_new(
            list, JSON_OF({"name", json_text(hf_model_output(model, t))},
                          {"readings", json_count(counts != NULL ? counts[t].readings : 0)},
                          {"suspected", json_count(counts != NULL ? counts[t].suspected : 0)},
                          {"mean", json_number(parameter_of(model, "mean", t))},
                          {"noise", json_number(hf_posterior_output_noise(hf_model_posterior(model), t))}));
    for (size_t k = 0; k < count; k++) {
        json_t *sd = json_array();
        for (size_t t = 0; t < outputs; t++)
            json_array_append_new(sd, json_number(sqrt(terms[k].b[t * outputs + t])));
        json_array_append_new(matrices,
                              JSON_OF({"covariance", json_matrix(terms[k].b, outputs, false)},
                                      {"correlation", json_matrix(terms[k].b, outputs, true)}, {"sd", sd}));
    }
    json_object_set_new(object, "output_column", json_text(column));
    json_object_set_new(object, "outputs", list);
    json_object_set_new(object, "coregionalisation", matrices);
    if (terms != NULL) free_terms(terms, count);
    free(counts);
}
