# SPDX-License-Identifier: Apache-2.0
"""Random CSV files, read and written by the library and by Python's csv module: they must agree on every field and every bit.

Usage: csv_differential.py [PROGRAM]    (the program is tests/data/csv_dump.c; default: $HF_BUILD/oracle/csv_dump)
"""
import csv
import io
import math
import os
import random
import struct
import subprocess
import sys
import tempfile

FILES = 400
NUMBERS = 3000
MISSING = {"", "na", "n/a", "#n/a", "nan", "-nan", "+nan", "null", "none", "?", "-"}


class Dump:
    """The C program, one question at a time."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()

    def line(self):
        return self.process.stdout.readline().rstrip(b"\n").decode()

    def text(self):
        digits = b""
        while not digits.endswith(b":"):
            byte = self.process.stdout.read(1)
            assert byte.isdigit() or byte == b":", byte
            digits += byte
        text = self.process.stdout.read(int(digits[:-1]))
        assert self.process.stdout.read(2) == b",\n"
        return text.decode()

    def read(self, path):
        """(names, rows, numbers of each column or None), or the message of an error."""
        self.ask("read " + path)
        first = self.line()
        if first == "error":
            return self.line()
        columns, rows = map(int, first.split())
        names = [self.text() for _ in range(columns)]
        table = [[self.text() for _ in range(columns)] for _ in range(rows)]
        numbers = []
        for _ in range(columns):
            kind = self.line()
            assert kind in ("numeric", "text"), kind
            numbers.append([float.fromhex(self.line()) for _ in range(rows)] if kind == "numeric" else None)
        return names, table, numbers


def number_of(text):
    """The grammar of <holdfast/table.h>, by way of Python's float; None for text."""
    text = text.strip(" \t")
    word = text.lower()
    if word in MISSING:
        return math.nan
    if word.lstrip("+-") in ("inf", "infinity") and len(word) - len(word.lstrip("+-")) <= 1:
        return -math.inf if word[0] == "-" else math.inf
    if not text or any(c not in "0123456789+-.eE" for c in text):
        return None
    try:
        return float(text)
    except ValueError:
        return None


def same_bits(a, b):
    return (math.isnan(a) and math.isnan(b)) or struct.pack("d", a) == struct.pack("d", b)


def random_text(rng):
    pieces = ["a", "b c", "1", "2.5", ",", ";", "\t", '"', "\n", "\r\n", "\r", " ", "ä", "-", "NA", "e", "数", "."]
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(5)))


def random_number(rng):
    kind = rng.randrange(8)
    if kind == 0:
        return rng.choice(["", "NA", "nan", "-", "?", "null", " ", "inf", "-Infinity"])
    if kind == 1:
        return repr(struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0])
    if kind == 2:
        return "%.*f" % (rng.randrange(30), rng.gauss(0, 1e4))
    if kind == 3:
        return "%s%d." % (rng.choice(["", "+", "-", " "]), rng.randrange(10**6)) + rng.choice(["", " ", "\t"])
    if kind == 4:
        return ".%de%d" % (rng.randrange(10**9), rng.randrange(-330, 320))
    if kind == 5:
        return str(rng.getrandbits(rng.randrange(1, 120)))
    return repr(round(rng.gauss(0, 100), rng.randrange(8)))


def random_table(rng):
    columns, rows = rng.randrange(1, 6), rng.randrange(0, 8)
    # A header name is not empty, and different from the others; the digit sees to both.
    names = [random_text(rng) + str(j) for j in range(columns)]
    makers = [rng.choice([random_text, random_number, random_number]) for _ in names]
    return names, [[make(rng) for make in makers] for _ in range(rows)]


def check_table(got, names, rows, what):
    assert not isinstance(got, str), (what, got)
    assert got[0] == names, (what, got[0], names)
    assert got[1] == rows, (what, got[1], rows)
    for j, numbers in enumerate(got[2]):
        expected = [number_of(row[j]) for row in rows]
        if None in expected:
            assert numbers is None, (what, j, expected)
        else:
            assert numbers is not None, (what, j, expected)
            assert all(map(same_bits, numbers, expected)), (what, j, numbers, expected)


def check_files(dump, rng, folder):
    path, copy = os.path.join(folder, "in.csv"), os.path.join(folder, "out.csv")
    for trial in range(FILES):
        names, rows = random_table(rng)
        delimiter = rng.choice(",,;\t")
        # The separator is the one the header has most of; a single column has none to show.
        quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])
        if len(names) == 1:
            delimiter = ","
        if quoting != csv.QUOTE_ALL:
            names = ["".join(c for c in name.strip() if c not in ';\t,"\n\r').strip() for name in names]
        text = io.StringIO()
        csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator=rng.choice(["\n", "\r\n"])).writerows(
            [names] + rows
        )
        data = rng.choice([b"", b"\xef\xbb\xbf"]) + text.getvalue().encode()
        if quoting == csv.QUOTE_MINIMAL:
            # Python leaves a carriage return alone without quotes in some versions; such a file is not what is meant here.
            fields = [field for row in rows for field in row]
            if any(c in field for field in fields for c in "\r") or any(f[:1] == " " and '"' in f for f in fields):
                continue
        with open(path, "wb") as file:
            file.write(data)
        check_table(dump.read(path), names, rows, ("read", trial, data))
        dump.ask("write %s %s" % (path, copy))
        assert dump.line() == "written", trial
        with open(copy, newline="", encoding="utf-8") as file:
            again = list(csv.reader(file))
        assert again == [names] + rows, ("write", trial, again, names, rows)
        check_table(dump.read(copy), names, rows, ("again", trial, data))


def check_ragged(dump, rng, folder):
    """One row of a good file loses or gains a field: the message has its line and both counts."""
    path = os.path.join(folder, "ragged.csv")
    for _ in range(100):
        columns, rows = rng.randrange(2, 6), rng.randrange(1, 8)
        table = [[str(rng.randrange(100)) for _ in range(columns)] for _ in range(rows)]
        bad = rng.randrange(rows)
        found = rng.choice([n for n in range(1, 9) if n != columns])
        table[bad] = ["7"] * found
        with open(path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["c%d" % j for j in range(columns)]] + table)
        got = dump.read(path)
        expected = "%s: line %d: %d field%s found, %d expected" % (
            path, bad + 2, found, "" if found == 1 else "s", columns)
        assert isinstance(got, str) and got.startswith(expected), (got, expected)


def significant(text):
    return text.lower().lstrip("-").split("e")[0].replace(".", "").strip("0")


def check_format(dump, rng):
    for k in range(NUMBERS):
        value = struct.unpack("d", struct.pack("Q", rng.getrandbits(64)))[0] if k % 2 else rng.gauss(0, 1)
        if math.isnan(value):
            continue
        dump.ask("format " + value.hex())
        text = dump.line()
        assert float(text) == value and significant(text) == significant(repr(value)), (text, value)


def main():
    default = os.path.join(os.environ.get("HF_BUILD", "build"), "oracle", "csv_dump")
    dump = Dump(sys.argv[1] if len(sys.argv) > 1 else default)
    rng = random.Random(20240917)
    with tempfile.TemporaryDirectory() as folder:
        check_files(dump, rng, folder)
        check_ragged(dump, rng, folder)
    check_format(dump, rng)
    print("%d files and %d numbers agree" % (FILES, NUMBERS))


if __name__ == "__main__":
    main()
