/* SPDX-License-Identifier: Apache-2.0 */
/* With "overrun" reads one past a block, with "leak" loses one: AddressSanitizer and LeakSanitizer must tell.
 * Without an argument there is nothing to tell. */
#include <stdlib.h>
#include <string.h>

/* Not inlined, so that no register or stack slot of main keeps the address. */
__attribute__((noinline)) static int lose(void)
{
    char *volatile block = calloc(100, 1);
    int value = block != NULL ? block[0] : 0;
    block = NULL;
    return value;
}

int main(int argc, char **argv)
{
    const char *fault = argc > 1 ? argv[1] : "";
    volatile size_t index = strcmp(fault, "overrun") == 0 ? 4 : 3;
    char *volatile block = calloc(4, 1); /* volatile: the compiler must not know how long it is */
    if (block == NULL) return 0;
    int value = block[index];
    free(block);
    if (strcmp(fault, "leak") == 0) {
        for (int i = 0; i < 10; i++) value += lose();
    }
    return value;
}
