/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file core.h
 * @brief Internal face of the core room: checked memory, messages, progress, parallel loops, random
 * streams.
 */
#ifndef HFI_CORE_H
#define HFI_CORE_H

#include <holdfast/context.h>
#include <holdfast/enums.h>
#include <stdarg.h>
#include <stdatomic.h>

/* ---- memory ---------------------------------------------------------------------------------- */

/** An allocator by value, kept inside every object so that it can be freed without its context. */
typedef hf_allocator hfi_memory;

/** The context's allocator. */
hfi_memory hfi_context_memory(const hf_context *ctx);

/** `count * size` bytes (at least one), zeroed, 64-byte aligned; NULL on overflow or when out of
 * memory.
 *  Sets no message: see hfi_alloc. */
void *hfi_memory_alloc(const hfi_memory *memory, size_t count, size_t size);

/** Releases what hfi_memory_alloc gave; NULL is allowed. */
void hfi_memory_free(const hfi_memory *memory, void *block);
/** Releases `count` blocks, the first one first; HFI_MEMORY_FREE(memory, a, b, ...) counts them. */
void hfi_memory_free_list(const hfi_memory *memory, size_t count, void *const *block);
#define HFI_MEMORY_FREE(memory, ...)                                                               \
    hfi_memory_free_list(memory, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *),                 \
                         (void *[]){__VA_ARGS__})

/** Like hfi_memory_alloc with the context's allocator; on failure sets the message (with the
 * bytes). */
void *hfi_alloc(hf_context *ctx, size_t count, size_t size);
/** The same without zeroing: for room that is written before it is read, and much larger than what
 * small problems use of it. */
void *hfi_alloc_unset(hf_context *ctx, size_t count, size_t size);
void hfi_free(hf_context *ctx, void *block);
/** The same for several blocks: HFI_FREE(ctx, a, b, ...). */
void hfi_free_list(hf_context *ctx, size_t count, void *const *block);
#define HFI_FREE(ctx, ...)                                                                         \
    hfi_free_list(ctx, sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (void *[]){__VA_ARGS__})

/** An array to be made, `place` being the address of the pointer to it: count * times entries of
 * `size` bytes. */
typedef struct hfi_room {
    void *place;
    size_t count, times, size;
} hfi_room;
#define HFI_ROOMS(array, rows, width)                                                              \
    {                                                                                              \
        &(array), (rows), (width), sizeof(__typeof__(*(array)))                                    \
    }
#define HFI_ROOM(array, entries) HFI_ROOMS(array, entries, 1)
/** Like hfi_memory_alloc for each; false when out of memory: then those from the one that could not
 * be had on are NULL, and the others are the caller's to free. HFI_MEMORY_ALLOC(memory, HFI_ROOM(a,
 * n), ...) counts them. */
bool hfi_memory_alloc_list(const hfi_memory *memory, size_t count, const hfi_room *room);
#define HFI_MEMORY_ALLOC(memory, ...)                                                              \
    hfi_memory_alloc_list(memory, sizeof((hfi_room[]){__VA_ARGS__}) / sizeof(hfi_room),            \
                          (hfi_room[]){__VA_ARGS__})
/** The same with the context's allocator: HF_OK, or HF_ERR_MEMORY and the message. */
hf_status hfi_alloc_list(hf_context *ctx, size_t count, const hfi_room *room);
#define HFI_ALLOC(ctx, ...)                                                                        \
    hfi_alloc_list(ctx, sizeof((hfi_room[]){__VA_ARGS__}) / sizeof(hfi_room),                      \
                   (hfi_room[]){__VA_ARGS__})
/** Parts of a block of numbers, each of them double, one after another, or NULL where the block is.
 * How many numbers they are in all. */
size_t hfi_lay_out_list(double *block_or_null, size_t count, const hfi_room *room);
#define HFI_LAY_OUT(block_or_null, ...)                                                            \
    hfi_lay_out_list((block_or_null), sizeof((hfi_room[]){__VA_ARGS__}) / sizeof(hfi_room),        \
                     (hfi_room[]){__VA_ARGS__})

