; cargo - Rust: the tool chains and what has been downloaded (toolchains.profile). Tokens are not part of it.
[profile]
	summary = Rust with cargo and rustup
[rule "cargo and rustup"]
	allow = read,exec ~/.cargo/bin/**
	allow = read,exec ~/.rustup/**
	allow = read ~/.cargo/config.toml
	match = exec ~/.cargo/bin/cargo
	not-match = read ~/.cargo/credentials.toml
