# SPDX-License-Identifier: Apache-2.0
"""Makes the generated parts of the Python package from the headers and the settings table.

    python3 bindings/python/generate.py --library build/libholdfast.so            writes them
    python3 bindings/python/generate.py --library build/libholdfast.so --check    tells whether they are as they should be

holdfast/_declarations.py has every struct, enum and function of the public headers, as the C preprocessor shows them.
holdfast/_settings.py has the estimators' keyword arguments, one for each setting that has a text.
"""
import argparse
import importlib.util
import os
import re
import subprocess
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))
PACKAGE = os.path.join(HERE, "holdfast")
HEAD = "# SPDX-License-Identifier: Apache-2.0\n# Made by bindings/python/generate.py: change that, or what it reads.\n"

SCALARS = {"double": "d", "float": "f", "int": "i", "unsigned": "u", "unsigned int": "u", "size_t": "z", "ptrdiff_t": "n",
           "uint64_t": "Q", "int64_t": "q", "uint32_t": "u", "_Bool": "b", "char": "c", "void": "v"}


# ---- headers --------------------------------------------------------------------------------------------------------

def preprocessed(compiler):
    """The declarations of the public headers alone, macros expanded, comments gone."""
    command = [compiler, "-E", "-x", "c", "-std=c17", "-I" + os.path.join(SOURCE, "include"),
               os.path.join(SOURCE, "include", "holdfast", "holdfast.h")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    kept, ours = [], False
    for line in text.split("\n"):
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = "/include/holdfast/" in marker.group(1)
        elif ours:
            kept.append(line)
    text = " ".join(kept)
    text = re.sub(r"static inline [^{;]*\{[^{}]*\}", " ", text)
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", " ", text)
    return re.sub(r"\s+", " ", text)


def statements(text):
    """Top-level declarations, without the final semicolon."""
    depth, begin = 0, 0
    for at, char in enumerate(text):
        depth += (char == "{") - (char == "}")
        if char == ";" and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1


def split_list(text):
    depth, begin, parts = 0, 0, []
    for at, char in enumerate(text):
        depth += (char in "({[") - (char in ")}]")
        if char == "," and depth == 0:
            parts.append(text[begin:at].strip())
            begin = at + 1
    last = text[begin:].strip()
    return parts + [last] if last else parts


class Headers:
    """Structs, enums and functions as tables of short codes (see _library.py)."""

    def __init__(self, text):
        self.structs, self.enums, self.functions, self.opaque, self.callbacks, self.constants = {}, {}, {}, set(), set(), {}
        for statement in statements(text):
            self.read(statement)

    def read(self, statement):
        struct = re.fullmatch(r"typedef struct (\w+) \{(.*)\} (\w+)", statement)
        enum = re.fullmatch(r"typedef enum (\w+) \{(.*)\} (\w+)", statement)
        if struct:
            self.structs[struct.group(3)] = self.fields(struct.group(2))
        elif enum:
            self.enums[enum.group(3)] = self.values(enum.group(2))
        elif re.fullmatch(r"typedef struct (\w+) (\w+)", statement):
            self.opaque.add(statement.split()[-1])
        elif re.match(r"typedef .*\(\*(\w+)\)", statement):
            self.callbacks.add(re.match(r"typedef .*\(\*(\w+)\)", statement).group(1))
        elif re.fullmatch(r"enum (?:\w+ )?\{(.*)\}", statement):
            self.constants.update(self.values(re.fullmatch(r"enum (?:\w+ )?\{(.*)\}", statement).group(1)))
        else:
            self.function(statement)

    def number(self, expression):
        return int(eval(expression, {"__builtins__": {}}, dict(self.constants)))

    def values(self, body):
        values, following = {}, 0
        for entry in split_list(body):
            name, _, given = entry.partition("=")
            following = self.number(given) if given else following
            values[name.strip()] = following
            following += 1
        return values

    def code(self, declaration):
        """Code of a type with or without a name behind it; and the name, the count of an array."""
        if "(*" in declaration:
            return "P", re.search(r"\(\*(\w+)", declaration).group(1), None
        array = re.search(r"\[([^\]]*)\]\s*$", declaration)
        if array:
            declaration = declaration[:array.start()]
        count = self.number(array.group(1)) if array and array.group(1).strip() else None
        words = re.sub(r"\bconst\b", " ", declaration.replace("*", " * ")).split()
        known = set(SCALARS) | set(self.enums) | set(self.structs) | self.opaque | self.callbacks | {"struct", "unsigned"}
        name = words.pop() if len(words) > 1 and words[-1] != "*" and words[-1] not in known else None
        stars = words.count("*")
        kind = " ".join(word for word in words if word not in ("*", "struct"))
        if stars or kind in self.callbacks:
            return ("s" if kind == "char" and stars == 1 and "const char" in declaration else "P"), name, count
        if kind in SCALARS:
            return SCALARS[kind], name, count
        if kind in self.enums:
            return "i", name, count
        if kind in self.structs:
            return kind, name, count
        raise SystemExit(f"generate.py does not know the type of: {declaration}")

    def fields(self, body):
        fields = []
        for field in body.split(";"):
            if not field.strip():
                continue
            first, *others = split_list(field.strip())
            code, name, count = self.code(first)
            fields.append((name, code if count is None else (code, count)))
            for other in others:  # double lower, upper; and const double *low, *high;
                base = "P" if "*" in other else (code if "*" not in first else self.code(first.split("*")[0] + " x")[0])
                if "*" in other and re.match(r"const char\b", first):
                    base = "s"
                fields.append((other.replace("*", "").strip(), base))
        return fields

    def function(self, statement):
        match = re.fullmatch(r"(?:extern )?(.*?)\b(\w+)\s*\((.*)\)", statement)
        if not match or "static inline" in statement:
            raise SystemExit(f"generate.py does not understand: {statement}")
        result = self.code(match.group(1).strip())[0]
        parameters = [] if match.group(3).strip() == "void" else split_list(match.group(3))
        codes = []
        for parameter in parameters:
            code, _, count = self.code(parameter)
            pointer = count is not None or parameter.rstrip().endswith("]")
            codes.append("P" if pointer else code)
        self.functions[match.group(2)] = (result, codes)


def declarations(compiler):
    headers = Headers(preprocessed(compiler))
    out = [HEAD, '"""Structs, enums and functions of the library; _library.py says what the codes mean."""\n\n', "STRUCTS = {\n"]
    for name, fields in headers.structs.items():
        out.append(f"    {name!r}: {fields!r},\n")
    out.append("}\n\nENUMS = {\n")
    for name, values in headers.enums.items():
        out.append(f"    {name!r}: {values!r},\n")
    out.append("}\n\nFUNCTIONS = {\n")
    for name, (result, codes) in sorted(headers.functions.items()):
        out.append(f"    {name!r}: ({result!r}, {codes!r}),\n")
    return "".join(out) + "}\n"


# ---- settings -------------------------------------------------------------------------------------------------------

TYPES = {"CHOICE": "str", "FLAG": "bool", "COUNT": "int", "NUMBER": "float", "TEXT": "str"}
# Files and lists of the tool, and what has no use beside arrays in memory.
NOT_KEYWORDS = {"checkpoint", "resume"}
LABELS = ["kernel", "mean", "sites", "inference", "train", "priors", "train_mean", "restarts", "iterations", "standardise",
          "solver", "inducing", "inducing_method", "inducing_choice"]
COUNTS = LABELS + ["objective", "lengthscale_prior", "max_noise", "noise_start", "common_start", "unit_inputs"]
OTHERS = {  # members that programs set, or that the tool has other words for
    "groups": "the suspect finder also tests tight clusters of rows as a whole (default on)",
    "calibrate": "intervals are widened by a factor from leave-one-out residuals (default on)",
    "threshold_rule": "robust sites: how the soft threshold follows from the residuals: quantile, mad (default), given",
    "rounds": "robust sites: re-weightings at most (default 8)",
    "consistent_noise": "robust sites: the noise is corrected for what the weights take away (default on)",
    "priors": "weak log-normal priors on lengthscales, outputscales and noise (default on)",
    "train_mean": "coefficients of the prior mean are trained with the rest (default on)",
    "independent": "several outputs: no covariance between them, a kernel for each (default off)",
    "warm": "training starts from `start` and nowhere else (default off)",
}
SWITCHES = {"train": "train the hyperparameters (default on); else they stay at their held or starting values",
            "train_actions": "block actions: entries are trained (default on)",
            "student_nu": "student-t sites: degrees of freedom, more than 1 (default: trained)"}
# An attribute `transform` would make an estimator a transformer.
RENAMED = {"transform": "target_transform"}
KINDS = {"Regressor": ("default", None), "Classifier": (None, LABELS), "Counts": ("poisson", COUNTS)}


def load_library(path):
    spec = importlib.util.spec_from_file_location("holdfast._bare", os.path.join(PACKAGE, "_bare.py"))
    bare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bare)
    space = {}
    exec(declarations("cc") if not os.path.exists(os.path.join(PACKAGE, "_declarations.py")) else
         open(os.path.join(PACKAGE, "_declarations.py"), encoding="utf-8").read(), space)
    return bare.Library(path, space["STRUCTS"], space["ENUMS"], space["FUNCTIONS"])


