"""What the large captures show, in a few rows each: AlexNet's kernels on an NPU, a GEMM of a GPU trace, Triton's matmuls.

Expected FLOPs are the arithmetic of the layers' shapes, written here.
"""
import json
import os
import tempfile

from held import check, finish, opened

def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


BATCH = 32
FC6 = 2 * BATCH * 9216 * 4096                       # 32 images, 256 * 6 * 6 features to 4096
CONV2 = 2 * (BATCH * 27 * 27) * 192 * (64 * 5 * 5)  # 192 filters of 64 x 5 x 5 at 27 x 27 positions
CONV3 = 2 * (BATCH * 13 * 13) * 384 * (192 * 3 * 3)
HEAD = ("Step Id,Device_id,Model ID,Task ID,Stream ID,Name,Type,OP State,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),"
        "Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,Output Formats,"
        "Context ID\n")
KERNELS = [
    # name, type, us, input shapes, input formats, output shape, output format, FLOPs
    ("aclnnAddmm_MatMul", "MatMulV2", 500.0, "4096;32,9216;4096,9216", "ND;ND;ND", "32,4096", "ND", None),  # bias first: no rule fits
    ("fc6", "MatMulV2", 500.0, "32,9216;4096,9216;4096", "ND;ND;ND", "32,4096", "ND", FC6),
    ("fc6_dx", "MatMulV2", 400.0, "32,4096;4096,9216", "ND;ND", "32,9216", "ND", FC6),
    ("fc6_dw", "MatMulV3", 300.0, "32,4096;32,9216", "ND;ND", "4096,9216", "ND", FC6),
    ("fc6_nz", "MatMul", 300.0, "576,2,16,16;576,256,16,16", "FRACTAL_NZ;FRACTAL_NZ", "256,2,16,16", "FRACTAL_NZ", FC6),
    ("conv2", "Conv2D", 150.0, "32,8,27,27,8;200,12,16,8;192", "NC1HWC0;FRACTAL_Z;NCHW", "32,24,27,27,8", "NC1HWC0", CONV2),
    ("conv2_dx", "Conv2DBackpropInput", 150.0, "4;200,12,16,8;32,24,27,27,8", "NCHW;FRACTAL_Z;NC1HWC0", "32,8,27,27,8", "NC1HWC0", CONV2),
    ("conv2_dw", "Conv2DBackpropFilter", 150.0, "32,8,27,27,8;4;32,24,27,27,8", "NC1HWC0;NCHW;NC1HWC0", "200,12,16,8", "FRACTAL_Z", CONV2),
    ("conv3", "Conv2D", 100.0, "32,192,13,13;384,192,3,3;384", "NCHW;NCHW;ND", "32,384,13,13", "NCHW", CONV3),
]


def alexnet(place):
    lines, now = [HEAD], 1719300000000000.0
    for i, (name, kind, us, shapes, formats, out, out_format, _) in enumerate(KERNELS):
        types = ";".join(["FLOAT"] * (shapes.count(";") + 1))
        lines.append(f'1,0,4294967295,{i},2,{name},{kind},static,AI_CORE,"{now + 1000 * i:.3f}\t",{us},0.0,20,0,YES,"""{shapes}""",{types},'
                     f'{formats},"""{out}""",FLOAT,{out_format},N/A\n')
    folder = os.path.join(place, "alexnet_ascend_pt")
    write(os.path.join(folder, "ASCEND_PROFILER_OUTPUT", "kernel_details.csv"), "".join(lines))
    db = opened(folder, '{"chip":"Ascend910B3"}')
    peak = 20 * 1800e6 * 8192                       # cores, Hz, operations a cycle
    got = db.execute("SELECT kernel_name, flops, round(mfu, 9), estimated, shapes_from FROM kernel_mfu_estimate").fetchall()
    check("AlexNet", got, [(name, flops, None if flops is None else round(flops / (us * 1e-6) / peak, 9), 1, "kernel")
                           for name, _, us, _, _, _, _, flops in KERNELS])
    check("AlexNet: MFU in (0, 1]", [row for row in got if row[2] is not None and not 0 < row[2] <= 1], [])
    total = sum(flops for *_, flops in KERNELS if flops)
    check("AlexNet: sum", db.execute("SELECT flops, flops_source FROM mfu_total WHERE scope = 'profile'").fetchone(), (total, "estimated"))
    # Without a trace a step lasts from its first kernel to the end of its last.
    last_us = 1000 * (len(KERNELS) - 1) + KERNELS[-1][2]
    check("AlexNet: step", db.execute("SELECT name, e2e_ns, round(hfu, 9) FROM mfu_total WHERE scope = 'step'").fetchall(),
          [("1", round(last_us * 1000), round(total / (last_us * 1e-6) / peak, 9))])
    unknown = opened(folder, '{"chip":"Ascend999"}').execute("SELECT message FROM mfu_diagnostic WHERE code = 'chip_not_known'").fetchall()
    check("AlexNet: a chip that is not known", [message.split(":")[0] for message, in unknown], ["chip_peaks does not know the chip 'Ascend999'"])
    check("AlexNet: why nothing was recorded",
          "with_flops=True" in db.execute("SELECT message FROM mfu_diagnostic WHERE code = 'no_flops_records'").fetchone()[0], True)


