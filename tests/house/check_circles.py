# SPDX-License-Identifier: Apache-2.0
"""No circle of files, as the linker sees it: where one source file calls another, that one calls it back by no way. A dispatch through a
table of functions is no call: the table lies above the files that it names."""
import house

# Circles that are right: a set of files, and why. None so far.
RIGHT = {}


def symbols(paths):
    """{object file: (names that it defines for others, names that it takes from others)}."""
    known = {path: (set(), set()) for path in paths}
    for line in house.run(["nm", "-A", *paths]).stdout.split("\n"):
        path, _, rest = line.rpartition(":")
        words = rest.split()
        if path in known and len(words) >= 2 and words[-2] in "TDBRVWGU":
            known[path][words[-2] == "U"].add(words[-1])
    return known


def arrows(source, build):
    """{file: {file it calls: names}}"""
    paths = {path: label for label, (_, path) in house.objects(source, build).items()}
    known = {paths[path]: names for path, names in symbols(sorted(paths)).items()}
    owner = {name: label for label, (defines, _) in known.items() for name in defines}
    result = {label: {} for label in known}
    for label, (_, takes) in known.items():
        for name in takes & set(owner):
            if owner[name] != label:
                result[label].setdefault(owner[name], set()).add(name)
    return result


def reached(graph, start):
    """Files that a file calls, and those that they call, and so on."""
    seen, left = set(), [start]
    while left:
        for label in graph[left.pop()]:
            if label not in seen:
                seen.add(label)
                left.append(label)
    return seen


def circles(graph):
    """Sets of files that call each other, the largest of their kind."""
    below = {label: reached(graph, label) for label in graph}
    return sorted({frozenset(other for other in below[label] if label in below[other])
                   for label in graph if label in below[label]}, key=sorted)


def find_problems(source, build):
    graph = arrows(source, build)
    if not graph:
        return [f"{build} has no object files of the library: build first"]
    problems = []
    for circle in circles(graph):
        if circle in RIGHT:
            continue
        ties = [f"  {label} -> {other}: {', '.join(sorted(graph[label][other])[:4])}"
                for label in sorted(circle) for other in sorted(graph[label]) if other in circle]
        problems.append("\n".join([f"{len(circle)} files call each other in a circle:"] + ties))
    for circle in set(RIGHT) - set(circles(graph)):
        problems.append(f"{', '.join(sorted(circle))} are no circle any more: strike them out here")
    return problems


if __name__ == "__main__":
    house.main(find_problems)
