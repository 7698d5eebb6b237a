# SPDX-License-Identifier: Apache-2.0
"""No file of the library and the tool asks for a likelihood: its name, its value of hf_likelihood or hf_link and its row are in the one
list (likelihood_list.h) and in its own file, and nowhere else."""
import re

import house

LIST = "include/holdfast/likelihood_list.h"
# Files that may name a likelihood, with what they may name and why.
EXCEPTIONS = {
    "src/settings/settings.c": (r"STUDENT_T", "the preset t-mogp is a published method with that noise"),
    "src/svgp/": (r"STUDENT_T", "minibatches have three noises, of which one iterates its sites in a way of its own"),
    "apps/holdfast/fit/compare": (r"student-t", "compare's usual rivals are presets by name"),
    "include/holdfast/classify.h": (r"PROBIT|LOGIT", "hf_link: for each link there is a proved bound"),
    "include/holdfast/enums.h": (r"probit|logit", "its names"),
    "src/classify/": (r"PROBIT|LOGIT", "probabilities of the links: closed forms and quadratures with proved bounds"),
    "src/certify/class.c": (r"PROBIT|LOGIT", "the value that a link certifies"),
    "src/bound/": (r"PROBIT|LOGIT|probit|logit", "bounds of the links over boxes"),
    "src/model/class_labels.c": (r"probit", "the message that says what to give instead"),
}


def rows(source):
    return re.findall(r'\b(?:NOISE|LABEL|RATE)\((\w+), (\w+), "([^"]+)"', house.read(source, LIST).split("#ifndef", 1)[1])


def allowed(name, word):
    return any(name.startswith(start) and re.search(what, word) for start, (what, _) in EXCEPTIONS.items())


def find_problems(source, _build):
    problems, used = [], set()
    names = [name for name in house.files(source)
             if name.startswith(("src/", "apps/", "include/")) and name.endswith((".c", ".h")) and name != LIST]
    for identifier, symbol, title in rows(source):
        own = f"src/sites/likelihood_{symbol}.c"
        if own not in names:
            problems.append(f"{LIST} has {title}, but there is no {own}")
        word = re.compile(rf'\bHF_(?:LIKELIHOOD|LINK)_{identifier}\b|\bhfi_likelihood_{symbol}\b|"{re.escape(title)}"')
        for name in names:
            for found in word.finditer(re.sub(r"/\*.*?\*/", "", house.read(source, name), flags=re.S)):
                if name == own or allowed(name, found.group(0)):
                    used.update(start for start in EXCEPTIONS if name.startswith(start))
                    continue
                problems.append(f"{name}: {found.group(0)}; ask its row of the table (sites/likelihood.h) instead")
    problems += [f"check_likelihoods.py: nothing needs the exception {start}" for start in sorted(set(EXCEPTIONS) - used)]
    return problems


if __name__ == "__main__":
    house.main(find_problems)
