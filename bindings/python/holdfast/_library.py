# SPDX-License-Identifier: Apache-2.0
"""The loaded library: where it is, contexts for threads, failures as exceptions, progress and Ctrl-C."""
from __future__ import annotations

import ctypes
import ctypes.util
import functools
import os
import signal
import sys
import tempfile
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _declarations
from ._bare import Library


class HoldfastError(Exception):
    """Something that the library could not do; the text is the library's message."""


class ArgumentError(HoldfastError, ValueError):
    """A value that does not do: an argument, a number that is not finite, an expression, too little data."""


class OutOfMemory(HoldfastError, MemoryError):
    """Memory ran out, or would."""


class FileError(HoldfastError, OSError):
    """A file could not be read or written."""


class Cancelled(HoldfastError):
    """The progress callback returned False."""


_KINDS = {"HF_ERR_MEMORY": OutOfMemory, "HF_ERR_TOO_LARGE": OutOfMemory, "HF_ERR_IO": FileError,
          "HF_ERR_MODEL_FILE": FileError, "HF_ERR_CANCELLED": Cancelled, "HF_ERR_INTERNAL": HoldfastError,
          "HF_ERR_INCONSISTENT": HoldfastError, "HF_ERR_NOT_POSITIVE_DEFINITE": HoldfastError}
_STATUS = {value: name for name, value in _declarations.ENUMS["hf_status"].items()}
CANCELLED = _declarations.ENUMS["hf_status"]["HF_ERR_CANCELLED"]
ROWS_SKIPPED = _declarations.ENUMS["hf_status"]["HF_WARN_ROWS_SKIPPED"]
NOT_CONVERGED = _declarations.ENUMS["hf_status"]["HF_WARN_NOT_CONVERGED"]


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    given = os.environ.get("HOLDFAST_LIBRARY")
    places = [given] if given else [os.path.join(here, "libholdfast.so"), "libholdfast.so.0",
                                    ctypes.util.find_library("holdfast")]
    problems = []
    for place in places:
        if not place or (os.path.isabs(place) and not os.path.exists(place) and not given):
            continue
        try:
            return Library(place, _declarations.STRUCTS, _declarations.ENUMS, _declarations.FUNCTIONS)
        except OSError as problem:
            problems.append(str(problem))
    raise ImportError("holdfast needs its shared library, libholdfast.so: put it beside the package, install it, or name it in "
                      "HOLDFAST_LIBRARY. " + "; ".join(problems))


lib = _load()
version = lib.hf_version().decode() if "hf_version" in _declarations.FUNCTIONS else ""

PROGRESS = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_char_p, ctypes.c_double, ctypes.c_double, ctypes.c_void_p)
_forked = False  # a child must not use more than one thread (context.h)


def _after_fork():
    global _forked, _local
    _forked, _local = True, threading.local()


os.register_at_fork(after_in_child=_after_fork)


class Context:
    """An hf_context of one thread."""

    def __init__(self):
        self.pointer = lib.hf_context_create()
        if not self.pointer:
            raise OutOfMemory("out of memory")
        self._threads = 0
        self._listener = None
        self._callback = PROGRESS(self._report)
        if _forked:
            lib.hf_context_set_threads(self.pointer, 1)

    def __del__(self):
        if getattr(self, "pointer", None):
            lib.hf_context_free(self.pointer)

    def _report(self, stage, done, value, _user):
        listener = self._listener
        return listener is None or listener.report(stage, done, value)

    def prepare(self, threads=None, seed=None):
        """Number of threads (None: all) and seed (None: 0) of the next call."""
        wanted = 1 if _forked else int(threads or 0)
        if wanted != self._threads:
            self.check(lib.hf_context_set_threads(self.pointer, wanted))
            self._threads = wanted
        lib.hf_context_set_seed(self.pointer, int(seed or 0))
        return self

    def message(self):
        return lib.hf_context_message(self.pointer).decode("utf-8", "replace")

    def check(self, status):
        """Raises what a negative status means; else returns it."""
        if status >= 0:
            return status
        name = _STATUS.get(status, str(status))
        text = self.message() or lib.hf_status_text(status).decode()
        raise _KINDS.get(name, ArgumentError)(text)

    def long_call(self, function, *arguments, progress=None):
        """A call that may take long: it reports progress, and Ctrl-C ends it. `arguments` follow the context."""
        with Listener(progress) as listener:
            before, self._listener = self._listener, listener
            lib.hf_context_set_progress(self.pointer, ctypes.cast(self._callback, ctypes.c_void_p), None)
            try:
                status = function(self.pointer, *arguments)
            finally:
                self._listener = before
                lib.hf_context_set_progress(self.pointer, None, None)
        listener.reraise()
        return self.check(status)


