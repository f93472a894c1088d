"""One run, exported as text and as a database: both must make the same model tables.

The profiles are made up (a step or two of one layer), one of PyTorch and one of MindSpore. What differs is listed here with its
reason: the formats do not hold the same things. Rows are compared as multisets of the columns that both can know.
"""
import collections
import os
import sqlite3
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "text_and_db")
# The database of MindSpore is that of msprof: it holds nothing of what the framework did on the host.
OF_THE_FRAMEWORK = {"operators", "inputs of operators", "parents of operators", "queue events", "python calls",
                    "forward and backward", "launches", "allocations", "memory in use"}
PROFILES = {"made_1_20260101000000000_ascend_pt": set(), "made_2_20260101000000000_ascend_ms": OF_THE_FRAMEWORK}

# (what, query for the text side, query for the database; None: the same)
AGREE = [
    # Databases have the host's step windows and the device's times, kernel_details.csv a step number of its own:
    # here all kernels run within their step. Text rows of collectives stand in kernel_details.csv too.
    ("kernels",
     "SELECT device_id, stream_id, name, op_type, core_type, step, start_ns, end_ns, dur_ns, task_id, block_num, "
     "mix_block_num, input_shapes, input_types, input_formats, output_shapes, output_types, output_formats "
     "FROM {p}kernel WHERE is_communication = 0", None),
    # The times of counters are rounded to ns in text.
    ("counters", "SELECT start_ns, aicore_time_ns, aic_mac_time_ns, aic_mte2_time_ns, aiv_time_ns, aiv_vec_time_ns "
                 "FROM {p}kernel WHERE is_communication = 0", None),
    ("operators", "SELECT process_id, thread_id, name, step, start_ns, end_ns, dur_ns, depth, thread_depth, call_stack, "
                  "sequence_number, fwd_thread_id FROM {p}host_op WHERE kind = 'op'", None),
    # This trace writes no inputs for collectives of the backward thread.
    ("inputs of operators", "SELECT name, start_ns, input_shapes, input_types FROM {p}host_op "
                            "WHERE kind = 'op' AND name NOT IN ('HcclAllReduce', 'c10d::allreduce_')", None),
    ("parents of operators", "SELECT o.start_ns, o.name, q.start_ns, q.name, r.start_ns, r.name, o.self_ns "
                             "FROM {p}host_op o LEFT JOIN {p}host_op q ON q.id = o.parent_id "
                             "LEFT JOIN {p}host_op r ON r.id = o.root_id WHERE o.kind = 'op'", None),
    ("queue events", "SELECT process_id, thread_id, name, start_ns, end_ns, connection_id FROM {p}host_op WHERE kind = 'queue'",
     None),
    # Traces give CANN a process of its own number.
    ("calls of CANN", "SELECT thread_id, name, start_ns, end_ns, connection_id FROM {p}host_op WHERE kind = 'api'", None),
    ("python calls", "SELECT thread_id, name, start_ns, end_ns, depth, is_module FROM {p}python_call", None),
    ("forward and backward", "SELECT forward_ns, backward_ns, backward_process_id FROM {p}fwd_bwd", None),
    ("steps", "SELECT step, start_ns, end_ns FROM {p}step", None),
    # A trace shows a device kernel that is seen as an operation of no group as a task only.
    ("collectives", "SELECT name, process_group, step, start_ns, end_ns, dur_ns, plane_count, connection_id FROM {p}comm_op",
     "SELECT name, process_group, step, start_ns, end_ns, dur_ns, plane_count, connection_id FROM {p}comm_op "
     "WHERE group_name IS NOT NULL"),
    # Planes are threads in a trace, numbered through all groups, and planes of their group in a database.
    ("tasks of collectives", "SELECT t.name, o.name, t.step, t.start_ns, t.end_ns, t.size_bytes, t.transport, t.link_type, "
                             "t.src_rank, t.dst_rank FROM {p}comm_task t LEFT JOIN {p}comm_op o ON o.id = t.comm_op_id", None),
    # The kernels that start collectives are not in the trace.
    ("device tasks", "SELECT stream_id, task_id, start_ns, end_ns, connection_id, size_bytes FROM {p}device_task",
     "SELECT stream_id, task_id, start_ns, end_ns, connection_id, size_bytes FROM {p}device_task WHERE NOT is_schedule"),
    ("kernels among tasks", "SELECT t.start_ns, t.stream_id, k.name, k.start_ns FROM {p}device_task t "
                            "JOIN {p}kernel k ON k.id = t.kernel_id", None),
    # A database's connection ids reach the tasks around a collective too, a trace's flows the collective alone.
    ("launches", "SELECT o.name, o.start_ns, l.launch_ns, l.device_ns, k.name, c.name FROM {p}launch l "
                 "JOIN {p}host_op o ON o.id = l.host_op_id LEFT JOIN {p}kernel k ON k.id = l.kernel_id "
                 "LEFT JOIN {p}comm_op c ON c.id = l.comm_op_id WHERE l.category = 'async_npu'",
     "SELECT o.name, o.start_ns, l.launch_ns, l.device_ns, k.name, c.name FROM {p}launch l "
     "JOIN {p}host_op o ON o.id = l.host_op_id LEFT JOIN {p}kernel k ON k.id = l.kernel_id "
     "LEFT JOIN {p}comm_op c ON c.id = l.comm_op_id LEFT JOIN {p}device_task t ON t.id = l.device_task_id "
     "WHERE l.category = 'connection' AND t.is_schedule IS NOT 1 AND t.task_type IS NOT 'EVENT_WAIT_SQE' "
     "AND t.task_type IS NOT 'C_CORE_SQE'"),
    ("allocations", "SELECT m.device_id, m.name, m.size_bytes, m.alloc_ns, m.release_ns, m.dur_ns, m.attach_ns, o.name, "
                    "o.start_ns, m.stream_ptr FROM {p}memory_alloc m LEFT JOIN {p}host_op o ON o.id = m.host_op_id", None),
    # What the process holds as a whole comes from NPU_MEM, which this database lacks.
    ("memory in use", "SELECT device_id, ts_ns, component, allocated_bytes, reserved_bytes, active_bytes FROM {p}memory_usage "
                      "WHERE component <> 'APP'", None),
    ("marks", "SELECT thread_id, domain, message, event_type, start_ns, end_ns FROM {p}mstx_range", None),
    ("lanes", "SELECT name, start_ns, end_ns, dur_ns FROM {p}overlap_bar", None),
    ("step times", "SELECT device_id, step, computing_ns, communication_not_overlapped_ns, overlapped_ns, communication_ns, "
                   "free_ns, stage_ns, bubble_ns, communication_not_overlapped_exclude_receive_ns, preparing_ns "
                   "FROM {p}step_time", None),
    # Text lists transports that moved nothing and totals, which are sums.
    ("bandwidths", "SELECT step, type, op_name, group_name, transport, round(transit_size_mb, 9), round(transit_time_ms, 9), "
                   "round(bandwidth_gb_per_s, 9), round(elapse_time_ms, 9), round(wait_time_ms, 9) FROM {p}comm_bandwidth "
                   "WHERE transit_size_mb > 0 AND op_name <> 'Total Op Info'", None),
    ("process groups", "SELECT group_id, group_name, group_rank, ranks FROM {p}process_group", None),
    # api_statistic.csv has three decimals of us, so a mean of half a ns is rounded by its writer.
    ("statistics of CANN", "SELECT level, name, count, total_ns, CASE WHEN total_ns % count * 2 <> count THEN avg_ns END, "
                           "min_ns, max_ns, round(variance, 3) FROM {p}api_stat", None),
]


