/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilities of two classes as C, for exported files: those of probability.c, in the arithmetic of the file. */
#include "classify/classify.h"

static const char probit[] =
    "\n/* Normal probability of the link, in closed form. */\n"
    "static double probability(double mean, double var)\n{\n"
    "    return 0.5 * erfc((-mean / sqrt(1.0 + var)) * 0.70710678118654752440);\n}\n";

/* As many points as probability.c has. */
static const char logit[] =
    "\nstatic double logistic(double u)\n{\n"
    "    return (u > 0.0) ? (1.0 / (1.0 + exp(-u))) : (exp(u) / (1.0 + exp(u)));\n}\n\n"
    "/* The mean of the logistic function over a normal distribution, by the trapezoidal rule. */\n"
    "static double probability(double mean, double var)\n{\n"
    "    const double sd = sqrt(var);\n    const double away = -fabs(mean);\n    double sum = 0.0;\n    int "
    "k;\n"
    "    if (sd > 1.0) {\n        for (k = -152; k <= 152; k++) {\n"
    "            const double x = (double)k * 0.25;\n            const double small = exp(-fabs(x));\n"
    "            const double one = 1.0 + small;\n"
    "            sum += (small / (one * one)) * (0.5 * erfc(((x - away) / sd) * "
    "0.70710678118654752440));\n"
    "        }\n    } else {\n        for (k = -36; k <= 36; k++) {\n"
    "            const double t = (double)k * 0.25;\n"
    "            sum += logistic(away + (sd * t)) * exp((-0.5 * t * t) - 0.91893853320467274178);\n"
    "        }\n    }\n    sum *= 0.25;\n    if (mean > 0.0) {\n        sum = 1.0 - sum;\n    }\n"
    "    return sum;\n}\n";

const char *hfi_class_probability_code(hf_link link)
{
    return link == HF_LINK_PROBIT ? probit : link == HF_LINK_LOGIT ? logit : NULL;
}
