# SPDX-License-Identifier: Apache-2.0
"""Each house check passes a tiny clean tree and fails when one thing in it is broken: a check that cannot fail is none."""
import os
import runpy
import shutil
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_api_covered
import check_arrows
import check_circles
import check_docs
import check_format
import check_headers
import check_licence
import check_likelihoods
import check_marks
import check_pages
import check_prose
import check_settings
import check_sizes
import check_solvers
import check_symbols
import check_targets
import check_tidy
import house

SPDX = "/* SPDX-License-Identifier: Apache-2.0 */\n"
CLEAN = {
    "LICENSE": "Apache\n",
    ".clang-format": None,  # copied from this project
    "include/.clang-format": None,
    ".clang-tidy": None,
    "docs/architecture.md": "# Rooms\n\nwords\n\n| room | owns | may use |\n|---|---|---|\n| `core` | x | |\n"
                            "| `linalg` | x | `core` |\n| `kernel` | x | `core`, `linalg` |\n| `data` | x | `core` |\n"
                            "| `model` | x | all of the above |\n\n| other | table |\n|---|---|\n| `core` | 1 |\n\n"
                            "| room of the tool | owns | may use |\n|---|---|---|\n| `shell` | x | |\n"
                            "| `fit` | x | `shell` |\n",
    "include/holdfast/holdfast.h": SPDX + "/**\n * @file holdfast.h\n * @brief All.\n */\n#ifndef HF_H\n#define HF_H\n"
                                          "#include <holdfast/one.h>\n#endif\n",
    "include/holdfast/export.h": SPDX + "/**\n * @file export.h\n * @brief HF_API.\n */\n#ifndef HF_E\n#define HF_E\n"
                                        "#define HF_API __attribute__((visibility(\"default\")))\n#endif\n",
    "include/holdfast/one.h": SPDX + "/**\n * @file one.h\n * @brief One. Thread-safe; what names no cost is O(1).\n */\n#ifndef HF_ONE_H\n#define HF_ONE_H\n"
                                     "#include <holdfast/export.h>\n\n/** One and two. */\nHF_API int hf_one(void);\n"
                                     "HF_API int hf_two(int the_first_of_two_long_names_that_want_a_line_each,\n"
                                     "                  int the_second_of_two_long_names_that_want_a_line_each);\n#endif\n",
    "src/core/core.h": SPDX + "#ifndef HFI_CORE_H\n#define HFI_CORE_H\nint hfi_core(void);\n#endif\n",
    "src/core/core.c": SPDX + "#include \"core/core.h\"\n#include <holdfast/one.h>\n\nint hfi_core(void)\n{\n"
                              "    return 1;\n}\n\nint hf_one(void)\n{\n    return hfi_core();\n}\n\n"
                              "int hf_two(int a, int b)\n{\n    return a + b;\n}\n",
    "src/linalg/blas.h": SPDX + "#ifndef B\n#define B\n#endif\n",
    "src/data/data.h": SPDX + "#ifndef HFI_DATA_H\n#define HFI_DATA_H\n#include \"core/core.h\"\n#endif\n",
    "src/model/model.c": SPDX + "#include \"data/data.h\"\n\nint hfi_model(void);\n\nint hfi_model(void)\n{\n"
                                "    return hfi_core();\n}\n",
    "tests/api/test_allocation.c": SPDX + "#include <holdfast/holdfast.h>\n\nint main(void)\n{\n"
                                          "    return hf_one() + hf_two(1, 2);\n}\n",
    "tests/api/test_arguments_more.c": SPDX + "#include <holdfast/holdfast.h>\n\nint main(void)\n{\n"
                                              "    return hf_two(0, 0) + hf_one();\n}\n",
    "apps/holdfast/shell/main.c": SPDX + "#include <holdfast/holdfast.h>\n\nint main(void)\n{\n    return 0;\n}\n",
}
PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Tree(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.build = os.path.join(self.root, "build")
        self.addCleanup(shutil.rmtree, self.root)
        for name, text in CLEAN.items():
            if text is None:
                text = house.read(PROJECT, name)
            self.write(name, text)

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def compile(self):
        """An object of each file where the symbol check looks for it, a library of all, and compile commands."""
        objects, commands = [], []
        for name in house.c_files(self.root, "src"):
            if name.endswith(".c"):
                target = f"{self.build}/CMakeFiles/hfo_{name.split('/')[1]}.dir/{name}.o"
                os.makedirs(os.path.dirname(target), exist_ok=True)
                command = f"gcc -fPIC -fvisibility=hidden -std=c17 -Iinclude -Isrc -c {name} -o {target}"
                self.assertEqual(house.run(command.split(), cwd=self.root).returncode, 0)
                objects.append(target)
                commands.append(f'{{"file": "{self.root}/{name}", "command": "{command}"}}')
        house.run(["gcc", "-shared", "-o", f"{self.build}/libholdfast.so", *objects])
        self.write("build/compile_commands.json", "[" + ",".join(commands) + "]")

    def clean(self, check):
        self.assertEqual(check.find_problems(self.root, self.build), [])

    def broken(self, check, expected, name, old, new):
        """Replaces `old` by `new` in one file; the check must name what is expected."""
        text = CLEAN.get(name, "")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new, 1))
        if check in (check_circles, check_symbols, check_tidy):
            self.compile()
        problems = check.find_problems(self.root, self.build)
        self.assertTrue(any(expected in problem for problem in problems), f"{expected!r} not in {problems}")
        self.write(name, text)


