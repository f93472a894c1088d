"""What can be run says so in both ways: a file that begins with #! is executable, and no other file is."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOT_OURS = (".git", "node_modules", "__pycache__", "data")  # data: inputs that the benchmark makes


def files():
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in NOT_OURS and not name.startswith("build")]
        yield from (os.path.join(folder, name) for name in names if not name.endswith(".so"))


wrong, scripts = [], 0
for path in files():
    with open(path, "rb") as f:
        script = f.read(2) == b"#!"
    scripts += script
    if script != bool(os.stat(path).st_mode & 0o111):
        wrong.append(f"{os.path.relpath(path, ROOT)}: {'begins with #! but is not executable' if script else 'is executable but does not begin with #!'}")
print("\n".join(wrong) or f"{scripts} scripts: ok")
sys.exit(1 if wrong or scripts < 5 else 0)
