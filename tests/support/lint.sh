#!/bin/bash
# lint - what no tool knows: sizes, include directions, who may see curses, every action bound.
# SPDX-License-Identifier: MIT
set -u
cd "$(dirname "$0")/../.." || exit 1
bad=0
complain() {
	echo "lint: $1"
	bad=1
}

# The top level is fixed.
for name in $(git ls-files 2>/dev/null | cut -d/ -f1 | sort -u); do
	case $name in
	.* | Makefile | *.md | LICENSE | cordon.1 | tui | core | backends | themes | keymaps | tests | screenshots) ;;
	*) complain "$name does not belong at the top level" ;;
	esac
done

# Sizes: 150-400 lines are aimed at; above 1000 nobody can hold a file in mind.
while read -r lines file; do
	[ "$file" = total ] || [ "$lines" -le 1000 ] || complain "$file has $lines lines (at most 1000)"
done < <(find core backends tui tests \( -name '*.[ch]' -o -name '*.sh' \) -exec wc -l {} +)

# Each file says what it is for, and its licence.
while read -r file; do
	first=$(grep -vm1 '^#!' "$file") name=$(basename "$file")
	name=${name%.*}
	case $first in
	"/* $name - "*) ;;
	"# $name - "* | "# shellcheck"*) ;;
	*) complain "$file: does not begin with its name and purpose" ;;
	esac
	grep -q 'SPDX-License-Identifier: MIT' "$file" || complain "$file: no SPDX line"
done < <(find core backends tui tests -name '*.[ch]' -o -name '*.sh')

# Directions: base <- core <- backends <- tui. $1 may not include what matches $2.
forbid() {
	local hits
	hits=$(grep -rnE "^#[[:space:]]*include[[:space:]]+[<\"]($2)" --include='*.[ch]' "$1" 2>/dev/null)
	[ -z "$hits" ] || complain "$3
$hits"
}
forbid core '(backends|tui)/' 'core includes backends or tui:'
forbid core/base 'core/(config|policy|gate|journal|keeper|diff|audit|record|net|session|api)/' \
	'core/base includes the rest of core:'
forbid backends 'tui/' 'a backend includes tui:'
for dir in backends/*/; do
	name=$(basename "$dir")
	allowed="$name"
	case $name in landlock | bwrap) allowed="$name|linux" ;; esac
	hits=$(grep -rnE '^#[[:space:]]*include[[:space:]]+"backends/[a-z]+/' --include='*.[ch]' "$dir" |
		grep -vE "\"backends/(${allowed})/")
	[ -z "$hits" ] || complain "one backend includes another:
$hits"
done
# Only main.c and the registry know which backends there are.
hits=$(grep -rnE '^#[[:space:]]*include[[:space:]]+"backends/' --include='*.[ch]' tui |
	grep -vE '^tui/(main|commands/[a-z]+)\.c:')
[ -z "$hits" ] || complain "the console includes a backend:
$hits"

# curses is one file's business (and the terminal's).
hits=$(grep -rnE '^#[[:space:]]*include[[:space:]]+<(n?curses|ncursesw/|term\.h)' --include='*.[ch]' core backends tui |
	grep -vE '^tui/(look/screen\.c|term/)')
[ -z "$hits" ] || complain "curses outside tui/look/screen.c and tui/term:
$hits"

# Line comments are for debugging, TODOs for the tracker.
hits=$(grep -rnE '^[[:space:]]*//|TODO|FIXME|XXX:' --include='*.[ch]' core backends tui)
[ -z "$hits" ] || complain "left-overs:
$hits"

# Every action can be reached from the keyboard in the default keymap, or says "none" there.
if [ -f tui/look/action.h ] && [ -f keymaps/default.keys ]; then
	for action in $(awk '/define ACTIONS\(X\)/, /^$/' tui/look/action.h |
		sed -nE 's/^[[:space:]]*X\([A-Z_0-9]+,[[:space:]]*"([a-z0-9-]+)".*/\1/p'); do
		grep -qE "^[[:space:]]*${action}[[:space:]]*=" keymaps/default.keys ||
			complain "action $action is neither bound nor 'none' in keymaps/default.keys"
	done
fi
exit $bad
