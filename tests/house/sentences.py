# SPDX-License-Identifier: Apache-2.0
"""Sentences of C comments, of messages in C strings and of pages, each with its line. A sentence ends at . ! ? : or ; before a
blank, at an empty line, and at an item of a list; code in `quotes`, a call and a link count as one word each."""
import re

import house

SENTENCE = re.compile(r"""(?:[^.!?:;\n]
                           | [.!?:;](?![*_)"']*(?:\s|$))
                           | \n(?![ \t]*(?:\n|$|(?:[-*|#>]|\d+\.)\s)))+""", re.X)
WORD = re.compile(r"(?<![\w.])[A-Za-z][A-Za-z'’-]*[A-Za-z]|\b[aAI]\b")
LINK, QUOTED, CALL = re.compile(r"\[([^\]]*)\]\([^)]*\)"), re.compile(r"`[^`]*`"), re.compile(r"\b\w+\([^()]*\)")
STARS = re.compile(r"\s*(?:/\*\*?<?|\*/|\*)")
DISPLAYED = re.compile(r"\s*\*(?: {4}|\s*\|)")  # a formula or a row of a table in a comment
TAG = re.compile(r"@(?:file\s+\S+|param(?:\[\w+\])?\s+\w+|\w+)")  # begins a sentence; what it names is none of its words
JOINT = re.compile(r"(?:\s|/\*.*?\*/|\b[A-Z][A-Za-z0-9_]*\b)*", re.S)  # may stand between literals of one string: PRIu64
ESCAPE = re.compile(r"\\(.)", re.S)
DEEP = re.compile(r"^(?: {2,}|\|).*$", re.M)  # a row of a table, or an example, in a message
PROGRAM = re.compile(r"""[$#{}] | <! | \b(?:using[ ][\d(]|rgb|linewidth|linecolor|set[ ][xy](?:range|label)|CREATE|INSERT|VALUES)\b
                         | \A(?![^$]*\b(?:the|of|is|are)\b)""", re.X)  # of gnuplot, SQL, HTML, CSS; a list of names
PRINTED = "<!-- tables -->"  # below it a page has what programs print


def words(sentence):
    """The number of them."""
    for pattern, word in (LINK, r"\1"), (QUOTED, " code "), (CALL, " code "):
        sentence = pattern.sub(word, sentence)
    return len(WORD.findall(sentence))


def of_prose(prose, line=1):
    """(line, sentence) of what comments(), strings() and page() give."""
    for match in SENTENCE.finditer(prose):
        sentence = match.group(0).strip()
        if sentence:
            yield line + prose.count("\n", 0, match.start() + match.group(0).index(sentence)), sentence


def comments(text):
    """(line, prose) of C comments: without stars and without what they display."""
    for match in house.TOKEN.finditer(text):
        token = match.group(0)
        if token.startswith("/*"):
            lines = ["" if DISPLAYED.match(line) else STARS.sub("", line.replace("*/", ""), count=1)
                     for line in token.split("\n")]
            yield text.count("\n", 0, match.start()) + 1, "\n".join(TAG.sub(" . ", line) for line in lines)


def strings(text):
    """(line, prose) of C strings without what they display, adjacent literals joined; the line is that of the first."""
    prose, begin, end = [], 0, None
    for match in house.TOKEN.finditer(text):
        token = match.group(0)
        if token[0] != '"':
            continue
        if prose and not JOINT.fullmatch(text, end, match.start()):
            yield text.count("\n", 0, begin) + 1, DEEP.sub("", "".join(prose))
            prose = []
        begin = begin if prose else match.start()
        prose.append(ESCAPE.sub(lambda escape: {"n": "\n", "t": "\t"}.get(escape.group(1), escape.group(1)), token[1:-1]))
        end = match.end()
    if prose:
        yield text.count("\n", 0, begin) + 1, DEEP.sub("", "".join(prose))


def messages(text):
    """(line, sentence) of the strings that are no texts of programs."""
    for line, sentence in of_c(text, (strings,)):
        if not PROGRAM.search(sentence):
            yield line, sentence


def page(text):
    """A page's text as prose: without code, rows of tables and what programs print."""
    text = text.split(PRINTED)[0]
    text = re.sub(r"```.*?```", lambda code: re.sub(r"[^\n]", "", code.group(0)), text, flags=re.S)
    return re.sub(r"^(?:    |\t|\|).*$", "", text, flags=re.M)


def of_c(text, parts=(comments,)):
    for part in parts:
        for line, prose in part(text):
            yield from of_prose(prose, line)


def of_page(text):
    return of_prose(page(text))
