"""examples/profana-compare: every option does what it does in the compare tool, held against the sheets of the golden cases; wrong
use is an error that says what is wrong."""
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path += [f"{ROOT}/tests/golden", f"{ROOT}/tests/exports"]
import check
from workbook import Workbook

COMMAND = f"{ROOT}/examples/profana-compare"
ENVIRONMENT = os.environ | {"PROFANA_LIB": os.path.abspath(sys.argv[1])}
JUDGE = check.Judge(check.read_differences(f"{ROOT}/tests/golden/differences.tsv"))


def run(*options):
    return subprocess.run([COMMAND, *options], text=True, capture_output=True, check=False, env=ENVIRONMENT, cwd=ROOT)


def sides(case):
    with open(f"{ROOT}/tests/golden/{case}/case.json", encoding="utf-8") as f:
        about = json.load(f)
    return ["-d", f"tests/golden/{case}/{about['comparison']}", "-bp", f"tests/golden/{case}/{about['base']}"]


def compare(case, *options):
    """-> (workbook, standard output, standard error) of a run that must succeed."""
    with tempfile.TemporaryDirectory() as folder:
        done = run(*sides(case), "-o", f"{folder}/made/here", *options)
        assert done.returncode == 0, (case, options, done.stderr)
        (name,) = os.listdir(f"{folder}/made/here")
        assert re.fullmatch(r"performance_comparison_result_\d{14}\.xlsx", name), name
        assert f"{folder}/made/here/{name}" in done.stdout, done.stdout
        return Workbook(f"{folder}/made/here/{name}"), done.stdout, done.stderr


def golden(case, golden_run, options, names):
    """The workbook has these sheets, in this order, and their figures are the golden ones."""
    book, out, err = compare(case, *options)
    assert book.names == names, (case, options, book.names)
    for name in names:
        with open(f"{ROOT}/tests/golden/{case}/expected/{golden_run}/{name}.csv", newline="", encoding="utf-8") as f:
            wrong = JUDGE.complaints((case, golden_run, name), book.rows(name), list(csv.reader(f)))
        assert not wrong, (case, options, name, wrong[:5])
    return out, err


def cautions():
    """What makes the comparison doubtful is said: here two steps against three."""
    _, out, _ = compare("text_text", "--enable_api_compare")
    assert "Caution: steps of base: 2, of comparison: 3" in out, out


def wrong_use():
    pair = sides("micro_match")
    cases = [([], "both -d and -bp"), (pair[:2], "both -d and -bp"), (["-d"], "-d needs a value"), ([*pair, "--output_path="], "needs a value"),
             ([*pair, "--what"], "unknown option --what"), ([*pair, "--force=1"], "--force takes no value"),
             ([*pair, "--base_step", "3"], "go together"), ([*pair, "--base_step", "x", "--comparison_step", "1"], "'x' is not a whole number"),
             ([*pair, "--max_kernel_num", "3"], "above 3, not 3"), ([*pair, "--gpu_flow_cat", "c" * 21], "at most 20 characters"),
             (["-d", "no/such", "-bp", "README.md"], "there is no no/such"),
             ([*pair, "-o", "/proc/made"], "cannot make the folder /proc/made")]
    for options, message in cases:
        done = run(*options)
        assert done.returncode == 2 and message in done.stderr and not done.stdout, (options, done)
    helped = run("--help")
    assert helped.returncode == 0 and not helped.stderr
    for option in ("-d", "-bp", "-o", "--enable_profiling_compare", "--enable_operator_compare", "--enable_communication_compare",
                   "--enable_memory_compare", "--enable_kernel_compare", "--enable_api_compare", "--base_step", "--comparison_step",
                   "--use_input_shape", "--max_kernel_num", "--op_name_map", "--disable_details", "--disable_module", "--use_kernel_type",
                   "--gpu_flow_cat", "--force", "--debug"):
        assert re.search(rf"(^|\s){option}\b", helped.stdout), option
    with tempfile.TemporaryDirectory() as folder:
        done = run("-d", "README.md", "-bp", "README.md", "-o", folder)
        assert done.returncode == 1 and "README.md" in done.stderr and not os.listdir(folder), done
        for names in ("[1]", '{"a": 1}', "{a}"):
            done = run(*pair, "-o", folder, "--enable_api_compare", "--op_name_map", names)
            assert done.returncode == 1 and "op_name_map takes a JSON object" in done.stderr and not os.listdir(folder), done


def single_sheets():
    only = "--enable_{}_compare".format
    out, err = golden("micro_class", "all", [only("profiling")], ["OverallMetrics"])
    assert "Caution: " not in out, out
    with open(f"{ROOT}/tests/golden/micro_class/expected/all/terminal.txt", encoding="utf-8") as f:
        assert "Computing Time" in out and "Computing Time" in f.read(), out
    assert [line.split()[0] for line in err.splitlines()][:2] == ["Reading", "Reading"] and "Writing" in err, err
    out, _ = golden("micro_class", "all", [only("communication")], ["CommunicationCompare"])
    assert "Computing Time" not in out, out
    golden("micro_class", "all", [only("kernel"), only("api"), "--force"], ["ApiCompare", "KernelCompare"])
    golden("micro_class", "kerneltype", [only("kernel"), "--use_kernel_type"], ["KernelTypeCompare"])
    golden("micro_class", "all", [only("memory")], ["MemoryCompareStatistic", "MemoryCompare"])
    _, err = golden("micro_class", "all", [only("memory"), "--disable_details", "--use_kernel_type"], ["MemoryCompareStatistic"])
    assert "--use_kernel_type does nothing" in err, err


