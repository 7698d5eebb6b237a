/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of JSON that all verbs print. */
#include "shell/tool.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

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

bool json_add(json_t *object, size_t count, const tool_entry *entries)
{
    bool whole = object != NULL;
    for (size_t k = 0; k < count; k++) {
        if (entries[k].key == NULL)
            json_decref(entries[k].value);
        else
            whole = json_object_set_new(object, entries[k].key, entries[k].value) == 0 && whole;
    }
    return whole;
}

json_t *json_of(size_t count, const tool_entry *entries)
{
    json_t *object = json_object();
    if (json_add(object, count, entries)) return object;
    json_decref(object);
    return NULL;
}

bool json_add_named(json_t *object, const char *name, json_t *value)
{
    char *key = json_escaped(name);
    const bool added = JSON_ADD(object, {key, value}) && key != NULL;
    free(key);
    return added;
}

json_t *json_parameters(const hf_kernel *kernel)
{
    json_t *object = json_object();
    for (size_t i = 0; i < hf_kernel_parameters(kernel); i++) {
        hf_parameter p;
        if (hf_kernel_parameter(kernel, i, &p) >= 0)
            json_object_set_new(object, p.name, json_number(p.value));
    }
    return object;
}

bool json_print(json_t *value)
{
    const bool printed = value != NULL &&
                         json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17)) == 0 &&
                         fputc('\n', stdout) != EOF;
    json_decref(value);
    if (printed || ferror(stdout)) return true; /* session_close() tells what standard output did not take */
    complain("out of memory");
    return false;
}
