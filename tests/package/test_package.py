"""The Debian package: made, unpacked somewhere, and used by its bare name; it exports its entry points and needs no libsqlite3."""
import glob
import os
import subprocess
import sys
import tempfile

BUILD = os.path.dirname(os.path.abspath(sys.argv[1]))


def run(*argv, **more):
    return subprocess.run(argv, check=True, capture_output=True, text=True, **more).stdout


with tempfile.TemporaryDirectory() as folder:
    run("cpack", "-G", "DEB", "-B", folder, cwd=BUILD)
    package = glob.glob(f"{folder}/**/*.deb", recursive=True)[0]
    root = f"{folder}/root"
    run("dpkg-deb", "-x", package, root)
    library = glob.glob(f"{root}/usr/lib/**/libprofana.so", recursive=True)[0]
    where = os.environ | {"LD_LIBRARY_PATH": os.path.dirname(library)}
    version = run("sqlite3", "-batch", ":memory:", "-cmd", ".load libprofana", "SELECT profana_version()", env=where).strip()
    assert version == "v" + run("dpkg-deb", "-f", package, "Version").strip(), version
    symbols = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    assert symbols == {"sqlite3_profana_init", "sqlite3_extension_init"}, symbols
    needed = run("objdump", "-p", library)
    assert "libsqlite3" not in needed and "libstdc++" not in needed, needed
    report = run(f"{root}/usr/bin/profana-compare", "--demo", env=where)
    assert "Computing Time" in report and "npu::_npu_dtype_cast" in report, report
print("package: ok")