_local = threading.local()


def context():
    """The context of this thread."""
    try:
        return _local.context
    except AttributeError:
        _local.context = Context()
        return _local.context


class Listener:
    """Hears a long call's progress, and signals meanwhile: a handler's exception ends the call and is raised after it."""

    def __init__(self, progress):
        self._show = shower(progress)
        self._failure = None
        self._handler = None
        self._watched = False

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            handler = signal.getsignal(signal.SIGINT)
            if callable(handler):
                self._handler, self._watched = handler, True
                signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, *_):
        if self._watched:
            signal.signal(signal.SIGINT, self._handler)
        close = getattr(self._show, "close", None)
        if close is not None:
            close()

    def _interrupted(self, number, frame):
        try:
            self._handler(number, frame)
        except BaseException as failure:  # told once the library has come back
            self._failure = failure

    def report(self, stage, done, value):
        try:
            if self._show is not None and self._failure is None:
                answer = self._show(stage.decode(), None if done < 0 else done, value)
                return self._failure is None and (answer is None or bool(answer))
        except BaseException as failure:
            self._failure = failure
        return self._failure is None

    def reraise(self):
        if self._failure is not None:
            raise self._failure


class _Lines:
    """Progress on standard error, without tqdm: a line that is written over."""

    def __init__(self):
        self._last = None

    def __call__(self, stage, done, value):
        text = stage if done is None else f"{stage} {100 * done:3.0f} %"
        if text != self._last:
            self._last = text
            sys.stderr.write(f"\r{text:<40}")
            sys.stderr.flush()

    def close(self):
        if self._last is not None:
            sys.stderr.write("\n")


class _Bars:
    """Progress by tqdm, a bar for each stage."""

    def __init__(self, tqdm):
        self._tqdm, self._bar, self._stage = tqdm, None, None  # the bar's n is the percentage it shows

    def __call__(self, stage, done, value):
        if stage != self._stage:
            self.close()
            self._bar, self._stage = self._tqdm(total=100, desc=stage, leave=False), stage
        if done is not None and round(100 * done) != self._bar.n:
            self._bar.n = round(100 * done)
            self._bar.refresh()

    def close(self):
        if self._bar is not None:
            self._bar.close()


def shower(progress):
    """A function of (stage, done, value) out of what `progress` may be: None, False, True or such a function."""
    if progress is None or progress is False:
        return None
    if callable(progress):
        return progress
    if progress is not True:
        raise TypeError(f"progress is {progress!r}; it must be True, False, None or a function of (stage, done, value)")
    try:
        from tqdm import tqdm
    except ImportError:
        return _Lines()
    return _Bars(tqdm)


def locked(method):
    """A method of an object that one thread at a time may use: its lock is held meanwhile (the GIL is not)."""
    @functools.wraps(method)
    def guarded(self, *arguments, **keywords):
        with self._lock:
            return method(self, *arguments, **keywords)
    return guarded


def strings(values):
    """A C array of texts; keep the result while it is used."""
    return (ctypes.c_char_p * len(values))(*[str(value).encode() for value in values])


def enum_number(name, text):
    """Number of an enum's value by its name in words; `name` as in HF_ENUM_<name>."""
    of = lib.enums["hf_enum"]["HF_ENUM_" + name]
    value = ctypes.c_int()
    ctx = context()
    ctx.check(lib.hf_enum_parse(ctx.pointer, of, str(text).encode(), ctypes.byref(value)))
    return value.value


