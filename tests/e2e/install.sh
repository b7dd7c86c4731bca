#!/bin/bash
# install - `cordon install`, `uninstall`, `init`: settings, hooks and completions of a home, and the home as before.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
unset XDG_CONFIG_HOME XDG_STATE_HOME XDG_DATA_HOME
export SHELL=/bin/bash
PATH=$(dirname "$CORDON"):$PATH

home() { # everything in the home, with content and mode
	(cd "$HOME" && find . -printf '%p %m\n' | sort && find . -type f -print0 | sort -z | xargs -0 -r md5sum)
}
settings=$HOME/.claude/settings.json
mkdir -p "$HOME/.claude" "$HOME/.gemini" "$HOME/.codex" "$HOME/.config/opencode"
printf '{"model":"x", "hooks":{"SessionEnd":[]}}' >"$settings" && chmod 600 "$settings"
printf '{\n// mine\n"a":1}\n' >"$HOME/.gemini/settings.json"
before=$(home)

out=$(cordon install --dry-run)
is "$(home)" "$before" "a dry run changes nothing"
out=$(cordon install 2>&1 </dev/null)
like "$out" 'add --yes' "without a terminal it wants --yes"
is "$(home)" "$before" "and changes nothing"

out=$(cordon install --yes 2>"$TEST_TMP/err")
is "$? $(sed 's/(.*line 2.*)/(line 2)/' "$TEST_TMP/err")" "1 cordon: install: not done: $HOME/.gemini/settings.json (line 2)" \
	"what was not done is named, with status 1"
like "$out" 'gemini/settings.json.*line 2' "settings with comments are named with their line"
like "$out" 'Done, 5 files' "the rest is done"
is "$(python3 -c 'import json; d = json.load(open("'"$settings"'")); print(d["model"], d["hooks"]["SessionEnd"], d["hooks"]["PreToolUse"][0]["hooks"][0]["command"])')" \
	'x [] cordon hook' "Claude's settings are merged"
is "$(stat -c %a "$settings")" 600 "with their mode"
is "$(cat "$HOME/.gemini/settings.json")" "$(printf '{\n// mine\n"a":1}\n')" "what cannot be read is left alone"
is "$(python3 -c 'import json; print(*json.load(open("'"$settings"'"))["hooks"])')" 'SessionEnd PreToolUse PostToolUse UserPromptSubmit PermissionRequest Notification Stop' "for each event"
ok "codex's hook is JSON" python3 -m json.tool "$HOME/.codex/hooks.json"
ok "opencode's plugin is there" grep -q 'tool.execute.before' "$HOME/.config/opencode/plugins/cordon.js"
ok "the settings are accepted" cordon policy check "$HOME/.config/cordon/config"
ok "and a command starts with them" cordon policy list
installed=$(home)
like "$(cordon install --yes 2>/dev/null)" 'nothing to do' "a second time there is nothing to do"
is "$(home)" "$installed" "and nothing is changed"

# ---- completions, as bash uses them
complete_words() { # WORD... ; the last one is being typed
	bash -c 'source "$1" && shift && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _cordon && printf "%s\n" "${COMPREPLY[@]}"' \
		_ "$HOME/.local/share/bash-completion/completions/cordon" "$@"
}
is "$(complete_words cordon unin)" uninstall "bash completes a subcommand"
is "$(complete_words cordon undo --keep)" --keep-mine "an option of a subcommand"
is "$(complete_words cordon log --s | xargs)" "--size" "and no other word of its help"
is "$(complete_words cordon --headl)" --headless "and one of run"
is "$(complete_words cordon run --network "" | xargs)" "none ask open" "the values of an option"
is "$(complete_words cordon --backend land)" landlock "of one by its beginning"
is "$(complete_words cordon replay --cast v | xargs)" "v2 v3" "values with digits"
is "$(complete_words cordon policy "" | xargs)" "list trust forget check" "the words of a subcommand"
is "$(complete_words cordon why co)" connect "and what it is about"
is "$(cd / && complete_words cordon diff et)" etc "else a file"
# `cordon make --help` would run make: a completion must not.
bash -c 'source "$1"; out=$2; cordon() { echo "$*" >>"$out"; command cordon "$@"; }; COMP_WORDS=(cordon make --v); COMP_CWORD=2; _cordon; echo "${COMPREPLY[@]}" >>"$2"' \
	_ "$HOME/.local/share/bash-completion/completions/cordon" "$TEST_TMP/calls"
