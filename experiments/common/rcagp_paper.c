/* SPDX-License-Identifier: Apache-2.0 */
#include "common/rcagp_paper.h"

#include <string.h>

/* Table S3 prints the Student-t rows of Table 1 once more (but for the seconds). Its CaGP rows without outliers are
 * those of Table 1 in all but one digit, although the kernel is another one. */
/* clang-format off */
const paper_cell rcagp_paper[] = {
    /* Table 1, asymmetric, boston */
    {"table1", "asymmetric", "boston", "SVGP", {0.749, 0.062}, {1.442, 0.037}, {1.480, 0.260}},
    {"table1", "asymmetric", "boston", "CaGP", {0.738, 0.059}, {1.3863, 0.0357}, {2.410, 0.050}},
    {"table1", "asymmetric", "boston", "RCSVGP", {0.532, 0.050}, {1.298, 0.038}, {1.500, 0.070}},
    {"table1", "asymmetric", "boston", "RCaGP", {0.477, 0.046}, {1.272, 0.036}, {2.450, 0.110}},
    {"table1", "asymmetric", "boston", "Student-t", {0.962, 0.037}, {1.619, 0.039}, {1.210, 0.240}},
    {"table1", "asymmetric", "boston", "RRP", {0.550, 0.050}, {1.147, 0.050}, {5.120, 0.100}},
    /* Table 1, asymmetric, energy */
    {"table1", "asymmetric", "energy", "SVGP", {0.607, 0.066}, {1.298, 0.036}, {2.770, 0.070}},
    {"table1", "asymmetric", "energy", "CaGP", {0.562, 0.055}, {1.253, 0.027}, {3.680, 0.080}},
    {"table1", "asymmetric", "energy", "RCSVGP", {0.566, 0.060}, {1.280, 0.034}, {2.860, 0.060}},
    {"table1", "asymmetric", "energy", "RCaGP", {0.380, 0.038}, {1.162, 0.012}, {3.790, 0.130}},
    {"table1", "asymmetric", "energy", "Student-t", {1.015, 0.028}, {1.606, 0.024}, {1.800, 0.400}},
    {"table1", "asymmetric", "energy", "RRP", {0.597, 0.112}, {1.240, 0.117}, {3.840, 0.090}},
    /* Table 1, asymmetric, yacht */
    {"table1", "asymmetric", "yacht", "SVGP", {0.837, 0.103}, {1.460, 0.086}, {0.960, 0.070}},
    {"table1", "asymmetric", "yacht", "CaGP", {0.775, 0.078}, {1.395, 0.064}, {0.720, 0.040}},
    {"table1", "asymmetric", "yacht", "RCSVGP", {0.477, 0.049}, {1.241, 0.035}, {1.010, 0.030}},
    {"table1", "asymmetric", "yacht", "RCaGP", {0.435, 0.052}, {1.253, 0.043}, {0.870, 0.060}},
    {"table1", "asymmetric", "yacht", "Student-t", {0.907, 0.061}, {1.564, 0.067}, {1.350, 0.260}},
    {"table1", "asymmetric", "yacht", "RRP", {0.356, 0.051}, {0.896, 0.030}, {7.200, 0.160}},
    /* Table 1, asymmetric, parkinsons */
    {"table1", "asymmetric", "parkinsons", "SVGP", {0.766, 0.090}, {1.475, 0.062}, {0.730, 0.170}},
    {"table1", "asymmetric", "parkinsons", "CaGP", {0.798, 0.084}, {1.440, 0.068}, {1.220, 0.080}},
    {"table1", "asymmetric", "parkinsons", "RCSVGP", {0.627, 0.089}, {1.346, 0.070}, {0.750, 0.020}},
    {"table1", "asymmetric", "parkinsons", "RCaGP", {0.586, 0.084}, {1.317, 0.067}, {1.250, 0.090}},
    {"table1", "asymmetric", "parkinsons", "Student-t", {1.025, 0.079}, {1.658, 0.085}, {0.990, 0.090}},
    {"table1", "asymmetric", "parkinsons", "RRP", {0.644, 0.106}, {1.306, 0.121}, {3.010, 0.080}},
    /* Table 1, none, boston */
    {"table1", "none", "boston", "SVGP", {0.506, 0.048}, {1.335, 0.036}, {1.570, 0.370}},
    {"table1", "none", "boston", "CaGP", {0.488, 0.042}, {1.278, 0.040}, {2.470, 0.040}},
    {"table1", "none", "boston", "RCSVGP", {0.574, 0.056}, {1.332, 0.048}, {1.560, 0.040}},
    {"table1", "none", "boston", "RCaGP", {0.428, 0.053}, {1.261, 0.049}, {2.580, 0.150}},
    {"table1", "none", "boston", "Student-t", {0.896, 0.041}, {1.593, 0.063}, {1.330, 0.050}},
    {"table1", "none", "boston", "RRP", {0.815, 0.103}, {1.527, 0.194}, {5.260, 0.120}},
    /* Table 1, none, energy */
    {"table1", "none", "energy", "SVGP", {0.407, 0.030}, {1.207, 0.017}, {2.930, 0.310}},
    {"table1", "none", "energy", "CaGP", {0.334, 0.024}, {1.106, 0.011}, {3.710, 0.080}},
    {"table1", "none", "energy", "RCSVGP", {0.612, 0.034}, {1.324, 0.033}, {2.970, 0.120}},
    {"table1", "none", "energy", "RCaGP", {0.393, 0.024}, {1.160, 0.008}, {3.780, 0.190}},
    {"table1", "none", "energy", "Student-t", {0.970, 0.025}, {1.572, 0.026}, {1.330, 0.080}},
    {"table1", "none", "energy", "RRP", {0.775, 0.118}, {1.547, 0.214}, {3.730, 0.100}},
    /* Table 1, none, yacht */
    {"table1", "none", "yacht", "SVGP", {0.672, 0.059}, {1.358, 0.042}, {0.950, 0.030}},
    {"table1", "none", "yacht", "CaGP", {0.512, 0.041}, {1.263, 0.042}, {0.730, 0.060}},
    {"table1", "none", "yacht", "RCSVGP", {0.646, 0.076}, {1.322, 0.047}, {1.010, 0.030}},
    {"table1", "none", "yacht", "RCaGP", {0.436, 0.046}, {1.251, 0.040}, {0.910, 0.070}},
    {"table1", "none", "yacht", "Student-t", {0.815, 0.071}, {1.559, 0.100}, {0.890, 0.150}},
    {"table1", "none", "yacht", "RRP", {0.708, 0.035}, {1.179, 0.045}, {6.980, 0.110}},
    /* Table 1, none, parkinsons */
    {"table1", "none", "parkinsons", "SVGP", {0.701, 0.078}, {1.407, 0.063}, {0.520, 0.030}},
    {"table1", "none", "parkinsons", "CaGP", {0.674, 0.077}, {1.362, 0.067}, {0.840, 0.010}},
    {"table1", "none", "parkinsons", "RCSVGP", {0.648, 0.071}, {1.403, 0.076}, {0.570, 0.010}},
    {"table1", "none", "parkinsons", "RCaGP", {0.538, 0.078}, {1.311, 0.070}, {0.920, 0.020}},
    {"table1", "none", "parkinsons", "Student-t", {0.965, 0.074}, {1.627, 0.092}, {0.730, 0.020}},
    {"table1", "none", "parkinsons", "RRP", {1.052, 0.100}, {1.884, 0.179}, {3.010, 0.060}},
    /* Table S1, uniform, boston */
    {"s1", "uniform", "boston", "SVGP", {0.799, 0.054}, {1.511, 0.047}, {1.580, 0.050}},
    {"s1", "uniform", "boston", "CaGP", {0.782, 0.042}, {1.483, 0.047}, {2.570, 0.040}},
    {"s1", "uniform", "boston", "RCSVGP", {0.763, 0.065}, {1.482, 0.066}, {1.620, 0.040}},
    {"s1", "uniform", "boston", "RCaGP", {0.743, 0.053}, {1.475, 0.062}, {2.630, 0.040}},
    /* Table S1, uniform, energy */
    {"s1", "uniform", "energy", "SVGP", {0.918, 0.070}, {1.486, 0.042}, {2.680, 0.100}},
    {"s1", "uniform", "energy", "CaGP", {0.908, 0.046}, {1.477, 0.029}, {3.640, 0.220}},
    {"s1", "uniform", "energy", "RCSVGP", {0.921, 0.082}, {1.484, 0.059}, {2.700, 0.060}},
    {"s1", "uniform", "energy", "RCaGP", {0.910, 0.046}, {1.490, 0.036}, {3.770, 0.110}},
    /* Table S1, uniform, yacht */
    {"s1", "uniform", "yacht", "SVGP", {0.899, 0.099}, {1.558, 0.095}, {1.000, 0.080}},
    {"s1", "uniform", "yacht", "CaGP", {0.861, 0.094}, {1.542, 0.098}, {0.810, 0.280}},
    {"s1", "uniform", "yacht", "RCSVGP", {0.799, 0.095}, {1.496, 0.089}, {1.050, 0.030}},
    {"s1", "uniform", "yacht", "RCaGP", {0.762, 0.097}, {1.533, 0.099}, {0.960, 0.050}},
    /* Table S1, uniform, parkinsons */
    {"s1", "uniform", "parkinsons", "SVGP", {0.837, 0.093}, {1.523, 0.057}, {0.800, 0.010}},
    {"s1", "uniform", "parkinsons", "CaGP", {0.826, 0.087}, {1.479, 0.073}, {0.960, 0.040}},
    {"s1", "uniform", "parkinsons", "RCSVGP", {0.8567, 0.1017}, {1.5494, 0.0753}, {0.830, 0.020}},
    {"s1", "uniform", "parkinsons", "RCaGP", {0.811, 0.077}, {1.469, 0.075}, {1.080, 0.020}},
    /* Table S2, focused, boston */
    {"s2", "focused", "boston", "SVGP", {0.627, 0.051}, {1.405, 0.031}, {1.500, 0.050}},
    {"s2", "focused", "boston", "CaGP", {0.677, 0.061}, {1.425, 0.055}, {2.460, 0.060}},
    {"s2", "focused", "boston", "RCSVGP", {0.709, 0.100}, {1.419, 0.088}, {1.550, 0.040}},
    {"s2", "focused", "boston", "RCaGP", {0.505, 0.069}, {1.323, 0.073}, {2.570, 0.050}},
    /* Table S2, focused, energy */
    {"s2", "focused", "energy", "SVGP", {0.337, 0.021}, {1.239, 0.009}, {2.800, 0.080}},
    {"s2", "focused", "energy", "CaGP", {0.436, 0.051}, {1.181, 0.03}, {3.670, 0.070}},
    {"s2", "focused", "energy", "RCSVGP", {0.634, 0.070}, {1.436, 0.096}, {2.850, 0.070}},
    {"s2", "focused", "energy", "RCaGP", {0.390, 0.023}, {1.163, 0.009}, {3.780, 0.110}},
    /* Table S2, focused, yacht */
    {"s2", "focused", "yacht", "SVGP", {0.630, 0.053}, {1.255, 0.057}, {1.000, 0.060}},
    {"s2", "focused", "yacht", "CaGP", {0.525, 0.050}, {1.277, 0.048}, {0.830, 0.290}},
    {"s2", "focused", "yacht", "RCSVGP", {0.666, 0.072}, {1.321, 0.087}, {1.040, 0.040}},
    {"s2", "focused", "yacht", "RCaGP", {0.437, 0.053}, {1.268, 0.051}, {0.930, 0.060}},
    /* Table S2, focused, parkinsons */
    {"s2", "focused", "parkinsons", "SVGP", {0.672, 0.078}, {1.433, 0.053}, {0.770, 0.020}},
    {"s2", "focused", "parkinsons", "CaGP", {0.750, 0.073}, {1.462, 0.064}, {0.930, 0.010}},
    {"s2", "focused", "parkinsons", "RCSVGP", {0.551, 0.079}, {1.392, 0.068}, {0.790, 0.030}},
    {"s2", "focused", "parkinsons", "RCaGP", {0.600, 0.082}, {1.374, 0.082}, {1.010, 0.040}},
    /* Table S3, asymmetric, boston */
    {"s3", "asymmetric", "boston", "SVGP", {1.145, 0.052}, {1.691, 0.043}, {0.930, 0.280}},
    {"s3", "asymmetric", "boston", "CaGP", {1.060, 0.095}, {1.611, 0.086}, {2.470, 0.060}},
    {"s3", "asymmetric", "boston", "RCSVGP", {0.680, 0.122}, {1.364, 0.080}, {1.500, 0.090}},
    {"s3", "asymmetric", "boston", "RCaGP", {0.733, 0.156}, {1.405, 0.118}, {2.550, 0.060}},
    {"s3", "asymmetric", "boston", "Student-t", {0.962, 0.037}, {1.619, 0.039}, {1.030, 0.040}},
    /* Table S3, asymmetric, energy */
    {"s3", "asymmetric", "energy", "SVGP", {1.138, 0.040}, {1.736, 0.037}, {1.170, 0.070}},
    {"s3", "asymmetric", "energy", "CaGP", {0.971, 0.090}, {1.535, 0.071}, {3.540, 0.080}},
    {"s3", "asymmetric", "energy", "RCSVGP", {0.456, 0.041}, {1.200, 0.026}, {2.560, 0.100}},
    {"s3", "asymmetric", "energy", "RCaGP", {0.353, 0.053}, {1.173, 0.024}, {3.590, 0.090}},
    {"s3", "asymmetric", "energy", "Student-t", {1.015, 0.028}, {1.606, 0.024}, {1.350, 0.070}},
    /* Table S3, asymmetric, yacht */
    {"s3", "asymmetric", "yacht", "SVGP", {1.235, 0.044}, {1.732, 0.041}, {0.650, 0.060}},
    {"s3", "asymmetric", "yacht", "CaGP", {1.133, 0.092}, {1.679, 0.088}, {0.640, 0.100}},
    {"s3", "asymmetric", "yacht", "RCSVGP", {0.733, 0.114}, {1.381, 0.084}, {0.970, 0.090}},
    {"s3", "asymmetric", "yacht", "RCaGP", {0.651, 0.095}, {1.336, 0.061}, {0.790, 0.060}},
    {"s3", "asymmetric", "yacht", "Student-t", {0.907, 0.061}, {1.564, 0.067}, {0.790, 0.060}},
    /* Table S3, asymmetric, parkinsons */
    {"s3", "asymmetric", "parkinsons", "SVGP", {1.002, 0.100}, {1.590, 0.079}, {0.720, 0.260}},
    {"s3", "asymmetric", "parkinsons", "CaGP", {0.955, 0.110}, {1.556, 0.080}, {0.870, 0.080}},
    {"s3", "asymmetric", "parkinsons", "RCSVGP", {0.840, 0.187}, {1.518, 0.116}, {0.970, 0.090}},
    {"s3", "asymmetric", "parkinsons", "RCaGP", {0.913, 0.198}, {1.531, 0.152}, {0.900, 0.030}},
    {"s3", "asymmetric", "parkinsons", "Student-t", {1.025, 0.079}, {1.658, 0.085}, {0.730, 0.040}},
    /* Table S3, none, boston */
    {"s3", "none", "boston", "SVGP", {0.731, 0.052}, {1.433, 0.053}, {0.940, 0.030}},
    {"s3", "none", "boston", "CaGP", {0.488, 0.042}, {1.278, 0.040}, {2.410, 0.060}},
    {"s3", "none", "boston", "RCSVGP", {0.512, 0.074}, {1.302, 0.063}, {1.530, 0.040}},
    {"s3", "none", "boston", "RCaGP", {0.379, 0.050}, {1.241, 0.046}, {2.470, 0.030}},
    {"s3", "none", "boston", "Student-t", {0.896, 0.041}, {1.593, 0.063}, {1.090, 0.030}},
    /* Table S3, none, energy */
    {"s3", "none", "energy", "SVGP", {0.908, 0.026}, {1.430, 0.023}, {1.230, 0.150}},
    {"s3", "none", "energy", "CaGP", {0.334, 0.024}, {1.106, 0.011}, {3.540, 0.160}},
    {"s3", "none", "energy", "RCSVGP", {0.558, 0.035}, {1.300, 0.034}, {2.780, 0.120}},
    {"s3", "none", "energy", "RCaGP", {0.326, 0.023}, {1.144, 0.007}, {3.740, 0.170}},
    {"s3", "none", "energy", "Student-t", {0.970, 0.025}, {1.572, 0.026}, {1.460, 0.060}},
    /* Table S3, none, yacht */
    {"s3", "none", "yacht", "SVGP", {0.767, 0.063}, {1.420, 0.078}, {0.870, 0.240}},
    {"s3", "none", "yacht", "CaGP", {0.512, 0.042}, {1.263, 0.042}, {0.770, 0.060}},
    {"s3", "none", "yacht", "RCSVGP", {0.640, 0.074}, {1.318, 0.047}, {1.130, 0.080}},
    {"s3", "none", "yacht", "RCaGP", {0.365, 0.035}, {1.226, 0.034}, {0.940, 0.070}},
    {"s3", "none", "yacht", "Student-t", {0.815, 0.071}, {1.559, 0.100}, {0.920, 0.050}},
    /* Table S3, none, parkinsons */
    {"s3", "none", "parkinsons", "SVGP", {0.811, 0.078}, {1.448, 0.070}, {0.670, 0.130}},
    {"s3", "none", "parkinsons", "CaGP", {0.674, 0.077}, {1.362, 0.067}, {0.830, 0.100}},
    {"s3", "none", "parkinsons", "RCSVGP", {0.540, 0.083}, {1.417, 0.065}, {0.720, 0.060}},
    {"s3", "none", "parkinsons", "RCaGP", {0.534, 0.078}, {1.307, 0.068}, {1.070, 0.240}},
    {"s3", "none", "parkinsons", "Student-t", {0.965, 0.074}, {1.627, 0.092}, {0.730, 0.010}},
};
/* clang-format on */
const size_t rcagp_paper_count = sizeof rcagp_paper / sizeof *rcagp_paper;

const paper_cell *rcagp_paper_find(const char *table, const char *kind, const char *set, const char *model)
{
    for (size_t i = 0; i < rcagp_paper_count; ++i) {
        const paper_cell *c = &rcagp_paper[i];
        if (strcmp(c->table, table) == 0 && strcmp(c->kind, kind) == 0 && strcmp(c->set, set) == 0 &&
            strcmp(c->model, model) == 0)
            return c;
    }
    return NULL;
}
