/* SPDX-License-Identifier: Apache-2.0 */
/* Overflows a signed integer when it is given an argument: UndefinedBehaviorSanitizer must stop it. */
#include <limits.h>

int main(int argc, char **argv)
{
    (void)argv;
    volatile int value = argc > 1 ? INT_MAX : 0;
    value = value + 1;
    return 0;
}
