#!/usr/bin/python3
"""Write the TinyMLP example: one small load as four collections see it.

The load is four Linear(1024, 1024) with GELU between them on a [32, 1024] input, run on one Atlas A2 (910B3). The files
have the layout of the real profilers; the durations are invented so that the load's known findings come out:
MatMulV2 takes about 78 % of the device time, a step waits about 60 times as long as it computes, and only the
offline model (pyACL) has Cast kernels, 28.6 % of its time.

05_pytorch_slow is the fourth collection after a change that made it slower: the input arrives as float32 and GELU now gives
float32, so that each Linear casts its input back, and the matrix product takes 1.3 times as long.

  make.py [FOLDER]     writes 01_cmdline ... 05_pytorch_slow below FOLDER (default: beside this file)
"""
import csv
import json
import os
import random
import sys

EPOCH_NS = 1_760_000_000 * 10**9
STAMP = "20251009085320"
BASE = ["Device_id", "Model ID", "Task ID", "Stream ID", "Op Name", "OP Type", "OP State", "Task Type", "Task Start Time(us)",
        "Task Duration(us)", "Task Wait Time(us)", "Block Num", "Mix Block Num", "HF32 Eligible", "Input Shapes",
        "Input Data Types", "Input Formats", "Output Shapes", "Output Data Types", "Output Formats", "Context ID"]
RENAMED = {"Op Name": "Name", "OP Type": "Type", "Task Type": "Accelerator Core", "Task Start Time(us)": "Start Time(us)",
           "Task Duration(us)": "Duration(us)", "Task Wait Time(us)": "Wait Time(us)"}
AIC = ["aic_mac", "aic_scalar", "aic_mte1", "aic_mte2", "aic_fixpipe"]
AIV = ["aiv_vec", "aiv_scalar", "aiv_mte2", "aiv_mte3"]
PMU = (["aicore_time(us)", "aic_total_cycles"] + [f"{p}_{w}" for p in AIC for w in ("time(us)", "ratio")] + ["aic_icache_miss_rate",
       "aiv_time(us)", "aiv_total_cycles"] + [f"{p}_{w}" for p in AIV for w in ("time(us)", "ratio")] +
       ["aiv_icache_miss_rate", "cube_utilization(%)"])

# What a kernel is: name, type, core, mean us, cores, shapes in and out, data type (IN>OUT where they differ), busy share of each pipe.
MATMUL = ("aclnnAddmm_MatMulCommon_MatMulV2", "MatMulV2", "AI_CORE", 6.85, 20, "32,1024;1024,1024;1024", "32,1024", "FLOAT16",
          dict(aic_mac=0.62, aic_scalar=0.18, aic_mte1=0.31, aic_mte2=0.55, aic_fixpipe=0.09))
GELU = ("aclnnGelu_GeluAiCore_Gelu", "Gelu", "AI_VECTOR_CORE", 2.53, 32, "32,1024", "32,1024", "FLOAT16",
        dict(aiv_vec=0.34, aiv_scalar=0.28, aiv_mte2=0.21, aiv_mte3=0.12))
ADD = ("add_custom", "N/A", "AI_VECTOR_CORE", 3.9, 8, "8192;8192", "8192", "FLOAT16",
       dict(aiv_vec=0.04, aiv_scalar=0.58, aiv_mte2=0.33, aiv_mte3=0.17))


def offline(kernel, name, us):
    """The same kernel in the offline model, where the compiler has chosen names and formats."""
    return (name, kernel[1], kernel[2], us, *kernel[4:])


def cast(name, us, types, **pipes):
    return (name, "Cast", "AI_VECTOR_CORE", us, 32, "32,1024", "32,1024", types, pipes)


PYACL = [cast("trans_Cast_0", 5.0, "FLOAT>FLOAT16", **GELU[8]),
         offline(MATMUL, "/0/Gemm", 5.0), offline(GELU, "/1/Gelu", 1.65), offline(MATMUL, "/2/Gemm", 5.0),
         offline(GELU, "/3/Gelu", 1.65), offline(MATMUL, "/4/Gemm", 5.0), offline(GELU, "/5/Gelu", 1.65),
         offline(MATMUL, "/6/Gemm", 5.0), cast("trans_Cast_8", 5.0, "FLOAT16>FLOAT", **GELU[8])]
FORWARD = [MATMUL, GELU, MATMUL, GELU, MATMUL, GELU, MATMUL]
CAST = cast("aclnnCast_CastAiCore_Cast", 3.1, "FLOAT>FLOAT16", aiv_vec=0.21, aiv_scalar=0.22, aiv_mte2=0.44, aiv_mte3=0.19)
SLOW_MATMUL = (*MATMUL[:3], MATMUL[3] * 1.3, *MATMUL[4:])
SLOW_GELU = (*GELU[:7], "FLOAT16>FLOAT", *GELU[8:])
SLOW_FORWARD = [k for layer in FORWARD for k in ((CAST, SLOW_MATMUL) if layer is MATMUL else (SLOW_GELU,))]
HOST_OP = {"MatMulV2": "aten::addmm", "Gelu": "aten::gelu", "Cast": "npu::_npu_dtype_cast"}


