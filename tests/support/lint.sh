#!/bin/bash
# lint - rules that no other tool checks: sizes, include directions, users of curses, every action bound and driven.
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
	.* | Makefile | *.md | LICENSE | tui | core | backends | themes | keymaps | tests | screenshots) ;;
	*) complain "$name does not belong at the top level" ;;
	esac
done

# Sizes: the aim is 150-400 lines; above 1000 a file is too long to understand.
while read -r lines file; do
	[ "$file" = total ] || [ "$lines" -le 1000 ] || complain "$file has $lines lines (at most 1000)"
done < <(find core backends tui tests \( -name '*.[ch]' -o -name '*.sh' \) -exec wc -l {} +)

# Each file begins with its purpose, and its licence.
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
forbid core/os '(core/([a-np-z]|o[a-rt-z])|backends/|tui/)' 'core/os includes more than itself:'
forbid core/base 'core/(config|policy|gate|journal|keeper|diff|audit|record|net|session|api)/' \
	'core/base includes the rest of core:'
forbid core/net 'core/(journal|keeper|policy|proxy|session|api)/' 'core/net includes what is built on it:'
forbid core/policy 'core/(journal|keeper|proxy|session|api)/' 'core/policy includes what is built on it:'
forbid backends 'tui/' 'a backend includes tui:'
for dir in backends/*/; do
	name=$(basename "$dir")
	allowed="$name"
	case $name in landlock | bwrap | vm) allowed="$name|linux" ;; macos) allowed="$name|interpose" ;; esac
	hits=$(grep -rnE '^#[[:space:]]*include[[:space:]]+"backends/[a-z]+/' --include='*.[ch]' "$dir" |
		grep -vE "\"backends/(${allowed})/")
	[ -z "$hits" ] || complain "one backend includes another:
$hits"
done
# Only main.c and the registry know the list of backends.
hits=$(grep -rnE '^#[[:space:]]*include[[:space:]]+"backends/' --include='*.[ch]' tui |
	grep -vE '^tui/(main|commands/[a-z_]+)\.c:')
[ -z "$hits" ] || complain "the console includes a backend:
$hits"

# Floors: each line of the table names a folder and the files of one floor of it, the lowest first.
# A file includes no header of a higher floor, and no two files include each other in a circle. The public headers ($3)
# are below all floors, whichever file defines what they declare.
floors() {
	local dir=$1 table=$2 public=${3:-} known edges file from to loop
	known=$(awk '{for (i = 1; i <= NF; i++) print $i, NR}' <<<"$table")
	edges=$(find "$dir" -name '*.[ch]' -exec grep -HoE "\"$dir/[a-z_0-9/]+\.h\"" {} + |
		sed -E "s,^$dir/([^:]*)\.[ch]:\"$dir/(.*)\.h\",\1 \2," |
		awk -v public="$public" '$1 != $2 && index(" " public " ", " " $2 " ") == 0' | sort -u)
	while read -r file; do
		file=${file#"$dir/"}
		grep -q "^${file%.*} " <<<"$known" || complain "$dir/$file is on no floor (table in lint.sh)"
	done < <(find "$dir" -name '*.[ch]')
	while read -r from to; do
		complain "$dir: $from includes $to.h, which is on a higher floor"
	done < <(awk 'NR == FNR {f[$1] = $2; next} f[$1] < f[$2]' <(echo "$known") <(echo "$edges"))
	loop=$(tsort <<<"$edges" 2>&1 >/dev/null | sed '/contains a loop/d; s/^tsort: //')
	[ -z "$loop" ] || complain "$dir: files include each other in a circle: ${loop//$'\n'/ }"
}
floors backends/linux/door "\
filter_spec call listeners state place interrupts request answer lost parked finish
lookup dirs locate walk resolve read_check proc_files privileges
connecting calls_shared calls_socket calls_peer flow_priv flow_named packet_flow ports calls_flow flow_connect guest_door calls_connect calls_fifo calls_read calls_meta calls_open calls_names calls_exec
table filter_prologue filter_rules filter dispatch door beside_door"
floors core/net "\
addr host hello notes packet suffix upstream
dns_record
book dns dns_build http mask rewrite socks window" dns
floors core/proxy "\
proxy
proxy_priv proxy_door_priv
proxy_process proxy_ask proxy_client proxy_upstream proxy_named proxy_dial proxy_pump proxy_want proxy_door"
floors core/keeper "\
caller door wire approvals/guard_report spec service state
sources channel guest_facts procs loop step_ask
folders/saves folders/tool_dirs folders/review folders/folders folders/unconfined watch/ignored watch/fs_stream watch/watch_tree watch/watch_tree_linux watch/watch_edits watch/watch_filled watch/watch watch/watch_shared watch/watch_priv watch/watch_list_linux watch/watch_moved_linux watch/watch_linux watch/watch_darwin watch/lock_priv watch/lock watch/lock_linux watch/lock_darwin watch/lock_marks_linux watch/lock_who_linux
approvals/question steps/command steps/group_members steps/shell_refs steps/shells steps/label steps/step_name steps/owner steps/step_frames steps/steps steps/step_roll_back steps/hook_steps steps/group steps/ancestry steps/kill_command
events approvals/still_open approvals/grants approvals/asks approvals/safeguard approvals/reload_posts approvals/reload_posts_linux approvals/reload_posts_darwin approvals/reload
folders/outside folders/brought folders/judge folders/folder folders/folder_priv folders/foreseen folders/draft flows brokered socket_owner guests agent_undo
undo_requests requests keeper_process keeper client_event client"
floors tui/term "\
extra filter glyph scrollback pty
line
inside
bulk cells cluster copy_mode encode menu pen reflow respond search sequence sieve snapshot term view wrap" 'term snapshot'

# Folders as floors, the lowest first. Files directly in the folder are above them all, its public headers below.
folder_floors() {
	local dir=$1 order=$2 public=$3 hits
	hits=$(find "$dir" -name '*.[ch]' -exec grep -HoE "\"$dir/[a-z_0-9/]+\.h\"" {} + |
		sed -E "s,^$dir/([^:]*)\.[ch]:\"$dir/(.*)\.h\",\1 \2," | sort -u |
		awk -v order="$order" -v public="$public" '
			function floor(file) { return file ~ "/" ? at[substr(file, 1, index(file, "/") - 1)] : n + 1 }
			BEGIN {
				n = split(order, list, " ")
				for (i = 1; i <= n; i++)
					at[list[i]] = i
				split(public, list, " ")
				for (i in list)
					open[list[i]] = 1
			}
			floor($1) < floor($2) && !($2 in open) { print $1 " includes " $2 ".h, which is on a higher floor" }' | sort)
	[ -z "$hits" ] || complain "$dir:
$hits"
}
# fs/borrow.h declares what the store defines above it: a file is read while mode bits are borrowed, which the store notes.
folder_floors core/journal 'util fs store log step history rollback' \
	'edits history journal mark note op rollback steps turns upkeep'
folder_floors core/policy 'rules git builtin trees' 'policy policy_priv answer learn listed'
folder_floors core/api 'inside acp socket stdio mcp' \
	'acp approver approver_priv channel describe dirs engine fault jobs request_line schema'
folder_floors tui/console 'frame views dialogs replay' 'frame/ui views/list views/view replay/moment replay/replay'
folder_floors core/session 'start answers' 'backend folders kept model session session_priv'

# Dead code: a function of a header that no product source uses. The table lists those that only tests need: the ends
# of objects that a process keeps until it exits, parsers and dumps without files, and state that a test compares.
only_tests='audit_set_session_max filter_code fs_channel_free fs_server_set_caller fs_tree_done
gate_fs_done guest_fuse_free guest_fuse_waiting journal_folder_fd keeper_done keymap_parse mac_launch_wait
surface_dump syn_gate_free term_wants_mouse theme_parse throttle_is_holding background_once vhost_free'
dead_functions() {
	find core backends tui -name '*.[ch]' -print0 | xargs -0 awk -v only="$only_tests" '
		FNR == 1 { comment = 0 }
		{
			line = $0
			if (!comment)
				gsub(/"([^"\\]|\\.)*"/, "\"\"", line)
			else if (line !~ /\*\//)
				next
			else
				sub(/^.*\*\//, "", line)
			comment = 0
			gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, " ", line)
			if (sub(/\/\*.*/, "", line))
				comment = 1
			gsub(/(struct|enum|union) [a-z_0-9]+/, "", line) # which may have the name of a function
		}
		FILENAME ~ /\.h$/ && line ~ /^[a-z]/ && line !~ /^(static|typedef|struct [a-z_0-9]+ \{|enum|extern)/ &&
		match(line, /[a-z_0-9]+\(/) {
			declared[substr(line, RSTART, RLENGTH - 1)] = FILENAME ":" FNR
		}
		line ~ /^([ \t#}]|static)/ { # in a body, a macro or a table; a definition begins in the first column
			n = split(line, words, /[^A-Za-z_0-9]+/)
			for (i = 1; i <= n; i++)
				used[words[i]] = 1
		}
		END {
			split(only, list, /[ \n]+/)
			for (i in list)
				known[list[i]] = 1
			for (name in declared)
				if (!(name in used) && !(name in known))
					print declared[name] ": " name "() has no caller"
			for (name in known)
				if (!(name in declared) || name in used)
					print "lint.sh: " name " does not belong in the table of functions for tests"
		}' | sort
}
hits=$(dead_functions)
[ -z "$hits" ] || complain "dead code:
$hits"

# Names: of the public functions of each folder at least 85 % share a word with their file or one of their folders. A
# table of handlers has a prefix of its own: prepare_chmod(), op_list().
handler_prefixes='backends/linux/door:prepare backends/linux/door:perform core/api/stdio:op tui/commands:cmd'
names() {
	find core backends tui -name '*.c' -print0 | xargs -0 awk -v prefixes="$handler_prefixes" '
		function stem(word) { sub(/s+$/, "", word); return word }
		function add(words,    list, n, i) {
			n = split(words, list, /[\/_]/)
			for (i = 1; i <= n; i++)
				known[stem(list[i])] = 1
		}
		BEGIN {
			n = split(prefixes, list, " ")
			for (i = 1; i <= n; i++) {
				split(list[i], one, ":")
				prefix[one[1]] = prefix[one[1]] "/" one[2]
			}
		}
		FNR == 1 {
			delete known
			file = FILENAME; sub(/\.c$/, "", file)
			folder = FILENAME; sub(/\/[^\/]*$/, "", folder)
			add(file prefix[folder])
		}
		/^[A-Za-z]/ && !/(^|[A-Z] )(static|typedef|extern) |[;:{]$/ &&
		match($0, /[ *][a-z_0-9]+\(/) {
			name = substr($0, RSTART + 1, RLENGTH - 2)
			if (name == "main")
				next
			n = split(name, words, "_")
			shared = 0
			for (i = 1; i <= n; i++)
				shared = shared || stem(words[i]) in known
			count[folder]++
			if (shared)
				good[folder]++
			else
				bad[folder] = bad[folder] " " name
		}
		END {
			for (folder in count)
				if (good[folder] < 0.85 * count[folder])
					print folder ": " good[folder] + 0 " of " count[folder] " names share a word with their file:" bad[folder]
		}' | sort
}
hits=$(names)
[ -z "$hits" ] || complain "names (at least 85 % share a word with their file or folder):
$hits"

# The manual is read once: a sentence has at most 40 words. A paragraph, an item and a heading end one.
long_sentences() {
	awk '
		function flush() {
			if (words > 40)
				print FILENAME ":" from ": a sentence of " words " words:" substr(text, 1, 120)
			words = 0
			text = ""
		}
		FNR == 1 || /^\.(Sh|Ss|Pp|Bl|El|It|Bd|Ed)/ { flush() }
		/^\.Bd/ { shown = /literal|unfilled/ }
		FNR == 1 || /^\.Ed/ { shown = 0 }
		shown || /^\.(\\"|Sh|Ss|Bl|Bd|Dd|Dt|Os)/ { next }
		{
			is_macro = sub(/^\./, "")
			for (i = 1; i <= NF; i++) {
				if ($i ~ /[A-Za-z0-9]/ && !(is_macro && $i ~ /^[A-Z][a-z]$/)) {
					from = words ? from : FNR
					words++
					text = text " " $i
				}
				if ($i ~ /[.!?:]["\047)]*$/)
					flush()
			}
		}
		END { flush() }' tui/man/*.[157]
}
hits=$(long_sentences)
[ -z "$hits" ] || complain "the manual (a sentence has at most 40 words):
$hits"

# A page of the manual has the date of its last change, give or take a week.
for page in tui/man/*.[157]; do
	changed=$(git log -1 --format=%ct -- "$page" 2>/dev/null)
	dated=$(date -d "$(sed -n 's/^\.Dd //p' "$page")" +%s 2>/dev/null)
	[ -z "$changed" ] || [ "$((changed - ${dated:-0}))" -lt $((8 * 86400)) ] || complain "$page: .Dd is older than its last change"
done

# Only one file uses curses (and the terminal's).
hits=$(grep -rnE '^#[[:space:]]*include[[:space:]]+<(n?curses|ncursesw/|term\.h)' --include='*.[ch]' core backends tui |
	grep -vE '^tui/(look/screen\.c|term/)')
[ -z "$hits" ] || complain "curses outside tui/look/screen.c and tui/term:
$hits"

# The user's programs are started by core/base/external.h alone. The other files start a sandbox, run in one, or on a
# Mac.
hits=$(grep -rnE '\b(exec(v|l|ve|vp|le|lp|vpe)|fexecve|execveat|posix_spawnp?|uv_spawn|popen|system|wordexp)\(' \
	--include='*.[ch]' core backends tui | grep -vE ':[[:space:]]*(/?\*|.*/\*.*\b(exec|posix|uv_)[a-z]*\()' |
	grep -vE '^(core/base/external\.c|core/api/inside/task\.c|backends/linux/sandbox/agent\.c|backends/bwrap/bwrap\.c|backends/vm/qemu/(accel|start)\.c|backends/vm/shim/jobs\.c|backends/macos/[a-z_/]+\.c|tui/commands/(tool|run)\.c):')
[ -z "$hits" ] || complain "a program is started without core/base/external.h:
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
		# And a test has pressed it in the real program.
		grep -qE "^[[:space:]]*act $action |^# drives:(.* )?$action( |$)" tests/e2e/*.sh ||
			complain "action $action is driven by no test: act $action KEY in tests/e2e"
	done
fi
exit $bad
