#!/bin/bash
# agent_opencode - opencode as it is today, in cordon, against a stand-in for its model.
# SPDX-License-Identifier: MIT
# root only: a copy of the tree for others has no agents
# timeout: 1500
# shellcheck disable=SC2034 # for real_agent.sh
agent=opencode ready='Ask anything' permission='' edits='"command":"opencode: edit .*greet.py'
slow=8 # while it works it draws 60 frames a second, on a slow machine little else happens
begins=1 # it marks the repository at its start: a turn before the first prompt
settings() {
	export OPENCODE_DISABLE_MODELS_FETCH=1
	mkdir -p "$HOME/.config/opencode"
	cat >"$HOME/.config/opencode/opencode.json" <<-J
		{"\$schema": "https://opencode.ai/config.json", "model": "standin/m", "small_model": "standin/m", "autoupdate": false,
		 "provider": {"standin": {"npm": "@ai-sdk/anthropic", "name": "standin",
		  "options": {"baseURL": "http://localhost:$port/v1", "apiKey": "x"},
		  "models": {"m": {"name": "m", "tool_call": true, "limit": {"context": 100000, "output": 8000}}}}}}
	J
}
. "$(dirname "$0")/../support/real_agent.sh"
