/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/bo_functions.h"
#include "common/draws.h"
#include "common/hash.h"
#include "common/room.h"
#include "common/sets.h"

/* Streams of one run; evaluation k has the stream BO_WRONG + k. */
enum {
    BO_DESIGN,
    BO_SPREAD,
    BO_WRONG
};

const bo_row *bo_find(const char *name)
{
    size_t count;
    const bo_row *rows = bo_rows(&count);
    for (size_t i = 0; i < count; ++i)
        if (strcmp(rows[i].name, name) == 0) return &rows[i];
    return NULL;
}

bo_parameter bo_parameter_of(const bo_row *row, size_t j)
{
    if (row->parameters) return row->parameters[j];
    bo_parameter out = {.kind = BO_REAL, .lower = row->lower, .upper = row->upper};
    snprintf(out.name, sizeof out.name, "x%zu", j + 1);
    return out;
}

bool bo_open(const bo_row *row, const char *folder, bo_problem *out)
{
    *out = (bo_problem){.row = row, .hash = fnv1a(row->name)};
    if (!row->open) return true;
    char path[SETS_PATH];
    if (!sets_need(folder ? folder : sets_folder(), row->file, path)) return false;
    out->context = row->open(path);
    return out->context != NULL;
}

void bo_close(bo_problem *p)
{
    if (p->context) p->row->close(p->context);
    p->context = NULL;
}

static double level(double u, double lower, double upper)
{
    return fmin(lower + floor(u * (upper - lower + 1.0)), upper);
}

void bo_from_unit(const bo_row *row, const double *u, double *x)
{
    for (size_t j = 0; j < row->d; ++j) {
        const bo_parameter p = bo_parameter_of(row, j);
        switch (p.kind) {
        case BO_REAL:
            x[j] = fmin(p.lower + u[j] * (p.upper - p.lower), p.upper);
            break;
        case BO_LOG:
            x[j] = fmax(p.lower, fmin(p.lower * pow(p.upper / p.lower, u[j]), p.upper));
            break;
        case BO_INTEGER:
        case BO_CATEGORY:
            x[j] = level(u[j], p.lower, p.upper);
            break;
        }
    }
}

bool bo_inside(const bo_row *row, const double *x, char message[200])
{
    for (size_t j = 0; j < row->d; ++j) {
        const bo_parameter p = bo_parameter_of(row, j);
        if (!(x[j] >= p.lower && x[j] <= p.upper)) {
            snprintf(message, 200, "%s = %.17g is not in [%.17g, %.17g]", p.name, x[j], p.lower, p.upper);
            return false;
        }
        if ((p.kind == BO_INTEGER || p.kind == BO_CATEGORY) && x[j] != floor(x[j])) {
            snprintf(message, 200, "%s = %.17g is not a whole number", p.name, x[j]);
            return false;
        }
    }
    return true;
}

void bo_evaluate(const bo_problem *p, const double *x, double *values)
{
    p->row->evaluate(p, x, values);
}

/* The stream of a problem, a run and a purpose. */
static draws stream(const bo_problem *p, uint64_t seed, uint64_t purpose)
{
    uint64_t z = p->hash * 0x9fb21c651e98df25u + seed;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u + purpose;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    return (draws){z ^ (z >> 32)};
}

double bo_told(const bo_problem *p, uint64_t seed, size_t k, double share, size_t objective, double clean)
{
    draws d = stream(p, seed, BO_WRONG + (uint64_t)k);
    const bool wrong = draw_uniform(&d) < share;
    double amount = 0.0;
    for (size_t i = 0; i <= objective; ++i) amount = 1.0 + draw_uniform(&d);
    return wrong ? clean + amount * p->row->sd[objective] : clean;
}

static void draw_point(const bo_row *row, draws *d, double *x)
{
    double u[BO_MOST_PARAMETERS];
    for (size_t j = 0; j < row->d; ++j) u[j] = draw_uniform(d);
    bo_from_unit(row, u, x);
}

void bo_start(const bo_problem *p, uint64_t seed, size_t count, double *x)
{
    draws d = stream(p, seed, BO_DESIGN);
    for (size_t i = 0; i < count; ++i) draw_point(p->row, &d, x + i * p->row->d);
}

void bo_spread(const bo_problem *p, size_t points, double sd[BO_MOST_OBJECTIVES])
{
    double x[BO_MOST_PARAMETERS], values[BO_MOST_VALUES];
    double *all = room(points * BO_MOST_OBJECTIVES, sizeof *all);
    draws d = stream(p, 0, BO_SPREAD);
    for (size_t i = 0; i < points; ++i) {
        draw_point(p->row, &d, x);
        bo_evaluate(p, x, values);
        for (size_t k = 0; k < p->row->objectives; ++k) all[k * points + i] = values[k];
    }
    for (size_t k = 0; k < BO_MOST_OBJECTIVES; ++k)
        sd[k] = k < p->row->objectives ? sample_sd(points, all + k * points) : 0.0;
    free(all);
}
