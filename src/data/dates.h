/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file dates.h
 * @brief Dates and times of fields as numbers of seconds, by the Gregorian calendar and without
 * leap seconds.
 */
#ifndef HFI_DATA_DATES_H
#define HFI_DATA_DATES_H

#include "core/core.h"

#include <holdfast/table.h>

/** Which way of writing a field has, so that all of a column have the same. */
typedef enum hfi_date_form {
    HFI_DATE_ISO,     /* 2024-03-05, 2024/03/05, 2024.03.05 */
    HFI_DATE_MONTH,   /* 2024-03: the first day */
    HFI_DATE_NUMBERS, /* 05.03.2024, 5/3/2024, 05-03-2024: the order is another question */
    HFI_DATE_NAME,    /* 5 March 2024, 5-Mar-2024, Mar 5, 2024 */
    HFI_DATE_TIME     /* 14:05, 14:05:30.5: seconds since midnight */
} hfi_date_form;

/** A field taken apart. */
typedef struct hfi_date {
    hfi_date_form form;
    char mark;            /* what separates HFI_DATE_NUMBERS */
    int year, month, day; /* HFI_DATE_NUMBERS: `month` is the first number, `day` the second */
    double seconds;       /* of the day, less the offset from UTC */
    bool timed, offset;   /* there is a time; and where on Earth */
} hfi_date;

/** Takes a field apart; false if it is no date. O(length). */
bool hfi_date_take(const char *text, hfi_date *out);

/** How the dates of a column are written. */
typedef struct hfi_date_style {
    hfi_date_form form;
    char mark;
    bool timed, offset;  /* numbers are seconds if `timed`, else days */
    hf_date_order order; /* never AUTO where it matters */
} hfi_date_style;

/** Results of looking at a column. */
typedef enum hfi_dates_found {
    /* some field is no date, or all are missing, or they are written in several ways */
    HFI_DATES_NONE,
    HFI_DATES_UNSURE, /* 03/04/2024 in all rows: the order is open */
    HFI_DATES_FOUND
} hfi_dates_found;

/** Whether all fields of a column that are there are dates of one style. */
hfi_dates_found hfi_dates_find(const hf_table *table, size_t column, hf_date_order order,
                               hfi_date_style *style);
/** Seconds since 1970-01-01 (of HFI_DATE_TIME since midnight) of a field by that style; NaN if it
 * is missing. False if it is neither: then *value is as it was. */
bool hfi_date_read(const hf_table *table, const hfi_date_style *style, const char *text,
                   double *value);
/** That many seconds as 2024-03-05 or 2024-03-05T14:05:30, without a zone. Returns buffer. */
const char *hfi_date_text(const hfi_date_style *style, double seconds, char buffer[32]);

#endif
