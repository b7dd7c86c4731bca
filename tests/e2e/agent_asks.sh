#!/bin/bash
# agent_asks - an agent's own question counts as "asks": its hook reports it, else its bell or the menu on its screen.
# SPDX-License-Identifier: MIT
. "$(dirname "$0")/../support/tmux.sh"
need_sandbox python3
dir=$(new_folder work)
mkdir "$TEST_TMP/bin"
# An agent that runs commands from a file in the folder, because typed input would count as an answer.
cat >"$TEST_TMP/bin/fake" <<'A'
#!/usr/bin/env python3
import json, subprocess, time
def hook(name, **more):
    subprocess.run(["CORDON", "hook"], text=True, input=json.dumps({"hook_event_name": name, **more}), check=True)
print("ready", flush=True)
done, rang = "", 0
while True:
    time.sleep(0.1)
    try:
        word = open("tell").read().strip()
    except OSError:
        continue
    if word.startswith("bell"):
        rang = rang + 1 if word == done else 1
        print("\arang", rang, flush=True)
    if word == done:
        continue
    done = word
    if word == "permission":
        hook("PermissionRequest", tool_name="Bash", tool_input={"command": "make"})
    if word == "notification":
        hook("Notification", notification_type="permission_prompt", message="Claude needs your permission")
    if word == "rest":
        hook("Notification", notification_type="idle_prompt", message="Claude is waiting for your input")
    if word == "stop":
        hook("Stop")
    if word == "edit":
        hook("PreToolUse", tool_name="Edit", tool_input={"file_path": "x"})
    if word == "menu":
        print("\033[H\033[2JDo you trust this folder?\r\n \u276f 1. Yes\r\n   2. No, exit", flush=True)
        continue
    if word == "prompt":
        print("\033[H\033[2J\u276f 1. list\r\n  2. of a user\r\n\u276f ", flush=True)
        continue
    if word == "answered":
        print("\033[H\033[2J\u276f ", flush=True)
        hook("PermissionRequest", tool_name="Bash", tool_input={"command": "make"})
    print("did", word, flush=True)
A
sed -i "s|CORDON|$CORDON|" "$TEST_TMP/bin/fake"
chmod +x "$TEST_TMP/bin/fake"
tell() { echo "$1" >"$dir/tell.new" && mv "$dir/tell.new" "$dir/tell"; }
state() { "$CORDON" sessions --json | grep -q "\"state\":\"$1\""; }
lacks() { ! state "$1"; }
asks() { ok "$1" wait_for 15 state asks; }
goes_on() { ok "$1" wait_for 15 lacks asks; }
title_is() { [ "$(tmux_ display-message -p -t =t: '#{pane_title}')" = "$1" ]; }

start 120 30 "$dir" "$CORDON run -- $TEST_TMP/bin/fake"
sees ready "an agent without a hook"
ok "does not ask" lacks asks
tell bell
asks "its bell counts, once nobody has typed for a second"
sees '> agent \? asks ' "the pane says so"
sees '\? fake asks' "the bar says so"
ok "and the terminal's title" wait_for 15 title_is 'cordon: fake - ? asks'
tell quiet
sees 'did quiet' "it rings no more"
keys Down
keys Tab
type_text y
goes_on "who types answers"
loses '\? fake asks' "and the bar is calm"

tell menu
asks "a menu on its screen is a question"
sees '> agent \? asks ' "the pane says so"
keys Down
tell prompt
goes_on "and none is left where the screen has a prompt below"
tell menu
asks "it asks again"
keys 1
goes_on "whoever answers is believed at once"
tell answered
asks "the next question is its hook's"
sleep 3 # for two looks at the screen
ok "which the end of the menu does not answer" state asks
tell prompt
sees 'of a user' "the menu has gone"

tell permission
asks "its hook tells that it asks for a permission"
tell edit
goes_on "and goes on where it does something"
tell notification
asks "as does a notification"
keys C-] w
sees '\? asks +' "the board says so"
keys q
loses '╔═ sessions' "q closes the board"
keys Down
keys C-] w
sees '\? asks +' "who looks at its choices has not answered"
keys q
loses '╔═ sessions' "q closes the board"
keys Enter
goes_on "Enter answers"
tell permission
asks "a question that is reported late"
tell stop
goes_on "is over at the end of the turn"
tell rest
sees 'did rest' "that it is at rest"
tell bell2
sees 'rang 20' "is no question, nor is its bell, for two seconds,"
ok "where a hook tells" lacks asks
done_testing
