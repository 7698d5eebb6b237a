/* SPDX-License-Identifier: Apache-2.0 */
/* A least-squares spectrum of readings at uneven places, and its peaks. */
#include "search/spectrum.h"
#include <math.h>
#include <string.h>

enum {
    LEAST = 10,        /* rows */
    LOOKED_AT = 1000,  /* rows, where there are more */
    FINE = 4,          /* frequencies to each independent one */
    MOST_BINS = 20000, /* frequencies */
    POWERS = 3,        /* of the input that are taken away */
    OTHERS = 8,        /* other inputs that are */
    HARMONICS = 3,     /* of known periods that are */
    PEAKS = 40,        /* with the most power, of which some are chosen */
    BY_POWER = 2,      /* are chosen for that */
    CHOSEN = 5,        /* peaks in all */
    AROUND = 200       /* frequencies that the level beside a peak is taken from */
};

/* A column of a least-squares problem that keeps less than this share of its square is a sum of others. */
static const double dependent = 1e-10;

typedef struct spectrum {
    size_t n, groups, bins;
    size_t *row;         /* n: group by group */
    size_t *begin;       /* groups + 1 */
    double middle, half; /* of the places: those here are (x - middle) / half, from -1 to 1 */
    double *place, *left;
    double *cosine, *sine;           /* n: at the present frequency */
    double *turn_cosine, *turn_sine; /* n: to the next */
    double *work;                    /* n */
    double lowest, step;             /* frequencies, in cycles per half span */
    double *power;                   /* bins */
} spectrum;

/* ---- rows -------------------------------------------------------------------------------------------------- */

/* The range of the places and, by the median of the spacings of different ones, the frequencies. False if
 * there are none. */
static bool find_frequencies(const hfi_spectrum_data *data, double *sorted, spectrum *s)
{
    for (size_t k = 0; k < data->n; k++) sorted[k] = data->x[data->row[k] * data->ldx + data->column];
    (void)hfi_median(sorted, data->n);
    const double low = sorted[0], high = sorted[data->n - 1];
    size_t count = 0;
    for (size_t k = 1; k < data->n; k++)
        if (sorted[k] > sorted[k - 1]) sorted[count++] = sorted[k] - sorted[k - 1];
    s->middle = 0.5 * low + 0.5 * high;
    s->half = 0.5 * high - 0.5 * low;
    if (count + 1 < LEAST || !(s->half > 0.0) || !isfinite(s->half)) return false;
    const double highest = 0.5 * s->half / hfi_median(sorted, count);
    s->lowest = 1.0;
    s->step = 0.5 / FINE;
    const double bins = floor((highest - s->lowest) / s->step + 1e-6) + 1.0;
    s->bins = (size_t)fmin(fmax(bins, 0.0), MOST_BINS);
    return s->bins >= 3;
}

static size_t group_of(const hfi_spectrum_data *data, size_t row)
{
    if (data->groups == 1) return 0;
    const double number = data->x[row * data->ldx + data->group_column];
    return (size_t)fmin(fmax(round(number), 0.0), (double)data->groups - 1.0);
}

/* The rows to look at, group by group: drawn, so that even spacing does not become another even spacing. */
static void choose_rows(const hfi_spectrum_data *data, spectrum *s)
{
    hfi_stream stream;
    hfi_stream_init(&stream, 0, HFI_PURPOSE_SAMPLE, 2);
    size_t at = 0, wanted = s->n;
    for (size_t k = 0; k < data->n; k++) {
        if (hfi_stream_uniform(&stream) * (double)(data->n - k) >= (double)wanted) continue;
        s->begin[group_of(data, data->row[k]) + 1]++;
        s->row[at++] = data->row[k];
        wanted--;
    }
    for (size_t g = 0; g < s->groups; g++) s->begin[g + 1] += s->begin[g];
}

