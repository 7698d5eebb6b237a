/* SPDX-License-Identifier: Apache-2.0 */
/* Dates as people write them, to seconds. */
#include "data/dates.h"

#include "data/manner.h"
#include "data/table_impl.h"

#include <math.h>
#include <string.h>

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t') p++;
    return p;
}

/* Between `least` and `most` digits as a number; NULL where there are not. */
static const char *take_digits(const char *p, size_t least, size_t most, int *value)
{
    size_t count = 0;
    *value = 0;
    for (; count < most && *p >= '0' && *p <= '9'; p++, count++) *value = 10 * *value + (*p - '0');
    return count < least || (*p >= '0' && *p <= '9') ? NULL : p;
}

/* A month by its English name or the first three letters of it, with or without a point. */
static const char *take_month(const char *p, int *month)
{
    static const char *const names[] = {"january",   "february", "march",    "april",
                                        "may",       "june",     "july",     "august",
                                        "september", "october",  "november", "december"};
    for (int k = 0; k < 12; k++) {
        size_t same = 0;
        while (names[k][same] != '\0' && (p[same] | 0x20) == names[k][same]) same++;
        if (same < 3 || (names[k][same] != '\0' && same > 3)) continue;
        *month = k + 1;
        p += same;
        return *p == '.' ? p + 1 : p;
    }
    return NULL;
}

static int days_of(int year, int month)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

static bool is_day(int year, int month, int day)
{
    return year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= days_of(year, month);
}

/* Days since 1970-01-01. A year begins in March here, so that a leap day is its last one. */
static double day_number(int year, int month, int day)
{
    const int shifted = month <= 2 ? year - 1 : year, since = (month + 9) % 12;
    const int era = shifted / 400, of_era = shifted % 400, of_year = (153 * since + 2) / 5 + day - 1;
    const int leap_days = of_era / 4 - of_era / 100;
    return 146097.0 * era + 365.0 * of_era + leap_days + of_year - 719468.0;
}

/* Z, +01:00, +0100 or +01; the offset in seconds. */
static const char *take_offset(const char *p, hfi_date *out)
{
    int hours, minutes = 0;
    if (*p == 'Z' || *p == 'z') {
        out->offset = true;
        return p + 1;
    }
    if (*p != '+' && *p != '-') return p;
    const double sign = *p == '-' ? -1.0 : 1.0;
    const char *end = take_digits(p + 1, 4, 4, &minutes);
    if (end != NULL) {
        hours = minutes / 100;
        minutes %= 100;
    } else {
        end = take_digits(p + 1, 2, 2, &hours);
        if (end != NULL && *end == ':') end = take_digits(end + 1, 2, 2, &minutes);
    }
    if (end == NULL || hours > 14 || minutes > 59) return NULL;
    out->offset = true;
    out->seconds -= sign * (3600.0 * hours + 60.0 * minutes);
    return end;
}

/* 14:05, 14:05:30, 14:05:30.25, 2:05 PM. */
static const char *take_time(const char *p, hfi_date *out)
{
    int hour, minute, second = 0;
    double fraction = 0, unit = 0.1;
    p = take_digits(p, 1, 2, &hour);
    if (p == NULL || *p != ':') return NULL;
    p = take_digits(p + 1, 2, 2, &minute);
    if (p != NULL && *p == ':') p = take_digits(p + 1, 2, 2, &second);
    if (p == NULL || hour > 23 || minute > 59 || second > 60) return NULL;
    if ((*p == '.' || *p == ',') && p[1] >= '0' && p[1] <= '9')
        for (p++; *p >= '0' && *p <= '9'; p++, unit /= 10) fraction += unit * (*p - '0');
    const char *half = skip_blanks(p);
    if ((half[0] | 0x20) == 'p' || (half[0] | 0x20) == 'a') {
        if ((half[1] | 0x20) != 'm' || hour < 1 || hour > 12) return NULL;
        hour = hour % 12 + ((half[0] | 0x20) == 'p' ? 12 : 0);
        p = half + 2;
    }
    out->timed = true;
    out->seconds = 3600.0 * hour + 60.0 * minute + second + fraction;
    return p;
}