/** Room for `need` things of `size` bytes, of which there are `used` in `block`, which has room for
 * *room: the block itself, or a larger one in its place. NULL when out of memory: then nothing has
 * changed. Amortised O(1). */
void *hfi_memory_grow(const hfi_memory *memory, void *block, size_t used, size_t need, size_t *room,
                      size_t size);

/** A zero-terminated copy in the allocator's memory; NULL when out of memory. */
char *hfi_memory_strdup(const hfi_memory *memory, const char *text);

/** hfi_alloc() of a * b entries; a product that overflows is out of memory. */
void *hfi_alloc_product(hf_context *ctx, size_t a, size_t b, size_t size);

/** Product of two sizes; false on overflow. */
bool hfi_size_mul(size_t a, size_t b, size_t *product);

/** Bytes of physical memory that a new allocation can have without swapping (Linux MemAvailable);
 * SIZE_MAX when unknown. */
size_t hfi_available_memory(void);
/** As many of `threads` as a limit on the address space has room for; at least 1. A system call
 * where there is none. OpenMP ends the process where a thread cannot be made. */
int hfi_threads_with_room(int threads);
/** Whether `bytes` can be had without swapping; *available receives how many, SIZE_MAX where the
 * machine was not asked: up to 64 MiB it is not, since to ask takes as long as to factor the
 * covariance of 100 readings. */
bool hfi_memory_has(double bytes, size_t *available);

/** A context like ctx (of one thread if ctx is NULL) for the time of a call, so that the caller's
 * never changes: a fit of few readings sets its number of threads. hfi_context_give_back() ends it
 * and leaves its message in ctx. NULL with a message when out of memory. */
hf_context *hfi_context_borrow(hf_context *ctx);
void hfi_context_give_back(hf_context *ctx, hf_context *own);

/* ---- text of numbers ------------------------------------------------------------------------- */

/** snprintf(), vsnprintf() and strtod() with a point as the decimal mark, whatever the locale of
 * the program is. Any thread. */
int hfi_print(char *text, size_t bytes, const char *format, ...) HF_PRINTF(3, 4);
int hfi_print_list(char *text, size_t bytes, const char *format, va_list list);
double hfi_strtod(const char *text, char **end);

/* ---- messages -------------------------------------------------------------------------------- */

/** Sets the context's message and returns `status`, so that `return hfi_fail(ctx, HF_ERR_ARGUMENT,
 * "...")` reads well. For warnings as for errors. ctx may be NULL. */
hf_status hfi_fail(hf_context *ctx, hf_status status, const char *format, ...) HF_PRINTF(3, 4);
/** hfi_fail() with HF_ERR_ARGUMENT. */
hf_status hfi_refuse(hf_context *ctx, const char *format, ...) HF_PRINTF(2, 3);
/** hfi_refuse() of a function that was given NULL: names the first argument that is, and ctx where
 * none of them is. `names` has their names with a comma between. */
hf_status hfi_refuse_null(hf_context *ctx, const char *function, const char *names, size_t count,
                          const void *const *arguments);
#define HFI_REFUSE_NULL(ctx, function, ...)                                                        \
    hfi_refuse_null((ctx), (function), #__VA_ARGS__,                                               \
                    sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *),             \
                    (const void *const[]){__VA_ARGS__})
hf_status hfi_out_of_memory(hf_context *ctx);

/** The more serious of two results: the first error if there is one, else the first warning, else
 * HF_OK. */
hf_status hfi_worse(hf_status a, hf_status b);

/** Tells the callback, if any. False: the caller must stop and return hfi_cancelled(ctx). */
bool hfi_progress(hf_context *ctx, const char *stage, double done, double value);
hf_status hfi_cancelled(hf_context *ctx);

/** Seconds on a monotonic clock. */
double hfi_now(void);

/* ---- names of choices ------------------------------------------------------------------------ */