/* In order of their groups. `next`: groups; `sorted`: n. */
static void sort_rows(const hfi_spectrum_data *data, size_t *next, size_t *sorted, spectrum *s)
{
    memcpy(next, s->begin, s->groups * sizeof *next);
    for (size_t k = 0; k < s->n; k++) sorted[next[group_of(data, s->row[k])]++] = s->row[k];
    memcpy(s->row, sorted, s->n * sizeof *sorted);
    for (size_t k = 0; k < s->n; k++)
        s->place[k] = (data->x[s->row[k] * data->ldx + data->column] - s->middle) / s->half;
}

/* ---- what is known ----------------------------------------------------------------------------------------- */

/* Column `number` of what is taken away, in rows `begin` to `end`; false: there is none of that number. */
static bool column(const hfi_spectrum_data *data, const spectrum *s, size_t number, size_t begin, size_t end,
                   double *out)
{
    size_t count = POWERS + 1;
    for (size_t k = begin; k < end && number < count; k++) out[k - begin] = pow(s->place[k], (double)number);
    if (number < count) return true;
    size_t others = 0;
    for (size_t j = 0; j < data->d && others < OTHERS; j++) {
        if (j == data->column || (data->groups > 1 && j == data->group_column)) continue;
        others++;
        if (number != count++) continue;
        for (size_t k = begin; k < end; k++) out[k - begin] = data->x[s->row[k] * data->ldx + j];
        return true;
    }
    if (number >= count + 2 * (size_t)HARMONICS * data->knowns) return false;
    const size_t wave = number - count, harmonic = wave / 2 % HARMONICS + 1;
    const double period = data->known[wave / 2 / HARMONICS] / s->half;
    for (size_t k = begin; k < end; k++) {
        const double turn = 2.0 * HFI_PI * (double)harmonic * s->place[k] / period;
        out[k - begin] = wave % 2 == 0 ? cos(turn) : sin(turn);
    }
    return true;
}

static double dot(size_t n, const double *a, const double *b)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* Columns as an orthonormal basis, as many as the rows of a group are three times; how many. */
static size_t make_basis(const hfi_spectrum_data *data, const spectrum *s, size_t begin, size_t end,
                         double *basis)
{
    const size_t n = end - begin;
    size_t count = 0;
    for (size_t number = 0; 3 * count < n; number++) {
        double *own = basis + count * n;
        if (!column(data, s, number, begin, end, own)) break;
        const double before = dot(n, own, own);
        for (int twice = 0; twice < 2; twice++)
            for (size_t q = 0; q < count; q++) {
                const double part = dot(n, basis + q * n, own);
                for (size_t k = 0; k < n; k++) own[k] -= part * basis[q * n + k];
            }
        const double after = dot(n, own, own);
        if (!(after > dependent * before) || !isfinite(after)) continue;
        for (size_t k = 0; k < n; k++) own[k] /= sqrt(after);
        count++;
    }
    return count;
}

static void take_away(size_t n, size_t count, const double *basis, double *left)
{
    for (size_t q = 0; q < count; q++) {
        const double part = dot(n, basis + q * n, left);
        for (size_t k = 0; k < n; k++) left[k] -= part * basis[q * n + k];
    }
}

/* Cleans the readings of a group: takes away what is known, and clips wrong ones. */
static void clean_group(const hfi_spectrum_data *data, spectrum *s, size_t begin, size_t end, double *basis)
{
    const size_t n = end - begin;
    double *left = s->left + begin;
    for (size_t k = 0; k < n; k++) left[k] = data->y[s->row[begin + k]];
    const double middle = n > 0 ? left[0] : 0.0;
    for (size_t k = 0; k < n; k++) left[k] -= middle;
    const size_t count = make_basis(data, s, begin, end, basis);
    for (int round = 0; round < 2; round++) {
        take_away(n, count, basis, left);
        const double far = round == 0 && n > 0 ? 3.0 * hfi_mad(left, n, s->work) : 0.0;
        for (size_t k = 0; k < n && far > 0.0; k++) left[k] = fmin(fmax(left[k], -far), far);
    }
}

/* ---- power ------------------------------------------------------------------------------------------------- */