def us(ns):
    return f"{ns // 1000}.{ns % 1000:03d}"


class Run:
    """The kernels of one collection in time: (kernel, start ns, duration ns, wait ns, task id, launch ns)."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.now = EPOCH_NS + seed * 10**9
        self.rows = []
        self.task = 10

    def launch(self, kernel, gap_us):
        host = self.now
        self.now += int(gap_us * (0.9 + 0.2 * self.rng.random()) * 1000)
        dur = max(20, int(kernel[3] * (0.97 + 0.06 * self.rng.random()) * 50) * 20)
        wait = max(0, self.now - (self.rows[-1][1] + self.rows[-1][2])) if self.rows else 0
        self.task += 1
        self.rows.append((kernel, self.now, dur, wait, self.task, host))
        self.now += dur


def pmu_cells(kernel, dur):
    cells, cube = [], kernel[2] == "AI_CORE"
    for total, pipes, own in (("aic", AIC, cube), ("aiv", AIV, not cube)):
        cells += [us(dur), dur * kernel[4] * 18 // 10] if own else ["0", 0]
        for pipe in pipes:
            share = kernel[8].get(pipe, 0.0)
            cells += [us(int(dur * share)), f"{share:.3f}"]
        cells.append("0.004" if own else "0")
    return cells + [f"{dur * 0.97 / dur * 100:.3f}" if cube else "0.000"]


def row_of(entry, model="4294967295", state="dynamic"):
    kernel, start, dur, wait, task, _ = entry
    count = kernel[5].count(";") + 1
    type_in, type_out = (kernel[7].split(">") * 2)[:2]
    return ["7", model, task, 2, kernel[0], kernel[1], state, kernel[2], us(start) + "\t", us(dur), us(wait), kernel[4], 0, "NO",
            f'"""{kernel[5]}"""', ";".join([type_in] * count), ";".join(["ND"] * count), f'"""{kernel[6]}"""', type_out, "ND",
            "N/A"] + pmu_cells(kernel, dur)


def write_csv(path, head, rows, crlf=False):
    """As msprof's writer: no quoting beyond what cells bring along. torch_npu's writer quotes and ends lines with CRLF."""
    with open(path, "w", encoding="utf-8", newline="") as out:
        if crlf:
            writer = csv.writer(out)
            writer.writerow(head)
            writer.writerows([c[2:-2] if isinstance(c, str) and c.startswith('"""') else c for c in row] for row in rows)
        else:
            for row in [head, *rows]:
                out.write(",".join(map(str, row)) + "\n")


def op_statistic(rows):
    groups = {}
    for kernel, _, dur, *_ in rows:
        groups.setdefault((kernel[1], kernel[2]), []).append(dur)
    whole = sum(map(sum, groups.values()))
    return ["Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)",
            "Ratio(%)"], [["7", *key, len(d), us(sum(d)), us(min(d)), f"{sum(d) / len(d) / 1000:.3f}", us(max(d)),
                           f"{sum(d) / whole * 100:.3f}"] for key, d in sorted(groups.items(), key=lambda g: -sum(g[1]))]


def api_statistic(rng, calls):
    head = ["Device_id", "Level", "API Name", "Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"]
    out = []
    for level, name, count, mean in calls:
        times = [mean * (0.6 + 0.8 * rng.random()) for _ in range(count)]
        avg = sum(times) / count
        out.append(["host", level, name, f"{sum(times):.3f}", count, f"{avg:.3f}", f"{min(times):.3f}", f"{max(times):.3f}",
                    f"{sum((t - avg) ** 2 for t in times) / count:.3f}"])
    return head, out


def msprof_folder(root, name, run, calls, model="4294967295", state="dynamic"):
    out = os.path.join(root, name, f"PROF_000001_{STAMP}123_00012345ABCDEFGH")
    files = os.path.join(out, "mindstudio_profiler_output")
    os.makedirs(files, exist_ok=True)
    write_csv(os.path.join(files, f"op_summary_{STAMP}.csv"), BASE + PMU, [row_of(r, model, state) for r in run.rows])
    write_csv(os.path.join(files, f"op_statistic_{STAMP}.csv"), *op_statistic(run.rows))
    write_csv(os.path.join(files, f"api_statistic_{STAMP}.csv"), *api_statistic(run.rng, calls))
    write_csv(os.path.join(files, f"task_time_{STAMP}.csv"),
              ["Device_id", "kernel_name", "kernel_type", "stream_id", "task_id", "task_time(us)", "task_start(us)", "task_stop(us)"],
              [["7", k[0], k[2], 2, task, us(dur), us(start) + "\t", us(start + dur) + "\t"] for k, start, dur, _, task, _ in run.rows])
    events = meta(31, "Ascend Hardware", "NPU 7", [(2, "Stream 2")])
    events += [device_event(31, r) for r in run.rows]
    write_json(os.path.join(files, f"msprof_{STAMP}.json"), events)
    chip_files(out)


