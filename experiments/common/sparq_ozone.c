/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_ozone.h"
#include "common/sets.h"

#include <math.h>
#include <string.h>

static const char readings[] = "ny_ozone/nysptime.csv";

bool ozone_there(const char *data)
{
    char path[SETS_PATH];
    return sets_find(data, readings, path);
}

void ozone_explain(const char *data)
{
    sets_explain(data, readings, "nothing was run");
}

/* ---- reading ------------------------------------------------------------------------------------------- */

enum {
    STATION,
    EAST,
    NORTH,
    MONTH,
    DAY,
    OZONE,
    COLUMNS
};

static bool take_rows(size_t rows, const double *const column[COLUMNS], ozone_data *out)
{
    for (size_t i = 0; i < rows; ++i) {
        const double station = column[STATION][i], day = 31.0 * (column[MONTH][i] - 7.0) + column[DAY][i];
        if (!(station >= 1.0 && station <= OZONE_STATIONS && day >= 1.0 && day <= OZONE_DAYS)) return false;
        const size_t s = (size_t)station - 1;
        out->place[2 * s] = column[EAST][i] / 1000.0;
        out->place[2 * s + 1] = column[NORTH][i] / 1000.0;
        out->value[(size_t)day - 1][s] = column[OZONE][i];
    }
    return true;
}

static void finish(ozone_data *out)
{
    out->missing = 0;
    for (size_t day = 0; day < OZONE_DAYS; ++day) {
        out->best[day] = -INFINITY;
        for (size_t s = 0; s < OZONE_STATIONS; ++s) {
            out->missing += isnan(out->value[day][s]) ? 1 : 0;
            out->best[day] = fmax(out->best[day], out->value[day][s]); /* NaN loses */
        }
    }
}

bool ozone_read(hf_context *ctx, const char *data, ozone_data *out)
{
    static const char *const names[COLUMNS] = {"s_index", "utmx", "utmy", "Month", "Day", "y8hrmax"};
    const double *column[COLUMNS] = {NULL};
    char path[SETS_PATH];
    hf_table *table = NULL;
    sets_find(data, readings, path);
    for (size_t day = 0; day < OZONE_DAYS; ++day)
        for (size_t s = 0; s < OZONE_STATIONS; ++s) out->value[day][s] = NAN;
    hf_status status = hf_table_read_csv(ctx, path, &table);
    for (size_t j = 0; j < COLUMNS && status >= 0; ++j) {
        size_t place;
        status = hf_table_find(ctx, table, names[j], &place);
        if (status >= 0) status = hf_table_numbers(ctx, table, place, &column[j]);
    }
    const bool good = status >= 0 && take_rows(hf_table_rows(table), column, out);
    if (status < 0) fprintf(stderr, "%s: %s\n", path, hf_context_message(ctx));
    if (status >= 0 && !good) fprintf(stderr, "%s: a station or a day that is not known\n", path);
    hf_table_free(table);
    finish(out);
    return good;
}

/* ---- the world ----------------------------------------------------------------------------------------- */

static double value(const void *user, size_t step, const double *x, size_t index)
{
    const ozone_data *data = user;
    (void)x;
    return data->value[step - 1][index];
}

static double best(const void *user, size_t step)
{
    const ozone_data *data = user;
    return data->best[step - 1];
}

sparq_world ozone_world(const ozone_data *data)
{
    return (sparq_world){.domain = {.dimension = 2, .candidates = OZONE_STATIONS, .points = data->place},
                         .steps = OZONE_DAYS,
                         .value = value,
                         .best = best,
                         .user = data};
}

static bool fine(hf_context *ctx, hf_status status)
{
    if (status < 0) fprintf(stderr, "ozone: %s\n", hf_context_message(ctx));
    return status >= 0;
}

static bool tell_days(hf_context *ctx, hf_track *track, const ozone_data *data, size_t days)
{
    for (size_t day = 0; day < days; ++day)
        for (size_t s = 0; s < OZONE_STATIONS; ++s)
            if (!isnan(data->value[day][s]) &&
                !fine(ctx, hf_track_tell(ctx, track, (double)day + 1.0, data->place + 2 * s,
                                         data->value[day][s], 0.0, NULL)))
                return false;
    return true;
}

static bool take_fit(hf_context *ctx, const hf_track *track, double largest, ozone_fit *out)
{
    const hf_kernel *kernel = hf_track_kernel(track);
    double scale = NAN, length = NAN;
    for (size_t i = 0; i < hf_kernel_parameters(kernel); ++i) {
        hf_parameter parameter;
        if (!fine(ctx, hf_kernel_parameter(kernel, i, &parameter))) return false;
        if (strcmp(parameter.name, "lengthscale") == 0) length = parameter.value;
        if (strcmp(parameter.name, "outputscale") == 0) scale = parameter.value;
    }
    snprintf(out->kernel, sizeof out->kernel, "se(outputscale=%.6g, lengthscale=%.6g)", scale, length);
    out->norm = largest / sqrt(scale);
    out->noise = hf_track_settings_of(track)->noise;
    out->rate = hf_track_settings_of(track)->age.rate;
    return true;
}

bool ozone_fit_make(hf_context *ctx, const ozone_data *data, size_t days, ozone_fit *out)
{
    hf_track_settings settings = hf_track_settings_default(HF_TRACK_UI_GP_UCB);
    hf_track *track = NULL;
    double largest = 0.0;
    for (size_t day = 0; day < days; ++day) largest = fmax(largest, data->best[day]);
    settings.domain = ozone_world(data).domain;
    settings.kernel = "se(outputscale~100, lengthscale~100)";
    settings.noise = 20.0;
    settings.age.rate = 10.0;
    const bool ok = fine(ctx, hf_track_create(ctx, &settings, &track)) && tell_days(ctx, track, data, days) &&
                    fine(ctx, hf_track_fit(ctx, track)) && take_fit(ctx, track, largest, out);
    hf_track_free(track);
    return ok;
}

/* ---- references ---------------------------------------------------------------------------------------- */

static double station_regret(const ozone_data *data, size_t s)
{
    double sum = 0.0, count = 0.0;
    for (size_t day = 0; day < OZONE_DAYS; ++day) {
        if (isnan(data->value[day][s])) continue;
        sum += data->best[day] - data->value[day][s];
        count += 1.0;
    }
    return sum / count;
}

static double yesterdays_regret(const ozone_data *data)
{
    double sum = 0.0, count = 0.0;
    for (size_t day = 1; day < OZONE_DAYS; ++day)
        for (size_t s = 0; s < OZONE_STATIONS; ++s) {
            if (data->value[day - 1][s] != data->best[day - 1] || isnan(data->value[day][s])) continue;
            sum += data->best[day] - data->value[day][s];
            count += 1.0;
        }
    return sum / count;
}

void ozone_references(const ozone_data *data, double *fixed, size_t *which, double *random, double *yesterday)
{
    *fixed = INFINITY;
    *random = 0.0;
    for (size_t s = 0; s < OZONE_STATIONS; ++s) {
        const double regret = station_regret(data, s);
        *random += regret / OZONE_STATIONS;
        if (regret >= *fixed) continue;
        *fixed = regret;
        *which = s + 1;
    }
    *yesterday = yesterdays_regret(data);
}
