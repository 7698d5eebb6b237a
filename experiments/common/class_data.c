/* SPDX-License-Identifier: Apache-2.0 */
#include "common/class_data.h"
#include "common/draws.h"
#include "common/sets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    CLOUD = 600,
    SPAM_INPUTS = 11,
    MOST_CLASSES = 3
};

/* Counted from 1 in the published program; names of spambase's columns follow them. */
static const size_t spam_columns[SPAM_INPUTS] = {4, 6, 15, 16, 18, 20, 22, 24, 51, 52, 56};

typedef struct set {
    const char *name, *file; /* NULL: made up */
    size_t classes, label;   /* label: column; SIZE_MAX the last */
    double digits[MOST_CLASSES];
    bool others; /* rows of other digits are left out */
    double unit; /* inputs are divided by it; 0: standardised */
} set;

static const set sets[] = {
    {"synthetic2d", NULL, 2, 0, {0, 1, 0}, false, 0.0},
    {"spam", "spambase/spambase.csv", 2, SIZE_MAX, {0, 1, 0}, false, 0.0},
    {"mnist38", "mnist_t10k_14x14/mnist38_14x14_sum4.csv", 2, 0, {3, 8, 0}, false, 1020.0},
    {"mnist358", "mnist_t10k_14x14/mnist358_14x14_sum4.csv", 3, 0, {3, 5, 8}, false, 1020.0},
    {"digits38", "digits/digits.csv", 2, 0, {3, 8, 0}, true, 16.0},
    {"digits358", "digits/digits.csv", 3, 0, {3, 5, 8}, false, 16.0},
};

static const set *find(const char *name)
{
    for (size_t k = 0; k < sizeof sets / sizeof *sets; ++k)
        if (strcmp(sets[k].name, name) == 0) return &sets[k];
    return NULL;
}

bool class_data_known(const char *name)
{
    return find(name) != NULL;
}

bool class_data_present(const char *folder, const char *name)
{
    char path[SETS_PATH], outcome[64];
    const set *s = find(name);
    if (!s->file || sets_find(folder, s->file, path)) return true;
    snprintf(outcome, sizeof outcome, "%s is left out", name);
    sets_explain(folder, s->file, outcome);
    return false;
}

void class_data_free(class_data *data)
{
    free(data->x);
    free(data->label);
    *data = (class_data){0};
}

static bool room(class_data *all, size_t rows, size_t d, size_t classes)
{
    *all = (class_data){.train = rows, .d = d, .classes = classes};
    all->x = calloc(rows * d + 1, sizeof *all->x);
    all->label = calloc(rows + 1, sizeof *all->label);
    return all->x && all->label;
}

static bool make_clouds(uint64_t seed, size_t least, class_data *all)
{
    draws d = {seed};
    const size_t cloud = least > 2 * CLOUD ? least / 2 + least % 2 : CLOUD;
    if (!room(all, 2 * cloud, 2, 2)) return false;
    for (size_t i = 0; i < 2 * cloud; ++i) {
        all->label[i] = i / cloud;
        for (size_t j = 0; j < 2; ++j) all->x[2 * i + j] = draw_normal(&d) + (j == all->label[i] ? 5.0 : 0.0);
    }
    return true;
}

static bool read_labels(const set *s, const double *numbers, class_data *all)
{
    for (size_t i = 0; i < all->train; ++i) {
        size_t c = 0;
        while (c < s->classes && numbers[i] != s->digits[c]) ++c;
        if (c == s->classes && !s->others) return false;
        all->label[i] = c;
    }
    return true;
}

static void leave_others_out(class_data *all)
{
    size_t kept = 0;
    for (size_t i = 0; i < all->train; ++i) {
        if (all->label[i] == all->classes) continue;
        memmove(all->x + kept * all->d, all->x + i * all->d, all->d * sizeof *all->x);
        all->label[kept++] = all->label[i];
    }
    all->train = kept;
}

