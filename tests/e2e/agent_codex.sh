#!/bin/bash
# agent_codex - Codex in its present version, in cordon, with a stand-in for its model.
# SPDX-License-Identifier: MIT
# root only: a copy of the tree for others has no agents
# shellcheck disable=SC2034 # for real_agent.sh
agent=codex ready='for shortcuts' permission='' edits='"command":"codex: edit .*greet.py'
settings() {
	mkdir -p "$HOME/.codex"
	cat >"$HOME/.codex/config.toml" <<-J
		model = "standin"
		model_provider = "standin"
		[model_providers.standin]
		name = "standin"
		base_url = "http://localhost:$port/v1"
		wire_api = "responses"
		experimental_bearer_token = "x"
		[projects."$dir"]
		trust_level = "trusted"
	J
}
. "$(dirname "$0")/../support/real_agent.sh"
