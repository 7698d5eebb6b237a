/* SPDX-License-Identifier: Apache-2.0 */
/* The table of likelihoods. */
#include "sites/likelihood.h"
#include <math.h>
#include <string.h>

#define ROW(id, symbol, name, help) &hfi_likelihood_##symbol,
static const hfi_likelihood *const rows[] = {HF_LIKELIHOOD_LIST(ROW)};
#undef ROW

enum {
    ROWS = sizeof rows / sizeof rows[0]
};

const hfi_likelihood *hfi_likelihood_named(const char *name)
{
    for (size_t k = 0; name && k < ROWS; k++)
        if (strcmp(rows[k]->name, name) == 0) return rows[k];
    return NULL;
}

/* Up to here doubles hold every whole number. */
static const double largest_count = 9007199254740992.0;

bool hfi_likelihood_allows(const hfi_likelihood *likelihood, double y)
{
    return likelihood->whole ? y >= 0.0 && y <= largest_count && floor(y) == y : y > 0.0 && isfinite(y);
}

void hfi_likelihood_place(const hfi_likelihood *likelihood, hfi_seen *seen)
{
    seen->constant = seen->constant_slope = seen->constant_shape = 0.0;
    seen->log_y = seen->y > 0.0 ? log(seen->y) : 0.0;
    if (likelihood->place) likelihood->place(seen);
}

hfi_likelihood_slopes hfi_likelihood_density(const hfi_likelihood *likelihood, const hfi_seen *seen, double f)
{
    hfi_likelihood_slopes at;
    likelihood->slopes(seen, f + seen->shift, &at);
    at.value += seen->constant;
    at.d += seen->constant_slope;
    at.n += seen->constant_shape;
    return at;
}
