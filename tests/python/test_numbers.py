# SPDX-License-Identifier: Apache-2.0
"""The package's numbers are those of the tool, fitted to the same rows: all kinds of models, to 1e-12."""
import csv
import os
import subprocess
import tempfile

import testing
from testing import TOOL, Case, holdfast, np, wavy


def write(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        for row in zip(*columns.values()):
            writer.writerow(["" if value is None or value != value else repr(float(value)) if not isinstance(value, str) else value
                             for value in row])


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] for row in rows] for name in rows[0]}


class Numbers(Case):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="holdfast-test-")
        self.addCleanup(self.folder.cleanup)

    def by_tool(self, columns, *options):
        """Columns that the tool predicts for the rows it was fitted to."""
        path = [os.path.join(self.folder.name, name) for name in ("rows.csv", "model.hf", "out.csv")]
        write(path[0], columns)
        for command in ((TOOL, "fit", path[0], "-o", path[1], *options), (TOOL, "predict", path[1], path[0], "-o", path[2])):
            done = subprocess.run(command, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.model = path[1]
        return {name: np.array([float(value) if value else np.nan for value in values]) if not name.endswith("_class") else values
                for name, values in read(path[2]).items() if name not in columns}

    def check_readings(self, gp, X, told, name, **beside):
        mean, latent = gp.predict(X, return_std=True, **beside)
        _, observed = gp.predict(X, return_std=True, observed=True, **beside)
        low, high = gp.predict_interval(X, **beside)
        for own, suffix in ((mean, "mean"), (latent, "sd_latent"), (observed, "sd_observed"), (low, "lo95"), (high, "hi95")):
            self.close(own, told[f"{name}_{suffix}"])

    def test_default(self):
        X, y = wavy(bad=[7])
        y[9] = np.nan
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "y": y}, "-t", "y")
        gp = holdfast.GPRegressor().fit(X, y)
        self.check_readings(gp, X, told, "y")
        self.assertEqual(np.flatnonzero(gp.suspected_).tolist(), [7])
        self.assertEqual(np.flatnonzero(gp.weights_ == 0).tolist(), [7, 9])
        # And the file of the tool is a model of the package.
        self.close(holdfast.GPRegressor.load(self.model).predict(X), told["y_mean"])

    def test_settings_by_name(self):
        X, y = wavy(60, bad=[7])
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "y": y}, "-t", "y", "--kernel", "se(ard)", "--sites", "student-t", "--nu", "4")
        self.check_readings(holdfast.GPRegressor(kernel="se(ard)", sites="student-t", student_nu=4).fit(X, y), X, told, "y")
        for options, keywords in ((("--sites", "robust", "--eps", "0.2", "--centre", "prior"), {"sites": "robust", "eps": 0.2, "centre": "prior"}),
                                  (("--sites", "robust", "--threshold", "0.4"), {"sites": "robust", "threshold": 0.4}),
                                  (("--beta", "0.5", "--sites", "robust"), {"beta": 0.5, "sites": "robust"}),
                                  (("--no-train", "--set", "noise=0.02"), {"train": False, "hold": {"noise": 0.02}}),
                                  (("--solver", "projected", "--actions", "9"), {"solver": "projected", "actions": 9}),
                                  (("--preset", "rcgp"), {"preset": "rcgp"})):
            with self.subTest(options):
                told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "y": y}, "-t", "y", *options)
                self.check_readings(holdfast.GPRegressor(**keywords).fit(X, y), X, told, "y")
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "y": y}, "-t", "y", "--inducing", "12", "--set", "noise=0.01")
        gp = holdfast.GPRegressor(inducing=12, hold={"noise": 0.01}).fit(X, y)
        self.check_readings(gp, X, told, "y")
        self.assertEqual(gp.report_.solver, "inducing")

    def test_noise_and_prior_mean(self):
        X, y = wavy()
        noise, mean = np.where(np.arange(50) % 3, 0.01, 0.3), 0.2 * X[:, 0]
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "v": noise, "y": y}, "-t", "y", "--noise-column", "v")
        self.check_readings(holdfast.GPRegressor().fit(X, y, noise=noise), X, told, "y", noise=noise)
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "m": mean, "y": y}, "-t", "y", "--mean-column", "m")
        self.check_readings(holdfast.GPRegressor().fit(X, y, prior_mean=mean), X, told, "y", prior_mean=mean)

    def test_transform(self):
        X, y = wavy()
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "y": np.exp(y)}, "-t", "y", "--transform", "log")
        gp = holdfast.GPRegressor(target_transform="log").fit(X, np.exp(y))
        self.check_readings(gp, X, told, "y")
        self.assertTrue((gp.sample_y(X, 5) > 0).all())

    def test_several_outputs(self):
        X, y = wavy(40)
        Y = np.column_stack([y, 3 * y + 0.1 * np.cos(X[:, 0]), -y])
        Y[4, 1] = np.nan
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "u": Y[:, 0], "v": Y[:, 1], "w": Y[:, 2]}, "-t", "u,v,w", "--preset", "mogp")
        gp = holdfast.GPRegressor(preset="mogp").fit(X, Y)
        mean, latent = gp.predict(X, return_std=True)
        low, high = gp.predict_interval(X)
        for t, name in enumerate("uvw"):
            for own, suffix in ((mean, "mean"), (latent, "sd_latent"), (low, "lo95"), (high, "hi95")):
                self.close(own[:, t], told[f"{name}_{suffix}"])
        covariance = gp.predict(X[:6], return_cov=True)[1]
        self.assertEqual(covariance.shape, (6, 6, 3))
        self.close(np.sqrt(np.einsum("iit->it", covariance)), latent[:6], 1e-9)

    def test_counts_with_exposure(self):
        X, y = wavy()
        exposure = np.where(np.arange(50) % 2, 3.0, 1.0)
        counts = np.floor(exposure * np.exp(1 + y))
        told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "h": exposure, "y": counts}, "-t", "y", "--exposure", "h", "--sites", "poisson")
        model = holdfast.CountRegressor().fit(X, counts, exposure)
        mean, sd = model.predict(X, exposure, return_std=True)
        low, high = model.predict_interval(X, exposure=exposure)
        for own, name in ((mean, "mean"), (sd, "sd_observed"), (low, "lo95"), (high, "hi95")):
            self.close(own, told[f"y_{name}"])
        log_rate, spread = model.predict_log_rate(X)
        self.close(np.exp(log_rate + spread ** 2 / 2), told["y_rate"])

    def test_labels(self):
        X, y = wavy()
        for labels in (np.where(y > 0, "up", "down"), np.array(["10", "9", "b"])[np.digitize(y, [-0.5, 0.5])]):
            sites = "probit" if len(set(labels)) == 2 else "softmax"
            told = self.by_tool({"a": X[:, 0], "b": X[:, 1], "kind": labels}, "-t", "kind", "--sites", sites)
            model = holdfast.GPClassifier().fit(X, labels)
            self.assertEqual(model.predict(X).tolist(), told["kind_class"])
            probability = model.predict_proba(X)
            for k, label in enumerate(model.classes_):
                self.close(probability[:, k], told[f"p_{label}"])
            loaded = holdfast.GPClassifier.load(self.model)
            self.assertEqual([str(value) for value in loaded.predict(X)], told["kind_class"])


if __name__ == "__main__":
    testing.main()
