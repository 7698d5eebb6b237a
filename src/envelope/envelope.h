/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file envelope.h
 * @brief Internal face of the envelope room: the active set, and what an envelope is made of.
 *
 * The engine solves two problems that differ in one number. With g = k - K nu, f = g / t and t > 0:
 *
 *     bound       min over nu of G sqrt(k(x,x) - 2 nu'k + nu'K nu) + h(nu)      t = sqrt(q) / G, |f| = G
 *     smoothest   min over nu of 1/2 nu'K nu + h(nu)                            k = 0, t = 1, |f| least
 *
 * where h(nu) = sum_i max(nu_i upper_i, nu_i lower_i). Both are optimal when f(x_i) is at the upper
 * limit where nu_i > 0, at the lower one where nu_i < 0, and within its limits everywhere. Lower
 * bounds are upper ones of -f, whose limits are (-upper, -lower). docs/methods/envelope.md derives
 * it.
 */
#ifndef HFI_ENVELOPE_H
#define HFI_ENVELOPE_H

#include "core/core.h"
#include "core/interval.h"
#include "kernel/kernel.h"
#include <holdfast/envelope.h>

/* ---- the active set (active.c, factor.c) ----------------------------------------------------- */

/** Readings as the engine sees them; nothing is owned. */
typedef struct hfi_active_problem {
    size_t n;
    const double *k; /* both triangles, column j at k + j*ldk */
    size_t ldk;
    const double *lower, *upper; /* n; at most one of a pair is infinite */
    const double *sd;            /* root of the diagonal of K */
    double jitter;               /* counted on the diagonal of K */
    const double *cross;         /* k_x; NULL: the smoothest function is sought */
    double prior;                /* k(x, x) */
    double norm;                 /* G; not looked at for the smoothest function */
} hfi_active_problem;

/** A support with signs, its factor L L' = K_AA and the dual variables on it. Memory for supports
 * of `capacity` readings, touched as they grow. */
typedef struct hfi_chain {
    size_t capacity, ldl;
    size_t count;  /* readings in the support */
    size_t *index; /* which; the order of the factor */
    signed char *
        /* 1 at the upper limit, -1 at the lower, 0 exact reading (hfi_is_exact()): nu may have any
         * sign */
        sign;
    double *nu;
    double *limit; /* the limit that is held */
    double *u, *v; /* L^-1 k_A, L^-1 limit */
    double *target;
    double *work;
    double *l;
    double *g;     /* what f is over the readings but for a factor, f = g / t, when `priced` */
    double *worth; /* 1 / sd of readings that may enter, else 0 */
    /* W = L^-1 K_A,: for all readings, row j at w + j*ldw, and what follows from it: so f and what
     * a reading would gain need no product with K. As long as it pays. */
    bool kept;
    size_t columns; /* readings that W knows */
    size_t ldw;
    double *w;
    double *left;        /* k(x_i,x_i) - |W_i|^2: what the support leaves of the variance */
    double *rest, *held; /* k_x - W'u and W'v, when `tabled` */
    bool tabled;
    double *turn;            /* 2 x capacity */
    unsigned char *left_out; /* readings that must not enter: the caller's */
    bool priced;
    bool exact;     /* g was taken from K, not from W */
    bool at_vertex; /* nu is the best of its support */
    /* a pivot came out more negative than rounding: the factor should be made anew */
    bool suspect;
    bool indefinite; /* K was seen to have a negative eigenvalue beyond rounding */
    double t;
    /* k_x is, but for rounding, in the span of the support: the step took a least t, */
    bool floored;
    double *alone; /* and f is K_A K_AA^-1 limit, of norm below G: these are its coefficients */
    size_t pivots; /* changes by the last call */
    /* The dual variables behind the last bound that was given out. */
    size_t given;
    size_t *given_index;
    double *given_nu;
    double bytes; /* reserved */
} hfi_chain;

/** Memory for supports of up to `capacity` readings; all zero. false when out of memory (then
 * nothing is held). */
