"""Links of Markdown pages: which lead nowhere? A link is a file beside the page, or a heading as GitHub names it."""
import glob
import os
import re


def without_code(text):
    """The text with code blocks and code spans blanked out, lines kept."""
    text = re.sub(r"^```.*?^```$", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", lambda m: "" if "](" in m.group(0) else m.group(0), text)


def anchors(path):
    """Lower case, punctuation dropped, a hyphen for each space, -1, -2 for headings that come again."""
    out, seen = set(), {}
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"^```.*?^```$", "", f.read(), flags=re.M | re.S)
    for heading in re.findall(r"^#+ +(.*?)\s*#*$", text, re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        again = seen.get(slug, 0)
        seen[slug] = again + 1
        out.add(f"{slug}-{again}" if again else slug)
    return out | set(re.findall(r'<a (?:id|name)="([^"]+)"', text))


def pages(root):
    return sorted([*glob.glob(f"{root}/*.md"), *glob.glob(f"{root}/docs/*.md")])


def broken(root):
    """-> (how many links there are, [line for each that leads nowhere])"""
    count, out = 0, []
    for page in pages(root):
        with open(page, encoding="utf-8") as f:
            text = without_code(f.read())
        for link in re.finditer(r"\]\(([^)\s]+)\)", text):
            target = link.group(1)
            if re.match(r"https?://", target):
                continue
            count += 1
            file, _, anchor = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(page), file)) if file else page
            where = f"{os.path.relpath(page, root)}:{text.count(chr(10), 0, link.start()) + 1}: {target}"
            if not os.path.exists(path) or not path.startswith(root):
                out.append(f"{where}: there is no such file")
            elif anchor and anchor not in anchors(path):
                out.append(f"{where}: there is no such heading")
    return count, out
