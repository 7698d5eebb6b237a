# SPDX-License-Identifier: Apache-2.0
"""No file of the library and the tool asks for a likelihood: its name, its value of hf_likelihood or hf_link and its row are in the one
list (likelihood_list.h) and in its own file, and nowhere else.

That is of likelihoods that have a file. Gaussian sites, and those of other methods (robust, pursuit, softmax), are values that presets and
callers give; but no file compares with them or makes a table by them: rows of tables answer (src/sites/kind.h, src/fit/ways.c,
src/svgp/noise.c). A file has as many such questions as QUESTIONS says, with the reason, and no more.

A text counts as a likelihood's name where a program asks by it or chooses by it: as argument of a comparison, in a table, or as a
value that is given. In messages it does not. A word that names something else too ("exponential" may be a kernel, or a law of ageing)
counts where the table or the comparison says that it is about likelihoods."""
import re

import house

LIST = "include/holdfast/likelihood_list.h"
# Files that may name a likelihood, with what they may name and why.
EXCEPTIONS = {
    "src/settings/settings.c": (r"STUDENT_T", "the preset t-mogp is a published method with that noise"),
    "src/svgp/noise.c": (r"STUDENT_T", "minibatches have three noises, of which one iterates its sites in a way of its own"),
    "apps/holdfast/fit/compare": (r"student-t", "compare's usual rivals are presets by name"),
    "include/holdfast/classify.h": (r"PROBIT|LOGIT", "hf_link: for each link there is a proved bound"),
    "include/holdfast/enums.h": (r"probit|logit", "its names"),
    "src/classify/": (r"PROBIT|LOGIT", "probabilities of the links: closed forms and quadratures with proved bounds"),
    "src/certify/class.c": (r"PROBIT|LOGIT", "the value that a link certifies"),
    "src/certify/quantities": (r"PROBIT|LOGIT|probit|logit", "rows of the links in the table of quantities"),
    "src/bound/link.": (r"PROBIT|LOGIT", "values of the links"),
    "src/rigorous/": (r"PROBIT|LOGIT", "the links in intervals"),
}
# A likelihood, of any kind, that is compared with, is the index of a row, or a bit of a mask.
VALUE = r"HF_LIKELIHOOD_[A-Z]\w*(?<!_LIST)\b"
QUESTION = re.compile(rf"(?:[=!<>]=|[<>]|\bcase\b|\[|\bBIT\()\s*\(*\s*(?:\(hf_likelihood\)\s*)?{VALUE}(?!\()"
                      rf"|\b{VALUE}\s*\)*\s*(?:[=!<>]=|[<>])")
# Files with such questions: how many, and why.
QUESTIONS = {
    "src/sites/kind.c": (4, "the table of what follows from a kind of sites"),
    "src/fit/ways.c": (3, "the table of how fits go; its other rows are made from the list"),
    "src/svgp/noise.c": (4, "the table of noise in minibatches, one row of which names another"),
    "src/settings/sites_bits.h": (2, "the sets of likelihoods that the tables of settings name"),
    "src/settings/table.c": (13, "the table of what goes with what, as sets of likelihoods"),
    "apps/holdfast/report/report_text.c": (4, "words of reports, which know the public interface alone"),
    "apps/holdfast/report/trained_noise.c": (1, "likewise: which noise the words are about"),
    "apps/holdfast/fit/predict.c": (1, "likewise: the condition of a worst case, in words"),
}


def rows(source):
    return re.findall(r'\b(?:NOISE|LABEL|RATE)\((\w+), (\w+), "([^"]+)"', house.read(source, LIST).split("#ifndef", 1)[1])


def allowed(name, word):
    return any(name.startswith(start) and re.search(what, word) for start, (what, _) in EXCEPTIONS.items())


OTHER_LISTS = ("include/holdfast/enums.h", "src/kernel/forms.c")
ABOUT_LIKELIHOODS = re.compile(r"likelihood|sites|link", re.I)
COMPARES = re.compile(r"cmp|equal|same|parse|find|choice|preset|^[A-Z][A-Z_]*$")


