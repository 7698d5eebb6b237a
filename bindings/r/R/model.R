# SPDX-License-Identifier: Apache-2.0
# Models as R has them: an external pointer, and the bytes of the model's file, from which a model that R saved wakes up.

model_object <- function(pointer)
{
    path <- tempfile(fileext = ".hf")
    on.exit(unlink(path))
    .Call(C_save, pointer, path)
    structure(list(pointer = pointer, file = readBin(path, "raw", file.size(path))), class = "holdfast")
}

# The external pointer of a model; one that came from a file of R's is filled again.
pointer_of <- function(object)
{
    if (!inherits(object, "holdfast")) refuse("a model of holdfast() is wanted, not a ", class(object)[1])
    if (.Call(C_is_gone, object$pointer)) {
        path <- tempfile(fileext = ".hf")
        on.exit(unlink(path))
        writeBin(object$file, path)
        .Call(C_load, path, object$pointer)
    }
    object$pointer
}

about <- function(object) .Call(C_describe, pointer_of(object))

as_frame <- function(columns) as.data.frame(columns, optional = TRUE, stringsAsFactors = FALSE)

save_model <- function(object, path) invisible(.Call(C_save, pointer_of(object), path.expand(path)))

load_model <- function(path)
{
    path <- path.expand(path)
    pointer <- .Call(C_load, path, NULL)
    structure(list(pointer = pointer, file = readBin(path, "raw", file.size(path)), call = match.call()), class = "holdfast")
}

holdfast_settings <- function()
{
    all <- Filter(length, .Call(C_settings_table))
    of <- function(member) vapply(all, function(row) paste(row[[member]], collapse = ", "), "", USE.NAMES = FALSE)
    data.frame(name = names(all), group = of("group"), type = of("type"), default = of("default"),
               choices = of("choices"), unit = of("unit"), help = gsub("--", "", gsub("\n", " ", of("help"))))
}

hyperparameters <- function(object) about(object)$hyperparameters

relevance <- function(object) .Call(C_shares, pointer_of(object))

# Every reading: with several outputs, their names in place of numbers.
readings <- function(object)
{
    made <- as_frame(.Call(C_rows_of, pointer_of(object), FALSE))
    if (!is.null(made$suspected)) made$suspected <- made$suspected == 1
    if (!is.null(made$output)) made$output <- about(object)$targets[made$output + 1]
    made$row <- row_names(object)[match(made$row, row_numbers(object))]
    made
}

# The rows of the table that was fitted, with their numbers in it; of a model from a file those that it keeps.
training <- function(object) as_frame(.Call(C_rows_of, pointer_of(object), TRUE))

row_numbers <- function(object) if (is.null(object$model)) training(object)$row else seq_len(nrow(object$model))

row_names <- function(object) if (is.null(object$model)) row_numbers(object) else row.names(object$model)

# Readings, or labels, of those rows.
response_of <- function(object, said)
{
    if (!is.null(said$output_column)) refuse("a model of a table with a row for each reading has no table of responses")
    drop(as.matrix(if (is.null(object$model)) training(object)[said$targets] else model.response(object$model)))
}

# Values of readings, in the rows that were given to the fit: a vector, of several outputs a matrix.
by_row <- function(object, values, row, output)
{
    targets <- about(object)$targets
    made <- matrix(values[NA_integer_], length(row_names(object)), length(targets),
                   dimnames = list(row_names(object), targets))
    made[cbind(match(row, row_numbers(object)), output)] <- values
    if (length(targets) == 1) made[, 1] else made
}

opinion <- function(object, member)
{
    said <- .Call(C_opinions, pointer_of(object))
    by_row(object, said[[member]], said$row, said$output)
}

suspected <- function(object) naresid(object$na.action, opinion(object, "suspected"))

weights.holdfast <- function(object, ...) naresid(object$na.action, opinion(object, "weight"))

nobs.holdfast <- function(object, ...) as.integer(about(object)$report$readings)

formula.holdfast <- function(x, ...) if (!is.null(x$terms)) formula(x$terms)

fitted.holdfast <- function(object, ...) naresid(object$na.action, predict(object, ...))

residuals.holdfast <- function(object, type = c("response", "loo", "standardised"), ...)
{
    type <- match.arg(type)
    said <- about(object)
    if (length(said$classes) > 0) refuse("residuals() are of readings; of labels, readings() has their probabilities")
    if (type == "response") {
        return(naresid(object$na.action, response_of(object, said) - predict(object)))
    }
    rows <- as_frame(.Call(C_rows_of, pointer_of(object), FALSE))
    left <- rows$y - rows$loo_mean
    by_output <- if (is.null(rows$output)) 1 else rows$output + 1
    naresid(object$na.action, by_row(object, if (type == "loo") left else left / rows$loo_sd, rows$row, by_output))
}

# "set aside as wrong: rows 7, 11"; a model of a stream has no rows.
wrong_rows <- function(object)
{
    report <- about(object)$report
    if (report$suspects == 0) return(NULL)
    names <- tryCatch({
        said <- .Call(C_opinions, pointer_of(object))
        unique(row_names(object)[match(said$row[said$suspected], row_numbers(object))])
    }, err_no_data = function(condition) NULL)
    which <- if (is.null(names)) paste(report$suspects, "readings") else
        paste0("rows ", paste(utils::head(names, 20), collapse = ", "), if (length(names) > 20) ", ...")
    paste0(if (report$adopted) "set aside as wrong: " else "suspected, not set aside: ", which,
           if (report$undecided) " (undecided: the evidence is near its limit)")
}

print.holdfast <- function(x, ...)
{
    said <- about(x)
    labels <- length(said$classes) > 0
    cat(if (labels) "Holdfast classifier of " else "Holdfast Gaussian process of ", paste(said$targets, collapse = ", "),
        " by ", paste(said$features, collapse = ", "), "\n", sep = "")
    if (labels) cat("classes ", paste(said$classes, collapse = ", "), "\n", sep = "")
    cat(said$report$readings, " readings, solver ", said$report$solver, ", kernel ", said$kernel, "\n", sep = "")
    if (!is.null(wrong <- wrong_rows(x))) cat(wrong, "\n", sep = "")
    invisible(x)
}

summary.holdfast <- function(object, ...)
{
    said <- about(object)
    rows <- function(question) tryCatch(question, err_no_data = function(condition) NULL) # a model of a stream has none
    scores <- if (length(said$classes) == 0) rows(do.call(rbind, .Call(C_left_out, pointer_of(object))))
    if (!is.null(scores)) colnames(scores) <- c("RMSE", "R2", "NLPD", "90 %", "95 %")
    structure(list(model = object, hyperparameters = said$hyperparameters, relevance = rows(relevance(object)),
                   leave_one_out = scores, report = said$report, notes = said$notes), class = "summary.holdfast")
}

print.summary.holdfast <- function(x, digits = max(3L, getOption("digits") - 3L), ...)
{
    print(x$model)
    report <- x$report
    if (report$missing + report$skipped > 0)
        cat(report$missing, " missing readings, ", report$skipped, " rows without all inputs\n", sep = "")
    cat("\nHyperparameters:\n")
    print(x$hyperparameters, digits = digits)
    if (!is.null(x$relevance)) {
        cat("\nShares of the inputs in what is predicted:\n")
        print(x$relevance, digits = digits)
    }
    if (!is.null(x$leave_one_out)) {
        cat("\nLeave-one-out:\n")
        print(x$leave_one_out, digits = digits, na.print = "")
    }
    if (length(x$notes) > 0) cat("\n", paste0(x$notes, "\n"), sep = "")
    invisible(x)
}
