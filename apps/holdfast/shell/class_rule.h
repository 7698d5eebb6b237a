/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file class_rule.h
 * @brief --threshold, --loss and --lambda of the verbs that ask classifiers.
 */
#ifndef HF_TOOL_CLASS_RULE_H
#define HF_TOOL_CLASS_RULE_H

#include "shell/tool.h"

/* Rows for the verbs' tables of options, read by take_class_rule(). */
#define CLASS_RULE                                                                                 \
    {"threshold", 0, "P",                                                                          \
     "of two classes: a row is of the second one where that has a\n"                               \
     "probability above P (default 0.5)",                                                          \
     false},                                                                                       \
        {"loss", 0, "C1,C2,...",                                                                   \
         "decide for the least expected loss: it costs C1 to take the first\n"                     \
         "class for another one, C2 the second; or row by row what each decision\n"                \
         "costs for each class: 0,1,9,1,0,9,1,1,0 of three (default: all wrong\n"                  \
         "ones 1)",                                                                                \
         false},                                                                                   \
    {                                                                                              \
        "lambda", 0, "L",                                                                          \
            "of two classes: probabilities by link(L f), f being the latent\n"                     \
            "function; above 1 farther from 1/2 than those of the fit (default 1)",                \
            false                                                                                  \
    }

/** Lets the model decide as the options say; nothing happens without them. Complains where they are
 * not for it. */
hf_status take_class_rule(tool_session *session, const tool_arguments *arguments, hf_model *model);

#endif
