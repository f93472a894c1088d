"""Ascend Text export: trace_view.json and its CSV companions (formats.md 2 and 3, compare.md 4 and 13.1)."""
import bisect
import csv
import glob
import os
import re

import model as m

NO_VALUE = ("", "N/A")


def cell(row, *heads):
    """The first of the heads that the row has; N/A and empty are unknown."""
    for head in heads:
        if row.get(head) is not None:
            value = row[head].strip().strip('"').strip() if head not in SHAPES else row[head].strip()
            return None if value in NO_VALUE else value
    return None


SHAPES = ("Input Shapes", "Output Shapes")


def shapes(row, head):
    """Without the quotes that the writer puts around; a scalar's "" is known and empty."""
    value = cell(row, head)
    return None if value is None else value.replace('"', "")


def integer(text):
    try:
        return int(text)
    except (TypeError, ValueError):
        return None


def file_of(folder, stem, extension):
    """stem.csv, or of stem_<time>.csv as msprof names it the newest; None: there is none."""
    plain = os.path.join(folder, stem + extension)
    stamped = [p for p in glob.glob(os.path.join(glob.escape(folder), stem + "_*" + extension))
               if re.fullmatch(r"_\d+", os.path.basename(p)[len(stem):-len(extension)])]
    return plain if os.path.exists(plain) else max(stamped, default=None)


def rows_of(folder, name):
    path = file_of(folder, name.removesuffix(".csv"), ".csv")
    if path is None:
        return []
    with open(path, encoding="utf-8-sig", errors="replace", newline="") as f:
        return list(csv.DictReader(f))


# How op_summary_*.csv of msprof calls the columns of kernel_details.csv.
OP_SUMMARY = {"Op Name": "Name", "OP Type": "Type", "Task Type": "Accelerator Core", "Task Start Time(us)": "Start Time(us)",
              "Task Duration(us)": "Duration(us)", "Task Wait Time(us)": "Wait Time(us)"}


def kernel_rows(folder):
    return rows_of(folder, "kernel_details.csv") or [
        {OP_SUMMARY.get(head, head): value for head, value in row.items()} for row in rows_of(folder, "op_summary.csv")]


def event_time(event):
    return m.span(m.ns(event.get("ts", 0)) or 0, m.ns(event.get("dur", 0)) or 0)


NO_COUNTERS = {"Step Id", "Step ID", "Device_id", "Model Name", "Model ID", "Infer ID", "Task ID", "Stream ID", "Name", "Type", "OP State",
               "Accelerator Core", "Start Time(us)", "Duration(us)", "Wait Time(us)", "Block Num", "Block Dim",
               "Mix Block Num", "Mix Block Dim", "HF32 Eligible", "Input Shapes", "Input Data Types", "Input Formats",
               "Output Shapes", "Output Data Types", "Output Formats", "Context ID"}


def kernels(model, folder, only_device):
    values = {}
    for line, row in enumerate(kernel_rows(folder), 2):
        start, dur = m.ns(cell(row, "Start Time(us)")), m.ns(cell(row, "Duration(us)"))
        if start is None or dur is None:
            continue
        core = cell(row, "Accelerator Core")
        kernel = model.add(
            "prof_kernel", device_id=integer(cell(row, "Device_id")) if "Device_id" in row else only_device, stream_id=integer(cell(row, "Stream ID")),
            task_id=integer(cell(row, "Task ID")), name=cell(row, "Name"), op_type=cell(row, "Type"), core_type=core,
            step=integer(cell(row, "Step Id", "Step ID")), wait_ns=m.ns(cell(row, "Wait Time(us)")),
            block_num=integer(cell(row, "Block Num", "Block Dim")),
            mix_block_num=integer(cell(row, "Mix Block Num", "Mix Block Dim")),
            input_shapes=shapes(row, "Input Shapes"), input_types=cell(row, "Input Data Types"),
            input_formats=cell(row, "Input Formats"), output_shapes=shapes(row, "Output Shapes"),
            output_types=cell(row, "Output Data Types"), output_formats=cell(row, "Output Formats"),
            is_communication=int(core in ("COMMUNICATION", "HCCL")), source_row=line, **m.span(start, dur))
        for column in ("mac_time", "aiv_vec_time", "aicore_time", "aic_mac_time", "aic_mte2_time", "aiv_time"):
            kernel[column + "_ns"] = m.ns(cell(row, column + "(us)"))
        counters = [c for c in row if c and c not in NO_COUNTERS]
        kernel["has_pmu"] = int(any(cell(row, c) is not None for c in counters))
        for head in counters:
            value = cell(row, head)
            if value is not None:
                name, _, unit = head.partition("(")
                values.setdefault(name.lower(), []).append((kernel["id"], line, float(value) * (1000 if unit == "us)" else 1)))
    # a kernel's counters in the order of the table of kernel_details: not ours to know, so by name
    for kernel, name, line, value in sorted((k, n, l, v) for n, found in values.items() for k, l, v in found):
        model.add("prof_kernel_pmu", kernel_id=kernel, metric=name, value=value, source_row=line)


