#!/usr/bin/python3
"""Write the benchmark's inputs, the same bytes for the same seed.

  generate.py kernels FILE [--rows N] [--seed S]     a kernel_details.csv of 47 columns, about 390 bytes a row
  generate.py trace FILE [--events N] [--seed S]     a torch.profiler trace, about 230 bytes an event
  generate.py repeat FILE --bytes N [--seed S]       a trace of at least N bytes: one block of events over and over

A FILE that ends in .gz is compressed.
"""
import argparse
import gzip
import random

HEAD = ("Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),"
        "Wait Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,"
        "Output Data Types,Output Formats,Context ID,aicore_time(us),aic_total_cycles,aic_mac_time(us),aic_mac_ratio,"
        "aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"
        "aic_fixpipe_time(us),aic_fixpipe_ratio,aic_icache_miss_rate,aiv_time(us),aiv_total_cycles,aiv_vec_time(us),"
        "aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte3_time(us),"
        "aiv_mte3_ratio,aiv_icache_miss_rate,cube_utilization(%)")
TYPES = ("MatMulV3 MatMulV2 BatchMatMulV2 Add Mul Cast Transpose SoftmaxV2 LayerNormV3 Gelu ReduceSum FlashAttentionScore "
         "FlashAttentionScoreGrad ConcatD SplitD GatherV2 Slice StridedSliceD TransData ZerosLike Sub RealDiv Pows Rsqrt "
         "Sigmoid Swish DropOutDoMask ApplyAdamWV2 LpNormV2 TensorMove Tile BroadcastTo Equal Select Maximum Minimum Exp "
         "Log Neg IndexPutV2").split()
START_NS = 1_736_413_971_000_000_000


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


def open_out(path):
    if path.endswith(".gz"):
        return gzip.open(path, "wt", encoding="utf-8", compresslevel=6)
    return open(path, "w", encoding="utf-8", newline="")


def kernel_kinds(rng):
    kinds = []
    for op_type in TYPES:
        core = "AI_CORE" if op_type.startswith(("MatMul", "Batch", "Flash")) else "AI_VECTOR_CORE"
        for variant in range(12):
            m, k = rng.choice((128, 1024, 4096)), rng.choice((64, 1024, 8192))
            pmu = [f"{rng.random() * 90:.3f}" for _ in range(25)]
            kinds.append((f"aclnn{op_type}_{op_type}AiCore_{op_type}_{variant}", op_type, core, f'"""{m},{k};{k},{m}"""',
                          f'"""{m},{m}"""', ",".join(pmu)))
    return kinds


def kernels(path, rows, seed):
    rng = random.Random(seed)
    kinds, now = kernel_kinds(rng), START_NS
    with open_out(path) as out:
        out.write(HEAD + "\r\n")
        for row in range(rows):
            name, op_type, core, ins, outs, pmu = kinds[rng.randrange(len(kinds))]
            dur, gap = rng.randrange(1_200, 400_000), rng.randrange(200, 9_000)
            now += gap
            out.write(f"{row * 10 // rows},0,4294967295,{row & 0xffff},{2 + row % 3},{name},{op_type},dynamic,{core},{us(now)}\t,"
                      f"{us(dur)},{us(gap)},24,0,NO,{ins},DT_BF16;DT_BF16,ND;ND,{outs},DT_BF16,ND,N/A,{pmu}\r\n")
            now += dur


def trace_events(rng, first, count, now):
    """`count` events: operators, runtime calls, flows, kernels. Returns their texts and the time after them."""
    out = []
    ops = "mm addmm bmm add mul softmax layer_norm gelu copy_ view".split()
    gemms = [f"ampere_bf16_s16816gemm_bf16_{m}x{n}_ldg8_f2f_stages_64x{s}_tn" for m in (64, 128, 256) for n in (64, 128)
             for s in (3, 4)]
    nccl = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    for i in range(first, first + count, 5):
        now += rng.randrange(2_000, 9_000)
        dur, kernel = rng.randrange(4_000, 60_000), rng.randrange(1_000, 90_000)
        gpu, stream = (nccl, 20) if i % 100 == 0 else (gemms[rng.randrange(12)], 7)
        host = '"pid": 4242, "tid": 4242'
        out.append(f'{{"ph": "X", "cat": "cpu_op", "name": "aten::{ops[rng.randrange(10)]}", {host}, "ts": {us(now)}, '
                   f'"dur": {us(dur)}, "args": {{"External id": {i},"Record function id": 0, "Concrete Inputs": ["", ""], '
                   f'"Input type": ["c10::BFloat16", "c10::BFloat16"], "Input Dims": [[1024, {i % 4096}], [4096, 1024]], '
                   f'"Ev Idx": {i}}}}}')
        out.append(f'{{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", {host}, "ts": {us(now + 1500)}, '
                   f'"dur": {us(dur // 2)}, "args": {{"External id": {i}, "cbid": 211, "correlation": {i}}}}}')
        out.append(f'{{"ph": "s", "id": {i}, {host}, "ts": {us(now + 1500)}, "cat": "ac2g", "name": "ac2g"}}')
        out.append(f'{{"ph": "X", "cat": "kernel", "name": "{gpu}", "pid": 0, "tid": {stream}, "ts": {us(now + 9000)}, '
                   f'"dur": {us(kernel)}, "args": {{"External id": {i}, "queued": 0, "device": 0, "context": 1, '
                   f'"stream": {stream}, "correlation": {i}, "registers per thread": 128, "shared memory": 49152, '
                   f'"blocks per SM": 2.370370, "warps per SM": 18.962963, "grid": [256, 1, 1], "block": [256, 1, 1], '
                   f'"est. achieved occupancy %": 30}}}}')
        out.append(f'{{"ph": "f", "id": {i}, "pid": 0, "tid": {stream}, "ts": {us(now + 9000)}, "cat": "ac2g", '
                   f'"name": "ac2g", "bp": "e"}}')
        now += dur
    return out, now


def trace(path, events, seed):
    rng, now = random.Random(seed), START_NS
    with open_out(path) as out:
        out.write('{"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB"}],\n"traceEvents": [\n')
        for first in range(0, events, 50_000):
            lines, now = trace_events(rng, first, min(50_000, events - first), now)
            out.write((",\n" if first else "") + ",\n".join(lines))
        out.write('\n], "traceName": "generated"}')


def repeat(path, size, seed):
    lines, _ = trace_events(random.Random(seed), 0, 100_000, START_NS)
    block = ",\n".join(lines)
    with open_out(path) as out:
        out.write('{"traceEvents": [\n' + block)
        for _ in range(size // len(block)):
            out.write(",\n" + block)
        out.write("\n]}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("kind", choices=("kernels", "trace", "repeat"))
    p.add_argument("file")
    p.add_argument("--rows", type=int, default=1_000_000)
    p.add_argument("--events", type=int, default=1_000_000)
    p.add_argument("--bytes", type=int, default=5_000_000_000)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    if a.kind == "kernels":
        kernels(a.file, a.rows, a.seed)
    elif a.kind == "trace":
        trace(a.file, a.events, a.seed)
    else:
        repeat(a.file, a.bytes, a.seed)


if __name__ == "__main__":
    main()
