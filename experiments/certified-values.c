/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certified-values.c
 * @brief Predictions of regressions: how far they surely do not move within boxes about test points
 * (hf_certify_boxes()), and how far two attacks move them (hf_attack_value()).
 *
 * Tables of data/bed, a random fifth of the rows being test points, and the default fit. Boxes have
 * half-widths of gamma standard deviations of each input; a move is farthest from the value at the
 * point, either way, in standard deviations of the target. Tolerance: 0.005 of those.
 */
#include "common/bed.h"
#include "common/clock.h"
#include "common/env_run.h"
#include "common/quantile.h"
#include "common/room.h"
#include "common/sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    OWN = 6, /* options */
    POINTS_MOST = 200
};

typedef enum field {
    INPUTS,
    CERTIFIED, /* no point of the box moves the value farther */
    ATTAINED,  /* one does so far */
    SIGN,
    PROJECTED,
    SECONDS,
    ATTACK_SECONDS,
    STOPPED,
    FIELDS
} field;

static const char *const columns[FIELDS] = {"inputs",    "certified", "attained",       "sign",
                                            "projected", "seconds",   "attack_seconds", "stopped"};

static const struct {
    const char *name;
    hf_certify_what what;
} values_known[] = {{"mean", HF_CERTIFY_MEAN}, {"sd", HF_CERTIFY_SD}};

typedef struct run {
    hf_context *ctx;
    const char *data;
    words tables, values, gammas;
    long points, limit;
    env_rows rows;
} run;

static size_t value_of(const char *name)
{
    size_t k = 0;
    while (k < sizeof values_known / sizeof *values_known && strcmp(values_known[k].name, name) != 0) ++k;
    return k;
}

static const double *row_of(const run *r, const char *table, const char *value, const char *gamma, long point)
{
    char name[64];
    snprintf(name, sizeof name, "%s %s %s %ld", table, value, gamma, point);
    return env_rows_find(&r->rows, name);
}

/* One value within the boxes of one width about the test points. */
typedef struct boxes {
    const char *table, *value, *gamma;
    size_t m, d;
    double unit;
    const double *x;
    double *lower, *upper, *attacked; /* m x d each */
    double *still, *sign, *projected; /* m each */
    hf_range *ranges;
} boxes;

/* Values at the points are those of an attack in boxes of no width. */
static hf_status attack(run *r, const hf_posterior *posterior, const boxes *b, double *seconds)
{
    hf_attack_settings settings = hf_attack_settings_default();
    settings.what = values_known[value_of(b->value)].what;
    settings.kind = HF_ATTACK_FGSM;
    hf_status status =
        hf_attack_value(r->ctx, posterior, &settings, b->m, b->x, b->x, b->x, b->attacked, b->still);
    if (status >= 0)
        status = hf_attack_value(r->ctx, posterior, &settings, b->m, b->x, b->lower, b->upper, b->attacked,
                                 b->sign);
    settings.kind = HF_ATTACK_PGD;
    const double begin = wall_clock();
    if (status >= 0)
        status = hf_attack_value(r->ctx, posterior, &settings, b->m, b->x, b->lower, b->upper, b->attacked,
                                 b->projected);
    *seconds = (wall_clock() - begin) / (double)b->m;
    return status;
}

static void add_rows(run *r, const boxes *b, double attack_seconds)
{
    for (size_t k = 0; k < b->m; ++k) {
        const hf_range *range = &b->ranges[k];
        const double at = b->still[k], unit = b->unit;
        const double values[FIELDS] = {
            [INPUTS] = (double)b->d,
            [CERTIFIED] = fmax(range->upper - at, at - range->lower) / unit,
            [ATTAINED] = fmax(range->upper_attained - at, at - range->lower_attained) / unit,
            [SIGN] = fabs(b->sign[k] - at) / unit,
            [PROJECTED] = fabs(b->projected[k] - at) / unit,
            [SECONDS] = range->seconds,
            [ATTACK_SECONDS] = attack_seconds,
            [STOPPED] = range->stop > HF_CERTIFY_DECIDED};
        char name[64];
        snprintf(name, sizeof name, "%s %s %s %zu", b->table, b->value, b->gamma, k);
        env_rows_add(&r->rows, name, values);
    }
}

