/* SPDX-License-Identifier: Apache-2.0 */
/* holdfast inspect, of an envelope. */
#include "envelope/bounded.h"
#include "fit/inspect.h"

#include <math.h>
#include <stdlib.h>

/* Readings by what limits them. */
typedef struct kinds {
    size_t both, lower, upper, exact;
    double widest;
} kinds;

static kinds count_kinds(const hf_envelope *envelope)
{
    kinds k = {0};
    for (size_t i = 0; i < hf_envelope_readings(envelope); i++) {
        double low, high;
        if (hf_envelope_reading(envelope, i, NULL, &low, &high) < 0) continue;
        if (low == high)
            k.exact++;
        else if (isinf(low))
            k.upper++;
        else if (isinf(high))
            k.lower++;
        else
            k.both++;
        if (isfinite(high - low)) k.widest = fmax(k.widest, high - low);
    }
    return k;
}

static json_t *json_envelope(const hf_envelope *e, const hf_envelope_labels *labels, const char *file)
{
    const kinds k = count_kinds(e);
    hf_envelope_settings settings = hf_envelope_settings_default();
    (void)hf_envelope_get_settings(NULL, e, &settings, sizeof settings);
    json_t *inputs = json_array();
    for (size_t j = 0; j < labels->feature_count; j++)
        json_array_append_new(inputs, json_text(labels->features[j]));
    return JSON_OF({"envelope", json_text(file)}, {"target", json_text(labels->target)},
                   {"source", json_text(labels->source)}, {"inputs", inputs},
                   {"kernel", bounded_json_kernel(hf_envelope_kernel(e))},
                   {"distinct", json_count(hf_envelope_readings(e))}, {"intervals", json_count(k.both)},
                   {"from_below", json_count(k.lower)}, {"from_above", json_count(k.upper)},
                   {"exact", json_count(k.exact)}, {"widest", json_number(k.widest)},
                   {"offset", json_number(hf_envelope_offset(e))}, {"norm", json_number(hf_envelope_norm(e))},
                   {"minimum_norm", json_number(hf_envelope_minimum_norm(e))},
                   {"jitter", json_number(settings.jitter)}, {"rigorous", json_boolean(settings.rigorous)},
                   {"reserve", json_count(settings.reserve)}, {"bytes", json_number(hf_envelope_bytes(e))});
}

static void print_text(const hf_envelope *e, const hf_envelope_labels *labels)
{
    const kinds k = count_kinds(e);
    hf_envelope_settings settings = hf_envelope_settings_default();
    (void)hf_envelope_get_settings(NULL, e, &settings, sizeof settings);
    const double norm = hf_envelope_norm(e), least = hf_envelope_minimum_norm(e);
    char words[TOOL_WORDS];
    say(stdout, "Envelope of %s by ", labels->target);
    for (size_t j = 0; j < labels->feature_count; j++)
        say(stdout, "%s%s", j > 0 ? ", " : "", labels->features[j]);
    printf("\n\n");
    if (*labels->source != '\0') say(stdout, "readings from    %s\n", labels->source);
    printf("distinct         %zu: %zu intervals, %zu exact, %zu from below only, %zu from above only\n",
           hf_envelope_readings(e), k.both, k.exact, k.lower, k.upper);
    printf("widest interval  %.6g\n", k.widest);
    bounded_print_kernel(hf_envelope_kernel(e));
    if (hf_envelope_offset(e) != 0.0)
        printf("offset           %.6g: norms are those of the function less that\n", hf_envelope_offset(e));
    printf("norm bound       %.6g; the readings ask for %.6g (%.0f %%)\n", norm, least, 100.0 * least / norm);
    printf("jitter           %g\n", settings.jitter);
    printf("rounding         %s\n", settings.rigorous ? "all of it accounted for" : "not accounted for");
    printf("memory           %s\n", bytes_in_words(hf_envelope_bytes(e), words));
}

/* The readings as a table: inputs, lower, upper. */
static hf_status write_readings(hf_context *ctx, const hf_envelope *e, const hf_envelope_labels *labels,
                                const char *path)
{
    const size_t n = hf_envelope_readings(e), d = labels->feature_count;
    hf_table *table = NULL;
    double *columns = calloc(n * (d + 2), sizeof *columns);
    hf_status status = columns != NULL ? hf_table_create(ctx, n, &table) : HF_ERR_MEMORY;
    for (size_t i = 0; i < n && status >= 0; i++) {
        const double *x;
        status = hf_envelope_reading(e, i, &x, &columns[d * n + i], &columns[(d + 1) * n + i]);
        for (size_t j = 0; j < d && status >= 0; j++) columns[j * n + i] = x[j];
    }
    for (size_t j = 0; j < d + 2 && status >= 0; j++)
        status = hf_table_set_numbers(ctx, table,
                                      j < d    ? labels->features[j]
                                      : j == d ? "lower"
                                               : "upper",
                                      columns + j * n);
    if (status >= 0) status = hf_table_write_csv(ctx, table, path);
    hf_table_free(table);
    free(columns);
    return status;
}

hf_status inspect_envelope(tool_session *session, const char *file, const char *rows)
{
    hf_envelope *envelope = NULL;
    hf_envelope_labels *labels = NULL;
    hf_status status = hf_envelope_load(session->ctx, file, &envelope, &labels);
    progress_clear(session->progress);
    if (status >= 0 && rows != NULL) status = write_readings(session->ctx, envelope, labels, rows);
    progress_clear(session->progress);
    const bool only_rows = is_standard(rows);
    if (status >= 0 && !only_rows && session->json)
        session_print(session, json_envelope(envelope, labels, file));
    else if (status >= 0 && !only_rows)
        print_text(envelope, labels);
    hf_envelope_labels_free(labels);
    hf_envelope_free(envelope);
    return status;
}
