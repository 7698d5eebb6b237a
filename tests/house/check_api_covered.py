# SPDX-License-Identifier: Apache-2.0
"""No public function is forgotten by the tests that mean all of them: each is used in the allocation-failure sweep (or in
its list of what allocates nothing) and in the sweep of bad arguments."""
import re

import house

SWEEPS = [("test_allocation", "the allocation-failure sweep"), ("test_arguments", "the sweep of bad arguments")]


def find_problems(source, _build):
    problems = []
    tables = {table for header in house.public_headers(source) for table in house.settings_tables(house.read(source, header))}
    declared = {name: header for name, header in house.public_functions(source).items() if name not in tables}
    for prefix, what in SWEEPS:
        names = [name for name in house.c_files(source, "tests") if name.startswith(f"tests/api/{prefix}")]
        used = set()
        for name in names:
            used |= set(re.findall(r"\bhf_\w+", house.blank(house.read(source, name))))
        if not names:
            problems.append(f"tests/api/{prefix}*.c: there is none")
        problems += [f"{declared[function]}: {function} is not in {what} (tests/api/{prefix}*.c)"
                     for function in sorted(declared) if function not in used]
    return problems


if __name__ == "__main__":
    house.main(find_problems)
