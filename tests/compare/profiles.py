"""Small profiles written from a few lines of Python, and a session that compares two of them.

Times are microseconds after EPOCH, as numbers or decimal text; they are written with three decimals as the
profilers do.
"""
import csv
import decimal
import json
import os
import sqlite3

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EPOCH = 1719300000000000
HOST, HARDWARE, COLLECTIVES, LANES = 100, 2, 3, 4            # processes of a text export


def us(time):
    return f"{decimal.Decimal(EPOCH) + decimal.Decimal(str(time)):.3f}"


def ns(time):
    return int((decimal.Decimal(EPOCH) + decimal.Decimal(str(time))) * 1000)


class Text:
    """An Ascend PyTorch text export."""

    HEAD = ["Step Id", "Device_id", "Task ID", "Stream ID", "Name", "Type", "Accelerator Core", "Start Time(us)",
            "Duration(us)", "Wait Time(us)", "Input Shapes", "Context ID", "aicore_time(us)", "mac_time(us)",
            "aiv_vec_time(us)", "aic_mac_time(us)", "aic_mte2_time(us)", "aiv_time(us)"]

    def __init__(self):
        self.events, self.kernels, self.blocks, self.reserved, self.stat, self.bands = [], [], [], [], [], {}
        self.groups, self.tids, self.flow, self.task_id = {}, 0, 1000, 0
        for pid, name in ((HOST, "Python"), (HARDWARE, "Ascend Hardware"), (COLLECTIVES, "Communication"),
                          (LANES, "Overlap Analysis")):
            self._meta(pid, 0, "process_name", {"name": name})

    def _meta(self, pid, tid, kind, args):
        self.events.append({"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": args})

    def _span(self, name, pid, tid, start, dur, **more):
        self.events.append({"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": us(start), "dur": dur, **more})

    def op(self, name, start, dur, thread=1, **args):
        """A framework operator; dims, types and stack fill its arguments."""
        keys = {"dims": "Input Dims", "types": "Input type", "stack": "Call stack"}
        self._span(name, HOST, thread, start, dur, cat="cpu_op", args={keys[k]: v for k, v in args.items()})

    def python(self, name, start, dur):
        self._span(name, HOST, 1, start, dur, cat="python_function", args={})

    def link(self, launch, pid, tid, start, thread=1, cat="async_npu", name="torch_to_npu"):
        self.flow += 1
        for ph, p, t, ts in (("s", HOST, thread, launch), ("f", pid, tid, start)):
            self.events.append({"ph": ph, "bp": "e", "name": name, "id": self.flow, "pid": p, "tid": t, "ts": us(ts),
                                "cat": cat})

    def fwd_bwd(self, forward, backward, forward_thread=1, backward_thread=2):
        self.flow += 1
        for ph, t, ts in (("s", forward_thread, forward), ("f", backward_thread, backward)):
            self.events.append({"ph": ph, "bp": "e", "name": "fwdbwd", "id": self.flow, "pid": HOST, "tid": t, "ts": us(ts),
                                "cat": "fwdbwd"})

    def task(self, name, start, dur, kind, stream=7, launch=None, thread=1):
        """Something on the device that is no kernel: a copy, a wait."""
        self.task_id += 1
        self._span(name, HARDWARE, stream, start, dur, args={"Task Type": kind, "Stream Id": stream, "Task Id": self.task_id})
        if launch is not None:
            self.link(launch, HARDWARE, stream, start, thread)

    def kernel(self, name, start, dur, op_type=None, core="AI_VECTOR_CORE", stream=7, launch=None, thread=1, shapes=None,
               step="", mac=None, vec=None, pmu=(), unmeasured=False):
        """A kernel; mac and vec are its pipe times, by default those of its core."""
        self.task(name, start, dur, core, stream, launch, thread)
        cube = core == "AI_CORE"
        mac = (dur / 2 if cube else 0) if mac is None else mac
        vec = (0 if cube else dur / 2) if vec is None else vec
        counters = ["N/A"] * 6 if unmeasured else [dur if cube else 0, mac, vec, *(pmu or (0, 0, 0))]
        self.kernels.append((start, [step, 0, self.task_id, stream, name, op_type or name, core, us(start) + "\t", dur, 0,
                                     "N/A" if shapes is None else f'"{shapes}"', "N/A", *counters]))

    def group(self, label, planes=1):
        """A communication group: its thread and its planes."""
        self.groups[label] = self.tids
        for i in range(planes + 1):
            self._meta(COLLECTIVES, self.tids, "thread_name", {"name": f"Plane {i - 1}" if i else f"Group {label} Communication"})
            self._meta(COLLECTIVES, self.tids, "thread_sort_index", {"sort_index": self.tids})
            self.tids += 1

    def collective(self, label, name, start, dur, launch=None, thread=1, step=""):
        self._span(name, COLLECTIVES, self.groups[label], start, dur, args={"connection_id": 1})
        if launch is not None:
            self.link(launch, COLLECTIVES, self.groups[label], start, thread)
        self.kernels.append((start, [step, 0, "N/A", "N/A", name, name.split("__")[0] + "_", "COMMUNICATION", us(start) + "\t",
                                     dur, 0, "N/A", "N/A", *["N/A"] * 6]))

    def comm_task(self, label, plane, name, start, dur):
        self._span(name, COLLECTIVES, self.groups[label] + 1 + plane, start, dur, args={"size(Byte)": 0})

    def lane(self, name, start, dur):
        self._span(name, LANES, 0, start, dur, args={})

    def block(self, name, kb, alloc, release=None):
        self.blocks.append([name, kb, us(alloc) + "\t", us(release) + "\t" if release is not None else "", "NPU:0"])

    def write(self, folder, names=None, rank=0):
        out = os.path.join(folder, "ASCEND_PROFILER_OUTPUT")
        os.makedirs(out)
        with open(os.path.join(folder, f"profiler_info_{rank}.json"), "w", encoding="utf-8") as f:
            json.dump({"config": {}, "start_info": {}, "rank_id": rank}, f)
        if names:
            with open(os.path.join(folder, "profiler_metadata.json"), "w", encoding="utf-8") as f:
                json.dump({"parallel_group_info": {k: {"group_name": v} for k, v in names.items()}}, f)
        with open(os.path.join(out, "trace_view.json"), "w", encoding="utf-8") as f:
            json.dump(self.events, f)
        self._csv(out, "kernel_details.csv", self.HEAD, [row for _, row in sorted(self.kernels, key=lambda k: decimal.Decimal(str(k[0])))])
        self._csv(out, "operator_memory.csv", ["Name", "Size(KB)", "Allocation Time(us)", "Release Time(us)", "Device Type"],
                  self.blocks)
        self._csv(out, "memory_record.csv", ["Component", "Timestamp(us)", "Total Allocated(MB)", "Total Reserved(MB)",
                                             "Device Type"], self.reserved)
        self._csv(out, "op_statistic.csv", ["Device_id", "OP Type", "Core Type", "Count", "Total Time(us)", "Min Time(us)",
                                            "Avg Time(us)", "Max Time(us)", "Ratio(%)"], self.stat)
        if self.bands:
            with open(os.path.join(out, "communication.json"), "w", encoding="utf-8") as f:
                json.dump(self.bands, f)
        return folder

    @staticmethod
    def _csv(out, name, head, rows):
        if rows:
            with open(os.path.join(out, name), "w", encoding="utf-8", newline="") as f:
                csv.writer(f).writerows([head, *rows])