/** Index of `name` among `count` names; HF_ERR_ARGUMENT with the valid ones listed ("there is no
 * <what> 'x'; give a, b or c").
 *  NULL for name or index is HF_ERR_ARGUMENT too. */
hf_status hfi_choice_parse(hf_context *ctx, const char *what, const char *const *names,
                           size_t count, const char *name, size_t *index);
/** "a, b or c" into a text of `bytes`, cut if it does not fit. */
void hfi_choices_text(const char *const *names, size_t count, char *text, size_t bytes);
/** names[index], or "unknown" outside of the list. */
const char *hfi_choice_name(const char *const *names, size_t count, size_t index);

/** A seed in decimal digits, nothing before or after them. False, and *out of no meaning: not a
 * whole number from 0 to 2^64 - 1. */
bool hfi_seed_parse(const char *text, uint64_t *out);

/** Insertions, deletions, replacements and swaps of neighbours that turn one text of na bytes into
 * the other of nb, letter case not counting. Only the first 64 bytes of each are looked at. O(na
 * nb), no allocation. */
size_t hfi_edit_distance(const char *a, size_t na, const char *b, size_t nb);

/** The candidate nearest to `name` in edit distance without regard to case, or NULL when none is
 * near enough to be meant. */
typedef struct hfi_nearest {
    const char *name;
    size_t length;
    const char *best;
    size_t distance;
} hfi_nearest;

void hfi_nearest_begin(hfi_nearest *search, const char *name, size_t length);
void hfi_nearest_offer(hfi_nearest *search, const char *candidate);

/* ---- parallel loop --------------------------------------------------------------------------- */

/** Body of a parallel loop. `thread` is in [0, threads). Must not call BLAS-unrelated context
 * functions. */
typedef void (*hfi_loop_body)(size_t index, int thread, void *arg);

/** Threads for a loop of `count` indices: the context's, but no more than indices, than a limit on
 * the address space has room for, or than 1 inside another parallel loop. */
int hfi_loop_threads(const hf_context *ctx, size_t count);
/** Runs body(0..count-1) on the context's threads, dynamically scheduled. Inside another parallel
 * loop it runs serially (never nested). The body must make results that do not depend on the order
 * of indices. */
void hfi_parallel_for(const hf_context *ctx, size_t count, hfi_loop_body body, void *arg);

/** hfi_parallel_for() that reports progress: four tasks of every thread at a time, because only the
 * thread that called may ask the callback. HF_ERR_CANCELLED. */
hf_status hfi_parallel_rounds(hf_context *ctx, const char *stage, size_t count, hfi_loop_body body,
                              void *arg);

/** Cancels a computation on several threads: only the thread that began it asks the
 * callback, the others look at what it was told. */
typedef struct hfi_watch {
    hf_context *ctx;
    const char *stage;
    double done; /* what is reported; that thread may change it */
    int thread;  /* which one began it */
    double asked;
    atomic_bool stopped;
} hfi_watch;
void hfi_watch_begin(hfi_watch *watch, hf_context *ctx, const char *stage, double done);
/** False: stop, and return hfi_cancelled() in the end. To be asked often: it costs what the
 * callback does. A watch that is NULL never stops anything. */
bool hfi_watch_ok(hfi_watch *watch);
/** The same for loops that are short: asks a hundred times a second at most. */
bool hfi_watch_glance(hfi_watch *watch);
/** Whether it has stopped, without asking. */
bool hfi_watch_stopped(hfi_watch *watch);
/** hfi_parallel_for() that leaves out what is left once the watch stops; a thread that has nothing
 * left to do goes on asking while others work. False: stopped. */
bool hfi_watched_for(const hf_context *ctx, hfi_watch *watch, size_t count, hfi_loop_body body,
                     void *arg);

/* ---- several processes ----------------------------------------------------------------------- */

/** This process's number and how many there are (hf_context_set_group(); 0 and 1 without a
 * group). */
