#!/bin/bash
# agent_gemini - Gemini CLI in its present version, in cordon, with a stand-in for its model.
# SPDX-License-Identifier: MIT
# root only: a copy of the tree for others has no agents
# shellcheck disable=SC2034 # for real_agent.sh
agent=gemini ready='Type your message' permission='Allow once' edits='"command":"gemini: edit .*greet.py'
settings() {
	export GEMINI_API_KEY=x GOOGLE_GEMINI_BASE_URL=http://localhost:$port
	mkdir -p "$HOME/.gemini"
	cat >"$HOME/.gemini/settings.json" <<-J
		{"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}}}
	J
}
. "$(dirname "$0")/../support/real_agent.sh"
