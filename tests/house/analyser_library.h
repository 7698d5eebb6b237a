/* SPDX-License-Identifier: Apache-2.0 */
/* Put in front of each file of the library for clang-tidy only. The analyser sees one file at a
 * time, so it cannot know that hfi_fail() returns the status it is given. It would follow paths on
 * which an error is taken for success. */
#ifndef HFI_TESTS_HOUSE_ANALYSER_LIBRARY_H
#define HFI_TESTS_HOUSE_ANALYSER_LIBRARY_H

#include "core/core.h"

#define hfi_fail(ctx, status, ...) ((void)hfi_fail((ctx), (status), __VA_ARGS__), (status))
#define hfi_refuse(ctx, ...)       ((void)hfi_refuse((ctx), __VA_ARGS__), HF_ERR_ARGUMENT)
#define hfi_out_of_memory(ctx)     ((void)hfi_out_of_memory(ctx), HF_ERR_MEMORY)
#define hfi_cancelled(ctx)         ((void)hfi_cancelled(ctx), HF_ERR_CANCELLED)
/* An error of one's own stays one. */
#define hfi_group_agree(ctx, status) ((status) < 0 ? (status) : hfi_group_agree((ctx), (status)))
/* A place to put the answer that is NULL is an error. */
#define hfi_choice_parse(ctx, what, names, count, name, index)                                     \
    ((index) == NULL ? HF_ERR_ARGUMENT                                                             \
                     : hfi_choice_parse((ctx), (what), (names), (count), (name), (index)))

#endif