def chip_files(prof):
    os.makedirs(os.path.join(prof, "device_7"), exist_ok=True)
    write_json(os.path.join(prof, "device_7", "info.json.7"), {
        "platform_version": "5", "devices": "7", "rank_id": -1, "version": "1.0", "drvVersion": 467473,
        "DeviceInfo": [{"id": 7, "ai_core_num": 20, "aiv_num": 40, "aic_frequency": "1800", "aiv_frequency": "1800",
                        "hwts_frequency": "49.999001"}]})


def write_json(path, data):
    with open(path, "w", encoding="utf-8") as out:
        json.dump(data, out, separators=(",", ":"))


def meta(pid, name, label, threads):
    out = [("process_name", 0, {"name": name}), ("process_labels", 0, {"labels": label}), ("process_sort_index", 0, {"sort_index": pid})]
    for tid, text in threads:
        out += [("thread_name", tid, {"name": text}), ("thread_sort_index", tid, {"sort_index": tid})]
    return [{"name": n, "pid": pid, "tid": t, "ph": "M", "args": a} for n, t, a in out]


def device_event(pid, entry):
    kernel, start, dur, _, task, _ = entry
    return {"name": kernel[0], "pid": pid, "tid": 2, "ts": us(start), "dur": dur / 1000, "ph": "X",
            "args": {"Model Id": 4294967295, "Task Type": kernel[2], "Physic Stream Id": 2, "Task Id": task, "Batch Id": 0,
                     "Subtask Id": 4294967295, "connection_id": 1000 + task}}


def host_event(name, start, end, **args):
    return {"ph": "X", "name": name, "pid": 4321, "tid": 4321, "ts": us(start), "dur": (end - start) / 1000, "cat": "cpu_op",
            "args": {"Sequence number": -1, "Fwd thread id": 0, **args}}