class Settings(Tree):
    def test(self):
        header, table = "include/holdfast/train.h", "src/settings/table.c"
        self.assertIn("no struct", check_settings.find_problems(self.root, None)[0])
        struct = ("typedef struct hf_x {\n    size_t size; /* its */\n    /** Share; small.\n     * Default:\n     * 1/8. */\n"
                  "    double eps;\n    /** Default: NULL (none). */\n    const char *kernel, *name;\n"
                  "    /** Default: HF_A. */\n    hf_k kind;\n} hf_x;\ntypedef enum hf_k {\n    HF_A = 0,\n    HF_B\n} hf_k;\n"
                  "HF_SETTINGS(hf_x)\n")
        rows = "    {NUMBER(eps, 0, 1), DEFAULT(1.0 / 8)},\n    {TEXT(kernel)},\n    {TEXT(name)},\n    {CHOICE(kind, hf_k, K, HF_B)},\n"
        for said, members, lines in [(None, struct, rows), ("kernel has no row", struct, rows.replace("    {TEXT(kernel)},\n", "")),
                                     ("eps has several rows", struct, rows + "    {FLAG(eps)},\n"),
                                     ("'age' is no member", struct, rows + "    {FLAG(age)},\n"),
                                     ("eps: its comment does not say 'Default: 1.0 / 8.'", struct.replace("Default:\n     * 1/8", "1/8"), rows),
                                     ("eps: its comment says 'Default: 1/8', the table 0.5", struct, rows.replace("1.0 / 8", "0.5")),
                                     ("kind: its comment says 'Default: HF_A', the table HF_B", struct,
                                      rows.replace("HF_B)", "HF_B), DEFAULT(HF_B)")),
                                     ("does not begin", struct.replace("    size_t size; /* its */\n", ""),
                                      rows.replace("    {NUMBER(eps, 0, 1), DEFAULT(1.0 / 8)},\n", ""))]:
            self.write(header, members)
            self.write(table, "#define SETTINGS hf_x\n" + lines + "SETTINGS_TABLE(hf_x, rows)\n")
            problems = check_settings.find_problems(self.root, None)
            self.assertEqual([said in problem for problem in problems if said], [True] if said else problems)

    def test_forms_of_functions(self):
        header, struct = "include/holdfast/one.h", "typedef struct hf_r {\n    size_t size;\n} hf_r;\n"
        for said, function in [
                (None, "HF_API const hf_fit_settings *hf_x_settings_of(const hf_x *x);\n"
                       "HF_API const hf_x_report *\nhf_x_report_of(const hf_x *x);\n"
                       "HF_API hf_x_workspace *hf_x_workspace_create(hf_context *ctx, const hf_x *x);\n"
                       "HF_API void hf_x_workspace_free(hf_x_workspace *w);\n"
                       "HF_API hf_status hf_r_make(hf_r *r);\n"),
                ("hf_x_settings() is not of", "HF_API const hf_fit_settings *hf_x_settings(const hf_x *x);\n"),
                ("hf_x_report_of() is not of", "HF_API void hf_x_report_of(const hf_x *x, hf_report *out);\n"),
                ("hf_x_report_of() is not of", "HF_API const hf_fit_report *hf_x_report_of(const hf_y *y);\n"),
                ("hf_x_room() is not", "HF_API hf_x_workspace *hf_x_room(const hf_x *x);\n"),
                ("with a hf_x_workspace_free()", "HF_API hf_x_workspace *hf_x_workspace_create(const hf_x *x);\n"),
                ("returns a struct by value", "HF_API hf_r hf_x_get(const hf_x *x);\n")]:
            problems = check_settings.badly_formed({header: struct + function})
            self.assertEqual([said in problem for problem in problems if said], [True] if said else problems)


