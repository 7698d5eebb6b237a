/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bed_report.h"
#include "common/bed_damage.h"
#include "common/quantile.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double WIDER = 1.2;      /* a band that tells of something wrong, over that of the clean fit */
static const double WORSE = 0.1;      /* nats a reading that make a table worth naming */
static const double GAIN = 5.0;       /* nats of an optimum worth naming */
static const double TENTH = 0.10;     /* the share of section (d) */
static const size_t SHARED_ROWS = 20; /* rows of a table for section (d) */

static bool in_half(const bed_scope *s, const bed_table *t)
{
    return t && t->held == s->held && bed_sound_rows(t) >= BED_FEWEST;
}

/* The table of a record of that method (and kind, unless NULL) in the half, or NULL. */
static const bed_table *table_of(const bed_scope *s, const record *r, const char *method, const char *kind)
{
    if (strcmp(r->method, method) != 0 || (kind && strcmp(r->kind, kind) != 0)) return NULL;
    const bed_table *t = bed_kind_find(r->kind) ? bed_find(s->tables, r->set) : NULL;
    return in_half(s, t) ? t : NULL;
}

static const record *by_method(const records *list, const record *r, const char *method)
{
    record key = *r;
    snprintf(key.method, sizeof key.method, "%s", method);
    return records_find(list, &key);
}

/* The same model on the same rows without damage. */
static const record *undamaged(const records *list, const record *r)
{
    record key = *r;
    snprintf(key.kind, sizeof key.kind, "none");
    key.share = 0.0;
    return records_find(list, &key);
}

static double percent(size_t part, size_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : NAN;
}

/* Mean over the splits of a clean table. */
static summary clean_mean(const bed_scope *s, const bed_table *t, const char *method,
                          double (*field)(const record *))
{
    const record key = record_key(t->name, "none", method, 0.0, 0);
    return records_summary(s->done, &key, field);
}

/* ---- (a), (b): few wrong readings ---- */

typedef struct tally {
    size_t cases, wrong, found, suspected, sound;
} tally;

static tally count_kind(const bed_scope *s, const bed_table *only, const char *kind)
{
    tally sum = {0};
    for (size_t i = 0; i < s->done->count; ++i) {
        const record *r = &s->done->items[i];
        const bed_table *t = table_of(s, r, "default", kind);
        if (!t || (only && t != only)) continue;
        sum.cases += 1;
        sum.wrong += r->wrong;
        sum.found += r->found;
        sum.suspected += r->suspected;
        sum.sound += r->false_flags;
    }
    return sum;
}

static void report_few(const bed_scope *s)
{
    static const char *const few[] = {"one_6",    "one_10",   "one_20",  "one_x10",
                                      "one_zero", "one_sign", "three_10"};
    puts(
        "\n(a) A few wrong readings, the default:\n\n"
        "| damage | cases | wrong readings | suspected | set aside | set aside of suspected, % | of all, % | "
        "sound ones set aside |\n|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < sizeof few / sizeof *few; ++k) {
        const tally sum = count_kind(s, NULL, few[k]);
        if (sum.cases)
            printf("| %s | %zu | %zu | %zu | %zu | %.1f | %.1f | %zu |\n", few[k], sum.cases, sum.wrong,
                   sum.suspected, sum.found, percent(sum.found, sum.suspected), percent(sum.found, sum.wrong),
                   sum.sound);
    }
}

static void report_bands(const bed_scope *s)
{
    size_t cases = 0, kept = 0, told = 0;
    for (size_t i = 0; i < s->done->count; ++i) {
        const record *r = &s->done->items[i], *clean;
        if (!table_of(s, r, "default", "one_6") || !(clean = undamaged(s->done, r))) continue;
        cases += 1;
        if (r->found) continue;
        kept += 1;
        told += r->band > WIDER * clean->band;
    }
    if (cases)
        printf("\n(b) One reading 6 sd off, %zu cases: kept in %zu; kept, and the 95 %% band more than %.1f "
               "times the "
               "clean one, in %zu: %.1f %% of all.\n",
               cases, kept, WIDER, told, percent(told, cases));
}

