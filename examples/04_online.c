/* SPDX-License-Identifier: Apache-2.0 */
/* Readings that come one by one: each is added in O(n^2), the oldest is dropped, and a check says when
 * rounding has piled up.
 *
 * The readings follow a tide. Before a reading is let in it is compared with what is expected there: one that
 * is impossible is left out. */
#include <holdfast/holdfast.h>
#include <math.h>
#include <stdio.h>

enum {
    WINDOW = 48,
    STEPS = 200
};

static double tide(double hour)
{
    return 2.0 * sin(hour * 0.506) + 0.4 * sin(hour * 0.262);
}

/* The gauge: good to 5 cm, stuck at 9 m now and then. */
static double gauge(int step)
{
    return step % 23 == 11 ? 9.0 : tide(0.5 * step) + 0.05 * sin(797.0 * step);
}

static hf_status start(hf_context *ctx, hf_posterior **model)
{
    double hour[WINDOW], level[WINDOW];
    for (int i = 0; i < WINDOW; i++) {
        hour[i] = 0.5 * i;
        level[i] = gauge(i);
    }
    const hf_data data = {.n = WINDOW, .d = 1, .x = hour, .ldx = 1, .y = level};
    hf_fit_settings settings = hf_fit_settings_default();
    return hf_fit_data(ctx, &data, &settings, model, NULL, NULL);
}

int main(void)
{
    hf_context *ctx = hf_context_create();
    hf_posterior *model = NULL;
    double error = 0.0, backward = 0.0;
    size_t refused = 0, refreshed = 0;

    hf_status s = start(ctx, &model);
    for (int i = WINDOW; i < STEPS && s >= 0; i++) {
        double hour = 0.5 * i, level = gauge(i), mean, latent, observed;
        s = hf_predict(ctx, model, 1, &hour, 1, &mean, &latent, &observed);
        if (s < 0) break;
        error = fmax(error, fabs(mean - tide(hour)));
        if (fabs(level - mean) > 6.0 * sqrt(observed)) {
            refused++;
            continue;
        }
        s = hf_posterior_add(ctx, model, &hour, level, hf_posterior_noise(model));
        if (s >= 0) s = hf_posterior_remove(ctx, model, 0);
        if (s >= 0) s = hf_posterior_backward_error(ctx, model, &backward);
        if (s == HF_WARN_DRIFT) {
            s = hf_posterior_refresh(ctx, model);
            refreshed++;
        }
    }
    if (s >= 0)
        printf("%d readings one by one, %zu refused; largest error of the forecast %.3f m\n"
               "backward error after all updates %.1e, refreshed %zu times, %zu readings held\n",
               STEPS - WINDOW, refused, error, backward, refreshed, hf_posterior_anchors(model));
    if (s < 0) fprintf(stderr, "%s: %s\n", hf_status_name(s), hf_context_message(ctx));

    hf_posterior_free(model);
    hf_context_free(ctx);
    return s < 0;
}
