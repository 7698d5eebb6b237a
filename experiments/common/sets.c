/* SPDX-License-Identifier: Apache-2.0 */
#include "common/sets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct set {
    const char *file; /* below the folder of the data */
    const char *what, *source;
    const char *shipped; /* the same numbers among the data that come with Holdfast */
} set;

#define SCALED(name, inputs)                                                                                 \
    {                                                                                                        \
        name "/" name ".csv",                                                                                \
            "the set \"" name "\" in the scaling of published tables, x1 to x" inputs " and y",              \
            "https://github.com/treforevans/uci_datasets, uci_datasets/" name "/data.csv.gz", NULL           \
    }

/* docs/experiments.md says how to make each file. */
static const set sets[] = {
    {"boston/boston.csv", "prices of houses in Boston", "comes with Holdfast as boston.csv", "boston.csv"},
    {"bed/tables.csv", "145 real tables of regression and their index",
     "comes with Holdfast as bed/tables.csv", "bed/tables.csv"},
    {"digits/digits.csv", "digits 3, 5 and 8 of 8 x 8 pixels", "comes with Holdfast as digits.csv",
     "digits.csv"},
    {"energy/energy.csv", "Energy efficiency, X1 to X8, Y1 and Y2", "https://archive.ics.uci.edu/dataset/242",
     NULL},
    {"yacht/yacht.csv", "Yacht hydrodynamics, six inputs and residuary_resistance",
     "https://archive.ics.uci.edu/dataset/243", NULL},
    {"parkinsons/parkinsons.csv", "Parkinsons, parkinsons.data as it is",
     "https://archive.ics.uci.edu/dataset/174", NULL},
    SCALED("concrete", "8"),
    SCALED("airfoil", "5"),
    SCALED("wine", "11"),
    SCALED("bike", "17"),
    SCALED("elevators", "18"),
    SCALED("pol", "26"),
    SCALED("kin40k", "8"),
    SCALED("protein", "9"),
    {"djia_flash_crash/djia_2013-04-23_open_2min.csv",
     "the Dow Jones index on 23 April 2013, every second minute",
     "https://github.com/maltamiranomontero/RCGP, experiments/data/Flashcrash/DJI.txt", NULL},
    {"gdsc_navitoclax/navitoclax_p12_arh77.csv", "doses of Navitoclax and what two cell lines made of them",
     "https://github.com/joshuarooijakkers/robust_conjugate_MOGP, experiments/cancer_research/navitoclax.csv",
     NULL},
    {"finra_mbs/finra_mbs_2025-09-08_09.csv", "prices of three mortgage-backed securities on two days",
     "https://github.com/joshuarooijakkers/robust_conjugate_MOGP, experiments/finance", NULL},
    {"mo_rcgp_reference/train.csv", "readings, and what the published program computed from them",
     "a run of https://github.com/joshuarooijakkers/robust_conjugate_MOGP with the settings in "
     "docs/experiments.md",
     NULL},
    {"spambase/spambase.csv", "Spambase, 57 inputs and the label last",
     "https://archive.ics.uci.edu/dataset/94", NULL},
    {"mnist_t10k_14x14/mnist38_14x14_sum4.csv", "MNIST's test digits 3 and 8, sums of 2 x 2 pixels",
     "https://github.com/kelas/mnist", NULL},
    {"mnist_t10k_14x14/mnist358_14x14_sum4.csv", "MNIST's test digits 3, 5 and 8, sums of 2 x 2 pixels",
     "https://github.com/kelas/mnist", NULL},
    {"ny_ozone/nysptime.csv", "ozone at 28 stations of New York State in July and August 2006",
     "the R package bmstdr, https://github.com/sujit-sahu/bmstdr, data/nysptime.rda", NULL},
    {"libsvm_dna/dna_train.csv", "pieces of DNA as 180 zeros and ones, and their class as y",
     "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/multiclass.html, dna.scale", NULL},
    {"rkhs_henon_grid_delta1/readings.csv", "the authors' readings of the Henon map",
     "https://github.com/PREDICT-EPFL/opt-rkhs-bounds, ex1/delta_bar_1_grid.mat", NULL},
    {"rkhs_henon_grid_delta1/bounds.csv", "the authors' bounds for them",
     "https://github.com/PREDICT-EPFL/opt-rkhs-bounds, ex1/delta_bar_1_grid.mat", NULL},
};

static const set *known(const char *file)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i)
        if (strcmp(sets[i].file, file) == 0) return &sets[i];
    return NULL;
}

const char *sets_folder(void)
{
    const char *folder = getenv("HOLDFAST_DATA");
    return folder && *folder ? folder : "../shared/data";
}

static bool own_path(char path[SETS_PATH])
{
    const ssize_t length = readlink("/proc/self/exe", path, SETS_PATH - 1);
    path[length < 0 ? 0 : length] = '\0';
    return strrchr(path, '/') != NULL;
}

bool sets_program(char folder[SETS_PATH])
{
    if (!own_path(folder)) return false;
    strrchr(folder, '/')[1] = '\0';
    return true;
}

/* Where it is installed, and from a build folder in the source. */
static bool find_shipped(const char *file, char path[SETS_PATH])
{
    static const char *const places[] = {HF_EXPERIMENTS_TO_DATA, "../../data"};
    char folder[SETS_PATH];
    if (!sets_program(folder)) return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
        const int length = snprintf(path, SETS_PATH, "%s%s/%s", folder, places[i], file);
        if (length > 0 && length < SETS_PATH && access(path, R_OK) == 0) return true;
    }
    return false;
}

bool sets_find(const char *folder, const char *file, char path[SETS_PATH])
{
    const set *s = known(file);
    snprintf(path, SETS_PATH, "%s/%s", folder, file);
    if (access(path, R_OK) == 0) return true;
    if (s && s->shipped && find_shipped(s->shipped, path)) return true;
    snprintf(path, SETS_PATH, "%s/%s", folder, file);
    return false;
}

void sets_explain(const char *folder, const char *file, const char *outcome)
{
    static const char prefix[] = "hf-reproduce-";
    const set *s = known(file);
    char program[SETS_PATH];
    const char *name = own_path(program) ? strrchr(program, '/') + 1 : "experiment";
    if (strncmp(name, prefix, sizeof prefix - 1) == 0) name += sizeof prefix - 1;
    fprintf(stderr, "%s: %s/%s is not there: give the folder of the data with --data DIR (%s)\n", name,
            folder, file, outcome);
    if (s)
        fprintf(stderr,
                "    what:   %s\n"
                "    source: %s\n"
                "    place:  DIR/%s, and --data DIR or HOLDFAST_DATA=DIR in the environment\n",
                s->what, s->source, file);
}

bool sets_need(const char *folder, const char *file, char path[SETS_PATH])
{
    const bool found = sets_find(folder, file, path);
    if (!found) sets_explain(folder, file, "nothing was run");
    return found;
}