def multiset(db, prefix, query):
    return collections.Counter(db.execute(query.replace("{p}", prefix)).fetchall())


def copy_tables(db, profile):
    """Both forms of the profile as ordinary tables, t_kernel and d_kernel and so on."""
    for alias, source in (("t", "text"), ("d", "db")):
        db.execute("SELECT profana_open(?, ?, ?)", (alias, os.path.join(DATA, profile), f'{{"source":"{source}"}}'))
        for (table,) in db.execute("SELECT name FROM pragma_module_list WHERE name GLOB 'prof_*'").fetchall():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            if columns[:3] != ["profile", "rank", "id"]:
                continue
            name = f"{alias}_{table.removeprefix('prof_')}"
            db.execute(f"CREATE TEMP TABLE {name} AS SELECT * FROM {table} WHERE profile = ?", (alias,))
            db.execute(f"CREATE INDEX temp.{name}_id ON {name}(id)")


def differences(library, profile, only_in_text):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(library)
    copy_tables(db, profile)
    for what, text_query, db_query in AGREE:
        text, database = multiset(db, "t_", text_query), multiset(db, "d_", db_query or text_query)
        if what in only_in_text:
            if database:
                yield f"{what}: {sum(database.values())} rows of the database, which cannot know them"
            continue
        if not text:
            yield f"{what}: the text export gives no rows"
        if text == database:
            continue
        yield f"{what}: {sum(text.values())} rows of text, {sum(database.values())} of the database"
        for side, rows in (("text", text - database), ("db", database - text)):
            for row in sorted(rows, key=repr)[:3]:
                yield f"  only {side}: {row}"


def main():
    failed = 0
    for profile, only_in_text in PROFILES.items():
        found = list(differences(sys.argv[1], profile, only_in_text))
        failed += len(found)
        print(f"{profile}: {len(AGREE) - len(only_in_text)} tables and joins compared, {'they agree' if not found else 'they differ'}")
        print("\n".join(found))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
