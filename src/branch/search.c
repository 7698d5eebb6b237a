/* SPDX-License-Identifier: Apache-2.0 */
#include "branch/search.h"

#include <math.h>
#include <string.h>

enum {
    ROUND =
        16, /* boxes split in a round. A constant, like what follows: results must not depend on threads */
    CANDIDATES = 3, /* points looked at in a round because a model expects much of them */
    DESCENTS = 12,  /* of a search */
    FEW_DESCENTS = 3,
    MOST = HFI_LEAVES * ROUND, /* boxes bounded in a round */
    FIRST_ROOM = 256           /* boxes */
};

/* A box in the pool. */
typedef struct node {
    double bound;
    size_t split;
    unsigned char plan[HFI_PLAN];
    bool shrunk; /* onto a face since its bound was computed */
} node;

struct hfi_search {
    const hf_context *ctx;
    hfi_watch *watch;
    const hfi_branch_problem *problem;
    double sign, tolerance, decide;
    size_t node_limit;
    size_t m;
    hfi_memory memory;
    /* The pool, and the heap of what is open: the least bound first, the older box first among equals. */
    size_t room, used, spare_count;
    size_t most; /* boxes that may be in it */
    node *nodes;
    double *sides; /* 2 m for each: low, high */
    size_t *spare; /* places that are free again */
    size_t *heap;
    size_t open;
    /* A round. */
    size_t children;
    double *low, *high; /* m x MOST */
    hfi_box_bound *bounds;
    double *parent; /* bounds of the boxes that they are parts of */
    double *points;
    signed char *faces;
    /* Knowledge so far. */
    bool begun;
    double best; /* attained */
    double *at;  /* user's units; the caller's */
    double *user;
    size_t descents;
    double aside; /* least bound of boxes put aside because they are good enough */
    double stuck; /* and of those that cannot be split */
    double rounding;
    size_t nodes_done;
};

/* ---- pool and heap ----------------------------------------------------------------------------------------------- */

static bool before(const hfi_search *s, size_t a, size_t b)
{
    if (s->nodes[a].bound != s->nodes[b].bound) return s->nodes[a].bound < s->nodes[b].bound;
    return a < b;
}