bool hfi_chain_init(const hfi_memory *memory, size_t capacity, hfi_chain *chain);
void hfi_chain_free(const hfi_memory *memory, hfi_chain *chain);
/** Whether the search may hold either limit of reading i, whatever the sign: they are the same but
 * for rounding. U tells them apart. */
bool hfi_is_exact(const hfi_active_problem *problem, size_t i);
/** The empty support. */
void hfi_chain_reset(hfi_chain *chain);
/** Takes limits and k_A anew from the problem: what a chain needs whose problem has changed.
 * `factor`: the factor and W too. */
void hfi_chain_refresh(const hfi_active_problem *problem, hfi_chain *chain, bool factor);
/** Lets reading i enter at the end with nu = 0. A pivot that is rounding is held at rounding's
 * size. */
void hfi_chain_add(const hfi_active_problem *problem, hfi_chain *chain, size_t i, int sign);
/** Takes the reading at place `at` of the support out. */
void hfi_chain_drop(const hfi_active_problem *problem, hfi_chain *chain, size_t at);
/** Makes rest and held, which then follow change by change; W is kept. O(n count). */
void hfi_chain_table(const hfi_active_problem *problem, hfi_chain *chain);

/** How the active set ended. */
typedef enum hfi_active_end {
    HFI_ACTIVE_OPTIMAL = 0,
    HFI_ACTIVE_ENOUGH, /* the caller said so */
    HFI_ACTIVE_LIMIT,  /* of pivots or seconds */
    HFI_ACTIVE_STUCK   /* rounding keeps it from its tolerance */
} hfi_active_end;

/** Asked after each full step whether to stop. */
typedef bool (*hfi_active_enough)(void *arg);

/** Goes on from the chain's support to the optimum. `pivots` and `seconds` as in
 * hf_envelope_limits; `enough` may be NULL. chain->g is priced at the end. */
hfi_active_end hfi_active_solve(const hfi_active_problem *problem, hfi_chain *chain, size_t pivots,
                                double seconds, hfi_active_enough enough, void *arg);

/* ---- what a nu is worth (evaluate.c) --------------------------------------------------------- */

/** Parts of U(nu). */
typedef struct hfi_dual_value {
    /* nu'K nu - 2 nu'k + k(x,x), rounding allowed for: not below the true one */
    long double square;
    long double support;  /* h(nu), rounded up */
    long double estimate; /* the same as it comes */
    long double reach;    /* k(x,x) - nu'k, as it comes */
    long double size;     /* sqrt k(x,x) + sum |nu_i| sd_i */
} hfi_dual_value;

/** From K itself, not from a factor. Holds for every kernel matrix that differs from K by at most
 * HFI_KERNEL_ROUNDING sd_i sd_j. O(count^2). */
hfi_dual_value hfi_dual_evaluate(const hfi_active_problem *problem, size_t count,
                                 const size_t *index, const double *nu);
/** One step of iterative refinement of nu at t, over chain->target. O(count^2). */
void hfi_dual_refine(const hfi_active_problem *problem, const double *cross, double t,
                     hfi_chain *chain, double *nu);
/** chain->g := f over all readings; at those of the support from sums in long double. */
void hfi_dual_price(const hfi_active_problem *problem, const double *cross, hfi_chain *chain,
                    const double *nu);
/** Makes t of a vertex what q(nu) says it is, nu and g following. @return what nu is worth.
 * O(count^2), and a pricing where something had to move. */
hfi_dual_value hfi_active_finish(const hfi_active_problem *problem, hfi_chain *chain);
/** A smallest norm that may be too small by more than this share is told as one that is needed at
 * least. */
#define HFI_NORM_OPEN 1e-3
/** Largest error of a kernel's value, in units of sd_i sd_j: eight half units of the last place. */
#define HFI_KERNEL_ROUNDING 9e-16L
/** A function that misses a limit by less than this, in units of what f(x_i) can be, meets it: the
 * rest is rounding. */
