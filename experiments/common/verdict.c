/* SPDX-License-Identifier: Apache-2.0 */
#include "common/verdict.h"

#include <math.h>
#include <string.h>

static const char *const methods[] = {"gp", "rcgp", "smooth", "default", "oracle"};

static record key_of(const char *set, const damage *what, const char *method)
{
    return record_key(set, what->kind, method, what->share, 0);
}

/* MAE over the same method's MAE on the same split undamaged: mean of the ratios and the worst of them. */
static summary ratio_to_clean(const records *list, const record *key)
{
    summary s = {0, 0.0, 0.0, INFINITY, -INFINITY};
    for (size_t i = 0; i < list->count; ++i) {
        const record *r = &list->items[i];
        record clean = *r;
        if (strcmp(r->set, key->set) != 0 || strcmp(r->kind, key->kind) != 0 ||
            strcmp(r->method, key->method) != 0 || fabs(r->share - key->share) > 1e-9)
            continue;
        snprintf(clean.kind, sizeof clean.kind, "none");
        clean.share = 0.0;
        const record *base = records_find(list, &clean);
        if (!base) continue;
        double ratio = r->mae / base->mae;
        s.mean += (ratio - s.mean) / (double)++s.count;
        s.most = fmax(s.most, ratio);
    }
    return s;
}

static void table_row(const records *list, const damage *what, const record *key)
{
    summary mae = records_summary(list, key, record_mae), rmse = records_summary(list, key, record_rmse);
    summary nlpd = records_summary(list, key, record_nlpd),
            cover = records_summary(list, key, record_coverage95);
    summary ratio = ratio_to_clean(list, key);
    char share[16], flags[64] = "", ratios[64] = "";
    snprintf(share, sizeof share, "%.0f %%", 100.0 * what->share);
    if (strcmp(key->method, "gp") != 0 && strcmp(key->method, "oracle") != 0)
        snprintf(flags, sizeof flags, "%.1f of %.1f, %.1f false",
                 records_summary(list, key, record_found).mean, records_summary(list, key, record_wrong).mean,
                 records_summary(list, key, record_false).mean);
    if (ratio.count) snprintf(ratios, sizeof ratios, "%.2f; %.2f", ratio.mean, ratio.most);
    printf("| %s %s | %s | %zu | %.4f (%.4f) | %.4f (%.4f) | %.3f (%.3f) | %.3f | %s | %s | %.1f |\n",
           what->kind, what->share > 0.0 ? share : "", key->method, mae.count, mae.mean, mae.sd, rmse.mean,
           rmse.sd, nlpd.mean, nlpd.sd, cover.mean, ratios, flags,
           records_summary(list, key, record_seconds).mean);
}

void verdict_table(const records *list, const char *set, const damage *damages, size_t count)
{
    bool begun = false;
    for (size_t k = 0; k < count; ++k) {
        for (size_t j = 0; j < sizeof methods / sizeof *methods; ++j) {
            record key = key_of(set, &damages[k], methods[j]);
            if (records_summary(list, &key, record_mae).count == 0) continue;
            if (!begun)
                printf("\n### %s\n\n| damage | method | splits | MAE (sd) | RMSE (sd) | NLPD (sd) | cover 95 "
                       "| MAE / clean MAE: "
                       "mean; worst | set aside | seconds |\n|---|---|---|---|---|---|---|---|---|---|\n",
                       set);
            begun = true;
            table_row(list, &damages[k], &key);
        }
    }
}

typedef struct aim {
    const char *set;
    const damage *what;
    const char *text;
    double measured, oracle; /**< the oracle's figure beside it; NaN where it has none */
    double least, most;      /**< least is -INFINITY where only `most` bounds */
} aim;

