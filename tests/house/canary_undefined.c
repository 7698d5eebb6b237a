/* SPDX-License-Identifier: Apache-2.0 */
/* Overflows a signed integer, or with "offset" adds to a null pointer, when it is given an argument:
 * UndefinedBehaviorSanitizer must stop it. */
#include <limits.h>
#include <stddef.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "offset") == 0) {
        double *volatile nothing = NULL;
        double *volatile beyond = nothing + argc;
        return beyond == NULL;
    }
    volatile int value = argc > 1 ? INT_MAX : 0;
    value = value + 1;
    return 0;
}