/* ---- (c), (e): clean rows ---- */

typedef struct loss {
    const bed_table *table;
    double nats;
} loss;

static int greater_loss(const void *left, const void *right)
{
    const loss *a = left, *b = right;
    return (a->nats < b->nats) - (a->nats > b->nats);
}

/* Tables by what the default loses to the plain GP, the greatest loss first. */
static size_t losses_of(const bed_scope *s, loss *out)
{
    size_t count = 0;
    for (size_t i = 0; i < s->tables->count; ++i) {
        const bed_table *t = &s->tables->tables[i];
        if (!in_half(s, t)) continue;
        const summary ours = clean_mean(s, t, "default", record_nlpd),
                      plain = clean_mean(s, t, "gp", record_nlpd);
        if (ours.count && plain.count) out[count++] = (loss){t, ours.mean - plain.mean};
    }
    qsort(out, count, sizeof *out, greater_loss);
    return count;
}

/* Names the tables on which clean readings were set aside. */
static void report_touched(const bed_scope *s)
{
    bool begun = false;
    for (size_t i = 0; i < s->tables->count; ++i) {
        const bed_table *t = &s->tables->tables[i];
        const tally sum = count_kind(s, t, "none");
        if (!sum.sound) continue;
        printf("%s %s %zu in %zu splits", begun ? ";" : ":", t->name, sum.sound, sum.cases);
        begun = true;
    }
    fputs(".", stdout);
}

static void report_clean(const bed_scope *s)
{
    size_t readings = 0, aside = 0, touched = 0, tables = 0;
    for (size_t i = 0; i < s->tables->count; ++i) {
        const bed_table *t = &s->tables->tables[i];
        const tally sum = count_kind(s, t, "none");
        if (!in_half(s, t) || !sum.cases) continue;
        const summary rows = clean_mean(s, t, "default", record_train);
        readings += (size_t)(rows.mean * (double)rows.count + 0.5);
        aside += sum.sound;
        tables += 1;
        touched += sum.sound > 0;
    }
    if (!tables) return;
    printf("\n(c) Clean rows: %zu of %zu readings set aside (%.3f %%), on %zu of %zu tables", aside, readings,
           percent(aside, readings), touched, tables);
    report_touched(s);
    loss *list = room(s->tables->count, sizeof *list);
    const size_t count = losses_of(s, list);
    if (count)
        printf(" NLPD less the plain GP's, worst table: %+.3f (%s).", list[0].nats, list[0].table->name);
    printf(" Tables above %+.1f:", WORSE);
    for (size_t i = 0; i < count && list[i].nats > WORSE; ++i)
        printf("%s %s %+.3f", i ? ";" : "", list[i].table->name, list[i].nats);
    puts(count && list[0].nats > WORSE ? "." : " none.");
    free(list);
}

static void report_cover(const bed_scope *s)
{
    static const struct {
        const char *text;
        size_t least, below;
    } sizes[] = {
        {"below 60", 0, 60}, {"60 to 500", 60, 501}, {"above 500", 501, SIZE_MAX}, {"all", 0, SIZE_MAX}};
    puts("\n(e) Clean rows, means over the tables:\n\n"
         "| rows of the table | tables | cover of 95 % intervals: gp | default | NLPD: gp | default |\n"
         "|---|---|---|---|---|---|");
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        double cover[2] = {0.0, 0.0}, nlpd[2] = {0.0, 0.0};
        size_t count = 0;
        for (size_t i = 0; i < s->tables->count; ++i) {
            const bed_table *t = &s->tables->tables[i];
            if (!in_half(s, t) || t->n < sizes[k].least || t->n >= sizes[k].below) continue;
            static const char *const methods[] = {"gp", "default"};
            if (!clean_mean(s, t, "gp", record_mae).count || !clean_mean(s, t, "default", record_mae).count)
                continue;
            for (size_t m = 0; m < 2; ++m) {
                cover[m] += clean_mean(s, t, methods[m], record_coverage95).mean;
                nlpd[m] += clean_mean(s, t, methods[m], record_nlpd).mean;
            }
            count += 1;
        }
        const double n = (double)count;
        if (count)
            printf("| %s | %zu | %.3f | %.3f | %.3f | %.3f |\n", sizes[k].text, count, cover[0] / n,
                   cover[1] / n, nlpd[0] / n, nlpd[1] / n);
    }
}

