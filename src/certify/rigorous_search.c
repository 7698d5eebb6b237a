/* SPDX-License-Identifier: Apache-2.0 */
/* Best-first search over boxes in scaled units. Every comparison is of bounds that hold, so that what it returns holds whenever it stops. */
#include "certify/rigorous_impl.h"

#include <string.h>

typedef struct box {
    double key;   /* no value in it is smaller */
    size_t sides; /* index of its sides in the store */
    size_t split; /* the side to halve; d where that is of no use */
} box;

/* One end of the range: of sign * value the least. */
typedef struct search {
    hfi_rigorous_work *work;
    const hf_certify_settings *settings;
    size_t d;
    double sign;
    box *heap;
    double *sides; /* lower then upper of each box */
    size_t count, made, capacity;
    double attained; /* at least the value at `best` */
    double *best;    /* d: scaled units */
    size_t nodes;
    double deadline;
    hf_certify_stop stop;
} search;

/* ---- the heap -------------------------------------------------------------------------------------------
 */

static bool before(const box *a, const box *b)
{
    return a->key < b->key || (a->key == b->key && a->sides < b->sides);
}

static void push(search *s, box item)
{
    size_t i = s->count++;
    for (; i > 0 && before(&item, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = item;
}

static box pop(search *s)
{
    const box top = s->heap[0], last = s->heap[--s->count];
    size_t i = 0;
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= s->count) break;
        if (child + 1 < s->count && before(&s->heap[child + 1], &s->heap[child])) child++;
        if (!before(&s->heap[child], &last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    s->heap[i] = last;
    return top;
}

/* Room for one more box. */
static bool grow(search *s)
{
    if (s->made < s->capacity) return true;
    const hfi_memory *memory = &s->work->of->memory;
    const size_t capacity = s->capacity > 0 ? 2 * s->capacity : 64;
    box *heap = hfi_memory_alloc(memory, capacity, sizeof *heap);
    double *sides = hfi_memory_alloc(memory, capacity, 2 * s->d * sizeof *sides);
    if (heap == NULL || sides == NULL) {
        hfi_memory_free(memory, heap);
        hfi_memory_free(memory, sides);
        return false;
    }
    if (s->made > 0) {
        memcpy(heap, s->heap, s->count * sizeof *heap);
        memcpy(sides, s->sides, s->made * 2 * s->d * sizeof *sides);
    }
    hfi_memory_free(memory, s->heap);
    hfi_memory_free(memory, s->sides);
    s->heap = heap;
    s->sides = sides;
    s->capacity = capacity;
    return true;
}

/* ---- boxes ----------------------------------------------------------------------------------------------
 */

static hfi_interval signed_by(double sign, hfi_interval a)
{
    return sign < 0.0 ? hfi_interval_negate(a) : a;
}

/* The side that moves the features most; d where none can be halved. Of the box that was bounded last. */
static size_t widest(const search *s, const double *lower, const double *upper)
{
    size_t side = s->d;
    for (size_t j = 0; j < s->d; j++) {
        const double middle = 0.5 * lower[j] + 0.5 * upper[j];
        if (!(middle > lower[j] && middle < upper[j])) continue;
        if (side == s->d || s->work->share[j] > s->work->share[side]) side = j;
    }
    return side;
}

/* The value is surely at most that at the point that was looked at last. */
static void attain(search *s, hfi_interval value)
{
    const double attained = hfi_double_up(signed_by(s->sign, value).upper);
    if (!(attained < s->attained)) return;
    s->attained = attained;
    memcpy(s->best, s->work->centre, s->d * sizeof *s->best);
}

/* Bounds the box whose sides are the last in the store, and puts it on the heap. */
static hf_status offer(search *s, double least)
{
    const double *lower = s->sides + 2 * s->d * s->made, *upper = lower + s->d;
    hfi_rigorous_bounds bounds;
    hfi_interval value;
    s->nodes++;
    if (!hfi_rigorous_bound(s->work, lower, upper, &bounds)) return HF_ERR_NOT_FINITE;
    const hfi_interval centre = signed_by(s->sign, bounds.centre);
    const double key = hfi_double_down(signed_by(s->sign, bounds.box).lower);
    /* Halves would gain no more than the roundings of the value at the centre: such a box is done with. */
    const bool splits = centre.upper - key > 4.0L * (centre.upper - centre.lower);
    push(s, (box){key > least ? key : least, s->made, splits ? widest(s, lower, upper) : s->d});
    s->made++;
    attain(s, bounds.centre);
    if (key < s->attained && hfi_rigorous_step(s->work, s->sign, lower, upper) &&
        hfi_rigorous_at(s->work, &value))
        attain(s, value);
    return HF_OK;
}

static hf_status halve(search *s, box item)
{
    for (int half = 0; half < 2; half++) {
        if (!grow(s)) return HF_ERR_MEMORY;
        const double *from = s->sides + 2 * s->d * item.sides;
        double *to = s->sides + 2 * s->d * s->made;
        memcpy(to, from, 2 * s->d * sizeof *to);
        const double middle = 0.5 * from[item.split] + 0.5 * from[s->d + item.split];
        to[half == 0 ? s->d + item.split : item.split] = middle;
        const hf_status status = offer(s, item.key);
        if (status < 0) return status;
    }
    return HF_OK;
}

/* ---- the search -----------------------------------------------------------------------------------------
 */

/* Whether the best box need not be halved, and why. */
static bool done(search *s)
{
    const hf_certify_settings *settings = s->settings;
    const double key = s->heap[0].key, decide = s->sign * settings->decide_at;
    if (s->attained - key <= settings->tolerance)
        s->stop = HF_CERTIFY_TOLERANCE;
    else if (key > decide || s->attained < decide)
        s->stop = HF_CERTIFY_DECIDED;
    else if (s->heap[0].split == s->d)
        s->stop = HF_CERTIFY_ROUNDING;
    else if (settings->node_limit > 0 && s->nodes + 2 > settings->node_limit)
        s->stop = HF_CERTIFY_NODES;
    else if (settings->time_limit > 0.0 && hfi_now() > s->deadline)
        s->stop = HF_CERTIFY_TIME;
    else
        return false;
    return true;
}

static hf_status run(search *s, const double *lower, const double *upper)
{
    if (!grow(s)) return HF_ERR_MEMORY;
    memcpy(s->sides, lower, s->d * sizeof *lower);
    memcpy(s->sides + s->d, upper, s->d * sizeof *upper);
    hf_status status = offer(s, -INFINITY);
    while (status == HF_OK && !done(s)) status = halve(s, pop(s));
    return status;
}

static void clear(search *s)
{
    hfi_memory_free(&s->work->of->memory, s->heap);
    hfi_memory_free(&s->work->of->memory, s->sides);
    s->heap = NULL;
    s->sides = NULL;
    s->count = s->made = s->capacity = 0;
}

/* ---- units ----------------------------------------------------------------------------------------------
 */

/* x~ = (x - shift) / scale */
static hfi_interval scaled(const hfi_scaling *scaling, size_t j, double x)
{
    const hfi_interval moved =
        hfi_interval_subtract(hfi_interval_point(x), hfi_interval_point(scaling->x_shift[j]));
    if (scaling->x_scale[j] == 1.0) return moved;
    return hfi_interval_divide(moved, hfi_interval_point(scaling->x_scale[j]));
}

static bool value_at(hfi_rigorous_work *work, const double *x, hfi_interval *out)
{
    const hf_posterior *posterior = work->of->posterior;
    for (size_t j = 0; j < posterior->solution.d; j++) work->middle[j] = scaled(&posterior->scaling, j, x[j]);
    return hfi_rigorous_at(work, out);
}

/* A whole question: the box in both units. */
typedef struct question {
    hfi_rigorous_work work;
    const double *lower, *upper; /* user */
    double *sides;               /* scaled, outward: lower, upper; then the best point, scaled and user */
} question;

/* One end, and why its search ended: *stop. */
static hf_status one_end(question *q, const hf_certify_settings *settings, double sign, double deadline,
                         hf_certify_stop *stop, hf_range *out, double *at)
{
    const hfi_scaling *scaling = &q->work.of->posterior->scaling;
    const size_t d = q->work.of->posterior->solution.d;
    search s = {.work = &q->work, .settings = settings, .d = d, .sign = sign, .deadline = deadline};
    double *user = q->sides + 3 * d;
    hfi_interval value;
    s.attained = INFINITY;
    s.best = q->sides + 2 * d;
    hf_status status = run(&s, q->sides, q->sides + d);
    out->nodes += s.nodes;
    *stop = s.stop;
    const double bound = s.count > 0 ? s.heap[0].key : -INFINITY;
    clear(&s);
    if (status < 0) return status;
    for (size_t j = 0; j < d; j++) {
        user[j] = s.best[j] * scaling->x_scale[j] + scaling->x_shift[j];
        if (!(user[j] >= q->lower[j])) user[j] = q->lower[j];
        if (user[j] > q->upper[j]) user[j] = q->upper[j];
    }
    if (!value_at(&q->work, user, &value)) return HF_ERR_NOT_FINITE;
    *(sign > 0.0 ? &out->lower : &out->upper) = sign * bound;
    *(sign > 0.0 ? &out->lower_attained : &out->upper_attained) =
        sign * hfi_double_up(signed_by(sign, value).upper);
    if (at != NULL) memcpy(at, user, d * sizeof *at);
    return HF_OK;
}

static hf_certify_stop later(hf_certify_stop a, hf_certify_stop b)
{
    return a > b ? a : b;
}

static bool settles(const hf_range *range, double decide)
{
    return range->lower > decide || range->upper < decide;
}

/* As in range.c: an end that stopped since a value on its side of decide_at was attained goes on where the other one has not told what is on the other side. */
static hf_status both_ends(question *q, const hf_certify_settings *settings, hf_range *out, double *argmin,
                           double *argmax)
{
    const double deadline = hfi_now() + settings->time_limit, decide = settings->decide_at;
    hf_certify_settings rest = *settings;
    hf_certify_stop low = HF_CERTIFY_TOLERANCE, high = HF_CERTIFY_TOLERANCE;
    hf_status status = HF_OK;
    out->lower = -INFINITY, out->upper = INFINITY;
    out->lower_attained = out->upper_attained = (double)NAN;
    if (!settings->upper_only) {
        status = one_end(q, settings, 1.0, deadline, &low, out, argmin);
        out->stop = low;
    }
    if (status < 0 || settings->lower_only) return status;
    const bool settled = settles(out, decide);
    if (settled) rest.node_limit = 1; /* all is on one side: the other end is not asked for */
    status = one_end(q, &rest, -1.0, deadline, &high, out, argmax);
    out->stop = later(low, high);
    if (settled || (settles(out, decide) && high == HF_CERTIFY_DECIDED)) out->stop = HF_CERTIFY_DECIDED;
    if (status < 0 || out->stop != HF_CERTIFY_DECIDED || settings->upper_only || settles(out, decide))
        return status;
    if (out->lower_attained <= decide && out->upper_attained >= decide) return status;
    rest.decide_at = (double)NAN;
    if (low == HF_CERTIFY_DECIDED) status = one_end(q, &rest, 1.0, deadline, &low, out, argmin);
    if (high == HF_CERTIFY_DECIDED && status >= 0)
        status = one_end(q, &rest, -1.0, deadline, &high, out, argmax);
    out->stop = later(low, high);
    return status;
}

hf_status hfi_rigorous_range(const hfi_rigorous *rigorous, hf_certify_what what,
                             const hf_certify_settings *settings, const double *lower, const double *upper,
                             hf_range *out, double *argmin, double *argmax)
{
    const hf_posterior *posterior = rigorous->posterior;
    const size_t d = posterior->solution.d;
    const double start = hfi_now();
    hf_range range = {.stop = HF_CERTIFY_TOLERANCE};
    question q = {.lower = lower, .upper = upper};
    q.sides = hfi_memory_alloc(&rigorous->memory, 4 * d, sizeof *q.sides);
    q.work = hfi_rigorous_work_create(rigorous, what, settings->beta);
    hf_status status = q.sides == NULL || q.work.block == NULL ? HF_ERR_MEMORY : HF_OK;
    for (size_t j = 0; j < d && status == HF_OK; j++) {
        q.sides[j] = hfi_double_down(scaled(&posterior->scaling, j, lower[j]).lower);
        q.sides[d + j] = hfi_double_up(scaled(&posterior->scaling, j, upper[j]).upper);
        if (!isfinite(q.sides[j]) || !isfinite(q.sides[d + j])) status = HF_ERR_NOT_FINITE;
    }
    if (status == HF_OK) status = both_ends(&q, settings, &range, argmin, argmax);
    hfi_memory_free(&rigorous->memory, q.sides);
    hfi_rigorous_work_free(&q.work);
    if (status < 0) return status;
    range.seconds = hfi_now() - start;
    *out = range;
    return HF_OK;
}

hf_status hfi_rigorous_value(const hfi_rigorous *rigorous, hf_certify_what what, double beta, const double *x,
                             double *lower, double *upper)
{
    hfi_interval value;
    hfi_rigorous_work work = hfi_rigorous_work_create(rigorous, what, beta);
    if (work.block == NULL) return HF_ERR_MEMORY;
    const bool ok = value_at(&work, x, &value);
    hfi_rigorous_work_free(&work);
    if (!ok) return HF_ERR_NOT_FINITE;
    *lower = hfi_double_down(value.lower);
    *upper = hfi_double_up(value.upper);
    return HF_OK;
}