class Gpu:
    """A trace of torch.profiler on a GPU."""

    def __init__(self):
        self.events, self.flow = [], 0

    def _event(self, cat, name, pid, tid, start, dur, args):
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid,
                            "ts": decimal.Decimal(str(start)), "dur": decimal.Decimal(str(dur)), "args": args})

    def op(self, name, start, dur, thread=1, cat="cpu_op", **args):
        self._event(cat, name, 1, thread, start, dur, args)

    def kernel(self, name, start, dur, stream=7, launch=None, thread=1, cat="kernel"):
        self._event(cat, name, 0, stream, start, dur, {"stream": stream, "device": 0})
        if launch is not None:
            self._flow("ac2g", (1, thread, launch), (0, stream, start))

    def fwd_bwd(self, forward, backward, forward_thread=1, backward_thread=2):
        self._flow("fwdbwd", (1, forward_thread, forward), (1, backward_thread, backward))

    def _flow(self, cat, start, end):
        self.flow += 1
        for ph, (pid, tid, ts) in (("s", start), ("f", end)):
            self.events.append({"ph": ph, "cat": cat, "name": cat, "id": self.flow, "pid": pid, "tid": tid,
                                "ts": decimal.Decimal(str(ts)), "bp": "e"})

    def memory(self, ts, size, address=1, device=0):
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1,
                            "ts": decimal.Decimal(str(ts)),
                            "args": {"Device Id": device, "Device Type": 1 if device >= 0 else 0, "Addr": address,
                                     "Bytes": size, "Total Allocated": 0, "Total Reserved": 0}})

    def write(self, path):
        with open(path, "w", encoding="utf-8") as f:
            f.write('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [')
            f.write(",\n".join(self._json(e) for e in self.events) + "]}")
        return path

    @staticmethod
    def _json(event):
        numbers = {k: v for k, v in event.items() if isinstance(v, decimal.Decimal)}
        text = json.dumps({k: v for k, v in event.items() if k not in numbers})[:-1]
        return text + "".join(f', "{k}": {v}' for k, v in numbers.items()) + "}"


