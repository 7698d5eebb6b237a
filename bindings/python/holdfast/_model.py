# SPDX-License-Identifier: Apache-2.0
"""Models as the library has them: fit, ask, save, load."""
from __future__ import annotations

import csv
import ctypes
import io
import json
import os
from typing import Any, Dict, Iterable, Mapping, Optional, Sequence

import numpy as np

from . import _library
from ._inputs import address
from ._library import Record, as_dict, context, enum_name, file_bytes, lib, of_file_bytes, setting_rows, strings, take_settings

# Arrays that a prediction can have: whether a row has an entry for each output, or for each latent function.
READINGS = ("mean", "sd_latent", "sd_observed")
LATENTS = ("latent_mean", "latent_sd")
LONG = 2_000_000  # rows times anchors of a prediction during which somebody may want to press Ctrl-C
MISSING = ctypes.c_size_t(-1).value


def place(view, array):
    """Makes an hf_view one of a 2-D array of doubles."""
    view.at = address(array)
    row, column = array.strides
    view.row = row // 8
    view.column = column // 8


class Settings:
    """Settings of a fit: a preset, then what was chosen, as the tool's options would choose it."""

    def __init__(self, preset: str, chosen: Mapping[str, Any], hold: Optional[Mapping[str, float]] = None,
                 start: Optional[Mapping[str, float]] = None, output_eps: Optional[Sequence[float]] = None,
                 output_beta: Optional[Sequence[float]] = None, inducing_inputs: Any = None, inputs: int = 0):
        ctx = context()
        self.struct = lib.struct("hf_fit_settings")
        self._kept = []  # what the struct points to
        self.pointer = ctypes.byref(self.struct)
        ctx.check(lib.hf_fit_settings_preset(ctx.pointer, str(preset).encode(), self.pointer, ctypes.sizeof(self.struct)))
        self._kept += take_settings("hf_fit_settings", self.struct, chosen)
        self._assign("set", hold)
        self._assign("start", start)
        self._numbers("output_eps", output_eps)
        self._numbers("output_beta", output_beta)
        if inducing_inputs is not None:
            places = np.ascontiguousarray(inducing_inputs, dtype=np.float64)
            if places.ndim != 2 or places.shape[1] != inputs or len(places) == 0:
                raise ValueError(f"inducing_inputs has the shape {places.shape}; it needs a row of {inputs} for each inducing input")
            self._kept.append(places)
            self.struct.inducing_inputs = address(places)
            self.struct.inducing = places.shape[0]
        self._chosen = list(chosen)
        self._preset = str(preset)

    def _assign(self, name, values):
        if values is None:
            return
        if not isinstance(values, Mapping):
            raise TypeError(f"{'hold' if name == 'set' else name} is {values!r}; it needs a dictionary of numbers by name")
        if not values:
            return
        made = (lib.struct_class("hf_assignment") * len(values))()
        for entry, (key, value) in zip(made, values.items()):
            entry.name, entry.value = str(key).encode(), float(value)
        self._kept.append(made)
        setattr(self.struct, name, ctypes.addressof(made))
        setattr(self.struct, name + "_count", len(values))

    def _numbers(self, name, values):
        if values is None:
            return
        made = np.ascontiguousarray(values, dtype=np.float64).reshape(-1)
        self._kept.append(made)
        setattr(self.struct, name, address(made))
        setattr(self.struct, name + "_count", made.size)

    def finish(self, outputs: int) -> "Settings":
        """Gives settings that were not chosen the values that go with the chosen ones; refuses those without effect."""
        ctx = context()
        names = strings(self._chosen or [""])
        ctx.check(lib.hf_fit_settings_complete(ctx.pointer, self.pointer, self._preset != "default", len(self._chosen),
                                               ctypes.addressof(names)))
        for name in self._chosen:
            ctx.check(lib.hf_settings_check(ctx.pointer, lib.hf_fit_settings_table(), self.pointer, outputs, name.encode(), None))
        return self


class Report(Record):
    """Report of a fit; vars() of it is a dictionary, str() of it a table."""

    def __str__(self):
        width = max(len(name) for name in vars(self))
        return "\n".join(f"{name:<{width}}  {value}" for name, value in vars(self).items())


def _report(struct) -> Report:
    values = as_dict(struct)
    values["stop"] = enum_name("STOP", values["stop"])
    values["solver"] = enum_name("SOLVER", values["solver"])
    for side in ("kept", "set_aside"):
        values[side] = Record(**as_dict(values[side]))
    return Report(**values)


