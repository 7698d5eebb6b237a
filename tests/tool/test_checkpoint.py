# SPDX-License-Identifier: Apache-2.0
"""A fit that is killed, again and again, goes on from its checkpoint and ends in the model of an unbroken one."""
import ctypes
import math
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import time
import unittest

from toolcase import TOOL, ToolCase

os.environ.setdefault("OMP_NUM_THREADS", "1")  # the tables are so small that threads would mostly wait for each other
FIT = ["fit", "wave.csv", "--target", "y", "-o"]


def content(path):
    """Everything in a model file but the time it took, which no two runs share."""
    with sqlite3.connect("file:%s?mode=ro" % path, uri=True) as file:
        tables = {name: file.execute("select * from %s order by rowid" % name).fetchall()
                  for name, in file.execute("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")}
    file.close()
    tables["meta"] = [row for row in tables["meta"] if row[0] not in ("report.seconds", "content_sha256")]
    return tables


HEADER = 56  # bytes of a checkpoint before the first evaluation


def keep_deadly(number):
    """The process that calls this cannot ignore the signal: the system says that it does, and does nothing."""
    class Step(ctypes.Structure):
        _fields_ = [("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("k", ctypes.c_uint32)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.POINTER(Step))]
    load, equal, end = 0x20, 0x15, 0x06
    call = {"x86_64": 13, "aarch64": 134}[os.uname().machine]  # rt_sigaction
    steps = (Step * 6)(Step(load, 0, 0, 0), Step(equal, 0, 3, call), Step(load, 0, 0, 16), Step(equal, 0, 1, number),
                       Step(end, 0, 0, 0x00050000), Step(end, 0, 0, 0x7fff0000))
    libc = ctypes.CDLL(None)
    if libc.prctl(38, 1, 0, 0, 0) != 0 or libc.prctl(22, 2, ctypes.byref(Program(len(steps), steps)), 0, 0) != 0:
        raise OSError("seccomp is not to be had")


def cut_off(size):
    """For a process that the system is to kill as soon as a file of it would grow beyond so many bytes: in the middle of writing, at the same byte every time."""
    def limit():
        keep_deadly(signal.SIGXFSZ)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


def write_counts(case, rows, **_):
    """Positive counts of exposures, which are amounts too, under the name that the other tables have."""
    lines = ["a,hours,y"]
    for i in range(1, rows + 1):
        a, hours = (i * 37 % rows) / 8, 1 + i % 3
        lines.append("%g,%d,%d" % (a, hours, 1 + hours * math.exp(1 + math.sin(a) + 0.4 * math.sin(61 * i * i))))
    return case.write("wave.csv", "\n".join(lines) + "\n")


class Killed(ToolCase):
    def size(self):
        try:
            return os.path.getsize(self.path("part.hf.checkpoint"))
        except FileNotFoundError:
            return 0

    def start(self, arguments, before=None):
        return subprocess.Popen([TOOL, *arguments, "--resume"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True, preexec_fn=before)

    def end(self, run):
        """The last run must come to its end without a word."""
        _, err = run.communicate(timeout=200)
        self.assertEqual((run.returncode, err), (0, ""))

    def kill_while_writing(self, arguments):
        """In the first evaluation's record, twice, then ever more of them on, at last in the model; each run goes on from the one before."""
        before = 0
        for killed, size in enumerate((HEADER + 1, HEADER + 200, *(HEADER + 101 * 5 ** k for k in range(1, 9)))):
            run = self.start(arguments, cut_off(size))
            _, err = run.communicate(timeout=200)
            if run.returncode == 0:
                self.assertEqual(err, "")
                return killed
            self.assertEqual(run.returncode, -signal.SIGXFSZ, err)
            self.assertTrue(before <= self.size() <= size and self.size() > HEADER, (killed, self.size()))
            before = self.size()
        return self.fail("the checkpoint has no end")

    def kill_at_any_time(self, arguments, most=5):
        """As somebody else would: some evaluations on, whatever is being done then."""
        moments, killed = random.Random(1), 0
        while killed < most:
            before = self.size()
            # Also in the middle of the first evaluation, and of writing one.
            enough = max(before, HEADER) + moments.choice((0, 1, 200, 2000))
            run = self.start(arguments)
            while run.poll() is None and self.size() < enough:
                time.sleep(0.0005)
            time.sleep(moments.uniform(0, 0.02))
            run.kill()
            if run.wait() == 0:
                return killed
            run.stderr.close()
            killed += 1
            if "part.hf" in self.files():  # killed after saving: the model is whole
                self.assertEqual(content(self.path("part.hf")), content(self.path("whole.hf")))
                if self.size() == 0:  # and the checkpoint gone, as after a fit that came to its end
                    return killed
            self.assertGreaterEqual(self.size(), before)
        self.end(self.start(arguments))
        return killed

    def written(self):
        try:
            return os.stat(self.path("part.hf.checkpoint")).st_mtime_ns
        except FileNotFoundError:
            return 0

    def kill_after_snapshots(self, arguments, most=3):
        """The same for fits whose checkpoint does not grow: after a snapshot, once with a signal that leaves them time for a last one."""
        moments = random.Random(2)
        for killed in range(most):
            before = self.written()
            run = self.start(arguments)
            while run.poll() is None and self.written() == before:
                time.sleep(0.0005)
            time.sleep(moments.uniform(0, 0.02))
            run.send_signal(signal.SIGINT if killed == 1 else signal.SIGKILL)
            _, err = run.communicate(timeout=200)
            if run.returncode in (0, 1):
                self.assertEqual((run.returncode, err), (0, ""))
            if run.returncode == 0 or self.is_saved():
                return killed
        self.end(self.start(arguments))
        return most

    def is_saved(self):
        """Killed after saving: the model is whole, and what follows a fit that came to its end is its own business."""
        if "part.hf" not in self.files():
            return False
        if "part.hf.checkpoint" in self.files():
            os.remove(self.path("part.hf.checkpoint"))
        return True

    def compare(self, rows, options, kill=kill_while_writing, fit=FIT, table=ToolCase.wave):
        table(self, rows=rows, bad=range(7, rows, 19))
        self.ok(*fit, "whole.hf", "-q", *options)
        self.assertGreater(kill(self, [*fit, "part.hf", "-q", *options]), 0)
        # The cache of a streamed table stays, and so does what a model was written to when the tool was killed.
        left = [name for name in self.files() if not name.endswith(("cache", ".tmp"))]
        self.assertEqual(left, ["part.hf", "wave.csv", "whole.hf"])
        self.assertEqual(content(self.path("part.hf")), content(self.path("whole.hf")))

    def test_exact_fit_with_suspects(self):
        self.compare(120, ["--restarts", "2"], Killed.kill_at_any_time)

    def test_inducing_fit_with_robust_sites(self):
        self.compare(300, ["--preset", "rcsvgp", "--inducing", "30"])

    def test_trained_actions(self):
        self.compare(150, ["--preset", "cagp", "--actions", "10"])

    def test_student_noise(self):
        self.compare(60, ["--preset", "student-t", "--restarts", "1"])

    def test_student_noise_by_expectation_propagation(self):
        self.compare(40, ["--preset", "student-t", "--inference", "ep", "--iterations", "10"])

    def test_relevance_pursuit(self):
        self.compare(80, ["--preset", "rrp"])

    def test_relevance_pursuit_with_inducing_inputs(self):
        self.compare(120, ["--preset", "rrp", "--solver", "inducing", "--inducing", "20"])

    def test_counts_and_amounts(self):
        counts = [*FIT[:-1], "--exposure", "hours", "--iterations", "12", "-o"]
        for options in (["--preset", "poisson", "--restarts", "1"], ["--preset", "poisson", "--inference", "laplace"],
                        ["--preset", "poisson", "--solver", "inducing", "--inducing", "12"],
                        ["--preset", "negative-binomial", "--inference", "variational"],
                        ["--preset", "gamma"], ["--preset", "gamma", "--solver", "inducing", "--inducing", "12", "--train-inducing"]):
            with self.subTest(options=options):
                self.setUp()
                self.compare(60, options, fit=counts, table=write_counts)

    def test_several_outputs(self):
        two = ["fit", "wave.csv", "--target", "y,b", "-o"]
        self.compare(60, ["--preset", "default"], fit=two)
        self.setUp()
        self.compare(50, ["--preset", "morcgp", "--restarts", "1"], fit=two)

    def test_minibatches(self):
        self.compare(1000, ["--preset", "svgp", "--minibatch", "64", "--inducing", "50", "--iterations", "40"],
                     Killed.kill_after_snapshots)

    def test_minibatches_of_a_streamed_table(self):
        self.compare(1000, ["--stream", "--minibatch", "64", "--inducing", "50", "--iterations", "40", "--optimiser", "adam"],
                     Killed.kill_after_snapshots)

    def test_student_noise_by_minibatches(self):
        self.compare(1000, ["--preset", "student-t", "--solver", "inducing", "--minibatch", "64", "--inducing", "50",
                            "--iterations", "40"], Killed.kill_after_snapshots)


class Stopped(ToolCase):
    def setUp(self):
        super().setUp()
        self.wave(rows=150, bad=(5, 23, 48))

    def stop(self, *arguments, number=signal.SIGINT, records=3):
        """Starts a fit and stops it as soon as the checkpoint holds a few evaluations."""
        run = subprocess.Popen([TOOL, *arguments], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            files = [name for name in self.files() if name.endswith("checkpoint")]
            if files and os.path.getsize(self.path(files[0])) > HEADER + records * 150:
                break
            time.sleep(0.01)
        run.send_signal(number)
        out, err = run.communicate(timeout=100)
        return run.returncode, out, err

    def test_a_signal_keeps_the_checkpoint(self):
        self.wave(rows=400)
        arguments = [*FIT, "m.hf", "--restarts", "20", "--suspects", "off"]
        code, out, err = self.stop(*arguments, "--resume")
        self.assertEqual((code, out), (130, ""))
        self.assertEqual(err, "holdfast: stopped; add --resume to go on from m.hf.checkpoint\n")
        self.assertEqual(self.files(), ["m.hf.checkpoint", "wave.csv"])
        before = self.read("m.hf.checkpoint", "rb")
        self.fails(arguments + ["--checkpoint", "m.hf.checkpoint"], "m.hf.checkpoint", "resume")
        self.fails(arguments + ["--resume", "--seed", "5"], "m.hf.checkpoint", "belongs to another fit (other seed)")
        self.fails(arguments + ["--resume", "--kernel", "se"], "belongs to another fit (other settings)")
        with open(self.path("wave.csv"), "a") as file:
            file.write("1,2,3\n")
        self.fails(arguments + ["--resume"], "belongs to another fit (other data)")
        self.assertEqual(self.read("m.hf.checkpoint", "rb"), before)

    def test_a_checkpoint_of_other_counts_is_told_by_what_differs(self):
        write_counts(self, rows=200)
        arguments = [*FIT, "m.hf", "--exposure", "hours", "--restarts", "20"]
        code, _, err = self.stop(*arguments, "--sites", "poisson", "--resume")
        self.assertEqual((code, err), (130, "holdfast: stopped; add --resume to go on from m.hf.checkpoint\n"))
        before = self.read("m.hf.checkpoint", "rb")
        poisson = [*arguments, "--sites", "poisson", "--resume"]
        self.fails([*arguments, "--sites", "gamma", "--resume"], "belongs to another fit (other likelihood)")
        self.fails([*poisson, "--inference", "laplace"], "belongs to another fit (other settings)")
        self.fails([*arguments, "--sites", "gamma", "--kernel", "se", "--seed", "9", "--resume"],
                   "belongs to another fit (other likelihood, settings, seed)")
        text = self.read("wave.csv")
        self.write("wave.csv", text.replace(",2,", ",2.5,", 1))  # one exposure
        self.fails(poisson, "belongs to another fit (other data)")
        self.write("wave.csv", text)
        self.fails([*FIT, "m.hf", "--restarts", "20", "--sites", "poisson", "--resume"],
                   "belongs to another fit (other data)")  # the column is an input, then
        self.assertEqual(self.read("m.hf.checkpoint", "rb"), before)

    def test_a_damaged_checkpoint_is_mended(self):
        arguments = [*FIT, "m.hf", "--suspects", "off"]
        subprocess.run([TOOL, *arguments, "--checkpoint", "c.checkpoint"], cwd=self.folder, preexec_fn=cut_off(HEADER + 900))
        data = bytearray(self.read("c.checkpoint", "rb"))
        data[HEADER + 32 + 5] ^= 4  # in the first record
        self.write("c.checkpoint", bytes(data))
        code, _, err = self.run_tool(*arguments, "--checkpoint", "c.checkpoint", "--resume")
        self.assertEqual(code, 0)
        self.assertIn("holdfast: warning: the checkpoint was damaged after 0 evaluations", err)
        self.ok(*FIT, "whole.hf", "--suspects", "off", "-q")
        self.assertEqual(content(self.path("m.hf")), content(self.path("whole.hf")))

    def test_foreign_files_are_not_overwritten(self):
        shutil.copy(self.path("wave.csv"), self.path("other.csv"))
        before = self.read("wave.csv")
        for more in ([], ["--resume"]):
            self.fails([*FIT, "m.hf", "--checkpoint", "other.csv", *more], "other.csv", "no checkpoint")
            self.fails([*FIT, "m.hf", "--checkpoint", "wave.csv", *more], "wave.csv", "it is what the command reads")
        self.assertEqual((self.read("wave.csv"), self.read("other.csv")), (before, before))
        self.fails([*FIT, "m.hf", "--checkpoint", "."], "folder")
        self.fails([*FIT, "m.hf", "--checkpoint", "no/such/file"], "no/such/file")

    def test_a_full_disk_costs_only_the_checkpoint(self):
        self.ok(*FIT, "whole.hf", "--suspects", "off", "-q")
        code, out, err = self.run_tool(*FIT, "m.hf", "--suspects", "off", "--checkpoint", "/dev/full")
        self.assertEqual(code, 0)
        self.assertEqual(err, "holdfast: warning: the checkpoint ended after 0 evaluations: No space left on device; "
                              "the fit went on without it (/dev/full)\n")
        self.assertEqual(content(self.path("m.hf")), content(self.path("whole.hf")))
        self.assertTrue(os.path.exists("/dev/full"))

    MINIBATCHES = ["--preset", "svgp", "--minibatch", "32", "--inducing", "80", "--iterations", "400", "--optimiser", "adam"]

    def test_a_signal_keeps_the_step_of_minibatches(self):
        self.wave(rows=900)
        arguments = [*FIT, "m.hf", *self.MINIBATCHES]
        code, out, err = self.stop(*arguments, "--resume", records=1)
        self.assertEqual((code, out), (130, ""))
        self.assertEqual(err, "holdfast: stopped; add --resume to go on from m.hf.checkpoint\n")
        before = self.read("m.hf.checkpoint", "rb")
        self.fails(arguments + ["--checkpoint", "m.hf.checkpoint"], "m.hf.checkpoint", "resume")
        self.fails(arguments + ["--resume", "--seed", "5"], "m.hf.checkpoint", "belongs to another fit (other seed)")
        self.fails(arguments + ["--resume", "--kernel", "se"], "belongs to another fit (other settings)")
        table = self.read("wave.csv")
        self.write("wave.csv", table + "1,2,3\n")
        self.fails(arguments + ["--resume"], "belongs to another fit (other data)")
        self.assertEqual(self.read("m.hf.checkpoint", "rb"), before)

    def test_a_damaged_checkpoint_of_minibatches_is_mended(self):
        self.wave(rows=500)
        arguments = [*FIT, "m.hf", *self.MINIBATCHES[:-4], "--iterations", "40", "--optimiser", "adam"]
        self.stop(*arguments, "--checkpoint", "c.checkpoint", number=signal.SIGKILL, records=1)
        data = bytearray(self.read("c.checkpoint", "rb"))
        for place in range(HEADER, len(data), 64):
            data[place] ^= 4
        self.write("c.checkpoint", bytes(data))
        code, _, err = self.run_tool(*arguments, "--checkpoint", "c.checkpoint", "--resume")
        self.assertEqual(code, 0)
        self.assertIn("holdfast: warning: the checkpoint was damaged after 0 evaluations", err)
        self.run_tool(*FIT, "whole.hf", *arguments[6:], "-q")
        self.assertEqual(content(self.path("m.hf")), content(self.path("whole.hf")))

    def test_a_full_disk_costs_only_the_checkpoint_of_any_fit(self):
        for options in (["--preset", "svgp", "--minibatch", "100", "--inducing", "20", "--iterations", "3", "--optimiser", "adam"],
                        ["--preset", "student-t", "--solver", "exact", "--iterations", "3"], ["--preset", "rrp", "--iterations", "3"]):
            self.wave(rows=60, bad=(5, 23, 48))
            self.run_tool(*FIT, "whole.hf", "-q", *options)
            code, _, err = self.run_tool(*FIT, "m.hf", *options, "--checkpoint", "/dev/full")
            self.assertEqual(code, 0)
            self.assertIn("holdfast: warning: the checkpoint ended after 0 evaluations: No space left on device", err)
            self.assertEqual(content(self.path("m.hf")), content(self.path("whole.hf")))

    def test_a_fit_that_ends_takes_its_checkpoint_with_it(self):
        self.ok(*FIT, "m.hf", "--iterations", "3", "--suspects", "off", "--checkpoint", "c", "-q")
        self.assertEqual(self.files(), ["m.hf", "wave.csv"])


class Changing(ToolCase):
    """A table that somebody writes while it is read: fitted as it was at some moment, or refused with a message."""

    def hold(self, process):
        """Stops a run where it has the table open; False if it has read it already."""
        while process.poll() is None:
            try:
                files = "/proc/%d/fd/" % process.pid
                if any(os.readlink(files + number).endswith("wave.csv") for number in os.listdir(files)):
                    process.send_signal(signal.SIGSTOP)
                    return True
            except OSError:  # closed again meanwhile
                pass
        return False

    def race(self, change, reads=5):
        codes = set()
        self.wave("before.csv", rows=20000)
        for k in range(reads):
            shutil.copy(self.path("before.csv"), self.path("wave.csv"))
            run = subprocess.Popen([TOOL, "fit", "wave.csv", "--target", "y", "--no-train", "--inducing", "5", "-q"],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if k > 0:  # once without looking
                self.hold(run)
            change()
            run.send_signal(signal.SIGCONT)
            out, err = run.communicate(timeout=100)
            codes.add(run.returncode)
            self.assertIn(run.returncode, (0, 1), err)
            if run.returncode == 0:
                readings = int(re.search(r"(\d+) readings? of wave.csv", out)[1])
                self.assertTrue(0 < readings <= 40000, readings)
            else:
                self.assertTrue(err.startswith("holdfast: wave.csv"), err)
        return codes

    def test_cut_while_read(self):
        self.race(lambda: os.truncate(self.path("wave.csv"), 30001))
        self.race(lambda: os.truncate(self.path("wave.csv"), 0))

    def test_growing_while_read(self):
        def grow():
            with open(self.path("wave.csv"), "a") as file:
                file.write("1,2,3\n" * 20000)
        self.race(grow)

    def test_replaced_while_read(self):
        def replace():
            self.wave("other.csv", rows=10)
            os.replace(self.path("other.csv"), self.path("wave.csv"))
        self.assertEqual(self.race(replace), {0})

    def test_a_pipe_that_ends_within_a_row(self):
        code, out, err = self.run_tool("fit", "-", "--target", "y", stdin="a,b,y\n1,2,3\n4,5")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("line 3", err)


if __name__ == "__main__":
    unittest.main()