def settings_of(library):
    """(name, type, help, choices) of each setting that can be a keyword."""
    rows = []
    kinds = list(library.enums["hf_setting_type"])
    for index in range(library.hf_setting_count(library.hf_fit_settings_table())):
        setting = library.struct_at("hf_setting", library.hf_setting_at(library.hf_fit_settings_table(), index))
        kind = kinds[setting.type].replace("HF_SETTING_", "")
        name = setting.name.decode()
        if kind not in TYPES or name in NOT_KEYWORDS:
            continue
        words = SWITCHES.get(name) or (setting.help.decode() if setting.help else OTHERS.get(name))
        if words is None:
            raise SystemExit(f"generate.py has no words for the setting {name}; write some in OTHERS")
        choices = [library.hf_setting_choice(library.hf_setting_at(library.hf_fit_settings_table(), index), k).decode() for k in range(setting.choices)]
        words = " ".join(words.split()).replace("--", "")
        unit = f"; unit: {setting.unit.decode()}" if setting.unit else ""
        rows.append((RENAMED.get(name, name), TYPES[kind], words + unit, choices))
    return rows


def docstring(rows):
    lines = []
    for name, kind, words, choices in rows:
        named = [choice for choice in choices if choice not in words]
        more = f" [{', '.join(choices)}]" if named else ""
        lines += [f"{name} : {kind}, optional"]
        begins_with_name = re.match(r"[\w-]+", words).group(0) in choices
        if not begins_with_name:
            words = words[0].upper() + words[1:]
        lines += textwrap.wrap(words + more + ".", 104, initial_indent="    ", subsequent_indent="    ",
                               break_on_hyphens=False)
    return "\n".join(lines)