def other_names(source, names):
    """Quoted words that the library's other lists have: enums but hf_likelihood and hf_link, and kernels."""
    words = set()
    for name in OTHER_LISTS:
        if name in names:
            text = re.sub(r"\bX\(\w+, hf_(?:likelihood|link), [^)]*\)", "", house.read(source, name))
            words.update(re.findall(r'"([^"\n]+)"', text))
    return words


def opener(code, at):
    """Where the bracket opens that encloses a place; -1: nowhere. A group (a ? b : c) is none."""
    depth = 0
    for k in range(at - 1, -1, -1):
        if code[k] in ")}":
            depth += 1
        elif code[k] in "({":
            depth -= 1
            if depth < 0 and (code[k] == "{" or re.search(r"\w\s*$", code[:k])):
                return k
            depth = max(depth, 0)
    return -1


def is_initializer(code, begin):
    """Whether a brace opens values and no block of statements."""
    return code[begin] == "{" and re.search(r"[={,(]\s*$|\)\Z", code[:begin]) is not None


def question(code, at, end):
    """The piece of code in which a text stands that is compared with, in a table, or a value; None: in none of them."""
    begin = at
    if not re.search(r"[^=!<>]=\s*$", code[:at]):
        begin = opener(code, at)
        if begin < 0 or not is_initializer(code, begin):
            call = re.search(r"(\w+)\s*$", code[:max(begin, 0)])
            return code[call.start():code.find(")", end)] if call and COMPARES.search(call.group(1)) else None
        end = code.find("}", end)
        row = code[begin:end]
        while is_initializer(code, opener(code, begin)):
            begin = opener(code, begin)
    else:
        row = ""
    head = re.split(r"[;}]|\{\n", code[:begin])[-1]
    return head + row


def names_one(code, found, ambiguous):
    """Whether a quoted word is a likelihood's name there."""
    piece = question(code, found.start(), found.end())
    if piece is None:
        return False
    return not ambiguous or ABOUT_LIKELIHOODS.search(piece) is not None


def blanks(comment):
    """As many lines of nothing as a comment has."""
    return "\n" * comment.group(0).count("\n")


def questions(texts):
    """Problems of files that ask for a likelihood more, or less, often than they may."""
    for name, text in texts.items():
        if not name.startswith(("src/", "apps/")):
            continue
        code = house.blank(text)
        lines = [code.count("\n", 0, match.start()) + 1 for match in QUESTION.finditer(code)]
        allowed_here, _ = QUESTIONS.get(name, (0, ""))
        if len(lines) > allowed_here:
            yield (f"{name}: asks for a likelihood on lines {', '.join(map(str, lines))}, {allowed_here} are allowed: "
                   "ask a row of its kind (src/sites/kind.h), or give the row what is asked")
        if len(lines) < allowed_here:
            yield f"tests/house/check_likelihoods.py: {name} asks for a likelihood {len(lines)} times now, not {allowed_here}"
    for name in sorted(set(QUESTIONS) - set(texts)):
        yield f"tests/house/check_likelihoods.py: there is no {name}"


def find_problems(source, _build):
    problems, used = [], set()
    names = [name for name in house.files(source)
             if name.startswith(("src/", "apps/", "include/")) and name.endswith((".c", ".h")) and name != LIST]
    others = other_names(source, names)
    texts = {name: re.sub(r"/\*.*?\*/", blanks, house.read(source, name), flags=re.S) for name in names}
    problems += questions(texts)
    for identifier, symbol, title in rows(source):
        own = f"src/sites/likelihood_{symbol}.c"
        if own not in names:
            problems.append(f"{LIST} has {title}, but there is no {own}")
        word = re.compile(rf'\bHF_(?:LIKELIHOOD|LINK)_{identifier}\b|\bhfi_likelihood_{symbol}\b|"{re.escape(title)}"')
        for name, text in texts.items():
            for found in word.finditer(text):
                if found.group(0)[0] == '"' and not names_one(house.blank(text), found, title in others):
                    continue
                if name == own or allowed(name, found.group(0)):
                    used.update(start for start in EXCEPTIONS if name.startswith(start))
                    continue
                problems.append(f"{name}: {found.group(0)}; ask its row of the table (sites/likelihood.h) instead")
    problems += [f"check_likelihoods.py: nothing needs the exception {start}" for start in sorted(set(EXCEPTIONS) - used)]
    return problems


if __name__ == "__main__":
    house.main(find_problems)
