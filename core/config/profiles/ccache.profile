; ccache - compiled objects go to the sandbox's own cache, for the host's would run what an agent has built.
[profile]
	summary = ccache and sccache
[rule "ccache"]
	allow = read ~/.config/ccache/ccache.conf
	match = read ~/.config/ccache/ccache.conf
[sandbox]
	set-env = CCACHE_DIR=$CORDON_CACHE/ccache
	set-env = SCCACHE_DIR=$CORDON_CACHE/sccache
