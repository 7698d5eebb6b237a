# SPDX-License-Identifier: Apache-2.0
# The package against what is known of its models, and against what R promises of models.
library(holdfast)

near <- function(a, b, tolerance = 1e-12) stopifnot(all(abs(a - b) <= tolerance * pmax(1, abs(b))))
refused <- function(call, words, class = "error")
{
    got <- tryCatch({ call; NULL }, condition = identity)
    if (!inherits(got, class) || !grepl(words, conditionMessage(got), fixed = TRUE))
        stop("wanted the ", class, " '", words, "', got: ", if (is.null(got)) "nothing" else conditionMessage(got))
}

spoilt <- cars
spoilt$dist[20] <- 300
model <- holdfast(dist ~ speed, spoilt)

# ---- the wrong reading is told, and does not bend the curve; entries are rows
stopifnot(identical(unname(which(suspected(model))), 20L), weights(model)[20] == 0, all(weights(model)[-20] == 1))
stopifnot(nobs(model) == 50, length(fitted(model)) == 50, identical(names(fitted(model)), row.names(cars)))
good <- holdfast(dist ~ speed, cars[-20, ])
stopifnot(max(abs(predict(model, cars) - predict(good, cars))) < 3)
plain <- holdfast(dist ~ speed, spoilt, preset = "gp")
stopifnot(max(abs(predict(plain, cars) - predict(good, cars))) > 10)

# ---- intervals: ends around the mean, wider for readings, by level; residuals are what they say
new <- data.frame(speed = c(8, 15, NA, 22))
wide <- predict(model, new, interval = "prediction")
narrow <- predict(model, new, interval = "confidence", se.fit = TRUE)
stopifnot(is.na(wide[3, ]), identical(unname(wide[, "fit"]), unname(predict(model, new))))
near(narrow$fit[-3, "upr"], narrow$fit[-3, "fit"] + qnorm(0.975) * narrow$se.fit[-3])
stopifnot(wide[-3, "lwr"] < narrow$fit[-3, "lwr"], wide[-3, "upr"] > narrow$fit[-3, "upr"])
near(residuals(model), spoilt$dist - predict(model, spoilt))
rows <- readings(model)
near(residuals(model, "loo"), rows$y - rows$loo_mean)
near(residuals(model, "standardised"), (rows$y - rows$loo_mean) / rows$loo_sd)
stopifnot(mean(abs(residuals(model, "loo")[-20])) > mean(abs(residuals(model)[-20])))

# ---- formulas: transformed variables, dots, factors, no intercept, offsets
near(predict(holdfast(dist ~ I(speed * 2), cars, preset = "gp"), cars), predict(holdfast(dist ~ speed, cars, preset = "gp"), cars), 1e-4)
stopifnot(hyperparameters(holdfast(dist ~ poly(speed, 2) - 1, cars))["mean"] %in% c(0, NA))
curved <- holdfast(dist ~ poly(speed, 2), cars)
near(predict(curved, cars[7:9, ]), predict(curved)[7:9])
ruled <- holdfast(dist ~ speed + offset(rule), transform(cars, rule = 3 * speed - 17))
far <- data.frame(speed = 1000, rule = 2983)
near(predict(ruled, far) - predict(ruled, transform(far, rule = 0)), 2983)
yarn <- holdfast(breaks ~ ., warpbreaks)
near(predict(yarn, transform(warpbreaks, wool = as.character(wool))), predict(yarn))
refused(predict(yarn, data.frame(wool = "C", tension = "L")), "row 1: its category is none that the model has seen", "warning")
odd <- structure(cars, names = c("speed, mph", "dist \"ft\""))
near(predict(holdfast(`dist "ft"` ~ `speed, mph`, odd), odd), predict(holdfast(dist ~ speed, cars), cars))
refused(holdfast(dist ~ speed * dist, cars), "interaction")
refused(holdfast(~speed, cars), "no response")
refused(predict(model, data.frame(x = 1)), "speed")

# ---- missing values
gaps <- transform(spoilt, dist = replace(dist, 3, NA), speed = replace(speed, 5, NA))
kept <- holdfast(dist ~ speed, gaps)
stopifnot(!is.na(fitted(kept)[3]), is.na(fitted(kept)[5]), is.na(residuals(kept)[c(3, 5)]), is.na(suspected(kept)[5]))
padded <- holdfast(dist ~ speed, gaps, na.action = na.exclude)
stopifnot(length(fitted(padded)) == 50, is.na(fitted(padded)[c(3, 5)]), which(suspected(padded)) == 20)
short <- holdfast(dist ~ speed, gaps, na.action = na.omit)
stopifnot(length(fitted(short)) == 48, names(which(suspected(short))) == "20")
near(fitted(short), fitted(padded)[-c(3, 5)])
refused(holdfast(dist ~ speed, gaps, na.action = na.fail), "missing values")

