#!/bin/bash
# agents - the calls of real agents at their first start in a home, made by small programs.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/lib.sh"
need_sandbox python3
mkdir -p "$HOME/src/project" "$TEST_TMP/bin"
dir=$HOME/src/project
echo 'be kind' >"$HOME/src/AGENTS.md"

# agent NAME - the script on stdin is the agent of that name, run headless; its output is in $out, refused paths are in
# $denied, one a line.
agent() {
	local before
	before=$(cordon_in "$dir" audit --json 2>/dev/null | grep -c '"event":"deny"')
	cat >"$TEST_TMP/bin/$1" && chmod +x "$TEST_TMP/bin/$1"
	out=$(cd "$dir" && "$CORDON" run --headless --steps auto -- "$1" 2>"$TEST_TMP/err" </dev/null)
	denied=$(cordon_in "$dir" audit --json | grep '"event":"deny"' | tail -n "+$((before + 1))" |
		sed -E 's/.*"path":"([^"]*)".*/\1/' | sort -u)
}

# ---- what an agent of any kind looks at: the directories that its folder lies in
agent claude <<'A'
#!/bin/sh
ls ~/src && ls -a ~ | grep -cx src
cat ~/src/AGENTS.md
A
is "$out" $'AGENTS.md\nproject\n1' "names in the directories above the folder show"
is "$denied" "$HOME/src/AGENTS.md" "what is in their files does not"
(mkdir -p "$TEST_TMP/far" && cd "$TEST_TMP/far" && "$CORDON" run --headless --profile claude -- sh -c 'ls ~' >"$TEST_TMP/names" 2>&1)
is "$(cat "$TEST_TMP/names")" src "nor are those of the home folder a secret where the folder lies elsewhere"
agent other <<'A'
#!/bin/sh
ls ~/src
A
is "$out" $'AGENTS.md\nproject' "so do they to other programs"

# ---- Claude Code: notes beside a lock, settings put in place by a rename
agent claude <<'A'
#!/bin/sh
set -e
mkdir ~/.claude.json.lock
echo '{"numStartups":1}' >~/.claude.json.tmp.2.d488
mkdir -p ~/.claude/todos ~/.claude/projects/p
echo line >>~/.claude/projects/p/1.jsonl && cat ~/.claude/projects/p/1.jsonl
rmdir ~/.claude.json.lock
mv ~/.claude.json.tmp.2.d488 ~/.claude.json || echo asked
echo '{}' >~/.claude/settings.json || echo asked
A
is "$out" $'line\nasked\nasked' "claude: notes are made where it looks for them, settings are asked about"
is "$denied" "$HOME/.claude.json
$HOME/.claude/settings.json" "claude: and nothing else is"
is "$(cat "$HOME/.claude/projects/p/1.jsonl")" line "claude: its notes last"
agent claude <<'A'
#!/bin/sh
bash -c -l "shopt -u extglob 2>/dev/null || true && eval 'echo one > a; echo two > b' < /dev/null && pwd -P >| /tmp/claude-1-cwd"
:
A
like "$(cordon_in "$dir" log)" "steps? outside the folder \(--all-places\)" "claude: its notes are no rows"
like "$(cordon_in "$dir" log --all-places)" 'claude: edit ~/.claude/projects' "claude: unless asked for"
like "$(cordon_in "$dir" log --json)" '"note":true,"why":null,"command":"claude: edit ~/' "claude: and are told apart"
like "$(cordon_in "$dir" log | grep -v claude:)" ' 0  \+2 +echo one > a; echo two > b'$'\n?' "claude: a step is called as the command that its shell evaluates"
unlike "$(cordon_in "$dir" log)" 'shopt' "and not as what is put around it"
mkdir -p "$HOME/.config/cordon" "$HOME/plans"
printf '[rule "plans"]\n\tallow = write ~/plans/**\n' >"$HOME/.config/cordon/config"
agent claude <<'A'
#!/bin/sh
echo 1 >~/plans/today
A
like "$(cordon_in "$dir" log)" 'claude: edit ~/plans/today  [(]outside the folder[)]' "claude: a file where you let it write is a row"
like "$(cordon_in "$dir" log --json | head -n 1)" '"note":false,.*"command":"claude: edit ~/plans' "and none of its own"
rm "$HOME/.config/cordon/config"
agent claude <<'A'
#!/bin/sh
cd ~ && mkdir .claude.json.lock && echo a >.claude.json.tmp.1 && mv .claude.json.tmp.1 .claude.json.tmp.2 &&
	cat .claude.json.tmp.2 && cd .claude/todos && echo b >../todos/b && ls && rm b ../../.claude.json.tmp.2 && rmdir ~/.claude.json.lock
mkdir ~/.config ../../own || echo refused
A
is "$out" $'a\nb\nrefused' "the same by relative names, from directories behind the gate"
ok "claude: nothing stands in for what was refused" test ! -e "$HOME/.claude.json" -a ! -e "$HOME/.claude/settings.json"

# With its settings in the folder's cache they are private to the folder, and no question is asked.
mkdir -p "$HOME/.config/cordon"
printf '[sandbox]\n\tset-env = CLAUDE_CONFIG_DIR=$CORDON_CACHE/claude\n' >"$HOME/.config/cordon/config"
agent claude <<'A'
#!/bin/sh
mkdir -p "$CLAUDE_CONFIG_DIR" && cd "$CLAUDE_CONFIG_DIR" || exit
echo '{"hooks":1}' >.claude.json.tmp.1 && mv .claude.json.tmp.1 .claude.json && echo '{}' >settings.json
cat .claude.json settings.json
A
is "$out$denied" $'{"hooks":1}\n{}' "claude: it saves what it likes in the folder's cache"
ok "claude: and nothing in the home folder" test ! -e "$HOME/.claude.json" -a ! -e "$HOME/.claude/settings.json"
rm "$HOME/.config/cordon/config"