def op_statistic(model, folder, only_device):
    for line, row in enumerate(rows_of(folder, "op_statistic.csv"), 2):
        times = {c: m.ns(cell(row, h)) for c, h in (("total_ns", "Total Time(us)"), ("min_ns", "Min Time(us)"),
                                                    ("avg_ns", "Avg Time(us)"), ("max_ns", "Max Time(us)"))}
        device = integer(cell(row, "Device_id")) if "Device_id" in row else only_device
        model.add("prof_op_stat", device_id=device, op_type=cell(row, "OP Type"),
                  core_type=cell(row, "Core Type"), count=integer(cell(row, "Count")) or 0,
                  ratio_percent=float(cell(row, "Ratio(%)") or 0), source_row=line, **times)


def api_statistic(model, folder):
    for line, row in enumerate(rows_of(folder, "api_statistic.csv"), 2):
        model.add("prof_api_stat", level=cell(row, "Level"), name=cell(row, "API Name"), count=integer(cell(row, "Count")),
                  variance=float(cell(row, "Variance")), source_row=line,
                  **{c: m.ns(cell(row, h)) for c, h in (("total_ns", "Time(us)"), ("avg_ns", "Avg(us)"),
                                                        ("min_ns", "Min(us)"), ("max_ns", "Max(us)"))})


def step_time(model, folder, only_device):
    heads = (("computing_ns", "Computing"), ("communication_not_overlapped_ns", "Communication(Not Overlapped)"),
             ("overlapped_ns", "Overlapped"), ("communication_ns", "Communication"), ("free_ns", "Free"), ("stage_ns", "Stage"),
             ("bubble_ns", "Bubble"), ("preparing_ns", "Preparing"),
             ("communication_not_overlapped_exclude_receive_ns", "Communication(Not Overlapped and Exclude Receive)"))
    for line, row in enumerate(rows_of(folder, "step_trace_time.csv"), 2):
        model.add("prof_step_time", device_id=integer(row["Device_id"]) if "Device_id" in row else only_device,
                  step=integer(cell(row, "Step")), source_row=line, **{c: m.ns(cell(row, h)) for c, h in heads})


def devices(model, path):
    """Rows of prof_device from PROF_*/device_*/info.json.N; the device, if there is a single one."""
    chips = {"0": "Ascend310", "1": "Ascend910A", "4": "Ascend310P", "5": "Ascend910B", "7": "Ascend310B", "15": "Ascend950"}
    files = [os.path.join(glob.escape(path), *above, "device_*", "info.json.*") for above in (["PROF_*"], [])]
    for file in sorted(f for pattern in files for f in glob.glob(pattern) if f.rpartition(".")[2].isdigit()):
        info = m.load_json(file)
        for place, device in enumerate(info["DeviceInfo"], 1):
            model.add("prof_device", device_id=device["id"], chip=chips.get(info.get("platform_version")),
                      ai_core_num=device.get("ai_core_num"), vector_core_num=device.get("aiv_num"),
                      aic_frequency_mhz=float(device["aic_frequency"]), source_row=place)
    found = model.rows["prof_device"]
    return found[0]["device_id"] if len(found) == 1 else None


