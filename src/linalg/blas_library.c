/* SPDX-License-Identifier: Apache-2.0 */
/* Which BLAS is in use, and how it is called from several threads at once.
 *
 * Our threads are above BLAS, so each call should run on one thread, and several calls should be able to run
 * at the same time. Libraries differ in what it takes:
 *  - OpenBLAS built with pthreads obeys one number of threads for the whole process: it is set to one while
 * any call of ours is running, and the host's number comes back with the last of them.
 *  - OpenBLAS built with OpenMP, and MKL, have a number for each thread: it is set to one around each call.
 *  - OpenBLAS built without threads is as a rule built without locks too. Its work buffers are then handed
 * out twice when two threads ask at the same moment. Products then come out wrong (a fifth of the small ones,
 *    measured on Debian 12). Only one call at a time is let in.
 *  - BLIS and the reference BLAS need nothing.
 *
 * OpenBLAS takes a work buffer for each call that is running, and keeps it for later ones. It
 * tries for ever where there is no room for one. So there is room for all of them before the first call
 * (hfi_blas_reserve()).
 */
#include "linalg/blas.h"

#include <fcntl.h>
#include <holdfast/version.h>
#include <omp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* Present or absent according to the library that is linked; the addresses tell. */
extern char *openblas_get_config(void) __attribute__((weak));
extern int openblas_get_parallel(void) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));
extern void openblas_set_num_threads(int threads) __attribute__((weak));
extern void *blas_memory_alloc(int where) __attribute__((weak));
extern void blas_memory_free(void *buffer) __attribute__((weak));
extern const char *bli_info_get_version_str(void) __attribute__((weak));
extern int MKL_Set_Num_Threads_Local(int threads) __attribute__((weak));

typedef enum blas_kind {
    BLAS_REFERENCE,
    BLAS_BLIS,
    BLAS_MKL,
    BLAS_OPENBLAS_SERIAL,
    BLAS_OPENBLAS_PTHREADS,
    BLAS_OPENBLAS_OPENMP
} blas_kind;

/* The one mutable thing of the library that is not in an object: it guards a setting, or buffers, of which
 * the process has just one. */
