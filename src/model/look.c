/* SPDX-License-Identifier: Apache-2.0 */
/* Odd inputs: codes for "missing", values far from all others, columns that count the rows. */
#include "model/look.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

/* ---- codes ----------------------------------------------------------------------------------------------- */

/* How much a value looks like a code by itself. */
typedef enum looks {
    LOOKS_ORDINARY,
    LOOKS_SPECIAL, /* 0, 1, -1 to -9, 77, -888: codes in some tables, plain values in others */
    LOOKS_RESERVED /* -999, 99.9, 1e30, 32767: hardly anything else */
} looks;

/* 99, 999, ..., also with one or two of the nines behind the point. */
static bool is_nines(double size)
{
    if (size < 99.0) return false;
    double power = 10.0;
    for (int digits = 2; digits <= 15; digits++) {
        power *= 10.0;
        for (int behind = 0; behind <= 2; behind++) {
            const double moved = size * (behind == 0 ? 1.0 : behind == 1 ? 10.0 : 100.0);
            if (fabs(moved - (power - 1.0)) <= 1e-12 * power) return true;
        }
    }
    return false;
}

/* 77, 888, ...: one digit, at least twice. */
static bool is_one_digit(double size)
{
    double ones = 1.0;
    for (int digits = 2; digits <= 9; digits++) {
        ones = 10.0 * ones + 1.0;
        if (size >= ones && size <= 9.0 * ones && fmod(size, ones) == 0.0) return true;
    }
    return false;
}

static looks looks_of(double value)
{
    /* 999.25: the code of well logs; then the limits of integers; huge: fill values of 32 and 64 bits. */
    static const double reserved[] = {999.25,       32767.0,      32768.0,      65535.0,
                                      2147483647.0, 2147483648.0, 4294967295.0, 9223372036854775807.0};
    const double size = fabs(value);
    if (size >= 1e20 || is_nines(size)) return LOOKS_RESERVED;
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (size == reserved[i]) return LOOKS_RESERVED;
    if (size == floor(size) && (size <= 1.0 || (value < 0.0 && size <= 9.0) || is_one_digit(size)))
        return LOOKS_SPECIAL;
    return LOOKS_ORDINARY;
}

/* Half of b - a, which does not overflow. */
static double half_gap(double a, double b)
{
    return 0.5 * b - 0.5 * a;
}

/* Whether a value that lies `gap` beyond others, which are `range` wide (halves of both), is a code.
 *
 * A gap wider than all other values together is what measurements hardly leave: of 100 normal
 * numbers, the outermost would lie five standard deviations beyond the next. Heavy tails leave such
 * gaps, but not twice at the same number. So a repeated special value needs such a gap, and a
 * reserved one needs no repetition. Levels of a design (1, 2, 3, 20) and classes (1 to 8, 24) leave
 * wide gaps beside repeated values: any other number must be a decimal digit farther out. So must
 * a code beside two values only, since 0 and 1 are a range of 1 by convention. A reserved value
 * that repeats may be as near as a quarter of the range: -999 below heights of 0 to 3000. */
static bool is_code(const hfi_code *code, double gap, double range, size_t distinct)
{
    const looks like = looks_of(code->value);
    const bool repeats = code->count >= 3;
    double factor = like == LOOKS_ORDINARY || distinct < 3 ? 9.0 : 1.0;
    if (like == LOOKS_RESERVED && repeats && distinct >= 3) factor = 0.25;
    if (like != LOOKS_RESERVED && distinct < 8) return false;
    return (repeats || like == LOOKS_RESERVED) && gap > factor * range;
}

/* Sorted values, and the outermost different ones of them with their counts. */
typedef struct column {
    const double *sorted;
    size_t n, distinct;
    hfi_code low[2], high[2]; /* the outermost first */
} column;

/* The run of equal values at one end of sorted[begin .. end - 1]. */
static hfi_code run_at(const double *sorted, size_t begin, size_t end, bool high)
{
    hfi_code run = {.value = high ? sorted[end - 1] : sorted[begin]};
    while (run.count < end - begin && sorted[high ? end - 1 - run.count : begin + run.count] == run.value)
        run.count++;
    return run;
}

