; nix - the store is part of the system, to read. The daemon builds what it is asked to, outside the
; sandbox: to let an agent ask it, copy this file to ~/.config/cordon/profiles and take the ; away.
[profile]
	summary = nix, with the store to read
[rule "nix"]
	allow = read,exec ~/.nix-profile/**
	allow = read,exec ~/.local/state/nix/profiles/**
	allow = read ~/.config/nix/nix.conf
	; allow = unix /nix/var/nix/daemon-socket/socket
	match = exec ~/.nix-profile/bin/hello
	not-match = unix /nix/var/nix/daemon-socket/socket