static bool measure(run *r, const hf_posterior *posterior, const problem *p, boxes *b)
{
    double attack_seconds;
    const double gamma = strtod(b->gamma, NULL);
    double *column = room(p->n, sizeof *column);
    for (size_t j = 0; j < p->d; ++j) {
        for (size_t i = 0; i < p->n; ++i) column[i] = p->x[i * p->d + j];
        const double half = gamma * sample_sd(p->n, column);
        for (size_t k = 0; k < b->m; ++k) {
            b->lower[k * p->d + j] = b->x[k * p->d + j] - half;
            b->upper[k * p->d + j] = b->x[k * p->d + j] + half;
        }
    }
    free(column);
    hf_certify_settings settings = hf_certify_settings_default();
    settings.tolerance = 0.005 * p->unit;
    settings.time_limit = (double)r->limit;
    const bool ok = hf_certify_boxes(r->ctx, posterior, values_known[value_of(b->value)].what, &settings,
                                     b->m, b->lower, b->upper, b->ranges, NULL, NULL) >= 0 &&
                    attack(r, posterior, b, &attack_seconds) >= 0;
    if (ok) add_rows(r, b, attack_seconds);
    return ok;
}

static bool measure_all(run *r, const char *table, const hf_posterior *posterior, const problem *p)
{
    const size_t m = (size_t)r->points < p->m ? (size_t)r->points : p->m, d = p->d;
    double *numbers = room(3 * m * d + 3 * m, sizeof *numbers);
    boxes b = {.table = table,
               .m = m,
               .d = d,
               .unit = p->unit,
               .x = p->tx,
               .lower = numbers,
               .upper = numbers + m * d,
               .attacked = numbers + 2 * m * d,
               .still = numbers + 3 * m * d,
               .sign = numbers + 3 * m * d + m,
               .projected = numbers + 3 * m * d + 2 * m,
               .ranges = room(m, sizeof(hf_range))};
    bool ok = true;
    for (size_t v = 0; ok && v < r->values.count; ++v)
        for (size_t g = 0; ok && g < r->gammas.count; ++g) {
            b.value = r->values.items[v];
            b.gamma = r->gammas.items[g];
            if (!row_of(r, table, b.value, b.gamma, (long)m - 1)) ok = measure(r, posterior, p, &b);
        }
    if (!ok) fprintf(stderr, "%s: %s\n", table, hf_context_message(r->ctx));
    free(numbers);
    free(b.ranges);
    return ok;
}

static bool work_table(run *r, const bed_table *table)
{
    const bed_case how = {.table = table, .kind = "none", .most = SIZE_MAX};
    problem p;
    bool applies;
    hf_posterior *posterior = NULL;
    if (!bed_problem(r->ctx, &how, &p, &applies)) return false;
    const hf_data data = {.n = p.n, .d = p.d, .x = p.x, .ldx = p.d, .y = p.y};
    const hf_fit_settings settings = hf_fit_settings_default();
    bool ok = hf_fit_data(r->ctx, &data, &settings, &posterior, NULL, NULL) >= 0;
    if (ok)
        ok = measure_all(r, table->name, posterior, &p);
    else
        fprintf(stderr, "%s: %s\n", table->name, hf_context_message(r->ctx));
    hf_posterior_free(posterior);
    problem_free(&p);
    return ok;
}

static bool work(void *state)
{
    run *r = state;
    bed all;
    bool missing, ok = bed_open(r->ctx, r->data, &all, &missing);
    if (!ok) return false;
    for (size_t k = 0; ok && k < r->tables.count; ++k) {
        const bed_table *table = bed_find(&all, r->tables.items[k]);
        if (table)
            ok = work_table(r, table);
        else
            fprintf(stderr, "%s: there is no such table in data/bed\n", r->tables.items[k]);
        ok = ok && table;
    }
    bed_free(&all);
    return ok;
}