#define HFI_VIOLATION_ROUNDING 1e-13

/** U(nu) at x with every rounding accounted for (evaluate.c); infinite where the kernel cannot be
 * enclosed. The kernel is evaluated anew: some microseconds for each pair of the support. */
double hfi_envelope_rigorous(const hf_envelope *envelope, const hfi_active_problem *problem,
                             const double *x, size_t count, const size_t *index, const double *nu);
/** nu'K nu, enclosed; up to infinity where the kernel cannot be. A microsecond or so for each pair
 * of the support. */
hfi_interval hfi_rigorous_square(const hf_envelope *envelope, size_t count, const size_t *index,
                                 const double *nu);

/* ---- readings (readings.c) ------------------------------------------------------------------- */

/** Which readings share an input, and the limits that are left of each. */
typedef struct hfi_distinct {
    size_t rows, n;
    size_t *of_row;                /* rows: the distinct input that row has */
    size_t *first;                 /* n: its first row */
    double *lower, *upper;         /* n: intersection of the intervals */
    size_t *lower_row, *upper_row; /* n: whose limits they are */
} hfi_distinct;

hf_status hfi_distinct_find(hf_context *ctx, size_t d, const hf_bounded_readings *readings,
                            hfi_distinct *distinct);
void hfi_distinct_free(hf_context *ctx, hfi_distinct *distinct);
/** Limits when all noise bounds are `factor` times what they are. @return whether every
 * intersection holds a number */
bool hfi_distinct_limits(const hf_bounded_readings *readings, double factor,
                         hfi_distinct *distinct);
/**
 * The limits of a reading: y - below and y + above, rounded outwards. They so hold for the decimals
 * that the three numbers were read from; or for a y that is the rounded sum of a value and an error
 * of at most that size. A noise bound of 0 says that y is exact: that limit is y itself, to the
 * bit. Both less `less`, rounded outwards where the difference is no double.
 */
void hfi_reading_limits(double y, double below, double above, double less, double *lower,
                        double *upper);
/** a + b, rounded down or up; infinite ones stay. */
double hfi_add_down(double a, double b);
double hfi_add_up(double a, double b);
/** Noise bounds of a row. */
double hfi_noise_below(const hf_bounded_readings *readings, size_t row);
double hfi_noise_above(const hf_bounded_readings *readings, size_t row);
hf_status hfi_readings_check(hf_context *ctx, const hf_kernel *kernel,
                             const hf_bounded_readings *readings);

/* ---- the envelope ---------------------------------------------------------------------------- */

/** Limits of f and of -f. */
enum {
    HFI_SIDES = 2 /* hf_side */
};

/** Workspace for finding the smoothest consistent function. */
typedef struct hfi_smoothest_work {
    hfi_chain chain;
    double *limits;  /* 2 x capacity */
    double *scratch; /* the kernel's */
    double bytes;    /* reserved */
} hfi_smoothest_work;

struct hf_envelope {
    hfi_memory memory;
    hf_kernel *kernel;
    size_t d, n, capacity, ldk;
    double norm;
    double offset;                 /* all limits and functions in here are those of f - offset */
    hf_envelope_settings settings; /* `reserve` is what is left of it: capacity - n */
    double *x;                     /* capacity x d */
    double *k;                     /* both triangles */
    double *lower[HFI_SIDES];      /* as the engine wants them: [HF_UPPER] of f, [HF_LOWER] of -f */
    double *upper[HFI_SIDES];
    double *sd;
    double minimum_norm;
    /* Support of the smoothest consistent function, where the next search starts. */
    size_t smooth_count;
    size_t *smooth_index;
    signed char *smooth_sign;
    double *smooth_nu;
    /* A function that has room to every limit and norm below G: -sum nu_i k(., x_i). */
    bool has_centre;
    double centre_norm;
    size_t centre_count;
    size_t *centre_index;
    double *centre_nu, *centre_value; /* value: at all readings */
    /* The distinct readings that the last refused one contradicts, and the norm that would do. */
    size_t conflict_count;
    size_t *conflict;
    double conflict_norm;
    hfi_smoothest_work work_area; /* empty, or with room for `capacity` readings */
    double bytes;
};

