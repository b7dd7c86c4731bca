# shellcheck shell=bash disable=SC2154
# workloads - the files and commands of the bench's rows; sourced by bench.sh.
# SPDX-License-Identifier: MIT

# A project of 16 C files that take some work to compile.
make_project() { # DIR
	mkdir -p "$1" && awk -v dir="$1" 'BEGIN {
		for (f = 0; f < 16; f++) {
			file = dir "/f" f ".c"
			printf "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" >file
			for (i = 0; i < 30; i++)
				printf "int f%d_%d(int x) { char b[64]; snprintf(b, 64, \"%%d\", x); for (int i = 0; i < x; i++) x += (int)strlen(b) * i; return x; }\n", f, i >file
			close(file)
		}
		file = dir "/Makefile"
		printf "prog.a: $(patsubst %%.c,%%.o,$(wildcard *.c))\n\tar rcs $@ $^\n%%.o: %%.c\n\tcc -O1 -c -o $@ $<\nclean:\n\trm -f *.o prog.a\n" >file
	}'
}

# The tree of tests/bench/tree.c, as a git repository and as an archive, its C files once more side by side, and the
# project. describe_tree prints its size.
make_native() { # DIR
	"$tools/tree" "$1/tree" && make_project "$1/project" && mkdir "$1/csrc" &&
		find "$1/tree" -name '*.c' -exec cp -t "$1/csrc" {} + && (
		cd "$1" && tar -cf tree.tar tree && git -C tree init -q . && git -C tree add -A &&
			git -C tree commit -qm all
	)
}
# A part of the archive, 1156 files, as a new repository; git add takes some time.
# shellcheck disable=SC2034 # for rows
some_fresh="rm -rf fresh; tar -xf tree.tar --one-top-level=fresh --wildcards 'tree/dir[0-3]/*'; git -C fresh init -q ."
describe_tree() { # DIR
	local packed size files
	packed=$(gzip -6 <"$1/tree.tar" | wc -c) size=$(wc -c <"$1/tree.tar")
	files=$(tar -tf "$1/tree.tar" | grep -vc '/$')
	awk -v f="$files" -v s="$size" -v p="$packed" -v c="$(cat "$1"/csrc/* | wc -c)" -v n="$(find "$1/csrc" -type f | wc -l)" \
		'BEGIN { printf "tree: %d files, %.0f MB of text that compresses %.1f:1, %d of them C files of %.0f KB\n", f, s / 1e6, s / p, n, c / n / 1000 }'
}

# Many small files in 100 directories, for rows that count paths.
make_many() { # DIR FILES
	mkdir -p "$1" && awk -v dir="$1" -v n="$2" 'BEGIN {
		for (i = 0; i < 100; i++) { system("mkdir " dir "/d" i) }
		for (i = 0; i < n; i++) { f = dir "/d" i % 100 "/file" i; printf "line of file %d\n", i >f; close(f) }
	}'
}