/* ---- report ---------------------------------------------------------------------------------------------------- */

/* Over the points of one table, value and width. */
typedef struct sums {
    size_t count, stopped, above;
    double inputs, seconds, attack_seconds;
    double certified[POINTS_MOST], attained[POINTS_MOST], sign[POINTS_MOST], projected[POINTS_MOST];
    double share[POINTS_MOST], sign_share[POINTS_MOST];
} sums;

static bool sum_up(const run *r, const char *table, const char *value, const char *gamma, sums *out)
{
    const double *v;
    *out = (sums){0};
    for (long k = 0; k < POINTS_MOST && (v = row_of(r, table, value, gamma, k)) != NULL; ++k) {
        const size_t i = out->count++;
        out->certified[i] = v[CERTIFIED];
        out->attained[i] = v[ATTAINED];
        out->sign[i] = v[SIGN];
        out->projected[i] = v[PROJECTED];
        out->share[i] = v[PROJECTED] / v[CERTIFIED];
        out->sign_share[i] = v[SIGN] / v[CERTIFIED];
        out->stopped += v[STOPPED] > 0.0;
        out->above += fmax(v[SIGN], v[PROJECTED]) > v[CERTIFIED];
        out->inputs = v[INPUTS];
        out->seconds += v[SECONDS];
        out->attack_seconds = v[ATTACK_SECONDS];
    }
    return out->count > 0;
}

static void report_row(const char *table, const char *value, const char *gamma, sums *s)
{
    const double n = (double)s->count;
    const size_t count = s->count;
    printf("| %s, %s, %s | %.0f | %zu | %.3f | %.3f | %.3f | %.3f | ", table, value, gamma, s->inputs, count,
           median_of(s->certified, count), median_of(s->attained, count), median_of(s->projected, count),
           median_of(s->sign, count));
    printf("%.2f; %.2f | %.2f; %.2f | %zu | %zu | %.2f | %.3f |\n", median_of(s->share, count),
           quantile_of(s->share, count, 0.0), median_of(s->sign_share, count),
           quantile_of(s->sign_share, count, 0.0), s->above, s->stopped, s->seconds / n, s->attack_seconds);
}

static void report(const void *state)
{
    const run *r = state;
    puts("\n| table, value, gamma | inputs | points | surely not farther | attained | projected attack | "
         "one signed step | projected of certified: median; least | signed: median; least | beyond | "
         "stopped | s a box | s an attack |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t t = 0; t < r->tables.count; ++t)
        for (size_t v = 0; v < r->values.count; ++v)
            for (size_t g = 0; g < r->gammas.count; ++g) {
                sums s;
                if (sum_up(r, r->tables.items[t], r->values.items[v], r->gammas.items[g], &s))
                    report_row(r->tables.items[t], r->values.items[v], r->gammas.items[g], &s);
            }
}

int main(int argc, char **argv)
{
    run r = {.data = sets_folder(), .points = 20, .limit = 10, .rows = {.columns = columns, .width = FIELDS}};
    const option_row options[OWN] = {
        option_text("data", "DIR", "folder that holds bed/ (comes with Holdfast)", &r.data),
        option_choice("tables", "A,B", "of data/bed (default faithful,hills,swiss,mtcars,diabetes)",
                      &r.tables, "faithful,hills,swiss,mtcars,diabetes", NULL),
        option_choice("values", "A,B", "of mean, sd (default both)", &r.values, "mean,sd", "mean,sd"),
        option_list("gammas", "A,B", "half-widths in sds of the inputs (default 0.1,0.5,1)", &r.gammas,
                    "0.1,0.5,1", words_positive),
        option_number("points", "N", "test points (default 20)", &r.points, 1, POINTS_MOST),
        option_number("limit", "S", "seconds for a box (default 10; 0: none)", &r.limit, 0, 100000)};
    const env_program program = {work, report, NULL, &r, &r.rows, &r.ctx, false};
    return env_run(argc, argv, "certified-values", "Certified ranges of predictions beside attacks on them.",
                   "--tables hills --json values.jsonl", OWN, options, &program);
}
