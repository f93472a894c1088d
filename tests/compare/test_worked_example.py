"""A small run worked out by hand: every figure below is arithmetic on the times in example()."""
import sys
import tempfile

from profiles import Checks, Session, Text


def example():
    t = Text()
    t.op("ProfilerStep#1", 1000, 1000)
    t.op("aten::add", 1100, 50)
    t.op("aten::mul", 1150, 50)                              # starts as aten::add ends: its child
    t.op("aten::matmul", 1300, 100)
    t.op("aten::mm", 1300, 80)                               # starts with aten::matmul
    t.op("c10d::allreduce_", 1500, 40)
    t.op("aten::div", 1600, 40)
    t.kernel("Add1", 1200, 10, "Add", launch=1100, step=1)
    t.kernel("Mul1", 1220, 10, "Mul", launch=1150, step=1)
    t.kernel("MatMul1", 1400, 20, "MatMulV2", "AI_CORE", launch=1300, step=1)
    t.kernel("Div1", 1650, 5, "RealDiv", launch=1600, step=1)
    t.task("copy", 1700, 6, "SDMA_SQE")
    t.group("gA", planes=2)
    t.group("gB", planes=1)
    t.collective("gA", "hcom_allReduce__1_0_1", 1520, 100, launch=1500, step=1)
    t.collective("gB", "hcom_broadcast__2_0_1", 1560, 100, step=1)
    t.comm_task("gA", 0, "Notify_Wait", 1521, 30)
    t.comm_task("gA", 0, "Memcpy", 1552, 30)
    t.comm_task("gA", 1, "Memcpy", 1553, 30)
    t.comm_task("gB", 0, "Notify_Wait", 1570, 20)
    t.comm_task("gB", 0, "RDMASend", 1600, 20)
    for start, dur in ((1200, 10), (1220, 10), (1400, 20), (1650, 5)):
        t.lane("Computing", start, dur)
    t.lane("Communication", 1520, 140)
    t.lane("Communication(Not Overlapped)", 1520, 130)
    t.lane("Communication(Not Overlapped)", 1655, 5)
    t.lane("Free", 1210, 10)
    t.reserved.append(["PTA", "1719300000001000.000", 2048, 4096, "NPU:0"])
    t.bands = {"step1": {"p2p": {}, "collective": {"Total Op Info": {"Communication Bandwidth Info": {
        "RDMA": {"Transit Size(MB)": 10, "Transit Time(ms)": 2}, "SDMA": {"Transit Size(MB)": 30, "Transit Time(ms)": 3}}}}}}
    return t


def main():
    c = Checks()
    with tempfile.TemporaryDirectory() as folder:
        path = example().write(folder + "/run_ascend_pt", {"gA": "tp"})
        s = Session(sys.argv[1], path, path)
        metrics = {name: (ns, calls) for name, ns, calls in s.rows("SELECT metric, base_ns, base_calls FROM overall_metrics")}
        for name, ns, calls in (
                ("Computing Time", 10000 + 10000 + 20000 + 5000, 4),
                ("Matmul (Cube)", 20000, 1),
                ("Vector (No Trans)", 10000 + 10000 + 5000, 3),
                ("Uncovered Communication Time", 130000 + 5000, None),
                ("tp: Communication", 100000, None),
                ("Group gB Communication", 90000 + 5000, None),      # [1560,1650) and [1655,1660)
                ("Uncovered Communication Overlapped", 60000, None),  # [1560,1620)
                ("tp & Group gB Communication", 60000, None),
                ("E2E Time", 460000, None),                            # from 1200 to 1660
                ("Free Time", 460000 - 45000 - 135000, None),
                ("SDMA", 6000, None),
                ("Free", 460000 - 45000 - 135000 - 6000, None)):
            c.equal(name, metrics.get(name), (ns, calls))
        # tp's second plane never waits, so the group does not; gB's only plane waits 20 us.
        c.equal("waits", s.rows("SELECT base_ns FROM overall_metrics WHERE metric = 'Wait'"), [(20000,)])
        c.equal("transmit", s.rows("SELECT base_ns FROM overall_metrics WHERE metric = 'Transmit' ORDER BY order_id"),
                [(100000,), (75000,)])
        c.equal("nothing left over", metrics.get("Other"), None)
        c.equal("collectives", s.rows("SELECT kind, task, base_calls, base_total_ns FROM communication_compare ORDER BY order_id"),
                [("allreduce", None, 1, 100000), ("allreduce", "Notify_Wait", 2, 50000), ("allreduce", "Memcpy", 2, 60000),
                 ("allreduce", "RDMASend", 1, 20000), ("broadcast", None, 1, 100000)])
        c.equal("operators", s.rows("SELECT base_name, base_device_ns FROM operator_compare ORDER BY order_id"),
                [("aten::add", 20000), ("aten::matmul", 20000), ("c10d::allreduce_", 100000), ("aten::div", 5000)])
        apis = {r[0]: r[1:] for r in s.rows("SELECT name, base_total_ns, base_self_ns FROM api_compare")}
        c.equal("aten::add by itself", apis["aten::add"], (50000, 0))
        c.equal("aten::matmul by itself", apis["aten::matmul"], (100000, 20000))
        summary = s.rows("SELECT rdma_gb_per_s, sdma_gb_per_s, reserved_bytes FROM overall_summary WHERE profile = 'base'")
        c.equal("bandwidth and memory", summary, [(5.0, 10.0, 4 * 2**30)])
        printed = {r[0]: r[1] for r in s.sheet("terminal")}
        c.equal("printed bandwidth", (printed["RDMA Bandwidth"], printed["SDMA Bandwidth"]), ("5.000GB/s", "10.000GB/s"))
        c.equal("printed memory", printed["Mem Usage"], "4.00G")
        c.equal("printed vector time", printed["Vector Time(Num)"], "0.000s(3)")
        s = Session(sys.argv[1], path, path, base_options={"step": 1}, comparison_options={"step": 1})
        c.equal("operators of step 1", s.rows("SELECT base_name, base_device_ns FROM operator_compare ORDER BY order_id"),
                [("aten::add", 20000), ("aten::matmul", 20000), ("c10d::allreduce_", 100000), ("aten::div", 5000)])
    sys.exit(c.report())


if __name__ == "__main__":
    main()
