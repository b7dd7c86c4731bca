; npm - node and its relatives. ~/.npmrc holds tokens: it stays hidden.
[profile]
	summary = node with npm, yarn, pnpm, bun and deno
[rule "node"]
	allow = read,exec ~/.nvm/**
	allow = read,exec ~/.volta/**
	allow = read,exec ~/.fnm/**
	allow = read,exec ~/.local/share/fnm/**
	allow = read,exec ~/.npm-global/**
	allow = read,exec ~/.local/share/pnpm/**
	allow = read,exec ~/.bun/**
	allow = read,exec ~/.deno/bin/**
	allow = read,exec ~/node_modules/**
	allow = read,exec ~/.nodenv/**
	allow = read,exec ~/.proto/**
	match = exec ~/.nvm/versions/node/v22.0.0/bin/node
	not-match = read ~/.npmrc