static void push(hfi_search *s, size_t item)
{
    size_t at = s->open++;
    while (at > 0 && before(s, item, s->heap[(at - 1) / 2])) {
        s->heap[at] = s->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    s->heap[at] = item;
}

static size_t pop(hfi_search *s)
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

static bool grow_one(const hfi_search *s, size_t count, void **block, size_t size)
{
    void *larger = hfi_memory_alloc(&s->memory, count, size);
    if (!larger) return false;
    memcpy(larger, *block, s->used * size);
    hfi_memory_free(&s->memory, *block);
    *block = larger;
    return true;
}

/* A place for one more box; SIZE_MAX when out of memory. */
static size_t new_place(hfi_search *s)
{
    if (s->spare_count > 0) return s->spare[--s->spare_count];
    if (s->used == s->room) {
        size_t room;
        if (!hfi_size_mul(s->room, 2, &room)) return SIZE_MAX;
        if (room > s->most) room = s->most;
        if (!grow_one(s, room, (void **)&s->nodes, sizeof *s->nodes) ||
            !grow_one(s, room, (void **)&s->sides, 2 * s->m * sizeof *s->sides) ||
            !grow_one(s, room, (void **)&s->spare, sizeof *s->spare) ||
            !grow_one(s, room, (void **)&s->heap, sizeof *s->heap))
            return SIZE_MAX;
        s->room = room;
    }
    return s->used++;
}

/* ---- attained values --------------------------------------------------------------------------------------------- */

static void look_at_point(hfi_search *s, const double *point, bool descend)
{
    const hfi_branch_problem *g = s->problem;
    const double value = g->functions->look(g->of, s->sign, descend, point, s->user);
    if (!(value < s->best)) return;
    s->best = value;
    memcpy(s->at, s->user, g->inputs * sizeof *s->at);
}

/* The best centres and models' minima of a round, in a fixed order. */
static void look_around(hfi_search *s)
{
    /* Where a look costs n^2 only what promises a part of the tolerance is looked at. */
    const bool costly = s->problem->costly;
    const double promise = (costly ? 0.05 : 0.0) * s->tolerance,
                 worth_steps = (costly ? 1.0 : 0.1) * s->tolerance;
    const size_t descents = costly ? FEW_DESCENTS : DESCENTS;
    for (size_t look = 0; look < CANDIDATES && hfi_watch_ok(s->watch); look++) {
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
        look_at_point(s, s->bounds[which].point, descend);
    }
}

/* ---- a round ----------------------------------------------------------------------------------------------------- */

static void bound_some(size_t chunk, int thread, void *arg)
{
    hfi_search *s = arg;
    const hfi_branch_problem *g = s->problem;
    const size_t first = chunk * HFI_TOGETHER, left = s->children - first;
    /* A decision needs no bound beyond its cut; NaN: there is none. */
    const double enough = fmin(s->best - s->tolerance, nextafter(s->decide, (double)INFINITY));
    g->functions->bounds(g->of, thread, s->sign, enough, left < HFI_TOGETHER ? left : HFI_TOGETHER,
                         s->low + first * s->m, s->high + first * s->m, s->bounds + first);
}

static hf_status bound_children(hfi_search *s)
{
    for (size_t k = 0; k < s->children; k++) {
        s->bounds[k].point = s->points + k * s->m;
        s->bounds[k].face = s->faces + k * s->m;
        s->bounds[k].plan[0] = 0;
    }
    const size_t chunks = (s->children + HFI_TOGETHER - 1) / HFI_TOGETHER;
    if (!hfi_watched_for(s->ctx, s->watch, chunks, bound_some, s)) return HF_ERR_CANCELLED;
    s->nodes_done += s->children;
    for (size_t k = 0; k < s->children; k++) {
        if (isnan(s->bounds[k].bound)) return HF_ERR_NOT_FINITE;
        s->bounds[k].bound = fmax(s->bounds[k].bound, s->parent[k]);
    }
    return HF_OK;
}

static void add_child(hfi_search *s, double parent, const double *low, const double *high)
{
    s->parent[s->children] = parent;
    memcpy(s->low + s->children * s->m, low, s->m * sizeof *low);
    memcpy(s->high + s->children * s->m, high, s->m * sizeof *high);
    s->children++;
}

/* The parts of a box by its plan; the rest of the plan. A box that cannot be split is one part. */
static const unsigned char *add_parts(hfi_search *s, double parent, const unsigned char *plan, double *low,
                                      double *high)
{
    if (*plan == 0) {
        add_child(s, parent, low, high);
        return plan + 1;
    }
    const size_t f = (size_t)*plan - 1;
    const double l = low[f], h = high[f], middle = 0.5 * l + 0.5 * h;
    const bool splits = hfi_side_splits(l, h);
    if (splits) high[f] = middle;
    const unsigned char *rest = add_parts(s, parent, plan + 1, low, high);
    high[f] = h;
    if (!splits) {
        const size_t before = s->children;
        rest = add_parts(s, parent, rest, low, high);
        s->children = before;
        return rest;
    }
    low[f] = middle;
    rest = add_parts(s, parent, rest, low, high);
    low[f] = l;
    return rest;
}

/* Both halves of a box, the parts that it plans where there is room for them, or the box once more where it
 * has shrunk. False where it cannot be split. */
static bool split(hfi_search *s, size_t place, size_t most)
{
    const node *n = &s->nodes[place];
    double *low = s->sides + 2 * s->m * place, *high = low + s->m;
    if (n->shrunk) {
        add_child(s, n->bound, low, high);
        return true;
    }
    const size_t f = n->split;
    const double l = low[f], h = high[f], middle = 0.5 * l + 0.5 * h;
    if (n->plan[0] != 0 && s->children + HFI_LEAVES <= most &&
        hfi_side_splits(low[n->plan[0] - 1], high[n->plan[0] - 1])) {
        (void)add_parts(s, n->bound, n->plan, low, high);
        return true;
    }
    if (!hfi_side_splits(l, h)) return false;
    high[f] = middle;
    add_child(s, n->bound, low, high);
    high[f] = h;
    low[f] = middle;
    add_child(s, n->bound, low, high);
    low[f] = l;
    return true;
}

static void choose_boxes(hfi_search *s, size_t most)
{
    s->children = 0;
    for (size_t k = 0; k < ROUND && s->open > 0 && s->children < most; k++) {
        if (!(s->nodes[s->heap[0]].bound < s->best - s->tolerance)) return;
        const size_t place = pop(s);
        if (!split(s, place, most)) s->stuck = fmin(s->stuck, s->nodes[place].bound);
        s->spare[s->spare_count++] = place;
    }
}

/* Where the value is monotone along an input no least value is inside: the box shrinks onto the side where it
 * is, or, if that side is not the whole box's own, goes. The value's derivative along that input is zero, or
 * points outward, at every least point of the whole box. */
static bool shrink(hfi_search *s, size_t child, bool *shrunk)
{
    const hfi_branch_problem *whole = s->problem;
    double *low = s->low + child * s->m, *high = s->high + child * s->m;
    *shrunk = false;
    for (size_t f = 0; f < s->m; f++) {
        const signed char face = s->bounds[child].face[f];
        if (face == 0 || low[f] == high[f]) continue;
        if (face < 0) {
            if (low[f] > whole->lower[f]) return false;
            high[f] = low[f];
        } else {
            if (high[f] < whole->upper[f]) return false;
            low[f] = high[f];
        }
        *shrunk = true;
    }
    return true;
}

/* Puts the children of a round where they belong. False when out of memory. */
static bool keep_children(hfi_search *s)
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
        if (!shrunk) memcpy(s->nodes[place].plan, b->plan, sizeof b->plan);
        memcpy(s->sides + 2 * s->m * place, s->low + k * s->m, s->m * sizeof *s->low);
        memcpy(s->sides + 2 * s->m * place + s->m, s->high + k * s->m, s->m * sizeof *s->high);
        push(s, place);
    }
    return true;
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static double proven(const hfi_search *s)
{
    double bound = fmin(s->aside, s->stuck);
    if (s->open > 0) bound = fmin(bound, s->nodes[s->heap[0]].bound);
    return fmin(bound, s->best);
}

