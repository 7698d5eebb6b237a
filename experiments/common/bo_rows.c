/* SPDX-License-Identifier: Apache-2.0 */
#include "common/bo_functions.h"

#include <math.h>

/* Parts of a row; the numbers of a shape are those of inputs, objectives and constraints. */
#define PROBLEM(NAME, ABOUT)              .name = (NAME), .about = (ABOUT)
#define SHAPE(D, OBJECTIVES, CONSTRAINTS) .d = (D), .objectives = (OBJECTIVES), .constraints = (CONSTRAINTS)
#define BOX(LOWER, UPPER)                 .lower = (LOWER), .upper = (UPPER)
#define RUN(EVALUATIONS, STARTS)          .evaluations = (EVALUATIONS), .starts = (STARTS)
#define PROVED(BEST)                      .best = (BEST), .proved = true
#define FOUND(BEST)                       .best = (BEST)
#define SPREAD(POINTS, ...)               .spread_points = (POINTS), .sd = {__VA_ARGS__}

static const bo_row rows[] = {
    {PROBLEM("branin", "Branin, three equal maxima"), SHAPE(2, 1, 0), .parameters = bo_branin_space,
     RUN(100, 6), PROVED(-0.39788735772973816), SPREAD(4096, 50.536074005089695), .evaluate = bo_branin},
    {PROBLEM("hartmann3", "Hartmann in three dimensions"), SHAPE(3, 1, 0), BOX(0.0, 1.0), RUN(100, 8),
     PROVED(3.862779787332663), SPREAD(4096, 0.94605775463968289), .evaluate = bo_hartmann3},
    {PROBLEM("hartmann6", "Hartmann in six dimensions"), SHAPE(6, 1, 0), BOX(0.0, 1.0), RUN(150, 14),
     PROVED(3.322368011415515), SPREAD(4096, 0.38328221778651994), .evaluate = bo_hartmann6},
    {PROBLEM("michalewicz5", "Michalewicz in five dimensions, steep valleys"), SHAPE(5, 1, 0),
     BOX(0.0, 3.14159265358979323846), RUN(200, 12), PROVED(4.687658179088152),
     SPREAD(4096, 0.51182809252272332), .evaluate = bo_michalewicz},
    {PROBLEM("ackley10", "Ackley in ten dimensions, [-5, 10] so that no middle is the maximum"),
     SHAPE(10, 1, 0), BOX(-5.0, 10.0), RUN(200, 22), PROVED(0.0), SPREAD(4096, 1.3606171503653746),
     .evaluate = bo_ackley},
    {PROBLEM("levy20", "Levy in twenty dimensions, [-5, 10]"), SHAPE(20, 1, 0), BOX(-5.0, 10.0), RUN(200, 42),
     PROVED(0.0), SPREAD(4096, 51.919230627767718), .evaluate = bo_levy},
    {PROBLEM("rosenbrock8", "Rosenbrock in eight dimensions, a long valley"), SHAPE(8, 1, 0), BOX(-5.0, 10.0),
     RUN(200, 18), PROVED(0.0), SPREAD(4096, 553245.48102103593), .evaluate = bo_rosenbrock},
    {PROBLEM("mixed-branin", "Branin with an integer and a category of three"), SHAPE(3, 1, 0),
     .parameters = bo_mixed_branin_space, RUN(150, 8), PROVED(-0.4939805326401636),
     SPREAD(4096, 50.122494034985948), .evaluate = bo_mixed_branin},
    {PROBLEM("two-choices", "two categories choose which two functions of two numbers are added"),
     SHAPE(4, 1, 0), .parameters = bo_two_choices_space, RUN(150, 10), PROVED(0.20632569069797552),
     SPREAD(4096, 2.8105805525629162), .evaluate = bo_two_choices},
    {PROBLEM("mixed-ackley",
             "Ackley of three numbers, two integers and two categories of five levels in no order"),
     SHAPE(7, 1, 0), .parameters = bo_mixed_ackley_space, RUN(150, 16), PROVED(0.0),
     SPREAD(4096, 1.7298061950227011), .evaluate = bo_mixed_ackley},
    {PROBLEM("tuning",
             "the made-up error of a trained network: two log scales, an integer, a number, a category"),
     SHAPE(5, 1, 0), .parameters = bo_tuning_space, RUN(150, 12), PROVED(-0.09516258196404043),
     SPREAD(4096, 0.173234485243978), .evaluate = bo_tuning},
    {PROBLEM("lander", "a lander's controller of twelve numbers, mean reward over 50 terrains"),
     SHAPE(12, 1, 0), BOX(0.0, 2.0), RUN(500, 50), FOUND(313.877), SPREAD(512, 46.887229509683934),
     .evaluate = bo_lander},
    {PROBLEM("rover", "the way of a rover between obstacles, thirty steps"), SHAPE(60, 1, 0),
     BOX(-1.0 / 30.0, 1.0 / 15.0), RUN(1000, 200), FOUND(4.9356), SPREAD(4096, 22.023420108239929),
     .evaluate = bo_rover},
    {PROBLEM("lasso-dna", "180 penalties of a lasso, minus the error of its cross-validation"),
     SHAPE(180, 1, 0), BOX(-1.0, 1.0), RUN(1000, 250), FOUND(-0.2815), SPREAD(512, 0.038946085117011198),
     .evaluate = bo_dna, .file = "libsvm_dna/dna_train.csv", .open = bo_dna_open, .close = bo_dna_close},
    {PROBLEM("branin-disc", "Branin inside a disc"), SHAPE(2, 1, 1), .parameters = bo_branin_space,
     RUN(60, 6), PROVED(-0.39788735772973816), SPREAD(4096, 51.193076653075551), .evaluate = bo_branin_disc},
    {PROBLEM("gardner", "waves under a constraint of waves"), SHAPE(2, 1, 1), BOX(0.0, 6.0), RUN(60, 6),
     PROVED(2.0), SPREAD(4096, 0.86087782810630353), .evaluate = bo_gardner},
    {PROBLEM("branin-currin", "Branin against Currin"), SHAPE(2, 2, 0), BOX(0.0, 1.0), RUN(60, 6),
     FOUND(59.36011874867746), .reference = {-18.0, -6.0},
     SPREAD(4096, 51.543896138940504, 2.6555926592676276), .evaluate = bo_branin_currin},
    {PROBLEM("zdt1", "ZDT1 in six dimensions, a front bent inwards"), SHAPE(6, 2, 0), BOX(0.0, 1.0),
     RUN(100, 14), PROVED(1.21 - 1.0 / 3.0), .reference = {-1.1, -1.1},
     SPREAD(4096, 0.28896571228394741, 1.1399452180778027), .evaluate = bo_zdt1},
    {PROBLEM("dtlz2", "DTLZ2 in six dimensions, a front bent outwards"), SHAPE(6, 2, 0), BOX(0.0, 1.0),
     RUN(100, 14), PROVED(1.21 - 0.78539816339744830962), .reference = {-1.1, -1.1},
     SPREAD(4096, 0.45321143197328706, 0.45479250286980866), .evaluate = bo_dtlz2},
};

const bo_row *bo_rows(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