static column describe_sorted_column(const double *sorted, size_t n)
{
    column c = {.sorted = sorted, .n = n, .distinct = 1};
    for (size_t i = 1; i < n; i++) c.distinct += sorted[i] != sorted[i - 1] ? 1 : 0;
    size_t begin = 0, end = n;
    for (size_t k = 0; k < 2 && begin < n; k++) begin += (c.low[k] = run_at(sorted, begin, n, false)).count;
    for (size_t k = 0; k < 2 && end > 0; k++) end -= (c.high[k] = run_at(sorted, 0, end, true)).count;
    return c;
}

/* Whether the `a` lowest and `b` highest different values are all codes beside what is left. */
static bool are_codes(const column *c, size_t a, size_t b, size_t *begin, size_t *end)
{
    if (c->distinct < a + b + 2) return false;
    const size_t left = c->distinct - a - b;
    size_t first = 0, last = c->n - 1;
    for (size_t k = 0; k < a; k++) first += c->low[k].count;
    for (size_t k = 0; k < b; k++) last -= c->high[k].count;
    const double low = c->sorted[first], high = c->sorted[last], range = half_gap(low, high);
    for (size_t k = 0; k < a; k++)
        if (!is_code(&c->low[k], half_gap(c->low[k].value, low), range, left)) return false;
    for (size_t k = 0; k < b; k++)
        if (!is_code(&c->high[k], half_gap(high, c->high[k].value), range, left)) return false;
    *begin = first;
    *end = last + 1;
    return true;
}

/* As many codes as there are; the rest is sorted[*begin .. *end - 1]. False: there is none. */
static bool find_codes(const double *sorted, size_t n, hfi_column_look *out, size_t *begin, size_t *end)
{
    const column c = describe_sorted_column(sorted, n);
    for (size_t most = HFI_CODES; most > 0; most--)
        for (size_t a = 0; a <= 2 && a <= most; a++) {
            if (most - a > 2 || !are_codes(&c, a, most - a, begin, end)) continue;
            for (size_t k = 0; k < a; k++) out->code[out->codes++] = c.low[k];
            for (size_t k = most - a; k-- > 0;) out->code[out->codes++] = c.high[k];
            return true;
        }
    return false;
}

/* ---- far values ------------------------------------------------------------------------------------------ */

/* Values as they are, or mirrored: the k-th from the top. */
static double from_top(const double *sorted, size_t n, bool mirrored, size_t k)
{
    return mirrored ? -sorted[k] : sorted[n - 1 - k];
}

/* How many values at the top lie far beyond all others: a twentieth at most.
 *
 * Far is more than five times the width of the middle four fifths beyond these. It is also at least
 * twice as far from the median as the next value. Numbers that cannot be negative may have a long tail:
 * they must be far on the logarithmic scale too, where widths are those of the upper half. Among
 * lognormal numbers that are values beyond 3.8 standard deviations with a gap of 1.3 below. */
static size_t count_far(const double *sorted, size_t n, bool mirrored)
{
    const size_t tenth = n / 10, most = n >= 40 ? n / 20 : 1;
    if (tenth == 0) return 0;
    const double top = from_top(sorted, n, mirrored, tenth), median = from_top(sorted, n, mirrored, n / 2),
                 low = from_top(sorted, n, mirrored, n - 1 - tenth), width = half_gap(low, top);
    const bool positive = from_top(sorted, n, mirrored, n - 1) >= 0.0;
    if (!(width > 0.0) || (positive && !(median > 0.0 && top > median))) return 0;
    for (size_t k = most; k > 0; k--) {
        const double value = from_top(sorted, n, mirrored, k - 1), next = from_top(sorted, n, mirrored, k);
        if (!(half_gap(top, value) > 5.0 * width)) continue;
        if (!(half_gap(next, value) >= half_gap(median, next))) continue;
        const double upper = positive ? log(top) - log(median) : 0.0;
        if (positive && !(log(value) - log(top) > 2.0 * upper && log(value) - log(next) > upper)) continue;
        return k;
    }
    return 0;
}

