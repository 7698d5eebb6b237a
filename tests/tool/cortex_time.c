/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions of one prediction by predict.c on an emulated Cortex-M4, with the command of docs/export.md:
 * an instruction takes 1 ns there (-icount shift=0), and the timer counts each 40 ns. */
#define HOLDFAST_DECLARATIONS
#include "predict.c"

#include <stdint.h>
#include <stdio.h>

int main(void)
{
    volatile uint32_t *const timer = (volatile uint32_t *)0xE000E010U; /* control, reload, current */
    predict_real x[predict_INPUTS] = {0};
    predict_result r;
    timer[1] = 0xFFFFFFU;
    timer[2] = 0U;
    timer[0] = 5U;
    const uint32_t before = timer[2];
    const int bad = predict(x, &r);
    const uint32_t after = timer[2];
    printf("%lu instructions%s\n", 40UL * (unsigned long)((before - after) & 0xFFFFFFU),
           bad == 0 ? "" : ", refused");
    return bad;
}