# ---- several outputs, labels, counts, known noise
flowers <- iris[seq(1, 150, 5), ]
both <- holdfast(cbind(Sepal.Length, Petal.Length) ~ Sepal.Width + Species, transform(flowers, Petal.Length = replace(Petal.Length, 2, NA)))
band <- predict(both, flowers, interval = "prediction")
stopifnot(identical(dim(band), c(30L, 3L, 2L)), band[, "lwr", ] < band[, "upr", ], !anyNA(band))
near(band[, "fit", ], predict(both, flowers))
stopifnot(identical(dim(residuals(both, "loo")), c(30L, 2L)), is.na(residuals(both)[2, 2]))
kinds <- holdfast(Species ~ Petal.Length + Petal.Width, flowers)
share <- predict(kinds, flowers, type = "probability")
near(rowSums(share), 1)
stopifnot(mean(predict(kinds) == flowers$Species) > 0.9, identical(colnames(share), levels(iris$Species)))
stopifnot(identical(unname(as.character(predict(kinds))), colnames(share)[max.col(share)]))
setosa <- holdfast(Species == "setosa" ~ Petal.Length, flowers)
stopifnot(mean(predict(setosa) == (flowers$Species == "setosa")) > 0.9, length(predict(setosa, type = "link")) == 30)
watched <- data.frame(hours = c(1, 2, 4, 8, 3, 1, 2), x = 1:7, seen = c(2, 5, 8, 20, 9, 1, 5))
counts <- holdfast(seen ~ x + offset(log(hours)), watched, sites = "poisson")
near(predict(counts, data.frame(x = 4, hours = 8)), 8 * predict(counts, data.frame(x = 4, hours = 1)))
refused(predict(counts, interval = "confidence"), "type = \"link\"")
noisy <- holdfast(dist ~ speed, transform(cars, v = 50), noise = v)
stopifnot(diff(predict(noisy, cars[1, ], interval = "prediction", noise = 50)[1, 2:3]) >
          diff(predict(noisy, cars[1, ], interval = "prediction", noise = 0)[1, 2:3]))

# ---- settings come from the library's table; errors are its messages
table <- holdfast_settings()
stopifnot(c("kernel", "sites", "solver", "inducing") %in% table$name, !anyDuplicated(table$name))
near(hyperparameters(holdfast(dist ~ speed, cars, hold = c(noise = 200)))["noise"], 200)
few <- holdfast(dist ~ speed, cars, inducing = 5)
stopifnot(grepl("inducing", paste(capture.output(print(few)), collapse = "")))
refused(holdfast(dist ~ speed, cars, kernal = "se"), "a fit has no setting 'kernal'", "err_argument")
refused(holdfast(dist ~ speed, cars, kernel = "se(", seed = 1), "kernel expression", "holdfast_error")
for (seed in list(-1, NA, NaN, 2^53, Inf, 0.9, c(1, 2), numeric(0), "1"))
    refused(holdfast(dist ~ speed, cars, seed = seed), "seed must be one whole number from 0 on, below 2^53")
stopifnot(all(is.finite(predict(holdfast(dist ~ speed, cars, seed = 2^53 - 1)))))
comma <- options(OutDec = ",")
stopifnot(identical(holdfast:::setting_texts(list(nu = 4.5)), c(nu = "4.5")))
options(comma)
refused(holdfast(dist ~ speed, cars, solver = "exact", actions = 3), "does not go with solver exact")
refused(holdfast(dist ~ speed, cars, train = FALSE, suspects = "force"), "needs train on")

# ---- models survive saveRDS() and files of the library
path <- tempfile(fileext = ".rds")
saveRDS(model, path)
again <- readRDS(path)
stopifnot(identical(predict(again, new), predict(model, new)), identical(suspected(again), suspected(model)))
file <- tempfile(fileext = ".hf")
save_model(yarn, file)
loaded <- load_model(file)
near(predict(loaded, warpbreaks), predict(yarn))
near(fitted(loaded), fitted(yarn))
near(residuals(loaded, "loo"), residuals(yarn, "loo"))
refused(load_model(tempfile()), "cannot be read", "err_io")
refused(save_model(1, file), "a model of holdfast() is wanted")

# ---- a certificate encloses what it is about
proof <- certify(model, rbind(10, 15), rbind(12, 15))
inside <- predict(model, data.frame(speed = seq(10, 12, 0.01)))
stopifnot(proof$lower[1] <= min(inside), proof$upper[1] >= max(inside), proof$upper[1] - max(inside) < 0.02)
near(proof$lower[2], predict(model, data.frame(speed = 15)), 1e-6)
stopifnot(certify(model, 10, 12, tolerance = 2)$upper > proof$upper[1])
spread <- function(...) certify(model, 15, 15, "sd", ...)$lower
stopifnot(spread(observed = TRUE) > spread(), spread(rigorous = TRUE) != spread())
near(spread(rigorous = TRUE), spread(), 1e-6)
near(certify(model, 15, 15, "mean-plus", beta = 2)$lower, proof$lower[2] + 2 * spread(), 1e-6)
near(certify(kinds, flowers[1, 3:4], flowers[1, 3:4], of = "versicolor", time_limit = Inf)$lower, share[1, "versicolor"], 0.01)
refused(certify(model, 10, 12, tolerance = -1), "tolerance", "err_argument")
refused(certify(model, 10, 12, tolerance = NA), "tolerance must have one value")
refused(certify(model, 1:2, 3:4), "lower needs a number for each input: speed")

# ---- print, summary, plot, update; a child of a fork; an interrupted fit
said <- capture.output(print(summary(model)))
stopifnot(any(grepl("set aside as wrong: rows 20", said)), any(grepl("Leave-one-out", said)))
save_model(model, file)
pdf(NULL)
for (one in list(model, kinds, both, counts, load_model(file))) plot(one)
refused(plot(model, "dist"), "input is dist; it must be one of speed")
invisible(dev.off())
stopifnot(identical(formula(update(model, log(dist) ~ .)), log(dist) ~ speed))
child <- parallel::mcparallel(predict(holdfast(dist ~ speed, spoilt), new))
stopifnot(identical(unname(parallel::mccollect(child)[[1]]), unname(predict(model, new))))
long <- data.frame(x = seq(0, 1, length.out = 3000), y = sin(1:3000))
setTimeLimit(elapsed = 0.5) # R looks for it where it looks for Ctrl-C
ended <- tryCatch(holdfast(y ~ x, long, solver = "exact"), interrupt = class, error = conditionMessage)
setTimeLimit()
stopifnot("err_cancelled" %in% ended)
