"""Reads the sheets of an .xlsx: what a test needs of the format, without a package."""
import re
import xml.etree.ElementTree as xml
import zipfile

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
HEAD_ROW = 3  # row 1 names the profiles, row 2 is blank


def column(reference):
    """'AB12' -> 27"""
    at = 0
    for letter in re.match("[A-Z]+", reference).group():
        at = at * 26 + ord(letter) - ord("A") + 1
    return at - 1


def cells(sheet):
    """{(row from 1, column from 0): (text, style)}"""
    out = {}
    for cell in sheet.iter(f"{MAIN}c"):
        inline, value = cell.find(f"{MAIN}is"), cell.find(f"{MAIN}v")
        text = "".join(t.text or "" for t in inline.iter(f"{MAIN}t")) if inline is not None else value.text if value is not None else ""
        text = re.sub("_x([0-9A-F]{4})_", lambda code: chr(int(code.group(1), 16)), text)  # control characters
        reference = cell.get("r")
        out[int(re.search("[0-9]+", reference).group()), column(reference)] = (text, int(cell.get("s", 0)))
    return out


class Workbook:
    def __init__(self, path):
        with zipfile.ZipFile(path) as book:
            targets = {r.get("Id"): r.get("Target") for r in xml.fromstring(book.read("xl/_rels/workbook.xml.rels"))}
            self.cells, self.merged = {}, {}
            for sheet in xml.fromstring(book.read("xl/workbook.xml")).iter(f"{MAIN}sheet"):
                content = xml.fromstring(book.read("xl/" + targets[sheet.get(RELATION)]))
                self.cells[sheet.get("name")] = cells(content)
                self.merged[sheet.get("name")] = [m.get("ref") for m in content.iter(f"{MAIN}mergeCell")]
            self.styles = xml.fromstring(book.read("xl/styles.xml"))

    @property
    def names(self):
        return list(self.cells)

    def rows(self, name):
        """The head and the rows below it, as the golden sheets have them."""
        found = self.cells[name]
        width = 1 + max(c for _, c in found)
        return [[found.get((row, c), ("", 0))[0] for c in range(width)] for row in range(HEAD_ROW, 1 + max(r for r, _ in found))]

    def look(self, name, row, col):
        """-> (fill as RRGGBB or None, number format, bold, indent) of a cell."""
        style = self.cells[name][row, col][1]
        formats = self.styles.find(f"{MAIN}cellXfs")[style]
        fill = self.styles.find(f"{MAIN}fills")[int(formats.get("fillId"))].find(f".//{MAIN}fgColor")
        font = self.styles.find(f"{MAIN}fonts")[int(formats.get("fontId"))]
        number = int(formats.get("numFmtId"))
        own = {int(n.get("numFmtId")): n.get("formatCode") for n in self.styles.iter(f"{MAIN}numFmt")}
        alignment = formats.find(f"{MAIN}alignment")
        indent = int(alignment.get("indent", 0)) if alignment is not None else 0
        built_in = {0: "General", 3: "#,##0", 4: "#,##0.00", 10: "0.00%"}
        return (fill.get("rgb")[2:] if fill is not None and fill.get("rgb") else None, own.get(number, built_in.get(number)),
                font.find(f"{MAIN}b") is not None, indent)
