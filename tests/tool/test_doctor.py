# SPDX-License-Identifier: Apache-2.0
"""The doctor finds what it is given to find; the tool without arguments shows where to begin; colours are for terminals."""
import json
import os
import pty
import subprocess
import unittest

from toolcase import TOOL, VERBS, ToolCase


class Doctor(ToolCase):
    def checks(self, **env):
        others = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
        code, out, err = self.run_tool("doctor", "--json", env={**others, **env})
        self.assertEqual((code, err), (0, ""))
        told = json.loads(out)
        return {entry["check"]: entry for entry in told["checks"]}

    def test_all_is_looked_at(self):
        found = self.checks()
        self.assertEqual(list(found), ["BLAS", "speed", "threads", "loops", "memory", "gnuplot", "MPI"])
        for entry in found.values():
            self.assertIn(entry["verdict"], ("fine", "slow", "absent"))
            self.assertTrue(entry["found"])
            self.assertTrue(entry["verdict"] != "slow" or entry["advice"], entry)
        blas = self.ok("--version").split("BLAS: ")[1].split("\n")[0]
        self.assertTrue(blas.startswith(found["BLAS"]["found"].strip()), blas)
        out = self.ok("doctor")
        for name, entry in found.items():
            self.assertRegex(out, f"(?m)^{name} ")

    def test_threads_are_missed(self):
        allowed = os.sched_getaffinity(0)
        if os.cpu_count() < 2:
            self.skipTest("one processor")
        os.sched_setaffinity(0, {min(allowed)})
        self.addCleanup(os.sched_setaffinity, 0, allowed)
        entry = self.checks()["threads"]
        self.assertEqual(entry["verdict"], "slow")
        self.assertIn("the process may use no more of them", entry["advice"])

    def test_threads_of_openmp(self):
        """OMP_NUM_THREADS takes threads away, and adds none beyond the processors."""
        found = [self.checks(OMP_NUM_THREADS=number)["threads"] for number in ("1", "4000")]
        self.assertTrue(found[0]["found"].startswith("1 thread,"), found[0])
        self.assertTrue(found[1]["found"].startswith(f"{len(os.sched_getaffinity(0))} thread"), found[1])
        if os.cpu_count() > 1:
            self.assertEqual(found[0]["verdict"], "slow")
            self.assertIn("OMP_NUM_THREADS=1", found[0]["advice"])

    def test_old_kernels_are_noticed(self):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            modern = " avx2 " in file.read()
        if not modern or "DYNAMIC_ARCH" not in self.ok("--version"):
            self.skipTest("OpenBLAS cannot choose its kernels here, or need not")
        entry = self.checks(OPENBLAS_CORETYPE="Prescott")["BLAS"]
        self.assertEqual(entry["verdict"], "slow")
        self.assertIn("unset OPENBLAS_CORETYPE", entry["advice"])
        self.assertIn("OPENBLAS_CORETYPE=Haswell", self.checks(OPENBLAS_CORETYPE="Haswell")["BLAS"]["advice"])

    def test_gnuplot_is_missed(self):
        self.assertEqual(self.checks(PATH=self.folder)["gnuplot"]["verdict"], "absent")
        os.symlink("/bin/true", self.path("gnuplot"))
        self.assertEqual(self.checks(PATH=self.folder)["gnuplot"]["verdict"], "fine")


class Beginning(ToolCase):
    def test_five_verbs(self):
        code, out, err = self.run_tool()
        self.assertEqual((code, out), (2, ""))
        shown = [line.split()[1] for line in err.split("\n") if line.startswith("  holdfast ")]
        self.assertEqual(len(shown), 5)
        self.assertTrue(set(shown) < set(VERBS))
        for part in ("holdfast --help", "holdfast doctor", f"All {len(VERBS)} verbs"):
            self.assertIn(part, err)


class Colours(ToolCase):
    def on_a_terminal(self, *arguments, **env):
        """Returns what a run writes to a terminal that is its standard output and error."""
        leader, follower = pty.openpty()
        environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        run = subprocess.Popen([TOOL, *arguments], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                               env={**environment, "TERM": "xterm", **env})
        os.close(follower)
        text = b""
        try:
            while part := os.read(leader, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(leader)
        run.wait(100)
        return text.decode()

    def test_colours(self):
        self.write("t.csv", "a,c,y\n1,7,5\n2,7,6\n3,7,5.5\n")
        fails, warns = ("fit", "none.csv", "-t", "y"), ("fit", "t.csv", "-t", "y")
        self.assertIn("\033[1;31mholdfast:\033[0m none.csv", self.on_a_terminal(*fails))
        self.assertIn("holdfast: \033[33mwarning:\033[0m input \"c\"", self.on_a_terminal(*warns))
        self.assertIn("\033[1mfit\033[0m", self.on_a_terminal())
        self.assertIn("\033[3", self.on_a_terminal("doctor"))
        for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            for arguments in (fails, warns, (), ("doctor",)):
                self.assertNotIn("\033[3", self.on_a_terminal(*arguments, **env).replace("\033[K", ""))
                self.assertNotIn("\033[1", self.on_a_terminal(*arguments, **env))
        self.assertIn("\033[1;31m", self.on_a_terminal(*fails, NO_COLOR=""))
        self.assertNotIn("\033", "".join(self.run_tool(*fails)[1:]))
        self.assertNotIn("\033", "".join(self.run_tool("doctor")[1:]))


if __name__ == "__main__":
    unittest.main()
