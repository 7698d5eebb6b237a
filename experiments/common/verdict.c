/* SPDX-License-Identifier: Apache-2.0 */
#include "common/verdict.h"

#include <math.h>
#include <string.h>

static const char *const methods[] = {"gp", "rcgp", "smooth", "default", "oracle"};

static record key_of(const char *set, const damage *what, const char *method)
{
    record key = {.share = what->share};
    snprintf(key.set, sizeof key.set, "%s", set);
    snprintf(key.kind, sizeof key.kind, "%s", what->kind);
    snprintf(key.method, sizeof key.method, "%s", method);
    return key;
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

static void say(bool good, size_t *met, size_t *missed, const char *set, const damage *what, const char *aim,
                double number, const char *bound)
{
    char share[16] = "";
    if (what->share > 0.0) snprintf(share, sizeof share, " %.0f %%", 100.0 * what->share);
    printf("| %s | %s%s | %s | %.4f | %s | %s |\n", set, what->kind, share, aim, number, bound,
           good ? "met" : "**missed**");
    if (good)
        ++*met;
    else
        ++*missed;
}

static void aims_when_clean(const records *list, const char *set, const damage *none, size_t *met,
                            size_t *missed)
{
    record ours = key_of(set, none, "default"), plain = key_of(set, none, "gp");
    if (!records_summary(list, &ours, record_mae).count || !records_summary(list, &plain, record_mae).count)
        return;
    double mae =
        records_summary(list, &ours, record_mae).mean / records_summary(list, &plain, record_mae).mean;
    double rmse =
        records_summary(list, &ours, record_rmse).mean / records_summary(list, &plain, record_rmse).mean;
    double nlpd =
        records_summary(list, &ours, record_nlpd).mean - records_summary(list, &plain, record_nlpd).mean;
    say(mae <= 1.01, met, missed, set, none, "MAE / plain GP's", mae, "at most 1.01");
    say(rmse <= 1.01, met, missed, set, none, "RMSE / plain GP's", rmse, "at most 1.01");
    say(nlpd <= 0.03, met, missed, set, none, "NLPD - plain GP's", nlpd, "at most 0.03");
}

void verdict_aims(const records *list, const char *set, double limit, const damage *damages, size_t count,
                  size_t *met, size_t *missed)
{
    const damage none = {"none", 0.0};
    record clean = key_of(set, &none, "default");
    summary base = records_summary(list, &clean, record_mae);
    char bound[32];
    snprintf(bound, sizeof bound, "at most %.2f", limit);
    aims_when_clean(list, set, &none, met, missed);
    for (size_t k = 0; k < count; ++k) {
        record key = key_of(set, &damages[k], "default");
        summary mae = records_summary(list, &key, record_mae),
                cover = records_summary(list, &key, record_coverage95);
        if (!mae.count) continue;
        if (damages[k].share > 0.0 && base.count) {
            summary ratio = ratio_to_clean(list, &key);
            say(mae.mean / base.mean <= limit, met, missed, set, &damages[k], "mean MAE / mean clean MAE",
                mae.mean / base.mean, bound);
            if (ratio.count)
                say(ratio.most <= 2.0, met, missed, set, &damages[k], "MAE / clean MAE, worst split",
                    ratio.most, "at most 2");
        }
        say(cover.mean >= 0.90 && cover.mean <= 0.98, met, missed, set, &damages[k],
            "cover of 95 % intervals", cover.mean, "0.90 to 0.98");
    }
}