is "$(xargs <"$TEST_TMP/calls")" "help make" "the option of a program is asked of nobody"
files=$(realpath "$(dirname "$0")/../../core/setup/files" 2>/dev/null)
if command -v fish >/dev/null && [ -f "$files/cordon.fish" ]; then
	# shellcheck disable=SC2016 # fish expands them
	complete_fish() { XDG_CONFIG_HOME=$TEST_TMP/fish XDG_DATA_HOME=$TEST_TMP/fish fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$files/cordon.fish" "$1" | cut -f1 | xargs; }
	is "$(complete_fish "cordon unin")" uninstall "fish completes a subcommand"
	is "$(complete_fish "cordon undo --keep")" --keep-mine "an option"
	is "$(complete_fish "cordon --backend land")" landlock "its value"
	is "$(complete_fish "cordon policy tr")" trust "the words of a subcommand"
	is "$(complete_fish "cordon make --v")" "" "and no option of a program"
fi
long=$(for command in "" $(cordon --help | sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p'); do
	# shellcheck disable=SC2086 # none is cordon --help
	cordon $command --help | awk -v c="$command" 'length > 80 { print c ": " $0 }'; done)
is "$(head -n 5 <<<"$long")" "" "--help of every command fits into 80 columns"

# ---- removed again
installed=$(home)
out=$(cordon uninstall 2>&1 </dev/null)
like "$out" 'cordon/config: will be removed' "uninstall says what it would remove"
like "$out" 'add --yes' "and that nobody confirmed it"
is "$(home)" "$installed" "and removes nothing"
is "$(cordon uninstall --yes | tail -n 1)" "Done." "with --yes it reports its end"
is "$(home)" "$before" "uninstall leaves the home as it was"
out=$(cordon uninstall --yes 2>&1)
is "$? $out" '0 There is nothing to do: nothing is installed for this user.' "a second time there is nothing to do"
printf '{"a":1}' >"$HOME/.gemini/settings.json"

cordon install --yes >/dev/null
python3 - "$settings" <<'P'
import json, sys
d = json.load(open(sys.argv[1])); d["model"] = "y"; json.dump(d, open(sys.argv[1], "w"))
P
echo '# mine' >>"$HOME/.config/cordon/config"
out=$(cordon uninstall --yes)
like "$out" 'hook will be removed; you changed the rest' "what was edited meanwhile keeps the edit"
is "$(python3 -c 'import json; print(json.load(open("'"$settings"'")))')" "{'model': 'y', 'hooks': {'SessionEnd': []}}" "without the hook"
like "$out" 'cordon/config: you changed it' "settings that were edited stay"
ok "with the edit" grep -q '# mine' "$HOME/.config/cordon/config"

# ---- an older version's hook is updated, and removed as a whole
rm -rf "$HOME/.local/state/cordon" && printf '{"model":"x"}' >"$settings"
cordon install --yes >/dev/null
python3 - "$settings" "$HOME/.local/state/cordon/installed.json" <<'P'
import json, sys, subprocess
d = json.load(open(sys.argv[1])); del d["hooks"]["PostToolUse"], d["hooks"]["UserPromptSubmit"]
json.dump(d, open(sys.argv[1], "w"))
P
like "$(cordon install --yes)" 'our part is added' "an older hook"
ok "gets what is new" grep -q UserPromptSubmit "$settings"
cordon uninstall --yes >/dev/null
is "$(python3 -c 'import json; print(json.load(open("'"$settings"'")))')" "{'model': 'x'}" "and all of it goes"

# ---- an older version's file is updated; the user's own is not
completion=$HOME/.local/share/bash-completion/completions/cordon
cordon install --yes >/dev/null
echo other >"$completion"
like "$(cordon install --yes 2>&1)" 'differs: it stays' "a file that differs stays"
is "$(cat "$completion")" other "as it is"
cordon uninstall --yes >/dev/null
is "$(cat "$completion")" other "uninstall leaves it, too"

# ---- a settings file that is a link (to a folder of dotfiles) is followed, and stays a link
rm -f "$completion" "$settings" && mkdir "$HOME/dotfiles" && echo '{}' >"$HOME/dotfiles/claude.json"
ln -s ../dotfiles/claude.json "$settings"
cordon install --yes >/dev/null
ok "a linked settings file stays a link" test -L "$settings"
ok "and has the hook where it leads" grep -q 'cordon hook' "$HOME/dotfiles/claude.json"
cordon uninstall --yes >/dev/null
is "$(cat "$HOME/dotfiles/claude.json")" '{}' "which uninstall takes out"

# ---- a read-only home
if [ "$(id -u)" != 0 ]; then
	rm -rf "$HOME/.local" "$HOME/.config" && chmod 555 "$HOME"
	out=$(cordon install --yes 2>&1 >/dev/null)
	is "$? $(wc -l <<<"$out")" '1 1' "a read-only home: one line"
	chmod 755 "$HOME"
else
	skip "a read-only home: one line" "root may write"
fi

# ---- missing packages: named, with the command that installs them; run only when requested
mkdir "$TEST_TMP/bin" && for program in sh cat; do ln -s "$(command -v $program)" "$TEST_TMP/bin/"; done
ln -s /bin/true "$TEST_TMP/bin/bwrap"
printf '#!/bin/sh\necho "$0 $*" >>%s/ran\n' "$TEST_TMP" >"$TEST_TMP/bin/apt-get" && chmod +x "$TEST_TMP/bin/apt-get"
printf '#!/bin/sh\nexec "$@"\n' >"$TEST_TMP/bin/sudo" && chmod +x "$TEST_TMP/bin/sudo"
rm -rf "$HOME/.local" "$HOME/.config"
out=$(PATH=$TEST_TMP/bin "$CORDON" install --yes)
like "$out" 'fd-find is missing.*ripgrep is missing' "missing packages are named"
like "$out" 'apt-get install -y fuse3 fd-find ripgrep   .yours to run; or: --packages.' "with one command, which is not part of the question"
unlike "$out" 'bubblewrap' "what is there is not"
like "$out" 'Done, .* in [0-9.]* s' "and how long it took"
ok "nothing is run unasked" test ! -e "$TEST_TMP/ran"
out=$(PATH=$TEST_TMP/bin "$CORDON" install --yes --packages)
unlike "$out" 'yours to run' "and with --packages is"
like "$(cat "$TEST_TMP/ran")" 'install -y fuse3 fd-find ripgrep' "--packages runs it"
PATH=$TEST_TMP/bin "$CORDON" uninstall --yes >/dev/null

# ---- AppArmor: as root, with a kernel that requires a profile (simulated)
apparmor() {
	unshare -m sh -c 'mount -t tmpfs t /proc/sys/kernel && echo 1 >/proc/sys/kernel/apparmor_restrict_unprivileged_userns &&
		mount -t tmpfs t /etc/apparmor.d 2>/dev/null || { mkdir -p /etc/apparmor.d && mount -t tmpfs t /etc/apparmor.d; } && eval "$1"' _ "$1"
}
printf '#!/bin/sh\necho "$1 $(grep -c userns "$2")" >>%s/parser\n' "$TEST_TMP" >"$TEST_TMP/bin/apparmor_parser" && chmod +x "$TEST_TMP/bin/apparmor_parser"
ln -s "$(command -v grep)" "$TEST_TMP/bin/"
if [ "$(id -u)" = 0 ] && had=$(ls -d /etc/apparmor.d 2>/dev/null || :) && apparmor true 2>/dev/null; then
	export TESTBIN=$TEST_TMP/bin
	out=$(apparmor 'PATH=$TESTBIN:$PATH; $CORDON install --yes >/dev/null && cat /etc/apparmor.d/cordon && $CORDON uninstall --yes && ls /etc/apparmor.d')
	like "$out" "profile cordon $(realpath "$CORDON") flags" "AppArmor's profile is about this program"
	like "$out" 'apparmor.d/cordon: will be removed' "and goes with the rest"
	is "$(cat "$TEST_TMP/parser")" $'-r 1\n-R 1' "the kernel is told both times"
	[ -n "$had" ] || rmdir /etc/apparmor.d
else
	skip "AppArmor's profile" "needs root and a mount namespace"
fi

# ---- init
mkdir "$HOME/p" && cd "$HOME/p" || exit 1
ok "init writes a file" cordon init
ok "that is right" cordon policy check .cordon.conf
unlike "$(<.cordon.conf)" 'macOS|\[xpc\]' "and offers nothing that is macOS's alone"
sum=$(md5sum <.cordon.conf)
out=$(cordon init 2>&1)
like "$out" 'already' "and never over one that is there"
is "$(md5sum <.cordon.conf)" "$sum" "which stays as it is"
done_testing