def memory_record(model, folder):
    for line, row in enumerate(rows_of(folder, "memory_record.csv"), 2):
        sizes = {c: m.scaled(cell(row, h), 2**20) if cell(row, h) else None
                 for c, h in (("allocated_bytes", "Total Allocated(MB)"), ("reserved_bytes", "Total Reserved(MB)"),
                              ("active_bytes", "Total Active(MB)"))}
        device = cell(row, "Device Type") or ""
        model.add("prof_memory_usage", device_id=integer(device.partition(":")[2]), component=cell(row, "Component"),
                  ts_ns=m.ns(cell(row, "Timestamp(us)")), source_row=line, **sizes)


def operator_memory(model, folder, tree):
    queue = [o for o in model.rows["prof_host_op"] if o["kind"] == "queue"]
    dequeues = sorted((o for o in queue if o["name"].lower().startswith("dequeue")), key=lambda o: o["start_ns"])
    starts = [o["start_ns"] for o in dequeues]
    enqueued = {o["connection_id"]: o["start_ns"] for o in queue if o["name"].lower().startswith("enqueue")}
    for line, row in enumerate(rows_of(folder, "operator_memory.csv"), 2):
        alloc, release = m.ns(cell(row, "Allocation Time(us)")), m.ns(cell(row, "Release Time(us)"))
        alloc, release = alloc or None, release or None
        name, attach = cell(row, "Name"), alloc
        if name and "cann::" in name and alloc is not None:
            at = bisect.bisect_right(starts, alloc) - 1
            event = dequeues[at] if at >= 0 and dequeues[at]["end_ns"] >= alloc else None
            attach = enqueued.get(event["connection_id"]) if event else None
        device = cell(row, "Device Type") or ""
        model.add("prof_memory_alloc", device_id=integer(device.partition(":")[2]), name=name,
                  size_bytes=m.scaled(cell(row, "Size(KB)") or 0, 1024), alloc_ns=alloc, release_ns=release,
                  dur_ns=release - alloc if alloc and release else None, attach_ns=attach,
                  stream_ptr=integer(cell(row, "Stream Ptr")), source_row=line)
    tree.attach(model.rows["prof_memory_alloc"])


def bandwidth(model, folder):
    path = os.path.join(folder, "communication.json")
    if not os.path.exists(path):
        return
    operation = 0
    for step, kinds in m.load_json(path).items():
        number = re.search(r"\d+$", step)
        for kind, ops in kinds.items():
            for op, info in ops.items():
                operation += 1
                name, _, group = op.partition("@")
                times = info.get("Communication Time Info", {})
                for transport, band in info.get("Communication Bandwidth Info", {}).items():
                    model.add("prof_comm_bandwidth", step=int(number.group()) if number else None, type=kind,
                              op_name=name, group_name=group or None, transport=transport, source_row=operation,
                              **{c: float(v) if v is not None else None for c, v in (
                                  ("transit_size_mb", band.get("Transit Size(MB)")),
                                  ("transit_time_ms", band.get("Transit Time(ms)")),
                                  ("bandwidth_gb_per_s", band.get("Bandwidth(GB/s)")),
                                  ("large_packet_ratio", band.get("Large Packet Ratio")),
                                  ("elapse_time_ms", times.get("Elapse Time(ms)")),
                                  ("wait_time_ms", times.get("Wait Time(ms)")),
                                  ("synchronization_time_ms", times.get("Synchronization Time(ms)")),
                                  ("idle_time_ms", times.get("Idle Time(ms)")))})


