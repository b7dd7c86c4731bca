#!/usr/bin/env python3
# animate - several pictures of ansi2svg.py as one that moves: a row is there once for as long as it stays.
# SPDX-License-Identifier: MIT
#
# usage: animate.py SECONDS-EACH PICTURE.svg... >animation.svg
import re
import sys

CW, CH, PAD = 9, 19, 14  # as in ansi2svg.py
CHAR = re.compile(r'<text x="(\d+)"( y="\d+"[^>]*)>([^<&]|&[a-z]+;)</text>$')


def row_of(element):
    m = re.search(r' y="(\d+)"', element) or re.search(r'M[\d.]+ ([\d.]+)', element)
    return int((float(m.group(1)) - PAD) // CH)


# Adjacent characters of one style are one element, of the same width, with blanks between.
def joined(elements):
    out, text, look, x, end = [], "", None, 0, 0
    for e in elements + [""]:
        m = CHAR.match(e)
        if text and (not m or m.group(2) != look):
            out.append('<text xml:space="preserve" x="%d" textLength="%d"%s>%s</text>' % (x, end - x, look, text))
            text = ""
        if m:
            at = int(m.group(1))
            if not text:
                x, end, look = at, at, m.group(2)
            text += " " * ((at - end) // CW) + m.group(3)
            end = at + CW
        elif e:
            out.append(e)
    return "\n".join(out)


def rows_of(path):
    lines = open(path, encoding="utf-8").read().rstrip("\n").split("\n")
    rows = {}
    for e in lines[1:-1]:
        rows.setdefault(row_of(e), []).append(e)
    return lines[0], {y: joined(r) for y, r in rows.items()}


def main():
    each, frames = float(sys.argv[1]), [rows_of(p) for p in sys.argv[2:]]
    n = len(frames)
    print(frames[0][0])
    for y in sorted({y for _, rows in frames for y in rows}):
        first = 0
        for i in range(1, n + 1):
            shown = frames[first][1].get(y, "")
            if i < n and frames[i][1].get(y, "") == shown:
                continue
            if shown and i - first == n:
                print(shown)
            elif shown:
                print('<g visibility="hidden"><animate attributeName="visibility" calcMode="discrete" '
                      'values="%svisible%s" keyTimes="%s%.4f%s" dur="%gs" repeatCount="indefinite"/>%s</g>' % (
                          "hidden;" if first else "", ";hidden" if i < n else "",
                          "0;" if first else "", first / n, ";%.4f" % (i / n) if i < n else "", each * n, shown))
            first = i
    print("</svg>")


main()
