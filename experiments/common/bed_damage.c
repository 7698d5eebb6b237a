/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bed_damage.h"
#include "common/draws.h"
#include "common/room.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A damage under way: rows[0..count) are to be damaged, y holds the clean targets. */
typedef struct damaging {
    const bed_kind *kind;
    const problem *p;
    const double *y;
    size_t *rows, count;
    draws stream;
} damaging;

struct bed_kind {
    const char *name;
    size_t rows;                              /* 0: by share */
    size_t divisor;                           /* their number is a multiple of this */
    double (*changed)(damaging *a, size_t k); /* new target of rows[k] */
    double size;                              /* of the change, in sd */
    double moved;                             /* a row that moved less, in sd, is not wrong */
    void (*choose)(damaging *a);              /* other rows than random ones; or NULL */
};

static double moved_by_size(damaging *a, size_t k)
{
    const double sign = draw_uniform(&a->stream) < 0.5 ? -1.0 : 1.0;
    return a->y[a->rows[k]] + sign * a->kind->size * a->p->unit;
}

static double moved_at_random(damaging *a, size_t k)
{
    const double sign = draw_uniform(&a->stream) < 0.5 ? -1.0 : 1.0;
    return a->y[a->rows[k]] + sign * (3.0 + 6.0 * draw_uniform(&a->stream)) * a->p->unit;
}

static double raised(damaging *a, size_t k)
{
    return a->y[a->rows[k]] + a->kind->size * a->p->unit;
}

static double multiplied(damaging *a, size_t k)
{
    return a->kind->size * a->y[a->rows[k]];
}

static double swapped(damaging *a, size_t k)
{
    return a->y[a->rows[k ^ 1]];
}

static double stuck(damaging *a, size_t k)
{
    (void)k;
    return a->y[a->rows[a->count]]; /* the next of the random order */
}

typedef struct neighbour {
    double distance;
    size_t row;
} neighbour;

static int nearer(const void *left, const void *right)
{
    const neighbour *a = left, *b = right;
    if (a->distance != b->distance) return a->distance < b->distance ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* The rows by their distance from rows[0], inputs in units of their sd; one that is constant says nothing. */
static void nearest_first(damaging *a)
{
    const problem *p = a->p;
    const size_t from = a->rows[0];
    neighbour *near = room(p->n, sizeof *near);
    double *column = room(p->n, sizeof *column);
    for (size_t i = 0; i < p->n; ++i) near[i].row = i;
    for (size_t j = 0; j < p->d; ++j) {
        for (size_t i = 0; i < p->n; ++i) column[i] = p->x[i * p->d + j];
        const double sd = sample_sd(p->n, column);
        for (size_t i = 0; sd > 0.0 && i < p->n; ++i)
            near[i].distance += (column[i] - column[from]) / sd * ((column[i] - column[from]) / sd);
    }
    qsort(near, p->n, sizeof *near, nearer);
    for (size_t i = 0; i < p->n; ++i) a->rows[i] = near[i].row;
    free(near);
    free(column);
}

static const bed_kind kinds[BED_KINDS] = {
    {"none", 0, 1, NULL, 0.0, 0.0, NULL},
    {"one_6", 1, 1, moved_by_size, 6.0, 0.0, NULL},
    {"one_10", 1, 1, moved_by_size, 10.0, 0.0, NULL},
    {"one_20", 1, 1, moved_by_size, 20.0, 0.0, NULL},
    {"one_x10", 1, 1, multiplied, 10.0, 3.0, NULL},
    {"one_zero", 1, 1, multiplied, 0.0, 1.0, NULL},
    {"one_sign", 1, 1, multiplied, -1.0, 3.0, NULL},
    {"three_10", 3, 1, moved_by_size, 10.0, 0.0, NULL},
    {"shift", 0, 1, moved_at_random, 0.0, 0.0, NULL},
    {"x10", 0, 1, multiplied, 10.0, 1.0, NULL},
    {"zero", 0, 1, multiplied, 0.0, 1.0, NULL},
    {"swap", 0, 2, swapped, 0.0, 1.0, NULL},
    {"stuck", 0, 1, stuck, 0.0, 1.0, NULL},
    {"clustered", 0, 1, raised, 6.0, 0.0, nearest_first},
};

const bed_kind *bed_kind_at(size_t k)
{
    return &kinds[k];
}

const bed_kind *bed_kind_find(const char *name)
{
    for (size_t k = 0; k < BED_KINDS; ++k)
        if (strcmp(kinds[k].name, name) == 0) return &kinds[k];
    return NULL;
}

const char *bed_kind_name(const bed_kind *kind)
{
    return kind->name;
}

bool bed_kind_shares(const bed_kind *kind)
{
    return kind->changed && kind->rows == 0;
}

size_t bed_damage(const bed_kind *kind, double share, uint64_t seed, size_t *order, problem *p)
{
    const size_t asked = kind->rows ? kind->rows : (size_t)(share * (double)p->n + 1e-9);
    const size_t count = asked - asked % kind->divisor;
    size_t wrong = 0;
    if (!kind->changed || count == 0 || count >= p->n) return 0;
    double *y = room(p->n, sizeof *y);
    memcpy(y, p->y, p->n * sizeof *y);
    damaging a = {kind, p, y, order, count, {seed}};
    if (kind->choose) kind->choose(&a);
    for (size_t k = 0; k < count; ++k) {
        const size_t row = order[k];
        p->y[row] = kind->changed(&a, k);
        p->wrong[row] = fabs(p->y[row] - y[row]) > kind->moved * p->unit;
        wrong += p->wrong[row];
    }
    if (wrong == 0) memcpy(p->y, y, p->n * sizeof *y);
    free(y);
    return wrong;
}
