/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file read_text.h
 * @brief Shared by the oracle programs: reading numbers from standard input, writing arrays as
 * JSON.
 */
#ifndef ORACLE_READ_TEXT_H
#define ORACLE_READ_TEXT_H

#include <holdfast/holdfast.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static inline void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static inline void must(hf_context *ctx, hf_status status, const char *what)
{
    if (status >= 0) return;
    fprintf(stderr, "%s: %s: %s\n", what, hf_status_name(status), hf_context_message(ctx));
    exit(1);
}

/* %la and decimal texts, "nan" and "inf" are all read by scanf. */
static inline double read_number(void)
{
    double value;
    if (scanf("%lf", &value) != 1) fail("a number was expected");
    return value;
}

static inline double *read_numbers(size_t count)
{
    double *values = malloc((count ? count : 1) * sizeof *values);
    if (!values) fail("out of memory");
    for (size_t i = 0; i < count; ++i) values[i] = read_number();
    return values;
}

/* JSON has no word for what is not finite: null. */
static inline json_t *number_json(double value)
{
    json_t *real = json_real(value);
    return real ? real : json_null();
}

static inline json_t *array_json(size_t count, const double *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; ++i) json_array_append_new(array, number_json(values[i]));
    return array;
}

static inline void print_json(json_t *object)
{
    if (json_dumpf(object, stdout, JSON_COMPACT) != 0 || puts("") == EOF) fail("cannot write");
    json_decref(object);
}

#endif
