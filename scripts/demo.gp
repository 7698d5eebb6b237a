# SPDX-License-Identifier: Apache-2.0
# One input, two models, the same readings: scripts/demo sets out (folder with the slices) and train (the table).
set encoding utf8
set datafile separator ","
set terminal svg size 1100,440 font "DejaVu Sans,14" background "white"
set output out."/before-after.svg"
set multiplot layout 1,2 margins 0.07,0.98,0.14,0.80 spacing 0.07
set border 3 lc rgb "#606060"
set tics nomirror textcolor rgb "#404040"
set grid lc rgb "#e8e8e8" lt 1
set key off
set xrange [1.95:3.1]
set yrange [-0.4:8.6]
set xlabel "weight, carat" textcolor rgb "#404040"
set ylabel "depth, mm" textcolor rgb "#404040"
array title_text[2] = ["A plain Gaussian process believes every reading", "Holdfast sets aside what the others contradict"]
array model[2] = ["plain", "robust"]
set label 1 "band: 95 % of readings    line: mean    × reading set aside" at screen 0.07,0.95 textcolor rgb "#606060"
do for [i=1:2] {
  set title title_text[i] textcolor rgb "#202020" offset 0,0.3
  if (i == 2) { unset ylabel }
  slice = out."/".model[i]."-slice.csv"
  rows = out."/".model[i]."-rows.csv"
  # Readings and what the model thinks of them come from two files of the same order.
  joined = "< paste -d, ".train." ".rows
  plot slice skip 1 using 1:($2-1.96*$4):($2+1.96*$4) with filledcurves fc rgb "#b9cfe0", \
       joined skip 1 using 2:($14 > 0 ? NaN : $7) with points pt 7 ps 0.35 lc rgb "#80404040", \
       slice skip 1 using 1:2 with lines lw 2 lc rgb "#2a6496", \
       joined skip 1 using 2:($14 > 0 ? $7 : NaN) with points pt 2 ps 0.9 lw 2 lc rgb "#c0392b"
}
unset multiplot
