"""Mistakes that users of other tools reported about MFU, each as a small case: what was counted wrong, and the right figure.

Inputs are rows here; expected values are the arithmetic beside them.
"""
import math
import os
import sqlite3
import sys

db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(os.path.abspath(sys.argv[1]))
failures = []


def check(what, got, expected):
    same = got == expected if not isinstance(expected, float) else got is not None and math.isclose(got, expected, rel_tol=1e-12)
    if not same:
        failures.append(f"{what}: {got!r}, expected {expected!r}")


def one(sql, *values):
    return db.execute(sql, values).fetchone()[0]


# The peak under sparsity taken for dense work halves MFU; a dense one halved again doubles it; an unknown chip has none.
for chip, achieved, expected in (("H200", 420, 420 / 989.5), ("A100", 156, 156 / 312), ("X1", 10, None)):
    check(f"peak of {chip}", one("SELECT mfu(?1 * 1e12, 1e9, chip_peak('bf16', ?2))", achieved, chip), expected)
for chip, dense, sparse in (("NVIDIA H200 SXM", 989.5e12, 1979e12), ("NVIDIA A100", 312e12, 624e12)):
    check(f"both rates of {chip}", db.execute("SELECT dense_flops_per_s, sparse_flops_per_s FROM chip_peaks WHERE chip = ? AND dtype = "
                                              "'bf16'", (chip,)).fetchone(), (dense, sparse))
check("an NPU of 20 cores at 1650 MHz", one("SELECT mfu(?, 1e9, ?)", 20 * 1650e6 * 8192, 270.336e12), 1.0)

# A causal mask counted in full, or from the wrong corner: elements (row by row) of small masks.
for sq, skv, mode, rows in ((4, 6, 0, [6, 6, 6, 6]), (4, 6, 2, [1, 2, 3, 4]), (4, 6, 3, [3, 4, 5, 6]),
                            (6, 4, 2, [1, 2, 3, 4, 4, 4]), (6, 4, 3, [0, 0, 1, 2, 3, 4])):
    flops = one("SELECT flops_fusion_attention(json_array(1,1,?1,1), json_array(1,1,?2,1), json_array(1,1,?2,1), 1, 'BNSD', ?3, NULL, "
                "NULL, 'causal_exact')", sq, skv, mode)
    check(f"mask of {sq} x {skv}, mode {mode}", flops, 2 * sum(rows) * (1 + 1))
long = "'[1,16,16384,128]', '[1,16,16384,128]', '[1,16,16384,128]', 16, 'BNSD', 3, NULL, NULL"
exact = 2 * 16 * sum(range(1, 16385)) * (128 + 128)
check("causal, 16k", one(f"SELECT flops_fusion_attention({long}, 'causal_exact')"), exact)
check("causal, 16k: MFU", one(f"SELECT mfu(flops_fusion_attention({long}, 'causal_exact'), 5825000, 312e12)"), exact / 5825e-6 / 312e12)
check("counted in full it beats the peak", one(f"SELECT mfu(flops_fusion_attention({long}, 'full'), 5825000, 312e12) > 1"), 1)

# Fewer key heads than query heads, and head sizes that differ: query heads count, in either layout.
grouped = 2 * (2 * 32 * 1024 * 1024) * (192 + 128)
check("grouped query, BNSD", one("SELECT flops_fused_infer_attention_score('2,32,1024,192', '2,8,1024,192', '2,8,1024,128', 'BNSD', 32, "
                                 "8)"), grouped)
check("grouped query, BSH", one("SELECT flops_fused_infer_attention_score('2,1024,6144', '2,1024,1536', '2,1024,1024', 'BSH', 32, 8)"),
      grouped)

# A multiply-add is two operations, not one and not 2 - 1/K; views that share them among kernels are in the unit tests.
check("GEMM", one("SELECT flops_mm('[128,64]', '[64,256]')"), 2 * 128 * 64 * 256)
check("GEMM over both kernels", one("SELECT mfu(?, 1000 + 3000, 100e12)", 4194304), 4194304 / 4e-6 / 100e12)
check("GEMM over its own kernel", one("SELECT mfu(?, 3000, 100e12)", 4194304), 4194304 / 3e-6 / 100e12)

# Forward work done again: three figures with names of their own (columns of mfu_total).
check("mfu", one("SELECT mfu(3e12 + 6e12, 30e6, 989.4e12)"), 9 / (0.030 * 989.4))
check("hfu", one("SELECT mfu(3e12 + 3e12 + 6e12, 30e6, 989.4e12)"), 12 / (0.030 * 989.4))
check("kernel_eff", one("SELECT mfu(3e12 + 3e12 + 6e12, 6e6 + 6e6 + 12e6, 989.4e12)"), 12 / (0.024 * 989.4))
check("their columns", db.execute("SELECT mfu, hfu, kernel_eff FROM mfu_total").fetchall(), [])

# Experts and top-k attention: the shape says more than was done.
for groups in ("4,4,10", "4,0,6"):
    check(f"grouped matmul, {groups}", one("SELECT flops_grouped_matmul('10,4', '3,4,8', ?)", groups), 2 * 10 * 4 * 8)
read = sum(min(context, 2048) for context in (1000, 3000, 8192, 8192))
check("top-k attention", one("SELECT flops_topk_attention('[1000,3000,8192,8192]', 2048, 16, 128)"), 2 * 16 * read * (128 + 128))
check("top-k, k not known", one("SELECT flops_topk_attention('[1000,3000,8192,8192]', NULL, 16, 128)"), None)

print("\n".join(failures) or "no reported mistake is ours")
sys.exit(1 if failures else 0)
