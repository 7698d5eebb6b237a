# SPDX-License-Identifier: Apache-2.0
# Formula and data to columns of a table and what each is; the fit.

# A column that the library reads: doubles, or a factor where it has categories.
as_column <- function(x, name)
{
    if (is.character(x)) return(factor(x))
    if (is.factor(x)) return(factor(x, ordered = FALSE))
    if (is.numeric(x) || is.logical(x) || inherits(x, c("Date", "POSIXct"))) return(as.double(x))
    refuse("the variable ", name, " is of class ", class(x)[1], "; it must be numeric, logical, text, a factor or a date")
}

# All columns of a data frame; a matrix in it has a column for each of its own.
as_columns <- function(frame)
{
    flat <- do.call(cbind, c(list(frame[0]), lapply(names(frame), function(name) {
        column <- frame[[name]]
        if (!is.matrix(column)) return(frame[name])
        made <- as.data.frame(unclass(column))
        names(made) <- if (is.null(colnames(column))) paste0(name, seq_len(ncol(column))) else colnames(column)
        made
    })))
    Map(as_column, flat, names(flat))
}

# Variables of the formula that are inputs, without those of offsets.
input_variables <- function(terms)
{
    factors <- attr(terms, "factors")
    if (any(attr(terms, "order") > 1))
        refuse("the formula has the interaction ", attr(terms, "term.labels")[attr(terms, "order") > 1][1],
               "; a Gaussian process finds interactions by itself: join its variables by +")
    if (length(factors) == 0) refuse("the formula has no input")
    which(rowSums(factors) > 0)
}

# Names of matrices' columns get the variable before them: poly(x, 2) has the columns poly(x, 2)1 and poly(x, 2)2.
input_columns <- function(frame, variables)
{
    for (j in variables)
        if (is.matrix(frame[[j]])) {
            own <- colnames(frame[[j]])
            colnames(frame[[j]]) <- paste0(names(frame)[j], if (is.null(own)) seq_len(ncol(frame[[j]])) else own)
        }
    as_columns(frame[variables])
}

# The offset as a column: a prior mean, or of counts and amounts the exposure, whose logarithm it is. Its name is that
# of the variable where it is one, so that other programs know it in a table.
offset_column <- function(frame, terms, rate)
{
    if (is.null(offset <- model.offset(frame))) return(NULL)
    inside <- as.list(attr(terms, "variables"))[[attr(terms, "offset")[1] + 1]][[2]]
    if (rate && is.call(inside) && identical(inside[[1]], quote(log))) inside <- inside[[2]]
    name <- if (is.name(inside) && length(attr(terms, "offset")) == 1) as.character(inside) else "offset"
    structure(list(as.double(if (rate) exp(offset) else offset)), names = name)
}

# The response as columns, and whether it is a label.
response_columns <- function(frame)
{
    y <- model.response(frame)
    if (is.null(y)) refuse("the formula has no response")
    name <- names(frame)[1]
    if (is.logical(y)) y <- factor(y)
    if (is.matrix(y) && is.null(colnames(y))) colnames(y) <- paste0("y", seq_len(ncol(y)))
    columns <- as_columns(if (is.matrix(y)) structure(list(y), names = name, row.names = seq_len(nrow(y)),
                                                      class = "data.frame")
                          else structure(list(y), names = name, row.names = seq_along(y), class = "data.frame"))
    list(columns = columns, label = is.factor(columns[[1]]))
}

# A setting's text, as hf_settings_set() takes it.
setting_text <- function(value, name)
{
    if (length(value) != 1 || is.na(value)) refuse("the setting ", name, " must have one value")
    if (is.logical(value)) return(if (value) "on" else "off")
    if (is.numeric(value)) return(format(value, digits = 17, trim = TRUE, scientific = FALSE, decimal.mark = "."))
    as.character(value)
}

# Settings with names as such texts.
setting_texts <- function(given) vapply(names(given), function(name) setting_text(given[[name]], name), "")

named_numbers <- function(x, what)
{
    if (length(x) > 0 && (!is.numeric(x) || is.null(names(x)) || any(names(x) == "")))
        refuse(what, " must be numbers with names, such as c(noise = 0.01)")
    structure(as.double(x), names = names(x))
}

holdfast <- function(formula, data, ..., preset = NULL, hold = NULL, start = NULL, noise = NULL, subset,
                     na.action = na.pass, threads = 0, seed = 0)
{
    if (!is.numeric(seed) || length(seed) != 1 || is.na(seed) || seed < 0 || seed >= 2^53 || seed != floor(seed))
        refuse("seed must be one whole number from 0 on, below 2^53")
    call <- match.call()
    wanted <- call[c(1L, match(c("formula", "data", "subset", "noise"), names(call), 0L))]
    wanted[[1L]] <- quote(stats::model.frame)
    wanted$na.action <- na.action
    wanted$drop.unused.levels <- TRUE
    frame <- eval(wanted, parent.frame())
    if (nrow(frame) == 0) refuse("there is no row to fit")
    terms <- attr(frame, "terms")
    given <- list(...)
    if (length(given) > 0 && (is.null(names(given)) || any(names(given) == "")))
        refuse("settings are given by name, such as kernel = \"se(ard)\"")
    chosen <- setting_texts(given)
    response <- response_columns(frame)
    if (response$label && is.null(preset) && is.na(chosen["sites"]))
        chosen <- c(chosen, sites = if (nlevels(response$columns[[1]]) == 2) "probit" else "softmax")
    if (attr(terms, "intercept") == 0 && is.na(chosen["mean"])) chosen <- c(chosen, mean = "zero")
    rate <- .Call(C_has_rate, preset, chosen, length(response$columns))
    inputs <- input_columns(frame, input_variables(terms))
    offset <- offset_column(frame, terms, rate)
    beside <- if (is.null(frame[["(noise)"]])) NULL else
        structure(list(as.double(frame[["(noise)"]])), names = if (is.name(call$noise)) as.character(call$noise) else "noise")
    roles <- list(names(response$columns), names(inputs), names(beside), if (!rate) names(offset), if (rate) names(offset))
    columns <- c(response$columns, inputs, beside, offset)
    if (anyDuplicated(names(columns)))
        refuse("the name ", names(columns)[duplicated(names(columns))][1], " is that of two columns")
    pointer <- .Call(C_fit, columns, roles, preset, chosen, named_numbers(hold, "hold"), named_numbers(start, "start"),
                     as.integer(threads), as.double(seed))
    made <- model_object(pointer)
    made[c("call", "terms", "model", "na.action")] <- list(call, terms, frame, attr(frame, "na.action"))
    made
}
