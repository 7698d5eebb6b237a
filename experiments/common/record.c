/* SPDX-License-Identifier: Apache-2.0 */
#include "common/record.h"
#include "common/hash.h"
#include "common/lines.h"
#include "common/room.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

record record_key(const char *set, const char *kind, const char *method, double share, long split)
{
    record key = {.share = share, .split = split};
    snprintf(key.set, sizeof key.set, "%s", set);
    snprintf(key.kind, sizeof key.kind, "%s", kind);
    snprintf(key.method, sizeof key.method, "%s", method);
    return key;
}

/* Shares come from command lines and from files: compared as decimal numbers, not bit for bit. */
static bool same_place(const record *a, const record *b)
{
    return strcmp(a->set, b->set) == 0 && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->method, b->method) == 0 && fabs(a->share - b->share) < 1e-9;
}

/* A hash of the key without the share, which has no unique bits. */
static size_t hash_of(const record *key)
{
    char text[128];
    snprintf(text, sizeof text, "%s/%s/%s/%ld", key->set, key->kind, key->method, key->split);
    return fnv1a(text);
}

/* The slot of the key, or the free one where it belongs. */
static size_t *slot_of(const records *list, const record *key)
{
    const size_t room = 2 * list->capacity;
    for (size_t at = hash_of(key) % room;; at = (at + 1) % room) {
        const size_t place = list->slots[at];
        if (!place) return &list->slots[at];
        const record *item = &list->items[place - 1];
        if (item->split == key->split && same_place(item, key)) return &list->slots[at];
    }
}

static void file_item(records *list, size_t place)
{
    size_t *slot = slot_of(list, &list->items[place]);
    if (!*slot) *slot = place + 1;
}

static void grow(records *list)
{
    const size_t capacity = list->capacity ? 2 * list->capacity : 256;
    list->items = room_more(list->items, capacity, sizeof *list->items);
    free(list->slots);
    list->slots = room(2 * capacity, sizeof *list->slots);
    list->capacity = capacity;
    for (size_t i = 0; i < list->count; ++i) file_item(list, i);
}

void records_add(records *list, const record *item)
{
    if (list->count == list->capacity) grow(list);
    list->items[list->count++] = *item;
    file_item(list, list->count - 1);
}

void records_free(records *list)
{
    free(list->items);
    free(list->slots);
    *list = (records){0};
}

const record *records_find(const records *list, const record *key)
{
    const size_t place = list->count ? *slot_of(list, key) : 0;
    return place ? &list->items[place - 1] : NULL;
}

bool record_write(FILE *out, const record *item)
{
    json_t *object = json_pack(
        "{ss ss ss sf sI sI sI sf sf sf sf sf sf sI sI sI sb sf sI sf sf sf sf sI sf sf ss ss}", "set",
        item->set, "kind", item->kind, "method", item->method, "share", item->share, "split",
        (json_int_t)item->split, "train", (json_int_t)item->train, "test", (json_int_t)item->test, "mae",
        item->mae, "rmse", item->rmse, "nlpd", item->nlpd, "coverage50", item->coverage50, "coverage90",
        item->coverage90, "coverage95", item->coverage95, "wrong", (json_int_t)item->wrong, "found",
        (json_int_t)item->found, "false", (json_int_t)item->false_flags, "adopted", (int)item->adopted,
        "kappa", item->kappa, "evaluations", (json_int_t)item->evaluations, "seconds", item->seconds,
        "cpu_seconds", item->cpu_seconds, "predict_seconds", item->predict_seconds, "megabytes",
        item->megabytes, "suspected", (json_int_t)item->suspected, "band", item->band, "objective",
        item->objective, "aside", item->aside, "suspect", item->suspect);
    bool ok = false;
    if (object) {
        ok = json_dumpf(object, out, JSON_COMPACT) == 0 && fputc('\n', out) != EOF;
        json_decref(object);
    }
    return ok;
}

