"""MFU of a small profiler database made here: records, switches that were off, and the columns that early exports swap.

The arithmetic: aten::mm of 128x64 by 64x256 is 2*128*64*256 = 4194304 operations; two kernels of 1 and 3 us; the chip does
20 cores * 1650 MHz * 8192 = 270.336 TFLOPS.
"""
import json
import os
import sqlite3
import tempfile

from held import check, finish, opened

T0 = 1_700_000_000_000_000_000


class Strings:
    def __init__(self):
        self.ids = {}

    def __call__(self, text):
        return self.ids.setdefault(text, len(self.ids) + 1)


def make(folder, ranges=True, flops=True, swapped=False, info=True):
    output = os.path.join(folder, "ASCEND_PROFILER_OUTPUT")
    os.makedirs(output)
    with open(os.path.join(folder, "profiler_info_0.json"), "w", encoding="utf-8") as f:
        json.dump({"config": {}, "rank_id": 0}, f)
    if info:
        device = os.path.join(folder, "PROF_000001_20240101000000000_AAAA", "device_0")
        os.makedirs(device)
        with open(os.path.join(device, "info.json.0"), "w", encoding="utf-8") as f:
            json.dump({"DeviceInfo": [{"id": 0, "ai_core_num": 20, "aiv_num": 40, "aic_frequency": "1650"}]}, f)
    s = Strings()
    db = sqlite3.connect(os.path.join(output, "ascend_pytorch_profiler_0.db"))
    db.executescript("""
        CREATE TABLE STRING_IDS(id INTEGER PRIMARY KEY, value TEXT);
        CREATE TABLE RANK_DEVICE_MAP(rankId INTEGER, deviceId INTEGER);
        CREATE TABLE ENUM_API_TYPE(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE ENUM_MSTX_EVENT_TYPE(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE CONNECTION_IDS(id INTEGER, connectionId INTEGER);
        CREATE TABLE PYTORCH_API(startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber
            INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER);
        CREATE TABLE TASK(startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, globalPid
            INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER);
        CREATE TABLE COMPUTE_TASK_INFO(name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockDim INTEGER, mixBlockDim INTEGER,
            taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER,
            outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER);
        INSERT INTO RANK_DEVICE_MAP VALUES (0, 0);
        INSERT INTO ENUM_API_TYPE VALUES (50001, 'op');
        INSERT INTO ENUM_MSTX_EVENT_TYPE VALUES (2, 'start/end');
        INSERT INTO CONNECTION_IDS VALUES (1, 71), (1, 72), (2, 73);""")
    for name, start, end, connection, types, shapes in (
            ("aten::mm", 110, 190, 1, "c10::BFloat16;\r\nc10::BFloat16", "128,64;\r\n64,256"),
            ("aten::_convolution", 300, 390, 2, "float;\r\nfloat;\r\nfloat", "32,3,224,224;\r\n64,3,11,11;\r\n64")):
        if swapped:
            types, shapes = shapes, types
        db.execute("INSERT INTO PYTORCH_API VALUES (?,?,?,?,?,-1,0,?,?,NULL,50001)",
                   (str(T0 + start), str(T0 + end), (7 << 32) + 9, connection, s(name), s(types), s(shapes)))
    for task, (name, op, start, dur, connection, formats, types, shapes, out_formats, out) in enumerate((
            ("TransData_1", "TransData", 1000, 1000, 71, "ND", "DT_BF16", '"64,256"', "ND", '"64,256"'),
            ("MatMulV3_1", "MatMulV3", 2000, 3000, 72, "ND;ND", "DT_BF16;DT_BF16", '"128,64;64,256"', "ND", '"128,256"'),
            ("Conv2D1", "Conv2D", 6000, 400000, 73, "NC1HWC0;FRACTAL_Z;NCHW", "FLOAT;FLOAT;FLOAT",
             '"32,1,224,224,8;121,4,16,8;64"', "NC1HWC0", '"32,8,55,55,8"')), 1):
        db.execute("INSERT INTO TASK VALUES (?,?,0,?,?,7,?,0,2,?,4294967295)",
                   (T0 + start, T0 + start + dur, connection, task, s("KERNEL_AICORE"), task))
        db.execute("INSERT INTO COMPUTE_TASK_INFO VALUES (?,?,20,0,?,?,?,?,?,?,?,?,NULL)",
                   (s(name), task, s("AI_CORE"), s(op), s(formats), s(types), s(shapes), s(out_formats), s(types), s(out)))
    if ranges:
        db.execute("""CREATE TABLE MSTX_EVENTS(startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER,
            message INTEGER, globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER)""")
        records = [("default", "epoch 1", 50, 60)]
        if flops:
            records += [("mfu_flops", "4194304-mm", 100, 200), ("mfu_flops", "none-mm", 210, 220)]
        for domain, message, start, end in records:
            db.execute("INSERT INTO MSTX_EVENTS VALUES (?,?,2,1,4294967295,?,?,?,?,4294967295)",
                       (T0 + start, T0 + end, s(message), (7 << 32) + 9, (7 << 32) + 9, s(domain)))
    db.executemany("INSERT INTO STRING_IDS VALUES (?,?)", [(i, t) for t, i in s.ids.items()])
    db.commit()
    db.close()


