; tools - tool chains that lie in the home folder; every agent's profile and every unknown command
; has them. Caches are the sandbox's own ($CORDON_CACHE, one for each working folder): what runs
; outside never runs what an agent has put there.
[profile]
	summary = compilers, interpreters and package managers in the home folder
	inherits = cargo
	inherits = go
	inherits = npm
	inherits = pip
	inherits = ccache
	inherits = nix
	inherits = apt
[rule "programs of the home folder"]
	allow = read,exec ~/.local/bin/**
	allow = read,exec ~/bin/**
	allow = read ~/.asdf/**
	allow = exec ~/.asdf/**
	allow = read,exec ~/.local/share/mise/**
	allow = read,exec ~/.sdkman/candidates/**
	allow = read,exec ~/.rbenv/**
	match = exec ~/.local/bin/tool
	not-match = read ~/.local/share/keyrings/login.keyring
[rule "programs that note down how they were left"]
	; refused without a question: they go on without
	deny = write ~/.config/htop/**
	deny = write ~/.local/share/nano/**
	match = write ~/.config/htop/htoprc
[sandbox]
	; every pager would ask to write its searches to the home folder
	set-env = LESSHISTFILE=-
	; what is typed in here, one history for each folder: the human's own does not exist inside
	set-env = HISTFILE=$CORDON_CACHE/shell_history
	set-env = NODE_REPL_HISTORY=$CORDON_CACHE/node_repl_history
	set-env = PYTHON_HISTORY=$CORDON_CACHE/python_history