static bool is_decided(const hfi_search *s)
{
    return s->best < s->decide || proven(s) > s->decide;
}

bool hfi_search_is_over(const hfi_search *s, hf_certify_stop *stop)
{
    if (!s->begun) return false;
    if (!isnan(s->decide) && is_decided(s))
        *stop = HF_CERTIFY_DECIDED;
    else if (s->open == 0 || !(s->nodes[s->heap[0]].bound < s->best - s->tolerance))
        *stop = s->stuck < s->best - s->tolerance ? HF_CERTIFY_ROUNDING : HF_CERTIFY_TOLERANCE;
    else if (s->node_limit > 0 && s->nodes_done >= s->node_limit)
        *stop = HF_CERTIFY_NODES;
    else if (s->open + (HFI_LEAVES - 1) * ROUND > s->most)
        *stop = HF_CERTIFY_MEMORY;
    else
        return false;
    return true;
}

void hfi_search_go_on(hfi_search *s)
{
    s->decide = (double)NAN;
}

hfi_end hfi_search_end(const hfi_search *s)
{
    return (hfi_end){
        .bound = proven(s), .attained = s->best, .nodes = s->nodes_done, .rounding = s->rounding};
}

/* The whole box, its bound and the first attained values. */
static hf_status bound_whole(hfi_search *s)
{
    const hfi_branch_problem *whole = s->problem;
    s->children = 1;
    s->parent[0] = -(double)INFINITY;
    memcpy(s->low, whole->lower, s->m * sizeof *s->low);
    memcpy(s->high, whole->upper, s->m * sizeof *s->high);
    const hf_status status = bound_children(s);
    if (status < 0) return status;
    s->rounding = s->bounds[0].rounding;
    look_at_point(s, whole->middle, false);
    /* Steps are not worth their looks where the bounds expect nothing, nor dear ones where one look decides. */
    if (s->bounds[0].predicted < (double)INFINITY) {
        if (whole->costly && !isnan(s->decide)) look_at_point(s, s->bounds[0].point, false);
        if (!(whole->costly && s->best < s->decide)) look_at_point(s, s->bounds[0].point, true);
    }
    s->begun = true;
    return HF_OK;
}

