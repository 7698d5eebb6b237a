/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a series repeats: a peak of its spectrum above a red background, and values that agree
 * with those one, two and three periods later.
 *
 * A trend and noise with memory have a spectrum that falls with the frequency. So the peak is
 * compared with the best falling spectrum of a family, fitted without the peak (Whittle's likelihood). Beside a known
 * background the power at a Fourier frequency is exponential; beside one that was estimated from m others, beyond x
 * with probability (1 + x / m)^-m. A smooth random function can have such a peak by chance, but it does not come back:
 * hence the correlations, the stricter, the fewer periods there are. */
#include "model/cycle.h"
#include "data/text.h"
#include "model/inputs.h"
#include "model/look.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUNDS = 3,    /* of clipping */
    HARMONICS = 5, /* of a peak, the peak included, which are no background */
    LAGS = 3,
    FINE = 40 /* steps between Fourier frequencies when the period is refined */
};

/* About one series of white noise in a thousand has such a peak. */
static const double error_rate = 1e-3;
/* The rest of a straight line that rounding alone leaves is far below this share of its largest value. */
static const double rounding = 1e-12;

typedef struct cycle_search {
    size_t n, bins;        /* bins: Fourier frequencies 1 .. bins, in cycles per series */
    double *residual;      /* n: without a straight line, clipped, mean 0 */
    double *work;          /* n */
    double *cosine, *sine; /* n: of whole turns in n parts */
    double *power, *level; /* bins: periodogram and background */
    bool *kept;            /* bins: background is estimated there */
} cycle_search;

/* ---- without a line -------------------------------------------------------------------------------------- */

static void subtract_line(size_t n, const double *values, double *residual, double *intercept, double *slope)
{
    const double middle = 0.5 * ((double)n - 1.0);
    double sum = 0.0, cross = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double t = (double)i - middle;
        sum += values[i];
        cross += t * values[i];
        square += t * t;
    }
    *intercept = sum / (double)n;
    *slope = cross / square;
    for (size_t i = 0; i < n; i++) residual[i] = values[i] - *intercept - *slope * ((double)i - middle);
}

/* Wrong readings are clipped at two and a half robust standard deviations; a sine and a trend are not. */
static void remove_line(cycle_search *s, const double *values, double *clipped)
{
    const double middle = 0.5 * ((double)s->n - 1.0);
    memcpy(clipped, values, s->n * sizeof *clipped);
    for (int round = 0; round < ROUNDS; round++) {
        double intercept, slope, sum = 0.0;
        subtract_line(s->n, clipped, s->residual, &intercept, &slope);
        for (size_t i = 0; i < s->n; i++)
            s->residual[i] = values[i] - intercept - slope * ((double)i - middle);
        memcpy(s->work, s->residual, s->n * sizeof *s->work);
        const double median = hfi_median(s->work, s->n), far = 2.5 * hfi_mad(s->residual, s->n, s->work);
        for (size_t i = 0; i < s->n && far > 0.0; i++)
            s->residual[i] = fmin(fmax(s->residual[i], median - far), median + far);
        for (size_t i = 0; i < s->n; i++) {
            clipped[i] = intercept + slope * ((double)i - middle) + s->residual[i];
            sum += s->residual[i];
        }
        for (size_t i = 0; i < s->n; i++) s->residual[i] -= sum / (double)s->n;
    }
}

/* ---- spectrum -------------------------------------------------------------------------------------------- */

static void find_spectrum(cycle_search *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const double turn = 2.0 * HFI_PI * (double)i / (double)s->n;
        s->cosine[i] = cos(turn);
        s->sine[i] = sin(turn);
    }
    for (size_t k = 1; k <= s->bins; k++) {
        double re = 0.0, im = 0.0;
        for (size_t i = 0, at = 0; i < s->n; i++) {
            re += s->residual[i] * s->cosine[at];
            im += s->residual[i] * s->sine[at];
            at = at + k < s->n ? at + k : at + k - s->n;
        }
        s->power[k - 1] = re * re + im * im;
    }
}

static double power_at(const cycle_search *s, double frequency)
{
    double re = 0.0, im = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        const double turn = 2.0 * HFI_PI * frequency * (double)i / (double)s->n;
        re += s->residual[i] * cos(turn);
        im += s->residual[i] * sin(turn);
    }
    return re * re + im * im;
}

