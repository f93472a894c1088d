"""The tables that the readers make of text exports and GPU traces against the oracle."""
import os
import sys
import tempfile

from held_against_oracle import EVENTS, GPU_EVENTS, GOLDEN, compare, rank_folders, unpacked

TEXT = ["text_text", "micro_class", "micro_match", "micro_module", "micro_steps", "micro_tree", "versions"]
GPU = ["micro_gpu", "gpu_text"]


def main():
    library, failed = sys.argv[1], 0
    cases = [(case, side) for case in TEXT + GPU for side in ("base", "comparison")]
    with tempfile.TemporaryDirectory() as scratch:
        for case, side in cases:
            for path in rank_folders(unpacked(os.path.join(GOLDEN, case, side), scratch)):
                _, differences = compare(library, path, scratch, events=GPU_EVENTS if path.endswith(".json") else EVENTS)
                failed += len(differences)
                for text in differences:
                    print(f"{case}/{side}: {text}")
    print("FAILED" if failed else "ok")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