def enum_name(name, number):
    """The name in words of an enum's value."""
    return lib.hf_enum_name(lib.enums["hf_enum"]["HF_ENUM_" + name], number).decode()


def _text(value):
    if isinstance(value, (bool, np.bool_)):
        return "on" if value else "off"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def setting_rows(kind):
    """The rows of the table of a struct of settings."""
    table = getattr(lib, kind + "_table")()
    for index in range(lib.hf_setting_count(table)):
        yield lib.struct_at("hf_setting", lib.hf_setting_at(table, index))


def setting_names(kind):
    """Names of the settings of a struct that have a text."""
    return [row.name.decode() for row in setting_rows(kind) if row.type < lib.enums["hf_setting_type"]["HF_SETTING_LIST"]]


def refuse_unknown(owner, known, settings):
    """TypeError for the first of `settings` that is none of the known ones."""
    for name in settings:
        if name not in known:
            raise TypeError(f"{owner} has no setting {name!r}; it has {', '.join(sorted(known))}")


def take_settings(kind, struct, values):
    """Sets members of a struct of settings by their names, but for None; returns what the struct then points to."""
    ctx, kept = context(), []
    for name, value in values.items():
        if value is not None:
            kept.append(ctypes.c_char_p(_text(value).encode()))
            ctx.check(lib.hf_settings_set(ctx.pointer, getattr(lib, kind + "_table")(), ctypes.byref(struct), name.encode(),
                                          kept[-1]))
    return kept


def check_settings(kind, struct, names):
    """Refuses the first of the chosen settings that has no effect beside the others."""
    ctx, table = context(), getattr(lib, kind + "_table")()
    for name in names:
        ctx.check(lib.hf_settings_check(ctx.pointer, table, ctypes.byref(struct), 1, name.encode(), None))


def make_settings(kind, **values):
    """A struct of settings: the library's defaults, then `values` by their names. It keeps no texts."""
    struct = lib.struct(kind)
    lib.hf_settings_init(getattr(lib, kind + "_table")(), ctypes.byref(struct), ctypes.sizeof(struct))
    take_settings(kind, struct, values)
    return struct


def as_dict(struct):
    """Members of a struct of numbers and texts; enums stay numbers, pointers are left out."""
    values = {}
    for field, kind in struct._fields_:
        value = getattr(struct, field)
        if kind is ctypes.c_void_p or field == "size":
            continue
        values[field] = value.decode() if isinstance(value, bytes) else value
    return values


def columns(array):
    """Members of an array of structs of numbers, a numpy array each."""
    kind = array._type_
    codes = {ctypes.c_double: "f8", ctypes.c_size_t: "u8", ctypes.c_int: "i4", ctypes.c_bool: "?", ctypes.c_uint64: "u8"}
    names = [field for field, _ in kind._fields_]
    layout = np.dtype({"names": names, "formats": [codes[of] for _, of in kind._fields_],
                       "offsets": [getattr(kind, name).offset for name in names], "itemsize": ctypes.sizeof(kind)})
    table = np.frombuffer(array, dtype=layout)
    return {name: table[name].copy() for name in names}


def file_bytes(save, name):
    """The bytes of the file that save(path) writes."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        path = os.path.join(folder, name)
        save(path)
        with open(path, "rb") as file:
            return file.read()


def of_file_bytes(load, name, content):
    """The object that load(path) reads from a file of such bytes."""
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(content)
        return load(path)


def place_of(names, name, what):
    """Number of a name in a list; ValueError where it is none of them."""
    if name not in names:
        raise ValueError(f"there is no {what} {name!r}; there are {', '.join(map(str, names))}")
    return names.index(name)


class Record:
    """A few named values: attributes, and a dictionary by vars()."""

    def __init__(self, **values):
        self.__dict__.update(values)

    if TYPE_CHECKING:  # names are known when there are values
        def __getattr__(self, name: str) -> Any: ...

    def __repr__(self):
        inside = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({inside})"

    def __eq__(self, other):
        return type(self) is type(other) and repr(self) == repr(other)