hf_status hfi_search_round(hfi_search *s)
{
    hf_status status;
    if (!s->begun) {
        status = bound_whole(s);
    } else {
        choose_boxes(s, s->node_limit > 0 ? s->node_limit - s->nodes_done : SIZE_MAX);
        if (s->children == 0) return HF_OK;
        status = bound_children(s);
        if (status >= 0) look_around(s);
    }
    if (status < 0) return status;
    if (hfi_watch_stopped(s->watch)) return HF_ERR_CANCELLED;
    return keep_children(s) ? HF_OK : HF_ERR_MEMORY;
}

static bool allocate_search(hfi_search *s)
{
    const size_t m = s->m;
    return HFI_MEMORY_ALLOC(
        &s->memory, HFI_ROOM(s->nodes, s->room), HFI_ROOMS(s->sides, s->room, 2 * m),
        HFI_ROOM(s->spare, s->room), HFI_ROOM(s->heap, s->room), HFI_ROOMS(s->low, MOST, m),
        HFI_ROOMS(s->high, MOST, m), HFI_ROOM(s->bounds, MOST), HFI_ROOM(s->parent, MOST),
        HFI_ROOMS(s->points, MOST, m), HFI_ROOMS(s->faces, MOST, m), HFI_ROOM(s->user, s->problem->inputs));
}

/* Boxes that the bytes are enough for, never fewer than the first room. */
static size_t most_boxes(size_t m, size_t bytes)
{
    const size_t one = sizeof(node) + 2 * m * sizeof(double) + 2 * sizeof(size_t);
    if (bytes == 0) return SIZE_MAX - MOST;
    return bytes / one > FIRST_ROOM ? bytes / one : FIRST_ROOM;
}

hfi_search *hfi_search_create(const hf_context *ctx, hfi_watch *watch, const hfi_branch_problem *problem,
                              double sign, const hf_certify_settings *settings, size_t bytes, double *at)
{
    hfi_search *s = hfi_memory_alloc(&problem->memory, 1, sizeof *s);
    if (!s) return NULL;
    *s = (hfi_search){.ctx = ctx,
                      .watch = watch,
                      .problem = problem,
                      .sign = sign,
                      .tolerance = settings->tolerance,
                      .decide = sign * settings->decide_at,
                      .node_limit = settings->node_limit,
                      .m = problem->sides,
                      .memory = problem->memory,
                      .room = FIRST_ROOM,
                      .most = most_boxes(problem->sides, bytes),
                      .best = (double)INFINITY,
                      .at = at,
                      .aside = (double)INFINITY,
                      .stuck = (double)INFINITY};
    if (allocate_search(s)) return s;
    hfi_search_free(s);
    return NULL;
}

void hfi_search_free(hfi_search *s)
{
    if (!s) return;
    const hfi_memory memory = s->memory;
    HFI_MEMORY_FREE(&memory, s->nodes, s->sides, s->spare, s->heap, s->low, s->high, s->bounds, s->parent,
                    s->points, s->faces, s->user, s);
}
