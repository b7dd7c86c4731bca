; cargo - Rust: the tool chains and what has been downloaded, to read. Tokens are not part of it.
[profile]
	summary = Rust with cargo and rustup
[rule "cargo and rustup"]
	allow = read,exec ~/.cargo/bin/**
	allow = read,exec ~/.rustup/**
	allow = read ~/.cargo/registry/**
	allow = read ~/.cargo/git/**
	allow = read ~/.cargo/config.toml
	allow = read ~/.cargo/env
	allow = connect index.crates.io:443
	allow = connect static.crates.io:443
	allow = connect static.rust-lang.org:443
	match = exec ~/.cargo/bin/cargo
	match = read ~/.cargo/registry/index/x
	not-match = read ~/.cargo/credentials.toml