/* The falling spectra: floor + (1 - floor) / |1 - memory e^iw|^(2 order), 1 at frequency 0. */
static double falling(const cycle_search *s, size_t k, double memory, int order, double floor)
{
    const double low = (1.0 - memory) * (1.0 - memory),
                 one = low / (1.0 + memory * memory - 2.0 * memory * s->cosine[k]);
    return floor + (1.0 - floor) * (order == 1 ? one : order == 2 ? one * one : one * one * one);
}

/* Minus the log likelihood of one of them, up to constants, at the bins kept, with its best scale. */
static double misfit(const cycle_search *s, double memory, int order, double floor, double *scale)
{
    double ratio = 0.0, logs = 0.0, count = 0.0;
    for (size_t k = 1; k <= s->bins; k++) {
        if (!s->kept[k - 1]) continue;
        const double level = falling(s, k, memory, order, floor);
        ratio += s->power[k - 1] / level;
        logs += log(level);
        count += 1.0;
    }
    *scale = ratio / count;
    return ratio > 0.0 ? log(*scale) + logs / count : -INFINITY;
}

/* The variance of the logarithms beside it: peaks, however high, and few of them, hardly move it. */
static double misfit_of_logs(const cycle_search *s, double memory, int order, double floor, double *scale)
{
    static const double mean_log = -0.57721566490153286; /* of an exponential variable of mean 1 */
    double sum = 0.0, square = 0.0, highest = 0.0;
    for (size_t k = 0; k < s->bins; k++) highest = fmax(highest, s->power[k]);
    for (size_t k = 1; k <= s->bins; k++) {
        const double beside =
            log(fmax(s->power[k - 1], 1e-20 * highest) / falling(s, k, memory, order, floor));
        sum += beside;
        square += beside * beside;
    }
    const double mean = sum / (double)s->bins;
    *scale = exp(mean - mean_log);
    return square / (double)s->bins - mean * mean;
}

typedef double (*misfit_rule)(const cycle_search *s, double memory, int order, double floor, double *scale);

static void find_background(cycle_search *s, misfit_rule rule)
{
    static const double memories[] = {0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98},
                        floors[] = {0.0, 1e-4, 1e-3, 1e-2, 0.03, 0.1, 0.3};
    double least = INFINITY, memory = 0.0, floor = 0.0, scale = 0.0;
    int order = 1;
    for (size_t m = 0; m < sizeof memories / sizeof *memories; m++)
        for (int o = 1; o <= (m == 0 ? 1 : 3); o++)
            for (size_t f = 0; f < (m == 0 ? 1 : sizeof floors / sizeof *floors); f++) {
                double c;
                const double value = rule(s, memories[m], o, floors[f], &c);
                if (!(value < least)) continue;
                least = value;
                memory = memories[m];
                order = o;
                floor = floors[f];
                scale = c;
            }
    for (size_t k = 1; k <= s->bins; k++) s->level[k - 1] = scale * falling(s, k, memory, order, floor);
}

/* The bin that rises most above the background: three periods at least, of four values at least. */
static size_t highest(const cycle_search *s)
{
    size_t best = 3;
    for (size_t k = 3; k <= s->bins && 4 * k <= s->n; k++)
        if (s->power[k - 1] * s->level[best - 1] > s->power[best - 1] * s->level[k - 1]) best = k;
    return best;
}

/* Whether the peak is one that noise hardly makes; the background is fitted without it and its harmonics. */
static bool stands_out(cycle_search *s, size_t peak)
{
    const double width = fmax(1.0, round(0.1 * (double)peak));
    double count = 0.0, tried = floor((double)s->n / 4.0) - 2.0;
    for (size_t k = 1; k <= s->bins; k++) {
        bool kept = fabs((double)k - (double)peak) > width;
        for (size_t h = 2; h <= HARMONICS; h++) kept = kept && (k > h * peak + 1 || k + 1 < h * peak);
        s->kept[k - 1] = kept;
        count += kept ? 1.0 : 0.0;
    }
    if (count < 6.0) return false;
    find_background(s, misfit);
    /* A pointed cycle has high peaks at other frequencies too; noise is beyond six once in 400 bins. */
    double dropped = 0.0;
    for (size_t k = 1; k <= s->bins; k++) {
        if (!s->kept[k - 1] || s->power[k - 1] <= 6.0 * s->level[k - 1]) continue;
        s->kept[k - 1] = false;
        dropped += 1.0;
    }
    count -= dropped;
    if (count < 6.0) return false;
    if (dropped > 0.0) find_background(s, misfit);
    count -= 3.0; /* memory, floor and scale */
    const double beyond = count * (pow(fmax(tried, 1.0) / error_rate, 1.0 / count) - 1.0);
    return s->power[peak - 1] > beyond * s->level[peak - 1];
}

