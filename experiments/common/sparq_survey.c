/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sparq_survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool sparq_known_begin(sparq_known *known, const hf_domain *domain)
{
    *known = (sparq_known){.domain = domain,
                           .sum = calloc(domain->candidates + 1, sizeof *known->sum),
                           .number = calloc(domain->candidates + 1, sizeof *known->number)};
    return known->sum && known->number;
}

void sparq_known_end(sparq_known *known)
{
    free(known->x);
    free(known->index);
    free(known->sum);
    free(known->number);
    *known = (sparq_known){0};
}

static bool been_there(const sparq_known *known, const double *x, size_t index)
{
    const size_t d = known->domain->dimension;
    for (size_t i = 0; i < known->count; ++i)
        if (known->index[i] == index && memcmp(known->x + i * d, x, d * sizeof *x) == 0) return true;
    return false;
}

bool sparq_known_visit(sparq_known *known, const double *x, size_t index)
{
    const size_t d = known->domain->dimension;
    if (been_there(known, x, index)) return true;
    if (known->count == known->room) {
        const size_t room = 2 * known->room + 16;
        double *more = realloc(known->x, room * d * sizeof *more);
        if (!more) return false;
        known->x = more;
        size_t *indices = realloc(known->index, room * sizeof *indices);
        if (!indices) return false;
        known->index = indices;
        known->room = room;
    }
    memcpy(known->x + known->count * d, x, d * sizeof *x);
    known->index[known->count++] = index;
    return true;
}

void sparq_known_measured(sparq_known *known, size_t index, double y)
{
    if (!known->domain->candidates) return;
    known->sum[index] += y;
    known->number[index] += 1.0;
}

size_t sparq_survey_size(const sparq_survey *survey, size_t step)
{
    if (survey->count) return survey->count;
    return (size_t)ceil(survey->factor * log(fmax(2.0, (double)step)));
}

/* ---- a finite pool: candidates, or where x was -------------------------------------------------- */

typedef struct pool {
    const double *x;
    const size_t *index; /* NULL: each its own */
    size_t count, d;
} pool;

static size_t shuffled(size_t count, size_t most, draws *stream, size_t *row)
{
    size_t taken = 0;
    for (size_t i = 0; i < count && taken < most; ++i)
        if (draw_uniform(stream) * (double)(count - i) < (double)(most - taken)) row[taken++] = i;
    return taken;
}

static double apart(const pool *p, size_t a, size_t b)
{
    double sum = 0.0;
    for (size_t j = 0; j < p->d; ++j) sum += pow(p->x[a * p->d + j] - p->x[b * p->d + j], 2.0);
    return sum;
}

static size_t farthest(const pool *p, size_t most, size_t *row)
{
    size_t taken = 0;
    row[taken++] = 0;
    while (taken < most && taken < p->count) {
        size_t found = 0;
        double largest = -1.0;
        for (size_t i = 0; i < p->count; ++i) {
            double least = INFINITY;
            for (size_t k = 0; k < taken; ++k) least = fmin(least, apart(p, i, row[k]));
            if (least <= largest) continue;
            largest = least;
            found = i;
        }
        row[taken++] = found;
    }
    return taken;
}

static double mean_of(const sparq_known *known, size_t i)
{
    return known->number[i] > 0.0 ? known->sum[i] / known->number[i] : INFINITY;
}

static size_t largest(const sparq_known *known, size_t most, size_t *row)
{
    size_t taken = 0;
    for (size_t i = 0; i < known->domain->candidates; ++i) {
        size_t before = 0;
        for (size_t j = 0; j < known->domain->candidates; ++j)
            before +=
                mean_of(known, j) > mean_of(known, i) || (j < i && mean_of(known, j) >= mean_of(known, i));
        if (before < most) row[taken++] = i;
    }
    return taken;
}

/* ---- a box -------------------------------------------------------------------------------------- */

static size_t in_box(const sparq_survey *survey, const hf_domain *box, size_t most, draws *stream, double *x,
                     size_t *index)
{
    const size_t d = box->dimension;
    const bool even = d == 1 && survey->kind == SPARQ_SURVEY_EVEN,
               shifted = d == 1 && survey->kind == SPARQ_SURVEY_SHIFTED;
    const double shift = shifted ? draw_uniform(stream) : 0.5;
    for (size_t i = 0; i < most; ++i) {
        index[i] = 0;
        for (size_t j = 0; j < d; ++j) {
            const double share = even || shifted ? ((double)i + shift) / (double)most : draw_uniform(stream);
            x[i * d + j] = box->lower[j] + (box->upper[j] - box->lower[j]) * share;
        }
    }
    return most;
}

size_t sparq_survey_places(const sparq_survey *survey, const sparq_known *known, size_t most, draws *stream,
                           double *x, size_t *index)
{
    const hf_domain *domain = known->domain;
    const size_t d = domain->dimension;
    if (!survey->visited && !domain->candidates) return in_box(survey, domain, most, stream, x, index);
    const pool p = survey->visited ? (pool){known->x, known->index, known->count, d}
                                   : (pool){domain->points, NULL, domain->candidates, d};
    size_t *row = malloc((most + 1) * sizeof *row), count = 0;
    if (row && p.count && survey->kind == SPARQ_SURVEY_RANDOM) count = shuffled(p.count, most, stream, row);
    if (row && p.count && survey->kind == SPARQ_SURVEY_EVEN) count = farthest(&p, most, row);
    if (row && survey->kind == SPARQ_SURVEY_LARGEST) count = largest(known, most, row);
    for (size_t i = 0; i < count; ++i) {
        memcpy(x + i * d, p.x + row[i] * d, d * sizeof *x);
        index[i] = p.index ? p.index[row[i]] : row[i];
    }
    free(row);
    return count;
}