/* 2024-03-05, with - or / or a point between; 2024-03. */
static const char *take_iso(const char *p, hfi_date *out)
{
    p = take_digits(p, 4, 4, &out->year);
    if (p == NULL || (*p != '-' && *p != '/' && *p != '.')) return NULL;
    const char mark = *p;
    p = take_digits(p + 1, 1, 2, &out->month);
    if (p == NULL) return NULL;
    out->day = 1;
    out->form = HFI_DATE_MONTH;
    if (*p != mark) return mark == '-' && out->month >= 1 && out->month <= 12 ? p : NULL;
    out->form = HFI_DATE_ISO;
    return take_digits(p + 1, 1, 2, &out->day);
}

/* 05.03.2024 and its relatives. */
static const char *take_numbers(const char *p, hfi_date *out)
{
    p = take_digits(p, 1, 2, &out->month);
    if (p == NULL || (*p != '-' && *p != '/' && *p != '.')) return NULL;
    out->mark = *p;
    out->form = HFI_DATE_NUMBERS;
    p = take_digits(p + 1, 1, 2, &out->day);
    return p != NULL && *p == out->mark ? take_digits(p + 1, 4, 4, &out->year) : NULL;
}

/* 5 March 2024, 5-Mar-2024. */
static const char *take_day_name(const char *p, hfi_date *out)
{
    out->form = HFI_DATE_NAME;
    p = take_digits(p, 1, 2, &out->day);
    if (p == NULL || (*p != ' ' && *p != '-' && *p != '.' && *p != '/')) return NULL;
    const char between = *p == '.' ? ' ' : *p;
    p = take_month(skip_blanks(p + 1), &out->month);
    if (p == NULL || *p != between) return NULL;
    return take_digits(skip_blanks(p + 1), 4, 4, &out->year);
}

/* March 5, 2024. */
static const char *take_name_day(const char *p, hfi_date *out)
{
    out->form = HFI_DATE_NAME;
    p = take_month(p, &out->month);
    if (p == NULL || *p != ' ') return NULL;
    p = take_digits(skip_blanks(p), 1, 2, &out->day);
    if (p == NULL || (*p != ' ' && *p != ',')) return NULL;
    return take_digits(skip_blanks(*p == ',' ? p + 1 : p), 4, 4, &out->year);
}

/* The ways to write a day, in the order in which they are tried. */
static const char *(*const day_readers[])(const char *p, hfi_date *out) = {take_iso, take_numbers,
                                                                           take_day_name, take_name_day};

/* A time behind a day: after a T or a blank. */
static const char *take_time_of_day(const char *p, hfi_date *out)
{
    if (*p != 'T' && *p != 't' && *p != ' ') return p;
    const char *at = skip_blanks(p + 1);
    if (out->form == HFI_DATE_MONTH || (*at == '\0' && *p == ' ')) return at;
    p = take_time(at, out);
    return p != NULL ? take_offset(skip_blanks(p), out) : NULL;
}

bool hfi_date_take(const char *text, hfi_date *out)
{
    const char *begin = skip_blanks(text), *p = NULL;
    if ((unsigned)*begin - '0' > 9 && (unsigned)(*begin | 0x20) - 'a' > 25) return false;
    for (size_t k = 0; k < sizeof day_readers / sizeof day_readers[0] && p == NULL; k++) {
        *out = (hfi_date){0};
        p = day_readers[k](begin, out);
    }
    if (p != NULL) {
        p = take_time_of_day(p, out);
    } else {
        *out = (hfi_date){.form = HFI_DATE_TIME, .year = 1970, .month = 1, .day = 1};
        p = take_time(begin, out);
    }
    if (p == NULL || *skip_blanks(p) != '\0') return false;
    return out->form == HFI_DATE_NUMBERS
               ? is_day(out->year, out->month, out->day) || is_day(out->year, out->day, out->month)
               : is_day(out->year, out->month, out->day);
}

/* ---- columns ----------------------------------------------------------------------------------------------- */

