"""The verdicts of the tasks by another route: Python's integers, and Python's own reading of arithmetic."""

import ast
import operator
import re
from collections import Counter
from fractions import Fraction

OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def evaluate(text):
    """(value, numbers used) of an expression; None if it is none. Python parses, not the package."""
    if not re.fullmatch(r"[0-9+*/()\- ]{1,256}", text) or re.search(r"(?<![0-9])0[0-9]", text):
        return None
    if text[0] == " " or text[-1] == " ":
        return None
    try:
        tree = ast.parse(text, mode="eval").body
        numbers = Counter()
        return walk(tree, numbers), numbers
    except (SyntaxError, ZeroDivisionError, KeyError, MemoryError, RecursionError):
        return None


def walk(node, numbers):
    if isinstance(node, ast.Constant):
        numbers[node.value] += 1
        return Fraction(node.value)
    if not isinstance(node, ast.BinOp):  # a sign, a call, an empty tuple
        raise KeyError(node)
    left, right = walk(node.left, numbers), walk(node.right, numbers)
    return OPERATORS[type(node.op)](left, right)


def numerals(text):
    """The numbers that stand in a text, whatever else does."""
    return [int(number) for number in re.findall("[0-9]+", text)]


def right(task, prompt, completion):
    """Whether a completion is right, from the digits of the prompt alone."""
    asked = numerals(prompt)
    kind = type(task).__name__
    if kind == "Addition":
        reversed_sum = int(completion[::-1]) if re.fullmatch("[0-9]+", completion) else None
        return reversed_sum == sum(asked) and len(completion) == len(prompt) // 2
    if kind == "RunningSum":
        last = sum(map(int, prompt[:-1])) % 10
        worked = re.fullmatch(f">[0-9]{{{len(prompt) - 1}}}", completion)
        return bool(worked or re.fullmatch("[0-9]", completion)) and int(completion[-1]) == last
    found = evaluate(completion)
    return found is not None and found[0] == asked[-1] and found[1] == Counter(asked[:-1])


def edit(text, draw):
    """The text with one character put in, taken out, changed, doubled or moved; sometimes left as it is."""
    i, character = draw.randrange(len(text)), draw.choice("0123456789+-*/()=,:> \n\t.e_٣²")
    j = draw.randrange(len(text))
    swapped = list(text)
    swapped[i], swapped[j] = swapped[j], swapped[i]
    return draw.choice(
        [
            text[:i] + character + text[i:],
            text[:i] + text[i + 1 :],
            text[:i] + character + text[i + 1 :],
            text[: i + 1] + text[i:],
            "".join(swapped),
            f"({text})",
            text,
        ]
    )


def hostile(answer):
    """Texts that are wrong whatever was asked, made to raise, to hang, or to slip through."""
    arabic = answer.translate({ord("0") + i: 0x660 + i for i in range(10)})
    wide = answer.translate({ord("0") + i: 0xFF10 + i for i in range(10)})
    return [
        *(
            "",
            " ",
            "\n",
            "\0",
            "\ud800",
            "²",
            "½",
            "Ⅷ",
            "()",
            ")(",
            "(",
            ")",
            "=",
            ">",
            "=" * 99,
            "nan",
            "inf",
        ),
        *(answer + end for end in ("\n", " ", "\r\n", "\0", "#", "=", ";", "\u2028", "+", "*1e0", "=22")),
        *(start + answer for start in (" ", "\n", "+", "-", "--", "=", "\ufeff", "\x00", "0")),
        *(arabic, wide, answer * 2, answer[:-1] + arabic[-1:], answer + "\u0301", answer.encode().hex()),
        *("9**9**9**9", "9**" * 20 + "9", "1" * 100_000, "(" * 1_000_000, ")" * 1_000_000),
        *(
            "(" * 500_000 + "1" + ")" * 500_000,
            "(" * 120 + ")" * 120,
            "1+" * 500_000 + "1",
            "-" * 100_000 + "1",
        ),
        *("1" * 255 + "/", "9*" * 127 + "99", "1/" * 127 + "(1-1)", "/".join(["7"] * 120), "((((((1+"),
        *(
            "__import__('os').system('true')",
            "exec('1')",
            "lambda: 0",
            "1 if 1 else 0",
            "[1][0]",
            "{}",
            "'7'",
        ),
        *(
            "7 + 3 * 12 ",
            "7\t+3*12",
            "7 +\n3*12",
            "7\u00a0+3*12",
            "7+3*12#",
            "7.0+3*12",
            "7e0+3*12",
            "0x7+3*12",
            "7_0+3*12",
            "True+3*12",
            "7//1+3*12",
        ),
        *(
            "7+3*12,",
            "7+3(12)",
            "(7+3)(12)",
            "7+*3 12",
            "7,3,12",
            "7+-3*12",
            "7+3*12=43",
            "２+３",
            "7×3",
            "7÷3",
        ),
    ]
