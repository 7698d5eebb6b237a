/* SPDX-License-Identifier: Apache-2.0 */
#include "common/scale_report.h"

#include <math.h>
#include <string.h>

/* Is this the first record of its combination? */
static bool first_of(const records *list, size_t i)
{
    const record *r = &list->items[i];
    for (size_t k = 0; k < i; ++k) {
        const record *o = &list->items[k];
        if (strcmp(o->set, r->set) == 0 && strcmp(o->kind, r->kind) == 0 && strcmp(o->method, r->method) == 0)
            return false;
    }
    return true;
}

static void print_row(const records *list, const record *r)
{
    record clean = *r;
    char ratio[16] = "";
    snprintf(clean.kind, sizeof clean.kind, "none");
    clean.share = 0.0;
    const summary rmse = records_summary(list, r, record_rmse),
                  base = records_summary(list, &clean, record_rmse);
    if (base.count && r->share > 0.0) snprintf(ratio, sizeof ratio, "%.3f", rmse.mean / base.mean);
    printf(
        "| %s | %s | %zu | %s | %.2f | %.2f | %.3f | %.0f | %.4f | %.3f | %.3f | %s | %.0f/%.0f + %.0f |\n",
        r->set, r->kind, r->train, r->method, records_summary(list, r, record_seconds).mean,
        records_summary(list, r, record_cpu_seconds).mean,
        records_summary(list, r, record_predict_seconds).mean,
        records_summary(list, r, record_megabytes).most, rmse.mean,
        records_summary(list, r, record_nlpd).mean, records_summary(list, r, record_coverage95).mean, ratio,
        records_summary(list, r, record_found).mean, records_summary(list, r, record_wrong).mean,
        records_summary(list, r, record_false).mean);
}

void scale_table(const records *list)
{
    puts("\n| set | damage | n | method | fit s | CPU s | predict s | MB | RMSE | NLPD | cover 95 | RMSE / "
         "clean "
         "RMSE | found |\n"
         "|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < list->count; ++i)
        if (first_of(list, i)) print_row(list, &list->items[i]);
}

/* "protein, 4000 rows" and "protein" are of one set. */
static bool same_set(const record *a, const record *b)
{
    const size_t length = strcspn(a->set, ",");
    return length == strcspn(b->set, ",") && strncmp(a->set, b->set, length) == 0 &&
           strcmp(a->method, b->method) == 0;
}

typedef struct line {
    double n, x, y, xx, xy;
} line;

static void add_point(line *l, double x, double y)
{
    if (!(y > 0.0)) return;
    x = log(x);
    y = log(y);
    l->n += 1.0;
    l->x += x;
    l->y += y;
    l->xx += x * x;
    l->xy += x * y;
}

static double slope(const line *l)
{
    return (l->n * l->xy - l->x * l->y) / (l->n * l->xx - l->x * l->x);
}

/* Different numbers of training rows among the records of the method on the set; 0 if `i` is not the first of them. */
static size_t different_rows(const records *list, size_t i)
{
    size_t seen[32], count = 0;
    for (size_t k = 0; k < list->count; ++k) {
        if (!same_set(&list->items[k], &list->items[i])) continue;
        if (k < i) return 0;
        size_t j = 0;
        while (j < count && seen[j] != list->items[k].train) ++j;
        if (j == count && count < 32) seen[count++] = list->items[k].train;
    }
    return count;
}

void scale_exponents(const records *list)
{
    bool begun = false;
    for (size_t i = 0; i < list->count; ++i) {
        const record *r = &list->items[i];
        line fit = {0}, predict = {0}, memory = {0};
        const size_t sizes = different_rows(list, i);
        if (sizes < 3) continue;
        for (size_t k = i; k < list->count; ++k) {
            const record *o = &list->items[k];
            if (!same_set(o, r)) continue;
            add_point(&fit, (double)o->train, o->cpu_seconds);
            add_point(&predict, (double)o->train, o->predict_seconds / (double)o->test);
            add_point(&memory, (double)o->train, o->megabytes);
        }
        if (!begun)
            puts("\nExponents: cost ~ n^e by least squares over the sizes above (prediction: of one row).\n\n"
                 "| set | method | sizes | fit | prediction | memory |\n|---|---|---|---|---|---|");
        begun = true;
        printf("| %.*s | %s | %zu | %.2f | %.2f | %.2f |\n", (int)strcspn(r->set, ","), r->set, r->method,
               sizes, slope(&fit), slope(&predict), slope(&memory));
    }
}
