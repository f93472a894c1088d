"""The packages, made and used: the Debian package installed by dpkg into a root of its own and removed again, the tarball where it
was unpacked. The library exports its entry points and needs no libsqlite3; the installed pages' links hold."""
import glob
import os
import re
import subprocess
import sys
import tempfile

BUILD = os.path.dirname(os.path.abspath(sys.argv[1]))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(f"{ROOT}/tests/docs")
from links import broken

# op_statistic.csv of the example: MatMulV2 136.160 us of 173.760 us.
HOT = "MatMulV2", 100 * 136.160 / 173.760


def run(*argv, **more):
    done = subprocess.run(argv, check=False, capture_output=True, text=True, **more)
    assert done.returncode == 0, (argv, done.stdout, done.stderr)
    return done.stdout


def hottest(load, share, **more):
    """The first row of a packaged report on a packaged profile."""
    text = run("sqlite3", "-batch", ":memory:", "-cmd", f".load {load}", "-cmd", f"SELECT profana_open('run', '{share}/tinymlp/04_pytorch')",
               "-cmd", ".mode list", f".read {share}/sql/reports/hotspots.sql", **more)
    row = next(line.split("|") for line in text.splitlines() if "MatMulV2" in line)
    return next(cell for cell in row if cell == HOT[0]), max(float(cell) for cell in row if re.fullmatch(r"\d+\.\d+", cell) and float(cell) < 100)


def compared(command, share, folder, **more):
    """The command writes a workbook of the packaged pair."""
    assert "npu::_npu_dtype_cast" in run(command, "--demo", **more)
    pair = [glob.glob(f"{share}/tinymlp/{name}/*_ascend_pt")[0] for name in ("05_pytorch_slow", "04_pytorch")]
    text = run(command, "-d", pair[0], "-bp", pair[1], "-o", folder, **more)
    assert "Computing Time" in text and glob.glob(f"{folder}/performance_comparison_result_*.xlsx"), text


def library_alone(library):
    symbols = {line.split()[-1] for line in run("nm", "-D", "--defined-only", library).splitlines()}
    assert symbols == {"sqlite3_profana_init", "sqlite3_extension_init"}, symbols
    needed = run("objdump", "-p", library)
    assert "libsqlite3" not in needed and "libstdc++" not in needed, needed


def texts(root):
    """The installed pages: no broken link, and every installed file that they name is there."""
    count, wrong = broken(f"{root}/usr/share/doc/profana")
    assert count > 20 and not wrong, wrong
    named = set()
    for page in glob.glob(f"{root}/usr/share/doc/profana/**/*", recursive=True):
        if os.path.isfile(page):
            with open(page, encoding="utf-8") as f:
                named |= set(re.findall(r"/usr/[\w/.-]*profana[\w/.-]*\w", f.read()))
    assert len(named) >= 3 and all(os.path.exists(root + name) for name in named), named


def debian(package, folder):
    root = f"{folder}/root"
    os.makedirs(f"{root}/var/lib/dpkg")
    os.makedirs(f"{folder}/bin")
    # The real ldconfig would go to the machine's own cache; that it is called is what counts.
    with open(f"{folder}/bin/ldconfig", "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\necho called >> {folder}/ldconfig\n")
    os.chmod(f"{folder}/bin/ldconfig", 0o755)
    path = {"PATH": f"{folder}/bin:/usr/sbin:/sbin:{os.environ['PATH']}"}
    dpkg = [*([] if os.getuid() == 0 else ["fakeroot"]), "dpkg", f"--root={root}", "--force-depends", "--force-script-chrootless"]
    run(*dpkg, "-i", package, env=os.environ | path)
    name = run("dpkg-deb", "-f", package, "Package").strip()
    assert "install ok installed" in run("dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", "-f", "${Status}", name)
    assert os.path.exists(f"{folder}/ldconfig"), "a bare `.load libprofana` needs the loader's cache"

    library = f"{root}/usr/lib/libprofana.so"
    where = {"env": os.environ | {"LD_LIBRARY_PATH": os.path.dirname(library)}, "cwd": folder}  # as the cache would find it
    version = run("sqlite3", "-batch", ":memory:", "-cmd", ".load libprofana", "SELECT profana_version()", **where).strip()
    assert version == "v" + run("dpkg-deb", "-f", package, "Version").strip(), version
    library_alone(library)
    texts(root)
    found = hottest("libprofana", f"{root}/usr/share/profana", **where)
    assert found[0] == HOT[0] and abs(found[1] - HOT[1]) < 1e-3, found
    compared(f"{root}/usr/bin/profana-compare", f"{root}/usr/share/profana", f"{folder}/out", **where)

    run(*dpkg, "--purge", name, env=os.environ | path)
    left = [file for file in glob.glob(f"{root}/**", recursive=True) if "profana" in file and not file.startswith(f"{root}/var")]
    assert not left, left


def tarball(package, folder):
    run("tar", "xzf", package, "-C", folder)
    (top,) = (entry.path for entry in os.scandir(folder) if entry.name.startswith("libprofana-"))
    os.makedirs(f"{folder}/elsewhere")
    found = hottest("./lib/libprofana", "share/profana", cwd=top)
    assert found[0] == HOT[0] and abs(found[1] - HOT[1]) < 1e-3, found
    compared(f"{top}/bin/profana-compare", f"{top}/share/profana", f"{folder}/elsewhere", cwd=f"{folder}/elsewhere")


with tempfile.TemporaryDirectory() as place:
    run("cpack", "-G", "DEB;TGZ", "-D", f"CPACK_OUTPUT_FILE_PREFIX={place}/made", "-B", f"{place}/work", cwd=BUILD)
    debian(glob.glob(f"{place}/made/*.deb")[0], place)
    tarball(glob.glob(f"{place}/made/*.tar.gz")[0], place)
print("package: ok")
