# SPDX-License-Identifier: Apache-2.0
# Errors and warnings of the library as conditions: class "holdfast_error" or "holdfast_warning", and one of its own,
# the status in lower case without "HF_", as "err_argument". C calls this.
tell <- function(is_error, status, message)
{
    own <- tolower(sub("^HF_", "", status))
    kind <- if (own == "err_cancelled") "interrupt" else if (is_error) c("holdfast_error", "error") else
        c("holdfast_warning", "warning")
    made <- structure(list(message = message, call = NULL), class = c(own, kind, "condition"))
    if (is_error) stop(made) else warning(made)
}

refuse <- function(...) stop(..., call. = FALSE)