/* ---- (d): a tenth wrong ---- */

/* MAE over the oracle's, mean over the splits and kinds (or one kind) of a table; NaN where there is none. */
static double over_oracle(const bed_scope *s, const bed_table *t, const char *method, const char *kind)
{
    double sum = 0.0;
    size_t count = 0;
    for (size_t i = 0; i < s->done->count; ++i) {
        const record *r = &s->done->items[i], *told;
        if (fabs(r->share - TENTH) > 1e-9 || strcmp(r->set, t->name) != 0 || !table_of(s, r, method, kind))
            continue;
        if (!(told = by_method(s->done, r, "oracle")) || !(told->mae > 0.0)) continue;
        sum += r->mae / told->mae;
        count += 1;
    }
    return count ? sum / (double)count : NAN;
}

typedef struct spread {
    size_t count;
    double median, worst;
    const char *where;
} spread;

static spread spread_of(const bed_scope *s, const char *method, const char *kind)
{
    double *ratios = room(s->tables->count, sizeof(double));
    spread out = {0, NAN, 0.0, ""};
    for (size_t i = 0; i < s->tables->count; ++i) {
        const bed_table *t = &s->tables->tables[i];
        if (!in_half(s, t) || bed_sound_rows(t) < SHARED_ROWS) continue;
        const double ratio = over_oracle(s, t, method, kind);
        if (isnan(ratio)) continue;
        ratios[out.count++] = ratio;
        if (ratio > out.worst) {
            out.worst = ratio;
            out.where = t->name;
        }
    }
    out.median = median_of(ratios, out.count);
    free(ratios);
    return out;
}

static void report_tenth(const bed_scope *s)
{
    puts("\n(d) A tenth of the readings wrong, tables of 20 rows and more: MAE over the oracle's, mean over "
         "splits of a "
         "table:\n\n| damage | tables | default: median | worst table | gp: median | worst table "
         "|\n|---|---|---|---|---|---|");
    for (size_t k = 0; k <= BED_KINDS; ++k) {
        const char *kind = k < BED_KINDS ? bed_kind_name(bed_kind_at(k)) : NULL;
        if (kind && !bed_kind_shares(bed_kind_at(k))) continue;
        const spread ours = spread_of(s, "default", kind), plain = spread_of(s, "gp", kind);
        if (!ours.count) continue;
        printf("| %s | %zu | %.2f | %.2f (%s) |", kind ? kind : "all", ours.count, ours.median, ours.worst,
               ours.where);
        if (plain.count)
            printf(" %.2f | %.2f (%s) |\n", plain.median, plain.worst, plain.where);
        else
            puts(" | |");
    }
}

/* ---- (f): time ---- */

static void report_time(const bed_scope *s)
{
    double ours = 0.0, plain = 0.0, *ratios = room(s->done->count, sizeof(double));
    size_t count = 0;
    for (size_t i = 0; i < s->done->count; ++i) {
        const record *r = &s->done->items[i], *gp;
        if (!table_of(s, r, "default", NULL) || !(gp = by_method(s->done, r, "gp")) ||
            !(gp->cpu_seconds > 0.0))
            continue;
        ours += r->cpu_seconds;
        plain += gp->cpu_seconds;
        ratios[count++] = r->cpu_seconds / gp->cpu_seconds;
    }
    if (count)
        printf("\n(f) Processor time, default over gp, %zu pairs: sums %.1f s over %.1f s = %.2f; median of "
               "the ratios "
               "%.2f.\n",
               count, ours, plain, ours / plain, median_of(ratios, count));
    free(ratios);
}

/* ---- (g): a row per table ---- */

