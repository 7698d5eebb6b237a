/* SPDX-License-Identifier: Apache-2.0 */
#include "certify/bound.h"

const hfi_bound_kind *const hfi_bound_kinds[] = {NULL};
