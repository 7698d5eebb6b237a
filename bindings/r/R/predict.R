# SPDX-License-Identifier: Apache-2.0
# Predictions and certificates.

# The columns that a prediction reads: inputs, and what the model knows of rows.
asked_columns <- function(object, newdata, said, noise)
{
    if (is.null(newdata) && is.null(object$model)) newdata <- training(object)[-1]
    if (is.null(object$terms)) {
        known <- c(said$features, sub("=.*", "", said$features), said$noise, said$mean, said$exposure)
        columns <- as_columns(as.data.frame(newdata)[intersect(names(newdata), known)])
    }
    else {
        terms <- delete.response(object$terms)
        frame <- if (is.null(newdata)) object$model else model.frame(terms, newdata, na.action = na.pass)
        all <- if (is.null(newdata)) object$terms else terms
        columns <- c(input_columns(frame, input_variables(all)), offset_column(frame, all, said$rate))
        if (is.null(newdata) && !is.null(said$noise)) noise <- frame[["(noise)"]]
    }
    if (!is.null(noise) && is.null(said$noise)) refuse("noise goes with models that were fitted with it")
    if (!is.null(noise)) columns[[said$noise]] <- rep_len(as.double(noise), length(columns[[1]]))
    columns
}

# The wanted arrays, rows first; one output and one level without a dimension of their own.
ask <- function(object, columns, want, levels = numeric(), threads = 0)
{
    made <- .Call(C_predict, pointer_of(object), columns, want, as.double(levels), as.integer(threads))
    unseen <- is.nan(made[[1]][1, 1, ]) & Reduce(`&`, lapply(columns, function(x) !is.na(x)))
    if (any(unseen))
        warning("there is no prediction for row ", paste(utils::head(which(unseen), 5), collapse = ", "),
                if (sum(unseen) > 5) ", ...", ": its category is none that the model has seen", call. = FALSE)
    lapply(made, function(x) aperm(replace(x, is.nan(x), NA), c(3, 2, 1)))
}

flat <- function(x, rows, names)
{
    if (dim(x)[2] == 1) structure(x[, 1, 1], names = rows)
    else matrix(x, dim(x)[1], dim(x)[2], dimnames = list(rows, names))
}

predict_class <- function(object, columns, rows, said, type, se.fit, threads)
{
    if (type == "link") {
        got <- ask(object, columns, c("latent_mean", "latent_sd"), threads = threads)
        names <- if (said$latents > 1) said$classes
        fit <- flat(got$latent_mean, rows, names)
        return(if (se.fit) list(fit = fit, se.fit = flat(got$latent_sd, rows, names)) else fit)
    }
    if (se.fit) refuse("se.fit of a classifier goes with type = \"link\"")
    share <- flat(ask(object, columns, "probability", threads = threads)$probability, rows, said$classes)
    if (type == "probability") return(share)
    structure(factor(said$classes[max.col(ifelse(is.na(share), 0, share), "first")], said$classes), names = rows)
}

# Predictions of readings for rows of columns.
predict_readings <- function(object, columns, rows, said, link, se.fit, interval, level, threads)
{
    if (interval == "confidence" && !link && (said$rate || said$transform != "none"))
        refuse("interval = \"confidence\" goes with type = \"link\" where the model is of a function of the response")
    if (interval == "prediction" && link) refuse("interval = \"prediction\" goes with type = \"response\"")
    mean <- if (link) "latent_mean" else "mean"
    sd <- if (link) "latent_sd" else "sd_latent"
    ends <- c((1 - level) / 2, (1 + level) / 2)
    want <- c(mean, if (se.fit || interval == "confidence") sd, if (interval == "prediction") "quantile")
    got <- ask(object, columns, want, if (interval == "prediction") ends, threads)
    fit <- flat(got[[mean]], rows, said$targets)
    if (interval != "none") {
        side <- function(k) if (interval == "prediction") got$quantile[, , k] else
            got[[mean]][, , 1] + qnorm(ends[k]) * got[[sd]][, , 1]
        fit <- array(c(got[[mean]], side(1), side(2)), c(length(rows), length(said$targets), 3),
                     list(rows, said$targets, c("fit", "lwr", "upr")))
        fit <- if (length(said$targets) == 1) matrix(fit, ncol = 3, dimnames = dimnames(fit)[c(1, 3)]) else
            aperm(fit, c(1, 3, 2))
    }
    if (se.fit) list(fit = fit, se.fit = flat(got[[sd]], rows, said$targets)) else fit
}

predict.holdfast <- function(object, newdata = NULL, type = c("response", "link", "probability"), se.fit = FALSE,
                             interval = c("none", "confidence", "prediction"), level = 0.95, noise = NULL, threads = 0,
                             ...)
{
    type <- match.arg(type)
    interval <- match.arg(interval)
    if (...length() > 0) refuse("predict() has no argument ", names(list(...))[1])
    said <- about(object)
    columns <- asked_columns(object, newdata, said, noise)
    rows <- if (is.null(newdata)) row_names(object) else row.names(as.data.frame(newdata))
    if (length(said$classes) > 0) {
        if (interval != "none") refuse("an interval is of readings, and this model is of labels")
        return(predict_class(object, columns, rows, said, type, se.fit, threads))
    }
    if (type == "probability") refuse("type = \"probability\" goes with labels")
    predict_readings(object, columns, rows, said, type == "link", se.fit, interval, level, threads)
}

# Sides of boxes: a row for each box, a column for each input in the model's order.
sides <- function(x, features, name)
{
    if (is.data.frame(x)) x <- as.matrix(x[features])
    if (!is.matrix(x)) x <- matrix(x, 1)
    if (!is.numeric(x) || ncol(x) != length(features))
        refuse(name, " needs a number for each input: ", paste(features, collapse = ", "))
    t(x) + 0
}

certify <- function(object, lower, upper, what = c("mean", "sd", "mean-plus"), of = NULL, tolerance = 0.01, beta = 1,
                    time_limit = 60, observed = FALSE, rigorous = FALSE, threads = 0)
{
    said <- about(object)
    if (said$transform != "none" || !is.null(said$mean))
        refuse("certify() is about models without a transform and without an offset")
    names <- if (length(said$classes) > 0) said$classes else said$targets
    if (is.null(of)) of <- if (length(said$classes) == 2) names[2] else names[1]
    if (!of %in% names) refuse("there is no \"", of, "\"; there are ", paste(names, collapse = ", "))
    low <- sides(lower, said$features, "lower")
    high <- sides(upper, said$features, "upper")
    if (ncol(low) != ncol(high)) refuse("lower has ", ncol(low), " boxes, and upper ", ncol(high))
    chosen <- setting_texts(list(output = match(of, names) - 1, tolerance = tolerance, beta = beta,
                                 time_limit = time_limit, observed = as.logical(observed),
                                 rigorous = as.logical(rigorous)))
    as_frame(.Call(C_certify, pointer_of(object), match.arg(what), low, high, chosen, as.integer(threads)))
}
