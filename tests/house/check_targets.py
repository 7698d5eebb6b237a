# SPDX-License-Identifier: Apache-2.0
"""No file of the library and the tool asks how many outputs there are or whether a model is a classifier: kinds of target are rows of
functions (src/model/target.h), hf_model_can() says what there is, and a fit or a posterior of one output is none of a special kind.

A file has as many such questions as LIST says, with the reason, and no more; the tables' own files have what they need."""
import re

import house

QUESTION = re.compile(r"outputs(?:\((?:[^()]|\([^()]*\))*\))? *(?:>|==|!=|<=|<) *1\b|"
                      r"classes(?:\((?:[^()]|\([^()]*\))*\))? *(?:>|==|!=) *0\b|(?<!bool hfi_likelihood_)is_class\(|\bclassifier *(?:==|!=) *NULL")
# The rows of the table, and what only one of them has; what a fit of several outputs has beside that of one; units of outputs.
OWN = re.compile(r"src/model/(?:target|outputs\w*|class_\w+|predict|score|rows|parameters|influence|damage|file_read_outputs|file_save)\.c|"
                 r"src/fit/(?:outputs|order)\.c|src/posterior/scaling\.c")
# Certificates are of a posterior or of a classifier, which are two types of the public interface: those who call it say which.
CERTIFY = re.compile(r"apps/holdfast/certify/")
LIST = {
    "apps/holdfast/fit/fit.c": (1, "words: and 3 outputs"),
    "apps/holdfast/fit/inspect.c": (4, "OUTPUT may be left out, and a total is told, where there is one"),
    "apps/holdfast/report/report_outputs.c": (1, "has_outputs_table(), the one place of the reports"),
    "src/arrays/arrays_fit.c": (3, "what a caller of arrays says, before there is a model"),
    "src/arrays/arrays_kinds.c": (1, "a place without a copy for the most usual prediction"),
    "src/certify/flip.c": (2, "certificates are of a posterior or of a classifier"),
    "src/core/settings_clash.c": (2, "the condition `outputs` of the rows of settings"),
    "src/data/metrics_class.c": (1, "the arguments of a call"),
    "src/fit/gather.c": (1, "1 output, 2 outputs in a message"),
    "src/fit/prepare.c": (2, "what several outputs start with; and assignments by name, which are of one"),
    "src/fit/report.c": (1, "the unit of numbers that are about all outputs together"),
    "src/fit/train.c": (1, "a search that several outputs do without"),
    "src/inference/observed.c": (1, "hf_likelihood_has_labels(), the question itself"),
    "src/model/compare.c": (2, "what a comparison takes, before there is a model"),
    "src/model/fit_rows.c": (5, "settings of several outputs are kept as those of one where there is one"),
    "src/model/object.c": (1, "who owns the posterior"),
    "src/model/shape.c": (4, "widths and units that follow from it"),
    "src/model/stream.c": (1, "what a stream takes, before there is a model"),
    "src/optimise/eulbo.c": (1, "the arguments of a call, before there is a posterior"),
    "src/outliers/suspect_finder.c": (1, "numbers that repeat are looked for in the readings of one quantity"),
    "src/page/page.c": (1, "words: which output is drawn"),
    "src/page/page_parts.c": (2, "words: columns and units"),
    "src/posterior/posterior.c": (1, "hfi_posterior_need_one(), for all that need one"),
}


def find_problems(source, _build):
    return house.count_questions(source, QUESTION, lambda name: not OWN.fullmatch(name) and not CERTIFY.match(name), LIST,
                                 "tests/house/check_targets.py", "asks how many outputs or classes there are",
                                 "give the kind of target a function (src/model/target.h), or ask hf_model_can()")


if __name__ == "__main__":
    house.main(find_problems)
