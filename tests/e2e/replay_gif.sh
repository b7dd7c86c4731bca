#!/bin/bash
# replay_gif - a recording as an animated GIF, read back by other programs: text, times, colours, limits.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
export LC_ALL=C.UTF-8
/usr/bin/python3 -c 'import PIL' 2>/dev/null && python=/usr/bin/python3 || python=python3
$python -c 'import PIL' 2>/dev/null || skip_all "Pillow is not here"
gif=$TEST_TMP/a.gif cast=$TEST_TMP/a.cast
read_gif() { $python tests/support/gif_text.py "$@"; }
tmux_shows() { [ "$(screen | read_gif same)" = "$1" ]; }
export_gif() { "$CORDON" replay "$cast" --export gif "$@" >"$gif"; }

# ---- what it shows, against tmux ------------------------------------------------------------------------------
# A session that scrolls, draws over itself, uses the alternate screen, regions, wide and combined characters, styles.
python3 - "$TEST_TMP" <<'END'
import json, sys
text = "".join
scenes = [
    (0.5, "\x1b[?25lplain text, \x1b[31mred\x1b[m \x1b[7mreversed\x1b[m \x1b[1mbold\x1b[m\r\n"),
    (1.0, "".join("line %d of many\r\n" % i for i in range(30))),
    (1.5, "\x1b[5;8H\x1b[44m ground \x1b[m\x1b[8;1H\x1b[2K\x1b[10;3H\x1b[3Mlines are gone"),
    (2.0, "\x1b[3;10r\x1b[3;1H\x1bM\x1bMscrolled down\x1b[r\x1b[24;1H"),
    (2.5, "\x1b[?1049h\x1b[2J\x1b[H\u256d\u2500\u2500\u2500\u252c\u2500\u256e\r\n\u2502\u23fa \u273b\u2502\u2588\u2502\r\n"
          "\u2570\u2500\u2500\u2500\u2534\u2500\u256f \u280b\u28ff \u2590\u259b\u2588\u259c\u258c \u2192 \u2026 \u2714 \u276f\r\n"
          "\u3053\u3093\u306b\u3061\u306f \u30ab\u30ca| \u0414\u0430 \u03b1\u03b2 \u00fc\u00df|\r\n"
          "\u4f60\u597d| \U0001f389|"),
    (3.0, "\x1b[10;1Htyped\x1b[10;2H\x1b[4h--\x1b[4l\x1b[11;1Hab\x1b[11;1H\x1b[1P\x1b[12;70Hto the margin and over it"),
    (3.5, "\x1b[?1049l back"),
]
with open(sys.argv[1] + "/a.cast", "w") as out:
    out.write('{"version": 2, "width": 80, "height": 24}\n')
    for t, data in scenes:
        out.write(json.dumps([t, "o", data]) + "\n")
for n in range(len(scenes)):
    with open(sys.argv[1] + "/bytes%d" % n, "w") as out:
        out.write(text(data for _, data in scenes[:n + 1]))
END
ok "a recording becomes a GIF" export_gif
is "$(read_gif size "$gif")" "80 24 8" "of its size, with a picture for each change and the empty screen"
is "$(read_gif times "$gif" | tr '\n' ' ')" "0 500 1000 1500 2000 2500 3000 3500 " "each at its time"
is "$(read_gif screen "$gif" 0.3)" "█" "it begins with an empty screen and the cursor"
for n in 0 1 2 3 4 5 6; do
	start 80 24 "$TEST_TMP" "stty raw -echo; cat bytes$n; echo shown >shown$n; cat"
	wait_for 10 test -s "$TEST_TMP/shown$n"
	shown=$(read_gif screen "$gif" "$(awk "BEGIN { print $n * .5 + .7 }")")
	wait_for 10 tmux_shows "$shown" # the file says that the bytes were sent, not that tmux has read them
	is "$shown" "$(screen | read_gif same)" "after change $((n + 1)): each cell is as in tmux"
done
like "$(read_gif screen "$gif" 2.7)" '□□' "what the font lacks is a box"

# ---- colours and styles ---------------------------------------------------------------------------------------
cast=$TEST_TMP/colors.cast
python3 - "$cast" <<'END'
import json, sys
rows = ["\x1b[48;2;18;52;86m \x1b[48;2;250;200;1m \x1b[41m \x1b[48;5;208m \x1b[48;5;244m \x1b[m \x1b[7m \x1b[m\r\n"]
for y in range(20): # 800 colours at once
    rows.append("".join("\x1b[48;2;%d;%d;%dm " % (y * 12, x * 6, 255 - y * 5) for x in range(40)) + "\x1b[m\r\n")
