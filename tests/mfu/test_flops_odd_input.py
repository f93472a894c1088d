"""Every flops_* function, mfu, actual_tflops and chip_peak with what they do not expect.

Each argument in turn becomes NULL, a blob, text that is no shape, a negative or huge or empty one, the wrong type, or is left
out or given too often. The answer is a non-negative INTEGER (REAL for rates), NULL, or an error that begins with the function's
name; an error about the form of one argument names it, the value and what is accepted. NULL for a needed argument is NULL.
"""
import os
import sqlite3
import sys

db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(os.path.abspath(sys.argv[1]))
failures, calls = [], 0

Q = "[1,2,8,4]"
# name, a call that works, how many of its arguments are needed, those that may be NULL and mean "not given"
FUNCTIONS = [
    ("flops_mm", ["[2,3]", "[3,4]"], 2, []),
    ("flops_bmm", ["[5,2,3]", "[5,3,4]"], 2, []),
    ("flops_matmul", ["[5,2,3]", "[3,4]"], 2, []),
    ("flops_linear", ["[5,2,3]", "[4,3]"], 2, []),
    ("flops_addmm", ["[2,3]", "[3,4]"], 2, []),
    ("flops_all_gather_base_mm", ["[2,3]", "[3,4]", 8], 3, []),
    ("flops_transpose_batchmatmul", ["[5,2,3]", "[5,3,4]", "[0,1,2]", "[0,1,2]"], 2, []),
    ("flops_grouped_matmul", ["[10,4]", "4,8;4,8", "[4,6]"], 2, [2]),
    ("flops_quant_matmul_gelu", ["[2,3]", "[3,4]"], 2, []),
    ("flops_grouped_matmul_swiglu_quant_v2", ["[2,3]", "[5,3,4]"], 2, []),
    ("flops_alltoallv_gmm", ["[2,3]", "[5,3,4]", "[6,7]", "[7,8]", 0, 0], 2, [2, 3]),
    ("flops_gmm_alltoallv", ["[2,3]", "[5,4,3]", "[6,7]", "[8,7]", 1, 1], 2, [2, 3]),
    ("flops_fusion_attention", [Q, Q, Q, 2, "BNSD", 0, None, None, "recorder"], 5, [6, 7]),
    ("flops_fused_infer_attention_score", [Q, Q, Q, "BNSD", 2, 0, 3, None, None, "full"], 5, [7, 8]),
    ("flops_block_sparse_attention", ["[5,2,8]", "[7,2,8]", "[7,2,6]", "[[[[1,0],[0,1]],[[0,1],[0,0]]]]", "[4,4]", "TND", "TND", "[5]",
                                      "[7]", 2], 5, [7, 8]),
    ("flops_topk_attention", ["[10,20]", 8, 2, 4, 4], 4, []),
    ("flops_convolution", ["[1,4,5,5]", "[4,3,3,3]"], 2, []),
    ("flops_backward", ["matmul", 100], 2, []),
    ("mfu", [100, 10, 1e12], 3, []),
    ("actual_tflops", [100, 10], 2, []),
    ("chip_peak", ["bf16", "A100"], 1, []),
]
ODD = [b"", b"\x00\xff", "", " ", "[", "]", "[]", "[[]]", "[[[]]]", "[1", "1]", "[,]", "[1,]", "1,,2", ";", "1;2;3", "[-1,2]", "-1", "[0,0]",
       "[0,0,0,0]", "[1,2,3,4,5,6,7,8,9]", "[9223372036854775807,9223372036854775807]", "[99999999999999999999,1]", "1e3,2", "[1.5,2]",
       "[null,2]", "[\"1\",2]", "{\"a\":1}", "NaN", "N/A", "BNSD", "x" * 10000, "[" * 10000, "[[" * 5000 + "]]" * 5000, "1," * 10000 + "1",
       "[2\u00a0,3]", "\u0662,\u0663", "2,3\x00;4", 0, 1, -1, 2**63 - 1, -2**63, 0.5, 1e300, float("inf"), -0.0]


def run(name, arguments):
    global calls
    calls += 1
    call = f"{name}({', '.join('?' for _ in arguments)})"
    try:
        return db.execute(f"SELECT {call}", arguments).fetchone()[0], None
    except (sqlite3.OperationalError, sqlite3.DataError) as error:
        return None, str(error)


def fault(name, arguments, answer, error):
    if error is not None:
        if not error.startswith(name + ": "):
            return f"the error does not begin with the function: {error}"
        if "argument " in error and "accepted: " not in error:
            return f"the error does not say what is accepted: {error}"
        if len(error) > 500:
            return f"an error of {len(error)} characters"
    elif answer is not None:
        if isinstance(answer, float) and name in ("mfu", "actual_tflops", "chip_peak"):
            return None
        if not isinstance(answer, int) or answer < 0:
            return f"the answer is {answer!r}"
    return None


def tell(name, arguments, what):
    failures.append(f"{name}({', '.join(repr(a)[:40] for a in arguments)}): {what}")


for name, good, needed, nullable in FUNCTIONS:
    answer, error = run(name, good)
    if error is not None or answer is None:
        tell(name, good, f"should work: {error}")
    for place in range(len(good)):
        for odd in ODD:
            arguments = good[:place] + [odd] + good[place + 1:]
            what = fault(name, arguments, *run(name, arguments))
            if what:
                tell(name, arguments, what)
        answer, error = run(name, good[:place] + [None] + good[place + 1:])
        if place not in nullable and (answer, error) != (None, None):
            tell(name, good, f"NULL as argument {place}: {answer!r} {error}")
    for count in (0, needed - 1, len(good) + 1):
        arguments = (good + ["1"])[:count]
        answer, error = run(name, arguments)
        if error is None or not (error.startswith(f"{name}: takes (") or "wrong number of arguments" in error):
            tell(name, arguments, f"{count} arguments: {answer!r} {error}")

# The form of the errors, word by word.
for call, text in (
        ("flops_mm(x'0203', '[3,5]')", "flops_mm: argument a is BLOB of 2 bytes; accepted: a shape, as '[32,1024]' or '32,1024'"),
        ("flops_mm('[2,-3]', '[3,5]')", "flops_mm: argument a is TEXT '[2,-3]'; accepted: a shape, as '[32,1024]' or '32,1024' (a dim is "
                                        "negative at character 6)"),
        ("flops_mm('[]', '[3,5]')", "flops_mm: a []: 2 dims are needed, [M,K]; it has 0"),
        ("flops_mm('[2,3]', '[4,5]')", "flops_mm: b [4,5]: its inner dim is 4, that of a is 3"),
        ("flops_all_gather_base_mm('1,1', '1,1', 0)", "flops_all_gather_base_mm: argument world_size is INTEGER 0; accepted: an INTEGER of at "
                                                      "least 1"),
        ("flops_bmm('[9223372036854775807,2,1]', '[9223372036854775807,1,2]')", "flops_bmm: the result is beyond 64 bits"),
        ("flops_backward('softmax', 1)", "flops_backward: argument kind is TEXT 'softmax'; accepted: matmul, convolution or flash_attention"),
        ("mfu('fast', 1, 1)", "mfu: argument flops is TEXT 'fast'; accepted: an INTEGER or a REAL")):
    try:
        failures.append(f"{call}: {db.execute('SELECT ' + call).fetchone()!r}, expected an error")
    except sqlite3.OperationalError as error:
        if str(error) != text:
            failures.append(f"{call}: {error}\n  expected {text}")

print("\n".join(failures[:40]) or f"{calls} odd calls: every one an answer, NULL or a clear error")
sys.exit(1 if failures else 0)
