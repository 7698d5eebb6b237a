# SPDX-License-Identifier: Apache-2.0
"""Every public enum that people meet has its row in HF_ENUM_LIST, with as many names as it has values."""
import glob
import os
import re

import house

# Values of these have no names, or names of their own.
NAMELESS = {"hf_enum", "hf_status"}


def expand(text, likelihoods):
    """The list of likelihoods in place of its macro."""
    return re.sub(r"HF_SITES_LIST\((\w+)\)",
                  lambda found: "".join(f'HF_LIKELIHOOD_{row},' if found[1] == "HF_LIKELIHOOD_OF_" else f', "{row}"'
                                        for row in likelihoods), text)


def rows(source):
    with open(os.path.join(source, "include", "holdfast", "likelihood_list.h"), encoding="utf-8") as file:
        body = re.search(r"#define HF_LIKELIHOODS\(.*?\)(.*?[^\\])\n", file.read(), re.S)[1]
    return re.findall(r"\b[A-Z]+\((\w+),", body)


def values(text):
    text = re.sub(r"/\*.*?\*/|^#.*?$", "", text, flags=re.S | re.M)
    return [word for word in (part.strip() for part in text.split(",")) if word]


def find_problems(source, _build):
    enums, problems, likelihoods = {}, [], rows(source)
    for path in glob.glob(os.path.join(source, "include", "holdfast", "*.h")):
        with open(path, encoding="utf-8") as file:
            text = expand(file.read(), likelihoods)
        for name, body in re.findall(r"typedef enum (hf_\w+) \{(.*?)\} \1;", text, re.S):
            enums[name] = values(body)
    with open(os.path.join(source, "include", "holdfast", "enums.h"), encoding="utf-8") as file:
        text = expand(file.read(), likelihoods)
    listed = re.findall(r'X\((\w+), (hf_\w+), "[^"]*",((?:\s*\\?\s*"[^"]*"\s*,?)+)\s*\)', text)
    for identifier, name, names in listed:
        count = len(re.findall(r'"[^"]*"', names))
        if name not in enums:
            problems.append(f"HF_ENUM_LIST has {name}, which is no public enum")
        elif count != len(enums[name]):
            problems.append(f"HF_ENUM_LIST has {count} names of {name}, which has {len(enums[name])} values")
        if identifier != name[3:].upper():
            problems.append(f"HF_ENUM_{identifier} stands for {name}; it should be HF_ENUM_{name[3:].upper()}")
        for value in enums.get(name, []):
            if "=" in value and not re.search(r"= 0$", value):
                problems.append(f"{name}: values count from 0 without gaps, not {value}")
    missing = set(enums) - {name for _, name, _ in listed} - NAMELESS
    problems += [f"{name} has no row in HF_ENUM_LIST" for name in sorted(missing)]
    return problems


if __name__ == "__main__":
    house.main(find_problems)
