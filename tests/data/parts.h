/* SPDX-License-Identifier: Apache-2.0 */
/* Content of a table that is read in parts, to compare it. */
#ifndef PARTS_H
#define PARTS_H

#include "data/csv_stream.h"
#include "data/support.h"

/* All parts as one text: fields by their bytes, and the line of each record. */
typedef struct collected {
    char text[1 << 16];
    size_t used, parts, rows;
} collected;

static inline hf_status collect(hf_context *ctx, void *arg, const hf_table *part)
{
    collected *c = arg;
    char buffer[32];
    (void)ctx;
    c->parts++;
    for (size_t i = 0; i < hf_table_rows(part); i++) {
        c->rows++;
        c->used += (size_t)snprintf(c->text + c->used, sizeof c->text - c->used,
                                    "%zu:", hf_table_line(part, i));
        for (size_t j = 0; j < hf_table_columns(part); j++)
            c->used += (size_t)snprintf(c->text + c->used, sizeof c->text - c->used, "[%s]",
                                        hf_table_field(part, i, j, buffer));
    }
    return HF_OK;
}

#endif
