/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the solvers' choices. */
#include "core/core.h"
#include <holdfast/solver.h>

static const char *const solvers[] = {"auto", "exact", "inducing", "projected"};
static const char *const methods[] = {"vfe", "fitc", "dtc"};
static const char *const choices[] = {"greedy", "kmeans", "mdpp", "first"};
static const char *const actions_names[] = {"krylov", "inducing", "blocks", "given"};
static const char *const blocks_names[] = {"contiguous", "clustered"};
static const char *const starts[] = {"random", "targets", "eigen", "precision"};

#define COUNT(list) (sizeof(list) / sizeof *(list))

hf_status hf_solver_parse(hf_context *ctx, const char *name, hf_solver *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "solver", solvers, COUNT(solvers), name, out ? &index : NULL);
    if (s >= 0) *out = (hf_solver)index;
    return s;
}

const char *hf_solver_name(hf_solver solver)
{
    return hfi_choice_name(solvers, COUNT(solvers), (size_t)solver);
}

hf_status hf_inducing_method_parse(hf_context *ctx, const char *name, hf_inducing_method *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "inducing method", methods, COUNT(methods), name, out ? &index : NULL);
    if (s >= 0) *out = (hf_inducing_method)index;
    return s;
}

const char *hf_inducing_method_name(hf_inducing_method method)
{
    return hfi_choice_name(methods, COUNT(methods), (size_t)method);
}

hf_status hf_inducing_choice_parse(hf_context *ctx, const char *name, hf_inducing_choice *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "choice of inducing inputs", choices, COUNT(choices), name,
                                         out ? &index : NULL);
    if (s >= 0) *out = (hf_inducing_choice)index;
    return s;
}

const char *hf_inducing_choice_name(hf_inducing_choice choice)
{
    return hfi_choice_name(choices, COUNT(choices), (size_t)choice);
}

hf_status hf_actions_parse(hf_context *ctx, const char *name, hf_actions *out)
{
    size_t index = 0;
    const hf_status s = hfi_choice_parse(ctx, "kind of actions", actions_names, COUNT(actions_names), name,
                                         out ? &index : NULL);
    if (s >= 0) *out = (hf_actions)index;
    return s;
}

const char *hf_actions_name(hf_actions actions)
{
    return hfi_choice_name(actions_names, COUNT(actions_names), (size_t)actions);
}

hf_status hf_blocks_parse(hf_context *ctx, const char *name, hf_blocks *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "kind of blocks", blocks_names, COUNT(blocks_names), name, out ? &index : NULL);
    if (s >= 0) *out = (hf_blocks)index;
    return s;
}

const char *hf_blocks_name(hf_blocks blocks)
{
    return hfi_choice_name(blocks_names, COUNT(blocks_names), (size_t)blocks);
}

hf_status hf_action_start_parse(hf_context *ctx, const char *name, hf_action_start *out)
{
    size_t index = 0;
    const hf_status s =
        hfi_choice_parse(ctx, "start of the actions", starts, COUNT(starts), name, out ? &index : NULL);
    if (s >= 0) *out = (hf_action_start)index;
    return s;
}

const char *hf_action_start_name(hf_action_start start)
{
    return hfi_choice_name(starts, COUNT(starts), (size_t)start);
}