class Likelihoods(Tree):
    def take(self, *beginnings):
        for name in house.files(PROJECT):
            if name.startswith(beginnings) and name.endswith((".c", ".h")):
                self.write(name, house.read(PROJECT, name))

    def few(self):
        """The lists of names alone, and what they need."""
        self.take("src/sites/likelihood_", "src/kernel/forms.c", "include/holdfast/enums.h", check_likelihoods.LIST)
        needed = {"include/holdfast/enums.h": check_likelihoods.EXCEPTIONS["include/holdfast/enums.h"]}
        self.enterContext(unittest.mock.patch.object(check_likelihoods, "EXCEPTIONS", needed))
        self.enterContext(unittest.mock.patch.object(check_likelihoods, "QUESTIONS", {}))
        self.clean(check_likelihoods)

    def asking(self, body):
        """Problems of a file with these lines."""
        self.write("src/fit/asks.c", SPDX + f"int asks(const char *sites, const char *word)\n{{\n    {body}\n}}\n")
        return check_likelihoods.find_problems(self.root, self.build)

    def test_likelihoods(self):
        self.take("src/", "apps/", "include/")
        self.clean(check_likelihoods)
        asked, named = self.asking("return sites == HF_LIKELIHOOD_GAMMA;")
        self.assertIn("src/fit/asks.c: asks for a likelihood", asked)
        self.assertIn("src/fit/asks.c: HF_LIKELIHOOD_GAMMA", named)
        os.remove(os.path.join(self.root, "src/sites/likelihood_gamma.c"))
        asks, gone = sorted(check_likelihoods.find_problems(self.root, self.build), key=lambda problem: "no src/sites" in problem)[1:]
        self.assertIn("src/fit/asks.c", asks)
        self.assertIn("no src/sites/likelihood_gamma.c", gone)

    def test_questions(self):
        """Also for those that other methods describe; to give one is no question."""
        self.few()
        for body in ["return fit->sites == HF_LIKELIHOOD_GAUSSIAN;", "return HF_LIKELIHOOD_ROBUST != sites;", "return sites == (HF_LIKELIHOOD_SOFTMAX);",
                     "switch (sites) {\n    case HF_LIKELIHOOD_PURSUIT:\n        return 1;\n    }", "return sites > HF_LIKELIHOOD_ROBUST;",
                     "static const int rows[] = {[HF_LIKELIHOOD_PURSUIT] = 1};", "return rows[HF_LIKELIHOOD_ROBUST];",
                     "return mask & BIT(HF_LIKELIHOOD_SOFTMAX);"]:
            with self.subTest(body):
                problem, = self.asking(body)
                self.assertIn("src/fit/asks.c: asks for a likelihood on lines 4" if "case" not in body else "on lines 5", problem)
        for body in ["settings.sites = HF_LIKELIHOOD_ROBUST;\n    return 0;", 'return use((const row){"rrp", HF_LIKELIHOOD_PURSUIT});',
                     "/* sites == HF_LIKELIHOOD_ROBUST */\n    return 0;", "return sites < HF_LIKELIHOOD_COUNT_OF(1);"]:
            with self.subTest(body):
                self.assertEqual(self.asking(body), [])

    def test_counted_questions(self):
        """More than are allowed, fewer, and a file that is gone."""
        self.few()
        with unittest.mock.patch.object(check_likelihoods, "QUESTIONS", {"src/fit/asks.c": (1, "words")}):
            ask = "sites == HF_LIKELIHOOD_ROBUST"
            self.assertEqual(self.asking(f"return {ask};"), [])
            for body, said in [(f"return {ask} || {ask};", "lines 4, 4, 1 are allowed"), ("return 0;", "0 times now, not 1")]:
                with self.subTest(body):
                    problem, = self.asking(body)
                    self.assertIn(said, problem)
            os.remove(os.path.join(self.root, "src/fit/asks.c"))
            self.assertEqual(check_likelihoods.find_problems(self.root, self.build), ["tests/house/check_likelihoods.py: there is no src/fit/asks.c"])

    def test_names(self):
        self.few()
        for body in ['return strcmp(word, "gamma") == 0;', 'static const char *const rates[] = {"none", "gamma"};\n    return rates[0][0];',
                     'static const row many[] = {\n        {"none", 1},\n        {"gamma", 2}};', 'word = "gamma";\n    return 0;', 'return use((const row){"gamma", 1});']:
            with self.subTest(body):
                self.assertEqual(["src/fit/asks.c" in problem for problem in self.asking(body)], [True])
        for body in ['return hfi_refuse(ctx, "give %s or %s", "gamma", word != NULL ? "probit" : "softmax");',
                     'return strcmp(word, "gammas") == 0;', '/* strcmp(word, "gamma") */\n    return 0;']:
            with self.subTest(body):
                self.assertEqual(self.asking(body), [])

    def test_a_name_of_something_else(self):
        """A kernel and a law of ageing are called exponential; a likelihood may be too."""
        self.few()
        text = house.read(PROJECT, check_likelihoods.LIST)
        self.write(check_likelihoods.LIST, text.replace('    RATE(GAMMA,', '    RATE(EXPONENTIAL, exponential, "exponential", "waits") \\\n    RATE(GAMMA,'))
        self.write("src/sites/likelihood_exponential.c", SPDX)
        for body in ['return strcmp(word, "exponential") == 0;', 'static const char *const laws[] = {"exponential"};\n    return laws[0][0];']:
            with self.subTest(body):
                self.assertEqual(self.asking(body), [])
        for body in ['return strcmp(sites, "exponential") == 0;', 'static const char *const links[] = {"exponential"};\n    return links[0][0];',
                     'static const row likelihoods[] = {\n        {"a", {"b"}},\n        {"c", {"exponential"}}};']:
            with self.subTest(body):
                self.assertEqual(["src/fit/asks.c" in problem for problem in self.asking(body)], [True])


