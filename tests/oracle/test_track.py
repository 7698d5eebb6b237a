# SPDX-License-Identifier: Apache-2.0
"""Tracks against dense numpy: every reading a row of its own, every age law, discard rule and method on random histories."""
import math
import unittest

from oracle import Oracle, ask, np

VARIANCE, LENGTHSCALE, NOISE = 0.7, 0.4, 0.02
LAWS = ["none", "quadratic", "linear", "exponential", "wiener", "table"]
AGES, ADDED = [1.0, 2.5, 6.0], [0.01, 0.2, 0.9]


def k(a, b):
    return VARIANCE * np.exp(-0.5 * ((a[:, None, :] - b[None, :, :]) ** 2).sum(-1) / LENGTHSCALE**2)


def aged(law, rate, v, age):
    if law == "quadratic":
        return v + (rate * age) ** 2
    if law == "linear":
        return (math.sqrt(v) + rate * age) ** 2
    if law == "exponential":
        return v * math.exp(rate * age)
    if law == "wiener":
        return v + rate**2 * age
    if law == "table":
        return math.inf if age > AGES[-1] else v + float(np.interp(age, [0.0] + AGES, [0.0] + ADDED))
    return v


class Dense:
    """Mean and variance of a GP whose constant prior mean is found by generalised least squares, by inverses."""

    def __init__(self, x, y, d, gram=None, mean=None):
        self.x, self.y, self.d = x, y, d
        self.gram = k(x, x) if gram is None else gram
        self.inverse = np.linalg.inv(self.gram + np.diag(d))
        ones = np.ones(len(y))
        self.mean = ones @ self.inverse @ y / (ones @ self.inverse @ ones) if mean is None else mean

    def at(self, points, fading=None):
        cross = k(self.x, points) if fading is None else k(self.x, points) * fading[:, None]
        mean = self.mean + cross.T @ self.inverse @ (self.y - self.mean)
        return mean, VARIANCE - np.einsum("ij,ik,kj->j", cross, self.inverse, cross)

    def information(self):
        return 0.5 * np.linalg.slogdet(np.eye(len(self.d)) + self.gram / self.d[:, None])[1]