static double power_of_group(const spectrum *s, size_t begin, size_t end)
{
    const double n = (double)(end - begin);
    double c = 0.0, d = 0.0, cc = 0.0, dd = 0.0, cd = 0.0, y = 0.0, yc = 0.0, yd = 0.0;
    for (size_t k = begin; k < end; k++) {
        c += s->cosine[k];
        d += s->sine[k];
        cc += s->cosine[k] * s->cosine[k];
        dd += s->sine[k] * s->sine[k];
        cd += s->cosine[k] * s->sine[k];
        y += s->left[k];
        yc += s->left[k] * s->cosine[k];
        yd += s->left[k] * s->sine[k];
    }
    if (n < 4.0) return 0.0;
    cc -= c * c / n;
    dd -= d * d / n;
    cd -= c * d / n;
    yc -= y * c / n;
    yd -= y * d / n;
    const double determinant = cc * dd - cd * cd, one = cc > dd ? cc : dd;
    if (determinant > 1e-6 * n * n) return (dd * yc * yc + cc * yd * yd - 2.0 * cd * yc * yd) / determinant;
    /* Sine or cosine is nothing at the highest frequency, where places are even. */
    return one > 1e-3 * n ? (cc > dd ? yc * yc : yd * yd) / one : 0.0;
}

static void find_power(spectrum *s)
{
    for (size_t k = 0; k < s->n; k++) {
        const double first = 2.0 * HFI_PI * s->lowest * s->place[k],
                     next = 2.0 * HFI_PI * s->step * s->place[k];
        s->cosine[k] = cos(first);
        s->sine[k] = sin(first);
        s->turn_cosine[k] = cos(next);
        s->turn_sine[k] = sin(next);
    }
    for (size_t b = 0; b < s->bins; b++) {
        s->power[b] = 0.0;
        for (size_t g = 0; g < s->groups; g++) s->power[b] += power_of_group(s, s->begin[g], s->begin[g + 1]);
        for (size_t k = 0; k < s->n; k++) {
            const double c = s->cosine[k], d = s->sine[k];
            s->cosine[k] = c * s->turn_cosine[k] - d * s->turn_sine[k];
            s->sine[k] = d * s->turn_cosine[k] + c * s->turn_sine[k];
        }
    }
}

/* ---- peaks ------------------------------------------------------------------------------------------------- */

typedef struct peak {
    double power, frequency;
    double rise; /* above the level beside it */
    bool chosen;
} peak;

/* The median power at frequencies within a factor of 1.5, the peak's own left out. */
static double level_beside(const spectrum *s, size_t bin)
{
    double beside[AROUND];
    const double offset = s->lowest / s->step, at = (double)bin + offset;
    const size_t reach = 6 * FINE, own = FINE;
    size_t first = (size_t)fmax(at / 1.5 - offset, 0.0),
           last = (size_t)fmin(1.5 * at - offset, (double)s->bins);
    if (first + reach > bin) first = bin > reach ? bin - reach : 0;
    if (last < bin + reach) last = bin + reach;
    if (last > s->bins) last = s->bins;
    size_t count = 0;
    const size_t stride = (last - first) / AROUND + 1;
    for (size_t b = first; b < last && count < AROUND; b += stride)
        if (b + own < bin || b > bin + own) beside[count++] = s->power[b];
    return count > 0 ? hfi_median(beside, count) : 0.0;
}

/* Between bins, by a parabola through three powers. */
static double vertex(const spectrum *s, size_t bin)
{
    double offset = 0.0;
    if (bin > 0 && bin + 1 < s->bins) {
        const double before = s->power[bin - 1], at = s->power[bin], after = s->power[bin + 1];
        const double curvature = before - 2.0 * at + after;
        if (curvature < 0.0) offset = fmin(fmax(0.5 * (before - after) / curvature, -0.5), 0.5);
    }
    return s->lowest + s->step * ((double)bin + offset);
}