open(sys.argv[1], "w").write('{"version": 2, "width": 40, "height": 24}\n' + json.dumps([0, "o", rows[0]]) + "\n" +
                             json.dumps([1, "o", "".join(rows[1:])]) + "\n")
END
export_gif
colors=$(read_gif colors "$gif" 0)
is "${colors:0:48}" "123456 fac801 cd3131 ff8700 808080 0c0d10 d5dae3" "true colours, indexes, the ground and reverse are exact"
read_gif colors "$gif" 10 >"$TEST_TMP/row"
python3 - "$TEST_TMP/row" <<'END' && pass "more than 256 at once are the nearest that there is" || fail "more than 256 at once" "$(cat "$TEST_TMP/row")"
import sys
for x, c in enumerate(open(sys.argv[1]).read().split()):
    got = [int(c[i:i + 2], 16) for i in (0, 2, 4)]
    assert all(abs(a - b) <= 48 for a, b in zip(got, (9 * 12, x * 6, 255 - 9 * 5))), (x, c)
END

# ---- time -----------------------------------------------------------------------------------------------------
cast=$TEST_TMP/time.cast
cat >"$cast" <<'END'
{"version": 2, "width": 20, "height": 4}
[0, "o", "begins"]
[0.3, "o", "1"]
[0.31, "o", "2"]
[0.35, "o", "3"]
[0.39, "o", "4"]
[0.7, "o", "\u001b[?2026h\u001b[H torn"]
[0.75, "o", " whole\u001b[?2026l"]
[20, "c", "{\"t\":20000000,\"e\":\"row\",\"text\":\"not seen\"}"]
[60, "o", "\r\nlater"]
[60.2, "c", "{\"t\":60200000,\"e\":\"state\",\"memory\":1}"]
[60.5, "o", ""]
[61, "o", "\r"]
END
export_gif
is "$(read_gif times "$gif" | tr '\n' ' ')" "0 300 400 800 2750 3750 " \
	"fast changes are one picture, a repaint is shown when it ends, a pause is cut to two seconds, no change is no picture"
like "$(read_gif screen "$gif" 0.05)" '^begins█$' "what is there at once is in the first"
like "$(read_gif screen "$gif" 0.35)" '^begins1█$' "what comes first is shown at once"
like "$(read_gif screen "$gif" 0.5)" '^begins1234█$' "the others together"
like "$(read_gif screen "$gif" 0.9)" '^ torn whole█$' "the repaint when it was whole"
export_gif --idle-limit 0 --speed 4
is "$(read_gif times "$gif" | tr '\n' ' ')" "0 100 200 15000 15250 " "--speed and --idle-limit"
sed -i '1s/}/, "idle_time_limit": 0.5}/' "$cast"
export_gif
is "$(read_gif times "$gif" | tail -n 2 | tr '\n' ' ')" "1250 2250 " "the recording's own limit of pauses"
printf '{"version": 2, "width": 20, "height": 4}\n[0, "o", "a"]\n[1500, "o", "b"]\n' >"$cast"
export_gif --idle-limit 0
is "$(read_gif times "$gif" | tail -n 1)" 1500000 "a pause that is longer than GIF's longest"

# ---- sizes ----------------------------------------------------------------------------------------------------
cast=$TEST_TMP/size.cast
cat >"$cast" <<'END'
{"version": 2, "width": 10, "height": 4}
[0.5, "o", "small"]
[1, "r", "30x6"]
[1.5, "o", "\u001b[H\u001b[2Jlarge"]
[2, "r", "1x1"]
[2.5, "r", "12x3"]
[3, "o", "\u001b[H\u001b[2Jagain"]
END
ok "a terminal that changes its size" export_gif
like "$(read_gif size "$gif")" '^30 6 ' "has a GIF of the largest"
is "$(read_gif screen "$gif" 0.7)" "small█" "what it showed when it was small"
is "$(read_gif screen "$gif" 1.7)" "large█" "when it was large"
is "$(read_gif screen "$gif")" "again█" "and small again, with nothing left beside it"

# ---- parts of a picture ---------------------------------------------------------------------------------------
# Each image has only the changes. Together they show what one image of the whole screen shows.
cast=$TEST_TMP/parts.cast
for seed in 1 2 3 4 5 6; do
	python3 - "$seed" "$cast" "$TEST_TMP/whole.cast" <<'END'