void hfi_look_at_column(size_t n, double *values, hfi_column_look *out)
{
    *out = (hfi_column_look){0};
    hfi_median(values, n); /* sorts */
    size_t begin = 0, end = n;
    if (n >= 10) {
        /* A far value at one end makes the range of the others wide and hides codes at the other end. */
        const size_t below = count_far(values, n, true), above = count_far(values, n, false);
        const size_t trim[3][2] = {{0, 0}, {0, above}, {below, 0}};
        size_t trimmed = 0;
        for (size_t k = 0; k < 3 && out->codes == 0; k++) {
            const size_t from = trim[k][0], to = n - trim[k][1];
            if (!find_codes(values + from, to - from, out, &begin, &end)) continue;
            trimmed = n - (to - from);
            begin += from;
            end += from;
        }
        const size_t low = count_far(values + begin, end - begin, true),
                     high = count_far(values + begin, end - begin, false);
        begin += low;
        end -= high;
        out->far = trimmed + low + high;
    }
    out->low = values[begin];
    out->high = values[end - 1];
}

bool hfi_look_is_code(const hfi_column_look *look, double value)
{
    for (size_t k = 0; k < look->codes; k++)
        if (look->code[k].value == value) return true;
    return false;
}

bool hfi_look_is_far(const hfi_column_look *look, double value)
{
    return look->far > 0 && (value < look->low || value > look->high) && !hfi_look_is_code(look, value);
}

/* ---- numbers of rows ------------------------------------------------------------------------------------- */

static bool are_integers(size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] != floor(values[i]) || fabs(values[i]) > 9007199254740992.0) return false;
    return true;
}

static bool rises(size_t n, const double *values, double sign)
{
    for (size_t i = 1; i < n; i++)
        if (!(sign * values[i] > sign * values[i - 1])) return false;
    return true;
}

static bool has_one_step(size_t n, const double *values)
{
    for (size_t i = 2; i < n; i++)
        if (values[i] - values[i - 1] != values[1] - values[0]) return false;
    return true;
}

/* Ten numbers drawn from ten are a permutation once in 2756 times, thirty drawn from sixty differ
 * once in 6000; more, or from fewer, more rarely. Thirty in order by chance are out of the question,
 * and tables are rarely sorted by an input that has no ties. */
hfi_counter hfi_look_at_order(size_t n, const double *values, double *scratch)
{
    if (n < 10 || !are_integers(n, values)) return HFI_COUNTS_NOTHING;
    const bool ordered = rises(n, values, 1.0) || rises(n, values, -1.0);
    memcpy(scratch, values, n * sizeof *scratch);
    hfi_median(scratch, n); /* sorts */
    if (!rises(n, scratch, 1.0)) return HFI_COUNTS_NOTHING;
    const double span = scratch[n - 1] - scratch[0] + 1.0, count = (double)n;
    if (ordered && (n >= 30 || 2.0 * count >= span || has_one_step(n, values))) return HFI_COUNTS_IN_ORDER;
    if (count == span || (n >= 30 && 2.0 * count >= span)) return HFI_COUNTS_SHUFFLED;
    return HFI_COUNTS_NOTHING;
}

/* Whether `word` occurs in the name, in any case of letters; `whole`: with no letter beside it. */
static bool has_word(const char *name, const char *word, bool whole)
{
    const size_t length = strlen(word);
    for (const char *at = name; *at != '\0'; at++) {
        size_t k = 0;
        while (k < length && tolower((unsigned char)at[k]) == word[k]) k++;
        if (k < length) continue;
        const bool alone = (at == name || !isalpha((unsigned char)at[-1])) && !isalpha((unsigned char)at[k]);
        if (alone || !whole) return true;
    }
    return false;
}

bool hfi_look_is_time(const char *name)
{
    static const char *const within[] = {"year", "month", "week", "hour", "minute", "time", "date", "epoch"};
    static const char *const whole[] = {"t",       "day",      "days",   "doy",     "yr",  "yrs",
                                        "quarter", "quarters", "second", "seconds", "sec", "season"};
    for (size_t i = 0; i < sizeof within / sizeof *within; i++)
        if (has_word(name, within[i], false)) return true;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        if (has_word(name, whole[i], true)) return true;
    return false;
}
