"""Profiler databases: ascend_pytorch_profiler*.db, ascend_mindspore_profiler*.db (formats.md 4, compare.md 6)."""
import bisect
import fractions
import glob
import json
import os
import sqlite3
import statistics

import model as m

PMU = {"mac_time": "mac_time_ns", "aiv_vec_time": "aiv_vec_time_ns", "aic_total_time": "aicore_time_ns",
       "aic_mac_time": "aic_mac_time_ns", "aic_mte2_time": "aic_mte2_time_ns", "aiv_total_time": "aiv_time_ns",
       "aiv_time": "aiv_time_ns"}
API_LAYER = {"acl": "AscendCL@", "model": "Model@", "node": "Node@", "communication": "Communication@",
             "hccl": "Communication@", "runtime": "Runtime@"}
FRAMEWORK_LINK = 5 << 28             # framework links are numbered from here on
CANN_STRINGS = 1 << 28               # and strings of CANN below this
LANES = {0: "Computing", 1: "Communication", 2: "Communication(Not Overlapped)", 3: "Free"}
NO_PLANE = 4294967295
HOST_MARKS = (None, 4000000000, 4294967295)


def known(text):
    return None if text in (None, "", "N/A", "INVALID_TYPE") else text


def connection(row):
    """-1, 0 and 2^32 - 1 are none."""
    return None if row["connectionId"] in (None, -1, 0, 4294967295) else row["connectionId"]