def _flat(entry, before=""):
    """Members of an object as texts, names of nested ones joined by points; lists are left out."""
    made = {}
    for name, value in entry.items():
        if isinstance(value, dict):
            made.update(_flat(value, f"{before}{name}."))
        elif not isinstance(value, (list, tuple)):
            made[before + name] = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return made


def _certificate_table(certificates):
    """Name and CSV of certificates: a column for each member that any of them has."""
    name = "certificates"
    if isinstance(certificates, (str, os.PathLike)):
        name = os.fspath(certificates)
        with open(name, encoding="utf-8") as file:
            certificates = [json.loads(line) for line in file if line.strip()]
    rows = [_flat(entry) for entry in certificates]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(column for row in rows for column in row)), restval="", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return os.fsencode(name), out.getvalue().encode()


class Model:
    """A fitted model.

    Made by an estimator's `fit` (attribute `model_`) or by `holdfast.load`. Any number of threads may ask it.
    """

    def __init__(self, pointer: int):
        self._pointer = pointer
        self._notice()

    def _notice(self):
        pointer = self._pointer
        self.n_features = lib.hf_model_features(pointer)
        self.outputs = lib.hf_model_outputs(pointer)
        self._latents = lib.hf_model_latents(pointer)
        self._classes = lib.hf_model_classes(pointer)
        self._posterior = lib.hf_model_posterior(pointer)
        self._anchors = max(1, lib.hf_posterior_anchors(self._posterior))
        settings = lib.struct_at("hf_fit_settings", lib.hf_model_settings_of(pointer))
        self.is_rate = bool(lib.hf_likelihood_has_rate(settings.sites))
        self.transform = enum_name("TRANSFORM", settings.transform)

    def __del__(self):
        if getattr(self, "_pointer", None):
            lib.hf_model_free(self._pointer)

    def __repr__(self):
        kind = "classifier" if self._classes else "counts" if self.is_rate else "readings"
        return f"<holdfast.Model of {', '.join(self.targets)} ({kind}) by {', '.join(self.feature_names)}>"

    # ---- what it is made of ----

    @property
    def feature_names(self) -> list:
        """Names of the inputs."""
        return [lib.hf_model_feature(self._pointer, j).decode() for j in range(self.n_features)]

    @property
    def targets(self) -> list:
        """Names of the outputs; of a classifier the name of the label."""
        return [lib.hf_model_output(self._pointer, t).decode() for t in range(self.outputs)]

    @property
    def classes(self) -> list:
        """Names of the classes, as the model sorts them; empty for other models."""
        return [lib.hf_model_class(self._pointer, k).decode() for k in range(self._classes)]

    @property
    def report(self) -> Report:
        """The report of the fit: readings, suspects, seconds, objective, condition, ...; see holdfast/train.h."""
        return _report(lib.struct_at("hf_fit_report", lib.hf_model_report_of(self._pointer)))

    @property
    def settings(self) -> Dict[str, str]:
        """The settings of the fit by name, as text."""
        ctx, at = context(), lib.hf_model_settings_of(self._pointer)
        room = ctypes.create_string_buffer(20000)
        values = {}
        for setting in setting_rows("hf_fit_settings"):
            if setting.in_model and lib.hf_settings_get(ctx.pointer, lib.hf_fit_settings_table(), at, setting.name, len(room),
                                                            ctypes.addressof(room)) >= 0:
                values[setting.name.decode()] = room.value.decode()
        return values

    @property
    def hyperparameters(self) -> Dict[str, float]:
        """Hyperparameters by name, in the user's units (noise is a variance)."""
        return {entry.name: entry.value for entry in self.parameters}

    @property
    def parameters(self) -> list:
        """Hyperparameters with their box, their unit, and whether they were held."""
        made, entry = [], lib.struct("hf_parameter")
        for i in range(lib.hf_model_parameters(self._pointer)):
            context().check(lib.hf_model_parameter(self._pointer, i, ctypes.byref(entry)))
            values = as_dict(entry)
            values["unit"] = enum_name("UNIT", values["unit"])
            values["column"] = None if values["column"] == MISSING else values["column"]
            made.append(Record(**values))
        return made

    @property
    def notes(self) -> list:
        """Remarks of the fit, a sentence each."""
        return [lib.hf_model_note(self._pointer, i).decode() for i in range(lib.hf_model_notes(self._pointer))]

    @property
    def data_checksum(self) -> str:
        """SHA-256 of the training data as used."""
        return lib.hf_model_data_checksum(self._pointer).decode()

    @property
    def readings(self) -> Record:
        """The fit's judgement of its readings, arrays: row (from 0), output, value, weight, suspected, group."""
        n = lib.hf_model_reading_count(self._pointer)
        arrays = {"row": np.empty(n, np.uintp), "output": np.empty(n, np.uintp), "value": np.empty(n), "weight": np.empty(n),
                  "suspected": np.empty(n, np.bool_), "group": np.empty(n, np.uintp)}
        out = lib.struct("hf_reading_arrays", **{name: address(array) for name, array in arrays.items()})
        ctx = context()
        if n > 0:
            ctx.check(lib.hf_model_readings(ctx.pointer, self._pointer, ctypes.byref(out)))
        return Record(**arrays)

    def relevance(self) -> Dict[str, float]:
        """How much each input matters: total Sobol indices of the model, by name; see hf_model_relevance."""
        ctx, out = context(), np.empty(self.n_features)
        ctx.long_call(lib.hf_model_relevance, self._pointer, address(out))
        return dict(zip(self.feature_names, out.tolist()))

    def leave_one_out(self) -> Record:
        """Scores of leave-one-out predictions: of the model, of a plain process, of the mean; see model.h."""
        ctx, out = context(), lib.struct("hf_leave_one_out_scores")
        ctx.long_call(lib.hf_model_leave_one_out, self._pointer, ctypes.byref(out))
        values = as_dict(out)
        for side in ("model", "plain", "mean"):
            values[side] = Record(**as_dict(values[side]))
        return Record(**values)

    # ---- fit and ask ----

    @classmethod
    def fit(cls, X: np.ndarray, y: Optional[np.ndarray], settings: Settings, *, label: Optional[np.ndarray] = None,
            classes: int = 0, noise=None, prior_mean=None, exposure=None, input_names: Optional[Sequence[str]] = None,
            output_names: Optional[Sequence[str]] = None, class_names: Optional[Sequence[str]] = None,
            seed: Optional[int] = None, threads: Optional[int] = None, progress=None) -> "Model":
        """Fits rows of arrays: X (n x d) and y (n x T) doubles, or label (n numbers of classes, -1 missing)."""
        ctx = context().prepare(threads, seed)
        rows = lib.struct("hf_arrays", rows=X.shape[0], inputs=X.shape[1], source=b"arrays")
        place(rows.x, X)
        kept = []
        if label is not None:
            label = np.ascontiguousarray(label, dtype=np.intp)
            rows.label, rows.classes = address(label), classes
        else:
            rows.outputs = y.shape[1]
            place(rows.y, y)
        for view, values in ((rows.noise, noise), (rows.mean, prior_mean), (rows.exposure, exposure)):
            if values is not None:
                place(view, values)
        for member, names in (("input_names", input_names), ("output_names", output_names), ("class_names", class_names)):
            if names is not None:
                kept.append(strings(names))
                setattr(rows, member, ctypes.addressof(kept[-1]))
        made = ctypes.c_void_p()
        ctx.long_call(lib.hf_model_fit_arrays, ctypes.byref(rows), settings.pointer, ctypes.byref(made), None, progress=progress)
        return cls(made.value)

    def _shape(self, name: str, m: int, levels: int):
        if name == "quantile":
            return (m, levels) if self.outputs == 1 else (m, self.outputs, levels)
        if name == "probability":
            return (m, self._classes)
        if name == "winner":
            return (m,)
        if name == "covariance":
            return (m, m) if self._latents == 1 else (self._latents, m, m)
        if name == "output_covariance":
            return (m, self.outputs, self.outputs)
        count = self._latents if name in LATENTS else self.outputs
        return (m,) if count == 1 else (m, count)

    def predict(self, X: np.ndarray, want: Iterable[str] = ("mean",), *, levels=None, noise=None, prior_mean=None, exposure=None,
                threads: Optional[int] = None, progress=None) -> tuple:
        """Arrays of the names in `want`, for m rows of X (m x d doubles); see holdfast/arrays.h for what they are.

        mean, sd_latent, sd_observed: (m,), or (m, T) of several outputs. quantile: (m, levels) or (m, T, levels).
        probability: (m, C). winner: (m,). latent_mean, latent_sd. covariance: (m, m), or (L, m, m) of L functions.
        output_covariance: (m, T, T). Calls that take long tell `progress`, and Ctrl-C ends them.
        """
        ctx = context()
        if (threads or 0) != ctx._threads:
            ctx.prepare(threads)
        m = X.shape[0]
        rows = lib.struct("hf_arrays", rows=m, inputs=X.shape[1])
        place(rows.x, X)
        for view, values in ((rows.noise, noise), (rows.mean, prior_mean), (rows.exposure, exposure)):
            if values is not None:
                place(view, values)
        wanted = lib.struct("hf_predictions")
        arrays = []
        for name in want:
            count = 0
            if name == "quantile":
                levels = np.ascontiguousarray(levels, dtype=np.float64).reshape(-1)
                count = wanted.levels = levels.size
                wanted.level = address(levels)
            arrays.append(np.empty(self._shape(name, m, count), np.uintp if name == "winner" else np.float64))
            setattr(wanted, name, address(arrays[-1]))
        if m * self._anchors < LONG and not (self.is_rate and levels is not None and m > 50):
            status = ctx.check(lib.hf_model_predict_arrays(ctx.pointer, self._pointer, ctypes.byref(rows), ctypes.byref(wanted)))
        else:
            status = ctx.long_call(lib.hf_model_predict_arrays, self._pointer, ctypes.byref(rows), ctypes.byref(wanted),
                                   progress=progress)
        if status == _library.ROWS_SKIPPED:
            raise ValueError(f"Input X contains NaN: {ctx.message()}")
        return tuple(arrays)

    def score(self, X: np.ndarray, y: Optional[np.ndarray] = None, *, label=None, noise=None, prior_mean=None,
              exposure=None) -> Record:
        """Scores of predictions: mae, rmse, nlpd, crps, coverage50, 90, 95; of labels accuracy, nlpd, brier, ..."""
        ctx = context()
        rows = lib.struct("hf_arrays", rows=X.shape[0], inputs=X.shape[1])
        place(rows.x, X)
        if label is not None:
            label = np.ascontiguousarray(label, dtype=np.intp)
            rows.label, rows.classes = address(label), self._classes
        else:
            rows.outputs = y.shape[1]
            place(rows.y, y)
        for view, values in ((rows.noise, noise), (rows.mean, prior_mean), (rows.exposure, exposure)):
            if values is not None:
                place(view, values)
        out = lib.struct("hf_class_metrics" if self._classes else "hf_metrics")
        function = lib.hf_model_score_class_arrays if self._classes else lib.hf_model_score_arrays
        ctx.long_call(function, self._pointer, ctypes.byref(rows), ctypes.byref(out))
        return Record(**as_dict(out))

    def sample(self, X: np.ndarray, count: int = 1, *, seed: Optional[int] = None) -> np.ndarray:
        """Joint draws of the latent functions at m rows of X: (m, count), or (m, L, count) of L functions."""
        m, latents = X.shape[0], self._latents
        if latents > 1:
            numbered = np.empty((m, latents, X.shape[1] + 1))
            numbered[:, :, :-1] = X[:, None, :]
            numbered[:, :, -1] = np.arange(latents)
            X = numbered.reshape(m * latents, -1)
        X = np.ascontiguousarray(X)
        draws = np.empty((count, X.shape[0]))
        ctx = context().prepare(None, seed)
        ctx.long_call(lib.hf_sample, self._posterior, X.shape[0], address(X), X.shape[1], count, 0, address(draws))
        return draws.T if latents == 1 else draws.T.reshape(m, latents, count)

    # ---- files ----

    def save(self, path) -> None:
        """Saves to a model file, which the tool and every other program with the library reads."""
        ctx = context()
        ctx.check(lib.hf_model_save(ctx.pointer, self._pointer, os.fsencode(path)))

    def report_html(self, path, *, certificates=None, study=None) -> None:
        """A page of HTML about the model, for people (holdfast/page.h).

        Parameters
        ----------
        path : where it goes
        certificates : a file of `holdfast certify --format jsonl`, or the objects of its lines
            They must be about this very model: one that holdfast.load() has read.
        study : a Study to show
        """
        ctx, table = context(), ctypes.c_void_p()
        parts = lib.struct("hf_page_parts")
        try:
            if certificates is not None:
                name, text = _certificate_table(certificates)
                ctx.check(lib.hf_table_parse_csv(ctx.pointer, text, len(text), name, ctypes.byref(table)))
            parts.certificates, parts.study = table, getattr(study, "_pointer", None)
            ctx.check(lib.hf_model_report_html(ctx.pointer, self._pointer, ctypes.byref(parts), os.fsencode(path)))
        finally:
            lib.hf_table_free(table)

    @classmethod
    def load(cls, path) -> "Model":
        """Loads and verifies a model file."""
        ctx, made = context(), ctypes.c_void_p()
        ctx.check(lib.hf_model_load(ctx.pointer, os.fsencode(path), ctypes.byref(made)))
        return cls(made.value)

    def to_bytes(self) -> bytes:
        """The bytes of its file."""
        return file_bytes(self.save, "model.hf")

    @classmethod
    def from_bytes(cls, content: bytes) -> "Model":
        """The model of such bytes."""
        return of_file_bytes(cls.load, "model.hf", content)

    def __reduce__(self):
        return Model.from_bytes, (self.to_bytes(),)