def made(place, name, **how):
    folder = os.path.join(place, name + "_ascend_pt")
    make(folder, **how)
    return opened(folder)


def codes(db):
    return {code for code, in db.execute("SELECT code FROM prof_diagnostic")}


def message(db, code):
    return db.execute("SELECT message FROM prof_diagnostic WHERE code = ?", (code,)).fetchone()[0]


with tempfile.TemporaryDirectory() as temporary:
    run = made(temporary, "recorded")
    check("nobody asked", codes(run) & {"no_flops_records", "flops_record_ignored"}, set())
    peak = 20 * 1650e6 * 8192
    check("peak", run.execute("SELECT chip_peak('BF16') = ?, chip_peak('INT32') IS NULL", (peak,)).fetchone(), (1, 1))
    rows = run.execute("SELECT kernel_name, flops, round(mfu, 9), round(chip_peak_tflops, 3) FROM operator_mfu").fetchall()
    check("operator_mfu", rows, [("TransData_1", 4194304, round(4194304 / 1e-6 / peak, 9), 270.336),
                                 ("MatMulV3_1", 4194304, round(4194304 / 3e-6 / peak, 9), 270.336)])
    check("mfu_record", run.execute("SELECT kernels, busy_ns, round(mfu, 9) FROM mfu_record").fetchall(),
          [(2, 4000, round(4194304 / 4e-6 / peak, 9))])
    check("diagnostics", codes(run) & {"no_flops_records", "flops_record_ignored"}, {"flops_record_ignored"})
    estimate = run.execute("SELECT kernel_name, flops, shapes_from, is_recorded FROM kernel_mfu_estimate").fetchall()
    convolution = 2 * 32 * 55 * 55 * 64 * 3 * 11 * 11
    check("estimates", estimate, [("MatMulV3_1", 4194304, "kernel", 1), ("Conv2D1", convolution, "kernel and operator", 0)])

    run = made(temporary, "swapped", swapped=True)
    check("swapped columns", run.execute("SELECT input_shapes, input_types FROM prof_host_op WHERE name = 'aten::mm'").fetchall(),
          [("128,64;\r\n64,256", "c10::BFloat16;\r\nc10::BFloat16")])
    check("swapped columns are told", "swapped_columns" in codes(run), True)
    check("estimates again", run.execute("SELECT kernel_name, flops, shapes_from, is_recorded FROM kernel_mfu_estimate").fetchall(),
          estimate)

    run = made(temporary, "no_ranges", ranges=False, info=False)
    check("no ranges: rows", run.execute("SELECT count(*) FROM operator_mfu").fetchone(), (0,))
    check("no ranges: codes", codes(run) & {"no_flops_records", "chip_not_known"}, {"no_flops_records", "chip_not_known"})
    for switch in ("with_flops=True", "mstx=True", "msprof_tx=True", "export_type"):
        check(f"no ranges: {switch} is named", switch in message(run, "no_flops_records"), True)

    run = made(temporary, "no_flops", flops=False)
    check("no records: rows", run.execute("SELECT count(*) FROM operator_mfu").fetchone(), (0,))
    for switch in ("with_flops=True", "mstx_domain_include"):
        check(f"no records: {switch} is named", switch in message(run, "no_flops_records"), True)

finish()
