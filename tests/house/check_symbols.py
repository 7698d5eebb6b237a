# SPDX-License-Identifier: Apache-2.0
"""Symbols, as the linker sees them. The shared library shows the functions of the public headers, all of them and nothing else; inside,
names begin with hf_ or hfi_, nothing is writable at file level (no globals), and rooms call only what they may. A name means
one thing: no type is defined in two files of the library and the tool, no enumerator or macro in two of their headers, no static
function in five."""
import os
import re

import house

# Calls that a library must not make, and the rooms that may all the same.
FORBIDDEN = [
    (r"exit|_exit|abort|__assert_fail", set(), "a library does not end its host; return a status"),
    (r"printf|puts|putchar|vprintf|__printf_chk|perror|stderr", set(), "a library does not print"),
    (r"stdout", {"data"}, "only a table may be written to `-`"),
    (r"malloc|calloc|realloc|aligned_alloc|posix_memalign|strdup|strndup|asprintf|vasprintf", {"core"},
     "memory comes from the context's allocator"),
    (r"v?snprintf|__v?snprintf_chk|strto(?:d|f|ld)|atof|uselocale|localeconv", {"core"},
     "numbers have a point in every locale: hfi_print() and hfi_strtod()"),
    (r"rand|srand|random|srandom|drand48|time|clock", set(), "random numbers come from streams, time from hfi_now"),
    (r"setlocale|strtok|localtime|gmtime|getenv|system|popen|tmpnam|sprintf|strcpy|strcat|gets", set(),
     "not thread-safe, not bounded or not a library's business"),
    (r"[sdi]\w{2,6}_|cblas_\w+|LAPACKE_\w+|openblas_\w+", {"linalg"}, "only linalg calls BLAS"),
    (r"GOMP_\w+|omp_\w+|__kmpc_\w+", {"core", "linalg", "kernel"}, "threads are made in core and linalg"),
    (r"sqlite3_\w+", {"store"}, "only store knows SQLite"),
    (r"nlopt_\w+", {"search"}, "only search knows NLopt"),
]


# The only states of the process: linalg guards what BLAS itself has just once, and the ledger the descriptors that hold
# locks, which are the process's (their files say why).
WRITABLE = {("src/linalg/blas_library.c", "process"), ("src/store/ledger_lock.c", "process")}


def exported(library):
    """Names in the dynamic symbol table that others can link to."""
    result = house.run(["nm", "-D", "--defined-only", library])
    return {line.split()[-1] for line in result.stdout.split("\n") if line.strip()}


def check_object(room, label, path):
    for line in house.run(["objdump", "-t", path]).stdout.split("\n"):
        match = re.match(r"^[0-9a-f]{16} (.{7}) (\S+)\s+([0-9a-f]{16}) (?:\.hidden )?(\S+)$", line)
        if not match:
            continue
        flags, section, size, name = match.groups()
        if section == "*UND*":
            for pattern, rooms, why in FORBIDDEN:
                if re.fullmatch(pattern, name) and room not in rooms:
                    yield f"{label}: uses {name}: {why}"
            continue
        if flags[0] in "gu!" and not re.match(r"hfi?_", name) and "F" in flags:
            yield f"{label}: global name {name} without hf_ or hfi_"
        writable = re.match(r"(\.data|\.bss|\.tdata|\.tbss|\*COM\*)", section) and ".rel.ro" not in section
        if writable and "O" in flags and int(size, 16) > 0 and (label, name) not in WRITABLE:
            yield f"{label}: {name} is writable and lives as long as the process ({section})"


def plain_code(text):
    """C text without comments, texts and lines of the preprocessor."""
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", house.blank(text), flags=re.M)


def after_braces(code, begin):
    """Place behind the brace that closes the one at `begin`."""
    depth = 0
    for brace in re.finditer(r"[{}]", code[begin:]):
        depth += 1 if brace.group(0) == "{" else -1
        if depth == 0:
            return begin + brace.end()
    return len(code)


def types(text):
    """Names of types that C text defines, also inside functions; `typedef struct x x;` announces one and defines none."""
    code = plain_code(text)
    yield from re.findall(r"\b(?:struct|union|enum)\s+(\w+)\s*\{", code)
    for match in re.finditer(r"\btypedef\s+(?:struct|union|enum)\b\s*\w*\s*(?=\{)", code):
        yield from re.findall(r"\A\s*(\w+)\s*;", code[after_braces(code, match.end()):])
    for match in re.finditer(r"\btypedef\b[^;{}]*?(?:\(\*?(\w+)\)\([^;]*|\b(\w+)(?:\([^;]*|\[[^;]*)?)\s*;", code):
        if not re.fullmatch(r"typedef\s+(?:struct|union|enum)\s+(\w+)\s+\1\s*;", match.group(0)):
            yield match.group(1) or match.group(2)


def definitions(text):
    """Names of types, enumerators and macros that a header defines."""
    for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", house.blank(text), re.M):
        yield match.group(1)
    for match in re.finditer(r"\benum\b\s*\w*\s*\{([^}]*)\}", plain_code(text)):
        yield from re.findall(r"(?:^|,)\s*(\w+)", match.group(1))
    yield from types(text)


def defined_twice(source):
    where = {}
    for name in house.c_files(source, "src", "apps"):
        defines = definitions if name.endswith(".h") else types
        for defined in set(defines(house.read(source, name))):
            where.setdefault(defined, []).append(name)
    return [f"{name} is defined in {' and in '.join(files)}" for name, files in sorted(where.items()) if len(files) > 1]


STATIC = re.compile(r"^(?:HFI_CLONES )?static [^;{}()=]*?[ *](\w+)\(", re.M)
MOST_OF_A_NAME = 4


def common_statics(source):
    """Names of static functions that stand in so many files that a backtrace or a profile says nothing by them."""
    where = {}
    for name in house.c_files(source, "src", "apps"):
        if name.endswith(".c"):
            for static in set(STATIC.findall(plain_code(house.read(source, name)))):
                where.setdefault(static, []).append(name)
    return [f"{len(files)} files have a static {static}() ({files[0]} ...), {MOST_OF_A_NAME} at most: name what it is done to"
            for static, files in sorted(where.items()) if len(files) > MOST_OF_A_NAME]


def find_problems(source, build):
    library = os.path.join(build, "libholdfast.so")
    if not os.path.exists(library):
        return [f"{library} is missing: build first"]
    shown, declared, problems = exported(library), house.public_functions(source), defined_twice(source) + common_statics(source)
    for name in sorted(shown - set(declared)):
        problems.append(f"libholdfast.so shows {name}, which no public header declares")
    for name in sorted(set(declared) - shown):
        problems.append(f"{declared[name]}: {name} is declared and not in libholdfast.so")
    for name in sorted(name for name in shown if not name.startswith("hf_")):
        problems.append(f"libholdfast.so shows {name}, which does not begin with hf_")
    for label, (target, path) in sorted(house.objects(source, build).items()):
        if target.startswith("hfo_"):
            problems += check_object(target[len("hfo_"):], label, path)
    return problems


if __name__ == "__main__":
    house.main(find_problems)