bool record_read(const char *line, record *out)
{
    json_error_t error;
    json_t *object = json_loads(line, JSON_REJECT_DUPLICATES, &error);
    const char *set = NULL, *kind = NULL, *method = NULL, *aside = "", *suspect = "";
    json_int_t split = 0, train = 0, test = 0, wrong = 0, found = 0, false_flags = 0, evaluations = 0,
               suspected = 0;
    int adopted = 0;
    record r = {0};
    bool ok = object &&
              json_unpack_ex(object, &error, 0,
                             "{ss ss ss sF sI sI sI sF sF sF sF sF sF sI sI sI sb sF sI sF s?F s?F s?F "
                             "s?I s?F s?F s?s s?s}",
                             "set", &set, "kind", &kind, "method", &method, "share", &r.share, "split",
                             &split, "train", &train, "test", &test, "mae", &r.mae, "rmse", &r.rmse, "nlpd",
                             &r.nlpd, "coverage50", &r.coverage50, "coverage90", &r.coverage90, "coverage95",
                             &r.coverage95, "wrong", &wrong, "found", &found, "false", &false_flags,
                             "adopted", &adopted, "kappa", &r.kappa, "evaluations", &evaluations, "seconds",
                             &r.seconds, "cpu_seconds", &r.cpu_seconds, "predict_seconds", &r.predict_seconds,
                             "megabytes", &r.megabytes, "suspected", &suspected, "band", &r.band, "objective",
                             &r.objective, "aside", &aside, "suspect", &suspect) == 0;
    if (ok) {
        snprintf(r.set, sizeof r.set, "%s", set);
        snprintf(r.kind, sizeof r.kind, "%s", kind);
        snprintf(r.method, sizeof r.method, "%s", method);
        r.split = (long)split;
        r.train = (size_t)train;
        r.test = (size_t)test;
        r.wrong = (size_t)wrong;
        r.found = (size_t)found;
        r.false_flags = (size_t)false_flags;
        r.evaluations = (size_t)evaluations;
        r.adopted = adopted != 0;
        r.suspected = (size_t)suspected;
        snprintf(r.aside, sizeof r.aside, "%s", aside);
        snprintf(r.suspect, sizeof r.suspect, "%s", suspect);
        *out = r;
    } else {
        fprintf(stderr, "not a record: %s\n", error.text);
    }
    json_decref(object);
    return ok;
}

static bool take(const char *line, void *user)
{
    record item;
    if (!record_read(line, &item)) return false;
    records_add(user, &item);
    return true;
}

bool records_load(records *list, const char *path)
{
    return lines_load(path, take, list);
}

summary records_summary(const records *list, const record *key, double (*field)(const record *))
{
    summary s = {0, 0.0, 0.0, INFINITY, -INFINITY};
    double squares = 0.0;
    for (size_t i = 0; i < list->count; ++i) {
        if (!same_place(&list->items[i], key)) continue;
        double value = field(&list->items[i]), change = value - s.mean;
        s.count += 1;
        s.mean += change / (double)s.count;
        squares += change * (value - s.mean);
        s.least = fmin(s.least, value);
        s.most = fmax(s.most, value);
    }
    s.sd = s.count > 1 ? sqrt(squares / (double)(s.count - 1)) : 0.0;
    return s;
}

double record_mae(const record *item)
{
    return item->mae;
}
double record_rmse(const record *item)
{
    return item->rmse;
}
double record_nlpd(const record *item)
{
    return item->nlpd;
}
double record_coverage95(const record *item)
{
    return item->coverage95;
}
double record_train(const record *item)
{
    return (double)item->train;
}
double record_found(const record *item)
{
    return (double)item->found;
}
double record_wrong(const record *item)
{
    return (double)item->wrong;
}
double record_false(const record *item)
{
    return (double)item->false_flags;
}
double record_adopted(const record *item)
{
    return item->adopted ? 1.0 : 0.0;
}
double record_kappa(const record *item)
{
    return item->kappa;
}
double record_evaluations(const record *item)
{
    return (double)item->evaluations;
}
double record_seconds(const record *item)
{
    return item->seconds;
}
double record_cpu_seconds(const record *item)
{
    return item->cpu_seconds;
}
double record_predict_seconds(const record *item)
{
    return item->predict_seconds;
}
double record_megabytes(const record *item)
{
    return item->megabytes;
}
