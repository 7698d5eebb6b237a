/* SPDX-License-Identifier: Apache-2.0 */
/* See group.h. */
#include "shell/group.h"

#ifdef HF_WITH_MPI

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    PATIENCE = 2 /* seconds in which the first process says what it, too, has to say */
};

static bool started;
static int rank;
static int terminal = -1; /* where messages of the other processes would have gone */
static FILE *said;        /* where they go */

/* Variables that mpirun of Open MPI, MPICH and Slurm set for the processes they start. Without them MPI_Init
 * would only cost time. */
static bool has_company(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_NTASKS"};
    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (getenv(signs[i]) != NULL) return true;
    return false;
}

void group_start(void)
{
    if (!has_company()) return;
    int support = 0;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &support) != MPI_SUCCESS) return;
    started = true;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) return;
    terminal = dup(STDERR_FILENO);
    said = tmpfile();
    if (freopen("/dev/null", "w", stdout) == NULL || said == NULL || dup2(fileno(said), STDERR_FILENO) < 0)
        group_end(1);
}

/* An error of all is the first process's to tell, which then ends the others. A process that is still here has one of
 * its own. */
static void speak(void)
{
    char text[1024];
    if (sleep(PATIENCE) > 0 || said == NULL || terminal < 0) return; /* woken by mpirun, which ends all */
    rewind(said);
    for (size_t count; (count = fread(text, 1, sizeof text, said)) > 0;)
        if (write(terminal, text, count) < 0) return;
}

hf_status group_join(hf_context *ctx)
{
    if (!started) return HF_OK;
    hf_group group;
    const hf_status status = hf_group_mpi(ctx, MPI_Comm_c2f(MPI_COMM_WORLD), &group);
    return status < 0 ? status : hf_context_set_group(ctx, &group);
}

bool group_is_first(void)
{
    return rank == 0;
}

void group_end(int status)
{
    if (!started) return;
    fflush(NULL);
    if (status != 0 && rank > 0) speak();
    if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
    MPI_Finalize();
}

#else

void group_start(void)
{
}

hf_status group_join(hf_context *ctx)
{
    (void)ctx;
    return HF_OK;
}

bool group_is_first(void)
{
    return true;
}

void group_end(int status)
{
    (void)status;
}

#endif
