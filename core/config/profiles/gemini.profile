; gemini - Gemini CLI
[profile]
	summary = Gemini CLI
	command = gemini
	unprompted = --approval-mode=yolo
	inherits = agent
	; settings of its own for one folder (o in the dialog): the variable that moves them, what is copied
	settings-variable = GEMINI_CLI_HOME/.gemini
	settings = ~/.gemini/settings.json
	settings = ~/.gemini/trustedFolders.json
	settings = ~/.gemini/google_accounts.json
	settings = ~/.gemini/oauth_creds.json
	settings = ~/.gemini/gemini-credentials.json
	settings = ~/.gemini/mcp-oauth-tokens.json
	settings = ~/.gemini/mcp-oauth-tokens-v2.json
	settings = ~/.gemini/keybindings.json
	settings = ~/.gemini/installation_id
	settings = ~/.gemini/GEMINI.md
	settings = ~/.gemini/commands
[rule "gemini"]
	allow = read,exec ~/.gemini/**
	allow = write ~/.gemini/tmp/**
	allow = write ~/.gemini/history/**
	; where it keeps a program that it has downloaded, and what git takes for its settings in the shadow
	; repositories ($XDG_CONFIG_HOME is theirs): refused without a question
	deny = write ~/.gemini/tmp/bin/**
	deny = write ~/.gemini/history/*/git/**
	allow = read,write ~/.gemini/projects.json*
	allow = write ~/.gemini/state.json
	allow = write ~/.gemini/installation_id
	allow = connect generativelanguage.googleapis.com:443
	allow = connect cloudcode-pa.googleapis.com:443
	allow = connect oauth2.googleapis.com:443
	allow = connect accounts.google.com:443
	; usage statistics: refused without a question, it goes on without
	deny = connect play.googleapis.com:443
	match = read ~/.gemini/settings.json
	not-match = write ~/.gemini/settings.json
[rule "gemini's own settings"]
	; one question for all of it (a bundle)
	ask = write ~/.gemini/settings.json*
	ask = write ~/.gemini/trustedFolders.json*
	ask = write ~/.gemini/google_accounts.json*
	ask = write ~/.gemini/oauth_creds.json*
	ask = write ~/.gemini/gemini-credentials.json*
	ask = write ~/.gemini/mcp-oauth-tokens*.json*
	ask = write ~/.gemini/keybindings.json*
	reason = gemini saves its own settings here. They can name programs that run later: servers, hooks
[sandbox]
	env = GEMINI_*
	env = GOOGLE_API_KEY
	env = GOOGLE_GEMINI_BASE_URL
	env = GOOGLE_VERTEX_BASE_URL
	env = GOOGLE_CLOUD_PROJECT
	env = GOOGLE_CLOUD_LOCATION
	env = GOOGLE_GENAI_USE_VERTEXAI
