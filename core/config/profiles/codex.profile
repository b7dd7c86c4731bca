; codex - OpenAI Codex CLI
[profile]
	summary = OpenAI Codex CLI
	command = codex
	unprompted = --ask-for-approval=never
	argument = --no-daemon
	; at each start it would look for a newer version, which could not be installed from in here
	argument = --config=check_for_update_on_startup=false
	; its own sandbox needs namespaces, which there are none of in here: each command would fail. It obeys -s
	argument = --config=sandbox_mode=danger-full-access
	inherits = agent
	; settings of its own for one folder (o in the dialog): the variable that moves them, what is copied
	settings-variable = CODEX_HOME
	settings = ~/.codex/config.toml
	settings = ~/.codex/auth.json
	settings = ~/.codex/AGENTS.md
	settings = ~/.codex/prompts
	settings = ~/.codex/rules
	settings = ~/.codex/internal_storage.json
[rule "codex"]
	allow = read,exec ~/.codex/**
	allow = write ~/.codex/sessions/**
	allow = write ~/.codex/log/**
	allow = write ~/.codex/history.jsonl
	allow = write ~/.codex/session_index.jsonl
	allow = write ~/.codex/tmp/**
	; links to itself on the search path of its commands, outside too (arg0, arg0-linux): refused, and it says so
	allow = write ~/.codex/tmp/arg0*/*
	deny = write ~/.codex/tmp/arg0*/*/**
	allow = write ~/.codex/installation_id
	allow = write ~/.codex/models_cache.json
	; a mark that it makes once
	allow = write ~/.codex/.sandbox_migration
	allow = write ~/.codex/version.json
	allow = write ~/.codex/.sandbox_migration
	allow = write ~/.codex/thread-writer-locks/**
	allow = write ~/.codex/tui-thread-reference-capabilities/**
	allow = read,write ~/.codex/.tmp?*
	allow = write ~/.codex/*.lock
	allow = connect api.openai.com:443
	allow = connect auth.openai.com:443
	allow = connect chatgpt.com:443
	; programs that codex outside would run; refused without a question, codex goes on without them
	deny = write ~/.codex/.tmp/**
	deny = write ~/.codex/skills
	; shell text that is put before each command, outside too when a session goes on there
	deny = write ~/.codex/shell_snapshots
	deny = write ~/.codex/shell_snapshots/**
	deny = write ~/.codex/skills/.system/**
	deny = write ~/.codex/packages/**
	; its background server serves codex outside too; --no-daemon works without
	deny = write ~/.codex/app-server-daemon/**
	deny = write ~/.codex/app-server-control/**
	match = read ~/.codex/config.toml
	not-match = write ~/.codex/config.toml
	; the desktop's keyring: refused without a question, codex keeps its key in auth.json
	deny = unix /run/user/*/bus
	; which of its features are on for whom: refused without a question, codex goes on without
	deny = connect ab.chatgpt.com:443
[rule "codex's tips"]
	; asked for at each start; refused without a question, codex goes on without
	deny = connect raw.githubusercontent.com:443
	reason = codex looks for tips here at each start: --allow-domain raw.githubusercontent.com allows it
[rule "codex's own settings"]
	; one question for all of it (a bundle)
	ask = write ~/.codex/config.toml
	ask = write ~/.codex/config.toml.*
	ask = write ~/.codex/auth.json
	ask = write ~/.codex/auth.json.*
	ask = write ~/.codex/internal_storage.json
	reason = codex saves its own settings here. They can name programs that run later: servers, notifiers
[sandbox]
	; its databases: open all the time, so no part of the folder's history
	set-env = CODEX_SQLITE_HOME=$CORDON_CACHE/codex
	env = OPENAI_*
	env = CODEX_*