class Arrows(Tree):
    def test(self):
        self.clean(check_arrows)
        for expected, name, old, new in [
                ("`core` must not include", "src/core/core.c", "core/core.h", "data/data.h"),
                ("`data` must not include", "src/data/data.h", "core/core.h", "linalg/blas.h"),  # above, yet not allowed
                ("with the room", "src/core/core.c", '"core/core.h"', '"core.h"'),
                ("<> is for public headers", "src/core/core.c", '"core/core.h"', "<data/data.h>"),
                ("<> is for public headers", "apps/holdfast/shell/main.c", "<holdfast/holdfast.h>", "<fit/fit.h>"),
                ("on the line of #include", "src/core/core.c", '"core/core.h"', "HEADER"),
                ("on the line of #include", "src/core/core.c", '#include "core/core.h"', '#incl\\\nude "data/data.h"'),
                ("is in no room", "src/core/core.c", '"core/core.h"', '"attic/core.h"'),
                ("is internal", "apps/holdfast/shell/main.c", "<holdfast/holdfast.h>", '"core/core.h"'),
                ("`shell` of the tool must not", "apps/holdfast/shell/main.c", "<holdfast/holdfast.h>", '"fit/fit.h"'),
                ("with the room", "apps/holdfast/shell/main.c", "<holdfast/holdfast.h>", '"tool.h"'),
                ("only store may include", "src/core/core.c", "<holdfast/one.h>", "<sqlite3.h>"),
                ("only linalg may include", "src/model/model.c", "data/data.h", "linalg/blas.h"),
                ("OpenMP outside", "src/model/model.c", "    return", "#pragma omp parallel\n    return"),
                ("dpotrf_ belongs to linalg", "src/model/model.c", "hfi_core()", "dpotrf_()"),
                ("sqlite3_free belongs to store", "src/model/model.c", "hfi_core()", "sqlite3_free()"),
                ("SQLITE_NOMEM belongs to store", "src/model/model.c", "hfi_core()", "SQLITE_NOMEM"),
                ("C's own headers only", "include/holdfast/one.h", "<holdfast/export.h>", "<sys/stat.h>"),
                ("stands below it", "docs/architecture.md", "| `core` | x | |", "| `core` | x | `model` |"),
                ("`model` must not include", "docs/architecture.md", "all of the above", "all above but `data`"),
                ("no table", "docs/architecture.md", "may use", "whatever"),
        ]:
            with self.subTest(expected=expected):
                self.broken(check_arrows, expected, name, old, new)

    def test_comments_and_strings_do_not_count(self):
        self.write("src/model/model.c", SPDX + '/* #include "core/secret.h"\n#pragma omp parallel\n */\n')
        self.clean(check_arrows)

    def test_room_unknown_to_the_document(self):
        self.write("src/attic/a.c", SPDX)
        self.assertIn("not in a room", check_arrows.find_problems(self.root, None)[0])

    def test_room_of_the_tool_unknown_to_the_document(self):
        for name in "apps/holdfast/attic/a.c", "apps/holdfast/a.c":
            self.write(name, SPDX)
            self.assertIn("not in a room of the tool", check_arrows.find_problems(self.root, None)[0])
            os.remove(os.path.join(self.root, name))


class Targets(Tree):
    def test(self):
        with unittest.mock.patch.object(check_targets, "LIST", {}):
            self.clean(check_targets)
            for line in ["if (model->outputs > 1) return 1;", "if (hf_model_outputs(f(m)) == 1) return 1;",
                         "if (model->classes > 0) return 1;", "if (hf_kind_is_class(1)) return 1;"]:
                with self.subTest(line):
                    self.broken(check_targets, "asks how many", "src/model/model.c", "    return hfi_core();",
                                f"    {line}\n    return hfi_core();")
            self.broken(check_targets, "core.c: asks how many", "src/core/core.c", "    return 1;", "    return outputs == 1;")
            self.write("src/model/predict.c", SPDX + "int f(int outputs)\n{\n    return outputs > 1;\n}\n")  # the table's own
            self.clean(check_targets)
        with unittest.mock.patch.object(check_targets, "LIST", {"src/model/model.c": (1, "because")}):
            self.assertIn("has 0 questions now", check_targets.find_problems(self.root, None)[0])


class Solvers(Tree):
    def test(self):
        with unittest.mock.patch.object(check_solvers, "LIST", {}):
            self.clean(check_solvers)
            for line in ["if (fit->solver == HF_SOLVER_EXACT) return 1;", "if (HF_SOLVER_AUTO != solver) return 1;",
                         "case HF_SOLVER_INDUCING: return 1;", "if (s !=\n        HF_SOLVER_PROJECTED) return 1;"]:
                for name in ["src/model/model.c", "apps/holdfast/shell/main.c"]:
                    with self.subTest(line, name=name):
                        self.broken(check_solvers, f"{name}: asks for a solver", name, "    return ", f"    {line}\n    return ")
            rows = "int f(int s)\n{\n    static const int row[] = {[HF_SOLVER_EXACT] = 1};\n    return row[s];\n}\n"
            self.write("src/model/rows.c", SPDX + rows)  # a table
            self.write("src/solver/solution.c", SPDX + "int f(int s)\n{\n    return s == HF_SOLVER_EXACT;\n}\n")  # its own
            self.clean(check_solvers)
        with unittest.mock.patch.object(check_solvers, "LIST", {"src/model/model.c": (1, "because")}):
            self.assertIn("has 0 questions now", check_solvers.find_problems(self.root, None)[0])


