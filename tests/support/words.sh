#!/bin/bash
# words - prints added lines of sources and documents that break CONTRIBUTING.md's rules about prose.
# SPDX-License-Identifier: MIT
#
# usage: words.sh [BASE]    BASE: a commit, tag or branch, from whose merge base on lines count; default: HEAD~20.
# Looks at comments and messages of C files (shell and code have the same words for other things), *.md and the manual.
# Prints FILE:LINE: TEXT, and exits with 1 if there is one. A person judges: some of these words are right.
set -u
if [ $# -gt 0 ]; then base=$(git merge-base "$1" HEAD) || exit 2; else base=HEAD~20; fi
patterns=(
	'what (was|is|lies|it|they|those)' # a relative clause for a noun
	'those that' 'of which' 'whoever' 'somebody' 'nobody' # a pronoun for a noun
	'is (asked|told|said) of' 'by then' 'all the same'
)
words=$(IFS='|' && echo "${patterns[*]}")

git diff -U0 --no-color --no-ext-diff "$base" -- '*.c' '*.h' '*.md' '*.[157]' |
	awk -v words="(^|[^A-Za-z_])($words)([^A-Za-z_]|\$)" '
	/^\+\+\+ / { file = substr($0, 7); prose = file !~ /\.[ch]$/; next }
	/^@@ / { split($3, at, /[+,]/); line = at[2] - 1; next }
	/^\+/ {
		line++; text = substr($0, 2)
		# A line of C counts as far as it is a comment or a string.
		if (!prose && text !~ /\/\*|^[ \t]*\*|"/) next
		if (tolower(text) ~ words) { print file ":" line ": " text; found = 1 }
	}
	END { exit found }'
