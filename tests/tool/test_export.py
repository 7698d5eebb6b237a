# SPDX-License-Identifier: Apache-2.0
"""holdfast export: the file of C predicts what holdfast predict does, compiles without a warning, and runs on a Cortex-M."""
import ctypes
import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest

from toolcase import SOURCE, ToolCase, table

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wdouble-promotion", "-O2"]
CORTEX = ["-mcpu=cortex-m4", "-mthumb", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]
CC = os.environ.get("CC", "cc")
KERNELS = ["se", "matern12", "matern32(ard)", "matern52(a,ard) + 0.3*linear(b)", "rq(ard)", "periodic(a, period=3) + se(b)",
           "linear(ard) + constant", "sm(components=2)", "category(kind)*matern52(a,b,ard)", "wave(a) + se", "swell(a)*se(b) + matern32",
           "tilt(b) + se", "(se(a) + constant)*(matern32(b) + linear(a)) + white", "se*white + matern12(a)"]


def noise(count, state=7):
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2 ** 31
        yield (state >> 8) / 2 ** 22 - 1


class Exported:
    """The function of a file, by ctypes."""
    made = 0  # a library of a known name is not loaded again

    def __init__(self, case, name, *flags, inputs, fields, real=ctypes.c_double, output=False):
        Exported.made += 1
        library = case.path("%s%d.so" % (name, Exported.made))
        case.compile(name, "-O0", "-shared", "-fPIC", "-o", library, *flags)  # the self-test is optimised
        self.result = type("Result", (ctypes.Structure,), {"_fields_": [(field, real) for field in fields]})
        self.real, self.inputs, self.output = real, inputs, output
        self.function = ctypes.CDLL(library).predict

    def __call__(self, row, output=0):
        result, x = self.result(), (self.real * self.inputs)(*row)
        code = self.function(x, ctypes.c_uint(output), ctypes.byref(result)) if self.output else self.function(x, ctypes.byref(result))
        return code, result


