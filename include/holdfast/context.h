/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file context.h
 * @brief The handle for what other libraries keep in globals: allocator, threads, seed, progress,
 * last message.
 *
 * A context is used by one thread at a time. Two contexts in two threads never meet; the library
 * has no global state. Objects made with a context remember its allocator (not the context), so
 * they may outlive it and may be freed by any thread.
 *
 * Fork. After any call with more than one thread, OpenMP keeps its threads for the next. A forked
 * child has none of them, and with gcc's run-time its first call with several threads waits for
 * them forever. So a child sets one thread on every context it uses, or calls exec(); a parent that
 * had one thread until the fork leaves its children free. posix_spawn() and system() are safe.
 *
 * Floating point. The library computes in C's default environment: rounding to nearest, no traps,
 * subnormal numbers kept. Vector loops raise flags of entries that nobody uses, so with trapping on
 * (feenableexcept()), a fit may end in SIGFPE; with another rounding mode, bounds need not hold. A
 * program that changed its environment calls feholdexcept(), where needed fesetround(FE_TONEAREST),
 * then the library, then fesetenv(). It does so before the first call with several threads, which
 * inherit the environment and keep it. Flags may be raised after any call.
 *
 * A function that names no cost of its own is O(1), freeing aside.
 */
#ifndef HOLDFAST_CONTEXT_H
#define HOLDFAST_CONTEXT_H

#include <holdfast/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

HF_BEGIN_DECLS

typedef struct hf_context hf_context;

/** Where memory comes from. `allocate` returns memory aligned for any C object, or NULL;
 * `release(NULL)` is never called. Both must be safe to call from several threads at once. */
typedef struct hf_allocator {
    void *(*allocate)(size_t bytes, void *user);
    void (*release)(void *memory, void *user);
    /** handed back to both; may be NULL */
    void *user;
} hf_allocator;

/**
 * Called now and then from long operations, always from the thread that made the call.
 * @param stage  what is being done, e.g. "train"
 * @param done   share of the stage that is done, in [0, 1], or negative when unknown.
 * @param value  the figure of merit so far (objective), NaN when there is none.
 * @param user   the pointer given to hf_context_set_progress()
 * @return true to go on; false to cancel: the operation then returns HF_ERR_CANCELLED.
 */
typedef bool (*hf_progress)(const char *stage, double done, double value, void *user);

/**
 * A context with malloc/free, all processors the process may use, seed 0 and no callback. NULL when
 * out of memory.
 */
HF_API hf_context *hf_context_create(void);

/** The same with an allocator of the caller's. The struct is copied; `allocator->user` must outlive
 * every object made. NULL allocator means malloc/free. */
HF_API hf_context *hf_context_create_with(const hf_allocator *allocator);

/** Frees a context; NULL is allowed. */
HF_API void hf_context_free(hf_context *ctx);

/** Threads to use, at least 1; 0 means as many as processors are available to the process, or fewer
 * if OMP_NUM_THREADS or omp_set_num_threads() says so. The number never changes a digit of any
 * result. In a forked child: 1 (see above).
 * Errors: HF_ERR_ARGUMENT for NULL, a negative number and one above 4096. O(1).
 */
HF_API hf_status hf_context_set_threads(hf_context *ctx, int threads);
HF_API int hf_context_threads(const hf_context *ctx);

/** Seed of every random stream drawn with this context. Same seed, same result, whatever the thread
 * count. */
HF_API void hf_context_set_seed(hf_context *ctx, uint64_t seed);
HF_API uint64_t hf_context_seed(const hf_context *ctx);

/** Installs a progress callback, or removes it with NULL. */
HF_API void hf_context_set_progress(hf_context *ctx, hf_progress progress, void *user);

/**
 * Several processes that work on one fit: the inducing solver shares its rows, the projected one
 * its passes over the covariances, and the exact one its matrix. The exact one does so only in
 * groups that hf_group_mpi() made, from 1024 readings on (docs/scaling.md). The library itself
 * knows no message passing: the group says how to add up (MPI_Allreduce does it; see hf_group_mpi()
 * in builds with MPI). Every process makes the same calls with the same arguments, and gets the
 * same result. When one of them fails inside a call, so do the others as soon as they need it; a
 * process that leaves the calls for reasons of its own keeps the others waiting (MPI_Abort() ends
 * them).
 */
typedef struct hf_group {
    /** rank < size */
    size_t rank, size;
    /** values[k] := sum over the processes, the same digits in all of them; false on failure. */
    bool (*sum)(size_t count, double *values, void *user);
    void *user;
} hf_group;
/** Joins a group (copied), or leaves it with NULL. HF_ERR_ARGUMENT: rank >= size, size 0, no sum.
 * O(1).
 */
HF_API hf_status hf_context_set_group(hf_context *ctx, const hf_group *group);
/** The processes of an MPI communicator as a group. `communicator` is its Fortran handle
 * (MPI_Comm_c2f(), so that this header needs no MPI); it must outlive the group, and MPI must have
 * been initialised. Sums have the same digits in all processes, and do not depend on timing.
 * HF_ERR_ARGUMENT in a library that was built without MPI (-DHF_MPI=ON builds it in), and while MPI
 * is not running. O(1). */
HF_API hf_status hf_group_mpi(hf_context *ctx, int communicator, hf_group *out);

/** The message of the last error or warning, in words and with numbers; "" if there was none. Valid
 * until the next call with this context. */
HF_API const char *hf_context_message(const hf_context *ctx);

HF_END_DECLS

#endif
