# SPDX-License-Identifier: Apache-2.0
"""From what users have (arrays, lists, data frames) to arrays of doubles that the library reads in place."""
from __future__ import annotations

import numpy as np

F64 = np.dtype(np.float64)


def _refuse_sparse(X, what):
    if hasattr(X, "toarray") and hasattr(X, "tocsr"):
        raise TypeError(f"A sparse matrix was passed as {what}, but dense data is required. Use {what}.toarray() to convert to a "
                        "dense array.")


def _is_pandas_na(value):
    return type(value).__name__ == "NAType"


def is_gap(value):
    """None, NaN, and what pandas writes for a missing value."""
    return value is None or _is_pandas_na(value) or value != value


def with_gaps(values):
    """An array of the values, with NaN where one is masked (numpy.ma) or is pandas.NA."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        kind = np.float64 if values.dtype.kind in "biuf" else object
        return values.astype(kind).filled(np.nan)
    array = np.asarray(values)
    if array.dtype == object and any(_is_pandas_na(value) for value in array.flat):
        made = np.empty(array.size, dtype=object)
        made[:] = [np.nan if is_gap(value) else value for value in array.flat]
        array = made.reshape(array.shape)
    return array


def _number_array(values, what):
    """Doubles out of anything; says what is wrong with text, complex numbers and the like."""
    _refuse_sparse(values, what)
    array = with_gaps(values)
    if array.dtype == F64:
        return array
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{what} has complex numbers")
    if array.dtype.kind in "USmM":
        try:
            if array.dtype.kind in "mM":
                raise ValueError(array.dtype.name)
            return array.astype(np.float64)
        except ValueError as problem:
            raise ValueError(f"{what} has values that are not numbers ({problem}): dtype is {array.dtype}. Turn text into "
                             "numbers, or pass a data frame with such columns as categories") from None
    try:
        return array.astype(np.float64)
    except ValueError as problem:
        raise ValueError(f"{what} has values that are not numbers: {problem}") from None
    except TypeError as problem:
        raise TypeError(f"{what} has values that are not numbers: {problem}") from None


def in_place(array):
    """The array itself where its strides are whole doubles, else a copy."""
    if array.flags.aligned and all(stride % 8 == 0 for stride in array.strides):
        return array
    return np.ascontiguousarray(array)


def address(array):
    return array.__array_interface__["data"][0]


def names_of(X):
    """Column names of a data frame whose names are all text; None otherwise."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "to_numpy"):
        return None
    names = list(columns)
    if not names:
        return None
    text = [isinstance(name, str) for name in names]
    if all(text):
        return np.asarray(names, dtype=object)
    if any(text):
        kinds = sorted({type(name).__name__ for name in names})
        raise TypeError("Feature names are only supported if all input features have string names, but your input has "
                        f"{kinds} as feature name / column name types. If you want feature names to be stored and validated, "
                        "you must convert them all to strings, by using X.columns = X.columns.astype(str) for example. "
                        "Otherwise you can remove feature / column names from your input data, or convert them all to a "
                        "non-string data type.")
    return None


# ---- categories -----------------------------------------------------------------------------------------------------

def _is_category(column):
    kind = getattr(column.dtype, "name", "")
    return kind == "category" or kind.startswith("string") or (
        kind in ("object", "str") and any(isinstance(value, str) for value in column))


def find_categories(X):
    """{position: the different values} of columns of a data frame that are text or categories."""
    found = {}
    if not hasattr(X, "iloc") or not hasattr(X, "columns"):
        return found
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        if not _is_category(column):
            continue
        if getattr(column.dtype, "name", "") == "category":
            found[j] = list(column.cat.categories)
        else:
            found[j] = sorted({value for value in column if isinstance(value, str)})
    return found


def encode(X, categories):
    """Doubles out of a data frame: codes 0, 1, ... in place of categories, NaN where one is missing."""
    made = np.empty(X.shape, dtype=np.float64)
    for j in range(X.shape[1]):
        column = X.iloc[:, j]
        if j not in categories:
            made[:, j] = _number_array(column, f"column {column.name!r} of X")
            continue
        code = {value: k for k, value in enumerate(categories[j])}
        for i, value in enumerate(column):
            if is_gap(value):
                made[i, j] = np.nan
            elif value in code:
                made[i, j] = code[value]
            else:
                raise ValueError(f"column {column.name!r} of X has the category {value!r}, and the model knows "
                                 f"{', '.join(map(repr, categories[j]))}")
    return made


# ---- rows of inputs, and readings -----------------------------------------------------------------------------------

def input_array(X, categories=None, owner="this estimator"):
    """A 2-D array of doubles, the caller's own where that is possible."""
    if type(X) is np.ndarray and X.dtype == F64 and X.ndim == 2:
        array = X
    elif categories and hasattr(X, "iloc"):
        array = encode(X, categories)
    else:
        _refuse_sparse(X, "X")
        array = _number_array(X, "X")
    if array.ndim != 2:
        if array.ndim == 0:
            raise ValueError(f"Expected 2D array, got scalar array instead:\narray={array}.\nReshape your data either using "
                             "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a "
                             "single sample.")
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead:\narray={array}.\nReshape your data either using "
                         "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a "
                         "single sample.")
    if array.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={array.shape}) while a minimum of 1 is required by {owner}.")
    if array.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={array.shape}) while a minimum of 1 is required by {owner}.")
    return in_place(array)


def refuse_gaps(X, owner):
    """ValueError for NaN and infinity among the inputs."""
    if np.isfinite(X).all():
        return
    row, column = (int(k[0]) for k in np.nonzero(~np.isfinite(X)))
    gap = "NaN" if np.isnan(X).any() else "infinity or a value too large for dtype('float64')"
    raise ValueError(f"Input X contains {gap}.\nThe first is at row {row}, column {column} (counted from 0). {owner} takes "
                     "inputs without gaps: leave such rows out, or fill them before.")


def reading_array(y, rows, what="y"):
    """(n x T array of doubles, NaN where a reading is missing; whether y was one-dimensional; names)."""
    if y is None:
        raise ValueError(f"requires {what} to be passed, but the target {what} is None")
    _refuse_sparse(y, what)
    names = None
    if hasattr(y, "columns"):
        names = [str(name) for name in y.columns]
    elif hasattr(y, "name") and y.name is not None:
        names = [str(y.name)]
    array = _number_array(y, what)
    flat = array.ndim == 1
    if array.ndim not in (1, 2):
        raise ValueError(f"{what} should be a 1d or 2d array, got an array of shape {array.shape} instead.")
    if array.shape[0] != rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {array.shape[0]}] (rows of X, "
                         f"rows of {what})")
    array = array.reshape(rows, -1)
    if np.isinf(array).any():
        raise ValueError(f"Input {what} contains infinity or a value too large for dtype('float64').")
    return in_place(array), flat, names


def apart(names, inputs):
    """Names of targets, with as many _ after them as it takes to differ from those of the inputs."""
    made = []
    for name in names or []:
        while name in inputs:
            name += "_"
        made.append(name)
    return made or None


def beside_array(values, rows, what):
    """An array of one number a row (noise, prior mean, exposure), or None."""
    if values is None:
        return None
    array = _number_array(values, what)
    if array.ndim == 0:
        array = np.full(rows, float(array))
    if array.shape not in ((rows,), (rows, 1)):
        raise ValueError(f"{what} has the shape {array.shape}; it needs a number for each of the {rows} rows of X")
    return in_place(array.reshape(rows, -1))
