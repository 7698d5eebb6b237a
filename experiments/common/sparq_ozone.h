/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sparq_ozone.h
 * @brief Ozone at 28 stations of New York State on 62 days: where is it worst today?
 */
#ifndef EXPERIMENTS_SPARQ_OZONE_H
#define EXPERIMENTS_SPARQ_OZONE_H

#include "common/sparq_world.h"

enum {
    OZONE_STATIONS = 28,
    OZONE_DAYS = 62
};

/** The largest mean over eight hours of each day, in ppb; NaN where it is missing. */
typedef struct ozone_data {
    double place[2 * OZONE_STATIONS]; /**< east and north, in km */
    double value[OZONE_DAYS][OZONE_STATIONS];
    double best[OZONE_DAYS];
    size_t missing;
} ozone_data;

/** Whether DATA/ny_ozone/nysptime.csv is there. */
bool ozone_there(const char *data);
/** Tells on standard error that it is not. */
void ozone_explain(const char *data);
/** Reads it. false: reason on standard error. */
bool ozone_read(hf_context *ctx, const char *data, ozone_data *out);
/** Its world: one station a day, no errors but those that are in the data. `data` must stay. */
sparq_world ozone_world(const ozone_data *data);

/** Kernel, noise and rate that hf_track_fit() finds on all stations' first days. */
typedef struct ozone_fit {
    char kernel[120];
    double noise, rate;
    /** largest reading of those days / sqrt(outputscale): no function with it has less, if the
     * prior mean is 0 */
    double norm;
} ozone_fit;
bool ozone_fit_make(hf_context *ctx, const ozone_data *data, size_t days, ozone_fit *out);

/** Average regrets, over the days that a station was read: of the station that is best in hindsight
 * (its number goes to *which); of a station at random; of the station that was best the day
 * before. */
void ozone_references(const ozone_data *data, double *fixed, size_t *which, double *random,
                      double *yesterday);

#endif
