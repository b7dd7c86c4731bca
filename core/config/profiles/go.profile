; go - modules and programs of the home folder (~/go/pkg and ~/go/bin: toolchains.profile).
[profile]
	summary = Go
[rule "go"]
	allow = read,exec ~/go/**
	allow = read,exec ~/sdk/**
	allow = read ~/.config/go/env
	match = read ~/go/pkg/mod/cache/lock
	not-match = read ~/going/there
