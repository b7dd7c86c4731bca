#!/usr/bin/env python3
# ansi2svg - a captured terminal screen (tmux capture-pane -e -p) as SVG, on a fixed grid.
# SPDX-License-Identifier: MIT
#
# usage: ansi2svg.py COLUMNS ROWS [CURSOR-X CURSOR-Y] <screen >picture.svg
import re
import sys
import unicodedata
from xml.sax.saxutils import escape

CW, CH, SIZE, PAD = 9, 19, 15, 14
FG, BG = "#d5dae3", "#16181d"
BASE = ["#2b303b", "#ff7a80", "#8fd18a", "#e6c07b", "#82b4ff", "#c792ea", "#6fd0d8", "#d5dae3",
        "#7b8496", "#ff9a9f", "#a8e0a4", "#f0d399", "#a3c8ff", "#d7b0f2", "#93dfe5", "#ffffff"]
PLAIN = {"fg": None, "bg": None, "bold": False, "dim": False, "italic": False, "under": False, "rev": False}

# box drawing: the arms of a character (left, right, up, down), and whether it is heavy
ARMS = {"─": "lr", "│": "ud", "┌": "rd", "┐": "ld", "└": "ru", "┘": "lu", "├": "rud", "┤": "lud",
        "┬": "lrd", "┴": "lru", "┼": "lrud", "╭": "rd", "╮": "ld", "╰": "ru", "╯": "lu",
        "━": "LR", "┃": "UD", "┏": "RD", "┓": "LD", "┗": "RU", "┛": "LU", "┣": "RUD", "┫": "LUD",
        "┳": "LRD", "┻": "LRU", "╋": "LRUD", "═": "lr", "║": "ud", "╔": "rd", "╗": "ld", "╚": "ru", "╝": "lu", "╴": "l", "╶": "r", "╵": "u", "╷": "d"}


def indexed(n):
    if n < 16:
        return BASE[n]
    if n < 232:
        n -= 16
        return "#%02x%02x%02x" % tuple(0 if v == 0 else 55 + 40 * v for v in (n // 36, n // 6 % 6, n % 6))
    return "#%02x%02x%02x" % ((8 + 10 * (n - 232),) * 3)


def sgr(style, params):
    codes = [int(x) if x else 0 for x in re.split("[;:]", params)] if params else [0]
    i = 0
    while i < len(codes):
        c = codes[i]
        if c == 0:
            style.update(PLAIN)
        elif c in (1, 2, 3, 4, 7):
            style[{1: "bold", 2: "dim", 3: "italic", 4: "under", 7: "rev"}[c]] = True
        elif c == 22:
            style["bold"] = style["dim"] = False
        elif c in (23, 24, 27):
            style[{23: "italic", 24: "under", 27: "rev"}[c]] = False
        elif 30 <= c <= 37 or 90 <= c <= 97:
            style["fg"] = BASE[c - 30 if c < 90 else c - 82]
        elif 40 <= c <= 47 or 100 <= c <= 107:
            style["bg"] = BASE[c - 40 if c < 100 else c - 92]
        elif c in (39, 49):
            style["fg" if c == 39 else "bg"] = None
        elif c in (38, 48) and i + 2 < len(codes):
            key = "fg" if c == 38 else "bg"
            if codes[i + 1] == 5:
                style[key] = indexed(codes[i + 2])
                i += 2
            else:
                style[key] = "#%02x%02x%02x" % tuple(codes[i + 2:i + 5])
                i += 4
        i += 1


def mix(color, other):
    a, b = (tuple(int(c[i:i + 2], 16) for i in (1, 3, 5)) for c in (color, other))
    return "#%02x%02x%02x" % tuple((2 * x + y) // 3 for x, y in zip(a, b))


def arms(ch, x, y, color):
    mx, my = x + CW / 2, y + CH / 2
    width = 2.2 if ARMS[ch].isupper() else 1.2
    ends = {"l": (x, my), "r": (x + CW, my), "u": (mx, y), "d": (mx, y + CH)}
    path = "".join("M%g %gL%g %g" % (mx, my, *ends[a.lower()]) for a in ARMS[ch])
    return '<path d="%s" stroke="%s" stroke-width="%g" stroke-linecap="square"/>' % (path, color, width)


def main():
    cols, rows = int(sys.argv[1]), int(sys.argv[2])
    out, style = [], dict(PLAIN)
    for row, line in enumerate(sys.stdin.read().split("\n")[:rows]):
        x, y = PAD, PAD + row * CH
        for part in re.split("(\x1b\\[[0-9;:]*m|\x0e|\x0f)", line):
            if part.startswith("\x1b"):
                sgr(style, part[2:-1])
                continue
            fg, bg = style["fg"] or FG, style["bg"] or BG
            if style["rev"]:
                fg, bg = bg, fg
            if style["dim"]:
                fg = mix(fg, bg)
            for ch in part:
                if ch < " ":
                    continue
                if unicodedata.combining(ch):
                    continue
                w = CW * (2 if unicodedata.east_asian_width(ch) in "WF" else 1)
                if bg != BG:
                    out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="%s"/>' % (x, y, w, CH, bg))
                if ch in ARMS:
                    out.append(arms(ch, x, y, fg))
                elif ch != " ":
                    out.append('<text x="%d" y="%d" fill="%s"%s%s%s>%s</text>' % (
                        x, y + 14, fg, ' font-weight="bold"' if style["bold"] else "",
                        ' font-style="italic"' if style["italic"] else "",
                        ' text-decoration="underline"' if style["under"] else "", escape(ch)))
                x += w
    if len(sys.argv) > 4:
        cx, cy = PAD + int(sys.argv[3]) * CW, PAD + int(sys.argv[4]) * CH
        out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="%s" opacity="0.55"/>' % (cx, cy, CW, CH, FG))
    w, h = 2 * PAD + cols * CW, 2 * PAD + rows * CH
    print('<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="DejaVu Sans Mono, monospace" '
          'font-size="%d"><rect width="%d" height="%d" rx="8" fill="%s"/>' % (w, h, SIZE, w, h, BG))
    print("\n".join(out))
    print("</svg>")


main()
