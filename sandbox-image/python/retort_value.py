"""The value of a whole script, for those who want it as JSON.

A run with RETORT_VALUE in its environment tells it at its end: of a variable
called "result", else of the last expression.  What is no JSON is its repr().
"""

import json

import _retort

NAME = "RETORT_VALUE"
FORM = "application/vnd.retort.value+json"

# what every reader of JSON holds exactly
WHOLE = 2 ** 63


def as_json(value):
    def whole(digits):
        number = int(digits)
        if not -WHOLE < number < WHOLE:
            raise ValueError(digits)
        return number

    text = json.dumps({"value": value}, ensure_ascii=False, allow_nan=False)
    text.encode()
    json.loads(text, parse_int=whole)

    return text


def tell(names, last):
    value = names.get("result", last)

    if value is None:
        return

    try:
        text = as_json(value)
    except Exception:
        try:
            text = as_json(repr(value))
        except Exception:
            return

    _retort.display(0, [(FORM, text.encode())])
