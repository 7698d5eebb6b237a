/* SPDX-License-Identifier: Apache-2.0 */
/* Start of a program on a Cortex-M of QEMU's machines mps2-*: the table of exceptions, the floating-point
 * unit, and newlib's own start, which goes to main(). Output goes through semihosting. */
extern void _mainCRTStartup(void);
extern unsigned long stack_top;
void begin(void);
void stop(void);

void stop(void)
{
    for (;;) {
    }
}

void begin(void)
{
    /* Coprocessors 10 and 11 for everybody (CPACR). */
    *(volatile unsigned long *)0xE000ED88UL |= 0xFUL << 20;
    __asm volatile("dsb\n\tisb");
    _mainCRTStartup();
    stop();
}

__attribute__((section(".exceptions"), used)) static const void *const exceptions[16] = {&stack_top,
                                                                                         (const void *)begin,
                                                                                         (const void *)stop,
                                                                                         (const void *)stop,
                                                                                         (const void *)stop,
                                                                                         (const void *)stop,
                                                                                         (const void *)stop,
                                                                                         0,
                                                                                         0,
                                                                                         0,
                                                                                         0,
                                                                                         (const void *)stop,
                                                                                         (const void *)stop,
                                                                                         0,
                                                                                         (const void *)stop,
                                                                                         (const void *)stop};