static void judge(const aim *a, verdict *v)
{
    char share[16] = "", bound[48], oracle[32] = "";
    bool good = a->measured >= a->least && a->measured <= a->most;
    if (a->what->share > 0.0) snprintf(share, sizeof share, " %.0f %%", 100.0 * a->what->share);
    if (isinf(a->least))
        snprintf(bound, sizeof bound, "at most %.2f", a->most);
    else
        snprintf(bound, sizeof bound, "%.2f to %.2f", a->least, a->most);
    if (!isnan(a->oracle)) snprintf(oracle, sizeof oracle, "%.4f", a->oracle);
    printf("| %s | %s%s | %s | %.4f | %s | %s | %s |\n", a->set, a->what->kind, share, a->text, a->measured,
           oracle, bound, good ? "met" : "**missed**");
    if (good)
        v->met += 1;
    else
        v->missed += 1;
}

static void aims_when_clean(const records *list, const char *set, const damage *none, verdict *v)
{
    record ours = key_of(set, none, "default"), plain = key_of(set, none, "gp");
    aim a = {.set = set, .what = none, .oracle = NAN, .least = -INFINITY, .most = 1.01};
    if (!records_summary(list, &ours, record_mae).count || !records_summary(list, &plain, record_mae).count)
        return;
    a.text = "MAE / plain GP's";
    a.measured =
        records_summary(list, &ours, record_mae).mean / records_summary(list, &plain, record_mae).mean;
    judge(&a, v);
    a.text = "RMSE / plain GP's";
    a.measured =
        records_summary(list, &ours, record_rmse).mean / records_summary(list, &plain, record_rmse).mean;
    judge(&a, v);
    a.text = "NLPD - plain GP's";
    a.measured =
        records_summary(list, &ours, record_nlpd).mean - records_summary(list, &plain, record_nlpd).mean;
    a.most = 0.03;
    judge(&a, v);
}

/* Mean MAE over the method's own mean MAE without damage; NaN while either is missing. */
static double growth(const records *list, const char *set, const damage *what, const char *method)
{
    const damage none = {"none", 0.0};
    record hurt = key_of(set, what, method), clean = key_of(set, &none, method);
    summary top = records_summary(list, &hurt, record_mae), base = records_summary(list, &clean, record_mae);
    return top.count && base.count ? top.mean / base.mean : NAN;
}

static double worst_growth(const records *list, const char *set, const damage *what, const char *method)
{
    record hurt = key_of(set, what, method);
    summary ratio = ratio_to_clean(list, &hurt);
    return ratio.count ? ratio.most : NAN;
}

static void aims_when_damaged(const records *list, const char *set, double limit, const damage *what,
                              verdict *v)
{
    aim a = {.set = set, .what = what, .least = -INFINITY, .most = limit};
    a.text = "mean MAE / mean clean MAE";
    a.measured = growth(list, set, what, "default");
    a.oracle = growth(list, set, what, "oracle");
    if (isnan(a.measured)) return;
    judge(&a, v);
    a.text = "MAE / clean MAE, worst split";
    a.measured = worst_growth(list, set, what, "default");
    a.oracle = worst_growth(list, set, what, "oracle");
    a.most = 2.0;
    if (!isnan(a.measured)) judge(&a, v);
}

void verdict_heading(void)
{
    puts("\n### Aims\n\n| set | damage | aim | default | oracle | bound | |\n|---|---|---|---|---|---|---|");
}

void verdict_aims(const records *list, const char *set, double limit, const damage *damages, size_t count,
                  verdict *v)
{
    const damage none = {"none", 0.0};
    aims_when_clean(list, set, &none, v);
    for (size_t k = 0; k < count; ++k) {
        record ours = key_of(set, &damages[k], "default"), told = key_of(set, &damages[k], "oracle");
        summary cover = records_summary(list, &ours, record_coverage95);
        summary best = records_summary(list, &told, record_coverage95);
        aim a = {set,  &damages[k], "cover of 95 % intervals", cover.mean, best.count ? best.mean : NAN,
                 0.90, 0.98};
        if (damages[k].share > 0.0) aims_when_damaged(list, set, limit, &damages[k], v);
        if (cover.count) judge(&a, v);
    }
}