class Text(Tree):
    def test_sizes(self):
        self.clean(check_sizes)
        self.broken(check_sizes, "hf_one has 81 lines", "src/core/core.c", "    return hfi_core();\n",
                    "    hfi_core();\n" * 77 + "    return 1;\n")
        self.broken(check_sizes, "601 lines", "apps/holdfast/shell/main.c", "\n\n", "\n" * 596)

    def test_licence(self):
        self.clean(check_licence)
        self.broken(check_licence, "main.c:1:", "apps/holdfast/shell/main.c", "SPDX", "XDPS")
        self.write("scripts/x", "#!/bin/sh\ntrue\n")
        self.assertEqual(len(check_licence.find_problems(self.root, None)), 1)

    def test_marks(self):
        self.clean(check_marks)
        self.broken(check_marks, "TO" "DO", "src/core/core.c", "return 1;", "return 1; /* TO" "DO */")
        self.broken(check_marks, "// comment", "src/core/core.c", "return 1;", "return 1; // one")
        self.broken(check_marks, "p is offset before", "src/core/core.c", "    return 1;",
                    "    int *p = hfi_alloc(3), *q = p + 1;\n    return *q;")
        self.broken(check_marks, "a tab", "src/core/core.c", "    return 1;", "\treturn 1;")
        self.write("src/core/core.c", SPDX + 'const char *hfi_address = "http://example.org";\n')
        self.clean(check_marks)

    def test_api_covered(self):
        self.clean(check_api_covered)
        self.broken(check_api_covered, "hf_one is not in the allocation", "tests/api/test_allocation.c", "hf_one()",
                    "1 /* hf_one() */")
        self.broken(check_api_covered, "hf_two is not in the sweep of bad", "tests/api/test_arguments_more.c",
                    "hf_two(0, 0)", "0")
        os.remove(os.path.join(self.root, "tests/api/test_allocation.c"))
        self.assertIn("there is none", check_api_covered.find_problems(self.root, None)[0])

    def test_docs(self):
        self.clean(check_docs)
        name = "include/holdfast/one.h"
        self.broken(check_docs, "hf_one", name, "/** One and two. */\n", "")
        self.broken(check_docs, "hf_two", name, "HF_API int hf_two", "\nHF_API int hf_two")
        self.broken(check_docs, "hf_one", name, "/** One and two. */", "/* not for the manual */")
        self.broken(check_docs, "hf_three() is declared nowhere", name, "One and two.", "One and two; hf_three() too.")
        self.broken(check_docs, "@file", name, "@brief", "brief")
        for text, wrong in (("[a](http://example.org/b)", "by https"), ("https://example", "by https"),
                            ("<https://example.org/b>, [c](https://example.org/b).", "stands in links.md:1 too")):
            self.write("links.md", text + "\n")
            self.assertIn(wrong, "\n".join(check_docs.find_problems(self.root, None)))
        self.write("links.md", "<https://example.org/b>, https://example.org/c?d=1.\n")
        self.clean(check_docs)
        self.broken(check_docs, "does not include", "include/holdfast/holdfast.h", "#include <holdfast/one.h>\n", "")

    @unittest.skipIf(shutil.which("clang-format") is None, "no clang-format")
    def test_format(self):
        self.clean(check_format)
        self.broken(check_format, "core.c", "src/core/core.c", "    return 1;", "  return 1;")


class Pages(Tree):
    FORMS = ('static const form_info FORM[HFI_FORMS] = {\n    {"se", {"rbf", NULL}, true, true, HFI_FIELDS, 1, {HFI_FIELD_LENGTHSCALE}},\n'
             '    {"sm",\n     {NULL, NULL},\n     false,\n     true,\n     HFI_FIELD_WEIGHT,\n     2,\n     {HFI_FIELD_WEIGHT, HFI_FIELD_MEAN}},\n};\n'
             'static const char *const FIELD[HFI_FIELDS] = {"lengthscale", "weight", "mean"};\n')
    KERNELS = ("# Kernels\n\n## se\n\n`rbf`, `lengthscale` ![a](pictures/kernel-se.svg)\n\n## sm\n\n`weight[q]`, `mean` "
               "![b](pictures/kernel-sm.svg)\n")
    RESULTS = ("# Results\n\n- **Claimed**: a\n- **Came out, to the digit:** b\n  and more\n- **Did not**: c\n"
               "- **Not comparable**: d\n- **Command**: e\n")
    README = "[k](docs/kernels.md#sm) [a](docs/architecture.md) [r](docs/results-x.md)\n"

    def lay(self, **changed):
        for name, text in [("FORMS", "src/kernel/forms.c"), ("KERNELS", "docs/kernels.md"), ("README", "README.md"),
                           ("RESULTS", "docs/results-x.md")]:
            self.write(text, changed.get(name, getattr(self, name)))
        for name in ("se", "sm"):
            self.write(f"docs/pictures/kernel-{name}.svg", "<svg/>")
        return check_pages.find_problems(self.root, None)

    def test(self):
        self.assertEqual(self.lay(), [])
        for expected, name, old, new in [
                ("no section about the kernel sm", "KERNELS", "## sm", "### sm"),
                ("does not name `rbf`", "KERNELS", "`rbf`", "rbf"),
                ("does not name `mean`", "KERNELS", "`mean`", "mean"),
                ("no section about the kernel se2", "FORMS", '{"se",', '{"se2",'),
                ("has no picture", "KERNELS", "![b](pictures/kernel-sm.svg)", ""),
                ("was not understood", "FORMS", '{"s', "{ s"),
                ("pictures/kernel-no.svg, which is not there", "KERNELS", "# Kernels", "# Kernels [x](pictures/kernel-no.svg)"),
                ("has no such heading", "README", "#sm", "#smm"),
                ("results-x.md: does not begin", "RESULTS", "- **Claimed**", "words first\n\n- **Claimed**"),
                ("results-x.md: does not begin", "RESULTS", "**Did not**: c", "**Did not**:"),
                ("results-x.md: does not begin", "RESULTS", "- **Not comparable**: d\n", ""),
                ("results-x.md: does not begin", "RESULTS", "**Came out", "**It came out"),
                ("results-x.md: does not begin", "RESULTS", "  and more\n", 24 * "  and more\n"),
                ("docs/kernels.md: no link leads here", "README", "[k](docs/kernels.md#sm)", "`[k](docs/kernels.md)`")]:
            with self.subTest(expected=expected):
                text = getattr(self, name)
                self.assertIn(old, text)
                problems = self.lay(**{name: text.replace(old, new)})
                self.assertTrue(any(expected in problem for problem in problems), f"{expected!r} not in {problems}")

    def test_headings_of_one_name(self):
        self.assertEqual(check_pages.anchors("# A `b` (c)\n\n## Same\n## Same\n"), {"a-b-c", "same", "same-1"})


