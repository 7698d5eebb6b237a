# SPDX-License-Identifier: Apache-2.0
"""Where address space is short there is an answer or a message, soon, and a signal is obeyed."""
import os
import resource
import subprocess
import unittest

from toolcase import SANITIZED, TOOL, ToolCase



class Limits(ToolCase):
    def limited(self, megabytes, *arguments):
        """(exit status, standard error); OpenBLAS would try for ever to get what it is not given."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))
        environment = {name: value for name, value in os.environ.items() if name not in ("OPENBLAS_NUM_THREADS", "LD_PRELOAD")}
        done = subprocess.run([TOOL, *arguments], cwd=self.folder, capture_output=True, text=True, preexec_fn=limit, env=environment, timeout=60)
        return done.returncode, done.stderr

    @unittest.skipIf(SANITIZED, "sanitizers need address space")
    def test_little_address_space(self):
        if "OpenBLAS" not in self.ok("--version"):
            self.skipTest("another BLAS keeps no work buffers")
        self.wave()
        fit = ["fit", "wave.csv", "-t", "y", "--preset", "gp", "--iterations", "2", "-q"]
        self.ok(*fit, "-o", "m.hf")
        self.write("many.csv", "a,b\n" + "".join("%.3f,1\n" % (0.001 * i) for i in range(4000)))  # a loop for many threads
        short = 0
        for megabytes in (110, 200, 300, 700):
            for arguments in (["inspect", "m.hf"], fit, ["predict", "m.hf", "wave.csv", "-o", "p.csv"],
                              ["predict", "m.hf", "many.csv", "-o", "p.csv"]):
                for threads in ("1", "16"):
                    code, err = self.limited(megabytes, *arguments, "--threads", threads)
                    short += code == 1 and "address space" in err
                    self.assertTrue(code == 0 or (code == 1 and "memory" in err), (megabytes, arguments, threads, code, err))
        self.assertGreater(short, 0)
        self.assertEqual(self.limited(400, *fit, "--threads", "1"), (0, ""))


if __name__ == "__main__":
    unittest.main()
