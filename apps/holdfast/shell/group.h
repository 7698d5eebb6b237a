/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes of the tool at one fit (mpirun -n 4 holdfast fit ...), in builds with MPI; else
 * there is always one. */
#ifndef TOOL_GROUP_H
#define TOOL_GROUP_H

#include <holdfast/holdfast.h>

/* Starts MPI where this process was started by it. The first process talks and writes, the others
 * are silent. */
void group_start(void);
/* Makes the context one of the group; nothing where there is one process. */
hf_status group_join(hf_context *ctx);
bool group_is_first(void);
/* Before the process ends: a failure of one process ends all, so that none waits for ever. Its
 * message is heard unless the first one has failed as well. */
void group_end(int status);

#endif