static hf_status read_columns(hf_context *ctx, const hf_table *table, const set *s, class_data *all)
{
    const size_t columns = hf_table_columns(table), label = s->label == SIZE_MAX ? columns - 1 : s->label;
    const bool few = s->unit == 0.0;
    const double *numbers;
    if (!room(all, hf_table_rows(table), few ? SPAM_INPUTS : columns - 1, s->classes)) return HF_ERR_MEMORY;
    hf_status status = hf_table_numbers(ctx, table, label, &numbers);
    if (status >= 0 && !read_labels(s, numbers, all)) return HF_ERR_PARSE;
    for (size_t j = 0; status >= 0 && j < all->d; ++j) {
        status = hf_table_numbers(ctx, table, few ? spam_columns[j] : j + 1, &numbers);
        for (size_t i = 0; status >= 0 && i < all->train; ++i) all->x[i * all->d + j] = numbers[i];
    }
    leave_others_out(all);
    return status;
}

static void standardise(class_data *all, double unit)
{
    for (size_t j = 0; j < all->d; ++j) {
        double mean = 0.0, squares = 0.0;
        for (size_t i = 0; i < all->train; ++i) mean += all->x[i * all->d + j] / (double)all->train;
        for (size_t i = 0; i < all->train; ++i) squares += pow(all->x[i * all->d + j] - mean, 2.0);
        const double sd = sqrt(squares / (double)(all->train - 1));
        for (size_t i = 0; i < all->train; ++i) {
            double *x = &all->x[i * all->d + j];
            *x = unit > 0.0 ? *x / unit : (*x - mean) / (sd > 0.0 ? sd : 1.0);
        }
    }
}

/* The first rows of a shuffle. */
static bool draw_rows(const class_data *all, uint64_t seed, size_t train, size_t test, class_data *out)
{
    draws d = {seed};
    const size_t rows = all->train;
    size_t *order = malloc((rows + 1) * sizeof *order);
    if (train > rows) train = rows;
    if (test > rows - train) test = rows - train;
    if (!order || !room(out, train + test, all->d, all->classes)) {
        free(order);
        return false;
    }
    out->train = train;
    out->test = test;
    for (size_t i = 0; i < rows; ++i) order[i] = i;
    for (size_t i = 0; i < train + test; ++i) {
        const size_t k = i + (size_t)(draw_uniform(&d) * (double)(rows - i)), row = order[k];
        order[k] = order[i];
        memcpy(out->x + i * all->d, all->x + row * all->d, all->d * sizeof *out->x);
        out->label[i] = all->label[row];
    }
    free(order);
    return true;
}

bool class_data_read(hf_context *ctx, const char *folder, const char *name, uint64_t seed, size_t least,
                     class_data *out)
{
    const set *s = find(name);
    hf_status status = HF_OK;
    *out = (class_data){0};
    if (s->file) {
        char path[SETS_PATH];
        hf_table *table = NULL;
        sets_find(folder, s->file, path);
        status = hf_table_read_csv(ctx, path, &table);
        if (status >= 0) status = read_columns(ctx, table, s, out);
        hf_table_free(table);
    } else if (!make_clouds(seed, least, out)) {
        status = HF_ERR_MEMORY;
    }
    if (status >= 0) {
        standardise(out, s->unit);
        return true;
    }
    fprintf(stderr, "%s: %s: %s\n", name, hf_status_name(status), hf_context_message(ctx));
    class_data_free(out);
    return false;
}

bool class_data_draw(hf_context *ctx, const char *folder, const char *name, uint64_t seed, size_t train,
                     size_t test, class_data *out)
{
    class_data all;
    *out = (class_data){0};
    if (!class_data_read(ctx, folder, name, seed, 0, &all)) return false;
    const bool ok = draw_rows(&all, seed + 1000003, train, test, out);
    class_data_free(&all);
    if (ok) return true;
    fprintf(stderr, "%s: out of memory\n", name);
    class_data_free(out);
    return false;
}