static void report_tables(const bed_scope *s)
{
    puts("\n(g) Every table, clean but for the last two columns:\n\n"
         "| table | rows | inputs | RMSE: gp | default | NLPD: gp | default | cover 95: gp | default | "
         "one_10 set aside | "
         "MAE / oracle's, a tenth wrong |\n|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < s->tables->count; ++i) {
        const bed_table *t = &s->tables->tables[i];
        double (*const fields[])(const record *) = {record_rmse, record_nlpd, record_coverage95};
        if (!in_half(s, t) || !clean_mean(s, t, "default", record_mae).count ||
            !clean_mean(s, t, "gp", record_mae).count)
            continue;
        printf("| %s | %zu | %zu |", t->name, t->n, t->d);
        for (size_t f = 0; f < 3; ++f)
            printf(" %.3f | %.3f |", clean_mean(s, t, "gp", fields[f]).mean,
                   clean_mean(s, t, "default", fields[f]).mean);
        const tally ten = count_kind(s, t, "one_10");
        const double ratio = over_oracle(s, t, "default", NULL);
        printf(" %zu of %zu |", ten.found, ten.wrong);
        if (isnan(ratio))
            puts(" |");
        else
            printf(" %.2f |\n", ratio);
    }
}

void bed_report_half(const bed_scope *s)
{
    printf("\n### The half %s\n", s->held ? "held" : "tune");
    report_few(s);
    report_bands(s);
    report_clean(s);
    report_tenth(s);
    report_cover(s);
    report_time(s);
    report_tables(s);
}

/* ---- rows known to be odd ---- */

static bool listed(const char *rows, size_t row)
{
    char *end;
    for (size_t found; (found = strtoul(rows, &end, 10)) > 0 && end != rows; rows = end)
        if (found == row) return true;
    return false;
}

/* The rows of a list that are known (or not), without those of another list. */
static void print_rows(const bed_table *t, const char *rows, const char *less, bool known)
{
    for (size_t row = 1; row <= t->n; ++row)
        if (listed(rows, row) && !listed(less, row) && bed_row_known(t, row - 1) == known)
            printf(" %zu", row);
    fputs(" |", stdout);
}

void bed_report_known(const records *done, const bed *tables)
{
    bool begun = false;
    for (size_t i = 0; i < tables->count; ++i) {
        const bed_table *t = &tables->tables[i];
        const record key = record_key(t->name, "known", "default", 0.0, 0);
        const record *r = records_find(done, &key);
        if (!r) continue;
        if (!begun)
            puts("\n### Rows known to be odd, on the whole table\n\n| table | rows | known | known, set "
                 "aside | known, only "
                 "suspected | others set aside | others only suspected |\n|---|---|---|---|---|---|---|");
        begun = true;
        printf("| %s | %zu |", t->name, t->n);
        for (size_t k = 0; k < t->known_count; ++k) printf(" %zu", t->known[k] + 1);
        fputs(" |", stdout);
        print_rows(t, r->aside, "", true);
        print_rows(t, r->suspect, r->aside, true);
        print_rows(t, r->aside, "", false);
        print_rows(t, r->suspect, r->aside, false);
        putchar('\n');
    }
}

void bed_report_restarts(const records *done, const bed *tables)
{
    double *gains = room(done->count, sizeof(double));
    size_t count = 0, named = 0;
    puts("\n### More starts of the plain GP\n\n| table | split | rows | gain, nats |\n|---|---|---|---|");
    for (size_t i = 0; i < done->count; ++i) {
        const record *r = &done->items[i], *plain;
        const bed_table *t = bed_find(tables, r->set);
        if (!t || strcmp(r->method, "restarts") != 0 || !(plain = by_method(done, r, "gp"))) continue;
        gains[count++] = r->objective - plain->objective;
        if (gains[count - 1] <= GAIN) continue;
        printf("| %s | %ld | %zu | %.2f |\n", t->name, r->split, t->n, gains[count - 1]);
        named += 1;
    }
    printf("\n%zu of %zu fits gained more than %.0f nats; median of all %.3g.\n", named, count, GAIN,
           median_of(gains, count));
    free(gains);
}