class Database:
    def __init__(self, model, path):
        self.model = model
        self.folder = os.path.dirname(path)
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.row_factory = sqlite3.Row
        self.tables = {r[0] for r in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        self.strings = dict(self.db.execute("SELECT id, value FROM STRING_IDS")) if "STRING_IDS" in self.tables else {}

    def rows(self, table):
        """Rows as dicts, with their rowid."""
        if table not in self.tables:
            return []
        return [dict(r) for r in self.db.execute(f"SELECT rowid AS _row, * FROM {table} ORDER BY rowid")]

    def text(self, ident):
        return self.strings.get(ident)

    def enum(self, table):
        return {r["id"]: r["name"] for r in self.rows(table)}

    def read(self):
        for r in self.rows("STEP_TIME"):
            self.model.add("prof_step", step=r["id"], start_ns=int(r["startNs"]), end_ns=int(r["endNs"]), source_row=r["_row"])
        self._groups()
        self._device()
        self._communication()
        self._host()
        self._memory()
        self._ranges()
        self._devices()
        # A viewer writes a table of this name, but not its enumeration.
        enum = self.enum("ENUM_OVERLAP_ANALYSIS_TYPE") or self.enum("ENUM_OVERLAY_ANALYSIS_TYPE")
        for r in self.rows("OVERLAP_ANALYSIS"):
            if enum and r["type"] in LANES:
                self.model.add("prof_overlap_bar", device_id=r["deviceId"], name=LANES[r["type"]], source_row=r["_row"],
                               **m.span(r["startNs"], r["endNs"] - r["startNs"]))
        self._api_statistics()
        self.db.close()
        return enum

    def _api_statistics(self):
        levels, calls = self.enum("ENUM_API_TYPE"), {}
        for r in self.rows("CANN_API"):
            calls.setdefault((r["type"], r["name"]), []).append(r["endNs"] - r["startNs"])
        for (level, name), durations in calls.items():
            us = [d / 1000 for d in durations]
            self.model.add("prof_api_stat", level=levels.get(level).replace("hccl", "communication"),
                           name=self.text(name), count=len(us), total_ns=sum(durations),
                           avg_ns=round(fractions.Fraction(sum(durations), len(us))), min_ns=min(durations),
                           max_ns=max(durations), variance=statistics.pvariance(us))

    def _ranges(self):
        kinds = self.enum("ENUM_MSTX_EVENT_TYPE")
        for row, r in enumerate(self.rows("MSTX_EVENTS"), 1):
            self.model.add("prof_mstx_range", thread_id=r["globalTid"] & 0xffffffff, domain=self.text(r["domainId"]),
                           event_type=kinds.get(r["eventType"]), message=self.text(r["message"]), start_ns=r["startNs"],
                           end_ns=r["endNs"], source_row=row,
                           connection_id=r["connectionId"] if r["connectionId"] not in HOST_MARKS else None)

    def _devices(self):
        mapped = [r["deviceId"] for r in self.rows("RANK_DEVICE_MAP") if r["deviceId"] != -1]
        found = {r["id"]: {"chip": known(r["name"]), "source_row": r["_row"]} for r in self.rows("NPU_INFO")}
        for device in mapped:
            found.setdefault(device, {})
        for path in sorted(glob.glob(os.path.join(self.folder, "..", "PROF_*", "device_*", "info.json.*"))):
            for d in m.load_json(path)["DeviceInfo"]:
                found.setdefault(d["id"], {}).update(ai_core_num=d["ai_core_num"], vector_core_num=d.get("aiv_num"),
                                                     aic_frequency_mhz=float(d["aic_frequency"]))
        for device, about in found.items():
            if not mapped or device in mapped:
                self.model.add("prof_device", device_id=device, **about)

    def _groups(self):
        meta = {r["name"]: r["value"] for r in self.rows("META_DATA")}
        self.groups = m.process_groups(self.model, json.loads(meta.get("parallel_group_info", "{}")))

    def _device(self):
        model = self.model
        info = {r["globalTaskId"]: r for r in self.rows("COMPUTE_TASK_INFO")}
        comm = {r["globalTaskId"] for r in self.rows("COMMUNICATION_TASK_INFO")}
        schedule = {r["globalTaskId"]: self.text(r["name"]) for r in self.rows("COMMUNICATION_SCHEDULE_TASK_INFO")}
        sizes = {r["globalTaskId"]: r["size"] for r in self.rows("MEMCPY_INFO")}
        pmu = {}
        for r in self.rows("TASK_PMU_INFO"):
            pmu.setdefault(r["globalTaskId"], {})[self.text(r["name"])] = r["value"]
        self.task_of, self.launched, self.kernel_of = {}, {}, {}
        for row, r in enumerate(self.rows("TASK"), 1):
            time = m.span(r["startNs"], r["endNs"] - r["startNs"])
            conn = connection(r)
            where = {"device_id": r["deviceId"], "stream_id": r["streamId"], "connection_id": conn,
                     "task_id": r["taskId"], "source_row": row}
            task_type, kernel, about = self.text(r["taskType"]), None, info.get(r["globalTaskId"])
            if about:
                kernel = self._kernel(about, task_type, pmu.get(r["globalTaskId"], {}), where, time)
            task = model.add("prof_device_task", task_type=task_type, kernel_id=kernel["id"] if kernel else None,
                             name=kernel["name"] if kernel else schedule.get(r["globalTaskId"], task_type),
                             is_schedule=int(r["globalTaskId"] in schedule), size_bytes=sizes.get(r["globalTaskId"]), **where, **time)
            self.task_of[r["globalTaskId"]] = task
            if conn is not None and r["globalTaskId"] not in comm:
                self.launched.setdefault(conn, []).append(("task", task))
        for table in ("prof_kernel", "prof_device_task"):
            m.fill_steps(model, model.rows[table])
        for r in self.rows("TASK_PMU_INFO"):
            name = self.text(r["name"])
            model.add("prof_kernel_pmu", kernel_id=self.kernel_of[r["globalTaskId"]], metric=name,
                      value=r["value"] / 1024**3 if "_bw" in name else float(r["value"]), source_row=r["_row"])

    def _kernel(self, about, task_type, counters, where, time):
        block = "blockNum" if "blockNum" in about else "blockDim"
        mix = "mixBlockNum" if "mixBlockNum" in about else "mixBlockDim"
        columns = {ours: self.text(about.get(theirs)) for ours, theirs in (
            ("input_shapes", "inputShapes"), ("input_types", "inputDataTypes"), ("input_formats", "inputFormats"),
            ("output_shapes", "outputShapes"), ("output_types", "outputDataTypes"), ("output_formats", "outputFormats"))}
        for c, text in columns.items():
            scalar = c.endswith("shapes") and text == '""'
            columns[c] = "" if scalar else text.replace('"', "") if known(text) else None
        for theirs, ours in PMU.items():
            if counters.get(theirs) is not None:
                columns[ours] = round(counters[theirs])
        self.kernel_of[about["globalTaskId"]] = len(self.model.rows["prof_kernel"]) + 1
        return self.model.add(
            "prof_kernel", name=self.text(about["name"]), op_type=known(self.text(about["opType"])),
            core_type=known(self.text(about["taskType"])), task_type=task_type, block_num=about.get(block),
            mix_block_num=about.get(mix), is_communication=0, has_pmu=int(bool(counters)), **columns, **where, **time)

    def _communication(self):
        model, order, op_of = self.model, {}, {}
        for r in self.rows("COMMUNICATION_OP"):
            group = known(self.text(r["groupName"]))
            conn = connection(r)
            of_tasks = [t["device_id"] for t in self.task_of.values() if t["connection_id"] == conn and conn is not None]
            op = model.add("prof_comm_op", device_id=r["deviceId"] if "deviceId" in r else next(iter(of_tasks), None), name=self.text(r["opName"]),
                           op_type=known(self.text(r["opType"])) or m.op_type_of(self.text(r["opName"])), group_name=group, process_group=self.groups.get(group),
                           group_index=order.setdefault(group, len(order) + 1), connection_id=conn,
                           source_row=r["_row"], **m.span(r["startNs"], r["endNs"] - r["startNs"]))
            op_of[r["opId"]] = op
            if conn is not None:
                self.launched.setdefault(conn, []).append(("comm", op))
        planes, transport = {}, self.enum("ENUM_HCCL_TRANSPORT_TYPE")
        link = self.enum("ENUM_HCCL_LINK_TYPE")
        info = {r["globalTaskId"]: r for r in self.rows("COMMUNICATION_TASK_INFO")}
        for gid, task in self.task_of.items():                   # in the order of TASK
            r = info.get(gid)
            if r is None:
                continue
            op, group = op_of.get(r["opId"]), known(self.text(r["groupName"]))
            if r["planeId"] != NO_PLANE:
                planes.setdefault(group, set()).add(r["planeId"])
            model.add("prof_comm_task", comm_op_id=op["id"] if op else None, name=known(self.text(r["taskType"])),
                      group_name=group, group_index=order.get(group), size_bytes=r["size"] if r["size"] >= 0 else None,
                      plane_id=r["planeId"] if r["planeId"] != NO_PLANE else None,
                      transport=known(transport.get(r["transportType"])), link_type=known(link.get(r["linkType"])),
                      src_rank=r["srcRank"] if r["srcRank"] != NO_PLANE else None,
                      dst_rank=r["dstRank"] if r["dstRank"] != NO_PLANE else None, source_row=task["source_row"],
                      **m.span(task["start_ns"], task["dur_ns"]))
        for op in model.rows["prof_comm_op"]:
            op["plane_count"] = len(planes[op["group_name"]]) if op["group_name"] in planes else None
        for table in ("prof_comm_op", "prof_comm_task"):
            m.fill_steps(model, model.rows[table])

    def _inputs_are_swapped(self):
        """Schema 1.0.0 writes shapes and types into each other's column; shapes hold no letters."""
        for r in self.rows("PYTORCH_API"):
            letters = [any(c.isalpha() for c in self.text(r[column]) or "") for column in ("inputShapes", "inputDtypes")]
            if any(letters):
                return letters == [True, False] and self.text(r["inputShapes"]) != "N/A"
        return False

    def _host(self):
        """One operator per row of PYTORCH_API, whatever its number of connections."""
        model = self.model
        api_type = self.enum("ENUM_API_TYPE")
        links, link_row = {}, {}
        for r in self.rows("CONNECTION_IDS"):
            links.setdefault(r["id"], []).append(r["connectionId"])
            link_row[r["id"], r["connectionId"]] = r["_row"]
        stacks = {}
        for r in sorted(self.rows("PYTORCH_CALLCHAINS"), key=lambda x: (x["id"], x["stackDepth"])):
            stacks.setdefault(r["id"], []).append(self.text(r["stack"]))
        ops, sharers, swapped = [], {}, self._inputs_are_swapped()
        for row, r in enumerate(self.rows("PYTORCH_API"), 1):
            kind = api_type.get(r["type"])
            start, end, pid, tid = int(r["startNs"]), int(r["endNs"]), r["globalTid"] >> 32, r["globalTid"] & 0xffffffff
            name, ids = self.text(r["name"]), links.get(r["connectionId"], [])
            for conn in ids if kind == "op" else ():
                sharers.setdefault(conn, []).append((start, pid, link_row[r["connectionId"], conn]))
            if kind == "trace":
                model.add("prof_python_call", thread_id=tid, name=name, start_ns=start, end_ns=end, source_row=row,
                          is_module=int(name.lower().startswith("nn.module:")))
                continue
            cann = [c for c in ids if c in self.launched]
            correlation = ids[0] - FRAMEWORK_LINK if ids and ids[0] >= FRAMEWORK_LINK else ids[0] if ids else None
            op = model.add("prof_host_op", process_id=pid, thread_id=tid, name=name, source_row=row,
                           kind={"op": "op", "queue": "queue"}.get(kind, "annotation"),
                           input_shapes=self.text(r["inputDtypes" if swapped else "inputShapes"]),
                           input_types=self.text(r["inputShapes" if swapped else "inputDtypes"]),
                           call_stack=";\r\n".join(stacks[r["callchainId"]]) if r["callchainId"] in stacks else None,
                           connection_id=correlation if kind == "queue" else min(cann, default=None),
                           sequence_number=r["sequenceNumber"] if r["sequenceNumber"] != -1 else None,
                           fwd_thread_id=r["fwdThreadId"] or None, **m.span(start, end - start))
            if kind == "op":
                ops.append((op, cann))
        for r in self.rows("CANN_API"):
            model.add("prof_host_op", process_id=r["globalTid"] >> 32, thread_id=r["globalTid"] & 0xffffffff,
                      name=API_LAYER[api_type[r["type"]]] + self.text(r["name"]), kind="api",
                      connection_id=r["connectionId"], source_row=r["_row"],
                      **m.span(r["startNs"], r["endNs"] - r["startNs"]))
        self.tree = m.OperatorTree([op for op, _ in ops])
        m.fill_steps(model, model.rows["prof_host_op"])
        m.fill_thread_tree(model.rows["prof_host_op"], lambda o: (o["process_id"], o["thread_id"]))
        m.fill_thread_tree(model.rows["prof_python_call"], lambda o: o["thread_id"], "parent_id", "depth")
        owner = {c: op for op, cann in ops for c in cann}        # the last operator that has the connection
        for op, cann in ops:
            for conn in cann:
                for kind, work in self.launched[conn] if owner[conn] is op else ():
                    model.add("prof_launch", host_op_id=op["id"], category="connection", launch_ns=op["start_ns"],
                              device_ns=work["start_ns"], connection_id=conn,
                              device_task_id=work["id"] if kind == "task" else None,
                              kernel_id=work["kernel_id"] if kind == "task" and not work["is_schedule"] else None,
                              comm_op_id=work["id"] if kind == "comm" else None, source_row=work["source_row"])
        for back, conn, (forth, pid, row) in sorted((max(s)[0], c, (min(s)[0], *max(s)[1:])) for c, s in sharers.items()
                                               if len(s) == 2):
            model.add("prof_fwd_bwd", forward_ns=forth, backward_ns=back, flow_id=conn, backward_process_id=pid,
                      source_row=row)

    def _memory(self):
        model = self.model
        queue = [o for o in model.rows["prof_host_op"] if o["kind"] == "queue"]
        dequeues = sorted((o for o in queue if o["name"].startswith("Dequeue")), key=lambda o: o["start_ns"])
        starts = [o["start_ns"] for o in dequeues]
        enqueued = {o["connection_id"]: o["start_ns"] for o in queue if o["name"].startswith("Enqueue")}
        for row, r in enumerate(self.rows("OP_MEMORY"), 1):
            alloc, release, name = r["allocationTime"] or None, r["releaseTime"] or None, self.text(r["name"])
            attach = alloc
            if name and r["name"] < CANN_STRINGS and r["streamPtr"] is None:
                name = "cann::" + name.removeprefix("cann::")
            if name and "cann::" in name and alloc is not None:
                at = bisect.bisect_right(starts, alloc) - 1
                event = dequeues[at] if at >= 0 and dequeues[at]["end_ns"] >= alloc else None
                attach = enqueued.get(event["connection_id"]) if event else None
            model.add("prof_memory_alloc", device_id=r["deviceId"], name=name, size_bytes=r["size"], alloc_ns=alloc,
                      release_ns=release, dur_ns=release - alloc if alloc and release else None, attach_ns=attach,
                      stream_ptr=r["streamPtr"], source_row=row)
        self.tree.attach(model.rows["prof_memory_alloc"])
        for row, r in enumerate(self.rows("MEMORY_RECORD"), 1):
            model.add("prof_memory_usage", device_id=r["deviceId"], ts_ns=r["timestamp"],
                      component=self.text(r["component"]), allocated_bytes=r["totalAllocated"],
                      reserved_bytes=r["totalReserved"], active_bytes=r["totalActive"], source_row=row)
        for r in self.rows("NPU_MEM"):
            if self.text(r["type"]) == "app":
                model.add("prof_memory_usage", device_id=r["deviceId"], ts_ns=r["timestampNs"], component="APP",
                          reserved_bytes=r["hbm"] + r["ddr"], source_row=r["_row"])


def number(value):
    return None if value is None else float(value)


class Analysis(Database):
    """analysis.db or communication_analyzer.db."""

    def read(self):
        for r in self.rows("StepTraceTime"):
            times = {c + "_ns": m.ns(r.get(c)) for c in (
                "computing", "communication_not_overlapped", "overlapped", "communication", "free", "stage", "bubble",
                "preparing")}
            times["communication_not_overlapped_exclude_receive_ns"] = m.ns(
                r.get("communication_not_overlapped_and_exclude_receive"))
            self.model.add("prof_step_time", device_id=r.get("deviceId"), source_row=r["_row"],
                           step=int(r["step"]) if r["step"] else None, **times)
        key = ("step", "type", "hccl_op_name", "group_name")
        ops, seen = {tuple(r.get(k) for k in key): r for r in self.rows("CommAnalyzerTime")}, {}
        for r in self.rows("CommAnalyzerBandwidth"):
            op = tuple(r.get(k) for k in key)
            if seen.setdefault((op, r["transport_type"]), r) is r:
                self._bandwidth(op, r, ops.get(op, {}))
        for op, r in ops.items():
            if not any(o == op for o, _ in seen):
                self._bandwidth(op, {}, r)
        self.db.close()

    def _bandwidth(self, op, band, times):
        step, kind, name, group = op
        self.model.add(
            "prof_comm_bandwidth", step=int(step[4:]) if step and step[4:].isdigit() else None, type=kind, op_name=name,
            group_name=group, transport=band.get("transport_type"), source_row=(band or times)["_row"],
            **{ours: number(band.get(theirs)) for ours, theirs in (
                ("transit_size_mb", "transit_size"), ("transit_time_ms", "transit_time"),
                ("bandwidth_gb_per_s", "bandwidth"), ("large_packet_ratio", "large_packet_ratio"))},
            **{c + "_ms": number(times.get(c)) for c in ("elapse_time", "wait_time", "synchronization_time",
                                                         "idle_time")})


def find(path):
    if os.path.isfile(path):
        return path if path.endswith(".db") else None
    folder = os.path.join(path, "ASCEND_PROFILER_OUTPUT")
    folder = folder if os.path.isdir(folder) else path
    for prefix in ("ascend_pytorch_profiler", "ascend_mindspore_profiler", "msmonitor"):
        found = sorted(glob.glob(os.path.join(folder, prefix + "*.db")))
        if found:
            return found[0]
    return None


def read(model, path):
    file = find(path)
    Database(model, file).read()
    for name in ("analysis.db", "communication_analyzer.db"):
        beside = os.path.join(os.path.dirname(file), name)
        if os.path.exists(beside):
            Analysis(model, beside).read()
    return {"framework": "MindSpore" if "mindspore" in os.path.basename(file) else "PyTorch", "time_base_ns": 0,
            "has_launches": "mindspore" not in os.path.basename(file)}