class Prose(Tree):
    def problems(self, **files):
        for name, text in files.items():
            self.write({"core": "src/core/core.c", "one": "include/holdfast/one.h", "page": "docs/page.md",
                        "program": "tests/program.py", "inner": "src/core/inner.h"}[name], text)
        return check_prose.find_problems(self.root, None)

    def test(self):
        self.assertEqual(self.problems(page="short\n| " + "a" * 100 + " |\n<!-- tables -->\n" + "a" * 101 + "\n"), [])
        one, core = CLEAN["include/holdfast/one.h"], CLEAN["src/core/core.c"]
        for expected, name, text in [
                ("core.c:19: a sentence of a comment begins with What, Who or Of", "core", core + "/* What it is. */\n"),
                ("src/core/core.c:20", "core", core + "/**\n * @brief Of two. */\n"),
                ("a sentence of a comment begins with What, Who or Of", "one", one + "/** Who knows */\nint a;\n"),
                ("program.py:2: a comment begins with What, Who or Of", "program", "# SPDX\n# What it is\n# Of two\n"),
                ("program.py:2: a comment begins with What, Who or Of", "program", 'def a():\n    """Of two."""\n'),
                ("core.c:20: a sentence of a comment begins with What, Who or Of", "core", core + "/* A sum.\n * Of two. */\n"),
                ("core.c:21: a sentence of a comment begins with What, Who or Of", "core", core + "/* A sum\n *\n * What it is */\n"),
                ("core.c:19: a sentence of a comment begins", "core", core + "/* Says what: Who it is. */\n"),
                ("core.c:20: a sentence of a comment begins", "core", core + "/* Says what.\n * Is it? **What\n * is** it. */\n"),
                ("core.c:20: a sentence of a comment has more than 25 words", "core",
                 core + "/* Short.\n * Long" + " a\n * sum" * 13 + ". */\n"),
                ("one.h:15: a sentence of a comment has more", "one", one + "/** Sum" + " of" * 25 + " */\nint a;\n"),
                ("core.c:19: a sentence of a message has more than 25 words", "core",
                 core + 'const char *a = "the" /* joined */ SUM\n    " sum of\\na";\n'.replace("sum", "sum" + " of" * 24)),
                ("page.md:3: a sentence has more than 25 words", "page", "Short.\n\n- Long\n  sum" + " of" * 24 + "\n"),
                ("page.md:1: more than 100 columns", "page", "    |" + "a" * 101 + "|\n"),
                ("one.h:15: a sentence of a comment begins", "one", one + "/** A sum. **What it is.** */\nint a;\n"),
                ("core.c:19: a metaphor", "core", core + "static int hfi_settle_all(void);\n"),
                ("put it above", "one", one + "int a; /**< it knows */\n"),
                ("torn: put the comment above it", "one", one + "struct a {\n    double\n        /** c\n         * d */\n        b;\n};\n"),
                ("torn: put the comment above it", "one", one + "struct a {\n    double b,\n        /** c */\n        d;\n};\n"),
                ("torn: put the comment above it", "one", one + "struct a {\n    char b\n        /** c */\n        [160];\n};\n"),
                ("torn: put the comment above it", "one", one + "struct a {\n    const char\n        *b; /* c */\n};\n"),
                ("more than 100 columns", "one", one + "/* " + "a" * 101 + " */\n"),
                ("inner.h:1: more than 100 columns", "inner", "/* " + "a" * 101 + " */\n"),
                ("more than 120 columns", "core", core + "/* " + "a" * 121 + " */\n"),
                ("page.md:1: more than 100 columns", "page", "a" * 101 + "\n")]:
            with self.subTest(expected=expected, name=name):
                problems = self.problems(**{"one": one, "core": core, "page": "", "program": "", "inner": "", name: text})
                self.assertEqual(len(problems), 1, problems)
                self.assertIn(expected, problems[0])

    def test_words_that_are_no_beginning(self):
        self.assertEqual(check_prose.long_lines("/* a:\n *     " + "x" * 100 + "\n * | " + "y" * 100 + " |\n */\n"), [])
        text = '/* Whatever it is. */\n/* A sum\n * of two,\n * What it is */\n/* Says what, Of two. */\nconst char *a = "/* What */";\nint b; /* Offers. */\n'
        self.assertEqual(list(check_prose.openings(text)), [])
        self.assertEqual(list(check_prose.script_openings("# Says\n# What it is\n# Whatever\nprint('# What')\n")), [])
        self.assertEqual(list(check_prose.torn("struct a {\n    double b;\n    int c, /**< d */\n        e;\n};\n")), [])

    def test_words_that_do_not_count(self):
        for comment in ["`" + "a " * 30 + "` is `b`", "Sum.\n *\n *     " + "is " * 30, "Sum:\n * | " + "is " * 30 + "|",
                        "Sum" + " of" * 23 + ", call(" + "is, " * 9 + ")", "Sum" + " of" * 20 + ".) Sum" + " of" * 20,
                        "Sum" + " 1.5" * 30, "@param a sum" + " of" * 24]:
            self.assertEqual(check_prose.long_comments(f"/* {comment} */\n"), [], comment)
        for message in ["$a" + " the" * 30, "CREATE TABLE" + " the" * 30, " ".join(["static"] * 30), "usage:\\n  a" + " the" * 30,
                        "Sum\\n| of" + " the" * 30, "Sum" + " of" * 20 + '", "' + "Sum" + " of" * 20]:
            self.assertEqual(check_prose.long_messages(f'f("{message}");\n'), [], message)
        self.assertEqual(check_prose.long_page("Sum\n\n    " + "of " * 30 + "\n```\n" + "of " * 30 + "\n```\n"), [])
        self.assertEqual(check_prose.long_page("[sum of](" + "of-" * 30 + ") the\n<!-- tables -->\n" + "of " * 30), [])


