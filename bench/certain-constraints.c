/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file certain-constraints.c
 * @brief A long attack on studies whose constraint must never be broken: random functions of a known norm, told with
 * the worst noise that is allowed.
 *
 *     certain-constraints [--places N] [--asked N] [--rounds R] [--seed S] [--functions M] [--weaken W]
 *
 * Each function has a study of its own. Six times it is asked for two trials (hf_study_ask()), which are told; each
 * time 1600 further places are held against the envelopes by which it decides. They lie everywhere and where the truth
 * is nearest to the limit (in R rounds of 400; 0: only what is asked counts). Ends when so many places were admitted
 * (default 1e5) or asked (default: no limit), whichever comes first, or after M functions of each kernel. The exit
 * status is 1 at a violation. --weaken divides the norm bound that the study is told: above 1 violations must come.
 */
#include "../tests/study/certain.h"
#include "common/bench.h"

enum {
    STEPS = 6
};

typedef struct plan {
    size_t places, asked, functions, rounds;
    uint64_t seed;
    double weaken;
} plan;

static plan read_plan(int argc, char **argv)
{
    plan p = {.places = 100000, .asked = SIZE_MAX, .rounds = CERTAIN_ROUNDS, .seed = 1, .weaken = 1.0};
    for (int i = 1; i < argc; i += 2) {
        char *end = NULL;
        const double value = i + 1 < argc ? strtod(argv[i + 1], &end) : -1.0;
        const bool number = end && *end == '\0' && value >= 0.0 && value < 1e15;
        if (number && strcmp(argv[i], "--places") == 0)
            p.places = (size_t)value;
        else if (number && strcmp(argv[i], "--asked") == 0)
            p.asked = (size_t)value;
        else if (number && strcmp(argv[i], "--rounds") == 0)
            p.rounds = (size_t)value;
        else if (number && strcmp(argv[i], "--functions") == 0)
            p.functions = (size_t)value;
        else if (number && strcmp(argv[i], "--seed") == 0)
            p.seed = (uint64_t)value;
        else if (number && value > 0.0 && strcmp(argv[i], "--weaken") == 0)
            p.weaken = value;
        else {
            fprintf(
                stderr,
                "usage: %s [--places N] [--asked N] [--rounds R] [--seed S] [--functions M] [--weaken W]\n",
                argv[0]);
            exit(2);
        }
    }
    return p;
}

static void report(const certain_tally *t)
{
    puts("| kernel | functions | stuck | asked | admitted | looked at | least room, norms | violations |\n"
         "|---|---|---|---|---|---|---|---|");
    for (size_t k = 0; k < CERTAIN_KERNELS; k++)
        printf("| %s | %zu | %zu | %zu | %zu | %zu | %.2g | %zu |\n", certain_kernels[k], t[k].worlds,
               t[k].stuck, t[k].asked, t[k].admitted, t[k].looked, t[k].nearest, t[k].violations);
}

int main(int argc, char **argv)
{
    const plan p = read_plan(argc, argv);
    hf_context *ctx = hf_context_create();
    certain_tally t[CERTAIN_KERNELS];
    size_t admitted = 0, asked = 0, bad = 0;
    if (!ctx || hf_context_set_threads(ctx, 1) < 0) return 2;
    for (size_t k = 0; k < CERTAIN_KERNELS; k++) t[k] = (certain_tally){.nearest = INFINITY};
    const double start = bench_processor();
    for (uint64_t f = 0; admitted < p.places && asked < p.asked && (p.functions == 0 || f < p.functions);
         f++) {
        admitted = asked = bad = 0;
        for (size_t k = 0; k < CERTAIN_KERNELS; k++) {
            const hf_status s = certain_attack(ctx, p.seed + f, k, STEPS, p.rounds, p.weaken, &t[k]);
            /* With a norm bound that does not hold the readings may say so. */
            if (!(p.weaken > 1.0 && s == HF_ERR_INCONSISTENT)) bench_must(ctx, s, "attack");
            admitted += t[k].admitted;
            asked += t[k].asked;
            bad += t[k].violations;
        }
    }
    report(t);
    printf("\n%zu places asked, %zu admitted, %zu violations, %.0f s of the processor\n", asked, admitted,
           bad, bench_processor() - start);
    hf_context_free(ctx);
    return bad > 0;
}