def operators():
    only, both = "--enable_operator_compare", ["OperatorCompareStatistic", "OperatorCompare"]
    golden("micro_match", "nomodule", [only], both)             # no module was recorded
    golden("micro_match", "input_shape", [only, "--use_input_shape"], both)
    golden("micro_match", "max_kernel_num", [only, "--max_kernel_num=4"], both)
    golden("micro_match", "op_name_map", [only, "--op_name_map", "{'aten::gelu': 'aten::silu'}"], both)
    golden("micro_match", "nomodule", [only, "--disable_details"], both[:1])
    golden("micro_module", "all", [only], ["ModuleCompareStatistic", "ModuleCompare"])
    golden("micro_module", "all", [only, "--disable_details"], ["ModuleCompareStatistic"])
    golden("micro_module", "nomodule", [only, "--disable_module"], both)


def everything():
    """All sheets of two steps, in the workbook's order."""
    names = ["CommunicationCompare", "OperatorCompareStatistic", "OperatorCompare", "MemoryCompareStatistic", "MemoryCompare", "ApiCompare",
             "KernelCompare"]
    switches = [f"--enable_{what}_compare" for what in ("communication", "operator", "memory", "api", "kernel")]
    golden("micro_steps", "step", [*switches, "--base_step", "6", "--comparison_step", "6"], names)
    book, _, _ = compare("micro_steps")
    assert book.names == ["OverallMetrics", *names], book.names


def flows():
    """A category that no flow has leaves the operators of a GPU trace without kernels: no time in OperatorCompareStatistic."""
    def device_ms(*options):
        rows = compare("micro_gpu", "--enable_operator_compare", "--disable_details", "--disable_module", *options)[0]
        return sum(float(row[2] or 0) for row in rows.rows("OperatorCompareStatistic")[1:]) if rows.names != ["Sheet1"] else 0

    assert device_ms() > 0 and device_ms("--gpu_flow_cat", "nothing") == 0


def odd_names():
    """Quotes, blanks, a newline that begins a dot command, a leading dash: of the program's own folder, the profiles and the output."""
    with tempfile.TemporaryDirectory() as folder:
        home = f"{folder}/it's \"here\" \\n $HOME\n.shell touch broken"
        for part in ("examples/profana-compare", "sql"):
            copy = shutil.copytree if os.path.isdir(f"{ROOT}/{part}") else shutil.copy
            os.makedirs(os.path.dirname(f"{home}/{part}"), exist_ok=True)
            copy(f"{ROOT}/{part}", f"{home}/{part}")
        os.makedirs(f"{home}/lib")
        shutil.copy(ENVIRONMENT["PROFANA_LIB"], f"{home}/lib/libprofana.so")
        for option, path in zip(("-comparison", "-base"), sides("micro_match")[1::2], strict=True):
            os.symlink(f"{ROOT}/{path}", f"{home}/{option}")
        done = subprocess.run([f"{home}/examples/profana-compare", "-d", "-comparison", "-bp", "-base", "-o", "-o'\"ut", "--debug"], text=True,
                              capture_output=True, check=False, cwd=home, env={k: v for k, v in ENVIRONMENT.items() if k != "PROFANA_LIB"})
        assert done.returncode == 0 and "Reading -base" in done.stderr and f"path: {home}" not in done.stderr, done
        (name,) = os.listdir(f"{home}/-o'\"ut")
        assert f"-o'\"ut/{name}" in done.stdout and sorted(os.listdir(home)) == ["-base", "-comparison", "-o'\"ut", "examples", "lib", "sql"], done


def at_once():
    """Runs that begin together each write a workbook of their own; where none can be written, that is said before the work."""
    with tempfile.TemporaryDirectory() as folder:
        options = [COMMAND, *sides("micro_match"), "-o", folder, "--enable_api_compare"]
        runs = [subprocess.Popen(options, cwd=ROOT, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for _ in range(3)]
        assert [run.wait() for run in runs] == [0, 0, 0] and len(os.listdir(folder)) == 3, os.listdir(folder)
        assert all(Workbook(f"{folder}/{name}").names == ["ApiCompare"] for name in os.listdir(folder))
    done = run(*sides("micro_match"), "-o", "/proc/self")
    assert done.returncode == 2 and "cannot write into /proc/self" in done.stderr and not done.stdout, done


def interrupted():
    """Ctrl-C while the workbook is being written: the command ends at once and leaves nothing, or a whole workbook if it was done."""
    with tempfile.TemporaryDirectory() as folder:
        command = subprocess.Popen([COMMAND, *sides("text_text"), "-o", folder], cwd=ROOT, env=ENVIRONMENT, text=True, start_new_session=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in command.stderr:
            if line.startswith("Writing"):
                break
        os.killpg(command.pid, signal.SIGINT)
        out, err = command.communicate(timeout=60)
        left = os.listdir(folder)
        done = "Written" in out
        assert (done or command.returncode != 0) and [name.endswith(".xlsx") for name in left] == [True] * done, (out, err, left)


def debugging():
    for options, told in (([], False), (["--debug"], True)):
        _, out, _ = compare("micro_gpu", "--enable_communication_compare", *options)
        assert ("profiles: 2 open" in out) == told, out


for step in (wrong_use, cautions, single_sheets, operators, everything, flows, odd_names, at_once, interrupted, debugging):
    step()
    print(f"{step.__name__}: ok", flush=True)
