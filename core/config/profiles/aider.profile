; aider
[profile]
	summary = aider
	command = aider
	inherits = agent
[rule "aider"]
	allow = read ~/.aider/**
	allow = read ~/.aider.*
	allow = write ~/.aider/analytics.json
	allow = write ~/.aider/caches/**
	match = read ~/.aider.conf.yml
	not-match = write ~/.aider.conf.yml
[sandbox]
	env = AIDER_*
	env = ANTHROPIC_API_KEY
	env = OPENAI_API_KEY
	env = OPENROUTER_API_KEY
	env = GEMINI_API_KEY
	env = DEEPSEEK_API_KEY
