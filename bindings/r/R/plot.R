# SPDX-License-Identifier: Apache-2.0
# A slice through the model: one input varies, the others are held.

# Columns along one input, the others at their medians or most frequent values.
slice <- function(columns, input, n)
{
    rows <- lapply(columns, function(x)
        rep(if (is.factor(x)) factor(names(which.max(table(x))), levels(x)) else median(x, na.rm = TRUE), n))
    range <- range(columns[[input]], na.rm = TRUE)
    rows[[input]] <- seq(range[1] - 0.05 * diff(range), range[2] + 0.05 * diff(range), length.out = n)
    rows
}

plot_classes <- function(at, share, input, ...)
{
    colours <- seq_len(ncol(share)) + 1
    plot.default(range(at), c(0, 1), type = "n", xlab = input, ylab = "probability", ...)
    matlines(at, share, lty = 1, col = colours)
    legend("right", colnames(share), lty = 1, col = colours, bty = "n")
}

plot_output <- function(at, wide, narrow, x, y, wrong, input, name, ...)
{
    band <- function(ends, alpha)
        polygon(c(at, rev(at)), c(ends[, "lwr"], rev(ends[, "upr"])), border = NA, col = adjustcolor("steelblue", alpha))
    plot.default(range(at), range(wide, y, na.rm = TRUE), type = "n", xlab = input, ylab = name, ...)
    band(wide, 0.2)
    if (!is.null(narrow)) band(narrow, 0.4)
    lines(at, wide[, "fit"], col = "steelblue", lwd = 2)
    wrong <- wrong %in% TRUE
    points(x[!wrong], y[!wrong], pch = 20)
    points(x[wrong], y[wrong], pch = 4, col = "red", lwd = 2)
}

plot.holdfast <- function(x, input = NULL, level = 0.95, n = 200, ...)
{
    said <- about(x)
    columns <- asked_columns(x, NULL, said, NULL)
    numeric <- intersect(said$features, names(columns)[!vapply(columns, is.factor, NA)])
    if (length(numeric) == 0) refuse("plot() draws along an input of numbers, and there is none")
    if (is.null(input)) input <- numeric[which.max(relevance(x)[numeric])]
    if (!input %in% numeric) refuse("input is ", input, "; it must be one of ", paste(numeric, collapse = ", "))
    rows <- slice(columns, input, n)
    at <- rows[[input]]
    if (length(said$classes) > 0) {
        plot_classes(at, predict_class(x, rows, seq_len(n), said, "probability", FALSE, 0), input, ...)
        return(invisible(x))
    }
    bands <- function(interval)
        array(predict_readings(x, rows, seq_len(n), said, FALSE, FALSE, interval, level, 0), c(n, 3, length(said$targets)),
              list(NULL, c("fit", "lwr", "upr"), said$targets))
    wide <- bands("prediction")
    narrow <- if (!said$rate && said$transform == "none") bands("confidence")
    wrong <- as.matrix(opinion(x, "suspected"))
    y <- as.matrix(response_of(x, said))
    if (length(said$targets) > 1) {
        before <- par(mfrow = c(length(said$targets), 1))
        on.exit(par(before))
    }
    for (k in seq_along(said$targets))
        plot_output(at, wide[, , k], narrow[, , k], columns[[input]], y[, k], wrong[, k], input, said$targets[k], ...)
    invisible(x)
}
