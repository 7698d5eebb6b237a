# SPDX-License-Identifier: Apache-2.0
"""The table of settings has one row for each member of hf_fit_settings, and no other."""
import os
import re

import house

HEADER, TABLE = "include/holdfast/train.h", "src/settings/table.c"
MEMBER = re.compile(r"(\w+)\s*;")
ROW = re.compile(r"(?m)^    \{[A-Z]+\((\w+)")


def members(text):
    struct = re.search(r"typedef struct hf_fit_settings \{(.*?)\} hf_fit_settings;", house.blank(text), re.S)
    return MEMBER.findall(struct.group(1)) if struct else []


def find_problems(source, _build):
    if not os.path.exists(os.path.join(source, TABLE)):
        return [f"{TABLE} is missing"]
    declared = members(house.read(source, HEADER))
    rows = ROW.findall(house.blank(house.read(source, TABLE), keep_strings=True))
    problems = [f"{TABLE}: hf_fit_settings.{name} has {rows.count(name)} rows; give it one"
                for name in declared if rows.count(name) != 1]
    problems += [f"{TABLE}: '{name}' is no member of hf_fit_settings" for name in rows if name not in declared]
    return problems if declared else [f"{HEADER}: there is no struct hf_fit_settings"]


if __name__ == "__main__":
    house.main(find_problems)
