"""Every SQL example of the documentation is run, and its output compared.

A fenced block ```sql is run in the sqlite3 shell, in the project's folder with the library loaded; a plain fenced block that
follows it directly (only blank lines between) is the output it must give. Without one it must print nothing, but in the
README, which may leave long output out. The blocks of one page are one session. Blocks that begin with `.load` lines of their
own may: the library loads twice without harm. Blocks ```text, ```console and so on are not run.

  test_docs.py LIBRARY [--write] [PAGE ...]     --write puts what the examples give in place of what the pages say: read it!
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARK = "=====block====="


def blocks(text):
    """-> [(line, sql, expected output or None)]"""
    out, fences = [], list(re.finditer(r"^```([a-z]*)\n(.*?)^```$", text, re.M | re.S))
    for i, fence in enumerate(fences):
        if fence.group(1) != "sql":
            continue
        expected = None
        if i + 1 < len(fences) and fences[i + 1].group(1) == "" and not text[fence.end():fences[i + 1].start()].strip():
            expected = fences[i + 1].group(2)
        out.append((text.count("\n", 0, fence.start()) + 1, fence.group(2), expected))
    return out


def may_not_be_silent(page):
    return os.path.basename(page) != "README.md"


def write_answers(page, answers):
    with open(page, encoding="utf-8") as f:
        text = f.read()
    fences = list(re.finditer(r"^```([a-z]*)\n(.*?)^```$", text, re.M | re.S))
    sql = [i for i, fence in enumerate(fences) if fence.group(1) == "sql"]
    for at, answer in reversed(list(zip(sql, answers))):
        if at + 1 < len(fences) and fences[at + 1].group(1) == "" and not text[fences[at].end():fences[at + 1].start()].strip():
            text = text[:fences[at + 1].start(2)] + answer.rstrip() + "\n" + text[fences[at + 1].end(2):]
        elif answer.strip() and may_not_be_silent(page):
            text = text[:fences[at].end()] + f"\n\n```\n{answer.rstrip()}\n```" + text[fences[at].end():]
    with open(page, "w", encoding="utf-8") as f:
        f.write(text)


def run(page, library, write):
    with open(page, encoding="utf-8") as f:
        examples = blocks(f.read())
    script = [".bail on", f".load {library}", ".mode box"]
    for _, sql, _ in examples:
        script += [f".print {MARK}", sql.replace("./build/libprofana", library)]
    done = subprocess.run(["sqlite3", "-batch", ":memory:"], input="\n".join(script) + "\n", text=True, capture_output=True,
                          cwd=ROOT, check=False)
    answers = done.stdout.split(MARK + "\n")[1:]
    if write:
        write_answers(page, answers)
    wrong = 0
    for i, (line, _, expected) in enumerate(examples):
        answer = answers[i] if i < len(answers) else "(not reached: " + done.stderr.strip() + ")"
        failed = i >= len(answers) - 1 and done.returncode != 0
        if expected is None and may_not_be_silent(page):
            expected = ""
        if failed or expected is not None and answer.rstrip() != expected.rstrip():
            wrong += 1
            print(f"{os.path.relpath(page, ROOT)}:{line}: the example gives\n{answer}{done.stderr if failed else ''}\nnot\n{expected or ''}")
    return len(examples), wrong


def main():
    library = os.path.abspath(sys.argv[1]).removesuffix(".so")
    write = "--write" in sys.argv
    pages = [a for a in sys.argv[2:] if a != "--write"] or [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]
    total = bad = 0
    for page in pages:
        count, wrong = run(page, library, write)
        total, bad = total + count, bad + wrong
    print(f"{total} examples, {bad} wrong")
    sys.exit(1 if bad or total == 0 else 0)


if __name__ == "__main__":
    main()