size_t hfi_group_rank(const hf_context *ctx);
size_t hfi_group_size(const hf_context *ctx);
/** values[k] := sum over all processes, the same in all of them. Every process must make the same
 * calls in the same order. HF_OK at once without a group. */
hf_status hfi_group_sum(hf_context *ctx, size_t count, double *values);
/** Agrees on what the processes made of something that each did by itself. Returns the own status
 * (and message), unless it is fine and another one's is not: then that process's, with a message
 * that says so. Collective like the sum; at once without a group. */
hf_status hfi_group_agree(hf_context *ctx, hf_status status);
/** The communicator (Fortran handle) of a group that hf_group_mpi() made. False for any other
 * group, without one, and in builds without MPI. */
bool hfi_group_communicator(const hf_context *ctx, int *communicator);
/** Matrices of at least this order are factored by all processes of a group together, each holding
 * its part (linalg/grid.h). */
size_t hfi_group_shared_factor(const hf_context *ctx);
/**
 * A table cut into parts, whose sums are added up in the order of the parts: how many processes a
 * group has, and whether there is one, then changes no digit, up to eight of them. There are as
 * many parts as there are lots of HFI_PART_ROWS rows, 8 at most, or as many as there are processes
 * if these are more; those add up in one go. Part k belongs to process k mod size.
 */
#define HFI_PART_ROWS 2048u
typedef struct hfi_parts {
    hf_context *ctx;
    /* next: the first part that has not been handed out, of this process */
    size_t rows, parts, next;
    size_t count;  /* numbers that each part adds up */
    double *total; /* count */
    double *own; /* one row of count for each part of this process; a single one without a group */
    bool begun;
} hfi_parts;
/** `count` may be 0: then there are no sums, only parts. `total` (count) is set to zero. */
hf_status hfi_parts_init(hf_context *ctx, size_t rows, size_t count, double *total,
                         hfi_parts *parts);
/** The next part of this process, its rows begin .. end - 1, and its sums, which are zero (NULL for
 * count 0). false when there is none. */
bool hfi_parts_next(hfi_parts *parts, size_t *begin, size_t *end, double **sums);
/** Adds up what all processes have, and frees. `status` is this process's so far; see
 * hfi_group_agree(). */
hf_status hfi_parts_finish(hfi_parts *parts, hf_status status);
/** Rows of the largest part. */
size_t hfi_parts_rows(const hf_context *ctx, size_t rows);

/** Part k of `count` things in `parts` parts: [*begin, *end), contiguous, sizes differing by at
 * most one. */
void hfi_part(size_t count, size_t parts, size_t k, size_t *begin, size_t *end);
/** The part of `count` tasks or rows that is this process's, one part for each. */
void hfi_group_share(const hf_context *ctx, size_t count, size_t *begin, size_t *end);

/* ---- random streams -------------------------------------------------------------------------- */

/** Purpose of a stream: streams of different purposes are independent. Append only. */
typedef enum hfi_purpose {
    HFI_PURPOSE_RESTART = 1,
    HFI_PURPOSE_SAMPLE = 2,
    HFI_PURPOSE_CONTAMINATE = 3,
    HFI_PURPOSE_SPLIT = 4,
    HFI_PURPOSE_TEST = 5,
    HFI_PURPOSE_EXPERIMENT = 6,
    HFI_PURPOSE_PROBE = 7,    /* random signs that find errors in a factor */
    HFI_PURPOSE_INDUCING = 8, /* k-means starts, swaps of the point process */
    HFI_PURPOSE_ACTIONS = 9,
    HFI_PURPOSE_MINIBATCH = 10,
    HFI_PURPOSE_SUBSET = 11,    /* starts and lots of the minimum covariance determinant */
    HFI_PURPOSE_SWAPS = 12,     /* sets of a determinantal point process */
    HFI_PURPOSE_RELEVANCE = 13, /* rows whose inputs are exchanged */
    HFI_PURPOSE_PATH = 16,      /* functions drawn from a posterior */
    HFI_PURPOSE_REGION = 18,    /* candidates of a trust region */
    HFI_PURPOSE_STUDY = 19      /* neighbours of places that are known to be safe */
} hfi_purpose;