def settings(library):
    out = [HEAD, '"""Keyword arguments of the estimators: a row of the settings table each."""\n',
           "from __future__ import annotations\n\nfrom typing import Any, Mapping, Optional, Sequence\n"]
    rows = settings_of(library)
    for kind, (preset, names) in KINDS.items():
        chosen = [row for row in rows if names is None or row[0] in names]
        lists = ["hold: Optional[Mapping[str, float]] = None", "start: Optional[Mapping[str, float]] = None"]
        if kind == "Regressor":
            lists += ["output_eps: Optional[Sequence[float]] = None", "output_beta: Optional[Sequence[float]] = None",
                      "inducing_inputs: Any = None"]
        if kind == "Classifier":
            lists = lists[:1]
        arguments = [f"preset: Optional[str] = {preset!r}"]
        arguments += [f"{name}: Optional[{type_}] = None" for name, type_, _, _ in chosen] + lists
        arguments += ["random_state: Optional[int] = None", "threads: Optional[int] = None", "progress: Any = None"]
        stored = [argument.split(":")[0] for argument in arguments]
        members = {new: old for old, new in RENAMED.items()}
        members = {name: members.get(name, name) for name, _, _, _ in chosen}
        listed = textwrap.fill(", ".join(f"{name!r}: {member!r}" for name, member in members.items()), 110,
                               initial_indent=" " * 8, subsequent_indent=" " * 8)
        out.append(f"\n\nclass {kind}Settings:\n    SETTINGS = {{\n{listed}}}\n")
        indent = ",\n                 "
        out.append(f"\n    def __init__(self, *, {indent.join(arguments)}) -> None:\n")
        out += [f"        self.{name} = {name}\n" for name in stored]
        doc = textwrap.indent(docstring(chosen), "    ").replace("\\", "\\\\")
        out.append(f'\n\n{kind.upper()}_HELP = """\\\n{doc}\n"""\n')
    return "".join(out)


# ---- main -----------------------------------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--library", required=True, help="the shared library whose settings table is read")
    parser.add_argument("--compiler", default=os.environ.get("CC", "cc"))
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 if something is out of date")
    arguments = parser.parse_args()
    stale = []

    def write(name, text):
        path = os.path.join(PACKAGE, name)
        old = open(path, encoding="utf-8").read() if os.path.exists(path) else None
        if old == text:
            return
        stale.append(name)
        if not arguments.check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

    write("_declarations.py", declarations(arguments.compiler))
    if not (arguments.check and stale):
        write("_settings.py", settings(load_library(arguments.library)))
    for name in stale:
        print(f"bindings/python/holdfast/{name} {'is out of date: run' if arguments.check else 'written by'} "
              "bindings/python/generate.py --library build/libholdfast.so")
    sys.exit(1 if arguments.check and stale else 0)


if __name__ == "__main__":
    main()
