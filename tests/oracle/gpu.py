"""torch.profiler's chrome trace of a GPU run (formats.md 3.7, compare.md 5)."""
import gzip
import json

import model as m

OP_KIND = {"cpu_op": "op", "operator": "op", "user_annotation": "annotation", "cuda_runtime": "runtime",
           "runtime": "runtime", "cuda_driver": "driver"}
WORK = {"kernel": "kernel", "gpu_memcpy": "gpu_memcpy", "memcpy": "gpu_memcpy", "gpu_memset": "gpu_memset", "memset": "gpu_memset"}
OTHER_ROWS = ("gpu_user_annotation", "cuda_sync", "cuda_event", "xpu_sync")  # of the device, but no work
COMPONENTS = {0: "CPU", 1: "CUDA", 6: "HIP", 12: "XPU"}
FLOW_CATS = ("async_gpu", "async_cpu_to_gpu", "ac2g", "async")


def compact(value):
    return None if value is None else json.dumps(value, separators=(",", ":"), ensure_ascii=False, default=float)


def integer(value):
    return value if isinstance(value, int) else int(value) if str(value).lstrip("-").isdigit() else None


class Trace:
    def __init__(self, model, top, flow_cat=""):
        self.model = model
        self.events = [e for e in top["traceEvents"] if isinstance(e, dict)]
        self.base = int(top.get("baseTimeNanoseconds", 0))
        for place, d in enumerate(top.get("deviceProperties") or [], 1):
            model.add("prof_device", device_id=d.get("id"), chip=d.get("name"), ai_core_num=d.get("numSms"),
                      memory_bytes=d.get("totalGlobalMem"), source_row=place)
        self.flow_cats = (flow_cat.lower(),) if flow_cat else FLOW_CATS

    def time(self, e):
        return m.span(self.base + (m.ns(e.get("ts", 0)) or 0), m.ns(e.get("dur", 0)) or 0)

    def read(self):
        model, device = self.model, {}
        drivers = []
        for position, e in enumerate(self.events):
            if e.get("ph") != "X":
                continue
            cat, args = str(e.get("cat") or "").lower(), e.get("args") or {}
            name, time = e.get("name"), self.time(e)
            if cat in OP_KIND:
                sequence = args.get("Sequence number", -1)
                op = model.add("prof_host_op", sequence_number=sequence if sequence >= 0 else None,
                               fwd_thread_id=args.get("Fwd thread id") or None, process_id=e.get("pid"), thread_id=e.get("tid"), name=name,
                               kind=OP_KIND[cat], input_shapes=compact(args.get("Input Dims")),
                               input_types=compact(args.get("Input type")),
                               concrete_inputs=compact(args.get("Concrete Inputs")), call_stack=args.get("Call stack"),
                               connection_id=integer(args.get("correlation")) or None, source_row=position,
                               external_id=integer(args.get("External id", args.get("external id"))) or None, **time)
                if op["kind"] == "driver":
                    drivers.append(op)
                elif m.STEP in name and name.rpartition("#")[2].isdigit():
                    model.add("prof_step", step=int(name.rpartition("#")[2]), start_ns=time["start_ns"],
                              end_ns=time["end_ns"], source_row=position)
            elif cat == "python_function":
                model.add("prof_python_call", thread_id=e.get("tid"), name=name, start_ns=time["start_ns"],
                          end_ns=time["end_ns"], is_module=int(name.lower().startswith("nn.module:")),
                          source_row=position)
            elif cat in WORK or cat in OTHER_ROWS:
                where = {"device_id": integer(args.get("device", e.get("pid"))), "stream_id": integer(args.get("stream", e.get("tid"))),
                         "connection_id": integer(args.get("correlation")) or None, "name": name,
                         "task_type": WORK.get(cat, cat), "source_row": position}
                task = model.add("prof_device_task", size_bytes=integer(args.get("bytes")), **where, **time)
                task["external"] = integer(args.get("External id", args.get("external id"))) or None
                device[e.get("pid"), e.get("tid"), time["start_ns"]] = task
                if cat == "kernel":
                    nccl = name.lower().startswith("nccl")
                    task["kernel_id"] = model.add("prof_kernel", is_communication=int(nccl), has_pmu=0,
                                                    graph_id=integer(args.get("graph id")) or None,
                                                    graph_node_id=integer(args.get("graph node id")) or None, **where, **time)["id"]
                    if nccl:
                        task["comm_op"] = model.add(
                            "prof_comm_op", name=name, device_id=where["device_id"], stream_id=where["stream_id"],
                            connection_id=where["connection_id"], kernel_id=task["kernel_id"], source_row=position,
                            **time)["id"]
        ops = [o for o in model.rows["prof_host_op"] if o["kind"] != "driver"]
        self.tree = m.OperatorTree(ops)
        for table in ("prof_host_op", "prof_kernel", "prof_device_task", "prof_comm_op"):
            m.fill_steps(model, model.rows[table])
        m.fill_thread_tree(model.rows["prof_host_op"], lambda o: (o["process_id"], o["thread_id"]))
        m.fill_thread_tree(model.rows["prof_python_call"], lambda o: o["thread_id"], "parent_id", "depth")
        self._flows(device, {(d["process_id"], d["thread_id"], d["start_ns"]): d for d in drivers})
        self._memory()
        for task in model.rows["prof_device_task"]:
            task.pop("comm_op", None)
            task.pop("external", None)

    def _operator_around(self, driver):
        """The innermost operator of the driver call's thread that contains it."""
        around = [o for o in self.tree.ops if o["thread_id"] == driver["thread_id"]
                  and o["process_id"] == driver["process_id"]
                  and o["start_ns"] <= driver["start_ns"] and o["end_ns"] >= driver["end_ns"]]
        return around[-1] if around else None

    def _flows(self, device, drivers):
        model, flows = self.model, {}
        for position, e in enumerate(self.events):
            cat = str(e.get("cat") or "").lower()
            if e.get("ph") in ("s", "f") and (cat in self.flow_cats or cat == "fwdbwd"):
                flow = flows.setdefault((cat == "fwdbwd", e.get("id")), {})
                flow.update({e["ph"]: e, e["ph"] + " position": position})
        ends = []
        for (backward, ident), flow in flows.items():
            s, f = flow.get("s"), flow.get("f")
            if backward and f is not None:
                ends.append((flow["f position"], self.time(s)["start_ns"] if s else None, f, ident))
            if backward or s is None or f is None:
                continue
            launch, at = self.time(s)["start_ns"], (f.get("pid"), f.get("tid"), self.time(f)["start_ns"])
            thread = (s.get("pid"), s.get("tid"))
            op = call = self.tree.starting_at(launch, thread)
            if op is None or op["kind"] != "runtime":
                call = drivers.get((*thread, launch))
                op = op or (self._operator_around(call) if call else None)
            task = device.get(at) or {}
            model.add("prof_launch", host_op_id=op["id"] if op else None, category=str(s["cat"]).lower(),
                      launch_ns=launch, device_ns=at[2], device_task_id=task.get("id"),
                      kernel_id=task.get("kernel_id"), comm_op_id=task.get("comm_op"),
                      runtime_op_id=call["id"] if call else None, connection_id=integer(ident),
                      source_row=flow["f position"])
        self._correlations({integer(ident) for (backward, ident), flow in flows.items() if not backward and "s" in flow})
        for position, forward, f, ident in sorted(ends, key=lambda e: e[0]):
            model.add("prof_fwd_bwd", forward_ns=forward, backward_ns=self.time(f)["start_ns"], flow_id=ident, source_row=position,
                      backward_thread_id=f.get("tid"), backward_process_id=f.get("pid"))

    def _correlations(self, flow_ids):
        """Work without a flow of its own: by the correlation id of a call that has one, or of any call where no flow is."""
        rows = self.model.rows
        linked = {launch["device_task_id"] for launch in rows["prof_launch"]}
        calls = {o["connection_id"]: o for o in rows["prof_host_op"] if o["kind"] in ("runtime", "driver") and o["connection_id"]}
        operators = {o["external_id"]: o for o in reversed(rows["prof_host_op"])
                     if o["kind"] not in ("runtime", "driver") and o["external_id"]}
        any_call = not flow_ids and self.flow_cats == FLOW_CATS
        for task in rows["prof_device_task"]:
            correlation = task["connection_id"]
            if task["id"] in linked or not (any_call or correlation in flow_ids):
                continue
            call, op = calls.get(correlation), operators.get(task["external"])
            if call:
                op = call if call["kind"] == "runtime" else self._operator_around(call)
            elif not any_call or op is None:
                continue
            self.model.add("prof_launch", host_op_id=op["id"] if op else None, category="correlation" if call else "external_id",
                           launch_ns=(call or op)["start_ns"], device_ns=task["start_ns"], device_task_id=task["id"],
                           kernel_id=task.get("kernel_id"), comm_op_id=task.get("comm_op"),
                           runtime_op_id=call["id"] if call else None, connection_id=correlation if call else task["external"],
                           source_row=task["source_row"])

    def _memory(self):
        """Allocations and frees of one address, paired; a free of another size loses its record."""
        model, opened = self.model, {}
        events = [(p, e) for p, e in enumerate(self.events) if str(e.get("name", "")).lower() == "[memory]"]
        for position, e in events:
            args = e.get("args") or {}
            device, kind = args.get("Device Id", -1), args.get("Device Type")
            model.add("prof_memory_usage", device_id=device if device >= 0 else None, ts_ns=self.time(e)["start_ns"],
                      component=COMPONENTS.get(kind, "CUDA" if device >= 0 else "CPU"),
                      allocated_bytes=args.get("Total Allocated"), reserved_bytes=args.get("Total Reserved"),
                      source_row=position)
        for position, e in sorted(events, key=lambda x: self.time(x[1])["start_ns"]):
            args, t = e.get("args") or {}, self.time(e)["start_ns"]
            device, size = args.get("Device Id", -1), args.get("Bytes", 0)
            if device < 0:
                continue
            address = args.get("Addr")
            if size > 0:
                if address in opened:
                    self._block(opened.pop(address), None)
                opened[address] = (size, t, device, position)
            elif address in opened:
                block = opened.pop(address)
                if -size == block[0]:
                    self._block(block, t)
        for block in opened.values():
            self._block(block, None)
        self.tree.attach(model.rows["prof_memory_alloc"])

    def _block(self, block, release):
        size, alloc, device, position = block
        self.model.add("prof_memory_alloc", device_id=device, size_bytes=size, alloc_ns=alloc, attach_ns=alloc,
                       release_ns=release, dur_ns=release - alloc if release is not None else None,
                       source_row=position)


def read(model, path, flow_cat=""):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as f:
        import decimal
        top = json.loads(f.read().decode("utf-8", "replace"), parse_float=decimal.Decimal)
    model.rank = top.get("distributedInfo", {}).get("rank")
    trace = Trace(model, top, flow_cat)
    trace.read()
    return {"framework": "PyTorch", "time_base_ns": trace.base}