class Db:
    """An ascend_pytorch_profiler database. Times in us as elsewhere; ids are the database's own."""

    TABLES = {
        "STRING_IDS": "id INTEGER PRIMARY KEY, value TEXT",
        "META_DATA": "name TEXT, value TEXT",
        "NPU_INFO": "id INTEGER, name TEXT",
        "RANK_DEVICE_MAP": "rankId INTEGER, deviceId INTEGER",
        "ENUM_API_TYPE": "id INTEGER PRIMARY KEY, name TEXT",
        "STEP_TIME": "id INTEGER, startNs INTEGER, endNs INTEGER",
        "TASK": "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, "
                "globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER",
        "COMPUTE_TASK_INFO": "name INTEGER, globalTaskId INTEGER PRIMARY KEY, blockNum INTEGER, mixBlockNum INTEGER, "
                             "taskType INTEGER, opType INTEGER, inputFormats INTEGER, inputDataTypes INTEGER, "
                             "inputShapes INTEGER, outputFormats INTEGER, outputDataTypes INTEGER, outputShapes INTEGER, "
                             "attrInfo INTEGER, opState INTEGER, hf32Eligible INTEGER",
        "COMMUNICATION_OP": "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, "
                            "opId INTEGER PRIMARY KEY, relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, "
                            "count NUMERIC, opType INTEGER, deviceId INTEGER",
        "COMMUNICATION_TASK_INFO": "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, "
                                   "groupName INTEGER, notifyId INTEGER, rdmaType INTEGER, srcRank INTEGER, "
                                   "dstRank INTEGER, transportType INTEGER, size INTEGER, dataType INTEGER, "
                                   "linkType INTEGER, opId INTEGER",
        "PYTORCH_API": "startNs TEXT, endNs TEXT, globalTid INTEGER, connectionId INTEGER, name INTEGER, "
                       "sequenceNumber INTEGER, fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, "
                       "callchainId INTEGER, type INTEGER",
        "CONNECTION_IDS": "id INTEGER, connectionId INTEGER",
        "TASK_PMU_INFO": "globalTaskId INTEGER, name INTEGER, value NUMERIC",
        "ENUM_MSTX_EVENT_TYPE": "id INTEGER PRIMARY KEY, name TEXT",
        "MSTX_EVENTS": "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, message INTEGER, "
                       "globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER",
        "OP_MEMORY": "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, activeReleaseTime INTEGER, "
                     "duration INTEGER, activeDuration INTEGER, streamPtr INTEGER, deviceId INTEGER",
    }
    API = {"op": 50001, "queue": 50002, "trace": 50003}

    def __init__(self):
        self.rows = {table: [] for table in self.TABLES}
        self.strings, self.gid, self.conn = {}, 0, 0
        self.rows["ENUM_API_TYPE"] = [(ident, name) for name, ident in self.API.items()]
        self.rows["META_DATA"] = [("SCHEMA_VERSION", "1.2.0")]
        self.rows["RANK_DEVICE_MAP"] = [(0, 0)]

    def text(self, value):
        return None if value is None else self.strings.setdefault(value, len(self.strings) + 1)

    def api(self, name, start, dur, connections=(), kind="op", thread=1, dims=None):
        ident = None
        if connections:
            self.conn += 1
            ident = self.conn
            self.rows["CONNECTION_IDS"] += [(ident, c) for c in connections]
        self.rows["PYTORCH_API"].append((str(ns(start)), str(ns(start) + round(dur * 1000)), (9 << 32) + thread, ident,
                                         self.text(name), None, None, None, self.text(dims), None, self.API[kind]))

    def task(self, start, dur, task_type, connection=-1, stream=7):
        self.gid += 1
        self.rows["TASK"].append((ns(start), ns(start) + round(dur * 1000), 0, connection, self.gid, 9, self.text(task_type),
                                  4294967295, stream, self.gid, 4294967295))
        return self.gid

    def kernel(self, name, start, dur, op_type=None, core="AI_VECTOR_CORE", rts="KERNEL_AIVEC", connection=-1, shapes=None,
               stream=7, types=None, outputs=None, pipes=None):
        na = self.text("N/A")
        gid = self.task(start, dur, rts, connection, stream)
        quoted = [na if s is None else self.text(f'"{s}"') for s in (shapes, outputs)]
        self.rows["COMPUTE_TASK_INFO"].append((self.text(name), gid, 1, 0, self.text(core), self.text(op_type or name), na,
                                               na if types is None else self.text(types), quoted[0], na, na, quoted[1], na, na, na))
        self.rows["TASK_PMU_INFO"] += [(gid, self.text(pipe), value) for pipe, value in (pipes or {}).items()]

    def collective(self, name, op_type, start, dur, group, connection=-1):
        op = len(self.rows["COMMUNICATION_OP"]) + 1
        self.rows["COMMUNICATION_OP"].append((self.text(name), ns(start), ns(start) + round(dur * 1000), connection,
                                              self.text(group), op, 0, 0, 0, self.text("N/A"), 1, self.text(op_type), 0))
        return op

    def comm_task(self, op, name, start, dur, group, plane=0):
        gid = self.task(start, dur, "NOTIFY_WAIT_SQE", stream=50 + plane)
        self.rows["COMMUNICATION_TASK_INFO"].append((self.text("c"), gid, self.text(name), plane, self.text(group), -1, 65534,
                                                     0, 1, 65534, 0, 65534, 65534, op))

    def block(self, name, size, alloc, release=None):
        self.rows["OP_MEMORY"].append((self.text(name), size, ns(alloc), ns(release) if release is not None else None, None,
                                       None, None, 1, 0))

    def range(self, domain, message, start, dur, thread=1):
        """A range of mstx on the host."""
        self.rows["ENUM_MSTX_EVENT_TYPE"] = [(2, "start/end")]
        tid = (9 << 32) + thread
        self.rows["MSTX_EVENTS"].append((ns(start), ns(start) + round(dur * 1000), 2, 4294967295, 4294967295, self.text(message),
                                         tid, tid, self.text(domain), 4294967295))

    def write(self, folder, groups=None, rank=0):
        out = os.path.join(folder, "ASCEND_PROFILER_OUTPUT")
        os.makedirs(out)
        if rank > 0:
            with open(os.path.join(folder, f"profiler_info_{rank}.json"), "w", encoding="utf-8") as f:
                json.dump({"config": {}, "start_info": {}, "rank_id": rank}, f)
        if groups:
            self.rows["META_DATA"].append(("parallel_group_info", json.dumps({k: {"group_name": v} for k, v in groups.items()})))
        with sqlite3.connect(os.path.join(out, f"ascend_pytorch_profiler_{rank}.db")) as db:
            for table, columns in self.TABLES.items():
                rows = [(i, v) for v, i in self.strings.items()] if table == "STRING_IDS" else self.rows[table]
                if rows:
                    db.execute(f"CREATE TABLE {table}({columns})")
                    db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * (columns.count(',') + 1))})", rows)
        db.close()
        return folder