/* Beside a Fourier frequency, the period with the most power. */
static double refine(const cycle_search *s, size_t peak)
{
    double best = (double)peak, most = 0.0;
    for (int i = -FINE; i <= FINE; i++) {
        const double frequency = (double)peak + (double)i / FINE, power = power_at(s, frequency);
        if (power > most) {
            most = power;
            best = frequency;
        }
    }
    return (double)s->n / best;
}

/* ---- values a period apart ------------------------------------------------------------------------------- */

/* Takes means over one period around each value away from `work`; the number of values left. */
static size_t remove_means(cycle_search *s, double period)
{
    const double half = 0.5 * period;
    const size_t reach = (size_t)half + 1;
    if (s->n <= 2 * reach) return 0;
    for (size_t i = reach; i + reach < s->n; i++) {
        double sum = s->residual[i], total = 1.0;
        for (size_t j = 1; j <= reach; j++) {
            const double weight = fmin(fmax(half + 0.5 - (double)j, 0.0), 1.0);
            sum += weight * (s->residual[i - j] + s->residual[i + j]);
            total += 2.0 * weight;
        }
        s->work[i - reach] = s->residual[i] - sum / total;
    }
    return s->n - 2 * reach;
}

static double correlation(const double *values, size_t n, size_t lag)
{
    if (n < lag + 4) return 0.0;
    const double count = (double)(n - lag);
    double a = 0.0, b = 0.0, aa = 0.0, bb = 0.0, ab = 0.0;
    for (size_t i = lag; i < n; i++) {
        a += values[i - lag] / count;
        b += values[i] / count;
    }
    for (size_t i = lag; i < n; i++) {
        aa += (values[i - lag] - a) * (values[i - lag] - a);
        bb += (values[i] - b) * (values[i] - b);
        ab += (values[i - lag] - a) * (values[i] - b);
    }
    return aa > 0.0 && bb > 0.0 ? ab / (sqrt(aa) * sqrt(bb)) : 0.0;
}

/* How far values agree with those one, two and three periods later, as far as there are so many. */
typedef struct agreement {
    double period, first, mean, least;
} agreement;

static agreement measure_period_agreement(cycle_search *s, double period)
{
    const double periods = floor((double)s->n / period) - 2.0;
    const size_t n = remove_means(s, period), lags = (size_t)fmin(fmax(periods, 1.0), LAGS);
    agreement a = {.period = period, .least = 1.0};
    for (size_t k = 1; k <= lags; k++) {
        const double r = correlation(s->work, n, (size_t)round((double)k * period));
        if (k == 1) a.first = r;
        a.mean += r / (double)lags;
        a.least = fmin(a.least, r);
    }
    return a;
}

/* The peak may be an overtone: then values agree better after two or three of its periods. */
static agreement best_agreement(cycle_search *s, double period)
{
    agreement best = measure_period_agreement(s, period);
    for (int times = 2; times <= 3 && 3.0 * times * period <= (double)s->n; times++) {
        const agreement other = measure_period_agreement(s, times * period);
        if (other.first > best.first + 0.2 && other.mean > best.mean + 0.2) best = other;
    }
    return best;
}

/* Smooth random functions with three humps agree with themselves by chance: 0.64 is asked for there, 0.3
 * where there are nine periods or more. */
static bool comes_back(const cycle_search *s, const agreement *a)
{
    const double least = fmax(0.3, 0.8 - 0.055 * (double)s->n / a->period);
    return 3.0 * a->period <= (double)s->n && a->first >= least && a->mean >= 0.8 * least &&
           a->least >= 0.4 * least;
}

/* Periods of the calendar are whole numbers of steps: one that is nearer than the frequency is known, about 0.15
 * of the distance between Fourier frequencies, is taken for it. */
static double refine_period(const cycle_search *s, double period)
{
    const double whole = round(period);
    return fabs(period - whole) <= 0.15 * period * period / (double)s->n ? whole : period;
}