class Trace:
    """The events of trace_view.json, sorted into the model tables."""

    def __init__(self, model, events, only_device):
        self.model, self.only_device = model, only_device
        self.events = [e for e in events if isinstance(e, dict)]
        self.process, self.thread, self.order, self.label = {}, {}, {}, {}
        for e in self.events:
            if e.get("ph") == "M":
                args, key = e.get("args") or {}, (e.get("pid"), e.get("tid"))
                if e.get("name") == "process_name":
                    self.process[e.get("pid")] = args.get("name")
                elif e.get("name") == "process_labels":
                    number = str(args.get("labels")).removeprefix("NPU ")
                    self.label[e.get("pid")] = int(number) if number.isdigit() else None
                elif e.get("name") == "thread_name":
                    self.thread[key] = args.get("name")
                elif e.get("name") == "thread_sort_index":
                    self.order[key] = args.get("sort_index", 0)

    def read(self, group_names):
        for position, e in enumerate(self.events):
            if e.get("ph") == "X":
                self._span(position, e)
        model = self.model
        for op in model.rows["prof_host_op"]:
            if op["kind"] == "op" and m.STEP in op["name"]:
                number = op["name"].rpartition("#")[2]
                if number.isdigit():
                    model.add("prof_step", step=int(number), start_ns=op["start_ns"], end_ns=op["end_ns"],
                              source_row=op["source_row"])
        self._communication(group_names)
        m.fill_steps(model, model.rows["prof_host_op"])
        for table in ("prof_device_task", "prof_comm_op", "prof_comm_task"):
            m.fill_steps(model, model.rows[table])
        m.fill_thread_tree(model.rows["prof_host_op"], lambda o: (o["process_id"], o["thread_id"]))
        m.fill_thread_tree(model.rows["prof_python_call"], lambda o: o["thread_id"], "parent_id", "depth")
        self.tree = m.OperatorTree([o for o in model.rows["prof_host_op"] if o["kind"] == "op" and "mindspore" not in o])
        launching = m.OperatorTree([dict(o) for o in model.rows["prof_host_op"] if o["kind"] == "op"])
        self.launcher = launching.starting_at
        self._kernels_of_tasks()
        self._flows()

    def _device(self, e):
        device = self.label.get(e.get("pid"))
        return self.only_device if device is None else device

    def _span(self, position, e):
        model, cat = self.model, str(e.get("cat") or "").lower()
        args, where = e.get("args") or {}, self.process.get(e.get("pid"))
        time, name = event_time(e), e.get("name")
        if where in ("MindSpore", "CPU OP") and cat not in ("cpu_op", "python_function"):
            model.add("prof_host_op", process_id=e.get("pid"), thread_id=number(e.get("tid")), name=name, kind="op",
                      source_row=position, **time)
            model.rows["prof_host_op"][-1]["mindspore"] = True
        elif cat == "cpu_op":
            model.add("prof_host_op", process_id=e.get("pid"), thread_id=e.get("tid"), name=name, kind="op",
                      input_shapes=args.get("Input Dims"), input_types=args.get("Input type"),
                      call_stack=args.get("Call stack"), source_row=position,
                      sequence_number=args.get("Sequence number") if args.get("Sequence number") != -1 else None,
                      fwd_thread_id=args.get("Fwd thread id") or None, **time)
        elif cat in ("enqueue", "dequeue"):
            model.add("prof_host_op", process_id=e.get("pid"), thread_id=e.get("tid"), name=name, kind="queue",
                      connection_id=args.get("correlation_id"), source_row=position, **time)
        elif cat == "python_function":
            model.add("prof_python_call", thread_id=e.get("tid"), name=name, source_row=position,
                      is_module=int(name.lower().startswith("nn.module:")), start_ns=time["start_ns"],
                      end_ns=time["end_ns"])
        elif where == "CANN":
            model.add("prof_host_op", process_id=e.get("pid"), thread_id=e.get("tid"), name=name, kind="api",
                      connection_id=connection(args), source_row=position, **time)
        elif where == "Ascend Hardware":
            stream = args.get("Stream Id", args.get("Physic Stream Id"))
            model.add("prof_device_task", device_id=self._device(e), stream_id=stream, task_id=args.get("Task Id"), name=name,
                      task_type=args.get("Task Type"), connection_id=connection(args),
                      size_bytes=args.get("size(B)", args.get("data size(Byte)")), source_row=position, **time)
            model.rows["prof_device_task"][-1]["at"] = (e.get("pid"), e.get("tid"), time["start_ns"])
        elif where == "Overlap Analysis":
            model.add("prof_overlap_bar", device_id=self._device(e), name=name, source_row=position, **time)
        elif "event_type" in args and where not in ("Communication", "HCCL"):
            model.add("prof_mstx_range", thread_id=e.get("tid"), event_type=args["event_type"], domain=args.get("domain"),
                      message=name, source_row=position, start_ns=time["start_ns"], end_ns=time["end_ns"])

    def _communication(self, group_names):
        """Threads by sort index: one whose name has Communication opens a group, the next ones are its planes."""
        model, group_of, names, planes, place = self.model, {}, {}, {}, {}
        pids = [p for p, n in self.process.items() if n in ("Communication", "HCCL")]
        threads = sorted((i, k) for k, i in self.order.items() if k[0] in pids and k in self.thread)
        index = 0
        for _, key in threads:
            if "Communication" in self.thread[key]:
                index += 1
                names[index] = self.thread[key]
                group_of[key] = (index, True)
            else:
                group_of[key] = (index or None, False)
                planes[index] = planes.get(index, 0) + 1
                place[key] = planes[index] if index else None
        for position, e in enumerate(self.events):
            if e.get("ph") != "X" or e.get("pid") not in pids:
                continue
            args, name = e.get("args") or {}, e.get("name")
            index, is_op = group_of.get((e.get("pid"), e.get("tid")), (None, False))
            group = {"name": name, "group_name": names.get(index), "group_index": index, "source_row": position}
            if is_op:
                ident = re.fullmatch(r"Group (\S+) Communication", names[index])
                op = model.add("prof_comm_op", device_id=self._device(e), op_type=m.op_type_of(name), plane_count=planes.get(index, 0),
                               process_group=group_names.get(ident.group(1)) if ident else None,
                               connection_id=connection(args), **group, **event_time(e))
                op["at"] = (e.get("pid"), e.get("tid"), op["start_ns"])
            else:
                model.add("prof_comm_task", plane_id=e.get("tid"), plane_order=place.get((e.get("pid"), e.get("tid"))), size_bytes=args.get("size(Byte)"),
                          transport=args.get("transport type"), link_type=args.get("link type"),
                          src_rank=rank_or_none(args.get("src rank")), dst_rank=rank_or_none(args.get("dst rank")),
                          **group, **event_time(e))
        m.fill_comm_parents(model)

    def _kernels_of_tasks(self):
        """A device event and a row of kernel_details.csv are the same work where start, stream and task agree."""
        exact, by_start = {}, {}
        for k in self.model.rows["prof_kernel"]:
            exact[k["start_ns"], k["stream_id"], k["task_id"]] = k
            if not k["is_communication"]:
                by_start[k["start_ns"]] = k
        for t in self.model.rows["prof_device_task"]:
            kernel = exact.get((t["start_ns"], t["stream_id"], t["task_id"])) or by_start.get(t["start_ns"])
            t["kernel_id"] = kernel["id"] if kernel else None
        self.kernel_at = by_start

    def _pairs(self, category):
        """[(id, start, end, place of the end)] in order of the id's first appearance: as many starts as ends pair in order,
        else each end belongs to the last start."""
        flows = {}
        for position, e in enumerate(self.events):
            if e.get("ph") in ("s", "f") and str(e.get("cat") or "").lower() == category:
                flows.setdefault(e.get("id"), {"s": [], "f": []})[e["ph"]].append((e, position))
        for ident, flow in flows.items():
            starts, ends = [e for e, _ in flow["s"]], flow["f"]
            if len(starts) != len(ends):
                starts = starts[-1:] * len(ends)
            yield from ((ident, s, f, position) for s, (f, position) in zip(starts, ends))

    def _flows(self):
        model = self.model
        device = {t["at"]: t for t in model.rows["prof_device_task"]}
        comm = {c["at"]: c for c in model.rows["prof_comm_op"]}

        def launches(category, launcher):
            for ident, s, f, position in self._pairs(category.lower()):
                launch, at = m.ns(s["ts"]), (f.get("pid"), f.get("tid"), m.ns(f["ts"]))
                op = launcher(launch, (s.get("pid"), s.get("tid")))
                task, collective = device.get(at), comm.get(at)
                kernel = None if collective else task["kernel_id"] if task else (self.kernel_at.get(at[2]) or {}).get("id")
                model.add("prof_launch", host_op_id=op["id"] if op else None, category=category, launch_ns=launch, device_ns=at[2],
                          device_task_id=task["id"] if task and not collective else None, kernel_id=kernel,
                          comm_op_id=collective["id"] if collective else None, connection_id=number(ident), source_row=position)

        launches("async_npu", self.launcher)
        if not model.rows["prof_launch"]:  # no framework: the calls of CANN
            calls = {((o["process_id"], o["thread_id"]), o["start_ns"]): o for o in model.rows["prof_host_op"] if o["kind"] == "api"}
            launches("HostToDevice", lambda launch, thread: calls.get((thread, launch)))
        # Of an id that is there twice the last start and end count; ends before the last have no start.
        flows, ends = {}, []
        for position, e in enumerate(self.events):
            if e.get("ph") in ("s", "f") and str(e.get("cat") or "").lower() == "fwdbwd":
                flows.setdefault(e.get("id"), {}).update({e["ph"]: e, e["ph"] + " position": position})
        for ident, flow in flows.items():
            s, f = flow.get("s"), flow.get("f")
            if f is not None:
                ends.append((flow["f position"], m.ns(s["ts"]) if s else None, f, ident))
        for position, forward, f, ident in sorted(ends, key=lambda e: e[0]):
            model.add("prof_fwd_bwd", forward_ns=forward, backward_ns=m.ns(f["ts"]), flow_id=ident, source_row=position,
                      backward_thread_id=f.get("tid"), backward_process_id=f.get("pid"))
        for table in ("prof_device_task", "prof_comm_op"):
            for row in model.rows[table]:
                row.pop("at", None)


