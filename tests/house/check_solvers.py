# SPDX-License-Identifier: Apache-2.0
"""No file of the library and the tool asks for a solver: solvers are rows. What is true of a solution is in hfi_solver_kind_of()
(src/solver), how a fit goes is in hfi_fit_solver_of() (src/fit/solver.c), and the tool's words are in solver_words_of().

A question is a comparison, or a case of a switch. A file has as many of them as LIST says, with the reason; the tables' own files have
what they need."""
import re

import house

QUESTION = re.compile(r"(?:[=!]=|\bcase)\s*HF_SOLVER_[A-Z]+\b|\bHF_SOLVER_[A-Z]+\s*[=!]=")
OWN = re.compile(r"src/solver/.*|src/fit/solver\.c")
LIST = {
    "apps/holdfast/fit/fit.c": (2, "a user who left the solver open is told what the exact one would have taken"),
    "apps/holdfast/fit/fit_settings.c": (1, "the options that --stream goes with"),
    "src/settings/complete.c": (1, "what the suspect finder's default goes by, before there is a fit"),
    "src/study/training.c": (1, "a preset that projects is its own way to take many trials"),
}


def find_problems(source, _build):
    return house.count_questions(source, QUESTION, lambda name: not OWN.fullmatch(name), LIST, "tests/house/check_solvers.py",
                                 "asks for a solver", "give the solver's row what is asked (src/solver/solver.h, src/fit/fit.h)")


if __name__ == "__main__":
    house.main(find_problems)
