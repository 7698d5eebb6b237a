/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of the statuses, both made from the one list in the header. */
#include <holdfast/status.h>

const char *hf_status_name(hf_status status)
{
#define STATUS_NAME(name, value, text)                                                                       \
    case name:                                                                                               \
        return #name;
    switch (status) {
        HF_STATUS_LIST(STATUS_NAME)
    }
#undef STATUS_NAME
    return "HF_UNKNOWN_STATUS";
}

const char *hf_status_text(hf_status status)
{
#define STATUS_TEXT(name, value, text)                                                                       \
    case name:                                                                                               \
        return text;
    switch (status) {
        HF_STATUS_LIST(STATUS_TEXT)
    }
#undef STATUS_TEXT
    return "not a status of this library";
}
