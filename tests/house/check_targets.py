# SPDX-License-Identifier: Apache-2.0
"""Files of models and of the tool do not ask how many outputs there are or whether a model is a classifier: kinds of target are rows
of functions (src/model/target.h), and hf_model_can() says what there is.

A file has as many such questions as LIST says, with the reason, and no more; the table's own files have what they need."""
import re

import house

QUESTION = re.compile(r"outputs(?:\((?:[^()]|\([^()]*\))*\))? *(?:>|==|!=|<=|<) *1\b|"
                      r"classes(?:\((?:[^()]|\([^()]*\))*\))? *(?:>|==|!=) *0\b|is_class\(|\bclassifier *(?:==|!=) *NULL")
FOLDERS = ("src/model/", "src/arrays/", "src/files/", "src/store/", "apps/holdfast/")
# The rows of the table, and what only one of them has.
OWN = re.compile(r"src/model/(?:target|outputs\w*|class_\w+|predict|score|rows|parameters|influence|damage|file_read_outputs|file_save)\.c")
# Certificates are of a posterior or of a classifier, which are two types of the public interface: those who call it say which.
CERTIFY = re.compile(r"apps/holdfast/certify/")
LIST = {
    "apps/holdfast/fit/fit.c": (1, "words: and 3 outputs"),
    "apps/holdfast/fit/inspect.c": (4, "OUTPUT may be left out, and a total is told, where there is one"),
    "apps/holdfast/report/report_outputs.c": (1, "has_outputs_table(), the one place of the reports"),
    "src/arrays/arrays_fit.c": (3, "what a caller of arrays says, before there is a model"),
    "src/arrays/arrays_kinds.c": (1, "a place without a copy for the most usual prediction"),
    "src/model/compare.c": (2, "what a comparison takes, before there is a model"),
    "src/model/fit_rows.c": (5, "settings of several outputs are kept as those of one where there is one"),
    "src/model/object.c": (1, "who owns the posterior"),
    "src/model/shape.c": (4, "widths and units that follow from it"),
    "src/model/stream.c": (1, "what a stream takes, before there is a model"),
}


def find_problems(source, _build):
    problems = []
    for name in house.c_files(source, "src", "apps"):
        if not name.startswith(FOLDERS) or OWN.fullmatch(name) or CERTIFY.match(name):
            continue
        code = house.blank(house.read(source, name))
        lines = [code.count("\n", 0, match.start()) + 1 for match in QUESTION.finditer(code)]
        allowed, _ = LIST.get(name, (0, ""))
        if len(lines) > allowed:
            problems.append(f"{name}: asks how many outputs or classes there are on lines {', '.join(map(str, lines))}, "
                            f"{allowed} are allowed: give the kind of target a function (src/model/target.h), or ask hf_model_can()")
        if len(lines) < allowed:
            problems.append(f"tests/house/check_targets.py: {name} has {len(lines)} questions now, not {allowed}")
    return problems


if __name__ == "__main__":
    house.main(find_problems)