class Model:
    """A track as the header describes it, without a thought for speed. `text` is what track_values is asked."""

    def __init__(self, method, d=1, law="quadratic", rate=0.1, discard=None, rule="given", places="variance", **numbers):
        self.method, self.d, self.law, self.rate, self.rule, self.places = method, d, law, rate, rule, places
        self.sparq = method in ("sparq", "sparq-reuse")
        self.discard = discard or ("log" if method == "sparq" else "negligible")
        self.s = dict(noise=NOISE, expert_noise=NOISE, negligible=100.0, discard_variance=0.0, beta=2.0, norm_bound=1.0, delta=0.05,
                      robust=2.0 if self.sparq else 0.0, query_factor=6.0, query_power=1.0, tolerance=0.5, superseded=0.6, queries=0,
                      window=math.nan, forgetting=math.nan, mean=None)
        self.s.update(numbers)
        table = "".join(f" {a!r} {w!r}" for a, w in zip(AGES, ADDED)) if law == "table" else ""
        lines = [f"track {method} {d}", f"kernel se(outputscale={VARIANCE}, lengthscale={LENGTHSCALE})", f"number noise {NOISE!r}"]
        lines += [f"number {name} {value!r}" for name, value in numbers.items()]
        lines += [f"age {law} {rate!r} {len(AGES) if law == 'table' else 0}{table}", f"rules {self.discard} {rule} {places}", "create"]
        self.lines, self.expected = lines, []
        self.told, self.step, self.clock, self.told_clock = [], 1, -math.inf, -math.inf
        self.batch = self.answered = self.readings = self.requested = 0
        self.batch_size = {}
        self.open = {}
        self.known = []  # places in the order told
        self.before = None

    # ---- which readings count -----------------------------------------------------------------------------------------

    def law_of(self, power=1.0):
        if self.method == "w-gp-ucb":
            return "exponential", -power * math.log(self.s["forgetting"])
        return (self.law, self.rate) if self.sparq or self.method == "ui-gp-ucb" else ("none", 0.0)

    def state(self, time):
        return [list(self.told), time, self.step, self.answered]

    def variance(self, state, r, power=1.0, own_only=False):
        """Variance of the site of a reading; infinite if it does not count."""
        told, time, step, answered = state
        age = abs(time - r["time"])
        if r["batch"] and (own_only or (self.method == "sparq" and r["batch"] != answered)):
            return math.inf
        v = aged(*self.law_of(power), r["variance"], age)
        valid = [q["time"] for q in told if not (self.method == "sparq" and q["batch"] and q["batch"] != answered)]
        if r["time"] >= max(valid):
            return v
        if self.method == "r-gp-ucb" and math.floor(time / self.s["window"]) != math.floor(r["time"] / self.s["window"]):
            return math.inf
        if self.method == "sw-gp-ucb" and age >= self.s["window"]:
            return math.inf
        limit = self.s["negligible"] * VARIANCE
        if not r["batch"] and self.discard == "log":
            limit = min(limit, NOISE * max(1.0, math.log(step)))
        if not r["batch"] and self.discard == "variance":
            limit = min(limit, self.s["discard_variance"])
        judged = aged(*self.law_of(), r["variance"], age)
        if self.method == "tv-gp-ucb":  # what the reading says about f now, as a variance
            left = (1 - self.s["forgetting"]) ** age
            judged = (VARIANCE * (1 - left) + judged) / left
        return math.inf if judged > limit else v

    def solve(self, state, power=1.0, own_only=False):
        """The dense posterior, the readings it is made of, and how much they faded."""
        rows = [(r, self.variance(state, r, power, own_only)) for r in state[0]]
        rows = [(r, v) for r, v in rows if v < math.inf]
        x, y = np.array([r["x"] for r, _ in rows]), np.array([r["target"] for r, _ in rows])
        d, gram, fading = np.array([v for _, v in rows]), None, None
        if self.method == "tv-gp-ucb":
            t, keep = np.array([r["time"] for r, _ in rows]), 1 - self.s["forgetting"]
            gram, fading = k(x, x) * keep ** (abs(t[:, None] - t[None]) / 2), keep ** (abs(state[1] - t) / 2)
        return Dense(x, y, d, gram, self.s["mean"]), [r for r, _ in rows], fading

    def predict(self, state, points):
        dense, _, fading = self.solve(state)
        mean, variance = dense.at(points, fading)
        if self.method == "w-gp-ucb":
            variance = self.solve(state, 2.0)[0].at(points)[1]
        return mean, np.sqrt(np.maximum(variance, 0))

    def multiplier(self, step, information):
        if self.rule == "practical":
            return math.sqrt(0.8 * math.log(4 * step))
        if self.rule == "theory":
            return self.s["norm_bound"] + math.sqrt(2 * (information + math.log(2 / self.s["delta"])))
        return self.s["beta"]

    # ---- events -------------------------------------------------------------------------------------------------------

    def advance(self, time):
        if time > self.clock:
            if self.told:
                self.before = self.state(self.clock)
            self.clock = time

    def reading(self, time, x, y, noise, batch):
        if time < self.clock and self.told_clock < self.clock:  # as if what lies ahead had not been asked
            self.clock = self.told_clock
            if self.told:
                self.before = self.state(self.clock)
        self.advance(time)
        self.told_clock = self.clock
        target, variance, weight = y, noise, 1.0
        if self.s["robust"] and self.before:
            dense, _, fading = self.solve(self.before)
            centre, spread = (v[0] for v in dense.at(np.array([x]), fading))
            c2 = self.s["robust"] ** 2 * aged(*self.law_of(), spread + noise, abs(time - self.before[1]))
            residual = y - centre
            weight = 1 / (1 + residual**2 / c2)
            target, variance = y + 2 * noise * residual / (c2 + residual**2), noise / weight
        self.readings += 1
        self.told.append(dict(id=self.readings, time=time, x=list(x), target=target, variance=variance, weight=weight, batch=batch))

    def place(self, x):
        if list(x) not in self.known:
            self.known.append(list(x))

    def tell(self, time, x, y, noise=0.0):
        self.lines.append(f"tell {time!r} {' '.join(repr(float(v)) for v in x)} {float(y)!r} {noise!r}")
        self.reading(time, x, y, noise or NOISE, 0)
        self.place(x)
        self.step += 1

    def answer(self, request, y, time=math.nan, noise=0.0):
        asked = self.open.pop(request)
        when = asked["time"] if math.isnan(time) else time
        self.lines.append(f"answer {request} {when!r} {float(y)!r} {noise!r}")
        self.reading(when, asked["x"], y, noise or self.s["expert_noise"], asked["batch"])
        last = self.told.pop()
        if self.method == "sparq-reuse" and self.batch_size[asked["batch"]] > 4 and asked["batch"] == self.batch:
            here = np.array([asked["x"]])
            self.told = [r for r in self.told if not (r["batch"] and r["batch"] < asked["batch"]
                         and k(np.array([r["x"]]), here)[0, 0] / VARIANCE >= self.s["superseded"] - 1e-12)]
        self.told.append(last)
        self.answered = max(self.answered, asked["batch"])

    def requests(self, time):
        """The list, chosen one after another by a dense conditional covariance."""
        state = self.state(time)
        own = self.method == "sparq"
        if own and all(r["batch"] or self.variance(state, r, own_only=True) == math.inf for r in self.told):
            own = False
        dense, _, _ = self.solve(state, own_only=own)
        x = np.array(self.known)
        mean = dense.at(x)[0]
        cross = k(dense.x, x)
        covariance = k(x, x) - cross.T @ dense.inverse @ cross
        beta = self.multiplier(self.step, dense.information())
        most = self.s["queries"] or math.ceil(self.s["query_factor"] * math.log(max(self.step, 2)) ** self.s["query_power"])
        first, chosen = np.diag(covariance).copy(), []
        while len(chosen) < most:
            left = np.diag(covariance)
            score = mean + beta * np.sqrt(np.maximum(left, 0)) if self.places == "upper" else left
            score = np.where(left > self.s["tolerance"] * self.s["expert_noise"], score, -np.inf)
            best = int(np.argmax(score))
            if score[best] == -np.inf:
                break
            chosen.append(best)
            column = covariance[:, best]
            covariance = covariance - np.outer(column, column) / (column[best] + self.s["expert_noise"])
        self.lines.append(f"requests {time!r}")
        self.advance(time)
        self.batch += 1
        self.batch_size[self.batch] = len(chosen)
        ids = [self.requested + i + 1 for i in range(len(chosen))]
        for i, p in zip(ids, chosen):
            self.open[i] = dict(time=time, x=self.known[p], batch=self.batch)
        self.requested += len(chosen)
        self.expected.append(("requests", dict(id=ids, x=x[chosen], sd=np.sqrt(np.maximum(first[chosen], 0)))))
        return ids

    def ask(self, time):
        state = self.state(time)
        dense, rows, _ = self.solve(state)
        self.lines.append(f"ask {time!r}")
        self.expected.append(("ask", dict(
            predict=lambda points, state=state: self.predict(state, points), beta=self.multiplier(self.step, dense.information()),
            readings=len(rows), answers=sum(1 for r in rows if r["batch"]), information=dense.information(), mean=dense.mean,
            places=len(rows) if self.method == "tv-gp-ucb" else len({tuple(r["x"]) for r in rows}))))
        self.advance(time)
        self.before = self.state(time)

    def posterior(self, time, points):
        self.lines.append(f"posterior {time!r} {len(points)}")
        self.lines += [" ".join(repr(float(v)) for v in p) for p in points]
        self.expected.append(("posterior", self.predict(self.state(time), points)))

    def list_readings(self):
        state = self.state(self.clock)
        self.lines.append("readings")
        self.expected.append(("readings", {r["id"]: (r["weight"], self.variance(state, r)) for r in self.told}))


