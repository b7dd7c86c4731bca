; claude - Claude Code. Its settings, hooks and servers are run by the host later: writing those is asked for
; (the built-in list), what it notes down while it works is not.
[profile]
	summary = Claude Code
	command = claude
	; (its mode that bypasses all permissions starts with a warning, and not as root)
	unprompted = --allowedTools=Bash,Edit,MultiEdit,Write,NotebookEdit,WebFetch,WebSearch
	inherits = agent
	; settings of its own for one folder (o in the dialog): the variable that moves them, what is copied
	settings-variable = CLAUDE_CONFIG_DIR
	settings = ~/.claude.json
	settings = ~/.claude/settings.json
	settings = ~/.claude/settings.local.json
	settings = ~/.claude/.credentials.json
	settings = ~/.claude/CLAUDE.md
	settings = ~/.claude/agents
	settings = ~/.claude/commands
	settings = ~/.claude/skills
	settings = ~/.claude/output-styles
	settings = ~/.claude/keybindings.json
[rule "claude"]
	allow = read,exec ~/.claude/**
	allow = read ~/.claude.json
	allow = read,write ~/.claude.json.lock
	allow = read,write ~/.claude.json.tmp.*
	allow = read,exec ~/.local/share/claude/**
	; Transcripts, memory and checkpoints (file-history): Claude reads them when it resumes, and runs nothing of
	; them. But /rewind writes the files that a transcript's checkpoints name, wherever they lie, with what they
	; name. Inside that is refused as any other change; a session from here belongs resumed in here. They stay
	; writable, for without them nothing can be resumed.
	allow = write ~/.claude/projects/**
	allow = write ~/.claude/todos/**
	allow = write ~/.claude/plans/**
	allow = write ~/.claude/statsig/**
	allow = write ~/.claude/file-history/**
	allow = write ~/.claude/debug/**
	allow = write ~/.claude/history.jsonl
	allow = write ~/.claude/history.jsonl.lock
	allow = write ~/.claude/.last-cleanup
	; Shell text that is put before each command, of a Claude that runs outside at the same time or goes on with
	; this session later; and settings that it may restore. Refused without a question: it goes on without.
	allow = write ~/.claude/shell-snapshots
	deny = write ~/.claude/shell-snapshots/**
	allow = write ~/.claude/session-env
	allow = write ~/.claude/session-env/*
	deny = write ~/.claude/session-env/*/**
	allow = write ~/.claude/backups
	deny = write ~/.claude/backups/**
	; The desktop would start it by links of web pages. It notes that this failed, and goes on without.
	deny = write ~/.local
	deny = write ~/.local/share
	deny = write ~/.local/share/applications
	deny = write ~/.local/share/applications/**
	allow = write ~/.claude/.deep-link-register-failed
	; Which sessions run, and the sockets to speak to them by: a Claude outside believes it. It goes on without.
	allow = write ~/.claude/sessions
	deny = write ~/.claude/sessions/**
	allow = connect api.anthropic.com:443
	allow = connect claude.ai:443
	allow = connect console.anthropic.com:443
	allow = connect platform.claude.com:443
	match = read ~/.claude/settings.json
	match = connect api.anthropic.com:443
	not-match = connect evil.anthropic.com:443
	match = write ~/.claude/projects/p/1.jsonl
	not-match = write ~/.claude/settings.json
[rule "claude's own settings"]
	; one question for all of it (a bundle); what carries a save, X.tmp and X.lock, belongs to X
	ask = write ~/.claude.json
	ask = write ~/.claude.json.*
	ask = write ~/.claude/settings.json
	ask = write ~/.claude/settings.local.json
	ask = write ~/.claude/.credentials.json
	ask = write ~/.claude/settings.json.*
	ask = write ~/.claude/settings.local.json.*
	ask = write ~/.claude/.credentials.json.*
	reason = claude saves its own settings here on every start. They can name programs that run later: hooks, servers
[sandbox]
	; no telemetry, no look for a newer version and no fetch of plugins, which could not be installed from in here
	set-env = CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1
	set-env = CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL=1
	env = ANTHROPIC_*
	env = CLAUDE_CODE_*
	env = CLAUDE_CONFIG_DIR
