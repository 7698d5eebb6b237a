# SPDX-License-Identifier: Apache-2.0
# Makes the files of this folder from Debian's packages r-cran-ggplot2 and r-cran-mass, number for number:
#
#     Rscript data/rebuild.R [FOLDER]
#
# With FOLDER it writes there, so that `diff -r` can compare. data/README.md says where the numbers come from.
args <- commandArgs(trailingOnly = TRUE)
folder <- if (length(args)) args[1] else "data"

package_data <- function(package, name) {
  holder <- new.env()
  utils::data(list = name, package = package, envir = holder)
  as.data.frame(get(name, envir = holder))
}

write_table <- function(table, file) {
  write.csv(table, file.path(folder, file), row.names = FALSE, quote = FALSE)
}

# Diamonds: premium cut, near colourless (grades G to J), two carats and above. Length, width and depth are in
# millimetres, depth_percent and table_percent in per cent of the width. Every fourth stone is held out.
d <- package_data("ggplot2", "diamonds")
d$stone <- seq_len(nrow(d))
d <- d[d$cut == "Premium" & d$color %in% c("G", "H", "I", "J") & d$carat >= 2, ]
d <- data.frame(stone = d$stone, carat = d$carat, depth_percent = d$depth, table_percent = d$table,
                length_mm = d$x, width_mm = d$y, depth_mm = d$z)
held_out <- seq_len(nrow(d)) %% 4 == 0
write_table(d[!held_out, ], "diamonds-train.csv")
write_table(d[held_out, ], "diamonds-test.csv")

# Scottish hill races: distance in miles, climb in feet, record time in minutes.
h <- package_data("MASS", "hills")
h <- data.frame(race = gsub(" ", "-", rownames(h)), miles = h$dist, feet = h$climb, minutes = h$time)
write_table(h, "hills.csv")

# Houses of Boston: the data as everyone knows them.
write_table(package_data("MASS", "Boston"), "boston.csv")
