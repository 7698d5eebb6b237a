# SPDX-License-Identifier: Apache-2.0
"""holdfast track: tables that are taken and written: what they may not replace, in what order rows come, what contradicts a track."""
import os
import subprocess

from test_track import TrackCase


class Outputs(TrackCase):
    def test_nothing_is_written_over_a_track(self):
        self.create()
        self.track("tell", "t.hf", "--time", 0, "--x", 1, "--y", 2)
        os.symlink("t.hf", self.path("link.csv"))
        os.link(self.path("t.hf"), self.path("hard.csv"))
        os.symlink("link.csv", self.path("link.svg"))
        self.wave()
        for name in ("t.hf", "link.csv", "hard.csv", "./t.hf"):
            for verb in (["show", "t.hf", "-r"], ["show", "t.hf", "--history"], ["show", "link.csv", "-r"],
                         ["refresh", "t.hf", "--time", "3", "-o"], ["refresh", "hard.csv", "--time", "3", "-o"]):
                self.refused([*verb, name], name + ": cannot be written: it is a track")
        self.refused(["show", "t.hf", "-r", "t.hf-journal"], "it is the journal of the track t.hf")
        self.refused(["refresh", "link.csv", "--time", "3", "-o", self.path("t.hf-journal")], "it is the journal of the track")
        before = self.content("t.hf")
        self.fails(["fit", "wave.csv", "--target", "y", "-o", "t.hf"], "t.hf: cannot be written: it is a track")
        self.fails(["contaminate", "wave.csv", "--target", "y", "--kind", "uniform", "-o", "t.hf"],
                   "t.hf: cannot be written: it is a track")
        self.assertEqual(self.content("t.hf"), before)
        if subprocess.run(["which", "gnuplot"], capture_output=True).returncode:
            return
        self.refused(["plot", "t.hf", "-o", "link.svg"], "link.svg: cannot be written: it is a track")
        self.create("drawn.svg")
        self.refused(["plot", "drawn.svg"], "drawn.svg: cannot be written: it is a track", file="drawn.svg")
