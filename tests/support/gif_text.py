#!/usr/bin/python3
# gif_text - reads a GIF of `cordon replay --export gif` back: its text by the font's pixels, its times, its colours.
# SPDX-License-Identifier: MIT
#
# usage: gif_text.py screen GIF [SECONDS]   the text that is shown then; without a time, at the end
#        gif_text.py same <TEXT             the text, with characters that look alike in the font as one of them
#        gif_text.py times GIF              a line for each picture: when it begins, milliseconds
#        gif_text.py colors GIF Y           the colours of the cells of a row, by their first pixel
#        gif_text.py equal GIF GIF         both show the same at the end, each pixel
#        gif_text.py size GIF               columns, rows, pictures; it ends as a GIF must
#
# Decoded by Pillow, and by nothing of cordon's. `size` walks the blocks itself: Pillow is slow with many pictures.
import os
import struct
import sys
import unicodedata

FONT = "tui/look/unifont.hex"
INSTALLED = "/usr/share/unifont/unifont.hex"
W, H = 8, 16
GROUND, TEXT = (0x0c, 0x0d, 0x10), (0xd5, 0xda, 0xe3)


def glyphs():
    found = {}
    for path in (FONT, INSTALLED):
        if not os.path.exists(path):
            continue
        for line in open(path, encoding="utf-8"):
            if line[:1] != "#" and line[4:5] == ":":
                found.setdefault(int(line[:4], 16), line[5:].strip())
    return found


# The rows of a character in a cell of so many columns, as numbers.
def rows_of(digits, columns):
    wide, rows = len(digits) == 64, []
    for y in range(H):
        bits = format(int(digits[y * len(digits) // H:(y + 1) * len(digits) // H], 16), "016b" if wide else "08b")
        if wide and columns == 1:
            bits = "".join("1" if "1" in bits[i:i + 2] else "0" for i in range(0, 16, 2))
        elif not wide and columns == 2:
            bits = "0000" + bits + "0000"
        rows.append(int(bits, 2))
    return tuple(rows)


def columns_of(ch):
    return 2 if unicodedata.east_asian_width(ch) in "WF" else 1


class Font:
    def __init__(self):
        self.codes, self.glyphs = {}, glyphs()
        for columns in (1, 2):
            side = 1 << (8 * columns - 2) | 2
            whole = (1 << (8 * columns - 1)) - 2
            box = [0, 0, whole] + [side] * 10 + [whole, 0, 0]
            self.codes[columns, tuple(box)] = "\u25a1" * columns
        for code in sorted(self.glyphs):
            for columns in (1, 2):
                if columns_of(chr(code)) == columns:
                    self.codes.setdefault((columns, rows_of(self.glyphs[code], columns)), chr(code))
        self.bold = {}
        for (columns, rows), ch in self.codes.items():
            self.bold.setdefault((columns, tuple(r | r >> 1 for r in rows)), ch)

    def same(self, ch):
        columns = columns_of(ch)
        if ord(ch) not in self.glyphs:
            return "\u25a1" * columns
        return self.codes[columns, rows_of(self.glyphs[ord(ch)], columns)]

    # Reads one cell: the text with these pixels. One of the colours is the terminal's background, if present; else
    # either may be.
    def read(self, px, x, y, columns):
        cell = {px[x * W + dx, y * H + dy] for dy in range(H) for dx in range(W * columns)}
        colors, rows = [GROUND] if GROUND in cell or cell == {TEXT} else [], []
        for dy in range(H):
            row = 0
            for dx in range(W * columns):
                c = px[x * W + dx, y * H + dy]
                if c not in colors:
                    colors.append(c)
                row = row << 1 | colors.index(c)
            rows.append(row)
        if len(colors) > 2:
            return None
        other = tuple(r ^ ((1 << W * columns) - 1) for r in rows)
        for table in (self.codes, self.bold):
            for way in (tuple(rows), other):
                if (columns, way) in table:
                    return table[columns, way]
        return None


def frames(path):
    from PIL import Image, ImageSequence
    at = 0
    for frame in ImageSequence.Iterator(Image.open(path)):
        yield at, frame.convert("RGB")
        at += frame.info["duration"]


def shown(path, seconds):
    image = None
    for at, frame in frames(path):
        if seconds is not None and at > seconds * 1000:
            break
        image = frame
    return image


def screen(path, seconds):
    image, font = shown(path, seconds), Font()
    px, lines = image.load(), []
    for y in range(image.height // H):
        line, x = "", 0
        while x < image.width // W:
            wide = font.read(px, x, y, 2) if x + 1 < image.width // W else None
            one = font.read(px, x, y, 1)
            if one is None and wide is not None:
                line, x = line + wide, x + 2
            else:
                line, x = line + (one or "\ufffd"), x + 1
        lines.append(line.rstrip())
    print("\n".join(lines).rstrip("\n"))


def walk(path):
    data = open(path, "rb").read()
    assert data[:6] == b"GIF89a", data[:6]
    w, h, flags = struct.unpack("<HHB", data[6:11])
    at, pictures = 13 + (3 << (flags & 7) + 1 if flags & 0x80 else 0), 0
    while data[at] != 0x3b:
        if data[at] == 0x21:
            at += 2
        else:
            assert data[at] == 0x2c, hex(data[at])
            flags = data[at + 9]
            at += 11 + (3 << (flags & 7) + 1 if flags & 0x80 else 0)
            pictures += 1
        while data[at]:
            at += data[at] + 1
        at += 1
    assert at + 1 == len(data), "%d bytes behind its end" % (len(data) - at - 1)
    print(w // W, h // H, pictures)


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "screen":
        screen(args[0], float(args[1]) if len(args) > 1 else None)
    elif what == "same":
        font = Font()
        text = "\n".join("".join(map(font.same, line.rstrip())) for line in sys.stdin.read().split("\n"))
        print(text.rstrip("\n"))
    elif what == "times":
        print("\n".join(str(at) for at, _ in frames(args[0])))
    elif what == "colors":
        image = shown(args[0], None)
        print(" ".join("%02x%02x%02x" % image.getpixel((x * W, int(args[1]) * H)) for x in range(image.width // W)))
    elif what == "equal":
        a, b = (shown(path, None) for path in args)
        sys.exit(a.size != b.size or a.tobytes() != b.tobytes())
    else:
        walk(args[0])


main()