class Export(ToolCase):
    def compile(self, name, *flags):
        done = subprocess.run([CC, *STRICT, self.path(name), *flags, "-lm"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr[:2000])

    def self_test(self, name):
        self.compile(name, "-DHOLDFAST_SELF_TEST", "-o", self.path("self"))
        done = subprocess.run([self.path("self")], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertTrue(done.stdout.endswith("self-test passed\n"), done.stdout)
        self.assertEqual(len(re.findall(r"(?m)^ ?\d+  ", done.stdout)), 64)

    def kinds(self, rows=60, name="kinds.csv"):
        text = "a,b,kind,y\n"
        for i, e in enumerate(noise(rows)):
            a, b = (i * 37 % rows) / 8, math.cos(3 * i)
            text += "%r,%r,%d,%r\n" % (a, b, i % 3, math.sin(a) + b / 2 + 0.3 * (i % 3) + 0.3 * e)
        return self.write(name, text)

    def places(self):
        return self.write("new.csv", "a,b,kind\n" + "".join("%r,%r,%d\n" % (0.41 * k - 0.3, math.sin(k), k % 3) for k in range(19)))

    def limits(self, name):
        """Differences of mean and variance that rounding may make, as the file knows them, in units of the target's scale."""
        text = self.read(name)
        scale, = re.findall(r"target_scale\[1\] = \{\s*([-+.e\d]+)\}", text)
        mean, var = re.findall(r"mean_limit = ([-+.e\d]+),\s*var_limit = ([-+.e\d]+);", text)[0]
        return float(mean) * float(scale), float(var) * float(scale) ** 2

    def stack(self, name):
        """Bytes of arrays that functions of the file have on the stack."""
        text = self.read(name).split("#ifdef HOLDFAST_SELF_TEST\nstatic")[0]
        sizes = dict(re.findall(r"(?m)^#define (\w+) (\d+)U$", text))
        arrays = re.findall(r"(?m)^    (double|float) \w+\[(\w+)\];$", text)
        return sum({"double": 8, "float": 4}[real] * int(sizes.get(count, count)) for real, count in arrays)

    def compare(self, model, columns, fields, limits, new="new.csv", real=ctypes.c_double, name="p.c"):
        """The file and holdfast predict at the same rows. Standard deviations by their squares, as those have the rounding."""
        rows, want = table(self.read(new)), table(self.ok("predict", model, new))
        f = Exported(self, name, inputs=len(columns), fields=fields, real=real)
        for i, row in enumerate(zip(*(rows[c] for c in columns))):
            code, got = f(row)
            self.assertEqual(code, 0)
            self.assertLessEqual(abs(got.mean - want["y_mean"][i]), limits[0], (name, i))
            for field in ("sd_latent", "sd_observed"):
                self.assertLessEqual(abs(getattr(got, field) ** 2 - want["y_" + field][i] ** 2), limits[1], (name, i, field))
        return f

    FIELDS = ["mean", "sd_latent", "sd_observed"]

    # ---- models

    def test_every_kernel(self):
        self.kinds()
        self.places()
        for kernel in KERNELS:
            with self.subTest(kernel=kernel):
                columns = ["a", "b"] + ["kind"] * ("kind" in kernel)
                self.ok("fit", "kinds.csv", "-t", "y", "-f", ",".join(columns), "-k", kernel, "--iterations", "15", "--set", "noise=0.03",
                        "--suspects", "off", "-o", "m.hf", quiet=False)
                self.ok("export", "m.hf", "-o", "p.c")
                self.self_test("p.c")
                self.assertLess(max(self.limits("p.c")), 1e-10)
                self.compare("m.hf", columns, self.FIELDS, self.limits("p.c"))
                self.ok("export", "m.hf", "--single", "-o", "p.c", quiet=False)
                self.self_test("p.c")

    def test_means_and_solvers(self):
        self.kinds(90)
        self.places()
        for options in (["--mean", "linear"], ["--mean", "zero"], ["--mean", "median"], ["--preset", "rcgp"],
                        ["--solver", "inducing", "--inducing", "20"], ["--solver", "projected", "--actions", "20"]):
            with self.subTest(options=options):
                self.ok("fit", "kinds.csv", "-t", "y", "-f", "a,b", "--iterations", "20", *options, "-o", "m.hf", quiet=False)
                self.ok("export", "m.hf", "-o", "p.c")
                self.self_test("p.c")
                self.compare("m.hf", "ab", self.FIELDS, self.limits("p.c"))
                if options[1] in ("zero", "median"):
                    continue  # beyond this the code is that of any constant
                for option in ("--single", "--compact"):
                    self.ok("export", "m.hf", option, "-o", "p.c", quiet=False)
                    self.self_test("p.c")
                self.ok("export", "m.hf", "--mean-only", "-o", "p.c")
                self.self_test("p.c")
                self.assertNotIn("sd_", self.read("p.c").split("#ifdef HOLDFAST_SELF_TEST")[0])

    def test_single_precision(self):
        """1e-5 of the target's scale; the report tells what was measured, in fewer places than are looked at here."""
        self.kinds(80)
        self.places()
        self.ok("fit", "kinds.csv", "-t", "y", "-f", "a,b", "-k", "se(lengthscale=1)", "--set", "outputscale=0.8", "--set", "noise=0.1",
                "--suspects", "off", "-o", "m.hf", quiet=False)
        self.ok("export", "m.hf", "-o", "p.c")
        self.compare("m.hf", "ab", self.FIELDS, (1e-12, 1e-12))
        sizes = {}
        for option in ("", "--single", "--compact", "--mean-only"):
            report = json.loads(self.ok("export", "m.hf", *option.split(), "-o", "p.c", "--json"))
            sizes[option] = report["data_bytes"]
            self.assertEqual(report["stack_bytes"], self.stack("p.c"), option)
            if option in ("--single", "--compact"):
                self.self_test("p.c")
                self.compare("m.hf", "ab", self.FIELDS, (1e-6, 1e-6 if option == "--single" else 1e-5), real=ctypes.c_float)
                self.assertLess(report["mean_error"], 1e-6)
                self.assertLess(report["sd_error"], 1e-6 if option == "--single" else 1e-5)
                self.assertEqual(report["probes"], 64)
        self.assertLess(sizes["--single"], 0.6 * sizes[""])
        self.assertLess(sizes["--compact"], 0.7 * sizes["--single"])
        self.assertLess(sizes["--mean-only"], sizes["--compact"])
        self.assertNotRegex(self.read("p.c").replace("HOLDFAST", ""), r"\b(malloc|calloc|free|while|goto)\b")

    def test_what_cancels(self):
        """A prior variance of 5e7 times the noise: weights of 1e4 cancel, in double they may, and the answers are near all the same."""
        self.write("near.csv", "a,y\n" + "".join("%r,%r\n" % (i / 20, math.sin(i / 20)) for i in range(60)))
        self.ok("fit", "near.csv", "-t", "y", "-k", "se(lengthscale=3)", "--set", "outputscale=50", "--set", "noise=1e-6", "--no-train",
                "--standardise", "off", "-o", "m.hf", quiet=False)
        places = [k / 64 for k in range(189)]  # a float has them
        self.write("new.csv", "a\n" + "".join("%r\n" % a for a in places))
        want = table(self.ok("predict", "m.hf", "new.csv"))
        for option in ("--single", "--compact"):
            code, _, err = self.run_tool("export", "m.hf", option, "-o", "p.c")
            self.assertEqual((code, err), (0, ""))
            self.self_test("p.c")
            f = Exported(self, "p.c", inputs=1, fields=self.FIELDS, real=ctypes.c_float)
            for k, a in enumerate(places):
                got = f([a])[1]
                self.assertLessEqual(abs(got.mean - want["y_mean"][k]), 1e-6)
                self.assertLessEqual(abs(got.sd_latent - want["y_sd_latent"][k]), 1e-5, (option, a))

    def test_a_reading_apart_from_all_others(self):
        """Its column of the factor has nothing below the diagonal, and the errors that are told are those of the file."""
        self.write("apart.csv", "a,y\n1000,0.5\n" + "".join("%r,%r\n" % (i / 100, math.sin(i / 10)) for i in range(200)))
        self.ok("fit", "apart.csv", "-t", "y", "-k", "se(lengthscale=0.02)", "--set", "outputscale=1", "--set", "noise=1e-5", "--no-train",
                "--standardise", "off", "--suspects", "off", "-o", "m.hf", quiet=False)
        for option in ("--single", "--compact"):
            report = json.loads(self.ok("export", "m.hf", option, "-o", "p.c", "--json"))
            self.self_test("p.c")
            self.assertTrue(1e-9 < report["sd_error"] < 5e-6, report)

    def test_a_warning_where_a_float_has_not_the_digits(self):
        self.write("far.csv", "a,y\n" + "".join("%r,%r\n" % (i / 20, 1e6 + math.sin(i / 20)) for i in range(60)))
        self.ok("fit", "far.csv", "-t", "y", "--no-train", "-o", "m.hf", quiet=False)
        code, _, err = self.run_tool("export", "m.hf", "--single", "-o", "p.c")
        self.assertEqual(code, 0)
        self.assertIn("single precision costs this model", err)
        self.self_test("p.c")

    def test_several_outputs(self):
        text = "a,y1,y2\n"
        for i, e in enumerate(noise(40)):
            text += "%r,%r,%r\n" % (i / 8, math.sin(i / 8) + 0.1 * e, 50 + 20 * math.cos(i / 8) - e)
        self.write("wide.csv", text)
        self.ok("fit", "wide.csv", "-t", "y1,y2", "--iterations", "20", "--suspects", "off", "-o", "m.hf", quiet=False)
        self.ok("export", "m.hf", "-o", "p.c")
        self.self_test("p.c")
        self.write("new.csv", "a\n" + "".join("%r\n" % (0.31 * k) for k in range(15)))
        want = table(self.ok("predict", "m.hf", "new.csv"))
        f = Exported(self, "p.c", inputs=1, fields=self.FIELDS, output=True)
        for k in range(15):
            for t, scale in ((0, 1), (1, 20)):
                code, got = f([0.31 * k], t)
                self.assertEqual(code, 0)
                self.assertLessEqual(abs(got.mean - want["y%d_mean" % (t + 1)][k]), 1e-11 * scale)
                self.assertLessEqual(abs(got.sd_observed - want["y%d_sd_observed" % (t + 1)][k]), 1e-11 * scale)
        self.assertEqual(f([0.3], 2)[0], 1)
        self.assertEqual(f([math.nan], 0)[0], 1)

    def test_transforms_and_classes(self):
        text = "a,b,y,kind\n"
        for i, e in enumerate(noise(60)):
            a, b = i / 10, math.cos(3 * i)
            text += "%r,%r,%r,%s\n" % (a, b, math.exp(math.sin(a) + b / 2 + 0.2 * e), "up" if math.sin(a) + e > 0 else "down")
        self.write("t.csv", text)
        self.write("new.csv", "a,b\n" + "".join("%r,%r\n" % (0.37 * k, math.sin(k)) for k in range(15)))
        self.ok("fit", "t.csv", "-t", "y", "-f", "a,b", "--transform", "log", "-o", "m.hf", quiet=False)
        self.ok("export", "m.hf", "-o", "p.c")
        self.self_test("p.c")
        f = self.compare("m.hf", "ab", self.FIELDS + ["median"], (1e-11, 1e-10))
        want = table(self.ok("predict", "m.hf", "new.csv"))
        self.assertLessEqual(abs(f([0, 0])[1].median - want["y_median"][0]), 1e-11)
        self.fails(["export", "m.hf", "--mean-only", "-o", "q.c"], "needs the variance")
        self.ok("fit", "t.csv", "-t", "y", "-f", "a,b", "--transform", "sqrt", "-o", "m.hf", quiet=False)
        self.fails(["export", "m.hf", "-o", "q.c"], "transform sqrt")
        for sites in ("probit", "logit"):
            self.ok("fit", "t.csv", "-t", "kind", "-f", "a,b", "--sites", sites, "-o", "m.hf", quiet=False)
            for option in ([], ["--single"]):
                self.ok("export", "m.hf", *option, "-o", "p.c", quiet=False)
                self.self_test("p.c")
            self.ok("export", "m.hf", "-o", "p.c")
            f = Exported(self, "p.c", inputs=2, fields=self.FIELDS + ["probability"])
            want = table(self.ok("predict", "m.hf", "new.csv"))
            for k in range(15):
                self.assertLessEqual(abs(f([0.37 * k, math.sin(k)])[1].probability - want["p_up"][k]), 1e-11)

    def test_refusals(self):
        self.kinds()
        self.ok("fit", "kinds.csv", "-t", "y", "-f", "a,b", "--no-train", "-o", "m.hf", quiet=False)
        for name in ("1a", "a-b", "for", "x" * 41, ""):
            self.fails(["export", "m.hf", "--name", name, "-o", "q.c"], "cannot be that of the function")
        self.fails(["export", "m.hf", "--compact", "--mean-only", "-o", "q.c"], "compact", code=2)
        self.fails(["export", "m.hf", "--method", "gp", "-o", "q.c"], "for envelopes", code=2)
        self.fails(["export", "m.hf", "--json"], "standard output", code=2)
        self.fails(["export", "none.hf", "-o", "q.c"], "none.hf")
        self.fails(["export", "m.hf", "-o", "none/q.c"], "none/q.c")
        if os.path.exists("/dev/full"):
            self.fails(["export", "m.hf", "-o", "/dev/full"], "No space left")
        self.write("counts.csv", "a,y\n" + "".join("%d,%d\n" % (i, i % 5) for i in range(30)))
        self.ok("fit", "counts.csv", "-t", "y", "--sites", "poisson", "-o", "c.hf", quiet=False)
        self.fails(["export", "c.hf", "-o", "q.c"], "counts or amounts")
        lines = self.read("kinds.csv").splitlines()
        self.write("prior.csv", "\n".join([lines[0] + ",m"] + [line + ",0.5" for line in lines[1:]]) + "\n")
        self.ok("fit", "prior.csv", "-t", "y", "-f", "a,b", "--mean-column", "m", "--no-train", "-o", "c.hf", quiet=False)
        self.fails(["export", "c.hf", "-o", "q.c"], "prior means are a column")

    def test_names_in_comments(self):
        self.write("odd.csv", '"a*/ int x; /*\\??/","y `$@"\n' + "".join("%d,%r\n" % (i, math.sin(i)) for i in range(20)))
        self.ok("fit", "odd.csv", "-t", "y `$@", "--no-train", "-o", "m.hf", quiet=False)
        self.ok("export", "m.hf", "--name", "odd", "-o", "p.c")
        self.self_test("p.c")
        self.assertIn("y `$@", self.read("p.c"))
        self.assertEqual(self.ok("export", "m.hf", "--name", "odd"), self.read("p.c"))
        # declarations alone, in another file
        self.write("use.c", '#define HOLDFAST_DECLARATIONS\n#include "p.c"\nint main(void)\n{\n    const odd_real x[odd_INPUTS] = {1.0};\n'
                            "    odd_result r;\n    return odd(x, &r);\n}\n")
        self.compile("use.c", self.path("p.c"), "-o", self.path("use"))
        self.assertEqual(subprocess.run([self.path("use")]).returncode, 0)

    def words(self, name):
        """Names in the code of a file, without what stands in comments and quotes, and without its public ones and those with a number."""
        code = re.sub(r'/\*.*?\*/|"[^"]*"', " ", self.read(name), flags=re.S)
        return sorted({word for word in re.findall(r"(?<![\w.])[A-Za-z_]\w*", code) if not re.search(r"predict|_\d+$", word)})

    def test_names_that_are_taken(self):
        """Names of C, of its headers and of the file are refused, before a file is there; any other name compiles."""
        self.kinds()
        self.ok("fit", "kinds.csv", "-t", "y", "-f", "a,b,kind", "-k", " + ".join(KERNELS), "--no-train", "--suspects", "off", "-o", "m.hf", quiet=False)
        self.ok("fit", "kinds.csv", "-t", "y", "-f", "a,b", "--preset", "cagp", "--actions", "20", "--no-train", "-o", "b.hf", quiet=False)
        self.ok("bound", "kinds.csv", "-t", "y", "-f", "a,b", "-k", "se(lengthscale=1)", "--norm", "8", "--noise-bound", "1", "--save", "e.hf",
                quiet=False)
        found = {}
        for options, some in ((["m.hf", "--single"], "anchor weight factor_rest factor_step factor_inverse solve_factor TOTAL ANCHORS RANK "
                               "input_shift input_scale target_scale target_shift int32_t printf test_cases r main"),
                              (["b.hf"], "block entry variance posterior factor"),
                              (["e.hf"], "ALL READINGS matrix multiply reach solve_back bound dual noise")):
            self.ok("export", *options, "-o", "p.c", quiet=False)
            self.assertLessEqual(set(some.split()), set(self.words("p.c")))
            for name in self.words("p.c"):
                if found.setdefault(name, options) is options:
                    self.fails(["export", *options, "--name", name, "-o", "q.c"], "cannot be that of the function")
        for name in ("leaf_3 inverse_0 expm1 uint32_t int16_t uint_fast8_t INT8_MAX sinf erfl asin isnan remove puts NAN EOF FILE size_t break goto auto _Bool __func__ "
                     "SIZE_MAX HUGE_VALF fpos_t stdin "
                     # of a compiler that is not told -std=c99, with glibc or newlib
                     "gamma gammaf y0 y1f ynl j0 j1 jn drem significand scalb scalbl signgam finite isinff isnanl lgamma_r lgammaf_r exp10 sincos roundeven fmaximum_numl "
                     "infinity M_PI M_PIl M_2_SQRTPI M_SQRT1_2 fileno getline getdelim dprintf vdprintf popen off_t ssize_t va_list getc_unlocked P_tmpdir setlinebuf "
                     "INT8_WIDTH SIZE_WIDTH FP_LLOGB0 iszero asm typeof linux unix bool true false nullptr static_assert thread_local alignas alignof constexpr "
                     "typeof_unqual").split():
            self.fails(["export", "m.hf", "--name", name, "-o", "q.c"], "cannot be that of the function")
        self.assertFalse(os.path.exists(self.path("q.c")))
        for name in "predictor leaf_99 _x INT sinfl into of library passed M_X y2 gammas".split():
            self.ok("export", "b.hf", "--name", name, "-o", "p.c")
            self.self_test("p.c")

    def test_taken_names_leave_nothing_of_a_long_file(self):
        """The last word of a file refuses as soon as the first: on standard output there is no way back."""
        self.kinds(120)
        self.ok("fit", "kinds.csv", "-t", "y", "-f", "a,b", "--no-train", "--suspects", "off", "-o", "m.hf", quiet=False)
        self.ok("bound", "kinds.csv", "-t", "y", "-f", "a,b", "-k", "se(lengthscale=1)", "--norm", "8", "--noise-bound", "1", "--save", "e.hf",
                quiet=False)
        names = "main kernel posterior variance solve_factor TOTAL"
        for options, own in ((["m.hf"], names + " differs squared mean_limit result"), (["m.hf", "--single"], names + " factor_rest lead_at scaled"),
                             (["m.hf", "--compact"], names + " differs"), (["e.hf"], "main kernel reach solve_back READINGS limit most")):
            self.assertGreater(len(self.ok("export", *options, quiet=False)), 65536)
            for name in own.split():
                self.fails(["export", *options, "--name", name], "cannot be that of the function")

    # ---- envelopes

    def test_envelopes(self):
        lines = ["a,b,y,e"]
        for i, e in enumerate(noise(30)):
            a, b = (i * 7 % 30) / 6, math.cos(2 * i)
            lines.append("%r,%r,%r,%r" % (a, b, 100 + math.sin(a) + b / 2 + 0.05 * e, 0.05 if i % 5 else 0.1))
        self.write("t.csv", "\n".join(lines) + "\n")
        self.write("new.csv", "a,b\n" + "".join("%r,%r\n" % (0.29 * k, math.sin(k)) for k in range(15)))
        self.ok("bound", "t.csv", "-t", "y", "-f", "a,b", "-k", "matern52(a,b,lengthscale=2)", "--norm", "8", "--noise-bound-column", "e",
                "--offset", "100", "--save", "e.hf", quiet=False)
        for method in ("ellipsoid", "closed-form", "minimum-norm", "gp"):
            with self.subTest(method=method):
                self.ok("export", "e.hf", "--method", method, "-o", "p.c")
                self.self_test("p.c")
                want = table(self.ok("bound", "e.hf", "--at", "new.csv", "--method", method))
                f = Exported(self, "p.c", inputs=2, fields=["lower", "upper", "centre"])
                for k in range(15):
                    code, got = f([0.29 * k, math.sin(k)])
                    self.assertEqual(code, 0)
                    self.assertLessEqual(abs(got.lower - want["lower"][k]), 1e-10)
                    self.assertLessEqual(abs(got.upper - want["upper"][k]), 1e-10)
                self.assertIn("ASSUMED", self.read("p.c"))
        for option in ("--single", "--compact", "--mean-only"):
            self.fails(["export", "e.hf", option, "-o", "q.c"], "not for envelopes")
        self.fails(["export", "e.hf", "--method", "best", "-o", "q.c"], "there is no method 'best'", code=2)

    # ---- MISRA

    DEVIATIONS = {"8.9", "21.6"}  # as the head of a file says, and docs/export.md why

    def broken_rules(self, name):
        """Rules of MISRA C:2012 that a file breaks, the self-test left out, with the lines that do."""
        # cppcheck runs its rules by "python3": by this one, which need not be the first of the user's
        environment = dict(os.environ, PATH=os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"])
        done = subprocess.run(["cppcheck", "--addon=misra", "--std=c99", "-UHOLDFAST_SELF_TEST", "-UHOLDFAST_DECLARATIONS", "-q",
                               "--suppress=missingIncludeSystem", self.path(name)], capture_output=True, text=True, env=environment)
        found, lines = {}, self.read(name).splitlines()
        for line, rule in re.findall(r"(?m)^\S+?:(\d+):.*\[misra-c2012-([\d.]+)\]$", done.stdout + done.stderr):
            found.setdefault(rule, []).append(lines[int(line) - 1])
        self.assertNotIn("syntaxError", done.stderr)
        return found

    def check_misra(self, *options):
        self.ok("export", "m.hf", *options, "-o", "p.c", quiet=False)
        broken = {rule: lines for rule, lines in self.broken_rules("p.c").items() if rule not in self.DEVIATIONS}
        self.assertEqual(broken, {})
        for rule in self.DEVIATIONS:
            self.assertIn(rule, self.read("p.c").split("*/")[0], "the head names the deviation")

    def test_misra(self):
        if shutil.which("cppcheck") is None:
            self.skipTest("cppcheck is not installed: no rule of MISRA was checked")
        self.write("bad.c", "int f(int a);\nint f(int a)\n{\n    if (a > 0) return 1;\n    return 0;\n}\n")
        self.assertIn("15.5", self.broken_rules("bad.c"))
        self.write("t.csv", "a,b,kind,y,label\n" + "".join("%d,%r,%d,%r,%s\n" % (i, math.cos(3 * i), i % 3, 1.5 + math.sin(i), "no" if i % 3 else "yes")
                                                         for i in range(9)))
        for options, kinds in ((["-t", "y", "-f", "a,b,kind", "-k", " + ".join(KERNELS)], [[], ["--compact"], ["--mean-only"]]),
                               (["-t", "y", "-f", "a,b", "--mean", "linear"], [["--single"]]),
                               (["-t", "y", "-f", "a,b", "--solver", "inducing", "--inducing", "4"], [["--single"]]),
                               (["-t", "y", "-f", "a,b", "--solver", "projected", "--actions", "4", "--transform", "log"], [["--single"]]),
                               (["-t", "y,b", "-f", "a"], [[]]),
                               (["-t", "label", "-f", "a,b", "--sites", "probit"], [["--single"]]),
                               (["-t", "label", "-f", "a,b", "--sites", "logit"], [["--single"]])):
            suspects = [] if "label" in options else ["--suspects", "off"]
            self.ok("fit", "t.csv", "--no-train", *options, *suspects, "-o", "m.hf", quiet=False)
            for kind in kinds:
                with self.subTest(options=options, kind=kind):
                    self.check_misra(*kind)
        self.ok("bound", "t.csv", "-t", "y", "-f", "a,b", "-k", "se(lengthscale=1)", "--norm", "8", "--noise-bound", "1", "--save", "m.hf",
                quiet=False)
        self.check_misra()

    # ---- a controller

    def on_cortex(self, name):
        """Bytes of read-only data, and what the self-test prints on an emulated Cortex-M4."""
        here = os.path.join(SOURCE, "tests", "tool")
        done = subprocess.run(["arm-none-eabi-gcc", *STRICT, *CORTEX, "-c", self.path(name), "-o", self.path("p.o")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        sections = subprocess.run(["arm-none-eabi-size", "-A", self.path("p.o")], capture_output=True, text=True).stdout
        data = sum(int(size) for size in re.findall(r"(?m)^\.rodata\S*\s+(\d+)", sections))
        done = subprocess.run(["arm-none-eabi-gcc", "-O2", *CORTEX, "-DHOLDFAST_SELF_TEST", self.path(name), os.path.join(here, "cortex_m.c"),
                               "-T", os.path.join(here, "cortex_m.ld"), "--specs=rdimon.specs", "-lm", "-o", self.path("p.elf")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run(["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
                               "-semihosting-config", "enable=on,target=native", "-kernel", self.path("p.elf")],
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        return data, done.stdout + done.stderr

    def test_on_a_controller(self):
        for program in ("arm-none-eabi-gcc", "qemu-system-arm"):
            if shutil.which(program) is None:
                self.skipTest("%s is not installed: nothing was run on a Cortex-M" % program)
        text = "a,b,c,d,y\n"
        made = noise(5 * 200)
        for _ in range(200):
            a, b, c, d, e = (2 * next(made) for _ in range(5))
            text += "%r,%r,%r,%r,%r\n" % (a, b, c, d, math.sin(2 * a) + 0.5 * b * c + 0.2 * d + 0.1 * e)
        self.write("t.csv", text)
        self.ok("fit", "t.csv", "-t", "y", "--suspects", "off", "-o", "m.hf", quiet=False)
        for options in ([], ["--single"], ["--compact"], ["--mean-only", "--single"]):
            self.ok("export", "m.hf", *options, "-o", "p.c", quiet=False)
            data, said = self.on_cortex("p.c")
            self.assertIn("self-test passed", said, options)
            if options == ["--compact"]:
                self.assertLess(data, 64 * 1024)  # 200 readings of 4 inputs, with standard deviations


if __name__ == "__main__":
    unittest.main()
