; opencode
[profile]
	summary = opencode
	command = opencode
	inherits = tools
[rule "opencode"]
	allow = read,exec ~/.opencode/**
	allow = read,exec ~/.config/opencode/**
	allow = read,exec ~/.local/share/opencode/**
	allow = read,exec ~/.local/state/opencode/**
	allow = read,exec ~/.cache/opencode/**
	allow = write ~/.local/share/opencode/log/**
	allow = write ~/.local/share/opencode/storage/**
	allow = write ~/.local/share/opencode/snapshot/**
	allow = write ~/.local/state/opencode/**
	match = read ~/.config/opencode/opencode.json
	not-match = write ~/.config/opencode/opencode.json
[sandbox]
	env = ANTHROPIC_API_KEY
	env = OPENAI_API_KEY
	env = GEMINI_API_KEY
	env = OPENCODE_*