static void find_series_cycle(cycle_search *s, const double *values, hfi_cycle *out)
{
    bool varies = false;
    double size = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        varies = varies || values[i] != values[0];
        size = fmax(size, fabs(values[i]));
    }
    if (!varies) return;
    /* Room, until the spectrum needs it. Scaled, squares do not overflow. */
    for (size_t i = 0; i < s->n; i++) s->sine[i] = values[i] / size;
    remove_line(s, s->sine, s->cosine);
    double left = 0.0, square = 0.0;
    for (size_t i = 0; i < s->n; i++) {
        left = fmax(left, fabs(s->residual[i]));
        square += s->residual[i] * s->residual[i];
    }
    if (left < rounding) return;
    find_spectrum(s);
    find_background(s, misfit_of_logs);
    const size_t peak = highest(s);
    /* Values that go up and down at every step: all power is at a frequency that is not looked at. */
    if (s->power[peak - 1] < rounding * (double)s->n * square || !stands_out(s, peak)) return;
    const agreement found = best_agreement(s, refine(s, peak));
    if (comes_back(s, &found))
        *out = (hfi_cycle){.period = refine_period(s, found.period), .correlation = found.first};
}

hf_status hfi_find_cycle(hf_context *ctx, size_t n, const double *values, hfi_cycle *out)
{
    *out = (hfi_cycle){0};
    if (n < HFI_CYCLE_LEAST || n > HFI_CYCLE_MOST) return HF_OK;
    cycle_search s = {.n = n, .bins = (n - 1) / 2};
    const hf_status status =
        HFI_ALLOC(ctx, HFI_ROOM(s.residual, n), HFI_ROOM(s.work, n), HFI_ROOM(s.cosine, n),
                  HFI_ROOM(s.sine, n), HFI_ROOM(s.power, n), HFI_ROOM(s.level, n), HFI_ROOM(s.kept, n));
    if (status >= 0) find_series_cycle(&s, values, out);
    HFI_FREE(ctx, s.residual, s.work, s.cosine, s.sine, s.power, s.level, s.kept);
    return status;
}

/* ---- readings as a series, and the remark on one that repeats -------------------------------------------------- */

/* ---- series ---------------------------------------------------------------------------------------------- */

typedef struct series_reading {
    double x, y;
    size_t at; /* step */
} series_reading;

static int by_place(const void *a, const void *b)
{
    const double p = ((const series_reading *)a)->x, q = ((const series_reading *)b)->x;
    return p < q ? -1 : p > q ? 1 : 0;
}

/* Numbers the steps of sorted readings by the median difference; false if they are not even. */
static bool number_steps(size_t n, series_reading *sorted, double *scratch, double *step)
{
    for (size_t i = 1; i < n; i++) scratch[i - 1] = sorted[i].x - sorted[i - 1].x;
    const double usual = hfi_median(scratch, n - 1);
    if (!(usual > 0.0) || !isfinite(usual)) return false;
    double at = 0.0;
    for (size_t i = 1; i < n; i++) {
        const double steps = (sorted[i].x - sorted[i - 1].x) / usual, whole = round(steps);
        if (!(whole >= 1.0) || fabs(steps - whole) > 0.2) return false;
        at += whole;
        if (at > 1.5 * (double)(n - 1)) return false;
        sorted[i].at = (size_t)at;
    }
    *step = (sorted[n - 1].x - sorted[0].x) / at;
    for (size_t i = 1; i < n; i++)
        if (fabs((sorted[i].x - sorted[0].x) / *step - (double)sorted[i].at) > 0.25) return false;
    return true;
}

/* The last values of the series, gaps filled by straight lines. */
static hf_status fill_series(hf_context *ctx, size_t n, const series_reading *sorted, hfi_series *out)
{
    const size_t last = sorted[n - 1].at, skipped = last >= HFI_CYCLE_MOST ? last + 1 - HFI_CYCLE_MOST : 0;
    out->n = last + 1 - skipped;
    out->value = hfi_alloc(ctx, out->n, sizeof *out->value);
    if (out->value == NULL) return HF_ERR_MEMORY;
    for (size_t i = 1; i < n; i++) {
        const series_reading *a = &sorted[i - 1], *b = &sorted[i];
        for (size_t at = a->at; at <= b->at; at++) {
            const double share = (double)(at - a->at) / (double)(b->at - a->at);
            if (at >= skipped) out->value[at - skipped] = (1.0 - share) * a->y + share * b->y;
        }
    }
    return HF_OK;
}