def gpu(place):
    """A linear layer: aten::linear around aten::addmm, whose two kernels share its FLOPs; and a batched product."""
    def op(name, ts, dur, dims):
        return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur,
                "args": {"Input Dims": dims, "Input type": ["c10::BFloat16"] * len(dims)}}

    def launched(name, ts, correlation, start, dur):
        return [{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": ts, "dur": 1,
                 "args": {"correlation": correlation}},
                {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": start, "dur": dur,
                 "args": {"correlation": correlation, "device": 0, "stream": 7}},
                {"ph": "s", "id": correlation, "cat": "ac2g", "name": "ac2g", "pid": 1, "tid": 1, "ts": ts},
                {"ph": "f", "bp": "e", "id": correlation, "cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "ts": start}]

    events = [op("aten::linear", 100, 80, [[1, 141, 512], [2048, 512], [2048]]),
              op("aten::addmm", 110, 60, [[2048], [141, 512], [512, 2048], [], []]),
              *launched("nvjet_tst_128x64", 120, 1, 1000, 3), *launched("void cublasLt::splitKreduce_kernel", 130, 2, 1010, 2),
              op("aten::bmm", 300, 50, [[8, 141, 64], [8, 64, 141]]), *launched("sm90_xmma_gemm_bf16", 310, 3, 1100, 4)]
    trace = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}
    write(os.path.join(place, "h100.pt.trace.json"), json.dumps(trace))
    db = opened(os.path.join(place, "h100.pt.trace.json"))
    linear, batched = 2 * 141 * 512 * 2048, 2 * 8 * 141 * 64 * 141
    check("GPU", db.execute("SELECT op_name, kernel_name, flops, op_flops, dtype, round(mfu, 9) FROM kernel_mfu_estimate").fetchall(),
          [("aten::addmm", "nvjet_tst_128x64", linear, linear, "bf16", round(linear / 3e-6 / 989.4e12, 9)),
           ("aten::addmm", "void cublasLt::splitKreduce_kernel", 0, linear, "bf16", 0.0),
           ("aten::bmm", "sm90_xmma_gemm_bf16", batched, batched, "bf16", round(batched / 4e-6 / 989.4e12, 9))])


def triton(place):
    """Five launches of each size: the medians are those of the capture with 1117 of each."""
    head = ("Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),Task Wait "
            "Time(us),Block Num,Mix Block Num,HF32 Eligible,Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
            "Output Formats,Context ID\n")
    durations = [350.1, 347.9, 348.3, 348.0, 360.0, 2401.4, 2399.0, 2410.0, 2400.9, 2405.5]
    rows = [f"0,4294967295,{i},2,matmul_kernel,N/A,N/A,AI_CORE,{1719300000000000 + 5000 * i}.0\t,{us},0,20,0,NO,N/A,N/A,N/A,N/A,N/A,N/A,N/A\n"
            for i, us in enumerate(durations)]
    output = os.path.join(place, "PROF_000001_20260402160352_AAAA", "mindstudio_profiler_output")
    write(os.path.join(output, "op_summary_20260402160352.csv"), head + "".join(rows))
    db = opened(os.path.dirname(output))
    got = db.execute("""
        SELECT n, round(actual_tflops(flops_mm(json_array(n, n), json_array(n, n)), quantile(dur_ns, 0.5)), 2)
          FROM (SELECT iif(dur_ns < 1000000, 512, 1024) AS n, dur_ns FROM prof_kernel) GROUP BY n""").fetchall()
    check("Triton", got, [(512, 0.77), (1024, 0.89)])
    check("the same by hand", [round(2 * 512**3 / 348.3e-6 / 1e12, 2), round(2 * 1024**3 / 2401.4e-6 / 1e12, 2)], [0.77, 0.89])


with tempfile.TemporaryDirectory() as temporary:
    alexnet(temporary)
    gpu(temporary)
    triton(temporary)
finish()
