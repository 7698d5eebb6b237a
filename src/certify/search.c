/* SPDX-License-Identifier: Apache-2.0 */
#include "certify/search.h"
#include "certify/classes.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    ROUND =
        16, /* boxes split in a round. A constant, like what follows: results must not depend on threads */
    CANDIDATES = 3, /* points looked at in a round because a model expects much of them */
    DESCENTS = 12,  /* of a search */
    FEW_DESCENTS = 3,
    FIRST_ROOM = 256 /* boxes */
};

/* A box in the pool. */
typedef struct node {
    double bound;
    size_t split;
    bool shrunk; /* onto a face since its bound was computed */
} node;

typedef struct search {
    const hf_context *ctx;
    hfi_question *question;
    double sign, tolerance, decide;
    size_t m;
    hfi_memory memory;
    /* The pool, and the heap of what is open: the least bound first, the older box first among equals. */
    size_t room, used, spare_count;
    node *nodes;
    double *sides; /* 2 m for each: low, high */
    size_t *spare; /* places that are free again */
    size_t *heap;
    size_t open;
    /* A round. */
    size_t children;
    double *low, *high; /* m x 2 ROUND */
    hfi_box_bound *bounds;
    double *parent; /* bounds of the boxes that they are parts of */
    double *points;
    signed char *faces;
    double *scratch;
    size_t scratch_size;
    /* What is known. */
    double best;  /* attained */
    double *at;   /* user's units */
    double *work; /* 4 m, a point m, a user's point d */
    size_t descents;
    double aside; /* least bound of boxes put aside because they are good enough */
    double stuck; /* and of those that cannot be split */
    size_t nodes_done;
} search;

/* ---- pool and heap ----------------------------------------------------------------------------------------------- */

static bool before(const search *s, size_t a, size_t b)
{
    if (s->nodes[a].bound != s->nodes[b].bound) return s->nodes[a].bound < s->nodes[b].bound;
    return a < b;
}

static void push(search *s, size_t item)
{
    size_t at = s->open++;
    while (at > 0 && before(s, item, s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = item;
}

static size_t pop(search *s)
{
    const size_t top = s->heap[0], last = s->heap[--s->open];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= s->open) break;
        if (child + 1 < s->open && before(s, s->heap[child + 1], s->heap[child])) child++;
        if (!before(s, s->heap[child], last)) break;
        s->heap[at] = s->heap[child];
        at = child;
    }
    if (s->open > 0) s->heap[at] = last;
    return top;
}

static bool grow_one(const search *s, void **block, size_t size)
{
    size_t count;
    if (!hfi_size_mul(s->room, 2, &count)) return false;
    void *larger = hfi_memory_alloc(&s->memory, count, size);
    if (!larger) return false;
    memcpy(larger, *block, s->used * size);
    hfi_memory_free(&s->memory, *block);
    *block = larger;
    return true;
}

/* A place for one more box; SIZE_MAX when out of memory. */
static size_t new_place(search *s)
{
    if (s->spare_count > 0) return s->spare[--s->spare_count];
    if (s->used == s->room) {
        if (!grow_one(s, (void **)&s->nodes, sizeof *s->nodes) ||
            !grow_one(s, (void **)&s->sides, 2 * s->m * sizeof *s->sides) ||
            !grow_one(s, (void **)&s->spare, sizeof *s->spare) ||
            !grow_one(s, (void **)&s->heap, sizeof *s->heap))
            return SIZE_MAX;
        s->room *= 2;
    }
    return s->used++;
}

/* ---- attained values --------------------------------------------------------------------------------------------- */

static void look_at(search *s, const double *point, bool descend)
{
    hfi_question *q = s->question;
    double *copy = s->work + 4 * s->m, *user = copy + s->m;
    memcpy(copy, point, s->m * sizeof *copy);
    double value;
    if (descend) hfi_descend(q, s->sign, copy, &value, user, s->work);
    if (!descend || q->classes) value = s->sign * hfi_question_value(q, copy, user, NULL);
    if (!(value < s->best)) return;
    s->best = value;
    memcpy(s->at, user, q->inputs * sizeof *user);
}

/* The best centres and models' minima of a round, in a fixed order. */
static void look_around(search *s)
{
    /* Where a look costs n^2 only what promises a part of the tolerance is looked at. */
    const bool costly = s->question->what != HF_CERTIFY_MEAN;
    const double promise = (costly ? 0.05 : 0.0) * s->tolerance,
                 worth_steps = (costly ? 1.0 : 0.1) * s->tolerance;
    const size_t descents = costly ? FEW_DESCENTS : DESCENTS;
    for (size_t look = 0; look < CANDIDATES; look++) {
        size_t which = s->children;
        double least = s->best - promise;
        bool centre = false;
        for (size_t k = 0; k < s->children; k++) {
            if (s->bounds[k].predicted < least) {
                least = s->bounds[k].predicted;
                which = k;
                centre = false;
            }
            if (s->bounds[k].centre < least) {
                least = s->bounds[k].centre;
                which = k;
                centre = true;
            }
        }
        if (which == s->children) return;
        const double before_it = s->best;
        if (centre) {
            double *point = s->bounds[which].point;
            for (size_t f = 0; f < s->m; f++)
                point[f] = 0.5 * (s->low[which * s->m + f] + s->high[which * s->m + f]);
            s->bounds[which].centre = (double)INFINITY;
        }
        s->bounds[which].predicted = (double)INFINITY;
        const bool descend = s->descents < descents && least < before_it - worth_steps;
        s->descents += descend;
        look_at(s, s->bounds[which].point, descend);
    }
}