static struct {
    pthread_mutex_t lock;
    size_t users;     /* calls of ours that are running */
    int host_threads; /* the number the last of them restores */
    int buffers;      /* work buffers that the library is known to hold */
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static blas_kind kind_of_blas(void)
{
    if (openblas_get_config != NULL && openblas_get_num_threads != NULL && openblas_set_num_threads != NULL) {
        int parallel = openblas_get_parallel != NULL ? openblas_get_parallel() : 0;
        return parallel == 0   ? BLAS_OPENBLAS_SERIAL
               : parallel == 1 ? BLAS_OPENBLAS_PTHREADS
                               : BLAS_OPENBLAS_OPENMP;
    }
    if (MKL_Set_Num_Threads_Local != NULL) return BLAS_MKL;
    return bli_info_get_version_str != NULL ? BLAS_BLIS : BLAS_REFERENCE;
}

const char *hf_blas_description(void)
{
    static const char *const names[] = {
        [BLAS_REFERENCE] = "reference BLAS (slow)", [BLAS_BLIS] = "BLIS", [BLAS_MKL] = "Intel MKL"};
    const blas_kind kind = kind_of_blas();
    return kind >= BLAS_OPENBLAS_SERIAL ? openblas_get_config() : names[kind];
}

int hf_blas_is_slow(void)
{
    blas_kind kind = kind_of_blas();
    return kind == BLAS_REFERENCE || (kind == BLAS_OPENBLAS_SERIAL && omp_get_num_procs() > 1);
}

bool hfi_blas_is_concurrent(void)
{
    return kind_of_blas() != BLAS_OPENBLAS_SERIAL;
}

/* One thread for everybody; the first to come remembers what the host had. */
static void pin_process(void)
{
    pthread_mutex_lock(&process.lock);
    if (process.users++ == 0) {
        process.host_threads = openblas_get_num_threads();
        if (process.host_threads > 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&process.lock);
}

static void unpin_process(void)
{
    pthread_mutex_lock(&process.lock);
    if (--process.users == 0 && process.host_threads > 1) openblas_set_num_threads(process.host_threads);
    pthread_mutex_unlock(&process.lock);
}

int hfi_blas_enter(void)
{
    int before = 0;
    switch (kind_of_blas()) {
    case BLAS_OPENBLAS_SERIAL:
        pthread_mutex_lock(&process.lock);
        break;
    case BLAS_OPENBLAS_PTHREADS:
        pin_process();
        break;
    case BLAS_OPENBLAS_OPENMP:
        before = omp_get_max_threads();
        if (before > 1) omp_set_num_threads(1);
        break;
    case BLAS_MKL:
        before = MKL_Set_Num_Threads_Local(1);
        break;
    case BLAS_BLIS:
    case BLAS_REFERENCE:
        break;
    }
    return before;
}

void hfi_blas_leave(int before)
{
    switch (kind_of_blas()) {
    case BLAS_OPENBLAS_SERIAL:
        pthread_mutex_unlock(&process.lock);
        break;
    case BLAS_OPENBLAS_PTHREADS:
        unpin_process();
        break;
    case BLAS_OPENBLAS_OPENMP:
        if (before > 1) omp_set_num_threads(before);
        break;
    case BLAS_MKL:
        MKL_Set_Num_Threads_Local(before);
        break;
    case BLAS_BLIS:
    case BLAS_REFERENCE:
        break;
    }
}

void hfi_blas_parallel_for(const hf_context *ctx, size_t count, hfi_loop_body body, void *arg)
{
    int before = hfi_blas_enter();
    if (hfi_blas_is_concurrent())
        hfi_parallel_for(ctx, count, body, arg);
    else
        for (size_t i = 0; i < count; i++) body(i, 0, arg);
    hfi_blas_leave(before);
}

/* ---- work buffers --------------------------------------------------------------------------------------------- */

enum {
    BUFFER_MEGABYTES = 128, /* the largest that OpenBLAS is built with */
    MOST_BUFFERS = 256
};

static bool has_room_for_a_buffer(void)
{
    const size_t bytes = (size_t)(BUFFER_MEGABYTES + 1) << 20;
    const int zeroes = open("/dev/zero", O_RDWR | O_CLOEXEC);
    if (zeroes < 0) return true; /* not known */
    void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, zeroes, 0);
    close(zeroes);
    if (room == MAP_FAILED) return false;
    munmap(room, bytes);
    return true;
}

/* Takes `count` buffers at the same time and gives them back, to be kept; how many there are then. */
static int take_buffers(int count)
{
    void *taken[MOST_BUFFERS];
    int have = 0;
    while (have < count && has_room_for_a_buffer()) {
        taken[have] = blas_memory_alloc(0);
        if (taken[have] == NULL) break;
        have++;
    }
    for (int k = 0; k < have; k++) blas_memory_free(taken[k]);
    return have;
}

hf_status hfi_blas_reserve(hf_context *ctx)
{
    const blas_kind kind = kind_of_blas();
    const bool keeps =
        kind == BLAS_OPENBLAS_PTHREADS || kind == BLAS_OPENBLAS_OPENMP || kind == BLAS_OPENBLAS_SERIAL;
    if (!keeps || blas_memory_alloc == NULL || blas_memory_free == NULL) return HF_OK;
    int need = hfi_blas_is_concurrent() ? hf_context_threads(ctx) : 1;
    if (need > MOST_BUFFERS) need = MOST_BUFFERS;
    pthread_mutex_lock(&process.lock);
    if (process.buffers < need) {
        const int taken = take_buffers(need);
        if (taken > process.buffers) process.buffers = taken;
    }
    const int have = process.buffers;
    pthread_mutex_unlock(&process.lock);
    if (have >= need) return HF_OK;
    return hfi_fail(ctx, HF_ERR_MEMORY,
                    "out of memory: BLAS needs %d MB of address space for each of %d threads, and there is "
                    "room for %d of them; allow more (ulimit -v) or use fewer threads",
                    BUFFER_MEGABYTES, need, have);
}
