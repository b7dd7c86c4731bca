; tools - tool chains that lie in the home folder; every agent's profile and every unknown command
; has them. What an agent writes to their caches stays with the working folder (toolchains.profile):
; what runs outside never runs it.
[profile]
	summary = compilers, interpreters and package managers in the home folder
	inherits = toolchains
	inherits = registries
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
	allow = read,exec ~/.rvm/**
	allow = read,exec ~/.jdks/**
	allow = read,exec ~/.juliaup/**
	allow = read,exec ~/.elan/**
	allow = read,exec ~/.foundry/**
	allow = read,exec ~/flutter/**
	allow = read,exec ~/Android/Sdk/**
	allow = read ~/.config/mise/**
	match = exec ~/.local/bin/tool
	not-match = read ~/.local/share/keyrings/login.keyring
[rule "programs beside the system's"]
	allow = read,exec /home/linuxbrew/.linuxbrew/**
	; packages in /opt: their usual directories, not whatever else somebody keeps there
	allow = read,exec /opt/*/bin/**
	allow = read,exec /opt/*/sbin/**
	allow = read,exec /opt/*/lib*/**
	allow = read,exec /opt/*/share/**
	allow = read,exec /opt/*/*/bin/**
	allow = read,exec /opt/*/*/lib*/**
	allow = read,exec /opt/*/*/share/**
	allow = read,exec /opt/google/chrome/**
	match = exec /opt/gradle/bin/gradle
	match = exec /opt/jdk/21/bin/java
	not-match = read /opt/app/config/production.env
[rule "programs that note down how they were left"]
	; refused without a question: they go on without
	deny = write ~/.config/htop/**
	deny = write ~/.local/share/nano/**
	; pnpm 10 and older, which looks in each directory above the project for the root of its disk
	deny = write $ABOVE/_tmp_[0-9]*_*
	match = write ~/.config/htop/htoprc
[sandbox]
	; every pager would ask to write its searches to the home folder
	set-env = LESSHISTFILE=-
	; what is typed in here, one history for each folder: the human's own does not exist inside
	set-env = HISTFILE=$CORDON_CACHE/shell_history
	set-env = NODE_REPL_HISTORY=$CORDON_CACHE/node_repl_history
	set-env = PYTHON_HISTORY=$CORDON_CACHE/python_history
