/* SPDX-License-Identifier: Apache-2.0 */
/* The processes of an MPI communicator as a group. */
#include "core/context_impl.h"

#ifdef HF_WITH_MPI

#include <mpi.h>
#include <stdint.h>

/* MPI counts in int. */
enum {
    PART = 1 << 27
};

/* Reduced in one process and sent to all, so that no process can have other digits than another. */
static bool sum_all(size_t count, double *values, void *user)
{
    MPI_Comm communicator = MPI_Comm_f2c((MPI_Fint)(intptr_t)user);
    int rank = 0;
    bool good = MPI_Comm_rank(communicator, &rank) == MPI_SUCCESS;
    for (size_t begin = 0; good && begin < count; begin += PART) {
        const int part = count - begin < PART ? (int)(count - begin) : PART;
        const void *from = rank == 0 ? MPI_IN_PLACE : (const void *)(values + begin);
        good = MPI_Reduce(from, values + begin, part, MPI_DOUBLE, MPI_SUM, 0, communicator) == MPI_SUCCESS &&
               MPI_Bcast(values + begin, part, MPI_DOUBLE, 0, communicator) == MPI_SUCCESS;
    }
    return good;
}

hf_status hf_group_mpi(hf_context *ctx, int communicator, hf_group *out)
{
    int running = 0, ended = 0, rank = 0, size = 0;
    if (out == NULL) return hfi_refuse(ctx, "hf_group_mpi: out is NULL");
    MPI_Initialized(&running);
    if (running) MPI_Finalized(&ended);
    if (!running || ended)
        return hfi_refuse(ctx, "hf_group_mpi: MPI %s",
                          ended ? "has been finalised" : "has not been initialised");
    MPI_Comm handle = MPI_Comm_f2c(communicator);
    if (handle == MPI_COMM_NULL || MPI_Comm_rank(handle, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(handle, &size) != MPI_SUCCESS)
        return hfi_refuse(ctx, "hf_group_mpi: %d is no communicator", communicator);
    *out = (hf_group){
        .rank = (size_t)rank, .size = (size_t)size, .sum = sum_all, .user = (void *)(intptr_t)communicator};
    return HF_OK;
}

bool hfi_group_communicator(const hf_context *ctx, int *communicator)
{
    if (hfi_group_size(ctx) == 1 || ctx->group.sum != sum_all) return false;
    *communicator = (int)(intptr_t)ctx->group.user;
    return true;
}

#else

bool hfi_group_communicator(const hf_context *ctx, int *communicator)
{
    (void)ctx;
    (void)communicator;
    return false;
}

hf_status hf_group_mpi(hf_context *ctx, int communicator, hf_group *out)
{
    (void)communicator;
    (void)out;
    return hfi_refuse(
        ctx, "this library was built without MPI; configure with -DHF_MPI=ON to fit with several processes");
}

#endif
