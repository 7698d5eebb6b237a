# SPDX-License-Identifier: Apache-2.0
"""The structs of the package lie in memory as the compiler lays them out: every size, every offset, every enum's value."""
import os
import subprocess
import tempfile

import testing
from testing import SOURCE, Case

from holdfast import _declarations
from holdfast._library import lib

PROGRAM = r"""
#include <holdfast/holdfast.h>
#include <stdio.h>
int main(void)
{
%s    return 0;
}
"""


def lines():
    """Statements that print name and number, and what the package has for them."""
    code, expected = [], {}
    for name, fields in _declarations.STRUCTS.items():
        made = lib.struct_class(name)
        code.append(f'    printf("{name} %zu\\n", sizeof({name}));')
        expected[name] = __import__("ctypes").sizeof(made)
        for field, _ in fields:
            code.append(f'    printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}), sizeof((({name} *)0)->{field}));')
            place = getattr(made, field)
            expected[f"{name}.{field}"] = (place.offset, place.size)
    for name, values in _declarations.ENUMS.items():
        for value, number in values.items():
            code.append(f'    printf("{value} %d\\n", (int){value});')
            expected[value] = number
    return PROGRAM % ("\n".join(code) + "\n"), expected


class Layout(Case):
    def test_structs_and_enums(self):
        code, expected = lines()
        with tempfile.TemporaryDirectory() as folder:
            source, program = os.path.join(folder, "layout.c"), os.path.join(folder, "layout")
            with open(source, "w", encoding="utf-8") as file:
                file.write(code)
            subprocess.run([os.environ.get("CC", "cc"), "-std=c17", "-I" + os.path.join(SOURCE, "include"), source, "-o", program],
                           check=True)
            told = subprocess.run([program], check=True, capture_output=True, text=True).stdout
        found = {}
        for line in told.splitlines():
            name, *numbers = line.split()
            found[name] = int(numbers[0]) if len(numbers) == 1 else tuple(map(int, numbers))
        self.assertEqual(found, expected)
        self.assertGreater(len(found), 700)

    def test_every_function_is_there(self):
        for name in _declarations.FUNCTIONS:
            getattr(lib, name)
        self.assertGreater(len(_declarations.FUNCTIONS), 200)


if __name__ == "__main__":
    testing.main()
