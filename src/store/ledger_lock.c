/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* flock */
/* Locks of ledgers, and what keeps a process from losing those of SQLite: a descriptor that was opened for
 * flock() is closed when nothing in this process has the file open any more. Until then the next one that
 * needs a lock of the file takes it over. */
#include "store/ledger.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SHORTEST = 1000000, /* nanoseconds between two tries, */
    LONGEST = 20000000  /* and when many have failed */
};

/* A descriptor of its own: flock() keeps the users of two descriptors apart, also in one process. */
typedef struct hfi_guard_lock {
    struct hfi_guard_lock *next;
    int descriptor;
    bool used;
} guard_lock;

/* A file that is open in a process. After fork() the child has its parent's list too, whose descriptors
 * are not its own: what it locks or unlocks through them, it does to its parent. */
typedef struct hfi_guarded {
    struct hfi_guarded *next;
    pid_t process;
    dev_t device;
    ino_t inode;
    size_t users;
    guard_lock *locks;
} guarded;

/* The process has one list, as SQLite has of its files: locks are the process's. */
static struct {
    pthread_mutex_t lock;
    guarded *files;
} process = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The file with these numbers, a new one if need be. */
static guarded *find_guarded_file(const struct stat *about)
{
    for (guarded *f = process.files; f != NULL; f = f->next)
        if (f->process == getpid() && f->device == about->st_dev && f->inode == about->st_ino) return f;
    guarded *f = sqlite3_malloc(sizeof *f);
    if (f == NULL) return NULL;
    *f = (guarded){
        .next = process.files, .process = getpid(), .device = about->st_dev, .inode = about->st_ino};
    process.files = f;
    return f;
}

static void forget(guarded *file)
{
    guarded **at = &process.files;
    while (*at != file) at = &(*at)->next;
    *at = file->next;
    for (guard_lock *lock = file->locks, *next; lock != NULL; lock = next) {
        next = lock->next;
        close(lock->descriptor);
        sqlite3_free(lock);
    }
    sqlite3_free(file);
}

static guard_lock *unused_lock(const guarded *file)
{
    guard_lock *lock = file->locks;
    while (lock != NULL && lock->used) lock = lock->next;
    return lock;
}

/* errno, or 0. */
static int add_lock(guarded *file, const char *path, guard_lock **out)
{
    struct stat about;
    guard_lock *lock = sqlite3_malloc(sizeof *lock);
    if (lock == NULL) return ENOMEM;
    *lock = (guard_lock){.descriptor = open(path, O_RDWR | O_CLOEXEC)};
    int error = lock->descriptor < 0 ? errno : 0;
    if (error == 0 && fstat(lock->descriptor, &about) != 0) error = errno;
    /* Replaced a moment ago: what is locked would not be what is written. */
    if (error == 0 && (about.st_dev != file->device || about.st_ino != file->inode)) error = EAGAIN;
    if (error != 0) {
        if (lock->descriptor >= 0) close(lock->descriptor);
        sqlite3_free(lock);
        return error;
    }
    lock->next = file->locks;
    file->locks = lock;
    *out = lock;
    return 0;
}

static int enter(const char *path, bool lock, hfi_file_guard *guard)
{
    struct stat about;
    if (stat(path, &about) != 0) return errno;
    guarded *file = find_guarded_file(&about);
    if (file == NULL) return ENOMEM;
    guard_lock *own = lock ? unused_lock(file) : NULL;
    const int error = lock && own == NULL ? add_lock(file, path, &own) : 0;
    if (error == 0) {
        file->users++;
        if (own != NULL) own->used = true;
        *guard = (hfi_file_guard){.file = file, .lock = own};
    } else if (file->users == 0) {
        forget(file);
    }
    return error;
}

int hfi_guard_enter(const char *path, bool lock, hfi_file_guard *guard)
{
    pthread_mutex_lock(&process.lock);
    const int error = enter(path, lock, guard);
    pthread_mutex_unlock(&process.lock);
    return error;
}

void hfi_guard_leave(hfi_file_guard *guard)
{
    if (guard->file == NULL) return;
    hfi_guard_unlock(guard);
    pthread_mutex_lock(&process.lock);
    const bool own = guard->file->process == getpid();
    if (own && guard->lock != NULL) guard->lock->used = false;
    if (own && --guard->file->users == 0) forget(guard->file);
    pthread_mutex_unlock(&process.lock);
    *guard = (hfi_file_guard){0};
}

static void wait_for(long nanoseconds)
{
    const struct timespec time = {.tv_nsec = nanoseconds};
    (void)nanosleep(&time, NULL);
}

hf_status hfi_guard_lock(hf_context *ctx, hfi_file_guard *guard, double seconds)
{
    const double since = hfi_now();
    long pause = SHORTEST;
    guard->error = 0;
    while (flock(guard->lock->descriptor, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) guard->error = errno;
        const double waited = hfi_now() - since;
        if (guard->error != 0 || !(waited < seconds)) return HF_ERR_IO;
        if (ctx != NULL && !hfi_progress(ctx, "wait", fmin(waited / seconds, 1.0), NAN))
            return hfi_cancelled(ctx);
        wait_for(pause);
        pause = pause < LONGEST / 2 ? 2 * pause : LONGEST;
    }
    guard->locked = true;
    return HF_OK;
}

void hfi_guard_unlock(hfi_file_guard *guard)
{
    if (guard->locked && guard->file->process == getpid()) (void)flock(guard->lock->descriptor, LOCK_UN);
    guard->locked = false;
}