/* ---- a round ----------------------------------------------------------------------------------------------------- */

static void bound_some(size_t chunk, int thread, void *arg)
{
    search *s = arg;
    const size_t first = chunk * HFI_TOGETHER, left = s->children - first;
    hfi_question_bounds(s->question, s->sign, s->best - s->tolerance,
                        left < HFI_TOGETHER ? left : HFI_TOGETHER, s->low + first * s->m,
                        s->high + first * s->m, s->bounds + first,
                        s->scratch + (size_t)thread * s->scratch_size);
}

static void bound_children(search *s)
{
    for (size_t k = 0; k < s->children; k++) {
        s->bounds[k].point = s->points + k * s->m;
        s->bounds[k].face = s->faces + k * s->m;
    }
    hfi_parallel_for(s->ctx, (s->children + HFI_TOGETHER - 1) / HFI_TOGETHER, bound_some, s);
    for (size_t k = 0; k < s->children; k++) s->bounds[k].bound = fmax(s->bounds[k].bound, s->parent[k]);
    s->nodes_done += s->children;
}

static void add_child(search *s, double parent, const double *low, const double *high)
{
    s->parent[s->children] = parent;
    memcpy(s->low + s->children * s->m, low, s->m * sizeof *low);
    memcpy(s->high + s->children * s->m, high, s->m * sizeof *high);
    s->children++;
}

/* Both halves of a box, or the box once more where it has shrunk. False where it cannot be split. */
static bool split(search *s, size_t place)
{
    const node *n = &s->nodes[place];
    double *low = s->sides + 2 * s->m * place, *high = low + s->m;
    if (n->shrunk) {
        add_child(s, n->bound, low, high);
        return true;
    }
    const size_t f = n->split;
    const double l = low[f], h = high[f], middle = 0.5 * (l + h);
    if (!(middle - l > 16.0 * DBL_EPSILON * fabs(middle)) || !(middle > l) || !(middle < h)) return false;
    high[f] = middle;
    add_child(s, n->bound, low, high);
    high[f] = h;
    low[f] = middle;
    add_child(s, n->bound, low, high);
    low[f] = l;
    return true;
}

static void choose_boxes(search *s, size_t most)
{
    s->children = 0;
    for (size_t k = 0; k < ROUND && s->open > 0 && s->children < most; k++) {
        if (!(s->nodes[s->heap[0]].bound < s->best - s->tolerance)) return;
        const size_t place = pop(s);
        if (!split(s, place)) s->stuck = fmin(s->stuck, s->nodes[place].bound);
        s->spare[s->spare_count++] = place;
    }
}

/* Where the value is monotone along an input no least value is inside: the box shrinks onto the side where it is, or, if that side is not the whole box's own, goes. The
 * value's derivative along that input is zero, or points outward, at every least point of the whole box. */
static bool shrink(search *s, size_t child, bool *shrunk)
{
    const hfi_subject *whole = &s->question->subject;
    double *low = s->low + child * s->m, *high = s->high + child * s->m;
    *shrunk = false;
    for (size_t f = 0; f < s->m; f++) {
        const signed char face = s->bounds[child].face[f];
        if (face == 0 || low[f] == high[f]) continue;
        if (face < 0) {
            if (low[f] > whole->lower[whole->free[f]]) return false;
            high[f] = low[f];
        } else {
            if (high[f] < whole->upper[whole->free[f]]) return false;
            low[f] = high[f];
        }
        *shrunk = true;
    }
    return true;
}

