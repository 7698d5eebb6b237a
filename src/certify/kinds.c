/* SPDX-License-Identifier: Apache-2.0 */
#include "certify/bound.h"
#include "certify/decomposition_bound.h"

const hfi_bound_kind *const hfi_bound_kinds[] = {&hfi_bound_decomposition, NULL};
