; codex - OpenAI Codex CLI
[profile]
	summary = OpenAI Codex CLI
	command = codex
	inherits = tools
[rule "codex"]
	allow = read,exec ~/.codex/**
	allow = write ~/.codex/sessions/**
	allow = write ~/.codex/log/**
	allow = write ~/.codex/history.jsonl
	match = read ~/.codex/config.toml
	not-match = write ~/.codex/config.toml
[sandbox]
	env = OPENAI_*
	env = CODEX_*
