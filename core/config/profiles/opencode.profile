; opencode
[profile]
	summary = opencode
	command = opencode
	unprompted = --auto
	inherits = agent
	; settings of its own for one folder (o in the dialog): the variable that moves them, what is copied; other
	; programs that obey the variable find theirs there by links. Where it signs in stays shared.
	settings-variable = XDG_CONFIG_HOME/opencode
	settings = ~/.config/opencode/opencode.json
	settings = ~/.config/opencode/opencode.jsonc
	settings = ~/.config/opencode/config.json
	settings = ~/.config/opencode/tui.json
	settings = ~/.config/opencode/tui.jsonc
	settings = ~/.config/opencode/AGENTS.md
	settings = ~/.config/opencode/agent
	settings = ~/.config/opencode/agents
	settings = ~/.config/opencode/command
	settings = ~/.config/opencode/commands
	settings = ~/.config/opencode/mode
	settings = ~/.config/opencode/modes
	settings = ~/.config/opencode/skill
	settings = ~/.config/opencode/skills
	settings = ~/.config/opencode/themes
[rule "opencode"]
	allow = read,exec ~/.opencode/**
	allow = read,exec ~/.config/opencode/**
	allow = read,exec ~/.local/share/opencode/**
	allow = read,exec ~/.local/state/opencode/**
	allow = read,exec ~/.cache/opencode/**
	allow = write ~/.local/share/opencode/log/**
	allow = write ~/.local/share/opencode/storage/**
	; git directories, run by opencode outside too: the built-in list vets their settings and asks about hooks
	allow = write ~/.local/share/opencode/snapshot/**
	allow = write ~/.local/share/opencode/repos/**
	allow = write ~/.local/share/opencode/tool-output/**
	; grammars that it has downloaded, for colours: data, which runs in an interpreter without a system
	allow = write ~/.local/share/opentui/**
	allow = write ~/.config/opencode/.gitignore
	allow = write ~/.local/state/opencode/**
	; what its plugins need, which opencode outside would run: refused without a question, it goes on without
	deny = write ~/.config/opencode/node_modules
	deny = write ~/.config/opencode/node_modules/**
	; a project's entry names a command that is run in each new worktree of it
	ask = write ~/.local/share/opencode/storage/project/**
	allow = connect opencode.ai:443
	allow = connect api.opencode.ai:443
	allow = connect models.dev:443
	allow = connect models.opencode.ai:443
	allow = connect api.anthropic.com:443
	allow = connect api.openai.com:443
	allow = connect generativelanguage.googleapis.com:443
	match = read ~/.config/opencode/opencode.json
	not-match = write ~/.config/opencode/opencode.json
	match = connect models.opencode.ai:443
	not-match = connect evil.opencode.ai:443
[rule "opencode's own settings"]
	; one question for all of it (a bundle)
	ask = write ~/.config/opencode/opencode.json*
	ask = write ~/.config/opencode/config.json*
	ask = write ~/.config/opencode/tui.json*
	ask = write ~/.config/opencode/package.json*
	ask = write ~/.local/share/opencode/auth.json*
	ask = write ~/.local/share/opencode/mcp-auth.json*
	reason = opencode saves its own settings here. They can name programs that run later: servers, plugins
[sandbox]
	set-env = OPENCODE_DISABLE_AUTOUPDATE=1
	; its database: open all the time, so no part of the folder's history. What it downloads never runs outside.
	set-env = OPENCODE_DB=$CORDON_CACHE/opencode.db
	set-env = XDG_CACHE_HOME=$CORDON_CACHE
	env = ANTHROPIC_API_KEY
	env = OPENAI_API_KEY
	env = GEMINI_API_KEY
	env = OPENCODE_*