def pytorch(root, name, seed, forward):
    """Five active steps after three of warm-up, as the profiler API sees them."""
    run, events, lanes, steps, details = Run(seed), [], [], [], []
    for step in range(3, 8):
        step_start, first = run.now, len(run.rows)
        run.now += 60_000
        ops = []
        for kernel in forward:
            op_start = run.now
            run.launch(kernel, 270)
            ops.append((kernel, op_start, op_start + 190_000, run.rows[-1]))
        run.now += 90_000
        rows = run.rows[first:]
        events.append(host_event(f"ProfilerStep#{step}", step_start, run.now))
        for kernel, start, end, row in ops:
            linear = kernel[1] == "MatMulV2"
            dims = "32,1024;\r\n1024,1024;\r\n1024" if linear else "32,1024"
            type_in = "float" if kernel[7].startswith("FLOAT>") else "c10::Half"
            shape = {"Input Dims": dims, "Input type": ";\r\n".join([type_in] * (3 if linear else 1))}
            stack = f"model_with_profiler.py({43 if kernel[1] == 'Gelu' else 41}): forward;\r\nmodel_with_profiler.py(118): main"
            if linear:
                events.append(host_event("aten::linear", start, end, **shape, **{"Call stack": stack}))
            leaf = start + 9_000 if linear else start
            events.append(host_event(HOST_OP[kernel[1]], leaf, end - 4_000, **shape, **{"Call stack": stack}))
            flow = {"name": "torch_to_npu", "id": row[1], "cat": "async_npu", "bp": "e"}
            events.append({"ph": "s", **flow, "pid": 4321, "tid": 4321, "ts": us(leaf)})
            events.append({"ph": "f", **flow, "pid": 31, "tid": 2, "ts": us(row[1])})
            details.append([HOST_OP[kernel[1]], dims, stack, us(end - leaf), us(end - leaf), us(row[2]), us(row[2]),
                            us(row[2]) if linear else "0", us(row[2]) if linear else "0"])
        computing, end = sum(r[2] for r in rows), step_start
        for row in rows:
            lanes.append(("Free", end, row[1]))
            lanes.append(("Computing", row[1], row[1] + row[2]))
            end = row[1] + row[2]
        lanes.append(("Free", end, run.now))
        free = run.now - step_start - computing
        steps.append([7, step, us(computing), "0", "0", "0", us(free), us(computing + free), "0", "0", us(rows[0][1] - step_start)])
    head = ["Step Id"] + [RENAMED.get(h, h) for h in BASE] + PMU
    out = os.path.join(root, name, f"localhost_4321_{STAMP}123_ascend_pt")
    files = os.path.join(out, "ASCEND_PROFILER_OUTPUT")
    os.makedirs(files, exist_ok=True)
    write_csv(os.path.join(files, "kernel_details.csv"), head, [[3 + i // len(forward)] + row_of(r) for i, r in enumerate(run.rows)], crlf=True)
    write_csv(os.path.join(files, "op_statistic.csv"), *op_statistic(run.rows))
    write_csv(os.path.join(files, "api_statistic.csv"), *api_statistic(run.rng, [
        ("acl", "aclnnAddmm", 20, 61), ("acl", "aclnnGelu", 15, 44), *([("acl", "aclnnCast", 20, 41)] if CAST in forward else []), ("node", "launch", len(run.rows), 9.4),
        ("runtime", "KernelLaunch", len(run.rows), 6.1), ("runtime", "StreamSynchronize", 5, 12.5)]))
    write_csv(os.path.join(files, "step_trace_time.csv"), [
        "Device_id", "Step", "Computing", "Communication(Not Overlapped)", "Overlapped", "Communication", "Free", "Stage", "Bubble",
        "Communication(Not Overlapped and Exclude Receive)", "Preparing"], steps, crlf=True)
    write_csv(os.path.join(files, "operator_details.csv"), [
        "Name", "Input Shapes", "Call Stack", "Host Self Duration(us)", "Host Total Duration(us)", "Device Self Duration(us)",
        "Device Total Duration(us)", "Device Self Duration With AICore(us)", "Device Total Duration With AICore(us)"], details, crlf=True)
    lane_ids = {"Computing": 0, "Communication": 1, "Communication(Not Overlapped)": 2, "Free": 3}
    device = [device_event(31, r) for r in run.rows]
    device += [{"name": n, "pid": 32, "tid": lane_ids[n], "ts": us(a), "dur": (b - a) / 1000, "ph": "X", "args": {}} for n, a, b in lanes]
    device += meta(31, "Ascend Hardware", "NPU 7", [(2, "Stream 2")])
    device += meta(32, "Overlap Analysis", "NPU 7", [(i, n) for n, i in lane_ids.items()])
    write_json(os.path.join(files, "trace_view.json"), events + meta(4321, "Python", "CPU", [(4321, "Thread 4321")]) + device)
    write_json(os.path.join(out, "profiler_info.json"), {
        "config": {"common_config": {"activities": ["ProfilerActivity.CPU", "ProfilerActivity.NPU"], "record_shapes": True,
                                     "profile_memory": False, "with_stack": True, "with_flops": False, "with_modules": False,
                                     "schedule": {"wait": 0, "active": 5, "warmup": 3, "repeat": 1, "skip_first": 0}},
                   "experimental_config": {"_profiler_level": "Level1", "_aic_metrics": "ACL_AICORE_PIPE_UTILIZATION",
                                           "_export_type": ["text"], "_data_simplification": False}},
        "start_info": {"syscnt_enable": True, "freq": 50, "start_cnt": 1, "start_monotonic": 1},
        "end_info": {"collectionTimeEnd": run.now, "MonotonicTimeEnd": run.now}, "torch_npu_version": "2.7.1", "cann_version": "9.1.0",
        "rank_id": -1})
    chip_files(os.path.join(out, f"PROF_000001_{STAMP}123_00004321ABCDEFGH"))


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    cmdline, add, pyacl = Run(1), Run(2), Run(3)
    for _ in range(23):
        for kernel in FORWARD:
            cmdline.launch(kernel, 265)
        cmdline.now += 120_000
    for _ in range(20):
        add.launch(ADD, 30)
    for _ in range(20):
        for kernel in PYACL:
            pyacl.launch(kernel, 1.1)
        pyacl.now += 180_000
    torch_calls = [("acl", "aclnnAddmm", 92, 60), ("acl", "aclnnGelu", 69, 43), ("node", "launch", 161, 9.2), ("runtime", "KernelLaunch", 161, 6)]
    msprof_folder(root, "01_cmdline", cmdline, torch_calls)
    msprof_folder(root, "02_ascendc", add, [("acl", "aclrtLaunchKernel", 20, 12), ("runtime", "KernelLaunch", 20, 7)])
    msprof_folder(root, "03_pyacl", pyacl, [("model", "aclmdlExecute", 20, 230), ("runtime", "ModelExecute", 20, 190)], model="1", state="static")
    pytorch(root, "04_pytorch", 4, FORWARD)
    pytorch(root, "05_pytorch_slow", 5, SLOW_FORWARD)


if __name__ == "__main__":
    main()
