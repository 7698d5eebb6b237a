/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one past a block when it is given an argument: AddressSanitizer must stop it, and must not mind it
 * without. */
#include <stdlib.h>

int main(int argc, char **argv)
{
    (void)argv;
    volatile size_t index = argc > 1 ? 4 : 3;
    char *block = calloc(4, 1);
    if (block == NULL) return 0;
    int value = block[index];
    free(block);
    return value;
}