/** A counter-based stream (Philox 4x64-10): its k-th number is a function of (seed, purpose, index,
 * k) alone.
 */
typedef struct hfi_stream {
    uint64_t key[2];
    uint64_t counter[4];
    uint64_t block[4];
    int used;         /* numbers already taken from block; 4 = none left */
    bool have_normal; /* Box-Muller makes two at a time */
    double normal;
} hfi_stream;

void hfi_stream_init(hfi_stream *stream, uint64_t seed, hfi_purpose purpose, uint64_t index);
uint64_t hfi_stream_bits(hfi_stream *stream);
/** Uniform on the open interval (0, 1), 53 bits. */
double hfi_stream_uniform(hfi_stream *stream);
double hfi_stream_normal(hfi_stream *stream);
/** Gamma with a shape > 0 and scale 1; a whole number, Poisson with a mean >= 0. */
double hfi_stream_gamma(hfi_stream *stream, double shape);
double hfi_stream_poisson(hfi_stream *stream, double mean);
/** Uniform integer in [0, bound), bound > 0, unbiased. */
size_t hfi_stream_below(hfi_stream *stream, size_t bound);
/** Fisher-Yates shuffle of an index array. */
void hfi_stream_shuffle(hfi_stream *stream, size_t *items, size_t count);

/* ---- small numerics used by several rooms ---------------------------------------------------- */

static inline size_t hfi_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}
static inline size_t hfi_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/** Quantile by linear interpolation of order statistics (Hyndman-Fan type 7). Sorts `values` in
 * place (NaN last). NaN when a value is NaN or count is 0. */
double hfi_quantile(double *values, size_t count, double probability);
/** Median by the same rule. Sorts in place. */
double hfi_median(double *values, size_t count);
/** 1.4826 x median absolute deviation about the median; `scratch` has `count` entries. */
double hfi_mad(const double *values, size_t count, double *scratch);

/** Count, mean and sum of squares about it of values that come one after the other (Welford); begin
 * with zeros. */
typedef struct hfi_tally {
    double count, mean, squares;
} hfi_tally;
void hfi_tally_add(hfi_tally *tally, double value);
/** Standard error of the mean; NaN of fewer than two values. */
double hfi_tally_error(const hfi_tally *tally);

/** A sum that does not depend on the order of the values, which it sorts. */
double hfi_sum_sorted(double *values, size_t count);

/** A number, and the index of what it is of. */
typedef struct hfi_ranked {
    double value;
    size_t index;
} hfi_ranked;
/** Sorts by value, the least first; equal ones by index. No value is NaN. */
void hfi_sort_ranked(hfi_ranked *list, size_t count);
/** Sorts indices, ascending. */
void hfi_sort_indices(size_t *index, size_t count);
/** Item k of an array, `bytes` long each, becomes item order[k]. `order` is a permutation of the
 * `count` indices. HF_ERR_MEMORY, with the array as it was. */
hf_status hfi_rearrange(hf_context *ctx, size_t count, size_t bytes, const size_t *order,
                        void *array);
/** Which rows are equal, 0 and -0 being the same. `first` (m entries) := indices of the first at
 * most m rows no two of which are, in their order; *distinct, how many. `number` (n entries or
 * NULL): which of them each row equals, up to the row at which m are found. HF_ERR_MEMORY. O(n
 * d). */
hf_status hfi_rows_distinct(hf_context *ctx, size_t n, size_t d, const double *x, size_t ldx,
                            size_t m, size_t *first, size_t *number, size_t *distinct);

/** log of the standard normal density's sqrt(2 pi) term: 0.5 log(2 pi). */
#define HFI_HALF_LOG_2PI 0.91893853320467274178
#define HFI_PI           3.14159265358979323846

#endif