static bool is_day_in(const hfi_date *date, hf_date_order order)
{
    return order == HF_DATE_ORDER_DAY ? is_day(date->year, date->day, date->month)
                                      : is_day(date->year, date->month, date->day);
}

hfi_dates_found hfi_dates_find(const hf_table *table, size_t column, hf_date_order order,
                               hfi_date_style *style)
{
    char buffer[32];
    hfi_date date;
    size_t dates = 0;
    bool day_first = order != HF_DATE_ORDER_MONTH, month_first = order != HF_DATE_ORDER_DAY, same = true;
    for (size_t i = 0; i < hf_table_rows(table); i++) {
        const char *text = hf_table_field(table, i, column, buffer);
        if (hfi_field_is_missing(table, text)) continue;
        if (!hfi_date_take(text, &date)) return HFI_DATES_NONE;
        if (dates++ == 0)
            *style = (hfi_date_style){.form = date.form, .mark = date.mark, .offset = date.offset};
        if (date.form != style->form || date.mark != style->mark || date.offset != style->offset)
            return HFI_DATES_NONE;
        style->timed = style->timed || date.timed;
        if (date.form != HFI_DATE_NUMBERS) continue;
        day_first = day_first && is_day_in(&date, HF_DATE_ORDER_DAY);
        month_first = month_first && is_day_in(&date, HF_DATE_ORDER_MONTH);
        same = same && date.month == date.day;
    }
    if (dates == 0 || (!day_first && !month_first)) return HFI_DATES_NONE;
    style->order = day_first ? HF_DATE_ORDER_DAY : HF_DATE_ORDER_MONTH;
    const bool open =
        style->form == HFI_DATE_NUMBERS && style->mark != '.' && day_first && month_first && !same;
    return open ? HFI_DATES_UNSURE : HFI_DATES_FOUND;
}

bool hfi_date_read(const hf_table *table, const hfi_date_style *style, const char *text, double *value)
{
    hfi_date date;
    if (hfi_field_is_missing(table, text)) {
        *value = NAN;
        return true;
    }
    if (!hfi_date_take(text, &date) || (date.timed && date.offset != style->offset)) return false;
    /* A time is no day, and the order of 03/04/2024 is known of its own form alone. */
    const bool particular =
        date.form == HFI_DATE_TIME || date.form == HFI_DATE_NUMBERS || style->form == HFI_DATE_TIME;
    if (particular && date.form != style->form) return false;
    const bool swap = date.form == HFI_DATE_NUMBERS && style->order == HF_DATE_ORDER_DAY;
    const int month = swap ? date.day : date.month, day = swap ? date.month : date.day;
    if (!is_day(date.year, month, day)) return false;
    *value = 86400.0 * day_number(date.year, month, day) + date.seconds;
    return true;
}

const char *hfi_date_text(const hfi_date_style *style, double seconds, char buffer[32])
{
    const double day = floor(seconds / 86400.0), rest = seconds - 86400.0 * day;
    const int hour = (int)(rest / 3600.0), minute = (int)((rest - 3600.0 * hour) / 60.0);
    const double second = rest - 3600.0 * hour - 60.0 * minute;
    int year = (int)(1970.0 + day / 365.2425), month = 1;
    while (day_number(year + 1, 1, 1) <= day) year++;
    while (day_number(year, 1, 1) > day) year--;
    while (month < 12 && day_number(year, month + 1, 1) <= day) month++;
    const int of_month = (int)(day - day_number(year, month, 1)) + 1;
    int used = 0;
    if (style->form != HFI_DATE_TIME) used = hfi_print(buffer, 32, "%04d-%02d-%02d", year, month, of_month);
    if (style->timed && used >= 0 && used < 32)
        hfi_print(buffer + used, (size_t)(32 - used), "%s%02d:%02d:%06.3f", used > 0 ? "T" : "", hour, minute,
                  second);
    char *point = style->timed ? strrchr(buffer, '.') : NULL;
    if (point != NULL && strcmp(point, ".000") == 0) *point = '\0';
    return buffer;
}