class Statics(Tree):
    def test(self):
        for k in range(check_symbols.MOST_OF_A_NAME + 1):
            self.assertEqual(check_symbols.common_statics(self.root), [])
            self.write(f"src/core/part{k}.c", "static int look(const int *at)\n{\n    return *at;\n}\n")
        self.assertIn("5 files have a static look() (src/core/part0.c ...)", check_symbols.common_statics(self.root)[0])


class Compiled(Tree):
    def test_headers(self):
        self.clean(check_headers)
        self.broken(check_headers, "one.h does not compile alone as c17", "include/holdfast/one.h",
                    "int hf_one(void);", "size_t hf_one(void);")
        self.broken(check_headers, "one.h does not compile alone as c++17", "include/holdfast/one.h",
                    "int hf_one(void);", "int hf_one(int class);")
        self.broken(check_headers, "the comment of hf_one() names no error", "include/holdfast/one.h",
                    "HF_API int hf_one(void);", "HF_API hf_status hf_one(void);")
        for expected, old, new in [
                ("of hf_one() names no cost", "/** One and two. */\nHF_API int", "/** Errors: those of hf_two(). */\nHF_API hf_status"),
                ("of hf_two() names no cost", "what names no cost is O(1)", "the cost is in the documents"),
                ("of hf_one() names no cost", "/** One and two. */\nHF_API int",
                 "/** O(1), HF_ERR_ARGUMENT. */\ntypedef struct hf_s {\n    int i; /**< costs nothing */\n} hf_s;\nHF_API hf_status"),
                ("one.h: says nothing of threads", "Thread-safe; what", "What")]:
            with self.subTest(expected=expected, new=new):
                self.broken(check_headers, expected, "include/holdfast/one.h", old, new)

    def test_symbols(self):
        self.compile()
        self.clean(check_symbols)
        for expected, old, new in [
                ("declared and not in", "int hf_one(void)", "int hf_on(void)"),
                ("which no public header declares", "int hfi_core(void)\n",
                 "__attribute__((visibility(\"default\"))) int hfi_core(void)\n"),
                ("without hf_ or hfi_", "int hf_one(void)", "int stray(void);\nint stray(void)\n{\n    return 1;\n}\n"
                                                            "int hf_one(void)"),
                ("is writable", "    return 1;", "    static int count;\n    return count++;"),
                ("uses exit", "    return 1;", "    void exit(int);\n    exit(1);"),
                ("uses dpotrf_", "    return 1;", "    int dpotrf_(void);\n    return dpotrf_();"),
        ]:
            with self.subTest(expected=expected):
                self.broken(check_symbols, expected, "src/core/core.c", old, new)

    def test_circles(self):
        self.compile()
        self.clean(check_circles)
        self.broken(check_circles, "2 files call each other in a circle:\n  src/core/core.c -> src/model/model.c: hfi_model",
                    "src/core/core.c", "    return 1;", "    int hfi_model(void);\n    return hfi_model();")
        self.write("src/model/more.c", SPDX + "int hfi_model(void);\nint hfi_more(void);\n\nint hfi_more(void)\n{\n"
                                              "    return hfi_model();\n}\n")
        self.broken(check_circles, "3 files call", "src/core/core.c", "    return 1;", "    int hfi_more(void);\n    return hfi_more();")
        self.write("src/core/core.c", CLEAN["src/core/core.c"].replace(
            "int hf_one(void)\n", "int hfi_more(void);\nextern int (*const hfi_row[])(void);\n\nint hf_one(void)\n").replace(
            "    return hfi_core();", "    return hfi_row[0]();"))
        self.write("src/model/rows.c", SPDX + "int hfi_more(void);\nint (*const hfi_row[])(void) = {hfi_more};\n")
        self.compile()
        self.assertIn("4 files call", check_circles.find_problems(self.root, self.build)[0])  # a row that is taken by its name

    def test_names_of_internal_headers(self):
        self.write("src/core/core.h", CLEAN["src/core/core.h"].replace(
            "int hfi_core", "typedef struct hfi_a hfi_a;\ntypedef struct hfi_b {\n    int i;\n} hfi_b;\n"
                            "enum hfi_c { HFI_ONE = 1, HFI_TWO };\ntypedef int (*hfi_d)(int);\n#define HFI_E 2\n"
                            "typedef int hfi_f;\nint hfi_core"))
        self.compile()
        self.clean(check_symbols)
        for name, text in [("hfi_b", "struct hfi_b {\n    int i;\n};"), ("hfi_b", "typedef union {\n    int j;\n} hfi_b;"),
                           ("HFI_TWO", "enum {\n    HFI_NONE,\n    HFI_TWO\n};"), ("hfi_d", "typedef void hfi_d(void);"),
                           ("HFI_E", "#define HFI_E 3"), ("hfi_f", "typedef double hfi_f;"),
                           ("hfi_c", "enum hfi_c {\n    HFI_THREE\n};")]:
            with self.subTest(text=text):
                self.broken(check_symbols, f"{name} is defined in", "src/linalg/blas.h", "#define B\n", f"#define B\n{text}\n")
        self.write("src/linalg/blas.h", CLEAN["src/linalg/blas.h"] + "typedef struct hfi_b hfi_b;\n")
        self.clean(check_symbols)

    def test_names_of_types(self):
        """A type that only one file sees, too: it has no name that another file's has."""
        types = ("typedef struct sums {\n    struct {\n        int i;\n    } part;\n} sums;\n\ntypedef enum {\n    ONE\n} kind;\n\n"
                 "static const struct row {\n    int i;\n} rows[1];\n\ntypedef double (*rule)(double);\n")
        model = CLEAN["src/model/model.c"]
        self.write("src/core/core.c", CLEAN["src/core/core.c"] + types)
        self.write("src/model/model.c", model + "struct rows;\nenum {\n    ONE\n};\n#define sums 1\n")  # no types
        self.compile()
        self.clean(check_symbols)
        shell, text = "apps/holdfast/shell/main.c", CLEAN["apps/holdfast/shell/main.c"]
        for name, again in [("sums", "typedef struct {\n    struct {\n        int j;\n    } of[2];\n} sums;\n"),
                            ("kind", "int f(void)\n{\n    enum kind { TWO } two = TWO;\n    return two;\n}\n"),
                            ("row", "typedef union {\n    int j;\n} row;\n"), ("rule", "typedef hf_status rule(void);\n")]:
            for file, before in [("src/model/model.c", model), (shell, text)]:
                with self.subTest(name=name, file=file):
                    self.write(file, before + again)
                    self.assertIn(f"{name} is defined in {' and in '.join(sorted(['src/core/core.c', file]))}",
                                  check_symbols.find_problems(self.root, self.build))
                    self.write(file, before)

    @unittest.skipIf(shutil.which("clang-tidy") is None, "no clang-tidy")
    @unittest.mock.patch.dict(os.environ, {"HF_TEST_ALL": "1"})
    def test_tidy(self):
        text = CLEAN["src/core/core.c"].replace("core/core.h", "data/data.h")
        self.write("src/core/core.h", SPDX + "#ifndef HFI_CORE_H\n#define HFI_CORE_H\n#include <stddef.h>\n"
                                             "typedef struct hf_context hf_context;\ntypedef int hf_status;\n"
                                             "hf_status hfi_fail(hf_context *ctx, hf_status s, const char *f, ...);\n"
                                             "int hfi_core(void);\n#endif\n")
        for name in check_tidy.MODELS.values():
            self.write(name, house.read(PROJECT, name))
        self.write("apps/holdfast/shell/tool.h", SPDX)
        self.compile()
        self.clean(check_tidy)
        self.write("src/core/core.c", text.replace("return 1;", "int *p = NULL;\n    return *p;"))
        self.compile()
        self.assertIn("NullDereference", "".join(check_tidy.find_problems(self.root, self.build)))
        # The analyser is told that hfi_fail returns its status: no false alarm here.
        helper = ("static hf_status get(int **out)\n{\n    static const int one[1] = {0};\n"
                  "    if (out == NULL) return hfi_fail(NULL, -1, \"no\");\n"
                  "    if (hfi_core() > 1) return hfi_fail(NULL, -2, \"no\");\n"
                  "    *out = (int *)one;\n    return 0;\n}\n\nint hf_one(void)\n{\n    int *p = NULL;\n"
                  "    if (get(&p) < 0) return 0;\n    return *p;\n}\n")
        start = text.index("int hf_one")
        self.write("src/core/core.c", text[:start] + helper + text[text.index("int hf_two") - 1:])
        self.compile()
        self.clean(check_tidy)


class Stages(Tree):
    def test_a_folder_keeps_its_builder(self):
        """Also one that cmake began and did not end, which has no build.ninja yet."""
        quick_generator = runpy.run_path(os.path.join(PROJECT, "scripts", "test"))["quick_generator"]
        for line, expected in [("Ninja", (["-G", "Ninja"], ["-k", "0"])), ("Unix Makefiles", ([], ["-k"]))]:
            self.write("build/CMakeCache.txt", f"CMAKE_EXTRA_GENERATOR:INTERNAL=\nCMAKE_GENERATOR:INTERNAL={line}\n")
            self.assertEqual(quick_generator(os.path.join(self.root, "build")), expected)


if __name__ == "__main__":
    unittest.main()
