/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON that all verbs print. */
#include "shell/tool.h"

#include <inttypes.h>
#include <math.h>

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_count(uint64_t value)
{
    char digits[24];
    if (value <= INT64_MAX) return json_integer((json_int_t)value);
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    return json_string(digits);
}

void json_add_entries(json_t *object, const tool_entry *entries, size_t count)
{
    for (size_t k = 0; k < count; k++) json_object_set_new(object, entries[k].key, entries[k].value);
}

bool json_print(json_t *value)
{
    if (value == NULL) {
        complain("out of memory");
        return false;
    }
    bool written = json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0 &&
                   fputc('\n', stdout) != EOF;
    json_decref(value);
    return written; /* if not, session_close() says why */
}
