; go - the module cache of the host is there to read; what is built and downloaded goes to the sandbox's own.
[profile]
	summary = Go
[rule "go"]
	allow = read,exec ~/go/**
	allow = read,exec ~/sdk/**
	allow = read ~/.config/go/env
	allow = connect proxy.golang.org:443
	allow = connect sum.golang.org:443
	match = read ~/go/pkg/mod/cache/lock
	not-match = read ~/going/there
[sandbox]
	set-env = GOCACHE=$CORDON_CACHE/go-build
	set-env = GOMODCACHE=$CORDON_CACHE/go-mod
