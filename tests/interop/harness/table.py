"""The table of a run, in Markdown: a row for each client, version and transport."""

YES = "yes"


def table(results, features):
    """The table, and its notes: why a client lacks a feature."""
    rows, notes = {}, []
    for result in results:
        subject = result.subject
        key = (subject.peer, subject.version, subject.transport, *_cells(result, features, notes))
        rows.setdefault(key, []).append(subject.against)
    names = ["client", "version", "transport", *features]
    lines = [_line([*names[:3], "against", *names[3:]]), _line(["---"] * (len(names) + 1))]
    for key, against in rows.items():
        lines.append(_line([*key[:3], ", ".join(against), *key[3:]]))
    if notes:
        lines.append("")
        lines += [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines)


def _cells(result, features, notes):
    for feature in features:
        if feature in result.failed:
            yield "**FAIL**"
        elif feature in result.lacking:
            yield f"no ({_number(result.lacking[feature], notes)})"
        elif feature in result.passed:
            yield YES
        else:
            yield "?"


def _number(note, notes):
    if note not in notes:
        notes.append(note)
    return notes.index(note) + 1


def _line(cells):
    return "| " + " | ".join(cells) + " |"