struct hf_envelope_workspace {
    hfi_memory memory;
    const hf_envelope *owner;
    size_t capacity, d, scratch_size;
    hfi_chain chain[HFI_SIDES];
    double *cross, *scratch, *near, *gradient;
    size_t close_count, *close; /* readings that the query cannot be told from */
};

/** The reading at x, or n. O(n d). */
size_t hfi_envelope_reading_at(const hf_envelope *envelope, const double *x);
/** The problem of the side at hand, without a query. */
hfi_active_problem hfi_envelope_problem(const hf_envelope *envelope, hf_side side);
/** Makes room for `capacity` readings of d inputs; everything zero, and no kernel.
 * HF_ERR_TOO_LARGE, HF_ERR_MEMORY. */
hf_status hfi_envelope_allocate(hf_context *ctx, hfi_memory memory, size_t d, size_t capacity,
                                hf_envelope **out);
/** Gives the envelope a work area, unless it has one; it needs its kernel by then. @return false
 * when out of memory (then it has none) */
bool hfi_envelope_equip(hf_envelope *envelope);
/** Takes the work area away. */
void hfi_envelope_strip(hf_envelope *envelope);
/** Sets the limits of reading i, for f and for -f. */
void hfi_envelope_set_limits(hf_envelope *envelope, size_t i, double lower, double upper);

/* ---- the smoothest function (smoothest.c) ---------------------------------------------------- */

/** Finds the smoothest function that meets the problem's limits, from the chain's support. @return
 * its norm; infinity as soon as that is known to be beyond `most` */
double hfi_smoothest_solve(const hfi_active_problem *problem, hfi_chain *chain, double most);
/** Norm of the smoothest function that meets the problem's limits, as the chain has found it. */
double hfi_smoothest_norm(const hfi_chain *chain);
/** The same from below, whatever the chain's errors are: -h(nu) / sqrt(nu'K nu), for the envelope's
 * readings with the problem's limits, by exact values of the kernel where doubles leave little of
 * nu'K nu (near twins). *open, which may be NULL: the share by which
 * it may be too small because kernel values are rounded, as far as that nu goes; infinite where
 * nothing is left. */
double hfi_envelope_certified(const hf_envelope *envelope, const hfi_active_problem *problem,
                              const hfi_chain *chain, double *open);
/** Finds the smoothest consistent function and a centre, from the support that the envelope
 * remembers, on its work area. HF_ERR_INCONSISTENT sets no message. */
hf_status hfi_envelope_find_smoothest(hf_context *ctx, hf_envelope *envelope);

/* ---- explaining (consistency.c) -------------------------------------------------------------- */

/** All there is to say about readings, their intersections in `distinct` (at factor 1; spoilt) and
 * the envelope made of them, consistent or not, which has a work area. */
void hfi_explain(hf_envelope *envelope, const hf_bounded_readings *readings, hfi_distinct *distinct,
                 hf_consistency *report, size_t *conflict);
/** From a chain at the smoothest function, which is too long for the envelope's norm, to one whose
 * support alone is: none of its readings can go. As many searches as that support has readings. */
void hfi_smallest_conflict(const hf_envelope *envelope, const hfi_active_problem *p, hfi_chain *c);
/** Bytes that a list of numbers takes at most. */
enum {
    HFI_NUMBERS = 8 * 24 + 32
};
/** "3, 17", counted from 1; of more than eight the first. */
void hfi_list_numbers(size_t count, const size_t *number, char out[HFI_NUMBERS]);
/** The same in words: sets the message and returns HF_ERR_INCONSISTENT. */
hf_status hfi_inconsistent(hf_context *ctx, double norm, const hf_consistency *report,
                           const size_t *conflict);

#endif