hf_status hfi_series_of(hf_context *ctx, size_t n, const double *x, size_t ldx, const double *y,
                        hfi_series *out)
{
    *out = (hfi_series){0};
    series_reading *sorted = hfi_alloc(ctx, n, sizeof *sorted);
    double *scratch = hfi_alloc(ctx, n, sizeof *scratch);
    hf_status status = sorted != NULL && scratch != NULL ? HF_OK : HF_ERR_MEMORY;
    size_t count = 0;
    for (size_t i = 0; i < n && status >= 0; i++)
        if (!isnan(y[i])) sorted[count++] = (series_reading){.x = x[i * ldx], .y = y[i]};
    if (status >= 0 && count >= HFI_CYCLE_LEAST) {
        qsort(sorted, count, sizeof *sorted, by_place);
        if (number_steps(count, sorted, scratch, &out->step)) status = fill_series(ctx, count, sorted, out);
    }
    HFI_FREE(ctx, sorted, scratch);
    return status;
}

/* ---- remark ---------------------------------------------------------------------------------------------- */

/* A column as a kernel's expression names it, inside double quotes of a shell: by its name if that is
 * plain, else by its number. False if that number is the name of another column. */
static bool column_in_kernel(const hf_model *model, size_t input, char *text, size_t bytes)
{
    const char *name = model->feature[input];
    bool identifier = isalpha((unsigned char)*name) || *name == '_',
         plain = *name != '\0' && strlen(name) < 40;
    for (const char *c = name; *c != '\0'; c++) {
        identifier = identifier && (isalnum((unsigned char)*c) || *c == '_');
        plain = plain && isprint((unsigned char)*c) && strchr("'\"`$\\!", *c) == NULL;
    }
    if (strcmp(name, "ard") == 0 || strcmp(name, "iso") == 0) identifier = false;
    if (plain) {
        hfi_print(text, bytes, identifier ? "%s" : "'%s'", name);
        return true;
    }
    hfi_print(text, bytes, "x%zu", input + 1);
    for (size_t j = 0; j < model->d; j++)
        if (strcmp(model->feature[j], text) == 0) return false;
    return true;
}

/* Inputs that could be the time of a series: the only one, or one whose name says so or that rises from row to row. */
static bool could_be_time(const hf_model *model, size_t input)
{
    if (model->d == 1 || hfi_input_is_time(model, input)) return true;
    for (size_t i = 1; i < model->n; i++)
        if (!(model->x[i * model->width + input] > model->x[(i - 1) * model->width + input])) return false;
    return true;
}

static hf_status note_cycle(hf_context *ctx, hf_model *model, size_t input, double step,
                            const hfi_cycle *cycle)
{
    const char *kernel = model->kernel;
    char column[48], name[HFI_SHOWN_BYTES];
    if (!column_in_kernel(model, input, column, sizeof column)) return HF_OK;
    if (strlen(kernel) > 200 || strpbrk(kernel, "\"`$\\!") != NULL) kernel = "matern52(ard)";
    return hfi_model_note(ctx, model,
                          "the series repeats every %.4g units of \"%s\" (autocorrelation %.2f): --kernel "
                          "\"%s + periodic(%s, period~%.4g)\" may predict better beyond the readings",
                          cycle->period * step, hfi_text_shown(model->feature[input], name),
                          cycle->correlation, kernel, column, cycle->period * step);
}

hf_status hfi_look_for_cycle(hf_context *ctx, hf_model *model)
{
    /* Spectral mixtures repeat too. */
    if (!hfi_model_is_plain(model) || model->prior != NULL || model->n < HFI_CYCLE_LEAST ||
        strstr(model->kernel, "periodic") != NULL || strstr(model->kernel, "sm(") != NULL ||
        strcmp(model->kernel, "sm") == 0)
        return HF_OK;
    hf_status status = HF_OK;
    for (size_t j = 0; j < model->d && status >= 0; j++) {
        hfi_series series;
        hfi_cycle cycle = {0};
        if (!could_be_time(model, j)) continue;
        status = hfi_series_of(ctx, model->n, model->x + j, model->width, model->y, &series);
        if (status >= 0 && series.n > 0) {
            status = hfi_find_cycle(ctx, series.n, series.value, &cycle);
            if (status >= 0 && cycle.period > 0.0) status = note_cycle(ctx, model, j, series.step, &cycle);
        }
        hfi_free(ctx, series.value);
        if (cycle.period > 0.0) break;
    }
    return status;
}
