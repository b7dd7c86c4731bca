; gemini - Gemini CLI
[profile]
	summary = Gemini CLI
	command = gemini
	inherits = agent
[rule "gemini"]
	allow = read,exec ~/.gemini/**
	allow = write ~/.gemini/tmp/**
	allow = write ~/.gemini/history/**
	allow = read,write ~/.gemini/projects.json*
	allow = write ~/.gemini/state.json
	allow = write ~/.gemini/installation_id
	match = read ~/.gemini/settings.json
	not-match = write ~/.gemini/settings.json
[sandbox]
	env = GEMINI_*
	env = GOOGLE_API_KEY
	env = GOOGLE_CLOUD_PROJECT
	env = GOOGLE_CLOUD_LOCATION
	env = GOOGLE_GENAI_USE_VERTEXAI