/* The highest local maxima, highest first; how many. */
static size_t find_peaks(const spectrum *s, peak *peaks)
{
    size_t bins[PEAKS], count = 0;
    for (size_t b = 0; b < s->bins; b++) {
        const double power = s->power[b];
        if ((b > 0 && !(power > s->power[b - 1])) || (b + 1 < s->bins && power < s->power[b + 1])) continue;
        if (!(power > 0.0) || (count == PEAKS && !(power > s->power[bins[PEAKS - 1]]))) continue;
        size_t at = count < PEAKS ? count++ : PEAKS - 1;
        for (; at > 0 && power > s->power[bins[at - 1]]; at--) bins[at] = bins[at - 1];
        bins[at] = b;
    }
    for (size_t k = 0; k < count; k++) {
        const double power = s->power[bins[k]], level = level_beside(s, bins[k]);
        peaks[k] = (peak){.power = power,
                          .frequency = vertex(s, bins[k]),
                          .rise = power / fmax(level, 1e-12 * s->power[bins[0]])};
    }
    return count;
}

/* Adds a frequency, in cycles per half span, unless one is there that the readings cannot tell from it. */
static void propose(const spectrum *s, double frequency, double *period, size_t *count)
{
    if (*count == HFI_PERIODS_MOST || frequency < s->lowest) return;
    for (size_t k = 0; k < *count; k++)
        if (fabs(s->half / period[k] - frequency) < 2.0 * s->step) return;
    period[(*count)++] = s->half / frequency;
}

static void choose_peaks(const spectrum *s, double *period, size_t *count)
{
    peak peaks[PEAKS];
    const size_t all = find_peaks(s, peaks);
    for (size_t k = 0; k < all && k < BY_POWER; k++) {
        peaks[k].chosen = true;
        propose(s, peaks[k].frequency, period, count);
    }
    for (size_t tried = *count; tried < all && *count < CHOSEN; tried++) {
        size_t best = all;
        for (size_t k = 0; k < all; k++)
            if (!peaks[k].chosen && (best == all || peaks[k].rise > peaks[best].rise)) best = k;
        if (best == all) break;
        peaks[best].chosen = true;
        propose(s, peaks[best].frequency, period, count);
    }
    const size_t peaks_proposed = *count;
    for (size_t times = 2; times <= 3; times++)
        for (size_t k = 0; k < peaks_proposed; k++)
            propose(s, s->half / period[k] / (double)times, period, count);
}

/* ---- together ---------------------------------------------------------------------------------------------- */

static hf_status search_spectrum_periods(hf_context *ctx, const hfi_spectrum_data *data, spectrum *s,
                                         double *period, size_t *count)
{
    const size_t n = s->n, columns = POWERS + 1 + OTHERS + 2 * (size_t)HARMONICS * data->knowns + 1;
    double *work;
    size_t *sorted;
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(s->place, n), HFI_ROOM(s->left, n), HFI_ROOM(s->cosine, n),
                  HFI_ROOM(s->sine, n), HFI_ROOM(s->turn_cosine, n), HFI_ROOM(s->turn_sine, n),
                  HFI_ROOM(s->work, n), HFI_ROOMS(work, n, columns), HFI_ROOM(s->row, n),
                  HFI_ROOM(s->begin, 2 * s->groups + 1), HFI_ROOM(sorted, n), HFI_ROOM(s->power, s->bins));
    if (status >= 0) {
        choose_rows(data, s);
        sort_rows(data, s->begin + s->groups + 1, sorted, s);
        for (size_t g = 0; g < s->groups; g++) clean_group(data, s, s->begin[g], s->begin[g + 1], work);
        find_power(s);
        choose_peaks(s, period, count);
    }
    HFI_FREE(ctx, s->place, s->left, s->cosine, s->sine, s->turn_cosine, s->turn_sine, s->work, work, s->row,
             s->begin, sorted, s->power);
    return status;
}

hf_status hfi_find_periods(hf_context *ctx, const hfi_spectrum_data *data, double *out, size_t *n)
{
    *n = 0;
    if (data->n < LEAST) return HF_OK;
    spectrum s = {.n = data->n < LOOKED_AT ? data->n : LOOKED_AT, .groups = data->groups};
    double *sorted = hfi_alloc(ctx, data->n, sizeof *sorted);
    if (!sorted) return HF_ERR_MEMORY;
    const bool any = find_frequencies(data, sorted, &s);
    hfi_free(ctx, sorted);
    return any ? search_spectrum_periods(ctx, data, &s, out, n) : HF_OK;
}