/* Puts the children of a round where they belong. False when out of memory. */
static bool keep_children(search *s)
{
    for (size_t k = 0; k < s->children; k++) {
        const hfi_box_bound *b = &s->bounds[k];
        bool shrunk;
        if (!(b->bound < s->best - s->tolerance)) {
            s->aside = fmin(s->aside, b->bound);
            continue;
        }
        if (!shrink(s, k, &shrunk)) continue;
        if (!shrunk && !(b->slack > 4.0 * b->rounding)) {
            s->stuck = fmin(s->stuck, b->bound);
            continue;
        }
        const size_t place = new_place(s);
        if (place == SIZE_MAX) return false;
        s->nodes[place] = (node){.bound = b->bound, .split = b->split, .shrunk = shrunk};
        memcpy(s->sides + 2 * s->m * place, s->low + k * s->m, s->m * sizeof *s->low);
        memcpy(s->sides + 2 * s->m * place + s->m, s->high + k * s->m, s->m * sizeof *s->high);
        push(s, place);
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static double proven(const search *s)
{
    double bound = fmin(s->aside, s->stuck);
    if (s->open > 0) bound = fmin(bound, s->nodes[s->heap[0]].bound);
    return fmin(bound, s->best);
}

static bool is_decided(const search *s)
{
    return s->best < s->decide || proven(s) > s->decide;
}

static hf_status run(search *s, size_t node_limit, double deadline, hf_certify_stop *stop)
{
    for (;;) {
        if (!isnan(s->decide) && is_decided(s)) {
            *stop = HF_CERTIFY_DECIDED;
            return HF_OK;
        }
        if (s->open == 0 || !(s->nodes[s->heap[0]].bound < s->best - s->tolerance)) {
            *stop = s->stuck < s->best - s->tolerance ? HF_CERTIFY_ROUNDING : HF_CERTIFY_TOLERANCE;
            return HF_OK;
        }
        if (node_limit > 0 && s->nodes_done >= node_limit) {
            *stop = HF_CERTIFY_NODES;
            return HF_OK;
        }
        if (deadline < DBL_MAX && hfi_now() >= deadline) {
            *stop = HF_CERTIFY_TIME;
            return HF_OK;
        }
        choose_boxes(s, node_limit > 0 ? node_limit - s->nodes_done : SIZE_MAX);
        if (s->children == 0) continue;
        bound_children(s);
        look_around(s);
        if (!keep_children(s)) return HF_ERR_MEMORY;
    }
}

static bool begin(search *s)
{
    const size_t m = s->m, most = 2 * ROUND + 2;
    const hfi_memory *memory = &s->memory;
    const size_t threads = (size_t)hf_context_threads(s->ctx);
    s->room = FIRST_ROOM;
    s->scratch_size = (s->question->scratch + 7) / 8 * 8;
    s->nodes = hfi_memory_alloc(memory, s->room, sizeof *s->nodes);
    s->sides = hfi_memory_alloc(memory, s->room, 2 * m * sizeof *s->sides);
    s->spare = hfi_memory_alloc(memory, s->room, sizeof *s->spare);
    s->heap = hfi_memory_alloc(memory, s->room, sizeof *s->heap);
    s->low = hfi_memory_alloc(memory, most, 2 * m * sizeof *s->low);
    s->bounds = hfi_memory_alloc(memory, most, sizeof *s->bounds);
    s->parent = hfi_memory_alloc(memory, most, sizeof *s->parent);
    s->points = hfi_memory_alloc(memory, most, m * sizeof *s->points);
    s->faces = hfi_memory_alloc(memory, most, m * sizeof *s->faces);
    s->work = hfi_memory_alloc(memory, 5 * m + s->question->subject.d, sizeof *s->work);
    s->scratch = hfi_memory_alloc(memory, threads, s->scratch_size * sizeof *s->scratch);
    s->high = s->low ? s->low + most * m : NULL;
    return s->nodes && s->sides && s->spare && s->heap && s->low && s->bounds && s->parent && s->points &&
           s->faces && s->work && s->scratch;
}

static void finish(search *s)
{
    void *blocks[] = {s->nodes,  s->sides,  s->spare, s->heap, s->low,    s->bounds,
                      s->parent, s->points, s->faces, s->work, s->scratch};
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) hfi_memory_free(&s->memory, blocks[b]);
}

/* The whole box, its bound and the first attained values. */
static bool bound_whole(search *s, hfi_end *end)
{
    const hfi_subject *whole = &s->question->subject;
    s->children = 1;
    s->parent[0] = -(double)INFINITY;
    for (size_t f = 0; f < s->m; f++) {
        s->low[f] = whole->lower[whole->free[f]];
        s->high[f] = whole->upper[whole->free[f]];
    }
    bound_children(s);
    end->rounding = s->bounds[0].rounding;
    double *middle = s->work + 5 * s->m; /* the user's point is not in use yet */
    for (size_t f = 0; f < s->m; f++) middle[f] = whole->middle[whole->free[f]];
    look_at(s, middle, false);
    look_at(s, s->bounds[0].point, true);
    return keep_children(s);
}

hf_status hfi_search(const hf_context *ctx, hfi_question *question, double sign, size_t node_limit,
                     double deadline, hfi_end *end)
{
    search s = {.ctx = ctx,
                .question = question,
                .sign = sign,
                .tolerance = question->settings.tolerance,
                .decide = sign * question->settings.decide_at,
                .m = question->subject.free_count,
                .memory = question->memory,
                .best = (double)INFINITY,
                .at = end->at,
                .aside = (double)INFINITY,
                .stuck = (double)INFINITY};
    hf_status status = begin(&s) && bound_whole(&s, end) ? HF_OK : HF_ERR_MEMORY;
    if (status >= 0) status = run(&s, node_limit, deadline, &end->stop);
    end->bound = proven(&s);
    end->attained = s.best;
    end->nodes = s.nodes_done;
    finish(&s);
    return status;
}
