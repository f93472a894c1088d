"""The shipped TinyMLP example is what its generator writes, so that it can be changed there."""
import filecmp
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHIPPED = f"{ROOT}/examples/tinymlp"


def files(folder):
    return sorted(os.path.relpath(f"{where}/{name}", folder) for where, _, names in os.walk(folder) for name in names
                  if name != "make.py" and "__pycache__" not in where)


with tempfile.TemporaryDirectory() as made:
    subprocess.run([sys.executable, f"{SHIPPED}/make.py", made], check=True)
    assert files(made) == files(SHIPPED) and len(files(made)) > 10, set(files(made)) ^ set(files(SHIPPED))
    _, differ, failed = filecmp.cmpfiles(made, SHIPPED, files(made), shallow=False)
    assert not differ and not failed, (differ, failed)
    print(f"{len(files(made))} files: ok")