class Session:
    """A connection that holds base against comparison."""

    def __init__(self, library, base=None, comparison=None, settings=None, base_options=None, comparison_options=None):
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(os.path.abspath(library).removesuffix(".so"))
        for alias, path, options in (("base", base, base_options), ("comparison", comparison, comparison_options)):
            if path:
                self.db.execute("SELECT profana_open(?, ?, ?)", (alias, path, json.dumps(options or {}))).fetchall()
        for name, value in (settings or {}).items():
            self.db.execute("SELECT profana_set(?, ?)",
                            (name, json.dumps(value) if isinstance(value, dict) else value)).fetchall()

    def rows(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def value(self, sql, *values):
        return self.db.execute(sql, values).fetchone()[0]

    def sheet(self, name):
        """Head and rows of a report."""
        with open(os.path.join(ROOT, "sql", "reports", "compare", name + ".sql"), encoding="utf-8") as f:
            cursor = self.db.execute(f.read())
        return [tuple(c[0] for c in cursor.description), *cursor.fetchall()]


class Checks:
    """Collects what is not as it should be."""

    def __init__(self):
        self.count, self.wrong = 0, []

    def equal(self, what, found, expected):
        self.count += 1
        if found != expected:
            self.wrong.append(f"{what}: {found!r}, expected {expected!r}")

    def close(self, what, found, expected):
        self.count += 1
        if found is None or abs(found - expected) > 1e-9 * max(1, abs(expected)):
            self.wrong.append(f"{what}: {found!r}, expected {expected!r}")

    def run(self, test, *arguments):
        """One test; its name stands before what it finds wrong."""
        before = len(self.wrong)
        test(*arguments)
        self.wrong[before:] = [f"{test.__name__}: {line}" for line in self.wrong[before:]]

    def report(self):
        for line in self.wrong[:40]:
            print(line)
        print(f"{self.count} checks, {len(self.wrong)} wrong")
        return 1 if self.wrong or not self.count else 0