def connection(args):
    """-1, 0 and 2^32 - 1 are none."""
    value = args.get("connection_id")
    return None if value in (None, -1, 0, 4294967295) else value


def number(value):
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?\d+", value) else value


def task_times(model, folder):
    """msprof without a time line: task_time_*.csv."""
    kernels = {(k["start_ns"], k["name"]): k["id"] for k in model.rows["prof_kernel"]}
    for line, row in enumerate(rows_of(folder, "task_time.csv"), 2):
        start, dur = m.ns(cell(row, "task_start(us)")), m.ns(cell(row, "task_time(us)"))
        name = cell(row, "kernel_name")
        model.add("prof_device_task", device_id=integer(cell(row, "Device_id")), stream_id=integer(cell(row, "stream_id")),
                  task_id=integer(cell(row, "task_id")), name=name, task_type=cell(row, "kernel_type"),
                  kernel_id=kernels.get((start, name)), source_row=line, **m.span(start, dur))


def rank_or_none(value):
    return None if value in (None, 4294967295) else value


def read(model, path):
    """path: the folder of a rank (*_ascend_pt, *_ascend_ms, PROF_*), that of its results, or a lone trace."""
    results = [os.path.join(path, name) for name in ("ASCEND_PROFILER_OUTPUT", "mindstudio_profiler_output")]
    folder = next((f for f in results if os.path.isdir(f)), path)
    lone = os.path.isfile(path)
    file = path if lone else file_of(folder, "trace_view", ".json") or file_of(folder, "msprof", ".json")
    events = m.load_json(file) if file else []
    names = {}
    for above in (path, os.path.dirname(folder)):
        about = os.path.join(above, "profiler_metadata.json")
        if not lone and os.path.exists(about) and not names:
            names = m.process_groups(model, m.load_json(about).get("parallel_group_info"))
    only_device = None
    if not lone:
        only_device = devices(model, path)
        kernels(model, folder, only_device)
        api_statistic(model, folder)
        step_time(model, folder, only_device)
        op_statistic(model, folder, only_device)
        memory_record(model, folder)
        bandwidth(model, folder)
    trace = Trace(model, events, only_device)
    trace.read(names)
    if not lone:
        operator_memory(model, folder, trace.tree)
    if file is None:
        task_times(model, folder)
    return {"framework": "MindSpore" if "MindSpore" in trace.process.values() else "PyTorch", "time_base_ns": 0}