# ---- Codex: a script that starts a program of its own name, which is the agent
agent codex <<'A'
#!/usr/bin/python3
import os, subprocess, sys
real = os.path.join(os.environ["CORDON_CACHE"], "real", "codex")
os.makedirs(os.path.dirname(real), exist_ok=True)
with open(real, "w") as f:
    f.write("""#!/bin/sh
mkdir -p ~/.codex/tmp/arg0 && mkdir ~/.codex/tmp/arg0/codex-x && ln -s /bin/true ~/.codex/tmp/arg0/codex-x/apply_patch
mkdir -p ~/.codex/tmp/arg0-linux/codex-y && ln -s /bin/true ~/.codex/tmp/arg0-linux/codex-y/apply_patch
mkdir -p "$CODEX_SQLITE_HOME" && echo >"$CODEX_SQLITE_HOME/logs.sqlite"
mkdir ~/.codex/packages || echo refused
echo by hand >own
sh -c 'echo 1 >one'
sh -c 'echo 2 >two'
""")
os.chmod(real, 0o755)
sys.exit(subprocess.call([real]))
A
is "$out" refused "codex: it starts in a home that knows it not, and puts no programs there"
is "$denied" "$HOME/.codex/packages
$HOME/.codex/tmp/arg0-linux/codex-y/apply_patch
$HOME/.codex/tmp/arg0/codex-x/apply_patch" "codex: nor on its own search path"
like "$(cordon_in "$dir" log | tr -s ' ')" "echo 2 >two.*echo 1 >one" "codex: what it runs are steps of their own"

# ---- Gemini CLI: starts itself again with options for its interpreter
agent gemini <<'A'
#!/usr/bin/python3
import os, subprocess, sys
if "GEMINI_AGAIN" not in os.environ:
    os.environ["GEMINI_AGAIN"] = "1"
    sys.exit(subprocess.call([sys.executable, "-B", sys.argv[0]]))
home = os.environ["HOME"] + "/.gemini"
os.makedirs(home + "/tmp/project/chats")
open(home + "/projects.json.0.tmp", "w").write("{}")
os.rename(home + "/projects.json.0.tmp", home + "/projects.json")
subprocess.call(["touch", "three"])
subprocess.call(["touch", "four"])
print(open(home + "/projects.json").read())
A
is "$out$denied" "{}" "gemini: it starts, and nothing is refused"
like "$(cordon_in "$dir" log | tr -s ' ')" "touch four.*touch three" "gemini: what it runs are steps of their own"
# ---- opencode: what its plugins need is looked for after its first screen, and not asked about
why() { (cd "$dir" && "$CORDON" why write "$HOME/.config/opencode/$1" --profile opencode | head -n 1 | sed 's/ .*//'); }
is "$(why node_modules) $(why node_modules/x/index.js) $(why opencode.json)" "deny deny ask" \
	"opencode: programs for itself are refused, its settings are asked about"
dir=$HOME/src/copied && mkdir "$dir"
agent opencode <<'A'
#!/usr/bin/env python3
import os, subprocess
d = os.path.expanduser("~/.local/share/opencode/snapshot/a/b")
os.makedirs(d)
open("file", "w").write("1\n")
subprocess.run(["git", "init"], env={**os.environ, "GIT_DIR": d, "GIT_WORK_TREE": "."}, stdout=subprocess.DEVNULL,
               stderr=subprocess.DEVNULL, check=True)
for words in "config core.autocrlf false", "--work-tree . add file":
    subprocess.run(["git", "--git-dir", d, *words.split()], check=True)
A
is "$(git --git-dir "$HOME/.local/share/opencode/snapshot/a/b" ls-files 2>&1)" file "opencode: it copies the folder with git"
like "$(cordon_in "$dir" log)" 'steps? outside the folder' "opencode: its copies of the folder"
unlike "$(cordon_in "$dir" log)" 'git |[.]local' "are no rows, nor are the directories above them"
# ---- the agent's notes take no step's place
dir=$HOME/src/kept && mkdir "$dir"
printf '[journal]\n\tsteps = 3\n' >"$HOME/.config/cordon/config"
for i in 1 2 3; do
	agent claude <<-A
		#!/bin/sh
		echo $i >>~/.claude/projects/p/2.jsonl
		sh -c 'echo $i >file$i'
	A
done
log=$(cordon_in "$dir" log --json)
is "$(grep -c '"command":"echo . >file.' <<<"$log")" 3 "as many steps are kept as journal.steps says"
is "$(grep -c '"note":true' <<<"$log")" 3 "beside them what it noted"
rm "$HOME/.config/cordon/config"
like "$(cordon_in "$dir" undo -n 2)" '^undone: steps [0-9]+ [0-9]+, 2 paths' "nor are they named where two steps are undone"
like "$(cordon_in "$dir" audit | tail -n 1)" 'rolled back 2 steps .[0-9]+, [0-9]+.' "not in the audit log, either"

agent nobody <<'A'
#!/bin/sh
mkdir ~/.gemini2 || mkdir ~/.config || mkdir ~/.codex || echo refused
A
is "$out" refused "others make no directory in the home folder"
done_testing