import json, random, sys
random.seed(int(sys.argv[1]))
parts = ["a", "\u3042", "\u30ab\u30ca", "e\u0301", "\U0001f389", "\u2500", "\x1b[K", "\x1b[1P", "\x1b[2@", "\x1b[7m", "\x1b[4;9m", "\x1b[m",
         "\x1b[44m", "\x1b[?25l", "\x1b[?25h", "\x1b[5 q", "\x1b[3 q", "\x1b[1 q", "\x1b[L", "\x1bM", "\r\n"]
events = [["o", "".join("\x1b[%d;%dH" % (random.randint(1, 3), random.randint(1, 8)) +
                        "".join(random.choices(parts, k=3)) for _ in range(random.randint(1, 3)))] for _ in range(60)]
if int(sys.argv[1]) % 2: # without the cursor: it is two columns wide for who compares
    events = [["o", "\x1b[?25l\x1b[1;%dH%s" % (random.randint(1, 4) * 2, random.choice("\u3042\u3044\u30ab\u30ca"))] for _ in range(60)]
    events += [["o", "\x1b[2;1H" + 4 * "\u3042"], ["o", "\x1b[1;2Hx\x1b[3;2Hy"]]  # around half of a character
for path, step in zip(sys.argv[2:], (.2, 0)):
    with open(path, "w") as out:
        out.write('{"version": 2, "width": 8, "height": 3}\n')
        for n, event in enumerate(events):
            out.write(json.dumps([n * step] + event) + "\n")
END
	export_gif
	"$CORDON" replay "$TEST_TMP/whole.cast" --export gif >"$TEST_TMP/whole.gif"
	ok "many small changes are the whole (seed $seed)" read_gif equal "$gif" "$TEST_TMP/whole.gif"
done

# ---- limits ---------------------------------------------------------------------------------------------------
refuses() { # REGEX NAME ARGUMENTS...
	local regex=$1 name=$2 out
	shift 2
	if out=$("$CORDON" replay "$cast" --export gif "$@" 2>&1 >"$gif"); then fail "$name" "no error: $out"; else like "$out" "$regex" "$name"; fi
}
out=$("$CORDON" replay "$cast" --export gif 2>&1 >/dev/full) && fail "a full disk" "no error"
like "$out" 'standard output.*No space left' "a file that cannot be written"
start 80 24 "$TEST_TMP" "$CORDON replay $cast --export gif"
sees 'standard output is a terminal' "a terminal is not written to"
refuses "no number from 0.0625 to 64" "a speed that is none" --speed 0
refuses "no number of seconds" "a limit that is none" --idle-limit x
out=$("$CORDON" replay "$cast" --export html --speed 2 2>&1) && fail "speed of a page" "no error"
like "$out" 'for the console and --export gif' "--speed is not for a page"
printf '{"version": 2, "width": 80, "height": 24}\n[1, "r", "1000x2"]\n[2, "r", "2x1000"]\n[4, "o", "a"]\n' >"$cast"
refuses "up to 1000 columns and 1000 rows" "a screen that is too large is refused"
is "$(wc -c <"$gif")" 0 "before anything is written"
printf '{"version": 2, "width": 20, "height": 4}\n[4, "r", "60x4"]\n[4.1, "r", "20x4"]\n[9, "o", "a"]\n' >"$cast"
"$CORDON" replay "$cast" --export gif >"$gif"
like "$(read_gif size "$gif")" '^20 4 ' "a moment of zoom makes nothing wider"
awk 'BEGIN { print "{\"version\": 2, \"width\": 2, \"height\": 2}"
	for (i = 1; i <= 37000; i++) printf "[%d.%d, \"o\", \"%d\"]\n", i / 5, i % 5 * 2, i % 10 }' >"$cast"
refuses "ends at 2:00:00 of the recording: it has 36000 pictures" "one that is too long is cut, and that is said" --idle-limit 0
is "$(read_gif size "$gif")" "2 2 36000" "and is a whole GIF"
printf 'not json' >"$cast"
refuses "not a recording" "what is no recording"
printf '{"version": 2, "width": 20, "height": 4}\n[0.5, "o", "all that"]\n[0.6, "o", "is torn' >"$cast"
ok "a recording that is broken" export_gif
like "$(read_gif screen "$gif")" '^all that█$' "is shown as far as it can be read"
done_testing
