"""The tables that the readers make of text exports and GPU traces against the oracle."""
import os
import sys
import tempfile

from held_against_oracle import GOLDEN, compare, rank_folders, unpacked

TEXT = ["text_text", "micro_class", "micro_match", "micro_module", "micro_steps", "micro_tree", "versions"]
GPU = ["micro_gpu", "gpu_text"]
# The oracle counts events, the library bytes.
PLACES = {f"{t}.source_row" for t in ("prof_device_task", "prof_host_op", "prof_python_call", "prof_comm_op",
                                      "prof_comm_task", "prof_overlap_bar", "prof_mstx_range", "prof_memory_alloc",
                                      "prof_memory_usage")}


def main():
    library, failed = sys.argv[1], 0
    cases = [(case, side) for case in TEXT + GPU for side in ("base", "comparison")]
    with tempfile.TemporaryDirectory() as scratch:
        for case, side in cases:
            for path in rank_folders(unpacked(os.path.join(GOLDEN, case, side), scratch)):
                excused = set(PLACES)
                if path.endswith(".json"):
                    excused.add("prof_kernel.source_row")
                else:  # from CSV files: lines
                    excused -= {"prof_memory_alloc.source_row", "prof_memory_usage.source_row"}
                _, differences = compare(library, path, scratch, excused=excused)
                failed += len(differences)
                for text in differences:
                    print(f"{case}/{side}: {text}")
    print("FAILED" if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
