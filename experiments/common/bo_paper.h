/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bo_paper.h
 * @brief Optimisation as in section 7.3 and Figures 4, S1 and S2 of "Robust and Computation-Aware
 * Gaussian Processes" (2025): runs, tables and curves. The programs differ in what they run when
 * nothing is asked.
 *
 * A run begins with N uniform places (250 printed), then asks for one place after the other. A
 * reading is wrong with probability 0.25 and then larger by 1 to 2 sd. Readings are taken in units
 * of the mean and sd of the first N told. The model sees as many readings as there were at the
 * start: the first nine tenths and the last tenth of all. The reported values are clean: the
 * largest one so far, and that at the reading with the largest posterior mean.
 */
#ifndef EXPERIMENTS_BO_PAPER_H
#define EXPERIMENTS_BO_PAPER_H

#include <stdbool.h>

#include "common/bo_problem.h"
#include "common/env_rows.h"
#include "common/words.h"

enum {
    BO_TENTHS_SHOWN = 11, /**< no evaluation after the start, a tenth of them, ... */
    BO_COLUMNS = 2 * BO_TENTHS_SHOWN + 1,
    BO_NAME = 96 /**< characters of a run's name */
};

/** The figure of a program, and the lists that it runs by itself. */
typedef struct bo_title {
    const char *program, *figure;
    const char *problems, *questions, *wrong; /**< lists */
    const char *models;                       /**< a list; NULL: the four */
} bo_title;

/** The request: problems, models, questions and sizes. */
typedef struct bo_plan {
    const bo_title *title;
    const char *data, *json, *stem;
    words problems, models, questions, wrong;
    long first, last, initial, evaluations, epochs;
    bool all, high, mean, report;
    env_rows rows;
} bo_plan;

/** One panel of the figure. */
typedef struct bo_panel {
    const char *problem, *question, *wrong;
} bo_panel;

/* ---- names and panels (bo_plan.c) ------------------------------------------------------------ */

/** The name of a run among the rows. */
void bo_plan_name(const bo_plan *p, const bo_panel *panel, const char *model, long seed,
                  char name[BO_NAME]);
/** The panels: problems, of each the questions, of each the shares. How many; at most `most` are
 * written. */
size_t bo_plan_panels(const bo_plan *p, size_t most, bo_panel *panels);

/* ---- the program (bo_paper.c, bo_paper_report.c) --------------------------------------------- */

/** Columns of a row: the largest clean value after k tenths, that at the largest posterior mean,
 * seconds a step. */
const char *const *bo_paper_columns(void);

/** Prints a table in Markdown for each panel. */
void bo_paper_print(const bo_plan *p);
/** Draws STEM.svg and STEM.png: mean and sd of the largest clean value. */
bool bo_paper_draw(const bo_plan *p);

/** The whole program; its exit status. */
int bo_paper_main(int argc, char **argv, const bo_title *title);

#endif
