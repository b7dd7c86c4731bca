#!/bin/bash
# agent_claude - Claude Code in its present version, in cordon, with a stand-in for its model.
# SPDX-License-Identifier: MIT
# root only: a copy of the tree for others has no agents
# shellcheck disable=SC2034 # for real_agent.sh
agent=claude ready='for shortcuts' permission='Do you want to ' edits='"command":"claude: edit .*greet.py'
settings() {
	export ANTHROPIC_BASE_URL=http://localhost:$port ANTHROPIC_API_KEY=sk-ant-test-0123456789abcdefghij
	cat >"$HOME/.claude.json" <<-J
		{"hasCompletedOnboarding": true, "theme": "dark",
		 "customApiKeyResponses": {"approved": ["0123456789abcdefghij"], "rejected": []},
		 "projects": {"$dir": {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}}
	J
}
. "$(dirname "$0")/../support/real_agent.sh"
