#!/bin/bash
# tools - front ends for find, xargs, parallel and rm, inside each backend.
# SPDX-License-Identifier: MIT
# root and user
. "$(dirname "$0")/../support/lib.sh"
need_sandbox
outside=$(new_folder outside)
echo mine >"$outside/file"

for backend in native bwrap landlock; do
	dir=$(new_folder "work-$backend")
	run() { (cd "$dir" && "$CORDON" run --headless --backend "$backend" --ro "$outside" --set "tools.safe=$mode" -- "$@"); }
	# says STATUS REGEX NAME COMMAND
	says() {
		local want=$1 regex=$2 name=$3 out
		shift 3
		out=$(run sh -c "$1" 2>&1)
		is "$?" "$want" "$backend, $mode: $name: status"
		like "$out" "$regex" "$backend, $mode: $name: words"
	}
	mode=off
	run true >/dev/null 2>&1 || {
		skip "$backend: front ends" "it cannot start here"
		continue
	}
	touch "$dir/a" "$dir/b" "$dir/c d"
	is "$(run sh -c 'find . -name a -exec echo {} \; ; echo "$CORDON_TOOLS"')" ./a "$backend: off, find is find"
	mode=on
	says 1 'find -exec is not for agents' "find -exec" 'find . -name a -exec rm {} \;'
	says 1 'find -delete' "find -delete" 'find . -delete'
	is "$(run find . -name a)" ./a "$backend, $mode: find that only lists"
	says 1 'xargs runs a command on names' "xargs" 'ls | xargs rm'
	says 1 'parallel runs' "parallel" 'parallel rm ::: a b'
	says 1 "$outside/file lies outside the working folders" "rm elsewhere" "rm -f $outside/file"
	says 1 "$outside/file lies outside" "rm by a link to a directory" "ln -sfn $outside link; rm link/file"
	says 0 '^$' "rm inside, of a link" 'rm -f b link -- "c d"'
	is "$(find "$dir" -type f -printf '%f ')$(cat "$outside/file")" 'a mine' "$backend: what was to go went, nothing else"
	is "$(run /usr/bin/find . -name a -exec echo x \;)" x "$backend, $mode: by its full path it is what it was"
	is "$(run sh -c 'PATH=/nowhere:$PATH; type find' | sed 's/.* is //')" "$(dirname "$(realpath "$CORDON")")/safe-tools/find" "$backend: first in PATH"
	mode=warn
	says 0 'find -exec is not for agents.*ran' "find -exec" 'find . -name a -exec echo ran \; 2>&1 | tr "\n" " "'
done
# Outside the sandbox they behave like the original programs.
is "$(cd "$dir" && "$(dirname "$(realpath "$CORDON")")/safe-tools/find" . -name a -exec echo x \;)" x "outside they run the program"
mkdir "$HOME/p" && cd "$HOME/p" && printf '[tools]\n\tsafe = on\n' >.cordon.conf
is "$("$CORDON" run --headless -- sh -c 'echo $CORDON_TOOLS')" on "a project may switch them on"
mkdir -p "$HOME/.config/cordon" && printf '[tools]\n\tsafe = on\n' >"$HOME/.config/cordon/config" && printf '[tools]\n\tsafe = off\n' >.cordon.conf
like "$("$CORDON" run --headless -- sh -c 'echo $CORDON_TOOLS' 2>&1)" 'tools.safe' "and not off"
done_testing