class Tracks(Oracle):
    def check(self, model, what):
        answers = ask("track_values", "\n".join(model.lines) + "\n")
        self.assertEqual(len(answers), len(model.expected), what)
        lists = [theirs["id"] for kind, theirs in model.expected if kind == "requests"]
        self.assertTrue(not lists or any(lists), what)
        for number, (ours, (kind, theirs)) in enumerate(zip(answers, model.expected)):
            getattr(self, "check_" + kind)(ours, theirs, f"{what}, answer {number}, {kind}")

    def check_posterior(self, ours, theirs, what):
        self.close(ours["mean"], theirs[0], what + ", mean", 1e-7)
        self.close(ours["sd"], theirs[1], what + ", sd", 1e-6)

    def check_requests(self, ours, theirs, what):
        self.assertEqual(ours["id"], theirs["id"], what)
        if not theirs["id"]:  # nowhere is it uncertain enough
            return
        self.assertTrue(np.array_equal(np.array(ours["x"]), theirs["x"]), f"{what}: {ours['x']} {theirs['x']}")
        self.close(ours["sd"], theirs["sd"], what, 1e-6)

    def check_ask(self, ours, theirs, what):
        for name in ("readings", "answers", "places"):
            self.assertEqual(ours[name], theirs[name], f"{what}, {name}")
        self.close([ours["beta"], ours["information"], ours["prior_mean"]], [theirs["beta"], theirs["information"], theirs["mean"]], what)
        mean, sd = theirs["predict"](np.array([ours["x"]]))
        self.close([ours["mean"], ours["sd"]], [mean[0], sd[0]], what + ", there", 1e-6)
        self.close([ours["bound"]], [mean[0] + theirs["beta"] * sd[0]], what + ", bound", 1e-6)
        if len(ours["x"]) == 1:
            mean, sd = theirs["predict"](np.linspace(-1, 1, 801)[:, None])
            self.assertGreaterEqual(ours["bound"], np.max(mean + theirs["beta"] * sd) - 1e-3, what)

    def check_readings(self, ours, theirs, what):
        listed = dict(zip(ours["id"], zip(ours["weight"], ours["variance"], ours["counts"])))
        for number, (weight, variance) in theirs.items():
            if variance == math.inf:  # let go, or there and silent
                self.assertFalse(number in listed and listed[number][2], f"{what}: {number} counts")
                continue
            self.assertIn(number, listed, what)
            self.close(listed[number][:2], [weight, variance], f"{what}: {number}", 1e-7)
            self.assertTrue(listed[number][2], what)

    def history(self, model, seed, steps=14, expert=False, wrong=0.0, late=False):
        """Irregular times, a few readings late, places that repeat, unequal noise."""
        rng = np.random.default_rng(seed)
        places = rng.uniform(-1, 1, (7, model.d))
        time = 3.0

        def measured(x, t):
            return np.sin(3 * x[0] + 0.3 * t) + 0.1 * rng.normal() + (4.0 if rng.random() < wrong else 0.0)

        for step in range(steps):
            time += float(rng.choice([0.25, 0.5, 1.0]))
            if expert and step > 1:
                for i, number in enumerate(model.requests(time)):
                    if late and i % 3 == 2:
                        continue
                    model.answer(number, measured(model.open[number]["x"], time), noise=0.03 if i % 4 == 1 else 0.0)
            if step % 3 == 1:
                model.ask(time)
            x = places[rng.integers(len(places))]
            told = time - (0.125 if late and step % 5 == 4 else 0.0)
            model.tell(told, x, measured(x, told), 0.05 if step % 4 == 3 else 0.0)
            if step % 4 == 2:
                model.posterior(time + 0.5, rng.uniform(-1, 1, (6, model.d)))
        model.list_readings()
        model.ask(time + 0.25)
        model.posterior(time + 0.25, rng.uniform(-1, 1, (6, model.d)))

    def test_baselines(self):
        cases = [("gp-ucb", {}), ("r-gp-ucb", {"window": 3.0}), ("sw-gp-ucb", {"window": 2.2}), ("tv-gp-ucb", {"forgetting": 0.07}),
                 ("tv-gp-ucb", {"forgetting": 0.6}), ("w-gp-ucb", {"forgetting": 0.8}), ("w-gp-ucb", {"forgetting": 0.3, "negligible": 0.5}),
                 ("gp-ucb", {"mean": 0.4}), ("ui-gp-ucb", {"robust": 1.5}), ("sw-gp-ucb", {"window": 4.0, "robust": 2.0})]
        for number, (method, settings) in enumerate(cases):
            for d in (1, 2):
                with self.subTest(method, d=d, **settings):
                    model = Model(method, d, **settings)
                    self.history(model, 10 * number + d, wrong=0.2 if "robust" in settings else 0.0, late=method != "r-gp-ucb")
                    self.check(model, f"{method} {settings}")

    def test_ages(self):
        for number, law in enumerate(LAWS):
            for rate in (0.05, 0.4):
                with self.subTest(law, rate=rate):
                    model = Model("ui-gp-ucb", 1, law, 0.0 if law in ("none", "table") else rate, negligible=0.4)
                    self.history(model, number, late=True)
                    self.check(model, f"{law} {rate}")

    def test_discarding(self):
        for discard, settings in (("log", {}), ("negligible", {"negligible": 0.3}), ("variance", {"discard_variance": 0.05})):
            for method in ("ui-gp-ucb", "sparq", "sparq-reuse"):
                with self.subTest(discard, method=method):
                    model = Model(method, 1, discard=discard, **settings)
                    self.history(model, len(discard) + len(method), expert=method != "ui-gp-ucb")
                    self.check(model, f"{method}, {discard}")

    def test_beta(self):
        for rule, settings in (("practical", {}), ("theory", {"norm_bound": 2.5, "delta": 0.01}), ("given", {"beta": 0.7})):
            for method in ("gp-ucb", "w-gp-ucb", "sparq"):
                with self.subTest(rule, method=method):
                    model = Model(method, 1, rule=rule, **({"forgetting": 0.9} if method == "w-gp-ucb" else {}), **settings)
                    self.history(model, 3, expert=method == "sparq")
                    self.check(model, f"{method}, {rule}")

    def test_experts(self):
        for method in ("sparq", "sparq-reuse"):
            for number, settings in enumerate(({"queries": 1}, {"queries": 3}, {"queries": 6}, {"tolerance": 0.6}, {"expert_noise": 0.005},
                                               {"query_factor": 2.0, "superseded": 0.9}, {"robust": 0.0})):
                for places in ("variance", "upper"):
                    with self.subTest(method, places=places, **settings):
                        model = Model(method, 1 + number % 2, places=places, **settings)
                        self.history(model, number, expert=True, late=number > 2)
                        self.check(model, f"{method}, {places}, {settings}")

    def test_wrong_answers(self):
        for seed in range(4):
            for method in ("sparq", "sparq-reuse"):
                with self.subTest(method, seed=seed):
                    model = Model(method, 1 + seed % 2, robust=(2.0, 1.0)[seed % 2])
                    self.history(model, seed, expert=True, wrong=0.2)
                    self.check(model, f"{method}, wrong answers")
                    self.assertLess(min(r["weight"] for r in model.told), 0.5)


if __name__ == "__main__":
    unittest.main()
